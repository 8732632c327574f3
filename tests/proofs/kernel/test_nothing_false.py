"""Derivations that look honest and end with something false, or with what has no value: each is rejected."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest
from sympy import And, Derivative, Eq, Ge, Gt, Implies, Integer, Le, Limit, Lt, Ne, Rational, Sum, Symbol, exp, oo, sqrt

from maskproof.proofs.engines.derivations import prove
from maskproof.proofs.kernel import checking
from maskproof.proofs.kernel.known import Known, Rejected
from maskproof.proofs.kernel.layer import causal
from maskproof.proofs.terms import terms as t
from maskproof.proofs.terms.reading import read_mask, read_model, read_statement, read_term
from maskproof.theory.claim import Claim
from maskproof.theory.decoder import (
    Alibi,
    Bidirectional,
    Blocks,
    Causal,
    Decoder,
    Dilated,
    Prefix,
    Rope,
    SlidingWindow,
    T5Bias,
)
from maskproof.theory.derivation import Derivation, Step
from maskproof.theory.inputs import Equicorrelated, SharedGaussian, Sphere
from maskproof.theory.quantities import Gram, InputGram, Mix, Score, Weight
from maskproof.theory.symbols import alpha, beta, d, i, j, k, lam, m, n
from tests.proofs.kernel.steps import D, G, K, S, X, derive, l, rejected, shown

HALF = Rational(1, 2)
F = (alpha**2 - 1) / (alpha - 1)  # alpha + 1, but for alpha = 1


def falls(reason, *steps, given=(), lemmas=()):
    with pytest.raises(Rejected, match=reason):
        derive(*steps, given=given, lemmas=lemmas)


def unproved(reason, claim, *steps, given=(), lemmas=()):
    with pytest.raises(Rejected, match=reason):
        prove(claim, Derivation("attack", "", tuple(given), steps, tuple(lemmas)))


# --- values -----------------------------------------------------------------------------------------

NO_VALUE = r"nothing known gives .* a value"


WITHOUT = [
    F, 1 / alpha, sqrt(alpha), sqrt(1 / lam), exp(1 / lam), Sum(1 / (k - 3), (k, 1, i)), Sum(beta, (k, i, j)),
    Sum(beta, (k, 1, alpha)), S(1, i, j), S(1, i, i - 1), G(1, i, i / 2), S(1, i, 1, inputs=Equicorrelated(-HALF)),
    S(1, 1, 1, inputs=Sphere(d, 0)), G(1, i, j, decoder=Decoder(mask=Bidirectional())),
    Limit(1 / lam + i / i**2, i, oo), G(1, 1, 1, decoder=Decoder(position=T5Bias((F, 0)))), Derivative(sqrt(lam), lam),
    Derivative(1 / lam, lam),
]  # fmt: skip


@pytest.mark.parametrize("e", WITHOUT)
@pytest.mark.parametrize("rule", ["identity", "sign"])
def test_a_line_has_a_value(e, rule):
    """What is true of anything that has a value is no line of what need not have one."""
    statement = Eq(e + (i + 1) ** 2, e + i**2 + 2 * i + 1, evaluate=False)
    if rule == "sign":
        statement = Lt(e, e + 1, evaluate=False)
    rejected(statement, rule, match=NO_VALUE)


def test_the_conditions_of_a_hypothesis_are_known_and_no_more():
    shown(Lt(1 / alpha, 1 / alpha + 1), "sign", given=[Lt(1 / alpha, 3)])
    rejected(Lt(1 / beta, 1 / beta + 1), "sign", given=[Lt(1 / alpha, 3)], match=NO_VALUE)
    rejected(Lt(1 / alpha, 1 / alpha + 1), "sign", given=[Implies(alpha > 3, Lt(1 / alpha, 3))], match=NO_VALUE)


def test_under_a_premise_only_its_own_branch_has_a_value():
    pole = Gt(1 / alpha, 0)
    derive(
        Step("a", pole, "sign", given=(alpha > 0,)),
        Step("b", Implies(alpha > 0, pole), "implication", ("a",)),
    )
    steps = Step("a", pole, "sign", given=(alpha > 0,)), Step("b", Implies(alpha > 0, pole), "implication", ("a",))
    falls("detach", *steps, Step("c", pole, "detach", ("b",)), given=(alpha > -1,))
    falls("conjunction", *steps, Step("c", And(Implies(alpha > 0, pole), Gt(alpha**2 / alpha**3, -1)), "conjunction",
                                      ("b",)))  # fmt: skip
    shown(Implies(alpha > 0, Gt(sqrt(alpha), -1)), "implication", Gt(sqrt(alpha), -1), given=[alpha > 0])
    rejected(Implies(1 / alpha > 0, beta > 0), "implication", beta > 0, match="condition need not have a value")


def test_a_limit_exists_for_the_function_as_it_is_written():
    """The second function has no value for alpha = 1; the first has the limit alpha + 1."""
    one, other = alpha + 1 + 1 / i, F + 1 / i
    limit = Step("limit", Eq(Limit(one, i, oo), alpha + 1), "rational_limit")
    derive(limit)
    bad = Eq(Limit(other, i, oo), alpha + 1)
    falls("limit_algebra", limit, Step("x", bad, "limit_algebra", ("limit",)))
    falls(NO_VALUE, limit, Step("x", bad, "identity", ("limit",)))
    falls("a value", Step("x", bad, "rational_limit"))
    falls(NO_VALUE, limit, Step("x", bad, "cite", ("limit",)))
    falls(NO_VALUE, limit, Step("x", bad, "conjunction", ("limit",)))
    same = Step("same", Eq(one, one, evaluate=False), "identity")
    falls("as it is written", limit, same, Step("x", bad, "limit_of_equal", ("same", "limit")))
    own = Step("own", Eq(other, one), "identity", given=(1 / (alpha - 1) < i,))
    falls("need not hold for large i", limit, own, Step("x", bad, "limit_of_equal", ("own", "limit")))


@pytest.mark.parametrize("own", [{"beta": F}, {"residual": F}, {"scale": F}, {"position": Alibi(F)}])
def test_models_have_parameters_with_values(own):
    """At alpha = 1 the decoder has a parameter 0/0, though it looks like alpha + 1."""
    model = {"decoder": Decoder(**own), "inputs": Equicorrelated(0)}
    entry = Gram(1, i, i, **model)
    steps = (Step("G", Ge(entry**2, 0, evaluate=False), "sign"),)
    for domain in (alpha > 1, And(Ne(alpha, 1), alpha > -1)):
        prove(Claim("a", steps[0].statement, domain), Derivation("d", "", conjuncts_of(domain), steps))
    claim = Claim("a", steps[0].statement, alpha > -1)
    unproved("does not give|" + NO_VALUE, claim, *steps, given=(alpha > -1,))


def conjuncts_of(domain):
    return tuple(And.make_args(domain))


def test_the_conditions_of_nested_sums_are_about_their_own_indices():
    twice = t.Sum(t.Sum(t.over(t.ONE, t.minus(t.number(3), T(k))), T(k), t.ONE, t.number(5)), T(k), t.ONE, t.number(2))  # type: ignore[arg-type]
    statement = t.less(twice, t.plus(twice, t.ONE))  # at k = 3 the inner sum has no value
    line = checking.Step("x", statement, "sign")
    with pytest.raises(Rejected, match=NO_VALUE):
        _ = checking.Derivation("attack", (), (line,)).lines
    # the outer sum over l ends at a free k, the inner index is k as well: k - l + 1 = 0 at k = 1, l = 2
    pole = t.over(t.ONE, t.plus(t.minus(T(k), T(l)), t.ONE))
    mixed = t.Sum(t.plus(t.ONE, t.Sum(pole, T(k), t.ONE, T(l))), T(l), t.ONE, T(k))  # type: ignore[arg-type]
    line = checking.Step("x", t.less(mixed, t.plus(mixed, t.ONE)), "sign")
    with pytest.raises(Rejected, match=NO_VALUE):
        _ = checking.Derivation("attack", (), (line,)).lines


def T(e):  # noqa: N802
    return read_term(e)


# --- bound variables --------------------------------------------------------------------------------


def positive_sum(body, known, goal):
    steps = (
        checking.Step("term", t.less(t.ZERO, body), "hypothesis", given=known),
        checking.Step("sum", t.less(t.ZERO, goal), "positive_sum", ("term",)),
    )
    return checking.Derivation("attack", (), steps).lines


def test_ranges_of_a_sum_do_not_mix():
    body = t.plus(t.minus(T(k), T(l)), t.Number(Fraction(1, 2)))  # k - l + 1/2, positive for l <= k
    known = (t.at_most(T(l), T(k)),)
    inner = t.Sum(body, T(k), t.ONE, T(i))  # type: ignore[arg-type]
    with pytest.raises(Rejected, match="mentions an index"):  # at k = 3, i = 1 it is -5/2 or so
        positive_sum(body, known, t.Sum(inner, T(l), t.ONE, T(k)))  # type: ignore[arg-type]
    once = t.minus(t.number(2), T(k))
    with pytest.raises(Rejected, match="two ranges"):
        positive_sum(once, (t.at_most(T(k), t.ONE),), t.Sum(t.Sum(once, T(k), t.ONE, T(i)), T(k), t.ONE, t.ONE))  # type: ignore[arg-type]


def test_a_part_of_a_limit_has_a_name_of_its_own():
    """A user's symbol with the same name would be taken for the part, and lim (f + p) = 2 lim f follow."""
    for name in ("part", "part 0", "part'"):
        p = Symbol(name, real=True)
        f = (2 * i + 1) / (i + 3)
        limit = Step("limit", Eq(Limit(f, i, oo), 2), "rational_limit")
        derive(limit, Step("x", Eq(Limit(f + p, i, oo), 2 + p), "limit_algebra", ("limit",)))
        falls("differ", limit, Step("x", Eq(Limit(f + p, i, oo), 4), "limit_algebra", ("limit",)))


