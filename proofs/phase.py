"""Where closer keys score higher: slices and maps of the parameters, certified piece by piece."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from multiprocessing import get_context

from numerics.certify import Box, Judgement, Order, judge
from numerics.series import PARAMETERS, Interval
from proofs.certificate import Survey, area
from theory.errors import InvalidInput

DEGREES = {1: 6, 2: 4}
RESOLUTIONS = {1: Fraction(1, 10**6), 2: Fraction(1, 512)}
"""Width below which a box stays undecided: absolute in a slice, relative to the sides of a map."""
_CHECKPOINT = 10.0  # seconds


def survey_of(
    order: Order,
    box: Box,
    resolution: Fraction | None = None,
    degree: int | None = None,
    precision: int = 64,
) -> Survey:
    """The question, with nothing settled.

    Args:
        order: the statement.
        box: one interval for a slice, two for a map, by name of parameter.
        resolution: the width below which a box stays undecided, 1e-6 if None; in a map it is relative to the
            sides of the box, and 1/512 if None.
        degree: of the polynomials.
        precision: of the balls, in bits.

    Raises:
        InvalidInput: there are not one or two intervals, one has no width, or the resolution is not positive.
    """
    if len(box) not in DEGREES:
        raise InvalidInput(f"{len(box)} parameters", "'one or two parameters vary'", "give one or two ranges")
    for name, interval in box.items():
        if name not in PARAMETERS:
            raise InvalidInput(f"parameter {name!r}", "'it can vary'", f"use {', '.join(PARAMETERS)}")
        if not interval.radius:
            raise InvalidInput(f"{name} = {interval.low}:{interval.high}", "low < high", "give it a width")
    fine = RESOLUTIONS[len(box)] if resolution is None else resolution
    if not fine > 0:
        raise InvalidInput(f"resolution = {fine}", "resolution > 0", "use a number such as 1e-6")
    floor = {name: fine if len(box) == 1 else fine * (interval.high - interval.low) for name, interval in box.items()}
    return Survey(order, dict(box), floor, degree or DEGREES[len(box)], precision, (), (dict(box),))


def advance(
    survey: Survey,
    workers: int = 1,
    seconds: float = float("inf"),
    report: Callable[[Survey], None] = lambda survey: None,
    save: Callable[[Survey], None] = lambda survey: None,
) -> Survey:
    """Settle the open boxes, largest first, until none is left or the time is up.

    The finished survey does not depend on the number of workers or on interruptions, except for the order of
    its pieces while it is unfinished.

    Args:
        survey: where to start.
        workers: processes.
        seconds: no new box is begun after this time.
        report: called after every box.
        save: called every ten seconds, and at the end whatever ends it.
    """
    started = saved = time.monotonic()
    pieces, unsettled = list(survey.pieces), list(survey.open)
    running: dict[Future[Judgement], Box] = {}

    def state() -> Survey:
        rest = sorted([*unsettled, *running.values()], key=_position)
        return replace(survey, pieces=tuple(sorted(pieces, key=lambda p: _position(p.box))), open=tuple(rest))

    with _pool(workers) as submit:
        try:
            while unsettled or running:
                unsettled.sort(key=area)
                while unsettled and len(running) < workers and time.monotonic() - started < seconds:
                    box = unsettled.pop()
                    running[submit(survey, box)] = box
                if not running:
                    break
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    found = future.result()
                    del running[future]
                    pieces += found.pieces
                    unsettled += found.open
                report(state())
                if time.monotonic() - saved > _CHECKPOINT:
                    save(state())
                    saved = time.monotonic()
        finally:
            save(state())
    return state()


def _position(box: Box) -> tuple[Fraction, ...]:
    return tuple(interval.low for interval in box.values())


def _settle(survey: Survey, box: Box) -> Judgement:
    return judge(survey.order, box, survey.floor, survey.degree, survey.precision)


@contextmanager
def _pool(workers: int) -> Iterator[Callable[[Survey, Box], Future[Judgement]]]:
    """How to have a box settled: in this process for one worker, else in others."""
    if workers == 1:

        def here(survey: Survey, box: Box) -> Future[Judgement]:
            future: Future[Judgement] = Future()
            future.set_result(_settle(survey, box))
            return future

        yield here
        return
    executor = ProcessPoolExecutor(workers, mp_context=get_context("spawn"))
    try:
        yield lambda survey, box: executor.submit(_settle, survey, box)
    finally:
        executor.shutdown(cancel_futures=True)


# What to read off


@dataclass(frozen=True)
class Crossing:
    """Where the answer changes along a slice.

    Attributes:
        low: the answer is ``before`` from here down to the crossing before.
        high: the answer is ``after`` from here up to the next crossing.
        before: whether the order holds below.
        after: whether the order holds above.
    """

    low: Fraction
    high: Fraction
    before: bool
    after: bool


def crossings(survey: Survey) -> list[Crossing]:
    """Every place of a slice where the order begins or ceases to hold, enclosed.

    Between two of them, and up to both ends of the slice, nothing is undecided, if the slice has no ``gaps``.

    Raises:
        InvalidInput: more than one parameter varies.
    """
    runs = _runs(survey)
    found = []
    for (_, low, before), (high, _, after) in pairwise(runs):
        if before is not after:
            found.append(Crossing(low, high, before, after))
    return found


def gaps(survey: Survey) -> list[tuple[Fraction, Fraction]]:
    """Undecided stretches of a slice that are no crossing: the same answer on both sides, or an end of the slice.

    Raises:
        InvalidInput: more than one parameter varies.
    """
    (whole,) = _slice(survey)
    runs = _runs(survey)
    if not runs:
        return [(whole.low, whole.high)]
    stretches = [(whole.low, runs[0][0])] + [
        (low, high) for (_, low, before), (high, _, after) in pairwise(runs) if before is after
    ]
    return [(low, high) for low, high in [*stretches, (runs[-1][1], whole.high)] if low < high]


def _slice(survey: Survey) -> tuple[Interval]:
    if len(survey.box) != 1:
        raise InvalidInput(f"{len(survey.box)} parameters", "'one parameter varies'", "take a slice")
    (interval,) = survey.box.values()
    return (interval,)


def _runs(survey: Survey) -> list[tuple[Fraction, Fraction, bool]]:
    """Decided stretches of a slice from left to right; neighbours that touch and agree are one."""
    _slice(survey)
    (name,) = survey.box
    runs: list[tuple[Fraction, Fraction, bool]] = []
    for piece in sorted(survey.pieces, key=lambda piece: piece.box[name].low):
        if piece.answer is None:
            continue
        low, high = piece.box[name].low, piece.box[name].high
        if runs and runs[-1][1] == low and runs[-1][2] is piece.answer:
            runs[-1] = (runs[-1][0], high, piece.answer)
        else:
            runs.append((low, high, piece.answer))
    return runs
