"""A claim: one statement, the hypotheses it needs, and where it comes from.

A claim carries no status. Verdicts are computed by ``proofs.verify``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import sympy
from sympy import Basic, Symbol
from sympy.core.relational import Relational
from sympy.logic.boolalg import Boolean, BooleanFalse, BooleanFunction, BooleanTrue

from theory.decoder import Decoder
from theory.derivation import Derivation
from theory.domain import find_point
from theory.errors import InvalidInput
from theory.inputs import Equicorrelated, Inputs
from theory.quantities import Quantity, bind
from theory.symbols import DECLARED, alpha


class MalformedClaim(InvalidInput):
    """A claim that says nothing that could be checked."""


@dataclass(frozen=True)
class Claim:
    """A statement that holds, it is claimed, at every point of a domain.

    Attributes:
        id: permanent name, such as ``kim2025.eq4``.
        statement: a SymPy relation or a Boolean combination of relations, over the quantities and
            the declared symbols.
        domain: a SymPy Boolean on the symbols; the statement is claimed wherever it holds.
        decoder, inputs: the model that quantities without their own refer to. With
            ``Equicorrelated`` they are exact numbers; with a random law, expectations over it.
        source: paper and equation.
        note: how the statement renders the source, and why so.
        uses: ids of the claims it leans on: it is proved only if they are.
        proof: a derivation of the statement on the whole domain, or None.
    """

    id: str
    statement: Any
    domain: Any = True
    decoder: Decoder = field(default_factory=Decoder)
    inputs: Inputs = field(default_factory=lambda: Equicorrelated(alpha))
    source: str = ""
    note: str = ""
    uses: tuple[str, ...] = ()
    proof: Derivation | None = None

    @property
    def bound_statement(self) -> Boolean:
        """The statement, every quantity carrying its decoder and its input law."""
        return bind(sympy.sympify(self.statement), self.decoder, self.inputs)

    @property
    def free_symbols(self) -> tuple[Symbol, ...]:
        """The symbols that the claim quantifies over, in alphabetical order."""
        parts: set[Basic] = set(self.bound_statement.free_symbols)
        parts |= sympy.sympify(self.domain).free_symbols
        return tuple(sorted((s for s in parts if isinstance(s, Symbol)), key=lambda s: s.name))

    def check(self) -> None:
        """Refuse a claim that is not well formed.

        Raises:
            MalformedClaim: the statement or the domain is not a Boolean combination of relations,
                a symbol is not declared, or the domain is empty.
        """
        if not isinstance(self.id, str) or not self.id.strip() or not self.id.isprintable():
            raise MalformedClaim(f"claim id {self.id!r}", "'a claim has a name'", "give it an id of one printable line")
        if not isinstance(self.uses, tuple) or not all(isinstance(name, str) for name in self.uses):
            raise self._malformed(f"uses {self.uses!r}", "'uses is a tuple of ids'", 'write uses=("id",)')
        if not isinstance(self.source, str) or not isinstance(self.note, str):
            raise self._malformed("source or note", "'they are text'", "write them as strings")
        if self.proof is not None and not (isinstance(self.proof, Derivation) and self.proof.steps):
            raise self._malformed("proof", "'a proof is a Derivation with steps'", "leave it out to have one searched")
        if not isinstance(self.decoder, Decoder):
            raise self._malformed(f"decoder {self.decoder!r}", "'decoder is a Decoder'", "use Decoder(...)")
        if not isinstance(self.inputs, Inputs):
            raise self._malformed(
                f"inputs {self.inputs!r}",
                "'inputs is an input law'",
                "use Equicorrelated, Sphere or SharedGaussian",
            )
        if isinstance(self.statement, bool) or self.domain is False:
            raise self._malformed(
                f"{'domain' if self.domain is False else 'statement'} {self.statement if self.domain else False}",
                "'it is a formula'",
                "Python's == and != compare at once and leave True or False: write Eq and Ne",
            )
        for name, part in (("statement", self.statement), ("domain", self.domain)):
            if not _is_logical(part):
                raise self._malformed(
                    f"{name} {part!r}",
                    f"'the {name} is a SymPy relation or a Boolean combination of relations'",
                    "write Eq, Lt, Le, Gt, Ge, Ne, joined by And, Or, Not, Implies",
                )
        for name, part in (("statement", self.statement), ("domain", self.domain)):
            if part is not True and part in (sympy.true, sympy.false) and (name, part) != ("domain", sympy.true):
                raise self._malformed(
                    f"{name} {part}",
                    "'it is a formula'",
                    "SymPy evaluated it before anything could be checked: write it so that symbols remain",
                )
        if sympy.sympify(self.domain).has(Quantity):
            raise self._malformed(
                "a quantity in the domain", "'a domain is about symbols'", "move it into the statement with Implies"
            )
        undeclared = [s for s in self.free_symbols if s not in DECLARED]
        if undeclared:
            name = undeclared[0].name
            known = name in {symbol.name for symbol in DECLARED}
            raise self._malformed(
                f"symbol {name}" + (f", which is not theory.{name}," if known else ""),
                "'every free symbol is declared'",
                "import i, j, k, n, d, alpha, beta, lam or m from theory instead of making a symbol",
            )
        if find_point(sympy.sympify(self.domain), self.free_symbols) is None:
            raise self._malformed(
                f"domain {self.domain}", "'the domain has a point'", "a claim about nothing is refused"
            )

    def _malformed(self, what: str, violates: str, remedy: str) -> MalformedClaim:
        return MalformedClaim(f"claim {self.id}: {what}", violates, remedy)


def _is_logical(part: object) -> bool:
    """Whether ``part`` is built from relations by Boolean connectives."""
    if isinstance(part, Relational):
        return all(isinstance(side, sympy.Expr) for side in part.args)
    if isinstance(part, (bool, BooleanTrue, BooleanFalse)):
        return True
    return isinstance(part, BooleanFunction) and all(map(_is_logical, sympy.sympify(part).args))
