"""Truth of a statement at a point or over a box, in balls: True, False, or None for undecided.

The values of the quantities come from ``numerics.balls``, which shares no code with the closed forms
that claims are made of. Boolean connectives are three-valued (Kleene), so that an undecided part only
leaves the whole undecided where it matters. A ball that is not finite decides nothing.

An equation is certified true only between exact values: fractions, or balls of radius zero. Balls
that merely overlap leave it undecided, and how far apart the sides can be is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, reduce
from typing import Any

import flint
import sympy
from flint import arb, fmpq
from sympy import Basic, Symbol
from sympy.core.relational import Relational
from sympy.core.symbol import Str

from numerics import balls
from numerics.balls import Enclosure, enclose, negation, working_precision
from theory.decoder import Bidirectional, Decoder, Mask, Prefix, Rope
from theory.errors import InvalidInput
from theory.inputs import Equicorrelated
from theory.quantities import Gram, InputGram, Mix, Quantity, Record, Score, Weight, told_apart
from theory.rope import Kappa
from theory.symbols import d, n

Number = fmpq | arb
Truth = bool | None

PRECISIONS = (64, 192, 640)  # bits, tried in turn until the statement is decided
MAX_TERMS = 10_000  # of one sum or product
MAX_EXPONENT = 4_096  # of an exact power; higher ones are enclosed


class NotApplicable(Exception):
    """Balls can't evaluate this statement, or not for the reason given."""


class Undefined(Exception):
    """Part of the statement certainly has no real value here, so that the statement does not hold."""


# --- comparisons ---------------------------------------------------------------------------------


def less(a: Number, b: Number) -> Truth:
    """Whether a < b.

    >>> less(fmpq(1, 3), arb(1)), less(arb(1), arb(1)), less(arb(1, 0.5), arb(1))
    (True, False, None)
    """
    if isinstance(a, fmpq) and isinstance(b, fmpq):
        return bool(a < b)
    return balls.less(arb(a), arb(b))


def less_or_equal(a: Number, b: Number) -> Truth:
    """Whether a <= b."""
    return negation(less(b, a))


def equal(a: Number, b: Number) -> Truth:
    """Whether a = b: True only between exact values, False between disjoint balls."""
    if isinstance(a, fmpq) and isinstance(b, fmpq):
        return bool(a == b)
    return balls.equal(arb(a), arb(b))


def both(truths: Iterator[Truth]) -> Truth:
    """Three-valued conjunction."""
    undecided = False
    for truth in truths:
        if truth is False:
            return False
        undecided = undecided or truth is None
    return None if undecided else True


def either(truths: Iterator[Truth]) -> Truth:
    """Three-valued disjunction."""
    return negation(both(negation(truth) for truth in truths))


# --- a parameter point ---------------------------------------------------------------------------


def number(value: Any) -> Number:
    """An exact number as a fraction or a ball; a ball as it is.

    Raises:
        NotApplicable: the value is not a number.
    """
    if isinstance(value, (arb, fmpq)):
        return value
    if isinstance(value, int):
        return fmpq(value)
    expression = sympy.sympify(value)
    if isinstance(expression, sympy.Rational):
        return fmpq(int(expression.p), int(expression.q))
    if not expression.is_number:
        raise NotApplicable(f"{expression} is not a number")
    return compile_value(expression, Models(()))(Scene({}, Models(()), 0))


@dataclass(frozen=True)
class Models:
    """The distinct pairs of decoder and input law that a statement refers to."""

    pairs: tuple[tuple[Basic, Basic], ...]

    @property
    def symbols(self) -> frozenset[Symbol]:
        """Every symbol that a decoder or an input law depends on."""
        return frozenset(s for pair in self.pairs for s in _symbols(*pair))

    def integers(self, index: int) -> tuple[Symbol, ...]:
        """The integer symbols that the quantities of model ``index`` depend on."""
        return _integers(*self.pairs[index])


@lru_cache(maxsize=64)
def _integers(decoder: Basic, inputs: Basic) -> tuple[Symbol, ...]:
    found = {s for s in _symbols(decoder, inputs) if s.is_integer}
    if isinstance(Record.read(decoder.args[5]), Bidirectional | Prefix):
        found.add(n)  # with the other masks rows don't see later tokens, however many there are
    if Str("layernorm") in decoder.args or isinstance(decoder.args[4], Str):
        found.add(d)
    return tuple(sorted(found, key=str))


