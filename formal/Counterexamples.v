(** * What the paper claims and does not hold, and where it fails first: by computation

    Each theorem [not_kim2025_...] or [not_kim2026_...] is the negation of a statement of the paper (arXiv 2509.21042,
    first or second version) about the decoder by inner products, over all alpha, i and j for which the paper makes it.
    beta = lam = 1 unless said otherwise. Scores of layers three to five come from interval
    arithmetic that is proved to enclose them (Interval.v); Coq computes each table once. *)

From Coq Require Import Reals List Lia Lra Arith ZArith Bool.
From Interval Require Import Xreal Basic Tactic.
From Maskproof Require Import Attention Sums Layers ClosedForms LayerNorm Interval.
From Maskproof Require Vectors.
Open Scope R_scope.

(** ** Section 4.1: closer keys score higher in layers three and four, at alpha = 0 and up to 50 tokens *)

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
  pose proof (enclose_Z bits 1) as One. exact (next_layer bits papers_decoder one one one One One One 0 49 layer T).
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

(** Layer three falls from key 25 to key 26 of query 27, and nowhere before. *)
Theorem first_failure_in_layer_three : first_failure 3 27 25.
Proof. exact (proj1 first_failures). Qed.

Theorem first_failure_in_layer_four : first_failure 4 33 31.
Proof. exact (proj1 (proj2 first_failures)). Qed.

Theorem first_failure_in_layer_five : first_failure 5 49 47.
Proof. exact (proj2 (proj2 first_failures)). Qed.

(** The same on vectors: for orthonormal x_1, ..., x_n in R^d, which exist for n <= d. *)
Theorem falls_on_vectors (n d : nat) (x : vectors) : are_equicorrelated 0 n d x ->
  let S layer := vector_score papers_decoder d (stack papers_decoder d x (layer - 1)) in
  ((27 <= n)%nat -> S 3%nat 27%nat 26%nat < S 3%nat 27%nat 25%nat) /\
  ((33 <= n)%nat -> S 4%nat 33%nat 32%nat < S 4%nat 33%nat 31%nat) /\
  ((49 <= n)%nat -> S 5%nat 49%nat 48%nat < S 5%nat 49%nat 47%nat).
Proof.
  intros X S. unfold S. repeat split; intro N; pose proof (Vectors.width_of_inputs 0 n d x X ltac:(lia)) as P;
    rewrite !(Vectors.score_of_given papers_decoder d x orthonormal n P X) by lia.
  - exact (proj1 first_failure_in_layer_three).
  - exact (proj1 first_failure_in_layer_four).
  - exact (proj1 first_failure_in_layer_five).
Qed.

Definition increasing_until (last layer : nat) : Prop := forall i j, (1 <= j < i)%nat -> (i <= last)%nat ->
  Score papers_decoder orthonormal layer i j < Score papers_decoder orthonormal layer i (j + 1).

Lemma not_increasing layer i j last : first_failure layer i j -> (1 <= j < i)%nat -> (i <= last)%nat ->
  ~ increasing_until last layer.
Proof. intros [F _] J I H. apply (Rlt_asym _ _ F). apply H; assumption. Qed.

Theorem not_kim2025_increasing_3 : ~ increasing_until 50 3.
Proof. apply (not_increasing 3 27 25); [exact first_failure_in_layer_three|lia|lia]. Qed.

Theorem not_kim2025_increasing_4 : ~ increasing_until 50 4.
Proof. apply (not_increasing 4 33 31); [exact first_failure_in_layer_four|lia|lia]. Qed.

(** What is true up to there. *)
Lemma increasing_before layer i j last : first_failure layer i j -> (last < i)%nat -> increasing_until last layer.
Proof. intros [_ H] L i' j' J I. apply H; [exact J|left; lia]. Qed.

Theorem own_increasing_3 : increasing_until 26 3.
Proof. apply (increasing_before 3 27 25); [exact first_failure_in_layer_three|lia]. Qed.

Theorem own_increasing_4 : increasing_until 32 4.
Proof. apply (increasing_before 4 33 31); [exact first_failure_in_layer_four|lia]. Qed.

Theorem own_increasing_5 : increasing_until 48 5.
Proof. apply (increasing_before 5 49 47); [exact first_failure_in_layer_five|lia]. Qed.

(** ** Figure 1 prints 0.154, 0.132 and 0.150, to three decimals; the third number is 0.15081 and rounds to 0.151 *)

Definition printed (value : R) (i j : nat) : Prop := Rabs (Score papers_decoder orthonormal 2 i j - value) <= 0.0005.

Ltac layer_two := unfold printed, papers_decoder, orthonormal; rewrite ?score_two_other by lia; unfold g, h2, r_of;
  simpl INR.

Theorem score_three_two : 0.1508 < Score papers_decoder orthonormal 2 3 2 < 0.1509.
Proof. layer_two. split; interval. Qed.

Theorem not_kim2025_fig1 : ~ (printed 0.154 2 1 /\ printed 0.132 3 1 /\ printed 0.150 3 2).
Proof.
  intros [_ [_ P]]. unfold printed in P. pose proof score_three_two as S.
  rewrite Rabs_right in P by lra. lra.
Qed.

Theorem own_fig1 : printed 0.154 2 1 /\ printed 0.132 3 1 /\ printed 0.151 3 2.
Proof. layer_two. repeat split; interval. Qed.

