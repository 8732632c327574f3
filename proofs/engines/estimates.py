"""The sides of relations between expectations, estimated from independent batches at points of a domain."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from flint import arb, fmpq
from numpy.typing import NDArray

from maskproof.numerics.gram import mean_field
from maskproof.numerics.monte_carlo import expected_scores
from maskproof.proofs.engines.evaluate import Evaluator
from maskproof.proofs.engines.floats import Array, Columns, Floats
from maskproof.proofs.engines.intervals import Enclosed, degree
from maskproof.proofs.engines.models import decoder, inputs
from maskproof.proofs.engines.numbers import Real, fraction, integer, printable
from maskproof.proofs.engines.question import Question
from maskproof.proofs.engines.region import Region
from maskproof.proofs.engines.truth import NotApplicable, Undefined
from maskproof.proofs.terms import terms as t
from maskproof.proofs.terms.text import text

BATCHES = 64
SAMPLES = (10_048, 32_768)  # fewest and most, over all batches; fewer are not enough for control variates of order 3
WORK = 3.2e9  # samples * layers * tokens^3
LARGEST = 2e7  # layers * tokens^3
POINTS = 1500  # integer points at each choice of parameters
PARAMETERS = 3  # choices of real parameters
WIDTHS = (8, 64, 1024)  # tried where the width is a variable
LENGTHS = (3, 8)  # tried where the number of tokens is a variable and matters
ROUNDING = 2.0**-40  # relative; differences below it are not told from zero
_STILL = 1.5  # times the error of rounding; what fluctuates has a larger one
CHECKED = 64  # bits, of the conditions of a relation

_NAMES = {"score": "scores", "weight": "weights", "gram": "gram"}
Values = dict[t.Variable, Fraction]


@dataclass(frozen=True)
class Comparison:
    """One relation at one point: the estimated difference of its sides.

    Attributes:
        relation: the relation.
        point: the values of all variables.
        difference: estimate of left minus right.
        error: its standard error.
        still: whether it fluctuates no more than rounding does.
        within: for what is not linear in expectations, encloses left minus right where each of these is known to so
            many standard errors; None for what is linear, of which ``difference`` and ``error`` tell everything.
    """

    relation: t.Relation
    point: Mapping[t.Variable, Fraction]
    difference: float
    error: float
    still: bool = False
    within: Callable[[float], Real] | None = None

    @property
    def two_sided(self) -> bool:
        """Whether a difference of either sign speaks against it."""
        return self.relation.kind == "="

    @property
    def strict(self) -> bool:
        """Whether equality speaks against it."""
        return self.relation.kind == "<"

    @property
    def against(self) -> float:
        """How many standard errors it lies on the wrong side; negative on the right side."""
        z = self.difference / self.error
        return abs(z) if self.two_sided else z

    def fails(self, errors: float) -> bool:
        """Whether it certainly fails where every expectation lies within so many standard errors of its estimate."""
        if self.within is None:
            return True
        difference = self.within(errors)
        return bool(difference != 0) if self.two_sided else bool(difference > 0)


class Meaningless(Exception):
    """The statement, or the domain, has no value at a point of the domain."""


def comparisons(question: Question, seed: int, effort: float) -> tuple[list[Comparison], int, int]:
    """Every relation at every point that is looked at, the number of samples, and that of expectations.

    Raises:
        NotApplicable: the statement is of a form that is not tested, or too large.
        Meaningless: there is a point without a value.
        InvalidInput: the parameters are not those of a model.
    """
    if "Correction" in question.statement.heads:
        raise NotApplicable("the 1/d term of an expectation is not estimated from samples")
    relations = list(_asserted(question.statement, t.TRUE))
    region = Region(question)
    found: list[Comparison] = []
    samples = expectations = 0
    for parameters in _parameters(region):
        reals = {v: x for v, x in parameters.items() if not v.sort.integral}
        given = {v: int(x) for v, x in parameters.items() if v.sort.integral}
        points, _ = region.some_integer_points(reals, POINTS, given)
        if region.hole is not None:
            raise Meaningless(region.hole)
        if not points:
            continue
        everywhere = [{**reals, **{v: Fraction(x) for v, x in point.items()}} for point in points]
        estimates = Estimates(relations, parameters, everywhere, seed, effort)
        samples = max(samples, estimates.samples)
        for relation, premise in relations:
            found += _compare(relation, premise, everywhere, estimates)
        expectations += estimates.count
    if not found:
        raise NotApplicable("no point of the domain was reached")
    return found, samples, expectations


def _asserted(statement: t.Statement, premise: t.Statement) -> Iterator[tuple[t.Relation, t.Statement]]:
    """The relations that the statement asserts together, each with a premise on the variables."""
    if isinstance(statement, t.And):
        for part in statement.statements:
            yield from _asserted(part, premise)
    elif isinstance(statement, t.Implies) and "Entry" not in statement.premise.heads:
        yield from _asserted(statement.conclusion, t.And((premise, statement.premise)))
    elif isinstance(statement, t.Relation) and statement.kind != "!=":
        if "Entry" not in statement.heads:
            raise NotApplicable(f"{text(statement)} is about no expectation")
        yield statement, premise
    else:
        raise NotApplicable(f"no statistical test of {type(statement).__name__}: {text(statement)}")


def _parameters(region: Region) -> Iterator[Values]:
    """Choices of what the models depend on: real variables, the width, the length where it matters."""
    entries = [part for part in region.question.statement.walk() if isinstance(part, t.Entry)]
    widths = frozenset[t.Variable]().union(*(w.free for e in entries for w in (e.model.width, e.model.law.width) if w))
    lengths = frozenset[t.Variable]().union(*(e.model.tokens.free for e in entries if e.model.tokens))
    ranges = region.ranges()
    choices: list[Values] = [dict(values) for values in region.simple_reals(PARAMETERS)]
    moving = frozenset[t.Variable]().union(*(e.model.free for e in entries)) - widths - lengths - set(region.reals)
    if moving:
        names = ", ".join(sorted(v.name for v in moving))
        raise NotApplicable(f"a model that depends on the position {names}")
    for variable in sorted(widths | lengths, key=lambda v: v.name):
        usual = LENGTHS if variable in lengths else WIDTHS
        low = ranges[variable].low or Fraction(1)
        allowed = [Fraction(v) for v in usual if v in ranges[variable]] or [low]
        choices = [{**choice, variable: value} for choice in choices for value in allowed]
    yield from choices


class Estimates:
    """Batch means of every model that some relations refer to, at fixed parameters."""

    def __init__(
        self,
        relations: Sequence[tuple[t.Relation, t.Statement]],
        parameters: Values,
        points: Sequence[Mapping[t.Variable, Fraction]],
        seed: int,
        effort: float,
    ) -> None:
        entries = {part for relation, _ in relations for part in relation.walk() if isinstance(part, t.Entry)}
        self.seed = seed
        self._numbers = Floats(1, _no_entries)
        self._fixed: Columns = {v: [fraction(x)] for v, x in parameters.items()}
        self._known: dict[tuple[str, t.Model], Array] = {}
        self.depth = max(int(self._value(entry.layer)) for entry in entries)
        self.length = _largest(entries, points)
        size = self.depth * self.length**3
        if size > LARGEST:
            raise NotApplicable(f"{self.length} tokens in {self.depth} layers are too many to sample")
        share = effort * min(max(WORK / size, SAMPLES[0]), SAMPLES[1]) / BATCHES
        self.samples = BATCHES * max(2, int(share))

    def _value(self, term: t.Term) -> Any:
        """The value of a parameter as SymPy's; an irrational one is rounded."""
        (value,) = self._numbers.plain(term, self._fixed, np.ones(1, dtype=bool))
        if not isinstance(value, fmpq):
            middle = value.mid()
            if not middle.is_finite():
                raise NotApplicable(f"{text(term)} has no value")
            value = middle.fmpq()
        return printable(value)

    def batches(self, entry: t.Entry) -> Array:
        """Shape (BATCHES, layers, n, n), or (1, layers, n, n) for an exact number."""
        name = _NAMES.get(entry.kind)
        if name is None:
            raise NotApplicable(f"no expectation of {entry.kind} is estimated: {text(entry)}")
        if (name, entry.model) not in self._known:
            self._known[name, entry.model] = self._estimate(name, entry.model)
        return self._known[name, entry.model]

    def _estimate(self, name: Any, model: t.Model) -> Array:
        made, law = decoder(model, self._value), inputs(model.law, self._value)
        count = self.length if model.tokens is None else int(self._value(model.tokens))
        if model.law.kind == "equicorrelated":
            width = None if model.width is None else int(self._value(model.width))
            exact = mean_field(made, law.alpha, count, self.depth, width)
            return getattr(exact, name)[None]
        # One seed for all models: what they share is compared on the same inputs.
        found = expected_scores(made, law, count, self.depth, self.samples, self.seed, quantity=name, batches=BATCHES)
        assert found.batch_means is not None
        return found.batch_means

    def left_out(
        self, entry: t.Entry, rows: NDArray[np.int64], keys: NDArray[np.int64], asked: NDArray[np.bool_]
    ) -> Array:
        """The mean of all batches, then those without one of them, shape (BATCHES + 1, points)."""
        batches = self.batches(entry)
        n, layer = batches.shape[-1], int(self._value(entry.layer)) - 1
        if ((rows[asked] > n) | (keys[asked] > n) | (rows[asked] < 1) | (keys[asked] < 1)).any():
            raise NotApplicable(f"{text(entry)} is asked for beyond the positions 1 to {n}")
        values = batches[:, layer, np.where(asked, rows, 1) - 1, np.where(asked, keys, 1) - 1]
        if not np.isfinite(values[:, asked]).all():
            raise NotApplicable(f"{text(entry)} is asked for where the mask hides the key")
        mean = values.mean(axis=0)
        without = (BATCHES * mean - values) / (BATCHES - 1) if len(values) > 1 else np.tile(mean, (BATCHES, 1))
        return np.vstack([mean[None], without])

    def interval(self, kind: str, model: t.Model, layer: int, row: int, column: int, errors: float) -> arb:
        """The mean over all batches of one quantity, plus or minus so many standard errors and rounding."""
        batches = self._known[_NAMES[kind], model][:, layer - 1, row - 1, column - 1]
        mean = float(batches.mean())
        error = float(batches.std(ddof=1)) / BATCHES**0.5 if len(batches) > 1 else 0.0
        return arb(mean, errors * error + ROUNDING * max(abs(mean), 1))

    @property
    def count(self) -> int:
        """How many expectations are estimated."""
        return sum(batches[0].size for batches in self._known.values())


