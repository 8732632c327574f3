(** * A causal transformer decoder without parameters: the definitions

    This file defines what the theorems of Claims.v speak about, and proves nothing. The model is that of
    arXiv 2509.21042: attention layers with neither weights nor a feed-forward part. It is given twice, on vectors
    of R^d as one would program it, and by inner products alone, which is what the theorems use; Vectors.v proves that
    both give the same scores, weights and inner products.

    How to read the statements, and what a reviewer has to accept:

    - Tokens, coordinates and layers are natural numbers counted from 1. [x 0] means nothing; every theorem assumes
      that its positions are at least 1 and, for a query i and a key j, that j <= i. [INR i] is the natural number i
      as a real number.
    - Coq's functions are total: in Coq 1/0 and sqrt(-1) are some real numbers about which nothing useful is known.
      So a theorem about a quotient or a root says something only where its hypotheses make the denominator differ
      from 0 and the radicand be at least 0; the hypotheses of Claims.v are there for this, too.
    - [exp], [sqrt], [<], limits and derivatives are those of the libraries Reals and Coquelicot. *)

From Coq Require Import Reals Arith.
Open Scope R_scope.

(** f 1 + f 2 + ... + f n *)
Fixpoint sum (f : nat -> R) (n : nat) : R :=
  match n with
  | O => 0
  | S m => sum f m + f (S m)
  end.

(** ** What can be chosen *)

(** How a token vector x is normalised before attention.
    [L2]: x / |x|.  [LayerNorm d]: sqrt(d) Px / |Px|, Px being x in R^d minus the mean of its coordinates.  [NoNorm]: x. *)
Inductive normalisation := L2 | LayerNorm (d : nat) | NoNorm.

(** Which keys j a query i sees: all up to itself, or itself and the [width - 1] keys before it. *)
Inductive visibility := Causal | SlidingWindow (width : nat).

Definition sees (mask : visibility) (i j : nat) : bool :=
  match mask with
  | Causal => j <=? i
  | SlidingWindow width => (j <=? i) && (i <? j + width)
  end.

Record decoder := Decoder {
  norm : normalisation;
  scale : R;          (* scores are divided by it *)
  beta : R;           (* inverse temperature of the softmax *)
  residual : R;       (* weight of a token's own vector *)
  mask : visibility
}.

(** An infinite matrix; only entries at positions from 1 on are meant. *)
Definition matrix := nat -> nat -> R.

(** The weight of key j for query i, from the scores S. *)
Definition softmax (m : visibility) (b : R) (S : matrix) : matrix := fun i j =>
  if sees m i j
  then exp (b * S i j) / sum (fun k => if sees m i k then exp (b * S i k) else 0) i
  else 0.

(** ** The decoder on vectors *)

(** [x i c] is coordinate c of token i, for 1 <= c <= d. *)
Definition vectors := nat -> nat -> R.

Definition inner (d : nat) (x : vectors) : matrix := fun i j => sum (fun c => x i c * x j c) d.

Definition centred (d : nat) (x : vectors) : vectors := fun i c => x i c - sum (x i) d / INR d.

Section LayerOfVectors.
Variables (D : decoder) (d : nat) (x : vectors).

Definition normalised : vectors := fun i c =>
  match norm D with
  | L2 => x i c / sqrt (inner d x i i)
  | LayerNorm w => sqrt (INR w) * (centred d x i c / sqrt (inner d (centred d x) i i))   (* w is d *)
  | NoNorm => x i c
  end.

Definition vector_score : matrix := fun i j => inner d normalised i j / scale D.

Definition vector_weight : matrix := softmax (mask D) (beta D) vector_score.

(** What leaves the layer: x_i' = residual x_i + sum_j A_ij y_j. *)
Definition attend : vectors := fun i c =>
  residual D * x i c + sum (fun j => vector_weight i j * normalised j c) i.
End LayerOfVectors.

(** The vectors after so many layers. *)
Fixpoint stack (D : decoder) (d : nat) (x : vectors) (layers : nat) : vectors :=
  match layers with
  | O => x
  | S below => attend D d (stack D d x below)
  end.

(** ** The same by inner products

    A layer depends on its vectors only through inner products K: those of these vectors. *)

Definition relevant (D : decoder) (d : nat) (x : vectors) : vectors :=
  match norm D with LayerNorm _ => centred d x | _ => x end.

Section LayerOfMatrices.
Variables (D : decoder) (K : matrix).

(** The normalised vector is x_i times this (for LayerNorm: the centred x_i). *)
Definition stretch (i : nat) : R :=
  match norm D with
  | L2 => 1 / sqrt (K i i)
  | LayerNorm d => sqrt (INR d) / sqrt (K i i)
  | NoNorm => 1
  end.

Definition layer_score : matrix := fun i j => stretch i * stretch j * K i j / scale D.

Definition layer_weight : matrix := softmax (mask D) (beta D) layer_score.

(** The coefficient of x_j in x_i'. *)
Definition layer_mix : matrix := fun i j =>
  layer_weight i j * stretch j + (if i =? j then residual D else 0).

(** The inner product of x_i' and x_j'. *)
Definition layer_gram : matrix := fun i j =>
  sum (fun k => sum (fun l => layer_mix i k * layer_mix j l * K k l) j) i.
End LayerOfMatrices.

(** ** Any number of layers, from inputs with the inner products K *)

Section Stack.
Variables (D : decoder) (K : matrix).

(** Inner products after [layer] layers. *)
Fixpoint Gram (layer : nat) : matrix :=
  match layer with
  | O => K
  | S below => layer_gram D (Gram below)
  end.

(** Scores, weights and coefficients in layer 1, 2, ... *)
Definition Score (layer : nat) : matrix := layer_score D (Gram (layer - 1)).
Definition Weight (layer : nat) : matrix := layer_weight D (Gram (layer - 1)).
Definition Mix (layer : nat) : matrix := layer_mix D (Gram (layer - 1)).
End Stack.

(* so that [Score D K 2 i (j + 1)] reads j + 1 as a natural number *)
Arguments Gram D K layer%nat i%nat j%nat.
Arguments Score D K layer%nat i%nat j%nat.
Arguments Weight D K layer%nat i%nat j%nat.
Arguments Mix D K layer%nat i%nat j%nat.

(** Inputs: unit vectors, any two of which have the cosine alpha. *)
Definition equicorrelated (alpha : R) : matrix := fun i j => if i =? j then 1 else alpha.

(** The vectors x_1, ..., x_n of R^d are such inputs. *)
Definition are_equicorrelated (alpha : R) (n d : nat) (x : vectors) : Prop :=
  forall i j, (1 <= i <= n)%nat -> (1 <= j <= n)%nat -> inner d x i j = equicorrelated alpha i j.

(** The decoder of most theorems: l2 normalisation, causal mask, scores not divided. *)
Definition l2_decoder (beta lam : R) : decoder := Decoder L2 1 beta lam Causal.
