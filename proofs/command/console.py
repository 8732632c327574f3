"""Standard output and standard error: printing in colour or plain, tables, progress bars."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import Any

from rich.console import Console
from rich.measure import Measurement
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from maskproof.proofs.verdict import Verdict

STATIC = "MASKPROOF_STATIC"
"""Set in the environment when output is to be the same on every run: seconds stay out of it, sliders stand still."""


COLOURS = {
    Verdict.PROVED: "bold green",
    Verdict.ENCLOSED: "green",
    Verdict.SAMPLED: "yellow",
    Verdict.REFUTED: "bold red",
    Verdict.UNKNOWN: "magenta",
}
_PLAIN_WIDTH = 80  # of what is not printed on a terminal, unless COLUMNS says otherwise
_LEAST_TEXT = 30  # columns for the last column of a table, whatever the others take


def table(*headings: str) -> Table:
    """An empty table whose last column is text that is broken into lines; all others are whole."""
    empty = Table(box=None, pad_edge=False, header_style="bold")
    for heading in headings[:-1]:
        empty.add_column(heading, no_wrap=True, justify="right" if len(heading) == 1 else "left")
    empty.add_column(headings[-1], overflow="fold")
    return empty


def show(*parts: Any) -> None:
    """Print to standard output: with colour on a terminal, plain in a pipe.

    ``COLUMNS`` sets the width, which in a pipe is 80 otherwise, and ``NO_COLOR`` turns colours off. A table takes more
    where its columns do not fit: nothing is ever cut.
    """
    plain = not sys.stdout.isatty() or bool(os.environ.get(STATIC))
    for part in parts:
        if isinstance(part, str):
            print(part)
            continue
        console = Console(file=sys.stdout, highlight=False, soft_wrap=False)
        if plain:
            console = Console(file=sys.stdout, highlight=False, no_color=True, force_terminal=False, width=_columns())
        if isinstance(part, Table):
            console.width = max(console.width, _needed(part, console))
        console.print(part)


def _columns() -> int:
    asked = os.environ.get("COLUMNS", "")
    return int(asked) if asked.isdecimal() and int(asked) > 0 and not os.environ.get(STATIC) else _PLAIN_WIDTH


def _needed(part: Table, console: Console) -> int:
    """The width at which no column but the last is cut, and the last has room for a few words."""
    options = console.options.update(max_width=10**6)  # or a cell would seem no wider than the console
    *whole, last = (
        max(
            (Measurement.get(console, options, cell).maximum for cell in (column.header, *column.cells)),
            default=0,
        )
        for column in part.columns
    )
    return sum(whole) + 2 * len(whole) + min(last, _LEAST_TEXT)


class Watch:
    """Progress on standard error, on a terminal only: what is being worked on, how many are done, elapsed."""

    def __init__(self, total: int, doing: str = "verifying") -> None:
        console = Console(file=sys.stderr)
        self.bar = Progress(
            SpinnerColumn(), TextColumn("{task.description}"), BarColumn(bar_width=24), MofNCompleteColumn(),
            TimeElapsedColumn(), console=console, transient=True, disable=not sys.stderr.isatty(),
        )  # fmt: skip
        self.task = self.bar.add_task(doing, total=total)
        self.started = time.monotonic()

    def __enter__(self) -> Watch:
        self.bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.bar.stop()

    @property
    def seconds(self) -> float:
        """Time since the start."""
        return time.monotonic() - self.started

    def expect(self, total: int) -> None:
        """Say how many there are, where that was not known at the start."""
        self.bar.update(self.task, total=total)

    def show(self, description: str, done: int) -> None:
        """Say what is being worked on and how many are done."""
        self.bar.update(self.task, description=description, completed=done)


def sampling_progress(samples: int) -> tuple[Progress, Callable[[int, float, float], None]]:
    """A progress bar for sampling, and the callback that moves it."""
    console = Console(file=sys.stderr)
    bar = Progress(
        TextColumn("{task.description}"), BarColumn(bar_width=24), TimeElapsedColumn(),
        console=console, transient=True, disable=not sys.stderr.isatty(),
    )  # fmt: skip
    task = bar.add_task("sampling", total=samples)

    def moved(done: int, largest: float, seconds_left: float) -> None:
        text = f"{done} samples, largest standard error {largest:.1e}, {seconds_left:.0f} s left"
        bar.update(task, completed=done, description=text)

    return bar, moved
