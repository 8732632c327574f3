"""Rules of limits."""

from __future__ import annotations

from maskproof.proofs.formal.conclusions import turned
from maskproof.proofs.formal.lemma import apply_lemma
from maskproof.proofs.formal.step import Step, script
from maskproof.proofs.formal.text import (
    argument,
    natural,
    proposition,
    real,
)
from maskproof.proofs.kernel.algebra import Field, canonical
from maskproof.proofs.kernel.known import Known, rewrite
from maskproof.proofs.terms import terms as t
from maskproof.proofs.terms.terms import (
    ONE,
    ZERO,
    Relation,
    Term,
    at_most,
    over,
    plus,
    substitute,
    times,
)


@script
def rational_limit(step: Step) -> str:
    """By writing the function as g(1/x) with g continuous at 0."""
    left, value = step.sides
    assert isinstance(left, t.Limit)
    f, x, proof = left.body, left.variable, step.proof
    field = Field([f, x])
    fraction = field.convert(f)
    place = field.meaning.index(x)
    degree = fraction.bottom.degrees()[place]
    u = t.Variable("u", t.Sort.REAL)

    def reversed_(p) -> Term:
        """p(x) / x^degree as a polynomial in u = 1/x."""
        parts = []
        for powers, c in p.terms():
            rest = {(*powers[:place], 0, *powers[place + 1 :]): c}
            coefficient = field.polynomial(field.ring.from_dict(rest))
            power = degree - int(powers[place])
            parts.append(times(coefficient, t.Power(u, power)) if power else coefficient)
        return plus(*parts) if parts else ZERO

    top, bottom = reversed_(fraction.top), reversed_(fraction.bottom)
    g = over(top, bottom)
    at_zero = substitute(bottom, {u: ZERO})
    nonzero = proof.nonzero(_lead(field, fraction.bottom, place))
    zero = proof.have(f"({real(at_zero)} <> 0)", f"apply (nonzero_of _ _ {nonzero}); ring", "N")
    g_text = f"(fun u : R => {real(g)})"
    inner = proof.inside(Known((*step.goal.ordered, at_most(ONE, x))))
    inner.assume(f"(1 <= {x.name})%nat", f"S_{x.name}")
    inner.known = Known((*step.goal.known.statements, at_most(ONE, x)), step.goal.known.equations)
    n = inner.nonzero(x)
    inner.denominators(f)
    whole = field.polynomial(fraction.bottom)
    not_zero = inner.nonzero(whole)
    put = substitute(bottom, {u: t.Power(x, -1)})
    inner.have(
        f"({real(put)} <> 0)",
        f"apply (nonzero_over _ _ {x.name} {degree} {not_zero} {n}); field; exact {n}",
        "N",
    )
    body = " ".join((f"intros {x.name} _ S_{x.name}. cbv beta. reals.", *inner.lines, "field; side."))
    final = proof.equation(substitute(g, {u: ZERO}), value)
    return f"apply (rational_limit _ {g_text} _ 1). {{ {body} }} {{ auto_derive; {_auto(zero)} }} {{ {final}. }}"


def _auto(zero: str) -> str:
    return f"repeat split; try exact I; first [exact {zero} | apply (nonzero_of _ _ {zero}); ring]."


def _lead(field: Field, p, place: int) -> Term:
    degree = p.degrees()[place]
    terms = {(*m[:place], 0, *m[place + 1 :]): c for m, c in p.terms() if m[place] == degree}
    return field.polynomial(field.ring.from_dict(terms))


@script
def limit_algebra(step: Step) -> str:
    """By the limit of each part."""
    step.use_premises()
    left, value = step.sides
    assert isinstance(left, t.Limit)
    x, proof = left.variable, step.proof
    table: dict[Term, Term] = {}
    values: dict[t.Variable, Term] = {}
    for p in step.goal.usable:
        if isinstance(p, Relation) and p.kind == "=" and isinstance(p.left, t.Limit) and p.left.variable == x:
            name = t.Variable(f"part{len(values)}", t.Sort.REAL)
            table[p.left.body] = table[canonical(p.left.body)] = name  # type: ignore[index]
            values[name] = p.right
    outer = substitute(rewrite(left.body, table), values)
    limit = proof.fresh("L")
    proof.denominators(outer)
    end = proof.equation(outer, value)
    return (
        f"evar ({limit} : R). assert (T : is_lim_seq (fun {x.name} : nat => {real(left.body)}) {limit}). "
        f"{{ unfold {limit}. limit_algebra; side. }} "
        f"replace (Finite {argument(value)}) with (Finite {limit}); [exact T|]. "
        f"apply f_equal. unfold {limit}. transitivity {argument(outer)}; "
        f"[first [reflexivity | equation] | {end}]."
    )


@script
def limit_of_equal(step: Step) -> str:
    """By the limit of the other form, which agrees far out."""
    left, _ = step.sides
    assert isinstance(left, t.Limit)
    x, proof = left.variable, step.proof
    equality, limit = step.premises.values()
    s = equality.statement
    assert isinstance(s, Relation)
    proof.state(limit.statement, f"exact ({apply_lemma(proof, limit, {}, step.scope)})")
    about = [h for h in equality.hypotheses if isinstance(h, Relation) and h.right == x]
    lows = [h.left for h in about if h.kind in ("<", "<=") and x not in h.left.free]
    start = " + ".join(["1", *(natural(low) for low in lows)])
    inner = proof.inside(Known((*step.goal.ordered, *about, at_most(ONE, x))))
    inner.assume(f"(1 <= {x.name})%nat", f"S_{x.name}")
    lines = [f"intros {x.name} Far S_{x.name}."]
    for n, h in enumerate(about):
        lines.append(f"assert (R{n} : {proposition(h)}) by lia.")
        inner.assume(proposition(h), f"R{n}")
    applied = apply_lemma(inner, equality, {}, step.scope | {x})
    body = " ".join((*lines, "reals.", *inner.lines, f"pose proof ({applied}) as T. first [exact T | transport T]."))
    name = proof.names[proposition(limit.statement)]
    other = f"(fun {x.name} : nat => {real(s.right)})"
    return f"apply (lim_eventually _ {other} _ ({start})). {{ {body} }} {{ first [exact {name} | transport {name}]. }}"


@script
def limit_of_square(step: Step) -> str:
    """By continuity of the root at 0."""
    step.use_premises()
    left, value = step.sides
    assert isinstance(left, t.Limit)
    (given,) = step.goal.usable
    wanted = t.equal(t.Limit(t.Power(left.body, 2), left.variable), value)
    return f"apply lim_of_square; {turned(step.proof, given, wanted, step.proof.names[proposition(given)])}"
