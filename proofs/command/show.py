"""``maskproof show``: claims as text or as LaTeX."""

from __future__ import annotations

from typing import Annotated

import typer

from maskproof.proofs import registry
from maskproof.proofs.command import options
from maskproof.proofs.command.console import show


def register(app: typer.Typer) -> None:
    """Add the command ``show`` to the application."""
    app.command("show")(show_command)


def show_command(
    targets: Annotated[
        list[str], typer.Argument(metavar="ID ... | FILE.py ...", help="Claims by id or pattern, or files of claims.")
    ],
    form: options.Format = "text",
) -> int:
    """Show claims: statement, domain, decoder, inputs, source, proof, verdict recorded.

    As LaTeX they come as theorems for a document of yours, as export latex --only writes it.
    """
    from maskproof.proofs.command.export import given, rules, with_checkers
    from maskproof.proofs.command.targets import gather
    from maskproof.theory.export import Item, claim_text, fragment

    options.check_format(form)
    recorded = registry.recorded()
    if form == "latex":  # which says of each whether it is a theorem
        claims, recorded = given(targets, recorded)
    else:
        claims = gather(targets, registry.by_id(), lambda _: None)
    for claim in claims:
        claim.check()  # what is malformed cannot be told
    record = with_checkers(recorded)
    if form == "latex":
        show(fragment([Item(claim.id, claim) for claim in claims], "theorem", record, rules()).rstrip("\n"))
    else:
        show("\n\n".join(claim_text(claim, record) for claim in claims))
    return 0
