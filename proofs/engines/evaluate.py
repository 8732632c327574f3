"""Truth of a statement at many points: in balls, with more bits until it is decided, at last in exact numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

from flint import arb, fmpq

from maskproof.numerics.balls import working_precision
from maskproof.proofs.engines.ball_arithmetic import Balls
from maskproof.proofs.engines.compiler import Compiler, all_hold
from maskproof.proofs.engines.exact_arithmetic import Budget, decided
from maskproof.proofs.engines.numbers import fraction
from maskproof.proofs.engines.scene import Check, Scene
from maskproof.proofs.engines.truth import Truth, Undefined
from maskproof.proofs.terms import terms as t

PRECISIONS = (64, 192, 640)  # bits, tried in turn until the statement is decided

Reals = Mapping[t.Variable, Fraction | int | fmpq | arb]
Integers = Mapping[t.Variable, int]


@dataclass(frozen=True)
class Decision:
    """What is known of a statement at one point.

    Attributes:
        truth: True, False, None for undecided, or that it has no value.
        precision: bits at which it was decided, or the most that were tried.
        gap: if undecided, how far apart the sides of a comparison can still be.
        at_equality: if undecided, the statement's truth should those sides be equal.
        exact: whether exact numbers decided it, where balls could not.
        reason: if undecided, why a part could not be evaluated.
    """

    truth: Truth
    precision: int
    gap: arb | None = None
    at_equality: Truth = None
    exact: bool = False
    reason: str = ""

    @property
    def consistent(self) -> bool:
        """Undecided, but true if sides that agree to half the precision tried are equal."""
        if self.truth is not None or self.at_equality is not True or self.gap is None:
            return False
        return bool(self.gap < arb(2) ** (-self.precision // 2))


class Evaluator:
    """Decides one statement at many points, keeping what points share.

    Raises:
        NotApplicable: the statement has a part that numbers don't apply to.
    """

    def __init__(self, statement: t.Statement) -> None:
        self.statement = statement
        self.compiler = Compiler(statement)
        self.check = self.compiler.statement(statement, self.compiler.scope)

    @cached_property
    def demands(self) -> list[Check]:
        """What lets every relation of the statement have a value."""
        return self.compiler.demands(tuple(_sides(self.statement)), self.compiler.scope)

    def at(self, reals: Reals, horizon: int = 1) -> Parameters:
        """The evaluator at fixed values (exact numbers or balls) of the real variables.

        ``horizon`` is the largest position that points will ask for, as far as is known.
        """
        return Parameters(self, reals, horizon)


class Parameters:
    """An evaluator at fixed real parameters: decides at points of the integer variables."""

    def __init__(self, evaluator: Evaluator, reals: Reals, horizon: int) -> None:
        self.evaluator = evaluator
        self.horizon = horizon
        self._reals = {v: x if isinstance(x, fmpq | arb) else fraction(x) for v, x in reals.items()}
        self._scenes: dict[int, Scene] = {}
        self._kept: dict[Any, Any] = {}

    @property
    def pairs(self) -> int:
        """Pairs of tokens that were enclosed so far, in all layers and at all precisions."""
        return sum(scene.pairs for scene in self._scenes.values())

    def scene(self, integers: Integers, precision: int) -> Scene:
        """The scene of this point at ``precision`` bits; call it inside that precision."""
        compiler = self.evaluator.compiler
        if precision not in self._scenes:
            self._scenes[precision] = Scene(compiler.filled(self._reals), Balls(), self.horizon)
        scene = self._scenes[precision]
        scene.values += [arb.nan()] * (len(compiler.names) - len(scene.values))  # bound variables compiled since
        for variable, whole in integers.items():
            if variable in compiler.scope:
                scene.values[compiler.scope[variable]] = fmpq(whole)
        scene.ties, scene.gap, scene.reason = False, None, ""
        return scene

    def truth(self, integers: Integers, precision: int) -> Truth:
        """The statement's truth at this point, at ``precision`` bits."""
        with working_precision(precision):
            return self.evaluator.check(self.scene(integers, precision))

    def has_value(self, integers: Integers, precision: int) -> Truth:
        """Whether every relation of the statement has a value at this point, at ``precision`` bits."""
        demands = self.evaluator.demands
        with working_precision(precision):
            return all_hold(demands, self.scene(integers, precision))

    def decide(
        self, integers: Integers, precisions: Sequence[int] = PRECISIONS, budget: Budget | None = None
    ) -> Decision:
        """The statement's truth at this point, with precision raised until it is decided.

        What balls leave open is put to exact numbers as long as there is a ``budget``.
        """
        for precision in precisions:
            truth = self.truth(integers, precision)
            if truth is not None:
                return Decision(truth, precision)
        last = precisions[-1]
        with working_precision(last):
            scene = self.scene(integers, last)
            scene.ties = True
            at_equality = self.evaluator.check(scene)
            gap, reason, scene.ties = scene.gap, scene.reason, False
            if budget is not None and all(isinstance(value, fmpq) for value in self._reals.values()):
                truth = decided(self.evaluator.check, scene, self._kept, budget)
                if truth is not None:
                    return Decision(truth, last, exact=True)
        return Decision(None, last, gap, at_equality, reason=reason)


def _sides(statement: t.Statement) -> Iterator[t.Term]:
    """Both sides of every relation that the connectives of a statement join."""
    if isinstance(statement, t.Relation):
        yield from (statement.left, statement.right)
    for part in statement.parts:
        if isinstance(part, t.Statement):
            yield from _sides(part)


@lru_cache(maxsize=8)
def evaluator(statement: t.Statement) -> Evaluator:
    """The evaluator of ``statement``; engines that look at one claim in turn share what it compiled."""
    return Evaluator(statement)


__all__ = ["PRECISIONS", "Decision", "Evaluator", "Integers", "Parameters", "Reals", "Undefined", "evaluator"]
