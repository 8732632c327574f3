"""The decoder: a stack of attention layers without parameters.

One layer maps token vectors x_1..x_n in R^d to

    y_i  = N(x_i)                                     normalisation
    S_ij = <R_i y_i, R_j y_j> / scale                 score of query i and key j
    A_ij = softmax over the visible keys j of beta * S_ij (plus a bias: ``theory.position``)
    x_i' = residual * x_i + sum_j A_ij y_j

(arXiv 2509.21042, section 3.1: N projects to the unit sphere, and beta = scale = residual = 1.)
Everything here is plain data; positions count from 1.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import sympy

from maskproof.theory.errors import InvalidInput
from maskproof.theory.masks import MASKS, Bidirectional, Blocks, Causal, Dilated, Mask, Prefix, SlidingWindow
from maskproof.theory.position import Alibi, Position, Rope, T5Bias
from maskproof.theory.values import exact, require

NORMS = ("l2", "layernorm", "none")
SCALES = ("sqrt(d)", "d")


@dataclass(frozen=True)
class Decoder:
    """A stack of identical layers.

    Attributes:
        beta: inverse temperature of the softmax, >= 0.
        residual: weight of the residual stream, >= 0 (lam in formulas).
        norm: "l2" (unit norm), "layernorm" (centred, norm sqrt(d)) or "none".
        scale: what scores are divided by: a number > 0, "sqrt(d)" or "d" (d is the width).
        mask: which keys a query sees.
        position: None, ``Rope``, ``Alibi`` or ``T5Bias``.

    Raises:
        InvalidInput: a value is outside its range, or ``T5Bias`` has no values for keys that the mask shows.
    """

    beta: sympy.Expr = field(default=sympy.Integer(1))
    residual: sympy.Expr = field(default=sympy.Integer(1))
    norm: Literal["l2", "layernorm", "none"] = "l2"
    scale: sympy.Expr | Literal["sqrt(d)", "d"] = field(default=sympy.Integer(1))
    mask: Mask = field(default_factory=Causal)
    position: Position | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "beta", exact(self.beta, "beta"))
        object.__setattr__(self, "residual", exact(self.residual, "residual"))
        require(self.beta >= 0, f"beta = {self.beta}", "beta >= 0", "negate the scores instead")
        require(self.residual >= 0, f"residual = {self.residual}", "residual >= 0", "use 0 for none")
        if self.norm not in NORMS:
            raise InvalidInput(f"norm = {self.norm!r}", "'norm is known'", f"use one of {', '.join(NORMS)}")
        if not (isinstance(self.scale, str) and self.scale in SCALES):
            if isinstance(self.scale, str):
                raise InvalidInput(f"scale = {self.scale!r}", "'scale is known'", 'use a number, "sqrt(d)" or "d"')
            object.__setattr__(self, "scale", exact(self.scale, "scale"))
            require(self.scale > 0, f"scale = {self.scale}", "scale > 0", "use 1 for none")
        if not isinstance(self.mask, Mask):
            raise InvalidInput(
                f"mask = {self.mask!r}",
                "'mask is known'",
                f"use {', '.join(sorted(mask.__name__ for mask in MASKS.values()))}",
            )
        if self.position is not None and not isinstance(self.position, Position):
            raise InvalidInput(
                f"position = {self.position!r}",
                "'position is known'",
                "use None, Rope(base, dim), Alibi(slope) or T5Bias(values)",
            )
        if self.mask.ahead and isinstance(self.position, T5Bias) and self.position.later is None:
            raise InvalidInput(
                f"T5Bias without values for later keys under {self.mask}",
                "'every visible key has a bias'",
                "give T5Bias(values, later=...)",
            )

    def scale_at(self, d: int | None) -> sympy.Expr:
        """The number that scores are divided by at width ``d``.

        Raises:
            InvalidInput: the scale depends on the width and none is given.
        """
        if not isinstance(self.scale, str):
            return self.scale
        if d is None:
            raise InvalidInput(f"scale = {self.scale!r} without a width", "'the width d is known'", "give dim")
        return sympy.sqrt(d) if self.scale == "sqrt(d)" else sympy.Integer(d)


__all__ = [
    "NORMS", "SCALES", "Alibi", "Bidirectional", "Blocks", "Causal", "Decoder", "Dilated", "Mask", "Position",
    "Prefix", "Rope", "SlidingWindow", "T5Bias",
]  # fmt: skip
