"""An explanation of a verdict: what would settle the claim, what is true in its place, how to replay its witness."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from maskproof.proofs.explanation import candidates, fitting
from maskproof.proofs.explanation.candidates import BOUND, Candidate
from maskproof.proofs.explanation.replay import program
from maskproof.proofs.explanation.settling import settling
from maskproof.proofs.pipeline import verify
from maskproof.proofs.processes import limits
from maskproof.proofs.shown.report import reason
from maskproof.proofs.terms.reading import Unreadable
from maskproof.proofs.verdict import Result, Verdict
from maskproof.theory.claim import Claim
from maskproof.theory.errors import InvalidInput
from maskproof.theory.export.claim_text import domain_text, statement_text

_CERTAIN = (Verdict.PROVED, Verdict.ENCLOSED)
_EACH = 15.0  # seconds for a candidate
_MOST = 4  # forms that are told


@dataclass(frozen=True)
class Nearest:
    """A true form of a claim that is not certain itself.

    Attributes:
        change: what is different, in words.
        statement, domain: as text.
        verdict: the engines' own, of this form.
        because: its reason.
    """

    change: str
    statement: str
    domain: str
    verdict: Verdict
    because: str


@dataclass(frozen=True)
class Stated:
    """What is claimed, and for all which values, as text."""

    statement: str
    domain: str


@dataclass(frozen=True)
class Settling:
    """What would settle the claim."""

    words: tuple[str, ...]


@dataclass(frozen=True)
class Replay:
    """A NumPy program that prints both sides at the witness; None where there can be none."""

    program: str | None


Part = Stated | Settling | Replay | Nearest


def explain(claim: Claim, result: Result, seed: int = 0) -> Iterator[Part]:
    """The parts of an explanation, the quick ones first, so that a limit of time leaves those that are there.

    Args:
        claim: the claim.
        result: what ``verify`` says of it.
        seed: of the random numbers that judge nearby forms.
    """
    yield Stated(statement_text(claim), domain_text(claim))
    yield Settling(tuple(settling(claim, result)))
    if result.verdict is Verdict.REFUTED and result.witness is not None:
        yield Replay(program(claim, result.witness))
    if result.verdict not in _CERTAIN:
        yield from nearest(claim, result, seed)


def nearest(claim: Claim, result: Result, seed: int = 0) -> Iterator[Nearest]:
    """True forms near a claim that is not certain, each judged by ``verify``."""
    told = 0
    try:
        for candidate, verdict in _judged(_groups(claim, result), seed):
            yield _told(candidate, verdict)
            told += 1
            if told == _MOST:
                return
    except Unreadable:
        return


def _groups(claim: Claim, result: Result) -> Iterator[list[Candidate]]:
    """Candidates in groups; of a group of domains the first that is true is enough."""
    if result.verdict is Verdict.REFUTED and result.witness is not None:
        witness = result.witness
        yield fitting.constants(claim, witness)
        for near in (candidates.other_relations, candidates.parts):
            yield from ([candidate] for candidate in near(claim, witness))
        yield from fitting.ranges(claim)
        yield from ([candidate] for candidate in candidates.smaller_domains(claim, witness))
        return
    if any(evidence.objection for evidence in result.evidence):
        yield list(candidates.apart(claim))
    if claim.proof is not None:
        yield [Candidate("without the derivation given", replace(claim, proof=None))]
    smaller = fitting.bounded(claim, BOUND)
    single = fitting.fixed(smaller.claim if smaller is not None else claim)
    yield [each for each in (smaller, single) if each is not None]


def _judged(groups: Iterator[list[Candidate]], seed: int) -> Iterator[tuple[Candidate, Result]]:
    signs: list[str] = []
    for group in groups:
        for candidate in group:
            if candidate.implied_by(signs):
                continue
            result = _judge(candidate.claim, seed)
            if result is not None and result.verdict in _CERTAIN:
                signs += [candidate.sign] if candidate.sign else []
                yield candidate, result
                break


def _judge(claim: Claim, seed: int) -> Result | None:
    """What ``verify`` says of it; None of what says nothing that could be checked."""
    try:
        return verify(claim, seed, timeout=_EACH) if limits.SUPPORTED else verify(claim, seed)
    except InvalidInput:
        return None


def _told(candidate: Candidate, result: Result) -> Nearest:
    claim = candidate.claim
    return Nearest(candidate.change, statement_text(claim), domain_text(claim), result.verdict, reason(result))
