"""The layer: one rule for each line of its definition, and what follows from its being a product of matrices."""

from __future__ import annotations

from collections.abc import Callable

from maskproof.proofs.kernel.algebra import canonical
from maskproof.proofs.kernel.goals import Goal, everywhere, rule
from maskproof.proofs.kernel.known import Rejected, demand
from maskproof.proofs.terms import terms as t
from maskproof.proofs.terms.terms import ONE, ZERO, Entry, Term, at_most, less, minus, number, over, plus, times
from maskproof.proofs.terms.text import text


def causal(entry: Term, *kinds: str) -> Entry:
    """The entry, whose model the rules define: causal, without position code, on equicorrelated inputs."""
    if (
        isinstance(entry, Entry)
        and entry.kind in kinds
        and entry.model.law.kind == "equicorrelated"  # for a random law quantities are expectations
        and entry.model.mask == t.CAUSAL
        and entry.model.position is None
    ):
        return entry
    raise Rejected(f"no rule defines {text(entry)} for its model")


def value_norm(model: t.Model) -> Term:
    """The norm v of a normalised vector: sqrt(d) with LayerNorm, where x stands for the centred vector, else 1."""
    return t.Root(model.width) if model.norm == "layernorm" and model.width is not None else ONE


def at(entry: Entry, kind: str, query: Term, key: Term) -> Entry:
    """Another entry of the same layer."""
    return Entry(kind, entry.layer, query, key, entry.model)


def gram_before(entry: Entry, i: Term, j: Term) -> Term:
    """<x_i, x_j> of the vectors that enter the layer of ``entry``, which has no value if there is no such layer."""
    if entry.layer == ONE:
        return t.Input(i, j, entry.model.law)
    return Entry("gram", canonical(minus(entry.layer, ONE)), i, j, entry.model)


@rule()
def input_gram(goal: Goal) -> None:
    """K_ii = 1, and K_ij = alpha for i != j."""
    _, entry, value = goal.relation("=")
    if not (isinstance(entry, t.Input) and entry.law.kind == "equicorrelated"):
        raise Rejected("no entry of equicorrelated inputs")
    if canonical(entry.query) == canonical(entry.key):
        goal.require_same(value, ONE)
    else:
        demand(goal.assumed.holds(t.unequal(entry.query, entry.key)), "whether the positions differ is not known")
        goal.require_same(value, entry.law.alpha)


@rule()
def score(goal: Goal) -> None:
    """S_ij = <y_i, y_j> / scale with y = v x / ||x||, for x != 0 (or y = x without normalisation).

    v is 1 for l2, and sqrt(d) for LayerNorm, where x is the centred vector.
    """
    _, left, value = goal.relation("=")
    entry = causal(left, "score")
    inner = gram_before(entry, entry.query, entry.key)
    if entry.model.norm != "none":
        squares = [gram_before(entry, a, a) for a in (entry.query, entry.key)]
        for square in squares:
            goal.require_positive(square)
        v = t.Power(value_norm(entry.model), 2)
        inner = times(v, inner, *(t.Power(t.Root(square), -1) for square in squares))
    goal.require_identical(over(inner, entry.model.scale), value)


@rule()
def softmax(goal: Goal) -> None:
    """A_ij = exp(beta S_ij) / sum_{k<=i} exp(beta S_ik), for j <= i."""
    _, left, value = goal.relation("=")
    entry = causal(left, "weight")
    i, j = entry.query, entry.key
    demand(goal.assumed.holds(at_most(j, i)), f"{text(j)} <= {text(i)} is not known")
    sums = {n for n in value.walk() if isinstance(n, t.Sum)}
    demand(len(sums) == 1, "the right side has no single sum")
    k = next(iter(sums)).index
    demand(k not in left.free, f"{k.name} is not fresh")

    def power(key: Term) -> Term:
        return t.Exp(times(entry.model.beta, at(entry, "score", i, key)))

    goal.require_same(value, over(power(j), t.Sum(power(k), k, ONE, i)))


@rule()
def mix(goal: Goal) -> None:
    """M_ij = v A_ij / ||x_j|| + residual [i = j], for j <= i, v as in ``score``: x_i' = sum_j M_ij x_j.

    With LayerNorm, too: centring acts on coordinates and mixing on tokens, so the centred vectors mix likewise.
    """
    _, left, value = goal.relation("=")
    entry = causal(left, "mix")
    i, j = entry.query, entry.key
    weight: Term = at(entry, "weight", i, j)
    if entry.model.norm != "none":
        square = gram_before(entry, j, j)
        goal.require_positive(square)
        weight = times(value_norm(entry.model), weight, t.Power(t.Root(square), -1))
    if canonical(i) == canonical(j):
        weight = plus(weight, entry.model.residual)
    else:
        demand(goal.assumed.holds(less(j, i)), f"{text(j)} < {text(i)} is not known")
    goal.require_identical(weight, value)


