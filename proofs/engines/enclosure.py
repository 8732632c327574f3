"""Ball arithmetic over a domain: every integer point, real parameters covered by intervals.

Only a domain that is covered whole gives ENCLOSED. Whatever covers a part of it, such as exact
parameter points or the boxes that could be decided, gives SAMPLED and says which part.
All limits are counts, not times, so that the outcome doesn't depend on the machine.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil, log10
from typing import Any

import sympy
from flint import arb, fmpq
from sympy import Rational, Symbol

from proofs.engines import order
from proofs.engines.evaluate import (
    PRECISIONS,
    Evaluator,
    NotApplicable,
    Parameters,
    evaluator,
    explain,
    working_precision,
)
from proofs.engines.region import Region
from proofs.verdict import Evidence, Verdict
from theory.claim import Claim
from theory.inputs import Equicorrelated
from theory.quantities import InputGram, quantities_of

POINTS = 1500  # integer points looked at for each exact value of the real symbols
REAL_POINTS = 8  # exact values of the real symbols, where they can't be covered
BOXES = 300  # boxes of the real symbols looked at
BOX_EVALUATIONS = 60_000  # in all boxes together
BOX_PRECISION = 64


def deterministic(claim: Claim) -> bool:
    """Whether the claim is about exact numbers, not about expectations over random inputs."""
    statement = claim.bound_statement
    laws = [q.inputs for q in quantities_of(statement)] + [k.inputs for k in statement.atoms(InputGram)]
    return all(isinstance(law, Equicorrelated) for law in laws)


def examine(claim: Claim, *, seed: int = 0) -> Evidence | None:
    """Enclose the claim over its domain, or over what part of it can be covered.

    Returns None for a claim about expectations; UNKNOWN, with the reason, where balls decide nothing.
    """
    if not deterministic(claim):
        return None
    started = time.perf_counter()
    try:
        region = Region(claim.domain, claim.free_symbols)
        found = _ordered(claim, region) or _covered(claim, region) or _tried(region, evaluator(claim.bound_statement))
    except NotApplicable as error:
        found = _unknown("nothing", f"not applicable: {error}")
    return Evidence(**{**found.__dict__, "seconds": time.perf_counter() - started})


def spot_check(claim: Claim, *, points: int = 40, real_points: int = 4) -> Evidence | None:
    """Try a few small points: the cross-check of a claim that was proved.

    Returns None where balls don't apply.
    """
    if not deterministic(claim):
        return None
    started = time.perf_counter()
    try:
        region = Region(claim.domain, claim.free_symbols)
        found = _tried(region, evaluator(claim.bound_statement), points, real_points, PRECISIONS[:2])
    except NotApplicable:
        return None
    return Evidence(**{**found.__dict__, "seconds": time.perf_counter() - started})


def _unknown(scope: str, detail: str) -> Evidence:
    return Evidence("enclosure", Verdict.UNKNOWN, scope, detail, precision=PRECISIONS[-1])


# --- exact points --------------------------------------------------------------------------------


@dataclass
class Tally:
    """What was found at the points tried."""

    true: int = 0
    agreeing: int = 0
    undefined: int = 0
    open: list[str] = field(default_factory=list)
    gap: arb | None = None
    precision: int = 0
    reason: str = ""

    @property
    def tried(self) -> int:
        """Points at which the statement has a meaning."""
        return self.true + self.agreeing + len(self.open)


def _tried(
    region: Region,
    judge: Evaluator,
    limit: int = POINTS,
    real_limit: int = REAL_POINTS,
    precisions: Sequence[int] = PRECISIONS,
) -> Evidence:
    """Decide the statement at exact points, the simplest parameters and the smallest integers first."""
    tally, caps = Tally(), set()
    reals = region.simple_reals(real_limit)
    for values in reals:
        points, cap = region.some_integer_points(values, limit)
        caps.add(cap)
        at = judge.at(values, _horizon(points))
        for point in points:
            refuted = _try(judge, at, values, point, tally, precisions)
            if refuted is not None:
                return refuted
    fixed = all(r.bounded and r.low == r.high for r in _real_ranges(region))
    whole = fixed and caps <= {None} and not region.doubtful
    return _summary(region, tally, reals, caps, whole)


def _real_ranges(region: Region) -> Iterable[Any]:
    ranges = region.ranges()
    return [ranges[s] for s in region.reals]


def _horizon(points: Iterable[Mapping[Symbol, int]]) -> int:
    """The largest position that the points ask for, as far as one can see beforehand."""
    return max((value for point in points for s, value in point.items() if s.name != "d"), default=1) + 1


def _try(
    judge: Evaluator,
    at: Parameters,
    values: Mapping[Symbol, Rational],
    point: Mapping[Symbol, int],
    tally: Tally,
    precisions: Sequence[int],
) -> Evidence | None:
    try:
        decision = at.decide(point, precisions)
    except NotApplicable as error:
        tally.undefined += 1
        tally.reason = str(error)
        return None
    tally.precision = max(tally.precision, decision.precision)
    if decision.truth is False:
        return _refuted(judge, at, values, point, decision.precision)
    if decision.truth:
        tally.true += 1
    elif decision.consistent:
        tally.agreeing += 1
        if decision.gap is not None:
            tally.gap = decision.gap if tally.gap is None else tally.gap.max(decision.gap)
    else:
        tally.open.append(_words(values, point))
    return None


def _refuted(
    judge: Evaluator,
    at: Parameters,
    values: Mapping[Symbol, Rational],
    point: Mapping[Symbol, int],
    precision: int,
) -> Evidence:
    return Evidence(
        "enclosure",
        Verdict.REFUTED,
        _words(values, point, "at "),
        explain(judge.statement, at, point, 2 * precision),
        witness={s.name: sympy.sympify(v) for s, v in {**values, **point}.items()},
        precision=2 * precision,
    )


def _summary(
    region: Region,
    tally: Tally,
    reals: Sequence[Mapping[Symbol, Rational]],
    caps: set[int | None],
    whole: bool,
) -> Evidence:
    if not tally.tried:
        return _unknown("nothing", f"not applicable: {tally.reason or 'no point of the domain was reached'}")
    scope = _scope(region, reals, caps)
    detail = f"{tally.true} of {tally.tried} points certified in balls"
    if tally.agreeing:
        detail += f"; at {tally.agreeing} the sides agree to within {_above(tally.gap)}, which balls can't call equal"
    if tally.undefined:
        detail = f"the statement has no meaning at {tally.undefined} points of the domain ({tally.reason}): "
        detail += f"restrict the domain; {tally.true + tally.agreeing} other points hold"
    if tally.open:
        detail += f"; undecided at {len(tally.open)}, such as {tally.open[0]}"
    if tally.open or tally.undefined:
        outcome = Verdict.UNKNOWN
    elif whole and not tally.agreeing:
        outcome = Verdict.ENCLOSED
        scope = "the single case" if not region.symbols else f"the whole domain, {tally.true} points"
    else:
        outcome = Verdict.SAMPLED
    return Evidence("enclosure", outcome, scope, detail, precision=tally.precision)


def _above(distance: arb | None) -> str:
    """A power of ten that is certainly not less."""
    if distance is None or distance.is_zero():
        return "0"
    return f"1e{ceil(log10(float(distance.abs_upper())))}"


def _scope(region: Region, reals: Sequence[Mapping[Symbol, Rational]], caps: set[int | None]) -> str:
    parts = []
    if region.reals:
        shown = ", ".join(f"({_words(values, {})})" for values in reals)
        parts.append(f"exact parameters {shown}")
    highest = min((cap for cap in caps if cap is not None), default=None)
    if region.integers:
        names = ", ".join(s.name for s in region.integers)
        parts.append(f"{names} <= {highest}" if highest else f"all {names} of the domain")
    return "; ".join(parts) if parts else "the single case"


def _words(values: Mapping[Symbol, Any], point: Mapping[Symbol, Any], before: str = "") -> str:
    text = ", ".join(f"{s.name} = {v}" for s, v in {**values, **point}.items())
    return f"{before}{text}" if text else "the single case"


# --- boxes ---------------------------------------------------------------------------------------

Box = tuple[tuple[Fraction, Fraction], ...]


@dataclass
class Cover:
    """What a search over boxes of the real symbols has settled."""

    certified: list[Box] = field(default_factory=list)
    open: list[Box] = field(default_factory=list)
    outside: int = 0
    looked_at: int = 0
    evaluations: int = 0


def _covered(claim: Claim, region: Region) -> Evidence | None:
    """Cover the whole domain by boxes; None if it can't be, or if no box is decided."""
    statement = claim.bound_statement
    ranges = region.ranges()
    if not region.reals or not region.finite or statement.has(sympy.Eq):
        return None  # nothing to cover; too much; or an equation, which no box can certify
    if not all(ranges[s].bounded for s in region.reals):
        return None
    if all(ranges[s].low == ranges[s].high for s in region.reals):
        return None
    points = list(region.integer_hull())
    if not 0 < len(points) <= BOX_EVALUATIONS // 10:
        return None
    judge = evaluator(sympy.Implies(region.domain, statement, evaluate=False))
    start = tuple((ranges[s].low or Fraction(0), ranges[s].high or Fraction(0)) for s in region.reals)
    cover = Cover()
    refuted = _split(judge, region, points, start, cover)
    if refuted is not None:
        return refuted
    if not cover.certified:
        return None
    if not cover.open:
        return Evidence(
            "enclosure",
            Verdict.ENCLOSED,
            f"the whole domain: {', '.join(map(_named(ranges), region.reals))}, {len(points)} integer points",
            f"{len(cover.certified)} boxes certified in balls",
            precision=BOX_PRECISION,
        )
    return _in_part(claim, region, cover, len(points))


