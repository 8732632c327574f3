"""Coq on what is written: one derivation is accepted, and a changed one is not."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from maskproof.proofs.command.cli import run
from maskproof.proofs.formal import checking
from maskproof.proofs.formal.checking import (
    HIDDEN,
    LIBRARY,
    Checked,
    allowed,
    check,
    context,
    coqc,
    library_of,
    library_sources,
)
from maskproof.proofs.formal.claims import proved
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


@pytest.mark.slow
def test_the_independent_checker_agrees(coq: str, tmp_path: Path) -> None:
    """Of what is hand-written all but Claims.v, which needs every derivation; of what is written one claim."""
    sources = export([claim for claim in proved() if claim.id == "own.below-diagonal"]).sources
    library = library_sources(sorted(path.stem for path in LIBRARY.glob("*.v") if path.stem != "Claims"))
    results = check({**library, **library_of(sources)}, sources, tmp_path)
    assert {name: result.error for name, result in results.items() if result.error} == {}
    modules = [f"{'Exported' if name in sources else 'Maskproof'}.{name}" for name in results]
    roots = ["-Q", str(tmp_path / "library"), "Maskproof", "-Q", str(tmp_path / "steps"), "Exported"]
    checker = Path(coq).with_name("coqchk")
    command = [str(checker), "-silent", "-o", *roots, *(word for name in modules for word in ("-norec", name))]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    said = context(run.stderr)
    axioms = [name for name in said.pop("Axioms") if not HIDDEN.match(name)]
    assert all(name.startswith("Coq.") for name in axioms)
    short = {".".join(name.split(".")[-2:]) for name in axioms}
    assert "Classical_Prop.classic" in short
    assert set(filter(allowed, short)) == short
    assert {heading: names for heading, names in said.items() if names and "Theory" not in heading} == {}


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
