"""The comparison of the three routes, which several files make."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from maskproof.numerics.attention import Attention
from maskproof.numerics.balls import Enclosure
from maskproof.numerics.gram import MeanField
from maskproof.theory.decoder import Decoder


@pytest.fixture
def vectors_agree() -> Callable[[MeanField, Attention], None]:
    """Literal attention agrees with the Gram recursion to 1e-12."""

    def compare(field: MeanField, run: Attention) -> None:
        # Squared norms and scores grow where nothing normalises: the tolerance is relative to the largest.
        size = np.abs(run.raw_scores).max(axis=(1, 2), keepdims=True)
        gram = run.vectors @ np.swapaxes(run.vectors, 1, 2)
        lengths = np.abs(gram).max(axis=(1, 2), keepdims=True)
        assert field.scores / size == pytest.approx(run.scores / size, abs=1e-12, nan_ok=True)
        assert field.weights == pytest.approx(run.weights, abs=1e-12)
        assert field.gram / lengths == pytest.approx(gram / lengths, abs=1e-12)

    return compare


@pytest.fixture
def balls_agree() -> Callable[[Decoder, MeanField, Enclosure], None]:
    """The recursion in balls agrees with that in floats to 1e-12, entry by entry."""

    def compare(decoder: Decoder, field: MeanField, balls: Enclosure) -> None:
        layers, n, _ = field.weights.shape
        for layer in range(1, layers + 1):
            for i in range(1, n + 1):
                keys = decoder.mask.keys(i, n)
                for j in range(1, n + 1):
                    at = layer - 1, i - 1, j - 1
                    assert float(balls.weight(layer, i, j)) == pytest.approx(field.weights[at], abs=1e-12)
                    assert float(balls.gram(layer, i, j)) == pytest.approx(field.gram[at], rel=1e-12, abs=1e-12)
                    if j in keys:
                        assert float(balls.score(layer, i, j)) == pytest.approx(field.scores[at], rel=1e-12, abs=1e-12)
                    else:
                        assert np.isnan(field.scores[at])

    return compare
