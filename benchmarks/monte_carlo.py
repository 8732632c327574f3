"""The Monte Carlo engine against plain simulation, in one run on one core.

Plain simulation draws vectors of R^d and runs attention on them, in batches of 50 by matrix products (the
strongest plain version that we know of in NumPy). Times are processor times of one thread, so that other work on the
machine disturbs them little. Efficiency is 1/(variance x time) for one entry; the ratio compares it for the
same entry in both. Usage: python -m benchmarks.monte_carlo [--target]; with --target it also runs the engine
until every standard error is at most 1e-6, with all cores.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from threadpoolctl import threadpool_limits

from maskproof.numerics import expected_scores, mean_field
from maskproof.numerics.arrays import Array
from maskproof.numerics.control import mean_flops, sample_flops
from maskproof.numerics.layers import layer_of, run
from maskproof.numerics.moments import mean_coefficients
from maskproof.numerics.noise import noise_of
from maskproof.numerics.sampling import Coordinates, law_of, sample_vectors
from maskproof.numerics.statistics import Moments, moments_of
from maskproof.theory.decoder import Decoder
from maskproof.theory.inputs import Sphere

TOKENS, LAYERS, ORDER, BATCH = 50, 4, 3, 50
PLAIN_SAMPLES, SAMPLES = 1000, 12_000
WIDTHS = (64, 1024)
REMAINDER_WIDTHS = (64, 128, 256, 512, 1024)


@dataclass(frozen=True)
class Timed:
    """Variance of one sample, entry by entry, and processor seconds for one sample."""

    variance: Array
    seconds: float


def rate(function: Callable[[], object], flops: float) -> float:
    """GFLOP/s of ``function``, best of five runs of at least 0.1 s."""
    best = 0.0
    for _ in range(5):
        started, count = time.process_time(), 0
        while time.process_time() - started < 0.1:
            function()
            count += 1
        best = max(best, count * flops / (time.process_time() - started) / 1e9)
    return best


def matmul_peak(size: int, batch: int = 1) -> float:
    """GFLOP/s of float64 products of ``batch`` pairs of square matrices."""
    generator = np.random.default_rng(0)
    left, right = generator.random((2, batch, size, size))
    out = np.empty((batch, size, size))
    return rate(lambda: np.matmul(left, right, out=out), 2 * size**3 * batch)


def plain(d: int) -> Timed:
    """Vectors, attention, average."""
    law, layer = law_of(Sphere(d)), layer_of(Decoder(), TOKENS, d)
    generator = np.random.default_rng(0)
    total: Moments | None = None
    started = time.process_time()
    for _ in range(PLAIN_SAMPLES // BATCH):
        vectors = sample_vectors(law, TOKENS, BATCH, generator)
        part = moments_of(np.stack(list(run(Coordinates(vectors), layer, LAYERS, "scores")), axis=1))
        total = part if total is None else total.merged(part)
    seconds = time.process_time() - started
    assert total is not None
    return Timed(total.variance(), seconds / PLAIN_SAMPLES)


def engine(d: int) -> tuple[Timed, float]:
    """The engine, and its set-up time; a short run is taken off, so that set-up does not count twice."""
    seconds = []
    for samples in (200, 200, 200 + SAMPLES):  # the first run also computes the exact means
        started = time.process_time()
        found = expected_scores(Decoder(), Sphere(d), TOKENS, LAYERS, samples, order=ORDER, workers=1)
        seconds.append((time.process_time() - started, found))
    (first, _), (short, few), (long, found) = seconds
    each = (long - short) / (found.samples + found.pilot - few.samples - few.pilot)
    return Timed(found.standard_error**2 * found.samples, each), first - 400 * each


def row(*cells: object) -> None:
    """Print one line of a table."""
    print("".join(f"{cell:>16}" for cell in cells))


def comparison(d: int, peak: float) -> None:
    """Print plain simulation against the engine at one width."""
    literal = plain(d)
    fast, setup = engine(d)
    flops = sample_flops(TOKENS, LAYERS, ORDER)
    share = flops / fast.seconds / 1e9 / peak
    literal_flops = 2 * TOKENS**2 * d * (2 * LAYERS - 1)
    literal_share = literal_flops / literal.seconds / 1e9 / peak
    print(f"\nn = {TOKENS}, d = {d}, alpha = 0, {LAYERS} layers, one core")
    row("", "samples/s", "MFLOP/sample", "share of peak", "set-up s")
    row("plain", f"{1 / literal.seconds:.0f}", f"{literal_flops / 1e6:.1f}", f"{literal_share:.0%}", "0")
    row(f"order {ORDER}", f"{1 / fast.seconds:.0f}", f"{flops / 1e6:.1f}", f"{share:.0%}", f"{setup:.1f}")
    print("\nvariance of one sample, and efficiency ratio per entry j < i (set-up left out)")
    row("layer", "plain, median", "engine, median", "engine, largest", "ratio, median", "ratio, least")
    below = np.tril_indices(TOKENS, -1)
    for layer in range(1, LAYERS):
        one, two = literal.variance[layer][below], fast.variance[layer][below]
        ratio = one * literal.seconds / (two * fast.seconds)
        row(
            layer + 1,
            f"{np.median(one):.2e}",
            f"{np.median(two):.2e}",
            f"{two.max():.2e}",
            f"{np.median(ratio):,.0f}",
            f"{ratio.min():,.0f}",
        )
    worst = fast.variance[:, *below].max()
    needed = worst / 1e-12
    print(
        f"standard error 1e-6 on every entry takes {needed:,.0f} samples,"
        f" {setup + needed * fast.seconds:,.0f} core seconds"
    )


def means() -> None:
    """Print the time for the exact means of the control variates."""
    layer = layer_of(Decoder(), TOKENS, WIDTHS[0])
    noise = noise_of(law_of(Sphere(WIDTHS[0])), layer)
    assert noise is not None
    print(f"\nexact means of the Taylor coefficients, n = {TOKENS}, {LAYERS} layers, all pairs")
    row("order", "seconds", "GFLOP")
    for order in (2, 3):
        started = time.process_time()
        mean_coefficients(noise, layer, LAYERS, order=order)
        row(order, f"{time.process_time() - started:.1f}", f"{mean_flops(TOKENS, LAYERS, order) / 1e9:.0f}")


def remainders(tokens: int = 12, samples: int = 20_000) -> None:
    """Print mean - limit - c/d, times d^2, at the last query's middle key."""
    layer = layer_of(Decoder(), tokens, WIDTHS[0])
    noise = noise_of(law_of(Sphere(WIDTHS[0])), layer)
    assert noise is not None
    first = mean_coefficients(noise, layer, LAYERS, order=2).second
    limit = mean_field(Decoder(), 0, tokens, LAYERS).scores
    print(f"\n(mean - limit - c/d) d^2 at n = {tokens}, i = {tokens}, j = {tokens // 2}; slope of log against log d")
    row("d", *(f"layer {layer}" for layer in range(2, LAYERS + 1)))
    rest, errors = [], []
    for d in REMAINDER_WIDTHS:
        found = expected_scores(Decoder(), Sphere(d), tokens, LAYERS, samples, d, order=ORDER, workers=1)
        entry = (slice(1, None), tokens - 1, tokens // 2 - 1)
        rest.append((found.mean - limit - first / d)[entry])
        errors.append(found.standard_error[entry])
        row(d, *(f"{r * d**2:.4f}±{e * d**2:.4f}" for r, e in zip(rest[-1], errors[-1], strict=True)))
    for k, d in enumerate(REMAINDER_WIDTHS[1:], start=1):
        slope = np.log2(rest[k] / rest[k - 1])
        error = np.hypot(errors[k] / rest[k], errors[k - 1] / rest[k - 1]) / np.log(2)
        row(f"{d // 2} to {d}", *(f"{s:.4f}±{e:.4f}" for s, e in zip(slope, np.abs(error), strict=True)))


def target() -> None:
    """Run the engine until every standard error is at most 1e-6, and print how long it takes."""
    started, processor = time.monotonic(), time.process_time()

    def show(done: int, error: float, left: float) -> None:
        if sys.stderr.isatty():
            print(f"\r{done} samples, standard error {error:.2e}, {left:.0f} s left ", end="", file=sys.stderr)

    found = expected_scores(
        Decoder(), Sphere(64), TOKENS, LAYERS, 10_000_000, order=ORDER, target_se=1e-6, progress=show
    )
    print(
        f"\nstandard error <= 1e-6 everywhere at n = {TOKENS}, d = 64: {found.samples} samples,"
        f" {time.monotonic() - started:.0f} s, {time.process_time() - processor:.0f} core seconds"
    )


def main() -> None:
    """Print all tables."""
    with threadpool_limits(1):
        peak, small = matmul_peak(1024), matmul_peak(TOKENS, 10)
        print(f"matrix-multiply peak of one core, float64: {peak:.0f} GFLOP/s; 50 x 50: {small:.0f} GFLOP/s")
        for d in WIDTHS:
            comparison(d, max(peak, small))
        means()
        remainders()
    if "--target" in sys.argv[1:]:
        target()


if __name__ == "__main__":
    main()
