"""What part of a domain balls certify, and how it is said."""

from __future__ import annotations

import time
from typing import Any

import pytest
from sympy import And, E, Eq, Implies, Limit, Lt, Rational, Sum, atan, exp, oo, pi

from maskproof.proofs.engines import enclosure
from maskproof.proofs.engines.question import question
from maskproof.proofs.verdict import Verdict
from maskproof.theory import (
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
)

INDEPENDENT = Equicorrelated(0)


def increasing(layer: int):
    return Lt(Score(layer, i, j), Score(layer, i, j + 1))


def examine(statement, domain=True, **options) -> Any:
    claim = Claim("t", statement, domain, **options)
    claim.check()
    return enclosure.examine(question(claim))


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
    assert "by exact numbers where balls can't tell two sides apart" in found.detail


def test_an_undecided_strict_inequality_is_unknown():
    found = examine(Lt(atan(i) + atan(1 / i), pi / 2), And(i > 3, i < 9))  # both sides are equal
    assert found.outcome is Verdict.UNKNOWN
    assert "undecided" in found.detail


def test_a_strict_inequality_between_equal_sides_is_refuted_by_exact_numbers():
    found = examine(Lt(Sum(Weight(2, i, k), (k, 1, i)), 1), And(i > 3, i < 9), inputs=INDEPENDENT)
    assert found.outcome is Verdict.REFUTED
    assert found.witness == {"i": 4}
    assert "exact numbers" in found.detail


def test_what_does_not_apply_is_unknown_with_the_reason():
    found = examine(Eq(Limit(Score(2, i, j), i, oo), 0), j <= 3, inputs=INDEPENDENT)
    assert found.outcome is Verdict.UNKNOWN
    assert "not applicable: numbers don't apply to " in found.detail
    assert "Limit(S2[i,j], i -> oo)" in found.detail


@pytest.mark.parametrize(
    ("statement", "domain"),
    [
        (Lt(Score(3, 10**5, 1), Score(3, 10**5, 7)), True),
        (Lt(Score(2, i, 1), Score(2, i, 2)), Eq(i, 10**18)),
        (Lt(Score(2, i, 1), 1), And(i > 10**6, i < 10**6 + 20)),
        (Lt(Score(10**6, 2, 1), 1), True),
        (Lt(Sum(Weight(1, i, k), (k, 1, i)), 2), Eq(i, 10**7)),
    ],
    ids=str,
)
def test_what_is_too_large_is_given_up_at_once(statement, domain):
    # The limit is more than ten times what it takes.
    started = time.perf_counter()
    found = examine(statement, domain, inputs=INDEPENDENT)
    assert found.outcome is Verdict.UNKNOWN
    assert "too many" in found.detail or "10000 terms" in found.detail
    assert time.perf_counter() - started < 20


def test_expectations_are_not_for_balls():
    assert examine(increasing(2), And(j < i, i <= 5), inputs=Sphere(8)) is None
    assert enclosure.spot_check(question(Claim("t", increasing(2), And(j < i, i <= 5), inputs=Sphere(8)))) is None


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
    first, second = (enclosure.examine(question(claim)) for _ in range(2))
    assert first is not None
    assert second is not None
    assert (first.scope, first.detail) == (second.scope, second.detail)


def test_a_second_look_stops_where_points_become_dear():
    """Position i^2 asks for a million pairs of tokens by i = 27; the second look is content with fewer."""
    flat = Decoder(beta=0, residual=0)
    claim = Claim("t", Eq(Score(2, i**2, 1), 1 / i), i >= 2, decoder=flat, inputs=INDEPENDENT)
    found = enclosure.spot_check(question(claim))
    assert found is not None
    assert found.outcome is Verdict.SAMPLED
    assert found.scope.startswith("part of i <= ")
    small = enclosure.spot_check(question(Claim("t", claim.statement, And(i >= 2, i <= 5), **_model(claim))))
    assert small is not None
    assert "part of" not in small.scope


def _model(claim: Claim) -> dict[str, Any]:
    return {"decoder": claim.decoder, "inputs": claim.inputs}


def test_what_is_certified_leaves_out_the_end_where_all_scores_are_equal():
    found = examine(Lt(Score(2, 3, 1), Score(2, 3, 2)), And(alpha >= 0, alpha <= 1))
    assert found.outcome is Verdict.UNKNOWN
    assert found.scope.startswith("certified for alpha in [0, 1), ")


def test_an_exact_failure_shows_both_sides():
    found = examine(Lt(Weight(1, 2, 1) + Weight(1, 2, 2), 1), inputs=INDEPENDENT)
    assert found.outcome is Verdict.REFUTED
    assert found.detail.startswith("by exact numbers the statement is false: ")
    assert "so that (A1[2,1]) + (A1[2,2]) < 1 fails" in found.detail or "A1[2,1] + A1[2,2] < 1 fails" in found.detail
