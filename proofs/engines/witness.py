"""The search for a counterexample, and for the smallest one.

Three passes. First every small integer point at the simplest exact parameters, the corner cases of the
domain among them. Then a search that Hypothesis drives and shrinks. Last, whatever was found is
minimised: at its real parameters the smaller integer points are decided one by one, and the first that
fails takes its place. A witness counts only if balls certify it again at a higher precision.
"""

from __future__ import annotations

import sys
import tempfile
import time
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

from hypothesis import HealthCheck, find, settings
from hypothesis import strategies as st
from hypothesis.configuration import set_hypothesis_home_dir
from hypothesis.errors import NoSuchExample, Unsatisfiable

from maskproof.proofs.engines.evaluate import PRECISIONS, Evaluator, Parameters, evaluator
from maskproof.proofs.engines.explain import explain
from maskproof.proofs.engines.numbers import printable
from maskproof.proofs.engines.points import horizon, named, words
from maskproof.proofs.engines.question import Question
from maskproof.proofs.engines.ranges import Range
from maskproof.proofs.engines.region import Point, Reals, Region
from maskproof.proofs.engines.truth import NotApplicable
from maskproof.proofs.terms import terms as t
from maskproof.proofs.verdict import Evidence, Verdict

if "pytest" not in sys.modules:  # a user's working directory is no place for the library's notes
    set_hypothesis_home_dir(Path(tempfile.gettempdir()) / "maskproof-hypothesis")

SMALL_POINTS = 6_000  # tried in the first pass, over all exact values of the real variables together
MOST_POINTS = 1500  # of these at one value
SIMPLE_REALS = 80  # exact values of the real variables tried in the first pass
EXAMPLES = 100  # of the search by Hypothesis
REACH = 40  # integer variables without an upper bound are searched up to here
DENOMINATOR = 20  # of the real parameters in the search
MINIMISED = 20_000  # smaller points decided, at most
FIRST_LOOK = PRECISIONS[:2]  # bits: a failure too small to be seen here is found by the enclosure


@dataclass(frozen=True)
class Found:
    """A failing point: real parameters, integers, and the bits that decided it."""

    reals: Reals
    integers: Point
    precision: int


def examine(asked: Question, *, seed: int = 0) -> Evidence | None:
    """Look for a point of the domain where the claim fails.

    Returns REFUTED with the smallest witness found, or None: not to find one says nothing. Returns None
    as well for a claim about expectations or one that balls can't evaluate.
    """
    if not asked.deterministic:
        return None
    started = time.perf_counter()
    try:
        region = Region(asked)
        judge = evaluator(asked.statement)
    except NotApplicable:
        return None
    search = Search(region, judge)
    found = search.small() or search.driven(seed)
    if found is None:
        return None
    return search.report(found, seed, started)


