r"""Expected weights and scores at width d, to order 1/d, in closed form.

Under Sphere(d, alpha) the cosines of the inputs are alpha + (1-alpha) Z_pq, where the Z_pq are cosines of
independent uniform vectors (in R^d for alpha = 0, in the R^(d-1) orthogonal to the shared direction for
alpha > 0): mean 0, variance 1/d + O(1/d^2), distinct pairs uncorrelated, third moments O(1/d^2). So for any
smooth function f of the Gram matrix, with the equicorrelated matrix as the centre of Taylor's expansion,

    E f = f(equicorrelated) + c/d + O(1/d^2),    c = (1/2) (1-alpha)^2 sum over p < q of d^2 f / de_pq^2.

The paper (arXiv 2509.21042, after Eq. 2 and Eq. 4) computes f(equicorrelated) and calls it the expectation;
c/d is what that leaves out. The decoder is causal, without RoPE, with l2 norm and scale 1; beta and lam are free.
"""

from __future__ import annotations

from functools import cache

import sympy
from sympy import Expr, Integer, Rational, Symbol

from maskproof.theory import gram_moments as gm
from maskproof.theory import symbols
from maskproof.theory.errors import InvalidInput
from maskproof.theory.formula import Formula
from maskproof.theory.pair_classes import CONSTANTS, PairClass, curvature, pair_classes, places, r, slope
from maskproof.theory.symbols import alpha, beta
from maskproof.theory.values import exact, require

Entry = tuple[Expr, Expr]  # the indices of an entry of the Gram matrix

# Row letters, each defined by those after it.
ROWS = (
    gm.inverse_norm_piece,
    gm.norm_bias_piece,
    gm.norm_variance_piece,
    gm.inner_product_piece,
    gm.norm_piece,
    gm.squares_piece,
    gm.norm_slope_piece,
    gm.pull_piece,
    gm.turn_piece,
    gm.own_weight_piece,
    gm.row_sum_piece,
)


def weight_correction_formula() -> Formula:
    r"""c^(1)_ij with E A^(1)_ij = 1/D_i + c^(1)_ij/d + O(1/d^2) for j < i; it is the same for every j.

    A_ij moves with the cosines of query i only, along tau (delta_p - A_i). Of the i-1 terms p < i,
    p = j gives tau'' (1 - 1/D_i), the other i-2 give -tau''/D_i; together tau'' r/D_i.
    """
    i, j = symbols.i, symbols.j
    width = gm.D(i)
    bend = beta**2 * (width - 2) / width**2  # tau''
    return Formula(
        left=rf"c^{{(1)}}_{{{i}{j}}}",
        right=(1 - alpha) ** 2 / 2 * bend * r / width,
        pieces=(),
        rows=(gm.row_sum_piece,),
        positions=(i,),
        constants=_constants(r),
    )


def weight_correction(i: object = symbols.i, j: object = symbols.j) -> Expr:
    r"""The coefficient c in E A^(1)_ij = A^(1)_ij(equicorrelated) + c/d + O(1/d^2), for j <= i.

    Off the diagonal it is (1-alpha)^2 beta^2 r (D_i - 2) / (2 D_i^3) with D_i = r + i - 1: positive, or
    0 at beta = 0. The diagonal gives up what the other i-1 keys gain, because rows sum to 1.

    Args:
        i: the query, an integer from 1 up or a symbol.
        j: the key, at most i. A symbol j other than i means a key before i.

    Returns:
        An expression in the positions, alpha, beta and lam.

    Raises:
        InvalidInput: a position is not an integer from 1 up, or j > i (the mask hides the key).

    >>> round(float(weight_correction(10, 10).subs({symbols.alpha: 0, symbols.beta: 1})) / 64, 6)
    -0.001154
    """
    query, key = position(i, "i"), position(j, "j")
    require(key <= query, f"j = {key}, i = {query}", "j <= i", "a causal mask hides later keys")
    off_diagonal = _weight_correction().xreplace({symbols.i: query})
    return -(query - 1) * off_diagonal if key == query else off_diagonal


@cache
def score_correction_formula() -> Formula:
    r"""c^(2)_ij with E S^(2)_ij = S^(2)_ij(equicorrelated) + c^(2)_ij/d + O(1/d^2), for j < i.

    S^(2)_ij = G_ij / sqrt(G_ii G_jj), so Taylor's expansion of this function of three numbers turns their
    biases B and covariances C (``theory.gram_moments``) into c. ``latex()`` prints it.
    """
    i, j = symbols.i, symbols.j
    slopes, bends = score_slopes(i, j), _score_bends(i, j)
    total: Expr = sum((slope * gm.B(*entry) for entry, slope in slopes.items()), Integer(0))
    for (entry, other), bend in bends.items():
        total += Rational(1, 2) * bend * gm.C(*entry, *other)
    bracket = sympy.expand(total * gm.h(i) * gm.h(j))
    for a in (i, j):  # gather what belongs to one row alone: the bias of its inverse norm
        letter, meaning = gm.inverse_norm_piece(a)
        bias = gm.B(a, a)
        bracket = sympy.expand(bracket.subs(bias, sympy.solve(meaning - letter, bias)[0]))
    pieces = (
        (gm.B(i, j), gm.inner_product_bias(i, j)),
        (gm.C(i, j, i, i), gm.query_covariance(i)),
        (gm.C(i, j, j, j), gm.key_covariance(i, j)),
        (gm.C(i, i, j, j), gm.norm_covariance(i, j)),
    )
    return Formula(
        left=rf"c^{{(2)}}_{{{i}{j}}}",
        right=(1 - alpha) ** 2 / (gm.h(i) * gm.h(j)) * sympy.collect(bracket, gm.g(i)),
        pieces=pieces,
        rows=ROWS,
        positions=(i, j),
        constants=_constants(),
    )


