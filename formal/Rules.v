(** * One tactic for each rule of the kernel

    Nothing here is trusted: a tactic either finds a proof that Coq checks, or fails. What follows is the contract
    with the printer that writes derivations as Coq files.

    Terms.  A real variable is an R, a position or a width a nat; in arithmetic a position i is [INR i], as an index
    it is itself ([(i + 1)%nat], [(i - 1)%nat]).  [sum (fun k => f) b] is the sum over k = 1..b; a double sum keeps its
    own order, the outer index first.  The inputs are [equicorrelated alpha]; quantities are
    [Score D K n i j], [Weight], [Mix], [Gram] with D a [Decoder norm scale beta residual mask] and n a numeral.

    Relations.  Between positions: in Z, [(Z.of_nat j + 1 < Z.of_nat i)%Z].  Between reals: in R.  "d f/d m = v" is
    [is_derive (fun m => f) m v]; "d f/d m < v" is [ex_derive (fun m => f) m /\ Derive (fun m => f) m < v].
    "lim f = c" is [is_lim_seq (fun i => f) c] for a position i.

    A line is a lemma over all its free variables: first sorts ([1 <= i] in nat for positions, [0 <= beta], [0 < r]),
    then the hypotheses, then the statement.  Its proof is

        start. use (premise vars). use (premise vars). tactic. Qed.

    [start] introduces everything and draws the real inequalities from those between positions.  [use L] adds the
    line L, applied to its variables, when its hypotheses follow from what is known (tactic [follows]); conjunctions
    are taken apart.  Equations among the lines used serve as rewriting rules from left to right.

    rule                printed as
    input_gram          input_gram.
    score               use its premises. score.
    softmax             softmax.
    mix                 use its premises. mix.
    gram                gram.
    equicorrelated_sum  equicorrelated_sum (fun k => a) (fun l => b), the factors of the summand besides K
    split_last          split_last.
    constant_sum        constant_sum.
    linear_sum          linear_sum.
    termwise            termwise (fun k => L vars), L the premise, k its index
    positive_sum        positive_sum (fun k => L vars), or positive_sum2 (fun k l => L vars), outer index first
    hypothesis          follows.
    cite                use the other premises. cite (L values).
    implication         cite (L vars).  ([start] has introduced the condition)
    detach              use the premises. detach.
    conjunction         use the premises. conjunction.
    equals              equals j e (L vars), for the hypothesis j = e about positions, e in nat
    cases               cases_positions a b (L1 vars) (L2 vars), a and b in Z;  cases_reals a b (L1 vars) (L2 vars);
                        with one line that needs no condition: cite (L vars)
    identity            use the premises. identity.
    sign                use the premises. sign F, with F the certificate: the difference (larger minus smaller side) written so that
                        its sign shows, as sums, products, quotients, powers, roots and exponentials of parts that are
                        hypotheses or linear consequences of them ([INR i - 1], [r - 1], [1 - alpha], ...) with
                        non-negative coefficients.  For <> the certificate is of the left minus the right side, or
                        of the opposite.  If the left side is a derivative: slope_sign F, for < with 0 minus it.
    add                 use the premises. add.
    exponential         use the premises. exponential F, F the certificate of the difference of the exponents
    root                use the premises. root F, F the certificate of the difference of the radicands
    product             use the premises. product c.
    quotient            use the premises. quotient c.  (c > 0 or c < 0)
    derivative          use the premises. derivative.
    decreasing          decreasing (fun m => f) x y (fun m => L vars), x and y in R, L the premise
    cauchy_schwarz      cauchy_schwarz.
    symmetric           symmetric.
    minors              minors i k j l L1 L2 L3, rows i, k and columns j, l of the hint [at]; L1 and L3 are
                        (fun i k j l => L vars), the premise "M >= 0" is (fun i j => L vars)
    independence        independence (fun k => (L1 vars, L2 vars, ...)), one line a layer before; in layer one
                        independence tt
    rational_limit      use the premises. rational_limit (fun u => F) with F the function at i = 1/u written as a
                        quotient of polynomials in u, its denominator not 0 at u = 0
    limit_algebra       use the premises (their limits among them). limit_algebra.
    limit_of_equal      use the second premise. limit_of_equal n (fun i => L vars), for i > n the first premise holds *)

From Coq Require Export Reals Lra Lia Psatz Arith ZArith.
From Coquelicot Require Export Coquelicot.
From Maskproof Require Export Attention Sums Layers ClosedForms Order Independence Minors Limits.
Open Scope R_scope.
Notation sum := Attention.sum.

