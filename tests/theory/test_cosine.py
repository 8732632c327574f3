"""The law of the cosine against integrals, limits and elementary special cases."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import mpmath
import pytest
import sympy
from sympy import Rational, Symbol

from maskproof.theory import cosine
from maskproof.theory.errors import InvalidInput
from maskproof.theory.symbols import alpha, d

Z = Symbol("z", real=True)
T = Symbol("t", positive=True)


def _integral(f: Any, width: int) -> Any:
    """The mean of f(Z) at this width, by 40-digit quadrature in the angle, without the density's constant."""
    with mpmath.workdps(40):
        angles = [0, mpmath.pi / 2, mpmath.pi]
        total = mpmath.quad(lambda x: f(mpmath.cos(x)) * mpmath.sin(x) ** (width - 2), angles)
        return total / mpmath.quad(lambda x: mpmath.sin(x) ** (width - 2), angles)


@pytest.mark.parametrize("width", [2, 3, 4, 5, 64])
def test_the_density_is_that_of_the_angle(width: int) -> None:
    density = sympy.lambdify(Z, cosine.cosine_density(Z, width), "mpmath")
    with mpmath.workdps(40):
        mass = _integral(lambda z: 1, width)
        z = mpmath.mpf("0.3")
        whole = mpmath.quad(lambda x: mpmath.sin(x) ** (width - 2), [0, mpmath.pi / 2, mpmath.pi])
        assert mass == 1
        assert mpmath.almosteq(density(z), (1 - z**2) ** (mpmath.mpf(width - 3) / 2) / whole, 1e-35)


def test_special_densities() -> None:
    assert cosine.cosine_density(Z, 3) == Rational(1, 2)
    assert sympy.simplify(cosine.cosine_density(Z, 2) - 1 / (sympy.pi * sympy.sqrt(1 - Z**2))) == 0
    assert sympy.simplify(cosine.cosine_density(Z, 4) - 2 * sympy.sqrt(1 - Z**2) / sympy.pi) == 0
    assert cosine.cosine_density(Z).free_symbols == {Z, d}


@pytest.mark.parametrize("width", [2, 3, 64])
@pytest.mark.parametrize("order", range(7))
def test_moments(order: int, width: int) -> None:
    exact = cosine.cosine_moment(order, width)
    assert exact.is_Rational
    with mpmath.workdps(40):
        assert abs(_integral(lambda z: z**order, width) - mpmath.mpf(exact.p) / exact.q) < 1e-35


def test_moments_for_every_width() -> None:
    assert cosine.cosine_moment(0) == 1
    assert cosine.cosine_moment(2) == 1 / d
    assert sympy.simplify(cosine.cosine_moment(4) - 3 / (d * (d + 2))) == 0
    assert sympy.simplify(cosine.cosine_moment(6) - 15 / (d * (d + 2) * (d + 4))) == 0
    assert [cosine.cosine_moment(order, 1) for order in range(5)] == [1, 0, 1, 0, 1]


@pytest.mark.parametrize("width", [2, 3, 64])
@pytest.mark.parametrize("t", [Rational(1, 2), 1, 7, -1])
def test_generating_function(t: Any, width: int) -> None:
    exact = cosine.cosine_mgf(t, width).evalf(35)
    with mpmath.workdps(40):
        expected = _integral(lambda z: mpmath.exp(mpmath.mpf(sympy.Rational(t).p) / sympy.Rational(t).q * z), width)
        assert abs(mpmath.mpf(str(exact)) / expected - 1) < 1e-30


def test_generating_function_in_elementary_cases() -> None:
    assert sympy.simplify(cosine.cosine_mgf(T, 1) - sympy.cosh(T)) == 0
    assert sympy.simplify(cosine.cosine_mgf(T, 2) - sympy.besseli(0, T)) == 0
    in_three = sympy.expand_func(cosine.cosine_mgf(T, 3)) - sympy.sinh(T) / T
    assert sympy.simplify(sympy.simplify(in_three).rewrite(sympy.exp)) == 0
    assert cosine.cosine_mgf(0, 1) == 1


def test_generating_function_generates_the_moments() -> None:
    """Coefficient by coefficient for a symbolic width, from the power series of the Bessel function."""
    q = Symbol("q", integer=True, nonnegative=True)
    # Gamma(d/2) (2/t)^(d/2-1) I_{d/2-1}(t) = sum_q Gamma(d/2) / (q! Gamma(q + d/2)) (t/2)^(2q)
    coefficient = sympy.gamma(d / 2) / (sympy.factorial(q) * sympy.gamma(q + d / 2)) / 4**q
    for order in range(4):
        moment = cosine.cosine_moment(2 * order) / sympy.factorial(2 * order)
        assert sympy.simplify(sympy.expand_func(coefficient.subs(q, order)) - moment) == 0
    terms = [coefficient.subs({q: order, d: 9}) * 2 ** (2 * order) for order in range(40)]
    assert abs(sympy.Add(*terms).evalf(30) - cosine.cosine_mgf(2, 9).evalf(30)) < 1e-25


