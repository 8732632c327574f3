"""Streaming means and variances, combined in a fixed order so that the bits do not depend on who did what."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from maskproof.numerics.arrays import Array
from maskproof.theory.errors import InvalidInput


@dataclass(frozen=True)
class Moments:
    """Count, mean and sum of squared deviations of samples of an array.

    Attributes:
        count: number of samples.
        mean: their mean.
        squares: sum of squared deviations from the mean, entry by entry.
    """

    count: int
    mean: Array
    squares: Array

    def merged(self, other: Moments) -> Moments:
        """The moments of both sets of samples together (Chan, Golub and LeVeque 1983, eq. 2.1)."""
        count = self.count + other.count
        step = other.mean - self.mean
        mean = self.mean + step * (other.count / count)
        squares = self.squares + other.squares + step**2 * (self.count * other.count / count)
        return Moments(count, mean, squares)

    def variance(self) -> Array:
        """Unbiased estimate of the variance of one sample."""
        return self.squares / (self.count - 1)

    def standard_error(self) -> Array:
        """Estimated standard deviation of the mean."""
        return np.sqrt(self.squares / (self.count - 1) / self.count)


def require_finite(array: Array) -> None:
    """Refuse NaN and infinity: they must not reach a mean unseen.

    Raises:
        InvalidInput: a number is not finite.
    """
    if not np.isfinite(array).all():
        raise InvalidInput(
            "a sample that is NaN or infinite",
            "'every sampled quantity is finite'",
            "use a smaller beta or residual, a larger width or fewer layers",
        )


def moments_of(samples: Array) -> Moments:
    """Moments over the first axis.

    Raises:
        InvalidInput: a sample is NaN or infinite.
    """
    return _with_deviation(samples)[0]


def paired_moments(samples: Array, shift: Array | float = 0.0) -> tuple[Moments, Moments]:
    """Moments over the first axis, of ``samples`` + ``shift`` and of their differences along the last axis.

    Raises:
        InvalidInput: a sample is NaN or infinite.
    """
    moments, deviation = _with_deviation(samples)
    mean = moments.mean + shift
    step = deviation[..., 1:] - deviation[..., :-1]
    squares = np.einsum("b...,b...->...", step, step)
    differences = Moments(moments.count, mean[..., 1:] - mean[..., :-1], squares)
    return Moments(moments.count, mean, moments.squares), differences


def _with_deviation(samples: Array) -> tuple[Moments, Array]:
    mean = samples.mean(axis=0)
    require_finite(mean)
    deviation = samples - mean
    return Moments(len(samples), mean, np.einsum("b...,b...->...", deviation, deviation)), deviation
