r"""One sequence, not the average: how a single input's layer-2 scores fluctuate.

For one draw of the inputs under Sphere(d, alpha) the score S^(2)_ij is its expectation plus noise of order
1/sqrt(d), asymptotically Gaussian: to first order it is linear in the cosines of the inputs,

    S_ij = S_ij(equicorrelated) + sum over p < q of (dS_ij/de_pq) e_pq,   E e_pq e_p'q' = (1-alpha)^2/d or 0.

So two scores of a query have the covariance V_jk/d + O(1/d^2), with V_jk in closed form below, and a single
sequence shows the order S_ik > S_ij with probability Phi(sqrt(d) (S_ik - S_ij)(equicorrelated) / sqrt(v)) up to
O(1/sqrt(d)), where v = V_jj - 2 V_jk + V_kk and Phi is the standard normal distribution function.
"""

from __future__ import annotations

from functools import cache

import sympy
from sympy import Expr, Integer

from maskproof.theory import gram_moments as gm
from maskproof.theory import symbols
from maskproof.theory.errors import InvalidInput
from maskproof.theory.finite_width import ROWS, earlier_key, limiting_score, position, score_correction, score_slopes
from maskproof.theory.formula import Formula, Piece
from maskproof.theory.pair_classes import CONSTANTS, s
from maskproof.theory.symbols import alpha
from maskproof.theory.values import exact, require


@cache
def score_variance_formula() -> Formula:
    r"""V_jj with Var S^(2)_ij = V_jj/d + O(1/d^2), for j < i, with its pieces; ``latex()`` prints it."""
    i, j = symbols.i, symbols.j
    pieces = (
        (gm.C(i, j, i, j), gm.row_covariance(i, gm.omega(j))),
        (gm.C(i, j, i, i), gm.query_covariance(i)),
        (gm.C(i, j, j, j), gm.key_covariance(i, j)),
        (gm.C(i, i, j, j), gm.norm_covariance(i, j)),
    )
    return _formula(i, j, j, pieces)


@cache
def score_covariance_formula() -> Formula:
    r"""V_jk with Cov(S^(2)_ij, S^(2)_ik) = V_jk/d + O(1/d^2), for j < k < i, with its pieces."""
    i, j, k = symbols.i, symbols.j, symbols.k
    pieces = (
        (gm.C(i, j, i, k), gm.row_covariance(i, s / gm.D(k))),
        (gm.C(i, j, i, i), gm.query_covariance(i)),
        (gm.C(i, k, i, i), gm.query_covariance(i)),
        (gm.C(i, j, k, k), gm.later_covariance(i, k)),
        (gm.C(i, k, j, j), gm.earlier_covariance(i, j, k)),
        (gm.C(i, i, j, j), gm.norm_covariance(i, j)),
        (gm.C(i, i, k, k), gm.norm_covariance(i, k)),
        (gm.C(j, j, k, k), gm.norm_covariance(k, j)),
    )
    return _formula(i, j, k, pieces)


def score_covariance(i: object = symbols.i, j: object = symbols.j, k: object | None = None) -> Expr:
    r"""The coefficient V in Cov(S^(2)_ij, S^(2)_ik) = V/d + O(1/d^2), for keys j and k before the query i.

    Args:
        i: the query, an integer from 2 up or a symbol.
        j: a key before i.
        k: another key before i, or None for j itself: the variance. Of two different keys that are not both
            numbers, j must be the earlier one.

    Raises:
        InvalidInput: a position is not an integer from 1 up, or not before the query.

    >>> from maskproof.theory.symbols import alpha, beta, lam
    >>> point = {alpha: 0, beta: 1, lam: 1}
    >>> round(float(score_covariance(2, 1).subs(point)), 9)
    1.191305528
    """
    query, first = earlier_key(i, j)
    _, second = earlier_key(i, j if k is None else k)
    if first == second:
        return _score_variance().xreplace({symbols.i: query, symbols.j: first})
    if first.is_number and second.is_number and second < first:
        first, second = second, first
    require(first < second, f"j = {first}, k = {second}", "j < k", "give the earlier key first")
    return _score_covariance().xreplace({symbols.i: query, symbols.j: first, symbols.k: second})


