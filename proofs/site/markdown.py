"""Pieces of Markdown that several kinds of pages are made of."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from sympy import Basic

from maskproof.theory.claim import Claim
from maskproof.theory.export.models import Model, model_names, model_words, models_of, read
from maskproof.theory.notation.latex import latex, latex_condition
from maskproof.theory.notation.layout import Display
from maskproof.theory.notation.prose import markdown_prose

LINE = 37.0  # em of a displayed formula: what the column holds on a screen

_FENCED = re.compile(r"(^(?P<fence>```+|~~~+).*?^(?P=fence)$)", re.MULTILINE | re.DOTALL)
_ID = r"[a-z][a-z0-9]*\.[a-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?"
_MENTION = re.compile(rf"(?P<code>`{_ID}`)|`[^`\n]*`|\[[^]\n]*\]\([^)\n]*\)|(?<![\w./-])(?P<bare>{_ID})(?![\w/(]|\.\w)")


class Linker:
    """Turns ids of claims into links to their pages."""

    def __init__(self, ids: Collection[str]) -> None:
        self.ids = frozenset(ids)

    def text(self, markdown: str, base: str = "") -> str:
        """``markdown`` with its claim ids linked; ``base`` leads from the page to the root, such as ``../``.

        Blocks of code stay as they are, and so do other links.

        >>> Linker(["own.fig1"]).text("see own.fig1, not own.other")
        'see [`own.fig1`](claims/own.fig1.md), not own.other'
        """

        def link(match: re.Match[str]) -> str:
            name = (match["code"] or match["bare"] or "").strip("`")
            return self.claim(name, base) if name in self.ids else match.group()

        parts = _FENCED.split(markdown)  # text, fenced block, its fence, text, ...
        made = []
        for place, part in enumerate(parts):
            if place % 3 == 0:
                lines = part.split("\n")
                part = "\n".join(line if line.startswith("    ") else _MENTION.sub(link, line) for line in lines)
            if place % 3 < 2:
                made.append(part)
        return "".join(made)

    def prose(self, text: str, base: str = "") -> str:
        """Prose of a claim or derivation, formulas set, claims linked."""
        return self.text(markdown_prose(text), base)

    def claim(self, name: str, base: str = "") -> str:
        """A link to the page of a claim."""
        return f"[`{name}`]({base}claims/{name}.md)"


def inline(math: str) -> str:
    """Mathematics in a line."""
    return f"${math}$"


def block(rows: Sequence[Display]) -> str:
    """Displayed mathematics, its rows aligned at their relation signs."""
    lines = [f"{row.left if place == 0 else ''} & {line}" for row in rows for place, line in enumerate(row.lines)]
    return aligned(lines)


def aligned(lines: Sequence[str]) -> str:
    """Displayed lines, aligned where each has its ``&``."""
    body = " \\\\\n".join(lines)
    return f"$$\n\\begin{{aligned}}\n{body}\n\\end{{aligned}}\n$$"


def definitions(letters: Iterable[Basic]) -> str:
    """What letters stand for, one a line."""
    return aligned([latex(letter).replace(" = ", " &= ", 1) for letter in letters])


def condition_list(parts: Iterable[Any]) -> str:
    """Conditions in a line: "a, b and c"."""
    return listed([inline(latex_condition(part)) for part in parts])


def listed(words: Sequence[str]) -> str:
    """Words in a row, "and" before the last."""
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " and " + words[-1] if words else ""


def model_lines(claim: Claim | None, models: Sequence[Model]) -> list[str]:
    """The models that quantities refer to, in words: one line each, named where there are several."""
    names = model_names(models)
    if claim is not None and not names:
        carried = read(models[0]) if models else (None, None)
        return [markdown_prose(model_words(carried[0] or claim.decoder, carried[1] or claim.inputs))]
    lines = []
    for model in models:
        decoder, inputs = read(model)
        if claim is not None:
            decoder, inputs = decoder or claim.decoder, inputs or claim.inputs
        words = markdown_prose(model_words(decoder, inputs))
        lines.append(f"{inline(names[model])}: {words}" if names else words)
    return lines


def claim_models(claim: Claim) -> list[Model]:
    """The models that the quantities of a claim carry themselves."""
    return models_of([claim.statement])


def badge(verdict: str) -> str:
    """A verdict as a coloured word."""
    return f"[{verdict}]{{.verdict .{verdict.lower().replace(' ', '-')}}}"
