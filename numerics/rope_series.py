"""The 1/d correction of expected scores with a position encoding.

A layer without LayerNorm sees its input vectors through the products T_kl(D) = <x_k, R_D x_l> alone, where R_D is
RoPE's rotation by D steps (the identity without RoPE). With C the mixing of the inputs accumulated so far,

    S_ij = s_i s_j F_ij / scale,     F_ij = sum_kl C_ik C_jl T_kl(j - i),     s_i = F_ii^(-1/2),
    C' = (A diag(s) + residual I) C.

Under the law ``Sphere`` T has mean kappa(D) K_kl exactly, and its covariances over D are known in closed form at every
width (``Noise``). So with S = S_0 + c_1 + c_2 + ... by orders in the noise, E S = S_0 + E c_2 + O(1/d^2), where S_0
is the limit, E c_1 = 0, and E c_2 is a sum over uncorrelated directions of the noise, each followed through the layers
in power series up to second order. c_1 and c_2 of a sample are also control variates with known means.

Shares no code with ``numerics.attention``, ``numerics.gram`` and ``numerics.balls``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from maskproof.numerics.arrays import Array
from maskproof.numerics.parameters import Constants, as_float, constants, visibility, width
from maskproof.numerics.sampling import law_of
from maskproof.theory.decoder import Decoder, Position, Rope
from maskproof.theory.errors import InvalidInput
from maskproof.theory.inputs import Inputs
from maskproof.theory.values import positive_integer

Series = list[Array]  # coefficients of 1, t, t^2, ...

ORDER = 2
NEGLIGIBLE = 1e-13  # eigenvalues of a covariance below this share of the largest are rounding
AT_ONCE = 400_000  # numbers in the products of one batch of directions


# --- RoPE's rotations ----------------------------------------------------------------------------


def angles(position: Position | None) -> Array:
    """Angles of the planes of one block; a single zero without RoPE."""
    if not isinstance(position, Rope):
        return np.zeros(1)
    base = as_float(position.base, "base")
    return np.exp(-np.log(base) * np.arange(0, position.dim, 2) / position.dim)


def kappa(position: Position | None, distances: NDArray[np.int_]) -> Array:
    """The mean cosine of the angles at the given distances."""
    return np.cos(np.asarray(distances)[..., None] * angles(position)).mean(axis=-1)


def turned_products(position: Position | None, vectors: Array) -> Array:
    """T_kl(D) for D = 0..n-1 of vectors of shape (batch, n, d); shape (batch, n, n, n), index [D, k, l].

    RoPE pairs coordinates m and m + dim/2 of each block.
    """
    batch, n, d = vectors.shape
    if not isinstance(position, Rope):
        plain = vectors @ vectors.swapaxes(1, 2)
        return np.repeat(plain[:, None], n, axis=1)
    half = position.dim // 2
    blocks = vectors.reshape(batch, n, -1, 2, half)
    planes = (blocks[:, :, :, 0] + 1j * blocks[:, :, :, 1]).reshape(batch, n, -1)
    step = np.exp(1j * np.tile(angles(position), d // position.dim))
    turned, found = planes, np.empty((batch, n, n, n))
    for distance in range(n):
        found[:, distance] = (planes.conj() @ turned.swapaxes(1, 2)).real
        turned = turned * step
    return found


# --- the layer map in power series ---------------------------------------------------------------


@dataclass(frozen=True)
class SeriesMap:
    """The layers of a decoder, ready for products of n tokens.

    Attributes:
        numbers: beta, residual, scale.
        normalised: whether tokens have norm 1 before attention.
        visible: Boolean (n, n).
        bias: what the position adds to the exponents where keys are visible, shape (n, n).
        mean: the mean of T, shape (n, n, n), index [D, k, l].
        layers: how many layers.
    """

    numbers: Constants
    normalised: bool
    visible: NDArray[np.bool_]
    bias: Array
    mean: Array
    layers: int

    def run(self, noise: Array) -> Iterator[Series]:
        """Coefficients of the scores, layer by layer, along ``noise`` of shape (batch, n, n, n)."""
        n = noise.shape[-1]
        products: Series = [self.mean[None], noise]
        zero = np.zeros((1, n, n))
        mixing: Series = [np.eye(n)[None], *[zero] * ORDER]
        for level in range(self.layers):
            inner = _inner(mixing, products)
            factors = _inverse_roots([np.einsum("bii->bi", part) for part in inner]) if self.normalised else None
            scores = [part / self.numbers.scale for part in _scaled(inner, factors)]
            yield scores
            if level == self.layers - 1:
                return
            weights = _softmax([self.numbers.beta * part for part in scores], self.bias, self.visible)
            if factors is not None:
                weights = _product(weights, [part[:, None, :] for part in factors])
            weights[0] = weights[0] + self.numbers.residual * np.eye(n)
            mixing = _product(weights, mixing, np.matmul)


def _product(a: Series, b: Series, multiply: np.ufunc = np.multiply) -> Series:
    return [sum(multiply(a[q], b[p - q]) for q in range(p + 1)) for p in range(ORDER + 1)]  # type: ignore[misc]


def _inner(mixing: Series, products: Series) -> Series:
    """F_ij = sum_kl C_ik C_jl T_kl(j - i); symmetric, because T_lk(-D) = T_kl(D)."""
    n = mixing[0].shape[-1]
    result = []
    for p in range(ORDER + 1):
        total: Array | float = 0.0
        for r, part in enumerate(products):
            for q in range(p - r + 1):
                total = total + _bands(mixing[q], part, mixing[p - r - q])
        assert isinstance(total, np.ndarray)
        upper = np.zeros((len(total), n, n))
        for distance in range(n):
            rows = np.arange(n - distance)
            upper[:, rows, rows + distance] = total[:, distance, : n - distance]
        result.append(upper + np.triu(upper, 1).swapaxes(1, 2))
    return result


def _bands(left: Array, products: Array, right: Array) -> Array:
    """At [D, i]: sum_kl left_ik T_kl(D) right_{i+D,l}; entries with i + D >= n stay 0."""
    n = left.shape[-1]
    half = left[:, None] @ products
    result = np.zeros((max(len(half), len(right)), n, n))
    for distance in range(n):
        count = n - distance
        result[:, distance, :count] = (half[:, distance, :count] * right[:, distance:]).sum(axis=-1)
    return result


def _inverse_roots(squares: Series) -> Series:
    zeroth, first, second = squares
    root = zeroth**-0.5
    slope = -0.5 * root / zeroth
    return [root, slope * first, slope * second + 0.375 * root / zeroth**2 * first**2]


def _scaled(inner: Series, factors: Series | None) -> Series:
    if factors is None:
        return inner
    by_query = _product(inner, [part[:, :, None] for part in factors])
    return _product(by_query, [part[:, None, :] for part in factors])


def _softmax(exponents: Series, bias: Array, visible: NDArray[np.bool_]) -> Series:
    zeroth, first, second = exponents
    shown = np.where(visible, zeroth + bias, -np.inf)
    power = np.exp(shown - shown.max(axis=-1, keepdims=True))
    powers = [power, power * first, power * (second + first**2 / 2)]
    totals = [part.sum(axis=-1, keepdims=True) for part in powers]
    weights: Series = []
    for p in range(ORDER + 1):
        known = sum((weights[q] * totals[p - q] for q in range(p)), np.zeros(()))
        weights.append((powers[p] - known) / totals[0])
    return weights


# --- the noise of the input law ------------------------------------------------------------------


@dataclass(frozen=True)
class Noise:
    """Closed-form covariances of T_kl(D) for ``Sphere(d, alpha)``, over distances D.

    With u and v_k as in ``Sphere``, T_kl = alpha A + sqrt(alpha(1-alpha)) (B_l(D) + B_k(-D)) + (1-alpha) V_kl(D),
    where A = <u, R_D u>, B_k(D) = <u, R_D v_k>, V_kl = <v_k, R_D v_l>. A and V_kk are even in D, and
    V_lk(D) = V_kl(-D). Changing the sign of one v_k shows that the B_k, the V_kl with k < l, and the even group
    A, V_11, V_22, ... are uncorrelated with one another.
    """

    position: Position | None
    d: int
    alpha: float
    n: int

    def mean(self) -> Array:
        """E T_kl(D) = kappa(D) (alpha + (1 - alpha) [k = l]) for D = 0..n-1; shape (n, n, n)."""
        gram = np.where(np.eye(self.n, dtype=bool), 1.0, self.alpha)
        return kappa(self.position, np.arange(self.n))[:, None, None] * gram

    def directions(self) -> Iterator[Array]:
        """Uncorrelated directions of unit variance that make up T - E T, shape (count, n, n, n) at a time."""
        n, alpha = self.n, self.alpha
        even, signed = np.arange(n), np.arange(-(n - 1), n)
        if alpha == 0:
            for k in range(n):
                yield self._own(k, self._turned_self(even))
            yield from self._pairs(self._kappa_minus(signed) / self.d, 1.0)
            return
        rest = self.d - 1
        shared = _roots(self._turned_self(even))
        # V_kk has the part -A/(d-1) in common with all: what is turned away from u is not turned within its complement.
        everyone = np.zeros((len(shared), n, n, n)) + alpha * shared[:, :, None, None]
        everyone[:, :, np.arange(n), np.arange(n)] -= (1 - alpha) / rest * shared[:, :, None]
        yield everyone
        for k in range(n):
            yield (1 - alpha) * self._own(k, self._turned_within(even))
        yield from self._with_shared(signed, np.sqrt(alpha * (1 - alpha)))
        one, other = self._kappas(signed)
        within = (self.d - 2) * self._kappa_minus(signed) + one * other + self._turned_self(signed)
        yield from self._pairs(within / rest**2, 1 - alpha)

    def _kappas(self, distances: NDArray[np.int_]) -> tuple[Array, Array]:
        values = kappa(self.position, distances)
        return values[:, None], values[None, :]

    def _kappa_minus(self, distances: NDArray[np.int_]) -> Array:
        return kappa(self.position, distances[:, None] - distances[None, :])

    def _kappa_both(self, distances: NDArray[np.int_]) -> Array:
        plus = kappa(self.position, distances[:, None] + distances[None, :])
        return plus + self._kappa_minus(distances)

    def _turned_self(self, distances: NDArray[np.int_]) -> Array:
        """Cov of <x, R_D x> and <x, R_D' x> for x uniform on the sphere of R^d."""
        one, other = self._kappas(distances)
        return (self._kappa_both(distances) - 2 * one * other) / (self.d + 2)

    def _turned_within(self, distances: NDArray[np.int_]) -> Array:
        """Mean, over u, of the covariance of V_kk(D) and V_kk(D') given u."""
        one, other = self._kappas(distances)
        rest, shared = self.d - 1, self._turned_self(distances)
        trace = (self.d / 2 - 1) * self._kappa_both(distances) + one * other + shared
        traces = rest**2 * one * other + shared
        return 2 / (rest * (rest + 2)) * (trace - traces / rest)

    def _own(self, k: int, covariance: Array) -> Array:
        roots = _roots(covariance)
        found = np.zeros((len(roots), self.n, self.n, self.n))
        found[:, :, k, k] = roots
        return found

    def _pairs(self, covariance: Array, factor: float) -> Iterator[Array]:
        """T_kl(D) and T_lk(D) = T_kl(-D) for k < l; ``covariance`` is over D = -(n-1)..n-1."""
        n, roots = self.n, factor * _roots(covariance)
        for k in range(n):
            for l in range(k + 1, n):  # noqa: E741
                found = np.zeros((len(roots), n, n, n))
                found[:, :, k, l] = roots[:, n - 1 :]
                found[:, :, l, k] = roots[:, n - 1 :: -1]
                yield found

    def _with_shared(self, signed: NDArray[np.int_], factor: float) -> Iterator[Array]:
        one, other = self._kappas(signed)
        covariance = self._kappa_minus(signed) - one * other - self._turned_self(signed)
        n, roots = self.n, factor * _roots(covariance / (self.d - 1))
        for k in range(n):
            found = np.zeros((len(roots), n, n, n))
            found[:, :, :, k] += roots[:, n - 1 :, None]
            found[:, :, k, :] += roots[:, n - 1 :: -1, None]
            yield found


