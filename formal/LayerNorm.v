(** * LayerNorm is l2 normalisation at another inverse temperature, with another residual weight in the first layer

    A layer with LayerNorm of width d, on the inner products of the centred vectors, is the l2 layer at the inverse
    temperature beta d / scale; what leaves it is longer by sqrt(d). So the first layer, fed with unit vectors, has the
    effective residual weight lam / sqrt(d), and every later layer has lam. *)

From Coq Require Import Reals Lra Lia Arith.
From Maskproof Require Import Attention Sums Layers ClosedForms Order.
Open Scope R_scope.

(** ** Two decoders whose scores and coefficients are proportional *)

Section Proportional.
Variables (D D' : decoder) (K K' : matrix) (t c : R).
Hypothesis same_mask : mask D = mask D'.
Hypothesis scores : forall i j, (1 <= i)%nat -> (1 <= j)%nat -> beta D * layer_score D K i j = beta D' * layer_score D' K' i j.
Hypothesis stretches : forall j, (1 <= j)%nat -> stretch D K j = t * stretch D' K' j.
Hypothesis residuals : residual D = t * residual D'.
Hypothesis grams : forall i j, (1 <= i)%nat -> (1 <= j)%nat -> K i j = c * K' i j.

Lemma same_weights i j : (1 <= i)%nat -> (1 <= j)%nat -> layer_weight D K i j = layer_weight D' K' i j.
Proof.
  intros I J. unfold layer_weight. rewrite same_mask. destruct (Nat.le_gt_cases j i) as [L|L].
  - apply softmax_ext; [|lia]. intros k Hk. apply scores; lia.
  - rewrite !softmax_later by exact L. reflexivity.
Qed.

Lemma proportional_mix i j : (1 <= i)%nat -> (1 <= j)%nat -> layer_mix D K i j = t * layer_mix D' K' i j.
Proof.
  intros I J. unfold layer_mix. rewrite same_weights, stretches, residuals by assumption. destruct (i =? j); ring.
Qed.

Lemma proportional_gram i j : (1 <= i)%nat -> (1 <= j)%nat -> layer_gram D K i j = t * t * c * layer_gram D' K' i j.
Proof.
  intros I J. unfold layer_gram. rewrite <- sum_scal. apply sum_ext; intros k Hk.
  rewrite <- sum_scal. apply sum_ext; intros l Hl.
  rewrite (proportional_mix i k), (proportional_mix j l), (grams k l) by lia. ring.
Qed.
End Proportional.

Section LayerNorm.
Variables (d : nat) (sc b lam : R) (m : visibility).
Hypothesis (wide : (1 <= d)%nat) (sc_pos : 0 < sc).
Notation root := (sqrt (INR d)).
Notation D := (Decoder (LayerNorm d) sc b lam m).

(** The l2 decoder with the residual weight [l]. *)
Definition twin (l : R) : decoder := Decoder L2 1 (b * (INR d / sc)) l m.

Lemma width_pos : 0 < INR d.
Proof. apply (lt_INR 0). lia. Qed.

Lemma root_pos : 0 < root.
Proof. apply sqrt_lt_R0, width_pos. Qed.

Lemma root_square : root * root = INR d.
Proof. apply sqrt_sqrt. left. apply width_pos. Qed.

(** ** The first layer *)

Section First.
Variable K : matrix.

Lemma first_stretch i : stretch D K i = root * stretch (twin (lam / root)) K i.
Proof. unfold stretch. simpl. unfold Rdiv. ring. Qed.

Theorem first_score i j : layer_score D K i j = INR d / sc * layer_score (twin (lam / root)) K i j.
Proof.
  unfold layer_score. rewrite !first_stretch. simpl scale.
  replace (INR d / sc) with (root * root / sc) by (rewrite root_square; reflexivity). field. lra.
Qed.

Lemma first_sharpness i j : beta D * layer_score D K i j = beta (twin (lam / root)) * layer_score (twin (lam / root)) K i j.
Proof. rewrite first_score. simpl. ring. Qed.

Theorem first_weight i j : (1 <= i)%nat -> (1 <= j)%nat -> layer_weight D K i j = layer_weight (twin (lam / root)) K i j.
Proof. apply same_weights; [reflexivity|]. intros; apply first_sharpness. Qed.

Theorem first_mix i j : (1 <= i)%nat -> (1 <= j)%nat -> layer_mix D K i j = root * layer_mix (twin (lam / root)) K i j.
Proof.
  pose proof root_pos. apply proportional_mix; [reflexivity|intros; apply first_sharpness|intros; apply first_stretch|].
  simpl. field. lra.
