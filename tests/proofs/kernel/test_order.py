"""Algebra, order and derivatives."""

from __future__ import annotations

import pytest
from sympy import Derivative, E, Eq, Ge, Gt, Implies, Integer, Le, Lt, Ne, Rational, exp, sqrt

from maskproof.proofs.kernel.known import Rejected
from maskproof.theory.derivation import Step
from maskproof.theory.layer_one import r
from maskproof.theory.symbols import alpha, beta, i, j, lam, m
from tests.proofs.kernel.steps import G, derive, rejected, shown


def test_identity():
    shown(Eq((i + 1) ** 2, i**2 + 2 * i + 1), "identity")
    rejected(Eq((i + 1) ** 2, i**2 + 2 * i), "identity")
    quotient = Eq((alpha**2 - 1) / (alpha - 1), alpha + 1)
    shown(quotient, "identity", given=[alpha < 1])
    rejected(quotient, "identity")  # alpha may be 1
    shown(Eq(G(1, i, i), 4), "identity", Eq(G(1, i, i), 2 + 2 * alpha), Eq(alpha, 1))


def test_sign():
    shown(Gt(1 / (i + alpha), 0), "sign", given=[alpha > -1])
    rejected(Gt(1 / (i + alpha), 0), "sign", given=[alpha > -2])
    rejected(Gt(lam, 0), "sign")
    rejected(Lt(1 / (alpha - 1), 1), "sign", given=[alpha > 0])  # alpha may be 1
    shown(Gt(alpha**2 + alpha, -1), "sign", hints={"form": (alpha + Rational(1, 2)) ** 2 + Rational(3, 4)})
    rejected(Gt(alpha, 0), "sign", hints={"form": lam + 1})  # a form that is another expression


def test_add():
    shown(Lt(alpha, beta + lam), "add", Lt(alpha, 2 * beta), Ge(lam, beta))
    rejected(Lt(alpha, beta + lam), "add", Le(alpha, 2 * beta), Ge(lam, beta))  # nothing is strict
    rejected(Lt(alpha, beta - lam), "add", Lt(alpha, 2 * beta), Ge(lam, beta))


def test_exponential():
    shown(Lt(exp(alpha), E), "exponential", given=[alpha < 1])
    shown(Ge(exp(beta), 1), "exponential")
    rejected(Gt(exp(beta), 1), "exponential")  # beta may be zero
    rejected(Lt(exp(alpha), exp(beta)), "exponential")


def test_root():
    shown(Lt(sqrt(alpha), sqrt(beta)), "root", Ge(alpha, 0), Lt(alpha, beta))
    rejected(Lt(sqrt(alpha), sqrt(beta)), "root", Lt(alpha, beta))  # alpha may be negative
    rejected(Lt(sqrt(beta), sqrt(alpha)), "root", Ge(alpha, 0), Lt(alpha, beta))


def test_product():
    shown(Lt(beta * alpha, beta * lam), "product", Lt(alpha, lam), Gt(beta, 0), hints={"factor": beta})
    rejected(Lt(beta * alpha, beta * lam), "product", Lt(alpha, lam), hints={"factor": beta})  # beta may be 0


def test_quotient():
    gram = G(1, i, j)
    known = [Lt(alpha, lam), Gt(alpha, 0)]
    up, down = Lt(gram / lam, gram / alpha), Gt(gram / lam, gram / alpha)
    shown(up, "quotient", *known, Gt(gram, 0), hints={"numerator": gram})
    shown(down, "quotient", *known, Lt(gram, 0), hints={"numerator": gram})
    rejected(down, "quotient", *known, Gt(gram, 0), hints={"numerator": gram})
    rejected(up, "quotient", *known, hints={"numerator": gram})  # the sign of the numerator is open
    rejected(up, "quotient", known[0], Gt(gram, 0), hints={"numerator": gram})  # alpha may be negative


def test_derivative():
    shown(Eq(Derivative(m**2, m), 2 * m), "derivative")
    rejected(Eq(Derivative(m**2, m), m), "derivative")
    rejected(Eq(Derivative(1 / m, m), -1 / m**2), "derivative")  # m may be zero


def test_decreasing():
    slope = Derivative(1 / (1 + m), m)

    def steps(statement, at, sign=-1):
        return (
            Step("slope", Eq(slope, -1 / (1 + m) ** 2), "derivative"),
            Step("negative", Lt(slope, 0), "sign", ("slope",)),
            Step("goal", statement, "decreasing", ("negative",), hints={"at": at}),
        )

    derive(*steps(Lt(1 / (1 + j), 1 / j), (j - 1, j)))
    for statement, at in (
        (Lt(1 / j, 1 / (1 + j)), (j - 1, j)),
        (Lt(1 / j, 1 / (j - 1)), (j - 2, j - 1)),  # j - 2 may be negative
        (Lt(1 / (1 + i), 1 / (1 + j)), (j, i)),  # i > j is not known
    ):
        with pytest.raises(Rejected):
            derive(*steps(statement, at))


