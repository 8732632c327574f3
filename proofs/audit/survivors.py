"""Why a change to a shipped claim may go unnoticed: the reason for each claim in whose statement one does."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

REASONS: Mapping[str, str] = {}


def unexplained(claims: Iterable[str]) -> list[str]:
    """Those of these claims for which no reason is recorded, each once."""
    return [name for name in dict.fromkeys(claims) if name not in REASONS]
