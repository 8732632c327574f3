"""A claim over its domain in balls: every integer point, real parameters covered by intervals.

Only a domain that is covered whole gives ENCLOSED. Whatever covers a part of it, such as exact parameter points or the
boxes that could be decided, gives SAMPLED and says which part. A point of the domain at which the statement has no
value, or at which the domain itself has none, leaves the claim UNKNOWN. All limits are counts, not times, so that the
outcome doesn't depend on the machine.
"""

from __future__ import annotations

import time
from dataclasses import replace
from fractions import Fraction

from maskproof.proofs.engines import order
from maskproof.proofs.engines.boxes import Cover, called, covered, in_part
from maskproof.proofs.engines.evaluate import PRECISIONS, evaluator
from maskproof.proofs.engines.points import Tally, attempt, horizon, tried, unknown
from maskproof.proofs.engines.question import Question
from maskproof.proofs.engines.region import Region
from maskproof.proofs.engines.truth import NotApplicable
from maskproof.proofs.verdict import Evidence, Verdict
from maskproof.theory.errors import InvalidInput

SECOND_LOOK = 20_000  # work of exact numbers at a claim that was proved
SECOND_PAIRS = 400_000  # of tokens enclosed there, at given real parameters


def examine(asked: Question, *, seed: int = 0) -> Evidence | None:
    """Enclose the claim over its domain, or over what part of it can be covered.

    Returns None for a claim about expectations; UNKNOWN, with the reason, where balls decide nothing.
    """
    if not asked.deterministic:
        return None
    started = time.perf_counter()
    try:
        region = Region(asked)
        evaluator(asked.statement)
        found = _ordered(region) or covered(region) or tried(region)
    except (NotApplicable, InvalidInput) as error:
        found = unknown("nothing", f"not applicable: {error}")
    return replace(found, seconds=time.perf_counter() - started)


def spot_check(asked: Question, *, points: int = 40, real_points: int = 4) -> Evidence | None:
    """Try a few small points: the second look at a claim that was proved.

    Returns None for a claim about expectations, and for one about limits, of which numbers say nothing.
    """
    if not asked.deterministic or "Limit" in asked.statement.heads:
        return None
    started = time.perf_counter()
    try:
        found = tried(Region(asked), points, real_points, PRECISIONS[:2], SECOND_LOOK, SECOND_PAIRS)
    except NotApplicable as error:
        found = unknown("nothing", f"not applicable: {error}")
    return replace(found, seconds=time.perf_counter() - started)


def _ordered(region: Region) -> Evidence | None:
    """What Taylor expansions say of a claim about the order of neighbouring scores; None for other claims."""
    asked = order.recognise(region)
    if asked is None:
        return None
    found = order.settle(asked)
    if found.witness is not None:
        return _opposite(region, asked, *found.witness)
    if found.whole and asked.parameter is None:
        return Evidence(
            "enclosure",
            Verdict.ENCLOSED,
            f"the whole domain, {asked.size} points",
            f"steps between neighbouring keys certified in balls: {len(asked.points)}",
            precision=found.precision,
        )
    if found.whole:
        return Evidence(
            "enclosure",
            Verdict.ENCLOSED,
            f"the whole domain: {called(region.ranges())(region.reals[0])}, {asked.size} integer points",
            f"steps between neighbouring keys: {len(asked.points)}, each a Taylor polynomial of degree "
            f"{found.degrees[0]} to {found.degrees[1]} in {region.reals[0].name} with its remainder; intervals: "
            f"{len(found.certified)}",
            precision=found.precision,
        )
    if not found.certified:
        return None
    cover = Cover([(part,) for part in found.certified], [(part,) for part in found.open])
    return in_part(region, cover, asked.size)


def _opposite(region: Region, asked: order.Question, value: Fraction | None, pair: order.Pair) -> Evidence | None:
    """The step that goes the other way as a witness, if it lies in the domain and balls confirm it."""
    point = dict(asked.points[pair])
    reals = {v: value for v in region.reals if value is not None}
    if region.contains(reals, point) is not True:
        return None
    judge = evaluator(region.question.statement)
    return attempt(region, judge.at(reals, horizon([point])), reals, point, Tally())
