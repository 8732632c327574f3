"""What is defined, derived and claimed. SymPy only."""

from theory.claim import Claim
from theory.decoder import Alibi, Bidirectional, Causal, Decoder, Prefix, Rope, SlidingWindow, T5Bias
from theory.derivation import Derivation, Step
from theory.errors import InvalidInput
from theory.inputs import Equicorrelated, SharedGaussian, Sphere
from theory.quantities import Correction, Gram, Mix, Score, Weight
from theory.symbols import alpha, beta, d, i, j, k, l, lam, m, n

__all__ = [
    "Alibi", "Bidirectional", "Causal", "Claim", "Correction", "Decoder", "Derivation", "Equicorrelated", "Gram",
    "InvalidInput", "Mix", "Prefix", "Rope", "Score", "SharedGaussian", "SlidingWindow", "Sphere",
    "Step", "T5Bias", "Weight", "alpha", "beta", "d", "i", "j", "k", "l", "lam", "m", "n",
]  # fmt: skip
