"""The meaning of a claim at one point, by walking its SymPy tree: independent of every engine.

Numbers are fractions as long as they can be and mpmath floats otherwise. A part without a value is None and makes the
relation that it stands in neither true nor false; connectives are Kleene's, whatever the order of their parts. The
quantities come from ``tests.differential.attention``. Nothing of ``numerics`` or ``proofs`` is used, and nothing of
SymPy but the tree: no doit, no simplify, no substitution, no lambdify.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from math import isqrt
from typing import Any

import sympy
from mpmath import mp, mpf
from sympy import Basic, Symbol

from maskproof.theory.claim import Claim
from maskproof.theory.decoder import Bidirectional, Blocks, Causal, Decoder, Dilated, Prefix, SlidingWindow
from maskproof.theory.inputs import Equicorrelated
from maskproof.theory.position import Alibi, Rope, T5Bias
from maskproof.theory.quantities import Gram, InputGram, Mix, Quantity, Score, Weight
from maskproof.theory.rope import Kappa
from tests.differential.attention import Layers, Number, Setting, layers, real, snapped

Value = Number | None
Truth = bool | None

DIGITS = 60
AGAIN = 130  # digits at which a disagreement has to be confirmed
HORIZON = 5  # tokens computed at once where later tokens don't matter and are admissible
LARGEST_POWER = 2000  # of a fraction
_STEP = 20  # of a difference quotient, in digits: half of the others are added


class Outside(Exception):
    """The point is not one that the claim is about: an unmentioned parameter of a model is inadmissible there."""


class Unreadable(Exception):
    """This evaluator does not know a part of the statement."""


@dataclass
class Scene:
    """A point of a claim, and the meaning of its model there.

    Attributes:
        values: symbol -> value, bound indices among them while their sum runs.
        point: the values outside all sums, which the claim's own model refers to.
        decoder, inputs: the claim's own model.
        mentioned: the names in the domain: parameters that are not among them range over what is admissible.
        digits: of the floats.
        loose: the size below which a difference says nothing, where a limit is extrapolated; else 0.
    """

    values: dict[Symbol, Number]
    point: Mapping[Symbol, Number]
    decoder: Decoder
    inputs: Any
    mentioned: frozenset[str]
    digits: int = DIGITS
    loose: Fraction = field(default=Fraction(0))


def scene(claim: Claim, point: Mapping[Symbol, Number], digits: int = DIGITS) -> Scene:
    """The scene of ``claim`` at ``point``."""
    names = frozenset(s.name for s in sympy.sympify(claim.domain).free_symbols)
    return Scene(dict(point), dict(point), claim.decoder, claim.inputs, names, digits)


def statement_at(claim: Claim, point: Mapping[Symbol, Number], digits: int = DIGITS) -> Truth:
    """Whether the statement holds at a point; None where it has no value.

    Raises:
        Outside: the point is not one that the claim is about.
    """
    with mp.workdps(digits):
        return truth(sympy.sympify(claim.statement), scene(claim, point, digits))


def domain_at(claim: Claim, point: Mapping[Symbol, Number], digits: int = DIGITS) -> Truth:
    """Whether a point lies in the domain; None where that has no value."""
    with mp.workdps(digits):
        return truth(sympy.sympify(claim.domain), scene(claim, point, digits))


def value_at(expression: Basic, claim: Claim, point: Mapping[Symbol, Number]) -> Value:
    """The value of an expression in the model of ``claim``."""
    with mp.workdps(DIGITS):
        return value(expression, scene(claim, point))


# --- truth ---------------------------------------------------------------------------------------


def truth(s: Basic, at: Scene) -> Truth:
    """Kleene's truth value of a statement."""
    kind = type(s)
    if s is sympy.true or s is sympy.false:
        return s is sympy.true
    if kind in _RELATIONS:
        left, right = (value(side, at) for side in s.args)
        return None if left is None or right is None else _RELATIONS[kind](_sign(left, right, at))
    parts = [truth(part, at) for part in s.args]
    if kind is sympy.And:
        return _all(parts)
    if kind is sympy.Or:
        return _not(_all([_not(part) for part in parts]))
    if kind is sympy.Not:
        return _not(parts[0])
    if kind is sympy.Implies:
        return _not(_all([parts[0], _not(parts[1])]))
    raise Unreadable(kind.__name__)


