(** * The decoder in interval arithmetic, proved to enclose the decoder over the reals

    Intervals and their elementary functions are those of the library Interval, with its own proofs; floating-point
    numbers are pairs of integers. What is added here is the recursion from layer to layer, on tables that are
    computed once, and tests on a table that imply statements about scores. *)

From Coq Require Import Reals List Lia Lra Arith ZArith Bool.
From Interval Require Import Xreal Basic Sig Interval Float Float_full Specific_ops Specific_bigint Specific_sig.
From Maskproof Require Import Attention Sums Layers.
Open Scope R_scope.

Module F := SpecificFloat BigIntRadix2.
Module I := FloatIntervalFull F.

(** [X] is an interval that contains x. *)
Definition encloses (x : R) (X : I.type) : Prop := contains (I.convert X) (Xreal x).

Section Evaluate.
Variable prec : F.precision.

(** ** Arithmetic *)

Lemma enclose_Z z : encloses (IZR z) (I.fromZ prec z).
Proof. apply I.fromZ_correct. Qed.

Lemma enclose_add x y X Y : encloses x X -> encloses y Y -> encloses (x + y) (I.add prec X Y).
Proof. intros. apply (I.add_correct prec _ _ (Xreal x) (Xreal y)); assumption. Qed.

Lemma enclose_sub x y X Y : encloses x X -> encloses y Y -> encloses (x - y) (I.sub prec X Y).
Proof. intros. apply (I.sub_correct prec _ _ (Xreal x) (Xreal y)); assumption. Qed.

Lemma enclose_mul x y X Y : encloses x X -> encloses y Y -> encloses (x * y) (I.mul prec X Y).
Proof. intros. apply (I.mul_correct prec _ _ (Xreal x) (Xreal y)); assumption. Qed.

Lemma enclose_exp x X : encloses x X -> encloses (exp x) (I.exp prec X).
Proof. intros. apply (I.exp_correct prec _ (Xreal x)); assumption. Qed.

(** Where a function has no value the interval is everything. *)
Lemma enclose_any X x : contains (I.convert X) Xnan -> encloses x X.
Proof. unfold encloses. destruct (I.convert X); simpl; tauto. Qed.

Lemma enclose_sqrt x X : encloses x X -> encloses (sqrt x) (I.sqrt prec X).
Proof.
  intro H. generalize (I.sqrt_correct prec _ (Xreal x) H). unfold Xsqrt; simpl.
  try (unfold Xsqrt'; destruct (is_negative x); intro C; [apply enclose_any; exact C|exact C]). try (intro C; exact C).
Qed.

Lemma enclose_div x y X Y : encloses x X -> encloses y Y -> encloses (x / y) (I.div prec X Y).
Proof.
  intros H H'. generalize (I.div_correct prec _ _ (Xreal x) (Xreal y) H H'). unfold Xdiv, Xdiv'; simpl.
  destruct (is_zero y); intro C; [apply enclose_any; exact C|exact C].
Qed.

Fixpoint isum (f : nat -> I.type) (n : nat) : I.type :=
  match n with
  | O => I.fromZ prec 0
  | S m => I.add prec (isum f m) (f (S m))
  end.

Lemma enclose_sum f X n : (forall k, (1 <= k <= n)%nat -> encloses (f k) (X k)) -> encloses (sum f n) (isum X n).
Proof.
  induction n as [|n IH]; intro H; [apply enclose_Z|].
  simpl. apply enclose_add; [apply IH; intros; apply H; lia|apply H; lia].
Qed.

(** Is X certainly positive? *)
Definition positive (X : I.type) : bool := match I.sign_strict X with Xgt => true | _ => false end.

Lemma positive_correct x X : encloses x X -> positive X = true -> 0 < x.
Proof.
  intros H. unfold positive. pose proof (I.sign_strict_correct X) as C. destruct (I.sign_strict X); try discriminate.
  intros _. destruct (C _ H) as [_ P]. exact P.
Qed.

(** ** Tables: entries 1..n, and the lower triangle j <= i <= n *)