def test_infinity_times_zero_is_no_product_of_limits():
    f = (2 * i + 1) / (i + 3)
    limit = Step("limit", Eq(Limit(f, i, oo), 2), "rational_limit")
    falls("is not among the premises", limit, Step("x", Eq(Limit(i * (f - 2), i, oo), 0), "limit_algebra", ("limit",)))
    falls("not known in the limit", limit, Step("x", Eq(Limit(1 / (f - 2), i, oo), 0), "limit_algebra", ("limit",)))
    falls("not known in the limit", limit, Step("x", Eq(Limit(sqrt(f - 2), i, oo), 0), "limit_algebra", ("limit",)))


def test_contradictory_models_of_bound_positions_prove_nothing():
    """Under an empty sum a decoder may have beta = alpha - k: nothing follows for a free k."""
    own = Score(1, 1, 1, decoder=Decoder(beta=alpha - k), inputs=Equicorrelated(0))
    empty = Sum(own, (k, 1, 0))
    statement = Gt(alpha + empty, 0)
    steps = (Step("x", Ge(alpha, k), "hypothesis", given=()),)
    falls("not assumed", *steps)
    unproved("sign of alpha|" + NO_VALUE, Claim("a", statement, decoder=Decoder()), Step("x", statement, "sign"))


# --- substitution -----------------------------------------------------------------------------------