def _not(truth: Truth) -> Truth:
    return None if truth is None else not truth


def _all(truths: Sequence[Truth]) -> Truth:
    if False in truths:
        return False
    return None if None in truths else True


_RELATIONS: dict[type, Callable[[int], bool]] = {
    sympy.Lt: lambda sign: sign < 0,
    sympy.Le: lambda sign: sign <= 0,
    sympy.Gt: lambda sign: sign > 0,
    sympy.Ge: lambda sign: sign >= 0,
    sympy.Eq: lambda sign: sign == 0,
    sympy.Ne: lambda sign: sign != 0,
}


def _sign(left: Number, right: Number, at: Scene) -> int:
    if isinstance(left, Fraction) and isinstance(right, Fraction):
        difference: Number = left - right
    else:
        difference = _sum([left, _times(Fraction(-1), right)])
    if at.loose and abs(real(difference)) <= real(at.loose):
        return 0
    return (difference > 0) - (difference < 0)


# --- values --------------------------------------------------------------------------------------


def value(e: Basic, at: Scene) -> Value:
    """The number that an expression stands for, or None."""
    if isinstance(e, sympy.Rational):
        return Fraction(int(e.p), int(e.q))
    if isinstance(e, Symbol):
        return at.values.get(e)
    build = _KINDS.get(type(e))
    if build is None and isinstance(e, Quantity):
        build = _quantity
    if build is None:
        if e in (sympy.nan, sympy.zoo, sympy.oo, -sympy.oo) or isinstance(e, sympy.core.numbers.ImaginaryUnit):
            return None
        raise Unreadable(type(e).__name__)
    return build(e, at)


def _parts(e: Basic, at: Scene) -> list[Number] | None:
    values = [value(part, at) for part in e.args]
    return None if None in values else values  # type: ignore[return-value]


def _sum(terms: Sequence[Number]) -> Number:
    """The sum; what is left by rounding alone counts as zero."""
    exact = sum((t for t in terms if isinstance(t, Fraction)), Fraction(0))
    floats = [t for t in terms if not isinstance(t, Fraction)]
    if not floats:
        return exact
    floats.append(real(exact))
    return snapped(mp.fsum(floats), max(abs(t) for t in floats))


def _times(a: Number, b: Number) -> Number:
    return a * b if isinstance(a, Fraction) and isinstance(b, Fraction) else real(a) * real(b)


def _add(e: Basic, at: Scene) -> Value:
    parts = _parts(e, at)
    return None if parts is None else _sum(parts)


def _mul(e: Basic, at: Scene) -> Value:
    parts = _parts(e, at)
    if parts is None:
        return None
    product: Number = Fraction(1)
    for part in parts:
        product = _times(product, part)
    return product


def _pow(e: Basic, at: Scene) -> Value:
    parts = _parts(e, at)
    return None if parts is None else power(*parts)


def power(base: Number, exponent: Number) -> Value:
    """base^exponent for real numbers; 0^0 is 1; None: a division by zero, a root of a negative number."""
    if isinstance(exponent, Fraction) and exponent.denominator == 1:
        whole = exponent.numerator
        if base == 0 and whole < 0:
            return None
        if isinstance(base, Fraction) and abs(whole) <= LARGEST_POWER:
            return base**whole
        return real(base) ** whole
    if base < 0:
        return None
    if base == 0:
        return Fraction(0) if exponent > 0 else (Fraction(1) if exponent == 0 else None)
    if isinstance(base, Fraction) and exponent == Fraction(1, 2):
        top, bottom = isqrt(base.numerator), isqrt(base.denominator)
        if top**2 == base.numerator and bottom**2 == base.denominator:
            return Fraction(top, bottom)
    return real(base) ** real(exponent)


