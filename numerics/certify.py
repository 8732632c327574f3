"""Is S_ij < S_i,j+1 for all 1 <= j < i <= n? Decided by balls at exact parameters, and over boxes of parameters.

"Closer keys score higher" holds or fails depending on alpha, beta, the residual weight, the layer and n. At exact
parameters ``steps`` counts the pairs of neighbouring keys whose score certainly rises and those whose score
certainly falls. Over a box, ``judge`` splits it into pieces on which the order certainly holds, pieces on which one
named pair certainly falls everywhere, and boxes that are open. ``survey`` repeats that on the open boxes until
nothing larger than a given size is left.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache

import numpy as np
from flint import arb
from numpy.typing import NDArray

from maskproof.numerics.balls import Answer, Enclosure, enclose, less, working_precision
from maskproof.numerics.halving import START, Box, Judgement, Pair, Piece, Question, settle
from maskproof.numerics.halving import Steps as Rises
from maskproof.numerics.series import PARAMETERS, Expansion, Interval, Value, expand
from maskproof.numerics.taylor_models import Models
from maskproof.theory.decoder import Decoder
from maskproof.theory.errors import InvalidInput
from maskproof.theory.values import exact, positive_integer

__all__ = ["Box", "Judgement", "Order", "Pair", "Piece", "expand_over", "first_failures", "judge", "steps"]


@dataclass(frozen=True)
class Order:
    """The statement S^(l)_ij < S^(l)_i,j+1 for all layers l in ``layers`` and all visible keys j < i <= n.

    Attributes:
        n: number of tokens.
        layers: the layers, in increasing order.
        decoder: the layer, for a box without position encoding; what a box names overrides its beta and residual.
        alpha: the common cosine, unless a box names it.
        dim: the width, where the decoder depends on it.

    Raises:
        InvalidInput: no layer, or a number that is not a positive integer.
    """

    n: int
    layers: tuple[int, ...]
    decoder: Decoder = field(default_factory=Decoder)
    alpha: object = 0
    dim: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "n", positive_integer(self.n, "n"))
        layers = tuple(sorted({positive_integer(layer, "layer") for layer in self.layers}))
        if not layers:
            raise InvalidInput("layers = ()", "'there is a layer'", "name at least one, as in (3,)")
        object.__setattr__(self, "layers", layers)
        object.__setattr__(self, "alpha", exact(self.alpha, "alpha"))

    def pairs(self) -> Iterator[Pair]:
        """All (layer, i, j) such that query i sees the keys j and j + 1 <= i."""
        for layer in self.layers:
            for i in range(2, self.n + 1):
                keys = self.decoder.mask.keys(i, self.n)
                yield from ((layer, i, j) for j in keys if j < i and j + 1 in keys)


# Exact parameters


@dataclass(frozen=True)
class Steps:
    """What is certain about each pair of neighbouring keys.

    Attributes:
        rising: pairs with S_ij < S_i,j+1.
        falling: pairs with S_ij > S_i,j+1.
        open: pairs that the precision did not decide, among them all equal ones.
        precision: in bits.
    """

    rising: tuple[Pair, ...]
    falling: tuple[Pair, ...]
    open: tuple[Pair, ...]
    precision: int

    @property
    def answer(self) -> Answer:
        """Whether the order holds: certain, certainly not, or undecided."""
        if self.falling:
            return False
        return None if self.open else True


def steps(order: Order, precision: int = 64, cap: int = 1024) -> Steps:
    """Certify the direction of every step from key j to key j + 1, at exact parameters.

    The precision doubles until every pair is decided or ``cap`` is reached; equal scores are never decided.

    Raises:
        InvalidInput: a parameter is out of range.

    >>> found = steps(Order(n=30, layers=(3,)))
    >>> len(found.rising), found.falling[0], found.open
    (428, (3, 27, 25), ())
    """
    return _steps(order, precision, cap)[0]


def _steps(order: Order, precision: int, cap: int) -> tuple[Steps, Enclosure]:
    """The steps, and the enclosure of the scores that decided them."""
    bits = positive_integer(precision, "precision")
    while True:
        enclosure = enclose(order.decoder, order.alpha, order.n, order.layers[-1], bits, dim=order.dim)
        found = _directions(order, enclosure)
        if not found.open or bits >= cap:
            return found, enclosure
        bits = min(cap, 2 * bits)


def _directions(order: Order, enclosure: Enclosure) -> Steps:
    sorted_by: dict[Answer, list[Pair]] = {True: [], False: [], None: []}
    with working_precision(enclosure.precision):
        for layer, i, j in order.pairs():
            earlier, later = enclosure.score(layer, i, j), enclosure.score(layer, i, j + 1)
            answer = less(earlier, later)
            if answer is False and not less(later, earlier):  # "not less" may mean equal; a fall has to be certain
                answer = None
            sorted_by[answer].append((layer, i, j))
    return Steps(tuple(sorted_by[True]), tuple(sorted_by[False]), tuple(sorted_by[None]), enclosure.precision)


@dataclass(frozen=True)
class FirstFailure:
    """The first pair at which closer does not score higher: no smaller i has one, and no smaller j for that i.

    Attributes:
        layer: the layer.
        i: the query.
        j: the key; S_ij > S_i,j+1.
        drop: S_i,j+1 - S_ij, a ball.
        precision: in bits.
    """

    layer: int
    i: int
    j: int
    drop: arb
    precision: int


def first_failures(order: Order, precision: int = 64, cap: int = 1024) -> dict[int, FirstFailure | None]:
    """The first failure of each layer, certified to be the first; None where the order holds up to n.

    Raises:
        InvalidInput: a parameter is out of range, or a pair before the first failure stays undecided.

    >>> print(first_failures(Order(n=30, layers=(3,)))[3].drop.str(6, radius=False))
    -1.72902e-5
    """
    found, enclosure = _steps(order, precision, cap)
    result: dict[int, FirstFailure | None] = {}
    for layer in order.layers:
        failing = [pair for pair in found.falling if pair[0] == layer]
        first = min(failing, default=None)
        doubtful = [p for p in found.open if p[0] == layer and (first is None or p < first)]
        if doubtful:
            raise InvalidInput(
                f"S^({layer})_ij at (i, j) = {doubtful[0][1:]}",
                f"'decided within {found.precision} bits'",
                "raise the cap, or the scores are equal",
            )
        if first is None:
            result[layer] = None
            continue
        _, i, j = first
        with working_precision(found.precision):
            drop = enclosure.score(layer, i, j + 1) - enclosure.score(layer, i, j)
        result[layer] = FirstFailure(layer, i, j, drop, found.precision)
    return result


# Boxes


def expand_over(order: Order, box: Box, degree: int) -> Expansion:
    """The scores over ``box`` as polynomials of the given degree with enclosed remainder.

    Raises:
        InvalidInput: as for ``numerics.series.expand``, or the box names something else than a parameter.
    """
    unknown = [name for name in box if name not in PARAMETERS]
    if unknown:
        raise InvalidInput(f"parameter {unknown[0]!r}", "'it can vary'", f"use {', '.join(PARAMETERS)}")
    values: dict[str, Value] = dict(box)
    return expand(
        order.decoder,
        values.get("alpha", order.alpha),
        order.n,
        order.layers[-1],
        beta=values.get("beta"),
        residual=values.get("residual"),
        order=degree,
        dim=order.dim,
    )


def judge(
    order: Order,
    box: Box,
    floor: Mapping[str, Fraction],
    degree: int | None = None,
    lengths: tuple[int, ...] = (),
    advised: int | None = None,
) -> Judgement:
    """Settle as much of ``box`` as one expansion can, halving it as long as that helps.

    If the box reaches to alpha = 1, where all scores agree, what is said is said of alpha < 1.

    Args:
        order: the statement.
        box: one or two intervals by name of parameter.
        floor: for each parameter the width below which a box is left undecided.
        degree: of the polynomials; chosen from box to box if None.
        lengths: decide for sequences of these lengths, too, at most n: up to which a piece has the order, and the
            first query of which one step falls everywhere in it. All queries see the same keys in a longer sequence.
        advised: the degree to begin with, where none is given.

    Returns:
        Pieces, and boxes that need a new expansion, each at most half of ``box``.

    Raises:
        InvalidInput: as for ``expand_over``; alpha is 1; a length is no number from 2 to n, or the mask looks ahead.
    """
    alpha = box.get("alpha", Interval(0, 0) if order.alpha != 1 else Interval(1, 1))
    if alpha.low == 1:
        raise InvalidInput("alpha = 1", "alpha < 1", "at 1 all tokens coincide")
    check_lengths(order, lengths)
    variables = sum(interval.radius > 0 for interval in box.values())
    expansion = expand_over(order, box, degree or advised or START[variables])
    pairs = _table(order)
    places = tuple(pairs[:, 1:].T - 1)
    parts = []
    for layer in order.layers:
        of_layer = pairs[:, 0] == layer
        parts.append(expansion.rises(layer)[tuple(place[of_layer] for place in places)])
    rises = Models(
        expansion.frame,
        np.concatenate([part.coefficients for part in parts], axis=1),
        np.concatenate([part.rest for part in parts]),
    )
    ranks = pairs[:, 1] if lengths else np.ones(len(pairs), dtype=np.int64)
    asked = tuple(sorted({*lengths, order.n})) if lengths else (1,)
    return settle(Question(asked, floor, bool(lengths)), box, Rises(rises, pairs, ranks), degree)


def check_lengths(order: Order, lengths: tuple[int, ...]) -> None:
    """Refuse lengths that one sequence of n tokens cannot decide.

    Raises:
        InvalidInput: a length is no number from 2 to n, or the mask looks ahead.
    """
    if not lengths:
        return
    for length in lengths:
        if not 2 <= positive_integer(length, "length") <= order.n:
            raise InvalidInput(f"length {length}", f"2 <= length <= n = {order.n}", "raise n")
    if any(order.decoder.mask.keys(i, order.n)[-1] > i for i in range(1, order.n + 1)):
        raise InvalidInput(f"mask {order.decoder.mask}", "'a query sees no later key'", "ask for one length at a time")


@lru_cache(maxsize=8)
def _table(order: Order) -> NDArray[np.int64]:
    """The pairs as rows, layer by layer."""
    return np.array(sorted(order.pairs()), dtype=np.int64).reshape(-1, 3)