(** ** Appendix A.2, without the residual: what is printed for h'(i+1)^2 - h'(i)

    (alpha - 1) e^alpha (2 e^3 - 2 e^(2+alpha) (i-1) + e^(3 alpha) i (i-1)) over the squares of two normalisers. The sign
    in the middle should be +, and h'(i) should be squared: own_h_prime_difference in Claims.v. *)

Definition printed_difference (alpha i : R) : R :=
  let x := exp alpha in let e := exp 1 in
  (alpha - 1) * x * (2 * e ^ 3 - 2 * e ^ 2 * x * (i - 1) + x ^ 3 * i * (i - 1))
  / ((e + i * x) ^ 2 * (e + (i - 1) * x) ^ 2).

(** The paper takes it to be negative. At alpha = 0 it is positive for i = 6 to 10. *)
Theorem printed_difference_positive (i : nat) : (6 <= i <= 10)%nat -> 0 < printed_difference 0 (INR i).
Proof.
  intro H. unfold printed_difference. cbv zeta.
  do 11 (destruct i as [|i]; [try (exfalso; lia); simpl INR; interval|]). exfalso. lia.
Qed.

Theorem not_kim2025_h_prime_decreasing :
  ~ (forall alpha i, 0 <= alpha < 1 -> (1 <= i)%nat -> printed_difference alpha (INR i) < 0).
Proof.
  intro H. specialize (H 0 6%nat ltac:(lra) ltac:(lia)). pose proof (printed_difference_positive 6 ltac:(lia)). lra.
Qed.

Notation squared_norm alpha i := (Gram (l2_decoder 1 0) (equicorrelated alpha) 1 i i).

Theorem not_kim2025_h_prime_difference :
  ~ (forall alpha i, 0 <= alpha < 1 -> (1 <= i)%nat ->
    squared_norm alpha (i + 1)%nat - sqrt (squared_norm alpha i) = printed_difference alpha (INR i)).
Proof.
  intro H. specialize (H 0 2%nat ltac:(lra) ltac:(lia)). revert H. unfold l2_decoder.
  rewrite !gram_one_self by (auto; lia). unfold printed_difference, h2, r_of. cbv zeta. simpl INR.
  apply Rlt_not_eq. interval.
Qed.

(** Squaring h'(i) is not enough: the sign is wrong, too. *)
Theorem sign_is_wrong :
  ~ (forall alpha i, 0 <= alpha < 1 -> (1 <= i)%nat ->
    squared_norm alpha (i + 1)%nat - squared_norm alpha i = printed_difference alpha (INR i)).
Proof.
  intro H. specialize (H 0 2%nat ltac:(lra) ltac:(lia)). revert H. unfold l2_decoder.
  rewrite !gram_one_self by (auto; lia). unfold printed_difference, h2, r_of. cbv zeta. simpl INR.
  apply Rlt_not_eq. interval.
Qed.

(** ** LayerNorm *)

Lemma INR_16 : INR 16 = 16.
Proof. rewrite INR_IZR_INZ. reflexivity. Qed.

Lemma INR_64 : INR 64 = 64.
Proof. rewrite INR_IZR_INZ. reflexivity. Qed.

(** As an l2 layer with another inverse temperature and residual weight (LayerNorm.v). *)
Lemma layernorm_two d sc b lam alpha i j : (1 <= d)%nat -> 0 < sc -> (1 <= j < i)%nat ->
  Score (Decoder (LayerNorm d) sc b lam Causal) (equicorrelated alpha) 2 i j
  = INR d / sc * Score (l2_decoder (b * (INR d / sc)) (lam / sqrt (INR d))) (equicorrelated alpha) 2 i j.
Proof. intros W S H. apply (layernorm_score_two d sc b lam Causal W S); lia. Qed.

(** Appendix B: the scale d instead of sqrt(d) recovers the scores of l2, up to a tenth; d = 64, 50 tokens. *)
Theorem not_kim2025_layernorm_recovers :
  ~ (forall layer alpha i j,
    (2 <= layer <= 4)%nat -> alpha = 0 \/ alpha = 1 / 5 -> (1 <= j < i)%nat -> (i <= 50)%nat ->
    Rabs (Score (Decoder (LayerNorm 64) 64 1 1 Causal) (equicorrelated alpha) layer i j
      - Score papers_decoder (equicorrelated alpha) layer i j) <= 1 / 10).
Proof.
  intro H. specialize (H 2%nat 0 2%nat 1%nat ltac:(lia) ltac:(left; reflexivity) ltac:(lia) ltac:(lia)). revert H.
  rewrite layernorm_two, INR_64 by (lia || lra). layer_two. apply Rlt_not_le. interval.
Qed.

(** Version 2 takes the theory, with the residual weight sqrt(d), to describe the simulation, which has
    (1 - alpha)^(-1/2); d = 16, alpha = 1/2, 10 tokens. *)
Theorem not_kim2026_residual_scale :
  ~ (forall i j, (1 <= j < i)%nat -> (i <= 10)%nat ->
    Score (Decoder (LayerNorm 16) (sqrt 16) 1 (1 / sqrt (1 - 1 / 2)) Causal) (equicorrelated (1 / 2)) 2 i j
    = Score (Decoder (LayerNorm 16) (sqrt 16) 1 (sqrt 16) Causal) (equicorrelated (1 / 2)) 2 i j).
Proof.
  intro H. specialize (H 2%nat 1%nat ltac:(lia) ltac:(lia)). revert H.
  rewrite !layernorm_two, INR_16 by (lia || (apply sqrt_lt_R0; lra)). layer_two. apply Rgt_not_eq. interval.
Qed.
