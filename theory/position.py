"""Position encodings: what a layer does with the distance i - j of query and key.

A rotary embedding turns normalised vectors before they are compared; ALiBi and T5 add a number to the
exponent of the softmax instead, so that

    A_ij = softmax over the visible keys j of (beta * S_ij + bias(i - j)),

and leave the score S_ij itself alone. Everything here is plain data.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import sympy

from maskproof.theory.errors import InvalidInput
from maskproof.theory.values import exact, positive_integer, require


class Position(ABC):
    """What every position encoding says of itself.

    Attributes:
        name: what terms call it.
    """

    name: ClassVar[str]

    @property
    @abstractmethod
    def words(self) -> str:
        """The encoding in words."""

    @property
    @abstractmethod
    def data(self) -> PositionData:
        """What it is made of."""

    def bias(self, distance: int) -> sympy.Expr:
        """What is added to beta * S for a key at ``distance`` = i - j: nothing, unless a subclass says otherwise."""
        return sympy.Integer(0)

    @classmethod
    @abstractmethod
    def of(cls, data: PositionData) -> Self:
        """The encoding that is made of this."""


@dataclass(frozen=True)
class PositionData:
    """Real parameters, those for later keys if they have their own, and a whole number if there is one."""

    numbers: tuple[Any, ...]
    later: tuple[Any, ...] | None = None
    size: int | None = None


@dataclass(frozen=True)
class Rope(Position):
    """Rotary position embedding with angles base^(-2m/dim), m = 0..dim/2-1.

    The vector of token i is cut into blocks of ``dim`` coordinates, as a model cuts it into heads, and in
    every block plane m turns by i times angle m. So ``dim`` has to divide the width; a score is the inner
    product over all blocks. The simulations of the paper have a single block: dim is the width.

    Source: arXiv 2104.09864, section 3.2.
    """

    name: ClassVar[str] = "rope"

    base: sympy.Expr = sympy.Integer(10000)
    dim: int = 64

    def __post_init__(self) -> None:
        object.__setattr__(self, "base", exact(self.base, "base"))
        object.__setattr__(self, "dim", positive_integer(self.dim, "dim"))
        require(self.base > 1, f"base = {self.base}", "base > 1", "RoPE commonly uses 10000")
        if self.dim % 2:
            raise InvalidInput(f"dim = {self.dim}", "'dim is even'", "RoPE rotates pairs of coordinates")

    @property
    def words(self) -> str:
        """The encoding in words."""
        return f"RoPE with base {self.base} and dimension {self.dim}"

    @property
    def data(self) -> PositionData:
        """The base; the dimension."""
        return PositionData((self.base,), size=self.dim)

    @classmethod
    def of(cls, data: PositionData) -> Rope:
        """The encoding that is made of this."""
        return cls(data.numbers[0], data.size or 0)

    def check_width(self, d: int | None) -> None:
        """Refuse a width that is not made of whole blocks.

        Raises:
            InvalidInput: ``dim`` does not divide ``d``.
        """
        if d is not None and d % self.dim:
            raise InvalidInput(
                f"RoPE dim = {self.dim}", f"'dim divides the width' {d}", "choose a divisor of the width"
            )


@dataclass(frozen=True)
class Alibi(Position):
    """Linear bias: bias(D) = -slope |D| for keys at distance D.

    Published for causal masks, where D = i - j >= 0; for keys after the query it is read symmetrically.

    Source: arXiv 2108.12409, section 3.
    """

    name: ClassVar[str] = "alibi"

    slope: sympy.Expr

    def __post_init__(self) -> None:
        object.__setattr__(self, "slope", exact(self.slope, "slope"))
        require(self.slope >= 0, f"slope = {self.slope}", "slope >= 0", "ALiBi lowers distant keys")

    @property
    def words(self) -> str:
        """The encoding in words."""
        return f"ALiBi with slope {self.slope}"

    @property
    def data(self) -> PositionData:
        """The slope."""
        return PositionData((self.slope,))

    @classmethod
    def of(cls, data: PositionData) -> Alibi:
        """The encoding that is made of this."""
        return cls(data.numbers[0])

    def bias(self, distance: int) -> sympy.Expr:
        """What is added to beta * S for a key at ``distance`` = i - j."""
        return -self.slope * abs(distance)


@dataclass(frozen=True)
class T5Bias(Position):
    """Bucketed relative bias: bias(D) is one of a few numbers, the one of the bucket of D.

    With B values there are B//2 buckets for single distances 0, 1, ...; the others widen in geometric
    progression up to ``max_distance``, and the last also holds everything beyond.

    Attributes:
        values: the bias of each bucket for keys up to the query, D >= 0; at least two.
        later: the same for keys after the query, |D| counting; None where the mask shows none.
        max_distance: where the last bucket ends its growth; above B//2.

    Source: arXiv 1910.10683, section 2.1, and the code published with it. T5 learns the values.
    """

    name: ClassVar[str] = "t5"

    values: tuple[sympy.Expr, ...]
    later: tuple[sympy.Expr, ...] | None = None
    max_distance: int = 128

    def __post_init__(self) -> None:
        object.__setattr__(self, "max_distance", positive_integer(self.max_distance, "max_distance"))
        object.__setattr__(self, "values", _biases(self.values, "values", self.max_distance))
        if self.later is not None:
            object.__setattr__(self, "later", _biases(self.later, "later", self.max_distance))

    @property
    def words(self) -> str:
        """The encoding in words."""
        return f"T5 biases {', '.join(map(str, self.values))} up to distance {self.max_distance}"

    @property
    def data(self) -> PositionData:
        """The values; the largest distance."""
        return PositionData(self.values, self.later, self.max_distance)

    @classmethod
    def of(cls, data: PositionData) -> T5Bias:
        """The encoding that is made of this."""
        return cls(data.numbers, data.later, data.size or 0)

    def bias(self, distance: int) -> sympy.Expr:
        """What is added to beta * S for a key at ``distance`` = i - j.

        Raises:
            InvalidInput: the key comes after the query, and there are no values for such.
        """
        if distance >= 0:
            return self.values[bucket(distance, len(self.values), self.max_distance)]
        if self.later is None:
            raise InvalidInput(f"distance {distance}", "'there are values for later keys'", "give later=...")
        return self.later[bucket(-distance, len(self.later), self.max_distance)]


def _biases(values: Any, name: str, max_distance: int) -> tuple[sympy.Expr, ...]:
    if not isinstance(values, tuple | list | sympy.Tuple):
        raise InvalidInput(f"{name} = {values!r}", f"'{name} is a tuple of numbers'", "give one a bucket")
    biases = tuple(exact(value, f"{name}[{place}]") for place, value in enumerate(values))
    if len(biases) < 2:
        raise InvalidInput(f"{len(biases)} {name}", f"'{name} has at least two entries'", "give one a bucket")
    if max_distance <= len(biases) // 2:
        raise InvalidInput(
            f"max_distance = {max_distance}",
            f"max_distance > {len(biases) // 2}, the number of single distances",
            "raise it or give fewer values",
        )
    return biases


def bucket(distance: int, buckets: int, max_distance: int) -> int:
    """The bucket of a distance >= 0: single distances first, then logarithmic ranges.

    With E = buckets//2 single distances, a distance D >= E lies in bucket
    E + floor((buckets - E) log(D/E) / log(max_distance/E)), or in the last one. The comparison is made
    in whole numbers, so that no rounding moves a distance across an edge.

    >>> [bucket(distance, 8, 32) for distance in (0, 3, 4, 6, 7, 12, 19, 20, 1000)]
    [0, 3, 4, 4, 5, 6, 6, 7, 7]
    """
    single = buckets // 2
    if distance < single:
        return distance
    rest = buckets - single
    step = 0
    while step < rest - 1 and (distance**rest * single ** (step + 1) >= max_distance ** (step + 1) * single**rest):
        step += 1
    return single + step


POSITIONS: dict[str, type[Position]] = {kind.name: kind for kind in (Rope, Alibi, T5Bias)}
