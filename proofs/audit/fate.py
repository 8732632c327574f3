"""What becomes of a changed claim: refuted, rejected, true as well, or not noticed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from enum import StrEnum

from maskproof.proofs.audit.changes import Change, changes, chosen
from maskproof.proofs.processes.limits import Limit
from maskproof.proofs.processes.supervision import Supervised
from maskproof.proofs.verdict import Result, Verdict
from maskproof.theory.claim import Claim

AUDITED = 8  # changes of each claim, unless it is asked for more
PATIENCE = Limit(seconds=20)


class Fate(StrEnum):
    """What becomes of a change."""

    REFUTED = "refuted"  # a witness
    REJECTED = "rejected"  # the kernel does not accept the derivation any more
    REFUSED = "refused"  # it says nothing that could be checked, or has no value somewhere
    TRUE = "true as well"  # certified all the same: it is no error
    DOUBTED = "doubted"  # neither: the claim loses the verdict it had
    UNNOTICED = "unnoticed"  # the verdict stays what it was, and is not certain


@dataclass(frozen=True)
class Case:
    """A change with what became of it.

    Attributes:
        claim: the id of the claim that was changed.
        change: the change.
        fate: what became of it.
        engine: which engine said so.
        seconds: how long it took.
        why: its words.
    """

    claim: str
    change: Change
    fate: Fate
    engine: str
    seconds: float
    why: str


def audit(claims: Sequence[Claim], *, most: int = AUDITED, seed: int = 0, processes: int | None = None) -> Iterator[Case]:
    """Change each claim in up to ``most`` ways, and see what becomes of each.

    The claims themselves are looked at first: what a change does is told by what it does to the verdict.
    """
    picked = {f"{claim.id}#{n}": (claim, *made) for claim in claims for n, made in enumerate(chosen(changes(claim), most))}
    altered = [replace(changed, id=name) for name, (_, _, changed) in picked.items()]
    before: dict[str, Result] = {}
    for name, outcome in _judged([*claims, *altered], seed, processes):
        if name not in picked:
            if isinstance(outcome, Result):
                before[name] = outcome
            continue
        claim, change, _ = picked[name]
        yield _case(claim, change, outcome, before.get(claim.id))


def _judged(claims: list[Claim], seed: int, processes: int | None) -> Iterable[tuple[str, object]]:
    with closing(Supervised(lambda _: claims, seed, PATIENCE, processes=processes)) as supervised:
        yield from zip(supervised.ids, supervised.outcomes(), strict=True)


def _case(claim: Claim, change: Change, outcome: object, before: Result | None) -> Case:
    if not isinstance(outcome, Result):
        return Case(claim.id, change, Fate.REFUSED, "reading", 0.0, str(outcome))
    deciding = next((e for e in outcome.evidence if e.outcome is outcome.verdict), None)
    engine, why = (deciding.engine, deciding.detail) if deciding is not None else ("", "")
    return Case(claim.id, change, _fate(change, outcome, before), engine, outcome.seconds, why)


def _fate(change: Change, result: Result, before: Result | None) -> Fate:
    verdict = result.verdict
    if change.in_proof:
        return Fate.TRUE if verdict is Verdict.PROVED else Fate.REJECTED
    if verdict is Verdict.REFUTED:
        return Fate.REFUTED
    if verdict in (Verdict.PROVED, Verdict.ENCLOSED):
        return Fate.TRUE
    if any(e.objection or e.engine == "reading" for e in result.evidence):
        return Fate.REFUSED
    return Fate.UNNOTICED if before is not None and verdict is before.verdict else Fate.DOUBTED
