"""From terms to functions of a scene: their values, whatever their conditions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from operator import add, mul
from typing import Any

from flint import arb, fmpq

from maskproof.proofs.engines import functions
from maskproof.proofs.engines.corrections import coefficient
from maskproof.proofs.engines.numbers import fraction, integer
from maskproof.proofs.engines.scene import Check, Model, Open, Scene, Value
from maskproof.proofs.engines.truth import NotApplicable
from maskproof.proofs.terms import terms as t
from maskproof.proofs.terms.conditions import Range
from maskproof.proofs.terms.derivatives import derivative
from maskproof.proofs.terms.text import text

MOST_TERMS = 10_000  # of one sum or product
OPEN_DEPTH = 6  # layers that are looked at where a statement leaves the layer open

Scope = Mapping[t.Variable, int]
Loop = tuple[int, str, Value, Value]  # place and name of the index, its ends


class Values(ABC):
    """Compiles the terms of one statement.

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
                layer = int(part.layer.value) if isinstance(part.layer, t.Number) else OPEN_DEPTH
                self.depths[part.model] = max(self.depths.get(part.model, 1), layer)
        self._models: dict[tuple[t.Model, tuple[tuple[t.Variable, int], ...]], Model] = {}

    def _place(self, variable: t.Variable) -> int:
        self.names.append(variable.name)
        return len(self.names) - 1

    @abstractmethod
    def statement(self, s: t.Statement, scope: Scope) -> Check:
        """Truth of a statement."""

    def filled(self, point: Mapping[t.Variable, Any]) -> list[Any]:
        """The values of a scene at a point: those that the point gives, and none yet of all other variables."""
        values: list[Any] = [arb.nan()] * len(self.names)
        for variable, place in self.scope.items():
            if variable in point:
                values[place] = point[variable]
        return values

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
        if isinstance(term.radicand, t.Mul):
            factors = [self.value(factor, scope) for factor in term.radicand.factors]
            return lambda scene: scene.arithmetic.root_of_product([factor(scene) for factor in factors])
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
        (place, _, low, high), inner = self.loop(Range(term.index, term.low, term.high), scope)
        body = self.value(term.body, inner)

        def value(scene: Scene) -> Any:
            reach = ends(low(scene), high(scene))
            if reach is None or reach[1] < reach[0] - 1:
                return scene.arithmetic.none()
            total: Any = start
            for step in range(reach[0], reach[1] + 1):
                scene.values[place] = fmpq(step)
                total = join(total, body(scene))
            return total

        return value

    def loop(self, reach: Range, scope: Scope) -> tuple[Loop, Scope]:
        """A bound variable with the ends of its range, and what its place is to the terms that it is bound in."""
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
        layer = self.layer(term.layer, model, scope)

        def value(scene: Scene) -> Any:
            row, column, depth = integer(query(scene)), integer(key(scene)), layer(scene)
            if row is None or column is None or row < 1 or column < 1 or depth is None:
                return scene.arithmetic.none()
            return scene.arithmetic.entry(scene, model, kind, depth, row, column)

        return value

    def correction(self, term: t.Correction, scope: Scope) -> Value:
        """The 1/d term of an expectation: in balls only."""
        entry = term.entry
        query, key = self.value(entry.query, scope), self.value(entry.key, scope)
        model, kind = self.model(entry.model, scope), entry.kind
        layer = self.layer(entry.layer, model, scope)

        def value(scene: Scene) -> Any:
            if scene.companion is not None:
                raise Open("1/d terms are enclosed, not known exactly")
            row, column, depth = integer(query(scene)), integer(key(scene)), layer(scene)
            if row is None or column is None or row < 1 or column < 1 or depth is None:
                return scene.arithmetic.none()
            return coefficient(scene, model, kind, depth, row, column)

        return value

    def layer(self, term: t.Term, model: Model, scope: Scope) -> Callable[[Scene], int | None]:
        """A layer, None where it is none; NotApplicable is raised beyond those that are looked at."""
        layer = self.value(term, scope)

        def at(scene: Scene) -> int | None:
            depth = integer(layer(scene))
            if depth is None or depth < 1:
                return None
            if depth > model.depth:
                raise NotApplicable(f"layer {depth} is deeper than is looked at")
            return depth

        return at

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


def ends(low: Any, high: Any) -> tuple[int, int] | None:
    """The ends of a range if they are integers.

    Raises:
        NotApplicable: the range is too long.
    """
    first, last = integer(low), integer(high)
    if first is None or last is None:
        return None
    if last - first >= MOST_TERMS:
        raise NotApplicable(f"a sum of more than {MOST_TERMS} terms")
    return first, last


_VALUES: dict[type, Callable[[Values, Any, Scope], Value]] = {
    t.Number: Values.number,
    t.Variable: Values.variable,
    t.Constant: Values.constant,
    t.Add: Values.sum_of_parts,
    t.Mul: Values.product_of_parts,
    t.Power: Values.power,
    t.Root: Values.root,
    t.Exp: Values.exponential,
    t.Sum: Values.binder,
    t.Product: Values.binder,
    t.Derivative: Values.derivative,
    t.Apply: Values.function,
    t.Cases: Values.cases,
    t.Entry: Values.entry,
    t.Correction: Values.correction,
    t.Input: Values.input,
}
