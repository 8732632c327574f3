r"""Exact expectations over random inputs, by quadrature: each value with an estimate of its error.

Under Sphere(d, alpha) the cosines of the inputs are K_pq = alpha + (1-alpha) <v_p, v_q> with independent uniform
unit vectors v_p in R^m, where m = d for alpha = 0 and m = d - 1 (the sphere orthogonal to the shared direction)
for alpha > 0. What is computed:

* ``expected_weights``: the first layer's weights, for a query at any position. Given v_i the i - 1 cosines of query i
  are independent, and 1/x = int_0^oo exp(-t x) dt turns the softmax into one integral.
* ``expected_attention``: scores and weights of every layer for up to three tokens, by integrating over the
  Gram matrix: one cosine for two tokens, two cosines and a partial correlation for three.
* ``expected_score_21``: the score of the second token and the first, to as many digits as wanted.

The rules behind them converge geometrically wherever the integrand is smooth. They are refined until two
successive refinements agree, and a multiple of the last difference is the error estimate; where a vector can
vanish (as with residual 0 and beta 0) convergence is slow, and the estimate says so.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import mpmath
import numpy as np
from scipy.linalg import eigh_tridiagonal

from maskproof.numerics.arrays import Array
from maskproof.numerics.gram import recursion
from maskproof.numerics.parameters import as_float, constant
from maskproof.theory.decoder import Decoder
from maskproof.theory.errors import InvalidInput
from maskproof.theory.inputs import Sphere
from maskproof.theory.values import positive_integer

_ROUNDING = 64 * float(np.finfo(np.float64).eps)  # of sums of up to 10^6 positive terms of size at most 1
_SAFETY = 4  # error estimate over last difference: covers convergence as slow as 1/(number of nodes)
_NODES = (16, 24, 36, 54, 81)  # per dimension, each half as many again as the one before
_HALVINGS = (0, 1, 2, 3, 4)  # of the step on the half-line, from 1/8; the nodes in the cosine double from 16


class Estimate(NamedTuple):
    """A value and an upper estimate of its absolute error; floats, arrays of equal shape, or mpf."""

    value: Any
    error: Any


@dataclass(frozen=True)
class ExactMeans:
    """Expected scores and weights with error estimates, each of shape (layers, n, n).

    Attributes:
        scores, score_errors: E S^(l)_ij at [l-1, i-1, j-1]; NaN where the mask hides the key.
        weights, weight_errors: E A^(l)_ij; 0 where the mask hides the key.
    """

    scores: Array
    score_errors: Array
    weights: Array
    weight_errors: Array


def cosine_rule(m: int, nodes: int) -> tuple[Array, Array]:
    """Nodes and weights of the Gauss rule for the cosine of two independent uniform unit vectors in R^m.

    Exact for polynomials of degree up to 2 nodes - 1. The weights sum to 1. The recurrence coefficients are those
    of the Gegenbauer polynomials (Golub and Welsch's method). In R^1 the cosine is -1 or 1 and the rule has these
    two nodes.

    >>> z, w = cosine_rule(64, 10)
    >>> print(round(64 * float(w @ z**2), 12))
    1.0

    Raises:
        InvalidInput: m or nodes is not an integer from 1 up.
    """
    m, nodes = positive_integer(m, "m"), positive_integer(nodes, "nodes")
    if m == 1:
        return np.array([-1.0, 1.0]), np.array([0.5, 0.5])
    if nodes == 1:
        return np.zeros(1), np.ones(1)
    index = np.arange(2, nodes, dtype=np.float64)
    squares = np.concatenate([[1 / m], index * (index + m - 3) / ((2 * index + m - 2) * (2 * index + m - 4))])
    z, vectors = eigh_tridiagonal(np.zeros(nodes), np.sqrt(squares))
    w = vectors[0] ** 2
    return (z - z[::-1]) / 2, (w + w[::-1]) / 2  # symmetric up to rounding: make it exact


def expected_weights(decoder: Decoder, inputs: Sphere, i: int) -> Estimate:
    r"""E A^(1)_ij for j = 1..i, the weights of query i in the first layer.

    With b = beta (1-alpha) / scale and Z the cosine of two independent uniform vectors in R^m,

        E A_ii = int_0^oo exp(-t) M(t)^(i-1) dt,   M(t) = E exp(-t exp(b (Z - 1))),

    and the other i - 1 keys share the rest equally. alpha enters only through b and m: the factor
    exp(alpha beta / scale), common to all keys but the query itself, cancels.

    Args:
        decoder: causal, with norm "l2" or "none", without RoPE. (The residual plays no part yet.)
        inputs: Sphere with numbers for d and alpha.
        i: position of the query.

    Returns:
        value and error, each of shape (i,).

    Raises:
        InvalidInput: the decoder or the inputs are not of that kind.

    >>> from maskproof.theory.inputs import Sphere
    >>> weights, _ = expected_weights(Decoder(), Sphere(64), 10)
    >>> print(round(weights[9], 14))
    0.23081899059578

    Source: arXiv 2509.21042, after Eq. 2, where the softmax of the mean stands for this mean.
    """
    i = positive_integer(i, "i")
    alpha, m = _effective_law(inputs)
    scale = _plain_scale(decoder, inputs, causal_up_to=i, from_query=i)
    rate = as_float(decoder.beta, "beta") / scale * (1 - alpha)

    def own_weight(level: int) -> float:
        z, w = cosine_rule(m, 16 * 2**level)
        powers = np.exp(rate * (z - 1))
        t, dt = _half_line(1 / (8 * 2**level), slowest=1.0, fastest=1 + (i - 1) * float(w @ powers))
        mean = np.exp(-np.multiply.outer(t, powers)) @ w
        return float(np.sum(np.exp(-t) * mean ** (i - 1) * dt))

    own, error = map(float, _refine(own_weight, _HALVINGS))
    if i == 1:
        return Estimate(np.ones(1), np.zeros(1))
    value = np.full(i, (1 - own) / (i - 1))
    value[-1] = own
    errors = np.full(i, error / (i - 1))
    errors[-1] = error
    return Estimate(value, errors)


def expected_attention(decoder: Decoder, inputs: Sphere, n: int, layers: int = 2) -> ExactMeans:
    r"""E S^(l)_ij and E A^(l)_ij of every layer for one, two or three tokens.

    For three tokens the Gram matrix of the v_p has the density prop. to det^((m-4)/2). In the coordinates
    z_12, z_13 and the partial correlation w, with z_23 = z_12 z_13 + w sqrt((1 - z_12^2)(1 - z_13^2)), this is a
    product: two cosines in R^m and one in R^(m-1). The rule for w is symmetric, so that only even powers of the
    square roots survive, and the integrand stays smooth in z_12 and z_13 up to the ends.

    Args:
        decoder: any mask, norm "l2" or "none", without RoPE.
        inputs: Sphere with numbers for d and alpha.
        n: 1, 2 or 3 tokens.
        layers: how many layers.

    Raises:
        InvalidInput: more than three tokens (use the Monte Carlo engine), or the decoder or inputs are not of that
            kind, or a vector vanishes with positive probability.

    >>> from maskproof.theory.inputs import Sphere
    >>> print(round(expected_attention(Decoder(), Sphere(64), 3).scores[1, 1, 0], 14))
    0.15098936783792
    """
    n, layers = positive_integer(n, "n"), positive_integer(layers, "layers")
    if n > 3:
        raise InvalidInput(f"n = {n}", "n <= 3", "use Monte Carlo, or read i <= 3 off shorter sequences")
    alpha, m = _effective_law(inputs)
    _plain_scale(decoder, inputs)
    dim = int(inputs.d)

    def means(nodes: int) -> Array:
        total = np.zeros((2, layers, n, n))
        for cosines, weights in _gram_rule(n, m, nodes):
            kernel = alpha + (1 - alpha) * cosines
            kernel[..., range(n), range(n)] = 1
            run = recursion(decoder, kernel, layers, dim)
            total += np.einsum("g,qlgij->qlij", weights, np.stack([run.scores, run.weights]))
        return total

    value, error = _refine(means, _NODES)
    return ExactMeans(value[0], error[0], value[1], error[1])


def expected_score_21(decoder: Decoder, inputs: Sphere, layer: int = 2, digits: int = 30) -> Estimate:
    r"""E S^(layer)_21 to ``digits`` digits, as mpmath numbers.

    With z = tanh(y) the density (1 - z^2)^((m-3)/2) dz becomes sech(y)^(m-1) dy on the whole line, where the
    trapezoidal rule converges geometrically. The layers are written out for two tokens.

    Args:
        decoder: causal, norm "l2" or "none", without RoPE.
        inputs: Sphere with numbers for d and alpha.
        layer: which layer's score.
        digits: how many significant digits are wanted, at least 1.

    Raises:
        InvalidInput: as for ``expected_attention``.

    >>> from maskproof.theory.inputs import Sphere
    >>> value, error = expected_score_21(Decoder(), Sphere(8))
    >>> print(mpmath.nstr(value, 18))
    0.133542429726403157
    """
    layer, digits = positive_integer(layer, "layer"), positive_integer(digits, "digits")
    _, m = _effective_law(inputs)
    _plain_scale(decoder, inputs, causal_up_to=2)
    # Twice the digits, because 1 + z is as small as the square of the density where a vector nearly vanishes.
    with mpmath.workdps(2 * digits + 15):
        alpha = _mpf(inputs.alpha, "alpha")
        beta, lam = _mpf(decoder.beta, "beta"), _mpf(decoder.residual, "residual")
        scale = _mpf(decoder.scale_at(int(inputs.d)), "scale")

        def score(z: Any) -> Any:
            return _two_token_score(alpha + (1 - alpha) * z, beta / scale, lam, layer, decoder.norm) / scale

        if m == 1:
            value = (score(mpmath.mpf(1)) + score(mpmath.mpf(-1))) / 2
            return Estimate(value, abs(value) * mpmath.mpf(10) ** -digits)
        reach = (digits + 5) * mpmath.log(10) / (m - 1) + mpmath.log(2)
        value, difference = mpmath.mpf(0), mpmath.inf
        for refined in _line_means(score, m, reach):
            value, difference = refined, abs(refined - value)
            if difference <= abs(value) * mpmath.mpf(10) ** -digits:
                break
        return Estimate(value, difference + abs(value) * mpmath.mpf(10) ** -digits)


# ------------------------------------------------------------------------------------------------ rules


def _refine(integrate: Callable[[int], Any], levels: Iterable[int]) -> Estimate:
    """Integrate at finer and finer levels until two agree, and estimate the error of the last.

    Of a matrix, the largest difference of any entry counts for all: one entry may agree by chance.
    """
    value: Any = None
    error: Any = None
    for level in levels:
        previous, value = value, np.asarray(integrate(level))
        if previous is None:
            continue
        difference = np.abs(value - previous)
        if difference.ndim >= 2:
            largest = np.nanmax(difference, axis=(-2, -1), keepdims=True)
            difference = np.where(np.isnan(difference), np.nan, largest)
        error = _SAFETY * difference + _ROUNDING * np.maximum(1.0, np.abs(value))
        if np.nanmax(difference) <= _ROUNDING / _SAFETY:
            break
    return Estimate(value, error)


def _half_line(step: float, slowest: float, fastest: float) -> tuple[Array, Array]:
    """Nodes and weights on t > 0 for integrands between exp(-fastest t) and exp(-slowest t).

    The trapezoidal rule in y with t = exp(y - exp(-y)) / fastest, a double exponential transformation.
    """
    largest = math.log(45 * fastest / slowest)  # exp(-45) is 3e-20
    y = np.arange(-4.5, largest + step, step)  # exp(-exp(4.5)) is 1e-39
    t = np.exp(y - np.exp(-y)) / fastest
    return t, t * (1 + np.exp(-y)) * step


def _gram_rule(n: int, m: int, nodes: int) -> Iterable[tuple[Array, Array]]:
    """Gram matrices of n uniform unit vectors in R^m, shape (batch, n, n), with weights, batch by batch."""
    if n == 1:
        yield np.ones((1, 1, 1)), np.ones(1)
        return
    z, weights = cosine_rule(m, nodes)
    if n == 2:
        gram = np.ones((z.size, 2, 2))
        gram[:, 0, 1] = gram[:, 1, 0] = z
        yield gram, weights
        return
    partial, partial_weights = cosine_rule(m - 1, nodes) if m > 1 else (np.zeros(1), np.ones(1))
    for z12, weight in zip(z, weights, strict=True):
        z13, w = (grid.ravel() for grid in np.meshgrid(z, partial, indexing="ij"))
        gram = np.ones((z13.size, 3, 3))
        gram[:, 0, 1] = gram[:, 1, 0] = z12
        gram[:, 0, 2] = gram[:, 2, 0] = z13
        gram[:, 1, 2] = gram[:, 2, 1] = z12 * z13 + w * np.sqrt((1 - z12**2) * (1 - z13**2))
        yield gram, weight * np.multiply.outer(weights, partial_weights).ravel()


def _line_means(function: Callable[[Any], Any], m: int, reach: Any) -> Iterator[Any]:
    """The mean of ``function`` of the cosine in R^m, by the trapezoidal rule in y = artanh z, finer and finer.

    The step starts at reach/16 and is halved ten times; each halving adds the points in between.
    """
    total = mass = mpmath.mpf(0)
    for count in (16 * 2**halvings for halvings in range(11)):
        first, stride = (0, 1) if count == 16 else (1, 2)
        for index in range(first, count + 1, stride):
            y = index * reach / count
            weight = mpmath.sech(y) ** (m - 1)
            z = mpmath.tanh(y)
            mass += weight if index == 0 else 2 * weight
            total += weight * (function(z) + function(-z) if index else function(z))
        yield total / mass  # the rule integrates the density itself as accurately as the rest


def _two_token_score(cosine: Any, beta: Any, lam: Any, layer: int, norm: str) -> Any:
    """<y_2, y_1> in the given layer, for unit inputs with this cosine; ``beta`` multiplies inner products."""
    first, cross, second = mpmath.mpf(1), cosine, mpmath.mpf(1)  # G_11, G_21, G_22
    for _ in range(layer - 1):
        one, two = _inverse_norms(first, second, norm)
        odds = mpmath.exp(beta * (cross * one - second * two) * two)  # of key 1 against key 2
        other, own = odds / (1 + odds) * one, two / (1 + odds) + lam
        kept = one + lam
        first, cross, second = (
            kept**2 * first,
            kept * (other * first + own * cross),
            other**2 * first + 2 * other * own * cross + own**2 * second,
        )
    one, two = _inverse_norms(first, second, norm)
    return cross * one * two


def _inverse_norms(first: Any, second: Any, norm: str) -> tuple[Any, Any]:
    if norm == "none":
        return mpmath.mpf(1), mpmath.mpf(1)
    if first <= 0 or second <= 0:
        raise InvalidInput(
            "a token vector of norm zero",
            "'a normalised vector is not zero'",
            "use residual > 0, beta > 0 or d > 1",
        )
    return 1 / mpmath.sqrt(first), 1 / mpmath.sqrt(second)


# --------------------------------------------------------------------------------------------- hypotheses


def _effective_law(inputs: Sphere) -> tuple[float, int]:
    """alpha, and the dimension m in which the varying parts of the inputs are uniform."""
    if not isinstance(inputs, Sphere):
        raise InvalidInput(
            f"inputs = {inputs!r}", "'inputs are a Sphere'", "use Sphere(d, alpha), or Monte Carlo for other laws"
        )
    alpha, d = constant(inputs.alpha, "alpha"), positive_integer(constant(inputs.d, "d"), "d")
    return as_float(alpha, "alpha"), d if alpha == 0 else d - 1


def _plain_scale(decoder: Decoder, inputs: Sphere, causal_up_to: int = 0, from_query: int = 1) -> float:
    """The scale, of a decoder whose layers see the inputs' Gram matrix alone.

    The mask must let each query from ``from_query`` to ``causal_up_to`` see itself and all keys before it, no others.
    """
    if decoder.norm == "layernorm":
        raise InvalidInput("norm = 'layernorm'", "'the norm is l2 or none'", "centring needs the vectors themselves")
    if decoder.position is not None:
        raise InvalidInput(f"position = {decoder.position}", "'no RoPE'", "use position=None")
    for query in range(from_query, causal_up_to + 1):
        if decoder.mask.keys(query, causal_up_to + 1) != range(1, query + 1):
            raise InvalidInput(f"mask = {decoder.mask}", "'the mask is causal'", "use mask=Causal()")
    return as_float(decoder.scale_at(int(inputs.d)), "scale")


def _mpf(value: Any, name: str) -> Any:
    """An exact real number at mpmath's current precision."""
    return mpmath.mpf(str(constant(value, name).evalf(mpmath.mp.dps)))
