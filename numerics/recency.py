"""How often one input gives a nearer key the higher score: the recency probability of version 2 of the paper.

    RP = mean over inputs of the fraction of triples j < k < i with S_ik > S_ij.

*LayerNorm Induces Recency Bias in Transformer Decoders* (arXiv 2509.21042, from version 2) prints it to four
decimals. An estimate here is a plain average or, for Gaussian inputs, an average with control variates: the same
count for the scores linearised in the noise of the inputs, whose mean is known (``numerics.recency_linear``).

Only integers are added up, so the result depends on the seed and the number of samples, and on nothing else.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from maskproof.numerics.arrays import Array
from maskproof.numerics.layers import Layer, layer_of
from maskproof.numerics.recency_linear import Linear, linear_of
from maskproof.numerics.sampling import Law, law_of, sample_coordinates
from maskproof.theory.decoder import Causal, Decoder
from maskproof.theory.errors import InvalidInput
from maskproof.theory.inputs import Inputs
from maskproof.theory.values import positive_integer

Counts = NDArray[np.int64]
BatchProgress = Callable[[int, float], Any]

BATCH = 1024
"""Samples that are processed together: at ten tokens an array of them fits the cache of a core."""
BLOCK = 8 * BATCH
"""Samples that share one random stream."""
WAVE = 16
"""Blocks between two looks at the precision reached: a fixed number, so that the looks don't depend on workers."""
PILOT = 4096
"""Further samples that set the regression coefficients and enter no mean."""
TIE = 2.0**-44
"""Two scores closer than this, relative to the norms of the vectors, may owe their order to rounding."""


@dataclass(frozen=True)
class Recency:
    """Recency probabilities of the layers, from 1, with their statistical errors.

    Attributes:
        probability: share of triples j < k < i with S_ik > S_ij, shape (layers,).
        standard_error: standard deviation of ``probability``; at least 1/samples, since an order that is rarer
            than that may never have been seen.
        ties: share of triples whose scores are equal or so close that rounding may have decided. They don't
            count as S_ik > S_ij, so the probability is too low by at most this.
        spread: standard deviation of the share in a single input, without control variates.
        samples: number of independent inputs.
        seed: seed of the random streams.
        controlled: whether control variates were used.
    """

    probability: Array
    standard_error: Array
    ties: Array
    spread: Array = field(repr=False)
    samples: int
    seed: int
    controlled: bool


@dataclass(frozen=True)
class _Task:
    law: Law
    layer: Layer
    layers: int
    seed: int
    normalise_inputs: bool
    linear: Linear | None


@dataclass(frozen=True)
class _Sums:
    """Sums over samples of the counts and of their products.

    Attributes:
        samples: how many.
        first: sums of the counts: layer by layer the scores', then the linearised scores'.
        second: sums of products of two counts.
        ties: sums of the numbers of ties, layer by layer.
    """

    samples: int
    first: Counts
    second: Counts
    ties: Counts

    def merged(self, other: _Sums) -> _Sums:
        """The sums over both sets of samples."""
        return _Sums(
            self.samples + other.samples,
            self.first + other.first,
            self.second + other.second,
            self.ties + other.ties,
        )

    def covariance(self) -> Array:
        """Unbiased covariance matrix of the counts in one sample."""
        # Exact integers, so that nothing cancels.
        scaled = self.samples * self.second.astype(object) - np.outer(self.first.astype(object), self.first)
        return np.asarray(scaled / (self.samples * (self.samples - 1)), dtype=float)


