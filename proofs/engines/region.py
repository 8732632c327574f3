"""The points of a claim's domain: integer points in order, simple real parameters, and those where something breaks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import islice, product

from flint import fmpq_poly

from maskproof.proofs.engines.evaluate import Evaluator, Parameters
from maskproof.proofs.engines.exact_arithmetic import Budget
from maskproof.proofs.engines.numbers import fraction
from maskproof.proofs.engines.question import Question
from maskproof.proofs.engines.ranges import Range, Ranges, alternatives, assumed, hull, independence
from maskproof.proofs.engines.truth import Truth, Undefined
from maskproof.proofs.terms import terms as t
from maskproof.proofs.terms.conditions import undefined_parts
from maskproof.proofs.terms.text import text
from maskproof.theory.values import as_fraction

ORDER = ("i", "j", "k", "n", "d")  # of integer variables, when points are put in order
CAPS = (50, 30, 20, 12, 8, 5, 3, 2)  # on every integer variable, where a domain has too many points
LOOKED_AT = 200_000  # integer points of the hull, at one choice of real parameters
SIMPLE = tuple(map(Fraction, ("0", "1", "1/2", "-1/2", "1/5", "2", "-1/10", "9/10", "1/10", "5", "-1", "10")))
WORK = 200_000  # of exact numbers, to decide what belongs to a domain
DEGREE = 12  # of polynomials whose roots are looked for

Reals = dict[t.Variable, Fraction]
Point = dict[t.Variable, int]


class Region:
    """A domain with its variables: integer ones in a fixed order, and real ones.

    Attributes:
        doubtful: whether a point was met of which it is open whether it belongs to the domain.
        hole: in words, the first point that was met at which the domain has no value.

    Raises:
        NotApplicable: the domain has a part that numbers don't apply to.
    """

    def __init__(self, question: Question) -> None:
        self.question = question
        self.doubtful = False
        self.hole: str | None = None
        self.integers = tuple(sorted((v for v in question.variables if v.sort.integral), key=_rank))
        self.reals = tuple(v for v in question.variables if not v.sort.integral)
        whole = t.And((question.domain, *question.understood))
        self._branches = alternatives(whole)
        self._vectors = [h for h in question.understood if isinstance(h, t.Independent)]
        self._assumed = {v: assumed(v) for v in (*self.reals, *self.integers)}
        self._domain, self._understood = Evaluator(question.domain), Evaluator(t.And(question.understood))
        self._ranges: dict[tuple[tuple[str, int, int], ...], Ranges] = {}

    @property
    def variables(self) -> tuple[t.Variable, ...]:
        """All variables, the real ones first."""
        return self.reals + self.integers

    @property
    def total(self) -> bool:
        """Whether the domain has a value everywhere, at first sight."""
        return not self._domain.demands

    def ranges(self, fixed: Mapping[t.Variable, Fraction | int] | None = None) -> Ranges:
        """A range of each variable that holds the whole domain, where ``fixed`` variables have values."""
        given = fixed or {}
        key = tuple((v.name, x.numerator, x.denominator) for v, x in given.items())
        if key not in self._ranges:
            if len(self._ranges) > 10_000:
                self._ranges.clear()
            values = {v: Fraction(x) for v, x in given.items()}
            also = [c for h in self._vectors for c in independence(h, values)]
            self._ranges[key] = hull([[*branch, *also] for branch in self._branches], self._assumed, values)
        return self._ranges[key]

    @property
    def finite(self) -> bool:
        """Whether every integer variable is bounded."""
        ranges = self.ranges()
        return all(ranges[v].bounded for v in self.integers)

    @property
    def fixed(self) -> bool:
        """Whether every real variable has a single value."""
        ranges = self.ranges()
        return all(ranges[v].bounded and ranges[v].low == ranges[v].high for v in self.reals)

    # --- membership -------------------------------------------------------------------------------

    def membership(self, reals: Mapping[t.Variable, Fraction]) -> Membership:
        """The test for integer points over these reals."""
        return Membership(self, self._domain.at(reals), self._understood.at(reals), reals)

    def contains(self, reals: Mapping[t.Variable, Fraction], integers: Mapping[t.Variable, int]) -> Truth:
        """Whether a point lies in the domain, or the domain has no value there."""
        return self.membership(reals).holds(integers)

    # --- integer points ---------------------------------------------------------------------------

    def integer_points(
        self,
        reals: Mapping[t.Variable, Fraction],
        cap: int | None = None,
        given: Mapping[t.Variable, int] | None = None,
    ) -> Iterator[Point]:
        """The integer points over these reals in lexicographic order, each variable up to ``cap``.

        Variables that are ``given`` keep their value. A point whose membership is open is left out, and makes the
        region ``doubtful``; one at which the domain has no value is a ``hole``.
        """
        inside = self.membership(reals)
        candidates = self.integer_hull({**reals, **_fractions(given or {})}, cap)
        for looked_at, point in enumerate(candidates):
            if looked_at == LOOKED_AT:
                self.doubtful = True
                return
            truth = inside.holds(point)
            if truth is None:
                self.doubtful = True
            elif truth is True:
                yield point

    def integer_hull(
        self, fixed: Mapping[t.Variable, Fraction] | None = None, cap: int | None = None
    ) -> Iterator[Point]:
        """Integer points in lexicographic order, among them all that the domain has up to ``cap``."""
        return self._extend(dict(fixed or {}), {}, self.integers, cap)

    def _extend(
        self, fixed: dict[t.Variable, Fraction], point: Point, rest: tuple[t.Variable, ...], cap: int | None
    ) -> Iterator[Point]:
        if not rest:
            yield point
            return
        reach = self.ranges({**fixed, **point})[rest[0]]
        ends = [end for end in (reach.high, None if rest[0] in fixed else cap) if end is not None]
        low = reach.low if reach.low is not None or cap is None else Fraction(-cap)
        if low is None or not ends:
            return
        for value in range(int(low), int(min(ends)) + 1):
            yield from self._extend(fixed, {**point, rest[0]: value}, rest[1:], cap)

    def some_integer_points(
        self, reals: Mapping[t.Variable, Fraction], limit: int, given: Mapping[t.Variable, int] | None = None
    ) -> tuple[list[Point], int | None]:
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

    # --- real points ------------------------------------------------------------------------------

    def simple_reals(self, limit: int) -> list[Reals]:
        """Up to ``limit`` exact values of the real variables, the simplest first."""
        ranges = self.ranges()
        choices = [simple(ranges[v]) for v in self.reals]
        points: list[Reals] = []
        for choice in sorted(product(*(list(enumerate(c)) for c in choices)), key=_simplicity):
            point = {v: x for v, (_, x) in zip(self.reals, choice, strict=True)}
            if self._possible(point):
                points.append(point)
            if len(points) == limit:
                break
        return points

    def critical_reals(self, limit: int) -> list[Reals]:
        """Exact values of the real variables at which a part of the claim may have no value, or a relation turns."""
        found: list[Reals] = []
        usual = self.simple_reals(20)
        for variable, root in self._roots():
            for point in usual:
                here = {**point, variable: root}
                if here not in found and here not in usual and self._possible(here):
                    found.append(here)
                    break
            if len(found) == limit:
                break
        return found

    def _possible(self, point: Reals) -> bool:
        if any(r.empty for r in self.ranges(point).values()):
            return False
        if self.integers:
            return True
        truth = self.contains(point, {})
        return truth is True

    def _roots(self) -> Iterator[tuple[t.Variable, Fraction]]:
        """Roots of the polynomials in one real variable that conditions and relations compare with one another."""
        question = self.question
        statements = [c.statement for part in (question.statement, question.domain) for c in undefined_parts(part)]
        for statement in (*statements, question.statement):
            for part in statement.walk():
                if isinstance(part, t.Relation) and len(variables := part.left.free | part.right.free) == 1:
                    (variable,) = variables
                    if variable in self.reals:
                        yield from ((variable, root) for root in _rational_roots(part, variable))

    def __str__(self) -> str:
        return "a statement without variables" if not self.variables else text(self.question.domain)


class Membership:
    """Which integer points over some reals belong to a domain."""

    def __init__(
        self, region: Region, domain: Parameters, understood: Parameters, reals: Mapping[t.Variable, Fraction]
    ) -> None:
        self.region, self.reals = region, reals
        self._domain, self._understood = domain, understood
        self._budget = Budget(WORK)

    def holds(self, point: Mapping[t.Variable, int]) -> Truth:
        """Whether a point belongs to the domain; the region remembers one at which the domain has no value."""
        truth = self._domain.decide(point, budget=self._budget).truth
        if isinstance(truth, Undefined):
            if self.region.hole is None:
                self.region.hole = truth.at({v.name: x for v, x in {**self.reals, **point}.items()}, "domain")
            return truth
        if truth is True and self.region.question.understood:
            return self._understood.decide(point).truth is True
        return truth


def _fractions(values: Mapping[t.Variable, int]) -> dict[t.Variable, Fraction]:
    return {v: Fraction(x) for v, x in values.items()}


def _simplicity(choice: Sequence[tuple[int, Fraction]]) -> tuple[int, tuple[int, ...]]:
    places = tuple(place for place, _ in choice)
    return sum(places), places


def _rank(variable: t.Variable) -> tuple[int, str]:
    return (ORDER.index(variable.name) if variable.name in ORDER else len(ORDER), variable.name)


def simple(reach: Range) -> list[Fraction]:
    """Numbers of a range, the simplest first, its ends and its middle among them."""
    ends = [end for end in (reach.low, reach.high) if end is not None]
    inner = [sum(ends, Fraction(0)) / 2] if reach.bounded else [ends[0] + 1, ends[0] - 1] if ends else []
    if reach.bounded and reach.low is not None and reach.high is not None:
        width = reach.high - reach.low
        inner += [reach.low + width / 16, reach.high - width / 16]
    return list(dict.fromkeys(v for v in (*SIMPLE, *ends, *inner) if v in reach))


def _rational_roots(relation: t.Relation, variable: t.Variable) -> list[Fraction]:
    left, right = (_polynomial(side) for side in (relation.left, relation.right))
    if left is None or right is None or (left - right).degree() < 1:
        return []
    _, factors = (left - right).factor()
    roots = [-factor[0] / factor[1] for factor, _ in factors if factor.degree() == 1]
    return [as_fraction(root) for root in roots]


def _polynomial(term: t.Term) -> fmpq_poly | None:
    """A term in one variable as a polynomial, None if it is none or of a high degree."""
    match term:
        case t.Number(value=value):
            return fmpq_poly([fraction(value)])
        case t.Variable():
            return fmpq_poly([0, 1])
        case t.Add() | t.Mul():
            total = fmpq_poly([0 if isinstance(term, t.Add) else 1])
            for part in term.parts:
                found = _polynomial(part)  # type: ignore[arg-type]
                if found is None:
                    return None
                total = total + found if isinstance(term, t.Add) else total * found
            return total if total.degree() <= DEGREE else None
        case t.Power(base=base, exponent=exponent) if 0 <= exponent <= DEGREE:
            found = _polynomial(base)
            return None if found is None or found.degree() * exponent > DEGREE else found**exponent
    return None
