"""A claim: one statement, the hypotheses it needs, and where it comes from.

A claim carries no status. Verdicts are computed by ``proofs.pipeline``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import Any

import sympy
from sympy import Basic, Symbol
from sympy.core.relational import Relational
from sympy.logic.boolalg import Boolean, BooleanFalse, BooleanFunction, BooleanTrue

from maskproof.theory.decoder import Decoder
from maskproof.theory.derivation import Derivation
from maskproof.theory.domain import find_point
from maskproof.theory.errors import InvalidInput
from maskproof.theory.inputs import Equicorrelated, Inputs
from maskproof.theory.later import Part
from maskproof.theory.quantities import Quantity, bind
from maskproof.theory.symbols import DECLARED, alpha


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

    Statement, domain and proof may each be given as a function without arguments, which is called when the part is
    first asked for: who wants one claim of many, or no proof, need not wait for the others.
    """

    id: str
    statement: Part[Any] = Part()
    domain: Part[Any] = Part(True)
    decoder: Decoder = field(default_factory=Decoder)
    inputs: Inputs = field(default_factory=lambda: Equicorrelated(alpha))
    source: str = ""
    note: str = ""
    uses: tuple[str, ...] = ()
    proof: Part[Derivation | None] = Part(None)

    def __getstate__(self) -> dict[str, Any]:
        return {part.name: getattr(self, part.name) for part in fields(self)}  # a function could not be told a process

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

    def _repr_html_(self) -> str:
        from maskproof.theory.export.claim_html import claim_html  # notebooks alone ask for it

        return claim_html(self)

    def _repr_latex_(self) -> str:
        from maskproof.theory.export.claim_html import claim_latex

        return claim_latex(self)

    def check(self) -> None:
        """Refuse a claim that is not well formed.

        Raises:
            MalformedClaim: the statement or the domain is not a Boolean combination of relations,
                a symbol is not declared, or the domain is empty.
        """
        if type(self.id) is not str or not self.id.strip() or not self.id.isprintable():
            raise MalformedClaim(f"claim id {self.id!r}", "'a claim has a name'", "give it an id of one printable line")
        for complaints in (self._fields, self._formulas, self._symbols):
            for what, violates, remedy in complaints():
                raise MalformedClaim(f"claim {self.id}: {what}", violates, remedy)

    def _fields(self) -> Iterator[Complaint]:
        """What is wrong with everything but the formulas."""
        if not isinstance(self.uses, tuple) or not all(isinstance(name, str) for name in self.uses):
            yield f"uses {self.uses!r}", "'uses is a tuple of ids'", 'write uses=("id",)'
        if not isinstance(self.source, str) or not isinstance(self.note, str):
            yield "source or note", "'they are text'", "write them as strings"
        if self.proof is not None and not (isinstance(self.proof, Derivation) and self.proof.steps):
            yield "proof", "'a proof is a Derivation with steps'", "leave it out to have one searched"
        if not isinstance(self.decoder, Decoder):
            yield f"decoder {self.decoder!r}", "'decoder is a Decoder'", "use Decoder(...)"
        if not isinstance(self.inputs, Inputs):
            remedy = "use Equicorrelated, Sphere or SharedGaussian"
            yield f"inputs {self.inputs!r}", "'inputs is an input law'", remedy

    def _formulas(self) -> Iterator[Complaint]:
        """What is wrong with statement and domain as formulas; a domain may be True."""
        for name, part in (("statement", self.statement), ("domain", self.domain)):
            if name == "domain" and (part is True or part is sympy.true):
                continue
            if isinstance(part, bool):
                remedy = "Python's == and != compare at once and leave True or False: write Eq and Ne"
                yield f"{name} {part}", "'it is a formula'", remedy
            elif part is sympy.true or part is sympy.false:
                remedy = "SymPy evaluated it before anything could be checked: write it so that symbols remain"
                yield f"{name} {part}", "'it is a formula'", remedy
            elif not _is_logical(part):
                violates = f"'the {name} is a SymPy relation or a Boolean combination of relations'"
                yield f"{name} {part!r}", violates, "write Eq, Lt, Le, Gt, Ge, Ne, joined by And, Or, Not, Implies"

    def _symbols(self) -> Iterator[Complaint]:
        """What is wrong with the symbols and with the points that they range over."""
        domain = sympy.sympify(self.domain)
        if domain.has(Quantity):
            remedy = "move it into the statement with Implies"
            yield "a quantity in the domain", "'a domain is about symbols'", remedy
        for name in (symbol.name for symbol in self.free_symbols if symbol not in DECLARED):
            other = f", which is not theory.{name}," if name in {symbol.name for symbol in DECLARED} else ""
            remedy = "import i, j, k, n, d, alpha, beta, lam or m from theory instead of making a symbol"
            yield f"symbol {name}{other}", "'every free symbol is declared'", remedy
        if find_point(domain, self.free_symbols) is None:
            yield f"domain {self.domain}", "'the domain has a point'", "a claim about nothing is refused"


Complaint = tuple[str, str, str]  # what, the hypothesis it violates, a remedy


def _is_logical(part: Any) -> bool:
    """Whether ``part`` is built from relations by Boolean connectives."""
    if isinstance(part, Relational):
        return all(isinstance(side, sympy.Expr) for side in part.args)
    if isinstance(part, (bool, BooleanTrue, BooleanFalse)):
        return True
    return isinstance(part, BooleanFunction) and all(map(_is_logical, part.args))
