"""Logic: hypotheses, citations, connectives, cases."""

from __future__ import annotations

from collections.abc import Mapping

from maskproof.proofs.kernel.algebra import alike, identical
from maskproof.proofs.kernel.goals import Goal, rule
from maskproof.proofs.kernel.known import Known, Rejected, demand, value_conditions
from maskproof.proofs.terms import terms as t
from maskproof.proofs.terms.terms import ZERO, Statement, Term, at_most, conjuncts, equal, less, number, substitute
from maskproof.proofs.terms.text import text

LANGUAGE = frozenset({
    "Number", "Variable", "Add", "Mul", "Power", "Root", "Exp", "Sum", "Derivative", "Limit", "Entry", "Input",
    "Model", "Law", "Mask", "Position", "Relation", "And", "Implies", "Independent",
})  # fmt: skip


def in_language(*nodes: t.Node) -> None:
    """Reject what has no rules: other functions, case distinctions, other connectives."""
    for node in nodes:
        odd = ", ".join(sorted(node.heads - LANGUAGE)).lower()
        demand(not odd, f"{odd} in {text(node)} is not in the kernel's language")


@rule()
def hypothesis(goal: Goal) -> None:
    """What is assumed, or follows from it by the sign of a polynomial."""
    demand(goal.assumed.holds(goal.statement), f"{text(goal.statement)} is not assumed")


@rule(discharges=True, options={"lemma": str, "step": str, "values": Mapping})
def cite(goal: Goal) -> None:
    """A step of a lemma, or the first premise, with values put in for its free variables."""
    hints, others = goal.hints, goal.premises
    if "lemma" in hints:
        line = goal.lemmas.get(hints["lemma"], {}).get(hints.get("step", ""))
    else:
        line, others = (others[0], others[1:]) if others else (None, ())
    if line is None:
        raise Rejected("nothing is cited: no premise, and no such step of such a lemma")
    for other in others:
        goal.require_all(other.hypotheses)
    known = Known((*goal.ordered, *(other.statement for other in others)))
    values = admissible(hints.get("values", {}), known)
    line.require_free(values)
    for needed in line.hypotheses:
        instance = substitute(needed, values)
        demand(known.holds(instance), f"the lemma needs {text(instance)}")
    cited = substitute(line.statement, values)
    demand(alike(cited, goal.statement), f"the lemma says {text(cited)}")
    goal.known.grant(*value_conditions(cited))


def admissible(values: Mapping[t.Variable, Term], known: Known) -> Mapping[t.Variable, Term]:
    """The values, if each has one and is of the sort of the variable that it replaces."""
    for variable, value in values.items():
        in_language(value)
        demand(known.lacking(equal(value, value)) is None, f"{text(value)} need not have a value")
        demand(not variable.sort.integral or t.is_integral(value), f"{text(value)} is not an integer")
        if variable.sort.least is not None:
            relation = less if variable.sort is t.Sort.POSITIVE else at_most
            needed = relation(number(variable.sort.least), value)
            demand(known.holds(needed), f"{text(needed)} is not known")
    return values


@rule(premises=1, discharges=True)
def implication(goal: Goal) -> None:
    """c => p, from p under the further hypothesis c."""
    s, (premise,) = goal.statement, goal.premises
    if not isinstance(s, t.Implies):
        raise Rejected("the statement is not an implication")
    goal.require_all(premise.hypotheses, (s.premise,))
    demand(alike(premise.statement, s.conclusion), "the premise is another statement")
    demand(goal.known.lacking(s.premise) is None, "the condition need not have a value")
    goal.known.grant(*value_conditions(premise.statement))


@rule()
def detach(goal: Goal) -> None:
    """p, from c => p and c."""
    for p in goal.usable:
        if isinstance(p, t.Implies) and alike(p.conclusion, goal.statement) and goal.known.holds(p.premise):
            goal.known.grant(*value_conditions(p.conclusion))
            return
    raise Rejected("no premise implies the statement")


@rule()
def conjunction(goal: Goal) -> None:
    """p and q, from p and from q."""
    for part in conjuncts(goal.statement):
        demand(any(alike(part, known) for known in goal.usable), f"no premise gives {text(part)}")


@rule(premises=1)
def equals(goal: Goal) -> None:
    """p, from p with equals put for equals, the equation being a hypothesis about a variable."""
    for h in goal.ordered:
        match h:
            case t.Relation(kind="=", left=t.Variable() as x, right=value):
                given, shown = (substitute(s, {x: value}) for s in (goal.premises[0].statement, goal.statement))
                if alike(given, shown):
                    demand(Known((*goal.ordered, given)).lacking(shown) is None, "the statement need not have a value")
                    goal.known.grant(*value_conditions(goal.statement))
                    return
    raise Rejected("no hypothesis turns the premise into the statement")


@rule(discharges=True)
def cases(goal: Goal) -> None:
    """p, from p in each of the cases a < b, a = b, a > b that the hypotheses leave open."""
    demand(bool(goal.premises), "there are no cases")
    covered: set[int] = set()
    pivot: Term = ZERO
    for premise in goal.premises:
        demand(premise.statement == goal.statement, "a case proves another statement")
        extra = [h for h in premise.hypotheses if not goal.assumed.holds(h)]
        demand(len(extra) <= 1, "a case has more than one condition")
        if not extra:
            covered = {-1, 0, 1}
            break  # this case needs no condition at all
        signs, difference = _signs(goal, extra[0])
        pivot = pivot if covered else difference
        same, opposite = identical(difference, pivot), identical(difference, t.times(number(-1), pivot))
        demand(same or opposite, "the cases compare different things")
        covered |= signs if same else {-sign for sign in signs}
    for sign, excluded_by in ((1, at_most(pivot, ZERO)), (-1, at_most(ZERO, pivot)), (0, t.unequal(pivot, ZERO))):
        demand(sign in covered or goal.assumed.holds(excluded_by), "the cases leave something out")
    goal.known.grant(*value_conditions(goal.statement))


def _signs(goal: Goal, condition: Statement) -> tuple[set[int], Term]:
    """The signs of left - right that a condition allows, and that difference, which must have a value."""
    if not isinstance(condition, t.Relation):
        raise Rejected(f"{text(condition)} is not a relation")
    known = goal.assumed.lacking(condition) is None
    demand(known, f"the cases compare what need not have a value: {text(condition)}")
    signs = {"<": {-1}, "<=": {-1, 0}, "=": {0}, "!=": {-1, 1}}[condition.kind]
    return signs, t.minus(condition.left, condition.right)
