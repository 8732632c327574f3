"""Position encodings: definitions, agreement of the three routes, refusals."""

import math
from fractions import Fraction

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from maskproof.numerics import mean_field
from maskproof.numerics.attention import attend
from maskproof.numerics.balls import enclose
from maskproof.numerics.gram import equicorrelated
from maskproof.numerics.vectors import realise, realise_planes
from maskproof.theory.decoder import (
    Alibi,
    Bidirectional,
    Blocks,
    Causal,
    Decoder,
    Dilated,
    Prefix,
    Rope,
    SlidingWindow,
    T5Bias,
)
from maskproof.theory.errors import InvalidInput
from maskproof.theory.position import bucket
from maskproof.theory.quantities import Record

N, DIM, LAYERS = 6, 4, 4
MASKS = [Causal(), Bidirectional(), SlidingWindow(3), Prefix(4), Dilated(2, 2), Blocks(2)]
POSITIONS = [
    None,
    Rope(50, DIM),
    Alibi(Fraction(1, 3)),
    T5Bias((0, Fraction(1, 2), -1, Fraction(1, 5)), (0, 1, Fraction(-1, 4)), max_distance=4),
]


def combinations():
    for mask in MASKS:
        for norm in ("l2", "layernorm", "none"):
            for position in POSITIONS:
                for scale in (1, "sqrt(d)") if norm != "none" else (1,):
                    yield Decoder(sympy.Rational(7, 5), sympy.Rational(2, 3), norm, scale, mask, position)


def vectors_for(decoder, gram):
    """Vectors on which the limit map is exact, by RoPE's blocks if there are any."""
    centred = decoder.norm == "layernorm"
    if isinstance(decoder.position, Rope):
        return realise_planes(gram, DIM, N + 1, centred)
    return realise(gram, (N + 1) * DIM, centred)


@pytest.mark.parametrize("decoder", list(combinations()))
@pytest.mark.parametrize("alpha", [0.0, 0.35, -0.1])
def test_three_routes_agree(decoder, alpha, vectors_agree, balls_agree):
    x = vectors_for(decoder, equicorrelated(alpha, N))
    d = x.shape[1]
    field = mean_field(decoder, alpha, N, LAYERS, dim=d)
    for pairing in ("half", "interleaved") if isinstance(decoder.position, Rope) else ("half",):
        vectors_agree(field, attend(decoder, x, LAYERS, pairing))
    balls_agree(decoder, field, enclose(decoder, alpha, N, LAYERS, dim=d))


def test_positions_change_something():
    plain = mean_field(Decoder(), 0.2, N, 3).weights[2]
    for position in POSITIONS[1:]:
        assert np.abs(mean_field(Decoder(position=position), 0.2, N, 3).weights[2] - plain).max() > 1e-3


@pytest.mark.parametrize("position", POSITIONS[:3])
def test_without_a_mask_the_map_is_its_own_mirror_image(position):
    # kappa and the linear bias are even, so reading the sequence backwards changes nothing.
    scores = mean_field(Decoder(mask=Bidirectional(), position=position), 0.3, 7, 4).scores
    assert scores == pytest.approx(scores[:, ::-1, ::-1], abs=1e-14)
    assert scores == pytest.approx(scores.swapaxes(1, 2), abs=1e-14)


@pytest.mark.parametrize("position", POSITIONS)
@pytest.mark.parametrize("mask", [Causal(), SlidingWindow(3), Prefix(2)])
def test_rows_do_not_see_later_tokens(mask, position):
    decoder = Decoder(mask=mask, position=position)
    long, short = (mean_field(decoder, 0.3, n, 4).scores for n in (8, 5))
    assert long[:, :5, :5] == pytest.approx(short, abs=1e-14, nan_ok=True)


def test_alibi_by_hand():
    # Orthogonal inputs: scores 0 but for the token itself; the bias alone weighs the others.
    weights = mean_field(Decoder(beta=2, position=Alibi(Fraction(1, 2))), 0, 3, 1).weights[0, 2]
    powers = np.array([math.exp(-1), math.exp(-0.5), math.exp(2)])
    assert weights == pytest.approx(powers / powers.sum(), abs=1e-15)


def test_a_bias_leaves_scores_of_layer_one_alone():
    for position in POSITIONS[2:]:
        scores = mean_field(Decoder(position=position), 0.3, N, 1).scores
        assert scores == pytest.approx(mean_field(Decoder(), 0.3, N, 1).scores, nan_ok=True)


@pytest.mark.parametrize("mask", MASKS)
def test_a_constant_bias_is_none(mask):
    constant = Decoder(mask=mask, position=T5Bias((3,) * 4, (3,) * 4, 4))
    assert mean_field(constant, 0.2, N, 3).scores == pytest.approx(
        mean_field(Decoder(mask=mask), 0.2, N, 3).scores, abs=1e-13, nan_ok=True
    )


