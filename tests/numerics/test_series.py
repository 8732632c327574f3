"""Expansions of the layer map: what they claim to contain, they contain, and the remainder is needed."""

import math
from fractions import Fraction

import flint
import pytest
from flint import arb

from maskproof.numerics.balls import ball, enclose, working_precision
from maskproof.numerics.series import Interval, bounds, expand
from maskproof.theory.decoder import Blocks, Causal, Decoder, Dilated, Prefix, Rope, SlidingWindow
from maskproof.theory.errors import InvalidInput
from maskproof.theory.symbols import beta as beta_symbol

BOXES = [
    {"alpha": Interval("0.1", "0.3")},
    {"alpha": Interval(0, "0.02")},
    {"beta": Interval(0, 1)},
    {"beta": Interval("15.5", 16)},
    {"residual": Interval("0.5", 1)},
    {"residual": Interval(0, "0.05")},
    {"residual": Interval("3.5", 4)},
    {"alpha": Interval(0, "0.1"), "beta": Interval("0.5", 1)},
    {"beta": Interval("0.5", 1), "residual": Interval(1, "1.25")},
    {"alpha": Interval("0.1", "0.2"), "residual": Interval(1, "1.25")},
]
PLACES = (Fraction(-1), Fraction(-1, 3), Fraction(1, 2), Fraction(1))
names = "-".join


def value(model, taus):
    """The polynomial at a point, as a ball."""
    total = arb(0)
    for (a, b), coefficient in zip(model.frame.indices, model.coefficients, strict=True):
        total += arb(float(coefficient)) * taus[0] ** a * taus[1] ** b
    return total


def points(box):
    """Points of the box with their coordinates tau: its corners among them."""
    for s in PLACES:
        for t in PLACES if len(box) == 2 else (Fraction(0),):
            at = {
                name: interval.centre + interval.radius * (s, t)[axis]
                for axis, (name, interval) in enumerate(box.items())
            }
            yield at, (ball(s), ball(t))


def misses(decoder, box, n, layers, order, shrink=1.0, dim=None, steps=False):
    """How many scores (or steps) at points of the box lie outside of what the expansion allows, rests times shrink."""
    fixed = Fraction(1, 20)
    expansion = expand(
        decoder,
        box.get("alpha", fixed),
        n,
        layers,
        beta=box.get("beta"),
        residual=box.get("residual"),
        order=order,
        dim=dim,
    )
    count = 0
    with working_precision(192):
        for at, taus in points(box):
            truth = enclose(decoder, at.get("alpha", fixed), n, layers, 192, at.get("beta"), at.get("residual"), dim)
            for layer in range(1, layers + 1):
                for i in range(1, n + 1):
                    keys = decoder.mask.keys(i, n)
                    for j in (key for key in keys if key + steps in keys):
                        model = expansion.step(layer, i, j) if steps else expansion.score(layer, i, j)
                        exact = truth.score(layer, i, j)
                        exact = truth.score(layer, i, j + 1) - exact if steps else exact
                        count += bool(abs(value(model, taus) - exact) > arb(float(model.rest)) * shrink)
    return count


@pytest.mark.parametrize("box", BOXES, ids=names)
@pytest.mark.parametrize("order", [1, 4])
def test_an_expansion_contains_the_scores_of_the_ball_recursion(box, order):
    assert misses(Decoder(), box, n=6, layers=4, order=order) == 0


@pytest.mark.parametrize("box", BOXES, ids=names)
def test_it_contains_the_steps(box):
    assert misses(Decoder(), box, n=6, layers=3, order=3, steps=True) == 0


@pytest.mark.parametrize("box", BOXES, ids=names)
def test_without_its_remainder_it_would_not(box):
    assert misses(Decoder(), box, n=6, layers=3, order=3, shrink=1e-6) > 0


@pytest.mark.parametrize(
    "parameters",
    [{}, {"residual": 0}, {"beta": 16}, {"beta": 0}, {"residual": 4}, {"alpha": Fraction(99, 100)}],
    ids=str,
)
def test_at_exact_parameters_the_remainder_is_rounding(parameters):
    n, layers = 24, 6
    given = {"alpha": Fraction(1, 30), **parameters}
    expansion = expand(Decoder(), n=n, layers=layers, **given)
    truth = enclose(Decoder(), n=n, layers=layers, precision=160, **given)
    with working_precision(160):
        for layer in range(2, layers + 1):
            for i in range(2, n + 1):
                for j in range(1, i):
                    model = expansion.step(layer, i, j)
                    error = abs(
                        arb(float(model.coefficients[0])) - truth.score(layer, i, j + 1) + truth.score(layer, i, j)
                    )
                    assert error <= arb(float(model.rest))
                    assert model.rest < 1e-10


