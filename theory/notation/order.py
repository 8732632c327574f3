"""The order in which a mathematician writes terms and factors.

SymPy sorts sums and products for its own purposes. Here parameters come before indices (r + i - 1),
constants last unless the rest is Greek (1 - alpha), powers of an index descend (i^2 - i), fractions
end a sum, brackets end a product, and a sum opens with a positive term if it has one.
"""

from __future__ import annotations

from typing import Any

import sympy
from sympy import Add, Expr, Mul, Pow, Rational, Symbol

from maskproof.theory.symbols import alpha, beta, lam

_GREEK = frozenset({alpha, beta, lam})
_PLACES = 20  # the most digits after a point
_INDEX_NAMES = frozenset("aijklmnd")


def is_index(symbol: Symbol) -> bool:
    """Whether ``symbol`` counts something: a position, a number of tokens, a width."""
    return symbol.name in _INDEX_NAMES


def is_greek(symbol: Symbol) -> bool:
    """Whether ``symbol`` is one of the model's parameters alpha, beta, lam."""
    return symbol in _GREEK


def split_fraction(expr: Expr) -> tuple[int, list[Expr], list[Expr]]:
    """Sign, factors of the numerator and factors of the denominator, each in reading order.

    >>> from maskproof.theory.symbols import i, alpha
    >>> split_fraction((1 - alpha) / (2 * i))
    (1, [1 - alpha], [2, i])
    """
    sign, numerator, denominator = 1, [], []
    if isinstance(expr, Add):
        return sign, [expr], denominator
    number: Any = sympy.S.One
    for factor in _merge_exponentials(list(Mul.make_args(expr))):
        if factor.is_Rational:
            number *= factor
        elif (content := _content(factor)) is not None:
            number *= content[0]
            numerator.append(content[1])
        elif isinstance(factor, Pow) and factor.exp.could_extract_minus_sign():
            below = Pow(factor.base, -factor.exp)
            content = _content(below) or (sympy.S.One, below)
            number /= content[0]
            denominator.append(content[1])
        else:
            numerator.append(factor)
    if number < 0:
        sign, number = -1, -number
    if is_decimal(number):
        numerator.append(number)
    else:
        numerator += [] if number.p == 1 else [sympy.Integer(number.p)]
        denominator += [] if number.q == 1 else [sympy.Integer(number.q)]
    return sign, sorted(numerator, key=_factor_key), sorted(denominator, key=_factor_key)


def _content(factor: Expr) -> tuple[Any, Expr] | None:
    """The common numerical factor of a sum that stands in a product, and the rest: 2 (1 - x) for 2 - 2 x.

    A denominator is common only if every term has it.
    """
    if not isinstance(factor, Add):
        return None
    number, rest = factor.primitive()
    if any(term.as_coeff_Mul()[0].q != number.q for term in factor.args):
        number, rest = number * number.q, rest / number.q
    return None if number == 1 else (number, rest)


def _merge_exponentials(factors: list[Expr]) -> list[Expr]:
    """e^a e^b as e^(a+b)."""
    exponentials = [f for f in factors if isinstance(f, sympy.exp) or f is sympy.E]
    if len(exponentials) < 2:
        return factors
    exponent = Add(*(f.args[0] if isinstance(f, sympy.exp) else sympy.S.One for f in exponentials))
    return [sympy.exp(exponent), *(f for f in factors if f not in exponentials)]


def is_decimal(value: Expr) -> bool:
    """Whether a number reads better as a decimal, as printed values such as 0.154 and 0.104 do, and 1/2, 1/5, 5/8 not.

    >>> [is_decimal(Rational(text)) for text in ("0.154", "0.104", "0.2", "5/8", "1/1024")]
    [True, True, False, False, False]
    """
    if not isinstance(value, Rational):
        return False
    twos, fives = sympy.multiplicity(2, value.q), sympy.multiplicity(5, value.q)
    return value.q == 2**twos * 5**fives and (fives >= 2 or fives == 1 <= twos) and max(twos, fives) <= _PLACES


def decimal(value: Expr) -> str:
    """The decimal expansion of a number that ``is_decimal``.

    >>> decimal(Rational(77, 500))
    '0.154'
    """
    places = next(p for p in range(1, _PLACES + 1) if (value * 10**p).is_Integer)
    digits = str(abs(value) * 10**places).zfill(places + 1)
    return f"{'-' if value.is_negative else ''}{digits[:-places]}.{digits[-places:]}"


def ordered_terms(expr: Add) -> list[Expr]:
    """The terms of a sum in reading order."""
    terms = list(Add.make_args(expr))
    symbols = expr.free_symbols
    only_greek = bool(symbols) and all(is_greek(s) for s in symbols if isinstance(s, Symbol))
    bracketed = len(terms) == 2 and all(term.is_number or _has_bracket(term) for term in terms)
    steep = max((_degree(term, is_index) for term in terms), default=0) >= 2
    terms.sort(key=lambda term: _term_key(term, only_greek or bracketed, steep))
    if terms[0].could_extract_minus_sign():
        for place, term in enumerate(terms):
            if not term.could_extract_minus_sign():
                terms.insert(0, terms.pop(place))
                break
    return terms


def _factor_key(factor: Expr) -> tuple:
    """Numbers, parameters, indices, exponentials, roots, quantities, then brackets by length."""
    base = factor.base if isinstance(factor, Pow) else factor
    length = 0
    if base.is_number:
        rank = 0 if base.is_Rational else 1
    elif isinstance(base, Symbol):
        rank = 2 if is_greek(base) else 4 if is_index(base) else 3
    elif isinstance(base, sympy.exp):
        rank, length = 7, 3  # after short brackets: (i - 1) e^x
    elif factor is not base and not factor.exp.is_Integer:
        rank = 5
    elif isinstance(base, Add):
        rank, length = 7, base.count_ops()
    elif isinstance(base, (sympy.Sum, sympy.Integral, sympy.Limit)):
        rank = 8
    else:
        rank = 6
    indexed = any(isinstance(s, Symbol) and is_index(s) for s in base.free_symbols)
    return rank, length, indexed, str(base), factor.sort_key()


def _has_bracket(term: Expr) -> bool:
    return bool(term.is_Mul) and any(factor.is_Add for factor in term.args)


def _degree(term: Expr, wanted: Any) -> int:
    total = 0
    for factor in Mul.make_args(term):
        base, exponent = factor.as_base_exp()
        if not exponent.is_Integer:
            continue
        if isinstance(base, Symbol) and wanted(base):
            total += int(exponent)
        elif isinstance(base, Add):
            total += int(exponent) * max(_degree(part, wanted) for part in base.args)
    return total


def _term_key(term: Expr, first_constant: bool, steep: bool) -> tuple:
    fraction = any(
        isinstance(part, Pow) and part.exp.could_extract_minus_sign() and not part.is_number
        for part in sympy.preorder_traversal(term)
    )
    constant = bool(term.is_Rational)
    indices = _degree(term, is_index)
    others = _degree(term, lambda symbol: not is_index(symbol))
    if first_constant:
        return (fraction, not constant, others, term.sort_key())
    return (fraction, constant, -indices if steep else max(indices, 0), -others, term.sort_key())
