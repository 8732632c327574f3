"""The closed forms against their sums over classes of pairs: identities of rational functions."""

from __future__ import annotations

import pytest
import sympy
from sympy import Expr

from maskproof.theory import gram_moments as gm
from maskproof.theory.pair_classes import bias_over_classes, covariance_over_classes, places, r
from maskproof.theory.symbols import i, j, k

POSITIONS = (j, k, i)
TWO = places(j, i)
THREE = places(j, k, i)
ROWS_OF_TWO = {j: TWO[1], i: TWO[3]}
ROWS_OF_THREE = {j: THREE[1], k: THREE[3], i: THREE[5]}


def in_row_sums(expression: Expr) -> Expr:
    """Put in every letter but D_a, and eliminate the positions: a rational function without relations."""
    pieces = (
        gm.squares_piece, gm.norm_slope_piece, gm.pull_piece, gm.turn_piece, gm.own_weight_piece,
    )  # fmt: skip
    for piece in pieces:
        expression = expression.xreplace(dict(piece(a) for a in POSITIONS))
    return expression.xreplace({a: gm.D(a) - r + 1 for a in POSITIONS})


def assert_identical(line: Expr, total: Expr) -> None:
    numerator = sympy.together(in_row_sums(line) - in_row_sums(total)).as_numer_denom()[0]
    assert sympy.expand(numerator) == 0


@pytest.mark.parametrize("a", [i, j])
def test_bias_of_a_squared_norm(a: Expr) -> None:
    row = ROWS_OF_TWO[a]
    assert_identical(gm.norm_bias(a), bias_over_classes(row, row, TWO))


def test_bias_of_an_inner_product() -> None:
    total = bias_over_classes(ROWS_OF_TWO[i], ROWS_OF_TWO[j], TWO)
    assert_identical(gm.inner_product_bias(i, j), total)


COVARIANCES_OF_TWO = {
    (i, i, i, i): gm.norm_variance(i),
    (j, j, j, j): gm.norm_variance(j),
    (i, i, j, j): gm.norm_covariance(i, j),
    (i, j, i, j): gm.row_covariance(i, gm.omega(j)),
    (i, j, i, i): gm.query_covariance(i),
    (i, j, j, j): gm.key_covariance(i, j),
}
COVARIANCES_OF_THREE = {
    (i, i, k, k): gm.norm_covariance(i, k),
    (j, j, k, k): gm.norm_covariance(k, j),
    (i, j, i, k): gm.row_covariance(i, gm.s / gm.D(k)),
    (i, k, i, i): gm.query_covariance(i),
    (i, k, k, k): gm.key_covariance(i, k),
    (i, j, k, k): gm.later_covariance(i, k),
    (i, k, j, j): gm.earlier_covariance(i, j, k),
}


@pytest.mark.parametrize("rows", COVARIANCES_OF_TWO, ids=lambda rows: "".join(map(str, rows)))
def test_covariances_of_two_rows(rows: tuple[Expr, Expr, Expr, Expr]) -> None:
    a, b, c, e = (ROWS_OF_TWO[x] for x in rows)
    assert_identical(COVARIANCES_OF_TWO[rows], covariance_over_classes((a, b), (c, e), TWO))


@pytest.mark.parametrize("rows", COVARIANCES_OF_THREE, ids=lambda rows: "".join(map(str, rows)))
def test_covariances_of_three_rows(rows: tuple[Expr, Expr, Expr, Expr]) -> None:
    a, b, c, e = (ROWS_OF_THREE[x] for x in rows)
    assert_identical(COVARIANCES_OF_THREE[rows], covariance_over_classes((a, b), (c, e), THREE))