def test_t5_with_one_bucket_a_distance_is_alibi():
    slope = Fraction(1, 7)
    t5 = T5Bias(tuple(-slope * distance for distance in range(2 * N)), max_distance=2 * N)
    one, two = (mean_field(Decoder(position=p), 0.2, N, 3).weights for p in (t5, Alibi(slope)))
    assert one == pytest.approx(two, abs=1e-14)


def test_a_huge_bias_does_not_overflow():
    decoder = Decoder(position=T5Bias((10**300, -(10**300)), max_distance=2))
    assert mean_field(decoder, 0, N, 2).weights[1] == pytest.approx(np.eye(N))
    assert attend(decoder, np.eye(N), 2).weights[1] == pytest.approx(np.eye(N))


def published_bucket(distance, buckets, max_distance):
    """The formula as published, in floating point."""
    exact = buckets // 2
    if distance < exact:
        return distance
    growth = math.log(distance / exact) / math.log(max_distance / exact)
    return min(exact + int(growth * (buckets - exact)), buckets - 1)


@given(st.integers(0, 10**6), st.integers(2, 40), st.integers(1, 1000))
def test_buckets_are_those_published(distance, buckets, more):
    max_distance = buckets // 2 + more
    found = bucket(distance, buckets, max_distance)
    # At an edge the published logarithm may round to either side.
    edge = {published_bucket(distance * (1 + shift), buckets, max_distance) for shift in (-1e-9, 0, 1e-9)}
    assert found in edge


def test_buckets_at_an_edge():
    # 16 = 4 * (64/4)^(2/4): exactly the start of bucket 4 + 2.
    assert [bucket(distance, 8, 64) for distance in (15, 16, 17, 63, 64)] == [5, 6, 6, 7, 7]


@pytest.mark.parametrize("position", POSITIONS)
@pytest.mark.parametrize("mask", MASKS)
def test_models_survive_as_sympy_trees(mask, position):
    decoder = Decoder(mask=mask, position=position)
    assert Record.read(Record.of(decoder)) == decoder


@pytest.mark.parametrize(
    ("build", "reason"),
    [
        (lambda: Rope(dim=5), "dim is even"),
        (lambda: Rope(dim=0), "dim >= 1"),
        (lambda: Rope(base=1), "base > 1"),
        (lambda: SlidingWindow(0), "width >= 1"),
        (lambda: Prefix(0), "length >= 1"),
        (lambda: Alibi(-1), "slope >= 0"),
        (lambda: Alibi(math.nan), "slope is finite"),
        (lambda: T5Bias((1,)), "at least two"),
        (lambda: T5Bias(3), "tuple of numbers"),  # pyright: ignore[reportArgumentType]
        (lambda: T5Bias((0, math.inf)), "finite"),
        (lambda: T5Bias((0, 1, 2, 3), max_distance=2), "max_distance > 2"),
        (lambda: T5Bias((0, 1), later=(0,)), "at least two"),
        (lambda: Decoder(mask=Bidirectional(), position=T5Bias((0, 1))), "every visible key"),
        (lambda: Decoder(mask=Prefix(2), position=T5Bias((0, 1))), "every visible key"),
        (lambda: Decoder(position="rope"), "position is known"),  # pyright: ignore[reportArgumentType]
        (lambda: mean_field(Decoder(mask=Prefix(4)), 0, 3, 1), "prefix length"),
        (lambda: mean_field(Decoder(norm="layernorm", position=Alibi(1)), 0, 3, 1, dim=1), "dim >= 2"),
        (lambda: mean_field(Decoder(position=Rope(dim=8)), 0, 3, 1, dim=12), "divides the width"),
        (lambda: enclose(Decoder(position=Rope(dim=8)), 0, 3, 1, dim=12), "divides the width"),
        (lambda: attend(Decoder(position=Rope(dim=8)), np.eye(12), 1), "divides the width"),
        (lambda: mean_field(Decoder(position=Alibi(sympy.Symbol("a"))), 0, 3, 1), "substitute"),
        (lambda: enclose(Decoder(position=Rope(sympy.Symbol("b", positive=True))), 0, 3, 1), "substitute"),
    ],
)
def test_inadmissible(build, reason):
    with pytest.raises(InvalidInput, match=reason) as caught:
        build()
    assert "\n" not in str(caught.value)


def test_a_prefix_of_one_is_causal():
    decoder = Decoder(mask=Prefix(1), position=T5Bias((0, 1)))
    assert mean_field(decoder, 0, 4, 2).weights == pytest.approx(
        mean_field(Decoder(position=T5Bias((0, 1))), 0, 4, 2).weights
    )
