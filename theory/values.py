"""Exact values of parameters.

A parameter is an integer, a fraction, a decimal or a SymPy expression. A float is read as the
decimal it prints as (0.1 is one tenth, not the nearest binary fraction), so that every engine,
exact or not, works with the number that was written.
"""

from __future__ import annotations

import math
from fractions import Fraction
from numbers import Integral, Rational, Real
from typing import Any

import sympy

from maskproof.theory.errors import InvalidInput


def exact(value: object, name: str) -> sympy.Expr:
    """Return ``value`` as an exact, real SymPy expression.

    >>> exact(0.1, "alpha")
    1/10

    Raises:
        InvalidInput: the value is NaN, infinite, complex, or not a number at all.
    """
    if isinstance(value, bool):
        raise InvalidInput(f"{name} = {value!r}", f"'{name} is a real number'", "give a number")
    if isinstance(value, sympy.Expr):
        return _checked(value, name)
    if isinstance(value, Integral):
        return sympy.Integer(int(value))
    if isinstance(value, Rational):
        return sympy.Rational(value.numerator, value.denominator)
    if isinstance(value, Real):
        number = float(value)
        if not math.isfinite(number):
            raise InvalidInput(f"{name} = {number}", f"'{name} is finite'", "give a finite number")
        return sympy.Rational(Fraction(repr(number)))
    raise InvalidInput(f"{name} = {value!r}", f"'{name} is a real number'", "give a number or a SymPy expression")


def _checked(value: sympy.Expr, name: str) -> sympy.Expr:
    if value.has(sympy.nan, sympy.oo, sympy.zoo, -sympy.oo):
        raise InvalidInput(f"{name} = {value}", f"'{name} is finite'", "give a finite number")
    if value.is_real is False:
        raise InvalidInput(f"{name} = {value}", f"'{name} is real'", "give a real number")
    decimals = {number: sympy.Rational(decimal(number)) for number in value.atoms(sympy.Float)}
    return value.xreplace(decimals) if decimals else value


def as_fraction(number: Any) -> Fraction:
    """A rational number of SymPy or FLINT as Python's.

    >>> as_fraction(sympy.Rational(2, 3))
    Fraction(2, 3)
    """
    return Fraction(int(number.p), int(number.q))


def decimal(number: sympy.Float) -> Fraction:
    """The decimal that stands for a SymPy float: the shortest that Python prints for it, digits that were asked for.

    >>> decimal(sympy.Float(0.1535206505060032)), decimal(sympy.Float("0.1", 30))
    (Fraction(23987601641563, 156250000000000), Fraction(1, 10))

    Raises:
        InvalidInput: it is not finite.
    """
    if not number.is_finite:
        raise InvalidInput(f"{number}", "'a number is finite'", "give a finite number")
    double = float(number) if number._prec == 53 else None  # made from a Python float, or calculated with such
    known = double is not None and math.isfinite(double) and sympy.Float(double) == number
    return Fraction(repr(double) if known else str(number))  # what no double holds has the digits that were asked for


def positive_integer(value: object, name: str) -> int:
    """Return ``value`` as an int of at least 1.

    Raises:
        InvalidInput: it is not an integer, or below 1.
    """
    number = exact(value, name)
    if not number.is_Integer:
        raise InvalidInput(f"{name} = {value}", f"'{name} is an integer'", "give a whole number")
    if int(number) < 1:
        raise InvalidInput(f"{name} = {value}", f"{name} >= 1", "give a whole number from 1 up")
    return int(number)


def require(condition: object, what: str, violates: str, remedy: str) -> None:
    """Raise ``InvalidInput`` if ``condition`` is certainly false.

    A relation between symbols that SymPy leaves open is accepted here: it is for the domain of a
    claim to settle.
    """
    if condition is False or condition is sympy.false:
        raise InvalidInput(what, violates, remedy)
