"""The 1/d term of an expectation over random inputs, in balls."""

from __future__ import annotations

from dataclasses import replace

import flint
import sympy
from flint import arb, fmpq

from maskproof.numerics.correction import correction_balls
from maskproof.proofs.engines import models
from maskproof.proofs.engines.ball_arithmetic import tokens_seen
from maskproof.proofs.engines.numbers import fraction
from maskproof.proofs.engines.scene import Model, Scene, Value
from maskproof.proofs.engines.truth import NotApplicable
from maskproof.proofs.terms import terms as t
from maskproof.proofs.terms.text import text
from maskproof.theory.errors import InvalidInput
from maskproof.theory.values import as_fraction

MOST_UNMASKED = 20  # tokens without a mask, where every length has an expansion of its own; the work grows like n^5


def coefficient(scene: Scene, model: Model, kind: str, layer: int, row: int, column: int) -> arb:
    """The coefficient of 1/d in the expectation of a quantity; not finite if the mask hides the key of a score.

    Raises:
        NotApplicable: the model has no such expansion, or none that is known.
    """
    key = ("correction", layer, kind == "score", *model.key(scene))
    known = scene.known.get(key)
    if known is None or known.n < max(row, column):
        n = tokens_seen(model, scene, max(row, column))[0]
        if model.tokens is not None and n > MOST_UNMASKED:
            raise NotApplicable(f"{n} tokens are too many for a 1/d term without a mask")
        try:
            # beta, the residual and alpha are given in balls, and the width plays no part: what stands for them is idle
            number, term = _numbers(scene, model), replace(model.term, beta=t.ONE, residual=t.ONE)
            law = models.inputs(replace(term.law, alpha=t.ZERO, width=t.number(2)), number)
            known = correction_balls(
                models.decoder(term, number), law, n, layer, flint.ctx.prec,
                alpha=arb(model.alpha(scene)), beta=arb(model.beta(scene)), residual=arb(model.residual(scene)),
                scores_only=kind == "score",
            )  # fmt: skip
        except InvalidInput as error:
            raise NotApplicable(str(error)) from None
        scene.known[key] = known
    try:
        return getattr(known, kind)(layer, row, column)
    except InvalidInput:
        return arb.nan()


def _numbers(scene: Scene, model: Model) -> models.Number:
    """The values of a model's parameters, all but those given in balls, as SymPy's."""
    term, position = model.term, model.term.position
    values: dict[t.Term, Value] = {term.scale: model.scale}
    if position is not None:
        values |= dict(
            zip((*position.numbers, *(position.later or ())), (*model.numbers, *(model.later or ())), strict=True)
        )

    def number(part: t.Term) -> sympy.Rational:
        value = fraction(part.value) if isinstance(part, t.Number) else values[part](scene)
        if not isinstance(value, fmpq):
            raise NotApplicable(f"{text(part)} is not a fraction")
        return sympy.Rational(as_fraction(value))

    return number
