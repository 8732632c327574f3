"""What the differential test has found: one claim for each kind of wrong verdict, with the verdicts that are right.

Each was drawn at random, or is a drawn claim cut down to what matters. A claim that holds everywhere may be anything
but REFUTED; one that fails, or has no value, at a point of its domain may not be certified; a domain that has no
value somewhere is nothing to be certified about.
"""

from __future__ import annotations

import pytest
from sympy import (
    Abs,
    And,
    Derivative,
    Eq,
    Ge,
    Gt,
    Implies,
    KroneckerDelta,
    Le,
    Max,
    Min,
    Ne,
    Not,
    Or,
    Piecewise,
    Product,
    Rational,
    Sum,
    Symbol,
    exp,
    log,
    sqrt,
)

from maskproof.theory import (
    Alibi,
    Claim,
    Decoder,
    Derivation,
    Equicorrelated,
    Gram,
    Mix,
    Rope,
    Score,
    SlidingWindow,
    Step,
    Weight,
    alpha,
    beta,
    d,
    i,
    j,
    k,
    lam,
    m,
)
from maskproof.theory.quantities import InputGram
from tests.differential.judge import ruling

HOLDS = {"PROVED", "ENCLOSED", "SAMPLED", "UNKNOWN"}
FAILS = {"REFUTED", "UNKNOWN"}
STRANGE = {"REFUTED", "UNKNOWN", "INVALID"}  # no value, for a reason that may be seen at once
UNFIT = {"SAMPLED", "UNKNOWN", "INVALID", "REFUTED"}  # the domain lacks a value somewhere
FREE = Symbol("q", integer=True)
PLACE = Symbol("q", integer=True, positive=True)
NATURAL = Symbol("q", integer=True, nonnegative=True)


def claim(statement, domain=True, alpha=0, proof=None, **decoder):
    return Claim("found", statement, domain, Decoder(**decoder), Equicorrelated(alpha), proof=proof)


def one_step(statement, domain, rule, alpha=0, **decoder):
    """A claim with a proof of a single step."""
    hypotheses = domain.args if isinstance(domain, And) else (domain,)
    proof = Derivation("found", "found", hypotheses, (Step("1", statement, rule),))
    return claim(statement, domain, alpha, proof, **decoder)


def by_excluded_case(c, relation):
    """F = (alpha^2 - c^2)/(alpha - c) > 0, from F > 0 in one case and nothing in the other."""
    line = relation((alpha**2 - c**2) / (alpha - c), 0)
    steps = (Step("1", line, "hypothesis", given=(line,)), Step("2", line, "hypothesis", given=(alpha + c <= 0,)),
             Step("3", line, "cases", ("2", "1")))  # fmt: skip
    return claim(line, alpha + c > 0, alpha, Derivation("found", "found", (alpha + c > 0,), steps))


def slope(f, x):
    return Derivative(f, x, evaluate=False)


def softmax(query, key, b, law):
    model = {"decoder": Decoder(beta=b), "inputs": Equicorrelated(law)}
    total = Sum(exp(b * Score(1, query, k, **model)), (k, 1, query))
    return Eq(Weight(1, query, key, **model), exp(b * Score(1, query, key, **model)) / total)


