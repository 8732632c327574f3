"""Derivations as a whole, claims, and what the kernel will not read."""

from __future__ import annotations

import pytest
from sympy import (
    And,
    Derivative,
    Eq,
    Ge,
    Gt,
    I,
    Implies,
    Integral,
    Limit,
    Lt,
    Ne,
    Not,
    Or,
    Piecewise,
    Product,
    Rational,
    Sum,
    Symbol,
    ceiling,
    exp,
    floor,
    log,
    oo,
    sqrt,
)

from maskproof.proofs.engines.derivations import check, prove
from maskproof.proofs.kernel.known import Rejected
from maskproof.theory.claim import Claim
from maskproof.theory.decoder import Decoder
from maskproof.theory.derivation import Derivation, Step
from maskproof.theory.inputs import Sphere
from maskproof.theory.layer_one import r
from maskproof.theory.quantities import Gram, Score
from maskproof.theory.symbols import alpha, beta, d, i, j, k, lam, m
from maskproof.theory.topics import TOPICS
from tests.proofs.kernel.steps import A, D, K, M, S, X, derive, l, rejected, shown

OUTSIDE_OF_IT = r"not in the kernel's language|violates"


def test_later_steps_are_not_available():
    with pytest.raises(Rejected):
        derive(Step("a", Gt(alpha, 0), "conjunction", ("b",)), Step("b", Gt(alpha, 0), "hypothesis"))
    with pytest.raises(Rejected, match="taken"):
        derive(Step("a", Ge(i, 1), "hypothesis"), Step("a", Ge(j, 1), "hypothesis"))
    with pytest.raises(Rejected, match="no rule"):
        derive(Step("a", Gt(alpha, 0), "trust_me"))


def test_a_premise_keeps_its_hypotheses():
    with pytest.raises(Rejected, match="not available"):
        derive(
            Step("a", Gt(alpha, 0), "hypothesis", given=(alpha > 0,)),
            Step("b", Gt(alpha + 1, 0), "sign", ("a",)),
        )


@pytest.mark.parametrize("name", TOPICS)
def test_every_topic_checks(name):
    assert check(TOPICS[name])


def test_a_proof_must_end_with_the_claim_on_its_whole_domain():
    theorem = TOPICS["increasing-two"]
    statement = Lt(Score(2, i, j), Score(2, i, j + 1))
    right = Claim("right", statement, And(j < i, alpha >= 0, alpha < 1), decoder=D)
    prove(right, theorem)
    for claim in (
        Claim("wider", statement, And(j < i, alpha < 1), decoder=D),
        Claim("further", statement, And(j <= i, alpha >= 0, alpha < 1), decoder=D),
        Claim("other", Gt(Score(2, i, j), Score(2, i, j + 1)), And(j < i, alpha >= 0, alpha < 1), decoder=D),
        Claim("model", statement, And(j < i, alpha >= 0, alpha < 1)),
        Claim("layer", Lt(Score(3, i, j), Score(3, i, j + 1)), And(j < i, alpha >= 0, alpha < 1), decoder=D),
    ):
        with pytest.raises(Rejected):
            prove(claim, theorem)


def test_definitions_obey_the_assumptions_of_their_symbols():
    step = Step("goal", Gt(alpha, 0), "hypothesis")
    claim = Claim("claim", Gt(alpha, 0), alpha > -1)
    for definition in (Eq(lam, -1), Eq(m, alpha), Eq(k, Rational(1, 2))):
        with pytest.raises(Rejected):
            prove(claim, Derivation("test", "", (definition, alpha > 0), (step,)))


def test_the_layer_is_not_defined_for_expectations():
    """The mean of a softmax is not the softmax of means."""
    law = Sphere(d, 0)
    total = Sum(exp(beta * S(1, i, k, inputs=law)), (k, 1, i))
    rejected(Eq(A(1, i, i, inputs=law), exp(beta * S(1, i, i, inputs=law)) / total), "softmax")
    rejected(Eq(M(1, i, i, inputs=law), A(1, i, i, inputs=law) + lam), "mix", Eq(K(i, i, law), 1))


