"""Covering a domain by boxes of its real variables, bisected until each is decided or the budget is spent."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import islice

from flint import arb, fmpq

from maskproof.numerics.balls import working_precision
from maskproof.proofs.engines.evaluate import PRECISIONS, Evaluator, evaluator
from maskproof.proofs.engines.numbers import fraction
from maskproof.proofs.engines.points import POINTS, Tally, attempt, horizon, tried, unknown
from maskproof.proofs.engines.ranges import Range
from maskproof.proofs.engines.region import Point, Reals, Region
from maskproof.proofs.engines.truth import Undefined
from maskproof.proofs.terms import terms as t
from maskproof.proofs.verdict import Evidence, Verdict

BOXES = 300  # boxes of the real variables looked at
BOX_EVALUATIONS = 60_000  # in all boxes together
BOX_PRECISION = 64

Box = tuple[tuple[Fraction, Fraction], ...]


@dataclass
class Cover:
    """What a search over boxes of the real variables has settled."""

    certified: list[Box] = field(default_factory=list)
    open: list[Box] = field(default_factory=list)
    looked_at: int = 0
    evaluations: int = 0


class Judge:
    """Decides boxes: whether the statement holds wherever the domain does, and the domain has a value throughout."""

    def __init__(self, region: Region) -> None:
        question = region.question
        inside = t.And((question.domain, *question.understood))
        self.claim = evaluator(t.Implies(inside, question.statement))
        self.domain = None if region.total else Evaluator(question.domain)

    def undecided(self, region: Region, box: Box, points: list[Point]) -> list[Point]:
        """The integer points at which the box is not settled."""
        with working_precision(BOX_PRECISION):
            values = {v: _interval(low, high) for v, (low, high) in zip(region.reals, box, strict=True)}
        reach = horizon(points)
        claim = self.claim.at(values, reach)
        domain = None if self.domain is None else self.domain.at(values, reach)
        left = []
        for point in points:
            settled = claim.truth(point, BOX_PRECISION) is True
            if settled and domain is not None and not isinstance(domain.truth(point, BOX_PRECISION), bool):
                settled = domain.has_value(point, BOX_PRECISION) is True
            if not settled:
                left.append(point)
        return left


def covered(region: Region) -> Evidence | None:
    """Cover the whole domain by boxes; None if it can't be, or if no box is decided."""
    ranges, statement = region.ranges(), region.question.statement
    if not region.reals or not region.finite or region.fixed or _has_equation(statement):
        return None  # nothing to cover; too much; or an equation, which no box can certify
    if not all(ranges[v].bounded for v in region.reals):
        return None
    points = list(islice(region.integer_hull(), BOX_EVALUATIONS // 10 + 1))
    if not 0 < len(points) <= BOX_EVALUATIONS // 10:
        return None
    start = tuple((ranges[v].low or Fraction(0), ranges[v].high or Fraction(0)) for v in region.reals)
    cover = Cover()
    against = _split(Judge(region), region, points, start, cover)
    if against is not None or not cover.certified:
        return against
    if not cover.open:
        return Evidence(
            "enclosure",
            Verdict.ENCLOSED,
            f"the whole domain: {', '.join(map(called(ranges), region.reals))}, {len(points)} integer points",
            f"{len(cover.certified)} boxes certified in balls",
            precision=BOX_PRECISION,
        )
    return in_part(region, cover, len(points))


def _has_equation(statement: t.Statement) -> bool:
    return any(isinstance(part, t.Relation) and part.kind == "=" for part in statement.walk())


def called(ranges: Mapping[t.Variable, Range]):
    """How a variable with its range is called."""
    return lambda variable: f"{variable.name} in {ranges[variable]}"


def _split(judge: Judge, region: Region, points: list[Point], start: Box, cover: Cover) -> Evidence | None:
    """Bisect boxes until each is decided at all integer points or the budget is spent; what speaks against the claim.

    That is a point at which it fails, or at which statement or domain have no value.
    """
    statement = evaluator(region.question.statement)
    queue: deque[tuple[Box, list[Point]]] = deque([(start, points)])
    while queue:
        box, rest = queue.popleft()
        if cover.looked_at >= BOXES or cover.evaluations + len(rest) > BOX_EVALUATIONS:
            cover.open.append(box)
            continue
        cover.looked_at += 1
        cover.evaluations += len(rest)
        left = judge.undecided(region, box, rest)
        if not left:
            cover.certified.append(box)
            continue
        middle = _middle(region, box)
        inside = region.contains(middle, left[0])
        if isinstance(inside, Undefined):
            return unknown("nothing", f"{region.hole}; restrict the domain")
        if inside is True:
            tally = Tally()
            at = statement.at(middle, horizon(left))
            refuted = attempt(region, at, middle, left[0], tally, PRECISIONS[:2])
            if refuted is not None:
                return refuted
            if tally.undefined:
                return unknown("nothing", f"{tally.undefined[0]}; restrict the domain")
        queue.extend((half, left) for half in _halves(box, start))
    return None


def _interval(low: Fraction, high: Fraction) -> arb | fmpq:
    """A ball that holds the interval, and exactly it where its ends are dyadic."""
    if low == high:
        return fraction(low)
    middle, radius = (low + high) / 2, (high - low) / 2
    return arb(fraction(middle)) + arb(0, arb(fraction(radius)).upper())


def _middle(region: Region, box: Box) -> Reals:
    return {v: (low + high) / 2 for v, (low, high) in zip(region.reals, box, strict=True)}


def _halves(box: Box, start: Box) -> tuple[Box, Box]:
    """The box cut across the side that is longest relative to where it started."""

    def length(side: int) -> Fraction:
        low, high = start[side]
        return (box[side][1] - box[side][0]) / (high - low) if high > low else Fraction(0)

    side = max(range(len(box)), key=length)
    low, high = box[side]
    cut = (low + high) / 2
    return (
        (*box[:side], (low, cut), *box[side + 1 :]),
        (*box[:side], (cut, high), *box[side + 1 :]),
    )


def in_part(region: Region, cover: Cover, count: int) -> Evidence:
    """Evidence for the boxes that were decided, if exact points elsewhere hold nothing against it."""
    points = tried(region, POINTS // 5)
    if points.outcome is Verdict.REFUTED or points.scope == "nothing":
        return points
    names = ", ".join(v.name for v in region.reals)
    if len(region.reals) == 1:
        scope = f"certified for {names} in {_union([box[0] for box in cover.certified], _points(cover))}"
    else:
        done, still = (sum(map(_volume, boxes)) for boxes in (cover.certified, cover.open))
        scope = f"certified for {float(done / (done + still)):.1%} of the box of ({names})"
    return Evidence(
        "enclosure",
        Verdict.SAMPLED if points.outcome is not Verdict.UNKNOWN else Verdict.UNKNOWN,
        f"{scope}, at {count} integer points; elsewhere at {points.scope}",
        f"{len(cover.certified)} boxes certified in balls, {len(cover.open)} undecided; {points.detail}",
        precision=max(BOX_PRECISION, points.precision or 0),
        objection=points.objection,
    )


def _volume(box: Box) -> Fraction:
    product = Fraction(1)
    for low, high in box:
        product *= high - low if high > low else 1
    return product


def _points(cover: Cover) -> set[Fraction]:
    """Single values that are open, such as alpha = 1, where all scores are equal."""
    return {box[0][0] for box in cover.open if box[0][0] == box[0][1]}


def _union(intervals: Iterable[tuple[Fraction, Fraction]], without: Collection[Fraction] = ()) -> str:
    """Intervals in words, those that touch joined; open at ends that are left out."""
    merged: list[tuple[Fraction, Fraction]] = []
    for low, high in sorted(intervals):
        if merged and (merged[-1][1] > low or (merged[-1][1] == low and low not in without)):
            merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
        else:
            merged.append((low, high))
    return " and ".join(
        f"{'(' if low in without else '['}{low}, {high}{')' if high in without else ']'}" for low, high in merged
    )
