"""Some hundred things that nobody can use: each is refused in one line that names it, and nothing is written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

from maskproof.proofs.command import cli

ROOT = Path(__file__).resolve().parents[2]
SCORES = ("scores", "--n", "4", "--layers", "2")
FINITE = (*SCORES, "--dim", "8", "--samples", "100")
ROTARY = (*SCORES, "--rope", "10000")
PHASE = ("phase", "--n", "4", "--layers", "2", "--beta", "0:1")
DRAWN = ("figures", "v1-2")

NO_NUMBERS = (
    "", " ", "half", "nan", "inf", "-inf", "1e400", "-1e400", "1e-400", "1e301", "1e9999", "1/0", "1/", "/2", "1/2/3",
    "0x10", "1,5", "1e", "1_000", "--", "-", "+", "1j", "pi", "1 2", "1\n2", "٣", "²", "7" * 61, "0.5;", "$x", "1:2:3",
)  # fmt: skip
NO_NUMBERS_OF_MAPS = tuple(word for word in NO_NUMBERS if ":" not in word)
NOT_WHOLE = ("", "four", "-1", "4.5", "1e3", "nan", "inf", "0x4", "1_0", "+", "1/2", "²", "४", "4 4", "9" * 25)
NOT_MASKS = (
    "", "diagonal", "CAUSAL", "causal:3", "bidirectional:2", "window", "window:", "window:0", "window:-1", "window:x",
    "window:1:2", "window:1e3", "prefix", "prefix:0", "prefix:1.5", "prefix:" + "9" * 30, "causal,window:3",
)  # fmt: skip

Case = tuple[tuple[str, ...], str]
"""Arguments, and what of them the line has to name."""


def options() -> Iterator[Case]:
    """Every option of every command, with values of the wrong kind and out of range."""
    for command, names, words in (
        (SCORES, ("--alpha", "--beta", "--residual", "--rope", "--scale"), NO_NUMBERS),
        (FINITE, ("--target-se",), (*NO_NUMBERS, "0", "-1")),
        (PHASE, ("--alpha", "--residual"), NO_NUMBERS_OF_MAPS),
        (PHASE, ("--resolution", "--seconds"), (*NO_NUMBERS_OF_MAPS, "0", "-1")),
        (("verify",), ("--timeout",), (*NO_NUMBERS, "0", "-3")),
        (("scores", "--layers", "2"), ("--n",), (*NOT_WHOLE, "0", "10000000")),
        (("scores", "--n", "4"), ("--layers",), (*NOT_WHOLE, "0")),
        (SCORES, ("--dim",), (*NOT_WHOLE, "0")),
        (FINITE, ("--samples", "--seed"), NOT_WHOLE),
        (FINITE, ("--samples",), ("0", "1")),
        (ROTARY, ("--head-dim",), (*NOT_WHOLE, "0")),
        (("verify",), ("--seed", "--memory"), NOT_WHOLE),
        (("verify",), ("--memory",), ("0", "249")),
        (("phase", "--layers", "2", "--beta", "0:1"), ("--n",), (*NOT_WHOLE, "0", "1")),
        (("phase", "--n", "4", "--beta", "0:1"), ("--layers",), (*NOT_WHOLE, "0", "33", "2,", "3-2", "2-x", "2-40")),
        (PHASE, ("--dim", "--degree", "--workers"), (*NOT_WHOLE, "0")),
        (PHASE, ("--lengths",), (*NOT_WHOLE, "0", "1", "5", "2,x", "ALL")),
        (PHASE, ("--degree", "--workers"), ("100000",)),
        (DRAWN, ("--samples", "--seed", "--n"), NOT_WHOLE),
        (DRAWN, ("--n",), ("3", "401")),
        (SCORES, ("--mask",), NOT_MASKS),
        (PHASE, ("--mask",), NOT_MASKS[:6]),
        (SCORES, ("--norm",), ("", "L2", "batchnorm", "l2 ")),
        (PHASE, ("--norm",), ("", "rms")),
        (SCORES, ("--scale",), ("0", "-1", "sqrt(n)", "d^2", "D")),
        (SCORES, ("--beta", "--residual"), ("-1", "-1e-300")),
        (SCORES, ("--alpha",), ("1", "2", "-0.9")),
        (FINITE, ("--alpha",), ("-0.1", "1.5")),
    ):
        for name in names:
            yield from (((*command, name, word), name) for word in words)


RANGES = {
    "0:1e400": "1e400", "0:": "''", ":": "''", ":1": "''", "1:0": "[1, 0]", "0:nan": "nan", "x:1": "x", "0:1:2": "1:2",
    "-1:1": "beta", "1:1": "beta", "0:1/0": "1/0", "0:inf": "inf",
}  # fmt: skip

ALONE: tuple[Case, ...] = (
    ((), "command"),
    (("",), "''"),
    (("frobnicate",), "frobnicate"),
    (("VERIFY",), "VERIFY"),
    (("--frobnicate",), "--frobnicate"),
    (("list", "more"), "more"),
    (("list", "--json", "x"), "--json"),
    ((*SCORES, "--frobnicate", "1"), "--frobnicate"),
    ((*SCORES, "stray"), "stray"),
    (("scores", "--n", "4"), "--layers"),
    (("scores", "--layers", "4"), "--n"),
    (("scores", "--n"), "--n"),
    ((*SCORES, "--head-dim", "64"), "--head-dim"),
    ((*SCORES, "--samples", "100"), "--samples"),
    ((*SCORES, "--seed", "1"), "--seed"),
    ((*SCORES, "--target-se", "1"), "--target-se"),
    ((*SCORES, "--json", "x.json"), "--json"),
    ((*FINITE, "--certify"), "--certify"),
    ((*ROTARY, "--certify", "--json", "x.json", "--out", "x.csv"), "Rope"),
    ((*ROTARY, "--head-dim", "63"), "dim = 63"),
    ((*SCORES, "--rope", "0"), "base = 0"),
    ((*SCORES, "--rope", "1"), "base = 1"),
    ((*SCORES, "--rope", "-5"), "base = -5"),
    (("scores", "--n", "4", "--layers", "1", "--certify"), "--layers 1"),
    ((*SCORES, "--norm", "layernorm"), "layernorm"),
    ((*SCORES, "--scale", "sqrt(d)"), "sqrt(d)"),
    ((*SCORES, "--mask", "prefix:9"), "9"),
    (("scores", "--n", "5000", "--layers", "100"), "--n 5000"),
    (("phase", "--n", "4", "--layers", "2"), "parameters"),
    ((*PHASE, "--alpha", "0:1", "--residual", "0:1"), "parameters"),
    ((*PHASE, "--alpha", "0:2"), "alpha"),
    ((*PHASE, "--norm", "layernorm"), "dim"),
    ((*PHASE, "--mask", "prefix:9"), "9"),
    (("verify", "kim2025.eq44"), "kim2025.eq44"),
    (("verify", ""), "''"),
    (("verify", "."), "'.'"),
    (("verify", "kim2025.eq4\n"), "kim2025.eq4"),
    (("verify", "k" * 5000), "kkkk"),
    (("verify", "-x"), "-x"),
    (("verify", "nowhere/claims.py"), "nowhere/claims.py"),
    (("verify", "nowhere.py"), "nowhere.py"),
    (("verify", "n" * 300 + ".py"), "nnn"),
    (("verify", "full.py/claims.py"), "full.py/claims.py"),
    (("verify", "--accept", "full.py"), "--accept"),
    (("verify", "full.py", "./full.py"), "mine"),
    (("derive",), "TOPIC"),
    (("derive", ""), "''"),
    (("derive", "layer-nine"), "layer-nine"),
    (("derive", "LAYER-TWO"), "LAYER-TWO"),
    (("derive", "layer-one", "--format", "html"), "html"),
    (("derive", "layer-one", "layer-two"), "layer-two"),
    (("export",), "latex"),
    (("export", "word"), "word"),
    (("export", ""), "''"),
    (("export", "latex", "--only", ""), "''"),
    (("export", "latex", "--only", ","), "','"),
    (("export", "latex", "--only", "eq4,nothing"), "nothing"),
    (("export", "latex", "--as", "theorem"), "--as"),
    (("export", "latex", "--only", "eq4", "--as", "poem"), "poem"),
    (("export", "python", "--only", "eq4"), "--only"),
    (("export", "markdown", "--as", "proof"), "--as"),
    (("figures", "v9"), "v9"),
    (("figures", ""), "''"),
    ((*DRAWN, "--out", "nowhere"), "nowhere"),
    ((*DRAWN, "--out", "full.py"), "full.py"),
    (("formal", "kim2025.eq44"), "kim2025.eq44"),
    (("formal", "kim2025.fig1"), "kim2025.fig1"),
    (("formal", "--accept"), "--accept"),
    (("formal", "kim2025.eq4", "--out", "full.py"), "full.py"),
    (("formal", "kim2025.eq4", "--out", "full.py/x"), "full.py/x"),
    (("notebooks", "99"), "99"),
    (("notebooks", ""), "''"),
    (("notebooks", "01_from_layer_to_scor"), "01_from_layer_to_scor"),
)


def outputs() -> Iterator[Case]:
    """Every option that names a file to write, with what can't be written."""
    bad = ("", ".", "folder", "nowhere/x{}", "full.py/x{}", "-", "n" * 300 + "{}", "/dev/null/x{}", "/dev/null")
    for command, name, suffix in (
        (SCORES, "--out", ".csv"),
        (SCORES, "--plot", ".png"),
        ((*SCORES, "--certify"), "--json", ".json"),
        (PHASE, "--json", ".json"),
        (PHASE, "--out", ".npz"),
        (PHASE, "--plot", ".png"),
        (("export", "latex"), "--out", ".tex"),
        (("verify", "kim2025.fig1"), "--json", ".json"),
    ):
        for word in bad:
            if word != "-" or (name != "--json" and command[0] != "export"):  # where it is standard output
                yield (*command, name, word.format(suffix)), name
    yield (*SCORES, "--out", "scores.xlsx"), "scores.xlsx"
    yield (*SCORES, "--out", "scores"), "scores"
    yield (*SCORES, "--plot", "scores.txt"), "scores.txt"
    yield (*PHASE, "--out", "map.txt"), "map.txt"
    yield (*PHASE, "--plot", "map.pdf"), "map.pdf"
    yield from (((*PHASE, "--json", name), name) for name in CERTIFICATES)


