"""What ``maskproof phase`` prints, writes and draws."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskproof.proofs.maps.certificate import Survey
from maskproof.proofs.maps.phase import crossings, gaps
from maskproof.proofs.shown import drawing
from maskproof.proofs.shown.files import write_text, write_whole
from maskproof.theory.errors import InvalidInput


def summary(survey: Survey) -> str:
    """What was found, in a few lines of text."""
    order = survey.order
    where = ", ".join(f"{name} in [{_short(x.low)}, {_short(x.high)}]" for name, x in survey.box.items())
    fixed = {"alpha": order.alpha, "beta": order.decoder.beta, "residual": order.decoder.residual}
    at = ", ".join(f"{name} = {value}" for name, value in fixed.items() if name not in survey.box)
    layers = ", ".join(map(str, order.layers))
    lines = [f"strict increase in layer {layers}, n = {order.n}, {where}" + (f"; {at}" if at else "")]
    if len(survey.box) == 1:
        for length in _spoken(survey):
            lines += _changes(survey, length)
    parts = [
        f"{word} on {100 * float(survey.share(answer)):.4g} %"
        for word, answer in (("certified true", True), ("certified false", False), ("undecided", None))
    ]
    lines.append(", ".join(parts) + f" ({len(survey.pieces)} pieces)")
    return "\n".join(lines)


_MOST_SPOKEN = 12


def _spoken(survey: Survey) -> tuple[int, ...]:
    """The lengths that a summary speaks of: n, and the others if they are few."""
    lengths = survey.lengths if len(survey.lengths) <= _MOST_SPOKEN else ()
    return tuple(sorted({*lengths, survey.order.n}))


def _changes(survey: Survey, length: int) -> list[str]:
    """Where the order begins or ceases to hold in sequences of this length, and what is undecided apart from that."""
    start = f"n = {length}: " if survey.lengths else ""
    lines = []
    for change in crossings(survey, length):
        verb = "begins to hold" if change.after else "ceases to hold"
        lines.append(f"{start}{verb} between {_digits(change.low)} and {_digits(change.high)}")
    return lines + [f"{start}undecided from {_digits(low)} to {_digits(high)}" for low, high in gaps(survey, length)]


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

    ``.csv``: ends of each parameter, holds (true, false or empty), layer, i, j of a pair that falls, and up to which
    length the order holds, if lengths were asked for.
    ``.npz``: ``low`` and ``high`` of shape (pieces, parameters), ``holds`` (1, 0, or -1 for undecided),
    ``falls`` of shape (pieces, 3), 0 where there is none, ``upto``, 0 if no lengths were asked for, and
    ``parameters``, their names.
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
    writer.writerow([*ends, "holds", "layer", "i", "j", "upto"])
    for piece in survey.pieces:
        numbers = [repr(float(end)) for x in piece.box.values() for end in (x.low, x.high)]
        word = "" if piece.answer is None else str(piece.answer).lower()
        upto = "" if piece.upto is None else piece.upto
        writer.writerow([*numbers, word, *(piece.pair or ("", "", "")), upto])
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
        "upto": np.array([piece.upto or 0 for piece in pieces], dtype=np.int32),
    }


# Figures

TRUE, FALSE = drawing.TRUE, drawing.FALSE
"""Colours of what is certified."""


def plot(surveys: Sequence[Survey], path: Path) -> None:
    """A map for each survey, side by side, fit for a column of print; a slice is drawn as a bar."""
    drawing.save(drawing.phase_diagram(surveys), path, "--plot", dpi=300)
