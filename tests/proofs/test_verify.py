"""From evidence to verdicts: the pipeline with its own engines, and with planted ones."""

from __future__ import annotations

import json

import pytest
from sympy import Abs, And, E, Eq, Gt, Implies, Le, Limit, Lt, Ne, Rational, atan, exp, log, oo, pi, sqrt, zeta

from maskproof.proofs import registry
from maskproof.proofs.engines import symbolic
from maskproof.proofs.pipeline import Contradiction, combined, verify
from maskproof.proofs.verdict import Evidence, Result, Verdict
from maskproof.theory import Claim, Decoder, Equicorrelated, InvalidInput, Score, Sphere, Weight, alpha, beta, d, i, j

INDEPENDENT = Equicorrelated(0)


def claim(name, statement=None, domain=True, uses=(), **options):
    statement = Lt(Score(2, 2, 1), 1) if statement is None else statement
    return Claim(name, statement, domain, inputs=options.pop("inputs", INDEPENDENT), uses=uses, **options)


TRUE = Lt(Score(2, 2, 1), Score(2, 3, 3))
FALSE = Gt(Score(2, 2, 1), Rational(1, 2))


@pytest.fixture
def proving(monkeypatch):
    """Let the symbolic engine, for the test, prove what is named."""

    def plant(*names):
        def examine(claim, *, seed):
            if claim.id not in names:
                return None
            return Evidence("symbolic", Verdict.PROVED, "the whole domain", "planted")

        monkeypatch.setattr(symbolic, "examine", examine)

    plant()
    return plant


@pytest.fixture
def shipping(monkeypatch):
    """Ship, for the test, other claims."""

    def plant(*claims):
        monkeypatch.setattr(registry, "_shipped", lambda: claims)

    return plant


# --- verdicts ------------------------------------------------------------------------------------

