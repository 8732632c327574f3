"""The pytest plugin: each claim of a module-level list ``claims`` is a test.

It is loaded in every run of pytest, so it imports nothing until a module with claims is collected.

    pytest claims.py                 each claim is a test named by its id
    pytest claims.py::mine.weight    one of them

A claim passes if it is PROVED, ENCLOSED or SAMPLED. The module says otherwise with a mapping ``expected`` from ids to
verdicts: ``expected = {"mine.too-far": "REFUTED"}``.
"""

from __future__ import annotations

import sys
from typing import Any

_CLAIM = "maskproof.theory.claim"


def pytest_addoption(parser: Any) -> None:
    """The options of the plugin."""
    group = parser.getgroup("maskproof", "claims about attention masks")
    group.addoption("--maskproof-seed", metavar="N", default="0", help="Seed of every random number.")
    group.addoption(
        "--maskproof-effort", metavar="X", default="1", help="Draw X times the usual random samples for expectations."
    )
    group.addoption(
        "--maskproof-timeout",
        metavar="S",
        default=None,
        help="Check each claim in a process of its own, for at most S seconds; without it there is no limit.",
    )


def pytest_pycollect_makeitem(collector: Any, name: str, obj: object) -> Any:
    """The claims of a module as tests; None for everything else that a module holds."""
    if name != "claims" or not isinstance(obj, list) or not obj or _CLAIM not in sys.modules:
        return None
    if not any(isinstance(element, sys.modules[_CLAIM].Claim) for element in obj):
        return None
    from maskproof.proofs.testing.collection import items

    return items(collector, obj)
