"""Score, weight and Gram matrix of a layer, as real-valued SymPy expressions.

``Score(2, i, j)`` is S^(2)_ij, a number that depends on the decoder and on the law of its inputs.
Inside a claim both are the claim's own. A quantity can also carry its own, so that one statement
can compare two models and so that substituting for ``beta`` reaches the decoder as well.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

import sympy
from sympy import Basic, Expr
from sympy.core.symbol import Str
from sympy.printing.precedence import PRECEDENCE

from maskproof.theory.decoder import Decoder
from maskproof.theory.errors import InvalidInput
from maskproof.theory.inputs import LAWS, Inputs
from maskproof.theory.masks import MASKS
from maskproof.theory.position import POSITIONS
from maskproof.theory.symbols import d

_RECORDS = {
    record.__name__: record
    for record in (
        Decoder,
        *MASKS.values(),
        *POSITIONS.values(),
        *LAWS.values(),
    )
}
_NOTHING = Str("")  # stands for None, and for "the claim's own"


class Record(Basic):
    """A frozen dataclass of this package as a SymPy tree: name, then fields."""

    @staticmethod
    def of(value: Any) -> Basic:
        """Encode a decoder, a mask, an input law, or a field of one of them."""
        if value is None:
            return _NOTHING
        if is_dataclass(value) and not isinstance(value, type):
            if _RECORDS.get(type(value).__name__) is not type(value):
                what = f"{type(value).__module__}.{type(value).__name__}"
                raise InvalidInput(what, "'a model is made of the classes of theory'", "use no subclass")
            parts = (Record.of(getattr(value, f.name)) for f in fields(value))
            return Record(Str(type(value).__name__), *parts)
        if isinstance(value, str):
            return Str(value)
        return sympy.sympify(value)

    @staticmethod
    def read(tree: Basic) -> Any:
        """Decode what ``of`` encoded; the constructors check their values again."""
        if tree == _NOTHING:
            return None
        if isinstance(tree, Record):
            return _RECORDS[tree.args[0].name](*(Record.read(part) for part in tree.args[1:]))
        if isinstance(tree, Str):
            return tree.name
        if tree in (sympy.true, sympy.false):
            return bool(tree)
        return tree


def _position(value: object, role: str) -> Expr:
    position = sympy.sympify(value)
    if not isinstance(position, Expr) or position.is_integer is False:
        raise InvalidInput(f"{role} = {value}", f"'the {role} is an integer'", "positions are 1, 2, ...")
    if position.is_number and position < 1:
        raise InvalidInput(f"{role} = {value}", f"{role} >= 1", "positions count from 1")
    return position


class Quantity(Expr):
    """A number Q^(layer)_ij; ``letter`` is how it prints."""

    letter = "Q"
    precedence = PRECEDENCE["Mul"]  # a power of it needs brackets: it has a superscript already
    is_commutative = True
    is_extended_real = True
    is_real = True
    is_finite = True

    def __new__(
        cls,
        layer: object,
        i: object,
        j: object,
        _decoder: Basic = _NOTHING,
        _inputs: Basic = _NOTHING,
        *,
        decoder: Decoder | None = None,
        inputs: Inputs | None = None,
    ) -> Quantity:
        depth = sympy.sympify(layer)
        if not isinstance(depth, Expr) or depth.is_integer is not True or (depth.is_number and depth < 1):
            raise InvalidInput(f"layer = {layer}", "'the layer is 1, 2, ...'", "count layers from 1")
        if decoder is not None:
            _decoder = Record.of(decoder)
        if inputs is not None:
            _inputs = Record.of(inputs)
        return super().__new__(cls, depth, _position(i, "query"), _position(j, "key"), _decoder, _inputs)

    @property
    def layer(self) -> int | Expr:
        """The layer, from 1; an expression where it is not a number."""
        return int(self.args[0]) if self.args[0].is_Integer else self.args[0]

    @property
    def query(self) -> Expr:
        """The first index, i."""
        return self.args[1]

    @property
    def key(self) -> Expr:
        """The second index, j."""
        return self.args[2]

    @property
    def decoder(self) -> Decoder | None:
        """The decoder that this quantity carries, or None for the claim's own."""
        return Record.read(self.args[3])

    @property
    def inputs(self) -> Inputs | None:
        """The input law that this quantity carries, or None for the claim's own."""
        return Record.read(self.args[4])

    def bind(self, decoder: Decoder, inputs: Inputs) -> Quantity:
        """The same quantity, carrying these where it carries none of its own."""
        own_decoder, own_inputs = self.args[3:]
        return self.func(
            *self.args[:3],
            Record.of(decoder) if own_decoder == _NOTHING else own_decoder,
            Record.of(inputs) if own_inputs == _NOTHING else own_inputs,
        )

    def _indices(self, printer: Any, separator: str | None = None) -> str:
        query, key = printer._print(self.query), printer._print(self.key)
        if separator is None:
            separator = "" if self.query.is_Symbol and self.key.is_Symbol else ","
        return f"{query}{separator}{key}"

    def _latex(self, printer: Any, exp: str | None = None) -> str:
        text = rf"{self.letter}^{{({printer._print(self.args[0])})}}_{{{self._indices(printer)}}}"
        return text if exp is None else rf"\left({text}\right)^{{{exp}}}"

    def _sympystr(self, printer: Any) -> str:
        layer = printer._print(self.args[0])
        return f"{self.letter}{layer if self.args[0].is_Atom else f'({layer})'}[{self._indices(printer, ',')}]"

    _sympyrepr = _sympystr