def _function(compute: Callable[[mpf], mpf | None]) -> Callable[[Basic, Scene], Value]:
    def build(e: Basic, at: Scene) -> Value:
        argument = value(e.args[0], at)
        return None if argument is None else compute(real(argument))

    return build


def _exp(e: Basic, at: Scene) -> Value:
    argument = value(e.args[0], at)
    if argument is None:
        return None
    return Fraction(1) if argument == 0 else mp.exp(real(argument))


def _log(e: Basic, at: Scene) -> Value:
    argument = value(e.args[0], at)
    if argument is None or argument <= 0:
        return None
    if isinstance(argument, Fraction):
        return Fraction(0) if argument == 1 else mp.log(real(argument))
    return snapped(mp.log(argument))


def _abs(e: Basic, at: Scene) -> Value:
    argument = value(e.args[0], at)
    return None if argument is None else abs(argument)


def _sgn(e: Basic, at: Scene) -> Value:
    argument = value(e.args[0], at)
    return None if argument is None else Fraction((argument > 0) - (argument < 0))


def _extremum(pick: Callable[..., Number]) -> Callable[[Basic, Scene], Value]:
    def build(e: Basic, at: Scene) -> Value:
        parts = _parts(e, at)
        if parts is None:
            return None
        return pick(parts) if all(isinstance(p, Fraction) for p in parts) else pick(map(real, parts))

    return build


def _delta(e: Basic, at: Scene) -> Value:
    left, right = (value(part, at) for part in e.args[:2])
    return None if left is None or right is None else Fraction(int(_sign(left, right, at) == 0))


def _factorial(e: Basic, at: Scene) -> Value:
    n = _whole(value(e.args[0], at))
    return None if n is None or n < 0 else Fraction(int(mp.fac(n)))


def _float(e: Basic, at: Scene) -> Value:
    """The shortest decimal that Python prints for it."""
    return Fraction(repr(float(e)))  # type: ignore[arg-type]


def _piecewise(e: Basic, at: Scene) -> Value:
    for branch, condition in e.args:  # type: ignore[misc]
        holds = truth(condition, at)
        if holds is not False:
            return value(branch, at) if holds else None
    return None


def _whole(number: Value) -> int | None:
    if isinstance(number, Fraction):
        return number.numerator if number.denominator == 1 else None
    if number is None or number != mp.nint(number):
        return None
    return int(number)


def _series(start: int, combine: Callable[[Sequence[Number]], Number]) -> Callable[[Basic, Scene], Value]:
    def run(e: Any, at: Scene, depth: int) -> Value:
        if depth < 0:
            return value(e.args[0], at)
        index, low, high = e.args[depth + 1]
        first, last = _whole(value(low, at)), _whole(value(high, at))
        if first is None or last is None or last < first - 1:
            return None
        if last >= first and not _suits(index, first):
            return None
        if last - first > 300:
            raise Unreadable("a sum of more than 300 terms")
        outer = at.values.get(index)
        terms: list[Value] = []
        for step in range(first, last + 1):
            at.values[index] = Fraction(step)
            terms.append(run(e, at, depth - 1))
        if outer is None:
            at.values.pop(index, None)
        else:
            at.values[index] = outer
        return None if None in terms else combine([Fraction(start), *terms])  # type: ignore[list-item]

    # SymPy lists the innermost index first.
    return lambda e, at: run(e, at, len(e.args) - 2)


def _suits(index: Symbol, first: int) -> bool:
    """Whether an index may be as low as ``first``: SymPy has used its assumptions when the formula was built."""
    if index.is_positive:
        return first >= 1
    return first >= 0 if index.is_nonnegative else True


def _product(parts: Sequence[Number]) -> Number:
    total: Number = Fraction(1)
    for part in parts:
        total = _times(total, part)
    return total


# --- derivatives and limits ----------------------------------------------------------------------

_SMOOTH = (sympy.Add, sympy.Mul, sympy.exp, sympy.log, sympy.sin, sympy.cos, sympy.sinh, sympy.cosh, sympy.tanh,
           sympy.atan, sympy.erf)  # fmt: skip


