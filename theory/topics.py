"""The derivations that can be read by themselves, by name."""

from __future__ import annotations

from theory import averaging
from theory.derivation import Derivation
from theory.layer_one import layer_one
from theory.layer_two import below_diagonal, closed_form, flat_without_norm, increasing, norms, order
from theory.layernorm import first_layer, recency, reduction
from theory.limits import saturation, saturation_rate

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
