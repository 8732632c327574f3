"""Letters for expressions that return all the time: r, s, g(i) and h(i) of the first layer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

from sympy import Basic, Eq, Function, Mul, Pow, Rational, Symbol, exp, false, sqrt, true

from theory import layer_one
from theory.symbols import alpha, beta, i, j, k, lam, m

G = Function("g")  # no assumptions: an inequality about them must not decide itself
H = Function("h")
S = Symbol("s", positive=True)
R = layer_one.r

DEFINITIONS: dict[str, Basic] = {
    "s": Eq(S, 1 + lam),
    "r": Eq(R, exp(beta * (1 - alpha))),
    "g": Eq(G(i), layer_one.g(i).xreplace({lam: S - 1})),
    "h": Eq(H(i) ** 2, layer_one.h_squared(i).xreplace({lam: S - 1})),
}


@dataclass(frozen=True)
class Abbreviated:
    """An expression in letters, and the names of those letters that it uses."""

    expression: Any
    letters: frozenset[str]


@cache
def _table() -> tuple[dict[Basic, Basic], ...]:
    positions = (i, j, j + 1, i + 1, j - 1, i - 1, k, m, m + 1)
    table: dict[Basic, Basic] = {}
    for x in positions:
        square = layer_one.h_squared(x)
        table |= {sqrt(square): H(x), 1 / sqrt(square): 1 / H(x), square: H(x) ** 2, -square: -(H(x) ** 2)}
        table |= {layer_one.g(x): G(x), -layer_one.g(x): -G(x)}
    return {exp(beta * (1 - alpha)): R}, table


def abbreviate(expression: Basic, rows: bool = True) -> Abbreviated:
    """Put letters for what they stand for; ``rows`` also g and h, which the first layer defines."""
    full = expression
    if expression in DEFINITIONS.values():
        return Abbreviated(full, frozenset())
    first, table = _table()
    expression = expression.xreplace(first)
    if rows:
        expression = expression.xreplace(table)
    expression = expression.replace(_is_norm, _norm)
    with_s = expression.xreplace({lam: S - 1})
    if len(str(with_s)) < len(str(expression)):
        expression = with_s
    if expression in (true, false):
        expression = full
    letters = set()
    if expression.has(S):
        letters.add("s")
    if expression.has(R):
        letters.add("r")
    for name, function in (("g", G), ("h", H)):
        if expression.atoms(function):
            letters |= {name, "r", "s"}
    return Abbreviated(expression, frozenset(letters))


def _is_norm(part: Basic) -> bool:
    """Whether ``part`` is a root of a product of squares h(x)^2."""
    return (
        isinstance(part, Pow)
        and part.exp in (Rational(1, 2), -Rational(1, 2))
        and all(isinstance(f, Pow) and f.exp == 2 and f.base.func == H for f in Mul.make_args(part.base))
    )


def _norm(part: Basic) -> Basic:
    """The root of squares of norms, which are positive."""
    return Mul(*(f.args[0] for f in Mul.make_args(part.args[0]))) ** (2 * part.args[1])


def definitions(letters: Iterable[str]) -> list[Basic]:
    """What the letters stand for, each before those that use it."""
    wanted = set(letters)
    return [meaning for name, meaning in DEFINITIONS.items() if name in wanted]
