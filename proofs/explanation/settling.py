"""What would settle a claim that is not settled: a bounded domain, more samples, a proof, more time."""

from __future__ import annotations

from collections.abc import Iterator

from maskproof.proofs.engines.question import question
from maskproof.proofs.engines.region import Region
from maskproof.proofs.engines.symbolic import GIVEN
from maskproof.proofs.engines.truth import NotApplicable
from maskproof.proofs.terms.reading import Unreadable
from maskproof.proofs.verdict import LIMIT, Evidence, Result, Verdict
from maskproof.theory.claim import Claim

_SETTLED = (Verdict.PROVED, Verdict.REFUTED)
_NOT_APPLICABLE = "not applicable"


def settling(claim: Claim, result: Result) -> list[str]:
    """What would settle it, the simplest first; nothing for a claim that is proved or refuted."""
    if result.verdict in _SETTLED:
        return []
    if result.verdict is Verdict.ENCLOSED:
        return ["it is settled on this domain; a proof alone would reach beyond it"]
    advice = [*(words for evidence in result.evidence for words in _of(evidence)), *_of_domain(claim)]
    return list(dict.fromkeys(advice))


def _of(evidence: Evidence) -> Iterator[str]:
    """What one engine's evidence asks for."""
    detail = evidence.detail
    match evidence.engine:
        case "reading":
            yield f"another way to write it: {detail}"
        case "uses":
            yield f"what it uses: {detail}"
        case "contradiction":
            yield "a repair of maskproof: two engines contradict each other, please report it"
        case "symbolic" if detail.startswith(GIVEN):
            yield f"a derivation that checks: {detail}"
        case "symbolic" if evidence.outcome is Verdict.UNKNOWN:
            yield f"a proof, given as proof=Derivation(...): {detail}"
        case "monte_carlo" if _NOT_APPLICABLE not in detail and not evidence.objection:
            yield "more samples: --effort 4 draws four times as many, which halves the standard errors"
        case _ if evidence.engine == LIMIT:
            yield f"more room: {detail}"
        case _ if evidence.objection and _NOT_APPLICABLE not in detail:
            yield f"a domain on which it has a value: {detail}"
        case _:
            pass


def _of_domain(claim: Claim) -> Iterator[str]:
    """Which variables stand in the way of covering the whole domain."""
    try:
        asked = question(claim)
        region = Region(asked)
    except (NotApplicable, Unreadable):
        return
    if not asked.deterministic:
        return
    ranges = region.ranges()
    free = [v.name for v in region.integers if not ranges[v].bounded]
    if free:
        names = ", ".join(free)
        yield f"a bounded domain: with an upper bound on {names} every point can be decided in ball arithmetic"
    reals = [v.name for v in region.reals if not (ranges[v].bounded and ranges[v].low == ranges[v].high)]
    if len(reals) > 1:
        yield f"fewer real parameters: intervals are covered in one of {', '.join(reals)} at a time, the others fixed"
    elif reals and not ranges[region.reals[0]].bounded:
        yield f"a bounded domain: an interval for {reals[0]} instead of all values"
