"""Equalities that are decided by normal forms: true ones to be found, false ones never, others left open."""

from __future__ import annotations

from typing import Any

import pytest
from flint import arb, fmpq
from hypothesis import given
from hypothesis import strategies as st
from sympy import (
    Abs,
    And,
    E,
    Eq,
    Ge,
    Gt,
    Le,
    Lt,
    Max,
    Ne,
    Product,
    Rational,
    Sum,
    atan,
    binomial,
    cosh,
    exp,
    factorial,
    log,
    pi,
    sinh,
    sqrt,
    tanh,
)  # fmt: skip

from maskproof.numerics.balls import working_precision
from maskproof.proofs.engines import enclosure
from maskproof.proofs.engines.ball_arithmetic import Balls
from maskproof.proofs.engines.evaluate import evaluator
from maskproof.proofs.engines.exact_arithmetic import Budget, Exact
from maskproof.proofs.engines.question import question
from maskproof.proofs.engines.scene import Open
from maskproof.proofs.engines.tower import Finer, Tower
from maskproof.proofs.engines.truth import Undefined
from maskproof.proofs.terms.reading import read_variable
from maskproof.proofs.verdict import Verdict
from maskproof.theory import (
    Alibi,
    Bidirectional,
    Claim,
    Decoder,
    Equicorrelated,
    Gram,
    Mix,
    Rope,
    Score,
    SlidingWindow,
    Weight,
    alpha,
    beta,
    d,
    i,
    j,
    k,
    lam,
    n,
)  # fmt: skip
from maskproof.theory.quantities import InputGram

ZERO, HALF, SEVENTH = (Equicorrelated(x) for x in (0, Rational(1, 2), Rational(-1, 7)))
FLAT, BARE = Decoder(beta=0), Decoder(beta=0, residual=0)
NONE, LAYERNORM = Decoder(norm="none"), Decoder(norm="layernorm", scale="sqrt(d)")
BELOW, STRICTLY, ROWS = And(j <= i, i <= 5), And(j < i, i <= 5), i <= 5
ROW = Sum(Weight(2, i, k), (k, 1, i))


def examine(statement: Any, domain: Any, decoder: Any = None, inputs: Any = ZERO) -> Any:
    claim = Claim("t", statement, domain, decoder or Decoder(), inputs)
    claim.check()
    return enclosure.examine(question(claim))


def rows(layer):
    return Eq(Sum(Weight(layer, i, k), (k, 1, i)), 1)


