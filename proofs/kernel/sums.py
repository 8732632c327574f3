"""Sums over positions."""

from __future__ import annotations

from maskproof.proofs.kernel.goals import Goal, everywhere, rule
from maskproof.proofs.kernel.known import Rejected, demand, value_conditions, within
from maskproof.proofs.kernel.layer import same
from maskproof.proofs.terms import terms as t
from maskproof.proofs.terms.conditions import Condition, Range
from maskproof.proofs.terms.terms import (
    ONE,
    ZERO,
    Sum,
    Term,
    at_most,
    equal,
    less,
    minus,
    number,
    plus,
    substitute,
    times,
)
from maskproof.proofs.terms.text import text


def _sum(term: Term) -> Sum:
    if isinstance(term, Sum):
        return term
    raise Rejected(f"{text(term)} is not a sum")


def _factors(term: Term) -> tuple[Term, ...]:
    return term.factors if isinstance(term, t.Mul) else (term,)


@rule()
def equicorrelated_sum(goal: Goal) -> None:
    """sum_{k<=i} sum_{l<=j} a_k b_l K_kl = alpha (sum a)(sum b) + (1-alpha) sum_{k<=j} a_k b_k, j <= i."""
    _, left, value = goal.relation("=")
    outer = _sum(left)
    inner = _sum(outer.body)
    k, i, l, j = inner.index, inner.high, outer.index, outer.high  # noqa: E741
    demand(inner.low == outer.low == ONE and k != l and l not in i.free, "sums must start at 1, over two indices")
    goal.require_all((at_most(j, i),))
    factors = _factors(inner.body)
    entries = [f for f in factors if isinstance(f, t.Input)]
    demand(len(entries) == 1, "the summand has no single Gram entry")
    law = entries[0].law
    demand(law.kind == "equicorrelated" and not {k, l} & law.free, "the inputs are not equicorrelated")
    demand((entries[0].query, entries[0].key) == (k, l), f"the Gram entry should be at {k.name}, {l.name}")
    rest = [f for f in factors if f is not entries[0]]
    a = times(*(f for f in rest if l not in f.free))
    b = times(*(f for f in rest if l in f.free))
    demand(k not in b.free, "the summand does not factor")
    b = substitute(b, {l: k})
    both = times(law.alpha, Sum(a, k, ONE, i), Sum(b, k, ONE, j))
    goal.require_same(value, plus(both, times(minus(ONE, law.alpha), Sum(times(a, b), k, ONE, j))))


@rule()
def split_last(goal: Goal) -> None:
    """sum_{k=a}^{b} f(k) = sum_{k=a}^{b-1} f(k) + f(b), for a <= b."""
    _, left, value = goal.relation("=")
    total = _sum(left)
    goal.require_all((at_most(total.low, total.high),))
    before = Sum(total.body, total.index, total.low, plus(total.high, number(-1)))
    goal.require_same(value, plus(before, substitute(total.body, {total.index: total.high})))


@rule()
def constant_sum(goal: Goal) -> None:
    """sum_{k=a}^{b} c = (b - a + 1) c."""
    _, left, value = goal.relation("=")
    total = _sum(left)
    demand(total.index not in total.body.free, f"the summand depends on {total.index.name}")
    count = plus(minus(total.high, total.low), ONE)
    goal.require_same(value, times(count, total.body))


@rule()
def linear_sum(goal: Goal) -> None:
    """sum_k c f(k) = c sum_k f(k), for c free of k."""
    _, left, value = goal.relation("=")
    total = _sum(left)
    outside = times(*(f for f in _factors(total.body) if total.index not in f.free))
    inside = times(*(f for f in _factors(total.body) if total.index in f.free))
    goal.require_same(value, times(outside, Sum(inside, total.index, total.low, total.high)))


@rule(premises=1, discharges=True)
def termwise(goal: Goal) -> None:
    """sum_{k=a}^{b} f(k) = sum_{k=a}^{b} g(k), from f(k) = g(k) on a <= k <= b for a fresh k."""
    _, left, value = goal.relation("=")
    total, other = _sum(left), _sum(value)
    span = Range(total.index, total.low, total.high)
    same_range = (total.index, total.low, total.high) == (other.index, other.low, other.high)
    demand(same_range, "the ranges differ")
    taken = total.low.free.union(total.high.free, *(h.free for h in goal.hypotheses))
    demand(total.index not in taken, f"{total.index.name} is not fresh")
    (premise,) = goal.premises
    premise.require_free((total.index,))
    goal.require_all(premise.hypotheses, tuple(within(span)))
    demand(same(premise.statement, equal(total.body, other.body)), "the premise is another equation")
    _grant(goal, premise.statement, (span,))


@rule(premises=1, discharges=True)
def positive_sum(goal: Goal) -> None:
    """sum_k f(k) > 0, from f(k) > 0 on a range that is not empty; likewise over several indices."""
    _, left, term = goal.relation("<")
    demand(left == ZERO and isinstance(term, Sum), "the statement is not of the form sum > 0")
    spans: list[Range] = []
    while isinstance(term, Sum):
        goal.require_all((at_most(term.low, term.high),))
        spans.append(Range(term.index, term.low, term.high))
        term = term.body
    indices = {s.index for s in spans}
    demand(len(indices) == len(spans), "an index has two ranges")
    demand(not any(indices & (s.low.free | s.high.free) for s in spans), "a range mentions an index")
    (premise,) = goal.premises
    demand(same(premise.statement, less(ZERO, term)), "the premise is about another term")
    everywhere(goal, premise, indices, [h for s in spans for h in within(s)])
    _grant(goal, premise.statement, tuple(spans))


def _grant(goal: Goal, statement: t.Statement, spans: tuple[Range, ...]) -> None:
    """That ``statement`` holds throughout the ranges gives its parts a value there."""
    goal.known.grant(*(Condition(c.statement, c.part, (*spans, *c.ranges)) for c in value_conditions(statement)))
