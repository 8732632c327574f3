"""A formula with named pieces, as a paper would print it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import sympy
from sympy import Expr, Symbol

Piece = tuple[Symbol, Expr]  # a letter and what it stands for
RowPiece = Callable[[Expr], Piece]  # such a letter for each position, as D_a = r + a - 1

GENERIC = Symbol("a", integer=True, positive=True)  # the position in the printed definition of a row piece


@dataclass(frozen=True)
class Formula:
    """A quantity, its formula in letters, and the definitions of the letters.

    Attributes:
        left: the quantity's name, in LaTeX.
        right: its formula.
        pieces: letters that belong to this formula alone; each may use those after it.
        rows: letters that exist for every position; each may use those after it.
        positions: the positions at which the row letters occur.
        constants: the letters that depend on the model only.
    """

    left: str
    right: Expr
    pieces: tuple[Piece, ...]
    rows: tuple[RowPiece, ...]
    positions: tuple[Symbol, ...]
    constants: tuple[Piece, ...]

    def expand(self) -> Expr:
        """The formula with every letter put in: an expression in positions and parameters alone."""
        expression = self.right
        for letter, meaning in self.pieces:
            expression = expression.xreplace({letter: meaning})
        for row in self.rows:
            expression = expression.xreplace(dict(row(position) for position in self.positions))
        return expression.xreplace(dict(self.constants))

    def latex(self) -> str:
        r"""The formula and its definitions as a LaTeX ``align*``, one equation a line.

        Row letters are defined once, for a position a; letters that do not occur are left out.
        """
        lines = [rf"{self.left} &= {_print(self.right)}"]
        used = self.right.free_symbols
        for letter, meaning in self.pieces:
            if letter in used:
                lines.append(_definition(letter, meaning))
                used |= meaning.free_symbols
        for row in self.rows:
            here = [piece for piece in map(row, self.positions) if piece[0] in used]
            if here:
                lines.append(_definition(*row(GENERIC)))
                used = used.union(*(meaning.free_symbols for _, meaning in here))
        lines += [_definition(*piece) for piece in self.constants if piece[0] in used]
        body = ",\\\\\n".join(lines)
        return f"\\begin{{align*}}\n{body}.\n\\end{{align*}}"


def _definition(letter: Symbol, meaning: Expr) -> str:
    return rf"{sympy.latex(letter)} &= {_print(meaning)}"


def _print(expression: Expr) -> str:
    return sympy.latex(expression, long_frac_ratio=4)  # no long bracket on top of a fraction
