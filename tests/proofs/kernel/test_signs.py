"""Signs: what is shown holds, and what can fail is not shown."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from sympy import E, Eq, Ne, Rational, Sum, exp, sqrt

from maskproof.proofs.kernel.signs import Facts
from maskproof.proofs.terms import terms as t
from maskproof.proofs.terms.reading import read_statement, read_term
from maskproof.theory.layer_one import r
from maskproof.theory.symbols import alpha, beta, i, j, k, lam
from tests.proofs.kernel.steps import l
from tests.proofs.terms import numbers

MANY_DO_NOT_FIT = settings(suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])


def facts(*relations):
    return Facts.of(map(read_statement, relations))


def positive(known, e, strict=True):
    return known.is_positive(read_term(e), strict)


FACTS = facts(j < i, k <= j, alpha < 1, alpha >= 0, r >= 1)


@pytest.mark.parametrize(
    "e", [i - 1, i - j - 1 + k, r + i - 1, r**2 - 1 + alpha, i - k, E - 2, 3 - E, 1 / (r + i), sqrt(r) + 1]
)
def test_non_negative_expressions_are_seen(e):
    assert positive(FACTS, e, False)


@pytest.mark.parametrize(
    "e", [i - j - 2, alpha - Rational(1, 10), 2 - r, E - 3, lam - alpha, -i, i - k - 2, alpha, exp(-100) - exp(-99)]
)
def test_no_sign_is_claimed_that_can_fail(e):
    assert not positive(FACTS, e)


def test_strictness_is_kept_apart():
    assert positive(FACTS, r - 1, False)
    assert not positive(FACTS, r - 1)
    assert positive(FACTS, 1 - alpha)
    assert not positive(FACTS, lam)
    assert positive(FACTS, r)  # its sort
    assert not positive(facts(), sqrt(lam))
    assert positive(facts(), sqrt(lam), False)
    assert not positive(facts(alpha >= 0, beta > 0), alpha * beta)
    assert positive(facts(alpha > 0, beta > 0), alpha * beta)
    assert positive(facts(alpha > 0), alpha + lam)
    assert not positive(facts(alpha >= 0), alpha + lam)


@pytest.mark.parametrize(
    ("sort", "least", "taken"),
    [(t.Sort.POSITION, 1, True), (t.Sort.NATURAL, 0, True), (t.Sort.NONNEGATIVE, 0, True), (t.Sort.POSITIVE, 0, False)],
)
def test_a_variable_is_at_least_what_its_sort_says(sort, least, taken):
    excess = t.plus(t.Variable("x", sort), t.number(-least))
    assert Facts().is_positive(excess, False)
    assert Facts().is_positive(excess) is not taken
    assert not Facts().is_positive(t.plus(excess, t.Number(Fraction(-1, 10**9))), False)


def test_integers_that_differ_differ_by_one():
    assert positive(facts(j < i), i - j - 1, False)
    assert not positive(facts(alpha < lam), lam - alpha - 1, False)
    assert not positive(facts(j < i + Rational(1, 2)), i - j - Rational(1, 2), False)


def test_a_root_has_a_sign_only_where_its_radicand_has():
    assert not positive(facts(), sqrt(alpha), False)
    assert positive(facts(alpha > 0), sqrt(alpha))
    assert positive(facts(alpha >= 0), sqrt(alpha), False)
    assert not positive(facts(alpha >= 0), sqrt(alpha))


def test_an_equation_gives_both_signs():
    assert positive(facts(Eq(alpha, 2)), alpha - 1)
    assert positive(facts(Eq(alpha, 2)), 3 - alpha)


def test_parts():
    known = facts(alpha > 0, beta >= 1)
    assert positive(known, (alpha - 3) ** 2, False)
    assert not positive(known, (alpha - 3) ** 2)
    assert positive(facts(Ne(alpha, 3)), (alpha - 3) ** 2)
    assert not positive(known, (alpha - 3) ** 3, False)
    assert positive(known, (alpha - 3) ** -2) is False
    assert positive(known, Sum(alpha * k, (k, 1, i)))
    assert positive(known, Sum(alpha * k, (k, i, j)), False)
    assert not positive(known, Sum(alpha * k, (k, i, j)))  # it may be empty
    assert not positive(known, Sum(alpha - k, (k, 1, i)), False)
    assert positive(facts(), Sum(i - k, (k, 1, i)), False)
    assert not positive(facts(), Sum(i - k - 1, (k, 1, i)), False)


def test_what_is_known_of_a_variable_says_nothing_of_an_index_of_its_name():
    assert not positive(facts(k > 5), Sum(k - 5, (k, 1, i)), False)
    assert positive(facts(k > 5), Sum(k, (k, 1, i)))
    own = t.Sum(t.plus(read_term(l), t.number(-1)), read_term(k), t.ONE, read_term(i))  # type: ignore[arg-type]
    assert positive(facts(l > 2), l - 1)
    assert Facts.of([read_statement(l > 2)]).is_positive(own)


def test_nonzero():
    def nonzero(e, *known):
        return facts(*known).is_nonzero(read_term(e))

    assert nonzero(alpha, Ne(alpha, 0))
    assert nonzero(1 - alpha, Ne(alpha, 1))
    assert nonzero(alpha, alpha < 0)
    assert nonzero(alpha * beta, Ne(alpha, 0), beta > 0)
    assert nonzero(alpha**2, Ne(alpha, 0))
    assert nonzero(sqrt(alpha), alpha > 0)
    assert not nonzero(alpha)
    assert not nonzero(alpha * beta, beta > 0)
    assert not nonzero(alpha, alpha >= 0)
    assert not nonzero(sqrt(alpha), alpha >= 0)
    assert not nonzero(sqrt(alpha), Ne(alpha, 0))


@pytest.mark.parametrize("e", [exp(10**30), exp(-(10**30)), exp(10**30) - exp(10**29), exp(Rational(1, 10**40)) - 1])
def test_exponentials_of_any_number_are_enclosed(e):
    positive(facts(), e)  # whatever it says, it ends
    assert not positive(facts(), -e)


def test_high_degrees_are_left_alone():
    e: t.Term = numbers.i
    for _ in range(9):
        e = t.Power(e, 190)
    Facts().is_positive(t.plus(e, t.number(-1)))


_CONSTANTS = st.integers(-3, 3)


@MANY_DO_NOT_FIT
@given(c=st.lists(_CONSTANTS, min_size=6, max_size=6), data=st.data())
def test_a_sign_that_is_shown_holds_at_points(c, data):
    """Random quadratics: whatever ``is_positive`` accepts is positive at random admissible points."""
    e = c[0] + c[1] * i + c[2] * j + c[3] * i * j + c[4] * r + c[5] * alpha * r
    assume(positive(FACTS, e))
    key = data.draw(st.integers(1, 20))
    query = data.draw(st.integers(key + 1, 40))
    at = {
        j: key,
        i: query,
        r: 1 + data.draw(st.fractions(0, 50)),
        alpha: data.draw(st.fractions(0, Rational(99, 100))),
    }
    assert e.subs(at) > 0


@MANY_DO_NOT_FIT
@given(
    e=numbers.terms,
    known=st.lists(st.tuples(st.sampled_from(["<", "<=", "=", "!="]), numbers.terms, numbers.terms), max_size=3),
    at=numbers.points,
    strict=st.booleans(),
)
def test_no_sign_is_wrong_at_a_point_that_satisfies_the_facts(e, known, at, strict):
    relations = [t.Relation(*each) for each in known]
    assume(Facts.of(relations).is_positive(e, strict))
    sides = [(each.kind, numbers.value(each.left, at), numbers.value(each.right, at)) for each in relations]
    for kind, left, right in sides:
        assume(left is not None and right is not None)
        assume({"<": left < right, "<=": left <= right, "=": left == right, "!=": left != right}[kind])  # type: ignore[arg-type]
    value = numbers.value(e, at)
    assert value is None or value > -(mpmath.mpf(10) ** -40)
    assert not strict or value is None or value > 0


@MANY_DO_NOT_FIT
@given(e=numbers.terms, at=numbers.points)
def test_nothing_is_wrongly_said_to_differ_from_zero(e, at):
    assume(Facts().is_nonzero(e))
    value = numbers.value(e, at)
    assert value is None or value != 0


@pytest.mark.parametrize(
    ("known", "yes", "no"),
    [
        (facts(alpha <= 1), -1 / (alpha - 2), 1 / (alpha - 2)),  # both parts of the fraction are negative
        (facts(alpha >= 0), exp(alpha) + alpha, exp(beta * alpha) - 1),
        (facts(alpha > 0), exp(alpha * beta), exp(-alpha) - 1),
        (facts(alpha >= 1), alpha**3, (alpha - 1) ** 3),
        (facts((alpha - 1) / beta > 0, beta > 0), (alpha - 1) / beta, alpha - 1),  # of a fraction nothing is read off
        (facts(j < i), Sum(k, (k, 1, i)), Sum(k - 1, (k, 1, i))),
        (facts(i >= 5), Sum(i + 1 - k, (k, 1, i)), Sum(i - k, (k, 1, i))),
        (facts(i >= 5), Sum(k - 2, (k, 3, i)), Sum(2 - k, (k, 3, i))),
    ],
)
def test_what_is_shown_and_what_is_next_to_it(known, yes, no):
    assert positive(known, yes)
    assert not positive(known, no)


def test_what_may_vanish_is_not_said_to_differ_from_zero():
    known = facts(alpha >= 0)
    for e in (alpha, alpha**2, alpha**3, alpha * beta, sqrt(beta)):
        assert not known.is_nonzero(read_term(e))
        assert positive(known, e**2, False)
        assert not positive(known, e**2)
    assert known.is_nonzero(read_term((alpha + 1) ** 2))


def test_a_sum_within_its_range():
    known = facts(i >= 5)
    assert positive(known, Sum(k - 1, (k, 1, i)), False)
    assert positive(known, Sum(i - k, (k, 1, i)), False)
    assert not positive(known, Sum(1 - k, (k, 1, i)), False)
    assert not positive(known, Sum(k - i, (k, 1, i)), False)