def recency_probability(
    decoder: Decoder,
    inputs: Inputs,
    n: int,
    layers: int,
    samples: int,
    seed: int = 0,
    *,
    normalise_inputs: bool = False,
    control: bool = True,
    target_se: float | None = None,
    workers: int | None = None,
    progress: BatchProgress | None = None,
) -> Recency:
    """Estimate the recency probability of each layer.

    Args:
        decoder: a causal decoder without rotary embedding.
        inputs: a random law at a numeric width; version 2 samples ``SharedGaussian(d, alpha, unit=False)``.
        n: number of tokens, at least 3.
        layers: number of layers.
        samples: number of independent inputs; with ``target_se`` the most that may be used.
        seed: seed; the same seed and number of samples give the same bits for any ``workers``.
        normalise_inputs: whether the residual stream starts with the normalised inputs (of norm sqrt(d) for
            layer normalisation) and not with the inputs themselves.
        control: use control variates where there are any (Gaussian inputs).
        target_se: stop when every standard error is at most this.
        workers: number of threads; by default one per core, at most 8.
        progress: called from time to time with samples so far and the largest standard error.

    Returns:
        Probabilities and standard errors of shape (layers,).

    Raises:
        InvalidInput: fewer than three tokens or two samples, a mask other than causal, inputs that are not random
            or not numeric, normalised inputs without a norm, or a score that is not finite.

    Source: arXiv 2509.21042v2, recency probability.
    """
    n, layers, samples = _sizes(n, layers, samples)
    if decoder.mask != Causal():
        raise InvalidInput(f"mask = {decoder.mask}", "'the mask is causal'", "recency is about keys before the query")
    if normalise_inputs and not decoder.normalised:
        raise InvalidInput("normalise_inputs", "'the decoder normalises'", "use norm='l2' or 'layernorm'")
    if target_se is not None and not target_se > 0:
        raise InvalidInput(f"target_se = {target_se}", "target_se > 0", "leave it out to use all samples")
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise InvalidInput(f"seed = {seed!r}", "'seed is a non-negative integer'", "use 0")
    law = law_of(inputs, decoder)
    layer = layer_of(decoder, n, law.d)
    linear = linear_of(law, layer, layers, normalise_inputs) if control else None
    task = _Task(law, layer, layers, int(seed), normalise_inputs, linear)
    threads = _threads(workers)
    with threadpool_limits(1), ThreadPoolExecutor(threads) as pool:
        slopes = np.zeros((layers, layers))
        if linear is not None:
            slopes = _slopes(_run_block(task, 1, (0, PILOT)), layers)
        return _estimate(task, slopes, samples, target_se, pool, progress)


def _sizes(n: object, layers: object, samples: object) -> tuple[int, int, int]:
    tokens, depth = positive_integer(n, "n"), positive_integer(layers, "layers")
    count = positive_integer(samples, "samples")
    if tokens < 3:
        raise InvalidInput(f"n = {tokens}", "n >= 3", "a triple j < k < i needs three tokens")
    if count < 2:
        raise InvalidInput(f"samples = {count}", "samples >= 2", "a standard error needs at least two samples")
    return tokens, depth, count


def _threads(workers: int | None) -> int:
    if workers is not None:
        return positive_integer(workers, "workers")
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(8, cores)


def _estimate(
    task: _Task,
    slopes: Array,
    samples: int,
    target_se: float | None,
    pool: ThreadPoolExecutor,
    progress: BatchProgress | None,
) -> Recency:
    blocks = iter(_blocks(samples))
    total: _Sums | None = None
    while wave := list(islice(blocks, WAVE)):
        for part in pool.map(lambda block: _run_block(task, 0, block), wave):
            total = part if total is None else total.merged(part)
        assert total is not None
        if target_se is None and progress is None:
            continue
        largest = float(_result(task, total, slopes).standard_error.max())
        if progress is not None:
            progress(total.samples, largest)
        if target_se is not None and largest <= target_se:
            break
    assert total is not None
    return _result(task, total, slopes)


def _blocks(samples: int) -> Iterator[tuple[int, int]]:
    """Index and size of each block."""
    for index, start in enumerate(range(0, samples, BLOCK)):
        yield index, min(BLOCK, samples - start)


def _run_block(task: _Task, purpose: int, block: tuple[int, int]) -> _Sums:
    """Sums over one block; ``purpose`` is 0 for what enters the mean, 1 for the pilot."""
    index, size = block
    stream = np.random.SeedSequence(task.seed, spawn_key=(purpose, index))
    generator = np.random.Generator(np.random.PCG64DXSM(stream))
    total: _Sums | None = None
    for start in range(0, size, BATCH):
        part = _run_batch(task, generator, min(BATCH, size - start))
        total = part if total is None else total.merged(part)
    assert total is not None
    return total


def _run_batch(task: _Task, generator: np.random.Generator, count: int) -> _Sums:
    tokens = sample_coordinates(task.law, task.layer.n, count, generator, task.layer.split)
    inner = _last(tokens.centred @ tokens.centred.swapaxes(1, 2))
    if task.normalise_inputs:
        factors = _factors(inner, task.layer)
        inner = inner * factors[:, None] * factors[None, :]
    rows, ties = [], []
    for scores, lengths in _scores(inner, task.layer, task.layers):
        above, tied = _orders(scores, TIE * lengths)
        rows.append(above)
        ties.append(int(tied.sum()))
    if task.linear is not None:
        assert tokens.frame is not None
        noise = _last(tokens.frame @ tokens.frame.swapaxes(1, 2))
        exact = np.zeros((task.layer.n, count))
        rows += [_orders(scores, exact)[0] for scores in task.linear.scores(noise)]
    counts = np.stack(rows).astype(float)  # small integers: products and their sums are exact
    return _Sums(
        count,
        counts.sum(axis=1).astype(np.int64),
        (counts @ counts.T).astype(np.int64),
        np.array(ties, dtype=np.int64),
    )


