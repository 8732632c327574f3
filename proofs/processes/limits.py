"""Work in other processes, under limits of time and memory.

A process is forked from the one that asks for it, so it inherits whatever its work refers to. Whatever the
work does (computes for ever, eats memory, ends its process), the parent goes on and says what became of it.

Memory is what a process has resident, with what it inherited. Where the system enforces a limit on data
(Linux), an allocation beyond it fails at once; everywhere the parent looks twenty times a second.
"""

from __future__ import annotations

import contextlib
import ctypes
import faulthandler
import functools
import gc
import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum, auto
from multiprocessing.connection import Connection as Line
from multiprocessing.connection import Pipe, wait
from types import FrameType
from typing import Any, Literal, Never

import psutil

if sys.platform != "win32":
    import resource

SUPPORTED = hasattr(os, "fork")
"""Whether this system can fork; where it can't, there are no limits."""

_TICK = 0.05  # seconds between two looks at a process
_PER_WORKER = 10  # fewer jobs are not worth a worker, whose caches are empty ...
_PATIENCE = 3.0  # ... unless they wait for so many seconds
_SWOLLEN = 0.1  # share of the memory limit that a worker may keep from job to job
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP) if SUPPORTED else (signal.SIGINT, signal.SIGTERM)
_GRACE = 8.0  # seconds for an orderly end
_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG of Linux

_living: set[Worker] = set()  # the children of this process, from the fork until they are waited for


@dataclass(frozen=True)
class Limit:
    """What a job may take.

    Attributes:
        seconds: wall-clock time.
        megabytes: resident memory, in units of 10^6 bytes.
        beside: memory that does not count: what the caller holds for itself and its workers inherit.
    """

    seconds: float = 60.0
    megabytes: float = 2000.0
    beside: float = 0.0

    @property
    def resident(self) -> int:
        """Bytes that a process may have resident."""
        return int((self.megabytes + self.beside) * 1e6)


def resident() -> float:
    """What this process has resident, in units of 10^6 bytes."""
    return psutil.Process().memory_info().rss / 1e6


@dataclass(frozen=True)
class Lost:
    """A job without an answer.

    Attributes:
        cause: its time or its memory ran out, or its process ended.
        how: for a process that ended, in which way.
        seconds: how long it ran.
    """

    cause: Literal["time", "memory", "end"]
    how: str = ""
    seconds: float = 0.0


class Output(Enum):
    """What becomes of the output of a process: it stays, all of it goes to standard error, or nowhere."""

    KEPT = auto()
    ASIDE = auto()
    DROPPED = auto()


def wanted() -> bool:
    """Whether claims are checked under limits: where that is possible, unless somebody debugs."""
    return SUPPORTED and not os.environ.get("MASKPROOF_DEBUG")


class Stopped(BaseException):
    """The process has been asked to end, by Ctrl-C or by a signal."""

    def __init__(self, number: int) -> None:
        super().__init__("interrupted" if number == signal.SIGINT else f"ended by {signal.Signals(number).name}")
        self.status = 128 + number


@contextlib.contextmanager
def stoppable() -> Iterator[None]:
    """Turn the signals that end a process into ``Stopped``; at the end no worker is left.

    A signal that is ignored stays so: ``nohup`` and background jobs of a shell count on it. Outside the
    main thread, which alone hears signals, nothing is changed. A second Ctrl-C does not disturb an orderly end, which
    has some seconds: then something holds it up, or has swallowed the exception, and the process ends as it is.
    """
    patience: list[threading.Timer] = []

    def stop(number: int, _: FrameType | None) -> None:
        if not patience:
            patience.append(threading.Timer(_GRACE, _end_at_once, (128 + number,)))
            patience[0].daemon = True
            patience[0].start()
            raise Stopped(number)

    main = threading.current_thread() is threading.main_thread()
    heard = [number for number in _SIGNALS if main and signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, stop) for number in heard}
    try:
        yield
    finally:
        for worker in list(_living):
            worker.end()
        for timer in patience:
            timer.cancel()
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)


def _end_at_once(status: int) -> Never:
    for worker in list(_living):
        worker.end()
    os._exit(status)


