"""The Gram recursion: agreement with the other routes, known numbers, bad input."""

import math

import numpy as np
import pytest
import sympy

from maskproof.numerics import mean_field
from maskproof.numerics.attention import attend
from maskproof.numerics.balls import enclose
from maskproof.numerics.gram import equicorrelated, recursion
from maskproof.numerics.vectors import realise
from maskproof.theory.decoder import Bidirectional, Blocks, Causal, Decoder, Dilated, Prefix, Rope, SlidingWindow
from maskproof.theory.errors import InvalidInput
from maskproof.theory.symbols import alpha as alpha_symbol
from maskproof.theory.symbols import beta as beta_symbol

MASKS = [Causal(), Bidirectional(), SlidingWindow(3), Prefix(4), Dilated(2, 2), Blocks(2)]


def cases():
    for mask in MASKS:
        for norm in ("l2", "layernorm", "none"):
            for scale in (1, "sqrt(d)", "d", sympy.Rational(3, 2)):
                yield Decoder(sympy.Rational(7, 5), sympy.Rational(2, 3), norm, scale, mask)


@pytest.mark.parametrize("decoder", list(cases()))
@pytest.mark.parametrize("alpha", [0.0, 0.35, -0.1])
def test_three_routes_agree(decoder, alpha, vectors_agree, balls_agree):
    n, d, layers = 6, 9, 4
    field = mean_field(decoder, alpha, n, layers, dim=d)
    x = realise(equicorrelated(alpha, n), d, decoder.norm == "layernorm")
    vectors_agree(field, attend(decoder, x, layers))
    balls_agree(decoder, field, enclose(decoder, alpha, n, layers, dim=d))


def test_a_general_gram_matrix_and_a_batch():
    x = np.random.default_rng(11).normal(size=(4, 5, 7))
    x[3] *= 100
    result = recursion(Decoder(beta=2), x @ np.swapaxes(x, -1, -2), layers=3)
    run = attend(Decoder(beta=2), x, layers=3)
    assert result.scores.shape == (3, 4, 5, 5)
    assert result.scores == pytest.approx(run.scores, abs=1e-12, nan_ok=True)


def test_shapes_and_hidden_entries():
    field = mean_field(Decoder(), 0, n=4, layers=3)
    assert field.scores.shape == field.weights.shape == field.gram.shape == (3, 4, 4)
    assert field.scores.dtype == field.weights.dtype == field.gram.dtype == np.float64
    above = np.triu_indices(4, 1)
    assert np.all(np.isnan(field.scores[:, above[0], above[1]]))
    assert np.all(field.weights[:, above[0], above[1]] == 0)


def test_one_token():
    field = mean_field(Decoder(), sympy.Rational(-1, 2), n=1, layers=2)
    assert field.scores.tolist() == [[[1]], [[1]]]
    assert field.gram.tolist() == [[[4]], [[9]]]


def test_first_layer_by_hand():
    field = mean_field(Decoder(beta=2), 0.25, n=3, layers=1)
    r = math.exp(2 * 0.75)
    assert field.scores[0, 2].tolist() == [0.25, 0.25, 1]
    assert field.weights[0, 2] == pytest.approx([1 / (r + 2), 1 / (r + 2), r / (r + 2)], abs=1e-15)


def test_first_failures_in_float():
    # The differences (1e-5 and more) exceed rounding by nine orders; test_balls.py certifies them.
    field = mean_field(Decoder(), 0, n=50, layers=5)
    failing = np.diff(field.scores, axis=-1) < 0
    assert [int(layer.sum()) for layer in failing] == [0, 0, 223, 110, 2]
    assert (np.argwhere(failing[2])[0] + 1).tolist() == [27, 25]
    assert (np.argwhere(failing[3])[0] + 1).tolist() == [33, 31]
    assert (np.argwhere(failing[4])[0] + 1).tolist() == [49, 47]
    drop = field.scores[2, 26, 25] - field.scores[2, 26, 24]
    assert drop == pytest.approx(-1.72901540190207968e-5, abs=1e-14)


def test_scores_without_normalisation_are_flat_in_layer_two():
    field = mean_field(Decoder(norm="none"), 0.2, n=8, layers=2)
    for i in range(2, 8):
        assert np.ptp(field.scores[1, i, :i]) < 1e-14


def test_layernorm_is_l2_with_a_smaller_residual():
    # LayerNorm against unit inputs: after layer 1 everything is sqrt(d) times l2 with residual 1/sqrt(d).
    layernorm = mean_field(Decoder(norm="layernorm", scale="d"), 0.2, n=6, layers=1, dim=64)
    l2 = mean_field(Decoder(residual=sympy.Rational(1, 8)), 0.2, n=6, layers=1)
    assert layernorm.gram == pytest.approx(64 * l2.gram, rel=1e-13)