def _last(batch: Array) -> Array:
    """Move the batch axis to the end, where consecutive numbers belong to different samples."""
    return np.ascontiguousarray(batch.transpose(1, 2, 0))


def _scores(inner: Array, layer: Layer, layers: int) -> Iterator[tuple[Array, Array]]:
    """Scores of each layer up to a common factor, and the largest |y_i| |y_j| in each row.

    Args:
        inner: Gram matrix of the tokens (of the centred tokens for layer normalisation), shape (n, n, batch).
        layer: the layer.
        layers: number of layers.

    Yields:
        Shapes (n, n, batch) and (n, batch).
    """
    n = layer.n
    gain = layer.beta * layer.score_gain / layer.value_norm**2
    for level in range(layers):
        squares = np.einsum("iib->ib", inner)
        if layer.normalised:
            factors = _factors(inner, layer)
            scores = inner * factors[:, None] * factors[None, :]
            lengths = np.full_like(squares, layer.value_norm**2)
        else:
            factors, scores = np.ones_like(squares), inner
            norms = np.sqrt(squares)
            lengths = norms * np.maximum.accumulate(norms, axis=0)
        if not np.isfinite(scores).all():
            raise InvalidInput(
                "a score that is NaN or infinite",
                "'every sampled score is finite'",
                "use a smaller beta, a larger width or fewer layers",
            )
        yield scores, lengths
        if level == layers - 1:
            return
        mixing = np.zeros_like(inner)
        for i in range(n):
            logits = gain * scores[i, : i + 1]
            weights = np.exp(logits - logits.max(axis=0))
            mixing[i, : i + 1] = weights / weights.sum(axis=0) * factors[: i + 1]
            mixing[i, i] += layer.residual
        inner = _congruence(mixing, inner)


def _factors(inner: Array, layer: Layer) -> Array:
    """What normalisation multiplies each token by, shape (n, batch)."""
    squares = np.einsum("iib->ib", inner)
    if not (squares > 0).all():
        raise InvalidInput(
            "a token vector of norm zero (up to rounding)",
            "'a normalised vector is not zero'",
            "use residual > 0, beta > 0 or other inputs",
        )
    return layer.value_norm / np.sqrt(squares)


def _congruence(mixing: Array, inner: Array) -> Array:
    """M K M^T for lower triangular M, batch last."""
    after = np.empty_like(inner)
    for i in range(len(inner)):
        seen = slice(i + 1)
        half = np.einsum("kb,klb->lb", mixing[i, seen], inner[seen, seen])
        after[i, seen] = after[seen, i] = np.einsum("lb,jlb->jb", half, mixing[seen, seen])
    return after


def _orders(scores: Array, tolerance: Array) -> tuple[Counts, Counts]:
    """In each sample, the triples with S_ik - S_ij > tolerance_i, and those within the tolerance.

    Args:
        scores: shape (n, n, batch).
        tolerance: shape (n, batch), not negative.
    """
    n, batch = tolerance.shape
    above, reached = np.zeros(batch, dtype=np.int64), np.zeros(batch, dtype=np.int64)
    for k in range(1, n - 1):
        differences = scores[k + 1 :, k : k + 1] - scores[k + 1 :, :k]
        slack = tolerance[k + 1 :, None]
        above += np.count_nonzero((differences > slack).reshape(-1, batch), axis=0)
        reached += np.count_nonzero((differences >= -slack).reshape(-1, batch), axis=0)
    return above, reached - above


def _slopes(pilot: _Sums, layers: int) -> Array:
    """Regression coefficients of each layer's count on the linearised counts, shape (layers, layers)."""
    covariance = pilot.covariance()
    # A pseudo-inverse: linearised counts of two layers can coincide.
    return covariance[:layers, layers:] @ np.linalg.pinv(covariance[layers:, layers:], rcond=1e-8, hermitian=True)


def _result(task: _Task, total: _Sums, slopes: Array) -> Recency:
    n, layers = task.layer.n, task.layers
    triples = n * (n - 1) * (n - 2) // 6
    means, covariance = total.first / total.samples, total.covariance()
    counts, variances = means[:layers], np.diagonal(covariance)[:layers]
    spread = np.sqrt(variances) / triples
    if task.linear is not None:
        counts = counts + slopes @ (triples * task.linear.probability() - means[layers:])
        combine = np.hstack([np.eye(layers), -slopes])
        variances = np.einsum("la,ab,lb->l", combine, covariance, combine)
    error = np.sqrt(np.maximum(variances, 0) / total.samples) / triples
    return Recency(
        probability=counts / triples,
        standard_error=np.maximum(error, 1 / total.samples),
        ties=total.ties / (triples * total.samples),
        spread=spread,
        samples=total.samples,
        seed=task.seed,
        controlled=task.linear is not None,
    )
