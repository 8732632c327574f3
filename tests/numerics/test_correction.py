"""The coefficient of 1/d in balls, against three routes that share nothing with it.

Closed forms (``theory.finite_width``, ``theory.cosine``), expectations at finite width (quadrature, and Monte Carlo
with no knowledge of second moments), and second differences of the layer map itself. The float algebra of
``numerics.moments`` is compared, too.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import flint
import mpmath
import numpy as np
import pytest
import sympy
from flint import arb, arb_mat
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy import Rational

from maskproof.numerics import quadrature
from maskproof.numerics.balls import Enclosure, Layer, ball, model_in_balls, one_layer, working_precision
from maskproof.numerics.correction import correction_balls
from maskproof.numerics.layers import QUANTITIES, layer_of
from maskproof.numerics.moments import mean_coefficients
from maskproof.numerics.monte_carlo import expected_scores
from maskproof.numerics.noise import noise_of
from maskproof.numerics.sampling import law_of
from maskproof.theory import finite_width as fw
from maskproof.theory.cosine import leading_sampler_bias, mean_cosine_shared_gaussian
from maskproof.theory.decoder import Alibi, Bidirectional, Blocks, Decoder, Dilated, Prefix, Rope, SlidingWindow
from maskproof.theory.errors import InvalidInput
from maskproof.theory.inputs import Equicorrelated, SharedGaussian, Sphere
from maskproof.theory.symbols import alpha, beta, i, j, lam

Law = Sphere | SharedGaussian
LAWS: list[Law] = [
    Sphere(64), Sphere(64, 0.3), SharedGaussian(64, 0), SharedGaussian(64, 0.3), SharedGaussian(64, 0.3, unit=False),
]  # fmt: skip
DECODERS = [
    Decoder(),
    Decoder(residual=0, beta=3),
    Decoder(beta=0, residual=0.5),
    Decoder(beta=2, residual=0.5, mask=Bidirectional()),
    Decoder(norm="none", mask=SlidingWindow(3)),
    Decoder(norm="none", beta=0.5, mask=Prefix(2)),
    Decoder(mask=SlidingWindow(3), beta=1.5, scale=3),
    Decoder(mask=Prefix(3), beta=0.5, residual=2, scale=3),
    Decoder(mask=Dilated(2, 2), beta=1.5),
    Decoder(norm="none", mask=Blocks(2), residual=0.5),
]


@pytest.fixture(autouse=True)
def _precise() -> Iterator[None]:
    """Differences of balls are taken in more bits than the balls have."""
    with working_precision(256):
        yield


def entries(enclosure: Enclosure, name: str, decoder: Decoder) -> dict[tuple[int, int, int], arb]:
    """All coefficients of one kind that the mask shows, by layer, query and key."""
    n, found = enclosure.n, {}
    for layer, query in itertools.product(range(1, len(enclosure.layers) + 1), range(1, n + 1)):
        for key in decoder.mask.keys(query, n):
            found[layer, query, key] = getattr(enclosure, name)(layer, query, key)
    return found


# From an independent computation in truncated Taylor arithmetic, printed to 15 digits.
@pytest.mark.parametrize(
    ("layer", "query", "key", "expected"),
    [
        (2, 2, 1, "-0.162369895736007"),
        (2, 12, 5, "-0.149981784046868"),
        (3, 12, 5, "-0.542053952566557"),
        (2, 12, 11, "-0.193121565463889"),
    ],
)
def test_known_values(layer: int, query: int, key: int, expected: str) -> None:
    found = correction_balls(Decoder(), Sphere(64), 12, 3).score(layer, query, key)
    assert found.rad() < 1e-25
    assert abs(found - arb(expected)) < arb("0.6e-15")


# ------------------------------------------------------------------------------------------ closed forms

_number = st.decimals(0, 3, places=2).map(str)


@settings(max_examples=10)
@given(
    st.decimals(0, "0.95", places=2).map(str), _number, _number, st.integers(2, 7),
)  # fmt: skip
def test_closed_forms_of_scores_and_weights(a: str, b: str, lam_: str, n: int) -> None:
    """Random models: every entry agrees to 1e-20."""
    model = {alpha: Rational(a), beta: Rational(b), lam: Rational(lam_)}
    decoder = Decoder(beta=model[beta], residual=model[lam])
    found = correction_balls(decoder, Sphere(64, model[alpha]), n, 2, scores_only=True)
    score, weight, own = (
        sympy.lambdify((i, j), formula.xreplace(model), "mpmath", cse=True)
        for formula in (fw.score_correction(), fw.weight_correction(), fw.weight_correction(i, i))
    )
    with mpmath.workdps(40):
        for query in range(1, n + 1):
            pairs = [(found.weight(1, query, query), own(mpmath.mpf(query), 0))]
            for key in range(1, query):
                at = mpmath.mpf(query), mpmath.mpf(key)
                pairs += [(found.weight(1, query, key), weight(*at)), (found.score(2, query, key), score(*at))]
            for entry, value in pairs:
                assert entry.rad() < 1e-20
                assert abs(entry - arb(mpmath.nstr(value, 35))) < arb("1e-20")


@pytest.mark.parametrize("a", ["0", "1/10", "1/2", "99/100"])
def test_the_bias_of_the_samplers_cosine(a: str) -> None:
    law = SharedGaussian(64, Rational(a))
    expected = sympy.sympify(leading_sampler_bias(law.alpha))
    found = correction_balls(Decoder(), law, 3, 1)
    for query, key in ((2, 1), (3, 1), (3, 2)):
        assert abs(found.score(1, query, key) - arb(int(expected.p)) / int(expected.q)) < arb("1e-30")


def test_the_bias_of_the_samplers_cosine_is_what_its_mean_leaves() -> None:
    """d^2 (E - alpha - c/d) has a limit: each doubling of d changes it by half as much as the one before."""
    a = Rational(1, 3)
    c = Rational(str(correction_balls(Decoder(), SharedGaussian(64, a), 2, 1).score(1, 2, 1).str(30, radius=False)))
    widths = [256, 512, 1024, 2048]
    rest = [float((mean_cosine_shared_gaussian(a, d) - a - c / d).evalf(30) * d**2) for d in widths]
    steps = np.diff(rest)
    assert np.all(np.abs(steps[1:] / steps[:-1] - 0.5) < 0.02)


# --------------------------------------------------------------------------------- the layer map itself


def directions(law: Law, n: int) -> tuple[np.ndarray, list[np.ndarray]]:
    """Gram matrix without noise and the directions of its noise, each of variance 1/d, as matrices of ``arb``."""
    a = ball(law.alpha, "alpha")
    unit = np.array([[arb(int(k == m)) for k in range(n)] for m in range(n)])
    ones: np.ndarray = np.array([arb(1)] * n)
    if isinstance(law, Sphere):
        found = []
        for k, m in combinations(range(n), 2):
            found.append((1 - a) * (np.outer(unit[k], unit[m]) + np.outer(unit[m], unit[k])))
        return (1 - a) * unit + a * np.outer(ones, ones), found
    mixing = np.column_stack([unit, (a / (1 - a)).sqrt() * ones])  # x_i = g_i + sqrt(alpha/(1-alpha)) g_0
    found = []
    for k, m in itertools.combinations_with_replacement(range(n + 1), 2):
        outer = np.outer(mixing[:, k], mixing[:, m])
        found.append(arb(2).sqrt() * outer if k == m else outer + outer.T)
    return mixing @ mixing.T, found


def literal(decoder: Decoder, law: Law, gram: np.ndarray, layers: int) -> list[Layer]:
    n = len(gram)
    if isinstance(law, SharedGaussian) and law.unit:
        gram = np.array([[gram[k, m] / (gram[k, k] * gram[m, m]).sqrt() for m in range(n)] for k in range(n)])
    current, found = arb_mat(gram.tolist()), []
    for _ in range(layers):
        found.append(one_layer(model_in_balls(decoder, n), current))
        current = found[-1].gram
    return found


@pytest.mark.parametrize("law", LAWS, ids=str)
@pytest.mark.parametrize("decoder", [*DECODERS, Decoder(position=Alibi(Rational(1, 2)))], ids=str)
def test_second_differences_of_the_layer_map(decoder: Decoder, law: Law) -> None:
    """Sum over the noise of (Q(K + tD) - 2 Q(K) + Q(K - tD)) / (2 t^2), at t = 1e-20 with 600 bits."""
    n, layers = 4, 3
    found = correction_balls(decoder, law, n, layers)
    with working_precision(600):
        step = arb("1e-20")
        gram, noise = directions(law, n)
        middle = Enclosure(n, 600, tuple(literal(decoder, law, gram, layers)))
        moved = [
            Enclosure(n, 600, tuple(literal(decoder, law, gram + sign * step * direction, layers)))
            for direction in noise
            for sign in (1, -1)
        ]
        for name in ("score", "weight", "mix", "gram"):
            here = entries(middle, name, decoder)
            there = [entries(enclosure, name, decoder) for enclosure in moved]
            for at, entry in entries(found, name, decoder).items():
                second = sum((values[at] - here[at] for values in there), arb(0)) / (2 * step**2)
                assert entry.rad() < 1e-25
                assert abs(second - entry) < arb("1e-25")


@pytest.mark.parametrize("law", LAWS, ids=str)
@pytest.mark.parametrize("decoder", DECODERS, ids=str)
def test_floats_agree(decoder: Decoder, law: Law) -> None:
    n, layers = 9, 3
    found = correction_balls(decoder, law, n, layers)
    sampled = law_of(law, decoder)
    layer = layer_of(decoder, n, sampled.d)
    noise = noise_of(sampled, layer)
    assert noise is not None
    for quantity in QUANTITIES:
        # c is per 1/d, the floats' mean per variance 1/d or 1/(d - 1) of an entry of the noise
        expected = mean_coefficients(noise, layer, layers, quantity, order=2).second
        size = np.abs(expected).max()
        for (level, query, key), entry in entries(found, quantity.rstrip("s"), decoder).items():
            assert float(entry) == pytest.approx(expected[level - 1, query - 1, key - 1], abs=1e-12 * max(1, size))


# ------------------------------------------------------------------------------- expectations at a width


@pytest.mark.parametrize("model", [(0, 1, 1), (0.3, 1, 1), (0, 2.5, 0), (0.6, 3, 0.5)], ids=str)
def test_exact_expectations_of_three_tokens(model: tuple[float, float, float]) -> None:
    """The remainder after c/d falls as 1/d^2, in layers two and three."""
    decoder, widths = Decoder(beta=model[1], residual=model[2]), np.array([128, 256, 512, 1024])
    found = correction_balls(decoder, Sphere(64, model[0]), 3, 3)
    exact = [quadrature.expected_attention(decoder, Sphere(int(d), model[0]), 3, layers=3) for d in widths]
    limit = literal(decoder, Sphere(64, model[0]), directions(Sphere(64, model[0]), 3)[0], 3)
    for layer, (query, key) in itertools.product((2, 3), ((2, 1), (3, 1), (3, 2))):
        c, start = found.score(layer, query, key), limit[layer - 1].scores[query - 1][key - 1]
        assert start is not None
        means = np.array([run.scores[layer - 1, query - 1, key - 1] for run in exact])
        rest = means - float(start) - float(c) / widths
        assert np.all(np.abs(rest) > 1e-12), "the remainder stands out of the rounding"
        ratios = rest[:-1] / rest[1:] / 4
        assert abs(ratios[-1] - 1) < 0.03
        assert abs(ratios[-1] - 1) < abs(ratios[0] - 1)


@pytest.mark.parametrize(
    "law", [SharedGaussian(1024, 0.3), SharedGaussian(1024, 0.3, unit=False), Sphere(1024, 0.3)], ids=str
)
def test_monte_carlo_at_a_large_width(law: Law) -> None:
    """d (mean - limit) - c is noise and a rest of order 1/d.

    The control variate is of order one: its mean is 0 whatever the second moments are. Per law 45 comparisons at 6
    standard errors: a false alarm has probability below 1e-7. Standard errors are below 0.01; the coefficients go up
    to 0.5 and more.
    """
    n, layers, d = 6, 3, int(law.d)
    found = correction_balls(Decoder(), law, n, layers)
    run = expected_scores(Decoder(), law, n, layers, 200_000, seed=7, order=1)
    limit = literal(Decoder(), law, directions(law, n)[0], layers)
    largest = 0.0
    for layer, query in itertools.product(range(1, layers + 1), range(2, n + 1)):
        for key in range(1, query):
            start, at = limit[layer - 1].scores[query - 1][key - 1], (layer - 1, query - 1, key - 1)
            assert start is not None
            error = d * run.standard_error[at]
            assert error < 0.01
            c = float(found.score(layer, query, key))
            largest = max(largest, abs(c))
            assert abs(d * (run.mean[at] - float(start)) - c) < 6 * error + 8 / d
    assert largest > 0.1


# ------------------------------------------------------------------------------------ balls as arguments


def test_an_interval_encloses_its_points() -> None:
    law = SharedGaussian(64, Rational(1, 2))
    wide = correction_balls(
        Decoder(), law, 3, 2, alpha=arb("0.3", 0.01), beta=arb(1, 0.01), residual=arb(1, 0.01), scores_only=True
    )
    for a, b, r in itertools.product(("0.29", "0.3", "0.31"), ("0.99", "1.01"), ("0.99", "1.01")):
        point = correction_balls(Decoder(beta=float(b), residual=float(r)), SharedGaussian(64, float(a)), 3, 2)
        for query, key in ((2, 1), (3, 1), (3, 2)):
            entry = wide.score(2, query, key)
            assert entry.contains(point.score(2, query, key))
            assert entry.rad() < 0.5


def test_an_interval_may_reach_zero() -> None:
    """In balls an interval from 0 on may begin a little below 0; the numbers below are not meant."""
    law = SharedGaussian(64, Rational(1, 2))
    entry = correction_balls(Decoder(), law, 2, 1, alpha=arb("0.05", "0.0500001")).score(1, 2, 1)
    assert entry.is_finite()
    assert entry.contains(correction_balls(Decoder(), SharedGaussian(64, 0.1), 2, 1).score(1, 2, 1))


def test_later_tokens_and_layers_change_nothing() -> None:
    short, long = (correction_balls(Decoder(), Sphere(64, 0.2), n, layers) for n, layers in ((4, 2), (6, 3)))
    for name in ("score", "weight", "mix", "gram"):
        more = entries(long, name, Decoder())
        for at, entry in entries(short, name, Decoder()).items():
            assert entry.overlaps(more[at])


def test_scores_only_leaves_out_what_is_not_asked() -> None:
    whole, part = (correction_balls(Decoder(), Sphere(64), 5, 2, scores_only=only) for only in (False, True))
    assert part.score(2, 5, 2).overlaps(whole.score(2, 5, 2))
    assert part.weight(1, 5, 2).overlaps(whole.weight(1, 5, 2))
    assert not part.weight(2, 5, 2).is_finite()
    assert not part.gram(2, 5, 2).is_finite()


@pytest.mark.parametrize(
    ("decoder", "law", "fault"),
    [
        (Decoder(), Equicorrelated(0), "random"),
        (Decoder(position=Rope(dim=64)), Sphere(64), "Gram matrix alone"),
        (Decoder(norm="layernorm"), Sphere(64), "does not depend on the width"),
        (Decoder(scale="sqrt(d)"), Sphere(64), "does not depend on the width"),
        (Decoder(beta=beta), Sphere(64), "number"),
        (Decoder(), Sphere(64, alpha), "number"),
    ],
)
def test_it_refuses(decoder: Decoder, law: Any, fault: str) -> None:
    with pytest.raises(InvalidInput, match=fault):
        correction_balls(decoder, law, 3, 2)


def test_it_refuses_a_hidden_score() -> None:
    found = correction_balls(Decoder(), Sphere(64), 3, 2)
    with pytest.raises(InvalidInput, match="mask shows"):
        found.score(2, 1, 2)
    assert found.weight(2, 1, 2) == 0


def test_the_working_precision_returns() -> None:
    before = flint.ctx.prec
    correction_balls(Decoder(), Sphere(64), 2, 1, precision=200)
    assert flint.ctx.prec == before
