"""What the numbers say, independently of every closed form in ``theory``.

The map of routes. Who computes the layer:

* ``gram``: inner products in floats, for given cosines (``mean_field``); ``balls``: the same, enclosed in balls.
* ``layers`` on coordinates from ``sampling``: one drawn input after the other, averaged by ``monte_carlo``.
* ``taylor``: power series in the noise of the inputs, control variates (``control``, means from ``moments``).
* ``series``, in ``taylor_models``: over a box of parameters; ``halving`` and ``certify`` make pieces of it.
* ``correction``: the 1/d term in balls; ``rope_series``: the same in floats, with position encodings.
* ``quadrature``: expectations of the first layers as integrals; ``fluctuation``, ``recency_linear``: leading orders.

Who is a referee, written as the definition reads and used to check, not to be fast:

* ``attention`` on vectors (made by ``vectors`` or drawn by ``sampling.sample_vectors``) checks ``gram``, and through
  ``vector_monte_carlo`` the expectations of ``monte_carlo`` and ``rope_series``.
* ``balls`` checks the boxes of ``series`` at points of them, and ``gram``.
* ``quadrature`` checks ``monte_carlo``; ``taylor`` and ``moments`` check ``correction`` and each other.
* Outside this package: ``proofs/maps/recheck.py`` checks ``certify`` with a layer map of its own, and the differential
  test (``tests/differential``) checks verdicts with attention in mpmath.

All of them take a mask from ``mask.keys`` or ``mask.matrix``, and nothing of ``theory`` but plain data.
"""

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
