"""Limits at infinity."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sympy import And, Eq, Ge, Implies, Le, Limit, Lt, Mul, Ne, Pow, Rational, Sum, Symbol, exp, oo, sqrt

from maskproof.proofs.kernel.known import Rejected
from maskproof.theory.derivation import Step
from maskproof.theory.symbols import alpha, beta, i, j, k, lam
from tests.proofs.kernel.steps import G, K, derive, rejected, shown


def to_infinity(e):
    return Limit(e, i, oo)


def test_rational_limit():
    shown(Eq(to_infinity((2 * i + 1) / (i + lam)), 2), "rational_limit")
    shown(Eq(to_infinity(1 / i), 0), "rational_limit")
    rejected(Eq(to_infinity((2 * i + 1) / (i + lam)), 1), "rational_limit")
    rejected(Eq(to_infinity(i), 0), "rational_limit")
    rejected(Eq(to_infinity(1 / (alpha * i + 1)), 0), "rational_limit")  # alpha may be zero
    rejected(Eq(to_infinity((i * alpha) / (alpha * i)), 1), "rational_limit", given=[i > 3])


def test_limit_algebra():
    known = Eq(to_infinity(G(1, i, j)), alpha), Eq(to_infinity(G(1, i, i)), lam + 1)
    shown(Eq(to_infinity(G(1, i, j) / sqrt(G(1, i, i))), alpha / sqrt(lam + 1)), "limit_algebra", *known)
    rejected(Eq(to_infinity(G(1, i, i) / G(1, i, j)), (lam + 1) / alpha), "limit_algebra", *known)


def test_infinity_times_zero_is_not_zero():
    """i (G - alpha) need not tend to zero although G tends to alpha."""
    known = Eq(to_infinity(G(1, i, j)), alpha)
    rejected(Eq(to_infinity(i * (G(1, i, j) - alpha)), 0), "limit_algebra", known)


def test_limit_of_equal():
    steps = [
        Step("same", Eq(K(i, j), alpha), "input_gram", given=(j < i,)),
        Step("limit", Eq(to_infinity(alpha), alpha), "rational_limit"),
    ]
    goal = Step("goal", Eq(to_infinity(K(i, j)), alpha), "limit_of_equal", ("same", "limit"))
    assert to_infinity(alpha).has(Limit)
    derive(*steps, goal, given=(alpha >= 0, alpha < 1))
    with pytest.raises(Rejected, match="need not hold for large i"):
        derive(*steps, goal)  # only so many vectors have a negative cosine
    never = Step("same", Eq(K(i, j), alpha), "input_gram", given=(i < j,))
    with pytest.raises(Rejected, match="large"):
        derive(never, *steps[1:], goal, given=(alpha >= 0, alpha < 1))


def test_a_limit_is_an_equation_for_a_fresh_variable():
    limit = Step("p", Eq(to_infinity(1 / i), 0), "rational_limit")
    equal = Step("e", Eq(1 / i, 1 / i, evaluate=False), "identity")
    for rule, premises in (("rational_limit", ()), ("limit_algebra", ("p",)), ("limit_of_equal", ("e", "p"))):

        def goal(statement, given=(), rule=rule, premises=premises):
            derive(limit, equal, Step("goal", statement, rule, premises, given))

        goal(Eq(to_infinity(1 / i), 0))
        for statement, given, reason in (
            (Eq(1 / i, 0, evaluate=False), (), "is not a limit"),
            (Lt(to_infinity(1 / i), 1), (), "not of the form"),
            (Eq(to_infinity(1 / i), 0), (i < 5,), "not fresh"),
            (Eq(to_infinity(1 / i), 1 / i), (), "the limit depends on i"),
            (Eq(to_infinity(1 / i), 1), (), "differ|is not the limit"),
        ):
            with pytest.raises(Rejected, match=reason):
                goal(statement, given)


def test_rational_limits_in_detail():
    for e, value in (
        (alpha, alpha), ((alpha * i + 1) / (i + 1), alpha), ((alpha * i + beta) / (2 * i**2 + 1), 0),
        ((i**2 + 1) / (3 * i**2 - i), Rational(1, 3)), ((i + lam) / (i * exp(alpha) + 1), exp(-alpha)), (i - i, 0),
        (Mul(0, i, evaluate=False), 0), (1 / (i - 3), 0), (1 / (3 - i), 0),
    ):  # fmt: skip
        shown(Eq(Limit(e, i, oo), value, evaluate=False), "rational_limit")
    for e, value, reason in (
        (i, 0, "does not converge"), (i**2 / (i + 1), 0, "does not converge"), ((2 * i + 1) / (i + 1), 0, "differ"),
        (1 / i, 1, "differ"), (sqrt(i) / i, 0, "not a rational function"), (exp(-i), 0, "not a rational function"),
        (G(1, i, j), 0, "not a rational function"), (Sum(1, (k, 1, i)) / i, 1, "not a rational function"),
        (1 / (alpha * i + 1), 0, "may vanish"), ((i + 1) / (alpha * i + beta), 1 / alpha, "may vanish"),
        (1 / (i + 1 / alpha), 0, "a value"),
    ):  # fmt: skip
        rejected(Eq(to_infinity(e), value), "rational_limit", match=reason)
    shown(Eq(to_infinity((i + 1) / (alpha * i + beta)), 1 / alpha), "rational_limit", given=[Ne(alpha, 0)])
    shown(Eq(to_infinity((i + 1) / (alpha * i + beta)), 1), "rational_limit", Eq(alpha, 1))
    inside = Mul(alpha, i, 1 / i, evaluate=False)
    flat = Mul(
        Pow(inside, Rational(1, 2), evaluate=False), 1 / i, evaluate=False
    )  # sqrt(alpha)/i, but it is no matter of large i
    rejected(Eq(to_infinity(flat), 0), "rational_limit", given=[alpha < 0], match="for large i")
    real = Symbol("x", real=True)
    shown(Eq(Limit(1 / real, real, oo), 0), "rational_limit")


def test_conditions_that_only_bound_variables_mention_do_not_depend_on_the_limit():
    """Here i is bound twice: as index of a sum and by the limit."""
    total = Sum(1 / (i + lam + 1), (i, 1, 5))
    shown(Eq(to_infinity(total + 1 / i), total), "rational_limit")
    pole = Sum(1 / (i - 3), (i, 1, 5))
    rejected(Eq(to_infinity(pole + 1 / i), pole), "rational_limit", match="a value")
    inner = exp((alpha * i) / (alpha * i + i))
    rejected(Eq(to_infinity(inner + 1 / i), exp(alpha / (alpha + 1))), "rational_limit", match="may vanish")
    shown(Eq(to_infinity(inner + 1 / i), exp(alpha / (alpha + 1))), "rational_limit", given=[alpha > 0])


def test_limit_algebra_in_detail():
    g, h = G(1, i, j), G(1, i, i)
    known = Eq(to_infinity(g), alpha), Eq(to_infinity(h), lam + 1)
    for e, value in (
        (g + h, alpha + lam + 1), (g * h, alpha * (lam + 1)), (exp(g), exp(alpha)), (g**2, alpha**2),
        (beta * g, beta * alpha),
        (1 / h, 1 / (lam + 1)), (sqrt(h), sqrt(lam + 1)),
    ):  # fmt: skip
        shown(Eq(to_infinity(e), value), "limit_algebra", *known)
    for e, value, reason in (
        (g + h, alpha, "differ"), (1 / g, 1 / alpha, "not known in the limit"), (sqrt(g), sqrt(alpha), "in the limit"),
        (g + 1 / i, alpha, "is not among the premises"), (G(1, i, k), alpha, "is not among the premises"),
        (G(2, i, j), alpha, "is not among the premises"), (g + 1 / beta, alpha + 1 / beta, "not known in the limit"),
    ):  # fmt: skip
        rejected(Eq(to_infinity(e), value), "limit_algebra", *known, match=reason)
    shown(Eq(to_infinity(sqrt(g)), sqrt(alpha)), "limit_algebra", known[0], given=[alpha > 0])
    rejected(Eq(to_infinity(sqrt(g)), sqrt(alpha)), "limit_algebra", known[0], given=[alpha >= 0], match="in the limit")
    other = Eq(Limit(G(1, k, j), k, oo), alpha), Ne(alpha, 5)
    rejected(Eq(to_infinity(G(1, k, j) + g - g), alpha), "limit_algebra", *other)


def test_limit_of_equal_in_detail():
    g, x = G(1, i, j), alpha + 1 / i
    limit = Step("l", Eq(to_infinity(x), alpha), "rational_limit")
    strange = Step("s", Lt(x, x + 1, evaluate=False), "sign")
    wide = (alpha >= 0, alpha < 1)

    def goal(statement, *premises, given=()):
        derive(limit, strange, *premises[0], Step("goal", statement, "limit_of_equal", premises[1]), given=given)

    def equality(*given):
        return Step("e", Eq(g, x), "hypothesis", given=(Eq(g, x), *given))

    own = Step("e", Eq(x + lam - lam + K(j, j), x + 1), "identity", ("u",), (i > j,))
    unit = Step("u", Eq(K(j, j), 1), "input_gram")
    f = Eq(to_infinity(x + K(j, j)), alpha + 1)
    more = Step("m", Eq(to_infinity(x + 1), alpha + 1), "rational_limit")
    goal(f, (unit, own, more), ("e", "m"), given=wide)
    for premises, reason in (
        (("l", "m"), "no equation for the function"), (("s", "m"), "no equation for the function"),
        (("e", "l"), "not the limit of the other form"), (("e", "s"), "not the limit of the other form"),
        (("m", "e"), "is not available"),
    ):  # fmt: skip
        with pytest.raises(Rejected, match=reason):
            goal(f, (unit, own, more), premises, given=wide)
    with pytest.raises(Rejected, match="need not hold for large i"):
        goal(Eq(to_infinity(g), alpha), (equality(),), ("e", "l"), given=wide)
    for given in (
        (i < j,), (i > j, i < 100), (Ne(i, j),), (Lt(1 / lam, i),), (Eq(j + 2, i),), (i > j, Lt(3, 10 - i)),
        (i > j, Lt(i**2 - 3, i)),
    ):  # fmt: skip
        with pytest.raises(Rejected, match="large"):
            goal(f, (unit, replace(own, given=given), more), ("e", "m"), given=wide)
    goal(f, (unit, replace(own, given=(i >= j + 5, i > 3)), more), ("e", "m"), given=wide)
    late = replace(more, given=(lam > 5,))
    with pytest.raises(Rejected, match="is not available"):
        goal(f, (unit, own, late), ("e", "m"), given=wide)


def test_limit_of_square():
    square = Eq(to_infinity(G(1, i, j) ** 2), 0)
    shown(Eq(to_infinity(G(1, i, j)), 0), "limit_of_square", square)
    rejected(Eq(to_infinity(G(1, i, j)), 1), "limit_of_square", square, match="not 0")
    rejected(Eq(to_infinity(G(1, i, i)), 0), "limit_of_square", square, match="limit of the square")
    rejected(Eq(to_infinity(G(1, i, j)), 0), "limit_of_square", Eq(to_infinity(G(1, i, j)), 0), match="of the square")
    rejected(Eq(to_infinity(G(1, i, j)), 1), "limit_of_square", Eq(to_infinity(G(1, i, j) ** 2), 1), match="not 0")
    less = Mul(alpha - 1, 1 / (alpha - 1), 1 / i, evaluate=False)  # has no value at alpha = 1
    more = Eq(to_infinity(i**-2), 0)
    rejected(Eq(to_infinity(less), 0), "limit_of_square", more, match="where the function has none")
    flat = Step("p", Eq(to_infinity(-1 / i), 0), "rational_limit")
    with pytest.raises(Rejected):  # the root of a negative number, whose square is one all the same
        derive(flat, Step("goal", Eq(to_infinity(sqrt(-1 / i)), 0), "limit_of_square", ("p",)))


def test_an_inequality_gives_no_limit():
    """Nor does any other statement that is not the equation."""
    f = alpha + 1 / i
    more = Step("m", Eq(to_infinity(f + 1), alpha + 1), "rational_limit")
    goal = Step("goal", Eq(to_infinity(f), alpha + 1), "limit_of_equal", ("p", "m"))
    below = Step("p", Lt(f, f + 1, evaluate=False), "sign")
    both = Step("p", And(Lt(f, f + 1, evaluate=False), Ge(lam, 0, evaluate=False)), "hypothesis")
    for premise in (below, replace(below, statement=Le(f, f + 1, evaluate=False)), both):
        with pytest.raises(Rejected, match="no equation for the function"):
            derive(more, premise, goal)


def test_premises_that_are_no_limits_give_parts_no_value():
    limit = Eq(to_infinity(G(1, i, j)), alpha)
    others = Eq(lam, 1), Eq(K(j, j), 1), Lt(beta, 1), Implies(lam > 1, Lt(beta, 2))
    shown(Eq(to_infinity(G(1, i, j) + lam), alpha + 1), "limit_algebra", limit, *others)
    below = Lt(limit.lhs, alpha)
    rejected(limit, "limit_algebra", below, match="is not among the premises")
    other = Eq(Limit(G(1, k, j), k, oo), alpha)
    rejected(
        Eq(to_infinity(G(1, k, j) + 1 / (i + 1)), alpha), "limit_algebra", other, match="is not among the premises"
    )
