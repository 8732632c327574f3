"""Arithmetic in fractions and balls, quantities enclosed by the layer map of ``numerics.balls``."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import flint
from flint import arb, fmpq

from maskproof.numerics.balls import Enclosure, enclose_model
from maskproof.numerics.balls import Model as BallModel
from maskproof.proofs.engines import functions, numbers
from maskproof.proofs.engines.functions import kappa
from maskproof.proofs.engines.numbers import Real, integer
from maskproof.proofs.engines.scene import Model, Scene
from maskproof.proofs.engines.truth import NotApplicable
from maskproof.proofs.terms import terms as t
from maskproof.theory.decoder import Mask
from maskproof.theory.masks import named
from maskproof.theory.position import bucket

MOST_TOKENS = 1_000
MOST_LAYERS = 1_000
MOST_PAIRS = 4_000_000  # of tokens, in all layers together

_CONSTANTS = {"pi": arb.pi, "euler_gamma": arb.const_euler}


def mask(given: t.Mask) -> Mask:
    """The mask of plain data.

    Raises:
        InvalidInput: there is none of that name.
    """
    return named(given.kind, given.numbers)


def tokens_seen(model: Model, scene: Scene, position: int) -> tuple[int, ...]:
    """Numbers of tokens that show all rows up to ``position``, the cheapest last.

    Raises:
        NotApplicable: they are too many, or not known.
    """
    enough = mask(model.term.mask).reach(position)
    if enough is None:
        counts = (whole(model.tokens, scene, "n"),)
    else:  # rows up to this position depend on no later token, so any larger n will do
        counts = (max(enough, scene.horizon), enough) if enough < scene.horizon else (enough,)
    if too_large(counts[-1], model.depth):
        raise NotApplicable(f"{counts[-1]} tokens in {model.depth} layers are too many to enclose")
    return tuple(n for n in counts if not too_large(n, model.depth))


def too_large(tokens: int, layers: int) -> bool:
    """Whether so many tokens in so many layers would take too long."""
    return tokens > MOST_TOKENS or layers > MOST_LAYERS or layers * tokens**2 > MOST_PAIRS


def whole(value: Any, scene: Scene, name: str) -> int:
    """The value of a parameter that is a positive integer.

    Raises:
        NotApplicable: it is not certainly one.
    """
    found = None if value is None else integer(value(scene))
    if found is None or found < 1:
        raise NotApplicable(f"{name} is not known to be a positive integer")
    return found


class Balls:
    """Fractions while they are, balls at the current precision elsewhere."""

    def none(self) -> arb:
        """Not a number."""
        return arb.nan()

    def power(self, base: Real, exponent: int) -> Real:
        """base^exponent."""
        return numbers.power(base, exponent)

    def root(self, x: Real) -> Real:
        """The square root."""
        return numbers.root(x)

    def root_of_product(self, factors: Sequence[Real]) -> Real:
        """The square root of a product."""
        return numbers.root(prod(factors, start=fmpq(1)))

    def exp(self, x: Real) -> Real:
        """e^x."""
        return numbers.exponential(x)

    def constant(self, name: str) -> arb:
        """pi or euler_gamma."""
        return _CONSTANTS[name]()

    def apply(self, name: str, arguments: Sequence[Real]) -> Real:
        """A function by its name."""
        return functions.applied(name, arguments)

    def compare(self, kind: str, a: Real, b: Real) -> bool | None:
        """Whether a relation of this kind holds."""
        return numbers.compared(kind, a, b)

    def entry(self, scene: Scene, model: Model, kind: str, layer: int, row: int, column: int) -> Real:
        """A quantity of a layer; not finite if the mask hides the key of a score."""
        found = self.enclosure(scene, model, max(row, column))
        if max(row, column) > found.n:
            return arb.nan()
        if kind == "score":
            score = found.layers[layer - 1].scores[row - 1][column - 1]
            return arb.nan() if score is None else score
        return getattr(found.layers[layer - 1], {"weight": "weights"}.get(kind, kind))[row - 1, column - 1]

    def alive(self, scene: Scene, model: Model, layers: int, count: int) -> bool | None:
        """Whether none of the first ``count`` vectors vanishes after any of the first ``layers`` layers."""
        known = ("alive", layers, *model.key(scene))
        sure = scene.known.get(known, 0)
        if count <= sure:
            return True
        found = self.enclosure(scene, model, count)
        for token in range(sure, min(count, found.n)):
            for layer in found.layers[:layers]:
                square = layer.gram[token, token]
                if not square > 0:
                    return False if square.is_exact() and square.is_zero() else None
            scene.known[known] = token + 1
        return True if count <= found.n else None

    def enclosure(self, scene: Scene, model: Model, position: int) -> Enclosure:
        """The quantities of a model, for at least ``position`` tokens where there are as many.

        Raises:
            NotApplicable: the inputs are random, or the tokens too many.
        """
        key = ("enclosure", *model.key(scene))
        known = scene.known.get(key)
        if known is None or (known.n < position and mask(model.term.mask).reach(position) is not None):
            known = _enclosed(scene, model, position)
            scene.known[key] = known
        return known


def _enclosed(scene: Scene, model: Model, position: int) -> Enclosure:
    if model.term.law.kind != "equicorrelated":
        raise NotApplicable("the quantities are expectations over a random law, not exact numbers")
    alpha = arb(model.alpha(scene))
    found = None
    for n in tokens_seen(model, scene, position):
        scene.pairs += model.depth * n**2
        found = enclose_model(ball_model(scene, model, n), alpha, model.depth)
        # A later token that vanishes, or does not exist, spoils the matrices; then as few as possible are looked at.
        if all(found.layers[-1].gram[token, token].is_finite() for token in range(n)):
            break
    assert found is not None
    return found


def ball_model(scene: Scene, model: Model, n: int) -> BallModel:
    """The parameters of a model as balls, for ``n`` tokens."""
    norm = model.term.norm
    width = whole(model.width, scene, "d") if model.width is not None else None
    shown = mask(model.term.mask)
    visible = tuple(shown.keys(i, max(n, shown.least)) for i in range(1, n + 1))
    distances = {i - j for i, keys in enumerate(visible, start=1) for j in keys}
    return BallModel(
        norm=norm,
        square=arb(width) if norm == "layernorm" and width is not None else arb(1),
        beta=arb(model.beta(scene)),
        residual=arb(model.residual(scene)),
        scale=arb(model.scale(scene)),
        visible=visible,
        kappa=_kappas(scene, model, width, n),
        bias={} if _turns(model) else {distance: arb(bias(scene, model, distance)) for distance in distances},
    )


def _turns(model: Model) -> bool:
    return model.term.position is None or model.term.position.kind == "rope"


def _kappas(scene: Scene, model: Model, width: int | None, n: int) -> tuple[arb, ...] | None:
    position = model.term.position
    if position is None or position.kind != "rope" or position.size is None:
        return None
    if width is not None and width % position.size:
        raise NotApplicable(f"RoPE over {position.size} coordinates does not fit into d = {width}")
    base = model.numbers[0](scene)
    if not isinstance(base, fmpq):
        raise NotApplicable("the base of RoPE is not a fraction")
    return tuple(kappa(base, position.size, distance, flint.ctx.prec) for distance in range(n))


def bias(scene: Scene, model: Model, distance: int) -> Any:
    """What ALiBi or T5 add to the exponent of a key at a distance i - j."""
    position = model.term.position
    assert position is not None
    if position.kind == "alibi":
        return model.numbers[0](scene) * fmpq(-abs(distance))
    values = model.numbers if distance >= 0 else model.later
    if values is None or position.size is None:
        raise NotApplicable("there is no bias for later keys")
    return values[bucket(abs(distance), len(values), position.size)](scene)
