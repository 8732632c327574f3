"""Exact parameters as floating-point numbers, and the checks that every numerical route makes.

This file knows nothing of the layer map, which each route writes for itself.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import sympy
from numpy.typing import NDArray

from maskproof.theory.decoder import Decoder, Mask, Rope
from maskproof.theory.errors import InvalidInput
from maskproof.theory.values import exact, positive_integer


@dataclass(frozen=True)
class Constants:
    """The constants of a decoder at one width, as floats: beta, residual, scale."""

    beta: float
    residual: float
    scale: float


def constants(decoder: Decoder, d: int | None) -> Constants:
    """The constants of ``decoder`` at width ``d``.

    Raises:
        InvalidInput: one of them contains a symbol, is beyond the range of floats, or depends on a
            width that is not given.
    """
    return Constants(
        beta=as_float(decoder.beta, "beta"),
        residual=as_float(decoder.residual, "residual"),
        scale=as_float(decoder.scale_at(d), "scale"),
    )


def constant(value: object, name: str) -> sympy.Expr:
    """Return ``value`` as an exact real number without symbols.

    Raises:
        InvalidInput: it contains a symbol or is not a real number.
    """
    number = exact(value, name)
    if number.free_symbols:
        raise InvalidInput(f"{name} = {number}", f"'{name} is a number'", "substitute numbers for the symbols")
    if not (number.is_real or number.is_comparable):
        raise InvalidInput(f"{name} = {number}", f"'{name} is real'", "give a real number")
    return number


def as_float(value: object, name: str) -> float:
    """Return ``value`` as a finite float; a positive number must not round to 0.

    Raises:
        InvalidInput: it is symbolic, not real, or beyond the range of floats.
    """
    number = constant(value, name)
    try:
        rounded = float(number)
    except OverflowError:
        rounded = math.inf
    if not math.isfinite(rounded):
        raise InvalidInput(f"{name} = {sympy.N(number, 6)}", f"|{name}| < 1.8e308", "use a smaller number")
    if rounded == 0 and number.is_zero is False:
        raise InvalidInput(f"{name} = {sympy.N(number, 6)}", f"|{name}| > 1e-323", "use 0 or a larger number")
    return rounded


def correlation(alpha: object, n: int) -> sympy.Expr:
    """Return ``alpha`` exactly, checked to be a cosine that ``n`` unit vectors can share.

    The float nearest to -1/(n-1) is read as -1/(n-1), the smallest possible value.

    >>> correlation(-1 / 11, 12)
    -1/11

    Raises:
        InvalidInput: alpha is not a number in [-1/(n-1), 1) (in [-1, 1) for n = 1).
    """
    least = sympy.Rational(-1, max(1, n - 1))
    if isinstance(alpha, float) and alpha == float(least):
        return least
    number = constant(alpha, "alpha")
    if not bool(number >= least):
        raise InvalidInput(f"alpha = {number}", f"alpha >= {least} for n = {n}", "raise alpha or shorten the sequence")
    if not bool(number < 1):
        raise InvalidInput(f"alpha = {number}", "alpha < 1", "at 1 all tokens coincide")
    return number


def visibility(mask: Mask, n: int) -> NDArray[np.bool_]:
    """Whether query i sees key j, at [i-1, j-1]; shape (n, n).

    Raises:
        InvalidInput: the mask needs more tokens.
    """
    return np.array(mask.matrix(n), dtype=bool)


def width(decoder: Decoder, dim: object | None) -> int | None:
    """Return the width as an int, or None where it is neither needed nor given.

    Raises:
        InvalidInput: dim is not a whole number from 1 up; or the decoder normalises by LayerNorm, whose
            vectors have norm sqrt(dim), and dim is missing or 1; or RoPE's dim does not divide the width.
    """
    d = None if dim is None else positive_integer(dim, "dim")
    if decoder.norm == "layernorm":
        if d is None:
            raise InvalidInput("norm = 'layernorm' without a width", "'the width d is known'", "give dim")
        if d < 2:
            raise InvalidInput(f"dim = {d}", "dim >= 2 for layernorm", "centring leaves nothing at 1")
    if isinstance(decoder.position, Rope):
        decoder.position.check_width(d)
    return d
