"""Derivations: each step a goal, put to its rule; and that every line has a value, demanded here, of all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from maskproof.proofs.kernel import induction, layer, limits, logic, order, sums  # noqa: F401  the rules register themselves
from maskproof.proofs.kernel.algebra import Undecided, alike
from maskproof.proofs.kernel.goals import RULES, Goal, Line, Supposition
from maskproof.proofs.kernel.known import Known, Rejected, demand, value_conditions
from maskproof.proofs.kernel.logic import admissible, in_language
from maskproof.proofs.terms import terms as t
from maskproof.proofs.terms.conditions import undefined_parts
from maskproof.proofs.terms.derivatives import NotSmooth
from maskproof.proofs.terms.terms import TRUE, Capture, Statement, conjuncts, substitute
from maskproof.proofs.terms.text import text
from maskproof.proofs.terms.understood import understood


@contextmanager
def _rejections(where: str) -> Iterator[None]:
    """Say where something was rejected. Whatever else goes wrong is a fault of the kernel, and stays one."""
    try:
        yield
    except (Rejected, Undecided, Capture, NotSmooth) as reason:
        raise Rejected(f"{where}: {reason}") from reason


@dataclass(frozen=True)
class Step:
    """One line of a derivation; see ``theory.derivation.Step``."""

    label: str
    statement: Statement
    rule: str
    premises: tuple[str, ...] = ()
    given: tuple[Statement, ...] = ()
    hints: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Derivation:
    """A chain of steps from hypotheses; see ``theory.derivation.Derivation``."""

    name: str
    hypotheses: tuple[Statement, ...]
    steps: tuple[Step, ...]
    lemmas: tuple[Derivation, ...] = ()

    @cached_property
    def lines(self) -> dict[str, Line]:
        """The lines by label, each checked.

        Raises:
            Rejected: a step does not follow; the message names derivation, step and reason.
        """
        lemmas = {lemma.name: lemma.lines for lemma in self.lemmas}
        lines: dict[str, Line] = {}
        for step in self.steps:
            with _rejections(f"{self.name}, step {step.label} ({step.rule})"):
                lines[step.label] = _line(step, self.hypotheses, lines, lemmas)
        return lines


def goal_of(
    step: Step,
    shared: tuple[Statement, ...],
    lines: Mapping[str, Line],
    lemmas: Mapping[str, Mapping[str, Line]],
) -> Goal:
    """The line that ``step`` states, with what its rule may use, before the rule has looked at it.

    Raises:
        Rejected: label, rule or premises are not what they should be, or a part is not in the language.
    """
    demand(step.label not in lines, "the label is taken")
    demand(step.rule in RULES, f"there is no rule {step.rule}")
    missing = [label for label in step.premises if label not in lines]
    demand(not missing, f"there is no earlier step {', '.join(missing)}")
    in_language(step.statement, *shared, *step.given)
    said = frozenset(part for h in (*shared, *step.given) for part in conjuncts(h))
    meant = {h for s in (step.statement, *said) for h in understood(s, TRUE)}
    premises = tuple(lines[label] for label in step.premises)
    return Goal(step.statement, said | meant, premises=premises, hints=step.hints, lemmas=lemmas)


def _line(
    step: Step,
    shared: tuple[Statement, ...],
    lines: Mapping[str, Line],
    lemmas: Mapping[str, Mapping[str, Line]],
) -> Line:
    goal = goal_of(step, shared, lines, lemmas)
    left = RULES[step.rule](goal)
    cited = lemmas.get(step.hints.get("lemma", ""), {}).get(step.hints.get("step", ""))
    rests_on = goal.premises if cited is None else (*goal.premises, cited)
    supposed = frozenset[Supposition]().union(*(line.supposed for line in rests_on))
    _demand_value(step.statement, goal.known)
    return Line(step.statement, goal.hypotheses, supposed if left is None else left)


def prove(statement: Statement, domain: Statement, derivation: Derivation) -> None:
    """Check that ``derivation`` ends with ``statement`` on the whole of ``domain``.

    What is understood of the models in the statement counts as part of the domain. A hypothesis that a variable equals
    a value, where statement, domain and models do not mention the variable, is a definition: its value is put in.

    Raises:
        Rejected: it does not.
    """
    demand(bool(derivation.steps), f"{derivation.name} has no steps")
    last = derivation.lines[derivation.steps[-1].label]
    demand(not last.supposed, f"{derivation.name} ends with what rests on a supposition")
    with _rejections(f"{derivation.name}, for the claim"):
        _prove(statement, domain, last)


def _prove(statement: Statement, domain: Statement, last: Line) -> None:
    known = _on(domain, statement)
    own = statement.free | domain.free
    values = {
        h.left: h.right
        for h in last.hypotheses
        if isinstance(h, t.Relation) and h.kind == "=" and isinstance(h.left, t.Variable) and h.left not in own
    }
    admissible(values, known)
    shown = substitute(last.statement, values)
    demand(alike(shown, statement), f"what is shown is {text(shown)}")
    for needed in last.hypotheses:
        instance = substitute(needed, values)
        demand(known.holds(instance), f"it needs {text(instance)}, which the domain does not give")
    known.grant(*value_conditions(shown))
    _demand_value(statement, known)


def _demand_value(statement: Statement, known: Known) -> None:
    lacking = known.lacking(statement)
    if lacking is not None:
        raise Rejected(f"nothing known gives {text(lacking.part)} a value: {text(lacking.statement)}")


def _on(domain: Statement, statement: Statement) -> Known:
    """What the domain says, each part of it only once the others give it a value."""
    known = Known(understood(statement, domain))
    waiting = list(conjuncts(domain))
    while waiting:
        ready = [part for part in waiting if known.lacking(part) is None and not part.heads - logic.LANGUAGE]
        if not ready:
            break
        waiting = [part for part in waiting if part not in ready]
        known = Known((*known.statements, *ready))
    for part in waiting:
        demand("Cases" not in part.heads, f"whether some case always applies is not known: {text(part)}")
        odd = next((c for c in undefined_parts(part) if not known.meets(c)), None)
        if odd is not None:
            raise Rejected(f"the domain need not have a value: {text(odd.statement)} in {text(odd.part)}")
    return known
