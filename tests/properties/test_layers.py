"""Properties of the layer map, over random decoders, inputs and positions."""

from fractions import Fraction

import numpy as np
import pytest
import sympy
from flint import arb
from hypothesis import assume, event, example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from maskproof.numerics import mean_field
from maskproof.numerics.attention import attend
from maskproof.numerics.balls import decide, enclose, equal, less
from maskproof.numerics.gram import equicorrelated, recursion
from maskproof.numerics.vectors import realise
from maskproof.theory.decoder import Bidirectional, Blocks, Causal, Decoder, Dilated, Prefix, Rope, SlidingWindow

EPS = float(np.finfo(np.float64).eps)

positive_alphas = st.fractions(0, 1, max_denominator=1000).filter(lambda a: a < 1)
betas = st.fractions(0, 10, max_denominator=100)
residuals = st.fractions(0, 5, max_denominator=100)


@st.composite
def pairs(draw, longest=12):
    """A query i and a key j < i."""
    i = draw(st.integers(2, longest))
    return i, draw(st.integers(1, i - 1))


@st.composite
def alphas_for(draw, n):
    """A cosine that n vectors can share."""
    return draw(st.fractions(Fraction(-1, max(1, n - 1)), 1, max_denominator=1000).filter(lambda a: a < 1))


@st.composite
def masks(draw, n, causal=False):
    whole = st.integers(1, n + 2)
    kinds = [st.just(Causal()), whole.map(SlidingWindow), st.builds(Dilated, whole, whole), whole.map(Blocks)]
    if not causal:
        kinds += [st.just(Bidirectional()), st.integers(1, n).map(Prefix)]
    return draw(st.one_of(kinds))


@st.composite
def decoders(draw, n, norms=("l2", "layernorm", "none"), causal=False):
    """A decoder whose scores stay moderate, so that rounding errors do."""
    return Decoder(
        beta=draw(st.fractions(0, 2, max_denominator=20)),
        residual=draw(st.fractions(Fraction(1, 10), 1, max_denominator=20)),
        norm=draw(st.sampled_from(norms)),
        scale=draw(st.sampled_from([1, Fraction(3, 2), "sqrt(d)", "d"])),
        mask=draw(masks(n, causal)),
    )


@st.composite
def tokens(draw, n, d):
    """Token vectors: Gaussian, from a seed that Hypothesis chooses."""
    return np.random.default_rng(draw(st.integers(0, 2**32 - 1))).normal(size=(n, d))


# Layer two, certified in balls


@settings(deadline=None)
@given(alpha=positive_alphas, beta=betas, residual=residuals, at=pairs(), more=st.integers(0, 3))
@example(Fraction(0), Fraction(0), Fraction(0), (2, 1), 0)
@example(Fraction(999, 1000), Fraction(0), Fraction(0), (12, 1), 0)
@example(Fraction(0), Fraction(10), Fraction(5), (12, 10), 0)
def test_layer_two_scores_increase_strictly_in_the_key(alpha, beta, residual, at, more):
    i, j = at

    def increases(bits):
        result = enclose(Decoder(beta, residual), alpha, i + more, 2, precision=bits)
        return less(result.score(2, i, j), result.score(2, i, j + 1))

    assert decide(increases).answer is True


@settings(deadline=None)
@given(data=st.data(), beta=betas, residual=residuals, n=st.integers(3, 10))
def test_order_of_layer_two_has_the_sign_of_the_gram_entry(data, beta, residual, n):
    alpha = data.draw(st.fractions(Fraction(-1, n - 1), 0, max_denominator=1000).filter(lambda a: a < 0))
    i = data.draw(st.integers(3, n))
    j = data.draw(st.integers(1, i - 2))
    decoder = Decoder(beta, residual)

    def positive(bits):
        return less(0, enclose(decoder, alpha, n, 1, precision=bits).gram(1, i, j))

    def increases(bits):
        result = enclose(decoder, alpha, n, 2, precision=bits)
        return less(result.score(2, i, j), result.score(2, i, j + 1))

    sign = decide(positive, cap=512).answer
    assume(sign is not None)  # g = 0 exactly, or a vanishing vector: see the tests below
    event(f"g > 0: {sign}")
    assert decide(increases).answer is sign


