"""The literal route: definition, RoPE, realised Gram matrices, bad input."""

import math

import numpy as np
import pytest

from maskproof.numerics.attention import attend
from maskproof.numerics.gram import equicorrelated
from maskproof.numerics.vectors import realise
from maskproof.theory.decoder import Bidirectional, Causal, Decoder, Prefix, Rope, SlidingWindow
from maskproof.theory.errors import InvalidInput


def plane(*angles):
    """Unit vectors in the plane."""
    return np.array([[math.cos(angle), math.sin(angle)] for angle in angles])


def test_one_layer_by_hand():
    # x_1 = e_1, x_2 = 3 e_2: scores 0 and 1, so query 2 weighs 1 : e.
    run = attend(Decoder(residual=2), np.array([[1.0, 0.0], [0.0, 3.0]]), layers=1)
    first, second = 1 / (1 + math.e), math.e / (1 + math.e)
    assert run.weights[0] == pytest.approx(np.array([[1, 0], [first, second]]), abs=1e-15)
    assert run.vectors[0] == pytest.approx(np.array([[3, 0], [first, 6 + second]]), abs=1e-14)
    assert np.isnan(run.scores[0, 0, 1])
    assert run.raw_scores[0, 0, 1] == 0


def test_two_tokens_give_the_limit_of_the_paper():
    run = attend(Decoder(), np.eye(2), layers=2)
    assert run.scores[1, 1, 0] == pytest.approx(0.153520650506003146, abs=1e-15)


@pytest.mark.parametrize(
    ("mask", "seen"),
    [
        (Causal(), [{1}, {1, 2}, {1, 2, 3}, {1, 2, 3, 4}]),
        (Bidirectional(), [{1, 2, 3, 4}] * 4),
        (SlidingWindow(2), [{1}, {1, 2}, {2, 3}, {3, 4}]),
        (Prefix(3), [{1, 2, 3}, {1, 2, 3}, {1, 2, 3}, {1, 2, 3, 4}]),
    ],
)
def test_masks_hide_what_they_say(mask, seen):
    run = attend(Decoder(mask=mask), plane(0, 1, 2, 3), layers=2)
    for weights, scores in zip(run.weights, run.scores, strict=True):
        assert [set(1 + np.flatnonzero(row)) for row in weights] == seen
        assert [set(1 + np.flatnonzero(~np.isnan(row))) for row in scores] == seen


def test_scales_divide_the_scores():
    x = np.random.default_rng(1).normal(size=(5, 16))
    plain, root, full, number = (
        attend(Decoder(norm="layernorm", scale=scale), x, 1).raw_scores[0] for scale in (1, "sqrt(d)", "d", 3)
    )
    assert root == pytest.approx(plain / 4)
    assert full == pytest.approx(plain / 16)
    assert number == pytest.approx(plain / 3)
    assert np.diagonal(full) == pytest.approx(np.ones(5))  # layernorm: norm sqrt(d)


def test_layernorm_takes_off_the_mean():
    x = np.random.default_rng(2).normal(size=(4, 8))
    decoder = Decoder(norm="layernorm", scale="d", residual=0)
    assert attend(decoder, x + 5, 1).scores == pytest.approx(attend(decoder, x, 1).scores, nan_ok=True)


def test_a_batch_is_its_members():
    x = np.random.default_rng(3).normal(size=(2, 3, 5, 6))
    together = attend(Decoder(beta=3), x, layers=3)
    assert together.scores.shape == (3, 2, 3, 5, 5)
    assert together.vectors.shape == (3, 2, 3, 5, 6)
    alone = attend(Decoder(beta=3), x[1, 2], layers=3)
    assert together.weights[:, 1, 2] == pytest.approx(alone.weights, abs=1e-14)


@pytest.mark.parametrize("pairing", ["half", "interleaved"])
def test_rope_against_complex_rotation(pairing):
    d, n, base = 8, 6, 100
    y = np.random.default_rng(4).normal(size=(n, d))
    y /= np.linalg.norm(y, axis=1, keepdims=True)
    planes = y[:, :4] + 1j * y[:, 4:] if pairing == "half" else y[:, 0::2] + 1j * y[:, 1::2]
    theta = base ** (-np.arange(4) / 4)
    turned = planes * np.exp(1j * np.outer(np.arange(n), theta))  # an offset of all positions changes nothing
    expected = (turned @ turned.conj().T).real
    decoder = Decoder(position=Rope(base, d), mask=Bidirectional())
    assert attend(decoder, y, 1, pairing).raw_scores[0] == pytest.approx(expected, abs=1e-14)


def test_rope_leaves_values_alone():
    y = np.eye(8)[:3]
    decoder = Decoder(position=Rope(dim=8), beta=0)
    assert attend(decoder, y, 1).vectors == pytest.approx(attend(Decoder(beta=0), y, 1).vectors, abs=1e-15)


def test_rope_pairings_differ_by_an_order_of_coordinates():
    x = np.random.default_rng(5).normal(size=(5, 8))
    order = [0, 4, 1, 5, 2, 6, 3, 7]
    decoder = Decoder(position=Rope(dim=8))
    half, interleaved = attend(decoder, x, 3, "half"), attend(decoder, x[:, order], 3, "interleaved")
    assert half.weights == pytest.approx(interleaved.weights, abs=1e-14)


