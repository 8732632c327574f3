"""Formulas in LaTeX, as they would stand in a paper."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sympy
from sympy import Add, Basic, Expr, Mul, Pow, Symbol
from sympy.core.function import AppliedUndef
from sympy.core.relational import Relational
from sympy.printing.latex import LatexPrinter

from theory.notation.chains import Chain, Condition
from theory.notation.order import decimal, is_decimal, ordered_terms, split_fraction
from theory.quantities import InputGram, Quantity

_SUBSCRIPTED = ("D",)  # functions of a position that read better with an index
SIGNS = {"==": "=", "<": "<", "<=": r"\le", ">": ">", ">=": r"\ge", "!=": r"\ne"}


class MathPrinter(LatexPrinter):
    """SymPy's printer with a mathematician's order, brackets and fractions.

    ``models`` names the models that quantities carry, where a text speaks of several.
    """

    def __init__(self, models: Mapping[tuple[Basic, Basic], str] | None = None) -> None:
        super().__init__({"ln_notation": True})
        self.models = models or {}

    # -- sums, products, powers ---------------------------------------------------------------

    def _print_Add(self, expr: Add, order: Any = None) -> str:
        pieces = []
        for term in ordered_terms(expr):
            negative = term.could_extract_minus_sign()
            body = self.term(-term if negative else term)
            pieces.append((" - " if negative else " + ") + body if pieces else ("-" if negative else "") + body)
        return "".join(pieces)

    def term(self, term: Expr) -> str:
        """A term that follows a sign: a sum gets brackets."""
        text = self._print(term)
        return bracket(text) if isinstance(term, Add) or text.startswith("-") else text

    def _print_Mul(self, expr: Mul) -> str:
        sign, numerator, denominator = split_fraction(expr)
        head = "-" if sign < 0 else ""
        if not denominator:
            return head + self.product(numerator)
        if all(part.is_Integer for part in denominator) and any(_tall(part) for part in numerator):
            return head + rf"\frac{{1}}{{{self.product(denominator)}}} {self.product(numerator)}"
        return head + rf"\frac{{{self.product(numerator)}}}{{{self.product(denominator)}}}"

    def product(self, factors: list[Expr]) -> str:
        """Factors side by side; a lone factor needs no brackets."""
        if not factors:
            return "1"
        if len(factors) == 1:
            return self._print(factors[0])
        pieces: list[str] = []
        for place, factor in enumerate(factors):
            text = self.factor(factor, last=place == len(factors) - 1)
            if pieces and (text[0].isdigit() or (text.startswith(r"\frac{") and pieces[-1][-1].isdigit())):
                pieces.append(r"\cdot " + text)
            else:
                pieces.append(text)
        return " ".join(pieces)

    def factor(self, factor: Expr, last: bool = True) -> str:
        """A factor of a product, in brackets if it is a sum (or ends in an operator's scope)."""
        text = self._print(factor)
        open_ended = isinstance(factor, (sympy.Sum, sympy.Integral, sympy.Limit, sympy.Product))
        if isinstance(factor, Add) or (open_ended and not last) or text.startswith("-"):
            return bracket(text)
        return text

    def _print_Pow(self, expr: Pow) -> str:
        base, exponent = expr.base, expr.exp
        if exponent.could_extract_minus_sign():
            return rf"\frac{{1}}{{{self._print(Pow(base, -exponent))}}}"
        if exponent.is_Rational and exponent.p == 1 and exponent.q != 1:
            root = "" if exponent.q == 2 else f"[{exponent.q}]"
            return rf"\sqrt{root}{{{self._print(base)}}}"
        return f"{self.base(base)}^{{{self._print(exponent)}}}"

    def base(self, base: Expr) -> str:
        """What an exponent is attached to: anything with a superscript or parts gets brackets."""
        text = self._print(base)
        plain = isinstance(base, Symbol) and "^" not in text and "'" not in text
        whole = bool(base.is_Integer and base.is_nonnegative)
        closed = isinstance(base, (AppliedUndef, InputGram, sympy.Abs)) or base is sympy.E
        return text if plain or whole or closed else bracket(text)

    def _print_Rational(self, expr: Any) -> str:
        if is_decimal(expr):
            return decimal(expr)
        sign = "-" if expr.p < 0 else ""
        return str(expr.p) if expr.q == 1 else rf"{sign}\frac{{{abs(expr.p)}}}{{{expr.q}}}"

    def _print_ExpBase(self, expr: Any, exp: Any = None) -> str:
        text = f"e^{{{self._print(expr.args[0])}}}"
        return text if exp is None else f"{bracket(text)}^{{{exp}}}"

    _print_exp = _print_ExpBase

    def _print_Exp1(self, expr: Any, exp: Any = None) -> str:
        return "e" if exp is None else f"e^{{{exp}}}"

    def _print_Abs(self, expr: Any, exp: Any = None) -> str:
        text = self._print(expr.args[0])
        text = rf"\left| {text} \right|" if is_tall(text) else f"|{text}|"
        return text if exp is None else f"{text}^{{{exp}}}"

    # -- functions, sums over tokens, limits ---------------------------------------------------

    def _print_Function(self, expr: Any, exp: Any = None) -> str:
        if not isinstance(expr, AppliedUndef):
            return super()._print_Function(expr, exp)
        name = self._print(Symbol(expr.func.__name__))
        if name in _SUBSCRIPTED:
            text = f"{name}_{{{', '.join(self._print(arg) for arg in expr.args)}}}"
            return text if exp is None else f"{text}^{{{exp}}}"
        text = name + bracket(", ".join(self._print(arg) for arg in expr.args))
        return text if exp is None else f"{text}^{{{exp}}}"

    def _print_Sum(self, expr: Any) -> str:
        return self._indexed(r"\sum", expr)

    def _print_Product(self, expr: Any) -> str:
        return self._indexed(r"\prod", expr)

    def _indexed(self, operator: str, expr: Any) -> str:
        heads = [
            rf"{operator}_{{{self._print(index)}={self._print(low)}}}^{{{self._print(high)}}}"
            for index, low, high in reversed(expr.limits)
        ]
        body = self._print(expr.function)
        if isinstance(expr.function, Add):
            body = bracket(body)
        return " ".join([*heads, body])

    def _print_Limit(self, expr: Any) -> str:
        body, variable, point = expr.args[:3]
        text = self._print(body)
        if isinstance(body, Add):
            text = bracket(text)
        return rf"\lim_{{{self._print(variable)} \to {self._print(point)}}} {text}"

    def _print_Derivative(self, expr: Any) -> str:
        marks = " ".join(
            rf"\frac{{d{'' if n == 1 else f'^{{{n}}}'}}}{{d{self._print(v)}{'' if n == 1 else f'^{{{n}}}'}}}"
            for v, n in expr.variable_count
        )
        body = self._print(expr.expr)
        return f"{marks} {bracket(body) if isinstance(expr.expr, Add) else body}"

    def _print_Symbol(self, expr: Symbol, style: str = "plain") -> str:
        if hasattr(expr, "_latex"):
            return expr._latex(self)
        if expr.name.endswith("'"):
            return self._print(Symbol(expr.name.rstrip("'"))) + "'" * (len(expr.name) - len(expr.name.rstrip("'")))
        return super()._print_Symbol(expr, style)

    def _print(self, expr: Any, **kwargs: Any) -> str:
        if isinstance(expr, Quantity):
            text = expr._latex(self)
            model = self.models.get((expr.args[3], expr.args[4]))
            return text if model is None else rf"{text}\langle {model} \rangle"
        return str(super()._print(expr, **kwargs))

    # -- relations and logic -------------------------------------------------------------------

    def _print_Relational(self, expr: Relational) -> str:
        return f"{self._print(expr.lhs)} {SIGNS[expr.rel_op]} {self._print(expr.rhs)}"

    def _print_And(self, expr: Any) -> str:
        return self._joined(expr, r" \quad\text{and}\quad ")

    def _print_Or(self, expr: Any) -> str:
        return self._joined(expr, r" \quad\text{or}\quad ")

    def _print_Implies(self, expr: Any, *_: Any) -> str:
        return rf"{self._clause(expr.args[0])} \implies {self._clause(expr.args[1])}"

    def _print_Equivalent(self, expr: Any, *_: Any) -> str:
        return r" \iff ".join(self._clause(arg) for arg in sorted(expr.args, key=sympy.default_sort_key))

    def _print_Not(self, expr: Any) -> str:
        return rf"\text{{not }}{self._clause(expr.args[0])}"

    def _print_BooleanTrue(self, expr: Any) -> str:
        return r"\text{true}"

    def _print_BooleanFalse(self, expr: Any) -> str:
        return r"\text{false}"

    def _joined(self, expr: Any, word: str) -> str:
        return word.join(self._clause(arg) for arg in sorted(expr.args, key=sympy.default_sort_key))

    def _clause(self, part: Any) -> str:
        text = self._print(part)
        return text if isinstance(part, Relational) or part.is_Symbol else bracket(text)


def _tall(expr: Expr) -> bool:
    return any(isinstance(part, Pow) and part.exp.could_extract_minus_sign() for part in sympy.preorder_traversal(expr))


def bracket(text: str) -> str:
    """Round brackets, as tall as what they hold."""
    return rf"\left({text}\right)" if is_tall(text) else f"({text})"


def is_tall(text: str) -> bool:
    """Whether brackets around ``text`` have to grow."""
    return any(mark in text for mark in (r"\frac", r"\sum", r"\prod", r"\lim", r"\int", r"\begin"))


def latex(expr: Any, models: Mapping[tuple[Basic, Basic], str] | None = None) -> str:
    r"""The formula in LaTeX, for mathematics mode.

    >>> from theory import Score, alpha, beta, i, j
    >>> print(latex(sympy.exp(beta * (1 - alpha))))
    e^{\beta (1 - \alpha)}
    >>> print(latex(Score(2, i, j) ** 2))
    (S^{(2)}_{ij})^{2}
    """
    return MathPrinter(models).doprint(sympy.sympify(expr))


def latex_condition(condition: Condition) -> str:
    """One condition of a domain in LaTeX."""
    if not isinstance(condition, Chain):
        return latex(condition)
    parts = condition.parts
    if len(parts) == 2 and parts[0].is_number and not parts[1].is_number:  # beta >= 0, not 0 <= beta
        return f"{latex(parts[1])} {SIGNS[condition.signs[0].replace('<', '>')]} {latex(parts[0])}"
    text = latex(parts[0])
    for sign, part in zip(condition.signs, parts[1:], strict=True):
        text += f" {SIGNS[sign]} {latex(part)}"
    return text
