"""Expected scores with position encodings: the limit, its 1/d correction, and literal attention on vectors.

Statistical tests compare standard errors: with false-alarm rate ALARM split over all entries of a comparison, the
critical value of the t statistic is that of ``critical``. The second-order theory is off by B/d^2; at d = 64 to 512
and four layers of six tokens that was measured at 2.6/d^2 and less, and the tests allow B = 10.
"""

import numpy as np
import pytest
from scipy import stats

from maskproof.numerics import mean_field
from maskproof.numerics.attention import attend
from maskproof.numerics.gram import rope_kernel
from maskproof.numerics.relativity import relativity
from maskproof.numerics.rope_series import Noise, correction, kappa, turned_products
from maskproof.numerics.sampling import law_of, sample_vectors
from maskproof.numerics.vector_monte_carlo import expected_on_vectors, literal_run
from maskproof.theory.decoder import (
    Alibi,
    Bidirectional,
    Blocks,
    Causal,
    Decoder,
    Dilated,
    Prefix,
    Rope,
    SlidingWindow,
    T5Bias,
)
from maskproof.theory.errors import InvalidInput
from maskproof.theory.inputs import Equicorrelated, SharedGaussian, Sphere
from maskproof.theory.rope import mean_score

ALARM = 1e-6
B = 10.0


def critical(tests, samples):
    """The |t| that any of ``tests`` comparisons exceeds by chance with probability at most ALARM."""
    return stats.t.isf(ALARM / (2 * tests), samples - 1)


def assert_agrees(run, expected, remainder=0.0):
    """The sampled means are ``expected`` up to their errors and to ``remainder``."""
    shown = np.isfinite(run.mean)
    away = np.abs(run.mean - expected)[shown]
    allowed = critical(shown.sum(), run.samples) * run.standard_error[shown] + remainder
    assert np.all(away <= allowed + 1e-12), float((away / allowed).max())


# --- the correction ------------------------------------------------------------------------------


def test_without_rope_the_known_coefficients():
    found = 64 * correction(Decoder(), Sphere(64), 12, 3).correction
    assert found[1, 1, 0] == pytest.approx(-0.162369895736007, abs=1e-13)
    assert found[1, 11, 4] == pytest.approx(-0.149981784046868, abs=1e-13)
    assert found[1, 11, 10] == pytest.approx(-0.193121565463889, abs=1e-13)
    assert found[2, 11, 4] == pytest.approx(-0.542053952566557, abs=1e-13)


@pytest.mark.parametrize("norm", ["l2", "none"])
@pytest.mark.parametrize("mask", [Causal(), Bidirectional(), SlidingWindow(3), Prefix(2), Dilated(2, 2), Blocks(2)])
@pytest.mark.parametrize("position", [None, Rope(dim=8), Alibi(0.5), T5Bias((0, 1, -1), (1, 0), 5)])
def test_the_zeroth_order_is_the_limit(norm, mask, position):
    decoder = Decoder(1.5, 0.5, norm, 2, mask, position)
    limit = correction(decoder, Sphere(16, 0.3), 5, 4).limit
    assert limit == pytest.approx(mean_field(decoder, 0.3, 5, 4).scores, abs=1e-13, nan_ok=True)


def test_layer_one_has_no_correction():
    for alpha in (0, 0.5):
        found = correction(Decoder(position=Rope(dim=8)), Sphere(8, alpha), 5, 1).correction
        assert np.nanmax(np.abs(found)) < 1e-15


@pytest.mark.parametrize("alpha", [0.0, 0.4])
def test_covariances_of_the_noise(alpha):
    # Second moments of T against samples of vectors at a small width, where every term of their formulas matters.
    n, d, samples = 3, 4, 200_000
    position = Rope(base=10, dim=4)
    noise = Noise(position, d, alpha, n)
    rows = np.concatenate(list(noise.directions())).reshape(-1, n**3)
    law = law_of(Sphere(d, alpha))
    vectors = sample_vectors(law, n, samples, np.random.default_rng(20))
    sampled = turned_products(position, vectors).reshape(samples, -1) - noise.mean().reshape(-1)
    products = sampled.T @ sampled / samples
    error = np.sqrt(((sampled**2).T @ sampled**2 / samples - products**2).clip(min=0) / samples)
    away = np.abs(products - rows.T @ rows)
    assert np.all(away <= critical(away.size, samples) * error + 1e-12)
    means = np.abs(sampled.mean(axis=0))
    assert np.all(means <= critical(means.size, samples) * sampled.std(axis=0) / np.sqrt(samples) + 1e-12)


