"""Exact expectations against other routes, and error estimates against actual errors."""

from __future__ import annotations

import math
from typing import Any

import mpmath
import numpy as np
import pytest
from scipy.stats import norm

from maskproof.numerics import quadrature
from maskproof.numerics.quadrature import (
    cosine_rule,
    expected_attention,
    expected_score_21,
    expected_weights,
)
from maskproof.theory.decoder import Bidirectional, Causal, Decoder, Prefix, Rope, SlidingWindow
from maskproof.theory.errors import InvalidInput
from maskproof.theory.inputs import Equicorrelated, SharedGaussian, Sphere

# ---------------------------------------------------------------------------------------------- the rules


@pytest.mark.parametrize("m", [1, 2, 3, 4, 8, 64, 1024])
def test_the_rule_has_the_moments_of_the_cosine(m: int) -> None:
    z, w = cosine_rule(m, 12)
    assert np.all(w > 0)
    assert np.all(np.abs(z) <= 1)
    expected = 1.0
    for q in range(11):  # E Z^(2q) = 1 * 3 * ... / (m (m+2) ...); odd moments vanish by symmetry
        assert w @ z ** (2 * q) == pytest.approx(expected, rel=1e-13)
        assert abs(w @ z ** (2 * q + 1)) < 1e-16
        expected *= (2 * q + 1) / (m + 2 * q)


@pytest.mark.parametrize("m", [1, 2, 3, 7])
def test_the_rule_for_three_gram_entries_has_their_joint_moments(m: int) -> None:
    grams, weights = (np.concatenate(part) for part in zip(*quadrature._gram_rule(3, m, 9), strict=True))
    z12, z13, z23 = grams[:, 0, 1], grams[:, 0, 2], grams[:, 1, 2]
    # from E v v^T = I/m and E (a.v)^2 (b.v)^2 = (1 + 2 (a.b)^2) / (m (m+2)) for unit a and b
    expected = {
        "mass": (np.ones_like(z12), 1),
        "z12 z13": (z12 * z13, 0),
        "z23^2": (z23**2, 1 / m),
        "z12 z13 z23": (z12 * z13 * z23, 1 / m**2),
        "z12^2 z13^2": (z12**2 * z13**2, 1 / m**2),
        "z13^2 z23^2": (z13**2 * z23**2, (1 + 2 / m) / (m * (m + 2))),
        "z23^4": (z23**4, 3 / (m * (m + 2))),
    }
    for name, (integrand, value) in expected.items():
        assert weights @ integrand == pytest.approx(value, rel=1e-13, abs=1e-15), name


# ------------------------------------------------------------------------------------- first-layer weights


def test_the_reference_weight() -> None:
    value, error = expected_weights(Decoder(), Sphere(64), 10)
    assert value[9] == pytest.approx(0.230818990595779, abs=1e-15 + error[9])
    assert value.sum() == pytest.approx(1, abs=1e-14)
    assert error.max() < 1e-13


@pytest.mark.parametrize("i", [1, 2, 5, 40])
@pytest.mark.parametrize("beta", [0, 0.7, 3])
def test_weights_in_one_dimension_are_a_binomial_sum(i: int, beta: float) -> None:
    """At d = 1 the cosines are signs, and the number of +1 among i - 1 is binomial."""
    exact = sum(
        math.comb(i - 1, plus) / 2 ** (i - 1) / (1 + plus + (i - 1 - plus) * math.exp(-2 * beta)) for plus in range(i)
    )
    value, error = expected_weights(Decoder(beta=beta), Sphere(1), i)
    assert abs(value[-1] - exact) <= error[-1] + 1e-15


