"""``maskproof phase``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from maskproof.proofs.command import options


def register(app: typer.Typer) -> None:
    """Add the command ``phase`` to the application."""
    app.command("phase")(phase_command)


def phase_command(
    n: options.Tokens,
    layers: Annotated[str, typer.Option("--layers", metavar="L[,L...]", help="Layers, all of which must increase.")],
    alpha: Annotated[str, typer.Option("--alpha", metavar="A|LOW:HIGH", help="Correlation, in [0, 1].")] = "0",
    beta: Annotated[str, typer.Option("--beta", metavar="B|LOW:HIGH", help="Inverse temperature.")] = "1",
    residual: Annotated[str, typer.Option("--residual", metavar="R|LOW:HIGH", help="Residual weight.")] = "1",
    norm: options.Norm = "l2",
    scale: options.Scale = "1",
    mask: options.Mask = "causal",
    dim: Annotated[str | None, typer.Option("--dim", metavar="D", help="Width, for layernorm or scale d.")] = None,
    resolution: Annotated[
        str | None,
        typer.Option("--resolution", metavar="W", help="Width left undecided; in a map relative to its sides."),
    ] = None,
    lengths: Annotated[
        str | None,
        typer.Option("--lengths", metavar="M[,M...]|all", help="Also for shorter sequences: which, or all up to N."),
    ] = None,
    degree: Annotated[
        str | None,
        typer.Option("--degree", metavar="D", help="Of the polynomials; chosen from box to box if not given."),
    ] = None,
    workers: Annotated[str, typer.Option("--workers", metavar="N", help="Processes.")] = "1",
    seconds: Annotated[
        str | None, typer.Option("--seconds", metavar="S", help="Begin nothing new after S seconds.")
    ] = None,
    json_path: Annotated[
        Path | None,
        typer.Option("--json", metavar="FILE", help="Certificate; resumed if it is unfinished; - prints it alone."),
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Write FILE.csv or FILE.npz.")] = None,
    plot: options.Plot = None,
) -> int:
    """Certify where later keys score higher: over one range, or a map of two.

    Give one or two of --alpha, --beta and --residual as LOW:HIGH. Every piece
    of the result is certified as a whole, not sampled. With --json the work is
    saved as it goes and taken up again by the same command; proofs/maps/recheck.py
    checks the file independently.
    """
    from maskproof.proofs.command.phase_run import Files, run

    parameters = {"alpha": alpha, "beta": beta, "residual": residual}
    model = {"norm": norm, "scale": scale, "mask": mask}
    return run(
        n, layers, parameters, model, dim, resolution, lengths, degree, workers, seconds, Files(json_path, out, plot)
    )