def test_turned_products_by_matrices():
    position, n = Rope(base=10, dim=4), 3
    vectors = np.random.default_rng(21).normal(size=(2, n, 8))
    found = turned_products(position, vectors)
    for distance in range(n):
        turn = np.zeros((8, 8))
        for block in (0, 4):
            for m, angle in enumerate((1.0, 10**-0.5)):
                a, b = block + m, block + m + 2
                turn[a, a] = turn[b, b] = np.cos(distance * angle)
                turn[b, a], turn[a, b] = np.sin(distance * angle), -np.sin(distance * angle)
        assert found[:, distance] == pytest.approx(vectors @ turn @ vectors.swapaxes(1, 2), abs=1e-13)


def test_two_floating_kernels_agree():
    distances = np.arange(-60, 61)
    for position in (Rope(), Rope(500, 128), Rope(2, 2)):
        assert kappa(position, distances) == pytest.approx(rope_kernel(position, distances), abs=1e-14)


# --- layer one, exactly at every width -----------------------------------------------------------


@pytest.mark.parametrize("pairing", ["half", "interleaved"])
@pytest.mark.parametrize(
    "inputs", [Sphere(8), Sphere(8, 0.5), SharedGaussian(8, 0.5), SharedGaussian(8, 0.5, unit=False)]
)
def test_mean_scores_of_layer_one(inputs, pairing):
    # d = 8: a bias of order 1/d would be seen at many standard errors.
    position, n = Rope(base=10, dim=4), 4
    run = expected_on_vectors(Decoder(position=position, norm="none"), inputs, n, 1, 40_000, seed=3, pairing=pairing)
    expected = np.array([
        [float(mean_score(inputs, i, j, position)) if i != j else np.nan for j in range(1, n + 1)]
        for i in range(1, n + 1)
    ])  # fmt: skip
    expected[np.eye(n, dtype=bool)] = run.mean[0][np.eye(n, dtype=bool)]
    assert_agrees(run, expected[None])


def test_layer_norm_keeps_the_formula():
    # Layer one: kappa(i-j) times the mean inner product, which a run without RoPE measures on the same inputs.
    position, n, inputs = Rope(base=10, dim=4), 4, Sphere(8, 0.5)
    decoder = Decoder(norm="layernorm", scale="d", position=position)
    turned = expected_on_vectors(decoder, inputs, n, 1, 40_000, seed=4)
    plain = expected_on_vectors(Decoder(norm="layernorm", scale="d"), inputs, n, 1, 40_000, seed=5)
    factor = rope_kernel(position, np.subtract.outer(np.arange(n), np.arange(n)))
    shown = np.isfinite(plain.mean[0])
    error = np.hypot(turned.standard_error[0], factor * plain.standard_error[0])[shown]
    away = np.abs(turned.mean[0] - factor * plain.mean[0])[shown]
    assert np.all(away <= critical(shown.sum(), 40_000) * error + 1e-12)


def test_independent_inputs_keep_the_law_of_layer_one():
    # Not the mean only: second moments of all pairs of scores, against those without RoPE.
    n, d, samples = 3, 4, 100_000
    moments = []
    for seed, position in ((6, Rope(base=10, dim=4)), (7, None)):
        vectors = sample_vectors(law_of(Sphere(d)), n, samples, np.random.default_rng(seed))
        products = turned_products(position, vectors)
        scores = np.stack([products[:, i - j, j, i] for i in range(n) for j in range(i)], axis=1)
        powers = np.concatenate([scores**2, scores**4, scores[:, [0, 0, 1]] ** 2 * scores[:, [1, 2, 2]] ** 2,
                                 scores.prod(axis=1, keepdims=True)], axis=1)  # fmt: skip
        moments.append((powers.mean(axis=0), powers.var(axis=0) / samples))
    (one, first), (two, second) = moments
    assert np.all(np.abs(one - two) <= critical(one.size, samples) * np.sqrt(first + second))
    # The turned tokens are independent and uniform again, so that E S_21 S_31 S_32 = 1/d^2.
    assert abs(one[-1] - 1 / d**2) <= critical(1, samples) * np.sqrt(first[-1])