LEMMA = Derivation("lemma", "", (), (Step("S", Eq(K(i, i), 1), "input_gram"), Step("one", Ge(lam, 0), "hypothesis"),
                                     Step("beta", Ge(D.beta, 0), "hypothesis")))  # fmt: skip


def cite(statement, values, step="S"):
    return Step("x", statement, "cite", hints={"lemma": "lemma", "step": step, "values": values})


def test_values_change_the_model_and_have_to_be_admissible():
    derive(cite(Eq(K(i, i, Equicorrelated(lam / (1 + lam))), 1), {alpha: lam / (1 + lam)}), lemmas=[LEMMA])
    falls("the lemma needs", cite(Eq(K(i, i, Equicorrelated(-HALF)), 1), {alpha: -HALF}), lemmas=[LEMMA])
    falls("a value", cite(Eq(K(i, i, Equicorrelated(1 / lam)), 1), {alpha: 1 / lam}), lemmas=[LEMMA])
    for value in (Integer(-1), alpha, lam - 1):
        falls("is not known", cite(Ge(value, 0, evaluate=False), {lam: value}, "one"), lemmas=[LEMMA])
    falls("is not known", cite(Eq(K(i - 1, i - 1), 1), {i: i - 1}), lemmas=[LEMMA])
    derive(cite(Eq(K(i - 1, i - 1), 1), {i: i - 1}), lemmas=[LEMMA], given=[i > 1])
    falls("is not an integer", cite(Eq(K(i, i), 1), {i: i / 2 + HALF}), lemmas=[LEMMA])


