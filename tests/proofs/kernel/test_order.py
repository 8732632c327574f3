"""Algebra, order and derivatives."""

from __future__ import annotations

import pytest
from sympy import Derivative, E, Eq, Ge, Gt, Le, Lt, Rational, exp, sqrt

from proofs.kernel.known import Rejected
from tests.proofs.kernel.steps import G, derive, rejected, shown
from theory.derivation import Step
from theory.symbols import alpha, beta, i, j, lam, m


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
