"""Derivations as Coq files, one a derivation, each step a lemma."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from maskproof.proofs.formal import rules  # noqa: F401  each registers its scripts
from maskproof.proofs.formal.conclusions import at_values
from maskproof.proofs.formal.context import Unproved
from maskproof.proofs.formal.lemma import Lemma
from maskproof.proofs.formal.rules.logic import equation
from maskproof.proofs.formal.step import Step
from maskproof.proofs.formal.text import Unprintable
from maskproof.proofs.formal.values import Source, Value, has_value, of_value, use_all
from maskproof.proofs.kernel import checking as kernel
from maskproof.proofs.kernel.checking import Derivation, goal_of
from maskproof.proofs.kernel.goals import Line

HEADER = "(* Written by maskproof formal from derivation {name}: each step from the lemmas of its premises. *)\n"


@dataclass(frozen=True)
class Sentence:
    """One lemma with its proof, and the lemma that its line has a value.

    ``reason`` says why there is no proof, if so, and ``without`` for which conditions of a value there is none.
    """

    label: str
    rule: str
    text: str
    reason: str = ""
    value: str = ""
    without: tuple[str, ...] = ()


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
        exported = f"From Exported Require Import {' '.join(self.imports)}.\n" if self.imports else ""
        head = f"{HEADER.format(name=self.derivation.name)}From Maskproof Require Import Rules.\n{exported}\n"
        return head + "\n".join(part for s in self.sentences for part in (s.value, s.text) if part)


@dataclass(frozen=True)
class Theorem:
    """The Coq file of a claim: its theorem, from the file of its derivation."""

    module: str
    source: str
    claim: str
    sentence: Sentence

    @property
    def text(self) -> str:
        """What is written."""
        needs = f"From Maskproof Require Import Rules.\nFrom Exported Require Import {self.source}.\n\n"
        head = f"(* Written by maskproof formal from claim {self.claim}. *)\n{needs}"
        return f"{head}{self.sentence.text}\n"


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
        self._values: dict[tuple[str, str], tuple[Value, ...]] = {}

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

    def values(self, module: str, label: str) -> tuple[Value, ...]:
        """What the lemma that a step's line has a value says."""
        return self._values.get((module, label), ())

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
                self._lemmas[module, step.label] = replace(lemma, name=f"{module}.{name}")
                premises = {label: own[label] for label in step.premises}
                cites = self._cited(step, module, own, lemmas)
                values = [] if cites is None else [cites[1]] if cites[1].has else []
                source = None if cites is None or "lemma" not in step.hints else cites[0]
                script = Step(goal, lemma, premises, source, partial(use_all, values)).write(step.rule)
            except (Unproved, Unprintable, KeyError) as reason:
                yield Sentence(step.label, step.rule, "", f"{type(reason).__name__}: {reason}")
                continue
            for label, line in zip(step.premises, goal.premises, strict=True):
                has = self._values.get((module, label))
                if has and (step.rule == "cases" or all(map(goal.assumed.holds, line.hypotheses))):
                    values.append(
                        Source(of_value(own[label]), has, {}, equation(goal) if step.rule == "equals" else None)
                    )
            value, shown, without = has_value(Step(goal, lemma, premises, source), step.rule, values)
            self._values[module, step.label] = shown
            body = "\n  ".join(script)
            text = f"{lemma.text()}\nProof.\n  {body}\nQed.\n"
            yield Sentence(step.label, step.rule, text, value=value, without=tuple(without))

    def _cited(
        self, step: kernel.Step, module: str, own: Mapping[str, Lemma], lemmas: Mapping[str, str]
    ) -> tuple[Lemma, Source] | None:
        """The lemma that a step cites, and that it has a value; None if the step cites nothing."""
        if step.rule != "cite":
            return None
        if "lemma" in step.hints:
            at = lemmas[step.hints["lemma"]], step.hints["step"]
            lemma = self._lemmas[at]
        else:
            at = module, step.premises[0]
            lemma = own[at[1]]
        return lemma, Source(of_value(lemma), self._values.get(at, ()), at_values(step.hints))


def _content(derivation: Derivation) -> tuple[object, ...]:
    return tuple((s.label, s.statement, s.rule, s.premises, s.given, repr(s.hints)) for s in derivation.steps)
