"""Hypotheses, citations, connectives, cases."""

from __future__ import annotations

import pytest
from sympy import And, Eq, Ge, Gt, Implies, Integer, Lt, Ne

from maskproof.proofs.engines.derivations import check, prove
from maskproof.proofs.kernel.known import Rejected
from maskproof.theory.claim import Claim
from maskproof.theory.derivation import Derivation, Step
from maskproof.theory.symbols import alpha, beta, i, j, k, lam
from tests.proofs.kernel.steps import G, K, S, derive, rejected, shown


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


def test_a_hypothesis_holds_part_by_part():
    shown(And(alpha > 0, beta > 1), "hypothesis", given=[alpha > 1, beta > 2])
    rejected(And(alpha > 0, beta > 1), "hypothesis", given=[alpha > 1])
    shown(Implies(alpha > 0, beta > 1), "hypothesis", given=[Implies(alpha > 0, beta > 1)])
    rejected(Implies(alpha > 0, beta > 1), "hypothesis", given=[Implies(alpha > 0, beta > 0)])
    shown(Eq(alpha, 1), "hypothesis", given=[alpha <= 1, alpha >= 1])
    rejected(Eq(alpha, 1), "hypothesis", given=[alpha <= 1, alpha >= 0])
    rejected(Eq(alpha, 1), "hypothesis", given=[alpha >= 1])
    shown(Ne(alpha, 1), "hypothesis", given=[Ne(1, alpha)])
    shown(Lt((alpha + 1) ** 2, 3), "hypothesis", given=[alpha**2 + 2 * alpha + 1 < 3])
    shown(Lt(G(1, i, j), 3), "hypothesis", given=[G(1, i, j) < 3])
    rejected(Lt(G(1, i, j), 3), "hypothesis", given=[G(1, j, i) < 3])
    rejected(Lt(G(1, i, j), 3), "hypothesis", given=[G(2, i, j) < 3])


def test_an_implication_needs_its_own_conclusion_and_premise():
    premise = Step("a", Gt(alpha, 0), "hypothesis", given=(alpha > 1,))

    def goal(statement, given=()):
        derive(premise, Step("goal", statement, "implication", ("a",), given))

    goal(Implies(alpha > 1, alpha > 0))
    goal(Implies(alpha > 2, alpha > 0))
    for statement, reason in (
        (Implies(alpha > 1, beta > 0), "the premise is another statement"),
        (Implies(alpha >= 1, alpha > 0), "is not available"),
        (Implies(beta > 1, alpha > 0), "is not available"),
        (Gt(alpha, 0), "not an implication"),
    ):
        with pytest.raises(Rejected, match=reason):
            goal(statement)


def test_detach_needs_the_condition_with_its_value():
    rule = Implies(beta > lam, alpha > 0)
    shown(Gt(alpha, 0), "detach", rule, Gt(beta, lam + 1))
    rejected(Gt(alpha, 0), "detach", rule, Ge(beta, lam), match="no premise implies")
    rejected(Gt(alpha, 1), "detach", rule, Gt(beta, lam), match="no premise implies")
    rejected(Gt(alpha, 0), "detach", Gt(beta, lam), match="no premise implies")


def test_conjunction_needs_every_part():
    shown(And(alpha > 0, beta > 1, lam > 2), "conjunction", And(beta > 1, lam > 2), alpha > 0)
    rejected(And(alpha > 0, beta > 1), "conjunction", alpha > 0, beta >= 1, match="no premise gives")
    rejected(And(alpha > 0, beta > 1), "conjunction", match="no premise gives")