def test_a_width_cannot_be_chosen():
    """LayerNorm with scale sqrt(d): S = sqrt(d) alpha, whatever d is."""
    own = {"decoder": Decoder(norm="layernorm", scale="sqrt(d)"), "inputs": Equicorrelated(HALF)}
    score = Score(1, i, j, **own)
    steps = (
        Step("ii", Eq(InputGram(i, i, own["inputs"]), 1), "input_gram"),
        Step("jj", Eq(InputGram(j, j, own["inputs"]), 1), "input_gram"),
        Step("ij", Eq(InputGram(i, j, own["inputs"]), HALF), "input_gram"),
        Step("S", Eq(score, sqrt(d) / 2), "score", ("ii", "jj", "ij")),
    )
    lemma = Derivation("lemma", "", (j < i,), steps)
    derive(cite(Eq(score, sqrt(d) / 2), {}), lemmas=[lemma], given=[j < i])
    falls("the lemma says", cite(Eq(score, 1), {d: Integer(4)}), lemmas=[lemma], given=[j < i])
    claim = Claim("w", Eq(Score(1, i, j), sqrt(2) / 2), domain=j < i, **own)
    unproved("which the domain does not give|what is shown", claim, *steps, given=(j < i, Eq(d, 2)))
    limit = Eq(Limit(score, d, oo), score)
    falls("is not fresh", Step("x", limit, "rational_limit"), given=[j < i])


def test_equals_for_equals_not_under_a_derivative():
    rejected(Eq(Derivative(m**2, m), 4), "equals", Eq(Derivative(m**2, m), 2 * m), given=[Eq(m, 2)], match="capture")
    rejected(Eq(alpha, 2), "equals", Eq(beta, 2), given=[Eq(alpha, beta + 1)])


# --- rules ------------------------------------------------------------------------------------------


def test_cases_compare_what_has_a_value():
    c = Rational(7, 13)
    f = (alpha**2 - c**2) / (alpha - c)
    steps = (
        Step("1", f > 0, "hypothesis", given=(f > 0,)),
        Step("2", f > 0, "hypothesis", given=(alpha + c <= 0,)),
        Step("3", f > 0, "cases", ("2", "1")),
    )
    falls("cases", *steps, given=(alpha + c > 0,))


@pytest.mark.parametrize("given", [(), (alpha >= 0,), (alpha <= 0,), (Ne(alpha, 0),), (alpha > -1,)])
@pytest.mark.parametrize("kinds", list(product((Lt, Le, Eq, Ne, Gt, Ge), repeat=2)))
def test_cases_leave_nothing_out(kinds, given):
    """The rule accepts exactly the pairs of conditions on alpha that cover what the hypothesis allows."""
    signs = {Lt: {-1}, Le: {-1, 0}, Eq: {0}, Ne: {-1, 1}, Gt: {1}, Ge: {0, 1}}
    open_ = {(): {-1, 0, 1}, (alpha >= 0,): {0, 1}, (alpha <= 0,): {-1, 0}, (Ne(alpha, 0),): {-1, 1}}
    complete = signs[kinds[0]] | signs[kinds[1]] >= open_.get(given, {-1, 0, 1})
    steps = [
        Step(f"{n}", Ge(i, 1, evaluate=False), "hypothesis", given=(kind(alpha, 0),)) for n, kind in enumerate(kinds)
    ]
    steps.append(Step("goal", Ge(i, 1, evaluate=False), "cases", ("0", "1")))
    if complete:
        derive(*steps, given=given)
    else:
        falls("leave something out", *steps, given=given)


