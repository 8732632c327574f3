"""Hypothesis strategies for claims: random models, random statements, random domains.

A claim is drawn with the values that its symbols are likely to take, so that points of its domain are found without
any engine's help. Families differ in what they try: true statements on purpose and near misses of them (bounds shifted
by a margin that ``tests.differential.evaluator`` computes, closed forms of layer one, sums of rows), and statements
that have no value somewhere (roots, logarithms, divisions, hidden keys, positions below one, inadmissible inputs).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import islice, product
from typing import Any

import sympy
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import seed as with_seed
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from mpmath import mp
from sympy import And, Basic, Eq, Ge, Gt, Implies, Le, Lt, Ne, Not, Or, Rational, Symbol

from maskproof.theory.claim import Claim
from maskproof.theory.decoder import Bidirectional, Blocks, Causal, Decoder, Dilated, Prefix, SlidingWindow
from maskproof.theory.derivation import Derivation, Step
from maskproof.theory.errors import InvalidInput
from maskproof.theory.inputs import Equicorrelated
from maskproof.theory.layer_one import g, h_squared, r, weight_other, weight_self
from maskproof.theory.position import Alibi, Rope, T5Bias
from maskproof.theory.quantities import Gram, InputGram, Mix, Score, Weight
from maskproof.theory.symbols import alpha, beta, d, i, j, k, lam, m, n
from tests.differential.attention import real
from tests.differential.evaluator import DIGITS, Outside, Unreadable, domain_at, value_at

Point = dict[Symbol, Fraction]

_CAUSAL_MASKS = (Causal(), Causal(), SlidingWindow(2), Dilated(2, 2), Blocks(1))
_SMALL = tuple(map(Rational, ("1", "0", "1/2", "2", "1/3", "3/2")))
_REALS = tuple(map(Rational, ("0", "1", "1/2", "-1", "2", "-1/2", "1/3", "3", "7/13", "-2", "1/10", "5/4")))
_ALPHAS = tuple(map(Rational, ("0", "1/5", "1/2", "9/10", "1/3", "-1/10", "-1/4")))
_FAR_ALPHAS = tuple(map(Rational, ("-9/10", "-1/2", "-1/3", "-1")))
_FREE = Symbol("q", integer=True)  # indices that may start anywhere, from zero, and from one
_NATURAL = Symbol("q", integer=True, nonnegative=True)
_PLACE = Symbol("q", integer=True, positive=True)
_QUANTITIES = (Score, Weight, Gram, Mix)
_NOT_REAL = re.compile("comparable|[Cc]omplex|NaN|[Ii]nvalid|real")  # what SymPy says of numbers that are not real


@dataclass(frozen=True)
class Drawn:
    """A claim with its family and with values that its symbols may take, in the domain and near it."""

    claim: Claim
    family: str
    likely: dict[Symbol, tuple[Fraction, ...]]


@dataclass
class Draft:
    """A claim in the making."""

    decoder: Decoder = field(default_factory=Decoder)
    inputs: Any = field(default_factory=lambda: Equicorrelated(0))
    conditions: list[Any] = field(default_factory=list)
    likely: dict[Symbol, tuple[Fraction, ...]] = field(default_factory=dict)
    proof: Derivation | None = None

    @property
    def domain(self) -> Any:
        """The conditions together."""
        return And(*self.conditions) if self.conditions else True

    def claim(self, statement: Any) -> Claim:
        """A claim about the draft's model."""
        return Claim("drawn", statement, self.domain, self.decoder, self.inputs, proof=self.proof)

    def points(self, most: int = 12) -> list[Point]:
        """Points of the domain among the likely values."""
        names = list(self.likely)
        stub = self.claim(Lt(0, 1, evaluate=False))
        every = (dict(zip(names, choice, strict=True)) for choice in product(*self.likely.values()))
        return list(islice((p for p in every if domain_at(stub, p) is True), most))

    def values(self, expression: Basic) -> list[Any]:
        """The values of an expression at points of the domain; empty if it lacks one somewhere."""
        stub = self.claim(Lt(0, 1, evaluate=False))
        try:
            found = [value_at(expression, stub, point) for point in self.points()]
        except (Outside, Unreadable):
            return []
        with mp.workdps(DIGITS):
            return [] if None in found else [real(v) for v in found]


def _ints(low: int, high: int) -> tuple[Fraction, ...]:
    return tuple(Fraction(v) for v in range(low, high + 1))


def _fraction(value: Any) -> Fraction:
    value = Rational(value)
    return Fraction(int(value.p), int(value.q))


# --- models and domains --------------------------------------------------------------------------


@st.composite
def _positions_of_model(draw: DrawFn, causal: bool) -> Any:
    kind = draw(st.sampled_from(("none", "none", "none", "rope", "alibi", "t5")))
    if kind == "rope":
        return Rope(draw(st.sampled_from((10, 100, Rational(3, 2)))), draw(st.sampled_from((2, 4))))
    if kind == "alibi":
        return Alibi(draw(st.sampled_from(_SMALL)))
    if kind == "t5":
        values = st.lists(st.sampled_from(_REALS), min_size=2, max_size=4).map(tuple)
        return T5Bias(draw(values), None if causal else draw(values), draw(st.sampled_from((3, 4, 8))))
    return None


@st.composite
def _masks(draw: DrawFn) -> Any:
    kind = draw(st.sampled_from(("causal",) * 4 + ("window", "prefix", "all", "dilated", "blocks")))
    if kind == "window":
        return SlidingWindow(draw(st.integers(1, 3)))
    if kind == "dilated":
        return Dilated(draw(st.integers(1, 3)), draw(st.integers(1, 3)))
    if kind == "blocks":
        return Blocks(draw(st.integers(1, 3)))
    if kind == "prefix":
        return Prefix(draw(st.integers(1, 3)))
    return Bidirectional() if kind == "all" else Causal()


