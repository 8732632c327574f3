(** * The order of scores in the second layer, l2 normalisation and equicorrelated inputs

    Norms after the first layer decrease in the position. So before the query the sign of the inner product alone
    decides whether closer keys score higher, and the query's own key scores highest. *)

From Coq Require Import Reals Lra Lia Arith.
From Maskproof Require Import Attention Sums Layers ClosedForms.
Open Scope R_scope.

(** With alpha < 1: there are i linearly independent unit vectors with pairwise cosine alpha. *)
Definition independent (alpha : R) (i : nat) : Prop := 0 < 1 + (INR i - 1) * alpha.

Lemma independent_before alpha i j : (1 <= j <= i)%nat -> independent alpha i -> independent alpha j.
Proof.
  unfold independent. intros [J I] H. apply INR_ge_1 in J. apply le_INR in I.
  destruct (Rle_or_lt 0 alpha) as [A|A].
  - assert (0 <= (INR j - 1) * alpha) by (apply Rmult_le_pos; lra). lra.
  - assert (0 <= (INR i - INR j) * - alpha) by (apply Rmult_le_pos; lra). lra.
Qed.

Lemma independent_nonneg alpha i : (1 <= i)%nat -> 0 <= alpha -> independent alpha i.
Proof.
  unfold independent. intros I A. apply INR_ge_1 in I.
  assert (0 <= (INR i - 1) * alpha) by (apply Rmult_le_pos; lra). lra.
Qed.

Section Order.
Variables (alpha b lam : R).
Hypothesis (alpha_lt : alpha < 1) (b_ge : 0 <= b) (lam_ge : 0 <= lam).
Notation D := (l2_decoder b lam).
Notation K := (equicorrelated alpha).
Notation r := (r_of alpha b).
Notation g' := (g alpha b lam).
Notation h2' := (h2 alpha b lam).

(** ** Norms *)

Theorem h2_pos i : (1 <= i)%nat -> independent alpha i -> 0 < h2' (INR i).
Proof.
  unfold independent. intros H I. pose proof (row_pos alpha b i H). pose proof (r_ge_1 alpha b alpha_lt b_ge).
  pose proof (INR_ge_1 i H).
  (* as a sum of squares, weighted with the eigenvalues 1 - alpha and 1 + (i-1) alpha of K *)
  replace (h2' (INR i)) with (((1 - alpha) * (INR i - 1) * (lam + (r - 1) / (r + INR i - 1)) ^ 2
    + (1 + (INR i - 1) * alpha) * (1 + lam) ^ 2) / INR i) by (unfold h2; field; lra).
  apply Rdiv_lt_0_compat; [|lra]. apply Rplus_le_lt_0_compat.
  - apply Rmult_le_pos; [apply Rmult_le_pos; lra|apply pow2_ge_0].
  - apply Rmult_lt_0_compat; [exact I|apply pow_lt; lra].
Qed.

(** Also between the integers. *)
Theorem h2_decreasing x : 1 <= x -> h2' (x + 1) < h2' x.
Proof.
  intro X. pose proof (r_pos alpha b). unfold h2. set (m := x - 1).
  replace x with (m + 1) by (unfold m; ring). assert (0 <= m) by (unfold m; lra). clearbody m. clear X x.
  generalize dependent (r_of alpha b). intros r Hr. apply Rminus_gt_0_lt.
  match goal with |- 0 < ?e => replace e with ((1 - alpha) *
     (2 * lam * r * (m ^ 2 + 2 * m * r + m + r ^ 2 + r) + m ^ 2 + 2 * m * r ^ 2 + m + 2 * r ^ 3)
     / ((r + m) ^ 2 * (r + m + 1) ^ 2)) by (field; lra) end.
  assert (0 < r ^ 3) by (apply pow_lt; exact Hr). assert (0 <= m * r) by (apply Rmult_le_pos; lra).
  assert (0 <= m * r ^ 2) by (apply Rmult_le_pos; [lra|apply pow2_ge_0]).
  assert (0 <= lam * r) by (apply Rmult_le_pos; lra). pose proof (pow2_ge_0 m). pose proof (pow2_ge_0 r).
  assert (0 <= lam * r * (m ^ 2 + 2 * m * r + m + r ^ 2 + r)) by (apply Rmult_le_pos; lra).
  apply Rdiv_lt_0_compat; apply Rmult_lt_0_compat; try apply pow_lt; lra.
Qed.

Lemma h2_decreasing_nat j : (1 <= j)%nat -> h2' (INR (j + 1)) < h2' (INR j).
Proof. intro J. rewrite plus_INR. apply h2_decreasing, INR_ge_1, J. Qed.

