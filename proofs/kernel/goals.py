"""Lines, goals and the register of rules.

A *line* says that a statement follows from hypotheses: for all values of its free variables at which all hypotheses
have a value and hold, the statement has a value and holds. A *rule* looks at a goal and raises ``Rejected`` unless the
line follows; it never searches for a proof of something else, and what a hint proposes is checked. That the statement
has a value is demanded in one place, of every line (``proofs.kernel.checking``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from proofs.kernel.algebra import canonical, identical
from proofs.kernel.known import Known, Rejected, demand
from proofs.terms import terms as t
from proofs.terms.terms import Relation, Statement, Term, conjuncts
from proofs.terms.text import text


@dataclass(frozen=True)
class Line:
    """``statement`` follows from ``hypotheses``."""

    statement: Statement
    hypotheses: frozenset[Statement]


@dataclass(frozen=True)
class Goal(Line):
    """A line to be shown, with what the rule may use."""

    premises: tuple[Line, ...] = ()
    hints: Mapping[str, Any] | None = None
    lemmas: Mapping[str, Mapping[str, Line]] | None = None

    @cached_property
    def assumed(self) -> Known:
        """What the hypotheses say."""
        return Known(self.ordered)

    @cached_property
    def ordered(self) -> tuple[Statement, ...]:
        """The hypotheses in an order that is the same in every run: the search for signs depends on it."""
        return tuple(sorted(self.hypotheses, key=_written))

    @cached_property
    def known(self) -> Known:
        """What the hypotheses say, and those premises whose own hypotheses follow from them."""
        usable = [p.statement for p in self.premises if all(map(self.assumed.holds, p.hypotheses))]
        parts = [part for statement in usable for part in conjuncts(statement)]
        equations = {canonical(p.left): p.right for p in parts if isinstance(p, Relation) and p.kind == "="}
        return Known((*self.ordered, *usable), equations)

    @cached_property
    def usable(self) -> tuple[Statement, ...]:
        """Statements of the premises; the hypotheses of each must follow from those of the goal."""
        for premise in self.premises:
            self.require_all(premise.hypotheses)
        return tuple(part for premise in self.premises for part in conjuncts(premise.statement))

    def require_all(
        self, needed: Sequence[Statement] | frozenset[Statement], further: Sequence[Statement] = ()
    ) -> None:
        """Reject unless all ``needed`` statements follow from the hypotheses and ``further`` ones."""
        known = Known((*self.ordered, *further)) if further else self.assumed
        for statement in needed:
            demand(known.holds(statement), f"hypothesis {text(statement)} is not available")

    def relation(self, *kinds: str) -> tuple[Term, Term]:
        """Both sides of the goal, which must be a relation of one of these kinds."""
        s = self.statement
        if not isinstance(s, Relation) or s.kind not in kinds:
            raise Rejected(f"{text(s)} is not of the form a {' or a '.join(f'{kind} b' for kind in kinds)}")
        return s.left, s.right

    def require_positive(self, e: Term, strict: bool = True) -> None:
        """Reject unless ``e`` is known to be > 0 (>= 0 if not ``strict``)."""
        facts = self.known.facts
        found = facts.is_positive(e, strict) or facts.is_positive(self.known.rewritten(e), strict)
        demand(found, f"{text(e)} {'>' if strict else '>='} 0 is not known")

    def require_identical(self, left: Term, right: Term) -> None:
        """Reject unless both sides are equal by field arithmetic, after rewriting by the premises."""
        same = identical(self.known.rewritten(left), self.known.rewritten(right))
        demand(same, f"{text(left)} and {text(right)} differ")

    def require_same(self, value: Term, expected: Term) -> None:
        """Reject unless ``value`` is ``expected``, up to arithmetic."""
        demand(identical(value, expected), f"the right side should be {text(expected)}")

    def hint(self, name: str) -> Any:
        """What the rule was told under this name; the register has checked that it was told."""
        return (self.hints or {})[name]


@lru_cache(maxsize=50_000)
def _written(statement: Statement) -> str:
    return repr(statement)


Rule = Callable[[Goal], None]
RULES: dict[str, Rule] = {}
Kind = type | tuple[type, ...]


def rule(*, premises: int | None = None, hints: Mapping[str, Kind] | None = None) -> Callable[[Rule], Rule]:
    """Register a rule, with the number of its premises (None: any) and the hints that it needs, by name and type."""
    needed = dict(hints or {})

    def register(check: Rule) -> Rule:
        def checked(goal: Goal) -> None:
            given = goal.hints or {}
            if premises is not None:
                demand(len(goal.premises) == premises, f"the rule has {premises} premises, not {len(goal.premises)}")
            for name, kind in needed.items():
                demand(name in given, f"the rule needs the hint {name!r}")
                demand(isinstance(given[name], kind), f"the hint {name!r} is of another kind")
            check(goal)

        checked.__doc__, checked.__name__ = check.__doc__, check.__name__
        RULES[check.__name__] = checked
        return checked

    return register


def everywhere(goal: Goal, premise: Line, positions: set[t.Variable], ranges: Sequence[Statement] = ()) -> None:
    """Reject unless ``premise`` holds at all ``positions`` in ``ranges``, whatever the goal assumes about them."""
    models = [n for n in premise.statement.walk() if isinstance(n, t.Model | t.Law)]
    demand(not any(positions & m.free for m in models), "a model depends on a position of the premise")
    fixed = [h for h in goal.ordered if not positions & h.free]
    known = Known((*fixed, *ranges))
    for h in premise.hypotheses:
        demand(known.holds(h), f"hypothesis {text(h)} is not available at all positions")
