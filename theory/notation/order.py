"""The order in which a mathematician writes terms and factors.

SymPy sorts sums and products for its own purposes. Here parameters come before indices (r + i - 1),
constants last unless the rest is Greek (1 - alpha), powers of an index descend (i^2 - i), fractions
end a sum, brackets end a product, and a sum opens with a positive term if it has one.
"""

from __future__ import annotations

from typing import Any

import sympy
from sympy import Add, Expr, Mul, Pow, Rational, Symbol

from theory.symbols import alpha, beta, lam

_GREEK = frozenset({alpha, beta, lam})
_INDEX_NAMES = frozenset("ijklmnd")


def is_index(symbol: Symbol) -> bool:
    """Whether ``symbol`` counts something: a position, a number of tokens, a width."""
    return symbol.name[:1] in _INDEX_NAMES and symbol not in _GREEK


def is_greek(symbol: Symbol) -> bool:
    """Whether ``symbol`` is one of the model's parameters alpha, beta, lam."""
    return symbol in _GREEK


def split_fraction(expr: Expr) -> tuple[int, list[Expr], list[Expr]]:
    """Sign, factors of the numerator and factors of the denominator, each in reading order.

    >>> from theory.symbols import i, alpha
    >>> split_fraction((1 - alpha) / (2 * i))
    (1, [1 - alpha], [2, i])
    """
    sign, numerator, denominator = 1, [], []
    if isinstance(expr, Add):
        return sign, [expr], denominator
    for factor in _merge_exponentials(list(Mul.make_args(expr))):
        if factor.is_Rational:
            value: Any = factor
            if value < 0:
                sign, value = -sign, -value
            if is_decimal(value):
                numerator.append(value)
                continue
            if value.p != 1:
                numerator.append(sympy.Integer(value.p))
            if value.q != 1:
                denominator.append(sympy.Integer(value.q))
        elif (content := _content(factor)) is not None:
            number, rest = content
            numerator += [rest] if number.p == 1 else [sympy.Integer(number.p), rest]
            denominator += [] if number.q == 1 else [sympy.Integer(number.q)]
        elif isinstance(factor, Pow) and factor.exp.could_extract_minus_sign():
            denominator.append(Pow(factor.base, -factor.exp))
        else:
            numerator.append(factor)
    return sign, sorted(numerator, key=_factor_key), sorted(denominator, key=_factor_key)


def _content(factor: Expr) -> tuple[Any, Expr] | None:
    """The common numerical factor of a sum that stands in a product, and the rest: 2 (1 - x) for 2 - 2 x."""
    if not isinstance(factor, Add):
        return None
    number, rest = factor.primitive()
    return None if number == 1 else (number, rest)


def _merge_exponentials(factors: list[Expr]) -> list[Expr]:
    """e^a e^b as e^(a+b)."""
    exponentials = [f for f in factors if isinstance(f, sympy.exp) or f is sympy.E]
    if len(exponentials) < 2:
        return factors
    exponent = Add(*(f.args[0] if isinstance(f, sympy.exp) else sympy.S.One for f in exponentials))
    return [sympy.exp(exponent), *(f for f in factors if f not in exponentials)]


def is_decimal(value: Expr) -> bool:
    """Whether a number reads better as a decimal, as printed values such as 0.154 do."""
    if not isinstance(value, Rational) or value.q % 10:
        return False
    rest = value.q
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    return rest == 1 and 10**6 % value.q == 0


def decimal(value: Expr) -> str:
    """The decimal expansion of a number that ``is_decimal``.

    >>> decimal(Rational(77, 500))
    '0.154'
    """
    places = next(p for p in range(1, 7) if (value * 10**p).is_Integer)
    digits = str(abs(value) * 10**places).zfill(places + 1)
    return f"{'-' if value.is_negative else ''}{digits[:-places]}.{digits[-places:]}"


def ordered_terms(expr: Add) -> list[Expr]:
    """The terms of a sum in reading order."""
    terms = list(Add.make_args(expr))
    symbols = expr.free_symbols
    only_greek = all(is_greek(s) for s in symbols if isinstance(s, Symbol))
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
    _, _, denominator = split_fraction(term)
    fraction = any(not part.is_number for part in denominator)
    constant = term.is_number
    indices = _degree(term, is_index)
    others = _degree(term, lambda symbol: not is_index(symbol))
    if first_constant:
        return (fraction, not constant, others, term.sort_key())
    return (fraction, constant, -indices if steep else max(indices, 0), -others, term.sort_key())
