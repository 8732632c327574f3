"""Claims about neighbouring scores over an interval of a parameter."""

from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest
from sympy import And, Eq, Ge, Gt, Le, Lt, Or, Rational

from maskproof.numerics.certify import Order, steps
from maskproof.proofs.engines import enclosure, order
from maskproof.proofs.engines.question import question as read
from maskproof.proofs.engines.region import Region
from maskproof.proofs.pipeline import verify
from maskproof.proofs.verdict import Verdict
from maskproof.theory import (
    Bidirectional,
    Claim,
    Decoder,
    Equicorrelated,
    Rope,
    Score,
    SlidingWindow,
    Sphere,
    alpha,
    beta,
    i,
    j,
    lam,
)
from maskproof.theory.claims.order import claims as shipped

ZERO = Equicorrelated(0)
# Small, and its order depends on beta: in layer three it fails below about 0.4.
DEPENDS = {"decoder": Decoder(beta=beta, residual=2), "inputs": ZERO}
TWELVE = And(Lt(j, i), Le(i, 12))


def rising(*layers):
    return And(*(Lt(Score(layer, i, j), Score(layer, i, j + 1)) for layer in layers))


def between(symbol, low, high):
    return And(Ge(symbol, Rational(low)), Le(symbol, Rational(high)))


def question(statement, domain: Any = True, **model) -> Any:
    claim = Claim("t", statement, domain, **model)
    claim.check()
    return order.recognise(Region(read(claim)))


def examine(statement, domain: Any = True, **model) -> Any:
    claim = Claim("t", statement, domain, **model)
    claim.check()
    return enclosure.examine(read(claim))


# --- the shape -----------------------------------------------------------------------------------


def test_the_steps_are_those_of_the_domain():
    found = question(rising(2, 3), And(Lt(j, i), Ge(i, 3), Le(i, 4), between(alpha, 0, "0.5")))
    assert list(found.order.pairs()) == [(la, a, b) for la in (2, 3) for a in (3, 4) for b in range(1, a)]
    assert (found.rising, found.parameter, found.variable.name, found.size) == (True, "alpha", "alpha", 5)


@pytest.mark.parametrize(
    ("statement", "rises"),
    [
        (Lt(Score(3, 5, 2), Score(3, 5, 3)), True),
        (Gt(Score(3, 5, 3), Score(3, 5, 2)), True),
        (Gt(Score(3, 5, 2), Score(3, 5, 3)), False),
        (Lt(Score(3, 5, 3), Score(3, 5, 2)), False),
    ],
)
def test_both_ways_of_writing_a_step(statement, rises):
    found = question(statement, inputs=ZERO)
    assert (list(found.order.pairs()), found.rising) == ([(3, 5, 2)], rises)


@pytest.mark.parametrize(
    ("statement", "domain", "model"),
    [
        (Le(Score(2, i, j), Score(2, i, j + 1)), TWELVE, {"inputs": ZERO}),
        (Eq(Score(2, i, j), Score(2, i, j + 1)), TWELVE, {"inputs": ZERO}),
        (Lt(Score(2, i, j), Score(2, i, j + 2)), And(Lt(j + 1, i), Le(i, 12)), {"inputs": ZERO}),
        (Lt(Score(2, i, j), Score(3, i, j + 1)), TWELVE, {"inputs": ZERO}),
        (Lt(Score(2, i, j), Score(2, i + 1, j + 1)), TWELVE, {"inputs": ZERO}),
        (Or(*rising(2, 3).args), TWELVE, {"inputs": ZERO}),
        (And(rising(2), Gt(Score(3, i, j), Score(3, i, j + 1))), TWELVE, {"inputs": ZERO}),
        (Gt(Score(3, i, j), Score(3, i, j + 1)), TWELVE, {"inputs": ZERO}),
        (rising(2), Lt(j, i), {"inputs": ZERO}),
        (rising(2), And(Le(j, i), Le(i, 12)), {"inputs": ZERO}),
        (rising(2), And(Lt(j, i), Le(i, 12), between(alpha, "-0.05", 0)), {}),
        (rising(2), And(TWELVE, between(alpha, 0, 1), between(beta, 0, 1)), {"decoder": Decoder(beta=beta)}),
        (rising(2), And(TWELVE, between(beta, 0, 1)), {"decoder": Decoder(beta=2 * beta), "inputs": ZERO}),
        (rising(2), And(TWELVE, between(lam, 0, 1)), {"inputs": ZERO}),
        (rising(2), TWELVE, {"decoder": Decoder(position=Rope(100, 4)), "inputs": ZERO}),
        (rising(2), TWELVE, {"decoder": Decoder(mask=Bidirectional()), "inputs": ZERO}),
        (rising(2), TWELVE, {"decoder": Decoder(mask=SlidingWindow(3)), "inputs": ZERO}),
        (rising(2), TWELVE, {"inputs": Sphere(8)}),
        (rising(2), And(TWELVE, Lt(1 / (i - 3), 2)), {"inputs": ZERO}),
        (rising(2), TWELVE, {"inputs": Equicorrelated(Rational(-1, 2))}),
        (Lt(Score(2, 10**6, 1), Score(2, 10**6, 2)), True, {"inputs": ZERO}),
        (Lt(Score(10**6, 3, 1), Score(10**6, 3, 2)), True, {"inputs": ZERO}),
    ],
)
def test_other_statements_are_left_to_other_engines(statement, domain, model):
    assert question(statement, domain, **model) is None


