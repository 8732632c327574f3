"""``maskproof list``: every shipped claim in a line or two."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import typer
from rich.table import Table
from rich.text import Text

from maskproof.proofs import registry
from maskproof.proofs.command.console import COLOURS, show, table
from maskproof.proofs.verdict import Verdict

if TYPE_CHECKING:
    from maskproof.theory.claim import Claim


def register(app: typer.Typer) -> None:
    """Add the command ``list`` to the application."""
    app.command("list")(list_command)


def list_command() -> int:
    """List the shipped claims with their recorded verdicts."""
    show(claim_table(registry.shipped(), registry.recorded(), registry.statements()))
    return 0


def claim_table(
    claims: Iterable[Claim], recorded: Mapping[str, Mapping[str, Any]], statements: Mapping[str, str]
) -> Table:
    """The shipped claims: id, recorded verdict, statement, source.

    Args:
        claims: in this order.
        recorded: the verdicts.
        statements: as text, of those claims that have one recorded.
    """
    listed = table("claim", "recorded", "statement")
    for claim in claims:
        known = recorded.get(claim.id, {}).get("verdict")
        style = COLOURS[Verdict(known)] if known in list(Verdict) else ""
        cell = Text(statements.get(claim.id) or _statement(claim))
        if claim.source:
            cell = Text.assemble(cell, Text(f"  [{claim.source}]", style="dim"))
        listed.add_row(Text(claim.id), Text(known or "none", style=style), cell)
    return listed


def _statement(claim: Claim) -> str:
    from maskproof.proofs.shown.one_line import one_line  # seldom needed: what is recorded comes with its text

    return one_line(claim)
