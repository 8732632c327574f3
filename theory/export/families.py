r"""One line for formulas that differ in the layer or in the model alone: S^(l)_ij < S^(l)_i,j+1 for l = 2, 3, 4."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sympy
from sympy import And, Basic

from maskproof.theory.export.models import Model
from maskproof.theory.notation.latex import MathPrinter
from maskproof.theory.notation.layout import Display, display
from maskproof.theory.notation.width import measure
from maskproof.theory.quantities import Quantity

_LISTED = 3  # members up to which a range is written out


@dataclass(frozen=True)
class Family:
    """A formula, shown for the first member, and the layers and models that it is meant for."""

    statement: Any
    layers: tuple[int, ...]
    models: tuple[Model, ...]


def families(statement: Basic) -> list[Family]:
    """The parts of a conjunction, those that differ in layer or model alone taken together.

    >>> from sympy import And, Lt
    >>> from maskproof.theory import Score, i, j
    >>> (found,) = families(And(*(Lt(Score(layer, i, j), 1) for layer in (2, 3, 4))))
    >>> found.layers
    (2, 3, 4)
    """
    by_layer: dict[Basic, list[Any]] = {}
    for part in sorted(And.make_args(sympy.sympify(statement)), key=sympy.default_sort_key):
        by_layer.setdefault(_without_layer(part), []).append(part)
    by_model: dict[tuple[Basic, tuple[int, ...]], list[Family]] = {}
    for key, parts in by_layer.items():
        layers = tuple(sorted({layer for part in parts for layer in _layers(part)})) if _one(_layers(parts[0])) else ()
        models = _models(parts[0])
        family = Family(parts[0], layers, models if _one(models) else ())
        by_model.setdefault((_without_model(key) if family.models else key, layers), []).append(family)
    return [
        Family(members[0].statement, layers, tuple(model for member in members for model in member.models))
        for (_, layers), members in by_model.items()
    ]


def family_display(statement: Basic, names: Mapping[Model, str], width: float, named: bool = False) -> list[Display]:
    """A statement in rows, as ``display`` lays it out, but a row for each family.

    Args:
        statement: what is to be shown.
        names: what the models are called, if there are several.
        width: of a row, in em.
        named: whether to write the notation in macros.
    """
    found = families(statement)
    if all(len(family.layers) < 2 and len(family.models) < 2 for family in found):
        return display(statement, MathPrinter(names, named), width)
    rows: list[Display] = []
    for place, family in enumerate(found):
        member, several = MathPrinter(names, named), []
        if len(family.layers) > 1:
            member.layer = member.sign("mplayer")
            several.append(f"{member.layer} = {_range([str(layer) for layer in family.layers], family.layers)}")
        if len(family.models) > 1 and names:
            model = member.sign("mpanymodel")
            member.models = dict.fromkeys(family.models, model)
            numbers = sorted(list(names).index(model) for model in family.models)
            several.append(f"{model} = {_range([list(names.values())[number] for number in numbers], numbers)}")
        shown = display(family.statement, member, width - 3)
        if several:
            shown[-1] = _for_several(shown[-1], r",\quad " + r";\ ".join(several), width)
        if place:
            shown[0] = Display(r"\text{and } " + shown[0].left, shown[0].lines)
        rows += shown
    return rows


def _for_several(row: Display, members: str, width: float) -> Display:
    """The row, followed by what it is meant for: on the same line if there is room."""
    last = row.lines[-1] + members
    if row.width[0] + measure(last) + 3 <= width:
        return Display(row.left, (*row.lines[:-1], last))
    return Display(row.left, (*row.lines[:-1], row.lines[-1] + ",", members.lstrip(",")))


def _range(words: Sequence[str], numbers: Sequence[int]) -> str:
    """The words in a row, with dots where they are many and follow one another."""
    if len(words) > _LISTED and numbers[-1] - numbers[0] == len(numbers) - 1:
        return rf"{words[0]}, \dots, {words[-1]}"
    return ", ".join(words)


def _one(things: Sequence[object]) -> bool:
    return len(things) == 1


def _layers(part: Basic) -> tuple[int, ...]:
    return tuple(
        sorted({quantity.layer for quantity in part.atoms(Quantity)}, key=lambda layer: (str(type(layer)), layer))
    )


def _models(part: Basic) -> tuple[Model, ...]:
    return tuple(sorted({quantity.args[3:] for quantity in part.atoms(Quantity)}, key=str))  # type: ignore[arg-type]


def _without_layer(part: Basic) -> Basic:
    """The part with every quantity in layer one, if they are all in one layer."""
    if not _one(_layers(part)):
        return part
    return part.xreplace({q: q.func(1, *q.args[1:]) for q in part.atoms(Quantity)})


def _without_model(part: Basic) -> Basic:
    return part.xreplace({q: q.func(*q.args[:3]) for q in part.atoms(Quantity)})
