(** * Equicorrelated inputs: the first layer in closed form

    For every inverse temperature, residual weight and real alpha, with l2 normalisation or without any (the inputs
    are unit vectors, so the first layer is the same). Two abbreviations carry everything:

        r = exp(beta (1 - alpha)),   s = 1 + lam. *)

From Coq Require Import Reals Lra Lia Arith.
From Maskproof Require Import Attention Sums Layers.
Open Scope R_scope.

(** How much a token prefers itself. *)
Definition r_of (alpha b : R) : R := exp (b * (1 - alpha)).

(** The inner product of x_i and x_j, j < i, after the first layer; it does not depend on j. *)
Definition g (alpha b lam : R) (i : R) : R :=
  (1 + lam) * (alpha * (1 + lam) + (1 - alpha) / (r_of alpha b + i - 1)).

(** The squared norm of x_i after the first layer. *)
Definition h2 (alpha b lam : R) (i : R) : R :=
  (1 + lam) ^ 2
  - (1 - alpha) * (i - 1) * (2 * (1 + lam) * (r_of alpha b + i - 1) - i) / (r_of alpha b + i - 1) ^ 2.

Lemma INR_ge_1 i : (1 <= i)%nat -> 1 <= INR i.
Proof. exact (le_INR 1 i). Qed.

Lemma r_pos alpha b : 0 < r_of alpha b.
Proof. apply exp_pos. Qed.

Lemma r_ge_1 alpha b : alpha < 1 -> 0 <= b -> 1 <= r_of alpha b.
Proof.
  intros A B. assert (0 <= b * (1 - alpha)) by (apply Rmult_le_pos; lra). unfold r_of. rewrite <- exp_0 at 1.
  destruct (Req_dec (b * (1 - alpha)) 0) as [->|N]; [lra|]. left. apply exp_increasing. lra.
Qed.

Lemma row_pos alpha b i : (1 <= i)%nat -> 0 < r_of alpha b + INR i - 1.
Proof. intro H. pose proof (INR_ge_1 i H). pose proof (r_pos alpha b). lra. Qed.

Section FirstLayer.
Variables (nm : normalisation) (alpha b lam : R).
Hypothesis (on_unit_vectors : nm = L2 \/ nm = NoNorm).
Notation D := (Decoder nm 1 b lam Causal).
Notation K := (equicorrelated alpha).
Notation r := (r_of alpha b).

Lemma stretch_one i : stretch D K i = 1.
Proof.
  unfold stretch. destruct on_unit_vectors as [->| ->]; simpl; [|reflexivity].
  rewrite equicorrelated_self, sqrt_1. field.
Qed.

Lemma score_one_self i : Score D K 1 i i = 1.
Proof. unfold Score, layer_score. simpl. rewrite !stretch_one, equicorrelated_self. field. Qed.

Lemma score_one_other i j : i <> j -> Score D K 1 i j = alpha.
Proof. intro N. unfold Score, layer_score. simpl. rewrite !stretch_one, equicorrelated_other by exact N. field. Qed.

Lemma normaliser_one i : (1 <= i)%nat ->
  sum (fun k => exp (b * Score D K 1 i k)) i = exp (alpha * b) * (r + INR i - 1).
Proof.
  intro H. rewrite sum_last by exact H. rewrite (sum_ext _ (fun _ => exp (alpha * b))).
  - rewrite sum_const, score_one_self, minus_INR by exact H. simpl INR.
    replace (b * 1) with (alpha * b + b * (1 - alpha)) by ring. rewrite exp_plus. unfold r_of. ring.
  - intros k Hk. rewrite score_one_other by lia. f_equal. ring.
Qed.

Lemma weight_one_is i j : (j <= i)%nat ->
  Weight D K 1 i j = exp (b * Score D K 1 i j) / sum (fun k => exp (b * Score D K 1 i k)) i.
Proof. intro H. exact (softmax_causal b (Score D K 1) i j H). Qed.

Theorem weight_one_other i j : (j < i)%nat -> Weight D K 1 i j = 1 / (r + INR i - 1).
Proof.
  intro H. rewrite weight_one_is, normaliser_one, score_one_other, (Rmult_comm b alpha) by lia.
  pose proof (exp_pos (alpha * b)). pose proof (row_pos alpha b i ltac:(lia)). field. lra.
Qed.

