"""What is proved is what is said: a shipped claim speaks of a quantity, or is listed as arithmetic with the reason."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sympy import And, Eq, Ge, Lt, Rational

from maskproof.proofs.registry import shipped
from maskproof.theory import Correction, Equicorrelated, Score, Sphere, alpha, d, i, j
from maskproof.theory.arithmetic import ARITHMETIC, complaints, mentions_quantity
from maskproof.theory.claim import Claim
from maskproof.theory.finite_width import score_correction


def test_every_shipped_claim_speaks_of_a_quantity_or_says_why_not() -> None:
    assert complaints(shipped()) == []


def test_a_formula_that_passes_for_a_quantity_is_seen() -> None:
    claims = shipped()
    formula = Claim("own.planted", Lt(score_correction(i, j), 0), Lt(j, i), inputs=Sphere(d, 0))
    assert complaints([*claims, formula]) == ["own.planted mentions no quantity and has no reason in ARITHMETIC"]


def test_a_reason_for_a_claim_that_needs_none_is_seen() -> None:
    claims = [
        replace(claim, statement=Lt(Score(2, i, j), 1)) if claim.id == "own.h-slope" else claim for claim in shipped()
    ]
    assert complaints(claims) == ["own.h-slope is in ARITHMETIC and is no such claim"]
    gone = [claim for claim in shipped() if claim.id != "own.h-slope"]
    assert complaints(gone) == ["own.h-slope is in ARITHMETIC and is no such claim"]


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        (Lt(Correction(Score(2, i, j)), 0), True),
        (And(Lt(alpha, 1), Eq(Score(2, i, i), 1)), True),
        (Ge(Score(2, 2, 1, inputs=Equicorrelated(0)), 0), True),
        (Lt(alpha, Rational(1, 2)), False),
        (And(Lt(alpha, 1), Lt(j, i)), False),
    ],
)
def test_what_counts_as_a_quantity(statement: object, expected: bool) -> None:
    assert mentions_quantity(Claim("mine", statement)) is expected


@pytest.mark.parametrize(("name", "reason"), ARITHMETIC.items())
def test_a_reason_names_claims_that_exist(name: str, reason: str) -> None:
    words = reason.replace(",", " ").split()
    named = {word.rstrip(".") for word in words if word.startswith(("own.", "kim2025.", "kim2026."))}
    assert named <= {claim.id for claim in shipped()}
