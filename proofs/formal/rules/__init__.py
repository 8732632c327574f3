"""One script for each rule of the kernel: how Coq shows a step from the lemmas of its premises."""

from maskproof.proofs.formal.rules import induction, layer, limits, logic, order, sums

__all__ = ["induction", "layer", "limits", "logic", "order", "sums"]
