(** * The steps of the kernel

    One lemma or tactic for each rule of the kernel that proves what the exported derivations say. Nothing here is
    trusted: a lemma is proved, and a tactic can only fail. *)

From Coq Require Export Reals Lra Lia Psatz Arith ZArith.
From Coquelicot Require Export Coquelicot.
From Interval Require Export Tactic.
From Maskproof Require Import Layers Order Independence Minors.
From Maskproof Require Export Attention Sums.
Open Scope R_scope.
Notation sum := Attention.sum.

(** ** What is understood of inputs *)

(** n inputs exist and are linearly independent; of a single one nothing is asked, as it has no cosine with another. *)
Definition inputs_independent (alpha : R) (n : nat) : Prop :=
  (2 <= n)%nat -> alpha < 1 /\ 0 < 1 + (INR n - 1) * alpha.

Lemma inputs_definite alpha n : inputs_independent alpha n -> definite n (equicorrelated alpha).
Proof.
  intro E. destruct n as [|[|n]].
  - intros v [k [K _]]. lia.
  - intros v [k [K V]]. replace k with 1%nat in V by lia. unfold quadratic. simpl.
    rewrite equicorrelated_self, !Rplus_0_l, Rmult_1_r. apply (Rsqr_pos_lt _ V).
  - apply equicorrelated_definite; apply E; lia.
Qed.

(** They are, and no vector that is normalised up to this layer vanishes. *)
Definition have_directions (D : decoder) (alpha : R) (layer count : nat) : Prop :=
  inputs_independent alpha count /\
  forall l k, (l < layer)%nat -> (1 <= k <= count)%nat -> 0 < Gram D (equicorrelated alpha) l k k.

(** ** The definition of the layer, line by line ---------------------------------------------------- *)
Section Lines.
Variables (nm : normalisation) (scale beta lam alpha : R).
Notation D := (Decoder nm scale beta lam Causal).
Notation K := (equicorrelated alpha).
Notation G := (Gram D K).
Notation S := (Score D K).
Notation A := (Weight D K).
Notation M := (Mix D K).
Lemma input_self i : K i i = 1. Proof. apply equicorrelated_self. Qed.
Lemma input_other i j : i <> j -> K i j = alpha.
Proof. apply equicorrelated_other. Qed.
Lemma Score_is n i j : S n i j = stretch D (G (n - 1)) i * stretch D (G (n - 1)) j * G (n - 1) i j / scale.
Proof. reflexivity. Qed.
Lemma Weight_is n i j : (j <= i)%nat -> A n i j = exp (beta * S n i j) / sum (fun k => exp (beta * S n i k)) i.
Proof. intro H. apply (softmax_causal beta (S n) i j H). Qed.
Lemma Mix_self n i : M n i i = A n i i * stretch D (G (n - 1)) i + lam.
Proof. unfold Mix, layer_mix, Weight. rewrite Nat.eqb_refl. reflexivity. Qed.
Lemma Mix_other n i j : (j < i)%nat -> M n i j = A n i j * stretch D (G (n - 1)) j.
Proof. intro H. unfold Mix, layer_mix, Weight. destruct (Nat.eqb_spec i j); [lia|]. apply Rplus_0_r. Qed.
Lemma Gram_is n p i j : p = (n - 1)%nat -> (1 <= n)%nat ->
  G n i j = sum (fun l => sum (fun k => M n i k * M n j l * G p k l) i) j.
Proof.
  intros -> H. destruct n as [|n]; [lia|]. unfold Mix. simpl. rewrite Nat.sub_0_r. unfold layer_gram. apply sum_comm.
Qed.
End Lines.
(* the layer before l + 1 is l *)
Ltac by_definition law := rewrite law by lia; rewrite ?Nat.add_sub; reflexivity.

(** A layer keeps inputs linearly independent: so no vector vanishes. *)
Section Directions.
Variables (D : decoder) (alpha : R).
Hypothesis (causal : mask D = Causal) (residual_ge : 0 <= residual D).
Definition wide := match norm D with LayerNorm d => (1 <= d)%nat | _ => True end.
Hypothesis width_ge : wide.

Lemma stretch_positive K i : 0 < K i i -> 0 < stretch D K i.
Proof.
  intro P. unfold stretch. unfold wide in width_ge. destruct (norm D); [| |lra];
    apply Rdiv_lt_0_compat; try (apply sqrt_lt_R0; exact P); [lra|]. apply sqrt_lt_R0. apply (lt_INR 0). lia.
