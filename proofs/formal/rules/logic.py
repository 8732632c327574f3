"""Rules of logic: citing, cases, conditions."""

from __future__ import annotations

from collections.abc import Mapping

from maskproof.proofs.formal.conclusions import at_values, conclude, moved_positions, turned
from maskproof.proofs.formal.context import Unproved
from maskproof.proofs.formal.lemma import Lemma, apply_lemma
from maskproof.proofs.formal.proof import Proof
from maskproof.proofs.formal.step import Step, script
from maskproof.proofs.formal.text import (
    argument,
    is_integer,
    natural,
    proposition,
)
from maskproof.proofs.kernel.algebra import alike
from maskproof.proofs.kernel.goals import Goal
from maskproof.proofs.kernel.known import Known
from maskproof.proofs.terms import terms as t
from maskproof.proofs.terms.terms import (
    Relation,
    Statement,
    substitute,
)

_OR = " \\/ "


@script
def hypothesis(step: Step) -> str:
    """By what the hypotheses give."""
    return f"exact {step.proof.prove(step.goal.statement)}"


@script
def cite(step: Step) -> str:
    """By the cited lemma, put at its values."""
    hints, proof = step.goal.hints, step.proof
    premises = list(step.premises.values())
    lemma = step.cited if "lemma" in hints else premises.pop(0)
    assert lemma is not None
    for other in premises:
        proof.state(other.statement, f"exact ({apply_lemma(proof, other, {}, step.scope)})")
    proof.known = Known((*step.goal.ordered, *(other.statement for other in premises)))
    values = at_values(hints)
    applied = apply_lemma(proof, lemma, values, step.scope)
    shown = substitute(lemma.statement, values)
    if proposition(shown) != proposition(step.goal.statement) and not proof.divides(shown):
        step.use_values(proof, step.scope)
    return conclude(proof, lemma.statement, values, shown, step.goal.statement, applied)


@script
def implication(step: Step) -> str:
    """From the premise under the condition."""
    s = step.goal.statement
    assert isinstance(s, t.Implies)
    (lemma,) = step.premises.values()
    name = step.proof.fresh("I")
    step.proof.add(f"intro {name}.")
    step.proof.assume(proposition(s.premise), name)
    step.proof.known = Known((*step.goal.ordered, s.premise))
    applied = apply_lemma(step.proof, lemma, {}, step.scope)
    return conclude(step.proof, lemma.statement, {}, lemma.statement, s.conclusion, applied)


@script
def detach(step: Step) -> str:
    """By modus ponens."""
    step.use_premises()
    for p in step.goal.usable:
        if isinstance(p, t.Implies) and alike(p.conclusion, step.goal.statement) and step.goal.known.holds(p.premise):
            c = step.proof.prove(p.premise)
            name = step.proof.have(proposition(p.conclusion), f"exact ({step.proof.names[proposition(p)]} {c})")
            return (
                turned(step.proof, p.conclusion, step.goal.statement, name)
                if proposition(p.conclusion) != proposition(step.goal.statement)
                else f"exact {name}"
            )
    raise Unproved("no premise implies the statement")


@script
def conjunction(step: Step) -> str:
    """Part by part."""
    step.use_premises()
    names = []
    for part in t.conjuncts(step.goal.statement):
        given = next(p for p in step.goal.usable if alike(part, p))
        name = step.proof.names[proposition(given)]
        if proposition(given) != proposition(part):
            name = step.proof.have(proposition(part), turned(step.proof, given, part, name))
        names.append(name)
    return f"repeat first [{' | '.join(f'exact {n}' for n in names)} | split]"


def equation(goal: Goal) -> Relation:
    """The hypothesis by which rule ``equals`` puts equals for equals.

    Raises:
        Unproved: none does.
    """
    for h in goal.ordered:
        if isinstance(h, Relation) and h.kind == "=" and isinstance(h.left, t.Variable):
            given, shown = (substitute(s, {h.left: h.right}) for s in (goal.premises[0].statement, goal.statement))
            if alike(given, shown):
                return h
    raise Unproved("no hypothesis turns the premise into the statement")


@script
def equals(step: Step) -> str:
    """By putting equals for equals."""
    (lemma,) = step.premises.values()
    proof, h = step.proof, equation(step.goal)
    assert isinstance(h.left, t.Variable)
    proof.state(lemma.statement, f"exact ({apply_lemma(proof, lemma, {}, step.scope)})")
    name = proof.names[proposition(lemma.statement)]
    if h.left.sort.integral:
        proof.have(f"({h.left.name} = {natural(h.right)})", "lia")
    moved = "".join(
        f"; try replace {a} with {b} in * by lia" for a, b in _after(lemma.statement, step.goal.statement, h)
    )
    return f"subst {h.left.name}{moved}; first [exact {name} | transport {name}]"


def _after(a: Statement, b: Statement, h: Relation) -> list[tuple[str, str]]:
    assert isinstance(h.left, t.Variable)
    return list(dict.fromkeys([*moved_positions(a, {h.left: h.right}), *moved_positions(b, {h.left: h.right})]))


@script
def cases(step: Step) -> str:
    """In each case by its premise."""
    return in_cases(step, step.proof, {label: (lemma, "exact ({})") for label, lemma in step.premises.items()})


def in_cases(step: Step, proof: Proof, closing: Mapping[str, tuple[Lemma, str]]) -> str:
    """A script that tells the cases apart and closes each by a lemma that has the hypotheses of its premise."""
    conditions: list[tuple[str, Lemma, Relation]] = []
    for (label, (lemma, close)), line in zip(closing.items(), step.goal.premises, strict=True):
        extra = [h for h in line.hypotheses if not step.goal.assumed.holds(h)]
        if not extra:
            return close.format(apply_lemma(proof, lemma, {}, step.scope))
        assert isinstance(extra[0], Relation)
        conditions.append((label, lemma, extra[0]))
    names = [proof.fresh("K") for _ in conditions]
    props = [proposition(c) for _, _, c in conditions]
    either = f"({_OR.join(props)})" if len(props) > 1 else props[0]
    first = conditions[0][2]
    if is_integer(first.left) and is_integer(first.right):
        covered = proof.have(either, "lia")
    else:
        last = len(props) - 1
        tries = " | ".join("right; " * n + ("left; " if n < last else "") + "lra" for n in range(len(props)))
        sides = " ".join(argument(side) for side in (first.left, first.right))
        covered = proof.have(either, f"destruct (Rtotal_order {sides}) as [?|[?|?]]; first [{tries} | exfalso; lra]")
    pattern = names[-1]
    for name in reversed(names[:-1]):
        pattern = f"[{name}|{pattern}]"
    proof.add(f"destruct {covered} as {pattern}.")
    blocks = []
    for (label, lemma, condition), name in zip(conditions, names, strict=True):
        inner = proof.inside(Known((*step.goal.ordered, condition)))
        inner.assume(proposition(condition), name)
        applied = apply_lemma(inner, lemma, {}, step.scope)
        blocks.append("{ " + " ".join(("reals.", *inner.lines, f"{closing[label][1].format(applied)}.")) + " }")
    return " ".join(blocks)
