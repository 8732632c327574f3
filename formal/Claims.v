(** * What is proved

    Every claim of the catalogue whose verdict is PROVED (but own.score-correction-sign), as one writes it with the definitions of Attention.v; the
    theorem has the claim's name (_ for . and -) and its whole domain. The last step of each proof is the claim as
    [maskproof formal] has written it from the derivation, a theorem that starts with [claim_]. So neither the program
    that writes nor what it writes need be read: what is proved is what stands here.

    How to read it. [K alpha] are unit inputs, any two of which have the cosine alpha; [l2 beta lam] is the causal
    decoder with l2 normalisation, inverse temperature beta and residual weight lam. i is the query, j the key, both
    from 1 on. [independent alpha i] says with alpha < 1 that i linearly independent inputs exist: then no vector that
    is normalised vanishes, and no softmax divides by zero ([everything_has_a_value]). It holds for 0 <= alpha
    ([independent_from_zero_on]). A theorem whose formula has roots says that the radicands are positive; the
    denominators e + (i-1) e^alpha, r + i - 1 and the like are sums of an exponential and of what is not negative. *)

From Coq Require Import Reals Lra Lia Arith ZArith Bool.
From Coquelicot Require Import Coquelicot.
From Maskproof Require Import Attention Sums Layers Independence Vectors LayerNorm.
From Maskproof Require Averaging ClosedForms Order.
From Exported Require Import claim_kim2025_eq2 claim_kim2025_softmax claim_kim2025_x1 claim_kim2025_g
  claim_kim2025_h claim_kim2025_eq4 claim_kim2025_h_decreasing claim_kim2025_h_difference
  claim_kim2025_h_coefficients claim_kim2025_increasing_2 claim_kim2025_g_prime claim_kim2025_h_prime
  claim_kim2025_saturation claim_own_weights claim_own_x1 claim_own_gram claim_own_score_two claim_own_h_decreasing
  claim_own_h_slope claim_own_layer_two claim_own_below_diagonal claim_own_increasing_2 claim_own_sign_reversal
  claim_own_flat_without_norm claim_own_saturation claim_own_saturation_rate claim_own_g_limit
  claim_own_h_prime_difference claim_own_h_prime_decreasing claim_own_h_numerator claim_own_averaging_increasing
  claim_own_sampler_bias_sign claim_kim2025_layernorm_sharper claim_own_layernorm
  claim_own_layernorm_scale_d claim_own_layernorm_increasing claim_own_layernorm_recovers claim_kim2026_norm
  claim_kim2026_h_increasing claim_kim2026_score claim_kim2026_recency claim_own_residual_scale
  claim_own_residual_effect.
Open Scope R_scope.

Notation K := equicorrelated.
Notation l2 beta lam := (Decoder L2 1 beta lam Causal).
Notation unnormalised beta lam := (Decoder NoNorm 1 beta lam Causal).
Notation layernorm d scale beta lam := (Decoder (LayerNorm d) scale beta lam Causal).
Notation independent alpha i := (0 < 1 + (INR i - 1) * alpha).

(** ** From a theorem [claim_...] to the way in which it is written here *)

(* gives a theorem all its hypotheses *)
Ltac fact := first [assumption | lia | lra | apply Rmult_lt_0_compat; lra | hnf; split; lra].
Ltac given C := repeat match type of C with ?P -> _ =>
  match type of P with Prop => let H := fresh in assert (H : P) by fact; specialize (C H); clear H end end.

Lemma exp_2 : exp 2 = exp 1 ^ 2.
Proof. replace 2 with (1 + 1) at 1 by ring. rewrite exp_plus. ring. Qed.
Lemma exp_3 : exp 3 = exp 1 ^ 3.
Proof. replace 3 with (1 + 1 + 1) at 1 by ring. rewrite !exp_plus. ring. Qed.
Lemma exp_twice a : exp (2 * a) = exp a ^ 2.
Proof. replace (2 * a) with (a + a) by ring. rewrite exp_plus. ring. Qed.
Lemma exp_thrice a : exp (3 * a) = exp a ^ 3.
Proof. replace (3 * a) with (a + a + a) by ring. rewrite !exp_plus. ring. Qed.

(* brings both sides to powers of the same exponentials and to the same roots *)
Ltac exponentials :=
  rewrite ?exp_2, ?exp_3, ?exp_twice, ?exp_thrice, ?Rmult_1_l, ?plus_INR; simpl INR;
  repeat match goal with |- context [exp (2 * ?b * ?c)] => replace (2 * b * c) with (2 * (b * c)) by ring end;
  rewrite ?exp_twice.
Ltac positives := repeat match goal with
  | |- context [exp ?a] => let P := fresh "P" in let x := fresh "x" in
      pose proof (exp_pos a) as P; set (x := exp a) in *; clearbody x
  | |- context [INR ?i] => let P := fresh "P" in let x := fresh "x" in
      assert (P : 1 <= INR i) by (apply (le_INR 1); lia); set (x := INR i) in *; clearbody x
  end.
Ltac denominators := repeat split; try apply pow_nonzero; try apply Rgt_not_eq, Rlt_gt;
  match goal with
  | |- 0 < ?e + (?i - 1) * ?x => apply Rplus_lt_le_0_compat; [|apply Rmult_le_pos]; lra
  | |- 0 < (?i - 1) * ?x + ?e => apply Rplus_le_lt_0_compat; [apply Rmult_le_pos|]; lra
  | |- 0 < ?e + ?i * ?x => apply Rplus_lt_le_0_compat; [|apply Rmult_le_pos]; lra
  | _ => lra
  end.
