"""What ``maskproof scores --certify`` prints."""

from __future__ import annotations

from pathlib import Path

from maskproof.numerics.certify import Order, Steps, steps
from maskproof.proofs.maps import certificate
from maskproof.theory.decoder import Decoder
from maskproof.theory.errors import InvalidInput

_CAP = 256  # bits after which equal scores are left undecided


def certified_steps(
    decoder: Decoder, alpha: object, n: int, layers: int, dim: int | None = None, json_path: Path | None = None
) -> str:
    """For each layer from 2 on, how many pairs of neighbouring keys are proved increasing, decreasing, undecided.

    Args:
        decoder: the layer, without RoPE.
        alpha: the cosine.
        n: number of tokens.
        layers: number of layers, at least 2: in layer 1 all scores of different tokens are alpha.
        dim: the width, where the decoder depends on it.
        json_path: where to write a certificate.

    Raises:
        InvalidInput: a parameter is out of range, or no certificate can hold it.
    """
    if layers < 2:
        raise InvalidInput(f"--layers {layers}", "layers >= 2", "layer 1 scores every other token alike")
    order = Order(n, tuple(range(2, layers + 1)), decoder, alpha, dim)
    found = steps(order, cap=_CAP)
    if json_path is not None:
        certificate.write(certificate.steps_certificate(order, found), json_path)
    return "\n".join(_line(layer, found) for layer in order.layers)


def _line(layer: int, found: Steps) -> str:
    counts = [sum(pair[0] == layer for pair in pairs) for pairs in (found.rising, found.falling, found.open)]
    text = f"layer {layer}: of {sum(counts)} adjacent pairs {counts[0]} proved increasing, {counts[1]} decreasing"
    text += f", {counts[2]} undecided"
    first = min((pair for pair in found.falling if pair[0] == layer), default=None)
    return text if first is None else f"{text}; first decrease at i = {first[1]}, from j = {first[2]} to {first[2] + 1}"
