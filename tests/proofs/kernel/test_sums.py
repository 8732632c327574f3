"""Sums over positions."""

from __future__ import annotations

import pytest
from sympy import Eq, Gt, Lt, Sum

from maskproof.proofs.kernel.known import Rejected
from maskproof.theory.derivation import Step
from maskproof.theory.inputs import Equicorrelated, Sphere
from maskproof.theory.symbols import alpha, beta, d, i, j, k
from tests.proofs.kernel.steps import K, M, derive, l, rejected, shown


def test_equicorrelated_sum():
    double = Sum(M(1, i, k) * M(1, j, l) * K(k, l), (k, 1, i), (l, 1, j))
    rows = Sum(M(1, i, k), (k, 1, i)), Sum(M(1, j, k), (k, 1, j))
    both = Sum(M(1, i, k) * M(1, j, k), (k, 1, j))
    right = alpha * rows[0] * rows[1] + (1 - alpha) * both
    shown(Eq(double, right), "equicorrelated_sum", given=[j <= i])
    rejected(Eq(double, right), "equicorrelated_sum")  # which row is shorter is not known
    rejected(Eq(double, alpha * rows[0] * rows[1] + both), "equicorrelated_sum", given=[j <= i])


def test_split_last():
    total = Sum(M(1, i, k), (k, 1, i))
    shown(Eq(total, Sum(M(1, i, k), (k, 1, i - 1)) + M(1, i, i)), "split_last")
    rejected(Eq(total, Sum(M(1, i, k), (k, 1, i - 1)) + M(1, i, 1)), "split_last")
    empty = Sum(k, (k, i, j))
    rejected(Eq(empty, Sum(k, (k, i, j - 1)) + j), "split_last")  # the sum may be empty


def test_constant_sum():
    shown(Eq(Sum(alpha, (k, 1, i - 1)), (i - 1) * alpha), "constant_sum")
    rejected(Eq(Sum(alpha, (k, 1, i - 1)), i * alpha), "constant_sum")
    rejected(Eq(Sum(k, (k, 1, i)), i * k), "constant_sum")
    rejected(Eq(Sum(alpha, (k, i, j)), (j - i + 1) * alpha), "constant_sum")


def test_linear_sum():
    shown(Eq(Sum(alpha * k, (k, 1, i)), alpha * Sum(k, (k, 1, i))), "linear_sum")
    rejected(Eq(Sum(alpha * k, (k, 1, i)), Sum(k, (k, 1, i))), "linear_sum")


def summed(*premise_given, limits=((k, 1, i),), given=(), term=alpha * k, of=None, says=lambda total: Gt(total, 0)):
    """A sum of terms that are positive for alpha > 0."""
    statement = says(Sum(term if of is None else of, *limits))
    return derive(
        Step("term", Gt(term, 0), "sign", given=premise_given),
        Step("goal", statement, "positive_sum", ("term",), given=given),
        given=(alpha > 0,),
    )


def test_positive_sum():
    summed()
    summed(k <= i, k >= 1)
    summed(limits=((k, 1, i), (l, 1, j)), term=alpha * k * l)
    summed(limits=((k, j, i),), given=(j <= i,))
    for premise_given, options in (
        ((k <= j,), {}),  # not the whole range
        ((k <= j,), {"given": (k <= j,)}),  # the index is bound: what is known of another k is no help
        ((l <= j,), {"limits": ((k, 1, i), (l, 1, i)), "term": alpha * k * l}),
        ((), {"limits": ((k, j, i),)}),  # the range may be empty
        ((), {"limits": ((k, 1, i), (l, 1, j - 1)), "term": alpha * k * l}),
        ((), {"of": alpha * (k - 1)}),
        ((), {"says": lambda total: Lt(total, 0)}),
        ((), {"says": lambda total: Gt(total, 1)}),
    ):
        with pytest.raises(Rejected, match="positive_sum"):
            summed(*premise_given, **options)


def test_the_index_of_a_positive_sum_is_fresh():
    fixed = Step("term", Gt(k - 2, 0), "hypothesis")
    goal = Step("goal", Gt(Sum(k - 2, (k, 1, i)), 0), "positive_sum", ("term",))
    with pytest.raises(Rejected, match="positive_sum"):
        derive(fixed, goal, given=[Gt(k, 2)])


def termwise(given, limits=(k, 1, i - 1)):
    term = Step("term", Eq(K(i, k), alpha), "input_gram", given=given)
    statement = Eq(Sum(K(i, k), limits), Sum(alpha, limits))
    return derive(term, Step("goal", statement, "termwise", ("term",)))


def test_termwise():
    termwise((k <= i - 1,))
    with pytest.raises(Rejected):
        termwise((k <= i - 1,), (k, 1, i))  # at k = i the terms differ


def test_a_summation_index_must_be_fresh():
    fixed = Step("fixed", Eq(k, 3), "hypothesis")
    goal = Step("goal", Eq(Sum(k, (k, 1, i)), Sum(3, (k, 1, i))), "termwise", ("fixed",))
    with pytest.raises(Rejected, match="fresh"):
        derive(fixed, goal, given=[Eq(k, 3)])


def test_premises_do_not_reach_into_sums():
    """That x = 3 for one k says nothing about every k."""
    total = Sum(K(i, k), (k, 1, i))
    rejected(Eq(total, Sum(3, (k, 1, i))), "identity", Eq(K(i, k), 3))