def test_add_takes_inequalities_only():
    rejected(Lt(alpha, beta), "add", Lt(alpha, beta), Eq(lam, 0), match="a premise is not an inequality")
    rejected(Le(alpha, alpha, evaluate=False), "add", match="a premise is not an inequality")
    perhaps = Implies(lam > 1, Lt(alpha, beta))
    rejected(Lt(alpha, beta), "add", Lt(alpha, beta), perhaps, match="a premise is not an inequality")
    shown(Le(alpha, beta), "add", Lt(alpha, beta))
    rejected(Lt(alpha, beta), "add", Lt(beta, alpha), match="add up to something else")


def test_exponential_compares_exponentials():
    shown(Lt(exp(alpha), exp(beta)), "exponential", Lt(alpha, beta))
    rejected(Lt(exp(alpha), exp(beta)), "exponential", Le(alpha, beta), match="> 0 is not known")
    shown(Le(exp(alpha), exp(beta)), "exponential", Le(alpha, beta))
    rejected(Lt(alpha, E), "exponential", Lt(alpha, 1), match="is not an exponential")
    rejected(Lt(exp(alpha), 2), "exponential", Lt(alpha, 0), match="is not an exponential")
    shown(Lt(r, E), "exponential", Eq(r, exp(alpha)), Lt(alpha, 1))  # by its definition


def test_root_compares_roots_and_numbers():
    shown(Lt(2, sqrt(beta + 5)), "root")
    shown(Lt(0, sqrt(alpha)), "root", given=[alpha > 0])
    rejected(Lt(0, sqrt(alpha)), "root", given=[alpha >= 0], match="> 0 is not known")
    rejected(Lt(2, sqrt(beta + 4)), "root", match="> 0 is not known")
    rejected(Lt(-1, sqrt(beta), evaluate=False), "root", match="is not a root")
    rejected(Lt(sqrt(beta), beta + 1), "root", match="is not a root")
    rejected(Lt(sqrt(alpha), sqrt(beta)), "root", Lt(alpha, beta), match="a value")


def test_square():
    shown(Eq(sqrt(alpha), beta), "square", Eq(alpha, beta**2))
    rejected(Eq(sqrt(alpha), -beta), "square", Eq(alpha, beta**2), match="-.*beta >= 0 is not known")
    rejected(Eq(alpha, beta), "square", Eq(alpha**2, beta**2), match="alpha >= 0 is not known")
    rejected(Eq(beta, alpha), "square", Eq(alpha**2, beta**2), match="alpha >= 0 is not known")
    rejected(Eq(lam, beta), "square", Eq(lam, beta**2), match="no premise says")
    rejected(Eq(lam, beta), "square", match="no premise says")
    shown(Eq(lam, beta), "square", Eq(lam**2, beta**2))


def test_product_needs_the_other_factors_compared():
    hints = {"factor": beta}
    rejected(
        Lt(beta * alpha, beta * lam), "product", Lt(lam, alpha), Gt(beta, 0), hints=hints, match="no premise compares"
    )
    rejected(
        Lt(beta * alpha, beta * lam), "product", Le(alpha, lam), Gt(beta, 0), hints=hints, match="no premise compares"
    )
    rejected(Lt(beta * alpha, beta * lam), "product", Gt(beta, 0), hints=hints, match="no premise compares")
    rejected(Lt(-alpha, -lam), "product", Lt(alpha, lam), hints={"factor": Integer(-1)}, match="> 0 is not known")
    rejected(Le(beta * alpha, beta * lam), "product", Lt(alpha, lam), Gt(beta, 0), hints=hints, match="not of the form")


