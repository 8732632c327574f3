"""From claims to verdicts: which engine is asked when, and what their evidence amounts to together."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import overload

import numpy as np

from maskproof.proofs import registry
from maskproof.proofs.engines import enclosure, symbolic
from maskproof.proofs.engines.question import question
from maskproof.proofs.processes import limits
from maskproof.proofs.processes.limits import Limit
from maskproof.proofs.terms.reading import Unreadable
from maskproof.proofs.verdict import LIMIT, Evidence, Result, Results, Verdict
from maskproof.theory.claim import Claim
from maskproof.theory.errors import InvalidInput

ClaimProgress = Callable[[str, int], object]

CROSS_CHECK = 0.05  # share of the usual samples that the cross-check of a proved claim takes
_STRONGEST_FIRST = (Verdict.REFUTED, Verdict.PROVED, Verdict.ENCLOSED, Verdict.SAMPLED, Verdict.UNKNOWN)


class Contradiction(RuntimeError):
    """Two engines contradict each other: one of them is wrong, and no verdict can be trusted."""

    def __init__(self, claim: str, first: Evidence, second: Evidence) -> None:
        super().__init__(
            f"claim {claim} is {first.outcome} by {first.engine} ({first.detail}) "
            f"and {second.outcome} by {second.engine} ({second.detail})"
        )
        self.evidence = (first, second)


@overload
def verify(
    claims: Claim,
    seed: int = 0,
    progress: ClaimProgress | None = None,
    *,
    timeout: float | None = None,
    memory: float | None = None,
    effort: float = 1.0,
) -> Result: ...
@overload
def verify(
    claims: Iterable[Claim],
    seed: int = 0,
    progress: ClaimProgress | None = None,
    *,
    timeout: float | None = None,
    memory: float | None = None,
    effort: float = 1.0,
) -> Results: ...
def verify(
    claims: Claim | Iterable[Claim],
    seed: int = 0,
    progress: ClaimProgress | None = None,
    *,
    timeout: float | None = None,
    memory: float | None = None,
    effort: float = 1.0,
) -> Result | Results:
    """Check claims and return the verdict on each with its evidence.

    Without ``timeout`` and ``memory`` everything happens in this process, without limits: quick, and easy to
    step through. With one of them every claim is checked in a process of its own, as ``maskproof verify``
    does, and one that takes more is UNKNOWN. The verdicts are the same otherwise.

    Args:
        claims: one claim, or several; what they use may be among them or among the shipped claims.
        seed: seed of the random numbers; the same seed gives the same verdicts and witnesses.
        progress: called with a claim's id and the number of claims done, before each claim.
        timeout: seconds that each claim may take; 60 if only ``memory`` is given.
        memory: memory that each claim may take beside what this process has, in units of 10^6 bytes; 2000 if only
            ``timeout`` is given.
        effort: so many times the usual samples are drawn for claims about expectations; 4 halves their standard
            errors.

    Returns:
        A result for one claim, a list in the same order for several.

    Raises:
        InvalidInput: a claim is malformed, two have the same id, one uses an unknown claim or, through
            others, itself; the seed is not a whole number from 0 up; a limit or the effort is not positive, or this
            system can't fork processes.

    An engine that proves what another refutes leaves the claim UNKNOWN, with both in its evidence.

    >>> from sympy import Lt
    >>> from maskproof.theory import Equicorrelated, Score
    >>> verify(Claim("mine", Lt(Score(3, 5, 2), Score(3, 5, 3)), inputs=Equicorrelated(0))).verdict
    <Verdict.ENCLOSED: 'ENCLOSED'>
    """
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise InvalidInput(f"seed = {seed!r}", "'the seed is a whole number from 0 up'", "use 0")
    if not isinstance(effort, int | float) or not 0 < effort < float("inf"):
        raise InvalidInput(f"effort = {effort!r}", "'the effort is a positive number'", "use 1")
    alone = isinstance(claims, Claim)
    chosen = _listed([claims] if alone else claims)
    if progress is None and len(chosen) > 1 and "IPython" in sys.modules:
        from maskproof.proofs.shown import notebook

        if notebook.in_notebook():
            with notebook.progress(len(chosen)) as bar:
                return verify(chosen, seed, bar, timeout=timeout, memory=memory, effort=effort)
    if timeout is not None or memory is not None:
        results = _supervised(chosen, int(seed), progress, _limit(timeout, memory), effort)
        return results[0] if alone else Results(results)
    pipeline = Pipeline(chosen, int(seed), effort)
    results = []
    for done, claim in enumerate(chosen):
        if progress is not None:
            progress(claim.id, done)
        results.append(pipeline.result(claim))
    return results[0] if alone else Results(results)


def _listed(claims: Iterable[Claim]) -> list[Claim]:
    chosen = list(claims)
    seen: set[str] = set()
    for claim in chosen:
        if type(claim) is not Claim:  # a subclass might answer differently each time it is asked
            raise InvalidInput(f"{claim!r} among the claims", "'it is a Claim'", "make it a Claim")
        if claim.id in seen:
            raise InvalidInput(f"claim id {claim.id!r} twice", "'ids are unique'", "rename one of the claims")
        seen.add(claim.id)
    return chosen


def _limit(timeout: float | None, memory: float | None) -> Limit:
    if not limits.SUPPORTED:
        raise InvalidInput("a limit", "'this system can fork processes'", "leave timeout and memory out")
    given = {"seconds": timeout, "megabytes": memory, "beside": limits.resident()}
    for name, value in (("timeout", timeout), ("memory", memory)):
        real = isinstance(value, int | float | np.number) and not isinstance(value, bool)
        if value is not None and not (real and value > 0):
            raise InvalidInput(f"{name} = {value!r}", f"'{name} is a positive number'", "leave it out, or raise it")
    return Limit(**{name: float(value) for name, value in given.items() if value is not None})


def _supervised(
    claims: list[Claim], seed: int, progress: ClaimProgress | None, limit: Limit, effort: float
) -> list[Result]:
    from maskproof.proofs.processes.supervision import Broken, Supervised, Verdicts  # which needs this module

    results = []
    jobs = partial(Verdicts, effort=effort)
    with closing(Supervised(lambda _: claims, seed, limit, jobs=jobs)) as supervised:
        outcomes = supervised.outcomes()
        for done, claim in enumerate(claims):
            if progress is not None:
                progress(claim.id, done)
            outcome = next(outcomes)
            if isinstance(outcome, Exception):
                raise outcome
            if isinstance(outcome, Broken):
                raise RuntimeError(f"claim {claim.id}: {outcome.message}")
            results.append(outcome)
    return results


class Pipeline:
    """Verifies claims, each once, together with what they use."""

    def __init__(self, claims: Sequence[Claim], seed: int, effort: float = 1.0) -> None:
        self.claims = {claim.id: claim for claim in claims}
        self.seed, self.effort = seed, effort
        self._results: dict[str, Result] = {}
        self._well_formed: set[str] = set()

    def result(self, claim: Claim) -> Result:
        """The verdict on a claim."""
        if claim.id not in self._results:
            self._refuse_circles(claim, ())
            started = time.perf_counter()
            try:
                self.keep(self._judged(claim))
            except (OverflowError, RecursionError) as error:
                self.keep(_too_large(claim, error, time.perf_counter() - started))
        return self._results[claim.id]

    def keep(self, result: Result) -> None:
        """Take this result for the claim with its id."""
        self._results[result.id] = result

    def find(self, name: str, user: str) -> Claim:
        """The claim with this id.

        Raises:
            InvalidInput: there is none.
        """
        if name not in self.claims:
            self.claims = {**registry.by_id(), **self.claims}
        if name not in self.claims:
            raise InvalidInput(
                f"claim {user} uses {name!r}", "'what a claim uses is a claim'", "correct the id in uses"
            )
        return self.claims[name]

    def _refuse_circles(self, claim: Claim, path: tuple[str, ...]) -> None:
        if claim.id in path:
            circle = " uses ".join((*path[path.index(claim.id) :], claim.id))
            raise InvalidInput(f"claim {circle}", "'no claim leans on itself'", "break the circle")
        if claim.id not in self._well_formed:
            claim.check()
            self._well_formed.add(claim.id)
        for name in claim.uses:
            self._refuse_circles(self.find(name, claim.id), (*path, claim.id))

    def _judged(self, claim: Claim) -> Result:
        """The verdict, UNKNOWN where the claim can't be read or two engines contradict each other."""
        started = time.perf_counter()
        try:
            question(claim)
            return self._verified(claim)
        except Unreadable as reason:
            evidence = (Evidence("reading", Verdict.UNKNOWN, "", str(reason)),)
        except Contradiction as reason:
            evidence = (Evidence("contradiction", Verdict.UNKNOWN, "", str(reason)), *reason.evidence)
        return Result(claim.id, Verdict.UNKNOWN, evidence, None, time.perf_counter() - started)

    def _verified(self, claim: Claim) -> Result:
        started = time.perf_counter()
        evidence: list[Evidence] = []
        proof = symbolic.examine(claim, seed=self.seed)
        if proof is not None:
            evidence.append(proof)
        proved = proof is not None and proof.outcome is Verdict.PROVED
        lacking = self._unproved(claim) if proved else []
        if proved and not lacking:
            evidence += self._cross_checked(claim)
        elif proof is None or proof.outcome is not Verdict.REFUTED:
            evidence += self._examined(claim)
        if lacking:
            # The argument stands or falls with what it uses: the numbers alone have to decide.
            reasons = ", ".join(f"{result.id}, which is {result.verdict}" for result in lacking)
            verdict = combined(claim.id, [e for e in evidence if e is not proof])
            detail = f"it would be PROVED if what it uses were; it uses {reasons}"
            outcome = verdict if verdict is not Verdict.REFUTED else Verdict.UNKNOWN  # it has no witness
            evidence.insert(0, Evidence("uses", outcome, "", detail))
        else:
            verdict = combined(claim.id, evidence)
        if verdict is Verdict.PROVED and any(e.objection for e in evidence):
            verdict = Verdict.UNKNOWN  # a proof of what has no value, or of what no number bears out, proves nothing
        if claim.proof is not None and not proved and verdict is not Verdict.REFUTED:
            verdict = Verdict.UNKNOWN  # whoever gives a proof that does not check has something to mend
        decisive = next((e for e in evidence if e.outcome is verdict), None)
        return Result(
            claim.id,
            verdict,
            tuple(evidence),
            decisive.witness if decisive is not None and verdict is Verdict.REFUTED else None,
            time.perf_counter() - started,
        )

    def _unproved(self, claim: Claim) -> list[Result]:
        used = [self.result(self.find(name, claim.id)) for name in claim.uses]
        return [result for result in used if result.verdict is not Verdict.PROVED]

    def _examined(self, claim: Claim) -> list[Evidence]:
        """Evidence by numbers; a certified witness ends the search."""
        # Hypothesis and SciPy take longer to load than most proofs to check, which do without them.
        from maskproof.proofs.engines import monte_carlo, witness

        asked, limits = symbolic.limits_put_in(claim)
        found = witness.examine(asked, seed=self.seed)
        if found is not None:
            evidence = [found]
        else:
            others = (
                enclosure.examine(asked, seed=self.seed),
                monte_carlo.examine(asked, seed=self.seed, effort=self.effort),
            )
            evidence = [other for other in others if other is not None]
        return [replace(e, detail=f"{limits}; {e.detail}") for e in evidence] if limits else evidence

    def _cross_checked(self, claim: Claim) -> list[Evidence]:
        """A few numbers by a route that shares nothing with the proof: an error in either shows."""
        asked = question(claim)
        checks = [enclosure.spot_check(asked)]
        if not asked.deterministic:
            from maskproof.proofs.engines import monte_carlo  # which loads SciPy

            checks.append(monte_carlo.examine(asked, seed=self.seed, effort=CROSS_CHECK * self.effort))
        return [evidence for evidence in checks if evidence is not None]