class Score(Quantity):
    """S^(l)_ij, the score of query i and key j in layer l, before the mask."""

    letter = "S"


class Weight(Quantity):
    """A^(l)_ij, the attention weight of key j for query i in layer l."""

    letter = "A"


class Gram(Quantity):
    """G^(l)_ij = <x_i, x_j> of the vectors after layer l."""

    letter = "G"


class Mix(Quantity):
    """M^(l)_ij, the coefficient of x_j^(l-1) in x_i^(l): residual and attention together."""

    letter = "M"


class Correction(Expr):
    """The coefficient c in E Q = limit + c/d + O(1/d^2), for the expectation of a quantity Q over random inputs.

    The width d is bound here, as the index of a sum is: the law's family and its alpha count, not the width that it
    was written with, and neither decoder nor positions may depend on d.

    Args:
        quantity: Score, Weight, Gram or Mix; its decoder and its input law are those of the claim unless it carries
            its own. The law is Sphere or SharedGaussian.

    Raises:
        InvalidInput: it is no such quantity, its inputs are not random, or something else depends on the width.

    >>> from maskproof.theory.inputs import Sphere
    >>> from maskproof.theory.symbols import i, j
    >>> Correction(Score(2, i, j, inputs=Sphere(64, 0))) == Correction(Score(2, i, j, inputs=Sphere(d, 0)))
    True
    >>> Correction(Score(2, i, j)), Correction(Score(2, i, j, inputs=Sphere(d, 0))).free_symbols == {i, j}
    ([1/d]E(S2[i,j]), True)
    """

    precedence = PRECEDENCE["Atom"]
    is_commutative = True
    is_extended_real = True
    is_real = True
    is_finite = True

    def __new__(cls, quantity: Any) -> Correction:
        if type(quantity) not in (Score, Weight, Gram, Mix):
            raise InvalidInput(f"Correction({quantity})", "'it is of a quantity'", "use Score, Weight, Gram or Mix")
        decoder, inputs = quantity.decoder, quantity.inputs
        words = f"Correction({quantity})"
        if inputs is not None:
            if not inputs.random:
                raise InvalidInput(
                    f"{words} with inputs {inputs}", "'the inputs are random'", "use Sphere or SharedGaussian"
                )
            quantity = quantity.func(*quantity.args[:4], Record.of(inputs.at_width(d)))  # the width is bound
        if decoder is not None and decoder.needs_width:
            raise InvalidInput(
                f"{words} with norm {decoder.norm!r} and scale {decoder.scale}",
                "'the decoder does not depend on the width d'",
                "use norm l2 or none, and a number for the scale",
            )
        law = set() if inputs is None else inputs.alpha.free_symbols
        if d in law.union(*(part.free_symbols for part in quantity.args[:4])):
            remedy = "compare the expectations at each width instead"
            raise InvalidInput(f"{words} with d in it", "'nothing but the law depends on the width d'", remedy)
        return super().__new__(cls, quantity)

    @property
    def quantity(self) -> Quantity:
        """Q."""
        return self.args[0]

    @property
    def free_symbols(self) -> set[Basic]:
        """The symbols that it depends on; d is not among them."""
        return super().free_symbols - {d}

    def _xreplace(self, rule: Any) -> tuple[Basic, bool]:
        return super()._xreplace({old: new for old, new in rule.items() if old != d})

    def _eval_subs(self, old: Basic, new: Basic) -> Basic | None:
        return self if old == d else None

    def _latex(self, printer: Any, exp: str | None = None) -> str:
        text = rf"[d^{{-1}}]\operatorname{{E}}[{printer._print(self.quantity)}]"
        return text if exp is None else rf"\left({text}\right)^{{{exp}}}"

    def _sympystr(self, printer: Any) -> str:
        return f"[1/d]E({printer._print(self.quantity)})"

    _sympyrepr = _sympystr


