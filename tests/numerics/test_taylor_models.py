"""Taylor models in floats: what they claim to contain, they contain, against balls and against exact fractions."""

from fractions import Fraction

import flint
import numpy as np
import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from maskproof.numerics import taylor_models
from maskproof.numerics.balls import working_precision
from maskproof.numerics.taylor_models import UNIT, Frame, Models, affine, constants, exponential, number

BITS = 200
small = st.integers(-64, 64).map(lambda m: m / 256)


def value(model, taus):
    """The polynomial of a single model at a point, as a ball."""
    total = arb(0)
    for (a, b), coefficient in zip(model.frame.indices, model.coefficients, strict=True):
        total += arb(float(coefficient)) * taus[0] ** a * taus[1] ** b
    return total


def single(frame, data, rest, lead=1.0):
    """A model with coefficients that fall by 4 from degree to degree, and this leading one."""
    coefficients = np.array([c / 4 ** sum(index) for c, index in zip(data, frame.indices, strict=False)])
    coefficients[0] += lead
    return Models(frame, coefficients, np.array(rest))


def contains(found, taus, truth, slack=1.0):
    return not abs(value(found, taus) - truth) > arb(float(found.rest)) * slack


OPERATIONS = {
    "exp": (lambda m: m.exp(), lambda x: x.exp()),
    "inverse": (lambda m: m.inverse(), lambda x: 1 / x),
    "rsqrt": (lambda m: m.rsqrt(), lambda x: x.rsqrt()),
    "times": (lambda m: m * m, lambda x: x * x),
    "plus": (lambda m: m + m * m, lambda x: x + x * x),
    "minus": (lambda m: m - m.exp(), lambda x: x - x.exp()),
    "scaled": (lambda m: number(m.frame, Fraction(1, 3)) * m, lambda x: x / 3),
}


@pytest.mark.parametrize("operation", OPERATIONS)
@given(
    variables=st.sampled_from([0, 1, 2]),
    data=st.lists(small, min_size=10, max_size=10),
    rest=st.sampled_from([0.0, 2.0**-40, 0.01]),
    taus=st.tuples(st.sampled_from([-1, 1]) | small, st.sampled_from([-1, 1]) | small),
    inside=st.sampled_from([-1, 0, 1]),
)
def test_a_function_of_a_model_contains_the_function_of_its_members(operation, variables, data, rest, taus, inside):
    frame = Frame.of(variables, 3)
    model = single(frame, data, rest)
    at = tuple(arb(float(tau)) for tau in taus)
    on_models, on_balls = OPERATIONS[operation]
    with working_precision(BITS):
        member = value(model, at) + inside * arb(rest)
        assert contains(on_models(model), at, on_balls(member))


@pytest.mark.parametrize("operation", sorted(set(OPERATIONS) - {"plus"}))
def test_without_its_rest_a_model_would_not(operation):
    """At an end of the box, where what is left out is largest."""
    on_models, on_balls = OPERATIONS[operation]
    model = single(Frame.of(1, 3), [0.3, 0.7, -0.4, 0.9], 0.0)
    with working_precision(BITS):
        at = (arb(1), arb(0))
        assert not contains(on_models(model), at, on_balls(value(model, at)), slack=1e-6)


def test_the_rest_of_a_constant_is_its_rounding():
    frame = Frame.of(0, 0)
    third = number(frame, Fraction(1, 3))
    product = third * third
    error = abs(Fraction(float(product.coefficients[0])) - Fraction(1, 9))
    assert 0 < error <= Fraction(float(product.rest)) < Fraction(10 * UNIT)
    assert number(frame, Fraction(1, 4)).rest == 0


@np.errstate(all="ignore")
def test_functions_are_undefined_where_they_should_be():
    frame = Frame.of(1, 4)
    through_zero = affine(frame, Fraction(1, 10), {0: Fraction(1)})
    negative = number(frame, -1)
    for model in (
        through_zero.inverse(),
        through_zero.rsqrt(),
        negative.rsqrt(),
        (through_zero.rsqrt() * negative).exp(),
    ):
        low, high = model.bounds()
        assert not low > -1e300
        assert not high < 1e300


def exact_product(a, b):
    return [
        [sum(Fraction(x) * Fraction(y) for x, y in zip(row, column, strict=True)) for column in zip(*b, strict=True)]
        for row in a
    ]


