"""Where closer keys score higher: slices and maps of the parameters, certified piece by piece."""

from __future__ import annotations

import os
import time
from bisect import insort
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from multiprocessing import active_children, get_context

from maskproof.numerics.certify import Box, Judgement, Order, Piece, check_lengths, judge
from maskproof.numerics.series import PARAMETERS, Interval
from maskproof.proofs.maps.certificate import Survey, area
from maskproof.proofs.processes import limits
from maskproof.theory.errors import InvalidInput

RESOLUTIONS = {1: Fraction(1, 10**6), 2: Fraction(1, 512)}
"""Width below which a box stays undecided: absolute in a slice, relative to the sides of a map."""
_CHECKPOINT = 10.0  # seconds
Task = tuple[Box, int | None]
"""A box to be looked at, and the degree that seems best for it."""


def survey_of(
    order: Order,
    box: Box,
    resolution: Fraction | None = None,
    degree: int | None = None,
    lengths: Iterable[int] = (),
) -> Survey:
    """The question, with nothing settled.

    Args:
        order: the statement.
        box: one interval for a slice, two for a map, by name of parameter.
        resolution: the width below which a box stays undecided, 1e-6 if None; in a map it is relative to the
            sides of the box, and 1/512 if None.
        degree: of the polynomials; chosen from box to box if None.
        lengths: ask for sequences of these lengths, too, at most n; see ``numerics.certify.judge``.

    Raises:
        InvalidInput: there are not one or two intervals, one has no width, the resolution is not positive, a length
            is not for this order, or no query sees two neighbouring keys.
    """
    if len(box) not in RESOLUTIONS:
        raise InvalidInput(f"{len(box)} parameters", "'one or two parameters vary'", "give one or two ranges")
    for name, interval in box.items():
        if name not in PARAMETERS:
            raise InvalidInput(f"parameter {name!r}", "'it can vary'", f"use {', '.join(PARAMETERS)}")
        if not interval.radius:
            raise InvalidInput(f"{name} = {interval.low}:{interval.high}", "low < high", "give it a width")
    fine = RESOLUTIONS[len(box)] if resolution is None else resolution
    if not fine > 0:
        raise InvalidInput(f"resolution = {fine}", "resolution > 0", "use a number such as 1e-6")
    # A crossing may touch two undecided pieces of a slice: half the resolution each.
    floor = {name: fine / 2 if len(box) == 1 else fine * (x.high - x.low) for name, x in box.items()}
    asked = tuple(sorted(set(lengths)))
    check_lengths(order, asked)
    if next(order.pairs(), None) is None:
        what = f"mask {order.decoder.mask} with n = {order.n}"
        raise InvalidInput(
            what, "'some query sees two neighbouring keys'", "there is no step: use a longer input or another mask"
        )
    return Survey(order, dict(box), floor, degree, asked, (), (dict(box),), (None,))


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
    pieces = sorted(survey.pieces, key=_place)
    unsettled = list(zip(survey.open, survey.degrees, strict=True))
    running: dict[Future[Judgement], Task] = {}

    def state() -> Survey:
        rest = sorted([*unsettled, *running.values()], key=lambda task: _position(task[0]))
        return replace(
            survey,
            pieces=tuple(pieces),
            open=tuple(box for box, _ in rest),
            degrees=tuple(degree for _, degree in rest),
        )

    with _pool(workers) as submit:
        try:
            while unsettled or running:
                unsettled.sort(key=lambda task: area(task[0]))
                while unsettled and len(running) < workers and time.monotonic() - started < seconds:
                    task = unsettled.pop()
                    running[submit(survey, task)] = task
                if not running:
                    break
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    found = future.result()
                    del running[future]
                    for piece in found.pieces:
                        insort(pieces, piece, key=_place)
                    unsettled += [(box, found.degree) for box in found.open]
                report(state())
                if time.monotonic() - saved > _CHECKPOINT:
                    save(state())
                    saved = time.monotonic()
        finally:
            save(state())
    return state()


def _position(box: Box) -> tuple[Fraction, ...]:
    return tuple(interval.low for interval in box.values())


def _place(piece: Piece) -> tuple[Fraction, ...]:
    return _position(piece.box)


def _settle(survey: Survey, task: Task) -> Judgement:
    box, advised = task
    return judge(survey.order, box, survey.floor, survey.degree, survey.lengths, advised)


@contextmanager
def _pool(workers: int) -> Iterator[Callable[[Survey, Task], Future[Judgement]]]:
    """How to have a box settled: in this process for one worker, else in others."""
    if workers == 1:

        def here(survey: Survey, task: Task) -> Future[Judgement]:
            future: Future[Judgement] = Future()
            future.set_result(_settle(survey, task))
            return future

        yield here
        return
    os.environ.setdefault(
        "OPENBLAS_NUM_THREADS", "1"
    )  # read by the new processes: they are as many as there is work for
    # A process that has not loaded its modules yet would answer Ctrl-C with a traceback: they never hear signals.
    with limits.signals_blocked():  # nor does the one that keeps count of what they share
        executor = ProcessPoolExecutor(
            workers, mp_context=get_context("spawn"), initializer=limits.end_with, initargs=(os.getpid(),)
        )

    def elsewhere(survey: Survey, task: Task) -> Future[Judgement]:
        with limits.signals_blocked():
            return executor.submit(_settle, survey, task)

    try:
        yield elsewhere
    except BaseException:
        for process in active_children():  # an interrupt does not wait for boxes that take a while
            process.kill()
        raise
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


def crossings(survey: Survey, length: int | None = None) -> list[Crossing]:
    """Every place of a slice where the order begins or ceases to hold, enclosed.

    Between two of them, and up to both ends of the slice, nothing is undecided, if the slice has no ``gaps``.

    Args:
        survey: a slice.
        length: of the sequence; n if None.

    Raises:
        InvalidInput: more than one parameter varies.
    """
    return [
        Crossing(low, high, before, after)
        for (_, low, before), (high, _, after) in pairwise(_runs(survey, length))
        if before is not after
    ]


def gaps(survey: Survey, length: int | None = None) -> list[tuple[Fraction, Fraction]]:
    """Undecided stretches of a slice that are no crossing: the same answer on both sides, or an end of the slice.

    Raises:
        InvalidInput: more than one parameter varies.
    """
    (whole,) = _slice(survey)
    runs = _runs(survey, length)
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


def _runs(survey: Survey, length: int | None) -> list[tuple[Fraction, Fraction, bool]]:
    """Decided stretches of a slice from left to right; neighbours that touch and agree are one."""
    _slice(survey)
    (name,) = survey.box
    runs: list[tuple[Fraction, Fraction, bool]] = []
    for piece in sorted(survey.pieces, key=lambda piece: piece.box[name].low):
        answer = piece.at(length or survey.order.n)
        if answer is None:
            continue
        low, high = piece.box[name].low, piece.box[name].high
        if runs and runs[-1][1] == low and runs[-1][2] is answer:
            runs[-1] = (runs[-1][0], high, answer)
        else:
            runs.append((low, high, answer))
    return runs