# Reference values, confirmed by simulation.
@pytest.mark.parametrize(
    ("rho", "expected"), [(Rational(1, 5), "0.198503864936566"), (Rational(1, 2), "0.497056618033915")]
)
def test_mean_cosine_of_the_papers_sampler(rho: Any, expected: str) -> None:
    value = cosine.mean_cosine_shared_gaussian(rho, 64)
    assert abs(value.evalf(20) - sympy.Float(expected, 20)) < 1e-15
    assert (cosine.sampler_bias(rho, 64) - (value - rho)).evalf(20) == 0


def _resultant(mu: Any, m: int) -> Any:
    """The mean of <u, y/|y|> for y ~ N(mu u, I_m): the mean resultant length of the projected normal law."""
    factor = mu * mpmath.gamma(mpmath.mpf(m + 1) / 2) / (mpmath.sqrt(2) * mpmath.gamma(mpmath.mpf(m) / 2 + 1))
    return factor * mpmath.hyp1f1(mpmath.mpf(1) / 2, mpmath.mpf(m) / 2 + 1, -(mu**2) / 2)


def _resultant_by_integration(mu: Any, m: int) -> Any:
    """The same by integrating over the first coordinate t of y, after its other m - 1 coordinates.

    E (t^2 + chi^2)^(-1/2) t = sign(t) v^(k/2) U(k/2, (k+1)/2, v), v = t^2/2, for chi with k = m - 1 degrees
    of freedom, because (1 + w)^(-1/2) integrates against the gamma law to Tricomi's U.
    """
    half = mpmath.mpf(m - 1) / 2

    def integrand(t: Any) -> Any:
        v = t**2 / 2
        return mpmath.npdf(t, mu) * v**half * mpmath.hyperu(half, half + mpmath.mpf(1) / 2, v)

    return mpmath.quad(integrand, [0, 1, 3, 12]) - mpmath.quad(lambda t: integrand(-t), [0, 1, 3, 12])


@pytest.mark.parametrize("m", [2, 3, 8])
def test_mean_direction_of_a_gaussian_vector(m: int) -> None:
    mu = mpmath.mpf("0.7")
    assert abs(_resultant(mu, m) - _resultant_by_integration(mu, m)) < 1e-9


@pytest.mark.parametrize("rho", [Rational(1, 5), Rational(1, 2), Rational(9, 10)])
@pytest.mark.parametrize("width", [1, 2, 3, 8, 64])
def test_mean_cosine_by_integrating_over_the_length_of_one_vector(rho: Any, width: int) -> None:
    """Given x, y = rho x + sqrt(1-rho^2) z points on average along x; its length has the chi law."""
    with mpmath.workdps(25):
        r = mpmath.mpf(rho.p) / rho.q
        ratio = r / mpmath.sqrt(1 - r**2)
        middle = mpmath.sqrt(width)

        def integrand(a: Any) -> Any:
            chi = a ** (width - 1) * mpmath.exp(-(a**2) / 2)
            mass = 2 ** (mpmath.mpf(width) / 2 - 1) * mpmath.gamma(mpmath.mpf(width) / 2)
            return chi / mass * _resultant(ratio * a, width)

        mean = mpmath.quad(integrand, [0, middle / 2, middle, 2 * middle, middle + 12])
        exact = mpmath.mpf(str(cosine.mean_cosine_shared_gaussian(rho, width).evalf(25)))
        assert abs(mean - exact) < 1e-18


def test_mean_cosine_in_one_dimension_is_sheppards_formula() -> None:
    for rho in (Rational(1, 5), Rational(1, 2), Rational(-1, 3)):
        exact = 2 * sympy.asin(rho) / sympy.pi
        assert abs((cosine.mean_cosine_shared_gaussian(rho, 1) - exact).evalf(30)) < 1e-28


def test_mean_cosine_at_the_ends() -> None:
    assert cosine.mean_cosine_shared_gaussian(0) == 0
    assert abs(cosine.mean_cosine_shared_gaussian(1, 5).evalf(30) - 1) < 1e-28


def test_leading_bias_is_the_limit_of_d_times_the_bias() -> None:
    leading = cosine.leading_sampler_bias()
    assert sympy.expand(leading + alpha * (1 - alpha**2) / 2) == 0
    for rho in (Rational(1, 5), Rational(1, 2), Rational(4, 5)):
        gaps = [
            (width * cosine.sampler_bias(rho, width) - leading.subs(alpha, rho)).evalf(30)
            for width in (1000, 2000, 4000)
        ]
        # an O(1/d) remainder halves as d doubles
        assert all(abs(fine / coarse - Rational(1, 2)) < 1e-3 for coarse, fine in pairwise(gaps))


@pytest.mark.parametrize(
    ("call", "fault"),
    [
        (lambda: cosine.cosine_density(Z, 1), "density"),
        (lambda: cosine.cosine_density(2, 5), "z <= 1"),
        (lambda: cosine.cosine_moment(2, 0), "d >= 1"),
        (lambda: cosine.cosine_moment(-2), "order"),
        (lambda: cosine.cosine_moment(Rational(1, 2)), "order"),
        (lambda: cosine.cosine_mgf(1, Rational(5, 2)), "integer"),
        (lambda: cosine.mean_cosine_shared_gaussian(Rational(3, 2), 8), "alpha <= 1"),
        (lambda: cosine.sampler_bias(0, 0), "d >= 1"),
    ],
)
def test_bad_values_are_refused(call: Any, fault: str) -> None:
    with pytest.raises(InvalidInput, match=fault):
        call()
