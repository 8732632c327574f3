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

from maskproof.numerics.arrays import Array
from maskproof.numerics.attention import Pairing, attend
from maskproof.numerics.layers import QUANTITIES, Quantity
from maskproof.numerics.parameters import visibility
from maskproof.numerics.rope_series import ORDER, SeriesMap, correction, series_map, turned_products
from maskproof.numerics.sampling import Law, law_of, sample_vectors
from maskproof.numerics.statistics import Moments, moments_of
from maskproof.theory.decoder import Decoder
from maskproof.theory.errors import InvalidInput
from maskproof.theory.inputs import Inputs
from maskproof.theory.values import positive_integer

BATCH_NUMBERS = 2_000_000  # numbers in the vectors of one batch
LARGEST_BATCH = 500
ROUNDING = 2.0**-46  # relative error that a standard error never goes below


@dataclass(frozen=True)
class LiteralRun:
    """One kind of sample: inputs drawn as vectors, attention run on them as its definition reads.

    Attributes:
        decoder: with any mask, norm and position encoding.
        law: of the inputs.
        n: number of tokens.
        layers: number of layers.
        quantity: what is computed: "scores", "weights" or "gram" (after the layer).
        pairing: which coordinates RoPE turns together.
        order: of the control variates; 0 for none.
        series: the layer map in power series, for the control variates.
        offset: the mean of what they take off, shape (layers, n, n).
    """

    decoder: Decoder
    law: Law
    n: int
    layers: int
    quantity: Quantity = "scores"
    pairing: Pairing = "half"
    order: int = 0
    series: SeriesMap | None = None
    offset: Array | float = 0.0

    @property
    def batch(self) -> int:
        """Samples that are processed together."""
        numbers = max(self.n * self.law.d, self.n**3 if self.series is not None else 1)
        return max(1, min(LARGEST_BATCH, BATCH_NUMBERS // numbers))

    def sample(self, count: int, generator: np.random.Generator) -> Array:
        """Draw ``count`` inputs; return the quantity less the control variates, shape (count, layers, n, n).

        Its mean is that of the quantity minus ``offset``.
        """
        vectors = sample_vectors(self.law, self.n, count, generator)
        run = attend(self.decoder, vectors, self.layers, self.pairing)
        if self.quantity == "weights":
            return run.weights.swapaxes(0, 1)
        if self.quantity == "gram":
            return (run.vectors @ run.vectors.swapaxes(-1, -2)).swapaxes(0, 1)
        scores = run.raw_scores.swapaxes(0, 1).copy()
        if self.series is not None:
            noise = turned_products(self.decoder.position, vectors) - self.series.mean
            for level, terms in enumerate(self.series.run(noise)):
                for term in terms[1 : self.order + 1]:
                    scores[:, level] -= term
        return scores


def literal_run(
    decoder: Decoder,
    inputs: Inputs,
    n: int,
    layers: int,
    *,
    quantity: Quantity = "scores",
    order: int = 0,
    pairing: Pairing = "half",
) -> LiteralRun:
    """What ``expected_on_vectors`` averages; arguments and errors as there."""
    n, layers = positive_integer(n, "n"), positive_integer(layers, "layers")
    if quantity not in QUANTITIES:
        raise InvalidInput(f"quantity = {quantity!r}", "'quantity is known'", f"use one of {', '.join(QUANTITIES)}")
    if order not in range(ORDER + 1):
        raise InvalidInput(f"order = {order}", "'order is 0, 1 or 2'", "use 0 for a plain average")
    if order and (pairing != "half" or quantity != "scores"):
        raise InvalidInput(
            f"order = {order} with pairing {pairing!r} and quantity {quantity!r}",
            "'control variates are for scores with half-split pairing'",
            "use order = 0",
        )
    law = law_of(inputs, decoder)
    series = series_map(decoder, inputs, n, layers)[0] if order else None
    offset = np.nan_to_num(correction(decoder, inputs, n, layers).correction) if order == ORDER else 0.0
    return LiteralRun(decoder, law, n, layers, quantity, pairing, order, series, offset)


def literal_order(decoder: Decoder, inputs: Inputs, n: int, quantity: Quantity) -> int:
    """The highest order of control variates that exists and costs no more than the samples do.

    Counted, not timed: the exact mean of the second order takes work like n^7, a sample of the first like n^4.
    """
    if quantity != "scores" or decoder.norm == "layernorm" or law_of(inputs, decoder).gaussian:
        return 0
    return 2 if n <= 12 else 1 if n <= 24 else 0


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
        order: 0 for a plain average; 1 or 2 to subtract the noise up to that order (``Sphere`` with norm l2 or none).
        pairing: which coordinates RoPE turns together; control variates need "half".

    Raises:
        InvalidInput: a value is out of range or symbolic, RoPE's dim does not divide the width, or control variates
            are asked for where there are none.
    """
    samples = positive_integer(samples, "samples")
    if samples < 2:
        raise InvalidInput(f"samples = {samples}", "samples >= 2", "a standard error needs at least two samples")
    run = literal_run(decoder, inputs, n, layers, order=order, pairing=pairing)
    total: Moments | None = None
    for index, start in enumerate(range(0, samples, run.batch)):
        generator = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(index,)))
        part = moments_of(run.sample(min(run.batch, samples - start), generator))
        total = part if total is None else total.merged(part)
    assert total is not None
    mean = total.mean + run.offset
    error = np.hypot(total.standard_error(), ROUNDING * np.abs(mean))
    hidden = ~visibility(decoder.mask, run.n)
    mean[:, hidden] = error[:, hidden] = np.nan
    return VectorExpectation(mean, error, samples, seed, order)
