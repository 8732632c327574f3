"""``maskproof verify``: claims, shipped or of a file, and a verdict for each."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from maskproof.proofs import registry
from maskproof.proofs.command import options
from maskproof.proofs.command.complaints import internal, refuse
from maskproof.proofs.command.console import Watch, show
from maskproof.proofs.processes import limits
from maskproof.proofs.processes.limits import Limit, Output
from maskproof.proofs.shown.files import check_writable, write_text
from maskproof.proofs.verdict import Verdict
from maskproof.theory.errors import InvalidInput

if TYPE_CHECKING:
    from maskproof.proofs.processes.explaining import Explained
    from maskproof.proofs.processes.supervision import Load, Outcome
    from maskproof.proofs.shown.report import Row
    from maskproof.theory.claim import Claim


def register(app: typer.Typer) -> None:
    """Add the command ``verify`` to the application."""
    app.command("verify")(verify_command)


def verify_command(
    targets: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[ID ... | FILE.py ...]",
            help="Claims to check, or Python files with a list `claims`; without any, every shipped claim.",
        ),
    ] = None,
    json_path: Annotated[
        Path | None,
        typer.Option("--json", metavar="FILE", help="Also write results and evidence to FILE; - prints them alone."),
    ] = None,
    timeout: Annotated[
        str, typer.Option("--timeout", metavar="S", help="Seconds that a claim, or loading a file, may take.")
    ] = "60",
    memory: options.Memory = "2000",
    seed: options.Seed = "0",
    effort: Annotated[
        str, typer.Option("--effort", metavar="X", help="Draw X times the usual random samples; 4 halves the errors.")
    ] = "1",
    explain: Annotated[
        bool,
        typer.Option(
            "--explain", help="Say what was tried, what would settle it, what is true instead; replay witnesses."
        ),
    ] = False,
    accept: Annotated[bool, typer.Option("--accept", help="Record the verdicts found (shipped claims only).")] = False,
) -> int:
    """Check claims and print a verdict for each, with its reason or a counterexample.

    PROVED: an exact argument covers the whole domain. ENCLOSED: ball arithmetic
    certifies every point. SAMPLED: nothing found against it. REFUTED: a certified
    counterexample. UNKNOWN: none of these.
    """
    from maskproof.proofs.command import arguments
    from maskproof.proofs.command.targets import gather, is_file
    from maskproof.proofs.shown.explanation import explanation_text
    from maskproof.proofs.shown.report import as_json, summary, verdict_table

    number = arguments.whole(seed, "--seed", least=0, most=options.LAST_SEED)
    limit = arguments.limit(timeout, memory)
    check = _Check(number, arguments.positive(effort, "--effort"), limit)
    printed = options.is_standard_output(json_path)
    if json_path is not None and not printed:
        check_writable(json_path, "--json")
    known, record = _known(accept)
    if accept and any(map(is_file, targets or [])):
        raise InvalidInput("--accept with a file", "'only shipped claims have recorded verdicts'", "drop one")
    if accept and check.effort != 1:
        raise InvalidInput(f"--accept with --effort {effort}", "'recorded verdicts take the usual effort'", "drop one")
    started = time.monotonic()
    load = partial(gather, targets or [], known)
    rows = check.rows(load, record, Output.ASIDE if printed else Output.KEPT)
    explained = check.explained(load, rows) if explain else {}
    if printed:
        show(as_json(rows, number, explained).rstrip())
    else:
        show(verdict_table(rows), *(f"\n{explanation_text(each)}" for each in explained.values()))
        show("", summary(rows, time.monotonic() - started))
    if json_path is not None and not printed:
        write_text(json_path, as_json(rows, number, explained), "--json")
    errors = [row.error for row in rows if row.error]
    for error in errors:
        refuse(error)
    results = [row.result for row in rows if row.result is not None]
    if errors:
        return 2
    if accept:
        registry.accept(results)
        if not printed:
            show(f"recorded {len(results)} verdicts")
        return 0
    lines = registry.differences([result for result in results if result.id in known], record)
    if not printed:  # it has both verdicts of each claim
        show(*lines)
    own = [result.verdict for result in results if result.id not in known]
    return int(bool(lines) or any(verdict in (Verdict.REFUTED, Verdict.UNKNOWN) for verdict in own))


def _known(accept: bool) -> tuple[dict[str, Claim], dict[str, dict[str, Any]]]:
    """The shipped claims by id, and the record of their verdicts."""
    try:
        record = registry.recorded()
    except InvalidInput:
        if not accept:  # then the record is about to be written anew
            raise
        record = {}
    return registry.by_id(), record


@dataclass(frozen=True)
class _Check:
    """How claims are checked: seed, effort, limits for each."""

    seed: int
    effort: float
    limit: Limit

    def rows(self, load: Load, record: Mapping[str, Mapping[str, Any]], output: Output) -> list[Row]:
        """A row for each claim; one that is malformed, or runs wild, does not keep the others from being checked."""
        from maskproof.proofs.processes.supervision import Supervised, Unsupervised, Verdicts

        rows, jobs = [], partial(Verdicts, effort=self.effort)
        if limits.wanted():
            chosen = Supervised(load, self.seed, self.limit, output=output, jobs=jobs)
        else:
            chosen = Unsupervised(load, self.seed, jobs=jobs)
        with closing(chosen) as claims:
            outcomes = claims.outcomes()
            with Watch(len(claims.ids)) as watch:
                for done, name in enumerate(claims.ids):
                    watch.show(name, done)
                    verdict = record.get(name, {}).get("verdict")
                    recorded = None if verdict is None else str(verdict)
                    rows.append(replace(_row(name, next(outcomes)), recorded=recorded))
        return rows

    def explained(self, load: Load, rows: Sequence[Row]) -> dict[str, Explained]:
        """An explanation for each claim that has a result, by id."""
        from maskproof.proofs.processes.explaining import explained

        results = [row.result for row in rows if row.result is not None]
        found: dict[str, Explained] = {}
        with Watch(len(results), "explaining") as watch:
            for each in explained(load, results, self.seed, self.limit if limits.wanted() else None):
                found[each.result.id] = each
                watch.show("explaining", len(found))
        return found


def _row(name: str, outcome: Outcome) -> Row:
    from maskproof.proofs.processes.supervision import Broken
    from maskproof.proofs.shown.report import Row

    if isinstance(outcome, Broken):
        return Row(name, error=f"claim {name}: {internal(outcome.message)}")
    if isinstance(outcome, Exception):
        return Row(name, error=str(outcome))
    return Row(name, outcome)
