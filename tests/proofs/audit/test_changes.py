"""The small changes to claims: every kind is made, each is one, and the choice among them is always the same."""

from __future__ import annotations

from collections import Counter
from itertools import chain

import pytest
from sympy import And, Eq, Ge, Gt, Implies, Le, Lt, Rational, exp, sqrt

from maskproof.proofs.audit.changes import KINDS, PLACES, Change, changes, chosen
from maskproof.proofs.audit.record import AUDITED
from maskproof.proofs.registry import shipped
from maskproof.theory import Alibi, Claim, Decoder, Equicorrelated, Score, Weight, alpha, beta, i, j, lam
from maskproof.theory.derivation import Derivation, Step


def made(claim: Claim) -> dict[tuple[str, str], list[Claim]]:
    found: dict[tuple[str, str], list[Claim]] = {}
    for change in changes(claim):
        new = change.make()
        if new is not None:
            found.setdefault((change.place, change.kind), []).append(new)
    return found


WEIGHT = Claim("w", Eq(Weight(1, i, j), 1 / (exp(1 - alpha) + i - 1)), And(j < i, alpha >= 0, alpha < 1))


@pytest.mark.parametrize(
    ("kind", "before", "after"),
    [
        ("sign", Lt(Score(2, i, j), Score(2, i, j + 1)), Lt(-Score(2, i, j), Score(2, i, j + 1))),
        ("sign", Eq(Score(2, i, j), i - j), Eq(Score(2, i, j), i + j)),
        ("term", Eq(Score(2, i, j), i - j), Eq(Score(2, i, j), i)),
        ("constant", Le(Score(2, 2, 1), Rational(1, 2)), Le(Score(2, 2, 1), 1)),
        ("constant", Le(Score(2, 2, 1), Rational(1, 2)), Le(Score(3, 2, 1), Rational(1, 2))),
        ("exponent", Eq(Score(2, i, j), sqrt(i)), Eq(Score(2, i, j), i)),
        ("exponent", Eq(Score(2, i, j), i**2), Eq(Score(2, i, j), i**3)),
        ("index", Lt(Score(2, i, j), 1), Lt(Score(2, j, j), 1)),
        ("strictness", Lt(Score(2, i, j), 1), Le(Score(2, i, j), 1)),
        ("strictness", Ge(Score(2, i, j), 0), Gt(Score(2, i, j), 0)),
        ("inverse", Eq(Score(2, i, j), beta), Eq(Score(2, i, j), 1 / beta)),
    ],
)
def test_a_statement_is_changed(kind: str, before: object, after: object) -> None:
    found = made(Claim("c", before, j < i))["statement", kind]
    assert after in [claim.statement for claim in found]
    assert before not in [claim.statement for claim in found]
    assert all(claim.domain == (j < i) and claim.proof is None for claim in found)


def test_a_domain_is_changed() -> None:
    found = made(WEIGHT)
    assert And(alpha >= 0, alpha < 1) in [claim.domain for claim in found["domain", "hypothesis"]]
    assert And(j <= i, alpha >= 0, alpha < 1) in [claim.domain for claim in found["domain", "strictness"]]
    assert all(claim.statement == WEIGHT.statement for claim in found["domain", "strictness"])


def test_a_model_is_changed() -> None:
    decoder = Decoder(beta=beta, residual=lam, position=Alibi(Rational(1, 4)))
    found = made(Claim("c", Lt(Score(2, i, j), 1), j < i, decoder))
    (mask,), (inverse,) = found["model", "mask"], found["model", "inverse"]
    (residual,), (position,) = found["model", "residual"], found["model", "position"]
    assert type(mask.decoder.mask).__name__ == "Bidirectional"
    assert inverse.decoder.beta == 1 / beta
    assert residual.decoder.residual == 0
    assert position.decoder.position is None
    assert {c.decoder.scale for c in (mask, inverse, residual, position)} == {decoder.scale}


def test_a_claim_about_no_quantity_of_its_own_has_no_model() -> None:
    own = Lt(Score(2, i, j, decoder=Decoder(), inputs=Equicorrelated(0)), 1)
    assert not [key for key in made(Claim("c", own, j < i)) if key[0] == "model"]


def test_a_derivation_is_changed_and_so_are_its_lemmas() -> None:
    lemma = Derivation("lemma", "", (i >= 5,), (Step("a", Gt(i, 4), "sign", given=(j >= 2,)),))
    proof = Derivation("whole", "", (), (Step("b", Gt(i + 1, 2), "sign", ("x",)),), (lemma,))
    claim = Claim("c", Gt(i + 1, 2), i >= 2, proof=proof, uses=("other",))
    found = made(claim)
    proofs = {key: [c.proof for c in several if c.proof is not None] for key, several in found.items()}
    assert any(p.lemmas[0].hypotheses == () for p in proofs["step", "hypothesis"])
    assert any(p.lemmas[0].steps[0].given == () for p in proofs["step", "hypothesis"])
    assert any(p.lemmas[0].steps[0].statement == Ge(i, 4) for p in proofs["step", "strictness"])
    assert any(p.steps[0].premises == () for p in proofs["step", "premise"])
    for (place, _), several in found.items():
        for changed in several:
            assert (changed.proof is None) == (place != "step")
            assert changed.uses == (("other",) if place == "step" else ())
            assert changed.proof != proof


def test_each_is_one_change_and_none_is_none() -> None:
    for change in changes(WEIGHT):
        new = change.make()
        if new is not None:
            same = (new.statement == WEIGHT.statement) + (new.domain == WEIGHT.domain) + (new.decoder == WEIGHT.decoder)
            assert same == 2, change.what


def test_what_sympy_decides_is_left_out() -> None:
    for claim in (Claim("c", Implies(j < i, j <= i), j < i), Claim("c", Lt(Score(2, i, j), 1), i < 2)):
        for changed in chain.from_iterable(made(claim).values()):
            assert changed.statement not in (True, False)
            assert changed.domain is not False


def picked(claim: Claim, most: int | None, seed: int = 0) -> list[Change]:
    return [change for change, _ in chosen(changes(claim), most, seed)]


def words(found: list[Change]) -> list[tuple[str, str, str]]:
    return [(change.place, change.kind, str(change.what)) for change in found]


def test_the_choice_is_the_same_each_time_and_another_with_another_seed() -> None:
    assert words(picked(WEIGHT, 8)) == words(picked(WEIGHT, 8))
    assert words(picked(WEIGHT, 8)) == words(picked(WEIGHT, None))[:8]
    assert words(picked(WEIGHT, 8)) != words(picked(WEIGHT, 8, seed=1))
    assert sorted(words(picked(WEIGHT, None))) == sorted(words(picked(WEIGHT, None, seed=1)))


def test_places_take_turns() -> None:
    claim = next(claim for claim in shipped() if claim.id == "kim2025.eq4")
    assert set(Counter(change.place for change in picked(claim, 4))) == set(PLACES)
    assert len({change.kind for change in picked(claim, 12) if change.place == "statement"}) >= 3


def test_every_kind_of_change_is_made_to_some_shipped_claim() -> None:
    found = {(c.place, c.kind) for claim in shipped() for c in picked(claim, AUDITED)}
    assert {kind for _, kind in found} == set(KINDS)
    assert {place for place, _ in found} == set(PLACES)