@pytest.mark.parametrize(
    ("decoder", "dim"),
    [
        (Decoder(mask=SlidingWindow(3)), None),
        (Decoder(mask=Prefix(4)), None),
        (Decoder(mask=Dilated(3, 2)), None),
        (Decoder(mask=Blocks(2)), None),
        (Decoder(norm="none", beta=Fraction(1, 2)), None),
        (Decoder(norm="layernorm", scale="sqrt(d)"), 16),
        (Decoder(scale=2, mask=Causal()), None),
        (Decoder(beta=20), None),
    ],
    ids=["window", "prefix", "dilated", "blocks", "none", "layernorm", "scale", "sharp"],
)
@pytest.mark.parametrize("box", [{"alpha": Interval("0.1", "0.15")}, {"residual": Interval("0.5", "0.6")}], ids=names)
def test_other_decoders(decoder, dim, box):
    assert misses(decoder, box, n=5, layers=3, order=4, dim=dim) == 0


def test_the_remainder_falls_with_the_width_as_the_order_says():
    rests = []
    for radius in (Fraction(1, 20), Fraction(1, 40)):
        centre = Fraction(1, 5)
        expansion = expand(Decoder(), Interval(centre - radius, centre + radius), 8, 3, order=4)
        rests.append(float(expansion.step(3, 8, 7).rest))
    assert rests[1] < rests[0] / 2**4.5  # degree 5 is the first that is left out


def test_order_of_neighbours_is_decided_where_intervals_fail():
    expansion = expand(Decoder(), Interval("0.19", "0.21"), 12, 3)
    plain = enclose(Decoder(), arb("0.2", "0.01"), 12, 3)
    with working_precision(64):
        by_intervals = sum(bool(plain.score(3, 12, j) < plain.score(3, 12, j + 1)) for j in range(1, 12))
    assert all(bounds(expansion.step(3, 12, j))[0] > 0 for j in range(1, 12))
    assert by_intervals < 11


@pytest.mark.parametrize("residual", [0, 1])
def test_closeness_survives_where_all_scores_tend_to_one(residual):
    """Its steps over [0.98, 1], times epsilon, are the steps of the scores; at alpha = 1 they are far from zero."""
    box = {"alpha": Interval("0.98", 1)}
    expansion = expand(Decoder(residual=residual), box["alpha"], 8, 5, order=5)
    rises = expansion.rises(5)
    with working_precision(192):
        for at in (Fraction(98, 100), Fraction(99, 100), 1 - Fraction(1, 10**12)):
            tau = ball((at - box["alpha"].centre) / box["alpha"].radius)
            truth = enclose(Decoder(residual=residual), at, 8, 5, 192)
            for j in range(1, 8):
                exact = (truth.score(5, 8, j + 1) - truth.score(5, 8, j)) / ball(1 - at)
                model = rises[7, j - 1]
                assert abs(value(model, (tau, arb(0))) - exact) <= arb(float(model.rest))
                assert bounds(model)[0] > 1e-5


def test_a_norm_that_may_vanish_decides_nothing():
    expansion = expand(Decoder(), 0, 6, 3, residual=Interval(0, 4), order=3)
    low, high = bounds(expansion.step(3, 6, 5))
    assert not low > 0
    assert not high < 0


def test_a_first_coefficient_is_the_derivative():
    """Against a difference quotient at 400 bits, whose own error is far below the tolerance."""
    expansion = expand(Decoder(), Interval("0.1", "0.3"), 5, 3, order=3)
    with working_precision(400):
        slope = arb(float(expansion.score(3, 5, 3).coefficients[1])) / ball(Fraction(1, 10))
        step = Fraction(1, 10**40)
        ends = [enclose(Decoder(), Fraction(1, 5) + s * step, 5, 3, 400).score(3, 5, 3) for s in (-1, 1)]
        quotient = (ends[1] - ends[0]) / ball(2 * step)
        assert abs(quotient - slope) < 1e-13


def test_global_settings_return():
    before = flint.ctx.prec, flint.ctx.cap
    expand(Decoder(), Interval(0, "0.1"), 3, 2, order=7)
    assert (flint.ctx.prec, flint.ctx.cap) == before


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"alpha": Interval(0, 1), "beta": Interval(0, 1), "residual": Interval(0, 1)}, "at most two"),
        ({"alpha": Interval(-1, 0)}, "alpha >= 0"),
        ({"alpha": Interval(0, 2)}, "alpha <= 1"),
        ({"alpha": 0, "beta": beta_symbol}, "beta"),
        ({"alpha": 0, "residual": -1}, "residual >= 0"),
        ({"alpha": 0, "decoder": Decoder(position=Rope())}, "no RoPE"),
        ({"alpha": 0, "order": 0}, "order"),
        ({"alpha": 0, "n": 2001}, "n <= 2000"),
    ],
)
def test_bad_input_is_named(arguments, reason):
    whole = {"decoder": Decoder(), "n": 3, "layers": 2, **arguments}
    with pytest.raises(InvalidInput, match=reason):
        expand(**whole)


def test_an_interval_has_its_ends_in_order():
    with pytest.raises(InvalidInput, match="low <= high"):
        Interval(1, 0)
    assert math.isclose(Interval("0.1", "0.3").centre, 0.2)


def test_no_such_score():
    expansion = expand(Decoder(), Interval(0, "0.1"), 3, 2)
    for place in ((3, 1, 1), (2, 1, 2), (2, 4, 1), (2, 0, 0), (0, 1, 1)):
        with pytest.raises(InvalidInput, match="visible key"):
            expansion.score(*place)
