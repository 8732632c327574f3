"""The points of a domain: ranges of its symbols, integer points in order, simple real parameters.

Ranges follow from the linear relations of the domain by propagating bounds until nothing changes;
what is not linear is left to the membership test. A range is therefore never too small.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice, product
from math import ceil, floor

import sympy
from sympy import Basic, Rational, Symbol
from sympy.core.relational import Relational

from proofs.engines.evaluate import Evaluator, Truth, decimals

ORDER = ("i", "j", "k", "n", "d")  # of integer symbols, when points are put in order
ROUNDS = 50  # of propagation; more would only tighten ranges further
CAPS = (50, 30, 20, 12, 8, 5, 3, 2)  # on every integer symbol, where a domain has too many points
SIMPLE = tuple(map(Fraction, ("0", "1", "1/2", "-1/2", "1/5", "2", "-1/10", "9/10", "1/10", "5", "-1", "10")))


@dataclass(frozen=True)
class Range:
    """An interval, open or closed; None stands for no bound."""

    low: Fraction | None = None
    high: Fraction | None = None
    low_open: bool = False
    high_open: bool = False

    @property
    def empty(self) -> bool:
        """Whether no number lies in it."""
        if self.low is None or self.high is None:
            return False
        return self.low > self.high or (self.low == self.high and (self.low_open or self.high_open))

    @property
    def bounded(self) -> bool:
        """Whether it has both ends."""
        return self.low is not None and self.high is not None

    def __contains__(self, value: Fraction | int) -> bool:
        above = self.low is None or value > self.low or (value == self.low and not self.low_open)
        below = self.high is None or value < self.high or (value == self.high and not self.high_open)
        return above and below

    def above(self, low: Fraction, strict: bool) -> Range:
        """The part of it from ``low`` up."""
        if self.low is not None and (self.low > low or (self.low == low and (self.low_open or not strict))):
            return self
        return Range(low, self.high, strict, self.high_open)

    def below(self, high: Fraction, strict: bool) -> Range:
        """The part of it up to ``high``."""
        if self.high is not None and (self.high < high or (self.high == high and (self.high_open or not strict))):
            return self
        return Range(self.low, high, self.low_open, strict)

    def whole(self) -> Range:
        """The range from its first to its last integer."""
        low, high = self.low, self.high
        if low is not None:
            low = Fraction(floor(low) + 1 if self.low_open else ceil(low))
        if high is not None:
            high = Fraction(ceil(high) - 1 if self.high_open else floor(high))
        return Range(low, high)

    def hull(self, other: Range) -> Range:
        """The smallest range that contains both."""
        if self.empty or other.empty:
            return other if self.empty else self
        low, low_open = _end(self.low, other.low, self.low_open, other.low_open, min)
        high, high_open = _end(self.high, other.high, self.high_open, other.high_open, max)
        return Range(low, high, low_open, high_open)

    def __str__(self) -> str:
        low = "(-oo" if self.low is None else f"{'(' if self.low_open else '['}{self.low}"
        high = "oo)" if self.high is None else f"{self.high}{')' if self.high_open else ']'}"
        return f"{low}, {high}"


def _end(
    a: Fraction | None, b: Fraction | None, a_open: bool, b_open: bool, pick: Callable[..., Fraction]
) -> tuple[Fraction | None, bool]:
    """The farther of two ends, and whether it is open."""
    if a is None or b is None:
        return None, False
    end = pick(a, b)
    return end, all(is_open for value, is_open in ((a, a_open), (b, b_open)) if value == end)


Ranges = dict[Symbol, Range]


@dataclass(frozen=True)
class _Linear:
    """The constraint sum of coefficients * symbols + constant <= 0, or < 0."""

    coefficients: tuple[tuple[Symbol, Fraction], ...]
    constant: Fraction
    strict: bool

    def tighten(self, ranges: Ranges) -> None:
        """Narrow ``ranges`` by what the constraint implies for each symbol."""
        for symbol, coefficient in self.coefficients:
            rest, strict = self.constant, self.strict
            for other, factor in self.coefficients:
                if other == symbol:
                    continue
                end = ranges[other].low if factor > 0 else ranges[other].high
                if end is None:
                    break
                rest += factor * end
                strict = strict or (ranges[other].low_open if factor > 0 else ranges[other].high_open)
            else:
                bound = -rest / coefficient
                old = ranges[symbol]
                new = old.below(bound, strict) if coefficient > 0 else old.above(bound, strict)
                ranges[symbol] = new.whole() if symbol.is_integer else new


def _linear(relation: Basic) -> list[_Linear]:
    """The linear constraints that a relation amounts to; none if it is of another kind."""
    if not isinstance(relation, (sympy.Lt, sympy.Le, sympy.Gt, sympy.Ge, sympy.Eq)):
        return []
    difference = sympy.expand(relation.args[0] - relation.args[1])
    if isinstance(relation, (sympy.Gt, sympy.Ge)):
        difference = -difference
    terms = sympy.Add.make_args(sympy.expand(difference))
    coefficients, constant = {}, Fraction(0)
    for term in terms:
        number, rest = term.as_coeff_Mul()
        if not number.is_Rational or not (rest == 1 or rest.is_Symbol):
            return []
        value = Fraction(int(number.p), int(number.q))
        if rest == 1:
            constant += value
        else:
            coefficients[rest] = coefficients.get(rest, Fraction(0)) + value
    pairs = tuple(sorted(coefficients.items(), key=lambda item: item[0].name))
    first = _Linear(pairs, constant, isinstance(relation, (sympy.Lt, sympy.Gt)))
    if not isinstance(relation, sympy.Eq):
        return [first]
    return [first, _Linear(tuple((s, -c) for s, c in pairs), -constant, False)]


def _alternatives(domain: Basic) -> list[list[_Linear]]:
    """The domain as alternatives, each a list of constraints that all hold on it."""
    if isinstance(domain, sympy.Or):
        return [branch for part in domain.args for branch in _alternatives(part)]
    if isinstance(domain, sympy.And):
        branches: list[list[_Linear]] = [[]]
        for part in domain.args:
            branches = [a + b for a in branches for b in _alternatives(part)]
        return branches
    return [_linear(domain) if isinstance(domain, Relational) else []]


class Region:
    """A domain with its symbols: integer ones in a fixed order, and real ones.

    Raises:
        NotApplicable: the domain has a part that balls can't evaluate.
    """

    def __init__(self, domain: Basic, symbols: Sequence[Symbol]) -> None:
        self.domain = decimals(sympy.sympify(domain))
        self.doubtful = False
        self.integers = tuple(sorted((s for s in symbols if s.is_integer), key=_rank))
        self.reals = tuple(sorted((s for s in symbols if not s.is_integer), key=lambda s: s.name))
        self._branches = _alternatives(self.domain)
        self._membership = Evaluator(self.domain)

    @property
    def symbols(self) -> tuple[Symbol, ...]:
        """All symbols, the real ones first."""
        return self.reals + self.integers

    def ranges(self, fixed: Mapping[Symbol, Fraction | int] | None = None) -> Ranges:
        """A range of each symbol that holds the whole domain, where ``fixed`` symbols have values."""
        hulls: Ranges = {}
        for branch in self._branches:
            found = self._propagate(branch, fixed or {})
            if any(r.empty for r in found.values()):
                continue
            hulls = {s: r.hull(hulls[s]) if hulls else r for s, r in found.items()}
        return hulls or {s: Range(Fraction(1), Fraction(0)) for s in self.symbols}

    def _propagate(self, constraints: Sequence[_Linear], fixed: Mapping[Symbol, Fraction | int]) -> Ranges:
        ranges = {s: _assumed(s) for s in self.symbols}
        for symbol, value in fixed.items():
            ranges[symbol] = Range(Fraction(value), Fraction(value))
        for _ in range(ROUNDS):
            before = dict(ranges)
            for constraint in constraints:
                constraint.tighten(ranges)
            if ranges == before or any(r.empty for r in ranges.values()):
                break
        return ranges

    @property
    def finite(self) -> bool:
        """Whether every integer symbol is bounded."""
        ranges = self.ranges()
        return all(ranges[s].bounded for s in self.integers)

    def contains(self, reals: Mapping[Symbol, object], integers: Mapping[Symbol, int]) -> Truth:
        """Whether a point lies in the domain."""
        return self._membership.at(reals).decide(integers).truth

    def integer_points(
        self,
        reals: Mapping[Symbol, Rational],
        cap: int | None = None,
        given: Mapping[Symbol, int] | None = None,
    ) -> Iterator[dict[Symbol, int]]:
        """The integer points over these reals in lexicographic order, each symbol up to ``cap``.

        Symbols that are ``given`` keep their value. Points whose membership can't be decided are left out,
        and make the region ``doubtful``.
        """
        at = self._membership.at(reals)
        fixed = {s: Fraction(int(v.p), int(v.q)) for s, v in reals.items() if isinstance(v, Rational)}
        hull = self.integer_hull({**fixed, **_fractions(given or {})}, cap)
        for point in hull:
            inside = at.decide(point).truth
            self.doubtful = self.doubtful or inside is None
            if inside:
                yield point

    def integer_hull(
        self, fixed: Mapping[Symbol, Fraction] | None = None, cap: int | None = None
    ) -> Iterator[dict[Symbol, int]]:
        """Integer points in lexicographic order, among them all that the domain has up to ``cap``."""
        return self._extend(dict(fixed or {}), {}, self.integers, cap)

    def _extend(
        self,
        fixed: dict[Symbol, Fraction],
        point: dict[Symbol, int],
        rest: tuple[Symbol, ...],
        cap: int | None,
    ) -> Iterator[dict[Symbol, int]]:
        if not rest:
            yield point
            return
        reach = self.ranges({**fixed, **point})[rest[0]]
        ends = [end for end in (reach.high, None if rest[0] in fixed else cap) if end is not None]
        if reach.low is None or not ends:
            return
        for value in range(int(reach.low), int(min(ends)) + 1):
            yield from self._extend(fixed, {**point, rest[0]: value}, rest[1:], cap)

    def some_integer_points(
        self, reals: Mapping[Symbol, Rational], limit: int, given: Mapping[Symbol, int] | None = None
    ) -> tuple[list[dict[Symbol, int]], int | None]:
        """The integer points over these reals, if not more than ``limit``, and None.

        Otherwise those up to a cap, the largest of ``CAPS`` that gives not more, and that cap.
        """
        if self.finite:
            points = list(islice(self.integer_points(reals, None, given), limit + 1))
            if len(points) <= limit:
                return points, None
        for cap in CAPS:
            points = list(islice(self.integer_points(reals, cap, given), limit + 1))
            if len(points) <= limit:
                return points, cap
        return list(islice(self.integer_points(reals, CAPS[-1], given), limit)), CAPS[-1]

    def simple_reals(self, limit: int) -> list[dict[Symbol, Rational]]:
        """Up to ``limit`` exact values of the real symbols, the simplest first."""
        ranges = self.ranges()
        choices = [_simple(ranges[s]) for s in self.reals]
        ranked = sorted(product(*(list(enumerate(c)) for c in choices)), key=lambda p: _simplicity(p))
        points = []
        for choice in ranked:
            fixed = {s: v for s, (_, v) in zip(self.reals, choice, strict=True)}
            point = {s: Rational(v.numerator, v.denominator) for s, v in fixed.items()}
            if any(r.empty for r in self.ranges(fixed).values()):
                continue
            if self.integers or self.contains(point, {}):
                points.append(point)
            if len(points) == limit:
                break
        return points

    def __str__(self) -> str:
        return "a statement without symbols" if not self.symbols else sympy.sstr(self.domain)


def _fractions(values: Mapping[Symbol, int]) -> dict[Symbol, Fraction]:
    return {s: Fraction(v) for s, v in values.items()}


def _simplicity(choice: Sequence[tuple[int, Fraction]]) -> tuple[int, tuple[int, ...]]:
    places = tuple(place for place, _ in choice)
    return sum(places), places


def _rank(symbol: Symbol) -> tuple[int, str]:
    return (ORDER.index(symbol.name) if symbol.name in ORDER else len(ORDER), symbol.name)


def _assumed(symbol: Symbol) -> Range:
    if symbol.is_integer and symbol.is_positive:
        return Range(low=Fraction(1))
    if symbol.is_positive:
        return Range(low=Fraction(0), low_open=True)
    return Range(low=Fraction(0)) if symbol.is_nonnegative else Range()


def _simple(reach: Range) -> list[Fraction]:
    """Numbers of a range, the simplest first, its ends and its middle among them."""
    ends = [end for end in (reach.low, reach.high) if end is not None]
    inner = [sum(ends, Fraction(0)) / 2] if reach.bounded else [ends[0] + 1, ends[0] - 1] if ends else []
    if reach.bounded and reach.low is not None and reach.high is not None:
        width = reach.high - reach.low
        inner += [reach.low + width / 16, reach.high - width / 16]
    return list(dict.fromkeys(v for v in (*SIMPLE, *ends, *inner) if v in reach))
