r"""How often a single input shows the order of the scores, to leading order in the width.

Under Sphere(d, alpha) the scores of one draw of the inputs are, to first order, linear in the cosines

    K_pq = alpha + e_pq,   E e_pq = 0,   E e_pq^2 = (1-alpha)^2/d + O(1/d^2),   distinct pairs uncorrelated,

and asymptotically Gaussian. So the adjacent differences S_{i,j+1} - S_ij, j = 1..i-2, of query i are Gaussian with a
mean (the limit's) and a covariance V/d, and the row is ordered, S_i1 < S_i2 < ... < S_{i,i-1}, with the probability
of an orthant. (The last step, S_{i,i-1} < S_ii = 1, is certain.) Slopes come from ``numerics.taylor``; nothing here
knows of a closed form, and every layer is treated alike.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri
from scipy.stats import qmc

from maskproof.numerics.arrays import Array
from maskproof.numerics.gram import equicorrelated
from maskproof.numerics.parameters import as_float
from maskproof.numerics.taylor import taylor_coefficients
from maskproof.theory.decoder import Decoder
from maskproof.theory.errors import InvalidInput
from maskproof.theory.values import positive_integer

_SHIFTS = 16  # independent randomisations, from which the standard error comes
_POINTS = 11  # 2^11 points each


@dataclass(frozen=True)
class RowDifferences:
    """The differences S_{i,j+1} - S_ij, j = 1..i-2, of one query in one layer.

    Attributes:
        limits: their limits for d -> oo, shape (i-2,).
        corrections: c with E = limit + c/d + O(1/d^2), shape (i-2,).
        covariance: V with covariance V/d + O(1/d^2), shape (i-2, i-2).
    """

    limits: Array
    corrections: Array
    covariance: Array

    def mean(self, d: float, corrected: bool = True) -> Array:
        """The expected differences at width d, with or without the term of order 1/d."""
        return self.limits + self.corrections / d if corrected else self.limits


class Sampled(NamedTuple):
    """A number found by randomised integration, with its standard error."""

    value: float
    standard_error: float


def row_differences(decoder: Decoder, alpha: object, i: int, layer: int = 2) -> RowDifferences:
    """Mean and covariance of the adjacent score differences of query ``i`` under Sphere(d, alpha).

    Args:
        decoder: without RoPE, and not depending on the width (norm "l2" or "none", scale a number).
        alpha: in [0, 1).
        i: position of the query, from 2 up.
        layer: the layer, from 2 up (in layer 1 the expected differences are 0).

    Raises:
        InvalidInput: a value is out of range, or the decoder depends on the width.

    >>> row = row_differences(Decoder(), 0, 3)
    >>> print(row.limits.round(6), row.covariance.round(4))
    [0.018715] [[2.1013]]
    """
    i, layer = positive_integer(i, "i"), positive_integer(layer, "layer")
    value = as_float(alpha, "alpha")
    if not 0 <= value < 1:
        raise InvalidInput(f"alpha = {alpha}", "0 <= alpha < 1", "Sphere has no other values")
    if i < 2 or layer < 2:
        raise InvalidInput(f"i = {i}, layer = {layer}", "i >= 2 and layer >= 2", "there is nothing to order before")
    if decoder.needs_width:
        raise InvalidInput("a decoder that changes with d", "'the limit d -> oo exists'", "use l2 and a fixed scale")
    rows, columns = np.tril_indices(i, -1)  # only tokens up to i matter to query i under a causal mask
    directions = np.zeros((rows.size, i, i))
    directions[np.arange(rows.size), rows, columns] = directions[np.arange(rows.size), columns, rows] = 1
    series = taylor_coefficients(decoder, equicorrelated(value, i), directions, layer, order=2)
    limits, slopes, bends = np.diff(series[:, -1, :, -1, : i - 1], axis=-1)  # each (pairs, i-2)
    factor = (1 - value) ** 2
    return RowDifferences(limits[0], factor * bends.sum(axis=0), factor * slopes.T @ slopes)


def orthant_probability(mean: Array, covariance: Array, seed: int = 0) -> Sampled:
    """The probability that every component of a Gaussian vector is positive.

    Genz's separation of variables: with the Cholesky factor of the covariance the probability becomes an
    integral over the unit cube of one dimension less, done by Sobol points with independent random shifts.

    Args:
        mean: shape (q,); for q = 0 the probability is 1.
        covariance: positive definite, shape (q, q).
        seed: of the shifts; the same seed gives the same bits.

    Raises:
        InvalidInput: the shapes do not agree, a number is not finite, or the covariance is not positive definite.

    >>> value, standard_error = orthant_probability(np.zeros(3), np.eye(3))
    >>> print(round(value, 12))
    0.125
    """
    centre, matrix = np.asarray(mean, dtype=float), np.asarray(covariance, dtype=float)
    size = centre.size
    if centre.shape != (size,) or matrix.shape != (size, size):
        raise InvalidInput(
            f"mean of shape {centre.shape}, covariance of shape {matrix.shape}",
            "'shapes (q,) and (q, q)'",
            "pass one vector and its matrix",
        )
    if not (np.all(np.isfinite(centre)) and np.all(np.isfinite(matrix))):
        raise InvalidInput("a mean or covariance with NaN or infinity", "'all numbers are finite'", "check the inputs")
    if size == 0:
        return Sampled(1.0, 0.0)
    deviations = np.sqrt(np.maximum(np.diagonal(matrix), 0))
    order = np.argsort(centre / np.where(deviations > 0, deviations, 1), kind="stable")  # the hardest first
    try:
        factor = np.linalg.cholesky(matrix[np.ix_(order, order)])
    except np.linalg.LinAlgError:
        raise InvalidInput(
            "a covariance with a vanishing or negative eigenvalue", "'positive definite'", "leave out dependent parts"
        ) from None
    centre = centre[order]
    if size == 1:
        return Sampled(float(ndtr(centre[0] / factor[0, 0])), 0.0)
    points = qmc.Sobol(size - 1, scramble=False).random_base2(_POINTS)
    shifts = np.random.default_rng(seed).random((_SHIFTS, size - 1))
    means = [float(_inside(centre, factor, (points + shift) % 1).mean()) for shift in shifts]
    return Sampled(float(np.mean(means)), float(np.std(means, ddof=1)) / math.sqrt(_SHIFTS))


def _inside(centre: Array, factor: Array, uniforms: Array) -> Array:
    """For each point of the cube, the product of the conditional probabilities of staying positive."""
    normals = np.zeros((uniforms.shape[0], centre.size))
    product = np.ones(uniforms.shape[0])
    for q in range(centre.size):
        bound = (centre[q] + normals[:, :q] @ factor[q, :q]) / factor[q, q]  # component q is positive for z > -bound
        stays = ndtr(bound)
        product *= stays
        if q < centre.size - 1:  # z = -Phi^-1(U stays), kept off the ends of the unit interval
            normals[:, q] = -ndtri(np.clip(uniforms[:, q] * stays, 1e-300, 1 - 1e-16))
    return product


def ordered_row_probability(row: RowDifferences, d: int, corrected: bool = True, seed: int = 0) -> Sampled:
    """The Gaussian probability that one input of width d shows the whole row in order.

    Exact for d -> oo at fixed sqrt(d) x differences; the error is O(1/sqrt(d)) with and without the correction.

    Args:
        row: the row's differences.
        d: the width.
        corrected: whether the mean includes its term of order 1/d.
        seed: of the randomised integration.

    Raises:
        InvalidInput: the width is not an integer from 1 up.
    """
    width = positive_integer(d, "d")
    return orthant_probability(math.sqrt(width) * row.mean(width, corrected), row.covariance, seed)


def ordered_row_width(row: RowDifferences, probability: float = 0.5, seed: int = 0) -> Sampled:
    """The width at which one input shows the whole row in order with this probability.

    To leading order: the d that solves P(N(sqrt(d) limits, V) > 0) = probability, a real number. The probability
    rises with d, from that of the orthant under N(0, V) to 1.

    Args:
        row: the row's differences, with positive limits.
        probability: in (0, 1).
        seed: of the randomised integration.

    Returns:
        The width and its standard error; (0, 0) if the probability is reached without any gap.

    Raises:
        InvalidInput: a limit is not positive, so that wide inputs do not show the order either; or the
            probability is not in (0, 1).
    """
    if not 0 < probability < 1:
        raise InvalidInput(f"probability = {probability}", "0 < probability < 1", "give a number such as 0.5")
    if np.any(row.limits <= 0):
        raise InvalidInput(
            f"a difference with limit {row.limits.min():.3g}",
            "'the limiting scores increase'",
            "the order fails even in the limit of infinite width",
        )

    def excess(log_width: float) -> float:
        centre = math.exp(log_width / 2) * row.limits
        return orthant_probability(centre, row.covariance, seed).value - probability

    if excess(-40.0) >= 0:
        return Sampled(0.0, 0.0)
    # Beyond this width the sum of the chances that one difference is negative is below 1 - probability.
    worst = np.max(np.sqrt(np.diagonal(row.covariance)) / row.limits)
    high = 2 * math.log(worst * -ndtri((1 - probability) / (2 * row.limits.size))) + 1
    root = float(brentq(excess, -40.0, high, xtol=1e-9))
    step = 0.01
    slope = (excess(root + step) - excess(root - step)) / (2 * step)
    noise = orthant_probability(math.exp(root / 2) * row.limits, row.covariance, seed).standard_error
    return Sampled(math.exp(root), math.exp(root) * noise / slope)
