"""The symbolic engine: a derivation, given with the claim or found, that the kernel checks."""

from __future__ import annotations

import time
from dataclasses import replace

import sympy
from sympy import Eq, Ne

from maskproof.proofs.derivations import prove
from maskproof.proofs.kernel.known import Rejected
from maskproof.proofs.search import NoIdea, candidates, limits
from maskproof.proofs.verdict import Evidence, Verdict
from maskproof.theory.claim import Claim
from maskproof.theory.derivation import Derivation
from maskproof.theory.domain import find_point

GIVEN = "the given derivation"


def examine(claim: Claim, *, seed: int) -> Evidence | None:
    """Check the claim's proof, or look for one; PROVED or UNKNOWN.

    The seed is not used: nothing here is random.
    """
    start = time.perf_counter()

    def record(outcome: Verdict, scope: str, detail: str) -> Evidence:
        return Evidence("symbolic", outcome, scope, detail, seconds=time.perf_counter() - start)

    if isinstance(claim.bound_statement, Ne) and (equal := _proved_equal(claim)) is not None:
        return replace(
            record(Verdict.REFUTED, "the whole domain", f"both sides are equal, by derivation {equal.name}"),
            witness=_any_point(claim),
        )
    try:
        derivation = _checked(claim)
    except NoIdea as reason:
        return record(Verdict.UNKNOWN, "", f"no derivation found: {reason}")
    except Rejected as reason:
        return record(Verdict.UNKNOWN, "", f"{GIVEN} does not check: {reason}")
    count = _steps(derivation)
    return record(
        Verdict.PROVED,
        "the whole domain",
        f"derivation {derivation.name}: {count} steps, lemmas included, each checked by the kernel",
    )


def _checked(claim: Claim) -> Derivation:
    """The claim's derivation, or one that is found for it, checked.

    Raises:
        Rejected: its own does not check.
        NoIdea: none is found that does.
    """
    if claim.proof is not None:
        prove(claim, claim.proof)
        return claim.proof
    reason = "no way to show it"
    for derivation in candidates(claim):
        try:
            prove(claim, derivation)
        except Rejected as objection:
            reason = str(objection)
        else:
            return derivation
    raise NoIdea(reason)


def _proved_equal(claim: Claim) -> Derivation | None:
    """A checked derivation that the two sides, claimed to differ, are equal; None if none is found."""
    opposite = replace(claim, statement=Eq(*claim.bound_statement.args), proof=None)
    try:
        return _checked(opposite)
    except NoIdea:
        return None


def _any_point(claim: Claim) -> dict[str, object]:
    point = find_point(sympy.sympify(claim.domain), claim.free_symbols) or {}
    return {symbol.name: value for symbol, value in point.items()}


def without_limits(claim: Claim) -> tuple[Claim, str]:
    """The claim with the limits that the kernel can work out put in, for engines that only see numbers.

    Returns the claim itself if there are none, and in words which limits were put in.
    """
    values = limits(claim)
    if not values:
        return claim, ""
    words = "; ".join(f"the kernel derives that {limit.args[0]} tends to {value}" for limit, value in values.items())
    return replace(claim, statement=claim.bound_statement.xreplace(values)), words


def _steps(derivation: Derivation, seen: set[int] | None = None) -> int:
    """Steps of a derivation and of all that it leans on, each counted once."""
    seen = set() if seen is None else seen
    if id(derivation) in seen:
        return 0
    seen.add(id(derivation))
    return len(derivation.steps) + sum(_steps(lemma, seen) for lemma in derivation.lemmas)
