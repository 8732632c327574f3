"""Taylor models: polynomials in floats, many at once, with a bound on everything that they leave out.

A function of tau_1, tau_2 with |tau| <= 1 is kept as a polynomial up to some total degree and a number ``rest``; the
function and the polynomial differ by at most ``rest`` wherever |tau| <= 1. What is left out is of three kinds, and all
three go into the rest: terms of higher degree, the rests of the operands, and the rounding of the coefficients.

* |P| is the sum of the absolute values of the coefficients of P. It bounds P, and |P Q| <= |P| |Q|.
* 1/a, a^(-1/2) and exp(a) are guessed in floats and then judged by what they were asked for: with y the guess, the
  residual 1 - a y (or 1 - a y^2, or the derivative of y minus y times that of a) is bounded like any product, and the
  error of y follows from it.
* One operation of IEEE floats has a relative error of at most u = 2^-53. A coefficient that is a sum of k products is
  off by at most (k + 1) u times the sum of their sizes, in whatever order a library adds them, with or without fused
  multiplications.
* Bounds are sums of products of non-negative floats. They are computed in floats too and then enlarged by ``UP``,
  which covers 4000 roundings, and by ``TINY``, which covers underflow.

Where a function is not defined, the rest is infinite or NaN: no comparison with it is true. NumPy then warns; callers
that expect it use ``np.errstate``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache
from itertools import pairwise
from math import comb
from typing import Any

import flint
import numpy as np
from flint import arb
from numpy.typing import NDArray

from maskproof.numerics.arrays import Array

Index = tuple[int, int]

UNIT = 2.0**-53
UP = 1 + 2.0**-41
TINY = 2.0**-900
LONGEST_SUM = 4000
"""The largest number of terms of one sum that ``UP`` covers."""


@dataclass(frozen=True)
class Frame:
    """What all Taylor models of one computation share.

    Attributes:
        order: the highest total degree that is kept.
        indices: exponents (a, b) of tau_1^a tau_2^b, by total degree.
        products: for each result the pairs of factors, as positions in ``indices``.
        starts: where each total degree starts in ``indices``, and the end.
    """

    order: int
    indices: tuple[Index, ...]
    products: tuple[tuple[tuple[int, int], ...], ...]
    starts: tuple[int, ...]

    @classmethod
    def of(cls, variables: int, order: int) -> Frame:
        """The frame of ``variables`` (0, 1 or 2) variables up to total degree ``order``."""
        return _frame(variables, order if variables else 0)

    def degree(self, position: int) -> int:
        """Total degree of the term at ``position``."""
        return sum(self.indices[position])


@lru_cache(maxsize=64)
def _frame(variables: int, order: int) -> Frame:
    indices = [(m - b, b) for m in range(order + 1) for b in range(1 if variables < 2 else m + 1)]
    at = {index: position for position, index in enumerate(indices)}
    products = tuple(
        tuple((at[c, d], at[a - c, b - d]) for c in range(a + 1) for d in range(b + 1)) for a, b in indices
    )
    starts = tuple(sum(a + b < m for a, b in indices) for m in range(order + 2))
    return Frame(order, tuple(indices), products, starts)


@dataclass(frozen=True)
class Models:
    """An array of Taylor models.

    Attributes:
        frame: of the polynomials.
        coefficients: shape (terms, ...), in the order of ``Frame.indices``.
        rest: shape (...), not negative.
    """

    frame: Frame
    coefficients: Array
    rest: Array

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the array."""
        return self.rest.shape

    def sizes(self) -> Array:
        """The sums of absolute coefficients of each total degree, shape (order + 1, ...)."""
        absolute = np.abs(self.coefficients)
        if len(absolute) == self.frame.order + 1:
            return absolute
        return np.stack([absolute[low:high].sum(axis=0) for low, high in pairwise(self.frame.starts)])

    def bounds(self) -> tuple[Array, Array]:
        """Numbers that the functions never fall below, and never exceed."""
        spread = (self.sizes()[1:].sum(axis=0) + self.rest) * UP + TINY
        low, high = self.coefficients[0] - spread, self.coefficients[0] + spread
        return np.nextafter(low, -np.inf), np.nextafter(high, np.inf)

    def __getitem__(self, key: Any) -> Models:
        whole = key if isinstance(key, tuple) else (key,)
        return Models(self.frame, self.coefficients[(slice(None), *whole)], self.rest[key])

    def transpose(self) -> Models:
        """Of a matrix."""
        return Models(self.frame, self.coefficients.transpose(0, 2, 1), self.rest.T)

    def diagonal(self) -> Models:
        """Of a square matrix."""
        return Models(self.frame, np.diagonal(self.coefficients, axis1=1, axis2=2), np.diagonal(self.rest))

    def with_diagonal(self, diagonal: Models) -> Models:
        """The square matrix with another diagonal."""
        places = np.arange(len(self.rest))
        coefficients, rest = self.coefficients.copy(), self.rest.copy()
        coefficients[:, places, places] = diagonal.coefficients
        rest[places, places] = diagonal.rest
        return Models(self.frame, coefficients, rest)

    def plus_diagonal(self, diagonal: Models) -> Models:
        """The square matrix with something added to its diagonal."""
        return self.with_diagonal(self.diagonal() + diagonal)

    def masked(self, mask: Array) -> Models:
        """The functions where the mask is 1, and zero where it is 0."""
        shown = mask != 0
        return Models(self.frame, np.where(shown, self.coefficients, 0.0), np.where(shown, self.rest, 0.0))

    def __add__(self, other: Models) -> Models:
        return _sum(self, other, np.add)

    def __sub__(self, other: Models) -> Models:
        return _sum(self, other, np.subtract)

    def __mul__(self, other: Models) -> Models:
        a, b = self.sizes(), other.sizes()
        coefficients = _convolved(self, other, np.multiply)
        rest = _left_out(a, b, self.rest, other.rest) + _rounding(self.frame) * a.sum(axis=0) * b.sum(axis=0)
        return Models(self.frame, coefficients, rest * UP + TINY)

    def __matmul__(self, other: Models) -> Models:
        a, b = self.sizes(), other.sizes()
        whole_a, whole_b = a.sum(axis=0), b.sum(axis=0)
        left_out = np.matmul(self.rest, whole_b + other.rest)
        tail = other.rest
        for size, beyond in zip(a, reversed(b), strict=True):
            left_out = left_out + np.matmul(size, tail)
            tail = tail + beyond
        # The leading matrices are as large as all others together, or larger: their product is made nearly exact.
        lead, lead_error = _accurate_product(self.coefficients[0], other.coefficients[0])
        coefficients = _convolved(self, other, np.matmul, lead)
        apart = np.matmul(whole_a - a[0], whole_b) + np.matmul(a[0], whole_b - b[0])
        rounding = (_rounding(self.frame) + self.shape[-1] * UNIT) * apart + lead_error
        return Models(self.frame, coefficients, (left_out + rounding) * UP + TINY)

    def scaled(self, factor: float) -> Models:
        """The product with an exact float."""
        rounding = 2 * UNIT * self.sizes().sum(axis=0)
        rest = (self.rest + rounding) * abs(factor) * UP + TINY
        return Models(self.frame, self.coefficients * factor, rest)

    def total(self) -> Models:
        """The sum over the last axis, in pairs of pairs: its rounding grows with the logarithm of the length."""
        coefficients, depth = self.coefficients, 0
        while (length := coefficients.shape[-1]) > 1:
            half = length // 2
            folded = coefficients[..., :half] + coefficients[..., half : 2 * half]
            coefficients = np.concatenate([folded, coefficients[..., 2 * half :]], axis=-1)
            depth += 1
        rest = self.rest.sum(axis=-1) + 2 * depth * UNIT * self.sizes().sum(axis=(0, -1))
        return Models(self.frame, coefficients[..., 0], rest * UP + TINY)

    def inverse(self) -> Models:
        """1/a of functions without zeros; elsewhere the rest is infinite or NaN."""
        guess = self._power(-1.0)
        product = self * guess
        residual = _distance_from_one(product)
        rest = guess.sizes().sum(axis=0) * residual / (1 - residual)
        return Models(self.frame, guess.coefficients, _where(residual < 1, rest))

    def rsqrt(self) -> Models:
        """a^(-1/2) of positive functions; elsewhere the rest is infinite or NaN."""
        guess = self._power(-0.5)
        residual = _distance_from_one(self * guess * guess)
        # (1 - x)^(-1/2) - 1 <= x / (2 (1 - x)).
        rest = guess.sizes().sum(axis=0) * residual / (2 * (1 - residual))
        return Models(self.frame, guess.coefficients, _where((residual < 1) & (self.coefficients[0] > 0), rest))

    def _power(self, exponent: float) -> Models:
        """a^exponent, approximately: from a D(y) = exponent y D(a), D = tau_1 d/dtau_1 + tau_2 d/dtau_2."""
        a, frame = self.coefficients, self.frame
        y = np.zeros_like(a)
        lead = np.where(a[0] > 0, a[0], np.nan)
        y[0] = lead**exponent
        for m in range(1, len(y)):
            for p, q in frame.products[m]:
                if p:
                    y[m] += (exponent * frame.degree(p) - frame.degree(q)) * a[p] * y[q]
            y[m] /= frame.degree(m) * lead
        return Models(frame, y, np.zeros_like(y[0]))

    def exp(self) -> Models:
        """The exponential.

        Let a be the polynomial, b = a - a_0, N the order, y the guess (y_0 = 1), f = a + delta with |delta| <= rest the
        function, D the operator that multiplies terms of degree m by m, and r = D(y) - y D(b). Then

            d/ds (y exp(-b))(s tau) = r(s tau) exp(-b(s tau)) / s,    which, times exp(b(tau)) and integrated, gives
            y - exp(b) = integral over 0 < s < 1 of r(s tau) exp(b(tau) - b(s tau)) / s.

        (1) |r_m(s tau)| <= s^m |r_m|, so the integral of |r(s tau)| / s is at most the sum of |r_m| / m over m >= 1.
        (2) |b(tau) - b(s tau)| <= sum of |b_m| (1 - s^m) <= |b| (``moving``), so |y - exp(b)| <= exp|b| times (1).
        (3) m > N: |r_m| <= sum of k |b_k| |y_l| over k + l = m, and 1/m <= 1/(N+1): in all at most the sum over k of
            k/(N+1) |b_k| (|y_l| summed over l > N - k), which is ``beyond``.
        (4) m <= N: y_m was chosen so that r_m = 0; what is left is the rounding of a sum of products k b_k y_l over m
            with k <= m, at most ``_rounding`` |b| |y|, twice that for the factor k and the division.
        (5) ``error`` is (3) and (4) times exp|b|; ``whole`` = |y| + error bounds exp(b).
        (6) |exp(f) - exp(a_0) y| <= exp(a_0) (|exp(delta) - 1| exp(b) + |exp(b) - y|), where |exp(delta) - 1| <=
            exp(rest) - 1, at most rest (1 + rest) for rest < 1: with (5), exp(a_0) (``widened`` + error).
        (7) A float ``lead`` stands for exp(a_0), off by at most lead_error of itself, and each y_m lead is rounded.
        """
        a, frame = self.coefficients, self.frame
        y = np.zeros_like(a)
        y[0] = 1
        for m in range(1, len(y)):
            for p, q in frame.products[m]:
                if p:
                    y[m] += frame.degree(p) * a[p] * y[q]
            y[m] /= frame.degree(m)
        guess = Models(frame, y, np.zeros_like(y[0]))
        sizes, found = self.sizes(), guess.sizes()
        moving = sizes[1:].sum(axis=0)
        tail, beyond = np.zeros_like(moving), np.zeros_like(moving)
        for k in range(1, frame.order + 1):
            tail = tail + found[frame.order + 1 - k]
            beyond = beyond + sizes[k] * tail * (k / (frame.order + 1))
        rounding = _rounding(frame) * 2 * moving * found.sum(axis=0)
        grown, grown_error = exponential(moving * UP + TINY)
        error = (beyond + rounding) * grown * (1 + grown_error)
        shift, shift_error = exponential(self.rest * UP)
        lead, lead_error = exponential(a[0])
        whole = found.sum(axis=0) + error
        widened = whole * np.where(self.rest < 2.0**-30, self.rest * (1 + 2.0**-29), shift * (1 + shift_error) - 1)
        rest = lead * (1 + lead_error) * (error + widened + (lead_error + 2 * UNIT) * whole)
        return Models(frame, y * lead, rest * UP + TINY)

    def halved(self, axis: int, side: int) -> Models:
        """The same functions on one half of the box: tau = (side + sigma) / 2 along ``axis``.

        Args:
            axis: 0 or 1.
            side: -1 for the lower half, 1 for the upper.
        """
        move = _halving(self.frame, axis, side)
        coefficients = np.tensordot(move, self.coefficients, axes=1)
        rest = self.rest + _rounding(self.frame) * np.tensordot(np.abs(move).sum(axis=0), np.abs(self.coefficients), 1)
        return Models(self.frame, coefficients, rest * UP + TINY)