def _symbols(*trees: Basic) -> set[Symbol]:
    return {s for tree in trees for s in tree.free_symbols if isinstance(s, Symbol)}


@dataclass
class Scene:
    """Values of the symbols, and the enclosures computed with them so far.

    Attributes:
        values: every symbol's value; integers of a point are put in and taken out as it moves.
        models: what the statement refers to.
        depth: the deepest layer the statement mentions.
        horizon: the number of tokens to enclose at once under a causal mask.
        ties_equal: read an undecided comparison as one between equal values.
        gap: the largest distance that an undecided comparison leaves open.
    """

    values: dict[Symbol, Any]
    models: Models
    depth: int
    horizon: int = 1
    ties_equal: bool = False
    gap: arb | None = None
    _enclosures: dict[tuple[int | str, ...], Enclosure] = field(default_factory=dict)

    def ball(self, symbol: Symbol) -> Number:
        """The value of ``symbol`` as a number."""
        try:
            value = self.values[symbol]
        except KeyError:
            raise NotApplicable(f"the symbol {symbol} has no value here") from None
        return value if isinstance(value, (fmpq, arb)) else number(value)

    def open_gap(self, a: Number, b: Number) -> None:
        """Record that ``a`` and ``b`` could not be told apart."""
        distance = abs(arb(a) - arb(b)).abs_upper()
        if self.gap is None or not self.gap > distance:
            self.gap = distance

    def enclosure(self, index: int, position: int) -> Enclosure:
        """The quantities of model ``index``, for at least ``position`` tokens."""
        decoder_tree, inputs_tree = self.models.pairs[index]
        key = (index, *(str(self.values.get(s)) for s in self.models.integers(index)))
        known = self._enclosures.get(key)
        if known is None or known.n < position:
            known = self._enclose(decoder_tree, inputs_tree, position)
            self._enclosures[key] = known
        return known

    def _enclose(self, decoder_tree: Basic, inputs_tree: Basic, position: int) -> Enclosure:
        law = inputs_tree.args[0]
        if str(law) != Equicorrelated.__name__:
            raise NotApplicable("the quantities are expectations over a random law, not exact numbers")
        decoder, intervals = self._decoder(decoder_tree)
        alpha = self._parameter(inputs_tree.args[1])
        width = self._whole(d) if d in self.values else None
        if isinstance(decoder.mask, Prefix) and n in self.values and self._whole(n) < decoder.mask.length:
            raise NotApplicable(f"a prefix of {decoder.mask.length} is longer than n = {self._whole(n)}")
        enough = _tokens_seen(decoder.mask, position)
        if enough is not None:
            # Rows up to this position depend on no later token, so any larger n will do.
            counts: Sequence[int] = sorted({enough, max(enough, self.horizon)}, reverse=True)
        elif n in self.values:
            counts = (self._whole(n),)
            if position > counts[0]:
                raise NotApplicable(f"position {position} lies beyond the last token, n = {counts[0]}")
        else:
            raise NotApplicable("without a mask the quantities depend on n, which is not given")
        refusal: InvalidInput | None = None
        for count in counts:
            try:
                return enclose(decoder, alpha, count, self.depth, precision=flint.ctx.prec, dim=width, **intervals)
            except InvalidInput as error:
                refusal = error
        raise NotApplicable(str(refusal))

    def _decoder(self, tree: Basic) -> tuple[Decoder, dict[str, arb]]:
        """The decoder at the scene's values; parameters that are intervals come separately."""
        values = {
            s: _exact(self.values[s])
            for s in _symbols(tree)
            if s in self.values and not isinstance(self.values[s], arb)
        }
        exact = tree.xreplace(values)
        intervals: dict[str, arb] = {}
        parts = list(exact.args)
        for place, name in ((1, "beta"), (2, "residual")):
            if parts[place].free_symbols:
                intervals[name] = arb(self._parameter(parts[place]))
                parts[place] = sympy.Integer(1)  # overridden by the interval
        decoder = Record.read(exact.func(*parts))
        if exact.func(*parts).free_symbols:
            raise NotApplicable(f"the decoder {decoder} has parameters without a value")
        return decoder, intervals

    def _parameter(self, expression: Basic) -> Any:
        """An exact number where all symbols are exact, a ball otherwise."""
        values = {s: self.values.get(s) for s in expression.free_symbols if isinstance(s, Symbol)}
        if any(isinstance(value, arb) for value in values.values()):
            return arb(compile_value(expression, self.models)(self))
        missing = [s for s, value in values.items() if value is None]
        if missing:
            raise NotApplicable(f"the symbol {missing[0]} has no value here")
        return expression.xreplace({s: _exact(value) for s, value in values.items()}).doit()

    def _whole(self, symbol: Symbol) -> int:
        return whole(self.ball(symbol), str(symbol))


