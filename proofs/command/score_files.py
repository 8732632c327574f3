"""What ``maskproof scores`` prints, writes and plots."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from maskproof.numerics.arrays import Array
from maskproof.proofs.shown import drawing
from maskproof.proofs.shown.files import write_text, write_whole
from maskproof.theory.errors import InvalidInput

SUFFIXES = (".npz", ".csv")
_SHOWN = 7  # columns of a matrix that fit into 80 characters


@dataclass(frozen=True)
class Table:
    """Arrays of shape (layers, n, n), by name, with what they were computed from.

    The first array is the one to print and plot: scores, or their mean. NaN marks a hidden key.
    """

    arrays: Mapping[str, Array]
    settings: Mapping[str, str]

    @property
    def main(self) -> Array:
        """What is printed and plotted."""
        return next(iter(self.arrays.values()))

    @property
    def largest_error(self) -> float:
        """The largest standard error; 0 for numbers that have none."""
        errors = self.arrays.get("standard_error")
        return 0.0 if errors is None else float(np.nanmax(errors))


def check_out(path: Path) -> None:
    """Refuse a file type that ``write`` does not know."""
    if path.suffix not in SUFFIXES:
        raise InvalidInput(f"--out {path}", "'the file ends in .npz or .csv'", "rename it, as in scores.npz")


def write(table: Table, path: Path) -> None:
    """Write all arrays: ``.npz`` with one array a name, or ``.csv`` with a row for each visible key."""
    if path.suffix == ".csv":
        write_text(path, _csv(table), "--out")
        return
    write_whole(path, lambda temporary: _savez(temporary, table), "--out")


def _savez(path: Path, table: Table) -> None:
    with path.open("wb") as stream:
        settings: dict[str, Any] = {name: np.array(value) for name, value in table.settings.items()}
        np.savez_compressed(stream, **table.arrays, **settings)


def _csv(table: Table) -> str:
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(["layer", "i", "j", *table.arrays])
    for layer, query, key in np.argwhere(np.isfinite(table.main)):
        values = [repr(float(array[layer, query, key])) for array in table.arrays.values()]
        writer.writerow([layer + 1, query + 1, key + 1, *values])
    return stream.getvalue()


def plain(table: Table) -> str:
    """The matrices, layer by layer, in at most 80 columns: first and last keys of first and last queries."""
    blocks = [", ".join(f"{name} = {value}" for name, value in table.settings.items())]
    error = table.arrays.get("standard_error")
    for layer, matrix in enumerate(table.main, start=1):
        title = f"Layer {layer}: scores S{layer}[i,j]"
        if error is not None:
            largest = np.nanmax(error[layer - 1])
            title = f"Layer {layer}: expected scores, standard error at most {largest:.1e}"
        blocks.append(f"{title}\n{_matrix(matrix)}")
    return "\n\n".join(_wrapped(block) for block in blocks)


def _wrapped(block: str) -> str:
    first, *rest = block.split("\n")
    lines = [""]
    for word in first.split(", "):
        if len(lines[-1]) + len(word) > 76:
            lines.append("")
        lines[-1] += (", " if lines[-1] else "") + word
    return "\n".join([*lines, *rest])


def _matrix(matrix: Array) -> str:
    places = _excerpt(matrix.shape[0])
    rows = [["i \\ j", *(str(j + 1) if j is not None else "..." for j in places)]]
    for i in places:
        if i is None:
            rows.append(["..."] + [""] * len(places))
            continue
        rows.append([str(i + 1), *("..." if j is None else _cell(matrix[i, j]) for j in places)])
    return "\n".join(" ".join(cell.rjust(9 if c else 6) for c, cell in enumerate(row)).rstrip() for row in rows)


def _excerpt(n: int) -> list[int | None]:
    if n <= _SHOWN:
        return list(range(n))
    return [0, 1, 2, None, n - 3, n - 2, n - 1]


def _cell(value: float) -> str:
    if not np.isfinite(value):
        return ""
    value = 0.0 if abs(value) < 5e-7 else value  # no "-0.000000"
    return f"{value:.6f}" if abs(value) < 100 else f"{value:.3g}"


def check_plot(path: Path) -> None:
    """Refuse a plot that cannot be made, before anything is computed."""
    if path.suffix != ".png":
        raise InvalidInput(f"--plot {path}", "'the file ends in .png'", "rename it, as in scores.png")
    drawing.require_matplotlib("--plot")


def plot(table: Table, path: Path) -> None:
    """A heat map for each layer, hidden keys left blank."""
    drawing.save(drawing.layer_maps(table.main), path, "--plot")
