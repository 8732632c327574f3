"""Canonical forms and signs: what they show is true, and what is false they never show."""

from __future__ import annotations

import pytest
import sympy
from hypothesis import assume, given
from hypothesis import strategies as st
from sympy import E, Rational, Symbol, exp, sqrt

from proofs.algebra import Facts, identical
from theory.symbols import alpha, beta, i, j, k, lam

r = Symbol("r", positive=True)
FACTS = Facts.of([j < i, k <= j, alpha < 1, alpha >= 0, r >= 1])


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((alpha + 1) ** 2, alpha**2 + 2 * alpha + 1),
        (exp(beta * (1 - alpha)) * exp(alpha * beta), exp(beta)),
        (exp(beta / 2) ** 2, exp(beta)),
        (1 / (E + (i - 1) * exp(alpha)), exp(-alpha) / (exp(1 - alpha) + i - 1)),
        (sqrt(2 * alpha + 1) ** 2, 2 * alpha + 1),
        (1 / (sqrt(alpha + 1) - 1), (sqrt(alpha + 1) + 1) / alpha),
        (sqrt(alpha + 1) * sqrt(beta + 1), sqrt(1 + beta) * sqrt(1 + alpha)),
        (sqrt((alpha + 1) ** 2 + alpha), sqrt(alpha**2 + 3 * alpha + 1)),
    ],
)
def test_identities_are_recognised(left, right):
    assert identical(left, right)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (alpha, alpha + Rational(1, 10**30)),
        (sqrt(alpha**2), alpha),  # false for negative alpha
        (exp(alpha), 1 + alpha),
        (exp(alpha * beta), exp(alpha) * exp(beta)),
        (sqrt(alpha + beta), sqrt(alpha) + sqrt(beta)),
        (exp(beta) ** 2, exp(beta)),
        (1 / alpha, 1 / (alpha + 1)),
    ],
)
def test_what_differs_is_not_identified(left, right):
    assert not identical(left, right)


def test_division_by_an_expression_that_is_zero_identifies_nothing():
    zero = sympy.Pow((alpha + 1) ** 2 - alpha**2 - 2 * alpha - 1, -1)
    assert not identical(zero, zero + 1)


@pytest.mark.parametrize(
    "e", [i - 1, i - j - 1 + k, r + i - 1, r**2 - 1 + alpha, i - k, E - 2, 3 - E, 1 / (r + i), sqrt(r) + 1]
)
def test_non_negative_expressions_are_seen(e):
    assert FACTS.is_positive(e, strict=False)


@pytest.mark.parametrize("e", [i - j - 2, alpha - Rational(1, 10), 2 - r, E - 3, lam - alpha, -i, i - k - 2, alpha])
def test_no_sign_is_claimed_that_can_fail(e):
    assert not FACTS.is_positive(e)


def test_strictness_is_kept_apart():
    assert FACTS.is_positive(r - 1, strict=False)
    assert not FACTS.is_positive(r - 1)
    assert FACTS.is_positive(1 - alpha)
    assert not FACTS.is_positive(lam)


def test_integers_that_differ_differ_by_one():
    assert Facts.of([j < i]).is_positive(i - j - 1, strict=False)
    assert not Facts.of([alpha < lam]).is_positive(lam - alpha - 1, strict=False)


def test_a_root_has_a_sign_only_where_its_radicand_has():
    assert not Facts.of([]).is_positive(sqrt(alpha), strict=False)
    assert Facts.of([alpha > 0]).is_positive(sqrt(alpha))


def test_undefined_parts_are_found():
    assert FACTS.undefined(1 / (r + i)) is None
    assert FACTS.undefined(1 / (r - 1)) == r - 1
    assert FACTS.undefined(sqrt(alpha - 1)) == alpha - 1


_CONSTANTS = st.integers(-3, 3)


@given(c=st.lists(_CONSTANTS, min_size=6, max_size=6), data=st.data())
def test_a_sign_that_is_shown_holds_at_points(c, data):
    """Random quadratics: whatever ``is_positive`` accepts is positive at random admissible points."""
    e = c[0] + c[1] * i + c[2] * j + c[3] * i * j + c[4] * r + c[5] * alpha * r
    assume(FACTS.is_positive(e))
    key = data.draw(st.integers(1, 20))
    query = data.draw(st.integers(key + 1, 40))
    at = {
        j: key,
        i: query,
        r: 1 + data.draw(st.fractions(0, 50)),
        alpha: data.draw(st.fractions(0, Rational(99, 100))),
    }
    assert e.subs(at) > 0