TRUE: list[tuple[Any, ...]] = [
    # rows of weights
    (rows(1), ROWS), (rows(1), ROWS, Decoder(beta=2), HALF), (rows(2), ROWS), (rows(3), ROWS), (rows(6), ROWS),
    (rows(2), ROWS, Decoder(beta=Rational(1, 3)), HALF), (rows(2), ROWS, Decoder(residual=0), SEVENTH),
    (rows(3), ROWS, NONE), (rows(2), ROWS, Decoder(mask=SlidingWindow(3))),
    (rows(2), ROWS, Decoder(position=Rope(50, 4))),
    (rows(2), ROWS, Decoder(position=Alibi(Rational(1, 2)))), (rows(2), And(ROWS, d >= 2, d <= 4), LAYERNORM),
    (Eq(Sum(Weight(2, i, k), (k, 1, n)), 1), And(i <= n, n <= 4), Decoder(mask=Bidirectional()), HALF),
    (Eq(Weight(2, i, i) + Sum(Weight(2, i, k), (k, 1, i - 1)), 1), ROWS),
    # beta = 0
    (Eq(Weight(1, i, j), 1 / i), BELOW, FLAT), (Eq(Weight(2, i, j), 1 / i), BELOW, FLAT, HALF),
    (Eq(Weight(3, i, j) * i, 1), BELOW, BARE), (Eq(Weight(5, i, j), 1 / i), BELOW, BARE, SEVENTH),
    (Eq(Weight(2, i, j), 1 / n), And(i <= n, j <= n, n <= 4), Decoder(beta=0, mask=Bidirectional())),
    (Eq(Mix(1, i, j), 1 / i), STRICTLY, FLAT, HALF), (Eq(Mix(1, i, i), 1 + 1 / i), ROWS, FLAT, HALF),
    (Eq(Gram(1, i, j), 1 / i), BELOW, BARE), (Eq(Score(2, i, j), sqrt(j / i)), BELOW, BARE),
    (Eq(Score(2, i, j) ** 2, j / i), BELOW, BARE), (Eq(sqrt(Gram(1, i, i)), 1 / sqrt(i)), ROWS, BARE),
    (Eq(Score(3, i, j) ** 2 * Gram(2, i, i) * Gram(2, j, j), Gram(2, i, j) ** 2), BELOW, BARE),
    # what defines the quantities
    (Eq(Score(2, i, j), Gram(1, i, j) / sqrt(Gram(1, i, i) * Gram(1, j, j))), BELOW),
    (Eq(Score(2, i, j), Gram(1, i, j) / sqrt(Gram(1, i, i)) / sqrt(Gram(1, j, j))), BELOW, None, HALF),
    (Eq(Weight(2, i, j), exp(Score(2, i, j)) / Sum(exp(Score(2, i, k)), (k, 1, i))), BELOW),
    (
        Eq(Gram(1, i, j), Sum(Mix(1, i, k) * Sum(InputGram(k, n, HALF) * Mix(1, j, n), (n, 1, j)), (k, 1, i))),
        BELOW, None, HALF,
    ),
    (Eq(Gram(2, i, i), Sum(Mix(2, i, k) * Sum(Mix(2, i, n) * Gram(1, k, n), (n, 1, i)), (k, 1, i))), i <= 4),
    (Eq(Gram(3, i, j), Gram(3, j, i)), BELOW), (Eq(Score(2, i, j), Score(2, i, 1)), STRICTLY, NONE, HALF),
    (Eq(Score(1, i, j), sqrt(d) / 2), And(STRICTLY, d >= 2, d <= 5), LAYERNORM, HALF),
    (Eq(Score(3, i, j), Gram(2, i, j) / sqrt(Gram(2, i, i) * Gram(2, j, j))), And(j < i, i <= 3)),
    (Eq(Weight(3, i, j), Weight(3, i, i) * exp(Score(3, i, j) - 1)), And(j < i, i <= 3)),
    (Eq(Score(3, i, j), Score(3, j, i)), And(i <= n, j <= n, n <= 3), Decoder(mask=Bidirectional())),
    (Eq(Sum(Weight(3, i, k), (k, 1, i - 1)), 1 - Weight(3, i, i)), And(i >= 7, i <= 8)),
    # exponentials
    (Eq(Weight(1, i, i), 2 / (i + 1)), i <= 6, Decoder(beta=log(2))),
    (Eq(Weight(1, i, i), sqrt(3) / (sqrt(3) + i - 1)), i <= 6, Decoder(beta=log(3) / 2)),
    (Eq(Weight(1, i, j), 1 / (exp(Rational(1, 2)) + i - 1)), STRICTLY, None, HALF),
    (Eq(Weight(1, i, i), E / (E + i - 1)), ROWS),
    (Eq(Weight(1, i, j), 1 / (exp(sqrt(d)) + i - 1)), And(STRICTLY, d >= 2, d <= 5), LAYERNORM),
    (Eq(Weight(1, i, j) / Weight(1, i, i), exp(-beta)), And(STRICTLY, Eq(beta, Rational(2, 3))), Decoder(beta=beta)),
    (Eq(log(Weight(1, i, i) / Weight(1, i, 1)), 1), And(i >= 2, i <= 5)),
    (Eq(exp(i) * exp(-j) * exp(j - i), 1), And(i <= 4, j <= 4)), (Eq(cosh(i) ** 2 - sinh(i) ** 2, 1), i <= 6),
    (Eq(tanh(i) * cosh(i), sinh(i)), i <= 6), (Eq(log(2 * i) - log(i), log(2)), i <= 9),
    (Eq(sqrt(exp(2 * i) + 2 * exp(i) + 1), exp(i) + 1), i <= 5),
    # sums, roots and whole numbers
    (Eq(Sum(1 / k, (k, 1, i)), Sum(1 / (i + 1 - k), (k, 1, i))), i <= 9),
    (Eq(Sum(1 / (k * (k + 1)), (k, 1, i)), i / (i + 1)), i <= 9), (Eq(Product(1 + 1 / k, (k, 1, i)), i + 1), i <= 9),
    (Eq(Sum(1 / (sqrt(k) + sqrt(k + 1)), (k, 1, i)), sqrt(i + 1) - 1), i <= 6),
    (Eq((sqrt(i + 1) - sqrt(i)) * (sqrt(i + 1) + sqrt(i)), 1), i <= 20),
    (Eq(binomial(i, j) * factorial(j) * factorial(i - j), factorial(i)), And(j <= i, i <= 9)),
    (Eq(Abs(sqrt(i) - sqrt(j)), Max(sqrt(i), sqrt(j)) * 2 - sqrt(i) - sqrt(j)), And(i <= 4, j <= 4)),
    # inequalities that touch
    (Le(Score(2, i, j), 1), BELOW), (Ge(Score(2, i, j), sqrt(j / i)), BELOW, BARE),
    (Le(ROW, 1), ROWS), (Ge(ROW, 1), ROWS),
    (Le(1 / (E + 1), Weight(1, 2, j)), j <= 2), (Ge(exp(i) / (exp(i) + 1) + 1 / (exp(i) + 1), 1), i <= 8),
]  # fmt: skip


