"""Exact means of Taylor coefficients over random inputs, by an algebra of truncated moments.

Write a quantity as a = a_0 + a_1 + a_2 + a_3 + ..., a_p a form of degree p in the noise E of
``numerics.noise``. Its linear part is a_1 = tr(L E)/2 with a symmetric matrix L. The means E a_2 and E a_3 of
a product or a function of such quantities can be computed without ever writing down a quadratic or cubic
form, because

    E a_1 b_1     = v/2 tr(L_a L_b),
    E a_1 b_1 c_1 = v^2 tr(L_a L_b L_c) = v^2/2 tr(L_a (L_b L_c + L_c L_b)),

so that all that matters of a quadratic form is its contraction C, the symmetric matrix with
E a_1 b_2 = v^2/2 tr(L_a C_b) for every a; that of b_1 c_1 is L_b L_c + L_c L_b. The record
(a_0, L, C, E a_2 / v, E a_3 / v^2) is closed under sums, products and smooth functions: a ``Jet``. Running
the layer map on jets gives the means of c_2 and c_3 for all pairs at once, exactly. The work is two products
of matrices of n^2 x n^2 entries a layer, against n^3/6 batches of Taylor coefficients, one for each triple of
tokens.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from maskproof.numerics.arrays import Array
from maskproof.numerics.layers import Layer, Quantity, softmax
from maskproof.numerics.noise import Noise


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

    def __getitem__(self, index: int | None) -> Jet:
        contraction = None if self.contraction is None else self.contraction[index]
        return Jet(self.value[index], self.linear[index], self.second[index], contraction, self.third[index])

    def scaled(self, factor: Array | float) -> Jet:
        """Multiplied by numbers, entry by entry."""
        factor = np.asarray(factor, dtype=float)
        wide = factor[..., None, None]
        contraction = None if self.contraction is None else wide * self.contraction
        return Jet(factor * self.value, wide * self.linear, factor * self.second, contraction, factor * self.third)

    def total(self) -> Jet:
        """Sum over the first axis."""
        contraction = None if self.contraction is None else self.contraction.sum(axis=0)
        return Jet(
            self.value.sum(axis=0), self.linear.sum(axis=0), self.second.sum(axis=0), contraction,
            self.third.sum(axis=0),
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
        crossed = _half_trace(self.linear, other.contraction) + _half_trace(self.contraction, other.linear)
        third = a * other.third + b * self.third + crossed
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
        mean_three = first * self.third + second * _half_trace(self.linear, self.contraction)
        mean_three = mean_three + third / 3 * _half_trace(square, self.linear)
        return Jet(value, linear, mean_two, contraction, mean_three)

    def power(self, exponent: float) -> Jet:
        """A real power of every entry."""
        e, a = exponent, self.value
        first, second = e * a ** (e - 1), e * (e - 1) * a ** (e - 2)
        return self.mapped(a**e, first, second, (e - 2) * second / a)


@dataclass(frozen=True)
class _Extent:
    """What row i can depend on: its first ``tokens`` tokens and the first ``vectors`` isotropic vectors.

    Under a causal mask these are the tokens up to i, and all work is restricted to them.
    """

    tokens: int
    vectors: int


def _extents(noise: Noise, layer: Layer) -> list[_Extent]:
    n, size = noise.mixing.shape
    if np.triu(layer.visible, 1).any():
        return [_Extent(n, size)] * n
    return [_Extent(i + 1, i + 1 + size - n) for i in range(n)]


@dataclass(frozen=True)
class _Matrix:
    """A matrix of n x n quantities, laid out for products: ``linear[k, c, j, b]`` is entry (c, b) of L_kj."""

    value: Array
    linear: Array
    second: Array
    contraction: Array | None
    third: Array

    @classmethod
    def zeros(cls, n: int, size: int, order: int) -> _Matrix:
        flat, wide = (n, n), (n, size, n, size)
        contraction = np.zeros(wide) if order == 3 else None
        return cls(np.zeros(flat), np.zeros(wide), np.zeros(flat), contraction, np.zeros(flat))

    def set_row(self, i: int, row: Jet) -> None:
        """Put ``row`` where the row of token ``i`` is."""
        tokens, size = row.linear.shape[:2]
        self.value[i, :tokens] = row.value
        self.second[i, :tokens] = row.second
        self.third[i, :tokens] = row.third
        self.linear[i, :size, :tokens, :size] = row.linear.swapaxes(0, 1)
        if self.contraction is not None and row.contraction is not None:
            self.contraction[i, :size, :tokens, :size] = row.contraction.swapaxes(0, 1)

    def set_column(self, i: int, row: Jet) -> None:
        """Put ``row`` where the column of token ``i`` is."""
        tokens, size = row.linear.shape[:2]
        self.value[:tokens, i] = row.value
        self.second[:tokens, i] = row.second
        self.third[:tokens, i] = row.third
        self.linear[:tokens, :size, i, :size] = row.linear
        if self.contraction is not None and row.contraction is not None:
            self.contraction[:tokens, :size, i, :size] = row.contraction


def _row_product(row: Jet, matrix: _Matrix, extent: _Extent) -> Jet:
    """Row vector times matrix, sum over k of a_k M_kj."""
    e, size = extent.tokens, extent.vectors

    def carried(own: Array, other: Array) -> Array:
        first = (row.value @ other.reshape(e, -1)).reshape(size, e, size).swapaxes(0, 1)
        return first + (value.T @ own.reshape(e, -1)).reshape(e, size, size)

    value = matrix.value[:e, :e]
    linear = np.ascontiguousarray(matrix.linear[:e, :size, :e, :size])
    products = row.linear.reshape(e * size, size).T @ linear.reshape(e * size, e * size)
    products = products.reshape(size, e, size)
    second = row.value @ matrix.second[:e, :e] + row.second @ value + np.einsum("aja->j", products) / 2
    result = Jet(row.value @ value, carried(row.linear, linear), second, None, np.zeros(e))
    if row.contraction is None or matrix.contraction is None:
        return result
    other = np.ascontiguousarray(matrix.contraction[:e, :size, :e, :size])
    contraction = carried(row.contraction, other)
    contraction += products.transpose(1, 0, 2)
    contraction += products.transpose(1, 2, 0)
    third = row.value @ matrix.third[:e, :e] + row.third @ value
    third += np.einsum("kab,kajb->j", row.linear, other) / 2
    third += np.einsum("kab,kajb->j", row.contraction, linear) / 2
    return Jet(result.value, result.linear, second, contraction, third)


def _restricted(jet: Jet, extent: _Extent) -> Jet:
    """The first tokens' quantities, which depend on the first vectors only."""
    e, size = extent.tokens, extent.vectors
    contraction = None if jet.contraction is None else jet.contraction[:e, :size, :size]
    return Jet(jet.value[:e], jet.linear[:e, :size, :size], jet.second[:e], contraction, jet.third[:e])


