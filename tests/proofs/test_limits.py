"""Limits of time and memory: whatever a claim or a claims file does, one line, and the others go on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, redirect_stderr, redirect_stdout
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import psutil
import pytest
from sympy import Lt

from maskproof.proofs import registry
from maskproof.proofs.command import cli
from maskproof.proofs.pipeline import Pipeline, verify
from maskproof.proofs.processes import limits
from maskproof.proofs.processes.limits import Limit, Lost, supervise
from maskproof.proofs.processes.supervision import Supervised
from maskproof.proofs.verdict import LIMIT, Evidence, Result, Verdict
from maskproof.theory import Claim, Equicorrelated, Score
from maskproof.theory.claim import MalformedClaim
from maskproof.theory.errors import InvalidInput

ROOT = Path(__file__).resolve().parents[2]

# A claims file whose claim "wild" does something when it is checked; the engines are left out.
WILD = """
import os, signal, sys, threading, time
from sympy import Lt
from maskproof.proofs.verdict import Evidence, Result, Verdict
from maskproof.proofs.pipeline import Pipeline
from maskproof.theory import Claim, Equicorrelated, Score

def wild():
    {deed}

def verified(self, claim):
    if claim.id == "wild":
        wild()
    return Result(claim.id, Verdict.PROVED, (Evidence("symbolic", Verdict.PROVED, "", "by the test"),))

