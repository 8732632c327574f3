"""Arithmetic in normal forms (``proofs.engines.tower``), quantities by the layer map in the same numbers.

It decides equalities between numbers that balls can only find close to one another. What it can't write down within
its budget stays open.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from flint import arb, fmpq

from maskproof.proofs.engines import functions, numbers
from maskproof.proofs.engines.ball_arithmetic import Balls, bias, mask, whole
from maskproof.proofs.engines.numbers import integer
from maskproof.proofs.engines.polynomials import Budget
from maskproof.proofs.engines.scene import Check, Model, Open, Scene
from maskproof.proofs.engines.tower import Element, Finer, Full, Number, Tower
from maskproof.proofs.engines.truth import NotApplicable, Truth

POINT = 1_000_000  # of a budget, for one point
ENTRY = 200_000  # for one entry of a matrix
EXPONENT = 20_000  # for the exponential of one score, for which a symbol will mostly do
ROUNDS = 8  # of refining N
FINEST = 1_000  # N, of exponentials of multiples of 1/N
MOST_TOKENS = 60
MOST_LAYERS = 12

__all__ = ["Budget", "decided"]


def decided(check: Check, balls: Scene, kept: dict[Any, Any], budget: Budget) -> Truth:
    """The truth of a statement at a point that balls left open, or None if it stays open.

    Args:
        check: the statement, compiled.
        balls: the point in balls, at the current precision.
        kept: what was found at other points with the same real parameters.
        budget: what may be spent.
    """
    for sparing in (True, False):
        share = Budget(min(POINT, budget.left))
        start = share.left
        try:
            found = _decided(check, balls, kept.setdefault(sparing, {}), share, sparing)
        finally:
            budget.left -= start - max(0, share.left)
        if found is not None:
            return found
    return None


def _decided(check: Check, balls: Scene, kept: dict[Any, Any], share: Budget, sparing: bool) -> Truth:
    """The same, spending little on each entry (then symbols are soon taken), or much."""
    for _ in range(ROUNDS):
        tower = kept.setdefault("tower", Tower(share, kept.get("denominator", 1), sparing=sparing))
        tower.budget = share
        scene = Scene(balls.values, Exact(tower), balls.horizon, companion=balls, known=kept)
        found = check(scene)
        if found is not None or not isinstance(scene.obstacle, Finer | Full):
            return found
        denominator = tower.denominator * (scene.obstacle.step if isinstance(scene.obstacle, Finer) else 1)
        kept.clear()
        if denominator > FINEST:
            return None
        kept["denominator"] = denominator
    return None


class Exact:
    """Fractions while they are, normal forms elsewhere."""

    def __init__(self, tower: Tower) -> None:
        self.tower = tower
        self.balls = Balls()

    def none(self) -> Number:
        """Refused."""
        raise Open("no such number")

    def power(self, base: Number, exponent: int) -> Number:
        """base^exponent."""
        if isinstance(base, Element):
            if abs(exponent) > 64:
                raise Open("a power is too high")
            return base**exponent
        found = numbers.power(base, exponent)
        return found if isinstance(found, fmpq) else self.none()

    def root(self, x: Number) -> Number:
        """The square root."""
        return self.tower.root(x)

    def root_of_product(self, factors: Sequence[Number]) -> Number:
        """The square root of a product: that of its factors, where all are positive."""
        if all(_ball(factor) > 0 for factor in factors):
            return prod(map(self.root, factors), start=fmpq(1))
        return self.root(prod(factors, start=fmpq(1)))

    def exp(self, x: Number) -> Number:
        """e^x."""
        return self.tower.exp(x)

    def constant(self, name: str) -> Number:
        """pi or euler_gamma, of which nothing else is known."""
        return self.tower.symbol(name, lambda: self.balls.constant(name))

    def apply(self, name: str, arguments: Sequence[Number]) -> Number:
        """A function by its name; where nothing better is known its value is a symbol."""
        if name in ("abs", "sign", "max", "min", "delta"):
            return self._ordered(name, arguments)
        if all(isinstance(argument, fmpq) for argument in arguments):
            found = functions.rational(name, arguments)
            if found is not None:
                return found
        x = arguments[0]
        match name:
            case "log" if (found := self.tower.log(x)) is not None:
                return found
            case "sinh" | "cosh" | "tanh":
                up, down = self.exp(x), self.exp(x * fmpq(-1))
                half, other = fmpq(1, 2), fmpq(1 if name == "cosh" else -1)
                odd = (up + down * other) * half
                return odd if name != "tanh" else odd * self.power((up + down) * half, -1)
            case "power" if (exponent := integer(arguments[1])) is not None:
                return self.power(x, exponent)
            case "power" if isinstance(arguments[1], fmpq) and arguments[1].q == 2:
                return self.power(self.root(x), int(arguments[1].p))
        key = f"{name} {' , '.join(self.tower.lifted(argument).key for argument in arguments)}"
        fixed = list(arguments)
        return self.tower.symbol(key, lambda: arb(functions.applied(name, [_ball(argument) for argument in fixed])))

    def _ordered(self, name: str, arguments: Sequence[Number]) -> Number:
        x, *others = arguments
        if name == "delta":
            return fmpq(int(self._sign(x, others[0]) == 0))
        if name in ("abs", "sign"):
            sign = fmpq(self._sign(x, fmpq(0)))
            return sign if name == "sign" else x * sign
        for other in others:
            if (self._sign(other, x) > 0) is (name == "max"):
                x = other
        return x

    def _sign(self, a: Number, b: Number) -> int:
        difference = a + b * fmpq(-1)
        if isinstance(difference, fmpq):
            return int(difference > 0) - int(difference < 0)
        ball = difference.ball()
        if ball > 0 or ball < 0:
            return 1 if ball > 0 else -1
        raise Open("a sign is open")

    def compare(self, kind: str, a: Number, b: Number) -> bool | None:
        """Whether a relation holds."""
        sign = self._sign(a, b)
        return {"<": sign < 0, "<=": sign <= 0, "=": sign == 0, "!=": sign != 0}[kind]

    # --- the layer map ----------------------------------------------------------------------------

    def entry(self, scene: Scene, model: Model, kind: str, layer: int, row: int, column: int) -> Number:
        """A quantity of a layer."""
        if model.term.law.kind != "equicorrelated":
            raise NotApplicable("the quantities are expectations over a random law, not exact numbers")
        if max(row, column) > MOST_TOKENS or layer > MOST_LAYERS:
            raise Open("too many tokens or layers")
        return Layers(self, scene, model).entry(kind, layer, row, column)

    def alive(self, scene: Scene, model: Model, layers: int, count: int) -> bool | None:
        """Whether no vector vanishes."""
        if count > MOST_TOKENS or layers > MOST_LAYERS:
            return None
        known = Layers(self, scene, model)
        for layer in range(1, layers + 1):
            for token in range(1, count + 1):
                if self._sign(known.entry("gram", layer, token, token), fmpq(0)) <= 0:
                    return False
        return True


class Layers:
    """The layer map at a point, entry by entry as they are asked for."""

    def __init__(self, arithmetic: Exact, scene: Scene, model: Model) -> None:
        self.arithmetic, self.scene, self.model = arithmetic, scene, model
        self.known: dict[Any, Number] = scene.known.setdefault(("layers", *model.key(scene)), {})
        self.mask = mask(model.term.mask)
        self.tokens = MOST_TOKENS if model.tokens is None else whole(model.tokens, scene, "n")
        self.normalised = model.term.norm != "none"

    def entry(self, kind: str, layer: int, row: int, column: int) -> Number:
        """A score, weight, mixing coefficient or Gram entry, worked out once."""
        key = (kind, layer, row, column)
        if key not in self.known:
            try:
                with self.arithmetic.tower.allowance(ENTRY if kind != "exponential" else EXPONENT):
                    self.known[key] = getattr(self, f"_{kind}")(layer, row, column)
            except (Finer, Full):
                raise
            except Open:
                self.known[key] = self._symbol(kind, layer, row, column)
        return self.known[key]

    def _symbol(self, kind: str, layer: int, row: int, column: int) -> Number:
        """What has no normal form within reach, as a symbol: that weights add up to 1 needs no more.

        Raises:
            Open: it has no value, or nothing may be spent any more.
        """
        tower, balls = self.arithmetic.tower, self.scene.companion
        if kind not in ("score", "weight", "gram", "exponential") or balls is None or tower.budget.left < 0:
            raise Open(f"no normal form of {kind}")
        if kind == "exponential":
            beta = self.model.beta(balls)
            score = self.arithmetic.balls.entry(balls, self.model, "score", layer, row, column)
            ball = arb(beta * score).exp()
        else:
            ball = arb(self.arithmetic.balls.entry(balls, self.model, kind, layer, row, column))
        if not ball.is_finite():
            raise Open(f"no value of {kind}")
        return tower.symbol(f"{kind} {self.model.key(self.scene)} {layer} {row} {column}", lambda: ball)

    def _span(self, row: int) -> range:
        return self.mask.keys(row, max(self.tokens, self.mask.least))

    def _gram(self, layer: int, row: int, column: int) -> Number:
        if layer == 0:
            return fmpq(1) if row == column else self.model.alpha(self.scene)
        if column > row:
            return self.entry("gram", layer, column, row)
        products = (
            self.entry("mixed", layer, row, k) * self.entry("mix", layer, column, k) for k in self._span(column)
        )
        return sum(products, fmpq(0))

    def _mixed(self, layer: int, row: int, column: int) -> Number:
        """The inner product of a token after the layer with one before it."""
        products = (
            self.entry("mix", layer, row, k) * self.entry("gram", layer - 1, k, column) for k in self._span(row)
        )
        return sum(products, fmpq(0))

    def _mix(self, layer: int, row: int, column: int) -> Number:
        found = self.entry("weight", layer, row, column) * self.entry("factor", layer, column, column)
        return found + self.model.residual(self.scene) if row == column else found

    def _factor(self, layer: int, row: int, _: int) -> Number:
        """What a vector is multiplied by when it is normalised."""
        if not self.normalised:
            return fmpq(1)
        arithmetic = self.arithmetic
        length = arithmetic.root(self._square())
        return length * arithmetic.power(arithmetic.root(self.entry("gram", layer - 1, row, row)), -1)

    def _square(self) -> Number:
        layernorm = self.model.term.norm == "layernorm"
        return fmpq(whole(self.model.width, self.scene, "d")) if layernorm else fmpq(1)

    def _score(self, layer: int, row: int, column: int) -> Number:
        if column not in self._span(row):
            return self.arithmetic.none()
        scale = self.arithmetic.power(self.model.scale(self.scene), -1)
        if row == column and self.normalised:
            return self._square() * scale
        if row < column and row in self._span(column):
            return self.entry("score", layer, column, row)  # inner products are symmetric, symbols for them should be
        lengths = self.entry("factor", layer, row, row) * self.entry("factor", layer, column, column)
        return self.entry("gram", layer - 1, row, column) * lengths * scale * self._turn(abs(row - column))

    def _turn(self, distance: int) -> Number:
        position = self.model.term.position
        if position is None or position.kind != "rope" or distance == 0:
            return fmpq(1)
        base = self.model.numbers[0](self.scene)
        return self.arithmetic.apply("kappa", (fmpq(distance), base, fmpq(position.size or 1)))

    def _weight(self, layer: int, row: int, column: int) -> Number:
        span = self._span(row)
        if column not in span:
            return fmpq(0)
        total = self.entry("total", layer, row, row)
        return self.entry("power", layer, row, column) * self.arithmetic.power(total, -1)

    def _total(self, layer: int, row: int, _: int) -> Number:
        return sum((self.entry("power", layer, row, k) for k in self._span(row)), fmpq(0))

    def _power(self, layer: int, row: int, column: int) -> Number:
        """The exponential whose share of the total is the weight."""
        beta = self.model.beta(self.scene)
        position, exp = self.model.term.position, self.arithmetic.exp
        biased = position is not None and position.kind != "rope"
        factor = exp(bias(self.scene, self.model, row - column)) if biased else fmpq(1)
        if isinstance(beta, fmpq) and beta == 0:
            return factor
        return factor * self.entry("exponential", layer, row, column)

    def _exponential(self, layer: int, row: int, column: int) -> Number:
        """e to the score times beta."""
        return self.arithmetic.exp(self.model.beta(self.scene) * self.entry("score", layer, row, column))


def _ball(x: Number) -> arb:
    return x.ball() if isinstance(x, Element) else arb(x)
