"""From steps between scores, as Taylor models over a box, to pieces of the box on which something is certain.

A question has ranks 1, 2, ..., and each step has one of them. The statement at rank r is that all steps of rank r
and below rise. It is asked for some ranks only. If the rank is the query, the statement at rank r says that closer keys
score higher in a sequence of r tokens; if all steps have rank 1, there is one statement about all of them.

Over a box, ``settle`` finds up to where the statement certainly holds everywhere, and a step of as low a rank as
possible that certainly falls everywhere. While a rank that is asked for lies between the two, the box is halved: the
polynomials of a half are those of the whole, moved. Where their rests are to blame, a new expansion is needed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from maskproof.numerics.series import Interval
from maskproof.numerics.taylor_models import Frame, Models

Pair = tuple[int, int, int]
"""Layer, query i and key j, of the keys j and j + 1; all counted from 1."""
Box = Mapping[str, Interval]
EXHAUSTED = 4
"""A polynomial whose rest is more than a part of this of its variation is not worth splitting."""
DEGREES = {0: (1,), 1: tuple(range(3, 15)), 2: tuple(range(2, 9))}
"""Degrees to choose from, by the number of parameters that vary."""
START = {0: 1, 1: 10, 2: 4}
"""The degree of a first expansion, of which nothing is known."""
_DEEPEST = 4  # halvings of a box before it is expanded again
_MOST, _MARGIN = 0.9, 16  # of so many steps the rest should be smaller by this factor


@dataclass(frozen=True)
class Piece:
    """A box and what is certain on all of it.

    Attributes:
        box: the parameters that vary.
        answer: True, the statement of the highest rank holds everywhere in the box; False, it holds nowhere; None,
            neither is certain.
        pair: a step that falls everywhere in the box, if one is known.
        upto: the rank up to which the statement holds everywhere in the box, if ranks were asked for.
    """

    box: Box
    answer: bool | None
    pair: Pair | None = None
    upto: int | None = None

    def at(self, length: int) -> bool | None:
        """The answer for another length of the sequence, if ranks are queries."""
        if self.upto is None:
            return self.answer
        if length <= self.upto:
            return True
        return False if self.pair is not None and length >= self.pair[1] else None


@dataclass(frozen=True)
class Judgement:
    """What one expansion settled of a box: together, pieces and open boxes cover it without overlap.

    Attributes:
        pieces: what is settled, or too small to go on with.
        open: boxes that need a new expansion.
        degree: that seems best for it.
        used: the degree of this one.
    """

    pieces: tuple[Piece, ...]
    open: tuple[Box, ...]
    degree: int
    used: int


@dataclass(frozen=True)
class Steps:
    """Steps between neighbouring scores.

    Attributes:
        rises: their Taylor models, shape (steps,).
        pairs: which they are, shape (steps, 3).
        ranks: shape (steps,).
    """

    rises: Models
    pairs: NDArray[np.int64]
    ranks: NDArray[np.int64]

    def chosen(self, which: NDArray[np.bool_]) -> Steps:
        """Some of the steps."""
        return Steps(self.rises[which], self.pairs[which], self.ranks[which])

    def halved(self, axis: int, side: int) -> Steps:
        """The steps over half of the box."""
        return Steps(self.rises.halved(axis, side), self.pairs, self.ranks)


@dataclass(frozen=True)
class Question:
    """What is asked.

    Attributes:
        ranks: the ranks that matter, in increasing order.
        floor: for each parameter the width below which a box is left undecided.
        graded: whether pieces tell the rank up to which the statement holds.
    """

    ranks: tuple[int, ...]
    floor: Mapping[str, Fraction]
    graded: bool


@dataclass(frozen=True)
class _Fall:
    """The step of lowest rank that is known to fall, and its rank; one above the highest if there is none."""

    rank: int
    pair: Pair | None = None


@dataclass(frozen=True)
class _Node:
    """A box in the tree of halvings: settled or too small (a piece), open, or split."""

    box: Box
    piece: Piece | None = None
    settled: bool = False
    children: tuple[_Node, ...] = ()

    @property
    def is_open(self) -> bool:
        return self.piece is None and (not self.children or any(child.is_open for child in self.children))


def settle(question: Question, box: Box, steps: Steps, degree: int | None = None) -> Judgement:
    """Settle as much of the box as these Taylor models can.

    Args:
        question: what is asked.
        box: one or two intervals by name of parameter.
        steps: over the box.
        degree: for the open boxes; chosen if None.
    """
    axes = tuple(name for name, interval in box.items() if interval.radius > 0)
    with np.errstate(all="ignore"):
        root = _resolve(question, box, axes, steps, _Fall(question.ranks[-1] + 1))
        depth, advised = _advice(steps, len(axes)) if root.is_open else (1, steps.rises.frame.order)
    pieces: list[Piece] = []
    unsettled: list[Box] = []
    _collect(root, len(axes), pieces, unsettled)
    fine = [part for open_box in unsettled for part in _cut(open_box, box, depth if degree is None else 1)]
    return Judgement(tuple(pieces), tuple(fine), degree or advised, steps.rises.frame.order)


def _resolve(question: Question, box: Box, axes: tuple[str, ...], steps: Steps, fall: _Fall) -> _Node:
    """Decide the box, or halve it."""
    low, high = steps.rises.bounds()
    fall = _lowest(steps, high, fall)
    doubtful = ~(low > 0) & (steps.ranks < fall.rank)
    holds = min(int(steps.ranks[doubtful].min(initial=fall.rank)), fall.rank) - 1
    asked = [rank for rank in question.ranks if holds < rank < fall.rank]
    wide = [axis for axis, name in enumerate(axes) if 2 * box[name].radius > question.floor[name]]
    if not asked or not wide:
        return _Node(box, _piece(question, box, holds, fall), not asked)
    left = steps.chosen(doubtful)
    # A rest that is not finite compares as False: such a box is open, too.
    if not np.any(left.rises.rest * EXHAUSTED <= left.rises.sizes()[1:].sum(axis=0)):
        return _Node(box)
    axis = max(wide, key=lambda axis: _variation(left.rises, axis))
    children = []
    for side in (-1, 1):
        half = {**box, axes[axis]: box[axes[axis]].half(side)}
        children.append(_resolve(question, half, axes, left.halved(axis, side), fall))
    return _joined(question, _Node(box, children=tuple(children)))


def _lowest(steps: Steps, high: NDArray[np.float64], fall: _Fall) -> _Fall:
    """The known fall, or one of lower rank among the steps; of several, the steepest."""
    falling = (high < 0) & (steps.ranks < fall.rank)
    if not falling.any():
        return fall
    rank = int(steps.ranks[falling].min())
    at = np.flatnonzero(falling & (steps.ranks == rank))
    layer, i, j = map(int, steps.pairs[at[np.argmin(high[at])]])
    return _Fall(rank, (layer, i, j))


def _piece(question: Question, box: Box, holds: int, fall: _Fall) -> Piece:
    answer = True if holds >= question.ranks[-1] else False if fall.pair is not None else None
    return Piece(box, answer, fall.pair, holds if question.graded else None)


def _variation(rises: Models, axis: int) -> float:
    """How much the polynomials vary along one axis, roughly: it only chooses where to split."""
    places = [position for position, index in enumerate(rises.frame.indices) if index[axis]]
    return float(np.abs(rises.coefficients[places]).sum(axis=0).max())


def _joined(question: Question, node: _Node) -> _Node:
    """Two settled halves of which the same is known are one piece; two open ones an open box."""
    one, other = node.children
    if one.piece is not None and other.piece is not None and one.settled and other.settled:
        known = (one.piece.answer, one.piece.pair, one.piece.upto)
        if known == (other.piece.answer, other.piece.pair, other.piece.upto):
            return _Node(node.box, Piece(node.box, *known), True)
    if all(not child.children and child.piece is None for child in node.children):
        return _Node(node.box)
    return node


def _collect(node: _Node, depth: int, pieces: list[Piece], unsettled: list[Box]) -> None:
    """Gather pieces, and the largest boxes worth a new expansion: ``depth`` real forks below the root."""
    if node.piece is not None:
        pieces.append(node.piece)
    elif not node.children:
        unsettled.extend(_quarters(node.box) if depth else [node.box])
    elif all(child.is_open for child in node.children) and not depth:
        unsettled.append(node.box)
    else:
        fork = all(child.is_open for child in node.children)
        for child in node.children:
            _collect(child, depth - fork, pieces, unsettled)


def _quarters(box: Box) -> list[Box]:
    """The halves of the box along every axis that has a width."""
    boxes: list[Box] = [box]
    for name, interval in box.items():
        if interval.radius > 0:
            boxes = [{**part, name: part[name].half(side)} for part in boxes for side in (-1, 1)]
    return boxes


# How to go on


def _cut(box: Box, whole: Box, depth: int) -> list[Box]:
    """The box in parts whose sides are at most 2^-depth of those of the whole."""
    parts: list[Box] = [box]
    for name in box:
        most = whole[name].radius / 2**depth
        while parts and parts[0][name].radius > most:
            parts = [{**part, name: part[name].half(side)} for part in parts for side in (-1, 1)]
    return parts


def _advice(steps: Steps, variables: int) -> tuple[int, int]:
    """How often to halve the box before it is expanded again, and to which degree.

    In a part 2^-k as wide, terms of degree m are 2^(-k m) as large. If they fell by a factor q from degree to degree in
    the whole, the rest of an expansion to degree p there is about 2^(-k (p + 1)) q^(p - order) times the present one.
    It should be smaller than the steps; of the choices for which it is, the cheapest one is taken.
    """
    frame = steps.rises.frame
    sizes = np.median(steps.rises.sizes(), axis=-1)
    share = float(np.quantile(steps.rises.rest / np.abs(steps.rises.coefficients[0]), _MOST))
    if not np.isfinite(share) or frame.order < 2 or not sizes[-1] > 0:
        return 1, frame.order
    fall = min(1.0, float(sizes[-1] / sizes[1]) ** (1 / (frame.order - 1)))
    choices = [
        (_cost(variables, degree) * 2.0 ** (depth * variables), depth, degree)
        for depth in range(1, _DEEPEST + 1)
        for degree in DEGREES[variables]
        if share * fall ** (degree - frame.order) * 2.0 ** (-depth * (degree + 1)) <= 1 / _MARGIN
    ]
    _, depth, degree = min(choices, default=(0.0, _DEEPEST, frame.order))
    return depth, degree


def _cost(variables: int, degree: int) -> int:
    """What an expansion costs: products of coefficients, and as much as twelve of them for the bounds."""
    return 12 + sum(map(len, Frame.of(variables, degree).products))
