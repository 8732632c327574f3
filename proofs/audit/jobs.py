"""An audit in other processes: the claims are loaded, changed and judged there, each change under its own limit."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass

from maskproof.proofs.audit.changes import Change, changes, chosen
from maskproof.proofs.audit.fate import Case, Fate, case, judge
from maskproof.proofs.audit.record import AUDITED
from maskproof.proofs.pipeline import Pipeline
from maskproof.proofs.processes.limits import Limit, Lost, Output
from maskproof.proofs.processes.supervision import Broken, Load, Supervised, Unsupervised, judged, undecided
from maskproof.proofs.verdict import LIMIT, Result, Verdict
from maskproof.theory.claim import Claim
from maskproof.theory.errors import InvalidInput

PATIENCE = Limit(seconds=20)

Outcome = Case | Result | InvalidInput | Broken


@dataclass(frozen=True)
class Job:
    """A change to be judged."""

    change: Change
    claim: Claim
    changed: Claim


class Audit:
    """The jobs of an audit; a claim without a recorded verdict is checked first, and only then changed.

    Args:
        claims: the claims.
        picked: the changes to each, by its id.
        record: recorded verdicts by id.
        seed: seed of the random numbers.
    """

    def __init__(
        self,
        claims: Sequence[Claim],
        picked: Mapping[str, Sequence[tuple[Change, Claim]]],
        record: Mapping[str, Verdict],
        seed: int,
    ) -> None:
        self._seed = seed
        self._pipeline = Pipeline(claims, seed)
        self._claims = {claim.id: claim for claim in claims}
        self._before = {name: record[name] for name in self._claims if name in record}
        self._jobs: dict[str, Job] = {}
        after: dict[str, Collection[str]] = {}
        for claim in claims:
            first = () if claim.id in self._before else (claim.id,)
            after.update(dict.fromkeys(first, ()))
            for number, (change, changed) in enumerate(picked.get(claim.id, ())):
                name = f"{claim.id}\n{number}"  # the id of no claim, which is one line
                self._jobs[name] = Job(change, claim, changed)
                after[name] = first
        self.after: Mapping[str, Collection[str]] = after
        self.ids = list(after)

    def brief(self, name: str) -> Verdict:
        """The verdict on the claim before it was changed."""
        job = self._jobs.get(name)
        return Verdict.UNKNOWN if job is None else self._before.get(job.claim.id, Verdict.UNKNOWN)

    def work(self, name: str, brief: Verdict) -> Outcome:
        """Judge a change, or check a claim."""
        job = self._jobs.get(name)
        if job is None:
            return judged(lambda: self._pipeline.result(self._claims[name]))
        return judged(lambda: judge(job.change, job.claim, job.changed, brief, self._seed))

    def over(self, name: str, outcome: Outcome | Lost, limit: Limit) -> Outcome:
        """Keep a verdict for the changes that wait for it; what time or memory does not suffice for is doubted."""
        job = self._jobs.get(name)
        if job is None:
            told = undecided(name, outcome, limit) if isinstance(outcome, Lost) else outcome
            self._before[name] = told.verdict if isinstance(told, Result) else Verdict.UNKNOWN
            return told
        if not isinstance(outcome, Lost):
            return outcome
        (reason,) = undecided(name, outcome, limit).evidence
        certain = self._before[job.claim.id] is not Verdict.UNKNOWN
        return case(job.change, (Fate.DOUBTED if certain else Fate.UNNOTICED, LIMIT, reason.detail), outcome.seconds)


def audit(
    load: Load,
    record: Mapping[str, Verdict],
    *,
    most: int | None = AUDITED,
    seed: int = 0,
    limit: Limit = PATIENCE,
    processes: int | None = None,
    output: Output = Output.KEPT,
    supervised: bool = True,
    begun: Callable[[int], object] = lambda _: None,
) -> Iterator[tuple[str, Outcome]]:
    """Change claims, and see what becomes of each change.

    Args:
        load: gives the claims.
        record: the verdicts of claims that are not checked again.
        most: how many changes of each claim; None for all.
        seed: of the choice among the changes, and of every random number.
        limit: for each change, and for each file.
        processes: how many at the same time.
        output: what becomes of what files print.
        supervised: whether it happens in other processes, under the limit.
        begun: called with the number of jobs once it is known.

    Yields:
        A name with a case, or with the result on a claim that has no recorded verdict.

    Raises:
        InvalidInput: the claims can't be loaded.
    """
    picked: dict[str, list[tuple[Change, Claim]]] = {}

    def changed(begin: Callable[[str], None]) -> Sequence[Claim]:
        claims = load(begin)
        for claim in claims:
            begin(f"claim {claim.id}")
            try:
                picked[claim.id] = chosen(changes(claim), most, seed)
            except InvalidInput:  # the claim has a part that can't be built: its own check says so
                picked[claim.id] = []
        return claims

    def jobs(claims: Sequence[Claim], seed: int) -> Audit:
        return Audit(claims, picked, record, seed)

    if supervised:
        work = Supervised(changed, seed, limit, processes=processes, output=output, jobs=jobs)
    else:
        work = Unsupervised(changed, seed, jobs=jobs)
    with closing(work):
        begun(len(work.ids))
        yield from zip(work.ids, work.outcomes(), strict=True)
