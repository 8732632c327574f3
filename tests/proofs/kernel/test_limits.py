"""Limits at infinity."""

from __future__ import annotations

import pytest
from sympy import Eq, Limit, oo, sqrt

from proofs.kernel.known import Rejected
from tests.proofs.kernel.steps import G, K, derive, rejected, shown
from theory.derivation import Step
from theory.symbols import alpha, i, j, lam


def to_infinity(e):
    return Limit(e, i, oo)


def test_rational_limit():
    shown(Eq(to_infinity((2 * i + 1) / (i + lam)), 2), "rational_limit")
    shown(Eq(to_infinity(1 / i), 0), "rational_limit")
    rejected(Eq(to_infinity((2 * i + 1) / (i + lam)), 1), "rational_limit")
    rejected(Eq(to_infinity(i), 0), "rational_limit")
    rejected(Eq(to_infinity(1 / (alpha * i + 1)), 0), "rational_limit")  # alpha may be zero
    rejected(Eq(to_infinity((i * alpha) / (alpha * i)), 1), "rational_limit", given=[i > 3])


def test_limit_algebra():
    known = Eq(to_infinity(G(1, i, j)), alpha), Eq(to_infinity(G(1, i, i)), lam + 1)
    shown(Eq(to_infinity(G(1, i, j) / sqrt(G(1, i, i))), alpha / sqrt(lam + 1)), "limit_algebra", *known)
    rejected(Eq(to_infinity(G(1, i, i) / G(1, i, j)), (lam + 1) / alpha), "limit_algebra", *known)


def test_infinity_times_zero_is_not_zero():
    """i (G - alpha) need not tend to zero although G tends to alpha."""
    known = Eq(to_infinity(G(1, i, j)), alpha)
    rejected(Eq(to_infinity(i * (G(1, i, j) - alpha)), 0), "limit_algebra", known)


def test_limit_of_equal():
    steps = [
        Step("same", Eq(K(i, j), alpha), "input_gram", given=(j < i,)),
        Step("limit", Eq(to_infinity(alpha), alpha), "rational_limit"),
    ]
    goal = Step("goal", Eq(to_infinity(K(i, j)), alpha), "limit_of_equal", ("same", "limit"))
    assert to_infinity(alpha).has(Limit)
    derive(*steps, goal, given=(alpha >= 0, alpha < 1))
    with pytest.raises(Rejected, match="need not hold for large i"):
        derive(*steps, goal)  # only so many vectors have a negative cosine
    never = Step("same", Eq(K(i, j), alpha), "input_gram", given=(i < j,))
    with pytest.raises(Rejected, match="large"):
        derive(never, *steps[1:], goal, given=(alpha >= 0, alpha < 1))
