"""One input's order of scores: against closed integrals, the closed form of theory, and simulated vectors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import sympy
from scipy.integrate import quad
from scipy.special import ndtr
from scipy.stats import norm, t

from maskproof.numerics.fluctuation import (
    ordered_row_probability,
    ordered_row_width,
    orthant_probability,
    row_differences,
)
from maskproof.numerics.gram import equicorrelated, recursion
from maskproof.theory import finite_width, fluctuation
from maskproof.theory.decoder import Decoder
from maskproof.theory.errors import InvalidInput
from maskproof.theory.symbols import alpha, beta, i, j, k, lam

# ------------------------------------------------------------------------------ means and covariances


@pytest.mark.parametrize("layer", [2, 3])
def test_covariance_and_correction_by_differences_of_the_recursion(layer: int) -> None:
    """Central differences with steps whose errors are below 1e-8 (slopes) and 1e-5 (curvatures)."""
    decoder, value, n = Decoder(beta=2, residual=0.5), 0.3, 5
    row = row_differences(decoder, value, n, layer)

    def differences(kernel: np.ndarray) -> np.ndarray:
        return np.diff(recursion(decoder, kernel, layer).scores[-1, -1, : n - 1])

    centre = equicorrelated(value, n)
    slopes, bends = [], []
    for q in range(n):
        for p in range(q):
            pair = np.zeros((n, n))
            pair[p, q] = pair[q, p] = 1
            up, down = differences(centre + 1e-4 * pair), differences(centre - 1e-4 * pair)
            slopes.append((up - down) / 2e-4)
            bends.append((up - 2 * differences(centre) + down) / 1e-8)
    np.testing.assert_allclose(row.limits, differences(centre), rtol=0, atol=1e-14)
    np.testing.assert_allclose(row.covariance, 0.49 * np.transpose(slopes) @ np.array(slopes), rtol=0, atol=1e-7)
    np.testing.assert_allclose(row.corrections, 0.245 * np.sum(bends, axis=0), rtol=0, atol=1e-5)


@pytest.mark.parametrize("model", [(0.0, 1.0, 1.0), (0.45, 2.5, 0.3)])
def test_the_closed_form_of_layer_two(model: tuple[float, float, float]) -> None:
    query = 9
    arguments = (i, j, alpha, beta, lam)
    formulas = (finite_width.score_correction(), finite_width.limiting_score(), fluctuation.score_covariance())
    correction, limit, variance = (sympy.lambdify(arguments, formula, cse=True) for formula in formulas)
    covariance = sympy.lambdify((i, j, k, alpha, beta, lam), fluctuation.score_covariance(i, j, k), cse=True)
    keys = range(1, query)
    matrix = np.diag([variance(query, key, *model) for key in keys])
    for early in keys:
        for late in range(early + 1, query):
            matrix[early - 1, late - 1] = matrix[late - 1, early - 1] = covariance(query, early, late, *model)
    step = np.diff(np.eye(query - 1), axis=0)
    row = row_differences(Decoder(beta=model[1], residual=model[2]), model[0], query)
    np.testing.assert_allclose(row.covariance, step @ matrix @ step.T, rtol=0, atol=1e-13)
    np.testing.assert_allclose(row.limits, step @ [limit(query, key, *model) for key in keys], rtol=0, atol=1e-14)
    expected = step @ [correction(query, key, *model) for key in keys]
    np.testing.assert_allclose(row.corrections, expected, rtol=0, atol=1e-13)


# ------------------------------------------------------------------------------- orthant probabilities


def _equicorrelated_orthant(mean: np.ndarray, rho: float) -> float:
    """P(all positive) for unit variances and correlation rho: given the shared factor, a product."""
    value, _ = quad(
        lambda x: norm.pdf(x) * np.prod(ndtr((mean + math.sqrt(rho) * x) / math.sqrt(1 - rho))),
        -9, 9, epsabs=1e-13, limit=200,
    )  # fmt: skip
    return value


ORTHANTS: list[tuple[Any, Any, float]] = [
    ([0.3], [[4.0]], float(ndtr(0.15))),
    ([0, 0], [[1, -0.7], [-0.7, 1]], 0.25 + math.asin(-0.7) / (2 * math.pi)),
    ([0, 0, 0], [[1, 0.5, 0.2], [0.5, 1, -0.4], [0.2, -0.4, 1]],
     0.125 + (math.asin(0.5) + math.asin(0.2) + math.asin(-0.4)) / (4 * math.pi)),
    ([0] * 9, 0.5 * np.eye(9) + 0.5, 0.1),
    (np.linspace(-1, 2, 6), 0.7 * np.eye(6) + 0.3, _equicorrelated_orthant(np.linspace(-1, 2, 6), 0.3)),
    (np.linspace(1, 3, 20), 0.2 * np.eye(20) + 0.8, _equicorrelated_orthant(np.linspace(1, 3, 20), 0.8)),
]  # fmt: skip
# Student's law with 15 degrees of freedom, since the standard error comes from 16 shifts; over all six cases a right
# routine fails with probability 1e-4. The seed is fixed: it passes always or never.
THRESHOLD = t.isf(1e-4 / (2 * len(ORTHANTS)), 15)


@pytest.mark.parametrize(("mean", "covariance", "exact"), ORTHANTS)
def test_orthant_probabilities(mean: Any, covariance: Any, exact: float) -> None:
    value, standard_error = orthant_probability(np.array(mean, float), np.array(covariance, float))
    assert abs(value - exact) <= THRESHOLD * standard_error + 1e-12  # rounding, and the quadrature of "exact"
    assert standard_error < 1e-4  # so a relative error of 1 % would be seen


def test_scale_and_order_of_the_components_do_not_matter() -> None:
    mean, covariance = np.array([0.4, -0.2, 0.1]), np.array([[2, 0.3, 0], [0.3, 1, 0.4], [0, 0.4, 3]])
    value = orthant_probability(mean, covariance).value
    scale, order = np.diag([10.0, 0.01, 1]), [2, 0, 1]
    scaled = orthant_probability(scale @ mean, scale @ covariance @ scale).value
    shuffled = orthant_probability(mean[order], covariance[np.ix_(order, order)]).value
    assert scaled == pytest.approx(value, rel=1e-12)
    assert shuffled == pytest.approx(value, rel=1e-12)
    assert orthant_probability(mean, covariance, seed=5) == orthant_probability(mean, covariance, seed=5)


@pytest.mark.parametrize(
    ("mean", "covariance", "fault"),
    [
        ([0, 0], [[1, 1], [1, 1]], "positive definite"),
        ([0, 0], [[1, 0]], "shapes"),
        ([math.nan], [[1]], "finite"),
    ],
)
def test_orthants_refuse(mean: Any, covariance: Any, fault: str) -> None:
    with pytest.raises(InvalidInput, match=fault):
        orthant_probability(np.array(mean, float), np.array(covariance, float))


# ----------------------------------------------------------------------------------------- whole rows


def test_the_width_inverts_the_probability() -> None:
    row = row_differences(Decoder(), 0, 6)
    width, standard_error = ordered_row_width(row)
    assert 0 < standard_error < 1e-3 * width
    found = ordered_row_probability(row, round(width), corrected=False)
    assert found.value == pytest.approx(0.5, abs=1e-4)


def test_a_row_of_two_is_always_ordered_and_a_row_of_three_more_often_than_not() -> None:
    two = row_differences(Decoder(), 0, 2)
    assert ordered_row_probability(two, 1) == (1, 0)
    assert ordered_row_width(two) == (0, 0)
    assert ordered_row_width(row_differences(Decoder(), 0, 3)) == (0, 0)


def test_rows_whose_limit_is_not_ordered_have_no_such_width() -> None:
    """Layer 3 at alpha = 0: the first failure of the limit is in row 27."""
    assert ordered_row_width(row_differences(Decoder(), 0, 8, layer=3)).value > 0
    assert np.all(row_differences(Decoder(), 0, 26, layer=3).limits > 0)
    with pytest.raises(InvalidInput, match="limiting scores increase"):
        ordered_row_width(row_differences(Decoder(), 0, 27, layer=3))


@pytest.mark.parametrize(
    ("call", "fault"),
    [
        (lambda: row_differences(Decoder(), 1, 5), "alpha < 1"),
        (lambda: row_differences(Decoder(), -0.1, 5), "alpha"),
        (lambda: row_differences(Decoder(), 0, 1), "i >= 2"),
        (lambda: row_differences(Decoder(), 0, 5, layer=1), "layer >= 2"),
        (lambda: row_differences(Decoder(norm="layernorm"), 0, 5), "limit"),
        (lambda: row_differences(Decoder(scale="sqrt(d)"), 0, 5), "limit"),
        (lambda: ordered_row_probability(row_differences(Decoder(), 0, 3), 0), "d >= 1"),
        (lambda: ordered_row_width(row_differences(Decoder(), 0, 4), 1), "probability < 1"),
    ],
)
def test_bad_values_are_refused(call: Any, fault: str) -> None:
    with pytest.raises(InvalidInput, match=fault):
        call()


# ---------------------------------------------------------------------------------- simulated vectors

# The Gaussian approximation is off by at most about 0.004 here (0.5 to 0.9 standard errors of the frequencies).
# Bonferroni over 2 models x (1 row + 3 pairs + 3 variances): a right prediction fails by chance with probability
# below 1e-4, while a probability wrong by 0.04, or a variance wrong by 12 %, is found with near certainty.
SAMPLES, WIDTH, LENGTH = 10_000, 512, 5
SIMULATION_THRESHOLD = norm.isf(1e-4 / (2 * 2 * 7))


@pytest.mark.parametrize("alpha_value", [0.0, 0.5])
def test_frequencies_in_simulated_vectors(alpha_value: float) -> None:
    row = row_differences(Decoder(), alpha_value, LENGTH)
    differences = np.diff(_last_row_scores(np.random.default_rng(7), alpha_value), axis=1)
    assert differences.shape == (SAMPLES, LENGTH - 2)

    deviations = np.sqrt(np.diagonal(row.covariance))
    predicted = [ordered_row_probability(row, WIDTH).value, *ndtr(math.sqrt(WIDTH) * row.mean(WIDTH) / deviations)]
    observed = [np.all(differences > 0, axis=1).mean(), *(differences > 0).mean(axis=0)]
    for p, frequency in zip(predicted, observed, strict=True):
        assert abs(frequency - p) <= SIMULATION_THRESHOLD * math.sqrt(p * (1 - p) / SAMPLES) + 0.004

    ratios = WIDTH * differences.var(axis=0, ddof=1) / np.diagonal(row.covariance)
    assert np.all(np.abs(ratios - 1) <= SIMULATION_THRESHOLD * math.sqrt(2 / SAMPLES) + 0.01)


def _last_row_scores(generator: np.random.Generator, alpha_value: float) -> np.ndarray:
    """S^(2)_ij of the last query, from token vectors; shape (SAMPLES, LENGTH - 1)."""
    scores = []
    for _ in range(0, SAMPLES, 500):
        g = generator.standard_normal((500, LENGTH + 1, WIDTH))
        u = g[:, :1] / np.linalg.norm(g[:, :1], axis=-1, keepdims=True)
        v = g[:, 1:] - np.sum(g[:, 1:] * u, axis=-1, keepdims=True) * u if alpha_value else g[:, 1:]
        v = v / np.linalg.norm(v, axis=-1, keepdims=True)
        x = math.sqrt(alpha_value) * u + math.sqrt(1 - alpha_value) * v
        logits = np.where(np.tri(LENGTH, dtype=bool), x @ x.swapaxes(1, 2), -np.inf)
        weights = np.exp(logits) / np.exp(logits).sum(axis=-1, keepdims=True)
        x = x + weights @ x
        y = x / np.linalg.norm(x, axis=-1, keepdims=True)
        scores.append((y[:, -1:] @ y[:, :-1].swapaxes(1, 2))[:, 0])
    return np.concatenate(scores)
