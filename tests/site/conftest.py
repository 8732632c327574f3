"""The site, built once for all tests of a run, however many processes share them."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SHOWN = ("kim2025.eq4", "kim2025.increasing-3", "kim2025.fig1")  # claims whose evidence the site shows


def _run(*command: str) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-m", *command], cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode in (0, 1) if command[0] == "maskproof" else done.returncode == 0, done.stderr
    if command[0] == "maskproof.proofs.site":
        assert done.stderr == ""


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the built site, with the evidence of a few claims."""
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent  # one for all workers
    pages, built = shared / "site", shared / "site-built"
    with (shared / "site-lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not built.exists():
            evidence = shared / "evidence.json"
            _run("maskproof", "verify", *SHOWN, "--json", str(evidence))
            _run("maskproof.proofs.site", str(pages), "--evidence", str(evidence))
            built.touch()
    return pages


@pytest.fixture(scope="session")
def evidence(site: Path) -> dict[str, list[dict[str, object]]]:
    """What the engines found for the claims whose evidence the site shows."""
    results = json.loads((site.parent / "evidence.json").read_text(encoding="utf-8"))["claims"]
    return {result["id"]: result["evidence"] for result in results}


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of Chromium; the test is skipped without it, and in CI fails."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        program = shutil.which(name)
        if program is not None:
            return program
    pytest.skip("chromium is not installed")
