"""Statements decided in balls: against another route, at ties, over intervals, and where they can't be."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy
from flint import arb, fmpq
from sympy import (
    ITE,
    And,
    E,
    Eq,
    Equivalent,
    Ge,
    Gt,
    Implies,
    Le,
    Lt,
    Ne,
    Not,
    Or,
    Piecewise,
    Product,
    Rational,
    Sum,
    exp,
    pi,
    sqrt,
)

from numerics import mean_field
from proofs.engines.evaluate import (
    NotApplicable,
    Undefined,
    both,
    decimals,
    either,
    equal,
    evaluator,
    explain,
    less,
    less_or_equal,
    power,
)
from theory import (
    Bidirectional,
    Claim,
    Decoder,
    Equicorrelated,
    Gram,
    InvalidInput,
    Mix,
    Score,
    Sphere,
    Weight,
    alpha,
    beta,
    d,
    i,
    j,
    k,
    lam,
    n,
)
from theory.quantities import InputGram

INDEPENDENT = Equicorrelated(0)


def decide(statement, point=None, reals=None, *, decoder=None, inputs=INDEPENDENT) -> Any:
    claim = Claim("t", statement, decoder=decoder or Decoder(), inputs=inputs)
    return evaluator(claim.bound_statement).at(reals or {}).decide(point or {})


def truth(*arguments, **options):
    return decide(*arguments, **options).truth


@pytest.mark.parametrize(
    ("a", "b", "is_less", "is_at_most", "is_equal"),
    [
        (fmpq(1, 3), fmpq(1, 2), True, True, False),
        (fmpq(1, 3), fmpq(1, 3), False, True, True),
        (arb(1), arb(1), False, True, True),
        (arb(1, 0.01), arb(1, 0.01), None, None, None),
        (arb(1, 0.01), arb(1), None, None, None),
        (arb(1, 0.01), fmpq(2), True, True, False),
        (fmpq(2), arb(1, 0.01), False, False, False),
        (arb.nan(), arb(1), None, None, None),
        (arb.pos_inf(), arb(1), None, None, None),
        (arb(0, 1000), arb(5000), None, None, None),  # disjoint, but too wide to be evidence
    ],
)
def test_comparisons_have_three_values(a, b, is_less, is_at_most, is_equal):
    assert (less(a, b), less_or_equal(a, b), equal(a, b)) == (is_less, is_at_most, is_equal)


def test_connectives_are_kleene():
    values = (True, False, None)
    for a in values:
        for b in values:
            expected = False if False in (a, b) else None if None in (a, b) else True
            assert both(iter((a, b))) is expected
            expected = True if True in (a, b) else None if None in (a, b) else False
            assert either(iter((a, b))) is expected


@pytest.mark.parametrize("kind", [Score, Weight, Gram])
@pytest.mark.parametrize("setting", [(0, 1, 1), (Rational(1, 3), 2, 0), (Rational(-1, 7), Rational(1, 2), 3)])
def test_quantities_agree_with_the_float_recursion(kind, setting):
    # Rounding in double precision is below 1e-12 here; the window must hold the ball but not its shift.
    rho, temperature, stream = setting
    decoder = Decoder(beta=temperature, residual=stream)
    name = {Score: "scores", Weight: "weights", Gram: "gram"}[kind]
    reference = getattr(mean_field(decoder, rho, 6, 3), name)
    for layer, row, column in ((1, 4, 2), (2, 6, 5), (3, 5, 1), (3, 6, 6)):
        value = sympy.Rational(repr(float(reference[layer - 1, row - 1, column - 1])))
        near = sympy.Abs(kind(layer, i, j) - value) < Rational(1, 10**12)
        far = sympy.Abs(kind(layer, i, j) - value - Rational(1, 10**10)) < Rational(1, 10**12)
        at = {i: row, j: column}
        assert truth(near, at, decoder=decoder, inputs=Equicorrelated(rho)) is True
        assert truth(far, at, decoder=decoder, inputs=Equicorrelated(rho)) is False


def test_mix_is_what_turns_one_gram_matrix_into_the_next():
    rebuilt = Sum(Mix(1, i, k) * Sum(InputGram(k, n, INDEPENDENT) * Mix(1, j, n), (n, 1, j)), (k, 1, i))
    decision = decide(Eq(Gram(1, i, j), rebuilt), {i: 4, j: 2})
    assert decision.truth is None
    assert decision.consistent
    assert truth(Eq(Gram(1, i, j), rebuilt + Rational(1, 10**30)), {i: 4, j: 2}) is False


@pytest.mark.parametrize(
    "statement",
    [
        Lt(exp(i), E**3 + Rational(1, 10**40) + i - 3),
        Gt(sqrt(2) * sqrt(i), 2),
        Eq(Sum(k, (k, 1, i)), 6),
        Eq(Product(k, (k, 1, i)), 6),
        Eq(Sum(Sum(k * j, (k, 1, j)), (j, 1, i)), 25),
        Eq(Sum(k * j, (k, 1, j), (j, 1, i)), 25),
        Lt(Sum(k, (k, 1, i - 3)), Rational(1, 100)),
        Ne(i + exp(alpha), 3 + Rational(7, 19)),
        Lt(sympy.Max(pi, i), sympy.Min(4, E * i)),
        Gt(sympy.log(i), alpha + 2),
        Implies(Lt(i, 3), Lt(1, 1 / (i - 3)), evaluate=False),
        Or(Lt(i, 3), Gt(i + pi, 6)),
        Not(And(Lt(i, 3), Gt(alpha, -2)), evaluate=False),
        Equivalent(Lt(i, 3), Gt(alpha, 3), evaluate=False),
        ITE(Lt(i, 3), Lt(1 / (i - 3), 0), Eq(i, 3)),
        Lt(sympy.tanh(i), Rational(999, 1000)),
        Eq(sympy.KroneckerDelta(i, 3) + 1, 2),
        Lt(abs(sympy.binomial(i + 2, j) + sympy.factorial(i) - 16), Rational(1, 10**9)),
        Eq(Piecewise((1, i < 3), (2, i < 5), (3, True)), 2),
        Lt(sympy.Derivative(alpha**2, alpha), 0),
        Eq(abs(alpha), 1),
    ],
    ids=str,
)
def test_true_at_i_3_j_2_alpha_minus_1(statement):
    assert statement not in (True, False)  # SymPy must not have decided it beforehand
    judge = evaluator(statement)
    assert judge.at({alpha: sympy.Integer(-1)}).decide({i: 3, j: 2}).truth is True
    opposite = evaluator(sympy.Not(statement, evaluate=False))
    assert opposite.at({alpha: sympy.Integer(-1)}).decide({i: 3, j: 2}).truth is False


def test_a_difference_of_a_power_of_ten_is_resolved_by_more_bits():
    decision = decide(Lt(exp(k), E**2 + Rational(1, 10**50)), {k: 2})
    assert decision.truth is True
    assert decision.precision == 192
    assert truth(Gt(exp(k), E**2 + Rational(1, 10**50)), {k: 2}) is False


def test_overlapping_balls_never_make_an_equation_true():
    ours = decide(Eq(Sum(Weight(2, i, k), (k, 1, i)), 1), {i: 5})
    assert ours.truth is None
    assert ours.consistent
    assert ours.gap is not None
    assert ours.gap < arb(10) ** -100


def test_a_strict_inequality_between_equal_values_is_not_consistent():
    decision = decide(Lt(Sum(Weight(2, i, k), (k, 1, i)), 1), {i: 5})
    assert decision.truth is None
    assert not decision.consistent
    assert decide(Le(Sum(Weight(2, i, k), (k, 1, i)), 1), {i: 5}).consistent


def test_exact_ties_are_decided():
    assert truth(Lt(Score(1, i, i), 1), {i: 3}) is False
    assert truth(Eq(Score(2, i, i), 1), {i: 3}) is True
    assert truth(Ge(Weight(1, 1, 1), 1)) is True


def test_what_has_no_real_value_does_not_hold():
    reals = {alpha: sympy.Integer(-1)}
    for undefined in (
        1 / (k - 1),
        sqrt(alpha),
        sympy.log(alpha),
        sympy.log(alpha + k),
        alpha ** Rational(1, 3),
    ):
        for statement in (Lt(undefined, 5), Ne(undefined, 5), Or(Lt(undefined, 5), Lt(k, 0))):
            assert decide(statement, {k: 1}, reals).truth is False
        at = evaluator(Lt(undefined, 5)).at(reals)
        assert "no value" in explain(Lt(undefined, 5), at, {k: 1}, 64)


def test_a_premise_keeps_what_has_no_value_from_being_looked_at():
    assert decide(Implies(Gt(alpha, 0), Lt(sqrt(alpha), 5)), {}, {alpha: sympy.Integer(-1)}).truth is True


def test_a_box_that_reaches_where_there_is_no_value_is_undecided():
    for box, truth in ((arb(0, 1), None), (arb(-3, 1), False), (arb(3, 0.01), True)):
        assert evaluator(Lt(sqrt(alpha), 5)).at({alpha: box}).truth({}, 64) is truth


def test_power_keeps_fractions():
    assert power(fmpq(2, 3), fmpq(2)) == fmpq(4, 9)
    assert power(fmpq(0), fmpq(0)) == 1
    for base, exponent in ((fmpq(0), fmpq(-1)), (fmpq(-1), fmpq(1, 2)), (arb(-1), fmpq(1, 3))):
        with pytest.raises(Undefined):
            power(base, exponent)
    assert arb(power(fmpq(2), fmpq(1, 2))).contains(arb(2).sqrt())


def test_decimals_are_read_as_they_print():
    assert truth(Eq(sympy.Symbol("alpha", real=True) + 0.1, Rational(3, 10)), reals={alpha: Rational(1, 5)}) is True
    assert decimals(sympy.Float(0.154)) == Rational(154, 1000)


def test_a_box_encloses_every_point_of_it():
    decoder = Decoder(beta=beta, residual=lam)
    inputs = Equicorrelated(alpha)
    box = {alpha: arb(0.25, 0.001), beta: arb(1, 0.001), lam: arb(1, 0.001)}
    for statement, expected in (
        (Lt(Score(2, 3, 1), Score(2, 3, 2)), True),
        (Gt(Score(2, 3, 1), Score(2, 3, 2)), False),
        (Lt(Score(1, 2, 1), Rational(1, 4)), None),
    ):
        assert truth(statement, reals=box, decoder=decoder, inputs=inputs) is expected
    rng = np.random.default_rng(0)
    for _ in range(20):
        a, b, s = (Rational(int(x), 10_000) for x in rng.integers([2490, 9990, 9990], [2511, 10011, 10011]))
        exact = {alpha: a, beta: b, lam: s}
        assert truth(Lt(Score(2, 3, 1), Score(2, 3, 2)), reals=exact, decoder=decoder, inputs=inputs) is True


def test_two_models_in_one_statement():
    cold = Score(2, i, j, decoder=Decoder(beta=0))
    assert truth(Ne(Score(2, i, j), cold), {i: 4, j: 2}) is True
    assert truth(Eq(Score(2, i, j), Score(2, i, j, decoder=Decoder(beta=1))), {i: 4, j: 2}) is not False


def test_without_a_causal_mask_the_length_has_to_be_given():
    decoder = Decoder(mask=Bidirectional())
    with pytest.raises(NotApplicable, match="depend on n"):
        truth(Lt(Weight(1, i, j), 1), {i: 2, j: 3}, decoder=decoder)
    assert truth(Lt(Weight(1, i, j), 1 / n), {i: 2, j: 3, n: 4}, decoder=decoder) is True
    assert truth(Lt(Weight(1, i, j), 1 / (n + 3)), {i: 2, j: 3, n: 4}, decoder=decoder) is False
    with pytest.raises(NotApplicable, match="beyond the last token"):
        truth(Lt(Weight(1, i, j), 1 / n), {i: 2, j: 3, n: 2}, decoder=decoder)


def test_the_width_counts_where_the_decoder_depends_on_it():
    decoder = Decoder(norm="layernorm", scale="sqrt(d)")
    statement = Lt(Weight(1, 2, 1), 1 / (exp(sqrt(d)) + Rational(999, 1000)))
    assert truth(statement, {d: 4}, decoder=decoder) is True
    assert truth(statement, {d: 9}, decoder=decoder) is True
    with pytest.raises(NotApplicable, match="width"):
        truth(Lt(Weight(1, 2, 1), 1), decoder=decoder)


@pytest.mark.parametrize(
    ("statement", "options", "reason"),
    [
        (Eq(sympy.Limit(Score(2, i, 1), i, sympy.oo), 0), {}, "Limit"),
        (Lt(Score(2, 2, 1), 1), {"inputs": Sphere(8)}, "random law"),
        (Lt(Score(2, i, 1), 1), {}, "no value"),
        (Lt(Score(2, 2, 3), 1), {}, "mask"),
        (Lt(sympy.zeta(i), 2), {"point": {i: 3}}, "zeta"),
        (Lt(sympy.Function("f")(i), 2), {"point": {i: 1}}, "f"),
        (Lt(sympy.Integral(alpha, (alpha, 0, k)), 2), {"point": {k: 1}}, "Integral"),
        (Lt(Sum(Score(2, k, 1), (k, 1, sympy.oo)), 2), {}, "Infinity"),
        (Lt(Score(2, i - 1, 1), 2), {"point": {i: 1}}, "position"),
        (Lt(sympy.Derivative(Score(2, 2, 1), alpha), 0), {"inputs": Equicorrelated(alpha)}, "derivative"),
        (Lt(Score(1, 5, 1), 1), {"inputs": Equicorrelated(Rational(-1, 2))}, "alpha"),
    ],
    ids=str,
)
def test_what_cannot_be_evaluated_says_so(statement, options, reason):
    with pytest.raises(NotApplicable, match=reason):
        truth(statement, **options)


def test_an_explanation_names_the_part_that_fails():
    claim = Claim("t", And(Lt(Score(2, 2, 1), 1), Gt(Score(2, 3, 2), Rational(1, 5))), inputs=INDEPENDENT)
    text = explain(claim.bound_statement, evaluator(claim.bound_statement).at({}), {}, 128)
    assert "S2[3,2] > 1/5 fails" in text
    assert "0.1508177" in text
    assert "S2[2,1]" not in text


def test_bad_input_is_still_bad_input():
    with pytest.raises(InvalidInput):
        Score(0, 1, 1)
