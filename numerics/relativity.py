"""How far a score map is from a relative one, whose entries depend on i - j alone.

Defined once, for simulated, limiting and trained maps alike. A *diagonal* is the set of visible entries with the same
distance D = i - j; entries that the mask hides (NaN) belong to none. Without a mask there are diagonals D < 0 too.

* ``diagonal_normalised``: the map minus the mean of each diagonal, as in the paper's maps titled "Normalized".
* ``spread``: largest minus smallest entry of a diagonal; the largest over all diagonals.
* ``within_share``: the share of the map's variance that lies within diagonals (0 for a relative map, 1 if all
  diagonals have the same mean).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from flint import arb

from maskproof.numerics.arrays import Array
from maskproof.numerics.balls import Enclosure, working_precision
from maskproof.theory.errors import InvalidInput


def _checked(scores: Array) -> Array:
    matrix = np.asarray(scores, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.size == 0:
        raise InvalidInput(f"a map of shape {matrix.shape}", "'the map is square'", "give one (n, n) map at a time")
    if np.isinf(matrix).any():
        raise InvalidInput("a map with infinite entries", "'hidden entries are NaN'", "mark them as NaN")
    if np.isnan(matrix).all():
        raise InvalidInput("a map without entries", "'the map has visible entries'", "show the query one key")
    return matrix


def diagonals(scores: Array) -> dict[int, Array]:
    """The visible entries of each diagonal by distance D = i - j, from the top left; empty ones are left out.

    Raises:
        InvalidInput: the map is not square, has infinite entries, or none at all.

    >>> {int(D): entries.tolist() for D, entries in diagonals(np.array([[1.0, np.nan], [3.0, 4.0]])).items()}
    {0: [1.0, 4.0], 1: [3.0]}
    """
    matrix = _checked(scores)
    n = len(matrix)
    found: dict[int, Array] = {}
    for distance in range(-(n - 1), n):
        entries = np.diagonal(matrix, -distance)
        visible = entries[~np.isnan(entries)]
        if visible.size:
            found[distance] = visible
    return found


def diagonal_normalised(scores: Array) -> Array:
    """The map minus the mean of the visible entries of each diagonal; hidden entries stay NaN.

    Raises:
        InvalidInput: as for ``diagonals``.

    Source: arXiv 2509.21042v1, Figures 4, 9 and 10, rows "Normalized".
    """
    matrix = _checked(scores)
    distances = np.subtract.outer(np.arange(len(matrix)), np.arange(len(matrix)))
    means = np.zeros_like(matrix)
    for distance, entries in diagonals(matrix).items():
        means[distances == distance] = entries.mean()
    return matrix - means


@dataclass(frozen=True)
class Relativity:
    """What a map has within its diagonals.

    Attributes:
        spread: the largest difference of two entries of one diagonal.
        distance: the diagonal D = i - j on which it occurs (the one nearest to the main diagonal).
        within_share: within-diagonal sum of squares over the total, each about its mean; 0 for a constant map.
    """

    spread: float
    distance: int
    within_share: float


def relativity(scores: Array) -> Relativity:
    """Measure a score map of shape (n, n); NaN marks hidden entries.

    Raises:
        InvalidInput: as for ``diagonals``.

    >>> relativity(np.array([[1.0, 0.5, 0.25], [0.5, 1.0, 0.5], [0.25, 0.5, 1.0]]))
    Relativity(spread=0.0, distance=0, within_share=0.0)
    """
    bands = diagonals(scores)
    spreads = {distance: float(np.ptp(entries)) for distance, entries in bands.items()}
    distance = max(spreads, key=lambda D: (spreads[D], -abs(D), D))
    every = np.concatenate(list(bands.values()))
    within = sum(float(np.sum((entries - entries.mean()) ** 2)) for entries in bands.values())
    total = float(np.sum((every - every.mean()) ** 2))
    return Relativity(spreads[distance], distance, within / total if total > 0 else 0.0)


@dataclass(frozen=True)
class CertifiedSpread:
    """A ball around the largest spread within a diagonal, and a diagonal whose spread it may be."""

    spread: arb
    distance: int


def certified_spread(enclosure: Enclosure, layer: int) -> CertifiedSpread:
    """Enclose the largest difference of two visible scores of one diagonal at ``layer``.

    Raises:
        InvalidInput: there is no such layer.
    """
    best, where = arb(0), 0
    with working_precision(enclosure.precision):
        for distance, entries in _ball_diagonals(enclosure, layer):
            low = high = entries[0]
            for entry in entries[1:]:
                low, high = low.min(entry), high.max(entry)
            gap = high - low
            if gap.mid() > best.mid():
                where = distance
            best = best.max(gap)
    return CertifiedSpread(best, where)


def _ball_diagonals(enclosure: Enclosure, layer: int) -> Iterator[tuple[int, list[arb]]]:
    n = enclosure.n
    if not 1 <= layer <= len(enclosure.layers):
        raise InvalidInput(f"layer = {layer}", f"1 <= layer <= {len(enclosure.layers)}", "enclose more layers")
    rows = enclosure.layers[layer - 1].scores
    for distance in range(-(n - 1), n):
        band = [rows[i][i - distance] for i in range(max(0, distance), min(n, n + distance))]
        visible = [entry for entry in band if entry is not None]
        if visible:
            yield distance, visible
