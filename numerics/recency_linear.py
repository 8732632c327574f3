"""The recency probability to leading order in the noise of the inputs.

Gaussian inputs are a fixed Gram matrix plus the noise E = W/p - I of a Wishart matrix W with p degrees of freedom
(``numerics.noise``). To first order a score is linear in it, S_ij = s_ij + sum over a <= b of c_ij,ab E_ab, with s
the score without noise and c its first Taylor coefficient. So for a triple j < k < i

    S_ik - S_ij = gap + tr(B E),

a quadratic form in Gaussian variables. Its law is known: with the eigenvalues b_1, b_2, ... of B, the chance that it
is positive is that of gap + sum_a b_a (chi^2_p / p - 1) > 0 with independent chi^2 (the Wishart law), and to leading
order in 1/p that of a normal variable of mean gap and variance 2 tr(B^2)/p (the normal law).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from maskproof.numerics.arrays import Array
from maskproof.numerics.layers import Layer, layer_of
from maskproof.numerics.noise import noise_of
from maskproof.numerics.sampling import Law, law_of
from maskproof.numerics.taylor import TaylorMap
from maskproof.theory.decoder import Causal, Decoder
from maskproof.theory.errors import InvalidInput
from maskproof.theory.inputs import Inputs
from maskproof.theory.values import positive_integer

_STEP, _STEPS = 2 * np.pi / 120, 2048  # of the quadrature, in units of the standard deviation
_LEAST_FREEDOM = 8  # below, the characteristic function falls too slowly for that many steps


@dataclass(frozen=True)
class Linear:
    """Scores linearised in the noise of the inputs.

    Attributes:
        constant: scores without noise, shape (layers, n, n).
        slopes: shape (layers, n, n, N, N), symmetric in the last two: S = constant + sum of slopes * E.
        freedom: degrees of freedom p of the Wishart matrix p (I + E).
    """

    constant: Array
    slopes: Array
    freedom: int

    def scores(self, noise: Array) -> Iterator[Array]:
        """Linearised scores below the diagonal, layer by layer, of shape (n, n, batch).

        Args:
            noise: I + E, shape (N, N, batch).
        """
        flat = noise.reshape(-1, noise.shape[-1])[self._rows]
        flat = flat - np.eye(noise.shape[0]).ravel()[self._rows, None]
        n = self.constant.shape[1]
        below = np.tril_indices(n, -1)
        for constant, folded in zip(self.constant, self._folded, strict=True):
            scores = np.zeros((n, n, noise.shape[-1]))
            scores[below] = folded @ flat + constant[below][:, None]
            yield scores

    @cached_property
    def _rows(self) -> NDArray[np.intp]:
        size = self.slopes.shape[-1]
        return np.ravel_multi_index(np.tril_indices(size), (size, size))

    @cached_property
    def _folded(self) -> Array:
        """Slopes below the diagonal with respect to the entries on and below the diagonal of E."""
        size = self.slopes.shape[-1]
        below = np.tril_indices(self.constant.shape[1], -1)
        doubled = self.slopes * (2 - np.eye(size))
        return doubled[:, *below].reshape(len(doubled), len(below[0]), -1)[:, :, self._rows]

    @cached_property
    def _triples(self) -> tuple[Array, Array]:
        """Gaps and eigenvalues of B of all triples, shapes (layers, T) and (layers, T, N)."""
        n = self.constant.shape[1]
        i, j, k = np.array([(i, j, k) for i in range(n) for k in range(i) for j in range(k)]).T
        gaps = self.constant[:, i, k] - self.constant[:, i, j]
        return gaps, np.asarray(np.linalg.eigvalsh(self.slopes[:, i, k] - self.slopes[:, i, j]), dtype=float)

    def normal_probability(self) -> Array:
        """The share of triples with S_ik > S_ij under the normal law, shape (layers,)."""
        gaps, eigenvalues = self._triples
        deviations = np.sqrt(2 * (eigenvalues**2).sum(axis=-1) / self.freedom)
        return _level_means(_normal, gaps, deviations)

    def probability(self) -> Array:
        """The share of triples with S_ik > S_ij under the Wishart law: exact for the linearised scores."""
        return self._probability

    @cached_property
    def _probability(self) -> Array:
        gaps, eigenvalues = self._triples
        return _level_means(lambda gap, b: quadratic_probability(gap, b, self.freedom), gaps, eigenvalues)


def _level_means(probability: Callable[[float, Any], float], gaps: Array, parameters: Array) -> Array:
    """Means over the triples, layer by layer."""
    levels = zip(gaps, parameters, strict=True)
    return np.array([sum(map(probability, *level)) / gaps.shape[1] for level in levels], dtype=float)


def _normal(gap: float, deviation: float) -> float:
    return float(gap > 0) if deviation == 0 else float(ndtr(gap / deviation))


def quadratic_probability(gap: float, eigenvalues: Array, freedom: int) -> float:
    """P(gap + sum_a b_a (X_a/p - 1) > 0) for independent X_a, chi^2 with p degrees of freedom.

    By inversion of the characteristic function phi, P = 1/2 + (1/pi) int_0^oo Im phi(t) dt/t, and the midpoint
    rule (Davies 1973, Biometrika 60, eq. 3). Its error is the chance of a deviation of 60 standard deviations,
    plus the part of the integral that is cut off, below 1e-8.

    Args:
        gap: the constant.
        eigenvalues: b, shape (N,).
        freedom: p, at least 8.
    """
    deviation = float(np.sqrt(2 * (eigenvalues**2).sum() / freedom))
    if deviation == 0 or abs(gap) > 60 * deviation:
        return float(gap > 0)
    t = (np.arange(_STEPS) + 0.5) * _STEP
    weights = 1j * t * (eigenvalues / (freedom * deviation))[:, None]
    exponent = 1j * t * (gap / deviation) - freedom * (weights + np.log(1 - 2 * weights) / 2).sum(axis=0)
    return float(0.5 + (np.exp(exponent).imag / t).sum() * _STEP / np.pi)


def linear_of(law: Law, layer: Layer, layers: int, normalise_inputs: bool = False) -> Linear | None:
    """The linearised scores of Gaussian inputs; None for other laws, whose noise is not Wishart, and for p < 8."""
    noise = noise_of(law, layer) if law.gaussian else None
    if noise is None or round(1 / noise.variance) < _LEAST_FREEDOM:
        return None
    size = noise.mixing.shape[1]
    rows, columns = np.tril_indices(size)
    directions = np.zeros((len(rows), size, size))
    directions[np.arange(len(rows)), rows, columns] = 0.5  # symmetrised, so that d S = sum of c_ab E_ab over all a, b
    directions[np.arange(len(rows)), columns, rows] += 0.5
    mixed = noise.mixing @ directions @ noise.mixing.T
    start = layer.value_norm if normalise_inputs else noise.start_norm
    taylor = TaylorMap(layer, noise.gram(), layers, 1, start)
    first = np.stack([parts[0].copy() for parts in taylor.run((mixed + mixed.swapaxes(1, 2)) / 2, "scores")])
    slopes = np.empty((layers, layer.n, layer.n, size, size))
    slopes[..., rows, columns] = slopes[..., columns, rows] = np.moveaxis(first, 1, -1)
    return Linear(taylor.constant("scores"), slopes, round(1 / noise.variance))


def predicted_recency(
    decoder: Decoder, inputs: Inputs, n: int, layers: int, normalise_inputs: bool = False
) -> tuple[Array, Array]:
    """The recency probability to leading order: under the Wishart law and under the normal law.

    The linearisation is sharp where the noise of the logits, of order beta/sqrt(d) per unit of cosine, is
    small. With the scale sqrt(d) and layer normalisation it is of order 1 at every width.

    Args:
        decoder: a causal decoder without rotary embedding.
        inputs: ``SharedGaussian`` at a numeric width.
        n: number of tokens, at least 3.
        layers: number of layers.
        normalise_inputs: whether the residual stream starts with the normalised inputs.

    Returns:
        Two arrays of shape (layers,).

    Raises:
        InvalidInput: the inputs are not Gaussian or their width is below 9, the mask is not causal, or there are
            fewer than three tokens.
    """
    n, layers = positive_integer(n, "n"), positive_integer(layers, "layers")
    if n < 3:
        raise InvalidInput(f"n = {n}", "n >= 3", "a triple j < k < i needs three tokens")
    if decoder.mask != Causal():
        raise InvalidInput(f"mask = {decoder.mask}", "'the mask is causal'", "recency is about keys before the query")
    law = law_of(inputs, decoder)
    linear = linear_of(law, layer_of(decoder, n, law.d), layers, normalise_inputs)
    if linear is None:
        raise InvalidInput(
            f"inputs = {inputs}", "'Gaussian inputs of width 9 or more'", "use SharedGaussian, or sample instead"
        )
    return linear.probability(), linear.normal_probability()
