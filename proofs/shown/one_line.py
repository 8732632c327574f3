"""A claim's statement in one line of text."""

from __future__ import annotations

from maskproof.theory.claim import Claim
from maskproof.theory.export.claim_text import statement_text

_LONGEST = 120


def one_line(claim: Claim) -> str:
    """The statement as text, shortened if it is long; ``maskproof show`` has it in full.

    >>> from maskproof.theory import Score, i, j
    >>> one_line(Claim("mine", Score(2, i, j) < 1))
    'S2[i,j] < 1'
    """
    text = statement_text(claim)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3].rstrip() + "..."
