"""The 1/d term of an expectation over random inputs, in balls."""

from __future__ import annotations

import flint
import sympy
from flint import arb, fmpq

from numerics.correction import correction_balls
from proofs.engines.ball_arithmetic import mask, tokens_seen
from proofs.engines.scene import Model, Scene, Value
from proofs.engines.truth import NotApplicable
from proofs.terms import terms as t
from theory.decoder import Decoder
from theory.errors import InvalidInput
from theory.inputs import Inputs, SharedGaussian, Sphere
from theory.position import Alibi, Position, T5Bias


def coefficient(scene: Scene, model: Model, kind: str, layer: int, row: int, column: int) -> arb:
    """The coefficient of 1/d in the expectation of a quantity; not finite if the mask hides the key of a score.

    Raises:
        NotApplicable: the model has no such expansion, or none that is known.
    """
    key = ("correction", layer, kind == "score", *model.key(scene))
    known = scene.known.get(key)
    if known is None or known.n < max(row, column):
        n = tokens_seen(model, scene, max(row, column))[0]
        try:
            known = correction_balls(
                _decoder(scene, model), _law(model.term.law), n, layer, flint.ctx.prec,
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


def _law(law: t.Law) -> Inputs:
    """The law's family; alpha is given in a ball, and the width plays no part."""
    return Sphere(2, 0) if law.kind == "sphere" else SharedGaussian(2, 0, law.unit)


def _decoder(scene: Scene, model: Model) -> Decoder:
    """The decoder, all but beta and residual, which are given in balls."""
    term = model.term
    if term.norm not in ("l2", "none"):
        raise NotApplicable("the decoder depends on the width")
    scale = _exact(scene, model.scale, "the scale")
    return Decoder(norm=term.norm, scale=scale, mask=mask(term.mask), position=_position(scene, model))  # type: ignore[arg-type]


def _position(scene: Scene, model: Model) -> Position | None:
    position = model.term.position
    if position is None:
        return None
    numbers = tuple(_exact(scene, value, "a bias") for value in model.numbers)
    if position.kind == "alibi":
        return Alibi(numbers[0])
    if position.kind == "t5" and position.size is not None:
        later = None if model.later is None else tuple(_exact(scene, value, "a bias") for value in model.later)
        return T5Bias(numbers, later, position.size)
    raise NotApplicable("1/d terms with RoPE are not known")


def _exact(scene: Scene, value: Value, name: str) -> sympy.Rational:
    number = value(scene)
    if not isinstance(number, fmpq):
        raise NotApplicable(f"{name} is not a fraction")
    return sympy.Rational(int(number.p), int(number.q))