Ltac over := first [ring | (exponentials; first [ring | (positives; field; denominators)])].
Ltac roots := repeat match goal with |- context [sqrt ?a] => match goal with |- context [sqrt ?b] =>
  tryif constr_eq a b then fail else (replace (sqrt a) with (sqrt b) by (apply f_equal; over)) end end.
Ltac same := first [over | (roots; unfold Rdiv; rewrite ?Rinv_mult;
  repeat match goal with |- context [/ sqrt ?a] => generalize (/ sqrt a); intro end; over)].
(* the goal, if [C] says the same in another form *)
Ltac conclude C := lazymatch type of C with
  | ?P /\ ?Q => first [(let A := fresh in let B := fresh in destruct C as [A B]; first [conclude A | conclude B])]
  | ?a = ?b => first [exact C | symmetry; exact C
      | transitivity a; [solve [same] | transitivity b; [exact C | solve [same]]]]
  | ?a < ?b => first [exact C | lazymatch goal with |- ?a' < ?b' =>
      replace a' with a by (solve [same]); replace b' with b by (solve [same]); exact C end]
  | is_lim_seq ?f (Finite ?c) => lazymatch goal with |- is_lim_seq ?f' (Finite ?c') =>
      replace c' with c by same; apply (is_lim_seq_ext f); [intro; same|exact C] end
  | _ => exact C
  end.
Ltac from C := given C; repeat split; conclude C.
(* fewer inputs are independent, too *)
Ltac before i j := match goal with I : independent ?a i |- _ =>
  assert (independent a j) by (apply (Order.independent_before a i); [lia|exact I]) end.

(** ** The model *)

(** Inner products are enough: the decoder on vectors and the decoder on matrices have the same scores, weights and
    inner products, in every layer (with LayerNorm, of the centred vectors). *)
Theorem vectors_and_matrices (D : decoder) (d : nat) (x : vectors) : (1 <= d)%nat ->
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

(** The inputs exist: n unit vectors of R^d with pairwise cosine alpha for n <= d; centred ones, as LayerNorm has them,
    for n < d. *)
Theorem inputs_exist (n d : nat) (alpha : R) : (1 <= n <= d)%nat -> alpha <= 1 -> 0 <= 1 + (INR n - 1) * alpha ->
  exists x : vectors, forall i j, (1 <= i <= n)%nat -> (1 <= j <= n)%nat -> inner d x i j = K alpha i j.
Proof. apply equicorrelated_vectors. Qed.

Theorem centred_inputs_exist (n d : nat) (alpha : R) : (1 <= n < d)%nat -> alpha <= 1 -> 0 <= 1 + (INR n - 1) * alpha ->
  exists x : vectors, forall i j, (1 <= i <= n)%nat -> (1 <= j <= n)%nat -> inner d (centred d x) i j = K alpha i j.
Proof. apply equicorrelated_centred. Qed.