def _parameter(draw: DrawFn, draft: Draft, symbol: Symbol, chance: int) -> Any:
    """A number, or one time in ``chance`` the symbol with a range in the domain."""
    if draw(st.integers(1, chance)) > 1:
        return draw(st.sampled_from(_SMALL))
    _interval(draw, draft, symbol, nonnegative=True)
    return symbol


def _interval(draw: DrawFn, draft: Draft, symbol: Symbol, nonnegative: bool = False) -> None:
    """Put a short interval of a real symbol into the domain, or a single value."""
    if symbol in draft.likely:
        return
    low = draw(st.sampled_from([v for v in _REALS if v >= 0 or not nonnegative]))
    width = draw(st.sampled_from(tuple(map(Rational, ("1/8", "1/2", "0", "1", "1/32")))))
    high = low + width
    # Few open ends, and none of a very short interval: the search for a witness takes seconds to find points in it.
    kind = draw(st.sampled_from(("closed",) * 8 + ("open", "half"))) if width >= Rational(1, 8) else "closed"
    if width == 0:
        draft.conditions.append(Eq(symbol, low))
    else:
        draft.conditions.append(symbol >= low if kind != "open" else symbol > low)
        draft.conditions.append(symbol <= high if kind == "closed" else symbol < high)
    a, b = _fraction(low), _fraction(high)
    inner = (a + (b - a) * Fraction(p, 64) for p in (32, 11, 53, 1, 63)) if b > a else ()
    draft.likely[symbol] = tuple(dict.fromkeys((a, b, *inner)))


def _correlation(draw: DrawFn, draft: Draft, far: bool) -> None:
    """The law of the inputs: a number, or alpha over an interval."""
    choice = draw(st.integers(1, 8))
    if choice == 1:
        low = draw(st.sampled_from(tuple(map(Rational, ("0", "1/5", "1/2", "-1/8")))))
        high = low + draw(st.sampled_from(tuple(map(Rational, ("1/8", "1/4", "1/32")))))
        draft.conditions += [alpha >= low, alpha <= high]
        a, b = _fraction(low), _fraction(high)
        draft.likely[alpha] = (a, b, (a + b) / 2, (3 * a + b) / 4, (a + 63 * b) / 64)
        draft.inputs = Equicorrelated(alpha)
    elif choice == 2 and far:
        draft.inputs = Equicorrelated(draw(st.sampled_from(_FAR_ALPHAS)))
    elif choice == 3 and far:  # alpha is open, and the domain may not speak of it
        draft.inputs = Equicorrelated(alpha)
        draft.likely[alpha] = tuple(map(Fraction, ("0", "1/2", "-1/10", "-1/4", "-1/2", "-9/10", "-1", "9/10")))
        if draw(st.booleans()):
            draft.conditions += [alpha > draw(st.sampled_from((-1, Rational(-1, 2), Rational(-1, 3)))), alpha < 1]
    else:
        draft.inputs = Equicorrelated(draw(st.sampled_from(_ALPHAS)))


def _model(draw: DrawFn, draft: Draft, largest: int, far: bool = False, open_in: int = 8) -> None:
    """A random decoder and input law; the domain says what they need (n, d)."""
    mask = draw(_masks())
    shows_later = isinstance(mask, Bidirectional | Prefix)
    norm = draw(st.sampled_from(("l2", "l2", "layernorm", "none")))
    scale = draw(st.sampled_from((1, 1, 2, Rational(1, 2), "sqrt(d)", "d")))
    draft.decoder = Decoder(
        beta=_parameter(draw, draft, beta, open_in),
        residual=_parameter(draw, draft, lam, open_in),
        norm=norm,
        scale=scale,
        mask=mask,
        position=draw(_positions_of_model(not shows_later)),
    )
    _correlation(draw, draft, far)
    if shows_later:
        tokens = max(largest, 3) + draw(st.integers(0, 1))
        draft.conditions.append(Eq(n, tokens))
        draft.likely[n] = (Fraction(tokens),)
    if norm == "layernorm" or isinstance(scale, str):
        width = draw(st.sampled_from((8, 16)))
        draft.conditions.append(Eq(d, width))
        draft.likely[d] = (Fraction(width),)


def _places(draw: DrawFn, draft: Draft, largest: int = 4) -> int:
    """Put positions i, j into the domain; return the largest."""
    last = draw(st.integers(2, largest))
    draft.conditions.append(i <= last if draw(st.integers(1, 4)) > 1 else Eq(i, last))
    order = draw(st.sampled_from((j < i, j < i, j <= i)))
    draft.conditions.append(order)
    draft.likely[i], draft.likely[j] = _ints(1, last), _ints(1, last)
    return last


# --- expressions ---------------------------------------------------------------------------------


def _quantity(draw: DrawFn, depth: int) -> Any:
    kind = draw(st.sampled_from(_QUANTITIES))
    layer = draw(st.integers(1, depth))
    places = draw(st.sampled_from(((i, j), (i, j), (i, i), (j, j), (2, 1), (i, 1))))
    return kind(layer, *places)


def _entries(draw: DrawFn, depth: int) -> Any:
    """An expression of one or two quantities."""
    a = _quantity(draw, depth)
    shape = draw(st.integers(0, 11))
    if shape <= 2:
        return a
    b = _quantity(draw, depth)
    c = draw(st.sampled_from(_REALS))
    shapes: tuple[Callable[[], Any], ...] = (
        lambda: a - b, lambda: a * b, lambda: a + c * b, lambda: a**2 - c, lambda: sympy.Abs(a - b),
        lambda: sympy.Max(a, b) - c, lambda: sympy.exp(a) - b, lambda: a / (2 + b**2), lambda: i * a + b / j,
    )  # fmt: skip
    return shapes[shape - 3]()


