"""Where closer keys score higher: slices and maps of the parameters, certified piece by piece."""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from numerics.certify import Box, Judgement, Order, judge
from numerics.series import PARAMETERS, Interval
from proofs.certificate import Survey, area
from proofs.files import write_text, write_whole
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


def summary(survey: Survey) -> str:
    """What was found, in a few lines of text."""
    order = survey.order
    where = ", ".join(f"{name} in [{_short(x.low)}, {_short(x.high)}]" for name, x in survey.box.items())
    fixed = {"alpha": order.alpha, "beta": order.decoder.beta, "residual": order.decoder.residual}
    at = ", ".join(f"{name} = {value}" for name, value in fixed.items() if name not in survey.box)
    layers = ", ".join(map(str, order.layers))
    lines = [f"strict increase in layer {layers}, n = {order.n}, {where}" + (f"; {at}" if at else "")]
    if len(survey.box) == 1:
        for change in crossings(survey):
            verb = "begins to hold" if change.after else "ceases to hold"
            lines.append(f"{verb} between {_digits(change.low)} and {_digits(change.high)}")
        lines += [f"undecided from {_digits(low)} to {_digits(high)}" for low, high in gaps(survey)]
    parts = [
        f"{word} on {100 * float(survey.share(answer)):.4g} %"
        for word, answer in (("certified true", True), ("certified false", False), ("undecided", None))
    ]
    lines.append(", ".join(parts) + f" ({len(survey.pieces)} pieces)")
    return "\n".join(lines)


def _short(number: Fraction) -> str:
    return f"{float(number):.6g}"


def _digits(number: Fraction) -> str:
    return f"{float(number):.10g}"


# Files

SUFFIXES = (".csv", ".npz")


def check_out(path: Path) -> None:
    """Refuse a file type that ``write`` does not know."""
    if path.suffix not in SUFFIXES:
        raise InvalidInput(f"--out {path}", "'the file ends in .npz or .csv'", "rename it, as in phase.npz")


def write(survey: Survey, path: Path) -> None:
    """Write the pieces, one a row.

    ``.csv``: ends of each parameter, holds (true, false or empty), and layer, i, j of a pair that falls.
    ``.npz``: ``low`` and ``high`` of shape (pieces, parameters), ``holds`` (1, 0, or -1 for undecided),
    ``falls`` of shape (pieces, 3), 0 where there is none, and ``parameters``, their names.
    """
    if path.suffix == ".csv":
        write_text(path, _csv(survey), "--out")
        return
    arrays: dict[str, Any] = dict(_arrays(survey))

    def save(temporary: Path) -> None:
        with temporary.open("wb") as stream:
            np.savez_compressed(stream, **arrays)

    write_whole(path, save, "--out")


def _csv(survey: Survey) -> str:
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    ends = [f"{name}_{end}" for name in survey.box for end in ("low", "high")]
    writer.writerow([*ends, "holds", "layer", "i", "j"])
    for piece in survey.pieces:
        numbers = [repr(float(end)) for x in piece.box.values() for end in (x.low, x.high)]
        word = "" if piece.answer is None else str(piece.answer).lower()
        writer.writerow([*numbers, word, *(piece.pair or ("", "", ""))])
    return stream.getvalue()


def _arrays(survey: Survey) -> dict[str, NDArray[Any]]:
    pieces = survey.pieces
    shape = (len(pieces), len(survey.box))

    def ends(end: str) -> NDArray[np.float64]:
        rows = [[float(getattr(x, end)) for x in piece.box.values()] for piece in pieces]
        return np.array(rows, dtype=np.float64).reshape(shape)

    return {
        "parameters": np.array(list(survey.box)),
        "low": ends("low"),
        "high": ends("high"),
        "holds": np.array([-1 if piece.answer is None else int(piece.answer) for piece in pieces], dtype=np.int8),
        "falls": np.array([piece.pair or (0, 0, 0) for piece in pieces], dtype=np.int32).reshape(-1, 3),
    }


# Figures

TRUE, FALSE, UNDECIDED = "#9ecae1", "#d95f02", "#000000"
"""A light blue, an orange and black: told apart in grey and by colour-blind readers."""
_SYMBOLS = {"alpha": r"correlation $\alpha$", "beta": r"inverse temperature $\beta$", "residual": r"residual $\lambda$"}


def plot(surveys: Sequence[Survey], path: Path) -> None:
    """A map for each survey, side by side, fit for a column of print; a slice is drawn as a bar."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

    width = 3.4 if len(surveys) == 1 else 2.9 * len(surveys)
    tall = any(len(survey.box) == 2 for survey in surveys)
    figure = Figure(figsize=(width, 3.1 if tall else 1.3), layout="constrained")
    for column, survey in enumerate(surveys, start=1):
        axes = figure.add_subplot(1, len(surveys), column)
        _draw(axes, survey)
    handles = [
        Patch(facecolor=TRUE, label="certified: later keys score higher"),
        Patch(facecolor=FALSE, label="certified: some pair falls"),
    ]
    undecided = max(float(survey.share(None)) for survey in surveys)
    if undecided:
        handles.append(Patch(facecolor=UNDECIDED, label=f"undecided ({100 * undecided:.2g} % of the area)"))
    columns = 1 if len(surveys) == 1 else len(handles)
    figure.legend(
        handles=handles, loc="outside lower center", fontsize=8, frameon=False, ncols=columns, handlelength=1.2
    )
    write_whole(path, lambda temporary: figure.savefig(temporary, dpi=300, format="png"), "--plot")


def _draw(axes: Any, survey: Survey) -> None:
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Rectangle

    names = list(survey.box)
    rectangles: dict[str, list[Rectangle]] = {TRUE: [], FALSE: [], UNDECIDED: []}
    boxes = [(piece.box, piece.answer) for piece in survey.pieces] + [(box, None) for box in survey.open]
    for box, answer in boxes:
        colour = UNDECIDED if answer is None else TRUE if answer else FALSE
        x = box[names[0]]
        low, high = (box[names[1]].low, box[names[1]].high) if len(names) == 2 else (Fraction(0), Fraction(1))
        corner = (float(x.low), float(low))
        rectangles[colour].append(Rectangle(corner, float(x.high - x.low), float(high - low)))
    for colour, patches in rectangles.items():
        # An edge of its own colour closes the hairlines between neighbours.
        axes.add_collection(PatchCollection(patches, facecolor=colour, edgecolor=colour, linewidth=0.25))
    whole = survey.box[names[0]]
    axes.set_xlim(float(whole.low), float(whole.high))
    axes.set_xlabel(_SYMBOLS[names[0]], fontsize=9)
    if len(names) == 2:
        other = survey.box[names[1]]
        axes.set_ylim(float(other.low), float(other.high))
        axes.set_ylabel(_SYMBOLS[names[1]], fontsize=9)
    else:
        axes.set_ylim(0, 1)
        axes.set_yticks([])
    axes.tick_params(labelsize=8)
    axes.set_title(_title(survey), fontsize=9)


def _title(survey: Survey) -> str:
    order = survey.order
    values = {
        "alpha": (r"\alpha", order.alpha),
        "beta": (r"\beta", order.decoder.beta),
        "residual": (r"\lambda", order.decoder.residual),
    }
    fixed = [f"${symbol} = {value}$" for name, (symbol, value) in values.items() if name not in survey.box]
    layers = ", ".join(map(str, order.layers))
    return ", ".join([f"layer {layers}", f"$n = {order.n}$", *fixed])