def test_layernorm_with_inputs_of_norm_root_d_is_l2():
    gram = equicorrelated(0.2, 6)
    layernorm = recursion(Decoder(norm="layernorm", scale="d"), 16 * gram, layers=4, dim=16)
    assert layernorm.scores == pytest.approx(mean_field(Decoder(), 0.2, 6, 4).scores, abs=1e-13, nan_ok=True)


@pytest.mark.parametrize("decoder", [Decoder(beta=10**4), Decoder(beta=10**300, scale=0.001)])
@pytest.mark.parametrize("alpha", [0.0, 0.5, -0.2])
def test_softmax_does_not_overflow(decoder, alpha):
    field = mean_field(decoder, alpha, n=6, layers=4)
    assert np.all(np.isfinite(field.gram))
    assert field.weights[0] == pytest.approx(np.eye(6), abs=0)
    assert field.weights.sum(axis=-1) == pytest.approx(np.ones((4, 6)), abs=1e-15)


def test_a_float_at_the_lower_bound_is_the_bound():
    # The decimal of -1/11 is a little below -1/11.
    assert mean_field(Decoder(), -1 / 11, n=12, layers=1).gram[0, 0, 0] == 4


@pytest.mark.parametrize(
    ("decoder", "alpha", "n", "layers", "dim", "reason"),
    [
        (Decoder(), 0, 0, 1, None, "n >= 1"),
        (Decoder(), 0, 2.5, 1, None, "'n is an integer'"),
        (Decoder(), 0, 2, 0, None, "layers >= 1"),
        (Decoder(), 1, 2, 1, None, "alpha < 1"),
        (Decoder(), 1.5, 2, 1, None, "alpha < 1"),
        (Decoder(), -0.6, 3, 1, None, "alpha >= -1/2"),
        (Decoder(), -2, 1, 1, None, "alpha >= -1"),
        (Decoder(), math.nan, 2, 1, None, "alpha is finite"),
        (Decoder(), math.inf, 2, 1, None, "alpha is finite"),
        (Decoder(), "0", 2, 1, None, "real number"),
        (Decoder(), alpha_symbol, 2, 1, None, "substitute"),
        (Decoder(beta=beta_symbol), 0, 2, 1, None, "substitute"),
        (Decoder(beta=10**400), 0, 2, 1, None, "1.8e308"),
        (Decoder(residual=sympy.Rational(1, 10**400)), 0, 2, 1, None, "use 0"),
        (Decoder(norm="layernorm", scale="sqrt(d)"), 0, 2, 1, None, "give dim"),
        (Decoder(norm="layernorm"), 0, 2, 1, 1, "dim >= 2"),
        (Decoder(scale="d"), 0, 2, 1, None, "give dim"),
        (Decoder(scale="d"), 0, 2, 1, 0, "dim >= 1"),
        (Decoder(position=Rope()), 0, 2, 1, 96, "dim divides the width"),
        (Decoder(mask=Prefix(3)), 0, 2, 1, None, "prefix length"),
        (Decoder(norm="none", residual=10**100), 0, 2, 3, None, "overflows"),
    ],
)
def test_bad_input(decoder, alpha, n, layers, dim, reason):
    with pytest.raises(InvalidInput, match=reason) as caught:
        mean_field(decoder, alpha, n, layers, dim)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("n", [2, 3, 4, 7, 12, 50])
@pytest.mark.parametrize("mask", [Causal(), Bidirectional()])
def test_a_vanishing_vector_is_refused(n, mask):
    # beta = residual = 0 averages all tokens, and at the smallest alpha their sum is zero.
    with pytest.raises(InvalidInput, match="norm zero"):
        mean_field(Decoder(beta=0, residual=0, mask=mask), sympy.Rational(-1, n - 1), n, layers=2)


def test_a_nearly_vanishing_vector_is_refused_rather_than_guessed():
    # |x_2'| = 1e-9 next to rounding errors of 1e-16 in its square.
    decoder = Decoder(beta=0, residual=sympy.Rational(1, 10**9))
    with pytest.raises(InvalidInput, match="norm zero"):
        mean_field(decoder, -1, n=2, layers=2)


@pytest.mark.parametrize("gram", [np.ones(3), np.ones((2, 3)), np.ones((0, 0)), np.array([[np.nan]]), np.zeros((2, 2))])
def test_bad_gram_matrices(gram):
    with pytest.raises(InvalidInput):
        recursion(Decoder(), gram, layers=1)
