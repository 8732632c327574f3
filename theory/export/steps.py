r"""Steps of a derivation as an author would write them: the chain of the main ones, and a whole proof."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass

from sympy import Basic, Eq

from maskproof.theory.derivation import Derivation, Step
from maskproof.theory.export.abbreviations import abbreviate, joined
from maskproof.theory.export.arguments import Argument, rule_name
from maskproof.theory.export.sentences import (
    aligned_rows,
    groups,
    label,
    listed,
    names_of,
    prose,
    put_in,
    shown,
    where,
)
from maskproof.theory.notation.chains import conditions
from maskproof.theory.notation.latex import MathPrinter

WORDS = {
    "hypothesis": "by hypothesis",
    "input_gram": "by assumption on the inputs",
    "score": "by definition of the score",
    "softmax": "by definition of the softmax",
    "mix": "by definition of the layer",
    "gram": "by definition of the Gram matrix",
    "equicorrelated_sum": "since all distinct inputs have the same inner product",
    "split_last": "splitting off the last term",
    "constant_sum": "since all terms are equal",
    "linear_sum": "since sums are linear",
    "termwise": "term by term",
    "implication": "in other words",
    "detach": "by modus ponens",
    "conjunction": "together",
    "equals": "putting equals for equals",
    "cases": "in either case",
    "identity": "by algebra",
    "sign": "by comparison",
    "add": "adding",
    "exponential": "since the exponential function increases",
    "root": "taking roots",
    "product": "multiplying by a positive factor",
    "quotient": "taking quotients",
    "derivative": "differentiating",
    "decreasing": "since the derivative is negative",
    "cauchy_schwarz": "by the Cauchy--Schwarz inequality",
    "rational_limit": "comparing leading coefficients",
    "limit_algebra": "by continuity",
    "limit_of_equal": "passing to the limit",
}
"""What each rule of the kernel is called in a proof that people read."""

_OBVIOUS = ("hypothesis", "cite")
_CONDITIONS = re.compile(r"\$[^$]*[<>=\\][^$]*\$((,| and| or|, and) \$[^$]*\$)*")


@dataclass(frozen=True)
class Written:
    """A derivation in a fragment.

    Attributes:
        argument: the derivation.
        name: of the item that it belongs to; labels begin with ``mp:name``.
        width: of a numbered line, in em.
        elsewhere: names of the items of this fragment whose proofs are printed, by the name of the derivation.
    """

    argument: Argument
    name: str
    width: float
    elsewhere: Mapping[str, str]

    def label(self, step: str) -> str:
        """The label of a step: that of the item for the last."""
        return step_label(self.name, step)

    @property
    def assumed(self) -> tuple[Basic, ...]:
        """Under what the last step holds: assumed throughout, so that no step needs to say it."""
        return self.argument.derivation.steps[-1].given

    def hypotheses(self, throughout: bool) -> str:
        """What is assumed, in a sentence; ``letters`` has the definitions among it.

        Args:
            throughout: whether what the last step assumes is assumed of all of them.
        """
        own = [part for part in self.argument.hypotheses if not isinstance(part, Eq)]
        given = [c for part in self.assumed for c in conditions(part)] if throughout else []
        return f"Let {listed(shown([*given, *own]))}." if own or given else ""

    def letters(self, steps: Sequence[Step]) -> list[Basic]:
        """Definitions of the letters in the hypotheses and in some of the steps."""
        short = [abbreviate(part, rows=False).expression for part in self.argument.derivation.hypotheses]
        statements = [self.argument.statement(step) for step in steps]
        used = set().union(
            *(part.free_symbols for part in statements), *(p.free_symbols for p in short if not isinstance(p, Eq))
        )
        given = [part for part in short if isinstance(part, Eq) and part.lhs in used]
        found = joined(
            self.argument.short(part).definitions
            for part in [*(step.statement for step in steps), *self.argument.derivation.hypotheses]
        )
        return [*given, *(meaning for meaning in found if meaning.args[0] not in self.argument.defined)]

    def lines(self, steps: Sequence[Step], numbered: Mapping[str, str]) -> str:
        """Steps, each after its reason; those in ``numbered`` get a number and the label given there."""
        printer = MathPrinter(names_of(self.argument.models), named=True)
        blocks = []
        for group in groups(self.argument, steps, printer, self.width):
            parts: list[str] = []
            for place, (step, rows) in enumerate(group):
                if place:
                    parts.append(rf"\intertext{{{self.reason(step, numbered)}}}")
                equation = [f"  {line}" for line in aligned_rows(rows, self.width)]
                equation[-1] += rf" \label{{{numbered[step.label]}}}" if step.label in numbered else r" \notag"
                parts.append(" \\notag \\\\\n".join(equation))
            body = "\n".join(parts)
            blocks.append(f"{self.reason(group[0][0], numbered)}\n\\begin{{align}}\n{body}\n\\end{{align}}")
        return "\n".join(blocks)

    def reason(self, step: Step, printed: Container[str]) -> str:
        """Why a step holds, as a sentence that ends with a colon; it refers to steps in ``printed`` alone."""
        references = [rf"\eqref{{{self.label(premise)}}}" for premise in step.premises if premise in printed]
        if step.rule == "cite":
            text = self._cited(step, references)
        else:
            word = WORDS.get(step.rule, f"by the rule ``{rule_name(step.rule)}''")
            text = f"{word}, from {listed(references)}" if references else word
        if step.why:
            why = prose(step.why)
            why = f"since {why}" if _CONDITIONS.fullmatch(why) else why
            by = f", by {listed(references)}" if references else ""
            text = f"{why}: {text}" if step.rule == "cite" else f"{why}{by}"
        own = [c for part in step.given if part not in self.assumed for c in conditions(part)]
        if own:
            given = f"for {listed(shown(own))}"
            text = f"{given} ({text})" if step.why and not text.startswith("since") else f"{given}, {text}"
        return f"{text[:1].upper()}{text[1:]}:"

    def _cited(self, step: Step, references: list[str]) -> str:
        cited = self.argument.lemma(step)
        if cited is not None:
            source = self._lemma(*cited)
        elif references:
            source, references = references[0], references[1:]
        else:
            source = "the same"
        text = f"by {source}"
        if references:
            text += f", which applies by {listed(references)}"
        values = [put_in(symbol, value) for symbol, value in self.argument.values(step).items()]
        return text + (f", with {listed(values)}" if values else "")

    def _lemma(self, name: str, step: str) -> str:
        """The step of a lemma that is cited: by number where it is printed, in words where it is not."""
        if name in self.elsewhere:
            return rf"\eqref{{{step_label(self.elsewhere[name], step)}}}"
        lemma = self.argument.lemma_argument(name)
        return f"step {lemma.number[step]} of the derivation ``{prose(lemma.derivation.title)}''"


def step_label(name: str, step: str) -> str:
    """The label of a step in the proof of an item."""
    return label("mp", name, step)


def main_steps(derivation: Derivation) -> list[Step]:
    """The steps that its author found worth a reason, without those that the last one merely joins; the last."""
    *before, last = derivation.steps
    joined_by_last = last.premises if last.rule == "conjunction" else ()
    return [
        *(step for step in before if step.why and step.rule not in _OBVIOUS and step.label not in joined_by_last),
        last,
    ]


def conclusions(derivation: Derivation) -> list[Step]:
    """What a derivation arrives at: the steps on which no later one rests, citations aside; the last."""
    used = {premise for step in derivation.steps for premise in step.premises}
    *before, last = derivation.steps
    return [*(step for step in before if step.label not in used and step.rule not in _OBVIOUS), last]


def chain(written: Written, final: str) -> str:
    """The main steps, of which the last is numbered and gets the label ``final``."""
    steps = main_steps(written.argument.derivation)
    text = written.lines(steps, {steps[-1].label: final})
    letters = written.letters(steps)
    return f"{text}\n{where('where', letters, written.width)}" if letters else text


def proof(written: Written, known: Sequence[Basic], wanted: set[str]) -> str:
    """Every step that another one or the conclusion needs.

    Args:
        written: the derivation.
        known: definitions that the statement gives already.
        wanted: labels of steps that other proofs cite.
    """
    steps = written.argument.derivation.steps
    used = {premise for step in steps for premise in step.premises} | wanted
    kept = [step for step in steps if step.label in used or step.rule not in _OBVIOUS or step is steps[-1]]
    letters = [meaning for meaning in written.letters(kept) if meaning not in known]
    text = written.lines(kept, {step.label: written.label(step.label) for step in kept if step.label in used})
    assumed = shown(c for part in written.assumed for c in conditions(part))
    lead = [f"Let {listed(assumed)}."] if assumed else []
    lead += [where("Write", letters, written.width)] if letters else []
    return "\n".join([*lead, text])
