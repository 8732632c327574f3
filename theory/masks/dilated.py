"""The dilated sliding window."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sympy import And, Mod
from sympy.logic.boolalg import Boolean

from maskproof.theory.masks.mask import KEY, QUERY, Mask
from maskproof.theory.relations import Eq, Le, Lt


@dataclass(frozen=True)
class Dilated(Mask):
    """Query i sees itself and the keys i - step, i - 2 step, ..., i - (width - 1) step that there are.

    Source: arXiv 2004.05150, section 3.1 (dilated sliding window), looking back only.
    """

    name: ClassVar[str] = "dilated"
    noun: ClassVar[str] = "dilated window of {width} keys at steps of {step}"

    width: int
    step: int

    def keys(self, i: int, n: int) -> range:
        """The keys i - m step from 1 up, m = 0..width-1, in ascending order."""
        seen = min(self.width, (i - 1) // self.step + 1)
        return range(i - (seen - 1) * self.step, i + 1, self.step)

    @property
    def condition(self) -> Boolean:
        """No later key, none ``width`` steps or more before the query, and a whole number of steps between them."""
        near = (Le(KEY, QUERY), Lt(QUERY - self.width * self.step, KEY))
        return And(*near, Eq(Mod(QUERY - KEY, self.step), 0)) if self.step > 1 else And(*near)