@given(st.integers(0, 2**32 - 1), st.sampled_from([1, 7, 24]), st.sampled_from([0, 30]))
def test_products_of_matrices_are_accurate(seed, n, spread):
    """The bound holds for entries of one size or of many, and is a few roundings, not n."""
    generator = np.random.default_rng(seed)
    a, b = (
        generator.standard_normal((n, n)) * 2.0 ** generator.integers(-spread, spread + 1, (n, n)) for _ in range(2)
    )
    product, error = taylor_models._accurate_product(a, b)
    exact = exact_product(a.tolist(), b.tolist())
    for i in range(n):
        for j in range(n):
            assert abs(Fraction(float(product[i, j])) - exact[i][j]) <= Fraction(float(error[i, j]))
    if not spread:
        assert error.max() < 4 * UNIT * (np.abs(a) @ np.abs(b)).max()


@pytest.mark.parametrize("variables", [1, 2])
def test_a_product_of_matrices_contains_the_products_of_members(variables):
    generator = np.random.default_rng(5)
    frame = Frame.of(variables, 3)
    shape = (len(frame.indices), 4, 4)
    weights = np.array([4.0 ** -sum(index) for index in frame.indices])[:, None, None]
    a, b = (Models(frame, generator.standard_normal(shape) * weights, np.full((4, 4), 2.0**-20)) for _ in range(2))
    product = a @ b
    with working_precision(BITS):
        for s in (-1, 1):
            at = (arb(s), arb(1))
            for i in range(4):
                for j in range(4):
                    row = [value(a[i, k], at) + s * arb(2.0**-20) for k in range(4)]
                    column = [value(b[k, j], at) - arb(2.0**-20) for k in range(4)]
                    truth = sum((x * y for x, y in zip(row, column, strict=True)), arb(0))
                    assert contains(product[i, j], at, truth)
                    assert not contains(product[i, j], at, truth, slack=1e-8)


@given(st.integers(1, 200), st.integers(0, 2**32 - 1))
def test_sums_contain_the_exact_sum(length, seed):
    values = np.random.default_rng(seed).standard_normal(length)
    total = constants(Frame.of(0, 0), values).total()
    exact = sum(map(Fraction, values.tolist()))
    assert abs(Fraction(float(total.coefficients[0])) - exact) <= Fraction(float(total.rest))
    assert total.rest <= 40 * UNIT * np.abs(values).sum() + 1e-200


@given(st.floats(-700, 700, allow_subnormal=False) | st.floats(-1e-3, 1e-3))
def test_the_exponential_of_a_float(x):
    (found,), error = exponential(np.array([x]))
    with working_precision(BITS):
        truth = arb(x).exp()
        assert abs(arb(float(found)) - truth) <= arb(error) * truth


def test_the_exponential_ends_where_floats_do():
    found, _ = exponential(np.array([-701.0, 701.0, np.nan, np.inf]))
    assert np.all(np.isnan(found))
    before = flint.ctx.prec
    with working_precision(10):  # the working precision of the caller does not matter
        taylor_models._power_of_e.cache_clear()
        rough, error = exponential(np.array([1.0]))
    with working_precision(BITS):
        assert abs(arb(float(rough[0])) / arb.const_e() - 1) <= arb(error)
    assert flint.ctx.prec == before


@given(st.lists(small, min_size=10, max_size=10), st.sampled_from([0, 1]), st.sampled_from([-1, 1]), small, small)
def test_a_half_is_the_same_function(data, axis, side, s, t):
    frame = Frame.of(2, 3)
    whole = Models(frame, np.array(data)[:, None], np.array([1 / 7]))
    half = whole.halved(axis, side)
    tau = [s, t]
    tau[axis] = (side + tau[axis]) / 2
    with working_precision(BITS):
        inner = value(half[0], (arb(s), arb(t)))
        assert abs(inner - value(whole[0], (arb(tau[0]), arb(tau[1])))) <= arb(float(half.rest[0] - whole.rest[0]))
    assert half.rest[0] < 1 / 7 + 1e-13


def test_bounds_hold_everything():
    model = affine(Frame.of(1, 2), Fraction(1, 3), {0: Fraction(1, 7)}) * number(Frame.of(1, 2), Fraction(1, 3))
    low, high = model.bounds()
    assert Fraction(float(low)) <= (Fraction(1, 3) - Fraction(1, 7)) / 3
    assert Fraction(float(high)) >= (Fraction(1, 3) + Fraction(1, 7)) / 3
    assert high - low < 2 / 21 + 1e-12


def test_parts_of_matrices():
    frame = Frame.of(0, 0)
    matrix = constants(frame, np.arange(9.0).reshape(3, 3))
    assert matrix.diagonal().coefficients[0].tolist() == [0, 4, 8]
    more = matrix.plus_diagonal(constants(frame, np.ones(3)))
    assert more.coefficients[0].diagonal().tolist() == [1, 5, 9]
    assert matrix.masked(np.eye(3)).coefficients[0].sum() == 12
    assert matrix.transpose()[0, 1].coefficients[0] == 3
