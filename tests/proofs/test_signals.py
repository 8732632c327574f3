"""How the command ends when it is asked to, or cannot write: one line, a status, no process left."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

ROOT = Path(__file__).resolve().parents[2]
ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
MAP = ("phase", "--n", "30", "--layers", "3,4,5", "--alpha", "0:9/10", "--beta", "1/10:5", "--resolution", "1/1000")


def started(*arguments: str, first: str = "", **options: object) -> subprocess.Popen[str]:
    """The command, in a group of its own; modules and programs in the folder ``first`` take the place of others."""
    search = os.pathsep.join(part for part in (first, str(ROOT)) if part)
    kept = {name: value for name, value in os.environ.items() if name != "MASKPROOF_DEBUG"}
    kept |= {"PATH": os.pathsep.join((first, kept["PATH"])), "PYTHONPATH": search}
    return subprocess.Popen(
        [sys.executable, "-m", "maskproof", *arguments], cwd=ROOT, env=kept, text=True,
        **{  # type: ignore[arg-type]
            "stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "preexec_fn": _alone,
            **options,
        },
    )  # fmt: skip


def _alone() -> None:
    os.setsid()
    for number in ENDS:  # a shell lets its background jobs ignore some, and their children inherit it
        signal.signal(number, signal.SIG_DFL)


def children(command: subprocess.Popen[str], least: int) -> list[psutil.Process]:
    """The processes that the command has started, once there are so many."""
    patience = time.monotonic() + 60
    while time.monotonic() < patience:
        if len(found := psutil.Process(command.pid).children(recursive=True)) >= least:
            return found
        time.sleep(0.01)
    pytest.fail("no processes were started")


def ends(command: subprocess.Popen[str], ask: Callable[[], object], number: signal.Signals) -> None:
    """Ask the command to end: it says so in a line, soon, and leaves nothing behind."""
    born = psutil.Process(command.pid).children(recursive=True)
    ask()
    asked = time.monotonic()
    out, err = command.communicate(timeout=60)
    assert time.monotonic() - asked < 15  # on a busy machine; an end that waits for work would take minutes
    told = "interrupted" if number is signal.SIGINT else f"ended by {number.name}"
    assert (command.returncode, out, err) == (128 + number, "", f"maskproof: {told}\n")
    _, alive = psutil.wait_procs(born, timeout=5)
    assert alive == []


def test_an_interrupt_while_modules_load(tmp_path: Path) -> None:
    text = "import os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(60)\n"
    (tmp_path / "typer.py").write_text(text, encoding="utf-8")
    with started("list", first=str(tmp_path)) as command:
        out, err = command.communicate(timeout=60)
    assert (command.returncode, out, err) == (130, "", "maskproof: interrupted\n")


@pytest.mark.parametrize(
    ("number", "everyone"),
    [
        (signal.SIGHUP, True),
        pytest.param(signal.SIGINT, True, marks=pytest.mark.slow),
        pytest.param(signal.SIGTERM, False, marks=pytest.mark.slow),
    ],
)
def test_a_map_with_workers(number: signal.Signals, everyone: bool) -> None:
    if (os.cpu_count() or 1) < 2:
        pytest.skip("there are as many workers as processors at most")
    with started(*MAP, "--workers", "2") as command:
        children(command, 3)  # the workers have begun to load their modules
        ends(command, lambda: (os.killpg if everyone else os.kill)(command.pid, number), number)


@pytest.mark.slow
@pytest.mark.parametrize("number", ENDS)
@pytest.mark.parametrize(
    "arguments",
    [
        MAP,
        ("scores", "--n", "50", "--layers", "4", "--dim", "64", "--samples", "100000000"),
        ("scores", "--n", "300", "--layers", "6", "--certify"),
        ("verify",),
    ],
    ids=["map", "sampling", "certifying", "verify"],
)
def test_work_in_progress(arguments: tuple[str, ...], number: signal.Signals) -> None:
    with started(*arguments) as command:
        process = psutil.Process(command.pid)
        while process.cpu_times().user < 2.5 and len(process.children()) < 1:  # modules are loaded by then
            time.sleep(0.05)
        ends(command, lambda: os.killpg(command.pid, number), number)


@pytest.mark.slow
def test_a_compiler_at_work_ends_as_well(tmp_path: Path) -> None:
    compiler = tmp_path / "coqc"
    compiler.write_text(f"#!{sys.executable}\nimport time\ntime.sleep(600)\n", encoding="utf-8")
    compiler.chmod(0o755)
    with started("formal", "kim2025.eq4", "--check", "--out", str(tmp_path / "out"), first=str(tmp_path)) as command:
        children(command, 1)
        ends(command, lambda: command.send_signal(signal.SIGTERM), signal.SIGTERM)


def test_who_swallows_the_signal_ends_all_the_same() -> None:
    code = """
import signal, time
from maskproof.proofs.processes import limits

limits._GRACE = 0.2
with limits.stoppable():
    try:
        signal.raise_signal(signal.SIGTERM)
    except BaseException:
        time.sleep(60)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=30, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (143, "", "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a device that is full")
def test_a_full_device() -> None:
    with Path("/dev/full").open("w") as full, started("list", stdout=full) as command:
        _, err = command.communicate(timeout=60)
    assert command.returncode == 2
    assert err.startswith("maskproof: the output violates 'it can be written'; ")
    assert len(err.splitlines()) == 1


def test_no_standard_output() -> None:
    def close() -> None:
        os.close(1)

    with started("list", preexec_fn=close, stdout=None) as command:
        _, err = command.communicate(timeout=60)
    assert command.returncode == 2
    assert err == "maskproof: standard output violates 'it is open'; send it to a file or to a program\n"


def test_no_standard_error() -> None:
    def close() -> None:
        os.close(2)

    with started("list", preexec_fn=close, stderr=None) as command:
        out, _ = command.communicate(timeout=60)
    assert (command.returncode, out) == (2, "")


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [
        (("scores", "--n", "5", "--layers", "3", "--certify", "--json", "-"), "steps"),
        (("phase", "--n", "4", "--layers", "2", "--beta", "0:1", "--json", "-"), "map"),
    ],
)
def test_a_certificate_on_standard_output_is_alone(arguments: tuple[str, ...], kind: str) -> None:
    with started(*arguments) as command:
        out, err = command.communicate(timeout=60)
    assert (command.returncode, err) == (0, "")
    assert json.loads(out)["kind"] == kind
    assert not (ROOT / "-").exists()
