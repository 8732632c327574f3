"""The input laws: coordinates against vectors, and both against known moments."""

from __future__ import annotations

import numpy as np
import pytest
import sympy
from scipy import special, stats

from maskproof.numerics.sampling import Coordinates, Law, law_of, sample_coordinates, sample_vectors
from maskproof.theory.decoder import Decoder
from maskproof.theory.errors import InvalidInput
from maskproof.theory.inputs import Equicorrelated, SharedGaussian, Sphere

FAMILY = 1e-6  # chance that any comparison of one test fails although the laws agree
N = 5
LAWS = [
    Law(d, alpha, gaussian, unit)
    for d in (1, 2, 5, 64)
    for alpha in (0.0, 0.3)
    for gaussian, unit in ((False, True), (True, True), (True, False))
    if gaussian or alpha == 0 or d >= 2
]


def limit(comparisons: int) -> float:
    """Two-sided normal quantile for all comparisons together (Bonferroni)."""
    return float(stats.norm.isf(FAMILY / comparisons / 2))


def features(gram: np.ndarray) -> np.ndarray:
    """Polynomials in the Gram matrix that tell laws apart: first to fourth moments, triangles, paths."""
    a, b, c = gram[:, 0, 1], gram[:, 1, 2], gram[:, 0, 2]
    own, far = gram[:, 0, 0], gram[:, 3, 4]
    columns = [a, far, own, a**2, far**2, own**2, a * far, a * c, own * a, a * b * c, a**3, a**4, a**2 * c**2]
    columns += [own * gram[:, 4, 4], a * far * own, np.abs(far)]
    return np.stack(columns, axis=1)


