"""Whether a changed claim says no more than the claim: then the change is no error, whatever the engines say of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import sympy
from sympy import And, Basic, Expr, Ge, Gt, Le, Lt
from sympy.core.relational import Relational

from maskproof.proofs.kernel import checking
from maskproof.proofs.kernel.known import Rejected
from maskproof.proofs.terms import terms as t
from maskproof.proofs.terms.reading import Unreadable, read_statement
from maskproof.theory.claim import Claim
from maskproof.theory.quantities import Quantity, Score, Weight

_STRICT = (Lt, Gt)
_ORDER = (Lt, Le, Gt, Ge)


def follows(claim: Claim, changed: Claim) -> bool:
    """Whether the kernel derives the changed claim from the claim; False says nothing.

    It does if the domain lies in that of the claim, and the one statement implies the other on it.
    """
    if changed.decoder != claim.decoder or changed.inputs != claim.inputs:
        return False
    try:
        before, after = (read_statement(c.statement, c.decoder, c.inputs) for c in (claim, changed))
        wide, narrow = read_statement(claim.domain), read_statement(changed.domain)
        if wide != narrow:
            _derive(wide, t.conjuncts(narrow), narrow)
        if before != after:
            # The implication is what is derived: its hypotheses are the domain's alone.
            given = checking.Step("1", after, "hypothesis", given=(before,))
            whole = checking.Step("2", t.Implies(before, after), "implication", ("1",))
            said = checking.Derivation("weaker", t.conjuncts(narrow), (given, whole))
            checking.prove(t.Implies(before, after), narrow, said)
    except (Rejected, Unreadable):
        return False
    return True


def _derive(statement: t.Statement, given: tuple[t.Statement, ...], domain: t.Statement) -> None:
    step = checking.Step("1", statement, "hypothesis")
    checking.prove(statement, domain, checking.Derivation("narrower", given, (step,)))


def unseen(claim: Claim, changed: Claim) -> bool:
    """Whether only the model was changed, and in what the quantities of the statement do not depend on.

    In the first layer, the scores of visible keys depend on neither mask, temperature nor residual; weights not on the
    residual.
    """
    if (changed.statement, changed.domain, changed.inputs) != (claim.statement, claim.domain, claim.inputs):
        return False
    before, after = claim.decoder, changed.decoder
    quantities = [q for q in sympy.sympify(claim.statement).atoms(Quantity) if q.decoder is None]
    if any(q.layer != 1 for q in quantities):
        return False
    if all(isinstance(q, Score) for q in quantities):
        shown = {"mask": before.mask, "beta": before.beta, "residual": before.residual}
    elif all(isinstance(q, Score | Weight) for q in quantities):
        shown = {"residual": before.residual}
    else:
        return False
    return replace(after, **shown) == before  # type: ignore[arg-type]


def bridge(claim: Claim, changed: Claim) -> Claim | None:
    """A claim about formulas alone from which, with the claim, the changed one follows; None if there is none at hand.

    Where a <= b was claimed and a <= c is the changed statement, it is b <= c, on the same domain.
    """
    if changed.domain != claim.domain or changed.decoder != claim.decoder:
        return None
    before, after = (set(And.make_args(sympy.sympify(c.statement))) for c in (claim, changed))
    bridges = {next(_between(old, new), None) for old in before - after for new in after - before}
    (found,) = bridges if len(bridges) == 1 else (None,)
    return None if found is None else replace(changed, statement=found)


def _between(old: Basic, new: Basic) -> Iterator[Relational]:
    if not (isinstance(old, _ORDER) and isinstance(new, _ORDER)):
        return
    (low, high), (new_low, new_high) = (_sides(relation) for relation in (old, new))
    strict = isinstance(new, _STRICT) and not isinstance(old, _STRICT)
    relation = Lt if strict else Le
    if low == new_low and not high.has(Quantity) and not new_high.has(Quantity):
        yield relation(high, new_high, evaluate=False)
    if high == new_high and not low.has(Quantity) and not new_low.has(Quantity):
        yield relation(new_low, low, evaluate=False)


def _sides(relation: Relational) -> tuple[Expr, Expr]:
    left, right = relation.args
    return (left, right) if isinstance(relation, Lt | Le) else (right, left)