def _stacked(parts: list[Jet], size: int) -> Jet:
    """Quantities of tokens 1..n in one jet, with matrices padded to ``size``."""

    def padded(matrices: list[Array]) -> Array:
        result = np.zeros((len(matrices), size, size))
        for target, matrix in zip(result, matrices, strict=True):
            target[: len(matrix), : len(matrix)] = matrix
        return result

    contractions = [part.contraction for part in parts if part.contraction is not None]
    return Jet(
        np.array([part.value for part in parts]),
        padded([part.linear for part in parts]),
        np.array([part.second for part in parts]),
        padded(contractions) if contractions else None,
        np.array([part.third for part in parts]),
    )


Rows = list[Jet]


def _normalised(gram: Rows, extents: list[_Extent]) -> tuple[Rows, Rows]:
    """Rows of cosines of tokens with the given rows of inner products, and the tokens' norms."""
    squares = [row[i] for i, row in enumerate(gram)]
    inverses = [square.power(-0.5) for square in squares]
    column = _stacked(inverses, extents[-1].vectors)
    cosines = [
        row.times(inverse[None]).times(_restricted(column, extent))
        for row, inverse, extent in zip(gram, inverses, extents, strict=True)
    ]
    return cosines, [square.power(0.5) for square in squares]


def _start(noise: Noise, extents: list[_Extent], order: int) -> Rows:
    """Rows of the tokens' Gram matrix, K_ij = offset + c_i (I + E) c_j^T."""
    mixing, value = noise.mixing, noise.gram()
    rows = []
    for i, extent in enumerate(extents):
        e, size = extent.tokens, extent.vectors
        linear = mixing[i, None, :size, None] * mixing[:e, None, :size]
        linear = linear + linear.swapaxes(-1, -2)
        if not noise.diagonal:
            np.einsum("jkk->jk", linear)[:] = 0
        contraction = np.zeros_like(linear) if order == 3 else None
        rows.append(Jet(value[i, :e], linear, np.zeros(e), contraction, np.zeros(e)))
    if noise.start_norm is None:
        return rows
    return [row.scaled(noise.start_norm**2) for row in _normalised(rows, extents)[0]]


