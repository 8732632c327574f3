"""What has to be trusted is what the kernel says, and no more is imported."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
HEADER = ast.get_docstring(ast.parse((ROOT / "proofs/kernel/__init__.py").read_text(encoding="utf-8"))) or ""
OUTSIDE = {"flint"}
ENTRY = re.compile(r"^\* (?:this package|``(proofs\.\w+)``): (.*?)(?=^\*|\Z)", re.MULTILINE | re.DOTALL)


def trusted() -> set[str]:
    """The modules that the header names, by their full names."""
    found = set()
    for package, line in ENTRY.findall(HEADER):
        found |= {f"maskproof.{package or 'proofs.kernel'}.{name}" for name in re.findall(r"``(\w+)``", line)}
    return found


def imported(module: str) -> set[str]:
    """What a module imports, wherever in it; of the packages of this project the modules."""
    path = ROOT / (module.replace(".", "/") + ".py")
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                found.add(name if (ROOT / (name.replace(".", "/") + ".py")).is_file() else str(node.module))
    return found


def reached(start: str) -> tuple[set[str], set[str]]:
    """Modules of this project that ``start`` reaches, itself among them; and all others that these import."""
    inside, others, waiting = set(), set(), {start}
    while waiting:
        module = waiting.pop()
        inside.add(module)
        for name in imported(module):
            if name.split(".")[0] == "maskproof":
                waiting |= {name} - inside
            elif name.split(".")[0] not in sys.stdlib_module_names:
                others.add(name.split(".")[0])
    return inside, others


def test_the_header_names_what_is_imported():
    inside, others = reached("maskproof.proofs.kernel.checking")
    assert inside == trusted()
    assert others == OUTSIDE
    assert "python-flint" in HEADER


def test_the_header_names_every_module_of_the_kernel():
    files = {path.stem for path in (ROOT / "proofs/kernel").glob("*.py")} - {"__init__"}
    files = {f"maskproof.proofs.kernel.{name}" for name in files}
    assert files <= trusted()


def test_the_packages_import_nothing_on_the_way():
    for package in ("proofs/kernel", "proofs/terms"):
        tree = ast.parse((ROOT / package / "__init__.py").read_text(encoding="utf-8"))
        assert not [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]


def test_no_algebra_system_is_loaded():
    code = """
import sys
import maskproof.proofs.kernel.checking
loaded = {name.split(".")[0] for name in sys.modules}
odd = loaded & {"sympy", "numpy", "scipy", "mpmath", "theory", "numerics", "proofs"}
ours = {name.removeprefix("maskproof.") for name in sys.modules if name.startswith("maskproof.")}
ours -= {"lazily", "folders", "proofs"}
odd |= {name for name in ours if not name.startswith(("proofs.kernel", "proofs.terms"))}
odd |= {"proofs.terms.reading"} & ours
print(*sorted(odd))
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "", "")
