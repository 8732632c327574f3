"""A derivation: statements, each with the rule that yields it from earlier ones.

This module only holds the text of an argument. Whether it is right is for ``proofs.kernel`` to say,
which knows the rules and checks every step.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sympy.logic.boolalg import Boolean


@dataclass(frozen=True)
class Step:
    """One line of a derivation: under the hypotheses and ``given``, ``statement``.

    Attributes:
        label: a short name, unique in the derivation, by which later steps refer to it.
        statement: a SymPy relation or a Boolean combination of relations.
        rule: the name of the kernel rule that yields it.
        premises: labels of the earlier steps it uses.
        given: further hypotheses of this line alone (a case, the range of a summation index).
        hints: what the rule needs to be told; a wrong hint makes the step fail, never pass.
        why: the reason, in a reader's words.
    """

    label: str
    statement: Boolean
    rule: str
    premises: tuple[str, ...] = ()
    given: tuple[Boolean, ...] = ()
    hints: Mapping[str, Any] = field(default_factory=dict)
    why: str = ""


@dataclass(frozen=True)
class Derivation:
    """A chain of steps from hypotheses to the statement of the last step.

    Attributes:
        name: how ``maskproof derive`` calls it.
        title: a heading.
        hypotheses: relations assumed throughout. A definition such as r = exp(beta (1 - alpha)) is
            a hypothesis Eq(r, ...), and whoever cites the derivation puts the value in.
        steps: the argument.
        lemmas: derivations whose steps this one cites.
        intro: what is shown and why, in a sentence or two.
    """

    name: str
    title: str
    hypotheses: tuple[Boolean, ...]
    steps: tuple[Step, ...]
    lemmas: tuple[Derivation, ...] = ()
    intro: str = ""

    @property
    def conclusion(self) -> Boolean:
        """The statement of the last step."""
        return self.steps[-1].statement