Qed.

Lemma mix_positive K i : (1 <= i)%nat -> 0 < K i i -> 0 < layer_mix D K i i.
Proof.
  intros H P. unfold layer_mix. rewrite Nat.eqb_refl. apply Rplus_lt_le_0_compat; [|exact residual_ge].
  apply Rmult_lt_0_compat; [|apply stretch_positive; exact P]. unfold layer_weight. rewrite causal.
  rewrite softmax_causal by lia. apply Rdiv_lt_0_compat; [apply exp_pos|]. apply sum_pos; [exact H|]. intros; apply exp_pos.
Qed.

Lemma definite_layers n : inputs_independent alpha n -> forall layers, definite n (Gram D (equicorrelated alpha) layers).
Proof.
  intro A. induction layers as [|l IH]; [apply inputs_definite; exact A|].
  apply definite_layer; [exact IH|]. intros k Hk. apply mix_positive; [lia|]. apply (definite_diagonal n); assumption.
Qed.

Lemma directions_of layer count : inputs_independent alpha count -> have_directions D alpha layer count.
Proof.
  intro A. split; [exact A|]. intros l k _ Hk. apply (definite_diagonal count); [|exact Hk]. apply definite_layers; assumption.
Qed.
End Directions.

Lemma symmetric_rule D alpha layer i j : Gram D (equicorrelated alpha) layer i j = Gram D (equicorrelated alpha) layer j i.
Proof. apply Gram_symmetric, equicorrelated_symmetric. Qed.

Lemma norm_rule D alpha layer next i : have_directions D alpha next i -> (layer < next)%nat -> (1 <= i)%nat ->
  0 < Gram D (equicorrelated alpha) layer i i.
Proof. intros [_ P] N H. apply P; lia. Qed.

(* in layer one the inputs themselves are independent *)
Lemma independence_rule beta lam alpha layer i j : 0 <= lam -> inputs_independent alpha i -> (1 <= j < i)%nat ->
  Score (Decoder L2 1 beta lam Causal) (equicorrelated alpha) layer i j < 1.
Proof.
  intros L A H. unfold Score. rewrite (layer_score_l2 beta lam). apply (cosine_below_one i); try lia.
  - apply definite_layers; [reflexivity|exact L|exact I|exact A].
  - apply Gram_symmetric, equicorrelated_symmetric.
Qed.

(** ** Induction over the layer *)
Lemma induction_rule (b : nat) (P : nat -> Prop) : P b ->
  (forall n, (Z.of_nat b <= Z.of_nat n)%Z -> P n -> P (n + 1)%nat) -> forall n, (Z.of_nat b <= Z.of_nat n)%Z -> P n.
Proof.
  intros B N n. induction n as [|n IH]; intro H.
  - replace O with b by lia. exact B.
  - destruct (Nat.eq_dec b (S n)) as [<-|C]; [exact B|]. rewrite <- Nat.add_1_r. apply N; [lia|]. apply IH. lia.
Qed.

(* sum_l sum_k a_k b_l K_kl *)
Lemma equicorrelated_double alpha a b i j : (j <= i)%nat ->
  sum (fun l => sum (fun k => a k * b l * equicorrelated alpha k l) i) j
  = alpha * sum a i * sum b j + (1 - alpha) * sum (fun k => a k * b k) j.
Proof. intro H. rewrite sum_comm. apply equicorrelated_sum. exact H. Qed.

(** ** Mean value theorem *)
Lemma decreasing_on f : (forall m, 0 <= m -> ex_derive f m /\ Derive f m < 0) ->
  forall x y, 0 <= x -> x < y -> f y < f x.
Proof.
  intros H x y X L. destruct (MVT_gen f x y (Derive f)) as [c [C E]].
  - intros z Z. rewrite Rmin_left, Rmax_right in Z by lra. apply Derive_correct, H; lra.
  - intros z Z. rewrite Rmin_left, Rmax_right in Z by lra. apply continuity_pt_filterlim.
    apply (ex_derive_continuous f z), H; lra.
  - rewrite Rmin_left, Rmax_right in C by lra. destruct (H c ltac:(lra)) as [_ D].
    assert (Derive f c * (y - x) < 0) by (apply Ropp_lt_cancel; rewrite Ropp_0, Ropp_mult_distr_l; apply Rmult_lt_0_compat; lra). lra.
