"""``maskproof audit``: would the check of a claim notice if the claim were wrong?"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from maskproof.proofs import registry
from maskproof.proofs.command import options
from maskproof.proofs.command.complaints import internal, refuse
from maskproof.proofs.processes import limits
from maskproof.proofs.processes.limits import Limit, Output
from maskproof.proofs.verdict import Verdict
from maskproof.theory.errors import InvalidInput

if TYPE_CHECKING:
    from maskproof.proofs.audit.fate import Case

_OF_ONES_OWN = 12  # changes of each claim of a file, of which there are few
_TIMEOUT = 30  # seconds; a claim that is checked at leisure may take longer than one of many changes


def register(app: typer.Typer) -> None:
    """Add the command to the app."""
    app.command("audit")(audit_command)


def audit_command(
    targets: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[ID ... | FILE.py ...]",
            help="Claims to change, or Python files with a list `claims`; without any, every shipped claim.",
        ),
    ] = None,
    most: Annotated[
        str | None, typer.Option("--changes", metavar="N", help="Changes of each claim; a few by default.")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Every change of each claim: this can take hours.")] = False,
    seed: Annotated[
        str, typer.Option("--seed", metavar="N", help="Seed of the choice among changes and of random numbers.")
    ] = "0",
    timeout: Annotated[
        str, typer.Option("--timeout", metavar="S", help="Seconds that a change, or loading a file, may take.")
    ] = str(_TIMEOUT),
    memory: options.Memory = "2000",
    json_path: Annotated[
        Path | None,
        typer.Option("--json", metavar="FILE", help="Also write every change in full to FILE; - prints that alone."),
    ] = None,
    accept: Annotated[
        bool, typer.Option("--accept", help="Record what became of the changes (shipped claims only).")
    ] = False,
) -> int:
    """Change claims a little, one thing at a time, and see whether the check notices.

    A sign, a constant, an exponent, i for j, a strict relation, a term or a
    hypothesis left out, a line of a proof, the mask. Each change is refuted
    (a witness), rejected (the proof no longer checks), refused (it says nothing
    that has a value), doubted (the claim loses its verdict), true as well (it is
    no error), or unnoticed. Exit status: 0 none is unnoticed without a recorded
    reason, 1 otherwise, 2 unusable input.
    """
    from maskproof.proofs.audit import record
    from maskproof.proofs.audit.survivors import unexplained
    from maskproof.proofs.command import arguments
    from maskproof.proofs.command.console import STATIC, show
    from maskproof.proofs.command.targets import is_file
    from maskproof.proofs.shown import fates
    from maskproof.proofs.shown.files import check_writable, write_text

    own = any(map(is_file, targets or []))
    usual = _OF_ONES_OWN if own else record.AUDITED
    asked = usual if most is None else arguments.whole(most, "--changes")
    number = arguments.whole(seed, "--seed", least=0, most=options.LAST_SEED)
    limit = arguments.limit(timeout, memory)
    if every and most is not None:
        raise InvalidInput("--all with --changes", "'all changes are as many as there are'", "drop one")
    if accept and (every or most is not None or number or own):
        remedy = "leave --all, --changes, --seed and files out"
        raise InvalidInput("--accept", "'what is recorded is the usual choice for shipped claims'", remedy)
    printed = options.is_standard_output(json_path)
    if json_path is not None and not printed:
        check_writable(json_path, "--json")
    started = time.monotonic()
    output = Output.ASIDE if printed else Output.KEPT
    found = _audited(targets or [], None if every else asked, number, limit, output)
    static = bool(os.environ.get(STATIC))
    if printed:
        show(fates.as_json(found.cases, found.verdicts, number).rstrip())
    else:
        if targets:
            show(fates.case_table(found.cases, static), "")
        show(fates.engine_table(found.cases, static), "")
        took = "" if static else f" in {time.monotonic() - started:.0f} s"
        show(fates.summary(found.cases, len(found.verdicts)) + took)
    if json_path is not None and not printed:
        write_text(json_path, fates.as_json(found.cases, found.verdicts, number), "--json")
    for error in found.errors:
        refuse(error)
    missed = [case for case in found.cases if case.fate is fates.Fate.UNNOTICED]
    if not printed:
        show(*map(fates.survivor, missed))
    if found.errors:
        return 2
    if accept:
        shipped = registry.by_id()
        record.accept([shipped[name] for name in found.verdicts], found.cases, shipped)
        if not printed:
            show(f"recorded {len(found.cases)} changes")
    return int(bool(unexplained(case.claim for case in missed)))


@dataclass
class _Found:
    """What an audit has found: every change, the verdicts before them, and what is no claim."""

    cases: list[Case] = field(default_factory=list)
    verdicts: dict[str, Verdict] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)


def _audited(targets: list[str], most: int | None, seed: int, limit: Limit, output: Output) -> _Found:
    from maskproof.proofs.audit.fate import Case
    from maskproof.proofs.audit.jobs import audit
    from maskproof.proofs.command.console import Watch
    from maskproof.proofs.command.targets import gather
    from maskproof.proofs.processes.supervision import Broken
    from maskproof.proofs.verdict import Result

    record = {name: entry["verdict"] for name, entry in registry.recorded().items()}
    load = partial(gather, targets, registry.by_id())
    found = _Found()
    with Watch(0, "changing claims") as watch:
        jobs = audit(
            load,
            record,
            most=most,
            seed=seed,
            limit=limit,
            output=output,
            supervised=limits.wanted(),
            begun=watch.expect,
        )
        for done, (name, outcome) in enumerate(jobs, start=1):
            watch.show(name.split("\n")[0], done)
            match outcome:
                case Case():
                    found.cases.append(outcome)
                    found.verdicts.setdefault(outcome.claim, record.get(outcome.claim, Verdict.UNKNOWN))
                case Result():
                    found.verdicts[name] = outcome.verdict
                case Broken():
                    found.errors.append(f"claim {name.split(chr(10))[0]}: {internal(outcome.message)}")
                case _:
                    found.errors.append(str(outcome))
    return found
