"""Statistical tests of claims about expectations over random inputs.

Independent batches give independent estimates of every quantity; each comparison a < b becomes the value
of a - b with a standard error (a jackknife over the batches) and a Student t statistic. The error rates below
are for all comparisons of a claim together: they are divided by the number of comparisons (Bonferroni). What
is not linear in the expectations is refuted only if it fails wherever they lie in their confidence intervals.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil
from typing import Any

from scipy.special import stdtrit

from maskproof.proofs.engines.estimates import BATCHES, Comparison, Meaningless, comparisons
from maskproof.proofs.engines.numbers import printable
from maskproof.proofs.engines.question import Question
from maskproof.proofs.engines.truth import NotApplicable
from maskproof.proofs.terms.text import text
from maskproof.proofs.verdict import Evidence, Verdict
from maskproof.theory.errors import InvalidInput

REFUTE = 1e-6  # chance that any comparison of a true claim refutes it
SUSPECT = 1e-3  # chance that any comparison of a true claim speaks against it without refuting
CONFIRMED = 0.5  # share of the inequalities that has to be confirmed; with less the data are too noisy
POWER = 0.99  # with which the deviation that is reported would have been found


@dataclass(frozen=True)
class Levels:
    """Critical values of the t statistic for ``tests`` comparisons."""

    tests: int

    def critical(self, rate: float, *, two_sided: bool) -> float:
        """The value that any of the comparisons exceeds by chance with probability at most ``rate``."""
        share = rate / self.tests / (2 if two_sided else 1)
        return float(-stdtrit(BATCHES - 1, share))

    @property
    def power(self) -> float:
        """What has to be added to a critical value to exceed it with the stated power."""
        return float(stdtrit(BATCHES - 1, POWER))


def examine(asked: Question, *, seed: int = 0, effort: float = 1.0) -> Evidence | None:
    """Test a claim about expectations; ``effort`` scales the number of samples.

    Returns None for a claim about exact numbers. SAMPLED: no comparison speaks against it, and most of its
    inequalities are confirmed; REFUTED: at the stated rate; UNKNOWN: too noisy, suspicious, or not
    applicable.
    """
    if asked.deterministic:
        return None
    started = time.perf_counter()
    try:
        found = _judged(*comparisons(asked, seed, effort))
    except Meaningless as reason:
        found = replace(_evidence(Verdict.UNKNOWN, "nothing", f"{reason}; restrict the domain"), objection=True)
    except (NotApplicable, InvalidInput) as error:
        found = _evidence(Verdict.UNKNOWN, "nothing", f"not applicable: {error}")
    return replace(found, seed=seed, seconds=time.perf_counter() - started)


def _evidence(outcome: Verdict, scope: str, detail: str, witness: dict[str, Any] | None = None) -> Evidence:
    return Evidence("monte_carlo", outcome, scope, detail, witness=witness)


# --- the judgement -------------------------------------------------------------------------------


def _judged(comparisons: Sequence[Comparison], samples: int, expectations: int) -> Evidence:
    levels = Levels(len(comparisons))

    def beyond(rate: float) -> list[Comparison]:
        return [c for c in comparisons if c.against > levels.critical(rate, two_sided=c.two_sided)]

    scope = f"{_range(comparisons)}; {len(comparisons)} comparisons, {samples} samples in {BATCHES} batches each"
    curved = sum(c.within is not None for c in comparisons)
    # all intervals hold together but for the share of the rate that falls to what is not linear
    width = Levels(ceil(expectations * len(comparisons) / max(1, curved))).critical(REFUTE, two_sided=True)
    wrong = [c for c in beyond(REFUTE) if c.fails(width)]
    if wrong:
        return _refuted(wrong, scope)
    inequalities = [c for c in comparisons if not c.two_sided]
    confirmed = sum(-c.against > levels.critical(SUSPECT, two_sided=False) for c in inequalities)
    smallest = max(c.error * (levels.critical(REFUTE, two_sided=c.two_sided) + levels.power) for c in comparisons)
    detail = (
        f"a deviation of {smallest:.2g} would have been found with probability {POWER:g}; error rate of a refutation "
        f"{REFUTE:g} over all comparisons (t, {BATCHES - 1} degrees of freedom, Bonferroni)"
    )
    if inequalities:
        share = f"{confirmed} of {len(inequalities)} inequalities"
        detail = f"{share} confirmed at a joint error rate of {SUSPECT:g}; {detail}"
    suspicious = beyond(SUSPECT)
    if suspicious:
        worst = max(suspicious, key=lambda c: c.against)
        found = f"suspicious at {_where(worst)}, {worst.against:.1f} standard errors"
        return _evidence(Verdict.UNKNOWN, scope, f"{found}; {detail}")
    equal = next((c for c in inequalities if c.strict and c.still and abs(c.against) < levels.power), None)
    if equal is not None:
        found = f"at {_where(equal)} both sides are equal to within rounding and do not fluctuate, so < is not shown"
        return _evidence(Verdict.UNKNOWN, scope, f"{found}; {detail}")
    if confirmed < CONFIRMED * len(inequalities):
        return _evidence(Verdict.UNKNOWN, scope, f"too noisy to confirm or refute; {detail}")
    return _evidence(Verdict.SAMPLED, scope, f"nothing against it; {detail}")


def _range(comparisons: Sequence[Comparison]) -> str:
    """Which values of each variable were tried."""
    tried: dict[str, set[Fraction]] = {}
    for comparison in comparisons:
        for variable, value in comparison.point.items():
            tried.setdefault(variable.name, set()).add(value)
    if not tried:
        return "the single case"
    return ", ".join(f"{name} in {_listed(sorted(values))}" for name, values in sorted(tried.items()))


def _listed(values: Sequence[Fraction]) -> str:
    return f"{{{', '.join(map(str, values))}}}" if len(values) <= 4 else f"{values[0]} .. {values[-1]}"


def _refuted(wrong: Sequence[Comparison], scope: str) -> Evidence:
    """The first of the points that speak against the claim beyond the rate; they come in order."""
    first = wrong[0]
    return _evidence(
        Verdict.REFUTED,
        scope,
        f"at {_where(first)} left minus right of {text(first.relation)} is {first.difference:.6g} +- "
        f"{first.error:.2g}, {first.against:.1f} standard errors on the wrong side; {len(wrong)} comparisons "
        f"are beyond the critical value; chance of any such in a true claim at most {REFUTE:g} "
        f"(t, {BATCHES - 1} degrees of freedom, Bonferroni)",
        witness={v.name: printable(x) for v, x in first.point.items()},
    )


def _where(comparison: Comparison) -> str:
    return ", ".join(f"{v.name} = {x}" for v, x in comparison.point.items()) or "the single case"
