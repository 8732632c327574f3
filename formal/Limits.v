(** * Far from the start of the sequence: the limit of the second layer's scores, and how fast it is reached

    Everything is a function of u = 1/(r + i - 1), which tends to 0 as the query i grows. *)

From Coq Require Import Reals Lra Lia Arith.
From Coquelicot Require Import Coquelicot.
From Maskproof Require Import Attention Sums Layers ClosedForms Order.
Open Scope R_scope.
Notation sum := Attention.sum.

(** ** Sequences *)

Lemma inverse_to_zero c : is_lim_seq (fun i => / (c + INR i)) 0.
Proof.
  assert (L : is_lim_seq (fun i => c + INR i) p_infty).
  { apply is_lim_seq_plus with (l1 := c) (l2 := p_infty); [apply is_lim_seq_const|apply is_lim_seq_INR|reflexivity]. }
  apply (is_lim_seq_inv _ _ L). discriminate.
Qed.

(** A sequence that is eventually another one. *)
Lemma limit_from (f g : nat -> R) (l : Rbar) (n : nat) :
  (forall i, (n < i)%nat -> f i = g i) -> is_lim_seq g l -> is_lim_seq f l.
Proof.
  intros E. apply is_lim_seq_ext_loc. exists (S n). intros i Hi. symmetry. apply E. lia.
Qed.

(** The difference quotient along a sequence of positive numbers that tends to 0. *)
Lemma quotient_to_derivative (F : R -> R) (l : R) (u : nat -> R) (n : nat) :
  is_derive F 0 l -> is_lim_seq u 0 -> (forall i, (n < i)%nat -> 0 < u i) ->
  is_lim_seq (fun i => (F (u i) - F 0) / u i) l.
Proof.
  intros H U P. apply is_lim_seq_Reals. apply is_derive_Reals in H. apply is_lim_seq_Reals in U.
  intros e He. destruct (H e He) as [de Hd]. destruct (U de (cond_pos de)) as [N HN].
  exists (Nat.max N (S n)). intros i Hi. specialize (HN i ltac:(lia)). specialize (P i ltac:(lia)).
  unfold R_dist in *. rewrite Rminus_0_r in HN. specialize (Hd (u i) ltac:(lra) HN). rewrite Rplus_0_l in Hd. exact Hd.
Qed.

Section Saturation.
Variables (alpha b lam : R).
Notation D := (l2_decoder b lam).
Notation K := (equicorrelated alpha).
Notation r := (r_of alpha b).
Notation s := (1 + lam).

Let u (i : nat) : R := / (r + INR i - 1).
(** g and h^2 as functions of u *)
Let gu (x : R) : R := s * (alpha * s + (1 - alpha) * x).
Let hu (x : R) : R := s ^ 2 - (1 - alpha) * (1 - r * x) * (2 * s - 1 + (r - 1) * x).

Definition g_limit : R := alpha * s ^ 2.
Definition h2_limit : R := lam ^ 2 + alpha * (1 + 2 * lam).

Lemma u_to_zero : is_lim_seq u 0.
Proof.
  apply (is_lim_seq_ext (fun i => / ((r - 1) + INR i))); [|apply inverse_to_zero]. intro i. unfold u. f_equal. ring.
Qed.

Lemma u_pos i : (0 < i)%nat -> 0 < u i.
Proof. intro I. apply Rinv_0_lt_compat, row_pos. lia. Qed.

Lemma g_is i : (0 < i)%nat -> g alpha b lam (INR i) = gu (u i).
Proof. intro I. pose proof (row_pos alpha b i I). unfold g, gu, u. field. lra. Qed.

Lemma h2_is i : (0 < i)%nat -> h2 alpha b lam (INR i) = hu (u i).
Proof. intro I. pose proof (row_pos alpha b i I). unfold h2, hu, u. field. lra. Qed.

Lemma gu_zero : gu 0 = g_limit.
Proof. unfold gu, g_limit. ring. Qed.

Lemma hu_zero : hu 0 = h2_limit.
Proof. unfold hu, h2_limit. ring. Qed.

Lemma limit_of_function F : ex_derive F 0 -> is_lim_seq (fun i => F (u i)) (F 0).
Proof.
  intro H. apply is_lim_seq_continuous; [|exact u_to_zero]. apply continuity_pt_filterlim.
  apply (ex_derive_continuous F 0 H).
Qed.

