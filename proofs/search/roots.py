"""Roots that a statement itself contains: a radicand is positive where it is a squared norm, however written."""

from __future__ import annotations

from collections.abc import Iterator

from sympy import Basic, Expr, Float, Gt, Pow

from maskproof.proofs.search.forms import Forms
from maskproof.proofs.search.lines import Given, NoIdea
from maskproof.proofs.search.models import Model, model_of
from maskproof.theory.layer_one import h_squared
from maskproof.theory.quantities import Quantity, Score


def radicands(forms: Forms, s: Basic, given: Given) -> Iterator[str]:
    """Lines that say which radicands in ``s`` are positive."""
    found = {p.base for p in s.atoms(Pow) if p.exp.is_Rational and not p.exp.is_Integer and len(p.base.args) > 1}
    open_ = sorted((e for e in found if not e.has(Quantity)), key=str)
    if not open_:
        return
    norms = list(_norms(s))
    for radicand in open_:
        for model, position, later in norms:
            norm = h_squared(position).xreplace(dict(model.plain))
            if not _agree(radicand, norm):
                continue
            try:
                label = forms.norm_positive(model, position, later, given)
            except NoIdea:
                continue
            shape = forms.lines.statement(label).lhs
            premises = (label, *forms.letters.definitions(forms.lines))
            yield forms.lines.add(Gt(radicand, 0), "sign", premises, forms.lines.given(label), {"form": shape})
            break


def _norms(s: Basic) -> Iterator[tuple[Model, Expr, Expr | None]]:
    """The models and positions whose norms may occur, each with a later position in the context."""
    for q in sorted(s.atoms(Quantity), key=str):
        model = model_of(q)
        if model.norm != "l2":
            continue
        yield model, q.query, None
        if q.key != q.query:
            yield model, q.key, q.query if isinstance(q, Score) else None


def _agree(a: Expr, b: Expr) -> bool:
    """Whether two formulas have the same value at a point, so that it is worth asking whether they are equal."""
    symbols = sorted(a.free_symbols | b.free_symbols, key=str)
    point = {x: Float(1 + n) / Float("7.3") for n, x in enumerate(symbols)}
    difference = (a - b).subs(point).evalf()
    return bool(difference.is_number and abs(difference) < 1e-9)
