"""What ``maskproof audit`` shows, and the same in the documentation: which changes were noticed, and by what."""

from __future__ import annotations

import json
import statistics
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict

from rich.table import Table
from rich.text import Text

from maskproof.proofs.audit.changes import KINDS
from maskproof.proofs.audit.fate import Case, Fate
from maskproof.proofs.audit.record import Entry, Line, shortened
from maskproof.proofs.audit.survivors import REASONS
from maskproof.proofs.command.console import table
from maskproof.proofs.shown.report import versions
from maskproof.proofs.verdict import Verdict

_COLOURS = {Fate.DOUBTED: "yellow", Fate.TRUE: "green", Fate.UNNOTICED: "bold red"}


def case_table(cases: Iterable[Case], static: bool) -> Table:
    """One row for each change: the claim, what became of it, by which engine, in what time, and what was changed."""
    shown = table("claim", "fate", "by", *(() if static else ("seconds",)), "change")
    for case in cases:
        cells = [Text(case.claim), Text(case.fate, style=_COLOURS.get(case.fate, "")), Text(case.engine)]
        cells += [] if static else [Text(f"{case.seconds:.1f}", justify="right")]
        shown.add_row(*cells, Text(f"{case.place}: {shortened(case.what)}"))
    return shown


def engine_table(cases: Iterable[Case], static: bool) -> Table:
    """One row for each engine: how many changes it decided, and the middle and the longest of the times it took."""
    shown = table("by", *Fate, *(() if static else ("median seconds", "longest")))
    found: dict[str, list[Case]] = defaultdict(list)
    for case in cases:
        found[case.engine].append(case)
    for engine, judged in sorted(found.items(), key=lambda item: -len(item[1])):
        counts = Counter(case.fate for case in judged)
        seconds = [case.seconds for case in judged]
        times = () if static else (f"{statistics.median(seconds):.1f}", f"{max(seconds):.1f}")
        shown.add_row(engine, *(str(counts[fate]) for fate in Fate), *times)
    return shown


def summary(cases: Sequence[Case], claims: int) -> str:
    """How many changes, and what became of them, in a line."""
    counts = Counter(case.fate for case in cases)
    parts = ", ".join(f"{counts[fate]} {fate}" for fate in Fate if counts[fate])
    return f"{len(cases)} changes of {claims} claims: {parts or 'none'}"


def survivor(case: Case) -> str:
    """A change that was not noticed, with the reason that is recorded, or what was said of it."""
    reason = REASONS.get(case.claim)
    words = f"explained: {reason}" if reason else case.why
    return f"unnoticed  {case.claim}, {case.place}: {shortened(case.what)}; {words}"


def as_json(cases: Iterable[Case], verdicts: Mapping[str, Verdict], seed: int) -> str:
    """Every change in full."""
    changes = [{**asdict(case), "seconds": round(case.seconds, 3)} for case in cases]
    document = {"claims": verdicts, "changes": changes, "seed": seed, "versions": versions()}
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


# -- in the documentation --------------------------------------------------------------------------


def _lines(record: Mapping[str, Entry]) -> Iterable[Line]:
    return (line for entry in record.values() for line in entry.lines)


def kinds_markdown(record: Mapping[str, Entry]) -> str:
    """A row for each kind of change: how many there were, and what became of them."""
    return _markdown("change", KINDS, _lines(record), lambda line: line.kind)


def engines_markdown(record: Mapping[str, Entry]) -> str:
    """A row for each engine: what it decided."""
    counts = Counter(line.engine for line in _lines(record))
    return _markdown("by", [name for name, _ in counts.most_common()], _lines(record), lambda line: line.engine)


def _markdown(heading: str, names: Iterable[str], lines: Iterable[Line], of: Callable[[Line], str]) -> str:
    rows = [f"| {heading} | {' | '.join(Fate)} | all |", "|---|" + "---|" * (len(Fate) + 1)]
    found: dict[str, Counter[Fate]] = defaultdict(Counter)
    for line in lines:
        found[of(line)][line.fate] += 1
    total: Counter[Fate] = Counter()
    for name in names:
        counts = found[name]
        total += counts
        rows.append(f"| {name} | {' | '.join(str(counts[fate]) for fate in Fate)} | {counts.total()} |")
    rows.append(f"| all | {' | '.join(str(total[fate]) for fate in Fate)} | {total.total()} |")
    return "\n".join(rows) + "\n"


def survivors_markdown(record: Mapping[str, Entry]) -> str:
    """The claims in which a change went unnoticed, with the changes and the reason."""
    rows = ["| claim | unnoticed | why |", "|---|---|---|"]
    for name, entry in sorted(record.items()):
        missed = [f"`{line.place}: {line.what}`" for line in entry.lines if line.fate is Fate.UNNOTICED]
        if missed:
            cells = (f"`{name}`", "; ".join(missed), REASONS.get(name, "no reason is recorded"))
            rows.append("| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |")
    return "\n".join(rows) + "\n"
