"""The end of a proof: a line that says what is wanted, but for the form in which it says it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from maskproof.proofs.formal.context import bare_relation
from maskproof.proofs.formal.proof import BY, Proof
from maskproof.proofs.formal.text import argument, linear, natural, proposition, real
from maskproof.proofs.kernel.algebra import alike
from maskproof.proofs.terms import terms as t
from maskproof.proofs.terms.terms import Relation, Statement, Term, number, plus, substitute, times


def conclude(
    proof: Proof, line: Statement, values: Mapping[t.Variable, Term], shown: Statement, wanted: Statement, applied: str
) -> str:
    """Close the goal ``wanted`` by the applied lemma, which says ``shown`` once positions are written in one form."""
    name = proof.fresh("C")
    proof.add(f"pose proof ({applied}) as {name}.")
    for raw, written in moved_positions(line, values):
        proof.add(f"try replace {raw} with {written} in {name} by lia.")
    if proposition(shown) == proposition(wanted):
        return f"first [exact {name} | transport {name} | {turned(proof, shown, wanted, name)}]"
    return turned(proof, shown, wanted, name)


def turned(proof: Proof, shown: Statement, wanted: Statement, name: str) -> str:
    """A script for ``wanted`` from ``name``, a proof of ``shown``."""
    if isinstance(wanted, t.And) and isinstance(shown, t.And):
        names = [proof.fresh("C") for _ in shown.statements]
        proof.add(f"destruct {name} as {pattern(names)}.")
        closers = []
        for part in wanted.statements:
            for other, its in zip(shown.statements, names, strict=True):
                if alike(part, other):
                    closers.append(turned(proof, other, part, its))
                    break
        return "repeat first [" + " | ".join(f"solve [{c}]" for c in closers) + " | split]"
    if isinstance(wanted, t.Implies) and isinstance(shown, t.Implies):
        h = proof.fresh("C")
        return f"intro {h}; transport {name}"
    if isinstance(wanted, Relation) and isinstance(shown, Relation):
        if isinstance(wanted.left, t.Limit) and isinstance(shown.left, t.Limit):
            same = proof.equal(shown.right, wanted.right)
            held = proof.have(proposition(shown), f"first [exact {name} | transport {name}]")
            x, far = wanted.left.variable, proof.fresh("N")
            inner = _inside(proof, wanted.left.body, shown.left.body, x)
            f, g = (f"(fun {x.name} : nat => {real(s.left.body)})" for s in (wanted, shown))  # type: ignore[attr-defined]
            by = f"limit_by {f} {g} {argument(shown.right)} {argument(wanted.right)} 1 _ {same} {held}"
            return f"refine ({by}); intros {x.name} {far} S_{x.name}; cbv beta; {inner}"
        if "Derivative" in wanted.heads:
            return f"transport_derivative {name}"
        a, b = proof.equal(wanted.left, shown.left), proof.equal(wanted.right, shown.right)
        bare = f"first [exact {name} | transport {name}]"
        proof.have(bare_relation(shown), bare)
        held = proof.names[bare_relation(shown)]
        if wanted.kind == "=":
            return f"exact (eq_trans {a} (eq_trans {held} (eq_sym {b})))"
        return f"exact ({BY[wanted.kind]} _ _ _ _ {a} {b} {held})"
    return f"transport {name}"


def ordered(place: Term) -> Term:
    """A position written in the order in which ``natural`` prints it, so that INR of it comes out alike."""
    coefficients, constant = linear(place)
    parts = sorted(coefficients.items(), key=lambda item: (item[1] < 0, item[0].name))
    written = [v if c == 1 else times(number(c), v) for v, c in parts]
    return plus(*written, *([number(constant)] if constant or not written else []))


def at_values(hints: Mapping[str, Any]) -> dict[t.Variable, Term]:
    """At which values a step cites its lemma, positions in the order of ``ordered``."""
    return {v: ordered(x) if v.sort.integral else x for v, x in hints.get("values", {}).items()}


def moved_positions(line: Statement, values: Mapping[t.Variable, Term]) -> list[tuple[str, str]]:
    """How Coq writes positions after the values are put in, and how they are written here, where that differs."""
    places: dict[Term, None] = {}
    for n in line.walk():
        if isinstance(n, t.Entry):
            places |= dict.fromkeys((n.layer, n.query, n.key))
        elif isinstance(n, t.Input):
            places |= dict.fromkeys((n.query, n.key))
        elif isinstance(n, t.Binder):
            places[n.high] = None
    found = {}
    for place in places:
        coefficients, _ = linear(place)
        if len(coefficients) + (1 if isinstance(place, t.Add) else 0) < 2 or not any(v in values for v in coefficients):
            continue
        raw = natural(place).removesuffix("%nat")
        for v in coefficients:
            if v in values:
                put = natural(values[v]).removesuffix("%nat")
                raw = " ".join(
                    part.replace(v.name, put) if part.strip("()") == v.name else part for part in raw.split(" ")
                )
        written = natural(substitute(place, values))
        if f"{raw}%nat" != written:
            found[f"{raw}%nat"] = written
    return list(found.items())


def projection(name: str, place: int, count: int) -> str:
    """The part of a conjunction of ``count`` parts at ``place``.

    >>> projection("H", 1, 3), projection("H", 2, 3), projection("H", 0, 1)
    ('(proj1 (proj2 H))', '(proj2 (proj2 H))', 'H')
    """
    if count == 1:
        return name
    for _ in range(min(place, count - 2)):
        name = f"(proj2 {name})"
    return f"(proj{1 if place < count - 1 else 2} {name})"


def pattern(names: list[str]) -> str:
    """The pattern that takes a conjunction apart."""
    last = names[-1]
    for name in reversed(names[:-1]):
        last = f"[{name} {last}]"
    return last


def _inside(proof: Proof, a: Term, b: Term, x: t.Variable) -> str:
    inner = proof.inside(proof.known)
    inner.assume(f"(1 <= {x.name})%nat", f"S_{x.name}")
    last = inner.equation(a, b)
    return "; ".join(["reals", *(line.rstrip(".") for line in inner.lines), last])
