"""One line on standard error: what is said there, and with which exit status."""

from __future__ import annotations

import contextlib
import sys

from maskproof.theory.errors import shortened

_LONGEST = 500  # letters of a line on standard error


def internal(error: str) -> str:
    """What is said of a fault of the program itself."""
    return f"internal error {error}; set MASKPROOF_DEBUG=1 to see where"


def refuse(message: str) -> int:
    """Say what can't be used, and how to mend it; the exit status for that."""
    return say(message, 2)


def say(message: str, status: int) -> int:
    """Put one line on standard error, whatever is quoted in it, and give the status."""
    line = shortened("".join(letter if letter.isprintable() else "?" for letter in " ".join(message.split())))
    if len(line) > _LONGEST:
        line = f"{line[: _LONGEST // 2]} ... {line[-_LONGEST // 2 :]}"
    with contextlib.suppress(OSError):  # the terminal, or whoever reads, has gone
        print(f"maskproof: {line}", file=sys.stderr, flush=True)
    return status
