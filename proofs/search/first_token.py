"""The first token sees itself alone: its weight is 1, its norm N grows with the layers, N_l = v + residual N_(l-1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sympy import Expr, Ge, Gt, Integer, Pow, Sum, sqrt

from maskproof.proofs.search.finite import equation, single
from maskproof.proofs.search.lines import Given, Labels
from maskproof.proofs.search.models import Model, depth, model_of
from maskproof.theory.quantities import Gram, Mix, Quantity, Weight
from maskproof.theory.symbols import k, l

if TYPE_CHECKING:
    from maskproof.proofs.search.forms import Forms

ONE = Integer(1)


def first_token(forms: Forms, quantity: Quantity, given: Given) -> tuple[Expr, Labels] | None:
    """Value of a weight, a mixing coefficient or a squared norm of the first token, in any layer, and lines for it."""
    model = model_of(quantity)
    if (quantity.query, quantity.key) != (ONE, ONE) or depth(quantity) < 2:
        return None
    if isinstance(quantity, Weight):
        return ONE, (_weight(forms, quantity, given),)
    if isinstance(quantity, Mix):
        n, below = _norm(forms, Gram(quantity.layer - 1, ONE, ONE, *quantity.args[3:]), model, given)
        v = model.length if model.decoder.normalised else n
        return v / n + model.decoder.residual, (_mix(forms, quantity, model, given), *below)
    if isinstance(quantity, Gram):
        n, labels = _norm(forms, quantity, model, given)
        return n**2, labels[:1]
    return None


def _weight(forms: Forms, weight: Weight, given: Given) -> str:
    if model_of(weight).decoder.beta == 0:
        return forms.of(weight, given).premises[0]
    label, total = forms.softmax(weight, given)
    return forms.lines.add(equation(weight, ONE), "identity", (label, single(forms.lines, total, given)), given)


def _mix(forms: Forms, mix: Mix, model: Model, given: Given) -> str:
    """M_11 = v / |x_1| + residual."""
    weight = Weight(*mix.args)
    square = Gram(mix.layer - 1, ONE, ONE, *mix.args[3:])
    normalised = model.decoder.normalised
    needed = (forms.length_positive(mix, ONE, given),) if normalised else ()
    factor = model.length / sqrt(square) if normalised else ONE
    defined = forms.lines.add(equation(mix, factor * weight + model.decoder.residual), "mix", needed, given)
    value = equation(mix, factor + model.decoder.residual)
    return forms.lines.add(value, "identity", (defined, _weight(forms, weight, given), *needed), given)


def _norm(forms: Forms, square: Gram, model: Model, given: Given) -> tuple[Expr, Labels]:
    """N, and lines that say G_11 = N^2, G_11 > 0 and sqrt(G_11) = N."""
    lines, residual, normalised = forms.lines, model.decoder.residual, model.decoder.normalised
    definitions = forms.letters.definitions(lines)
    if square.layer == 1:
        n = (model.length if normalised else ONE) + residual
        premises: Labels = (*forms.of(square, given).premises, *definitions)
    else:
        before = Gram(square.layer - 1, ONE, ONE, *square.args[3:])
        mix = Mix(*square.args)
        old, below = _norm(forms, before, model, given)
        n = (model.length if normalised else old) + residual * old
        premises = (*_double_sum(forms, square, given), _mix(forms, mix, model, given), *below)
    equal = lines.add(equation(square, n**2), "identity", premises, given)
    known: Labels = (equal, lines.add(Gt(square, 0), "norm", (), given))
    if n != 1:  # SymPy would not keep 1 >= 0
        known = (*known, lines.add(Ge(n, 0, evaluate=False), "sign", (), given))
    return n, (*known[:2], _root(forms, square, n, known, given))


def _root(forms: Forms, square: Gram, n: Expr, known: Labels, given: Given) -> str:
    root = Pow(sqrt(square), 2, evaluate=False)
    squares = forms.lines.add(equation(root, Pow(n, 2, evaluate=False)), "identity", known, given)
    return forms.lines.add(equation(sqrt(square), n), "square", (squares, *known), given)


def _double_sum(forms: Forms, square: Gram, given: Given) -> Labels:
    """G_11 = M_11^2 <x_1, x_1>: the definition, and what its sums over one token are."""

    def cell(kind: type[Quantity], layer: int, a: Expr, b: Expr) -> Expr:
        return kind(layer, a, b, *square.args[3:])

    layer = square.layer
    term = cell(Mix, layer, ONE, k) * cell(Mix, layer, ONE, l) * cell(Gram, layer - 1, k, l)
    outer, inner = Sum(term, (k, 1, ONE), (l, 1, ONE)), Sum(term.xreplace({l: ONE}), (k, 1, ONE))
    defined = forms.lines.add(equation(square, outer), "gram", (), given)
    return (defined, *(single(forms.lines, total, given) for total in (outer, inner)))