FOUND = {
    # three-valued logic
    "implication of a root": (claim(Implies(sqrt(i - 2) < 1, j <= 4), And(i <= 1, j <= 4)), HOLDS),
    "implication of a quotient": (claim(Implies(1 / (2 - m) > -2, m >= 1), And(m >= 2, m <= 3)), HOLDS),
    "implication of a quotient, both sides": (
        claim(Implies(1 / (i - 2) < 1, 2 * i - 1 / i**2 <= Rational(601, 100)), i <= 3),
        HOLDS,
    ),
    "implication of a maximum": (
        claim(Implies(Max(1 / alpha, log(alpha)) < 2, alpha >= -1), And(alpha >= Rational(-1, 2), alpha < 0)),
        HOLDS,
    ),
    "alternative to a root": (
        claim(
            Or(sqrt(alpha - 2) < 1, 2 * alpha < alpha + 2, Min(Rational(1, 10), log(alpha)) < 0),
            And(alpha >= Rational(1, 2), alpha < Rational(5, 8)),
        ),
        HOLDS,
    ),
    "alternative to a quotient": (claim(Or(Eq(9 * i / alpha, i), alpha < 1), And(i <= 2, Abs(alpha) < 1)), HOLDS),
    "negated conjunction": (claim(Not(And(1 / (i - 2) > 0, i > 5)), i <= 4), HOLDS),
    # domains
    "domain by the other half": (claim(Ne(j, 3), And(j <= 4, Or(1 / (j - 3) < 1, j**3 < 30))), {"REFUTED"}),
    "domain by the other part, disjunction": (
        claim(j < 4, And(j <= 4, Or(1 / (j - 3) < 1, sqrt(j - 3) < 1))),
        {"ENCLOSED", "PROVED"},
    ),
    "domain without a value, implication": (
        claim(i <= 4, And(i <= 3, Implies(1 / (i - 1) < 1, 1 / (1 - i) > -2))),
        UNFIT,
    ),
    "domain without a value, root": (claim(i < 4, And(i <= 4, sqrt(i - 3) < 1)), UNFIT),
    "domain without a value at its border": (claim(Ne(beta, 3), And(beta >= 2, beta <= 2.5, log(beta - 2) < 1)), UNFIT),
    "domain without a value, proved": (claim(alpha < 4, And(alpha >= -1, alpha <= 0, i <= 4, 1 / (1 - i) > -2)), UNFIT),
    "witness without a domain": (
        claim(beta < 4, And(beta <= Rational(1, 2), Or(log(beta - Rational(1, 3)) < 1, beta < -1))),
        UNFIT - {"REFUTED"},
    ),
    "witness outside, by a hole": (
        claim(Ne(beta, 1), And(beta >= 1, beta <= Rational(3, 2), log(beta - Rational(5, 4)) < 1, beta > 1)),
        UNFIT - {"REFUTED"},
    ),
    "domain that the search cannot enter": (
        claim(Ne(i, 1), And(i <= 2, j <= 2, Or(log(j - 2) < 1, 1 / (j - 3) < 1))),
        UNFIT,
    ),
    # derivatives
    "slope of a sum at zero": (
        claim(slope(Sum(m**k, (k, 1, i)), m) < Rational(4, 3), And(i <= 2, m < Rational(1, 8))),
        HOLDS,
    ),
    "slope of a logarithm of a sum": (
        claim(slope(log(Sum(exp(k * m), (k, 1, i))), m) > Rational(99, 100), And(i <= 3, m < Rational(1, 32))),
        HOLDS,
    ),
    "slope of a case": (
        claim(slope(Piecewise((beta, beta < 2), (2, True)), beta) < 2, And(beta >= 2, beta <= 3)),
        STRANGE,
    ),
    "slope of a case elsewhere": (
        claim(slope(Piecewise((m, Ne(m, 3)), (3, True)), m) >= -1, And(m >= 3, m <= Rational(25, 8))),
        STRANGE,
    ),
    "slope of a maximum": (claim(slope(Max(alpha, 1), alpha) <= 1, And(alpha >= 0, alpha <= 2)), STRANGE),
    "slope of an absolute value": (claim(Ne(slope(Abs(alpha), alpha), 2), And(alpha >= -1, alpha <= 0)), STRANGE),
    "slope at a pole": (claim(Ne(slope(1 / alpha, alpha), 7), And(alpha >= 0, alpha <= 1)), STRANGE),
    "slope by an integer": (
        claim(
            slope(d * Score(1, i, 1), d) < 2 * Score(1, i, 1),
            And(d >= 4, d <= 8, i <= 2),
            alpha=Rational(1, 2),
            scale="sqrt(d)",
        ),
        STRANGE,
    ),
    # sums
    "index from zero": (claim(Sum(k, (k, 0, i)) <= i * (i + 1) / 2, i <= 3), STRANGE),
    "product from zero": (claim(Product(k, (k, 0, i)) < 1, i <= 2), STRANGE),
    "count from zero": (claim(Eq(Sum(1, (PLACE, 0, i + 1)), i + 2), i <= 5), STRANGE | HOLDS),  # SymPy may count first
    "cases from below": (claim(Sum(Piecewise((1, PLACE > 0), (2, True)), (PLACE, -i, i)) > 3, i <= 4), STRANGE),
    "delta of a natural number": (claim(Eq(Sum(KroneckerDelta(NATURAL, 0), (NATURAL, -i, i)), 1), i <= 1), STRANGE),
    "absolute values of integers": (claim(Eq(Sum(Abs(FREE), (FREE, -i, i)), i * (i + 1)), i <= 4), HOLDS),
    # models
    "captured beta, false": (
        claim(Sum(Mix(1, 2, k), (k, 1, 2)) > 2.5, k <= 3, beta=k / 2, residual=Rational(3, 2)),
        FAILS,
    ),
    "captured beta, true": (claim(Sum(Weight(1, 2, k), (k, 1, 2)) <= 1.001, k <= 3, beta=k), HOLDS),
    "captured residual": (claim(Sum(Mix(2, 2, k), (k, 1, 2)) <= 1.001, k <= 3, residual=k), FAILS),
    "entry of inputs that do not exist": (
        claim(InputGram(i, j + 2, Equicorrelated(Rational(-9, 10))) < 2, And(i <= 2, j < i)),
        FAILS,
    ),
    "premise on inputs that do not exist": (
        claim(
            Implies(InputGram(2 * i - 3, j, Equicorrelated(-1)) > 0, Weight(1, i, j) < 1),
            And(i <= 3, j < i),
            alpha=-1,
            beta=0,
            residual=0,
            position=Rope(100, 4),
        ),
        FAILS,
    ),
    "correlation of one": (claim(InputGram(i, j + 2, Equicorrelated(alpha)) < 2, And(i <= 2, j < i), alpha), HOLDS),
    "score of four opposite inputs": (claim(Score(1, i, j) <= Rational(-9, 10), j < i, Rational(-9, 10)), FAILS),
    "weight of opposite inputs": (
        claim(Weight(1, i, j) >= 0, And(i >= 3, j < i), Rational(-1, 2), residual=lam),
        FAILS,
    ),
    "mix of opposite inputs": (claim(Mix(1, i, i) < 4, j < i, Rational(-1, 2), beta=0, norm="none"), FAILS),
    "length of opposite inputs": (
        claim(Gram(1, j, j) <= 1 - Rational(19, 10) * (j - 1) / j, j < i, Rational(-9, 10), beta=0, residual=0),
        FAILS,
    ),
    "open beta, opposite inputs": (
        claim(Weight(1, i, j) <= 1 / (exp(Rational(3, 2) * beta) + i - 1), j < i, Rational(-1, 2), beta=beta),
        FAILS,
    ),
    "hidden key": (claim(Score(1, j, i) < 2, And(j < i, i <= 3), mask=SlidingWindow(2), position=Alibi(1)), FAILS),
    # decimals
    "decimal below, false": (claim(Gram(1, 3, 2) < 0.27406861906119695, residual=0, scale=2), {"REFUTED"}),
    "decimal above, true": (claim(Weight(2, 3, 2) < 0.3303831568325772, alpha=Rational(9, 10)), {"ENCLOSED", "PROVED"}),
    "decimal above, one more": (
        claim(Score(2, 3, 1) < 0.23484239302833723, alpha=Rational(1, 5), residual=Rational(1, 2), scale=2),
        {"ENCLOSED", "PROVED"},
    ),
    "decimal of a weight": (claim(Weight(1, 2, 1) < 0.2689414213699951), {"REFUTED"}),
    "decimal of seventeen digits": (claim(Weight(1, 2, 1) < 0.26894142136999513), {"REFUTED"}),  # the same number
    # proofs
    "excluded case": (by_excluded_case(Rational(1, 2), lambda a, b: a > b), STRANGE),
    "excluded case, weakly": (by_excluded_case(Rational(7, 13), lambda a, b: a >= b), STRANGE),
    "entry at position zero": (
        one_step(Eq(InputGram(j - 1, j - 1, Equicorrelated(0)), 1, evaluate=False), j < i, "input_gram"),
        STRANGE,
    ),
    "entry at a negative position": (
        one_step(
            Eq(InputGram(i + j, i - 5, Equicorrelated(Rational(1, 5))), Rational(1, 5)),
            And(i <= 4, j < i),
            "input_gram",
        ),
        STRANGE,
    ),
    "diagonal of inputs that do not exist": (
        one_step(Eq(InputGram(i, i, Equicorrelated(Rational(-9, 10))), 1), And(i <= 3, j < i), "input_gram"),
        STRANGE,
    ),
    "softmax at a position below one": (one_step(softmax(i + 1, i - 5, 1, 0), And(i <= 4, j < i), "softmax"), STRANGE),
    "softmax of inputs that do not exist": (one_step(softmax(i, j, 2, -1), And(i <= 3, j < i), "softmax"), STRANGE),
}


@pytest.mark.parametrize(("given", "right"), FOUND.values(), ids=FOUND)
def test_what_was_found(given, right):
    found = ruling(given)
    assert not found.fault, found.fault
    assert found.verdict in right


@pytest.mark.parametrize(
    ("domain", "wordings"),
    [
        (i <= 3, [Implies(1 / (2 - i) > -2, i < 4), Or(i < 4, Ge(-2, 1 / (2 - i))), Or(1 / (2 - i) <= -2, Gt(4, i))]),
        (And(alpha >= Rational(1, 2), alpha < 1), [
            Or(sqrt(alpha - 2) < 1, Min(Rational(1, 10), Abs(alpha)) < 2 * alpha),
            Implies(Min(Rational(1, 10), Abs(alpha)) >= 2 * alpha, sqrt(alpha - 2) < 1),
            Not(And(Le(1, sqrt(alpha - 2)), 2 * alpha <= Min(Rational(1, 10), Abs(alpha)))),
        ]),
    ],
)  # fmt: skip
def test_the_wording_does_not_matter(domain, wordings):
    assert len({ruling(claim(wording, domain)).verdict for wording in wordings}) == 1
