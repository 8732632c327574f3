(** * Linearly independent tokens stay so, and the cosine of two of them is below 1 *)

From Coq Require Import Reals Lra Lia Psatz Arith.
From Maskproof Require Import Attention Sums Layers ClosedForms Order.
Open Scope R_scope.

(** The quadratic form of an n x n matrix; positive definite means that the vectors are independent. *)
Definition quadratic (n : nat) (G : matrix) (v : nat -> R) : R := sum (fun k => sum (fun l => v k * v l * G k l) n) n.
Definition nonzero (n : nat) (v : nat -> R) : Prop := exists k, (1 <= k <= n)%nat /\ v k <> 0.
Definition definite (n : nat) (G : matrix) : Prop := forall v, nonzero n v -> 0 < quadratic n G v.

(** ** Mixing with a triangular matrix that has a positive diagonal *)

Section Mixing.
Variables (n : nat) (G M : matrix).
Hypothesis triangular : forall i k, (i < k)%nat -> M i k = 0.
Hypothesis diagonal : forall k, (1 <= k <= n)%nat -> 0 < M k k.
Let G' i j := sum (fun k => sum (fun l => M i k * M j l * G k l) j) i.
Let w v k := sum (fun i => v i * M i k) n.

Lemma quadratic_mixed v : quadratic n G' v = quadratic n G (w v).
Proof.
  unfold quadratic, w, G'.
  transitivity (sum (fun i => sum (fun j => sum (fun k => sum (fun l => (v i * M i k) * (v j * M j l) * G k l) n) n) n) n).
  - apply sum_ext; intros i Hi. apply sum_ext; intros j Hj.
    rewrite <- (sum_extend (fun k => sum (fun l => M i k * M j l * G k l) j) i n) by
      (try lia; intros k Hk; rewrite (sum_ext _ (fun _ => 0)) by (intros; rewrite triangular by lia; ring); apply sum_zero).
    rewrite <- sum_scal. apply sum_ext; intros k Hk.
    rewrite <- (sum_extend (fun l => M i k * M j l * G k l) j n) by
      (try lia; intros l Hl; rewrite (triangular j l) by lia; ring).
    rewrite <- sum_scal. apply sum_ext; intros; ring.
  - rewrite (sum_ext _ (fun i => sum (fun k => sum (fun j => sum (fun l => v i * M i k * (v j * M j l) * G k l) n) n) n))
      by (intros; apply sum_comm).
    rewrite sum_comm. apply sum_ext; intros k Hk.
    transitivity (sum (fun i => sum (fun l => sum (fun j => v i * M i k * (v j * M j l) * G k l) n) n) n);
      [apply sum_ext; intros; apply sum_comm|].
    rewrite sum_comm. apply sum_ext; intros l Hl.
    transitivity (sum (fun i => (sum (fun j => v j * M j l) n * G k l) * (v i * M i k)) n).
    + apply sum_ext; intros i Hi. rewrite (sum_ext _ (fun j => (v i * M i k * G k l) * (v j * M j l))) by (intros; ring).
      rewrite sum_scal. ring.
    + rewrite sum_scal. ring.
Qed.

Lemma last_nonzero v m : nonzero m v ->
  exists k, (1 <= k <= m)%nat /\ v k <> 0 /\ forall i, (k < i <= m)%nat -> v i = 0.
