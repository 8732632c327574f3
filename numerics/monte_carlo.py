"""Expected scores over random inputs, with standard errors.

Samples are drawn in blocks of a size that depends on the number of tokens alone. Block b has its own random
stream, spawned from the seed by its index, and blocks are merged in the order of their indices. So the
result, to the last bit, depends neither on the number of workers nor on how many samples are in memory at
a time.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial, reduce
from itertools import islice
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from maskproof.numerics.arrays import Array
from maskproof.numerics.control import (
    MAX_ORDER,
    Control,
    Regression,
    allowance,
    best_order,
    control_of,
    regression_of,
)
from maskproof.numerics.layers import QUANTITIES, Layer, Quantity, layer_of, run
from maskproof.numerics.moments import MeanCoefficients, mean_coefficients
from maskproof.numerics.noise import Noise, noise_of
from maskproof.numerics.sampling import Coordinates, Law, law_of, sample_coordinates
from maskproof.numerics.statistics import Moments, paired_moments, require_finite
from maskproof.numerics.taylor import TaylorMap
from maskproof.numerics.vector_monte_carlo import LiteralRun, literal_order, literal_run
from maskproof.theory.decoder import Decoder
from maskproof.theory.errors import InvalidInput
from maskproof.theory.inputs import Inputs
from maskproof.theory.values import positive_integer

SampleProgress = Callable[[int, float, float], Any]

BATCH_NUMBERS = 40_000
"""Numbers in one array of a batch: 16 Gram matrices of 50 tokens, so that a few dozen stay in the cache."""
BATCHES_PER_BLOCK = 12
ROUNDING = 2.0**-46
"""No standard error goes below this times the size of a sample: a few hundred roundings of float64."""


@dataclass(frozen=True)
class Expectation:
    """Estimated expectations with their statistical errors.

    Indices are ``[l-1, i-1, j-1]``. Where the mask hides key j from query i, scores are NaN and weights 0;
    a difference is NaN unless both of its keys are visible. Standard errors include rounding (2^-46 of the
    size of a sample), so that quantities which do not fluctuate have a small error but not a zero one.

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
        batch_means: shape (batches, layers, n, n), means over equal shares of the samples, if asked for.
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
    batch_means: Array | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Task:
    """What one block has to do.

    Attributes:
        law: input law.
        layer: the layer.
        layers: number of layers.
        quantity: what to average.
        seed: seed of all streams.
        control: control variates, or None for a plain average.
        literal: how to sample vectors, for a decoder with a position encoding; else coordinates are sampled.
    """

    law: Law
    layer: Layer
    layers: int
    quantity: Quantity
    seed: int
    control: Control | None = None
    literal: LiteralRun | None = None

    @property
    def batch(self) -> int:
        """Samples that are processed together: it depends on the number of tokens (and, for vectors, the width)."""
        if self.literal is not None:
            return self.literal.batch
        return max(1, min(2000, BATCH_NUMBERS // self.layer.n**2))

    @property
    def block(self) -> int:
        """Samples in a full block."""
        return self.batch * BATCHES_PER_BLOCK

    @property
    def order(self) -> int:
        """The order of the control variates."""
        if self.literal is not None:
            return self.literal.order
        return 0 if self.control is None else len(self.control.weights)

    def shown(self) -> NDArray[np.bool_]:
        """The pairs that have a value."""
        return np.ones_like(self.layer.visible) if self.quantity == "gram" else self.layer.visible


Pair = tuple[Moments, Moments]
Block = tuple[int, int]


def _stack(parts: list[Moments]) -> Moments:
    """Moments of the layers, one below the other."""
    mean = np.stack([part.mean for part in parts])
    return Moments(parts[0].count, mean, np.stack([part.squares for part in parts]))


def _streams(task: Task, purpose: int, block: Block) -> Iterator[tuple[np.random.Generator, int]]:
    """A source of randomness and a number of samples for each batch of a block of ``block[1]`` samples.

    ``purpose`` says which family of streams: 0 for samples that enter the means, 1 for the pilot.
    """
    index, samples = block
    stream = np.random.SeedSequence(task.seed, spawn_key=(purpose, index))
    generator = np.random.Generator(np.random.PCG64DXSM(stream))
    for start in range(0, samples, task.batch):
        yield generator, min(task.batch, samples - start)


def _batches(task: Task, purpose: int, block: Block) -> Iterator[Coordinates]:
    """Tokens of a block, in batches."""
    for generator, count in _streams(task, purpose, block):
        yield sample_coordinates(task.law, task.layer.n, count, generator, task.layer.split)


def _coefficients(taylor: TaylorMap, noise: Noise, tokens: Coordinates, quantity: Quantity) -> Iterator[list[Array]]:
    assert tokens.frame is not None
    return taylor.run(noise.direction(tokens.frame), quantity)


def _run_batch(task: Task, tokens: Coordinates) -> Pair:
    plain = run(tokens, task.layer, task.layers, task.quantity)
    if task.control is None:
        parts = [paired_moments(values) for values in plain]
    else:
        control = task.control
        terms = _coefficients(control.taylor, control.noise, tokens, task.quantity)
        parts = [
            paired_moments(control.remainder(values, coefficients, level), control.offset[level])
            for level, (values, coefficients) in enumerate(zip(plain, terms, strict=True))
        ]
    return _stack([part[0] for part in parts]), _stack([part[1] for part in parts])


def _merged(first: Pair | None, second: Pair) -> Pair:
    return second if first is None else (first[0].merged(second[0]), first[1].merged(second[1]))


@np.errstate(over="ignore", invalid="ignore", divide="ignore")  # what is not finite is refused
def _run_block(task: Task, block: Block) -> Pair:
    """Moments of the quantity and of its differences over one block."""
    total: Pair | None = None
    if task.literal is not None:
        for generator, count in _streams(task, 0, block):
            values = task.literal.sample(count, generator)
            require_finite(values)
            total = _merged(total, paired_moments(values, task.literal.offset))
    else:
        for tokens in _batches(task, 0, block):
            total = _merged(total, _run_batch(task, tokens))
    assert total is not None
    return total


@np.errstate(over="ignore", invalid="ignore", divide="ignore")
def _run_pilot_block(task: Task, noise: Noise, taylor: TaylorMap, block: Block) -> Regression:
    """Sums for the regression over one block of the pilot."""
    total: Regression | None = None
    for tokens in _batches(task, 1, block):
        values = list(run(tokens, task.layer, task.layers, task.quantity))
        terms = _coefficients(taylor, noise, tokens, task.quantity)
        copies = [[part.copy() for part in parts] for parts in terms]
        part = regression_of(values, copies)
        require_finite(part.products)
        total = part if total is None else total.merged(part)
    assert total is not None
    return total


Result = TypeVar("Result")


def _in_order(
    function: Callable[[Block], Result], blocks: Iterable[Block], workers: int, ahead: int
) -> Generator[Result]:
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


def _split(samples: int, block: int, first: int = 0) -> list[Block]:
    """Index and size of each block; indices count from ``first``."""
    return [(first + k, min(block, samples - start)) for k, start in enumerate(range(0, samples, block))]


def _schedule(samples: int, block: int, batches: int) -> list[list[Block]]:
    """Blocks of each batch; the batches have equal numbers of samples, give or take one."""
    result: list[list[Block]] = []
    first = 0
    for batch in range(batches):
        result.append(_split(samples // batches + (batch < samples % batches), block, first))
        first += len(result[-1])
    return result


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
    progress: SampleProgress | None = None,
    batches: int = 1,
) -> Expectation:
    """Estimate expected scores, weights or Gram matrices over random inputs.

    Args:
        decoder: the decoder; with a position encoding, vectors of R^d are sampled and attention is run literally.
        inputs: a random law, ``Sphere`` or ``SharedGaussian``, at a numeric width.
        n: number of tokens.
        layers: number of layers.
        samples: number of independent inputs; with ``target_se`` the most that may be used.
        seed: seed; the same seed gives the same bits for any ``workers`` and ``chunk``.
        quantity: "scores", "weights" or "gram" (after the layer).
        order: highest order of the control variates, 0 for a plain average; by default the one with the least
            variance times work in a pilot run (with a position encoding: the highest that there is for few tokens).
            What order three leaves is so skewed that standard errors of few samples are too small: it is taken from
            10,000 samples on, and errors are widened where it is asked for with fewer.
        workers: number of threads; by default one per core, at most 8.
        chunk: samples in flight at a time, rounded up to whole blocks; by default two blocks per worker.
        target_se: stop at the first block after which every standard error of a mean is at most this.
        progress: called after each block with samples so far, largest standard error, seconds left.
        batches: with more than one, also return the means over that many equal shares of the samples.

    Returns:
        Means, standard errors and paired differences.

    Raises:
        InvalidInput: fewer than two samples, inputs that are not random or not numeric, a width too small
            for the law, RoPE's dim that does not divide the width, or a sample that is not finite.
    """
    n, layers = positive_integer(n, "n"), positive_integer(layers, "layers")
    samples = _sample_count(samples)
    seed = _seed(seed)
    if quantity not in QUANTITIES:
        raise InvalidInput(f"quantity = {quantity!r}", "'quantity is known'", f"use one of {', '.join(QUANTITIES)}")
    if order is not None and (isinstance(order, bool) or order not in range(MAX_ORDER + 1)):
        raise InvalidInput(f"order = {order!r}", f"0 <= order <= {MAX_ORDER}", "leave it out to have it chosen")
    if target_se is not None and not target_se > 0:
        raise InvalidInput(f"target_se = {target_se}", "target_se > 0", "leave it out to use all samples")
    batches = positive_integer(batches, "batches")
    if batches > 1 and (samples < batches or target_se is not None):
        raise InvalidInput(
            f"batches = {batches} with samples = {samples}, target_se = {target_se}",
            "'batches are shares of a fixed number of samples'",
            "use more samples and no target",
        )
    law = law_of(inputs, decoder)
    layer = layer_of(replace(decoder, position=None), n, law.d)
    task = Task(law, layer, layers, quantity, seed)
    if decoder.position is not None:
        order = literal_order(decoder, inputs, n, quantity) if order is None else order
        task = replace(task, literal=literal_run(decoder, inputs, n, layers, quantity=quantity, order=order))
    workers = _workers(workers)
    ahead = 2 * workers if chunk is None else -(-positive_integer(chunk, "chunk") // task.block)
    with threadpool_limits(1):
        if task.literal is not None:
            plan = _Plan(task, task.literal.order, 0, "literal attention on vectors")
        else:
            plan = _plan(task, decoder, samples, order, workers, ahead)
        schedule = _schedule(samples, task.block, batches)
        totals = _accumulate(plan.task, schedule, workers, ahead, target_se, progress)
    return _expectation(plan, totals)


@dataclass(frozen=True)
class _Plan:
    """A task with its control variates, and how they were chosen.

    ``spread`` is the standard deviation of one sample before the correction: roundings are relative to it.
    """

    task: Task
    order: int
    pilot: int
    note: str
    spread: Array | float = 0.0


def _pilot_size(samples: int) -> int:
    """A fifth of a small run, 1000 samples of a larger one, a hundredth of a very large one."""
    return max(200, min(samples // 5, 1000), min(samples // 100, 10_000))


@lru_cache(maxsize=16)
def _exact_means(law: Law, decoder: Decoder, n: int, layers: int, quantity: Quantity, order: int) -> MeanCoefficients:
    layer = layer_of(decoder, n, law.d)
    noise = noise_of(law, layer)
    assert noise is not None
    return mean_coefficients(noise, layer, layers, quantity, order)


@np.errstate(over="ignore", invalid="ignore", divide="ignore")
def _plan(task: Task, decoder: Decoder, samples: int, order: int | None, workers: int, ahead: int) -> _Plan:
    """Set the control variates; order None is for the pilot to decide."""
    if order == 0:
        return _Plan(task, 0, 0, "plain average, as asked")
    noise = noise_of(task.law, task.layer)
    if noise is None:
        reason = "no control variates: after centring, Sphere with alpha > 0 has no known moments"
        if order is not None:
            raise InvalidInput(f"order = {order}", "'the inputs have control variates'", "use order=0")
        return _Plan(task, 0, 0, reason)
    highest = MAX_ORDER if order is None else order
    taylor = TaylorMap(task.layer, noise.gram(), task.layers, highest, noise.start_norm)
    pilot = _pilot_size(samples)
    function = partial(_run_pilot_block, task, noise, taylor)
    regression = reduce(Regression.merged, _in_order(function, _split(pilot, task.block), workers, ahead))
    note = "control variates, as asked"
    if order is None:
        order = best_order(regression, task.layer, samples)
        note = f"order {order} has the least variance times work of orders 0 to {MAX_ORDER} in a pilot run"
    spread = np.sqrt(regression.solve(0)[1])
    if order == 0:
        return _Plan(task, 0, pilot, note, spread)
    means = np.zeros((1, task.layers, task.layer.n, task.layer.n))
    if order >= 2:
        means = _exact_means(task.law, decoder, task.layer.n, task.layers, task.quantity, order).means()
    control = control_of(noise, taylor, regression, means)
    return _Plan(replace(task, control=control), order, pilot, note, spread)


def _seed(seed: object) -> int:
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise InvalidInput(f"seed = {seed!r}", "'seed is a non-negative integer'", "use 0")
    return int(seed)


def _workers(workers: int | None) -> int:
    if workers is None:
        return min(8, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
    return positive_integer(workers, "workers")


def _accumulate(
    task: Task,
    schedule: list[list[Block]],
    workers: int,
    ahead: int,
    target_se: float | None,
    progress: SampleProgress | None,
) -> list[Pair]:
    """Moments of each batch."""
    started = time.monotonic()
    samples = sum(size for blocks in schedule for _, size in blocks)
    results = _in_order(partial(_run_block, task), (b for blocks in schedule for b in blocks), workers, ahead)
    totals: list[Pair] = []
    overall: Pair | None = None
    for blocks in schedule:
        total: Pair | None = None
        for part in islice(results, len(blocks)):
            total = _merged(total, part)
            if target_se is None and progress is None:
                continue
            overall = _merged(overall, part)
            largest = _largest_error(task, overall)
            done = overall[0].count
            if progress is not None:
                elapsed = time.monotonic() - started
                progress(done, largest, _seconds_left(done, samples, largest, target_se, elapsed))
            if target_se is not None and largest <= target_se:
                results.close()
                break
        assert total is not None
        totals.append(total)
    return totals


def _visible_pairs(task: Task) -> NDArray[np.bool_]:
    """Where a difference of neighbouring keys has a meaning."""
    shown = task.shown()
    return shown[:, 1:] & shown[:, :-1]


def _largest_error(task: Task, total: Pair) -> float:
    """Largest standard error of a visible mean."""
    if total[0].count < 2:
        return float("inf")
    return allowance(task.order, total[0].count) * float(total[0].standard_error()[:, task.shown()].max())


def _seconds_left(done: int, samples: int, largest: float, target_se: float | None, elapsed: float) -> float:
    needed = float(samples)
    if target_se is not None and np.isfinite(largest):
        needed = min(needed, done * (largest / target_se) ** 2)
    return max(0.0, elapsed * (needed / done - 1))


def _expectation(plan: _Plan, totals: list[Pair]) -> Expectation:
    task = plan.task
    values, differences = reduce(_merged, totals)
    mean, difference = values.mean.copy(), differences.mean.copy()
    size = np.abs(mean) + plan.spread
    wider = allowance(plan.order, values.count)
    error = np.hypot(wider * values.standard_error(), ROUNDING * size)
    larger = np.maximum(size[..., 1:], size[..., :-1])
    difference_error = np.hypot(wider * differences.standard_error(), ROUNDING * larger)
    batch_means = np.stack([batch.mean for batch, _ in totals]) if len(totals) > 1 else None
    if task.quantity == "scores":
        hidden = ~task.layer.visible
        for array in (mean, error) if batch_means is None else (mean, error, batch_means):
            array[..., hidden] = np.nan
    hidden = ~_visible_pairs(task)
    difference[:, hidden] = np.nan
    difference_error[:, hidden] = np.nan
    return Expectation(
        mean=mean,
        standard_error=error,
        difference_mean=difference,
        difference_standard_error=difference_error,
        samples=values.count,
        seed=task.seed,
        quantity=task.quantity,
        order=plan.order,
        pilot=plan.pilot,
        note=plan.note,
        batch_means=batch_means,
    )
