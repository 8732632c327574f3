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

from proofs.certificate import Survey
from proofs.files import write_text, write_whole
from proofs.phase import crossings, gaps
from theory.errors import InvalidInput


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
        Patch(facecolor=TRUE, label="certified: closer keys score higher"),
        Patch(facecolor=FALSE, label="certified: not always"),
    ]
    undecided = max(float(survey.share(None)) for survey in surveys)
    if undecided:
        handles.append(Patch(facecolor=UNDECIDED, label=f"undecided ({100 * undecided:.2g} %)"))
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
