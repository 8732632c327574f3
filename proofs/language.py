"""The language that the kernel reads: every term is a real number wherever its denominators and radicands allow.

SymPy can build far more than that: complex numbers, infinities, functions with jumps, symbols that are
assumed to be anything, sums over infinite or backward ranges, indices that reach into their own bounds. None
of it enters a derivation, so no rule has to think of it.
"""

from __future__ import annotations

from typing import Any

import sympy
from sympy import Add, And, Basic, Derivative, Implies, Limit, Mul, Pow, Rational, Sum, Symbol, exp, oo
from sympy.core.relational import Eq, Ge, Gt, Le, Lt, Ne
from sympy.core.symbol import Str

from theory.quantities import InputGram, Quantity, Record

# What a symbol may be: real, non-negative, positive, or a position.
KINDS = tuple(
    Symbol("x", **assumed).assumptions0
    for assumed in ({"real": True}, {"nonnegative": True}, {"positive": True}, {"integer": True, "positive": True})
)
_ARITHMETIC = (Add, Mul, exp, Rational, type(sympy.E))
_LOGIC = (Eq, Ne, Lt, Le, Gt, Ge, And, Implies, type(sympy.true), type(sympy.false))
_NAMED = (Quantity, InputGram, Record, Str)


def foreign(e: Any) -> Any:
    """The first part of ``e`` that is not in the language, or None.

    >>> from theory.symbols import alpha
    >>> foreign(1 / (1 - alpha)), foreign(sympy.log(alpha))
    (None, log(alpha))
    """
    match e:
        case Symbol():
            return None if e.assumptions0 in KINDS else e
        case Pow():
            halves = isinstance(e.exp, Rational) and e.exp.q in (1, 2)
            return foreign(e.base) if halves else e
        case Sum():
            return e if _is_odd_sum(e) else _first((e.function, *(bound for limit in e.limits for bound in limit)))
        case Limit():
            f, x, point, _ = e.args
            return _first((f, x)) if point is oo and isinstance(x, Symbol) and not _reaches_model(f, {x}) else e
        case Derivative():
            return _first((e.expr, *e.variables))
        case _ if isinstance(e, (*_ARITHMETIC, *_LOGIC, *_NAMED)):
            return _first(e.args)
    return e


def _first(parts: tuple[Any, ...]) -> Any:
    return next((odd for odd in map(foreign, parts) if odd is not None), None)


def _is_odd_sum(total: Sum) -> bool:
    """Whether a sum is not one over positions, between bounds that its indices do not reach into."""
    if any(len(limit) != 3 for limit in total.limits):
        return True
    indices = {index for index, _, _ in total.limits}
    if len(indices) != len(total.limits) or not all(index.is_integer and index.is_positive for index in indices):
        return True
    for _, low, high in total.limits:
        if not (low.is_integer and low.is_positive and high.is_integer):
            return True
        if indices & (low.free_symbols | high.free_symbols):
            return True
    return _reaches_model(total.function, indices)


def _reaches_model(e: Basic, bound: set[Symbol]) -> bool:
    """Whether a bound symbol occurs in the decoder or the inputs of a quantity."""
    models = (part for q in e.atoms(Quantity, InputGram) for part in q.args if isinstance(part, Record))
    return any(bound & model.free_symbols for model in models)
