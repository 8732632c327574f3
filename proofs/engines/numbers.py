"""Numbers as fractions where they are, as balls elsewhere; comparisons of them with three values.

A fraction is a ``fmpq``, a ball an ``arb``. What has no value is a ball that is not finite, and decides nothing.
"""

from __future__ import annotations

from fractions import Fraction

import sympy
from flint import arb, fmpq, fmpz

from maskproof.numerics import balls
from maskproof.theory.values import as_fraction

Real = fmpq | arb

LARGEST = 1 << 18  # bits of an exact power; larger ones are enclosed


def fraction(value: Fraction | int) -> fmpq:
    """A rational number of Python as one of FLINT."""
    return fmpq(value.numerator, value.denominator)


def printable(value: object) -> sympy.Rational | object:
    """A fraction as SymPy's, to be handed out; a ball as it is."""
    if isinstance(value, fmpq):
        return sympy.Rational(as_fraction(value))
    if isinstance(value, Fraction | int):
        return sympy.Rational(value.numerator, value.denominator)
    return value


def less(a: Real, b: Real) -> bool | None:
    """Whether a < b.

    >>> less(fmpq(1, 3), arb(1)), less(arb(1), arb(1)), less(arb(1, 0.5), arb(1))
    (True, False, None)
    """
    if isinstance(a, fmpq) and isinstance(b, fmpq):
        return bool(a < b)
    return balls.less(arb(a), arb(b))


def at_most(a: Real, b: Real) -> bool | None:
    """Whether a <= b."""
    truth = less(b, a)
    return None if truth is None else not truth


def equal(a: Real, b: Real) -> bool | None:
    """Whether a = b: True only between exact values, False between disjoint balls."""
    if isinstance(a, fmpq) and isinstance(b, fmpq):
        return bool(a == b)
    return balls.equal(arb(a), arb(b))


def compared(kind: str, a: Real, b: Real) -> bool | None:
    """Whether the relation of this kind ("<", "<=", "=", "!=") holds."""
    match kind:
        case "<":
            return less(a, b)
        case "<=":
            return at_most(a, b)
        case "=":
            return equal(a, b)
    same = equal(a, b)
    return None if same is None else not same


def integer(value: object) -> int | None:
    """The integer that a number is, None if it is not certainly one."""
    if isinstance(value, fmpq):
        return int(value.p) if value.q == 1 else None
    whole = value.unique_fmpz() if isinstance(value, arb) and value.is_exact() and value.is_integer() else None
    return None if whole is None else int(whole)


def power(base: Real, exponent: int) -> Real:
    """base^exponent; exact for fractions unless it is too large to write down.

    >>> power(fmpq(2, 3), -2), power(fmpq(0), 0), power(fmpq(0), -1)
    (9/4, 1, nan)
    """
    if isinstance(base, fmpq):
        if base == 0:
            return fmpq(int(exponent == 0)) if exponent >= 0 else arb.nan()
        bits = int(abs(base.p)).bit_length() + int(base.q).bit_length()
        if bits * abs(exponent) <= LARGEST:
            return base**exponent
    elif exponent == -1:
        return 1 / base
    return arb(base) ** arb(exponent)


def root(x: Real) -> Real:
    """The square root, exact for squares of fractions.

    >>> root(fmpq(9, 4))
    3/2
    """
    if isinstance(x, fmpq):
        if x < 0:
            return arb.nan()
        top, bottom = fmpz(x.p).isqrt(), fmpz(x.q).isqrt()
        if top * top == x.p and bottom * bottom == x.q:
            return fmpq(top, bottom)
    return arb(x).sqrt()


def exponential(x: Real) -> Real:
    """e^x, exact at 0."""
    if isinstance(x, fmpq) and x == 0:
        return fmpq(1)
    return arb(x).exp()