Lemma h2_lt i j : (1 <= j < i)%nat -> h2' (INR i) < h2' (INR j).
Proof.
  intros [J I]. induction I as [|i I IH]; [replace (S j) with (j + 1)%nat by lia; apply h2_decreasing_nat, J|].
  apply (Rlt_trans _ (h2' (INR i))); [|exact IH]. replace (S i) with (i + 1)%nat by lia. apply h2_decreasing_nat. lia.
Qed.

Lemma norm_pos i : (1 <= i)%nat -> independent alpha i -> 0 < sqrt (h2' (INR i)).
Proof. intros. apply sqrt_lt_R0, h2_pos; assumption. Qed.

Lemma norm_lt i j : (1 <= j < i)%nat -> independent alpha i -> sqrt (h2' (INR i)) < sqrt (h2' (INR j)).
Proof.
  intros H I. apply sqrt_lt_1_alt. split; [|apply h2_lt; exact H]. left. apply h2_pos; [lia|exact I].
Qed.

(** ** Before the query *)

Theorem order_by_sign i j : (1 <= j)%nat -> (j + 1 < i)%nat -> independent alpha i ->
  (0 < Gram D K 1 i j -> Score D K 2 i j < Score D K 2 i (j + 1)) /\
  (Gram D K 1 i j < 0 -> Score D K 2 i j > Score D K 2 i (j + 1)) /\
  (Gram D K 1 i j = 0 -> Score D K 2 i j = Score D K 2 i (j + 1)).
Proof.
  intros J I Ind. unfold l2_decoder. rewrite gram_one_other by (auto; lia). fold (l2_decoder b lam).
  rewrite !score_two_other by lia.
  pose proof (norm_pos i ltac:(lia) Ind) as Pi.
  assert (In : independent alpha (j + 1)) by (apply (independent_before alpha i); [lia|exact Ind]).
  pose proof (norm_pos (j + 1) ltac:(lia) In) as Pn.
  pose proof (norm_lt (j + 1) j ltac:(lia) In) as L.
  assert (Q : / (sqrt (h2' (INR i)) * sqrt (h2' (INR j))) < / (sqrt (h2' (INR i)) * sqrt (h2' (INR (j + 1))))).
  { apply Rinv_lt_contravar; [|apply Rmult_lt_compat_l; assumption]. repeat apply Rmult_lt_0_compat; lra. }
  unfold Rdiv. repeat split; intro S.
  - apply Rmult_lt_compat_l; assumption.
  - apply Ropp_lt_cancel. rewrite <- !Ropp_mult_distr_l_reverse. apply Rmult_lt_compat_l; lra.
  - rewrite S. ring.
Qed.

Lemma g_pos i : (1 <= i)%nat -> 0 <= alpha -> 0 < g' (INR i).
Proof.
  intros I A. pose proof (row_pos alpha b i I). unfold g.
  apply Rmult_lt_0_compat; [lra|]. apply Rplus_le_lt_0_compat; [apply Rmult_le_pos; lra|].
  apply Rdiv_lt_0_compat; lra.
Qed.

(** ** The query itself *)

Theorem score_two_self i : (1 <= i)%nat -> independent alpha i -> Score D K 2 i i = 1.
Proof.
  intros H I. apply layer_score_l2_self. change (Gram D K (2 - 1) i i) with (Gram D K 1 i i). unfold l2_decoder.
  rewrite gram_one_self by auto. apply h2_pos; assumption.
Qed.

Lemma g_le_h2 i : (1 <= i)%nat -> g' (INR i) <= h2' (INR i).
Proof.
  intro H. pose proof (row_pos alpha b i H). pose proof (r_ge_1 alpha b alpha_lt b_ge). pose proof (INR_ge_1 i H).
  apply Rminus_le. apply Ropp_le_cancel. rewrite Ropp_0.
  replace (- (g' (INR i) - h2' (INR i))) with
    ((1 - alpha) * ((lam + r / (r + INR i - 1)) * (lam + (r - 1) / (r + INR i - 1)))) by (unfold g, h2; field; lra).
  assert (0 <= r / (r + INR i - 1)) by (apply Rlt_le, Rdiv_lt_0_compat; lra).
  assert (0 <= (r - 1) / (r + INR i - 1)) by (apply Rmult_le_pos; [lra|apply Rlt_le, Rinv_0_lt_compat; lra]).
  apply Rmult_le_pos; [lra|apply Rmult_le_pos; lra].
Qed.

Theorem below_diagonal i j : (1 <= j < i)%nat -> independent alpha i -> Score D K 2 i j < 1.
Proof.
  intros H I. rewrite score_two_other by exact H.
  pose proof (h2_pos i ltac:(lia) I) as P. pose proof (norm_pos i ltac:(lia) I) as Pi.
  pose proof (norm_lt i j H I) as L.
  assert (N : 0 < sqrt (h2' (INR i)) * sqrt (h2' (INR j))) by (apply Rmult_lt_0_compat; lra).
  apply (Rmult_lt_reg_r _ _ _ N). unfold Rdiv. rewrite Rmult_assoc, Rinv_l, Rmult_1_r, Rmult_1_l by lra.
  apply (Rle_lt_trans _ (h2' (INR i))); [apply g_le_h2; lia|]. rewrite <- (sqrt_sqrt (h2' (INR i))) at 1 by lra.
  apply Rmult_lt_compat_l; assumption.
Qed.

(** ** Closer keys score higher, up to and including the query itself *)

Theorem increasing_two i j : 0 <= alpha -> (1 <= j < i)%nat -> Score D K 2 i j < Score D K 2 i (j + 1).
Proof.
  intros A [J I]. pose proof (independent_nonneg alpha i ltac:(lia) A) as Ind.
  destruct (Nat.eq_dec (j + 1) i) as [->|N].
  - rewrite score_two_self by (try exact Ind; lia). apply below_diagonal; [lia|exact Ind].
  - apply order_by_sign; try assumption; [lia|]. unfold l2_decoder. rewrite gram_one_other by (auto; lia).
    apply g_pos; [lia|exact A].
Qed.
End Order.

(** ** Without normalisation row i is constant before the query *)

Theorem flat_without_norm alpha b lam i j : (1 <= j)%nat -> (j + 1 < i)%nat ->
  let S := Score (Decoder NoNorm 1 b lam Causal) (equicorrelated alpha) 2 in S i j = S i (j + 1)%nat.
Proof.
  intros J I S. unfold S, Score, layer_score, stretch. change (2 - 1)%nat with 1%nat. cbn [norm].
  rewrite !gram_one_other by (auto; lia). reflexivity.
Qed.
