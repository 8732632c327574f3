"""A derivation as plain text that reads like a proof."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping

from maskproof.theory.derivation import Derivation, Step
from maskproof.theory.export.arguments import Argument, rule_name, rule_sentence
from maskproof.theory.export.models import model_words, read
from maskproof.theory.notation.plain import plain, plain_condition
from maskproof.theory.quantities import InputGram, Quantity

WIDTH = 80
LEGEND = {
    "InputGram": "K[i,j] is the inner product of the inputs x_i and x_j",
    "Score": "S1[i,j] is the score of query i and key j in layer 1",
    "Weight": "A1[i,j] is the attention weight",
    "Mix": "M1[i,j] is the coefficient of x_j in x_i after the layer",
    "Gram": "G1[i,j] is the inner product of x_i and x_j after the layer",
}


def derivation_text(derivation: Derivation, rules: Mapping[str, str]) -> str:
    """Title, hypotheses and numbered steps, each with its reason and the steps it rests on.

    A rule is spelled out where it is first used.
    """
    argument = Argument(derivation, rules)
    lines = [derivation.title, "=" * len(derivation.title), ""]
    if derivation.intro:
        lines += [*textwrap.wrap(derivation.intro, WIDTH), ""]
    for model in argument.models:
        words = f"Model: {model_words(*read(model))}.".replace("lam", "residual")
        lines += textwrap.wrap(words, WIDTH, subsequent_indent="  ")
    lines += _hypotheses(argument)
    if derivation.lemmas:
        names = ", ".join(f"{lemma.title} ({lemma.name})" for lemma in derivation.lemmas)
        lines += textwrap.wrap(f"Lemmas: {names}.", WIDTH, subsequent_indent="  ")
    lines += ["", "Steps", "-----"]
    explained: set[str] = set()
    for step in derivation.steps:
        lines += _step(argument, step, step.rule not in explained)
        explained.add(step.rule)
    last = len(derivation.steps)
    lines += ["", *textwrap.wrap(f"Conclusion: ({last}), {_flat(argument, derivation.steps[-1])}", WIDTH,
                                 subsequent_indent="  ", break_long_words=False)]  # fmt: skip
    return "\n".join(lines)


def _flat(argument: Argument, step: Step) -> str:
    return plain(argument.statement(step)) + _given(argument, step)


def _hypotheses(argument: Argument) -> list[str]:
    lines = []
    letters = {type(q).__name__ for s in argument.derivation.steps for q in s.statement.atoms(Quantity, InputGram)}
    legend = [words for name, words in LEGEND.items() if name in letters]
    if legend:
        lines += textwrap.wrap("Here " + "; ".join(legend) + ".", WIDTH, subsequent_indent="  ")
    parts = [plain(meaning) for meaning in argument.letters]
    if parts:
        lines += textwrap.wrap("Notation: " + ", ".join(parts) + ".", WIDTH, subsequent_indent="  ")
    shown = [plain_condition(c) for c in argument.hypotheses]
    if shown:
        lines += textwrap.wrap("Hypotheses: " + ", ".join(shown) + ".", WIDTH, subsequent_indent="  ")
    return lines


def _given(argument: Argument, step: Step) -> str:
    shown = [plain_condition(condition) for condition in argument.given(step)]
    return ", for " + " and ".join(shown) if shown else ""


def _step(argument: Argument, step: Step, explain: bool) -> list[str]:
    head = f"({argument.number[step.label]})".rjust(5) + " "
    lines = textwrap.wrap(head + _flat(argument, step), WIDTH, subsequent_indent=" " * 10, break_long_words=False)
    return lines + textwrap.wrap(
        _reason(argument, step, explain), WIDTH, initial_indent=" " * 6 + "-- ", subsequent_indent=" " * 9,
        break_long_words=False,
    )  # fmt: skip


def _reason(argument: Argument, step: Step, explain: bool) -> str:
    reason = rule_name(step.rule)
    references = [f"({argument.number[label]})" for label in step.premises]
    cited = argument.lemma(step)
    if cited is not None:
        lemma, label = cited
        reason = f"by the lemma {lemma}, step ({argument.lemma_argument(lemma).number[label]})"
        if references:
            reason += f", with {', '.join(references)}"
    elif step.rule == "cite":
        reason = f"by {references[0]}" + (f", with {', '.join(references[1:])}" if references[1:] else "")
    elif references:
        reason += f" from {', '.join(references)}"
    values = argument.values(step)
    if values:
        reason += ", with " + ", ".join(f"{plain(value)} for {plain(symbol)}" for symbol, value in values.items())
    sentence = rule_sentence(argument.rules, step.rule) if explain else ""
    if sentence and step.rule != "cite":
        reason += f" [{sentence}]"
    return f"{reason}: {step.why}" if step.why else reason
