"""A program that computes both sides of a refuted claim at its witness: NumPy alone, the layers from their definition.

It shares nothing with the engines but the claim: who doubts a witness can read and run it.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import sympy
from sympy import Basic, Derivative, Expr, Integral, Limit, Product, Sum, Symbol
from sympy.printing.codeprinter import PrintMethodNotImplementedError

from maskproof.proofs.explanation.layers import Layers, tokens_needed
from maskproof.proofs.explanation.printing import Code
from maskproof.proofs.explanation.relations import failing
from maskproof.theory.claim import Claim
from maskproof.theory.export.models import models_of, read
from maskproof.theory.notation.plain import plain
from maskproof.theory.quantities import Correction, InputGram, Quantity

_BEYOND = (Limit, Integral, Correction, InputGram)
Witness = Mapping[str, Any]


def program(claim: Claim, witness: Witness) -> str | None:
    """Python source that prints both sides of the relations that fail at the witness; None where NumPy has no word.

    Sides that are expectations are averages over random inputs, printed with their standard errors.
    """
    relations = [r.func(*map(_differentiated, r.args), evaluate=False) for r in failing(claim, witness)]
    if not relations or any(relation.has(*_BEYOND, Derivative) for relation in relations):
        return None
    values = {s: sympy.sympify(witness[s.name]) for s in claim.free_symbols if s.name in witness}
    models = models_of(relations)
    suffixes = {model: f"_{place}" if len(models) > 1 else "" for place, model in enumerate(models, start=1)}
    code = Code(suffixes)
    parts = [_opening(claim, values, code)]
    try:
        for model in models:
            decoder, inputs = read(model)
            if decoder is None or inputs is None:
                return None
            used = [q for r in relations for q in r.atoms(Quantity) if q.args[3:] == model]
            positions = _positions(relations, used, values)
            count = None if positions is None else tokens_needed(decoder.mask, positions, values)
            if count is None:
                return None
            block = Layers(decoder, inputs, count, values, suffixes[model], code).source({q.letter for q in used})
            if block is None:
                return None
            parts.append(block)
        parts += [_comparison(relation, code) for relation in relations]
    except (PrintMethodNotImplementedError, TypeError, ValueError):
        return None
    return "\n\n".join(parts) + "\n"


def _differentiated(side: Expr) -> Expr:
    """``side`` with the derivatives of formulas worked out."""
    return side.xreplace({part: part.doit() for part in side.atoms(Derivative) if not part.has(Quantity)})


def _opening(claim: Claim, values: Mapping[Symbol, Expr], code: Code) -> str:
    lines = [f"# {claim.id} at its witness, from the definition of the layers", "import numpy"]
    if values:
        lines.append("")
    return "\n".join([*lines, *(f"{symbol.name} = {code.doprint(value)}" for symbol, value in values.items())])


def _positions(relations: Sequence[Basic], used: Sequence[Quantity], values: Mapping[Symbol, Expr]) -> list[int] | None:
    """The positions at which quantities are asked for, at the ends of sums, too; None if one has no value."""
    ends: list[Callable[[Expr], list[Expr]]] = []
    for relation in relations:
        for binder in relation.atoms(Sum, Product):
            for index, low, high in binder.limits:
                ends.append(lambda e, index=index, low=low, high=high: [e.xreplace({index: x}) for x in (low, high)])
    found = []
    for position in {place for quantity in used for place in (quantity.query, quantity.key)}:
        places = [position]
        for _ in ends:  # a bound may hold the index of a sum outside
            for at_ends in ends:
                places = list(dict.fromkeys(other for place in places for other in at_ends(place)))
        numbers = [place.xreplace(dict(values)) for place in places]
        if not all(number.is_Integer for number in numbers):
            return None
        found += [int(number) for number in numbers]
    return found


def _comparison(relation: Basic, code: Code) -> str:
    left, right = relation.args
    words = textwrap.shorten(plain(relation), 100, placeholder=" ...")
    return "\n".join(
        [
            f"# claimed, and false: {words}",
            f"left = {code.doprint(left)}",
            f"right = {code.doprint(right)}",
            'for name, value in (("left", left), ("right", right), ("left - right", left - right)):',
            "    value = numpy.asarray(value, dtype=float)",
            '    error = f" +- {value.std(ddof=1) / value.size**0.5:.2g}" if value.size > 1 else ""',
            '    print(f"{name} = {value.mean():.17g}{error}")',
        ]
    )