def _tokens_seen(mask: Mask, position: int) -> int | None:
    """How many tokens decide the rows up to ``position`` at every depth; None if all of the sequence do."""
    if isinstance(mask, Bidirectional):
        return None
    return max(position, mask.length) if isinstance(mask, Prefix) else position


def _exact(value: Any) -> Basic:
    if isinstance(value, fmpq):
        return sympy.Rational(int(value.p), int(value.q))
    return sympy.sympify(value)


def whole(value: Number, role: str) -> int:
    """An index as an int.

    Raises:
        NotApplicable: it is not an integer from 1 up.
    """
    if isinstance(value, fmpq) and value.q == 1 and value >= 1:
        return int(value.p)
    raise NotApplicable(f"{role} = {value} is not a position")


# --- compilation ---------------------------------------------------------------------------------

Value = Callable[[Scene], Number]
Condition = Callable[[Scene], Truth]

_FUNCTIONS: dict[type, Callable[[arb], arb]] = {
    sympy.exp: arb.exp,
    sympy.sin: arb.sin,
    sympy.cos: arb.cos,
    sympy.sinh: arb.sinh,
    sympy.cosh: arb.cosh,
    sympy.tanh: arb.tanh,
    sympy.atan: arb.atan,
    sympy.erf: arb.erf,
    sympy.Ci: arb.ci,
    sympy.gamma: arb.gamma,
}
_CONSTANTS: dict[Basic, Callable[[], arb]] = {
    sympy.E: arb.const_e,
    sympy.pi: arb.pi,
    sympy.EulerGamma: arb.const_euler,
}
_ENTRIES = {Score: "score", Weight: "weight", Gram: "gram", Mix: "mix"}


def compile_value(expression: Basic, models: Models) -> Value:
    """A function that evaluates ``expression`` in a scene.

    Raises:
        NotApplicable: the expression has a part that balls can't evaluate.
    """
    build = _compiler(expression)
    if build is None:
        raise NotApplicable(f"balls can't evaluate {type(expression).__name__}: {expression}")
    return build(expression, models)


def _compiler(expression: Basic) -> Callable[[Any, Models], Value] | None:
    if isinstance(expression, sympy.Rational):
        return _rational
    if isinstance(expression, Symbol):
        return _symbol
    if isinstance(expression, Quantity):
        return _quantity
    if expression in _CONSTANTS:
        return _constant
    for kind, build in _COMPILERS.items():
        if isinstance(expression, kind):
            return build
    return _function if type(expression) in _FUNCTIONS else None


def _rational(expression: sympy.Rational, models: Models) -> Value:
    value = fmpq(int(expression.p), int(expression.q))
    return lambda scene: value


def _symbol(expression: Symbol, models: Models) -> Value:
    return lambda scene: scene.ball(expression)


def _constant(expression: Basic, models: Models) -> Value:
    constant = _CONSTANTS[expression]
    return lambda scene: constant()


def _quantity(expression: Quantity, models: Models) -> Value:
    entry = next((name for kind, name in _ENTRIES.items() if isinstance(expression, kind)), None)
    if entry is None:
        raise NotApplicable(f"balls can't evaluate {type(expression).__name__}")
    pair = (expression.args[3], expression.args[4])
    if pair not in models.pairs:
        raise NotApplicable(f"{expression} has no decoder or no inputs")
    index, layer = models.pairs.index(pair), expression.layer
    query, key = (compile_value(part, models) for part in (expression.query, expression.key))

    def value(scene: Scene) -> Number:
        row, column = whole(query(scene), "query"), whole(key(scene), "key")
        enclosure = scene.enclosure(index, max(row, column))
        try:
            return getattr(enclosure, entry)(layer, row, column)
        except InvalidInput as error:
            raise NotApplicable(f"{expression} at ({row}, {column}): {error}") from None

    return value