class Search:
    """The passes over one claim; evaluators at the same real parameters are shared between them."""

    def __init__(self, region: Region, judge: Evaluator) -> None:
        self.region = region
        self.judge = judge
        self._at: dict[tuple[Any, ...], Parameters] = {}

    def at(self, reals: Reals, horizon: int = 1) -> Parameters:
        """The evaluator at these real parameters."""
        key = tuple(reals.values())
        if key not in self._at:
            self._at[key] = self.judge.at(reals, horizon)
        return self._at[key]

    def fails(self, reals: Reals, integers: Point) -> Found | None:
        """The point, if the statement is certainly false there."""
        decision = self.at(reals).decide(integers, FIRST_LOOK)
        if decision.truth is not False:
            return None
        return Found(dict(reals), dict(integers), decision.precision)

    def small(self) -> Found | None:
        """The first failure among the simplest parameters and, for each, the smallest integers."""
        simple = self.region.simple_reals(SIMPLE_REALS)
        limit = min(MOST_POINTS, SMALL_POINTS // max(1, len(simple)))
        for reals in simple:
            points, _ = self.region.some_integer_points(reals, limit)
            self.at(reals, horizon(points))
            for point in points:
                found = self.fails(reals, point)
                if found is not None:
                    return found
        return None

    def driven(self, seed: int) -> Found | None:
        """A failure that Hypothesis finds and shrinks: parameters first, then integers."""
        if not self.region.variables:
            return None

        def failing(point: tuple[Reals, Point]) -> bool:
            return self.fails(*point) is not None

        quiet = settings(
            max_examples=EXAMPLES,
            database=None,
            deadline=None,
            suppress_health_check=[*HealthCheck],  # type: ignore[list-item]
        )
        try:
            found = find(self._points(), failing, settings=quiet, random=Random(seed))
        except (NoSuchExample, Unsatisfiable):
            return None
        return self.fails(*found)

    def _points(self) -> st.SearchStrategy[tuple[Reals, Point]]:
        region = self.region
        simple = region.simple_reals(SIMPLE_REALS)
        costly = "Entry" in self.judge.statement.heads

        @st.composite
        def points(draw: st.DrawFn) -> tuple[Reals, Point]:
            reals: Reals = {}
            fixed: dict[t.Variable, Fraction | int] = {}
            # A quantity costs an enclosure for each value of its parameters; a formula costs nothing.
            if region.reals and simple and (costly or draw(st.booleans())):
                reals = dict(draw(st.sampled_from(simple)))
                fixed = dict(reals)
            else:
                for variable in region.reals:
                    value = draw(_real(region.ranges(fixed)[variable]))
                    reals[variable] = fixed[variable] = value
            integers: Point = {}
            for variable in region.integers:
                value = draw(_whole(region.ranges({**fixed, **integers})[variable]))
                integers[variable] = value
            return reals, integers

        return points().filter(lambda point: region.contains(*point) is True)

    def report(self, found: Found, seed: int, started: float) -> Evidence | None:
        """Minimise the failure, replay it at a higher precision, and write it down."""
        smallest, note = self.minimised(found)
        precision = 2 * PRECISIONS[-1]
        at = self.at(smallest.reals)
        if at.truth(smallest.integers, precision) is not False:
            return None
        reals, integers = smallest.reals, smallest.integers
        detail = explain(self.judge.statement, reals, integers, precision, horizon([integers]))
        return Evidence(
            "witness",
            Verdict.REFUTED,
            words(reals, integers, "at "),
            f"{detail}; replayed at {precision} bits" + (f"; {note}" if note else ""),
            witness={name: printable(x) for name, x in named(reals, integers).items()},
            seed=seed,
            precision=precision,
            seconds=time.perf_counter() - started,
        )

    def minimised(self, found: Found) -> tuple[Found, str]:
        """The first failing integer point at the same parameters, and what is certified before it."""
        if not self.region.integers:
            return found, ""
        cap = None if self.region.finite else max(found.integers.values())
        true = undecided = 0
        for point in islice(self.region.integer_points(found.reals, cap), MINIMISED):
            if point == found.integers:
                break
            smaller = self.fails(found.reals, point)
            if smaller is not None:
                found = smaller
                break
            if self.holds(found.reals, point):
                true += 1
            else:
                undecided += 1
        else:
            return found, f"{true} smaller points hold; the others were not all tried"
        names = ", ".join(v.name for v in self.region.integers)
        note = f"minimal in ({names}) at these parameters: {true} smaller points certified to hold"
        if len(self.region.integers) > 1 and cap is not None:
            note += f" (no variable above {cap})"
        return found, note + (f", {undecided} undecided" if undecided else "")

    def holds(self, reals: Reals, integers: Point) -> bool:
        """Whether the statement is certainly true at this point."""
        return self.at(reals).decide(integers).truth is True


def _real(reach: Range) -> st.SearchStrategy[Fraction]:
    low = reach.low if reach.low is not None else min(reach.high or Fraction(0), Fraction(0)) - 10
    high = reach.high if reach.high is not None else low + 10
    if reach.empty:
        return st.nothing()
    return st.fractions(low, high, max_denominator=_denominator(low, high)).filter(lambda v: v in reach)


def _denominator(low: Fraction, high: Fraction) -> int:
    """Small, but enough to write both ends, as Hypothesis wants it."""
    return max(DENOMINATOR, low.denominator, high.denominator)


def _whole(reach: Range) -> st.SearchStrategy[int]:
    if reach.empty or reach.low is None:
        return st.nothing()
    low = int(reach.low)
    high = int(reach.high) if reach.high is not None else max(REACH, low + REACH)
    return st.integers(low, min(high, low + 10 * REACH))
