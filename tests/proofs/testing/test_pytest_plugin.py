"""The pytest plugin and ``maskproof.testing``, in folders that hold nothing else."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from sympy import And, Lt

from maskproof.testing import assert_increasing_in_key, assert_verdict
from maskproof.theory import Claim, Decoder, Equicorrelated, InvalidInput, Score, i, j

pytest_plugins = ["pytester"]

ROOT = Path(__file__).resolve().parents[3]
CLAIMS = """
from sympy import And, Lt
from maskproof import Claim, Equicorrelated, Score, i, j

zero = Equicorrelated(0)
claims = [
    Claim("mine.true", Lt(Score(3, i, j), Score(3, i, j + 1)), And(j < i, i <= 5), inputs=zero),
    Claim("mine.false", Lt(Score(3, i, j), Score(3, i, j + 1)), And(j < i, i <= 30), inputs=zero),
]
"""


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch):
    """Pytest in a process of its own, with the plugin and no other, warnings being errors."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    return lambda *arguments: pytester.runpytest_subprocess(
        "-p", "maskproof.pytest_plugin", "-p", "no:cacheprovider", "-W", "error", *arguments
    )


def test_each_claim_is_a_test(pytester: pytest.Pytester, run) -> None:
    pytester.path.joinpath("claims.py").write_text(CLAIMS)
    done = run("claims.py", "-v")
    done.assert_outcomes(passed=1, failed=1)
    done.stdout.fnmatch_lines(
        [
            "claims.py::mine.true PASSED*",
            "claims.py::mine.false FAILED*",
            "claim mine.false is REFUTED, not PROVED or ENCLOSED or SAMPLED",
            "witness: i = 27, j = 25",
            "again: pytest claims.py::mine.false --maskproof-seed 0",
            "again: maskproof verify --explain claims.py",
            "left = S(3, i, j)",
        ]
    )
    run("claims.py::mine.true", "--maskproof-timeout", "60").assert_outcomes(passed=1)


def test_an_expected_verdict(pytester: pytest.Pytester, run) -> None:
    pytester.path.joinpath("test_mine.py").write_text(CLAIMS + "expected = {'mine.false': 'REFUTED'}\n")
    run().assert_outcomes(passed=2)
    pytester.path.joinpath("test_mine.py").write_text(CLAIMS + "expected = {'mine.true': 'REFUTED'}\n")
    run("-k", "mine.true").assert_outcomes(failed=1, deselected=1)


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ("expected = {'mine.other': 'REFUTED'}", "*mine.other*'the claim is in the list'*"),
        ("expected = {'mine.true': 'RIGHT'}", "*'RIGHT'*'there is such a verdict'*"),
        ("expected = ['mine.true']", "*'expected gives verdicts by claim id'*"),
        ("claims.append(1)", "*'every element is a Claim'*"),
        ("claims.append(claims[0])", "*twice*"),
        ("claims.append(Claim('x', i == j))", "*write Eq*"),
    ],
)
def test_what_is_wrong_with_a_module_is_told(pytester: pytest.Pytester, run, more: str, told: str) -> None:
    pytester.path.joinpath("claims.py").write_text(CLAIMS + more + "\n")
    done = run("claims.py")
    done.assert_outcomes(errors=1)
    done.stdout.fnmatch_lines([told])
    done.stdout.no_fnmatch_line("*Traceback*")


@pytest.mark.parametrize(("option", "value"), [("seed", "-1"), ("effort", "0"), ("timeout", "soon")])
def test_an_option_that_is_none(pytester: pytest.Pytester, run, option: str, value: str) -> None:
    pytester.path.joinpath("claims.py").write_text(CLAIMS)
    done = run("claims.py", f"--maskproof-{option}", value)
    done.assert_outcomes(errors=1)
    done.stdout.fnmatch_lines([f"*--maskproof-{option}*"])


def test_other_runs_load_nothing(pytester: pytest.Pytester, run) -> None:
    """Neither SymPy nor anything of ours is imported; a list called claims is nobody's business but its owner's."""
    pytester.path.joinpath("test_other.py").write_text(
        "import sys\nclaims = [1, 2]\n"
        "def test_nothing():\n"
        "    assert not {'sympy', 'numpy', 'rich', 'maskproof.proofs', 'maskproof.theory'} & set(sys.modules)\n"
    )
    run().assert_outcomes(passed=1)


def test_pytest_finds_the_plugin() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["entry-points"]["pytest11"] == {"maskproof": "maskproof.pytest_plugin"}


FALSE = Claim("mine", Lt(Score(3, i, j), Score(3, i, j + 1)), And(j < i, i <= 30), inputs=Equicorrelated(0))


def test_a_verdict_is_asserted() -> None:
    assert assert_verdict(FALSE, "REFUTED").witness == {"i": 27, "j": 25}
    with pytest.raises(AssertionError, match="witness: i = 27, j = 25") as error:
        assert_verdict(FALSE)
    program = str(error.value).partition("with NumPy alone:")[2]
    done = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("left = 0.1941973")
    with pytest.raises(InvalidInput, match="'there is such a verdict'"):
        assert_verdict(FALSE, "WRONG")


def test_increase_is_certified() -> None:
    assert_increasing_in_key(Decoder(), 0, 26, (2, 3))
    with pytest.raises(AssertionError, match=r"falls in layer 3 from S\[27,25\] to S\[27,26\]"):
        assert_increasing_in_key(Decoder(), 0, 27, (2, 3))
    with pytest.raises(InvalidInput):
        assert_increasing_in_key(Decoder(), 2, 10)


def test_strategies_are_public() -> None:
    import maskproof.testing as public

    for name in public.__all__:
        assert getattr(public, name).__doc__
