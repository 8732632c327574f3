"""Control variates: Taylor coefficients of the layer map, whose means are known exactly.

For any numbers b_p, the quantity f - sum over p of b_p (c_p - E c_p) has the same mean as f. Where the c_p
are the Taylor coefficients of f in the noise of the inputs, b_p = 1 leaves only the remainder of the series,
and the least-squares b_p a little less. They are estimated entry by entry on a pilot sample that enters no
mean, so they are constants to the samples that do, and cause no bias.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from maskproof.numerics.arrays import Array
from maskproof.numerics.layers import Layer
from maskproof.numerics.noise import Noise
from maskproof.numerics.taylor import TaylorMap

MAX_ORDER = 3
MAX_TOKENS_FOR_MEANS = 80
"""Above this, exact means of second and third order need over 3 GB: they are not chosen automatically."""
FEWEST_FOR = (0, 0, 0, 10_000)
"""Fewer samples than this are not given control variates of order 0, 1, 2, 3 automatically.

What order p leaves fluctuates like a Hermite polynomial of degree p + 1. That of degree four is skewed (14.7): in few
samples its large values are missing, and with them a part of mean and variance. That of degree three is symmetric, that
of degree two hardly skewed (2.8).
"""
SKEWNESS = (0.0, 0.0, 0.0, 6 * 6**0.5)
"""Of what order 0, 1, 2, 3 leaves, where it matters: of the Hermite polynomial of degree four."""
RIDGE = 1e-12
"""Relative ridge of the regression: it only matters where coefficients are collinear to rounding."""


@dataclass(frozen=True)
class Control:
    """Control variates of one task.

    Attributes:
        noise: the input law.
        taylor: the map that yields the coefficients.
        weights: b_p, shape (order, layers, n, n).
        offset: sum of b_p E c_p, shape (layers, n, n).
    """

    noise: Noise
    taylor: TaylorMap
    weights: Array
    offset: Array

    def remainder(self, values: Array, coefficients: list[Array], level: int) -> Array:
        """f - sum of b_p c_p at layer ``level`` (from 0), for a batch of samples; ``offset`` is still to be added."""
        weights = self.weights[:, level]
        scratch = weights[0] * coefficients[0]
        result = values - scratch
        for weight, coefficient in zip(weights[1:], coefficients[1:], strict=True):
            result -= np.multiply(weight, coefficient, out=scratch)
        return result


def allowance(order: int, samples: int) -> float:
    """Factor of the standard errors where an order was asked for that has too few samples, 1 elsewhere.

    The variance of a t statistic is 1 + 7/4 skewness^2 / n to first order in 1/n; in very few samples it grows more
    slowly, which the second term below the line is for. ``tests/numerics/test_calibration.py`` holds it against
    simulation.
    """
    if samples >= FEWEST_FOR[order]:
        return 1.0
    square = SKEWNESS[order] ** 2
    return float(np.sqrt(1 + 1.75 * square / (samples + 1.5 * square)))


@dataclass(frozen=True)
class Regression:
    """Sums of products of f and c_1, c_2, ... over samples, entry by entry.

    Attributes:
        count: number of samples.
        sums: shape (layers, n, n, 1 + order).
        products: shape (layers, n, n, 1 + order, 1 + order).
    """

    count: int
    sums: Array
    products: Array

    def merged(self, other: Regression) -> Regression:
        """The sums over both sets of samples."""
        return Regression(self.count + other.count, self.sums + other.sums, self.products + other.products)

    def covariance(self) -> Array:
        """Covariance of (f, c_1, ...), shape (layers, n, n, 1 + order, 1 + order)."""
        means = self.sums / self.count
        return self.products / self.count - means[..., :, None] * means[..., None, :]

    def solve(self, order: int) -> tuple[Array, Array]:
        """Least-squares b_1..b_order, shape (order, layers, n, n), and the residual variance of f."""
        covariance = self.covariance()
        variance = covariance[..., 0, 0].clip(min=0)
        if order == 0:
            return np.empty((0, *variance.shape)), variance
        inner, outer = covariance[..., 1 : order + 1, 1 : order + 1], covariance[..., 1 : order + 1, 0]
        scale = np.sqrt(np.einsum("...pp->...p", inner).clip(min=0))
        # A coefficient that does not fluctuate beyond rounding is left out.
        squares = np.einsum("...pp->...p", self.products) / self.count
        own, of_f = np.sqrt(squares[..., 1 : order + 1]), np.sqrt(squares[..., :1])
        moves = (scale > 1e-7 * own) & (scale > 1e-12 * of_f)
        inverse = np.where(moves, 1 / np.where(moves, scale, 1), 0)
        correlation = inner * inverse[..., :, None] * inverse[..., None, :]
        ridge = np.eye(order) * RIDGE
        ridge = ridge + np.eye(order) * (~moves)[..., None]
        weights = np.linalg.solve(correlation + ridge, (outer * inverse)[..., None])[..., 0] * inverse
        residual = variance - np.einsum("...p,...p->...", weights, outer)
        return np.moveaxis(weights, -1, 0), residual.clip(min=0)


def regression_of(values: list[Array], coefficients: list[list[Array]]) -> Regression:
    """Sums over a batch.

    Args:
        values: f at each layer, shape (batch, n, n).
        coefficients: c_1, c_2, ... at each layer.
    """
    sums, products = [], []
    for value, orders in zip(values, coefficients, strict=True):
        columns = np.stack([value, *orders], axis=-1)
        sums.append(columns.sum(axis=0))
        products.append(np.einsum("bijp,bijq->ijpq", columns, columns))
    return Regression(len(values[0]), np.stack(sums), np.stack(products))


def sample_flops(n: int, layers: int, order: int) -> float:
    """Floating-point operations of one sample: matrix products of the plain map and of its coefficients.

    A layer multiplies two n x n matrices twice, the last one once; the noise is one more product. Coefficient p
    takes p + 1 pairs of products, of which a causal mask leaves 5/8.
    """
    product = 2 * n**3
    plain = product * (2 * layers - 1)
    if order == 0:
        return plain
    pairs = sum(p + 1 for p in range(1, order + 1))
    return plain + product + 0.625 * 2 * product * (layers - 1) * pairs


def mean_flops(n: int, layers: int, order: int) -> float:
    """Floating-point operations of the exact means under a causal mask: two products of blocks a layer."""
    return 0.0 if order < 2 else (layers - 1) * 2 * n**6 / 3


def best_order(regression: Regression, layer: Layer, samples: int) -> int:
    """The order with the least work for the precision: largest residual variance times work per sample.

    Everything is counted, nothing timed, so that the same call always gives the same order.
    """
    n, layers = layer.n, regression.sums.shape[0]
    orders = range(regression.sums.shape[-1])

    def cost(order: int) -> float:
        variance = regression.solve(order)[1][:, layer.visible].max()
        return variance * (sample_flops(n, layers, order) + mean_flops(n, layers, order) / samples)

    allowed = [o for o in orders if samples >= FEWEST_FOR[o] and (o < 2 or n <= MAX_TOKENS_FOR_MEANS)]
    return min(allowed, key=cost)


def control_of(noise: Noise, taylor: TaylorMap, regression: Regression, means: Array) -> Control:
    """Control variates of order 1, ..., len(means), with weights from ``regression``.

    Args:
        noise: the input law.
        taylor: the map, up to that order or a higher one.
        regression: sums over a pilot run.
        means: E c_1, E c_2, ..., shape (order, layers, n, n).
    """
    order = len(means)
    weights, _ = regression.solve(order)
    offset = np.einsum("plij,plij->lij", weights, means)
    return Control(noise, taylor.truncated(order), weights, offset)
