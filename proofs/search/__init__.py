"""Search for a derivation of a claim that names none.

Nothing here is trusted: whatever is found is a ``theory.derivation.Derivation`` that the kernel checks. The search
knows the closed forms of layers one and two and the general theorems of the theory; what it can't decide from the
positions of a quantity it splits into cases at the diagonal.
"""

from maskproof.proofs.search.claims import candidates, limits, search
from maskproof.proofs.search.lines import NoIdea

__all__ = ["NoIdea", "candidates", "limits", "search"]
