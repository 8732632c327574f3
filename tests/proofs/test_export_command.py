"""``maskproof export``: which formulas a name means, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from maskproof.proofs import registry
from maskproof.proofs.command.cli import run
from maskproof.proofs.command.export import chosen, rules
from maskproof.proofs.kernel.checking import RULES
from maskproof.theory.errors import InvalidInput
from maskproof.theory.export import expansions
from maskproof.theory.export.steps import WORDS
from maskproof.theory.topics import TOPICS

CLAIMS = registry.shipped()
BY_ID = {claim.id: claim for claim in CLAIMS}


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("kim2025.eq4", BY_ID["kim2025.eq4"]),
        ("eq4", BY_ID["kim2025.eq4"]),
        ("peak-inside", BY_ID["own.peak-inside"]),
        ("layer-two", TOPICS["layer-two"]),
        ("own.layer-two", BY_ID["own.layer-two"]),
        ("saturation", TOPICS["saturation"]),  # two claims are called so as well: a full name comes first
        ("score-expansion", expansions()["score-expansion"]),
    ],
)
def test_a_name_means_one_thing(name: str, meant: object) -> None:
    (item,) = chosen(name, CLAIMS)
    assert item.name == name
    assert item.subject is meant


def test_every_claim_has_its_id_for_a_name() -> None:
    assert [item.subject for item in chosen(",".join(BY_ID), CLAIMS)] == CLAIMS


def test_names_keep_their_order_and_come_once() -> None:
    items = chosen(" h, g ,kim2025.h,,score-expansion,g,score-expansion", CLAIMS)
    assert [item.name for item in items] == ["h", "g", "score-expansion"]


@pytest.mark.parametrize(
    ("names", "told"),
    [
        ("x1", "say kim2025.x1 or own.x1"),
        ("eq44", "did you mean eq4?"),
        ("layertwo", "did you mean layer-two?"),
        ("g,qqqq", "'qqqq'"),
        (" , ", "'it names a formula'"),
        ("g\nh", "there is one such formula"),
    ],
)
def test_a_name_that_means_nothing_or_too_much(names: str, told: str) -> None:
    with pytest.raises(InvalidInput) as error:
        chosen(names, CLAIMS)
    assert told in str(error.value)


@pytest.mark.parametrize(
    "options",
    [
        ["latex", "--only", "x1"],
        ["latex", "--only", "nothing-like-it"],
        ["latex", "--only", ""],
        ["latex", "--only", "g", "--as", "picture"],
        ["latex", "--as", "theorem"],
        ["python", "--only", "g"],
        ["markdown", "--only", "g", "--as", "proof"],
        ["latex", "--only", "g", "--out", "/"],
    ],
)
def test_what_cannot_be_exported_is_refused_in_one_line(options: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["export", *options]) == 2
    printed, told = capsys.readouterr()
    assert printed == ""
    assert told.startswith("maskproof: ")
    assert told.count("\n") == 1


@pytest.mark.parametrize("form", ["align", "theorem", "proof"])
def test_formulas_go_to_a_file_or_to_standard_output(
    form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "formulas.tex"
    assert run(["export", "latex", "--only", "g,increasing-alpha", "--as", form, "--out", str(file)]) == 0
    assert run(["export", "latex", "--only", "g,increasing-alpha", "--as", form]) == 0
    text = file.read_text(encoding="utf-8")
    assert capsys.readouterr().out == text
    for name, claim in (("g", "kim2025.g: PROVED"), ("increasing-alpha", "kim2025.increasing-alpha: ENCLOSED")):
        assert rf"\label{{mp:{name}}}" in text
        assert f"% {claim}" in text


def test_rules_have_words_and_words_have_rules() -> None:
    assert set(WORDS) <= set(RULES) == set(rules())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["latex"], r"by Derivation~\ref{der:weights}, "),
        (["markdown"], "**Verdict**: PROVED, by the derivation"),
        (["latex", "--only", "own.weights"], "% Checked by the kernel and Coq"),
    ],
)
def test_a_proof_says_who_has_checked_it(arguments: list[str], said: str, tmp_path: Path) -> None:
    assert run(["export", *arguments, "--out", str(tmp_path / "out")]) == 0
    lines = (tmp_path / "out").read_text(encoding="utf-8").splitlines()
    assert any(said in line and "hecked by the kernel and Coq (" in line for line in lines)
    assert any("hecked by the kernel" in line and "Coq" not in line for line in lines) == (len(arguments) == 1)
