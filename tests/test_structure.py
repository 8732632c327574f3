"""The rules of the house that no other tool enforces.

Each rule is a function from a source text to the complaints about it. It is applied to every file, and
to a text that breaks it, because a rule that never complains checks nothing.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("theory", "numerics", "proofs")  # folders, each imported as maskproof.NAME
HOUSE = "maskproof"  # the package over them, which imports nothing of theirs before it is asked
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))

# What numerics may see of theory: plain data, so that a wrong closed form can't confirm itself.
PLAIN_DATA = ("theory.decoder", "theory.inputs", "theory.errors", "theory.values")
INTERNAL = {"theory": ("theory",), "numerics": ("numerics", *PLAIN_DATA), "proofs": PACKAGES, HOUSE: PACKAGES}
PLUGIN = "proofs/testing/collection.py"  # claims as tests
FREE = ("lazily", "folders")  # of the house, without imports of their own


def _names(requirements: list[str]) -> set[str]:
    return {re.split(r"[\[<>=~!; ]", requirement)[0].lower() for requirement in requirements}


_EXTRAS = PROJECT["project"]["optional-dependencies"]
CORE = (_names(PROJECT["project"]["dependencies"]) - {"python-flint"}) | {"flint", "rich"}
OPTIONAL = set[str]().union(*(_names(extra) for name, extra in _EXTRAS.items() if name != "dev"))
OPTIONAL |= {"IPython", "jupyter_client"}  # ipykernel brings them
THIRD_PARTY = {
    "theory": {"sympy"},
    "numerics": CORE - {"hypothesis", "typer", "rich"},
    "proofs": CORE,
    HOUSE: set[str](),
}


def _sources(*folders: str) -> list[Path]:
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def _label(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


EVERY_MODULE = [pytest.param(path, id=_label(path)) for path in _sources(HOUSE, *PACKAGES)]
EVERY_SOURCE = [pytest.param(path, id=_label(path)) for path in _sources(HOUSE, *PACKAGES, "tests", "benchmarks")]


# ---------------------------------------------------------------------------------------------- imports


def _imports(tree: ast.Module) -> Iterator[tuple[int, str, bool]]:
    """Line, dotted name and "at module level?" of everything that a module imports."""

    def walk(node: ast.AST, top: bool) -> Iterator[tuple[int, str, bool]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Import):
                yield from ((child.lineno, alias.name, top) for alias in child.names)
            elif isinstance(child, ast.ImportFrom):
                module = "." * child.level + (child.module or "")
                yield from ((child.lineno, f"{module}.{alias.name}", top) for alias in child.names)
            inside = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            yield from walk(child, top and not inside)

    return walk(tree, True)


def import_complaints(package: str, source: str, plugin: bool = False) -> list[str]:
    """Imports that ``package`` may not have: by a short name, in the wrong direction, undeclared, optional on top.

    What pytest alone loads, a ``plugin``, may import pytest.
    """
    tree = ast.parse(source)
    complaints = []
    for line, name, top in _imports(tree):
        first = name.split(".")[0]
        if name.startswith("."):
            complaints.append(f"line {line}: relative import of {name}")
        elif first in PACKAGES:
            complaints.append(f"line {line}: {first} may be a module of the user's; import {HOUSE}.{first}")
        elif first == HOUSE:
            inside = name.removeprefix(f"{HOUSE}.")
            allowed = (*INTERNAL[package], *FREE)
            if not any(f"{inside}.".startswith(f"{each}.") for each in allowed):
                complaints.append(f"line {line}: {package} may not import {name}")
        elif first in OPTIONAL and package == "proofs":
            if top:
                complaints.append(f"line {line}: {first} is optional; import it where it is used")
        elif plugin and first == "pytest":
            continue
        elif first not in THIRD_PARTY[package] and first not in sys.stdlib_module_names:
            complaints.append(f"line {line}: {package} may not depend on {first}")
    if package in ("theory", "numerics"):  # proofs reads users' claims files; the others have no reason to
        complaints += [
            f"line {node.lineno}: import that can't be seen without running it"
            for node in ast.walk(tree)
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("import_module", "__import__"))
        ]
    return complaints


@pytest.mark.parametrize("path", EVERY_MODULE)
def test_imports_go_one_way(path: Path) -> None:
    package = path.relative_to(ROOT).parts[0]
    assert import_complaints(package, path.read_text(encoding="utf-8"), _label(path) == PLUGIN) == []


@pytest.mark.parametrize(
    ("package", "source"),
    [
        ("theory", "import numpy as np"),
        ("theory", "from scipy.special import gamma"),
        ("theory", "def f():\n    import flint"),
        ("theory", "from maskproof.numerics.gram import mean_field"),
        ("theory", "import maskproof.proofs"),
        ("theory", "from theory.symbols import i"),
        ("theory", "from maskproof import Claim"),
        ("theory", "from . import claim"),
        ("theory", "import importlib\nimportlib.import_module('numerics')"),
        ("numerics", "from maskproof.theory.layer_two import g"),
        ("numerics", "from maskproof.theory import Score"),
        ("numerics", "from maskproof import Score"),
        ("numerics", "import maskproof.theory"),
        ("numerics", "import maskproof"),
        ("numerics", "import theory.decoder"),
        ("numerics", "from maskproof.theory.decoders import anything"),
        ("numerics", "def f():\n    from maskproof.theory import quantities"),
        ("numerics", "from maskproof.proofs import verify"),
        ("numerics", "__import__('maskproof.theory.layer_two')"),
        ("numerics", "import matplotlib"),
        ("proofs", "import matplotlib.pyplot as plt"),
        ("proofs", "try:\n    from matplotlib import pyplot\nexcept ImportError:\n    pyplot = None"),
        ("proofs", "class A:\n    import matplotlib"),
        ("proofs", "import pytest"),
        ("proofs", "from tests import conftest"),
        ("proofs", "def f():\n    import theory"),
        ("maskproof", "import sympy"),
    ],
)
def test_a_forbidden_import_is_seen(package: str, source: str) -> None:
    assert import_complaints(package, source)


@pytest.mark.parametrize(
    ("package", "source"),
    [
        ("theory", "import sympy\nfrom maskproof.theory.symbols import i"),
        ("theory", "from maskproof.lazily import attributes"),
        (
            "numerics",
            "import numpy\nfrom maskproof.theory import decoder\nfrom maskproof.theory.values import exact",
        ),
        ("proofs", "import typer\nfrom maskproof.theory import Claim\nfrom maskproof.numerics import mean_field"),
        ("proofs", "def plot():\n    import matplotlib.pyplot"),
    ],
)
def test_an_allowed_import_is_left_alone(package: str, source: str) -> None:
    assert import_complaints(package, source) == []


# ------------------------------------------------------------------------------ no interval of mpmath


def interval_complaints(source: str) -> list[str]:
    """Uses of mpmath's interval context, whose exp can exclude the true value (mpmath issue 1181)."""
    forbidden = {"iv", "ctx_iv", "MPIntervalContext", "ivmpf"}
    complaints = []
    for node in ast.walk(ast.parse(source)):
        used: set[str] = set()
        if isinstance(node, ast.Import | ast.ImportFrom):
            parts = [getattr(node, "module", None) or "", *(alias.name for alias in node.names)]
            used = {piece for part in parts for piece in part.split(".")}
        elif isinstance(node, ast.Attribute):
            used = {node.attr}
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "getattr":
            used = {str(arg.value) for arg in node.args if isinstance(arg, ast.Constant)}
        complaints += [f"line {node.lineno}: {name} of mpmath" for name in sorted(used & forbidden)]  # type: ignore[attr-defined]
    return complaints


