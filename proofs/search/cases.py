"""Splits at the diagonal: the key before the query, at it, or after it."""

from __future__ import annotations

from collections.abc import Callable

from sympy import Basic, Eq, Expr, Integer, Le, Lt, Poly, Symbol

from maskproof.proofs.search.forms import Forms, Open
from maskproof.proofs.search.lines import Given, NoIdea, put
from maskproof.theory.quantities import Gram

Show = Callable[[Basic, Given], str]


def split(forms: Forms, s: Basic, given: Given, reason: Open, show: Show) -> str:
    """A line that says ``s``, from the cases in which the positions of a quantity can stand.

    Raises:
        NoIdea: the domain does not say that the key is visible.
    """
    quantity, lines = reason.quantity, forms.lines
    query, key = quantity.query, quantity.key
    for h in given:
        if isinstance(h, Eq) and isinstance(h.lhs, Symbol) and (key - query).xreplace({h.lhs: h.rhs}).expand() == 0:
            return lines.add(s, "equals", (show(put(s, {h.lhs: h.rhs}), given),), given)
    if lines.follows(Le(key, query), given):
        start = _meet_at_start(key, query)
        before = show(s, (*given, Lt(key, query) if start is None else Lt(1, start)))
        return lines.add(s, "cases", (before, _at(forms, s, given, quantity.key, query, show)), given)
    if not isinstance(quantity, Gram):
        raise NoIdea(f"whether {key} <= {query} is not known, so {quantity} need not have a value")
    if lines.follows(Le(query, key), given):
        after = show(s, (*given, Lt(query, key)))
        return lines.add(s, "cases", (_at(forms, s, given, key, query, show), after), given)
    visible, hidden = (show(s, (*given, case)) for case in (Le(key, query), Lt(query, key)))
    return lines.add(s, "cases", (visible, hidden), given)


def _at(forms: Forms, s: Basic, given: Given, key: Expr, query: Expr, show: Show) -> str:
    """``s`` where key and query are the same."""
    symbol, value = _solved(key, query)
    case = (*given, Eq(symbol, value))
    label = show(put(s, {symbol: value}), case)
    return forms.lines.add(s, "equals", (label,), case)


def _meet_at_start(key: Expr, query: Expr) -> Symbol | None:
    """The symbol that is 1 where key and query are the same, if they are polynomials in it that are not linear."""
    difference = (key - query).expand()
    if len(difference.free_symbols) != 1 or not difference.is_polynomial():
        return None
    (symbol,) = difference.free_symbols
    polynomial = Poly(difference, symbol)
    met = [root for root in polynomial.ground_roots() if root.is_Integer and root > 0]
    return symbol if polynomial.degree() > 1 and met == [1] else None  # type: ignore[return-value]


def _solved(key: Expr, query: Expr) -> tuple[Symbol, Expr]:
    """key = query as an equation for one of the symbols in it."""
    start = _meet_at_start(key, query)
    if start is not None:
        return start, Integer(1)
    for symbol in sorted((key - query).free_symbols, key=lambda x: x.name, reverse=True):
        slope = (key - query).diff(symbol)
        if slope in (1, -1):
            return symbol, (symbol - slope * (key - query)).expand()  # type: ignore[return-value, operator]
    raise NoIdea(f"{key} = {query} can't be solved for a position")