def _formula(draw: DrawFn, symbols: Sequence[Symbol], size: int) -> Any:
    """A random expression of symbols; it may lack a value here and there."""
    if size <= 0 or draw(st.integers(1, 5)) == 1:
        leaf = draw(st.integers(0, 2))
        return draw(st.sampled_from(_REALS)) if leaf == 0 or not symbols else draw(st.sampled_from(list(symbols)))
    a = _formula(draw, symbols, size - 1)
    shape = draw(st.integers(0, 15))
    if shape == 0:
        return a ** draw(st.sampled_from((2, 3, -1, -2)))
    if shape == 1:
        return sympy.sqrt(a)
    if shape == 2:
        return sympy.exp(a)
    if shape == 3:
        return sympy.log(a)
    if shape == 4:
        return sympy.Abs(a)
    if shape == 5:
        return 1 / (a - draw(st.sampled_from(_REALS)))
    b = _formula(draw, symbols, size - 1)
    if shape == 6:
        return sympy.Max(a, b)
    if shape == 7:
        return sympy.Min(a, b)
    if shape == 8:
        return _piecewise(draw, symbols, a, b)
    if shape == 9:
        return a / b
    return (a + b, a - b, a * b)[shape % 3]


def _piecewise(draw: DrawFn, symbols: Sequence[Symbol], a: Any, b: Any) -> Any:
    if not symbols:
        return a
    x, c = draw(st.sampled_from(list(symbols))), draw(st.sampled_from(_REALS))
    test = draw(st.sampled_from((Lt(x, c), Ge(x, c), Ne(x, c), Gt(1 / (x - c), 1))))
    return sympy.Piecewise((a, test), (b, True))


def _margin(draw: DrawFn, values: Sequence[Any]) -> tuple[Rational, Rational]:
    """A rational above all values by some margin, and one below the largest by a little."""
    top = max(values)
    spread = max((abs(v) for v in values), default=1)
    share = draw(st.sampled_from((Fraction(1, 3), Fraction(1, 50), Fraction(1, 10**6))))
    digits = 10**9
    with mp.workdps(30):
        size = Fraction(max(1, int(mp.ceil(spread * digits))), digits) * share
        above = Fraction(int(mp.ceil(top * digits)), digits) + size
        below = Fraction(int(mp.floor(top * digits)), digits) - size / 1000
    return Rational(above.numerator, above.denominator), Rational(below.numerator, below.denominator)


def _bound(draw: DrawFn, draft: Draft, expression: Any) -> Any:
    """A relation that bounds an expression from above or below, true on the likely points or narrowly false."""
    turned = draw(st.booleans())
    values = draft.values(-expression if turned else expression)
    if not values:
        relation = draw(st.sampled_from((Lt, Le, Gt, Ge, Ne)))
        return relation(expression, draw(st.sampled_from(_REALS)))
    above, below = _margin(draw, values)
    limit = above if draw(st.integers(1, 4)) > 1 else below
    relation = draw(st.sampled_from((Lt, Le)))
    return relation(-limit, expression) if turned else relation(expression, limit)


# --- families ------------------------------------------------------------------------------------


def _bounds(draw: DrawFn) -> tuple[Draft, Any]:
    draft = Draft()
    last = _places(draw, draft)
    _model(draw, draft, last)
    depth = draw(st.sampled_from((1, 2, 2, 3)))
    return draft, _bound(draw, draft, _entries(draw, depth))


def _two_models(draw: DrawFn) -> tuple[Draft, Any]:
    draft = Draft()
    last = _places(draw, draft, 3)
    _model(draw, draft, last, open_in=20)
    other = Decoder(beta=draw(st.sampled_from(_SMALL)), residual=draw(st.sampled_from(_SMALL)),
                    mask=draw(st.sampled_from(_CAUSAL_MASKS)))  # fmt: skip
    law = Equicorrelated(draw(st.sampled_from(_ALPHAS)))
    kind, layer = draw(st.sampled_from(_QUANTITIES)), draw(st.integers(1, 2))
    return draft, _bound(draw, draft, kind(layer, i, j) - kind(layer, i, j, decoder=other, inputs=law))


