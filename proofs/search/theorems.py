"""General theorems about the order of scores, for the scores in an inequality."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sympy import Basic, Eq, Expr, Ge, Gt, Integer, Le, Lt, sympify

from maskproof.proofs.search.forms import Forms
from maskproof.proofs.search.lines import Given, Labels, NoIdea
from maskproof.proofs.search.models import Model, model_of
from maskproof.theory import averaging
from maskproof.theory.equivalence import recency
from maskproof.theory.layer_one import layer_one
from maskproof.theory.layer_two import below_diagonal, increasing, norms, order
from maskproof.theory.quantities import Gram, Score, Weight
from maskproof.theory.symbols import alpha, i, j, l


def theorems(forms: Forms, small: Expr, large: Expr, given: Given) -> Iterator[str]:
    """Lines that say small < large, by the theorems that speak of such expressions."""
    for tactic in (_increase, _below, _fall, _order):
        label = tactic(forms, small, large, given)
        if label is not None:
            yield label


def positive(forms: Forms, small: Expr, large: Expr, given: Given) -> Iterator[str]:
    """Lines that say that a weight or a squared norm of a deeper layer is positive."""
    if small != 0 or not isinstance(large, Weight | Gram) or (large.layer == 1 and isinstance(large, Gram)):
        return
    model_of(large)  # there are rules for it
    if isinstance(large, Weight):
        if forms.lines.follows(Le(large.key, large.query), given):
            yield forms.weight_positive(large, given)
    elif large.query == large.key:
        yield forms.lines.add(Gt(large, 0), "norm", (), given)


def _adjacent(a: Expr, b: Expr) -> tuple[Score, Score] | None:
    """Scores of one query and model at neighbouring keys, the smaller key first."""
    if not (isinstance(a, Score) and isinstance(b, Score)):
        return None
    if (a.layer, a.query, a.args[3:]) != (b.layer, b.query, b.args[3:]):
        return None
    step = (b.key - a.key).expand()
    return (a, b) if step == 1 else (b, a) if step == -1 else None


def _are_paper(forms: Forms, model: Model, given: Given) -> bool:
    """Whether 0 <= alpha < 1."""
    return forms.lines.follows(Ge(model.alpha, 0), given) and forms.lines.follows(Lt(model.alpha, 1), given)


def _increase(forms: Forms, small: Expr, large: Expr, given: Given) -> str | None:
    pair = _adjacent(small, large)
    if pair is None or pair != (small, large) or not forms.is_before(pair[0].key, pair[0].query, given):
        return None
    here, model = pair[0], model_of(pair[0])
    if here.layer == 1 or not model.decoder.normalised or not _are_paper(forms, model, given):
        return None
    positions = {i: here.query, j: here.key}
    if here.layer != 2:
        if model.family or model.decoder.beta != 0 or model.decoder.residual != 0:
            return None
        values = {alpha: model.alpha, l: sympify(here.layer), **positions}
        return forms.lines.cite(averaging.increasing(), "increase", values, given)
    if model.family:
        return forms.lines.cite(recency(model.family), "increase", forms.own(model, positions), given)
    return forms.lines.cite(increasing(), "increase", forms.plain(model, positions), given)


def _below(forms: Forms, small: Expr, large: Expr, given: Given) -> str | None:
    """An earlier key scores less than the query's own."""
    if not isinstance(small, Score) or small.layer == 1:
        return None
    model = model_of(small)
    own = isinstance(large, Score) and large == small.func(small.layer, small.query, small.query, *small.args[3:])
    if not model.decoder.normalised or not forms.is_before(small.key, small.query, given):
        return None
    if own:
        label = _below(forms, small, model.gain, given)
        form = forms.own_score(large, model, given)  # type: ignore[arg-type]
        return label and forms.lines.add(Lt(small, large), "sign", (label, *form.premises), given)
    if large != model.gain:
        return None
    if small.layer != 2:
        return None if model.family else forms.lines.add(Lt(small, 1), "independence", (), given)
    positions = {i: small.query, j: small.key}
    label = forms.lines.cite(below_diagonal(), "below", forms.plain(model, positions), given)
    if model.family:
        twin = forms.reduced(small, given)
        assert twin is not None
        scaled = twin.value
        if model.gain != 1:
            label = forms.lines.add(Lt(scaled, model.gain), "product", (label,), given, {"factor": model.gain})
        label = forms.lines.add(Lt(small, model.gain), "sign", (label, *twin.premises), given)
    return label


