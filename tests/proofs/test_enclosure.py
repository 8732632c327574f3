"""What part of a domain balls certify, and how it is said."""

from __future__ import annotations

import time
from fractions import Fraction
from typing import Any

import pytest
from sympy import And, E, Eq, Implies, Le, Lt, Or, Rational, Sum, exp, oo

from proofs.engines import enclosure
from proofs.engines.region import Range, Region
from proofs.verdict import Verdict
from theory import (
    Bidirectional,
    Claim,
    Decoder,
    Equicorrelated,
    Score,
    Sphere,
    Weight,
    alpha,
    beta,
    i,
    j,
    k,
    lam,
    n,
)

INDEPENDENT = Equicorrelated(0)


def increasing(layer: int):
    return Lt(Score(layer, i, j), Score(layer, i, j + 1))


def examine(statement, domain=True, **options) -> Any:
    claim = Claim("t", statement, domain, **options)
    claim.check()
    return enclosure.examine(claim)


def reach(low: int, high: int) -> Range:
    return Range(Fraction(low), Fraction(high))


# --- regions -------------------------------------------------------------------------------------


def test_ranges_follow_from_comparisons():
    ranges = Region(And(j < i, i <= n, n <= 50, alpha >= 0, alpha < 1), (alpha, beta, i, j, n)).ranges()
    assert (ranges[i], ranges[j]) == (reach(2, 50), reach(1, 49))
    assert ranges[alpha] == Range(Fraction(0), Fraction(1), high_open=True)
    assert ranges[beta] == Range(Fraction(0))


@pytest.mark.parametrize(
    ("domain", "expected"),
    [
        (And(j < i, i <= 4), [(2, 1), (3, 1), (3, 2), (4, 1), (4, 2), (4, 3)]),
        (And(Eq(i, 3), j <= i), [(3, 1), (3, 2), (3, 3)]),
        (And(Or(Eq(i, 2), Eq(i, 5)), j < 2), [(2, 1), (5, 1)]),
        (And(i + j <= 4, j > 1), [(1, 2), (1, 3), (2, 2)]),
        (And(2 * i < 5, 2 * j <= 3), [(1, 1), (2, 1)]),
        (And(i * j <= 3, i <= 3, j <= 3), [(1, 1), (1, 2), (1, 3), (2, 1), (3, 1)]),
        (And(i <= 2, j < i, i**2 > 10), []),
    ],
    ids=str,
)
def test_integer_points_in_order(domain, expected):
    points = Region(domain, (i, j)).integer_points({})
    assert [(p[i], p[j]) for p in points] == expected


def test_simple_parameters_come_first_and_lie_in_the_domain():
    region = Region(And(alpha > 0, alpha < Rational(1, 50)), (alpha,))
    values = [p[alpha] for p in region.simple_reals(5)]
    assert values
    assert all(0 < v < Rational(1, 50) for v in values)
    corner = Region(And(alpha >= 0, alpha < 1, i > j), (alpha, beta, lam, i, j)).simple_reals(3)[0]
    assert corner == {alpha: 0, beta: 0, lam: 0}


# --- whole domains -------------------------------------------------------------------------------


def test_a_single_true_number_is_enclosed():
    found = examine(abs(Score(2, 2, 1) - Rational("0.154")) <= Rational("0.0005"), inputs=INDEPENDENT)
    assert found.outcome is Verdict.ENCLOSED
    assert found.scope == "the single case"


def test_all_adjacent_pairs_in_three_layers_take_seconds():
    # The limit is ten times what it takes, for slow machines.
    started = time.perf_counter()
    found = examine(
        And(increasing(2), increasing(3), increasing(4)),
        And(j < i, i <= 50),
        inputs=Equicorrelated(Rational(1, 5)),
    )
    assert found.outcome is Verdict.ENCLOSED
    assert "1225" in found.scope
    assert time.perf_counter() - started < 10


