"""Rules of equations and inequalities."""

from __future__ import annotations

from maskproof.proofs.formal.conclusions import turned
from maskproof.proofs.formal.context import Unproved
from maskproof.proofs.formal.lemma import apply_lemma
from maskproof.proofs.formal.proof import BY
from maskproof.proofs.formal.step import Step, script
from maskproof.proofs.formal.text import (
    Unprintable,
    argument,
    proposition,
    real,
)
from maskproof.proofs.kernel.algebra import alike, canonical, identical
from maskproof.proofs.kernel.known import Known
from maskproof.proofs.terms import terms as t
from maskproof.proofs.terms.derivatives import derivative as differentiated
from maskproof.proofs.terms.terms import (
    ONE,
    ZERO,
    Relation,
    Term,
    at_most,
    less,
    minus,
    number,
    over,
    plus,
    substitute,
    times,
)


@script
def identity(step: Step) -> str:
    """By rewriting with the premises, and field arithmetic."""
    step.use_premises()
    left, right = step.sides
    if isinstance(left, t.Limit):
        for p in step.goal.usable:
            if isinstance(p, Relation) and p.kind == "=" and canonical(p.left) == canonical(left):
                return turned(step.proof, p, t.equal(left, right), step.proof.names[proposition(p)])
    return step.proof.equation(left, right, rewriting=True)


@script
def sign(step: Step) -> str:
    """By the kernel's certificate for the difference of both sides, or for the form that the hint gives."""
    step.use_premises()
    left, right = step.sides
    goal, proof = step.goal, step.proof
    statement = goal.statement
    assert isinstance(statement, Relation)
    form = goal.hints.get("form")
    e = minus(right, left)
    kind, known, facts = statement.kind, goal.known, goal.known.facts
    strict = kind == "<"
    lemma = {"<": "less_of", "<=": "at_most_of", "!=": "unequal_of"}[kind]
    if form is not None:
        if identical(known.rewritten(e), known.rewritten(form)):
            same = proof.equal(e, form, rewriting=True)
        else:
            same = proof.equal(minus(left, right), form, rewriting=True)
            lemma = f"not_eq_sym, {lemma}" if kind == "!=" else lemma
        return f"apply {lemma}; try rewrite {same}; {_sign_of(step, form, kind)}"
    if kind == "!=":
        return f"apply {lemma}; {_sign_of(step, e, kind)}"
    a, b = known.rewritten(left), known.rewritten(right)
    difference = b if a == ZERO else minus(b, a)
    if facts.is_positive(difference, strict):
        name = proof.sign(difference, strict)
        if a == ZERO:
            if left == ZERO:
                return (
                    f"try rewrite {proof.equal(right, b, rewriting=True)}; exact {name}"
                    if b is not right
                    else f"exact {name}"
                )
            zero = proof.equal(left, ZERO, rewriting=True)
            return f"try rewrite {zero}; try rewrite {proof.equal(right, b, rewriting=True)}; exact {name}"
        return f"apply {lemma}; try rewrite {proof.equal(e, difference, rewriting=True)}; exact {name}"
    name = proof.sign(e, strict)
    return f"apply {lemma}; exact {name}"


def _sign_of(step: Step, e: Term, kind: str) -> str:
    """A script for 0 < e, 0 <= e or e <> 0, rewritten first if its sign shows only then."""
    proof, facts, strict = step.proof, step.goal.known.facts, kind == "<"
    value = step.goal.known.rewritten(e)
    if not (facts.is_nonzero(value) if kind == "!=" else facts.is_positive(value, strict)):
        value = e
    name = proof.nonzero(value) if kind == "!=" else proof.sign(value, strict)
    rewriting = "" if value is e else f"try rewrite {proof.equal(e, value, rewriting=True)}; "
    return f"{rewriting}exact {name}"


@script
def add(step: Step) -> str:
    """By adding the premises."""
    step.use_premises()
    left, right = step.sides
    parts = [p for p in step.goal.usable if isinstance(p, Relation)]
    total = plus(*(minus(p.right, p.left) for p in parts))
    same = step.proof.equal(minus(right, left), total)
    names = [step.proof.names[proposition(p)] for p in parts]
    strict = step.goal.statement.kind == "<"  # type: ignore[attr-defined]
    poses = "; ".join(f"pose proof {n}" for n in names)
    return f"apply {'less_of' if strict else 'at_most_of'}; try rewrite {same}; {poses}; lra"


@script
def exponential(step: Step) -> str:
    """By monotonicity of exp, from the sign of the difference of the exponents."""
    step.use_premises()
    proof, known = step.proof, step.goal.known
    left, right = step.sides
    sides = [known.rewritten(side) for side in (left, right)]
    low, high = (ZERO if canonical(side) == ONE else side.exponent for side in sides)  # type: ignore[attr-defined]
    strict = step.goal.statement.kind == "<"  # type: ignore[attr-defined]
    name = proof.prove(less(ZERO, minus(high, low)) if strict else at_most(ZERO, minus(high, low)))
    a, b = (proof.equal(side, t.Exp(e), rewriting=True) for side, e in zip((left, right), (low, high), strict=True))
    return (
        f"apply ({BY['<' if strict else '<=']} _ _ _ _ {a} {b}); apply {'exp_lt' if strict else 'exp_le'}; exact {name}"
    )


