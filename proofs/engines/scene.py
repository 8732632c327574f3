"""What a compiled statement is evaluated in: values of its variables, and the arithmetic to use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from flint import arb, fmpq

from maskproof.proofs.engines.truth import Truth
from maskproof.proofs.terms import terms as t

Value = Callable[["Scene"], Any]
Check = Callable[["Scene"], Truth]


class Open(Exception):
    """A number that the arithmetic at hand can't give; it decides nothing."""


@dataclass(frozen=True)
class Model:
    """The parameters of a model, ready to be evaluated.

    Attributes:
        index: tells the models of a statement apart.
        term: the model.
        alpha, beta, residual, scale: of the inputs and of the decoder.
        width, tokens: None where the model does not depend on them.
        numbers, later: of the position code.
        depth: the deepest layer that the statement mentions.
        integers: where the integer variables that it depends on stand.
    """

    index: int
    term: t.Model
    alpha: Value
    beta: Value
    residual: Value
    scale: Value
    width: Value | None
    tokens: Value | None
    numbers: tuple[Value, ...]
    later: tuple[Value, ...] | None
    depth: int
    integers: tuple[int, ...]

    def key(self, scene: Scene) -> tuple[object, ...]:
        """What tells its parameters apart in a scene, in which real variables do not change."""
        return (self.index, *places(scene, self.integers)) if self.integers else (self.index,)


class Arithmetic(Protocol):
    """Numbers of one kind: balls, or exact ones. They add and multiply by ``+`` and ``*``."""

    def none(self) -> Any:
        """What stands for a number that does not exist."""

    def power(self, base: Any, exponent: int) -> Any:
        """An integer power."""

    def root(self, x: Any) -> Any:
        """The square root."""

    def root_of_product(self, factors: Sequence[Any]) -> Any:
        """The square root of a product."""

    def exp(self, x: Any) -> Any:
        """The exponential function."""

    def constant(self, name: str) -> Any:
        """pi or euler_gamma."""

    def apply(self, name: str, arguments: Sequence[Any]) -> Any:
        """A function by its name."""

    def entry(self, scene: Scene, model: Model, kind: str, layer: int, row: int, column: int) -> Any:
        """A quantity of a layer."""

    def compare(self, kind: str, a: Any, b: Any) -> bool | None:
        """Whether a relation of this kind holds."""

    def alive(self, scene: Scene, model: Model, layers: int, count: int) -> bool | None:
        """Whether none of the first ``count`` vectors vanishes after any of the first ``layers`` layers."""


@dataclass
class Scene:
    """A point, or a box of real parameters at an integer point.

    Attributes:
        values: of all variables, by their place.
        arithmetic: what they are calculated with.
        horizon: the number of tokens to look at at once, where later ones cost little.
        companion: the same point in balls, which is asked first; None in balls.
        ties: read an undecided comparison as one between equal values.
        gap: the largest distance that an undecided comparison leaves open.
        reason: why the last relation could not be evaluated.
        obstacle: what the arithmetic could not do.
        pairs: of tokens that were enclosed, in all layers, times asked: what it cost.
        known: whatever the arithmetic wants to keep.
    """

    values: list[Any]
    arithmetic: Arithmetic
    horizon: int = 1
    companion: Scene | None = None
    ties: bool = False
    gap: arb | None = None
    reason: str = ""
    obstacle: Open | None = None
    pairs: int = 0
    known: dict[Any, Any] = field(default_factory=dict)

    def open_gap(self, a: Any, b: Any) -> bool:
        """Record that ``a`` and ``b`` could not be told apart; False if they are not finite."""
        difference = arb(a) - arb(b)
        if not difference.is_finite():
            return False
        distance = abs(difference).abs_upper()
        if self.gap is None or not self.gap > distance:
            self.gap = distance
        return True


def places(scene: Scene, slots: Sequence[int]) -> list[object]:
    """The values at some places as keys; those of integers are quick to compare."""
    values = [scene.values[slot] for slot in slots]
    return [int(x.p) if isinstance(x, fmpq) and x.q == 1 else str(x) for x in values]
