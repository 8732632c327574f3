"""Settings that every test shares.

* Hypothesis: profile "quick" unless MASKPROOF_PROFILE (or HYPOTHESIS_PROFILE) says "thorough". In CI
  the quick profile always draws the same examples, so that a change fails for what it does and not by
  chance; elsewhere, and in the thorough profile, the examples are new each time, and a failure prints
  the blob that replays it.
* No test may use the network.
* In CI a skipped test is a failed test.
"""

from __future__ import annotations

import os

# Before NumPy is imported: the matrices are small, and one thread gives the same bits everywhere.
for _library in ("OPENBLAS", "OMP", "MKL", "VECLIB_MAXIMUM"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")
os.environ.setdefault("MPLBACKEND", "Agg")  # matplotlib, where it is installed, opens no window

import shutil
import socket
from collections.abc import Generator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

IN_CI = os.environ.get("CI", "").lower() in ("1", "true", "yes")

_common: dict[str, Any] = {
    "deadline": None,  # the time of one example says nothing on a shared machine
    "print_blob": True,
    "suppress_health_check": [HealthCheck.too_slow],
}
settings.register_profile("quick", max_examples=50, derandomize=IN_CI, **_common)
settings.register_profile("thorough", max_examples=1000, derandomize=False, **_common)
settings.load_profile(os.environ.get("MASKPROOF_PROFILE") or os.environ.get("HYPOTHESIS_PROFILE") or "quick")


def _refuse(self: socket.socket, address: object) -> None:
    raise AssertionError(f"a test tried to reach {address!r}; no test may use the network")


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket.socket, "connect", _refuse)
    monkeypatch.setattr(socket.socket, "connect_ex", _refuse)


@pytest.fixture
def pdflatex() -> str:
    """The path of pdflatex; the test is skipped without it, and in CI fails."""
    program = shutil.which("pdflatex")
    if program is None:
        pytest.skip("pdflatex is not installed")
    return program


def _skipping_fails(report: Any) -> Any:
    """In CI, turn a skip (not an expected failure) into a failure that gives its reason."""
    if IN_CI and report.skipped and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome = "failed"
        report.longrepr = f"in CI nothing is skipped: {reason}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, Any, Any]:
    return _skipping_fails((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, Any, Any]:
    return _skipping_fails((yield))