def test_a_summation_index_stays_within_its_assumptions():
    """k is assumed to be positive, but the sum starts at 0."""
    term = Step("term", Eq(K(i, k), alpha), "input_gram", given=(k <= i - 1,))
    limits = (k, 0, i - 1)
    goal = Step("goal", Eq(Sum(K(i, k), limits), Sum(alpha, limits)), "termwise", ("term",))
    with pytest.raises(Rejected, match="k >= 1 in its range"):
        derive(term, goal)


@pytest.mark.parametrize("e", [log(alpha), 1 / log(i), Symbol("z"), oo * lam, alpha**lam, floor(alpha), abs(alpha)])
def test_what_is_not_in_the_language_is_not_compared(e):
    for statement, rule in (
        (Eq(e + (i + 1) ** 2, e + i**2 + 2 * i + 1, evaluate=False), "identity"),
        (Lt(e, e + i, evaluate=False), "sign"),
    ):
        with pytest.raises(Rejected, match=OUTSIDE_OF_IT):
            shown(statement, rule)


def test_a_decimal_is_the_number_that_is_printed():
    shown(Eq(0.1 * alpha, alpha / 10, evaluate=False), "identity")
    rejected(Eq(0.1 * alpha, alpha / 10 + Rational(1, 10**30), evaluate=False), "identity", match="differ")


def test_sides_without_a_value_are_not_ordered():
    pole = 1 / (alpha - 1)
    rejected(Lt(lam + pole, beta + pole), "add", Lt(lam, beta))
    rejected(Gt(alpha + pole, pole), "hypothesis", given=[alpha > 0])


def test_only_smooth_functions_are_differentiated():
    for e in (floor(m), abs(m - 1), Piecewise((m, m > 1), (1, True))):
        with pytest.raises(Rejected, match="violates"):
            shown(Eq(Derivative(e, m, evaluate=False), 0), "derivative")


OUTSIDE = {
    "complex": (alpha + I) ** 2,
    "a jump": ceiling(alpha),
    "a logarithm": log(alpha),
    "a fourth root": alpha ** Rational(1, 4),
    "a power": alpha**lam,
    "a product": Product(alpha, (k, 1, i)),
    "a case distinction": Piecewise((alpha, alpha > 0), (0, True)),
    "an infinite sum": Sum(beta, (k, 1, oo)),
    "an index in its own bounds": Sum(i, (k, 1, k)),
    "an inner index in outer bounds": Sum(K(k, l), (l, 1, j), (k, 1, l + j)),
    "a real index": Sum(alpha, (lam, 1, j)),
    "an integral": Integral(i, (m, 0, alpha)),
    "a limit at zero": Limit(1 / (i + lam), i, 0),
    "another kind of symbol": Symbol("x", real=True, nonzero=True),
    "no kind of symbol": Symbol("y"),
}


@pytest.mark.parametrize("name", OUTSIDE)
def test_the_language_of_the_kernel_is_small(name):
    """Not even as a hypothesis is anything else accepted, nor as a value that is put in."""
    e = OUTSIDE[name]
    with pytest.raises(Rejected, match=OUTSIDE_OF_IT):
        derive(Step("goal", Gt(alpha, e, evaluate=False), "hypothesis"), given=[Gt(alpha, e, evaluate=False)])
    lemma = Derivation("lemma", "", (), (Step("square", Ge(alpha**2, 0, evaluate=False), "sign"),))
    hints = {"lemma": "lemma", "step": "square", "values": {alpha: e}}
    with pytest.raises(Rejected, match=OUTSIDE_OF_IT):
        derive(Step("goal", Ge(lam, 0, evaluate=False), "cite", hints=hints), lemmas=[lemma])


def test_only_symbols_are_replaced():
    steps = (
        Step("a", Eq(K(i, i), 1), "input_gram"),
        Step("b", Eq(beta, 1), "cite", ("a",), hints={"values": {K(i, i): beta}}),
    )
    with pytest.raises(Rejected, match="'it is a symbol'"):
        derive(*steps)


