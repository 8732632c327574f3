(** * The paper's claim about deeper layers fails, and where it fails first: by computation

    Section 4.1 of arXiv 2509.21042v1 says that at alpha = 0 scores increase towards the query in layers three and
    four, too. Here beta = residual = 1 and the inputs are orthonormal, the limit in which the paper's theory
    computes. *)

From Coq Require Import Reals List Lia Lra Arith ZArith Bool.
From Interval Require Import Xreal Basic Tactic.
From Maskproof Require Import Attention Sums Layers ClosedForms Interval.
Open Scope R_scope.

Definition papers_decoder : decoder := l2_decoder 1 1.
Definition orthonormal : matrix := equicorrelated 0.

(** In this layer the first fall, row by row, is from key j to key j + 1 of query i: scores increase strictly at
    every pair of adjacent keys before, the query itself included. *)
Definition first_failure (layer i j : nat) : Prop :=
  let S := Score papers_decoder orthonormal layer in
  S i (j + 1)%nat < S i j /\
  forall i' j', (1 <= j' < i')%nat -> (i' < i \/ i' = i /\ j' < j)%nat -> S i' j' < S i' (j' + 1)%nat.

Definition bits := F.PtoP 53.
Definition one := I.fromZ bits 1.
Definition zero := I.fromZ bits 0.

(** Tables of 49 tokens: the inputs' inner products, those one layer further, the scores from them. *)
Definition inputs := iequicorrelated bits zero 49.
Definition next T := ilayer bits papers_decoder one one one T 49.
Definition scores T := iscore bits papers_decoder one T 49.

Definition encloses_gram layer T := encloses_lower 49 (Gram papers_decoder orthonormal layer) T.

Lemma inputs_correct : encloses_gram 0 inputs.
Proof. exact (iequicorrelated_correct bits 0 zero (enclose_Z bits 0) 49). Qed.

Lemma next_correct layer T : encloses_gram layer T -> encloses_gram (layer + 1) (next T).
Proof.
  exact (next_layer bits papers_decoder one one one (enclose_Z bits 1) (enclose_Z bits 1) (enclose_Z bits 1) 0 49 layer T).
Qed.

Lemma first_failure_correct layer T i j : encloses_gram layer T -> (1 <= j < i)%nat -> (i <= 49)%nat ->
  first_fall bits (scores T) i j = true -> first_failure (layer + 1) i j.
Proof.
  intros H J I.
  pose proof (next_score bits papers_decoder one (enclose_Z bits 1) 0 49 layer T H) as Q.
  exact (first_fall_correct bits 49 _ _ Q i j J I).
Qed.

(** The computation: every table once. *)
Definition first_failures_found : bool :=
  let G2 := next (next inputs) in
  let G3 := next G2 in
  let G4 := next G3 in
  first_fall bits (scores G2) 27 25 && first_fall bits (scores G3) 33 31 && first_fall bits (scores G4) 49 47.

Lemma computed : first_failures_found = true.
Proof. vm_cast_no_check (eq_refl true). Qed.

Opaque inputs next scores first_fall.

Lemma first_failures : first_failure 3 27 25 /\ first_failure 4 33 31 /\ first_failure 5 49 47.
Proof.
  pose proof computed as C. unfold first_failures_found in C. cbv zeta in C.
  apply andb_prop in C. destruct C as [C C5]. apply andb_prop in C. destruct C as [C3 C4].
  pose proof (next_correct _ _ (next_correct _ _ inputs_correct)) as G2.
  pose proof (next_correct _ _ G2) as G3. pose proof (next_correct _ _ G3) as G4.
  split; [|split].
  - apply (first_failure_correct 2 _ 27 25 G2); [lia|lia|exact C3].
  - apply (first_failure_correct 3 _ 33 31 G3); [lia|lia|exact C4].
  - apply (first_failure_correct 4 _ 49 47 G4); [lia|lia|exact C5].
Qed.

(** Layer three: query 27, keys 25 and 26. *)
Theorem first_failure_in_layer_three : first_failure 3 27 25.
Proof. exact (proj1 first_failures). Qed.

Theorem first_failure_in_layer_four : first_failure 4 33 31.
Proof. exact (proj1 (proj2 first_failures)). Qed.

Theorem first_failure_in_layer_five : first_failure 5 49 47.
Proof. exact (proj2 (proj2 first_failures)). Qed.

(** Before these queries scores increase strictly (own.increasing-3 to own.increasing-5). *)
Corollary increasing_before layer i j query key : first_failure layer query key -> (1 <= j < i)%nat -> (i < query)%nat ->
  Score papers_decoder orthonormal layer i j < Score papers_decoder orthonormal layer i (j + 1).
Proof. intros [_ H] J I. apply H; [exact J|left; exact I]. Qed.

(** ** Figure 1 prints 0.154, 0.132, 0.150; the third number is 0.1508 and rounds to 0.151 *)

Theorem figure_one :
  let S := Score papers_decoder orthonormal 2 in
  Rabs (S 2%nat 1%nat - 0.154) <= 0.0005 /\
  Rabs (S 3%nat 1%nat - 0.132) <= 0.0005 /\
  0.1507 < S 3%nat 2%nat < 0.1509.
Proof.
  unfold papers_decoder, orthonormal. cbv zeta. rewrite !score_two_other by lia. unfold g, h2, r_of. simpl INR.
  repeat split; interval.
Qed.

(** ** Appendix A.2's printed difference h'(i+1)^2 - h'(i)^2 is not negative: at alpha = 0, i = 6

    (alpha - 1) e^alpha (2 e^3 - 2 e^(2+alpha) (i-1) + e^(3 alpha) i (i-1)) over the squares of two normalisers; the
    sign in the middle should be +. *)

Definition printed_difference (alpha i : R) : R :=
  let x := exp alpha in let e := exp 1 in
  (alpha - 1) * x * (2 * e ^ 3 - 2 * e ^ 2 * x * (i - 1) + x ^ 3 * i * (i - 1))
  / ((e + i * x) ^ 2 * (e + (i - 1) * x) ^ 2).

Theorem printed_difference_positive : 0 < printed_difference 0 6.
Proof. unfold printed_difference. cbv zeta. interval. Qed.

Theorem printed_difference_positive_until_ten :
  0 < printed_difference 0 7 /\ 0 < printed_difference 0 8 /\ 0 < printed_difference 0 9 /\ 0 < printed_difference 0 10.
Proof. unfold printed_difference. cbv zeta. repeat split; interval. Qed.
