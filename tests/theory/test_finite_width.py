"""The expansion in 1/d against derivatives of the literal layer."""

from __future__ import annotations

import random
import re
import subprocess
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy
from sympy import Expr

from maskproof.theory import finite_width as fw
from maskproof.theory import layer_one
from maskproof.theory.errors import InvalidInput
from maskproof.theory.gram_moments import C
from maskproof.theory.pair_classes import CONSTANTS
from maskproof.theory.symbols import alpha, beta, i, j, k, lam

N = 12
_draw = random.Random(20250921)
# Corners, the paper's models, and random points; exact decimals, so that both sides see the same numbers.
PARAMETERS = [
    (0.0, 1.0, 1.0), (0.2, 1.0, 1.0), (0.5, 8.0, 0.0), (0.0, 0.0, 0.0), (0.3, 0.0, 2.0), (0.0, 4.0, 0.0),
    *(tuple(round(_draw.uniform(0, top), 3) for top in (0.95, 5, 3)) for _ in range(3)),
]  # fmt: skip

# Both sides are computed in double precision at the end; terms of size 1 cancel by at most a few digits.
ROUNDING = 1e-12


def evaluator(expression: Expr, *positions: Expr) -> Callable[..., float]:
    return sympy.lambdify((*positions, alpha, beta, lam), expression, cse=True)


@pytest.mark.parametrize("parameters", PARAMETERS, ids=str)
def test_every_score_correction_up_to_twelve_tokens(parameters: tuple[float, ...], jets_of: Any) -> None:
    reference = jets_of(*parameters)
    correction = evaluator(fw.score_correction(), i, j)
    limit = evaluator(fw.limiting_score(), i, j)
    factor = (1 - parameters[0]) ** 2 / 2
    for key, query in combinations(range(1, N + 1), 2):
        expected = factor * reference.bends[:, query - 1, key - 1].sum()
        assert correction(query, key, *parameters) == pytest.approx(expected, rel=ROUNDING, abs=ROUNDING)
        assert limit(query, key, *parameters) == pytest.approx(
            reference.scores[query - 1, key - 1], rel=ROUNDING, abs=ROUNDING
        )


@pytest.mark.parametrize("parameters", PARAMETERS, ids=str)
def test_every_weight_correction_up_to_twelve_tokens(parameters: tuple[float, ...], jets_of: Any) -> None:
    reference = jets_of(*parameters)
    off_diagonal, diagonal = evaluator(fw.weight_correction(), i, j), evaluator(fw.weight_correction(i, i), i)
    factor = (1 - parameters[0]) ** 2 / 2
    for query in range(1, N + 1):
        expected = factor * reference.weight_bends[:, query - 1, :query].sum(axis=0)
        found = [off_diagonal(query, key, *parameters) for key in range(1, query)]
        found.append(diagonal(query, *parameters))
        np.testing.assert_allclose(found, expected, rtol=ROUNDING, atol=ROUNDING)


def test_each_class_of_pairs(jets_of: Any) -> None:
    """Counts and second derivatives class by class, not only their sum."""
    parameters = PARAMETERS[-1]
    query, key = 9, 4
    reference = jets_of(*parameters)
    table = fw.score_curvatures(i, j)
    assert len(table) == 8
    seen = 0
    for pair_class, curvature in table:
        value = evaluator(_in_positions(curvature), i, j)(query, key, *parameters)
        members = [
            index
            for index, pair in enumerate(reference.pairs)
            if [_rank(token, key, query) for token in pair] == [pair_class.p.rank, pair_class.q.rank]
        ]
        assert pair_class.count.subs({i: query, j: key}) == len(members) > 0
        for index in members:
            assert reference.bends[index, query - 1, key - 1] == pytest.approx(value, rel=ROUNDING, abs=ROUNDING)
        seen += len(members)
    assert seen == query * (query - 1) // 2


def _rank(token: int, key: int, query: int) -> int:
    """0 before j, 1 at j, 2 between, 3 at i, 4 after."""
    return sum((token >= key, token > key, token >= query, token > query))


def _in_positions(expression: Expr) -> Expr:
    for piece in fw.ROWS:
        expression = expression.xreplace(dict(piece(a) for a in (i, j)))
    return expression.xreplace(CONSTANTS)


