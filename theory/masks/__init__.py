"""The masks: a file each. Who adds one adds it to ``MASKS``, and nothing else has to know."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

from maskproof.theory.errors import InvalidInput
from maskproof.theory.masks.bidirectional import Bidirectional
from maskproof.theory.masks.blocks import Blocks
from maskproof.theory.masks.causal import Causal
from maskproof.theory.masks.dilated import Dilated
from maskproof.theory.masks.mask import Mask
from maskproof.theory.masks.prefix import Prefix
from maskproof.theory.masks.window import SlidingWindow

MASKS: dict[str, type[Mask]] = {
    mask.name: mask for mask in (Causal, Bidirectional, SlidingWindow, Prefix, Dilated, Blocks)
}


def named(name: str, numbers: Sequence[int] = ()) -> Mask:
    """The mask of that name with these parameters.

    Raises:
        InvalidInput: there is no such mask, it takes other parameters, or one is not from 1 up.

    >>> named("window", (3,))
    SlidingWindow(width=3)
    """
    kind = MASKS.get(name)
    if kind is None or len(fields(kind)) != len(numbers):
        what = ":".join([name, *map(str, numbers)])
        raise InvalidInput(f"mask {what}", "'the mask is known'", f"use {usages()}")
    return kind(*numbers)


def usages() -> str:
    """How the masks are written on the command line.

    >>> usages()
    'causal, bidirectional, window:W, prefix:L, dilated:W:S or blocks:S'
    """
    *others, last = (mask.usage() for mask in MASKS.values())
    return f"{', '.join(others)} or {last}"


__all__ = [
    "MASKS", "Bidirectional", "Blocks", "Causal", "Dilated", "Mask", "Prefix", "SlidingWindow", "named", "usages",
]  # fmt: skip