def test_an_infinite_sum_does_not_lose_a_term():
    total = Sum(beta, (k, 1, oo))
    rejected(Eq(total, total + beta, evaluate=False), "split_last")


def test_rewriting_does_not_hide_a_denominator():
    rejected(Eq(alpha / beta, 0), "identity", Eq(alpha, 0))
    rejected(Lt(alpha / beta, 1), "sign", Eq(alpha, 0))


def test_sums_of_what_has_no_value_are_not_moved():
    rejected(Eq(Sum(k / alpha, (k, 1, i)), Sum(k, (k, 1, i)) / alpha), "linear_sum")
    pole = 1 / (k - 2)
    rejected(Eq(Sum(pole, (k, 1, i)), Sum(pole, (k, 1, i - 1)) + 1 / (i - 2)), "split_last")


def test_a_model_does_not_capture_the_index():
    own = Decoder(beta=k)
    total = Sum(exp(k * S(1, i, k, decoder=own)), (k, 1, i))
    rejected(Eq(A(1, i, j, decoder=own), exp(k * S(1, i, j, decoder=own)) / total), "softmax", given=[j <= i])


def test_what_breaks_a_rule_is_rejected():
    undefined = 1 / ((i + 1) ** 2 - i**2 - 2 * i - 1)
    rejected(Gt(alpha, 0), "sign", given=[Gt(undefined, 0)])
    rejected(Lt(exp(10**9 * alpha), exp(10**9 * alpha) + alpha), "sign")
    with pytest.raises(Rejected, match="no steps"):
        prove(Claim("a", alpha > 0, alpha > 0), Derivation("empty", "", (), ()))


def test_unequal_is_not_yet_ordered():
    rejected(Gt(alpha, 0), "hypothesis", given=[Ne(alpha, 0)])
    shown(Ne(alpha, 0), "hypothesis", given=[alpha > 0])


def proves(statement, domain, *given, steps=()):
    steps = steps or (Step("x", statement, "sign"),)
    prove(Claim("claim", statement, domain), Derivation("test", "", given, steps))


SQUARE = Ge(alpha**2, 0, evaluate=False)
CUBE = alpha**3 + 3 * alpha**2 + 3 * alpha + 1


def test_a_domain_has_a_value_throughout():
    proves(SQUARE, And(alpha > 0, 1 / alpha < 3))
    proves(SQUARE, And(1 / alpha < 3, Ne(alpha, 0)))  # whatever the order
    proves(SQUARE, And(sqrt(lam) < 1, Or(alpha < 1, beta < 2)))
    for domain in (
        1 / alpha < 3,
        And(1 / alpha < 3, alpha > -1),
        sqrt(alpha) < 1,
        And(alpha > -1, Or(alpha > 1, 1 / alpha < 3)),
        Or(1 / (i - 3) < 1, i < 5),
        Not(And(alpha > 1, 1 / alpha < 3)),
        Implies(alpha > -3, 1 / alpha < 3),
        log(alpha) < 1,
    ):
        with pytest.raises(Rejected, match="the domain need not have a value"):
            proves(SQUARE, domain)
    proves(SQUARE, And(log(alpha) < 1, alpha > 0))  # not in the kernel's language: it has a value, and is no help
    proves(SQUARE, Implies(alpha > 3, 1 / alpha < 3))
    with pytest.raises(Rejected, match="does not give"):
        proves(alpha > -1, And(Or(alpha > 0, alpha > 1), beta > 1), alpha > 0)


def test_what_the_domain_says_is_used_part_by_part():
    proves(Gt(1 / alpha, 0), And(alpha > 0, beta > 1), alpha > 0)
    proves(Gt(1 / alpha, 0), And(alpha > 0, 1 / alpha > 0), 1 / alpha > 0, alpha > 0)
    with pytest.raises(Rejected, match="does not give"):
        proves(Gt(1 / alpha, 0), alpha >= 0, alpha > 0)


