"""Each rule accepts what follows and rejects a near miss of it."""
# ruff: noqa: N802  (the quantities keep the letters they have in the paper)

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from sympy import (
    And,
    Derivative,
    E,
    Eq,
    Float,
    Ge,
    Gt,
    I,
    Implies,
    Integer,
    Integral,
    Le,
    Limit,
    Lt,
    Ne,
    Rational,
    Sum,
    Symbol,
    ceiling,
    exp,
    floor,
    log,
    oo,
    sqrt,
)  # fmt: skip
from sympy import (
    sign as sympy_sign,
)

from proofs.kernel import RULES, Rejected, check, prove, substitute
from theory import Claim, averaging
from theory.decoder import Bidirectional, Decoder
from theory.derivation import Derivation, Step
from theory.inputs import Equicorrelated, Inputs, Sphere
from theory.layer_one import R_IS, layer_one, r
from theory.quantities import Gram, InputGram, Mix, Score, Weight
from theory.symbols import alpha, beta, d, i, j, k, lam, m
from theory.topics import TOPICS

l = Symbol("l", integer=True, positive=True)  # noqa: E741
X = Equicorrelated(alpha)
D = Decoder(beta=beta, residual=lam)
MODEL = {"decoder": D, "inputs": X}


def S(layer, a, b, **model):
    return Score(layer, a, b, **{**MODEL, **model})


def A(layer, a, b, **model):
    return Weight(layer, a, b, **{**MODEL, **model})


def M(layer, a, b, **model):
    return Mix(layer, a, b, **{**MODEL, **model})


def G(layer, a, b, **model):
    return Gram(layer, a, b, **{**MODEL, **model})


def K(a, b, law: Inputs = X):
    return InputGram(a, b, law)


def derive(*steps: Step, given=(), lemmas=()):
    return check(Derivation("test", "Test", tuple(given), steps, tuple(lemmas)))


def shown(statement, rule, *premises, given=(), hints=None, assume=()):
    """Check one step; ``assume`` are premises, taken as hypotheses."""
    facts = [Step(f"p{n}", p, "hypothesis") for n, p in enumerate((*premises, *assume))]
    labels = tuple(step.label for step in facts)
    derive(*facts, Step("goal", statement, rule, labels, hints=hints or {}), given=(*premises, *assume, *given))


def rejected(statement, rule, *premises, **options):
    with pytest.raises(Rejected):
        shown(statement, rule, *premises, **options)


def test_every_rule_has_a_test_here():
    source = Path(__file__).read_text(encoding="utf-8")
    for rule in RULES:
        assert f'"{rule}"' in source, rule


# --- the layer ------------------------------------------------------------------------------------


def test_input_gram():
    shown(Eq(K(i, i), 1), "input_gram")
    shown(Eq(K(i, j), alpha), "input_gram", given=[j < i])
    rejected(Eq(K(i, j), alpha), "input_gram")  # i may equal j
    rejected(Eq(K(i, i), alpha), "input_gram")
    rejected(Eq(K(i, i, Sphere(d, 0)), 1), "input_gram")


def test_score():
    norms = [Gt(G(1, i, i), 0), Gt(G(1, j, j), 0)]
    cosine = G(1, i, j) / (sqrt(G(1, i, i)) * sqrt(G(1, j, j)))
    shown(Eq(S(2, i, j), cosine), "score", *norms)
    rejected(Eq(S(2, i, j), cosine), "score", norms[0])  # x_j may vanish
    rejected(Eq(S(2, i, j), -cosine), "score", *norms)
    rejected(Eq(S(3, i, j), cosine), "score", *norms)
    raw = Decoder(norm="none", scale=2)
    shown(Eq(S(2, i, j, decoder=raw), G(1, i, j, decoder=raw) / 2), "score")
    rejected(Eq(S(2, i, j, decoder=raw), G(1, i, j, decoder=raw)), "score")
    rejected(Eq(S(2, i, j, decoder=Decoder(norm="layernorm")), cosine), "score", *norms)


def test_softmax():
    total = Sum(exp(beta * S(1, i, k)), (k, 1, i))
    shown(Eq(A(1, i, j), exp(beta * S(1, i, j)) / total), "softmax", given=[j <= i])
    rejected(Eq(A(1, i, j), exp(beta * S(1, i, j)) / total), "softmax")  # the key may be hidden
    rejected(Eq(A(1, i, j), exp(S(1, i, j)) / total), "softmax", given=[j <= i])
    short = Sum(exp(beta * S(1, i, k)), (k, 1, i - 1))
    rejected(Eq(A(1, i, j), exp(beta * S(1, i, j)) / short), "softmax", given=[j <= i])
    open_mask = Decoder(mask=Bidirectional())
    term = Sum(exp(S(1, i, k, decoder=open_mask)), (k, 1, i))
    statement = Eq(A(1, i, j, decoder=open_mask), exp(S(1, i, j, decoder=open_mask)) / term)
    rejected(statement, "softmax", given=[j <= i])


