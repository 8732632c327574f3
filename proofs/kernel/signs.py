"""Signs of terms, from what is known of other terms.

A polynomial whose coefficients are non-negative is non-negative for non-negative values, whatever else ties them. The
search for a way to write a term so may fail to find a proof; it cannot find a wrong one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import comb

from flint import arb, fmpq, fmpq_mpoly

from maskproof.proofs.kernel.algebra import MAX_TERMS, Field, Quotient, Undecided, canonical, identical
from maskproof.proofs.terms import terms as t
from maskproof.proofs.terms.terms import ONE, Relation, Sort, Statement, Term, minus, number, times

TRIES = 400  # ways to shift that are looked at


@dataclass(frozen=True)
class Shift:
    """A generator x written as ``bound`` + x (side +1) or ``bound`` - x (side -1), the new x >= 0 (``strict``: > 0)."""

    generator: Term
    bound: Term
    side: int
    strict: bool


@dataclass(frozen=True)
class Facts:
    """Known signs: ``positive`` and ``nonnegative`` terms, and those known not to vanish."""

    positive: tuple[Term, ...] = ()
    nonnegative: tuple[Term, ...] = ()
    nonzero: tuple[Term, ...] = ()
    _memo: dict[tuple[Term, bool], bool] = field(default_factory=dict, compare=False, repr=False)

    @staticmethod
    def of(statements: Iterable[Statement]) -> Facts:
        """Read relations; whatever else is given is ignored."""
        positive: list[Term] = []
        nonnegative: list[Term] = []
        nonzero: list[Term] = []
        for relation in statements:
            if not isinstance(relation, Relation):
                continue
            excess = minus(relation.right, relation.left)
            if relation.kind == "<" and t.is_integral(excess):  # integers that differ differ by at least one
                nonnegative.append(minus(excess, ONE))
            elif relation.kind == "<":
                positive.append(excess)
            elif relation.kind == "<=":
                nonnegative.append(excess)
            elif relation.kind == "=":
                nonnegative += [excess, minus(relation.left, relation.right)]
            else:
                nonzero.append(excess)
        return Facts(tuple(positive), tuple(nonnegative), tuple(nonzero))

    def is_positive(self, e: Term, strict: bool = True) -> bool:
        """Whether ``e`` > 0 (or >= 0, if not ``strict``) follows; False says nothing.

        It follows if e is a known fact, if a shift shows it, or part by part from the way e is written: a sum of
        non-negative terms, a product of positive factors, an even power, a sum of positive terms over positions.
        """
        known = self._memo.get((e, strict))
        if known is None:
            known = self._is_known(e, strict) or self.shift(e, strict) is not None or self._by_parts(e, strict)
            self._memo[e, strict] = known
        return known

    def is_nonzero(self, e: Term) -> bool:
        """Whether ``e`` != 0 follows; False says nothing."""
        match e:
            case t.Mul(factors=factors):
                return all(map(self.is_nonzero, factors))
            case t.Power(base=base, exponent=exponent) if exponent:
                return self.is_nonzero(base)
            case t.Root(radicand=radicand):
                return self.is_positive(radicand)
        negative = times(number(-1), e)
        return (
            self.is_positive(e)
            or self.is_positive(negative)
            or any(identical(e, fact) or identical(negative, fact) for fact in self.nonzero)
        )

    def _is_known(self, e: Term, strict: bool) -> bool:
        known = self.positive if strict else (*self.positive, *self.nonnegative)
        return any(identical(e, fact) for fact in known if fact.free == e.free)

    def _by_parts(self, e: Term, strict: bool) -> bool:
        match e:
            case t.Add(terms=terms):
                return all(self.is_positive(part, False) for part in terms) and (
                    not strict or any(map(self.is_positive, terms))
                )
            case t.Mul(factors=factors):
                return all(self.is_positive(factor, strict) for factor in factors)
            case t.Power(base=base, exponent=exponent) if exponent % 2 == 0:
                return self.is_nonzero(base) if strict or exponent < 0 else True
            case t.Power(base=base, exponent=exponent):
                return self.is_positive(base, strict or exponent < 0)
            case t.Sum(body=body, index=index, low=low, high=high):
                own = t.fresh(index, e, *self.positive, *self.nonnegative, *self.nonzero)
                inside = Facts(self.positive, (*self.nonnegative, minus(own, low), minus(high, own)), self.nonzero)
                filled = not strict or self.is_positive(minus(high, low), False)
                return filled and inside.is_positive(t.substitute(body, {index: own}), strict)
        return False

    @cached_property
    def without_roots(self) -> Facts:
        """The facts in which no square root occurs."""
        lists = (self.positive, self.nonnegative, self.nonzero)
        positive, nonnegative, nonzero = (tuple(e for e in facts if "Root" not in e.heads) for facts in lists)
        return Facts(positive, nonnegative, nonzero)

    @cached_property
    def _field(self) -> Field:
        return Field([*self.positive, *self.nonnegative])

    @cached_property
    def _relevant(self) -> list[tuple[Term, bool]]:
        return [(fact, True) for fact in self.positive] + [(fact, False) for fact in self.nonnegative]

    def shift(self, e: Term, strict: bool) -> tuple[Shift, ...] | None:
        """How to write ``e`` so that its sign is manifest; None if no way is found."""
        try:
            self._field.include(e)
            value = self._field.convert(e)
            return _Search(self, self._field, strict).run(value)
        except Undecided:
            return None

    def given_bounds(self) -> dict[int, list[Bound]]:
        """Bounds of generators that facts state: those linear in a generator."""
        bounds: dict[int, list[Bound]] = {}
        for fact, strict in self._relevant:
            try:
                value = self._field.convert(fact)
            except Undecided:
                continue
            if not value.bottom.is_one():
                continue
            degrees = value.top.degrees()
            for place in (place for place, degree in enumerate(degrees) if degree == 1):
                slope, rest = _linear(self._field, value.top, place)
                if slope is not None:
                    bounds.setdefault(place, []).append((rest / -slope, 1 if slope > 0 else -1, strict))
        return bounds


def _linear(ring: Field, p: fmpq_mpoly, place: int) -> tuple[fmpq | None, fmpq_mpoly]:
    """p as slope * generator + rest; slope None if the generator occurs in products with others."""
    rest, slope = {}, None
    for powers, coefficient in p.terms():
        if not powers[place]:
            rest[powers] = coefficient
        elif sum(powers) == 1:
            slope = coefficient
        else:
            return None, ring.constant(0).top
    return slope, ring.ring.from_dict(rest)


Bound = tuple[fmpq_mpoly, int, bool]  # (b, +1, strict): x >= b, or x > b; (b, -1, strict): x <= b


class _Search:
    """Shifts each generator that occurs by one of its bounds until all coefficients are non-negative.

    Every generator has to be bounded, by itself or by others that are: so all of them are real.
    """

    def __init__(self, facts: Facts, ring: Field, strict: bool) -> None:
        self.facts, self.field, self.strict_goal = facts, ring, strict
        self.given = facts.given_bounds()
        self.bounds: dict[int, list[Bound]] = {}
        self.tries = TRIES
        self.gens = ring.ring.gens()

    def run(self, value: Quotient) -> tuple[Shift, ...] | None:
        return self._search(value.top, value.bottom, {}, ())

    def _search(
        self, top: fmpq_mpoly, bottom: fmpq_mpoly, strict: dict[int, bool], path: tuple[Shift, ...]
    ) -> tuple[Shift, ...] | None:
        self.tries -= 1
        if self.tries < 0:
            return None
        degrees = zip(top.degrees(), bottom.degrees(), strict=True)
        present = {place for place, both in enumerate(degrees) if any(degree > 0 for degree in both)}
        still = sorted(present - set(strict), key=self._urgency, reverse=True)
        if not still:
            return path if self._is_manifest(top, bottom, strict) else None
        place = still[0]
        for bound, side, is_strict in self._bounds(place):
            if any(powers[done] for powers in bound.monoms() for done in strict):
                continue  # would bring back a generator that has been shifted already
            size = len(bound)
            if sum(comb(powers[place] + size, size) for p in (top, bottom) for powers in p.monoms()) > MAX_TERMS:
                continue
            gens = list(self.gens)
            gens[place] = bound + gens[place] if side > 0 else bound - gens[place]
            step = Shift(self.field.meaning[place], self.field.polynomial(bound), side, is_strict)
            shifted = top.compose(*gens), bottom.compose(*gens)
            found = self._search(*shifted, {**strict, place: is_strict}, (*path, step))
            if found is not None:
                return found
        return None

    def _urgency(self, place: int) -> tuple[int, int]:
        """Generators bounded by others go before those; ties by position."""
        return sum(1 for bound, _, _ in self._bounds(place) if not bound.is_constant()), -place

    def _bounds(self, place: int) -> list[Bound]:
        if place not in self.bounds:
            own = [(self.field.constant(b).top, side, strict) for b, side, strict in self._own_bounds(place)]
            self.bounds[place] = [*self.given.get(place, []), *own]
        return self.bounds[place]

    def _own_bounds(self, place: int) -> Iterator[tuple[Fraction | int, int, bool]]:
        """Bounds that a generator has by itself."""
        match self.field.meaning[place]:
            case t.Root(radicand=radicand):
                for strict in (True, False):
                    if self.facts.without_roots.is_positive(radicand, strict):
                        yield 0, 1, strict
            case t.Exp(exponent=exponent):
                constant = canonical(exponent)
                if isinstance(constant, t.Number):
                    low, high = _bounds_of_exp(constant.value)
                    yield low, 1, True
                    yield high, -1, True
                yield 0, 1, True
            case t.Variable(sort=sort) if sort.least is not None:
                yield sort.least, 1, sort is Sort.POSITIVE

    def _is_manifest(self, top: fmpq_mpoly, bottom: fmpq_mpoly, strict: dict[int, bool]) -> bool:
        if all(c <= 0 for c in bottom.coeffs()):
            top, bottom = -top, -bottom
        return _is_manifest(bottom, strict, True) and _is_manifest(top, strict, self.strict_goal)


def _is_manifest(p: fmpq_mpoly, strict: dict[int, bool], strictly: bool) -> bool:
    """All coefficients >= 0 and, if ``strictly``, one term whose variables are all > 0."""
    if any(c < 0 for c in p.coeffs()):
        return False
    return not strictly or any(all(strict[n] for n, power in enumerate(powers) if power) for powers in p.monoms())


def _bounds_of_exp(exponent: Fraction) -> tuple[Fraction, Fraction]:
    """An enclosure of exp(exponent) between fractions."""
    ball = arb(fmpq(exponent.numerator, exponent.denominator)).exp()
    low, high = (end.man_exp() for end in (ball.lower(), ball.upper()))
    return tuple(Fraction(int(m)) * Fraction(2) ** int(e) for m, e in (low, high))  # type: ignore[return-value]
