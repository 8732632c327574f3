"""``maskproof formal``: proved claims and their derivations as Coq files, and Coq's word on them."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from maskproof.proofs.command.console import Watch, show
from maskproof.theory.errors import InvalidInput

if TYPE_CHECKING:
    from maskproof.proofs.formal.checking import Checked
    from maskproof.proofs.formal.export import Export
    from maskproof.theory.claim import Claim

OUT = Path("build/formal")


def register(app: typer.Typer) -> None:
    """Add the command ``formal`` to the application."""
    app.command("formal")(formal_command)


def formal_command(
    ids: Annotated[
        list[str] | None,
        typer.Argument(metavar="ID|FILE.py", help="Proved claims by id, or of a file; all shipped ones without any."),
    ] = None,
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Write the files to DIR.")] = OUT,
    check: Annotated[bool, typer.Option("--check", help="Let Coq check what was written.")] = False,
    accept: Annotated[bool, typer.Option("--accept", help="With --check: record what Coq has checked.")] = False,
) -> int:
    """Write the derivations of proved claims as Coq files, each step a lemma.

    With --check Coq compiles them, and says on which axioms the claims rest.
    Fails when a step has no proof, is not accepted, or rests on more than the
    axioms of the real numbers and of classical logic.
    """
    from maskproof.proofs.formal import checking
    from maskproof.proofs.formal.export import export
    from maskproof.theory.topics import TOPICS

    if accept and not check:
        raise InvalidInput("--accept without --check", "'what is recorded has been checked'", "add --check")
    claims = _chosen(ids or [])
    if check:
        checking.coqc()
    _make(out)
    with Watch(1, "writing the derivations"):
        written = export(claims, () if ids else TOPICS.values())
    _write(written, out)
    for module, sentence in written.unwritten:
        reason = sentence.reason or f"no proof that it has a value: {sentence.without[0]}"
        show(f"no proof  {module}, {sentence.label} ({sentence.rule}): {reason}")
    failed = any(True for _ in written.unwritten)
    if check:
        failed = _check(written, out, accept=accept) or failed
    return int(failed)


def _chosen(targets: list[str]) -> list[Claim]:
    """The proved claims that are meant; those of a file that are not proved are named.

    Raises:
        InvalidInput: there is no such claim, or none is proved.
    """
    from maskproof.proofs import registry, verify
    from maskproof.proofs.command.targets import gather
    from maskproof.proofs.formal.claims import BEYOND_COQ, proved
    from maskproof.proofs.verdict import Verdict

    if not targets:
        for name, why in BEYOND_COQ.items():
            show(f"left out  {name}: {why}")
        return [claim for claim in proved() if claim.id not in BEYOND_COQ]
    shipped, good = registry.by_id(), {claim.id for claim in proved()}
    chosen = gather(targets, shipped, lambda _: None)
    for claim in chosen:
        if claim.id in shipped and claim.id not in good:
            raise InvalidInput(
                f"claim {claim.id}", "'it is recorded as PROVED'", "only proofs are written; see maskproof list"
            )
    own = [claim for claim in chosen if claim.id not in shipped]
    for result in verify(own) if own else ():
        if result.verdict is Verdict.PROVED:
            good.add(result.id)
        else:
            show(f"not written  {result.id} is {result.verdict}: only proofs are written")
    left = [claim for claim in chosen if claim.id in good]
    if not left:
        raise InvalidInput(", ".join(targets), "'a claim is PROVED'", "only proofs are written; see maskproof verify")
    return left


def _make(folder: Path) -> None:
    try:
        (folder / "steps").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = error.strerror or str(error)
        raise InvalidInput(f"--out {folder}", "'it is a folder'", f"{reason}: choose another path") from None


def _write(written: Export, folder: Path) -> None:
    from maskproof.proofs.formal.checking import place

    try:
        for module, source in written.sources.items():
            place(folder / "steps" / f"{module}.v", source)
    except OSError as error:
        reason = error.strerror or str(error)
        raise InvalidInput(f"--out {folder}", "'it may be written'", f"{reason}: choose another path") from None
    steps = sum(len(file.sentences) for file in written.library.files.values())
    files, claims = len(written.library.files), len(written.theorems)
    show(f"wrote {files} derivations, {steps} steps, {claims} claims to {folder}/steps")


def _check(written: Export, folder: Path, *, accept: bool) -> bool:
    """Let Coq read everything; say what it says, claim by claim; whether something failed."""
    from maskproof.proofs import registry
    from maskproof.proofs.formal import checking, record
    from maskproof.proofs.formal.export import ASSUMPTIONS, assumptions
    from maskproof.proofs.formal.statements import FILES, statements
    from maskproof.proofs.shown.files import write_text

    sources = written.sources
    library = {**checking.library_of(sources), **statements(sources)}
    start, done = time.perf_counter(), 0
    with Watch(len(library) + len(sources), "starting Coq") as watch:

        def report(result: Checked) -> None:
            nonlocal done
            done += 1
            watch.show(result.module, done)

        results = checking.check(library, sources, folder, report)
        accepted = [t.module for t in written.theorems.values() if t.module in results and not results[t.module].error]
        if accepted:
            watch.show(ASSUMPTIONS, done)
            compiled, asked = ({n: s for n, s in some.items() if not results[n].error} for some in (library, sources))
            asked[ASSUMPTIONS] = assumptions(accepted)
            results = {**checking.check(compiled, asked, folder), **results}
    entries = {claim: written.entry(claim, results) for claim in written.theorems}
    for claim, entry in entries.items():
        own = written.theorems[claim]
        seconds = sum(results[m].seconds for m in (*written.modules(own.source), own.module) if m in results)
        word = "checked" if entry.holds else "FAILED "
        reason = f"; {entry.reason}" if entry.reason else ""
        show(f"{word}  {claim}: {entry.closed} of {entry.steps} steps{reason}  ({seconds:.0f} s)")
    if ASSUMPTIONS in results and results[ASSUMPTIONS].holds:
        show(f"axioms   {', '.join(checking.stated(results[ASSUMPTIONS].axioms))}")
    for name in FILES:
        if name in results and results[name].holds:
            show(f"checked  formal/{name}.v  ({results[name].seconds:.0f} s)")
    for result in results.values():
        if not result.holds:
            show(f"FAILED   {result.module}: {(result.error or ', '.join(result.axioms))[:400]}")
    write_text(folder / "checked.json", record.text(entries), "--out")
    known = {claim.id for claim in registry.shipped()}
    shipped = {claim: entry for claim, entry in entries.items() if claim in known}
    stale = [] if accept else record.differences(shipped)
    for claim in stale:
        show(f"{claim}: the record of what Coq has checked says something else; write it anew with --accept")
    if accept:
        record.accept(shipped)
    good, total = sum(e.holds for e in entries.values()), len(entries)
    show(
        f"{good} of {total} claims checked by Coq in {time.perf_counter() - start:.0f} s; see {folder / 'checked.json'}"
    )
    return good < total or bool(stale) or not all(result.holds for result in results.values())
