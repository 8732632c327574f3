"""Regenerate the tables in ``README.md``, ``paper_notes.md`` and ``docs/audit.md`` from the registry and the records.

    python -m maskproof.proofs.shown.notes

A table stands between ``<!-- NAME: begin -->`` and ``<!-- NAME: end -->``; what is between them is
replaced, everything else is left alone.
"""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from maskproof.proofs import registry
from maskproof.proofs.audit import record as audited
from maskproof.proofs.formal.record import coverage
from maskproof.proofs.shown import fates
from maskproof.proofs.shown.files import write_text
from maskproof.proofs.verdict import Verdict
from maskproof.theory.arithmetic import ARITHMETIC
from maskproof.theory.claim import Claim
from maskproof.theory.errors import InvalidInput
from maskproof.theory.papers import PAPERS, Paper, paper_of

ROOT = Path(__file__).resolve().parents[2]
_MARKED = r"(<!-- {name}: begin -->\n).*?(<!-- {name}: end -->)"


def cell(text: str) -> str:
    """Text for a cell of a Markdown table."""
    return text.replace("|", r"\|").replace("\n", " ")


def _witness(entry: Mapping[str, Any]) -> str:
    point = entry["witness"]
    return "" if not point else ", ".join(f"{name} = {value}" for name, value in sorted(point.items()))


def claim_table(claims: Iterable[Claim], record: Mapping[str, Mapping[str, Any]]) -> str:
    """One row per claim: id, source, verdict, who has checked a proof, smallest counterexample, how it is rendered."""
    rows = ["| claim | source | verdict | checked by | fails at | rendering |", "|---|---|---|---|---|---|"]
    for claim in claims:
        entry = record.get(claim.id, {"verdict": "not recorded", "witness": None})
        checked = coverage(claim.id) if entry["verdict"] == Verdict.PROVED else ""
        cells = (f"`{claim.id}`", claim.source, str(entry["verdict"]), checked, _witness(entry), claim.note)
        rows.append("| " + " | ".join(map(cell, cells)) + " |")
    return "\n".join(rows) + "\n"


def _of_paper(paper: Paper) -> Callable[[list[Claim], Mapping[str, Any]], str]:
    return lambda claims, record: claim_table(paper.claims(claims), record)


def counts(claims: list[Claim], record: Mapping[str, Any]) -> str:
    """How many claims have which verdict."""
    head = ["claims", *(str(verdict) for verdict in Verdict), "all"]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for paper in PAPERS:
        found = Counter(str(record[c.id]["verdict"]) for c in paper.claims(claims) if c.id in record)
        if found:
            numbers = [*(str(found[str(verdict)]) for verdict in Verdict), str(found.total())]
            lines.append("| " + " | ".join([paper.tally, *numbers]) + " |")
    return "\n".join(lines) + "\n"


def refuted(claims: list[Claim], record: Mapping[str, Any]) -> str:
    """The statements of the paper that are false, each with where it fails."""
    lines = ["| claim | source | fails at | the statement |", "|---|---|---|---|"]
    for claim in claims:
        entry = record.get(claim.id)
        if paper_of(claim).ours or entry is None or entry["verdict"] != Verdict.REFUTED:
            continue
        cells = (f"`{claim.id}`", claim.source, _witness(entry), claim.note)
        lines.append("| " + " | ".join(map(cell, cells)) + " |")
    return "\n".join(lines) + "\n"


def arithmetic(claims: list[Claim], record: Mapping[str, Any]) -> str:
    """The claims about formulas alone, each with the reason."""
    lines = ["| claim | verdict | why it mentions no score, weight or inner product |", "|---|---|---|"]
    for name in (claim.id for claim in claims if claim.id in ARITHMETIC):
        verdict = str(record.get(name, {"verdict": "not recorded"})["verdict"])
        lines.append("| " + " | ".join(map(cell, (f"`{name}`", verdict, ARITHMETIC[name]))) + " |")
    return "\n".join(lines) + "\n"


def example(_: list[Claim], __: Mapping[str, Any]) -> str:
    """What ``verify`` says of the claims file in the README."""
    from maskproof.proofs.command.loader import load
    from maskproof.proofs.pipeline import verify
    from maskproof.proofs.shown.report import reason, witness

    source = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    if source is None:
        raise InvalidInput("README.md", "'it has a claims file'", "put one between ```python and ```")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "my_claims.py"
        file.write_text(source[1], encoding="utf-8")
        results = verify(load(file))
    lines = ["| claim | verdict | because |", "|---|---|---|"]
    for result in results:
        point = f"witness {witness(result.witness)}; " if result.witness else ""
        because = f"`{point}{reason(result)}`" if "[" in reason(result) else point + reason(result)
        lines.append("| " + " | ".join(map(cell, (f"`{result.id}`", str(result.verdict), because))) + " |")
    return "\n".join(lines) + "\n"


TABLES: dict[str, dict[str, Callable[[list[Claim], Mapping[str, Any]], str]]] = {
    "README.md": {"counts": counts, "refuted": refuted, "example": example},
    "paper_notes.md": {**{paper.prefix: _of_paper(paper) for paper in PAPERS}, "arithmetic": arithmetic},
    "docs/audit.md": {
        "kinds": lambda *_: fates.kinds_markdown(audited.recorded()),
        "engines": lambda *_: fates.engines_markdown(audited.recorded()),
        "survivors": lambda *_: fates.survivors_markdown(audited.recorded()),
    },
}


def regenerated(text: str, tables: Mapping[str, str], where: str) -> str:
    """``text`` with each table put between its markers.

    Raises:
        InvalidInput: a marker is missing.
    """
    for name, table in tables.items():
        pattern = _MARKED.format(name=re.escape(name))
        text, found = re.subn(pattern, lambda m, t=table: m[1] + t + m[2], text, flags=re.DOTALL)
        if found != 1:
            raise InvalidInput(
                f"{found} places for the table {name!r} in {where}", "'each table has one place'",
                f"mark it with <!-- {name}: begin --> and <!-- {name}: end -->",
            )  # fmt: skip
    return text


def main() -> None:
    """Rewrite every table."""
    claims, record = registry.shipped(), registry.recorded()
    for file, tables in TABLES.items():
        path = ROOT / file
        made = {name: table(claims, record) for name, table in tables.items()}
        write_text(path, regenerated(path.read_text(encoding="utf-8"), made, file), file)


if __name__ == "__main__":
    main()
