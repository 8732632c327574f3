"""RoPE's kernel, its limit and the mean score of layer one."""

import mpmath
import pytest
import sympy
from sympy import Integer, Rational, Symbol

from maskproof.theory.errors import InvalidInput
from maskproof.theory.inputs import Equicorrelated, SharedGaussian, Sphere
from maskproof.theory.position import Rope
from maskproof.theory.rope import (
    kernel,
    kernel_excess,
    kernel_sum,
    limiting_kernel,
    limiting_slope,
    mean_score,
)

D = Symbol("D", positive=True)


def rotation(steps, rope, interleaved):
    """R_D as a matrix, one block."""
    half = rope.dim // 2
    matrix = sympy.zeros(rope.dim)
    for m in range(half):
        a, b = (2 * m, 2 * m + 1) if interleaved else (m, m + half)
        angle = steps * rope.base ** (-Rational(m, half))
        matrix[a, a] = matrix[b, b] = sympy.cos(angle)
        matrix[a, b], matrix[b, a] = -sympy.sin(angle), sympy.sin(angle)
    return matrix


@pytest.mark.parametrize("interleaved", [False, True])
def test_the_two_traces_behind_everything(interleaved):
    rope = Rope(base=100, dim=6)
    turn = rotation(D, rope, interleaved)
    kappa = kernel(D, rope)
    ones = sympy.ones(6, 1)
    assert sympy.expand(turn.trace() - 6 * kappa) == 0
    assert sympy.expand((ones.T * turn * ones)[0] - 6 * kappa) == 0
    off_ones = sympy.eye(6) - sympy.ones(6) / 6
    assert sympy.expand((turn * off_ones).trace() - 5 * kappa) == 0
    assert sympy.simplify(turn * turn.T) == sympy.eye(6)


def test_the_kernel_is_even_and_one_at_zero():
    assert kernel(0) == 1
    assert kernel(D) == kernel(-D)
    assert len(kernel(D).args) == 32


def test_explicit_and_symbolic_sum_agree():
    rope = Rope(base=100, dim=8)
    assert sympy.expand(kernel_sum(D, 100, 8).doit() - kernel(D, rope)) == 0


@pytest.mark.parametrize("distance", [1, 3, 12, 40])
@pytest.mark.parametrize("base", [100, 10000])
def test_the_limit_is_the_integral_over_the_angles(distance, base):
    with mpmath.workdps(30):
        integral = mpmath.quad(lambda t: mpmath.cos(distance * mpmath.mpf(base) ** (-t)), mpmath.linspace(0, 1, 30))
        assert abs(integral - limiting_kernel(distance, base).evalf(30)) < 1e-20


def test_the_antiderivative_behind_the_limit():
    t, b = Symbol("t", real=True), Symbol("b", positive=True)
    primitive = -sympy.Ci(D * b**-t) / sympy.log(b)
    assert sympy.simplify(primitive.diff(t) - sympy.cos(D * b**-t)) == 0
    assert sympy.simplify(primitive.subs(t, 1) - primitive.subs(t, 0) - limiting_kernel(D, b + 1).subs(b, b - 1)) == 0


def test_the_slope_of_the_limit():
    assert sympy.simplify(limiting_kernel(D).diff(D) - limiting_slope(D)) == 0


@pytest.mark.parametrize("distance", [1, 5, 20])
def test_the_excess_is_of_second_order(distance):
    # The next term of the Euler-Maclaurin formula is h^2/12 (f'(1) - f'(0)), h = 2/dim.
    slope = -sympy.log(10000) * (
        Rational(distance, 10000) * sympy.sin(Rational(distance, 10000)) * -1 + distance * sympy.sin(distance)
    )
    limit, excess = limiting_kernel(distance).evalf(30), kernel_excess(distance).evalf(30)
    for dim in (512, 2048):
        with mpmath.workdps(30):
            left = mean_cosine(distance, dim) - limit - excess / dim
        assert dim**2 * float(left) == pytest.approx(float(slope / 3), rel=0.02)


def mean_cosine(distance, dim):
    """kappa for base 10000 at the working precision, written independently."""
    angles = (mpmath.mpf(10) ** (-mpmath.mpf(8 * m) / dim) for m in range(dim // 2))
    return 2 * mpmath.fsum(mpmath.cos(distance * angle) for angle in angles) / dim


@pytest.mark.parametrize(("distance", "dim"), [(1, 64), (11, 64), (12, 64), (7, 128)])
def test_values_of_the_kernel(distance, dim):
    with mpmath.workdps(30):
        assert abs(mean_cosine(distance, dim) - kernel(distance, Rope(dim=dim)).evalf(30)) < 1e-25


def test_mean_scores():
    rope = Rope(dim=64)
    assert mean_score(Equicorrelated(Rational(1, 5)), 5, 2, rope) == kernel(3, rope) / 5
    assert mean_score(Sphere(64, 0), 5, 2, rope) == 0
    assert mean_score(Sphere(64, Rational(1, 2)), 5, 2, rope) == kernel(3, rope) / 2
    unnormalised = mean_score(SharedGaussian(64, Rational(1, 5), unit=False), 5, 2, rope)
    assert unnormalised == kernel(3, rope) / 4
    biased = mean_score(SharedGaussian(64, Rational(1, 2)), 5, 2, rope) / kernel(3, rope)
    assert biased.evalf(15) == pytest.approx(0.497056618033915, abs=1e-13)


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (lambda: mean_score(Sphere(64, 0), 3, 3), "i != j"),
        (lambda: mean_score(Sphere(96, 0), 3, 2), "divides the width"),
        (lambda: limiting_kernel(-1), "distance >= 0"),
        (lambda: limiting_kernel(1, Integer(1)), "base > 1"),
    ],
)
def test_bad_input(call, reason):
    with pytest.raises(InvalidInput, match=reason):
        call()
