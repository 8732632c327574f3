(** * A layer keeps 2x2 minors from being negative (Cauchy and Binet) *)

From Coq Require Import Reals Lra Lia Arith.
From Maskproof Require Import Attention Sums Layers.
Open Scope R_scope.

Definition product (n : nat) (A B : matrix) : matrix := fun i j => sum (fun p => A i p * B p j) n.

(** The minor of rows i, k and columns j, l. *)
Definition minor (A : matrix) (i k j l : nat) : R := A i j * A k l - A i l * A k j.

(** No 2x2 minor of the leading n x n block is negative. *)
Definition minors_nonneg (n : nat) (A : matrix) : Prop :=
  forall i k j l, (1 <= i < k)%nat -> (k <= n)%nat -> (1 <= j < l)%nat -> (l <= n)%nat -> 0 <= minor A i k j l.

(** Summed over all p, q instead of p < q. *)
Lemma cauchy_binet n A B i k j l : 2 * minor (product n A B) i k j l
  = sum (fun p => sum (fun q => minor A i k p q * minor B p q j l) n) n.
Proof.
  unfold minor, product. rewrite !sum_prod.
  match goal with |- 2 * (?X - ?Y) = _ => transitivity ((X - Y) + (X - Y)); [ring|] end.
  transitivity (sum (fun p => sum (fun q => A i p * B p j * (A k q * B q l)) n) n
    - sum (fun p => sum (fun q => A i p * B p l * (A k q * B q j)) n) n
    + (sum (fun p => sum (fun q => A k p * B p l * (A i q * B q j)) n) n
    - sum (fun p => sum (fun q => A k p * B p j * (A i q * B q l)) n) n)).
  - f_equal. f_equal; rewrite sum_comm; apply sum_ext; intros; apply sum_ext; intros; ring.
  - rewrite <- !sum_minus, <- sum_plus. apply sum_ext; intros p Hp. rewrite <- !sum_minus, <- sum_plus.
    apply sum_ext; intros q Hq. ring.
Qed.

Lemma minors_product n A B : minors_nonneg n A -> minors_nonneg n B -> minors_nonneg n (product n A B).
Proof.
  intros HA HB i k j l Hi Hk Hj Hl. cut (0 <= 2 * minor (product n A B) i k j l); [lra|]. rewrite cauchy_binet.
  apply sum_nonneg; intros p Hp. apply sum_nonneg; intros q Hq.
  destruct (lt_eq_lt_dec p q) as [[C|C]|C].
  - apply Rmult_le_pos; [apply HA|apply HB]; lia.
  - subst q. unfold minor. replace (A i p * A k p - A i p * A k p) with 0 by ring. lra.
  - replace (minor A i k p q * minor B p q j l) with (minor A i k q p * minor B q p j l) by (unfold minor; ring).
    apply Rmult_le_pos; [apply HA|apply HB]; lia.
Qed.

(** The rule [minors] of the kernel: of M only the minors below the diagonal have to be known. *)
Theorem minors_layer D (G : matrix) n :
  minors_nonneg n G ->
  (forall i j, (1 <= j <= i)%nat -> (i <= n)%nat -> 0 <= layer_mix D G i j) ->
  (forall i k j l, (1 <= i < k)%nat -> (k <= n)%nat -> (1 <= j < l)%nat -> (l <= i)%nat -> 0 <= minor (layer_mix D G) i k j l) ->
  minors_nonneg n (layer_gram D G).
Proof.
  set (M := layer_mix D G). intros HG Mpos HM.
  assert (Z : forall i j, (i < j)%nat -> M i j = 0) by (intros; apply layer_mix_later; assumption).
  assert (TM : minors_nonneg n M).
  { intros i k j l Hi Hk Hj Hl. destruct (Nat.le_gt_cases l i) as [C|C]; [apply HM; lia|].
    unfold minor. rewrite (Z i l C). assert (0 <= M i j * M k l); [|lra].
    destruct (Nat.le_gt_cases j i); [|rewrite (Z i j) by lia; lra].
    destruct (Nat.le_gt_cases l k); [|rewrite (Z k l) by lia; lra].
    apply Rmult_le_pos; apply Mpos; lia. }
  assert (E : forall i j, (1 <= i <= n)%nat -> (1 <= j <= n)%nat ->
    layer_gram D G i j = product n M (product n G (fun p j => M j p)) i j).
  { intros i j Hi Hj. unfold layer_gram, product. fold M.
    rewrite (sum_extend (fun p => M i p * _) i n) by (try lia; intros p Hp; rewrite (Z i p) by lia; ring).
    apply sum_ext; intros p Hp.
    rewrite (sum_extend (fun q => G p q * M j q) j n) by (try lia; intros q Hq; rewrite (Z j q) by lia; ring).
    rewrite <- sum_scal. apply sum_ext; intros; ring. }
  intros i k j l Hi Hk Hj Hl. unfold minor. rewrite !E by lia.
  apply (minors_product n M (product n G (fun p j => M j p))); try lia; [exact TM|]. apply minors_product; [exact HG|].
  intros a b c d Ha Hb Hc Hd. unfold minor. pose proof (TM c d a b) as T. unfold minor in T.
  specialize (T ltac:(lia) ltac:(lia) ltac:(lia) ltac:(lia)). lra.
Qed.
