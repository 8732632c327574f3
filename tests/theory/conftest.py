"""Reference numbers for the theory's tests, without any closed form.

First and second derivatives of the second layer's scores in each input cosine: the layer is written out
literally in 50-digit arithmetic and differenced. With the step 1e-14 the truncation error is of order 1e-28 and
the cancellation of order 1e-22, far below what a double resolves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import combinations

import mpmath
import numpy as np
import pytest

from maskproof.numerics.arrays import Array


@dataclass(frozen=True)
class Jets:
    """Scores at the equicorrelated point and their derivatives.

    Attributes:
        pairs: the pairs (p, q), p < q, from 1, in the order of the first axis of the derivatives.
        weights, scores: A^(1) and S^(2), shape (n, n).
        weight_bends, slopes, bends: d^2 A^(1)/de^2, dS^(2)/de and d^2 S^(2)/de^2, shape (pairs, n, n).
    """

    pairs: list[tuple[int, int]]
    weights: Array
    scores: Array
    weight_bends: Array
    slopes: Array
    bends: Array


def jets(n: int, alpha: float, beta: float, lam: float) -> Jets:
    pairs = list(combinations(range(1, n + 1), 2))
    with mpmath.workdps(50):
        step = mpmath.mpf(10) ** -14
        middle = _layer(n, alpha, beta, lam, None, step)
        ups = [_layer(n, alpha, beta, lam, pair, step) for pair in pairs]
        downs = [_layer(n, alpha, beta, lam, pair, -step) for pair in pairs]
        slopes = [(up[1] - down[1]) / (2 * step) for up, down in zip(ups, downs, strict=True)]
        bends = [
            [(up[w] - 2 * middle[w] + down[w]) / step**2 for up, down in zip(ups, downs, strict=True)] for w in (0, 1)
        ]
    to_float = np.vectorize(float)
    return Jets(
        pairs, to_float(middle[0]), to_float(middle[1]),
        to_float(np.array(bends[0])), to_float(np.array(slopes)), to_float(np.array(bends[1])),
    )  # fmt: skip


def _layer(n, alpha, beta, lam, pair, step) -> tuple[np.ndarray, np.ndarray]:
    """A^(1) and S^(2), of shape (n, n) and dtype object, with the cosine of one pair moved by a step."""
    gram = np.full((n, n), mpmath.mpf(alpha), dtype=object)
    for a in range(n):
        gram[a, a] = mpmath.mpf(1)
    if pair is not None:
        p, q = pair[0] - 1, pair[1] - 1
        gram[p, q] += step
        gram[q, p] += step
    weights = np.full((n, n), mpmath.mpf(0), dtype=object)
    for a in range(n):
        row = [mpmath.exp(mpmath.mpf(beta) * gram[a, b]) for b in range(a + 1)]
        for b in range(a + 1):
            weights[a, b] = row[b] / sum(row)
    mixing = weights.copy()
    for a in range(n):
        mixing[a, a] += mpmath.mpf(lam)
    after = mixing @ gram @ mixing.T
    norms = [mpmath.sqrt(after[a, a]) for a in range(n)]
    scores = np.array([[after[a, b] / (norms[a] * norms[b]) for b in range(n)] for a in range(n)])
    return weights, scores


@pytest.fixture(scope="session")
def jets_of() -> Callable[[float, float, float], Jets]:
    """The jets at (alpha, beta, lam) of a sequence of 12 tokens, computed once each."""
    return cache(lambda alpha, beta, lam: jets(12, alpha, beta, lam))
