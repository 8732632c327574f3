"""Expected scores over random inputs, with standard errors.

Samples are drawn in blocks of a size that depends on the number of tokens alone. Block b has its own random
stream, spawned from the seed by its index, and blocks are merged in the order of their indices. So the
result, to the last bit, depends neither on the number of workers nor on how many samples are in memory at
a time.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from numerics.layers import QUANTITIES, Layer, Quantity, layer_of, run
from numerics.sampling import Law, law_of, sample_coordinates
from numerics.statistics import Moments, moments_of
from theory.decoder import Decoder
from theory.errors import InvalidInput
from theory.inputs import Inputs
from theory.values import positive_integer

Array = NDArray[np.float64]
Progress = Callable[[int, float, float], Any]

BATCH_NUMBERS = 125_000
"""Numbers in one array of a batch: 50 Gram matrices of 50 tokens, which stay in the cache of a core."""
BATCHES_PER_BLOCK = 4
ROUNDING = 2.0**-46
"""Relative error that a standard error never goes below: a few hundred roundings of float64."""


@dataclass(frozen=True)
class Expectation:
    """Estimated expectations with their statistical errors.

    Indices are ``[l-1, i-1, j-1]``. Where the mask hides key j from query i, scores are NaN and weights 0;
    a difference is NaN unless both of its keys are visible. Standard errors include a bound on rounding
    (relative 2^-46), so that quantities which do not fluctuate have a small error but not a zero one.

    Attributes:
        mean: shape (layers, n, n).
        standard_error: standard deviation of ``mean``.
        difference_mean: shape (layers, n, n-1): expectation at (i, j+1) minus that at (i, j).
        difference_standard_error: the same for the difference, from paired samples.
        samples: number of independent inputs averaged over.
        seed: seed of the random streams.
        quantity: "scores", "weights" or "gram".
        order: highest order of the control variates; 0 for a plain average.
        pilot: number of further inputs that set the regression coefficients and enter no mean.
        note: why this order was chosen.
    """

    mean: Array = field(repr=False)
    standard_error: Array = field(repr=False)
    difference_mean: Array = field(repr=False)
    difference_standard_error: Array = field(repr=False)
    samples: int
    seed: int
    quantity: Quantity
    order: int
    pilot: int
    note: str


@dataclass(frozen=True)
class Task:
    """What one block has to do."""

    law: Law
    layer: Layer
    layers: int
    quantity: Quantity
    seed: int
    batch: int

    @property
    def block(self) -> int:
        """Samples in a full block."""
        return self.batch * BATCHES_PER_BLOCK


def batch_size(n: int) -> int:
    """Samples that are processed together: it depends on the number of tokens alone."""
    return max(1, min(5000, BATCH_NUMBERS // n**2))


def _differences(values: Array) -> Array:
    return values[..., 1:] - values[..., :-1]


def _run_block(task: Task, index: int, samples: int) -> tuple[Moments, Moments]:
    """Moments of the quantity and of its differences over block ``index`` of ``samples`` samples."""
    stream = np.random.SeedSequence(task.seed, spawn_key=(0, index))
    generator = np.random.Generator(np.random.PCG64DXSM(stream))
    total: tuple[Moments, Moments] | None = None
    for start in range(0, samples, task.batch):
        count = min(task.batch, samples - start)
        tokens = sample_coordinates(task.law, task.layer.n, count, generator, task.layer.split)
        values = np.stack(list(run(tokens, task.layer, task.layers, task.quantity)), axis=1)
        part = moments_of(values), moments_of(_differences(values))
        total = part if total is None else (total[0].merged(part[0]), total[1].merged(part[1]))
    assert total is not None
    return total


def _in_order(
    function: Callable[[tuple[int, int]], tuple[Moments, Moments]],
    blocks: Iterable[tuple[int, int]],
    workers: int,
    ahead: int,
) -> Iterator[tuple[Moments, Moments]]:
    """Map over ``blocks`` with threads, at most ``ahead`` blocks in flight, results in order."""
    if workers == 1:
        yield from map(function, blocks)
        return
    remaining = iter(blocks)
    with ThreadPoolExecutor(workers) as pool:
        waiting = [pool.submit(function, block) for block in islice(remaining, ahead)]
        try:
            while waiting:
                yield waiting.pop(0).result()
                waiting += [pool.submit(function, block) for block in islice(remaining, 1)]
        finally:
            for future in waiting:
                future.cancel()


def _split(samples: int, block: int) -> Iterator[tuple[int, int]]:
    """Index and size of each block."""
    for index, start in enumerate(range(0, samples, block)):
        yield index, min(block, samples - start)


def _with_rounding(standard_error: Array, scale: Array) -> Array:
    return np.hypot(standard_error, ROUNDING * np.abs(scale))


def _sample_count(samples: object) -> int:
    count = positive_integer(samples, "samples")
    if count < 2:
        raise InvalidInput(f"samples = {count}", "samples >= 2", "a standard error needs at least two samples")
    return count


def expected_scores(
    decoder: Decoder,
    inputs: Inputs,
    n: int,
    layers: int,
    samples: int,
    seed: int = 0,
    *,
    quantity: Quantity = "scores",
    order: int | None = None,
    workers: int | None = None,
    chunk: int | None = None,
    target_se: float | None = None,
    progress: Progress | None = None,
) -> Expectation:
    """Estimate expected scores, weights or Gram matrices over random inputs.

    Args:
        decoder: the decoder, without rotary embedding.
        inputs: a random law, ``Sphere`` or ``SharedGaussian``, at a numeric width.
        n: number of tokens.
        layers: number of layers.
        samples: number of independent inputs; with ``target_se`` the most that may be used.
        seed: seed; the same seed gives the same bits for any ``workers`` and ``chunk``.
        quantity: "scores", "weights" or "gram" (after the layer).
        order: 0 for a plain average.
        workers: number of threads; by default one per core, at most 8.
        chunk: samples in flight at a time, rounded up to whole blocks; by default two blocks per worker.
        target_se: stop at the first block after which every standard error, also of the differences, is at
            most this.
        progress: called after each block with samples so far, largest standard error, seconds left.

    Returns:
        Means, standard errors and paired differences.

    Raises:
        InvalidInput: fewer than two samples, inputs that are not random or not numeric, a width too small
            for the law, a decoder with RoPE, or a sample that is not finite.
    """
    n, layers = positive_integer(n, "n"), positive_integer(layers, "layers")
    samples = _sample_count(samples)
    seed = _seed(seed)
    if quantity not in QUANTITIES:
        raise InvalidInput(
            f"quantity = {quantity!r}", "'quantity is known'", f"use one of {', '.join(QUANTITIES)}"
        )
    if order not in (None, 0):
        raise InvalidInput(f"order = {order}", "order = 0", "control variates are not available yet")
    if target_se is not None and not target_se > 0:
        raise InvalidInput(f"target_se = {target_se}", "target_se > 0", "leave it out to use all samples")
    law = law_of(inputs, decoder)
    task = Task(law, layer_of(decoder, n, law.d), layers, quantity, seed, batch_size(n))
    workers = _workers(workers)
    ahead = 2 * workers if chunk is None else -(-positive_integer(chunk, "chunk") // task.block)
    total = _accumulate(task, samples, workers, ahead, target_se, progress)
    return _expectation(task, total, order=0, pilot=0, note="plain average")


def _seed(seed: object) -> int:
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise InvalidInput(f"seed = {seed!r}", "'seed is a non-negative integer'", "use 0")
    return int(seed)


def _workers(workers: int | None) -> int:
    if workers is None:
        return min(8, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
    return positive_integer(workers, "workers")


def _accumulate(
    task: Task, samples: int, workers: int, ahead: int, target_se: float | None, progress: Progress | None
) -> tuple[Moments, Moments]:
    started = time.monotonic()
    total: tuple[Moments, Moments] | None = None
    block = partial(_run_block, task)
    with threadpool_limits(1):
        results = _in_order(lambda which: block(*which), _split(samples, task.block), workers, ahead)
        for part in results:
            total = part if total is None else (total[0].merged(part[0]), total[1].merged(part[1]))
            if target_se is None and progress is None:
                continue
            largest = _largest_error(task, total)
            done = total[0].count
            if progress is not None:
                progress(done, largest, _seconds_left(done, samples, largest, target_se, time.monotonic() - started))
            if target_se is not None and largest <= target_se:
                results.close()
                break
    assert total is not None
    return total


def _visible_pairs(task: Task) -> NDArray[np.bool_]:
    """Where a difference of neighbouring keys has a meaning."""
    if task.quantity == "gram":
        return np.ones((task.layer.n, task.layer.n - 1), dtype=bool)
    return task.layer.visible[:, 1:] & task.layer.visible[:, :-1]


def _largest_error(task: Task, total: tuple[Moments, Moments]) -> float:
    if total[0].count < 2:
        return float("inf")
    shown = np.ones_like(task.layer.visible) if task.quantity == "gram" else task.layer.visible
    largest = total[0].standard_error()[:, shown].max()
    pairs = _visible_pairs(task)
    return float(max(largest, total[1].standard_error()[:, pairs].max()) if pairs.any() else largest)


def _seconds_left(done: int, samples: int, largest: float, target_se: float | None, elapsed: float) -> float:
    needed = float(samples)
    if target_se is not None and np.isfinite(largest):
        needed = min(needed, done * (largest / target_se) ** 2)
    return max(0.0, elapsed * (needed / done - 1))


def _expectation(
    task: Task, total: tuple[Moments, Moments], order: int, pilot: int, note: str
) -> Expectation:
    values, differences = total
    mean, difference = values.mean.copy(), differences.mean.copy()
    error = _with_rounding(values.standard_error(), mean)
    larger = np.maximum(np.abs(mean[..., 1:]), np.abs(mean[..., :-1]))
    difference_error = _with_rounding(differences.standard_error(), larger)
    if task.quantity == "scores":
        mean[:, ~task.layer.visible] = np.nan
        error[:, ~task.layer.visible] = np.nan
    hidden = ~_visible_pairs(task)
    difference[:, hidden] = np.nan
    difference_error[:, hidden] = np.nan
    return Expectation(
        mean, error, difference, difference_error, values.count, task.seed, task.quantity, order, pilot, note
    )
