"""The examples in docstrings and in the README run and give what they say."""

from __future__ import annotations

import doctest
import importlib
import io
import json
import os
import pkgutil
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from maskproof.proofs.shown import notes

ROOT = Path(__file__).resolve().parents[1]
MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages([str(ROOT / "maskproof")], "maskproof.")
    if module.name != "maskproof.__main__"
)


def run_examples(module: ModuleType) -> tuple[int, str]:
    """Run a module's examples; return how many there are and what went wrong."""
    report = io.StringIO()
    runner = doctest.DocTestRunner(verbose=False)
    for test in doctest.DocTestFinder(exclude_empty=True).find(module):
        runner.run(test, out=report.write)
    return runner.tries, report.getvalue()


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name: str) -> None:
    _, problems = run_examples(importlib.import_module(name))
    assert not problems, problems


def test_there_are_examples() -> None:
    assert sum(run_examples(importlib.import_module(name))[0] for name in MODULES) > 0


def test_a_wrong_example_is_seen() -> None:
    module = ModuleType("wrong")
    module.__doc__ = ">>> 1 + 1\n3\n"
    tried, problems = run_examples(module)
    assert tried == 1
    assert "Expected" in problems


def claims_files(path: Path) -> list[str]:
    """The claims files that a text shows."""
    blocks = re.findall(r"```python\n(.*?)```", path.read_text(encoding="utf-8"), re.DOTALL)
    return [block for block in blocks if "claims = [" in block]


def verdicts_told(path: Path) -> list[tuple[str, str]]:
    """Claims and verdicts in the tables of a text, in their order."""
    return re.findall(r"^\| `((?:mine|first)\.[\w-]+)` \| ([A-Z]+) \|", path.read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.parametrize(("name", "count"), [("README.md", 1), ("docs/tutorial.md", 3)])
def test_the_claims_files_of_a_text(tmp_path: Path, name: str, count: int) -> None:
    files = claims_files(ROOT / name)
    assert len(files) == count
    found = []
    for claims in files:
        (tmp_path / "my_claims.py").write_text(claims, encoding="utf-8")
        done = subprocess.run(
            [sys.executable, "-m", "maskproof", "verify", "my_claims.py", "--json", "out.json"],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=False,
        )
        results = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))["claims"]
        assert done.returncode == any(result["verdict"] == "REFUTED" for result in results), done.stderr
        found += [(result["id"], result["verdict"]) for result in results]
    assert found == verdicts_told(ROOT / name)


def test_the_reasons_of_the_readme_are_those_given() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert notes.regenerated(text, {"example": notes.example([], {})}, "README.md") == text
