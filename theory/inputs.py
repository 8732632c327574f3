"""Three laws of the input vectors, which the paper does not keep apart.

They agree in the limit of infinite width only. A claim about ``Equicorrelated`` is about exact
numbers; a claim about one of the random laws is about expectations over it.
"""

from __future__ import annotations

from dataclasses import dataclass

import sympy

from maskproof.theory.errors import InvalidInput
from maskproof.theory.values import exact, require


def _width(d: object) -> sympy.Expr:
    width = exact(d, "d")
    if width.is_integer is False:
        raise InvalidInput(f"d = {d}", "'d is an integer'", "give a whole number")
    require(width >= 1, f"d = {d}", "d >= 1", "give a width of at least 1")
    return width


def _random_alpha(alpha: object) -> sympy.Expr:
    value = exact(alpha, "alpha")
    require(value >= 0, f"alpha = {value}", "alpha >= 0", "a shared direction cannot repel")
    require(value < 1, f"alpha = {value}", "alpha < 1", "at 1 all tokens coincide")
    return value


@dataclass(frozen=True)
class Equicorrelated:
    """The deterministic Gram matrix with 1 on the diagonal and ``alpha`` off it (paper, Eq. 2).

    It is the exact limit of infinite width of the two random laws. Unit vectors with this Gram
    matrix exist for n tokens when -1/(n-1) <= alpha <= 1.
    """

    alpha: sympy.Expr

    def __post_init__(self) -> None:
        value = exact(self.alpha, "alpha")
        require(value < 1, f"alpha = {value}", "alpha < 1", "at 1 all tokens coincide")
        require(value >= -1, f"alpha = {value}", "alpha >= -1", "cosines lie between -1 and 1")
        object.__setattr__(self, "alpha", value)


@dataclass(frozen=True)
class Sphere:
    """Random unit vectors in R^d whose pairwise cosines have mean exactly ``alpha``.

    alpha = 0: independent and uniform on the sphere. alpha > 0: sqrt(alpha) u + sqrt(1-alpha) v_i
    with u uniform on the sphere and v_i independent, uniform on the unit sphere orthogonal to u.
    """

    d: sympy.Expr
    alpha: sympy.Expr = sympy.Integer(0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "d", _width(self.d))
        object.__setattr__(self, "alpha", _random_alpha(self.alpha))
        if self.d == 1 and self.alpha.is_positive:
            raise InvalidInput("d = 1", "d >= 2 for alpha > 0", "the sphere orthogonal to u must not be empty")


@dataclass(frozen=True)
class SharedGaussian:
    """What the paper's published code samples.

    With g_0, g_1, ... independent N(0, I_d) and c = sqrt(alpha/(1-alpha)): g_i + c g_0, divided by
    its norm if ``unit`` (version 1) or by sqrt(d) if not (version 2). Its mean cosine is not alpha.
    """

    d: sympy.Expr
    alpha: sympy.Expr = sympy.Integer(0)
    unit: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "d", _width(self.d))
        object.__setattr__(self, "alpha", _random_alpha(self.alpha))
        if not isinstance(self.unit, bool):
            raise InvalidInput(f"unit = {self.unit!r}", "'unit is a Boolean'", "use True or False")


Inputs = Equicorrelated | Sphere | SharedGaussian
