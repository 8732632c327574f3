"""Equations that hold in any layer because of what its quantities are, whatever they are worth."""

from __future__ import annotations

from collections.abc import Iterator

from sympy import Add, Eq, Expr, Integer, Mul, Pow, Sum, exp, sqrt

from maskproof.proofs.search.finite import equation, written_out
from maskproof.proofs.search.forms import Forms
from maskproof.proofs.search.lines import Given, NoIdea
from maskproof.proofs.search.models import depth, model_of
from maskproof.proofs.search.sums import sum_form
from maskproof.theory.quantities import Gram, Quantity, Score, Weight
from maskproof.theory.symbols import k


def by_definition(forms: Forms, s: Eq, given: Given) -> Iterator[str]:
    """Lines that say ``s``, by the definition of scores or of weights, or since weights add up to 1."""
    for way in (_cosines, _softmax, _left_over):
        try:
            premises = way(forms, s, given)
        except NoIdea:
            continue
        if premises:
            yield forms.lines.add(s, "identity", premises, given)


def _of_kind(s: Eq, kind: type[Quantity]) -> list[Quantity]:
    """The quantities of a kind beyond layer one."""
    return sorted((q for q in s.atoms(kind) if depth(q) > 1), key=str)


def _cosines(forms: Forms, s: Eq, given: Given) -> list[str]:
    """Scores in terms of the inner products of the layer below, if these occur."""
    inner = {(g.layer + 1, g.args[3:]) for g in s.atoms(Gram)}
    scores = [q for q in _of_kind(s, Score) if (q.layer, q.args[3:]) in inner]
    found = []
    for q in scores:
        model, product = model_of(q), Gram(q.layer - 1, q.query, q.key, *q.args[3:])
        if not model.decoder.normalised:
            found.append(forms.lines.add(equation(q, model.gain * product), "score", (), given))
            continue
        positive = [forms.length_positive(q, place, given) for place in dict.fromkeys((q.query, q.key))]
        lengths = [sqrt(Gram(q.layer - 1, place, place, *q.args[3:])) for place in (q.query, q.key)]
        cosine = model.gain * product / Mul(*lengths)
        found += [forms.lines.add(equation(q, cosine), "score", positive, given), *positive]
    return [*found, *_roots_of_products(forms, s, found, given)] if found else []


def _roots_of_products(forms: Forms, s: Eq, known: list[str], given: Given) -> Iterator[str]:
    """sqrt(a b) = sqrt(a) sqrt(b), for the roots of products of quantities in ``s``."""
    for base in sorted({p.base for p in s.atoms(Pow) if not p.exp.is_Integer and p.base.is_Mul}, key=str):
        whole, parts = sqrt(base), Mul(*map(sqrt, base.args))
        squares = equation(Pow(whole, 2, evaluate=False), Pow(parts, 2, evaluate=False))
        label = forms.lines.add(squares, "identity", known, given)
        yield forms.lines.add(equation(whole, parts), "square", (label, *known), given)


def _softmax(forms: Forms, s: Eq, given: Given) -> list[str]:
    """Weights in terms of the scores of their row, if scores or exponentials occur."""
    weights = [w for w in _of_kind(s, Weight) if model_of(w).decoder.beta != 0]
    if not s.atoms(Score, exp) or s.has(Sum):
        return []
    found = []
    for w in weights:
        label, total = forms.softmax(w, given)
        found += [label, forms.weight_positive(w, given)]
        if isinstance(w.query, Integer):
            found.append(written_out(forms.lines, total, given))
        if model_of(w).decoder.normalised:
            own = Score(w.layer, w.query, w.query, *w.args[3:])
            found += forms.own_score(own, model_of(w), given).premises
    return found


def _left_over(forms: Forms, s: Eq, given: Given) -> list[str]:
    """A query's weight on itself is what the others leave of 1."""
    found = []
    for own in _of_kind(s, Weight):
        if own.query != own.key or model_of(own).decoder.beta == 0:
            continue
        index = next((total.variables[0] for total in s.atoms(Sum)), k)
        row = Sum(own.func(own.layer, own.query, index, *own.args[3:]), (index, 1, own.query))
        whole = sum_form(forms, row, given)
        split, others = _last_apart(forms, row, own, bool(s.atoms(Sum)), given)
        rest = forms.lines.add(equation(own, row - others), "identity", (split,), given)
        found.append(forms.lines.add(equation(own, 1 - others), "identity", (rest, *whole.premises), given))
    return found


def _last_apart(forms: Forms, row: Sum, own: Expr, as_sum: bool, given: Given) -> tuple[str, Expr]:
    """A line that says what a row is with its last term apart, and the others."""
    (index, low, high), f = row.limits[0], row.function
    if as_sum or not isinstance(high, Integer):
        others: Expr = Sum(f, (index, low, high - 1))
        return forms.lines.add(equation(row, others + own), "split_last", (), given), others
    others = Add(*(f.xreplace({index: Integer(place)}) for place in range(1, int(high))))
    return written_out(forms.lines, row, given), others
