"""What a mask has to say of itself, so that nobody else needs to know which masks there are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import ClassVar

import sympy
from sympy import Expr
from sympy.logic.boolalg import Boolean
from sympy.printing.numpy import NumPyPrinter

from maskproof.theory import symbols
from maskproof.theory.values import positive_integer

QUERY, KEY = symbols.i, symbols.j


@dataclass(frozen=True)
class Mask(ABC):
    """Which keys a query sees, itself always among them. Fields are whole numbers from 1 up.

    Attributes:
        name: what the command line and terms call it.
        noun: what prose calls it, with its parameters in braces.
        article: of the noun.
        ahead: whether some query sees a later key, if the sequence is long enough.
        counted: whether what is seen depends on the number of tokens, so that a claim has to say it.
    """

    name: ClassVar[str]
    noun: ClassVar[str]
    article: ClassVar[str] = "a"
    ahead: ClassVar[bool] = False
    counted: ClassVar[bool] = False

    def __post_init__(self) -> None:
        for field in fields(self):
            object.__setattr__(self, field.name, positive_integer(getattr(self, field.name), field.name))

    @abstractmethod
    def keys(self, i: int, n: int) -> range:
        """The keys that query ``i`` of ``n`` sees, in ascending order.

        Raises:
            InvalidInput: there are fewer than ``least`` tokens.
        """

    @property
    @abstractmethod
    def condition(self) -> Boolean:
        """When query i sees key j of the sequence, in the symbols i and j."""

    @property
    def least(self) -> int:
        """How many tokens there have to be."""
        return 1

    def reach(self, i: int) -> int | None:
        """How many tokens rows 1 to ``i`` depend on; None for all that there are."""
        return max(i, self.least)

    def matrix(self, n: int) -> list[list[bool]]:
        """Whether query i sees key j, at [i-1][j-1].

        >>> from maskproof.theory.masks import SlidingWindow
        >>> SlidingWindow(2).matrix(3)
        [[True, False, False], [True, True, False], [False, True, True]]
        """
        rows = [[False] * n for _ in range(n)]
        for query, row in enumerate(rows, start=1):
            keys = self.keys(query, n)
            row[keys.start - 1 : keys.stop - 1 : keys.step] = [True] * len(keys)
        return rows

    @property
    def numbers(self) -> tuple[int, ...]:
        """The fields, in order."""
        return tuple(getattr(self, field.name) for field in fields(self))

    @classmethod
    def usage(cls) -> str:
        """How it is written on the command line.

        >>> from maskproof.theory.masks import Causal, SlidingWindow
        >>> Causal.usage(), SlidingWindow.usage()
        ('causal', 'window:W')
        """
        return ":".join([cls.name, *(field.name[0].upper() for field in fields(cls))])

    @property
    def words(self) -> str:
        """The mask in words, without an article.

        >>> from maskproof.theory.masks import SlidingWindow
        >>> SlidingWindow(3).words
        'sliding window of 3'
        """
        return self.noun.format(**{field.name: getattr(self, field.name) for field in fields(self)})

    def numpy(self, query: Expr = QUERY, key: Expr = KEY) -> str:
        """A NumPy expression that is True where the query sees the key, given in whole-number arrays.

        >>> from maskproof.theory.masks import SlidingWindow
        >>> SlidingWindow(3).numpy()
        'numpy.less_equal(j, i) & numpy.less(i - 3, j)'
        """
        condition = self.condition.subs({QUERY: query, KEY: key}, simultaneous=True)
        return str(_Printer({"fully_qualified_modules": True}).doprint(condition))


class _Printer(NumPyPrinter):
    """Conditions that broadcast, and quotients rounded down in whole numbers."""

    def _print_And(self, expr: sympy.And) -> str:
        return " & ".join(map(self._print, expr.args))

    def _print_Or(self, expr: sympy.Or) -> str:
        return " | ".join(map(self._print, expr.args))

    def _print_floor(self, expr: sympy.Basic) -> str:
        above, below = expr.args[0].as_numer_denom()  # type: ignore[attr-defined]
        return f"(({self._print(above)}) // ({self._print(below)}))"
