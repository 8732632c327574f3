"""Variances and covariances of single-input scores against derivatives of the literal layer."""

from __future__ import annotations

import random
from typing import Any

import mpmath
import pytest
import sympy
from sympy import Rational

from maskproof.theory import finite_width as fw
from maskproof.theory import fluctuation as fl
from maskproof.theory.errors import InvalidInput
from maskproof.theory.symbols import alpha, beta, d, i, j, k, lam

N = 12
_draw = random.Random(42)
PARAMETERS = [
    (0.0, 1.0, 1.0), (0.5, 8.0, 0.0), (0.0, 0.0, 0.0), (0.3, 0.0, 2.0),
    *(tuple(round(_draw.uniform(0, top), 3) for top in (0.95, 5, 3)) for _ in range(2)),
]  # fmt: skip
ROUNDING = 1e-12  # double precision at the end of both routes, a few digits lost to cancellation


def evaluator(expression: Any, *positions: Any) -> Any:
    return sympy.lambdify((*positions, alpha, beta, lam), expression, cse=True)


@pytest.mark.parametrize("parameters", PARAMETERS, ids=str)
def test_every_variance_and_covariance_up_to_twelve_tokens(parameters: tuple[float, ...], jets_of: Any) -> None:
    slopes = jets_of(*parameters).slopes
    variance = evaluator(fl.score_covariance(i, j), i, j)
    covariance = evaluator(fl.score_covariance(i, j, k), i, j, k)
    factor = (1 - parameters[0]) ** 2
    for query in range(2, N + 1):
        expected = factor * slopes[:, query - 1].T @ slopes[:, query - 1]
        for early in range(1, query):
            found = variance(query, early, *parameters)
            assert found == pytest.approx(expected[early - 1, early - 1], rel=ROUNDING, abs=ROUNDING)
            for late in range(early + 1, query):
                found = covariance(query, early, late, *parameters)
                assert found == pytest.approx(expected[early - 1, late - 1], rel=ROUNDING, abs=ROUNDING)


def test_variance_of_a_difference(jets_of: Any) -> None:
    parameters = PARAMETERS[-1]
    slopes = jets_of(*parameters).slopes
    found = evaluator(fl.difference_variance(), i, j, k)(11, 4, 7, *parameters)
    expected = (1 - parameters[0]) ** 2 * ((slopes[:, 10, 6] - slopes[:, 10, 3]) ** 2).sum()
    assert found == pytest.approx(expected, rel=ROUNDING)


def test_numbers_may_come_in_any_order() -> None:
    assert fl.score_covariance(7, 3, 5) == fl.score_covariance(7, 5, 3)
    assert fl.score_covariance(7, 3, 3) == fl.score_covariance(7, 3)


def at(expression: Any, *model: Any) -> Any:
    """The expression in 30-digit arithmetic, for numbers alpha, beta, lam."""
    with mpmath.workdps(30):
        return sympy.lambdify((alpha, beta, lam), expression, "mpmath", cse=True)(*map(mpmath.mpf, model))


def test_probability_of_the_order() -> None:
    """The normal distribution function at the ratio of mean and standard deviation."""
    gap = fw.limiting_score(9, 5) - fw.limiting_score(9, 4)
    shift = fw.score_correction(9, 5) - fw.score_correction(9, 4)
    v = fl.difference_variance(9, 4, 5)
    for corrected, mean in ((True, gap + shift / 64), (False, gap)):
        found = at(fl.order_probability(9, 4, 5, 64, corrected), 0, 1, 1)
        with mpmath.workdps(30):
            expected = mpmath.ncdf(at(mean, 0, 1, 1) * 8 / mpmath.sqrt(at(v, 0, 1, 1)))
        assert abs(found - expected) < 1e-25
        assert 0.5 < found < 1


def test_probability_rises_to_one_with_the_width() -> None:
    values = [at(fl.order_probability(9, 4, 5, width), 0, 1, 1) for width in (10**3, 10**5, 10**9)]
    assert values == sorted(values)
    assert values[-1] > 1 - 1e-9
    assert fl.order_probability().free_symbols == {i, j, k, d, alpha, beta, lam}


@pytest.mark.parametrize("probability", [Rational(3, 4), Rational(99, 100)])
def test_width_for_a_probability_inverts_it(probability: Any) -> None:
    model = ("0.2", 1, 1)
    width = int(at(fl.order_width(12, 10, 11, probability), *model))
    below, above = (at(fl.order_probability(12, 10, 11, w, corrected=False), *model) for w in (width, width + 1))
    assert below <= float(probability) <= above


def test_at_even_odds_any_width_will_do() -> None:
    assert fl.order_width(12, 10, 11, Rational(1, 2)) == 0


@pytest.mark.parametrize(
    ("call", "fault"),
    [
        (lambda: fl.score_covariance(3, 3), "j < i"),
        (lambda: fl.score_covariance(3, 1, 4), "j < i"),
        (lambda: fl.difference_variance(5, 3, 2), "j < k"),
        (lambda: fl.difference_variance(5, 3, 3), "j < k"),
        (lambda: fl.difference_variance(i, j, j), "j < k"),
        (lambda: fl.order_probability(5, 2, 5), "j < i"),
        (lambda: fl.order_probability(5, 2, 3, 0), "d >= 1"),
        (lambda: fl.order_width(5, 2, 3, Rational(1, 4)), "probability"),
        (lambda: fl.order_width(5, 2, 3, 1), "probability"),
    ],
)
def test_bad_values_are_refused(call: Any, fault: str) -> None:
    with pytest.raises(InvalidInput, match=fault):
        call()


def test_the_printed_formulas_define_what_they_use() -> None:
    for formula in (fl.score_variance_formula(), fl.score_covariance_formula()):
        text = formula.latex()
        for letter in (r"\theta_{a}", "C_{aa,aa}", "D_{a}", "r", "s"):
            assert f"{letter} &=" in text
        assert r"\nu_{a} &=" not in text  # not used, not defined