Pipeline._verified = verified
claims = [
    Claim(name, Lt(Score(1, 2, 1), 1), inputs=Equicorrelated(0)) for name in ("first", "wild", "third", "fourth")
]
"""
IN_TIME = "not decided within 2 s; raise --timeout, or make the domain smaller"
IN_MEMORY = "MB; raise --memory, or make the domain smaller"
DEEDS = {
    "waits": ("time.sleep(600)", IN_TIME),
    "computes": ("while True: pass", IN_TIME),
    "computes outside Python": ("10 ** 10 ** 9", IN_TIME),
    "ignores signals": (
        "signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 30)); time.sleep(600)",
        IN_TIME,
    ),
    "stops": ("os.kill(os.getpid(), signal.SIGSTOP)", IN_TIME),
    "catches everything": (
        "\n    while True:\n        try:\n            time.sleep(600)\n        except BaseException: pass",
        IN_TIME,
    ),
    "one large array": ("import numpy; numpy.ones(10**9)", IN_MEMORY),
    "one large number": ("1 << 10 ** 11", IN_MEMORY),
    "many small lists": ("[[k] for k in range(10**9)]", IN_MEMORY),
    "memory beside the heap": (
        "import mmap; kept = mmap.mmap(-1, 10**9)\n    for k in range(0, 10**9, 512): kept[k] = 1",
        IN_MEMORY,
    ),
    "leaves": ("os._exit(0)", "ended with exit status 0"),
    "leaves with a status": ("os._exit(7)", "ended with exit status 7"),
    "exits": ("sys.exit(3)", "ended by SystemExit: 3"),
    "is killed": ("os.kill(os.getpid(), signal.SIGKILL)", "ended by signal SIGKILL"),
    "crashes": ("os.kill(os.getpid(), signal.SIGSEGV)", "ended by signal SIGSEGV"),
    "aborts": ("print('out of luck', file=sys.stderr); os.abort()", "ended by signal SIGABRT"),
    "closes its files": ("os.closerange(3, 200); time.sleep(600)", "ended without a word"),
}


def some_memory() -> str:
    """Half a gigabyte beside what this process, which the workers are forked from, has anyway."""
    return str(round(limits.resident()) + 500)


def within(seconds: float) -> Limit:
    return Limit(seconds, 500, beside=limits.resident())


def maskproof(*arguments: str) -> tuple[int, str, str]:
    out, err = StringIO(), StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        status = cli.run(list(arguments))
    return status, out.getvalue(), err.getvalue()


def written(folder: Path, text: str) -> str:
    file = folder / "claims.py"
    file.write_text(text, encoding="utf-8")
    return str(file)


DEAR = ("many small lists", "ignores signals", "waits", "closes its files")  # of these the others tell much the same


@pytest.mark.parametrize(
    ("deed", "told"),
    [pytest.param(*DEEDS[name], id=name, marks=[pytest.mark.slow] if name in DEAR else []) for name in DEEDS],
)
def test_a_wild_claim_is_unknown_and_the_others_go_on(tmp_path: Path, deed: str, told: str) -> None:
    file, report = written(tmp_path, WILD.format(deed=deed)), tmp_path / "report.json"
    started = time.monotonic()
    seconds = "2" if told is IN_TIME else "40"
    status, out, err = maskproof("verify", file, "--timeout", seconds, "--memory", some_memory(), "--json", str(report))
    assert time.monotonic() - started < 40  # two seconds of its own, the rest for a busy machine
    assert (status, err) == (1, "")
    assert "Traceback" not in out
    rows = json.loads(report.read_text())["claims"]
    assert [row["id"] for row in rows] == ["first", "wild", "third", "fourth"]
    others = [row["verdict"] for row in rows if row["id"] != "wild"]
    assert others == ["PROVED"] * 3
    assert rows[1]["verdict"] == "UNKNOWN"
    (evidence,) = rows[1]["evidence"]
    assert (evidence["engine"], evidence["outcome"]) == (LIMIT, "UNKNOWN")
    assert told in evidence["detail"]
    assert "\n" not in evidence["detail"]
    assert told.split()[0] in out


@pytest.mark.parametrize(
    ("deed", "told"),
    [
        ("while True: pass", "violates 'it loads within 2 s'; mend it, or raise --timeout"),
        ("10 ** 10 ** 9", "violates 'it loads within 2 s'"),
        ("x = [[k] for k in range(10**9)]", "MB'; mend it, or raise --memory"),
        ("import os; os._exit(0)", "its process ended with exit status 0 violates 'the file runs'"),
        ("import os; os._exit(5)", "its process ended with exit status 5"),
        ("import os; os.abort()", "its process ended by signal SIGABRT"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "its process ended by signal SIGKILL"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGTERM)", "its process ended by signal SIGTERM"),
        ("import os; os.closerange(3, 200)\nclaims = [1]", "its process ended"),
        ("raise MemoryError", "MB'; mend it, or raise --memory"),
    ],
)
def test_a_wild_file_is_told_in_one_line(tmp_path: Path, deed: str, told: str) -> None:
    file = written(tmp_path, deed)
    started = time.monotonic()
    seconds = "2" if "within 2 s" in told else "40"
    status, out, err = maskproof("verify", file, "--timeout", seconds, "--memory", some_memory())
    assert time.monotonic() - started < 40
    assert (status, out, len(err.splitlines())) == (2, "", 1), err
    assert err.startswith(f"maskproof: {file}")
    assert told in err


@pytest.mark.slow
def test_the_clock_starts_again_with_each_file(tmp_path: Path) -> None:
    for name in "ab":
        text = WILD.format(deed="pass").replace('"first"', f'"{name}"').replace('"wild"', f'"{name}.wild"')
        text = text.replace('"third", "fourth"', f'"{name}.third"')
        (tmp_path / f"{name}.py").write_text("import time; time.sleep(1.5)\n" + text)
    files = (str(tmp_path / "a.py"), str(tmp_path / "b.py"))
    status, out, err = maskproof("verify", *files, "--timeout", "2.5")
    assert (status, err) == (0, ""), out
    (tmp_path / "b.py").write_text("while True: pass")
    status, out, err = maskproof("verify", *files, "--timeout", "2.5")
    assert (status, out) == (2, "")
    assert f"{files[1]} violates 'it loads within 2.5 s'" in err


def test_a_file_that_ends_its_process_later_leaves_no_pass(tmp_path: Path) -> None:
    deed = "time.sleep(30)"
    text = WILD.format(deed=deed) + "\nthreading.Timer(1.5, os._exit, [0]).start()\n"
    status, out, err = maskproof("verify", written(tmp_path, text), "--timeout", "20")
    assert (status, err) == (1, "")
    assert "ended with exit status 0" in " ".join(out.split())
    assert "3 UNKNOWN" in out or "4 UNKNOWN" in out  # "first" may have been quicker


@pytest.mark.parametrize(
    "arguments",
    [
        ("--timeout", "0"), ("--timeout", "-1"), ("--timeout", "soon"), ("--timeout", "inf"),
        ("--memory", "0"), ("--memory", "100"), ("--memory", "2e3"), ("--memory", "much"),
    ],
)  # fmt: skip
def test_limits_that_are_none_are_refused(arguments: tuple[str, str]) -> None:
    status, out, err = maskproof("verify", "kim2025.fig1", *arguments)
    assert (status, out, len(err.splitlines())) == (2, "", 1)
    assert err.startswith(f"maskproof: {arguments[0]}")


# ---------------------------------------------------------------------------------- signals, streams


def started(*arguments: str, **options: Any) -> subprocess.Popen[str]:
    environment = {name: value for name, value in os.environ.items() if name != "MASKPROOF_DEBUG"}
    return subprocess.Popen(
        [sys.executable, "-m", "maskproof", *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, cwd=ROOT, env=environment, **options,
    )  # fmt: skip


def _listen() -> None:
    """A shell lets its background jobs ignore interrupts, and their children inherit it."""
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


# The claim says who checks it, and has a child of its own.
CHECKING = "print(os.getppid(), os.getpid(), os.fork(), sep='\\n', file=open({!r}, 'a')); time.sleep(600)"
LOADING = "import os, time; print(os.getpid(), os.fork(), sep='\\n', file=open({!r}, 'a'), flush=True); time.sleep(600)"


def pids(file: Path, least: int) -> set[int]:
    patience = time.monotonic() + 60
    while time.monotonic() < patience:
        if file.exists() and len(found := set(map(int, file.read_text().split())) - {0}) >= least:
            return found
        time.sleep(0.05)
    pytest.fail("the claims file was not reached")


@pytest.mark.parametrize(
    ("stage", "number"),
    [
        ("loading", signal.SIGTERM),
        ("checking", signal.SIGINT),
        pytest.param("loading", signal.SIGHUP, marks=pytest.mark.slow),
        pytest.param("loading", signal.SIGKILL, marks=pytest.mark.slow),
        pytest.param("checking", signal.SIGTERM, marks=pytest.mark.slow),
        pytest.param("checking", signal.SIGHUP, marks=pytest.mark.slow),
        pytest.param("checking", signal.SIGKILL, marks=pytest.mark.slow),
    ],
)
def test_a_signal_ends_every_process_at_once(tmp_path: Path, stage: str, number: signal.Signals) -> None:
    if number is signal.SIGKILL and sys.platform != "linux":
        pytest.skip("only Linux ends the children of a process that is killed")
    record = tmp_path / "pids"
    deed = (CHECKING if stage == "checking" else LOADING).format(str(record))
    if number is signal.SIGKILL:
        deed = deed.replace("os.fork()", "0")  # a grandchild is not told of such an end
    file = written(tmp_path, WILD.format(deed=deed) if stage == "checking" else deed)
    grandchildren = number is not signal.SIGKILL
    with started("verify", file, preexec_fn=_listen) as command:
        born = pids(record, (3 if stage == "checking" else 2) - (not grandchildren))
        born |= {child.pid for child in psutil.Process(command.pid).children(recursive=True)}
        command.send_signal(number)
        asked = time.monotonic()
        out, err = command.communicate(timeout=20)
    assert time.monotonic() - asked < 10
    told = {signal.SIGINT: "maskproof: interrupted\n", signal.SIGKILL: ""}
    assert (out, err) == ("", told.get(number, f"maskproof: ended by {number.name}\n"))
    assert command.returncode == (-number if number is signal.SIGKILL else 128 + number)
    patience = time.monotonic() + 5
    while (left := [pid for pid in born if _lives(pid)]) and time.monotonic() < patience:
        time.sleep(0.02)
    assert left == []


def _lives(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_a_signal_that_is_ignored_stays_so() -> None:
    heard = []
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with limits.stoppable():
            os.kill(os.getpid(), signal.SIGHUP)
            heard.append("goes on")
        with pytest.raises(limits.Stopped) as stopped, limits.stoppable():
            signal.raise_signal(signal.SIGTERM)
    finally:
        signal.signal(signal.SIGHUP, before)
    assert heard == ["goes on"]
    assert stopped.value.status == 143
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_json_to_standard_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    status, out, err = maskproof("verify", "kim2025.fig1", "--json", "-")
    assert (status, err) == (0, "")
    assert [row["id"] for row in json.loads(out)["claims"]] == ["kim2025.fig1"]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_what_a_file_prints_keeps_out_of_the_json_and_it_is_not_asked(tmp_path: Path) -> None:
    file = written(tmp_path, "x = input()")
    with started("verify", file) as command:
        out, err = command.communicate(timeout=120)
    assert (command.returncode, out) == (2, "")
    assert err.startswith(f"maskproof: {file}, line 1: EOFError")
    text = WILD.format(deed="print('checking')") + "\nprint('loading')\n"
    with started("verify", written(tmp_path, text), "--json", "-") as command:
        out, err = command.communicate(timeout=120)
    assert [row["verdict"] for row in json.loads(out)["claims"]] == ["PROVED"] * 4
    assert err == "loading\n"
    with started("verify", written(tmp_path, text)) as command:
        out, err = command.communicate(timeout=120)
    assert (out.count("loading\n"), out.count("checking"), err) == (1, 0, "")


@pytest.mark.parametrize("streams", ["<&-", ">&-", "<&- >&-"])
def test_a_closed_stream_is_no_internal_error(tmp_path: Path, streams: str) -> None:
    command = f'exec "{sys.executable}" -m maskproof verify own.fig1 {streams}'
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, cwd=ROOT, timeout=120, check=False)
    if ">&-" in streams:
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith("maskproof: standard output violates 'it is open'")
        assert len(done.stderr.splitlines()) == 1
    else:
        assert (done.returncode, done.stderr) == (0, "")


def test_a_reader_that_goes_away_leaves_no_process(tmp_path: Path) -> None:
    with started("verify", written(tmp_path, WILD.format(deed="pass"))) as command:
        assert command.stdout is not None
        assert command.stderr is not None
        command.stdout.close()
        assert command.stderr.read() == ""
        assert command.wait(60) == 1


# ----------------------------------------------------------------------------------------- in Python


def claim(name: str, **more: Any) -> Claim:
    return Claim(name, Lt(Score(1, 2, 1), 1), inputs=Equicorrelated(0), **more)


@pytest.fixture
def deeds(monkeypatch: pytest.MonkeyPatch) -> dict[str, Callable[[], object]]:
    """What happens before the claims with these ids are checked."""
    done: dict[str, Callable[[], object]] = {}
    verified = Pipeline._verified

    def after_the_deed(self: Pipeline, claim: Claim) -> Result:
        done.get(claim.id, lambda: None)()
        return verified(self, claim)

    monkeypatch.setattr(Pipeline, "_verified", after_the_deed)
    return done


def without_seconds(result: Result) -> Result:
    evidence = tuple(replace(e, seconds=0.0) for e in result.evidence)
    return replace(result, seconds=0.0, evidence=evidence)


def test_the_same_results_with_limits_and_without() -> None:
    chosen = [c for c in registry.shipped() if c.id in ("kim2025.fig1", "own.fig1", "kim2025.x1", "own.layer-two")]
    free, limited = verify(chosen, seed=3), verify(chosen, seed=3, timeout=60)
    assert list(map(without_seconds, free)) == list(map(without_seconds, limited))
    assert without_seconds(verify(chosen[0], memory=2000)) == without_seconds(verify(chosen[0]))


def test_python_asks_for_limits(deeds: dict[str, Callable[[], object]]) -> None:
    deeds["b"] = lambda: time.sleep(600)
    heard: list[tuple[str, int]] = []
    a, b, c = verify([claim("a"), claim("b"), claim("c")], 0, lambda name, done: heard.append((name, done)), timeout=5)
    assert (a.verdict, b.verdict, c.verdict) == (Verdict.PROVED, Verdict.UNKNOWN, Verdict.PROVED)
    assert b.cut_short
    assert not a.cut_short
    assert 5 <= b.seconds < 20
    assert heard == [("a", 0), ("b", 1), ("c", 2)]


def test_python_gets_the_same_exceptions(deeds: dict[str, Callable[[], object]]) -> None:
    with pytest.raises(MalformedClaim) as refusal:
        verify([claim("a"), Claim("b", Score(2, 2, 1))], timeout=20)
    assert str(refusal.value).startswith("claim b: statement")
    with pytest.raises(InvalidInput, match="uses 'nothing'"):
        verify(claim("a", uses=("nothing",)), timeout=20)
    with pytest.raises(InvalidInput, match="claim a uses b uses a"):
        verify([claim("a", uses=("b",)), claim("b", uses=("a",))], timeout=20)

    def fail() -> None:
        raise KeyError("x")

    deeds["a"] = fail
    with pytest.raises(RuntimeError, match="claim a: KeyError: 'x'"):
        verify(claim("a"), timeout=20)


@pytest.mark.parametrize("limit", [{"timeout": 0}, {"timeout": True}, {"memory": -1}, {"timeout": float("nan")},
                                   {"memory": "2 GB"}])  # fmt: skip
def test_python_is_refused_limits_that_are_none(limit: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match="positive number"):
        verify(claim("a"), **limit)


@pytest.mark.slow
def test_what_a_claim_uses_has_a_limit_of_its_own(deeds: dict[str, Callable[[], object]]) -> None:
    """A lemma that takes too long is UNKNOWN, and the claim that uses it is judged by the numbers."""
    for order in (1, -1):
        deeds["lemma"] = lambda: time.sleep(600)
        claims = [claim("lemma"), claim("theorem", uses=("lemma",))][::order]
        found = {result.id: result for result in verify(claims, timeout=5)}
        assert found["lemma"].cut_short
        theorem = found["theorem"]
        assert not theorem.cut_short
        assert theorem.verdict is Verdict.ENCLOSED
        assert "lemma, which is UNKNOWN" in theorem.evidence[0].detail
        deeds.clear()
        assert {result.verdict for result in verify(claims, timeout=20)} == {Verdict.PROVED}


@pytest.mark.parametrize("error", [OverflowError, RecursionError])
def test_a_number_or_formula_beyond_all_limits_is_unknown(
    monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    def verified(self: Pipeline, claim: Claim) -> Result:
        raise error("too much")

    monkeypatch.setattr(Pipeline, "_verified", verified)
    for result in (verify(claim("a")), verify(claim("a"), timeout=20)):
        assert (result.verdict, result.evidence[0].engine) == (Verdict.UNKNOWN, LIMIT)


def test_results_do_not_depend_on_the_number_of_workers(deeds: dict[str, Callable[[], object]]) -> None:
    names = [f"c{number}" for number in range(24)]
    claims = [claim(name, uses=(names[place - 1],) if place % 3 else ()) for place, name in enumerate(names)]
    deeds["c7"] = lambda: os._exit(0)
    found = []
    for processes in (1, 2, 5):
        with closing(Supervised(lambda _: claims, 0, within(20), processes=processes)) as supervised:
            assert supervised.ids == names
            found.append([without_seconds(outcome) for outcome in supervised.outcomes()])  # type: ignore[arg-type]
    assert found[0] == found[1] == found[2]
    assert [place for place, result in enumerate(found[0]) if result.cut_short] == [7]
    assert [place for place, result in enumerate(found[0]) if result.verdict is not Verdict.PROVED] == [7, 8]


def test_a_verdict_that_was_cut_short_is_not_recorded(tmp_path: Path) -> None:
    record = tmp_path / "verdicts.json"
    cut = Result("own.fig1", Verdict.UNKNOWN, (Evidence(LIMIT, Verdict.UNKNOWN, "", "not decided"),))
    with pytest.raises(InvalidInput, match="the same on every machine"):
        registry.accept([cut], record)
    assert not record.exists()


# ----------------------------------------------------------------------------------------- the workers


@pytest.fixture
def no_child() -> Iterator[None]:
    before = set(psutil.Process().children())
    yield
    assert set(psutil.Process().children()) == before


def done(work: Callable[[str, Any], Any], jobs: str, seconds: float = 10, processes: int = 2, **after: str) -> dict:
    """The answers to jobs of one letter each; a job starts after those it names."""
    return dict(supervise(list(jobs), after, lambda name: name, work, within(seconds), processes))


def test_an_earlier_job_does_not_take_a_later_one_with_it(no_child: None) -> None:
    def work(name: str, _: Any) -> str:
        if name == "a":
            threading.Timer(0.5, os._exit, [0]).start()  # after it has answered
        else:
            time.sleep(1)
        return name

    assert done(work, "abc", processes=1) == {"a": "a", "b": "b", "c": "c"}


def test_what_a_job_leaves_in_memory_is_not_counted_against_the_next(no_child: None) -> None:
    kept = []

    def work(name: str, _: Any) -> int:
        kept.append(bytearray(b"x") * (2 * 10**8))  # far more than the heap of the tests may give back meanwhile
        return os.getpid()

    found = done(work, "abcd", processes=1)
    assert len(set(found.values())) == 4  # a worker that keeps much is replaced
    assert not any(isinstance(answer, Lost) for answer in found.values())


def test_small_jobs_share_a_worker(no_child: None) -> None:
    found = done(lambda name, brief: os.getpid(), "abcdef")
    assert len(set(found.values())) == 1
    assert os.getpid() not in found.values()


def test_a_job_that_hangs_gets_company(no_child: None) -> None:
    def work(name: str, _: Any) -> str:
        if name == "a":
            time.sleep(600)
        return name

    order = [name for name, _ in supervise("abc", {}, lambda _: None, work, within(6), 2)]
    assert order == ["b", "c", "a"]


def test_jobs_wait_for_others_and_circles_are_cut(no_child: None) -> None:
    after = {"a": "c", "b": "b", "c": "d", "e": "f", "f": "e"}
    order = [name for name, _ in supervise("abcdef", after, str, lambda name, _: name, within(10), 2)]
    assert order == ["b", "d", "c", "a", "e", "f"]


def test_a_caller_that_leaves_ends_the_workers(no_child: None) -> None:
    def work(name: str, _: Any) -> None:
        if name != "a":
            time.sleep(600)

    answers = supervise("abc", {}, lambda _: None, work, within(60), 2)
    assert next(answers) == ("a", None)
    answers.close()


def test_an_answer_that_cannot_be_sent_is_lost(no_child: None) -> None:
    answer = done(lambda name, brief: threading.Lock(), "a")["a"]
    assert isinstance(answer, Lost)
    assert answer.cause == "end"
    assert "TypeError" in answer.how
