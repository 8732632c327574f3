"""``maskproof derive``: a derivation, step by step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

from maskproof.proofs.command import options
from maskproof.proofs.command.console import show
from maskproof.theory.errors import InvalidInput


def register(app: typer.Typer) -> None:
    """Add the command ``derive`` to the application."""
    app.command("derive")(derive_command)


def derive_command(
    topic: Annotated[str, typer.Argument(metavar="TOPIC", help="What to derive, such as layer-two.")],
    form: options.Format = "text",
) -> int:
    """Print a derivation: every step with the rule and the earlier steps that give it."""
    from maskproof.proofs.command import arguments
    from maskproof.proofs.command.export import rules
    from maskproof.theory.export import derivation_latex, derivation_text
    from maskproof.theory.topics import TOPICS

    formats: dict[str, Callable[..., str]] = {"text": derivation_text, "latex": derivation_latex}
    options.check_format(form)
    if topic not in TOPICS:
        raise InvalidInput(
            f"topic {arguments.shown(topic)}", "'there is such a derivation'", f"use {', '.join(TOPICS)}"
        )
    show(formats[form](TOPICS[topic], rules()))
    return 0
