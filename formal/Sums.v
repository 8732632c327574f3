(** * Finite sums *)

From Coq Require Import Reals Lra Lia Arith.
From Maskproof Require Import Attention.
Open Scope R_scope.

Lemma sum_ext f g n : (forall k, (1 <= k <= n)%nat -> f k = g k) -> sum f n = sum g n.
Proof.
  induction n as [|n IH]; simpl; intro H; [reflexivity|].
  rewrite IH, (H (S n)); [reflexivity|lia|intros; apply H; lia].
Qed.

Lemma sum_const c n : sum (fun _ => c) n = INR n * c.
Proof. induction n as [|n IH]; [simpl; ring|]. rewrite S_INR. simpl sum. rewrite IH. ring. Qed.

Lemma sum_zero n : sum (fun _ => 0) n = 0.
Proof. rewrite sum_const. ring. Qed.

Lemma sum_scal c f n : sum (fun k => c * f k) n = c * sum f n.
Proof. induction n as [|n IH]; simpl; [ring|rewrite IH; ring]. Qed.

Lemma sum_plus f g n : sum (fun k => f k + g k) n = sum f n + sum g n.
Proof. induction n as [|n IH]; simpl; [ring|rewrite IH; ring]. Qed.

Lemma sum_minus f g n : sum (fun k => f k - g k) n = sum f n - sum g n.
Proof. induction n as [|n IH]; simpl; [ring|rewrite IH; ring]. Qed.

Lemma sum_last f n : (1 <= n)%nat -> sum f n = sum f (n - 1) + f n.
Proof. destruct n as [|n]; [lia|]. intros _. simpl. rewrite Nat.sub_0_r. reflexivity. Qed.

Lemma sum_nonneg f n : (forall k, (1 <= k <= n)%nat -> 0 <= f k) -> 0 <= sum f n.
Proof.
  induction n as [|n IH]; intro H; simpl; [lra|].
  assert (0 <= f (S n)) by (apply H; lia). assert (0 <= sum f n) by (apply IH; intros; apply H; lia). lra.
Qed.

(** A sum of non-negative terms, one of which is positive. *)
Lemma sum_pos_at f n k : (1 <= k <= n)%nat -> (forall l, (1 <= l <= n)%nat -> 0 <= f l) -> 0 < f k -> 0 < sum f n.
Proof.
  induction n as [|n IH]; intros Hk H P; [lia|]. simpl.
  assert (0 <= f (S n)) by (apply H; lia). assert (0 <= sum f n) by (apply sum_nonneg; intros; apply H; lia).
  destruct (Nat.eq_dec k (S n)) as [->|N]; [lra|].
  assert (0 < sum f n) by (apply IH; [lia|intros; apply H; lia|exact P]). lra.
Qed.

Lemma sum_pos f n : (1 <= n)%nat -> (forall k, (1 <= k <= n)%nat -> 0 < f k) -> 0 < sum f n.
Proof.
  intros Hn H. apply (sum_pos_at f n 1); [lia| |apply H; lia]. intros l Hl. left. apply H. exact Hl.
Qed.

Lemma sum_comm (f : nat -> nat -> R) m n : sum (fun k => sum (f k) n) m = sum (fun l => sum (fun k => f k l) m) n.
Proof.
  induction m as [|m IH]; simpl; [symmetry; apply sum_zero|]. rewrite IH, <- sum_plus. reflexivity.
Qed.

Lemma sum_prod f g m n : sum f m * sum g n = sum (fun p => sum (fun q => f p * g q) n) m.
Proof.
  rewrite Rmult_comm, <- sum_scal. apply sum_ext; intros p _. rewrite Rmult_comm, <- sum_scal. reflexivity.
Qed.

(** Terms beyond i that vanish. *)
Lemma sum_extend f i n : (i <= n)%nat -> (forall k, (i < k <= n)%nat -> f k = 0) -> sum f n = sum f i.
Proof.
  induction n as [|n IH]; intros H Z; [replace i with 0%nat by lia; reflexivity|].
  destruct (Nat.eq_dec i (S n)) as [->|N]; [reflexivity|].
  simpl. rewrite IH, Z; [ring|lia|lia|intros; apply Z; lia].
Qed.

Lemma sum_restrict f i j : (j <= i)%nat -> sum (fun k => if k <=? j then f k else 0) i = sum f j.
Proof.
  intro H. rewrite (sum_extend _ j i H).
  - apply sum_ext; intros k Hk. rewrite (proj2 (Nat.leb_le k j)) by lia. reflexivity.
  - intros k Hk. rewrite (proj2 (Nat.leb_gt k j)) by lia. reflexivity.
Qed.

Lemma sum_delta i f n : (1 <= i <= n)%nat -> sum (fun k => if k =? i then f k else 0) n = f i.
Proof.
  intro H. rewrite (sum_extend _ i n) by (try lia; intros k Hk; rewrite (proj2 (Nat.eqb_neq k i)) by lia; reflexivity).
  rewrite sum_last by lia.
  rewrite (sum_ext _ (fun _ => 0)) by (intros k Hk; rewrite (proj2 (Nat.eqb_neq k i)) by lia; reflexivity).
  rewrite sum_zero, Nat.eqb_refl. ring.
Qed.

(** [sum_{k<=i} sum_{l<=j} a_k b_l K_kl] for the equicorrelated K, j <= i. *)
Lemma equicorrelated_sum alpha a b i j : (j <= i)%nat ->
  sum (fun k => sum (fun l => a k * b l * equicorrelated alpha k l) j) i
  = alpha * sum a i * sum b j + (1 - alpha) * sum (fun k => a k * b k) j.
Proof.
  intro H.
  rewrite (sum_ext _ (fun k => alpha * sum b j * a k + (1 - alpha) * (if k <=? j then a k * b k else 0))).
  - rewrite sum_plus, !sum_scal, sum_restrict by exact H. ring.
  - intros k Hk.
    rewrite (sum_ext _ (fun l => alpha * a k * b l + (1 - alpha) * (if l =? k then a k * b l else 0))).
    + rewrite sum_plus, !sum_scal. destruct (Nat.leb_spec k j).
      * rewrite (sum_delta k (fun l => a k * b l)) by lia. ring.
      * rewrite (sum_ext (fun l => if l =? k then _ else _) (fun _ => 0)), sum_zero; [ring|].
        intros l Hl. rewrite (proj2 (Nat.eqb_neq l k)) by lia. reflexivity.
    + intros l Hl. unfold equicorrelated. rewrite (Nat.eqb_sym k l). destruct (l =? k); ring.
Qed.
