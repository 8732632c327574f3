"""Is S_ij < S_i,j+1 for all 1 <= j < i <= n? Decided by balls at exact parameters, and over boxes of parameters.

"Closer keys score higher" holds or fails depending on alpha, beta, the residual weight, the layer and n. At exact
parameters ``steps`` counts the pairs of neighbouring keys whose score certainly rises and those whose score
certainly falls. Over a box, ``judge`` splits it into pieces on which the order certainly holds, pieces on which one
named pair certainly falls everywhere, and boxes that are open. ``survey`` repeats that on the open boxes until
nothing larger than a given size is left.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from flint import arb

from numerics.balls import Answer, Enclosure, enclose, less, working_precision
from numerics.series import PARAMETERS, Expansion, Frame, Interval, Jet, Value, arithmetic, bounds, expand, halve
from theory.decoder import Decoder
from theory.errors import InvalidInput
from theory.values import exact, positive_integer

Pair = tuple[int, int, int]
"""Layer, query i and key j, of the keys j and j + 1; all counted from 1."""
Box = Mapping[str, Interval]
EXHAUSTED = 4
"""A polynomial whose rest is more than a part of this of its variation is not worth splitting."""


@dataclass(frozen=True)
class Order:
    """The statement S^(l)_ij < S^(l)_i,j+1 for all layers l in ``layers`` and all visible keys j < i <= n.

    Attributes:
        n: number of tokens.
        layers: the layers, in increasing order.
        decoder: the layer, without RoPE; what a box names overrides its beta and residual.
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
                first, last = self.decoder.mask.visible(i, self.n)
                for j in range(first, min(i, last)):
                    yield layer, i, j


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
        InvalidInput: a parameter is out of range, or the decoder has a RoPE.

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


@dataclass(frozen=True)
class Piece:
    """A box and what is certain on all of it.

    Attributes:
        box: the parameters that vary.
        answer: True, the order holds everywhere in the box; False, it holds nowhere; None, undecided.
        pair: for False a pair whose score falls everywhere in the box.
    """

    box: Box
    answer: Answer
    pair: Pair | None = None


@dataclass(frozen=True)
class Judgement:
    """What one expansion settled of a box: together, pieces and open boxes cover it without overlap."""

    pieces: tuple[Piece, ...]
    open: tuple[Box, ...]


@dataclass(frozen=True)
class _Node:
    """A box in the tree of halvings: settled, open, or split."""

    box: Box
    piece: Piece | None = None
    children: tuple[_Node, ...] = ()

    @property
    def is_open(self) -> bool:
        return self.piece is None and (not self.children or any(child.is_open for child in self.children))


def expand_over(order: Order, box: Box, degree: int, precision: int = 64) -> Expansion:
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
        precision=precision,
        dim=order.dim,
    )


def judge(
    order: Order, box: Box, floor: Mapping[str, Fraction], degree: int | None = None, precision: int = 64
) -> Judgement:
    """Settle as much of ``box`` as one expansion can, halving it as long as that helps.

    Args:
        order: the statement.
        box: one or two intervals by name of parameter.
        floor: for each parameter the width below which a box is left undecided.
        degree: of the polynomials; 6 for one parameter and 4 for two if None.
        precision: of the balls, in bits.

    Returns:
        Pieces, and boxes that need a new expansion, each at most half of ``box``.
    """
    varying = {name: interval for name, interval in box.items() if interval.radius > 0}
    degree = degree or (4 if len(varying) > 1 else 6)
    expansion = expand_over(order, box, degree, precision)
    with arithmetic(precision, expansion.frame.length):
        jets = [(pair, expansion.step(*pair)) for pair in order.pairs()]
        root = _resolve(expansion.frame, box, tuple(varying), jets, floor)
    pieces: list[Piece] = []
    unsettled: list[Box] = []
    _collect(root, len(varying), pieces, unsettled)
    return Judgement(tuple(pieces), tuple(unsettled))


def _resolve(
    frame: Frame, box: Box, axes: tuple[str, ...], jets: Sequence[tuple[Pair, Jet]], floor: Mapping[str, Fraction]
) -> _Node:
    """Decide the box, or halve it."""
    doubtful: list[tuple[Pair, Jet]] = []
    worst: tuple[arb, Pair] | None = None
    for pair, jet in jets:
        low, high = bounds(jet)
        if high < 0 and (worst is None or high < worst[0]):
            worst = (high, pair)
        if not low > 0:
            doubtful.append((pair, jet))
    if worst is not None:
        return _Node(box, Piece(box, False, worst[1]))
    if not doubtful:
        return _Node(box, Piece(box, True))
    wide = [axis for axis, name in enumerate(axes) if 2 * box[name].radius > floor[name]]
    if not wide:
        return _Node(box, Piece(box, None))
    # A rest that is not finite compares as False: such a box is open, too.
    if not any(jet.rest * EXHAUSTED <= sum(jet.sizes[1:], arb(0)) for _, jet in doubtful):
        return _Node(box)
    axis = max(wide, key=lambda axis: _variation(frame, axis, doubtful))
    children = []
    for side in (-1, 1):
        half = {**box, axes[axis]: box[axes[axis]].half(side)}
        halves = [(pair, halve(frame, jet, axis, side)) for pair, jet in doubtful]
        children.append(_resolve(frame, half, axes, halves, floor))
    return _joined(_Node(box, None, tuple(children)))


def _variation(frame: Frame, axis: int, jets: Sequence[tuple[Pair, Jet]]) -> float:
    """How much the polynomials vary along one axis, roughly: it only chooses where to split."""
    places = [position for position, index in enumerate(frame.indices) if index[axis]]
    return max(sum(abs(float(jet.coefficients[place].mid())) for place in places) for _, jet in jets)


def _joined(node: _Node) -> _Node:
    """Two halves with the same answer are one piece."""
    one, other = (child.piece for child in node.children)
    if one is not None and other is not None and (one.answer, one.pair) == (other.answer, other.pair):
        return _Node(node.box, Piece(node.box, one.answer, one.pair)) if one.answer is not None else node
    if all(not child.children and child.piece is None for child in node.children):
        return _Node(node.box)
    return node


def _collect(node: _Node, depth: int, pieces: list[Piece], unsettled: list[Box]) -> None:
    """Gather pieces, and the largest boxes worth a new expansion: ``depth`` real forks below the root."""
    if node.piece is not None:
        pieces.append(node.piece)
    elif not node.children:
        unsettled.extend(_split(node.box) if depth else [node.box])
    elif all(child.is_open for child in node.children) and not depth:
        unsettled.append(node.box)
    else:
        fork = all(child.is_open for child in node.children)
        for child in node.children:
            _collect(child, depth - fork, pieces, unsettled)


def _split(box: Box) -> list[Box]:
    """The halves of the box along every axis that has a width."""
    boxes: list[Box] = [box]
    for name, interval in box.items():
        if interval.radius > 0:
            boxes = [{**part, name: part[name].half(side)} for part in boxes for side in (-1, 1)]
    return boxes
