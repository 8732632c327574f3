"""Claims by a hostile reader, each of a kind that once was certified wrongly, or broke the program."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from sympy import (
    ITE,
    And,
    Eq,
    Float,
    Ge,
    Gt,
    Le,
    Lt,
    Ne,
    Or,
    Piecewise,
    Rational,
    Sum,
    exp,
    sign,
)

from maskproof.proofs.pipeline import verify
from maskproof.proofs.verdict import Verdict
from maskproof.theory import (
    Alibi,
    Claim,
    Decoder,
    Derivation,
    Equicorrelated,
    Rope,
    Score,
    Sphere,
    Step,
    Weight,
    alpha,
    beta,
    i,
    j,
    k,
    l,
    lam,
)

CERTAIN = {Verdict.PROVED, Verdict.ENCLOSED}
FALSE, TRUE, OPEN = CERTAIN, {Verdict.REFUTED}, CERTAIN | {Verdict.REFUTED}  # verdicts that would be wrong
HALF = Equicorrelated(Rational(1, 2))
SEEN = And(j <= i, i <= 5)
BY_CHANCE: dict[str, Any] = {"inputs": Sphere(8, 0)}
SAME = Weight(1, 3, 1) - Weight(1, 3, 2)  # zero on average: tokens one and two are alike
SOMETIMES = Gt(Piecewise((1, i < 10**5)), 0, evaluate=False)  # no value from 10^5 on


def rope(base: Any) -> dict[str, Any]:
    return {"inputs": HALF, "decoder": Decoder(position=Rope(base, 4))}


CLAIMS: dict[str, tuple[Any, Any, dict[str, Any], set[Verdict]]] = {
    "too small for a double": (Le(beta * Float("1e-400"), 0), True, {}, FALSE),
    "too small beside a score": (Eq(Float("1e-340") * Score(2, i, j), 0), SEEN, {"inputs": HALF}, FALSE),
    "small and not zero": (Ne(Float("1e-340") * Score(2, i, j), 0), SEEN, {"inputs": HALF}, TRUE),
    "denormal": (Ne(beta * Float("1e-320"), beta * Rational(1, 10**320), evaluate=False), beta > 0, {}, FALSE),
    "no case far out": (
        Lt(Score(2, i, j), Score(2, i, j + 1)), And(j < i, SOMETIMES), {"inputs": Equicorrelated(0)}, OPEN,
    ),
    "no case at a point": (
        Lt(exp(-(alpha**2)) - 2, 0),
        Gt(Piecewise((1, alpha < Rational(7, 13)), (2, alpha > Rational(7, 13))), 0, evaluate=False), {}, OPEN,
    ),
    "no case, or little": (Lt(exp(-(alpha**2)) - 2, 0), Or(SOMETIMES, i < 3), {}, OPEN),
    "no case in a sum": (
        Lt(exp(-(alpha**2)) - 2, 0), Gt(Sum(Piecewise((1, k < 100)), (k, 1, i)), 0, evaluate=False), {}, OPEN,
    ),
    "base of RoPE below zero": (Lt(Weight(1, 1, 1), 2), Eq(alpha, -Rational(1, 2)), rope(alpha), OPEN),
    "base of RoPE zero": (Eq(Weight(1, 2, 1) + Weight(1, 2, 2), 1), Eq(alpha, 0), rope(alpha), OPEN),
    "base of RoPE below one": (Lt(Score(1, 2, 1), 1), Eq(alpha, Rational(1, 2)), rope(alpha), OPEN),
    "slope of ALiBi below zero": (
        Lt(Weight(1, 2, 1), 1), Eq(alpha, -Rational(1, 2)), {"inputs": HALF, "decoder": Decoder(position=Alibi(alpha))},
        OPEN,
    ),
    "a choice on nothing": (ITE(1 / (i - 3) < 1, i < 10 + j, i < 9), And(i <= 5, j <= 2), {}, OPEN),
    "sign of an expectation": (Eq(sign(SAME), 0), True, BY_CHANCE, TRUE),
    "needle": (Ge(exp(-(10**16) * SAME**2), 1), True, BY_CHANCE, TRUE),
    "squared pole": (Ge(1 / (SAME + Rational(1, 10**9)) ** 2, 10**17), True, BY_CHANCE, TRUE),
    "pole": (Eq(1 / (SAME + Rational(1, 10**9)), 10**9), True, BY_CHANCE, TRUE),
    "broad pole": (Ge(1 / (Rational(1, 10**20) + SAME**2), 10**19), True, BY_CHANCE, TRUE),
    "alpha below zero beside a parameter": (
        Gt(Score(2, 3, 1), Score(2, 3, 2)), And(lam >= Rational(1, 10), lam <= 1),
        {"inputs": Equicorrelated(-Rational(1, 2)), "decoder": Decoder(beta=0, residual=lam)}, TRUE,
    ),
    "layer zero": (Lt(Score(l - 1, 3, 2), Score(l - 1, 3, 3)), l <= 3, {"inputs": Equicorrelated(0)}, OPEN),
}  # fmt: skip


@pytest.mark.parametrize("name", CLAIMS)
def test_no_wrong_verdict(name: str) -> None:
    statement, domain, model, wrong = CLAIMS[name]
    assert verify(Claim("hostile", statement, domain, **model)).verdict not in wrong


@pytest.mark.parametrize(
    "statement", [Gt(Weight(1, 3, 1) ** 2, Rational(1, 4)), Lt(exp(Weight(1, 3, 3)), Rational(11, 10))]
)
def test_what_is_plainly_false_of_expectations_is_refuted(statement: Any) -> None:
    assert verify(Claim("hostile", statement, **BY_CHANCE)).verdict is Verdict.REFUTED


STEP = Step("1", Le(2 * alpha * beta, alpha**2 + beta**2), "sign")
PROOF = Derivation("p", "t", (), (STEP,))


def with_step(**changes: Any) -> Derivation:
    return replace(PROOF, steps=(replace(STEP, **changes),))


@pytest.mark.parametrize(
    "proof",
    [
        *(with_step(hints=hints) for hints in (
            {"lemma": {beta: 1}}, {"step": {beta: 1}}, {"x": object()}, {"values": {alpha: object()}}, {5: "a"}, [],
            None,
        )),
        *(with_step(premises=premises) for premises in ([["a"]], 5, None)),
        *(with_step(given=given) for given in (None, alpha > 0)),
        *(with_step(rule=rule) for rule in (["sign"], {})),
        with_step(label=["1"]),
        *(with_step(statement=statement) for statement in ("alpha**2 + beta >= 0", object())),
        *(replace(PROOF, steps=steps) for steps in ("abc", (5,))),
        *(replace(PROOF, lemmas=lemmas) for lemmas in ((5,), None)),
        *(replace(PROOF, hypotheses=hypotheses) for hypotheses in (None, alpha > 0)),
    ],
)  # fmt: skip
def test_a_derivation_of_odd_parts_does_not_check(proof: Any) -> None:
    result = verify(Claim("hostile", STEP.statement, proof=proof))
    assert result.verdict is Verdict.UNKNOWN
    assert "does not check" in result.evidence[0].detail