class Worker:
    """A process at work, watched by its parent.

    Args:
        serve: what it does; it is given a line to the parent.
        limit: what it may take. The clock starts now and again at every ``restart``.
        leads: whether it leads a group of processes of its own, which ends with it.
        output: what becomes of what it prints on standard output and on standard error. A library that runs
            out of memory says so on its own, for instance.

    Attributes:
        line: the parent's end of the line.
        starts: how many times the clock has been started again.
    """

    def __init__(
        self, serve: Callable[[Line], object], limit: Limit, *, leads: bool = False, output: Output = Output.DROPPED
    ) -> None:
        self.limit = limit
        self._leads = leads
        self.starts = 0
        _flush()
        _open_standard_streams()
        self.line, other = Pipe()
        parent = os.getpid()
        # A signal just after the fork would leave a process that nobody knows of.
        with signals_blocked() as mask, warnings.catch_warnings():
            # Threads at the time of the fork are those of BLAS, which knows how to deal with it.
            warnings.simplefilter("ignore", DeprecationWarning)
            self.pid = os.fork()
            if self.pid == 0:
                self.line.close()
                _live(serve, other, limit, _Setting(parent, mask, leads, output))
            _living.add(self)
            if leads:
                with contextlib.suppress(OSError):  # the child has done so
                    os.setpgid(self.pid, self.pid)
            self._process: psutil.Process | None = _process(self.pid)
        other.close()
        self._inherited = self._resident()
        self._started, self._deadline = time.monotonic(), time.monotonic() + limit.seconds

    def restart(self, seconds: float | None = None) -> None:
        """Start the clock again, with another limit of time if one is given."""
        self.starts += 1
        self._started = time.monotonic()
        self._deadline = self._started + (self.limit.seconds if seconds is None else seconds)

    @property
    def seconds(self) -> float:
        """Time since the clock was started."""
        return time.monotonic() - self._started

    def message(self) -> Any:
        """What the process sent, when ``line`` is readable: a message, or ``Lost`` when nothing will come."""
        try:
            message = self.line.recv()
        except Exception:  # noqa: BLE001  the end, half a message, or something that is none
            return Lost("end", self._way(), self.seconds)
        return replace(message, seconds=self.seconds) if isinstance(message, Lost) else message

    def lapsed(self) -> Lost | None:
        """Why the job will have no answer, if that is so."""
        if not self._alive():
            return None if self.line.poll() else Lost("end", self._way(), self.seconds)
        if time.monotonic() > self._deadline:
            return Lost("time", seconds=self.seconds)
        if self._resident() > self.limit.resident:
            return Lost("memory", seconds=self.seconds)
        return None

    def swollen(self) -> bool:
        """Whether it keeps much more memory than it inherited."""
        return self._resident() - self._inherited > _SWOLLEN * self.limit.megabytes * 1e6

    def end(self) -> int | None:
        """End the process, and its group if it leads one; its exit status as the system gives it, if known."""
        if self not in _living:
            return None
        self.line.close()
        status = None
        # Not yet waited for, so the number can't have passed to another process.
        for kill in (os.killpg, os.kill) if self._leads else (os.kill,):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                kill(self.pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            status = os.waitpid(self.pid, 0)[1]
        _living.discard(self)
        return status

    def _alive(self) -> bool:
        try:
            return self._process is not None and self._process.status() != psutil.STATUS_ZOMBIE
        except psutil.Error:
            return False

    def _resident(self) -> int:
        try:
            return 0 if self._process is None else self._process.memory_info().rss
        except psutil.Error:
            return 0

    def _way(self) -> str:
        """How the process ended; one that only closed its line is ended."""
        patience = time.monotonic() + 1
        while self._alive() and time.monotonic() < patience:
            time.sleep(0.002)
        if self._alive():
            return "without a word"
        status = self.end()
        if status is None:
            return "in an unknown way"
        code = os.waitstatus_to_exitcode(status)
        return f"with exit status {code}" if code >= 0 else f"by {_signal_name(-code)}"


def heard(workers: Iterable[Worker]) -> list[tuple[Worker, Any]]:
    """Wait a moment for news: each worker that has some, and its message or ``Lost``.

    What has arrived counts even if time has run out since: the parent may have been held up itself.
    """
    asked = list(workers)
    ready = set(wait([worker.line for worker in asked], _TICK))
    news: list[tuple[Worker, Any]] = []
    for worker in asked:
        if worker.line in ready:
            news.append((worker, worker.message()))
        elif (lost := worker.lapsed()) is not None:
            news.append((worker, lost))
    return news


def supervise(
    jobs: Collection[str],
    after: Mapping[str, Collection[str]],
    brief: Callable[[str], Any],
    work: Callable[[str, Any], Any],
    limit: Limit,
    processes: int,
) -> Generator[tuple[str, Any]]:
    """Have jobs done by workers, each of which does one after the other and keeps what its caches hold.

    A worker whose job is lost is ended, and another takes its place. A job that is lost in a worker with a
    past, other than by time, is done once more in a new one: the fault may lie with an earlier job.

    Args:
        jobs: their names; they are started in this order, as far as ``after`` allows.
        after: the names of the jobs that must be over before this one starts; where all wait for
            each other, the first starts.
        brief: called here when a job starts: what the worker must know that was not known when it was forked.
        work: called in the worker with the name of the job and its brief; the answer.
        limit: for each job.
        processes: how many workers there are at most; fewer when there is little to do.

    Yields:
        The name of a job that is over, with its answer or ``Lost``.
    """
    waiting = list(jobs)
    worth = max(len(jobs) // _PER_WORKER, 1)
    busy: dict[Worker, str] = {}
    idle: list[Worker] = []

    def hand(name: str, worker: Worker) -> None:
        busy[worker] = name
        worker.restart()
        with contextlib.suppress(OSError):  # it has ended while idle, which will be noticed
            worker.line.send((name, brief(name)))

    def hire() -> Worker:
        return Worker(functools.partial(_serve, work), limit)

    try:
        while waiting or busy:
            for name in _startable(waiting, after, busy.values()):
                impatient = all(worker.seconds > _PATIENCE for worker in busy)
                if not idle and len(busy) >= min(processes, len(busy) + 1 if impatient else worth):
                    break
                waiting.remove(name)
                hand(name, idle.pop() if idle else hire())
            for worker, message in heard(busy):
                name = busy.pop(worker)
                if not isinstance(message, Lost) and not worker.swollen():
                    idle.append(worker)
                else:
                    worker.end()
                if isinstance(message, Lost) and message.cause != "time" and worker.starts > 1:
                    hand(name, hire())
                else:
                    yield name, message
    finally:
        for worker in (*busy, *idle):
            worker.end()


def _startable(waiting: Collection[str], after: Mapping[str, Collection[str]], busy: Collection[str]) -> list[str]:
    open_ = {*waiting, *busy}
    free = [name for name in waiting if open_.isdisjoint(other for other in after.get(name, ()) if other != name)]
    return free if free or busy else list(waiting)[:1]


def _serve(work: Callable[[str, Any], Any], line: Line) -> None:
    while True:
        name, brief = line.recv()
        line.send(work(name, brief))


def cores() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


# -- in the new process --------------------------------------------------------------------------


@dataclass(frozen=True)
class _Setting:
    """What a new process must know: its parent, the signals blocked before the fork, and how it is to behave."""

    parent: int
    mask: set[signal.Signals]
    leads: bool
    output: Output


def _live(serve: Callable[[Line], object], line: Line, limit: Limit, setting: _Setting) -> Never:
    """Do the work and end, without anything that the parent has prepared for its own end."""
    status = 1
    try:
        _settle(setting)
        _limit_data(limit)
        gc.freeze()  # what is inherited is not looked through, and so stays shared with the parent
        serve(line)
        status = 0
    except MemoryError:
        _unlimit_data()  # saying so takes some
        line.send(Lost("memory"))
    except BaseException as error:  # noqa: BLE001  the parent says so
        with contextlib.suppress(Exception):
            line.send(Lost("end", f"by {type(error).__name__}: {' '.join(str(error).split())}"))
    finally:
        _flush()
        os._exit(status)


def _settle(setting: _Setting) -> None:
    for sibling in _living:
        sibling.line.close()  # or it would not hear of its parent's end
    _living.clear()
    for number in _SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, setting.mask)
    if setting.leads:
        os.setpgid(0, 0)
    end_with(setting.parent)
    faulthandler.disable()  # a crash is told by the parent
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2) if setting.output is Output.DROPPED else (0,):  # there is nobody to ask
        os.dup2(nowhere, stream)
    if setting.output is Output.ASIDE:
        os.dup2(2, 1)
    os.close(nowhere)