(** The weights of a query are not negative, sum to 1, and are 0 for keys that it doesn't see. *)
Theorem weights (D : decoder) (K : matrix) (layer i j : nat) : (1 <= i)%nat -> mask D <> SlidingWindow 0 ->
  0 <= Weight D K layer i j /\ sum (Weight D K layer i) i = 1 /\ (sees (mask D) i j = false -> Weight D K layer i j = 0).
Proof.
  intros I M. split; [apply softmax_nonneg; assumption|]. split; [apply softmax_row; assumption|].
  intro H. unfold Weight, layer_weight, softmax. rewrite H. reflexivity.
Qed.

Theorem masks (width i j : nat) :
  (sees Causal i j = true <-> (j <= i)%nat) /\ (sees (SlidingWindow width) i j = true <-> (j <= i < j + width)%nat).
Proof. simpl. rewrite andb_true_iff, !Nat.leb_le, Nat.ltb_lt. tauto. Qed.

Theorem independent_from_zero_on (alpha : R) (i : nat) : (1 <= i)%nat -> 0 <= alpha -> independent alpha i.
Proof. exact (fun I A => Order.independent_nonneg alpha i I A). Qed.

(** In every layer: no vector vanishes, and the softmax divides by a positive number. *)
Theorem everything_has_a_value (D : decoder) (alpha : R) (layer i : nat) :
  mask D = Causal -> 0 <= residual D -> match norm D with LayerNorm d => (1 <= d)%nat | _ => True end ->
  alpha < 1 -> independent alpha i -> (1 <= i)%nat ->
  0 < Gram D (K alpha) layer i i /\ 0 < sum (fun k => exp (beta D * Score D (K alpha) layer i k)) i.
Proof.
  intros M L W A I H. split; [|apply sum_pos; [exact H|intros; apply exp_pos]].
  assert (P : forall (G : matrix) k, (1 <= k)%nat -> 0 < G k k -> 0 < layer_mix D G k k).
  { intros G k K1 P. unfold layer_mix. rewrite Nat.eqb_refl. apply Rplus_lt_le_0_compat; [|exact L].
    apply Rmult_lt_0_compat.
    - unfold layer_weight. rewrite M, softmax_causal by lia.
      apply Rdiv_lt_0_compat; [apply exp_pos|apply sum_pos; [exact K1|intros; apply exp_pos]].
    - unfold stretch. destruct (norm D); try (apply Rdiv_lt_0_compat; [lra|apply sqrt_lt_R0; exact P]); [|lra].
      apply Rdiv_lt_0_compat; apply sqrt_lt_R0; [apply (lt_INR 0); lia|exact P]. }
  apply (definite_diagonal i); [|lia]. induction layer as [|l IH]; [apply equicorrelated_definite; assumption|].
  apply definite_layer; [exact IH|]. intros k Hk. apply P; [lia|]. apply (definite_diagonal i); assumption.
Qed.

(** ** Layers one and two: every beta, lam and alpha *)

Theorem own_weights (alpha beta lam : R) (i j : nat) :
  alpha < 1 -> independent alpha i -> 0 <= beta -> 0 <= lam -> (1 <= j < i)%nat ->
  let r := exp (beta * (1 - alpha)) in let A := Weight (l2 beta lam) (K alpha) 1 in
  A i i = r / (r + INR i - 1) /\ A i j = 1 / (r + INR i - 1).
Proof. intros A I B L [J H]. cbv zeta. before i j. pose proof (claim_own_weights i j alpha beta lam) as C. from C. Qed.

Theorem own_x1 (alpha beta lam : R) (i j : nat) :
  alpha < 1 -> independent alpha i -> 0 <= beta -> 0 <= lam -> (1 <= j < i)%nat ->
  let r := exp (beta * (1 - alpha)) in let M := Mix (l2 beta lam) (K alpha) 1 in
  M i i = lam + r / (r + INR i - 1) /\ M i j = 1 / (r + INR i - 1).
Proof. intros A I B L [J H]. cbv zeta. before i j. pose proof (claim_own_x1 i j alpha beta lam) as C. from C. Qed.

(** The inner product and the squared norm after layer one, as functions of the query. *)
Definition g (alpha beta lam i : R) : R :=
  let r := exp (beta * (1 - alpha)) in let s := 1 + lam in s * (alpha * s + (1 - alpha) / (r + i - 1)).
Definition h2 (alpha beta lam i : R) : R :=
  let r := exp (beta * (1 - alpha)) in let s := 1 + lam in
  s ^ 2 - (1 - alpha) * (i - 1) * (2 * s * (r + i - 1) - i) / (r + i - 1) ^ 2.

Theorem own_gram (alpha beta lam : R) (i j : nat) :
  alpha < 1 -> independent alpha i -> 0 <= beta -> 0 <= lam -> (1 <= j < i)%nat ->
  let G := Gram (l2 beta lam) (K alpha) 1 in
  G i i = h2 alpha beta lam (INR i) /\ G i j = g alpha beta lam (INR i).
Proof.
  intros A I B L [J H]. cbv zeta. unfold g, h2. cbv zeta. before i j.
  pose proof (claim_own_gram i j alpha beta lam) as C. from C.
Qed.

Lemma h2_positive (alpha beta lam : R) (i : nat) :
  alpha < 1 -> independent alpha i -> 0 <= beta -> 0 <= lam -> (1 <= i)%nat -> 0 < h2 alpha beta lam (INR i).
Proof. intros A I B L H. exact (Order.h2_pos alpha beta lam A B L i H I). Qed.

Theorem own_h_decreasing (alpha beta lam : R) (i : nat) :
  alpha < 1 -> independent alpha (i + 1) -> 0 <= beta -> 0 <= lam -> (1 <= i)%nat ->
  let G := Gram (l2 beta lam) (K alpha) 1 in G (i + 1)%nat (i + 1)%nat < G i i.
Proof.
  intros A I B L H. cbv zeta. rewrite plus_INR in I. simpl INR in I.
  pose proof (claim_own_h_decreasing i alpha beta lam) as C. from C.
Qed.

(** h^2 decreases in the number m = i - 1 of earlier tokens, read as a real number. *)
Theorem own_h_slope (alpha beta lam m : R) : alpha < 1 -> 0 <= beta -> 0 <= lam -> 0 <= m ->
  ex_derive (fun m => h2 alpha beta lam (m + 1)) m /\ Derive (fun m => h2 alpha beta lam (m + 1)) m < 0.
Proof.
  intros A B L M. pose proof (claim_own_h_slope alpha beta lam m) as C. given C. destruct C as [E D].
  match type of E with ex_derive ?f m => assert (S : forall t, f t = h2 alpha beta lam (t + 1)) end.
  { intro t. unfold h2. cbv zeta. set (r := exp _). replace (r + (t + 1) - 1) with (t + r) by ring. unfold Rdiv. ring. }
  split; [exact (ex_derive_ext _ _ m S E)|]. rewrite <- (Derive_ext _ _ m S). exact D.
Qed.

Theorem own_score_two (alpha beta lam : R) (i j : nat) :
  alpha < 1 -> independent alpha i -> 0 <= beta -> 0 <= lam -> (1 <= j < i)%nat ->
  let g := g alpha beta lam in let h2 := h2 alpha beta lam in
  0 < h2 (INR i) /\ 0 < h2 (INR j) /\
  Score (l2 beta lam) (K alpha) 2 i j = g (INR i) / (sqrt (h2 (INR i)) * sqrt (h2 (INR j))).
Proof.
  intros A I B L [J H]. cbv zeta. before i j. split; [|split]; [apply h2_positive; assumption || lia..|].
  unfold g, h2. cbv zeta. pose proof (claim_own_score_two i j alpha beta lam) as C. from C.
Qed.

(** The general theorem of layer two: before the query the sign of the inner product alone decides. *)
Theorem own_layer_two (alpha beta lam : R) (i j : nat) :
  alpha < 1 -> independent alpha i -> 0 <= beta -> 0 <= lam -> (1 <= j)%nat -> (j + 1 < i)%nat ->
  let G := Gram (l2 beta lam) (K alpha) 1 in let S := Score (l2 beta lam) (K alpha) 2 in
  (G i j > 0 -> S i j < S i (j + 1)%nat) /\
  (G i j < 0 -> S i j > S i (j + 1)%nat) /\
  (G i j = 0 -> S i j = S i (j + 1)%nat).
Proof. intros A I B L J H. cbv zeta. pose proof (claim_own_layer_two i j alpha beta lam) as C. from C. Qed.

Theorem own_below_diagonal (alpha beta lam : R) (i j : nat) :
  alpha < 1 -> independent alpha i -> 0 <= beta -> 0 <= lam -> (1 <= j < i)%nat ->
  Score (l2 beta lam) (K alpha) 2 i j < 1.
Proof. intros A I B L [J H]. pose proof (claim_own_below_diagonal i j alpha beta lam) as C. from C. Qed.

(** Closer keys score higher in layer two, up to and including the query itself. *)
Theorem own_increasing_2 (alpha beta lam : R) (i j : nat) :
  0 <= alpha < 1 -> 0 <= beta -> 0 <= lam -> (1 <= j < i)%nat ->
  Score (l2 beta lam) (K alpha) 2 i j < Score (l2 beta lam) (K alpha) 2 i (j + 1).
Proof. intros [A1 A2] B L [J H]. pose proof (claim_own_increasing_2 i j alpha beta lam) as C. from C. Qed.

(** With a negative cosine they score lower: ten vectors with pairwise cosine -1/10 exist. *)
Theorem own_sign_reversal (i j : nat) : (1 <= j)%nat -> (j + 1 < i)%nat -> (4 <= i <= 10)%nat ->
  let S := Score (l2 1 1) (K (-1 / 10)) 2 in S i j > S i (j + 1)%nat.
Proof. intros J H I. pose proof (claim_own_sign_reversal i j) as C. from C. Qed.

(** Without normalisation there is no order. *)
Theorem own_flat_without_norm (alpha beta lam : R) (i j : nat) :
  alpha < 1 -> independent alpha i -> 0 <= beta -> 0 <= lam -> (1 <= j)%nat -> (j + 1 < i)%nat ->
  let S := Score (unnormalised beta lam) (K alpha) 2 in S i j = S i (j + 1)%nat.
Proof.
  intros A I B L J H. cbv zeta. before i j. before i (j + 1)%nat.
  pose proof (claim_own_flat_without_norm i j alpha beta lam) as C. from C.
Qed.

(** How much faster scores grow without the residual, in terms of squared norms after one layer. *)
Theorem own_residual_effect (alpha beta lam : R) (n : nat) :
  0 <= alpha < 1 -> 0 <= beta -> 0 <= lam -> (1 <= n)%nat ->
  let r := exp (beta * (1 - alpha)) in let i := INR n in
  let G lam := Gram (l2 beta lam) (K alpha) 1 in
  G 0 n n * G lam (n + 1)%nat (n + 1)%nat - G 0 (n + 1)%nat (n + 1)%nat * G lam n n
  = lam * (1 - alpha)
    * (lam * (i * (i - 1) + 2 * i * r ^ 2 + 2 * r ^ 2 * (r - 1))
       + 2 * r ^ 2 * (r - 1) - 2 * alpha * i * (i - 1) * (r - 1))
    / ((r + i) ^ 2 * (r + i - 1) ^ 2).
Proof.
  intros [A1 A2] B L I. cbv zeta. pose proof (claim_own_residual_effect n alpha beta lam) as C. from C.
Qed.

(** ** Far from the start *)

Theorem own_g_limit (alpha beta lam : R) (j : nat) :
  0 <= alpha < 1 -> 0 <= beta -> 0 <= lam -> 0 < lam ^ 2 + alpha * (1 + 2 * lam) -> (1 <= j)%nat ->
  let G := Gram (l2 beta lam) (K alpha) 1 in
  is_lim_seq (fun i => G i j) (alpha * (1 + lam) ^ 2) /\
  is_lim_seq (fun i => G i i) (lam ^ 2 + alpha * (1 + 2 * lam)).
Proof. intros [A1 A2] B L Q J. pose proof (claim_own_g_limit j alpha beta lam) as C. from C. Qed.

(** q > 0 excludes alpha = lam = 0, where norms tend to 0. *)
Theorem own_saturation (alpha beta lam : R) (j : nat) :
  0 <= alpha < 1 -> 0 <= beta -> 0 <= lam -> (1 <= j)%nat ->
  let q := lam ^ 2 + alpha * (1 + 2 * lam) in let h2 := h2 alpha beta lam in
  0 < q ->
  0 < h2 (INR j) /\
  is_lim_seq (fun i => Score (l2 beta lam) (K alpha) 2 i j) (alpha * (1 + lam) ^ 2 / (sqrt q * sqrt (h2 (INR j)))).
Proof.
  intros [A1 A2] B L J. cbv zeta. intro Q. pose proof (independent_from_zero_on alpha j J A1) as I.
  split; [apply h2_positive; assumption|].
  unfold h2. cbv zeta. pose proof (claim_own_saturation j alpha beta lam) as C. from C.
Qed.

(** The distance to the limit is, to leading order, this number over i. *)
Theorem own_saturation_rate (alpha beta lam : R) (j : nat) :
  0 < alpha < 1 -> 0 <= beta -> 0 <= lam -> (1 <= j)%nat ->
  let r := exp (beta * (1 - alpha)) in
  let p := alpha * (1 + lam) ^ 2 in let q := lam ^ 2 + alpha * (1 + 2 * lam) in let h2 := h2 alpha beta lam in
  0 < q /\ 0 < h2 (INR j) /\
  is_lim_seq (fun i => INR i * (Score (l2 beta lam) (K alpha) 2 i j - p / (sqrt q * sqrt (h2 (INR j)))))
    (((1 - alpha) * (1 + lam) - p * ((1 - alpha) * (2 * r * lam + 1)) / (2 * q)) / (sqrt q * sqrt (h2 (INR j)))).
Proof.
  intros [A1 A2] B L J. cbv zeta.
  assert (Q : 0 < lam ^ 2 + alpha * (1 + 2 * lam)).
  { apply Rplus_le_lt_0_compat; [apply pow2_ge_0|apply Rmult_lt_0_compat; lra]. }
  pose proof (independent_from_zero_on alpha j J ltac:(lra)) as I.
  split; [exact Q|]. split; [apply h2_positive; assumption|].
  unfold h2. cbv zeta. pose proof (claim_own_saturation_rate j alpha beta lam) as C. from C.
Qed.

(** ** Attention that only averages (beta = 0, no residual): every layer from the second on *)

Theorem own_averaging_increasing (alpha : R) (layer i j : nat) :
  0 <= alpha < 1 -> (2 <= layer)%nat -> (1 <= j < i)%nat ->
  Score (l2 0 0) (K alpha) layer i j < Score (l2 0 0) (K alpha) layer i (j + 1).
Proof. intros [A1 A2] L [J H]. pose proof (claim_own_averaging_increasing i j layer alpha) as C. from C. Qed.

(** ** Version 1 of the paper: beta = lam = 1, and its formulas in e and e^alpha *)

Notation e := (exp 1).
Definition normaliser (alpha i : R) : R := e + (i - 1) * exp alpha.

Lemma normaliser_positive (alpha : R) (i : nat) : (1 <= i)%nat -> 0 < normaliser alpha (INR i).
Proof. intro I. unfold normaliser. positives. denominators. Qed.

Theorem kim2025_eq2 (alpha : R) (i j : nat) : 0 <= alpha < 1 -> (1 <= j < i)%nat ->
  let S := Score (l2 1 1) (K alpha) 1 in S i i = 1 /\ S i j = alpha.
Proof. intros [A1 A2] [J H]. pose proof (claim_kim2025_eq2 i j alpha) as C. from C. Qed.

Theorem kim2025_softmax (alpha : R) (i j : nat) : 0 <= alpha < 1 -> (1 <= j < i)%nat ->
  let A := Weight (l2 1 1) (K alpha) 1 in
  A i i = e / normaliser alpha (INR i) /\ A i j = exp alpha / normaliser alpha (INR i).
Proof.
  intros [A1 A2] [J H]. cbv zeta. unfold normaliser. pose proof (claim_kim2025_softmax i j alpha) as C. from C.
Qed.

Theorem kim2025_x1 (alpha : R) (i j : nat) : 0 <= alpha < 1 -> (1 <= j < i)%nat ->
  let M := Mix (l2 1 1) (K alpha) 1 in
  M i i = 1 + e / normaliser alpha (INR i) /\ M i j = exp alpha / normaliser alpha (INR i).
Proof.
  intros [A1 A2] [J H]. cbv zeta. unfold normaliser. pose proof (claim_kim2025_x1 i j alpha) as C. from C.
Qed.

(** g and h^2 *)
Definition paper_g (alpha i : R) : R := 4 * alpha + 2 * (1 - alpha) * exp alpha / normaliser alpha i.
(* the squared norm of a x_i + b (x_1 + ... + x_(i-1)) *)
Definition squared_norm (alpha i a b : R) : R :=
  a ^ 2 + (i - 1) * b ^ 2 + alpha * (2 * (i - 1) * a * b + (i - 1) * (i - 2) * b ^ 2).
Definition paper_h2 (alpha i : R) : R :=
  squared_norm alpha i ((2 * e + (i - 1) * exp alpha) / normaliser alpha i) (exp alpha / normaliser alpha i).
(* without the residual *)
Definition paper_g' (alpha i : R) : R := alpha + (1 - alpha) * exp alpha / normaliser alpha i.
Definition paper_h2' (alpha i : R) : R :=
  squared_norm alpha i (e / normaliser alpha i) (exp alpha / normaliser alpha i).

Ltac formulas := cbv zeta; unfold paper_g, paper_g', paper_h2, paper_h2', squared_norm, normaliser.

Theorem kim2025_g (alpha : R) (i j : nat) : 0 <= alpha < 1 -> (1 <= j < i)%nat ->
  Gram (l2 1 1) (K alpha) 1 i j = paper_g alpha (INR i).
Proof. intros [A1 A2] [J H]. formulas. pose proof (claim_kim2025_g i j alpha) as C. from C. Qed.

Theorem kim2025_h (alpha : R) (i : nat) : 0 <= alpha < 1 -> (1 <= i)%nat ->
  Gram (l2 1 1) (K alpha) 1 i i = paper_h2 alpha (INR i).
Proof. intros [A1 A2] I. formulas. pose proof (claim_kim2025_h i alpha) as C. from C. Qed.

Lemma paper_h2_positive (alpha : R) (i : nat) : 0 <= alpha < 1 -> (1 <= i)%nat -> 0 < paper_h2 alpha (INR i).
Proof.
  intros A I. rewrite <- kim2025_h by assumption.
  apply everything_has_a_value; simpl; try lra; try exact I; [reflexivity|]. apply independent_from_zero_on; lra || lia.
Qed.

Theorem kim2025_eq4 (alpha : R) (i j : nat) : 0 <= alpha < 1 -> (1 <= j < i)%nat ->
  let g := paper_g alpha in let h2 := paper_h2 alpha in
  0 < h2 (INR i) /\ 0 < h2 (INR j) /\
  Score (l2 1 1) (K alpha) 2 i j = g (INR i) / (sqrt (h2 (INR i)) * sqrt (h2 (INR j))).
Proof.
  intros [A1 A2] [J H]. cbv zeta. split; [|split]; [apply paper_h2_positive; lra || lia..|].
  formulas. pose proof (claim_kim2025_eq4 i j alpha) as C. from C.
Qed.

Theorem kim2025_increasing_2 (alpha : R) (i j : nat) : 0 <= alpha < 1 -> (1 <= j < i)%nat ->
  Score (l2 1 1) (K alpha) 2 i j < Score (l2 1 1) (K alpha) 2 i (j + 1).
Proof. intros [A1 A2] [J H]. pose proof (claim_kim2025_increasing_2 i j alpha) as C. from C. Qed.

Theorem kim2025_saturation (alpha : R) (j : nat) : 0 <= alpha < 1 -> (1 <= j)%nat ->
  0 < paper_h2 alpha (INR j) /\
  is_lim_seq (fun i => Score (l2 1 1) (K alpha) 2 i j)
    (4 * alpha / (sqrt (1 + 3 * alpha) * sqrt (paper_h2 alpha (INR j)))).
Proof.
  intros [A1 A2] J. split; [apply paper_h2_positive; lra || lia|].
  formulas. pose proof (claim_kim2025_saturation j alpha) as C. from C.
Qed.

(** Appendix A.1 *)
Theorem kim2025_h_decreasing (alpha : R) (i : nat) : 0 <= alpha < 1 -> (1 <= i)%nat ->
  let G := Gram (l2 1 1) (K alpha) 1 in G (i + 1)%nat (i + 1)%nat < G i i.
Proof. intros [A1 A2] I. pose proof (claim_kim2025_h_decreasing i alpha) as C. from C. Qed.

Theorem kim2025_h_difference (alpha : R) (n : nat) : 0 <= alpha < 1 -> (1 <= n)%nat ->
  let G := Gram (l2 1 1) (K alpha) 1 in let x := exp alpha in let i := INR n in
  G (n + 1)%nat (n + 1)%nat - G n n
  = (alpha - 1) * x * (i * (i - 1) * (x ^ 3 + 2 * e * x ^ 2) + (6 * i - 4) * e ^ 2 * x + 4 * e ^ 3)
    / (normaliser alpha (i + 1) ^ 2 * normaliser alpha i ^ 2).
Proof. intros [A1 A2] I. formulas. pose proof (claim_kim2025_h_difference n alpha) as C. from C. Qed.

(** The coefficients of i^2, i and 1 in its numerator ... *)
Definition coefficient (alpha : R) (power : nat) : R :=
  let x := exp alpha in (alpha - 1) * x * match power with
  | 2%nat => x ^ 3 + 2 * e * x ^ 2
  | 1%nat => 6 * e ^ 2 * x - (x ^ 3 + 2 * e * x ^ 2)
  | _ => 4 * e ^ 3 - 4 * e ^ 2 * x
  end.

Theorem own_h_numerator (alpha : R) (n : nat) : 0 <= alpha < 1 -> (1 <= n)%nat ->
  let G := Gram (l2 1 1) (K alpha) 1 in let i := INR n in let c := coefficient alpha in
  G (n + 1)%nat (n + 1)%nat - G n n
  = (c 2%nat * i ^ 2 + c 1%nat * i + c 0%nat) / (normaliser alpha (i + 1) ^ 2 * normaliser alpha i ^ 2).
Proof.
  intros [A1 A2] I. formulas. unfold coefficient. cbv zeta.
  pose proof (claim_own_h_numerator n alpha) as C. from C.
Qed.

(** ... are negative. *)
Theorem kim2025_h_coefficients (alpha : R) : 0 <= alpha < 1 ->
  coefficient alpha 2 < 0 /\ coefficient alpha 1 < 0 /\ coefficient alpha 0 < 0.
Proof.
  intros [A1 A2]. unfold coefficient. cbv zeta. pose proof (claim_kim2025_h_coefficients alpha) as C. from C.
Qed.

(** Appendix A.2, without the residual *)
Theorem kim2025_g_prime (alpha : R) (i j : nat) : 0 <= alpha < 1 -> (1 <= j < i)%nat ->
  Gram (l2 1 0) (K alpha) 1 i j = paper_g' alpha (INR i).
Proof. intros [A1 A2] [J H]. formulas. pose proof (claim_kim2025_g_prime i j alpha) as C. from C. Qed.

Theorem kim2025_h_prime (alpha : R) (i : nat) : 0 <= alpha < 1 -> (1 <= i)%nat ->
  Gram (l2 1 0) (K alpha) 1 i i = paper_h2' alpha (INR i).
Proof. intros [A1 A2] I. formulas. pose proof (claim_kim2025_h_prime i alpha) as C. from C. Qed.

(** The difference, corrected: + in the numerator, both norms squared. Counterexamples.v refutes what is printed. *)
Theorem own_h_prime_difference (alpha : R) (n : nat) : 0 <= alpha < 1 -> (1 <= n)%nat ->
  let G := Gram (l2 1 0) (K alpha) 1 in let x := exp alpha in let i := INR n in
  G (n + 1)%nat (n + 1)%nat - G n n
  = (alpha - 1) * x * (2 * e ^ 3 + 2 * e ^ 2 * x * (i - 1) + x ^ 3 * i * (i - 1))
    / (normaliser alpha (i + 1) ^ 2 * normaliser alpha i ^ 2).
Proof. intros [A1 A2] I. formulas. pose proof (claim_own_h_prime_difference n alpha) as C. from C. Qed.

Theorem own_h_prime_decreasing (alpha : R) (i : nat) : 0 <= alpha < 1 -> (1 <= i)%nat ->
  let G := Gram (l2 1 0) (K alpha) 1 in G (i + 1)%nat (i + 1)%nat < G i i.
Proof. intros [A1 A2] I. pose proof (claim_own_h_prime_decreasing i alpha) as C. from C. Qed.

(** ** LayerNorm, on inputs whose centred vectors are unit vectors with pairwise cosine alpha; d is the width *)

(** With the scale sqrt(d), two layers are two l2 layers with beta sqrt(d) and the residual weight lam/sqrt(d). *)
Theorem own_layernorm (alpha beta lam : R) (d i j : nat) :
  alpha < 1 -> independent alpha i -> 0 <= beta -> 0 <= lam -> (2 <= d)%nat -> (1 <= j < i)%nat ->
  let D := layernorm d (sqrt (INR d)) beta lam in let D' := l2 (beta * sqrt (INR d)) (lam / sqrt (INR d)) in
  Weight D (K alpha) 1 i j = Weight D' (K alpha) 1 i j /\
  Gram D (K alpha) 1 i j = INR d * Gram D' (K alpha) 1 i j /\
  Score D (K alpha) 2 i j = sqrt (INR d) * Score D' (K alpha) 2 i j.
Proof. intros A I B L W [J H]. cbv zeta. pose proof (claim_own_layernorm d i j alpha beta lam) as C. from C. Qed.

(** With the scale d: beta and lam/sqrt(d). *)
Theorem own_layernorm_scale_d (alpha beta lam : R) (d i j : nat) :
  alpha < 1 -> independent alpha i -> 0 <= beta -> 0 <= lam -> (2 <= d)%nat -> (1 <= j < i)%nat ->
  let D := layernorm d (INR d) beta lam in let D' := l2 beta (lam / sqrt (INR d)) in
  Weight D (K alpha) 1 i j = Weight D' (K alpha) 1 i j /\
  Gram D (K alpha) 1 i j = INR d * Gram D' (K alpha) 1 i j /\
  Score D (K alpha) 2 i j = Score D' (K alpha) 2 i j.
Proof.
  intros A I B L W [J H]. cbv zeta. pose proof (claim_own_layernorm_scale_d d i j alpha beta lam) as C. from C.
Qed.

(** In every layer, for any inputs and any scale: after the first layer, whose residual weight is lam/sqrt(d), the l2
    decoder has lam itself. (No claim; by hand in LayerNorm.v.) *)
Theorem layernorm_in_every_layer (K : matrix) (scale beta lam : R) (d layer i j : nat) :
  (2 <= d)%nat -> 0 < scale -> (1 <= layer)%nat -> (1 <= i)%nat -> (1 <= j)%nat ->
  let D := layernorm d scale beta lam in let l2_with lam' := l2 (beta * (INR d / scale)) lam' in
  let K1 := layer_gram (l2_with (lam / sqrt (INR d))) K in
  Weight D K (layer + 1) i j = Weight (l2_with lam) K1 layer i j /\
  Gram D K (layer + 1) i j = INR d * Gram (l2_with lam) K1 layer i j /\
  Score D K (layer + 1) i j = INR d / scale * Score (l2_with lam) K1 layer i j.
Proof.
  intros W P L I J. assert (1 <= d)%nat by lia. repeat split.
  - apply (layernorm_weight d scale beta lam Causal); assumption.
  - apply (layernorm_gram d scale beta lam Causal); assumption.
  - apply (layernorm_score d scale beta lam Causal); assumption.
Qed.

(** With inputs of norm sqrt(d), which is the residual weight sqrt(d), the scale d gives the scores of l2 exactly. *)
Theorem own_layernorm_recovers (alpha : R) (d i j : nat) :
  alpha < 1 -> independent alpha i -> (2 <= d)%nat -> (1 <= j < i)%nat ->
  Score (layernorm d (INR d) 1 (sqrt (INR d))) (K alpha) 2 i j = Score (l2 1 1) (K alpha) 2 i j.
Proof. intros A I W [J H]. pose proof (claim_own_layernorm_recovers d i j alpha) as C. from C. Qed.

Theorem own_layernorm_increasing (alpha beta lam : R) (d i j : nat) :
  0 <= alpha < 1 -> 0 <= beta -> 0 <= lam -> (2 <= d)%nat -> (1 <= j < i)%nat ->
  let S := Score (layernorm d (sqrt (INR d)) beta lam) (K alpha) 2 in S i j < S i (j + 1)%nat.
Proof. intros [A1 A2] B L W [J H]. pose proof (claim_own_layernorm_increasing d i j alpha beta lam) as C. from C. Qed.

(** The scale sqrt(d) makes the first softmax sharper than the scale d. *)
Theorem kim2025_layernorm_sharper (alpha : R) (d i : nat) : 0 <= alpha < 1 -> (2 <= d)%nat -> (2 <= i)%nat ->
  Weight (layernorm d (sqrt (INR d)) 1 1) (K alpha) 1 i i > Weight (layernorm d (INR d) 1 1) (K alpha) 1 i i.
Proof. intros [A1 A2] W I. pose proof (claim_kim2025_layernorm_sharper d i alpha) as C. from C. Qed.

(** ** Version 2 of the paper: scale sqrt(d), and a residual stream of norm sqrt(d)

    That is the residual weight lam sqrt(d) on unit inputs. *)

Notation theory2 d lam := (layernorm d (sqrt (INR d)) 1 (sqrt (INR d) * lam)).

Theorem kim2026_norm (alpha lam : R) (d n : nat) : 0 <= alpha < 1 -> 0 <= lam -> (2 <= d)%nat -> (1 <= n)%nat ->
  let A := exp (sqrt (INR d)) in let B := exp (alpha * sqrt (INR d)) in let i := INR n in let D := A + (i - 1) * B in
  Gram (theory2 d lam) (K alpha) 1 n n / INR d
  = lam ^ 2 + 2 * lam * alpha + alpha + (1 - alpha) * (2 * lam * A / D + (A * (A - B) + B * D) / D ^ 2).
Proof. intros [A1 A2] L W I. cbv zeta. pose proof (claim_kim2026_norm d n alpha lam) as C. from C. Qed.

(** Its h is the inverse of the norm, so it increases. *)
Theorem kim2026_h_increasing (alpha lam : R) (d i : nat) : 0 <= alpha < 1 -> 0 <= lam -> (2 <= d)%nat -> (1 <= i)%nat ->
  let G := Gram (theory2 d lam) (K alpha) 1 in G (i + 1)%nat (i + 1)%nat < G i i.
Proof. intros [A1 A2] L W I. pose proof (claim_kim2026_h_increasing d i alpha lam) as C. from C. Qed.

Theorem kim2026_score (alpha lam : R) (d i j : nat) : 0 <= alpha < 1 -> 0 <= lam -> (2 <= d)%nat -> (1 <= j < i)%nat ->
  let g := g alpha (sqrt (INR d)) lam in let h2 := h2 alpha (sqrt (INR d)) lam in
  0 < h2 (INR i) /\ 0 < h2 (INR j) /\
  Score (theory2 d lam) (K alpha) 2 i j = sqrt (INR d) * g (INR i) / (sqrt (h2 (INR i)) * sqrt (h2 (INR j))).
Proof.
  intros [A1 A2] L W [J H]. cbv zeta. pose proof (sqrt_pos (INR d)) as P.
  pose proof (independent_from_zero_on alpha i ltac:(lia) A1) as I. before i j.
  split; [|split]; [apply h2_positive; assumption || lia..|].
  unfold g, h2. cbv zeta. pose proof (claim_kim2026_score d i j alpha lam) as C. from C.
Qed.

(** Its theorem: LayerNorm induces recency. *)
Theorem kim2026_recency (alpha lam : R) (d i j : nat) :
  0 <= alpha < 1 -> 0 <= lam -> (2 <= d)%nat -> (1 <= j < i)%nat ->
  let S := Score (theory2 d lam) (K alpha) 2 in S i j < S i (j + 1)%nat.
Proof. intros [A1 A2] L W [J H]. pose proof (claim_kim2026_recency d i j alpha lam) as C. from C. Qed.

(** The simulation's second layer, at alpha = 1/2, is the theory's with the residual weight ((1 - alpha) d)^(-1/2). *)
Theorem own_residual_scale (d i j : nat) : (2 <= d)%nat -> (1 <= j < i)%nat ->
  Score (layernorm d (sqrt (INR d)) 1 (sqrt 2)) (K (1 / 2)) 2 i j
  = sqrt (INR d) * Score (l2 (sqrt (INR d)) (sqrt 2 / sqrt (INR d))) (K (1 / 2)) 2 i j.
Proof. intros W [J H]. pose proof (claim_own_residual_scale d i j) as C. from C. Qed.

(** ** Formulas about finite width: their signs *)

(** The leading term of the bias of the paper's sampler, times d. *)
Theorem own_sampler_bias_sign (alpha : R) : 0 < alpha < 1 -> - (alpha * (1 - alpha ^ 2) / 2) < 0.
Proof.
  intros [A1 A2]. pose proof (claim_own_sampler_bias_sign alpha) as C. from C.
Qed.