Qed.

Theorem first_gram i j : (1 <= i)%nat -> (1 <= j)%nat -> layer_gram D K i j = INR d * layer_gram (twin (lam / root)) K i j.
Proof.
  intros I J. pose proof root_pos.
  rewrite (proportional_gram D (twin (lam / root)) K K root 1); try assumption.
  - rewrite root_square. ring.
  - reflexivity.
  - intros; apply first_sharpness.
  - intros; apply first_stretch.
  - simpl. field. lra.
  - intros; ring.
Qed.
End First.

(** ** Every later layer *)

Section Later.
Variables K K' : matrix.
Hypothesis longer : forall i j, (1 <= i)%nat -> (1 <= j)%nat -> K i j = INR d * K' i j.

Lemma later_stretch i : (1 <= i)%nat -> stretch D K i = 1 * stretch (twin lam) K' i.
Proof.
  intro I. unfold stretch. simpl. rewrite longer, sqrt_mult_alt by (try assumption; left; apply width_pos).
  pose proof root_pos. unfold Rdiv. rewrite Rinv_mult, <- Rmult_assoc, Rinv_r by lra. ring.
Qed.

Theorem later_score i j : (1 <= i)%nat -> (1 <= j)%nat -> layer_score D K i j = INR d / sc * layer_score (twin lam) K' i j.
Proof.
  intros I J. unfold layer_score. rewrite !later_stretch, longer by assumption. simpl scale. field. lra.
Qed.

Lemma later_sharpness i j : (1 <= i)%nat -> (1 <= j)%nat ->
  beta D * layer_score D K i j = beta (twin lam) * layer_score (twin lam) K' i j.
Proof. intros I J. rewrite later_score by assumption. simpl. ring. Qed.

Theorem later_weight i j : (1 <= i)%nat -> (1 <= j)%nat -> layer_weight D K i j = layer_weight (twin lam) K' i j.
Proof. apply same_weights; [reflexivity|exact later_sharpness]. Qed.