def _input_gram(expression: InputGram, models: Models) -> Value:
    law = expression.inputs
    if not isinstance(law, Equicorrelated):
        raise NotApplicable("the Gram matrix of a random law is not a number")
    query, key = (compile_value(part, models) for part in expression.args[:2])
    correlation = compile_value(law.alpha, models)
    return lambda scene: fmpq(1) if whole(query(scene), "i") == whole(key(scene), "j") else correlation(scene)


def _kappa(expression: Kappa, models: Models) -> Value:
    position, distance = expression.position, compile_value(expression.distance, models)
    explicit = compile_value(expression.doit(), models)

    def value(scene: Scene) -> Number:
        steps = distance(scene)
        if isinstance(steps, fmpq) and steps.q == 1:
            return _kappa_at(position, abs(int(steps.p)), flint.ctx.prec)
        return explicit(scene)

    return value


@lru_cache(maxsize=4096)
def _kappa_at(position: Rope, distance: int, precision: int) -> arb:
    with working_precision(precision):
        return balls.rope_kernel(position, distance)


def _add(expression: sympy.Add, models: Models) -> Value:
    terms = [compile_value(part, models) for part in expression.args]
    return lambda scene: reduce(lambda a, b: a + b, (term(scene) for term in terms))


def _mul(expression: sympy.Mul, models: Models) -> Value:
    factors = [compile_value(part, models) for part in expression.args]
    return lambda scene: reduce(lambda a, b: a * b, (factor(scene) for factor in factors))


def _pow(expression: sympy.Pow, models: Models) -> Value:
    base, exponent = (compile_value(part, models) for part in expression.args)
    return lambda scene: power(base(scene), exponent(scene))


def power(base: Number, exponent: Number) -> Number:
    """base^exponent; exact for fractions with an integer exponent.

    >>> power(fmpq(2, 3), fmpq(-2)), power(arb(4), fmpq(1, 2))
    (9/4, 2.00000000000000)

    Raises:
        Undefined: it is certainly not a real number.
    """
    if isinstance(base, fmpq) and base == 0 and exponent < 0:
        raise Undefined("a division by zero")
    if isinstance(exponent, fmpq) and exponent.q == 1:
        exact = isinstance(base, fmpq) and abs(exponent) <= MAX_EXPONENT
        return base ** int(exponent.p) if exact else arb(base) ** arb(exponent)
    if isinstance(exponent, fmpq) and base < 0:
        raise Undefined(f"the power {exponent} of a negative number")
    if isinstance(exponent, fmpq) and exponent == fmpq(1, 2):
        return arb(base).sqrt()
    return arb(base) ** arb(exponent)


def _applied(function: Callable[[arb], arb], argument: Value) -> Value:
    return lambda scene: function(arb(argument(scene)))


def _logarithm(expression: Basic, models: Models) -> Value:
    argument = compile_value(expression.args[0], models)

    def value(scene: Scene) -> Number:
        at = argument(scene)
        if at <= 0:
            raise Undefined("the logarithm of a number that is not positive")
        return arb(at).log()

    return value


def _function(expression: Basic, models: Models) -> Value:
    return _applied(_FUNCTIONS[type(expression)], compile_value(expression.args[0], models))


def _absolute(expression: Basic, models: Models) -> Value:
    argument = compile_value(expression.args[0], models)
    return lambda scene: abs(argument(scene))


def _extremum(pick: str) -> Callable[[Basic, Models], Value]:
    def build(expression: Basic, models: Models) -> Value:
        parts = [compile_value(part, models) for part in expression.args]

        def value(scene: Scene) -> Number:
            values = [part(scene) for part in parts]
            exact = [entry for entry in values if isinstance(entry, fmpq)]
            if len(exact) == len(values):  # a position stays one
                return max(exact) if pick == "max" else min(exact)
            return reduce(lambda a, b: getattr(arb(a), pick)(arb(b)), values)

        return value

    return build


def _sign(expression: Basic, models: Models) -> Value:
    argument = compile_value(expression.args[0], models)
    return lambda scene: arb(argument(scene)).sgn()


def _delta(expression: Basic, models: Models) -> Value:
    sides = [compile_value(part, models) for part in expression.args[:2]]

    def value(scene: Scene) -> Number:
        same = equal(*(side(scene) for side in sides))
        return arb.nan() if same is None else fmpq(int(same))

    return value


