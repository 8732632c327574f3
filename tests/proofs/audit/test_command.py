"""The command ``maskproof audit``, its processes and its record."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from sympy import Lt

from maskproof.proofs.audit import record
from maskproof.proofs.audit.fate import Case, Fate
from maskproof.proofs.audit.jobs import audit
from maskproof.proofs.audit.survivors import REASONS
from maskproof.proofs.command.cli import run
from maskproof.proofs.processes.limits import Limit
from maskproof.proofs.registry import shipped
from maskproof.proofs.shown import fates, notes
from maskproof.proofs.verdict import LIMIT, Result, Verdict
from maskproof.theory import Claim, Equicorrelated, Score, i, j
from maskproof.theory.errors import InvalidInput

FILE = """
from sympy import Abs, Lt, Rational
from maskproof import Claim, Equicorrelated, Score, Sphere, i, j
claims = [
    Claim("mine.closer", Lt(Score(2, i, j), Score(2, i, j + 1)), domain=j < i, inputs=Equicorrelated(0)),
]
"""
LOOSE = FILE + (
    'claims = [Claim("mine.loose", Abs(Score(2, 2, 1) - Rational("0.1335")) <= Rational("0.9"), inputs=Sphere(8))]\n'
)


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str], str]:
    def written(text: str) -> str:
        path = tmp_path / "mine.py"
        path.write_text(text, encoding="utf-8")
        return str(path)

    return written


def test_a_file_whose_check_notices(write: Callable[[str], str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["audit", write(FILE), "--json", "-", "--changes", "6"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["claims"] == {"mine.closer": "PROVED"}
    assert len(found["changes"]) == 6
    assert {change["fate"] for change in found["changes"]} <= {"refuted", "refused", "true as well", "doubted"}
    assert "refuted" in {change["fate"] for change in found["changes"]}
    assert all(change["engine"] and change["why"] and change["seconds"] >= 0 for change in found["changes"])


def test_a_file_whose_check_does_not(write: Callable[[str], str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["audit", write(LOOSE), "--changes", "5"]) == 1
    shown = capsys.readouterr().out
    assert "unnoticed  mine.loose, statement" in shown
    assert "5 changes of 1 claims" in shown
    assert "median seconds" in shown


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["nowhere.py"], "the file exists"),
        (["kim2025.none"], "the claim is shipped"),
        (["--all", "--changes", "3"], "drop one"),
        (["--accept", "--all"], "leave --all"),
        (["--accept", "--seed", "1"], "leave --all"),
        (["--accept", "mine.py"], "leave --all"),
        (["--changes", "0"], "--changes >= 1"),
        (["--timeout", "0"], "--timeout > 0"),
        (["--memory", "1"], "--memory >= 250"),
    ],
)
def test_what_can_not_be_used_is_refused(arguments: list[str], what: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["audit", *arguments]) == 2
    told = capsys.readouterr().err
    assert what in told
    assert told.count("\n") == 1


def test_a_malformed_claim_is_told_and_the_others_go_on(
    write: Callable[[str], str], capsys: pytest.CaptureFixture[str]
) -> None:
    text = FILE + 'claims.append(Claim("mine.empty", Lt(Score(2, i, j), 1), domain=i < 1))\n'
    assert run(["audit", write(text), "--changes", "1"]) == 2
    told = capsys.readouterr()
    assert "mine.empty" in told.err
    assert "mine.closer" in told.out


CLOSER = Claim("closer", Lt(Score(2, i, j), Score(2, i, j + 1)), j < i, inputs=Equicorrelated(0))


@pytest.mark.parametrize("supervised", [True, False])
def test_a_claim_without_a_record_is_checked_first(supervised: bool) -> None:
    (name, first), *others = audit(lambda _: [CLOSER], {}, most=3, supervised=supervised)
    assert (name, isinstance(first, Result)) == ("closer", True)
    assert [isinstance(case, Case) for _, case in others] == [True] * 3
    again = [case for _, case in audit(lambda _: [CLOSER], {"closer": Verdict.PROVED}, most=3, supervised=supervised)]
    assert [case.fate for case in again if isinstance(case, Case)] == [
        case.fate for _, case in others if isinstance(case, Case)
    ]


def test_what_takes_too_long_is_doubted() -> None:
    record = {"closer": Verdict.PROVED}
    found = [case for _, case in audit(lambda _: [CLOSER] * 1, record, most=2, limit=Limit(seconds=1e-3))]
    slow = [case for case in found if isinstance(case, Case) and case.engine == LIMIT]
    assert all(case.fate is Fate.DOUBTED and "--timeout" in case.why for case in slow)


# -- the record ------------------------------------------------------------------------------------


def case(fate: Fate = Fate.REFUTED, engine: str = "witness") -> Case:
    return Case(CLOSER.id, "statement", "sign", "-1 for 1", fate, engine, 0.1, "why")


def test_a_record_is_written_and_read(tmp_path: Path) -> None:
    path = tmp_path / "record.json"
    record.accept([CLOSER], [case(), case(Fate.UNNOTICED, "monte_carlo")], [CLOSER.id], path)
    found = record.recorded(path)
    assert [(line.fate, line.engine) for line in found["closer"].lines] == [
        (Fate.REFUTED, "witness"),
        (Fate.UNNOTICED, "monte_carlo"),
    ]
    assert record.stale([CLOSER], found) == []
    assert "| sign | 1 | 0 | 0 | 0 | 0 | 1 | 2 |" in fates.kinds_markdown(found)
    assert "| witness | 1 | 0 | 0 | 0 | 0 | 0 | 1 |" in fates.engines_markdown(found)
    assert "statement: -1 for 1" in fates.survivors_markdown(found)


def test_a_claim_that_has_changed_is_stale(tmp_path: Path) -> None:
    path = tmp_path / "record.json"
    record.accept([CLOSER], [case()], [CLOSER.id], path)
    found = record.recorded(path)
    for other in (
        Claim("closer", Lt(Score(3, i, j), Score(3, i, j + 1)), j < i, inputs=Equicorrelated(0)),
        Claim("closer", CLOSER.statement, j + 1 < i, inputs=Equicorrelated(0)),
        Claim("closer", CLOSER.statement, j < i, inputs=Equicorrelated(0.5)),
    ):
        assert record.stale([other], found) == ["closer"]
    assert record.stale([Claim("new", CLOSER.statement, j < i)], found) == ["new"]


def test_what_a_limit_cut_short_is_not_recorded(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="raise --timeout"):
        record.accept([CLOSER], [case(Fate.DOUBTED, LIMIT)], [CLOSER.id], tmp_path / "record.json")
    assert not (tmp_path / "record.json").exists()


def test_an_unreadable_record_is_refused(tmp_path: Path) -> None:
    (tmp_path / "record.json").write_text("{", encoding="utf-8")
    with pytest.raises(InvalidInput, match="audit --accept"):
        record.recorded(tmp_path / "record.json")


def test_the_committed_record_is_about_the_shipped_claims() -> None:
    claims, found = shipped(), record.recorded()
    assert record.stale(claims, found) == []
    assert sorted(found) == sorted(claim.id for claim in claims)
    assert {line.fate for entry in found.values() for line in entry.lines} == set(Fate)


def test_every_change_that_goes_unnoticed_has_its_reason_and_every_reason_its_change() -> None:
    missed = {
        name for name, entry in record.recorded().items() if any(line.fate is Fate.UNNOTICED for line in entry.lines)
    }
    assert missed == set(REASONS)
    assert all(len(reason) > 40 for reason in REASONS.values())


def test_the_page_holds_the_tables_of_the_record() -> None:
    page = "docs/audit.md"
    text = (notes.ROOT / page).read_text(encoding="utf-8")
    made = {name: table([], {}) for name, table in notes.TABLES[page].items()}
    assert notes.regenerated(text, made, page) == text
