"""Coq on what is written: one derivation is accepted, and a changed one is not."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from maskproof.proofs.cli import run
from maskproof.proofs.formal import checking
from maskproof.proofs.formal.checking import Checked, check, coqc, library_sources
from maskproof.proofs.formal.export import export
from maskproof.theory.errors import InvalidInput
from maskproof.theory.topics import TOPICS


@pytest.fixture(scope="session")
def coq() -> str:
    """Coq's compiler; the test is skipped without it, and in CI fails."""
    try:
        return coqc()
    except InvalidInput as reason:
        pytest.skip(f"Coq or a library of it is not installed: {reason}")


@pytest.fixture(scope="session")
def checked(
    coq: str, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Mapping[str, str], Mapping[str, Checked]]:
    folder = tmp_path_factory.mktemp("formal")
    sources = export((), [TOPICS["below-diagonal"]]).sources
    return folder, sources, check(library_sources(["Rules"]), sources, folder)


def test_a_derivation_is_accepted(checked: tuple[Path, Mapping[str, str], Mapping[str, Checked]]) -> None:
    _, sources, results = checked
    assert {name: results[name].error for name in sources} == dict.fromkeys(sources, "")


def test_a_changed_sign_is_not(checked: tuple[Path, Mapping[str, str], Mapping[str, Checked]]) -> None:
    folder, sources, _ = checked
    start, proof, script = sources["below_diagonal"].rpartition("\nProof.")
    statement, sign, rest = start.rpartition(" < ")
    assert sign
    assert "Proof." not in rest  # it is the last lemma's conclusion
    wrong = f"{statement} > {rest}{proof}{script}"
    results = check(library_sources(["Rules"]), {**sources, "below_diagonal": wrong}, folder)
    assert results["below_diagonal"].error


def test_without_coq_one_line_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    assert checking.PACKAGES == ("coq", "libcoq-coquelicot", "libcoq-interval")
    assert run(["formal", "own.weights", "--out", str(tmp_path), "--check"]) == 2
    said = capsys.readouterr().err.strip()
    assert "\n" not in said
    assert "libcoq-coquelicot libcoq-interval" in said


def test_writing_needs_no_coq(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    assert run(["formal", "own.weights", "--out", str(tmp_path)]) == 0
    assert (tmp_path / "steps" / "claim_own_weights.v").is_file()


@pytest.mark.parametrize("wrong", ["own.weight", "kim2025.rope"])
def test_a_claim_that_is_not_proved_is_refused(wrong: str, tmp_path: Path) -> None:
    assert run(["formal", wrong, "--out", str(tmp_path)]) == 2