@pytest.mark.parametrize(("d", "alpha"), [(2, 0), (3, 0), (9, 0), (64, 0), (2, 0.3), (9, 0.5)])
@pytest.mark.parametrize("beta", [0.5, 4])
def test_weights_against_the_softmax_averaged_over_the_gram_matrix(d: int, alpha: float, beta: float) -> None:
    decoder, inputs = Decoder(beta=beta), Sphere(d, alpha)
    means = expected_attention(decoder, inputs, 3)
    for i in (1, 2, 3):
        value, error = expected_weights(decoder, inputs, i)
        assert np.all(np.abs(value - means.weights[0, i - 1, :i]) <= error + means.weight_errors[0, i - 1, :i])


def test_alpha_only_changes_temperature_and_dimension() -> None:
    with_alpha = expected_weights(Decoder(beta=2), Sphere(33, 0.25), 7)
    without = expected_weights(Decoder(beta=1.5), Sphere(32), 7)
    assert np.all(np.abs(with_alpha.value - without.value) <= with_alpha.error + without.error)


def test_the_scale_divides_beta() -> None:
    scaled = expected_weights(Decoder(beta=2, scale="sqrt(d)"), Sphere(16), 7)
    np.testing.assert_array_equal(scaled.value, expected_weights(Decoder(beta=0.5), Sphere(16), 7).value)


# ------------------------------------------------------------------------------------------------- scores


@pytest.mark.parametrize(("d", "text"), [(8, "0.133542429726403157"), (64, "0.150989367837915639")])
def test_the_reference_scores(d: int, text: str) -> None:
    value, error = expected_score_21(Decoder(), Sphere(d))
    assert mpmath.nstr(value, 18) == text
    assert error < mpmath.mpf(10) ** -29 * value


def test_a_score_in_closed_form() -> None:
    """beta = 0 and residual = 0: x_2' = (x_1 + x_2)/2, S_21 = cos of half an angle; at d = 2 its mean is 2/pi."""
    value, error = expected_score_21(Decoder(beta=0, residual=0), Sphere(2), digits=25)
    with mpmath.workdps(40):
        assert abs(value - 2 / mpmath.pi) <= error


@pytest.mark.parametrize(("d", "alpha"), [(1, 0), (2, 0), (2, 0.5), (3, 0), (20, 0.3)])
@pytest.mark.parametrize("decoder", [Decoder(), Decoder(beta=3, residual=2), Decoder(norm="none", scale=2)])
def test_two_tokens_by_two_routes(d: int, alpha: float, decoder: Decoder) -> None:
    """The Gauss rule with the batched Gram recursion, and the trapezoidal rule with two tokens written out."""
    means = expected_attention(decoder, Sphere(d, alpha), 3, layers=3)
    for layer in (2, 3):
        value, error = expected_score_21(decoder, Sphere(d, alpha), layer, digits=17)
        assert abs(means.scores[layer - 1, 1, 0] - float(value)) <= means.score_errors[layer - 1, 1, 0] + float(error)


# One family of z-tests: 3 models x 2 layers x 3 off-diagonal scores. A correct routine fails one of them, by
# chance, with probability at most FALSE_ALARM; the seeds are fixed, so that it passes always or never.
FALSE_ALARM = 1e-4
MODELS = [
    (Decoder(), Sphere(3)),
    (Decoder(beta=2, residual=0.5), Sphere(5)),
    (Decoder(residual=0), Sphere(4, 0.4)),
]


@pytest.mark.parametrize(("decoder", "inputs"), MODELS)
def test_three_tokens_against_simulated_vectors(decoder: Decoder, inputs: Sphere) -> None:
    samples, d, alpha = 100_000, int(inputs.d), float(inputs.alpha)
    x = _vectors(np.random.default_rng(1), samples, d, alpha)
    means = expected_attention(decoder, inputs, 3, layers=3)
    threshold = norm.isf(FALSE_ALARM / (2 * 2 * 3 * len(MODELS)))
    for layer in (1, 2):
        x = _attend(x, float(decoder.beta), float(decoder.residual))
        y = x / np.linalg.norm(x, axis=-1, keepdims=True)
        for query, key in ((2, 1), (3, 1), (3, 2)):
            scores = np.sum(y[:, query - 1] * y[:, key - 1], axis=-1)
            standard_error = scores.std(ddof=1) / math.sqrt(samples)
            assert standard_error < 3e-3  # so a deviation of 0.02 would be seen with near certainty
            deviation = scores.mean() - means.scores[layer, query - 1, key - 1]
            assert abs(deviation) <= threshold * standard_error


