"""``maskproof new``: a claims file to start from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from maskproof.proofs.command.console import show
from maskproof.proofs.shown.files import check_writable
from maskproof.theory.errors import InvalidInput

STARTER = '''\
"""Claims about the scores of a decoder with a causal mask.

    maskproof verify {name}              a verdict for each claim
    maskproof verify --explain {name}    and why, what would settle it, what is true instead
    pytest {name}                        the same as tests
"""

from sympy import And, Eq, Lt, exp

from maskproof import Claim, Equicorrelated, Score, Weight, alpha, i, j

# Score(l, i, j) is S_ij of layer l: query i, key j, counted from 1. Weight, Gram and Mix are the others.
# A claim is meant for all values of its symbols that its domain allows. Write Eq, And, Or, Implies, not ==, and, or.

claims = [
    # An identity: the weight of an earlier token in layer one. PROVED, found by search.
    Claim(
        "mine.weight",
        Eq(Weight(1, i, j), 1 / (exp(1 - alpha) + i - 1)),
        domain=And(j < i, alpha >= 0, alpha < 1),
    ),
    # An inequality at all positions: the later of two neighbouring keys scores higher in layer two. PROVED.
    Claim(
        "mine.recency-2",
        Lt(Score(2, i, j), Score(2, i, j + 1)),
        domain=j < i,
        inputs=Equicorrelated(0),
    ),
    # The same in layer three, where there is no closed form: bounded positions, so that balls decide each. ENCLOSED.
    # Take the bound away and it is REFUTED; maskproof verify --explain then says where it holds.
    Claim(
        "mine.recency-3",
        Lt(Score(3, i, j), Score(3, i, j + 1)),
        domain=And(j < i, i <= 12),
        inputs=Equicorrelated(0),
    ),
]

# What pytest expects where it is neither PROVED, ENCLOSED nor SAMPLED, such as {{"mine.too-far": "REFUTED"}}.
expected = {{}}
'''


def register(app: typer.Typer) -> None:
    """Add the command ``new`` to the application."""
    app.command("new")(new_command)


def new_command(
    path: Annotated[Path, typer.Argument(metavar="FILE.py", help="The file to write.")],
) -> int:
    """Write a claims file to start from, with comments; maskproof verify FILE.py checks it."""
    if path.suffix != ".py":
        raise InvalidInput(f"new {path}", "'a claims file is Python'", "call it claims.py")
    check_writable(path, "new")
    try:
        with path.open("x", encoding="utf-8") as file:  # never one that is there, even if it has just come
            file.write(STARTER.format(name=path.name))
    except FileExistsError:
        raise InvalidInput(f"new {path}", "'there is no such file yet'", "choose another name") from None
    show(f"wrote {path}; next: maskproof verify {path}")
    return 0