def score_correction(i: object = symbols.i, j: object = symbols.j) -> Expr:
    r"""The coefficient c in E S^(2)_ij = S^(2)_ij(equicorrelated) + c/d + O(1/d^2), for j < i.

    For Sphere(d, alpha), 0 <= alpha < 1, and every beta >= 0, lam >= 0. (S_ii = 1 at every width.)

    Args:
        i: the query, an integer from 2 up or a symbol.
        j: the key, before i.

    Returns:
        An expression in the positions, alpha, beta and lam; ``sympy.lambdify(..., cse=True)`` evaluates it fast.

    Raises:
        InvalidInput: a position is not an integer from 1 up, or j >= i.

    >>> round(float(score_correction(2, 1).subs({symbols.alpha: 0, symbols.beta: 1, symbols.lam: 1})), 12)
    -0.162369895736
    """
    query, key = earlier_key(i, j)
    return _score_correction().xreplace({symbols.i: query, symbols.j: key})


def limiting_score(i: object = symbols.i, j: object = symbols.j) -> Expr:
    r"""S^(2)_ij for j < i in the limit d -> oo: g_i / (h_i h_j) (paper, Eq. 4, for every beta and lam).

    Raises:
        InvalidInput: as for ``score_correction``.
    """
    query, key = earlier_key(i, j)
    letters = gm.g(symbols.i) / (gm.h(symbols.i) * gm.h(symbols.j))
    formula = Formula("", letters, (), ROWS, (symbols.i, symbols.j), _constants())
    return formula.expand().xreplace({symbols.i: query, symbols.j: key})


def score_curvatures(i: Expr = symbols.i, j: Expr = symbols.j) -> tuple[tuple[PairClass, Expr], ...]:
    r"""The eight classes of pairs (p, q) for j < i, each with d^2 S^(2)_ij / de_pq^2, in letters.

    The chain rule, before any sum: (1/2) (1-alpha)^2 times the sum of count x curvature is ``score_correction``.
    """
    among = places(j, i)
    rows = {j: among[1], i: among[3]}
    slopes, bends = score_slopes(i, j), _score_bends(i, j)
    table = []
    for pair in pair_classes(among):
        total: Expr = Integer(0)
        for (a, b), by in slopes.items():
            total += by * curvature(rows[a], rows[b], pair)
        for ((a, b), (c, e)), by in bends.items():
            total += by * slope(rows[a], rows[b], pair) * slope(rows[c], rows[e], pair)
        table.append((pair, total))
    return tuple(table)


def score_slopes(i: Expr, j: Expr) -> dict[Entry, Expr]:
    """dS^(2)_ij / dG_ab at the equicorrelated point, by (a, b), in the letters g_i, h_i, h_j."""
    score, entries, point = _score(i, j)
    return {entry: sympy.diff(score, letter).subs(point) for entry, letter in entries.items()}


def position(value: object, name: str) -> Expr:
    """A position as a SymPy expression.

    Raises:
        InvalidInput: it is not an integer from 1 up.
    """
    place = exact(value, name)
    if place.is_integer is False:
        raise InvalidInput(f"{name} = {value}", f"'{name} is an integer'", "positions are 1, 2, ...")
    require(place >= 1, f"{name} = {value}", f"{name} >= 1", "positions count from 1")
    return place


def earlier_key(i: object, j: object) -> tuple[Expr, Expr]:
    """The positions of a query and of a key before it.

    Raises:
        InvalidInput: a position is not an integer from 1 up, or j >= i.
    """
    query, key = position(i, "i"), position(j, "j")
    require(key < query, f"j = {key}, i = {query}", "j < i", "S_ii = 1 at every width, and S_ji = S_ij")
    if key == query:
        raise InvalidInput(f"j = i = {query}", "j < i", "S_ii = 1 at every width")
    return query, key


def _score(i: Expr, j: Expr) -> tuple[Expr, dict[Entry, Symbol], dict[Symbol, Expr]]:
    """S^(2)_ij as a function of three Gram entries, their letters, and their equicorrelated values."""
    entries = {entry: Symbol("G_{}{}".format(*entry), positive=True) for entry in ((i, j), (i, i), (j, j))}
    inner_product, query_norm, key_norm = entries.values()
    point = {inner_product: gm.g(i), query_norm: gm.h(i) ** 2, key_norm: gm.h(j) ** 2}
    return inner_product / sympy.sqrt(query_norm * key_norm), entries, point


def _score_bends(i: Expr, j: Expr) -> dict[tuple[Entry, Entry], Expr]:
    """Second derivatives of S^(2)_ij in the Gram entries, at the equicorrelated point."""
    score, entries, point = _score(i, j)
    return {
        (one, other): sympy.diff(score, entries[one], entries[other]).subs(point)
        for one in entries
        for other in entries
    }


@cache
def _weight_correction() -> Expr:
    return weight_correction_formula().expand()


@cache
def _score_correction() -> Expr:
    return score_correction_formula().expand()


def _constants(*wanted: Symbol) -> tuple[tuple[Symbol, Expr], ...]:
    return tuple(item for item in CONSTANTS.items() if not wanted or item[0] in wanted)