def _closed(draw: DrawFn) -> tuple[Draft, Any]:
    """Closed forms of layer one, all parameters open or numbers, and near misses."""
    draft = Draft()
    b = draw(st.sampled_from((beta, 1, Rational(1, 2), 0)))
    w = draw(st.sampled_from((lam, 1, 0)))
    a = draw(st.sampled_from((alpha, alpha, 0, Rational(1, 3), Rational(-1, 2), Rational(-9, 10))))
    draft.decoder = Decoder(beta=b, residual=w, norm=draw(st.sampled_from(("l2", "none"))))
    draft.inputs = Equicorrelated(a)
    if a == alpha:
        ranges = ((alpha >= 0, alpha < 1), (alpha >= 0, alpha < 1), (), (alpha < Rational(-1, 4),), (alpha < 1,))
        draft.conditions += draw(st.sampled_from(ranges))
        draft.likely[alpha] = tuple(map(Fraction, ("0", "1/2", "1/7", "9/10", "-1/3", "-4/5")))
    if b == beta:
        draft.likely[beta] = tuple(map(Fraction, ("0", "1", "3/2")))
    if w == lam:
        draft.likely[lam] = tuple(map(Fraction, ("0", "1", "2/3")))
    draft.conditions += [j < i, i >= 3] if draw(st.integers(1, 4)) == 1 else [j < i]
    draft.likely[i], draft.likely[j] = _ints(1, 5), _ints(1, 4)
    if draw(st.integers(1, 5)) == 1:  # signs, which the search knows as well
        entry = draw(st.sampled_from((Gram(1, i, i), Gram(1, i, j), Weight(1, i, j), Mix(1, i, i))))
        return draft, draw(st.sampled_from((Lt, Gt, Ge)))(entry, draw(st.sampled_from((0, Rational(-1, 2), 4))))
    forms = {
        Weight(1, i, j): weight_other(i), Weight(1, i, i): weight_self(i), Mix(1, i, j): weight_other(i),
        Mix(1, i, i): lam + weight_self(i), Gram(1, i, j): g(i), Gram(1, i, i): h_squared(i),
        Score(1, i, j): alpha + 0 * r, Gram(1, j, j): h_squared(j),
    }  # fmt: skip
    left = draw(st.sampled_from(list(forms)))
    values = {r: sympy.exp(sympy.sympify(b) * (1 - sympy.sympify(a))), alpha: a, lam: w}
    right = forms[left].subs(values, simultaneous=True)
    miss = draw(st.sampled_from(("none", "none", "none", "add", "shift", "factor")))
    if miss == "add":
        right += draw(st.sampled_from((Rational(1, 1000), Rational(-1, 7))))
    elif miss == "shift":
        right = right.subs(i, i + 1)
    elif miss == "factor":
        right *= Rational(1001, 1000)
    return draft, draw(st.sampled_from((Eq, Eq, Le, Lt)))(left, right)


def _rows(draw: DrawFn) -> tuple[Draft, Any]:
    """Sums over keys: rows of weights sum to one, Gram entries are sums of mixing coefficients."""
    draft = Draft()
    last = draw(st.integers(2, 4))
    draft.conditions.append(i <= last)
    draft.likely[i] = _ints(1, last)
    _model(draw, draft, last, open_in=12)
    layer = draw(st.integers(1, 2))
    end: Any = n if isinstance(draft.decoder.mask, Bidirectional | Prefix) else i
    total = sympy.Sum(Weight(layer, i, k), (k, 1, end))
    shape = draw(st.integers(0, 6))
    if shape == 0:
        return draft, Eq(total, 1)
    if shape == 1:
        return draft, Lt(total, draw(st.sampled_from((Rational(3, 2), Rational(1001, 1000), 1, Rational(999, 1000)))))
    if shape == 2:
        return draft, Gt(sympy.Sum(k * Weight(layer, i, k), (k, 1, end)), draw(st.sampled_from((0, Rational(1, 2), 1))))
    if shape == 3:
        return draft, _bound(draw, draft, sympy.Sum(Weight(layer, i, k) ** 2, (k, 1, end)))
    if shape == 4:  # keys that the mask hides, or that come before the first
        return draft, _bound(draw, draft, sympy.Sum(Score(layer, i, k), (k, draw(st.sampled_from((1, 2))), end)))
    if shape == 5:
        return draft, _bound(draw, draft, sympy.Product(1 + Weight(layer, i, k), (k, 1, i)))
    return draft, Le(sympy.Sum(Mix(layer, i, k), (k, 1, end)), 1 + draft.decoder.residual)


def _symmetric(draw: DrawFn) -> tuple[Draft, Any]:
    draft = Draft()
    last = _places(draw, draft, 3)
    _model(draw, draft, last, open_in=12)
    kind, layer = draw(st.sampled_from((Gram, Gram, Score, Weight, Mix))), draw(st.integers(1, 2))
    there, back = kind(layer, i, j), kind(layer, j, i)
    shape = draw(st.integers(0, 3))
    if shape == 0:
        return draft, Eq(there, back)
    if shape == 1:
        return draft, Le(sympy.Abs(there - back), draw(st.sampled_from((0, Rational(1, 10), 1))))
    if shape == 2:  # Cauchy and Schwarz
        return draft, Le(Gram(layer, i, j) ** 2, Gram(layer, i, i) * Gram(layer, j, j) + draw(st.sampled_from((0, 1))))
    return draft, Lt(Score(layer, i, j) ** 2, Score(layer, i, i) * Score(layer, j, j) + Rational(1, 100))


def _edges(draw: DrawFn) -> tuple[Draft, Any]:
    """Positions below one, hidden keys, inputs that do not exist, vectors that vanish."""
    draft = Draft()
    last = _places(draw, draft, 3)
    _model(draw, draft, last, far=True, open_in=12)
    if draw(st.integers(1, 3)) == 1:
        draft.decoder = Decoder(
            beta=0, residual=0, norm=draft.decoder.norm, scale=draft.decoder.scale, mask=draft.decoder.mask
        )
    kind, layer = draw(st.sampled_from((*_QUANTITIES, "input"))), draw(st.integers(1, 2))
    pairs = (
        (i, j - 1),
        (i - 1, j),
        (j, i),
        (i, j + 1),
        (i, i),
        (i, j),
        (2 * i - 3, j),
        (i, j + 2),
        (i, 1),
        (3, 1),
        (i / 2, j),
    )
    try:
        places = draw(st.sampled_from(pairs))
        entry = InputGram(*places, draft.inputs) if kind == "input" else kind(layer, *places)
    except InvalidInput:
        entry = Weight(layer, i, j)
    x = draw(st.integers(0, 5))
    if x == 0:
        return draft, Eq(entry, draw(st.sampled_from((0, 1, Rational(1, 2)))))
    if x == 1:
        return draft, Or(Lt(entry, draw(st.sampled_from(_REALS))), Gt(i, j))
    if x == 2:
        return draft, Implies(Gt(entry, 0), Lt(Weight(1, i, j), 1))
    if x == 3:
        guard = draw(st.sampled_from((Lt(j, i), Gt(j, 1), Gt(i, 1))))
        draft.conditions.append(guard)
        return draft, Lt(entry, draw(st.sampled_from((2, 100, -1))))
    return draft, _bound(draw, draft, entry)


