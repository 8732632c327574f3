"""The rules of differentiation, against difference quotients."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest
from hypothesis import given

from maskproof.proofs.terms import terms as t
from maskproof.proofs.terms.derivatives import NotSmooth, derivative
from maskproof.proofs.terms.reading import read_term, read_variable
from maskproof.theory import symbols
from maskproof.theory.decoder import Decoder
from maskproof.theory.inputs import Equicorrelated
from maskproof.theory.quantities import Score
from tests.proofs.terms import numbers

a, c, i, k = numbers.a, numbers.c, numbers.i, numbers.k
FUNCTIONS = ["log", "sin", "cos", "sinh", "cosh", "tanh", "atan", "erf"]


def agrees(f, x, at):
    """That the derivative, where it has a value, is the slope to 12 digits of a central difference."""
    slope = numbers.value(derivative(f, x), at)
    with mpmath.workdps(numbers.DIGITS):
        step = Fraction(1, 10**15)
        ends = [numbers.value(f, {**at, x: Fraction(at[x]) + shift}) for shift in (step, -step)]
        if slope is None or None in ends or abs(slope) > 10**6:
            return False
        quotient = (ends[0] - ends[1]) / (2 * mpmath.mpf(step.numerator) / step.denominator)  # type: ignore[arg-type]
        assert abs(quotient - slope) < mpmath.mpf(10) ** -12 * (1 + abs(slope)) * (1 + abs(ends[0])) ** 3  # type: ignore[arg-type]
        return True


@given(f=numbers.terms, at=numbers.points)
def test_derivatives_are_slopes(f, at):
    at[c] += 1
    for x in (a, c):
        agrees(f, x, at)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("inner", [c, t.times(c, c, a), t.plus(t.Power(c, 2), t.Exp(a))])
def test_functions(name, inner):
    assert agrees(t.Apply(name, (inner,)), c, {a: Fraction(2, 7), c: Fraction(3, 5)})


@pytest.mark.parametrize(
    "f",
    [
        t.Power(a, 3), t.Power(a, 2), t.Power(a, -1), t.Power(a, -2), t.Power(t.plus(a, t.ONE), 0), t.Root(a), t.Exp(a),
        t.times(a, t.Exp(a), t.Root(a)), t.Sum(t.times(a, k), k, t.ONE, i), t.Product(t.plus(a, k), k, t.ONE, i),
        t.Product(t.Sum(t.Power(t.plus(a, k), 2), k, t.ONE, i), k, t.ONE, i), t.Apply("power", (a, i)),
        t.Apply("power", (a, c)), t.Apply("power", (c, a)), t.Apply("power", (t.number(2), a)),
        t.Product(t.plus(a, k, t.Variable("k'", t.Sort.POSITION)), k, t.ONE, i),
    ],
)  # fmt: skip
def test_rules(f):
    at = {a: Fraction(5, 7), c: Fraction(3, 5), i: 3, t.Variable("k'", t.Sort.POSITION): 7}
    assert agrees(f, a, at)


def test_second_derivatives():
    f = t.times(t.Power(a, 3), t.Exp(c))
    twice = derivative(t.Derivative(f, a), a)
    mixed = derivative(t.Derivative(f, a), c)
    at = {a: Fraction(2), c: Fraction(0)}
    assert numbers.close(numbers.value(twice, at), 12)
    assert numbers.close(numbers.value(mixed, at), 12)


@pytest.mark.parametrize(
    ("f", "x"),
    [
        (t.Power(i, 2), i),  # by an integer
        (t.ONE, i),
        (t.Apply("floor", (a,)), a),
        (t.Apply("abs", (a,)), a),
        (t.Apply("max", (a, c)), a),
        (t.Apply("gamma", (a,)), a),
        (t.Cases((t.Case(t.less(a, c), a), t.Case(t.TRUE, c))), a),
        (t.Sum(a, k, t.ONE, t.plus(i, a)), a),
        (t.Product(a, k, a, i), a),
        (t.Product(a, k, t.ONE, t.Apply("floor", (a,))), a),
        (t.Sum(a, k, t.ONE, t.Apply("floor", (a,))), a),
        (t.Limit(t.times(a, i), i), a),
        (
            read_term(Score(2, 2, 1, decoder=Decoder(), inputs=Equicorrelated(symbols.alpha))),
            read_variable(symbols.alpha),
        ),
        (t.times(a, t.Apply("floor", (a,))), a),
    ],
)
def test_what_is_not_smooth_is_refused(f, x):
    with pytest.raises(NotSmooth):
        derivative(f, x)


def test_what_does_not_mention_the_variable_is_constant():
    assert derivative(t.Apply("floor", (a,)), c) == t.ZERO
