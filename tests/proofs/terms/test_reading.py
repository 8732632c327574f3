"""The door: what is read means what is written, and what is not known is refused by name."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import pytest
import sympy
from sympy import (
    And,
    Derivative,
    Dummy,
    E,
    Eq,
    Float,
    I,
    Implies,
    Limit,
    Ne,
    Not,
    Or,
    Rational,
    Sum,
    Symbol,
    Wild,
    exp,
    log,
    oo,
    sqrt,
)

from maskproof.proofs.terms import terms as t
from maskproof.proofs.terms.reading import Unreadable, read_mask, read_model, read_statement, read_term, read_variable
from maskproof.proofs.terms.text import text
from maskproof.theory import symbols
from maskproof.theory.decoder import Alibi, Bidirectional, Causal, Decoder, Prefix, Rope, SlidingWindow, T5Bias
from maskproof.theory.errors import InvalidInput
from maskproof.theory.inputs import Equicorrelated, SharedGaussian, Sphere
from maskproof.theory.quantities import InputGram, Score, Weight
from maskproof.theory.symbols import alpha, beta, d, i, j, k, lam, m


class Lying:
    """Says that it equals anything."""

    def __eq__(self, other):
        return True

    def __ne__(self, other):
        return False

    def __hash__(self):
        return hash("l2")


class LyingName(str):
    """A name that says it equals any other."""

    __slots__ = ()
    __eq__ = Lying.__eq__  # type: ignore[arg-type]
    __ne__ = Lying.__ne__  # type: ignore[arg-type]
    __hash__ = Lying.__hash__  # type: ignore[arg-type]


class OtherSymbol(Symbol):
    """A symbol of a user."""


class OtherScore(Score):
    """A quantity of a user."""


def same_name(kind):
    """A subclass that has the name of its parent and other behaviour."""
    return dataclass(frozen=True)(type(kind.__name__, (kind,), {"visible": lambda self, i, n: (1, max(1, i - 1))}))


X = Equicorrelated(alpha)


@pytest.mark.parametrize(
    ("e", "expected"),
    [
        (alpha + 1, "alpha + 1"), (2 * alpha * beta, "2*alpha*beta"), (1 / alpha, "1/alpha"), (alpha**3, "alpha**3"),
        (sqrt(alpha), "sqrt(alpha)"), (alpha ** Rational(3, 2), "sqrt(alpha)**3"), (1 / sqrt(alpha), "1/sqrt(alpha)"),
        (exp(-alpha), "exp(-alpha)"), (E, "exp(1)"), (alpha**beta, "power(alpha, beta)"),
        (Sum(k, (k, 1, i)), "Sum(k, k=1..i)"), (Rational(2, 3), "2/3"), (log(alpha), "log(alpha)"),
        (Derivative(m**2, m), "Derivative(m**2, m)"), (Limit(1 / i, i, oo), "Limit(1/i, i -> oo)"),
        (InputGram(i, 2, X), "K[i,2]"), (Score(2, i, j, decoder=Decoder(), inputs=X), "S2[i,j]"),
        (Sum(i * k, (k, 1, j), (j, 1, i)), "Sum(Sum(i*k, k=1..j), j=1..i)"),
    ],
)  # fmt: skip
def test_terms(e, expected):
    assert text(read_term(e)) == expected


@pytest.mark.parametrize(
    ("s", "expected"),
    [
        (alpha < 1, "alpha < 1"), (alpha > 1, "1 < alpha"), (alpha <= 1, "alpha <= 1"), (alpha >= 1, "1 <= alpha"),
        (Eq(alpha, 1), "alpha = 1"), (Ne(alpha, 1), "alpha != 1"), (And(alpha < 1, beta > 0), None),
        (Implies(alpha < 1, beta > 0), "(alpha < 1) => (0 < beta)"), (Not(Implies(alpha < 1, beta > 0)), None),
        (Or(alpha < 1, beta > 2), None), (True, "true"), (False, "false"),
    ],
)  # fmt: skip
def test_statements(s, expected):
    read = read_statement(s)
    assert expected is None or text(read) == expected
    assert isinstance(read, t.Statement)


@pytest.mark.parametrize(
    ("assumptions", "sort"),
    [
        ({"real": True}, "REAL"), ({"positive": True}, "POSITIVE"), ({"nonnegative": True}, "NONNEGATIVE"),
        ({"integer": True}, "INTEGER"), ({"integer": True, "nonnegative": True}, "NATURAL"),
        ({"integer": True, "positive": True}, "POSITION"),
    ],
)  # fmt: skip
def test_symbols_have_sorts(assumptions, sort):
    assert read_variable(Symbol("x", **assumptions)) == t.Variable("x", t.Sort[sort])


@pytest.mark.parametrize(
    "assumptions",
    [{}, {"complex": True}, {"negative": True}, {"real": True, "nonzero": True}, {"even": True}, {"prime": True},
     {"integer": True, "negative": True}, {"extended_real": True}, {"commutative": False}, {"zero": True},
     {"irrational": True}, {"finite": True}],
)  # fmt: skip
def test_other_assumptions_are_refused(assumptions):
    with pytest.raises(Unreadable, match="its assumptions are known"):
        read_variable(Symbol("x", **assumptions))


@pytest.mark.parametrize(
    "symbol", [Dummy("alpha", real=True), OtherSymbol("alpha", real=True), Wild("alpha", real=True)]
)
def test_other_kinds_of_symbols_are_refused(symbol):
    with pytest.raises(Unreadable, match="violates"):
        read_term(symbol + 1)
    with pytest.raises(Unreadable, match="is a symbol"):
        read_variable(symbol)


@pytest.mark.parametrize(
    ("written", "value"),
    [(0.1, "1/10"), (0.1535206505060032, "0.1535206505060032"), (1e-7, "1/10000000"), (Float("0.1", 30), "1/10"),
     (Float(0.5), "1/2"), (2.0, "2"), (-0.3, "-3/10"), (1e300, "1" + "0" * 300)],
)  # fmt: skip
def test_a_float_is_the_shortest_decimal_that_prints_it(written, value):
    assert read_term(written) == t.Number(Fraction(value))
    assert read_term(alpha * written + beta) == read_term(Rational(Fraction(value)) * alpha + beta)


@pytest.mark.parametrize("e", [oo, -oo, sympy.nan, sympy.zoo, I, Float("inf"), Float("nan")])
def test_what_is_no_real_number_is_refused(e):
    with pytest.raises((Unreadable, InvalidInput)):
        read_term(e)


@pytest.mark.parametrize(
    ("e", "reason"),
    [
        (Sum(k, (k, 0, i)), "k >= 1 in its range"),
        (Sum(k, (k, -3, i)), "k >= 1 in its range"),
        (Sum(alpha, (lam, 1, i)), "an index is an integer"),
        (Sum(alpha, (Symbol("q"), 1, i)), "its assumptions are known"),
        (Sum(alpha, (Dummy("q", integer=True), 1, i)), "is a symbol"),
        (Sum(k, (k, 1, k + 1)), "no index occurs in its own range"),
        (Sum(k, (k, 1, j), (j, 1, k)), "no index occurs in its own range"),
        (Sum(k, (k, 1, oo)), "the range has two ends"),
        (Derivative(abs(m - 1), m), "smooth|in the language"),
        (Derivative(sympy.floor(m), m), "in the language"),
        (Derivative(m * i**2, i, evaluate=False), "smooth"),
        (Derivative(m**3, (m, 2), evaluate=False), "first derivative"),
        (Limit(1 / m, m, 0), "the limit is at infinity"),
        (Limit(m, m, -oo), "the limit is at infinity"),
        (sympy.Integral(m, (m, 0, 1)), "in the language"),
        (sympy.Function("f")(alpha), "in the language"),
        (sympy.floor(alpha), "in the language"),
        (sympy.hyper((1,), (2,), alpha), "2F1"),
        (alpha * I, "in the language"),
    ],
)
def test_what_has_no_meaning_is_refused(e, reason):
    with pytest.raises(Unreadable, match=reason):
        read_term(e)


def test_an_index_of_a_wider_sort_may_start_anywhere():
    q = Symbol("q", integer=True)
    assert text(read_term(Sum(q, (q, -i, i)))) == "Sum(q, q=-i..i)"


@pytest.mark.parametrize(
    "decoder",
    [
        Decoder(mask=same_name(Causal)()),
        Decoder(mask=same_name(SlidingWindow)(2)),
        same_name(Decoder)(),
        Decoder(norm=LyingName("rms")),  # type: ignore[arg-type]
        Decoder(norm=LyingName("l2")),  # type: ignore[arg-type]
        Decoder(scale=LyingName("sqrt(d)")),
        None,
        "decoder",
    ],
)
def test_only_models_of_this_package_are_read(decoder):
    with pytest.raises(InvalidInput):
        read_term(Score(2, i, j), decoder, X)


@pytest.mark.parametrize("inputs", [same_name(Equicorrelated)(alpha), same_name(Sphere)(d, 0), None, Lying()])
def test_only_laws_of_this_package_are_read(inputs):
    with pytest.raises(InvalidInput):
        read_term(Score(2, i, j), Decoder(), inputs)


@pytest.mark.parametrize(
    "model",
    [
        {"decoder": Decoder(mask=same_name(Causal)())}, {"decoder": same_name(Decoder)()},
        {"inputs": same_name(Equicorrelated)(alpha)}, {"decoder": Decoder(norm=LyingName("rms"))},  # type: ignore[arg-type]
    ],
)  # fmt: skip
def test_a_quantity_carries_no_other_model(model):
    """A record of a model keeps the name of a class only: another class of that name must not get in."""
    with pytest.raises(InvalidInput):
        read_term(Score(2, i, j, **{"decoder": Decoder(), "inputs": X, **model}))


def test_no_subclass_of_a_quantity_is_read():
    with pytest.raises(Unreadable, match="in the language"):
        read_term(OtherScore(2, i, j, decoder=Decoder(), inputs=X))
    with pytest.raises(Unreadable, match="is a statement"):
        read_statement(alpha)


def test_models_are_read_whole():
    model = read_model(Decoder(beta=beta, residual=lam, norm="layernorm", scale="sqrt(d)", mask=Prefix(3)), X)
    width, tokens = read_variable(d), read_variable(symbols.n)
    assert model == t.Model(
        "layernorm", t.Root(width), read_term(beta), read_term(lam), read_mask(Prefix(3)), None,
        t.Law("equicorrelated", read_term(alpha)), width, tokens,
    )  # fmt: skip
    assert read_model(Decoder(scale="d"), X).scale == width
    assert read_model(Decoder(), X).width is None
    assert read_model(Decoder(scale="d"), Sphere(16, 0)).scale == t.number(16)
    assert read_model(Decoder(), SharedGaussian(d, 0, unit=False)).law == t.Law("gaussian", t.ZERO, width, False)
    assert read_model(Decoder(position=Rope(500, 8)), X).position == t.Position("rope", (t.number(500),), size=8)
    biases = read_model(Decoder(position=T5Bias((1, 2), max_distance=4, later=(3, 4))), X).position
    assert biases == t.Position("t5", (t.number(1), t.number(2)), (t.number(3), t.number(4)), 4)
    assert read_model(Decoder(position=Alibi(alpha)), X).position == t.Position("alibi", (read_term(alpha),))
    assert read_model(Decoder(mask=Bidirectional()), X).tokens == tokens


def test_an_index_does_not_capture_the_model_of_the_claim():
    total = Sum(Weight(1, 3, k), (k, 1, 3))
    with pytest.raises(Unreadable, match="an index has no other meaning"):
        read_term(total, Decoder(beta=k), X)
    with pytest.raises(Unreadable, match="an index has no other meaning"):
        read_term(Sum(Weight(1, 3, d), (d, 1, 3)), Decoder(scale="d"), X)
    with pytest.raises(Unreadable, match="an index has no other meaning"):
        read_term(Limit(Weight(1, 3, 1), d, oo), Decoder(scale="d"), X)
    read_term(total, Decoder(), X)


def test_equivalence_and_choice_are_written_out():
    p, q, s = (alpha < 1, beta < 1, lam < 1)
    both = read_statement(sympy.Equivalent(p, q))
    assert set(both.statements) == {  # type: ignore[arg-type]
        t.Implies(read_statement(p), read_statement(q)), t.Implies(read_statement(q), read_statement(p))
    }  # fmt: skip
    choice = read_statement(sympy.ITE(p, q, s))
    assert choice == t.And((
        t.Or((read_statement(p), t.Not(read_statement(p)))),  # without a value where the condition has none
        t.Implies(read_statement(p), read_statement(q)), t.Implies(t.Not(read_statement(p)), read_statement(s))
    ))  # fmt: skip
