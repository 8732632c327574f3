"""Verdicts on claims about the coefficient of 1/d in an expectation."""

from __future__ import annotations

from typing import Any

import pytest
from sympy import And, Eq, Ge, Gt, Le, Lt, Rational

from maskproof.proofs.pipeline import verify
from maskproof.proofs.registry import recorded, shipped
from maskproof.proofs.verdict import Result, Verdict
from maskproof.theory import (
    Bidirectional,
    Claim,
    Correction,
    Decoder,
    Derivation,
    Equicorrelated,
    Gram,
    Score,
    SharedGaussian,
    Sphere,
    Step,
    Weight,
    alpha,
    beta,
    d,
    i,
    j,
    lam,
    n,
)
from maskproof.theory.finite_width import score_correction

C2 = Correction(Score(2, i, j))
BELOW = And(Lt(j, i), Le(i, 8))


def judged(statement: Any, domain: Any = True, **model: Any) -> Result:
    return verify(Claim("mine", statement, domain, **{"inputs": Sphere(d, 0), **model}))


@pytest.mark.parametrize(
    "name",
    [
        "own.sampler-bias", "own.sampler-bias-formula", "own.limit-overstates-deeper", "own.width-flattens",
        "own.weight-correction-formula", "own.score-correction-sign", "own.h-decreasing", "own.h-slope",
    ],
)  # fmt: skip
def test_shipped_claims(name: str) -> None:
    (claim,) = [claim for claim in shipped() if claim.id == name]
    assert verify(claim).verdict is recorded()[name]["verdict"]


def test_true_and_false_about_the_sign() -> None:
    assert judged(Lt(C2, 0), BELOW).verdict is Verdict.ENCLOSED
    false = judged(Gt(C2, 0), BELOW)
    assert false.verdict is Verdict.REFUTED
    assert false.witness == {"i": 2, "j": 1}


def test_a_closed_form_with_a_wrong_sign_is_refuted() -> None:
    general = {"decoder": Decoder(beta=beta, residual=lam), "inputs": Sphere(d, alpha)}
    inside = And(Lt(j, i), Le(i, 4), Ge(alpha, 0), Lt(alpha, 1))
    assert judged(Eq(C2, score_correction(i, j)), inside, **general).verdict is Verdict.SAMPLED
    assert judged(Eq(C2, -score_correction(i, j)), inside, **general).verdict is Verdict.REFUTED
    assert judged(Eq(C2, score_correction(i, j).subs(lam, lam + 1)), inside, **general).verdict is Verdict.REFUTED


def test_numbers_that_are_known() -> None:
    known = ((2, 12, 5, "-0.149981784046868"), (3, 12, 5, "-0.542053952566557"))
    for layer, query, key, value in known:
        c, printed = Correction(Score(layer, query, key)), Rational(value)
        close = And(Le(c, printed + Rational(1, 10**15)), Ge(c, printed - Rational(1, 10**15)))
        assert judged(close).verdict is Verdict.ENCLOSED


def test_an_interval_of_alpha() -> None:
    law, middle = SharedGaussian(d, alpha), And(Ge(alpha, Rational(1, 5)), Le(alpha, Rational(4, 5)))
    assert judged(Lt(Correction(Score(1, 2, 1)), 0), middle, inputs=law).verdict is Verdict.ENCLOSED
    assert judged(Gt(Correction(Score(1, 2, 1)), -Rational(1, 10)), middle, inputs=law).verdict is Verdict.REFUTED


def test_kinds_and_laws() -> None:
    """Rows of weights keep their sum, so what the other keys gain the query's own loses."""
    assert judged(Gt(Correction(Weight(1, i, j)), 0), BELOW).verdict is Verdict.ENCLOSED
    assert judged(Lt(Correction(Weight(1, i, i)), 0), And(Gt(i, 1), Le(i, 8))).verdict is Verdict.ENCLOSED
    assert judged(Gt(Correction(Gram(1, 2, 2)), 0)).verdict is Verdict.ENCLOSED
    raw = SharedGaussian(d, 0, unit=False)
    assert judged(Lt(Correction(Score(1, 2, 1)), 1), inputs=raw).verdict is Verdict.ENCLOSED


def test_a_correction_beside_an_exact_number() -> None:
    exact = Score(2, 2, 1, inputs=Equicorrelated(0))
    assert judged(Lt(Correction(Score(2, 2, 1)), exact)).verdict is Verdict.ENCLOSED


def test_the_width_that_is_written_does_not_matter() -> None:
    for law in (Sphere(4, 0), Sphere(64, 0), Sphere(d, 0)):
        assert judged(Lt(C2, 0), BELOW, inputs=law).verdict is Verdict.ENCLOSED


def test_without_a_mask_the_number_of_tokens_counts() -> None:
    c, free = Correction(Score(2, 2, 1)), {"decoder": Decoder(mask=Bidirectional())}
    assert judged(Lt(c, 0), **free).verdict is Verdict.UNKNOWN
    assert judged(Lt(c, 0), And(Ge(n, 2), Le(n, 5)), **free).verdict in (Verdict.ENCLOSED, Verdict.REFUTED)


def test_what_the_mask_hides_has_no_correction() -> None:
    assert judged(Lt(Correction(Score(2, 1, 2)), 0)).verdict is Verdict.UNKNOWN


def test_no_derivation_speaks_of_a_correction() -> None:
    """The kernel does not know it: a derivation with one in it does not check, not even of what is true."""
    true = Lt(Correction(Score(2, 2, 1, decoder=Decoder(), inputs=Sphere(d, 0))), 0)
    for rule in ("sign", "hypothesis", "identity", "score"):
        proof = Derivation("mine", "Mine", (), (Step("all", true, rule),))
        result = judged(true, proof=proof)
        assert result.verdict is Verdict.UNKNOWN
        assert "does not check" in result.evidence[0].detail
