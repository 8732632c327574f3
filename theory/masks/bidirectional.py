"""No mask."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import sympy
from sympy.logic.boolalg import Boolean

from maskproof.theory.masks.mask import Mask


@dataclass(frozen=True)
class Bidirectional(Mask):
    """Every query sees every key: no mask."""

    name: ClassVar[str] = "bidirectional"
    noun: ClassVar[str] = "no mask"
    article: ClassVar[str] = ""
    ahead: ClassVar[bool] = True
    counted: ClassVar[bool] = True

    def keys(self, i: int, n: int) -> range:
        """The keys 1..n."""
        return range(1, n + 1)

    @property
    def condition(self) -> Boolean:
        """Always."""
        return sympy.true

    def reach(self, i: int) -> int | None:
        """On all tokens."""
        return None
