"""The expansion in 1/d against exact expectations at many widths: the remainder falls as 1/d^2."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy

from maskproof.numerics import quadrature
from maskproof.numerics.gram import recursion
from maskproof.theory import finite_width as fw
from maskproof.theory import fluctuation as fl
from maskproof.theory.cosine import cosine_mgf
from maskproof.theory.decoder import Decoder
from maskproof.theory.inputs import Sphere
from maskproof.theory.symbols import alpha, beta, lam

WIDTHS = np.array([64, 128, 256, 512, 1024])
MODELS = [(0, 1, 1), (0.3, 1, 1), (0, 2.5, 0), (0.6, 3, 0.5)]


def number(expression: Any, model: tuple[float, float, float]) -> float:
    return float(sympy.lambdify((alpha, beta, lam), expression, cse=True)(*model))


def decoder_of(model: tuple[float, float, float]) -> Decoder:
    return Decoder(beta=model[1], residual=model[2])


def assert_falls_as(power: int, remainders: np.ndarray) -> None:
    """Remainders a/d^p + b/d^(p+1) + ..., each doubling of d divides by 2^p (1 + O(1/d)).

    A wrong coefficient of the order before would give the ratio 2^(p-1) instead, half as much; at d = 1024 the
    ratio is within 1.5 % of 2^p, and nearer to it than at d = 64.
    """
    assert np.all(np.abs(remainders) > 1e-12), "the remainder stands out of the rounding, about 1e-14"
    off = np.abs(remainders[:-1] / remainders[1:] / 2**power - 1)
    assert off[-1] < 0.015
    assert off[-1] < off[0]


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_scores_of_three_tokens(model: tuple[float, float, float]) -> None:
    exact = [quadrature.expected_attention(decoder_of(model), Sphere(int(d), model[0]), 3).scores[1] for d in WIDTHS]
    for query, key in ((2, 1), (3, 1), (3, 2)):
        limit, c = (number(f(query, key), model) for f in (fw.limiting_score, fw.score_correction))
        assert_falls_as(2, np.array([scores[query - 1, key - 1] for scores in exact]) - limit - c / WIDTHS)


@pytest.mark.parametrize("model", MODELS, ids=str)
@pytest.mark.parametrize("query", [2, 10])
def test_first_layer_weights(query: int, model: tuple[float, float, float]) -> None:
    exact = np.array(
        [quadrature.expected_weights(decoder_of(model), Sphere(int(d), model[0]), query).value[-1] for d in WIDTHS]
    )
    r = np.exp(model[1] * (1 - model[0]))
    c = number(fw.weight_correction(query, query), model)
    assert_falls_as(2, exact - r / (r + query - 1) - c / WIDTHS)


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_variances_of_three_tokens(model: tuple[float, float, float]) -> None:
    """d Var -> V, with a remainder that halves as d doubles."""
    expected = [number(fl.score_covariance(*keys), model) for keys in ((3, 1), (3, 2), (3, 1, 2))]
    gaps = []
    for width in WIDTHS:
        m = int(width) - (model[0] > 0)
        total, mean = np.zeros((2, 2)), np.zeros(2)
        for cosines, weights in quadrature._gram_rule(3, m, 24):
            kernel = model[0] + (1 - model[0]) * cosines
            kernel[:, range(3), range(3)] = 1
            scores = recursion(decoder_of(model), kernel, 2).scores[1, :, 2, :2]
            mean += weights @ scores
            total += np.einsum("g,gj,gk->jk", weights, scores, scores)
        covariance = width * (total - np.outer(mean, mean))
        gaps.append([covariance[0, 0], covariance[1, 1], covariance[0, 1]] - np.array(expected))
    for remainders in np.transpose(gaps):
        assert_falls_as(1, remainders)


@pytest.mark.parametrize("beta_value", [0.5, 3])
def test_the_generating_function_by_the_gauss_rule(beta_value: float) -> None:
    for width in (1, 2, 3, 64):
        z, w = quadrature.cosine_rule(width, 30)
        assert w @ np.exp(beta_value * z) == pytest.approx(float(cosine_mgf(beta_value, width)), rel=1e-13)
