"""The independent evaluator and its literal attention against numbers known from elsewhere."""

from __future__ import annotations

from fractions import Fraction

import pytest
import sympy
from mpmath import mp, mpf
from sympy import (
    Abs,
    And,
    Derivative,
    Eq,
    Gt,
    Implies,
    Limit,
    Lt,
    Max,
    Ne,
    Not,
    Or,
    Piecewise,
    Product,
    Rational,
    Sum,
    exp,
    log,
    oo,
    sqrt,
)

from maskproof.theory import (
    Alibi,
    Bidirectional,
    Claim,
    Decoder,
    Equicorrelated,
    Gram,
    Mix,
    Prefix,
    Rope,
    Score,
    SlidingWindow,
    T5Bias,
    Weight,
    alpha,
    beta,
    d,
    i,
    j,
    k,
    lam,
    m,
    n,
)
from maskproof.theory.position import bucket as exact_bucket
from maskproof.theory.quantities import InputGram
from tests.differential.attention import real
from tests.differential.evaluator import Outside, bucket, domain_at, statement_at, value_at


def value(expression, decoder=None, inputs=None, **point):
    claim = Claim("mine", Eq(i, i, evaluate=False), True, decoder or Decoder(), inputs or Equicorrelated(0))
    return value_at(expression, claim, _point(point))


def off(found, known):
    """How far a value lies from a known number."""
    assert found is not None
    return abs(real(found) - known)


def _point(values):
    symbols = {s.name: s for s in (i, j, k, n, d, alpha, beta, lam, m)}
    return {symbols[name]: Fraction(v) for name, v in values.items()}


def truth(statement, domain=True, **point):
    return statement_at(Claim("mine", statement, domain, inputs=Equicorrelated(0)), _point(point))


PRINTED = (  # numbers that the papers, or closed forms, give
    (Score(2, 2, 1), {}, {}, "0.153520650506003146"),
    (Score(3, 4, 4), {}, {}, "1"),
    (Weight(1, 3, 1), {}, {}, 1 / (mp.e + 2)),
    (Weight(1, 3, 3), {}, {}, mp.e / (mp.e + 2)),
    (Weight(1, 3, 1), {"decoder": Decoder(beta=0)}, {}, "0.333333333333333333"),
    (Score(1, 2, 1), {"inputs": Equicorrelated(Rational(1, 5)), "decoder": Decoder(scale=2)}, {}, "0.1"),
    (Score(1, 2, 1), {"inputs": Equicorrelated(Rational(1, 5)), "decoder": Decoder(norm="layernorm", scale="sqrt(d)")},
     {"d": 16}, "0.8"),
    (Score(1, 3, 1), {"inputs": Equicorrelated(Rational(1, 2)), "decoder": Decoder(position=Rope(10, 2))}, {},
     mp.cos(2) / 2),
    (Gram(1, 1, 1), {"decoder": Decoder(residual=Rational(1, 2))}, {}, "2.25"),
    (Mix(1, 2, 2), {"decoder": Decoder(residual=3)}, {}, 3 + mp.e / (mp.e + 1)),
)  # fmt: skip


@pytest.mark.parametrize(("expression", "model", "point", "known"), PRINTED)
def test_quantities(expression, model, point, known):
    found = value(expression, **model, **point)
    assert off(found, mpf(known)) < 1e-14


def test_positions_bias_the_softmax():
    assert off(value(Weight(1, 2, 1), Decoder(beta=0, position=Alibi(1))), 1 / (mp.e + 1)) < 1e-14
    T5 = T5Bias((0, log(2)), later=(0, log(3)))
    assert off(value(Weight(1, 2, 1), Decoder(beta=0, position=T5)), mpf(2) / 3) < 1e-14
    both_ways = Decoder(beta=0, position=T5, mask=Bidirectional())
    assert off(value(Weight(1, 1, 2), both_ways, n=2), mpf(3) / 4) < 1e-14
    for buckets, furthest in ((2, 3), (4, 8), (5, 128), (8, 32)):
        for distance in range(140):
            assert bucket(distance, buckets, furthest) == exact_bucket(distance, buckets, furthest)


