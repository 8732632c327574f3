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
    """These files and all others of the library, if every theorem that they cite is in ``written``.

    At its end each file asks Coq what all its theorems rest on, at once: asking for one after the other is slow.
    """
    others = sorted(path.stem for path in library.glob("*.v") if path.stem not in FILES)
    sources = library_sources(others, library)
    for name in FILES:
        source = (library / f"{name}.v").read_text(encoding="utf-8")
        if not all(other in written or other in sources for other in requirements(source)):
            return {}
        together = ", ".join(theorems(source))
        sources[name] = f"{source}\nDefinition all_of_{name} := ({together}).\nPrint Assumptions all_of_{name}.\n"
    return sources
