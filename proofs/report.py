"""What ``maskproof verify`` and ``list`` show: tables, progress, summary, JSON."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import sys
import textwrap
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from maskproof.proofs.engines.symbolic import GIVEN
from maskproof.proofs.verdict import Evidence, Result, Verdict
from maskproof.theory.claim import Claim
from maskproof.theory.export.abbreviations import abbreviate
from maskproof.theory.notation.plain import plain
from maskproof.theory.quantities import told_apart

COLOURS = {
    Verdict.PROVED: "bold green",
    Verdict.ENCLOSED: "green",
    Verdict.SAMPLED: "yellow",
    Verdict.REFUTED: "bold red",
    Verdict.UNKNOWN: "magenta",
}
STATIC = "MASKPROOF_STATIC"
"""Set in the environment when output is to be the same on every run: seconds stay out of it, sliders stand still."""
MALFORMED = "MALFORMED"  # says nothing that could be checked
_LONGEST_REASON = 300
_PACKAGES = ("sympy", "numpy", "scipy", "python-flint", "mpmath", "hypothesis")
_EXACT_JSON = 2**53


@dataclass(frozen=True)
class Row:
    """One claim as it was asked for: its result, or why it could not be checked."""

    id: str
    result: Result | None = None
    error: str = ""
    recorded: str | None = None

    @property
    def status(self) -> str:
        """The verdict, or what stands in its place."""
        return MALFORMED if self.result is None else str(self.result.verdict)


def reason(result: Result) -> str:
    """The reason for a verdict in words: what the deciding engine says."""
    deciding = [e for e in result.evidence if e.outcome == result.verdict] or list(result.evidence)
    if not deciding:
        return "no engine had anything to say"
    # what could not be decided is told by the engine that came closest: the last one asked
    failed = [e for e in deciding if e.detail.startswith(GIVEN)]
    chosen = deciding[-1] if result.verdict is Verdict.UNKNOWN and not failed else (failed or deciding)[0]
    words = "; ".join(part for part in (chosen.detail.strip(), chosen.scope.strip()) if part)
    return textwrap.shorten(words, _LONGEST_REASON, placeholder=" ...")


def witness(point: Mapping[str, Any] | None) -> str:
    """A witness as ``i = 27, j = 25``."""
    return ", ".join(f"{name} = {value}" for name, value in (point or {}).items())


def verdict_table(rows: Sequence[Row]) -> Table:
    """A table of verdicts: id, verdict, seconds (unless STATIC is set), reason and witness."""
    timed = not os.environ.get(STATIC)
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("claim", no_wrap=True, overflow="ellipsis", max_width=34)
    table.add_column("verdict", no_wrap=True)
    if timed:
        table.add_column("s", justify="right", no_wrap=True)
    table.add_column("reason", overflow="fold")
    for row in rows:
        seconds = [f"{row.result.seconds:.1f}" if row.result else ""] if timed else []
        if row.result is None:
            table.add_row(Text(row.id), Text(row.status, style="red"), *seconds, Text(row.error))
            continue
        text = Text(reason(row.result))
        if row.result.witness:
            text = Text.assemble(Text(f"witness {witness(row.result.witness)}", style="bold"), "; ", text)
        table.add_row(
            Text(row.id),
            Text(str(row.result.verdict), style=COLOURS[row.result.verdict]),
            *seconds,
            text,
        )
    return table


def summary(rows: Sequence[Row], seconds: float) -> str:
    """Counts of verdicts in one line."""
    found = [row.status for row in rows]
    counts = [f"{found.count(status)} {status}" for status in (*Verdict, MALFORMED) if status in found]
    noun = "claim" if len(rows) == 1 else "claims"
    took = "" if os.environ.get(STATIC) else f" in {seconds:.1f} s"
    return f"{len(rows)} {noun}{took}: {', '.join(counts) or 'nothing to check'}"


def claim_table(claims: Iterable[Claim], recorded: Mapping[str, Mapping[str, Any]]) -> Table:
    """The shipped claims: id, recorded verdict, statement, source."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("claim", no_wrap=True, overflow="ellipsis", max_width=34)
    table.add_column("recorded", no_wrap=True)
    table.add_column("statement", overflow="fold")
    for claim in claims:
        known = recorded.get(claim.id, {}).get("verdict")
        style = COLOURS[Verdict(known)] if known in list(Verdict) else ""
        statement = plain(told_apart(abbreviate(claim.statement).expression)[0])
        if len(statement) > 120:
            statement = statement[:117].rstrip() + "..."
        cell = Text(statement)
        if claim.source:
            cell = Text.assemble(cell, Text(f"  [{claim.source}]", style="dim"))
        table.add_row(Text(claim.id), Text(known or "none", style=style), cell)
    return table


def show(*parts: Any) -> None:
    """Print to standard output: with colour on a terminal, plain and at 80 columns in a pipe."""
    console = Console(file=sys.stdout, highlight=False, soft_wrap=False)
    if not console.is_terminal or os.environ.get(STATIC):
        console = Console(file=sys.stdout, highlight=False, no_color=True, force_terminal=False, width=80)
    for part in parts:
        if isinstance(part, str):
            print(part)
        else:
            console.print(part)


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


def versions() -> dict[str, str]:
    """Versions of what the verdicts depend on."""
    found = {"python": platform.python_version()}
    for package in ("maskproof", *_PACKAGES):
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def as_json(rows: Sequence[Row], seed: int) -> str:
    """The results in JSON: exact values that are not whole numbers as strings, no NaN."""
    document = {"claims": [_json_row(row) for row in rows], "seed": seed, "versions": versions()}
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _json_row(row: Row) -> dict[str, Any]:
    if row.result is None:
        return {"id": row.id, "verdict": None, "recorded": None, "witness": None, "seconds": 0.0,
                "evidence": [], "error": row.error}  # fmt: skip
    return {
        "id": row.id,
        "verdict": str(row.result.verdict),
        "recorded": row.recorded,
        "witness": _json_witness(row.result.witness),
        "seconds": round(float(row.result.seconds), 3),
        "evidence": [_json_evidence(evidence) for evidence in row.result.evidence],
    }


def _json_evidence(evidence: Evidence) -> dict[str, Any]:
    return {
        "engine": evidence.engine,
        "outcome": str(evidence.outcome),
        "scope": evidence.scope,
        "detail": evidence.detail,
        "witness": _json_witness(evidence.witness),
        "seed": evidence.seed,
        "precision": evidence.precision,
        "seconds": round(float(evidence.seconds), 3),
    }


def _json_witness(point: Mapping[str, Any] | None) -> dict[str, int | str] | None:
    return None if point is None else {str(name): _json_value(value) for name, value in point.items()}


def _json_value(value: Any) -> int | str:
    whole = isinstance(value, int) or getattr(value, "is_Integer", False)
    return int(value) if whole and abs(int(value)) < _EXACT_JSON else str(value)