def test_rules_about_sums_are_about_sums():
    for rule in ("split_last", "constant_sum", "linear_sum", "equicorrelated_sum"):
        rejected(Eq(alpha, alpha, evaluate=False), rule, match="is not a sum")
    rejected(Eq(Sum(alpha, (k, 1, i)), alpha * i), "equicorrelated_sum", match="is not a sum")
    rejected(Lt(0, alpha), "positive_sum", Lt(0, alpha), match="not of the form sum > 0")
    term = Step("p", Eq(K(i, i), 1), "input_gram")
    with pytest.raises(Rejected, match="is not a sum"):
        derive(term, Step("goal", Eq(alpha, alpha, evaluate=False), "termwise", ("p",)))


def test_equicorrelated_sum_in_detail():
    def shows(body, right, limits=((k, 1, i), (l, 1, j)), **options):
        shown(Eq(Sum(body, *limits), right), "equicorrelated_sum", given=[j <= i], **options)

    def fails(reason, body, right=alpha, limits=((k, 1, i), (l, 1, j)), given=(j <= i,)):
        rejected(Eq(Sum(body, *limits), right), "equicorrelated_sum", given=given, match=reason)

    counts = alpha * Sum(1, (k, 1, i)) * Sum(1, (k, 1, j)) + (1 - alpha) * Sum(1, (k, 1, j))
    shows(K(k, l), counts)
    shows(k * K(k, l), alpha * Sum(k, (k, 1, i)) * Sum(1, (k, 1, j)) + (1 - alpha) * Sum(k, (k, 1, j)))
    shows(l * K(k, l), alpha * Sum(1, (k, 1, i)) * Sum(k, (k, 1, j)) + (1 - alpha) * Sum(k, (k, 1, j)))
    fails("should start|must start", K(k, l), limits=((k, 2, i), (l, 1, j)))
    fails("should start|must start", K(k, l), limits=((k, 1, i), (l, 2, j)))
    fails("must start", K(k, l), limits=((k, 1, l), (l, 1, j)))
    fails("no single Gram entry", alpha * k * l)
    fails("no single Gram entry", K(k, l) * K(k, l + 1))
    fails("should be at", K(l, k))
    fails("should be at", K(k, k))
    fails("should be at", K(k, l + 1))
    fails("does not factor", (k + l) * K(k, l))
    fails("not equicorrelated", K(k, l, Sphere(d, 0)))
    fails("not equicorrelated|a value", K(k, l, Equicorrelated(alpha * k)))
    fails("should be", K(k, l), counts + 1)
    fails("is not available", K(k, l), counts, given=())
    fails("is not available", K(k, l), counts, given=(i <= j,))


def test_a_sum_with_one_term_more_or_less():
    shown(Eq(Sum(k, (k, j, i)), Sum(k, (k, j, i - 1)) + i), "split_last", given=[j <= i])
    rejected(Eq(Sum(k, (k, j, i)), Sum(k, (k, j, i - 1)) + i), "split_last", given=[j <= i + 1], match="not available")
    rejected(Eq(Sum(k, (k, 1, i)), Sum(k, (k, 1, i - 1)) + i - 1), "split_last", match="should be")
    rejected(Eq(Sum(k, (k, 1, i)), Sum(k, (k, 1, i - 2)) + i), "split_last", match="should be")


def test_termwise_is_about_one_range_and_one_index():
    def steps(left, right, given=(k <= i,)):
        return Step("p", Eq(K(k, k), 1), "input_gram", given=given), Step("goal", Eq(left, right), "termwise", ("p",))

    derive(*steps(Sum(K(k, k), (k, 1, i)), Sum(1, (k, 1, i))))
    for left, right, reason in (
        (Sum(K(k, k), (k, 1, i)), Sum(1, (k, 1, i + 1)), "ranges differ"),
        (Sum(K(k, k), (k, 2, i)), Sum(1, (k, 1, i)), "ranges differ"),
        (Sum(K(k, k), (k, 1, i)), Sum(1, (l, 1, i)), "ranges differ"),
        (Sum(K(k, k), (k, 1, i)), Sum(2, (k, 1, i)), "another equation"),
        (Sum(2 * K(k, k), (k, 1, i)), Sum(1, (k, 1, i)), "another equation"),
        (Sum(K(l, l), (l, 1, i)), Sum(1, (l, 1, i)), "is not available"),
        (Sum(K(k, k), (k, 1, i + 1)), Sum(1, (k, 1, i + 1)), "is not available"),
    ):
        with pytest.raises(Rejected, match=reason):
            derive(*steps(left, right))
    with pytest.raises(Rejected, match="is not available"):
        derive(*steps(Sum(K(k, k), (k, 1, i)), Sum(1, (k, 1, i)), (k <= i, j <= 3)))


def test_a_linear_sum_keeps_what_depends_on_the_index():
    shown(Eq(Sum(alpha * beta * k, (k, 1, i)), alpha * beta * Sum(k, (k, 1, i))), "linear_sum")
    rejected(Eq(Sum(alpha * k, (k, 1, i)), alpha * Sum(k, (k, 1, i - 1))), "linear_sum", match="should be")
    rejected(Eq(Sum(alpha * k, (k, 1, i)), beta * Sum(k, (k, 1, i))), "linear_sum", match="should be")