NUMERICAL = {
    "enclosed": (TRUE, True, {}, Verdict.ENCLOSED, None),
    "enclosed pairs": (
        Lt(Score(2, i, j), Score(2, i, j + 1)), And(j < i, i <= 12), {}, Verdict.ENCLOSED, None,
    ),
    "sampled": (Lt(Score(2, i, j), Score(2, i, j + 1)), j < i, {}, Verdict.SAMPLED, None),
    "sampled equation": (
        Eq(Weight(1, i, j), 1 / (exp(beta) + i - 1)), j < i, {"decoder": Decoder(beta=beta)}, Verdict.SAMPLED, None,
    ),
    "refuted number": (FALSE, True, {}, Verdict.REFUTED, {}),
    "refuted printed number": (
        Abs(Score(2, 3, 2) - Rational("0.150")) <= Rational("0.0005"), True, {}, Verdict.REFUTED, {},
    ),
    "refuted equation": (
        Eq(Weight(1, i, j), 1 / (E + i + 1)), j < i, {}, Verdict.REFUTED, {"i": 2, "j": 1},
    ),
    "refuted pairs": (
        Lt(Score(3, i, j), Score(3, i, j + 1)), And(j < i, i <= 50), {}, Verdict.REFUTED, {"i": 27, "j": 25},
    ),
    "refuted where sides are equal": (
        Implies(Eq(Score(2, i, i), 1), Lt(Weight(2, 1, 1) + Weight(2, 3, 1) + Weight(2, 3, 2) + Weight(2, 3, 3), 2)),
        True, {}, Verdict.REFUTED, {"i": 1},
    ),
    "unknown": (Lt(atan(i) + atan(1 / i), pi / 2), i <= 5, {}, Verdict.UNKNOWN, None),
    "statistical": (Lt(Score(2, 2, 1), Rational(1, 4)), True, {"inputs": Sphere(16)}, Verdict.SAMPLED, None),
    "statistically refuted": (
        Eq(Score(2, 2, 1), Rational(1, 4)), True, {"inputs": Sphere(16)}, Verdict.REFUTED, {},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", NUMERICAL)
def test_numbers_alone_give_a_verdict(proving, name):
    # The two statistical claims are off by 60 standard errors or more; the false alarm rate is 1e-6.
    statement, domain, options, verdict, witness = NUMERICAL[name]
    result = verify(claim("mine", statement, domain, **options))
    assert (result.id, result.verdict, result.witness) == ("mine", verdict, witness)
    assert any(e.outcome is verdict for e in result.evidence)
    assert result.seconds >= 0


def test_one_claim_gives_a_result_and_several_a_list_in_order(proving):
    told = []
    one = verify(claim("a", TRUE))
    several = verify([claim("b", FALSE), claim("a", TRUE)], progress=lambda name, done: told.append((name, done)))
    assert isinstance(one, Result)
    assert [r.verdict for r in several] == [Verdict.REFUTED, Verdict.ENCLOSED]
    assert told == [("b", 0), ("a", 1)]
    assert verify([]) == []


def test_a_proof_is_cross_checked_by_numbers(proving):
    proving("a")
    result = verify(claim("a", TRUE))
    assert result.verdict is Verdict.PROVED
    assert [e.engine for e in result.evidence] == ["symbolic", "enclosure"]
    expectation = verify(claim("a", TRUE, inputs=Sphere(8)))
    assert [e.engine for e in expectation.evidence] == ["symbolic", "monte_carlo"]


@pytest.mark.parametrize(
    ("statement", "domain", "inputs"),
    [
        (FALSE, True, INDEPENDENT),
        (Eq(Weight(1, i, j), 1 / (exp(1 + alpha) + i - 1)), And(j < i, alpha >= 0, alpha < 1), Equicorrelated(alpha)),
        (Gt(Score(2, 2, 1), Rational(1, 2)), True, Sphere(8)),
    ],
    ids=["a number", "a sign in a closed form", "an expectation"],
)
def test_a_proof_of_something_false_is_a_contradiction(proving, statement, domain, inputs):
    proving("a")
    result, other = verify([claim("a", statement, domain, inputs=inputs), claim("b", TRUE)])
    assert (result.verdict, result.witness) == (Verdict.UNKNOWN, None)
    first, *rest = result.evidence
    assert first.engine == "contradiction"
    assert "planted" in first.detail
    assert {e.outcome for e in rest} == {Verdict.PROVED, Verdict.REFUTED}
    assert other.verdict is Verdict.ENCLOSED


@pytest.mark.parametrize(
    ("statement", "domain", "said"),
    [
        (1 / (alpha - Rational(7, 13)) < 5, alpha < 1, "alpha = 7/13: alpha - (7/13) != 0 fails"),
        (log(alpha) < 5, And(alpha >= 0, alpha < 1), "alpha = 0: 0 < alpha fails in log(alpha)"),
        (Lt(Score(1, i, j), 1), And(j < i, i >= 3, alpha < Rational(-1, 2)), "exist for i tokens fails in S1[i,j]"),
        (Lt(zeta(i), 2), i > 2, "zeta"),
    ],
    ids=["a hole", "the end", "no vectors", "no numbers"],
)
def test_a_proof_of_what_has_no_value_proves_nothing(proving, statement, domain, said):
    proving("a")
    result = verify(claim("a", statement, domain, inputs=Equicorrelated(alpha)))
    assert result.verdict is Verdict.UNKNOWN
    assert any(said in e.detail for e in result.evidence)


def test_of_a_proof_about_a_limit_numbers_say_nothing(proving):
    proving("a")
    result = verify(claim("a", Eq(Limit(Weight(1, i, 1), i, oo), 0)))
    assert result.verdict is Verdict.PROVED
    assert [e.engine for e in result.evidence] == ["symbolic"]


def test_what_cannot_be_read_is_one_line_and_stops_nothing(proving):
    results = verify([claim("a", Lt(zeta(i), Score(2, i, 1)), i > 1), claim("b", TRUE)])
    assert [r.verdict for r in results] == [Verdict.UNKNOWN, Verdict.ENCLOSED]
    (only,) = results[0].evidence
    assert only.engine == "reading"
    assert "zeta" in only.detail
    assert "\n" not in only.detail


def test_combining_evidence():
    def evidence(*outcomes):
        return [Evidence("e", outcome, "", "") for outcome in outcomes]

    assert combined("a", []) is Verdict.UNKNOWN
    assert combined("a", evidence(Verdict.UNKNOWN, Verdict.SAMPLED)) is Verdict.SAMPLED
    assert combined("a", evidence(Verdict.SAMPLED, Verdict.ENCLOSED)) is Verdict.ENCLOSED
    assert combined("a", evidence(Verdict.SAMPLED, Verdict.PROVED)) is Verdict.PROVED
    assert combined("a", evidence(Verdict.SAMPLED, Verdict.REFUTED)) is Verdict.REFUTED
    for certain in (Verdict.PROVED, Verdict.ENCLOSED):
        with pytest.raises(Contradiction):
            combined("a", evidence(certain, Verdict.REFUTED))


def test_the_same_seed_gives_the_same_result(proving):
    sampled = claim("a", Eq(Score(2, 2, 1), Rational(1, 4)), inputs=Sphere(8))
    details = [[e.detail for e in verify(sampled, seed=seed).evidence] for seed in (5, 5, 6)]
    assert details[0] == details[1] != details[2]


# --- uses ----------------------------------------------------------------------------------------


def test_a_proof_needs_what_it_uses_to_be_proved(proving):
    proving("a", "b", "c")
    chain = [claim("a", TRUE, uses=("b",)), claim("b", TRUE, uses=("c",)), claim("c", TRUE)]
    assert [r.verdict for r in verify(chain)] == [Verdict.PROVED] * 3
    proving("a", "b")
    results = verify(chain)
    assert [r.verdict for r in results] == [Verdict.ENCLOSED] * 3
    reason = results[0].evidence[0]
    assert (reason.engine, reason.outcome) == ("uses", Verdict.ENCLOSED)
    assert "b, which is ENCLOSED" in reason.detail


def test_a_proof_from_something_false_is_no_contradiction(proving):
    proving("a")
    results = verify([claim("a", FALSE, uses=("b",)), claim("b", FALSE)])
    assert [r.verdict for r in results] == [Verdict.REFUTED] * 2
    assert results[0].witness == {}


@pytest.mark.parametrize("several", [False, True])
def test_a_subclass_of_claim_is_no_claim(several):
    class Changing(Claim):
        pass

    changing = Changing("a", TRUE)
    with pytest.raises(InvalidInput, match="it is a Claim"):
        verify([changing] if several else changing)


def test_what_is_equal_is_shown_at_a_point_where_the_model_exists():
    """LayerNorm needs a width of two."""
    claim = Claim("a", Ne(Score(1, i, i), sqrt(d)), decoder=Decoder(norm="layernorm", scale="sqrt(d)"))
    result = verify(claim)
    assert (result.verdict, result.witness) == (Verdict.REFUTED, {"alpha": 0, "d": 2, "i": 1})


def test_a_domain_of_irrational_points_is_not_empty():
    result = verify(Claim("a", Lt(alpha, 1), And(Eq(alpha**5 - alpha, 1), i <= 3)))
    assert result.verdict is Verdict.UNKNOWN


def test_what_is_used_may_be_shipped(proving, shipping):
    shipping(claim("paper.b", TRUE))
    proving("a", "paper.b")
    assert verify(claim("a", TRUE, uses=("paper.b",))).verdict is Verdict.PROVED


@pytest.mark.parametrize(
    ("claims", "said"),
    [
        ([claim("a", uses=("nowhere",))], "a uses 'nowhere'"),
        ([claim("a", uses=("a",))], "claim a uses a violates"),
        ([claim("a", uses=("b",)), claim("b", uses=("c",)), claim("c", uses=("b",))], "claim b uses c uses b"),
        ([claim("a"), claim("a")], "'a' twice"),
        (["a"], "'a' among the claims"),
        ([claim("a", Score(2, 2, 1))], "claim a: statement"),
        ([claim("a", TRUE, i < 1)], "claim a: domain"),
    ],
    ids=["unknown", "itself", "circle", "twice", "text", "no statement", "empty domain"],
)
def test_unusable_claims_are_told_in_one_line(shipping, claims, said):
    shipping()
    with pytest.raises(InvalidInput) as caught:
        verify(claims)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("seed", [-1, 1.5, "0", True, None])
def test_a_seed_is_a_whole_number(seed):
    with pytest.raises(InvalidInput, match="seed"):
        verify([], seed=seed)


# --- the record ----------------------------------------------------------------------------------


def test_accepting_and_comparing(shipping, tmp_path):
    path = tmp_path / "verdicts.json"
    shipping(claim("b"), claim("a"), claim("c"))
    found = [Result("b", Verdict.REFUTED, witness={"alpha": Rational(1, 2), "i": 3}), Result("a", Verdict.PROVED)]
    assert registry.recorded(path) == {}
    assert len(registry.differences(found, {})) == 2
    registry.accept(found, path)
    text = path.read_text()
    assert list(json.loads(text)) == ["a", "b"]
    record = registry.recorded(path)
    assert record["b"] == {"verdict": "REFUTED", "witness": {"alpha": "1/2", "i": "3"}}
    assert registry.differences(found, record) == []
    moved = [Result("b", Verdict.REFUTED, witness={"alpha": Rational(1, 2), "i": 4})]
    assert "i': '4'" in registry.differences(moved, record)[0]
    assert "PROVED" in registry.differences([Result("a", Verdict.SAMPLED)], record)[0]
    registry.accept([Result("c", Verdict.ENCLOSED)], path)
    assert list(registry.recorded(path)) == ["a", "b", "c"]
    shipping(claim("a"))
    registry.accept([Result("a", Verdict.PROVED)], path)
    assert list(registry.recorded(path)) == ["a"]
    assert [p.name for p in tmp_path.iterdir()] == ["verdicts.json"]


def test_only_shipped_claims_are_recorded(shipping, tmp_path):
    shipping(claim("a"))
    with pytest.raises(InvalidInput, match="only shipped claims"):
        registry.accept([Result("b", Verdict.PROVED)], tmp_path / "verdicts.json")
    assert not (tmp_path / "verdicts.json").exists()


@pytest.mark.parametrize("text", ["", "[]", "{", '{"a": 1}', '{"a": {"verdict": "MAYBE", "witness": null}}'])
def test_a_broken_record_is_told(tmp_path, text):
    path = tmp_path / "verdicts.json"
    path.write_text(text)
    with pytest.raises(InvalidInput, match="record of verdicts"):
        registry.recorded(path)


def test_two_shipped_claims_never_share_an_id():
    registry.refuse_duplicates([claim("a"), claim("b")])
    with pytest.raises(InvalidInput, match="'a' twice"):
        registry.refuse_duplicates([claim("a"), claim("a")])
    assert len({c.id for c in registry.shipped()}) == len(registry.shipped())


def test_an_inequality_that_may_be_equal_is_not_refuted(proving):
    assert verify(claim("a", Le(Weight(2, 1, 1) * Score(2, 2, 2), 1))).verdict is not Verdict.REFUTED
