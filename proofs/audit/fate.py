"""What becomes of a changed claim: refuted, rejected, true as well, or not noticed."""

from __future__ import annotations

import time
from dataclasses import dataclass
from enum import StrEnum

from maskproof.proofs.audit.changes import Change
from maskproof.proofs.audit.implied import bridge, follows, unseen
from maskproof.proofs.engines import derivations
from maskproof.proofs.kernel.known import Rejected
from maskproof.proofs.pipeline import verify
from maskproof.proofs.verdict import Result, Verdict
from maskproof.theory.claim import Claim
from maskproof.theory.errors import InvalidInput

KERNEL = "kernel"
_WEAKEST_FIRST = (Verdict.UNKNOWN, Verdict.SAMPLED, Verdict.ENCLOSED, Verdict.PROVED)


class Fate(StrEnum):
    """What becomes of a change."""

    REFUTED = "refuted"  # a witness
    REJECTED = "rejected"  # the kernel does not accept the derivation any more
    REFUSED = "refused"  # it says nothing that could be checked, or has no value somewhere
    DOUBTED = "doubted"  # none of these, but the claim loses the verdict it had
    TRUE = "true as well"  # certified all the same, or it says no more than the claim: it is no error
    UNNOTICED = "unnoticed"  # the verdict stays what it was, and is not certain


@dataclass(frozen=True)
class Case:
    """A change with what became of it.

    Attributes:
        claim: the id of the claim that was changed.
        place, kind, what: of the change, in words.
        fate: what became of it.
        engine: which engine said so; "reading" where it can't be read, LIMIT where time or memory ran out.
        seconds: how long it took.
        why: its words.
    """

    claim: str
    place: str
    kind: str
    what: str
    fate: Fate
    engine: str
    seconds: float
    why: str


Told = tuple[Fate, str, str]  # the fate, the engine, its words


def case(change: Change, told: Told, seconds: float) -> Case:
    """A change with what was told of it."""
    return Case(change.claim, change.place, change.kind, str(change.what), told[0], told[1], seconds, told[2])


def judge(change: Change, claim: Claim, changed: Claim, before: Verdict, seed: int) -> Case:
    """What becomes of a change to a claim that had a verdict before."""
    started = time.perf_counter()
    try:
        told = _in_kernel(changed) if change.in_proof else _in_engines(claim, changed, before, seed)
    except InvalidInput as reason:
        told = Fate.REFUSED, "reading", str(reason)
    return case(change, told, time.perf_counter() - started)


def _in_kernel(changed: Claim) -> Told:
    """A changed derivation either does not check, or proves the claim as the other did."""
    assert changed.proof is not None
    try:
        derivations.prove(changed, changed.proof)
    except Rejected as reason:
        return Fate.REJECTED, KERNEL, str(reason)
    return Fate.TRUE, KERNEL, "the derivation checks as well"


def _in_engines(claim: Claim, changed: Claim, before: Verdict, seed: int) -> Told:
    """What says no more than a claim that holds is no error; all else is for the engines."""
    changed.check()
    held = before not in (Verdict.REFUTED, Verdict.UNKNOWN)
    if held and follows(claim, changed):
        return Fate.TRUE, KERNEL, "it follows from the claim"
    if held and unseen(claim, changed):
        return Fate.TRUE, "reading", "no quantity of the claim depends on what was changed"
    told = fate_of(verify(changed, seed), before)
    if held and told[0] in (Fate.UNNOTICED, Fate.DOUBTED) and (weaker := bridge(claim, changed)) is not None:
        engine = _certain(verify(weaker, seed))
        if engine:
            return Fate.TRUE, engine, f"it follows from the claim and {weaker.statement}"
    return told


def _certain(result: Result) -> str:
    """The engine that makes a verdict certain; none if it is not."""
    if result.verdict not in (Verdict.PROVED, Verdict.ENCLOSED):
        return ""
    return next(evidence.engine for evidence in result.evidence if evidence.outcome is result.verdict)


def fate_of(result: Result, before: Verdict) -> Told:
    """The fate that a verdict on the changed claim means, with who said so."""
    verdict = result.verdict
    saying = [evidence for evidence in result.evidence if evidence.outcome is verdict]
    if verdict is Verdict.REFUTED:
        return Fate.REFUTED, saying[0].engine, saying[0].detail
    if verdict in (Verdict.PROVED, Verdict.ENCLOSED):
        return Fate.TRUE, saying[0].engine, saying[0].detail
    objection = next((e for e in result.evidence if e.objection or e.engine == "reading"), None)
    if objection is not None:
        return Fate.REFUSED, objection.engine, objection.detail
    weaker = before is Verdict.REFUTED or _WEAKEST_FIRST.index(verdict) < _WEAKEST_FIRST.index(before)
    closest = saying[-1]  # what could not be decided is told by the engine that came closest: the last one asked
    return Fate.DOUBTED if weaker else Fate.UNNOTICED, closest.engine, closest.detail