def test_the_ends_of_a_falling_function():
    """sqrt(m) (m - 3) falls near 0, but its derivative has no value there."""
    f = sqrt(m) * (m - 3)
    slope = Derivative(f, m)
    falls(NO_VALUE, Step("s", Eq(slope, (m - 3) / (2 * sqrt(m)) + sqrt(m)), "derivative"))
    up = Step("s", Eq(Derivative(-m, m), -1), "derivative"), Step("n", Lt(Derivative(-m, m), 0), "sign", ("s",))

    def falling(left, right, at, given=()):
        return derive(
            *up, Step("x", Lt(left, right, evaluate=False), "decreasing", ("n",), hints={"at": at}, given=given)
        )

    falling(-lam - 1, -lam, (lam, lam + 1))
    falling(-2 * lam, -lam, (lam, 2 * lam), (lam > 0,))
    for left, right, at, given in (
        (-2 * lam, -lam, (lam, 2 * lam), ()),
        (-alpha - 1, -alpha, (alpha, alpha + 1), ()),  # below 0
        (-lam, -lam - 1, (lam + 1, lam), ()),
        (-lam - 1, -lam, (lam + 1, lam), ()),
        (-lam - 1, -lam, (lam,), ()),
        (-lam - 1, -lam, (lam, lam + 2), ()),
        (-(beta**2 - beta / 2) / (beta - HALF), -lam, (lam, beta), (lam < beta,)),  # 0/0 at beta = 1/2
    ):
        with pytest.raises(Rejected, match="decreasing"):
            falling(left, right, at, given)


def test_a_slope_known_at_one_point_is_no_slope():
    slope = Derivative(m**2 - m, m)
    steps = (
        Step("s", Lt(slope, 0), "hypothesis"),
        Step("x", Lt(lam**2 - lam, 0), "decreasing", ("s",), hints={"at": (Integer(0), lam)}),
    )
    falls("not fresh", *steps, given=(Lt(slope, 0), lam > 0))


def test_sums_of_negative_length():
    X_ = Equicorrelated(alpha)
    left, right = Sum(InputGram(n, k, X_), (k, j, i)), Sum(alpha, (k, j, i))
    steps = (
        Step("1", Eq(InputGram(n, k, X_), alpha), "input_gram", given=(k <= i, i < n)),
        Step("2", Eq(left, right), "termwise", ("1",), given=(i < n,)),
    )
    falls(NO_VALUE, *steps)
    derive(*steps, given=(j <= i + 1,))


def test_no_position_below_one():
    rejected(Eq(K(i, j - 5), alpha), "input_gram", given=[j < i], match=NO_VALUE)
    shown(Eq(K(i, j - 5), alpha), "input_gram", given=[j < i, j > 5])


def test_weights_of_what_vanishes():
    """x_2' = (x_1 + x_2)/2 = 0 at alpha = -1 without residual: the weights of layer two have no value."""
    own, law = Decoder(beta=0, residual=0), Equicorrelated(-1)
    weight = Weight(2, 2, 1, decoder=own, inputs=law)
    falls(NO_VALUE, Step("1", Eq(weight, 1 / Sum(1, (k, 1, 2))), "softmax"))


@pytest.mark.parametrize(("bound", "count", "holds"), [
    (alpha >= 0, i, True), (alpha > -1, i, False), (1 + (i - 1) * alpha > 0, i, True),
    (1 + (i - 1) * alpha > 0, j, True), (1 + (j - 1) * alpha > 0, i, False), (1 + (i - 1) * alpha >= 0, i, False),
    (1 + (i - 1) * alpha > 0, i + 1, False), (1 + i * alpha > 0, i + 1, True), (2 + (i - 1) * alpha > 0, i, False),
    (1 + (i**2 - 1) * alpha > 0, i, True), (1 + (i / 2 - 1) * alpha > 0, i, False), (1 + alpha > 0, Integer(2), True),
    (1 + 2 * alpha > 0, Integer(3), True), (1 + alpha > 0, Integer(3), False),
])  # fmt: skip
def test_independent_inputs(bound, count, holds):
    known = Known([read_statement(h) for h in (alpha < 1, bound, j < i)])
    assert known.independent(t.Law("equicorrelated", T(alpha)), T(count)) is holds
    without = Known([read_statement(h) for h in (alpha <= 1, bound, j < i)])
    assert not without.independent(t.Law("equicorrelated", T(alpha)), T(count))
    assert not known.independent(t.Law("sphere", T(alpha), T(d)), T(count))