def _where(defined: NDArray[np.bool_], rest: Array) -> Array:
    return np.where(defined, rest * UP + TINY, np.inf)


def _rounding(frame: Frame) -> float:
    """The relative error of a coefficient that is a sum of products."""
    return (len(frame.indices) + 2) * UNIT


def _sum(a: Models, b: Models, operation: Any) -> Models:
    dimensions = max(a.rest.ndim, b.rest.ndim)
    coefficients = operation(_aligned(a, dimensions), _aligned(b, dimensions))
    rest = a.rest + b.rest + UNIT * np.abs(coefficients).sum(axis=0)
    return Models(a.frame, coefficients, rest * UP + TINY)


def _aligned(models: Models, dimensions: int) -> Array:
    """The coefficients, with axes of length 1 put in front of those of the array."""
    terms, *shape = models.coefficients.shape
    return models.coefficients.reshape(terms, *(1,) * (dimensions - len(shape)), *shape)


def _filled(coefficients: Array) -> list[bool]:
    return [bool(np.any(part)) for part in coefficients]


def _convolved(a: Models, b: Models, operation: Any, lead: Array | None = None) -> Array:
    """Coefficients of the product; the leading one may be known."""
    left, right = _filled(a.coefficients), _filled(b.coefficients)
    first: Array = operation(a.coefficients[0], b.coefficients[0]) if lead is None else lead
    result = np.zeros((len(a.coefficients), *np.shape(first)))
    result[0] = first
    term = np.empty(np.shape(first))
    for m, pairs in enumerate(a.frame.products[1:], start=1):
        for p, q in pairs:
            if left[p] and right[q]:
                operation(a.coefficients[p], b.coefficients[q], out=term)
                result[m] += term
    return result


