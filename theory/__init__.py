"""What is defined, derived and claimed. SymPy only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from maskproof.folders import answer
from maskproof.lazily import attributes

if TYPE_CHECKING:
    from maskproof.theory.claim import Claim
    from maskproof.theory.decoder import (
        Alibi,
        Bidirectional,
        Blocks,
        Causal,
        Decoder,
        Dilated,
        Prefix,
        Rope,
        SlidingWindow,
        T5Bias,
    )
    from maskproof.theory.derivation import Derivation, Step
    from maskproof.theory.errors import InvalidInput
    from maskproof.theory.inputs import Equicorrelated, SharedGaussian, Sphere
    from maskproof.theory.quantities import Correction, Gram, Mix, Score, Weight
    from maskproof.theory.symbols import alpha, beta, d, i, j, k, l, lam, m, n

__all__ = [
    "Alibi", "Bidirectional", "Blocks", "Causal", "Claim", "Correction", "Decoder", "Derivation", "Dilated",
    "Equicorrelated", "Gram",
    "InvalidInput", "Mix", "Prefix", "Rope", "Score", "SharedGaussian", "SlidingWindow", "Sphere", "Step", "T5Bias",
    "Weight", "alpha", "beta", "d", "i", "j", "k", "l", "lam", "m", "n",
]  # fmt: skip

__getattr__, __dir__ = attributes(__name__, {
    "maskproof.theory.claim": ("Claim",),
    "maskproof.theory.decoder": (
        "Alibi", "Bidirectional", "Blocks", "Causal", "Decoder", "Dilated", "Prefix", "Rope", "SlidingWindow", "T5Bias",
    ),
    "maskproof.theory.derivation": ("Derivation", "Step"),
    "maskproof.theory.errors": ("InvalidInput",),
    "maskproof.theory.inputs": ("Equicorrelated", "SharedGaussian", "Sphere"),
    "maskproof.theory.quantities": ("Correction", "Gram", "Mix", "Score", "Weight"),
    "maskproof.theory.symbols": ("alpha", "beta", "d", "i", "j", "k", "l", "lam", "m", "n"),
})  # fmt: skip

answer(__name__)  # to the folder's name alone, in a checkout