@pytest.mark.parametrize(
    "mask", [Causal(), SlidingWindow(2), Dilated(2, 2), Blocks(2), Bidirectional(), Prefix(2), Prefix(1)]
)
def test_vectors_stay_independent_only_under_masks_that_hide_later_keys(mask):
    known = Known([read_statement(h) for h in (alpha < 1, alpha >= 0)])
    model = read_model(Decoder(mask=mask), X)
    assert known.holds(t.Vectors(model, t.number(3), T(i))) is not isinstance(mask, Bidirectional | Prefix)
    assert known.holds(t.Vectors(model.law, t.ONE, T(i)))


@pytest.mark.parametrize("own", [
    {"decoder": Decoder(mask=SlidingWindow(2))}, {"decoder": Decoder(mask=Bidirectional())},
    {"decoder": Decoder(mask=Dilated(2, 2))}, {"decoder": Decoder(mask=Blocks(2))},
    {"decoder": Decoder(mask=Dilated(99, 1))}, {"decoder": Decoder(mask=Blocks(99))},
    {"decoder": Decoder(mask=Prefix(1))}, {"decoder": Decoder(position=Rope(10000, 64))},
    {"decoder": Decoder(position=Alibi(HALF))}, {"decoder": Decoder(position=T5Bias((0, 1), max_distance=2))},
    {"inputs": Sphere(d, 0)}, {"inputs": SharedGaussian(d, 0)},
])  # fmt: skip
def test_no_rule_defines_what_it_does_not_know(own):
    model = {"decoder": Decoder(), "inputs": Equicorrelated(0), **own}
    total = Sum(exp(Score(1, i, k, **model)), (k, 1, i))
    double = Sum(Mix(1, i, k, **model) * Mix(1, j, l, **model) * InputGram(k, l, model["inputs"]), (k, 1, i), (l, 1, j))
    for statement, rule in (
        (Eq(Score(1, i, i, **model), 1), "score"),
        (Eq(Weight(1, i, i, **model), exp(Score(1, i, i, **model)) / total), "softmax"),
        (Eq(Mix(1, i, i, **model), Weight(1, i, i, **model) + 1), "mix"),
        (Eq(Gram(1, i, j, **model), double), "gram"),
        (Eq(Gram(1, i, j, **model), Gram(1, j, i, **model)), "symmetric"),
        (Lt(Score(2, i, 1, **model), 1), "cauchy_schwarz"),
    ):
        rejected(
            statement, rule, Eq(InputGram(i, i, model["inputs"]), 1), given=[i > 1, j <= i], match="no rule defines|p0"
        )


def test_rules_look_at_what_a_mask_shows_not_at_its_name():
    window = replace(read_mask(SlidingWindow(2)), kind="causal", numbers=())
    assert window != t.CAUSAL
    entry = replace(
        T(Score(1, i, j, decoder=Decoder(), inputs=X)), model=replace(read_model(Decoder(), X), mask=window)
    )
    with pytest.raises(Rejected, match="no rule defines"):
        causal(entry, "score")
    ahead = t.Sight(t.Or((t.at_most(t.KEY, t.QUERY), t.at_most(t.KEY, t.number(3)))))
    model = replace(read_model(Decoder(), X), mask=t.Mask("window", (3,), ahead))
    known = Known([read_statement(h) for h in (alpha < 1, alpha >= 0)])
    assert not known.holds(t.Vectors(model, t.number(2), T(i)))


def test_from_a_contradiction_in_the_chain_nothing_leaves_it():
    """A hypothesis on the way, however absurd, stays a hypothesis of what follows from it."""
    absurd = Step("a", Gt(lam, 5), "hypothesis", given=(lam > 5,))
    claim = Claim("a", Gt(lam + beta, 5))
    unproved("is not available", claim, absurd, Step("x", claim.statement, "sign", ("a",)))
    unproved("does not give", claim, absurd, Step("x", claim.statement, "sign", ("a",), given=(lam > 5,)))
    prove(Claim("a", claim.statement, lam > 5), Derivation("d", "", (lam > 5,), (Step("x", claim.statement, "sign"),)))
