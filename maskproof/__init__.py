"""Claims about the positional information in attention masks: written once, then proved, enclosed, sampled or refuted.

What ``__all__`` names is the public API and stays; the modules below are for readers of the code. Each name is loaded
when it is asked for. In a checkout ``maskproof/theory``, ``maskproof/numerics`` and ``maskproof/proofs`` are links to
the folders at the top.
"""

from __future__ import annotations

from maskproof.lazily import attributes

TYPE_CHECKING = False  # as in typing, which takes a while to load
if TYPE_CHECKING:
    from maskproof.numerics import Expectation, MeanField, expected_scores, mean_field
    from maskproof.proofs import Evidence, Result, Verdict, verify
    from maskproof.theory import (
        Alibi,
        Bidirectional,
        Blocks,
        Causal,
        Claim,
        Correction,
        Decoder,
        Derivation,
        Dilated,
        Equicorrelated,
        Gram,
        InvalidInput,
        Mix,
        Prefix,
        Rope,
        Score,
        SharedGaussian,
        SlidingWindow,
        Sphere,
        Step,
        T5Bias,
        Weight,
        alpha,
        beta,
        d,
        i,
        j,
        k,
        l,
        lam,
        m,
        n,
    )  # fmt: skip

__all__ = [
    "Alibi", "Bidirectional", "Blocks", "Causal", "Claim", "Correction", "Decoder", "Derivation", "Dilated",
    "Equicorrelated",
    "Evidence", "Expectation", "Gram", "InvalidInput", "MeanField", "Mix", "Prefix", "Result", "Rope", "Score",
    "SharedGaussian", "SlidingWindow", "Sphere", "Step", "T5Bias", "Verdict", "Weight", "alpha", "beta", "d",
    "expected_scores", "i", "j", "k", "l", "lam", "m", "mean_field", "n", "verify",
]  # fmt: skip

__getattr__, __dir__ = attributes(__name__, {
    "maskproof.theory": (
        "Alibi", "Bidirectional", "Blocks", "Causal", "Claim", "Correction", "Decoder", "Derivation", "Dilated",
        "Equicorrelated", "Gram", "InvalidInput", "Mix", "Prefix", "Rope", "Score", "SharedGaussian", "SlidingWindow",
        "Sphere", "Step", "T5Bias", "Weight", "alpha", "beta", "d", "i", "j", "k", "l", "lam", "m", "n",
    ),
    "maskproof.numerics": ("Expectation", "MeanField", "expected_scores", "mean_field"),
    "maskproof.proofs": ("Evidence", "Result", "Verdict", "verify"),
})  # fmt: skip
