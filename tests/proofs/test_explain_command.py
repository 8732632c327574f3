"""``maskproof verify --explain``, ``--effort``, ``show``, ``new``, ``--version`` and names, as a user meets them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from maskproof.proofs.command import cli
from maskproof.proofs.command.names import resolve
from maskproof.theory.errors import InvalidInput

CLAIMS = """
from sympy import Lt
from maskproof import Claim, Equicorrelated, Score, i, j

claims = [
    Claim("mine.recency-3", Lt(Score(3, i, j), Score(3, i, j + 1)), j < i, inputs=Equicorrelated(0)),
    Claim("mine.a-name-of-a-claim-that-is-longer-than-half-of-a-line-of-text", Score(2, 2, 1) < 1),
]
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "claims.py").write_text(CLAIMS)
    return tmp_path / "claims.py"


def maskproof(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    status = cli.run(list(arguments))
    out, err = capsys.readouterr()
    return status, out, err


def test_an_explanation(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = maskproof(capsys, "verify", "--explain", str(file), "--json", "report.json")
    assert (status, err) == (1, "")
    assert "mine.recency-3: REFUTED, at i = 27, j = 25" in out
    assert "symbolic: UNKNOWN" in out
    assert "1 <= j < i <= 26" in out
    program = out[out.index("# mine.recency-3 at its witness") : out.rindex("\nmine.a-name")]
    done = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("left = 0.194197323709494")
    assert "right = 0.194180033555475" in done.stdout
    first, second = json.loads((file.parent / "report.json").read_text())["claims"]
    assert first["explanation"]["replay"].strip() == program.strip()
    assert first["explanation"]["nearest"][0]["verdict"] == "ENCLOSED"
    assert second["explanation"]["nearest"] == []
    assert second["explanation"]["replay"] is None


def test_without_explain_there_is_none(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = maskproof(capsys, "verify", str(file))
    assert "What was tried" not in out


@pytest.mark.parametrize("effort", ["0", "-1", "x", "1e400"])
def test_an_effort_that_is_none(effort: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, _, err = maskproof(capsys, "verify", "kim2025.eq2", "--effort", effort)
    assert status == 2
    assert "--effort" in err
    assert err.count("\n") == 1


def test_effort_draws_more_samples(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text(
        "from maskproof import Claim, Score, Sphere\nclaims = [Claim('mine', Score(2, 3, 2) > 0, inputs=Sphere(8))]\n"
    )
    drawn = []
    for effort in ("1", "2"):
        assert cli.run(["verify", str(file), "--effort", effort, "--json", "-"]) == 0
        scope = json.loads(capsys.readouterr().out)["claims"][0]["evidence"][-1]["scope"]
        drawn.append(int(scope.split(" samples")[0].split()[-1]))
    assert drawn[1] == 2 * drawn[0]


# -- names -------------------------------------------------------------------------------------

NAMES = ("kim.g", "kim.eq4", "kim.x1", "own.x1", "own.h", "layer-two")


def meant(*words: str, short: bool = False) -> list[str]:
    return [name for _, name in resolve(words, NAMES, "claim", "'it is known'", "see the list", short=short)]


def test_patterns_and_names_in_the_order_typed() -> None:
    assert meant("own.*", "kim.g", "own.h") == ["own.x1", "own.h", "kim.g"]
    assert meant("*.x?") == ["kim.x1", "own.x1"]
    assert meant("g", short=True) == ["kim.g"]


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("KIM.G", "did you mean kim.g?"),
        ("EQ4", "did you mean kim.eq4?"),
        ("eq4", "did you mean kim.eq4?"),
        ("x1", "did you mean kim.x1 or own.x1?"),
        ("kim.qe4", "did you mean kim.eq4?"),
        ("layer_two", "did you mean layer-two?"),
        ("zzzzzzzz", "; see the list"),
        ("nothing.*", "; see the list"),
    ],
)
def test_a_wrong_name_has_a_neighbour(word: str, hint: str) -> None:
    with pytest.raises(InvalidInput) as error:
        meant(word)
    assert hint in str(error.value)


def test_all_wrong_names_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("verify", "show", "formal"):
        status, out, err = maskproof(capsys, command, "KIM2025.G", "kim2025.g", "eq4", "qqqq")
        assert (status, out) == (2, "")
        assert err.count("\n") == 1
        for words in ("'KIM2025.G' did you mean kim2025.g", "'eq4' did you mean kim2025.eq4", "'qqqq'"):
            assert words in err


def test_patterns_in_export(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = maskproof(capsys, "export", "latex", "--only", "kim2025.eq*")
    assert r"\label{mp:kim2025.eq2}" in out
    assert r"\label{mp:kim2025.eq4}" in out


# -- show, new, version ------------------------------------------------------------------------


def test_a_claim_as_text(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = maskproof(capsys, "show", "own.layer-two", "kim2025.increasing-3")
    assert status == 0
    for words in ("layer-two", "1 <= j", "causal mask", "PROVED, checked by", "REFUTED, at i = 27, j = 25", "source"):
        assert words in out
    assert max(map(len, out.splitlines())) <= 80


def test_a_claim_as_latex(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = maskproof(capsys, "show", "kim2025.eq4", "--format", "latex")
    assert (status, r"\begin{theorem}" in out) == (0, True)
    status, out, _ = maskproof(capsys, "show", str(file), "--format", "latex")
    assert status == 0
    assert "% mine.recency-3: REFUTED" in out
    assert maskproof(capsys, "show", "kim2025.eq4", "--format", "html")[0] == 2


def test_the_document_of_a_users_file(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = maskproof(capsys, "export", "latex", str(file))
    assert status == 0
    assert r"\claimid{mine.recency-3}" in out
    assert r"\verdict{fails}{refuted}" in out
    assert "kim2025" not in out.partition(r"\begin{document}")[2].partition("Expansion")[0]
    status, out, _ = maskproof(capsys, "export", "latex", str(file), "--only", "recency-3")
    assert (status, r"\label{mp:recency-3}" in out) == (0, True)


def test_a_new_file_runs_and_is_not_overwritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert maskproof(capsys, "new", "first.py")[0] == 0
    status, out, err = maskproof(capsys, "verify", "first.py")
    assert (status, err) == (0, "")
    assert "2 PROVED, 1 ENCLOSED" in out
    before = Path("first.py").read_text()
    status, _, err = maskproof(capsys, "new", "first.py")
    assert status == 2
    assert "first.py" in err
    assert Path("first.py").read_text() == before
    assert maskproof(capsys, "new", "first.txt")[0] == 2
    assert maskproof(capsys, "new", "nowhere/first.py")[0] == 2
    assert [path.name for path in tmp_path.iterdir()] == ["first.py"]


def test_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = maskproof(capsys, "--version")
    assert (status, err) == (0, "")
    assert out.startswith("maskproof ")
    assert out[10].isdigit()


@pytest.mark.parametrize("columns", ["40", "80", "200", "none", "0"])
def test_ids_are_whole_in_a_pipe(
    file: Path, columns: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setenv("NO_COLOR", "1")
    _, out, _ = maskproof(capsys, "verify", str(file))
    assert "mine.a-name-of-a-claim-that-is-longer-than-half-of-a-line-of-text" in out
    assert "\x1b" not in out
    assert "…" not in out
    words = " ".join(out.split())
    assert "349 smaller points certified" in words
    if columns == "200":
        assert max(map(len, out.splitlines())) > 150
