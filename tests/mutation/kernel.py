"""Mutation testing of the kernel: break one side condition at a time and see whether a test notices.

    python -m tests.mutation.kernel [--file NAME] [--every N] [--again REPORT] [--list]

Each mutant is one change to one module: a check left out, a comparison made strict or lax, "and" for "or", a sign, a
condition that is not listed. The tests of kernel and terms run on it, without those by Hypothesis, until one fails.
What survives is printed, but for changes that are known to make no difference (``EQUIVALENT``, each with the reason).
A mutant takes some seconds: all of them an hour or two, every eighth a quarter of an hour. Needs ``os.fork``.
"""

from __future__ import annotations

import argparse
import ast
import copy
import importlib
import importlib.machinery
import importlib.util
import os
import pkgutil
import re
import resource
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType

from tests.mutation.equivalent import EQUIVALENT

ROOT = Path(__file__).resolve().parents[2]
MODULES = [
    *(f"maskproof.proofs.kernel.{name}" for name in (
        "algebra", "signs", "known", "goals", "layer", "sums", "logic", "order", "limits", "checking", "induction"
    )),
    *(f"maskproof.proofs.terms.{name}" for name in ("terms", "conditions", "derivatives", "understood")),
]  # fmt: skip
SUITE = ["tests/proofs/kernel", "tests/proofs/terms"]
# pytest rewrites the assertions of packages that hold a plugin, and would load these modules itself, unchanged.
FAST = ["-m", "not slow and not hypothesis", "-x", "-q", "-p", "no:cacheprovider", "--assert=plain"]
OWN = {"goals": "rules", "terms": "substitution"}  # where the tests of a module are not in a file of its name
UNCHANGED = 99  # exit status of a run that did not load the mutant
SECONDS = 60  # of computing, for one mutant; what takes longer counts as noticed

CHECKS = {"demand", "everywhere", "in_language", "admissible", "require_all", "require_positive", "require_identical",
          "require_same", "grant", "_demand_value"}  # fmt: skip
TRUTHS = {"holds", "meets", "is_positive", "is_nonzero", "identical", "alike", "same", "positive", "shows", "at_most",
          "independent", "vanishes", "is_integral", "obvious", "isinstance", "_is_of"}  # fmt: skip
COMPARISONS = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
               ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is}  # fmt: skip
NAMES = {
    "ONE": "ZERO",
    "ZERO": "ONE",
    "less": "at_most",
    "at_most": "less",
    "all": "any",
    "any": "all",
    "plus": "minus",
}
SURVIVED = re.compile(r"^survived: ([\w.]+):\d+: (.*)$", re.MULTILINE)
WORDS = {"<": "<=", "<=": "<", "!=": "=", "=": "!="}


@dataclass(frozen=True)
class Mutant:
    """A module with one change."""

    module: str
    line: int
    what: str
    source: str
    tree: ast.Module

    @property
    def label(self) -> str:
        """The line of the change, and the change."""
        return f"{self.source.strip()} | {self.what}"


def mutants(module: str) -> Iterator[Mutant]:
    """Every single change to a module."""
    path = ROOT / (module.replace(".", "/") + ".py")
    text = path.read_text(encoding="utf-8")
    lines, tree = text.splitlines(), ast.parse(text)
    parents = _parents(tree)
    for number, node in enumerate(ast.walk(tree)):
        changes = [] if _is_message(node, parents) else list(_changes(node, parents))
        for variant in range(len(changes)):
            changed = copy.deepcopy(tree)
            same = next(each for place, each in enumerate(ast.walk(changed)) if place == number)
            what, apply = list(_changes(same, _parents(changed)))[variant]
            apply()
            yield Mutant(module, node.lineno, what, lines[node.lineno - 1], ast.fix_missing_locations(changed))  # type: ignore[attr-defined]


def _parents(tree: ast.Module) -> dict[int, ast.AST]:
    return {id(child): node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}