Definition table (f : nat -> I.type) (n : nat) : list I.type := map f (seq 1 n).
Definition look (t : list I.type) (i : nat) : I.type := nth (i - 1) t I.nai.

Lemma look_table f n i : (1 <= i <= n)%nat -> look (table f n) i = f i.
Proof.
  intro H. unfold look, table. rewrite (nth_indep _ _ (f 0%nat)) by (rewrite map_length, seq_length; lia).
  rewrite map_nth, seq_nth by lia. f_equal. lia.
Qed.

Definition triangle (f : nat -> nat -> I.type) (n : nat) : list (list I.type) :=
  map (fun i => table (f i) i) (seq 1 n).
Definition lower (t : list (list I.type)) (i j : nat) : I.type := look (nth (i - 1) t nil) j.

Lemma lower_triangle f n i j : (1 <= j <= i)%nat -> (i <= n)%nat -> lower (triangle f n) i j = f i j.
Proof.
  intros J I. unfold lower, triangle.
  rewrite (nth_indep _ _ (table (f 0%nat) 0)) by (rewrite map_length, seq_length; lia).
  rewrite (map_nth (fun i => table (f i) i)), seq_nth by lia.
  replace (1 + (i - 1))%nat with i by lia. apply look_table. exact J.
Qed.

(** The entry of a symmetric matrix. *)
Definition entry (t : list (list I.type)) (i j : nat) : I.type := if j <=? i then lower t i j else lower t j i.

(** ** One layer *)

Variables (D : decoder) (Sc B L : I.type).
Hypothesis (enclose_scale : encloses (scale D) Sc) (enclose_beta : encloses (beta D) B).
Hypothesis (enclose_residual : encloses (residual D) L).

Definition istretch (T : list (list I.type)) (n : nat) : list I.type := table (fun i =>
  match norm D with
  | L2 => I.div prec (I.fromZ prec 1) (I.sqrt prec (lower T i i))
  | LayerNorm d => I.div prec (I.sqrt prec (I.fromZ prec (Z.of_nat d))) (I.sqrt prec (lower T i i))
  | NoNorm => I.fromZ prec 1
  end) n.

Definition iscore (T : list (list I.type)) (n : nat) : list (list I.type) :=
  let s := istretch T n in
  triangle (fun i j => I.div prec (I.mul prec (I.mul prec (look s i) (look s j)) (lower T i j)) Sc) n.

Definition iexp (S : list (list I.type)) (n : nat) : list (list I.type) :=
  triangle (fun i j => if sees (mask D) i j then I.exp prec (I.mul prec B (lower S i j)) else I.fromZ prec 0) n.

Definition itotal (E : list (list I.type)) (n : nat) : list I.type := table (fun i => isum (lower E i) i) n.

Definition imix (T : list (list I.type)) (n : nat) : list (list I.type) :=
  let s := istretch T n in let E := iexp (iscore T n) n in let Z := itotal E n in
  triangle (fun i j =>
    let A := if sees (mask D) i j then I.div prec (lower E i j) (look Z i) else I.fromZ prec 0 in
    I.add prec (I.mul prec A (look s j)) (if i =? j then L else I.fromZ prec 0)) n.

(** M K M^T, from M K; both need their lower triangles only. *)
Definition ilayer (T : list (list I.type)) (n : nat) : list (list I.type) :=
  let M := imix T n in
  let P := triangle (fun i l => isum (fun k => I.mul prec (lower M i k) (entry T k l)) i) n in
  triangle (fun i j => isum (fun l => I.mul prec (lower P i l) (lower M j l)) j) n.

Definition encloses_lower (n : nat) (G : matrix) (T : list (list I.type)) : Prop :=
  forall i j, (1 <= j <= i)%nat -> (i <= n)%nat -> encloses (G i j) (lower T i j).

Section Layer.
Variables (K : matrix) (T : list (list I.type)) (n : nat).
Hypothesis (symmetric : forall i j, K i j = K j i) (enclosed : encloses_lower n K T).

