"""The conditions under which a term has a value, as data: the one place that says what they are.

A term without a value makes the relation that it stands in neither true nor false. The kernel demands all conditions of
every line; the ball engine looks at the same list at each point.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from maskproof.proofs.terms import terms as t
from maskproof.proofs.terms.derivatives import derivative
from maskproof.proofs.terms.terms import ONE, ZERO, Statement, Term, at_most, less, number, plus, unequal


@dataclass(frozen=True)
class Range:
    """The values of a bound variable: from ``low`` to ``high``."""

    index: t.Variable
    low: Term
    high: Term

    @property
    def nodes(self) -> tuple[Term, ...]:
        """The index and the ends."""
        return self.index, self.low, self.high


@dataclass(frozen=True)
class Condition:
    """``statement`` must hold for ``part`` to have a value, for all values of the bound variables in ``ranges``."""

    statement: Statement
    part: Term
    ranges: tuple[Range, ...] = ()


@lru_cache(maxsize=4096)
def conditions(term: Term) -> tuple[Condition, ...]:
    """What must hold for ``term`` to have a value; each condition once, inner parts first.

    >>> from maskproof.proofs.terms.terms import Power, Sort, Variable
    >>> [c.statement.kind for c in conditions(Power(Variable("alpha", Sort.REAL), -1))]
    ['!=']
    """
    return tuple(dict.fromkeys(c for c in _conditions(term) if not obvious(c.statement)))


def obvious(statement: Statement) -> bool:
    """Whether it holds at first sight, by the numbers or the sorts of variables in it."""
    match statement:
        case t.Relation(kind=kind, left=t.Number(value=a), right=t.Number(value=b)):
            return {"<": a < b, "<=": a <= b, "=": a == b, "!=": a != b}[kind]
        case t.Relation(kind="<=", left=t.Number(value=a), right=t.Variable(sort=sort)):
            return sort.least is not None and a <= sort.least
        case t.Relation(kind="<=", left=left, right=right):
            return left == right
    return False


def _conditions(term: Term) -> Iterator[Condition]:
    if isinstance(term, t.Binder):
        for end in (term.low, term.high):
            yield from conditions(end)
        yield from _own(term)
        inside = Range(term.index, term.low, term.high)
        yield from (Condition(c.statement, c.part, (inside, *c.ranges)) for c in conditions(term.body))
        return
    if isinstance(term, t.Limit):  # the rules about limits look at the body, which needs a value far out only
        yield Condition(t.Converges(term), term)
        return
    if isinstance(term, t.Cases):  # only the case that is taken needs a value: see ``proofs.engines``
        return
    for part in _terms_below(term):
        yield from conditions(part)
    for statement in _own_statements(term):
        yield Condition(statement, term)
    if isinstance(term, t.Derivative):
        yield from conditions(derivative(term.body, term.variable))


def _terms_below(node: t.Node) -> Iterator[Term]:
    """The terms directly below, those in a model among them."""
    for part in node.parts:
        if isinstance(part, Term):
            yield part
        else:
            yield from _terms_below(part)


def _own(term: Term) -> Iterator[Condition]:
    for statement in _own_statements(term):
        yield Condition(statement, term)


def _own_statements(term: Term) -> Iterator[Statement]:
    """What the outermost operation of ``term`` needs."""
    match term:
        case t.Power(base=base, exponent=exponent) if exponent < 0:
            yield unequal(base, ZERO)
        case t.Root(radicand=radicand):
            yield at_most(ZERO, radicand)
        case t.Binder(index=index, low=low, high=high):
            yield from (t.Integral(end) for end in (low, high) if not t.is_integral(end))
            yield at_most(low, plus(high, ONE))
            if index.sort.least is not None:
                yield at_most(number(index.sort.least), low)
        case t.Apply():
            yield from _of_function(term)
        case t.Entry():
            yield from _of_entry(term)
        case t.Input(query=query, key=key, law=law):
            yield from _positions(query, key)
            yield from (t.Vectors(law, ONE, place) for place in dict.fromkeys((query, key)))


def _of_function(term: t.Apply) -> Iterator[Statement]:
    match term.name, term.arguments:
        case "log", (x,):
            yield less(ZERO, x)
        case "power", (base, exponent) if t.is_integral(exponent):
            yield t.Or((unequal(base, ZERO), at_most(ZERO, exponent)))
        case "power", (base, exponent):
            yield t.Or((less(ZERO, base), t.And((t.equal(base, ZERO), less(ZERO, exponent)))))
        case (("gamma" | "ci"), (x,)):
            yield less(ZERO, x)
        case "factorial", (x,):
            yield at_most(ZERO, x)
        case "binomial", (n, k):
            yield from (at_most(ZERO, k), at_most(k, n))
        case "kappa", (_, base, _):
            yield less(ONE, base)
        case "hyp2f1", (_, _, c, z):  # where its series has a sum
            yield from (less(ZERO, c), less(number(-1), z), less(z, ONE))


def _positions(*places: Term) -> Iterator[Statement]:
    for place in dict.fromkeys(places):
        if not t.is_integral(place):
            yield t.Integral(place)
        yield at_most(ONE, place)


def _of_entry(entry: t.Entry) -> Iterator[Statement]:
    query, key, model = entry.query, entry.key, entry.model
    yield from _positions(query, key, entry.layer)
    if entry.kind == "score":
        yield from model.mask.sight.at(query, key)  # beyond the last token there is nothing to see anyway
    if model.tokens is not None:
        yield from (at_most(place, model.tokens) for place in dict.fromkeys((query, key)))
        if model.mask.least > 1:
            yield at_most(number(model.mask.least), model.tokens)
    yield from of_parameters(model)
    counts = (query, key) if model.tokens is None else (model.tokens,)
    yield from (t.Vectors(model, entry.layer, count) for count in dict.fromkeys(counts))


def of_parameters(model: t.Model) -> Iterator[Statement]:
    """What makes the parameters of a decoder admissible."""
    yield at_most(ZERO, model.beta)
    yield at_most(ZERO, model.residual)
    yield less(ZERO, model.scale)
    if model.norm == "layernorm" and model.width is not None:
        yield at_most(number(2), model.width)
    match model.position:
        case t.Position(kind="rope", numbers=(base,)):
            yield less(ONE, base)
        case t.Position(kind="alibi", numbers=(slope,)):
            yield at_most(ZERO, slope)


def undefined_parts(statement: Statement) -> Iterator[Condition]:
    """The conditions of every relation in ``statement``, whatever connects them."""
    for part in statement.walk():
        if isinstance(part, t.Relation):
            yield from conditions(part.left)
            yield from conditions(part.right)
