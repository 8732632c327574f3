"""What the certified maps cost, and what they find: ``python -m benchmarks.phase [TASK ...]``.

Prints Markdown: one line for each task with processor seconds and wall-clock seconds. Tasks: steps (n = 200, nine
layers, exact parameters), failures (first failures down to layer 16), range (increase for all alpha in
[0.02, 0.99]), slices (the boundary at n = 50, layer 3, in each parameter), maps (alpha x beta at n = 50, layers 3
and 4, the figure of the README: ``maps --plot FILE.png``). ``--json DIR`` keeps the certificates of the maps, and
resumes them.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from pathlib import Path

from maskproof.numerics.certify import Order, first_failures, steps
from maskproof.numerics.series import Interval
from maskproof.proofs.command import phase_files
from maskproof.proofs.maps import certificate
from maskproof.proofs.maps.phase import advance, crossings, survey_of

FIFTY = Order(50, (3,))
SLICES = {"alpha": Interval(0, 1 - Fraction(1, 100)), "beta": Interval(0, 16), "residual": Interval(0, 4)}
MAP_LAYERS = (3, 4)
MAP = {"alpha": Interval(0, Fraction(1, 25)), "beta": Interval(0, 2)}


def exact_steps(workers: int) -> str:
    """Directions of all steps at exact parameters."""
    found = steps(Order(200, tuple(range(2, 10))))
    return f"{len(found.rising)} rising, {len(found.falling)} falling, {len(found.open)} open"


def failures(workers: int) -> str:
    """The first failure of each layer."""
    firsts = first_failures(Order(665, tuple(range(3, 17))))
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


def maps(workers: int, folder: Path | None = None, figure: Path | None = None) -> str:
    """The maps of the README."""
    surveys = []
    for layer in MAP_LAYERS:
        survey = survey_of(Order(50, (layer,)), MAP)
        path = None if folder is None else folder / f"map-layer-{layer}.json"
        if path is not None and path.exists():
            survey = certificate.resume(path, survey)
        surveys.append(advance(survey, workers, save=partial(_save, path)))
    if figure is not None:
        phase_files.plot(surveys, figure)
    return "; ".join(
        ", ".join(f"{answer} {100 * float(survey.share(answer)):.3f} %" for answer in (True, False, None))
        for survey in surveys
    )


def _save(path: Path | None, survey: certificate.Survey) -> None:
    if path is not None:
        certificate.write(certificate.map_certificate(survey), path)


TASKS: dict[str, Callable[[int], str]] = {
    "steps": exact_steps,
    "failures": failures,
    "range": whole_range,
    "slices": slices,
    "maps": maps,
}


def main() -> None:
    """Run the tasks named on the command line, or all."""
    parser = argparse.ArgumentParser(description="What the certified maps cost.")
    parser.add_argument("tasks", nargs="*", choices=[*TASKS, []], metavar="TASK", help=", ".join(TASKS))
    parser.add_argument("--workers", type=int, default=1, metavar="N")
    parser.add_argument("--json", type=Path, metavar="DIR")
    parser.add_argument("--plot", type=Path, metavar="FILE.png")
    options = parser.parse_args()
    print(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f} at the start\n")
    print("| task | found | processor s | wall s |\n|---|---|---|---|")
    for name in options.tasks or TASKS:
        processor, wall = os.times(), time.monotonic()
        task = partial(maps, folder=options.json, figure=options.plot) if name == "maps" else TASKS[name]
        found = task(options.workers)
        spent = sum(os.times()[:4]) - sum(processor[:4])
        print(f"| {name} | {found} | {spent:.1f} | {time.monotonic() - wall:.1f} |", flush=True)


if __name__ == "__main__":
    main()
