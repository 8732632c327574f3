"""Limits that the search works out from the closed forms."""

from __future__ import annotations

import sys

import pytest
import sympy
from sympy import (
    And,
    Basic,
    Derivative,
    E,
    Eq,
    Expr,
    Gt,
    Implies,
    Le,
    Limit,
    Lt,
    Product,
    Rational,
    Sum,
    atan,
    exp,
    log,
    oo,
    sqrt,
)  # fmt: skip
from sympy.polys.polyerrors import PolynomialError

from maskproof.proofs import verify
from maskproof.proofs.engines.symbolic import examine, limits_put_in
from maskproof.proofs.search import limits
from maskproof.proofs.verdict import Verdict
from maskproof.theory import Claim, Decoder, Equicorrelated, Gram, Score, Weight
from maskproof.theory.layer_one import h_squared, r
from maskproof.theory.quantities import Mix
from maskproof.theory.symbols import alpha, beta, d, i, j, k, lam, m, n

PAPER = (alpha >= 0, alpha < 1)
CERTAIN = (Verdict.PROVED, Verdict.ENCLOSED)
ZERO, ALPHA = Equicorrelated(0), Equicorrelated(alpha)
DEFAULT, GENERAL = Decoder(), Decoder(beta=beta, residual=lam)
BARE, NO_RESIDUAL = Decoder(beta=0, residual=0), Decoder(beta=beta, residual=0)
UNNORMALISED = Decoder(norm="none", scale=2)
LAYERNORM = Decoder(norm="layernorm", scale="sqrt(d)", residual=0)
WEIGHT_K = Weight(1, i, k)
WEIGHT, GRAM, SCORE, MIX = Weight(1, i, j), Gram(1, i, j), Score(2, i, j), Mix(1, i, j)
_H = sqrt(h_squared(j).xreplace({lam: Rational(1), alpha: Rational(0), r: E}))

# body, its limit in i, a value that it does not have, decoder, inputs
CASES: dict[str, tuple[Expr, Expr, Expr, Decoder, Equicorrelated]] = {
    "A": (WEIGHT, Rational(0), Rational(1), DEFAULT, ALPHA),
    "A self": (Weight(1, i, i), Rational(0), Rational(1), GENERAL, ALPHA),
    "i A": (i * WEIGHT, Rational(1), Rational(2), DEFAULT, ALPHA),
    "i A self": (i * Weight(1, i, i), exp(beta * (1 - alpha)), exp(beta), GENERAL, ALPHA),
    "i A, LayerNorm": (i * WEIGHT, Rational(1), sqrt(d), LAYERNORM, ALPHA),
    "M": (MIX, Rational(0), lam, GENERAL, ALPHA),
    "M self": (Mix(1, i, i), lam, 1 + lam, GENERAL, ALPHA),
    "G": (GRAM, 4 * alpha, 2 * alpha, DEFAULT, ALPHA),
    "G self": (Gram(1, i, i), 1 + 3 * alpha, 4 * alpha, DEFAULT, ALPHA),
    "G, LayerNorm": (GRAM, d * alpha, alpha, LAYERNORM, ALPHA),
    "i G": (i * GRAM, 1 + lam, Rational(1), GENERAL, ZERO),
    "i G self": (i * Gram(1, i, i), Rational(1), Rational(2), BARE, ZERO),
    "i^2 A G": (i**2 * WEIGHT * GRAM, Rational(2), Rational(1), DEFAULT, ZERO),
    "S": (SCORE, Rational(0), Rational(1), DEFAULT, ZERO),
    "S, no residual": (SCORE, Rational(0), Rational(1), NO_RESIDUAL, ZERO),
    "S, fixed key": (Score(2, i, 1), Rational(0), Rational(1), NO_RESIDUAL, ZERO),
    "sqrt(i) S, no residual": (sqrt(i) * SCORE, sqrt(j), j, BARE, ZERO),
    "sqrt(i) S, fixed key": (sqrt(i) * Score(2, i, 1), Rational(1), Rational(2), Decoder(residual=0), ZERO),
    "i S": (i * SCORE, 2 / _H, 1 / _H, DEFAULT, ZERO),
    "S, no norm": (SCORE, 2 * alpha, 4 * alpha, UNNORMALISED, ALPHA),
    "a sum": (Weight(1, i, i) + GRAM, 4 * alpha, alpha, DEFAULT, ALPHA),
    "a row": (Sum(WEIGHT_K, (k, 1, i)), Rational(1), Rational(0), DEFAULT, ALPHA),
    "a row of layer three": (Sum(Weight(3, i, k), (k, 1, i)), Rational(1), Rational(2), GENERAL, ALPHA),
    "a row without its last": (Sum(WEIGHT_K, (k, 1, i - 1)), Rational(1), Rational(0), DEFAULT, ALPHA),
    "i times the first three": (i * Sum(WEIGHT_K, (k, 1, 3)), Rational(3), Rational(2), DEFAULT, ZERO),
    "i times the first j": (i * Sum(WEIGHT_K, (k, 1, j)), j, j - 1, DEFAULT, ZERO),
    "i times a weight of layer two": (i * Weight(2, i, j), Rational(1), Rational(2), Decoder(beta=0), ALPHA),
    "a difference of scores": (SCORE - Score(2, i, 1), Rational(0), Rational(1), BARE, ZERO),
}
every_case = pytest.mark.parametrize(("body", "value", "wrong", "decoder", "inputs"), CASES.values(), ids=CASES)


