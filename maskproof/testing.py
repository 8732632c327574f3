"""To test statements of one's own: assertions about claims and scores, and Hypothesis strategies.

from maskproof.testing import assert_increasing_in_key, assert_verdict, decoders
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from maskproof.lazily import attributes

if TYPE_CHECKING:
    from maskproof.proofs.testing.assertions import assert_increasing_in_key, assert_verdict
    from maskproof.proofs.testing.strategies import (
        alphas,
        betas,
        decoders,
        input_laws,
        masks,
        positions,
        residuals,
        tokens,
    )

__all__ = [
    "alphas", "assert_increasing_in_key", "assert_verdict", "betas", "decoders", "input_laws", "masks", "positions",
    "residuals", "tokens",
]  # fmt: skip

__getattr__, __dir__ = attributes(__name__, {
    "maskproof.proofs.testing.assertions": ("assert_increasing_in_key", "assert_verdict"),
    "maskproof.proofs.testing.strategies": (
        "alphas", "betas", "decoders", "input_laws", "masks", "positions", "residuals", "tokens",
    ),
})  # fmt: skip
