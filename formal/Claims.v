(** * What is proved

    The program maskproof keeps a list of statements about the decoder of Attention.v: [kim2025] are those of the paper
    arXiv 2509.21042 in its first version, [kim2026] those of its second, [own] are its own. For those that it calls
    proved it has derivations, and [maskproof formal] writes each derivation as a Coq file that ends in a theorem
    [claim_...]. Here the same statements stand as one would write them, under the same names, proved from the theorems
    [claim_...] and, where they say more, from the other files of this library. So neither the program nor what it
    writes need be read: what is proved is what stands here. (Of its proved statements one is missing,
    own.score-correction-sign: it is too large for Coq.)

    How to read it. i is the query, j the key, both from 1 on. [equicorrelated alpha] are the inner products of unit
    inputs, any two of which have the cosine alpha; [independent alpha i] says with alpha < 1 that i such inputs can be
    linearly independent, and it holds for 0 <= alpha ([independent_from_zero_on]). Then no vector that is normalised
    vanishes and no softmax divides by 0 ([everything_has_a_value]). A theorem whose formula has roots says that the
    radicands are positive; the denominators r + i - 1, e + (i-1) e^alpha and the like are sums of an exponential and of
    what is not negative.

    Vectors and inner products. The theorems speak of the decoder by inner products, in which the dimension does not
    occur. Where there are n input vectors in R^d with the inner products assumed, the decoder on vectors has for these
    n tokens the same scores, weights and inner products ([vectors_and_matrices]). Independent ones exist for n <= d
    ([inputs_exist]), and with LayerNorm, where the centred vectors count, for n < d ([centred_inputs_exist]); more
    than that many independent vectors there are not. So in a limit i -> oo, and with LayerNorm for i >= d, a theorem
    is one about the recursion for inner products alone. [increasing_on_vectors] and those near it are on vectors. *)

From Coq Require Import Reals Lra Lia Arith ZArith Bool.
From Coquelicot Require Import Coquelicot.
From Maskproof Require Import Attention Sums Layers Independence Vectors LayerNorm Restating.
From Maskproof Require ClosedForms Order Rules.
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

Notation independent alpha i := (0 < 1 + (INR i - 1) * alpha).
Notation unnormalised beta lam := (Decoder NoNorm 1 beta lam Causal).
Notation layernorm d scale beta lam := (Decoder (LayerNorm d) scale beta lam Causal).

(** ** The model *)

(** The decoder on vectors and the decoder by inner products have the same scores, weights and inner products. The
    hypotheses about the scale and about norms say that no denominator is 0. *)
Theorem vectors_and_matrices (D : decoder) (d : nat) (x : vectors) (layer i j : nat) :
  (1 <= d)%nat -> (1 <= layer)%nat -> (1 <= j <= i)%nat -> scale D <> 0 ->
  (norm D <> NoNorm ->
    forall l k, (l < layer)%nat -> (1 <= k <= i)%nat -> 0 < inner d (relevant D d (stack D d x l)) k k) ->
  let K := inner d (relevant D d x) in
  vector_score D d (stack D d x (layer - 1)) i j = Score D K layer i j /\
  vector_weight D d (stack D d x (layer - 1)) i j = Weight D K layer i j /\
  inner d (relevant D d (stack D d x layer)) i j = Gram D K layer i j.
Proof.
  intros W L H _ _. repeat split.
  - apply score_of_stack; lia || assumption.
  - apply weight_of_stack; assumption.
  - apply gram_of_stack; lia || assumption.
Qed.

(** n unit vectors with pairwise cosine alpha exist in R^d for n <= d; centred ones for n < d. *)
Theorem inputs_exist (n d : nat) (alpha : R) : (1 <= n <= d)%nat -> alpha <= 1 -> 0 <= 1 + (INR n - 1) * alpha ->
  exists x, are_equicorrelated alpha n d x.
Proof. apply equicorrelated_exist. Qed.

Theorem centred_inputs_exist (n d : nat) (alpha : R) : (1 <= n < d)%nat -> alpha <= 1 -> 0 <= 1 + (INR n - 1) * alpha ->
  exists x, are_equicorrelated alpha n d (centred d x).
Proof. apply equicorrelated_centred_exist. Qed.