Theorem gram_limit j : (1 <= j)%nat -> is_lim_seq (fun i => Gram D K 1 i j) g_limit.
Proof.
  intro J. rewrite <- gu_zero. apply (limit_from _ (fun i => gu (u i)) _ j).
  - intros i I. unfold l2_decoder. rewrite gram_one_other by (auto; lia). apply g_is. lia.
  - apply limit_of_function. unfold gu. auto_derive. exact I.
Qed.

Theorem square_limit : is_lim_seq (fun i => Gram D K 1 i i) h2_limit.
Proof.
  rewrite <- hu_zero. apply (limit_from _ (fun i => hu (u i)) _ 0).
  - intros i I. unfold l2_decoder. rewrite gram_one_self by (auto; lia). apply h2_is. lia.
  - apply limit_of_function. unfold hu. auto_derive. exact I.
Qed.

Hypothesis (alpha_ge : 0 <= alpha) (alpha_lt : alpha < 1) (b_ge : 0 <= b) (lam_ge : 0 <= lam).
Hypothesis (limit_pos : 0 < h2_limit).   (* excludes alpha = lam = 0, where h tends to 0 *)

Section Key.
Variable j : nat.
Hypothesis J : (1 <= j)%nat.
Notation hj := (sqrt (h2 alpha b lam (INR j))).
Let F (x : R) : R := gu x / (sqrt (hu x) * hj).

Definition score_limit : R := g_limit / (sqrt h2_limit * hj).

Definition saturation_rate : R :=
  ((1 - alpha) * s - g_limit * ((1 - alpha) * (2 * r * lam + 1)) / (2 * h2_limit)) / (sqrt h2_limit * hj).

Lemma key_norm_pos : 0 < hj.
Proof. apply norm_pos; try assumption. apply independent_nonneg; assumption. Qed.

Lemma F_zero : F 0 = score_limit.
Proof. unfold F, score_limit. rewrite gu_zero, hu_zero. reflexivity. Qed.

Lemma score_is i : (j < i)%nat -> Score D K 2 i j = F (u i).
Proof. intro I. rewrite score_two_other, g_is, h2_is by lia. reflexivity. Qed.

Lemma F_derive : is_derive F 0 saturation_rate.
Proof.
  pose proof key_norm_pos as P. pose proof (sqrt_lt_R0 _ limit_pos) as Q.
  assert (Z : hu 0 = h2_limit) by exact hu_zero. unfold F, saturation_rate.
  generalize dependent hj. intros h _ P. unfold gu, hu. unfold hu in Z. auto_derive.
  - repeat split.
    + match goal with |- 0 < ?e => replace e with h2_limit by (unfold h2_limit; ring) end. exact limit_pos.
    + match goal with |- sqrt ?e * _ <> 0 => replace e with h2_limit by (unfold h2_limit; ring) end.
      apply Rgt_not_eq, Rmult_lt_0_compat; assumption.
  - match goal with |- context [sqrt ?e] => tryif constr_eq e h2_limit then fail else
      replace e with h2_limit by (unfold h2_limit; ring) end.
    assert (S2 : sqrt h2_limit * sqrt h2_limit = h2_limit) by (apply sqrt_sqrt; lra).
    remember (sqrt h2_limit) as q eqn:q_is. clear q_is Z. unfold g_limit. rewrite <- S2. field. lra.
Qed.

Theorem saturation : is_lim_seq (fun i => Score D K 2 i j) score_limit.
Proof.
  rewrite <- F_zero. apply (limit_from _ (fun i => F (u i)) _ j); [exact score_is|].
  apply limit_of_function. exists saturation_rate. exact F_derive.
Qed.

(** The distance to the limit is the rate over i, to leading order. *)
Theorem rate_of_saturation : is_lim_seq (fun i => INR i * (Score D K 2 i j - score_limit)) saturation_rate.
Proof.
  apply (limit_from _ (fun i => (1 - (r - 1) * u i) * ((F (u i) - F 0) / u i)) _ j).
  - intros i I. rewrite score_is, F_zero by exact I. pose proof (u_pos i ltac:(lia)) as U.
    pose proof (row_pos alpha b i ltac:(lia)) as R.
    replace (1 - (r - 1) * u i) with (INR i * u i) by (unfold u; field; lra). field. lra.
  - replace (Finite saturation_rate) with (Rbar_mult (Finite ((fun x => 1 - (r - 1) * x) 0)) (Finite saturation_rate))
      by (simpl; f_equal; ring).
    apply is_lim_seq_mult'.
    + apply (limit_of_function (fun x => 1 - (r - 1) * x)). auto_derive. exact I.
    + apply (quotient_to_derivative F _ u 0); [exact F_derive|exact u_to_zero|exact u_pos].
Qed.
End Key.
End Saturation.
