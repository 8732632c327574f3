"""A claim as plain text: what it says, of which model, where it comes from, what is known of it."""

from __future__ import annotations

import textwrap

import sympy
from sympy import And

from maskproof.theory.arithmetic import mentions_quantity
from maskproof.theory.claim import Claim
from maskproof.theory.export.abbreviations import abbreviate
from maskproof.theory.export.established import Recorded, checker, verdict, witness
from maskproof.theory.export.models import NO_MODEL, model_words, models_of, read
from maskproof.theory.notation.chains import conditions
from maskproof.theory.notation.plain import plain, plain_condition
from maskproof.theory.quantities import Correction, Gram, InputGram, Mix, Score, Weight, told_apart

WIDTH = 80
_LEGEND = {
    Score: "S2[i,j] is the score of query i and key j in layer 2",
    Weight: "A1[i,j] the attention weight",
    Gram: "G1[i,j] the inner product of x_i and x_j after layer 1",
    Mix: "M1[i,j] the coefficient of x_j in x_i after layer 1",
    Correction: "[1/d]E(S2[i,j]) the coefficient of 1/d in an expectation",
    InputGram: "K[i,j] the inner product of the inputs x_i and x_j",
}


def statement_text(claim: Claim) -> str:
    """The statement in one line, letters put in for long parts.

    >>> from maskproof.theory import i, j
    >>> statement_text(Claim("mine", Score(2, i, j) < 1))
    'S2[i,j] < 1'
    """
    return plain(told_apart(abbreviate(claim.statement).expression)[0])


def domain_text(claim: Claim) -> str:
    """The conditions under which it is claimed, in one line; nothing where there are none.

    >>> from maskproof.theory import i, j
    >>> domain_text(Claim("mine", Score(2, i, j) < 1, j < i))
    '1 <= j < i'
    """
    found = conditions(And(sympy.sympify(claim.domain)), claim.free_symbols)
    return ", ".join(plain_condition(condition) for condition in found)


def claim_text(claim: Claim, recorded: Recorded) -> str:
    """Statement, domain, model, source, note, what it uses, its proof and the verdict recorded, in lines of 80."""
    short = abbreviate(claim.statement)
    facts = [("says", statement_text(claim))]
    facts += [("where", plain(letter)) for letter in short.definitions]
    facts += [("for all", domain_text(claim))]
    facts += _models(claim)
    facts.append(
        ("notation", "; ".join(words for kind, words in _LEGEND.items() if sympy.sympify(claim.statement).has(kind)))
    )
    facts += [("source", claim.source), ("note", claim.note), ("uses", ", ".join(claim.uses))]
    facts.append(("proof", f"{claim.proof.title} ({claim.proof.name})" if claim.proof is not None else ""))
    facts.append(("verdict", _known(claim, recorded)))
    return "\n".join([claim.id, *(line for name, words in facts if words for line in _wrapped(name, words))])


def _wrapped(name: str, words: str) -> list[str]:
    head = f"  {name:9}"
    return textwrap.wrap(
        words, WIDTH, initial_indent=head, subsequent_indent=" " * len(head), break_long_words=False,
        break_on_hyphens=False,
    )  # fmt: skip


def _models(claim: Claim) -> list[tuple[str, str]]:
    if not mentions_quantity(claim):
        return [("model", NO_MODEL)]
    found = told_apart(sympy.sympify(claim.statement))[1]
    models = found if len(found) > 1 else models_of([claim.statement])
    words = []
    for decoder, inputs in map(read, models):  # type: ignore[arg-type]
        words.append(model_words(decoder or claim.decoder, inputs or claim.inputs))
    if len(words) < 2:
        return [("model", words[0])]
    return [(f"model {place}", text) for place, text in enumerate(words, start=1)]


def _known(claim: Claim, recorded: Recorded) -> str:
    found = verdict(claim, recorded)
    point, checked = witness(claim, recorded), checker(claim, recorded)
    return found + (f", at {point}" if point else "") + (f", checked by {checked}" if checked else "")
