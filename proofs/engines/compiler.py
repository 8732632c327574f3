"""From terms to functions of a scene, once for all points.

Every engine evaluates what is compiled here, in balls or in exact numbers, so that a statement has one meaning. A
relation looks at the conditions of its sides first (``proofs.terms.conditions``, the list that the kernel demands).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from operator import add, eq, le, lt, mul, ne
from typing import Any

from flint import fmpq

from proofs.engines import functions
from proofs.engines.numbers import fraction, integer
from proofs.engines.scene import Check, Model, Open, Scene, Value
from proofs.engines.truth import NotApplicable, Truth, Undefined, both, either, negation
from proofs.engines.vectors import exist, independent
from proofs.terms import terms as t
from proofs.terms.conditions import Condition, Range, conditions
from proofs.terms.derivatives import derivative
from proofs.terms.text import text

MOST_TERMS = 10_000  # of one sum or product

Scope = Mapping[t.Variable, int]
Loop = tuple[int, str, Value, Value]  # place and name of the index, its ends


class Compiler:
    """Compiles parts of one statement.

    Args:
        statement: fixes the places of free variables, and how deep each model is looked into.
    """

    def __init__(self, statement: t.Node) -> None:
        self.names: list[str] = []
        self.scope: dict[t.Variable, int] = {}
        for variable in sorted(statement.free, key=lambda v: (v.name, v.sort.value)):
            self.scope[variable] = self._place(variable)
        self.depths: dict[t.Model, int] = {}
        for part in statement.walk():
            if isinstance(part, t.Entry):
                layer = part.layer.value if isinstance(part.layer, t.Number) else None
                if layer is None or layer.denominator != 1 or layer < 1:
                    raise NotApplicable(f"the layer of {text(part)} is not a number")
                self.depths[part.model] = max(self.depths.get(part.model, 1), int(layer))
        self._models: dict[tuple[t.Model, tuple[tuple[t.Variable, int], ...]], Model] = {}

    def _place(self, variable: t.Variable) -> int:
        self.names.append(variable.name)
        return len(self.names) - 1

    # --- terms ------------------------------------------------------------------------------------

    def value(self, term: t.Term, scope: Scope) -> Value:
        """The value of a term, whatever its conditions.

        Raises:
            NotApplicable: a part can't be evaluated.
        """
        build = _VALUES.get(type(term))
        if build is None:
            raise NotApplicable(f"numbers don't apply to {type(term).__name__}: {text(term)}")
        return build(self, term, scope)

    def number(self, term: t.Number, scope: Scope) -> Value:
        """A constant."""
        value = fraction(term.value)
        return lambda scene: value

    def variable(self, term: t.Variable, scope: Scope) -> Value:
        """A variable."""
        place = scope[term]
        return lambda scene: scene.values[place]

    def constant(self, term: t.Constant, scope: Scope) -> Value:
        """Pi or Euler's constant."""
        name = term.name
        return lambda scene: scene.arithmetic.constant(name)

    def sum_of_parts(self, term: t.Add, scope: Scope) -> Value:
        """a + b + ..."""
        return self._joined(term.terms, scope, add)

    def product_of_parts(self, term: t.Mul, scope: Scope) -> Value:
        """a * b * ..."""
        return self._joined(term.factors, scope, mul)

    def _joined(self, parts: tuple[t.Term, ...], scope: Scope, join: Callable[[Any, Any], Any]) -> Value:
        first, *rest = (self.value(part, scope) for part in parts)

        def value(scene: Scene) -> Any:
            total = first(scene)
            for part in rest:
                total = join(total, part(scene))
            return total

        return value

    def power(self, term: t.Power, scope: Scope) -> Value:
        """An integer power."""
        base, exponent = self.value(term.base, scope), term.exponent
        return lambda scene: scene.arithmetic.power(base(scene), exponent)

    def root(self, term: t.Root, scope: Scope) -> Value:
        """A square root."""
        radicand = self.value(term.radicand, scope)
        return lambda scene: scene.arithmetic.root(radicand(scene))

    def exponential(self, term: t.Exp, scope: Scope) -> Value:
        """A power of e."""
        exponent = self.value(term.exponent, scope)
        return lambda scene: scene.arithmetic.exp(exponent(scene))

    def binder(self, term: t.Binder, scope: Scope) -> Value:
        """A sum or product over a range."""
        join = add if isinstance(term, t.Sum) else mul
        start = fmpq(0 if isinstance(term, t.Sum) else 1)
        (place, _, low, high), inner = self._loop(Range(term.index, term.low, term.high), scope)
        body = self.value(term.body, inner)

        def value(scene: Scene) -> Any:
            ends = _ends(low(scene), high(scene))
            if ends is None or ends[1] < ends[0] - 1:
                return scene.arithmetic.none()
            total: Any = start
            for step in range(ends[0], ends[1] + 1):
                scene.values[place] = fmpq(step)
                total = join(total, body(scene))
            return total

        return value

    def _loop(self, reach: Range, scope: Scope) -> tuple[Loop, Scope]:
        if reach.high is None:
            raise NotApplicable("numbers don't apply to Limit")
        low, high = self.value(reach.low, scope), self.value(reach.high, scope)
        place = self._place(reach.index)
        return (place, reach.index.name, low, high), {**scope, reach.index: place}

    def derivative(self, term: t.Derivative, scope: Scope) -> Value:
        """A derivative, by the rules."""
        return self.value(derivative(term.body, term.variable), scope)

    def function(self, term: t.Apply, scope: Scope) -> Value:
        """A function by its name."""
        name = term.name
        if not functions.known(name):
            raise NotApplicable(f"numbers don't apply to {name}: {text(term)}")
        arguments = [self.value(argument, scope) for argument in term.arguments]
        return lambda scene: scene.arithmetic.apply(name, [argument(scene) for argument in arguments])

    def cases(self, term: t.Cases, scope: Scope) -> Value:
        """The first case that holds."""
        branches = [(self.statement(case.condition, scope), self.value(case.value, scope)) for case in term.cases]

        def value(scene: Scene) -> Any:
            for condition, branch in branches:
                truth = condition(scene)
                if truth is True:
                    return branch(scene)
                if truth is not False:
                    break
            return scene.arithmetic.none()

        return value

    def entry(self, term: t.Entry, scope: Scope) -> Value:
        """A quantity of a layer."""
        query, key = self.value(term.query, scope), self.value(term.key, scope)
        model, kind = self.model(term.model, scope), term.kind
        if kind not in ("score", "weight", "gram", "mix"):
            raise NotApplicable(f"numbers don't apply to {kind}: {text(term)}")
        layer = int(term.layer.value)  # type: ignore[attr-defined]  # checked in the constructor

        def value(scene: Scene) -> Any:
            row, column = integer(query(scene)), integer(key(scene))
            if row is None or column is None or row < 1 or column < 1:
                return scene.arithmetic.none()
            return scene.arithmetic.entry(scene, model, kind, layer, row, column)

        return value

    def input(self, term: t.Input, scope: Scope) -> Value:
        """An inner product of inputs."""
        query, key, alpha = (self.value(part, scope) for part in (term.query, term.key, term.law.alpha))
        if term.law.kind != "equicorrelated":
            raise NotApplicable("the Gram matrix of a random law is not a number")

        def value(scene: Scene) -> Any:
            row, column = integer(query(scene)), integer(key(scene))
            if row is None or column is None:
                return scene.arithmetic.none()
            return fmpq(1) if row == column else alpha(scene)

        return value

    def model(self, term: t.Model, scope: Scope) -> Model:
        """The parameters of a model."""
        here = tuple(sorted(((v, scope[v]) for v in term.free), key=lambda pair: pair[1]))
        if (term, here) not in self._models:

            def value(part: t.Term | None) -> Value | None:
                return None if part is None else self.value(part, scope)

            position = term.position
            later = None if position is None or position.later is None else position.later
            self._models[term, here] = Model(
                index=len(self._models),
                term=term,
                alpha=self.value(term.law.alpha, scope),
                beta=self.value(term.beta, scope),
                residual=self.value(term.residual, scope),
                scale=self.value(term.scale, scope),
                width=value(term.width),
                tokens=value(term.tokens),
                numbers=() if position is None else tuple(self.value(part, scope) for part in position.numbers),
                later=None if later is None else tuple(self.value(part, scope) for part in later),
                depth=self.depths.get(term, 1),
                integers=tuple(place for v, place in here if v.sort.integral),
            )
        return self._models[term, here]

    # --- statements -------------------------------------------------------------------------------

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
        (place, name, low, high), inner = self._loop(ranges[0], scope)
        body = self._over(ranges[1:], inner, build, free)
        ends_below = [end.free for reach in ranges[1:] for end in (reach.low, reach.high) if end is not None]
        still = ranges[0].index not in free.union(*ends_below)

        def check(scene: Scene) -> Truth:
            ends = _ends(low(scene), high(scene))
            if ends is None:
                return True  # that the range is one is a demand of its own
            open_ = False
            for step in range(ends[0], ends[1] + 1):
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


def _ends(low: Any, high: Any) -> tuple[int, int] | None:
    first, last = integer(low), integer(high)
    if first is None or last is None:
        return None
    if last - first >= MOST_TERMS:
        raise NotApplicable(f"a sum of more than {MOST_TERMS} terms")
    return first, last


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
_VALUES: dict[type, Callable[[Compiler, Any, Scope], Value]] = {
    t.Number: Compiler.number,
    t.Variable: Compiler.variable,
    t.Constant: Compiler.constant,
    t.Add: Compiler.sum_of_parts,
    t.Mul: Compiler.product_of_parts,
    t.Power: Compiler.power,
    t.Root: Compiler.root,
    t.Exp: Compiler.exponential,
    t.Sum: Compiler.binder,
    t.Product: Compiler.binder,
    t.Derivative: Compiler.derivative,
    t.Apply: Compiler.function,
    t.Cases: Compiler.cases,
    t.Entry: Compiler.entry,
    t.Input: Compiler.input,
}