@pytest.mark.parametrize("case", TRUE, ids=lambda case: str(case[0])[:70])
def test_a_true_equality_is_certain_over_its_whole_domain(case):
    found = examine(*case)
    assert found.outcome is Verdict.ENCLOSED, found.detail
    assert "the whole domain" in found.scope


@pytest.mark.parametrize(
    "case",
    [
        (Eq(ROW, 1 + Rational(1, 10**300)), ROWS),
        (Lt(ROW, 1), ROWS),
        (Gt(Score(2, i, j), sqrt(j / i)), BELOW, BARE),
        (Ne(Weight(2, i, j), 1 / i), BELOW, FLAT),
        (Eq(Weight(2, i, j), 1 / i + Rational(1, 10**150)), BELOW, FLAT),
        (Eq(Score(2, i, j), sqrt(j / i) * (1 - Rational(1, 10**99))), BELOW, BARE),
        (Eq(Score(3, 3, 2) * sqrt(Gram(2, 3, 3) * Gram(2, 1, 1)), Gram(2, 3, 2)), i <= 1),
        (Eq(Weight(3, 3, 1), Weight(3, 3, 2) * exp(Score(3, 3, 1) - 1)), i <= 1),
        (Eq(Score(3, 1, 2), Score(3, 3, 1) * (1 + Rational(1, 10**99))), Eq(n, 3), Decoder(mask=Bidirectional())),
        (Eq(Sum(Weight(3, 8, k), (k, 1, 7)), 1 - Weight(3, 8, 8) - Rational(1, 10**150)), i <= 1),
        (Eq(Weight(1, i, i), 2 / (i + 1) + Rational(1, 10**150)), i <= 6, Decoder(beta=log(2))),
        (Eq(exp(i) * exp(-j), exp(i - j) + exp(-1000)), And(i <= 4, j <= 4)),
    ],
    ids=str,
)
def test_a_false_statement_never_is(case):
    assert examine(*case).outcome in (Verdict.REFUTED, Verdict.SAMPLED, Verdict.UNKNOWN)
    assert not examine(*case).scope.startswith("the whole domain")


def test_a_strict_inequality_between_equal_numbers_is_false():
    for case in (
        (Lt(ROW, 1), ROWS),
        (Gt(Score(2, i, j), sqrt(j / i)), BELOW, BARE),
        (Ne(Weight(2, i, j), 1 / i), BELOW, FLAT),
    ):
        assert examine(*case).outcome is Verdict.REFUTED


def test_what_is_not_known_to_be_equal_stays_open():
    found = examine(Eq(atan(i) + atan(1 / i), pi / 2), ROWS)
    assert found.outcome is Verdict.SAMPLED
    assert "which balls can't call equal" in found.detail


def test_exact_parameters_of_any_kind():
    s, r = 1 + lam, exp(beta * (1 - alpha))
    g = s * (alpha * s + (1 - alpha) / (r + i - 1))
    h2 = s**2 - (1 - alpha) * (i - 1) * (2 * s * (r + i - 1) - i) / (r + i - 1) ** 2
    point = And(Eq(alpha, Rational(1, 3)), Eq(beta, Rational(3, 2)), Eq(lam, 2), j < i, i <= 6)
    form = g / sqrt(h2) / sqrt(h2.subs(i, j))
    found = examine(Eq(Score(2, i, j), form), point, Decoder(beta=beta, residual=lam), Equicorrelated(alpha))
    assert found.outcome is Verdict.ENCLOSED


def test_a_vector_that_vanishes_is_seen_exactly():
    # At alpha = -1/2 the mean of three vectors is 0, which no ball around 1/3 shows.
    claim = Claim("t", Lt(Weight(2, i, 1), 1), decoder=BARE, inputs=Equicorrelated(Rational(-1, 2)))
    at = evaluator(question(claim).statement).at({})
    found = at.decide({read_variable(i): 3}, budget=Budget(10_000)).truth
    assert isinstance(found, Undefined)
    assert "none vanishes before layer 2 fails" in found.at({"i": 3}, "statement")
    assert at.decide({read_variable(i): 2}).truth is True