def _claim(statement: Basic, decoder: Decoder, inputs: Equicorrelated, *domain: Basic) -> Claim:
    said = (*domain, *(PAPER if inputs is ALPHA else ()), *((d >= 2,) if decoder.norm == "layernorm" else ()))
    return Claim("test", statement, And(*said), decoder=decoder, inputs=inputs)


def _is_proved(claim: Claim) -> bool:
    found = examine(claim, seed=0)
    assert found is not None
    assert found.outcome in (Verdict.PROVED, Verdict.UNKNOWN)
    return found.outcome is Verdict.PROVED


@every_case
def test_a_limit_is_proved(body: Expr, value: Expr, wrong: Expr, decoder: Decoder, inputs: Equicorrelated) -> None:
    assert _is_proved(_claim(Eq(Limit(body, i, oo), value), decoder, inputs))


@every_case
def test_a_wrong_limit_is_not(body: Expr, value: Expr, wrong: Expr, decoder: Decoder, inputs: Equicorrelated) -> None:
    assert not _is_proved(_claim(Eq(Limit(body, i, oo), wrong), decoder, inputs))


@every_case
def test_the_value_is_worked_out_from_the_closed_forms(
    body: Expr, value: Expr, wrong: Expr, decoder: Decoder, inputs: Equicorrelated
) -> None:
    claim = _claim(Eq(Limit(body, i, oo), wrong), decoder, inputs)
    ((_, found, _),) = limits(claim)
    point = {alpha: Rational(1, 5), beta: Rational(3, 2), lam: Rational(1, 3), j: Rational(4), d: Rational(9)}
    assert not found.has(r)
    assert abs((found - value).subs(point).evalf()) < 1e-12


def test_several_limits() -> None:
    one, other = Limit(Weight(1, i, i), i, oo), Limit(i * WEIGHT, i, oo)
    assert _is_proved(_claim(And(Eq(one, 0), Eq(other, 1)), DEFAULT, ALPHA))
    assert _is_proved(_claim(Eq(one + other, 1), DEFAULT, ALPHA))
    assert not _is_proved(_claim(Eq(one + other, 2), DEFAULT, ALPHA))


def test_a_limit_may_not_exist() -> None:
    assert not _is_proved(_claim(Eq(Limit(i**2 * Weight(1, i, i), i, oo), 1), DEFAULT, ALPHA))
    assert not [*limits(_claim(Eq(Limit(i**2 * Weight(1, i, i), i, oo), 1), DEFAULT, ALPHA))]


def test_beyond_all_queries_alpha_must_not_be_negative() -> None:
    claim = Claim("test", Eq(Limit(WEIGHT, i, oo), 0))
    assert not _is_proved(claim)


def test_a_domain_that_speaks_of_the_bound_variable() -> None:
    assert _is_proved(_claim(Eq(Limit(SCORE, i, oo), 0), BARE, ZERO, j < i))


def test_numerical_engines_see_the_value() -> None:
    claim = _claim(Eq(Limit(i * WEIGHT, i, oo), 2), DEFAULT, ALPHA)
    seen, words = limits_put_in(claim)
    assert "Limit" not in seen.statement.heads
    assert words == "the kernel derives that Limit(i*A1[i,j], i -> oo) = 1"


def test_without_residual_at_alpha_zero_the_norms_vanish() -> None:
    """Scores tend to zero there; the theorem about saturation does not apply."""
    claim = _claim(Eq(Limit(SCORE, i, oo), 0), NO_RESIDUAL, ZERO)
    assert _is_proved(claim)


def test_a_sum_without_a_closed_form_has_no_known_limit() -> None:
    body = Sum(1 / (i + k), (k, 1, i))
    claim = _claim(Eq(Limit(body, i, oo), log(2) * Limit(i * WEIGHT, i, oo)), DEFAULT, ALPHA)
    assert not _is_proved(claim)
    assert Limit(body, i, oo) not in {limit for limit, *_ in limits(claim)}


