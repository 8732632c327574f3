(** * The layer on vectors of R^d has the scores, weights and inner products of the layer on matrices *)

From Coq Require Import Reals Lra Lia Arith.
From Maskproof Require Import Attention Sums Layers.
Open Scope R_scope.

(** Mixing tokens commutes with centring, which acts on coordinates. *)
Lemma centred_mix d (x : vectors) (M : matrix) i c :
  centred d (fun i c => sum (fun k => M i k * x k c) i) i c = sum (fun k => M i k * centred d x k c) i.
Proof.
  unfold centred. rewrite (sum_comm (fun c k => M i k * x k c)).
  rewrite (sum_ext (fun k => M i k * (_ - _)) (fun k => M i k * x k c - / INR d * sum (fun c => M i k * x k c) d)).
  - rewrite sum_minus, sum_scal. unfold Rdiv. ring.
  - intros k Hk. rewrite sum_scal. change (fun c => x k c) with (x k). unfold Rdiv. ring.
Qed.

Lemma centred_ext d x x' i : (forall c, (1 <= c <= d)%nat -> x i c = x' i c) ->
  forall c, (1 <= c <= d)%nat -> centred d x i c = centred d x' i c.
Proof. intros H c Hc. unfold centred. rewrite (H c Hc), (sum_ext (x i) (x' i)) by exact H. reflexivity. Qed.

Lemma sum_centred d x i : (1 <= d)%nat -> sum (centred d x i) d = 0.
Proof.
  intro Hd. unfold centred. rewrite sum_minus, sum_const. change (fun k => x i k) with (x i). field.
  apply not_0_INR. lia.
Qed.

Lemma centred_twice d x i c : (1 <= d)%nat -> centred d (centred d x) i c = centred d x i c.
Proof. intro Hd. unfold centred at 1. rewrite sum_centred by exact Hd. unfold Rdiv. ring. Qed.

Lemma inner_mix d (M : matrix) (x : vectors) i j :
  inner d (fun i c => sum (fun k => M i k * x k c) i) i j
  = sum (fun k => sum (fun l => M i k * M j l * inner d x k l) j) i.
Proof.
  unfold inner. rewrite (sum_ext _ (fun c => sum (fun k => sum (fun l => M i k * M j l * (x k c * x l c)) j) i)).
  - rewrite (sum_comm (fun c k => sum (fun l => M i k * M j l * (x k c * x l c)) j)). apply sum_ext; intros k Hk.
    rewrite (sum_comm (fun c l => M i k * M j l * (x k c * x l c))). apply sum_ext; intros l Hl. apply sum_scal.
  - intros c Hc. rewrite sum_prod. apply sum_ext; intros k Hk. apply sum_ext; intros l Hl. ring.
Qed.

Section Layer.
Variables (D : decoder) (d : nat) (x : vectors).
Hypothesis d_pos : (1 <= d)%nat.
Notation z := (relevant D d x).
Notation K := (inner d z).

Lemma normalised_is i c : normalised D d x i c = stretch D K i * z i c.
Proof.
  unfold normalised, stretch, relevant. destruct (norm D) as [|w|]; unfold Rdiv; ring.
Qed.

Lemma vector_score_is i j : vector_score D d x i j = layer_score D K i j.
Proof.
  unfold vector_score, layer_score. f_equal. unfold inner at 1.
  rewrite (sum_ext _ (fun c => stretch D K i * stretch D K j * (z i c * z j c)))
    by (intros; rewrite !normalised_is; ring).
  rewrite sum_scal. reflexivity.
Qed.

Lemma vector_weight_is i j : (1 <= j <= i)%nat -> vector_weight D d x i j = layer_weight D K i j.
Proof.
  intro H. unfold vector_weight, layer_weight. apply softmax_ext; [|exact H].
  intros k Hk. rewrite vector_score_is. reflexivity.
Qed.

(** Each token becomes a combination of the tokens up to itself. *)
Lemma mixed_is i c : (1 <= i)%nat ->
  residual D * z i c + sum (fun j => vector_weight D d x i j * (stretch D K j * z j c)) i
  = sum (fun k => layer_mix D K i k * z k c) i.
Proof.
  intro Hi. unfold layer_mix.
  rewrite (sum_ext (fun k => (_ + _) * _) (fun k => vector_weight D d x i k * (stretch D K k * z k c)
    + (if k =? i then residual D * z k c else 0))).
  - rewrite sum_plus, (sum_delta i (fun k => residual D * z k c)) by lia. ring.
  - intros k Hk. rewrite vector_weight_is by lia. rewrite (Nat.eqb_sym i k). destruct (k =? i); ring.
Qed.

Lemma relevant_attend i c : (1 <= i)%nat -> (1 <= c <= d)%nat ->
  relevant D d (attend D d x) i c = sum (fun k => layer_mix D K i k * z k c) i.
Proof.
  intros Hi Hc. rewrite <- mixed_is by exact Hi.
  assert (E : sum (fun j => vector_weight D d x i j * normalised D d x j c) i
    = sum (fun j => vector_weight D d x i j * (stretch D K j * z j c)) i)
    by (apply sum_ext; intros; rewrite normalised_is; reflexivity).
  assert (Z : forall k c, z k c = match norm D with LayerNorm _ => centred d x k c | _ => x k c end)
    by (intros; unfold relevant; destruct (norm D); reflexivity).
  transitivity (match norm D with LayerNorm _ => centred d (attend D d x) i c | _ => attend D d x i c end);
    [unfold relevant; destruct (norm D); reflexivity|].
  rewrite (Z i c). destruct (norm D) as [|w|] eqn:Nm.
  - unfold attend. rewrite E. reflexivity.
  - unfold centred at 1. unfold attend at 1. rewrite E. unfold attend. rewrite sum_plus, sum_scal.
    rewrite (sum_comm (fun c0 j => vector_weight D d x i j * normalised D d x j c0)).
    rewrite (sum_ext (fun l => sum (fun k => _ * normalised D d x l k) d) (fun _ => 0) i), sum_zero.
    + unfold centred. change (fun k => x i k) with (x i). unfold Rdiv. ring.
    + intros k Hk. rewrite (sum_scal (vector_weight D d x i k)).
      rewrite (sum_ext _ (fun c0 => stretch D K k * centred d x k c0))
        by (intros; rewrite normalised_is, Z; reflexivity).
      rewrite sum_scal. change (fun c0 => centred d x k c0) with (centred d x k).
      rewrite (sum_centred d x k d_pos). ring.
  - unfold attend. rewrite E. reflexivity.
Qed.

Theorem gram_of_layer i j : (1 <= i)%nat -> (1 <= j)%nat ->
  inner d (relevant D d (attend D d x)) i j = layer_gram D K i j.
Proof.
  intros Hi Hj. unfold layer_gram. rewrite <- inner_mix. unfold inner. apply sum_ext. intros c Hc.
  rewrite !relevant_attend by assumption. reflexivity.
Qed.
End Layer.

(** ** Any number of layers *)

Section Stack.
Variables (D : decoder) (d : nat) (x : vectors).
Hypothesis d_pos : (1 <= d)%nat.
Notation K := (inner d (relevant D d x)).

Theorem gram_of_stack layers i j : (1 <= i)%nat -> (1 <= j)%nat ->
  inner d (relevant D d (stack D d x layers)) i j = Gram D K layers i j.
Proof.
  revert i j. induction layers as [|l IH]; intros i j Hi Hj; [reflexivity|].
  change (inner d (relevant D d (attend D d (stack D d x l))) i j = layer_gram D (Gram D K l) i j).
  rewrite gram_of_layer by assumption.
  apply (layer_gram_ext D _ _ (Nat.max i j)); try lia. intros a c Ha Hc. apply IH; lia.
Qed.

Theorem score_of_stack layer i j : (1 <= layer)%nat -> (1 <= i)%nat -> (1 <= j)%nat ->
  vector_score D d (stack D d x (layer - 1)) i j = Score D K layer i j.
Proof.
  intros L Hi Hj. rewrite vector_score_is. unfold Score, layer_score, stretch.
  rewrite !gram_of_stack by assumption. reflexivity.
Qed.

Theorem weight_of_stack layer i j : (1 <= layer)%nat -> (1 <= j <= i)%nat ->
  vector_weight D d (stack D d x (layer - 1)) i j = Weight D K layer i j.
Proof.
  intros L H. unfold vector_weight, Weight, layer_weight. apply softmax_ext; [|exact H].
  intros k Hk. rewrite score_of_stack by lia. reflexivity.
Qed.
End Stack.

(** ** From the inner products of the tokens that are there

    Scores of n tokens depend on the inner products of these tokens alone. *)

Section Given.
Variables (D : decoder) (d : nat) (x : vectors) (K : matrix) (n : nat).
Hypothesis d_pos : (1 <= d)%nat.
Hypothesis given : forall i j, (1 <= i <= n)%nat -> (1 <= j <= n)%nat -> inner d (relevant D d x) i j = K i j.

Lemma gram_of_given layers i j : (1 <= i <= n)%nat -> (1 <= j <= n)%nat ->
  inner d (relevant D d (stack D d x layers)) i j = Gram D K layers i j.
Proof.
  intros Hi Hj. rewrite gram_of_stack by lia. revert i j Hi Hj. induction layers as [|l IH]; [exact given|].
  exact (layer_gram_ext D _ _ n IH).
Qed.

Theorem score_of_given layer i j : (1 <= layer)%nat -> (1 <= i <= n)%nat -> (1 <= j <= n)%nat ->
  vector_score D d (stack D d x (layer - 1)) i j = Score D K layer i j.
Proof.
  intros L Hi Hj. rewrite vector_score_is. unfold Score, layer_score, stretch.
  rewrite !gram_of_given by assumption. reflexivity.
Qed.
End Given.

(** In R^0 there are none. *)
Lemma width_of_inputs alpha n d x : are_equicorrelated alpha n d x -> (1 <= n)%nat -> (1 <= d)%nat.
Proof.
  intros X N. destruct d; [|lia]. specialize (X 1%nat 1%nat ltac:(lia) ltac:(lia)).
  rewrite equicorrelated_self in X. unfold inner in X. simpl in X. lra.
Qed.

(** ** Equicorrelated vectors exist: in R^d from d = n on, centred ones from d = n + 1 on *)

(** Coordinates that are 0. *)
Lemma padded (n d : nat) (x : vectors) : (n <= d)%nat -> let x' := fun i c => if c <=? n then x i c else 0 in
  (forall i j, inner d x' i j = inner n x i j) /\ (forall i, sum (x' i) d = sum (x i) n).
Proof.
  intros H x'. split; [intros i j; unfold inner|intro i]; rewrite <- (sum_restrict _ d n H); apply sum_ext;
    intros c _; unfold x'; destruct (c <=? n); ring.
Qed.

Lemma equicorrelated_square (n : nat) (alpha : R) : (1 <= n)%nat -> alpha <= 1 -> 0 <= 1 + (INR n - 1) * alpha ->
  exists x, are_equicorrelated alpha n n x.
Proof.
  intros Hn A E. assert (N : 0 < INR n) by (apply (lt_INR 0); lia).
  set (a := sqrt (1 - alpha)). set (b := (sqrt (1 + (INR n - 1) * alpha) - a) / INR n).
  assert (A2 : a * a = 1 - alpha) by (apply sqrt_sqrt; lra).
  assert (S2 : sqrt (1 + (INR n - 1) * alpha) * sqrt (1 + (INR n - 1) * alpha) = 1 + (INR n - 1) * alpha)
    by (apply sqrt_sqrt; exact E).
  assert (B : 2 * a * b + INR n * (b * b) = alpha).
  { replace (2 * a * b + INR n * (b * b)) with (((a + INR n * b) * (a + INR n * b) - a * a) / INR n) by (field; lra).
    replace (a + INR n * b) with (sqrt (1 + (INR n - 1) * alpha)) by (unfold b; field; lra).
    rewrite S2, A2. field. lra. }
  exists (fun i c => (if c =? i then a else 0) + b). intros i j Hi Hj. unfold inner.
  rewrite (sum_ext _ (fun c => (if c =? i then (if i =? j then a * a else 0) + a * b else 0)
    + ((if c =? j then a * b else 0) + b * b))).
  - rewrite !sum_plus, (sum_delta i (fun _ => (if i =? j then a * a else 0) + a * b)),
      (sum_delta j (fun _ => a * b)), sum_const by assumption.
    unfold equicorrelated. destruct (i =? j); lra.
  - clear B S2 A2. clearbody b. clearbody a. intros c Hc.
    destruct (Nat.eqb_spec c i); destruct (Nat.eqb_spec c j); destruct (Nat.eqb_spec i j); try (exfalso; lia); ring.
Qed.

Theorem equicorrelated_exist (n d : nat) (alpha : R) :
  (1 <= n <= d)%nat -> alpha <= 1 -> 0 <= 1 + (INR n - 1) * alpha ->
  exists x, are_equicorrelated alpha n d x.
Proof.
  intros [Hn Hd] A E. destruct (equicorrelated_square n alpha Hn A E) as [x X].
  exists (fun i c => if c <=? n then x i c else 0). intros i j Hi Hj.
  rewrite (proj1 (padded n d x Hd)). apply X; assumption.
Qed.

Lemma centred_of_sum_zero d x i c : sum (x i) d = 0 -> centred d x i c = x i c.
Proof. intro H. unfold centred. rewrite H. unfold Rdiv. ring. Qed.

(** In the hyperplane of R^(n+1): a e_i + p in the coordinates up to n, and q in the last. *)
Theorem equicorrelated_centred_exist (n d : nat) (alpha : R) :
  (1 <= n < d)%nat -> alpha <= 1 -> 0 <= 1 + (INR n - 1) * alpha ->
  exists x, are_equicorrelated alpha n d (centred d x).
Proof.
  intros [Hn Hd] A E. assert (N : 0 < INR n) by (apply (lt_INR 0); lia). set (m := INR n + 1).
  set (a := sqrt (1 - alpha)). set (t := sqrt (m * (1 + (INR n - 1) * alpha))). set (b := (t - a) / INR n).
  set (p := (b - a) / m). set (q := - (a + INR n * b) / m).
  assert (A2 : a * a = 1 - alpha) by (apply sqrt_sqrt; lra).
  assert (T2 : t * t = m * (1 + (INR n - 1) * alpha)) by (apply sqrt_sqrt, Rmult_le_pos; [unfold m; lra|exact E]).
  assert (S : a + INR n * p + q = 0) by (unfold p, q, m; field; lra).
  assert (B : 2 * a * p + INR n * (p * p) + q * q = alpha).
  { replace (2 * a * p + INR n * (p * p) + q * q) with ((t * t - m * (a * a)) / (m * INR n))
      by (unfold p, q, b, m; field; lra).
    rewrite T2, A2. unfold m. field. lra. }
  set (x := fun i c => if c =? n + 1 then q else (if c =? i then a else 0) + p).
  destruct (padded (n + 1) d x ltac:(lia)) as [I Z]. exists (fun i c => if c <=? n + 1 then x i c else 0).
  assert (split : forall f, sum f (n + 1) = sum f n + f (n + 1)%nat)
    by (intro; rewrite sum_last by lia; do 2 f_equal; lia).
  assert (C : forall i, (1 <= i <= n)%nat -> sum (x i) (n + 1) = 0).
  { intros i Hi. rewrite split. rewrite (sum_ext (x i) (fun c => (if c =? i then a else 0) + p)).
    - rewrite sum_plus, (sum_delta i (fun _ => a)), sum_const by exact Hi. unfold x. rewrite Nat.eqb_refl. exact S.
    - intros c Hc. unfold x. rewrite (proj2 (Nat.eqb_neq c (n + 1))) by lia. reflexivity. }
  intros i j Hi Hj. transitivity (inner (n + 1) x i j).
  - rewrite <- I. unfold inner. apply sum_ext. intros c _.
    rewrite !centred_of_sum_zero by (rewrite Z; apply C; assumption). reflexivity.
  - unfold inner. rewrite split. unfold x at 3 4. rewrite Nat.eqb_refl.
    rewrite (sum_ext _ (fun c => (if c =? i then (if i =? j then a * a else 0) + a * p else 0)
      + ((if c =? j then a * p else 0) + p * p))).
    + rewrite !sum_plus, (sum_delta i (fun _ => (if i =? j then a * a else 0) + a * p)),
        (sum_delta j (fun _ => a * p)), sum_const by assumption. unfold equicorrelated. destruct (i =? j); lra.
    + intros c Hc. unfold x. rewrite (proj2 (Nat.eqb_neq c (n + 1))) by lia.
      destruct (Nat.eqb_spec c i); destruct (Nat.eqb_spec c j); destruct (Nat.eqb_spec i j); try (exfalso; lia); ring.
Qed.
