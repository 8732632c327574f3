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


def test_the_claims_file_of_the_readme(tmp_path: Path) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (claims,) = (block for block in re.findall(r"```python\n(.*?)```", readme, re.DOTALL) if "claims = [" in block)
    expected = dict(re.findall(r"^\| `(mine\.[\w-]+)` \| (\w+) \|", readme, re.MULTILINE))
    (tmp_path / "my_claims.py").write_text(claims, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "maskproof", "verify", "my_claims.py", "--json", "out.json"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stderr  # one of them is refuted
    results = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))["claims"]
    assert expected
    assert {result["id"]: result["verdict"] for result in results} == expected
