"""What is known about a claim, in words, from the recorded verdicts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from maskproof.theory.claim import Claim

Recorded = Mapping[str, Mapping[str, Any]]  # claim id -> {"verdict": ..., "witness": ..., "checked by": ...}

HOW = {
    "PROVED": "by an exact argument that covers the whole domain",
    "ENCLOSED": "by ball arithmetic at every point of the domain",
    "SAMPLED": "nothing against it was found where it was tried",
    "REFUTED": "by a counterexample",
    "UNKNOWN": "no engine could decide it",
}


def verdict(claim: Claim, recorded: Recorded) -> str:
    """The recorded verdict, or "not recorded"."""
    return str(recorded.get(claim.id, {}).get("verdict") or "not recorded")


def how(claim: Claim, recorded: Recorded) -> str:
    """How the verdict was reached, in words."""
    found = verdict(claim, recorded)
    if found == "PROVED" and claim.proof is not None:
        return f"by the derivation “{claim.proof.title}”"
    words = recorded.get(claim.id, {}).get("how")
    return str(words) if words else HOW.get(found, "")


def checker(claim: Claim, recorded: Recorded) -> str:
    """Who has checked a proof, if that is known, in words."""
    return str(recorded.get(claim.id, {}).get("checked by") or "")


def witness(claim: Claim, recorded: Recorded) -> str:
    """The counterexample as ``i = 27, j = 25``, or an empty string."""
    point = recorded.get(claim.id, {}).get("witness") or {}
    return ", ".join(f"{name} = {value}" for name, value in point.items())


def counts(claims: list[Claim], recorded: Recorded) -> list[tuple[str, int]]:
    """How many claims have each verdict, in the order of ``HOW``."""
    found = [verdict(claim, recorded) for claim in claims]
    return [(name, found.count(name)) for name in (*HOW, "not recorded") if name in found]
