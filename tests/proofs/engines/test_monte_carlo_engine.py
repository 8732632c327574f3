"""Statistical verdicts. Each test states its own rate of false alarm."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats
from sympy import Abs, And, E, Eq, Gt, Implies, Le, Lt, Ne, Or, Rational, Sum, erf, gamma, hyper

from maskproof.proofs.engines import monte_carlo
from maskproof.proofs.engines.estimates import BATCHES, jackknife
from maskproof.proofs.engines.monte_carlo import REFUTE, SUSPECT, Levels
from maskproof.proofs.engines.question import question
from maskproof.proofs.verdict import Verdict
from maskproof.theory import (
    Bidirectional,
    Claim,
    Correction,
    Decoder,
    Equicorrelated,
    Gram,
    Mix,
    Score,
    SharedGaussian,
    Sphere,
    Weight,
    alpha,
    d,
    i,
    j,
    k,
    n,
)

INTEGRAL_D8 = Rational("0.133542429726403157")  # E S^(2)_21 at d = 8, by quadrature


def increasing(layer: int):
    return Lt(Score(layer, i, j), Score(layer, i, j + 1))


def examine(statement, domain=True, seed=0, effort=1.0, **options) -> Any:
    claim = Claim("t", statement, domain, **options)
    claim.check()
    return monte_carlo.examine(question(claim), seed=seed, effort=effort)


# A true claim is refuted with probability at most 1e-6, and is not SAMPLED with probability at most 1e-3
# (it would be suspicious); seeds are fixed, so that a test which passes goes on passing.
TRUE = {
    "mean cosine": (
        Eq(Score(1, i, j), alpha),
        And(j < i, i <= 4, alpha >= 0, alpha < 1),
        {"inputs": Sphere(16, alpha)},
    ),
    "an integral": (Eq(Score(2, 2, 1), INTEGRAL_D8), True, {"inputs": Sphere(8)}),
    "increase in layer 2": (increasing(2), And(j < i, i <= 8), {"inputs": Sphere(64)}),
    "rows sum to one": (Eq(Sum(Weight(2, i, k), (k, 1, i)), 1), i <= 5, {"inputs": Sphere(8)}),
    "below the limit": (
        Lt(Score(2, 2, 1), Score(2, 2, 1, inputs=Equicorrelated(0))),
        d >= 3,
        {"inputs": Sphere(d)},
    ),
    "a product of expectations": (
        Gt(Weight(1, 3, 3) * Weight(1, 2, 2), Rational(2, 5)),
        True,
        {"inputs": Sphere(16)},
    ),
    "an implication": (Implies(j < i, increasing(2)), And(j <= i, i <= 5), {"inputs": Sphere(32)}),
    "every key is seen": (
        Eq(Weight(1, i, j), 1 / n),
        And(i <= n, j <= n),
        {"inputs": Sphere(8), "decoder": Decoder(beta=0, mask=Bidirectional())},
    ),
    "sums of different lengths": (
        Eq(Sum(Weight(1, i, k) * Sum(Weight(1, k, n), (n, 1, k)), (k, 1, i)), 1),
        i <= 5,
        {"inputs": Sphere(8)},
    ),
    "special functions of the width": (
        Eq(
            Score(1, 2, 1),
            hyper((Rational(1, 2), Rational(1, 2)), (d / 2 + 1,), Rational(1, 25))
            * 2
            / (5 * d)
            * (gamma((d + 1) / 2) / gamma(d / 2)) ** 2,
        ),
        d >= 4,
        {"inputs": SharedGaussian(d, Rational(1, 5))},
    ),
    "a norm": (Eq(Gram(1, 1, 1), 4), True, {"inputs": Sphere(8)}),
}


@pytest.mark.parametrize("name", TRUE)
def test_a_true_claim_is_sampled(name):
    statement, domain, options = TRUE[name]
    found = examine(statement, domain, effort=0.3, **options)
    assert found.outcome is Verdict.SAMPLED
    assert "1e-06" in found.detail
    assert "would have been found with probability 0.99" in found.detail


# Each deviation is at least 15 standard errors, so that the chance to miss it is below 1e-12.
FALSE = {
    "mean cosine of the shared Gaussian": (
        Eq(Score(1, i, j), Rational(1, 2)),
        And(j < i, i <= 3),
        {"inputs": SharedGaussian(16, Rational(1, 2))},
        {"i": 2, "j": 1},
    ),
    "softmax of the mean": (
        Eq(Weight(1, i, i), E / (E + i - 1)),
        i <= 6,
        {"inputs": Sphere(8)},
        {"i": 2},
    ),
    "the limit for the expectation": (
        Abs(Score(2, 2, 1) - Rational("0.15352")) <= Rational("0.001"),
        True,
        {"inputs": Sphere(8)},
        {},
    ),
    "decrease": (
        Gt(Score(2, i, j), Score(2, i, j + 1)),
        And(j < i, i <= 6),
        {"inputs": Sphere(64)},
        {"i": 2, "j": 1},
    ),
    "a sum": (Eq(Sum(Weight(1, i, k), (k, 1, i)), 1 + (i - 1) / 10), i <= 5, {"inputs": Sphere(8)}, {"i": 2}),
    "a width": (Lt(Weight(1, 2, 2), Rational(18, 25)), d >= 3, {"inputs": Sphere(d)}, {"d": 8}),
}


@pytest.mark.parametrize("name", FALSE)
def test_a_false_claim_is_refuted_at_a_stated_rate(name):
    statement, domain, options, witness = FALSE[name]
    found = examine(statement, domain, **options)
    assert found.outcome is Verdict.REFUTED
    assert found.witness == witness
    assert "chance of any such in a true claim at most 1e-06" in found.detail
    assert "standard errors" in found.detail


def test_noise_is_not_confirmation():
    # At so small a width control variates hardly help: adjacent differences of 1e-5 to 1e-3 against
    # standard errors of about 1e-2, so that most stay open.
    found = examine(increasing(3), And(j < i, i <= 40), effort=0.05, inputs=Sphere(4))
    assert found.outcome is Verdict.UNKNOWN
    assert "too noisy" in found.detail


def test_the_rate_of_false_alarms_is_as_stated():
    # 400 runs with 20 true comparisons each at a joint rate of 5 %: the number of runs with an alarm is at
    # most Binomial(400, 0.05); more than its upper 1e-9 quantile has probability at most 1e-9.
    rng = np.random.default_rng(1)
    runs, tests, rate = 400, 20, 0.05
    critical = Levels(tests).critical(rate, two_sided=True)
    batches = rng.exponential(size=(runs, BATCHES, 100, tests)).mean(axis=2)  # skewed, like few samples
    t = (batches.mean(axis=1) - 1) / (batches.std(axis=1, ddof=1) / np.sqrt(BATCHES))
    alarms = int((np.abs(t) > critical).any(axis=1).sum())
    assert alarms <= stats.binom.isf(1e-9, runs, rate)
    assert alarms >= stats.binom.ppf(1e-9, runs, rate / 2)


def test_the_jackknife_of_a_mean_is_the_standard_error():
    rng = np.random.default_rng(2)
    batches = rng.normal(size=(BATCHES, 3))
    mean = batches.mean(axis=0)
    left = np.vstack([mean, (BATCHES * mean - batches) / (BATCHES - 1)])
    estimate, error = jackknife(left, np.zeros_like(left))
    np.testing.assert_allclose(estimate, batches.mean(axis=0), rtol=1e-9)
    np.testing.assert_allclose(error, batches.std(axis=0, ddof=1) / np.sqrt(BATCHES), rtol=1e-9)


def test_more_comparisons_ask_for_more():
    few, many = Levels(1), Levels(1000)
    assert many.critical(REFUTE, two_sided=False) > few.critical(REFUTE, two_sided=False)
    assert few.critical(REFUTE, two_sided=True) > few.critical(REFUTE, two_sided=False)
    assert few.critical(REFUTE, two_sided=False) > few.critical(SUSPECT, two_sided=False)


@pytest.mark.parametrize(
    ("statement", "options", "reason"),
    [
        (Or(Lt(Score(2, i, 1), 1), Lt(Score(2, i, 1), Rational(1, 2) * i)), {}, "Or"),
        (Le(Mix(1, i, 1), 2), {}, "no expectation of mix"),
        (Eq(Weight(1, i, 1), 1), {"decoder": Decoder(beta=0, mask=Bidirectional())}, "i = 4, n = 3: i <= n fails"),
        (Lt(Score(2, i, i + 1), 1), {}, "i + 1 <= i fails in S2[i,i + 1]"),
        (Lt(Score(2, i, 1) / (i - 3), 1), {}, "i = 3: i - 3 != 0 fails in 1/(i - 3)"),
        (Lt(Score(1, i + 2000, 1), 1), {}, "too many to sample"),
        (Lt(Score(1, 2, 1), 1), {"decoder": Decoder(beta=i)}, "depends on the position i"),
        (Ne(Score(2, 2, 1), Rational(1, 4) + i), {}, "Relation"),
        (Lt(Score(2, 2, 1), erf(Score(2, 2, 1))), {}, "no numerical form"),
    ],
    ids=str,
)
def test_what_does_not_apply_is_unknown_with_the_reason(statement, options, reason):
    found = examine(statement, i <= 4, effort=0.05, **{"inputs": Sphere(8), **options})
    assert found.outcome is Verdict.UNKNOWN
    assert reason in found.detail


def test_a_domain_without_a_value_is_told():
    found = examine(Lt(Score(1, i, 1), 1), And(1 / (i - 3) < 2, i <= 4), effort=0.05, inputs=Sphere(8))
    assert found.outcome is Verdict.UNKNOWN
    assert "the domain has no value at i = 3" in found.detail
    assert found.objection


def test_a_width_that_the_law_does_not_allow_is_told():
    found = examine(Lt(Score(1, 2, 1), 1), effort=0.05, inputs=Sphere(2, Rational(1, 2)))
    assert found.outcome in (Verdict.SAMPLED, Verdict.UNKNOWN)


def test_exact_numbers_are_for_balls():
    assert examine(increasing(2), And(j < i, i <= 5), inputs=Equicorrelated(0)) is None


def test_the_same_seed_gives_the_same_evidence():
    false = Eq(Score(2, 2, 1), Rational(1, 2))
    runs = [examine(false, seed=seed, effort=0.05, inputs=Sphere(16)) for seed in (3, 3, 4)]
    assert runs[0].detail == runs[1].detail
    assert runs[0].detail != runs[2].detail


def test_a_correction_is_an_exact_number():
    c = Correction(Score(2, 2, 1))
    assert examine(Lt(c, 0), inputs=Sphere(16)) is None
    assert examine(Lt(c, Score(2, 2, 1, inputs=Equicorrelated(0))), inputs=Sphere(16)) is None


def test_a_correction_next_to_an_expectation_is_not_sampled():
    found = examine(Lt(Correction(Score(2, 2, 1)), Score(2, 2, 1)), inputs=Sphere(16))
    assert found.outcome is Verdict.UNKNOWN
    assert "1/d term" in found.detail
