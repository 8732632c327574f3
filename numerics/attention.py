"""Masked attention on vectors, written as the definition reads: the referee.

Nothing here knows that scores depend on the vectors through their Gram matrix only, and nothing is
shared with the other routes (``numerics.gram``, ``numerics.balls``).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from maskproof.numerics.arrays import Array
from maskproof.numerics.parameters import as_float, constants, visibility, width
from maskproof.theory.decoder import Decoder, Position, Rope
from maskproof.theory.errors import InvalidInput
from maskproof.theory.values import positive_integer

Pairing = Literal["half", "interleaved"]

_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Attention:
    """What attention computed, layer by layer; the first axis is the layer.

    Attributes:
        raw_scores: every score, visible or not, shape (layers, ..., n, n).
        scores: the same with NaN where the mask hides the key.
        weights: rows sum to one, 0 where the mask hides the key, shape (layers, ..., n, n).
        vectors: the token vectors after each layer, shape (layers, ..., n, d).
    """

    raw_scores: Array
    scores: Array
    weights: Array
    vectors: Array


def attend(decoder: Decoder, vectors: Array, layers: int, pairing: Pairing = "half") -> Attention:
    """Run ``layers`` layers of ``decoder`` on ``vectors``.

    Args:
        decoder: the layer, with any position encoding.
        vectors: token vectors as rows, shape (..., n, d); leading axes are a batch.
        layers: how many layers, at least 1.
        pairing: which coordinates of a block of RoPE's dim turn together: m and m + dim/2 ("half", as in
            Llama) or 2m and 2m + 1 ("interleaved", as in the RoPE paper). Token i turns by i times the angle.

    Raises:
        InvalidInput: the vectors are not finite or of the wrong shape, a normalised vector has norm
            zero (up to rounding), a number overflows, or RoPE's dim does not divide the width.

    Source: arXiv 2509.21042, section 3.1.
    """
    x = np.asarray(vectors, dtype=np.float64)
    if x.ndim < 2 or 0 in x.shape:
        raise InvalidInput(f"vectors of shape {x.shape}", "'the shape is (..., n, d)'", "give rows of tokens")
    if not np.all(np.isfinite(x)):
        raise InvalidInput("vectors with NaN or infinity", "'vectors are finite'", "give finite numbers")
    layers = positive_integer(layers, "layers")
    n, d = x.shape[-2:]
    width(decoder, d)
    numbers = constants(decoder, d)
    hidden = ~visibility(decoder.mask, n)
    rotation = _rotation(decoder.position, n, pairing) if isinstance(decoder.position, Rope) else None
    bias = _bias(decoder.position, hidden)

    record: list[tuple[Array, Array, Array, Array]] = []
    noise = np.zeros(x.shape[:-1])  # how large a vector could be by rounding alone
    for _ in range(layers):
        with np.errstate(over="ignore", invalid="ignore"):
            y = _normalise(decoder, x, noise)
            rotated = y if rotation is None else _rotate(y, *rotation, pairing)
            raw = np.einsum("...id,...jd->...ij", rotated, rotated) / numbers.scale
            visible = np.where(hidden, np.nan, raw)
            weights = _softmax(numbers.beta, raw, bias, hidden)
            mixed = np.einsum("...ij,...jd->...id", weights, y)
            unit, exponent = _rescaled(x)
            lengths = np.ldexp(np.linalg.norm(unit, axis=-1), exponent[..., 0])
            largest = np.linalg.norm(y, axis=-1).max(axis=-1, keepdims=True)
            noise = 4 * n * _EPS * (numbers.residual * lengths + largest)
            x = numbers.residual * x + mixed
        if not all(np.all(np.isfinite(part)) for part in (x, raw, weights, noise)):
            raise InvalidInput("a vector or score that overflows", "'all numbers are finite'", "use smaller vectors")
        record.append((raw, visible, weights, x))
    return Attention(*(np.stack(part) for part in zip(*record, strict=True)))


def _normalise(decoder: Decoder, x: Array, noise: Array) -> Array:
    if not decoder.normalised:
        return x
    unit, exponent = _rescaled(x)
    noise = np.ldexp(noise, -exponent[..., 0])
    if decoder.norm == "l2":
        return unit / _positive_length(unit, noise)[..., None]
    d = x.shape[-1]
    centred = unit - unit.mean(axis=-1, keepdims=True)
    noise = noise + d * _EPS * np.linalg.norm(unit, axis=-1)
    return math.sqrt(d) * centred / _positive_length(centred, noise)[..., None]


def _rescaled(x: Array) -> tuple[Array, NDArray[np.int_]]:
    """Each vector with its largest entry brought to [1/2, 1) by a power of two, and the exponent of that power.

    The squares in a norm then neither overflow nor vanish, and no bit of the direction changes.
    """
    exponent = np.frexp(np.abs(x).max(axis=-1, keepdims=True))[1]
    return np.ldexp(x, -exponent), exponent


def _positive_length(x: Array, noise: Array) -> Array:
    length = np.linalg.norm(x, axis=-1)
    if np.any(length <= noise):
        raise InvalidInput(
            "a token vector of norm zero (up to rounding)",
            "'a normalised vector is not zero'",
            "use residual > 0, beta > 0 or other inputs",
        )
    return length


def _bias(position: Position | None, hidden: NDArray[np.bool_]) -> Array:
    """What the position encoding adds to beta * S where the key is visible; shape (n, n)."""
    bias = np.zeros(hidden.shape)
    if position is None or isinstance(position, Rope):
        return bias
    for i, j in np.argwhere(~hidden):
        bias[i, j] = as_float(position.bias(int(i - j)), "bias")
    return bias


def _softmax(beta: float, scores: Array, bias: Array, hidden: NDArray[np.bool_]) -> Array:
    """Softmax of beta * scores + bias over the visible keys, scores taken relative to the largest."""
    seen = np.where(hidden, -np.inf, scores)
    below = seen - seen.max(axis=-1, keepdims=True)
    # 0 * (-inf) is no number: multiply the visible entries only.
    exponents = np.where(hidden, -np.inf, beta * np.where(hidden, 0.0, below) + bias)
    powers = np.exp(exponents - exponents.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def _rotation(position: Rope, n: int, pairing: Pairing) -> tuple[Array, Array]:
    """Cosines and sines, shape (n, 1, dim/2), of the angle of token i in plane m of any block."""
    if pairing not in ("half", "interleaved"):
        raise InvalidInput(f"pairing = {pairing!r}", "'pairing is known'", "use 'half' or 'interleaved'")
    base = as_float(position.base, "base")
    frequencies = base ** (-2.0 * np.arange(position.dim // 2) / position.dim)
    angles = np.arange(1, n + 1)[:, None, None] * frequencies
    return np.cos(angles), np.sin(angles)


def _rotate(y: Array, cosines: Array, sines: Array, pairing: Pairing) -> Array:
    half = cosines.shape[-1]
    blocks = y.reshape(*y.shape[:-1], -1, 2 * half)
    first, second = (
        (slice(None, half), slice(half, None)) if pairing == "half" else (slice(0, None, 2), slice(1, None, 2))
    )
    rotated = np.empty_like(blocks)
    rotated[..., first] = cosines * blocks[..., first] - sines * blocks[..., second]
    rotated[..., second] = sines * blocks[..., first] + cosines * blocks[..., second]
    return rotated.reshape(y.shape)
