"""Options that several commands take, each defined once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from maskproof.theory.errors import InvalidInput

MASK = "causal, bidirectional, window:W, prefix:L, dilated:W:S or blocks:S."

Tokens = Annotated[str, typer.Option("--n", metavar="N", help="Number of tokens.")]
Norm = Annotated[str, typer.Option("--norm", metavar="NORM", help="l2, layernorm or none.")]
Scale = Annotated[str, typer.Option("--scale", metavar="S", help="What scores are divided by: a number, sqrt(d) or d.")]
Mask = Annotated[str, typer.Option("--mask", metavar="MASK", help=MASK)]
Seed = Annotated[str, typer.Option("--seed", metavar="N", help="Seed of every random number.")]
Memory = Annotated[str, typer.Option("--memory", metavar="MB", help="Memory that it may take, in units of 10^6 bytes.")]
Plot = Annotated[Path | None, typer.Option("--plot", metavar="FILE", help="Draw into FILE.png.")]
Format = Annotated[str, typer.Option("--format", metavar="text|latex", help="How to print it.")]

FORMATS = ("text", "latex")
LAST_SEED = 2**63 - 1


def is_standard_output(path: Path | None) -> bool:
    """Whether a path is the -, which stands for standard output."""
    return str(path) == "-"


def check_format(form: str) -> None:
    """Refuse a format that is none.

    Raises:
        InvalidInput: it is not one of ``FORMATS``.
    """
    if form not in FORMATS:
        raise InvalidInput(f"--format {form[:40]!r}", "'the format is known'", f"use {' or '.join(FORMATS)}")
