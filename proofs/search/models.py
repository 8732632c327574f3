"""The models whose first two layers the theory has in closed form, and the numbers to put in for each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from sympy import Expr, Integer, Symbol, exp

from maskproof.proofs.search.lines import NoIdea
from maskproof.theory.decoder import Causal, Decoder
from maskproof.theory.equivalence import Family, Norm, c
from maskproof.theory.inputs import Equicorrelated
from maskproof.theory.layer_one import r
from maskproof.theory.quantities import Quantity
from maskproof.theory.symbols import alpha, beta, lam


@dataclass(frozen=True)
class Model:
    """A causal decoder without position code on equicorrelated inputs.

    Attributes:
        decoder, inputs: the model itself.
        family: the kind of decoder, if it has a twin; None if it is its own, with scale 1.
        own: its numbers, for the symbols of ``family.decoder``.
        plain: those of its twin, or its own, for the symbols of the general results.
        norm: "l2" or "none", of the twin.
    """

    decoder: Decoder
    inputs: Equicorrelated
    family: Family | None
    own: Mapping[Symbol, Expr]
    plain: Mapping[Symbol, Expr]
    norm: Norm

    @property
    def gain(self) -> Expr:
        """The score of a normalised vector with itself."""
        return self.family.gain.xreplace(dict(self.own)) if self.family else Integer(1)

    @property
    def length(self) -> Expr:
        """The norm of a normalised vector."""
        return self.family.length if self.family else Integer(1)

    @property
    def alpha(self) -> Expr:
        """The cosine of two inputs."""
        return self.inputs.alpha

    @property
    def twin(self) -> dict[str, object]:
        """What a quantity of the twin carries."""
        twin = Decoder(beta=self.plain[beta], residual=self.plain[lam], norm=self.norm)
        return {"decoder": twin, "inputs": self.inputs}


def depth(quantity: Quantity) -> int:
    """The layer of a quantity; a layer that is a letter counts as none: nothing is known of it here."""
    return quantity.layer if isinstance(quantity.layer, int) else 0


@lru_cache(maxsize=1024)
def model_of(quantity: Quantity) -> Model:
    """The model of a quantity.

    Raises:
        NoIdea: there are no rules for it.
    """
    decoder, inputs = quantity.decoder, quantity.inputs
    known = (
        decoder is not None
        and isinstance(inputs, Equicorrelated)
        and decoder.mask == Causal()
        and decoder.position is None
    )
    if not known:
        raise NoIdea(f"no closed form is known for {quantity} with its decoder and inputs")
    assert decoder is not None
    assert isinstance(inputs, Equicorrelated)
    own: dict[Symbol, Expr] = {beta: decoder.beta, lam: decoder.residual, alpha: inputs.alpha}
    family = None
    if decoder.norm == "layernorm" or decoder.scale != 1:
        kind = decoder.scale if isinstance(decoder.scale, str) else "number"
        family = Family(decoder.norm, kind)  # type: ignore[arg-type]
        if kind == "number":
            own[c] = decoder.scale
    general = family.twin if family else Decoder(beta=beta, residual=lam, norm=decoder.norm)
    plain = {
        beta: general.beta.xreplace(own),
        lam: general.residual.xreplace(own),
        alpha: inputs.alpha,
    }
    plain[r] = exp(plain[beta] * (1 - inputs.alpha))
    return Model(decoder, inputs, family, own, plain, general.norm)  # type: ignore[arg-type]
