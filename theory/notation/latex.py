"""Formulas in LaTeX, as they would stand in a paper."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import sympy
from sympy import Add, Basic, Expr, Mul, Pow, Symbol
from sympy.core.function import AppliedUndef
from sympy.core.relational import Relational
from sympy.printing.latex import LatexPrinter

from maskproof.theory.notation import macros
from maskproof.theory.notation.chains import Chain, Condition, conditions
from maskproof.theory.notation.order import decimal, is_decimal, ordered_terms, split_fraction
from maskproof.theory.quantities import Correction, InputGram, Quantity
from maskproof.theory.rope import Kappa

SIGNS = {"==": "=", "<": "<", "<=": r"\le", ">": ">", ">=": r"\ge", "!=": r"\ne"}


class MathPrinter(LatexPrinter):
    """SymPy's printer with a mathematician's order, brackets and fractions.

    Args:
        models: names of the models that quantities carry, where a text speaks of several.
        named: whether to write the notation in macros (``theory.notation.macros``), not in letters.
        layer: what stands for the layer of every quantity, where a formula is meant for several.
    """

    def __init__(
        self, models: Mapping[tuple[Basic, Basic], str] | None = None, named: bool = False, layer: str | None = None
    ) -> None:
        super().__init__({"ln_notation": True})
        self.models = models or {}
        self.named = named
        self.layer = layer

    def sign(self, name: str, *arguments: str, separator: str = "") -> str:
        """A sign of the notation: its macro, or what that stands for."""
        text = macros.call(name, *arguments, separator=separator)
        return text if self.named else macros.expand(text)

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
        whole = all(part.is_Integer for part in denominator)
        after = [part for part in numerator if (self._stacked(part) if _is_sum(part) else whole and _tall(part))]
        if after:  # no fractions on top of a fraction
            before = self.product([part for part in numerator if part not in after])
            return head + rf"\frac{{{before}}}{{{self.product(denominator)}}} {self.product(after, alone=False)}"
        return head + rf"\frac{{{self.product(numerator)}}}{{{self.product(denominator)}}}"

    def _stacked(self, part: Expr) -> bool:
        return r"\frac" in self._print(part)

    def product(self, factors: list[Expr], alone: bool = True) -> str:
        """Factors side by side; a factor needs no brackets if nothing else stands beside the product."""
        if not factors:
            return "1"
        if len(factors) == 1 and alone:
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
        shown = macros.expand(text)
        plain = isinstance(base, Symbol) and "^" not in shown and "'" not in shown
        whole = bool(base.is_Integer and base.is_nonnegative)
        closed = isinstance(base, (AppliedUndef, InputGram, sympy.Abs)) or base is sympy.E
        return text if plain or whole or closed else bracket(text)

    def _print_Rational(self, expr: Any) -> str:
        if abs(expr.p) == 1 and expr.q >= 10**4 and str(expr.q).rstrip("0") == "1":
            return f"{'-' if expr.p < 0 else ''}10^{{-{len(str(expr.q)) - 1}}}"
        if is_decimal(expr):
            return decimal(expr)
        sign = "-" if expr.p < 0 else ""
        return str(expr.p) if expr.q == 1 else rf"{sign}\frac{{{abs(expr.p)}}}{{{expr.q}}}"

    def _print_ExpBase(self, expr: Any, exp: Any = None) -> str:
        text = f"e^{{{self._exponent(expr.args[0])}}}"
        return text if exp is None else f"{bracket(text)}^{{{exp}}}"

    def _exponent(self, exponent: Expr) -> str:
        """An exponent; a fraction over a number is written with a slash."""
        sign, numerator, denominator = split_fraction(exponent)
        if len(denominator) != 1 or not denominator[0].is_Integer:
            return self._print(exponent)
        above = self.product(numerator)
        if len(numerator) == 1 and numerator[0].is_Add:
            above = bracket(above)
        return f"{'-' if sign < 0 else ''}{above}/{denominator[0]}"

    _print_exp = _print_ExpBase

    def _print_Exp1(self, expr: Any, exp: Any = None) -> str:
        return "e" if exp is None else f"e^{{{exp}}}"

    def _print_Abs(self, expr: Any, exp: Any = None) -> str:
        inside = expr.args[0]
        if isinstance(inside, Add) and inside.as_coeff_Add()[0].is_positive and inside.has(Quantity):
            inside = -inside  # |S - 0.154|, not |0.154 - S|
        text = self._print(inside)
        text = rf"\left| {text} \right|" if is_tall(text) else f"|{text}|"
        return text if exp is None else f"{text}^{{{exp}}}"

    # -- functions, sums over tokens, limits ---------------------------------------------------

    def _print_Function(self, expr: Any, exp: Any = None) -> str:
        if not isinstance(expr, AppliedUndef):
            text = super()._print_Function(expr, exp)
            match = re.fullmatch(r"(\\operatorname\{\w+\}|\\[a-z]+)\{\\left\((.*) \\right\)\}", text)
            return f"{match[1]}{bracket(match[2])}" if match else text
        arguments, known = [self._print(arg) for arg in expr.args], macros.FUNCTIONS.get(expr.func.__name__)
        if known is not None:
            text = self.sign(known, *arguments)
        else:
            text = self._print(Symbol(expr.func.__name__)) + bracket(", ".join(arguments))
        return text if exp is None else f"{text}^{{{exp}}}"

    def _print_log(self, expr: Any, exp: Any = None) -> str:
        text = rf"\ln{bracket(self._print(expr.args[0]))}"
        return text if exp is None else f"{bracket(text)}^{{{exp}}}"

    def _print_Max(self, expr: Any, exp: Any = None) -> str:
        arguments = ", ".join(self._print(part) for part in sorted(expr.args, key=sympy.default_sort_key))
        text = rf"\max{bracket(arguments)}"
        return text if exp is None else f"{text}^{{{exp}}}"

    def _print_Sum(self, expr: Any) -> str:
        return self._number_of(expr) or self._indexed(r"\sum", expr)

    def _number_of(self, expr: Any) -> str:
        """A sum of ones where a condition holds is a number of things: #{(i, j) : ...}; else an empty string."""
        body = expr.function
        if not isinstance(body, sympy.Piecewise) or [value for value, _ in body.args] != [1, 0]:
            return ""
        limits = list(reversed(expr.limits))
        indices = [self._print(index) for index, _, _ in limits]
        parts = [latex_condition(part, self.named) for part in conditions(sympy.And(*_bounds(limits)))]
        what = f"({', '.join(indices)})" if len(indices) > 1 else indices[0]
        return rf"\#\{{{what} : {', '.join(parts)},\ {self._print(body.args[0][1])}\}}"

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
        known = macros.symbol(expr.name)
        if known is not None:
            return known if self.named else macros.expand(known)
        if expr.name.endswith("'"):
            return self._print(Symbol(expr.name.rstrip("'"))) + "'" * (len(expr.name) - len(expr.name.rstrip("'")))
        return super()._print_Symbol(expr, style)

    def _print(self, expr: Any, **kwargs: Any) -> str:
        if isinstance(expr, Quantity):
            layer = self._print(expr.args[0]) if self.layer is None else self.layer
            text = self._indexed_sign(macros.QUANTITIES[expr.letter], [layer], expr.query, expr.key)
            model = self.models.get((expr.args[3], expr.args[4]))
            return text if model is None else text + self.sign("mpin", model)
        if isinstance(expr, Correction):
            return self.sign("mpcoefficient", self._print(expr.quantity))
        if isinstance(expr, InputGram):
            return self._indexed_sign(macros.QUANTITIES["K"], [], *expr.args[:2])
        if isinstance(expr, Kappa):
            return self.sign("mpkernel", str(expr.position.dim), self._print(expr.distance))
        if isinstance(expr, Symbol) and not kwargs:
            return self._print_Symbol(expr)
        return str(super()._print(expr, **kwargs))

    def _indexed_sign(self, name: str, before: list[str], query: Expr, key: Expr) -> str:
        """A sign with two indices, with a comma between them unless both are letters."""
        separator = "" if query.is_Symbol and key.is_Symbol else ","
        return self.sign(name, *before, self._print(query), self._print(key), separator=separator)

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


