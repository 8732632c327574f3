"""From claims to verdicts: the kernel, the engines and the command line."""

from proofs.verdict import Evidence, Result, Verdict
from proofs.verify import verify

__all__ = ["Evidence", "Result", "Verdict", "verify"]
