"""Each line of the definition of a layer, and what follows from layers as matrices."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sympy import Eq, Gt, Integer, Le, Lt, Ne, Rational, Sum, exp, sqrt, true

from maskproof.proofs.engines.derivations import check
from maskproof.proofs.kernel.known import Rejected
from maskproof.theory import averaging
from maskproof.theory.decoder import Bidirectional, Decoder
from maskproof.theory.derivation import Step
from maskproof.theory.inputs import Equicorrelated, Sphere
from maskproof.theory.layer_one import p
from maskproof.theory.quantities import Gram, InputGram, Mix, Score, Weight
from maskproof.theory.symbols import alpha, beta, d, i, j, k, lam
from tests.proofs.kernel.steps import A, G, K, M, S, X, altered, l, refused, rejected, shown


def test_input_gram():
    shown(Eq(K(i, i), 1), "input_gram")
    shown(Eq(K(i, j), alpha), "input_gram", given=[j < i])
    rejected(Eq(K(i, j), alpha), "input_gram")  # i may equal j
    rejected(Eq(K(i, i), alpha), "input_gram")
    rejected(Eq(K(i, i, Sphere(d, 0)), 1), "input_gram")


def test_score():
    norms = [Gt(G(1, i, i), 0), Gt(G(1, j, j), 0)]
    cosine = G(1, i, j) / (sqrt(G(1, i, i)) * sqrt(G(1, j, j)))
    seen = {"given": [j <= i]}
    shown(Eq(S(2, i, j), cosine), "score", *norms, **seen)
    rejected(Eq(S(2, i, j), cosine), "score", *norms, match="j <= i")  # a score that the mask hides
    rejected(Eq(S(2, i, j), cosine), "score", norms[0], **seen, match=r"G1\[j,j\] > 0")
    rejected(Eq(S(2, i, j), cosine), "score", norms[1], **seen, match=r"G1\[i,i\] > 0")
    rejected(Eq(S(2, i, j), -cosine), "score", *norms, **seen, match="differ")
    rejected(Eq(S(3, i, j), cosine), "score", *norms, **seen)  # type: ignore[arg-type]
    raw = Decoder(norm="none", scale=2)
    shown(Eq(S(2, i, j, decoder=raw), G(1, i, j, decoder=raw) / 2), "score", **seen)
    rejected(Eq(S(2, i, j, decoder=raw), G(1, i, j, decoder=raw)), "score", **seen, match="differ")
    rejected(Eq(S(2, i, j, decoder=Decoder(norm="layernorm")), cosine), "score", *norms, **seen)  # type: ignore[arg-type]


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


def test_cauchy_schwarz():
    known = [Gt(M(1, i, i), 0), Gt(M(1, j, j), 0)]
    domain = [j < i, alpha < 1, Gt(1 + (i - 1) * alpha, 0)]
    below = Lt(S(2, i, j), 1)
    shown(below, "cauchy_schwarz", *known, given=domain)
    rejected(below, "cauchy_schwarz", *known, given=domain[1:])  # i may equal j
    shown(below, "cauchy_schwarz", *known, given=domain[:1])  # alpha is understood to make the inputs independent
    constant = {"inputs": Equicorrelated(Rational(-1, 2))}
    numbers = [Gt(M(1, q, q, **constant), 0) for q in (i, j)]
    shown(Lt(S(2, i, j, **constant), 1), "cauchy_schwarz", *numbers, given=[j < i, i <= 2])
    rejected(Lt(S(2, i, j, **constant), 1), "cauchy_schwarz", *numbers, given=[j < i, i <= 3], match="dependent")
    rejected(below, "cauchy_schwarz", known[0], given=domain)  # x_j may vanish
    rejected(Lt(S(3, i, j), 1), "cauchy_schwarz", *known, given=domain)


def test_symmetric():
    shown(Eq(G(2, i, j), G(2, j, i)), "symmetric")
    rejected(Eq(G(2, i, j), G(1, j, i)), "symmetric")
    rejected(Eq(A(2, i, j), A(2, j, i)), "symmetric")  # under the mask one of them is zero
    rejected(Eq(G(2, i, j), G(2, j, i, decoder=Decoder(mask=Bidirectional()))), "symmetric")
    rejected(Eq(G(2, i, j, inputs=Sphere(d, 0)), G(2, j, i, inputs=Sphere(d, 0))), "symmetric")


PRODUCTS = averaging.every_layer()
(PRODUCT,) = (step for step in PRODUCTS.steps if step.rule == "minors")
ORDERED = (Lt(i, k), Lt(j, p))


def test_minors():
    altered(PRODUCTS, "minors")
    altered(PRODUCTS, "minors", given=(*ORDERED, Lt(k, 5)))  # less than is known
    below, entries, inside = PRODUCT.premises
    smaller = PRODUCT.statement
    for changes in (
        {"given": ORDERED[:1]},
        {"given": (Lt(i, k), Lt(p, j))},
        {"statement": Le(*smaller.args)},
        {"statement": Gt(*smaller.args)},  # the minor may vanish
        {"statement": smaller.xreplace({q: G(3, *q.args[1:3], decoder=q.decoder) for q in smaller.atoms(Gram)})},
        {"premises": (below, inside, entries)},
        {"premises": (below, entries)},
        {"premises": (below, entries, below)},
        {"premises": (below, "M-self", inside)},
        {"hints": {"at": (k, j, i, p)}},
        {"hints": {"at": (i, j, i, p)}},
        {"hints": {"at": (i, j, i + 1, j + 1)}},
    ):
        refused(PRODUCTS, "minors", **changes)


@pytest.mark.parametrize("place", range(3))
def test_the_premises_of_minors_hold_at_all_positions(place):
    """A premise that is known for some positions only is not enough, whatever the goal assumes of them."""
    steps = {step.label: step for step in PRODUCTS.steps}
    premises = list(PRODUCT.premises)
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
    model = {q: Gram(q.layer, *q.args[1:3], decoder=own, inputs=X) for q in PRODUCT.statement.atoms(Gram)}
    refused(PRODUCTS, "minors", statement=PRODUCT.statement.xreplace(model))
    (first, *_) = model
    refused(PRODUCTS, "minors", statement=PRODUCT.statement.xreplace({first: model[first]}))


def test_minors_are_of_one_matrix_whatever_the_position():
    """The premises hold for all positions, but with p in the model each is about a matrix of its own."""
    labels = [step.label for step in PRODUCTS.steps]
    steps = (*PRODUCTS.steps[: labels.index("G")], PRODUCT)
    for scale in (2, p):
        own = Decoder(beta=0, residual=0, scale=scale)

        def of(e, own=own):
            entries = e.atoms(Score, Weight, Mix, Gram) - e.atoms(InputGram)
            model = {q: type(q)(q.layer, *q.args[1:3], decoder=own, inputs=q.inputs) for q in entries}
            return e.xreplace(model)

        changed = tuple(replace(s, statement=of(s.statement), given=tuple(map(of, s.given))) for s in steps)
        derivation = replace(PRODUCTS, steps=changed, lemmas=())
        if scale == 2:
            assert check(derivation)
        else:
            with pytest.raises(Rejected, match=r"\(minors\): a model depends on a position"):
                check(derivation)


def test_rows_and_columns_of_minors_vary_by_themselves():
    """Of the layer below only the minors with j = i are known."""
    steps = {step.label: step for step in PRODUCTS.steps}
    same = {j: i}
    parts = tuple(
        Step(f"{name} at {i}{i}", steps[name].statement.xreplace(same), "cite", (name,),
             tuple(h.xreplace(same) for h in steps[name].given), {"values": same})
        for name in PRODUCT.premises
    )  # fmt: skip
    given = (Lt(i, k), Lt(i, p))
    changes = {"statement": PRODUCT.statement.xreplace(same), "given": given, "hints": {"at": (i, i, k, p)}}
    refused(PRODUCTS, "minors", *parts, premises=tuple(part.label for part in parts), **changes)


INDEPENDENT = averaging.increasing()


def test_independence():
    altered(INDEPENDENT, "independence")

    def score(layer, a, b, **model):
        return S(layer, a, b, **{"decoder": averaging.AVERAGING, **model})

    for changes in (
        {"statement": Lt(score(3, i, j), 1)},
        {"statement": Lt(score(2, i, j), 1)},
        {"statement": Lt(S(l, i, j), 1)},  # any l2 decoder
        {"given": (Lt(j + 1, i),)},
        {"hints": {"at": k}},  # once needed
    ):
        altered(INDEPENDENT, "independence", **changes)
    for changes in (
        {"given": ()},  # i may equal j
        {"given": (Lt(i, j),)},
        {"statement": Lt(score(1, i, j), 1)},  # layer one is known
        {"statement": Lt(score(l - 1, i, j), 1)},
        {"statement": Lt(score(3, i, j), 0)},
        {"statement": Gt(score(3, i, j), 1)},
        {"statement": Lt(score(3, i, j, inputs=Equicorrelated(Rational(-1, 10))), 1)},
        {"statement": Lt(score(3, i, j, decoder=Decoder(norm="none")), 1)},
        {"statement": Lt(score(3, i, j, decoder=Decoder(scale=Rational(1, 2))), 1)},
        {"statement": Lt(score(3, i, j, inputs=Sphere(d, 0)), 1)},
        {"hints": {"at": Integer(1)}},
    ):
        refused(INDEPENDENT, "independence", **changes)


def test_a_norm_is_positive():
    shown(Gt(G(3, i, i), 0), "norm")
    shown(Gt(G(l, i + 1, 1 + i), 0), "norm", given=[alpha >= 0, alpha < 1])
    rejected(Gt(G(3, i, j), 0), "norm", given=[j <= i], match="not G_ii > 0")
    rejected(Gt(G(3, i, i), 1), "norm", match="not G_ii > 0")
    rejected(Gt(A(3, i, i), 0), "norm", match="no rule defines")
    rejected(Gt(G(1, 3, 3, inputs=Equicorrelated(Rational(-1, 2))), 0), "norm", match="may be dependent")
    rejected(Gt(G(1, i, i, inputs=Sphere(d, 0)), 0), "norm", match="no rule defines")


def test_a_hidden_key_has_no_softmax_even_if_its_score_cancels():
    """With beta = 0 the scores drop out of the formula; the weight of a later key is 0 all the same."""
    flat = Decoder(beta=0)
    weight = A(1, i, j, decoder=flat)
    shown(Eq(weight, 1 / Sum(1, (k, 1, i))), "softmax", given=[j <= i])
    rejected(Eq(weight, 1 / Sum(1, (k, 1, i))), "softmax", match="<= i is not known")
    rejected(Eq(weight, Rational(1, 2)), "softmax", given=[j <= i], match="no single sum")
    rejected(Eq(weight, 1 / Sum(1, (k, 2, i))), "softmax", given=[j <= i], match="the right side should be")
    rejected(Eq(weight, Sum(1, (k, 1, 1)) / Sum(1, (k, 1, i))), "softmax", given=[j <= i], match="no single sum")


def test_gram_is_a_double_sum_over_fresh_indices():
    def statement(a, b, first, second):
        inner = Sum(M(1, a, first) * M(1, b, second) * K(first, second), (first, 1, a))
        return Eq(G(1, a, b), Sum(inner, (second, 1, b)))

    shown(statement(i, j, k, l), "gram")
    shown(statement(i, i, k, l), "gram")
    rejected(statement(i, j, i, l), "gram", match="own range")
    rejected(statement(i, j, k, k), "gram", match="must be fresh")
    rejected(statement(i, j, k, i), "gram", match="must be fresh")
    rejected(Eq(G(1, i, j), Sum(M(1, i, k), (k, 1, i))), "gram", match="not a double sum")
    rejected(Eq(G(1, i, j), alpha), "gram", match="not a double sum")
    rejected(Eq(S(1, i, i), Sum(Sum(K(k, l), (k, 1, i)), (l, 1, i))), "gram", match="no rule defines")


def test_input_gram_is_about_inputs():
    rejected(Eq(G(1, i, j), alpha), "input_gram", given=[j < i], match="no entry of equicorrelated inputs")
    rejected(Eq(K(i, j), 1), "input_gram", given=[j < i], match="should be alpha")
    shown(Eq(K(i, j), alpha), "input_gram", given=[Ne(i, j)])
    shown(Eq(K(i + 1, 1 + i), 1), "input_gram")


def test_score_of_inputs_and_of_a_layer_norm():
    units = [Eq(K(i, i), 1), Eq(K(j, j), 1)]
    shown(Eq(S(1, i, j), K(i, j)), "score", *units, given=[j <= i])
    wide = Decoder(norm="layernorm", scale="sqrt(d)")
    shown(Eq(S(1, i, j, decoder=wide), sqrt(d) * K(i, j)), "score", *units, given=[j <= i])
    rejected(Eq(S(1, i, j, decoder=wide), K(i, j)), "score", *units, given=[j <= i], match="differ")
    rejected(Eq(S(1, i, j, decoder=wide), K(i, j) / sqrt(d)), "score", *units, given=[j <= i], match="differ")


def test_mix_of_a_layer_norm_and_of_no_norm():
    wide, raw = Decoder(norm="layernorm", residual=lam), Decoder(norm="none", residual=lam)
    units = [Eq(K(i, i), 1), Eq(K(j, j), 1)]
    shown(Eq(M(1, i, j, decoder=wide), sqrt(d) * A(1, i, j, decoder=wide)), "mix", *units, given=[j < i])
    shown(Eq(M(1, i, i, decoder=wide), sqrt(d) * A(1, i, i, decoder=wide) + lam), "mix", *units)
    rejected(Eq(M(1, i, j, decoder=wide), A(1, i, j, decoder=wide)), "mix", *units, given=[j < i], match="differ")
    scaled = Decoder(scale="sqrt(d)", residual=lam)  # its vectors have norm 1 all the same
    shown(Eq(M(1, i, j, decoder=scaled), A(1, i, j, decoder=scaled)), "mix", *units, given=[j < i])
    shown(Eq(M(2, i, j, decoder=raw), A(2, i, j, decoder=raw)), "mix", given=[j < i])
    rejected(Eq(M(2, i, j), A(2, i, j)), "mix", given=[j < i], match="> 0 is not known")
    rejected(Eq(M(1, i, j), A(1, i, j)), "mix", *units, given=[i < j], match="j < i is not known")
    rejected(Eq(M(1, i, j), A(1, i, j)), "mix", *units, given=[j <= i], match="j < i is not known")


def test_cosines_are_scores_of_the_sphere_without_scale():
    known = [Gt(M(1, i, i), 0), Gt(M(1, j, j), 0)]
    for model in (
        {"decoder": Decoder(scale=2)},
        {"decoder": Decoder(norm="none")},
        {"decoder": Decoder(norm="layernorm")},
    ):
        rejected(Lt(S(2, i, j, **model), 1), "cauchy_schwarz", *known, given=[j < i], match="not cosine < 1")
    rejected(Lt(S(2, i, j), 2), "cauchy_schwarz", *known, given=[j < i], match="not cosine < 1")
    rejected(Lt(S(2, i, j), 1), "cauchy_schwarz", *known, given=[j <= i], match="not available")
    rejected(Lt(S(1, i, j), 1), "cauchy_schwarz", *known, given=[j < i], match="not a score of layer two")
    rejected(Lt(S(2, i, j), 1), "cauchy_schwarz", known[1], given=[j < i], match=r"M at i may vanish")
    shown(Lt(S(2, i, j), 1), "cauchy_schwarz", Ne(M(1, i, i), 0), Lt(M(1, j, j), 0), given=[j < i])


def test_rows_of_minors_are_not_only_next_to_each_other():
    """That minors of the rows i and i + 1 are not negative says nothing of others; i + 1 is no variable."""
    (last,) = (step for step in PRODUCTS.steps if step.rule == "minors")
    steps = {step.label: step for step in PRODUCTS.steps}
    near = {k: i + 1}
    parts = tuple(
        Step(f"{name} near", steps[name].statement.xreplace(near), "cite", (name,),
             tuple(h for h in (h.xreplace(near) for h in steps[name].given) if h != true), {"values": near})
        for name in last.premises
    )  # fmt: skip
    changes = {"statement": last.statement.xreplace(near), "given": (Lt(j, l),), "hints": {"at": (i, j, i + 1, l)}}
    with pytest.raises(Rejected, match=r"\(minors\): not four variables"):
        altered(PRODUCTS, "minors", *parts, premises=tuple(part.label for part in parts), **changes)