Theorem later_gram i j : (1 <= i)%nat -> (1 <= j)%nat -> layer_gram D K i j = INR d * layer_gram (twin lam) K' i j.
Proof.
  intros I J. rewrite (proportional_gram D (twin lam) K K' 1 (INR d)); try assumption.
  - ring.
  - reflexivity.
  - exact later_sharpness.
  - exact later_stretch.
  - simpl. ring.
Qed.
End Later.

(** ** All layers *)

Section Stack.
Variable K : matrix.
(** The l2 decoder's inner products after one layer with the effective residual weight. *)
Notation K1 := (layer_gram (twin (lam / root)) K).

Theorem layernorm_gram layer i j : (1 <= i)%nat -> (1 <= j)%nat ->
  Gram D K (layer + 1) i j = INR d * Gram (twin lam) K1 layer i j.
Proof.
  rewrite Nat.add_1_r. revert i j. induction layer as [|l IH]; intros i j I J.
  - apply first_gram; assumption.
  - change (layer_gram D (Gram D K (S l)) i j = INR d * layer_gram (twin lam) (Gram (twin lam) K1 l) i j).
    apply later_gram; assumption.
Qed.

Theorem layernorm_score layer i j : (1 <= layer)%nat -> (1 <= i)%nat -> (1 <= j)%nat ->
  Score D K (layer + 1) i j = INR d / sc * Score (twin lam) K1 layer i j.
Proof.
  intros L I J. unfold Score. apply later_score; try assumption. intros a c A C.
  replace (layer + 1 - 1)%nat with (layer - 1 + 1)%nat by lia. apply layernorm_gram; assumption.
Qed.

Theorem layernorm_weight layer i j : (1 <= layer)%nat -> (1 <= i)%nat -> (1 <= j)%nat ->
  Weight D K (layer + 1) i j = Weight (twin lam) K1 layer i j.
Proof.
  intros L I J. unfold Weight. apply later_weight; try assumption. intros a c A C.
  replace (layer + 1 - 1)%nat with (layer - 1 + 1)%nat by lia. apply layernorm_gram; assumption.
Qed.

(** Up to the second layer's scores one l2 decoder is enough. *)
Theorem layernorm_score_two i j : (1 <= i)%nat -> (1 <= j)%nat ->
  Score D K 2 i j = INR d / sc * Score (twin (lam / root)) K 2 i j.
Proof. intros I J. apply (layernorm_score 1); [lia|exact I|exact J]. Qed.
End Stack.
End LayerNorm.

(** Layer one, and the scores of layer two: with f = d / scale, the l2 decoder at beta f. *)
Theorem same_in_layer_two (K : matrix) (sc b f lam : R) (d i j : nat) :
  0 < sc -> INR d / sc = f -> (1 <= d)%nat -> (1 <= i)%nat -> (1 <= j)%nat ->
  let D := Decoder (LayerNorm d) sc b lam Causal in let D' := l2_decoder (b * f) (lam / sqrt (INR d)) in
  Weight D K 1 i j = Weight D' K 1 i j /\
  Gram D K 1 i j = INR d * Gram D' K 1 i j /\
  Score D K 2 i j = f * Score D' K 2 i j.
Proof.
  intros P <- W I J. repeat split.
  - apply (first_weight d sc b lam Causal W P); assumption.
  - apply (first_gram d sc b lam Causal W P); assumption.
  - apply (layernorm_score_two d sc b lam Causal W P); assumption.
Qed.

Lemma root_of_width d : (1 <= d)%nat -> INR d / sqrt (INR d) = sqrt (INR d).
Proof. intro W. pose proof (root_pos d W). rewrite <- (root_square d W) at 1. field. lra. Qed.

(** ** Inputs of another norm

    Attention does not see norms, but the residual weight is relative to them. *)

Section Longer.
Variables (d : nat) (sc b lam norm : R) (m : visibility) (K : matrix).
Hypothesis norm_pos : 0 < norm.
Notation D l := (Decoder (LayerNorm d) sc b l m).
Notation longer := (fun i j => norm ^ 2 * K i j).

Lemma longer_stretch i : stretch (D lam) longer i = 1 / norm * stretch (D (lam * norm)) K i.
Proof.
  unfold stretch. simpl Attention.norm. cbv beta iota. rewrite sqrt_mult_alt, sqrt_pow2 by (try apply pow2_ge_0; lra).
  unfold Rdiv. rewrite Rinv_mult. ring.
Qed.

Theorem longer_gram i j : (1 <= i)%nat -> (1 <= j)%nat ->
  layer_gram (D lam) longer i j = layer_gram (D (lam * norm)) K i j.
Proof.
  intros I J. rewrite (proportional_gram (D lam) (D (lam * norm)) longer K (1 / norm) (norm ^ 2)); try assumption.
  - field. lra.
  - reflexivity.
  - intros k l _ _. unfold layer_score. rewrite !longer_stretch. simpl beta. simpl scale.
    replace (1 / norm * stretch (D (lam * norm)) K k * (1 / norm * stretch (D (lam * norm)) K l) * (norm ^ 2 * K k l))
      with (stretch (D (lam * norm)) K k * stretch (D (lam * norm)) K l * K k l) by (field; lra).
    reflexivity.
  - intros; apply longer_stretch.
  - simpl. field. lra.
  - reflexivity.
Qed.

Theorem longer_score_two i j : (1 <= i)%nat -> (1 <= j)%nat -> Score (D lam) longer 2 i j = Score (D (lam * norm)) K 2 i j.
Proof.
  intros I J. unfold Score. simpl Gram. unfold layer_score, stretch. simpl Attention.norm. cbv beta iota. simpl scale.
  rewrite !longer_gram by assumption. reflexivity.
Qed.
End Longer.

(** ** The order of layer two, on centred unit vectors with pairwise cosine alpha *)

Theorem layernorm_increasing_two d sc b lam alpha i j :
  (1 <= d)%nat -> 0 < sc -> 0 <= b -> 0 <= lam -> 0 <= alpha < 1 -> (1 <= j < i)%nat ->
  let S := Score (Decoder (LayerNorm d) sc b lam Causal) (equicorrelated alpha) 2 in S i j < S i (j + 1)%nat.
Proof.
  intros W P B L A H. cbv zeta. rewrite !layernorm_score_two by (try assumption; lia).
  pose proof (width_pos d W). pose proof (root_pos d W).
  assert (0 < INR d / sc) by (apply Rdiv_lt_0_compat; assumption).
  apply Rmult_lt_compat_l; [assumption|]. apply increasing_two; try lra; try assumption.
  - apply Rmult_le_pos; lra.
  - apply Rmult_le_pos; [exact L|]. left. apply Rinv_0_lt_compat. assumption.
Qed.