Proof.
  induction m as [|m IH]; intros [k [Hk Nk]]; [lia|].
  destruct (Req_dec (v (S m)) 0) as [E|N].
  - destruct IH as [a [Ha [Na Za]]].
    + exists k. split; [|exact Nk]. destruct (Nat.eq_dec k (S m)) as [E'|]; [subst k; contradiction|lia].
    + exists a. split; [lia|]. split; [exact Na|]. intros i Hi.
      destruct (Nat.eq_dec i (S m)) as [->|]; [exact E|apply Za; lia].
  - exists (S m). split; [lia|]. split; [exact N|]. intros; lia.
Qed.

Theorem definite_mixed : definite n G -> definite n G'.
Proof.
  intros P v N. rewrite quadratic_mixed. apply P. destruct (last_nonzero v n N) as [k [Hk [Nk Z]]].
  exists k. split; [exact Hk|]. unfold w.
  rewrite (sum_ext _ (fun i => if i =? k then v i * M i k else 0)).
  - rewrite (sum_delta k (fun i => v i * M i k)) by exact Hk.
    apply Rmult_integral_contrapositive_currified; [exact Nk|]. pose proof (diagonal k Hk). lra.
  - intros i Hi. destruct (Nat.eqb_spec i k) as [E|E]; [reflexivity|].
    destruct (Nat.lt_ge_cases i k); [rewrite triangular by lia; ring|rewrite Z by lia; ring].
Qed.
End Mixing.

Lemma definite_layer D K n : definite n K -> (forall k, (1 <= k <= n)%nat -> 0 < layer_mix D K k k) ->
  definite n (layer_gram D K).
Proof.
  intros P M. apply (definite_mixed n K (layer_mix D K)); [intros; apply layer_mix_later; assumption|exact M|exact P].
Qed.

(** ** Two vectors of a positive definite matrix *)

Lemma quadratic_two n G (i j : nat) (a b : R) : (1 <= i <= n)%nat -> (1 <= j <= n)%nat -> i <> j ->
  quadratic n G (fun k => if k =? i then a else if k =? j then b else 0)
  = a * a * G i i + a * b * G i j + b * a * G j i + b * b * G j j.
Proof.
  intros Hi Hj N. unfold quadratic.
  assert (S2 : forall f : nat -> R, sum (fun k => (if k =? i then a else if k =? j then b else 0) * f k) n = a * f i + b * f j).
  { intro f. rewrite (sum_ext _ (fun k => (if k =? i then a * f k else 0) + (if k =? j then b * f k else 0))).
    - rewrite sum_plus, (sum_delta i (fun k => a * f k)), (sum_delta j (fun k => b * f k)) by assumption. reflexivity.
    - intros k Hk. destruct (Nat.eqb_spec k i); destruct (Nat.eqb_spec k j); subst; try contradiction; ring. }
  transitivity (sum (fun k => (if k =? i then a else if k =? j then b else 0) * (a * G k i + b * G k j)) n).
  - apply sum_ext; intros k Hk. rewrite <- S2, <- sum_scal. apply sum_ext; intros; ring.
  - rewrite S2. ring.
Qed.

Lemma definite_diagonal n G i : definite n G -> (1 <= i <= n)%nat -> 0 < G i i.
Proof.
  intros P Hi. pose proof (P (fun k => if k =? i then 1 else 0)) as Q. unfold quadratic in Q.
  rewrite (sum_ext _ (fun k => if k =? i then G i i else 0)), (sum_delta i (fun _ => G i i) n Hi) in Q.
  - apply Q. exists i. rewrite Nat.eqb_refl. split; [exact Hi|lra].
  - intros k Hk. destruct (Nat.eqb_spec k i) as [->|E].
    + rewrite (sum_ext _ (fun l => if l =? i then G i l else 0)) by (intros l Hl; destruct (l =? i); ring).
      rewrite (sum_delta i (fun l => G i l) n Hi). reflexivity.
    + rewrite (sum_ext _ (fun _ => 0)) by (intros; ring). apply sum_zero.
Qed.

Lemma cosine_below_one n G i j : definite n G -> G i j = G j i -> (1 <= i <= n)%nat -> (1 <= j <= n)%nat -> i <> j ->
  G i j / (sqrt (G i i) * sqrt (G j j)) < 1.
Proof.
  intros P S Hi Hj N. pose proof (definite_diagonal n G i P Hi) as Pi. pose proof (definite_diagonal n G j P Hj) as Pj.
  assert (C : G i j * G i j < G i i * G j j).
  { pose proof (P (fun m => if m =? i then G i j else if m =? j then - G i i else 0)) as Q.
    rewrite (quadratic_two n G i j _ _ Hi Hj N), <- S in Q.
    assert (Z : 0 < G i i * (G i i * G j j - G i j * G i j)).
    { match type of Q with _ -> 0 < ?e => replace (G i i * (G i i * G j j - G i j * G i j)) with e by ring end.
      apply Q. exists j. split; [exact Hj|]. rewrite (proj2 (Nat.eqb_neq j i)), Nat.eqb_refl by lia. lra. }
    apply (Rmult_lt_reg_l (G i i)); [exact Pi|]. lra. }
  assert (PP : 0 < G i i * G j j) by (apply Rmult_lt_0_compat; assumption).
  rewrite <- sqrt_mult by lra. assert (0 < sqrt (G i i * G j j)) by (apply sqrt_lt_R0; exact PP).
  apply (Rmult_lt_reg_r (sqrt (G i i * G j j))); [assumption|].
  unfold Rdiv. rewrite Rmult_assoc, Rinv_l, Rmult_1_r, Rmult_1_l by lra.
  destruct (Rle_or_lt (G i j) 0); [lra|]. rewrite <- (sqrt_square (G i j)) by lra. apply sqrt_lt_1_alt.
  split; [apply Rlt_le, Rmult_lt_0_compat; assumption|exact C].
Qed.

(** ** Equicorrelated inputs *)

Lemma square_of_sum v n : sum v n * sum v n <= INR n * sum (fun k => v k * v k) n.
Proof.
  assert (E : 2 * (INR n * sum (fun k => v k * v k) n - sum v n * sum v n)
    = sum (fun k => sum (fun l => (v k - v l) * (v k - v l)) n) n).
  { rewrite sum_prod. rewrite <- sum_const.
    rewrite (sum_comm (fun k l => (v k - v l) * (v k - v l))).
    rewrite (sum_ext (fun l => sum (fun k => (v k - v l) * (v k - v l)) n)
      (fun l => sum (fun k => v k * v k) n + (INR n * (v l * v l) - 2 * sum (fun k => v l * v k) n))).
    - rewrite sum_plus, sum_minus, !sum_scal, sum_const. ring.
    - intros l Hl. rewrite (sum_ext _ (fun k => v k * v k + (v l * v l - 2 * (v l * v k)))) by (intros; ring).
      rewrite sum_plus, sum_minus, sum_const, sum_scal. reflexivity. }
  assert (0 <= sum (fun k => sum (fun l => (v k - v l) * (v k - v l)) n) n); [|lra].
  apply sum_nonneg; intros k _. apply sum_nonneg; intros l _. apply Rle_0_sqr.
Qed.

Lemma equicorrelated_definite n alpha : alpha < 1 -> independent alpha n -> definite n (equicorrelated alpha).
Proof.
  unfold independent. intros A I v [k [Hk N]]. unfold quadratic. rewrite equicorrelated_sum by lia.
  assert (Q : 0 < sum (fun k => v k * v k) n).
  { apply (sum_pos_at _ n k Hk); [intros l _; apply Rle_0_sqr|]. apply (Rsqr_pos_lt _ N). }
  set (q := sum (fun k => v k * v k) n) in *. pose proof (square_of_sum v n) as C. fold q in C.
  assert (0 < (1 - alpha) * q) by (apply Rmult_lt_0_compat; lra). pose proof (Rle_0_sqr (sum v n)) as Z. unfold Rsqr in Z.
  destruct (Rle_or_lt 0 alpha) as [B|B].
  - assert (0 <= alpha * (sum v n * sum v n)) by (apply Rmult_le_pos; lra). lra.
  - assert (0 <= - alpha * (INR n * q - sum v n * sum v n)) by (apply Rmult_le_pos; lra).
    assert (0 < (1 + (INR n - 1) * alpha) * q) by (apply Rmult_lt_0_compat; assumption). lra.
Qed.

(** The rule [independence] of the kernel, for any depth. *)
Theorem definite_stack D alpha n layers : alpha < 1 -> independent alpha n ->
  (forall l k, (1 <= l <= layers)%nat -> (1 <= k <= n)%nat -> 0 < Mix D (equicorrelated alpha) l k k) ->
  definite n (Gram D (equicorrelated alpha) layers).
Proof.
  intros A I. induction layers as [|l IH]; intro P; [apply equicorrelated_definite; assumption|].
  apply definite_layer; [apply IH; intros; apply P; lia|].
  intros k Hk. specialize (P (S l) k ltac:(lia) Hk). unfold Mix in P. replace (S l - 1)%nat with l in P by lia. exact P.
Qed.

Theorem independence alpha b lam layer i j : alpha < 1 -> independent alpha i -> (1 <= j < i)%nat -> (1 <= layer)%nat ->
  (forall l k, (1 <= l < layer)%nat -> (1 <= k <= i)%nat -> 0 < Mix (l2_decoder b lam) (equicorrelated alpha) l k k) ->
  Score (l2_decoder b lam) (equicorrelated alpha) layer i j < 1.
Proof.
  intros A I H L P. unfold Score. rewrite layer_score_l2. apply (cosine_below_one i); try lia.
  - apply definite_stack; [exact A|exact I|]. intros; apply P; lia.
  - apply Gram_symmetric, equicorrelated_symmetric.
Qed.
