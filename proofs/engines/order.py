"""Claims that neighbouring scores are in order, over an interval of one parameter.

Over an interval, the balls of two neighbouring scores overlap long before the scores do, and bisecting it does not
end. Their difference as a Taylor polynomial with an enclosed remainder decides what they cannot, up to alpha = 1, which
is left out. Statements of one shape are recognised:

    S_ij < S_i,j+1  and the same in other layers, or          (every step rises)
    S_ij > S_i,j+1  at a single i and j,                       (one step falls)

about one decoder, with at most one of alpha, beta and the residual weight left open.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from maskproof.numerics.certify import Order, Pair, judge, steps
from maskproof.numerics.series import Interval
from maskproof.proofs.engines.ball_arithmetic import mask, too_large
from maskproof.proofs.engines.numbers import printable
from maskproof.proofs.engines.ranges import Range, difference, linear_form
from maskproof.proofs.engines.region import Region
from maskproof.proofs.terms import terms as t
from maskproof.theory.decoder import Decoder

PRECISION = 64  # bits at exact parameters; doubled up to CAP
CAP = 1024
FLOATS = 53  # bits over intervals
EXPANSIONS = 128  # at most
FINEST = Fraction(1, 10**9)  # no smaller piece of an interval is looked at
STEPS = 100_000  # no larger statement is looked at

Part = tuple[Fraction, Fraction]


@dataclass(frozen=True)
class _Neighbours(Order):
    """The steps at chosen pairs only."""

    chosen: tuple[Pair, ...] = ()

    def pairs(self) -> Iterator[Pair]:
        """The chosen (layer, i, j)."""
        yield from self.chosen


@dataclass(frozen=True)
class Question:
    """A claim of the shape above.

    Attributes:
        order: the decoder and the steps that the claim is about.
        rising: whether it claims that all of them rise; else that the only one falls.
        points: for each step an integer point of the claim that speaks of it.
        size: the number of integer points.
        parameter: what is open: "alpha", "beta", "residual", or None.
        variable: the claim's variable for it.
        reach: the range of that variable.
    """

    order: _Neighbours
    rising: bool
    points: Mapping[Pair, Mapping[t.Variable, int]]
    size: int
    parameter: str | None = None
    variable: t.Variable | None = None
    reach: Range | None = None


@dataclass(frozen=True)
class Found:
    """What expansions settle.

    Attributes:
        certified: parts of the interval on which the claim is certain; at exact parameters empty.
        open: the parts that are left.
        whole: whether nothing is left.
        expansions: how many were made.
        precision: in bits.
        witness: a value of the parameter and a step at which the claim is certainly false.
        degrees: lowest and highest degree of the polynomials.
    """

    certified: tuple[Part, ...]
    open: tuple[Part, ...]
    whole: bool
    expansions: int
    precision: int
    witness: tuple[Fraction | None, Pair] | None = None
    degrees: tuple[int, int] = (0, 0)


# --- the shape -----------------------------------------------------------------------------------


def recognise(region: Region) -> Question | None:
    """The statement of a region's claim as a question about steps, or None if it is of another shape."""
    statement = region.question.statement
    relations = statement.statements if isinstance(statement, t.And) else (statement,)
    read = [_step(relation) for relation in relations]
    found = [step for step in read if step is not None]
    if len(found) < len(read) or not found or not region.finite or len(region.reals) > 1 or not region.total:
        return None
    models = {score.model for score, _ in found}
    directions = {rising for _, rising in found}
    if len(models) > 1 or len(directions) > 1:
        return None
    score, rising = found[0]
    model = score.model
    if model.law.kind != "equicorrelated" or model.position is not None:
        return None
    if model.width is not None or model.tokens is not None:  # nor the masks whose rows depend on the number of tokens
        return None
    points, size = _points([score for score, _ in found], region)
    if not points or not (rising or len(points) == 1):
        return None
    if too_large(max(i for _, i, _ in points), max(layer for layer, _, _ in points)):
        return None
    return _asked(points, size, rising, model, region)


def _step(relation: t.Statement) -> tuple[t.Entry, bool] | None:
    """The score of the earlier key and whether the step from it is said to rise."""
    if not (isinstance(relation, t.Relation) and relation.kind == "<"):
        return None
    smaller, larger = relation.left, relation.right
    if not (isinstance(smaller, t.Entry) and isinstance(larger, t.Entry)):
        return None
    if not (smaller.kind == larger.kind == "score" and smaller.model == larger.model):
        return None
    if smaller.layer != larger.layer or difference(smaller.query, larger.query) != ({}, 0):
        return None
    match difference(larger.key, smaller.key):
        case ({}, Fraction(numerator=1, denominator=1)):
            return smaller, True
        case ({}, Fraction(numerator=-1, denominator=1)):
            return larger, False
    return None


def _at(term: t.Term, point: Mapping[t.Variable, int]) -> int | None:
    """A linear term at an integer point, None if it is not an integer there."""
    form = linear_form(term)
    if form is None or not form[0].keys() <= point.keys():
        return None
    value = form[1] + sum(factor * point[v] for v, factor in form[0].items())
    return int(value) if value.denominator == 1 else None


