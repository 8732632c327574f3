"""What is not linear in expectations, enclosed where each of them is known to lie in an interval.

Leave-one-out estimates see a function only next to the mean. Where it bends on the scale of the standard error (a
sign, a reciprocal near its pole) they say nothing of its error; intervals do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

from flint import arb

from maskproof.numerics.balls import working_precision
from maskproof.proofs.engines.ball_arithmetic import Balls
from maskproof.proofs.engines.compiler import Compiler
from maskproof.proofs.engines.numbers import Real, fraction
from maskproof.proofs.engines.scene import Model, Scene
from maskproof.proofs.terms import terms as t

PRECISION = 64  # bits

# kind of a quantity, its model, layer, row, column, number of standard errors -> its interval
Interval = Callable[[str, t.Model, int, int, int, float], arb]


def degree(term: t.Term) -> int:
    """Of a term as a polynomial in expectations: 0, 1, or at least 2 for all that is not linear."""
    if "Entry" not in term.heads:
        return 0
    match term:
        case t.Entry():
            return 1
        case t.Add(terms=terms):
            return max(map(degree, terms))
        case t.Mul(factors=factors):
            return sum(map(degree, factors))
        case t.Sum(body=body):
            return degree(body)
    return 2


class Enclosed:
    """A term in expectations that ``interval`` knows up to some standard errors."""

    def __init__(self, term: t.Term, interval: Interval) -> None:
        self.interval = interval
        self.compiler = Compiler(term)
        self.value = self.compiler.value(term, self.compiler.scope)

    def at(self, point: Mapping[t.Variable, Fraction], errors: float) -> Real:
        """Its value at a point, where each expectation is within so many standard errors of its estimate."""
        values = self.compiler.filled({variable: fraction(point[variable]) for variable in self.compiler.scope})
        with working_precision(PRECISION):
            return self.value(Scene(values, _Intervals(self.interval, errors)))


class _Intervals(Balls):
    """Balls in which a quantity is its estimate, plus or minus some standard errors."""

    def __init__(self, interval: Interval, errors: float) -> None:
        self.interval, self.errors = interval, errors

    def entry(self, scene: Scene, model: Model, kind: str, layer: int, row: int, column: int) -> Real:
        """The interval of a quantity."""
        del scene
        return self.interval(kind, model.term, layer, row, column, self.errors)
