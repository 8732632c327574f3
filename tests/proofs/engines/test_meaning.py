"""When a statement has a value, and which: hidden keys, sums, cases, derivatives, vectors that vanish."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from typing import Any

import pytest
import sympy
from sympy import (
    And,
    Derivative,
    Eq,
    Ge,
    Gt,
    Implies,
    Le,
    Lt,
    Ne,
    Not,
    Or,
    Piecewise,
    Product,
    Rational,
    Sum,
    exp,
    sqrt,
)

from maskproof.proofs.engines.evaluate import evaluator
from maskproof.proofs.engines.polynomials import Budget
from maskproof.proofs.engines.question import question
from maskproof.proofs.engines.truth import Undefined
from maskproof.proofs.terms.reading import Unreadable, read_variable
from maskproof.theory import (
    Bidirectional,
    Claim,
    Decoder,
    Equicorrelated,
    Gram,
    Mix,
    Prefix,
    Score,
    SlidingWindow,
    Sphere,
    Weight,
    alpha,
    beta,
    i,
    j,
    k,
    lam,
    n,
)
from maskproof.theory.quantities import InputGram

ZERO = Equicorrelated(0)
WHOLE = sympy.Symbol("w", integer=True)


def truth(statement: Any, /, decoder: Any = None, inputs: Any = ZERO, budget: int = 10**6, **point: Any) -> Any:
    asked = question(Claim("t", statement, decoder=decoder or Decoder(), inputs=inputs))
    named = {v.name: v for v in asked.variables}
    reals = {named[x]: Fraction(str(y)) for x, y in point.items() if x in named and not named[x].sort.integral}
    whole = {named[x]: y for x, y in point.items() if x in named and named[x].sort.integral}
    return evaluator(asked.statement).at(reals).decide(whole, budget=Budget(budget)).truth


def why(*arguments: Any, **options: Any) -> str:
    found = truth(*arguments, **options)
    assert isinstance(found, Undefined)
    return found.at({}, "statement")


# --- keys that the mask hides ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mask", "query", "key"), [(None, 2, 3), (SlidingWindow(2), 5, 3), (SlidingWindow(2), 3, 4), (Prefix(2), 3, 4)]
)
def test_weight_and_mix_of_a_hidden_key_are_zero_and_its_score_has_no_value(mask, query, key):
    decoder = Decoder(mask=mask) if mask is not None else Decoder()
    point = {"i": query, "j": key, "n": 6}
    for layer in (1, 2, 3):
        assert truth(Eq(Weight(layer, i, j), 0), decoder, **point) is True
        assert truth(Eq(Mix(layer, i, j), 0), decoder, **point) is True
        assert "fails in S" in why(Ne(Score(layer, i, j), 9), decoder, **point)
        assert truth(Ge(Gram(layer, i, j), 0), decoder, **point) is True


def test_the_diagonal_of_the_mix_holds_the_residual():
    assert truth(Eq(Mix(1, i, i), Weight(1, i, i) + Rational(5, 2)), Decoder(residual=Rational(5, 2)), i=4) is True


def test_every_key_is_seen_without_a_mask():
    assert truth(Lt(Score(2, i, j), 1), Decoder(mask=Bidirectional()), i=1, j=3, n=3) is True
    assert "j <= n fails" in why(Lt(Score(2, i, j), 1), Decoder(mask=Bidirectional()), i=1, j=3, n=2)


# --- sums and products -----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [Sum, Product])
def test_a_range_may_be_empty_but_not_run_backward(kind):
    empty = 0 if kind is Sum else 1
    assert truth(Eq(kind(k, (k, 4, i)), empty), i=3) is True
    assert "4 <= i + 1 fails" in why(Eq(kind(k, (k, 4, i)), empty), i=2)
    assert "i/2 is an integer fails" in why(Eq(kind(k, (k, 1, i / 2)), 1), i=3)


def test_a_part_of_a_sum_without_a_value_says_where():
    assert "k = 3: k - 3 != 0 fails in 1/(k - 3)" in why(Lt(Sum(1 / (k - 3), (k, 1, i)), 9), i=5)
    assert truth(Lt(Sum(1 / (k - 3), (k, 4, i)), 9), i=5) is True
    assert truth(Lt(Sum(1 / (k - 3), (k, 1, i)), 9), i=2) is True


def test_what_does_not_move_with_the_index_still_needs_a_value():
    inner = Sum(Sum(1 / (alpha - 1), (n, 1, k - 1)), (k, 1, i))  # the inner sum is empty at k = 1
    assert truth(Eq(inner, 0), i=1, alpha=1) is True
    assert "alpha - 1 != 0 fails" in why(Eq(inner, 0), i=2, alpha=1)


def test_an_index_hides_a_variable_of_the_same_name():
    assert truth(Eq(Sum(k, (k, 1, i)) + k, 13), i=4, k=3) is True
    assert truth(Eq(Sum(abs(WHOLE), (WHOLE, -i, i)), i * (i + 1)), i=4) is True


def test_a_sum_over_positions_needs_them_all_visible():
    assert truth(Lt(Sum(Score(2, i, k), (k, 1, i)), i), i=4) is True
    assert "k = 5" in why(Lt(Sum(Score(2, i, k), (k, 1, i + 1)), i), i=4)


# --- cases -----------------------------------------------------------------------------------------


def test_only_the_case_that_is_taken_needs_a_value():
    cases = Piecewise((0, Eq(i, 3)), (1 / (i - 3), True))
    assert truth(Lt(cases, 2), i=3) is True
    assert truth(Eq(cases, 1), i=4) is True
    partial = Piecewise((1, i < 3), (1 / (i - 4), i < 5))
    assert truth(Eq(partial, 1), i=2) is True
    assert "i - 4 != 0 fails" in why(Eq(partial, 1), i=4)
    assert "(i < 3) or (i < 5) fails" in why(Eq(partial, 1), i=5)


def test_cases_inside_a_sum_are_looked_at_for_every_index():
    total = Sum(Piecewise((1 / (k - 2), k > 1), (5, True)), (k, 1, i))
    assert truth(Eq(total, 5), i=1) is True
    assert "k = 2" in why(Eq(total, 5), i=2)


def test_an_open_condition_leaves_the_case_open_and_an_exact_one_settles_it():
    cases = Piecewise((1, sqrt(2) * sqrt(i) >= sqrt(6)), (2, True))
    assert truth(Eq(cases, 1), i=3) is True
    assert truth(Eq(cases, 1), i=3, budget=-1) is None
    assert truth(Eq(cases, 2), i=2) is True


# --- connectives -----------------------------------------------------------------------------------


def test_the_order_of_parts_does_not_matter():
    hole, true, false = Lt(1 / (i - 3), 5), Lt(i, 9), Lt(9, i)
    for join, settled, other in ((Or, true, false), (And, false, true)):
        for parts in permutations((hole, settled)):
            assert truth(join(*parts, evaluate=False), i=3) is (settled is true)
        for parts in permutations((hole, other)):
            assert isinstance(truth(join(*parts, evaluate=False), i=3), Undefined)
    for premise, conclusion, expected in (
        (hole, true, True),
        (false, hole, True),
        (hole, false, None),
        (true, hole, None),
    ):
        found = truth(Implies(premise, conclusion, evaluate=False), i=3)
        assert found is True if expected else isinstance(found, Undefined)
    assert isinstance(truth(Not(hole, evaluate=False), i=3), Undefined)


# --- derivatives -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("f", "slope"),
    [
        (alpha**3 - 2 * alpha, 3 * alpha**2 - 2),
        (1 / (1 + alpha), -1 / (1 + alpha) ** 2),
        (sqrt(1 + alpha), 1 / (2 * sqrt(1 + alpha))),
        (exp(alpha) * sympy.sin(alpha), exp(alpha) * (sympy.sin(alpha) + sympy.cos(alpha))),
        (sympy.log(1 + alpha**2), 2 * alpha / (1 + alpha**2)),
        (Sum(alpha**k, (k, 1, i)), Sum(k * alpha ** (k - 1), (k, 1, i))),
        (Product(1 + alpha * k, (k, 1, i)), Product(1 + alpha * k, (k, 1, i)) * Sum(k / (1 + alpha * k), (k, 1, i))),
        (sympy.tanh(alpha), 1 - sympy.tanh(alpha) ** 2),
        (sympy.atan(alpha), 1 / (1 + alpha**2)),
    ],
    ids=str,
)
def test_derivatives_are_what_they_are(f, slope):
    for value in ("1/3", "-2/7", "2"):
        difference = Derivative(f, alpha) - slope
        assert truth(Lt(abs(difference), Rational(1, 10**40)), i=4, alpha=value) is True
        assert truth(Gt(abs(difference - Rational(1, 10**20)), Rational(1, 10**21)), i=4, alpha=value) is True


def test_a_derivative_needs_what_it_is_made_of():
    assert "fails in" in why(Lt(Derivative(sqrt(alpha), alpha), 5), alpha=0)
    assert truth(Lt(sqrt(alpha), 5), alpha=0) is True
    assert truth(Eq(Derivative(alpha**2, alpha), 0), alpha=0) is True


@pytest.mark.parametrize(
    "f", [abs(alpha), sympy.Max(alpha, 0), Piecewise((0, alpha < 1), (1, True)), sympy.sign(alpha) * alpha], ids=str
)
def test_what_is_not_smooth_has_no_derivative(f):
    with pytest.raises(Unreadable, match="smooth"):
        truth(Lt(Derivative(f, alpha, evaluate=False), 5), alpha=2)


# --- vectors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [Score, Weight, Gram, Mix])
def test_three_vectors_with_cosine_minus_nine_tenths_do_not_exist(kind):
    law = Equicorrelated(Rational(-9, 10))
    assert "vectors with cosine -9/10 exist for i tokens fails" in why(Lt(kind(1, i, 1), 9), inputs=law, i=3)
    assert not isinstance(truth(Lt(kind(1, i, 1), 9), inputs=law, i=2), Undefined)
    assert "exist for 3 tokens" in why(Lt(InputGram(3, 3, law), 9))


@pytest.mark.parametrize("tokens", [2, 3, 4, 7])
def test_the_smallest_cosine_is_one_of_vectors(tokens):
    law = Equicorrelated(Rational(-1, tokens - 1))
    assert truth(Lt(Score(1, i, 1), 0), inputs=law, i=tokens) is True
    assert isinstance(truth(Lt(Score(1, i, 1), 0), inputs=law, i=tokens + 1), Undefined)


@pytest.mark.parametrize("tokens", [2, 3, 5])
def test_a_mean_that_vanishes_cannot_be_normalised(tokens):
    law, decoder = Equicorrelated(Rational(-1, tokens - 1)), Decoder(beta=0, residual=0)
    assert truth(Eq(Gram(1, i, i), 0), decoder, law, i=tokens) is True
    assert truth(Lt(Weight(1, i, 1), 9), decoder, law, i=tokens) is True
    for kind in (Score, Weight, Gram):
        assert "none vanishes before layer 2 fails" in why(Lt(kind(2, i, 1), 9), decoder, law, i=tokens)
        assert truth(Lt(kind(2, i, 1), 9), decoder, law, i=tokens - 1) is True
    assert truth(Lt(Gram(2, i, i), 9), Decoder(beta=0, residual=0, norm="none"), law, i=tokens) is True
    assert truth(Lt(Weight(2, i, 1), 9), Decoder(beta=0), law, i=tokens) is True  # the residual keeps it alive


def test_a_later_token_that_vanishes_does_not_spoil_earlier_ones():
    asked = question(
        Claim("t", Lt(Weight(2, i, 1), 1), decoder=Decoder(beta=0, residual=0), inputs=Equicorrelated(Rational(-1, 3)))
    )
    at = evaluator(asked.statement).at({}, horizon=9)
    for position, expected in ((2, True), (3, True)):
        assert at.decide({read_variable(i): position}).truth is expected


def test_parameters_that_no_decoder_has():
    assert "0 <= alpha fails" in why(Lt(Gram(1, 2, 1), 9), Decoder(residual=alpha), alpha=-1)
    assert "0 < alpha fails" in why(Lt(Gram(1, 2, 1), 9), Decoder(scale=alpha), alpha=0)
    general = Decoder(beta=beta, residual=lam)
    assert truth(Lt(Gram(1, 2, 1), 9), general, alpha=0, beta=0, lam=0) is True


def test_random_inputs_are_no_numbers():
    assert truth(Lt(Score(2, i, 1), 1), inputs=Sphere(8), i=3) is None
    assert not question(Claim("t", Le(Score(2, i, 1), 1), inputs=Sphere(8))).deterministic
    assert question(Claim("t", Ge(i, 1))).deterministic


def test_a_claim_is_read_once():
    claim = Claim("t", Lt(Score(2, i, j), 1))
    assert question(claim) is question(claim)
    assert [v.name for v in question(claim).variables] == ["alpha", "i", "j"]
