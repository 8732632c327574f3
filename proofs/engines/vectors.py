"""Whether there are input vectors with a law, and whether none of them vanishes in a layer that normalises it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flint import fmpq

from maskproof.proofs.engines.numbers import integer
from maskproof.proofs.engines.scene import Check, Scene, Value, places
from maskproof.proofs.engines.truth import Truth, both
from maskproof.proofs.terms import terms as t

if TYPE_CHECKING:
    from maskproof.proofs.engines.compiler import Compiler, Scope


def exist(compiler: Compiler, s: t.Vectors, scope: Scope) -> Check:
    """The check of a ``Vectors``."""
    law = s.of.law if isinstance(s.of, t.Model) else s.of
    count = compiler.value(s.count, scope)
    admissible = _admissible(compiler, law, count, scope)
    if not isinstance(s.of, t.Model) or s.of.norm == "none" or s.layer == t.ONE:
        return _remembered(admissible, count, tuple(scope[v] for v in law.free if v.sort.integral))
    if law.kind != "equicorrelated":
        return admissible  # with probability 1 no combination of random vectors with positive weights vanishes
    model = compiler.model(s.of, scope)
    layer = compiler.layer(s.layer, model, scope)

    def check(scene: Scene) -> Truth:
        tokens, depth = integer(count(scene)), layer(scene)
        given = admissible(scene)
        if given is not True or tokens is None or depth is None:
            return given if tokens is not None and depth is not None else None
        return scene.arithmetic.alive(scene, model, depth - 1, tokens)

    return _remembered(check, count, tuple(scope[v] for v in s.of.free | s.layer.free if v.sort.integral))


def _remembered(check: Check, count: Value, slots: tuple[int, ...]) -> Check:
    """A check that is not made again at a point where it held before; real variables do not change in a scene."""

    def remembered(scene: Scene) -> Truth:
        tokens = integer(count(scene))
        key = (check, tokens, *places(scene, slots)) if slots else (check, tokens)
        if key in scene.known:
            return True
        truth = check(scene)
        if truth is True and tokens is not None:
            scene.known[key] = True
        return truth

    return remembered


def _admissible(compiler: Compiler, law: t.Law, count: Value, scope: Scope) -> Check:
    alpha = compiler.value(law.alpha, scope)
    one, none = fmpq(1), fmpq(0)
    if law.kind == "equicorrelated":

        def gram(scene: Scene) -> Truth:
            compare, rho, others = scene.arithmetic.compare, alpha(scene), count(scene) + fmpq(-1)
            return both((compare("<", rho, one), compare("<=", fmpq(-1), rho * others)))

        return gram
    width = compiler.value(law.width, scope) if law.width is not None else None

    def random(scene: Scene) -> Truth:
        compare, rho = scene.arithmetic.compare, alpha(scene)
        d = one if width is None else width(scene)
        room = law.kind != "sphere" or width is None or compare("<=", rho, none) or compare("<=", fmpq(2), d)
        return both((compare("<=", none, rho), compare("<", rho, one), compare("<=", one, d), room))

    return random


def independent(alpha: Value, count: Value) -> Check:
    """The check of an ``Independent``: alpha < 1, and 1 + (count - 1) alpha > 0."""

    def check(scene: Scene) -> Truth:
        compare, rho, others = scene.arithmetic.compare, alpha(scene), count(scene) + fmpq(-1)
        return both((compare("<", rho, fmpq(1)), compare("<", fmpq(-1), rho * others)))

    return check
