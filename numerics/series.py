"""The layer map over a box of parameters, in Taylor models.

Over a box a parameter is p0 + delta tau with |tau| <= 1, and every number of the layer map is a function of one tau or
two (``numerics.taylor_models``). Two neighbouring scores share almost all of their dependence on the parameters, and
the polynomials cancel where intervals cannot.

The inner products are written K = size^2 (alpha + epsilon C), epsilon = 1 - alpha, entry by entry. C is the
*closeness*: at first 1 on the diagonal and 0 off it, whatever alpha is. One layer takes C to C' as follows, for l2
normalisation with rho the norms of the vectors before it.

* A is the softmax of beta epsilon C: what is common to a row drops out.
* The new vectors are (1 + residual rho_i) times the averages P y of unit vectors, where
  P_ij = (A_ij + residual rho_i [i = j]) / (1 + residual rho_i) has rows that sum to one.
* So their inner products are, up to those factors, alpha + epsilon R with R = P C P^T; the rows of P sum to one, which
  is why R may also be taken as c + P (C - c) P^T with any number c: near the middle of C, errors of P hardly matter.
* Dividing by the norms u_i = sqrt(alpha + epsilon R_ii) gives, with z_i = (1/u_i - 1)/epsilon,
  C'_ij = R_ij/(u_i u_j) + alpha (z_i + z_j + epsilon z_i z_j),   z_i = (1 - R_ii)/(u_i (1 + u_i)).

Nothing here divides by epsilon, and nothing cancels when C is small: the map is sharp for large beta, where closeness
is of order exp(-beta), and as alpha tends to 1, where all scores tend to 1 but closeness does not. Closer keys score
higher exactly where C rises along a row, if alpha < 1.

Shares no code with ``numerics.balls`` beyond the reading of constants.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from maskproof.numerics.balls import ball, working_precision
from maskproof.numerics.parameters import constant, visibility, width
from maskproof.numerics.taylor_models import LONGEST_SUM, Frame, Models, affine, constants, number
from maskproof.theory.decoder import Decoder
from maskproof.theory.errors import InvalidInput
from maskproof.theory.values import positive_integer

PARAMETERS = ("alpha", "beta", "residual")
CONSTANT_BITS = 128
"""Precision at which constants are enclosed before they are rounded to floats."""


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


# Scores


@dataclass(frozen=True)
class Expansion:
    """Scores of a stack of layers over a box of parameters.

    Attributes:
        box: the parameters that vary, by name, in the order of the variables tau.
        frame: the polynomials' frame.
        visible: for each query the keys that it sees, from 1.
        closeness: C of each layer, shape (n, n).
        base: the score of layer l is base[l - 1] (alpha + epsilon C).
        alpha: the cosine.
        epsilon: 1 - alpha.
    """

    box: Mapping[str, Interval]
    frame: Frame
    visible: tuple[range, ...]
    closeness: tuple[Models, ...]
    base: tuple[Models, ...]
    alpha: Models
    epsilon: Models

    @property
    def n(self) -> int:
        """The number of tokens."""
        return len(self.visible)

    @np.errstate(all="ignore")
    def score(self, layer: int, i: int, j: int) -> Models:
        """S^(layer)_ij, all counted from 1.

        Raises:
            InvalidInput: there is no such layer or position, or the mask hides key j from query i.
        """
        closeness = self._at(layer, i, j)
        return self.base[layer - 1] * (self.alpha + self.epsilon * closeness)

    @np.errstate(all="ignore")
    def step(self, layer: int, i: int, j: int) -> Models:
        """S^(layer)_i,j+1 - S^(layer)_ij; errors as for ``score``."""
        rise = self._at(layer, i, j + 1) - self._at(layer, i, j)
        return self.base[layer - 1] * self.epsilon * rise

    @np.errstate(all="ignore")
    def rises(self, layer: int) -> Models:
        """C_i,j+1 - C_ij of a layer at [i - 1, j - 1], shape (n, n - 1).

        For alpha < 1 they have the signs of the steps of the scores; where the mask hides a key they mean nothing.
        """
        whole = self.closeness[layer - 1]
        return whole[:, 1:] - whole[:, :-1]

    def _at(self, layer: int, i: int, j: int) -> Models:
        inside = 1 <= layer <= len(self.closeness) and 1 <= i <= self.n
        if not (inside and j in self.visible[i - 1]):
            raise InvalidInput(
                f"(layer, i, j) = ({layer}, {i}, {j})",
                f"'a visible key of n = {self.n} tokens and {len(self.closeness)} layers'",
                "ask for another score",
            )
        return self.closeness[layer - 1][i - 1, j - 1]


@np.errstate(all="ignore")
def bounds(model: Models) -> tuple[float, float]:
    """Numbers that a single function never falls below, and never exceeds, over the box."""
    low, high = model.bounds()
    return float(low), float(high)


def expand(
    decoder: Decoder,
    alpha: Value,
    n: int,
    layers: int,
    *,
    beta: Value | None = None,
    residual: Value | None = None,
    order: int = 6,
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
        dim: the width, where the decoder depends on it.

    Raises:
        InvalidInput: a value is out of range or symbolic, three intervals, more than 2000 tokens, or the decoder has
            a position encoding.

    >>> from maskproof.theory.decoder import Decoder
    >>> expansion = expand(Decoder(), Interval(Fraction(19, 100), Fraction(21, 100)), n=3, layers=3)
    >>> low, high = bounds(expansion.step(3, 3, 1))
    >>> 0 < low < high
    True
    """
    n, layers = positive_integer(n, "n"), positive_integer(layers, "layers")
    order = positive_integer(order, "order")
    if 2 * n > LONGEST_SUM:
        raise InvalidInput(f"n = {n}", f"n <= {LONGEST_SUM // 2}", "shorten the sequence")
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
    with working_precision(CONSTANT_BITS), np.errstate(all="ignore"):
        model = _model(decoder, d, n, frame, box, values)
        states = [_first(model)]
        while len(states) < layers:
            states.append(_next(model, states[-1]))
        base = tuple(model.unit * state.size for state in states)
    closeness = tuple(state.closeness for state in states)
    return Expansion(box, frame, model.visible, closeness, base, model.alpha, model.epsilon)


