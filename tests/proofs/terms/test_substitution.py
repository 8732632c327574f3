"""Trees: equality, what is free, substitution without capture."""

from __future__ import annotations

from fractions import Fraction

import pytest
from sympy import Sum

from maskproof.proofs.terms import terms as t
from maskproof.proofs.terms.reading import read_term, read_variable
from maskproof.theory import symbols
from maskproof.theory.decoder import Alibi, Bidirectional, Decoder
from maskproof.theory.inputs import Equicorrelated
from maskproof.theory.quantities import Score

a, b, i, j, k, x = (read_variable(s) for s in (symbols.alpha, symbols.beta, symbols.i, symbols.j, symbols.k, symbols.m))
d, n = read_variable(symbols.d), read_variable(symbols.n)


def entry(**model):
    return read_term(Score(2, symbols.i, symbols.j, decoder=Decoder(**model), inputs=Equicorrelated(symbols.alpha)))


def test_equality_is_by_structure():
    assert t.plus(a, b) == t.plus(a, b)
    assert t.plus(a, b) != t.plus(b, a)
    assert t.Sum(k, k, t.ONE, i) != t.Product(k, k, t.ONE, i)
    assert t.Variable("a", t.Sort.REAL) != t.Variable("a", t.Sort.POSITIVE)
    assert t.Relation("<", a, b) != t.Relation("<=", a, b)
    assert entry() == entry()
    assert entry() != entry(beta=2)


def test_a_quantity_depends_on_all_that_its_model_depends_on():
    assert entry().free == {i, j, a}
    assert entry(beta=symbols.beta, residual=symbols.m).free == {i, j, a, b, x}
    assert entry(scale="d").free == {i, j, a, d}
    assert entry(norm="layernorm").free == {i, j, a, d}
    assert entry(mask=Bidirectional()).free == {i, j, a, n}
    assert entry(position=Alibi(symbols.m)).free == {i, j, a, x}
    four, nine = (t.substitute(entry(scale="d"), {d: t.number(width)}) for width in (4, 9))
    assert four != nine


def test_bound_variables_are_not_free():
    assert t.Sum(t.plus(k, a), k, j, i).free == {a, i, j}
    assert t.Limit(t.over(a, i), i).free == {a}
    assert t.Derivative(t.times(a, x), x).free == {a, x}


def test_values_are_put_in_all_at_once():
    assert t.substitute(t.plus(a, b), {a: b, b: a}) == t.plus(b, a)
    assert t.substitute(t.Sum(t.times(a, k), k, t.ONE, i), {i: j, a: b}) == t.Sum(t.times(b, k), k, t.ONE, j)
    assert t.substitute(t.Sum(k, k, t.ONE, i), {k: a}) == t.Sum(k, k, t.ONE, i)


@pytest.mark.parametrize(
    ("tree", "values"),
    [
        (t.Sum(t.times(a, k), k, t.ONE, i), {a: k}),
        (t.Sum(t.times(a, k), k, t.ONE, i), {i: t.plus(k, t.ONE)}),
        (t.Limit(t.over(a, i), i), {a: i}),
        (t.Derivative(t.times(a, x), x), {a: x}),
        (t.Derivative(t.times(a, x), x), {x: t.ONE}),
        (t.Sum(t.Sum(t.times(a, k), j, t.ONE, k), k, t.ONE, i), {a: t.plus(j, b)}),
        (t.less(t.ZERO, t.Product(t.plus(a, k), k, t.ONE, i)), {a: k}),
        (t.Sum(t.times(a, b, k), k, t.ONE, i), {a: k, b: t.ONE}),
    ],
)
def test_nothing_is_captured(tree, values):
    with pytest.raises(t.Capture):
        t.substitute(tree, values)


def test_capture_reaches_into_models():
    total = read_term(Sum(Score(2, symbols.i, symbols.k, decoder=Decoder(beta=symbols.beta), inputs=Equicorrelated(0)),
                          (symbols.k, 1, symbols.i)))  # fmt: skip
    with pytest.raises(t.Capture):
        t.substitute(total, {b: k})


def test_a_fresh_name_is_nowhere():
    new = t.fresh(k, t.Sum(k, k, t.ONE, i), t.Variable("k'", t.Sort.REAL))
    assert new.name == "k''"
    assert new.sort is k.sort
    assert t.fresh(k, t.plus(i, j)) == k


def test_terms_are_replaced_outermost_first_and_not_under_binders():
    table = {t.plus(a, b): t.ONE, a: b}
    assert t.replaced(t.times(t.plus(a, b), a), table) == t.times(t.ONE, b)
    for bound in (t.Sum(a, k, t.ONE, i), t.Limit(a, i), t.Derivative(a, x), entry()):
        assert t.replaced(t.times(bound, a), table) == t.times(bound, b)


@pytest.mark.parametrize(
    ("e", "expected"),
    [
        (t.number(2), True), (t.Number(Fraction(1, 2)), False), (a, False), (x, False), (i, True),
        (t.plus(i, t.number(-3)), True), (t.plus(i, a), False), (t.Power(i, 2), True), (t.Power(i, -1), False),
        (t.Power(a, 2), False),
        (t.Power(i, 0), True), (t.Root(i), False), (t.Exp(i), False), (t.Sum(t.times(i, k), k, t.ONE, i), True),
        (t.Sum(t.over(i, k), k, t.ONE, i), False), (t.Apply("floor", (a,)), True), (t.Apply("max", (i, j)), True),
        (t.Apply("max", (i, a)), False), (t.Apply("log", (i,)), False), (t.times(i, t.Number(Fraction(1, 2))), False),
    ],
)  # fmt: skip
def test_integers_by_the_way_they_are_written(e, expected):
    assert t.is_integral(e) is expected


def test_conjuncts_are_flat():
    p, q = t.less(a, b), t.less(b, a)
    assert t.conjuncts(t.And((p, t.And((q, p))))) == (p, q, p)
    assert t.conjuncts(t.Implies(p, q)) == (t.Implies(p, q),)
    assert t.conjuncts(t.TRUE) == ()