def _roots(covariance: Array) -> Array:
    """Rows r with sum r r^T = covariance."""
    values, vectors = np.linalg.eigh((covariance + covariance.T) / 2)
    kept = values > NEGLIGIBLE * max(values[-1], 1e-300)
    return (vectors[:, kept] * np.sqrt(values[kept])).T


# --- what is asked for ---------------------------------------------------------------------------


def series_map(decoder: Decoder, inputs: Inputs, n: int, layers: int) -> tuple[SeriesMap, Noise]:
    """The layers in power series, and the noise, of ``decoder`` on ``n`` tokens of the law ``inputs``.

    Raises:
        InvalidInput: the law is not ``Sphere`` at a numeric width, the decoder uses LayerNorm, a parameter is
            symbolic, or RoPE's dim does not divide the width.
    """
    n, layers = positive_integer(n, "n"), positive_integer(layers, "layers")
    law = law_of(inputs, decoder)
    if law.gaussian:
        raise InvalidInput(f"inputs = {inputs}", "'the mean Gram matrix is exact'", "use Sphere(d, alpha)")
    if decoder.norm == "layernorm":
        raise InvalidInput("norm = 'layernorm'", "'norm is l2 or none'", "use the Monte Carlo average without control")
    width(decoder, law.d)
    visible = visibility(decoder.mask, n)
    bias = np.zeros((n, n))
    if decoder.position is not None and not isinstance(decoder.position, Rope):
        for i, j in np.argwhere(visible):
            bias[i, j] = as_float(decoder.position.bias(int(i - j)), "bias")
    noise = Noise(decoder.position, law.d, law.alpha, n)
    numbers = constants(decoder, law.d)
    return SeriesMap(numbers, decoder.norm == "l2", visible, bias, noise.mean(), layers), noise