@script
def root(step: Step) -> str:
    """By monotonicity of the root, from the sign of the difference of the radicands."""
    step.use_premises()
    proof = step.proof
    left, right = step.sides
    a, b = (number(e.value**2) if isinstance(e, t.Number) else e.radicand for e in (left, right))  # type: ignore[attr-defined]
    low, gap = proof.sign(a, False), proof.sign(minus(b, a))
    lines = [
        f"try rewrite {proof.have(f'({real(side)} = {real(t.Root(r))})', 'symmetry; apply root_of; lra')}"
        for side, r in ((left, a), (right, b))
        if not isinstance(side, t.Root)
    ]
    return "; ".join((*lines, f"apply root_lt; [exact {low} | exact {gap}]"))


@script
def square(step: Step) -> str:
    """By comparing squares."""
    step.use_premises()
    left, right = step.sides
    wanted = t.equal(t.Power(left, 2), t.Power(right, 2))
    a, b = step.proof.sign(left, False), step.proof.sign(right, False)
    step.proof.known = Known((*step.goal.known.statements, *step.goal.usable))
    return f"apply square_eq; [exact {a} | exact {b} | exact {step.proof.prove(wanted)}]"


@script
def product(step: Step) -> str:
    """By multiplying the premise."""
    step.use_premises()
    left, right = step.sides
    c = step.goal.hints["factor"]
    wanted = less(over(left, c), over(right, c))
    positive = step.proof.sign(c)
    given = next(p for p in step.goal.usable if alike(wanted, p))
    name = step.proof.names[proposition(given)]
    assert isinstance(given, Relation)
    a, b = step.proof.equal(left, times(c, given.left)), step.proof.equal(right, times(c, given.right))
    return f"apply (lt_by _ _ _ _ {a} {b}); apply Rmult_lt_compat_l; [exact {positive} | exact {name}]"


@script
def quotient(step: Step) -> str:
    """By dividing, from the premise about the denominators."""
    step.use_premises()
    proof = step.proof
    left, right = step.sides
    c = step.goal.hints["numerator"]
    small, large = over(c, right), over(c, left)
    up = step.goal.known.facts.is_positive(c)
    sign_of = proof.sign(c) if up else proof.sign(minus(ZERO, c))
    if not up:
        small, large = large, small
    wanted = less(small, large)
    given = next(p for p in step.goal.usable if alike(wanted, p))
    assert isinstance(given, Relation)
    name = proof.names[proposition(given)]
    low = proof.sign(given.left)
    high = proof.have(f"(0 < {real(given.right)})", f"apply (Rlt_trans _ _ _ {low} {name})")
    proof.nonzero(given.left)
    proof.have(f"({real(given.right)} <> 0)", f"apply positive_nonzero; exact {high}", "N")
    first, second = (given.right, given.left) if up else (given.left, given.right)
    a, b = proof.equal(left, over(c, first)), proof.equal(right, over(c, second))
    law = "quotient_lt" if up else "quotient_gt"
    return f"apply (lt_by _ _ _ _ {a} {b}); exact ({law} _ _ _ {sign_of} {low} {name})"


@script
def derivative(step: Step) -> str:
    """By Coquelicot's rules of differentiation."""
    step.use_premises()
    left, right = step.sides
    assert isinstance(left, t.Derivative)
    value = differentiated(left.body, left.variable)
    for n in value.walk():
        if isinstance(n, t.Power) and n.exponent < 0:
            try:
                step.proof.nonzero(n.base)
            except (Unproved, Unprintable):
                continue
    step.proof.denominators(left.body)
    step.proof.denominators(right)
    x = left.variable.name
    f = f"(fun {x} : R => {real(left.body)})"
    name = step.proof.have(f"(is_derive {f} {x} {argument(right)})", "derive", "D")
    return f"split; [exists {argument(right)}; exact {name} | apply is_derive_unique; exact {name}]"


@script
def decreasing(step: Step) -> str:
    """By the mean value theorem, from the premise on m >= 0."""
    proof = step.proof
    (lemma,) = step.premises.values()
    slope = lemma.statement
    assert isinstance(slope, Relation)
    assert isinstance(slope.left, t.Derivative)
    f, m = slope.left.body, slope.left.variable
    x, y = step.goal.hints["at"]
    low, gap = proof.sign(x, False), proof.sign(minus(y, x))
    inner = proof.inside(proof.known)
    inner.assume(f"(0 <= {m.name})", f"S_{m.name}")
    applied = apply_lemma(inner, lemma, {}, step.scope | {m})
    f_text = f"(fun {m.name} : R => {real(f)})"
    fall = proof.fresh("D")
    proof.add(
        f"assert ({fall} : forall {m.name} : R, 0 <= {m.name} -> "
        f"ex_derive {f_text} {m.name} /\\ Derive {f_text} {m.name} < 0). "
        f"{{ intros {m.name} S_{m.name}. {' '.join(inner.lines)} exact ({applied}). }}"
    )
    at = argument(x), argument(y)
    name = proof.have(
        f"({real(substitute(f, {m: y}))} < {real(substitute(f, {m: x}))})",
        f"exact (decreasing_on {f_text} {fall} {at[0]} {at[1]} {low} ltac:(apply less_of; exact {gap}))",
    )
    left, right = step.sides
    a, b = proof.equal(left, substitute(f, {m: y})), proof.equal(right, substitute(f, {m: x}))
    return f"exact (lt_by _ _ _ _ {a} {b} {name})"