# --- deeper layers: limit + c/d against literal attention ----------------------------------------


@pytest.mark.parametrize("mask", [Causal(), Bidirectional()])
@pytest.mark.parametrize("alpha", [0.0, 0.5])
@pytest.mark.parametrize("order", [1, 2])
def test_limit_and_correction_agree_with_attention(mask, alpha, order):
    # At d = 128 the correction is 4e-3 at most, the standard errors are below 5e-4 (order 1) and 7e-5 (order 2).
    n, d = 5, 128
    decoder, inputs = Decoder(mask=mask, position=Rope(dim=d)), Sphere(d, alpha)
    theory = correction(decoder, inputs, n, 4)
    run = expected_on_vectors(decoder, inputs, n, 4, 600, seed=8, order=order)
    assert_agrees(run, theory.limit + theory.correction, B / d**2)
    assert np.nanmax(run.standard_error) < (5e-4 if order == 1 else 7e-5)
    # The comparison is sharp enough to need the correction.
    plain = np.abs(run.mean - theory.limit) - critical(np.isfinite(run.mean).sum(), 600) * run.standard_error
    assert np.nanmax(plain) > (0 if order == 1 else B / d**2)


def test_head_dimension_and_width_are_two_things():
    # Four blocks of 32: kappa at dim 32, noise of width 128.
    decoder, inputs = Decoder(position=Rope(dim=32)), Sphere(128, 0.2)
    theory = correction(decoder, inputs, 5, 3)
    assert_agrees(
        expected_on_vectors(decoder, inputs, 5, 3, 400, seed=9, order=2),
        theory.limit + theory.correction,
        B / 128**2,
    )


@pytest.mark.parametrize("position", [Alibi(0.5), T5Bias((0, 1, -1), (1, 0), 5)])
@pytest.mark.parametrize("mask", [SlidingWindow(3), Prefix(2), Bidirectional(), Dilated(2, 2), Blocks(2)])
def test_other_positions_and_masks(position, mask):
    decoder, inputs = Decoder(mask=mask, position=position), Sphere(128, 0.2)
    theory = correction(decoder, inputs, 5, 3)
    run = expected_on_vectors(decoder, inputs, 5, 3, 300, seed=10, order=2)
    assert_agrees(run, theory.limit + theory.correction, B / 128**2)


@pytest.mark.slow
@pytest.mark.parametrize("mask", [Causal(), Bidirectional()])
@pytest.mark.parametrize("alpha", [0.0, 0.5])
@pytest.mark.parametrize("d", [512, 4096])
def test_limit_and_correction_agree_at_large_width(mask, alpha, d):
    n, samples = 8, 1200
    decoder, inputs = Decoder(mask=mask, position=Rope(dim=d)), Sphere(d, alpha)
    theory = correction(decoder, inputs, n, 4)
    for order in (0, 1, 2):
        run = expected_on_vectors(decoder, inputs, n, 4, samples, seed=11, order=order)
        assert_agrees(run, theory.limit + theory.correction, B / d**2)


def test_without_a_mask_the_correction_is_not_relative():
    # In the limit layer two is relative for independent inputs; its 1/d term is not (theory.rope).
    found = correction(Decoder(mask=Bidirectional(), position=Rope()), Sphere(64), 6, 2)
    assert relativity(found.limit[1]).spread < 1e-15
    assert relativity(found.correction[1]).spread == pytest.approx(9.21e-5, abs=1e-7)


