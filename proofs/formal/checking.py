"""Run Coq on the library and on what was written, in the order of imports, and read what each theorem rests on."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from maskproof.theory.errors import InvalidInput

LIBRARY = Path(__file__).resolve().parents[2] / "formal"
PACKAGES = ("coq", "libcoq-coquelicot", "libcoq-interval")
SECONDS = 600  # for one file

# The axioms of the real numbers and of classical logic in Coq's own library; nothing else may be assumed.
ALLOWED = frozenset({
    "ClassicalDedekindReals.sig_not_dec",
    "ClassicalDedekindReals.sig_forall_dec",
    "FunctionalExtensionality.functional_extensionality_dep",
    "Classical_Prop.classic",
})  # fmt: skip
# What Coq assumes of its machine numbers, where a theorem rests on computation.
ALLOWED_PREFIXES = ("Uint63.", "PrimInt63.", "PrimFloat.", "FloatAxioms.", "CarryType.", "Sint63.")
# Coq's independent checker also lists what modules of installed libraries hide: it is defined, not assumed.
HIDDEN = re.compile(r"Coq\.Reals\.Rdefinitions\.\w+Impl\.|Coq\.ssr\.ssrunder\.|Coq\.Floats\.\w+\.Leibniz\.|mathcomp\.")
_FORBIDDEN = re.compile(r"\b(Admitted|admit|Axiom|Axioms|Parameter|Parameters|Conjecture|Unset\s+Guard|bypass_check)\b")


@dataclass(frozen=True)
class Checked:
    """What Coq said of a file: ``error`` is empty if it was accepted; ``axioms`` are those of its theorem."""

    module: str
    seconds: float
    error: str = ""
    axioms: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether it was accepted and rests on nothing but allowed axioms."""
        return not self.error and all(map(allowed, self.axioms))


def allowed(axiom: str) -> bool:
    """Whether a theorem may rest on it."""
    return axiom in ALLOWED or axiom.startswith(ALLOWED_PREFIXES)


def stated(axioms: Iterable[str]) -> list[str]:
    """Axioms in short: those of Coq's machine numbers by their modules.

    >>> stated(["Classical_Prop.classic", "PrimFloat.add", "PrimFloat.sub"])
    ['Classical_Prop.classic', 'PrimFloat.*']
    """
    short = (f"{a.partition('.')[0]}.*" if a.startswith(ALLOWED_PREFIXES) else a for a in sorted(axioms))
    return list(dict.fromkeys(short))


def coqc() -> str:
    """The path of Coq's compiler.

    Raises:
        InvalidInput: Coq or the libraries that are needed are missing.
    """
    path = shutil.which("coqc")
    what = "" if path else "coqc"
    if path:
        where = Path(subprocess.run([path, "-where"], capture_output=True, text=True, check=True).stdout.strip())
        missing = [name for name in ("Coquelicot", "Interval") if not (where / "user-contrib" / name).is_dir()]
        what = " and ".join(missing)
    if not path or what:
        raise InvalidInput(f"no {what}", "'--check needs Coq'", f"on Debian: apt-get install {' '.join(PACKAGES)}")
    return path


def forbidden(source: str) -> str:
    """The first word in a Coq source that assumes something, outside of comments; empty if there is none.

    >>> forbidden("Lemma a : 1 = 2. Proof. Admitted.")
    'Admitted'
    >>> forbidden("(* no Axiom here *) Lemma a : 1 = 1. Proof. reflexivity. Qed.")
    ''
    """
    while True:
        bare = re.sub(r"\(\*(?:(?!\(\*|\*\)).)*\*\)", " ", source, flags=re.DOTALL)
        if bare == source:
            break
        source = bare
    found = _FORBIDDEN.search(source)
    return found.group(0) if found else ""


def assumptions(output: str) -> tuple[str, ...]:
    """The names that ``Print Assumptions`` lists."""
    found: dict[str, None] = {}
    for block in re.split(r"^Axioms:\s*$", output, flags=re.MULTILINE)[1:]:
        for line in block.splitlines():
            name = re.match(r"(\S+)(?:\s*$|\s*:)", line)
            if name and not line.startswith(" ") and name.group(1) != "Closed":
                found[name.group(1)] = None
    return tuple(found)


def context(report: str) -> dict[str, tuple[str, ...]]:
    r"""The context summary of ``coqchk -o``: what it lists under each heading.

    >>> context("CONTEXT SUMMARY\n\n* Axioms:\n  A.b\n  A.c\n\n* Inductives whose positivity is assumed: <none>\n")
    {'Axioms': ('A.b', 'A.c'), 'Inductives whose positivity is assumed': ()}
    """
    found: dict[str, tuple[str, ...]] = {}
    for block in re.split(r"^\* ", report, flags=re.MULTILINE)[1:]:
        heading, _, names = block.partition(":")
        found[heading] = () if names.strip() == "<none>" else tuple(names.split())
    return found