def _ordered(claim: Claim, region: Region) -> Evidence | None:
    """What Taylor expansions say of a claim about the order of neighbouring scores; None for other claims."""
    question = order.recognise(claim.bound_statement, region)
    if question is None:
        return None
    found = order.settle(question)
    if found.witness is not None:
        return _opposite(claim, region, question, *found.witness)
    if found.whole and question.parameter is None:
        return Evidence(
            "enclosure",
            Verdict.ENCLOSED,
            f"the whole domain, {question.size} points",
            f"steps between neighbouring keys certified in balls: {len(question.points)}",
            precision=found.precision,
        )
    if found.whole:
        return Evidence(
            "enclosure",
            Verdict.ENCLOSED,
            f"the whole domain: {_named(region.ranges())(region.reals[0])}, {question.size} integer points",
            f"steps between neighbouring keys: {len(question.points)}, each a Taylor polynomial of degree "
            f"{found.degrees[0]} to {found.degrees[1]} in {region.reals[0].name} with its remainder; intervals: "
            f"{len(found.certified)}",
            precision=found.precision,
        )
    if not found.certified:
        return None
    cover = Cover([(part,) for part in found.certified], [(part,) for part in found.open])
    return _in_part(claim, region, cover, question.size)


def _opposite(
    claim: Claim, region: Region, question: order.Question, value: Fraction | None, pair: order.Pair
) -> Evidence | None:
    """The step that goes the other way as a witness, if it lies in the domain and balls confirm it."""
    point = question.points[pair]
    reals = {s: Rational(value.numerator, value.denominator) for s in region.reals if value is not None}
    if region.contains(reals, point) is not True:
        return None
    judge = evaluator(claim.bound_statement)
    return _try(judge, judge.at(reals, _horizon([point])), reals, point, Tally(), PRECISIONS)


