"""The layer map over a box of parameters: Taylor polynomials with an enclosed remainder.

Over a box a parameter is p0 + delta tau with |tau| <= 1. Every number of the layer map is then a function of one
tau or two, and is kept as a ``Jet``: a polynomial in tau up to some total degree, whose coefficients are balls,
and a bound on the rest that holds for every |tau| <= 1. Two neighbouring scores share almost all of their
dependence on the parameters, and the polynomials cancel where intervals cannot.

One idea gives all remainders. Let |P| be the sum of the absolute values of the coefficients of P. It bounds P for
|tau| <= 1, and |P Q| <= |P| |Q|. So, if phi has a majorant Phi (a power series with coefficients that are no
smaller in absolute value), everything that is left out of phi(P_1 + P_2 + ... + rest) is at most

    Phi(|P_1| + |P_2| + ... + rest)  -  the part of Phi(|P_1| x + |P_2| x^2 + ...) up to x^order, at x = 1.

Shares no code with ``numerics.balls`` beyond the reading of constants.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import comb

import flint
from flint import arb, arb_mat, arb_series

from numerics.balls import ball, working_precision
from numerics.parameters import constant, width
from theory.decoder import Decoder
from theory.errors import InvalidInput
from theory.values import positive_integer

PARAMETERS = ("alpha", "beta", "residual")
Index = tuple[int, int]
_ZERO = arb(0)


@contextmanager
def arithmetic(bits: int, length: int) -> Iterator[None]:
    """Work at ``bits`` bits with power series of ``length`` terms: both are global in python-flint."""
    before = flint.ctx.cap
    with working_precision(bits):
        flint.ctx.cap = length
        try:
            yield
        finally:
            flint.ctx.cap = before


# Boxes of parameters


@dataclass(frozen=True, init=False)
class Interval:
    """All numbers from ``low`` to ``high``, both rational; a single number if they agree.

    >>> Interval("0.1", 1)
    Interval(low=Fraction(1, 10), high=Fraction(1, 1))

    Raises:
        InvalidInput: low > high.
    """

    low: Fraction
    high: Fraction

    def __init__(self, low: Fraction | int | str, high: Fraction | int | str) -> None:
        object.__setattr__(self, "low", Fraction(low))
        object.__setattr__(self, "high", Fraction(high))
        if self.low > self.high:
            raise InvalidInput(f"interval [{self.low}, {self.high}]", "low <= high", "swap the ends")

    @property
    def centre(self) -> Fraction:
        """The midpoint."""
        return (self.low + self.high) / 2

    @property
    def radius(self) -> Fraction:
        """Half the width."""
        return (self.high - self.low) / 2

    def half(self, side: int) -> Interval:
        """The lower half (side = -1) or the upper half (side = 1)."""
        return Interval(self.low, self.centre) if side < 0 else Interval(self.centre, self.high)


Value = object
"""An ``Interval``, or an exact number."""


# Jets


@dataclass(frozen=True)
class Frame:
    """What all jets of one computation share.

    A polynomial in two variables is packed into one power series: tau_1^a tau_2^b goes to x^(m (order + 1) + b)
    with m = a + b. As b <= m, no two terms of degree up to the order meet, and all others lie beyond the length
    that is kept; so products, inverses and exponentials of the series are those of the polynomials.

    Attributes:
        order: the highest total degree that is kept.
        indices: exponents (a, b) of tau_1^a tau_2^b, by total degree.
        places: where each of them is in the packed series.
        products: for each result the pairs of factors, as positions in ``indices``.
        starts: where each total degree starts in ``indices``, and the end.
        length: of the packed series.
    """

    order: int
    indices: tuple[Index, ...]
    places: tuple[int, ...]
    products: tuple[tuple[tuple[int, int], ...], ...]
    starts: tuple[int, ...]
    length: int

    @classmethod
    def of(cls, variables: int, order: int) -> Frame:
        """The frame of ``variables`` (0, 1 or 2) variables up to total degree ``order``."""
        order = order if variables else 0
        flat = variables < 2
        indices = [(m - b, b) for m in range(order + 1) for b in range(1 if flat else m + 1)]
        at = {index: position for position, index in enumerate(indices)}
        products = tuple(
            tuple((at[c, d], at[a - c, b - d]) for c in range(a + 1) for d in range(b + 1)) for a, b in indices
        )
        stride = 1 if flat else order + 1
        return cls(
            order,
            tuple(indices),
            tuple((a + b) * stride + b for a, b in indices),
            products,
            tuple(sum(a + b < m for a, b in indices) for m in range(order + 2)),
            (order + 1) * stride,
        )


class Jet:
    """A polynomial in tau with balls as coefficients, and a bound on what it leaves out.

    Attributes:
        series: the packed polynomial.
        rest: the function and the polynomial differ by at most this wherever |tau| <= 1.
        coefficients: in the order of ``Frame.indices``.
        sizes: bounds on the sums of absolute coefficients, for each total degree.
    """

    __slots__ = ("coefficients", "rest", "series", "sizes")

    def __init__(self, frame: Frame, series: arb_series, rest: arb) -> None:
        self.series = series
        self.rest = rest
        self.coefficients = [series[place] for place in frame.places]
        sizes = [c.abs_upper() for c in self.coefficients]
        if len(sizes) > frame.order + 1:
            sizes = [sum(sizes[low:high], _ZERO) for low, high in pairwise(frame.starts)]
        self.sizes = sizes

    @property
    def spread(self) -> arb:
        """How far the function may be from the coefficient of degree 0."""
        return sum(self.sizes[1:], self.rest).upper()


def bounds(jet: Jet) -> tuple[arb, arb]:
    """Numbers that the function never falls below, and never exceeds."""
    spread = jet.spread
    return (jet.coefficients[0] - spread).lower(), (jet.coefficients[0] + spread).upper()


def _packed(frame: Frame, coefficients: Sequence[arb]) -> arb_series:
    entries = [_ZERO] * frame.length
    for place, coefficient in zip(frame.places, coefficients, strict=True):
        entries[place] = coefficient
    return arb_series(entries, frame.length)


def _constant(frame: Frame, value: arb) -> Jet:
    return Jet(frame, arb_series([value], frame.length), _ZERO)


def _add(frame: Frame, jets: Sequence[Jet]) -> Jet:
    series = jets[0].series
    for jet in jets[1:]:
        series = series + jet.series
    return Jet(frame, series, sum((jet.rest for jet in jets), _ZERO).upper())


def _subtract(frame: Frame, a: Jet, b: Jet) -> Jet:
    return Jet(frame, a.series - b.series, (a.rest + b.rest).upper())


def _times(frame: Frame, a: Jet, b: Jet) -> Jet:
    # What is left out: products of degrees that add up to more than the order, and whatever involves a rest.
    tail, left_out = b.rest, _ZERO
    for size, other in zip(a.sizes, reversed(b.sizes), strict=True):
        left_out += size * tail
        tail += other
    left_out += a.rest * tail
    return Jet(frame, a.series * b.series, left_out.upper())


def _scaled(frame: Frame, jet: Jet, factor: arb) -> Jet:
    return Jet(frame, jet.series * factor, (jet.rest * factor).abs_upper())


def _exponential(frame: Frame, a: Jet) -> Jet:
    majorant = arb_series([_ZERO, *a.sizes[1:]], frame.order + 1).exp()
    rest = sum(a.sizes[1:], a.rest).exp() - _partial_sum(frame, majorant)
    return Jet(frame, a.series.exp(), (a.coefficients[0].exp() * rest).abs_upper())


def _inverse(frame: Frame, a: Jet, root: bool = False) -> Jet:
    """1/a or, with ``root``, a^(-1/2) of a positive function; infinite if it may vanish."""
    lead = a.coefficients[0].lower()
    gap = 1 - (sum(a.sizes[1:], a.rest) / lead).upper() if lead > 0 else _ZERO
    if not gap > 0:
        return Jet(frame, arb_series([arb(1)], frame.length), arb("inf"))
    # (1 - u)^e with e = -1 or -1/2 has non-negative coefficients: it is its own majorant.
    relative = arb_series([arb(1), *(-size / lead for size in a.sizes[1:])], frame.order + 1)
    if root:
        rest = lead.rsqrt() * (gap.rsqrt() - _partial_sum(frame, relative.rsqrt()))
        return Jet(frame, a.series.rsqrt(), rest.abs_upper())
    rest = (1 / gap - _partial_sum(frame, relative.inv())) / lead
    return Jet(frame, a.series.inv(), rest.abs_upper())


def _partial_sum(frame: Frame, series: arb_series) -> arb:
    return sum((series[k] for k in range(frame.order + 1)), _ZERO)


def halve(frame: Frame, jet: Jet, axis: int, side: int) -> Jet:
    """The same function on one half of the box: tau = (side + sigma) / 2 along ``axis``.

    Args:
        frame: the frame of the jet.
        jet: the function on the whole box.
        axis: 0 or 1.
        side: -1 for the lower half, 1 for the upper.
    """
    at = {index: position for position, index in enumerate(frame.indices)}
    coefficients = [_ZERO] * len(frame.indices)
    for index, coefficient in zip(frame.indices, jet.coefficients, strict=True):
        power = index[axis]
        scaled = coefficient * arb(2) ** -power
        for kept in range(power + 1):
            target = at[(kept, index[1]) if axis == 0 else (index[0], kept)]
            coefficients[target] += scaled * (comb(power, kept) * side ** (power - kept))
    return Jet(frame, _packed(frame, coefficients), jet.rest)


# Matrices of jets


@dataclass(frozen=True)
class _Matrix:
    """A square matrix of jets: one matrix a coefficient (None where it vanishes), and the rests."""

    coefficients: list[arb_mat | None]
    rest: arb_mat

    @classmethod
    def of(cls, frame: Frame, rows: Sequence[Sequence[Jet | None]]) -> _Matrix:
        """From rows of jets, in which None is zero."""
        n = len(rows)
        coefficients: list[arb_mat | None] = []
        for position in range(len(frame.indices)):
            entries = [_ZERO if jet is None else jet.coefficients[position] for row in rows for jet in row]
            filled = any(not entry.is_zero() for entry in entries)
            coefficients.append(arb_mat(n, n, entries) if filled else None)
        rests = [_ZERO if jet is None else jet.rest for row in rows for jet in row]
        return cls(coefficients, arb_mat(n, n, rests))

    def jet(self, frame: Frame, i: int, j: int) -> Jet:
        coefficients = [_ZERO if part is None else part[i, j] for part in self.coefficients]
        return Jet(frame, _packed(frame, coefficients), self.rest[i, j])

    def transpose(self) -> _Matrix:
        parts = [None if part is None else part.transpose() for part in self.coefficients]
        return _Matrix(parts, self.rest.transpose())

    def sizes(self, frame: Frame) -> list[arb_mat]:
        """Bounds on the sums of absolute coefficients, for each total degree."""
        n = self.rest.nrows()
        result = []
        for low, high in pairwise(frame.starts):
            total = arb_mat(n, n)
            for part in self.coefficients[low:high]:
                if part is not None:
                    total = total + arb_mat(n, n, [entry.abs_upper() for entry in part.entries()])
            result.append(total)
        return result


def _product(frame: Frame, a: _Matrix, b: _Matrix) -> _Matrix:
    n = a.rest.nrows()
    coefficients: list[arb_mat | None] = []
    for pairs in frame.products:
        total: arb_mat | None = None
        for p, q in pairs:
            left, right = a.coefficients[p], b.coefficients[q]
            if left is not None and right is not None:
                term = left * right
                total = term if total is None else total + term
        coefficients.append(total)
    tail, left_out = b.rest, arb_mat(n, n)
    for size, other in zip(a.sizes(frame), reversed(b.sizes(frame)), strict=True):
        left_out = left_out + size * tail
        tail = tail + other
    left_out = left_out + a.rest * tail
    return _Matrix(coefficients, arb_mat(n, n, [entry.abs_upper() for entry in left_out.entries()]))


# The layer map


@dataclass(frozen=True)
class Expansion:
    """Scores of a stack of layers over a box of parameters.

    Attributes:
        box: the parameters that vary, by name, in the order of the variables tau.
        frame: the polynomials' frame.
        n: number of tokens.
        scores: for each layer, rows of jets; None where the mask hides the key. Positions count from 0 here.
    """

    box: Mapping[str, Interval]
    frame: Frame
    n: int
    precision: int
    scores: tuple[tuple[tuple[Jet | None, ...], ...], ...]

    def score(self, layer: int, i: int, j: int) -> Jet:
        """S^(layer)_ij, all counted from 1.

        Raises:
            InvalidInput: there is no such layer or position, or the mask hides key j from query i.
        """
        inside = 1 <= layer <= len(self.scores) and 1 <= i <= self.n and 1 <= j <= self.n
        jet = self.scores[layer - 1][i - 1][j - 1] if inside else None
        if jet is None:
            raise InvalidInput(
                f"(layer, i, j) = ({layer}, {i}, {j})",
                f"'a visible key of n = {self.n} tokens and {len(self.scores)} layers'",
                "ask for another score",
            )
        return jet

    def step(self, layer: int, i: int, j: int) -> Jet:
        """S^(layer)_i,j+1 - S^(layer)_ij; errors as for ``score``."""
        with arithmetic(self.precision, self.frame.length):
            return _subtract(self.frame, self.score(layer, i, j + 1), self.score(layer, i, j))


def expand(
    decoder: Decoder,
    alpha: Value,
    n: int,
    layers: int,
    *,
    beta: Value | None = None,
    residual: Value | None = None,
    order: int = 5,
    precision: int = 64,
    dim: int | None = None,
) -> Expansion:
    """Expand all scores over a box: unit vectors with all pairwise cosines ``alpha``.

    At most two of alpha, beta and residual may be an ``Interval``; the others are exact numbers.

    Args:
        decoder: the layer, without RoPE.
        alpha: the cosine, in [0, 1] (at 1 all tokens coincide, which is allowed here as a limit).
        n: the length of the sequence.
        layers: how many layers.
        beta: replaces the decoder's beta, >= 0.
        residual: replaces the decoder's residual, >= 0.
        order: highest total degree of the polynomials.
        precision: of the balls, in bits.
        dim: the width, where the decoder depends on it.

    Raises:
        InvalidInput: a value is out of range or symbolic, three intervals, or the decoder has a RoPE.

    >>> from theory.decoder import Decoder
    >>> expansion = expand(Decoder(), Interval(Fraction(19, 100), Fraction(21, 100)), n=3, layers=3)
    >>> low, high = bounds(expansion.step(3, 3, 1))
    >>> bool(low > 0)
    True
    """
    n, layers = positive_integer(n, "n"), positive_integer(layers, "layers")
    order, bits = positive_integer(order, "order"), positive_integer(precision, "precision")
    if decoder.position is not None:
        raise InvalidInput(f"position = {decoder.position}", "'no RoPE'", "use position=None")
    given = {
        "alpha": alpha,
        "beta": decoder.beta if beta is None else beta,
        "residual": decoder.residual if residual is None else residual,
    }
    values = {name: _checked(name, value) for name, value in given.items()}
    box = {name: value for name, value in values.items() if isinstance(value, Interval) and value.radius > 0}
    if len(box) > 2:
        raise InvalidInput("three intervals", "'at most two parameters vary'", "fix one of them")
    d = width(decoder, dim)
    frame = Frame.of(len(box), order)
    with arithmetic(bits, frame.length):
        jets = {name: _parameter(frame, box, name, value) for name, value in values.items()}
        model = _Model(
            frame=frame,
            normalised=decoder.norm != "none",
            square=arb(d) if decoder.norm == "layernorm" and d is not None else arb(1),
            scale=ball(decoder.scale_at(d), "scale"),
            spans=tuple(decoder.mask.visible(i, n) for i in range(1, n + 1)),
            beta=jets["beta"],
            residual=jets["residual"],
        )
        one = _constant(frame, arb(1))
        rows = [[one if i == j else jets["alpha"] for j in range(n)] for i in range(n)]
        gram = _Matrix.of(frame, rows)
        stack = []
        for layer in range(layers):
            factors, scores = _scores(model, gram)
            stack.append(tuple(tuple(row) for row in scores))
            if layer < layers - 1:
                gram = _next(model, gram, factors, scores)
    return Expansion(box, frame, n, bits, tuple(stack))


def _checked(name: str, value: Value) -> Value:
    """An interval or an exact number that the layer map allows."""
    ends = (value.low, value.high) if isinstance(value, Interval) else (constant(value, name),) * 2
    if not bool(ends[0] >= 0):
        raise InvalidInput(f"{name} = {ends[0]}", f"{name} >= 0", "raise it; expansions start at 0")
    if name == "alpha" and not bool(ends[1] <= 1):
        raise InvalidInput(f"alpha = {ends[1]}", "alpha <= 1", "cosines are at most 1")
    return value


def _parameter(frame: Frame, box: Mapping[str, Interval], name: str, value: Value) -> Jet:
    if not isinstance(value, Interval):
        return _constant(frame, ball(value, name))
    centre = ball(value.centre)
    if name not in box:
        return _constant(frame, centre)
    coefficients = [centre] + [_ZERO] * (len(frame.indices) - 1)
    axis = list(box).index(name)
    coefficients[frame.indices.index((1, 0) if axis == 0 else (0, 1))] = ball(value.radius)
    return Jet(frame, _packed(frame, coefficients), _ZERO)


@dataclass(frozen=True)
class _Model:
    """A decoder over the box: ``square`` is the squared norm of a normalised vector."""

    frame: Frame
    normalised: bool
    square: arb
    scale: arb
    spans: tuple[tuple[int, int], ...]
    beta: Jet
    residual: Jet


_Rows = list[list[Jet | None]]


def _scores(model: _Model, gram: _Matrix) -> tuple[list[Jet], _Rows]:
    """The factors that normalise the vectors, and the scores of the visible keys."""
    frame, n = model.frame, len(model.spans)
    length = _constant(frame, model.square.sqrt())
    one = _constant(frame, arb(1))
    if model.normalised:
        roots = [_inverse(frame, gram.jet(frame, i, i), root=True) for i in range(n)]
        factors = [_times(frame, root, length) for root in roots]
    else:
        factors = [one] * n
    per_scale = _constant(frame, 1 / model.scale)
    own = _constant(frame, model.square / model.scale)
    rows: _Rows = []
    for i, (first, last) in enumerate(model.spans):
        row: list[Jet | None] = [None] * n
        here = _times(frame, factors[i], per_scale)
        for j in range(first - 1, last):
            if i == j and model.normalised:  # known without rounding, if the norm is not zero
                row[j] = own if here.rest.is_finite() else here
            else:
                row[j] = _times(frame, _times(frame, gram.jet(frame, i, j), factors[j]), here)
        rows.append(row)
    return factors, rows


def _next(model: _Model, gram: _Matrix, factors: Sequence[Jet], scores: _Rows) -> _Matrix:
    """The Gram matrix after the layer, M K M^T with M = A diag(s) + residual I."""
    frame, n = model.frame, len(model.spans)
    temperature = model.beta.coefficients[0]
    fixed = all(size.is_zero() for size in model.beta.sizes[1:])
    rows: _Rows = []
    for i, scored in enumerate(scores):
        seen = {}
        for j, jet in enumerate(scored):
            if jet is None:
                continue
            logit = _scaled(frame, jet, temperature) if fixed else _times(frame, jet, model.beta)
            seen[j] = _exponential(frame, logit)
        inverse = _inverse(frame, _add(frame, list(seen.values())))
        row: list[Jet | None] = [None] * n
        for j, power in seen.items():
            row[j] = _times(frame, power, _times(frame, inverse, factors[j]))
        if i == 0 and len(seen) == 1:  # a single key has weight 1, exactly
            row = [factors[j] if j in seen else None for j in range(n)]
        own = row[i]
        row[i] = model.residual if own is None else _add(frame, [own, model.residual])
        rows.append(row)
    mix = _Matrix.of(frame, rows)
    return _product(frame, _product(frame, mix, gram), mix.transpose())
