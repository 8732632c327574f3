r"""Single formulas for an author's own document: a text to be read with ``\input``.

A fragment brings the notation as macros that the author can redefine, and the environments that it needs unless the
document has them. Everything in it has a label: ``mp:NAME`` for what was asked for as NAME.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

import sympy
from sympy import Basic

from maskproof.theory.claim import Claim
from maskproof.theory.decoder import Decoder
from maskproof.theory.derivation import Derivation
from maskproof.theory.export.arguments import Argument
from maskproof.theory.export.established import Recorded, checker, how, verdict, witness
from maskproof.theory.export.models import Model, coefficient_words, models_of, read, setting
from maskproof.theory.export.sentences import (
    aligned_rows,
    for_all,
    formula,
    label,
    listed,
    math,
    name_of,
    names_of,
    prose,
    shown,
    where,
)
from maskproof.theory.export.steps import Written, chain, conclusions, main_steps, proof
from maskproof.theory.finite_width import score_correction, score_correction_formula, weight_correction_formula
from maskproof.theory.formula import Formula
from maskproof.theory.inputs import Inputs
from maskproof.theory.notation import macros
from maskproof.theory.notation.latex import MathPrinter
from maskproof.theory.notation.layout import display
from maskproof.theory.notation.prose import escape
from maskproof.theory.notation.width import measure
from maskproof.theory.quantities import Record
from maskproof.theory.symbols import i, j

Form = Literal["align", "theorem", "proof"]
FORMS: tuple[Form, ...] = ("align", "theorem", "proof")

LINE = 32.0  # em between the margins of an article
NUMBERED = 29.0  # the same beside an equation number
_FALSE = 5.0  # em that "(false)" takes behind a formula
_PAGE = 9  # rows of an alignment that may be broken between pages

_CERTAIN = ("PROVED", "ENCLOSED")
_QUOTES = str.maketrans("\u2018\u2019\u201c\u201d", "''\"\"")

_PRINTED = r", as \texttt{maskproof export latex --only score-expansion} prints it"
_LONG = {
    "mplimitscore": r"$\mplimitscore{2}{\mpquery}{\mpkey}$ is the formula for the limit",
    "mpcorrection": r"$\mpcorrection{2}{\mpquery}{\mpkey}$ is the formula for the coefficient of $1/\mpwidth$",
}  # formulas that are too long to be written out

_ENVIRONMENTS = {
    "theorem": r"\ifcsname theorem\endcsname\else\newtheorem{theorem}{Theorem}\fi",
    "remark": r"\ifcsname remark\endcsname\else\newtheorem{remark}{Remark}\fi",
    "proof": r"\ifcsname proof\endcsname\else\newenvironment{proof}{\par\noindent\textit{Proof.} }{\par}\fi",
}


@dataclass(frozen=True)
class Expansion:
    """A formula in 1/d that no claim states by itself.

    Attributes:
        left: the quantity, in macros.
        right: its limit and the terms after it.
        formula: the coefficient of 1/d.
        tested_by: the claim that its remainder is small.
    """

    left: str
    right: str
    formula: Formula
    tested_by: str


@dataclass(frozen=True)
class Item:
    """Something to be printed, under the name by which it was asked for."""

    name: str
    subject: Claim | Derivation | Expansion


@cache
def expansions() -> dict[str, Expansion]:
    """The expansions of expected weights and scores over random inputs of width d."""
    at = r"{\mpquery}{\mpkey}"
    rest = r" + O(\mpwidth^{-2})"
    return {
        "weight-expansion": Expansion(
            rf"\mpexpected \mpweight{{1}}{at}",
            rf"\frac{{1}}{{\mprowsum{{\mpquery}}}} + \frac{{\mpcorrection{{1}}{at}}}{{\mpwidth}}{rest}",
            weight_correction_formula(),
            "own.softmax-gap",
        ),
        "score-expansion": Expansion(
            rf"\mpexpected \mpscore{{2}}{at}",
            r"\frac{\mpinnerat{\mpquery}}{\mpnormat{\mpquery} \mpnormat{\mpkey}}"
            rf" + \frac{{\mpcorrection{{2}}{at}}}{{\mpwidth}}{rest}",
            score_correction_formula(),
            "own.score-correction",
        ),
    }


def fragment(items: Sequence[Item], form: Form, recorded: Recorded, rules: Mapping[str, str]) -> str:
    r"""Formulas as LaTeX for ``\input``.

    Args:
        items: what to print, in this order.
        form: "align" (the formula; of a derivation, its main steps), "theorem", or "proof" (theorem and proof).
        recorded: verdicts, by claim id. Only what is PROVED or ENCLOSED becomes a theorem; the rest is a remark that
            says what it is.
        rules: what each rule of the kernel says, by name.
    """
    writer = _Writer(items, form, recorded, rules)
    body = "\n\n".join(writer.item(item) for item in items)
    environments = [text for name, text in _ENVIRONMENTS.items() if rf"\begin{{{name}}}" in body]
    packages = r"\usepackage{amsmath}" + (r" and \usepackage{amsthm}" if environments else "")
    head = [
        r"% Written by maskproof, for \input into a document of yours.",
        f"% It needs {packages} in the preamble.",
        "%",
        "% Notation. Every sign is a macro; define it yourself, before this file is read, and it changes everywhere.",
        *macros.definitions(macros.used(body)),
    ]
    if environments:
        head += ["%", "% Environments, unless the document has its own.", *environments]
    return "\n".join(head) + "\n\n" + body + "\n"


@dataclass(frozen=True)
class _Stated:
    """What is said of an item: before its formula, the rows of the formula, the definitions after it."""

    title: str
    lead: str
    rows: list[str]
    letters: Sequence[Basic]
    environment: str = "theorem"
    models: int = 0
    notation: str = ""
    general: bool = False  # whether a formula too long to be written out has alpha, beta and lam as letters


class _Writer:
    def __init__(self, items: Sequence[Item], form: Form, recorded: Recorded, rules: Mapping[str, str]) -> None:
        self.form, self.recorded, self.rules = form, recorded, rules
        self.proofs: dict[str, str] = {}  # derivation whose proof is printed -> name of its item
        self.derivations: dict[str, Derivation] = {}  # the derivation of each item, if it has one
        for item in items:
            derivation = item.subject.proof if isinstance(item.subject, Claim) else item.subject
            if isinstance(derivation, Derivation) and self._certain(item):
                self.derivations[item.name] = derivation
                if form == "proof":
                    self.proofs.setdefault(derivation.name, item.name)

    def item(self, item: Item) -> str:
        """An item with the comment that says what it is."""
        stated = self._stated(item)
        if self.form == "align":
            text = self._align(item, stated)
        else:
            text = self._theorem(item, stated)
            if self.form == "proof":
                text += self._proof(item, stated)
        return "\n".join([*self._comment(item), text])

    def _certain(self, item: Item) -> bool:
        if isinstance(item.subject, Claim):
            return verdict(item.subject, self.recorded) in _CERTAIN
        return isinstance(item.subject, Derivation)

    def _comment(self, item: Item) -> list[str]:
        subject = item.subject
        if isinstance(subject, Claim):
            reached = how(subject, self.recorded)
            lines = [f"{subject.id}: {verdict(subject, self.recorded)}" + (f", {reached}" if reached else "")]
            point = witness(subject, self.recorded)
            lines += [f"It fails at {point}."] * bool(point)
            checked = checker(subject, self.recorded)
            lines += [f"Checked by {checked}."] * bool(checked)
            lines += [f"Source: {subject.source}."] * bool(subject.source)
            lines += [f"Note: {subject.note}"] * bool(subject.note)
        elif isinstance(subject, Derivation):
            lines = [f"{subject.name}: a derivation, every step of which is checked by maskproof verify."]
        else:
            lines = [f"{item.name}: derived by computer algebra; its remainder is the subject of {subject.tested_by}."]
        lines = [*(line.translate(_QUOTES) for line in lines), f"Label: {label('mp', item.name)}"]
        return [
            part for line in lines for part in textwrap.wrap(line, 110, initial_indent="% ", subsequent_indent="%   ")
        ]

    # -- statements ----------------------------------------------------------------------------

    def _stated(self, item: Item) -> _Stated:
        subject = item.subject
        if isinstance(subject, Claim):
            return self._claim(subject)
        if isinstance(subject, Derivation):
            return self._derivation(item, subject)
        return _expansion(subject)

    def _claim(self, claim: Claim) -> _Stated:
        found, names = verdict(claim, self.recorded), self._names(claim)
        false = found == "REFUTED"
        rows, letters = formula(claim, names if len(names) > 1 else {}, self._width - _FALSE if false else self._width)
        if false:
            rows[-1] += r" \quad\text{(false)}"
        titles = {"PROVED": prose(claim.proof.title) if claim.proof else "", "ENCLOSED": "computer-assisted",
                  "REFUTED": "A false statement", "SAMPLED": "Not proved"}  # fmt: skip
        return _Stated(
            titles.get(found, "Undecided"),
            _sentences(self._warning(claim), _take(claim, names), for_all(claim)),
            rows,
            letters,
            "theorem" if found in _CERTAIN else "remark",
            len(names),
            coefficient_words([claim.statement], prose, named=True),
            sympy.sympify(claim.statement).has(score_correction(i, j)),
        )

    def _names(self, claim: Claim) -> dict[Model, str]:
        """Names of the models of a claim, numbered as in its proof."""
        models = {model: _bound(claim, model) for model in models_of([claim.statement])}
        others = Argument(claim.proof, self.rules).models if claim.proof is not None else []
        order = sorted({*models.values(), *(others if len(models) > 1 else [])}, key=str)
        named = {model: name_of(order.index(bound) + 1) for model, bound in models.items()}
        return dict(sorted(named.items(), key=lambda item: order.index(models[item[0]])))

    def _warning(self, claim: Claim) -> str:
        """What a reader must know of a statement that is no theorem."""
        found = verdict(claim, self.recorded)
        if found == "REFUTED":
            point = witness(claim, self.recorded)
            return r"\emph{The following statement is false" + (f": it fails at {prose(point)}.}}" if point else ".}")
        if found == "SAMPLED":
            return r"\emph{The following is not proved; nothing against it was found where it was sampled.}"
        return "" if found in _CERTAIN else r"\emph{Whether the following is true is undecided.}"

    def _derivation(self, item: Item, derivation: Derivation) -> _Stated:
        written = self._written(item, derivation)
        argument, results = written.argument, conclusions(derivation)
        printer = MathPrinter(names_of(argument.models), named=True)
        rows: list[str] = []
        for step in results:
            lines = aligned_rows(display(argument.statement(step), printer, self._width), self._width)
            stop = "" if step is results[-1] else ","
            given = shown(argument.given(step))
            if given:
                condition = listed(given)
                suffix = rf"\quad\text{{for {condition}}}{stop}"
                if measure(lines[-1]) + measure(condition) + 4 > self._width:
                    lines.append(rf"& {suffix}")
                else:
                    lines[-1] += f" {suffix}"
            else:
                lines[-1] += stop
            rows += lines
        letters, assumed = written.letters(results), written.hypotheses(throughout=False)
        lead = _sentences(_take_models(argument), assumed, "Then" if assumed else "")
        return _Stated(prose(derivation.title), lead, rows, letters, models=len(argument.models))

    # -- forms ---------------------------------------------------------------------------------

    @property
    def _width(self) -> float:
        return NUMBERED if self.form == "align" else LINE

    def _align(self, item: Item, stated: _Stated) -> str:
        final = label("mp", item.name)
        derivation = self.derivations.get(item.name)
        if derivation is not None and len(main_steps(derivation)) > 1:
            written = self._written(item, derivation)
            lead = _sentences(_take_models(written.argument), written.hypotheses(throughout=True))
            return "\n".join([lead, chain(written, final)])
        rows = [*(rf"{row} \notag" for row in stated.rows[:-1]), rf"{stated.rows[-1]} \label{{{final}}}"]
        return "\n".join([stated.lead, _environment("align", rows), *_where(stated)]).strip()

    def _theorem(self, item: Item, stated: _Stated) -> str:
        title = f"[{{{stated.title}}}]" if stated.title else ""
        return "\n".join(
            [
                rf"\begin{{{stated.environment}}}{title}\label{{{label('mp', item.name)}}}",
                *([stated.lead] if stated.lead else []),
                _environment("align*", stated.rows),
                *_where(stated),
                rf"\end{{{stated.environment}}}",
            ]
        )

    def _proof(self, item: Item, stated: _Stated) -> str:
        if not self._certain(item):
            return ""
        derivation = self.derivations.get(item.name)
        if derivation is not None:
            written = self._written(item, derivation)
            text = proof(written, stated.letters, self._cited_elsewhere(derivation))
            if len(written.argument.models) > 1 and stated.models < len(written.argument.models):
                text = f"{_sentences(_take_models(written.argument))}\n{text}"
        else:
            text = self._by_machine(item)
        return f"\n\\begin{{proof}}\n{text}\n\\end{{proof}}"

    def _by_machine(self, item: Item) -> str:
        """The proof of a claim without a derivation."""
        assert isinstance(item.subject, Claim)
        name = re.sub(r"([.-])", r"\1\\allowbreak{}", escape(item.subject.id))
        command = rf"\texttt{{maskproof verify {name}}}"
        if verdict(item.subject, self.recorded) == "PROVED":
            return f"By machine: {command} finds an exact argument and checks every step of it."
        return f"By computation: every point of the domain is decided with rigorous bounds on all errors ({command})."

    def _written(self, item: Item, derivation: Derivation) -> Written:
        elsewhere = {name: other for name, other in self.proofs.items() if other != item.name}
        return Written(Argument(derivation, self.rules), item.name, NUMBERED, elsewhere)

    def _cited_elsewhere(self, derivation: Derivation) -> set[str]:
        """The steps of a derivation that the proofs of other items cite."""
        return {
            str(step.hints["step"])
            for other in self.derivations.values()
            for step in other.steps
            if step.rule == "cite" and step.hints.get("lemma") == derivation.name
        }


def _expansion(expansion: Expansion) -> _Stated:
    lead = (
        r"\emph{The following is derived by computer algebra; its remainder was sampled, not bounded.} "
        r"Over random inputs of width $\mpwidth$ with mean cosine $\mpalpha$, $0 \le \mpalpha < 1$, "
        r"for $1 \le \mpkey < \mpquery$,"
    )
    rows = [f"{expansion.left} & = {expansion.right}"]
    return _Stated(r"Expansion in $1/\mpwidth$", _sentences(lead), rows, expansion.formula.definitions(), "remark")


def _bound(claim: Claim, model: Model) -> Model:
    """A model, the claim's own decoder and input law put in where it has none."""
    decoder, inputs = read(model)
    return Record.of(decoder or claim.decoder), Record.of(inputs or claim.inputs)


