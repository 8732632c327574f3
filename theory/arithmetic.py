"""The shipped claims whose statements mention no quantity, each with the reason why that is so.

What is proved of such a claim is a fact about a formula. That the formula is a score, a weight or a norm is said by
another claim, or by none.
"""

from __future__ import annotations

from collections.abc import Iterable

import sympy

from maskproof.theory.claim import Claim
from maskproof.theory.quantities import InputGram, Quantity

ARITHMETIC = {
    "kim2025.h-coefficients": "The paper's own step is about the signs of three coefficients. own.h-numerator says "
    "that they are those of a difference of squared norms.",
    "kim2025.h-prime-decreasing": "The paper's step is about the sign of a formula, judged as it is printed. "
    "kim2025.h-prime-difference says what it is claimed to be equal to.",
    "own.h-slope": "A derivative in a real variable that stands for a number of tokens. What follows for norms is "
    "own.h-decreasing.",
    "own.sampler-bias-sign": "The sign of a closed form. own.sampler-bias is about the bias itself, "
    "own.sampler-bias-formula compares the two.",
    "own.score-correction-sign": "The sign of a closed form. own.limit-overstates is about the 1/d term itself, "
    "own.score-correction-formula compares the two.",
    "own.rope-kernel-rises": "About the kernel kappa of RoPE, a function of the distance. own.rope-factorises says "
    "what it does to scores.",
    "own.rope-kernel-limit": "About the limit of RoPE's kernel at infinite head dimension, a formula in the distance.",
    "own.rope-kernel-negative": "About the kernel kappa of RoPE, as own.rope-kernel-rises.",
}


def mentions_quantity(claim: Claim) -> bool:
    """Whether the statement is about scores, weights or inner products, and not about formulas alone.

    >>> from maskproof.theory import Score, alpha
    >>> mentions_quantity(Claim("one", Score(2, 2, 1) < 1)), mentions_quantity(Claim("other", alpha < 1))
    (True, False)
    """
    return bool(sympy.sympify(claim.statement).atoms(Quantity, InputGram))


def complaints(claims: Iterable[Claim]) -> list[str]:
    """What is wrong with the list for these claims: a line for each that is missing, and for each that is too many."""
    silent = {claim.id for claim in claims if not mentions_quantity(claim)}
    missing = [
        f"{name} mentions no quantity and has no reason in ARITHMETIC" for name in sorted(silent - set(ARITHMETIC))
    ]
    return missing + [f"{name} is in ARITHMETIC and is no such claim" for name in sorted(set(ARITHMETIC) - silent)]
