"""The small changes to a claim: to its statement, its domain, its model, its proof; and a choice among them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice, zip_longest
from typing import TypeVar
from zlib import crc32

import sympy
from sympy import S

from maskproof.proofs.audit.slips import Slip, changed, conjuncts_dropped, slips
from maskproof.proofs.audit.steps import StepChange, step_changes
from maskproof.theory.claim import Claim
from maskproof.theory.decoder import Bidirectional
from maskproof.theory.errors import InvalidInput
from maskproof.theory.quantities import Quantity

PLACES = ("statement", "domain", "model", "step")
KINDS = (
    "sign", "term", "constant", "exponent", "index", "strictness", "inverse", "hypothesis", "premise", "mask",
    "residual", "position",
)  # fmt: skip

T = TypeVar("T")


@dataclass(frozen=True)
class Change:
    """One change to a claim.

    Attributes:
        claim: the id of the claim.
        place: one of ``PLACES``.
        kind: what sort of change, one of ``KINDS``.
        what: says what was changed.
        make: the claim afterwards, or None if nothing is left to be checked. Its own proof is left out unless the
            proof is what was changed.
    """

    claim: str
    place: str
    kind: str
    what: object
    make: Callable[[], Claim | None]

    @property
    def in_proof(self) -> bool:
        """Whether the derivation was changed and the statement was not."""
        return self.place == "step"


def changes(claim: Claim) -> Iterator[Change]:
    """Every small change to a claim, the statement first."""
    bare = replace(claim, proof=None, uses=())
    statement, domain = sympy.sympify(claim.statement), sympy.sympify(claim.domain)
    for slip in slips(statement):
        yield Change(claim.id, "statement", slip.kind, slip, partial(_restated, bare, slip))
    for slip in chain(conjuncts_dropped(domain), slips(domain)):
        yield Change(claim.id, "domain", slip.kind, slip, partial(_elsewhere, bare, slip))
    if any(q.decoder is None for q in statement.atoms(Quantity)):
        for kind, what, parts in _of_model(claim):
            yield Change(claim.id, "model", kind, what, partial(_remodelled, bare, parts))
    if claim.proof is not None:
        for change in step_changes(claim.proof):
            what = f"{change.what} in {change.where}"
            yield Change(claim.id, "step", change.kind, what, partial(_reproved, claim, change))


def chosen(found: Iterable[Change], most: int | None, seed: int = 0) -> list[tuple[Change, Claim]]:
    """At most so many of them with the changed claims, the same ones each time.

    The places take turns, and at each place the kinds; which kind comes first differs from claim to claim and from seed
    to seed, so that many claims together show every kind even where each shows a few.
    """
    groups: dict[str, dict[str, list[Change]]] = {place: defaultdict(list) for place in PLACES}
    for change in found:
        groups[change.place][change.kind].append(change)
    places = [
        _in_turn(_scattered([_scattered(same, seed) for same in kinds.values()], seed)) for kinds in groups.values()
    ]
    made = ((change, new) for change in _in_turn(places) if (new := change.make()) is not None)
    return list(islice(made, most))


def _in_turn(queues: Iterable[Iterable[Change]]) -> Iterator[Change]:
    return (change for row in zip_longest(*queues) for change in row if change is not None)


def _scattered(several: list[T], seed: int) -> list[T]:
    """In an order that depends on the claim and on the seed alone, not on what stands first in a formula."""
    name = _claim_of(several)

    def key(place: int) -> int:
        # CRC is linear: with the seed among what is summed, all keys would change by the same bits.
        return crc32(f"{name} 0 {place}".encode()) * (2 * seed + 1) % 2**32

    return [several[place] for place in sorted(range(len(several)), key=key)]


def _claim_of(several: object) -> str:
    while isinstance(several, list) and several:
        several = several[0]
    return several.claim if isinstance(several, Change) else ""


def _restated(claim: Claim, slip: Slip) -> Claim | None:
    statement = changed(slip, claim.statement)
    return None if statement in (None, S.true) else replace(claim, statement=statement)


def _elsewhere(claim: Claim, slip: Slip) -> Claim | None:
    domain = changed(slip, claim.domain)
    return None if domain is None else replace(claim, domain=domain)


def _of_model(claim: Claim) -> Iterator[tuple[str, str, dict[str, object]]]:
    """Parts of the decoder that one might forget."""
    decoder = claim.decoder
    if type(decoder.mask) is not Bidirectional:
        yield "mask", "no mask", {"mask": Bidirectional()}
    if decoder.beta not in (0, 1):
        yield "inverse", f"inverse temperature {1 / decoder.beta} for {decoder.beta}", {"beta": 1 / decoder.beta}
    if decoder.residual != 0:
        yield "residual", "no residual", {"residual": 0}
    if decoder.position is not None:
        yield "position", "no position code", {"position": None}


def _remodelled(claim: Claim, parts: dict[str, object]) -> Claim | None:
    try:
        return replace(claim, decoder=replace(claim.decoder, **parts))  # type: ignore[arg-type]
    except InvalidInput:  # some position codes say nothing of later keys
        return None


def _reproved(claim: Claim, change: StepChange) -> Claim | None:
    proof = change.make()
    return None if proof is None else replace(claim, proof=proof)
