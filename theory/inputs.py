"""Three laws of the input vectors, which the paper does not keep apart.

They agree in the limit of infinite width only. A claim about ``Equicorrelated`` is about exact
numbers; a claim about one of the random laws is about expectations over it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar

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


class Inputs(ABC):
    """What every law of the inputs says of itself.

    Attributes:
        name: what terms call it.
        random: whether a claim about it is about expectations.
        alpha: the correlation.
    """

    name: ClassVar[str]
    random: ClassVar[bool] = True
    alpha: sympy.Expr

    @property
    @abstractmethod
    def words(self) -> tuple[str, ...]:
        """The law in words: what it is, then its parameters, those left out that are symbols of their own name."""

    def at_width(self, d: sympy.Expr) -> Inputs:
        """The random law of the same family at another width.

        Raises:
            InvalidInput: the law has no width.
        """
        raise InvalidInput(f"inputs {self}", "'the inputs are random'", "use Sphere or SharedGaussian")


def _parameters(**values: sympy.Expr) -> tuple[str, ...]:
    return tuple(f"{name} = {value}" for name, value in values.items() if str(value) != name)


@dataclass(frozen=True)
class Equicorrelated(Inputs):
    """The deterministic Gram matrix with 1 on the diagonal and ``alpha`` off it (paper, Eq. 2).

    It is the exact limit of infinite width of the two random laws. Unit vectors with this Gram
    matrix exist for n tokens when -1/(n-1) <= alpha; alpha = 1, where all tokens coincide, is left out.
    """

    name: ClassVar[str] = "equicorrelated"
    random: ClassVar[bool] = False

    alpha: sympy.Expr

    @property
    def words(self) -> tuple[str, ...]:
        """The law in words."""
        return "equicorrelated inputs", *_parameters(alpha=self.alpha)

    def __post_init__(self) -> None:
        value = exact(self.alpha, "alpha")
        require(value < 1, f"alpha = {value}", "alpha < 1", "at 1 all tokens coincide")
        require(value >= -1, f"alpha = {value}", "alpha >= -1", "cosines lie between -1 and 1")
        object.__setattr__(self, "alpha", value)


@dataclass(frozen=True)
class Sphere(Inputs):
    """Random unit vectors in R^d whose pairwise cosines have mean exactly ``alpha``.

    alpha = 0: independent and uniform on the sphere. alpha > 0: sqrt(alpha) u + sqrt(1-alpha) v_i
    with u uniform on the sphere and v_i independent, uniform on the unit sphere orthogonal to u.
    """

    name: ClassVar[str] = "sphere"

    d: sympy.Expr
    alpha: sympy.Expr = sympy.Integer(0)

    @property
    def words(self) -> tuple[str, ...]:
        """The law in words."""
        return "expectation over random unit vectors", *_parameters(d=self.d, alpha=self.alpha)

    def at_width(self, d: sympy.Expr) -> Sphere:
        """The law at another width."""
        return replace(self, d=d)

    def __post_init__(self) -> None:
        object.__setattr__(self, "d", _width(self.d))
        object.__setattr__(self, "alpha", _random_alpha(self.alpha))
        if self.d == 1 and self.alpha.is_positive:
            raise InvalidInput("d = 1", "d >= 2 for alpha > 0", "the sphere orthogonal to u must not be empty")


@dataclass(frozen=True)
class SharedGaussian(Inputs):
    """What the paper's published code samples.

    With g_0, g_1, ... independent N(0, I_d) and c = sqrt(alpha/(1-alpha)): g_i + c g_0, divided by
    its norm if ``unit`` (version 1) or by sqrt(d) if not (version 2). Its mean cosine is not alpha.
    """

    name: ClassVar[str] = "gaussian"

    d: sympy.Expr
    alpha: sympy.Expr = sympy.Integer(0)
    unit: bool = True

    @property
    def words(self) -> tuple[str, ...]:
        """The law in words."""
        kind = "normalised Gaussians" if self.unit else "Gaussians"
        return f"expectation over {kind} with a shared part", *_parameters(d=self.d, alpha=self.alpha)

    def at_width(self, d: sympy.Expr) -> SharedGaussian:
        """The law at another width."""
        return replace(self, d=d)

    def __post_init__(self) -> None:
        object.__setattr__(self, "d", _width(self.d))
        object.__setattr__(self, "alpha", _random_alpha(self.alpha))
        if not isinstance(self.unit, bool):
            raise InvalidInput(f"unit = {self.unit!r}", "'unit is a Boolean'", "use True or False")


LAWS: dict[str, type[Inputs]] = {kind.name: kind for kind in (Equicorrelated, Sphere, SharedGaussian)}
