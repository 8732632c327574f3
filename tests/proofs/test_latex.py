"""The exported document under pdflatex: no errors, no loose references, no line far into the margin."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from proofs.cli import run

WIDEST = 10.0  # points by which a line may be too wide

pytestmark = pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")


def compiled(source: Path) -> str:
    """The log of the last of three runs, after which references have settled."""
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", source.name]
    for _ in range(3):
        done = subprocess.run(command, cwd=source.parent, capture_output=True, timeout=300)
        assert done.returncode == 0, done.stdout.decode(errors="replace")[-2000:]
    return source.with_suffix(".log").read_text(encoding="utf-8", errors="replace")


def check(log: str) -> None:
    assert "undefined" not in log
    assert "multiply defined" not in log
    assert "Missing character" not in log
    wide = [float(points) for points in re.findall(r"Overfull \\hbox \(([\d.]+)pt too wide\)", log)]
    assert [points for points in wide if points > WIDEST] == []


def test_all_claims_and_derivations(tmp_path: Path) -> None:
    source = tmp_path / "claims.tex"
    assert run(["export", "latex", "--out", str(source)]) == 0
    assert r"\resizebox" not in source.read_text(encoding="utf-8")  # every long formula found a place to break
    check(compiled(source))


def test_one_derivation(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["derive", "layer-two", "--format", "latex"]) == 0
    source = tmp_path / "derivation.tex"
    source.write_text(capsys.readouterr().out, encoding="utf-8")
    check(compiled(source))
