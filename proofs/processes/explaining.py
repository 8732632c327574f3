"""Explanations under limits: what was found until the time ran out is told."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from maskproof.proofs.explanation.explanation import Part, explain
from maskproof.proofs.processes.limits import Limit, Line, Lost, Worker, heard
from maskproof.proofs.processes.supervision import Load
from maskproof.proofs.verdict import Result


@dataclass
class Explained:
    """The explanation of one result.

    Attributes:
        result: what is explained.
        parts: what was found.
        cut_short: whether a limit ended the work.
    """

    result: Result
    parts: list[Part] = field(default_factory=list)
    cut_short: bool = False


def explained(load: Load, results: Sequence[Result], seed: int, limit: Limit | None) -> Iterator[Explained]:
    """An explanation of each result, in order, in a process of their own under ``limit``; in this one without.

    Args:
        load: gives the claims; it is called in the new process.
        results: what ``verify`` says of them.
        seed: of the random numbers that judge nearby forms.
        limit: for each explanation.
    """
    waiting = list(results)
    if limit is None:
        claims = {claim.id: claim for claim in load(lambda _: None)}
        yield from (Explained(result, list(explain(claims[result.id], result, seed))) for result in waiting)
        return
    while waiting:
        worker = Worker(functools.partial(_serve, load, tuple(waiting), seed), limit, leads=True)
        try:
            while waiting:
                now = _one(worker, waiting.pop(0))
                yield now
                if now.cut_short:
                    break
                worker.restart()
        finally:
            worker.end()


def _one(worker: Worker, result: Result) -> Explained:
    found = Explained(result)
    while True:
        for _, message in heard([worker]):
            if message is None:
                return found
            if isinstance(message, Lost):
                found.cut_short = True
                return found
            found.parts.append(message)


def _serve(load: Load, results: Sequence[Result], seed: int, line: Line) -> None:
    claims = {claim.id: claim for claim in load(lambda _: None)}
    for result in results:
        for part in explain(claims[result.id], result, seed):
            line.send(part)
        line.send(None)
