"""Points of a domain: the proof that a claim is about something."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, pairwise

import sympy
from sympy import Basic, Eq, Expr, Integer, Number, Rational, Symbol

_INTEGERS = (1, 2, 3, 4, 5, 8)
_REALS = (
    Integer(0), Rational(1, 2), Integer(1), Rational(1, 10), Rational(-1, 10),
    Integer(2), Rational(9, 10), Integer(-1), Integer(10),
)  # fmt: skip


def find_point(domain: Basic, symbols: Sequence[Symbol]) -> dict[Symbol, Expr] | None:
    """A point of ``domain``, or None if no candidate lies in it.

    Candidates are small numbers, the numbers that the domain mentions, their neighbours and their
    midpoints, and roots of its equations; each symbol's candidates are tried after the ones before it are put in.

    >>> from maskproof.theory.symbols import i, j
    >>> find_point(sympy.And(j < i, i > 40), (i, j))
    {i: 41, j: 1}
    """
    if domain is sympy.false:
        return None
    if not symbols:
        return {} if domain is sympy.true else None
    symbol, rest = symbols[0], symbols[1:]
    for value in _candidates(domain, symbol):
        try:
            inside = domain.subs(symbol, value)
        except TypeError:  # the domain compares what has no real value there
            continue
        if inside is sympy.false:
            continue
        point = find_point(inside, rest)
        if point is not None:
            return {symbol: value, **point}
    return None


def _candidates(domain: Basic, symbol: Symbol) -> Iterator[Expr]:
    mentioned = sorted(domain.atoms(Number))
    seen: set[Expr] = set()
    for value in chain(_ordinary(symbol), _near(mentioned), _roots(domain, symbol)):
        if value not in seen and _admissible(symbol, value):
            seen.add(value)
            yield value


def _ordinary(symbol: Symbol) -> Iterable[Number]:
    return map(Integer, _INTEGERS) if symbol.is_integer else _REALS


def _near(mentioned: Sequence[Number]) -> Iterator[Number]:
    for value in mentioned:
        yield from (value, value + 1, value - 1, value + 2, value - 2)
    for low, high in pairwise(mentioned):
        yield (low + high) / 2


def _roots(domain: Basic, symbol: Symbol) -> Iterator[Expr]:
    """Where an equation of the domain between polynomials in ``symbol`` alone holds."""
    for equation in sorted(domain.atoms(Eq), key=str):
        difference = equation.lhs - equation.rhs
        if difference.free_symbols == {symbol} and difference.is_polynomial(symbol):
            yield from sympy.real_roots(sympy.Poly(difference, symbol), multiple=True)


def _admissible(symbol: Symbol, value: Expr) -> bool:
    """Whether ``value`` satisfies the assumptions of ``symbol``."""
    return not any(
        required is True and getattr(value, f"is_{name}") is False
        for name, required in symbol.assumptions0.items()
        if name in ("integer", "positive", "nonnegative", "real")
    )
