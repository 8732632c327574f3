"""The Monte Carlo engine: what it returns, what it refuses, and its two routes against the literal one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy
from scipy import stats

from maskproof.numerics import Expectation, expected_scores
from maskproof.numerics.attention import attend
from maskproof.numerics.layers import QUANTITIES
from maskproof.numerics.sampling import law_of, sample_vectors
from maskproof.theory.decoder import Bidirectional, Blocks, Decoder, Dilated, Prefix, Rope, SlidingWindow
from maskproof.theory.errors import InvalidInput
from maskproof.theory.inputs import Equicorrelated, SharedGaussian, Sphere

FAMILY = 1e-6  # chance that any comparison of one test fails although the two routes agree
MODELS = [
    (Decoder(), Sphere(6)),
    (Decoder(), Sphere(6, 0.3)),
    (Decoder(), Sphere(3)),  # fewer dimensions than tokens
    (Decoder(residual=0.5, beta=2), SharedGaussian(6, 0.3)),
    (Decoder(norm="none", mask=SlidingWindow(3)), SharedGaussian(6, 0.3)),
    (Decoder(norm="none", beta=0.5), SharedGaussian(20, 0.3, unit=False)),
    (Decoder(mask=Bidirectional()), SharedGaussian(6, 0, unit=False)),
    (Decoder(mask=Prefix(2)), Sphere(6)),
    (Decoder(mask=Dilated(2, 2)), Sphere(6)),
    (Decoder(mask=Blocks(2)), SharedGaussian(6, 0.3)),
    (Decoder(norm="layernorm", scale="d"), Sphere(6)),
    (Decoder(norm="layernorm", scale="d"), Sphere(6, 0.3)),
    (Decoder(norm="layernorm", scale="sqrt(d)"), SharedGaussian(6, 0.3)),
    (Decoder(norm="layernorm", scale="d"), SharedGaussian(6, 0.3, unit=False)),
]
NO_CONTROL = (Decoder(norm="layernorm", scale="d"), Sphere(6, 0.3))


def literal(decoder: Decoder, inputs: Any, samples: int) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Means and standard errors by attention on vectors; n = 4, 3 layers."""
    vectors = sample_vectors(law_of(inputs, decoder), 4, samples, np.random.default_rng(99))
    run = attend(decoder, vectors, 3)
    gram = run.vectors @ run.vectors.swapaxes(-1, -2)
    result = {}
    for name, values in {"scores": run.scores, "weights": run.weights, "gram": gram}.items():
        first = values[:, :1]  # taken off, so that the mean of a constant is that constant
        mean = first[:, 0] + (values - first).mean(axis=1)
        result[name] = mean, values.std(axis=1, ddof=1) / np.sqrt(samples)
    return result


def largest_z(one: np.ndarray, two: np.ndarray, error: np.ndarray) -> float:
    assert (np.isnan(one) == np.isnan(two)).all()
    shown = ~np.isnan(one)
    return float((np.abs(one - two)[shown] / error[shown]).max())


@pytest.mark.parametrize(("decoder", "inputs"), MODELS, ids=str)
def test_both_routes_agree_with_the_literal_one(decoder: Decoder, inputs: Any) -> None:
    # 10000 literal samples: a deviation of 0.1 standard deviations of a sample is found with probability 0.99.
    orders = (0,) if (decoder, inputs) == NO_CONTROL else (0, 3)
    means = literal(decoder, inputs, 10_000)
    for quantity in QUANTITIES:
        mean, error = means[quantity]
        bound = float(stats.norm.isf(FAMILY / (2 * 3 * len(orders) * mean.size)))
        for order in orders:
            fast = expected_scores(decoder, inputs, 4, 3, 10_000, 1, quantity=quantity, order=order, workers=1)
            together = np.hypot(error, fast.standard_error) + 1e-13
            assert largest_z(fast.mean, mean, together) < bound


def same(one: Expectation, two: Expectation) -> bool:
    names = ("mean", "standard_error", "difference_mean", "difference_standard_error")
    arrays = all(np.array_equal(getattr(one, x), getattr(two, x), equal_nan=True) for x in names)
    return arrays and (one.samples, one.order, one.pilot, one.note) == (two.samples, two.order, two.pilot, two.note)