def requirements(source: str) -> list[str]:
    """The modules of the library and of what was written that a source needs."""
    names: list[str] = []
    for group in re.findall(r"From\s+(?:Maskproof|Exported)\s+Require\s+(?:Import\s+|Export\s+)?([^.]*)\.", source):
        names += group.split()
    return list(dict.fromkeys(names))


def library_sources(needed: list[str], library: Path = LIBRARY) -> dict[str, str]:
    """The files of the library that are needed, and those that they need.

    Raises:
        InvalidInput: one is missing.
    """
    sources: dict[str, str] = {}
    waiting = list(needed)
    while waiting:
        name = waiting.pop()
        if name in sources:
            continue
        path = library / f"{name}.v"
        if not path.is_file():
            raise InvalidInput(f"no {path.name}", "'the Coq library is there'", "run it from a copy of the repository")
        sources[name] = path.read_text(encoding="utf-8")
        waiting += requirements(sources[name])
    return sources


def library_of(sources: Mapping[str, str]) -> dict[str, str]:
    """The files of the library that written files need.

    Raises:
        InvalidInput: one is missing.
    """
    return library_sources([name for text in sources.values() for name in requirements(text) if name not in sources])


def place(path: Path, source: str) -> None:
    """Write a file, unless it says so already."""
    if not path.is_file() or path.read_text(encoding="utf-8") != source:
        path.write_text(source, encoding="utf-8")


def check(
    library: Mapping[str, str],
    written: Mapping[str, str],
    folder: Path,
    report: Callable[[Checked], None] = lambda _: None,
    workers: int = 2,
) -> dict[str, Checked]:
    """Compile library and written files, each after what it needs; a file whose needs fail is not tried.

    What was compiled from the same sources before is not compiled again.
    """
    compiler = coqc()
    sources = {**library, **written}
    for name, source in sources.items():
        path = _path(folder, name, library)
        path.parent.mkdir(parents=True, exist_ok=True)
        place(path, source)
    needs = {name: [n for n in requirements(source) if n in sources] for name, source in sources.items()}
    digests: dict[str, str] = {}

    def digest(name: str) -> str:
        if name not in digests:
            parts = [sources[name], *map(digest, needs[name])]
            digests[name] = hashlib.sha256("\0".join(parts).encode()).hexdigest()
        return digests[name]

    results: dict[str, Checked] = {}
    running: dict[Future[Checked], str] = {}
    waiting = dict.fromkeys(sources)
    with ThreadPoolExecutor(workers) as pool, _ended_with_us(compiler):
        while waiting or running:
            for name in list(waiting):
                if len(running) >= workers or not all(n in results for n in needs[name]):
                    continue
                del waiting[name]
                failed = next((n for n in needs[name] if results[n].error), None)
                if failed is not None:
                    results[name] = Checked(name, 0.0, f"{failed} does not compile")
                    report(results[name])
                    continue
                path = _path(folder, name, library)
                running[pool.submit(_compile, compiler, name, path, folder, digest(name))] = name
            if not running:
                continue
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                results[running.pop(future)] = future.result()
                report(future.result())
    return results


@contextmanager
def _ended_with_us(compiler: str) -> Iterator[None]:
    """End the compilers that are still at work when something interrupts: their threads would be waited for."""
    try:
        yield
    except BaseException:
        for child in psutil.Process().children():
            with suppress(psutil.Error):
                if child.name() == Path(compiler).name:
                    child.kill()
        raise


def _path(folder: Path, name: str, library: Mapping[str, str]) -> Path:
    return folder / ("library" if name in library else "steps") / f"{name}.v"


def _compile(compiler: str, name: str, path: Path, folder: Path, digest: str) -> Checked:
    stamp = path.with_suffix(".checked")
    if stamp.is_file() and path.with_suffix(".vo").is_file():
        known, _, output = stamp.read_text(encoding="utf-8").partition("\n")
        if known == digest:
            return Checked(name, 0.0, axioms=assumptions(output))
    word = forbidden(path.read_text(encoding="utf-8"))
    if word:
        return Checked(name, 0.0, f"{path.name} contains {word}")
    command = [
        compiler,
        "-w",
        "none",
        "-Q",
        str(folder / "library"),
        "Maskproof",
        "-Q",
        str(folder / "steps"),
        "Exported",
    ]
    start = time.perf_counter()
    stamp.unlink(missing_ok=True)
    try:
        run = subprocess.run([*command, str(path)], capture_output=True, text=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return Checked(name, time.perf_counter() - start, f"not done after {SECONDS} s")
    seconds = time.perf_counter() - start
    if run.returncode:
        return Checked(name, seconds, " ".join(run.stderr.split()) or f"coqc ends with {run.returncode}")
    stamp.write_text(f"{digest}\n{run.stdout}", encoding="utf-8")
    return Checked(name, seconds, axioms=assumptions(run.stdout))