Lemma istretch_correct i : (1 <= i <= n)%nat -> encloses (stretch D K i) (look (istretch T n) i).
Proof.
  intro H. unfold istretch, stretch. rewrite look_table by exact H. destruct (norm D) as [|d|].
  - apply enclose_div; [apply enclose_Z|apply enclose_sqrt, enclosed; lia].
  - apply enclose_div; [|apply enclose_sqrt, enclosed; lia]. apply enclose_sqrt. rewrite INR_IZR_INZ. apply enclose_Z.
  - apply enclose_Z.
Qed.

Lemma iscore_correct : encloses_lower n (layer_score D K) (iscore T n).
Proof.
  intros i j J I. unfold iscore. cbv zeta. rewrite lower_triangle by assumption. unfold layer_score.
  apply enclose_div; [|exact enclose_scale]. apply enclose_mul; [|apply enclosed; lia].
  apply enclose_mul; apply istretch_correct; lia.
Qed.

Lemma imix_correct : encloses_lower n (layer_mix D K) (imix T n).
Proof.
  intros i j J I. unfold imix. cbv zeta. rewrite lower_triangle by assumption. unfold layer_mix.
  assert (E : forall a c, (1 <= c <= a)%nat -> (a <= n)%nat ->
    encloses (if sees (mask D) a c then exp (beta D * layer_score D K a c) else 0) (lower (iexp (iscore T n) n) a c)).
  { intros a c C A. unfold iexp. rewrite lower_triangle by assumption. destruct (sees (mask D) a c); [|apply enclose_Z].
    apply enclose_exp, enclose_mul; [exact enclose_beta|apply iscore_correct; assumption]. }
  apply enclose_add; [apply enclose_mul; [|apply istretch_correct; lia]|].
  - unfold layer_weight, softmax. pose proof (E i j J I) as Ei. destruct (sees (mask D) i j); [|apply enclose_Z].
    apply enclose_div; [exact Ei|]. unfold itotal. rewrite look_table by lia. apply enclose_sum. intros k Hk.
    apply E; lia.
  - destruct (i =? j); [exact enclose_residual|apply enclose_Z].
Qed.

Lemma entry_correct i j : (1 <= i <= n)%nat -> (1 <= j <= n)%nat -> encloses (K i j) (entry T i j).
Proof.
  intros Hi Hj. unfold entry. destruct (Nat.leb_spec j i); [apply enclosed; lia|]. rewrite symmetric. apply enclosed; lia.
Qed.

Theorem ilayer_correct : encloses_lower n (layer_gram D K) (ilayer T n).
Proof.
  intros i j J I. unfold ilayer. cbv zeta. rewrite lower_triangle by assumption.
  unfold layer_gram. rewrite sum_comm. apply enclose_sum. intros l Hl.
  replace (sum (fun k => layer_mix D K i k * layer_mix D K j l * K k l) i)
    with (sum (fun k => layer_mix D K i k * K k l) i * layer_mix D K j l).
  - apply enclose_mul; [|apply imix_correct; lia]. rewrite lower_triangle by lia. apply enclose_sum. intros k Hk.
    apply enclose_mul; [apply imix_correct; lia|apply entry_correct; lia].
  - rewrite Rmult_comm, <- sum_scal. apply sum_ext. intros. ring.
Qed.
End Layer.

(** ** Equicorrelated inputs and any number of layers *)

Variables (alpha : R) (A : I.type).
Hypothesis enclose_alpha : encloses alpha A.

Definition iequicorrelated (n : nat) : list (list I.type) :=
  triangle (fun i j => if i =? j then I.fromZ prec 1 else A) n.

Lemma iequicorrelated_correct n : encloses_lower n (equicorrelated alpha) (iequicorrelated n).
Proof.
  intros i j J I. unfold iequicorrelated. rewrite lower_triangle by assumption. unfold equicorrelated.
  destruct (i =? j); [apply enclose_Z|exact enclose_alpha].
Qed.

