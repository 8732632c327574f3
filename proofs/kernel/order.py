"""Algebra, order and derivatives."""

from __future__ import annotations

from maskproof.proofs.kernel.algebra import alike, canonical, identical
from maskproof.proofs.kernel.goals import Goal, rule
from maskproof.proofs.kernel.known import Rejected, demand
from maskproof.proofs.terms import terms as t
from maskproof.proofs.terms.derivatives import derivative as differentiated
from maskproof.proofs.terms.terms import ONE, ZERO, Relation, Term, equal, less, minus, over, plus, substitute
from maskproof.proofs.terms.text import text


@rule()
def identity(goal: Goal) -> None:
    """Equal as rational functions of the generators, after replacing by the premises."""
    _, left, right = goal.relation("=")
    goal.require_identical(left, right)


@rule(options={"form": Term})
def sign(goal: Goal) -> None:
    """An inequality whose difference has the right sign; hint ``form``: how to write it to see that."""
    kind, left, right = goal.relation("<", "<=", "!=")
    known, form = goal.known, goal.hints.get("form")
    if form is not None:
        demand(known.lacking(equal(form, form)) is None, f"{text(form)} need not have a value")
        power = 2 if kind == "!=" else 1  # there the sign of the form does not matter
        goal.require_identical(t.Power(minus(right, left), power), t.Power(form, power))
        left, right = ZERO, form
    demand(known.shows(Relation(kind, left, right)), f"the sign of {text(minus(right, left))} is not known")


@rule()
def add(goal: Goal) -> None:
    """An inequality that is the sum of the premises, one of them strict if it is."""
    kind, left, right = goal.relation("<", "<=")
    parts = [p for p in goal.usable if isinstance(p, Relation) and p.kind in ("<", "<=")]
    demand(bool(parts) and len(parts) == len(goal.usable), "a premise is not an inequality")
    total = plus(*(minus(p.right, p.left) for p in parts))
    demand(identical(minus(right, left), total), "the premises add up to something else")
    strict = any(p.kind == "<" for p in parts)
    demand(strict or kind == "<=", "no premise is strict")


@rule()
def exponential(goal: Goal) -> None:
    """exp(u) < exp(v) for u < v, and likewise <=; 1 is exp(0)."""
    kind, left, right = goal.relation("<", "<=")
    low, high = (_log(goal.known.rewritten(side)) for side in (left, right))
    goal.require_positive(minus(high, low), kind == "<")


def _log(e: Term) -> Term:
    if canonical(e) == ONE:
        return ZERO
    if not isinstance(e, t.Exp):
        raise Rejected(f"{text(e)} is not an exponential")
    return e.exponent


@rule()
def root(goal: Goal) -> None:
    """sqrt(a) < sqrt(b), from a < b; a >= 0 as the line has a value."""
    _, left, right = goal.relation("<")
    goal.require_positive(minus(_radicand(right), _radicand(left)))


def _radicand(e: Term) -> Term:
    if isinstance(e, t.Number) and e.value >= 0:
        return t.Number(e.value**2)
    if not isinstance(e, t.Root):
        raise Rejected(f"{text(e)} is not a root")
    return e.radicand


@rule()
def square(goal: Goal) -> None:
    """a = b, from a^2 = b^2, a >= 0 and b >= 0."""
    _, left, right = goal.relation("=")
    goal.require_positive(left, strict=False)
    goal.require_positive(right, strict=False)
    wanted = equal(t.Power(left, 2), t.Power(right, 2))
    demand(any(alike(wanted, p) for p in goal.usable), f"no premise says that {text(wanted)}")


@rule(hints={"factor": Term})
def product(goal: Goal) -> None:
    """c a < c b, from a < b and c > 0; hint ``factor``: c."""
    _, left, right = goal.relation("<")
    c = goal.hints["factor"]
    wanted = less(over(left, c), over(right, c))
    demand(any(alike(wanted, p) for p in goal.usable), "no premise compares the other factors")
    goal.require_positive(c)


@rule(hints={"numerator": Term})
def quotient(goal: Goal) -> None:
    """c/a < c/b, from 0 < b < a and c > 0 (and c/b < c/a for c < 0); hint ``numerator``: c."""
    _, left, right = goal.relation("<")
    c = goal.hints["numerator"]
    small, large = over(c, right), over(c, left)  # denominators in rising order, for c > 0
    if not goal.known.facts.is_positive(c):
        goal.require_positive(minus(ZERO, c))
        small, large = large, small
    wanted = less(small, large)
    demand(any(alike(wanted, p) for p in goal.usable), f"no premise gives {text(wanted)}")
    for denominator in (small, large):
        goal.require_positive(canonical(denominator))


@rule()
def derivative(goal: Goal) -> None:
    """d f / d x, worked out by the rules of differentiation."""
    _, left, right = goal.relation("=")
    if not isinstance(left, t.Derivative):
        raise Rejected(f"the left side of {text(goal.statement)} is not a derivative")
    goal.require_identical(differentiated(left.body, left.variable), right)


@rule(premises=1, hints={"at": tuple})
def decreasing(goal: Goal) -> None:
    """f(y) < f(x) for 0 <= x < y, from f' < 0 on m >= 0 (mean value theorem); hint ``at``: x, y."""
    _, left, right = goal.relation("<")
    (premise,), at = goal.premises, goal.hints["at"]
    demand(len(at) == 2, "the hint 'at' is not a pair")
    x, y = at
    slope = premise.statement
    if not (isinstance(slope, Relation) and slope.kind == "<" and isinstance(slope.left, t.Derivative)):
        raise Rejected("the premise is no negative derivative")
    demand(slope.right == ZERO, "the premise is no negative derivative")
    f, m = slope.left.body, slope.left.variable
    demand(all(m not in h.free for h in goal.hypotheses), f"{m.name} is not fresh")
    demand(m.sort is t.Sort.NONNEGATIVE, f"{m.name} is not a real variable >= 0")
    premise.require_free((m,))
    # neither do those of the premise, which follow from them: so f is differentiable on the whole of m >= 0
    for place in at:
        demand(goal.known.lacking(equal(place, place)) is None, f"{text(place)} need not have a value")
    goal.require_positive(x, strict=False)
    goal.require_positive(minus(y, x))
    for side, place in ((left, y), (right, x)):
        demand(identical(side, substitute(f, {m: place})), f"{text(side)} is not the function at {text(place)}")