def _bounds(limits: list[Any]) -> list[Any]:
    """That indices lie within limits; what is clear is left out: j >= 1, and i >= 2 if there is a j < i."""
    bounds: list[Any] = []
    for index, low, high in limits:
        has_lower = any(other_high == index - 1 for _, _, other_high in limits)
        if not (low == 1 or (low == 2 and has_lower)):
            bounds.append(low <= index)
        bounds.append(index < high + 1 if (high + 1).is_Symbol else index <= high)
    return bounds


def _is_sum(factor: Expr) -> bool:
    return isinstance(factor.as_base_exp()[0], Add)


def _tall(expr: Expr) -> bool:
    return any(isinstance(part, Pow) and part.exp.could_extract_minus_sign() for part in sympy.preorder_traversal(expr))


def bracket(text: str) -> str:
    """Round brackets, as tall as what they hold."""
    return rf"\left({text}\right)" if is_tall(text) else f"({text})"


def is_tall(text: str) -> bool:
    """Whether brackets around ``text`` have to grow."""
    return any(mark in text for mark in (r"\frac", r"\sum", r"\prod", r"\lim", r"\int", r"\begin"))


def latex(expr: Any, named: bool = False) -> str:
    r"""The formula in LaTeX, for mathematics mode; with ``named``, in macros.

    >>> from maskproof.theory import Score, alpha, beta, i, j
    >>> print(latex(sympy.exp(beta * (1 - alpha))))
    e^{\beta (1 - \alpha)}
    >>> print(latex(Score(2, i, j) ** 2))
    (S^{(2)}_{ij})^{2}
    >>> print(latex(sympy.exp(beta * (1 - alpha)), named=True))
    e^{\mpbeta (1 - \mpalpha)}
    """
    return MathPrinter(named=named).doprint(sympy.sympify(expr))


def latex_condition(condition: Condition, named: bool = False) -> str:
    """One condition of a domain in LaTeX; with ``named``, in macros."""
    if not isinstance(condition, Chain):
        return latex(condition, named)
    parts = condition.parts
    if len(parts) == 2 and parts[0].is_number and not parts[1].is_number:  # beta >= 0, not 0 <= beta
        sign = SIGNS[condition.signs[0].replace("<", ">")]
        return f"{latex(parts[1], named)} {sign} {latex(parts[0], named)}"
    text = latex(parts[0], named)
    for sign, part in zip(condition.signs, parts[1:], strict=True):
        text += f" {SIGNS[sign]} {latex(part, named)}"
    return text
