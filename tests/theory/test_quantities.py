"""Quantities: how they print, what they carry, what they refuse."""

from __future__ import annotations

import pickle

import pytest
import sympy
from sympy import Eq, Lt, latex, oo

from maskproof.theory import (
    Correction,
    Decoder,
    Equicorrelated,
    Gram,
    Score,
    SharedGaussian,
    SlidingWindow,
    Sphere,
    Weight,
    alpha,
    beta,
    d,
    i,
    j,
    lam,
)
from maskproof.theory.errors import InvalidInput
from maskproof.theory.quantities import Record, bind, quantities_of, told_apart


def test_print():
    assert latex(Score(2, i, j)) == "S^{(2)}_{ij}"
    assert latex(Weight(1, i, j + 1)) == "A^{(1)}_{i,j + 1}"
    assert latex(Gram(3, i, i) ** 2) == r"\left(G^{(3)}_{ii}\right)^{2}"
    assert str(Score(2, i, j)) == "S2[i,j]"


@pytest.mark.parametrize(
    "make", [lambda: Score(0, i, j), lambda: Score(sympy.Rational(3, 2), i, j), lambda: Gram(1, 0, 1),
             lambda: Score(1, sympy.Rational(1, 2), 1), lambda: Score(alpha, i, j), lambda: Score(-1, i, j)]
)  # fmt: skip
def test_no_such_layer_or_position(make):
    with pytest.raises(InvalidInput):
        make()


def test_substitution_reaches_the_model():
    quantity = Score(2, i, j, decoder=Decoder(beta=beta, residual=lam), inputs=Equicorrelated(alpha))
    assert quantity.free_symbols == {i, j, alpha, beta, lam}
    at = quantity.subs({beta: 2, alpha: sympy.Rational(1, 3)})
    assert at.decoder == Decoder(beta=2, residual=lam)
    assert at.inputs == Equicorrelated(sympy.Rational(1, 3))


def test_binding_fills_in_what_is_missing_only():
    own = Score(2, i, j, decoder=Decoder(residual=0))
    bound = bind(Lt(own, Score(2, i, j)), Decoder(beta=3), Sphere(8))
    left, right = bound.args
    assert left.decoder == Decoder(residual=0)
    assert right.decoder == Decoder(beta=3)
    assert left.inputs == right.inputs == Sphere(8)


@pytest.mark.parametrize(
    "value", [Decoder(mask=SlidingWindow(3), scale="d"), Equicorrelated(0.2), Sphere(8, 0.5), None]
)
def test_records_keep_their_value(value):
    assert Record.read(Record.of(value)) == value


def test_quantities_survive_a_process_boundary():
    quantity = Score(2, i, j, decoder=Decoder(beta=beta), inputs=Equicorrelated(0))
    assert pickle.loads(pickle.dumps(quantity)) == quantity


def test_models_are_told_apart_only_where_there_are_several():
    one = Eq(Score(2, i, j), Score(2, i, j + 1))
    assert told_apart(one)[0] == one
    two, models = told_apart(Lt(Score(2, i, j), Score(2, i, j, decoder=Decoder(residual=0))))
    assert len(models) == 2
    assert "model 1" in str(two)
    assert "model 2" in str(two)
    assert sympy.Limit(Score(2, i, j), i, oo).has(Score)


def test_a_correction_takes_the_claims_model():
    claimed = Lt(Correction(Score(2, i, j)), Score(2, i, j, inputs=Equicorrelated(0)))
    left, right = bind(claimed, Decoder(beta=beta), Sphere(d, alpha)).args
    assert left.quantity.decoder == Decoder(beta=beta)
    assert left.quantity.inputs == Sphere(d, alpha)
    assert right.inputs == Equicorrelated(0)
    own = Correction(Score(2, i, j, inputs=SharedGaussian(d, alpha)))
    assert bind(own, Decoder(), Sphere(d, alpha)).quantity.inputs == SharedGaussian(d, alpha)


def test_the_width_of_a_correction_is_bound():
    bound = Correction(Score(2, i, j, decoder=Decoder(), inputs=Sphere(d, alpha)))
    assert bound.free_symbols == {i, j, alpha}
    assert bound.subs(d, 1) == bound.xreplace({d: sympy.Integer(1)}) == bound
    assert Correction(Score(2, i, j, inputs=SharedGaussian(8, alpha, unit=False))).quantity.inputs == SharedGaussian(
        d, alpha, unit=False
    )
    assert bound.subs(alpha, 0) == Correction(Score(2, i, j, decoder=Decoder(), inputs=Sphere(d, 0)))
    both = bound + d
    assert both.subs(d, 3) == bound + 3
    assert both.free_symbols == {d, i, j, alpha}
    assert pickle.loads(pickle.dumps(bound)) == bound


@pytest.mark.parametrize(
    "make",
    [
        lambda: Correction(alpha),
        lambda: Correction(Correction(Score(2, i, j))),
        lambda: Correction(2 * Score(2, i, j)),
        lambda: Correction(Score(2, i, j, inputs=Equicorrelated(0))),
        lambda: bind(Correction(Score(2, i, j)), Decoder(), Equicorrelated(0)),
        lambda: Correction(Score(2, d, j)),
        lambda: Correction(Score(2, i, j, decoder=Decoder(beta=d))),
        lambda: Correction(Score(2, i, j, decoder=Decoder(scale="sqrt(d)"))),
        lambda: Correction(Score(2, i, j, decoder=Decoder(norm="layernorm"))),
        lambda: Correction(Score(2, i, j, inputs=Sphere(d, 1 / (1 + d)))),
        lambda: Correction(Score(2, i, j, inputs=Sphere(d, alpha))).subs(alpha, 1 / (1 + d)),
        lambda: Correction(Score(2, i, j)).subs(i, d + 1),
    ],
)
def test_no_such_correction(make):
    with pytest.raises(InvalidInput):
        make()


def test_a_subclass_is_no_quantity_of_ours():
    class Disguised(Score):
        pass

    with pytest.raises(InvalidInput):
        Correction(Disguised(2, i, j))


def test_what_a_statement_depends_on_is_not_what_stands_in_a_correction():
    inside, outside = Score(2, i, j), Weight(1, i, j)
    assert quantities_of(Lt(Correction(inside), outside)) == {outside}
    assert quantities_of(Lt(Correction(inside), inside)) == {inside}


def test_corrections_of_several_models_are_told_apart():
    one, two = Correction(Score(2, i, j, inputs=Sphere(d, 0))), Correction(Score(2, i, j, inputs=Sphere(d, alpha)))
    shown, models = told_apart(Lt(one, two))
    assert len(models) == 2
    assert str(shown) == "[1/d]E(S2[i,j])(model 1) < [1/d]E(S2[i,j])(model 2)"
