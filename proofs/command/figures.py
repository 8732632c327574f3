"""``maskproof figures``: the paper's figures from the limit theory and from Monte Carlo, as PNG and PDF."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from maskproof.proofs.command import options
from maskproof.proofs.command.console import show
from maskproof.proofs.shown.files import check_writable
from maskproof.theory.errors import InvalidInput

if TYPE_CHECKING:
    from maskproof.proofs.shown.figures import Drawing

_LEAST_TOKENS, _MOST_TOKENS = 4, 400
_MOST_SAMPLES = 10**8


def register(app: typer.Typer) -> None:
    """Add the command ``figures`` to the application."""
    app.command("figures")(figures_command)


def figures_command(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME", help="What to draw, such as v1-2; without any, they are listed."),
    ] = None,
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder for the files.")] = Path(),
    samples: Annotated[
        str, typer.Option("--samples", metavar="N", help="Random inputs of each simulation (the paper: 100000).")
    ] = "2000",
    seed: options.Seed = "0",
    n: Annotated[
        str | None, typer.Option("--n", metavar="N", help="Number of tokens; by default as in the paper.")
    ] = None,
) -> int:
    """Draw figures: limit theory and simulation, same axes and colours.

    Each is written as NAME.png and NAME.pdf, with the largest standard error
    and the largest difference from the limit below it.
    """
    from maskproof.proofs.command import arguments
    from maskproof.proofs.shown import drawing
    from maskproof.proofs.shown.figures import DRAWINGS, Run

    if not names:
        show("\n".join(f"{name:6} {each.about}" for name, each in DRAWINGS.items()))
        return 0
    chosen = [_named(name, DRAWINGS) for name in dict.fromkeys(names)]
    count = arguments.whole(samples, "--samples", least=2, most=_MOST_SAMPLES)
    start = arguments.whole(seed, "--seed", least=0, most=options.LAST_SEED)
    tokens = None if n is None else arguments.whole(n, "--n", least=_LEAST_TOKENS, most=_MOST_TOKENS)
    drawing.require_matplotlib("figures")
    paths = {each.name: [out / file for file in each.files] for each in chosen}
    for path in (path for files in paths.values() for path in files):
        check_writable(path, "--out")
    with _progress() as report:
        for done, each in enumerate(chosen, start=1):
            step = f"{each.name} ({done} of {len(chosen)})"
            report(step)
            figure = each.draw(Run(count, start, tokens, lambda what, step=step: report(f"{step}: {what}")))
            for path in paths[each.name]:
                drawing.save(figure, path, "--out")
    show("\n".join(str(path) for files in paths.values() for path in files))
    return 0


def _named(name: str, known: dict[str, Drawing]) -> Drawing:
    from maskproof.proofs.command import arguments

    if name not in known:
        raise InvalidInput(f"figure {arguments.shown(name)}", "'there is such a figure'", f"use {', '.join(known)}")
    return known[name]


@contextmanager
def _progress() -> Iterator[Callable[[str], None]]:
    """A line on standard error, on a terminal only: which figure, and what of it is being computed."""
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda text: None
        return
    with console.status("") as status:
        yield lambda text: status.update(text)
