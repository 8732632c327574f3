"""Breaking a formula into lines that fit.

A relation breaks at its sign, a sum between terms, a fraction with a long numerator becomes one over
the denominator times the numerator in brackets, a product breaks between factors. Brackets that
span lines are sized by hand, since LaTeX's growing ones cannot.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy
from sympy import Add, Basic, Expr, Mul, Pow
from sympy.core.relational import Relational

from maskproof.theory.notation.latex import SIGNS, MathPrinter
from maskproof.theory.notation.order import ordered_terms, split_fraction
from maskproof.theory.notation.width import measure

_SHORT = 8.0  # em: a left side up to this stays beside a right side that breaks
_STEP = 1.0  # em by which a continued line moves in


@dataclass(frozen=True)
class Display:
    """A displayed formula: what stands left of the alignment point, and the lines right of it."""

    left: str
    lines: tuple[str, ...]

    @property
    def width(self) -> tuple[float, float]:
        """Widths in em, left and right of the alignment point."""
        return measure(self.left), max(measure(line) for line in self.lines)


def display(statement: Basic, printer: MathPrinter, width: float) -> list[Display]:
    """Lay out a statement in rows aligned at their relation signs, within ``width`` em.

    A conjunction gets a row for each part.
    """
    if isinstance(statement, Relational):
        return [_relation(statement, printer, width)]
    whole = printer.doprint(statement)
    if measure(whole) <= width:
        return [Display("", (whole,))]
    if isinstance(statement, (sympy.And, sympy.Or)):
        word = r"\text{and }" if isinstance(statement, sympy.And) else r"\text{or }"
        rows: list[Display] = []
        for place, part in enumerate(sorted(statement.args, key=sympy.default_sort_key)):
            for row in display(part, printer, width - 3):
                head = word if place and row is not None else ""
                rows.append(Display(head + row.left if row.left or head else "", row.lines))
        return rows
    if isinstance(statement, sympy.Implies):
        before, after = statement.args
        rows = display(before, printer, width)
        later = display(after, printer, width - 3)
        return [*rows, Display(r"\implies " + later[0].left, later[0].lines), *later[1:]]
    return [Display("", (whole,))]


def _relation(statement: Relational, printer: MathPrinter, width: float) -> Display:
    left, sign = printer.doprint(statement.lhs), SIGNS[statement.rel_op]
    room = width - measure(left) - measure(sign)
    right = printer.doprint(statement.rhs)
    if measure(right) <= min(room, _SHORT):
        return Display(left, (f"{sign} {right}",))
    stacked = room < measure(right) <= width - measure(sign) - 1 and measure(left) > _SHORT
    if not stacked and measure(left) <= 0.55 * width and (room >= 0.4 * width or measure(right) <= room):
        lines = split(statement.rhs, printer, room)
        below = split(statement.rhs, printer, width - measure(sign) - 1)
        if len(below) + 1 < len(lines):
            return Display("", (left, rf"\quad {sign} {below[0]}", *(rf"\qquad {line}" for line in below[1:])))
        return Display(left, (f"{sign} {lines[0]}", *(rf"\quad {line}" for line in lines[1:])))
    above = split(statement.lhs, printer, width)
    below = split(statement.rhs, printer, width - measure(sign) - 1)
    return Display("", (*above, rf"\quad {sign} {below[0]}", *(rf"\qquad {line}" for line in below[1:])))


def split(expr: Expr, printer: MathPrinter, width: float) -> list[str]:
    """Lines of at most ``width`` em (as far as the formula has places to break)."""
    whole = printer.doprint(expr)
    if measure(whole) <= width:
        return [whole]
    if isinstance(expr, Add):
        return _sum(expr, printer, width)
    if isinstance(expr, (Mul, Pow)):
        return _product(expr, printer, width)
    return [whole]


def _sum(expr: Add, printer: MathPrinter, width: float) -> list[str]:
    lines: list[str] = []
    for place, term in enumerate(ordered_terms(expr)):
        negative = term.could_extract_minus_sign()
        sign = "-" if negative else "+" if place else ""
        body = printer.term(-term if negative else term)
        pieces = [body] if measure(body) <= width - 2 else split(-term if negative else term, printer, width - 3)
        pieces[0] = f"{sign} {pieces[0]}".strip()
        if lines and len(pieces) == 1 and measure(lines[-1]) + measure(pieces[0]) <= width:
            lines[-1] += " " + pieces[0]
        else:
            lines += [pieces[0] if not lines else "{}" + pieces[0], *(r"\quad " + p for p in pieces[1:])]
    return lines


def _product(expr: Any, printer: MathPrinter, width: float) -> list[str]:
    sign, numerator, denominator = split_fraction(expr)
    head = "-" if sign < 0 else ""
    below = printer.product(denominator)
    if measure(below) > width - 2:
        return [printer.doprint(expr)]
    if denominator:  # as much as fits stays over the denominator; long brackets follow it
        short: list[Expr] = []
        while numerator and measure(printer.product([*short, numerator[0]])) <= width - 3 and numerator[1:]:
            short.append(numerator.pop(0))
        head += rf"\frac{{{printer.product(short)}}}{{{below}}}"
    lines = [head]
    for factor in numerator:
        text = printer.factor(factor)
        if measure(lines[-1]) + measure(text) <= width:
            lines[-1] = f"{lines[-1]} {text}".strip()
            continue
        base, exponent = factor.as_base_exp()
        pieces = [text]
        if isinstance(base, Add):
            power = "" if exponent == 1 else f"^{{{printer.doprint(exponent)}}}"
            pieces = _sum(base, printer, width - 4 * _STEP)
            pieces = [r"\Bigl(" + pieces[0], *(r"\qquad " + line for line in pieces[1:])]
            pieces[-1] += r"\Bigr)" + power
        if not lines[-1]:
            lines = pieces
        elif measure(lines[-1]) + measure(pieces[0]) <= width:
            lines = [*lines[:-1], f"{lines[-1]} {pieces[0]}", *pieces[1:]]
        else:
            lines = [*lines, r"\times " + pieces[0], *pieces[1:]]
    return lines