def _attention_row(layer: Layer, i: int, inner: Jet, weights: Array) -> Jet:
    """Attention weights of query ``i``, given its cosines and its weights at order 0."""
    logits = inner.scaled(layer.beta * layer.score_gain)
    constant = weights[i, : len(inner.value)]
    # exp(y - y_0) times the weights of order 0: the row then sums to 1 at order 0.
    powers = logits.mapped(constant, constant, constant, constant)
    return powers.times(powers.total().power(-1)[None])


def _mixing_row(layer: Layer, i: int, weights: Jet, norm: Jet | None) -> Jet:
    """Row ``i`` of N = v A + residual diag(rho)."""
    row = weights.scaled(layer.value_norm)
    row.value[i] += layer.residual * (1.0 if norm is None else norm.value)
    if norm is None:
        return row
    row.linear[i] += layer.residual * norm.linear
    row.second[i] += layer.residual * norm.second
    row.third[i] += layer.residual * norm.third
    if row.contraction is not None and norm.contraction is not None:
        row.contraction[i] += layer.residual * norm.contraction
    return row


def _symmetric(rows: Rows, size: int, order: int) -> _Matrix:
    matrix = _Matrix.zeros(len(rows), size, order)
    for i, row in enumerate(rows):
        matrix.set_row(i, row)
        matrix.set_column(i, row)
    return matrix


def run_jets(noise: Noise, layer: Layer, layers: int, quantity: Quantity, order: int) -> Iterator[Rows]:
    """Yield the jets of ``quantity`` after each layer: row i holds the keys that query i can depend on.

    Args:
        noise: the input law.
        layer: the layer.
        layers: number of layers.
        quantity: "scores", "weights" or "gram".
        order: 2 or 3.
    """
    extents = _extents(noise, layer)
    size = extents[-1].vectors
    gram = _start(noise, extents, order)
    for level in range(layers):
        inner, norms = _normalised(gram, extents) if layer.normalised else (gram, [None] * layer.n)
        if quantity == "scores":
            yield [row.scaled(layer.score_gain) for row in inner]
            if level == layers - 1:
                return
        matrix = _symmetric(inner, size, order)
        constant = softmax(layer.score_gain * matrix.value, layer)
        weights = [_attention_row(layer, i, row, constant) for i, row in enumerate(inner)]
        if quantity == "weights":
            yield weights
            if level == layers - 1:
                return
        mixing = [_mixing_row(layer, i, row, norms[i]) for i, row in enumerate(weights)]
        half = [_row_product(row, matrix, extent) for row, extent in zip(mixing, extents, strict=True)]
        transposed = _Matrix.zeros(layer.n, size, order)
        for i, row in enumerate(mixing):
            transposed.set_column(i, row)
        gram = [_row_product(row, transposed, extent) for row, extent in zip(half, extents, strict=True)]
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
    mirrored = quantity != "weights"
    parts = []
    for rows in run_jets(noise, layer, layers, quantity, order):
        fields = (
            [row.value for row in rows],
            [row.second for row in rows],
            [row.third for row in rows],
            [_half_trace(row.linear, row.linear) for row in rows],
        )
        parts.append([_square(field, mirrored) for field in fields])
    limit, second, third, spread = (np.stack(part) for part in zip(*parts, strict=True))
    return MeanCoefficients(limit, second, third, spread, noise.variance, order)


def _square(rows: list[Array], mirrored: bool) -> Array:
    """A full matrix from rows that may end at the diagonal."""
    n = len(rows)
    result = np.zeros((n, n))
    for i, row in enumerate(rows):
        if mirrored:
            result[: len(row), i] = row
        result[i, : len(row)] = row
    return result
