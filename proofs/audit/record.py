"""What became of the changes to the shipped claims: the committed record that ``maskproof audit --accept`` writes."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from maskproof.proofs.audit.changes import changes, chosen
from maskproof.proofs.audit.fate import Case, Fate
from maskproof.proofs.engines import derivations
from maskproof.proofs.engines.question import question
from maskproof.proofs.shown.files import write_text
from maskproof.proofs.terms.reading import Unreadable
from maskproof.proofs.verdict import LIMIT
from maskproof.theory.claim import Claim
from maskproof.theory.errors import InvalidInput

RECORD = Path(__file__).with_name("record.json")
AUDITED = 4  # changes of each claim, unless more are asked for
_LONGEST = 120  # characters of what was changed


@dataclass(frozen=True)
class Line:
    """One change in the record; its attributes are those of ``Case``."""

    place: str
    kind: str
    what: str
    fate: Fate
    engine: str


@dataclass(frozen=True)
class Entry:
    """What is recorded of a claim: its changes, and a digest of the claim and of the choice among them."""

    digest: str
    lines: tuple[Line, ...]


def recorded(path: Path = RECORD) -> dict[str, Entry]:
    """The record by claim.

    Raises:
        InvalidInput: it can't be read.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return {
            name: Entry(entry["digest"], tuple(Line(p, k, w, Fate(f), e) for p, k, w, f, e in entry["changes"]))
            for name, entry in content.items()
        }
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        remedy = "write it anew with maskproof audit --accept"
        raise InvalidInput(f"{path.name} ({error})", "'it says what became of changes'", remedy) from None


def digest(claim: Claim) -> str:
    """Of all that the recorded fates are about: the claim in terms, its proof, and which changes are made.

    Raises:
        InvalidInput: the claim can't be read.
    """
    try:
        asked = question(claim)
    except Unreadable as reason:
        raise InvalidInput(f"claim {claim.id}", "'it can be read'", str(reason)) from None
    proof = None if claim.proof is None else derivations.read(claim.proof)
    picked = [(change.place, change.kind, str(change.what)) for change, _ in chosen(changes(claim), AUDITED)]
    words = (repr(asked.statement), repr(asked.domain), repr(claim.decoder), repr(claim.inputs), repr(proof), picked)
    return hashlib.sha256(repr(words).encode()).hexdigest()[:16]


def stale(claims: Iterable[Claim], record: Mapping[str, Entry]) -> list[str]:
    """Claims of which the record says nothing, or says it of another claim."""
    return [claim.id for claim in claims if claim.id not in record or record[claim.id].digest != digest(claim)]


def accept(claims: Sequence[Claim], cases: Iterable[Case], shipped: Iterable[str], path: Path = RECORD) -> None:
    """Write what became of the changes to these claims into the record; other shipped claims stay.

    Raises:
        InvalidInput: a limit cut a case short, or the record can't be written.
    """
    found: dict[str, list[Case]] = defaultdict(list)
    for case in cases:
        if case.engine == LIMIT:
            what = f"the fate of {case.claim} with {case.what[:_LONGEST]}, which a limit cut short"
            raise InvalidInput(what, "'a recorded fate is the same on every machine'", "raise --timeout or --memory")
        found[case.claim].append(case)
    known = set(shipped)
    try:
        record = {name: entry for name, entry in recorded(path).items() if name in known}
    except InvalidInput:
        record = {}  # unreadable, and about to be replaced
    for claim in claims:
        lines = tuple(Line(c.place, c.kind, shortened(c.what), c.fate, c.engine) for c in found[claim.id])
        record[claim.id] = Entry(digest(claim), lines)
    write_text(path, _text(record), "the record of the audit")


def shortened(what: str) -> str:
    """What was changed, on one line and not too long."""
    return what if len(what) <= _LONGEST else f"{what[: _LONGEST - 4].rstrip()} ..."


def _text(record: Mapping[str, Entry]) -> str:
    """A claim in a line, a change in a line."""
    parts = []
    for name, entry in sorted(record.items()):
        lines = ",\n   ".join(
            json.dumps([line.place, line.kind, line.what, line.fate, line.engine], ensure_ascii=False)
            for line in entry.lines
        )
        parts.append(f'{json.dumps(name)}: {{"digest": "{entry.digest}", "changes": [\n   {lines}]}}')
    return "{\n" + ",\n".join(parts) + "\n}\n"