def _factorial(expression: Basic, models: Models) -> Value:
    argument = compile_value(expression.args[0], models)
    return lambda scene: (arb(argument(scene)) + 1).gamma()


def _binomial(expression: Basic, models: Models) -> Value:
    top, bottom = expression.args
    return compile_value(sympy.gamma(top + 1) / (sympy.gamma(bottom + 1) * sympy.gamma(top - bottom + 1)), models)


def _series(start: int, combine: Callable[[Number, Number], Number]) -> Callable[[Any, Models], Value]:
    def build(expression: Any, models: Models) -> Value:
        for index in expression.variables:
            if not index.is_integer:  # enclosures are kept by the values of integer symbols alone
                raise NotApplicable(f"{index}, the index of a sum or product, is not an integer symbol")
        body = compile_value(expression.function, models)
        loops = [
            (index, compile_value(low, models), compile_value(high, models)) for index, low, high in expression.limits
        ]

        def run(scene: Scene, depth: int) -> Number:
            if depth < 0:
                return body(scene)
            index, low, high = loops[depth]
            first, last = low(scene), high(scene)
            if not all(isinstance(end, fmpq) and end.q == 1 for end in (first, last)):
                raise NotApplicable(f"the range of {index} is not one of integers")
            lower, upper = int(first.p), int(last.p)  # type: ignore[union-attr]
            if upper < lower - 1:
                raise NotApplicable(f"the range of {index} runs backwards, {lower} to {upper}")
            if upper - lower > MAX_TERMS:
                raise NotApplicable(f"a sum of more than {MAX_TERMS} terms")
            total: Number = fmpq(start)
            outer = scene.values.get(index)
            for step in range(lower, upper + 1):
                scene.values[index] = fmpq(step)
                total = combine(total, run(scene, depth - 1))
            if outer is None:
                scene.values.pop(index, None)
            else:
                scene.values[index] = outer
            return total

        # SymPy lists the innermost index first, and the outer indices may appear in its limits.
        return lambda scene: run(scene, len(loops) - 1)

    return build


def _piecewise(expression: Any, models: Models) -> Value:
    branches = [
        (compile_value(value, models), compile_condition(condition, models)) for value, condition in expression.args
    ]

    def value(scene: Scene) -> Number:
        for branch, condition in branches:
            truth = condition(scene)
            if truth is None:
                return arb.nan()
            if truth:
                return branch(scene)
        return arb.nan()

    return value


_COMPILERS: dict[Any, Callable[[Any, Models], Value]] = {
    InputGram: _input_gram,
    Kappa: _kappa,
    sympy.Add: _add,
    sympy.Mul: _mul,
    sympy.Pow: _pow,
    sympy.Abs: _absolute,
    sympy.log: _logarithm,
    sympy.Max: _extremum("max"),
    sympy.Min: _extremum("min"),
    sympy.sign: _sign,
    sympy.KroneckerDelta: _delta,
    sympy.factorial: _factorial,
    sympy.binomial: _binomial,
    sympy.Sum: _series(0, lambda a, b: a + b),
    sympy.Product: _series(1, lambda a, b: a * b),
    sympy.Piecewise: _piecewise,
}

_COMPARISONS: dict[type, Callable[[Number, Number], Truth]] = {
    sympy.Lt: less,
    sympy.Le: less_or_equal,
    sympy.Gt: lambda a, b: less(b, a),
    sympy.Ge: lambda a, b: less_or_equal(b, a),
    sympy.Eq: equal,
    sympy.Ne: lambda a, b: negation(equal(a, b)),
}
_HOLDS_AT_EQUALITY = (sympy.Le, sympy.Ge, sympy.Eq)


def compile_condition(statement: Basic, models: Models) -> Condition:
    """A function that decides ``statement`` in a scene: True, False or None.

    Raises:
        NotApplicable: the statement has a part that balls can't evaluate.
    """
    if statement in (sympy.true, sympy.false):
        settled = bool(statement)
        return lambda scene: settled
    if isinstance(statement, Relational):
        return _relation(statement, models)
    parts = [compile_condition(part, models) for part in statement.args]
    match statement:
        case sympy.And():
            return lambda scene: both(part(scene) for part in parts)
        case sympy.Or():
            return lambda scene: either(part(scene) for part in parts)
        case sympy.Not():
            return lambda scene: negation(parts[0](scene))
        case sympy.Implies():
            return lambda scene: _implies(parts, scene)
        case sympy.Equivalent():
            return lambda scene: _equivalent([part(scene) for part in parts])
        case sympy.ITE():
            test, yes, no = parts
            return lambda scene: _choose(test(scene), yes, no, scene)
    raise NotApplicable(f"balls can't evaluate {type(statement).__name__}: {statement}")


