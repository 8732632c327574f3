"""Derivations as they are written, in SymPy, put to the kernel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from maskproof.proofs.kernel import checking
from maskproof.proofs.kernel.goals import Line
from maskproof.proofs.kernel.known import Rejected, demand
from maskproof.proofs.terms.reading import Unreadable, read_statement, read_term, read_variable
from maskproof.theory.claim import Claim
from maskproof.theory.derivation import Derivation, Step

_read: dict[int, tuple[Derivation, checking.Derivation]] = {}


def read(derivation: Derivation) -> checking.Derivation:
    """A derivation in terms; each is read once.

    Raises:
        Rejected: a part is not in the language.
    """
    known = _read.get(id(derivation))
    if known is None or known[0] is not derivation:
        _refuse_ill_typed(derivation)
        lemmas = tuple(map(read, derivation.lemmas))
        try:
            hypotheses = tuple(map(read_statement, derivation.hypotheses))
        except Unreadable as reason:
            raise Rejected(f"{derivation.name}: {reason}") from None
        steps = tuple(_step(derivation.name, step) for step in derivation.steps)
        known = _read[id(derivation)] = derivation, checking.Derivation(derivation.name, hypotheses, steps, lemmas)
    return known[1]


def _refuse_ill_typed(derivation: Derivation) -> None:
    """Look at the kind of every part before it is used.

    Raises:
        Rejected: one is of another kind than it should be.
    """

    def are(kind: type, values: object, part: str) -> None:
        right = isinstance(values, tuple | list) and all(isinstance(value, kind) for value in values)
        demand(right, f"{derivation.name}: {part} {values!r} are no tuple of what they should be")

    are(object, derivation.hypotheses, "hypotheses")
    are(Derivation, derivation.lemmas, "lemmas")
    are(Step, derivation.steps, "steps")
    for step in derivation.steps:
        are(str, (step.label, step.rule), "label and rule")
        are(str, step.premises, f"premises of {step.label}")
        are(object, step.given, f"hypotheses of {step.label}")
        demand(isinstance(step.hints, Mapping), f"{derivation.name}: hints of {step.label} have no names")


def _step(name: str, step: Step) -> checking.Step:
    try:
        return checking.Step(
            step.label,
            read_statement(step.statement),
            step.rule,
            tuple(step.premises),
            tuple(map(read_statement, step.given)),
            {key: _hint(value) for key, value in step.hints.items()},
        )
    except Unreadable as reason:
        raise Rejected(f"{name}, step {step.label} ({step.rule}): {reason}") from None


def _hint(value: Any) -> Any:
    """Names stay names; formulas become terms, alone, in a tuple, or as values of symbols."""
    if isinstance(value, str):
        return value
    if isinstance(value, tuple | list):
        return tuple(map(_hint, value))
    if isinstance(value, Mapping):
        return {read_variable(symbol): read_term(term) for symbol, term in value.items()}
    return read_term(value)


def check(derivation: Derivation) -> dict[str, Line]:
    """Check every step; return the lines by label.

    Raises:
        Rejected: a step does not follow; the message names derivation, step and reason.
    """
    return read(derivation).lines


def prove(claim: Claim, derivation: Derivation) -> None:
    """Check that ``derivation`` ends with the claim's statement on the claim's whole domain.

    Raises:
        Rejected: it does not.
    """
    statement, domain = read_statement(claim.statement, claim.decoder, claim.inputs), read_statement(claim.domain)
    checking.prove(statement, domain, read(derivation))
