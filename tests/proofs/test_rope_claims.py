"""Claims with positions and masks: what balls make of them, and the shipped claims about RoPE."""

import pytest
import sympy
from flint import arb, fmpq
from sympy import And, Eq, Gt, Le, Lt, Max, Min

from maskproof.numerics.balls import enclose, working_precision
from maskproof.proofs.engines.ball_arithmetic import Balls
from maskproof.proofs.engines.compiler import Compiler
from maskproof.proofs.engines.evaluate import evaluator
from maskproof.proofs.engines.question import question
from maskproof.proofs.engines.scene import Scene
from maskproof.proofs.engines.truth import Undefined
from maskproof.proofs.pipeline import verify
from maskproof.proofs.terms.reading import read_term, read_variable
from maskproof.proofs.verdict import Verdict
from maskproof.theory import (
    Alibi,
    Bidirectional,
    Blocks,
    Causal,
    Claim,
    Decoder,
    Equicorrelated,
    Prefix,
    Rope,
    Score,
    SlidingWindow,
    T5Bias,
    i,
    j,
    n,
)
from maskproof.theory.claims import rope as shipped
from maskproof.theory.rope import Kappa, kernel

ZERO = Equicorrelated(0)
MASKS = [Causal(), SlidingWindow(3), Blocks(2), Prefix(2), Bidirectional()]
POSITIONS = [None, Rope(50, 4), Alibi(sympy.Rational(1, 3)), T5Bias((0, 1, -1), (1, 0), 5)]


def value(expression, **values):
    term = read_term(expression)
    compiler = Compiler(term)
    return compiler.value(term, compiler.scope)(Scene([fmpq(values[name]) for name in compiler.names], Balls()))


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("position", POSITIONS)
def test_scores_in_claims_are_those_of_the_enclosure(mask, position):
    decoder = Decoder(mask=mask, position=position)
    known = enclose(decoder, 0, 6, 3).score(3, 4, 3)
    with working_precision(128):
        low, high = (sympy.Rational(str((known + shift).mid().str(20, radius=False))) for shift in (-1e-9, 1e-9))
    statement = And(Lt(low, Score(3, i, j)), Lt(Score(3, i, j), high))
    claim = Claim("mine", statement, And(Eq(i, 4), Eq(j, 3), Eq(n, 6)), decoder=decoder, inputs=ZERO)
    assert verify(claim).verdict is Verdict.ENCLOSED


@pytest.mark.parametrize("mask", MASKS[:3])
def test_rows_that_see_no_later_token_need_no_length(mask):
    claim = Claim("mine", Le(Score(3, i, j), 1), And(Le(j, i), Lt(i - j, 2), Le(i, 6)), Decoder(mask=mask), ZERO)
    assert verify(claim).verdict in {Verdict.PROVED, Verdict.ENCLOSED}


@pytest.mark.parametrize("mask", MASKS[3:])
def test_where_rows_may_see_later_tokens_the_length_has_to_be_given(mask):
    near = And(Le(j, i), Lt(i - j, 2), Le(i, 6))
    open_, given = (Claim("mine", Le(Score(2, i, j), 1), d, Decoder(mask=mask), ZERO) for d in (near, near & Eq(n, 6)))
    judged = verify(open_)
    assert judged.verdict is Verdict.UNKNOWN
    assert any("no value at i = 1, j = 1, n = 1" in e.detail or "i <= n fails" in e.detail for e in judged.evidence)
    assert verify(given).verdict is Verdict.ENCLOSED


def test_a_prefix_longer_than_the_sequence_has_no_meaning():
    asked = question(Claim("mine", Lt(Score(2, i, 1), 1), True, Decoder(mask=Prefix(5)), ZERO))
    at = evaluator(asked.statement).at({})
    places = [read_variable(s) for s in (i, n)]
    assert at.decide(dict(zip(places, (3, 6), strict=True))).truth is True
    short = at.decide(dict(zip(places, (3, 4), strict=True))).truth
    assert isinstance(short, Undefined)
    assert "5 <= n fails" in short.at({"i": 3, "n": 4}, "statement")


def test_the_larger_of_two_positions_is_a_position():
    assert value(Max(i, 8), i=3) == fmpq(8)
    assert value(Min(i, 8), i=3) == fmpq(3)
    assert isinstance(value(Max(i, 8), i=3), fmpq)
    assert isinstance(value(Max(i, sympy.pi), i=3), arb)


def test_the_kernel_by_name_and_in_full():
    for distance in (0, 1, 12):
        named, full = (value(e) for e in (Kappa(distance), kernel(distance)))
        assert arb(named).overlaps(arb(full))
    assert arb(value(Kappa(i - j), i=3, j=8)).overlaps(arb(value(kernel(5))))
    assert float(Kappa(12)) == pytest.approx(float(kernel(12)), abs=1e-15)
    assert Kappa(i - j).doit() == kernel(i - j)


def test_the_cosine_integral():
    with working_precision(128):
        assert abs(arb(value(sympy.Ci(1))) - arb("0.33740392290096813466")) < 1e-19


@pytest.mark.parametrize("claim", shipped.claims, ids=lambda claim: claim.id)
def test_the_claims_are_well_formed(claim):
    claim.check()
    assert claim.source
    assert claim.note


QUICK = {
    "own.rope-spread": Verdict.ENCLOSED,
    "own.rope-reversed": Verdict.ENCLOSED,
    "own.rope-encoder-boundary": Verdict.ENCLOSED,
    "own.rope-kernel-rises": Verdict.ENCLOSED,
    "own.rope-kernel-negative": Verdict.ENCLOSED,
    "own.window-reach": Verdict.ENCLOSED,
    "own.t5-overrules": Verdict.ENCLOSED,
    "own.t5-increasing": Verdict.ENCLOSED,
}


@pytest.mark.parametrize("name", QUICK)
def test_verdicts(name):
    (claim,) = [claim for claim in shipped.claims if claim.id == name]
    assert verify(claim).verdict is QUICK[name]


def test_a_weak_alibi_fails_where_it_should():
    (claim,) = [claim for claim in shipped.claims if claim.id == "own.alibi-too-weak"]
    judged = verify(claim)
    assert judged.verdict is Verdict.REFUTED
    assert judged.witness == {"i": 37, "j": 35}


def test_a_false_claim_about_the_kernel_is_refuted():
    claim = Claim("mine", Gt(Kappa(j), Kappa(j + 1)), Le(j, 20))
    judged = verify(claim)
    assert judged.verdict is Verdict.REFUTED
    assert judged.witness == {"j": 5}