def _accurate_product(a: Array, b: Array) -> tuple[Array, Array]:
    """The product of two matrices and a bound on its error, of a few roundings and not of one for each term.

    Of every row of a and every column of b, the leading bits are split off, so few that sums of their products are
    exact in any order.
    """
    bits = (53 - int(a.shape[-1]).bit_length()) // 2
    a_high, b_high = _leading_bits(a, -1, bits), _leading_bits(b, -2, bits)
    a_low, b_low = a - a_high, b - b_high
    minor = a_high @ b_low + a_low @ b
    product = a_high @ b_high + minor
    sizes = np.abs(a_high) @ np.abs(b_low) + np.abs(a_low) @ np.abs(b)
    return product, 2 * UNIT * np.abs(product) + (a.shape[-1] + 2) * UNIT * sizes


def _leading_bits(matrix: Array, axis: int, bits: int) -> Array:
    largest = np.abs(matrix).max(axis=axis, keepdims=True)
    _, exponent = np.frexp(largest)
    unit = np.ldexp(1.0, exponent - bits)
    return np.rint(matrix / unit) * unit


def _left_out(a: Array, b: Array, a_rest: Array, b_rest: Array) -> Array:
    """Products of degrees that add up to more than the order, and whatever involves a rest."""
    tail: Array = b_rest
    left_out: Array = np.zeros(np.broadcast_shapes(a_rest.shape, b_rest.shape))
    for size, beyond in zip(a, reversed(b), strict=True):
        left_out = left_out + size * tail
        tail = tail + beyond
    return left_out + a_rest * tail