def _relation(statement: Relational, models: Models) -> Condition:
    compare = _COMPARISONS.get(type(statement))
    if compare is None:
        raise NotApplicable(f"balls can't decide {type(statement).__name__}: {statement}")
    left, right = (compile_value(side, models) for side in statement.args)
    at_equality = isinstance(statement, _HOLDS_AT_EQUALITY)

    def condition(scene: Scene) -> Truth:
        a, b = left(scene), right(scene)
        truth = compare(a, b)
        if truth is None and (arb(a) - arb(b)).is_finite():
            scene.open_gap(a, b)
            return at_equality if scene.ties_equal else None
        return truth

    return condition


def _implies(parts: Sequence[Condition], scene: Scene) -> Truth:
    # The conclusion may make no sense where the premise fails, so it is not looked at there.
    premise = parts[0](scene)
    if premise is False:
        return True
    conclusion = parts[1](scene)
    if conclusion is True:
        return True
    return conclusion if premise is True else None


def _equivalent(truths: Sequence[Truth]) -> Truth:
    if True in truths and False in truths:
        return False
    return None if None in truths else True


def _choose(test: Truth, yes: Condition, no: Condition, scene: Scene) -> Truth:
    if test is not None:
        return yes(scene) if test else no(scene)
    outcomes = (yes(scene), no(scene))
    return outcomes[0] if outcomes[0] == outcomes[1] else None


