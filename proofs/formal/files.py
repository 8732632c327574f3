"""Derivations as Coq files, one a derivation, each step a lemma."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from proofs.formal.proof import Unproved
from proofs.formal.steps import Lemma, Step
from proofs.formal.text import Unprintable
from proofs.kernel.checking import Derivation, goal_of
from proofs.kernel.goals import Line

HEADER = "(* Written by maskproof formal from derivation {name}: each step from the lemmas of its premises. *)\n"


@dataclass(frozen=True)
class Sentence:
    """One lemma with its proof; ``reason`` says why there is none, if so."""

    label: str
    rule: str
    text: str
    reason: str = ""


@dataclass
class File:
    """The Coq file of a derivation."""

    module: str
    derivation: Derivation
    imports: tuple[str, ...]
    sentences: list[Sentence] = field(default_factory=list)

    @property
    def text(self) -> str:
        """What is written."""
        required = " ".join(("Steps", *self.imports))
        head = HEADER.format(name=self.derivation.name) + f"From Maskproof Require Import {required}.\n\n"
        return head + "\n".join(s.text for s in self.sentences if not s.reason)


def identifier(name: str) -> str:
    """A name as Coq takes it."""
    return re.sub(r"\W", "_", name)


class Library:
    """All files, and where the lemma of each step of each derivation is."""

    def __init__(self) -> None:
        self.files: dict[str, File] = {}
        self._modules: dict[int, str] = {}
        self._keep: list[Derivation] = []
        self._contents: dict[tuple[object, ...], str] = {}
        self._lemmas: dict[tuple[str, str], Lemma] = {}

    def add(self, derivation: Derivation, name: str = "") -> str:
        """Write a derivation and all that it cites; return its module."""
        known = self._modules.get(id(derivation))
        if known is not None:
            return known
        lemmas = {lemma.name: self.add(lemma) for lemma in derivation.lemmas}
        content = (derivation.name, derivation.hypotheses, _content(derivation), tuple(lemmas.values()))
        module = self._contents.get(content)
        if module is None:
            base = module = identifier(name or derivation.name)
            n = 1
            while module in self.files:
                n += 1
                module = f"{base}_{n}"
            self._contents[content] = module
            file = self.files[module] = File(module, derivation, tuple(dict.fromkeys(lemmas.values())))
            file.sentences.extend(self._sentences(module, derivation, lemmas))
        self._modules[id(derivation)] = module
        self._keep.append(derivation)  # so that the id stays its own
        return module

    def lemma(self, module: str, label: str) -> Lemma:
        """The lemma of a step, called by its full name."""
        return self._lemmas[module, label]

    def _sentences(self, module: str, derivation: Derivation, lemmas: dict[str, str]) -> Iterator[Sentence]:
        lines = derivation.lines
        cited = {lemma.name: lemma.lines for lemma in derivation.lemmas}
        before: dict[str, Line] = {}
        own: dict[str, Lemma] = {}
        for step in derivation.steps:
            goal = goal_of(step, derivation.hypotheses, before, cited)
            before[step.label] = lines[step.label]
            name = f"step_{identifier(step.label)}"
            try:
                lemma = Lemma.of(name, lines[step.label])
                lemma.text()
                own[step.label] = lemma
                self._lemmas[module, step.label] = Lemma(
                    f"{module}.{name}", lemma.variables, lemma.hypotheses, lemma.statement
                )
                source = None
                if step.rule == "cite" and "lemma" in step.hints:
                    source = self._lemmas[lemmas[step.hints["lemma"]], step.hints["step"]]
                premises = {label: own[label] for label in step.premises}
                script = Step(goal, lemma, premises, source).write(step.rule)
            except (Unproved, Unprintable, KeyError) as reason:
                yield Sentence(step.label, step.rule, "", f"{type(reason).__name__}: {reason}")
                continue
            body = "\n  ".join(script)
            yield Sentence(step.label, step.rule, f"{lemma.text()}\nProof.\n  {body}\nQed.\n")


def _content(derivation: Derivation) -> tuple[object, ...]:
    return tuple((s.label, s.statement, s.rule, s.premises, s.given, repr(s.hints)) for s in derivation.steps)
