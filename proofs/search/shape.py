"""Ways to write a term so that its sign shows."""

from __future__ import annotations

from math import comb, prod

import sympy
from sympy import Add, Basic, Expr, Ge, Gt, Integer, Lt, Mul, Pow, exp

from maskproof.proofs.search.lines import Given, Labels, Lines
from maskproof.theory.quantities import Quantity

MOST_TERMS = 2_000  # of a polynomial whose factors are looked for


def terms(e: Basic) -> int:
    """How many terms ``e`` has at most once its products and whole powers are multiplied out.

    >>> terms((sympy.Symbol("x") + 1) ** 40)
    41
    """
    if isinstance(e, Add):
        return sum(map(terms, e.args))
    if isinstance(e, Mul):
        return prod(map(terms, e.args))
    if isinstance(e, Pow) and isinstance(e.exp, Integer):
        size, base = abs(int(e.exp)), terms(e.base)
        return comb(size + base - 1, size)
    return 1


def exponentials(lines: Lines, s: Basic, given: Given) -> Labels:
    """Lines that compare the exponentials in ``s`` with 1 and with one another."""
    exponents = {part.args[0].as_coeff_Mul()[1] for part in s.atoms(exp) if not part.has(Quantity)}
    exponents |= {Integer(1)} if any(part.args[0].is_number for part in s.atoms(exp)) or s.has(sympy.E) else set()
    if not any(e.free_symbols for e in exponents):
        return ()
    found = []
    ordered = sorted((*exponents, Integer(0)), key=str)
    for low in ordered:
        for high in ordered:
            if low == high:
                continue
            relation = next((kind for kind in (Gt, Ge) if lines.follows(kind(high, low), given)), None)
            if relation is not None and (high.free_symbols or low.free_symbols):
                found.append(lines.add(relation(exp(high), exp(low), evaluate=False), "exponential", (), given))
    return tuple(found)


def signed(lines: Lines, difference: Expr, given: Given) -> Expr | None:
    """The difference as a product of factors that are positive at sight, as far as they are; None if it isn't one."""
    if difference.has(Quantity, sympy.Sum, sympy.Limit) or terms(difference) > MOST_TERMS:
        return None
    factors: list[Expr] = []
    for factor in Mul.make_args(sympy.factor(difference)):
        flipped = factor.is_Add and lines.follows(Lt(factor, 0), given)
        factors += [Integer(-1), -factor] if flipped else [factor]
    number = Mul(*(f for f in factors if f.is_number))
    rest = [f for f in factors if not f.is_number]
    return Mul(number, *rest, evaluate=False) if rest else None
