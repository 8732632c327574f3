"""Where claims come from: a record for each paper, and one for what this project found.

Registry, tables, article and site read their names, headings and order here. A paper that is added is a record here and
a pack of claims: a module of ``theory.claims`` with a list ``claims``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from maskproof.theory.claim import Claim


@dataclass(frozen=True)
class Paper:
    """A source of claims.

    Attributes:
        prefix: of the ids of its claims, before the dot.
        words: what tables and pages call it.
        tally: the heading of its row in a count of verdicts, after "claims".
        section: the heading of its claims in the article.
        title: of the paper; empty for what no paper states.
        authors: who is cited.
        source: where it is published, and in which version.
    """

    prefix: str
    words: str
    tally: str
    section: str
    title: str = ""
    authors: str = ""
    source: str = ""

    @property
    def ours(self) -> bool:
        """Whether its claims are this project's, which no paper has to answer for."""
        return not self.title

    def claims(self, claims: Iterable[Claim]) -> list[Claim]:
        """Its claims among some."""
        return [claim for claim in claims if prefix_of(claim) == self.prefix]


KIM2025 = Paper(
    prefix="kim2025",
    words="the paper, version 1",
    tally="of the paper",
    section="Claims of the paper, version 1",
    title="Behind RoPE: How Does Causal Mask Encode Positional Information?",
    authors="Kim et al.",
    source="arXiv 2509.21042v1",
)
KIM2026 = Paper(
    prefix="kim2026",
    words="the paper, version 2",
    tally="of its second version",
    section="Claims of the paper, versions 2 to 4",
    title="LayerNorm Induces Recency Bias in Transformer Decoders",
    authors="Kim et al.",
    source="arXiv 2509.21042v2",
)
OWN = Paper(prefix="own", words="this project", tally="of this project", section="Corrections and generalisations")
PAPERS = (KIM2025, KIM2026, OWN)
PACKS = ("kim2025", "own", "order", "residual", "width", "rope", "layernorm", "kim2026")
"""The packs in the order in which claims are listed; one may hold claims of a paper next to what became of them."""

_BY_PREFIX = {paper.prefix: paper for paper in PAPERS}


def prefix_of(claim: Claim) -> str:
    """What stands before the first dot of a claim's id; empty if there is none.

    >>> prefix_of(Claim("own.fig1", True)), prefix_of(Claim("mine", True))
    ('own', '')
    """
    return claim.id.partition(".")[0] if "." in claim.id else ""


def paper_of(claim: Claim) -> Paper:
    """The source of a claim; for a prefix that is none of the shipped, one that is called like it.

    >>> paper_of(Claim("own.fig1", True)).ours, paper_of(Claim("mine.first", True)).section
    (True, 'Mine')
    """
    prefix = prefix_of(claim) or "claims"
    return _BY_PREFIX.get(prefix) or Paper(prefix, prefix, f"of {prefix}", prefix.capitalize())