def test_definitions_are_put_in():
    s = Symbol("s", real=True)
    proves(SQUARE, True, Eq(s, alpha + 1))
    proves(Gt(alpha**2 + 1, 0, evaluate=False), True, Eq(r, 1 + lam), Gt(r, lam))
    step = Step("x", Gt(s, 0), "hypothesis")
    proves(Gt(alpha, 0), alpha > 0, Eq(s, alpha), s > 0, steps=(step,))
    for reason, given in (
        ("need not have a value", (Eq(s, 1 / alpha),)),
        ("does not give", (Eq(s, 1), Eq(s, 2))),
        ("does not give", (Eq(s, alpha), Gt(s, 0))),
        ("does not give", (Eq(s, s + 1, evaluate=False),)),
        ("is not an integer", (Eq(k, alpha),)),
        ("is not known", (Eq(r, alpha),)),
        ("is not known", (Eq(r, lam),)),
        ("is not known", (Eq(k, k - 1, evaluate=False),)),
        ("does not give", (Eq(alpha, 1),)),  # the claim mentions it: no definition
        ("does not give", (Eq(d, 1),)),
        ("does not give", (Eq(K(j, j), 1),)),  # no definition of a variable
    ):
        decoder = Decoder(scale="d")  # which depends on d, even where a line does not mention it
        entry = Gram(1, i, i, decoder=decoder, inputs=X)
        statement = SQUARE if given[0].lhs != d else Ge(entry**2, 0, evaluate=False)
        with pytest.raises(Rejected, match=reason):
            proves(statement, True, *given)


def test_the_last_line_is_the_claim_up_to_arithmetic():
    step = Step("x", Gt(alpha**2 + 2 * alpha + 1, -1), "sign", hints={"form": (alpha + 1) ** 2 + 1})
    proves(Gt((alpha + 1) ** 2, -1, evaluate=False), True, steps=(step,))
    with pytest.raises(Rejected, match="what is shown is"):
        proves(Ge((alpha + 1) ** 2, -1, evaluate=False), True, steps=(step,))
    with pytest.raises(Rejected, match="a value"):
        proves(Gt(CUBE / (alpha + 1), -1), True, steps=(step,))
    proves(Gt(CUBE / (alpha + 1), -1), Ne(alpha, -1), steps=(step,))


def test_lemmas_and_steps_are_found_by_name():
    lemma = Derivation("lemma", "", (), (Step("a", SQUARE, "sign"),))
    for reason, hints in (
        ("nothing is cited", {"lemma": "other", "step": "a"}),
        ("nothing is cited", {"lemma": "lemma", "step": "b"}),
        ("nothing is cited", {"lemma": "lemma"}),
        ("nothing is cited", {"step": "a"}),
    ):
        with pytest.raises(Rejected, match=reason):
            derive(Step("goal", SQUARE, "cite", hints=hints), lemmas=[lemma])
    derive(Step("goal", SQUARE, "cite", hints={"lemma": "lemma", "step": "a"}), lemmas=[lemma])
    wrong = Derivation("lemma", "", (), (Step("a", Gt(alpha, 0), "sign"),))
    with pytest.raises(Rejected, match=r"lemma, step a \(sign\)"):
        derive(Step("goal", SQUARE, "sign"), lemmas=[wrong])


def test_a_citation_with_premises_may_use_them():
    lemma = Derivation("lemma", "", (lam > 1,), (Step("a", Gt(lam, 1), "hypothesis"),))
    hints = {"lemma": "lemma", "step": "a", "values": {lam: alpha}}
    fact = Step("p", Gt(alpha, 1), "hypothesis", given=(alpha > 1,))
    derive(fact, Step("goal", Gt(alpha, 1), "cite", ("p",), (alpha > 1,), hints), lemmas=[lemma])
    with pytest.raises(Rejected, match="is not available"):
        derive(fact, Step("goal", Gt(alpha, 1), "cite", ("p",), (), hints), lemmas=[lemma])
    derive(fact, Step("goal", Gt(beta + 2, 1, evaluate=False), "cite", ("p",), (), {"values": {alpha: beta + 2}}))
    with pytest.raises(Rejected, match="the lemma needs"):
        derive(fact, Step("goal", Gt(beta, 1), "cite", ("p",), (), {"values": {alpha: beta}}))
