"""Induction over the layer."""

from __future__ import annotations

from maskproof.proofs.formal.conclusions import conclude, moved_positions, pattern, projection
from maskproof.proofs.formal.lemma import Lemma, apply_lemma
from maskproof.proofs.formal.proof import Proof
from maskproof.proofs.formal.step import Step, script
from maskproof.proofs.formal.text import (
    natural,
    proposition,
    sort_hypothesis,
)
from maskproof.proofs.kernel.algebra import alike
from maskproof.proofs.kernel.goals import Supposition
from maskproof.proofs.kernel.known import Known
from maskproof.proofs.terms.terms import (
    ONE,
    Term,
    at_most,
    plus,
    substitute,
)


@script
def suppose(step: Step) -> str:
    """What is supposed."""
    (supposed,) = step.lemma.supposed
    name = step.proof.names[Lemma.supposing("", supposed).says()]
    return f"exact ({apply_lemma(step.proof, Lemma.supposing(name, supposed), {}, step.scope)})"


@script
def induction(step: Step) -> str:
    """By induction over the natural numbers, all statements together."""
    n, base = step.goal.hints["at"], step.goal.hints["from"]
    lemmas, lines = list(step.premises.values()), step.goal.premises
    count = len(lemmas) // 3
    suppositions = [Supposition(line.statement, line.hypotheses, n) for line in lines[:count]]
    said = [f"({Lemma.supposing('', s).says()})" for s in suppositions]
    together = " /\\ ".join(said)
    all_of = step.proof.fresh("I")
    least, later = natural(base), proposition(at_most(base, n))
    supposed = [f"I_{place}" for place in range(1, count + 1)]

    def block(place: int, value: Term, lemma: Lemma) -> str:
        s = suppositions[place]
        inner = Proof(Known((*sorted(s.hypotheses, key=proposition), *(() if value == base else (at_most(base, n),)))))
        about = Lemma.supposing("", s)
        start = about.intro(inner)
        if value != base:
            inner.assume(later, "Later")
            inner.assume(sort_hypothesis(n) or "", "Sort")
            for name, other in zip(supposed, suppositions, strict=True):
                inner.assume(Lemma.supposing("", other).says(), name)
        wanted = substitute(s.statement, {n: value})
        applied = apply_lemma(inner, lemma, {}, frozenset((*about.variables, n)))
        last = conclude(inner, lemma.statement, {}, lemma.statement, wanted, applied)
        moved = "".join(f" try replace {a} with {b} by lia." for a, b in moved_positions(s.statement, {n: value}))
        return (
            f"{{ {start} reals. assert (Wanted : {proposition(wanted)}). {{ {' '.join(inner.lines)} {last}. }}"
            f"{moved} first [exact Wanted | transport Wanted]. }}"
        )

    first = " ".join(block(place, base, lemma) for place, lemma in enumerate(lemmas[count : 2 * count]))
    following = " ".join(block(place, plus(n, ONE), lemma) for place, lemma in enumerate(lemmas[2 * count :]))
    step.proof.lines.insert(  # before anything is introduced: the variables of the suppositions have the same names
        0,
        f"assert ({all_of} : forall {n.name} : nat, {later} -> {together}). "
        f"{{ apply (induction_rule {least} (fun {n.name} : nat => {together})); "
        f"[|intros {n.name} Later {pattern(supposed)}; assert (Sort : (1 <= {n.name})%nat) by lia]; repeat split. "
        f"{first} {following} }}",
    )
    place = next(place for place, s in enumerate(suppositions) if alike(s.statement, step.goal.statement))
    name = step.proof.fresh("I")
    reached = step.proof.prove(at_most(base, n))
    part = projection(f"({all_of} {n.name} {reached})", place, count)
    step.proof.add(f"pose proof {part} as {name}.")
    lemma = Lemma.supposing(name, suppositions[place])
    applied = apply_lemma(step.proof, lemma, {}, step.scope)
    return conclude(step.proof, lemma.statement, {}, lemma.statement, step.goal.statement, applied)
