"""The small changes to a claim that a slip of the pen makes.

Each change is one: a sign, a constant, an exponent, one index for another, a strict relation for a lax one, a term or a
hypothesis left out, beta for its inverse, no mask, one line of a derivation. SymPy decides nothing on the way: what it
would evaluate to true or false at once is no claim, and is left out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice, zip_longest
from zlib import crc32

import sympy
from sympy import Add, And, Basic, Expr, Ge, Gt, Integer, Le, Lt, Mul, Pow, Rational, S
from sympy.core.relational import Relational

from maskproof.theory.claim import Claim
from maskproof.theory.decoder import Bidirectional
from maskproof.theory.derivation import Derivation, Step
from maskproof.theory.errors import InvalidInput
from maskproof.theory.quantities import Correction, Quantity
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


@dataclass(frozen=True)
class Change:
    """One change to a claim.

    Attributes:
        place: "statement", "domain", "model", or "step" with its label.
        kind: what sort of change.
        what: says what was changed.
        make: the claim afterwards, or None if nothing is left to be checked. Its own proof is left out unless the
            proof is what was changed.
    """

    place: str
    kind: str
    what: object
    make: Callable[[], Claim | None]

    @property
    def in_proof(self) -> bool:
        """Whether the derivation was changed and the statement was not."""
        return self.place.startswith("step ")


def changes(claim: Claim) -> Iterator[Change]:
    """Every small change to a claim, the statement first."""
    bare = replace(claim, proof=None, uses=())
    statement, domain = sympy.sympify(claim.statement), sympy.sympify(claim.domain)
    for slip in _anywhere(statement):
        yield Change("statement", slip.kind, slip, partial(_restated, bare, slip))
    for slip in chain(_dropped(domain), _anywhere(domain)):
        yield Change("domain", slip.kind, slip, partial(_elsewhere, bare, slip))
    if type(claim.decoder.mask) is not Bidirectional:
        yield Change("model", "mask", "no mask", partial(_unmasked, bare))
    if claim.proof is not None:
        yield from _in_proof(claim, claim.proof)


def chosen(found: Iterable[Change], most: int) -> list[tuple[Change, Claim]]:
    """At most so many of them, of all places and kinds in turn, the same ones each time, with the changed claims."""
    groups: dict[tuple[str, str], list[Change]] = defaultdict(list)
    for change in found:
        groups[change.place.split()[0], change.kind].append(change)
    in_turn = (change for row in zip_longest(*map(_scattered, groups.values())) for change in row if change is not None)
    made = ((change, changed) for change in in_turn if (changed := change.make()) is not None)
    return list(islice(made, most))


def _scattered(group: list[Change]) -> list[Change]:
    """In an order that has nothing to do with the place in the formula."""
    return [group[place] for place in sorted(range(len(group)), key=lambda n: crc32(b"%d" % n))]


def _restated(claim: Claim, slip: Slip) -> Claim | None:
    statement = _formula(slip, claim.statement)
    return None if statement in (None, S.true) else replace(claim, statement=statement)


def _elsewhere(claim: Claim, slip: Slip) -> Claim | None:
    domain = _formula(slip, claim.domain)
    return None if domain is None else replace(claim, domain=domain)


def _unmasked(claim: Claim) -> Claim | None:
    try:
        return replace(claim, decoder=replace(claim.decoder, mask=Bidirectional()))
    except InvalidInput:  # some position codes say nothing of later keys
        return None


def _formula(slip: Slip, before: object) -> Basic | None:
    """The changed formula, if there is one and it is another."""
    try:
        formula = slip.formula()
    except (TypeError, ValueError):  # a position 0, a layer that is no integer
        return None
    return None if formula in (before, S.false) else formula


# --- derivations -----------------------------------------------------------------------------------


def _in_proof(claim: Claim, proof: Derivation) -> Iterator[Change]:
    for place, step in enumerate(proof.steps):
        for kind, what, make in _in_step(step):
            yield Change(f"step {step.label}", kind, what, partial(_with_step, claim, proof, place, make))


def _in_step(step: Step) -> Iterator[tuple[str, object, Callable[[], Step | None]]]:
    for slip in _anywhere(step.statement):
        yield slip.kind, slip, partial(_restated_step, step, slip)
    for name in dict.fromkeys(step.premises):
        rest = tuple(label for label in step.premises if label != name)
        yield "premise", f"without premise {name}", partial(replace, step, premises=rest)
    for place, given in enumerate(step.given):
        rest = (*step.given[:place], *step.given[place + 1 :])
        yield "hypothesis", f"without {given}", partial(replace, step, given=rest)


def _restated_step(step: Step, slip: Slip) -> Step | None:
    statement = _formula(slip, step.statement)
    return None if statement in (None, S.true) else replace(step, statement=statement)


def _with_step(claim: Claim, proof: Derivation, place: int, make: Callable[[], Step | None]) -> Claim | None:
    step = make()
    if step is None:
        return None
    steps = (*proof.steps[:place], step, *proof.steps[place + 1 :])
    return replace(claim, proof=replace(proof, steps=steps))


# --- formulas --------------------------------------------------------------------------------------


def _dropped(domain: Basic) -> Iterator[Slip]:
    parts = [part for part in sorted(And.make_args(domain), key=str) if part is not S.true]
    for place, part in enumerate(parts):
        yield Slip("hypothesis", part, None, partial(And, *parts[:place], *parts[place + 1 :]))


def _anywhere(e: Basic, put: Put = lambda whole: whole) -> Iterator[Slip]:
    """A slip in a formula or in a part of it, which ``put`` places in the whole."""
    for kind, before, after, changed in _here(e):
        yield Slip(kind, before, after, partial(put, changed))
    for part, inside in _parts(e):
        yield from _anywhere(part, partial(_then, inside, put))


def _then(first: Put, second: Put, part: Basic) -> Basic:
    return second(first(part))


def _parts(e: Basic) -> Iterator[tuple[Basic, Put]]:
    """The parts of a formula that may be changed, each with the way to put another in its place."""
    for place, part in enumerate(e.args):
        if isinstance(e, Quantity) and place > 2:  # its model
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
            yield "term", term, None, Add(*rest, evaluate=False) if len(rest) > 1 else rest[0]
    elif isinstance(e, Pow) and isinstance(e.exp, Rational):
        other = e.exp + 1 if isinstance(e.exp, Integer) else 2 * e.exp
        if other != 0:
            yield "exponent", f"exponent {e.exp}", other, Pow(e.base, other, evaluate=False)
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
