"""Ranges, integer points in order, and the real parameters that are tried."""

from __future__ import annotations

from fractions import Fraction

import pytest
from sympy import And, Eq, Gt, Lt, Ne, Or, Rational, sqrt

from maskproof.proofs.engines import region as regions
from maskproof.proofs.engines.question import question
from maskproof.proofs.engines.ranges import Range
from maskproof.proofs.engines.region import Region
from maskproof.proofs.engines.truth import Undefined
from maskproof.proofs.terms.reading import read_variable
from maskproof.theory import Bidirectional, Claim, Decoder, Equicorrelated, Score, alpha, beta, i, j, lam, n

ANY = And(Lt(alpha + beta, 9), Lt(i + j, n + lam))  # mentions what a test needs


def region(domain, statement=ANY, **options) -> Region:
    return Region(question(Claim("t", statement, domain, **options)))


def reach(low: int, high: int) -> Range:
    return Range(Fraction(low), Fraction(high))


def points(domain, symbols=(i, j), **options):
    found = region(domain, Lt(i + j, 99), **options)
    variables = [read_variable(s) for s in symbols]
    return [tuple(p[v] for v in variables) for p in found.integer_points({})], found


def test_ranges_follow_from_comparisons():
    ranges = region(And(j < i, i <= n, n <= 50, alpha >= 0, alpha < 1)).ranges()
    assert [ranges[read_variable(s)] for s in (i, j)] == [reach(2, 50), reach(1, 49)]
    assert ranges[read_variable(alpha)] == Range(Fraction(0), Fraction(1), high_open=True)
    assert ranges[read_variable(beta)] == Range(Fraction(0))


@pytest.mark.parametrize(
    ("domain", "expected"),
    [
        (And(j < i, i <= 4), [(2, 1), (3, 1), (3, 2), (4, 1), (4, 2), (4, 3)]),
        (And(Eq(i, 3), j <= i), [(3, 1), (3, 2), (3, 3)]),
        (And(Or(Eq(i, 2), Eq(i, 5)), j < 2), [(2, 1), (5, 1)]),
        (And(i + j <= 4, j > 1), [(1, 2), (1, 3), (2, 2)]),
        (And(2 * (i - 1) + 2 < 5, 2 * j <= 3), [(1, 1), (2, 1)]),
        (And(i * j <= 3, i <= 3, j <= 3), [(1, 1), (1, 2), (1, 3), (2, 1), (3, 1)]),
        (And(i <= 2, j < i, i**2 > 10), []),
        (And(i <= 3, Ne(i, 2), Eq(j, 1)), [(1, 1), (3, 1)]),
        (And(sqrt(i) + sqrt(2) <= sqrt(8), i <= 4, Eq(j, 1)), [(1, 1), (2, 1)]),  # equal sides at i = 2
    ],
    ids=str,
)
def test_integer_points_in_order(domain, expected):
    assert points(domain)[0] == expected


def test_a_domain_with_a_hole_names_it():
    found, where = points(And(1 / (i - 3) < 2, i <= 5, Eq(j, 1)))
    assert found == [(1, 1), (2, 1), (4, 1), (5, 1)]
    assert where.hole == "the domain has no value at i = 3, j = 1: i - 3 != 0 fails in 1/(i - 3)"


@pytest.mark.parametrize("other", [i < 5, Gt(5, i), i**3 - 2 * i < 50])
def test_what_holds_by_another_part_needs_no_value_here(other):
    found, where = points(And(i <= 4, Eq(j, 1), Or(1 / (i - 3) < -2, other)))
    assert (3, 1) in found
    assert where.hole is None


def test_a_vast_range_without_points_is_given_up(monkeypatch):
    monkeypatch.setattr(regions, "LOOKED_AT", 1000)
    found, where = points(And(i**2 < 2 * i - 5, i <= 10**18, Eq(j, 1)))
    assert found == []
    assert where.doubtful


def test_simple_parameters_come_first_and_lie_in_the_domain():
    small = region(And(alpha > 0, alpha < Rational(1, 50)), Lt(alpha, 5))
    values = [p[read_variable(alpha)] for p in small.simple_reals(5)]
    assert values
    assert all(0 < v < Fraction(1, 50) for v in values)
    corner = region(And(alpha >= 0, alpha < 1, i > j)).simple_reals(3)[0]
    assert set(corner.values()) == {0}


def test_where_a_part_may_have_no_value_is_looked_at():
    awkward = Lt(1 / (alpha - Rational(7, 13)) + 1 / (alpha**2 - Rational(1, 289)), 5)
    found = {p[read_variable(alpha)] for p in region(alpha < 1, awkward).critical_reals(9)}
    assert found == {Fraction(7, 13), Fraction(1, 17), Fraction(-1, 17)}


def test_what_is_understood_belongs_to_the_domain():
    score = Lt(Score(1, i, j), 2)
    found = region(And(j < i, i <= 3), score)
    third, whole = {read_variable(alpha): Fraction(-1, 2)}, [read_variable(s) for s in (i, j)]
    assert found.contains(third, dict(zip(whole, (2, 1), strict=True))) is True
    assert found.contains(third, dict(zip(whole, (3, 1), strict=True))) is False
    literal = region(And(j < i, i <= 3, alpha < 1), score)
    assert literal.contains(third, dict(zip(whole, (3, 1), strict=True))) is True


def test_how_many_vectors_there_are_bounds_a_position():
    found = region(j < i, Lt(Score(1, i, j), 2))
    at = found.ranges({read_variable(alpha): Fraction(-1, 4)})
    assert at[read_variable(i)] == reach(2, 4)  # five of them are dependent
    assert found.ranges({read_variable(alpha): Fraction(1, 4)})[read_variable(i)].high is None


def test_the_number_of_tokens_is_a_variable_where_it_matters():
    found = region(i <= 3, Lt(Score(1, i, 1), 2), decoder=Decoder(mask=Bidirectional()), inputs=Equicorrelated(0))
    assert [v.name for v in found.integers] == ["i", "n"]
    assert not found.finite


def test_a_domain_without_a_value_is_no_membership():
    found = region(sqrt(alpha) < 2, Lt(alpha, 5))
    assert isinstance(found.contains({read_variable(alpha): Fraction(-1)}, {}), Undefined)
