"""Decoders and input laws in words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import sympy
from sympy import Basic

from maskproof.theory.decoder import NORMS, Decoder
from maskproof.theory.inputs import Inputs
from maskproof.theory.notation import macros
from maskproof.theory.quantities import Correction, Quantity, Record

NO_MODEL = "none, the statement is about formulas alone"
Model = tuple[Basic, Basic]  # the decoder and the input law, as quantities carry them


def models_of(statements: Iterable[Basic]) -> list[Model]:
    """The distinct models that quantities in ``statements`` carry, in a fixed order."""
    found = {q.args[3:] for statement in statements for q in sympy.sympify(statement).atoms(Quantity)}
    return sorted(found, key=str)  # type: ignore[arg-type]


def coefficient_words(statements: Iterable[Basic], prose: Callable[[str], str], named: bool = False) -> str:
    r"""What the sign of a ``Correction`` means, in LaTeX and the given prose; nothing where there is none.

    >>> from maskproof.theory.quantities import Score
    >>> print(coefficient_words([Correction(Score(2, 2, 1)) < 0], str)[:32])
    $[d^{-1}]\operatorname{E}[Q]$ is
    """
    if not any(sympy.sympify(statement).has(Correction) for statement in statements):
        return ""
    sign = macros.call("mpcoefficient", "Q")
    words = prose("the coefficient of 1/d in the expectation of a quantity Q over inputs of width d, for large d")
    return f"${sign if named else macros.expand(sign)}$ is {words}"


def model_names(models: Sequence[Model]) -> dict[Model, str]:
    """Letters for models where there are several, in LaTeX; none for a single one."""
    if len(models) < 2:
        return {}
    return {model: rf"\mathcal{{M}}_{{{place}}}" for place, model in enumerate(models, start=1)}


def read(model: Model) -> tuple[Decoder | None, Inputs | None]:
    """The decoder and the input law of a model."""
    return Record.read(model[0]), Record.read(model[1])


def decoder_words(decoder: Decoder) -> str:
    """A decoder in words, formulas typed as prose types them."""
    return ", ".join(_decoder_parts(decoder))


def _decoder_parts(decoder: Decoder) -> list[str]:
    parts = [NORMS[decoder.norm], _value("beta", decoder.beta), _value("lam", decoder.residual)]
    if isinstance(decoder.scale, str) or decoder.scale != 1:
        parts.append(f"scores divided by {decoder.scale}")
    parts.append(decoder.mask.words)
    if decoder.position is not None:
        parts.append(decoder.position.words)
    return [part for part in parts if part]


_NAMES = {"beta": "inverse temperature", "lam": "residual weight"}


def _value(name: str, value: Any) -> str:
    """``name = value``; nothing if the value is the symbol, words if it contains the symbol."""
    shown = str(value)
    if shown == name:
        return ""
    own = name in {symbol.name for symbol in getattr(value, "free_symbols", ())}
    return f"{_NAMES[name]} {shown}" if own and name in _NAMES else f"{name} = {shown}"


def inputs_words(inputs: Inputs) -> str:
    """An input law in words."""
    return ", ".join(inputs.words)


def model_words(decoder: Decoder | None, inputs: Inputs | None) -> str:
    """Decoder and input law in words."""
    parts = [decoder_words(decoder) if decoder is not None else "the claim's decoder"]
    parts.append(inputs_words(inputs) if inputs is not None else "the claim's inputs")
    return "; ".join(parts)


def setting(models: Sequence[tuple[Decoder, Inputs]]) -> tuple[list[str], list[list[str]]]:
    """Models as what an author takes: what all of them have, then what each has besides.

    >>> from maskproof.theory.inputs import Equicorrelated
    >>> setting([(Decoder(), Equicorrelated(sympy.Integer(0)))])
    (['l2 normalisation', 'beta = lam = 1', 'a causal mask', 'equicorrelated inputs', 'alpha = 0'], [[]])
    """
    if len(models) == 1:
        ((decoder, inputs),) = models
        parts = _taken(decoder, inputs)
        if decoder.beta == decoder.residual:
            place = parts.index(_value("beta", decoder.beta))
            parts[place : place + 2] = [f"beta = lam = {decoder.beta}"]
        return parts, [[]]
    each = [_taken(*model) for model in models]
    common = [part for part in each[0] if all(part in parts for parts in each)]
    return common, [[part for part in parts if part not in common] for parts in each]


def _taken(decoder: Decoder, inputs: Inputs) -> list[str]:
    articles = {decoder.mask.words: decoder.mask.article}
    parts = [*_decoder_parts(decoder), *inputs.words]
    return [_with_article(part, articles.get(part, "the" if part.startswith("expectation") else "")) for part in parts]


def _with_article(noun: str, article: str) -> str:
    return f"{article} {noun}" if article else noun
