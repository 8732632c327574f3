"""What becomes of changes: planted errors are noticed, harmless changes are no errors, and what escapes is named."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sympy import Abs, And, E, Eq, Ge, Le, Lt, Ne, Rational, exp

from maskproof.proofs.audit.changes import Change, changes
from maskproof.proofs.audit.fate import Case, Fate, fate_of, judge
from maskproof.proofs.audit.implied import bridge, follows, unseen
from maskproof.proofs.pipeline import verify
from maskproof.proofs.registry import shipped
from maskproof.proofs.verdict import Evidence, Result, Verdict
from maskproof.theory import (
    Bidirectional,
    Claim,
    Decoder,
    Equicorrelated,
    Score,
    SlidingWindow,
    Sphere,
    Weight,
    alpha,
    i,
    j,
)

WEIGHT = Claim("w", Eq(Weight(1, i, j), 1 / (exp(1 - alpha) + i - 1)), And(j < i, alpha >= 0, alpha < 1))
CLOSER = Claim("closer", Lt(Score(2, i, j), Score(2, i, j + 1)), j < i, inputs=Equicorrelated(0))


def fate(claim: Claim, statement: object = None, *, before: Verdict = Verdict.PROVED, **parts: object) -> Case:
    if statement is not None:
        parts["statement"] = statement
    changed = replace(claim, **parts)  # type: ignore[arg-type]
    return judge(Change(claim.id, "statement", "sign", "planted", lambda: changed), claim, changed, before, 0)


PLANTED = {
    "sign": Eq(Weight(1, i, j), 1 / (exp(1 - alpha) + i + 1)),
    "term": Eq(Weight(1, i, j), 1 / (exp(1 - alpha) + i)),
    "index": Eq(Weight(1, i, j), 1 / (exp(1 - alpha) + j - 1)),
    "exponent": Eq(Weight(1, i, j), 1 / (exp(1 - alpha) + i - 1) ** 2),
    "constant": Eq(Weight(1, i, j), 2 / (exp(1 - alpha) + i - 1)),
}


@pytest.mark.parametrize("kind", PLANTED)
def test_a_planted_error_is_refuted(kind: str) -> None:
    found = fate(WEIGHT, PLANTED[kind])
    assert (found.fate, found.engine) == (Fate.REFUTED, "witness")
    assert found.seconds > 0


def test_a_forgotten_mask_and_a_wider_domain_are_noticed() -> None:
    assert fate(WEIGHT, decoder=Decoder(mask=Bidirectional())).fate in (Fate.REFUTED, Fate.REFUSED)
    assert fate(WEIGHT, domain=And(alpha >= 0, alpha < 1)).fate is Fate.REFUTED
    empty = fate(WEIGHT, domain=And(j < i, alpha >= 0, alpha < -1))
    assert (empty.fate, empty.engine) == (Fate.REFUSED, "reading")


def test_a_score_of_hidden_keys_is_refused() -> None:
    assert fate(CLOSER, domain=j <= i).fate is Fate.REFUSED


@pytest.mark.parametrize(
    ("claim", "changed"),
    [
        (CLOSER, {"statement": Le(Score(2, i, j), Score(2, i, j + 1))}),
        (CLOSER, {"domain": And(j < i, i <= 7)}),
        (WEIGHT, {"domain": And(j < i, alpha > 0, alpha < 1)}),
    ],
    ids=["lax", "bounded", "smaller"],
)
def test_what_says_no_more_than_the_claim_is_no_error(claim: Claim, changed: dict) -> None:
    found = fate(claim, **changed)
    assert (found.fate, found.engine) == (Fate.TRUE, "kernel")


def test_what_says_more_does_not_follow() -> None:
    lax = replace(CLOSER, statement=Le(Score(2, i, j), Score(2, i, j + 1)))
    assert follows(CLOSER, lax)
    assert not follows(lax, CLOSER)
    assert not follows(replace(CLOSER, domain=And(j < i, i <= 7)), CLOSER)
    assert not follows(CLOSER, replace(lax, inputs=Equicorrelated(alpha)))
    assert not follows(CLOSER, replace(lax, decoder=Decoder(beta=2)))
    assert not follows(CLOSER, replace(CLOSER, statement=Lt(Score(2, i, j), Score(2, i, j + 2))))


def test_an_equivalent_formula_is_no_error() -> None:
    same = Eq(Weight(1, i, j), exp(alpha) / (E + (i - 1) * exp(alpha)))
    found = fate(WEIGHT, same)
    assert (found.fate, found.engine) == (Fate.TRUE, "kernel")
    found = fate(WEIGHT, Eq(Weight(1, i, i), E / (E + (i - 1) * exp(alpha))))
    assert (found.fate, found.engine) == (Fate.TRUE, "symbolic")


JENSEN = Claim("jensen", Lt(Weight(1, i, i), E / (i - 1 + E)), And(i >= 2, i <= 4), inputs=Sphere(16))


def test_a_weaker_bound_on_an_expectation_is_no_error() -> None:
    found = fate(JENSEN, Lt(Weight(1, i, i), E / (i - 2 + E)), before=Verdict.SAMPLED)
    assert found.fate is Fate.TRUE
    assert "it follows from the claim and" in found.why
    stronger = Claim("s", Lt(Weight(1, i, i), E / (i + E)), JENSEN.domain, inputs=Sphere(16))
    said = bridge(JENSEN, stronger)
    assert said is not None
    assert verify(said).verdict is Verdict.REFUTED


def test_equality_without_noise_is_not_taken_for_less() -> None:
    # At i = 1 both sides are 1, and no sample says so with an error.
    found = fate(JENSEN, domain=i <= 4, before=Verdict.SAMPLED)
    assert (found.fate, found.engine) == (Fate.DOUBTED, "monte_carlo")
    assert "do not fluctuate" in found.why


def test_what_the_first_layer_does_not_see_is_no_error() -> None:
    mean = Claim("mean", Eq(Score(1, 2, 1), 0), inputs=Sphere(8))
    bare, blind = replace(mean, decoder=Decoder(residual=0)), replace(mean, decoder=Decoder(mask=SlidingWindow(2)))
    assert unseen(mean, bare)
    assert unseen(mean, blind)
    assert fate(mean, decoder=Decoder(residual=0), before=Verdict.SAMPLED).fate is Fate.TRUE
    weight = replace(mean, statement=Le(Weight(1, 2, 1), 1))
    assert unseen(weight, replace(weight, decoder=Decoder(residual=0)))
    assert not unseen(weight, replace(weight, decoder=Decoder(mask=Bidirectional())))
    deep = replace(mean, statement=Le(Score(2, 2, 1), 1))
    assert not unseen(deep, replace(deep, decoder=Decoder(residual=0)))
    assert not unseen(mean, replace(bare, statement=Eq(Score(1, 3, 1), 0)))
    assert not unseen(mean, replace(mean, decoder=Decoder(norm="none")))


def test_a_bound_that_is_too_loose_lets_a_change_go_unnoticed() -> None:
    loose = Claim("loose", Abs(Score(2, 2, 1) - Rational("0.1335")) <= Rational("0.01"), inputs=Sphere(8))
    wrong = Abs(Score(2, 2, 1) - Rational("0.1345")) <= Rational("0.01")
    found = fate(loose, wrong, before=Verdict.SAMPLED)
    assert (found.fate, found.engine) == (Fate.UNNOTICED, "monte_carlo")
    assert fate(loose, wrong, before=Verdict.PROVED).fate is Fate.DOUBTED


@pytest.mark.parametrize("name", ["kim2025.eq4", "own.score-two"])
def test_a_changed_line_of_a_proof_is_rejected_or_holds(name: str) -> None:
    (claim,) = (claim for claim in shipped() if claim.id == name)
    assert claim.proof is not None
    in_proof = [change for change in changes(claim) if change.in_proof]
    fates = []
    for change in in_proof[:: max(1, len(in_proof) // 12)]:
        changed = change.make()
        if changed is not None:
            fates.append(judge(change, claim, changed, Verdict.PROVED, 0).fate)
    assert set(fates) <= {Fate.REJECTED, Fate.TRUE}
    assert Fate.REJECTED in fates


def result(verdict: Verdict, objection: bool = False) -> Result:
    return Result("c", verdict, (Evidence("enclosure", verdict, "", "why", objection=objection),))


@pytest.mark.parametrize(
    ("now", "before", "expected"),
    [
        (result(Verdict.REFUTED), Verdict.SAMPLED, Fate.REFUTED),
        (result(Verdict.REFUTED), Verdict.REFUTED, Fate.REFUTED),
        (result(Verdict.PROVED), Verdict.REFUTED, Fate.TRUE),
        (result(Verdict.ENCLOSED), Verdict.PROVED, Fate.TRUE),
        (result(Verdict.UNKNOWN, objection=True), Verdict.PROVED, Fate.REFUSED),
        (result(Verdict.UNKNOWN), Verdict.SAMPLED, Fate.DOUBTED),
        (result(Verdict.SAMPLED), Verdict.PROVED, Fate.DOUBTED),
        (result(Verdict.SAMPLED), Verdict.REFUTED, Fate.DOUBTED),
        (result(Verdict.SAMPLED), Verdict.SAMPLED, Fate.UNNOTICED),
        (result(Verdict.UNKNOWN), Verdict.UNKNOWN, Fate.UNNOTICED),
        (result(Verdict.SAMPLED), Verdict.UNKNOWN, Fate.UNNOTICED),
    ],
)
def test_a_verdict_means_a_fate(now: Result, before: Verdict, expected: Fate) -> None:
    assert fate_of(now, before) == (expected, "enclosure", "why")


def test_no_bridge_where_more_was_changed() -> None:
    assert bridge(JENSEN, replace(JENSEN, domain=i >= 1)) is None
    assert bridge(JENSEN, replace(JENSEN, statement=Ne(Weight(1, i, i), 1))) is None
    assert bridge(JENSEN, replace(JENSEN, statement=Ge(Weight(1, i, i), 0))) is None
