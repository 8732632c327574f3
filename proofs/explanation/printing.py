"""Formulas as Python that needs NumPy and the functions S, A, M and G of a layer and two positions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sympy import Expr
from sympy.printing.numpy import NumPyPrinter
from sympy.printing.pycode import PythonCodePrinter

from maskproof.theory.quantities import Quantity


class Code(NumPyPrinter):
    """SymPy's NumPy printer with quantities, each a call that carries the suffix of its model.

    >>> from sympy import Sum
    >>> from maskproof.theory import Score, i, k
    >>> Code({}).doprint(Sum(Score(2, i, k), (k, 1, i)))
    'sum(S(2, i, k) for k in range(1, i + 1))'
    """

    def __init__(self, suffixes: Mapping[Any, str]) -> None:
        super().__init__({"fully_qualified_modules": True, "strict": True})
        self._suffixes = suffixes

    def factor(self, expr: Expr) -> str:
        """A formula that may stand in a product."""
        text = self.doprint(expr)
        return text if expr.is_Symbol or text.isdecimal() else f"({text})"

    def _print_Quantity(self, expr: Quantity) -> str:
        places = ", ".join(self._print(part) for part in expr.args[:3])
        return f"{expr.letter}{self._suffixes.get(expr.args[3:], '')}({places})"

    def _loops(self, expr: Any) -> str:
        return " ".join(
            f"for {self._print(index)} in range({self._print(low)}, {self._print(high + 1)})"
            for index, low, high in reversed(expr.limits)
        )

    def _print_Sum(self, expr: Any) -> str:
        return f"sum({self._print(expr.function)} {self._loops(expr)})"

    def _print_Product(self, expr: Any) -> str:
        return f"numpy.prod([{self._print(expr.function)} {self._loops(expr)}], axis=0)"

    def _print_Piecewise(self, expr: Any) -> str:
        return PythonCodePrinter._print_Piecewise(self, expr)  # type: ignore[arg-type]  # only the case that applies