def test_a_denominator_that_vanishes_is_seen_exactly():
    nothing = Claim("t", Lt(1 / (sqrt(i) * sqrt(j) - sqrt(6)), 1))
    values = {read_variable(i): 2, read_variable(j): 3}
    assert isinstance(
        evaluator(question(nothing).statement).at({}).decide(values, budget=Budget(10_000)).truth, Undefined
    )


def test_without_a_budget_nothing_is_decided():
    at = evaluator(question(Claim("t", Eq(ROW, 1), inputs=ZERO)).statement).at({})
    assert at.decide({read_variable(i): 4}).truth is None
    assert at.decide({read_variable(i): 4}, budget=Budget(5)).truth is None
    assert at.decide({read_variable(i): 4}, budget=Budget(10**6)).truth is True


# --- the arithmetic ------------------------------------------------------------------------------

SMALL = st.fractions(-4, 4, max_denominator=6)


@st.composite
def numbers(draw, depth: int = 3) -> Any:
    """A number as a function of an arithmetic, built from fractions, roots and exponentials."""
    kind = draw(st.sampled_from(["fraction", "sum", "product", "root", "exp"])) if depth else "fraction"
    if kind == "fraction":
        x = draw(SMALL)
        return lambda a: fmpq(x.numerator, x.denominator)
    if kind in ("sum", "product"):
        left, right = draw(numbers(depth=depth - 1)), draw(numbers(depth=depth - 1))
        return (lambda a: left(a) + right(a)) if kind == "sum" else (lambda a: left(a) * right(a))
    inner = draw(numbers(depth=depth - 1))
    if kind == "exp":
        return lambda a: a.exp(inner(a))
    return lambda a: a.root(inner(a) * inner(a) + fmpq(2))


def calculated(build) -> tuple[Any, arb] | None:
    """A number in normal form with the ball around it, and in balls alone; None if it has none within reach."""
    with working_precision(256):
        balls = arb(build(Balls()))
        for denominator in (1, 2520):
            try:
                found = build(Exact(Tower(Budget(200_000), denominator)))
            except Finer:
                continue
            except Open:
                return None
            return found, balls
    return None


@given(numbers())
def test_normal_forms_have_the_value_of_what_they_stand_for(build):
    found = calculated(build)
    if found is not None:
        exact, balls = found
        with working_precision(256):
            assert (arb(exact) if isinstance(exact, fmpq) else exact.ball()).overlaps(balls)


@given(numbers(), numbers())
def test_equal_normal_forms_are_of_equal_numbers(first, second):
    """Differences of products written in two ways vanish; those of other numbers only if balls overlap."""
    square = calculated(
        lambda a: (
            (first(a) + second(a)) * (first(a) + second(a) * fmpq(-1))
            + (first(a) * first(a) + second(a) * second(a) * fmpq(-1)) * fmpq(-1)
        )
    )
    if square is not None:
        assert square[0] == 0
    difference = calculated(lambda a: first(a) + second(a) * fmpq(-1))
    if difference is not None and isinstance(difference[0], fmpq):
        with working_precision(256):
            assert difference[1].overlaps(arb(difference[0]))


@given(numbers())
def test_a_number_times_its_inverse_is_one(build):
    def one(a):
        x = build(a)
        return x * a.power(x, -1)

    with working_precision(256):
        try:
            x = build(Exact(Tower(Budget(200_000), 2520)))
        except Open:
            return
        if isinstance(x, fmpq) and x == 0:
            return
        found = calculated(one)
        assert found is None or found[0] == 1


def test_roots_and_exponentials_of_products_come_apart():
    a = Exact(Tower(Budget(10**6), 2))
    two, three, six = (a.root(fmpq(x)) for x in (2, 3, 6))
    assert (two * three + six * fmpq(-1)) == 0
    assert a.root(fmpq(8, 9)) * fmpq(3) + two * fmpq(-2) == 0
    e = a.exp(fmpq(1))
    assert a.root(e * e * fmpq(4)) + e * fmpq(-2) == 0
    assert a.exp(two) * a.exp(two * fmpq(-1)) == 1
    with working_precision(128):
        assert a.root((e + fmpq(1)) * (e + fmpq(1))) + e * fmpq(-1) == 1
        with pytest.raises(Open):
            a.root(fmpq(1) + e * fmpq(-1))
