"""Constants and ranges fitted to a claim that fails: read off exact points, to be judged like any other claim."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from math import ceil, floor
from typing import Any

import sympy
from flint import arb
from sympy import Abs, Basic, Rational
from sympy.core.relational import Relational

from maskproof.numerics.balls import working_precision
from maskproof.proofs.engines.evaluate import evaluator
from maskproof.proofs.engines.explain import sides
from maskproof.proofs.engines.points import horizon
from maskproof.proofs.engines.question import Question, question
from maskproof.proofs.engines.region import Point, Reals, Region
from maskproof.proofs.engines.truth import NotApplicable
from maskproof.proofs.explanation.candidates import Candidate, changed, restricted
from maskproof.proofs.explanation.relations import failing
from maskproof.proofs.terms import terms as t
from maskproof.proofs.terms.reading import read_statement
from maskproof.theory import symbols
from maskproof.theory.claim import Claim
from maskproof.theory.notation.plain import plain
from maskproof.theory.relations import Eq, Ge, Le

_REALS, _INTEGERS = 6, 30  # exact points at which sides are compared
_BITS = 192
_AGREE = arb(2) ** -120  # constants that differ by less are taken for one
_DENOMINATOR = 1000
_DIGITS = 3  # of the constant in an inequality
_GRID = 24  # values of a real variable, where a range is looked for
_AT_EACH = 1000  # integer points looked at for each
_STEPS = 3  # of the grid that an end of the range may move


def constants(claim: Claim, witness: Mapping[str, Any]) -> list[Candidate]:
    """The relation that fails, with the constant that its sides ask for."""
    blamed = failing(claim, witness)
    if len(blamed) != 1 or not question(claim).deterministic:
        return []
    (relation,) = blamed
    try:
        found = _sides(claim, relation)
        with working_precision(_BITS):
            fits = (_rounded(claim, relation), _proportional(claim, relation, found), _bounds(claim, relation, found))
            return [candidate for fit in fits for candidate in fit] if found else []
    except NotApplicable:
        return []


def _sides(claim: Claim, relation: Relational) -> list[tuple[arb, arb]]:
    """Both sides at exact points of the domain, where both are numbers."""
    region = Region(question(claim))
    read = read_statement(Eq(*relation.args), claim.decoder, claim.inputs)  # which leaves the sides where they are
    if not isinstance(read, t.Relation):
        return []
    found = []
    for reals in region.simple_reals(_REALS):
        for point in region.some_integer_points(reals, _INTEGERS)[0]:
            both = sides(read, reals, point, _BITS, horizon([point]))
            if all(side.is_finite() for side in both):
                found.append(both)
    return found


def _rounded(claim: Claim, relation: Relational) -> Iterator[Candidate]:
    """|quantity - printed| <= half a digit, with what it is when rounded to that digit."""
    distance, tolerance = relation.args
    if relation.rel_op not in ("<=", "<") or not (isinstance(distance, Abs) and tolerance.is_Rational):
        return
    printed, _ = distance.args[0].as_coeff_Add()
    exact = distance.args[0] - printed
    digit = 2 * tolerance
    if not printed.is_Rational or printed == 0 or digit <= 0:
        return
    opposite = Eq(exact, -printed)
    value = _single(_sides(changed(claim, relation, opposite), opposite))
    if value is None:
        return
    steps = value / arb(int(digit.p)) * arb(int(digit.q))
    nearest = Rational(floor(float(steps + arb(0.5)))) * digit
    new = relation.func(Abs(exact - nearest, evaluate=False), tolerance, evaluate=False)
    yield Candidate(f"with {plain(nearest)}, as it rounds", changed(claim, relation, new))


def _single(found: Sequence[tuple[arb, arb]]) -> arb | None:
    return found[0][0] if len(found) == 1 else None


def _proportional(claim: Claim, relation: Relational, found: Sequence[tuple[arb, arb]]) -> Iterator[Candidate]:
    """An equation with a factor, or a term, that is the same at all points."""
    if relation.rel_op != "==" or len(found) < 2:
        return
    left, right = relation.args
    if all(bool(r != 0) for _, r in found):
        factor = _common([a / b for a, b in found])
        if factor not in (None, 0, 1):
            yield Candidate(f"with the factor {factor}", changed(claim, relation, Eq(left, factor * right)), "==")
    term = _common([a - b for a, b in found])
    if term not in (None, 0):
        yield Candidate(f"with the term {term}", changed(claim, relation, Eq(left, right + term)), "==")


def _common(values: Sequence[arb]) -> Rational | None:
    """The simple fraction that all values are, as far as one can see."""
    first = values[0]
    if not all(bool(abs(value - first) < _AGREE) for value in values):
        return None
    near = Fraction(float(first.mid())).limit_denominator(_DENOMINATOR)
    fits = bool(abs(first - arb(near.numerator) / near.denominator) < _AGREE)
    return Rational(near.numerator, near.denominator) if fits else None


def _bounds(claim: Claim, relation: Relational, found: Sequence[tuple[arb, arb]]) -> Iterator[Candidate]:
    """An inequality with a number on one side, the number moved as far as the points ask for."""
    left, right = relation.args
    if relation.rel_op not in ("<", "<=", ">", ">=") or left.is_number == right.is_number:
        return
    values = [float((a if right.is_number else b).mid()) for a, b in found]
    above = (relation.rel_op in ("<", "<=")) == bool(right.is_number)  # the number bounds from above
    extreme = max(values) if above else min(values)
    for slack in (0, 1):
        bound = _outward(extreme, above, slack)
        new = relation.func(left, bound) if right.is_number else relation.func(bound, right)
        if isinstance(new, Relational):
            yield Candidate(f"with {plain(bound)} for the constant", changed(claim, relation, new))


def _outward(value: float, above: bool, slack: int) -> Rational:
    """``value`` rounded outward to a few digits, and that many steps more."""
    digits = _DIGITS - (0 if value == 0 else ceil(sympy.log(abs(value), 10).evalf()))
    unit = Rational(10) ** -digits
    exact = Rational(value) / unit
    return (sympy.ceiling(exact) + slack if above else sympy.floor(exact) - slack) * unit


# -- the range of a real variable --------------------------------------------------------------------


def ranges(claim: Claim) -> Iterator[list[Candidate]]:
    """For each real variable, parts of its range at one end, the largest first, on which no point of a grid fails."""
    asked = question(claim)
    if not asked.deterministic:
        return
    try:
        region = Region(asked)
        for variable in region.reals:
            for high in (True, False):
                found = _part(claim, asked, region, variable, high)
                if found:
                    yield found
    except NotApplicable:
        return


def _part(claim: Claim, asked: Question, region: Region, variable: t.Variable, high: bool) -> list[Candidate]:
    reach = region.ranges()[variable]
    low = reach.low if reach.low is not None else Fraction(0)
    top = reach.high if reach.high is not None else low + 5
    step = (top - low) / _GRID
    if step <= 0:
        return []
    grid = [low + place * step for place in range(_GRID + 1)]
    grid = [value for value in grid if value in reach]
    if high:
        grid.reverse()
    good: list[Fraction] = []
    for value in grid:  # from the end inward, as long as nothing fails
        if _fails(asked, region, variable, value):
            break
        good.append(value)
    if not good or len(good) == len(grid):
        return []
    symbol = getattr(symbols, variable.name)
    relation = Ge if high else Le
    ends = list(reversed(good))[:_STEPS]
    return [Candidate("on a smaller domain", restricted(claim, relation(symbol, Rational(v)))) for v in ends]


def _fails(asked: Question, region: Region, variable: t.Variable, value: Fraction) -> bool:
    """Whether a point fails at which the variable has this value, the others simple ones."""
    judge = evaluator(asked.statement)
    others: list[Reals] = [p for p in region.simple_reals(_REALS) if len(p) > 1] or [{}]
    for other in others:
        reals = {v: x for v, x in other.items() if v != variable} | {variable: value}
        points: list[Point] = region.some_integer_points(reals, _AT_EACH)[0]
        at = judge.at(reals, horizon(points))
        if any(at.decide(point, (64,)).truth is not True and at.decide(point).truth is False for point in points):
            return True
    return False


def bounded(claim: Claim, bound: int) -> Candidate | None:
    """The claim with every integer variable bounded that is not, from the first on; None if all are."""
    conditions: list[Basic] = []
    now = claim
    while True:
        try:
            region = Region(question(now))
        except NotApplicable:
            return None
        free = [v for v in region.integers if not region.ranges()[v].bounded]
        if not free or len(conditions) > len(region.integers):
            break
        symbol = getattr(symbols, free[0].name)
        conditions.append(Le(symbol, bound))
        now = restricted(now, conditions[-1])
    return Candidate("on a smaller domain", now) if conditions else None


def fixed(claim: Claim) -> Candidate | None:
    """The claim at the simplest values of its real variables; None if it has none that range."""
    try:
        region = Region(question(claim))
    except NotApplicable:
        return None
    simple = region.simple_reals(1)
    if not region.reals or region.fixed or not simple:
        return None
    now = claim
    for variable, value in simple[0].items():
        now = restricted(now, Eq(getattr(symbols, variable.name), Rational(value)))
    return Candidate("at single values of the parameters", now)