def _is_message(node: ast.AST, parents: dict[int, ast.AST]) -> bool:
    """Whether a node belongs to what is said, not to what is done: messages, docstrings, types, assertions, imports,
    caches and other decorators."""
    while id(node) in parents:
        above = parents[id(node)]
        if isinstance(node, ast.JoinedStr | ast.ImportFrom | ast.Import | ast.Raise | ast.Assert):
            return True
        if isinstance(above, ast.Call) and getattr(above.func, "id", "") == "demand" and node in above.args[1:]:
            return True
        if isinstance(above, ast.Expr) and isinstance(node, ast.Constant):
            return True
        if isinstance(above, ast.arg | ast.AnnAssign) and node is above.annotation:
            return True
        if isinstance(above, ast.FunctionDef) and node is above.returns:
            return True
        if isinstance(above, ast.FunctionDef | ast.ClassDef) and node in above.decorator_list:
            return "rule(" not in ast.unparse(node)
        if isinstance(above, ast.keyword) and above.arg in ("strict", "frozen_default", "eq_default"):
            return True
        node = above
    return False


def _changes(node: ast.AST, parents: dict[int, ast.AST]):  # noqa: C901  one case for each kind of change
    above = parents.get(id(node))

    def put(new: ast.AST) -> None:
        for name, value in ast.iter_fields(above):  # type: ignore[arg-type]
            if value is node:
                setattr(above, name, new)
            elif isinstance(value, list) and node in value:
                value[value.index(node)] = new  # type: ignore[type-var]

    match node:
        case ast.Expr(value=ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name))) if name in CHECKS:
            yield f"no {name}", lambda: put(ast.copy_location(ast.Pass(), node))
        case ast.Expr(value=ast.Yield() | ast.YieldFrom()):
            yield "not yielded", lambda: put(ast.copy_location(ast.Expr(ast.Constant(None)), node))
        case ast.If(body=[ast.Raise()]):
            yield "never raised", lambda: setattr(node, "test", ast.Constant(False))
        case ast.If(body=[ast.Return() | ast.Continue()]):
            yield "never taken", lambda: setattr(node, "test", ast.Constant(False))
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name in TRUTHS:
            if not (isinstance(above, ast.Call) and getattr(above.func, "id", "") == "assert"):
                yield f"{name} is true", lambda: put(ast.copy_location(ast.Constant(True), node))
        case ast.Call(func=ast.Name(id="minus"), args=[a, b]):
            yield "minus turned", lambda: setattr(node, "args", [b, a])
        case ast.Compare(ops=ops):
            for place, op in enumerate(ops):
                new = COMPARISONS[type(op)]
                yield f"{type(op).__name__} to {new.__name__}", lambda p=place, n=new: ops.__setitem__(p, n())
        case ast.BoolOp(op=op, values=values):
            other = ast.Or if isinstance(op, ast.And) else ast.And
            yield f"{other.__name__} for {type(op).__name__}", lambda: setattr(node, "op", other())
            for place in range(len(values)):
                yield f"without part {place + 1}", lambda p=place: values.pop(p)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield "no not", lambda: put(operand)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            yield "no minus sign", lambda: put(operand)
        case ast.BinOp(op=ast.Add()):
            yield "Sub for Add", lambda: setattr(node, "op", ast.Sub())
        case ast.BinOp(op=ast.Sub()):
            yield "Add for Sub", lambda: setattr(node, "op", ast.Add())
        case ast.BinOp(op=ast.BitAnd()):
            yield "union for intersection", lambda: setattr(node, "op", ast.BitOr())
        case ast.BinOp(op=ast.BitOr(), left=left):
            yield "left part only", lambda: put(left)
        case ast.Constant(value=bool(value)):
            yield f"{not value}", lambda: setattr(node, "value", not value)
        case ast.Constant(value=int(value)):
            yield f"{value + 1} for {value}", lambda: setattr(node, "value", value + 1)
        case ast.Constant(value=str(value)) if value in WORDS:
            yield f"{WORDS[value]!r} for {value!r}", lambda: setattr(node, "value", WORDS[value])
        case ast.Name(id=name, ctx=ast.Load()) if name in NAMES:
            yield f"{NAMES[name]} for {name}", lambda: setattr(node, "id", NAMES[name])


