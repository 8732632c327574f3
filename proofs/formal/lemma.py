"""A line as a lemma, and its application."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from maskproof.proofs.formal.context import Unproved
from maskproof.proofs.formal.proof import Proof
from maskproof.proofs.formal.text import (
    argument,
    binders,
    is_integer,
    natural,
    proposition,
    sort_hypothesis,
)
from maskproof.proofs.kernel.goals import Line, Supposition
from maskproof.proofs.terms import terms as t
from maskproof.proofs.terms.terms import (
    ZERO,
    Statement,
    Term,
    at_most,
    less,
    number,
    substitute,
)

NEW_LINE = "\n  "
_DEFAULT = {t.Sort.REAL: "0", t.Sort.NONNEGATIVE: "0", t.Sort.POSITIVE: "1", t.Sort.INTEGER: "0%Z"}


@dataclass(frozen=True)
class Lemma:
    """A line as Coq states it: for all variables, from the hypotheses and what is supposed, the statement."""

    name: str
    variables: tuple[t.Variable, ...]
    hypotheses: tuple[Statement, ...]
    statement: Statement
    supposed: tuple[Supposition, ...] = ()

    @staticmethod
    def of(name: str, line: Line) -> Lemma:
        """The lemma for a line."""
        free = line.statement.free.union(*(h.free for h in line.hypotheses), (s.fixed for s in line.supposed))
        variables = tuple(sorted(free, key=lambda v: (not v.sort.integral, v.name)))
        supposed = tuple(sorted(line.supposed, key=lambda s: Lemma.supposing("", s).says()))
        return Lemma(name, variables, tuple(sorted(line.hypotheses, key=proposition)), line.statement, supposed)

    @staticmethod
    def supposing(name: str, s: Supposition) -> Lemma:
        """What is supposed at the value of one variable, as a lemma about all others."""
        lemma = Lemma.of(name, Line(s.statement, s.hypotheses))
        return replace(lemma, variables=tuple(v for v in lemma.variables if v != s.fixed))

    def says(self, conclusion: str | None = None, between: str = " ") -> str:
        """The proposition, with its own conclusion or another."""
        sorts = [h for v in self.variables if (h := sort_hypothesis(v)) is not None]
        supposed = [f"({Lemma.supposing('', s).says()})" for s in self.supposed]
        parts = [*sorts, *map(proposition, self.hypotheses), *supposed, conclusion or proposition(self.statement)]
        quantified = f"forall {binders(list(self.variables))},{between}" if self.variables else ""
        return quantified + f" ->{between}".join(parts)

    def text(self, name: str | None = None, conclusion: str | None = None) -> str:
        """The sentence that states it, under its own name or another, with its own conclusion or another."""
        return f"Lemma {name or self.name} : {self.says(conclusion, NEW_LINE)}."

    def intro(self, proof: Proof) -> str:
        """The introduction of variables and hypotheses, which ``proof`` then knows by name."""
        names = [v.name for v in self.variables]
        for v in self.variables:
            prop = sort_hypothesis(v)
            if prop is not None:
                names.append(f"S_{v.name}")
                proof.assume(prop, names[-1])
        for place, h in enumerate(self.hypotheses, 1):
            names.append(f"H_{place}")
            proof.assume(proposition(h), names[-1])
        for place, s in enumerate(self.supposed, 1):
            names.append(f"I_{place}")
            proof.assume(Lemma.supposing("", s).says(), names[-1])
        return f"intros {' '.join(names)}." if names else "intros."


def apply_lemma(proof: Proof, lemma: Lemma, values: Mapping[t.Variable, Term], scope: frozenset[t.Variable]) -> str:
    """Name of the lemma, put at ``values``, its hypotheses shown; the statement is as Coq instantiates it."""
    arguments = []
    for v in lemma.variables:
        if v in values:
            arguments.append(natural(values[v]) if v.sort.integral else argument(values[v]))
        elif v in scope:
            arguments.append(v.name)
        else:
            arguments.append(_DEFAULT.get(v.sort, "1%nat"))
    full = {v: values.get(v, v if v in scope else number(int(_DEFAULT.get(v.sort, "1")[0]))) for v in lemma.variables}
    needed: list[str] = []
    for v in lemma.variables:
        prop = sort_hypothesis(v)
        if prop is None:
            continue
        if prop in proof.names and v not in values:
            needed.append(proof.names[prop])
        elif v.sort.integral:
            needed.append("ltac:(lia)")
        elif v not in values or is_integer(full[v]):
            needed.append("ltac:(lra)")
        else:
            relation = less if v.sort is t.Sort.POSITIVE else at_most
            name = proof.prove(relation(ZERO, full[v]))
            needed.append(name)
    for h in lemma.hypotheses:
        name = proof.prove(substitute(h, full))
        moved = any(v in h.free for v in full if full[v] != v)
        needed.append(f"ltac:(first [exact {name} | transport {name} | lia])" if moved else name)
    for s in lemma.supposed:
        said = Lemma.supposing("", s).says()
        if said not in proof.names:
            raise Unproved(f"{lemma.name} rests on a supposition that is not made here")
        needed.append(proof.names[said])
    return " ".join((lemma.name, *arguments, *needed))