@pytest.mark.parametrize("refusal", [PolynomialError("odd generators"), NotImplementedError("no"), ValueError("no")])
def test_what_sympy_can_not_do_is_no_derivation(refusal: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise refusal

    monkeypatch.setattr(sys.modules["maskproof.proofs.search.limits"], "_leading_quotient", refuse)
    claim = _claim(Eq(Limit(i * WEIGHT, i, oo), 1), DEFAULT, ALPHA)
    found = examine(claim, seed=0)
    assert found is not None
    assert found.outcome is Verdict.UNKNOWN
    assert "SymPy" in found.detail
    assert not [*limits(claim)]


TO_ZERO, TO_SCORE = Limit(1 / k, k, oo), Limit(Score(1, 2, 1) + 1 / i, i, oo)
HIDDEN = And(j <= 3, n <= 3)  # whether query 2 sees key j, or a sum begins after its end, is open there


@pytest.mark.parametrize(
    ("statement", "domain"),
    [
        (Eq(TO_ZERO / alpha, 0), And(alpha >= -1, alpha <= 1)),
        (Eq(TO_ZERO / alpha, 0), Eq(alpha, 0)),
        (Gt(TO_ZERO / alpha, 0), Eq(alpha, 0)),
        (Le(TO_ZERO * Score(2, 2, j), 0), HIDDEN),
        (Lt(TO_ZERO * Score(2, 2, j), 20), HIDDEN),
        (Eq(Sum(Limit(m / (k + m), k, oo), (m, j, n)), 0), HIDDEN),
        (Implies(Lt(TO_ZERO / alpha, -1), alpha > 5), And(alpha >= -1, alpha <= 1)),
        (Lt((1 / alpha) ** TO_ZERO + alpha, 3), And(alpha >= 0, alpha <= 1)),
    ],
)
def test_what_stands_beside_a_limit_still_needs_a_value(statement: Basic, domain: Basic) -> None:
    assert verify(Claim("test", statement, domain)).verdict is Verdict.UNKNOWN


@pytest.mark.parametrize(
    "statement",
    [
        Lt(atan(TO_SCORE), Rational(11, 14)),
        Lt(TO_SCORE**3, 1),
        Lt(exp(TO_SCORE), exp(1)),
        Lt(TO_SCORE + TO_SCORE**3, 2, evaluate=False),
    ],
)
def test_alpha_keeps_to_the_models_whose_limit_it_is(statement: Basic) -> None:
    """At alpha = 1 or 2, where these fail, the inputs are dependent or no inputs at all."""
    assert verify(Claim("test", statement)).verdict is not Verdict.REFUTED
    assert verify(Claim("test", statement, And(alpha >= 0, alpha <= Rational(9, 10)))).verdict is Verdict.ENCLOSED
    assert verify(Claim("test", statement, And(alpha >= 0, alpha <= 1))).verdict is not Verdict.ENCLOSED


@pytest.mark.parametrize("of", [Sum, Product])
def test_a_position_that_is_counted_through_is_not_the_one_of_the_same_name(of: type[Basic]) -> None:
    """The score of token one with itself is 1, with others 0: outside, m is never 1."""
    each = Limit(Score(1, m, 1) + 1 / k, k, oo)
    whole, rest = Sum(each, (m, 1, 3)), Sum(each, (m, 2, 3))
    claims = [
        Claim("false", Lt(whole, Rational(1, 2)), And(m >= 2, m <= 3), inputs=ZERO),
        Claim("true", Eq(whole, 1), And(m >= 2, m <= 3), inputs=ZERO),
        Claim("false product", Eq(of(1 + each, (m, 1, 3)), 1), And(m >= 2, m <= 3), inputs=ZERO),
        Claim("true rest", Eq(rest, 0), m <= 3, inputs=ZERO),
    ]
    verdicts = {result.id: result.verdict for result in verify(claims)}
    assert all(verdicts[name] not in CERTAIN for name in verdicts if name.startswith("false"))
    assert all(verdicts[name] is not Verdict.REFUTED for name in verdicts if name.startswith("true"))


def test_limits_of_what_numbers_do_not_know() -> None:
    """Of a limit, a sum of ever more terms, a derivative, cases: no idea is no error."""
    bodies = [
        Limit(i / (i + j), i, oo),
        Sum(1 / k**2, (k, 1, j)),
        Derivative(alpha / j, alpha),
        sympy.Piecewise((1 / j, alpha > 0), (2 / j, True)),
    ]
    for body in bodies:
        result = verify(Claim("test", Gt(Limit(body, j, oo), -1, evaluate=False), And(alpha >= 0, alpha < 1)))
        assert result.verdict in (Verdict.UNKNOWN, Verdict.ENCLOSED, Verdict.PROVED)


def test_roots_of_numbers_in_an_instance_of_a_law() -> None:
    """SymPy writes sqrt(2) sqrt(3) as sqrt(6), which the kernel takes for a root of its own."""
    half = Equicorrelated(Rational(1, 2))
    for key, value in ((1, sqrt(2) / 2), (2, sqrt(6) / 3), (3, sqrt(3) / 2), (5, sqrt(30) / 6)):
        limit = Limit(Score(2, i, key), i, oo)
        assert _is_proved(_claim(Eq(limit, value), BARE, half))
        assert not _is_proved(_claim(Eq(limit, value * Rational(9, 10)), BARE, half))
