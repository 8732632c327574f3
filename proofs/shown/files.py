"""Writing a file whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from maskproof.theory.errors import InvalidInput


def check_writable(path: Path, option: str) -> None:
    """Refuse, before any work is done, a path that cannot be written.

    Raises:
        InvalidInput: it is a directory, its folder does not exist, or one may not write there.
    """
    where = f"{option} {path}"
    try:
        path.exists()
    except OSError as error:
        raise InvalidInput(where, "'it is a path'", error.strerror or "choose another path") from None
    if str(path) == "-":
        raise InvalidInput(where, "'it names a file'", "standard output is not for this; give a file name")
    if not path.name or path.is_dir():
        raise InvalidInput(where, "'it names a file'", "it is a directory: add a file name")
    folder = path.parent
    if not folder.is_dir():
        raise InvalidInput(where, "'its folder exists'", f"create {folder} first")
    if path.exists() and not path.is_file():
        raise InvalidInput(where, "'it names a regular file'", "choose another path")
    if not os.access(folder, os.W_OK) or (path.exists() and not os.access(path, os.W_OK)):
        raise InvalidInput(where, "'it may be written'", "choose a path in a folder of yours")


def write_whole(path: Path, write: Callable[[Path], object], option: str) -> None:
    """Let ``write`` fill a temporary file beside ``path``, then put it in its place.

    Raises:
        InvalidInput: the file cannot be written; whatever was at ``path`` is as it was.
    """
    check_writable(path, option)
    temporary: Path | None = None
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.stem[:40]}-", suffix=path.suffix)
        temporary = Path(name)
        os.close(handle)
        write(temporary)
        temporary.chmod(path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~_umask())
        temporary.replace(path)
    except OSError as error:
        reason = error.strerror or str(error)
        raise InvalidInput(f"{option} {path}", "'it can be written'", f"{reason}: choose another path") from error
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


def write_text(path: Path, text: str, option: str) -> None:
    """Write ``text`` in UTF-8, whole or not at all."""
    write_whole(path, lambda temporary: temporary.write_text(text, encoding="utf-8"), option)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
