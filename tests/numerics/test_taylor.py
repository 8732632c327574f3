"""Taylor arithmetic of the layer map, against polynomial fits of the Gram recursion and known values."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maskproof.numerics.gram import recursion
from maskproof.numerics.layers import QUANTITIES, Quantity, layer_of
from maskproof.numerics.taylor import TaylorMap, power, taylor_coefficients
from maskproof.theory.decoder import Bidirectional, Blocks, Decoder, Dilated, Prefix, Rope, SlidingWindow
from maskproof.theory.errors import InvalidInput

DECODERS = [
    Decoder(),
    Decoder(residual=0),
    Decoder(beta=0),
    Decoder(beta=2, residual=0.5, mask=Bidirectional()),
    Decoder(norm="none", mask=SlidingWindow(4)),
    Decoder(norm="layernorm", scale="sqrt(d)"),
    Decoder(norm="layernorm", scale="d", residual=0.5),
    Decoder(mask=Prefix(3), beta=0.5, residual=2, scale=3),
    Decoder(mask=Dilated(2, 3)),
    Decoder(norm="none", mask=Blocks(2)),
]
WIDTH = 16


def pairs(n: int) -> np.ndarray:
    """The symmetric directions E_km, k < m."""
    result = []
    for k, m in combinations(range(n), 2):
        direction = np.zeros((n, n))
        direction[k, m] = direction[m, k] = 1
        result.append(direction)
    return np.array(result)


def test_reference_values() -> None:
    coefficients = taylor_coefficients(Decoder(), np.eye(12), pairs(12), layers=3, order=2)
    first = coefficients[2].sum(axis=1)
    assert abs(first[1, 1, 0] - -0.162369895736007) < 1e-14
    assert abs(first[1, 11, 4] - -0.149981784046868) < 1e-14
    assert abs(first[2, 11, 4] - -0.542053952566557) < 1e-14
    assert abs(first[1, 11, 10] - -0.193121565463889) < 1e-14


def fitted(decoder: Decoder, gram: np.ndarray, direction: np.ndarray, quantity: Quantity) -> np.ndarray:
    """Coefficients 0..3 by interpolation of the Gram recursion at 16 Chebyshev points."""
    points = 16
    step = 0.02
    nodes = np.cos(np.pi * (np.arange(points) + 0.5) / points)
    values = np.stack([
        np.nan_to_num(getattr(recursion(decoder, gram + step * x * direction, 3, WIDTH), quantity))
        for x in nodes
    ])  # fmt: skip
    system = np.vander(nodes, increasing=True)
    solved = np.linalg.solve(system, values.reshape(points, -1))[:4].reshape(4, *values.shape[1:])
    return solved / step ** np.arange(4)[:, None, None, None]


CASES = [(decoder, n) for decoder in DECODERS for n in (1, 2, 5, 9) if n > 3 or decoder.mask != Prefix(3)]


@pytest.mark.parametrize(("decoder", "n"), CASES, ids=str)
def test_coefficients_agree_with_the_recursion(decoder: Decoder, n: int) -> None:
    generator = np.random.default_rng(n)
    factor = generator.normal(size=(n, 20))
    gram = factor @ factor.T / 20
    direction = generator.normal(size=(n, n))
    direction = direction + direction.T
    for quantity in QUANTITIES:
        expected = fitted(decoder, gram, direction, quantity)
        found = taylor_coefficients(decoder, gram, direction, 3, 3, quantity, WIDTH)
        hidden = expected[0] == 0
        for p in range(4):
            size = 1 + np.abs(expected[[0, p]]).max()
            error = np.abs(np.where(hidden, 0, found[p] - expected[p])).max()
            # Rounding of the fit: about 2^-52 / 0.02^p times the condition of the interpolation.
            assert error < 1e-13 * 100**p * size


def test_remainder_falls_with_the_right_power() -> None:
    n = 6
    generator = np.random.default_rng(0)
    direction = generator.normal(size=(n, n))
    direction = direction + direction.T
    for order in (1, 2, 3, 4, 5):
        coefficients = taylor_coefficients(Decoder(), np.eye(n), direction, 3, order)
        errors = []
        for t in (0.02, 0.01):
            exact = np.nan_to_num(recursion(Decoder(), np.eye(n) + t * direction, 3).scores)
            series = sum(c * t**p for p, c in enumerate(coefficients))
            errors.append(np.abs(np.where(exact == 0, 0, series - exact)).max())
        assert 0.7 * 2 ** (order + 1) < errors[0] / errors[1] < 1.4 * 2 ** (order + 1)


def test_batch_and_causal_blocks_change_nothing() -> None:
    # n = 9 takes the blocked causal route, n = 5 the general one; the first rows do not depend on later tokens.
    generator = np.random.default_rng(4)
    directions = generator.normal(size=(7, 9, 9))
    directions = directions + directions.swapaxes(1, 2)
    batch = taylor_coefficients(Decoder(), np.eye(9), directions, 3)
    one = taylor_coefficients(Decoder(), np.eye(9), directions[3], 3)
    assert np.abs(batch[:, :, 3] - one).max() < 1e-12
    leading = taylor_coefficients(Decoder(), np.eye(5), directions[:, :5, :5], 3)
    assert np.abs(batch[..., :5, :5] - leading).max() < 1e-12


@pytest.mark.parametrize("norm", ["l2", "none"])
def test_tokens_normalised_before_the_first_layer(norm: str) -> None:
    n = 5
    generator = np.random.default_rng(8)
    factor = generator.normal(size=(n, 9))
    gram, direction = factor @ factor.T / 9, generator.normal(size=(n, n))
    direction = direction + direction.T
    decoder = Decoder(norm=norm, residual=0.5)  # pyright: ignore[reportArgumentType]
    found = TaylorMap(layer_of(decoder, n, 9), gram, 2, 3, start_norm=0.7)
    parts = list(found.run(direction[None], "gram"))
    step, nodes = 0.01, np.cos(np.pi * (np.arange(12) + 0.5) / 12)
    values = []
    for x in nodes:
        moved = gram + step * x * direction
        roots = np.sqrt(np.diagonal(moved))
        values.append(recursion(decoder, 0.49 * moved / np.outer(roots, roots), 2).gram)
    solved = np.linalg.solve(np.vander(nodes, increasing=True), np.reshape(values, (12, -1)))
    for p in (1, 2, 3):
        expected = solved[p].reshape(2, n, n) / step**p
        assert np.abs(np.stack([part[p - 1][0] for part in parts]) - expected).max() < 1e-12 * 100**p


@given(
    st.lists(st.floats(-2, 2), min_size=4, max_size=4),
    st.floats(0.5, 2),
    st.sampled_from([-1.0, -0.5, 0.5, 1.0, 3.0]),
)
def test_powers_of_series(tail: list[float], first: float, exponent: float) -> None:
    base = [np.array(x) for x in (first, *tail)]
    whole = np.polynomial.Polynomial([float(x) for x in power(base, exponent)])
    back = power([np.array(x) for x in whole.coef], 1 / exponent)
    size = max(np.abs(whole.coef).max(), 1) ** 6
    assert max(abs(a - b) for a, b in zip(back, base, strict=True)) < 1e-9 * size


@pytest.mark.parametrize(
    ("decoder", "gram", "direction"),
    [
        (Decoder(), np.eye(3), np.triu(np.ones((3, 3)))),
        (Decoder(), np.triu(np.ones((3, 3))), np.ones((3, 3))),
        (Decoder(), np.eye(3), np.ones((2, 2))),
        (Decoder(), np.zeros((3, 3)), np.ones((3, 3))),
        (Decoder(position=Rope()), np.eye(3), np.ones((3, 3))),
        (Decoder(norm="layernorm", scale="sqrt(d)"), np.eye(3), np.ones((3, 3))),
        (Decoder(norm="layernorm"), np.eye(3), np.ones((3, 3))),
    ],
)
def test_bad_input(decoder: Decoder, gram: np.ndarray, direction: np.ndarray) -> None:
    with pytest.raises(InvalidInput):
        taylor_coefficients(decoder, gram, direction, 2)