def test_equals_puts_equals_for_equals_with_their_values():
    shown(Lt(alpha, 1), "equals", Lt(beta, 1), given=[Eq(alpha, beta)])
    shown(Lt(G(1, i, j), 1), "equals", Lt(G(1, i, 2), 1), given=[Eq(j, 2)])
    rejected(Lt(alpha, 1), "equals", Lt(beta, 1), given=[Eq(alpha, lam)], match="no hypothesis turns")
    rejected(Lt(alpha, 1), "equals", Lt(beta, 1), given=[alpha <= beta], match="no hypothesis turns")
    pole = Lt(beta * (alpha**2 - 1) / ((alpha - 1) * (alpha + 1)), 1)
    rejected(pole, "equals", Lt(beta, 1), given=[Eq(lam, 1)], match="the statement need not have a value")
    lost = Step("p", Lt(beta, 1), "hypothesis", given=(beta < 1,))
    with pytest.raises(Rejected, match="is not available"):
        derive(lost, Step("goal", Lt(alpha, 1), "equals", ("p",), (Eq(alpha, beta),)))


def test_cases_have_one_condition_each_and_compare_the_same_things():
    def goal(*conditions, given=(), statement=None):
        steps = [Step(f"{n}", Ge(i - j, 1), "hypothesis", given=c) for n, c in enumerate(conditions)]
        labels = tuple(step.label for step in steps)
        derive(
            *steps,
            Step("goal", Ge(i - j, 1) if statement is None else statement, "cases", labels),
            given=(j < i, *given),
        )

    goal((alpha > 0,), (alpha <= 0,))
    goal((alpha > beta,), (beta >= alpha,))
    goal((2 * alpha > 0,), (2 * alpha <= 0,))
    goal(())
    goal((alpha > 0,), ())
    for reason, conditions in (
        ("there are no cases", ()),
        ("more than one condition", ((alpha > 0, beta > 0), (alpha <= 0,))),
        ("more than one condition", ((alpha > 0, alpha > -1), (alpha <= 0,))),
        ("compare different things", ((alpha > 0,), (beta <= 0,))),
        ("compare different things", ((alpha > 0,), (alpha <= 1,))),
        ("leave something out", ((alpha > 0,), (alpha < 0,))),
        ("need not have a value", ((1 / alpha > 0,), (1 / alpha <= 0,))),
        ("is not a relation", ((Implies(alpha > 0, beta > 0),), (alpha <= 0,))),
    ):
        with pytest.raises(Rejected, match=reason):
            goal(*conditions)
    with pytest.raises(Rejected, match="another statement"):
        goal((alpha > 0,), (alpha <= 0,), statement=Ge(i, j))
    goal((alpha > 0,), (alpha < 0,), given=(Ne(alpha, 0),))
    goal((alpha > 0,), (Eq(alpha, 0),), given=(alpha >= 0,))
    goal((Eq(alpha, 0),), (alpha < 0,), given=(alpha <= 0,))


def test_what_a_line_has_a_value_for_is_known_where_it_is_used():
    """That beta^2 - lam^2 != 0 does not follow at once from beta != lam, but in each of two cases."""
    apart = Ne(beta, lam)
    pole = 1 / (beta**2 - lam**2)
    p = Lt(pole, pole + 1, evaluate=False)
    rejected(p, "sign", given=[apart], match="a value")
    chain = (
        Step("above", p, "sign", given=(beta > lam,)),
        Step("below", p, "sign", given=(beta < lam,)),
        Step("both", p, "cases", ("above", "below"), (apart,)),
    )
    derive(*chain)
    derive(*chain, Step("x", Implies(apart, p), "implication", ("both",)))
    derive(*chain, Step("i", Implies(apart, p), "implication", ("both",)), Step("x", p, "detach", ("i",), (apart,)))
    derive(*chain, Step("x", p, "cite", ("both",), (apart,)))
    prove(Claim("claim", p, apart), Derivation("chain", "", (), chain))
    moved = 1 / (alpha**2 - lam**2)
    q = Lt(moved, moved + 1, evaluate=False)
    derive(*chain, Step("x", q, "equals", ("both",), (apart, Eq(alpha, beta))))
    lemma = Derivation("lemma", "", (), chain)
    hints = {"lemma": "lemma", "step": "both", "values": {beta: k}}
    far = 1 / (k**2 - lam**2)
    derive(Step("x", Lt(far, far + 1, evaluate=False), "cite", (), (Ne(k, lam),), hints), lemmas=[lemma])
