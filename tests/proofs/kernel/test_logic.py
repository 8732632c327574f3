"""Hypotheses, citations, connectives, cases."""

from __future__ import annotations

import pytest
from sympy import And, Eq, Ge, Gt, Implies, Integer, Lt

from proofs.derivations import check
from proofs.kernel.known import Rejected
from tests.proofs.kernel.steps import K, S, derive, rejected, shown
from theory.derivation import Derivation, Step
from theory.symbols import alpha, beta, i, j, k, lam


def test_hypothesis():
    shown(Gt(alpha, 0), "hypothesis", given=[alpha > 0])
    shown(Ge(i - 1, 0), "hypothesis")
    shown(Lt(k, i), "hypothesis", given=[k <= j, j < i])
    rejected(Gt(alpha, 0), "hypothesis", given=[alpha >= 0])
    rejected(Lt(i, j), "hypothesis", given=[j < i])


LEMMA = Derivation("lemma", "", (j < i,), (Step("off", Eq(K(i, j), alpha), "input_gram"),))


def cited(statement, values, given):
    hints = {"lemma": "lemma", "step": "off", "values": values}
    return derive(Step("goal", statement, "cite", hints=hints), given=given, lemmas=[LEMMA])


def test_cite():
    cited(Eq(K(i, k), alpha), {j: k}, [k < i])
    for statement, values, given in (
        (Eq(K(i, k), alpha), {j: k}, []),  # the lemma's hypothesis is not met
        (Eq(K(i, k), alpha), {j: j}, [k < i, j < i]),  # another statement
        (Eq(K(i, j), lam), {alpha: lam}, [j < i]),  # the law would have to change as well
        (Eq(K(i, j), alpha), {}, [i < j]),
    ):
        with pytest.raises(Rejected):
            cited(statement, values, given)


def test_values_obey_the_assumptions_of_the_symbols_they_replace():
    lemma = Derivation("lemma", "", (), (Step("off", Ge(lam, 0), "hypothesis"),))
    for value in (Integer(-1), alpha):
        hints = {"lemma": "lemma", "step": "off", "values": {lam: value}}
        with pytest.raises(Rejected):
            derive(Step("goal", Ge(value, 0) if value is alpha else Gt(lam, -1), "cite", hints=hints), lemmas=[lemma])
    half = {"lemma": "lemma", "step": "off", "values": {i: Integer(1) / 2}}
    positions = Derivation("lemma", "", (), (Step("off", Ge(i, 1), "hypothesis"),))
    with pytest.raises(Rejected, match="not an integer"):
        derive(Step("goal", Ge(alpha, 1), "cite", hints=half), lemmas=[positions])


def test_implication_and_detach():
    condition, conclusion = Gt(alpha, 1), Gt(alpha, 0)
    derive(
        Step("a", conclusion, "hypothesis", given=(condition,)),
        Step("b", Implies(condition, conclusion), "implication", ("a",)),
    )
    with pytest.raises(Rejected):
        derive(
            Step("a", conclusion, "hypothesis", given=(condition,)),
            Step("b", Implies(Gt(alpha, -1), conclusion), "implication", ("a",)),
        )
    shown(conclusion, "detach", Implies(Gt(beta, lam), conclusion), Gt(beta, lam))
    rejected(conclusion, "detach", Implies(Gt(beta, lam), conclusion))
    rejected(Gt(beta, lam), "detach", Implies(Gt(beta, lam), conclusion), conclusion)  # the converse


def test_conjunction():
    shown(And(alpha > 0, beta > 1), "conjunction", alpha > 0, beta > 1)
    rejected(And(alpha > 0, beta > 1), "conjunction", alpha > 0)


def test_equals():
    shown(Lt(S(2, i, j), 1), "equals", Lt(S(2, i, i - 1), 1), given=[Eq(j, i - 1)])
    rejected(Lt(S(2, i, j), 1), "equals", Lt(S(2, i, i - 1), 1), given=[Eq(j, i - 2)])


@pytest.mark.parametrize(
    ("first", "second", "complete"),
    [
        (Lt(j + 1, i), Eq(j, i - 1), True),
        (Lt(j + 1, i), Ge(j + 1, i), True),
        (Lt(j + 1, i), Eq(j, i - 2), False),
        (Lt(j + 2, i), Eq(j, i - 2), False),
        (Gt(alpha, 0), Lt(alpha, 0), False),
    ],
)
def test_cases(first, second, complete):
    derivation = Derivation(
        "test", "", (j < i,),
        (
            Step("a", Ge(i - j, 1), "hypothesis", given=(first,)),
            Step("b", Ge(i - j, 1), "hypothesis", given=(second,)),
            Step("goal", Ge(i - j, 1), "cases", ("a", "b")),
        ),
    )  # fmt: skip
    if complete:
        check(derivation)
    else:
        with pytest.raises(Rejected):
            check(derivation)
