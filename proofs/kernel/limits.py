"""Limits at infinity."""

from __future__ import annotations

from flint import fmpq_mpoly

from maskproof.proofs.kernel.algebra import Field, canonical
from maskproof.proofs.kernel.goals import Goal, rule
from maskproof.proofs.kernel.known import Rejected, demand
from maskproof.proofs.terms import terms as t
from maskproof.proofs.terms.conditions import Condition, conditions
from maskproof.proofs.terms.terms import ZERO, Relation, Sort, Term, fresh, replaced, substitute
from maskproof.proofs.terms.text import text


def _limit(goal: Goal) -> tuple[Term, t.Variable, Term]:
    """f, x and c of the goal lim f = c."""
    _, left, value = goal.relation("=")
    if not isinstance(left, t.Limit):
        raise Rejected(f"the left side of {text(goal.statement)} is not a limit")
    x = left.variable
    demand(all(x not in h.free for h in goal.hypotheses), f"{x.name} is not fresh")
    demand(x not in value.free, f"the limit depends on {x.name}")
    for premise in goal.premises:
        premise.require_free((x,))
    goal.known.grant(Condition(t.Converges(left), left))
    return left.body, x, value


def _leading(field: Field, p: fmpq_mpoly, x: t.Variable) -> tuple[int, Term]:
    """Degree and leading coefficient of a polynomial in x."""
    place = field.meaning.index(x)
    degree = p.degrees()[place]
    terms = {(*m[:place], 0, *m[place + 1 :]): c for m, c in p.terms() if m[place] == degree}
    return max(degree, 0), field.polynomial(field.ring.from_dict(terms)) if terms else ZERO


@rule()
def rational_limit(goal: Goal) -> None:
    """Limit of a rational function of x: the quotient of the leading coefficients, or zero."""
    f, x, value = _limit(goal)
    known, needed = goal.known, conditions(f)
    field = Field([x, f])
    demand(all(g == x or x not in g.free for g in field.meaning), f"{text(f)} is not a rational function of {x.name}")
    field.include(*(part for c in needed if isinstance(c.statement, Relation) for part in c.statement.parts))  # type: ignore[misc]

    def leading(p: fmpq_mpoly) -> tuple[int, Term]:
        degree, coefficient = _leading(field, p, x)
        nonzero = known.shows(t.unequal(coefficient, ZERO))
        demand(nonzero, f"the leading coefficient {text(coefficient)} may vanish")
        return degree, coefficient

    for c in needed:  # so that f has a value for all large x
        if x not in c.statement.free - {r.index for r in c.ranges}:
            demand(known.meets(c), f"nothing known gives {text(c.part)} a value")
        elif isinstance(c.statement, Relation) and c.statement.kind == "!=":
            leading(field.convert(t.minus(c.statement.left, c.statement.right)).top)
        else:
            raise Rejected(f"{text(c.part)} need not have a value for large {x.name}")
    fraction = field.convert(f)
    high, low = _leading(field, fraction.top, x), leading(fraction.bottom)
    demand(high[0] <= low[0] or fraction.top.is_zero(), f"{text(f)} does not converge")
    quotient = t.over(high[1], low[1]) if high[0] == low[0] else ZERO
    goal.require_identical(quotient, value)


@rule()
def limit_algebra(goal: Goal) -> None:
    """Limit of a continuous expression in functions whose limits are premises."""
    f, x, value = _limit(goal)
    table: dict[Term, Term] = {}
    values: dict[t.Variable, Term] = {}
    for p in goal.usable:
        if isinstance(p, Relation) and p.kind == "=" and isinstance(p.left, t.Limit) and p.left.variable == x:
            # a fresh name for the part, so that nothing cancels before x is seen to be gone
            name = fresh(t.Variable("part", Sort.REAL), f, p, *values, *values.values())
            table[p.left.body] = name
            values[name] = p.right
    outer = replaced(f, table)  # as they are written: another way to write a part need not have a value
    demand(x not in outer.free, f"the limit of a part of {text(f)} is not among the premises")
    for c in conditions(outer):
        statement = substitute(c.statement, values)
        if isinstance(statement, Relation) and statement.kind == "<=":  # a root is continuous where it is not zero
            statement = t.less(statement.left, statement.right)
        met = goal.known.meets(Condition(statement, c.part, c.ranges))
        demand(met, f"{text(statement)} is not known in the limit")
    goal.require_identical(substitute(outer, values), value)


@rule(premises=2, discharges=True)
def limit_of_equal(goal: Goal) -> None:
    """lim f = c, from f = g for all large x and lim g = c."""
    f, x, value = _limit(goal)
    equality, limit = goal.premises
    goal.require_all(limit.hypotheses)
    s = equality.statement
    if not (isinstance(s, Relation) and s.kind == "=" and s.left == f):
        raise Rejected("the first premise is no equation for the function as it is written")
    wanted = t.equal(t.Limit(s.right, x), value)
    demand(canonical(limit.statement) == canonical(wanted), "the second premise is not the limit of the other form")
    for h in equality.hypotheses:
        eventually = isinstance(h, Relation) and h.kind in ("<", "<=") and h.right == x and x not in h.left.free
        lasting = goal.known.lacking(h) is None if eventually else goal.assumed.holds(h)
        demand(lasting, f"{text(h)} need not hold for large {x.name}")


@rule(premises=1)
def limit_of_square(goal: Goal) -> None:
    """lim f = 0, from lim f^2 = 0: |f| = sqrt(f^2), and the root is continuous at 0 from the right."""
    f, x, value = _limit(goal)
    demand(value == ZERO, "the limit is not 0")
    (premise,) = goal.premises
    wanted = t.equal(t.Limit(t.Power(f, 2), x), ZERO)
    demand(canonical(premise.statement) == canonical(wanted), "the premise is not the limit of the square")
    squared = {c for n in premise.statement.walk() if isinstance(n, t.Limit) for c in conditions(n.body)}
    demand(set(conditions(f)) <= squared, "the square may have a value where the function has none")
