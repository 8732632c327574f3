"""One mask of every kind, so that tests of engines cover each that is added."""

from maskproof.theory.masks import MASKS, Bidirectional, Blocks, Causal, Dilated, Mask, Prefix, SlidingWindow

EXAMPLES: list[Mask] = [
    Causal(), Bidirectional(), SlidingWindow(1), SlidingWindow(3), Prefix(1), Prefix(3), Dilated(1, 2), Dilated(2, 1),
    Dilated(2, 2), Dilated(3, 2), Dilated(2, 3), Blocks(1), Blocks(2), Blocks(3),
]  # fmt: skip
assert {type(mask) for mask in EXAMPLES} == set(MASKS.values())