@pytest.mark.parametrize("order", [0, 2, None])
def test_bits_do_not_depend_on_workers_or_chunk(order: int | None) -> None:
    def run(**options: Any) -> Expectation:
        return expected_scores(Decoder(), Sphere(16), 20, 2, 2001, 5, order=order, **options)

    reference = run(workers=1)
    assert reference.samples == 2001
    assert same(reference, run(workers=1, chunk=1))
    assert same(reference, run(workers=2))
    assert same(reference, run(workers=3, chunk=7))
    assert same(reference, run(workers=2, chunk=10**6))
    other = expected_scores(Decoder(), Sphere(16), 20, 2, 2001, 6, order=order)
    assert not same(reference, other)


def test_stopping_at_a_precision_does_not_depend_on_workers() -> None:
    def run(workers: int) -> Expectation:
        return expected_scores(
            Decoder(), Sphere(16), 12, 2, 10**6, order=1, target_se=2e-4, workers=workers, chunk=10**5
        )

    one, two = run(1), run(3)
    assert same(one, two)
    assert one.samples < 10**6
    assert np.nanmax(one.standard_error) <= 2e-4 * (1 + 1e-12)


def test_progress() -> None:
    calls: list[tuple[int, float, float]] = []
    expected_scores(
        Decoder(), Sphere(8), 10, 2, 20_000, order=0, workers=2, progress=lambda *state: calls.append(state)
    )
    samples, errors, left = zip(*calls, strict=True)
    assert list(samples) == sorted(set(samples))
    assert samples[-1] == 20_000
    assert left[-1] == 0
    assert min(left) >= 0
    assert errors[-1] < errors[0]


@pytest.mark.parametrize(("quantity", "hidden"), [("scores", np.nan), ("weights", 0.0)])
def test_hidden_pairs(quantity: Any, hidden: float) -> None:
    found = expected_scores(Decoder(), Sphere(8), 4, 2, 100, quantity=quantity)
    above = np.triu_indices(4, 1)
    for array in (found.mean, found.standard_error):
        assert np.array_equal(array[:, *above], np.full((2, 6), hidden), equal_nan=True) or hidden == 0
        assert not np.isnan(array[:, *np.tril_indices(4)]).any()
    if hidden == 0:
        assert (found.mean[:, *above] == 0).all()
    visible = np.tril(np.ones((4, 4), dtype=bool))
    both = visible[:, 1:] & visible[:, :-1]
    assert (np.isnan(found.difference_mean) == ~both).all()
    assert (np.isnan(found.difference_standard_error) == ~both).all()


def test_gram_has_all_pairs_and_is_symmetric() -> None:
    found = expected_scores(Decoder(), Sphere(8), 4, 2, 100, quantity="gram")
    assert not np.isnan(found.mean).any()
    assert not np.isnan(found.difference_mean).any()
    assert np.abs(found.mean - found.mean.swapaxes(1, 2)).max() < 1e-13


@pytest.mark.parametrize("order", [0, 3])
def test_paired_differences(order: int) -> None:
    found = expected_scores(Decoder(), Sphere(16), 6, 3, 4000, order=order)
    plain = found.mean[:, :, 1:] - found.mean[:, :, :-1]
    assert np.nanmax(np.abs(found.difference_mean - plain)) < 1e-14
    # The same error from the spread of 400 batch means: six times its relative error 1/sqrt(800) = 0.035, and
    # 0.1 for that of the estimate itself.
    batches = expected_scores(Decoder(), Sphere(16), 6, 3, 40_000, order=order, batches=400).batch_means
    assert batches is not None
    spread = (batches[..., 1:] - batches[..., :-1]).std(axis=0, ddof=1) / np.sqrt(40)
    scale = np.nan_to_num(spread / found.difference_standard_error, nan=1.0)[1:]
    below = np.tril(np.ones((6, 5), dtype=bool), -1)
    assert np.abs(scale[:, below] - 1).max() < 6 * 0.035 + 0.1


def test_batches_are_shares_of_the_samples() -> None:
    found = expected_scores(Decoder(), Sphere(16), 6, 2, 4000, batches=8)
    assert found.batch_means is not None
    assert found.batch_means.shape == (8, 2, 6, 6)
    assert np.nanmax(np.abs(found.batch_means.mean(axis=0) - found.mean)) < 1e-14
    assert expected_scores(Decoder(), Sphere(16), 6, 2, 4000).batch_means is None