def _distance_from_one(product: Models) -> Array:
    """A bound on |1 - product|."""
    sizes = product.sizes()
    return (np.abs(1 - product.coefficients[0]) * (1 + 2 * UNIT) + sizes[1:].sum(axis=0) + product.rest) * UP + TINY


@lru_cache(maxsize=64)
def _halving(frame: Frame, axis: int, side: int) -> Array:
    """The matrix that takes coefficients in tau to those in sigma."""
    at = {index: position for position, index in enumerate(frame.indices)}
    move = np.zeros((len(at), len(at)))
    for index, position in at.items():
        power = index[axis]
        for kept in range(power + 1):
            target = at[(kept, index[1]) if axis == 0 else (index[0], kept)]
            move[target, position] = comb(power, kept) * side ** (power - kept) / 2**power
    return move


# The exponential function in floats

_GRID = 64.0
_MOST = 700.0


@cache
def _power_of_e(multiple: int) -> float:
    """exp(multiple / 64), rounded: relative error at most 2 u."""
    with flint.ctx.workprec(128):
        return float((arb(multiple) / int(_GRID)).exp())


EXPONENTIAL_ERROR = 8 * UNIT


def exponential(x: Array) -> tuple[Array, float]:
    """exp(x) and a bound on its relative error; NaN beyond +-700.

    x = k/64 + y with |y| <= 1/128 exactly (the subtraction of two floats so close is exact), exp(k/64) is a rounded
    ball, and exp(y) a Taylor polynomial of degree 8, whose remainder is below 2^-80. Its nested form has an error of
    at most 3 u: all but the last two operations act on numbers below 1/100.
    """
    x = np.asarray(x, dtype=np.float64)
    inside = np.abs(x) <= _MOST
    multiples = np.rint(np.where(inside, x, 0.0) * _GRID)
    y = np.where(inside, x, np.nan) - multiples / _GRID
    series = np.ones_like(y)
    for k in range(8, 0, -1):
        series = 1 + y / k * series
    first = int(multiples.min(initial=0))
    table = np.array([_power_of_e(k) for k in range(first, int(multiples.max(initial=0)) + 1)])
    return table[multiples.astype(np.int64) - first] * series, EXPONENTIAL_ERROR