def test_mix():
    shown(Eq(M(1, i, j), A(1, i, j)), "mix", Eq(K(j, j), 1), given=[j < i])
    shown(Eq(M(1, i, i), A(1, i, i) + lam), "mix", Eq(K(i, i), 1))
    rejected(Eq(M(1, i, i), A(1, i, i)), "mix", Eq(K(i, i), 1))  # the residual is missing
    rejected(Eq(M(1, i, j), A(1, i, j) + lam), "mix", Eq(K(j, j), 1), given=[j < i])
    rejected(Eq(M(1, i, j), A(1, i, j)), "mix", Eq(K(j, j), 1))  # i may equal j


def test_gram():
    double = Sum(M(1, i, k) * M(1, j, l) * K(k, l), (k, 1, i), (l, 1, j))
    shown(Eq(G(1, i, j), double), "gram")
    rejected(Eq(G(1, i, j), Sum(M(1, i, k) * M(1, j, l) * K(k, l), (k, 1, i), (l, 1, i))), "gram")
    rejected(Eq(G(2, i, j), double), "gram")


# --- sums -----------------------------------------------------------------------------------------


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


# --- logic ----------------------------------------------------------------------------------------


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


# --- algebra and order ----------------------------------------------------------------------------


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


def test_cauchy_schwarz():
    known = [Gt(M(1, i, i), 0), Gt(M(1, j, j), 0)]
    domain = [j < i, alpha < 1, Gt(1 + (i - 1) * alpha, 0)]
    below = Lt(S(2, i, j), 1)
    shown(below, "cauchy_schwarz", *known, given=domain)
    rejected(below, "cauchy_schwarz", *known, given=domain[1:])  # i may equal j
    rejected(below, "cauchy_schwarz", *known, given=domain[:2])  # the inputs may be dependent
    rejected(below, "cauchy_schwarz", known[0], given=domain)  # x_j may vanish
    rejected(Lt(S(3, i, j), 1), "cauchy_schwarz", *known, given=domain)


# --- layers as matrices ---------------------------------------------------------------------------


def test_symmetric():
    shown(Eq(G(2, i, j), G(2, j, i)), "symmetric")
    rejected(Eq(G(2, i, j), G(1, j, i)), "symmetric")
    rejected(Eq(A(2, i, j), A(2, j, i)), "symmetric")  # under the mask one of them is zero
    rejected(Eq(G(2, i, j), G(2, j, i, decoder=Decoder(mask=Bidirectional()))), "symmetric")
    rejected(Eq(G(2, i, j, inputs=Sphere(d, 0)), G(2, j, i, inputs=Sphere(d, 0))), "symmetric")


def altered(derivation: Derivation, rule: str, *more: Step, **changes):
    """Check the derivation up to the step by ``rule``, with this step changed and ``more`` put in before it."""
    place = [step.rule for step in derivation.steps].index(rule)
    steps = (*derivation.steps[:place], *more, replace(derivation.steps[place], **changes))
    return check(replace(derivation, steps=steps))


def refused(derivation: Derivation, rule: str, *more: Step, **changes):
    """That it is this step, so changed, that is rejected."""
    with pytest.raises(Rejected, match=rf"\({rule}\)"):
        altered(derivation, rule, *more, **changes)


PRODUCTS = averaging.layer(2)  # ends with the rule
ORDERED = (Lt(i, k), Lt(j, l))


def test_minors():
    altered(PRODUCTS, "minors")
    altered(PRODUCTS, "minors", given=(*ORDERED, Lt(k, 5)))  # less than is known
    below, entries, inside = PRODUCTS.steps[-1].premises
    smaller = PRODUCTS.steps[-1].statement
    for changes in (
        {"given": ORDERED[:1]},
        {"given": (Lt(i, k), Lt(l, j))},
        {"statement": Le(*smaller.args)},
        {"statement": Gt(*smaller.args)},  # the minor may vanish
        {"statement": smaller.xreplace({q: G(3, *q.args[1:3], decoder=q.decoder) for q in smaller.atoms(Gram)})},
        {"premises": (below, inside, entries)},
        {"premises": (below, entries)},
        {"premises": (below, entries, below)},
        {"premises": (below, "M-self", inside)},
        {"hints": {"at": (k, j, i, l)}},
        {"hints": {"at": (i, j, i, l)}},
        {"hints": {"at": (i, j, i + 1, j + 1)}},
    ):
        refused(PRODUCTS, "minors", **changes)


