"""Claims as they are named on the command line: by id, by a pattern of ids, or by the file that holds them."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from maskproof.proofs import registry
from maskproof.proofs.command.names import resolve
from maskproof.theory.claim import Claim
from maskproof.theory.errors import InvalidInput


def is_file(target: str) -> bool:
    """Whether a file is meant, and not the id of a claim."""
    return target.endswith(".py") or os.sep in target


def gather(targets: Sequence[str], known: dict[str, Claim], begin: Callable[[str], None]) -> list[Claim]:
    """The claims that are meant: shipped ones by id or pattern (all of them without any), and those of files.

    Args:
        targets: ids, patterns such as ``own.*``, and files.
        known: the shipped claims by id.
        begin: called with the name of each file before it is loaded.

    Raises:
        InvalidInput: there is no such claim or file, or an id is taken.
    """
    from maskproof.proofs.command.loader import load

    if not targets:
        return list(known.values())
    words = [target for target in dict.fromkeys(targets) if not is_file(target)]
    check_names(words, known)
    chosen: dict[str, Claim] = {}
    for target in dict.fromkeys(targets):
        if not is_file(target):
            chosen |= {name: known[name] for name in check_names([target], known)}
            continue
        begin(str(Path(target)))
        loaded = load(Path(target))
        for claim in loaded:
            if claim.id in known:
                raise InvalidInput(f"claim id {claim.id!r} in a file", "'no shipped claim has it'", "rename the claim")
        registry.refuse_duplicates([*chosen.values(), *loaded], "the claims given")
        chosen |= {claim.id: claim for claim in loaded}
    return list(chosen.values())


def check_names(words: Sequence[str], known: dict[str, Claim]) -> list[str]:
    """The ids that ids and patterns mean.

    Raises:
        InvalidInput: some mean none; all of them in one line.
    """
    names = resolve(words, known, "claim", "'the claim is shipped'", "see maskproof list, or give a FILE.py")
    return [name for _, name in names]