# Numbers


def number(frame: Frame, value: arb | Fraction | int) -> Models:
    """A constant; its rest is the rounding."""
    return affine(frame, value, {})


def affine(frame: Frame, centre: arb | Fraction | int, slopes: dict[int, Fraction]) -> Models:
    """centre + sum over axes of slope tau."""
    coefficients = np.zeros(len(frame.indices))
    coefficients[0], rest = _rounded(centre)
    for axis, slope in slopes.items():
        place = frame.indices.index((1, 0) if axis == 0 else (0, 1))
        coefficients[place], error = _rounded(slope)
        rest += error
    return Models(frame, coefficients, np.array(rest * UP + TINY if rest else 0.0))


def _rounded(value: arb | Fraction | int) -> tuple[float, float]:
    """A float near the value, and a bound on the difference: 0 for a float."""
    if isinstance(value, arb):
        near = float(value.mid())
        return near, float((value - arb(near)).abs_upper()) * UP
    near = float(value)
    return near, float(abs(Fraction(value) - Fraction(near))) * UP


def constants(frame: Frame, values: Array) -> Models:
    """An array of constants that are floats, exactly."""
    coefficients = np.zeros((len(frame.indices), *values.shape))
    coefficients[0] = values
    return Models(frame, coefficients, np.zeros(values.shape))
