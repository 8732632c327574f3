"""The Python reference, which Sphinx fills from docstrings, and that of the command line, from its help."""

from __future__ import annotations

import ast
import importlib
import inspect
import itertools
import pkgutil
import re
from types import ModuleType
from typing import Any

from maskproof.proofs.shown.notes import cell
from maskproof.theory.notation.prose import markdown_escape

HOUSE = "maskproof"
PACKAGES = ("maskproof.theory", "maskproof.numerics", "maskproof.proofs")
CLAIMS = "maskproof.theory.claims"  # lists of claims, each of which has a page of its own
_COMMAND = "maskproof"
_CODE = re.compile(r"(`[^`]+`|(?<!\S)--[a-z][a-z-]*)")
_TYPE = re.compile(r" <[a-z\[\]]+>$")  # of an argument, which its help describes


# -- Python --------------------------------------------------------------------------------------


def modules(package: str) -> list[str]:
    """Names of the modules of a package that are for importing, in alphabetical order."""
    found = pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}.")
    named = [each.name for each in found if not each.name.rsplit(".", 1)[-1].startswith("_")]
    return sorted(name for name in named if not name.startswith(CLAIMS))


def python_pages() -> dict[str, str]:
    """The Python reference: path below ``api/`` to Markdown."""
    pages = {"index.md": _index()}
    for package in PACKAGES:
        for name in modules(package):
            pages[f"{name}.md"] = _module_page(name)
    return pages


def _index() -> str:
    parts = [
        "# Python",
        f"What a script or a claims file imports: `from {HOUSE} import Claim`. These names are stable.",
        "The modules below are for readers of the code.",
    ]
    house = importlib.import_module(HOUSE)
    rows = "\n".join(_row(house, name) for name in house.__all__)
    parts += [f"## `{HOUSE}`", _first_paragraph(house), f"| name | what it is |\n|---|---|\n{rows}"]
    parts.append("## Modules")
    for package in PACKAGES:
        rows = "\n".join(
            f"| [`{name}`]({name}.md) | {cell(_first_paragraph(importlib.import_module(name)))} |"
            for name in modules(package)
        )
        parts.append(f"### In `{package}`\n\n| module | what it holds |\n|---|---|\n{rows}")
    return "\n\n".join(parts) + "\n"


def _row(module: ModuleType, name: str) -> str:
    value = getattr(module, name)
    if not (inspect.isclass(value) or inspect.isfunction(value)):
        return f"| [`{name}`](maskproof.theory.symbols.md) | {cell(_symbol(value))} |"
    target = f"{value.__module__}.{value.__qualname__}"
    return f"| {{py:obj}}`{name} <{target}>` | {cell(_first_paragraph(value))} |"


def _symbol(value: Any) -> str:
    facts = "positive integer" if value.is_integer else "non-negative" if value.is_nonnegative else "real"
    return f"symbol, {facts}"


def _first_paragraph(value: Any) -> str:
    """The first paragraph of a docstring, as Markdown."""
    text = " ".join((inspect.getdoc(value) or "").split("\n\n")[0].split())
    parts = text.split("``")
    return "".join(f"`{part}`" if place % 2 else markdown_escape(part) for place, part in enumerate(parts))


def _module_page(name: str) -> str:
    crumbs = ":::{container} crumbs\n[Python](index.md) / [modules](index.md#modules)\n:::"
    members = described(inspect.getsource(importlib.import_module(name)))
    listed = f"\n   :members: {', '.join(members)}" if members else ""
    body = f"```{{eval-rst}}\n.. automodule:: {name}{listed}\n```"
    return "\n\n".join(["---\norphan: true\n---", f"# {name}", crumbs, body]) + "\n"


def described(source: str) -> list[str]:
    r"""Public names that a module defines and describes: its classes and functions, and constants with a text below.

    >>> described("def f(): ...\nWIDTH = 1\n'Of a line.'\n_x = 2\nBARE = 3")
    ['f', 'WIDTH']
    """
    body = ast.parse(source).body
    names = [node.name for node in body if isinstance(node, ast.ClassDef | ast.FunctionDef)]
    for node, after in itertools.pairwise(body):
        text = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
        if text and isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names += [target.id for target in targets if isinstance(target, ast.Name)]
    return [name for name in names if not name.startswith("_")]


# -- the command line ----------------------------------------------------------------------------


def command_page(readme: str) -> str:
    """The command line: what the README says of it, then the help of every command.

    Args:
        readme: the README's section on the command.
    """
    import typer

    from maskproof.proofs.command.cli import app

    group: Any = typer.main.get_command(app)
    parts = ["# The command", readme.strip("\n"), markdown_escape(group.epilog or "")]
    parts += [_command(name, command) for name, command in group.commands.items()]
    return "\n\n".join(parts) + "\n"


def _command(name: str, command: Any) -> str:
    context = command.context_class(command, info_name=f"{_COMMAND} {name}")
    usage = " ".join(command.get_usage(context).removeprefix("Usage: ").split())
    help_text = [" ".join(part.split()) for part in (command.help or "").split("\n\n")]
    records = [param.get_help_record(context) for param in command.get_params(context)]
    rows = [
        f"| `{cell(_TYPE.sub('', left))}` | {cell(_help(' '.join(right.split())))} |"
        for left, right in filter(None, records)
    ]
    parts = [f"## {name}", f"```console\n{usage}\n```", *(_help(part) for part in help_text if part)]
    return "\n\n".join([*parts, "\n".join(["| | |", "|---|---|", *rows])])


def _help(text: str) -> str:
    """A sentence of a help text as Markdown, options and what stands in backticks as code."""
    parts = _CODE.split(text)
    return "".join(f"`{part.strip('`')}`" if place % 2 else markdown_escape(part) for place, part in enumerate(parts))