@pytest.mark.parametrize("beta", [1e4, 1e300])
def test_softmax_does_not_overflow(beta):
    run = attend(Decoder(beta=beta, mask=Bidirectional()), plane(0, 1, 2.5), layers=3)
    assert np.all(np.isfinite(run.weights))
    assert run.weights.sum(axis=-1) == pytest.approx(np.ones((3, 3)), abs=1e-15)
    assert run.weights[0] == pytest.approx(np.eye(3), abs=0)


@pytest.mark.parametrize("size", [1.0, 1e154, 1e300, 1e-160, 1e-300])
def test_a_direction_does_not_depend_on_the_size(size):
    """Squares of large numbers overflow and those of small ones vanish; the cosine of (3, 4) and (0, 5) is 4/5."""
    x = np.array([[3.0, 4.0], [0.0, 5.0]]) * size
    found = attend(Decoder(), x, 1)
    np.testing.assert_allclose(found.raw_scores[0], [[1, 0.8], [0.8, 1]], rtol=0, atol=1e-15)
    centred = attend(Decoder(norm="layernorm", scale="d"), np.array([[1.0, 2.0, 6.0], [0.0, 1.0, -1.0]]) * size, 1)
    # (-2, -1, 3) and (0, 1, -1), of squared norms 14 and 2 and product -4
    cosine = -4 / math.sqrt(28)
    np.testing.assert_allclose(centred.raw_scores[0], [[1, cosine], [cosine, 1]], rtol=0, atol=1e-15)


@pytest.mark.parametrize("norm", ["l2", "layernorm"])
def test_powers_of_two_change_no_bit_of_the_first_layer(norm):
    x = np.random.default_rng(1).standard_normal((3, 5, 8))
    scale = 8 if norm == "layernorm" else 1
    expected = attend(Decoder(norm=norm, scale=scale), x, 1).raw_scores
    for exponent in (-900, -500, 500, 900):
        np.testing.assert_array_equal(
            attend(Decoder(norm=norm, scale=scale), np.ldexp(x, exponent), 1).raw_scores, expected
        )


def test_very_different_sizes_in_one_sequence():
    x = np.array([[3e200, 4e200], [0.0, 5e-200]])
    np.testing.assert_allclose(attend(Decoder(), x, 1).raw_scores[0], [[1, 0.8], [0.8, 1]], rtol=0, atol=1e-15)


def test_a_length_that_overflows_is_no_length_zero():
    with pytest.raises(InvalidInput, match="overflows"):
        attend(Decoder(), np.full((2, 4), 1.7e308), 2)


def test_a_sum_that_overflows_is_refused():
    with pytest.raises(InvalidInput, match="overflows"):
        attend(Decoder(norm="none", residual=10**100), 1e150 * np.eye(2), layers=3)


@pytest.mark.parametrize("centred", [False, True])
@pytest.mark.parametrize("alpha", [0.0, 0.3, -1 / 4])  # the last makes the matrix singular
def test_realised_vectors_have_the_gram_matrix(alpha, centred):
    gram = equicorrelated(alpha, 5)
    x = realise(gram, 9, centred)
    assert x.shape == (5, 9)
    assert x @ x.T == pytest.approx(gram, abs=2e-15)
    if centred:
        assert x.sum(axis=1) == pytest.approx(np.zeros(5), abs=2e-15)


def test_a_singular_matrix_needs_less_width():
    assert realise(equicorrelated(-1 / 4, 5), 4).shape == (5, 4)


@pytest.mark.parametrize(
    ("gram", "d", "reason"),
    [
        (np.array([[1.0, 2.0], [2.0, 1.0]]), 2, "positive semidefinite"),
        (np.array([[1.0, 0.5], [0.4, 1.0]]), 2, "symmetric"),
        (np.array([[1.0, np.nan], [np.nan, 1.0]]), 2, "finite"),
        (np.ones((2, 3)), 2, "square"),
        (np.eye(3), 2, "d >= 3"),
        (np.eye(3), 0, "d >= 1"),
    ],
)
def test_impossible_gram_matrices(gram, d, reason):
    with pytest.raises(InvalidInput, match=reason):
        realise(gram, d)


def test_centred_vectors_need_one_more_dimension():
    with pytest.raises(InvalidInput, match="d >= 4"):
        realise(np.eye(3), 3, centred=True)


@pytest.mark.parametrize(
    ("decoder", "x", "layers", "reason"),
    [
        (Decoder(), np.ones(3), 1, "shape"),
        (Decoder(), np.ones((0, 3)), 1, "shape"),
        (Decoder(), np.array([[1.0, math.nan]]), 1, "finite"),
        (Decoder(), np.eye(2), 0, "layers >= 1"),
        (Decoder(), np.zeros((1, 2)), 1, "norm zero"),
        (Decoder(norm="layernorm"), np.ones((1, 2)), 1, "norm zero"),
        (Decoder(norm="layernorm"), np.ones((1, 1)), 1, "dim >= 2"),
        # Two opposite tokens average to zero, but for rounding.
        (Decoder(beta=0, residual=0, mask=Bidirectional()), plane(0.3, 0.3 + math.pi), 2, "norm zero"),
        (Decoder(position=Rope(dim=4)), np.eye(2), 1, "RoPE dim = 4"),
        (Decoder(mask=Prefix(3)), np.eye(2), 1, "prefix length"),
    ],
)
def test_bad_input(decoder, x, layers, reason):
    with pytest.raises(InvalidInput, match=reason):
        attend(decoder, x, layers)


def test_unknown_pairing():
    with pytest.raises(InvalidInput, match="pairing"):
        attend(Decoder(position=Rope(dim=2)), np.eye(2), 1, "pairs")  # pyright: ignore[reportArgumentType]
