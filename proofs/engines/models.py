"""Decoders and input laws of terms at exact parameters, for the routes that calculate in floats."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any

from maskproof.proofs.engines.ball_arithmetic import mask
from maskproof.proofs.terms import terms as t
from maskproof.theory.decoder import Decoder
from maskproof.theory.inputs import LAWS, Inputs
from maskproof.theory.position import POSITIONS, Position, PositionData

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
    kind = LAWS[law.kind]
    parameters = {"alpha": law.alpha, "d": law.width, "unit": law.unit}
    names = (field.name for field in fields(kind))  # type: ignore[arg-type]
    return kind(**{name: number(v) if isinstance(v := parameters[name], t.Term) else v for name in names})


def _position(position: t.Position, number: Number) -> Position:
    numbers, later = (
        None if values is None else tuple(map(number, values)) for values in (position.numbers, position.later)
    )
    return POSITIONS[position.kind].of(PositionData(numbers or (), later, position.size))
