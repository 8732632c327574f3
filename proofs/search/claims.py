"""From a claim to derivations of it, and to the limits in it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import sympy
from sympy import And, Basic, Derivative, Eq, Expr, Ge, Gt, Limit, Lt, Sum
from sympy.core.relational import Relational
from sympy.polys.polyerrors import BasePolynomialError

from maskproof.proofs.search.forms import Forms, Open
from maskproof.proofs.search.instances import instance
from maskproof.proofs.search.letters import Letters
from maskproof.proofs.search.limits import limit_form
from maskproof.proofs.search.lines import Given, Lines, NoIdea, follows
from maskproof.proofs.search.models import model_of
from maskproof.proofs.search.statements import Prover
from maskproof.theory.claim import Claim
from maskproof.theory.derivation import Derivation
from maskproof.theory.quantities import Quantity, Score, bind

# what SymPy raises where it can't do what it is asked
_REFUSALS = (BasePolynomialError, NotImplementedError, ValueError, ArithmeticError)


@contextmanager
def _asking_sympy() -> Iterator[None]:
    """What SymPy can't do, the search can't either: nothing that it proposes is trusted, so there is no harm in that.

    Raises:
        NoIdea: SymPy refused.
    """
    try:
        yield
    except _REFUSALS as refusal:
        raise NoIdea(f"SymPy can't do what the search would need: {refusal}") from None


def candidates(claim: Claim) -> Iterator[Derivation]:
    """Derivations of a claim, for the kernel to check until it accepts one.

    Several relations are tried together first, which is quick if each goes through at the first attempt; then one by
    one. A relation alone is searched thoroughly at once: what the kernel has checked for it, it need not check again.

    Raises:
        NoIdea: there is no further one.
    """
    if claim.bound_statement in (sympy.true, sympy.false):
        yield _same(claim)
        return
    if not isinstance(claim.bound_statement, Relational):
        yield search(claim)
    yield search(claim, thorough=True)


def _same(claim: Claim) -> Derivation:
    """That two quantities are one, which SymPy takes for granted as soon as both carry their model.

    Raises:
        NoIdea: the statement is another one.
    """
    if not isinstance(claim.statement, Eq):
        raise NoIdea("SymPy evaluates the statement before anything can be checked")
    sides = (bind(side, claim.decoder, claim.inputs) for side in claim.statement.args)
    said = tuple(h for h in And.make_args(sympy.sympify(claim.domain)) if h is not sympy.true)
    lines = Lines(said)
    return lines.derivation(lines.add(Eq(*sides, evaluate=False), "identity", (), ()))


def search(claim: Claim, thorough: bool = False) -> Derivation:
    """A derivation of ``claim`` for the kernel to check.

    Raises:
        NoIdea: none was found; the message says what is missing.
    """
    statement = claim.bound_statement
    with _asking_sympy():
        forms = _forms(claim, statement)
        last = _whole(claim, forms, statement) or Prover(forms, thorough).show(statement, ())
    return forms.lines.derivation(last)


def _whole(claim: Claim, forms: Forms, statement: Basic) -> str | None:
    if not statement.has(Derivative, Limit):
        return None
    try:
        return instance(forms, statement, model_of(Score(1, 1, 1, decoder=claim.decoder, inputs=claim.inputs)))
    except NoIdea:
        return None


def limits(claim: Claim) -> Iterator[tuple[Limit, Expr, Derivation]]:
    """The limits in a claim with their values and derivations of these, for the kernel to check.

    They are worked out from the closed forms, not from any stated limit, so that a wrong statement about a limit can be
    held against the right value.
    """
    for limit in sorted(claim.bound_statement.atoms(Limit), key=str):
        try:
            with _asking_sympy():
                forms = _forms(claim, limit)
                form = limit_form(forms, limit, ())
        except (NoIdea, Open):
            continue
        value = form.value.xreplace({letter: value for value, letter in forms.letters.names.items()})
        yield limit, value, forms.lines.derivation(form.premises[0])


def _forms(claim: Claim, part: Basic) -> Forms:
    """The closed forms for the quantities in a part of a claim, under the hypotheses of its domain."""
    quantities = sorted(part.atoms(Quantity), key=lambda q: (str(q), str(q.args[3:])))
    models = [model_of(q) for q in quantities]
    domain = sympy.sympify(claim.domain)
    bound = {limit.args[1] for limit in part.atoms(Limit)}
    indices = {k for total in part.atoms(Sum) for k in total.variables}
    said = tuple(h for h in And.make_args(domain) if h is not sympy.true and not h.free_symbols & bound)
    hypotheses = (*said, *_understood(domain, quantities, said, bound | indices))
    letters = Letters(models, hypotheses)
    return Forms(Lines((*letters.hypotheses, *hypotheses)), letters)


def _understood(domain: Basic, quantities: list[Quantity], said: Given, bound: set[Basic]) -> Given:
    """What the models say of alpha where the domain does not mention it: the inputs are linearly independent."""
    found: dict[Basic, None] = {}
    for q in quantities:
        a = model_of(q).alpha
        if not a.free_symbols or a.free_symbols & (domain.free_symbols | bound):
            continue
        for count in (q.query, q.key):
            if count.free_symbols & bound:
                continue
            found[Gt(1 + (count - 1) * a, 0)] = None
            if follows(Ge(count, 2), said):
                found[Lt(a, 1)] = None
    return tuple(h for h in found if h is not sympy.true)
