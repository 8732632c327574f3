"""Decoders and input laws of terms at exact parameters, for the routes that calculate in floats."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from maskproof.proofs.engines.ball_arithmetic import mask
from maskproof.proofs.terms import terms as t
from maskproof.theory.decoder import Decoder
from maskproof.theory.inputs import Equicorrelated, Inputs, SharedGaussian, Sphere
from maskproof.theory.position import Alibi, Position, Rope, T5Bias

Number = Callable[[t.Term], Any]  # the value of a parameter, as SymPy's


def decoder(model: t.Model, number: Number) -> Decoder:
    """The decoder of a model.

    Raises:
        InvalidInput: a parameter is out of range.
    """
    return Decoder(
        beta=number(model.beta),
        residual=number(model.residual),
        norm=model.norm,  # type: ignore[arg-type]
        scale=number(model.scale),
        mask=mask(model.mask),
        position=None if model.position is None else _position(model.position, number),
    )


def inputs(law: t.Law, number: Number) -> Inputs:
    """The law of the inputs.

    Raises:
        InvalidInput: a parameter is out of range.
    """
    alpha = number(law.alpha)
    if law.width is None:
        return Equicorrelated(alpha)
    width = number(law.width)
    return Sphere(width, alpha) if law.kind == "sphere" else SharedGaussian(width, alpha, law.unit)


def _position(position: t.Position, number: Number) -> Position:
    numbers = tuple(number(part) for part in position.numbers)
    if position.kind == "rope":
        return Rope(numbers[0], position.size or 0)
    if position.kind == "alibi":
        return Alibi(numbers[0])
    later = None if position.later is None else tuple(number(part) for part in position.later)
    return T5Bias(numbers, later, position.size or 0)
