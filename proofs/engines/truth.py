"""Truth with two ways of not being true or false: undecided so far, and without a value.

The connectives are those of Kleene. A part without a value leaves the whole without a value, unless another part
settles it or is undecided itself; so the order of parts never matters.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NoReturn

from maskproof.proofs.terms.conditions import Condition
from maskproof.proofs.terms.text import text


class NotApplicable(Exception):
    """An engine can't evaluate this statement, or not for the reason given."""


@dataclass(frozen=True)
class Undefined:
    """A relation is neither true nor false: a part of it has no value.

    Attributes:
        condition: what the part needs, and does not have.
        bound: values of bound variables at which that is so, by name.
    """

    condition: Condition
    bound: tuple[tuple[str, str], ...] = ()

    def __bool__(self) -> NoReturn:
        raise TypeError("what has no value is neither true nor false")

    def at(self, point: Mapping[str, object], what: str) -> str:
        """That ``what`` has no value at a point, and why."""
        place = ", ".join(f"{name} = {value}" for name, value in {**point, **dict(self.bound)}.items())
        failing = f"{text(self.condition.statement)} fails in {text(self.condition.part)}"
        return f"the {what} has no value{f' at {place}' if place else ''}: {failing}"


Truth = bool | None | Undefined


def negation(truth: Truth) -> Truth:
    """The opposite of what is true or false.

    >>> negation(True), negation(None)
    (False, None)
    """
    return not truth if isinstance(truth, bool) else truth


def both(truths: Iterable[Truth]) -> Truth:
    """Conjunction: false if any is, else undecided if any is, else without a value if any is.

    >>> both([True, None, False]), both([]), both([True, None])
    (False, True, None)
    """
    undecided, undefined = False, None
    for truth in truths:
        if truth is False:
            return False
        undecided = undecided or truth is None
        if isinstance(truth, Undefined) and undefined is None:
            undefined = truth
    if undecided:
        return None
    return True if undefined is None else undefined


def either(truths: Iterable[Truth]) -> Truth:
    """Disjunction: true if any is, else undecided if any is, else without a value if any is."""
    return negation(both(negation(truth) for truth in truths))
