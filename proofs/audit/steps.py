"""The small changes to a derivation: to a line, to what it cites, to what it assumes; in its lemmas as well."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

from sympy import S

from maskproof.proofs.audit.slips import Slip, changed, slips
from maskproof.theory.derivation import Derivation, Step

Rebuild = Callable[[Derivation], Derivation]  # a changed part in, the whole out


@dataclass(frozen=True)
class StepChange:
    """A change to one line.

    Attributes:
        where: the derivation and the label of the line.
        kind: what sort of change.
        what: says what was changed.
        make: the whole derivation afterwards, or None if nothing is left of the line.
    """

    where: str
    kind: str
    what: object
    make: Callable[[], Derivation | None]


def step_changes(proof: Derivation) -> Iterator[StepChange]:
    """Every small change to a derivation and to the lemmas that it leans on."""
    for derivation, rebuild in _derivations(proof, lambda whole: whole, set()):
        for place, hypothesis in enumerate(derivation.hypotheses):
            rest = (*derivation.hypotheses[:place], *derivation.hypotheses[place + 1 :])
            make = partial(_without, derivation, rest, rebuild)
            yield StepChange(derivation.name, "hypothesis", f"without {hypothesis}", make)
        for place, step in enumerate(derivation.steps):
            for kind, what, make in _in_step(step):
                put = partial(_with_step, derivation, place, make, rebuild)
                yield StepChange(f"{derivation.name}, {step.label}", kind, what, put)


def _derivations(of: Derivation, rebuild: Rebuild, seen: set[int]) -> Iterator[tuple[Derivation, Rebuild]]:
    """A derivation and all that it leans on, each once, with the way to put another in its place."""
    if id(of) in seen:
        return
    seen.add(id(of))
    yield of, rebuild
    for place, lemma in enumerate(of.lemmas):
        yield from _derivations(lemma, partial(_with_lemma, of, place, rebuild), seen)


def _with_lemma(of: Derivation, place: int, rebuild: Rebuild, lemma: Derivation) -> Derivation:
    return rebuild(replace(of, lemmas=(*of.lemmas[:place], lemma, *of.lemmas[place + 1 :])))


def _without(of: Derivation, rest: tuple, rebuild: Rebuild) -> Derivation:
    return rebuild(replace(of, hypotheses=rest))


def _with_step(of: Derivation, place: int, make: Callable[[], Step | None], rebuild: Rebuild) -> Derivation | None:
    step = make()
    return None if step is None else rebuild(replace(of, steps=(*of.steps[:place], step, *of.steps[place + 1 :])))


def _in_step(step: Step) -> Iterator[tuple[str, object, Callable[[], Step | None]]]:
    for slip in slips(step.statement):
        yield slip.kind, slip, partial(_restated, step, slip)
    for name in dict.fromkeys(step.premises):
        rest = tuple(label for label in step.premises if label != name)
        yield "premise", f"without premise {name}", partial(replace, step, premises=rest)
    for place, given in enumerate(step.given):
        rest = (*step.given[:place], *step.given[place + 1 :])
        yield "hypothesis", f"without {given}", partial(replace, step, given=rest)


def _restated(step: Step, slip: Slip) -> Step | None:
    statement = changed(slip, step.statement)
    return None if statement in (None, S.true) else replace(step, statement=statement)
