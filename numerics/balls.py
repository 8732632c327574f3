"""The layer map in ball arithmetic: every entry is an interval that contains the exact number.

The balls are python-flint's ``arb``. Its working precision is global to the process: ``working_precision``
sets it for a block and restores it. Comparisons have three values, True (certain), False (certainly
not) and None (undecided), and go through ``less`` and its kin only: ``arb`` itself answers False both
to x < y and to x >= y where it cannot tell.

Shares no code with ``numerics.attention`` and ``numerics.gram``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import flint
import sympy
from flint import arb, arb_mat

from maskproof.numerics.parameters import constant, correlation, width
from maskproof.theory.decoder import Decoder, Position, Rope
from maskproof.theory.errors import InvalidInput
from maskproof.theory.values import positive_integer

WIDEST = 0.125
"""A ball is evidence only if its radius is at most this, relative to max(1, |midpoint|)."""

Answer = bool | None


@contextmanager
def working_precision(bits: int) -> Iterator[None]:
    """Work at ``bits`` bits inside the block; the old precision returns however the block ends.

    Raises:
        InvalidInput: bits is not a whole number from 2 up.
    """
    bits = positive_integer(bits, "precision")
    if bits < 2:
        raise InvalidInput(f"precision = {bits}", "precision >= 2 bits", "start from 64")
    before = flint.ctx.prec
    flint.ctx.prec = bits
    try:
        yield
    finally:
        flint.ctx.prec = before


def ball(value: object, name: str = "value") -> arb:
    """Enclose a real constant at the current precision; a ball is returned as it is.

    Understands integers, fractions, decimals, pi, e, sums, products, powers, exp, log, trigonometric
    and hyperbolic functions of such.

    >>> ball(sympy.sqrt(2)).contains(arb(2).sqrt())
    True

    Raises:
        InvalidInput: the value is symbolic, not real, or uses another function.
    """
    if isinstance(value, arb):
        return value
    return _enclose_constant(constant(value, name), name)


_FUNCTIONS: dict[type[sympy.Basic], Callable[[arb], arb]] = {
    sympy.exp: arb.exp,
    sympy.log: arb.log,
    sympy.Abs: abs,
    sympy.sin: arb.sin,
    sympy.cos: arb.cos,
    sympy.tan: arb.tan,
    sympy.sinh: arb.sinh,
    sympy.cosh: arb.cosh,
    sympy.tanh: arb.tanh,
    sympy.gamma: arb.gamma,
}


def _enclose_constant(number: sympy.Basic, name: str) -> arb:
    if isinstance(number, sympy.Rational):
        return arb(int(number.p)) / int(number.q)
    if number is sympy.E:
        return arb.const_e()
    if number is sympy.pi:
        return arb.pi()
    parts = [_enclose_constant(part, name) for part in number.args]
    if isinstance(number, sympy.Add):
        return sum(parts, arb(0))
    if isinstance(number, sympy.Mul):
        product = arb(1)
        for part in parts:
            product *= part
        return product
    if isinstance(number, sympy.Pow):
        return _power(parts[0], parts[1], number.exp)
    if len(parts) == 1 and type(number) in _FUNCTIONS:
        return _FUNCTIONS[type(number)](parts[0])
    raise InvalidInput(
        f"{name} = {number}",
        "'the value is built from known functions'",
        "give a number or use exp, log, sqrt",
    )


def _power(base: arb, exponent: arb, exact_exponent: sympy.Basic) -> arb:
    if exact_exponent == sympy.Rational(1, 2):
        return base.sqrt()
    if exact_exponent == sympy.Rational(-1, 2):
        return base.rsqrt()
    return base**exponent


# Three-valued comparison


def _evidence(*balls: arb, widest: float) -> bool:
    """Whether all balls are finite and narrow enough to decide anything."""
    for entry in balls:
        if not entry.is_finite():
            return False
        if not entry.rad() <= arb(widest) * arb(1).max(abs(entry.mid())):
            return False
    return True


def less(a: arb | int, b: arb | int, widest: float = WIDEST) -> Answer:
    """Whether a < b: True certain, False certainly not, None undecided.

    A ball that is not finite, or wider than ``widest`` (relative to max(1, |midpoint|)), decides nothing.

    >>> less(1, 2), less(2, 2), less(arb(1, 0.01), arb(1, 0.01))
    (True, False, None)
    """
    a, b = arb(a), arb(b)
    if not _evidence(a, b, widest=widest):
        return None
    if a < b:
        return True
    return False if a >= b else None


def at_most(a: arb | int, b: arb | int, widest: float = WIDEST) -> Answer:
    """Whether a <= b; see ``less``."""
    return negation(less(b, a, widest))


def equal(a: arb | int, b: arb | int, widest: float = WIDEST) -> Answer:
    """Whether a = b; certain only for exact numbers, certainly not for disjoint balls."""
    a, b = arb(a), arb(b)
    if not _evidence(a, b, widest=widest):
        return None
    if a.is_exact() and b.is_exact():
        return a.mid() == b.mid()
    return None if a.overlaps(b) else False


def negation(answer: Answer) -> Answer:
    """The three-valued not."""
    return None if answer is None else not answer


@dataclass(frozen=True)
class Decision:
    """The answer to a question (None: undecided at the cap) and the precision that gave it, in bits."""

    answer: Answer
    precision: int


def decide(question: Callable[[int], Answer], start: int = 64, cap: int = 4096) -> Decision:
    """Ask ``question`` at growing precision until it is decided or the cap is reached.

    Args:
        question: takes the precision in bits, which is also the current one while it runs.
        start: the first precision; it doubles each time.
        cap: the last precision.

    Raises:
        InvalidInput: the precisions are not whole numbers with 1 <= start <= cap.

    >>> decide(lambda bits: less(arb(2).sqrt() ** 2, arb(2) + arb(2) ** -100)).precision
    128
    """
    bits, cap = positive_integer(start, "start"), positive_integer(cap, "cap")
    if bits > cap:
        raise InvalidInput(f"start = {bits}", f"start <= cap = {cap}", "raise the cap")
    while True:
        with working_precision(bits):
            answer = question(bits)
        if answer is not None or bits == cap:
            return Decision(answer, bits)
        bits = min(cap, 2 * bits)


# The layer map


@dataclass(frozen=True)
class Layer:
    """One layer as balls; weights and mix are 0 and scores None where the mask hides the key."""

    scores: tuple[tuple[arb | None, ...], ...]
    weights: arb_mat
    mix: arb_mat
    gram: arb_mat


@dataclass(frozen=True)
class Enclosure:
    """Balls around scores, weights, mixing coefficients and Gram matrices of a stack of layers.

    Positions and layers count from 1. Arithmetic on the balls rounds to the precision that is current
    then, so differences belong inside ``working_precision`` too. Where a norm may be zero the balls are
    not finite, and every comparison with them is undecided.
    """

    n: int
    precision: int
    layers: tuple[Layer, ...]

    def score(self, layer: int, i: int, j: int) -> arb:
        """S^(layer)_ij.

        Raises:
            InvalidInput: the mask hides key j from query i, or there is no such position or layer.
        """
        value = self._layer(layer, i, j).scores[int(i) - 1][int(j) - 1]
        if value is None:
            raise InvalidInput(f"(i, j) = ({i}, {j})", "'the mask shows key j to query i'", "ask for another key")
        return value

    def weight(self, layer: int, i: int, j: int) -> arb:
        """A^(layer)_ij, 0 where the key is hidden; errors as for ``score``."""
        return self._layer(layer, i, j).weights[int(i) - 1, int(j) - 1]

    def mix(self, layer: int, i: int, j: int) -> arb:
        """M^(layer)_ij, the coefficient of x_j before the layer in x_i after it."""
        return self._layer(layer, i, j).mix[int(i) - 1, int(j) - 1]

    def gram(self, layer: int, i: int, j: int) -> arb:
        """G^(layer)_ij, the inner product of tokens i and j after the layer."""
        return self._layer(layer, i, j).gram[int(i) - 1, int(j) - 1]

    def _layer(self, layer: int, i: int, j: int) -> Layer:
        if not 1 <= layer <= len(self.layers):
            raise InvalidInput(f"layer = {layer}", f"1 <= layer <= {len(self.layers)}", "enclose more layers")
        if not (1 <= i <= self.n and 1 <= j <= self.n):
            raise InvalidInput(f"(i, j) = ({i}, {j})", f"1 <= i, j <= n = {self.n}", "enclose a longer sequence")
        return self.layers[int(layer) - 1]


def enclose(
    decoder: Decoder,
    alpha: object,
    n: int,
    layers: int,
    precision: int = 128,
    beta: object | None = None,
    residual: object | None = None,
    dim: int | None = None,
) -> Enclosure:
    """Enclose every layer for unit vectors with all pairwise cosines ``alpha``.

    An exact number is an int, a Fraction, a decimal or a SymPy constant. A ball (``arb``) stands for
    every number that it contains, and the result then encloses all of their results.

    Args:
        decoder: the layer, with any position encoding; see ``numerics.gram`` for what RoPE means here.
        alpha: the cosine, in [-1/(n-1), 1), exact or a ball.
        n: the length of the sequence.
        layers: how many layers.
        precision: of the balls, in bits.
        beta: replaces the decoder's beta where given; exact or a ball.
        residual: replaces the decoder's residual where given; exact or a ball.
        dim: the width; needed where the decoder depends on it (LayerNorm, scale "sqrt(d)" or "d").

    Raises:
        InvalidInput: a value is out of range (a ball: entirely) or symbolic, or RoPE's dim does not divide dim.

    >>> from maskproof.theory.decoder import Decoder, Position, Rope
    >>> print(enclose(Decoder(), 0, n=2, layers=2).score(2, 2, 1).str(18, radius=False))
    0.153520650506003146
    """
    n, layers = positive_integer(n, "n"), positive_integer(layers, "layers")
    bits = positive_integer(precision, "precision")
    with working_precision(bits):
        cosine = alpha if isinstance(alpha, arb) else ball(correlation(alpha, n), "alpha")
        _refuse(cosine >= 1, f"alpha = {alpha}", "alpha < 1", "at 1 all tokens coincide")
        _refuse(cosine * max(1, n - 1) < -1, f"alpha = {alpha}", f"alpha >= -1/{max(1, n - 1)}", "raise alpha")
        return enclose_model(model_in_balls(decoder, n, beta, residual, dim), cosine, layers)


def enclose_model(model: Model, alpha: arb, layers: int) -> Enclosure:
    """Enclose every layer of a model whose parameters are balls already, at the current precision.

    Nothing is checked: where there are no vectors with these cosines the balls mean nothing.
    """
    n = len(model.visible)
    gram = arb_mat([[arb(1) if i == j else alpha for j in range(n)] for i in range(n)])
    stack: list[Layer] = []
    for _ in range(layers):
        stack.append(one_layer(model, gram))
        gram = stack[-1].gram
    return Enclosure(n, flint.ctx.prec, tuple(stack))


def _refuse(certain: bool, what: str, violates: str, remedy: str) -> None:
    if certain:
        raise InvalidInput(what, violates, remedy)


@dataclass(frozen=True)
class Model:
    """A decoder as balls, for a number of tokens.

    Attributes:
        norm: "l2", "layernorm" or "none".
        square: the squared norm of a normalised vector.
        beta, residual, scale: as in the decoder.
        visible: the keys that each query sees, from 1.
        kappa: the factor on scores at distances 0, 1, ...; None for 1.
        bias: what is added to beta * S at a distance i - j; empty for nothing.
    """

    norm: str
    square: arb
    beta: arb
    residual: arb
    scale: arb
    visible: tuple[range, ...]
    kappa: tuple[arb, ...] | None
    bias: dict[int, arb]


def model_in_balls(
    decoder: Decoder, n: int, beta: object | None = None, residual: object | None = None, dim: int | None = None
) -> Model:
    """The decoder for ``n`` tokens at the current precision; arguments and errors as for ``enclose``."""
    d = width(decoder, dim)
    temperature = ball(decoder.beta if beta is None else beta, "beta")
    stream = ball(decoder.residual if residual is None else residual, "residual")
    _refuse(temperature < 0, f"beta = {beta}", "beta >= 0", "negate the scores instead")
    _refuse(stream < 0, f"residual = {residual}", "residual >= 0", "use 0 for none")
    visible = tuple(decoder.mask.keys(i, n) for i in range(1, n + 1))
    return Model(
        norm=decoder.norm,
        square=arb(d) if decoder.norm == "layernorm" and d is not None else arb(1),
        beta=temperature,
        residual=stream,
        scale=ball(decoder.scale_at(d), "scale"),
        visible=visible,
        kappa=_kappas(decoder.position, n),
        bias=_biases(decoder.position, visible),
    )


def rope_kernel(position: Rope, distance: int) -> arb:
    """kappa(D) = (2/dim) sum_m cos(D base^(-2m/dim)) at the current precision.

    >>> print(rope_kernel(Rope(dim=64), 10).str(10, radius=False))
    0.6578634008
    """
    return mean_cosine(ball(position.base, "base"), position.dim, distance)


def mean_cosine(base: arb, dim: int, distance: int) -> arb:
    """(2/dim) sum_m cos(distance base^(-2m/dim)), m = 0..dim/2-1, at the current precision."""
    if distance == 0:
        return arb(1)
    log_base = base.log()
    half = dim // 2
    angles = ((-log_base * m / half).exp() for m in range(half))
    return sum(((distance * angle).cos() for angle in angles), arb(0)) / half


def _kappas(position: Position | None, n: int) -> tuple[arb, ...] | None:
    if not isinstance(position, Rope):
        return None
    return tuple(rope_kernel(position, distance) for distance in range(n))


def _biases(position: Position | None, visible: tuple[range, ...]) -> dict[int, arb]:
    if position is None or isinstance(position, Rope):
        return {}
    distances = {i - j for i, keys in enumerate(visible, start=1) for j in keys}
    return {distance: ball(position.bias(distance), "bias") for distance in distances}


def one_layer(model: Model, gram: arb_mat) -> Layer:
    """One layer at the current precision, for tokens with this Gram matrix."""
    n = len(model.visible)
    normalised = model.norm != "none"
    if normalised:
        length = model.square.sqrt()
        factors = [length * gram[i, i].rsqrt() for i in range(n)]
    else:
        factors = [arb(1)] * n
    per_scale = 1 / model.scale

    scores: list[tuple[arb | None, ...]] = []
    weights = arb_mat(n, n)
    mix = arb_mat(n, n)
    for i, keys in enumerate(model.visible):
        visible = [key - 1 for key in keys]
        row: list[arb | None] = [None] * n
        here = factors[i] * per_scale
        for j in visible:
            # A normalised vector's product with itself is known without rounding: if the norm is not zero.
            own = i == j and normalised and here.is_finite()
            entry = model.square * per_scale if own else gram[i, j] * here * factors[j]
            row[j] = entry if model.kappa is None else model.kappa[abs(i - j)] * entry
        seen = [entry for j in visible if (entry := row[j]) is not None]
        bias = [model.bias.get(i - j) for j in visible] if model.bias else None
        for j, weight in zip(visible, _softmax(model.beta, seen, bias), strict=True):
            weights[i, j] = weight
            mix[i, j] = weight * factors[j]
        mix[i, i] += model.residual
        scores.append(tuple(row))
    return Layer(tuple(scores), weights, mix, mix * gram * mix.transpose())


def _softmax(beta: arb, scores: list[arb], bias: list[arb | None] | None) -> list[arb]:
    """Softmax of beta * scores + bias.

    Taking one number off all scores, or off all exponents, changes nothing but the overflow.
    """
    reference = max((entry.mid() for entry in scores), key=float, default=arb(0))
    exponents = [beta * (entry - reference) for entry in scores]
    if bias is not None:
        exponents = [entry if term is None else entry + term for entry, term in zip(exponents, bias, strict=True)]
        largest = max((entry.mid() for entry in exponents), key=float, default=arb(0))
        exponents = [entry - largest for entry in exponents]
    powers = [entry.exp() for entry in exponents]
    total = sum(powers, arb(0))
    return [power / total for power in powers]