def _points(scores: Sequence[t.Entry], region: Region) -> tuple[dict[Pair, Mapping[t.Variable, int]], int]:
    """The steps at all integer points of the region, none if one of them is no step between visible keys."""
    found: dict[Pair, Mapping[t.Variable, int]] = {}
    size = 0
    for size, point in enumerate(region.integer_hull(), start=1):
        if size * len(scores) > STEPS:
            return {}, 0
        for score in scores:
            layer, i, j = (_at(part, point) for part in (score.layer, score.query, score.key))
            if layer is None or i is None or j is None or i < 1 or layer < 1:
                return {}, 0
            keys = mask(score.model.mask).keys(i, i)
            if j not in keys or j + 1 not in keys:
                return {}, 0
            found.setdefault((layer, i, j), point)
    return found, size


def _asked(
    points: Mapping[Pair, Mapping[t.Variable, int]], size: int, rising: bool, model: t.Model, region: Region
) -> Question | None:
    """The question, unless a parameter is a formula, or out of the reach of the expansions."""
    values = {"alpha": model.law.alpha, "beta": model.beta, "residual": model.residual}
    free = [name for name, value in values.items() if not isinstance(value, t.Number)]
    if [values[name] for name in free] != list(region.reals) or not isinstance(model.scale, t.Number):
        return None
    closed = {name: Fraction(0) if name in free else value.value for name, value in values.items()}  # type: ignore[attr-defined]
    n = max(i for _, i, _ in points)
    if not _exists(closed, model.scale.value, n):
        return None
    decoder = Decoder(
        beta=printable(closed["beta"]),
        residual=printable(closed["residual"]),
        norm=model.norm,  # type: ignore[arg-type]
        scale=printable(model.scale.value),
        mask=mask(model.mask),
    )
    layers = tuple({layer for layer, _, _ in points})
    order = _Neighbours(n, layers, decoder, printable(closed["alpha"]), chosen=tuple(sorted(points)))
    if not free:
        return Question(order, rising, points, size)
    reach = region.ranges()[region.reals[0]]
    if closed["alpha"] < 0 or not _allowed(free[0], reach):  # in whatever parameter, expansions start at alpha = 0
        return None
    return Question(order, rising, points, size, free[0], region.reals[0], reach)


def _exists(values: Mapping[str, Fraction], scale: Fraction, n: int) -> bool:
    """Whether there is such a model of n tokens."""
    alpha, beta, residual = values["alpha"], values["beta"], values["residual"]
    return alpha < 1 and 1 + (n - 1) * alpha >= 0 and beta >= 0 and residual >= 0 and scale > 0


def _allowed(name: str, reach: Range) -> bool:
    """Whether expansions in this parameter reach there: it is nowhere below 0, and alpha not above 1."""
    low, high = reach.low, reach.high
    return low is not None and high is not None and 0 <= low <= high and (name != "alpha" or low < high <= 1)


# --- the answer ----------------------------------------------------------------------------------


def settle(question: Question) -> Found:
    """Decide the question over the whole range of its parameter, or over as much of it as the budget allows."""
    reach = question.reach
    if question.parameter is None or reach is None or reach.low is None or reach.high is None:
        return _at_exact_parameters(question)
    found = _over_interval(question, question.parameter, Interval(reach.low, reach.high))
    if question.parameter == "alpha" and 1 in reach:  # there all scores are equal, and nothing was said of it
        return replace(found, open=(*found.open, (Fraction(1), Fraction(1))), whole=False)
    return found


def _over_interval(question: Question, name: str, whole: Interval) -> Found:
    """Expand over the interval, and over parts of it where that settles too little."""
    todo: list[tuple[Interval, int | None]] = [(whole, None)]
    certified: list[Part] = []
    left: list[Part] = []
    degrees: set[int] = set()
    expansions = 0
    while todo:
        interval, degree = todo.pop()
        if expansions >= EXPANSIONS:
            left.append((interval.low, interval.high))
            continue
        expansions += 1
        judged = judge(question.order, {name: interval}, {name: FINEST}, advised=degree)
        degrees |= {judged.used} if judged.pieces else set()
        todo += [(box[name], judged.degree) for box in reversed(judged.open)]
        for piece in judged.pieces:
            part = piece.box[name]
            if piece.answer is (not question.rising):
                pair = piece.pair or min(question.points)
                return Found((), (), False, expansions, FLOATS, (part.centre, pair))
            (left if piece.answer is None else certified).append((part.low, part.high))
    span = (min(degrees, default=0), max(degrees, default=0))
    return Found(tuple(sorted(certified)), tuple(sorted(left)), not left, expansions, FLOATS, None, span)


def _at_exact_parameters(question: Question) -> Found:
    found = steps(question.order, PRECISION, CAP)
    asked, opposite = (found.rising, found.falling) if question.rising else (found.falling, found.rising)
    witness = (None, opposite[0]) if opposite else None
    return Found((), (), len(asked) == len(question.points), 0, found.precision, witness)