def _take(claim: Claim, names: Mapping[Model, str]) -> str:
    """The models of a claim's quantities, in a sentence."""
    pairs = [read(_bound(claim, model)) for model in names]
    return _taken([(decoder, inputs) for decoder, inputs in pairs if decoder and inputs], list(names.values()))


def _take_models(argument: Argument) -> str:
    pairs = [(decoder, inputs) for decoder, inputs in map(read, argument.models) if decoder and inputs]
    return _taken(pairs, list(names_of(argument.models).values()))


def _taken(pairs: Sequence[tuple[Decoder, Inputs]], names: Sequence[str]) -> str:
    if not pairs:
        return ""
    common, each = setting(pairs)
    text = f"Take {listed([prose(part) for part in common])}"
    for name, parts in zip(names, each, strict=True) if len(pairs) > 1 else ():
        text += f"; for ${name}$ also {listed([prose(part) for part in parts])}" if parts else f"; for ${name}$ no more"
    return text + "."


def _where(stated: _Stated) -> list[str]:
    word = (
        r"where, for every position $\mpany$," if any(r"\mpany" in math(part) for part in stated.letters) else "where"
    )
    found = [where(word, stated.letters, LINE)] if stated.letters else []
    long = [words for name, words in _LONG.items() if any(rf"\{name}{{" in row for row in stated.rows)]
    if long and not found:
        values = "" if stated.general else r", at $\mpalpha = 0$ and $\mpbeta = \mplambda = 1$"
        found.append(f"where {' and '.join(long)}{_PRINTED}{values}.")
    if stated.notation:
        found.append(f"Here {stated.notation}.")
    return found


def _environment(name: str, rows: Sequence[str]) -> str:
    """An alignment; a long one may be broken between pages."""
    text = f"\\begin{{{name}}}\n  " + " \\\\\n  ".join(rows) + f"\n\\end{{{name}}}"
    return f"\\begingroup\\allowdisplaybreaks\n{text}\n\\endgroup" if len(rows) > _PAGE else text


def _sentences(*parts: str) -> str:
    """Sentences, in lines that a person can edit."""
    text = " ".join(part for part in parts if part)
    return textwrap.fill(text, 110, break_long_words=False, break_on_hyphens=False)
