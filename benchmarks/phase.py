"""What the certified maps cost, and what they find: ``python -m benchmarks.phase [TASK ...] [--workers N]``.

Prints Markdown: one line for each task with processor seconds and wall-clock seconds. Tasks: steps (n = 200, nine
layers, exact parameters), failures (first failures down to layer 13), range (increase for all alpha in
[0.02, 0.99]), slices (the boundary at n = 50, layer 3, in each parameter), map (alpha x beta at n = 50, layer 3).
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from fractions import Fraction

from numerics.certify import Order, first_failures, steps
from numerics.series import Interval
from proofs.phase import advance, crossings, survey_of

FIFTY = Order(50, (3,))
SLICES = {"alpha": Interval(0, 1 - Fraction(1, 100)), "beta": Interval(0, 16), "residual": Interval(0, 4)}
MAP = {"alpha": Interval(0, Fraction(1, 25)), "beta": Interval(0, 2)}


def exact_steps(workers: int) -> str:
    """Directions of all steps at exact parameters."""
    found = steps(Order(200, tuple(range(2, 10))))
    return f"{len(found.rising)} rising, {len(found.falling)} falling, {len(found.open)} open"


def failures(workers: int) -> str:
    """The first failure of each layer."""
    firsts = first_failures(Order(440, tuple(range(3, 14))))
    return ", ".join(f"{layer}: {first and (first.i, first.j)}" for layer, first in firsts.items())


def whole_range(workers: int) -> str:
    """Strict increase over an interval of alpha."""
    survey = advance(survey_of(Order(50, (2, 3, 4)), {"alpha": Interval("0.02", "0.99")}), workers)
    return f"certified true on {100 * float(survey.share(True)):g} % ({len(survey.pieces)} pieces)"


def slices(workers: int) -> str:
    """The boundaries at n = 50, layer 3."""
    words = []
    for name, interval in SLICES.items():
        survey = advance(survey_of(FIFTY, {name: interval}), workers)
        words += [f"{name} in [{float(c.low):.9f}, {float(c.high):.9f}]" for c in crossings(survey)]
    return "; ".join(words)


def map_of_two(workers: int) -> str:
    """The map of the README."""
    survey = advance(survey_of(FIFTY, MAP), workers)
    return ", ".join(f"{answer} {100 * float(survey.share(answer)):.3f} %" for answer in (True, False, None))


TASKS: dict[str, Callable[[int], str]] = {
    "steps": exact_steps,
    "failures": failures,
    "range": whole_range,
    "slices": slices,
    "map": map_of_two,
}


def main() -> None:
    """Run the tasks named on the command line, or all."""
    parser = argparse.ArgumentParser(description="What the certified maps cost.")
    parser.add_argument("tasks", nargs="*", choices=[*TASKS, []], metavar="TASK", help=", ".join(TASKS))
    parser.add_argument("--workers", type=int, default=1)
    options = parser.parse_args()
    print(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f} at the start\n")
    print("| task | found | processor s | wall s |\n|---|---|---|---|")
    for name in options.tasks or TASKS:
        processor, wall = os.times(), time.monotonic()
        found = TASKS[name](options.workers)
        spent = sum(os.times()[:4]) - sum(processor[:4])
        print(f"| {name} | {found} | {spent:.1f} | {time.monotonic() - wall:.1f} |", flush=True)


if __name__ == "__main__":
    main()