@pytest.mark.slow
def test_without_a_mask_finite_width_is_not_relative():
    # The same by sampling: (4, 3) against (2, 1) of six tokens; the standard error is a tenth of the difference.
    d, samples, size = 64, 100_000, 500
    decoder, inputs = Decoder(mask=Bidirectional(), position=Rope(dim=d)), Sphere(d)
    run, generator = literal_run(decoder, inputs, 6, 2, order=2), np.random.default_rng(14)
    scores = (
        np.concatenate([run.sample(size, generator)[:, 1] for _ in range(samples // size)]) + np.asarray(run.offset)[1]
    )
    steps = scores[:, 3, 2] - scores[:, 1, 0]
    error = steps.std() / np.sqrt(samples)
    expected = correction(decoder, inputs, 6, 2).correction[1]
    assert steps.mean() < -critical(1, samples) * error
    assert abs(steps.mean() - (expected[3, 2] - expected[1, 0])) <= critical(1, samples) * error


def test_controls_keep_the_mean_and_cut_the_error():
    decoder, inputs = Decoder(position=Rope(dim=32)), Sphere(32)
    plain, first, second = (
        expected_on_vectors(decoder, inputs, 4, 3, 4000, seed=12, order=order) for order in (0, 1, 2)
    )
    shown = np.isfinite(plain.mean) & (plain.standard_error > 1e-9)
    away = np.abs(plain.mean - second.mean)[shown]
    assert np.all(away <= critical(shown.sum(), 4000) * np.hypot(plain.standard_error, second.standard_error)[shown])
    deep = (slice(1, None), slice(1, None), 0)
    assert np.all(first.standard_error[deep] < plain.standard_error[deep] / 4)
    assert np.all(second.standard_error[deep] < first.standard_error[deep] / 2)


def test_weights_and_gram_matrices_of_a_run():
    decoder, inputs = Decoder(position=Rope(dim=4)), Sphere(8, 0.3)
    parts = {
        quantity: literal_run(decoder, inputs, 3, 2, quantity=quantity).sample(5, np.random.default_rng(13))
        for quantity in ("scores", "weights", "gram")
    }
    assert parts["weights"].sum(axis=-1) == pytest.approx(np.ones((5, 2, 3)))
    # The cosines of the Gram matrix after layer one, turned, are the scores of layer two.
    gram = parts["gram"][:, 0]
    assert np.diagonal(gram, axis1=1, axis2=2).min() > 1
    assert parts["scores"][:, 1, 0, 0] == pytest.approx(np.ones(5))
    vectors = sample_vectors(law_of(inputs), 3, 5, np.random.default_rng(13))
    run = attend(decoder, vectors, 2)
    assert gram == pytest.approx(run.vectors[0] @ run.vectors[0].swapaxes(1, 2))


def test_the_same_seed_gives_the_same_bits():
    runs = [expected_on_vectors(Decoder(position=Rope(dim=4)), Sphere(4), 3, 2, 20, seed=s) for s in (1, 1, 2)]
    assert np.array_equal(runs[0].mean, runs[1].mean, equal_nan=True)
    assert not np.array_equal(runs[0].mean, runs[2].mean, equal_nan=True)


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (lambda: expected_on_vectors(Decoder(), Sphere(4), 3, 1, 1), "samples >= 2"),
        (lambda: expected_on_vectors(Decoder(), Sphere(4), 3, 1, 9, order=3), "order is 0, 1 or 2"),
        (lambda: expected_on_vectors(Decoder(), Sphere(4), 3, 1, 9, order=1, pairing="interleaved"), "half"),
        (lambda: literal_run(Decoder(), Sphere(4), 3, 1, quantity="gram", order=1), "for scores"),
        (lambda: literal_run(Decoder(), Sphere(4), 3, 1, quantity="values"), "quantity is known"),  # pyright: ignore[reportArgumentType]
        (lambda: expected_on_vectors(Decoder(), Equicorrelated(0), 3, 1, 9), "random"),
        (lambda: expected_on_vectors(Decoder(position=Rope(dim=6)), Sphere(4), 3, 1, 9), "divides the width"),
        (lambda: correction(Decoder(position=Rope(dim=6)), Sphere(4), 3, 1), "divides the width"),
        (lambda: correction(Decoder(norm="layernorm"), Sphere(4), 3, 1), "l2 or none"),
        (lambda: correction(Decoder(), SharedGaussian(4, 0.5), 3, 1), "use Sphere"),
        (lambda: correction(Decoder(mask=Prefix(4)), Sphere(4), 3, 1), "prefix length"),
    ],
)
def test_bad_input(call, reason):
    with pytest.raises(InvalidInput, match=reason):
        call()