def test_same_samples_for_plain_and_controlled() -> None:
    # Order 3 on the samples of order 0: their difference has the variance of the control variates, which
    # is far larger than that of the result.
    plain = expected_scores(Decoder(), Sphere(64), 8, 3, 4000, order=0)
    control = expected_scores(Decoder(), Sphere(64), 8, 3, 4000, order=3)
    gain = (plain.standard_error / control.standard_error)[1:, *np.tril_indices(8, -1)] ** 2
    assert gain.min() > 1000
    assert control.note == "control variates, as asked"


def test_order_is_chosen() -> None:
    assert expected_scores(Decoder(), Sphere(64), 8, 3, 10_000).order == 3
    fallback = expected_scores(*NO_CONTROL, 4, 2, 1000)
    assert fallback.order == 0
    assert "no known moments" in fallback.note
    # Where nothing fluctuates, no order is better than another.
    flat = expected_scores(Decoder(), Sphere(64), 1, 2, 1000)
    assert flat.mean[1, 0, 0] == pytest.approx(1, abs=1e-15)


def test_constants_have_an_error_that_covers_rounding() -> None:
    found = expected_scores(Decoder(), Sphere(8), 6, 3, 2000)
    diagonal = np.arange(6)
    error = found.standard_error[:, diagonal, diagonal]
    assert (np.abs(found.mean[:, diagonal, diagonal] - 1) < error).all()
    assert error.max() < 1e-12
    below = np.tril_indices(6, -1)  # the first layer's scores are c_1, with mean exactly 0
    assert (np.abs(found.mean[0][below]) < 6 * found.standard_error[0][below]).all()


D, BETA = sympy.Symbol("d", integer=True, positive=True), sympy.Symbol("beta", positive=True)


@pytest.mark.parametrize(
    ("changes", "needle"),
    [
        ({"samples": 0}, "samples"),
        ({"samples": 1}, "two samples"),
        ({"samples": 2.5}, "integer"),
        ({"n": 0}, "n = 0"),
        ({"layers": 0}, "layers = 0"),
        ({"seed": -1}, "seed"),
        ({"seed": "x"}, "seed"),
        ({"quantity": "logits"}, "quantity"),
        ({"order": 4}, "order = 4"),
        ({"order": -1}, "order = -1"),
        ({"order": True}, "order = True"),
        ({"workers": 0}, "workers"),
        ({"chunk": 0}, "chunk"),
        ({"target_se": 0.0}, "target_se"),
        ({"target_se": float("nan")}, "target_se"),
        ({"batches": 200}, "batches"),
        ({"batches": 2, "target_se": 1.0}, "batches"),
        ({"inputs": Sphere(D)}, "d = d"),
        ({"inputs": Equicorrelated(0)}, "mean_field"),
        ({"inputs": Sphere(1), "decoder": Decoder(norm="layernorm", scale="d")}, "d >= 2"),
        ({"decoder": Decoder(position=Rope())}, "divides the width"),
        ({"decoder": Decoder(beta=BETA)}, "beta = beta"),
        ({"decoder": Decoder(mask=Prefix(9))}, "prefix"),
        ({"decoder": Decoder(norm="layernorm", scale="d"), "inputs": Sphere(6, 0.3), "order": 2}, "order = 2"),
    ],
    ids=str,
)
def test_bad_input(changes: dict[str, Any], needle: str) -> None:
    arguments: dict[str, Any] = {"decoder": Decoder(), "inputs": Sphere(8), "n": 4, "layers": 2, "samples": 100}
    with pytest.raises(InvalidInput, match=needle) as caught:
        expected_scores(**{**arguments, **changes})
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("order", [0, None])
def test_what_is_not_finite_never_reaches_a_mean(order: int | None) -> None:
    # One dimension: two opposite tokens average to zero, which has no direction.
    with pytest.raises(InvalidInput, match="NaN or infinite"):
        expected_scores(Decoder(beta=0, residual=0), Sphere(1), 2, 2, 100, order=order)
    with pytest.raises(InvalidInput, match="NaN or infinite"):
        expected_scores(Decoder(norm="none", residual=1e200), Sphere(8), 3, 3, 100, order=order)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_fewer_dimensions_than_tokens(d: int) -> None:
    found = expected_scores(Decoder(), Sphere(d), 6, 3, 2000)
    assert np.isfinite(found.mean[:, *np.tril_indices(6)]).all()
    assert (np.abs(found.mean[:, *np.tril_indices(6)]) <= 1 + 6 * np.nanmax(found.standard_error)).all()
