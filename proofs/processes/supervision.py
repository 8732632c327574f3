"""Claims checked in other processes, under limits, whatever they do.

One process holds the claims; it loads them, if they come from files, and forks the workers that check them.
So the caller runs nothing of a claims file. What a claim uses is checked before it, once and under its own
limit, so that verdicts don't depend on the number of workers.
"""

from __future__ import annotations

import functools
import os
import pickle
import signal
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from maskproof.proofs.pipeline import Pipeline
from maskproof.proofs.processes.limits import Limit, Line, Lost, Output, Stopped, Worker, cores, heard, supervise
from maskproof.proofs.verdict import LIMIT, Evidence, Result, Verdict
from maskproof.theory.claim import Claim
from maskproof.theory.errors import InvalidInput

Load = Callable[[Callable[[str], None]], Sequence[Claim]]
"""Gives the claims; calls its argument with the name of each file before it reads it."""


@dataclass(frozen=True)
class Broken:
    """An engine failed on a claim, which is an error of the program."""

    message: str


Outcome = Result | InvalidInput | Broken


class Jobs(Protocol):
    """What is done with claims, job by job; made in the process that holds them.

    Attributes:
        ids: the names of the jobs whose outcomes are asked for, in order.
        after: every job that is done, each with those that come before it.
    """

    ids: list[str]
    after: Mapping[str, Collection[str]]

    def brief(self, name: str) -> Any:
        """What the worker must know that was not known when it was forked."""

    def work(self, name: str, brief: Any) -> Any:
        """Do a job, in a worker; its outcome."""

    def over(self, name: str, outcome: Any, limit: Limit) -> Any:
        """Take note of what came of a job, ``Lost`` if nothing did; its outcome."""


class Verdicts:
    """The jobs of checking claims, each once, after what it uses."""

    def __init__(self, claims: Sequence[Claim], seed: int, effort: float = 1.0) -> None:
        self.ids = [claim.id for claim in claims]
        self._pipeline = Pipeline(claims, seed, effort)
        self._needed = _with_used(claims, self._pipeline)
        self.after: Mapping[str, Collection[str]] = {name: need.uses for name, need in self._needed.items()}
        self._known: dict[str, Result] = {}

    def brief(self, name: str) -> list[Result]:
        """The results on what the claim uses."""
        return [self._known[other] for other in self.after[name] if other in self._known]

    def work(self, name: str, brief: list[Result]) -> Outcome:
        """Check a claim."""
        for result in brief:
            self._pipeline.keep(result)
        return judged(lambda: self._pipeline.result(self._needed[name].claim))

    def over(self, name: str, outcome: Outcome | Lost, limit: Limit) -> Outcome:
        """Keep the result for who uses the claim."""
        told = undecided(name, outcome, limit) if isinstance(outcome, Lost) else outcome
        if isinstance(told, Result):
            self._known[name] = told
        return told


class Supervised:
    """Claims at the hands of a process that loads them and has each job done under a limit.

    Args:
        load: gives the claims; it is called in the new process.
        seed: seed of the random numbers.
        limit: for each file that ``load`` names, and for each claim.
        processes: how many claims are checked at the same time; at most as many as there are processors by
            default.
        output: what becomes of what the files print.
        jobs: what is done with the claims, given them and the seed; without, they are checked.

    Attributes:
        ids: the names of the jobs, in order: the ids of the claims, where these are checked.

    Raises:
        InvalidInput: the claims can't be loaded, or not within the limit.
    """

    def __init__(
        self,
        load: Load,
        seed: int,
        limit: Limit,
        *,
        processes: int | None = None,
        output: Output = Output.KEPT,
        jobs: Callable[[Sequence[Claim], int], Jobs] = Verdicts,
    ) -> None:
        self.limit = limit
        serve = functools.partial(_hold, load, lambda claims: jobs(claims, seed), limit, processes or cores())
        self._worker = Worker(serve, limit, leads=True, output=output)
        try:
            self.ids = self._loaded()
        except BaseException:
            self._worker.end()
            raise

    def close(self) -> None:
        """End every process."""
        self._worker.end()

    def outcomes(self) -> Generator[Any]:
        """What came of each job, in the order of ``ids``; a result on a claim, unless other jobs were asked for."""
        found: dict[str, Any] = {}
        lost: Lost | None = None
        for name in self.ids:
            while name not in found and lost is None:
                message = self._message()
                if isinstance(message, _Answer):
                    found[message.id] = message.outcome
                else:  # a thread of the claims file, perhaps, has ended the process
                    lost = message if isinstance(message, Lost) else Lost("end", "after a message that is none")
                    self._worker.end()
            outcome = found.get(name, lost)
            assert outcome is not None
            yield undecided(name, outcome, self.limit) if isinstance(outcome, Lost) else outcome

    def _loaded(self) -> list[str]:
        path = "the claims"
        while True:
            match self._message():
                case _Loading(path):
                    self._worker.restart()
                case _Loaded(ids):
                    self._worker.restart(float("inf"))  # from here on every claim has its own limit
                    return ids
                case InvalidInput() as refusal:
                    raise refusal
                case Lost() as lost:
                    raise _unloadable(path, lost, self.limit)
                case other:
                    raise _unloadable(path, Lost("end", f"after sending {type(other).__name__}"), self.limit)

    def _message(self) -> Any:
        while not (news := heard([self._worker])):
            pass
        return news[0][1]


