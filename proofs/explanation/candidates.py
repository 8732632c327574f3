"""Statements near a claim that is not certain: changed relations, what is left of a conjunction, smaller domains.

Each is only proposed here; whether it is true is for the engines to say.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import sympy
from sympy import Abs, And, Basic, Symbol
from sympy.core.relational import Relational

from maskproof.proofs.explanation.relations import failing
from maskproof.theory.claim import Claim
from maskproof.theory.relations import Eq, Ge, Gt, Le, Lt

CHANGED = {  # by SymPy's sign: the strongest first
    "<": (Eq, Gt, Le, Ge),
    ">": (Eq, Lt, Ge, Le),
    "<=": (Gt, Ge),
    ">=": (Lt, Le),
    "==": (Lt, Gt, Le, Ge),
    "!=": (Eq,),
}
_IMPLIED = {"==": ("<=", ">="), "<": ("<=",), ">": (">=",)}
BOUND = 20  # on an integer variable that has none


@dataclass(frozen=True)
class Candidate:
    """A claim near another one.

    Attributes:
        change: what is different, in words.
        claim: the claim.
        sign: of the relation put in, if it is that.
    """

    change: str
    claim: Claim
    sign: str = ""

    def implied_by(self, signs: list[str]) -> bool:
        """Whether it says less than one of these that is known to hold in its place."""
        return any(self.sign in _IMPLIED.get(sign, ()) for sign in signs)


def changed(claim: Claim, old: Relational, new: Basic) -> Claim:
    """The claim with a relation of its statement put in for another; its proof is not one of that."""
    statement = sympy.sympify(claim.bound_statement)
    return replace(claim, statement=_put(statement, old, new), proof=None, uses=())


def _put(statement: Basic, old: Basic, new: Basic) -> Basic:
    if statement == old:
        return new
    if isinstance(statement, Relational):
        return statement
    return statement.func(*(_put(part, old, new) for part in statement.args))


def restricted(claim: Claim, condition: Relational) -> Claim:
    """The claim on the part of its domain where ``condition`` holds."""
    kept = [part for part in And.make_args(sympy.sympify(claim.domain)) if not _implied(part, condition)]
    return replace(claim, domain=And(*kept, condition), proof=None, uses=())


def _implied(part: Basic, condition: Relational) -> bool:
    """Whether it goes without saying beside ``condition``: a wider bound on the same side, or the same not strictly."""
    if not isinstance(part, Relational) or part.rel_op not in ("<", "<=", ">", ">="):
        return False
    for same in (part, part.reversed):
        if same.lhs == condition.lhs and same.rel_op[0] == condition.rel_op[0]:
            bounds = same.rhs, condition.rhs
            if same.rhs == condition.rhs:
                return condition.rel_op in ("<", ">") or same.rel_op == condition.rel_op
            if all(bound.is_Rational for bound in bounds):
                return bool(bounds[0] > bounds[1]) == (condition.rel_op[0] == "<")
    return False


def other_relations(claim: Claim, witness: Mapping[str, Any]) -> Iterator[Candidate]:
    """The relation that fails with another sign, or with the other sign of a side."""
    blamed = failing(claim, witness)
    if len(blamed) != 1:
        return
    (relation,) = blamed
    left, right = relation.args
    if isinstance(left, Abs):  # a distance: its bound is what can be mended
        return
    if relation.rel_op == "==" and left != -right:
        yield Candidate("the sign of a side changed", changed(claim, relation, Eq(left, -right)), "==")
    for other in CHANGED.get(relation.rel_op, ()):
        new = other(left, right)
        weaker = {relation.rel_op, new.rel_op} in ({"<", "<="}, {">", ">="})
        words = "not strictly" if weaker else "the other way round"
        if relation.rel_op == "==":
            words = "as an inequality"
        elif new.rel_op == "==":
            words = "as an equation"
        yield Candidate(words, changed(claim, relation, new), new.rel_op)


def parts(claim: Claim, witness: Mapping[str, Any]) -> Iterator[Candidate]:
    """What is left of a conjunction without the parts that fail."""
    statement = claim.bound_statement
    blamed = set(failing(claim, witness))
    if isinstance(statement, And):
        kept = [part for part in statement.args if not part.atoms(Relational) & blamed]
        if kept and len(kept) < len(statement.args):
            left = len(statement.args) - len(kept)
            words = f"without {left} of its {len(statement.args)} parts"
            yield Candidate(words, replace(claim, statement=And(*kept, evaluate=False), proof=None, uses=()))


def smaller_domains(claim: Claim, witness: Mapping[str, Any]) -> Iterator[Candidate]:
    """Before the witness, and after it, by one integer variable at a time; and without its diagonal."""
    at = {s: sympy.sympify(witness[s.name]) for s in claim.free_symbols if s.name in witness and s.is_integer}
    symbols = sorted(at, key=_rank)
    for make in (_before, _after):
        for symbol in symbols:
            condition = make(symbol, at[symbol])
            if condition is not None:
                yield Candidate("on a smaller domain", restricted(claim, condition))
    for first, second in [pair for pair in _pairs(symbols) if {s.name for s in pair} <= {"i", "j", "k"}]:
        gap = at[first] - at[second]
        if gap >= 0:
            yield Candidate("farther apart", restricted(claim, Gt(first - second, gap) if gap else Lt(second, first)))


def apart(claim: Claim) -> Iterator[Candidate]:
    """Without the diagonal, for a claim of which a side has no value there."""
    names = {s.name: s for s in claim.free_symbols}
    if {"i", "j"} <= names.keys():
        yield Candidate("off the diagonal", restricted(claim, Lt(names["j"], names["i"])))


def _before(symbol: Symbol, value: Any) -> Relational | None:
    return Le(symbol, value - 1) if value > 1 else None


def _after(symbol: Symbol, value: Any) -> Relational | None:
    return Ge(symbol, value + 1)


def _pairs(symbols: list[Symbol]) -> list[tuple[Symbol, Symbol]]:
    return [(a, b) for place, a in enumerate(symbols) for b in symbols[place + 1 :]]


def _rank(symbol: Symbol) -> tuple[int, str]:
    order = "ijknd"
    return (order.find(symbol.name) % (len(order) + 1), symbol.name)
