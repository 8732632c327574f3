"""Ways to write a term so that its sign shows."""

from __future__ import annotations


import sympy
from sympy import Basic, Expr, Ge, Gt, Integer, Lt, Mul, exp

from proofs.search.lines import Given, Labels, Lines
from theory.quantities import Quantity


def exponentials(lines: Lines, s: Basic, given: Given) -> Labels:
    """Lines that compare the exponentials in ``s`` with 1 and with one another."""
    exponents = {part.args[0] for part in s.atoms(exp)} | ({Integer(1)} if s.has(sympy.E) else set())
    exponents = {e for e in exponents if not e.has(Quantity) and not (e / 2 in exponents or e / 3 in exponents)}
    if not any(e.free_symbols for e in exponents):
        return ()
    found = []
    ordered = sorted((*exponents, Integer(0)), key=str)
    for low in ordered:
        for high in ordered:
            if low == high:
                continue
            for weak, strict in ((Ge, Gt),):
                relation = (
                    strict if lines.follows(strict(high, low), given)
                    else weak if lines.follows(weak(high, low), given) else None
                )  # fmt: skip
                if relation is not None and (high.free_symbols or low.free_symbols):
                    found.append(lines.add(relation(exp(high), exp(low), evaluate=False), "exponential", (), given))
    return tuple(found)


def signed(lines: Lines, difference: Expr, given: Given) -> Expr | None:
    """The difference as a product of factors that are positive at sight, as far as they are; None if it isn't one."""
    if difference.has(Quantity, sympy.Sum, sympy.Limit):
        return None
    factors: list[Expr] = []
    for factor in Mul.make_args(sympy.factor(difference)):
        flipped = factor.is_Add and lines.follows(Lt(factor, 0), given)
        factors += [Integer(-1), -factor] if flipped else [factor]
    number = Mul(*(f for f in factors if f.is_number))
    rest = [f for f in factors if not f.is_number]
    return Mul(number, *rest, evaluate=False) if rest else None


