"""Normal forms of numbers built with square roots and exponentials, so that equal ones are seen to be equal.

A number is a sum of products of distinct square roots, with coefficients that are rational functions of generators. Two
numbers with the same normal form are equal, whatever the generators stand for; nothing is concluded from different
ones. So these are at liberty: exponentials of numbers that are not known to be related, and any other function of
anything, are generators of their own. Roots are of primes, of irreducible polynomials that are positive where they are
evaluated, and of what has no better form.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from flint import arb, fmpq, fmpz

from maskproof.proofs.engines.polynomials import CONTEXT, GENERATORS, ONE, Ball, Fraction, RationalFunctions, evaluated
from maskproof.proofs.engines.scene import Open

FACTORED = 160  # bits of an integer that is factored
HIGHEST = 2_000  # power of a generator
RECIPROCAL = 50_000  # of a budget, for one over a root: others can do with a symbol


Number = Any  # fmpq | Element
Roots = frozenset[int]
NO_ROOTS: Roots = frozenset()


class Full(Open):
    """There are no generators left."""


class Finer(Open):
    """The generators stand for exponentials of multiples of 1/N, and N has to be a multiple of ``step``."""

    def __init__(self, step: int) -> None:
        super().__init__(step)
        self.step = step


@dataclass
class Tower(RationalFunctions):
    """The generators and roots in use.

    Attributes:
        denominator: N; a generator stands for the exponential of 1/N of its exponent.
        balls: of the generators.
        exponents: what generators are the exponentials of, where they are.
        roots: the square of each root, and its ball.
        logarithms: what prime a generator is the logarithm of, where it is one.
    """

    denominator: int = 1
    balls: list[Ball] = field(default_factory=list)
    exponents: dict[int, Element] = field(default_factory=dict)
    roots: list[tuple[Number, Ball]] = field(default_factory=list)
    logarithms: dict[int, int] = field(default_factory=dict)
    _reciprocals: dict[int, Number] = field(default_factory=dict)
    _generators: dict[str, int] = field(default_factory=dict)
    _root_ids: dict[str, int] = field(default_factory=dict)

    # --- numbers ----------------------------------------------------------------------------------

    def element(self, parts: Mapping[Roots, Fraction]) -> Number:
        """The sum of products of roots with these coefficients; a fraction where it is one."""
        left = {roots: value for roots, value in parts.items() if not value.top.is_zero()}
        if not left:
            return fmpq(0)
        if len(left) == 1 and NO_ROOTS in left and (constant := left[NO_ROOTS].constant) is not None:
            return constant
        return Element(self, left)

    def lifted(self, x: Number) -> Element:
        """A fraction as an element."""
        return x if isinstance(x, Element) else Element(self, {NO_ROOTS: Fraction(ONE * x, ONE)})

    def generator(self, key: str, ball: Ball, exponent: Element | None = None) -> int:
        """The generator for something, by a key that says what; the exponential of ``exponent`` where that is given.

        Raises:
            Full: there are too many.
        """
        if key not in self._generators:
            if len(self.balls) == GENERATORS:
                raise Full("no generators are left")
            self._generators[key] = len(self.balls)
            if exponent is not None:
                self.exponents[len(self.balls)] = exponent
            self.balls.append(ball)
        return self._generators[key]

    def monomial(self, index: int, exponent: int = 1) -> Number:
        """A power of a generator."""
        if abs(exponent) > HIGHEST:
            raise Open("a power is too high")
        x = CONTEXT.gens()[index] ** abs(exponent)
        return self.element({NO_ROOTS: Fraction(x, ONE) if exponent >= 0 else Fraction(ONE, x)})

    def symbol(self, key: str, ball: Ball) -> Number:
        """A generator as a number."""
        return self.monomial(self.generator(key, ball))

    def _root(self, key: str, square: Number, ball: Ball) -> Number:
        if key not in self._root_ids:
            self._root_ids[key] = len(self.roots)
            self.roots.append((square, lambda: ball().sqrt()))
        return Element(self, {frozenset({self._root_ids[key]}): Fraction(ONE, ONE)})

    def reciprocal(self, root: int) -> Number:
        """1/w for a root w: w/w^2, or a symbol where 1/w^2 is out of reach; the same whenever it is asked for."""
        if root not in self._reciprocals:
            square, ball = self.roots[root]
            try:
                with self.allowance(RECIPROCAL):
                    found = square**-1 * Element(self, {frozenset({root}): Fraction(ONE, ONE)})
            except (Finer, Full):
                raise
            except Open:
                if self.sparing:
                    raise
                found = self.symbol(f"1/root {root}", lambda: 1 / ball())
            self._reciprocals[root] = found
        return self._reciprocals[root]

    def root(self, x: Number) -> Number:
        """The square root of a number that is not negative.

        Raises:
            Open: it may be negative, or is too large to be factored.
        """
        if isinstance(x, Element):
            return self._root_of_element(x)
        if x < 0:
            raise Open("the root of a negative number")
        radicand = fmpz(x.p * x.q)
        if int(radicand).bit_length() > FACTORED and radicand.isqrt() ** 2 != radicand:
            raise Open("a radicand is too large")
        if radicand.isqrt() ** 2 == radicand:
            return fmpq(radicand.isqrt(), x.q)
        outside, found = fmpz(1), fmpq(1)
        for prime, exponent in radicand.factor():
            outside *= prime ** (exponent // 2)
            if exponent % 2:
                found = self._root(str(prime), fmpq(prime), lambda p=prime: arb(p)) * found
        return found * fmpq(outside, x.q)

    def _root_of_element(self, x: Element) -> Number:
        if not x.ball() > 0:
            raise Open("a radicand may be negative")
        if set(x.parts) != {NO_ROOTS}:
            content, rest = x.primitive()
            return self.root(content) * self._root(rest.key, rest, rest.ball)
        (value,) = x.parts.values()
        constant, found = fmpq(1), self.element({NO_ROOTS: self.fraction(ONE, value.bottom)})
        if self.lifted(found).ball() < 0:
            found = found * fmpq(-1)
        elif not self.lifted(found).ball() > 0:
            raise Open("the sign of a denominator is open")
        for polynomial in (value.top, value.bottom):
            unit, factors = polynomial.factor()
            constant *= unit
            for factor, exponent in factors:
                base = self.element({NO_ROOTS: Fraction(factor, ONE)})
                ball = base.ball()
                if not (ball > 0 or ball < 0):
                    raise Open("the sign of a factor is open")
                if ball < 0:
                    base, constant = base * fmpq(-1), constant * (-1) ** exponent
                if exponent % 2:
                    if factor.is_constant() is False and len(factor) == 1 and self._exponential(factor):
                        raise Finer(2)
                    found = found * self._root(base.key, base, base.ball)
                found = found * base ** (exponent // 2)
        return found * self.root(constant)

    def _exponential(self, factor: Any) -> bool:
        """Whether a polynomial of one term is a generator that stands for an exponential."""
        (powers,) = factor.monoms()
        return any(power and index in self.exponents for index, power in enumerate(powers))

    def exp(self, x: Number) -> Number:
        """e^x, as a product of powers of generators.

        Raises:
            Finer: the exponent is no multiple of 1/N.
        """
        found: Number = fmpq(1)
        rest: dict[Roots, Fraction] = {}
        for roots, value in self.lifted(x).parts.items():
            if not roots and self.logarithms:
                value, found = self._powers_of_primes(value)
                if value.top.is_zero():
                    continue
            constant = value.constant
            if constant is None or any(isinstance(self.roots[r][0], Element) for r in roots):
                rest[roots] = value
                continue
            unit = Element(self, {roots: Fraction(ONE, ONE)})
            found = found * self._exponentials(unit, constant)
        if rest:
            content, unit = Element(self, rest).primitive()
            found = found * self._exponentials(unit, content)
        return found

    def _powers_of_primes(self, exponent: Fraction) -> tuple[Fraction, Number]:
        """exp(c log p) is p^c: what else is in an exponent, and the product of these powers, 2c being integers."""
        found: Number = fmpq(1)
        top = exponent.top
        if not exponent.bottom.is_constant():
            return exponent, found
        for powers, c in exponent.top.to_dict().items():
            index = next((index for index, power in enumerate(powers) if power), None)
            if sum(powers) != 1 or index not in self.logarithms or c.q > 2 or abs(c) > FACTORED:
                continue
            base: Number = fmpq(self.logarithms[index])
            found = found * (base if c.q == 1 else self.root(base)) ** int(c.p)
            top -= CONTEXT.gens()[index] * c
        return Fraction(top, exponent.bottom), found

    def _exponentials(self, unit: Element, times: fmpq) -> Number:
        steps = times * self.denominator
        if steps.q != 1:
            raise Finer(int(steps.q))
        if steps == 0:
            return fmpq(1)
        n = self.denominator
        index = self.generator(f"exp {unit.key}", lambda: (unit.ball() / n).exp(), unit)
        return self.monomial(index, int(steps.p))

    def log(self, x: Number) -> Number | None:
        """The logarithm of a positive number that is a product of primes and exponentials, None for others."""
        element = self.lifted(x)
        if set(element.parts) != {NO_ROOTS}:
            return None
        (value,) = element.parts.values()
        if len(value.top) != 1 or len(value.bottom) != 1:
            return None
        found = self._log_of_fraction(value.top.leading_coefficient() / value.bottom.leading_coefficient())
        for sign, polynomial in ((1, value.top), (-1, value.bottom)):
            (powers,) = polynomial.monoms()
            for index, power in enumerate(powers):
                if power and index not in self.exponents:
                    return None
                if power:
                    found = found + self.exponents[index] * fmpq(sign * int(power), self.denominator)
        return found

    def _log_of_fraction(self, x: fmpq) -> Number:
        if x <= 0 or int(x.p * x.q).bit_length() > FACTORED:
            raise Open("no logarithm")
        total: Number = fmpq(0)
        for sign, integer in ((1, x.p), (-1, x.q)):
            for prime, exponent in fmpz(integer).factor():
                index = self.generator(f"log {prime}", lambda p=prime: arb(p).log())
                self.logarithms[index] = int(prime)
                total = total + self.monomial(index) * fmpq(sign * exponent)
        return total


@dataclass(frozen=True, eq=False)
class Element:
    """A number in normal form that is not a fraction."""

    tower: Tower
    parts: Mapping[Roots, Fraction]

    @cached_property
    def key(self) -> str:
        """The same for equal ones."""
        return " + ".join(f"{sorted(r)}: {v.key}" for r, v in sorted(self.parts.items(), key=lambda p: sorted(p[0])))

    def primitive(self) -> tuple[fmpq, Element]:
        """A positive fraction, and the element divided by it: multiples of one another share the latter up to sign."""
        first = min(self.parts, key=sorted)
        content = abs(self.parts[first].top.leading_coefficient())
        return content, self * (1 / content)

    def ball(self) -> arb:
        """A ball around it at the current precision."""
        tower, total = self.tower, arb(0)
        for roots, value in self.parts.items():
            term = evaluated(value.top, tower.balls) / evaluated(value.bottom, tower.balls)
            for root in roots:
                term *= tower.roots[root][1]()
            total += term
        return total

    def __add__(self, other: Number) -> Number:
        parts = dict(self.parts)
        for roots, value in self.tower.lifted(other).parts.items():
            parts[roots] = self.tower.add(parts[roots], value) if roots in parts else value
        return self.tower.element(parts)

    def __mul__(self, other: Number) -> Number:
        tower = self.tower
        if not isinstance(other, Element):
            return tower.element({r: Fraction(v.top * other, v.bottom) for r, v in self.parts.items()})
        total: Number = fmpq(0)
        for a, x in self.parts.items():
            for b, y in other.parts.items():
                product = tower.element({a ^ b: tower.multiply(x, y)})
                for root in a & b:
                    product = product * tower.roots[root][0]
                total = total + product
        return total

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self) -> Number:
        return self * fmpq(-1)

    def __pow__(self, exponent: int) -> Number:
        if exponent < 0:
            return self.inverse() ** -exponent
        found: Number = fmpq(1)
        for bit in f"{exponent:b}":
            found = found * found
            if bit == "1":
                found = found * self
        return found

    def inverse(self) -> Number:
        """1/x, by the conjugates."""
        tower = self.tower
        inside = {root for roots in self.parts for root in roots}
        if not inside:
            (value,) = self.parts.values()
            return tower.element({NO_ROOTS: tower.fraction(value.bottom, value.top)})
        if len(self.parts) == 1:
            ((roots, value),) = self.parts.items()
            product = tower.element({NO_ROOTS: tower.fraction(value.bottom, value.top)})
            for root in sorted(roots):
                product = product * tower.reciprocal(root)
            return product
        last = max(inside)
        even = tower.element({r: v for r, v in self.parts.items() if last not in r})
        odd = tower.element({r - {last}: v for r, v in self.parts.items() if last in r})
        norm = even * even + odd * odd * tower.roots[last][0] * fmpq(-1)
        if isinstance(norm, fmpq) and norm == 0:
            raise Open("the conjugate vanishes")
        conjugate = even + odd * Element(tower, {frozenset({last}): Fraction(ONE, ONE)}) * fmpq(-1)
        return conjugate * norm**-1