def test_what_has_no_value():
    assert value(Score(1, i, j), i=2, j=3) is None
    assert value(Weight(1, i, j), i=2, j=3) == 0
    assert value(Mix(1, i, j), i=2, j=3) == 0
    assert value(Score(1, i, j), Decoder(mask=SlidingWindow(1)), i=2, j=1) is None
    assert value(Score(1, i, j), Decoder(mask=Prefix(3)), i=1, j=3, n=3) == 0
    assert value(Score(1, i, j), Decoder(mask=Prefix(3)), i=1, j=2, n=2) is None
    assert value(Score(1, i, j), Decoder(mask=Bidirectional()), i=1, j=3) is None
    for place in (j - 5, j / 2):
        assert value(InputGram(i, place, Equicorrelated(0)), i=3, j=1) is None
    vanishing = {"decoder": Decoder(beta=0, residual=0), "inputs": Equicorrelated(-1)}
    assert value(Weight(2, 2, 1), **vanishing) is None
    assert value(Gram(1, 2, 2), **vanishing) == 0
    assert value(Gram(1, 3, 2), **vanishing) is None  # three such vectors do not exist
    assert value(1 / (alpha - 1), alpha=1) is None
    assert value(sqrt(alpha), alpha=-1) is None
    assert value(log(alpha), alpha=0) is None
    assert value(Sum(k, (k, j, i)), i=1, j=3) is None
    assert value(Sum(k, (k, j, i)), i=1, j=2) == 0
    assert value(Sum(k, (k, 0, i)), i=2) is None  # k counts from one
    free = sympy.Symbol("q", integer=True)
    assert value(Sum(Abs(free), (free, -i, i)), i=3) == 12
    assert value(Product(free, (free, 2, i)), i=4) == 24
    assert value(Max(1 / alpha, 2), alpha=0) is None
    assert value(Piecewise((1, 1 / alpha > 1), (2, True)), alpha=0) is None


def test_inputs_that_do_not_exist():
    claim = Claim("mine", Lt(Score(1, 3, 1), 0))
    with pytest.raises(Outside):
        statement_at(claim, _point({"alpha": Fraction(-9, 10)}))
    assert statement_at(claim, _point({"alpha": Fraction(-2, 5)})) is True
    literal = Claim("mine", Lt(Score(1, 3, 1), 0), alpha < 0)
    assert statement_at(literal, _point({"alpha": Fraction(-9, 10)})) is None
    assert statement_at(literal, _point({"alpha": Fraction(-1, 2)})) is True  # dependent, but they exist


UNKNOWN, TRUE, FALSE = Lt(log(alpha), 0), Lt(alpha, 0), Gt(alpha, 0)  # at alpha = -1


@pytest.mark.parametrize(
    ("statement", "known"),
    [
        (UNKNOWN, None), (And(UNKNOWN, FALSE), False), (And(UNKNOWN, TRUE), None), (Or(UNKNOWN, TRUE), True),
        (Or(UNKNOWN, FALSE), None), (Not(UNKNOWN), None), (Implies(UNKNOWN, TRUE), True),
        (Implies(FALSE, UNKNOWN), True),
        (Implies(UNKNOWN, FALSE), None), (Implies(TRUE, UNKNOWN), None), (Ne(log(alpha), 3), None),
    ],
)  # fmt: skip
def test_three_values(statement, known):
    assert truth(statement, alpha=-1) is known
    assert domain_at(Claim("mine", Eq(i, 1), statement), _point({"alpha": -1})) is known


def test_derivatives():
    Z = Sum(exp(beta * k), (k, 1, i))
    assert off(value(Derivative(Z, beta, evaluate=False), beta=0, i=4), 10) < mpf(10) ** -40
    assert off(value(Derivative(exp(2 * m), m, evaluate=False), m=1), 2 * mp.exp(2)) < 1e-13
    for body in (
        Abs(alpha),
        Max(alpha, 0),
        Piecewise((alpha, Ne(alpha, 0)), (0, True)),
        log(alpha),
        Score(1, 2, 1) / alpha,
    ):
        assert value(Derivative(body, alpha, evaluate=False), alpha=0) is None
    assert value(Derivative(i**2, i, evaluate=False), i=3) is None
    slope = Derivative(Score(1, 2, 1), alpha, evaluate=False)
    assert off(value(slope, inputs=Equicorrelated(alpha), alpha=Fraction(1, 5)), 1) < mpf(10) ** -40


def test_limits_within_what_extrapolation_gives():
    assert truth(Eq(Limit(i / (i + 1), i, oo), 1)) is True
    assert truth(Lt(Limit(i / (i + 1), i, oo), Rational(99, 100))) is False
    claim = Claim("mine", Eq(Limit(Gram(1, i, j), i, oo), Rational(4, 5)), inputs=Equicorrelated(Rational(1, 5)))
    assert statement_at(claim, _point({"j": 1})) is True


def test_a_model_keeps_its_own_symbols():
    # The model's beta is the k of the claim, not that of the sum: a row of weights sums to one.
    total = Sum(Weight(1, 3, k), (k, 1, 3))
    assert off(value(total, Decoder(beta=k), k=2), 1) < mpf(10) ** -40


def test_floats_are_what_they_print():
    assert value(sympy.Float(0.1)) == Fraction(1, 10)
    assert value(sympy.Float(0.1535206505060032)) == Fraction("0.1535206505060032")