class InputGram(Expr):
    """K_ij = <x_i, x_j> of the input vectors under a given law."""

    is_commutative = True
    is_extended_real = True
    is_real = True
    is_finite = True

    def __new__(cls, i: object, j: object, inputs: Inputs | Record) -> InputGram:
        law = inputs if isinstance(inputs, Record) else Record.of(inputs)
        return super().__new__(cls, _position(i, "query"), _position(j, "key"), law)

    @property
    def inputs(self) -> Inputs:
        """The law of the inputs."""
        return Record.read(self.args[2])

    def _latex(self, printer: Any, exp: str | None = None) -> str:
        text = f"K_{{{printer._print(self.args[0])}{printer._print(self.args[1])}}}"
        return text if exp is None else f"{text}^{{{exp}}}"

    def _sympystr(self, printer: Any) -> str:
        return f"K[{printer._print(self.args[0])},{printer._print(self.args[1])}]"


def bind(expression: Basic, decoder: Decoder, inputs: Inputs) -> Any:
    """Give every quantity in ``expression`` that carries no model of its own this one."""
    return expression.xreplace({q: q.bind(decoder, inputs) for q in expression.atoms(Quantity)})


def quantities_of(expression: Basic) -> set[Quantity]:
    """The quantities whose values ``expression`` depends on; those inside a Correction are not among them."""
    hidden = {part: sympy.Dummy() for part in expression.atoms(Correction)}
    return expression.xreplace(hidden).atoms(Quantity)


def told_apart(expression: Basic) -> tuple[Any, list[tuple[Basic, Basic]]]:
    """``expression`` with its quantities numbered by model, and the models; as it is if there is only one."""
    quantities = sorted(expression.atoms(Quantity), key=lambda q: (str(q), *map(str, q.args[3:])))
    models = list(dict.fromkeys(q.args[3:] for q in quantities))
    if len(models) < 2:
        return expression, models
    names: dict[Basic, Basic] = {}
    for part in [*expression.atoms(Correction), *quantities]:
        model = part.quantity.args[3:] if isinstance(part, Correction) else part.args[3:]
        names[part] = sympy.Symbol(f"{part}(model {models.index(model) + 1})")
    return expression.xreplace(names), models
