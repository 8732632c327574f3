"""Sums with so few terms that they can be written out."""

from __future__ import annotations

from sympy import Add, Basic, Eq, Expr, Integer, Sum

from maskproof.proofs.search.lines import Given, Lines, NoIdea

MOST = 12  # terms of a sum that is written out


def equation(left: Basic, right: Basic) -> Eq:
    """left = right, as it is written."""
    return Eq(left, right, evaluate=False)


def single(lines: Lines, total: Sum, given: Given) -> str:
    """A line that says what a sum from a to a is: in that range the index is a, and the term does not change."""
    *inner, (k, low, _) = total.limits  # SymPy writes a sum of sums as one of several indices
    f = Sum(total.function, *inner) if inner else total.function
    term = f.xreplace({k: low})
    same = lines.add(equation(term, term), "identity", (), given)
    here = lines.add(equation(f, term), "equals", (same,), (*given, Eq(k, low)))
    constant = Sum(term, (k, low, low))
    premises = (
        lines.add(equation(total, constant), "termwise", (here,), given),
        lines.add(equation(constant, term), "constant_sum", (), given),
    )
    return lines.add(equation(total, term), "identity", premises, given)


def written_out(lines: Lines, total: Sum, given: Given) -> str:
    """A line that says that a sum between two numbers is its terms, added.

    Raises:
        NoIdea: the ends are no numbers, or far apart.
    """
    f, (k, low, high) = total.function, total.limits[0]
    if not (isinstance(low, Integer) and isinstance(high, Integer) and 0 <= high - low < MOST):
        raise NoIdea(f"{total} is not written out")

    def up_to(end: Expr) -> Sum:
        return Sum(f, (k, low, end))

    splits = [
        lines.add(equation(up_to(end), up_to(end - 1) + f.xreplace({k: end})), "split_last", (), given)
        for end in map(Integer, range(int(high), int(low), -1))
    ]
    terms = Add(*(f.xreplace({k: Integer(place)}) for place in range(int(low), int(high) + 1)))
    return lines.add(equation(total, terms), "identity", (*splits, single(lines, up_to(low), given)), given)
