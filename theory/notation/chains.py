"""Conditions as readers write them: 1 <= j < i instead of a conjunction of inequalities."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import sympy
from sympy import And, Basic, Expr, Symbol
from sympy.core.relational import Ge, Gt, Le, Lt

from maskproof.theory.symbols import beta, lam, m


@dataclass(frozen=True)
class Chain:
    """Expressions joined by < and <=, from small to large; ``signs`` has one entry fewer."""

    parts: tuple[Expr, ...]
    signs: tuple[str, ...]


Condition = Chain | Basic


def conditions(domain: Basic, symbols: Iterable[Symbol] = ()) -> list[Condition]:
    """The conditions of ``domain``, inequalities joined into chains where they meet.

    ``symbols`` are those quantified over: what their assumptions say (a position is at least 1,
    beta and lam are not negative) is said as well where the domain leaves it out.

    >>> from maskproof.theory.symbols import i, j
    >>> conditions(j < i, (i, j))
    [Chain(parts=(1, j, i), signs=('<=', '<'))]
    """
    links: list[Chain] = []
    rest: list[Condition] = []
    for part in And.make_args(domain):
        if isinstance(part, (Lt, Le)):
            links.append(_link(part.lhs, part.rhs, "<" if isinstance(part, Lt) else "<="))
        elif isinstance(part, (Gt, Ge)):
            links.append(_link(part.rhs, part.lhs, "<" if isinstance(part, Gt) else "<="))
        elif part is not sympy.true:
            rest.append(part)
    chains = _joined(links)
    chains += [chain for symbol in symbols if (chain := _assumed(symbol, chains, domain)) is not None]
    chains = [_from_one(chain) for chain in _joined(chains)]
    return [*sorted(chains, key=_reading_order), *sorted(rest, key=str)]


def _link(low: Expr, high: Expr, sign: str) -> Chain:
    """One inequality; j + 1 < i is written j < i - 1, so that it can join others at j."""
    shift, symbol = low.as_coeff_Add()
    if symbol.is_Symbol and symbol.is_integer and shift.is_Integer and not high.is_number:
        return Chain((symbol, high - shift), (sign,))
    return Chain((low, high), (sign,))


def _joined(links: list[Chain]) -> list[Chain]:
    chains = sorted(links, key=str)
    merged = True
    while merged:
        merged = False
        for first in chains:
            for second in chains:
                if first is not second and first.parts[-1] == second.parts[0] and not first.parts[-1].is_number:
                    chains.remove(first)
                    chains.remove(second)
                    chains.append(Chain(first.parts + second.parts[1:], first.signs + second.signs))
                    merged = True
                    break
            if merged:
                break
    return chains


def _assumed(symbol: Symbol, chains: list[Chain], domain: Basic) -> Chain | None:
    """The bound that a symbol's assumptions give, unless the domain bounds it from below."""
    bounded = any(symbol in part.free_symbols for chain in chains for part in chain.parts[1:])
    bounded = bounded or any(symbol == chain.parts[0] for chain in chains)  # opened with 1 below
    fixed = any(isinstance(p, sympy.Eq) and symbol in (p.lhs, p.rhs) for p in And.make_args(domain))
    if fixed:
        return None
    if symbol in (beta, lam, m):
        return None if bounded else Chain((sympy.Integer(0), symbol), ("<=",))
    if symbol.is_integer and symbol.is_positive and not bounded:
        return Chain((sympy.Integer(1), symbol), ("<=",))
    return None


def _from_one(chain: Chain) -> Chain:
    """Open a chain of positions with 1."""
    first = chain.parts[0]
    if isinstance(first, Symbol) and first.is_integer and first.is_positive:
        return Chain((sympy.Integer(1), *chain.parts), ("<=", *chain.signs))
    return chain


def _reading_order(chain: Chain) -> tuple:
    """Positions first, then the parameters alpha, beta, lam."""
    symbols = [s for part in chain.parts for s in part.free_symbols if isinstance(s, Symbol)]
    whole = any(symbol.is_integer for symbol in symbols)
    return (not whole, -len(chain.parts) if whole else 0, str(chain.parts[-1]), str(chain.parts))
