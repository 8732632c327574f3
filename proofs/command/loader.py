"""Claims files: Python with a module-level list ``claims``."""

from __future__ import annotations

import ast
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from maskproof import folders
from maskproof.proofs.registry import refuse_duplicates
from maskproof.theory.claim import Claim
from maskproof.theory.errors import InvalidInput

_MODULE = "maskproof_claims_file"
_REMEDIES = {"cannot determine truth value of Relational": "join relations with And: And(0 < x, x < 1), not 0 < x < 1"}


def load(path: str | Path) -> list[Claim]:
    """The claims in a file. They are not checked yet: that is for ``verify``, one by one.

    Raises:
        InvalidInput: the file can't be read or run, or doesn't hold a list of claims; the message is one
            line with the file and, where there is one, the line in it.
        MemoryError: running it takes more memory than there is.
    """
    path = Path(path)
    source = _source(path)
    code = _compiled(path, source)
    _refuse_comparisons(source, path)
    module = _run(code, path)
    claims = getattr(module, "claims", None)
    if claims is None:
        raise InvalidInput(f"{path}", "'it has a module-level list claims'", "write claims = [Claim(...)]")
    if not isinstance(claims, list):
        raise InvalidInput(
            f"{path}: claims of type {type(claims).__name__}", "'claims is a list'", "write claims = [...]"
        )
    check_claims(claims, str(path))
    return claims


def check_claims(claims: list[Any], path: str) -> None:
    """Refuse a list that is empty, holds something else than claims, or two with the same id.

    Raises:
        InvalidInput: it does.
    """
    if not claims:
        raise InvalidInput(f"{path}: claims = []", "'there is something to check'", "add a Claim")
    for place, claim in enumerate(claims, start=1):
        if type(claim) is not Claim:  # a subclass might answer differently each time it is asked
            raise InvalidInput(
                f"{path}: element {place} of claims, of type {type(claim).__name__}",
                "'every element is a Claim'",
                "write Claim(id, statement, ...)",
            )
        if type(claim.id) is not str:
            raise InvalidInput(
                f"{path}: element {place} of claims, id of type {type(claim.id).__name__}",
                "'an id is text'",
                'write Claim("name", statement, ...)',
            )
    refuse_duplicates(claims, path)


def check_source(path: Path) -> None:
    """Refuse a file whose formulas Python would evaluate.

    Raises:
        InvalidInput: it compares with == or != in a claim, or can't be read.
    """
    _refuse_comparisons(_source(path), path)


def _source(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise InvalidInput(f"{path}", "'the file exists'", "check the path") from None
    except IsADirectoryError:
        raise InvalidInput(f"{path}", "'it is a file'", "it is a directory: name the file in it") from None
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise InvalidInput(f"{path}, line {line}", "'it is text in UTF-8'", "save it as UTF-8") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InvalidInput(f"{path}", "'it can be read'", _one_line(reason)) from None


def _compiled(path: Path, source: str) -> CodeType:
    try:
        return compile(source, str(path), "exec", dont_inherit=True)
    except SyntaxError as error:
        where = f"{path}, line {error.lineno}" if error.lineno else f"{path}"
        raise InvalidInput(where, "'it is Python'", _one_line(error.msg)) from None
    except (ValueError, RecursionError, MemoryError, OverflowError) as error:
        reason = _one_line(str(error) or type(error).__name__)
        raise InvalidInput(f"{path}", "'it is Python'", reason) from None


def _refuse_comparisons(source: str, path: Path) -> None:
    """Refuse == and != inside a claim: SymPy answers them at once, and the formula is lost.

    Conditions of comprehensions and conditional expressions are Python's own business.
    """
    for call in ast.walk(ast.parse(source)):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "Claim":
            for node in _formulas(call):
                if isinstance(node, ast.Compare) and any(isinstance(op, ast.Eq | ast.NotEq) for op in node.ops):
                    sign, name = ("==", "Eq") if isinstance(node.ops[0], ast.Eq) else ("!=", "Ne")
                    raise InvalidInput(
                        f"{path}, line {node.lineno}: {sign} in a claim",
                        "'a claim is made of formulas'",
                        f"Python compares at once and leaves True or False: write {name}(left, right)",
                    )


def _formulas(node: ast.AST) -> Iterator[ast.AST]:
    yield node
    for child in ast.iter_child_nodes(node):
        if isinstance(node, ast.comprehension) and child in node.ifs:
            continue
        if isinstance(node, ast.IfExp) and child is node.test:
            continue
        yield from _formulas(child)


def _run(code: CodeType, path: Path) -> ModuleType:
    module = ModuleType(_MODULE)
    module.__file__ = str(path)
    folder = str(path.resolve().parent)
    sys.path.insert(0, folder)  # as for a script, so that it can import its neighbours
    sys.modules[_MODULE] = module
    folders.offer()  # from theory import Claim: as in a checkout, unless a file of the user's is called so
    try:
        exec(code, module.__dict__)  # a claims file is a program of the user's, and is run as one
    except InvalidInput as error:
        raise InvalidInput(f"{path}{_line(error, path)}: {error.what}", error.violates, error.remedy) from None
    except (KeyboardInterrupt, MemoryError):
        raise
    except BaseException as error:  # noqa: BLE001  whatever the user's program raises is told in a line
        raise InvalidInput(
            f"{path}{_line(error, path)}: {type(error).__name__}: {_one_line(str(error))}",
            "'the file runs'",
            _remedy(error),
        ) from None
    finally:
        sys.modules.pop(_MODULE, None)
        if folder in sys.path:
            sys.path.remove(folder)
    return module


def _remedy(error: BaseException) -> str:
    if isinstance(error, ImportError) and error.name in folders.FOLDERS:  # a file of the user's is called so
        return "write from maskproof import ..., which means the same wherever it is run"
    return next((remedy for start, remedy in _REMEDIES.items() if str(error).startswith(start)), "mend it")


def _line(error: BaseException, path: Path) -> str:
    """Where in the file the exception came from."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == str(path)]
    return f", line {lines[-1]}" if lines else ""


def _one_line(text: str) -> str:
    return " ".join(text.split())
