"""The hand-written statements: each proved claim has one, proved from what is written from its derivation."""

from __future__ import annotations

import re

import pytest

from maskproof.proofs.formal.checking import LIBRARY, forbidden, requirements
from maskproof.proofs.formal.claims import BEYOND_COQ, proved, theorem_name
from maskproof.proofs.formal.statements import FILES, statements, theorems
from maskproof.proofs.registry import recorded
from maskproof.proofs.verdict import Verdict

CLAIMS = (LIBRARY / "Claims.v").read_text(encoding="utf-8")
WRITTEN = {theorem_name(claim): "" for claim in proved() if claim.id not in BEYOND_COQ}
BY_COMPUTATION = {  # refuted claims about the limit of infinite width
    "kim2025.fig1", "kim2025.h-prime-decreasing", "kim2025.h-prime-difference", "kim2025.increasing-3",
    "kim2025.increasing-4", "kim2025.layernorm-recovers", "kim2026.residual-scale",
}  # fmt: skip


@pytest.mark.parametrize("written", list(WRITTEN))
def test_each_proved_claim_is_stated_and_comes_from_its_derivation(written: str) -> None:
    name = written.removeprefix("claim_")
    statement = re.search(rf"^Theorem {name} .*?^Qed\.|^Theorem {name} .*?Qed\.$", CLAIMS, re.DOTALL | re.MULTILINE)
    assert statement, f"no theorem {name}"
    assert f"pose proof ({written} " in statement[0]


def test_nothing_is_imported_that_is_not_written() -> None:
    assert {name for name in requirements(CLAIMS) if name.startswith("claim_")} == set(WRITTEN)


def test_refuted_claims_are_negated() -> None:
    source = (LIBRARY / "Counterexamples.v").read_text(encoding="utf-8")
    negated = {re.sub(r"\W", "_", claim) for claim in BY_COMPUTATION}
    assert {name.removeprefix("not_") for name in theorems(source) if name.startswith("not_")} == negated
    record = recorded()
    assert all(record[claim]["verdict"] is Verdict.REFUTED for claim in BY_COMPUTATION)


@pytest.mark.parametrize("name", FILES)
def test_nothing_is_assumed(name: str) -> None:
    assert forbidden((LIBRARY / f"{name}.v").read_text(encoding="utf-8")) == ""


def test_all_is_read_only_when_all_is_written() -> None:
    assert set(FILES) <= set(statements(WRITTEN))
    assert statements({}) == {}


def test_what_it_rests_on_is_asked_of_every_theorem() -> None:
    source = statements(WRITTEN)["Claims"]
    asked = source.splitlines()[-2]
    assert all(re.search(rf"\b{name}\b", asked) for name in theorems(CLAIMS))
