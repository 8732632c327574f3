"""The sliding window."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sympy import And
from sympy.logic.boolalg import Boolean

from maskproof.theory.masks.mask import KEY, QUERY, Mask
from maskproof.theory.relations import Le, Lt


@dataclass(frozen=True)
class SlidingWindow(Mask):
    """Query i sees itself and the ``width - 1`` keys before it."""

    name: ClassVar[str] = "window"
    noun: ClassVar[str] = "sliding window of {width}"

    width: int

    def keys(self, i: int, n: int) -> range:
        """The keys from i - width + 1 to i that there are."""
        return range(max(1, i - self.width + 1), i + 1)

    @property
    def condition(self) -> Boolean:
        """No later key, and none that lies ``width`` or more before the query."""
        return And(Le(KEY, QUERY), Lt(QUERY - self.width, KEY))