@pytest.mark.parametrize(("beta", "rising"), [(0, True), (3, False)])
def test_both_signs_occur(beta, rising):
    result = enclose(Decoder(beta=beta, residual=0), Fraction(-1, 10), 5, 2)
    assert less(0, result.gram(1, 5, 1)) is rising
    assert less(result.score(2, 5, 2), result.score(2, 5, 3)) is rising


def test_scores_are_zero_where_the_gram_entry_is():
    # alpha = -1/5, beta = 0, residual = 1: g(i) = 0 at i = 3.
    score = mean_field(Decoder(beta=0), Fraction(-1, 5), 6, 2).scores[1]
    # Sums of three terms of size 1 over norms of size 1.
    assert np.abs(score[2, :2]).max() < 16 * EPS
    assert score[1, 0] > 0 > score[3, 0]


# The layer map in floating point


@settings(deadline=None)
@given(data=st.data(), n=st.integers(1, 9), layers=st.integers(1, 4))
def test_rows_of_weights_sum_to_one(data, n, layers):
    decoder = data.draw(decoders(n))
    x = data.draw(tokens(n, 10))
    run = attend(decoder, x, layers)
    # n positive terms, each divided by their rounded sum.
    assert np.abs(run.weights.sum(axis=-1) - 1).max() <= 2 * n * EPS
    assert run.weights.min() >= 0
    for i in range(1, n + 1):
        hidden = [key - 1 for key in range(1, n + 1) if key not in decoder.mask.keys(i, n)]
        assert np.all(run.weights[:, i - 1, hidden] == 0)


@settings(deadline=None)
@given(
    alpha=positive_alphas,
    beta=st.one_of(betas, st.just(Fraction(10**4))),
    residual=residuals,
    n=st.integers(1, 12),
    layers=st.integers(1, 4),
)
def test_scores_are_cosines(alpha, beta, residual, n, layers):
    decoder = Decoder(beta, residual, mask=Bidirectional())  # no mask: every score is shown
    scores = mean_field(decoder, alpha, n, layers).scores
    # With alpha >= 0 all numbers are sums of non-negative terms, so a layer changes the Gram matrix by a
    # relative error of at most 8 n eps an entry, and the congruence M K M^T hands earlier ones on unchanged.
    rounding = 16 * n * layers * EPS
    assert np.array_equal(scores, np.swapaxes(scores, 1, 2))
    assert np.abs(np.diagonal(scores, axis1=1, axis2=2) - 1).max() <= 4 * EPS
    assert np.abs(scores).max() <= 1 + rounding


@settings(deadline=None)
@given(data=st.data(), n=st.integers(1, 8), layers=st.integers(1, 4))
def test_literal_scores_are_cosines(data, n, layers):
    run = attend(data.draw(decoders(n, norms=("l2",))), data.draw(tokens(n, 5)), layers)
    scale = run.raw_scores[0, 0, 0]  # 1/scale: the cosine of a vector with itself, divided
    # Inner products of 5 terms between vectors normalised to a few eps.
    rounding = 16 * EPS * scale
    assert np.abs(run.raw_scores - np.swapaxes(run.raw_scores, 1, 2)).max() <= rounding
    assert np.abs(np.diagonal(run.raw_scores, axis1=1, axis2=2) - scale).max() <= rounding
    assert np.abs(run.raw_scores).max() <= scale + rounding


@settings(deadline=None)
@given(data=st.data(), n=st.integers(1, 8), layers=st.integers(1, 4))
def test_rotating_all_tokens_changes_no_score(data, n, layers):
    d = 6
    decoder = data.draw(decoders(n, norms=("l2", "none")))
    x = data.draw(tokens(n, d)) / np.sqrt(d)
    rotation, _ = np.linalg.qr(data.draw(tokens(d, d)))
    plain, turned = attend(decoder, x, layers), attend(decoder, x @ rotation, layers)
    assert_close(turned.raw_scores, plain.raw_scores)
    assert_close(turned.vectors, plain.vectors @ rotation)


