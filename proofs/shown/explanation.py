"""An explanation of a verdict as text and as JSON."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Iterator
from typing import Any

from maskproof.proofs.command.console import STATIC
from maskproof.proofs.explanation.explanation import Nearest, Replay, Settling, Stated
from maskproof.proofs.processes.explaining import Explained
from maskproof.proofs.shown.report import witness
from maskproof.proofs.verdict import Evidence, Verdict

WIDTH = 80
_NO_PROGRAM = "NumPy has no word for a part of the statement, such as a limit, so there is no program"


def explanation_text(explained: Explained) -> str:
    """What was claimed, what each engine tried, what would settle it, what is true instead, how to replay it."""
    result = explained.result
    point = f", at {witness(result.witness)}" if result.witness else ""
    lines = [f"{result.id}: {result.verdict}{point}"]
    for part in explained.parts:
        if isinstance(part, Stated):
            lines += _wrapped("  says     ", part.statement)
            lines += _wrapped("  for all  ", part.domain)
    lines += ["", "  What was tried"]
    lines += [line for evidence in result.evidence for line in _wrapped("    - ", _tried(evidence))]
    settling = [words for part in explained.parts if isinstance(part, Settling) for words in part.words]
    if settling:
        lines += ["", "  What would settle it"]
        lines += [line for words in settling for line in _wrapped("    - ", words)]
    near = [part for part in explained.parts if isinstance(part, Nearest)]
    if near:
        lines += ["", "  What is true instead"]
        lines += [line for part in near for line in _wrapped("    - ", _nearest(part))]
    elif result.verdict in (Verdict.REFUTED, Verdict.UNKNOWN):
        lines += ["", "  No form nearby was found to be true."]
    if explained.cut_short:
        lines += ["", "  The time for this explanation ran out; --timeout gives it more."]
    lines += _replay(explained)
    return "\n".join(lines)


def _tried(evidence: Evidence) -> str:
    took = "" if os.environ.get(STATIC) else f" ({evidence.seconds:.1f} s)"
    words = "; ".join(part for part in (evidence.scope, evidence.detail) if part)
    return f"{evidence.engine}: {evidence.outcome}{took}, {words}"


def _nearest(part: Nearest) -> str:
    where = f", for all {part.domain}" if part.domain else ""
    return f"{part.change}: {part.statement}{where}. {part.verdict}: {part.because}"


def _replay(explained: Explained) -> Iterator[str]:
    for part in explained.parts:
        if isinstance(part, Replay):
            yield ""
            if part.program is None:
                yield f"  {_NO_PROGRAM}."
            else:
                yield "  The witness in NumPy alone, from the definition of the layers:"
                yield ""
                yield part.program.rstrip("\n")


def _wrapped(head: str, words: str) -> list[str]:
    return textwrap.wrap(
        words, WIDTH, initial_indent=head, subsequent_indent=" " * len(head), break_long_words=False,
        break_on_hyphens=False,
    )  # fmt: skip


def explanation_json(explained: Explained) -> dict[str, Any]:
    """The same for a program to read; what was tried is in the evidence."""
    near = [part for part in explained.parts if isinstance(part, Nearest)]
    return {
        "settle": [words for part in explained.parts if isinstance(part, Settling) for words in part.words],
        "nearest": [
            {"change": part.change, "statement": part.statement, "domain": part.domain, "verdict": str(part.verdict),
             "because": part.because}
            for part in near
        ],
        "replay": next((part.program for part in explained.parts if isinstance(part, Replay)), None),
        "cut_short": explained.cut_short,
    }  # fmt: skip
