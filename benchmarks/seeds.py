"""Does a verdict depend on the seed? The shipped claims again and again, each time with another seed.

    python -m benchmarks.seeds [--seeds 200] [--minutes 20] [ID ...]

Two engines use the seed: the search for witnesses and the statistical tests. What is proved, and what is enclosed over
its whole domain, is certain: no seed can change it. All other claims are run, the quick ones first, each with as many
seeds as its share of the time allows. Exit status 1 if a verdict was not the recorded one.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from maskproof.proofs.pipeline import verify
from maskproof.proofs.registry import recorded, shipped
from maskproof.proofs.verdict import Verdict
from maskproof.theory.claim import Claim

CERTAIN = (Verdict.PROVED, Verdict.ENCLOSED)


@dataclass
class Runs:
    """What came of one claim: how often each verdict, and the seconds of a run."""

    claim: Claim
    recorded: Verdict
    verdicts: Counter[Verdict] = field(default_factory=Counter)
    seeds: list[int] = field(default_factory=list)
    seconds: float = 0.0

    def run(self, seed: int) -> None:
        """One more run; a seed with another verdict than the recorded one is kept."""
        started = time.monotonic()
        verdict = verify(self.claim, seed).verdict
        self.seconds += time.monotonic() - started
        self.verdicts[verdict] += 1
        if verdict is not self.recorded:
            self.seeds.append(seed)

    @property
    def row(self) -> str:
        """A line of the table."""
        count = self.verdicts.total()
        others = ", ".join(f"{n} {v}" for v, n in self.verdicts.items() if v is not self.recorded)
        told = f"{others} (seeds {', '.join(map(str, self.seeds))})" if others else "none"
        mean = self.seconds / max(1, count)
        return f"| `{self.claim.id}` | {self.recorded} | {count} | {told} | {mean:.2f} |"


def dependent(claims: Sequence[Claim]) -> list[Runs]:
    """The claims whose verdict a seed could change."""
    record = {name: Verdict(entry["verdict"]) for name, entry in recorded().items()}
    return [Runs(claim, record[claim.id]) for claim in claims if record[claim.id] not in CERTAIN]


def survey(all_runs: list[Runs], seeds: int, seconds: float, told: Callable[[str], object]) -> None:
    """Run each claim with seeds 1, 2, ..., until they or the time run out; seed 1 tells how long a claim takes."""
    end = time.monotonic() + seconds
    for runs in all_runs:
        runs.run(1)
    all_runs.sort(key=lambda runs: runs.seconds)
    for done, runs in enumerate(all_runs):
        share = (end - time.monotonic()) / (len(all_runs) - done)
        until = time.monotonic() + share
        for seed in range(2, seeds + 1):
            if time.monotonic() > until:
                break
            runs.run(seed)
        told(runs.row)


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ids", nargs="*")
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--minutes", type=float, default=20.0)
    asked = parser.parse_args(argv)
    chosen = dependent([claim for claim in shipped() if not asked.ids or claim.id in asked.ids])
    print("| claim | recorded | seeds | other verdicts | seconds a seed |\n|---|---|---|---|---|", flush=True)
    survey(chosen, asked.seeds, 60 * asked.minutes, lambda row: print(row, flush=True))
    changed = [runs for runs in chosen if runs.seeds]
    print(f"\n{sum(runs.verdicts.total() for runs in chosen)} runs, {len(changed)} claims with another verdict")
    return int(bool(changed))


if __name__ == "__main__":
    sys.exit(main())
