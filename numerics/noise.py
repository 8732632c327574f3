"""The random input laws as a fixed Gram matrix plus noise whose moments are known.

All laws are built from independent isotropic vectors g_1..g_N, whose Gram matrix I + E has noise E with

    mean 0,   E E_kl E_kl = v (k != l),   E E_kl E_lm E_mk = v^2 (k, l, m distinct),

where 1/v is the dimension of the space in which they are isotropic. For unit vectors the diagonal of E
vanishes and all other products of two or three entries have mean 0. For Gaussian vectors of variance v per
coordinate, E is a centred Wishart matrix, with moments (T. W. Anderson, An Introduction to Multivariate
Statistical Analysis, section 7.3)

    E tr(AE) tr(BE) = 2 v tr(AB),   E tr(AE) tr(BE) tr(CE) = 8 v^2 tr(ABC)      for symmetric A, B, C.

Restricted to matrices with zero diagonal, these two formulas hold for unit vectors as well. That is why
``numerics.moments`` needs one rule for both.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from maskproof.numerics.arrays import Array
from maskproof.numerics.layers import Layer
from maskproof.numerics.sampling import Law


@dataclass(frozen=True)
class Noise:
    """Tokens' Gram matrix as offset + C (I + E) C^T, optionally normalised.

    Attributes:
        variance: v, the variance of an off-diagonal entry of E.
        diagonal: whether the diagonal of E fluctuates (Gaussian vectors) or vanishes (unit vectors).
        mixing: C, shape (n, N).
        offset: inner product that all pairs of tokens share.
        start_norm: if given, tokens are scaled to this norm before the first layer.
    """

    variance: float
    diagonal: bool
    mixing: Array
    offset: float = 0.0
    start_norm: float | None = None

    def gram(self) -> Array:
        """The Gram matrix without noise, before scaling; shape (n, n)."""
        return self.offset + self.mixing @ self.mixing.T

    def direction(self, frame: Array) -> Array:
        """What the noise adds to the Gram matrix, for isotropic vectors ``frame`` of shape (batch, N, q)."""
        noise = frame @ frame.swapaxes(1, 2)
        size = noise.shape[1]
        noise.reshape(len(noise), -1)[:, :: size + 1] -= 1
        if not self.diagonal:
            noise.reshape(len(noise), -1)[:, :: size + 1] = 0
        n = self.mixing.shape[0]
        if size == n and (self.mixing == self.mixing[0, 0] * np.eye(n)).all():
            factor = self.mixing[0, 0] ** 2
            return noise if factor == 1 else factor * noise
        mixed = self.mixing @ noise @ self.mixing.T
        return (mixed + mixed.swapaxes(1, 2)) / 2


def noise_of(law: Law, layer: Layer) -> Noise | None:
    """The noise of ``law``, or None where its moments are not known: ``Sphere``, alpha > 0, centred.

    With layer normalisation the norms of centred unit tokens fluctuate, too. This noise leaves that out:
    tokens enter with their root mean square norm. A control variate needs a known mean, not to be exact.
    """
    n, identity = layer.n, np.eye(layer.n)
    dimension = law.d - 1 if layer.split else law.d
    inner = np.sqrt(dimension / law.d)
    if not law.gaussian:
        if law.alpha == 0:
            return Noise(1 / dimension, False, inner * identity)
        if layer.split:
            return None
        return Noise(1 / (law.d - 1), False, np.sqrt(1 - law.alpha) * identity, offset=law.alpha)
    mixing = identity
    if law.alpha > 0:
        mixing = np.hstack([np.full((n, 1), np.sqrt(law.alpha / (1 - law.alpha))), identity])
    return Noise(1 / dimension, True, inner * mixing, start_norm=inner if law.unit else None)
