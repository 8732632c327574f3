"""Parts of a record that are built when they are asked for, and once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, cast

from sympy import Basic

from maskproof.theory.errors import InvalidInput

T = TypeVar("T")


class Part(Generic[T]):
    """A field of a dataclass that may be given as a function without arguments, which is called at the first look.

    Args:
        default: the field's default value; without one the field must be given.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Pair:
    ...     id: str
    ...     sum: Part[int] = Part()
    >>> Pair("one", 2) == Pair("one", lambda: 1 + 1)
    True
    """

    def __init__(self, *default: T) -> None:
        self._default = default

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, record: Any, owner: type) -> T:
        if record is None:  # dataclasses ask for the default
            if not self._default:
                raise AttributeError(self._name)
            return self._default[0]
        value: Any = vars(record)[self._name]
        if callable(value) and not isinstance(value, Basic | type):
            value = vars(record)[self._name] = self._built(record, cast(Callable[[], T], value))
        return cast(T, value)

    def __set__(self, record: Any, value: T | Callable[[], T]) -> None:
        vars(record)[self._name] = value

    def _built(self, record: Any, make: Callable[[], T]) -> T:
        try:
            return make()
        except InvalidInput as error:
            raise InvalidInput(f"claim {record.id}: {error.what}", error.violates, error.remedy) from error
        except Exception as error:
            what = f"claim {record.id}: {type(error).__name__}: {error}"
            raise InvalidInput(what, f"'its {self._name} can be built'", "mend the function that builds it") from error
