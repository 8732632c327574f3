"""Lines, goals and the register of rules.

A *line* says that a statement follows from hypotheses: for all values of its free variables at which all hypotheses
have a value and hold, the statement has a value and holds. A *rule* looks at a goal and raises ``Rejected`` unless the
line follows; it never searches for a proof of something else, and what a hint proposes is checked. That the statement
has a value is demanded in one place, of every line (``proofs.kernel.checking``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, wraps
from typing import Any

from maskproof.proofs.kernel.algebra import canonical, identical
from maskproof.proofs.kernel.known import Known, Rejected, demand
from maskproof.proofs.terms import terms as t
from maskproof.proofs.terms.terms import Relation, Statement, Term, conjuncts
from maskproof.proofs.terms.text import text


@dataclass(frozen=True)
class Line:
    """``statement`` follows from ``hypotheses`` and, at fixed values of some variables, from what is ``supposed``."""

    statement: Statement
    hypotheses: frozenset[Statement]
    supposed: frozenset[Supposition] = frozenset()

    @cached_property
    def ordered(self) -> tuple[Statement, ...]:
        """The hypotheses in an order that is the same in every run: the search for signs depends on it."""
        return tuple(sorted(self.hypotheses, key=_written))

    def require_free(self, variables: Iterable[t.Variable]) -> None:
        """Reject if the line holds only at a fixed value of one of these variables."""
        fixed = {s.fixed for s in self.supposed} & set(variables)
        demand(not fixed, f"the line rests on a supposition about this {', '.join(v.name for v in fixed)}")


@dataclass(frozen=True)
class Supposition:
    """At one value of ``fixed``, the statement follows from the hypotheses for all values of all other variables."""

    statement: Statement
    hypotheses: frozenset[Statement]
    fixed: t.Variable


@dataclass(frozen=True)
class Goal(Line):
    """A line to be shown, with what the rule may use."""

    premises: tuple[Line, ...] = ()
    hints: Mapping[str, Any] = field(default_factory=dict)
    lemmas: Mapping[str, Mapping[str, Line]] = field(default_factory=dict)

    @cached_property
    def assumed(self) -> Known:
        """What the hypotheses say."""
        return Known(self.ordered)

    @cached_property
    def known(self) -> Known:
        """What the hypotheses say, and those premises whose own hypotheses follow from them."""
        usable = [p.statement for p in self.premises if all(map(self.assumed.holds, p.hypotheses))]
        parts = [part for statement in usable for part in conjuncts(statement)]
        equations = {canonical(p.left): p.right for p in parts if isinstance(p, Relation) and p.kind == "="}
        return Known((*self.ordered, *usable), equations)

    @cached_property
    def usable(self) -> tuple[Statement, ...]:
        """What the premises say, part by part."""
        return tuple(part for premise in self.premises for part in conjuncts(premise.statement))

    def require_all(
        self, needed: Sequence[Statement] | frozenset[Statement], further: Sequence[Statement] = ()
    ) -> None:
        """Reject unless all ``needed`` statements follow from the hypotheses and ``further`` ones."""
        known = Known((*self.ordered, *further)) if further else self.assumed
        for statement in needed:
            demand(known.holds(statement), f"hypothesis {text(statement)} is not available")

    def relation(self, *kinds: str) -> tuple[str, Term, Term]:
        """Kind and sides of the goal, which must be a relation of one of these kinds."""
        s = self.statement
        if not isinstance(s, Relation) or s.kind not in kinds:
            raise Rejected(f"{text(s)} is not of the form a {' or a '.join(f'{kind} b' for kind in kinds)}")
        return s.kind, s.left, s.right

    def require_positive(self, e: Term, strict: bool = True) -> None:
        """Reject unless ``e`` is known to be > 0 (>= 0 if not ``strict``)."""
        demand(self.known.positive(e, strict), f"{text(e)} {'>' if strict else '>='} 0 is not known")

    def require_identical(self, left: Term, right: Term) -> None:
        """Reject unless both sides are equal by field arithmetic, after rewriting by the premises."""
        same = identical(self.known.rewritten(left), self.known.rewritten(right))
        demand(same, f"{text(left)} and {text(right)} differ")

    def require_same(self, value: Term, expected: Term) -> None:
        """Reject unless ``value`` is ``expected``, up to arithmetic."""
        demand(identical(value, expected), f"the right side should be {text(expected)}")


@lru_cache(maxsize=50_000)
def _written(statement: Statement) -> str:
    return repr(statement)


Rule = Callable[[Goal], "frozenset[Supposition] | None"]  # what it leaves supposed, if not what its premises do
RULES: dict[str, Rule] = {}


def rule(
    *,
    premises: int | None = None,
    discharges: bool = False,
    hints: Mapping[str, type] | None = None,
    options: Mapping[str, type] | None = None,
) -> Callable[[Rule], Rule]:
    """Register a rule, with what it takes; a step that gives it anything else is rejected before the rule sees it.

    Args:
        premises: how many; None for any number.
        discharges: whether premises may have hypotheses that the goal has not: the rule says which. Those of other
            rules follow from the hypotheses of the goal.
        hints: those that the rule needs, by name and type.
        options: those that it may do without.
    """
    needed, kinds = dict(hints or {}), {**(hints or {}), **(options or {})}

    def register(check: Rule) -> Rule:
        @wraps(check)
        def checked(goal: Goal) -> frozenset[Supposition] | None:
            if premises is not None:
                demand(len(goal.premises) == premises, f"the rule has {premises} premises, not {len(goal.premises)}")
            for name in needed:
                demand(name in goal.hints, f"the rule needs the hint {name!r}")
            for name, hint in goal.hints.items():
                demand(name in kinds, f"the rule has no hint {name!r}")
                demand(_is_of(hint, kinds[name]), f"the hint {name!r} is of another kind")
            if not discharges:
                for premise in goal.premises:
                    goal.require_all(premise.hypotheses)
            return check(goal)

        RULES[check.__name__] = checked
        return checked

    return register


def _is_of(hint: object, kind: type) -> bool:
    """Whether a hint is of this type: a tuple holds terms, a mapping gives terms for variables."""
    if isinstance(hint, tuple):
        return kind is tuple and all(isinstance(part, Term) for part in hint)
    if isinstance(hint, Mapping):
        items = hint.items()
        return kind is Mapping and all(isinstance(a, t.Variable) and isinstance(b, Term) for a, b in items)
    return isinstance(hint, kind)


def everywhere(goal: Goal, premise: Line, positions: set[t.Variable], ranges: Sequence[Statement] = ()) -> None:
    """Reject unless ``premise`` holds at all ``positions`` in ``ranges``, whatever the goal assumes about them."""
    premise.require_free(positions)
    models = [n for n in premise.statement.walk() if isinstance(n, t.Model | t.Law)]
    demand(not any(positions & m.free for m in models), "a model depends on a position of the premise")
    fixed = [h for h in goal.ordered if not positions & h.free]
    known = Known((*fixed, *ranges))
    for h in premise.hypotheses:
        demand(known.holds(h), f"hypothesis {text(h)} is not available at all positions")