class Unsupervised:
    """The same in this process and without limits: for a debugger, and where processes can't be forked."""

    def __init__(self, load: Load, seed: int, *, jobs: Callable[[Sequence[Claim], int], Jobs] = Verdicts) -> None:
        self._jobs = jobs(load(lambda _: None), seed)
        self.ids = self._jobs.ids

    def close(self) -> None:
        """Nothing is left to end."""

    def outcomes(self) -> Generator[Any]:
        """What came of each job, in the order of ``ids``."""
        for name in self.ids:
            outcome = self._jobs.work(name, self._jobs.brief(name))
            yield self._jobs.over(name, outcome, Limit())


def undecided(name: str, lost: Lost, limit: Limit) -> Result:
    """The result of a claim that has no answer: UNKNOWN, with the reason and what can be done."""
    match lost.cause:
        case "time":
            detail = f"not decided within {limit.seconds:g} s; raise --timeout, or make the domain smaller"
        case "memory":
            detail = f"not decided within {limit.megabytes:g} MB; raise --memory, or make the domain smaller"
        case _:
            detail = f"not decided: the process that checked it ended {lost.how}; make the domain smaller"
    evidence = Evidence(LIMIT, Verdict.UNKNOWN, "", detail, seconds=lost.seconds)
    return Result(name, Verdict.UNKNOWN, (evidence,), seconds=lost.seconds)


def _unloadable(path: str, lost: Lost, limit: Limit) -> BaseException:
    match lost.cause:
        case "time":
            return InvalidInput(path, f"'it loads within {limit.seconds:g} s'", "mend it, or raise --timeout")
        case "memory":
            return InvalidInput(path, f"'it loads within {limit.megabytes:g} MB'", "mend it, or raise --memory")
    if lost.how.endswith(signal.SIGINT.name):  # it interrupts itself, as Ctrl-C would
        return Stopped(signal.SIGINT)
    return InvalidInput(f"{path}: its process ended {lost.how}", "'the file runs'", "mend it")


# -- in the process that holds the claims --------------------------------------------------------


@dataclass(frozen=True)
class _Loading:
    path: str


@dataclass(frozen=True)
class _Loaded:
    ids: list[str]


@dataclass(frozen=True)
class _Answer:
    id: str
    outcome: Any


def _hold(load: Load, made: Callable[[Sequence[Claim]], Jobs], limit: Limit, processes: int, line: Line) -> None:
    try:
        jobs = made(load(lambda path: line.send(_Loading(path))))
    except InvalidInput as refusal:
        line.send(refusal)
        return
    line.send(_Loaded(jobs.ids))

    def work(name: str, brief: Any) -> Any:
        return _told(jobs.work(name, brief))

    for name, answer in supervise(jobs.after, jobs.after, jobs.brief, work, limit, processes):
        line.send(_Answer(name, jobs.over(name, answer, limit)))


@dataclass(frozen=True)
class _Need:
    claim: Claim
    uses: tuple[str, ...]


def _with_used(claims: Sequence[Claim], pipeline: Pipeline) -> dict[str, _Need]:
    """Every claim that is needed, by id; what it uses comes first."""
    found: dict[str, _Need] = {}

    def add(claim: Claim, path: tuple[str, ...]) -> None:
        if claim.id in found or claim.id in path:
            return
        used = []
        for name in claim.uses if isinstance(claim.uses, tuple) else ():
            try:
                used.append(pipeline.find(name, claim.id))
            except (InvalidInput, TypeError):  # its own check says so
                continue
        for other in used:
            add(other, (*path, claim.id))
        found[claim.id] = _Need(claim, tuple(other.id for other in used))

    for claim in claims:
        add(claim, ())
    return found


def _told(outcome: Any) -> Any:
    """The outcome, if another process can be told it."""
    try:
        pickle.dumps(outcome)
    except Exception as error:  # noqa: BLE001  which is an error of the program as well
        return Broken(f"{type(error).__name__}: {error}")
    return outcome


def judged(work: Callable[[], Any]) -> Any:
    """What ``work`` gives, or why it gives nothing: input that can't be used, or an error of the program."""
    try:
        return work()
    except InvalidInput as error:
        return error
    except MemoryError:
        raise
    except Exception as error:  # one claim that breaks an engine must not take the others with it
        if os.environ.get("MASKPROOF_DEBUG"):
            raise
        return Broken(f"{type(error).__name__}: {error}")
