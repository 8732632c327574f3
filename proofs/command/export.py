"""``maskproof export``: documents, single formulas for an author's own document, NumPy functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from maskproof.proofs import registry
from maskproof.proofs.command import options
from maskproof.proofs.command.console import show
from maskproof.proofs.command.names import resolve
from maskproof.proofs.processes.limits import Limit
from maskproof.proofs.shown.files import check_writable, write_text
from maskproof.proofs.verdict import Verdict
from maskproof.theory.errors import InvalidInput

if TYPE_CHECKING:
    from maskproof.theory.claim import Claim
    from maskproof.theory.export.fragments import Form, Item

_CERTAIN = (Verdict.PROVED, Verdict.ENCLOSED)


def register(app: typer.Typer) -> None:
    """Add the command ``export`` to the application."""
    app.command("export")(export_command)


def export_command(
    form: Annotated[str, typer.Argument(metavar="latex|markdown|python", help="A document, or NumPy functions.")],
    targets: Annotated[
        list[str] | None,
        typer.Argument(metavar="[ID ... | FILE.py ...]", help="Of these claims; of all shipped ones without any."),
    ] = None,
    only: Annotated[
        str | None,
        typer.Option(
            "--only", metavar="NAME,...", help="LaTeX of these formulas alone, for \\input: g, kim2025.eq4 ..."
        ),
    ] = None,
    shape: Annotated[
        str | None,
        typer.Option("--as", metavar="align|theorem|proof", help="With --only: formula, theorem, or with its proof."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="PATH", help="Write to PATH; - is standard output, as is none.")
    ] = None,
) -> int:
    """Write all claims and derivations as LaTeX or Markdown, or the closed forms as Python.

    A file's claims are verified first, so that the document can say what they
    are. With --only, LaTeX of single formulas: claims (kim2025.eq4, or eq4 where that
    says which), derivations (layer-two) and the expansions in 1/d
    (weight-expansion, score-expansion). NAME gets the label mp:NAME.
    """
    from maskproof.proofs.command import arguments
    from maskproof.theory import export
    from maskproof.theory.topics import TOPICS

    if form not in ("latex", "markdown", "python"):
        raise InvalidInput(f"export {arguments.shown(form)}", "'the format is known'", "use latex, markdown or python")
    for option, value in (("--only", only), ("--as", shape)):
        if value is not None and form != "latex":
            raise InvalidInput(f"{option} with {form}", "'single formulas are written as LaTeX'", "use export latex")
    if shape is not None and only is None:
        raise InvalidInput("--as without --only", "'the document has one form'", "name formulas with --only")
    if shape is not None and shape not in export.FORMS:
        raise InvalidInput(f"--as {arguments.shown(shape)}", "'the form is known'", f"use {', '.join(export.FORMS)}")
    if options.is_standard_output(out):
        out = None
    if out is not None:
        check_writable(out, "--out")
    claims, derivations = registry.shipped(), tuple(TOPICS.values())
    recorded = registry.recorded()
    if targets:
        claims, recorded = given(targets, recorded)
        derivations = ()
    record = with_checkers(recorded)
    if only is not None:
        text = export.fragment(chosen(only, claims), cast("Form", shape or "align"), record, rules())
    elif form == "python":
        text = export.python_source([c for c in claims if record.get(c.id, {}).get("verdict") in _CERTAIN])
    else:
        document = export.latex_document if form == "latex" else export.markdown_document
        text = document(claims, derivations, record, rules())
    if out is None:
        show(text.rstrip("\n"))
    else:
        write_text(out, text, "--out")
    return 0


def given(
    targets: Sequence[str], recorded: Mapping[str, Mapping[str, Any]]
) -> tuple[list[Claim], dict[str, Mapping[str, Any]]]:
    """The claims that targets mean, and the record with the verdicts on those of files, which are verified."""
    from maskproof.proofs import verify
    from maskproof.proofs.command.targets import gather
    from maskproof.proofs.processes import limits

    shipped = registry.by_id()
    claims = gather(targets, shipped, lambda _: None)
    own = [claim for claim in claims if claim.id not in shipped]
    results = verify(own, timeout=Limit().seconds) if limits.SUPPORTED else verify(own)
    return claims, {**recorded, **{result.id: registry.entry(result) for result in results}}


def with_checkers(record: Mapping[str, Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """The record of verdicts, and with each proof who has checked it."""
    from maskproof.proofs.formal.record import coverage

    return {
        claim: {**entry, "checked by": f"the {coverage(claim)}"} if entry["verdict"] == Verdict.PROVED else entry
        for claim, entry in record.items()
    }


def rules() -> dict[str, str]:
    """What each rule of the kernel says, from its docstring."""
    from maskproof.proofs.kernel.checking import RULES

    return {name: (rule.__doc__ or "").strip().split("\n\n")[0] for name, rule in RULES.items()}


def chosen(text: str, claims: Sequence[Claim]) -> list[Item]:
    """What ``--only`` names, each once, in the order given.

    A name is a claim's id, a derivation or an expansion, or a pattern of such; or else the part of a claim's id behind
    the dot.

    Raises:
        InvalidInput: nothing, or more than one claim, is called so.
    """
    from maskproof.proofs.command import arguments
    from maskproof.theory.export import Item, expansions
    from maskproof.theory.topics import TOPICS

    subjects = {**{claim.id: claim for claim in claims}, **TOPICS, **expansions()}
    names = [name for part in text.split(",") if (name := part.strip())]
    if not names:
        raise InvalidInput(
            f"--only {arguments.shown(text)}", "'it names a formula'", "try --only eq4; see maskproof list"
        )
    items: list[Item] = []
    meant = resolve(names, subjects, "--only", "'there is one such formula'", "see maskproof list", short=True)
    for typed, name in meant:
        if all(item.subject is not subjects[name] for item in items):
            items.append(Item(typed, subjects[name]))
    return items
