"""Rules of the layer: its definition, and what holds in every layer."""

from __future__ import annotations

from maskproof.proofs.formal.lemma import Lemma, apply_lemma
from maskproof.proofs.formal.step import SCRIPTS, Step, by_definition, script
from maskproof.proofs.formal.text import (
    binders,
    natural,
    proposition,
    sort_hypothesis,
)
from maskproof.proofs.kernel.algebra import canonical
from maskproof.proofs.kernel.known import Known
from maskproof.proofs.terms import terms as t
from maskproof.proofs.terms.terms import (
    ONE,
    ZERO,
    Statement,
    Term,
    at_most,
    less,
    minus,
    over,
    plus,
    substitute,
    times,
)


@script
def input_gram(step: Step) -> str:
    """By the definition of equicorrelated inputs."""
    entry, _ = step.sides
    assert isinstance(entry, t.Input)
    if canonical(entry.query) == canonical(entry.key):
        return by_definition(step, ONE, "apply input_self")
    return by_definition(step, entry.law.alpha, "apply input_other; lia")


@script
def score(step: Step) -> str:
    """By the definition of a score."""
    step.use_premises()
    entry, _ = step.sides
    assert isinstance(entry, t.Entry)
    places = (entry.query, entry.key)
    if entry.model.norm != "none":
        for place in places:
            step.proof.prove(less(ZERO, _gram_before(entry, place, place)))
    inner = times(*(_stretch(entry, place) for place in places), _gram_before(entry, *places))
    return by_definition(step, over(inner, entry.model.scale), "by_definition Score_is")


@script
def softmax(step: Step) -> str:
    """By the definition of the softmax with the causal mask."""
    entry, value = step.sides
    assert isinstance(entry, t.Entry)
    step.proof.prove(at_most(entry.key, entry.query))
    k = next(n for n in value.walk() if isinstance(n, t.Sum)).index

    def power(key: Term) -> Term:
        at = t.Entry("score", entry.layer, entry.query, key, entry.model)
        return t.Exp(times(entry.model.beta, at))

    form = over(power(entry.key), t.Sum(power(k), k, ONE, entry.query))
    return by_definition(step, form, "apply Weight_is; lia")


@script
def mix(step: Step) -> str:
    """By the definition of the coefficients."""
    step.use_premises()
    entry, _ = step.sides
    assert isinstance(entry, t.Entry)
    i, j, model = entry.query, entry.key, entry.model
    if model.norm != "none":
        step.proof.prove(less(ZERO, _gram_before(entry, j, j)))
    form = times(t.Entry("weight", entry.layer, i, j, model), _stretch(entry, j))
    if canonical(i) == canonical(j):
        return by_definition(step, plus(form, model.residual), "by_definition Mix_self")
    return by_definition(step, form, "by_definition Mix_other")


@script
def gram(step: Step) -> str:
    """By the definition of the inner products after a layer."""
    entry, value = step.sides
    assert isinstance(entry, t.Entry)
    assert isinstance(value, t.Sum)
    assert isinstance(value.body, t.Sum)
    k, l = value.body.index, value.index  # noqa: E741
    m, n = (t.Entry("mix", entry.layer, a, b, entry.model) for a, b in ((entry.query, k), (entry.key, l)))
    term = times(m, n, _gram_before(entry, k, l))
    form = t.Sum(t.Sum(term, k, ONE, entry.query), l, ONE, entry.key)
    before = natural(minus(entry.layer, ONE))
    return by_definition(step, form, f"apply (Gram_is _ _ _ _ _ _ {before}); lia")


@script
def symmetric(step: Step) -> str:
    """By symmetry in every layer."""
    return "apply symmetric_rule"


@script
def norm(step: Step) -> str:
    """By linear independence of the vectors in every layer: none vanishes."""
    _, entry = step.sides
    assert isinstance(entry, t.Entry)
    name = step.proof.prove(t.Vectors(entry.model, plus(entry.layer, ONE), entry.query))
    return f"apply (norm_rule _ _ _ _ _ {name}); lia"


@script
def independence(step: Step) -> str:
    """By independence of the vectors in every layer: the cosine of two of them is below 1."""
    entry, _ = step.sides
    assert isinstance(entry, t.Entry)
    residual = step.proof.prove(at_most(ZERO, entry.model.residual))
    name = step.proof.prove(t.Independent(entry.model.law, entry.query))
    return f"apply independence_rule; [first [exact {residual} | lra] | exact {name} | lia]"


@script
def minors(step: Step) -> str:
    """By the Cauchy-Binet formula, from the premises for all positions."""
    i, j, k, l = step.goal.hints["at"]  # noqa: E741
    below, positive, mixed = step.premises.values()
    names = []
    for lemma, variables, ranges in (
        (below, (i, k, j, l), (less(i, k), less(j, l))),
        (positive, (i, j), (at_most(j, i),)),
        (mixed, (i, k, j, l), (less(i, k), less(j, l), at_most(l, i))),
    ):
        names.append(_everywhere(step, lemma, variables, ranges))
    entry = next(n for n in step.goal.statement.walk() if isinstance(n, t.Entry))
    before = natural(minus(entry.layer, ONE))
    return f"apply (minors_rule _ _ _ _ _ {before} {natural(entry.layer)} ltac:(lia) {' '.join(names)}); lia"


def _everywhere(step: Step, lemma: Lemma, variables: tuple[t.Variable, ...], ranges: tuple[Statement, ...]) -> str:
    """Assert the premise for all ``variables`` in ``ranges``, under other names; return its name."""
    at = set(variables)
    other = {v: t.Variable(f"{v.name}'", v.sort) for v in variables}
    fixed = [h for h in step.goal.ordered if not at & h.free]
    within = [substitute(h, other) for h in ranges]
    inner = step.proof.inside(Known((*fixed, *within)))
    names = [v.name for v in other.values()]
    sorts = []
    for v in other.values():
        prop = sort_hypothesis(v)
        if prop is not None:
            sorts.append(prop)
            names.append(inner.assume(prop, inner.fresh("S")))
    names.extend(inner.assume(proposition(h), inner.fresh("R")) for h in within)
    applied = apply_lemma(inner, lemma, other, step.scope | set(other.values()))
    prop = " -> ".join((*sorts, *map(proposition, within), proposition(substitute(lemma.statement, other))))
    name = step.proof.fresh("P")
    body = " ".join((f"intros {' '.join(names)}.", "reals.", *inner.lines, f"exact ({applied})."))
    step.proof.add(f"assert ({name} : forall {binders(list(other.values()))}, {prop}). {{ {body} }}")
    return name


def _gram_before(entry: t.Entry, i: Term, j: Term) -> Term:
    if entry.layer == ONE:
        return t.Input(i, j, entry.model.law)
    return t.Entry("gram", canonical(minus(entry.layer, ONE)), i, j, entry.model)


def _stretch(entry: t.Entry, i: Term) -> Term:
    """By what the vector of token i is multiplied before attention."""
    if entry.model.norm == "none":
        return ONE
    value = t.Root(entry.model.width) if entry.model.norm == "layernorm" and entry.model.width is not None else ONE
    return over(value, t.Root(_gram_before(entry, i, i)))


SCRIPTS["cauchy_schwarz"] = independence  # of layer two