def _symbols(draw: DrawFn, draft: Draft, reals: int = 1) -> list[Symbol]:
    """One or two integer symbols with a short range, and perhaps a real one."""
    found: list[Symbol] = []
    for symbol in (i, j)[: draw(st.integers(0, 2))]:
        last = draw(st.integers(1, 4))
        draft.conditions.append(symbol <= last)
        draft.likely[symbol] = _ints(1, last + 1)
        found.append(symbol)
    if reals and (not found or draw(st.booleans())):
        symbol = draw(st.sampled_from((alpha, beta, m)))
        _interval(draw, draft, symbol, nonnegative=symbol is not alpha)
        found.append(symbol)
    return found


def _relation(draw: DrawFn, draft: Draft, symbols: Sequence[Symbol], size: int = 2) -> Any:
    expression = _formula(draw, symbols, size)
    if draw(st.integers(1, 3)) > 1:
        return _bound(draw, draft, expression)
    other = _formula(draw, symbols, 1)
    return draw(st.sampled_from((Lt, Le, Gt, Ge, Eq, Ne)))(expression, other)


def _arithmetic(draw: DrawFn) -> tuple[Draft, Any]:
    draft = Draft()
    symbols = _symbols(draw, draft)
    return draft, _relation(draw, draft, symbols, 3)


def _connected(draw: DrawFn) -> tuple[Draft, Any]:
    """Connectives over relations that may lack a value."""
    draft = Draft()
    symbols = _symbols(draw, draft)
    parts = [_relation(draw, draft, symbols) for _ in range(draw(st.integers(2, 3)))]
    guard = _guard(draw, symbols)
    shape = draw(st.integers(0, 7))
    shapes: tuple[Callable[[], Any], ...] = (
        lambda: Or(*parts), lambda: And(*parts), lambda: Implies(parts[0], parts[1]), lambda: Or(guard, *parts),
        lambda: Implies(guard, parts[0]), lambda: Not(And(*parts)), lambda: And(Or(guard, parts[0]), parts[1]),
        lambda: Or(And(guard, parts[0]), Not(guard)),
    )  # fmt: skip
    return draft, shapes[shape]()


def _guard(draw: DrawFn, symbols: Sequence[Symbol]) -> Any:
    """A simple relation, or one that has no value at a likely point."""
    x = draw(st.sampled_from(list(symbols)))
    c = draw(st.sampled_from((1, 2, 3) if x.is_integer else _REALS))
    choices: tuple[Callable[[], Any], ...] = (
        lambda: Lt(x, c), lambda: Ge(x, c), lambda: Ne(x, c), lambda: Lt(1 / (x - c), 1), lambda: Gt(1 / (c - x), -2),
        lambda: Lt(sympy.sqrt(x - c), 1), lambda: Lt(sympy.log(x - c), 1), lambda: Gt(x**3 - 2 * x, c),
    )  # fmt: skip
    return draw(st.sampled_from(choices))()


def _awkward(draw: DrawFn) -> tuple[Draft, Any]:
    """Domains with Or, with parts that lack a value, and with borders on singularities."""
    draft = Draft()
    symbols = _symbols(draw, draft)
    parts = [_guard(draw, symbols) for _ in range(2)]
    shape = draw(st.integers(0, 4))
    shapes: tuple[Callable[[], Any], ...] = (
        lambda: Or(*parts), lambda: And(*parts), lambda: Not(parts[0]), lambda: Implies(parts[0], parts[1]),
        lambda: parts[0],
    )  # fmt: skip
    draft.conditions.append(shapes[shape]())
    x = draw(st.sampled_from(symbols))
    plain = draw(st.sampled_from((Ne(x, draw(st.sampled_from((1, 2, 3)))), Lt(x, 4), Gt(x, 0))))
    return draft, plain if draw(st.booleans()) else _relation(draw, draft, symbols)


def _series(draw: DrawFn) -> tuple[Draft, Any]:
    """Sums and products with known values, over ranges that may start below one or run backwards."""
    draft = Draft()
    last = draw(st.integers(1, 5))
    draft.conditions.append(i <= last)
    draft.likely[i] = _ints(1, last)
    index = draw(st.sampled_from((k, _FREE, _FREE, _NATURAL, _PLACE)))
    low = draw(st.sampled_from((1, 1, 1, 0, -i, i, 2, 4)))
    high = draw(st.sampled_from((i, i, i, i + 1, 3)))
    bodies: tuple[Callable[[], tuple[Any, Any]], ...] = (
        lambda: (index, i * (i + 1) / 2), lambda: (1, high - low + 1),
        lambda: (index**2, i * (i + 1) * (2 * i + 1) / 6),
        lambda: (sympy.Abs(index), i * (i + 1)), lambda: (1 / (index * (index + 1)), i / (i + 1)),
        lambda: (sympy.KroneckerDelta(index, 0), 1), lambda: (sympy.Piecewise((1, index > 0), (2, True)), i + 2),
        lambda: (2**index, 2 ** (i + 1) - 2), lambda: (sympy.exp(beta * index), i + 0 * beta),
        lambda: (sympy.Max(index, 1), i * (i + 1) / 2),
    )  # fmt: skip
    body, known = draw(st.sampled_from(bodies))()
    if sympy.sympify(body).has(beta):
        _interval(draw, draft, beta, nonnegative=True)
    total = (sympy.Product if draw(st.integers(1, 6)) == 1 else sympy.Sum)(body, (index, low, high))
    shape = draw(st.integers(0, 4))
    if shape <= 1:
        return draft, Eq(total, known)
    if shape == 2:
        return draft, draw(st.sampled_from((Le, Lt, Ge)))(total, known + draw(st.sampled_from((0, Rational(1, 100)))))
    return draft, _bound(draw, draft, total)


