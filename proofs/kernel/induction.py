"""Induction over the layer."""

from __future__ import annotations

from maskproof.proofs.kernel.algebra import alike
from maskproof.proofs.kernel.goals import Goal, Supposition, rule
from maskproof.proofs.kernel.known import Known, Rejected, demand
from maskproof.proofs.terms import terms as t
from maskproof.proofs.terms.terms import ONE, at_most, plus, substitute
from maskproof.proofs.terms.text import text


@rule(premises=0, hints={"at": t.Variable})
def suppose(goal: Goal) -> frozenset[Supposition]:
    """What is to be shown by induction, at one value of a variable; hint ``at``: the variable."""
    variable = goal.hints["at"]
    demand(variable.sort.integral, f"{variable.name} is not an integer")
    about = [h for h in goal.hypotheses if variable in h.free]
    demand(not about, f"a supposition at {variable.name} is for all values that a hypothesis lets it have")
    return frozenset({Supposition(goal.statement, goal.hypotheses, variable)})


@rule(discharges=True, hints={"at": t.Variable, "from": t.Number})
def induction(goal: Goal) -> frozenset[Supposition]:
    """P(n) for all n >= b, from P(b), and P(n+1) from P(n), n >= b; several statements P together.

    Premises: the statements supposed at n, in this order those at b, and those at n + 1; hints ``at``: n, ``from``: b.
    Each is meant for all values of its other variables that its hypotheses allow.
    """
    n, base = goal.hints["at"], goal.hints["from"]
    least = n.sort.least
    # P(n + 1) is shown for values of n alone: from the base, n + 1, n + 2, ... must reach all of them.
    demand(base.value.denominator == 1, f"{text(base)} is not an integer")
    first = least is None or base.value >= least
    demand(first, f"{n.name} has no value {text(base)}: P(n + 1) is shown for n >= {least}")
    count, odd = divmod(len(goal.premises), 3)
    demand(not odd, "the premises are not the statements at n, at the base and at n + 1")
    at_n, at_base, at_next = (goal.premises[place * count : (place + 1) * count] for place in range(3))
    suppositions = frozenset(Supposition(p.statement, p.hypotheses, n) for p in at_n)
    later = at_most(base, n)
    for p, first, following in zip(at_n, at_base, at_next, strict=True):
        demand(p.supposed == {Supposition(p.statement, p.hypotheses, n)}, f"{text(p.statement)} is not supposed")
        for line, value, rest, allowed in (
            (first, base, frozenset[Supposition](), ()),
            (following, plus(n, ONE), suppositions, (later,)),
        ):
            wanted, known = substitute(p.statement, {n: value}), Known((*p.ordered, *allowed))
            demand(alike(line.statement, wanted), f"{text(line.statement)} is not {text(wanted)}")
            demand(line.supposed <= rest, f"{text(line.statement)} rests on another supposition")
            for h in line.hypotheses:
                demand(known.holds(h), f"{text(line.statement)} needs {text(h)}")
    shown = next((p for p in at_n if alike(p.statement, goal.statement)), None)
    if shown is None:
        raise Rejected("no premise supposes the statement")
    goal.require_all((later, *shown.hypotheses))
    return frozenset()