Qed.

(** ** Limits *)
Lemma rational_limit (f : nat -> R) (g : R -> R) (c : R) (N : nat) :
  (forall i, (N <= i)%nat -> (1 <= i)%nat -> g (/ INR i) = f i) -> ex_derive g 0 -> g 0 = c -> is_lim_seq f c.
Proof.
  intros E D <-. apply (is_lim_seq_ext_loc (fun i => g (/ INR i))).
  - exists (N + 1)%nat. intros i H. apply E; lia.
  - apply is_lim_seq_continuous.
    + apply continuity_pt_filterlim. apply (ex_derive_continuous g 0 D).
    + apply (is_lim_seq_inv INR p_infty); [apply is_lim_seq_INR|discriminate].
Qed.
Lemma lim_eventually (f g : nat -> R) (c : Rbar) (N : nat) :
  (forall i, (N <= i)%nat -> (1 <= i)%nat -> f i = g i) -> is_lim_seq g c -> is_lim_seq f c.
Proof.
  intros E L. apply (is_lim_seq_ext_loc g); [|exact L]. exists (N + 1)%nat. intros i H. symmetry. apply E; lia.
Qed.
Lemma limit_by (f g : nat -> R) (c d : R) (N : nat) :
  (forall i, (N <= i)%nat -> (1 <= i)%nat -> f i = g i) -> c = d -> is_lim_seq g c -> is_lim_seq f d.
Proof. intros E <-. apply lim_eventually with (N := N). exact E. Qed.
Lemma lim_inv (f : nat -> R) (c : R) : is_lim_seq f c -> c <> 0 -> is_lim_seq (fun i => / f i) (/ c).
Proof. intros L N. apply (is_lim_seq_inv f c); [exact L|]. intro E. apply N. injection E. auto. Qed.
Lemma lim_sqrt (f : nat -> R) (c : R) : is_lim_seq f c -> is_lim_seq (fun i => sqrt (f i)) (sqrt c).
Proof.
  intro L. apply is_lim_seq_continuous; [|exact L]. apply continuity_pt_filterlim, continuous_sqrt.
