"""What claims and results look like in a notebook, and the progress of verify there."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest
from sympy import And, Lt

from maskproof.proofs import verify
from maskproof.proofs.shown import notebook
from maskproof.theory import Claim, Equicorrelated, Score, i, j

ZERO = Equicorrelated(0)
STEP = Lt(Score(3, i, j), Score(3, i, j + 1))
TRUE = Claim("mine.a_b", STEP, And(j < i, i <= 4), inputs=ZERO, source="x & y < z")
FALSE = Claim("mine.c", STEP, And(j < i, i <= 30), inputs=ZERO)


def test_a_claim() -> None:
    page = TRUE._repr_html_()
    text = "".join(ElementTree.fromstring(f"<div>{page}</div>").itertext())  # well-formed: nothing is left unescaped
    assert "mine.a_b" in text
    assert r"\lt S^{(3)}_{i,j + 1}" in text
    assert r"1 \le j \lt i \le 4" in text
    assert r"\begin{aligned}" in TRUE._repr_latex_()


def test_results() -> None:
    results = verify([TRUE, FALSE])
    table = ElementTree.fromstring(results._repr_html_())
    rows = [["".join(cell.itertext()) for cell in row] for row in table.iter("tr")]
    assert [row[:2] for row in rows[1:]] == [["mine.a_b", "ENCLOSED"], ["mine.c", "REFUTED"]]
    assert rows[2][2].startswith("at i = 27, j = 25: ")
    assert r"\texttt{mine.a\_b} & \text{ENCLOSED}" in results._repr_latex_()
    assert results[1]._repr_html_().count("<tr>") == 2
    assert results == list(results)


def _kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    shell = type("ZMQInteractiveShell", (), {})()
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.delenv("MASKPROOF_STATIC", raising=False)


def test_progress_as_text_without_widgets(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    _kernel(monkeypatch)
    monkeypatch.setattr(notebook.importlib.util, "find_spec", lambda _: None)
    assert [result.id for result in verify([TRUE, FALSE])] == ["mine.a_b", "mine.c"]
    told = capsys.readouterr().err
    assert "1 of 2: mine.a_b" in told
    assert "2 of 2: mine.c" in told


def test_no_progress_where_output_stands_still_or_nobody_looks(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    verify([TRUE])
    assert not notebook.in_notebook()
    _kernel(monkeypatch)
    assert notebook.in_notebook()
    monkeypatch.setenv("MASKPROOF_STATIC", "1")
    assert not notebook.in_notebook()
    verify([TRUE, FALSE])
    assert capsys.readouterr().err == ""
