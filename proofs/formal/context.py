"""A Coq proof under construction: what is asserted so far, by the text of the proposition."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Self

from maskproof.proofs.formal.text import RELATIONS, existences, proposition, real
from maskproof.proofs.kernel.known import Known
from maskproof.proofs.kernel.signs import Facts
from maskproof.proofs.terms import terms as t
from maskproof.proofs.terms.terms import Relation, Statement, Term


class Unproved(ValueError):
    """The exporter has no proof of what the kernel takes as known."""


class Context(ABC):
    """Sentences of a proof; ``names`` says what each proposition that has been asserted is called."""

    def __init__(self, known: Known) -> None:
        self.known = known
        self.lines: list[str] = []
        self.names: dict[str, str] = {}
        self.equations: dict[Term, tuple[Term, str]] = {}  # left side -> right side, name of the equation
        self.failed: set[tuple[str, Term]] = set()
        self._count = 0

    def add(self, line: str) -> None:
        """One more sentence."""
        self.lines.append(line)

    def fresh(self, letter: str) -> str:
        """A name that nothing has yet."""
        self._count += 1
        return f"{letter}{self._count}"

    def inside(self, known: Known) -> Self:
        """A proof within this one, about more variables, which sees what is asserted here."""
        inner = type(self)(known)
        inner.names, inner._count = dict(self.names), self._count + 1000
        return inner

    def assume(self, prop: str, name: str) -> str:
        """``name`` proves ``prop`` in the context already."""
        self.names[prop] = name
        return name

    def have(self, prop: str, script: str, letter: str = "H") -> str:
        """Assert ``prop`` unless it has been; return its name."""
        name = self.names.get(prop)
        if name is None:
            name = self.names[prop] = self.fresh(letter)
            self.add(f"assert ({name} : {prop}) by ({script}).")
        return name

    def state(self, statement: Statement, script: str, letter: str = "P") -> str:
        """Assert a statement, and its parts, which can be used alone."""
        prop = proposition(statement)
        name = self.have(prop, script, letter)
        for part in t.conjuncts(statement):
            if part is not statement:
                self.have(proposition(part), f"decompose [and] {name}; assumption", letter)
            for further in (*existences(part), bare_relation(part)) if "Derivative" in part.heads else ():
                self.have(further, f"decompose [and] {name}; assumption", letter)
        return name

    def learn(self, statements: Iterable[Statement]) -> None:
        """Equations among what has been asserted, for rewriting."""
        for s in statements:
            for part in t.conjuncts(s):
                if isinstance(part, Relation) and part.kind == "=" and not isinstance(part.left, t.Limit):
                    name = self.names.get(bare_relation(part))
                    if name is not None and part.left not in set(part.right.walk()):
                        self.equations[part.left] = (part.right, name)

    # --- what further classes add ---------------------------------------------------------------------

    @abstractmethod
    def equation(self, left: Term, right: Term, *, rewriting: bool = False) -> str:
        """A script that closes ``left = right``; what it needs is asserted before."""

    @abstractmethod
    def sign(self, e: Term, strict: bool = True, facts: Facts | None = None) -> str:
        """Assert 0 < e (or 0 <= e), from the facts that the kernel has.

        Raises:
            Unproved: the kernel does not find it.
        """

    @abstractmethod
    def nonzero(self, e: Term, facts: Facts | None = None) -> str:
        """Assert that ``e`` does not vanish.

        Raises:
            Unproved: the kernel does not find it.
        """

    def equal(self, left: Term, right: Term, *, rewriting: bool = False) -> str:
        """Assert that both sides are equal, by field arithmetic, after rewriting by the equations if ``rewriting``."""
        prop = f"({real(left)} = {real(right)})"
        if prop in self.names:
            return self.names[prop]
        return self.have(prop, self.equation(left, right, rewriting=rewriting), "E")


def bare_relation(s: Statement) -> str:
    """A relation without what ``proposition`` adds about derivatives."""
    if isinstance(s, Relation) and "Derivative" in s.heads:
        return f"({real(s.left)} {RELATIONS[s.kind]} {real(s.right)})"
    return proposition(s)