CERTIFICATES = {
    "latin.json": b"\xe9", "empty.json": b"", "list.json": b"[]", "null.json": b"null", "half.json": b'{"format": ',
    "other.json": b'{"format": "maskproof-certificate-1"}', "deep.json": b"[" * 100_000, "digits.json": b"9" * 10_000,
}  # fmt: skip

HEAD = "from sympy import *\nfrom maskproof import *\n"
FILES: dict[str, tuple[bytes | str, str]] = {
    "latin": (b"claims = '\xe9'\n", "line 1"),
    "utf16": ("claims = []".encode("utf-16"), "UTF-8"),
    "nul": (b"claims = [\0]", "Python"),
    "empty": ("", "claims"),
    "syntax": ("claims = [", "Python"),
    "indented": ("  claims = []", "line 1"),
    "deep": ("claims = " + "(" * 500 + ")" * 500, "Python"),
    "digits": ("claims = " + "9" * 10_000, "digits"),
    "nothing": ("x = 1", "claims"),
    "none": ("claims = None", "claims"),
    "no-claims": ("claims = []", "claims"),
    "tuple": ("claims = ()", "tuple"),
    "generator": ("claims = (x for x in [])", "generator"),
    "numbers": ("claims = [1]", "int"),
    "classes": (HEAD + "claims = [Claim]", "type"),
    "id": (HEAD + "claims = [Claim(3, Lt(Score(2, 2, 1), 1))]", "int"),
    "twice": (HEAD + "c = Claim('a', Lt(Score(2, 2, 1), 1))\nclaims = [c, c]", "'a'"),
    "taken": (HEAD + "claims = [Claim('kim2025.eq4', Lt(Score(2, 2, 1), 1))]", "kim2025.eq4"),
    "compared": (HEAD + "claims = [Claim('a', Score(2, 2, 1) == 1)]", "line 3"),
    "chained": (HEAD + "claims = [Claim('a', Score(2, 2, 1) < 1, 0 < alpha < 1)]", "And"),
    "zero-layer": (HEAD + "claims = [Claim('a', Score(0, 1, 1) < 1)]", "layer"),
    "zero-scale": (HEAD + "Decoder(scale=0)", "scale"),
    "many-digits": (HEAD + "Decoder(beta=-10**400)", "beta"),
    "division": ("claims = 1 / 0", "ZeroDivisionError"),
    "import": ("import nowhere_at_all", "nowhere_at_all"),
    "exit-0": ("raise SystemExit(0)", "SystemExit"),
    "exit": ("import sys; sys.exit('well')", "well"),
    "quit": ("exit(3)", "3"),
    "os-exit": ("import os; os._exit(7)", "7"),
    "abort": ("import os; os.abort()", "SIGABRT"),
    "killed": ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "SIGKILL"),
    "interrupt": ("raise KeyboardInterrupt", "KeyboardInterrupt"),
    "generator-exit": ("raise GeneratorExit", "GeneratorExit"),
    "base": ("raise BaseException('odd')", "odd"),
    "lines": (r"raise ValueError('a\nb\u2028c\x85d\re')", "a b c d e"),
    "colours": (r"raise ValueError('\x1b[31mred\x1b]0;title\x07')", "red"),
    "long": ("raise ValueError('x' * 10**6)", "xxx"),
    "numbers-in-words": ("raise ValueError(10**3000)", "3001 digits"),
    "speechless": ("class E(Exception):\n def __str__(self): raise RuntimeError\nraise E", "E"),
    "recursion": ("def f(): f()\nf()", "RecursionError"),
    "memory": ("x = [0] * 10**12", "MB"),
    "standard-error": ("import sys; sys.stderr = None; claims = 0", "int"),
    "attribute": (HEAD + "claims = [Claim('a', Score(2, 2, 1).missing)]", "missing"),
    "keyword": (HEAD + "claims = [Claim('a', Lt(1, 2), colour=3)]", "colour"),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory: a folder, a file of claims, files that are no certificates."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "full.py").write_text(HEAD + "claims = [Claim('mine', Lt(Score(2, 2, 1), 1))]\n", encoding="utf-8")
    for name, content in CERTIFICATES.items():
        (tmp_path / name).write_bytes(content)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def held(folder: Path) -> dict[str, bytes | None]:
    return {str(path): path.read_bytes() if path.is_file() else None for path in sorted(folder.rglob("*"))}


