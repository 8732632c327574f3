"""Ranges of variables, and what the linear relations of a domain say of them.

Bounds are propagated until nothing changes; what is not linear is left to the membership test. A range is therefore
never too small.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

from maskproof.proofs.terms import terms as t

ROUNDS = 50  # of propagation; more would only tighten ranges further
BRANCHES = 64  # alternatives of a domain that are told apart


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


Ranges = dict[t.Variable, Range]


def assumed(variable: t.Variable) -> Range:
    """The values that a variable may have by its sort."""
    least = variable.sort.least
    if least is None:
        return Range()
    return Range(low=Fraction(least), low_open=variable.sort is t.Sort.POSITIVE)


@dataclass(frozen=True)
class Linear:
    """The constraint sum of coefficients * variables + constant <= 0, or < 0."""

    coefficients: tuple[tuple[t.Variable, Fraction], ...]
    constant: Fraction
    strict: bool

    def tighten(self, ranges: Ranges) -> None:
        """Narrow ``ranges`` by what the constraint implies for each variable."""
        for variable, coefficient in self.coefficients:
            rest, strict = self.constant, self.strict
            for other, factor in self.coefficients:
                if other is variable:
                    continue
                end = ranges[other].low if factor > 0 else ranges[other].high
                if end is None:
                    break
                rest += factor * end
                strict = strict or (ranges[other].low_open if factor > 0 else ranges[other].high_open)
            else:
                bound = -rest / coefficient
                old = ranges[variable]
                new = old.below(bound, strict) if coefficient > 0 else old.above(bound, strict)
                ranges[variable] = new.whole() if variable.sort.integral else new


def propagated(constraints: Sequence[Linear], ranges: Ranges) -> Ranges:
    """The ranges, narrowed by all constraints."""
    for _ in range(ROUNDS):
        before = dict(ranges)
        for constraint in constraints:
            constraint.tighten(ranges)
        if ranges == before or any(r.empty for r in ranges.values()):
            break
    return ranges


Form = tuple[dict[t.Variable, Fraction], Fraction]  # coefficients, constant


def linear_form(term: t.Term) -> Form | None:
    """A term as a linear function of its variables with rational coefficients, None if it is none.

    >>> from maskproof.proofs.terms.terms import Add, Mul, Sort, Variable, number
    >>> i = Variable("i", Sort.POSITION)
    >>> linear_form(Add((Mul((number(2), i)), number(-3))))[1]
    Fraction(-3, 1)
    """
    match term:
        case t.Number(value=value):
            return {}, value
        case t.Variable():
            return {term: Fraction(1)}, Fraction(0)
        case t.Add(terms=terms):
            total: Form = {}, Fraction(0)
            for part in terms:
                form = linear_form(part)
                if form is None:
                    return None
                total = _sum(total, form)
            return total
        case t.Mul(factors=factors):
            product: Form = {}, Fraction(1)
            for part in factors:
                form = linear_form(part)
                if form is None or (form[0] and product[0]):
                    return None
                product = _scaled(product, form[1]) if not form[0] else _scaled(form, product[1])
            return product
    return None


def _sum(a: Form, b: Form) -> Form:
    coefficients = {v: a[0].get(v, Fraction(0)) + b[0].get(v, Fraction(0)) for v in {**a[0], **b[0]}}
    return {v: c for v, c in coefficients.items() if c}, a[1] + b[1]


def _scaled(form: Form, factor: Fraction) -> Form:
    return {v: c * factor for v, c in form[0].items() if c * factor}, form[1] * factor


def difference(a: t.Term, b: t.Term) -> Form | None:
    """a - b as a linear function, None if it is none."""
    left, right = linear_form(a), linear_form(b)
    return None if left is None or right is None else _sum(left, _scaled(right, Fraction(-1)))


def _constraints(form: Form | None, *, strict: bool, equal: bool = False) -> list[Linear]:
    if form is None:
        return []
    pairs = tuple(sorted(form[0].items(), key=lambda item: item[0].name))
    first = Linear(pairs, form[1], strict)
    return [first, Linear(tuple((v, -c) for v, c in pairs), -form[1], strict=False)] if equal else [first]


def alternatives(domain: t.Statement) -> list[list[Linear]]:
    """The domain as alternatives, each a list of constraints that all hold on it."""
    match domain:
        case t.Or(statements=parts):
            found = [branch for part in parts for branch in alternatives(part)]
            return found if len(found) <= BRANCHES else [[]]
        case t.And(statements=parts):
            branches: list[list[Linear]] = [[]]
            for part in parts:
                joined = [a + b for a in branches for b in alternatives(part)]
                branches = joined if len(joined) <= BRANCHES else branches
            return branches
        case t.Relation(kind="<" | "<=" | "=" as kind, left=left, right=right):
            return [_constraints(difference(left, right), strict=kind == "<", equal=kind == "=")]
        case t.Independent(law=law):
            return [_constraints(difference(law.alpha, t.ONE), strict=True)]
    return [[]]


def independence(statement: t.Independent, fixed: Mapping[t.Variable, Fraction]) -> list[Linear]:
    """What 1 + (count - 1) alpha > 0 says of the count where alpha is fixed."""
    alpha = linear_form(statement.law.alpha)
    others = difference(statement.count, t.ONE)
    if alpha is None or others is None or not alpha[0].keys() <= fixed.keys():
        return []
    value = alpha[1] + sum(factor * fixed[v] for v, factor in alpha[0].items())
    return _constraints(_sum(_scaled(others, -value), ({}, Fraction(-1))), strict=True)


def hull(branches: Sequence[Sequence[Linear]], start: Ranges, fixed: Mapping[t.Variable, Fraction]) -> Ranges:
    """A range of each variable that holds all alternatives, where some variables are fixed; empty ones if none does."""
    hulls: Ranges = {}
    for branch in branches:
        found = propagated(branch, {**start, **{v: Range(x, x) for v, x in fixed.items()}})
        if not any(r.empty for r in found.values()):
            hulls = {v: r.hull(hulls[v]) if hulls else r for v, r in found.items()}
    return hulls or {v: Range(Fraction(1), Fraction(0)) for v in start}