def _named(ranges: Mapping[Symbol, Any]) -> Any:
    return lambda symbol: f"{symbol.name} in {ranges[symbol]}"


def _split(
    judge: Evaluator, region: Region, points: list[dict[Symbol, int]], start: Box, cover: Cover
) -> Evidence | None:
    """Bisect boxes until each is decided at all integer points or the budget is spent."""
    queue: deque[tuple[Box, list[dict[Symbol, int]]]] = deque([(start, points)])
    while queue:
        box, rest = queue.popleft()
        spent = cover.looked_at >= BOXES or cover.evaluations + len(rest) > BOX_EVALUATIONS
        if spent:
            cover.open.append(box)
            continue
        cover.looked_at += 1
        cover.evaluations += len(rest)
        left = _undecided(judge, region, box, rest)
        if not left:
            cover.certified.append(box)
            continue
        middle = _middle(region, box)
        refuted = _try(judge, judge.at(middle, _horizon(left)), middle, left[0], Tally(), PRECISIONS[:2])
        if refuted is not None:
            return refuted
        queue.extend((half, left) for half in _halves(box, start))
    return None


def _undecided(judge: Evaluator, region: Region, box: Box, points: list[dict[Symbol, int]]) -> list[dict[Symbol, int]]:
    with working_precision(BOX_PRECISION):
        values = {s: _interval(low, high) for s, (low, high) in zip(region.reals, box, strict=True)}
    at = judge.at(values, _horizon(points))
    left = []
    for point in points:
        try:
            certain = at.truth(point, BOX_PRECISION) is True
        except NotApplicable:
            certain = False
        if not certain:
            left.append(point)
    return left