(** The weights of a query are not negative, sum to 1, and are 0 for keys that it doesn't see. *)
Theorem weights (D : decoder) (K : matrix) (layer i j : nat) : (1 <= i)%nat -> mask D <> SlidingWindow 0 ->
  0 <= Weight D K layer i j /\ sum (Weight D K layer i) i = 1 /\
  (sees (mask D) i j = false -> Weight D K layer i j = 0).
Proof.
  intros I M. split; [apply softmax_nonneg; assumption|]. split; [apply softmax_row; assumption|].
  intro H. unfold Weight, layer_weight, softmax. rewrite H. reflexivity.
Qed.

Theorem masks (width i j : nat) :
  (sees Causal i j = true <-> (j <= i)%nat) /\ (sees (SlidingWindow width) i j = true <-> (j <= i < j + width)%nat).
Proof. simpl. rewrite andb_true_iff, !Nat.leb_le, Nat.ltb_lt. tauto. Qed.

Theorem independent_from_zero_on (alpha : R) (i : nat) : (1 <= i)%nat -> 0 <= alpha -> independent alpha i.
Proof. exact (fun I A => Order.independent_nonneg alpha i I A). Qed.

(** With the causal mask, a residual weight that is not negative and independent equicorrelated inputs, in every layer:
    no vector vanishes, and the softmax divides by a positive number. *)
Theorem everything_has_a_value (D : decoder) (alpha : R) (layer i : nat) :
  mask D = Causal -> 0 <= residual D -> scale D <> 0 -> match norm D with LayerNorm d => (1 <= d)%nat | _ => True end ->
  alpha < 1 -> independent alpha i -> (1 <= i)%nat ->
  0 < Gram D (equicorrelated alpha) layer i i /\
  0 < sum (fun k => exp (beta D * Score D (equicorrelated alpha) layer i k)) i.
Proof.
  intros M L _ W A I H. split; [|apply sum_pos; [exact H|intros; apply exp_pos]].
  apply (definite_diagonal i); [|lia]. apply Rules.definite_layers; try assumption. intros _. split; assumption.
Qed.

(** ** Layers one and two: every beta, lam and alpha with independent inputs *)

Theorem own_weights (alpha beta lam : R) (i : nat) :
  alpha < 1 -> independent alpha i -> 0 <= beta -> 0 <= lam -> (1 <= i)%nat ->
  let r := exp (beta * (1 - alpha)) in let A := Weight (l2_decoder beta lam) (equicorrelated alpha) 1 in
  A i i = r / (r + INR i - 1) /\ forall j, (1 <= j < i)%nat -> A i j = 1 / (r + INR i - 1).
Proof.
  intros A I B L H. split; [apply ClosedForms.weight_one_self; auto|]. intros j [J Q]. before i j.
  pose proof (claim_own_weights i j alpha beta lam) as C. from C.
Qed.

(** The coefficients of x_1, ..., x_i in what leaves the layer. *)
Theorem own_x1 (alpha beta lam : R) (i : nat) :
  alpha < 1 -> independent alpha i -> 0 <= beta -> 0 <= lam -> (1 <= i)%nat ->
  let r := exp (beta * (1 - alpha)) in let M := Mix (l2_decoder beta lam) (equicorrelated alpha) 1 in
  M i i = lam + r / (r + INR i - 1) /\ forall j, (1 <= j < i)%nat -> M i j = 1 / (r + INR i - 1).
Proof.
  intros A I B L H. split; [apply ClosedForms.mix_one_self; auto|]. intros j [J Q]. before i j.
  pose proof (claim_own_x1 i j alpha beta lam) as C. from C.
Qed.

(** The inner product and the squared norm after layer one, as functions of the query. *)
Definition g (alpha beta lam i : R) : R :=
  let r := exp (beta * (1 - alpha)) in let s := 1 + lam in s * (alpha * s + (1 - alpha) / (r + i - 1)).
Definition h2 (alpha beta lam i : R) : R :=
  let r := exp (beta * (1 - alpha)) in let s := 1 + lam in
  s ^ 2 - (1 - alpha) * (i - 1) * (2 * s * (r + i - 1) - i) / (r + i - 1) ^ 2.

Theorem own_gram (alpha beta lam : R) (i : nat) :
  alpha < 1 -> independent alpha i -> 0 <= beta -> 0 <= lam -> (1 <= i)%nat ->
  let G := Gram (l2_decoder beta lam) (equicorrelated alpha) 1 in
  G i i = h2 alpha beta lam (INR i) /\ forall j, (1 <= j < i)%nat -> G i j = g alpha beta lam (INR i).
Proof.
  intros A I B L H. split; [apply ClosedForms.gram_one_self; auto|]. intros j [J Q]. before i j. unfold g.
  pose proof (claim_own_gram i j alpha beta lam) as C. from C.
Qed.

(** So roots of h2 have values. *)
Lemma h2_positive (alpha beta lam : R) (i : nat) :
  alpha < 1 -> independent alpha i -> 0 <= beta -> 0 <= lam -> (1 <= i)%nat -> 0 < h2 alpha beta lam (INR i).
Proof. intros A I B L H. exact (Order.h2_pos alpha beta lam A B L i H I). Qed.

Theorem own_h_decreasing (alpha beta lam : R) (i : nat) :
  alpha < 1 -> independent alpha (i + 1) -> 0 <= beta -> 0 <= lam -> (1 <= i)%nat ->
  let G := Gram (l2_decoder beta lam) (equicorrelated alpha) 1 in G (i + 1)%nat (i + 1)%nat < G i i.
Proof.
  intros A I B L H. rewrite plus_INR in I. simpl INR in I.
  pose proof (claim_own_h_decreasing i alpha beta lam) as C. from C.
Qed.

(** h2 decreases in the number m = i - 1 of earlier tokens, read as a real number. *)
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
  let hi := h2 alpha beta lam (INR i) in let hj := h2 alpha beta lam (INR j) in
  0 < hi /\ 0 < hj /\
  Score (l2_decoder beta lam) (equicorrelated alpha) 2 i j = g alpha beta lam (INR i) / (sqrt hi * sqrt hj).
Proof.
  intros A I B L [J H]. before i j. split; [|split]; [apply h2_positive; assumption || lia..|].
  unfold g, h2. cbv zeta. pose proof (claim_own_score_two i j alpha beta lam) as C. from C.
Qed.

(** For two adjacent keys before the query, the sign of the inner product after layer one decides. *)
Theorem own_layer_two (alpha beta lam : R) (i j : nat) :
  alpha < 1 -> independent alpha i -> 0 <= beta -> 0 <= lam -> (1 <= j)%nat -> (j + 1 < i)%nat ->
  let G := Gram (l2_decoder beta lam) (equicorrelated alpha) 1 in
  let S := Score (l2_decoder beta lam) (equicorrelated alpha) 2 in
  (G i j > 0 -> S i j < S i (j + 1)%nat) /\
  (G i j < 0 -> S i j > S i (j + 1)%nat) /\
  (G i j = 0 -> S i j = S i (j + 1)%nat).
Proof. intros A I B L J H. pose proof (claim_own_layer_two i j alpha beta lam) as C. from C. Qed.

Theorem own_below_diagonal (alpha beta lam : R) (i j : nat) :
  alpha < 1 -> independent alpha i -> 0 <= beta -> 0 <= lam -> (1 <= j < i)%nat ->
  Score (l2_decoder beta lam) (equicorrelated alpha) 2 i j < 1.
Proof. intros A I B L [J H]. pose proof (claim_own_below_diagonal i j alpha beta lam) as C. from C. Qed.

(** For 0 <= alpha closer keys score higher in layer two, up to and including the query itself. *)
Theorem own_increasing_2 (alpha beta lam : R) (i j : nat) :
  0 <= alpha < 1 -> 0 <= beta -> 0 <= lam -> (1 <= j < i)%nat ->
  let S := Score (l2_decoder beta lam) (equicorrelated alpha) 2 in S i j < S i (j + 1)%nat.
Proof. intros [A1 A2] B L [J H]. pose proof (claim_own_increasing_2 i j alpha beta lam) as C. from C. Qed.

(** At alpha = -1/10 and beta = lam = 1, keys before the query score lower the closer they are, for queries 4 to 10 (of
    eleven such inputs one depends on the others). *)
Theorem own_sign_reversal (i j : nat) : (1 <= j)%nat -> (j + 1 < i)%nat -> (4 <= i <= 10)%nat ->
  let S := Score (l2_decoder 1 1) (equicorrelated (-1 / 10)) 2 in S i j > S i (j + 1)%nat.
Proof. intros J H I. pose proof (claim_own_sign_reversal i j) as C. from C. Qed.

(** Without normalisation all keys before the query score the same in layer two. *)
Theorem own_flat_without_norm (alpha beta lam : R) (i j : nat) :
  alpha < 1 -> independent alpha i -> 0 <= beta -> 0 <= lam -> (1 <= j)%nat -> (j + 1 < i)%nat ->
  let S := Score (unnormalised beta lam) (equicorrelated alpha) 2 in S i j = S i (j + 1)%nat.
Proof.
  intros A I B L J H. before i j. before i (j + 1)%nat.
  pose proof (claim_own_flat_without_norm i j alpha beta lam) as C. from C.
Qed.

(** An identity between squared norms after layer one, with the residual weight 0 and with lam. By [own_score_two] a
    score of layer two grows from key n to key n + 1 by the factor sqrt (G n n / G (n + 1) (n + 1)); so the sign of the
    right hand side says whether it grows faster without the residual. *)
Theorem own_residual_effect (alpha beta lam : R) (n : nat) :
  0 <= alpha < 1 -> 0 <= beta -> 0 <= lam -> (1 <= n)%nat ->
  let r := exp (beta * (1 - alpha)) in let i := INR n in
  let G0 := Gram (l2_decoder beta 0) (equicorrelated alpha) 1 in
  let G := Gram (l2_decoder beta lam) (equicorrelated alpha) 1 in
  G0 n n * G (n + 1)%nat (n + 1)%nat - G0 (n + 1)%nat (n + 1)%nat * G n n
  = lam * (1 - alpha)
    * (lam * (i * (i - 1) + 2 * i * r ^ 2 + 2 * r ^ 2 * (r - 1))
       + 2 * r ^ 2 * (r - 1) - 2 * alpha * i * (i - 1) * (r - 1))
    / ((r + i) ^ 2 * (r + i - 1) ^ 2).
Proof.
  intros [A1 A2] B L I. pose proof (claim_own_residual_effect n alpha beta lam) as C. from C.
Qed.

(** ** Far from the start

    Limits in the query i at a fixed key j, of the recursion for inner products: for each i its values are those of i
    vectors in R^d for any d >= i, and in no R^d are there vectors for all i at once. *)

Theorem own_g_limit (alpha beta lam : R) (j : nat) :
  0 <= alpha < 1 -> 0 <= beta -> 0 <= lam -> 0 < lam ^ 2 + alpha * (1 + 2 * lam) -> (1 <= j)%nat ->
  let G := Gram (l2_decoder beta lam) (equicorrelated alpha) 1 in
  is_lim_seq (fun i => G i j) (alpha * (1 + lam) ^ 2) /\
  is_lim_seq (fun i => G i i) (lam ^ 2 + alpha * (1 + 2 * lam)).
Proof. intros [A1 A2] B L Q J. pose proof (claim_own_g_limit j alpha beta lam) as C. from C. Qed.

(** q > 0 excludes alpha = lam = 0, where the norms of queries tend to 0. *)
Theorem own_saturation (alpha beta lam : R) (j : nat) :
  0 <= alpha < 1 -> 0 <= beta -> 0 <= lam -> (1 <= j)%nat ->
  let q := lam ^ 2 + alpha * (1 + 2 * lam) in let hj := h2 alpha beta lam (INR j) in
  0 < q ->
  0 < hj /\
  is_lim_seq (fun i => Score (l2_decoder beta lam) (equicorrelated alpha) 2 i j)
    (alpha * (1 + lam) ^ 2 / (sqrt q * sqrt hj)).
Proof.
  intros [A1 A2] B L J. cbv zeta. intro Q. pose proof (independent_from_zero_on alpha j J A1) as I.
  split; [apply h2_positive; assumption|].
  unfold h2. pose proof (claim_own_saturation j alpha beta lam) as C. from C.
Qed.

(** i times the distance to the limit has a limit. *)
Theorem own_saturation_rate (alpha beta lam : R) (j : nat) :
  0 < alpha < 1 -> 0 <= beta -> 0 <= lam -> (1 <= j)%nat ->
  let r := exp (beta * (1 - alpha)) in
  let p := alpha * (1 + lam) ^ 2 in let q := lam ^ 2 + alpha * (1 + 2 * lam) in
  let hj := h2 alpha beta lam (INR j) in
  0 < q /\ 0 < hj /\
  is_lim_seq (fun i => INR i * (Score (l2_decoder beta lam) (equicorrelated alpha) 2 i j - p / (sqrt q * sqrt hj)))
    (((1 - alpha) * (1 + lam) - p * ((1 - alpha) * (2 * r * lam + 1)) / (2 * q)) / (sqrt q * sqrt hj)).
Proof.
  intros [A1 A2] B L J. cbv zeta.
  assert (Q : 0 < lam ^ 2 + alpha * (1 + 2 * lam)).
  { apply Rplus_le_lt_0_compat; [apply pow2_ge_0|apply Rmult_lt_0_compat; lra]. }
  pose proof (independent_from_zero_on alpha j J ltac:(lra)) as I.
  split; [exact Q|]. split; [apply h2_positive; assumption|].
  unfold h2. pose proof (claim_own_saturation_rate j alpha beta lam) as C. from C.
Qed.

(** ** Attention that only averages (beta = 0, no residual)

    Closer keys score higher in every layer from the second on. *)

Theorem own_averaging_increasing (alpha : R) (layer i j : nat) :
  0 <= alpha < 1 -> (2 <= layer)%nat -> (1 <= j < i)%nat ->
  let S := Score (l2_decoder 0 0) (equicorrelated alpha) layer in S i j < S i (j + 1)%nat.
Proof. intros [A1 A2] L [J H]. pose proof (claim_own_averaging_increasing i j layer alpha) as C. from C. Qed.

(** ** Version 1 of the paper: beta = lam = 1, and its formulas in e and e^alpha *)

Notation e := (exp 1).
Definition normaliser (alpha i : R) : R := e + (i - 1) * exp alpha.

Lemma normaliser_positive (alpha : R) (i : nat) : (1 <= i)%nat -> 0 < normaliser alpha (INR i).
Proof. intro I. unfold normaliser. positives. denominators. Qed.

Theorem kim2025_eq2 (alpha : R) (i : nat) : 0 <= alpha < 1 -> (1 <= i)%nat ->
  let S := Score (l2_decoder 1 1) (equicorrelated alpha) 1 in S i i = 1 /\ forall j, (1 <= j < i)%nat -> S i j = alpha.
Proof.
  intros [A1 A2] I. split; [apply ClosedForms.score_one_self; auto|]. intros j [J H].
  pose proof (claim_kim2025_eq2 i j alpha) as C. from C.
Qed.

Theorem kim2025_softmax (alpha : R) (i : nat) : 0 <= alpha < 1 -> (1 <= i)%nat ->
  let A := Weight (l2_decoder 1 1) (equicorrelated alpha) 1 in
  A i i = e / normaliser alpha (INR i) /\ forall j, (1 <= j < i)%nat -> A i j = exp alpha / normaliser alpha (INR i).
Proof.
  intros [A1 A2] I. cbv zeta. unfold normaliser. split; [|intros j [J H]].
  - destruct (Nat.eq_dec i 1) as [->|].
    + unfold l2_decoder. rewrite ClosedForms.weight_one_self by auto. simpl INR.
      pose proof (ClosedForms.r_pos alpha 1). pose proof (exp_pos 1). field. lra.
    + pose proof (claim_kim2025_softmax i 1 alpha) as C. from C.
  - pose proof (claim_kim2025_softmax i j alpha) as C. from C.
Qed.

Theorem kim2025_x1 (alpha : R) (i : nat) : 0 <= alpha < 1 -> (1 <= i)%nat ->
  let M := Mix (l2_decoder 1 1) (equicorrelated alpha) 1 in
  M i i = 1 + e / normaliser alpha (INR i) /\
  forall j, (1 <= j < i)%nat -> M i j = exp alpha / normaliser alpha (INR i).
Proof.
  intros [A1 A2] I. cbv zeta. unfold normaliser. split; [|intros j [J H]].
  - destruct (Nat.eq_dec i 1) as [->|].
    + unfold l2_decoder. rewrite ClosedForms.mix_one_self by auto. simpl INR.
      pose proof (ClosedForms.r_pos alpha 1). pose proof (exp_pos 1). field. lra.
    + pose proof (claim_kim2025_x1 i 1 alpha) as C. from C.
  - pose proof (claim_kim2025_x1 i j alpha) as C. from C.
Qed.

(** The paper's g and h^2, with the residual and without it *)
Definition paper_g (alpha i : R) : R := 4 * alpha + 2 * (1 - alpha) * exp alpha / normaliser alpha i.
(* the squared norm of a x_i + b (x_1 + ... + x_(i-1)) *)
Definition squared_norm (alpha i a b : R) : R :=
  a ^ 2 + (i - 1) * b ^ 2 + alpha * (2 * (i - 1) * a * b + (i - 1) * (i - 2) * b ^ 2).
Definition paper_h2 (alpha i : R) : R :=
  squared_norm alpha i ((2 * e + (i - 1) * exp alpha) / normaliser alpha i) (exp alpha / normaliser alpha i).
Definition paper_g' (alpha i : R) : R := alpha + (1 - alpha) * exp alpha / normaliser alpha i.
Definition paper_h2' (alpha i : R) : R :=
  squared_norm alpha i (e / normaliser alpha i) (exp alpha / normaliser alpha i).

Ltac formulas := cbv zeta; unfold paper_g, paper_g', paper_h2, paper_h2', squared_norm, normaliser.

Theorem kim2025_g (alpha : R) (i j : nat) : 0 <= alpha < 1 -> (1 <= j < i)%nat ->
  Gram (l2_decoder 1 1) (equicorrelated alpha) 1 i j = paper_g alpha (INR i).
Proof. intros [A1 A2] [J H]. formulas. pose proof (claim_kim2025_g i j alpha) as C. from C. Qed.

Theorem kim2025_h (alpha : R) (i : nat) : 0 <= alpha < 1 -> (1 <= i)%nat ->
  Gram (l2_decoder 1 1) (equicorrelated alpha) 1 i i = paper_h2 alpha (INR i).
Proof. intros [A1 A2] I. formulas. pose proof (claim_kim2025_h i alpha) as C. from C. Qed.

Lemma paper_h2_positive (alpha : R) (i : nat) : 0 <= alpha < 1 -> (1 <= i)%nat -> 0 < paper_h2 alpha (INR i).
Proof.
  intros A I. rewrite <- kim2025_h by assumption.
  apply everything_has_a_value; simpl; try lra; try exact I; [reflexivity|]. apply independent_from_zero_on; lra || lia.
Qed.

Theorem kim2025_eq4 (alpha : R) (i j : nat) : 0 <= alpha < 1 -> (1 <= j < i)%nat ->
  let hi := paper_h2 alpha (INR i) in let hj := paper_h2 alpha (INR j) in
  0 < hi /\ 0 < hj /\
  Score (l2_decoder 1 1) (equicorrelated alpha) 2 i j = paper_g alpha (INR i) / (sqrt hi * sqrt hj).
Proof.
  intros [A1 A2] [J H]. cbv zeta. split; [|split]; [apply paper_h2_positive; lra || lia..|].
  formulas. pose proof (claim_kim2025_eq4 i j alpha) as C. from C.
Qed.

Theorem kim2025_increasing_2 (alpha : R) (i j : nat) : 0 <= alpha < 1 -> (1 <= j < i)%nat ->
  let S := Score (l2_decoder 1 1) (equicorrelated alpha) 2 in S i j < S i (j + 1)%nat.
Proof. intros [A1 A2] [J H]. pose proof (claim_kim2025_increasing_2 i j alpha) as C. from C. Qed.

Theorem kim2025_saturation (alpha : R) (j : nat) : 0 <= alpha < 1 -> (1 <= j)%nat ->
  0 < paper_h2 alpha (INR j) /\
  is_lim_seq (fun i => Score (l2_decoder 1 1) (equicorrelated alpha) 2 i j)
    (4 * alpha / (sqrt (1 + 3 * alpha) * sqrt (paper_h2 alpha (INR j)))).
Proof.
  intros [A1 A2] J. split; [apply paper_h2_positive; lra || lia|].
  formulas. pose proof (claim_kim2025_saturation j alpha) as C. from C.
Qed.

(** Appendix A.1: squared norms after layer one decrease. *)
Theorem kim2025_h_decreasing (alpha : R) (i : nat) : 0 <= alpha < 1 -> (1 <= i)%nat ->
  let G := Gram (l2_decoder 1 1) (equicorrelated alpha) 1 in G (i + 1)%nat (i + 1)%nat < G i i.
Proof. intros [A1 A2] I. pose proof (claim_kim2025_h_decreasing i alpha) as C. from C. Qed.

(** By how much. *)
Theorem kim2025_h_difference (alpha : R) (n : nat) : 0 <= alpha < 1 -> (1 <= n)%nat ->
  let G := Gram (l2_decoder 1 1) (equicorrelated alpha) 1 in let x := exp alpha in let i := INR n in
  G (n + 1)%nat (n + 1)%nat - G n n
  = (alpha - 1) * x * (i * (i - 1) * (x ^ 3 + 2 * e * x ^ 2) + (6 * i - 4) * e ^ 2 * x + 4 * e ^ 3)
    / (normaliser alpha (i + 1) ^ 2 * normaliser alpha i ^ 2).
Proof. intros [A1 A2] I. formulas. pose proof (claim_kim2025_h_difference n alpha) as C. from C. Qed.

(** The same, with the numerator sorted by powers of i: i^2, i and 1 have these coefficients ... *)
Definition coefficient (alpha : R) (power : nat) : R :=
  let x := exp alpha in (alpha - 1) * x * match power with
  | 2%nat => x ^ 3 + 2 * e * x ^ 2
  | 1%nat => 6 * e ^ 2 * x - (x ^ 3 + 2 * e * x ^ 2)
  | _ => 4 * e ^ 3 - 4 * e ^ 2 * x
  end.

Theorem own_h_numerator (alpha : R) (n : nat) : 0 <= alpha < 1 -> (1 <= n)%nat ->
  let G := Gram (l2_decoder 1 1) (equicorrelated alpha) 1 in let i := INR n in let c := coefficient alpha in
  G (n + 1)%nat (n + 1)%nat - G n n
  = (c 2%nat * i ^ 2 + c 1%nat * i + c 0%nat) / (normaliser alpha (i + 1) ^ 2 * normaliser alpha i ^ 2).
Proof.
  intros [A1 A2] I. formulas. unfold coefficient. cbv zeta.
  pose proof (claim_own_h_numerator n alpha) as C. from C.
Qed.

(** ... and these are negative. *)
Theorem kim2025_h_coefficients (alpha : R) : 0 <= alpha < 1 ->
  coefficient alpha 2 < 0 /\ coefficient alpha 1 < 0 /\ coefficient alpha 0 < 0.
Proof.
  intros [A1 A2]. unfold coefficient. pose proof (claim_kim2025_h_coefficients alpha) as C. from C.
Qed.

(** Appendix A.2, without the residual *)
Theorem kim2025_g_prime (alpha : R) (i j : nat) : 0 <= alpha < 1 -> (1 <= j < i)%nat ->
  Gram (l2_decoder 1 0) (equicorrelated alpha) 1 i j = paper_g' alpha (INR i).
Proof. intros [A1 A2] [J H]. formulas. pose proof (claim_kim2025_g_prime i j alpha) as C. from C. Qed.

Theorem kim2025_h_prime (alpha : R) (i : nat) : 0 <= alpha < 1 -> (1 <= i)%nat ->
  Gram (l2_decoder 1 0) (equicorrelated alpha) 1 i i = paper_h2' alpha (INR i).
Proof. intros [A1 A2] I. formulas. pose proof (claim_kim2025_h_prime i alpha) as C. from C. Qed.

(** The difference, corrected: + in the numerator, both norms squared. Counterexamples.v refutes what is printed. *)
Theorem own_h_prime_difference (alpha : R) (n : nat) : 0 <= alpha < 1 -> (1 <= n)%nat ->
  let G := Gram (l2_decoder 1 0) (equicorrelated alpha) 1 in let x := exp alpha in let i := INR n in
  G (n + 1)%nat (n + 1)%nat - G n n
  = (alpha - 1) * x * (2 * e ^ 3 + 2 * e ^ 2 * x * (i - 1) + x ^ 3 * i * (i - 1))
    / (normaliser alpha (i + 1) ^ 2 * normaliser alpha i ^ 2).
Proof. intros [A1 A2] I. formulas. pose proof (claim_own_h_prime_difference n alpha) as C. from C. Qed.

Theorem own_h_prime_decreasing (alpha : R) (i : nat) : 0 <= alpha < 1 -> (1 <= i)%nat ->
  let G := Gram (l2_decoder 1 0) (equicorrelated alpha) 1 in G (i + 1)%nat (i + 1)%nat < G i i.
Proof. intros [A1 A2] I. pose proof (claim_own_h_prime_decreasing i alpha) as C. from C. Qed.

(** ** LayerNorm of width d

    [equicorrelated alpha] are now the inner products of the centred inputs: of unit vectors with pairwise cosine alpha.
    In R^d there are at most d - 1 independent ones; for i >= d these theorems are about the recursion for inner
    products alone. *)

(** With the scale sqrt(d), against the l2 decoder with beta sqrt(d) and the residual weight lam/sqrt(d): the same
    weights in layer one, d times the inner products after it, sqrt(d) times the scores of layer two. No further: after
    layer one the residual weight to compare with is lam ([layernorm_in_every_layer]). *)
Theorem own_layernorm (alpha beta lam : R) (d i j : nat) :
  alpha < 1 -> independent alpha i -> 0 <= beta -> 0 <= lam -> (2 <= d)%nat -> (1 <= j <= i)%nat ->
  let D := layernorm d (sqrt (INR d)) beta lam in
  let D' := l2_decoder (beta * sqrt (INR d)) (lam / sqrt (INR d)) in
  Weight D (equicorrelated alpha) 1 i j = Weight D' (equicorrelated alpha) 1 i j /\
  Gram D (equicorrelated alpha) 1 i j = INR d * Gram D' (equicorrelated alpha) 1 i j /\
  Score D (equicorrelated alpha) 2 i j = sqrt (INR d) * Score D' (equicorrelated alpha) 2 i j.
Proof.
  intros A I B L W [J H]. cbv zeta. destruct (Nat.eq_dec j i) as [->|].
  - apply same_in_layer_two; [apply root_pos; lia|apply root_of_width; lia|lia..].
  - pose proof (claim_own_layernorm d i j alpha beta lam) as C. from C.
Qed.

(** With the scale d: the same against beta, and the same scores of layer two. *)
Theorem own_layernorm_scale_d (alpha beta lam : R) (d i j : nat) :
  alpha < 1 -> independent alpha i -> 0 <= beta -> 0 <= lam -> (2 <= d)%nat -> (1 <= j <= i)%nat ->
  let D := layernorm d (INR d) beta lam in let D' := l2_decoder beta (lam / sqrt (INR d)) in
  Weight D (equicorrelated alpha) 1 i j = Weight D' (equicorrelated alpha) 1 i j /\
  Gram D (equicorrelated alpha) 1 i j = INR d * Gram D' (equicorrelated alpha) 1 i j /\
  Score D (equicorrelated alpha) 2 i j = Score D' (equicorrelated alpha) 2 i j.
Proof.
  intros A I B L W [J H]. cbv zeta. destruct (Nat.eq_dec j i) as [->|].
  - destruct (same_in_layer_two (equicorrelated alpha) (INR d) beta 1 lam d i i) as [P [Q R]]; try lia; try lra.
    + apply (lt_INR 0). lia.
    + assert (0 < INR d) by (apply (lt_INR 0); lia). field. lra.
    + rewrite Rmult_1_r in P, Q, R. rewrite Rmult_1_l in R. auto.
  - pose proof (claim_own_layernorm_scale_d d i j alpha beta lam) as C. from C.
Qed.

(** In every layer, for inputs with any inner products K, as long as no vector vanishes: the l2 decoder has the residual
    weight lam/sqrt(d) in the first layer, and lam itself in every later one. (Not of the program's list.) *)
Theorem layernorm_in_every_layer (K : matrix) (scale beta lam : R) (d layer i j : nat) :
  (2 <= d)%nat -> 0 < scale -> (1 <= layer)%nat -> (1 <= j <= i)%nat ->
  let D := layernorm d scale beta lam in
  let l2_with residual := l2_decoder (beta * (INR d / scale)) residual in
  let K1 := Gram (l2_with (lam / sqrt (INR d))) K 1 in
  (forall l k, (l <= layer)%nat -> (1 <= k <= i)%nat -> 0 < Gram D K l k k) ->
  Weight D K (layer + 1) i j = Weight (l2_with lam) K1 layer i j /\
  Gram D K (layer + 1) i j = INR d * Gram (l2_with lam) K1 layer i j /\
  Score D K (layer + 1) i j = INR d / scale * Score (l2_with lam) K1 layer i j.
Proof.
  intros W P L [J H] D l2_with K1 _. assert (1 <= d)%nat by lia. repeat split.
  - apply (layernorm_weight d scale beta lam Causal); lia || assumption.
  - apply (layernorm_gram d scale beta lam Causal); lia || assumption.
  - apply (layernorm_score d scale beta lam Causal); lia || assumption.
Qed.

(** Up to the second layer's scores, centred inputs of norm c are unit inputs with the residual weight lam c. (Not of
    the list, either.) *)
Theorem inputs_of_norm (c alpha scale beta lam : R) (d i j : nat) :
  alpha < 1 -> independent alpha i -> 0 < c -> 0 < scale -> 0 <= lam -> (2 <= d)%nat -> (1 <= j <= i)%nat ->
  let longer i j := c ^ 2 * equicorrelated alpha i j in
  let D lam := layernorm d scale beta lam in
  Gram (D lam) longer 1 i j = Gram (D (lam * c)) (equicorrelated alpha) 1 i j /\
  Score (D lam) longer 2 i j = Score (D (lam * c)) (equicorrelated alpha) 2 i j.
Proof. intros _ _ C _ _ _ [J H]. split; [apply longer_gram|apply longer_score_two]; lia || assumption. Qed.

(** With the scale d and the residual weight sqrt(d), or weight 1 on inputs of norm sqrt(d) ([inputs_of_norm]), the
    second layer's scores are those of the l2 decoder with beta = lam = 1. *)
Theorem own_layernorm_recovers (alpha : R) (d i j : nat) :
  alpha < 1 -> independent alpha i -> (2 <= d)%nat -> (1 <= j < i)%nat ->
  Score (layernorm d (INR d) 1 (sqrt (INR d))) (equicorrelated alpha) 2 i j
  = Score (l2_decoder 1 1) (equicorrelated alpha) 2 i j.
Proof. intros A I W [J H]. pose proof (claim_own_layernorm_recovers d i j alpha) as C. from C. Qed.

(** Closer keys score higher in layer two, up to and including the query itself. *)
Theorem own_layernorm_increasing (alpha beta lam : R) (d i j : nat) :
  0 <= alpha < 1 -> 0 <= beta -> 0 <= lam -> (2 <= d)%nat -> (1 <= j < i)%nat ->
  let S := Score (layernorm d (sqrt (INR d)) beta lam) (equicorrelated alpha) 2 in S i j < S i (j + 1)%nat.
Proof. intros [A1 A2] B L W [J H]. pose proof (claim_own_layernorm_increasing d i j alpha beta lam) as C. from C. Qed.

(** In the first layer each token but the first gives itself more weight with the scale sqrt(d) than with d. *)
Theorem kim2025_layernorm_sharper (alpha : R) (d i : nat) : 0 <= alpha < 1 -> (2 <= d)%nat -> (2 <= i)%nat ->
  Weight (layernorm d (sqrt (INR d)) 1 1) (equicorrelated alpha) 1 i i
  > Weight (layernorm d (INR d) 1 1) (equicorrelated alpha) 1 i i.
Proof. intros [A1 A2] W I. pose proof (claim_kim2025_layernorm_sharper d i alpha) as C. from C. Qed.

(** ** Version 2 of the paper: LayerNorm with the scale sqrt(d), beta = 1

    Its theory has inputs of norm sqrt(d) and the residual weight lam (0 or 1); on unit inputs that is the weight
    lam sqrt(d) ([inputs_of_norm]). *)

Notation theory d lam := (layernorm d (sqrt (INR d)) 1 (sqrt (INR d) * lam)).

Theorem kim2026_norm (alpha lam : R) (d n : nat) : 0 <= alpha < 1 -> 0 <= lam -> (2 <= d)%nat -> (1 <= n)%nat ->
  let A := exp (sqrt (INR d)) in let B := exp (alpha * sqrt (INR d)) in let i := INR n in let Z := A + (i - 1) * B in
  Gram (theory d lam) (equicorrelated alpha) 1 n n / INR d
  = lam ^ 2 + 2 * lam * alpha + alpha + (1 - alpha) * (2 * lam * A / Z + (A * (A - B) + B * Z) / Z ^ 2).
Proof. intros [A1 A2] L W I. pose proof (claim_kim2026_norm d n alpha lam) as C. from C. Qed.

(** Squared norms after layer one decrease in the position. (The paper says that h increases: its h is the inverse of a
    norm.) *)
Theorem kim2026_h_increasing (alpha lam : R) (d i : nat) : 0 <= alpha < 1 -> 0 <= lam -> (2 <= d)%nat -> (1 <= i)%nat ->
  let G := Gram (theory d lam) (equicorrelated alpha) 1 in G (i + 1)%nat (i + 1)%nat < G i i.
Proof. intros [A1 A2] L W I. pose proof (claim_kim2026_h_increasing d i alpha lam) as C. from C. Qed.

(** g and h2 are those of l2 above, at beta = sqrt(d). *)
Theorem kim2026_score (alpha lam : R) (d i j : nat) : 0 <= alpha < 1 -> 0 <= lam -> (2 <= d)%nat -> (1 <= j < i)%nat ->
  let hi := h2 alpha (sqrt (INR d)) lam (INR i) in let hj := h2 alpha (sqrt (INR d)) lam (INR j) in
  0 < hi /\ 0 < hj /\
  Score (theory d lam) (equicorrelated alpha) 2 i j
  = sqrt (INR d) * g alpha (sqrt (INR d)) lam (INR i) / (sqrt hi * sqrt hj).
Proof.
  intros [A1 A2] L W [J H]. cbv zeta. pose proof (sqrt_pos (INR d)) as P.
  pose proof (independent_from_zero_on alpha i ltac:(lia) A1) as I. before i j.
  split; [|split]; [apply h2_positive; assumption || lia..|].
  unfold g, h2. cbv zeta. pose proof (claim_kim2026_score d i j alpha lam) as C. from C.
Qed.

(** The part of its theorem "LayerNorm induces recency" that is about layer two: closer keys score higher, up to and
    including the query itself. *)
Theorem kim2026_recency (alpha lam : R) (d i j : nat) :
  0 <= alpha < 1 -> 0 <= lam -> (2 <= d)%nat -> (1 <= j < i)%nat ->
  let S := Score (theory d lam) (equicorrelated alpha) 2 in S i j < S i (j + 1)%nat.
Proof. intros [A1 A2] L W [J H]. pose proof (claim_kim2026_recency d i j alpha lam) as C. from C. Qed.

(** Its simulation, at alpha = 1/2, has the residual weight 1 and centred inputs of norm sqrt 2 (in general
    (1 - alpha)^(-1/2)), which is the weight sqrt 2 on unit inputs. Its second layer's scores are sqrt(d) times those of
    the l2 decoder with beta = sqrt(d) and the residual weight sqrt 2 / sqrt(d); the theory's have lam there
    ([kim2026_score]). *)
Theorem own_residual_scale (d i j : nat) : (2 <= d)%nat -> (1 <= j < i)%nat ->
  Score (layernorm d (sqrt (INR d)) 1 (sqrt 2)) (equicorrelated (1 / 2)) 2 i j
  = sqrt (INR d) * Score (l2_decoder (sqrt (INR d)) (sqrt 2 / sqrt (INR d))) (equicorrelated (1 / 2)) 2 i j.
Proof. intros W [J H]. pose proof (claim_own_residual_scale d i j) as C. from C. Qed.

(** ** On vectors

    The same order for the decoder on vectors of R^d: the scores are those of [stack] and [vector_score], computed from
    n given vectors. For which n, d and alpha there are such vectors say [inputs_exist] and [centred_inputs_exist].
    (Counterexamples.v has the layers in which the order fails.) *)

(** No vector that is normalised vanishes. *)
Theorem no_vector_vanishes (D : decoder) (alpha : R) (n d : nat) (x : vectors) (layer i : nat) :
  mask D = Causal -> 0 <= residual D -> scale D <> 0 -> match norm D with LayerNorm w => w = d | _ => True end ->
  alpha < 1 -> independent alpha n -> are_equicorrelated alpha n d (relevant D d x) -> (1 <= i <= n)%nat ->
  0 < inner d (relevant D d (stack D d x layer)) i i.
Proof.
  intros M L S W A I X H. pose proof (width_of_inputs alpha n d (relevant D d x) X ltac:(lia)) as P.
  rewrite (gram_of_given D d x (equicorrelated alpha) n P X) by exact H.
  apply everything_has_a_value; try assumption; [destruct (norm D); lia || exact Logic.I| |lia].
  apply (Order.independent_before alpha n); [lia|exact I].
Qed.

Theorem increasing_on_vectors (alpha beta lam : R) (n d : nat) (x : vectors) (i j : nat) :
  0 <= alpha < 1 -> 0 <= beta -> 0 <= lam -> are_equicorrelated alpha n d x -> (1 <= j < i)%nat -> (i <= n)%nat ->
  let S := vector_score (l2_decoder beta lam) d (stack (l2_decoder beta lam) d x 1) in S i j < S i (j + 1)%nat.
Proof.
  intros A B L X H N. pose proof (width_of_inputs alpha n d x X ltac:(lia)) as P. cbv zeta.
  rewrite !(score_of_given (l2_decoder beta lam) d x (equicorrelated alpha) n P X 2) by lia.
  apply own_increasing_2; assumption.
Qed.

Theorem averaging_on_vectors (alpha : R) (n d : nat) (x : vectors) (layer i j : nat) :
  0 <= alpha < 1 -> are_equicorrelated alpha n d x -> (2 <= layer)%nat -> (1 <= j < i)%nat -> (i <= n)%nat ->
  let S := vector_score (l2_decoder 0 0) d (stack (l2_decoder 0 0) d x (layer - 1)) in S i j < S i (j + 1)%nat.
Proof.
  intros A X L H N. pose proof (width_of_inputs alpha n d x X ltac:(lia)) as P. cbv zeta.
  rewrite !(score_of_given (l2_decoder 0 0) d x (equicorrelated alpha) n P X) by lia.
  apply own_averaging_increasing; assumption.
Qed.

(** With LayerNorm n < d, as n centred vectors are independent; then also 2 <= d unless n = 1. *)
Theorem layernorm_on_vectors (alpha beta lam : R) (n d : nat) (x : vectors) (i j : nat) :
  0 <= alpha < 1 -> 0 <= beta -> 0 <= lam -> are_equicorrelated alpha n d (centred d x) ->
  (2 <= d)%nat -> (1 <= j < i)%nat -> (i <= n)%nat ->
  let D := layernorm d (sqrt (INR d)) beta lam in
  let S := vector_score D d (stack D d x 1) in S i j < S i (j + 1)%nat.
Proof.
  intros A B L X W H N. cbv zeta.
  rewrite !(score_of_given (layernorm d (sqrt (INR d)) beta lam) d x (equicorrelated alpha) n ltac:(lia) X 2) by lia.
  apply own_layernorm_increasing; assumption.
Qed.

(** At alpha = -1/10 and beta = lam = 1 the order before the query is reversed, for queries 4 to 10. *)
Theorem reversed_on_vectors (n d : nat) (x : vectors) (i j : nat) :
  are_equicorrelated (-1 / 10) n d x -> (1 <= j)%nat -> (j + 1 < i)%nat -> (4 <= i <= 10)%nat -> (i <= n)%nat ->
  let S := vector_score (l2_decoder 1 1) d (stack (l2_decoder 1 1) d x 1) in S i j > S i (j + 1)%nat.
Proof.
  intros X J H I N. pose proof (width_of_inputs _ n d x X ltac:(lia)) as P. cbv zeta.
  rewrite !(score_of_given (l2_decoder 1 1) d x (equicorrelated (-1 / 10)) n P X 2) by lia.
  apply own_sign_reversal; assumption.
Qed.

(** ** About a formula alone *)

(** A number is negative. (It is a formula for the leading term, times d, of the bias of the paper's sampler; that the
    bias has this leading term is not proved here.) *)
Theorem own_sampler_bias_sign (alpha : R) : 0 < alpha < 1 -> - (alpha * (1 - alpha ^ 2) / 2) < 0.
Proof. intros [A1 A2]. pose proof (claim_own_sampler_bias_sign alpha) as C. from C. Qed.
