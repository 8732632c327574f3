"""Terms and statements: small immutable trees, compared by structure, in which nothing evaluates by itself.

A term stands for a real number, a statement for true or false, once its free variables have values. A quantity carries
its whole model: whatever its value depends on is among its free variables, the width d and the number of tokens n too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from enum import Enum
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeVar, dataclass_transform

N = TypeVar("N", bound="Node")


class Capture(ValueError):
    """A substitution would put a variable under a binder of the same name."""


class Node:
    """A part of a term or statement."""

    @cached_property
    def content(self) -> tuple[Any, ...]:
        """The fields, in order."""
        return tuple(getattr(self, field.name) for field in fields(self))  # type: ignore[arg-type]

    @cached_property
    def _hash(self) -> int:
        return hash((type(self).__name__, self.content))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return type(self) is type(other) and self._hash == other._hash and self.content == other.content  # type: ignore[attr-defined]

    @cached_property
    def parts(self) -> tuple[Node, ...]:
        """The nodes directly below."""
        below: list[Node] = []
        for value in self.content:
            if isinstance(value, Node):
                below.append(value)
            elif isinstance(value, tuple):
                below += (part for part in value if isinstance(part, Node))
        return tuple(below)

    @cached_property
    def free(self) -> frozenset[Variable]:
        """The variables on which the value depends."""
        return frozenset().union(*(part.free for part in self.parts))

    @cached_property
    def heads(self) -> frozenset[str]:
        """Names of the classes that occur in it."""
        return frozenset({type(self).__name__}).union(*(part.heads for part in self.parts))

    @cached_property
    def names(self) -> frozenset[str]:
        """Names of the variables that occur in it, bound ones too."""
        return frozenset().union(*(part.names for part in self.parts))

    def rebuilt(self: N, change: Callable[[Node], Node]) -> N:
        """The node with ``change`` applied to all nodes directly below; itself if they stay the same."""
        content = tuple(_changed(value, change) for value in self.content)
        if all(new is old for new, old in zip(content, self.content, strict=True)):
            return self
        return type(self)(*content)

    def walk(self) -> Iterator[Node]:
        """The node and all below it."""
        yield self
        for part in self.parts:
            yield from part.walk()


def _changed(value: Any, change: Callable[[Node], Node]) -> Any:
    if isinstance(value, Node):
        return change(value)
    if isinstance(value, tuple):
        new = tuple(_changed(part, change) for part in value)
        return value if all(a is b for a, b in zip(new, value, strict=True)) else new
    return value


class Term(Node):
    """Stands for a real number."""


class Statement(Node):
    """Stands for true or false."""


@dataclass_transform(frozen_default=True, eq_default=False)
def node(kind: type[N]) -> type[N]:
    """A class of nodes: a frozen dataclass that compares by ``Node.content``."""
    return dataclass(frozen=True, eq=False)(kind)


# --- numbers, variables, arithmetic ---------------------------------------------------------------


class Sort(Enum):
    """What the values of a variable are; ``least`` is the smallest, where there is one."""

    REAL = "real"
    POSITIVE = "positive"
    NONNEGATIVE = "nonnegative"
    INTEGER = "integer"
    NATURAL = "natural"  # 0, 1, 2, ...
    POSITION = "position"  # 1, 2, 3, ...

    @property
    def integral(self) -> bool:
        """Whether all values are integers."""
        return self in (Sort.INTEGER, Sort.NATURAL, Sort.POSITION)

    @property
    def least(self) -> int | None:
        """The lower end of the values (not taken by POSITIVE), None for no bound."""
        return {Sort.POSITION: 1, Sort.NATURAL: 0, Sort.NONNEGATIVE: 0, Sort.POSITIVE: 0}.get(self)


@node
class Variable(Term):
    """A variable; two are the same if name and sort are."""

    name: str
    sort: Sort

    @cached_property
    def free(self) -> frozenset[Variable]:
        """Itself."""
        return frozenset({self})

    @cached_property
    def names(self) -> frozenset[str]:
        """Its name."""
        return frozenset({self.name})


@node
class Number(Term):
    """A rational number."""

    value: Fraction


@node
class Constant(Term):
    """``pi`` or ``euler_gamma``."""

    name: str


@node
class Add(Term):
    """A sum of parts."""

    terms: tuple[Term, ...]


@node
class Mul(Term):
    """A product of factors."""

    factors: tuple[Term, ...]


@node
class Power(Term):
    """An integer power."""

    base: Term
    exponent: int


@node
class Root(Term):
    """The square root, which is not negative."""

    radicand: Term


@node
class Exp(Term):
    """The exponential function."""

    exponent: Term


# --- binders: ``index`` and ``variable`` are not free in what they bind ------------------------------


@node
class Binder(Term):
    """``body`` for each value of ``index`` from ``low`` to ``high``; nothing if high = low - 1."""

    body: Term
    index: Variable
    low: Term
    high: Term

    @cached_property
    def free(self) -> frozenset[Variable]:
        """Those of the ends, and those of the body but for the index."""
        return (self.body.free - {self.index}) | self.low.free | self.high.free


@node
class Sum(Binder):
    """The sum of ``body`` over ``index``."""


@node
class Product(Binder):
    """The product of ``body`` over ``index``."""


@node
class Derivative(Term):
    """The derivative of ``body`` at ``variable``."""

    body: Term
    variable: Variable


@node
class Limit(Term):
    """The limit of ``body`` as ``variable`` grows beyond all bounds."""

    body: Term
    variable: Variable

    @cached_property
    def free(self) -> frozenset[Variable]:
        """Those of the body but for the variable that grows."""
        return self.body.free - {self.variable}


# --- what only the numerical engines know ----------------------------------------------------------


@node
class Apply(Term):
    """A function by its name (see ``proofs.terms.functions``)."""

    name: str
    arguments: tuple[Term, ...]


@node
class Case(Node):
    """A term, and when it is the one to take."""

    condition: Statement
    value: Term


@node
class Cases(Term):
    """The value of the first case whose condition holds."""

    cases: tuple[Case, ...]


# --- the model, and what it determines --------------------------------------------------------------


@dataclass(frozen=True)
class Sight:
    """When a query sees a key: a statement about ``QUERY`` and ``KEY``, which are bound here."""

    statement: Statement

    def at(self, query: Term, key: Term) -> tuple[Statement, ...]:
        """What lets ``query`` see ``key``."""
        return conjuncts(substitute(self.statement, {QUERY: query, KEY: key}))


@node
class Mask(Node):
    """Which keys a query sees, itself always among them.

    Attributes:
        kind, numbers: its name and parameters, which tell masks apart; no rule looks at them.
        sight: when a query sees a key of the sequence.
        least: how many tokens there have to be.
    """

    kind: str
    numbers: tuple[int, ...]
    sight: Sight
    least: int = 1

    @property
    def triangular(self) -> bool:
        """Whether it hides all later keys, by the way it is written."""
        return at_most(KEY, QUERY) in conjuncts(self.sight.statement)


@node
class Position(Node):
    """``rope`` (base, dim), ``alibi`` (slope) or ``t5`` (biases, then those of later keys; None without)."""

    kind: str
    numbers: tuple[Term, ...]
    later: tuple[Term, ...] | None = None
    size: int | None = None  # dim of rope, max_distance of t5


@node
class Law(Node):
    """The law of the inputs: ``equicorrelated`` (alpha), ``sphere`` or ``gaussian`` (alpha, width, unit)."""

    kind: str
    alpha: Term
    width: Term | None = None
    unit: bool = True


@node
class Model(Node):
    """A decoder with the law of its inputs.

    Attributes:
        norm: "l2", "layernorm" or "none".
        scale: what scores are divided by, a term in ``width`` where it depends on it.
        beta, residual: inverse temperature, and weight of the residual stream.
        mask, position: as in the decoder.
        law: of the inputs.
        width: d, where the model depends on it.
        tokens: n, where the model depends on it.
    """

    norm: str
    scale: Term
    beta: Term
    residual: Term
    mask: Mask
    position: Position | None
    law: Law
    width: Term | None = None
    tokens: Term | None = None


@node
class Entry(Term):
    """``kind`` ("score", "weight", "gram" or "mix") of a query and a key in a layer."""

    kind: str
    layer: Term
    query: Term
    key: Term
    model: Model


@node
class Correction(Term):
    """c in E Q = limit + c/d + O(1/d^2), Q a quantity over random inputs; the law carries no width."""

    entry: Entry


@node
class Input(Term):
    """K of a query and a key: the inner product of two input vectors."""

    query: Term
    key: Term
    law: Law


# --- statements -----------------------------------------------------------------------------------


@node
class Relation(Statement):
    """``kind`` is "<", "<=", "=" or "!="; whoever reads a > b writes b < a."""

    kind: str
    left: Term
    right: Term


@node
class And(Statement):
    """All statements hold; none: true."""

    statements: tuple[Statement, ...]


@node
class Or(Statement):
    """At least one statement holds; none: false."""

    statements: tuple[Statement, ...]


@node
class Not(Statement):
    """The statement does not hold."""

    statement: Statement


@node
class Implies(Statement):
    """Where the premise holds, so does the conclusion."""

    premise: Statement
    conclusion: Statement


@node
class Integral(Statement):
    """``term`` is an integer."""

    term: Term


@node
class Vectors(Statement):
    """Inputs with this law exist for ``count`` tokens, and no vector that layers 1 to ``layer`` normalise vanishes.

    ``of`` is the model, or for the inputs alone their law.
    """

    of: Model | Law
    layer: Term
    count: Term


@node
class Independent(Statement):
    """``count`` inputs with this law exist and are linearly independent."""

    law: Law
    count: Term


@node
class Converges(Statement):
    """The limit exists."""

    limit: Limit


# --- shorthand ------------------------------------------------------------------------------------

TRUE, FALSE = And(()), Or(())
ZERO, ONE = Number(Fraction(0)), Number(Fraction(1))
QUERY, KEY = Variable("query", Sort.POSITION), Variable("key", Sort.POSITION)
CAUSAL = Mask("causal", (), Sight(Relation("<=", KEY, QUERY)))


def number(value: int | Fraction) -> Number:
    """A rational number as a term."""
    return Number(Fraction(value))


def plus(*terms: Term) -> Term:
    """The sum of some terms."""
    return terms[0] if len(terms) == 1 else Add(terms)


def times(*factors: Term) -> Term:
    """The product of some factors; 1 of none."""
    return factors[0] if len(factors) == 1 else Mul(factors) if factors else ONE


def minus(a: Term, b: Term) -> Term:
    """a - b."""
    return Add((a, Mul((number(-1), b))))


def over(a: Term, b: Term) -> Term:
    """a / b."""
    return Mul((a, Power(b, -1)))


def less(a: Term, b: Term) -> Relation:
    """a < b."""
    return Relation("<", a, b)


def at_most(a: Term, b: Term) -> Relation:
    """a <= b."""
    return Relation("<=", a, b)


def equal(a: Term, b: Term) -> Relation:
    """a = b."""
    return Relation("=", a, b)


def unequal(a: Term, b: Term) -> Relation:
    """a != b."""
    return Relation("!=", a, b)


def conjuncts(statement: Statement) -> tuple[Statement, ...]:
    """The statements that it asserts together."""
    if isinstance(statement, And):
        return tuple(part for each in statement.statements for part in conjuncts(each))
    return (statement,)


def is_integral(term: Term) -> bool:
    """Whether a term is an integer by the way it is written."""
    match term:
        case Number(value=value):
            return value.denominator == 1
        case Variable(sort=sort):
            return sort.integral
        case Add() | Mul():
            return all(is_integral(part) for part in term.parts)  # type: ignore[arg-type]
        case Power(base=base, exponent=exponent):
            return exponent >= 0 and is_integral(base)
        case Sum() | Product():
            return is_integral(term.body)
        case Apply(name=name, arguments=arguments):
            return name in ("floor", "ceiling", "sign") or (
                name in ("max", "min", "abs") and all(is_integral(argument) for argument in arguments)
            )
    return False


# --- substitution -----------------------------------------------------------------------------------


def fresh(variable: Variable, *nodes: Node) -> Variable:
    """A variable of the same sort whose name occurs nowhere in ``nodes``, bound or free."""
    name, taken = variable.name, frozenset().union(*(each.names for each in nodes))
    while name in taken:
        name += "'"
    return Variable(name, variable.sort)


def substitute(tree: N, values: Mapping[Variable, Term]) -> N:
    """Put values in for free variables, all at once.

    Raises:
        Capture: a value would come under a binder of a variable in it, or a variable that something is differentiated
            by would be replaced.
    """
    relevant = {v: value for v, value in values.items() if v in tree.free}
    return _substituted(tree, relevant) if relevant else tree  # type: ignore[return-value]


def _substituted(tree: Node, values: Mapping[Variable, Term]) -> Node:
    if isinstance(tree, Variable):
        return values.get(tree, tree)
    here = {v: value for v, value in values.items() if v in tree.free}
    if not here:
        return tree
    bound = {Binder: "index", Limit: "variable", Derivative: "variable"}
    for kind, name in bound.items():
        if isinstance(tree, kind):
            variable = getattr(tree, name)
            if variable in here or any(variable in value.free for value in here.values()):
                raise Capture(f"the substitution would capture {variable.name}")
    return tree.rebuilt(lambda part: _substituted(part, here))


def replaced(tree: N, table: Mapping[Term, Term]) -> N:
    """Replace terms by terms, outermost first, but not inside binders, models and quantities."""
    if tree in table:
        return table[tree]  # type: ignore[index, return-value]
    if isinstance(tree, (Binder, Limit, Derivative, Entry, Input)):
        return tree
    return tree.rebuilt(lambda part: replaced(part, table))
