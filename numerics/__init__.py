"""What the numbers say, independently of every closed form in ``theory``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from maskproof.folders import answer
from maskproof.lazily import attributes

if TYPE_CHECKING:
    from maskproof.numerics.gram import MeanField, mean_field
    from maskproof.numerics.monte_carlo import Expectation, expected_scores

__all__ = [
    "Expectation", "MeanField", "expected_scores", "mean_field",
]  # fmt: skip

__getattr__, __dir__ = attributes(__name__, {
    "maskproof.numerics.gram": ("MeanField", "mean_field"),
    "maskproof.numerics.monte_carlo": ("Expectation", "expected_scores"),
})  # fmt: skip

answer(__name__)  # to the folder's name alone, in a checkout
