"""The shipped claims and the verdicts recorded for them.

``verdicts.json`` is written by ``accept`` alone, never by hand.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from maskproof.proofs.shown.files import write_text
from maskproof.proofs.verdict import Result, Verdict
from maskproof.theory.errors import InvalidInput

if TYPE_CHECKING:
    from maskproof.theory.claim import Claim

RECORD = Path(__file__).with_name("verdicts.json")


def shipped() -> list[Claim]:
    """Every claim that comes with the project: the paper's, then this project's own.

    Raises:
        InvalidInput: two claims have the same id.
    """
    return list(_shipped())


def by_id() -> dict[str, Claim]:
    """The shipped claims by their ids."""
    return {claim.id: claim for claim in shipped()}


@cache
def _shipped() -> tuple[Claim, ...]:
    # Imported here because it takes a moment that other commands need not wait.
    from maskproof.theory.papers import PACKS

    packs = (import_module(f"maskproof.theory.claims.{name}") for name in PACKS)
    claims = tuple(claim for pack in packs for claim in pack.claims)
    refuse_duplicates(claims)
    return claims


def refuse_duplicates(claims: Iterable[Claim], where: str = "the shipped claims") -> None:
    """Refuse claims of which two have the same id.

    Raises:
        InvalidInput: there are such.
    """
    seen: set[str] = set()
    for claim in claims:
        if claim.id in seen:
            raise InvalidInput(
                f"claim id {claim.id!r} twice in {where}", "'ids are unique'", "rename one of the claims"
            )
        seen.add(claim.id)


def recorded(path: Path = RECORD) -> dict[str, dict[str, Any]]:
    """The recorded verdicts: id -> {"verdict": name, "witness": None or {symbol: value as text}}.

    Raises:
        InvalidInput: the record can't be read.
    """
    return {name: {"verdict": entry["verdict"], "witness": entry["witness"]} for name, entry in _record(path).items()}


def statements(path: Path = RECORD) -> dict[str, str]:
    """What each recorded verdict is about: id -> the claim's statement in one line, as it was then.

    Raises:
        InvalidInput: the record can't be read.
    """
    return {name: str(entry["statement"]) for name, entry in _record(path).items() if entry.get("statement")}


def _record(path: Path) -> dict[str, dict[str, Any]]:
    if not path.exists():
        return {}
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        return {
            name: {**entry, "verdict": Verdict(entry["verdict"]), "witness": entry["witness"]}
            for name, entry in record.items()
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InvalidInput(
            f"{path.name} ({error})",
            "'it is a record of verdicts'",
            "write it anew with maskproof verify --accept",
        ) from None


def entry(result: Result) -> dict[str, Any]:
    """What is recorded of a result."""
    point = result.witness
    return {
        "verdict": str(result.verdict),
        "witness": None if point is None else {name: str(value) for name, value in point.items()},
    }


def differences(results: Iterable[Result], record: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """A line for each result whose verdict or witness is not the recorded one."""
    lines = []
    for result in results:
        now = entry(result)
        before = record.get(result.id)
        if before is None:
            lines.append(f"{result.id}: {now['verdict']}, nothing recorded")
        elif before["verdict"] != now["verdict"]:
            lines.append(f"{result.id}: {now['verdict']}, recorded {before['verdict']}")
        elif before["witness"] != now["witness"]:
            lines.append(f"{result.id}: witness {now['witness']}, recorded {before['witness']}")
    return lines


def accept(results: Iterable[Result], path: Path = RECORD) -> None:
    """Record these verdicts; those of other shipped claims stay, those of claims that are gone go.

    Raises:
        InvalidInput: a result is not of a shipped claim, a limit cut it short, or the record can't be written.
    """
    from maskproof.proofs.shown.one_line import one_line  # SymPy's printers, which reading a record does without

    known = {claim.id: claim for claim in shipped()}
    try:
        before = _record(path).items()
        record = {name: {**e, "verdict": str(e["verdict"])} for name, e in before if name in known}
    except InvalidInput:
        record = {}  # unreadable, and about to be replaced
    for result in results:
        if result.id not in known:
            raise InvalidInput(
                f"claim {result.id}", "'only shipped claims have recorded verdicts'", "leave --accept out"
            )
        if result.cut_short:
            raise InvalidInput(
                f"the verdict on {result.id}, which a limit cut short",
                "'a recorded verdict is the same on every machine'",
                "raise --timeout or --memory",
            )
        record[result.id] = {**entry(result), "statement": one_line(known[result.id])}
    text = json.dumps(dict(sorted(record.items())), indent=2, ensure_ascii=False, allow_nan=False)
    write_text(path, text + "\n", "the record of verdicts")
