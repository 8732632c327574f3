(** * What holds for every layer, whatever the inputs *)

From Coq Require Import Reals Lra Lia Arith.
From Maskproof Require Import Attention Sums.
Open Scope R_scope.

(** ** The mask *)

Lemma sees_before m i j : sees m i j = true -> (j <= i)%nat.
Proof.
  destruct m as [|w]; simpl; intro H; [apply Nat.leb_le; exact H|].
  apply andb_prop in H. apply Nat.leb_le, (proj1 H).
Qed.

Lemma sees_self m i : m <> SlidingWindow 0 -> sees m i i = true.
Proof.
  destruct m as [|w]; simpl; intro H; [apply Nat.leb_refl|].
  rewrite Nat.leb_refl. apply Nat.ltb_lt. destruct w; [contradiction H; reflexivity|lia].
Qed.

Lemma softmax_later m b S i j : (i < j)%nat -> softmax m b S i j = 0.
Proof.
  intro H. unfold softmax. destruct (sees m i j) eqn:E; [|reflexivity]. apply sees_before in E. lia.
Qed.

(** The softmax with the causal mask, as one writes it. *)
Lemma softmax_causal b S i j : (j <= i)%nat ->
  softmax Causal b S i j = exp (b * S i j) / sum (fun k => exp (b * S i k)) i.
Proof.
  intro H. unfold softmax. simpl. rewrite (proj2 (Nat.leb_le j i) H). f_equal.
  apply sum_ext; intros k Hk. rewrite (proj2 (Nat.leb_le k i)) by lia. reflexivity.
Qed.

Lemma softmax_ext m b b' S S' i j :
  (forall k, (1 <= k <= i)%nat -> b * S i k = b' * S' i k) -> (1 <= j <= i)%nat ->
  softmax m b S i j = softmax m b' S' i j.
Proof.
  intros H Hj. unfold softmax. rewrite (H j Hj). destruct (sees m i j); [|reflexivity]. f_equal.
  apply sum_ext; intros k Hk. rewrite (H k Hk). reflexivity.
Qed.

Lemma softmax_total m b S i : (1 <= i)%nat -> m <> SlidingWindow 0 ->
  0 < sum (fun k => if sees m i k then exp (b * S i k) else 0) i.
Proof.
  intros Hi Hm. apply (sum_pos_at _ i i); [lia| |rewrite sees_self by exact Hm; apply exp_pos].
  intros k _. destruct (sees m i k); [left; apply exp_pos|lra].
Qed.

Lemma softmax_nonneg m b S i j : (1 <= i)%nat -> m <> SlidingWindow 0 -> 0 <= softmax m b S i j.
Proof.
  intros Hi Hm. unfold softmax. destruct (sees m i j); [|lra].
  left. apply Rdiv_lt_0_compat; [apply exp_pos|apply softmax_total; assumption].
Qed.

(** Weights of a row sum to 1. *)
Lemma softmax_row m b S i : (1 <= i)%nat -> m <> SlidingWindow 0 -> sum (softmax m b S i) i = 1.
Proof.
  intros Hi Hm. pose proof (softmax_total m b S i Hi Hm) as P.
  rewrite (sum_ext _ (fun j => / sum (fun k => if sees m i k then exp (b * S i k) else 0) i *
    (if sees m i j then exp (b * S i j) else 0))).
  - rewrite sum_scal. field. lra.
  - intros j _. unfold softmax. destruct (sees m i j); [field; lra|ring].
Qed.

(** ** Coefficients and inner products *)

Lemma layer_mix_later D K i j : (i < j)%nat -> layer_mix D K i j = 0.
Proof.
  intro H. unfold layer_mix, layer_weight. rewrite softmax_later by exact H.
  rewrite (proj2 (Nat.eqb_neq i j)) by lia. ring.
Qed.

Lemma layer_gram_symmetric D K : (forall i j, K i j = K j i) -> forall i j, layer_gram D K i j = layer_gram D K j i.
Proof.
  intros H i j. unfold layer_gram. rewrite sum_comm.
  apply sum_ext; intros l _. apply sum_ext; intros k _. rewrite (H k l). ring.
Qed.

Lemma Gram_symmetric D K layer : (forall i j, K i j = K j i) -> forall i j, Gram D K layer i j = Gram D K layer j i.
Proof. intro H. induction layer as [|l IH]; [exact H|]. apply layer_gram_symmetric, IH. Qed.

Lemma equicorrelated_symmetric alpha i j : equicorrelated alpha i j = equicorrelated alpha j i.
Proof. unfold equicorrelated. rewrite Nat.eqb_sym. reflexivity. Qed.

Lemma equicorrelated_self alpha i : equicorrelated alpha i i = 1.
Proof. unfold equicorrelated. rewrite Nat.eqb_refl. reflexivity. Qed.

Lemma equicorrelated_other alpha i j : i <> j -> equicorrelated alpha i j = alpha.
Proof. intro H. unfold equicorrelated. rewrite (proj2 (Nat.eqb_neq i j) H). reflexivity. Qed.

(** A layer looks at inner products of visible positions only. *)
Lemma layer_gram_ext D K K' n :
  (forall i j, (1 <= i <= n)%nat -> (1 <= j <= n)%nat -> K i j = K' i j) ->
  forall i j, (1 <= i <= n)%nat -> (1 <= j <= n)%nat -> layer_gram D K i j = layer_gram D K' i j.
Proof.
  intros H.
  assert (St : forall k, (1 <= k <= n)%nat -> stretch D K k = stretch D K' k)
    by (intros k Hk; unfold stretch; destruct (norm D); rewrite ?(H k k) by lia; reflexivity).
  assert (M : forall i k, (1 <= i <= n)%nat -> (1 <= k <= i)%nat -> layer_mix D K i k = layer_mix D K' i k).
  { intros i k Hi Hk. unfold layer_mix. rewrite (St k) by lia. f_equal. f_equal. unfold layer_weight.
    apply softmax_ext; [|exact Hk]. intros l Hl. unfold layer_score. rewrite (St i), (St l), (H i l) by lia. reflexivity. }
  intros i j Hi Hj. unfold layer_gram. apply sum_ext; intros k Hk. apply sum_ext; intros l Hl.
  rewrite (M i k), (M j l), (H k l) by lia. reflexivity.
Qed.

(** ** l2 normalisation: scores are cosines *)

Section L2.
Variables (b lam : R) (K : matrix).
Notation D := (l2_decoder b lam).

Lemma stretch_l2 i : stretch D K i = 1 / sqrt (K i i).
Proof. reflexivity. Qed.

Lemma layer_score_l2 i j : layer_score D K i j = K i j / (sqrt (K i i) * sqrt (K j j)).
Proof.
  unfold layer_score. rewrite !stretch_l2. simpl scale. unfold Rdiv. rewrite Rinv_1, Rinv_mult. ring.
Qed.

Lemma layer_score_l2_self i : 0 < K i i -> layer_score D K i i = 1.
Proof.
  intro H. rewrite layer_score_l2, sqrt_sqrt by lra. field. lra.
Qed.
End L2.
