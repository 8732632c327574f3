(** * What is proved

    Each theorem is the claim of the same name in the catalogue of claims (with _ for . and -), written out with the
    definitions of Attention.v. [K alpha] are unit inputs with pairwise cosine alpha, [l2 beta lam] is the causal
    decoder with l2 normalisation, inverse temperature beta and residual weight lam; the paper has beta = lam = 1.
    Positions: i is the query, j the key, both from 1; d is the width.

    [independent]: 1 + (i-1) alpha > 0, which for alpha < 1 says that i unit vectors with cosine alpha exist and are
    linearly independent, so that no x_i after layer one vanishes. For 0 <= alpha it always holds. *)

From Coq Require Import Reals Lra Lia Arith.
From Coquelicot Require Import Coquelicot.
From Maskproof Require Import Attention Sums Layers ClosedForms Order Independence Averaging Vectors LayerNorm Limits.
Open Scope R_scope.

Notation K := equicorrelated.
Notation l2 := l2_decoder.
Notation independent i alpha := (0 < 1 + (INR i - 1) * alpha).

(** ** The model *)

(** Inner products are enough: the decoder on vectors and the decoder on matrices have the same scores, weights and
    inner products, in every layer (with LayerNorm, of the centred vectors). *)
Theorem vectors_and_matrices (D : decoder) (d : nat) (x : vectors) :
  (1 <= d)%nat ->
  let z := match norm D with LayerNorm _ => centred d | _ => fun x => x end in
  let K := inner d (z x) in
  forall layer i j, (1 <= layer)%nat -> (1 <= j <= i)%nat ->
  vector_score D d (stack D d x (layer - 1)) i j = Score D K layer i j /\
  vector_weight D d (stack D d x (layer - 1)) i j = Weight D K layer i j /\
  inner d (z (stack D d x layer)) i j = Gram D K layer i j.
Proof.
  intros Hd z K' layer i j L H.
  assert (Z : forall x, z x = relevant D d x) by (intro; unfold z, relevant; destruct (norm D); reflexivity).
  unfold K'. rewrite !Z. repeat split.
  - apply score_of_stack; try assumption; lia.
  - apply weight_of_stack; assumption.
  - apply gram_of_stack; try assumption; lia.
Qed.

(** The inputs exist: n unit vectors in R^n with pairwise cosine alpha. *)
Theorem equicorrelated_inputs_exist (n : nat) (alpha : R) :
  (1 <= n)%nat -> alpha <= 1 -> 0 <= 1 + (INR n - 1) * alpha ->
  exists x : vectors, forall i j, (1 <= i <= n)%nat -> (1 <= j <= n)%nat -> inner n x i j = K alpha i j.
Proof. apply equicorrelated_vectors. Qed.

(** ** Layers one and two: every beta, lam and alpha *)

Theorem own_weights (alpha beta lam : R) (i j : nat) : (1 <= j < i)%nat ->
  let r := exp (beta * (1 - alpha)) in let A := Weight (l2 beta lam) (K alpha) 1 in
  A i i = r / (r + INR i - 1) /\ A i j = 1 / (r + INR i - 1).
Proof. intro H. split; [apply weight_one_self; auto; lia|apply weight_one_other; auto; lia]. Qed.

Theorem own_x1 (alpha beta lam : R) (i j : nat) : (1 <= j < i)%nat ->
  let r := exp (beta * (1 - alpha)) in let M := Mix (l2 beta lam) (K alpha) 1 in
  M i i = lam + r / (r + INR i - 1) /\ M i j = 1 / (r + INR i - 1).
Proof. intro H. split; [apply mix_one_self; auto; lia|apply mix_one_other; auto; lia]. Qed.

Theorem own_gram (alpha beta lam : R) (i j : nat) : (1 <= j < i)%nat ->
  let r := exp (beta * (1 - alpha)) in let s := 1 + lam in let G := Gram (l2 beta lam) (K alpha) 1 in
  G i i = s ^ 2 - (1 - alpha) * (INR i - 1) * (2 * s * (r + INR i - 1) - INR i) / (r + INR i - 1) ^ 2 /\
  G i j = s * (alpha * s + (1 - alpha) / (r + INR i - 1)).
Proof. intro H. split; [apply gram_one_self; auto; lia|apply gram_one_other; auto; lia]. Qed.

(** The inner product and the squared norm of own_gram, as functions of i. *)
Definition g (alpha beta lam i : R) : R :=
  let r := exp (beta * (1 - alpha)) in let s := 1 + lam in s * (alpha * s + (1 - alpha) / (r + i - 1)).
Definition h2 (alpha beta lam i : R) : R :=
  let r := exp (beta * (1 - alpha)) in let s := 1 + lam in
  s ^ 2 - (1 - alpha) * (i - 1) * (2 * s * (r + i - 1) - i) / (r + i - 1) ^ 2.

