"""Statements decided in balls: against another route, at ties, over intervals, and where they can't be."""

from __future__ import annotations

from fractions import Fraction
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

from maskproof.numerics import mean_field
from maskproof.proofs.engines.evaluate import evaluator
from maskproof.proofs.engines.explain import explain
from maskproof.proofs.engines.numbers import at_most, equal, less, power, root
from maskproof.proofs.engines.question import question
from maskproof.proofs.engines.truth import NotApplicable, Undefined
from maskproof.proofs.terms.reading import Unreadable, read_variable
from maskproof.proofs.terms.text import text
from maskproof.theory import (
    Bidirectional,
    Claim,
    Decoder,
    Equicorrelated,
    Gram,
    InvalidInput,
    Mix,
    Rope,
    Score,
    SlidingWindow,
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
from maskproof.theory.quantities import InputGram

INDEPENDENT = Equicorrelated(0)


def read(point) -> dict:
    return {read_variable(s): v if isinstance(v, arb) else Fraction(str(v)) for s, v in (point or {}).items()}


def whole(point) -> dict:
    return {v: int(x) for v, x in read(point).items()}


def decide(statement, point=None, reals=None, *, decoder=None, inputs=INDEPENDENT) -> Any:
    asked = question(Claim("t", statement, decoder=decoder or Decoder(), inputs=inputs))
    return evaluator(asked.statement).at(read(reals)).decide(whole(point))


def truth(*arguments, **options):
    return decide(*arguments, **options).truth


def why(statement, point=None, reals=None, **options) -> str:
    """What the part without a value is said to lack."""
    found = truth(statement, point, reals, **options)
    assert isinstance(found, Undefined)
    return found.at({}, "statement")


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
    assert (less(a, b), at_most(a, b), equal(a, b)) == (is_less, is_at_most, is_equal)


@pytest.mark.parametrize("kind", [Score, Weight, Gram])
@pytest.mark.parametrize("setting", [(0, 1, 1), (Rational(1, 3), 2, 0), (Rational(-1, 7), Rational(1, 2), 3)])
def test_quantities_agree_with_the_float_recursion(kind, setting):
    # Rounding in double precision is below 1e-12 here; the window must hold the ball but not its shift.
    rho, temperature, stream = setting
    decoder = Decoder(beta=temperature, residual=stream)
    name = {Score: "scores", Weight: "weights", Gram: "gram"}[kind]
    reference = getattr(mean_field(decoder, rho, 6, 3), name)
    for layer, row, column in ((1, 4, 2), (2, 6, 5), (3, 5, 1), (3, 6, 6)):
        value = Rational(repr(float(reference[layer - 1, row - 1, column - 1])))
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
        Implies(Lt(i, 3), Lt(1, 1 / (i - 4)), evaluate=False),
        Or(Lt(i, 3), Gt(i + pi, 6)),
        Not(And(Lt(i, 3), Gt(alpha, -2)), evaluate=False),
        Equivalent(Lt(i, 3), Gt(alpha, 3), evaluate=False),
        ITE(Lt(i, 3), Lt(1 / (i - 4), 0), Eq(i, 3)),
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
    at = {alpha: -1}
    assert truth(statement, {i: 3, j: 2}, at) is True
    assert truth(Not(statement, evaluate=False), {i: 3, j: 2}, at) is False


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


@pytest.mark.parametrize(
    "part",
    [1 / (k - 1), sqrt(alpha), sympy.log(alpha), sympy.log(alpha + k), alpha ** Rational(1, 3), sympy.gamma(alpha)],
    ids=str,
)
def test_what_has_no_value_is_neither_true_nor_false(part):
    for statement in (Lt(part, 5), Ne(part, 5), Not(Ne(part, 5), evaluate=False), Eq(part, 5), Or(Lt(part, 5), k < 0)):
        assert "has no value" in why(statement, {k: 1}, {alpha: -1})
    assert truth(Or(Lt(part, 5), Eq(k, 1)), {k: 1}, {alpha: -1}) is True
    assert truth(And(Lt(part, 5), k < 1), {k: 1}, {alpha: -1}) is False


def test_a_box_that_reaches_where_there_is_no_value_is_undecided():
    at = evaluator(question(Claim("t", Lt(sqrt(alpha), 5))).statement).at
    for box, expected in ((arb(0, 1), None), (arb(3, 0.01), True), (arb(36, 0.01), False)):
        assert at(read({alpha: box})).truth({}, 64) is expected
    assert isinstance(at(read({alpha: arb(-3, 0.01)})).truth({}, 64), Undefined)


def test_powers_and_roots_keep_fractions():
    assert power(fmpq(2, 3), 2) == fmpq(4, 9)
    assert power(fmpq(0), 0) == 1
    assert root(fmpq(9, 4)) == fmpq(3, 2)
    for nothing in (power(fmpq(0), -1), root(fmpq(-1)), root(arb(-1))):
        assert not arb(nothing).is_finite()
    assert arb(root(fmpq(2))).contains(arb(2).sqrt())
    huge = power(fmpq(3, 2), 10**7)
    assert isinstance(huge, arb)
    assert huge > 10**1000


def test_decimals_are_read_as_python_prints_them():
    assert truth(Eq(alpha + 0.1, Rational(3, 10)), reals={alpha: Rational(1, 5)}) is True
    assert truth(Lt(Score(2, 2, 1), 0.1535206505060032)) is True
    assert truth(Gt(Score(2, 2, 1), 0.1535206505060031)) is True


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
        values = (Rational(int(x), 10_000) for x in rng.integers([2490, 9990, 9990], [2511, 10011, 10011]))
        exact = dict(zip((alpha, beta, lam), values, strict=True))
        assert truth(Lt(Score(2, 3, 1), Score(2, 3, 2)), reals=exact, decoder=decoder, inputs=inputs) is True


def test_two_models_in_one_statement():
    cold = Score(2, i, j, decoder=Decoder(beta=0))
    assert truth(Ne(Score(2, i, j), cold), {i: 4, j: 2}) is True
    assert truth(Eq(Score(2, i, j), Score(2, i, j, decoder=Decoder(beta=1))), {i: 4, j: 2}) is not False


def test_without_a_causal_mask_the_length_counts():
    decoder = Decoder(mask=Bidirectional())
    assert truth(Lt(Weight(1, i, j), 1 / n), {i: 2, j: 3, n: 4}, decoder=decoder) is True
    assert truth(Lt(Weight(1, i, j), 1 / (n + 3)), {i: 2, j: 3, n: 4}, decoder=decoder) is False
    assert "j <= n fails" in why(Lt(Weight(1, i, j), 1 / n), {i: 2, j: 3, n: 2}, decoder=decoder)
    asked = question(Claim("t", Lt(Weight(1, i, j), 1), decoder=decoder))
    assert [v.name for v in asked.variables] == ["alpha", "i", "j", "n"]


def test_the_width_counts_where_the_decoder_depends_on_it():
    decoder = Decoder(norm="layernorm", scale="sqrt(d)")
    statement = Lt(Weight(1, 2, 1), 1 / (exp(sqrt(d)) + Rational(999, 1000)))
    assert truth(statement, {d: 4}, decoder=decoder) is True
    assert truth(statement, {d: 9}, decoder=decoder) is True
    assert "2 <= d fails" in why(statement, {d: 1}, decoder=decoder)
    asked = question(Claim("t", Lt(Weight(1, 2, 1), 1), decoder=decoder, inputs=INDEPENDENT))
    assert [v.name for v in asked.variables] == ["d"]
    assert [text(h) for h in asked.understood] == ["0 < sqrt(d)", "2 <= d"]


@pytest.mark.parametrize(
    ("statement", "options", "reason"),
    [
        (Lt(Score(2, 2, 1), 1), {"inputs": Sphere(8)}, "random law"),
        (Lt(Score(3, 10**5, 1), 1), {}, "too many"),
        (Lt(Score(3, i, 1), 1), {"point": {i: 10**18}}, "too many"),
        (Lt(Score(10**6, 2, 1), 1), {}, "too many"),
        (Gt(Sum(1 / k, (k, 1, i)), 5), {"point": {i: 10**6}}, "10000 terms"),
        (Lt(Score(1, 64, 1), 1), {"decoder": Decoder(norm="layernorm", position=Rope(50, 4)), "point": {d: 6}}, "fit"),
    ],
    ids=str,
)
def test_what_cannot_be_evaluated_is_undecided_and_says_so(statement, options, reason):
    found = decide(statement, **options)
    assert found.truth is None
    assert reason in found.reason
    assert not found.consistent


@pytest.mark.parametrize(
    ("statement", "options", "reason"),
    [
        (Lt(Score(2, 2, 3), 1), {}, "3 <= 2 fails in S2[2,3]"),
        (Lt(Score(2, i - 1, 1), 2), {"point": {i: 1}}, "1 <= i - 1 fails in S2[i - 1,1]"),
        (Lt(Score(1, 5, 1), 1), {"inputs": Equicorrelated(Rational(-1, 2))}, "cosine -1/2 exist for 5 tokens fails"),
        (Lt(Score(1, i, 1), 1), {"decoder": Decoder(mask=SlidingWindow(3)), "point": {i: 4}}, "i - 3 < 1 fails"),
        (Lt(Gram(1, 2, 1), 9), {"decoder": Decoder(beta=alpha), "reals": {alpha: -1}}, "0 <= alpha fails"),
        (Lt(InputGram(i, j - 5, INDEPENDENT), 9), {"point": {i: 2, j: 3}}, "1 <= j - 5 fails in K[i,j - 5]"),
    ],
    ids=str,
)
def test_a_quantity_without_a_value_says_why(statement, options, reason):
    assert reason in why(statement, **options)


@pytest.mark.parametrize(
    "statement",
    [
        Lt(sympy.zeta(i), 2),
        Lt(sympy.Function("f")(i), 2),
        Lt(sympy.Integral(alpha, (alpha, 0, k)), 2),
        Lt(Sum(Score(2, k, 1), (k, 1, sympy.oo)), 2),
        Lt(sympy.Derivative(Score(2, 2, 1, inputs=Equicorrelated(alpha)), alpha), 0),
    ],
    ids=str,
)
def test_what_is_not_in_the_language_is_refused(statement):
    with pytest.raises(Unreadable):
        truth(statement, {i: 3, k: 2}, {alpha: 0})


def test_limits_are_not_for_numbers():
    with pytest.raises(NotApplicable, match="Limit"):
        truth(Eq(sympy.Limit(Score(2, i, 1), i, sympy.oo), 0))


def test_an_explanation_names_the_part_that_fails():
    claim = Claim("t", And(Lt(Score(2, 2, 1), 1), Gt(Score(2, 3, 2), Rational(1, 5))), inputs=INDEPENDENT)
    words = explain(question(claim).statement, {}, {}, 128)
    assert "1/5 < S2[3,2] fails" in words
    assert "0.1508177" in words
    assert "S2[2,1]" not in words


def test_an_explanation_tells_two_models_apart():
    cold = Score(2, i, j, decoder=Decoder(beta=0))
    claim = Claim("t", Eq(Score(2, i, j), cold), inputs=INDEPENDENT)
    words = explain(question(claim).statement, {}, whole({i: 4, j: 2}), 128)
    assert "model 1: l2, beta 1" in words
    assert "model 2: l2, beta 0" in words


def test_bad_input_is_still_bad_input():
    with pytest.raises(InvalidInput):
        Score(0, 1, 1)