@pytest.mark.parametrize("place", range(3))
def test_the_premises_of_minors_hold_at_all_positions(place):
    """A premise that is known for some positions only is not enough, whatever the goal assumes of them."""
    steps = {step.label: step for step in PRODUCTS.steps}
    premises = list(steps["minor"].premises)
    name, premises[place] = premises[place], "part"
    for further in (Lt(k, 5), Eq(i, 3), Gt(j, 1)):
        part = Step("part", steps[name].statement, "cite", (name,), (*steps[name].given, further))
        refused(PRODUCTS, "minors", part, premises=tuple(premises))
        refused(PRODUCTS, "minors", part, premises=tuple(premises), given=(*ORDERED, further))
    fixed = Step("part", steps[name].statement, "cite", (name,), (*steps[name].given, Lt(alpha, Rational(1, 2))))
    altered(PRODUCTS, "minors", fixed, premises=tuple(premises), given=(*ORDERED, Lt(alpha, Rational(1, 2))))


def test_minors_of_different_models_do_not_mix():
    """A minor whose rows come from different decoders is none of one matrix."""
    own = Decoder(beta=0, residual=i)
    model = {q: Gram(q.layer, *q.args[1:3], decoder=own, inputs=X) for q in PRODUCTS.steps[-1].statement.atoms(Gram)}
    refused(PRODUCTS, "minors", statement=PRODUCTS.steps[-1].statement.xreplace(model))
    (first, *_) = model
    refused(PRODUCTS, "minors", statement=PRODUCTS.steps[-1].statement.xreplace({first: model[first]}))


def test_rows_and_columns_of_minors_vary_by_themselves():
    """Of the layer below only the minors with j = i are known."""
    (last,) = (step for step in PRODUCTS.steps if step.rule == "minors")
    steps = {step.label: step for step in PRODUCTS.steps}
    same = {j: i}
    parts = tuple(
        Step(f"{name} at {i}{i}", steps[name].statement.xreplace(same), "cite", (name,),
             tuple(h.xreplace(same) for h in steps[name].given), {"values": same})
        for name in last.premises
    )  # fmt: skip
    changes = {"statement": last.statement.xreplace(same), "given": (Lt(i, k), Lt(i, l)), "hints": {"at": (i, i, k, l)}}
    refused(PRODUCTS, "minors", *parts, premises=tuple(part.label for part in parts), **changes)


INDEPENDENT = averaging.increasing(3)


def test_independence():
    altered(INDEPENDENT, "independence")

    def score(layer, a, b, **model):
        return S(layer, a, b, **{"decoder": averaging.AVERAGING, **model})

    for changes in (
        {"given": ()},  # i may equal j
        {"given": (Lt(i, j),)},
        {"premises": ("M-1",)},
        {"premises": ("M-2", "M-1")},
        {"premises": ("M-1", "M-1")},
        {"statement": Lt(score(4, i, j), 1)},
        {"statement": Lt(score(2, i, j), 1)},
        {"statement": Lt(score(3, i, j), 0)},
        {"statement": Gt(score(3, i, j), 1)},
        {"statement": Lt(score(3, i, j, inputs=Equicorrelated(1 - alpha)), 1)},
        {"statement": Lt(S(3, i, j), 1)},  # another decoder
        {"hints": {"at": i}},
        {"hints": {"at": Integer(1)}},
    ):
        refused(INDEPENDENT, "independence", **changes)


def test_independence_needs_every_position():
    """That M_kk does not vanish at some positions is not enough, not even at i and j."""
    lemmas = {"M-1": averaging.first_layer(), "M-2": averaging.layer(2)}
    for at, further in ((k, (k <= 5,)), (k, (j <= k,)), (Integer(1), ()), (i, ()), (i + 1, ())):
        parts = [
            replace(line, label=f"{label} at {at}", statement=line.statement.xreplace({k: at}), given=further,
                    hints={"lemma": lemmas[label].name, "step": "M-positive", "values": {i: at, j: at}})
            for label, line in ((step.label, step) for step in INDEPENDENT.steps) if label in lemmas
        ]  # fmt: skip
        changes = {"premises": tuple(part.label for part in parts), "hints": {"at": at}}
        given = {"given": (Lt(j, i), *further)}
        if at == i:  # any name of the position will do
            altered(INDEPENDENT, "independence", *parts, **changes)
        else:
            refused(INDEPENDENT, "independence", *parts, **changes, **given)


