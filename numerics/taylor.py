"""The layer map in truncated Taylor arithmetic: scores as power series in a perturbation of the inputs.

Let the Gram matrix of the tokens be K_0 + t K_1. Every score, weight and inner product in a decoder without
RoPE is an analytic function of t; the coefficient c_p of t^p is a form of degree p in the perturbation K_1.
``TaylorMap`` carries c_1, ..., c_P through the layers for a batch of perturbations of one common K_0.

One layer maps unit tokens with Gram matrix Y and norms rho to

    A = softmax(beta gain Y),   N = residual diag(rho) + v A,   K' = N Y N^T,

and then rho'_i = K'_ii^(1/2), Y'_ij = K'_ij / (rho'_i rho'_j). What makes this fast:

* Coefficients of order 0 are common to the batch and computed once.
* Coefficients lie below one another, so that a sum of products is a single matrix product.
* N is kept transposed, because BLAS is slower with a transposed right factor.
* Rows of N are divided by the rho' of order 0, so that the series of K'_ii starts with 1, and multiplied by
  what the softmax divides by, so that A need not be normalised.
* Under a causal mask N is lower triangular, and only the lower blocks of K' are computed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from maskproof.numerics.arrays import Array
from maskproof.numerics.layers import Layer, Quantity, layer_of, softmax
from maskproof.theory.decoder import Decoder
from maskproof.theory.errors import InvalidInput

Series = list[Array]


def power(base: Sequence[Array], exponent: float) -> Series:
    """Coefficients of ``base``, a series with a positive constant term, to a real power, entry by entry.

    b = a^e satisfies a b' = e a' b, hence k a_0 b_k = sum over m = 1..k of ((e + 1) m - k) a_m b_(k-m).
    """
    result = [base[0] ** exponent]
    for k in range(1, len(base)):
        total = sum(((exponent + 1) * m - k) * base[m] * result[k - m] for m in range(1, k + 1))
        result.append(total / (k * base[0]))
    return result


def _product(left: Sequence[Array], right: Sequence[Array]) -> Series:
    """Coefficients of the product of two series, entry by entry."""
    return [np.sum([left[q] * right[p - q] for q in range(p + 1)], axis=0) for p in range(len(left))]


def _exponential(logits: Sequence[Array], order: int, scratch: Array) -> Series:
    """e_1, ..., e_order with exp(y_1 t + y_2 t^2 + ...) = 1 + e_1 t + ...; y_p = 0 beyond the given ones.

    They satisfy k e_k = sum over m = 1..k of m y_m e_(k-m).
    """
    result: Series = [logits[0]]
    for k in range(2, order + 1):
        total = logits[0] * result[k - 2]
        for m in range(2, min(k, len(logits) + 1)):
            np.multiply(logits[m - 1], result[k - m - 1], out=scratch)
            scratch *= m
            total += scratch
        total *= 1 / k
        if k <= len(logits):
            total += logits[k - 1]
        result.append(total)
    return result


def _softmax_factors(constant: Array, exponential: Sequence[Array]) -> Series:
    """f_1, f_2, ... with A_p = A_0 f_p entry by entry, transposed: axes (batch, key, query).

    Args:
        constant: A_0 transposed.
        exponential: coefficients of order 1, 2, ... of exp(y - y_0) for symmetric logits y.
    """
    sums = [np.ones(constant.shape[1])] + [np.einsum("ji,bji->bi", constant, e) for e in exponential]
    inverse = power(sums, -1)
    result: Series = []
    for p, factor in enumerate(exponential, start=1):
        total = factor + inverse[p][:, None, :]
        for q in range(1, p):
            total += exponential[p - q - 1] * inverse[q][:, None, :]
        result.append(total)
    return result


@dataclass(frozen=True)
class _Workspace:
    """Stacks of coefficients for one batch.

    Attributes:
        gram: (batch, (P+1) n, n), Y_0 over Y_1 over ...
        mixing: the same with N^T, but Y's opposite order: N_P^T first.
        half: (batch, n, (P+1) n), N Y, from left to right.
        after: (P, batch, n, n), coefficients 1, 2, ... of N Y N^T.
        scratch: (batch, n, n).
    """

    n: int
    order: int
    gram: Array
    mixing: Array
    half: Array
    after: Array
    scratch: Array

    @classmethod
    def empty(cls, batch: int, n: int, order: int) -> _Workspace:
        tall, wide, square = (batch, (order + 1) * n, n), (batch, n, (order + 1) * n), (batch, n, n)
        return cls(
            n,
            order,
            gram=np.empty(tall),
            mixing=np.empty(tall),
            half=np.empty(wide),
            after=np.empty((order, *square)),
            scratch=np.empty(square),
        )

    def gram_at(self, p: int) -> Array:
        return self.gram[:, p * self.n : (p + 1) * self.n]

    def mixing_at(self, p: int) -> Array:
        return self.mixing[:, (self.order - p) * self.n : (self.order - p + 1) * self.n]

    def half_at(self, p: int) -> Array:
        return self.half[:, :, p * self.n : (p + 1) * self.n]

    def congruence(self, p: int, degree: int) -> Array:
        """Coefficient p of N Y N^T; those of N Y below p must have been computed before.

        ``degree`` bounds the orders at which Y does not vanish.
        """
        n, start, reach = self.n, (self.order - p) * self.n, (p + 1) * self.n
        terms = min(p, degree) + 1
        left = self.mixing[:, start : start + terms * n]
        np.matmul(left.swapaxes(1, 2), self.gram[:, : terms * n], out=self.half_at(p))
        return np.matmul(self.half[:, :, :reach], self.mixing[:, start:], out=self.after[p - 1])

    def copy_corner(self, whole: _Workspace) -> None:
        """Take over the first tokens of ``whole``, which under a causal mask know nothing of the others."""
        h, blocks = self.n, (-1, self.order + 1, whole.n, whole.n)
        for own, other in ((self.gram, whole.gram), (self.mixing, whole.mixing)):
            own.reshape(-1, self.order + 1, h, h)[:] = other.reshape(blocks)[:, :, :h, :h]
        self.half_at(0)[:] = whole.half_at(0)[:, :h, :h]

    def lower_congruence(self, p: int, degree: int, corner: _Workspace) -> Array:
        """The same for N lower triangular: leading block, lower block and its mirror image."""
        n, h, start, reach = self.n, corner.n, (self.order - p) * self.n, (p + 1) * self.n
        terms = min(p, degree) + 1
        left = self.mixing[:, start : start + terms * n, h:]
        np.matmul(left.swapaxes(1, 2), self.gram[:, : terms * n], out=self.half_at(p)[:, h:])
        result = self.after[p - 1]
        np.matmul(self.half[:, h:, :reach], self.mixing[:, start:], out=result[:, h:])
        result[:, :h, :h] = corner.congruence(p, degree)
        result[:, :h, h:] = result[:, h:, :h].swapaxes(1, 2)
        return result


@dataclass(frozen=True)
class _Constants:
    """Order 0 at the entry of one layer and of the layer after it.

    Attributes:
        gram: Y, with unit diagonal if the layer normalises.
        norms: rho; ones without normalisation.
        weights: A.
        mixing: N.
        after: K' = N Y N^T.
        next_norms: square roots of the diagonal of K'; ones without normalisation.
    """

    gram: Array
    norms: Array
    weights: Array
    mixing: Array
    after: Array
    next_norms: Array


def _unit(gram: Array, normalised: bool) -> tuple[Array, Array]:
    """Gram matrix of the (normalised) tokens, and their norms."""
    if not normalised:
        return gram, np.ones(gram.shape[0])
    norms = np.sqrt(np.diagonal(gram))
    return gram / np.outer(norms, norms), norms


def _constants(layer: Layer, gram: Array, layers: int) -> list[_Constants]:
    result = []
    for _ in range(layers):
        inner, norms = _unit(gram, layer.normalised)
        weights = softmax(layer.score_gain * inner, layer)
        mixing = layer.residual * np.diag(norms) + layer.value_norm * weights
        gram = mixing @ inner @ mixing.T
        result.append(_Constants(inner, norms, weights, mixing, gram, _unit(gram, layer.normalised)[1]))
    return result


def _outer(series: Array, p: int, out: Array) -> Array:
    """Coefficient p of s_i s_j, for the coefficients of s along the last axis."""
    part = series[:, :, : p + 1]
    return np.matmul(part, part[:, :, ::-1].swapaxes(1, 2), out=out)


def _rescale(scaled: Series, factors: Series, out: Sequence[Array], scratch: Array) -> None:
    """Write coefficients 1, 2, ... of s_i K_ij s_j to ``out``, for a series s with s_0 = 1.

    Args:
        scaled: coefficients of K.
        factors: coefficients of s, shape (batch, n).
        out: where to, one array for each order from 1.
        scratch: an array to work in.
    """
    columns = np.stack(factors, axis=-1)
    for p, target in enumerate(out, start=1):
        np.multiply(_outer(columns, p, scratch), scaled[0], out=target)
        target += scaled[p]
        for q in range(1, p):
            target += np.multiply(_outer(columns, q, scratch), scaled[p - q], out=scratch)


def _cosines(scaled: Series, out: Sequence[Array], scratch: Array) -> Series:
    """Write coefficients 1, 2, ... of K_ij / (K_ii K_jj)^(1/2) to ``out``; return those of K_ii^(1/2).

    The diagonal of ``scaled`` is 1 at order 0.
    """
    batch, n = scaled[1].shape[:2]
    diagonal = [np.ones((batch, n)), *(np.einsum("bii->bi", gram) for gram in scaled[1:])]
    _rescale(scaled, power(diagonal, -0.5), out, scratch)
    return power(diagonal, 0.5)


class TaylorMap:
    """Taylor coefficients of scores, weights and inner products around a common Gram matrix.

    Args:
        layer: the layer; see ``numerics.layers.layer_of``.
        gram: K_0, shape (n, n), symmetric, with a positive diagonal.
        layers: number of layers.
        order: highest order, at least 1.
        start_norm: if given, tokens are scaled to this norm before the first layer, whatever the diagonal of
            the perturbed Gram matrix.
    """

    def __init__(self, layer: Layer, gram: Array, layers: int, order: int, start_norm: float | None = None) -> None:
        self.layer, self.layers, self.order, self.start_norm = layer, layers, order, start_norm
        self.gram = gram
        start = gram if start_norm is None else start_norm**2 * _unit(gram, True)[0]
        self.levels = _constants(layer, start, layers)

    def truncated(self, order: int) -> TaylorMap:
        """The same map with coefficients up to a lower order."""
        return TaylorMap(self.layer, self.gram, self.layers, order, self.start_norm)

    @cached_property
    def _causal(self) -> bool:
        return not np.triu(self.layer.visible, 1).any() and self.layer.n >= 8

    def constant(self, quantity: Quantity) -> Array:
        """Coefficients of order 0, shape (layers, n, n)."""
        if quantity == "scores":
            return np.stack([self.layer.score_gain * level.gram for level in self.levels])
        return np.stack([level.weights if quantity == "weights" else level.after for level in self.levels])

    def run(self, direction: Array, quantity: Quantity) -> Iterator[Series]:
        """Yield, layer by layer, the coefficients of order 1, ..., ``order``, each of shape (batch, n, n).

        The arrays are valid until the next one is asked for.

        Args:
            direction: K_1, shape (batch, n, n), symmetric.
            quantity: "scores", "weights" or "gram".
        """
        batch, n = direction.shape[:2]
        work = _Workspace.empty(batch, n, self.order)
        corner = _Workspace.empty(batch, n // 2, self.order) if self._causal else None
        scaled = self._start(direction)
        rows: Series | None = None
        for level, constants in enumerate(self.levels):
            norms = self._enter(work, scaled, rows, constants)
            if quantity == "scores":
                gain = self.layer.score_gain
                grams = [work.gram_at(p) for p in range(1, self.order + 1)]
                yield grams if gain == 1 else [gain * gram for gram in grams]
                if level == self.layers - 1:
                    return
            # The first layer sees K_0 + t K_1 itself, unless it or what comes before it normalises.
            still_linear = level == 0 and self.start_norm is None
            if still_linear and self.layer.normalised:
                still_linear = not np.einsum("bii->bi", direction).any()
            degree = 1 if still_linear else self.order
            exponential = self._exponential(work, degree)
            if quantity == "weights":
                factors = _softmax_factors(constants.weights.T, exponential)
                yield [constants.weights * factor.swapaxes(1, 2) for factor in factors]
                if level == self.layers - 1:
                    return
            rows = self._mix(work, exponential, norms, constants)
            scaled = self._leave(work, corner, degree, constants)
            if quantity == "gram":
                after = [np.empty_like(direction) for _ in range(self.order)]
                _rescale(scaled, power(rows, -1), after, work.scratch)
                yield [np.outer(constants.next_norms, constants.next_norms) * gram for gram in after]

    def _start(self, direction: Array) -> Series:
        """The series of K, rows and columns divided by the norms of order 0 if the layer normalises."""
        scaled = [self.gram, direction, *[np.zeros_like(direction)] * (self.order - 1)]
        if self.layer.normalised or self.start_norm is not None:
            norms = np.sqrt(np.diagonal(self.gram))
            if (norms != 1).any():
                scaled = [coefficient / np.outer(norms, norms) for coefficient in scaled]
        if self.start_norm is None:
            return scaled
        cosines = [np.empty_like(direction) for _ in range(self.order)]
        _cosines(scaled, cosines, np.empty_like(direction))
        for cosine in cosines:
            np.einsum("bii->bi", cosine)[:] = 0
        scaled = [scaled[0], *cosines]
        return scaled if self.layer.normalised else [self.start_norm**2 * cosine for cosine in scaled]

    def _enter(self, work: _Workspace, scaled: Series, rows: Series | None, constants: _Constants) -> Series:
        """Write the Gram matrix of the (normalised) tokens to ``work``; return the series of their norms.

        ``rows`` is the series by which the rows of N were multiplied in the layer before.
        """
        work.gram_at(0)[:] = constants.gram
        targets = [work.gram_at(p) for p in range(1, self.order + 1)]
        flat = [constants.norms, *[np.zeros((len(work.gram), self.layer.n))] * self.order]
        if self.layer.normalised and any(np.einsum("bii->bi", gram).any() for gram in scaled[1:]):
            norms = _cosines(scaled, targets, work.scratch)
            if rows is not None:
                norms = _product(norms, power(rows, -1))
            return [constants.norms * part for part in norms]
        if rows is not None:
            _rescale(scaled, power(rows, -1), targets, work.scratch)
            return flat
        for target, gram in zip(targets, scaled[1:], strict=True):
            target[:] = gram
        return flat

    def _exponential(self, work: _Workspace, degree: int) -> Series:
        gain = self.layer.beta * self.layer.score_gain
        logits = [work.gram_at(p) for p in range(1, degree + 1)]
        if gain != 1:
            logits = [gain * logit for logit in logits]
        return _exponential(logits, self.order, work.scratch)

    def _mix(self, work: _Workspace, exponential: Series, norms: Series, constants: _Constants) -> Series:
        """Write N^T to ``work``, its rows multiplied by a series g with g_0 = 1; return g.

        With g_i = sum over j of A_ij exp(y_ij - y_ij at order 0), what the softmax divides by, A itself need not
        be divided. Cosines do not change when rows of N are multiplied; norms and inner products do.
        """
        inverse = 1 / constants.next_norms
        work.mixing_at(0)[:] = constants.mixing.T * inverse
        weights = np.ascontiguousarray(constants.weights.T) * (self.layer.value_norm * inverse)
        rows: Series = [np.ones((len(work.mixing), self.layer.n))]
        for p, factor in enumerate(exponential, start=1):
            target = np.multiply(weights, factor, out=work.mixing_at(p))
            rows.append(target.sum(axis=1) / (self.layer.value_norm * inverse))
        if self.layer.residual:
            for p, part in enumerate(_product(norms, rows)[1:], start=1):
                np.einsum("bii->bi", work.mixing_at(p))[:] += self.layer.residual * inverse * part
        return rows

    def _leave(self, work: _Workspace, corner: _Workspace | None, degree: int, constants: _Constants) -> Series:
        """Coefficients of N Y N^T for the N of ``work``."""
        inverse = 1 / constants.next_norms
        work.half_at(0)[:] = (constants.mixing @ constants.gram) * inverse[:, None]
        result = [constants.after * np.outer(inverse, inverse)]
        orders = range(1, self.order + 1)
        if corner is None:
            return result + [work.congruence(p, degree) for p in orders]
        corner.copy_corner(work)
        return result + [work.lower_congruence(p, degree, corner) for p in orders]


def taylor_coefficients(
    decoder: Decoder,
    gram: Array,
    direction: Array,
    layers: int,
    order: int = 3,
    quantity: Quantity = "scores",
    dim: int | None = None,
) -> Array:
    """Taylor coefficients in t at t = 0 for tokens with Gram matrix ``gram`` + t ``direction``.

    Args:
        decoder: the decoder, without rotary embedding. With layer normalisation the Gram matrix is that of
            the centred tokens.
        gram: shape (n, n), symmetric, positive diagonal.
        direction: shape (n, n) or (batch, n, n), symmetric.
        layers: number of layers.
        order: highest order.
        quantity: "scores", "weights" or "gram" (after the layer).
        dim: width, needed where the decoder depends on it.

    Returns:
        Shape (order + 1, layers, n, n), or (order + 1, layers, batch, n, n): coefficient of t^p of the
        quantity in layer l at [p, l-1, ..., i-1, j-1]. Scores are given for hidden pairs, too.

    Raises:
        InvalidInput: a matrix is not symmetric, a diagonal entry is not positive, or the decoder has RoPE.

    >>> import numpy as np
    >>> from maskproof.theory.decoder import Decoder
    >>> pair = np.array([[0.0, 1.0], [1.0, 0.0]])
    >>> print(taylor_coefficients(Decoder(), np.eye(2), pair, layers=2, order=2)[2, 1, 1, 0].round(12))
    -0.162369895736
    """
    gram, direction = np.asarray(gram, dtype=float), np.asarray(direction, dtype=float)
    batch = direction if direction.ndim == 3 else direction[None]
    for name, matrix in (("gram", gram), ("direction", batch)):
        if matrix.shape[-1] != gram.shape[0] or not np.array_equal(matrix, matrix.swapaxes(-1, -2)):
            raise InvalidInput(
                f"{name} of shape {matrix.shape}",
                f"'a symmetric matrix of {gram.shape[0]} tokens'",
                "pass inner products of the tokens",
            )
    if not (np.diagonal(gram) > 0).all():
        raise InvalidInput("gram", "'a positive diagonal'", "leave out tokens that vanish")
    if dim is None and decoder.norm == "layernorm":
        decoder.scale_at(None)
        raise InvalidInput("layernorm without a width", "'the width d is known'", "give dim")
    layer = layer_of(decoder, gram.shape[0], dim if dim is not None else _any_width(decoder))
    taylor = TaylorMap(layer, gram, layers, order)
    constant = np.broadcast_to(taylor.constant(quantity)[:, None], (layers, *batch.shape))
    higher = [[part.copy() for part in parts] for parts in taylor.run(batch, quantity)]
    result = np.stack([constant, *(np.stack([parts[p] for parts in higher]) for p in range(order))])
    return result if direction.ndim == 3 else result[:, :, 0]


def _any_width(decoder: Decoder) -> int:
    """A width for a decoder that does not depend on it."""
    decoder.scale_at(None)
    return 1
