"""How the site is made from its sources: what is refused, what is linked, what becomes of docstrings."""

from __future__ import annotations

from pathlib import Path

import pytest

from maskproof.proofs.site import build as building
from maskproof.proofs.site.docstrings import as_restructured_text
from maskproof.proofs.site.markdown import Linker
from maskproof.theory.errors import InvalidInput


def test_evidence_that_is_not_the_recorded_one_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "evidence.json"
    path.write_text('{"claims": [{"id": "own.fig1", "verdict": "REFUTED", "evidence": []}]}', encoding="utf-8")
    with pytest.raises(InvalidInput, match=r"own\.fig1"):
        building.read_library(path)
    path.write_text("{}", encoding="utf-8")
    with pytest.raises(InvalidInput, match="evidence"):
        building.read_library(path)


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    precious = tmp_path / "thesis.tex"
    precious.write_text("years of work", encoding="utf-8")
    with pytest.raises(InvalidInput, match="earlier site"):
        building.build(tmp_path)
    assert precious.exists()


def test_a_section_that_is_gone_is_told() -> None:
    assert building.section("## A\n\ntext\n\n## B\n", "A").strip() == "text"
    with pytest.raises(InvalidInput, match="section 'C'"):
        building.section("## A\n", "C")
    with pytest.raises(InvalidInput, match="ENCLOSED"):
        building.verdict_meanings("| PROVED | it is so |\n")


def test_claims_are_linked_where_they_are_text() -> None:
    links = Linker(["own.fig1"])
    link = "[`own.fig1`](claims/own.fig1.md)"
    assert links.text("(`own.fig1`, own.fig1).") == f"({link}, {link})."
    for alone in (
        "own.fig1-more", "my.own.fig1", "`python own.fig1`", "[own.fig1](x.md)", "own/fig1", "    own.fig1",
        "```\nown.fig1\n```", "own.fig1.md",
    ):  # fmt: skip
        assert links.text(alone) == alone


@pytest.mark.parametrize(
    ("docstring", "expected"),
    [
        ("a *stressed* word, 2*x*y, ``a*b``", r"a *stressed* word, 2\*x\*y, ``a*b``"),
        ("|x_i| and x_", r"\|x_i\| and x\_"),
        ("* an item |x|\n  that goes on", "* an item \\|x\\|\n  that goes on"),
        ("It is\n\n    a | b\n\nso", "It is\n\n::\n\n    a | b\n\nso"),
        ("1. One:\n\n       a | b\n\n   and so on", "1. One:\n\n   ::\n\n       a | b\n\n   and so on"),
        ("head\n  and a deeper line", "| head\n|   and a deeper line"),
        ("Args:\n    a, b: two\n        things", "Args:\n    a: two things\n    b: two\n        things"),
        (">>> print('|x|')\n|x|", ">>> print('|x|')\n|x|"),
    ],
)
def test_docstrings_become_restructured_text(docstring: str, expected: str) -> None:
    assert "\n".join(as_restructured_text(docstring.split("\n"))) == expected