def _fall(forms: Forms, small: Expr, large: Expr, given: Given) -> str | None:
    """Squared norms decrease after layer one."""
    a, b = small, large
    if not (isinstance(a, Gram) and isinstance(b, Gram) and a.layer == b.layer == 1):
        return None
    if a.args[3:] != b.args[3:] or a.query != a.key or b.query != b.key or (a.query - b.query).expand() != 1:
        return None
    model, lines = model_of(a), forms.lines
    if not lines.follows(Lt(model.alpha, 1), given):
        return None
    values = {**forms.plain(model, {j: b.query}), i: Integer(1)}
    label = lines.cite(norms(), "h-decreasing", values, given)
    if model.length != 1:
        fall = lines.statement(label)
        scaled = fall.func(*(model.length**2 * side for side in fall.args))
        label = lines.add(scaled, "product", (label,), given, {"factor": model.length**2})
    both = (*forms.of(a, given).premises, *forms.of(b, given).premises)
    return lines.add(Lt(a, b), "sign", (*both, label), given)


def _order(forms: Forms, small: Expr, large: Expr, given: Given) -> str | None:
    """By the sign of the inner product, before the diagonal."""
    pair = _adjacent(small, large)
    if pair is None:
        return None
    sign: Callable[[Expr, Integer], Basic] = Gt if pair == (small, large) else Lt
    return by_sign(forms, pair, sign, Lt(small, large), given)


def level(forms: Forms, left: Expr, right: Expr, given: Given) -> str | None:
    """Scores before the diagonal are equal where the inner product is zero."""
    pair = _adjacent(left, right)
    if pair is None:
        return None
    inner = Gram(1, pair[0].query, pair[0].key, *pair[0].args[3:])
    return by_sign(forms, pair, Eq, Eq(left, right), given) if Eq(inner, 0) in given else None


def by_sign(
    forms: Forms, pair: tuple[Score, Score], sign: Callable[[Expr, Integer], Basic], goal: Basic, given: Given
) -> str | None:
    """``goal`` about neighbouring scores, from the sign of their inner product."""
    here, closer = pair
    model, lines = model_of(here), forms.lines
    if here.layer != 2 or not model.decoder.normalised or not forms.is_before(closer.key, here.query, given):
        return None
    positions = {i: here.query, j: here.key}
    theorem = lines.cite(order(), "theorem", forms.plain(model, positions), given)
    condition, conclusion = next(part.args for part in lines.statement(theorem).args if part.args[0].func is sign)
    known = _inner_sign(forms, here, condition, given)
    label = lines.add(conclusion, "detach", (theorem, *known), given)
    if not model.family:
        return label
    twins = [form for score in pair if (form := forms.reduced(score, given)) is not None]
    premises = [label for form in twins for label in form.premises]
    if goal.func is Eq:
        return lines.add(goal, "identity", (label, *premises), given)
    if model.gain != 1:
        scaled = conclusion.func(*(model.gain * side for side in conclusion.args))
        label = lines.add(scaled, "product", (label,), given, {"factor": model.gain})
    return lines.add(goal, "sign", (label, *premises), given)


def _inner_sign(forms: Forms, score: Score, condition: Basic, given: Given) -> Labels:
    """Lines that give the sign of the twin's inner product, which ``condition`` names."""
    model, lines = model_of(score), forms.lines
    if lines.follows(condition, given):
        return ()
    inner = Gram(1, score.query, score.key, *score.args[3:])
    if model.family and lines.follows(condition.func(inner, 0), given):
        twin = forms.reduced(inner, given)
        assert twin is not None
        back = lines.add(Eq(condition.lhs, inner / model.length**2), "identity", twin.premises, given)
        if condition.func is not Eq:
            return (lines.add(condition, "sign", (back,), given),)
        zero = lines.add(Eq(inner, 0), "hypothesis", (), given)
        return (lines.add(condition, "identity", (back, zero), given),)
    if condition.func is Eq:
        raise NoIdea(f"whether {condition} is not known")
    label = lines.cite(layer_one(model.norm), "g", forms.plain(model, {i: score.query, j: score.key}), given)
    return (lines.add(condition, "sign", (label, *forms.letters.bounds(lines)), given),)
