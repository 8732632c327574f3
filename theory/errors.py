"""The one exception that bad input raises.

Its message is a single line that names the value, the hypothesis it violates and a remedy,
so that the command line can print it as it stands.
"""

from __future__ import annotations

import re

_DIGITS = re.compile(r"\d{41,}")


def shortened(text: str) -> str:
    """``text`` with the middle of very long numbers left out.

    >>> shortened(f"alpha = {10**400}")
    'alpha = 1000000000...0000000000 (401 digits)'
    """
    return _DIGITS.sub(lambda m: f"{m.group()[:10]}...{m.group()[-10:]} ({len(m.group())} digits)", text)


class InvalidInput(ValueError):
    """A value violates a stated hypothesis."""

    def __init__(self, what: str, violates: str, remedy: str) -> None:
        super().__init__(shortened(f"{what} violates {violates}; {remedy}"))
        self.what, self.violates, self.remedy = what, violates, remedy

    def __reduce__(self) -> tuple[type[InvalidInput], tuple[str, str, str]]:
        return type(self), (self.what, self.violates, self.remedy)  # it passes from process to process