@dataclass(frozen=True)
class Correction:
    """Expected scores to order 1/d, shape (layers, n, n); NaN where the mask hides the key.

    Attributes:
        limit: S_0, the scores of the limit map (kappa at RoPE's dim).
        correction: E c_2, of order 1/d: E S = limit + correction + O(1/d^2).
    """

    limit: Array
    correction: Array


def correction(decoder: Decoder, inputs: Inputs, n: int, layers: int) -> Correction:
    """The limit of expected scores and their exact second-order term at the law's width.

    The work grows like n^7 (n^3 directions of noise, n^4 operations each): 12 tokens with RoPE take a few seconds.

    Raises:
        InvalidInput: as for ``series_map``.

    >>> from maskproof.theory.inputs import Sphere
    >>> found = correction(Decoder(), Sphere(64), 12, 3)
    >>> print((64 * found.correction[1, 1, 0]).round(12), (64 * found.correction[2, 11, 4]).round(12))
    -0.162369895736 -0.542053952567
    """
    layer_map, noise = series_map(decoder, inputs, n, layers)
    total = np.zeros((layers, n, n))
    limit = np.stack([scores[0][0] for scores in layer_map.run(np.zeros((1, n, n, n)))])
    for directions in _batched(noise.directions(), max(1, AT_ONCE // n**3)):
        for level, scores in enumerate(layer_map.run(directions)):
            total[level] += np.broadcast_to(scores[2], (len(directions), n, n)).sum(axis=0)
    hidden = ~layer_map.visible
    total[:, hidden] = limit[:, hidden] = np.nan
    return Correction(limit, total)


def _batched(parts: Iterator[Array], size: int) -> Iterator[Array]:
    waiting: list[Array] = []
    for part in parts:
        waiting.append(part)
        if sum(map(len, waiting)) >= size:
            yield np.concatenate(waiting)
            waiting = []
    if waiting:
        yield np.concatenate(waiting)
