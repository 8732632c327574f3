"""What tests/conftest.py and the settings in pyproject.toml promise, tried on small test files."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def _run_tests(folder: Path, source: str, *options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a test file under the settings of this project."""
    shutil.copy(ROOT / "tests" / "conftest.py", folder)
    shutil.copy(ROOT / "pyproject.toml", folder)
    (folder / "test_it.py").write_text(source, encoding="utf-8")
    inherited = {name: value for name, value in os.environ.items() if name not in ("CI", "PYTEST_ADDOPTS")}
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "test_it.py", *options],
        cwd=folder,
        env=inherited | environment,
        capture_output=True,
        text=True,
        check=False,
    )


SKIPS = {
    "a call": "import pytest\ndef test_it():\n    pytest.skip('no such program')",
    "a whole file": "import pytest\npytest.importorskip('no_such_module', reason='no such program')",
    "LaTeX": "def test_it(pdflatex): ...",
}


@pytest.mark.parametrize("source", SKIPS.values(), ids=SKIPS)
def test_what_skips_elsewhere_fails_in_ci(tmp_path: Path, source: str) -> None:
    nowhere = str(tmp_path)  # no program is found on this path
    in_ci = _run_tests(tmp_path, source, CI="true", PATH=nowhere)
    assert in_ci.returncode not in (0, 5), in_ci.stdout
    assert "in CI nothing is skipped" in in_ci.stdout
    elsewhere = _run_tests(tmp_path, source, PATH=nowhere)
    assert "1 skipped" in elsewhere.stdout, elsewhere.stdout
    assert "failed" not in elsewhere.stdout


def test_an_expected_failure_is_no_skip(tmp_path: Path) -> None:
    source = "import pytest\n@pytest.mark.xfail(reason='known')\ndef test_it():\n    assert False"
    assert "1 xfailed" in _run_tests(tmp_path, source, CI="true").stdout


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        (
            "import socket\ndef test_it():\n    socket.create_connection(('127.0.0.1', 9))",
            "no test may use the network",
        ),
        ("import warnings\ndef test_it():\n    warnings.warn('careful')", "UserWarning: careful"),
        (
            "import pytest\n@pytest.mark.undeclared\ndef test_it(): ...",
            "'undeclared' not found in `markers` configuration",
        ),
    ],
    ids=["network", "warning", "unknown marker"],
)
def test_the_network_warnings_and_unknown_markers_fail(tmp_path: Path, source: str, complaint: str) -> None:
    done = _run_tests(tmp_path, source)
    assert done.returncode not in (0, 5)
    assert complaint in done.stdout


def test_a_slow_test_waits_to_be_asked_for(tmp_path: Path) -> None:
    source = "import pytest\n@pytest.mark.slow\ndef test_slow(): ...\ndef test_quick(): ..."
    assert "1 passed, 1 deselected" in _run_tests(tmp_path, source).stdout
    assert "1 passed, 1 deselected" in _run_tests(tmp_path, source, "-m", "slow").stdout
