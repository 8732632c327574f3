"""When a term has a value: the list of conditions, kind by kind."""

from __future__ import annotations

import pytest
from sympy import Rational

from maskproof.proofs.terms import terms as t
from maskproof.proofs.terms.conditions import Range, conditions, obvious, undefined_parts
from maskproof.proofs.terms.reading import read_term, read_variable
from maskproof.proofs.terms.text import text
from maskproof.theory import symbols
from maskproof.theory.decoder import Alibi, Bidirectional, Decoder, Prefix, Rope, SlidingWindow
from maskproof.theory.inputs import Equicorrelated
from maskproof.theory.quantities import Gram, InputGram, Mix, Score, Weight

alpha, beta, lam, i, j, d, n = (
    read_variable(s) for s in (symbols.alpha, symbols.beta, symbols.lam, symbols.i, symbols.j, symbols.d, symbols.n)
)
x, y = t.Variable("x", t.Sort.REAL), t.Variable("y", t.Sort.REAL)
z, k = t.Variable("z", t.Sort.INTEGER), t.Variable("k", t.Sort.INTEGER)


def needed(term):
    return {text(c.statement) for c in conditions(term)}


def entry(kind=Score, layer=2, query=symbols.i, key=symbols.j, inputs=None, **model):
    law = Equicorrelated(symbols.alpha) if inputs is None else inputs
    return read_term(kind(layer, query, key, decoder=Decoder(**model), inputs=law))


@pytest.mark.parametrize(
    ("term", "expected"),
    [
        (t.Power(x, -2), {"x != 0"}),
        (t.Power(x, 2), set()),
        (t.Power(x, 0), set()),
        (t.Power(t.number(2), -1), set()),
        (t.Power(t.ZERO, -1), {"0 != 0"}),
        (t.Root(x), {"0 <= x"}),
        (t.Root(beta), set()),
        (t.Root(t.number(2)), set()),
        (t.Root(t.number(-2)), {"0 <= -2"}),
        (t.Exp(t.Power(x, -1)), {"x != 0"}),
        (t.Root(t.Power(x, -1)), {"x != 0", "0 <= 1/x"}),
        (t.Add((t.Power(x, -1), t.Power(y, -1))), {"x != 0", "y != 0"}),
        (t.Sum(x, k, t.ONE, i), {"1 <= i + 1"}),
        (t.Sum(x, k, z, i), {"z <= i + 1"}),
        (t.Sum(x, k, t.ONE, y), {"y is an integer", "1 <= y + 1"}),
        (t.Sum(x, j, z, i), {"z <= i + 1", "1 <= z"}),  # the index is a position
        (t.Product(t.Power(x, -1), k, t.ONE, i), {"1 <= i + 1", "x != 0"}),
        (t.Sum(x, k, t.ONE, t.Sum(t.Power(i, -1), j, t.ONE, i)),
         {"i != 0", "Sum(1/i, j=1..i) is an integer", "1 <= Sum(1/i, j=1..i) + 1"}),
        (t.Derivative(t.Root(x), x), {"0 <= x", "sqrt(x) != 0"}),
        (t.Derivative(t.Power(x, 3), x), set()),
        (t.Limit(t.Power(x, -1), x), {"Limit(1/x, x -> oo) exists"}),
        (t.Apply("log", (x,)), {"0 < x"}),
        (t.Apply("power", (x, i)), {"(x != 0) or (0 <= i)"}),
        (t.Apply("power", (x, y)), {"(0 < x) or (x = 0) and (0 < y)"}),
        (t.Apply("gamma", (x,)), {"0 < x"}),
        (t.Apply("factorial", (z,)), {"0 <= z"}),
        (t.Apply("binomial", (i, j)), {"0 <= j", "j <= i"}),
        (t.Cases((t.Case(t.TRUE, t.Power(x, -1)),)), set()),
    ],
)  # fmt: skip
def test_conditions_of_terms(term, expected):
    obvious_here = {"1 <= i + 1", "0 <= j"}  # not seen to hold at first sight, or seen: both are right
    assert needed(term) - obvious_here == expected - obvious_here


def exist(count, layer=2, alpha="alpha"):
    given = f"vectors with cosine {alpha} exist for {count} tokens"
    return given if layer == 1 else f"{given} and none vanishes before layer {layer}"


