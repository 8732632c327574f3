"""Terms in floats at many points at once, for estimates that are floats themselves.

A part without quantities is worked out in balls and rounded once; only what is made of quantities is calculated here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce

import numpy as np
from flint import arb, fmpq
from numpy.typing import NDArray

from maskproof.numerics.arrays import Array
from maskproof.numerics.balls import working_precision
from maskproof.proofs.engines.ball_arithmetic import Balls
from maskproof.proofs.engines.compiler import Compiler
from maskproof.proofs.engines.numbers import Real, integer
from maskproof.proofs.engines.scene import Scene, Value
from maskproof.proofs.engines.truth import NotApplicable
from maskproof.proofs.engines.values import MOST_TERMS
from maskproof.proofs.terms import terms as t
from maskproof.proofs.terms.derivatives import derivative
from maskproof.proofs.terms.text import text

Columns = Mapping[t.Variable, Sequence[fmpq]]  # the values of each variable at all points
Entries = Callable[[t.Entry, NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]], Array]

PRECISION = 128  # bits of what is worked out before rounding

_FUNCTIONS: dict[str, Callable[..., Array]] = {
    "log": np.log, "sin": np.sin, "cos": np.cos, "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "atan": np.arctan,
    "abs": np.abs, "sign": np.sign, "floor": np.floor, "ceiling": np.ceil, "power": np.power,
    "max": lambda *values: reduce(np.maximum, values),
    "min": lambda *values: reduce(np.minimum, values),
}  # fmt: skip


class Floats:
    """Evaluates terms at a number of points.

    Args:
        count: the number of points.
        entries: gives the estimates of a quantity at rows and columns, shape (..., points), where it is asked for.
    """

    def __init__(self, count: int, entries: Entries) -> None:
        self.count, self.entries = count, entries
        self._plain: dict[t.Term, tuple[Compiler, Value]] = {}

    def value(self, term: t.Term, columns: Columns, asked: NDArray[np.bool_] | None = None) -> Array:
        """The values of a term, shape (..., points); only those at points that are ``asked`` for mean anything.

        Raises:
            NotApplicable: there is no numerical form of a part.
        """
        asked = np.ones(self.count, dtype=bool) if asked is None else asked
        if "Entry" not in term.heads:
            return np.array([float(arb(x)) for x in self.plain(term, columns, asked)])
        with np.errstate(all="ignore"):  # whoever takes the values looks whether they are finite
            return self._value(term, columns, asked)

    def _value(self, term: t.Term, columns: Columns, asked: NDArray[np.bool_]) -> Array:
        match term:
            case t.Add() | t.Mul():
                join = np.add if isinstance(term, t.Add) else np.multiply
                return reduce(join, (self.value(part, columns, asked) for part in term.parts))  # type: ignore[arg-type]
            case t.Power(base=base, exponent=exponent):
                return self.value(base, columns, asked) ** float(exponent)
            case t.Root(radicand=radicand):
                return np.sqrt(self.value(radicand, columns, asked))
            case t.Exp(exponent=exponent):
                return np.exp(self.value(exponent, columns, asked))
            case t.Sum() | t.Product():
                return self._series(term, columns, asked)
            case t.Derivative(body=body, variable=variable):
                return self.value(derivative(body, variable), columns, asked)
            case t.Entry():
                rows, keys = (self.whole(part, columns, asked) for part in (term.query, term.key))
                return self.entries(term, rows, keys, asked)
            case t.Apply(name=name, arguments=arguments) if name in _FUNCTIONS:
                return _FUNCTIONS[name](*(self.value(argument, columns, asked) for argument in arguments))
        raise NotApplicable(f"no numerical form of {text(term)}")

    def _series(self, term: t.Binder, columns: Columns, asked: NDArray[np.bool_]) -> Array:
        low, high = (self.whole(end, columns, asked) for end in (term.low, term.high))
        start = 0.0 if isinstance(term, t.Sum) else 1.0
        total: Array = np.full(self.count, start)
        if high[asked].max(initial=0) - low[asked].min(initial=0) > MOST_TERMS:
            raise NotApplicable(f"a sum of more than {MOST_TERMS} terms")
        for step in range(int(low[asked].min(initial=1)), int(high[asked].max(initial=0)) + 1):
            inside = asked & (low <= step) & (step <= high)
            body = self.value(term.body, {**columns, term.index: [fmpq(step)] * self.count}, inside)
            body = np.where(inside, body, start)
            total = total + body if isinstance(term, t.Sum) else total * body
        return total

    def whole(self, term: t.Term, columns: Columns, asked: NDArray[np.bool_]) -> NDArray[np.int64]:
        """The values of a term without quantities that is an integer; 1 where it is not asked for."""
        values = [integer(x) for x in self.plain(term, columns, asked)]
        if any(value is None and here for value, here in zip(values, asked, strict=True)):
            raise NotApplicable(f"{text(term)} is not an integer")
        return np.array([value if here else 1 for value, here in zip(values, asked, strict=True)], dtype=np.int64)

    def plain(self, term: t.Term, columns: Columns, asked: NDArray[np.bool_]) -> list[Real]:
        """The values of a term without quantities."""
        if term not in self._plain:
            compiler = Compiler(term)
            self._plain[term] = compiler, compiler.value(term, compiler.scope)
        compiler, value = self._plain[term]
        known: dict[tuple[str, ...], Real] = {}
        found: list[Real] = []
        with working_precision(PRECISION):
            for point in range(self.count):
                if not asked[point]:
                    found.append(arb.nan())
                    continue
                here = compiler.filled({variable: columns[variable][point] for variable in compiler.scope})
                key = tuple(map(str, here))
                if key not in known:
                    known[key] = value(Scene(here, Balls()))
                found.append(known[key])
        return found
