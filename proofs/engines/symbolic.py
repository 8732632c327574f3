"""The symbolic engine: a derivation, given with the claim or found, that the kernel checks."""

from __future__ import annotations

import time
from dataclasses import replace

from sympy import Eq, Ne

from maskproof.proofs.engines.derivations import prove
from maskproof.proofs.engines.numbers import printable
from maskproof.proofs.engines.points import named
from maskproof.proofs.engines.question import Question, question
from maskproof.proofs.engines.region import CAPS, Region
from maskproof.proofs.engines.truth import NotApplicable
from maskproof.proofs.kernel.known import Rejected
from maskproof.proofs.search import NoIdea, candidates, limits
from maskproof.proofs.terms import terms as t
from maskproof.proofs.terms.reading import read_term
from maskproof.proofs.terms.text import text
from maskproof.proofs.verdict import Evidence, Verdict
from maskproof.theory.claim import Claim
from maskproof.theory.derivation import Derivation

GIVEN = "the given derivation"
_SIMPLE = 20  # exact values of the real variables tried for a point of the domain


def examine(claim: Claim, *, seed: int) -> Evidence | None:
    """Check the claim's proof, or look for one; PROVED or UNKNOWN.

    The seed is not used: nothing here is random.
    """
    start = time.perf_counter()

    def record(outcome: Verdict, scope: str, detail: str) -> Evidence:
        return Evidence("symbolic", outcome, scope, detail, seconds=time.perf_counter() - start)

    if type(claim.statement) is Ne and (refuted := _proved_equal(claim)) is not None:
        equal, witness = refuted
        said = f"both sides are equal, by derivation {equal.name}"
        return replace(record(Verdict.REFUTED, "the whole domain", said), witness=witness)
    try:
        derivation = _checked(claim)
    except NoIdea as reason:
        return record(Verdict.UNKNOWN, "", f"no derivation found: {reason}")
    except Rejected as reason:
        return record(Verdict.UNKNOWN, "", f"{GIVEN} does not check: {reason}")
    count = _steps(derivation)
    return record(
        Verdict.PROVED,
        "the whole domain",
        f"derivation {derivation.name}: {count} steps, lemmas included, each checked by the kernel",
    )


def _checked(claim: Claim) -> Derivation:
    """The claim's derivation, or one that is found for it, checked.

    Raises:
        Rejected: its own does not check.
        NoIdea: none is found that does.
    """
    if claim.proof is not None:
        prove(claim, claim.proof)
        return claim.proof
    reason = "no way to show it"
    for derivation in candidates(claim):
        try:
            prove(claim, derivation)
        except Rejected as objection:
            reason = str(objection)
        else:
            return derivation
    raise NoIdea(reason)


def _proved_equal(claim: Claim) -> tuple[Derivation, dict[str, object]] | None:
    """A checked derivation that the two sides, claimed to differ, are equal, and a point; None if none is found."""
    opposite = replace(claim, statement=Eq(*claim.statement.args, evaluate=False), proof=None)
    try:
        derivation = _checked(opposite)
        region = Region(question(opposite))
    except (NoIdea, NotApplicable):
        return None
    for reals in region.simple_reals(_SIMPLE):
        point = next(region.integer_points(reals, None if region.finite else CAPS[0]), None)
        if point is not None:
            values = {name: printable(value) for name, value in named(reals, point).items()}
            return derivation, values
    return None


def limits_put_in(claim: Claim) -> tuple[Question, str]:
    """The claim in terms, with the limits in it that the kernel can work out put in, for engines that only see numbers.

    What is asked stays the same: its domain, what is understood of its models, its variables. A limit under the sign of
    a sum stays: hypotheses about a position outside say nothing of one that the sum counts through.

    Returns also, in words, which limits were put in; nothing if there are none.
    """
    asked = question(claim)
    found: dict[t.Term, t.Term] = {}
    for limit, value, derivation in limits(claim) if "Limit" in asked.statement.heads else ():
        said = replace(claim, statement=Eq(limit, value, evaluate=False), proof=None)
        try:
            prove(said, derivation)
        except Rejected:
            continue
        found[read_term(limit)] = read_term(value)
    statement = t.replaced(asked.statement, found)
    if statement == asked.statement:
        return asked, ""
    words = (f"the kernel derives that {text(of)} = {text(value)}" for of, value in found.items())
    return replace(asked, statement=statement), "; ".join(words)


def _steps(derivation: Derivation, seen: set[int] | None = None) -> int:
    """Steps of a derivation and of all that it leans on, each counted once."""
    seen = set() if seen is None else seen
    if id(derivation) in seen:
        return 0
    seen.add(id(derivation))
    return len(derivation.steps) + sum(_steps(lemma, seen) for lemma in derivation.lemmas)
