"""Formulas on one line of plain text, in the order of ``order`` and in SymPy's own syntax where it has one.

Scores, weights and Gram matrices read S2[i,j]: letter, layer, query, key.
"""

from __future__ import annotations

from typing import Any

import sympy
from sympy import Add, Expr, Mul, Pow
from sympy.core.function import AppliedUndef
from sympy.core.relational import Relational
from sympy.printing.str import StrPrinter

from maskproof.theory.notation.chains import Chain, Condition
from maskproof.theory.notation.order import decimal, is_decimal, ordered_terms, split_fraction
from maskproof.theory.quantities import Correction, Quantity


class PlainPrinter(StrPrinter):
    """SymPy's text with a mathematician's order."""

    def _print_Add(self, expr: Add, order: Any = None) -> str:
        text = ""
        for term in ordered_terms(expr):
            negative = term.could_extract_minus_sign()
            body = self._print(-term if negative else term)
            if isinstance(-term if negative else term, Add):
                body = f"({body})"
            text += (" - " if negative else " + ") + body if text else ("-" if negative else "") + body
        return text

    def _print_Mul(self, expr: Mul) -> str:
        sign, numerator, denominator = split_fraction(expr)
        text = ("-" if sign < 0 else "") + (self._product(numerator) or "1")
        if not denominator:
            return text
        below = self._product(denominator)
        return f"{text}/({below})" if len(denominator) > 1 else f"{text}/{below}"

    def _product(self, factors: list[Expr]) -> str:
        return "*".join(self._factor(factor) for factor in factors)

    def _factor(self, factor: Expr) -> str:
        text = self._print(factor)
        return (
            f"({text})"
            if isinstance(factor, (Add, sympy.Rational)) and not text.isalnum() and not _is_decimal(factor)
            else text
        )

    def _print_Pow(self, expr: Pow, rational: bool = False) -> str:
        if expr.exp.could_extract_minus_sign():
            return f"1/{self._factor(Pow(expr.base, -expr.exp))}"
        if expr.exp == sympy.Rational(1, 2):
            return f"sqrt({self._print(expr.base)})"
        base, exponent = self._print(expr.base), self._print(expr.exp)
        atomic = (
            expr.base.is_Symbol or expr.base.is_Integer or isinstance(expr.base, (AppliedUndef, Correction, Quantity))
        )
        simple = expr.exp.is_Symbol or expr.exp.is_Integer
        return f"{base if atomic else f'({base})'}^{exponent if simple else f'({exponent})'}"

    def _print_Rational(self, expr: Any) -> str:
        return decimal(expr) if is_decimal(expr) else str(expr)

    def _print_ExpBase(self, expr: Any) -> str:
        return f"exp({self._print(expr.args[0])})"

    def _print_Exp1(self, expr: Any) -> str:
        return "e"

    def _print_Infinity(self, expr: Any) -> str:
        return "infinity"

    def _print_Sum(self, expr: Any) -> str:
        bounds = (tuple(self._print(part).replace(" ", "") for part in limit) for limit in expr.limits)
        heads = ",".join(f"{index}={low}..{high}" for index, low, high in bounds)
        return f"sum[{heads}]({self._print(expr.function)})"

    def _print_Limit(self, expr: Any) -> str:
        body, variable, point = expr.args[:3]
        return f"lim[{self._print(variable)}->{self._print(point)}]({self._print(body)})"

    def _print_Derivative(self, expr: Any) -> str:
        return "".join(f"d/d{self._print(v)} " * int(times) for v, times in expr.variable_count) + (
            f"({self._print(expr.expr)})"
        )

    def _print_Quantity(self, expr: Any) -> str:
        return expr._sympystr(self)

    def _print_Relational(self, expr: Relational) -> str:
        sign = {"==": "="}.get(expr.rel_op, expr.rel_op)
        return f"{self._print(expr.lhs)} {sign} {self._print(expr.rhs)}"

    def _print_And(self, expr: Any, *_: Any) -> str:
        return self._joined(expr, " and ")

    def _print_Or(self, expr: Any) -> str:
        return self._joined(expr, " or ")

    def _print_Not(self, expr: Any) -> str:
        return f"not ({self._print(expr.args[0])})"

    def _print_Implies(self, expr: Any) -> str:
        return f"if {self._print(expr.args[0])}, then {self._print(expr.args[1])}"

    def _print_Equivalent(self, expr: Any) -> str:
        return " if and only if ".join(self._clause(a) for a in sorted(expr.args, key=sympy.default_sort_key))

    def _joined(self, expr: Any, word: str) -> str:
        return word.join(self._clause(a) for a in sorted(expr.args, key=sympy.default_sort_key))

    def _clause(self, part: Any) -> str:
        text = self._print(part)
        return text if isinstance(part, Relational) else f"({text})"


def _is_decimal(factor: Expr) -> bool:
    return bool(factor.is_Rational) and is_decimal(factor)


def plain(expr: Any) -> str:
    """The formula as one line of plain text.

    >>> from maskproof.theory import Score, i, j, alpha
    >>> plain(sympy.Le(Score(2, i, j), 1 - alpha))
    'S2[i,j] <= 1 - alpha'
    """
    return PlainPrinter().doprint(sympy.sympify(expr))


def plain_condition(condition: Condition) -> str:
    """One condition of a domain as plain text."""
    if not isinstance(condition, Chain):
        return plain(condition)
    parts = condition.parts
    if len(parts) == 2 and parts[0].is_number and not parts[1].is_number:
        return f"{plain(parts[1])} {condition.signs[0].replace('<', '>')} {plain(parts[0])}"
    text = plain(parts[0])
    for sign, part in zip(condition.signs, parts[1:], strict=True):
        text += f" {sign} {plain(part)}"
    return text


__all__ = ["PlainPrinter", "plain", "plain_condition"]
