"""Names of a package that are imported when they are asked for.

SymPy and NumPy take half a second; who wants the command's help, or one module of a package, need not wait for them.
"""

from __future__ import annotations

import importlib
import sys

TYPE_CHECKING = False  # as in typing, which takes a while to load
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any


def attributes(
    package: str, homes: Mapping[str, Sequence[str]]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` of a package.

    Args:
        package: its name.
        homes: module -> the names that it gives to the package.
    """
    where = {name: module for module, names in homes.items() for name in names}

    def getattribute(name: str) -> Any:
        if name not in where:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(where[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *where})

    return getattribute, names
