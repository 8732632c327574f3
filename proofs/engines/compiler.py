"""From statements to functions of a scene, once for all points.

Every engine evaluates what is compiled here, in balls or in exact numbers, so that a statement has one meaning. A
relation looks at the conditions of its sides first (``proofs.terms.conditions``, the list that the kernel demands).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from operator import eq, le, lt, ne
from typing import Any

from flint import fmpq

from maskproof.proofs.engines.numbers import integer
from maskproof.proofs.engines.scene import Check, Open, Scene, Value
from maskproof.proofs.engines.truth import NotApplicable, Truth, Undefined, both, either, negation
from maskproof.proofs.engines.values import Scope, Values, ends
from maskproof.proofs.engines.vectors import exist, independent
from maskproof.proofs.terms import terms as t
from maskproof.proofs.terms.conditions import Condition, Range, conditions
from maskproof.proofs.terms.text import text


class Compiler(Values):
    """Compiles the parts of one statement."""

    def statement(self, s: t.Statement, scope: Scope) -> Check:
        """Truth of a statement: True, False, None for undecided, or ``Undefined``.

        Raises:
            NotApplicable: a part can't be evaluated.
        """
        return self._statement(s, scope, self.relation)

    def _statement(self, s: t.Statement, scope: Scope, relation: Callable[[t.Relation, Scope], Check]) -> Check:
        match s:
            case t.Relation():
                return relation(s, scope)
            case t.And() | t.Or():
                parts = [self._statement(part, scope, relation) for part in s.statements]
                join = both if isinstance(s, t.And) else either
                return lambda scene: join(part(scene) for part in parts)
            case t.Not():
                opposite = self._statement(s.statement, scope, relation)
                return lambda scene: negation(opposite(scene))
            case t.Implies():
                premise, conclusion = (self._statement(p, scope, relation) for p in (s.premise, s.conclusion))
                return lambda scene: either(f(scene) for f in (lambda at: negation(premise(at)), conclusion))
            case t.Integral():
                return _guarded(_integral(self.value(s.term, scope)))
            case t.Vectors():
                return _guarded(exist(self, s, scope))
            case t.Independent():
                return _guarded(independent(self.value(s.law.alpha, scope), self.value(s.count, scope)))
        raise NotApplicable(f"numbers don't apply to {type(s).__name__}: {text(s)}")

    def relation(self, s: t.Relation, scope: Scope) -> Check:
        """A relation, once its sides have values."""
        demands, leaf = self.demands((s.left, s.right), scope), self._leaf(s, scope, ties=True)
        if not demands:
            return leaf

        def check(scene: Scene) -> Truth:
            having = all_hold(demands, scene)
            return leaf(scene) if having is True else having

        return check

    def _leaf(self, s: t.Relation, scope: Scope, *, ties: bool) -> Check:
        left, right, kind = self.value(s.left, scope), self.value(s.right, scope), s.kind
        at_equality, between_fractions = kind in ("<=", "="), _OPERATORS[kind]

        def compare(scene: Scene) -> bool | None:
            a, b = left(scene), right(scene)
            if type(a) is fmpq and type(b) is fmpq:
                return between_fractions(a, b)
            truth = scene.arithmetic.compare(kind, a, b)
            if truth is None and ties and scene.companion is None and scene.open_gap(a, b):
                return at_equality if scene.ties else None
            return truth

        return _guarded(compare)

    def demands(self, sides: tuple[t.Term, ...], scope: Scope) -> list[Check]:
        """What must hold for all sides to have a value: each is True, undecided or ``Undefined``."""
        needed = list(dict.fromkeys(condition for side in sides for condition in conditions(side)))
        for condition in tuple(needed):
            if _implied(condition, needed):
                needed.remove(condition)
        found = [self._demand(condition, scope) for condition in needed]
        for side in sides:
            for ranges, cases in choices(side):
                found.append(self._over(ranges, scope, lambda inner, c=cases: self._chosen(c, inner), cases.free))
        return found

    def _demand(self, condition: Condition, scope: Scope) -> Check:
        def bare(relation: t.Relation, inner: Scope) -> Check:
            return self._leaf(relation, inner, ties=False)

        def check(inner: Scope) -> Check:
            holds = self._statement(condition.statement, inner, bare)
            missing = Undefined(condition)
            return lambda scene: missing if (truth := holds(scene)) is False else truth

        return self._over(condition.ranges, scope, check, condition.statement.free)

    def _over(
        self, ranges: tuple[Range, ...], scope: Scope, build: Callable[[Scope], Check], free: frozenset[t.Variable]
    ) -> Check:
        """A check of something with free variables, at all values of bound ones; at one value if it stays the same."""
        if not ranges:
            return build(scope)
        (place, name, low, high), inner = self.loop(ranges[0], scope)
        body = self._over(ranges[1:], inner, build, free)
        ends_below = [end.free for reach in ranges[1:] for end in (reach.low, reach.high) if end is not None]
        still = ranges[0].index not in free.union(*ends_below)

        def check(scene: Scene) -> Truth:
            reach = ends(low(scene), high(scene))
            if reach is None:
                return True  # that the range is one is a demand of its own
            open_ = False
            for step in range(reach[0], reach[1] + 1):
                scene.values[place] = fmpq(step)
                truth = body(scene)
                if isinstance(truth, Undefined):
                    return truth if still else Undefined(truth.condition, ((name, str(step)), *truth.bound))
                open_ = open_ or truth is None
                if still:
                    break
            return None if open_ else True

        return _guarded(check)

    def _chosen(self, cases: t.Cases, scope: Scope) -> Check:
        """That one case holds, and its value exists."""
        branches = [(self.statement(c.condition, scope), self.demands((c.value,), scope)) for c in cases.cases]
        missing = Undefined(Condition(t.Or(tuple(case.condition for case in cases.cases)), cases))

        def check(scene: Scene) -> Truth:
            for condition, demands in branches:
                truth = condition(scene)
                if truth is True:
                    return all_hold(demands, scene)
                if truth is not False:
                    return truth
            return missing

        return check


def _implied(condition: Condition, needed: Collection[Condition]) -> bool:
    """Whether vectors are demanded that exist, and do not vanish, if others that are demanded do."""
    s = condition.statement
    if not (isinstance(s, t.Vectors) and isinstance(s.layer, t.Number)):
        return False
    same = [c for c in needed if c.ranges == condition.ranges]
    at_most = {c.statement for c in same if isinstance(c.statement, t.Relation)}
    for other in same:
        w = other.statement
        if w == s or not (isinstance(w, t.Vectors) and w.of == s.of and isinstance(w.layer, t.Number)):
            continue
        if s.layer.value <= w.layer.value and (s.count == w.count or t.at_most(s.count, w.count) in at_most):
            return True
    return False


def all_hold(demands: list[Check], scene: Scene) -> Truth:
    """Whether all demands are met: without a value if one certainly is not, undecided if one is."""
    open_ = False
    for demand in demands:
        truth = demand(scene)
        if isinstance(truth, Undefined):
            return truth
        open_ = open_ or truth is not True
    return None if open_ else True


def choices(term: t.Node) -> Iterator[tuple[tuple[Range, ...], t.Cases]]:
    """The outermost case distinctions of a term, with the ranges of the variables that are bound there."""
    if isinstance(term, t.Cases):
        yield (), term
    elif isinstance(term, t.Binder):
        yield from choices(term.low)
        yield from choices(term.high)
        here = Range(term.index, term.low, term.high)
        yield from (((here, *ranges), cases) for ranges, cases in choices(term.body))
    else:
        for part in term.parts:
            yield from choices(part)


def _integral(value: Value) -> Check:
    def check(scene: Scene) -> bool | None:
        number = value(scene)
        if integer(number) is not None:
            return True
        return False if isinstance(number, fmpq) else None

    return check


def _guarded(check: Check) -> Check:
    """Ask balls first; what can't be evaluated is undecided."""

    def guarded(scene: Scene) -> Truth:
        if scene.companion is not None:
            truth = guarded(scene.companion)
            if truth is not None:
                return truth
        try:
            return check(scene)
        except Open as obstacle:
            scene.obstacle = obstacle
            return None
        except NotApplicable as error:
            scene.reason = str(error)
            return None

    return guarded


_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {"<": lt, "<=": le, "=": eq, "!=": ne}