def _vectors(generator: np.random.Generator, samples: int, d: int, alpha: float) -> np.ndarray:
    """sqrt(alpha) u + sqrt(1-alpha) v_i, with u and v_i as in the definition of Sphere."""
    g = generator.standard_normal((samples, 4, d))
    u = g[:, :1] / np.linalg.norm(g[:, :1], axis=-1, keepdims=True)
    v = g[:, 1:] - (np.sum(g[:, 1:] * u, axis=-1, keepdims=True) * u if alpha else 0)
    v /= np.linalg.norm(v, axis=-1, keepdims=True)
    return math.sqrt(alpha) * u + math.sqrt(1 - alpha) * v


def _attend(x: np.ndarray, beta: float, lam: float) -> np.ndarray:
    """One causal layer on vectors, key by key."""
    y = x / np.linalg.norm(x, axis=-1, keepdims=True)
    out = lam * x
    for query in range(x.shape[1]):
        powers = [np.exp(beta * np.sum(y[:, query] * y[:, key], axis=-1)) for key in range(query + 1)]
        total = np.sum(powers, axis=0)
        for key in range(query + 1):
            out[:, query] += (powers[key] / total)[:, None] * y[:, key]
    return out


def test_hidden_keys_are_nan_and_never_reach_a_mean() -> None:
    means = expected_attention(Decoder(), Sphere(16), 3)
    hidden = ~np.tri(3, dtype=bool)
    assert np.all(np.isnan(means.scores[:, hidden]))
    assert np.all(means.weights[:, hidden] == 0)
    assert np.all(np.isfinite(means.scores[:, ~hidden]))
    assert np.all(np.isfinite(means.score_errors[:, ~hidden]))


def test_without_a_mask_the_tokens_are_exchangeable() -> None:
    scores = expected_attention(Decoder(mask=Bidirectional()), Sphere(16), 3).scores[1]
    off_diagonal = scores[~np.eye(3, dtype=bool)]
    assert np.ptp(off_diagonal) < 1e-13


# --------------------------------------------------------------------------------------- error estimates

# Smooth integrands; nearly singular ones (large beta); and, with residual 0 and beta 0, vectors that can vanish.
HARD = [
    (Decoder(), Sphere(3)),
    (Decoder(beta=12), Sphere(3)),
    (Decoder(beta=40, residual=0.2), Sphere(6)),
    (Decoder(residual=0), Sphere(2)),
    (Decoder(residual=0, beta=0), Sphere(3)),
    (Decoder(residual=0, beta=0), Sphere(2, 0.1)),
    (Decoder(residual=0.1, beta=0.2), Sphere(4)),
]


@pytest.mark.parametrize(("decoder", "inputs"), HARD)
def test_actual_errors_of_scores_stay_below_the_estimates(
    decoder: Decoder, inputs: Sphere, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quadrature, "_NODES", (48, 72))
    fine = expected_attention(decoder, inputs, 3)
    for nodes in ((4, 6), (6, 9), (9, 13), (16, 24), (24, 36)):
        monkeypatch.setattr(quadrature, "_NODES", nodes)
        coarse = expected_attention(decoder, inputs, 3)
        for name in ("scores", "weights"):
            actual = np.abs(getattr(coarse, name) - getattr(fine, name))
            estimate = getattr(coarse, f"{name[:-1]}_errors")
            visible = np.isfinite(actual)
            assert np.all(actual[visible] <= estimate[visible]), (nodes, name)