Theorem own_score_two (alpha beta lam : R) (i j : nat) :
  alpha < 1 -> 0 <= beta -> 0 <= lam -> (1 <= j < i)%nat -> independent i alpha ->
  0 < h2 alpha beta lam (INR i) /\ 0 < h2 alpha beta lam (INR j) /\
  Score (l2 beta lam) (K alpha) 2 i j
  = g alpha beta lam (INR i) / (sqrt (h2 alpha beta lam (INR i)) * sqrt (h2 alpha beta lam (INR j))).
Proof.
  intros A B L H I. split; [|split].
  - apply h2_pos; try assumption; lia.
  - apply h2_pos; try assumption; try lia. apply (independent_before alpha i); [lia|exact I].
  - apply score_two_other. exact H.
Qed.

(** h^2 decreases in the number m = i - 1 of earlier tokens, read as a real number. *)
Theorem own_h_decreasing (alpha beta lam m : R) : alpha < 1 -> 0 <= beta -> 0 <= lam -> 0 <= m ->
  ex_derive (fun m => h2 alpha beta lam (m + 1)) m /\ Derive (fun m => h2 alpha beta lam (m + 1)) m < 0.
Proof.
  intros A B L M. pose proof (r_ge_1 alpha beta A B) as Rg. unfold r_of in Rg. set (s := 1 + lam). unfold h2. cbv zeta.
  generalize dependent (exp (beta * (1 - alpha))). intros r Rg.
  assert (D : is_derive (fun m => (1 + lam) ^ 2 - (1 - alpha) * (m + 1 - 1)
      * (2 * (1 + lam) * (r + (m + 1) - 1) - (m + 1)) / (r + (m + 1) - 1) ^ 2) m
      (- ((1 - alpha) * (m * ((2 * s - 2) * r + 1) + r * (2 * s * r - 1)) / (r + m) ^ 3))).
  { auto_derive.
    - apply Rgt_not_eq, Rmult_lt_0_compat; [lra|]. rewrite Rmult_1_r. lra.
    - unfold s. field. lra. }
  split; [eexists; exact D|]. rewrite (is_derive_unique _ _ _ D). unfold s.
  assert (0 <= lam * r) by (apply Rmult_le_pos; lra). assert (0 <= m * (lam * r)) by (apply Rmult_le_pos; lra).
  assert (1 <= r * r) by (replace 1 with (1 * 1) by ring; apply Rmult_le_compat; lra).
  assert (0 <= lam * (r * r)) by (apply Rmult_le_pos; lra).
  assert (0 < (1 - alpha) * (m * ((2 * (1 + lam) - 2) * r + 1) + r * (2 * (1 + lam) * r - 1)) / (r + m) ^ 3); [|lra].
  apply Rdiv_lt_0_compat; [apply Rmult_lt_0_compat; [lra|]|apply pow_lt; lra].
  assert (0 <= r * (r - 1)) by (apply Rmult_le_pos; lra). lra.
Qed.

(** The general theorem of layer two: before the query the sign of the inner product alone decides. *)
Theorem own_layer_two (alpha beta lam : R) (i j : nat) :
  alpha < 1 -> 0 <= beta -> 0 <= lam -> (1 <= j)%nat -> (j + 1 < i)%nat -> independent i alpha ->
  let G := Gram (l2 beta lam) (K alpha) 1 in let S := Score (l2 beta lam) (K alpha) 2 in
  (G i j > 0 -> S i j < S i (j + 1)%nat) /\
  (G i j < 0 -> S i j > S i (j + 1)%nat) /\
  (G i j = 0 -> S i j = S i (j + 1)%nat).
Proof. intros A B L J I Ind. apply order_by_sign; assumption. Qed.

Theorem own_below_diagonal (alpha beta lam : R) (i j : nat) :
  alpha < 1 -> 0 <= beta -> 0 <= lam -> (1 <= j < i)%nat -> independent i alpha ->
  Score (l2 beta lam) (K alpha) 2 i j < 1.
Proof. intros. apply below_diagonal; assumption. Qed.

(** Closer keys score higher in layer two, up to and including the query itself. *)
Theorem own_increasing_2 (alpha beta lam : R) (i j : nat) :
  0 <= alpha < 1 -> 0 <= beta -> 0 <= lam -> (1 <= j < i)%nat ->
  Score (l2 beta lam) (K alpha) 2 i j < Score (l2 beta lam) (K alpha) 2 i (j + 1).
Proof. intros [A1 A2] B L H. apply increasing_two; assumption. Qed.

Theorem own_flat_without_norm (alpha beta lam : R) (i j : nat) : (1 <= j)%nat -> (j + 1 < i)%nat ->
  let S := Score (Decoder NoNorm 1 beta lam Causal) (K alpha) 2 in S i j = S i (j + 1)%nat.
