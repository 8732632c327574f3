"""From SymPy, the language in which claims are written, to terms.

Dispatch is on the exact type: what is not known here is refused by name. SymPy's own evaluation has happened by then,
under the assumptions of its symbols; a summation index has to keep to them, which its range must show.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from typing import Any

import sympy
from sympy import Basic

from maskproof.proofs.terms import terms as t
from maskproof.proofs.terms.derivatives import NotSmooth, derivative
from maskproof.proofs.terms.terms import Sort, Statement, Term
from maskproof.theory import decoder as models
from maskproof.theory import symbols
from maskproof.theory.errors import InvalidInput
from maskproof.theory.inputs import LAWS, Inputs
from maskproof.theory.masks import MASKS
from maskproof.theory.position import POSITIONS
from maskproof.theory.quantities import Correction, Gram, InputGram, Mix, Record, Score, Weight
from maskproof.theory.rope import Kappa
from maskproof.theory.values import as_fraction, decimal

_SORTS = (
    (Sort.POSITION, {"integer": True, "positive": True}),
    (Sort.NATURAL, {"integer": True, "nonnegative": True}),
    (Sort.INTEGER, {"integer": True}),
    (Sort.POSITIVE, {"positive": True}),
    (Sort.NONNEGATIVE, {"nonnegative": True}),
    (Sort.REAL, {"real": True}),
)
_SORT_OF = {tuple(sorted(sympy.Symbol("x", **a).assumptions0.items())): sort for sort, a in _SORTS}
_SYMBOLS = (sympy.Symbol, type(symbols.lam))
_KINDS = {Score: "score", Weight: "weight", Gram: "gram", Mix: "mix"}
_FUNCTIONS = {
    sympy.log: "log", sympy.sin: "sin", sympy.cos: "cos", sympy.sinh: "sinh", sympy.cosh: "cosh",
    sympy.tanh: "tanh", sympy.atan: "atan", sympy.erf: "erf", sympy.Ci: "ci", sympy.gamma: "gamma",
    sympy.Abs: "abs", sympy.sign: "sign", sympy.Max: "max", sympy.Min: "min", sympy.KroneckerDelta: "delta",
    sympy.factorial: "factorial", sympy.binomial: "binomial",
}  # fmt: skip
_RELATIONS = {sympy.Lt: ("<", 1), sympy.Le: ("<=", 1), sympy.Gt: ("<", -1), sympy.Ge: ("<=", -1)}
_RELATIONS |= {sympy.Eq: ("=", 1), sympy.Ne: ("!=", 1)}


class Unreadable(InvalidInput):
    """A part of a statement that maskproof has no meaning for."""


def _refuse(part: object, violates: str, remedy: str) -> Unreadable:
    return Unreadable(f"{part}", violates, remedy)


def _known(name: object, names: Sequence[str]) -> str:
    """One of some names; an object that only says that it equals one is none."""
    if type(name) is not str or name not in names:
        raise _refuse(repr(name), "'it is a known name'", f"use one of {', '.join(names)}")
    return name


def read_statement(statement: object, decoder: Any = None, inputs: Any = None) -> Statement:
    """A SymPy statement as one of terms; quantities without a model of their own get this one.

    Raises:
        Unreadable: a part is not in the language.
    """
    return _Reader(decoder, inputs).statement(_formula(statement))


def read_term(expression: object, decoder: Any = None, inputs: Any = None) -> Term:
    """A SymPy expression as a term; see ``read_statement``."""
    return _Reader(decoder, inputs).term(_formula(expression))


def _formula(given: object) -> Any:
    """What is given as SymPy writes it; text is no formula."""
    try:
        return sympy.sympify(given, strict=True)
    except sympy.SympifyError:
        raise _refuse(f"a part of type {type(given).__name__}", "'it is a formula'", "write it with SymPy") from None


def read_variable(symbol: Any) -> t.Variable:
    """A SymPy symbol as a variable.

    Raises:
        Unreadable: it is another kind of symbol, or has other assumptions than those of theory/symbols.py.
    """
    if type(symbol) not in _SYMBOLS:
        raise _refuse(f"{type(symbol).__name__} {symbol}", "'it is a symbol'", "use the symbols of theory")
    sort = _SORT_OF.get(tuple(sorted(symbol.assumptions0.items())))
    if sort is None:
        remedy = "make it real, nonnegative, positive, integer, or a positive integer"
        raise _refuse(f"symbol {symbol}", "'its assumptions are known'", remedy)
    return t.Variable(symbol.name, sort)


def read_model(decoder: models.Decoder, inputs: Inputs) -> t.Model:
    """A decoder and the law of its inputs."""
    return _Reader(None, None).model(decoder, inputs)


class _Reader:
    def __init__(self, decoder: Any, inputs: Any) -> None:
        self.decoder, self.inputs = decoder, inputs
        self.bound: tuple[t.Variable, ...] = ()

    # --- statements -------------------------------------------------------------------------------

    def statement(self, s: Basic) -> Statement:
        kind = type(s)
        if kind in _RELATIONS:
            name, direction = _RELATIONS[kind]
            left, right = (self.term(side) for side in s.args[::direction])
            return t.Relation(name, left, right)
        if s is sympy.true or s is sympy.false:
            return t.TRUE if s is sympy.true else t.FALSE
        build = _CONNECTIVES.get(kind)
        if build is None:
            raise _refuse(f"{kind.__name__} {s}", "'it is a statement'", "write Eq, Lt, Le, ..., And, Or, Not, Implies")
        return build([self.statement(part) for part in s.args])

    # --- terms ------------------------------------------------------------------------------------

    def term(self, e: Basic) -> Term:
        read = _READERS.get(type(e))
        if read is not None:
            return read(self, e)
        if type(e) in _FUNCTIONS:
            return t.Apply(_FUNCTIONS[type(e)], tuple(self.term(part) for part in e.args))
        raise _refuse(f"{type(e).__name__} {e}", "'it is in the language'", "see the README for what a formula may use")

    def rational(self, e: Any) -> Term:
        return t.Number(as_fraction(e))

    def decimal(self, e: Any) -> Term:
        return t.Number(decimal(e))

    def variable(self, e: Any) -> Term:
        return read_variable(e)

    def add(self, e: Any) -> Term:
        return t.Add(tuple(self.term(part) for part in e.args))

    def mul(self, e: Any) -> Term:
        return t.Mul(tuple(self.term(part) for part in e.args))

    def power(self, e: Any) -> Term:
        base, exponent = self.term(e.args[0]), self.term(e.args[1])
        if isinstance(exponent, t.Number) and exponent.value.denominator == 1:
            return t.Power(base, int(exponent.value))
        if isinstance(exponent, t.Number) and exponent.value.denominator == 2:
            root, power = t.Root(base), exponent.value.numerator
            return root if power == 1 else t.Power(root, power)
        return t.Apply("power", (base, exponent))

    def exp(self, e: Any) -> Term:
        return t.Exp(self.term(e.args[0]))

    def hypergeometric(self, e: Any) -> Term:
        upper, lower, z = e.args
        if len(upper) != 2 or len(lower) != 1:
            raise _refuse(e, "'it is 2F1'", "other hypergeometric functions are not in the language")
        return t.Apply("hyp2f1", tuple(self.term(part) for part in (*upper, *lower, z)))

    def kappa(self, e: Kappa) -> Term:
        rope = self.position(Record.read(e.args[1]))
        assert rope is not None
        return t.Apply("kappa", (self.term(e.args[0]), *rope.numbers, t.number(rope.size or 0)))

    def piecewise(self, e: Any) -> Term:
        return t.Cases(tuple(t.Case(self.statement(condition), self.term(value)) for value, condition in e.args))

    def binder(self, e: Any) -> Term:
        kind = {sympy.Sum: t.Sum, sympy.Product: t.Product}[type(e)]
        for place, limit in enumerate(e.limits):
            if len(limit) != 3 or any(end.has(sympy.oo, -sympy.oo) for end in limit[1:]):
                raise _refuse(e, "'the range has two ends'", "sum from one position to another")
            inner = [index for index, *_ in e.limits[: place + 1]]  # an outer index may occur in an inner range
            if any(end.has(*inner) for end in limit[1:]):
                raise _refuse(e, "'no index occurs in its own range'", "use another symbol")
        limits = [(self.index(index), self.term(low), self.term(high)) for index, low, high in e.limits]
        for index, low, _ in limits:
            least = index.sort.least
            if least is not None and isinstance(low, t.Number) and low.value < least:
                what = f"{e}, whose index {index.name} is declared to be at least {least}"
                remedy = f'use another index: Symbol("{index.name}", integer=True)'
                raise _refuse(what, f"{index.name} >= {least} in its range", remedy)
        body = self.within([index for index, _, _ in limits], lambda: self.term(e.function))
        for index, low, high in limits:  # SymPy lists the innermost index first
            body = kind(body, index, low, high)
        return body

    def index(self, symbol: Any) -> t.Variable:
        variable = read_variable(symbol)
        if not variable.sort.integral:
            raise _refuse(f"index {symbol}", "'an index is an integer'", 'use Symbol("k", integer=True)')
        return variable

    def within(self, variables: Sequence[t.Variable], read: Callable[[], Term]) -> Term:
        outer, self.bound = self.bound, (*self.bound, *variables)
        try:
            return read()
        finally:
            self.bound = outer

    def derivative(self, e: Any) -> Term:
        body = self.term(e.args[0])
        for symbol, order in e.args[1:]:
            variable = read_variable(symbol)
            if order != 1:
                raise _refuse(e, "'it is a first derivative'", "write a derivative of a derivative")
            try:
                derivative(body, variable)
            except NotSmooth as reason:
                raise _refuse(f"{e}: {reason}", "'what is differentiated is smooth'", "write it out") from None
            body = t.Derivative(body, variable)
        return body

    def limit(self, e: Any) -> Term:
        _, symbol, point, _ = e.args
        if point is not sympy.oo:
            raise _refuse(e, "'the limit is at infinity'", "other limits are not in the language")
        variable = read_variable(symbol)
        return t.Limit(self.within([variable], lambda: self.term(e.args[0])), variable)

    # --- quantities -------------------------------------------------------------------------------

    def entry(self, e: Any) -> Term:
        own_decoder, own_inputs = e.decoder, e.inputs
        model = self.model(own_decoder or self.decoder, own_inputs or self.inputs)
        captured = model.free & set(self.bound)
        if captured and (own_decoder is None or own_inputs is None):
            names = ", ".join(sorted(variable.name for variable in captured))
            what = f"{e} under a sum over {names}, which the claim's model mentions"
            remedy = "rename the index, or give the quantity its own model"
            raise _refuse(what, "'an index has no other meaning'", remedy)
        layer, query, key = (self.term(part) for part in e.args[:3])
        return t.Entry(_KINDS[type(e)], layer, query, key, model)

    def correction(self, e: Correction) -> Term:
        entry = self.term(e.args[0])
        assert isinstance(entry, t.Entry)
        model, law = entry.model, entry.model.law
        if law.width is None or model.width is not None:
            remedy = "use Sphere or SharedGaussian, and a decoder that does not depend on the width"
            raise _refuse(e, "'it is of an expectation, in which the law alone depends on the width'", remedy)
        return t.Correction(replace(entry, model=replace(model, law=replace(law, width=None))))

    def input(self, e: InputGram) -> Term:
        return t.Input(self.term(e.args[0]), self.term(e.args[1]), self.law(e.inputs))

    def model(self, decoder: Any, inputs: Any) -> t.Model:
        if type(decoder) is not models.Decoder:
            raise _refuse(f"decoder {decoder!r}", "'it is a Decoder'", "use Decoder(...)")
        law, d, n = self.law(inputs), self.term(symbols.d), self.term(symbols.n)
        mask = decoder.mask
        self.known(mask, MASKS, "the mask")
        width = d if law.width is None else law.width
        norm = _known(decoder.norm, tuple(models.NORMS))
        return t.Model(
            norm=norm,
            scale={"sqrt(d)": t.Root(width), "d": width}[_known(decoder.scale, models.SCALES)]
            if isinstance(decoder.scale, str)
            else self.term(decoder.scale),
            beta=self.term(decoder.beta),
            residual=self.term(decoder.residual),
            mask=read_mask(mask),
            position=self.position(decoder.position),
            law=law,
            width=width if decoder.needs_width else None,
            tokens=n if mask.counted else None,
        )

    def law(self, law: Any) -> t.Law:
        self.known(law, LAWS, "the law of the inputs")
        if not law.random:
            return t.Law(law.name, self.term(law.alpha))
        return t.Law(law.name, self.term(law.alpha), self.term(law.d), bool(getattr(law, "unit", True)))

    def position(self, position: Any) -> t.Position | None:
        if position is None:
            return None
        self.known(position, POSITIONS, "the position code")
        data = position.data
        numbers, later = (
            None if values is None else tuple(self.term(value) for value in values)
            for values in (data.numbers, data.later)
        )
        return t.Position(position.name, numbers or (), later, None if data.size is None else int(data.size))

    def known(self, part: Any, kinds: Mapping[str, type], what: str) -> None:
        """Refuse what is of none of the known kinds; a subclass may be anything."""
        if type(part) not in kinds.values():
            remedy = f"use {', '.join(sorted(kind.__name__ for kind in kinds.values()))} themselves, no subclass"
            raise _refuse(f"{type(part).__module__}.{type(part).__name__}", f"'{what} is known'", remedy)


class _ConditionReader(_Reader):
    """Reads the conditions of masks, which may say more than claims: divisibility, and rounding down."""

    def statement(self, s: Basic) -> Statement:
        if isinstance(s, sympy.Eq) and isinstance(s.lhs, sympy.Mod) and s.rhs == 0:
            dividend, divisor = (self.term(part) for part in s.lhs.args)
            return t.Integral(t.over(dividend, divisor))
        return super().statement(s)

    def term(self, e: Basic) -> Term:
        return t.Apply("floor", (self.term(e.args[0]),)) if isinstance(e, sympy.floor) else super().term(e)


@lru_cache(maxsize=256)
def read_mask(mask: models.Mask) -> t.Mask:
    """A mask as data: its name, its parameters, and what it shows."""
    condition = _ConditionReader(None, None).statement(mask.condition)
    names = {read_variable(symbols.i): t.QUERY, read_variable(symbols.j): t.KEY}
    return t.Mask(mask.name, mask.numbers, t.Sight(t.substitute(condition, names)), mask.least)


def _equivalent(parts: list[Statement]) -> Statement:
    forth = [t.Implies(a, b) for a, b in pairwise(parts)]
    return t.And((*forth, t.Implies(parts[-1], parts[0])))


def _choice(parts: list[Statement]) -> Statement:
    condition, yes, no = parts
    decided = t.Or((condition, t.Not(condition)))  # without a value where the condition has none
    return t.And((decided, t.Implies(condition, yes), t.Implies(t.Not(condition), no)))


_CONNECTIVES: dict[type, Callable[[list[Statement]], Statement]] = {
    sympy.And: lambda parts: t.And(tuple(parts)),
    sympy.Or: lambda parts: t.Or(tuple(parts)),
    sympy.Not: lambda parts: t.Not(parts[0]),
    sympy.Implies: lambda parts: t.Implies(parts[0], parts[1]),
    sympy.Equivalent: _equivalent,
    sympy.ITE: _choice,
}
_CONSTANTS = {sympy.E: t.Exp(t.ONE), sympy.pi: t.Constant("pi"), sympy.EulerGamma: t.Constant("euler_gamma")}
_RATIONALS = {type(sympy.Rational(*pq)) for pq in ((0, 1), (1, 1), (-1, 1), (2, 1), (1, 2), (1, 3))}
_READERS: dict[type, Callable[[_Reader, Any], Term]] = {
    **dict.fromkeys(_RATIONALS, _Reader.rational),
    **{type(constant): (lambda _, e: _CONSTANTS[e]) for constant in _CONSTANTS},
    **dict.fromkeys(_SYMBOLS, _Reader.variable),
    **dict.fromkeys(_KINDS, _Reader.entry),
    **dict.fromkeys((sympy.Sum, sympy.Product), _Reader.binder),
    sympy.Float: _Reader.decimal,
    sympy.Add: _Reader.add,
    sympy.Mul: _Reader.mul,
    sympy.Pow: _Reader.power,
    sympy.exp: _Reader.exp,
    sympy.hyper: _Reader.hypergeometric,
    sympy.Piecewise: _Reader.piecewise,
    sympy.Derivative: _Reader.derivative,
    sympy.Limit: _Reader.limit,
    Correction: _Reader.correction,
    InputGram: _Reader.input,
    Kappa: _Reader.kappa,
}
