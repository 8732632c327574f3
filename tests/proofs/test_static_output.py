"""Output that is the same on every run, as notebooks need it."""

import io
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from maskproof.proofs.command.console import STATIC
from maskproof.proofs.shown.report import Row, summary, verdict_table
from maskproof.proofs.verdict import Result, Verdict

ROOT = Path(__file__).parents[2]
ROWS = [Row("mine", Result("mine", Verdict.PROVED, (), None, 12.34)), Row("other", error="malformed")]


def printed() -> str:
    console = Console(file=io.StringIO(), width=80)
    console.print(verdict_table(ROWS))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue() + summary(ROWS, 56.78)


def test_seconds_stay_out_where_output_is_to_be_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(STATIC, raising=False)
    assert "12.3" in printed()
    assert "in 56.8 s" in printed()
    monkeypatch.setenv(STATIC, "1")
    assert "12.3" not in printed()
    assert "56.8" not in printed()
    assert printed().splitlines()[0].split() == ["claim", "verdict", "reason"]
    assert "malformed" in printed()


def test_no_progress_and_no_colours_in_a_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    """A notebook's kernel sets FORCE_COLOR, which makes rich take every pipe for a terminal."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv(STATIC, "1")
    command = [sys.executable, "-m", "maskproof", "verify", "own.fig1"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0
    assert "\x1b" not in done.stdout + done.stderr
    assert done.stderr == ""