Proof. apply flat_without_norm. Qed.

(** ** Far from the start *)

Theorem own_g_limit (alpha beta lam : R) (j : nat) : (1 <= j)%nat ->
  let G := Gram (l2 beta lam) (K alpha) 1 in
  is_lim_seq (fun i => G i j) (alpha * (1 + lam) ^ 2) /\
  is_lim_seq (fun i => G i i) (lam ^ 2 + alpha * (1 + 2 * lam)).
Proof. intro J. split; [apply gram_limit; exact J|apply square_limit]. Qed.

Theorem own_saturation (alpha beta lam : R) (j : nat) :
  0 <= alpha < 1 -> 0 <= beta -> 0 <= lam -> (1 <= j)%nat ->
  let p := alpha * (1 + lam) ^ 2 in let q := lam ^ 2 + alpha * (1 + 2 * lam) in
  0 < q ->
  is_lim_seq (fun i => Score (l2 beta lam) (K alpha) 2 i j) (p / (sqrt q * sqrt (h2 alpha beta lam (INR j)))).
Proof. intros [A1 A2] B L J p q Q. apply saturation; assumption. Qed.

Theorem own_saturation_rate (alpha beta lam : R) (j : nat) :
  0 < alpha < 1 -> 0 <= beta -> 0 <= lam -> (1 <= j)%nat ->
  let r := exp (beta * (1 - alpha)) in
  let p := alpha * (1 + lam) ^ 2 in let q := lam ^ 2 + alpha * (1 + 2 * lam) in let h := sqrt (h2 alpha beta lam (INR j)) in
  is_lim_seq (fun i => INR i * (Score (l2 beta lam) (K alpha) 2 i j - p / (sqrt q * h)))
    (((1 - alpha) * (1 + lam) - p * ((1 - alpha) * (2 * r * lam + 1)) / (2 * q)) / (sqrt q * h)).
Proof.
  intros [A1 A2] B L J r p q h. apply (rate_of_saturation alpha beta lam); try assumption; try lra.
  unfold h2_limit. assert (0 <= alpha * lam) by (apply Rmult_le_pos; lra). pose proof (pow2_ge_0 lam). lra.
Qed.

(** ** Attention that only averages (beta = 0, no residual): every layer *)

Theorem own_averaging_increasing (alpha : R) (layer i j : nat) :
  0 <= alpha < 1 -> (2 <= layer)%nat -> (1 <= j < i)%nat ->
  Score (l2 0 0) (K alpha) layer i j < Score (l2 0 0) (K alpha) layer i (j + 1).
Proof. intros [A1 A2] L H. apply averaging_increasing; assumption. Qed.

