"""The limit of scores far from the start, and where the order first fails, against the recursion in floats."""

from __future__ import annotations

from math import e, log

import numpy as np
import pytest
from sympy import Poly, Symbol

from maskproof.numerics import mean_field
from maskproof.theory import Decoder
from maskproof.theory.long_sequences import L, limit
from maskproof.theory.symbols import lam

INVERSE = Symbol("w", positive=True)


def _distances(decoder, n, value):
    """Of n S^(l) from ``value`` of layer and log(i/j), in the last row, for layers two to four and two keys."""
    scores = mean_field(decoder, 0, n, 4).scores[:, n - 1]
    return [
        abs(n * scores[layer - 1, key - 1] - value(layer, log(n / key)))
        for layer in (2, 3, 4)
        for key in (n // 5, n // 2)
    ]


def _converges(decoder, value):
    """Whether the distances, of order log(n)^2/n, fall to less than two thirds from n to 4 n."""
    near, far = (_distances(decoder, n, value) for n in (200, 800))
    return all(b < 2 / 3 * a for a, b in zip(near, far, strict=True))


@pytest.mark.parametrize("residual", [1, 2])
@pytest.mark.parametrize("beta", [0, 1])
def test_scores_tend_to_the_limit(beta, residual):
    def value(layer, distance, weight=residual):
        return float(limit(layer).subs({lam: weight, L: distance}))

    decoder = Decoder(beta=beta, residual=residual)
    assert _converges(decoder, value)
    for wrong in (
        lambda layer, distance: value(layer, distance, residual + 0.2),
        lambda layer, distance: value(layer, 0),
        lambda layer, distance: value(layer - 1 if layer > 2 else 2, distance),
    ):
        assert not _converges(decoder, wrong)


@pytest.mark.parametrize("layer", [3, 4, 7])
def test_the_limit_falls_towards_the_query(layer):
    """It is a polynomial in L and 1/lam with positive coefficients, and not constant."""
    polynomial = Poly(limit(layer).subs(lam, 1 / INVERSE), L, INVERSE)
    assert polynomial.degree(L) == layer - 2
    assert min(polynomial.coeffs()) > 0


def _onset(residual):
    """Where the limit of exp(beta) S^(3) begins to fall at the diagonal, by quadrature and bisection."""
    nodes, weights = np.polynomial.legendre.leggauss(60)

    def first(t):
        return 1 / (1 + residual + residual * t)

    def content(t, u):
        return (residual + 1 + first(t) + np.log(first(u) / first(t)) / residual) / (1 + residual / first(t))

    def score(t, u):
        v = u * (nodes + 1) / 2
        return content(t, u) + u / 2 * np.sum(weights * content(t, v) * content(u, v))

    low, high = 0.5, 50.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if score(middle, middle) > score(middle, middle - 1e-5) else (low, middle)
    return low


@pytest.mark.parametrize(("residual", "onset"), [(1, 7.20077), (2, 5.2357), (0.5, 16.291)])
def test_the_onset_is_the_number_in_the_text(residual, onset):
    assert _onset(residual) == pytest.approx(onset, rel=2e-4)


def _first_failure(decoder, n):
    scores = mean_field(decoder, 0, n, 3).scores[2]
    return next(i for i in range(3, n + 1) if scores[i - 1, i - 2] < scores[i - 1, i - 3])


@pytest.mark.parametrize(("residual", "beta"), [(1, 4), (2, 4)])
def test_the_first_failure_grows_like_the_exponential_of_beta(residual, beta):
    """Relative corrections are of order exp(-beta), and shrink with it."""
    n = round(9 * e**beta)
    query = _first_failure(Decoder(beta=beta, residual=residual), n)
    assert query / e**beta == pytest.approx(_onset(residual), rel=1.5 * e**-beta + 1 / query)
    earlier = _first_failure(Decoder(beta=beta - 1, residual=residual), n)
    assert abs(query / e**beta - _onset(residual)) < abs(earlier / e ** (beta - 1) - _onset(residual))


def _stationary(beta, layers):
    """s_2, s_3, ... on a grid of times, by Fourier transforms."""
    size, step = 2**14, 2.0**-8
    times = np.fft.fftfreq(size, 1 / size) * step
    score = np.exp(-abs(times) / 2)
    for _ in range(layers - 1):
        yield score
        kernel = np.where(times >= 0, np.exp(-abs(times) + beta * score), 0)
        kernel[0] /= 2  # half of a jump
        score = np.fft.ifft(np.fft.fft(score) * abs(np.fft.fft(kernel)) ** 2).real
        score /= score[0]


def _ratio_distances(decoder, n, limits):
    """Of S^(l) from s_l(log(i/j)) in the last row, for layers two to four and three keys."""
    scores = mean_field(decoder, 0, n, 4).scores[1:, n - 1]
    grid = np.arange(8 * 2**8) / 2**8
    return [
        abs(row[key - 1] - np.interp(log(n / key), grid, limit_[: len(grid)]))
        for row, limit_ in zip(scores, limits, strict=True)
        for key in (n // 8, n // 4, n // 2)
    ]


@pytest.mark.parametrize("beta", [0, 1])
def test_without_the_residual_scores_depend_on_the_ratio_and_fall_with_it(beta):
    """The distances, of order 1/n, fall to less than a half from n to 4 n; not to the limits for another beta."""
    limits = list(_stationary(beta, 4))
    assert all(np.all(np.diff(limit_[: 8 * 2**8]) < 0) for limit_ in limits)
    decoder = Decoder(beta=beta, residual=0)
    near, far = (np.array(_ratio_distances(decoder, n, limits)) for n in (200, 800))
    assert np.all(far < near / 2 + 1e-6)  # the grid is finite, and for beta = 0 layer two is at its limit
    wrong = [np.array(_ratio_distances(decoder, n, list(_stationary(beta + 0.5, 4)))) for n in (200, 800)]
    assert not np.any((wrong[1] < wrong[0] / 2)[3:])  # layer two is the same for every beta
