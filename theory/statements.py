"""Statements that several papers' claims make."""

from __future__ import annotations

from sympy import And, Expr
from sympy.logic.boolalg import Boolean

from maskproof.theory.quantities import Score
from maskproof.theory.relations import Lt
from maskproof.theory.symbols import i, j


def closer_scores_higher(*layers: int | Expr) -> Boolean:
    """S_ij < S_i,j+1 in each of the layers: the key next in line towards the query scores strictly higher.

    >>> closer_scores_higher(2)
    S2[i,j] < S2[i,j + 1]
    """
    return And(*(Lt(Score(layer, i, j), Score(layer, i, j + 1)) for layer in layers))
