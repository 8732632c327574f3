"""From claims to verdicts.

What is imported here is imported when it is asked for: the kernel and the terms it works on stand by themselves, and
whoever imports them gets nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from proofs.pipeline import verify
    from proofs.verdict import Verdict

__all__ = ["Verdict", "verify"]


def __getattr__(name: str) -> Any:
    if name == "Verdict":
        from proofs.verdict import Verdict

        return Verdict
    if name == "verify":
        from proofs.pipeline import verify

        return verify
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
