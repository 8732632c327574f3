r"""How one perturbed cosine moves the Gram matrix of the first layer.

The inputs are unit vectors with cosines K_pq = alpha + e_pq. Move a single one, e = e_pq with p < q, and
follow it through the layer. The mask is causal, so only the query q sees both tokens: only row q of the
attention matrix changes, and it changes towards the key p,

    A_q(e) = A_q + tau (delta_p - A_q),    tau(e) = (exp(beta e) - 1) / (D_q + exp(beta e) - 1),

where A_q has the entries 1/D_q for the q-1 keys before q and r/D_q for q itself, D_q = r + q - 1 and
r = exp(beta (1 - alpha)). Write m_a for row a of M = A + lam I: its entries sum to s = 1 + lam, so

    G_ab(e) = alpha s^2 + (1 - alpha) <m_a, m_b> + e (m_ap m_bq + m_aq m_bp).

``slope`` and ``curvature`` are the first two derivatives in e at e = 0. They depend on (p, q) only through
where p and q lie among the rows of interest: for j < i there are four kinds of place (before j, j, between,
i), and as only a pair within the first i tokens matters, eight classes of pairs (``pair_classes``).

Everything is written in the letters alpha, beta, r, s, the positions, and D_a for each row a, and is a rational
function of them; ``constants`` and ``row_sum`` say what the letters stand for.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations_with_replacement

import sympy
from sympy import Expr, Integer, Symbol

from maskproof.theory.symbols import alpha, beta, lam

r = Symbol("r", positive=True)  # exp(beta (1 - alpha)): a token's own unnormalised weight, next to 1 for the others
s = Symbol("s", positive=True)  # 1 + lam: the total weight in each row of M
CONSTANTS = {r: sympy.exp(beta * (1 - alpha)), s: 1 + lam}


def row_letter(name: str, position: Expr) -> Symbol:
    """The letter for a positive quantity of the row at ``position``, such as D_i."""
    return Symbol(f"{name}_{position}", positive=True)


def row_sum(position: Expr) -> Symbol:
    """The letter D_a = r + a - 1, the sum of row a's unnormalised weights."""
    return row_letter("D", position)


@dataclass(frozen=True)
class Place:
    """Tokens that are alike for the purpose at hand: one marked position, or all those in a gap.

    Attributes:
        rank: order along the sequence; odd for a mark, even for a gap.
        position: the marked position, or None for a gap.
        count: how many tokens there are.
    """

    rank: int
    position: Expr | None
    count: Expr


@dataclass(frozen=True)
class PairClass:
    """All pairs p < q with p in one place and q in another (or both in the same gap)."""

    p: Place
    q: Place

    @property
    def count(self) -> Expr:
        """The number of pairs, a polynomial in the marked positions."""
        if self.p == self.q:
            return self.p.count * (self.p.count - 1) / 2
        return self.p.count * self.q.count


def places(*marks: Expr) -> tuple[Place, ...]:
    """The places up to the last of ascending marked positions: gap, mark, gap, mark, ...

    >>> from maskproof.theory.symbols import i, j
    >>> [place.count for place in places(j, i)]
    [j - 1, 1, i - j - 1, 1]
    """
    found: list[Place] = []
    before: Expr = Integer(0)
    for index, mark in enumerate(marks):
        found.append(Place(2 * index, None, mark - before - 1))
        found.append(Place(2 * index + 1, mark, Integer(1)))
        before = mark
    return tuple(found)


def pair_classes(among: tuple[Place, ...]) -> Iterator[PairClass]:
    """The classes of pairs p < q; a marked position makes no pair with itself.

    >>> from maskproof.theory.symbols import i, j
    >>> len(list(pair_classes(places(j, i))))
    8
    """
    for p, q in combinations_with_replacement(among, 2):
        if p != q or p.position is None:
            yield PairClass(p, q)


def mix(row: Place, token: Place) -> Expr:
    """m_ap, the weight of token p in x_a after the layer, at the equicorrelated point."""
    if token.rank > row.rank:
        return Integer(0)
    if token.rank == row.rank:
        return s - 1 + r / row_sum(_mark(row))
    return 1 / row_sum(_mark(row))


def _attended(q: Place, row: Place) -> Expr:
    """<A_q, m_b>: what the query q would read if the values were the weights in row b."""
    if row.rank < q.rank:  # q weighs all of row b's tokens alike, and they sum to s
        return s / row_sum(_mark(q))
    if row.rank > q.rank:  # row b weighs all of q's keys alike, and A_q sums to 1
        return 1 / row_sum(_mark(row))
    width = row_sum(_mark(q))
    return (s - 1) * r / width + (r**2 + _mark(q) - 1) / width**2


def _turn(p: Place, q: Place, row: Place) -> Expr:
    """<delta_p - A_q, m_b>, the rate at which row q's turn towards p changes <m_q, m_b>."""
    return mix(row, p) - _attended(q, row)


def slope(a: Place, b: Place, pair: PairClass) -> Expr:
    """dG_ab / de at the equicorrelated point, for e the cosine of ``pair``."""
    p, q = pair.p, pair.q
    total = mix(a, p) * mix(b, q) + mix(a, q) * mix(b, p)
    for row, other in ((a, b), (b, a)):
        if row == q:
            rate = beta / row_sum(_mark(q))  # d tau / de
            total += (1 - alpha) * rate * _turn(p, q, other)
    return total


def curvature(a: Place, b: Place, pair: PairClass) -> Expr:
    """d^2 G_ab / de^2 at the equicorrelated point, for e the cosine of ``pair``."""
    p, q = pair.p, pair.q
    total: Expr = Integer(0)
    if q not in (a, b):  # no row moves: G_ab is linear in e
        return total
    width = row_sum(_mark(q))
    rate = beta / width  # d tau / de
    bend = beta**2 * (width - 2) / width**2  # d^2 tau / de^2
    towards_p, away_from_q = 1 - 1 / width, -r / width  # the entries of delta_p - A_q at p and q
    for row, other in ((a, b), (b, a)):
        if row == q:
            total += (1 - alpha) * bend * _turn(p, q, other)
            total += 2 * rate * (towards_p * mix(other, q) + away_from_q * mix(other, p))
    if a == b:
        length = 1 - 2 / width + (r**2 + _mark(q) - 1) / width**2  # |delta_p - A_q|^2
        total += 2 * (1 - alpha) * rate**2 * length
    return total


def bias_over_classes(a: Place, b: Place, among: tuple[Place, ...]) -> Expr:
    """B_ab: half the sum of G_ab's curvatures over all pairs, class by class."""
    return Integer(1) / 2 * sum((c.count * curvature(a, b, c) for c in pair_classes(among)), Integer(0))


def covariance_over_classes(ab: tuple[Place, Place], cd: tuple[Place, Place], among: tuple[Place, ...]) -> Expr:
    """C_{ab,cd}: the sum over all pairs of the product of the slopes of G_ab and G_cd, class by class."""
    return sum((c.count * slope(*ab, c) * slope(*cd, c) for c in pair_classes(among)), Integer(0))


def _mark(place: Place) -> Expr:
    if place.position is None:
        raise ValueError("a gap is not a row")
    return place.position
