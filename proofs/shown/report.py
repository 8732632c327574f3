"""What ``maskproof verify`` shows: table, summary, JSON."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from maskproof.proofs.command.console import COLOURS, STATIC, table
from maskproof.proofs.engines.symbolic import GIVEN
from maskproof.proofs.verdict import Evidence, Result, Verdict
from maskproof.theory.errors import shortened

if TYPE_CHECKING:
    from maskproof.proofs.processes.explaining import Explained

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
    return textwrap.shorten(shortened(words), _LONGEST_REASON, placeholder=" ...")


def witness(point: Mapping[str, Any] | None) -> str:
    """A witness as ``i = 27, j = 25``."""
    return shortened(", ".join(f"{name} = {value}" for name, value in (point or {}).items()))


def verdict_table(rows: Sequence[Row]) -> Table:
    """A table of verdicts: id, verdict, seconds (unless STATIC is set), reason and witness."""
    timed = not os.environ.get(STATIC)
    found = table("claim", "verdict", *(["s"] if timed else []), "reason")
    for row in rows:
        seconds = [f"{row.result.seconds:.1f}" if row.result else ""] if timed else []
        if row.result is None:
            found.add_row(Text(row.id), Text(row.status, style="red"), *seconds, Text(row.error))
            continue
        text = Text(reason(row.result))
        if row.result.witness:
            text = Text.assemble(Text(f"witness {witness(row.result.witness)}", style="bold"), "; ", text)
        found.add_row(
            Text(row.id),
            Text(str(row.result.verdict), style=COLOURS[row.result.verdict]),
            *seconds,
            text,
        )
    return found


def summary(rows: Sequence[Row], seconds: float) -> str:
    """Counts of verdicts in one line."""
    found = [row.status for row in rows]
    counts = [f"{found.count(status)} {status}" for status in (*Verdict, MALFORMED) if status in found]
    noun = "claim" if len(rows) == 1 else "claims"
    took = "" if os.environ.get(STATIC) else f" in {seconds:.1f} s"
    return f"{len(rows)} {noun}{took}: {', '.join(counts) or 'nothing to check'}"


def versions() -> dict[str, str]:
    """Versions of what the verdicts depend on."""
    found = {"python": platform.python_version()}
    for package in ("maskproof", *_PACKAGES):
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def as_json(rows: Sequence[Row], seed: int, explained: Mapping[str, Explained] | None = None) -> str:
    """The results in JSON, with explanations of them if there are some; exact values that are not whole as strings."""
    claims = [_json_row(row) for row in rows]
    if explained:
        from maskproof.proofs.shown.explanation import explanation_json

        claims = [
            {**c, "explanation": explanation_json(explained[c["id"]])} if c["id"] in explained else c for c in claims
        ]
    document = {"claims": claims, "seed": seed, "versions": versions()}
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