def _interval(low: Fraction, high: Fraction) -> arb | fmpq:
    """A ball that holds the interval, and exactly it where its ends are dyadic."""
    if low == high:
        return fmpq(low.numerator, low.denominator)
    middle, radius = (low + high) / 2, (high - low) / 2
    centre = arb(fmpq(middle.numerator, middle.denominator))
    return centre + arb(0, arb(fmpq(radius.numerator, radius.denominator)).upper())


def _middle(region: Region, box: Box) -> dict[Symbol, Rational]:
    middles = ((low + high) / 2 for low, high in box)
    return {s: Rational(m.numerator, m.denominator) for s, m in zip(region.reals, middles, strict=True)}


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


def _in_part(claim: Claim, region: Region, cover: Cover, count: int) -> Evidence:
    """Evidence for the boxes that were decided, if exact points elsewhere hold nothing against it."""
    points = _tried(region, evaluator(claim.bound_statement), POINTS // 5)
    if points.outcome is Verdict.REFUTED:
        return points
    names = ", ".join(s.name for s in region.reals)
    if len(region.reals) == 1:
        scope = f"certified for {names} in {_union([box[0] for box in cover.certified])}"
    else:
        done, still = (sum(map(_volume, boxes)) for boxes in (cover.certified, cover.open))
        scope = f"certified for {float(done / (done + still)):.1%} of the box of ({names})"
    return Evidence(
        "enclosure",
        Verdict.SAMPLED if points.outcome is not Verdict.UNKNOWN else Verdict.UNKNOWN,
        f"{scope}, at {count} integer points; elsewhere at {points.scope}",
        f"{len(cover.certified)} boxes certified in balls, {len(cover.open)} undecided; {points.detail}",
        precision=max(BOX_PRECISION, points.precision or 0),
    )


def _volume(box: Box) -> Fraction:
    product = Fraction(1)
    for low, high in box:
        product *= high - low if high > low else 1
    return product


def _union(intervals: Iterable[tuple[Fraction, Fraction]]) -> str:
    merged: list[tuple[Fraction, Fraction]] = []
    for low, high in sorted(intervals):
        if merged and merged[-1][1] >= low:
            merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
        else:
            merged.append((low, high))
    return " and ".join(f"[{low}, {high}]" for low, high in merged)