def test_a_real_parameter_is_covered_by_intervals():
    formula = (1 - alpha) * (2 * E**2 - alpha) * exp(-i * alpha)
    found = examine(Lt(0, formula), And(alpha >= 0, alpha <= Rational(1, 2), i <= 5))
    assert found.outcome is Verdict.ENCLOSED
    assert "alpha in [0, 1/2]" in found.scope


def test_a_quantity_is_covered_by_intervals():
    found = examine(Lt(Weight(1, i, j), Weight(1, i, i)), And(j < i, i <= 3, alpha >= 0, alpha <= Rational(1, 2)))
    assert found.outcome is Verdict.ENCLOSED


# --- parts of domains ----------------------------------------------------------------------------


def test_a_degenerate_end_leaves_a_part_uncertified():
    found = examine(Lt(Weight(1, i, j), Weight(1, i, i)), And(j < i, i <= 3, alpha >= 0, alpha < 1))
    assert found.outcome is Verdict.SAMPLED
    assert "certified for alpha in [0, " in found.scope


def test_unbounded_integers_are_capped_and_it_says_so():
    found = examine(increasing(2), j < i, inputs=INDEPENDENT)
    assert found.outcome is Verdict.SAMPLED
    assert "i, j <= 50" in found.scope


def test_a_true_equation_is_only_sampled():
    form = 1 / (exp(beta * (1 - alpha)) + i - 1)
    domain = And(j < i, alpha >= 0, alpha < 1)
    found = examine(Eq(Weight(1, i, j), form), domain, decoder=Decoder(beta=beta))
    assert found.outcome is Verdict.SAMPLED
    assert "agree to within 1e-" in found.detail


def test_an_undecided_strict_inequality_is_unknown():
    found = examine(Lt(Sum(Weight(2, i, k), (k, 1, i)), 1), And(i > 3, i < 9), inputs=INDEPENDENT)
    assert found.outcome is Verdict.UNKNOWN
    assert "undecided" in found.detail


def test_points_without_a_meaning_are_named():
    found = examine(Le(Score(1, i, j), 1), And(j < i, i <= 5))
    assert found.outcome is not Verdict.ENCLOSED
    assert "no meaning" in found.detail


@pytest.mark.parametrize(
    ("statement", "options"),
    [
        (Lt(Weight(1, i, j), 1), {"decoder": Decoder(mask=Bidirectional())}),
        (Lt(Sum(Score(2, k, 1), (k, 1, oo)), i), {}),
    ],
    ids=["length missing", "infinite sum"],
)
def test_what_does_not_apply_is_unknown_with_the_reason(statement, options):
    found = examine(statement, And(i <= 3, j <= 3), inputs=INDEPENDENT, **options)
    assert found.outcome is Verdict.UNKNOWN
    assert "not applicable" in found.detail


def test_expectations_are_not_for_balls():
    assert examine(increasing(2), And(j < i, i <= 5), inputs=Sphere(8)) is None
    assert enclosure.spot_check(Claim("t", increasing(2), And(j < i, i <= 5), inputs=Sphere(8))) is None


def test_a_failure_beyond_double_precision_is_seen():
    wrong = 1 / (E + i - 1) + Rational(1, 10**60)
    found = examine(Eq(Weight(1, i, j), wrong), And(j < i, i <= 5), inputs=INDEPENDENT)
    assert found.outcome is Verdict.REFUTED
    assert found.witness == {"i": 2, "j": 1}


def test_the_conclusion_is_not_asked_for_where_the_premise_fails():
    found = examine(Implies(j < i, increasing(2)), And(i <= 4, j <= 4), inputs=INDEPENDENT)
    assert found.outcome is Verdict.ENCLOSED


def test_the_outcome_does_not_depend_on_the_run():
    claim = Claim("t", Lt(Weight(1, i, j), Weight(1, i, i)), And(j < i, i <= 3, alpha >= 0, alpha < 1))
    first, second = (enclosure.examine(claim) for _ in range(2))
    assert first is not None
    assert second is not None
    assert (first.scope, first.detail) == (second.scope, second.detail)