def _derived(draw: DrawFn) -> tuple[Draft, Any]:
    """Derivatives: of smooth terms, of sums, and of what has none."""
    draft = Draft()
    x = draw(st.sampled_from((alpha, beta, m)))
    _interval(draw, draft, x, nonnegative=x is not alpha)
    if draw(st.booleans()):
        last = draw(st.integers(1, 4))
        draft.conditions.append(i <= last)
        draft.likely[i] = _ints(1, last)
    power = i if i in draft.likely else draw(st.integers(1, 4))
    c = draw(st.sampled_from(_REALS))
    bodies: tuple[Callable[[], Any], ...] = (
        lambda: x**2 + c * x, lambda: sympy.exp(c * x), lambda: 1 / (1 + x**2), lambda: sympy.log(1 + x**2),
        lambda: sympy.Sum(x**k, (k, 1, power)), lambda: sympy.Sum(sympy.exp(x * k), (k, 1, power)),
        lambda: sympy.Product(1 + x * k, (k, 1, power)), lambda: sympy.Abs(x), lambda: sympy.Max(x, c),
        lambda: sympy.Piecewise((x, x < c), (c, True)), lambda: sympy.Piecewise((x, Ne(x, c)), (c, True)),
        lambda: sympy.log(sympy.Sum(sympy.exp(x * k), (k, 1, power))), lambda: x**power * c, lambda: 1 / (x - c),
        lambda: sympy.sqrt(1 + x**2), lambda: sympy.Min(x**2, 1),
    )  # fmt: skip
    body = draw(st.sampled_from(bodies))()
    slope = sympy.Derivative(body, x, evaluate=False)
    if draw(st.integers(1, 4)) == 1:
        return draft, draw(st.sampled_from((Eq, Le)))(slope, draw(st.sampled_from((0, 1, c))))
    return draft, _bound(draw, draft, slope)


def _derived_quantity(draw: DrawFn) -> tuple[Draft, Any]:
    draft = Draft()
    draft.conditions += [i <= 3, j < i, alpha >= 0, alpha <= Rational(1, 4)]
    draft.likely = {i: _ints(1, 3), j: _ints(1, 3), alpha: tuple(map(Fraction, ("0", "1/4", "1/8")))}
    draft.inputs = Equicorrelated(alpha)
    draft.decoder = Decoder(residual=draw(st.sampled_from(_SMALL)), scale=draw(st.sampled_from((1, 2))))
    body = draw(st.sampled_from((Score, Weight, Gram)))(draw(st.integers(1, 2)), i, j)
    return draft, _bound(draw, draft, sympy.Derivative(body, alpha, evaluate=False))


def _width(draw: DrawFn) -> tuple[Draft, Any]:
    """The width d, in models that depend on it without a visible symbol."""
    draft = Draft(
        decoder=Decoder(
            norm=draw(st.sampled_from(("layernorm", "l2"))), scale=draw(st.sampled_from(("sqrt(d)", "d", 1)))
        )
    )
    a = draw(st.sampled_from(_ALPHAS[1:5]))
    draft.inputs = Equicorrelated(a)
    low = draw(st.sampled_from((4, 8)))
    if draw(st.integers(1, 4)) > 1:
        draft.conditions += [d >= low, d <= low + draw(st.integers(0, 4))]
    draft.likely[d] = _ints(low, low + 4) if draft.conditions else _ints(2, 9)
    draft.conditions.append(Eq(i, 2) if not draft.conditions else i <= 2)
    draft.likely[i] = _ints(1, 2)
    entry = draw(st.sampled_from((Score, Weight, Gram)))(1, i, 1)
    shapes = (
        lambda: _bound(draw, draft, entry), lambda: Eq(entry, sympy.sqrt(d) * a), lambda: Le(entry, 3 * a),
        lambda: _bound(draw, draft, entry / sympy.sqrt(d)), lambda: _bound(draw, draft, entry / d),
        lambda: Lt(sympy.Derivative(d * entry, d, evaluate=False), 2 * entry),
    )  # fmt: skip
    return draft, draw(st.sampled_from(shapes))()


def _captured(draw: DrawFn) -> tuple[Draft, Any]:
    """A parameter of the model with the letter of a summation index."""
    draft = Draft(decoder=Decoder(beta=k / draw(st.sampled_from((1, 2))), residual=draw(st.sampled_from(_SMALL))))
    draft.inputs = Equicorrelated(draw(st.sampled_from(_ALPHAS)))
    draft.conditions += [k <= 3]
    draft.likely[k] = _ints(1, 3)
    size = draw(st.integers(2, 3))
    total = sympy.Sum(draw(st.sampled_from((Weight, Mix, Score)))(draw(st.integers(1, 2)), size, k), (k, 1, size))
    if draw(st.booleans()):
        return draft, draw(st.sampled_from((Gt, Lt)))(total, draw(st.sampled_from((Rational(11, 10), Rational(9, 10)))))
    return draft, _bound(draw, draft, total)