def test_quotient_needs_the_denominators_compared_and_positive():
    gram = G(1, i, j)
    hints, positive = {"numerator": gram}, Gt(gram, 0)
    up = Lt(gram / lam, gram / alpha)
    shown(up, "quotient", Lt(alpha, lam), Gt(alpha, 0), positive, hints=hints)
    rejected(up, "quotient", Lt(lam, alpha), Gt(lam, 0), positive, hints=hints, match="no premise gives")
    rejected(up, "quotient", Le(alpha, lam), Gt(alpha, 0), positive, hints=hints, match="no premise gives")
    rejected(up, "quotient", Gt(alpha, 0), positive, hints=hints, match="no premise gives")
    rejected(up, "quotient", Lt(alpha, lam), Ne(alpha, 0), Gt(lam, 0), positive, hints=hints, match="> 0 is not known")
    down = Gt(gram / lam, gram / alpha)
    rejected(down, "quotient", Lt(alpha, lam), Gt(alpha, 0), hints=hints, match="> 0 is not known")  # whichever sign
    rejected(down, "quotient", Lt(alpha, lam), Gt(alpha, 0), Lt(gram, 1), hints=hints, match="> 0 is not known")
    negative = [Lt(gram, 0), Lt(alpha, lam), Lt(alpha, 0)]
    rejected(Gt(gram / lam, gram / alpha), "quotient", *negative, Gt(lam, 0), hints=hints, match="> 0 is not known")
    rejected(
        Le(gram / lam, gram / alpha), "quotient", Lt(alpha, lam), Gt(alpha, 0), positive, hints=hints, match="form"
    )


def test_identity_and_derivative_are_about_equations():
    rejected(Le(alpha, alpha, evaluate=False), "identity", match="not of the form")
    rejected(Eq(m, 1), "derivative", Eq(m, 1), match="is not a derivative")
    shown(Eq(Derivative(alpha * m, m), 3), "derivative", Eq(alpha, 3))


def test_the_form_of_a_sign():
    form = {"form": (alpha + Rational(1, 2)) ** 2 + Rational(3, 4)}
    shown(Gt(alpha**2 + alpha + 1, 0), "sign", hints=form)
    shown(Ne(alpha**2 + alpha, -1), "sign", hints=form)
    rejected(Gt(alpha**2 + alpha, -2), "sign", hints=form, match="differ")
    rejected(Lt(alpha**2 + alpha + 1, 0), "sign", hints=form, match="differ")
    shown(Ge(alpha**2 - 2 * alpha + 1, 0), "sign", hints={"form": (alpha - 1) ** 2})
    rejected(Gt(alpha**2 - 2 * alpha + 1, 0), "sign", hints={"form": (alpha - 1) ** 2}, match="sign of")
    pole = (alpha**2 - 1) / (alpha - 1) * (alpha + 1)
    rejected(Ge((alpha + 1) ** 2, 0, evaluate=False), "sign", hints={"form": pole}, match="need not have a value")
    rejected(Eq(alpha, 0), "sign", Eq(alpha, 0), match="not of the form")
    rejected(Implies(alpha > 1, alpha > 0), "sign", match="not of the form")


def test_the_slope_of_a_falling_function_is_a_negative_derivative():
    slope = Derivative(-m, m)
    at = {"at": (lam, lam + 1)}
    goal = Step("goal", Lt(-lam - 1, -lam, evaluate=False), "decreasing", ("p",), hints=at)
    for statement in (Le(slope, 0), Lt(slope, 1), Gt(slope, -2), Eq(slope, -1), Lt(-m - 1, 0, evaluate=False)):
        facts = Step("d", Eq(slope, -1), "derivative"), Step("p", statement, "sign", ("d",))
        if isinstance(statement, Eq):
            facts = (Step("p", statement, "derivative"),)
        with pytest.raises(Rejected, match=r"step goal \(decreasing\): the premise is no negative derivative"):
            derive(*facts, goal)
    facts = Step("d", Eq(slope, -1), "derivative"), Step("n", Lt(slope, 0), "sign", ("d",))
    perhaps = Step("p", Implies(lam > 1, Lt(slope, 0)), "implication", ("n",))
    with pytest.raises(Rejected, match=r"step goal \(decreasing\): the premise is no negative derivative"):
        derive(*facts, perhaps, goal)
    real = Derivative(-alpha, alpha)
    facts = Step("d", Eq(real, -1), "derivative"), Step("p", Lt(real, 0), "sign", ("d",))
    with pytest.raises(Rejected, match="not a real variable >= 0"):
        derive(*facts, goal)


def test_a_place_has_a_value():
    """At alpha = 0 the second place is none, though the function there looks as if it had a value."""
    slope = Derivative(1 / (1 + m), m)
    facts = Step("d", Eq(slope, -1 / (1 + m) ** 2), "derivative"), Step("p", Lt(slope, 0), "sign", ("d",))
    goal = Step(
        "goal", Lt(alpha**2 / (1 + 2 * alpha**2), 1), "decreasing", ("p",),
        hints={"at": (Integer(0), alpha**-2 + 1)},
    )  # fmt: skip
    derive(*facts, goal, given=(Ne(alpha, 0),))
    with pytest.raises(Rejected, match="need not have a value"):
        derive(*facts, goal)
