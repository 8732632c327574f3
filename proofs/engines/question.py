"""A claim, read once into terms: what every engine answers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

from maskproof.proofs.terms import terms as t
from maskproof.proofs.terms.reading import read_statement
from maskproof.proofs.terms.understood import understood
from maskproof.theory.claim import Claim


@dataclass(frozen=True, eq=False)
class Question:
    """A claim in terms.

    Attributes:
        claim: where it comes from.
        statement: what is said.
        domain: where it is said.
        understood: what is understood of the models in the statement; part of the domain.
        variables: all on which statement and domain depend, by name.
    """

    claim: Claim
    statement: t.Statement
    domain: t.Statement
    understood: tuple[t.Statement, ...]
    variables: tuple[t.Variable, ...]

    @cached_property
    def laws(self) -> frozenset[t.Law]:
        """The laws of all inputs that the statement mentions; a 1/d term is an exact number whatever its law."""
        return frozenset(_laws(self.statement))

    @property
    def deterministic(self) -> bool:
        """Whether it is about exact numbers, not about expectations over random inputs."""
        return all(law.kind == "equicorrelated" for law in self.laws)


def _laws(node: t.Node) -> Iterator[t.Law]:
    if isinstance(node, t.Law):
        yield node
    elif not isinstance(node, t.Correction):
        for part in node.parts:
            yield from _laws(part)


def question(claim: Claim) -> Question:
    """Read a claim; asked again, the same question comes back.

    Raises:
        proofs.terms.reading.Unreadable: a part of it is not in the language.
    """
    return _question(_Same(claim))


@dataclass(frozen=True, eq=False)
class _Same:
    """A claim compared by identity: claims that are equal need not be the same to SymPy's printers and readers."""

    claim: Claim

    def __hash__(self) -> int:
        return id(self.claim)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.claim is self.claim


@lru_cache(maxsize=64)
def _question(same: _Same) -> Question:
    claim = same.claim
    statement = read_statement(claim.statement, claim.decoder, claim.inputs)
    domain = read_statement(claim.domain)
    also = understood(statement, domain)
    free = statement.free.union(domain.free, *(hypothesis.free for hypothesis in also))
    return Question(claim, statement, domain, also, tuple(sorted(free, key=lambda v: (v.name, v.sort.value))))
