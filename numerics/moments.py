"""Exact means of Taylor coefficients over random inputs, by an algebra of truncated moments.

Write a quantity as a = a_0 + a_1 + a_2 + a_3 + ..., a_p a form of degree p in the noise E of ``numerics.noise``. Its
linear part is a_1 = tr(L E)/2 with a symmetric matrix L. The means E a_2 and E a_3 of a product or a function of such
quantities can be computed without ever writing down a quadratic or cubic form, because

    E a_1 b_1     = v/2 tr(L_a L_b),
    E a_1 b_1 c_1 = v^2 tr(L_a L_b L_c) = v^2/2 tr(L_a (L_b L_c + L_c L_b)),

so that all that matters of a quadratic form is its contraction C, the symmetric matrix with
E a_1 b_2 = v^2/2 tr(L_a C_b) for every a; that of b_1 c_1 is L_b L_c + L_c L_b. The record
(a_0, L, C, E a_2 / v, E a_3 / v^2) is closed under sums, products and smooth functions: a ``Jet``. Running the layer
map on jets gives the means of c_2 and c_3 for all pairs at once, exactly. The work is a few products of matrices of
n^2 x n^2 entries a layer, against n^3/6 batches of Taylor coefficients, one for each triple of tokens.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from numerics.layers import Layer, Quantity, layer_of, softmax
from numerics.noise import Noise, noise_of
from numerics.sampling import law_of
from theory.decoder import Decoder
from theory.errors import InvalidInput
from theory.inputs import Inputs
from theory.values import positive_integer

Array = NDArray[np.float64]


def _half_trace(left: Array, right: Array) -> Array:
    """tr(left right)/2 for symmetric matrices in the last two axes."""
    return np.einsum("...kl,...kl->...", left, right) / 2


@dataclass(frozen=True)
class Jet:
    """Random quantities, truncated to what the means of their first Taylor coefficients need.

    Attributes:
        value: a_0, any shape.
        linear: L, that shape followed by (N, N), symmetric.
        second: E a_2 / v.
        contraction: C, shaped like ``linear``; None where only the second order is wanted.
        third: E a_3 / v^2 (0 where only the second order is wanted).
    """

    value: Array
    linear: Array
    second: Array
    contraction: Array | None
    third: Array

    def __getitem__(self, index: object) -> Jet:
        contraction = None if self.contraction is None else self.contraction[index]  # pyright: ignore
        return Jet(
            self.value[index], self.linear[index], self.second[index], contraction, self.third[index]  # pyright: ignore
        )

    def transposed(self) -> Jet:
        """Rows and columns of a matrix of quantities exchanged."""
        contraction = None if self.contraction is None else self.contraction.swapaxes(0, 1)
        return Jet(self.value.T, self.linear.swapaxes(0, 1), self.second.T, contraction, self.third.T)

    def scaled(self, factor: Array | float) -> Jet:
        """Multiplied by numbers, entry by entry."""
        factor = np.asarray(factor, dtype=float)
        wide = factor[..., None, None]
        contraction = None if self.contraction is None else wide * self.contraction
        return Jet(
            factor * self.value, wide * self.linear, factor * self.second, contraction, factor * self.third
        )

    def row_sums(self) -> Jet:
        """Sums over the second axis."""
        contraction = None if self.contraction is None else self.contraction.sum(axis=1)
        return Jet(
            self.value.sum(axis=1), self.linear.sum(axis=1), self.second.sum(axis=1), contraction,
            self.third.sum(axis=1),
        )  # fmt: skip

    def times(self, other: Jet) -> Jet:
        """Product, entry by entry."""
        a, b = self.value, other.value
        wide_a, wide_b = a[..., None, None], b[..., None, None]
        linear = wide_a * other.linear + wide_b * self.linear
        second = a * other.second + b * self.second + _half_trace(self.linear, other.linear)
        if self.contraction is None or other.contraction is None:
            return Jet(a * b, linear, second, None, np.zeros_like(second))
        inner = self.linear @ other.linear
        contraction = wide_a * other.contraction + wide_b * self.contraction + inner + inner.swapaxes(-1, -2)
        third = a * other.third + b * self.third
        third = third + _half_trace(self.linear, other.contraction) + _half_trace(self.contraction, other.linear)
        return Jet(a * b, linear, second, contraction, third)

    def mapped(self, value: Array, first: Array, second: Array, third: Array) -> Jet:
        """A smooth function of every entry, given its value and its first three derivatives at a_0."""
        wide = first[..., None, None]
        linear = wide * self.linear
        mean_two = first * self.second + second / 2 * _half_trace(self.linear, self.linear)
        if self.contraction is None:
            return Jet(value, linear, mean_two, None, np.zeros_like(mean_two))
        square = self.linear @ self.linear
        contraction = wide * self.contraction + second[..., None, None] * square
        cube = np.einsum("...kl,...kl->...", square, self.linear)
        mean_three = first * self.third + second * _half_trace(self.linear, self.contraction) + third / 6 * cube
        return Jet(value, linear, mean_two, contraction, mean_three)

    def power(self, exponent: float) -> Jet:
        """A real power of every entry."""
        e, a = exponent, self.value
        return self.mapped(a**e, e * a ** (e - 1), e * (e - 1) * a ** (e - 2), e * (e - 1) * (e - 2) * a ** (e - 3))


def _blocks(matrices: Array) -> Array:
    """An (n, m) array of N x N matrices as one (n N, m N) matrix."""
    n, m, size = matrices.shape[:3]
    return matrices.transpose(0, 2, 1, 3).reshape(n * size, m * size)


def _noise_products(left: Array, right: Array, causal: bool, shared: int) -> Array:
    """Sum over k of L_ik R_kj for (n, n) arrays of N x N matrices.

    Under a causal mask row i of ``left`` knows the tokens up to i only (and the ``shared`` first vectors), which
    bounds k and the entries of the matrices that can differ from zero.
    """
    n, size = left.shape[0], left.shape[2]
    step = n if not causal else max(1, -(-n // 8))
    result = np.empty((n, n, size, size))
    flat = right.transpose(0, 2, 1, 3)
    for start in range(0, n, step):
        stop = min(n, start + step)
        reach = size if not causal else stop + shared
        keys = n if not causal else stop
        factor = _blocks(left[start:stop, :keys, :reach, :reach])
        part = factor @ np.ascontiguousarray(flat[:keys, :reach]).reshape(keys * reach, n * size)
        rows = result[start:stop].transpose(0, 2, 1, 3)
        rows[:, :reach] = part.reshape(stop - start, reach, n, size)
        rows[:, reach:] = 0
    return result


def _matrix_product(left: Jet, right: Jet, causal: bool, shared: int) -> Jet:
    """Product of two matrices of quantities."""

    def traces(a: Array, b: Array) -> Array:
        return np.tensordot(a, b, axes=([1, 2, 3], [0, 2, 3])) / 2

    def carried(a: Array, b: Array) -> Array:
        return np.tensordot(left.value, b, axes=([1], [0])) + np.tensordot(
            a, right.value, axes=([1], [0])
        ).transpose(0, 3, 1, 2)

    value = left.value @ right.value
    linear = carried(left.linear, right.linear)
    second = left.value @ right.second + left.second @ right.value + traces(left.linear, right.linear)
    if left.contraction is None or right.contraction is None:
        return Jet(value, linear, second, None, np.zeros_like(second))
    contraction = carried(left.contraction, right.contraction)
    inner = _noise_products(left.linear, right.linear, causal, shared)
    contraction += inner
    contraction += inner.swapaxes(-1, -2)
    third = left.value @ right.third + left.third @ right.value
    third += traces(left.linear, right.contraction) + traces(left.contraction, right.linear)
    return Jet(value, linear, second, contraction, third)


def _diagonal(matrix: Jet) -> Jet:
    index = np.arange(matrix.value.shape[0])
    return matrix[index, index]


def _normalised(gram: Jet) -> tuple[Jet, Jet]:
    """Cosines of tokens with the given Gram matrix, and their norms."""
    squares = _diagonal(gram)
    inverse = squares.power(-0.5)
    return gram.times(inverse[:, None]).times(inverse[None, :]), squares.power(0.5)


def _start(noise: Noise, order: int) -> Jet:
    """The Gram matrix of the tokens: K_ij = offset + c_i (I + E) c_j^T."""
    mixing = noise.mixing
    linear = np.einsum("ik,jl->ijkl", mixing, mixing)
    linear = linear + linear.swapaxes(-1, -2)
    if not noise.diagonal:
        index = np.arange(mixing.shape[1])
        linear[:, :, index, index] = 0
    zero = np.zeros_like(noise.gram())
    gram = Jet(noise.gram(), linear, zero, np.zeros_like(linear) if order == 3 else None, zero)
    if noise.start_norm is None:
        return gram
    return _normalised(gram)[0].scaled(noise.start_norm**2)


def _attention(layer: Layer, inner: Jet) -> Jet:
    """Attention weights of tokens with the given cosines."""
    logits = inner.scaled(layer.beta * layer.score_gain)
    # exp(y - y_0) times the weights of order 0: the rows then sum to 1 at order 0.
    weights = softmax(layer.score_gain * inner.value, layer)
    powers = logits.mapped(weights, weights, weights, weights)
    return powers.times(powers.row_sums().power(-1)[:, None])


def _mixing(layer: Layer, weights: Jet, norms: Jet | None) -> Jet:
    """N = v A + residual diag(rho)."""
    mixing = weights.scaled(layer.value_norm)
    index = np.arange(layer.n)
    if norms is None:
        mixing.value[index, index] += layer.residual
        return mixing
    mixing.value[index, index] += layer.residual * norms.value
    mixing.linear[index, index] += layer.residual * norms.linear
    mixing.second[index, index] += layer.residual * norms.second
    if mixing.contraction is not None:
        mixing.contraction[index, index] += layer.residual * norms.contraction
        mixing.third[index, index] += layer.residual * norms.third
    return mixing


def run_jets(noise: Noise, layer: Layer, layers: int, quantity: Quantity, order: int) -> Iterator[Jet]:
    """Yield the jets of ``quantity`` after each layer: matrices of n x n quantities.

    Args:
        noise: the input law.
        layer: the layer.
        layers: number of layers.
        quantity: "scores", "weights" or "gram".
        order: 2 or 3.
    """
    gram = _start(noise, order)
    causal = not np.triu(layer.visible, 1).any()
    shared = noise.mixing.shape[1] - layer.n
    for level in range(layers):
        inner, norms = _normalised(gram) if layer.normalised else (gram, None)
        if quantity == "scores":
            yield inner.scaled(layer.score_gain)
            if level == layers - 1:
                return
        weights = _attention(layer, inner)
        if quantity == "weights":
            yield weights
            if level == layers - 1:
                return
        mixing = _mixing(layer, weights, norms)
        half = _matrix_product(mixing, inner, causal, shared)
        gram = _matrix_product(mixing, half.transposed(), causal, shared)
        if quantity == "gram":
            yield gram


@dataclass(frozen=True)
class MeanCoefficients:
    """Means of Taylor coefficients over the noise of a random input law.

    Attributes:
        limit: c_0, shape (layers, n, n).
        second: E c_2 / v.
        third: E c_3 / v^2; zeros at order 2.
        linear_variance: E c_1^2 / v, to leading order the variance of a single input's quantity.
        variance: v, see ``numerics.noise.Noise``.
        order: 2 or 3.
    """

    limit: Array
    second: Array
    third: Array
    linear_variance: Array
    variance: float
    order: int

    def means(self) -> Array:
        """E c_1, E c_2, ..., shape (order, layers, n, n)."""
        v = self.variance
        return np.stack([np.zeros_like(self.second), v * self.second, v**2 * self.third][: self.order])


def mean_coefficients(
    noise: Noise, layer: Layer, layers: int, quantity: Quantity = "scores", order: int = 3
) -> MeanCoefficients:
    """Means of c_2 and, at order 3, of c_3; see ``MeanCoefficients``.

    Memory grows as n^4 (1 GB at n = 50 and order 3), work as n^6 at order 3 and n^5 at order 2.
    """
    parts = []
    for jet in run_jets(noise, layer, layers, quantity, order):
        spread = _half_trace(jet.linear, jet.linear)
        parts.append((jet.value.copy(), jet.second.copy(), jet.third.copy(), spread))
    limit, second, third, spread = (np.stack(part) for part in zip(*parts, strict=True))
    return MeanCoefficients(limit, second, third, spread, noise.variance, order)