Qed.
Lemma lim_pow (f : nat -> R) (c : R) (n : nat) : is_lim_seq f c -> is_lim_seq (fun i => f i ^ n) (c ^ n).
Proof. intro L. induction n as [|n IH]; simpl; [apply is_lim_seq_const|apply is_lim_seq_mult'; assumption]. Qed.
Lemma lim_exp (f : nat -> R) (c : R) : is_lim_seq f c -> is_lim_seq (fun i => exp (f i)) (exp c).
Proof.
  intro L. apply is_lim_seq_continuous; [|exact L].
  apply derivable_continuous_pt, derivable_pt_exp.
Qed.
Lemma lim_of_square (f : nat -> R) : is_lim_seq (fun i => f i ^ 2) 0 -> is_lim_seq f 0.
Proof.
  intro L. apply is_lim_seq_abs_0. apply (is_lim_seq_ext (fun i => sqrt (f i ^ 2))).
  - intro i. rewrite <- Rsqr_pow2. apply sqrt_Rsqr_abs.
  - rewrite <- sqrt_0. apply lim_sqrt. exact L.
Qed.
Ltac limit_algebra := lazymatch goal with
  | |- is_lim_seq (fun _ => ?c) _ => apply is_lim_seq_const
  | H : is_lim_seq ?f _ |- is_lim_seq ?f _ => exact H
  | |- is_lim_seq (fun n => @?f n + @?g n) _ => apply is_lim_seq_plus'; limit_algebra
  | |- is_lim_seq (fun n => @?f n - @?g n) _ => apply is_lim_seq_minus'; limit_algebra
  | |- is_lim_seq (fun n => @?f n * @?g n) _ => apply is_lim_seq_mult'; limit_algebra
  | |- is_lim_seq (fun n => @?f n / @?g n) _ => unfold Rdiv; apply is_lim_seq_mult'; limit_algebra
  | |- is_lim_seq (fun n => / @?f n) _ => apply lim_inv; [limit_algebra|]
  | |- is_lim_seq (fun n => sqrt (@?f n)) _ => apply lim_sqrt; limit_algebra
  | |- is_lim_seq (fun n => @?f n ^ ?k) _ => apply lim_pow; limit_algebra
  | |- is_lim_seq (fun n => exp (@?f n)) _ => apply lim_exp; limit_algebra
  end.

(** ** Arithmetic of positions *)
Lemma le_real a b : (a <= b)%Z -> IZR a <= IZR b. Proof. apply IZR_le. Qed.
Lemma INR_3 : INR 3 = 3. Proof. simpl. lra. Qed.
Lemma INR_4 : INR 4 = 4. Proof. simpl. lra. Qed.
Ltac push_INR := repeat (first [rewrite mult_INR | rewrite plus_INR | rewrite minus_INR by lia]);
  change (INR 1) with 1; change (INR 2) with 2; change (INR 0) with 0; rewrite ?INR_3, ?INR_4.
Ltac push_INR_in H := repeat (first [rewrite mult_INR in H | rewrite plus_INR in H | rewrite minus_INR in H by lia]);
  change (INR 1) with 1 in H; change (INR 2) with 2 in H; change (INR 0) with 0 in H; rewrite ?INR_3, ?INR_4 in H.
Ltac real_of H := rewrite ?plus_IZR, ?minus_IZR, ?mult_IZR, ?opp_IZR, <- ?INR_IZR_INZ in H.
(* what is known of integers, as real numbers: least values, and one between those that differ *)
Definition done (P : Prop) := True.
Ltac mark P := lazymatch goal with | _ : done P |- _ => fail | _ => let D := fresh "done" in assert (D : done P) by exact I end.
Ltac reals :=
  repeat match goal with
  | H : (1 <= ?x)%nat |- _ => mark constr:((1 <= x)%nat); let N := fresh "real" in assert (N : 1 <= INR x) by (apply (le_INR 1); exact H)
  | H : (?a < ?b)%Z |- _ => mark constr:((a < b)%Z); let N := fresh "real" in assert (N : (a + 1 <= b)%Z) by lia; apply IZR_le in N; real_of N
  | H : (?a <= ?b)%Z |- _ => mark constr:((a <= b)%Z); let N := fresh "real" in assert (N : (a <= b)%Z) by lia; apply IZR_le in N; real_of N
  | H : @eq Z ?a ?b |- _ => mark constr:((a = b)); let N := fresh "real" in assert (N : IZR a = IZR b) by (f_equal; exact H); real_of N
  end.

(** ** Signs that can be seen: non-negative coefficients, and facts about the letters *)
Ltac manifest := first [assumption | (left; assumption) | lazymatch goal with
  | |- 0 < exp _ => apply exp_pos
  | |- 0 <= exp _ => left; apply exp_pos
  | |- 0 < _ + _ => first [apply Rplus_lt_le_0_compat; [manifest|manifest] | apply Rplus_le_lt_0_compat; [manifest|manifest]]
  | |- 0 <= _ + _ => apply Rplus_le_le_0_compat; manifest
  | |- 0 < _ * _ => apply Rmult_lt_0_compat; manifest
  | |- 0 <= _ * _ => apply Rmult_le_pos; manifest
  | |- 0 < _ / _ => apply Rdiv_lt_0_compat; manifest
  | |- 0 <= _ / _ => apply Rmult_le_pos; [manifest|left; apply Rinv_0_lt_compat; manifest]
  | |- 0 < / _ => apply Rinv_0_lt_compat; manifest
  | |- 0 <= / _ => left; apply Rinv_0_lt_compat; manifest
  | |- 0 < _ ^ _ => apply pow_lt; manifest
  | |- 0 <= _ ^ _ => apply pow_le; manifest
  | |- 0 <= sqrt _ => apply sqrt_pos
  | |- 0 < sqrt _ => apply sqrt_lt_R0; manifest
  | |- 0 < IZR _ => lra
  | |- 0 <= IZR _ => lra
  end].

Ltac base := first [assumption | lra | (push_INR; lra)].
Ltac pos := first [base | lazymatch goal with
  | |- 0 < exp _ => apply exp_pos
  | |- 0 <= exp _ => left; apply exp_pos
  | |- 0 < sqrt _ => apply sqrt_lt_R0; pos
  | |- 0 <= sqrt _ => apply sqrt_pos
  | |- 0 < _ * _ => apply Rmult_lt_0_compat; pos
  | |- 0 <= _ * _ => apply Rmult_le_pos; pos
  | |- 0 < / _ => apply Rinv_0_lt_compat; pos
  | |- 0 <= / _ => apply Rlt_le, Rinv_0_lt_compat; pos
  | |- 0 < _ / _ => apply Rdiv_lt_0_compat; pos
  | |- 0 <= _ / _ => unfold Rdiv; pos
  | |- 0 < _ ^ _ => apply pow_lt; pos
  | |- 0 <= _ ^ 2 => apply pow2_ge_0
  | |- 0 <= _ ^ _ => apply pow_le; pos
  | |- 0 < _ + _ => first [apply Rplus_lt_le_0_compat; pos | apply Rplus_le_lt_0_compat; pos]
  | |- 0 <= _ + _ => apply Rplus_le_le_0_compat; pos
  | |- _ > 0 => apply Rlt_gt; pos
  end].
Lemma nonzero_of a b : b <> 0 -> a = b -> a <> 0. Proof. intros H ->. exact H. Qed.
Lemma nonzero_over a b i n : b <> 0 -> INR i <> 0 -> a = b / INR i ^ n -> a <> 0.
Proof.
  intros B I ->. apply Rmult_integral_contrapositive_currified; [exact B|]. apply Rinv_neq_0_compat, pow_nonzero. exact I.
Qed.
Lemma nonzero_neg a b : b <> 0 -> a = - b -> a <> 0. Proof. intros H ->. lra. Qed.
Lemma positive_nonzero x : 0 < x -> x <> 0. Proof. lra. Qed.
Lemma negative_nonzero x : 0 < - x -> x <> 0. Proof. lra. Qed.
Ltac nonzero := first [assumption
  | lazymatch goal with |- exp _ <> 0 => apply positive_nonzero, exp_pos end
  | match goal with N : ?b <> 0 |- ?a <> 0 => apply (nonzero_of a b N); ring end
  | match goal with P : 0 < ?b |- ?a <> 0 => apply positive_nonzero; replace a with b by ring; exact P end
  | lra
  | lazymatch goal with
    | |- _ * _ <> 0 => apply Rmult_integral_contrapositive_currified; nonzero
    | |- _ ^ _ <> 0 => apply pow_nonzero; nonzero
    | |- sqrt _ <> 0 => apply positive_nonzero, sqrt_lt_R0; first [assumption | lra | pos]
    end
  | (apply positive_nonzero; pos)].
Ltac side := repeat split; nonzero.

(** ** Equations *)
Lemma exp_power x n : exp x ^ n = exp (INR n * x).
Proof. induction n as [|n IH]; [simpl; rewrite Rmult_0_l, exp_0; reflexivity|]. rewrite S_INR. simpl. rewrite IH, <- exp_plus. f_equal. ring. Qed.
Ltac exponents := unfold Rdiv; rewrite ?Rmult_1_l, ?exp_power, <- ?exp_Ropp, <- ?exp_plus; f_equal; cbn [INR]; first [ring | field; side | push_INR; first [ring | field; side]].
(* a denominator that need not be known not to vanish: / (a b) is / a / b whatever a and b are *)
Ltac inverses := unfold Rdiv; rewrite ?Rinv_mult, ?pow_inv, ?Rinv_inv; ring.
Ltac equal := first [reflexivity | ring | (field; side) | inverses].
Ltac equation := first [equal | (push_INR; equal)].
(* a sum in another form *)
Ltac sums := apply sum_ext; let k := fresh "k" in intros k [? ?]; first [equation | sums].
(* two forms of one statement *)
Ltac transport H := first [exact H | (push_INR_in H; push_INR; first [exact H | lra | lia |
  lazymatch type of H with
  | ?a = ?b => lazymatch goal with |- ?c = ?d => transitivity a; [equation | transitivity b; [exact H | equation]] end
  | ?a < ?b => lazymatch goal with |- ?c < ?d => replace c with a by equation; replace d with b by equation; exact H end
  | ?a <= ?b => lazymatch goal with |- ?c <= ?d => replace c with a by equation; replace d with b by equation; exact H end
  | ?a <> ?b => lazymatch goal with |- ?c <> ?d => replace c with a by equation; replace d with b by equation; exact H end
  end])].
Lemma independent_sign alpha n : inputs_independent alpha n -> (1 <= n)%nat -> 0 < 1 + (INR n - 1) * alpha.
Proof. intros H N. destruct (Nat.eq_dec n 1) as [->|E]; [simpl; lra|apply H; lia]. Qed.
(* alpha < 1, or 1 + (n-1) alpha > 0, from independent inputs *)
Ltac eigenvalue H := first
  [ let E := fresh in pose proof (independent_sign _ _ H ltac:(lia)) as E; push_INR_in E; push_INR; lra
  | let E := fresh in pose proof (proj1 (H ltac:(lia))) as E; lra ].
Ltac available := first [assumption | lia | lra | (push_INR; lra)].

(** ** Order *)
Lemma less_of a b : 0 < b - a -> a < b. Proof. lra. Qed.
Lemma at_most_of a b : 0 <= b - a -> a <= b. Proof. lra. Qed.
Lemma unequal_of a b : b - a <> 0 -> a <> b. Proof. intros H ->. apply H. ring. Qed.
Lemma exp_lt x y : 0 < y - x -> exp x < exp y. Proof. intro H. apply exp_increasing. lra. Qed.
Lemma exp_le x y : 0 <= y - x -> exp x <= exp y.
Proof. intro H. destruct (Req_dec x y) as [->|N]; [lra|]. left; apply exp_increasing; lra. Qed.
Lemma root_lt a b : 0 <= a -> 0 < b - a -> sqrt a < sqrt b. Proof. intros A B. apply sqrt_lt_1_alt. lra. Qed.
Lemma square_eq a b : 0 <= a -> 0 <= b -> a ^ 2 = b ^ 2 -> a = b.
Proof. intros A B E. destruct (Rtotal_order a b) as [L|[L|L]]; [exfalso|exact L|exfalso]; nra. Qed.
Lemma product_lt a b c : 0 < c -> a / c < b / c -> a < b.
Proof. intros P H. apply (Rmult_lt_compat_r c) in H; [|exact P]. unfold Rdiv in H. rewrite !Rmult_assoc, Rinv_l, !Rmult_1_r in H by lra. exact H. Qed.
Lemma independent_fewer alpha a b : inputs_independent alpha b -> (a <= b)%nat -> inputs_independent alpha a.
Proof.
  intros I H N. destruct (I ltac:(lia)) as [A E]. split; [exact A|]. apply (Order.independent_before alpha b a); [lia|exact E].
Qed.
Lemma independent_nonneg alpha n : 0 <= alpha -> 0 < 1 - alpha -> inputs_independent alpha n.
Proof. intros A B N. split; [lra|]. apply (Order.independent_nonneg alpha n); [lia|exact A]. Qed.
Lemma independent_eigenvalue alpha n : 0 < 1 - alpha -> 0 < 1 + (INR n - 1) * alpha -> inputs_independent alpha n.
Proof. intros A B N. split; [lra|exact B]. Qed.
Lemma sub_lt a b : a < b -> 0 < b - a. Proof. lra. Qed.
Lemma sub_le a b : a <= b -> 0 <= b - a. Proof. lra. Qed.
Lemma weaken x : 0 < x -> 0 <= x. Proof. lra. Qed.
Lemma below_zero a : 0 < -1 * a -> a < 0. Proof. lra. Qed.
Lemma at_most_zero a : 0 <= -1 * a -> a <= 0. Proof. lra. Qed.
Lemma negative_unequal a : 0 < -1 * a -> a <> 0. Proof. lra. Qed.
Lemma exp_zero x : x = 0 -> exp x = 1. Proof. intros ->. apply exp_0. Qed.
Lemma root_of a b : 0 <= a -> 0 <= b -> b * b = a -> sqrt a = b. Proof. intros A B E. rewrite <- E. apply sqrt_square. exact B. Qed.
Lemma even_nonnegative x n : Nat.even n = true -> 0 <= x ^ n.
Proof.
  intro E. apply Nat.even_spec in E. destruct E as [m ->]. rewrite Nat.mul_comm, Nat.mul_comm.
  rewrite pow_mult. apply pow_le. apply pow2_ge_0.
Qed.
Lemma even_positive x n : Nat.even n = true -> x <> 0 -> 0 < x ^ n.
Proof.
  intros E N. destruct (even_nonnegative x n E) as [L|Z]; [exact L|]. exfalso. apply (pow_nonzero x n N). symmetry. exact Z.
Qed.
(* each radicand a letter of its own *)
Ltac abstract_roots := repeat match goal with |- context [sqrt ?a] => tryif is_var a then fail else (
  let x := fresh "x" in set (x := a) in *; clearbody x) end.
Lemma quotient_lt a b c : 0 < c -> 0 < a -> a < b -> c / b < c / a.
Proof. intros C A L. unfold Rdiv. apply Rmult_lt_compat_l; [exact C|]. apply Rinv_lt_contravar; [nra|exact L]. Qed.
Lemma quotient_gt a b c : 0 < 0 - c -> 0 < a -> a < b -> c / a < c / b.
Proof. intros C A L. assert (- c / b < - c / a) by (apply quotient_lt; lra). unfold Rdiv in *. lra. Qed.
Lemma minors_rule nm scale beta lam alpha p n : n = (p + 1)%nat ->
  let D := Decoder nm scale beta lam Causal in
  let G := Gram D (equicorrelated alpha) in
  let M := Mix D (equicorrelated alpha) n in
  (forall i k j l, (1 <= i)%nat -> (1 <= k)%nat -> (1 <= j)%nat -> (1 <= l)%nat -> (Z.of_nat i < Z.of_nat k)%Z -> (Z.of_nat j < Z.of_nat l)%Z ->
    G p i l * G p k j <= G p i j * G p k l) ->
  (forall i j, (1 <= i)%nat -> (1 <= j)%nat -> (Z.of_nat j <= Z.of_nat i)%Z -> 0 <= M i j) ->
  (forall i k j l, (1 <= i)%nat -> (1 <= k)%nat -> (1 <= j)%nat -> (1 <= l)%nat -> (Z.of_nat i < Z.of_nat k)%Z -> (Z.of_nat j < Z.of_nat l)%Z -> (Z.of_nat l <= Z.of_nat i)%Z ->
    M i l * M k j <= M i j * M k l) ->
  forall i k j l, (1 <= i < k)%nat -> (1 <= j < l)%nat -> G n i l * G n k j <= G n i j * G n k l.
Proof.
  rewrite Nat.add_1_r. intros -> D G M HG HP HM i k j l Hi Hj.
  assert (E : layer_mix D (G p) = M) by (unfold M, Mix; simpl; rewrite Nat.sub_0_r; reflexivity).
  assert (R : minors_nonneg (k + l) (layer_gram D (G p))).
  { apply minors_layer; rewrite ?E.
    - intros a b c d ? ? ? ?. unfold minor. specialize (HG a b c d ltac:(lia) ltac:(lia) ltac:(lia) ltac:(lia) ltac:(lia) ltac:(lia)). lra.
    - intros a b ? ?. apply HP; lia.
    - intros a b c d ? ? ? ?. unfold minor. specialize (HM a b c d ltac:(lia) ltac:(lia) ltac:(lia) ltac:(lia) ltac:(lia) ltac:(lia) ltac:(lia)). lra. }
  specialize (R i k j l ltac:(lia) ltac:(lia) ltac:(lia) ltac:(lia)). unfold minor in R.
  change (layer_gram D (G p)) with (G (S p)) in R. lra.
Qed.
Ltac derive := auto_derive; [repeat split; try exact I; try nonzero; (match goal with N : ?b <> 0 |- ?a <> 0 => apply (nonzero_of a b N); ring end) | first [ring | field; side]].
Ltac transport_derivative H := first [exact H | destruct H as [? H]; split; [assumption | exact H]].

(* the same with equal sides *)
Lemma lt_by (a b c d : R) : a = c -> b = d -> c < d -> a < b. Proof. intros -> ->. auto. Qed.
Lemma le_by (a b c d : R) : a = c -> b = d -> c <= d -> a <= b. Proof. intros -> ->. auto. Qed.
Lemma ne_by (a b c d : R) : a = c -> b = d -> c <> d -> a <> b. Proof. intros -> ->. auto. Qed.
Lemma eq_by (a b c d : R) : a = c -> b = d -> c = d -> a = b. Proof. intros -> ->. auto. Qed.
Lemma positive_by (a b : R) : a = b -> 0 < b -> 0 < a. Proof. intros ->. auto. Qed.
Lemma nonnegative_by (a b : R) : a = b -> 0 <= b -> 0 <= a. Proof. intros ->. auto. Qed.
Lemma nonzero_by (a b : R) : a = b -> b <> 0 -> a <> 0. Proof. intros ->. auto. Qed.
