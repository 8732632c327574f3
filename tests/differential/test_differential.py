"""Random claims about random models: no verdict contradicts an independent evaluation.

The engines run with lowered counts (``tests.differential.judge.EFFORT``), so that a claim takes some tens of
milliseconds: they give up sooner, but what they certify or refute then counts all the same.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from sympy import And, Eq, Gt, Implies, Lt, Or, Rational, sqrt

from maskproof.proofs.engines import points
from maskproof.proofs.pipeline import verify
from maskproof.proofs.verdict import Result, Verdict
from maskproof.theory import Claim, Equicorrelated, InvalidInput, Score, alpha, beta, i, j
from tests.differential import survey as surveys
from tests.differential.judge import Ruling, little_effort, ruling, wrong
from tests.differential.retelling import retold
from tests.differential.strategies import FAMILIES, draw
from tests.differential.survey import contrary, survey

SHARDS = 25
CLAIMS = 820  # of a shard; shares are rounded, so that a few more or fewer are drawn

# The least share of each verdict, in per cent: with less, a survey would say little about the engines behind it.
LEAST = {"PROVED": 3, "ENCLOSED": 25, "SAMPLED": 2, "REFUTED": 20, "UNKNOWN": 2}


def _healthy(found: surveys.Survey) -> list[str]:
    total = found.totals
    return [
        f"{v}: {total[v]} of {total.total()}" for v, least in LEAST.items() if 100 * total[v] < least * total.total()
    ]


def test_no_verdict_on_some_hundred_claims_is_wrong():
    found = survey(240, 0)
    assert found.complaints == [], found.report()
    assert found.totals.total() >= 220
    assert found.retold > 20
    assert _healthy(found) == [], found.table()


@pytest.mark.survey
@pytest.mark.parametrize("shard", range(1, SHARDS + 1))
def test_no_verdict_on_thousands_of_claims_is_wrong(shard):
    found = survey(CLAIMS, shard)
    print(found.table())
    assert found.complaints == [], found.report()
    assert found.totals.total() >= 800  # 20,000 in all shards together
    assert _healthy(found) == [], found.table()


# --- the test itself -----------------------------------------------------------------------------


def test_the_same_seed_draws_the_same_claims():
    first, second = ([one.claim for one in draw(30, 5)] for _ in range(2))
    assert first == second
    assert {one.family for one in draw(300, 1)} == set(FAMILIES)


SOME = {i: tuple(map(Fraction, (1, 2, 3)))}


def _said(verdict, claim, witness=None):
    return wrong(claim, Ruling(verdict, Result(claim.id, Verdict(verdict), witness=witness)), SOME)


@pytest.mark.parametrize(
    ("statement", "domain", "complaint"),
    [
        (i < 3, i <= 3, "ENCLOSED, but the statement is false at i = 3"),
        (i < 4, i <= 3, None),
        (1 / (i - 2) < 5, i <= 3, "ENCLOSED, but the statement has no value at i = 2"),
        (Or(1 / (i - 2) < 5, i < 4), i <= 3, None),
        (i < 9, And(i <= 3, sqrt(i - 2) < 2), "ENCLOSED, but the domain has no value at i = 1"),
        (i < 9, And(i <= 3, Or(sqrt(i - 2) < 2, i < 2)), None),
        (Implies(1 / (i - 2) > 0, i > 2), i <= 3, "ENCLOSED, but the statement has no value at i = 2"),
    ],
)
def test_a_wrong_certificate_is_seen(statement, domain, complaint):
    assert _said("ENCLOSED", Claim("mine", statement, domain)) == complaint


@pytest.mark.parametrize(
    ("statement", "witness", "complaint"),
    [
        (i < 3, {"i": 3}, None),
        (i < 3, {"i": 2}, "REFUTED at i = 2, where the statement is true"),
        (i < 3, {"i": 4}, "REFUTED at i = 4, which is not in the domain"),
        (i < 3, {}, "REFUTED with a witness that leaves i open"),
        (i < 3, None, "REFUTED without a witness"),
        (1 / (i - 2) < 5, {"i": 2}, None),
        (Lt(Score(1, i, i + 1), 5), {"i": 2}, None),
        (Lt(Score(1, i, i), 1), {"i": 2}, None),
    ],
)
def test_a_wrong_witness_is_seen(statement, witness, complaint):
    claim = Claim("mine", statement, i <= 3, inputs=Equicorrelated(0))
    assert _said("REFUTED", claim, witness) == complaint


def test_an_internal_error_is_a_fault(monkeypatch):
    def broken(claim):
        raise KeyError("oops")

    claim = Claim("mine", i < 3, i <= 3)
    monkeypatch.setattr("tests.differential.judge.verify", broken)
    assert wrong(claim, ruling(claim), SOME) == "KeyError: 'oops'"

    def refused(claim):
        raise InvalidInput("it", "'a rule'", "mend it")

    monkeypatch.setattr("tests.differential.judge.verify", refused)
    assert ruling(claim).verdict == "INVALID"
    assert wrong(claim, ruling(claim), SOME) is None


def test_an_open_correlation_ranges_over_independent_inputs():
    claim = Claim("mine", Lt(Score(1, 3, 1), Rational(1, 2)))
    refuted = {"alpha": Rational(9, 10)}
    assert _said("REFUTED", claim, refuted) is None
    complaint = _said("REFUTED", claim, {"alpha": Rational(-9, 10)})
    assert complaint is not None
    assert "not about" in complaint
    # Where the domain speaks of alpha it is meant literally: three such vectors do not exist.
    literal = replace(claim, domain=alpha < Rational(-1, 2))
    assert _said("REFUTED", literal, {"alpha": Rational(-9, 10)}) is None


def test_a_claim_is_told_in_other_words():
    claim = Claim("mine", Implies(And(i < 3, alpha > 0), Or(beta < 1, Gt(i, j))), And(j < i, i <= 4))
    others = {str(other.statement) for other in (retold(claim, seed) for seed in range(20)) if other is not None}
    assert len(others) > 5
    assert any("Implies" not in text for text in others)
    assert contrary("PROVED", "REFUTED")
    assert contrary("REFUTED", "ENCLOSED")
    assert not contrary("SAMPLED", "REFUTED")


def test_effort_is_lowered_only_for_a_while():
    before = points.POINTS
    with little_effort():
        lowered = points.POINTS
    assert lowered < before
    after = points.POINTS
    assert after == before
    assert verify(Claim("mine", Eq(i, 1), i <= 1)).verdict in ("PROVED", "ENCLOSED")
