"""One layer of a decoder as plain numbers, and the layer map on batches of token coordinates.

With tokens x_i in any orthonormal basis, a layer is (arXiv 2509.21042, section 3.1)

    y_i = v x_i / ||x_i||,   S_ij = <y_i, y_j> / scale,   x_i' = residual x_i + sum_j A_ij y_j,

v = 1 for l2 and sqrt(d) for layer normalisation, which first removes the component along the all-ones
vector. That component only takes part in the residual stream: it is multiplied by the residual.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from maskproof.numerics.arrays import Array
from maskproof.numerics.parameters import visibility
from maskproof.numerics.sampling import Coordinates
from maskproof.theory.decoder import Decoder
from maskproof.theory.errors import InvalidInput

Quantity = Literal["scores", "weights", "gram"]
QUANTITIES: tuple[Quantity, ...] = ("scores", "weights", "gram")


@dataclass(frozen=True)
class Layer:
    """The numbers of one layer at a given width and context.

    Attributes:
        normalised: whether tokens are scaled to norm ``value_norm`` before attention.
        value_norm: norm of a normalised token (1 without normalisation: unused).
        score_gain: score of two normalised tokens per unit of cosine (of inner product without
            normalisation).
        beta: inverse temperature.
        residual: weight of the residual stream.
        visible: Boolean (n, n): query i sees key j.
        split: whether the all-ones direction is kept apart (layer normalisation).
    """

    normalised: bool
    value_norm: float
    score_gain: float
    beta: float
    residual: float
    visible: NDArray[np.bool_]
    split: bool

    @property
    def n(self) -> int:
        """Number of tokens."""
        return self.visible.shape[0]

    @property
    def bounded(self) -> bool:
        """Whether no exponential of a logit can overflow: cosines are at most 1."""
        return self.normalised and self.beta * self.score_gain < 300


def _number(value: object, name: str) -> float:
    if getattr(value, "free_symbols", None):
        raise InvalidInput(f"{name} = {value}", f"'{name} is a number'", "substitute a number for the symbol")
    return float(value)  # pyright: ignore[reportArgumentType]


def layer_of(decoder: Decoder, n: int, d: int) -> Layer:
    """The layer of ``decoder`` for ``n`` tokens of width ``d``, as numbers.

    Raises:
        InvalidInput: a parameter is symbolic, or the decoder has a rotary embedding.
    """
    if decoder.position is not None:
        raise InvalidInput(
            f"position = {decoder.position}",
            "'no position encoding'",
            "RoPE is not sampled yet; use position=None",
        )
    normalised = decoder.normalised
    value_norm = float(np.sqrt(d)) if decoder.norm == "layernorm" else 1.0
    return Layer(
        normalised=normalised,
        value_norm=value_norm,
        score_gain=value_norm**2 / _number(decoder.scale_at(d), "scale"),
        beta=_number(decoder.beta, "beta"),
        residual=_number(decoder.residual, "residual"),
        visible=visibility(decoder.mask, n),
        split=decoder.norm == "layernorm",
    )


def softmax(scores: Array, layer: Layer) -> Array:
    """Attention weights of the last two axes of ``scores`` (queries, keys); 0 where the mask hides."""
    logits = scores if layer.beta == 1 else layer.beta * scores
    if layer.bounded:
        weights = np.exp(logits)
        weights *= layer.visible
    else:
        logits = np.where(layer.visible, logits, -np.inf)
        weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    return weights


def run(tokens: Coordinates, layer: Layer, layers: int, quantity: Quantity) -> Iterator[Array]:
    """Yield ``quantity`` after each of ``layers`` layers, shape (count, n, n).

    Scores are given for all pairs, also those that the mask hides; the Gram matrix is the one after the
    layer.
    """
    for level in range(layers):
        values = tokens.centred
        if layer.normalised:
            norms = np.sqrt(np.einsum("bnq,bnq->bn", values, values))
            values = values * (layer.value_norm / norms)[:, :, None]
        scores = values @ values.swapaxes(-1, -2)
        gain = layer.score_gain / layer.value_norm**2
        if gain != 1:
            scores *= gain
        if quantity == "scores":
            yield scores
            if level == layers - 1:
                return
        weights = softmax(scores, layer)
        if quantity == "weights":
            yield weights
            if level == layers - 1:
                return
        mixed = weights @ values
        mixed += tokens.centred if layer.residual == 1 else layer.residual * tokens.centred
        along = None if tokens.along is None else layer.residual * tokens.along
        tokens = Coordinates(mixed, along)
        if quantity == "gram":
            yield tokens.gram()
