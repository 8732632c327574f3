"""The names ``theory``, ``numerics`` and ``proofs`` for what is ``maskproof.theory``, ``.numerics`` and ``.proofs``.

A checkout has the folders at its top, so Python finds them there by their own names, and would load each module a
second time: two classes ``Claim``, neither an instance of the other. Here the short name becomes another name of the
module that there is. An installation has no such folders; a claims file may use the short names all the same
(``offer``), as long as the user has no module that is called so.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import CodeType, ModuleType

FOLDERS = ("theory", "numerics", "proofs")


def answer(name: str) -> None:
    """Called by a folder's package while it is imported: under its short name it gives way to the real one."""
    if name in FOLDERS:
        if not any(isinstance(finder, _Inside) for finder in sys.meta_path):
            sys.meta_path.insert(0, _Inside())  # before the one that would find the file
        sys.modules[name] = importlib.import_module(_real(name))  # as Python allows: it takes what stands here


def offer() -> None:
    """Let the short names be imported wherever nothing else answers to them."""
    if not any(isinstance(finder, _Top) for finder in sys.meta_path):
        sys.meta_path.append(_Top())


def _real(name: str) -> str:
    return f"maskproof.{name}"


class _Alias(Loader):
    """Gives the real module where another name is asked for."""

    def exec_module(self, module: ModuleType) -> None:
        sys.modules[module.__name__] = importlib.import_module(_real(module.__name__))

    def get_code(self, name: str) -> CodeType | None:
        """For ``python -m``."""
        spec = importlib.util.find_spec(_real(name))
        return spec.loader.get_code(spec.name) if spec and spec.loader else None  # type: ignore[attr-defined]


class _Inside(MetaPathFinder):
    """Finds the modules in a folder whose short name stands for the real one."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None, /
    ) -> ModuleSpec | None:
        folder, dot, _ = fullname.partition(".")
        if not dot or folder not in FOLDERS or sys.modules.get(folder) is not sys.modules.get(_real(folder), object()):
            return None
        real = importlib.util.find_spec(_real(fullname))
        return (
            None
            if real is None
            else ModuleSpec(fullname, _Alias(), is_package=real.submodule_search_locations is not None)
        )


class _Top(MetaPathFinder):
    """Finds the folders themselves, where nobody else does."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None, /
    ) -> ModuleSpec | None:
        if fullname not in FOLDERS:
            return None
        answer(fullname)
        return ModuleSpec(fullname, _Alias(), is_package=True)
