"""Theorems that are recognised as a whole, by the way they are written."""

from __future__ import annotations

from sympy import Basic, Integer

from maskproof.proofs.search.forms import Forms
from maskproof.proofs.search.lines import put
from maskproof.proofs.search.models import Model
from maskproof.theory.derivation import Derivation
from maskproof.theory.layer_two import norms
from maskproof.theory.limits import saturation_rate
from maskproof.theory.symbols import i


def instance(forms: Forms, s: Basic, model: Model) -> str | None:
    """A line that says ``s``, if it is one of these theorems with the numbers of ``model`` put in."""
    if model.family or model.norm != "l2":
        return None
    known: tuple[tuple[Derivation, str, dict], ...] = (
        (norms(), "slope-sign", {i: Integer(1)}),
        (saturation_rate(), "rate", {}),
    )
    for lemma, label, positions in known:
        (line,) = [step for step in lemma.steps if step.label == label]
        values = {**model.plain, **positions}
        needed = (put(h, values) for h in lemma.hypotheses)
        if line.statement.xreplace(dict(model.plain)) == s and all(map(forms.lines.follows, needed)):
            return forms.lines.cite(lemma, label, values)
    return None
