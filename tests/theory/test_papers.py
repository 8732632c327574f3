"""A paper is one record, which everything reads."""

from __future__ import annotations

from pathlib import Path

from maskproof.proofs import registry
from maskproof.proofs.shown.notes import TABLES, counts
from maskproof.theory import Claim, Score, i, j
from maskproof.theory.export.latex import latex_document
from maskproof.theory.papers import OWN, PACKS, PAPERS, paper_of

CLAIMS = Path(__file__).parents[2] / "theory" / "claims"


def test_every_shipped_claim_is_of_one_paper() -> None:
    shipped = registry.shipped()
    assert {paper_of(claim) for claim in shipped} == set(PAPERS)
    assert sum(len(paper.claims(shipped)) for paper in PAPERS) == len(shipped)
    assert [paper for paper in PAPERS if paper.ours] == [OWN]


def test_papers_answer_for_their_claims_in_their_own_words() -> None:
    for claim in registry.shipped():
        cited = [paper for paper in PAPERS if not paper.ours and claim.source.startswith(paper.source)]
        assert paper_of(claim).ours or cited == [paper_of(claim)]


def test_every_file_of_claims_is_a_pack() -> None:
    assert sorted(PACKS) == sorted(path.stem for path in CLAIMS.glob("*.py") if path.stem != "__init__")


def test_tables_are_of_papers() -> None:
    assert [paper.prefix in TABLES["paper_notes.md"] for paper in PAPERS] == [True] * len(PAPERS)
    rows = counts(registry.shipped(), registry.recorded()).splitlines()[2:]
    assert [row.split(" | ")[0] for row in rows] == [f"| {paper.tally}" for paper in PAPERS]


def test_the_article_names_the_papers_of_its_claims() -> None:
    mine = Claim("mine.first", Score(2, i, j) < 1, j < i)
    text = latex_document([mine], (), {}, {})
    assert r"\section{Mine}" in text
    assert "Kim et al." not in text
    text = latex_document([mine, registry.shipped()[0]], (), {}, {})
    for words in (PAPERS[0].section, PAPERS[0].title, PAPERS[0].source):
        assert words in text
    assert PAPERS[1].title not in text