def _checked(name: str, value: Value) -> Value:
    """An interval or an exact number that the layer map allows."""
    ends = (value.low, value.high) if isinstance(value, Interval) else (constant(value, name),) * 2
    if not bool(ends[0] >= 0):
        raise InvalidInput(f"{name} = {ends[0]}", f"{name} >= 0", "raise it; expansions start at 0")
    if name == "alpha" and not bool(ends[1] <= 1):
        raise InvalidInput(f"alpha = {ends[1]}", "alpha <= 1", "cosines are at most 1")
    return value


# The layer map


@dataclass(frozen=True)
class _Model:
    """A decoder over the box.

    Attributes:
        frame: of the polynomials.
        normalised: whether vectors are normalised.
        unit: the score of a vector of the first layer with itself.
        start: the norm of the inputs, against that of normalised vectors.
        alpha, epsilon, beta, residual: parameters; epsilon is 1 - alpha.
        visible: the keys of each query, from 1.
        mask: 1 where the key is visible, else 0; shape (n, n).
    """

    frame: Frame
    normalised: bool
    unit: Models
    start: Models
    alpha: Models
    epsilon: Models
    beta: Models
    residual: Models
    visible: tuple[range, ...]
    mask: NDArray[np.float64]


@dataclass(frozen=True)
class _State:
    """What enters a layer.

    Attributes:
        closeness: of the normalised vectors.
        norms: of the vectors against those of the values, shape (n,).
        size: the common factor of their inner products, 1 if they are normalised.
    """

    closeness: Models
    norms: Models
    size: Models


