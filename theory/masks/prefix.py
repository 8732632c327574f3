"""The mask of prefix language models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sympy import Integer, Or
from sympy.logic.boolalg import Boolean

from maskproof.theory.errors import InvalidInput
from maskproof.theory.masks.mask import KEY, QUERY, Mask
from maskproof.theory.relations import Le


@dataclass(frozen=True)
class Prefix(Mask):
    """The first ``length`` tokens see one another; the others see all tokens up to themselves."""

    name: ClassVar[str] = "prefix"
    noun: ClassVar[str] = "prefix of {length}"
    counted: ClassVar[bool] = True

    length: int

    def keys(self, i: int, n: int) -> range:
        """The keys 1..max(i, length)."""
        if self.length > n:
            raise InvalidInput(f"prefix length = {self.length}", f"length <= n = {n}", "shorten the prefix")
        return range(1, max(i, self.length) + 1)

    @property
    def condition(self) -> Boolean:
        """No later key, or one of the prefix."""
        return Or(Le(KEY, QUERY), Le(KEY, Integer(self.length)))

    @property
    def least(self) -> int:
        """The prefix."""
        return self.length

    @property
    def ahead(self) -> bool:  # type: ignore[override]
        """Whether the prefix has a later key for its first token."""
        return self.length > 1
