"""Statistical tests of claims about expectations over random inputs.

Independent batches give independent estimates of every quantity; each comparison a < b becomes the value
of a - b with a standard error (a jackknife over the batches, so that products and powers of expectations
are no obstacle) and a Student t statistic. The error rates below are for all comparisons of a claim
together: they are divided by the number of comparisons (Bonferroni).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy
from numpy.typing import NDArray
from scipy.special import stdtrit
from sympy import Basic, Symbol
from sympy.core.relational import Relational

from numerics.gram import mean_field
from numerics.monte_carlo import expected_scores
from proofs.engines.enclosure import deterministic
from proofs.engines.evaluate import NotApplicable
from proofs.engines.region import Region
from proofs.verdict import Evidence, Verdict
from theory.claim import Claim
from theory.decoder import Causal
from theory.errors import InvalidInput
from theory.inputs import Equicorrelated
from theory.quantities import Correction, Gram, Quantity, Record, Score, Weight
from theory.symbols import d, n

Array = NDArray[np.float64]

REFUTE = 1e-6  # chance that any comparison of a true claim refutes it
SUSPECT = 1e-3  # chance that any comparison of a true claim speaks against it without refuting
CONFIRMED = 0.5  # share of the inequalities that has to be confirmed; with less the data are too noisy
POWER = 0.99  # with which the deviation that is reported would have been found
BATCHES = 64
SAMPLES = (4_096, 32_768)  # fewest and most, over all batches
WORK = 3.2e9  # samples * layers * tokens^3
POINTS = 1500  # integer points at each choice of parameters
UNFOLDED = 60  # of them, where sums have to be written out
PARAMETERS = 3  # choices of real parameters
WIDTHS = (8, 64, 1024)  # tried where the width is a symbol
LENGTHS = (3, 8)  # tried where the number of tokens is a symbol and matters
ROUNDING = 2.0**-40  # relative; differences below it are not told from zero

_NAMES = {Score: "scores", Weight: "weights", Gram: "gram"}


@dataclass(frozen=True)
class Comparison:
    """One relation at one point: the estimated difference of its sides.

    Attributes:
        relation: the relation, with its parameters put in.
        point: symbol -> value.
        difference: estimate of left minus right.
        error: its standard error.
    """

    relation: Relational
    point: dict[Symbol, Any]
    difference: float
    error: float

    @property
    def against(self) -> float:
        """How many standard errors it lies on the wrong side; negative on the right side."""
        z = self.difference / self.error
        if isinstance(self.relation, sympy.Eq):
            return abs(z)
        return z if isinstance(self.relation, (sympy.Lt, sympy.Le)) else -z


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


def examine(claim: Claim, *, seed: int = 0, effort: float = 1.0) -> Evidence | None:
    """Test a claim about expectations; ``effort`` scales the number of samples.

    Returns None for a claim about exact numbers. SAMPLED: no comparison speaks against it, and most of its
    inequalities are confirmed; REFUTED: at the stated rate; UNKNOWN: too noisy, suspicious, or not
    applicable.
    """
    if deterministic(claim):
        return None
    started = time.perf_counter()
    try:
        comparisons, samples = _comparisons(claim, seed, effort)
        found = _judged(comparisons, samples)
    except (NotApplicable, InvalidInput) as error:
        found = _evidence(Verdict.UNKNOWN, "nothing", f"not applicable: {error}")
    return Evidence(**{**found.__dict__, "seed": seed, "seconds": time.perf_counter() - started})


def _evidence(outcome: Verdict, scope: str, detail: str, witness: dict[str, Any] | None = None) -> Evidence:
    return Evidence("monte_carlo", outcome, scope, detail, witness=witness)


# --- what is compared ----------------------------------------------------------------------------


def _comparisons(claim: Claim, seed: int, effort: float) -> tuple[list[Comparison], int]:
    statement = claim.bound_statement
    if statement.has(Correction):
        raise NotApplicable("the 1/d term of an expectation is not estimated from samples")
    relations = list(_conjuncts(statement, sympy.true))
    region = Region(claim.domain, claim.free_symbols)
    found: list[Comparison] = []
    samples = 0
    for parameters in _parameters(region, statement):
        values = {s: sympy.sympify(v) for s, v in parameters.items()}
        points = _points(region, parameters)
        if not points:
            continue
        here = [(r.xreplace(values), premise.xreplace(values)) for r, premise in relations]
        estimates = Estimates(here, parameters, points, seed, effort)
        samples = max(samples, estimates.samples)
        for relation, premise in here:
            found += _compare(relation, premise, parameters, points, estimates)
    if not found:
        raise NotApplicable("no point of the domain was reached")
    return found, samples


def _conjuncts(statement: Basic, premise: Basic) -> Iterator[tuple[Relational, Basic]]:
    """The relations that the statement asserts together, each with a premise on the symbols."""
    if isinstance(statement, sympy.And):
        for part in statement.args:
            yield from _conjuncts(part, premise)
    elif isinstance(statement, sympy.Implies) and not statement.args[0].has(Quantity):
        yield from _conjuncts(statement.args[1], sympy.And(premise, statement.args[0]))
    elif isinstance(statement, (sympy.Lt, sympy.Le, sympy.Gt, sympy.Ge, sympy.Eq)):
        yield statement, premise
    else:
        raise NotApplicable(f"no statistical test of {type(statement).__name__}")


def _parameters(region: Region, statement: Basic) -> Iterator[dict[Symbol, Any]]:
    """Choices of what the model depends on: real symbols, the width, the length where it matters."""
    quantities = statement.atoms(Quantity)
    symbols = {s for q in quantities for tree in q.args[3:] for s in tree.free_symbols}
    causal = all(q.decoder is not None and isinstance(q.decoder.mask, Causal) for q in quantities)
    ranges = region.ranges()
    choices: list[dict[Symbol, Any]] = [dict(values) for values in region.simple_reals(PARAMETERS)]
    for symbol, usual, matters in ((d, WIDTHS, d in symbols), (n, LENGTHS, not causal)):
        if not matters:
            continue
        if symbol not in region.integers:
            raise NotApplicable(f"the quantities depend on {symbol}, which the claim doesn't mention")
        allowed = [v for v in usual if v in ranges[symbol]] or [int(ranges[symbol].low or 1)]
        choices = [{**choice, symbol: value} for choice in choices for value in allowed]
    yield from choices


def _points(region: Region, parameters: Mapping[Symbol, Any]) -> list[dict[Symbol, int]]:
    """Integer points at these parameters, all of them or those up to a cap."""
    reals = {s: v for s, v in parameters.items() if not s.is_integer}
    whole = {s: v for s, v in parameters.items() if s.is_integer}
    points, _ = region.some_integer_points(reals, POINTS, whole)
    return points


class Estimates:
    """Batch means of every model that some relations refer to, at fixed parameters."""

    def __init__(
        self,
        relations: Sequence[tuple[Relational, Basic]],
        parameters: Mapping[Symbol, Any],
        points: Sequence[Mapping[Symbol, int]],
        seed: int,
        effort: float,
    ) -> None:
        quantities = {q for relation, _ in relations for q in relation.atoms(Quantity)}
        self.depth = max(q.layer for q in quantities)
        self.length = max(_largest(quantities, points), 1)
        self.width = parameters.get(d)
        self.given_length = parameters.get(n)
        size = self.depth * self.length**3
        share = effort * min(max(WORK / size, SAMPLES[0]), SAMPLES[1]) / BATCHES
        self.samples = BATCHES * max(2, int(share))
        self.seed = seed
        self._known: dict[tuple[Any, ...], Array] = {}

    def batches(self, quantity: Quantity) -> Array:
        """Shape (BATCHES, layers, n, n), or (1, layers, n, n) for an exact number."""
        name = next((text for kind, text in _NAMES.items() if isinstance(quantity, kind)), None)
        if name is None:
            raise NotApplicable(f"no expectation of {type(quantity).__name__} is estimated")
        key = (name, quantity.args[3], quantity.args[4])
        if key not in self._known:
            self._known[key] = self._estimate(name, quantity)
        return self._known[key]

    def _estimate(self, name: Any, quantity: Quantity) -> Array:
        decoder, inputs = Record.read(quantity.args[3]), Record.read(quantity.args[4])
        count = self.length
        if not isinstance(decoder.mask, Causal) and self.given_length is not None:
            count = int(self.given_length)
        if isinstance(inputs, Equicorrelated):
            exact = mean_field(decoder, inputs.alpha, count, self.depth, self.width)
            return getattr(exact, name)[None]
        # One seed for all models: what they share is compared on the same inputs.
        found = expected_scores(
            decoder, inputs, count, self.depth, self.samples, self.seed, quantity=name, batches=BATCHES
        )
        assert found.batch_means is not None
        return found.batch_means


def _largest(quantities: set[Quantity], points: Sequence[Mapping[Symbol, int]]) -> int:
    """The largest position that the quantities take at the points."""
    largest = 1
    for quantity in quantities:
        for index in (quantity.query, quantity.key):
            if index.free_symbols <= set(points[0]):
                symbols = sorted(index.free_symbols, key=str)
                values = sympy.lambdify(symbols, index, "math")
                largest = max([largest, *(int(values(*(p[s] for s in symbols))) for p in points)])
            # else: the index of a sum, which runs over positions up to those of the point
    return max([largest, *(v for p in points for s, v in p.items() if s.name != "d")])


def _compare(
    relation: Relational,
    premise: Basic,
    parameters: Mapping[Symbol, Any],
    points: Sequence[dict[Symbol, int]],
    estimates: Estimates,
) -> list[Comparison]:
    """The relation at every point where its premise holds."""
    inside = [p for p in points if premise is sympy.true or premise.subs(p) == sympy.true]
    if not inside:
        return []
    if not relation.has(sympy.Sum, sympy.Product, sympy.Piecewise):
        return _at_points(relation, parameters, inside, estimates)
    found: list[Comparison] = []
    for point in inside[:UNFOLDED]:
        unfolded = relation.subs(point).doit()
        if isinstance(unfolded, Relational):
            found += _at_points(unfolded, {**parameters, **point}, [{}], estimates)
        elif unfolded != sympy.true:
            raise NotApplicable(f"{relation} can't be evaluated")
    return found


def _at_points(
    relation: Relational,
    parameters: Mapping[Symbol, Any],
    points: Sequence[dict[Symbol, int]],
    estimates: Estimates,
) -> list[Comparison]:
    quantities = sorted(relation.atoms(Quantity), key=str)
    if not quantities:
        raise NotApplicable(f"{relation} is about no expectation")
    stand_ins = [sympy.Dummy() for _ in quantities]
    symbols = sorted({s for p in points for s in p}, key=str)
    replaced = relation.xreplace(dict(zip(quantities, stand_ins, strict=True)))
    if isinstance(replaced, Relational) and replaced.free_symbols - set(stand_ins) - set(symbols):
        raise NotApplicable(f"{relation} has symbols without a value")
    columns = {s: np.array([p[s] for p in points]) for s in symbols}
    values = [_gathered(q, columns, len(points), estimates) for q in quantities]
    left, right = (
        _function([*stand_ins, *symbols], side.xreplace(dict(zip(quantities, stand_ins, strict=True))))
        for side in relation.args
    )

    def sides(selected: Sequence[Array]) -> tuple[Array, Array]:
        shape = (len(points),)
        arguments = [*selected, *(columns[s] for s in symbols)]
        return tuple(np.broadcast_to(side(*arguments), shape) for side in (left, right))  # type: ignore[return-value]

    difference, error = _jackknife(sides, values)
    return [
        Comparison(relation, {**parameters, **point}, float(a), float(b))
        for point, a, b in zip(points, difference, error, strict=True)
    ]


def _function(arguments: Sequence[Symbol], expression: Basic) -> Callable[..., Any]:
    """``expression`` as a NumPy function; special functions of numbers alone are worked out first.

    Raises:
        NotApplicable: a special function is left.
    """
    numbers = {part: part.evalf(20) for part in expression.atoms(sympy.Function) if not part.free_symbols}
    plain = expression.xreplace({part: value for part, value in numbers.items() if value.is_Float})
    unknown = {type(part) for part in plain.atoms(sympy.Function)} - _NUMPY
    if unknown:
        raise NotApplicable(f"no numerical form of {', '.join(sorted(kind.__name__ for kind in unknown))}")
    return sympy.lambdify(arguments, plain, "numpy")


_NUMPY = {sympy.exp, sympy.log, sympy.Abs, sympy.Max, sympy.Min, sympy.sign, sympy.Piecewise, sympy.sin, sympy.cos}
_NUMPY |= {sympy.tanh, sympy.sinh, sympy.cosh, sympy.atan, sympy.floor, sympy.ceiling}


def _gathered(quantity: Quantity, columns: Mapping[Symbol, Array], count: int, estimates: Estimates) -> Array:
    """The batch means of a quantity at all points, shape (batches, points)."""
    rows, keys = (
        np.broadcast_to(_function(list(columns), index)(*columns.values()), (count,)).astype(int)
        for index in (quantity.query, quantity.key)
    )
    batches = estimates.batches(quantity)
    if min(rows.min(), keys.min()) < 1 or max(rows.max(), keys.max()) > batches.shape[-1]:
        raise NotApplicable(f"{quantity} is asked for beyond the positions 1 to {batches.shape[-1]}")
    values = batches[:, quantity.layer - 1, rows - 1, keys - 1]
    if not np.isfinite(values).all():
        raise NotApplicable(f"{quantity} is asked for where the mask hides the key")
    return values


def _jackknife(sides: Callable[[Sequence[Array]], tuple[Array, Array]], values: Sequence[Array]) -> tuple[Array, Array]:
    """Bias-corrected difference of the sides, and its standard error, from batch means."""
    means = [v.mean(axis=0) for v in values]
    left, right = sides(means)
    whole = left - right
    without = []
    for batch in range(BATCHES):
        # A quantity that is exact has one row and is the same in every batch.
        part = [
            m if len(v) == 1 else (BATCHES * m - v[batch]) / (BATCHES - 1) for m, v in zip(means, values, strict=True)
        ]
        a, b = sides(part)
        without.append(a - b)
    left_out = np.stack(without)
    average = left_out.mean(axis=0)
    spread = np.sqrt((BATCHES - 1) / BATCHES * ((left_out - average) ** 2).sum(axis=0))
    floor = ROUNDING * np.maximum(np.maximum(np.abs(left), np.abs(right)), 1)
    estimate = BATCHES * whole - (BATCHES - 1) * average
    if not (np.isfinite(estimate).all() and np.isfinite(spread).all()):
        raise NotApplicable("an estimate is not finite")
    return estimate, np.hypot(spread, floor)


# --- the judgement -------------------------------------------------------------------------------


def _judged(comparisons: Sequence[Comparison], samples: int) -> Evidence:
    levels = Levels(len(comparisons))

    def beyond(rate: float) -> list[Comparison]:
        return [c for c in comparisons if c.against > levels.critical(rate, two_sided=_two_sided(c))]

    scope = f"{_range(comparisons)}; {len(comparisons)} comparisons, {samples} samples in {BATCHES} batches each"
    wrong = beyond(REFUTE)
    if wrong:
        return _refuted(wrong, scope)
    inequalities = [c for c in comparisons if not _two_sided(c)]
    confirmed = sum(-c.against > levels.critical(SUSPECT, two_sided=False) for c in inequalities)
    smallest = max(c.error * (levels.critical(REFUTE, two_sided=_two_sided(c)) + levels.power) for c in comparisons)
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
    if confirmed < CONFIRMED * len(inequalities):
        return _evidence(Verdict.UNKNOWN, scope, f"too noisy to confirm or refute; {detail}")
    return _evidence(Verdict.SAMPLED, scope, f"nothing against it; {detail}")


def _two_sided(comparison: Comparison) -> bool:
    return isinstance(comparison.relation, sympy.Eq)


def _range(comparisons: Sequence[Comparison]) -> str:
    """Which values of each symbol were tried."""
    tried: dict[str, set[Any]] = {}
    for comparison in comparisons:
        for symbol, value in comparison.point.items():
            tried.setdefault(symbol.name, set()).add(sympy.sympify(value))
    if not tried:
        return "the single case"
    return ", ".join(f"{name} in {_listed(sorted(values))}" for name, values in sorted(tried.items()))


def _listed(values: Sequence[Any]) -> str:
    return f"{{{', '.join(map(str, values))}}}" if len(values) <= 4 else f"{values[0]} .. {values[-1]}"


def _refuted(wrong: Sequence[Comparison], scope: str) -> Evidence:
    """The first of the points that speak against the claim beyond the rate; they come in order."""
    first = wrong[0]
    return _evidence(
        Verdict.REFUTED,
        scope,
        f"at {_where(first)} left minus right of {sympy.sstr(first.relation)} is {first.difference:.6g} +- "
        f"{first.error:.2g}, {first.against:.1f} standard errors on the wrong side; {len(wrong)} comparisons "
        f"are beyond the critical value; chance of any such in a true claim at most {REFUTE:g} "
        f"(t, {BATCHES - 1} degrees of freedom, Bonferroni)",
        witness={s.name: sympy.sympify(v) for s, v in first.point.items()},
    )


def _where(comparison: Comparison) -> str:
    return ", ".join(f"{s.name} = {v}" for s, v in comparison.point.items()) or "the single case"
