"""The derivations that can be read by themselves, by name."""

from __future__ import annotations

from maskproof.theory import averaging
from maskproof.theory.derivation import Derivation
from maskproof.theory.layer_one import layer_one
from maskproof.theory.layer_two import below_diagonal, closed_form, flat_without_norm, increasing, norms, order
from maskproof.theory.layernorm import first_layer, recency, reduction
from maskproof.theory.limits import saturation, saturation_rate

TOPICS: dict[str, Derivation] = {
    derivation.name: derivation
    for derivation in (
        layer_one(),
        norms(),
        closed_form(),
        order(),
        below_diagonal(),
        increasing(),
        flat_without_norm(),
        saturation(),
        saturation_rate(),
        averaging.first_layer(),
        averaging.every_layer(),
        averaging.increasing(),
        *(derive(scale) for scale in ("sqrt(d)", "d") for derive in (first_layer, reduction, recency)),
    )
}
