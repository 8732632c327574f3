"""expected_scores with a position encoding: literal attention behind the same interface."""

import numpy as np
import pytest

from maskproof.numerics import expected_scores, mean_field
from maskproof.theory.decoder import Alibi, Bidirectional, Causal, Decoder, Rope, SlidingWindow, T5Bias
from maskproof.theory.errors import InvalidInput
from maskproof.theory.inputs import Sphere


@pytest.mark.parametrize("position", [Rope(dim=16), Alibi(0.5), T5Bias((0, 1, -1), (1, 0), 5)])
@pytest.mark.parametrize("mask", [Causal(), Bidirectional(), SlidingWindow(2)])
@pytest.mark.parametrize("norm", ["l2", "none", "layernorm"])
@pytest.mark.parametrize("quantity", ["scores", "weights", "gram"])
def test_every_model_is_sampled(position, mask, norm, quantity):
    decoder = Decoder(norm=norm, scale="d" if norm == "layernorm" else 1, mask=mask, position=position)
    run = expected_scores(decoder, Sphere(64, 0.3), 5, 3, 300, seed=1, quantity=quantity)
    limit = getattr(mean_field(decoder, 0.3, 5, 3, dim=64), quantity)
    assert np.array_equal(np.isfinite(run.mean), np.isfinite(limit))
    # Within the 1/d correction (measured: below 2/d of the largest entry) and six standard errors.
    allowed = np.nanmax(np.abs(limit)) * 3 / 64 + 6 * np.nanmax(run.standard_error)
    assert np.nanmax(np.abs(run.mean - limit)) < allowed


def test_bits_do_not_depend_on_workers():
    decoder = Decoder(position=Rope(dim=16))
    one = expected_scores(decoder, Sphere(64), 5, 3, 3000, seed=1, workers=1)
    two = expected_scores(decoder, Sphere(64), 5, 3, 3000, seed=1, workers=2, chunk=1)
    assert np.array_equal(one.mean, two.mean, equal_nan=True)
    assert np.array_equal(one.standard_error, two.standard_error, equal_nan=True)
    assert one.order == 2
    assert np.diff(one.mean, axis=-1) == pytest.approx(one.difference_mean, nan_ok=True)


def test_batches():
    run = expected_scores(Decoder(position=Rope(dim=16)), Sphere(64), 5, 3, 800, seed=1, batches=4)
    assert run.batch_means is not None
    assert run.batch_means.mean(axis=0) == pytest.approx(run.mean, nan_ok=True)


def test_bad_input():
    decoder = Decoder(position=Rope(dim=16))
    with pytest.raises(InvalidInput, match="order is 0, 1 or 2"):
        expected_scores(decoder, Sphere(64), 5, 3, 30, order=3)
    with pytest.raises(InvalidInput, match="divides the width"):
        expected_scores(decoder, Sphere(24), 5, 3, 30)
