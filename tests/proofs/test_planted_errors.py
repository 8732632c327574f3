"""Nothing is rigged: a wrong sign planted in any stated formula is found, with a witness."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from sympy import Add, And, Basic, Eq, Ge, Gt, Implies, Le, Limit, Lt, preorder_traversal

from maskproof.proofs.pipeline import verify
from maskproof.proofs.registry import shipped
from maskproof.proofs.verdict import Verdict
from maskproof.theory.claim import Claim
from maskproof.theory.quantities import Quantity
from maskproof.theory.symbols import i

# Balls can't follow i to infinity, and only the limits of scores and Gram entries themselves are worked out
# afresh: a wrong rate is noticed, but has no witness.
WITHOUT_WITNESS = {"own.saturation-rate"}
OPPOSITE = {Lt: Ge, Le: Gt, Gt: Le, Ge: Lt}


def sign_flips(statement: Basic) -> Iterator[Basic]:
    """Every statement that differs from this one by the sign of one term of one stated formula."""
    if isinstance(statement, Implies) and isinstance(statement.args[0], Eq):
        return  # if the inner product is zero then both scores are, whatever their signs
    if isinstance(statement, (And, Implies)):
        for index, part in enumerate(statement.args):
            for wrong in sign_flips(part):
                yield statement.func(*(wrong if n == index else p for n, p in enumerate(statement.args)))
    elif isinstance(statement, Eq):
        sums = [part for part in _outside_quantities(statement.rhs) if isinstance(part, Add)]
        for total in dict.fromkeys(sums):
            for term in total.args:
                yield Eq(statement.lhs, statement.rhs.xreplace({total: total - 2 * term}))
        if not sums and statement.rhs != 0:
            yield Eq(statement.lhs, -statement.rhs)
    elif isinstance(statement, tuple(OPPOSITE)):
        yield OPPOSITE[type(statement)](*statement.args)


def _outside_quantities(e: Basic) -> Iterator[Basic]:
    """The parts of an expression, leaving out the positions of quantities."""
    visit = preorder_traversal(e)
    for part in visit:
        if isinstance(part, Quantity):
            visit.skip()
        else:
            yield part


PROVED = [claim for claim in shipped() if claim.proof is not None]
MUTANTS = [
    replace(claim, id=f"{claim.id}#{number}", statement=wrong, uses=())
    for claim in PROVED
    for number, wrong in enumerate(sign_flips(claim.statement))
]
FIRST = [claim for claim in MUTANTS if claim.id.endswith("#0")]


def _is_found(mutant: Claim) -> None:
    result = verify(mutant)
    name = mutant.id.split("#")[0]
    if name in WITHOUT_WITNESS:
        assert result.verdict is Verdict.UNKNOWN, mutant.statement
    elif any("the statement has no value" in e.detail and "fails in sqrt(" in e.detail for e in result.evidence):
        assert result.verdict is Verdict.UNKNOWN  # a radicand became negative, so that nothing is said
    else:
        assert result.verdict is Verdict.REFUTED, (result, mutant.statement)
        assert result.witness, mutant.statement


def test_there_are_enough_of_them():
    assert {claim.id for claim in PROVED} == {claim.id.split("#")[0] for claim in MUTANTS}
    assert len(MUTANTS) >= 100
    assert any(q.args[1] == i for claim in FIRST for q in claim.statement.atoms(Quantity))


@pytest.mark.parametrize("mutant", FIRST, ids=lambda claim: claim.id)
def test_a_planted_sign_is_found(mutant):
    _is_found(mutant)


@pytest.mark.slow
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda claim: claim.id)
def test_every_planted_sign_is_found(mutant):
    _is_found(mutant)


def test_limits_are_among_them():
    assert any(claim.statement.has(Limit) for claim in FIRST)
