"""How long the program takes to answer: whole processes, beside ``import sympy``, which no command can do without.

    python -m benchmarks.start [--rounds N] [--imports]

Every round starts each command once, so that all of them meet the machine in the same state; the table has the best
wall time of each, its processor time, and the ratio to ``import sympy``. ``--imports`` adds the modules that take most
of the time to load, by ``python -X importtime``.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SYMPY = "import sympy"
SHOWN = 12  # modules
_IMPORT = re.compile(r"import time:\s*(\d+) \|\s*(\d+) \|(\s*)(\S+)")


@dataclass
class Start:
    """A way to start, the time it may take where ``import sympy`` takes half a second, and what it took."""

    name: str
    arguments: list[str]
    goal: float | None = None
    wall: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)

    def once(self) -> None:
        """Run it, and note the time."""
        before, started = _children(), time.perf_counter()
        subprocess.run([sys.executable, *self.arguments], cwd=ROOT, stdout=subprocess.DEVNULL, check=True)
        self.wall.append(time.perf_counter() - started)
        self.processor.append(_children() - before)


def _children() -> float:
    times = os.times()
    return times.children_user + times.children_system


def _python(code: str, goal: float | None = None) -> Start:
    return Start(code, ["-c", code], goal)


def _command(words: str, goal: float | None = None) -> Start:
    return Start(f"maskproof {words}", ["-m", "maskproof", *words.split()], goal)


STARTS = (
    _python("pass"),
    _python(SYMPY, 0.5),
    _python("import maskproof", 1.0),
    _python("from maskproof import Claim, Score, verify", 1.0),
    _command("--help", 0.7),
    _command("verify --help", 0.7),
    _command("list", 1.5),
    _command("verify kim2025.eq4", 2.5),
    _command("verify own.layer-two", 2.5),
    _command("verify kim2025.fig1", 2.5),
    _command("verify own.below-diagonal", 2.5),
    _command("derive layer-two"),
    _command("scores --n 8 --layers 3"),
)


def table(starts: tuple[Start, ...]) -> str:
    """The best times, in Markdown."""
    sympy = min(next(start for start in starts if start.name == SYMPY).wall)
    lines = ["| start | wall s | processor s | of `import sympy` | goal s |", "|---|---|---|---|---|"]
    for start in starts:
        wall, goal = min(start.wall), "" if start.goal is None else f"{start.goal:g}"
        lines.append(f"| `{start.name}` | {wall:.2f} | {min(start.processor):.2f} | {wall / sympy:.2f} | {goal} |")
    return "\n".join(lines)


def imports(start: Start) -> str:
    """The modules of others and of ours that take longest to load, each without those that it loads itself."""
    command = [sys.executable, "-X", "importtime", *start.arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    own: dict[str, int] = {}
    for microseconds, _, _, module in _IMPORT.findall(done.stderr):
        package = ".".join(module.split(".")[: 2 if module.startswith("maskproof.") else 1])
        own[package] = own.get(package, 0) + int(microseconds)
    most = sorted(own.items(), key=lambda item: -item[1])[:SHOWN]
    return f"{start.name}: {sum(own.values()) / 1e6:.2f} s, of it " + ", ".join(
        f"{name} {microseconds / 1e6:.2f}" for name, microseconds in most
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="How long the program takes to answer.")
    parser.add_argument("--rounds", type=int, default=5, metavar="N")
    parser.add_argument("--imports", action="store_true", help="also which modules take the time")
    options = parser.parse_args()
    for start in STARTS:
        start.once()  # the first finds nothing in the system's cache, and no compiled modules
        start.wall.clear()
        start.processor.clear()
    for _ in range(options.rounds):
        for start in STARTS:
            start.once()
    print(f"Python {sys.version.split()[0]}, {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}\n")
    print(table(STARTS))
    if options.imports:
        print("", *map(imports, STARTS), sep="\n")


if __name__ == "__main__":
    main()
