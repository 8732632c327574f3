"""What is written for some claims: the files of their derivations, and a theorem for each claim."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from maskproof.proofs.engines.derivations import read
from maskproof.proofs.formal.checking import Checked, library_of
from maskproof.proofs.formal.claims import derivation_of, theorem
from maskproof.proofs.formal.files import Library, Sentence, Theorem
from maskproof.proofs.formal.record import Entry
from maskproof.theory.claim import Claim
from maskproof.theory.derivation import Derivation

ASSUMPTIONS = "assumptions"
"""The file that asks Coq what all theorems rest on, at once: asking for one after the other takes minutes."""


def assumptions(theorems: list[str]) -> str:
    """The text of that file."""
    together = ", ".join(f"{name}.{name}" for name in theorems)
    needs = f"From Exported Require {' '.join(theorems)}.\n"
    return f"{needs}\nDefinition together := ({together}).\nPrint Assumptions together.\n"


@dataclass(frozen=True)
class Export:
    """The files by module: of derivations, and of claims."""

    library: Library
    theorems: Mapping[str, Theorem]

    @cached_property
    def sources(self) -> dict[str, str]:
        """What is written, by module."""
        written = {module: file.text for module, file in self.library.files.items()}
        theorems = {t.module: t.text for t in self.theorems.values() if not t.sentence.reason}
        return {**written, **theorems}

    def modules(self, module: str) -> list[str]:
        """A module and all that it needs of what is written, each once."""
        found: dict[str, None] = {}
        waiting = [module]
        while waiting:
            name = waiting.pop()
            if name not in found and name in self.library.files:
                found[name] = None
                waiting += self.library.files[name].imports
        return list(found)

    def sentences(self, claim: str) -> list[Sentence]:
        """The steps that a claim's theorem rests on."""
        return [s for m in self.modules(self.theorems[claim].source) for s in self.library.files[m].sentences]

    @property
    def unwritten(self) -> Iterator[tuple[str, Sentence]]:
        """Steps and theorems for which there is no proof, and lines of which a condition has none; by module."""
        for module, file in self.library.files.items():
            yield from ((module, s) for s in file.sentences if s.reason or s.without)
        yield from ((t.module, t.sentence) for t in self.theorems.values() if t.sentence.reason)

    def entry(self, claim: str, results: Mapping[str, Checked]) -> Entry:
        """What the results say of a claim."""
        own = self.theorems[claim]
        names = self.modules(own.source)
        steps = self.sentences(claim)
        broken = {name for name in names if name not in results or results[name].error}
        closed = sum(not s.reason for name in names if name not in broken for s in self.library.files[name].sentences)
        reasons = [own.sentence.reason, *(s.reason for s in steps), *(w for s in steps for w in s.without)]
        reasons += [results[name].error for name in (*names, own.module) if name in results]
        asked = results.get(ASSUMPTIONS)
        if asked is not None and not asked.holds:
            reasons.append(asked.error or f"the claims rest on {', '.join(asked.axioms)}")
        reason = next((r for r in reasons if r), "" if asked is not None else "Coq was not asked")
        return Entry(not reason, len(steps), closed, self.digest(claim), reason[:300])

    def digest(self, claim: str) -> str:
        """Of everything that Coq reads for a claim."""
        own = self.theorems[claim]
        read = {name: self.sources.get(name, "") for name in (own.module, *sorted(self.modules(own.source)))}
        texts = [*read.values(), *(text for _, text in sorted(library_of(read).items()))]
        return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16]


def export(claims: Iterable[Claim], derivations: Iterable[Derivation] = ()) -> Export:
    """Write claims, with all that their derivations cite, and further derivations."""
    library, theorems = Library(), {}
    for derivation in derivations:
        library.add(read(derivation))
    for claim in claims:
        derivation = derivation_of(claim)
        name = f"found {claim.id}" if derivation.name == "found" else ""
        module = library.add(read(derivation), name)
        theorems[claim.id] = theorem(library, claim, module, derivation.steps[-1].label)
    return Export(library, theorems)
