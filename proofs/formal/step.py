"""A step to be shown, and the scripts for the rules of the kernel."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from maskproof.proofs.formal.lemma import Lemma, apply_lemma
from maskproof.proofs.formal.proof import Proof
from maskproof.proofs.formal.text import (
    existences,
    real,
)
from maskproof.proofs.kernel.goals import Goal
from maskproof.proofs.kernel.known import Known
from maskproof.proofs.terms import terms as t
from maskproof.proofs.terms.terms import (
    Relation,
    Term,
)

Script = Callable[["Step"], str]
SCRIPTS: dict[str, Script] = {}


class Step:
    """A step to be shown: its goal, the lemmas that are there, and the proof so far."""

    def __init__(
        self,
        goal: Goal,
        lemma: Lemma,
        premises: Mapping[str, Lemma],
        cited: Lemma | None,
        use_values: Callable[[Proof, frozenset[t.Variable]], None] = lambda *_: None,
    ) -> None:
        self.goal, self.lemma, self.cited, self.use_values = goal, lemma, cited, use_values
        self.scope = frozenset(lemma.variables)
        self.proof = Proof(Known(goal.ordered))
        self.proof.add(lemma.intro(self.proof))
        self.premises = premises
        self.proof.learn(goal.ordered)

    def use_premises(self) -> None:
        """Assert the premises whose hypotheses follow; their equations serve for rewriting."""
        usable = []
        for lemma, line in zip(self.premises.values(), self.goal.premises, strict=True):
            if all(map(self.goal.assumed.holds, line.hypotheses)):
                self.proof.state(lemma.statement, f"exact ({apply_lemma(self.proof, lemma, {}, self.scope)})")
                usable.append(lemma.statement)
        self.proof.equations.clear()
        self.proof.learn(usable)
        self.proof.known = self.goal.known

    def write(self, rule: str) -> list[str]:
        """The sentences of the proof.

        Raises:
            Unproved, Unprintable: the exporter does not know how.
        """
        self.proof.add("reals.")
        last = SCRIPTS[rule](self)
        if rule not in ("derivative", "cite") and existences(self.goal.statement):
            last = f"repeat (split; [assumption|]); {last}"
        return [*self.proof.lines, last if last.endswith(("}", ".")) else f"{last}."]

    @property
    def sides(self) -> tuple[Term, Term]:
        """Left and right side of the goal."""
        assert isinstance(self.goal.statement, Relation)
        return self.goal.statement.left, self.goal.statement.right


def script(write: Script) -> Script:
    """Register a script under the name of its rule."""
    SCRIPTS[write.__name__.rstrip("_")] = write
    return write


def by_definition(step: Step, definition: Term, law: str) -> str:
    """Goal a = b, where ``law`` shows a = ``definition``."""
    left, right = step.sides
    name = step.proof.have(f"({real(left)} = {real(definition)})", f"{law}", "D")
    proved = step.proof.equation(definition, right, rewriting=True)
    return f"try rewrite {name}; {proved}" if proved != "reflexivity" else f"exact {name}"