@pytest.mark.parametrize("path", EVERY_SOURCE)
def test_no_interval_arithmetic_of_mpmath(path: Path) -> None:
    assert interval_complaints(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "source",
    [
        "from mpmath import iv",
        "from mpmath import mp, iv as intervals",
        "import mpmath\nmpmath.iv.exp(1)",
        "import mpmath as m\nx = m.iv",
        "from mpmath.ctx_iv import MPIntervalContext",
        "import mpmath.ctx_iv",
        "import mpmath\ngetattr(mpmath, 'iv')",
    ],
)
def test_an_interval_of_mpmath_is_seen(source: str) -> None:
    assert interval_complaints(source)


# ------------------------------------------------------------------------------------------ docstrings


def docstring_complaints(source: str) -> list[str]:
    """Public modules, classes, functions and methods without a docstring.

    A constructor and other magic methods are described by their class.
    """
    tree = ast.parse(source)
    complaints = [] if ast.get_docstring(tree) else ["line 1: the module has no docstring"]

    def walk(body: list[ast.stmt], owner: str) -> None:
        for node in body:
            if isinstance(node, ast.If | ast.Try | ast.With):
                walk(node.body, owner)
            if not isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            if node.name.startswith("_"):
                continue
            decorators = [ast.unparse(decorator) for decorator in node.decorator_list]
            if any(text.endswith((".setter", ".deleter", "overload")) for text in decorators):
                continue
            if not ast.get_docstring(node):
                complaints.append(f"line {node.lineno}: {owner}{node.name} has no docstring")
            if isinstance(node, ast.ClassDef):
                walk(node.body, f"{node.name}.")

    walk(tree.body, "")
    return complaints


