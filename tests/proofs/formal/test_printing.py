"""The translation of terms and statements, and what is written for steps; no Coq is needed."""

from __future__ import annotations

from fractions import Fraction

import pytest
from sympy import Derivative, Limit, Sum, exp, oo, sqrt

from maskproof.proofs.engines.derivations import read
from maskproof.proofs.formal.checking import allowed, assumptions, forbidden, requirements
from maskproof.proofs.formal.export import export
from maskproof.proofs.formal.files import Library
from maskproof.proofs.formal.signs import shifted
from maskproof.proofs.formal.text import Unprintable, natural, proposition, real
from maskproof.proofs.formal.values import values_of
from maskproof.proofs.kernel.algebra import identical
from maskproof.proofs.kernel.signs import Facts
from maskproof.proofs.terms import terms as t
from maskproof.proofs.terms.reading import read_statement, read_term
from maskproof.theory.decoder import Bidirectional, Blocks, Decoder, Dilated, Mask, Prefix, SlidingWindow
from maskproof.theory.inputs import Equicorrelated, Sphere
from maskproof.theory.quantities import Gram, Score, Weight
from maskproof.theory.symbols import alpha, beta, d, i, j, k, lam, m
from maskproof.theory.topics import TOPICS

L2 = {"decoder": Decoder(beta=beta, residual=lam), "inputs": Equicorrelated(alpha)}


def test_a_position_becomes_a_real_number_where_it_is_one() -> None:
    assert real(read_term(i + alpha)) in ("(alpha + (INR i))", "((INR i) + alpha)")


@pytest.mark.parametrize(
    ("expression", "written"),
    [(i, "i"), (i + 1, "(i + 1)%nat"), (i - 1, "(i - 1)%nat"), (1 + j - 1, "j"), (2 * i + j, "(2 * i + j)%nat")],
)
def test_a_position_has_one_form(expression: object, written: str) -> None:
    assert natural(read_term(expression)) == written


def test_what_is_no_position_is_refused() -> None:
    with pytest.raises(Unprintable, match="no position"):
        natural(read_term(i * j))


def test_relations_between_integers_stand_in_z() -> None:
    assert proposition(read_statement(j < i - 1)) == "(Z.of_nat j < ((-1) + Z.of_nat i))%Z"
    assert proposition(read_statement(alpha < i)) == "(alpha < INR i)"


def test_a_quantity_carries_its_decoder() -> None:
    decoder = "(Decoder L2 1 beta lam Causal) (equicorrelated alpha)"
    assert real(read_term(Score(2, i, j + 1, **L2))) == f"Score {decoder} 2 i (j + 1)%nat"
    norm = Decoder(beta=beta, residual=lam, norm="layernorm", scale="sqrt(d)", mask=SlidingWindow(3))
    written = real(read_term(Weight(1, i, j, decoder=norm, inputs=Equicorrelated(alpha))))
    assert written.startswith("Weight (Decoder (LayerNorm d) (sqrt (INR d)) beta lam (SlidingWindow 3))")


@pytest.mark.parametrize("mask", [Dilated(2, 2), Dilated(3, 1), Blocks(2), Prefix(2), Bidirectional()])
def test_masks_that_the_library_does_not_have_are_not_printed(mask: Mask) -> None:
    with pytest.raises(Unprintable, match="in the library"):
        real(read_term(Weight(1, i, j, decoder=Decoder(mask=mask), inputs=Equicorrelated(alpha))))


def test_expectations_over_random_inputs_are_not_in_the_library() -> None:
    with pytest.raises(Unprintable, match="random inputs"):
        real(read_term(Score(1, i, j, decoder=Decoder(), inputs=Sphere(alpha=alpha, d=d))))


def test_a_double_sum_keeps_its_order() -> None:
    written = real(read_term(Sum(alpha, (k, 1, i), (j, 1, i))))
    assert written == "sum (fun j : nat => sum (fun k : nat => alpha) i) i"


def test_a_sum_from_elsewhere_is_refused() -> None:
    with pytest.raises(Unprintable, match="start at 1"):
        real(read_term(Sum(alpha, (k, 2, i))))


def test_a_limit_and_a_derivative_say_that_they_exist() -> None:
    limit = proposition(read_statement(t_equal(Limit(1 / i, i, oo), 0)))
    assert limit.startswith("is_lim_seq (fun i : nat => ")
    slope = proposition(read_statement(Derivative(m**2, m) < 1))
    assert slope.startswith("(ex_derive (fun m : R => (m ^ 2)) m /\\ ")


def t_equal(left: object, right: object) -> object:
    from sympy import Eq

    return Eq(left, right, evaluate=False)


def test_fractions_roots_and_exponentials() -> None:
    assert real(t.Number(Fraction(-1, 2))) == "(-1 / 2)"
    assert real(read_term(exp(-beta) / sqrt(1 + alpha))).count("exp") == 1


def test_a_certificate_is_the_same_function_without_negative_coefficients() -> None:
    r, x = t.Variable("r", t.Sort.POSITIVE), t.Variable("i", t.Sort.POSITION)
    e = t.plus(r, x, t.number(-1))
    facts = Facts.of(())
    path = facts.shift(e, True)
    assert path is not None
    top, bottom = shifted(e, path)
    assert identical(e, t.over(top, bottom))
    assert all(step.strict == (step.generator == r) for step in path)


def test_conditions_of_a_line_are_listed() -> None:
    texts = [value.text for value in values_of(read_statement(t_equal(Gram(1, i, j, **L2), 1 / (i - alpha))))]
    assert any("<> 0" in text for text in texts)
    assert any(text.startswith("have_directions") for text in texts)


@pytest.mark.parametrize("name", sorted(TOPICS))
def test_every_step_is_written(name: str) -> None:
    library = Library()
    library.add(read(TOPICS[name]))
    for file in library.files.values():
        assert [s.label for s in file.sentences] == [step.label for step in file.derivation.steps]
        assert [(s.label, s.reason, s.without) for s in file.sentences if s.reason or s.without] == []
        assert "Admitted" not in file.text
        assert requirements(file.text) == ["Rules", *file.imports]


def test_the_same_derivation_is_written_once() -> None:
    written = export((), [TOPICS["norms"], TOPICS["score-two"]])
    assert sorted(written.library.files) == ["layer_one", "norms", "score_two"]


def test_only_listed_axioms_are_allowed() -> None:
    output = "Axioms:\nClassicalDedekindReals.sig_not_dec : forall P\n  : x\nMine.false : False\n"
    assert assumptions(output) == ("ClassicalDedekindReals.sig_not_dec", "Mine.false")
    assert list(map(allowed, assumptions(output))) == [True, False]
    assert assumptions("Closed under the global context\n") == ()


@pytest.mark.parametrize("word", ["Admitted.", "admit.", "Axiom a : False.", "Parameter b : nat."])
def test_what_assumes_something_is_seen(word: str) -> None:
    assert forbidden(f"Lemma a : 1 = 1. (* fine *) {word}")
    assert not forbidden(f"(* {word} (* nested *) {word} *)")
