"""Expected scores by literal attention on sampled vectors, with any position encoding and mask.

``numerics.monte_carlo`` samples coordinates in a basis of the tokens' span and never sees a vector of R^d. RoPE turns
coordinates of R^d, so here inputs are drawn as vectors and go through ``numerics.attention``. The law ``Sphere``
admits control variates: the first and second order of the scores in the noise of the inputs, with known means
(``numerics.rope_series``). They remove what fluctuates at order d^(-1/2) and 1/d, so that a few hundred samples tell
the limit from its correction.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from numerics.attention import Pairing, attend
from numerics.rope_series import ORDER, SeriesMap, correction, series_map, turned_products
from numerics.sampling import Law, law_of, sample_vectors
from numerics.statistics import Moments, moments_of
from theory.decoder import Decoder
from theory.errors import InvalidInput
from theory.inputs import Inputs
from theory.values import positive_integer

Array = NDArray[np.float64]

BATCH_NUMBERS = 2_000_000  # numbers in the vectors of one batch
ROUNDING = 2.0**-46  # relative error that a standard error never goes below


@dataclass(frozen=True)
class VectorExpectation:
    """Mean scores over sampled inputs; NaN where the mask hides the key.

    Attributes:
        mean: shape (layers, n, n), index [l-1, i-1, j-1].
        standard_error: of the mean.
        samples: number of independent inputs.
        seed: of the random streams; one batch has one stream.
        order: of the control variates; 0 for a plain average.
    """

    mean: Array = field(repr=False)
    standard_error: Array = field(repr=False)
    samples: int
    seed: int
    order: int


def expected_on_vectors(
    decoder: Decoder,
    inputs: Inputs,
    n: int,
    layers: int,
    samples: int,
    seed: int = 0,
    *,
    order: int = 0,
    pairing: Pairing = "half",
) -> VectorExpectation:
    """Average the scores of ``numerics.attention`` over random inputs.

    Args:
        decoder: with any mask, norm and position encoding.
        inputs: ``Sphere`` or ``SharedGaussian`` at a numeric width.
        n: number of tokens.
        layers: number of layers.
        samples: number of independent inputs, at least 2.
        seed: a whole number from 0 up; the same seed gives the same bits.
        order: 0 for a plain average; 1 or 2 to subtract the noise of that order (``Sphere`` with norm l2 or none).
        pairing: which coordinates RoPE turns together; control variates need "half".

    Raises:
        InvalidInput: a value is out of range or symbolic, RoPE's dim does not divide the width, or control variates
            are asked for where there are none.
    """
    n, layers = positive_integer(n, "n"), positive_integer(layers, "layers")
    samples = positive_integer(samples, "samples")
    if samples < 2:
        raise InvalidInput(f"samples = {samples}", "samples >= 2", "a standard error needs at least two samples")
    if order not in range(ORDER + 1):
        raise InvalidInput(f"order = {order}", "'order is 0, 1 or 2'", "use 0 for a plain average")
    if order and pairing != "half":
        raise InvalidInput(f"pairing = {pairing!r} with order = {order}", "'pairing is half'", "use order = 0")
    law = law_of(inputs, decoder)
    layer_map = series_map(decoder, inputs, n, layers)[0] if order else None
    total: Moments | None = None
    size = max(1, min(500, BATCH_NUMBERS // max(n * law.d, n**3 if order else 1)))
    for index, start in enumerate(range(0, samples, size)):
        count = min(size, samples - start)
        part = moments_of(_batch(decoder, law, layer_map, (n, layers, count, order), (seed, index), pairing))
        total = part if total is None else total.merged(part)
    assert total is not None
    mean, error = total.mean, np.hypot(total.standard_error(), ROUNDING * np.abs(total.mean))
    if order == ORDER:
        known = correction(decoder, inputs, n, layers).correction
        mean = mean + np.nan_to_num(known)
    hidden = _hidden(decoder, n)
    mean[:, hidden] = error[:, hidden] = np.nan
    return VectorExpectation(mean, error, samples, seed, order)


def _hidden(decoder: Decoder, n: int) -> NDArray[np.bool_]:
    spans = [decoder.mask.visible(i, n) for i in range(1, n + 1)]
    return np.array([[not first <= j <= last for j in range(1, n + 1)] for first, last in spans])


def _batch(
    decoder: Decoder,
    law: Law,
    layer_map: SeriesMap | None,
    sizes: tuple[int, int, int, int],
    stream: tuple[int, int],
    pairing: Pairing,
) -> Array:
    """Scores of one batch, less the control variates; shape (count, layers, n, n)."""
    n, layers, count, order = sizes
    generator = np.random.default_rng(np.random.SeedSequence(stream[0], spawn_key=(stream[1],)))
    vectors = sample_vectors(law, n, count, generator)
    scores = attend(decoder, vectors, layers, pairing).raw_scores.swapaxes(0, 1).copy()
    if layer_map is not None:
        noise = turned_products(decoder.position, vectors) - layer_map.mean
        for level, terms in enumerate(layer_map.run(noise)):
            for term in terms[1 : order + 1]:
                scores[:, level] -= term
    return scores