def difference_variance(i: object = symbols.i, j: object = symbols.j, k: object = symbols.k) -> Expr:
    r"""The coefficient v in Var(S^(2)_ik - S^(2)_ij) = v/d + O(1/d^2), for j < k < i.

    Raises:
        InvalidInput: a position is not an integer from 1 up, or they do not ascend.
    """
    query, early, late = _ascending(i, j, k)
    both = score_covariance(query, early, late)
    return score_covariance(query, early) - 2 * both + score_covariance(query, late)


def order_probability(
    i: object = symbols.i,
    j: object = symbols.j,
    k: object = symbols.k,
    d: object = symbols.d,
    corrected: bool = True,
) -> Expr:
    r"""The Gaussian probability that one input of width d has S^(2)_ik > S^(2)_ij, for j < k < i.

    Phi(sqrt(d) (gap + c/d) / sqrt(v)): gap is the difference in the limit, c/d that of the expectations' next
    terms, v/d the variance of the difference. The probability is accurate to O(1/sqrt(d)), with or without c/d.

    Args:
        i: the query. (S_ii > S_ij for every j < i, almost surely.)
        j: a key.
        k: a key after j and before i.
        d: the width.
        corrected: whether to include c/d.

    Raises:
        InvalidInput: the positions do not ascend, or the width is not an integer from 1 up.
    """
    query, early, late = _ascending(i, j, k)
    width = position(d, "d")
    gap = limiting_score(query, late) - limiting_score(query, early)
    if corrected:
        gap += (score_correction(query, late) - score_correction(query, early)) / width
    z = sympy.sqrt(width) * gap / sympy.sqrt(difference_variance(query, early, late))
    return (1 + sympy.erf(z / sympy.sqrt(2))) / 2


def order_width(
    i: object = symbols.i, j: object = symbols.j, k: object = symbols.k, probability: object = sympy.Rational(3, 4)
) -> Expr:
    r"""The width at which one input has S^(2)_ik > S^(2)_ij with this probability, for j < k < i.

    To leading order, v (z/gap)^2 with z the normal quantile of the probability, gap the difference in the
    limit and v/d its variance.

    Args:
        i: the query.
        j: a key.
        k: a key after j and before i.
        probability: between 1/2 and 1; at 1/2 any width will do, as the gap is positive.

    Raises:
        InvalidInput: the positions do not ascend, or the probability is not in [1/2, 1).
    """
    query, early, late = _ascending(i, j, k)
    level = exact(probability, "probability")
    require(level >= sympy.Rational(1, 2), f"probability = {level}", "probability >= 1/2", "ask for more")
    require(level < 1, f"probability = {level}", "probability < 1", "no finite width makes it certain")
    quantile = sympy.sqrt(2) * sympy.erfinv(2 * level - 1)
    gap = limiting_score(query, late) - limiting_score(query, early)
    return difference_variance(query, early, late) * (quantile / gap) ** 2


def _formula(i: Expr, j: Expr, k: Expr, pieces: tuple[Piece, ...]) -> Formula:
    """V_jk by the chain rule: slopes of the two scores times the covariances of the Gram entries."""
    total: Expr = Integer(0)
    for one, slope in score_slopes(i, j).items():
        for other, second_slope in score_slopes(i, k).items():
            total += slope * second_slope * gm.C(*one, *other)
    scale = gm.h(i) ** 2 * gm.h(j) * gm.h(k)
    bracket = sympy.collect(sympy.expand(total * scale), gm.g(i))
    return Formula(
        left=rf"V^{{({i})}}_{{{j}{k}}}",
        right=(1 - alpha) ** 2 / scale * bracket,
        pieces=pieces,
        rows=ROWS,
        positions=tuple(dict.fromkeys((i, j, k))),
        constants=tuple(CONSTANTS.items()),
    )


def _ascending(i: object, j: object, k: object) -> tuple[Expr, Expr, Expr]:
    query, early = earlier_key(i, j)
    _, late = earlier_key(i, k)
    require(early < late, f"j = {early}, k = {late}", "j < k", "give the earlier key first")
    if early == late:
        raise InvalidInput(f"j = k = {early}", "j < k", "compare two different keys")
    return query, early, late


@cache
def _score_variance() -> Expr:
    return score_variance_formula().expand()


@cache
def _score_covariance() -> Expr:
    return score_covariance_formula().expand()