@pytest.mark.parametrize("path", EVERY_MODULE)
def test_what_is_public_is_described(path: Path) -> None:
    assert docstring_complaints(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "source",
    [
        "",
        "x = 1",
        '"""M."""\ndef f(): ...',
        '"""M."""\nclass A: ...',
        '"""M."""\nclass A:\n    """A."""\n    def f(self): ...',
        '"""M."""\nif True:\n    def f(): ...',
        '"""M."""\nasync def f(): ...',
    ],
)
def test_a_missing_docstring_is_seen(source: str) -> None:
    assert docstring_complaints(source)


def test_private_and_magic_names_need_no_docstring() -> None:
    assert docstring_complaints('"""M."""\nclass A:\n    """A."""\n    def __len__(self): ...\ndef _f(): ...') == []


# ---------------------------------------------------------------------------------------- every file

MACHINE_PATH = re.compile(r"(?<![\w.~/])/(?:home|root|Users|work|tmp|opt|mnt|scratch)/[\w.-]+|\b[A-Z]:\\\\?Users\b")
PACKAGE_INDEX = re.compile(
    r"pypi[.]org|pythonhosted[.]org|npmjs[.](?:org|com)|[a-z]+[.]debian[.]org|archive[.]ubuntu[.]com"
    r"|anaconda[.](?:org|com)|(?:extra-)?index[-_]url|trusted[-_]host|find[-]links",
    re.IGNORECASE,
)


def text_complaints(text: str) -> list[str]:
    """Paths of one machine and addresses of package indexes."""
    return [
        f"line {number}: {match.group()}"
        for number, line in enumerate(text.splitlines(), start=1)
        for pattern in (MACHINE_PATH, PACKAGE_INDEX)
        for match in pattern.finditer(line)
    ]


def _git(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)


def _files() -> list[Path]:
    """Every file that is, or is about to be, part of the project."""
    listed = _git("ls-files", "-z", "--cached", "--others", "--exclude-standard")
    assert listed.returncode == 0, listed.stderr
    return [ROOT / name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]


def test_no_file_names_a_machine_or_a_package_index() -> None:
    files = _files()
    assert ROOT / "pyproject.toml" in files
    complaints = []
    for path in files:
        if path == Path(__file__).resolve():  # holds the broken examples below
            continue
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:  # a figure
            continue
        complaints += [f"{_label(path)}, {complaint}" for complaint in text_complaints(text)]
    assert complaints == []


