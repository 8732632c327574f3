"""That lines have a value: the conditions of ``proofs.terms.conditions``, stated and shown line by line.

Coq's division and root are total, so an equation may hold in Coq of terms that have no value. The lemma
``step_..._has_value`` of a line says that its denominators do not vanish, its radicands are not negative, its positions
are at least 1 and visible, and its vectors exist and do not vanish. Limits and derivatives say of themselves that they
exist, in the statement of the line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from maskproof.proofs.formal.conclusions import moved_positions, projection
from maskproof.proofs.formal.context import Unproved
from maskproof.proofs.formal.lemma import Lemma, apply_lemma
from maskproof.proofs.formal.proof import Proof
from maskproof.proofs.formal.rules.logic import in_cases
from maskproof.proofs.formal.step import Step
from maskproof.proofs.formal.text import Unprintable, natural, proposition, sort_hypothesis, type_of
from maskproof.proofs.kernel.algebra import canonical
from maskproof.proofs.kernel.known import Known, value_conditions, within
from maskproof.proofs.terms import terms as t
from maskproof.proofs.terms.conditions import Condition, Range
from maskproof.proofs.terms.terms import Statement, substitute


@dataclass(frozen=True)
class Value:
    """A condition of a line, under the premises of the implications that it stands in."""

    condition: Condition
    under: tuple[Statement, ...] = ()

    @property
    def text(self) -> str:
        """The condition as a proposition."""
        written = proposition(self.condition.statement)
        for r in reversed(self.condition.ranges):
            v = r.index
            sort = sort_hypothesis(v)
            parts = [*([sort] if sort else []), *map(proposition, within(r)), written]
            written = f"(forall {v.name} : {type_of(v)}, {' -> '.join(parts)})"
        for premise in reversed(self.under):
            written = f"({proposition(premise)} -> {written})"
        return written

    def at(self, values: Mapping[t.Variable, t.Term]) -> Value:
        """With values put in."""
        ranges = tuple(
            Range(r.index, substitute(r.low, values), r.high and substitute(r.high, values))
            for r in self.condition.ranges
        )
        statement = substitute(self.condition.statement, values)
        under = tuple(substitute(s, values) for s in self.under)
        return Value(Condition(statement, self.condition.part, ranges), under)

    @property
    def key(self) -> tuple[object, ...]:
        """What conditions that say the same have in common."""
        c = self.condition
        ranges = tuple((r.index, canonical(r.low), r.high and canonical(r.high)) for r in c.ranges)
        return canonical(c.statement), ranges, tuple(map(canonical, self.under))


def values_of(statement: Statement, under: tuple[Statement, ...] = ()) -> Iterator[Value]:
    """What a statement needs for a value, each condition once."""
    match statement:
        case t.Implies(premise=premise, conclusion=conclusion):
            yield from values_of(premise, under)
            yield from values_of(conclusion, (*under, premise))
        case t.And(statements=parts):
            for part in parts:
                yield from values_of(part, under)
        case t.Relation():
            for c in dict.fromkeys(value_conditions(statement)):
                if not isinstance(c.statement, t.Converges):
                    yield Value(c, under)


@dataclass(frozen=True)
class Source:
    """A lemma that says that another line has a value, put at ``values``."""

    lemma: Lemma
    has: tuple[Value, ...]
    values: Mapping[t.Variable, t.Term]
    equation: t.Relation | None = None  # of a variable, which may be used

    def place(self, value: Value) -> int | None:
        """Where among the conditions ``value`` is."""
        equals = {} if self.equation is None else {self.equation.left: self.equation.right}
        for place, other in enumerate(self.has):
            if other.at(self.values).at(equals).key == value.at(equals).key:  # type: ignore[arg-type]
                return place
        return None


def has_value(step: Step, rule: str, sources: list[Source]) -> tuple[str, tuple[Value, ...], list[str]]:
    """The lemma that a line has a value, what it says, and the conditions for which there is no proof.

    A condition follows from the hypotheses, or another line has it, or it follows from what the premises say.
    """
    lemma, proof, goal = step.lemma, step.proof, step.goal
    proof.add("reals.")
    waiting = list(dict.fromkeys(values_of(lemma.statement)))
    shown: list[tuple[Value, str]] = []
    scope = frozenset(lemma.variables)

    def attempt(way: Callable[[Value], str]) -> None:
        for value in list(waiting):
            try:
                shown.append((value, way(value)))
                waiting.remove(value)
            except (Unproved, Unprintable):
                continue

    attempt(lambda value: _shown(proof, goal.assumed, value))
    if waiting and rule != "cases":
        attempt(lambda value: _inherited(proof, value, sources, scope))
    if waiting and step.premises:
        step.use_premises()
        proof.failed.clear()
        attempt(lambda value: _shown(proof, goal.known, value))
    if waiting and rule == "cases":
        attempt(lambda value: _in_each_case(step, value, sources))
    missing = [value.text for value in waiting]
    if not shown:
        return "", (), missing
    conclusion = " /\\\n  ".join(dict.fromkeys(value.text for value, _ in shown))
    names = list({value.text: name for value, name in shown}.values())
    term = names[-1]
    for name in reversed(names[:-1]):
        term = f"(conj {name} {term})"
    last = f"exact {term}."
    body = "\n  ".join((*proof.lines, last))
    text = lemma.text(f"{lemma.name}_has_value", conclusion)
    return f"{text}\nProof.\n  {body}\nQed.\n", tuple({value.text: value for value, _ in shown}.values()), missing


def _shown(proof: Proof, known: Known, value: Value) -> str:
    """Assert a condition that follows from what is known."""
    if not value.condition.ranges and not value.under:
        return proof.prove(value.condition.statement)
    prop = value.text
    if prop in proof.names:
        return proof.names[prop]
    statements = [*known.statements, *value.under]
    for r in value.condition.ranges:
        statements = [s for s in statements if r.index not in s.free]
    statements += [h for r in value.condition.ranges for h in within(r)]
    inner = proof.inside(Known(statements, known.equations))
    intros = [inner.assume(proposition(premise), inner.fresh("I")) for premise in value.under]
    for r in value.condition.ranges:
        intros.append(r.index.name)
        sort = sort_hypothesis(r.index)
        if sort:
            intros.append(inner.assume(sort, inner.fresh("S")))
        intros.extend(inner.assume(proposition(h), inner.fresh("R")) for h in within(r))
    last = inner.prove(value.condition.statement)
    name = proof.names[prop] = proof.fresh("V")
    proof.add(
        f"assert ({name} : {prop}). {{ intros {' '.join(intros)}. reals. {' '.join(inner.lines)} exact {last}. }}"
    )
    return name


def _inherited(proof: Proof, value: Value, sources: list[Source], scope: frozenset[t.Variable]) -> str:
    """Assert a condition that another line has."""
    for source in sources:
        place = source.place(value)
        if place is None:
            continue
        applied = apply_lemma(proof, source.lemma, source.values, scope)
        name = proof.names.get(applied)
        if name is None:
            name = proof.names[applied] = proof.fresh("V")
            proof.add(f"pose proof ({applied}) as {name}.")
            for raw, written in moved_positions(source.lemma.statement, source.values):
                proof.add(f"try replace {raw} with {written} in {name} by lia.")
        part = projection(name, place, len(source.has))
        script = f"let T := fresh in pose proof {part} as T; cbv beta in T; first [exact T | transport T]"
        if source.equation is not None and isinstance(source.equation.left, t.Variable):
            v = source.equation.left.name
            script = f"assert ({v} = {natural(source.equation.right)}) by lia; subst {v}; {script}"
            return proof.have(value.text, script, "V")
        said = source.has[place].at(source.values)
        held = proof.have(said.text, script, "V")
        if said.text == value.text or value.condition.ranges or value.under:
            return held if said.text == value.text else proof.have(value.text, f"transport {held}", "V")
        return proof.have(value.text, proof.same(said.condition.statement, value.condition.statement, held), "V")
    raise Unproved(value.text)


def of_value(lemma: Lemma) -> Lemma:
    """The lemma that says that the line of ``lemma`` has a value."""
    return replace(lemma, name=f"{lemma.name}_has_value")


def use_all(sources: list[Source], proof: Proof, scope: frozenset[t.Variable]) -> None:
    """Assert all that some lines need for a value, but for conditions in a range or under a premise."""
    for source in sources:
        for value in source.has:
            if not value.condition.ranges and not value.under:
                _inherited(proof, value.at(source.values), [source], scope)


def _in_each_case(step: Step, value: Value, sources: list[Source]) -> str:
    """Assert a condition that the line has in every case."""
    closing = {}
    for label, source in zip(step.premises, sources, strict=True):
        place = source.place(value)
        if place is None:
            raise Unproved(value.text)
        part = projection("T", place, len(source.has))
        closing[label] = (
            source.lemma,
            f"pose proof ({{}}) as T; first [exact {part} | let U := fresh in pose proof {part} as U; transport U]",
        )
    inner = step.proof.inside(step.proof.known)
    last = in_cases(step, inner, closing)
    name = step.proof.names[value.text] = step.proof.fresh("V")
    step.proof.add(
        f"assert ({name} : {value.text}). {{ {' '.join(inner.lines)} {last}{'' if last.endswith('}') else '.'} }}"
    )
    return name
