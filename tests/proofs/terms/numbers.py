"""Values of terms by mpmath at 60 digits, from their meaning alone; and random terms."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import mpmath
from hypothesis import strategies as st
from mpmath import mpf

from maskproof.proofs.terms import terms as t
from maskproof.proofs.terms.terms import Sort

DIGITS = 60
a, b, c = (t.Variable(name, sort) for name, sort in (("a", Sort.REAL), ("b", Sort.NONNEGATIVE), ("c", Sort.POSITIVE)))
i, j, k = (t.Variable(name, Sort.POSITION) for name in "ijk")
POINT = {a: st.fractions(-3, 3, max_denominator=7), b: st.fractions(0, 3, max_denominator=7)}
POINT |= {c: st.fractions(Fraction(1, 7), 3, max_denominator=7), i: st.integers(1, 5), j: st.integers(1, 5)}
points = st.fixed_dictionaries(POINT)


def value(term: t.Term, at: Mapping[t.Variable, object]) -> mpf | None:
    """The value of a term at a point; None where it has none, or one too large to be calculated to 60 digits."""
    with mpmath.workdps(DIGITS):
        try:
            return _value(term, at)
        except ZeroDivisionError:
            return None


def _value(term: t.Term, at: Mapping[t.Variable, object]) -> mpf:  # noqa: C901  one case for each kind of term
    match term:
        case t.Number(value=number):
            return mpf(number.numerator) / number.denominator
        case t.Variable():
            number = Fraction(at[term])  # type: ignore[arg-type]
            return mpf(number.numerator) / number.denominator
        case t.Constant(name="pi"):
            return +mpmath.pi
        case t.Add(terms=terms):
            return mpmath.fsum(_value(part, at) for part in terms)
        case t.Mul(factors=factors):
            return mpmath.fprod([_value(part, at) for part in factors])
        case t.Power(base=base, exponent=exponent):
            below = _value(base, at)
            if abs(below) < mpf(10) ** (10 - DIGITS) and exponent < 0:
                raise ZeroDivisionError
            return below**exponent
        case t.Root(radicand=radicand):
            inside = _value(radicand, at)
            if inside < -(mpf(10) ** (10 - DIGITS)):
                raise ZeroDivisionError
            return mpmath.sqrt(max(inside, mpf(0)))
        case t.Exp(exponent=exponent):
            power = _value(exponent, at)
            if abs(power) > 40:  # 60 digits would not do
                raise ZeroDivisionError
            return mpmath.exp(power)
        case t.Sum(body=body, index=index, low=low, high=high):
            first, last = int(_value(low, at)), int(_value(high, at))
            return mpmath.fsum(_value(body, {**at, index: n}) for n in range(first, last + 1))
        case t.Product(body=body, index=index, low=low, high=high):
            first, last = int(_value(low, at)), int(_value(high, at))
            return mpmath.fprod([_value(body, {**at, index: n}) for n in range(first, last + 1)])
        case t.Apply(name=name, arguments=arguments):
            inner = [_value(argument, at) for argument in arguments]
            if name == "log" and inner[0] <= 0:
                raise ZeroDivisionError
            return mpmath.power(*inner) if name == "power" else getattr(mpmath, name)(*inner)
    raise NotImplementedError(term)


def close(x: mpf, y: mpf) -> bool:
    """Whether two values agree to 30 digits; both are calculated to 60."""
    with mpmath.workdps(DIGITS):
        return abs(x - y) <= mpf(10) ** -30 * (1 + abs(x) + abs(y))


_LEAVES = st.sampled_from([a, b, c, i, j, *map(t.number, (-2, -1, 0, 1, 2, 3)), t.Number(Fraction(1, 2))])


def _grow(below: st.SearchStrategy[t.Term]) -> st.SearchStrategy[t.Term]:
    several = st.lists(below, min_size=2, max_size=3).map(tuple)
    return st.one_of(
        several.map(t.Add),
        several.map(t.Mul),
        st.builds(t.Power, below, st.sampled_from([-2, -1, 2, 3])),
        below.map(t.Root),
        below.map(t.Exp),
        below.map(lambda body: t.Sum(t.times(body, k), k, t.ONE, i)),
    )


terms = st.recursive(_LEAVES, _grow, max_leaves=8)
smooth = terms  # every kind that is drawn has a rule of differentiation
