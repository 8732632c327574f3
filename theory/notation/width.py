"""How wide a formula will be: an estimate from its LaTeX, in units of an em.

It knows fractions, roots, scripts, operators and text; letters get average widths, a little above
what Latin Modern sets, so that a line that is said to fit does fit.
"""

from __future__ import annotations

import re

from maskproof.theory.notation.macros import expand

_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|[{}^_]|\s+|.")
_WIDE = {"m": 0.9, "M": 1.0, "w": 0.75, "i": 0.38, "j": 0.43, "l": 0.33, "G": 0.82, "A": 0.78, "S": 0.66}
_COMMANDS = {
    "quad": 1.0, "qquad": 2.0, "left": 0.12, "right": 0.12, "sum": 1.5, "prod": 1.4, "int": 0.8,
    "lim": 1.5, "to": 1.0, "le": 1.35, "ge": 1.35, "ne": 1.35, "iff": 2.6, "implies": 2.6,
    "cdot": 0.75, "infty": 1.0, "langle": 0.4, "rangle": 0.4, "log": 1.4, "max": 1.7, "min": 1.6,
}  # fmt: skip
_SIGNS = {"=": 1.35, "<": 1.35, ">": 1.35, "+": 1.25, "-": 1.25, "(": 0.4, ")": 0.4, "[": 0.3, "]": 0.3,
          "|": 0.3, ",": 0.45, ".": 0.3, "'": 0.3}  # fmt: skip
_SCRIPT = 0.74  # size of a script, with its space


def measure(text: str) -> float:
    r"""Estimated width of mathematics in em, with macros as they are defined at first.

    >>> measure(r"\frac{a}{b}") < measure("a + b")
    True
    """
    return _Reader(expand(text)).sequence()


class _Reader:
    def __init__(self, text: str) -> None:
        self.tokens = [token for token in _TOKEN.findall(text) if not token.isspace()]
        self.text = text
        self.place = 0

    def next(self) -> str:
        token = self.tokens[self.place]
        self.place += 1
        return token

    def peek(self) -> str:
        return self.tokens[self.place] if self.place < len(self.tokens) else ""

    def sequence(self) -> float:
        total = 0.0
        while self.peek() not in ("", "}"):
            total += self.atom()
        return total

    def group(self) -> float:
        if self.peek() != "{":
            return self.atom()
        self.next()
        width = self.sequence()
        if self.peek() == "}":
            self.next()
        return width

    def scripts(self) -> float:
        widest = 0.0
        while self.peek() in ("^", "_"):
            self.next()
            widest = max(widest, _SCRIPT * self.group())
        return widest

    def atom(self) -> float:
        token = self.next()
        if token == "{":
            self.place -= 1
            width = self.group()
        elif token in (r"\frac", r"\tfrac", r"\dfrac"):
            width = 0.35 + max(self.group(), self.group())
        elif token == r"\sqrt":
            width = 0.95 + self.group()
        elif token in (r"\text", r"\mathrm", r"\operatorname"):
            width = 0.85 * self.group()
        elif token in (r"\sum", r"\prod", r"\lim"):  # limits stand above and below
            return max(_COMMANDS[token[1:]], self.scripts()) + 0.2
        elif token.startswith("\\"):
            width = _COMMANDS.get(token[1:], 0.68 if token[1:].isalpha() else 0.2)
        else:
            width = _SIGNS.get(token, _WIDE.get(token, 0.53 if token.isdigit() else 0.62))
        return width + self.scripts()