def _derivative(e: Any, at: Scene) -> Value:
    """By central differences, after a look that everything the variable occurs in is smooth."""
    body = e.args[0]
    for variable, count in e.args[1:]:
        if variable.is_integer or not _smooth(body, variable):
            return None
        if int(count) != 1 or len(e.args) != 2:
            raise Unreadable("a higher derivative")
    variable = e.args[1][0]
    here = at.values.get(variable)
    if here is None:
        return None
    digits, outer = at.digits, at.values[variable]
    point = at.point
    at.digits = 2 * digits + 3 * _STEP
    step = Fraction(1, 10 ** (_STEP + digits // 2))
    sides: list[Value] = []
    try:
        with mp.workdps(at.digits):
            for sign in (-1, 0, 1):
                moved = here + sign * step if isinstance(here, Fraction) else here + sign * real(step)
                at.values[variable] = moved
                if variable in point:
                    at.point = {**point, variable: moved}
                sides.append(value(body, at))
            if None in sides:
                return None
            difference = (real(sides[2]) - real(sides[0])) / (2 * real(step))  # type: ignore[arg-type]
    finally:
        at.digits, at.point, at.values[variable] = digits, point, outer
    return snapped(+difference)


def _smooth(e: Basic, variable: Symbol) -> bool:
    """Whether each operation between ``variable`` and the whole of ``e`` is smooth wherever it has a value."""
    if variable not in e.free_symbols:
        return True
    kind = type(e)
    if e == variable or isinstance(e, Quantity | InputGram):
        return True
    if kind is sympy.Pow:
        return all(_smooth(part, variable) for part in e.args)
    if kind in (sympy.Sum, sympy.Product):
        bounds = [part for limit in e.args[1:] for part in limit.args[1:]]
        return _smooth(e.args[0], variable) and not any(variable in bound.free_symbols for bound in bounds)
    return kind in _SMOOTH and all(_smooth(part, variable) for part in e.args)


def _limit(e: Any, at: Scene) -> Value:
    """Extrapolated from points far out, in powers of 1/x; the scene then decides nothing closer than that is good.

    A limit that is not approached in powers of 1/x (growth, oscillation, square roots) is not known here.
    """
    body, variable, target, _ = e.args
    if target is not sympy.oo or not variable.is_integer:
        raise Unreadable("a limit that is not one of positions")
    quantities = body.atoms(Quantity)
    places = [5, 7, 10, 14, 20] if quantities else [10**6 * k for k in (1, 2, 3, 4, 5, 6)]
    outer, point = at.values.get(variable), at.point
    values: list[Value] = []
    for place in places:
        at.values[variable] = Fraction(place)
        at.point = {**point, variable: Fraction(place)}
        values.append(value(body, at))
    at.point = point
    at.values.pop(variable, None)
    if outer is not None:
        at.values[variable] = outer
    if None in values:
        raise Unreadable("a limit without values on the way")
    best, previous = (_extrapolated(places[start:], [real(v) for v in values[start:]]) for start in (0, 1))  # type: ignore[arg-type]
    doubt = abs(best - previous)
    if doubt > mpf(10) ** -3:
        raise Unreadable("a limit that is approached slowly")
    at.loose = max(at.loose, Fraction(1, 10**9), Fraction(int(mp.ceil(doubt * 10**12)), 10**11))
    return best


def _extrapolated(places: Sequence[int], values: Sequence[mpf]) -> mpf:
    """The value at 1/x = 0 of the polynomial in 1/x through the points (Neville)."""
    table = list(values)
    for width in range(1, len(places)):
        for k in range(len(places) - width):
            a, b = mpf(1) / places[k], mpf(1) / places[k + width]
            table[k] = (a * table[k + 1] - b * table[k]) / (a - b)
    return table[0]


# --- quantities ----------------------------------------------------------------------------------


def _quantity(e: Any, at: Scene) -> Value:
    decoder = e.decoder
    inputs = e.inputs
    own = Scene(dict(at.point), at.point, at.decoder, at.inputs, at.mentioned, at.digits)
    query, key = (_whole(value(part, at)) for part in e.args[1:3])
    if query is None or key is None or query < 1 or key < 1:
        return None
    alpha = _alpha(at.inputs, own) if inputs is None else _alpha(inputs, at)
    model, where = (at.decoder, own) if decoder is None else (decoder, at)
    count = _tokens(model, where, max(query, key))
    if count is None:
        return None
    tokens, extendable = count
    law = at.inputs if inputs is None else inputs
    if not _admissible(alpha, tokens, law, at):
        return None
    if extendable and tokens < HORIZON and alpha is not None and alpha >= 0:
        tokens = HORIZON
    setting = _setting(model, where, tokens)
    if setting is None or alpha is None:
        return None
    found = layers(setting, alpha, e.layer, at.digits)
    seen = key in setting.visible[query - 1]
    return _entry(type(e), found, e.layer, query, key, seen)


def _entry(kind: type, found: Layers, layer: int, query: int, key: int, seen: bool) -> Value:
    table = {Score: found.scores, Weight: found.weights, Mix: found.mix, Gram: found.gram}[kind]  # type: ignore[index]
    entry = table[layer - 1][query - 1][key - 1]
    if kind is Score:
        return entry if seen else None
    return entry


def _alpha(inputs: Any, at: Scene) -> Value:
    if not isinstance(inputs, Equicorrelated):
        raise Unreadable(type(inputs).__name__)
    return value(inputs.alpha, at)


def _admissible(alpha: Value, tokens: int, law: Any, at: Scene) -> bool:
    """Whether unit vectors with this cosine exist.

    Raises:
        Outside: the domain says nothing of the law's symbol, and inputs with its value are not independent.
    """
    symbols = {s.name for s in law.alpha.free_symbols}
    if alpha is None:
        return False
    least = 1 + (tokens - 1) * alpha
    if symbols and not symbols & at.mentioned and not (alpha < 1 and least > 0):
        raise Outside(f"alpha = {alpha} for {tokens} tokens")
    return alpha <= 1 and least >= 0


def _tokens(decoder: Decoder, at: Scene, position: int) -> tuple[int, bool] | None:
    """How many tokens decide the quantity, and whether more would not change it; None: there is no such token."""
    n = next((_whole(v) for s, v in at.values.items() if s.name == "n"), None)
    match decoder.mask:
        case Bidirectional():
            return None if n is None or position > n else (n, False)
        case Prefix(length=length):
            return None if n is not None and n < max(length, position) else (max(position, length), True)
    return position, True


def _setting(decoder: Decoder, at: Scene, tokens: int) -> Setting | None:
    """The decoder with its numbers; None where one of them is not admissible."""
    d = next((_whole(v) for s, v in at.values.items() if s.name == "d"), None)
    beta, residual = value(decoder.beta, at), value(decoder.residual, at)
    scale: Value
    if isinstance(decoder.scale, str):
        scale = None if d is None else Fraction(d) if decoder.scale == "d" else power(Fraction(d), Fraction(1, 2))
    else:
        scale = value(decoder.scale, at)
    if beta is None or residual is None or scale is None or scale <= 0:
        return None
    if decoder.norm == "layernorm":
        if d is None:
            return None
        if d < 2:
            if "d" not in at.mentioned:
                raise Outside("d = 1 with LayerNorm")
            return None
    if _negative(beta) or _negative(residual):
        return None
    visible = tuple(_visible(decoder.mask, i, tokens) for i in range(1, tokens + 1))
    position, rope = decoder.position, None
    if isinstance(position, Rope):
        base = value(position.base, at)
        rope = None if base is None else (base, position.dim)
    bias = tuple((distance, b) for distance, b in _biases(position, tokens, at) if b is not None)
    width = d if decoder.norm == "layernorm" else None
    return Setting(decoder.norm, beta, residual, scale, width, visible, rope, bias)


def _visible(mask: Any, query: int, tokens: int) -> tuple[int, ...]:
    """The keys that a query sees, key by key from the definition of the mask."""
    return tuple(key for key in range(1, tokens + 1) if _sees(mask, query, key))


def _sees(mask: Any, query: int, key: int) -> bool:
    match mask:
        case Causal():
            return key <= query
        case Bidirectional():
            return True
        case SlidingWindow(width=width):
            return 0 <= query - key < width
        case Prefix(length=length):
            return key <= query or key <= length
        case Dilated(width=width, step=step):
            return key in [query - m * step for m in range(width)]
        case Blocks(size=size):
            begun = [block for block in range(query) if block * size < query]  # the query's own is the last
            return key <= query and any(block * size < key <= (block + 1) * size for block in begun[-2:])
    raise Unreadable(type(mask).__name__)


def _negative(parameter: Number) -> bool:
    """Whether it is out of range, by more than the step of a difference quotient."""
    return real(parameter) < -(mpf(10) ** -_STEP)


def _biases(position: Any, tokens: int, at: Scene) -> list[tuple[int, Value]]:
    distances = range(1 - tokens, tokens)
    if isinstance(position, Alibi):
        slope = value(position.slope, at)
        return [(D, None if slope is None else -slope * abs(D)) for D in distances]
    if isinstance(position, T5Bias):
        found = [(D, value(position.values[bucket(D, len(position.values), position.max_distance)], at))
                 for D in distances if D >= 0]  # fmt: skip
        later = position.later
        if later is not None:
            found += [(D, value(later[bucket(-D, len(later), position.max_distance)], at)) for D in distances if D < 0]
        return found
    return []


@lru_cache(maxsize=4096)
def bucket(distance: int, buckets: int, furthest: int) -> int:
    """T5's bucket of a distance: single ones below E = buckets//2, then E + floor((B - E) log(D/E)/log(max/E))."""
    single = buckets // 2
    if distance < single:
        return distance
    with mp.workdps(DIGITS):
        step = (buckets - single) * mp.log(mpf(distance) / single) / mp.log(mpf(furthest) / single)
        nearest = mp.nint(step)
        whole = int(nearest if abs(step - nearest) < mpf(10) ** -40 else mp.floor(step))
    return min(single + whole, buckets - 1)


def _input_gram(e: Any, at: Scene) -> Value:
    query, key = (_whole(value(part, at)) for part in e.args[:2])
    if query is None or key is None or query < 1 or key < 1:
        return None
    alpha = _alpha(e.inputs, at)
    if not _admissible(alpha, max(query, key), e.inputs, at):
        return None
    return Fraction(1) if query == key else alpha


def _kappa(e: Any, at: Scene) -> Value:
    """(2/dim) sum_m cos(D base^(-2m/dim))."""
    distance, base, dim = value(e.distance, at), value(e.position.base, at), e.position.dim
    if distance is None or base is None:
        return None
    if distance == 0:
        return Fraction(1)
    half = dim // 2
    return mp.fsum(mp.cos(real(distance) * real(base) ** (-mpf(m) / half)) for m in range(half)) / half


_KINDS: dict[type, Callable[[Any, Scene], Value]] = {
    sympy.Float: _float,
    sympy.Add: _add,
    sympy.Mul: _mul,
    sympy.Pow: _pow,
    sympy.exp: _exp,
    sympy.log: _log,
    sympy.Abs: _abs,
    sympy.sign: _sgn,
    sympy.Max: _extremum(max),
    sympy.Min: _extremum(min),
    sympy.KroneckerDelta: _delta,
    sympy.factorial: _factorial,
    sympy.Piecewise: _piecewise,
    sympy.Sum: _series(0, _sum),
    sympy.Product: _series(1, _product),
    sympy.Derivative: _derivative,
    sympy.Limit: _limit,
    sympy.sin: _function(mp.sin),
    sympy.cos: _function(mp.cos),
    sympy.sinh: _function(mp.sinh),
    sympy.cosh: _function(mp.cosh),
    sympy.tanh: _function(mp.tanh),
    sympy.atan: _function(mp.atan),
    sympy.erf: _function(mp.erf),
    type(sympy.E): lambda e, at: +mp.e,
    type(sympy.pi): lambda e, at: +mp.pi,
    type(sympy.EulerGamma): lambda e, at: +mp.euler,
    InputGram: _input_gram,
    Kappa: _kappa,
}
