"""Closed forms of quantities: the equation, and what else is needed for it to have a value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sympy import Eq, Expr, Gt, Integer, Le, Lt, Sum, Symbol, exp

from maskproof.proofs.search.finite import equation
from maskproof.proofs.search.first_token import first_token
from maskproof.proofs.search.letters import Letters
from maskproof.proofs.search.lines import Given, Labels, Lines, NoIdea
from maskproof.proofs.search.models import Model, model_of
from maskproof.theory.equivalence import first_layer, reduction
from maskproof.theory.layer_one import layer_one, p, r
from maskproof.theory.layer_two import closed_form, norms
from maskproof.theory.quantities import Gram, Mix, Quantity, Score, Weight
from maskproof.theory.symbols import i, j

# (kind of quantity) -> steps with its closed form in layer one, on and below the diagonal
_PLAIN = {
    Weight: ("A-self", "A-other"),
    Mix: ("M-self", "M-other"),
    Gram: ("h", "g"),
    Score: ("S-self", "S-other"),
}
# the same, for the step that leads to the twin
_TWIN = {Weight: ("A-self", "A-one"), Mix: ("M-self", "M-earlier"), Gram: ("G", "G"), Score: ("S-one", "S-one")}

INDEX_OF_SUM = p  # of sums in derivations; claims have no such symbol


class Open(Exception):
    """The positions of a quantity have to be told apart first: which of them comes first is not known."""

    def __init__(self, quantity: Quantity) -> None:
        super().__init__(f"whether {quantity.key} < {quantity.query} is not known")
        self.quantity = quantity


@dataclass(frozen=True)
class Form:
    """A quantity equals ``value``, by the lines ``premises``; they also give the parts of it a value."""

    value: Expr
    premises: Labels


def power(weight: Weight, key: Expr) -> Expr:
    """What the softmax of a weight makes of the score of a key of its query."""
    beta = model_of(weight).decoder.beta
    return exp(beta * Score(weight.layer, weight.query, key, *weight.args[3:]))


class Forms:
    """The closed forms of quantities, as lines."""

    def __init__(self, lines: Lines, letters: Letters) -> None:
        self.lines, self.letters = lines, letters

    # --- positions ------------------------------------------------------------------------------------

    def is_before(self, a: Expr, b: Expr, given: Given) -> bool:
        """Whether position a < b is known."""
        return (b - a).is_positive is True or self.lines.follows(Lt(a, b), given)

    def place(self, quantity: Quantity, given: Given) -> int:
        """0 on the diagonal, 1 for an earlier key, -1 for a later one.

        Raises:
            Open: it is not known.
        """
        query, key = quantity.query, quantity.key
        if query == key or (query - key).expand() == 0:
            return 0
        if self.is_before(key, query, given):
            return 1
        if self.is_before(query, key, given):
            return -1
        raise Open(quantity)

    # --- equations ------------------------------------------------------------------------------------

    def of(self, quantity: Quantity, given: Given) -> Form:
        """The closed form of ``quantity`` under the hypotheses and ``given``.

        Raises:
            NoIdea: none is known.
            Open: it depends on the order of the positions, which is not known.
        """
        model = model_of(quantity)
        uniform = self._uniform(quantity, model, given)
        if uniform is not None:
            return uniform
        first = first_token(self, quantity, given)
        if first is not None:
            return Form(*first)
        place = self.place(quantity, given)
        if place < 0:
            return self._mirrored(quantity, given)
        if isinstance(quantity, Score) and quantity.layer != 1 and place == 0 and model.decoder.normalised:
            return self.own_score(quantity, model, given)
        if quantity.layer == 1:
            return self._first(quantity, model, place, given)
        if isinstance(quantity, Score) and quantity.layer == 2:
            return self._second(quantity, model, place, given)
        raise NoIdea(f"no closed form is known for {quantity}: only those of layer one and of scores of layer two")

    def _mirrored(self, quantity: Quantity, given: Given) -> Form:
        if not isinstance(quantity, Gram):
            raise NoIdea(f"{quantity} has no value: the key {quantity.key} comes after the query {quantity.query}")
        other = self.mirror(quantity)
        form = self.of(other, given)
        return Form(form.value, (self.lines.add(Eq(quantity, other), "symmetric", (), given), *form.premises))

    @staticmethod
    def mirror(quantity: Quantity) -> Quantity:
        """The quantity with query and key exchanged."""
        return quantity.func(quantity.layer, quantity.key, quantity.query, *quantity.args[3:])

    def plain(self, model: Model, positions: Mapping[Symbol, Expr]) -> dict[Symbol, Expr]:
        """What to put into the general results, for the twin."""
        return {**model.plain, r: self.letters.of(model), **positions}

    @staticmethod
    def own(model: Model, positions: Mapping[Symbol, Expr]) -> dict[Symbol, Expr]:
        """What to put into the results about the family."""
        return {**model.own, **positions}

    def _first(self, quantity: Quantity, model: Model, place: int, given: Given) -> Form:
        positions = {i: quantity.query, j: quantity.key}
        kind = type(quantity)
        cited, lines = [], self.lines
        factor: Expr = Integer(1)
        if model.family:
            lemma = first_layer(model.family)
            label = lines.cite(lemma, _TWIN[kind][place], self.own(model, positions), given)
            factor = self.factor(quantity, model)
            cited.append(label)
        label = lines.cite(layer_one(model.norm), _PLAIN[kind][place], self.plain(model, positions), given)
        return Form(factor * lines.statement(label).rhs, (*cited, label))

    @staticmethod
    def factor(quantity: Quantity, model: Model) -> Expr:
        """The quantity divided by that of the twin, in layer one, and for scores of layer two."""
        powers = {Weight: Integer(1), Mix: model.length, Gram: model.length**2, Score: model.gain}
        return powers[type(quantity)]

    def reduced(self, quantity: Quantity, given: Given) -> Form | None:
        """The quantity in terms of that of its twin; None if it is its own, or not below the diagonal."""
        model = model_of(quantity)
        kind, known = type(quantity), quantity.layer == 1 or (isinstance(quantity, Score) and quantity.layer == 2)
        if not model.family or not known:
            return None
        place = self.place(quantity, given)
        if place < 0 or (place == 0 and quantity.layer == 2):
            return None
        first = quantity.layer == 1
        lemma, step = (first_layer(model.family), _TWIN[kind][place]) if first else (reduction(model.family), "S")
        values = self.own(model, {i: quantity.query, j: quantity.key})
        label = self.lines.cite(lemma, step, values, given)
        return Form(self.lines.statement(label).rhs, (label,))

    def _second(self, quantity: Quantity, model: Model, place: int, given: Given) -> Form:
        lines, positions = self.lines, {i: quantity.query, j: quantity.key}
        cited = []
        if model.norm == "none":
            return self._inner(quantity, model, given)
        factor: Expr = Integer(1)
        if model.family:
            cited.append(lines.cite(reduction(model.family), "S", self.own(model, positions), given))
            factor = model.gain
        label = lines.cite(closed_form(), "S", self.plain(model, positions), given)
        known = self.norm_positive(model, quantity.query, None, given)
        known_key = self.norm_positive(model, quantity.key, quantity.query, given)
        return Form(factor * lines.statement(label).rhs, (*cited, label, known, known_key))

    def _inner(self, quantity: Quantity, model: Model, given: Given) -> Form:
        """Without normalisation a score is an inner product, divided by the scale."""
        inner = Gram(quantity.layer - 1, quantity.query, quantity.key, *quantity.args[3:])
        form = self.of(inner, given)
        label = self.lines.add(Eq(quantity, model.gain * inner), "score", (), given)
        return Form(model.gain * form.value, (label, *form.premises))

    def norm_positive(self, model: Model, position: Expr, later: Expr | None, given: Given) -> str:
        """A line that says h^2 > 0 at a position; ``later`` is one at which the inputs are known to be independent."""
        lines, a = self.lines, model.alpha
        if later is not None and not lines.follows(Gt(1 + (position - 1) * a, 0), given):
            values = self.plain(model, {i: later, j: position})
            return lines.cite(norms(), "h-positive-j", values, given)
        needed = () if lines.follows(Gt(1 + (position - 1) * a, 0)) else given
        return lines.cite(norms(), "h-positive", self.plain(model, {i: position}), needed)

    # --- any layer --------------------------------------------------------------------------------------

    def own_score(self, quantity: Quantity, model: Model, given: Given) -> Form:
        """A vector has cosine 1 with itself, in any layer."""
        length = self.length_positive(quantity, quantity.query, given)
        label = self.lines.add(Eq(quantity, model.gain, evaluate=False), "score", (length,), given)
        return Form(model.gain, (label,))

    def length_positive(self, quantity: Quantity, position: Expr, given: Given) -> str:
        """G_aa > 0 of the vectors that enter the layer of ``quantity``, a the position."""
        gram = Gram(quantity.layer - 1, position, position, *quantity.args[3:])
        return self.lines.add(Gt(gram, 0), "norm", (), given)

    def softmax(self, weight: Weight, given: Given, index: Symbol = INDEX_OF_SUM) -> tuple[str, Sum]:
        """A line that says what a weight is, an exponential over a sum of such; and that sum."""
        total = Sum(power(weight, index), (index, 1, weight.query))
        quotient = power(weight, weight.key) / total
        return self.lines.add(equation(weight, quotient), "softmax", (), given), total

    def weight_positive(self, weight: Weight, given: Given) -> str:
        """A weight is positive."""
        label, _ = self.softmax(weight, given)
        return self.lines.add(Gt(weight, 0), "sign", (label,), given)

    def _uniform(self, quantity: Quantity, model: Model, given: Given) -> Form | None:
        """Weights at beta = 0: all visible keys get the same, in any layer."""
        query, key = quantity.query, quantity.key
        if not isinstance(quantity, Weight) or quantity.layer == 1 or model.decoder.beta != 0:
            return None
        if not (query == key or self.lines.follows(Le(key, query), given)):
            return None
        count = Sum(Integer(1), (INDEX_OF_SUM, 1, query))
        labels = (
            self.lines.add(Eq(quantity, 1 / count), "softmax", (), given),
            self.lines.add(Eq(count, query, evaluate=False), "constant_sum", (), given),
        )
        return Form(1 / query, (self.lines.add(Eq(quantity, 1 / query), "identity", labels, given),))
