"""The command line as a user meets it; a process of its own where that makes a difference."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

import numpy as np
import pytest

from maskproof.numerics import mean_field
from maskproof.proofs.command import cli
from maskproof.theory import Decoder

ROOT = Path(__file__).resolve().parents[2]
CLAIMS = """
from sympy import And, Lt, Symbol
from maskproof.theory import Claim, Equicorrelated, Score, i, j

zero = Equicorrelated(0)
claims = [
    Claim("mine.true", Lt(Score(2, 2, 1), 1), inputs=zero),
    Claim("mine.false", Lt(Score(3, i, j), Score(3, i, j + 1)), And(j < i, i <= 30), inputs=zero),
    Claim("mine.malformed", Score(2, i, j)),
]
"""


def environment() -> dict[str, str]:
    keep = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "FORCE_COLOR", "MASKPROOF_DEBUG")}
    return {**keep, "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"}


@dataclass(frozen=True)
class Done:
    returncode: int
    stdout: str
    stderr: str


def process(*arguments: str) -> Done:
    """The command as a process of its own: a second or two just to start."""
    command = [sys.executable, "-m", "maskproof", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment(), timeout=300)
    return Done(done.returncode, done.stdout, done.stderr)


def maskproof(*arguments: str) -> Done:
    """The same in this process."""
    out, err = StringIO(), StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        status = cli.run(list(arguments))
    return Done(status, out.getvalue(), err.getvalue())


SCORES = ("scores", "--n", "4", "--layers", "2")
BAD = {
    "no command": [],
    "unknown command": ["frobnicate"],
    "unknown option": [*SCORES, "--frobnicate", "1"],
    "missing option": ["scores", "--n", "4"],
    "option without value": ["scores", "--n"],
    "stray argument": ["list", "more"],
    "zero tokens": ["scores", "--n", "0", "--layers", "2"],
    "negative tokens": ["scores", "--n", "-3", "--layers", "2"],
    "fractional tokens": ["scores", "--n", "4.5", "--layers", "2"],
    "zero layers": ["scores", "--n", "4", "--layers", "0"],
    "too many tokens": ["scores", "--n", "10000000", "--layers", "2"],
    "astronomical tokens": ["scores", "--n", "9" * 5000, "--layers", "2"],
    "word for a number": [*SCORES, "--alpha", "half"],
    "alpha nan": [*SCORES, "--alpha", "nan"],
    "alpha infinite": [*SCORES, "--alpha", "inf"],
    "alpha one": [*SCORES, "--alpha", "1"],
    "alpha below any Gram matrix": [*SCORES, "--alpha", "-0.9"],
    "zero denominator": [*SCORES, "--alpha", "1/0"],
    "negative beta": [*SCORES, "--beta", "-1"],
    "negative residual": [*SCORES, "--residual", "-1"],
    "unknown norm": [*SCORES, "--norm", "batchnorm"],
    "zero scale": [*SCORES, "--scale", "0"],
    "scale without width": [*SCORES, "--scale", "sqrt(d)"],
    "unknown mask": [*SCORES, "--mask", "diagonal"],
    "window of nothing": [*SCORES, "--mask", "window:0"],
    "prefix longer than the input": [*SCORES, "--mask", "prefix:9"],
    "odd head": [*SCORES, "--rope", "10000", "--head-dim", "63"],
    "rope base one": [*SCORES, "--rope", "1"],
    "zero width": [*SCORES, "--dim", "0"],
    "no samples": [*SCORES, "--dim", "8", "--samples", "0"],
    "one sample": [*SCORES, "--dim", "8", "--samples", "1"],
    "samples without width": [*SCORES, "--samples", "100"],
    "negative seed": [*SCORES, "--dim", "8", "--seed", "-1"],
    "zero target": [*SCORES, "--dim", "8", "--target-se", "0"],
    "negative mean cosine at finite width": [*SCORES, "--dim", "8", "--alpha", "-0.1"],
    "unknown suffix": [*SCORES, "--out", "scores.xlsx"],
    "plot that is no picture": [*SCORES, "--plot", "scores.txt"],
    "unknown claim": ["verify", "kim2025.eq44"],
    "empty claim": ["verify", ""],
    "missing file": ["verify", "nowhere/claims.py"],
    "bad seed": ["verify", "--seed", "x"],
    "unknown topic": ["derive", "layer-nine"],
    "unknown derivation format": ["derive", "layer-one", "--format", "html"],
    "unknown export": ["export", "word"],
    "newline in a value": [*SCORES, "--alpha", "0\n1"],
}


@pytest.mark.parametrize("arguments", BAD.values(), ids=BAD.keys())
def test_bad_input_is_told_in_one_line(arguments: list[str], tmp_path: Path) -> None:
    done = maskproof(*arguments)
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    lines = done.stderr.splitlines()
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("maskproof: ")
    assert len(lines[0]) > len("maskproof: ") + 20  # it says what and how to mend it
    assert "Traceback" not in done.stderr
    assert "internal error" not in done.stderr


@pytest.mark.parametrize(
    "arguments", [["list"], BAD["alpha nan"], BAD["unknown claim"], ["derive", "layer-two"], [*SCORES, "--help"]]
)
def test_a_process_says_the_same(arguments: list[str]) -> None:
    assert process(*arguments) == maskproof(*arguments)


@pytest.mark.parametrize("option", ["--out", "--plot"])
@pytest.mark.parametrize("place", ["folder", "missing/file"])
def test_unwritable_outputs_are_refused_before_the_work(tmp_path: Path, option: str, place: str) -> None:
    suffix = ".csv" if option == "--out" else ".png"
    target = tmp_path / (place + suffix)
    if place == "folder":
        target.mkdir()
    done = maskproof(*SCORES, option, str(target))
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("maskproof: ")
    assert done.stdout == ""
    assert [p.name for p in tmp_path.iterdir()] == (["folder" + suffix] if place == "folder" else [])


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("claims = [", "Python"),
        ("x = 1", "claims"),
        ("claims = []", "Claim"),
        ("claims = [1]", "Claim"),
        ("claims = 1 / 0", "ZeroDivisionError"),
        ("import nowhere_at_all", "nowhere_at_all"),
        ("raise SystemExit(0)", "SystemExit"),
        ("from theory import Score; claims = [Score(0, 1, 1)]", "layer"),
    ],
)
def test_unusable_claims_files(tmp_path: Path, source: str, told: str) -> None:
    file = tmp_path / "claims.py"
    file.write_text(source)
    done = maskproof("verify", str(file))
    assert done.returncode == 2
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("maskproof: ")
    assert told in done.stderr
    assert "Traceback" not in done.stderr


def test_true_false_and_malformed_claims_in_order(tmp_path: Path) -> None:
    file, report = tmp_path / "claims.py", tmp_path / "report.json"
    file.write_text(CLAIMS)
    done = process("verify", str(file), "--json", str(report))
    assert done.returncode == 2
    places = [done.stdout.index(word) for word in ("mine.true", "mine.false", "mine.malformed")]
    assert places == sorted(places)
    true, false, malformed = (done.stdout[a:b] for a, b in zip(places, [*places[1:], None], strict=True))
    assert "PROVED" in true or "ENCLOSED" in true
    assert "REFUTED" in false
    assert "i = 27, j = 25" in false
    assert "MALFORMED" in malformed
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("maskproof: claim mine.malformed")
    assert "\x1b" not in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    document = json.loads(report.read_text(), parse_constant=lambda name: pytest.fail(name))
    assert document["seed"] == 0
    assert "sympy" in document["versions"]
    assert [claim["id"] for claim in document["claims"]] == ["mine.true", "mine.false", "mine.malformed"]
    refuted = document["claims"][1]
    assert refuted["verdict"] == "REFUTED"
    assert refuted["witness"] == {"i": 27, "j": 25}
    assert refuted["recorded"] is None
    assert refuted["seconds"] >= 0
    assert {"engine", "outcome", "scope", "detail"} <= set(refuted["evidence"][0])
    assert document["claims"][2]["verdict"] is None
    assert document["claims"][2]["error"]


def test_status_of_a_file_with_a_false_claim(tmp_path: Path) -> None:
    file = tmp_path / "claims.py"
    file.write_text(CLAIMS + "\nclaims = claims[:2]\n")
    assert maskproof("verify", str(file)).returncode == 1
    file.write_text(CLAIMS + "\nclaims = claims[:1]\n")
    done = maskproof("verify", str(file))
    assert (done.returncode, done.stderr) == (0, "")


def test_an_unknown_claim_is_told_its_neighbour() -> None:
    assert "did you mean kim2025.eq4?" in maskproof("verify", "kim2025.eq44").stderr


def test_verify_a_shipped_claim() -> None:
    done = maskproof("verify", "kim2025.fig1")
    assert "kim2025.fig1" in done.stdout
    assert "REFUTED" in done.stdout
    assert done.returncode in (0, 1)
    assert ("recorded" in done.stdout) == (done.returncode == 1)


def test_list_names_every_claim() -> None:
    done = maskproof("list")
    assert done.returncode == 0
    assert done.stderr == ""
    for name in ("kim2025.eq4", "kim2025.fig1", "own.layer-two"):
        assert name in done.stdout
    assert "\x1b" not in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


@pytest.mark.parametrize("command", [[], ["verify"], ["list"], ["derive"], ["export"], ["scores"]])
def test_help(command: list[str]) -> None:
    done = maskproof(*command, "--help")
    assert done.returncode == 0
    assert done.stdout.startswith("Usage: maskproof")
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_scores_in_the_limit(tmp_path: Path) -> None:
    file = tmp_path / "scores.npz"
    done = maskproof("scores", "--n", "5", "--layers", "3", "--alpha", "1/5", "--beta", "2", "--out", str(file))
    assert done.returncode == 0
    assert done.stderr == ""
    field = mean_field(Decoder(beta=2), 0.2, 5, 3)
    with np.load(file) as stored:
        for name in ("scores", "weights", "gram"):
            np.testing.assert_array_equal(stored[name], getattr(field, name))
    assert f"{field.scores[2, 4, 3]:.6f}" in done.stdout


def test_scores_as_csv(tmp_path: Path) -> None:
    file = tmp_path / "scores.csv"
    assert maskproof("scores", "--n", "3", "--layers", "2", "--out", str(file)).returncode == 0
    rows = list(csv.DictReader(file.read_text().splitlines()))
    assert list(rows[0]) == ["layer", "i", "j", "scores", "weights", "gram"]
    assert len(rows) == 2 * 6  # visible keys only: no NaN
    field = mean_field(Decoder(), 0, 3, 2)
    for row in rows:
        layer, i, j = (int(row[name]) - 1 for name in ("layer", "i", "j"))
        assert float(row["scores"]) == field.scores[layer, i, j]


def test_scores_at_finite_width_do_not_depend_on_the_run(tmp_path: Path) -> None:
    files, means, errors = [tmp_path / f"{name}.npz" for name in "ab"], [], []
    for file in files:
        arguments = ("scores", "--n", "3", "--layers", "2", "--dim", "8", "--samples", "4000", "--seed", "5")
        done = maskproof(*arguments, "--out", str(file))
        assert done.returncode == 0
        assert "standard error" in done.stdout
        with np.load(file) as stored:
            means.append(stored["mean"])
            errors.append(stored["standard_error"])
    np.testing.assert_array_equal(*means)
    # E S^(2)_21 at d = 8 is 0.13354242972640316, by quadrature. Beyond 5.5
    # standard errors with probability 4e-8; a bias of 8 standard errors is found with probability 0.99.
    z = (means[0][1, 1, 0] - 0.133542429726403157) / errors[0][1, 1, 0]
    assert abs(z) < 5.5


def test_target_standard_error_stops_early(tmp_path: Path) -> None:
    file = tmp_path / "scores.npz"
    arguments = ("scores", "--n", "3", "--layers", "2", "--dim", "8", "--samples", "10000000")
    done = maskproof(*arguments, "--target-se", "0.01", "--out", str(file))
    assert done.returncode == 0
    with np.load(file) as stored:
        assert np.nanmax(stored["standard_error"]) <= 0.01


def test_a_target_that_is_not_reached_is_told() -> None:
    arguments = ("scores", "--n", "3", "--layers", "2", "--dim", "8", "--samples", "200", "--target-se", "1e-9")
    done = maskproof(*arguments)
    assert done.returncode == 1
    assert "standard error" in done.stdout
    assert len(done.stderr.splitlines()) == 1
    assert "above --target-se 1e-09; raise --samples" in done.stderr


def test_failing_runs_leave_what_was_there(tmp_path: Path) -> None:
    file = tmp_path / "scores.npz"
    file.write_text("precious")
    assert maskproof(*SCORES, "--alpha", "-0.9", "--out", str(file)).returncode == 2
    assert file.read_text() == "precious"
    assert [p.name for p in tmp_path.iterdir()] == ["scores.npz"]


def test_plot(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    file = tmp_path / "scores.png"
    assert maskproof("scores", "--n", "12", "--layers", "3", "--plot", str(file)).returncode == 0
    assert file.read_bytes().startswith(b"\x89PNG")


def test_plot_without_matplotlib(tmp_path: Path) -> None:
    (tmp_path / "matplotlib.py").write_text("raise ImportError('hidden')")
    environment_ = {**environment(), "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}
    command = [sys.executable, "-m", "maskproof", *SCORES, "--plot", str(tmp_path / "x.png")]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment_, timeout=60)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert "pip install 'maskproof[plot]'" in done.stderr


def test_derive_reads_like_a_proof() -> None:
    done = maskproof("derive", "layer-two")
    assert done.returncode == 0
    assert done.stderr == ""
    assert "Hypotheses:" in done.stdout
    assert "Conclusion:" in done.stdout
    assert "(1)" in done.stdout
    assert "by the lemma norms, step (" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


@pytest.mark.slow
def test_exports_are_written_whole(tmp_path: Path) -> None:
    for form, start in (("latex", r"\documentclass"), ("markdown", "# "), ("python", '"""')):
        file = tmp_path / form
        assert maskproof("export", form, "--out", str(file)).returncode == 0
        text = file.read_text(encoding="utf-8")
        assert text.startswith(start)
        assert text.endswith("\n")
        assert maskproof("export", form).stdout == text


def test_a_reader_that_goes_away() -> None:
    command = [sys.executable, "-m", "maskproof", "export", "latex"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, cwd=ROOT, env=environment()) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.readline()
        running.stdout.close()
        assert running.stderr.read() == ""
        assert running.wait(60) == 1


def _listen_to_interrupts() -> None:
    """A shell lets its background jobs ignore interrupts, and their children inherit it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_interrupt(tmp_path: Path) -> None:
    file = tmp_path / "claims.py"  # interrupts itself, so that the test knows how far it has got
    file.write_text("import os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(60)\n")
    command = [sys.executable, "-m", "maskproof", "verify", str(file)]
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=ROOT, env=environment(), timeout=50,
        preexec_fn=_listen_to_interrupts,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "maskproof: interrupted\n")
