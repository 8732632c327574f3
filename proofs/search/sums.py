"""What a finite sum of quantities is worth: its terms in closed form, the last one apart if it is on the diagonal."""

from __future__ import annotations

from collections.abc import Iterator

from sympy import Basic, Dummy, Expr, Ge, Gt, Integer, Le, Sum, Symbol

from maskproof.proofs.search.finite import equation
from maskproof.proofs.search.forms import Form, Forms, Open, power
from maskproof.proofs.search.lines import Given, NoIdea
from maskproof.proofs.search.models import depth, model_of
from maskproof.theory.quantities import Mix, Quantity, Weight


def worth(forms: Forms, e: Basic, given: Given) -> Iterator[tuple[Expr, Form]]:
    """The sums in ``e`` and the quantities outside them, each with its closed form; the deepest quantities first."""
    sums = sorted(e.atoms(Sum), key=str)
    yield from ((total, sum_form(forms, total, given)) for total in sums)
    outside = e.xreplace({total: Dummy() for total in sums})
    yield from ((q, forms.of(q, given)) for q in sorted(outside.atoms(Quantity), key=_hardest))


def _hardest(q: Quantity) -> tuple[int, str]:
    return -depth(q), str(q)


def sum_form(forms: Forms, total: Sum, given: Given) -> Form:
    """The value of a sum over one index.

    Raises:
        NoIdea: none is known.
    """
    if len(total.limits) != 1 or len(total.limits[0]) != 3:
        raise NoIdea(f"{total} has more than one index")
    f, (k, low, high) = total.function, total.limits[0]
    if low == 1 and isinstance(f, Weight | Mix) and (f.key, f.query) == (k, high):
        model = model_of(f)
        if isinstance(f, Weight) and model.decoder.beta != 0:
            return _row_of_weights(forms, f, k, given)
        if isinstance(f, Mix) and f.layer != 1 and not model.decoder.normalised:
            return _row_of_mix(forms, f, k, given)
    outside, rest = f.as_independent(k, as_Add=False)
    if outside != 1 and isinstance(rest, Weight | Mix):
        inner = Sum(rest, total.limits[0])
        form = sum_form(forms, inner, given)
        label = forms.lines.add(equation(total, outside * inner), "linear_sum", (), given)
        return Form(outside * form.value, (label, *form.premises))
    try:
        return _evaluated(forms, f, k, low, high, given)
    except Open:
        pass
    if not forms.lines.follows(Le(low, high), given):
        raise NoIdea(f"whether {total} has a last term is not known")
    try:
        before = _evaluated(forms, f, k, low, high - 1, given)
    except Open as reason:
        raise NoIdea(f"{total}: {reason}") from None
    last = f.xreplace({k: high})
    split = forms.lines.add(equation(total, Sum(f, (k, low, high - 1)) + last), "split_last", (), given)
    found = {q: forms.of(q, given) for q in sorted(last.atoms(Quantity), key=str)}
    value = last.xreplace({q: form.value for q, form in found.items()})
    premises = [label for form in found.values() for label in form.premises]
    return Form(before.value + value, (split, *before.premises, *premises))


def _evaluated(forms: Forms, f: Expr, k: Symbol, low: Expr, high: Expr, given: Given) -> Form:
    """The sum, all of whose terms have one closed form."""
    lines, total = forms.lines, Sum(f, (k, low, high))
    inside = (*given, *(h for h in (Ge(k, low), Le(k, high)) if isinstance(h, Basic) and h != True))  # noqa: E712
    found = {q: forms.of(q, inside) for q in sorted(f.atoms(Quantity), key=str)}
    term, labels = f.xreplace({q: form.value for q, form in found.items()}), []
    if found:
        premises = [label for form in found.values() for label in form.premises]
        one = lines.add(equation(f, term), "identity", premises, inside)
        labels.append(lines.add(equation(total, Sum(term, (k, low, high))), "termwise", (one,), given))
    inner = Sum(term, (k, low, high))
    if k not in term.free_symbols:
        value: Expr = (high - low + 1) * term
        labels.append(lines.add(equation(inner, value), "constant_sum", (), given))
        return Form(value, tuple(labels))
    outside, rest = term.as_independent(k, as_Add=False)
    if outside != 1:
        value = outside * Sum(rest, (k, low, high))
        labels.append(lines.add(equation(inner, value), "linear_sum", (), given))
        return Form(value, tuple(labels))
    return Form(inner, tuple(labels))


def _row_of_weights(forms: Forms, weight: Weight, k: Symbol, given: Given) -> Form:
    """The weights of a query sum to 1, in any layer: the softmax divides by the sum of its numerators."""
    lines, query = forms.lines, weight.query
    own = weight.func(weight.layer, query, query, *weight.args[3:])
    term, other = forms.softmax(weight, (*given, Le(k, query)))
    total = Sum(power(weight, k), (k, 1, query))
    row, divided = Sum(weight, (k, 1, query)), Sum(power(weight, k) / other, (k, 1, query))
    terms = lines.add(equation(row, divided), "termwise", (term,), given)
    factor = lines.add(equation(divided, total / other), "linear_sum", (), given)
    # the two sums differ in the name of their index; both are what the own weight divides by
    (first, _), (second, _) = forms.softmax(own, given), forms.softmax(own, given, k)
    positive = lines.add(Gt(own, 0), "sign", (first,), given)
    named = [
        lines.add(equation(z, power(weight, query) / own), "identity", (line, positive), given)
        for z, line in ((other, first), (total, second))
    ]
    same = lines.add(equation(other, total), "identity", named, given)
    return Form(Integer(1), (lines.add(equation(row, Integer(1)), "identity", (terms, factor, same), given),))


def _row_of_mix(forms: Forms, mix: Mix, k: Symbol, given: Given) -> Form:
    """Without normalisation the coefficients of a row sum to 1 + residual."""
    lines, query, model = forms.lines, mix.query, model_of(mix)
    weight = Weight(*mix.args)
    own_mix, own_weight = (q.func(q.layer, query, query, *q.args[3:]) for q in (mix, weight))
    rows = [Sum(q, (k, 1, query)) for q in (mix, weight)]
    before = [Sum(q, (k, 1, query - 1)) for q in (mix, weight)]
    splits = [
        lines.add(equation(row, part + own), "split_last", (), given)
        for row, part, own in zip(rows, before, (own_mix, own_weight), strict=True)
    ]
    row_of_weights = sum_form(forms, rows[1], given)
    earlier = lines.add(equation(mix, weight), "mix", (), (*given, Le(k, query - 1)))
    premises = (
        splits[0],
        lines.add(equation(before[0], before[1]), "termwise", (earlier,), given),
        lines.add(equation(own_mix, own_weight + model.decoder.residual), "mix", (), given),
        lines.add(equation(before[1], rows[1] - own_weight), "identity", (splits[1],), given),
        *row_of_weights.premises,
    )
    value = 1 + model.decoder.residual
    return Form(value, (lines.add(equation(rows[0], value), "identity", premises, given),))
