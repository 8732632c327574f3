"""Derivatives of smooth terms by the rules of differentiation; of nothing else."""

from __future__ import annotations

from fractions import Fraction

from maskproof.proofs.terms import terms as t
from maskproof.proofs.terms.text import text


class NotSmooth(ValueError):
    """There is no rule for the derivative of a part."""


# f -> f' for functions of one argument
_FUNCTIONS = {
    "log": lambda x: t.Power(x, -1),
    "sin": lambda x: t.Apply("cos", (x,)),
    "cos": lambda x: t.times(t.number(-1), t.Apply("sin", (x,))),
    "sinh": lambda x: t.Apply("cosh", (x,)),
    "cosh": lambda x: t.Apply("sinh", (x,)),
    "tanh": lambda x: t.Power(t.Apply("cosh", (x,)), -2),
    "atan": lambda x: t.Power(t.plus(t.ONE, t.Power(x, 2)), -1),
    "erf": lambda x: t.times(
        t.number(2), t.Exp(t.times(t.number(-1), t.Power(x, 2))), t.Power(t.Root(t.Constant("pi")), -1)
    ),
}


def derivative(f: t.Term, x: t.Variable) -> t.Term:
    """df/dx, which has a value only where f is differentiable in a neighbourhood.

    >>> from maskproof.proofs.terms.terms import Power, Sort, Variable
    >>> text(derivative(Power(Variable("m", Sort.NONNEGATIVE), 2), Variable("m", Sort.NONNEGATIVE)))
    '2*m*1'

    Raises:
        NotSmooth: x is an integer, or occurs in a part for which there is no rule.
    """
    if x.sort.integral:
        raise NotSmooth(f"{x.name} is an integer: there is no derivative by it")
    return _derivative(f, x)


def _derivative(f: t.Term, x: t.Variable) -> t.Term:  # noqa: C901  one case for each kind of term
    if x not in f.free:
        return t.ZERO
    match f:
        case t.Variable():
            return t.ONE
        case t.Add(terms=terms):
            return t.plus(*(_derivative(term, x) for term in terms if x in term.free))
        case t.Mul(factors=factors):
            return t.plus(
                *(
                    t.times(*factors[:place], _derivative(factor, x), *factors[place + 1 :])
                    for place, factor in enumerate(factors)
                    if x in factor.free
                )
            )
        case t.Power(base=base, exponent=exponent):
            lower = base if exponent == 2 else t.Power(base, exponent - 1)
            return t.times(t.number(exponent), lower, _derivative(base, x))
        case t.Root(radicand=radicand):
            return t.times(t.Number(Fraction(1, 2)), t.Power(f, -1), _derivative(radicand, x))
        case t.Exp(exponent=exponent):
            return t.times(f, _derivative(exponent, x))
        case t.Sum(body=body, index=index, low=low, high=high) if x not in low.free | high.free and x != index:
            return t.Sum(_derivative(body, x), index, low, high)
        case t.Product(body=body, index=index, low=low, high=high) if x not in low.free | high.free and x != index:
            return _of_product(f, body, index, low, high, x)
        case t.Derivative(body=body, variable=variable):
            return _derivative(derivative(body, variable), x)
        case t.Apply(name="power", arguments=(base, exponent)):
            return _of_power(f, base, exponent, x)
        case t.Apply(name=name, arguments=(argument,)) if name in _FUNCTIONS:
            return t.times(_FUNCTIONS[name](argument), _derivative(argument, x))
    raise NotSmooth(f"there is no rule for the derivative of {text(f, 60)} by {x.name}")


def _of_power(f: t.Term, base: t.Term, exponent: t.Term, x: t.Variable) -> t.Term:
    if t.is_integral(exponent) and x not in exponent.free:
        lower = t.Apply("power", (base, t.plus(exponent, t.number(-1))))
        return t.times(exponent, lower, _derivative(base, x))
    return t.times(f, _derivative(t.times(exponent, t.Apply("log", (base,))), x))


def _of_product(f: t.Term, body: t.Term, index: t.Variable, low: t.Term, high: t.Term, x: t.Variable) -> t.Term:
    """The sum, over its factors, of the derivative of one times the others."""
    other = t.fresh(index, f)
    rest = t.substitute(body, {index: other})
    before = t.Product(rest, other, low, t.plus(index, t.number(-1)))
    after = t.Product(rest, other, t.plus(index, t.ONE), high)
    return t.Sum(t.times(before, _derivative(body, x), after), index, low, high)
