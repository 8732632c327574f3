"""Decoders and input laws in words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import sympy
from sympy import Basic

from theory.decoder import Alibi, Bidirectional, Causal, Decoder, Prefix, Rope, SlidingWindow, T5Bias
from theory.inputs import Equicorrelated, Inputs, SharedGaussian, Sphere
from theory.quantities import Quantity, Record

Model = tuple[Basic, Basic]  # the decoder and the input law, as quantities carry them


def models_of(statements: Iterable[Basic]) -> list[Model]:
    """The distinct models that quantities in ``statements`` carry, in a fixed order."""
    found = {q.args[3:] for statement in statements for q in sympy.sympify(statement).atoms(Quantity)}
    return sorted(found, key=str)  # type: ignore[arg-type]


def read(model: Model) -> tuple[Decoder | None, Inputs | None]:
    """The decoder and the input law of a model."""
    return Record.read(model[0]), Record.read(model[1])


def decoder_words(decoder: Decoder) -> str:
    """A decoder in words, formulas typed as prose types them."""
    norm = {"l2": "l2 normalisation", "layernorm": "LayerNorm", "none": "no normalisation"}[decoder.norm]
    parts = [norm, _value("beta", decoder.beta), _value("lam", decoder.residual)]
    if isinstance(decoder.scale, str) or decoder.scale != 1:
        parts.append(f"scores divided by {decoder.scale}")
    parts.append(_mask_words(decoder.mask))
    if decoder.position is not None:
        parts.append(_position_words(decoder.position))
    return ", ".join(part for part in parts if part)


def _position_words(position: Any) -> str:
    if isinstance(position, Rope):
        return f"RoPE with base {position.base} and dimension {position.dim}"
    if isinstance(position, Alibi):
        return f"ALiBi with slope {position.slope}"
    if isinstance(position, T5Bias):
        values = ", ".join(map(str, position.values))
        return f"T5 biases {values} up to distance {position.max_distance}"
    return ""


def _value(name: str, value: Any) -> str:
    shown = str(value)
    return "" if shown == name else f"{name} = {shown}"


def _mask_words(mask: Any) -> str:
    match mask:
        case Causal():
            return "causal mask"
        case Bidirectional():
            return "no mask"
        case SlidingWindow():
            return f"sliding window of {mask.width}"
        case Prefix():
            return f"prefix of {mask.length}"
    return str(mask)


def inputs_words(inputs: Inputs) -> str:
    """An input law in words."""
    match inputs:
        case Equicorrelated():
            return f"equicorrelated inputs, alpha = {inputs.alpha}".removesuffix(", alpha = alpha")
        case Sphere():
            return f"expectation over random unit vectors, {_value('d', inputs.d)}{_comma(inputs)}".rstrip(" ,")
        case SharedGaussian():
            unit = "normalised " if inputs.unit else ""
            return f"expectation over {unit}Gaussians with a shared part, {_value('d', inputs.d)}{_comma(inputs)}"
    return str(inputs)


def _comma(inputs: Sphere | SharedGaussian) -> str:
    value = _value("alpha", inputs.alpha)
    return (", " if value and _value("d", inputs.d) else "") + value


def model_words(decoder: Decoder | None, inputs: Inputs | None) -> str:
    """Decoder and input law in words."""
    parts = [decoder_words(decoder) if decoder is not None else "the claim's decoder"]
    parts.append(inputs_words(inputs) if inputs is not None else "the claim's inputs")
    return "; ".join(parts)
