"""A formula with named pieces, as a paper would print it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sympy import Eq, Expr, Symbol

from maskproof.theory.notation.latex import MathPrinter
from maskproof.theory.notation.layout import display

Piece = tuple[Symbol, Expr]  # a letter and what it stands for
RowPiece = Callable[[Expr], Piece]  # such a letter for each position, as D_a = r + a - 1

LINE = 34.0  # em between the margins of an article
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

    def definitions(self) -> list[Eq]:
        """The formula and the meaning of each letter, as equations.

        Row letters are defined once, for a position a; letters that do not occur are left out.
        """
        lines = [Eq(Symbol(self.left), self.right, evaluate=False)]
        used = self.right.free_symbols
        for letter, meaning in self.pieces:
            if letter in used:
                lines.append(Eq(letter, meaning))
                used |= meaning.free_symbols
        for row in self.rows:
            here = [piece for piece in map(row, self.positions) if piece[0] in used]
            if here:
                lines.append(Eq(*row(GENERIC)))
                used = used.union(*(meaning.free_symbols for _, meaning in here))
        return [*lines, *(Eq(*piece) for piece in self.constants if piece[0] in used)]

    def latex(self, width: float = LINE) -> str:
        r"""The formula and its definitions as a LaTeX ``align*``, each equation within ``width`` em."""
        equations: list[str] = []
        for equation in self.definitions():
            (row,) = display(equation, MathPrinter(), width)
            equations.append(" \\\\\n& ".join([f"{row.left} &{row.lines[0]}", *row.lines[1:]]))
        body = ",\\\\\n".join(equations)
        return f"\\begin{{align*}}\n{body}.\n\\end{{align*}}"