# From an independent computation in truncated Taylor arithmetic (n = 12, alpha = 0, beta = lam = 1).
@pytest.mark.parametrize(
    ("query", "key", "expected"),
    [(2, 1, -0.162369895736007), (12, 5, -0.149981784046868), (12, 11, -0.193121565463889)],
)
def test_known_values(query: int, key: int, expected: float) -> None:
    value = fw.score_correction(query, key).subs({alpha: 0, beta: 1, lam: 1}).evalf(20)
    assert abs(value - expected) < 1e-15


def test_the_limit_is_the_closed_form_of_layer_two() -> None:
    """g and h as ``theory.layer_one`` writes them, which is not how they are written here."""
    norms = layer_one.h_squared(i) * layer_one.h_squared(j)
    other = layer_one.g(i) / sympy.sqrt(norms)
    other = other.xreplace({layer_one.r: sympy.exp(beta * (1 - alpha))})
    mine, theirs = evaluator(fw.limiting_score(), i, j), evaluator(other, i, j)
    for parameters in PARAMETERS:
        for key, query in combinations(range(1, N + 1), 2):
            found = mine(query, key, *parameters)
            assert found == pytest.approx(theirs(query, key, *parameters), rel=ROUNDING, abs=ROUNDING)


def test_rows_of_weights_keep_their_sum() -> None:
    total = (i - 1) * fw.weight_correction(i, j) + fw.weight_correction(i, i)
    assert sympy.simplify(total) == 0


def test_positions_may_be_shifted_symbols() -> None:
    """Substitution is simultaneous: j -> i - 1 and i -> j + 1 don't get in each other's way."""
    point = {alpha: 0, beta: 1, lam: 1}
    here = fw.score_correction(j + 1, j).subs({**point, j: 11}).evalf()
    assert here == pytest.approx(-0.193121565463889, abs=1e-14)
    assert fw.score_correction(i, k).free_symbols == {i, k, alpha, beta, lam}
    swapped = fw.score_correction(k, i).subs({**point, k: 12, i: 5}).evalf()
    assert swapped == pytest.approx(-0.149981784046868, abs=1e-14)


def test_nothing_is_left_of_the_letters() -> None:
    allowed = {i, j, alpha, beta, lam}
    for expression in (fw.score_correction(), fw.limiting_score(), fw.weight_correction(i, i)):
        assert expression.free_symbols <= allowed


@pytest.mark.parametrize(
    ("query", "key", "fault"),
    [(3, 3, "j < i"), (3, 4, "j < i"), (3, 0, "j >= 1"), (sympy.Rational(5, 2), 1, "integer"), (i, i, "j < i")],
)
def test_scores_refuse(query: Any, key: Any, fault: str) -> None:
    for function in (fw.score_correction, fw.limiting_score):
        with pytest.raises(InvalidInput, match=fault):
            function(query, key)


@pytest.mark.parametrize(("query", "key", "fault"), [(3, 4, "j <= i"), (0, 0, "i >= 1"), (2, 1.5, "integer")])
def test_weights_refuse(query: Any, key: Any, fault: str) -> None:
    with pytest.raises(InvalidInput, match=fault):
        fw.weight_correction(query, key)


def test_a_covariance_has_one_name() -> None:
    assert C(i, j, i, i) == C(i, i, i, j)
    assert C(i, i, j, j) == C(j, j, i, i)


def test_the_printed_formula_defines_what_it_uses() -> None:
    text = fw.score_correction_formula().latex()
    defined = [line.split("&=")[0].strip() for line in text.splitlines() if "&=" in line]
    assert len(defined) == len(set(defined))
    assert defined[0] == "c^{(2)}_{ij}"
    generic = {name.replace("i", "a").replace("j", "a") for name in defined}
    right = " ".join(line.split("&=")[1] for line in text.splitlines() if "&=" in line)
    used = set(re.findall(r"(?:\\[a-z]+|[A-Za-z])_\{[^}]*\}", right))
    assert used, "the pattern finds letters"
    for letter in used:
        assert letter in defined or letter.replace("i", "a").replace("j", "a") in generic, letter


def test_the_printed_formula_compiles(pdflatex: str, tmp_path: Path) -> None:
    page = "\\documentclass{article}\\usepackage{amsmath}\\begin{document}\n%s\n\\end{document}\n"
    body = fw.score_correction_formula().latex() + fw.weight_correction_formula().latex()
    (tmp_path / "page.tex").write_text(page % body, encoding="utf-8")
    done = subprocess.run(
        [pdflatex, "-interaction=nonstopmode", "-halt-on-error", "page.tex"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-1000:]