def end_with(parent: int) -> None:
    """End this process when the parent ends, even if that is killed, where the system can (Linux)."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):  # a C library without it
            ctypes.CDLL(None).prctl(_DEATH_SIGNAL, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)


def _limit_data(limit: Limit) -> None:
    """Let an allocation fail that would lead beyond the limit, where the system can."""
    now = psutil.Process().memory_info()
    if sys.platform == "linux":
        # Mapped is not resident: what may be added is the limit less what is resident.
        most = now.data + max(limit.resident - now.rss, 0)
        hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
        resource.setrlimit(resource.RLIMIT_DATA, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def _unlimit_data() -> None:
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    resource.setrlimit(resource.RLIMIT_DATA, (hard, hard))


# -- around the fork -----------------------------------------------------------------------------


@contextlib.contextmanager
def signals_blocked() -> Iterator[set[signal.Signals]]:
    """Let the signals that end a process wait; gives those that did before. What is started here never hears them."""
    before = {signal.Signals(number) for number in signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)}
    try:
        yield before
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _flush() -> None:
    """Write out what is buffered, so that two processes don't both."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):  # closed, or its reader has gone
            stream.flush()


def _open_standard_streams() -> None:
    """Make sure that no pipe takes the number of a standard stream that is closed."""
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(number)


def _process(pid: int) -> psutil.Process | None:
    try:
        return psutil.Process(pid)
    except psutil.Error:
        return None


def _signal_name(number: int) -> str:
    try:
        return f"signal {signal.Signals(number).name}"
    except ValueError:
        return f"signal {number}"
