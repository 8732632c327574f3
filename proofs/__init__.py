"""From claims to verdicts.

What is imported here is imported when it is asked for: the kernel and the terms it works on stand by themselves, and
whoever imports them gets nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from maskproof.folders import answer
from maskproof.lazily import attributes

if TYPE_CHECKING:
    from maskproof.proofs.pipeline import verify
    from maskproof.proofs.verdict import Evidence, Result, Verdict

__all__ = [
    "Evidence", "Result", "Verdict", "verify",
]  # fmt: skip

__getattr__, __dir__ = attributes(__name__, {
    "maskproof.proofs.pipeline": ("verify",),
    "maskproof.proofs.verdict": ("Evidence", "Result", "Verdict"),
})  # fmt: skip

answer(__name__)  # to the folder's name alone, in a checkout
