(** * Attention that only averages: beta = 0 and no residual

    Every query gives all keys that it sees the same weight. For 0 <= alpha < 1 closer keys score higher in every
    layer from the second on, by induction on the layer: inner products stay positive and their 2x2 minors do not
    become negative. *)

From Coq Require Import Reals Lra Lia Arith.
From Maskproof Require Import Attention Sums Layers ClosedForms Order Independence Minors.
Open Scope R_scope.

Definition averaging : decoder := l2_decoder 0 0.

(** ** One layer *)

Section Layer.
Variables (G : matrix) (n : nat).
Hypothesis diagonal : forall k, (1 <= k <= n)%nat -> 0 < G k k.

Lemma averaging_mix i j : (1 <= j <= i)%nat -> layer_mix averaging G i j = 1 / (INR i * sqrt (G j j)).
Proof.
  intro H. unfold layer_mix, layer_weight, averaging. simpl mask. simpl beta. simpl residual.
  rewrite softmax_causal by lia. rewrite Rmult_0_l, exp_0, (sum_ext _ (fun _ => 1)), sum_const.
  - rewrite stretch_l2. unfold Rdiv. rewrite (Rmult_1_r (INR i)), Rinv_mult. destruct (i =? j); ring.
  - intros k _. rewrite Rmult_0_l. apply exp_0.
Qed.

Lemma averaging_mix_pos i j : (1 <= j <= i)%nat -> (i <= n)%nat -> 0 < layer_mix averaging G i j.
Proof.
  intros H I. rewrite averaging_mix by exact H. apply Rdiv_lt_0_compat; [lra|].
  apply Rmult_lt_0_compat; [apply (lt_INR 0); lia|apply sqrt_lt_R0, diagonal; lia].
Qed.

Lemma averaging_gram_pos : (forall k l, (1 <= k <= n)%nat -> (1 <= l <= n)%nat -> 0 <= G k l) ->
  forall i j, (1 <= i <= n)%nat -> (1 <= j <= n)%nat -> 0 < layer_gram averaging G i j.
Proof.
  intros P i j Hi Hj. unfold layer_gram.
  assert (N : forall k l, (1 <= k <= i)%nat -> (1 <= l <= j)%nat ->
    0 <= layer_mix averaging G i k * layer_mix averaging G j l * G k l).
  { intros k l Hk Hl. apply Rmult_le_pos; [|apply P; lia].
    left. apply Rmult_lt_0_compat; apply averaging_mix_pos; lia. }
  apply (sum_pos_at _ i 1); [lia| |].
  - intros k Hk. apply sum_nonneg. intros l Hl. apply N; lia.
  - apply (sum_pos_at _ j 1); [lia| |].
    + intros l Hl. apply N; lia.
    + apply Rmult_lt_0_compat; [|apply diagonal; lia]. apply Rmult_lt_0_compat; apply averaging_mix_pos; lia.
Qed.

Lemma averaging_minors : minors_nonneg n G -> minors_nonneg n (layer_gram averaging G).
Proof.
  intro H. apply minors_layer; [exact H| |].
  - intros i j Hj Hi. left. apply averaging_mix_pos; assumption.
  - intros i k j l Hi Hk Hj Hl. unfold minor. rewrite !averaging_mix by lia. right.
    unfold Rdiv. rewrite !Rinv_mult. ring.
Qed.
End Layer.

(** ** The first layer *)

Section Increasing.
Variables (alpha : R).
Hypothesis (alpha_ge : 0 <= alpha) (alpha_lt : alpha < 1).
Notation K := (equicorrelated alpha).

(** Inner products after layer one depend on the later token alone, and fall with it. *)
Let f (i : nat) : R := alpha + (1 - alpha) / INR i.

Lemma f_decreasing i j : (1 <= i <= j)%nat -> f j <= f i.
Proof.
  intros [I J]. unfold f. apply INR_ge_1 in I. apply le_INR in J.
  apply Rplus_le_compat_l, Rmult_le_compat_l; [lra|]. apply Rinv_le_contravar; lra.
Qed.

Lemma f_pos i : (1 <= i)%nat -> 0 < f i.
Proof.
  intro I. apply INR_ge_1 in I. unfold f. assert (0 < (1 - alpha) / INR i) by (apply Rdiv_lt_0_compat; lra). lra.
Qed.

Lemma averaging_one_lower i j : (1 <= j <= i)%nat -> Gram averaging K 1 i j = f i.
Proof.
  intro H. pose proof (INR_ge_1 i ltac:(lia)). unfold averaging, l2_decoder, f.
  destruct (Nat.eq_dec j i) as [->|N].
  - rewrite gram_one_self by (auto; lia). unfold h2, r_of. rewrite Rmult_0_l, exp_0. field. lra.
  - rewrite gram_one_other by (auto; lia). unfold g, r_of. rewrite Rmult_0_l, exp_0. field. lra.
Qed.

Lemma averaging_one i j : (1 <= i)%nat -> (1 <= j)%nat -> Gram averaging K 1 i j = f (Nat.max i j).
Proof.
  intros I J. destruct (Nat.le_gt_cases j i) as [L|L].
  - rewrite averaging_one_lower by lia. f_equal. lia.
  - rewrite (Gram_symmetric averaging K 1 (equicorrelated_symmetric alpha) i j), averaging_one_lower by lia. f_equal. lia.
Qed.