def test_independence_is_about_one_model():
    """In the model k only M_kk is known not to vanish."""
    own = {"decoder": Decoder(beta=beta, residual=k)}
    coefficient = M(1, k, k, **own)
    hints = {"lemma": "layer-one", "step": "M-self", "values": {i: k, lam: k}}
    steps = (
        Step("M", Eq(coefficient, k + r / (r + k - 1)), "cite", hints=hints),
        Step("positive", Gt(coefficient, 0), "sign", ("M",)),
        Step("goal", Lt(S(2, i, j, **own), 1), "independence", ("positive",), hints={"at": k}),
    )
    with pytest.raises(Rejected, match="a model depends"):
        derive(*steps, given=(R_IS, Lt(j, i), Ge(alpha, 0), Lt(alpha, 1)), lemmas=[layer_one()])


# --- limits ---------------------------------------------------------------------------------------


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
    derive(*steps, goal)
    never = Step("same", Eq(K(i, j), alpha), "input_gram", given=(i < j,))
    with pytest.raises(Rejected, match="large"):
        derive(never, *steps[1:], goal)


# --- derivations and claims -----------------------------------------------------------------------


def test_substitution_does_not_capture():
    with pytest.raises(Rejected, match="capture"):
        substitute(Sum(M(1, i, k), (k, 1, i)), {i: k + 1})
    assert substitute(Sum(M(1, i, k), (k, 1, i)), {i: j}) == Sum(M(1, j, k), (k, 1, j))


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
    with pytest.raises(Rejected, match="language"):
        derive(term, goal)


@pytest.mark.parametrize("e", [log(alpha), 1 / log(i), Float(0.1) * alpha, Symbol("z"), oo * lam, alpha**lam])
def test_what_may_have_no_value_is_not_compared(e):
    rejected(Eq(e + (i + 1) ** 2, e + i**2 + 2 * i + 1), "identity")
    rejected(Lt(e, e + i), "add", Lt(alpha, alpha + i))


def test_sides_without_a_value_are_not_ordered():
    pole = 1 / (alpha - 1)
    rejected(Lt(lam + pole, beta + pole), "add", Lt(lam, beta))
    rejected(Gt(alpha + pole, pole), "hypothesis", given=[alpha > 0])


def test_only_elementary_functions_are_differentiated():
    rejected(Eq(Derivative(floor(m), m), 0), "derivative")
    rejected(Eq(Derivative(abs(m - 1), m), sympy_sign(m - 1)), "derivative")


z = Symbol("x", real=True, nonzero=True)
OUTSIDE = {
    "complex": (alpha + I) ** 2,
    "a jump": ceiling(alpha),
    "a logarithm": log(alpha),
    "a fourth root": alpha ** Rational(1, 4),
    "a power": alpha**lam,
    "an infinite sum": Sum(beta, (k, 1, oo)),
    "a sum with a real bound": Sum(beta, (k, 1, alpha)),
    "an index in its own bounds": Sum(i, (k, 1, k)),
    "an index in the other bounds": Sum(K(k, l), (k, 1, l + j), (l, 1, j)),
    "an index in a model": Sum(Mix(1, i, k, decoder=Decoder(residual=k), inputs=X), (k, 1, i)),
    "an index in the inputs": Sum(K(k, 1, Equicorrelated(1 / (2 * k))), (k, 1, i)),
    "an integral": Integral(i, (m, 0, alpha)),
    "a limit at zero": Limit(1 / (i + lam), i, 0),
    "another kind of symbol": z,
    "no kind of symbol": Symbol("y"),
}


@pytest.mark.parametrize("name", OUTSIDE)
def test_the_language_of_the_kernel_is_small(name):
    e = OUTSIDE[name]
    with pytest.raises(Rejected, match="language"):
        derive(Step("goal", Gt(alpha, e, evaluate=False), "hypothesis"), given=[Gt(alpha, e, evaluate=False)])
    hints = {"lemma": "lemma", "step": "off", "values": {alpha: e}}
    with pytest.raises(Rejected):
        derive(Step("goal", Ge(lam, 0, evaluate=False), "cite", hints=hints), lemmas=[LEMMA])


def test_only_symbols_are_replaced():
    steps = (
        Step("a", Eq(K(i, i), 1), "input_gram"),
        Step("b", Eq(beta, 1), "cite", ("a",), hints={"values": {K(i, i): beta}}),
    )
    with pytest.raises(Rejected, match="not a symbol"):
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
