(** * From a theorem that was written from a derivation to the way in which Claims.v states it

    Both say the same of the same quantities, in other forms: [e^2] for [exp 2], one fraction for two. Nothing here is
    trusted: a tactic can only fail. *)

From Coq Require Import Reals Lra Lia.
From Coquelicot Require Import Coquelicot.
From Maskproof Require Import Attention.
From Maskproof Require Order.
Open Scope R_scope.

(* gives a theorem all its hypotheses *)
Ltac fact := first [assumption | lia | lra | apply Rmult_lt_0_compat; lra | intros ?; split; lra].
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
Ltac from C := cbv zeta; unfold l2_decoder; given C; repeat split; conclude C.
(* fewer inputs are independent, too *)
Ltac before i j := match goal with I : 0 < 1 + (INR i - 1) * ?a |- _ =>
  assert (0 < 1 + (INR j - 1) * a) by (apply (Order.independent_before a i); [lia|exact I]) end.