Theorem weight_one_self i : (1 <= i)%nat -> Weight D K 1 i i = r / (r + INR i - 1).
Proof.
  intro H. rewrite weight_one_is, normaliser_one, score_one_self by lia.
  replace (b * 1) with (alpha * b + b * (1 - alpha)) by ring. rewrite exp_plus. fold (r_of alpha b).
  pose proof (exp_pos (alpha * b)). pose proof (row_pos alpha b i ltac:(lia)). field. lra.
Qed.

Lemma mix_one_is i j : Mix D K 1 i j = Weight D K 1 i j + (if i =? j then lam else 0).
Proof. unfold Mix, layer_mix. simpl Gram. rewrite stretch_one. unfold Weight. simpl. ring. Qed.

Theorem mix_one_other i j : (j < i)%nat -> Mix D K 1 i j = 1 / (r + INR i - 1).
Proof. intro H. rewrite mix_one_is, weight_one_other, (proj2 (Nat.eqb_neq i j)) by lia. ring. Qed.

Theorem mix_one_self i : (1 <= i)%nat -> Mix D K 1 i i = lam + r / (r + INR i - 1).
Proof. intro H. rewrite mix_one_is, weight_one_self, Nat.eqb_refl by lia. ring. Qed.

(** Every token has the total weight s. *)
Lemma mix_one_row i : (1 <= i)%nat -> sum (Mix D K 1 i) i = 1 + lam.
Proof.
  intro H. rewrite sum_last by exact H.
  rewrite (sum_ext _ (fun _ => 1 / (r + INR i - 1))) by (intros; apply mix_one_other; lia).
  rewrite sum_const, mix_one_self, minus_INR by exact H. simpl INR. pose proof (row_pos alpha b i H). field. lra.
Qed.

Lemma gram_one_is i j : Gram D K 1 i j = sum (fun k => sum (fun l => Mix D K 1 i k * Mix D K 1 j l * K k l) j) i.
Proof. reflexivity. Qed.

Theorem gram_one_other i j : (1 <= j < i)%nat -> Gram D K 1 i j = g alpha b lam (INR i).
Proof.
  intro H. rewrite gram_one_is, equicorrelated_sum by lia.
  rewrite (sum_ext (fun k => Mix D K 1 i k * Mix D K 1 j k) (fun k => 1 / (r + INR i - 1) * Mix D K 1 j k))
    by (intros; rewrite mix_one_other by lia; reflexivity).
  rewrite sum_scal. change (sum (fun k => Mix D K 1 j k) j) with (sum (Mix D K 1 j) j).
  change (sum (fun k => Mix D K 1 i k) i) with (sum (Mix D K 1 i) i).
  rewrite !mix_one_row by lia. pose proof (row_pos alpha b i ltac:(lia)). unfold g. field. lra.
Qed.

Theorem gram_one_self i : (1 <= i)%nat -> Gram D K 1 i i = h2 alpha b lam (INR i).
Proof.
  intro H. rewrite gram_one_is, equicorrelated_sum by lia.
  change (sum (fun k => Mix D K 1 i k) i) with (sum (Mix D K 1 i) i). rewrite !mix_one_row by lia.
  rewrite (sum_last (fun k => Mix D K 1 i k * Mix D K 1 i k)) by exact H.
  rewrite (sum_ext _ (fun _ => 1 / (r + INR i - 1) * (1 / (r + INR i - 1))))
    by (intros; rewrite !mix_one_other by lia; reflexivity).
  rewrite sum_const, mix_one_self, minus_INR by exact H. simpl INR.
  pose proof (row_pos alpha b i H). unfold h2. field. lra.
Qed.
End FirstLayer.

(** ** The second layer's scores, with l2 normalisation *)

Lemma score_two_is alpha b lam i j :
  Score (l2_decoder b lam) (equicorrelated alpha) 2 i j
  = Gram (l2_decoder b lam) (equicorrelated alpha) 1 i j
    / (sqrt (Gram (l2_decoder b lam) (equicorrelated alpha) 1 i i)
       * sqrt (Gram (l2_decoder b lam) (equicorrelated alpha) 1 j j)).
Proof. apply layer_score_l2. Qed.

Theorem score_two_other alpha b lam i j : (1 <= j < i)%nat ->
  Score (l2_decoder b lam) (equicorrelated alpha) 2 i j
  = g alpha b lam (INR i) / (sqrt (h2 alpha b lam (INR i)) * sqrt (h2 alpha b lam (INR j))).
Proof.
  intro H. rewrite score_two_is. unfold l2_decoder. rewrite gram_one_other, !gram_one_self by (auto; lia). reflexivity.
Qed.
