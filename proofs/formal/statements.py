"""The hand-written files that say what is proved: Claims.v from written theorems, Counterexamples.v by computation."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from maskproof.proofs.formal.checking import LIBRARY, library_sources, requirements

FILES = ("Claims", "Counterexamples")
_THEOREM = re.compile(r"^Theorem (\w+)", re.MULTILINE)


def theorems(source: str) -> list[str]:
    r"""The names of the theorems in a Coq source.

    >>> theorems("Lemma a : 1 = 1. Proof. reflexivity. Qed.\nTheorem b : 1 = 1. Proof. exact a. Qed.")
    ['b']
    """
    return _THEOREM.findall(source)


def statements(written: Mapping[str, str], library: Path = LIBRARY) -> dict[str, str]:
    """These files and what they need of the library, if every theorem that they cite is in ``written``.

    At its end each file asks Coq what all its theorems rest on, at once: asking for one after the other is slow.
    """
    sources: dict[str, str] = {}
    for name in FILES:
        source = (library / f"{name}.v").read_text(encoding="utf-8")
        needed = [other for other in requirements(source) if other not in written]
        if not all((library / f"{other}.v").is_file() for other in needed):
            return {}
        sources |= library_sources(needed, library)
        together = ", ".join(theorems(source))
        sources[name] = f"{source}\nDefinition all_of_{name} := ({together}).\nPrint Assumptions all_of_{name}.\n"
    return sources
