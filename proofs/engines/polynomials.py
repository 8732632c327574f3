"""Rational functions of many variables with rational coefficients, within a budget."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from flint import Ordering, arb, fmpq, fmpq_mpoly_ctx

from maskproof.proofs.engines.scene import Open

GENERATORS = 48
LONGEST = 50_000  # product of the numbers of terms of two polynomials that are multiplied or compared

Ball = Callable[[], arb]  # around a generator, at the precision that is current when it is called
CONTEXT = fmpq_mpoly_ctx.get([f"x{k}" for k in range(GENERATORS)], Ordering.degrevlex)
ONE = CONTEXT.from_dict({(0,) * GENERATORS: 1})


@dataclass
class Budget:
    """Work that may be done, in products of terms of polynomials.

    Attributes:
        left: what may still be done.
        purse: what it is a share of.
    """

    left: int
    purse: Budget | None = None

    def spend(self, work: int) -> None:
        """Take from it.

        Raises:
            Open: nothing is left.
        """
        self.left -= work
        if self.left < 0:
            raise Open("too much work")


@dataclass(frozen=True)
class Fraction:
    """A rational function in lowest terms, the denominator with leading coefficient 1."""

    top: Any
    bottom: Any

    @cached_property
    def key(self) -> str:
        """The same for equal ones."""
        return f"{self.top}/({self.bottom})"

    @property
    def constant(self) -> fmpq | None:
        """Its value, if it is a number."""
        if self.top.is_constant() and self.bottom.is_constant():
            return fmpq(0) if self.top.is_zero() else self.top.leading_coefficient()
        return None


@dataclass
class RationalFunctions:
    """Their arithmetic.

    Attributes:
        budget: what may still be done.
        sparing: whether what is done for a part counts for the whole; then symbols are soon taken for parts.
    """

    budget: Budget
    sparing: bool = field(default=False, kw_only=True)

    @contextmanager
    def allowance(self, work: int) -> Iterator[None]:
        """Spend no more than that inside the block; unless sparing, a block inside it has an allowance of its own."""
        outer = self.budget
        purse = outer if self.sparing else outer.purse or outer
        self.budget = Budget(min(work, purse.left), purse)
        start = self.budget.left
        try:
            yield
        finally:
            purse.left -= start - self.budget.left
            self.budget = outer

    def fraction(self, top: Any, bottom: Any = ONE) -> Fraction:
        """top/bottom in lowest terms."""
        if not bottom.is_constant():
            self._spend(top, bottom)
            common = top.gcd(bottom)
            if not common.is_constant():
                top, bottom = top / common, bottom / common
        unit = bottom.leading_coefficient()
        return Fraction(top, bottom) if unit == 1 else Fraction(top / unit, bottom / unit)

    def _spend(self, a: Any, b: Any) -> None:
        work = max(1, len(a)) * max(1, len(b))
        if work > LONGEST:
            raise Open("a polynomial is too long")
        self.budget.spend(work)

    def add(self, a: Fraction, b: Fraction) -> Fraction:
        """a + b."""
        if a.bottom == b.bottom:
            return self.fraction(a.top + b.top, a.bottom)
        for x, y in ((a.top, b.bottom), (b.top, a.bottom), (a.bottom, b.bottom)):
            self._spend(x, y)
        return self.fraction(a.top * b.bottom + b.top * a.bottom, a.bottom * b.bottom)

    def multiply(self, a: Fraction, b: Fraction) -> Fraction:
        """a b."""
        self._spend(a.top, b.top)
        self._spend(a.bottom, b.bottom)
        return self.fraction(a.top * b.top, a.bottom * b.bottom)


def evaluated(polynomial: Any, generators: Sequence[Ball]) -> arb:
    """A ball around the value of a polynomial, at the current precision."""
    balls: dict[int, arb] = {}
    total = arb(0)
    for powers, coefficient in polynomial.to_dict().items():
        term = arb(coefficient)
        for index, power in enumerate(powers):
            if power:
                if index not in balls:
                    balls[index] = generators[index]()
                term *= balls[index] ** int(power)
        total += term
    return total
