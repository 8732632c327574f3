"""Claims as they are named on the command line: by id, or by the file that holds them."""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Sequence
from pathlib import Path

from maskproof.proofs import registry
from maskproof.proofs.command import arguments
from maskproof.theory.claim import Claim
from maskproof.theory.errors import InvalidInput


def is_file(target: str) -> bool:
    """Whether a file is meant, and not the id of a claim."""
    return target.endswith(".py") or os.sep in target


def gather(targets: Sequence[str], known: dict[str, Claim], begin: Callable[[str], None]) -> list[Claim]:
    """The claims that are meant: shipped ones by id (all of them without any), and those of files.

    Args:
        targets: ids and files.
        known: the shipped claims by id.
        begin: called with the name of each file before it is loaded.

    Raises:
        InvalidInput: there is no such claim or file, or an id is taken.
    """
    from maskproof.proofs.command.loader import load

    if not targets:
        return list(known.values())
    chosen: list[Claim] = []
    for target in dict.fromkeys(targets):
        if is_file(target):
            begin(str(Path(target)))
            chosen += load(Path(target))
        elif target in known:
            chosen.append(known[target])
        else:
            close = difflib.get_close_matches(target, known, n=1, cutoff=0.5)
            hint = f"did you mean {close[0]}? " if close else ""
            raise InvalidInput(
                f"claim {arguments.shown(target)}",
                "'the claim is shipped'",
                f"{hint}see maskproof list, or give a FILE.py",
            )
    loaded = [claim.id for claim in chosen if known.get(claim.id) is not claim]
    for name in loaded:
        if name in known:
            raise InvalidInput(f"claim id {name!r} in a file", "'no shipped claim has it'", "rename the claim")
    registry.refuse_duplicates(chosen, "the claims given")
    return chosen