def _decimals(draw: DrawFn) -> tuple[Draft, Any]:
    """Floats of 15 to 17 digits next to a value: they stand for the decimal that they print as."""
    draft = Draft(inputs=Equicorrelated(draw(st.sampled_from(_ALPHAS[:4]))))
    draft.decoder = Decoder(residual=draw(st.sampled_from(_SMALL)), scale=draw(st.sampled_from((1, 2))))
    entry = draw(st.sampled_from((Score, Weight, Gram)))(draw(st.integers(1, 2)), 3, draw(st.integers(1, 2)))
    values = draft.values(entry)
    near = float(values[0]) if values else 0.1
    near = near + draw(st.sampled_from((0, 1, -1, 2, -2))) * 2.0**-53 * abs(near)
    return draft, draw(st.sampled_from((Lt, Gt, Le, Ge)))(entry, near)


def _limits(draw: DrawFn) -> tuple[Draft, Any]:
    draft = Draft(inputs=Equicorrelated(draw(st.sampled_from(_ALPHAS[1:4]))))
    draft.decoder = Decoder(residual=draw(st.sampled_from(_SMALL)))
    bodies = (Weight(1, i, j), Gram(1, i, j), Gram(1, i, i), i / (i + 1), (2 * i**2 + j) / (i**2 + 1), Score(2, i, j))
    limit = sympy.Limit(draw(st.sampled_from(bodies)), i, sympy.oo)
    if limit.has(j):
        draft.conditions.append(j <= 2)
        draft.likely[j] = _ints(1, 2)
    a, s = draft.inputs.alpha, 1 + draft.decoder.residual
    known = draw(st.sampled_from((0, 1, 2, a * s**2, s**2 * a + Rational(1, 100))))
    return draft, draw(st.sampled_from((Eq, Lt, Gt)))(limit, known)


def _proofs(draw: DrawFn) -> tuple[Draft, Any]:
    """A derivation of one step or three by a rule of the kernel: near the edge of what the rule may show."""
    draft = Draft()
    _places(draw, draft, 4)
    if draw(st.booleans()):
        draft.conditions = [j < i]
    if draw(st.integers(1, 4)) > 1:
        _correlation(draw, draft, far=True)
    else:
        draft.inputs = Equicorrelated(alpha)
        draft.likely[alpha] = tuple(map(Fraction, ("0", "1/2", "-1/3", "-4/5")))
    build = draw(st.sampled_from((_by_input_gram, _by_softmax, _by_split, _by_count, _by_field, _by_cases, _by_slope)))
    hypotheses = tuple(draft.conditions)
    steps = build(draw, draft)
    draft.proof = Derivation("drawn", "drawn", (*hypotheses, *draft.conditions[len(hypotheses) :]), steps)
    return draft, steps[-1].statement


_NEAR = (i, j, i - 1, i + 1, j - 1, j + 1, i - j, 1, 2, i - 5, i + j, 2 * i)


def _by_input_gram(draw: DrawFn, draft: Draft) -> tuple[Step, ...]:
    a, b = draw(st.sampled_from(_NEAR)), draw(st.sampled_from(_NEAR))
    entry = InputGram(a, b, draft.inputs)
    return (Step("1", Eq(entry, 1 if a == b else draft.inputs.alpha, evaluate=False), "input_gram"),)


def _by_softmax(draw: DrawFn, draft: Draft) -> tuple[Step, ...]:
    b = draw(st.sampled_from(_SMALL))
    decoder = Decoder(
        beta=b,
        residual=draw(st.sampled_from(_SMALL)),
        norm=draw(st.sampled_from(("l2", "none"))),
        scale=draw(st.sampled_from((1, 2))),
        mask=draw(st.sampled_from(_CAUSAL_MASKS)),
    )
    layer, query, key = draw(st.integers(1, 2)), draw(st.sampled_from((i, i + 1))), draw(st.sampled_from(_NEAR[:10]))
    model = {"decoder": decoder, "inputs": draft.inputs}
    total = sympy.Sum(sympy.exp(b * Score(layer, query, k, **model)), (k, 1, query))
    value = sympy.exp(b * Score(layer, query, key, **model)) / total
    return (Step("1", Eq(Weight(layer, query, key, **model), value, evaluate=False), "softmax"),)


def _by_split(draw: DrawFn, draft: Draft) -> tuple[Step, ...]:
    low, high = draw(st.sampled_from((1, 2, j, i))), draw(st.sampled_from((i, j, i - 1, i + 1, j - 1)))
    body = draw(st.sampled_from((k, k**2, 1 / (k - 1), 1 / (k + 1), InputGram(i, k, draft.inputs))))
    last = body.subs(k, high)
    parts = sympy.Sum(body, (k, low, high - 1)) + last
    return (Step("1", Eq(sympy.Sum(body, (k, low, high)), parts, evaluate=False), "split_last"),)


def _by_count(draw: DrawFn, draft: Draft) -> tuple[Step, ...]:
    low, high = draw(st.sampled_from((1, 2, j, i, i + 1))), draw(st.sampled_from((i, j, i - 1, i + 1, j - 1, i - 2)))
    c = draw(st.sampled_from((1, 2, i, 1 / (i - 2), sympy.exp(j))))
    return (Step("1", Eq(sympy.Sum(c, (k, low, high)), (high - low + 1) * c, evaluate=False), "constant_sum"),)


def _with_hole(draw: DrawFn, draft: Draft) -> tuple[Symbol, Any, Any]:
    """A variable x, x + c, and the same with no value at x = c."""
    x, c = draw(st.sampled_from((alpha, beta, m))), draw(st.sampled_from((Rational(7, 13), Rational(1, 2), 1, 2)))
    draft.likely[x] = tuple(map(Fraction, ("0", "1", "1/2", "2", "7/13", "-1/3", "-7/13")))[: 7 if x is alpha else 5]
    return x, x + c, (x**2 - c**2) / (x - c)