# --- the evaluator -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Decision:
    """What balls say of a statement at one point.

    Attributes:
        truth: True, False or None for undecided.
        precision: bits at which it was decided, or the most that were tried.
        gap: if undecided, how far apart the sides of a comparison can still be.
        at_equality: if undecided, the statement's truth should those sides be equal.
    """

    truth: Truth
    precision: int
    gap: arb | None = None
    at_equality: Truth = None

    @property
    def consistent(self) -> bool:
        """Undecided, but true if sides that agree to half the precision tried are equal."""
        if self.truth is not None or self.at_equality is not True or self.gap is None:
            return False
        return bool(self.gap < arb(2) ** (-self.precision // 2))


class Evaluator:
    """Decides one statement at many points, keeping the enclosures that points share.

    Raises:
        NotApplicable: the statement has a part that balls can't evaluate.
    """

    def __init__(self, statement: Basic) -> None:
        self.statement = _prepared(statement)
        quantities = sorted(self.statement.atoms(Quantity), key=str)
        self.models = Models(tuple(dict.fromkeys((q.args[3], q.args[4]) for q in quantities)))
        self.depth = max((q.layer for q in quantities), default=0)
        self.condition = compile_condition(self.statement, self.models)

    def at(self, reals: Mapping[Symbol, Any], horizon: int = 1) -> Parameters:
        """The evaluator at fixed values (exact numbers or balls) of the real symbols.

        ``horizon`` is the largest position that points will ask for, as far as is known.
        """
        return Parameters(self, dict(reals), horizon)


class Parameters:
    """An evaluator at fixed real parameters: decides at points of the integer symbols."""

    def __init__(self, evaluator: Evaluator, reals: dict[Symbol, Any], horizon: int) -> None:
        self.evaluator = evaluator
        self.reals = reals
        self.horizon = horizon
        self._scenes: dict[int, Scene] = {}

    def scene(self, integers: Mapping[Symbol, int], precision: int) -> Scene:
        """The scene of this point at ``precision`` bits; call it inside that precision."""
        if precision not in self._scenes:
            values = {s: v if isinstance(v, (arb, fmpq)) else _sturdy(v) for s, v in self.reals.items()}
            self._scenes[precision] = Scene(values, self.evaluator.models, self.evaluator.depth, self.horizon)
        scene = self._scenes[precision]
        for symbol, value in integers.items():
            scene.values[symbol] = fmpq(int(value))
        scene.ties_equal, scene.gap = False, None
        return scene

    def truth(self, integers: Mapping[Symbol, int], precision: int) -> Truth:
        """The statement's truth at this point, at ``precision`` bits."""
        with working_precision(precision):
            try:
                return self.evaluator.condition(self.scene(integers, precision))
            except Undefined:
                return False

    def decide(self, integers: Mapping[Symbol, int], precisions: Sequence[int] = PRECISIONS) -> Decision:
        """The statement's truth at this point, with precision raised until it is decided."""
        for precision in precisions:
            truth = self.truth(integers, precision)
            if truth is not None:
                return Decision(truth, precision)
        with working_precision(precisions[-1]):
            scene = self.scene(integers, precisions[-1])
            scene.ties_equal = True
            try:
                at_equality = self.evaluator.condition(scene)
            except Undefined:
                at_equality = False
            return Decision(None, precisions[-1], at_equality=at_equality, gap=scene.gap)


def _sturdy(value: Any) -> Any:
    """A fraction where the value is one; other exact numbers stay symbolic until a precision is set."""
    expression = sympy.sympify(value)
    return number(expression) if isinstance(expression, sympy.Rational) else expression


@lru_cache(maxsize=8)
def evaluator(statement: Basic) -> Evaluator:
    """The evaluator of ``statement``; engines that look at one claim in turn share its enclosures."""
    return Evaluator(statement)


def _prepared(statement: Basic) -> Basic:
    """The statement with its derivatives taken and its decimals read as fractions.

    Raises:
        NotApplicable: a derivative is one that SymPy can't take.
    """
    statement = decimals(sympy.sympify(statement))
    if not statement.has(sympy.Derivative, sympy.Subs):
        return statement
    try:
        taken = statement.replace(
            lambda part: isinstance(part, (sympy.Derivative, sympy.Subs)), lambda part: part.doit()
        )
    except (AttributeError, NotImplementedError, TypeError) as error:
        raise NotApplicable(f"a derivative can't be taken: {error}") from None
    if taken.has(sympy.Derivative, sympy.Subs):
        raise NotApplicable(f"a derivative can't be taken: {statement}")
    return taken


def decimals(expression: Basic) -> Basic:
    """Read each decimal as the fraction that it prints as, like ``theory.values.exact``.

    >>> decimals(sympy.Symbol("x") <= 0.15)
    x <= 3/20
    """
    found = {number: sympy.Rational(str(number)) for number in expression.atoms(sympy.Float)}
    return expression.xreplace(found) if found else expression


def explain(statement: Basic, parameters: Parameters, integers: Mapping[Symbol, int], precision: int) -> str:
    """The relations that make ``statement`` fail at a point, with both sides enclosed."""
    with working_precision(precision):
        scene = parameters.scene(integers, precision)
        models = parameters.evaluator.models
        try:
            failing = list(_failing(_prepared(statement), models, scene))
            text = "; ".join(_compared(relation, models, scene) for relation in failing)
            return text or "the statement is false by itself"
        except Undefined as error:
            return f"the statement has no value there: it takes {error}"


def _failing(statement: Basic, models: Models, scene: Scene) -> Iterator[Relational]:
    if isinstance(statement, Relational):
        yield statement
        return
    parts = statement.args[1:] if isinstance(statement, sympy.Implies) else statement.args
    for part in parts:
        # A disjunction fails by all its parts; a conjunction by those that fail.
        if isinstance(statement, sympy.Equivalent) or compile_condition(part, models)(scene) is False:
            yield from _failing(part, models, scene)


def _compared(relation: Relational, models: Models, scene: Scene) -> str:
    left, right = (arb(compile_value(side, models)(scene)) for side in relation.args)
    shown, told = told_apart(relation)
    words = "; ".join(f"model {n}: {Record.read(d)}, {Record.read(x)}" for n, (d, x) in enumerate(told, 1))
    words = f" ({words})" if len(told) > 1 else ""
    return (
        f"{_sstr(shown.lhs)} = {left.str(20)}, {_sstr(shown.rhs)} = {right.str(20)}, "
        f"difference {(left - right).str(12)}, so that {_sstr(shown)} fails{words}"
    )


def _sstr(expression: Basic, width: int = 60) -> str:
    text = sympy.sstr(expression)
    return text if len(text) <= width else f"{text[: width - 3]}..."