@pytest.mark.parametrize(
    ("term", "expected"),
    [
        (entry(), {"j <= i", exist("i"), exist("j")}),
        (entry(Weight), {exist("i"), exist("j")}),  # weights of hidden keys are zero
        (entry(Gram), {exist("i"), exist("j")}),
        (entry(Mix, 1), {exist("i", 1), exist("j", 1)}),
        (entry(query=symbols.i - 3), {"1 <= i - 3", "j <= i - 3", exist("i - 3"), exist("j")}),
        (entry(Gram, key=symbols.i / 2 + Rational(1, 2)),
         {"i/2 + 1/2 is an integer", "1 <= i/2 + 1/2", exist("i"), exist("i/2 + 1/2")}),
        (entry(mask=SlidingWindow(3)), {"j <= i", "i - 3 < j", exist("i"), exist("j")}),
        (entry(mask=Bidirectional()), {"i <= n", "j <= n", exist("n")}),
        (entry(mask=Prefix(2)), {"(j <= 2) or (j <= i)", "i <= n", "j <= n", "2 <= n", exist("n")}),
        (entry(beta=symbols.alpha), {"0 <= alpha", "j <= i", exist("i"), exist("j")}),
        (entry(residual=symbols.alpha), {"0 <= alpha", "j <= i", exist("i"), exist("j")}),
        (entry(scale=symbols.alpha), {"0 < alpha", "j <= i", exist("i"), exist("j")}),
        (entry(norm="layernorm"), {"2 <= d", "j <= i", exist("i"), exist("j")}),
        (entry(beta=1 / symbols.lam), {"lam != 0", "0 <= 1/lam", "j <= i", exist("i"), exist("j")}),
        (entry(position=Alibi(symbols.alpha)), {"0 <= alpha", "j <= i", exist("i"), exist("j")}),
        (entry(position=Rope(symbols.alpha, 4)), {"1 < alpha", "j <= i", exist("i"), exist("j")}),
        (entry(position=Alibi(1 / symbols.lam)), {"lam != 0", "0 <= 1/lam", "j <= i", exist("i"), exist("j")}),
        (entry(inputs=Equicorrelated(1 / (1 + symbols.lam))),
         {"lam + 1 != 0", "j <= i", exist("i", alpha="1/(lam + 1)"), exist("j", alpha="1/(lam + 1)")}),
        (read_term(InputGram(symbols.i, symbols.j - 1, Equicorrelated(symbols.alpha))),
         {"1 <= j - 1", exist("i", 1), exist("j - 1", 1)}),
    ],
)  # fmt: skip
def test_conditions_of_quantities(term, expected):
    assert needed(term) - {"0 < sqrt(d)", "0 < d"} == expected


def test_a_scale_that_depends_on_the_width_is_positive_for_a_width():
    assert "0 < sqrt(d)" in needed(entry(scale="sqrt(d)"))
    assert "2 <= d" not in needed(entry(scale="sqrt(d)"))  # only centring needs two coordinates


def test_conditions_of_what_is_bound_hold_for_all_values_of_the_index():
    inner = t.Sum(t.Power(t.plus(k, z), -1), z, t.ONE, k)
    (found,) = [c for c in conditions(t.Sum(inner, k, t.ONE, i)) if c.statement == t.unequal(t.plus(k, z), t.ZERO)]
    assert found.ranges == (Range(k, t.ONE, i), Range(z, t.ONE, k))
    assert found.part == t.Power(t.plus(k, z), -1)


def test_each_condition_is_listed_once():
    term = t.plus(t.Power(x, -1), t.Power(x, -1), t.Power(x, -2))
    assert len(conditions(t.plus(t.Power(x, -1), t.Power(x, -1)))) == 1
    assert {c.part for c in conditions(term)} == {t.Power(x, -1), t.Power(x, -2)}


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        (t.less(t.ZERO, t.ONE), True), (t.less(t.ONE, t.ONE), False), (t.at_most(t.ONE, t.ONE), True),
        (t.equal(t.ONE, t.ONE), True), (t.equal(t.ONE, t.ZERO), False), (t.unequal(t.ONE, t.ZERO), True),
        (t.unequal(t.ONE, t.ONE), False), (t.at_most(t.ONE, i), True), (t.at_most(t.number(2), i), False),
        (t.at_most(t.ZERO, beta), True), (t.at_most(t.ONE, beta), False), (t.at_most(t.ZERO, x), False),
        (t.at_most(t.number(-5), x), False), (t.at_most(x, x), True), (t.less(x, x), False), (t.less(t.ZERO, i), False),
        (t.Or((t.less(t.ZERO, t.ONE),)), False),
    ],
)  # fmt: skip
def test_what_is_obvious(statement, expected):
    assert obvious(statement) is expected


def test_parts_of_connected_relations_are_found():
    statement = t.Or((t.less(t.Power(x, -1), y), t.Not(t.less(x, t.Root(y)))))
    assert {text(c.statement) for c in undefined_parts(statement)} == {"x != 0", "0 <= y"}