@settings(deadline=None)
@given(data=st.data(), n=st.integers(2, 9), layers=st.integers(1, 4), rope=st.booleans())
def test_causality(data, n, layers, rope):
    d, i = 8, data.draw(st.integers(1, n - 1))
    decoder = data.draw(decoders(n, causal=True))
    if rope:
        decoder = Decoder(decoder.beta, decoder.residual, decoder.norm, decoder.scale, decoder.mask, Rope(100, d))
    x = data.draw(tokens(n, d)) / np.sqrt(d)
    other = np.concatenate([x[:i], data.draw(tokens(n - i, d))])
    one, two = attend(decoder, x, layers), attend(decoder, other, layers)
    assert_close(one.vectors[:, :i], two.vectors[:, :i])
    assert_close(one.weights[:, :i], two.weights[:, :i])


@settings(deadline=None)
@given(data=st.data(), n=st.integers(2, 9), layers=st.integers(1, 4))
def test_the_first_rows_do_not_depend_on_the_length(data, n, layers):
    i = data.draw(st.integers(1, n - 1))
    decoder, alpha = data.draw(decoders(n, causal=True)), data.draw(alphas_for(n))
    long, short = (mean_field(decoder, alpha, size, layers, dim=16) for size in (n, i))
    assert_close(long.gram[:, :i, :i], short.gram)
    balls_long, balls_short = (enclose(decoder, alpha, size, layers, dim=16) for size in (n, i))
    for layer in range(1, layers + 1):
        assert equal(balls_long.score(layer, i, i), balls_short.score(layer, i, i)) is not False
        assert balls_long.gram(layer, i, 1).overlaps(balls_short.gram(layer, i, 1))


@settings(deadline=None)
@given(data=st.data(), n=st.integers(1, 7), layers=st.integers(1, 4))
def test_three_routes_agree(data, n, layers):
    d = n + 2
    decoder, alpha = data.draw(decoders(n)), data.draw(alphas_for(n))
    field = mean_field(decoder, alpha, n, layers, dim=d)
    gram = equicorrelated(float(alpha), n)
    run = attend(decoder, realise(gram, d, centred=decoder.norm == "layernorm"), layers)
    assert_close(field.scores, run.scores)
    assert_close(field.weights, run.weights)
    assert_close(field.gram, run.vectors @ np.swapaxes(run.vectors, 1, 2))
    balls = enclose(decoder, alpha, n, layers, dim=d)
    for i in range(1, n + 1):
        assert_close(np.array(float(balls.score(layers, i, i))), field.scores[-1, i - 1, i - 1])
        for j in range(1, n + 1):
            assert_close(np.array(float(balls.gram(layers, i, j))), field.gram[-1, i - 1, j - 1])


@settings(deadline=None)
@given(
    x=arrays(np.float64, (5, 4), elements=st.floats(-1, 1, allow_subnormal=False)),
    layers=st.integers(1, 3),
)
def test_the_gram_matrix_is_all_that_matters(x, layers):
    x = np.eye(5, 4) * 3 + x  # keeps every vector but the last away from zero
    x[4, 0] += 3
    decoder = Decoder(beta=sympy.Rational(3, 2))
    assert_close(recursion(decoder, x @ x.T, layers).scores, attend(decoder, x, layers).scores)


@settings(deadline=None)
@given(alpha=positive_alphas, beta=betas, residual=residuals)
def test_an_interval_encloses_its_centre(alpha, beta, residual):
    width = 1e-3
    centre = arb(alpha.numerator) / alpha.denominator
    wide = enclose(Decoder(beta, residual), centre + arb(0, width), 4, 2).score(2, 4, 2)
    narrow = enclose(Decoder(beta, residual), alpha, 4, 2).score(2, 4, 2)
    assert wide.contains(narrow) or not wide.is_finite()


def assert_close(one, two):
    """Equal to 1e-12 of the largest entry, or of 1; NaN in the same places.

    Four layers of at most nine tokens with moderate beta and scores lose about two of sixteen digits.
    """
    assert np.array_equal(np.isnan(one), np.isnan(two))
    size = max(1.0, float(np.nanmax(np.abs(two))))
    assert np.nanmax(np.abs(one - two)) <= 1e-12 * size