def _no_entries(*_: Any) -> Array:
    raise NotApplicable("a parameter depends on a quantity")


def _largest(entries: set[t.Entry], points: Sequence[Mapping[t.Variable, Fraction]]) -> int:
    """The largest position that the quantities take at the points."""
    largest = max([1, *(int(x) for point in points for v, x in point.items() if v.sort.integral and v.name != "d")])
    columns: Columns = {v: [fraction(point[v]) for point in points] for v in points[0]}
    floats, everywhere = Floats(len(points), _no_entries), np.ones(len(points), dtype=bool)
    for entry in entries:
        for place in (entry.query, entry.key):
            if place.free <= columns.keys():
                found = (integer(x) for x in floats.plain(place, columns, everywhere))
                largest = max([largest, *(x for x in found if x is not None)])
            # else: the index of a sum, which runs over positions up to those of the point
    return largest


def _compare(
    relation: t.Relation, premise: t.Statement, points: Sequence[Values], estimates: Estimates
) -> list[Comparison]:
    """The relation at every point where its premise holds."""
    inside = [point for point in points if _meant(relation, premise, point)]
    if not inside:
        return []
    columns: Columns = {v: [fraction(point[v]) for point in inside] for v in inside[0]}
    floats = Floats(len(inside), estimates.left_out)
    left, right = (
        np.broadcast_to(floats.value(side, columns), (BATCHES + 1, len(inside)))
        for side in (relation.left, relation.right)
    )
    difference, error = jackknife(left, right)
    still = error < _STILL * rounding(left, right)
    found = [
        Comparison(relation, point, float(a), float(b), bool(c))
        for point, a, b, c in zip(inside, difference, error, still, strict=True)
    ]
    if max(degree(relation.left), degree(relation.right)) < 2:
        return found
    enclosed = Enclosed(t.minus(relation.left, relation.right), estimates.interval)
    return [replace(comparison, within=partial(enclosed.at, comparison.point)) for comparison in found]


