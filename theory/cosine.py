r"""The cosine of two random vectors.

Two independent vectors, uniform on the unit sphere of R^d, have the cosine Z = <x, y>. By rotation
invariance y may be held fixed, so Z is one coordinate of a uniform unit vector, and Z^2 has the beta
law with parameters 1/2 and (d-1)/2. Everything below follows from that. At d = 1 the cosine is +1 or
-1, each with probability one half: moments and generating function hold there too, but there is no density.
"""

from __future__ import annotations

import sympy
from sympy import Expr, Rational, Symbol, besseli, gamma, hyper, loggamma, rf, sqrt

from maskproof.theory import symbols
from maskproof.theory.errors import InvalidInput
from maskproof.theory.values import exact, require


def cosine_density(z: object, d: object = symbols.d) -> Expr:
    r"""Density at ``z`` of the cosine, Gamma(d/2) / (sqrt(pi) Gamma((d-1)/2)) (1 - z^2)^((d-3)/2).

    Args:
        z: a cosine, -1 <= z <= 1.
        d: width, an integer from 2 up, or a symbol for one.

    At d = 2 (the arcsine law) it is infinite at z = +-1; at d = 3 it is the constant 1/2 (Archimedes).

    >>> cosine_density(Symbol("z"), 3)
    1/2

    Raises:
        InvalidInput: d = 1, where the cosine is +-1 and has no density; or z outside [-1, 1].
    """
    width = _width(d)
    if width == 1:
        raise InvalidInput("d = 1", "'the cosine has a density'", "at d = 1 it is +1 or -1, each with probability 1/2")
    point = exact(z, "z")
    require(abs(point) <= 1, f"z = {z}", "-1 <= z <= 1", "give a cosine")
    return gamma(width / 2) / (sqrt(sympy.pi) * gamma((width - 1) / 2)) * (1 - point**2) ** ((width - 3) / 2)


def cosine_moment(order: int, d: object = symbols.d) -> Expr:
    r"""E Z^order: zero for odd orders, (1/2)_q / (d/2)_q for order = 2q (rising factorials).

    >>> cosine_moment(2), cosine_moment(3), cosine_moment(4, 64)
    (1/d, 0, 1/1408)

    Raises:
        InvalidInput: the order is not an integer from 0 up, or the width is not one from 1 up.
    """
    degree = exact(order, "order")
    if not (degree.is_Integer and degree >= 0):
        raise InvalidInput(f"order = {order}", "'order is an integer >= 0'", "give a whole number")
    width = _width(d)
    if degree % 2:
        return sympy.S.Zero
    half = degree / 2
    return sympy.factor(rf(Rational(1, 2), half) / sympy.expand_func(rf(width / 2, half)))


def cosine_mgf(t: object, d: object = symbols.d) -> Expr:
    r"""E exp(t Z) = Gamma(d/2) (2/t)^(d/2-1) I_{d/2-1}(t), with I a modified Bessel function.

    It is even in t (Z is symmetric), so a negative number may be given; a symbol t is read as t > 0.
    With t = beta (1 - alpha) it is, up to the factor exp(alpha beta), the mean of one unnormalised
    attention weight in the first layer.

    >>> cosine_mgf(0), sympy.simplify(cosine_mgf(2, 3) - sympy.sinh(2) / 2)
    (1, 0)
    """
    width, argument = _width(d), exact(t, "t")
    if argument.is_zero:
        return sympy.S.One
    if argument.is_negative:
        argument = -argument
    order = width / 2 - 1
    return gamma(width / 2) * (2 / argument) ** order * besseli(order, argument)


def mean_cosine_shared_gaussian(alpha: object = symbols.alpha, d: object = symbols.d) -> Expr:
    r"""E K_ij under SharedGaussian(d, alpha), i != j: the mean cosine of the paper's sampler.

    g_i + c g_0 and g_j + c g_0 have, coordinate by coordinate, the correlation alpha = c^2/(1+c^2). Given
    u = g_i + c g_0, the other vector is alpha u + sqrt(1 - alpha^2) times an independent Gaussian one;
    averaging its direction first gives

        alpha (2/d) (Gamma((d+1)/2) / Gamma(d/2))^2  2F1(1/2, 1/2; d/2 + 1; alpha^2).

    At d = 1 this is (2/pi) arcsin(alpha), the mean of the sign of a product (Sheppard).

    >>> mean_cosine_shared_gaussian(Rational(1, 2), 64).evalf(12)
    0.497056618034

    Raises:
        InvalidInput: alpha is outside [-1, 1].
    """
    rho, width = _correlation(alpha), _width(d)
    ratio = gamma((width + 1) / 2) / gamma(width / 2)
    half = Rational(1, 2)
    return rho * 2 / width * ratio**2 * hyper((half, half), (width / 2 + 1,), rho**2)


def sampler_bias(alpha: object = symbols.alpha, d: object = symbols.d) -> Expr:
    r"""E K_ij - alpha under SharedGaussian(d, alpha), i != j: by how much the sampler misses Eq. 2."""
    return mean_cosine_shared_gaussian(alpha, d) - _correlation(alpha)


def leading_sampler_bias(alpha: object = symbols.alpha) -> Expr:
    r"""The coefficient b in E K_ij = alpha + b/d + O(1/d^2) under SharedGaussian(d, alpha).

    Stirling's series gives the ratio of Gamma functions, and of the hypergeometric series
    sum_q ((1/2)_q)^2 alpha^(2q) / ((d/2+1)_q q!) only the terms q = 0 and q = 1 reach the order 1/d.

    >>> leading_sampler_bias()
    -alpha*(1 - alpha**2)/2
    """
    rho = _correlation(alpha)
    inverse = Symbol("x", positive=True)  # 1/d
    log_ratio = loggamma(1 / (2 * inverse) + Rational(1, 2)) - loggamma(1 / (2 * inverse))
    # the terms of order 1/x and log(x) cancel: what is left is (1/2) log(d/2) + (a series in x)
    tail = sympy.series(log_ratio, inverse, 0, 2).removeO() + sympy.log(2 * inverse) / 2
    from_gamma = sympy.expand_log(sympy.expand(tail), force=True).coeff(inverse, 1) * 2
    from_series = sympy.limit(rho**2 / 4 / (1 / (2 * inverse) + 1) / inverse, inverse, 0)
    return -rho * sympy.factor_terms(-(from_gamma + from_series))


def _width(d: object) -> Expr:
    width = exact(d, "d")
    if width.is_integer is False:
        raise InvalidInput(f"d = {d}", "'d is an integer'", "give a whole number")
    require(width >= 1, f"d = {d}", "d >= 1", "give a width of at least 1")
    return width


def _correlation(alpha: object) -> Expr:
    rho = exact(alpha, "alpha")
    require(abs(rho) <= 1, f"alpha = {rho}", "-1 <= alpha <= 1", "give a correlation")
    return rho
