"""The mask of decoders."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sympy.logic.boolalg import Boolean

from maskproof.theory.masks.mask import KEY, QUERY, Mask
from maskproof.theory.relations import Le


@dataclass(frozen=True)
class Causal(Mask):
    """Query i sees the keys 1..i."""

    name: ClassVar[str] = "causal"
    noun: ClassVar[str] = "causal mask"

    def keys(self, i: int, n: int) -> range:
        """The keys 1..i."""
        return range(1, i + 1)

    @property
    def condition(self) -> Boolean:
        """No later key."""
        return Le(KEY, QUERY)