def _by_field(draw: DrawFn, draft: Draft) -> tuple[Step, ...]:
    x, plain, holed = _with_hole(draw, draft)
    if draw(st.booleans()):
        draft.conditions.append(draw(st.sampled_from((x > 2, x >= 2, x < Rational(1, 2), Ne(x, 2), x > 0))))
    if draw(st.booleans()):
        return (Step("1", Eq(holed, plain, evaluate=False), "identity"),)
    draft.conditions.append(plain > 0)
    return (Step("1", Gt(holed, 0, evaluate=False), "sign"),)


def _by_cases(draw: DrawFn, draft: Draft) -> tuple[Step, ...]:
    """Of a case that is assumed and one that is excluded."""
    _, plain, holed = _with_hole(draw, draft)
    draft.conditions.append(plain > 0)
    goal = draw(st.sampled_from((Gt, Ge)))(holed, 0, evaluate=False)
    return (
        Step("1", goal, "hypothesis", given=(goal,)),
        Step("2", goal, "hypothesis", given=(plain <= 0,)),
        Step("3", goal, "cases", ("2", "1")),
    )


def _by_slope(draw: DrawFn, draft: Draft) -> tuple[Step, ...]:
    x = draw(st.sampled_from((m, beta)))
    draft.likely[x] = tuple(map(Fraction, ("0", "1", "1/2", "2", "1/3")))
    c = draw(st.sampled_from((1, 2, Rational(1, 2), -1)))
    body = draw(st.sampled_from((x**2, c * x, 1 / (x + 1), 1 / (x - c), sympy.sqrt(x), x**3 - x, (x + c) ** 2)))
    slope = sympy.diff(body, x)
    if draw(st.integers(1, 3)) == 1:
        slope += draw(st.sampled_from((1, Rational(1, 1000))))
    return (Step("1", Eq(sympy.Derivative(body, x, evaluate=False), slope, evaluate=False), "derivative"),)


_FAMILIES: dict[str, tuple[int, Callable[[DrawFn], tuple[Draft, Any]]]] = {  # share in a thousand
    "bounds": (190, _bounds),
    "two models": (35, _two_models),
    "closed forms": (25, _closed),
    "rows": (80, _rows),
    "symmetric": (55, _symmetric),
    "edges": (120, _edges),
    "arithmetic": (110, _arithmetic),
    "connectives": (120, _connected),
    "awkward domains": (90, _awkward),
    "series": (60, _series),
    "derivatives": (50, _derived),
    "derivatives of quantities": (7, _derived_quantity),
    "hidden width": (35, _width),
    "capture": (15, _captured),
    "decimals": (25, _decimals),
    "proofs": (70, _proofs),
    "limits": (2, _limits),
}


@st.composite
def claims(draw: DrawFn, family: str) -> Drawn:
    """Claims of one family; what SymPy has decided while it was built is drawn again."""
    found = _of_family(draw, family)
    assume(found is not None)
    assert found is not None
    return found


def _of_family(draw: DrawFn, family: str) -> Drawn | None:
    try:
        draft, statement = _FAMILIES[family][1](draw)
        claim = draft.claim(statement)
        symbols = claim.free_symbols
    except (ValueError, TypeError) as refusal:  # InvalidInput is a ValueError
        if not isinstance(refusal, InvalidInput) and not _NOT_REAL.search(str(refusal)):
            raise
        return None  # SymPy or the model refuses it: a complex number, a parameter out of range
    domain = sympy.sympify(claim.domain)
    if statement in (sympy.true, sympy.false) or domain is sympy.false or _strange(statement) or _strange(domain):
        return None
    return Drawn(claim, family, draft.likely) if set(symbols) <= set(draft.likely) else None


def _strange(statement: Basic) -> bool:
    """Whether SymPy has put something complex or infinite into it."""
    return statement.has(sympy.I, sympy.zoo, sympy.nan, -sympy.oo, sympy.re, sympy.im, sympy.arg)


def draw(count: int, seed: int, *families: str) -> list[Drawn]:
    """About ``count`` different claims of all families in their shares (or of those named), the same for a seed.

    Where a share is a fraction of a claim, the seed decides: families take turns.
    """
    names = families or tuple(_FAMILIES)
    total = sum(_FAMILIES[name][0] for name in names)
    ends = [
        (seed * count * _FAMILIES[name][0] // total, (seed + 1) * count * _FAMILIES[name][0] // total) for name in names
    ]
    return [
        one for name, (first, last) in zip(names, ends, strict=True) for one in _different(name, last - first, seed)
    ]


def _different(family: str, count: int, seed: int) -> list[Drawn]:
    found: dict[Any, Drawn] = {}
    for batch in range(100):
        if len(found) >= count:
            return list(found.values())[:count]
        _batch(found, family, 1_000 * seed + batch, count - len(found))
    raise ValueError(f"no {count} different claims of the family {family}")


def _batch(found: dict[Any, Drawn], family: str, number: int, missing: int) -> None:
    # Small batches: within one, Hypothesis likes to vary what it has drawn already.
    @with_seed(number)
    @settings(
        max_examples=max(3, min(40, missing)), database=None, deadline=None, phases=[Phase.generate],
        suppress_health_check=[*HealthCheck],  # type: ignore[list-item]
    )  # fmt: skip
    @given(claims(family))
    def collect(drawn: Drawn) -> None:
        claim = drawn.claim
        found.setdefault((claim.statement, claim.domain, repr(claim.decoder), repr(claim.inputs)), drawn)

    collect()


FAMILIES = tuple(_FAMILIES)