@rule()
def gram(goal: Goal) -> None:
    """G_ij = sum_{k<=i} sum_{l<=j} M_ik M_jl <x_k, x_l>."""
    _, left, value = goal.relation("=")
    entry = causal(left, "gram")
    if not (isinstance(value, t.Sum) and isinstance(value.body, t.Sum)):
        raise Rejected("the right side is not a double sum")
    k, l = value.body.index, value.index  # noqa: E741
    demand(k != l and not {k, l} & left.free, "indices must be fresh")
    term = times(at(entry, "mix", entry.query, k), at(entry, "mix", entry.key, l), gram_before(entry, k, l))
    goal.require_same(value, t.Sum(t.Sum(term, k, ONE, entry.query), l, ONE, entry.key))


@rule()
def symmetric(goal: Goal) -> None:
    """G_ij = G_ji: they are inner products."""
    _, left, value = goal.relation("=")
    entry = causal(left, "gram")
    goal.require_same(value, at(entry, "gram", entry.key, entry.query))


@rule()
def norm(goal: Goal) -> None:
    """G_ii > 0 in any layer, from linearly independent inputs.

    x_k' is M_kk x_k plus a combination of x_1..x_(k-1), and M_kk > 0, because a weight is positive, its factor
    v / ||x_k|| is, and residual >= 0: so a layer keeps vectors linearly independent, and none vanishes.
    """
    _, left, right = goal.relation("<")
    entry = causal(right, "gram")
    demand(left == ZERO and canonical(entry.query) == canonical(entry.key), "the statement is not G_ii > 0")
    demand(goal.assumed.independent(entry.model.law, entry.query), "the inputs may be dependent")


@rule(premises=3, discharges=True, hints={"at": tuple})
def minors(goal: Goal) -> None:
    """G_ij G_kl >= G_il G_kj for all i < k and j < l, from the same of G in the layer below and of M, and M >= 0.

    By the Cauchy-Binet formula a minor of M G M^T is a sum of products of minors of M, of G and of M^T. As M_il = 0
    for l > i, the minors of M with l > i are M_ij M_kl - 0, a product of entries; those with l <= i are a premise.
    Premises in this order: G, M_ij >= 0 for j <= i, M; hint ``at``: i, j, k, l.
    """
    _, smaller, _ = goal.relation("<=")
    entry = causal(next((n for n in smaller.walk() if isinstance(n, Entry)), smaller), "gram")
    positions = goal.hints["at"]
    demand(len(set(positions)) == 4 and all(isinstance(p, t.Variable) for p in positions), "not four variables")
    i, j, k, l = positions  # noqa: E741

    def minor(cell: Callable[[Term, Term], Term]) -> t.Relation:
        return at_most(times(cell(i, l), cell(k, j)), times(cell(i, j), cell(k, l)))

    def mixed(a: Term, b: Term) -> Term:
        return at(entry, "mix", a, b)

    ordered = (less(i, k), less(j, l))
    demand(same(goal.statement, minor(lambda a, b: at(entry, "gram", a, b))), "the statement is not the minor")
    goal.require_all(ordered)
    needed = (
        (minor(lambda a, b: gram_before(entry, a, b)), ordered),
        (at_most(ZERO, mixed(i, j)), (at_most(j, i),)),
        (minor(mixed), (*ordered, at_most(l, i))),
    )
    for premise, (statement, ranges) in zip(goal.premises, needed, strict=True):
        demand(same(premise.statement, statement), f"the premise should be {text(statement)}")
        everywhere(goal, premise, set(positions), ranges)


@rule()
def cauchy_schwarz(goal: Goal) -> None:
    """S_ij < 1 for j < i in layer two, from linearly independent inputs, M_ii != 0 and M_jj != 0.

    x_i' has a part along x_i and x_j', which is not zero, has none: they are not parallel, so the cosine between them
    is below 1.
    """
    entry = _cosine(goal)
    demand(entry.layer == number(2), "not a score of layer two")
    for position in (entry.query, entry.key):
        own = Entry("mix", ONE, position, position, entry.model)
        demand(goal.known.holds(t.unequal(own, ZERO)), f"M at {text(position)} may vanish")


@rule(discharges=True, options={"at": t.Variable})
def independence(goal: Goal) -> None:
    """S_ij < 1 for j < i in any layer from the second on, from linearly independent inputs.

    x_k' is M_kk x_k plus a combination of x_1..x_(k-1), and M_kk = v A_kk / |x_k| + residual > 0. So a layer keeps
    vectors linearly independent, and the cosine of two such is below 1. Nothing is made of premises and hint, which
    the rule once needed.
    """
    goal.require_all((at_most(number(2), _cosine(goal).layer),))


def _cosine(goal: Goal) -> Entry:
    """The score in S_ij < 1 with j < i, a cosine of combinations of independent inputs x_1..x_i."""
    _, left, right = goal.relation("<")
    entry = causal(left, "score")
    demand(right == ONE and entry.model.norm == "l2" and entry.model.scale == ONE, "the statement is not cosine < 1")
    goal.require_all((less(entry.key, entry.query),))
    demand(goal.assumed.independent(entry.model.law, entry.query), "the inputs may be dependent")
    return entry


def same(a: t.Statement, b: t.Statement) -> bool:
    """Whether two statements are written alike, up to arithmetic."""
    return canonical(a) == canonical(b)