@pytest.mark.parametrize(
    "text",
    [
        'open("/home/someone/data.npz")',
        "cd /root/maskproof",
        "see /tmp/output.txt",
        "C:\\Users\\someone",
        # put together here, so that this file does not name what it forbids
        "pip install --index" + "-url somewhere",
        "https://py" + "pi.org/simple",
        "https://files.python" + "hosted.org/x.whl",
        "deb.deb" + "ian.org",
        "PIP_INDEX" + "_URL=x",
    ],
)
def test_a_machine_or_a_package_index_is_seen(text: str) -> None:
    assert text_complaints(text)


@pytest.mark.parametrize("text", ["x/tmp/y", "#!/usr/bin/env bash", "/path/to/python3.12", "a/home/b", "2/root/3"])
def test_an_ordinary_text_is_left_alone(text: str) -> None:
    assert text_complaints(text) == []


# ------------------------------------------------------------------------------------------ packaging


def version_complaints(project: str, citation: str, changelog: str) -> list[str]:
    """Differences between the versions that three files state."""
    found = {
        "CITATION.cff": re.search(r"^version: *[\"']?([^\s\"']+)", citation, re.MULTILINE),
        "CHANGELOG.md": re.search(r"^## \[?(\d[^\]\s]*)", changelog, re.MULTILINE),
    }
    return [
        f"{name} says {match and match.group(1)}, pyproject.toml says {project}"
        for name, match in found.items()
        if match is None or match.group(1) != project
    ]


def test_one_version_everywhere() -> None:
    citation, changelog = ((ROOT / name).read_text(encoding="utf-8") for name in ("CITATION.cff", "CHANGELOG.md"))
    assert version_complaints(PROJECT["project"]["version"], citation, changelog) == []


def test_a_different_version_is_seen() -> None:
    right = ("1.2.0", "version: 1.2.0\n", "# Changes\n\n## Unreleased\n\n## 1.2.0\n\n## 1.1.0\n")
    assert version_complaints(*right) == []
    assert version_complaints("1.3.0", *right[1:]) != []
    assert version_complaints(right[0], "version: 1.1.0\n", right[2]) != []
    assert version_complaints(*right[:2], "# Changes\n\n## Unreleased\n") != []


def constraint_complaints(constraints: str, requirements: list[str]) -> list[str]:
    """Lines that are not an exact version, and requirements that have none."""
    lines = [line for line in constraints.splitlines() if line and not line.startswith("#")]
    pinned = {line.split("==")[0].lower() for line in lines}
    loose = [line for line in lines if not re.fullmatch(r"[A-Za-z0-9_.-]+==[0-9][A-Za-z0-9.]*", line)]
    missing = sorted(_names(requirements) - pinned - {"maskproof"})
    return [f"{line} is not name==version" for line in loose] + [f"{name} is not pinned" for name in missing]


def test_every_requirement_is_pinned() -> None:
    requirements = [
        *PROJECT["project"]["dependencies"],
        *(name for extra in _EXTRAS.values() for name in extra),
    ]
    assert constraint_complaints((ROOT / "constraints.txt").read_text(encoding="utf-8"), requirements) == []


def test_a_loose_requirement_is_seen() -> None:
    assert constraint_complaints("numpy==2.4.6\n", ["numpy>=2"]) == []
    assert constraint_complaints("numpy>=2\n", ["numpy>=2"]) != []
    assert constraint_complaints("numpy==2.4.6\n", ["numpy>=2", "sympy>=1.14"]) != []
    assert constraint_complaints("-r other.txt\nnumpy==2.4.6\n", ["numpy>=2"]) != []


def test_the_wheel_holds_one_package() -> None:
    assert PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"] == [HOUSE]
    for name in PACKAGES:
        assert (ROOT / HOUSE / name).resolve() == ROOT / name
        assert f"{HOUSE}/{name}" in PROJECT["tool"]["pyright"]["include"], "pyright follows no link by itself"
    assert _git("check-ignore", "-q", "proofs/verdicts.json").returncode == 1, "git ignores the verdicts"