class _Finder(importlib.machinery.SourceFileLoader):
    """Loads one module from a changed tree."""

    def __init__(self, mutant: Mutant) -> None:
        super().__init__(mutant.module, str(ROOT / (mutant.module.replace(".", "/") + ".py")))
        self.mutant = mutant
        self.used = False

    def find_spec(self, name: str, path: object = None, target: object = None) -> importlib.machinery.ModuleSpec | None:
        """The changed module, if it is the one that is asked for."""
        if name != self.mutant.module:
            return None
        return importlib.util.spec_from_file_location(name, self.path, loader=self)

    def get_code(self, fullname: str) -> CodeType:
        """The changed code."""
        self.used = True
        return compile(self.mutant.tree, self.path, "exec")


def _tests(module: str) -> tuple[list[str], list[str]]:
    """The file with the tests of a module, and all others."""
    files = [str(path.relative_to(ROOT)) for folder in SUITE for path in sorted((ROOT / folder).glob("test_*.py"))]
    name = module.split(".")[-1]
    first = [file for file in files if file.endswith(f"/test_{OWN.get(name, name)}.py")]
    return first, [file for file in files if file not in first]


def survives(mutant: Mutant) -> bool:
    """Whether all tests pass with a mutant."""
    return all(_passes(files, mutant) for files in _tests(mutant.module))


def _passes(files: list[str], mutant: Mutant | None = None) -> bool:
    """Whether the tests in some files pass, with a mutant if one is given, in a process of their own."""
    child = os.fork()
    if child == 0:
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        finder = None if mutant is None else _Finder(mutant)
        if finder is not None:
            sys.meta_path.insert(0, finder)  # type: ignore[arg-type]
        import pytest

        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
        outcome = int(pytest.main([*files, *FAST]))
        os._exit(outcome if finder is None or finder.used else UNCHANGED)
    outcome = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if outcome == UNCHANGED:
        sys.exit("the tests have not loaded the changed module")
    return outcome == 0


def main() -> None:
    """Run the mutants and report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--file", help="only this module, such as order", default="")
    parser.add_argument("--every", type=int, default=1, help="only every Nth mutant")
    parser.add_argument("--again", type=Path, help="only what survived in this earlier report")
    parser.add_argument("--list", action="store_true", help="only list them")
    options = parser.parse_args()
    os.chdir(ROOT)
    chosen = [m for name in MODULES if options.file in ("", name.split(".")[-1]) for m in mutants(name)]
    chosen = [m for m in chosen if m.label not in EQUIVALENT][:: options.every]
    if options.again:
        earlier = {tuple(each) for each in SURVIVED.findall(options.again.read_text(encoding="utf-8"))}
        chosen = [m for m in chosen if (m.module, m.label) in earlier]
    if options.list:
        print(*(f"{m.module}:{m.line}: {m.label}" for m in chosen), len(chosen), sep="\n")
        return
    import mpmath  # noqa: F401  loaded once, not by every mutant
    import pytest  # noqa: F401
    import sympy  # noqa: F401

    import maskproof.theory

    for module in pkgutil.walk_packages(maskproof.theory.__path__, "maskproof.theory."):
        importlib.import_module(module.name)
    if not _passes(SUITE):
        sys.exit("the tests fail without any change")
    start, killed = time.perf_counter(), 0
    for number, mutant in enumerate(chosen, 1):
        if survives(mutant):
            print(f"survived: {mutant.module}:{mutant.line}: {mutant.label}", flush=True)
        else:
            killed += 1
        if number % 50 == 0:
            print(f"{killed} of {number} killed, {time.perf_counter() - start:.0f} s", flush=True)
    print(f"{killed} of {len(chosen)} killed, {len(EQUIVALENT)} known to make no difference")
    sys.exit(killed != len(chosen))


if __name__ == "__main__":
    main()
