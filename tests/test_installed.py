"""What is installed: one name, whatever the user's files are called; from the wheel, and from a checkout.

Environments of their own are made here, with the dependencies of this one. MASKPROOF_INSTALLED may name the Python of
another environment that has the wheel, which is then asked instead.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[1]
WHEEL, CHECKOUT = "wheel", "checkout"
EXAMPLE = re.compile(r"A claims file is .*?```python\n(.*?)```.*?then says\n\n(.*?)\n\n", re.DOTALL)


@dataclass(frozen=True)
class Installed:
    """An environment that has maskproof.

    Attributes:
        kind: from the wheel, or from a checkout.
        python: its interpreter.
    """

    kind: str
    python: Path

    def run(self, folder: Path, *arguments: str) -> str:
        """What a process of this environment prints; it must end well, without a word on standard error."""
        command = [str(self.python), *arguments]
        done = subprocess.run(
            command, cwd=folder, env=plain(), capture_output=True, text=True, timeout=300, check=False
        )
        assert (done.returncode, done.stderr) == (0, ""), done.stdout
        return done.stdout

    def maskproof(self, folder: Path, *arguments: str) -> tuple[int, str, str]:
        """The command: status and what it prints."""
        command = [str(self.python.with_name("maskproof")), *arguments]
        done = subprocess.run(
            command, cwd=folder, env=plain(), capture_output=True, text=True, timeout=300, check=False
        )
        return done.returncode, done.stdout, done.stderr


def plain() -> dict[str, str]:
    """The environment, without what would lead Python to this checkout."""
    return {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "MASKPROOF_DEBUG")}


def pip(*arguments: str) -> None:
    command = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments]
    subprocess.run(command, cwd=ROOT, env=plain(), capture_output=True, text=True, check=True)


@pytest.fixture(scope="module", params=[WHEEL, CHECKOUT])
def installed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """A new environment: its own packages are maskproof alone."""
    given = os.environ.get("MASKPROOF_INSTALLED")
    if given and request.param == WHEEL:
        return Installed(WHEEL, Path(given))
    folder = tmp_path_factory.mktemp(request.param)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder / "venv")], check=True)
    python = folder / "venv" / "bin" / "python"
    code = "import sysconfig; print(sysconfig.get_path('purelib'))"
    site = subprocess.run([str(python), "-c", code], env=plain(), capture_output=True, text=True, check=True).stdout
    # A folder named here is searched, but installs nothing by itself: no editable installation that is there.
    Path(site.strip(), "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    what = ["--editable", "."]
    if request.param == WHEEL:
        pip("wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder), ".")
        what = [str(path) for path in folder.glob("*.whl")]
        assert len(what) == 1
    pip("--python", str(python), "install", "--no-deps", "--no-build-isolation", *what)
    return Installed(request.param, python)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where a user works: with modules that are called as our folders are."""
    for name in ("theory", "numerics", "proofs"):
        (tmp_path / f"{name}.py").write_text(f"mine = 'my {name}'\n", encoding="utf-8")
    return tmp_path


def example() -> tuple[str, dict[str, str]]:
    """README's claims file, and the verdicts that README promises."""
    found = EXAMPLE.search((ROOT / "README.md").read_text(encoding="utf-8"))
    assert found is not None
    return found[1], dict(re.findall(r"^\| `(\S+)` \| ([A-Z]+) \|", found[2], re.MULTILINE))


def test_the_example_beside_files_of_these_names(installed: Installed, folder: Path) -> None:
    source, promised = example()
    own = "import theory, numerics, proofs\nassert (theory.mine, proofs.mine) == ('my theory', 'my proofs')\n"
    (folder / "my_claims.py").write_text(own + source, encoding="utf-8")
    status, out, err = installed.maskproof(folder, "verify", "my_claims.py", "--json", "-")
    assert (status, err) == (1, "")  # one of them is refuted
    assert {claim["id"]: claim["verdict"] for claim in json.loads(out)["claims"]} == promised
    assert len(promised) == 4
    by_module = installed.run(folder, "-m", "maskproof", "list")
    assert installed.maskproof(folder, "list") == (0, by_module, "")
    assert "kim2025.eq4" in by_module


def test_every_public_name_beside_files_of_these_names(installed: Installed, folder: Path) -> None:
    code = """
import pickle
import theory, numerics, proofs
import maskproof
from maskproof import *
from sympy import Lt

assert (theory.mine, numerics.mine, proofs.mine) == ("my theory", "my numerics", "my proofs")
assert all(hasattr(maskproof, name) for name in maskproof.__all__)
assert mean_field(Decoder(), 0, 3, 2).scores.shape == (2, 3, 3)
claim = Claim("mine", Lt(Score(3, 5, 2), Score(3, 5, 3)), inputs=Equicorrelated(0))
assert verify(claim).verdict is Verdict.ENCLOSED
assert type(pickle.loads(pickle.dumps(claim))) is Claim
print(maskproof.__file__)
"""
    where = Path(installed.run(folder, "-c", code).strip())
    inside = where.is_relative_to(installed.python.parents[1])
    assert inside is (installed.kind == WHEEL)
    assert inside or where == ROOT / "maskproof" / "__init__.py"


def test_the_short_names_stand_for_the_same(installed: Installed, tmp_path: Path) -> None:
    file = tmp_path / "claims.py"
    file.write_text(
        "from sympy import Lt\nfrom theory import Claim, Equicorrelated, Score\nfrom proofs import verify\n"
        "import maskproof\nassert Claim is maskproof.Claim and verify is maskproof.verify\n"
        "claims = [Claim('mine', Lt(Score(3, 5, 2), Score(3, 5, 3)), inputs=Equicorrelated(0))]\n",
        encoding="utf-8",
    )
    status, out, err = installed.maskproof(tmp_path, "verify", str(file))
    assert (status, err) == (0, "")
    assert "ENCLOSED" in out


def test_only_one_name_is_taken(installed: Installed, tmp_path: Path) -> None:
    code = """
import sys
from importlib.util import find_spec

import maskproof.proofs.command.cli
import maskproof.numerics.gram

print([name for name in ("theory", "numerics", "proofs") if name in sys.modules])
print([name for name in ("theory", "numerics", "proofs") if find_spec(name)])
"""
    taken, found = installed.run(tmp_path, "-c", code).splitlines()
    assert taken == "[]"
    if installed.kind == WHEEL:  # a checkout has the folders at its top, where Python looks
        assert found == "[]"
    else:
        assert found == "['theory', 'numerics', 'proofs']"
