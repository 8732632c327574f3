"""What every rendering of a derivation needs to know about it, worked out once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sympy import And, Basic, Eq

from maskproof.theory.derivation import Derivation, Step
from maskproof.theory.export.abbreviations import Abbreviated, abbreviate, compares_norms, joined
from maskproof.theory.export.models import Model, models_of
from maskproof.theory.notation.chains import Condition, conditions
from maskproof.theory.symbols import beta, lam, m

_DEFINING = "layer-one"  # derivations that define g and h show them in full


@dataclass(frozen=True)
class Argument:
    """A derivation, ready to be printed.

    Attributes:
        derivation: the derivation.
        rules: what each rule of the kernel says.
    """

    derivation: Derivation
    rules: Mapping[str, str]

    @cached_property
    def number(self) -> dict[str, int]:
        """Label to number of each step, from 1."""
        return {step.label: place for place, step in enumerate(self.derivation.steps, start=1)}

    @cached_property
    def models(self) -> list[Model]:
        """The models whose quantities the derivation is about."""
        return models_of([*(step.statement for step in self.derivation.steps), *self.derivation.hypotheses])

    @property
    def rows(self) -> bool:
        """Whether g and h are known already, so that they may be written as letters."""
        return not self.derivation.name.startswith(_DEFINING)

    @cached_property
    def _side_by_side(self) -> bool:
        return compares_norms(step.statement for step in self.derivation.steps)

    def short(self, part: Basic) -> Abbreviated:
        """A statement in letters, with their definitions."""
        return abbreviate(part, self.rows, paper_rows=False, side_by_side=self._side_by_side)

    def statement(self, step: Step) -> Any:
        """The statement of a step in letters."""
        return self.short(step.statement).expression

    @cached_property
    def defined(self) -> set[Basic]:
        """Letters that a hypothesis defines."""
        return {hypothesis.lhs for hypothesis in self.derivation.hypotheses if isinstance(hypothesis, Eq)}

    @cached_property
    def letters(self) -> list[Basic]:
        """Definitions of the letters used that are not hypotheses already."""
        parts = (*self.derivation.hypotheses, *(step.statement for step in self.derivation.steps))
        found = joined(self.short(part).definitions for part in parts)
        return [meaning for meaning in found if meaning.args[0] not in self.defined]

    @cached_property
    def hypotheses(self) -> list[Condition]:
        """What is assumed throughout, the ranges of beta, lam and m included."""
        definitions, ranges = [], []
        for hypothesis in self.derivation.hypotheses:
            short = abbreviate(hypothesis, rows=False).expression
            (definitions if isinstance(short, Eq) else ranges).append(short)
        used = set().union(*(step.statement.free_symbols for step in self.derivation.steps))
        used |= set().union(*(h.free_symbols for h in self.derivation.hypotheses))
        ranged = [symbol for symbol in (beta, lam, m) if symbol in used]
        return [*(c for d in definitions for c in conditions(d)), *conditions(And(*ranges), ranged)]

    def given(self, step: Step) -> list[Condition]:
        """Under what a step holds besides the hypotheses, what is always true left out."""
        return [condition for part in step.given for condition in conditions(part)]

    def lemma(self, step: Step) -> tuple[str, str] | None:
        """Name and step label of the lemma that a step cites, or None."""
        if step.rule != "cite" or "lemma" not in step.hints:
            return None
        return str(step.hints["lemma"]), str(step.hints["step"])

    def lemma_argument(self, name: str) -> Argument:
        """The lemma of that name."""
        return Argument(next(lemma for lemma in self.derivation.lemmas if lemma.name == name), self.rules)

    def values(self, step: Step) -> Mapping[Basic, Basic]:
        """What a citation puts in for the free symbols of the statement that it cites."""
        values = step.hints.get("values", {}) if step.rule == "cite" else {}
        return {symbol: value for symbol, value in values.items() if symbol != value}


def closure(derivations: Iterable[Derivation]) -> list[Derivation]:
    """Derivations with all their lemmas, every lemma before what cites it, none twice."""
    ordered: dict[str, Derivation] = {}

    def visit(derivation: Derivation) -> None:
        for lemma in derivation.lemmas:
            visit(lemma)
        ordered.setdefault(derivation.name, derivation)

    for derivation in derivations:
        visit(derivation)
    return list(ordered.values())


def rule_sentence(rules: Mapping[str, str], rule: str) -> str:
    """What a rule says, without what is meant for authors of derivations."""
    sentence = re.split(r"[;.]\s*[Hh]ints? ", rules.get(rule, "").strip())[0]
    return " ".join(sentence.split()).rstrip(".;,")


def rule_name(rule: str) -> str:
    """A rule's name as a reader's word."""
    return rule.replace("_", " ")
