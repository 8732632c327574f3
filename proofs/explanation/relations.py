"""The relations of a statement, and those that fail at a point."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

import sympy
from sympy import Basic
from sympy.core.relational import Relational

from maskproof.proofs.engines.explain import responsible
from maskproof.proofs.engines.points import horizon
from maskproof.proofs.engines.question import question
from maskproof.proofs.engines.truth import NotApplicable
from maskproof.proofs.terms.reading import read_statement
from maskproof.theory.claim import Claim

BITS = 512  # of the balls that tell which relation fails


def relations(statement: Basic) -> Iterator[Relational]:
    """The relations that connectives join into ``statement``, from left to right."""
    if isinstance(statement, Relational):
        yield statement
        return
    for part in statement.args:
        yield from relations(part)


def failing(claim: Claim, witness: Mapping[str, Any]) -> list[Relational]:
    """The relations because of which the claim fails at the witness; all of them where numbers do not tell."""
    found = list(dict.fromkeys(relations(claim.bound_statement)))
    asked = question(claim)
    if len(found) < 2 or not asked.deterministic:
        return found
    point = {v: sympy.Rational(witness[v.name]) for v in asked.variables if v.name in witness}
    integers = {v: int(x) for v, x in point.items() if v.sort.integral}
    reals = {v: Fraction(int(x.p), int(x.q)) for v, x in point.items() if not v.sort.integral}
    try:
        blamed = responsible(asked.statement, reals, integers, BITS, horizon([integers]))
    except NotApplicable:
        return found
    return [r for r in found if read_statement(r, claim.decoder, claim.inputs) in blamed] or found