(** ** The paper's formulas: version 1, beta = residual = 1 *)

Notation e := (exp 1).
Definition normaliser (alpha i : R) : R := e + (i - 1) * exp alpha.

Lemma r_paper alpha : r_of alpha 1 = e / exp alpha.
Proof. unfold r_of. rewrite Rmult_1_l. unfold Rminus. rewrite exp_plus, exp_Ropp. reflexivity. Qed.

Lemma normaliser_pos alpha i : (1 <= i)%nat -> 0 < normaliser alpha (INR i).
Proof.
  intro I. apply INR_ge_1 in I. unfold normaliser. pose proof (exp_pos 1). pose proof (exp_pos alpha).
  assert (0 <= (INR i - 1) * exp alpha) by (apply Rmult_le_pos; lra). lra.
Qed.

(* closes an equation between the two ways of writing, over the normalisers of rows i and i + 1 *)
Ltac paper_form i := unfold ClosedForms.g, ClosedForms.h2; rewrite ?r_paper, ?plus_INR; simpl INR;
  pose proof (exp_pos 1); let N := fresh in pose proof (fun a => normaliser_pos a i ltac:(lia)) as N;
  let M := fresh in pose proof (fun a => normaliser_pos a (i + 1) ltac:(lia)) as M;
  unfold normaliser in *; rewrite ?plus_INR in M; simpl INR in M;
  match goal with |- context [exp ?a] => lazymatch a with 1 => fail | _ =>
    specialize (N a); specialize (M a); pose proof (exp_pos a) end end;
  field; repeat split; try (apply Rgt_not_eq, Rlt_gt); lra.

Theorem kim2025_eq2 (alpha : R) (i j : nat) : (1 <= j < i)%nat ->
  let S := Score (l2 1 1) (K alpha) 1 in S i i = 1 /\ S i j = alpha.
Proof. intro H. split; [apply score_one_self; auto|apply score_one_other; auto; lia]. Qed.

Theorem kim2025_softmax (alpha : R) (i j : nat) : (1 <= j < i)%nat ->
  let A := Weight (l2 1 1) (K alpha) 1 in
  A i i = e / normaliser alpha (INR i) /\ A i j = exp alpha / normaliser alpha (INR i).
Proof.
  intro H. cbv zeta. unfold l2_decoder. rewrite weight_one_self, weight_one_other by (auto; lia).
  split; paper_form i.
Qed.

Theorem kim2025_x1 (alpha : R) (i j : nat) : (1 <= j < i)%nat ->
  let M := Mix (l2 1 1) (K alpha) 1 in
  M i i = 1 + e / normaliser alpha (INR i) /\ M i j = exp alpha / normaliser alpha (INR i).
Proof.
  intro H. cbv zeta. unfold l2_decoder. rewrite mix_one_self, mix_one_other by (auto; lia).
  split; paper_form i.
Qed.

(** g, h^2 and, without the residual, g', h'^2 *)
Definition paper_g (alpha i : R) : R := 4 * alpha + 2 * (1 - alpha) * exp alpha / normaliser alpha i.
(* the squared norm of a x_i + b (x_1 + ... + x_(i-1)) *)
Definition squared_norm (alpha i a b : R) : R :=
  a ^ 2 + (i - 1) * b ^ 2 + alpha * (2 * (i - 1) * a * b + (i - 1) * (i - 2) * b ^ 2).
Definition paper_h2 (alpha i : R) : R :=
  squared_norm alpha i ((2 * e + (i - 1) * exp alpha) / normaliser alpha i) (exp alpha / normaliser alpha i).
Definition paper_g' (alpha i : R) : R := alpha + (1 - alpha) * exp alpha / normaliser alpha i.
Definition paper_h2' (alpha i : R) : R :=
  squared_norm alpha i (e / normaliser alpha i) (exp alpha / normaliser alpha i).

Theorem kim2025_g (alpha : R) (i j : nat) : (1 <= j < i)%nat -> Gram (l2 1 1) (K alpha) 1 i j = paper_g alpha (INR i).
Proof.
  intro H. unfold l2_decoder. rewrite gram_one_other by (auto; lia). unfold paper_g. paper_form i.
Qed.

Theorem kim2025_h (alpha : R) (i : nat) : (1 <= i)%nat -> Gram (l2 1 1) (K alpha) 1 i i = paper_h2 alpha (INR i).
Proof.
  intro H. unfold l2_decoder. rewrite gram_one_self by (auto; lia). unfold paper_h2, squared_norm. paper_form i.
Qed.

Theorem kim2025_g_prime (alpha : R) (i j : nat) : (1 <= j < i)%nat ->
  Gram (l2 1 0) (K alpha) 1 i j = paper_g' alpha (INR i).
Proof.
  intro H. unfold l2_decoder. rewrite gram_one_other by (auto; lia). unfold paper_g'. paper_form i.
Qed.

Theorem kim2025_h_prime (alpha : R) (i : nat) : (1 <= i)%nat -> Gram (l2 1 0) (K alpha) 1 i i = paper_h2' alpha (INR i).
Proof.
  intro H. unfold l2_decoder. rewrite gram_one_self by (auto; lia). unfold paper_h2', squared_norm. paper_form i.
Qed.

Theorem kim2025_eq4 (alpha : R) (i j : nat) : 0 <= alpha < 1 -> (1 <= j < i)%nat ->
  0 < paper_h2 alpha (INR i) /\ 0 < paper_h2 alpha (INR j) /\
  Score (l2 1 1) (K alpha) 2 i j = paper_g alpha (INR i) / (sqrt (paper_h2 alpha (INR i)) * sqrt (paper_h2 alpha (INR j))).
Proof.
  intros A H. rewrite score_two_is, kim2025_g, !kim2025_h by lia. rewrite <- !kim2025_h by lia. unfold l2_decoder.
  rewrite !gram_one_self by (auto; lia).
  repeat split; apply h2_pos; try lra; try lia; apply independent_nonneg; try lra; lia.
Qed.

(** Appendix A.1 *)
Theorem kim2025_h_decreasing (alpha : R) (i : nat) : 0 <= alpha < 1 -> (1 <= i)%nat ->
  let G := Gram (l2 1 1) (K alpha) 1 in G (i + 1)%nat (i + 1)%nat < G i i.
Proof.
  intros A I. cbv zeta. unfold l2_decoder. rewrite !gram_one_self by (auto; lia). apply h2_decreasing_nat; lra || lia.
Qed.

Theorem kim2025_h_difference (alpha : R) (n : nat) : (1 <= n)%nat ->
  let G := Gram (l2 1 1) (K alpha) 1 in let x := exp alpha in let i := INR n in
  G (n + 1)%nat (n + 1)%nat - G n n
  = (alpha - 1) * x * (i * (i - 1) * (x ^ 3 + 2 * e * x ^ 2) + (6 * i - 4) * e ^ 2 * x + 4 * e ^ 3)
    / (normaliser alpha (i + 1) ^ 2 * normaliser alpha i ^ 2).
Proof.
  intro I. cbv zeta. unfold l2_decoder. rewrite !gram_one_self by (auto; lia). paper_form n.
Qed.

(** The coefficients of i^2, i and 1 in its numerator. *)
Theorem own_h_numerator (alpha : R) (n : nat) : (1 <= n)%nat ->
  let G := Gram (l2 1 1) (K alpha) 1 in let x := exp alpha in let i := INR n in let c := (alpha - 1) * x in
  G (n + 1)%nat (n + 1)%nat - G n n
  = (c * (x ^ 3 + 2 * e * x ^ 2) * i ^ 2 + c * (6 * e ^ 2 * x - (x ^ 3 + 2 * e * x ^ 2)) * i
     + c * (4 * e ^ 3 - 4 * e ^ 2 * x)) / (normaliser alpha (i + 1) ^ 2 * normaliser alpha i ^ 2).
Proof.
  intro I. cbv zeta. unfold l2_decoder. rewrite !gram_one_self by (auto; lia). paper_form n.
Qed.

Theorem kim2025_h_coefficients (alpha : R) : 0 <= alpha < 1 ->
  let x := exp alpha in let c := (alpha - 1) * x in
  c * (x ^ 3 + 2 * e * x ^ 2) < 0 /\ c * (6 * e ^ 2 * x - (x ^ 3 + 2 * e * x ^ 2)) < 0 /\ c * (4 * e ^ 3 - 4 * e ^ 2 * x) < 0.
Proof.
  intros [A1 A2]. cbv zeta. pose proof (exp_pos alpha) as X. pose proof (exp_pos 1) as E.
  pose proof (exp_increasing alpha 1 A2) as L. generalize dependent (exp alpha). generalize dependent e.
  intros y E x X L.
  assert (C : forall a, 0 < a -> (alpha - 1) * x * a < 0).
  { intros a P. assert (0 < (1 - alpha) * x * a) by (repeat apply Rmult_lt_0_compat; lra). lra. }
  assert (0 < x ^ 2) by (apply pow_lt; exact X). assert (0 < x ^ 3) by (apply pow_lt; exact X).
  assert (0 < y ^ 2) by (apply pow_lt; exact E). assert (0 < y * x ^ 2) by (apply Rmult_lt_0_compat; assumption).
  repeat split; apply C.
  - lra.
  - replace (6 * y ^ 2 * x - (x ^ 3 + 2 * y * x ^ 2)) with (x * (3 * y ^ 2 + (y - x) * (3 * y + x))) by ring.
    apply Rmult_lt_0_compat; [exact X|]. assert (0 < (y - x) * (3 * y + x)) by (apply Rmult_lt_0_compat; lra). lra.
  - replace (4 * y ^ 3 - 4 * y ^ 2 * x) with (4 * (y ^ 2 * (y - x))) by ring.
    apply Rmult_lt_0_compat; [lra|]. apply Rmult_lt_0_compat; lra.
Qed.

(** Appendix A.2, corrected: + in the numerator, both norms squared. *)
Theorem own_h_prime_difference (alpha : R) (n : nat) : (1 <= n)%nat ->
  let G := Gram (l2 1 0) (K alpha) 1 in let x := exp alpha in let i := INR n in
  G (n + 1)%nat (n + 1)%nat - G n n
  = (alpha - 1) * x * (2 * e ^ 3 + 2 * e ^ 2 * x * (i - 1) + x ^ 3 * i * (i - 1))
    / (normaliser alpha (i + 1) ^ 2 * normaliser alpha i ^ 2).
Proof.
  intro I. cbv zeta. unfold l2_decoder. rewrite !gram_one_self by (auto; lia). paper_form n.
Qed.

Theorem own_h_prime_decreasing (alpha : R) (i : nat) : 0 <= alpha < 1 -> (1 <= i)%nat ->
  let G := Gram (l2 1 0) (K alpha) 1 in G (i + 1)%nat (i + 1)%nat < G i i.
Proof.
  intros A I. cbv zeta. unfold l2_decoder. rewrite !gram_one_self by (auto; lia). apply h2_decreasing_nat; lra || lia.
Qed.

Theorem kim2025_increasing_2 (alpha : R) (i j : nat) : 0 <= alpha < 1 -> (1 <= j < i)%nat ->
  Score (l2 1 1) (K alpha) 2 i j < Score (l2 1 1) (K alpha) 2 i (j + 1).
Proof. intros A H. apply own_increasing_2; lra || lia. Qed.

Theorem kim2025_saturation (alpha : R) (j : nat) : 0 <= alpha < 1 -> (1 <= j)%nat ->
  is_lim_seq (fun i => Score (l2 1 1) (K alpha) 2 i j) (4 * alpha / (sqrt (1 + 3 * alpha) * sqrt (paper_h2 alpha (INR j)))).
Proof.
  intros A J. pose proof (own_saturation alpha 1 1 j A ltac:(lra) ltac:(lra) J) as S. cbv zeta in S.
  specialize (S ltac:(lra)). rewrite <- kim2025_h by exact J. unfold l2_decoder at 2. rewrite gram_one_self by (auto; lia).
  replace (4 * alpha) with (alpha * (1 + 1) ^ 2) by ring. replace (1 + 3 * alpha) with (1 ^ 2 + alpha * (1 + 2 * 1)) by ring.
  exact S.
Qed.

(** ** LayerNorm, on inputs whose centred vectors are unit vectors with pairwise cosine alpha *)

Notation layernorm d scale beta lam := (Decoder (LayerNorm d) scale beta lam Causal).

Lemma over_root d : (1 <= d)%nat -> INR d / sqrt (INR d) = sqrt (INR d).
Proof.
  intro W. pose proof (root_pos d W) as P. rewrite <- (root_square d W) at 1. field. lra.
Qed.

Lemma twin_by_root d b lam : (1 <= d)%nat -> twin d (sqrt (INR d)) b Causal lam = l2 (b * sqrt (INR d)) lam.
Proof. intro W. unfold twin, l2_decoder. rewrite over_root by exact W. reflexivity. Qed.

Lemma twin_by_width d b lam : (1 <= d)%nat -> twin d (INR d) b Causal lam = l2 b lam.
Proof.
  intro W. unfold twin, l2_decoder. pose proof (width_pos d W). f_equal. field. lra.
Qed.

(** With the usual scale sqrt(d), two layers are two l2 layers with beta sqrt(d) and the residual weight lam/sqrt(d). *)
Theorem own_layernorm (alpha beta lam : R) (d i j : nat) : (2 <= d)%nat -> (1 <= i)%nat -> (1 <= j)%nat ->
  let D := layernorm d (sqrt (INR d)) beta lam in let D' := l2 (beta * sqrt (INR d)) (lam / sqrt (INR d)) in
  Weight D (K alpha) 1 i j = Weight D' (K alpha) 1 i j /\
  Gram D (K alpha) 1 i j = INR d * Gram D' (K alpha) 1 i j /\
  Score D (K alpha) 2 i j = sqrt (INR d) * Score D' (K alpha) 2 i j.
Proof.
  intros W I J D D'. assert (W1 : (1 <= d)%nat) by lia. pose proof (root_pos d W1) as P.
  assert (E : D' = twin d (sqrt (INR d)) beta Causal (lam / sqrt (INR d))) by (symmetry; apply twin_by_root, W1).
  rewrite E. unfold D. repeat split.
  - apply first_weight; assumption.
  - apply first_gram; assumption.
  - rewrite layernorm_score_two, over_root by assumption. reflexivity.
Qed.

Theorem own_layernorm_scale_d (alpha beta lam : R) (d i j : nat) : (2 <= d)%nat -> (1 <= i)%nat -> (1 <= j)%nat ->
  let D := layernorm d (INR d) beta lam in let D' := l2 beta (lam / sqrt (INR d)) in
  Weight D (K alpha) 1 i j = Weight D' (K alpha) 1 i j /\
  Gram D (K alpha) 1 i j = INR d * Gram D' (K alpha) 1 i j /\
  Score D (K alpha) 2 i j = Score D' (K alpha) 2 i j.
Proof.
  intros W I J D D'. assert (W1 : (1 <= d)%nat) by lia. pose proof (width_pos d W1) as P.
  assert (E : D' = twin d (INR d) beta Causal (lam / sqrt (INR d))) by (symmetry; apply twin_by_width, W1).
  rewrite E. unfold D. repeat split.
  - apply first_weight; assumption.
  - apply first_gram; assumption.
  - rewrite layernorm_score_two by assumption. field. lra.
Qed.

(** In every layer: after the first layer, whose residual weight is lam/sqrt(d), the l2 decoder has lam itself. *)
Theorem own_layernorm_every_layer (K : matrix) (scale beta lam : R) (d layer i j : nat) :
  (2 <= d)%nat -> 0 < scale -> (1 <= layer)%nat -> (1 <= i)%nat -> (1 <= j)%nat ->
  let D := layernorm d scale beta lam in let l2_with lam' := l2 (beta * (INR d / scale)) lam' in
  let K1 := layer_gram (l2_with (lam / sqrt (INR d))) K in
  Score D K (layer + 1) i j = INR d / scale * Score (l2_with lam) K1 layer i j.
Proof. intros W P L I J. apply (layernorm_score d scale beta lam Causal ltac:(lia) P); assumption. Qed.

Theorem own_layernorm_recovers (alpha : R) (d i j : nat) : (2 <= d)%nat -> (1 <= i)%nat -> (1 <= j)%nat ->
  Score (layernorm d (INR d) 1 (sqrt (INR d))) (K alpha) 2 i j = Score (l2 1 1) (K alpha) 2 i j.
Proof.
  intros W I J. pose proof (root_pos d ltac:(lia)) as P.
  rewrite (proj2 (proj2 (own_layernorm_scale_d alpha 1 (sqrt (INR d)) d i j W I J))). do 2 f_equal. field. lra.
Qed.

Theorem own_layernorm_increasing (alpha beta lam : R) (d i j : nat) :
  0 <= alpha < 1 -> 0 <= beta -> 0 <= lam -> (2 <= d)%nat -> (1 <= j < i)%nat ->
  let S := Score (layernorm d (sqrt (INR d)) beta lam) (K alpha) 2 in S i j < S i (j + 1)%nat.
Proof.
  intros A B L W H. apply layernorm_increasing_two; try assumption; [lia|]. apply root_pos. lia.
Qed.

Theorem kim2025_layernorm_sharper (alpha : R) (d i : nat) : 0 <= alpha < 1 -> (2 <= d)%nat -> (2 <= i)%nat ->
  Weight (layernorm d (sqrt (INR d)) 1 1) (K alpha) 1 i i > Weight (layernorm d (INR d) 1 1) (K alpha) 1 i i.
Proof.
  intros [A1 A2] W I. apply Rlt_gt.
  rewrite (proj1 (own_layernorm alpha 1 1 d i i W ltac:(lia) ltac:(lia))).
  rewrite (proj1 (own_layernorm_scale_d alpha 1 1 d i i W ltac:(lia) ltac:(lia))).
  unfold l2_decoder. rewrite !weight_one_self by (auto; lia).
  assert (Q : 1 < sqrt (INR d)).
  { rewrite <- sqrt_1. apply sqrt_lt_1_alt. split; [lra|]. apply (lt_INR 1). lia. }
  assert (L : r_of alpha 1 < r_of alpha (1 * sqrt (INR d))).
  { unfold r_of. apply exp_increasing. rewrite !Rmult_1_l. rewrite <- (Rmult_1_l (1 - alpha)) at 1.
    apply Rmult_lt_compat_r; lra. }
  pose proof (r_pos alpha 1) as P. assert (M : 1 < INR i) by (apply (lt_INR 1); lia).
  generalize dependent (r_of alpha (1 * sqrt (INR d))). intros r L. generalize dependent (r_of alpha 1). intros q L P.
  apply Rminus_gt_0_lt. replace (r / (r + INR i - 1) - q / (q + INR i - 1))
    with ((r - q) * (INR i - 1) / ((r + INR i - 1) * (q + INR i - 1))) by (field; lra).
  apply Rdiv_lt_0_compat; apply Rmult_lt_0_compat; lra.
Qed.

(** ** Version 2: scale sqrt(d), residual stream of norm sqrt(d), which is the residual weight lam sqrt(d) on unit inputs *)

Notation theory2 d lam := (layernorm d (sqrt (INR d)) 1 (lam * sqrt (INR d))).

Lemma theory2_is d lam : (2 <= d)%nat -> l2 (1 * sqrt (INR d)) (lam * sqrt (INR d) / sqrt (INR d)) = l2 (sqrt (INR d)) lam.
Proof. intro W. pose proof (root_pos d ltac:(lia)). f_equal; field; lra. Qed.

Theorem kim2026_norm (alpha lam : R) (d n : nat) : (2 <= d)%nat -> (1 <= n)%nat ->
  let A := exp (sqrt (INR d)) in let B := exp (alpha * sqrt (INR d)) in let i := INR n in let D := A + (i - 1) * B in
  Gram (theory2 d lam) (K alpha) 1 n n / INR d
  = lam ^ 2 + 2 * lam * alpha + alpha + (1 - alpha) * (2 * lam * A / D + (A * (A - B) + B * D) / D ^ 2).
Proof.
  intros W I. cbv zeta.
  rewrite (proj1 (proj2 (own_layernorm alpha 1 (lam * sqrt (INR d)) d n n W I I))), theory2_is by exact W.
  unfold l2_decoder. rewrite gram_one_self by (auto; lia). unfold ClosedForms.h2, r_of.
  replace (exp (sqrt (INR d) * (1 - alpha))) with (exp (sqrt (INR d)) / exp (alpha * sqrt (INR d)))
    by (unfold Rdiv; rewrite <- exp_Ropp, <- exp_plus; f_equal; ring).
  pose proof (exp_pos (sqrt (INR d))) as P. pose proof (exp_pos (alpha * sqrt (INR d))) as Q.
  pose proof (width_pos d ltac:(lia)) as Wd. apply INR_ge_1 in I.
  generalize dependent (exp (sqrt (INR d))). intros a P. generalize dependent (exp (alpha * sqrt (INR d))). intros b Q.
  assert (0 <= (INR n - 1) * b) by (apply Rmult_le_pos; lra). field. repeat split; lra.
Qed.

Theorem kim2026_h_increasing (alpha lam : R) (d i : nat) : 0 <= alpha < 1 -> 0 <= lam -> (2 <= d)%nat -> (1 <= i)%nat ->
  let G := Gram (theory2 d lam) (K alpha) 1 in G (i + 1)%nat (i + 1)%nat < G i i.
Proof.
  intros A L W I. cbv zeta.
  rewrite (proj1 (proj2 (own_layernorm alpha 1 (lam * sqrt (INR d)) d i i W I I))).
  rewrite (proj1 (proj2 (own_layernorm alpha 1 (lam * sqrt (INR d)) d (i + 1) (i + 1) W ltac:(lia) ltac:(lia)))).
  rewrite theory2_is by exact W. pose proof (width_pos d ltac:(lia)) as Wd. pose proof (root_pos d ltac:(lia)) as P.
  apply Rmult_lt_compat_l; [exact Wd|]. unfold l2_decoder. rewrite !gram_one_self by (auto; lia).
  apply h2_decreasing_nat; lra || lia.
Qed.

Theorem kim2026_score (alpha lam : R) (d i j : nat) : 0 <= alpha < 1 -> 0 <= lam -> (2 <= d)%nat -> (1 <= j < i)%nat ->
  let b := sqrt (INR d) in
  Score (theory2 d lam) (K alpha) 2 i j
  = b * g alpha b lam (INR i) / (sqrt (h2 alpha b lam (INR i)) * sqrt (h2 alpha b lam (INR j))).
Proof.
  intros A L W H. cbv zeta.
  rewrite (proj2 (proj2 (own_layernorm alpha 1 (lam * sqrt (INR d)) d i j W ltac:(lia) ltac:(lia)))).
  rewrite theory2_is, score_two_other by assumption. unfold Rdiv. rewrite Rmult_assoc. reflexivity.
Qed.

Theorem kim2026_recency (alpha lam : R) (d i j : nat) : 0 <= alpha < 1 -> 0 <= lam -> (2 <= d)%nat -> (1 <= j < i)%nat ->
  let S := Score (theory2 d lam) (K alpha) 2 in S i j < S i (j + 1)%nat.
Proof.
  intros A L W H. pose proof (root_pos d ltac:(lia)) as P.
  apply own_layernorm_increasing; try assumption; [lra|apply Rmult_le_pos; lra].
Qed.

(** The simulation's second layer, here at alpha = 1/2, is the theory's with the residual weight ((1-alpha) d)^(-1/2). *)
Theorem own_residual_scale (d i j : nat) : (2 <= d)%nat -> (1 <= j < i)%nat ->
  Score (layernorm d (sqrt (INR d)) 1 (sqrt 2)) (K (1 / 2)) 2 i j
  = sqrt (INR d) * Score (l2 (sqrt (INR d)) (sqrt 2 / sqrt (INR d))) (K (1 / 2)) 2 i j.
Proof.
  intros W H. rewrite (proj2 (proj2 (own_layernorm (1 / 2) 1 (sqrt 2) d i j W ltac:(lia) ltac:(lia)))).
  rewrite Rmult_1_l. reflexivity.
Qed.

(** How much faster scores grow without the residual, in terms of squared norms after one layer. *)
Theorem own_residual_effect (alpha beta lam : R) (n : nat) : (1 <= n)%nat ->
  let r := exp (beta * (1 - alpha)) in let i := INR n in
  let G lam := Gram (l2 beta lam) (K alpha) 1 in
  G 0 n n * G lam (n + 1)%nat (n + 1)%nat - G 0 (n + 1)%nat (n + 1)%nat * G lam n n
  = lam * (1 - alpha)
    * (lam * (i * (i - 1) + 2 * i * r ^ 2 + 2 * r ^ 2 * (r - 1)) + 2 * r ^ 2 * (r - 1) - 2 * alpha * i * (i - 1) * (r - 1))
    / ((r + i) ^ 2 * (r + i - 1) ^ 2).
Proof.
  intro I. cbv zeta. unfold l2_decoder. rewrite !gram_one_self by (auto; lia). unfold ClosedForms.h2, r_of.
  rewrite plus_INR. simpl INR. apply INR_ge_1 in I. pose proof (exp_pos (beta * (1 - alpha))) as P.
  generalize dependent (exp (beta * (1 - alpha))). intros r P. field. lra.
Qed.

(** The leading term of the bias of the paper's sampler, times d. *)
Theorem own_sampler_bias (alpha : R) : 0 < alpha < 1 -> - (alpha * (1 - alpha ^ 2) / 2) < 0.
Proof.
  intros [A1 A2]. assert (0 < alpha * ((1 - alpha) * (1 + alpha))) by (repeat apply Rmult_lt_0_compat; lra). lra.
Qed.