@pytest.mark.parametrize("beta", [0, 1, 10, 100])
@pytest.mark.parametrize(("d", "i"), [(1, 7), (2, 2), (2, 50), (3, 5), (64, 10), (64, 1000)])
def test_actual_errors_of_weights_stay_below_the_estimates(
    beta: float, d: int, i: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    decoder, inputs = Decoder(beta=beta), Sphere(d)
    monkeypatch.setattr(quadrature, "_HALVINGS", (5, 6))
    fine, noise = expected_weights(decoder, inputs, i)
    for halvings in ((0, 1), (1, 2), (2, 3), (3, 4)):
        monkeypatch.setattr(quadrature, "_HALVINGS", halvings)
        value, error = expected_weights(decoder, inputs, i)
        assert np.all(np.abs(value - fine) <= error), halvings
    assert noise[-1] < 1e-8


@pytest.mark.parametrize(
    ("decoder", "inputs"), [(Decoder(), Sphere(2)), (Decoder(), Sphere(64)), (Decoder(residual=0, beta=0), Sphere(3))]
)
def test_actual_errors_of_many_digits_stay_below_the_estimates(decoder: Decoder, inputs: Sphere) -> None:
    fine, _ = expected_score_21(decoder, inputs, digits=25)
    for digits in (3, 8, 15, 20):
        value, error = expected_score_21(decoder, inputs, digits=digits)
        with mpmath.workdps(60):
            assert abs(value - fine) <= error
            assert error <= 3 * value * mpmath.mpf(10) ** -digits


# -------------------------------------------------------------------------------------------- bad inputs


@pytest.mark.parametrize(
    ("decoder", "inputs", "fault"),
    [
        (Decoder(norm="layernorm"), Sphere(8), "norm"),
        (Decoder(position=Rope()), Sphere(8), "RoPE"),
        (Decoder(), Equicorrelated(0), "Sphere"),
        (Decoder(), SharedGaussian(8, 0.5), "Sphere"),
    ],
)
def test_what_is_out_of_reach_is_refused(decoder: Decoder, inputs: Any, fault: str) -> None:
    for call in (
        lambda: expected_attention(decoder, inputs, 3),
        lambda: expected_score_21(decoder, inputs),
        lambda: expected_weights(decoder, inputs, 3),
    ):
        with pytest.raises(InvalidInput, match=fault):
            call()


def test_a_vector_that_vanishes_is_refused() -> None:
    decoder = Decoder(beta=0, residual=0)
    with pytest.raises(InvalidInput, match="zero"):
        expected_score_21(decoder, Sphere(1))
    with pytest.raises(InvalidInput, match="zero"):
        expected_attention(decoder, Sphere(1), 2)


def test_bad_sizes_are_refused() -> None:
    with pytest.raises(InvalidInput, match="n <= 3"):
        expected_attention(Decoder(), Sphere(8), 4)
    with pytest.raises(InvalidInput, match="i >= 1"):
        expected_weights(Decoder(), Sphere(8), 0)
    with pytest.raises(InvalidInput, match="causal"):
        expected_weights(Decoder(mask=Bidirectional()), Sphere(8), 3)
    for mask in (Bidirectional(), SlidingWindow(1), Prefix(3)):
        with pytest.raises(InvalidInput, match="causal"):
            expected_score_21(Decoder(mask=mask), Sphere(8))
    with pytest.raises(InvalidInput, match="causal"):
        expected_weights(Decoder(mask=SlidingWindow(4)), Sphere(8), 5)
    windowed, causal = (expected_weights(Decoder(mask=mask), Sphere(8), 4) for mask in (SlidingWindow(4), Causal()))
    np.testing.assert_array_equal(windowed.value, causal.value)
    with pytest.raises(InvalidInput, match="digits"):
        expected_score_21(Decoder(mask=Causal()), Sphere(8), digits=0)
    with pytest.raises(InvalidInput, match="nodes"):
        cosine_rule(3, 0)
