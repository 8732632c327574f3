"""Who has checked which claim: the committed record that ``maskproof formal --check --accept`` writes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from maskproof.proofs.shown.files import write_text
from maskproof.theory.errors import InvalidInput

RECORD = Path(__file__).with_name("record.json")
KERNEL, BOTH = "kernel", "kernel and Coq"


@dataclass(frozen=True)
class Entry:
    """What Coq has checked of a claim.

    Attributes:
        holds: every step of its derivation, lemmas included, and its theorem were accepted.
        steps, closed: how many steps there are, and how many Coq has proved.
        digest: of all that Coq read; another digest means that the check is of something else.
        reason: the first thing that was not accepted, if so.
    """

    holds: bool
    steps: int
    closed: int
    digest: str
    reason: str = ""


@cache
def recorded(path: Path = RECORD) -> Mapping[str, Entry]:
    """The record by claim.

    Raises:
        InvalidInput: it can't be read.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return {name: Entry(**entry) for name, entry in content.items()}
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        remedy = "write it anew with maskproof formal --check --accept"
        raise InvalidInput(f"{path.name} ({error})", "'it says what Coq has checked'", remedy) from None


def checked_by(claim: str) -> str:
    """Who has checked a proved claim, by the record: ``kernel``, or ``kernel and Coq``."""
    entry = recorded().get(claim)
    return BOTH if entry is not None and entry.holds else KERNEL


def coverage(claim: str) -> str:
    """Who has checked a proved claim, and how many steps of its derivation Coq has proved."""
    entry = recorded().get(claim)
    return KERNEL if entry is None else f"{checked_by(claim)} ({entry.closed} of {entry.steps} steps)"


def differences(entries: Mapping[str, Entry]) -> list[str]:
    """Claims of which the record says something else."""
    record = recorded()
    return [claim for claim, entry in entries.items() if record.get(claim) != entry]


def text(entries: Mapping[str, Entry]) -> str:
    """The record as it is written."""
    content = {name: asdict(entry) for name, entry in sorted(entries.items())}
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def accept(entries: Mapping[str, Entry], path: Path = RECORD) -> None:
    """Write these entries into the record; those of other claims stay.

    Raises:
        InvalidInput: the record can't be written.
    """
    try:
        before = recorded(path)
    except InvalidInput:
        before = {}  # unreadable, and about to be replaced
    write_text(path, text({**before, **entries}), "the record of what Coq has checked")
    recorded.cache_clear()
