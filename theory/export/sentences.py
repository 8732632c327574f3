r"""What every LaTeX text here is made of: formulas in macros, hypotheses, definitions, reasons.

All mathematics is written in the macros of ``theory.notation.macros``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sympy import And, Basic, Eq

from maskproof.theory.claim import Claim
from maskproof.theory.derivation import Step
from maskproof.theory.export.abbreviations import abbreviate
from maskproof.theory.export.arguments import Argument
from maskproof.theory.export.families import family_display
from maskproof.theory.export.models import Model
from maskproof.theory.notation import macros
from maskproof.theory.notation.chains import conditions
from maskproof.theory.notation.latex import MathPrinter, latex, latex_condition
from maskproof.theory.notation.layout import Display, display
from maskproof.theory.notation.prose import latex_prose
from maskproof.theory.notation.width import measure


def math(expression: Any) -> str:
    """A formula in macros."""
    return latex(expression, named=True)


def prose(text: str) -> str:
    """Prose, its formulas in macros."""
    return latex_prose(text, named=True)


def listed(words: Sequence[str]) -> str:
    """Words in a row: a, b and c."""
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " and " + words[-1] if words else "none"


def label(kind: str, *names: str) -> str:
    """A label that LaTeX accepts, such as ``eq:layer-one:g``."""
    return ":".join([kind, *(re.sub(r"[^A-Za-z0-9.-]", "-", name) for name in names)])


def shown(parts: Iterable[Any]) -> list[str]:
    """Conditions as formulas in the line."""
    return [f"${latex_condition(part, named=True)}$" for part in parts]


def for_all(claim: Claim) -> str:
    """Over what a claim quantifies: "For $d = 16$ and all $1 <= j < i$,"; what is fixed comes first."""
    found = conditions(And(claim.domain), claim.free_symbols)
    fixed = [part for part in found if isinstance(part, Eq)]
    free = shown(part for part in found if part not in fixed)
    groups = [listed(shown(fixed))] * bool(fixed) + [f"all {listed(free)}"] * bool(free)
    return f"For {' and '.join(groups)}," if groups else ""


def name_of(number: int) -> str:
    """The name of a model, by number from 1."""
    return macros.call("mpmodel", str(number))


def names_of(models: Sequence[Model]) -> dict[Model, str]:
    """Names for models, if there are several."""
    if len(models) < 2:
        return {}
    return {model: name_of(place) for place, model in enumerate(models, start=1)}


def where(word: str, letters: Sequence[Basic], width: float) -> str:
    """Definitions of letters: in the line if they are short, displayed if they have fractions."""
    texts = {letter: math(letter) for letter in letters}
    inline = [f"${text}$" for text in texts.values() if r"\frac" not in text]
    tall = [letter for letter, text in texts.items() if r"\frac" in text]
    if not tall:
        return f"{word} {listed(inline)}."
    blocks = [" \\\\\n  ".join(aligned_rows(display(letter, MathPrinter(named=True), width), width)) for letter in tall]
    body = ", \\\\\n  ".join(blocks)
    line = f"{word} {', '.join(inline)} and" if inline else word
    return f"{line}\n\\begin{{align*}}\n  {body}.\n\\end{{align*}}"


def aligned_rows(rows: Sequence[Display], width: float) -> list[str]:
    """The lines of an ``align``, one that has no place to break shrunk to ``width`` em."""
    lines: list[str] = []
    for row in rows:
        for place, line in enumerate(row.lines):
            left = row.left if place == 0 else ""
            if measure(left) + measure(line) > width:  # no place to break
                line = rf"\resizebox{{{width - measure(left) - 1:.1f}em}}{{!}}{{$\displaystyle {line}$}}"
            lines.append(f"{left} & {line}".strip() if left else f"& {line}")
    return lines


def formula(claim: Claim, names: Mapping[Model, str], width: float) -> tuple[list[str], list[Basic]]:
    """The rows of a claim's formula, and the definitions of its letters.

    A quantity that is a letter is set equal to what the letter means: G_ij = g(i) = 4 alpha + ...
    """
    short = abbreviate(claim.statement)
    statement, letters = short.expression, list(short.definitions)
    meant = [meaning for meaning in letters if isinstance(statement, Eq) and meaning.lhs == statement.rhs]
    if not meant:
        return aligned_rows(family_display(statement, names, width, named=True), width), letters
    letters.remove(meant[0])
    left, printer = math(statement.lhs), MathPrinter(named=True)
    (row,) = display(meant[0], printer, width)
    first, *more = row.lines
    if measure(f"{left} = {row.left} {first}") <= width and not more:
        return [f"{left} & = {row.left} {first}"], letters
    return [f"{left} & = {row.left},", *aligned_rows([row], width)], letters


def groups(argument: Argument, steps: Sequence[Step], printer: MathPrinter, width: float) -> list[Group]:
    """Steps to be aligned at their relation signs, as many together as fit into ``width`` em."""
    found: list[Group] = []
    left = right = 0.0
    for step in steps:
        rows = display(argument.statement(step), printer, width)
        wide = max(row.width[0] for row in rows), max(row.width[1] for row in rows)
        if found and max(left, wide[0]) + max(right, wide[1]) <= width:
            left, right = max(left, wide[0]), max(right, wide[1])
            found[-1].append((step, rows))
        else:
            left, right = wide
            found.append([(step, rows)])
    return found


Group = list[tuple[Step, list[Display]]]


def put_in(symbol: Basic, value: Basic) -> str:
    """A substitution: one position for another, or the value of a parameter."""
    if symbol.is_integer or symbol in value.free_symbols:
        return f"${math(value)}$ for ${math(symbol)}$"
    return f"${math(symbol)} = {math(value)}$"


def sentence_case(text: str) -> str:
    """A reason with a capital letter, unless it opens with a formula."""
    formula = re.match(r"(?!a )[A-Za-z]'*(?![A-Za-z])|(alpha|beta|lam|exp|sqrt)\b", text)
    return text if formula else text[:1].upper() + text[1:]
