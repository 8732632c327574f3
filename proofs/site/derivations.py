"""A page for each derivation, and the page that lists them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from maskproof.proofs.shown.notes import cell
from maskproof.proofs.site.claims import Library
from maskproof.proofs.site.markdown import (
    LINE,
    badge,
    block,
    condition_list,
    definitions,
    inline,
    listed,
    model_lines,
)
from maskproof.theory.derivation import Derivation, Step
from maskproof.theory.export.arguments import Argument, rule_name, rule_sentence
from maskproof.theory.export.established import verdict
from maskproof.theory.export.models import model_names
from maskproof.theory.notation.chains import conditions
from maskproof.theory.notation.latex import MathPrinter, latex
from maskproof.theory.notation.layout import display
from maskproof.theory.notation.prose import markdown_prose

_INTRO = (
    "{} derivations of {} steps in all. Each step names the rule and the earlier steps that give it, and "
    "the kernel (`proofs/kernel`) checks it. Every line holds for all values of its free symbols that its hypotheses "
    "allow."
)


def list_page(derivations: Sequence[Derivation], library: Library, rules: Mapping[str, str]) -> str:
    """Every derivation, those first that ``maskproof derive`` knows, and the rules."""
    topics = [d for d in derivations if d.name in library.topics]
    others = [d for d in derivations if d.name not in library.topics]
    steps = sum(len(derivation.steps) for derivation in derivations)
    return "\n\n".join(
        [
            "# Derivations",
            _INTRO.format(len(derivations), steps),
            "## The theory\n\n`maskproof derive NAME` prints these.",
            _list(topics),
            "## Proofs of single claims\n\nMost are special cases of the theory, in the setting of a paper.",
            _list(others),
            "## Rules\n\nA step may use a rule only where the rule's side conditions hold; the kernel checks them.",
            _rules(derivations, rules),
        ]
    )


def _list(derivations: Sequence[Derivation]) -> str:
    rows = [f"| [{cell(markdown_prose(d.title))}]({d.name}.md) | `{d.name}` | {len(d.steps)} |" for d in derivations]
    return "\n".join(["| derivation | name | steps |", "|---|---|---|", *rows])


def _rules(derivations: Sequence[Derivation], rules: Mapping[str, str]) -> str:
    used = sorted({step.rule for derivation in derivations for step in derivation.steps})
    items = [
        f"[{rule_name(rule)}]{{#{_rule_anchor(rule)}}}\n: {markdown_prose(rule_sentence(rules, rule))}."
        for rule in used
    ]
    return "\n\n".join(items)


def _rule_anchor(rule: str) -> str:
    return f"rule-{rule.replace('_', '-')}"


def derivation_page(argument: Argument, library: Library) -> str:
    """One derivation, step by step."""
    derivation = argument.derivation
    parts = [
        "---\norphan: true\n---",
        f"# {markdown_prose(derivation.title)}",
        f":::{{container}} crumbs\n[Derivations](index.md) / `{derivation.name}`\n:::",
    ]
    if derivation.intro:
        parts.append(library.linker.prose(derivation.intro, "../"))
    proved = [claim for claim in library.claims if claim.proof is not None and claim.proof.name == derivation.name]
    if proved:
        shown = [f"{library.linker.claim(c.id, '../')} {badge(verdict(c, library.recorded))}" for c in proved]
        parts.append(f"**Proves** {listed(shown)}.")
    if derivation.lemmas:
        lemmas = [f"[{markdown_prose(lemma.title)}]({lemma.name}.md)" for lemma in derivation.lemmas]
        parts.append(f"**Lemmas:** {listed(lemmas)}.")
    parts += ["## Setting", *_setting(argument), "## Steps"]
    parts += [_step(argument, step) for step in derivation.steps]
    if derivation.name in library.topics:
        commands = f"maskproof derive {derivation.name}\nmaskproof derive {derivation.name} --format latex"
        parts += ["## Print it", f"```console\n{commands}\n```"]
    return "\n\n".join(parts) + "\n"


def _setting(argument: Argument) -> list[str]:
    lines = model_lines(None, argument.models)
    if len(lines) == 1:
        parts = [f"**Model:** {lines[0]}."]
    else:
        parts = ["**Models:**\n\n" + "\n".join(f"* {line}" for line in lines)] if lines else []
    hypotheses = condition_list(argument.hypotheses)
    if hypotheses:
        parts.append(f"**Hypotheses:** {hypotheses}.")
    if argument.letters:
        parts += ["**Notation:**", definitions(argument.letters)]
    return parts


def _anchor(derivation: str, number: int) -> str:
    return f"{derivation}-step-{number}"


def _step(argument: Argument, step: Step) -> str:
    number = argument.number[step.label]
    rows = display(argument.statement(step), MathPrinter(model_names(argument.models)), LINE - 3)
    anchor = _anchor(argument.derivation.name, number)
    parts = [f"[({number})](#{anchor})", block(rows), _reason(argument, step)]
    return f"({anchor})=\n\n::::{{container}} step\n" + "\n\n".join(parts) + "\n::::"


def _reference(derivation: str, number: int) -> str:
    return f"[({number})](#{_anchor(derivation, number)})"


def _reason(argument: Argument, step: Step) -> str:
    own = argument.derivation.name
    references = listed([_reference(own, argument.number[label]) for label in step.premises])
    cited = argument.lemma(step)
    if cited is not None:
        lemma, label = cited
        place = argument.lemma_argument(lemma)
        target = _anchor(lemma, place.number[label])
        reason = f"by [{markdown_prose(place.derivation.title)} ({place.number[label]})](#{target})"
        reason += f", with {references}" if references else ""
    elif step.rule == "cite":
        reason = f"by {references}"
    else:
        reason = f"[{rule_name(step.rule)}](#{_rule_anchor(step.rule)})" + (f" from {references}" if references else "")
    values = argument.values(step)
    if values:
        put_in = [f"{inline(latex(value))} for {inline(latex(symbol))}" for symbol, value in values.items()]
        reason += f", with {listed(put_in)}"
    given = condition_list([c for part in step.given for c in conditions(part)])
    why = f"{markdown_prose(step.why).rstrip('.')}: " if step.why else ""
    return (f"for {given}; " if given else "") + why + reason
