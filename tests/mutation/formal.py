"""Change signs and constants in what Coq is told, one at a time, and see whether the check fails each time.

    python -m tests.mutation.formal [--out DIR] [--of steps claims printer]

Three kinds of change: of the statement of an exported step, of a hand-written statement in Claims.v, and of the
printer's own translation. DIR holds what ``maskproof formal --check`` has compiled. Exit status 1 if a change passes.
"""

from __future__ import annotations

import argparse
import random
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from maskproof.proofs.formal import text
from maskproof.proofs.formal.checking import LIBRARY, check, coqc, library_of
from maskproof.proofs.formal.export import export
from maskproof.theory.topics import TOPICS

STEPS = {
    "layer_one": 10, "norms": 6, "score_two": 4, "layer_two": 6, "below_diagonal": 2, "increasing_two": 3,
    "averaging_1": 5, "averaging": 4, "layernorm_one": 4, "saturation": 4, "saturation_rate": 3,
}  # fmt: skip
CLAIMS = 24
KINDS = ("steps", "claims", "printer")
PRINTED = ("below-diagonal", "flat-without-norm")  # derivations that a changed printer writes
TOKEN = re.compile(r" \+ | - | <= | < |(?<![\w.])\d+(?![\w%)]*nat)(?!%)")


@dataclass(frozen=True)
class Change:
    """A changed source: what was changed, and the text."""

    what: str
    source: str


def changed(token: str, rng: random.Random) -> str:
    """Another token of the kind."""
    if token.strip().isdigit():
        return str(int(token) + rng.choice((1, 2)))
    return {" + ": " - ", " - ": " + ", " <= ": " > ", " < ": " >= "}[token]


def change(source: str, start: int, end: int, rng: random.Random) -> str | None:
    """The source with one token between ``start`` and ``end`` changed; None if there is none."""
    tokens = list(TOKEN.finditer(source, start, end))
    if not tokens:
        return None
    token = rng.choice(tokens)
    return source[: token.start()] + changed(token.group(), rng) + source[token.end() :]


def of_steps(folder: Path, rng: random.Random) -> Iterator[tuple[str, Change]]:
    """Changes in what single steps say, by module."""
    for module, count in STEPS.items():
        source = (folder / "steps" / f"{module}.v").read_text(encoding="utf-8")
        lemmas = [
            m
            for m in re.finditer(r"^Lemma (\w+) :.*?^Proof\.", source, re.DOTALL | re.MULTILINE)
            if "has_value" not in m[1]
        ]
        for lemma in rng.sample(lemmas, min(count, len(lemmas))):
            conclusion = max(source.rfind(" ->\n", lemma.start(), lemma.end()), lemma.start())
            new = change(source, conclusion + 4, lemma.end() - len("Proof."), rng)
            if new is not None:
                yield module, Change(f"{module}, {lemma[1]}", new)


def of_claims(rng: random.Random) -> Iterator[Change]:
    """Changes in the hand-written statements."""
    path = LIBRARY / "Claims.v"
    if not path.is_file():
        return
    source = path.read_text(encoding="utf-8")
    theorems = list(re.finditer(r"^Theorem (\w+).*?^Proof\.", source, re.DOTALL | re.MULTILINE))
    for theorem in rng.sample(theorems, min(CLAIMS, len(theorems))):
        arrows = max(source.rfind("->", theorem.start(), theorem.end()), theorem.start() + len(theorem[1]) + 8)
        new = change(source, arrows + 2, theorem.end() - len("Proof."), rng)
        if new is not None:
            yield Change(f"Claims, {theorem[1]}", new)


@contextmanager
def _replaced(name: str, value: object) -> Iterator[None]:
    before = getattr(text, name)
    setattr(text, name, value)
    try:
        yield
    finally:
        setattr(text, name, before)


def of_printer() -> Iterator[tuple[str, str, object]]:
    """Changes of the translation: what is changed, the name in ``proofs.formal.text``, and its new value."""
    kinds, norms, relations = text.KINDS, text.NORMS, text.RELATIONS
    yield "weights for scores", "KINDS", {**kinds, "score": "Weight"}
    yield "scores for weights", "KINDS", {**kinds, "weight": "Score"}
    yield "coefficients for inner products", "KINDS", {**kinds, "gram": "Mix"}
    yield "inner products for coefficients", "KINDS", {**kinds, "mix": "Gram"}
    yield "no norm for l2", "NORMS", {**norms, "l2": "NoNorm"}
    yield "<= for =", "RELATIONS", {**relations, "=": "<="}
    yield "< for =", "RELATIONS", {**relations, "=": "<"}
    yield "< for <=", "RELATIONS", {**relations, "<=": "<"}
    number, linear, decoder, inputs = text._number, text.linear, text.decoder, text.inputs
    yield "numbers one too large", "_number", lambda value: number(value + 1)
    yield "numbers with the other sign", "_number", lambda value: number(-value)
    yield "positions one too far", "linear", lambda term: (linear(term)[0], linear(term)[1] + 1)
    yield "beta and residual exchanged", "decoder", _exchanged(decoder)
    yield "a mask that sees two keys", "decoder", lambda model: decoder(model).replace("Causal", "(SlidingWindow 2)")
    yield "inputs with cosine -alpha", "inputs", lambda law: inputs(law).replace("alpha", "(- alpha)")


def _exchanged(decoder: Callable[..., str]) -> Callable[..., str]:
    def written(model: object) -> str:
        return re.sub(r"1 (beta) (lam) ", r"1 \2 \1 ", decoder(model))

    return written


def compiles(folder: Path, module: str, source: str) -> bool:
    """Whether Coq accepts ``source`` in the place of ``module``."""
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / f"{module}.v"
        path.write_text(source, encoding="utf-8")
        roots = ["-Q", str(folder / "library"), "Maskproof", "-Q", str(folder / "steps"), "Exported"]
        run = subprocess.run([coqc(), "-w", "none", *roots, str(path)], capture_output=True, timeout=600, check=False)
    return run.returncode == 0


def printer_passes(name: str, value: object, folder: Path) -> bool:
    """Whether the check passes although the translation is wrong."""
    try:
        with _replaced(name, value):
            written = export((), [TOPICS[topic] for topic in PRINTED])
            sources = written.sources
    except Exception:  # noqa: BLE001  nothing can be written at all: the check fails
        return False
    if any(True for _ in written.unwritten):
        return False
    with tempfile.TemporaryDirectory() as scratch:
        shutil.copytree(folder / "library", Path(scratch) / "library")
        results = check(library_of(sources), sources, Path(scratch))
    return all(result.holds for result in results.values())


def main() -> int:
    """Make every change; say which passed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("build/formal"))
    parser.add_argument("--of", nargs="+", choices=KINDS, default=KINDS)
    given = parser.parse_args()
    folder, rng = given.out, random.Random(2026)
    changes: dict[str, Iterator[tuple[str, bool]]] = {
        "steps": ((c.what, compiles(folder, module, c.source)) for module, c in of_steps(folder, rng)),
        "claims": ((c.what, compiles(folder, "Claims", c.source)) for c in of_claims(rng)),
        "printer": ((f"printer, {what}", printer_passes(name, value, folder)) for what, name, value in of_printer()),
    }
    passed: list[str] = []
    for kind in given.of:
        found = list(changes[kind])
        survivors = [what for what, passes in found if passes]
        print(f"{kind}: {len(found) - len(survivors)} of {len(found)} changes make the check fail", flush=True)
        passed += survivors
    for what in passed:
        print(f"PASSED  {what}")
    return int(bool(passed))


if __name__ == "__main__":
    raise SystemExit(main())
