"""Algebra, order and derivatives."""

from __future__ import annotations

from proofs.kernel.algebra import alike, canonical, identical
from proofs.kernel.goals import Goal, rule
from proofs.kernel.known import Rejected, conditions, demand
from proofs.terms import terms as t
from proofs.terms.derivatives import derivative as differentiated
from proofs.terms.terms import ONE, ZERO, Relation, Term, equal, less, minus, over, plus, substitute
from proofs.terms.text import text


@rule()
def identity(goal: Goal) -> None:
    """Equal as rational functions of the generators, after replacing by the premises."""
    left, right = goal.relation("=")
    demand(bool(goal.usable) or not goal.premises, "a premise says nothing")
    goal.require_identical(left, right)


@rule()
def sign(goal: Goal) -> None:
    """An inequality whose difference has the right sign; hint ``form``: how to write it to see that."""
    left, right = goal.relation("<", "<=", "!=")
    demand(bool(goal.usable) or not goal.premises, "a premise says nothing")
    known, kind = goal.known, goal.statement.kind  # type: ignore[attr-defined]
    e = minus(right, left)
    form = (goal.hints or {}).get("form")
    if form is not None:
        demand(known.lacking(equal(form, form)) is None, f"{text(form)} need not have a value")
        same = identical(known.rewritten(e), known.rewritten(form))
        if kind == "!=" or not same:
            same = same or (identical(known.rewritten(minus(left, right)), known.rewritten(form)) and kind == "!=")
        demand(same, f"{text(form)} is not the difference {text(e)}")
        left, right, e = ZERO, form, form
    if kind == "!=":
        nonzero = any(known.facts.is_nonzero(known.rewritten(x)) or known.facts.is_nonzero(x) for x in (e,))
        demand(nonzero, f"{text(e)} != 0 does not follow")
    else:
        a, b = known.rewritten(left), known.rewritten(right)
        difference = b if a == ZERO else minus(b, a)
        found = known.facts.is_positive(difference, kind == "<") or known.facts.is_positive(e, kind == "<")
        demand(found, f"{text(difference)} {'>' if kind == '<' else '>='} 0 is not known")


@rule()
def add(goal: Goal) -> None:
    """An inequality that is the sum of the premises, one of them strict if it is."""
    left, right = goal.relation("<", "<=")
    parts = [p for p in goal.usable if isinstance(p, Relation) and p.kind in ("<", "<=")]
    demand(bool(parts) and len(parts) == len(goal.usable), "a premise is not an inequality")
    total = plus(*(minus(p.right, p.left) for p in parts))
    demand(identical(minus(right, left), total), "the premises add up to something else")
    strict = any(p.kind == "<" for p in parts)
    demand(strict or goal.statement.kind == "<=", "no premise is strict")  # type: ignore[attr-defined]


@rule()
def exponential(goal: Goal) -> None:
    """exp(u) < exp(v) for u < v, and likewise <=; 1 is exp(0)."""
    left, right = goal.relation("<", "<=")
    demand(bool(goal.usable) or not goal.premises, "a premise says nothing")
    low, high = (_log(goal.known.rewritten(side)) for side in (left, right))
    goal.require_positive(minus(high, low), goal.statement.kind == "<")  # type: ignore[attr-defined]


def _log(e: Term) -> Term:
    if canonical(e) == ONE:
        return ZERO
    if not isinstance(e, t.Exp):
        raise Rejected(f"{text(e)} is not an exponential")
    return e.exponent


@rule()
def root(goal: Goal) -> None:
    """sqrt(a) < sqrt(b), from 0 <= a < b."""
    left, right = goal.relation("<")
    demand(bool(goal.usable) or not goal.premises, "a premise says nothing")
    a, b = _radicand(left), _radicand(right)
    goal.require_positive(a, strict=False)
    goal.require_positive(minus(b, a))


def _radicand(e: Term) -> Term:
    if isinstance(e, t.Number) and e.value >= 0:
        return t.Number(e.value**2)
    if not isinstance(e, t.Root):
        raise Rejected(f"{text(e)} is not a root")
    return e.radicand


@rule()
def square(goal: Goal) -> None:
    """a = b, from a^2 = b^2, a >= 0 and b >= 0."""
    left, right = goal.relation("=")
    demand(bool(goal.usable), "no premise gives the squares")
    goal.require_positive(left, strict=False)
    goal.require_positive(right, strict=False)
    wanted = equal(t.Power(left, 2), t.Power(right, 2))
    demand(any(alike(wanted, p) for p in goal.usable), f"no premise says that {text(wanted)}")


@rule(hints={"factor": Term})
def product(goal: Goal) -> None:
    """c a < c b, from a < b and c > 0; hint ``factor``: c."""
    left, right = goal.relation("<")
    c = goal.hint("factor")
    wanted = less(over(left, c), over(right, c))
    demand(any(alike(wanted, p) for p in goal.usable), "no premise compares the other factors")
    goal.require_positive(c)


@rule(hints={"numerator": Term})
def quotient(goal: Goal) -> None:
    """c/a < c/b, from 0 < b < a and c > 0 (and c/b < c/a for c < 0); hint ``numerator``: c."""
    left, right = goal.relation("<")
    c = goal.hint("numerator")
    small, large = over(c, right), over(c, left)  # denominators in rising order, for c > 0
    demand(bool(goal.usable), "no premise compares the denominators")
    if not goal.known.facts.is_positive(c):
        goal.require_positive(minus(ZERO, c))
        small, large = large, small
    wanted = less(small, large)
    demand(any(alike(wanted, p) for p in goal.usable), f"no premise gives {text(wanted)}")
    for denominator in (small, large):
        goal.require_positive(_written(denominator))


def _written(e: Term) -> Term:
    return canonical(e)


@rule()
def derivative(goal: Goal) -> None:
    """d f / d x, worked out by the rules of differentiation."""
    left, right = goal.relation("=")
    if not isinstance(left, t.Derivative):
        raise Rejected(f"the left side of {text(goal.statement)} is not a derivative")
    demand(bool(goal.usable) or not goal.premises, "a premise says nothing")
    goal.require_identical(differentiated(left.body, left.variable), right)


@rule(premises=1, hints={"at": tuple})
def decreasing(goal: Goal) -> None:
    """f(y) < f(x) for 0 <= x < y, from f' < 0 on m >= 0 (mean value theorem); hint ``at``: x, y."""
    left, right = goal.relation("<")
    (premise,), at = goal.premises, goal.hint("at")
    demand(len(at) == 2 and all(isinstance(p, Term) for p in at), "the hint 'at' is not a pair of terms")
    x, y = at
    slope = premise.statement
    if not (isinstance(slope, Relation) and slope.kind == "<" and isinstance(slope.left, t.Derivative)):
        raise Rejected("the premise is no negative derivative")
    demand(slope.right == ZERO, "the premise is no negative derivative")
    f, m = slope.left.body, slope.left.variable
    demand(all(m not in h.free for h in goal.hypotheses), f"{m.name} is not fresh")
    demand(m.sort is t.Sort.NONNEGATIVE, f"{m.name} is not a real variable >= 0")
    goal.require_all(premise.hypotheses)  # they don't speak of m: so f is differentiable on the whole of m >= 0
    for place in at:
        demand(goal.known.lacking(equal(place, place)) is None, f"{text(place)} need not have a value")
    goal.require_positive(x, strict=False)
    goal.require_positive(minus(y, x))
    for side, place in ((left, y), (right, x)):
        value = substitute(f, {m: place})
        demand(identical(side, value), f"{text(side)} is not the function at {text(place)}")
        goal.known.grant(*conditions(value))
