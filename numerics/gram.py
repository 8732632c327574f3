"""The Gram recursion in float64.

Without RoPE a layer depends on the token vectors only through their Gram matrix K. With s_i the
factor that normalises vector i and b a bias that depends on the distance (ALiBi, T5; else 0),

    S_ij = kappa(i-j) K_ij s_i s_j / scale,   A = softmax(mask(beta S + b(i-j))),
    M = A diag(s) + residual I,               K' = M K M^T

* l2: s_i = K_ii^(-1/2).
* none: s_i = 1.
* layernorm at width d: K is the Gram matrix of the *centred* vectors P x, and s_i = sqrt(d) K_ii^(-1/2).
  This is closed, because the centring P acts on coordinates and M on tokens, so P x' = M (P x).

kappa is 1 without RoPE. With RoPE it is the mean cosine of the angles, kappa(D) = (2/dim) sum_m
cos(D base^(-2m/dim)), and the recursion is exact for vectors in which every plane index m carries the
same share of every inner product, and none of its rotated counterpart (``numerics.vectors.realise_planes``
makes such vectors; mixing tokens keeps the property). Random isotropic vectors have it in the limit of
infinite width; theory/rope.py says why.

Shares no code with ``numerics.attention`` and ``numerics.balls``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from maskproof.numerics.arrays import Array
from maskproof.numerics.parameters import Constants, as_float, constants, correlation, visibility, width
from maskproof.theory.decoder import Decoder, Position, Rope
from maskproof.theory.errors import InvalidInput
from maskproof.theory.values import positive_integer

_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class MeanField:
    """Scores, weights and Gram matrices of a stack of layers; the first axis is the layer.

    Attributes:
        scores: S^(l)_ij at [l-1, ..., i-1, j-1]; NaN where the mask hides key j from query i.
        weights: A^(l)_ij; rows sum to one, 0 where the mask hides the key.
        gram: G^(l)_ij, the inner products of the vectors *after* the layer.
    """

    scores: Array
    weights: Array
    gram: Array


def mean_field(decoder: Decoder, alpha: object, n: int, layers: int, dim: int | None = None) -> MeanField:
    """Scores, weights and Gram matrices for unit vectors with all pairwise cosines ``alpha``.

    This is the limit of infinite width of the random input laws. With LayerNorm the normalised vectors
    have norm sqrt(dim), so against unit inputs the first layer's residual weighs residual/sqrt(dim).

    Args:
        decoder: the layer, with any position encoding.
        alpha: the cosine, in [-1/(n-1), 1).
        n: the length of the sequence.
        layers: how many layers.
        dim: the width; needed where the decoder depends on it (LayerNorm, scale "sqrt(d)" or "d").

    Returns:
        Arrays of shape (layers, n, n).

    Raises:
        InvalidInput: a value is out of range or symbolic, RoPE's dim does not divide ``dim``, or a vector that
            is to be normalised vanishes, or so nearly that fewer than seven digits of its square are sure.

    >>> from maskproof.theory.decoder import Decoder
    >>> print(round(mean_field(Decoder(), alpha=0, n=2, layers=2).scores[1, 1, 0], 12))
    0.153520650506

    Source: arXiv 2509.21042, section 3.2, for every layer.
    """
    n = positive_integer(n, "n")
    cosine = as_float(correlation(alpha, n), "alpha")
    return recursion(decoder, equicorrelated(cosine, n), layers, dim, accuracy=1e-7)


def equicorrelated(alpha: float, n: int) -> Array:
    """The Gram matrix with 1 on the diagonal and ``alpha`` off it, shape (n, n)."""
    gram = np.full((n, n), float(alpha))
    np.fill_diagonal(gram, 1.0)
    return gram


def recursion(decoder: Decoder, gram: Array, layers: int, dim: int | None = None, accuracy: float = 1.0) -> MeanField:
    """Run ``layers`` layers of ``decoder`` on inputs with Gram matrix ``gram``.

    Args:
        decoder: the layer, with any position encoding.
        gram: Gram matrices of the inputs (of the centred inputs for LayerNorm), shape (..., n, n).
        layers: how many layers.
        dim: the width, where the decoder depends on it.
        accuracy: refuse a squared norm whose relative rounding error may exceed this; at 1 only
            those are refused that cannot be told from zero.

    Returns:
        Arrays of shape (layers, ..., n, n).

    Raises:
        InvalidInput: as for ``mean_field``; or the matrices are not finite and square.
    """
    kernel = np.asarray(gram, dtype=np.float64)
    if kernel.ndim < 2 or kernel.shape[-1] != kernel.shape[-2] or 0 in kernel.shape:
        raise InvalidInput(f"gram of shape {kernel.shape}", "'gram is square'", "give shape (..., n, n)")
    if not np.all(np.isfinite(kernel)):
        raise InvalidInput("gram with NaN or infinity", "'gram is finite'", "give finite inner products")
    layers = positive_integer(layers, "layers")
    d = width(decoder, dim)
    numbers = constants(decoder, d)
    n = kernel.shape[-1]
    visible = visibility(decoder.mask, n)
    relative = _relative(decoder.position, visible)

    record: list[tuple[Array, Array, Array]] = []
    noise = np.zeros(kernel.shape[:-1])
    for _ in range(layers):
        with np.errstate(over="ignore", invalid="ignore"):
            factors = _factors(decoder, kernel, noise / accuracy, d)
            scores, weights, kernel, noise = _layer(numbers, kernel, factors, visible, relative)
        if not (np.all(np.isfinite(kernel)) and np.all(np.isfinite(weights))):
            raise InvalidInput("a Gram matrix or score that overflows", "'all numbers are finite'", "use fewer layers")
        record.append((np.where(visible, scores, np.nan), weights, kernel))
    return MeanField(*(np.stack(part) for part in zip(*record, strict=True)))


def _factors(decoder: Decoder, kernel: Array, noise: Array, d: int | None) -> Array:
    """s_i, the factor that normalises vector i; shape (..., n)."""
    squares = np.diagonal(kernel, axis1=-2, axis2=-1)
    if not decoder.normalised:
        return np.ones_like(squares)
    if np.any(squares <= noise):
        raise InvalidInput(
            "a token vector of norm zero (up to rounding)",
            "'a normalised vector is not zero'",
            "use residual > 0, beta > 0 or another alpha",
        )
    length = math.sqrt(d) if decoder.norm == "layernorm" and d is not None else 1.0
    return length / np.sqrt(squares)


def _layer(
    numbers: Constants, kernel: Array, factors: Array, visible: NDArray[np.bool_], relative: _Relative
) -> tuple[Array, Array, Array, Array]:
    """One layer: all scores, the weights, the next Gram matrix and the rounding error of its diagonal."""
    scores = relative.kappa * kernel * (factors[..., :, None] * factors[..., None, :]) / numbers.scale
    weights = _softmax(numbers.beta, scores, relative.bias, visible)
    mix = weights * factors[..., None, :] + numbers.residual * np.eye(kernel.shape[-1])
    product = mix @ kernel @ np.swapaxes(mix, -1, -2)
    following = (product + np.swapaxes(product, -1, -2)) / 2
    # Two matrix products of n terms each: the standard bound is 2 n eps |M| |K| |M|^T; here four times it,
    # for the rounding of M itself.
    noise = 8 * kernel.shape[-1] * _EPS * np.sum((mix @ np.abs(kernel)) * mix, axis=-1)
    return scores, weights, following, noise


def _softmax(beta: float, scores: Array, bias: Array, visible: NDArray[np.bool_]) -> Array:
    """Softmax of beta * scores + bias over the visible keys.

    The largest score is taken off before the multiplication, so that beta times it cannot overflow; a
    product below the range of floats gives weight 0, as it should.
    """
    largest = np.max(np.where(visible, scores, -np.inf), axis=-1, keepdims=True)
    exponents = np.where(visible, beta * np.minimum(scores - largest, 0.0) + bias, -np.inf)
    powers = np.exp(exponents - exponents.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


@dataclass(frozen=True)
class _Relative:
    """What a layer takes from the distance i - j: a factor of the score and a term of the exponent."""

    kappa: Array
    bias: Array


def _relative(position: Position | None, visible: NDArray[np.bool_]) -> _Relative:
    n = len(visible)
    distances = np.subtract.outer(np.arange(n), np.arange(n))
    ones, zeros = np.ones((n, n)), np.zeros((n, n))
    if position is None:
        return _Relative(ones, zeros)
    if isinstance(position, Rope):
        return _Relative(rope_kernel(position, distances), zeros)
    known = {
        int(distance): as_float(position.bias(int(distance)), "bias") for distance in np.unique(distances[visible])
    }
    return _Relative(ones, np.vectorize(lambda distance: known.get(int(distance), 0.0))(distances))


def rope_kernel(position: Rope, distances: NDArray[np.int_]) -> Array:
    """kappa(D) = (2/dim) sum_m cos(D base^(-2m/dim)), the factor that RoPE puts on scores at distance D.

    >>> print(rope_kernel(Rope(dim=64), np.array([0, 1, 10])).round(6))
    [1.       0.966151 0.657863]
    """
    base = as_float(position.base, "base")
    angles = base ** (-2.0 * np.arange(position.dim // 2) / position.dim)
    return np.cos(np.multiply.outer(np.asarray(distances, dtype=np.float64), angles)).mean(axis=-1)
