"""The symbolic engine: a derivation, given with the claim or found, that the kernel checks."""

from __future__ import annotations

import time
from dataclasses import replace

import sympy

from proofs.kernel import Rejected, prove
from proofs.tactics import NoIdea, limits, search
from proofs.verdict import Evidence, Verdict
from theory.claim import Claim
from theory.derivation import Derivation


def examine(claim: Claim, *, seed: int) -> Evidence | None:
    """Check the claim's proof, or look for one; PROVED or UNKNOWN.

    The seed is not used: nothing here is random.
    """
    start = time.perf_counter()

    def record(outcome: Verdict, scope: str, detail: str) -> Evidence:
        return Evidence("symbolic", outcome, scope, detail, seconds=time.perf_counter() - start)

    if claim.bound_statement in (True, sympy.true):
        return record(Verdict.PROVED, "the whole domain", "the statement says that something equals itself")
    if claim.bound_statement in (False, sympy.false):
        return None
    try:
        derivation = claim.proof if claim.proof is not None else search(claim)
        prove(claim, derivation)
    except NoIdea as reason:
        return record(Verdict.UNKNOWN, "none", f"no derivation found: {reason}")
    except Rejected as reason:
        given = "the derivation" if claim.proof is not None else "the derivation found by search"
        return record(Verdict.UNKNOWN, "none", f"{given} does not check: {reason}")
    count = _steps(derivation)
    return record(
        Verdict.PROVED,
        "the whole domain",
        f"derivation {derivation.name}: {count} steps, lemmas included, each checked by the kernel",
    )


def without_limits(claim: Claim) -> Claim:
    """The claim with the limits that the kernel can work out put in, for engines that only see numbers."""
    values = limits(claim)
    if not values:
        return claim
    return replace(claim, statement=claim.bound_statement.xreplace(values))


def _steps(derivation: Derivation, seen: set[int] | None = None) -> int:
    """Steps of a derivation and of all that it leans on, each counted once."""
    seen = set() if seen is None else seen
    if id(derivation) in seen:
        return 0
    seen.add(id(derivation))
    return len(derivation.steps) + sum(_steps(lemma, seen) for lemma in derivation.lemmas)
