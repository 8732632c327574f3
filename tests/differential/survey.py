"""Many random claims at once: verdicts, wrong ones among them, and how they are distributed.

    python -m tests.differential.survey --claims 2000 --seed 1 [FAMILY ...]

prints a table of verdicts by family, the time they took, and what is wrong.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.differential.judge import CERTAIN, INVALID, Ruling, described, little_effort, ruling, wrong
from tests.differential.retelling import retold
from tests.differential.strategies import Drawn, draw

RETOLD = 6  # one claim in so many is told again in other words
VERDICTS = ("PROVED", "ENCLOSED", "SAMPLED", "REFUTED", "UNKNOWN", INVALID, "ERROR")


@dataclass
class Survey:
    """What came out for a number of claims.

    Attributes:
        verdicts: family -> verdict -> number of claims.
        seconds: family -> time that verdicts took.
        complaints: what is wrong, each with the claim in full.
        retold: how many claims were told again.
        drawing, judging: time that drawing and judging took.
    """

    verdicts: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    seconds: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    complaints: list[tuple[str, str, str]] = field(default_factory=list)
    retold: int = 0
    drawing: float = 0.0
    judging: float = 0.0

    @property
    def totals(self) -> Counter[str]:
        """Verdict -> number of claims."""
        return sum(self.verdicts.values(), Counter())

    def report(self) -> str:
        """All complaints in words."""
        return "\n".join(f"{family}: {complaint}\n{claim}" for family, complaint, claim in self.complaints)

    def table(self) -> str:
        """Verdicts by family."""
        rows = [f"{'family':27}" + "".join(f"{v:>9}" for v in VERDICTS) + "   ms each"]
        for family, found in sorted(self.verdicts.items(), key=lambda item: -item[1].total()):
            each = 1000 * self.seconds[family] / found.total()
            rows.append(f"{family:27}" + "".join(f"{found[v] or '':>9}" for v in VERDICTS) + f"{each:10.0f}")
        total = self.totals
        rows.append(f"{'all':27}" + "".join(f"{total[v] or '':>9}" for v in VERDICTS))
        verdicts = sum(self.seconds.values())
        rows.append(f"told again: {self.retold}; wrong: {len(self.complaints)}")
        rows.append(f"seconds: drawing {self.drawing:.1f}, verdicts {verdicts:.1f}, judging {self.judging:.1f}")
        return "\n".join(rows)


def survey(count: int, seed: int, *families: str) -> Survey:
    """Ask for verdicts on ``count`` random claims and hold each against the independent evaluation."""
    found = Survey()
    started = time.process_time()
    drawn = draw(count, seed, *families)
    found.drawing = time.process_time() - started
    with little_effort():
        for number, one in enumerate(drawn):
            _look_at(found, one, number)
    return found


def _look_at(found: Survey, drawn: Drawn, number: int) -> None:
    given = ruling(drawn.claim)
    found.verdicts[drawn.family][given.verdict] += 1
    found.seconds[drawn.family] += given.seconds
    started = time.process_time()
    complaint = wrong(drawn.claim, given, drawn.likely, seed=number)
    if complaint:
        found.complaints.append((drawn.family, complaint, described(drawn.claim)))
    found.judging += time.process_time() - started
    if number % RETOLD == 0 and drawn.claim.proof is None:
        _tell_again(found, drawn, given, number)


def _tell_again(found: Survey, drawn: Drawn, given: Ruling, number: int) -> None:
    other = retold(drawn.claim, number)
    if other is None:
        return
    again = ruling(other)
    found.retold += 1
    found.seconds[drawn.family] += again.seconds
    complaint = wrong(other, again, drawn.likely, seed=number)
    if contrary(given.verdict, again.verdict):
        complaint = f"{given.verdict}, but {again.verdict} when told as\n{described(other)}"
    if complaint:
        found.complaints.append((drawn.family, complaint, described(drawn.claim)))


def contrary(one: str, other: str) -> bool:
    """Whether one verdict says that a claim holds and the other that it does not."""
    return any(a in CERTAIN and b == "REFUTED" for a, b in ((one, other), (other, one)))


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a survey."""
    parser = argparse.ArgumentParser(description="Verdicts on random claims, held against an independent evaluation.")
    parser.add_argument("families", nargs="*")
    parser.add_argument("--claims", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    found = survey(given.claims, given.seed, *given.families)
    print(found.report())
    print(found.table())


if __name__ == "__main__":
    main()
