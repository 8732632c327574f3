"""Exact means of Taylor coefficients, against sums over all pairs and triples and against exact quadrature."""

from __future__ import annotations

import time
from itertools import combinations, product

import numpy as np
import pytest

from maskproof.numerics.layers import QUANTITIES, Layer, Quantity, layer_of
from maskproof.numerics.moments import mean_coefficients
from maskproof.numerics.noise import Noise, noise_of
from maskproof.numerics.sampling import law_of
from maskproof.numerics.taylor import TaylorMap
from maskproof.theory.decoder import Bidirectional, Blocks, Causal, Decoder, Dilated, Prefix, SlidingWindow
from maskproof.theory.inputs import SharedGaussian, Sphere

DECODERS = [
    Decoder(),
    Decoder(residual=0, beta=3),
    Decoder(beta=2, residual=0.5, mask=Bidirectional()),
    Decoder(norm="none", mask=SlidingWindow(4)),
    Decoder(norm="layernorm", scale="sqrt(d)"),
    Decoder(mask=Prefix(3), beta=0.5, residual=2, scale=3),
    Decoder(mask=Dilated(2, 3)),
    Decoder(norm="none", mask=Blocks(2)),
]
IDS = [f"{d.norm}-{d.mask}" for d in DECODERS]


def noise_for(inputs: Sphere | SharedGaussian, decoder: Decoder, n: int) -> tuple[Noise, Layer]:
    law = law_of(inputs, decoder)
    layer = layer_of(decoder, n, law.d)
    noise = noise_of(law, layer)
    assert noise is not None
    return noise, layer


def by_polarisation(noise: Noise, layer: Layer, quantity: Quantity) -> tuple[np.ndarray, np.ndarray]:
    """Sum of c_2 over pairs, and of the coefficient of eps_kl eps_lm eps_km in c_3 over triples.

    With signs s on three tokens, the mean of c_3(s s^T - I) over the signs is that coefficient: every other
    monomial has an odd power of some sign.
    """
    n, factor = layer.n, noise.mixing[0, 0] ** 2
    taylor = TaylorMap(layer, noise.gram(), 3, 3)
    ones, signed = [], []
    for k, m in combinations(range(n), 2):
        ones.append(np.zeros((n, n)))
        ones[-1][k, m] = ones[-1][m, k] = factor
    for triple in combinations(range(n), 3):
        for signs in product((1, -1), repeat=2):
            s = np.zeros(n)
            s[list(triple)] = (1, *signs)
            signed.append(factor * (np.outer(s, s) - np.diag(s**2)))
    second = np.stack([parts[1].sum(axis=0) for parts in taylor.run(np.array(ones), quantity)])
    third = np.stack([parts[2].sum(axis=0) / 4 for parts in taylor.run(np.array(signed), quantity)])
    return second, third


CASES = [
    (decoder, inputs)
    for decoder in DECODERS
    for inputs in (Sphere(16), Sphere(16, 0.3))
    if decoder.norm != "layernorm" or inputs.alpha == 0
]


@pytest.mark.parametrize(("decoder", "inputs"), CASES, ids=str)
def test_means_on_the_sphere_by_naive_polarisation(decoder: Decoder, inputs: Sphere) -> None:
    noise, layer = noise_for(inputs, decoder, 8)
    for quantity in QUANTITIES:
        second, third = by_polarisation(noise, layer, quantity)
        found = mean_coefficients(noise, layer, 3, quantity)
        assert np.abs(found.second - second).max() < 1e-13 * (1 + np.abs(second).max())
        assert np.abs(found.third - third).max() < 1e-13 * (1 + np.abs(third).max())
        assert np.abs(mean_coefficients(noise, layer, 3, quantity, order=2).second - second).max() < 1e-12


@pytest.mark.parametrize("decoder", DECODERS, ids=IDS)
@pytest.mark.parametrize("unit", [True, False])
def test_means_for_gaussian_vectors_by_exact_quadrature(decoder: Decoder, unit: bool) -> None:
    # In one dimension E = g g^T - I, and c_3 is a polynomial of degree at most 6 in each g: four
    # Gauss-Hermite nodes per vector are exact. There v = 1.
    n = 3
    noise, layer = noise_for(SharedGaussian(16, 0.3, unit), decoder, n)
    nodes, weights = np.polynomial.hermite_e.hermegauss(4)
    vectors = np.array(list(product(nodes, repeat=n + 1)))
    density = np.prod(list(product(weights / weights.sum(), repeat=n + 1)), axis=1)
    taylor = TaylorMap(layer, noise.gram(), 3, 3, noise.start_norm)
    for quantity in QUANTITIES:
        means = np.stack([
            np.stack([np.einsum("b,bij->ij", density, part) for part in parts])
            for parts in taylor.run(noise.direction(vectors[:, :, None]), quantity)
        ])  # fmt: skip
        found = mean_coefficients(noise, layer, 3, quantity)
        # Rounding is relative to the integrand, which is far larger than its mean.
        last = [np.abs(parts[2]).max() for parts in taylor.run(noise.direction(vectors[:, :, None]), quantity)]
        size = 1 + max(last)
        assert np.abs(means[:, 0]).max() < 1e-14 * size
        assert np.abs(found.second - means[:, 1]).max() < 1e-13 * size
        assert np.abs(found.third - means[:, 2]).max() < 1e-13 * size


def test_reference_values() -> None:
    noise, layer = noise_for(Sphere(64), Decoder(), 12)
    first = mean_coefficients(noise, layer, 3, order=2).second
    assert abs(first[1, 1, 0] - -0.162369895736007) < 1e-14
    assert abs(first[1, 11, 4] - -0.149981784046868) < 1e-14
    assert abs(first[2, 11, 4] - -0.542053952566557) < 1e-14
    assert abs(first[1, 11, 10] - -0.193121565463889) < 1e-14


def test_leading_variance_is_that_of_the_linear_part() -> None:
    noise, layer = noise_for(Sphere(64), Decoder(), 6)
    taylor = TaylorMap(layer, noise.gram(), 3, 1)
    directions = []
    for k, m in combinations(range(6), 2):
        directions.append(np.zeros((6, 6)))
        directions[-1][k, m] = directions[-1][m, k] = 1
    expected = np.stack([(parts[0] ** 2).sum(axis=0) for parts in taylor.run(np.array(directions), "scores")])
    assert np.abs(mean_coefficients(noise, layer, 3).linear_variance - expected).max() < 1e-13


def test_no_noise_form_for_centred_shared_direction() -> None:
    decoder = Decoder(norm="layernorm", scale="d")
    law = law_of(Sphere(16, 0.3), decoder)
    assert noise_of(law, layer_of(decoder, 4, 16)) is None


@pytest.mark.slow
def test_time_for_fifty_tokens() -> None:
    noise, layer = noise_for(Sphere(64), Decoder(mask=Causal()), 50)
    started = time.process_time()
    mean_coefficients(noise, layer, 4, order=2)
    second = time.process_time()
    mean_coefficients(noise, layer, 4, order=3)
    assert second - started < 5
    assert time.process_time() - second < 30