def _meant(relation: t.Relation, premise: t.Statement, point: Values) -> bool:
    """Whether the premise holds at a point.

    Raises:
        Meaningless: it has no value there, or the relation has none though it should.
    """
    whole = {v: int(x) for v, x in point.items() if v.sort.integral}
    reals = {v: x for v, x in point.items() if not v.sort.integral}
    holds = Evaluator(premise).at(reals).decide(whole).truth if premise != t.And((t.TRUE,)) else True
    having = Evaluator(relation).at(reals).has_value(whole, CHECKED) if holds is True else True
    for truth in (holds, having):
        if isinstance(truth, Undefined):
            raise Meaningless(truth.at({v.name: x for v, x in point.items()}, "statement"))
    return holds is True


def jackknife(left: Array, right: Array) -> tuple[Array, Array]:
    """Bias-corrected difference of two sides, and its standard error.

    Args:
        left: calculated from the means of all batches, then of all but one, shape (BATCHES + 1, points).
        right: the same for the other side.
    """
    difference = left - right
    whole, left_out = difference[0], difference[1:]
    average = left_out.mean(axis=0)
    spread = np.sqrt((BATCHES - 1) / BATCHES * ((left_out - average) ** 2).sum(axis=0))
    estimate = BATCHES * whole - (BATCHES - 1) * average
    if not (np.isfinite(estimate).all() and np.isfinite(spread).all()):
        raise NotApplicable("an estimate is not finite")
    return estimate, np.hypot(spread, rounding(left, right))


def rounding(left: Array, right: Array) -> Array:
    """The error of a difference that comes from rounding; arguments as for ``jackknife``."""
    return ROUNDING * np.maximum(np.maximum(np.abs(left[0]), np.abs(right[0])), 1)
