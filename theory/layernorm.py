r"""LayerNorm is l2 normalisation of the centred vectors, with another temperature and another residual.

With P the projection onto the vectors whose coordinates sum to zero, LN(x) = sqrt(d) P x / ||P x||. Three facts
make a layer with LayerNorm a layer with l2 normalisation:

1. P acts on coordinates and mixing on tokens, so they commute: the vectors z_i = P x_i / sqrt(d) obey

       z_i' = lam z_i + sum_j A_ij z_j / ||z_j||,

   the l2 layer with the same residual weight lam.
2. <LN(x_i), LN(x_j)> = d cos(z_i, z_j), so scores are cosines, of vectors in d - 1 dimensions, times d/scale, and
   the weights are those of the l2 layer at the inverse temperature beta d/scale: beta sqrt(d) for the usual scale
   sqrt(d), beta for the scale d.
3. The l2 layer sees inputs only through their directions, except in the residual. It is fed z_i of norm
   ||P x_i||/sqrt(d), so relative to unit vectors the *first* layer's residual weighs

       lam ||P x_i|| / sqrt(d)

   and every later one lam. Inputs with ||P x_i|| = sqrt(d) make it lam in every layer; unit inputs, as in the
   paper's Appendix B, make it lam/sqrt(d) in the first.

``theory.equivalence`` derives this, for any way to normalise and any scale, for the first two layers on equicorrelated
inputs, from the definition of both layers. In all that is said of LayerNorm here, inputs are the centred vectors:
Equicorrelated(alpha) says that P x_i are unit vectors with cosine alpha, and the Gram matrix is that of the P x_i.
"""

from __future__ import annotations

from typing import Literal

from sympy import Expr, sqrt

from maskproof.theory import equivalence
from maskproof.theory.decoder import Decoder
from maskproof.theory.derivation import Derivation
from maskproof.theory.equivalence import WIDE, Family
from maskproof.theory.symbols import d

Scale = Literal["sqrt(d)", "d"]


def decoder(scale: Scale = "sqrt(d)") -> Decoder:
    """The causal LayerNorm decoder with symbolic inverse temperature and residual weight."""
    return Family("layernorm", scale).decoder


def score_gain(scale: Scale = "sqrt(d)") -> Expr:
    """d/scale: the score of two vectors per unit of cosine."""
    return Family("layernorm", scale).gain


def equivalent(scale: Scale = "sqrt(d)") -> Decoder:
    """The l2 decoder whose first two layers are those of ``decoder(scale)`` on unit inputs."""
    return Family("layernorm", scale).twin


def effective_residual(residual: Expr, input_norm: Expr) -> Expr:
    """The residual weight of the first layer relative to unit vectors, for inputs of this (centred) norm.

    >>> from sympy import Integer
    >>> effective_residual(Integer(1), Integer(1)).subs(d, 64)
    1/8
    """
    return residual * input_norm / sqrt(d)


def first_layer(scale: Scale = "sqrt(d)") -> Derivation:
    """The first layer with LayerNorm is that of the equivalent l2 decoder, its vectors longer by sqrt(d)."""
    return equivalence.first_layer(Family("layernorm", scale))


def reduction(scale: Scale = "sqrt(d)") -> Derivation:
    """The second layer's scores with LayerNorm are those of the equivalent l2 decoder times d/scale."""
    return equivalence.reduction(Family("layernorm", scale))


def recency(scale: Scale = "sqrt(d)") -> Derivation:
    """With LayerNorm, too, closer keys score higher in the second layer, up to and including the diagonal."""
    return equivalence.recency(Family("layernorm", scale))


__all__ = ["WIDE", "Scale", "decoder", "effective_residual", "equivalent", "first_layer", "recency", "reduction",
           "score_gain"]  # fmt: skip