# --- the answer ----------------------------------------------------------------------------------


def test_true_over_a_whole_interval():
    found = examine(rising(2, 3), And(TWELVE, between(beta, "0.5", 1)), **DEPENDS)
    assert found.outcome is Verdict.ENCLOSED
    assert found.scope == "the whole domain: beta in [1/2, 1], 66 integer points"
    assert "steps between neighbouring keys: 132," in found.detail
    assert "Taylor polynomial of degree" in found.detail


@pytest.mark.parametrize("high", ["0.2", "0.45"])  # all of the interval fails; a part of it
def test_false_somewhere_has_a_witness(high):
    found = examine(rising(2, 3), And(TWELVE, between(beta, "0.1", high)), **DEPENDS)
    assert found.outcome is Verdict.REFUTED
    point = found.witness
    assert Rational(1, 10) <= point["beta"] <= Rational(high)
    exact = Order(12, (2, 3), Decoder(point["beta"], 2))
    assert (3, int(point["i"]), int(point["j"])) in steps(exact).falling


def test_one_step_that_falls_over_an_interval():
    (pair, *_) = steps(Order(12, (3,), Decoder(Fraction(1, 5), 2))).falling
    _, query, key = pair
    falls = Gt(Score(3, query, key), Score(3, query, key + 1))
    assert examine(falls, between(beta, "0.19", "0.21"), **DEPENDS).outcome is Verdict.ENCLOSED
    assert examine(falls, between(beta, "0.8", "0.9"), **DEPENDS).outcome is Verdict.REFUTED


def test_what_fails_outside_the_domain_alone_refutes_nothing():
    # The range of beta follows from linear relations only, so that it is [0, 1] here.
    domain = And(Lt(j, i), Le(i, 12), between(beta, 0, 1), Ge(beta**2, Rational(1, 4)))
    found = examine(rising(3), domain, **DEPENDS)
    assert found.outcome is not Verdict.REFUTED


@pytest.mark.parametrize("residual", [0, 1])
def test_up_to_where_all_scores_agree(residual):
    """As alpha tends to 1 all scores tend to 1, and closer keys score higher all the way."""
    domain = And(Lt(j, i), Le(i, 4), Ge(alpha, Rational(1, 5)), Lt(alpha, 1))
    found = examine(rising(3), domain, decoder=Decoder(residual=residual))
    assert found.outcome is Verdict.ENCLOSED
    assert found.scope == "the whole domain: alpha in [1/5, 1), 6 integer points"


def test_a_step_may_be_written_with_shifted_positions():
    found = question(Lt(Score(3, i + 2, 2 * j - 1), Score(3, i + 2, 2 * j)), And(Eq(j, 2), Eq(i, 4)), inputs=ZERO)
    assert list(found.order.pairs()) == [(3, 6, 3)]


def test_where_all_scores_agree_nothing_is_certified():
    found = order.settle(question(rising(3), And(Lt(j, i), Le(i, 4), between(alpha, "0.2", 1))))
    assert (found.whole, found.open) == (False, ((1, 1),))
    assert question(rising(3), And(Lt(j, i), Le(i, 4), between(alpha, 1, 1))) is None


def test_the_budget_is_a_number_of_expansions(monkeypatch):
    monkeypatch.setattr(order, "EXPANSIONS", 2)
    found = order.settle(
        question(rising(3), And(Lt(j, i), Le(i, 30), between(alpha, 0, "0.9")), decoder=Decoder(residual=0))
    )
    assert found.expansions == 2
    assert not found.whole
    parts = sorted([*found.certified, *found.open])
    assert (parts[0][0], parts[-1][1]) == (0, Fraction(9, 10))
    assert all(left[1] == right[0] for left, right in pairwise(parts))


def test_exact_parameters_take_any_number_of_points():
    found = examine(rising(3), And(Lt(j, i), Le(i, 60)), inputs=Equicorrelated(Rational(1, 5)))
    assert found.outcome is Verdict.ENCLOSED
    assert found.scope == "the whole domain, 1770 points"


def test_the_first_failure_at_exact_parameters():
    found = examine(rising(3), And(Lt(j, i), Le(i, 27)), inputs=ZERO)
    assert found.outcome is Verdict.REFUTED
    assert (found.witness["i"], found.witness["j"]) == (27, 25)


# --- the claims ----------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("claim", shipped, ids=lambda claim: claim.id)
def test_shipped_claims(claim):
    conjecture = claim.id.endswith("conjecture")
    assert verify(claim).verdict is (Verdict.SAMPLED if conjecture else Verdict.ENCLOSED)