def _model(
    decoder: Decoder, d: int | None, n: int, frame: Frame, box: Mapping[str, Interval], values: Mapping[str, Value]
) -> _Model:
    normalised = decoder.norm != "none"
    square = ball(d) if decoder.norm == "layernorm" and d is not None else ball(1)
    visible = tuple(decoder.mask.keys(i, n) for i in range(1, n + 1))
    named = {name: _parameter(frame, box, name, value) for name, value in values.items()}
    return _Model(
        frame,
        normalised,
        number(frame, square / ball(decoder.scale_at(d), "scale")),
        number(frame, 1 / square.sqrt()),
        named["alpha"],
        _parameter(frame, box, "alpha", values["alpha"], complement=True),
        named["beta"],
        named["residual"],
        visible,
        visibility(decoder.mask, n).astype(np.float64),
    )


def _parameter(frame: Frame, box: Mapping[str, Interval], name: str, value: Value, complement: bool = False) -> Models:
    """The parameter, or 1 minus it."""
    if not isinstance(value, Interval):
        exact = ball(value, name)
        return number(frame, 1 - exact if complement else exact)
    sign = -1 if complement else 1
    slopes = {list(box).index(name): sign * value.radius} if name in box else {}
    return affine(frame, 1 - value.centre if complement else value.centre, slopes)


def _first(model: _Model) -> _State:
    n = len(model.mask)
    one = number(model.frame, 1)
    start = model.start if model.normalised else one
    return _State(constants(model.frame, np.eye(n)), start * constants(model.frame, np.ones(n)), one)


def _next(model: _Model, state: _State) -> _State:
    """One layer."""
    one = number(model.frame, 1)
    middle = _middle(model, state.closeness)
    centred = state.closeness - middle
    own = model.residual * state.norms
    weight = one + own
    mix = _mix(model, state, centred, own, weight)
    product = mix @ centred @ mix.transpose() + middle
    if not model.normalised:
        return _State(product, state.norms, state.size * weight[0] * weight[0])
    diagonal = product.diagonal()
    root = (model.alpha + model.epsilon * diagonal).rsqrt()
    norm = (model.alpha + model.epsilon * diagonal) * root
    gain = (one - diagonal) * (one + norm).inverse() * root
    rows, keys = gain[:, None], gain[None, :]
    closeness = product * root[:, None] * root[None, :] + model.alpha * (rows + keys + rows * (model.epsilon * keys))
    # A vector's product with itself is known without rounding, if the vector is not zero.
    own_closeness = Models(model.frame, constants(model.frame, np.ones(len(model.mask))).coefficients, 0 * root.rest)
    return _State(closeness.with_diagonal(own_closeness), weight * norm, one)


def _middle(model: _Model, closeness: Models) -> Models:
    """A number in the middle of the closeness of different tokens."""
    seen = closeness.coefficients[0][(model.mask - np.eye(len(model.mask))) > 0]
    middle = float(np.median(seen)) if seen.size else 0.0
    return number(model.frame, Fraction(middle) if np.isfinite(middle) else 0)


def _mix(model: _Model, state: _State, centred: Models, own: Models, weight: Models) -> Models:
    """P: the weights of a row and its own share in the residual stream, over ``weight``, so that they sum to 1."""
    sharpness = model.beta * model.unit * state.size * model.epsilon
    # Exponents count from the key that matters most: from the query's own if it outweighs all others.
    gap = float(sharpness.coefficients[0]) * float(1 - state.closeness.coefficients[0].mean())
    reference = centred
    if gap > np.log(len(model.mask)):
        reference = state.closeness - number(model.frame, 1)
    crowd = (model.mask.sum(axis=1) > 1).astype(np.float64)  # a single key has weight 1, whatever its score
    powers = (reference * sharpness).masked(crowd[:, None]).exp().masked(model.mask)
    share = weight.inverse()
    weights = powers * (powers.total().inverse() * share)[:, None]
    return weights.plus_diagonal(own * share)