def refused(arguments: tuple[str, ...], word: str, folder: Path) -> None:
    """The arguments are refused, in a line that has ``word``, and the folder stays as it was."""
    before = held(folder)
    out, err = StringIO(), StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        status = cli.run(arguments)
    line = err.getvalue()
    assert status == 2, line or out.getvalue()
    assert out.getvalue() == ""
    assert len(line.splitlines()) == 1, line
    assert line.startswith("maskproof: ")
    assert word in line or word.removeprefix("--").replace("-", "_") in line, line
    assert len(line) < 600
    assert line.rstrip("\n").isprintable()
    for sign_of_a_fault in ("Traceback", "internal error", "Errno"):
        assert sign_of_a_fault not in line
    assert held(folder) == before


def named(cases: Iterator[Case] | tuple[Case, ...]) -> list[object]:
    return [pytest.param(*case, id=ascii(" ".join(case[0]))[1:-1][:80]) for case in cases]


@pytest.mark.parametrize(("arguments", "word"), named(options()))
def test_values_of_options(arguments: tuple[str, ...], word: str, folder: Path) -> None:
    refused(arguments, word, folder)


@pytest.mark.parametrize(("text", "word"), RANGES.items())
def test_ranges(text: str, word: str, folder: Path) -> None:
    refused(("phase", "--n", "4", "--layers", "2", "--beta", text), word, folder)


@pytest.mark.parametrize(("arguments", "word"), named(ALONE))
def test_arguments(arguments: tuple[str, ...], word: str, folder: Path) -> None:
    refused(arguments, word, folder)


@pytest.mark.parametrize(("arguments", "word"), named(outputs()))
def test_files_to_write(arguments: tuple[str, ...], word: str, folder: Path) -> None:
    refused(arguments, word, folder)


@pytest.mark.parametrize(("source", "word"), FILES.values(), ids=FILES)
def test_claims_files(source: bytes | str, word: str, folder: Path) -> None:
    (folder / "bad.py").write_bytes(source if isinstance(source, bytes) else source.encode())
    refused(("verify", "bad.py"), word, folder)