Notation G := (Gram D (equicorrelated alpha)).
Notation S := (Score D (equicorrelated alpha)).

Lemma next_layer n layer T : encloses_lower n (G layer) T -> encloses_lower n (G (layer + 1)) (ilayer T n).
Proof.
  intro H. rewrite Nat.add_1_r. apply ilayer_correct; [|exact H]. apply Gram_symmetric, equicorrelated_symmetric.
Qed.

Lemma next_score n layer T : encloses_lower n (G layer) T -> encloses_lower n (S (layer + 1)) (iscore T n).
Proof.
  intro H. unfold Score. replace (layer + 1 - 1)%nat with layer by lia. apply iscore_correct. exact H.
Qed.

(** ** Tests on a table of scores *)

(** Does the score certainly rise from key j to key j + 1 of query i?  Does it fall? *)
Definition rises (T : list (list I.type)) (i j : nat) : bool := positive (I.sub prec (lower T i (j + 1)) (lower T i j)).
Definition falls (T : list (list I.type)) (i j : nat) : bool := positive (I.sub prec (lower T i j) (lower T i (j + 1))).
Definition row_rises (T : list (list I.type)) (i last : nat) : bool := forallb (rises T i) (seq 1 last).
Definition rises_until (T : list (list I.type)) (last : nat) : bool :=
  forallb (fun i => row_rises T i (i - 1)) (seq 1 last).
(** The first fall, row by row, is from key j to key j + 1 of query i. *)
Definition first_fall (T : list (list I.type)) (i j : nat) : bool :=
  rises_until T (i - 1) && row_rises T i (j - 1) && falls T i j.

Section Tests.
Variables (n : nat) (Q : matrix) (T : list (list I.type)).
Hypothesis enclosed : encloses_lower n Q T.

Lemma rises_correct i j : (1 <= j < i)%nat -> (i <= n)%nat -> rises T i j = true -> Q i j < Q i (j + 1)%nat.
Proof.
  intros J I H. apply (positive_correct (Q i (j + 1)%nat - Q i j)) in H; [lra|]. apply enclose_sub; apply enclosed; lia.
Qed.

Lemma falls_correct i j : (1 <= j < i)%nat -> (i <= n)%nat -> falls T i j = true -> Q i (j + 1)%nat < Q i j.
Proof.
  intros J I H. apply (positive_correct (Q i j - Q i (j + 1)%nat)) in H; [lra|]. apply enclose_sub; apply enclosed; lia.
Qed.

Lemma row_rises_correct i last j : (1 <= j <= last)%nat -> (last < i)%nat -> (i <= n)%nat -> row_rises T i last = true ->
  Q i j < Q i (j + 1)%nat.
Proof.
  intros J Hl I H. apply rises_correct; try lia. apply (proj1 (forallb_forall _ _) H). apply in_seq. lia.
Qed.

Lemma rises_until_correct last i j : (1 <= j < i)%nat -> (i <= last)%nat -> (last <= n)%nat -> rises_until T last = true ->
  Q i j < Q i (j + 1)%nat.
Proof.
  intros J I Hl H. apply (row_rises_correct i (i - 1)); try lia.
  apply (proj1 (forallb_forall _ _) H i). apply in_seq. lia.
Qed.

Theorem first_fall_correct i j : (1 <= j < i)%nat -> (i <= n)%nat -> first_fall T i j = true ->
  Q i (j + 1)%nat < Q i j /\
  forall i' j', (1 <= j' < i')%nat -> (i' < i \/ i' = i /\ j' < j)%nat -> Q i' j' < Q i' (j' + 1)%nat.
Proof.
  intros J I H. apply andb_prop in H. destruct H as [H F]. apply andb_prop in H. destruct H as [U R].
  split; [apply falls_correct; assumption|]. intros i' j' J' [C|[-> C]].
  - apply (rises_until_correct (i - 1)); try lia. exact U.
  - apply (row_rises_correct i (j - 1)); try lia. exact R.
Qed.
End Tests.
End Evaluate.
