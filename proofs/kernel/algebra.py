"""Exact algebra: terms as rational functions over the rationals, and their normal forms.

A term is read as a rational function in *generators*: variables, quantities, sums and other opaque terms; exponentials
exp(m) of monomials m; square roots w, each with its relation w^2 = radicand. Treating generators as independent loses
nothing in soundness: an identity of rational functions holds wherever its denominators do not vanish.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import comb, isqrt, lcm

from flint import fmpq, fmpq_mpoly, fmpq_mpoly_ctx

from maskproof.proofs.terms import terms as t
from maskproof.proofs.terms.terms import ONE, N, Node, Number, Term

MAX_EXPONENT = 200  # of a generator; what needs more is not decided
MAX_TERMS = 20_000  # of a polynomial that is multiplied out


class Undecided(ArithmeticError):
    """A term is out of proportion, or divides by what is identically zero: nothing is said of it."""


@dataclass(frozen=True)
class Quotient:
    """A rational function in lowest terms; the denominator is monic."""

    top: fmpq_mpoly
    bottom: fmpq_mpoly

    @staticmethod
    def of(top: fmpq_mpoly, bottom: fmpq_mpoly) -> Quotient:
        """``top / bottom`` in lowest terms."""
        if bottom.is_zero():
            raise Undecided("a division by zero")
        if not bottom.is_constant():
            common = top.gcd(bottom)
            top, bottom = top / common, bottom / common
        lead = bottom.leading_coefficient()
        return Quotient(top / lead, bottom / lead).in_proportion()

    def in_proportion(self) -> Quotient:
        """Itself, unless it is too large to go on with."""
        if max(*self.top.degrees(), *self.bottom.degrees()) > MAX_EXPONENT:
            raise Undecided(f"a power above {MAX_EXPONENT}")
        return self

    def __add__(self, other: Quotient) -> Quotient:
        if self.bottom == other.bottom:
            return Quotient.of(self.top + other.top, self.bottom)
        return Quotient.of(self.top * other.bottom + other.top * self.bottom, self.bottom * other.bottom)

    def __mul__(self, other: Quotient) -> Quotient:
        return Quotient.of(self.top * other.top, self.bottom * other.bottom)

    def __neg__(self) -> Quotient:
        return Quotient(-self.top, self.bottom)

    def __pow__(self, exponent: int) -> Quotient:
        size = abs(exponent)
        terms = max(len(self.top), len(self.bottom))
        if size > MAX_EXPONENT or comb(size + terms - 1, size) > MAX_TERMS:
            raise Undecided(f"the power {exponent} of {terms} terms")
        top, bottom = self.top**size, self.bottom**size
        return Quotient(top, bottom).in_proportion() if exponent >= 0 else Quotient.of(bottom, top)

    @property
    def key(self) -> tuple[object, ...]:
        """What tells it from others of the same field."""
        return tuple(tuple(p.terms()) for p in (self.top, self.bottom))


def rational(coefficient: fmpq) -> Number:
    """A coefficient of a polynomial as a term."""
    return Number(Fraction(int(coefficient.p), int(coefficient.q)))


class Field:
    """The rational functions in the generators of some terms; it grows as terms are included."""

    def __init__(self, terms: Iterable[Term] = ()) -> None:
        self._plain: dict[Term, None] = {}
        self._exponents: dict[Term, int] = {}  # monomial m -> q: the generator is exp(m / q)
        self._radicands: dict[Term, None] = {}
        self.include(*terms)

    def include(self, *terms: Term) -> None:
        """Make the generators of ``terms`` part of the field. What was converted before does not stay valid."""
        before = len(self._plain), dict(self._exponents), len(self._radicands)
        for term in terms:
            self._scan(term)
        if before != (len(self._plain), self._exponents, len(self._radicands)) or not hasattr(self, "meaning"):
            self._build()

    def _scan(self, e: Term) -> None:
        match e:
            case t.Number():
                return
            case t.Add() | t.Mul() | t.Power():
                for part in e.parts:
                    self._scan(part)  # type: ignore[arg-type]
            case t.Exp(exponent=exponent):
                for coefficient, monomial in _monomials(exponent):
                    old = self._exponents.get(monomial, 1)
                    self._exponents[monomial] = lcm(old, coefficient.denominator)
            case t.Root(radicand=radicand):
                outside, roots = _split_root(canonical(radicand))
                for part in (outside, *roots):
                    self._scan(part)
                self._radicands |= dict.fromkeys(roots)
            case _:
                self._plain.setdefault(canonical(e))

    def _build(self) -> None:
        exps = [t.Exp(m if q == 1 else t.times(Number(Fraction(1, q)), m)) for m, q in self._exponents.items()]
        roots = [t.Root(radicand) for radicand in self._radicands]
        self.meaning: list[Term] = [*self._plain, *exps, *roots]
        self.ring = fmpq_mpoly_ctx.get([f"x{n}" for n in range(max(1, len(self.meaning)))], "lex")
        gens = self.ring.gens()
        self.one = self.ring.constant(1)
        self._place = {meaning: place for place, meaning in enumerate(self.meaning)}
        self._exp = {m: gens[len(self._plain) + n] for n, m in enumerate(self._exponents)}
        self._memo: dict[Term, Quotient] = {}
        self.square: dict[int, Quotient] = {}  # place of a root -> its square
        for n, radicand in enumerate(self._radicands):
            self.square[len(self._plain) + len(exps) + n] = self.convert(radicand)

    def convert(self, e: Term) -> Quotient:
        """``e``, whose generators are included, as a rational function.

        Raises:
            Undecided: a denominator is identically zero, or a power is out of proportion.
        """
        known = self._memo.get(e)
        if known is None:
            known = self._memo[e] = self._converted(e)
        return known

    def _converted(self, e: Term) -> Quotient:
        match e:
            case t.Number(value=value):
                return self.constant(value)
            case t.Add(terms=terms):
                return sum((self.convert(term) for term in terms), self.constant(0))
            case t.Mul(factors=factors):
                product = self.constant(1)
                for factor in factors:
                    product = product * self.convert(factor)
                return product
            case t.Power(base=base, exponent=exponent):
                return self.convert(base) ** exponent
            case t.Exp(exponent=exponent):
                product = self.constant(1)
                for coefficient, monomial in _monomials(exponent):
                    power = coefficient * self._exponents[monomial]
                    product = product * Quotient(self._exp[monomial], self.one) ** int(power)
                return product
            case t.Root(radicand=radicand):
                outside, roots = _split_root(canonical(radicand))
                product = self.convert(outside)
                for root in roots:
                    product = product * self.generator(self._place[t.Root(root)])
                return product
        return self.generator(self._place[canonical(e)])

    def constant(self, value: Fraction | int) -> Quotient:
        """A number as an element of the field."""
        value = Fraction(value)
        return Quotient(self.ring.constant(fmpq(value.numerator, value.denominator)), self.one)

    def generator(self, place: int) -> Quotient:
        """The generator at ``place`` as an element of the field."""
        return Quotient(self.ring.gens()[place], self.one)

    def vanishes(self, value: Quotient) -> bool:
        """Whether ``value`` is zero by the relations between the generators."""
        return self._vanishes(value.top, sorted(self.square, reverse=True))

    def _vanishes(self, p: fmpq_mpoly, roots: Sequence[int]) -> bool:
        if p.is_zero():
            return True
        if not roots:
            return False
        root, rest = roots[0], roots[1:]
        parts = [self.constant(0), self.constant(0)]
        for powers, coefficient in p.terms():
            half, odd = divmod(powers[root], 2)
            without = self.ring.from_dict({(*powers[:root], 0, *powers[root + 1 :]): coefficient})
            parts[odd] += Quotient(without, self.one) * self.square[root] ** half
        # a + b w = 0 follows from a = 0 and b = 0
        return all(self._vanishes(part.top, rest) for part in parts)

    def term(self, value: Quotient) -> Term:
        """An element of the field as a term, written out."""
        top = self.polynomial(value.top)
        return top if value.bottom.is_one() else t.over(top, self.polynomial(value.bottom))

    def polynomial(self, p: fmpq_mpoly) -> Term:
        """A polynomial in the generators as a term, a sum of monomials."""
        written = []
        for powers, coefficient in p.terms():
            number = rational(coefficient)
            factors = [
                meaning if power == 1 else t.Power(meaning, int(power))
                for meaning, power in zip(self.meaning, powers, strict=False)
                if power
            ]
            written.append(t.times(*([number, *factors] if number != ONE or not factors else factors)))
        return t.plus(*written) if written else t.ZERO


def _split_root(radicand: Term) -> tuple[Term, list[Term]]:
    """(f, [a, b, ...]) with sqrt(radicand) = f sqrt(a) sqrt(b) ...: numbers and variables that are >= 0 stand apart.

    Where both sides have a value they are equal; each factor of f and each radicand but the last is not negative.
    """
    outside: list[Term] = []
    roots: list[Term] = []
    rest: list[Term] = []
    for factor in radicand.factors if isinstance(radicand, t.Mul) else (radicand,):
        base, power = (factor.base, factor.exponent) if isinstance(factor, t.Power) else (factor, 1)
        if isinstance(factor, Number) and factor.value >= 0:
            whole, inside = _split_number(factor.value)
            outside.append(Number(whole))
            roots += [Number(inside)] if inside != 1 else []
        elif isinstance(base, t.Variable) and base.sort.least is not None:
            outside += [t.Power(base, power // 2)] if power // 2 else []
            roots += [base] if power % 2 else []
        else:
            rest.append(factor)
    return t.times(*outside), [*roots, *([t.times(*rest)] if rest else [])]


def _split_number(value: Fraction) -> tuple[Fraction, Fraction]:
    """(f, s) with sqrt(value) = f sqrt(s), s without small square factors."""
    inside, factor = value.numerator * value.denominator, Fraction(1, value.denominator)
    exact = isqrt(inside)
    if exact * exact == inside:
        return factor * exact, Fraction(1)
    for prime in (2, 3, 5, 7, 11, 13):
        while inside % prime**2 == 0:
            inside, factor = inside // prime**2, factor * prime
    return factor, Fraction(inside)


def _monomials(exponent: Term) -> list[tuple[Fraction, Term]]:
    """An exponent as a sum of rational coefficients times monomials."""
    written = canonical(exponent)
    parts = [_coefficient(part) for part in (written.terms if isinstance(written, t.Add) else (written,))]
    return [(c, m) for c, m in parts if c != 0]


def _coefficient(monomial: Term) -> tuple[Fraction, Term]:
    if isinstance(monomial, Number):
        return monomial.value, ONE
    if isinstance(monomial, t.Mul) and isinstance(monomial.factors[0], Number):
        return monomial.factors[0].value, t.times(*monomial.factors[1:])
    return Fraction(1), monomial


def canonical(node: N) -> N:
    """A normal form: terms with the same one have the same value wherever both have one; likewise statements.

    Where a term has a value, its normal form need not: sqrt(-x) for x >= 0 becomes sqrt(-1) sqrt(x).

    >>> x = t.Variable("x", t.Sort.REAL)
    >>> canonical(t.Mul((t.plus(x, ONE), t.plus(x, t.number(-1))))) == canonical(t.plus(t.Power(x, 2), t.number(-1)))
    True
    """
    return _canonical(node)  # type: ignore[return-value]


@lru_cache(maxsize=200_000)
def _canonical(node: Node) -> Node:
    match node:
        case t.Number() | t.Variable() | t.Converges():  # f may converge where another way to write f has no value
            return node
        case t.Add() | t.Mul() | t.Power() | t.Exp() | t.Root():
            try:
                return _written(node)
            except Undecided:
                return node
        case t.And(statements=statements):
            return t.And(tuple(sorted({canonical(s) for s in statements}, key=repr)))
    return node.rebuilt(_canonical)


def _written(term: Term) -> Term:
    field = Field([term])
    order = sorted(field.meaning, key=repr)
    if order != field.meaning and len(order) > 1:  # the order of generators must not depend on how it was written
        field._plain = dict.fromkeys(sorted(field._plain, key=repr))
        field._exponents = dict(sorted(field._exponents.items(), key=lambda item: repr(item[0])))
        field._radicands = dict.fromkeys(sorted(field._radicands, key=repr))
        field._build()
    return field.term(field.convert(term))


def identical(left: Term, right: Term) -> bool:
    """Whether both sides are the same function wherever both have a value."""
    if left == right:
        return True
    try:
        field = Field([left, right])
        return field.vanishes(field.convert(left) + -field.convert(right))
    except Undecided:
        return False


def alike(a: t.Statement, b: t.Statement) -> bool:
    """Whether two statements say the same wherever both have a value."""
    if canonical(a) == canonical(b):
        return True
    if isinstance(a, t.Relation) and isinstance(b, t.Relation):
        return a.kind == b.kind and identical(a.left, b.left) and identical(a.right, b.right)
    if isinstance(a, t.Converges) or type(a) is not type(b) or len(a.parts) != len(b.parts):
        return False
    return bool(a.parts) and all(map(_alike, a.parts, b.parts))


def _alike(a: Node, b: Node) -> bool:
    if isinstance(a, t.Statement) and isinstance(b, t.Statement):
        return alike(a, b)
    return canonical(a) == canonical(b)
