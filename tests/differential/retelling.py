"""The same claim in other words: it has to get the same kind of verdict."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

import sympy
from sympy import And, Basic, Implies, Not, Or
from sympy.core.relational import Relational

from maskproof.theory.claim import Claim

_TURNED: dict[type, type] = {
    sympy.Lt: sympy.Gt, sympy.Gt: sympy.Lt, sympy.Le: sympy.Ge, sympy.Ge: sympy.Le, sympy.Eq: sympy.Eq,
    sympy.Ne: sympy.Ne,
}  # fmt: skip


def retold(claim: Claim, seed: int) -> Claim | None:
    """``claim`` with some relations turned round, connectives written by others, sides multiplied by one.

    Returns None where SymPy decides what was written anew, or leaves it as it was.
    """
    random = Random(seed)
    statement = _retold(sympy.sympify(claim.statement), random)
    # A domain keeps its outermost conjunction: without it no engine knows how far the symbols reach.
    parts = [_retold(part, random) for part in And.make_args(sympy.sympify(claim.domain))]
    domain = And(*random.sample(parts, len(parts)))
    if _settled(statement) or (_settled(domain) and domain != sympy.sympify(claim.domain)):
        return None
    if statement == claim.statement and domain == sympy.sympify(claim.domain):
        return None
    return replace(claim, statement=statement, domain=domain)


def _settled(statement: Basic) -> bool:
    """Whether a part of it has become true or false."""
    return statement.has(sympy.true, sympy.false)


def _retold(s: Basic, random: Random) -> Any:
    if isinstance(s, Relational):
        return _relation(s, random)
    if not s.args:
        return s
    parts = [_retold(part, random) for part in s.args]
    if isinstance(s, And | Or):
        random.shuffle(parts)
    if random.random() < 0.4:
        return s.func(*parts)
    others: dict[type, Callable[..., Any]] = {
        Implies: lambda a, b: Or(Not(a), b),
        And: lambda *p: Not(Or(*map(Not, p)), evaluate=False),
        Or: lambda *p: Implies(Not(p[0]), Or(*p[1:])),
    }
    build = others.get(type(s))
    return s.func(*parts) if build is None else build(*parts)


def _relation(s: Relational, random: Random) -> Any:
    left, right = s.args
    if random.random() < 0.2:
        left = sympy.Mul(1, left, evaluate=False)
    if random.random() < 0.5:
        return _TURNED[type(s)](right, left, evaluate=False)
    return type(s)(left, right, evaluate=False)
