"""The small changes to a formula that a slip of the pen makes.

Each change is one: a sign, a constant, an exponent, one index for another, a strict relation for a lax one, a term left
out, beta for its inverse. SymPy decides nothing on the way: what it would evaluate to true or false at once is no
claim, and is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import sympy
from sympy import Add, And, Basic, Expr, Ge, Gt, Integer, Le, Lt, Mul, Pow, Rational, S
from sympy.core.relational import Relational

from maskproof.theory.quantities import Correction, Quantity, Record
from maskproof.theory.symbols import beta, i, j

_STRICTNESS = {Lt: Le, Le: Lt, Gt: Ge, Ge: Gt}
_INDICES = {i: j, j: i}
_UNEVALUATED = (Add, Mul, Pow, Relational)

Put = Callable[[Basic], Basic]  # a part in, the whole out


@dataclass(frozen=True)
class Slip:
    """What was changed in a formula: ``after`` stands where ``before`` did; nothing, if it is None."""

    kind: str
    before: object
    after: object
    formula: Callable[[], Basic]

    def __str__(self) -> str:
        return f"without {self.before}" if self.after is None else f"{self.after} for {self.before}"


def changed(slip: Slip, before: object) -> Basic | None:
    """The changed formula, if there is one and it is another."""
    try:
        formula = slip.formula()
    except (TypeError, ValueError):  # a position 0, a layer that is no integer
        return None
    return None if formula in (before, S.false) else formula


def conjuncts_dropped(domain: Basic) -> Iterator[Slip]:
    """A condition left out of several."""
    parts = [part for part in sorted(And.make_args(domain), key=str) if part is not S.true]
    for place, part in enumerate(parts):
        yield Slip("hypothesis", part, None, partial(And, *parts[:place], *parts[place + 1 :]))


def slips(e: Basic, put: Put = lambda whole: whole) -> Iterator[Slip]:
    """A slip in a formula or in a part of it, which ``put`` places in the whole."""
    for kind, before, after, changed in _here(e):
        yield Slip(kind, before, after, partial(put, changed))
    for part, inside in _parts(e):
        yield from slips(part, partial(_then, inside, put))


def _then(first: Put, second: Put, part: Basic) -> Basic:
    return second(first(part))


def _parts(e: Basic) -> Iterator[tuple[Basic, Put]]:
    """The parts of a formula that may be changed, each with the way to put another in its place."""
    for place, part in enumerate(e.args):
        if isinstance(e, Quantity) and place > 2:  # its model
            return
        if isinstance(part, Record):  # the law of InputGram
            return
        if isinstance(e, sympy.Limit | sympy.Derivative | Correction) and place > 0:
            return
        if isinstance(e, Pow) and place == 1 and part.is_number:  # its exponent is changed with it
            return
        if isinstance(e, sympy.Sum | sympy.Product) and place > 0:
            for end in (1, 2):
                yield part.args[end], partial(_then, partial(_put, part, end), partial(_put, e, place))
            continue
        yield part, partial(_put, e, place)


def _put(e: Basic, place: int, new: Basic) -> Basic:
    args = (*e.args[:place], new, *e.args[place + 1 :])
    return e.func(*args, evaluate=False) if isinstance(e, _UNEVALUATED) else e.func(*args)


def _here(e: Basic) -> Iterator[tuple[str, object, object, Basic]]:
    """A slip in the outermost operation: its kind, what stood there, what does now, and the whole."""
    if isinstance(e, Relational):
        yield from _in_relation(e)
    elif isinstance(e, Add):
        for place, term in enumerate(e.args):
            rest = (*e.args[:place], *e.args[place + 1 :])
            yield "sign", term, _negative(term), Add(*rest, _negative(term), evaluate=False)
            yield "term", term, None, Add(*rest, evaluate=False)
    elif isinstance(e, Pow) and isinstance(e.exp, Rational):
        other = e.exp + 1 if isinstance(e.exp, Integer) else 2 * e.exp
        if other != 0:
            power = e.base if other == 1 else Pow(e.base, other, evaluate=False)
            yield "exponent", f"exponent {e.exp}", other, power
    elif isinstance(e, Rational) and e != -1:
        yield "constant", e, e + Rational(1, e.q), e + Rational(1, e.q)
    elif e in _INDICES:
        yield "index", e, _INDICES[e], _INDICES[e]
    elif e == beta:
        yield "inverse", e, 1 / beta, 1 / beta


def _in_relation(e: Relational) -> Iterator[tuple[str, object, object, Basic]]:
    """Its strictness; the sign of a side that is a product (that of a sum is changed term by term)."""
    if type(e) in _STRICTNESS:
        other = _STRICTNESS[type(e)]
        yield "strictness", e.rel_op, other.rel_op, other(*e.args, evaluate=False)
    for place, side in enumerate(e.args):
        if isinstance(side, Expr) and not isinstance(side, Add) and side != 0:
            yield "sign", side, _negative(side), _put(e, place, _negative(side))


def _negative(term: Expr) -> Expr:
    return Mul(-1, term, evaluate=False) if isinstance(term, Add) else -term
