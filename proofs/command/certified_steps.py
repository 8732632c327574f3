"""What ``maskproof scores --certify`` finds, prints and writes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from maskproof.numerics.certify import Order, Steps, steps
from maskproof.proofs.maps import certificate
from maskproof.theory.decoder import Decoder
from maskproof.theory.errors import InvalidInput

_CAP = 256  # bits after which equal scores are left undecided


@dataclass(frozen=True)
class Certified:
    """The direction of every step from a key to the next.

    Attributes:
        order: the question.
        steps: the answer.
    """

    order: Order
    steps: Steps

    @property
    def text(self) -> str:
        """For each layer, how many pairs of neighbouring keys are proved increasing, decreasing, undecided."""
        return "\n".join(_line(layer, self.steps) for layer in self.order.layers)

    def certificate(self) -> Mapping[str, Any]:
        """The certificate.

        Raises:
            InvalidInput: no certificate can hold a parameter.
        """
        return certificate.steps_certificate(self.order, self.steps)


def certified_steps(decoder: Decoder, alpha: object, n: int, layers: int, dim: int | None = None) -> Certified:
    """For each layer from 2 on and all pairs of neighbouring keys, a proof of which scores higher.

    Args:
        decoder: the layer.
        alpha: the cosine.
        n: number of tokens.
        layers: number of layers, at least 2: in layer 1 all scores of different tokens are alpha.
        dim: the width, where the decoder depends on it.

    Raises:
        InvalidInput: a parameter is out of range.
    """
    if layers < 2:
        raise InvalidInput(f"--layers {layers}", "layers >= 2", "layer 1 scores every other token alike")
    order = Order(n, tuple(range(2, layers + 1)), decoder, alpha, dim)
    return Certified(order, steps(order, cap=_CAP))


def _line(layer: int, found: Steps) -> str:
    counts = [sum(pair[0] == layer for pair in pairs) for pairs in (found.rising, found.falling, found.open)]
    text = f"layer {layer}: of {sum(counts)} adjacent pairs {counts[0]} proved increasing, {counts[1]} decreasing"
    text += f", {counts[2]} undecided"
    first = min((pair for pair in found.falling if pair[0] == layer), default=None)
    return text if first is None else f"{text}; first decrease at i = {first[1]}, from j = {first[2]} to {first[2] + 1}"
