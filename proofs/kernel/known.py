"""What follows at once from known statements, and whether terms have a value by them.

A statement that is known has a value and is true. Nothing here searches for a proof: truth and value follow if they
are among what is known, or if the sign of a rational function shows them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property, lru_cache

from maskproof.proofs.kernel.algebra import Field, Undecided, alike, canonical
from maskproof.proofs.kernel.signs import Facts
from maskproof.proofs.terms import terms as t
from maskproof.proofs.terms.conditions import Condition, Range, conditions
from maskproof.proofs.terms.terms import ONE, ZERO, Relation, Statement, Term, conjuncts, minus, number, times


class Rejected(Exception):
    """A step does not follow by the rule it names."""


def demand(condition: object, otherwise: str) -> None:
    """Reject unless ``condition`` is True."""
    if condition is not True:
        raise Rejected(otherwise)


class Known:
    """Statements that hold; ``equations`` say which of them may be used to rewrite a term before its sign is judged."""

    def __init__(self, statements: Iterable[Statement], equations: Mapping[Term, Term] | None = None) -> None:
        self.statements = tuple(dict.fromkeys(part for s in statements for part in conjuncts(s)))
        self.equations = dict(equations or {})
        self.granted = {_key(c) for s in self.statements for c in value_conditions(s)}
        self._holds: dict[Statement, bool] = {}
        self._wider: dict[tuple[Range, ...], Known] = {(): self}
        self._nodes = (*self.statements, *self.equations, *self.equations.values())

    @cached_property
    def facts(self) -> Facts:
        """The signs among what is known, those that independent inputs have among them."""
        said = Facts.of(self.statements)
        open_ = [s for s in self.statements if isinstance(s, t.Independent) and s.law.alpha.free]
        open_ = [s for s in open_ if t.less(s.law.alpha, ONE) not in self.statements]  # else all has been said
        return Facts.of((*self.statements, *(r for s in open_ for r in eigenvalues(s, said)))) if open_ else said

    @cached_property
    def _table(self) -> set[Statement]:
        return {canonical(s) for s in self.statements}

    def grant(self, *given: Condition) -> None:
        """Take conditions as known, because what needs them is known to have a value."""
        self.granted |= {_key(c) for c in given}

    def holds(self, statement: Statement) -> bool:
        """Whether ``statement`` has a value and is true; False says nothing."""
        found = self._holds.get(statement)
        if found is None:
            found = self._holds[statement] = self._true(statement) and self.lacking(statement) is None
        return found

    def _true(self, s: Statement) -> bool:
        if canonical(s) in self._table or any(alike(s, h) for h in self.statements if h.free == s.free):
            return True
        match s:
            case t.And(statements=parts):
                return all(map(self._true, parts))
            case t.Or(statements=parts):
                return any(map(self._true, parts))
            case Relation():
                return self.shows(s)
            case t.Independent(law=law, count=count):
                return self.independent(law, count)
            case t.Vectors():
                return self._vectors(s)
            case t.Integral(term=term):
                return t.is_integral(term)
        return False

    def shows(self, s: Relation) -> bool:
        """Whether the sign of its difference, as it stands or rewritten, shows a relation between what has values."""
        facts = self.facts
        for left, right in dict.fromkeys([(s.left, s.right), (self.rewritten(s.left), self.rewritten(s.right))]):
            e = right if left == ZERO else times(number(-1), left) if right == ZERO else minus(right, left)
            match s.kind:
                case "<" | "<=":
                    found = facts.is_positive(e, s.kind == "<")
                case "!=":
                    found = facts.is_nonzero(left if right == ZERO else e)
                case _:
                    found = facts.is_positive(e, False) and facts.is_positive(times(number(-1), e), False)
            if found:
                return True
        return False

    def positive(self, e: Term, strict: bool = True) -> bool:
        """Whether ``e``, which has a value, is > 0 (or >= 0, if not ``strict``)."""
        return self.shows(Relation("<" if strict else "<=", ZERO, e))

    def _vectors(self, s: t.Vectors) -> bool:
        """Independent inputs exist, and stay independent under a mask that hides all later keys.

        x_k' is M_kk x_k, M_kk > 0, plus a combination of x_1..x_(k-1): so no vector vanishes in any layer.
        """
        law = s.of.law if isinstance(s.of, t.Model) else s.of
        triangular = not isinstance(s.of, t.Model) or s.of.mask.triangular
        return triangular and self.independent(law, s.count)

    def independent(self, law: t.Law, count: Term) -> bool:
        """Whether ``count`` vectors with this law exist and are independent: 1 - alpha and 1 + (count-1) alpha are > 0.

        The second is linear in count and 1 at count = 1: if it is positive at some M >= count, it is at count.
        """
        if law.kind != "equicorrelated":
            return False
        for h in self.statements:
            if isinstance(h, t.Independent) and canonical(h.law) == canonical(law) and self.at_most(count, h.count):
                return True
        facts = self.facts
        if not facts.is_positive(minus(ONE, law.alpha)):
            return False
        if facts.is_positive(law.alpha, False) or facts.is_positive(eigenvalue(law.alpha, count)):
            return True
        return any(self.at_most(count, m) for fact in facts.positive for m in counts(fact, law.alpha))

    def at_most(self, a: Term, b: Term) -> bool:
        """Whether a <= b."""
        return a == b or self.facts.is_positive(minus(b, a), False)

    def rewritten(self, term: Term) -> Term:
        """``term`` with the left sides of equations replaced, until nothing changes."""
        for _ in range(len(self.equations)):
            changed = rewrite(term, self.equations)
            if changed == term:
                break
            term = changed
        return term

    # --- values -------------------------------------------------------------------------------------

    def lacking(self, statement: Statement) -> Condition | None:
        """The first condition, if any, that ``statement`` needs for a value and that is not known."""
        match statement:
            case t.Implies(premise=premise, conclusion=conclusion):
                further = Known((*self.statements, premise), self.equations)
                further.granted |= self.granted
                return self.lacking(premise) or further.lacking(conclusion)
            case t.And(statements=parts):
                return next((c for c in map(self.lacking, parts) if c is not None), None)
            case Relation():
                return next((c for c in value_conditions(statement) if not self.meets(c)), None)
        return None

    def meets(self, c: Condition) -> bool:
        """Whether a condition is known to be met, for all values of the variables it binds."""
        if _key(c) in self.granted:
            return True
        names: dict[t.Variable, Term] = {}
        ranges: list[Range] = []
        for r in c.ranges:  # each bound variable gets a name of its own, whatever else has the one that it had
            low, high = (t.substitute(end, names) for end in (r.low, r.high))
            own = t.fresh(r.index, *self._nodes, c.statement, *(node for q in (*c.ranges, *ranges) for node in q.nodes))
            ranges.append(Range(own, low, high))
            names[r.index] = own
        return self._inside(tuple(ranges))._true(t.substitute(c.statement, names))

    def _inside(self, ranges: tuple[Range, ...]) -> Known:
        """What is known together with the ranges of further variables."""
        if ranges not in self._wider:
            self._wider[ranges] = Known((*self.statements, *(h for r in ranges for h in within(r))), self.equations)
        return self._wider[ranges]


def within(r: Range) -> tuple[Statement, Statement]:
    """What the range says of its index."""
    return t.at_most(r.low, r.index), t.at_most(r.index, r.high)


def value_conditions(statement: Statement) -> Iterator[Condition]:
    """The conditions of the relations that a statement asserts; of others, such as c => p, a part may go without."""
    for part in conjuncts(statement):
        if isinstance(part, Relation):
            yield from conditions(part.left)
            yield from conditions(part.right)


def rewrite(term: Term, table: Mapping[Term, Term]) -> Term:
    """Replace generators by terms, as they are written up to arithmetic, not inside binders, models and quantities."""
    found = table.get(term) or (table.get(canonical(term)) if not isinstance(term, _ARITHMETIC) else None)
    if found is not None:
        return found
    if not isinstance(term, (*_ARITHMETIC, t.Exp, t.Root)):
        return term
    return term.rebuilt(lambda part: rewrite(part, table))  # type: ignore[arg-type]


_ARITHMETIC = (t.Add, t.Mul, t.Power, t.Number)


@lru_cache(maxsize=100_000)
def _key(c: Condition) -> tuple[object, ...]:
    ranges = tuple(tuple(map(canonical, r.nodes)) for r in c.ranges)
    if isinstance(c.statement, t.Converges):  # the same function, with a value at the same points
        limit = c.statement.limit
        return canonical(limit), frozenset(map(_key, conditions(limit.body))), ranges
    return canonical(c.statement), ranges


def eigenvalue(alpha: Term, count: Term) -> Term:
    """1 + (count - 1) alpha, which is positive where so many inputs are independent and alpha < 1."""
    return t.plus(ONE, times(minus(count, ONE), alpha))


def eigenvalues(s: t.Independent, said: Facts) -> Iterator[Relation]:
    """1 + (M-1) alpha > 0 if M inputs are independent, and alpha < 1 if they are two or more."""
    if s.law.kind == "equicorrelated":
        yield t.less(ZERO, eigenvalue(s.law.alpha, s.count))
        if said.is_positive(minus(s.count, number(2)), False):
            yield t.less(s.law.alpha, ONE)


def counts(fact: Term, alpha: Term) -> Iterator[Term]:
    """M, if ``fact`` is 1 + (M-1) alpha for a polynomial M."""
    m = t.plus(times(minus(fact, ONE), t.Power(alpha, -1)), ONE)
    try:
        field = Field([m])
        value = field.convert(m)
    except Undecided:
        return
    if value.bottom.is_constant():
        yield field.term(value)
