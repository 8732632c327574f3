"""Verdicts and the evidence they are computed from."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Verdict(StrEnum):
    """What is known about a claim."""

    PROVED = "PROVED"  # an exact symbolic argument covers the whole domain
    ENCLOSED = "ENCLOSED"  # ball arithmetic certifies every point of the whole domain
    SAMPLED = "SAMPLED"  # nothing found against it; covers part of the domain, or has error rates
    REFUTED = "REFUTED"  # a witness, certified, or statistical at a stated error rate
    UNKNOWN = "UNKNOWN"  # none of these; never a pass


LIMIT = "limit"
"""The engine named in the evidence of a claim that was cut short."""


@dataclass(frozen=True)
class Evidence:
    """What one engine found.

    Attributes:
        engine: "reading", "symbolic", "enclosure", "witness" or "monte_carlo"; "uses" where what a claim uses
            decides, LIMIT where time, memory or the size of numbers does.
        outcome: the verdict that this evidence alone supports.
        scope: which part of the domain it covers, in words.
        detail: how it was found, with the numbers: error rates, bounds, precision.
        witness: for REFUTED, the point (symbol name -> exact value).
        seed: seed of the random numbers, or None.
        precision: bits of the ball arithmetic, or None.
        seconds: time taken.
        objection: whether a proof can't stand beside it: the statement has no value at a point of the domain, or no
            point could be evaluated.
    """

    engine: str
    outcome: Verdict
    scope: str
    detail: str
    witness: dict[str, Any] | None = None
    seed: int | None = None
    precision: int | None = None
    seconds: float = 0.0
    objection: bool = False


@dataclass(frozen=True)
class Result:
    """The verdict on one claim, with its evidence."""

    id: str
    verdict: Verdict
    evidence: tuple[Evidence, ...] = field(default_factory=tuple)
    witness: dict[str, Any] | None = None
    seconds: float = 0.0

    @property
    def cut_short(self) -> bool:
        """Whether a limit ended the work: more time, or a larger machine, could give another verdict."""
        return any(evidence.engine == LIMIT for evidence in self.evidence)

    def _repr_html_(self) -> str:
        from maskproof.proofs.shown.notebook import results_html

        return results_html([self])

    def _repr_latex_(self) -> str:
        from maskproof.proofs.shown.notebook import results_latex

        return results_latex([self])


class Results(list[Result]):
    """The verdicts on several claims, in order: a list that a notebook shows as a table."""

    def _repr_html_(self) -> str:
        from maskproof.proofs.shown.notebook import results_html

        return results_html(self)

    def _repr_latex_(self) -> str:
        from maskproof.proofs.shown.notebook import results_latex

        return results_latex(self)
