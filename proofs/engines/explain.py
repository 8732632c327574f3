"""Why a statement fails at a point, in words."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from flint import arb

from maskproof.numerics.balls import working_precision
from maskproof.proofs.engines.evaluate import Evaluator, Integers, Reals
from maskproof.proofs.engines.truth import Truth, Undefined
from maskproof.proofs.terms import terms as t
from maskproof.proofs.terms.text import text


def explain(statement: t.Statement, reals: Reals, integers: Integers, precision: int, horizon: int = 1) -> str:
    """The relations that make ``statement`` fail at a point, with both sides enclosed."""
    failing = responsible(statement, reals, integers, precision, horizon)
    words = [_compared(relation, reals, integers, precision, horizon) for relation in failing]
    return "; ".join(words) or "the statement is false by itself"


def responsible(
    statement: t.Statement, reals: Reals, integers: Integers, precision: int, horizon: int = 1
) -> list[t.Relation]:
    """The relations because of which ``statement`` fails at a point, each once."""

    def truth(part: t.Statement) -> Truth:
        return Evaluator(part).at(reals, horizon).truth(integers, precision)

    return list(dict.fromkeys(_failing(statement, truth, True)))


def sides(relation: t.Relation, reals: Reals, integers: Integers, precision: int, horizon: int = 1) -> tuple[arb, arb]:
    """Both sides of ``relation`` at a point, enclosed."""
    at = Evaluator(relation).at(reals, horizon)
    with working_precision(precision):
        compiler = at.evaluator.compiler
        left, right = [compiler.value(side, compiler.scope) for side in (relation.left, relation.right)]
        scene = at.scene(integers, precision)
        return arb(left(scene)), arb(right(scene))


def _failing(statement: t.Statement, truth: Callable[[t.Statement], Truth], wanted: bool) -> Iterator[t.Relation]:
    """The relations because of which ``statement`` is not as ``wanted``."""
    match statement:
        case t.Relation():
            yield statement
        case t.Not():
            yield from _failing(statement.statement, truth, not wanted)
        case t.Implies():
            if wanted:
                yield from _failing(statement.conclusion, truth, True)
        case t.And() | t.Or():
            for part in statement.statements:
                found = truth(part)
                if not isinstance(found, Undefined) and found is (not wanted):
                    yield from _failing(part, truth, wanted)


def _compared(relation: t.Relation, reals: Reals, integers: Integers, precision: int, horizon: int) -> str:
    left, right = sides(relation, reals, integers, precision, horizon)
    with working_precision(precision):
        return (
            f"{text(relation.left, 60)} = {left.str(20)}, {text(relation.right, 60)} = {right.str(20)}, "
            f"difference {(left - right).str(12)}, so that {text(relation, 120)} fails{_models(relation)}"
        )


def _models(relation: t.Relation) -> str:
    """Which models are compared, where there are several."""
    models = list(dict.fromkeys(part.model for part in relation.walk() if isinstance(part, t.Entry)))
    if len(models) < 2:
        return ""
    words = (f"model {place}: {described(model)}" for place, model in enumerate(models, 1))
    return f" ({'; '.join(words)})"


def described(model: t.Model) -> str:
    """A model in a few words.

    >>> from maskproof.theory import Decoder, Equicorrelated
    >>> from maskproof.proofs.terms.reading import read_model
    >>> described(read_model(Decoder(), Equicorrelated(0)))
    'l2, beta 1, residual 1, scale 1, causal, equicorrelated alpha 0'
    """
    mask = " ".join([model.mask.kind, *map(str, model.mask.numbers)])
    position = []
    if model.position is not None:
        position = [f"{model.position.kind} {', '.join(text(part) for part in model.position.numbers)}"]
    numbers = (f"{name} {text(getattr(model, name))}" for name in ("beta", "residual", "scale"))
    width = "" if model.law.width is None else f", d = {text(model.law.width)}"
    law = f"{model.law.kind} alpha {text(model.law.alpha)}{width}"
    return ", ".join([model.norm, *numbers, mask, *position, law])