def mean_and_error(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return values.mean(axis=0), values.std(axis=0, ddof=1) / np.sqrt(len(values))


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_coordinates_have_the_law_of_the_vectors(law: Law) -> None:
    # Means of 16 features, 20000 samples each way: a difference of 0.08 standard deviations of a feature
    # would be found with probability above 0.95.
    generator = np.random.default_rng(20250925)
    vectors = sample_vectors(law, N, 20_000, generator)
    literal = mean_and_error(features(vectors @ vectors.swapaxes(1, 2)))
    for split in (False, True) if law.d >= 2 else (False,):
        fast = mean_and_error(features(sample_coordinates(law, N, 20_000, generator, split).gram()))
        error = np.hypot(literal[1], fast[1]) + 1e-12
        assert (np.abs(literal[0] - fast[0]) / error).max() < limit(literal[0].size * 2)


@pytest.mark.parametrize("law", [law for law in LAWS if law.d >= 2], ids=str)
def test_centred_part_has_the_law_of_centred_vectors(law: Law) -> None:
    generator = np.random.default_rng(7)
    vectors = sample_vectors(law, N, 20_000, generator)
    along = vectors.sum(axis=2) / np.sqrt(law.d)
    centred = vectors - vectors.mean(axis=2, keepdims=True)
    tokens = sample_coordinates(law, N, 20_000, generator, split=True)
    assert tokens.along is not None
    fast = tokens.centred @ tokens.centred.swapaxes(1, 2)

    def with_along(gram: np.ndarray, component: np.ndarray) -> np.ndarray:
        mixed = component[:, 0] * component[:, 1]
        return np.column_stack([features(gram), mixed, component[:, 0] ** 2, mixed * gram[:, 0, 1]])

    one = mean_and_error(with_along(centred @ centred.swapaxes(1, 2), along))
    two = mean_and_error(with_along(fast, tokens.along))
    error = np.hypot(one[1], two[1]) + 1e-12
    assert (np.abs(one[0] - two[0]) / error).max() < limit(one[0].size)


@pytest.mark.parametrize("law", [law for law in LAWS if law.unit], ids=str)
def test_unit_tokens_have_norm_one(law: Law) -> None:
    generator = np.random.default_rng(3)
    diagonal = np.diagonal(sample_coordinates(law, N, 100, generator).gram(), axis1=1, axis2=2)
    assert np.abs(diagonal - 1).max() < 1e-14
    norms = np.linalg.norm(sample_vectors(law, N, 100, generator), axis=2)
    assert np.abs(norms - 1).max() < 1e-14


@pytest.mark.parametrize(("d", "alpha"), [(3, 0.0), (64, 0.0), (3, 0.5), (64, 0.2)])
def test_moments_of_the_cosines_on_the_sphere(d: int, alpha: float) -> None:
    gram = sample_coordinates(Law(d, alpha, False, True), 3, 200_000, np.random.default_rng(11)).gram()
    inner = (gram - alpha) / (1 - alpha)
    space = d if alpha == 0 else d - 1
    a, b, c = inner[:, 0, 1], inner[:, 1, 2], inner[:, 0, 2]
    mean, error = mean_and_error(np.stack([a, a**2, a * b, a * b * c, a**4], axis=1))
    exact = np.array([0, 1 / space, 0, 1 / space**2, 3 / (space * (space + 2))])
    assert (np.abs(mean - exact) / error).max() < limit(5)


@pytest.mark.parametrize(("rho", "expected"), [(0.2, 0.198503864936566), (0.5, 0.497056618033915)])
def test_mean_cosine_of_the_published_sampler(rho: float, expected: float) -> None:
    d = 64
    ratio = np.exp(2 * (special.gammaln((d + 1) / 2) - special.gammaln(d / 2)))
    formula = rho * 2 / d * ratio * special.hyp2f1(0.5, 0.5, d / 2 + 1, rho**2)
    assert abs(formula - expected) < 1e-14
    law = Law(d, rho, True, True)
    cosine = sample_coordinates(law, 2, 400_000, np.random.default_rng(5)).gram()[:, 0, 1]
    mean, error = mean_and_error(cosine[:, None])
    # The bias of the sampler against rho is 8 (rho = 0.2) and 19 (rho = 0.5) standard errors.
    assert abs(mean[0] - expected) / error[0] < limit(1)
    assert abs(mean[0] - rho) / error[0] > limit(1)


def test_coordinates_do_not_grow_with_the_width() -> None:
    tokens = sample_coordinates(Law(10**9, 0.0, False, True), 4, 10, np.random.default_rng(0))
    assert tokens.centred.shape == (10, 4, 4)
    assert np.abs(tokens.gram() - np.eye(4)).max() < 1e-3


def test_frame_makes_the_tokens() -> None:
    generator = np.random.default_rng(1)
    shared = sample_coordinates(Law(20, 0.3, True, False), 4, 10, generator)
    assert shared.frame is not None
    mixing = np.column_stack([np.full(4, np.sqrt(0.3 / 0.7)), np.eye(4)])
    assert np.abs(mixing @ shared.frame - shared.centred).max() < 1e-14
    sphere = sample_coordinates(Law(20, 0.3, False, True), 4, 10, generator)
    assert sphere.frame is not None
    cosines = sphere.frame @ sphere.frame.swapaxes(1, 2)
    assert np.abs(0.3 + 0.7 * cosines - sphere.gram()).max() < 1e-14


def test_gram_adds_the_part_along_the_ones() -> None:
    tokens = Coordinates(np.array([[[3.0], [1.0]]]), np.array([[4.0, 2.0]]))
    assert tokens.gram()[0].tolist() == [[25.0, 11.0], [11.0, 5.0]]


D, ALPHA = sympy.Symbol("d", integer=True, positive=True), sympy.Symbol("alpha", nonnegative=True)


@pytest.mark.parametrize(
    ("inputs", "decoder", "needle"),
    [
        (Equicorrelated(0), None, "mean_field"),
        (Sphere(D), None, "d = d"),
        (SharedGaussian(D, 0), None, "d = d"),
        (Sphere(8, ALPHA), None, "alpha = alpha"),
        (Sphere(1), Decoder(norm="layernorm", scale="d"), "d >= 2"),
        ("Sphere", None, "input law"),
    ],
)
def test_what_cannot_be_sampled(inputs: object, decoder: Decoder | None, needle: str) -> None:
    with pytest.raises(InvalidInput, match=needle) as caught:
        law_of(inputs, decoder)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("alpha", [-0.1, 1, 1.5, float("nan")])
def test_alpha_outside_its_range(alpha: float) -> None:
    with pytest.raises(InvalidInput):
        Sphere(8, alpha)
    with pytest.raises(InvalidInput):
        SharedGaussian(8, alpha)