(** ** What the layer's definition says, norm by norm *)

Lemma Gram_0 D K i j : Gram D K 0 i j = K i j.
Proof. reflexivity. Qed.

Section Definitions.
Variables (sc b lam : R) (K : matrix) (n i j : nat).

Lemma Score_l2 m : Score (Decoder L2 sc b lam m) K n i j
  = Gram (Decoder L2 sc b lam m) K (n - 1) i j
    / (sqrt (Gram (Decoder L2 sc b lam m) K (n - 1) i i) * sqrt (Gram (Decoder L2 sc b lam m) K (n - 1) j j)) / sc.
Proof. unfold Score, layer_score, stretch. simpl. unfold Rdiv. rewrite Rinv_mult. ring. Qed.

Lemma Score_layernorm d m : Score (Decoder (LayerNorm d) sc b lam m) K n i j
  = INR d * Gram (Decoder (LayerNorm d) sc b lam m) K (n - 1) i j
    / (sqrt (Gram (Decoder (LayerNorm d) sc b lam m) K (n - 1) i i)
       * sqrt (Gram (Decoder (LayerNorm d) sc b lam m) K (n - 1) j j)) / sc.
Proof.
  unfold Score, layer_score, stretch. simpl. rewrite <- (sqrt_sqrt (INR d)) at 3 by apply pos_INR.
  unfold Rdiv. rewrite Rinv_mult. ring.
Qed.

Lemma Score_nonorm m :
  Score (Decoder NoNorm sc b lam m) K n i j = Gram (Decoder NoNorm sc b lam m) K (n - 1) i j / sc.
Proof. unfold Score, layer_score, stretch. simpl. unfold Rdiv. ring. Qed.

Lemma Weight_causal nm : (j <= i)%nat -> Weight (Decoder nm sc b lam Causal) K n i j
  = exp (b * Score (Decoder nm sc b lam Causal) K n i j)
    / sum (fun k => exp (b * Score (Decoder nm sc b lam Causal) K n i k)) i.
Proof. intro H. exact (softmax_causal b (Score (Decoder nm sc b lam Causal) K n) i j H). Qed.

Lemma Mix_l2 m : Mix (Decoder L2 sc b lam m) K n i j
  = Weight (Decoder L2 sc b lam m) K n i j / sqrt (Gram (Decoder L2 sc b lam m) K (n - 1) j j)
    + (if i =? j then lam else 0).
Proof. unfold Mix, layer_mix, stretch. simpl. unfold Weight. unfold Rdiv. rewrite Rmult_1_l. reflexivity. Qed.

Lemma Mix_layernorm d m : Mix (Decoder (LayerNorm d) sc b lam m) K n i j
  = sqrt (INR d) * Weight (Decoder (LayerNorm d) sc b lam m) K n i j
      / sqrt (Gram (Decoder (LayerNorm d) sc b lam m) K (n - 1) j j)
    + (if i =? j then lam else 0).
Proof. unfold Mix, layer_mix, stretch. simpl. unfold Weight, Rdiv. ring. Qed.

Lemma Mix_nonorm m : Mix (Decoder NoNorm sc b lam m) K n i j
  = Weight (Decoder NoNorm sc b lam m) K n i j + (if i =? j then lam else 0).
Proof. unfold Mix, layer_mix, stretch. simpl. unfold Weight. ring. Qed.

Lemma Gram_one D : Gram D K 1 i j = sum (fun k => sum (fun l => Mix D K 1 i k * Mix D K 1 j l * K k l) j) i.
Proof. reflexivity. Qed.

Lemma Gram_next D : Gram D K (S n) i j
  = sum (fun k => sum (fun l => Mix D K (S n) i k * Mix D K (S n) j l * Gram D K n k l) j) i.
Proof. unfold Mix. replace (S n - 1)%nat with n by lia. reflexivity. Qed.
End Definitions.

(** ** Positions *)

(* the real inequalities that relations between positions give, each once *)
Definition done (P : Prop) := True.
Ltac mark P := lazymatch goal with _ : done P |- _ => fail | _ => assert (done P) by exact I end.
Ltac to_reals H := rewrite ?plus_IZR, ?minus_IZR, ?mult_IZR, ?opp_IZR, <- ?INR_IZR_INZ in H.
Ltac start :=
  intros;
  repeat match goal with
  | H : _ /\ _ |- _ => destruct H
  | H : (1 <= ?x)%nat |- _ => mark constr:((1 <= x)%nat); let N := fresh "N" in
      assert (N : 1 <= INR x) by (apply (le_INR 1); exact H)
  | H : (?a < ?b)%nat |- _ => mark constr:((a < b)%nat); let N := fresh "N" in
      assert (N : (Z.of_nat a < Z.of_nat b)%Z) by lia
  | H : (?a <= ?b)%nat |- _ => mark constr:((a <= b)%nat); let N := fresh "N" in
      assert (N : (Z.of_nat a <= Z.of_nat b)%Z) by lia
  | H : (?a < ?b)%Z |- _ => mark constr:((a < b)%Z); let N := fresh "N" in
      assert (N : (a + 1 <= b)%Z) by lia; apply IZR_le in N; to_reals N
  | H : (?a <= ?b)%Z |- _ => mark constr:((a <= b)%Z); let N := fresh "N" in
      assert (N : (a <= b)%Z) by lia; apply IZR_le in N; to_reals N
  | H : (?a > ?b)%Z |- _ => mark constr:((a > b)%Z); let N := fresh "N" in
      assert (N : (b + 1 <= a)%Z) by lia; apply IZR_le in N; to_reals N
  | H : (?a >= ?b)%Z |- _ => mark constr:((a >= b)%Z); let N := fresh "N" in
      assert (N : (b <= a)%Z) by lia; apply IZR_le in N; to_reals N
  | H : @eq Z ?a ?b |- _ => mark constr:((a = b)); let N := fresh "N" in
      assert (N : IZR a = IZR b) by (f_equal; exact H); to_reals N
  end.

(* definitions of variables, like r = exp(...) *)
Ltac put_definitions := repeat match goal with H : ?x = exp _ |- context [?x] => is_var x; rewrite H end.

Ltac reals := repeat (first [rewrite plus_INR | rewrite minus_INR by lia | rewrite S_INR]);
  change (INR 1) with 1; change (INR 2) with 2; change (INR 0) with 0.
Ltac reals_in H := repeat (first [rewrite plus_INR in H | rewrite minus_INR in H by lia | rewrite S_INR in H]);
  change (INR 1) with 1 in H; change (INR 2) with 2 in H; change (INR 0) with 0 in H.

(* (i - 1) + 1 is i *)
Ltac indices := repeat match goal with
  | |- context [(?a - 1 + 1)%nat] => replace (a - 1 + 1)%nat with a by lia
  | |- context [(?a + 1 - 1)%nat] => replace (a + 1 - 1)%nat with a by lia
  end.
Ltac indices_in H := repeat match type of H with
  | context [(?a - 1 + 1)%nat] => replace (a - 1 + 1)%nat with a in H by lia
  | context [(?a + 1 - 1)%nat] => replace (a + 1 - 1)%nat with a in H by lia
  end.

(** ** Signs *)

Lemma exp_ge_1 x : 0 <= x -> 1 <= exp x.
Proof. intro H. rewrite <- exp_0 at 1. destruct (Req_dec x 0) as [->|N]; [lra|]. left. apply exp_increasing. lra. Qed.
Lemma exp_le x y : 0 <= y - x -> exp x <= exp y.
Proof. intro H. destruct (Req_dec x y) as [->|N]; [lra|]. left. apply exp_increasing. lra. Qed.
Lemma exp_lt x y : 0 < y - x -> exp x < exp y.
Proof. intro H. apply exp_increasing. lra. Qed.

Ltac leaf := first [assumption | lra | (reals; lra)].
(* by the form of the expression alone *)
Ltac pos := first [leaf | lazymatch goal with
  | |- 0 < exp _ => apply exp_pos
  | |- 0 <= exp _ => left; apply exp_pos
  | |- 0 < sqrt _ => apply sqrt_lt_R0; pos
  | |- 0 <= sqrt _ => apply sqrt_pos
  | |- 0 < _ * _ => apply Rmult_lt_0_compat; pos
  | |- 0 <= _ * _ => apply Rmult_le_pos; pos
  | |- 0 < / _ => apply Rinv_0_lt_compat; pos
  | |- 0 <= / _ => apply Rlt_le, Rinv_0_lt_compat; pos
  | |- 0 < _ / _ => apply Rdiv_lt_0_compat; pos
  | |- 0 <= _ / _ => apply Rmult_le_pos; pos
  | |- 0 < _ ^ _ => apply pow_lt; pos
  | |- 0 <= _ ^ 2 => apply pow2_ge_0
  | |- 0 <= _ ^ _ => apply pow_le; pos
  | |- 0 < _ + _ => first [apply Rplus_le_lt_0_compat; pos | apply Rplus_lt_le_0_compat; pos]
  | |- 0 <= _ + _ => apply Rplus_le_le_0_compat; pos
  | |- 0 < INR _ => apply lt_0_INR; lia
  | |- 0 < sum _ _ => apply sum_pos; [lia | intros; cbv beta; pos]
  | |- 0 <= INR _ => apply pos_INR
  | |- _ > 0 => apply Rlt_gt; pos
  | |- _ >= 0 => apply Rle_ge; pos
  end].
(* where the printer gives no certificate: values of denominators and radicands *)
Ltac exp_facts := repeat match goal with
  | |- context [exp ?a / exp ?b] => mark constr:(0 < exp a / exp b); let E := fresh "E" in
      assert (E : 0 < exp a / exp b) by (apply Rdiv_lt_0_compat; apply exp_pos)
  | |- context [exp ?a] => mark constr:(0 < exp a); let E := fresh "E" in pose proof (exp_pos a) as E
  end.
Ltac positive := first [pos | (exp_facts; first [lra | nra]) | (reals; exp_facts; nra)].
Ltac nonzero := first [assumption | apply Rgt_not_eq, Rlt_gt; pos | apply Rlt_not_eq; pos
  | (apply Rmult_integral_contrapositive_currified; nonzero) | apply Rinv_neq_0_compat; nonzero
  | apply pow_nonzero; nonzero | apply Rgt_not_eq, Rlt_gt; positive | apply Rlt_not_eq; positive].
Ltac side := repeat split; first [exact I | nonzero | positive].

(** ** Exponentials and roots in field arithmetic *)

Lemma exp_minus a b : exp (a - b) = exp a / exp b.
Proof. unfold Rminus. rewrite exp_plus, exp_Ropp. reflexivity. Qed.
Lemma exp_twice a : exp (2 * a) = exp a ^ 2.
Proof. replace (2 * a) with (a + a) by ring. rewrite exp_plus. ring. Qed.
Lemma exp_thrice a : exp (3 * a) = exp a ^ 3.
Proof. replace (3 * a) with (a + a + a) by ring. rewrite !exp_plus. ring. Qed.
Lemma exp_2 : exp 2 = exp 1 ^ 2.
Proof. replace 2 with (1 + 1) at 1 by ring. rewrite exp_plus. ring. Qed.
Lemma exp_3 : exp 3 = exp 1 ^ 3.
Proof. replace 3 with (1 + 1 + 1) at 1 by ring. rewrite !exp_plus. ring. Qed.

(* all exponentials as products of exponentials of products *)
Ltac expand := repeat first
  [ rewrite exp_plus | rewrite exp_minus | rewrite exp_Ropp | rewrite exp_0 | rewrite exp_twice | rewrite exp_thrice
  | rewrite exp_2 | rewrite exp_3
  | match goal with
    | |- context [exp (?a * (?b + ?c))] => replace (a * (b + c)) with (a * b + a * c) by ring
    | |- context [exp (?a * (?b - ?c))] => replace (a * (b - c)) with (a * b - a * c) by ring
    | |- context [exp ((?b + ?c) * ?a)] => replace ((b + c) * a) with (b * a + c * a) by ring
    | |- context [exp ((?b - ?c) * ?a)] => replace ((b - c) * a) with (b * a - c * a) by ring
    | |- context [exp (?a * 1)] => rewrite (Rmult_1_r a)
    | |- context [exp (1 * ?a)] => rewrite (Rmult_1_l a)
    | |- context [exp (?a * 0)] => rewrite (Rmult_0_r a)
    | |- context [exp (0 * ?a)] => rewrite (Rmult_0_l a)
    | |- context [exp (- ?a * ?b)] => replace (- a * b) with (- (a * b)) by ring
    | |- context [exp (?a * - ?b)] => replace (a * - b) with (- (a * b)) by ring
    end ].
(* equal exponents and equal radicands, one name *)
Ltac merge := repeat match goal with
  | |- context [exp ?a] => match goal with |- context [exp ?b] =>
      tryif constr_eq a b then fail else (replace (exp a) with (exp b) by (apply f_equal; first [ring | (field; side)])) end
  | |- context [sqrt ?a] => match goal with |- context [sqrt ?b] =>
      tryif constr_eq a b then fail else (replace (sqrt a) with (sqrt b) by (apply f_equal; reals; first [ring | (field; side)])) end
  end.
(* each root a variable w, and w w for its radicand *)
Ltac name_roots := repeat match goal with |- context [sqrt ?a] =>
  let P := fresh "P" in assert (P : 0 < a) by positive;
  let Q := fresh "Q" in pose proof (sqrt_sqrt a (Rlt_le _ _ P)) as Q;
  let W := fresh "W" in pose proof (sqrt_lt_R0 a P) as W;
  let w := fresh "w" in set (w := sqrt a) in *; clearbody w; rewrite <- ?Q end.
Ltac square_roots := repeat match goal with
  | |- context [sqrt ?a ^ 2] => replace (sqrt a ^ 2) with a by (symmetry; rewrite <- Rsqr_pow2; apply Rsqr_sqrt; positive)
  | |- context [sqrt ?a * sqrt ?a] => rewrite (sqrt_sqrt a) by positive
  end.
(* the root of a product *)
Ltac split_roots := repeat match goal with |- context [sqrt (?a * ?b)] => rewrite (sqrt_mult a b) by positive end.
Ltac arithmetic := first [reflexivity | (unfold Rdiv; ring) | (field; side)].
Ltac field_equal := indices; reals; first [arithmetic
  | (square_roots; arithmetic)
  | (merge; square_roots; arithmetic)
  | (expand; merge; square_roots; arithmetic)
  | (put_definitions; expand; merge; square_roots; arithmetic)
  | (merge; name_roots; arithmetic)
  | (split_roots; merge; name_roots; arithmetic)
  | (merge; name_roots;
     match goal with
     | Q1 : ?w * ?w = _, Q2 : ?v * ?v = _ |- _ => tryif constr_eq w v then fail else (field [Q1 Q2]; side)
     | Q1 : ?w * ?w = _ |- _ => field [Q1]; side
     | Q1 : ?w * ?w = _, Q2 : ?v * ?v = _, Q3 : ?u * ?u = _ |- _ =>
         tryif first [constr_eq w v | constr_eq w u | constr_eq v u] then fail else (field [Q1 Q2 Q3]; side)
     end)
  | (merge; name_roots; field_simplify_eq; [nra | side]) ].

(** ** Lines *)

(* a hypothesis of a line that is used *)
Ltac follows := indices; first [assumption | exact I | lia | lra | (reals; first [lra | nra])
  | reflexivity | (rewrite Rmult_0_l, exp_0; reflexivity) | (apply f_equal; first [ring | (field; side)]) | pos | nra
  | split; follows ].
Ltac take H :=
  lazymatch type of H with
  | ?A -> ?B => tryif (let F := fresh "F" in assert (F : A) by (cbv beta; follows); specialize (H F); clear F)
                then take H else idtac   (* a statement that is itself an implication *)
  | _ => cbv beta in H; indices_in H;
         repeat match goal with C : _ /\ _ |- _ => destruct C end
  end.
Ltac use L := let H := fresh "U" in pose proof L as H; cbv beta in H; take H.

(* equations from left to right *)
Ltac rewrites := repeat match goal with
  | U : @eq R ?a ?b |- context [?a] => tryif is_var a then fail else
      lazymatch b with context [a] => fail | _ => progress rewrite U end end.

(* two forms of one statement *)
Lemma Rlt_of (a b c d : R) : a < b -> c = a -> d = b -> c < d. Proof. intros; subst; assumption. Qed.
Lemma Rle_of (a b c d : R) : a <= b -> c = a -> d = b -> c <= d. Proof. intros; subst; assumption. Qed.
Lemma Rgt_of (a b c d : R) : a > b -> c = a -> d = b -> c > d. Proof. intros; subst; assumption. Qed.
Lemma Rge_of (a b c d : R) : a >= b -> c = a -> d = b -> c >= d. Proof. intros; subst; assumption. Qed.
Lemma Rneq_of (a b c d : R) : a <> b -> c = a -> d = b -> c <> d. Proof. intros; subst; assumption. Qed.
Ltac same H := first [exact H | (indices; exact H) | (indices; reals_in H; reals; first [exact H | lra
  | lazymatch type of H with
    | ?a = ?b => transitivity a; [field_equal | transitivity b; [exact H | field_equal]]
    | _ < _ => apply (Rlt_of _ _ _ _ H); field_equal
    | _ <= _ => apply (Rle_of _ _ _ _ H); field_equal
    | _ > _ => apply (Rgt_of _ _ _ _ H); field_equal
    | _ >= _ => apply (Rge_of _ _ _ _ H); field_equal
    | _ <> _ => apply (Rneq_of _ _ _ _ H); field_equal
    | _ -> _ => let h := fresh in intro h; first [exact (H h) | (let g := fresh in assert (g := H); take g; same g)]
    | is_lim_seq _ ?l => let e := fresh in pose proof H as e; 
        match goal with |- is_lim_seq _ ?l' => replace l' with l by (apply f_equal; field_equal); exact e end
    | is_derive _ _ ?l => match goal with |- is_derive _ _ ?l' => replace l' with l by field_equal; exact H end
    end ])].
Ltac cite L := use L; repeat match goal with |- _ /\ _ => split end;
  match goal with U : _ |- _ => solve [same U] end.

(** ** The rules *)

Ltac layers := cbn [Nat.sub]; rewrite ?Gram_0.
Ltac define_score := first [rewrite Score_l2 | rewrite Score_layernorm | rewrite Score_nonorm]; layers.
Ltac define_mix := first [rewrite Mix_l2 | rewrite Mix_layernorm | rewrite Mix_nonorm]; layers;
  first [rewrite Nat.eqb_refl | rewrite (proj2 (Nat.eqb_neq _ _)) by lia].

Ltac input_gram := first [apply equicorrelated_self | apply equicorrelated_other; lia].
Ltac identity := rewrites; rewrite ?sqrt_1; field_equal.
Ltac score := define_score; identity.
Ltac softmax := rewrite Weight_causal by lia;
  repeat match goal with |- context [sum (fun k => exp (0 * @?s k)) ?i] =>
    rewrite (sum_ext (fun k => exp (0 * s k)) (fun _ => 1) i) by (intros; rewrite Rmult_0_l; apply exp_0) end;
  rewrite ?Rmult_0_l, ?exp_0; first [reflexivity | (unfold Rdiv; ring)].
Ltac mix := define_mix; identity.
(* both orders of a double sum *)
Ltac either_order := first [reflexivity | (rewrite sum_comm; reflexivity)
  | (apply sum_ext; intros; apply sum_ext; intros; field_equal)
  | (rewrite sum_comm; apply sum_ext; intros; apply sum_ext; intros; field_equal)].
Ltac gram := first [rewrite Gram_one | rewrite Gram_next]; either_order.

Lemma equicorrelated_rule alpha (F : nat -> nat -> R) (f g : nat -> R) i j : (j <= i)%nat ->
  (forall k l, F k l = f k * g l * equicorrelated alpha k l) ->
  sum (fun k => sum (fun l => F k l) j) i = alpha * sum f i * sum g j + (1 - alpha) * sum (fun k => f k * g k) j.
Proof.
  intros H E. rewrite <- equicorrelated_sum by exact H.
  apply sum_ext; intros k _. apply sum_ext; intros l _. apply E.
Qed.
Ltac close_equicorrelated := first [field_equal
  | match goal with |- _ * sum ?f _ * sum ?g _ + _ * sum ?p ?j = ?v => match v with context [sum ?c j] =>
      replace (sum p j) with (sum c j) by (apply sum_ext; intros; cbv beta; ring); field_equal end end].
Ltac equicorrelated_sum f g :=
  let go := (rewrite (equicorrelated_rule _ _ f g) by
    (first [lia | (intros; cbv beta; ring)]); cbv beta; close_equicorrelated) in
  first [go | rewrite sum_comm; go].

Ltac split_last := rewrite sum_last by lia; first [reflexivity | field_equal].
Ltac constant_sum := rewrite sum_const; field_equal.
Ltac linear_sum := rewrite <- ?sum_scal; first [reflexivity | (apply sum_ext; intros; field_equal)].
Ltac termwise L := apply sum_ext; let k := fresh "k" in intros k ?; start; use (L k);
  match goal with U : @eq R _ _ |- _ => solve [same U] end.
Ltac one_term L := first [ match goal with U : _ |- _ => solve [exact U] end
  | match goal with U : _ > 0 |- _ => solve [same U] end | match goal with U : 0 < _ |- _ => solve [apply Rgt_lt in U; same U] end ].
Ltac positive_sum L := apply Rlt_gt; apply sum_pos; [lia|]; let k := fresh "k" in intros k ?; start; use (L k);
  apply Rgt_lt; one_term L.
Ltac positive_sum2 L := apply Rlt_gt; apply sum_pos; [lia|]; let k := fresh "k" in intros k ?; apply sum_pos; [lia|];
  let l := fresh "l" in intros l ?; start; use (L k l); apply Rgt_lt; one_term L.

Ltac detach := match goal with H : ?A -> ?B |- _ => solve [let g := fresh in assert (g := H); take g; same g] end.
Ltac conjunction := repeat match goal with |- _ /\ _ => split end; match goal with U : _ |- _ => solve [same U] end.
Ltac equals j e L := let E := fresh "E" in assert (E : j = e) by lia; subst j; use L;
  match goal with U : _ |- _ => solve [same U] end.
Ltac one_case L1 L2 := start; first [exfalso; lia | exfalso; lra | cite L1 | cite L2].
Ltac cases_positions a b L1 L2 := let C := fresh "C" in
  destruct (Ztrichotomy a b) as [C|[C|C]]; one_case L1 L2.
Ltac cases_reals a b L1 L2 := let C := fresh "C" in
  destruct (Rtotal_order a b) as [C|[C|C]]; one_case L1 L2.

Lemma less_by (F a b : R) : b - a = F -> 0 < F -> a < b. Proof. intros; lra. Qed.
Lemma at_most_by (F a b : R) : b - a = F -> 0 <= F -> a <= b. Proof. intros; lra. Qed.
Lemma differ_by (F a b : R) : a - b = F -> 0 < F -> a <> b. Proof. intros; lra. Qed.
Lemma differ_by' (F a b : R) : b - a = F -> 0 < F -> a <> b. Proof. intros; lra. Qed.
Ltac sign F := rewrites; lazymatch goal with
  | |- _ < _ => apply (less_by F); [identity | rewrites; pos]
  | |- _ > _ => apply Rlt_gt, (less_by F); [identity | rewrites; pos]
  | |- _ <= _ => apply (at_most_by F); [identity | rewrites; pos]
  | |- _ >= _ => apply Rle_ge, (at_most_by F); [identity | rewrites; pos]
  | |- _ <> _ => first [apply (differ_by F); [identity | rewrites; pos] | apply (differ_by' F); [identity | rewrites; pos]]
  end.
Ltac slope_sign F := split; [eexists; eassumption | erewrite is_derive_unique by eassumption; sign F].
Ltac add := first [lra | (reals; lra) | (rewrites; lra) | nra].
Ltac exponential F := rewrites; put_definitions; rewrite <- ?exp_0; lazymatch goal with
  | |- exp _ < exp _ => apply exp_lt; replace_by F
  | |- exp _ <= exp _ => apply exp_le; replace_by F
  | |- exp _ > exp _ => apply Rlt_gt, exp_lt; replace_by F
  | |- exp _ >= exp _ => apply Rle_ge, exp_le; replace_by F
  end
with replace_by F := match goal with |- ?rel 0 ?e => replace e with F by field_equal; pos end.
Ltac one_is_sqrt := match goal with |- 1 < sqrt ?b => rewrite <- sqrt_1 at 1 | |- sqrt _ < 1 => rewrite <- sqrt_1 | _ => idtac end.
Lemma root_lt (a b : R) : 0 <= a -> 0 < b - a -> sqrt a < sqrt b.
Proof. intros. apply sqrt_lt_1_alt. lra. Qed.
Ltac root F := one_is_sqrt; apply root_lt; [positive | rewrites; replace_by F].
Ltac product c := match goal with U : ?a < ?b |- _ => solve [
  let H := fresh in assert (H : c * a < c * b) by (apply Rmult_lt_compat_l; [rewrites; positive | exact U]); same H] end.
Lemma quotient_pos (c a b : R) : 0 < c -> 0 < b -> b < a -> c / a < c / b.
Proof.
  intros C B H. apply Rmult_lt_compat_l; [exact C|]. apply Rinv_lt_contravar; [apply Rmult_lt_0_compat; lra|exact H].
Qed.
Lemma quotient_neg (c a b : R) : 0 < - c -> 0 < b -> b < a -> c / b < c / a.
Proof.
  intros C B H. pose proof (quotient_pos (- c) a b C B H) as Q. unfold Rdiv in *. lra.
Qed.
Ltac quotient c := match goal with U : ?b < ?a |- _ => solve [
  let H := fresh in first
    [ assert (H : c / a < c / b) by (apply quotient_pos; [positive | positive | exact U])
    | assert (H : c / b < c / a) by (apply quotient_neg; [positive | positive | exact U]) ];
  first [same H | (apply Rlt_gt; same H)]] end.

Ltac derivative := auto_derive; [side | field_equal].
Lemma decreasing_on f : (forall m, 0 <= m -> ex_derive f m /\ Derive f m < 0) ->
  forall x y, 0 <= x -> x < y -> f y < f x.
Proof.
  intros H x y X L. destruct (MVT_gen f x y (Derive f)) as [c [C E]].
  - intros z Z. rewrite Rmin_left, Rmax_right in Z by lra. apply Derive_correct, H. lra.
  - intros z Z. rewrite Rmin_left, Rmax_right in Z by lra. apply continuity_pt_filterlim.
    apply (ex_derive_continuous f z), H. lra.
  - rewrite Rmin_left, Rmax_right in C by lra. destruct (H c ltac:(lra)) as [_ N].
    assert (0 < - Derive f c * (y - x)) by (apply Rmult_lt_0_compat; lra). lra.
Qed.
Ltac decreasing f x y L :=
  let H := fresh in assert (H : f y < f x) by
    (apply (decreasing_on f); [let m := fresh "m" in intros m ?; start; use (L m); split; assumption | positive | lra]);
  cbv beta in H; same H.

Ltac cauchy_schwarz := first
  [ apply below_diagonal; [follows | positive | positive | lia | unfold independent; follows]
  | (eapply Rlt_of; [apply below_diagonal; [ | | | | ] | unfold l2_decoder; reflexivity | reflexivity]);
    [follows | positive | positive | lia | unfold independent; follows] ].
Ltac symmetric := apply Gram_symmetric, equicorrelated_symmetric.

Lemma minors_rule D K n : 
  (forall i k j l, (1 <= i < k)%nat -> (1 <= j < l)%nat ->
     Gram D K n i j * Gram D K n k l >= Gram D K n i l * Gram D K n k j) ->
  (forall i j, (1 <= j <= i)%nat -> Mix D K (S n) i j >= 0) ->
  (forall i k j l, (1 <= i < k)%nat -> (1 <= j < l)%nat -> (l <= i)%nat ->
     Mix D K (S n) i j * Mix D K (S n) k l >= Mix D K (S n) i l * Mix D K (S n) k j) ->
  forall i k j l, (1 <= i < k)%nat -> (1 <= j < l)%nat ->
    Gram D K (S n) i j * Gram D K (S n) k l >= Gram D K (S n) i l * Gram D K (S n) k j.
Proof.
  intros G P M i k j l I J.
  pose proof (minors_layer D (Gram D K n) (Nat.max k l)) as Q. unfold minors_nonneg, minor in Q.
  assert (MM : forall a c, Mix D K (S n) a c = layer_mix D (Gram D K n) a c)
    by (intros; unfold Mix; replace (S n - 1)%nat with n by lia; reflexivity).
  specialize (Q ltac:(intros a c e f A C E F; specialize (G a c e f A ltac:(lia)); lra)).
  specialize (Q ltac:(intros a e E A; specialize (P a e E); rewrite MM in P; lra)).
  specialize (Q ltac:(intros a c e f A C E F; specialize (M a c e f A E F); rewrite !MM in M; lra)).
  specialize (Q i k j l I ltac:(lia) J ltac:(lia)).
  change (Gram D K (S n)) with (layer_gram D (Gram D K n)). lra.
Qed.
Ltac minors i k j l L1 L2 L3 :=
  match goal with |- context [Gram ?D ?K (S ?n) _ _] =>
    let M := fresh "M" in assert (M : Gram D K (S n) i j * Gram D K (S n) k l >= Gram D K (S n) i l * Gram D K (S n) k j) by
    (apply minors_rule;
      [ let i := fresh "i" in let k := fresh "k" in let j := fresh "j" in let l := fresh "l" in
        intros i k j l; start; cite (L1 i k j l)
      | let i := fresh "i" in let j := fresh "j" in intros i j; start; cite (L2 i j)
      | let i := fresh "i" in let k := fresh "k" in let j := fresh "j" in let l := fresh "l" in
        intros i k j l; start; cite (L3 i k j l)
      | lia | lia ]); same M end.

Lemma score_scale_one b lam alpha n i j :
  Score (Decoder L2 1 b lam Causal) (equicorrelated alpha) n i j = Score (l2_decoder b lam) (equicorrelated alpha) n i j.
Proof. reflexivity. Qed.
Ltac each_layer L k := lazymatch L with
  | (?A, ?B) => first [each_layer A k | cite B]
  | _ => cite L
  end.
Ltac independence L := rewrite score_scale_one; apply independence;
  [ follows | unfold independent; first [follows | (apply Rplus_lt_le_0_compat; [lra | apply Rmult_le_pos; leaf])] | lia | lia
  | let n := fresh "n" in let k := fresh "k" in intros n k ? ?; start; unfold l2_decoder;
    repeat (destruct n as [|n]; [try (exfalso; lia) | ]); try (exfalso; lia); apply Rgt_lt;
    let M := eval cbv beta in (L k) in each_layer M k ].

(** Limits *)

Lemma limit_value (f : nat -> R) (l c : R) : is_lim_seq f l -> l = c -> is_lim_seq f c.
Proof. intros H <-. exact H. Qed.
Lemma limit_of_rational (f : nat -> R) (F : R -> R) (c : R) :
  (forall i, (1 <= i)%nat -> f i = F (/ INR i)) -> ex_derive F 0 -> F 0 = c -> is_lim_seq f c.
Proof.
  intros E H <-. apply (limit_from _ (fun i => F (/ INR i)) _ 0); [intros i I; apply E; lia|].
  apply is_lim_seq_continuous; [apply continuity_pt_filterlim, (ex_derive_continuous F 0 H)|].
  apply (is_lim_seq_ext (fun i => / (0 + INR i))); [intro; f_equal; ring|apply inverse_to_zero].
Qed.
Ltac rational_limit F := apply (limit_of_rational _ F);
  [ let i := fresh "i" in intros i ?; start; cbv beta; field_equal
  | auto_derive; side
  | cbv beta; first [field_equal | (rewrites; field_equal)] ].

Lemma limit_sqrt (f : nat -> R) (l : R) : is_lim_seq f l -> 0 < l -> is_lim_seq (fun i => sqrt (f i)) (sqrt l).
Proof. intros H P. apply is_lim_seq_continuous; [apply continuity_pt_sqrt; lra|exact H]. Qed.
Lemma limit_pow2 (f : nat -> R) (l : R) n : is_lim_seq f l -> is_lim_seq (fun i => f i ^ n) (l ^ n).
Proof.
  intro H. induction n as [|n IH]; simpl; [apply is_lim_seq_const|]. apply is_lim_seq_mult'; assumption.
Qed.
Lemma limit_inv (f : nat -> R) (l : R) : is_lim_seq f l -> l <> 0 -> is_lim_seq (fun i => / f i) (/ l).
Proof. intros H N. apply (is_lim_seq_inv f l H). intro E. injection E. exact N. Qed.
Ltac continuous := first
  [ eassumption | apply is_lim_seq_const
  | eapply is_lim_seq_minus'; continuous | eapply is_lim_seq_plus'; continuous
  | eapply is_lim_seq_div'; [continuous | continuous | ] | eapply is_lim_seq_mult'; continuous
  | eapply limit_sqrt; [continuous | ] | eapply limit_inv; [continuous | ] | eapply limit_pow2; continuous
  | eapply (is_lim_seq_opp _ (Finite _)); continuous ].
Ltac limit_algebra := eapply limit_value; [continuous; try side | field_equal].
Ltac limit_of_equal n L := eapply (limit_from _ _ _ n);
  [ let i := fresh "i" in intros i ?; start; use (L i); match goal with U : _ = _ |- _ => exact U end | cbv beta; assumption ].
