"""Proved claims as theorems: the claim's own statement on its own domain, from the last step of its derivation."""

from __future__ import annotations

from maskproof.proofs.formal.conclusions import conclude
from maskproof.proofs.formal.context import Unproved
from maskproof.proofs.formal.files import Library, Sentence, Theorem, identifier
from maskproof.proofs.formal.lemma import Lemma, apply_lemma
from maskproof.proofs.formal.proof import Proof
from maskproof.proofs.formal.text import Unprintable, proposition
from maskproof.proofs.formal.values import Source, Value, of_value, use_all
from maskproof.proofs.kernel.goals import Line
from maskproof.proofs.kernel.known import Known
from maskproof.proofs.registry import recorded, shipped
from maskproof.proofs.terms import terms as t
from maskproof.proofs.terms.reading import read_statement
from maskproof.proofs.terms.terms import conjuncts, substitute
from maskproof.proofs.terms.understood import understood
from maskproof.proofs.verdict import Verdict
from maskproof.theory.claim import Claim
from maskproof.theory.derivation import Derivation

# claim -> why Coq is not asked about it
BEYOND_COQ = {
    "own.score-correction-sign": "its single step is the sign of a polynomial so large (its certificate takes 120,000 "
    "characters) that Coq's field arithmetic does not come to an end with it in ten minutes and 7 GB",
}


def proved() -> list[Claim]:
    """The shipped claims whose recorded verdict is PROVED."""
    record = recorded()
    return [c for c in shipped() if record.get(c.id, {}).get("verdict") is Verdict.PROVED]


def derivation_of(claim: Claim) -> Derivation:
    """The derivation that is given with a claim, or the one that is found.

    Raises:
        NoIdea: none is.
    """
    from maskproof.proofs.search import search  # builds every general theorem

    return claim.proof if claim.proof is not None else search(claim)


def theorem_name(claim: Claim) -> str:
    """What the theorem of a claim is called."""
    return f"claim_{identifier(claim.id)}"


def theorem(library: Library, claim: Claim, module: str, last: str) -> Theorem:
    """The theorem of a claim, from the step ``last`` of ``module``."""
    name = theorem_name(claim)
    statement = read_statement(claim.statement, claim.decoder, claim.inputs)
    domain = read_statement(claim.domain)
    hypotheses = frozenset((*understood(statement, domain), *conjuncts(domain)))
    try:
        source = library.lemma(module, last)
        has = library.values(module, last)
        lemma = Lemma.of(name, Line(statement, hypotheses))
        sentence = Sentence(claim.id, "claim", _proof(lemma, source, has, statement.free | domain.free))
    except (Unproved, Unprintable, KeyError) as reason:
        sentence = Sentence(claim.id, "claim", "", f"{type(reason).__name__}: {reason}")
    return Theorem(name, module, claim.id, sentence)


def _proof(lemma: Lemma, source: Lemma, has: tuple[Value, ...], own: frozenset[t.Variable]) -> str:
    values = {
        h.left: h.right
        for h in source.hypotheses
        if isinstance(h, t.Relation) and h.kind == "=" and isinstance(h.left, t.Variable) and h.left not in own
    }
    proof = Proof(Known(lemma.hypotheses))
    proof.add(lemma.intro(proof))
    proof.add("reals.")
    scope = frozenset(lemma.variables)
    applied = apply_lemma(proof, source, values, scope)
    shown = substitute(source.statement, values)
    if has and proposition(shown) != proposition(lemma.statement) and not proof.divides(shown):
        use_all([Source(of_value(source), has, values)], proof, scope)
    last = conclude(proof, source.statement, values, shown, lemma.statement, applied)
    body = "\n  ".join((*proof.lines, f"{last}."))
    return f"{lemma.text().replace('Lemma', 'Theorem', 1)}\nProof.\n  {body}\nQed.\n"