def _too_large(claim: Claim, error: Exception, seconds: float) -> Result:
    """The result of a claim whose numbers or formulas are beyond what a computer represents."""
    what = "a number is too large" if isinstance(error, OverflowError) else "a formula is too deep"
    evidence = Evidence(
        LIMIT, Verdict.UNKNOWN, "", f"not decided: {what}; make exponents and domain smaller", seconds=seconds
    )
    return Result(claim.id, Verdict.UNKNOWN, (evidence,), seconds=seconds)


def combined(claim: str, evidence: Sequence[Evidence]) -> Verdict:
    """The verdict that pieces of evidence amount to together.

    >>> combined("mine", [Evidence("enclosure", Verdict.SAMPLED, "i <= 50", "")])
    <Verdict.SAMPLED: 'SAMPLED'>

    Raises:
        Contradiction: one proves or encloses what another refutes.
    """
    refuting = next((e for e in evidence if e.outcome is Verdict.REFUTED), None)
    certain = next((e for e in evidence if e.outcome in (Verdict.PROVED, Verdict.ENCLOSED)), None)
    if refuting is not None and certain is not None:
        raise Contradiction(claim, certain, refuting)
    outcomes = {e.outcome for e in evidence}
    return next((verdict for verdict in _STRONGEST_FIRST if verdict in outcomes), Verdict.UNKNOWN)