Lemma averaging_one_minors n : minors_nonneg n (Gram averaging K 1).
Proof.
  intros i k j l Hi Hk Hj Hl. unfold minor. rewrite !averaging_one by lia.
  pose proof (f_pos (Nat.max k l) ltac:(lia)) as P.
  pose proof (f_decreasing (Nat.max i j) (Nat.max i l) ltac:(lia)) as C.
  pose proof (f_decreasing (Nat.max i j) (Nat.max k j) ltac:(lia)) as B.
  destruct (Nat.le_gt_cases (Nat.max i l) (Nat.max k j)) as [L|L].
  - replace (Nat.max k j) with (Nat.max k l) by lia.
    assert (0 <= f (Nat.max k l) * (f (Nat.max i j) - f (Nat.max i l))) by (apply Rmult_le_pos; lra). lra.
  - replace (Nat.max i l) with (Nat.max k l) by lia.
    assert (0 <= f (Nat.max k l) * (f (Nat.max i j) - f (Nat.max k j))) by (apply Rmult_le_pos; lra). lra.
Qed.

(** ** All layers *)

Lemma averaging_pos layer i j : (1 <= layer)%nat -> (1 <= i)%nat -> (1 <= j)%nat -> 0 < Gram averaging K layer i j.
Proof.
  intros L I J. destruct layer as [|layer]; [lia|]. clear L. revert i j I J. induction layer as [|layer IH]; intros i j I J.
  - rewrite averaging_one by assumption. apply f_pos. lia.
  - change (0 < layer_gram averaging (Gram averaging K (S layer)) i j).
    apply (averaging_gram_pos _ (Nat.max i j)); try lia.
    + intros k Hk. apply IH; lia.
    + intros k l Hk Hl. left. apply IH; lia.
Qed.

Lemma averaging_stack_minors n layer : (1 <= layer)%nat -> minors_nonneg n (Gram averaging K layer).
Proof.
  intros L. destruct layer as [|layer]; [lia|]. clear L. induction layer as [|layer IH]; [apply averaging_one_minors|].
  change (minors_nonneg n (layer_gram averaging (Gram averaging K (S layer)))).
  apply averaging_minors; [|exact IH]. intros k Hk. apply averaging_pos; lia.
Qed.

Lemma averaging_mixes layer k : (1 <= k)%nat -> 0 < Mix averaging K layer k k.
Proof.
  intro Hk. unfold Mix. apply (averaging_mix_pos _ k); try lia. intros l Hl.
  destruct (layer - 1)%nat as [|below]; [change (0 < K l l); rewrite equicorrelated_self; lra|apply averaging_pos; lia].
Qed.

Theorem averaging_below_diagonal layer i j : (1 <= layer)%nat -> (1 <= j < i)%nat -> Score averaging K layer i j < 1.
Proof.
  intros L H. apply independence; try assumption; [apply independent_nonneg; [lia|exact alpha_ge]|].
  intros l k Hl Hk. apply averaging_mixes. lia.
Qed.

Theorem averaging_increasing layer i j : (2 <= layer)%nat -> (1 <= j < i)%nat ->
  Score averaging K layer i j < Score averaging K layer i (j + 1).
Proof.
  intros L H.
  assert (P : forall a c, (1 <= a)%nat -> (1 <= c)%nat -> 0 < Gram averaging K (layer - 1) a c)
    by (intros; apply averaging_pos; lia).
  destruct (Nat.eq_dec (j + 1) i) as [E|N].
  - replace (Score averaging K layer i (j + 1)) with 1; [apply averaging_below_diagonal; lia|].
    rewrite E. symmetry. apply layer_score_l2_self, P; lia.
  - pose proof (averaging_below_diagonal layer (j + 1) j ltac:(lia) ltac:(lia)) as B.
    pose proof (averaging_stack_minors i (layer - 1) ltac:(lia) (j + 1)%nat i j (j + 1)%nat
      ltac:(lia) ltac:(lia) ltac:(lia) ltac:(lia)) as M.
    unfold minor in M. revert B. unfold Score, averaging. rewrite !layer_score_l2. fold averaging.
    pose proof (P i i ltac:(lia) ltac:(lia)) as Pi. pose proof (P j j ltac:(lia) ltac:(lia)) as Pj.
    pose proof (P (j + 1)%nat (j + 1)%nat ltac:(lia) ltac:(lia)) as Pn.
    pose proof (P i (j + 1)%nat ltac:(lia) ltac:(lia)) as Pc.
    set (G := Gram averaging K (layer - 1)) in *. clearbody G.
    pose proof (sqrt_lt_R0 _ Pi) as Qi. pose proof (sqrt_lt_R0 _ Pj) as Qj. pose proof (sqrt_lt_R0 _ Pn) as Qn.
    intro B. apply (Rle_lt_trans _ (G i (j + 1)%nat / (sqrt (G i i) * sqrt (G (j + 1)%nat (j + 1)%nat))
      * (G (j + 1)%nat j / (sqrt (G (j + 1)%nat (j + 1)%nat) * sqrt (G j j))))).
    + apply (Rmult_le_reg_r (sqrt (G i i) * sqrt (G j j) * G (j + 1)%nat (j + 1)%nat)).
      * repeat apply Rmult_lt_0_compat; assumption.
      * replace (G i j / (sqrt (G i i) * sqrt (G j j)) * (sqrt (G i i) * sqrt (G j j) * G (j + 1)%nat (j + 1)%nat))
          with (G (j + 1)%nat (j + 1)%nat * G i j) by (field; lra).
        rewrite <- (sqrt_sqrt (G (j + 1)%nat (j + 1)%nat)) at 4 by lra.
        match goal with |- _ <= ?e => replace e with (G (j + 1)%nat j * G i (j + 1)%nat) by (field; lra) end.
        lra.
    + rewrite <- (Rmult_1_r (G i (j + 1)%nat / _)) at 2. apply Rmult_lt_compat_l; [|exact B].
      apply Rdiv_lt_0_compat; [exact Pc|apply Rmult_lt_0_compat; assumption].
Qed.
End Increasing.
