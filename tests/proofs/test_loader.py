"""A user's claims file: what is read, and every way in which it can be unusable, in one line."""

from __future__ import annotations

import sys

import pytest

from maskproof.proofs.command import loader
from maskproof.theory import InvalidInput

HEAD = "from sympy import And, Lt\nfrom theory import *\n"


def write(folder, text, name="mine.py"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_claims_come_in_order(tmp_path):
    path = write(tmp_path, HEAD + "claims = [Claim(x, Lt(Score(2, 2, 1), 1)) for x in 'cab']\n")
    assert [claim.id for claim in loader.load(path)] == ["c", "a", "b"]
    assert [claim.id for claim in loader.load(str(path))] == ["c", "a", "b"]


def test_a_malformed_claim_does_not_keep_the_others_from_being_read(tmp_path):
    path = write(tmp_path, HEAD + "claims = [Claim('a', Lt(Score(2, 2, 1), 1)), Claim('b', Score(2, 2, 1))]\n")
    good, bad = loader.load(path)
    good.check()
    with pytest.raises(InvalidInput, match="claim b"):
        bad.check()


def test_a_file_may_import_its_neighbour_and_leaves_nothing_behind(tmp_path):
    write(tmp_path, "WIDTH = 2\n", "neighbour_of_claims.py")
    text = (
        "from neighbour_of_claims import WIDTH\nfrom dataclasses import dataclass\n@dataclass\nclass A:\n    b: int\n"
    )
    path = write(tmp_path, HEAD + text + "claims = [Claim('a', Lt(Score(WIDTH, 2, 1), 1))]\n")
    before = list(sys.path)
    assert len(loader.load(path)) == 1
    sys.modules.pop("neighbour_of_claims")
    assert sys.path == before


def test_conditions_of_the_programmer_are_not_formulas(tmp_path):
    text = "claims = [Claim(f'a{n}', Lt(Score(2 if n == 1 else 3, 2, 1), 1)) for n in (1, 2, 3) if n != 2]\n"
    assert [claim.id for claim in loader.load(write(tmp_path, HEAD + text))] == ["a1", "a3"]


UNUSABLE = {
    "syntax": ("x = 1\nclaims = [\n", "line 2"),
    "null byte": (b"claims = []\x00\n", "Python"),
    "not UTF-8": (b"# ok\nclaims = ['\xff']\n", "line 2"),
    "exception": ("\n\nclaims = [1 / 0]\n", "line 3: ZeroDivisionError"),
    "exception in a function": ("def f():\n    raise ValueError('a\\nb')\nf()\n", "line 2: ValueError: a b"),
    "missing import": ("import no_such_module_at_all\n", "line 1: ModuleNotFoundError"),
    "exit": ("raise SystemExit(3)\n", "line 1: SystemExit"),
    "bad value": (HEAD + "claims = [Claim('a', Lt(Score(0, 1, 1), 1))]\n", "line 3: layer = 0 violates"),
    "python equality": (HEAD + "claims = [Claim('a', Score(1, 2, 1) == 0)]\n", "line 3: == in a claim"),
    "python inequality": (HEAD + "claims = [Claim('a', Lt(Score(2, 2, 1), 1), domain=(1 != 2))]\n", "write Ne"),
    "chain": (HEAD + "claims = [Claim('a', 0 < Score(2, 2, 1) < 1)]\n", "join relations with And"),
    "no claims": ("x = 1\n", "module-level list claims"),
    "None": ("claims = None\n", "module-level list claims"),
    "not a list": (HEAD + "claims = Claim('a', Lt(Score(2, 2, 1), 1))\n", "type Claim"),
    "a tuple": ("claims = ()\n", "type tuple"),
    "empty": ("claims = []\n", "something to check"),
    "an element": (
        HEAD + "claims = [Claim('a', Lt(Score(2, 2, 1), 1)), 'b']\n",
        "element 2 of claims, of type str",
    ),
    "a subclass": (
        HEAD + "class Mine(Claim):\n    pass\nclaims = [Mine('a', Lt(Score(2, 2, 1), 1))]\n",
        "element 1 of claims, of type Mine",
    ),
    "an id that is almost text": (
        HEAD + "class Name(str):\n    pass\nclaims = [Claim(Name('a'), Lt(Score(2, 2, 1), 1))]\n",
        "id of type Name",
    ),
    "an id": (HEAD + "claims = [Claim(1, Lt(Score(2, 2, 1), 1))]\n", "id of type int"),
    "twice": (HEAD + "claims = [Claim('a', Lt(Score(2, 2, 1), 1))] * 2\n", "'a' twice"),
    "recursion": ("def f():\n    f()\nf()\n", "RecursionError"),
    "nothing": ("", "module-level list claims"),
}


@pytest.mark.parametrize("name", UNUSABLE)
def test_an_unusable_file_is_told_in_one_line_that_names_it(tmp_path, name):
    text, said = UNUSABLE[name]
    path = write(tmp_path, text)
    with pytest.raises(InvalidInput) as caught:
        loader.load(path)
    message = str(caught.value)
    assert said in message
    assert str(path) in message
    assert "\n" not in message


def test_a_path_that_is_no_file(tmp_path):
    for path in (tmp_path, tmp_path / "absent.py", tmp_path / "absent" / "x.py", "null\0byte.py"):
        with pytest.raises(InvalidInput) as caught:
            loader.load(path)
        assert "\n" not in str(caught.value)
