"""Local attention in blocks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sympy import And, floor
from sympy.logic.boolalg import Boolean

from maskproof.theory.masks.mask import KEY, QUERY, Mask
from maskproof.theory.relations import Le


@dataclass(frozen=True)
class Blocks(Mask):
    """Query i sees its own block up to itself, and all of the block before.

    Block b = 0, 1, ... holds the tokens b size + 1, ..., (b + 1) size. Source: arXiv 1802.05751, section 3.3 (local
    self-attention in one dimension), the memory reaching back by one block.
    """

    name: ClassVar[str] = "blocks"
    noun: ClassVar[str] = "blocks of {size} that also see the block before"
    article: ClassVar[str] = ""

    size: int

    def keys(self, i: int, n: int) -> range:
        """The keys from the beginning of the block before, where there is one, to i."""
        block = (i - 1) // self.size
        return range(max(0, block - 1) * self.size + 1, i + 1)

    @property
    def condition(self) -> Boolean:
        """No later key, and none of an earlier block than the one before the query's."""
        return And(Le(KEY, QUERY), Le(self.size * (floor((QUERY - 1) / self.size) - 1), KEY - 1))
