"""Exact algebra that the kernel rests on: canonical forms and signs of expressions.

An expression is read as a rational function over the rationals in *generators*: symbols,
quantities, sums and other opaque terms; exponentials exp(m) of monomials m; square roots w, each
with its relation w^2 = radicand. Treating generators as independent loses nothing in soundness: an
identity of rational functions holds wherever its denominators do not vanish, and a polynomial whose
coefficients are non-negative is non-negative for non-negative values, whatever else ties them.
SymPy is trusted for polynomial arithmetic over the rationals, and for nothing else: no ``simplify``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import reduce
from math import lcm

import sympy
from flint import arb, fmpq
from sympy import QQ, Add, Basic, Expr, Float, Mul, Pow, Product, Rational, Sum, exp
from sympy.core.relational import Eq, Ge, Gt, Le, Lt, Ne, Relational
from sympy.polys.fields import FracElement
from sympy.polys.fields import field as rational_functions
from sympy.polys.rings import PolyElement

MAX_EXPONENT = 200  # of a generator; what needs more is not decided


class TooLarge(ArithmeticError):
    """An expression would need polynomials of a degree that is not worth the time."""


def denominators(expression: Basic) -> Iterator[Expr]:
    """The bases of all negative powers: what must not vanish for ``expression`` to have a value."""
    if isinstance(expression, Pow) and expression.exp.could_extract_minus_sign():
        yield expression.base
    if isinstance(expression, (Add, Mul, Pow, exp)):
        for part in expression.args:
            yield from denominators(part)


def radicands(expression: Basic) -> Iterator[Expr]:
    """What stands under a square root in ``expression``."""
    if isinstance(expression, Pow) and _is_half_integer(expression.exp):
        yield expression.base
    if isinstance(expression, (Add, Mul, Pow, exp)):
        for part in expression.args:
            yield from radicands(part)


def terms(expression: Basic) -> Iterator[Expr]:
    """The parts of ``expression`` that are neither arithmetic, nor roots, nor exponentials."""
    if isinstance(expression, (Add, Mul, exp)):
        for part in expression.args:
            yield from terms(part)
    elif isinstance(expression, Pow) and (expression.exp.is_Integer or _is_half_integer(expression.exp)):
        yield from terms(expression.base)
    elif not isinstance(expression, Rational):
        yield expression


def _is_half_integer(exponent: Expr) -> bool:
    return isinstance(exponent, Rational) and exponent.q == 2


class Generators:
    """A common field of rational functions for some expressions."""

    def __init__(self, expressions: Iterable[Expr]) -> None:
        terms: dict[Expr, None] = {}
        exponents: dict[Expr, list[Rational]] = {}
        roots: dict[Expr, None] = {}
        for expression in expressions:
            self._scan(expression, terms, exponents, roots)
        # exp(c m) for several rational c: one generator exp(m / q), q the common denominator
        self._unit = {m: Rational(1, lcm(*(int(c.q) for c in cs))) for m, cs in exponents.items()}
        self.meaning: list[Expr] = [*terms, *(exp(m * q) for m, q in self._unit.items())]
        self.root_of: dict[int, Expr] = {}
        for radicand in roots:
            self.root_of[len(self.meaning)] = radicand
            self.meaning.append(sympy.sqrt(radicand, evaluate=False))
        names = [f"x{index}" for index in range(len(self.meaning))] or ["x0"]
        self.field, *gens = rational_functions(names, QQ)
        self.ring = self.field.ring
        self.gens: list[FracElement] = gens
        self._term = dict(zip(terms, gens, strict=False))
        self._exp = dict(zip(self._unit, gens[len(terms) :], strict=False))
        self._square: dict[int, FracElement] = {}  # generator index of a root -> its square
        self._root: dict[FracElement, FracElement] = {}
        for index, radicand in self.root_of.items():
            square = self.convert(radicand)
            self._square[index] = square
            self._root.setdefault(square, gens[index])  # equal radicands share one root

    def _scan(self, e: Expr, terms: dict, exponents: dict, roots: dict) -> None:
        if isinstance(e, Rational):
            return
        if isinstance(e, exp) or e is sympy.E:
            for coefficient, monomial in _exponent(e):
                exponents.setdefault(monomial, []).append(coefficient)
        elif isinstance(e, (Add, Mul)):
            for part in e.args:
                self._scan(part, terms, exponents, roots)
        elif isinstance(e, Pow) and e.exp.is_Integer:
            self._scan(e.base, terms, exponents, roots)
        elif isinstance(e, Pow) and _is_half_integer(e.exp):
            self._scan(e.base, terms, exponents, roots)
            roots.setdefault(e.base)
        else:
            terms.setdefault(e)

    def convert(self, e: Expr) -> FracElement:
        """``e`` as a rational function in the generators.

        Raises:
            ZeroDivisionError: a denominator is identically zero.
            TooLarge: a power is out of proportion.
        """
        if isinstance(e, Rational):
            return self.field(QQ(int(e.p), int(e.q)))
        if isinstance(e, exp) or e is sympy.E:
            powers = (self._exp[m] ** _bounded(c / self._unit[m]) for c, m in _exponent(e))
            return reduce(lambda a, b: a * b, powers, self.field.one)
        if isinstance(e, Add):
            return reduce(lambda a, b: a + b, map(self.convert, e.args))
        if isinstance(e, Mul):
            return reduce(lambda a, b: a * b, map(self.convert, e.args))
        if isinstance(e, Pow) and e.exp.is_Integer:
            return self.convert(e.base) ** _bounded(e.exp)
        if isinstance(e, Pow) and _is_half_integer(e.exp):
            return self._root[self.convert(e.base)] ** _bounded(e.exp * 2)
        return self._term[e]

    def vanishes(self, value: FracElement) -> bool:
        """Whether ``value`` is zero by the relations between the generators."""
        return self._vanishes(value.numer, sorted(self._square, reverse=True))

    def _vanishes(self, numerator: PolyElement, roots: Sequence[int]) -> bool:
        if not numerator:
            return True
        if not roots:
            return False
        root, rest = roots[0], roots[1:]
        even, odd = self.field.zero, self.field.zero
        for powers, coefficient in numerator.terms():
            degree = powers[root]
            without = self.ring({(*powers[:root], 0, *powers[root + 1 :]): coefficient})
            part = self.field(without) * self._square[root] ** (degree // 2)
            if degree % 2:
                odd += part
            else:
                even += part
        # a + b w = 0 follows from a = 0 and b = 0
        return self._vanishes(even.numer, rest) and self._vanishes(odd.numer, rest)


def _bounded(exponent: Rational) -> int:
    if abs(exponent) > MAX_EXPONENT:
        raise TooLarge(f"an exponent of {exponent}")
    return int(exponent)


def _exponent(e: Expr) -> list[tuple[Rational, Expr]]:
    """The argument of an exponential as a sum of rational coefficients times monomials."""
    argument = sympy.Integer(1) if e is sympy.E else sympy.expand(e.args[0])
    parts = [term.as_coeff_Mul(rational=True) for term in Add.make_args(argument)]
    return [(c, m) for c, m in parts if c != 0]


def identical(left: Expr, right: Expr) -> bool:
    """Whether both sides are the same function wherever their denominators do not vanish."""
    if left == right:
        return True
    try:
        generators = Generators([left, right])
        return generators.vanishes(generators.convert(left) - generators.convert(right))
    except ArithmeticError:
        return False


@dataclass(frozen=True)
class Facts:
    """Known signs: ``positive`` and ``nonnegative`` expressions, and those known not to vanish."""

    positive: tuple[Expr, ...] = ()
    nonnegative: tuple[Expr, ...] = ()
    nonzero: tuple[Expr, ...] = ()

    @staticmethod
    def of(relations: Iterable[Basic]) -> Facts:
        """Read inequalities; whatever else is given is ignored."""
        positive: list[Expr] = []
        nonnegative: list[Expr] = []
        nonzero: list[Expr] = []
        for relation in relations:
            if not isinstance(relation, Relational):
                continue
            excess = relation.lhs - relation.rhs
            if isinstance(relation, (Lt, Le)):
                excess = -excess
            if isinstance(relation, (Lt, Gt)):
                # integers that differ differ by at least one
                (nonnegative if excess.is_integer else positive).append(excess - 1 if excess.is_integer else excess)
            elif isinstance(relation, (Le, Ge)):
                nonnegative.append(excess)
            elif isinstance(relation, Eq):
                nonnegative += [excess, -excess]
            elif isinstance(relation, Ne):
                nonzero.append(excess)
        return Facts(tuple(positive), tuple(nonnegative), tuple(nonzero))

    def is_positive(self, e: Expr, strict: bool = True) -> bool:
        """Whether ``e`` > 0 (or >= 0, if not ``strict``) follows; False says nothing.

        It follows if e is a known fact, if the shift argument shows it, or part by part from the
        way e is written (a sum of non-negative terms, a product of positive factors, a square).
        """
        e = sympy.sympify(e)
        return self._is_known(e, strict) or _Shift(e, self).shows(strict) or self._by_parts(e, strict)

    def _is_known(self, e: Expr, strict: bool) -> bool:
        known = self.positive if strict else (*self.positive, *self.nonnegative)
        return any(identical(e, fact) for fact in known if fact.free_symbols == e.free_symbols)

    def _by_parts(self, e: Expr, strict: bool) -> bool:
        if isinstance(e, Add):
            return all(self.is_positive(part, False) for part in e.args) and (
                not strict or any(self.is_positive(part) for part in e.args)
            )
        if isinstance(e, Mul):
            return all(self.is_positive(factor, strict) for factor in e.args)
        if isinstance(e, Pow) and e.exp.is_Integer and e.exp % 2 == 0:
            return self.is_nonzero(e.base) if strict or e.exp.is_negative else True
        if isinstance(e, Pow) and e.exp.is_Rational:
            return self.is_positive(e.base, strict or bool(e.exp.is_negative))
        return False

    def is_nonzero(self, e: Expr) -> bool:
        """Whether ``e`` != 0 follows; False says nothing."""
        if isinstance(e, Mul):
            return all(map(self.is_nonzero, e.args))
        if isinstance(e, Pow) and e.exp.is_Rational and not e.exp.is_zero:
            return self.is_nonzero(e.base)
        return (
            self.is_positive(e)
            or self.is_positive(-e)
            or any(identical(e, fact) or identical(-e, fact) for fact in self.nonzero)
        )

    def without_roots(self) -> Facts:
        """The facts in which no square root occurs."""
        lists = (self.positive, self.nonnegative, self.nonzero)
        return Facts(*(tuple(e for e in facts if not any(radicands(e))) for facts in lists))

    def undefined(self, *expressions: Expr) -> Expr | None:
        """A part that may have no real value, or None if there is none.

        Such are denominators not known to be nonzero, radicands not known to be >= 0, and terms that
        are not known to be real.
        """
        for expression in expressions:
            for term in terms(expression):
                if isinstance(term, (Sum, Product)):
                    culprit = self.undefined(term.function)
                    if culprit is not None:
                        return culprit
                elif term.is_real is not True or term.has(Float):
                    return term
            for base in denominators(expression):
                if not self.is_nonzero(base):
                    return base
            for base in radicands(expression):
                if not self.is_positive(base, strict=False):
                    return base
        return None


Bound = tuple[PolyElement, int, bool]  # (b, +1, strict): x >= b, or x > b; (b, -1, strict): x <= b


@dataclass
class _Shift:
    """Sign of an expression by non-negative coefficients after a shift.

    Each generator x with a known bound x >= b or x <= b is written b + t or b - t with t >= 0. If
    then all coefficients of numerator and denominator are non-negative, so is the expression. The
    search over bounds may fail to find a proof; it cannot find a wrong one. (Every generator that
    occurs must be bounded, by itself or by others that are: so all of them are real.)
    """

    expression: Expr
    facts: Facts
    strict_goal: bool = field(default=True, init=False)
    generators: Generators = field(init=False)
    given: dict[int, list[Bound]] = field(init=False)
    bounds: dict[int, list[Bound]] = field(init=False)
    _tries: int = field(default=400, init=False)

    def shows(self, strict: bool) -> bool:
        facts = [(f, True) for f in self.facts.positive] + [(f, False) for f in self.facts.nonnegative]
        try:
            generators = Generators([self.expression, *(fact for fact, _ in facts)])
            value = generators.convert(self.expression)
        except ArithmeticError:
            return False
        self.strict_goal = strict
        self.generators = generators
        self.given = self._given_bounds(facts)
        self.bounds = {}
        return self._search(value.numer, value.denom, {})

    def _given_bounds(self, facts: list[tuple[Expr, bool]]) -> dict[int, list[Bound]]:
        """Bounds of generators that facts state: those linear in a generator."""
        ring = self.generators.ring
        bounds: dict[int, list[Bound]] = {}
        for fact, strict in facts:
            try:
                value = self.generators.convert(fact)
            except ArithmeticError:
                continue
            if not value.denom.is_ground:
                continue
            numerator = value.numer.quo_ground(value.denom.LC)
            for index, x in enumerate(ring.gens):
                if numerator.degree(x) != 1:
                    continue
                slope = numerator.coeff(x)
                rest = numerator.subs(x, 0)
                if numerator != slope * x + rest:
                    continue  # x also occurs in products with other generators
                bound = (rest.mul_ground(-1 / slope), 1 if slope > 0 else -1, strict)
                bounds.setdefault(index, []).append(bound)
        return bounds

    def _bounds(self, index: int) -> list[Bound]:
        """All bounds of a generator."""
        if index not in self.bounds:
            ring, meaning = self.generators.ring, self.generators.meaning[index]
            own = [(ring(b), side, strict) for b, side, strict in self._own_bounds(index, meaning)]
            self.bounds[index] = [*self.given.get(index, []), *own]
        return self.bounds[index]

    def _own_bounds(self, index: int, meaning: Expr) -> Iterator[tuple[object, int, bool]]:
        """Bounds that a generator has by itself."""
        if index in self.generators.root_of:
            radicand, facts = self.generators.root_of[index], self.facts.without_roots()
            for strict in (True, False):
                if facts.is_positive(radicand, strict):
                    yield 0, 1, strict
        elif isinstance(meaning, exp) or meaning is sympy.E:
            if meaning is sympy.E or isinstance(meaning.args[0], Rational):
                low, high = _rational_bounds(meaning)
                yield low, 1, True
                yield high, -1, True
            yield 0, 1, True
        elif meaning.is_positive and meaning.is_integer:
            yield 1, 1, False
        elif meaning.is_positive:
            yield 0, 1, True
        elif meaning.is_nonnegative:
            yield 0, 1, False

    def _search(self, numer: PolyElement, denom: PolyElement, strict: dict[int, bool]) -> bool:
        """Shift the remaining generators, one bound at a time."""
        self._tries -= 1
        if self._tries < 0:
            return False
        present = {i for p in (numer, denom) for powers in p for i, power in enumerate(powers) if power}
        open_generators = sorted(present - set(strict), key=self._urgency, reverse=True)
        if not open_generators:
            return self._is_manifest(numer, denom, strict)
        index = open_generators[0]
        x = self.generators.ring.gens[index]
        for bound, side, is_strict in self._bounds(index):
            if any(powers[done] for powers in bound for done in strict):
                continue  # would bring back a generator that has been shifted already
            shifted = bound + x if side > 0 else bound - x
            if self._search(numer.compose(x, shifted), denom.compose(x, shifted), {**strict, index: is_strict}):
                return True
        return False

    def _urgency(self, index: int) -> tuple[int, int]:
        """Generators bounded by others go before those; ties by position."""
        return sum(1 for bound, _, _ in self._bounds(index) if not bound.is_ground), -index

    def _is_manifest(self, numer: PolyElement, denom: PolyElement, strict: dict[int, bool]) -> bool:
        if all(c <= 0 for c in denom.coeffs()):
            numer, denom = -numer, -denom
        return _is_manifest(denom, strict, True) and _is_manifest(numer, strict, self.strict_goal)


def _is_manifest(p: PolyElement, strict: dict[int, bool], strictly: bool) -> bool:
    """All coefficients >= 0 and, if ``strictly``, one term whose variables are all > 0."""
    if any(c < 0 for c in p.coeffs()):
        return False
    return not strictly or any(all(strict[i] for i, power in enumerate(powers) if power) for powers in p.monoms() if p)


def _rational_bounds(constant: Expr) -> tuple[Rational, Rational]:
    """An enclosure of exp(rational) between rationals."""
    exponent = Rational(1) if constant is sympy.E else Rational(constant.args[0])
    ball = arb(fmpq(int(exponent.p), int(exponent.q))).exp()
    return _dyadic(ball.lower()), _dyadic(ball.upper())


def _dyadic(x: arb) -> Rational:
    mantissa, exponent = x.man_exp()
    return Rational(int(mantissa)) * Rational(2) ** int(exponent)
