"""Claims about the positional information in attention masks: written once, then proved, enclosed, sampled or refuted.

What ``__all__`` names is the public API and stays; the modules below are for readers of the code. Each name is loaded
when it is asked for. In a checkout ``maskproof/theory``, ``maskproof/numerics`` and ``maskproof/proofs`` are links to
the folders at the top.
"""

from __future__ import annotations

from maskproof.lazily import attributes

TYPE_CHECKING = False  # as in typing, which takes a while to load
if TYPE_CHECKING:
    from maskproof.numerics.gram import MeanField, mean_field
    from maskproof.numerics.monte_carlo import Expectation, expected_scores
    from maskproof.proofs.pipeline import verify
    from maskproof.proofs.verdict import Evidence, Result, Verdict
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
    "Equicorrelated",
    "Evidence", "Expectation", "Gram", "InvalidInput", "MeanField", "Mix", "Prefix", "Result", "Rope", "Score",
    "SharedGaussian", "SlidingWindow", "Sphere", "Step", "T5Bias", "Verdict", "Weight", "alpha", "beta", "d",
    "expected_scores", "i", "j", "k", "l", "lam", "m", "mean_field", "n", "verify",
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
    "maskproof.numerics.gram": ("MeanField", "mean_field"),
    "maskproof.numerics.monte_carlo": ("Expectation", "expected_scores"),
    "maskproof.proofs.pipeline": ("verify",),
    "maskproof.proofs.verdict": ("Evidence", "Result", "Verdict"),
})  # fmt: skip
