"""A statement at exact points of its domain, the simplest parameters and the smallest integers first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil, log10
from typing import Any

from flint import arb

from maskproof.proofs.engines.evaluate import PRECISIONS, Parameters, evaluator
from maskproof.proofs.engines.exact_arithmetic import Budget
from maskproof.proofs.engines.explain import explain
from maskproof.proofs.engines.numbers import printable
from maskproof.proofs.engines.region import Point, Reals, Region
from maskproof.proofs.engines.truth import Undefined
from maskproof.proofs.terms import terms as t
from maskproof.proofs.verdict import Evidence, Verdict

POINTS = 1500  # integer points looked at for each exact value of the real variables
REAL_POINTS = 8  # exact values of the real variables, where they can't be covered
CRITICAL = 4  # more of them, at which a part may have no value
WORK = 20_000_000  # of exact numbers, where they can decide a whole domain
SOME_WORK = 200_000  # where they can't


@dataclass
class Tally:
    """What was found at the points tried."""

    true: int = 0
    exact: int = 0
    agreeing: int = 0
    unreached: int = 0
    open: list[str] = field(default_factory=list)
    undefined: list[str] = field(default_factory=list)
    gap: arb | None = None
    precision: int = 0
    reason: str = ""
    stopped: bool = False

    @property
    def tried(self) -> int:
        """Points at which something was found."""
        return self.true + self.agreeing + len(self.open) + len(self.undefined)


def unknown(scope: str, detail: str) -> Evidence:
    """Evidence for nothing, with the reason: no proof can stand beside it."""
    return Evidence("enclosure", Verdict.UNKNOWN, scope, detail, precision=PRECISIONS[-1], objection=True)


def tried(
    region: Region,
    limit: int | None = None,
    real_limit: int | None = None,
    precisions: Sequence[int] = PRECISIONS,
    work: int | None = None,
    pairs: int | None = None,
) -> Evidence:
    """Decide the statement at exact points, with so much work of exact numbers at most; None stands for the usual.

    After so many ``pairs`` of tokens no further point is looked at; None for no such limit.
    """
    tally, caps = Tally(), set()
    judge = evaluator(region.question.statement)
    limit = POINTS if limit is None else limit
    reals = region.simple_reals(REAL_POINTS if real_limit is None else real_limit)
    reals += region.critical_reals(CRITICAL) if region.reals and not region.fixed else []
    usual = WORK if region.fixed and region.finite else SOME_WORK
    budget = Budget(usual if work is None else work)
    for values in reals:
        points, cap = region.some_integer_points(values, limit)
        caps.add(cap)
        at = judge.at(values, horizon(points))
        for point in points:
            refuted = attempt(region, at, values, point, tally, precisions, budget)
            if refuted is not None:
                return refuted
            if pairs is not None and at.pairs > pairs:
                tally.stopped = tally.stopped or point is not points[-1]
                break
        if tally.undefined:  # nothing but a failure would count, and those were looked for before
            break
    if region.hole is not None:
        return unknown("nothing", f"{region.hole}; restrict the domain")
    return _summary(region, tally, reals, caps, region.fixed and caps <= {None} and not region.doubtful)


def horizon(points: Iterable[Mapping[t.Variable, int]]) -> int:
    """The largest position that the points ask for, as far as one can see beforehand."""
    return max((value for point in points for v, value in point.items() if v.name != "d"), default=1) + 1


def attempt(
    region: Region,
    at: Parameters,
    values: Reals,
    point: Point,
    tally: Tally,
    precisions: Sequence[int] = PRECISIONS,
    budget: Budget | None = None,
) -> Evidence | None:
    """Decide the statement at a point of the domain and count it; evidence if it fails there."""
    decision = at.decide(point, precisions, budget)
    tally.precision = max(tally.precision, decision.precision)
    if decision.truth is False:
        return _refuted(region, values, point, decision.precision, exact=decision.exact)
    if decision.truth is True:
        tally.true += 1
        tally.exact += decision.exact
    elif isinstance(decision.truth, Undefined):
        tally.undefined.append(decision.truth.at(named(values, point), "statement"))
    elif decision.reason:
        tally.unreached += 1
        tally.reason = decision.reason
    elif decision.consistent:
        tally.agreeing += 1
        if decision.gap is not None:
            tally.gap = decision.gap if tally.gap is None else tally.gap.max(decision.gap)
    else:
        tally.open.append(words(values, point))
    return None


def _refuted(region: Region, values: Reals, point: Point, precision: int, *, exact: bool) -> Evidence:
    detail = explain(region.question.statement, values, point, 2 * precision, horizon([point]))
    return Evidence(
        "enclosure",
        Verdict.REFUTED,
        words(values, point, "at "),
        f"by exact numbers the statement is false: {detail}" if exact else detail,
        witness={name: printable(x) for name, x in named(values, point).items()},
        precision=2 * precision,
    )


def _summary(region: Region, tally: Tally, reals: Sequence[Reals], caps: set[int | None], whole: bool) -> Evidence:
    if not tally.tried:
        return unknown("nothing", f"not applicable: {tally.reason or 'no point of the domain was reached'}")
    scope = f"{'part of ' if tally.stopped else ''}{_scope(region, reals, caps)}"
    if tally.undefined:
        first, *others = tally.undefined
        more = f", nor at {len(others)} other points that were tried" if others else ""
        return unknown(scope, f"{first}{more}; restrict the domain")
    detail = f"{tally.true} of {tally.tried} points certified in balls"
    if tally.exact:
        detail += f", {tally.exact} of them by exact numbers where balls can't tell two sides apart"
    if tally.agreeing:
        detail += f"; at {tally.agreeing} the sides agree to within {_above(tally.gap)}, which balls can't call equal"
    if tally.unreached:
        detail += f"; {tally.unreached} points could not be evaluated: {tally.reason}"
    if tally.open:
        detail += f"; undecided at {len(tally.open)}, such as {tally.open[0]}"
    if tally.open or tally.unreached:
        outcome = Verdict.UNKNOWN
    elif whole and not tally.agreeing and not tally.stopped:
        outcome = Verdict.ENCLOSED
        scope = "the single case" if not region.variables else f"the whole domain, {tally.true} points"
    else:
        outcome = Verdict.SAMPLED
    return Evidence("enclosure", outcome, scope, detail, precision=tally.precision)


def _above(distance: arb | None) -> str:
    """A power of ten that is certainly not less."""
    if distance is None or distance.is_zero():
        return "0"
    return f"1e{ceil(log10(float(distance.abs_upper())))}"


def _scope(region: Region, reals: Sequence[Reals], caps: set[int | None]) -> str:
    parts = []
    if region.reals:
        shown = ", ".join(f"({words(values, {})})" for values in reals)
        parts.append(f"exact parameters {shown}")
    highest = min((cap for cap in caps if cap is not None), default=None)
    if region.integers:
        names = ", ".join(v.name for v in region.integers)
        parts.append(f"{names} <= {highest}" if highest else f"all {names} of the domain")
    return "; ".join(parts) if parts else "the single case"


def named(values: Mapping[t.Variable, Any], point: Mapping[t.Variable, Any]) -> dict[str, Any]:
    """A point by the names of its variables."""
    return {v.name: x for v, x in {**values, **point}.items()}


def words(values: Mapping[t.Variable, Any], point: Mapping[t.Variable, Any], before: str = "") -> str:
    """A point in words."""
    written = ", ".join(f"{name} = {x}" for name, x in named(values, point).items())
    return f"{before}{written}" if written else "the single case"
