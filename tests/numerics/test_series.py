"""Taylor polynomials with remainder: what they claim to contain, they contain, and the remainder is needed."""

import math
from fractions import Fraction

import flint
import pytest
from flint import arb, arb_series
from hypothesis import given
from hypothesis import strategies as st

from numerics import series
from numerics.balls import ball, enclose, working_precision
from numerics.series import Frame, Interval, Jet, arithmetic, bounds, expand, halve
from theory.decoder import Causal, Decoder, Prefix, Rope, SlidingWindow
from theory.errors import InvalidInput
from theory.symbols import beta as beta_symbol

BOXES = [
    {"alpha": Interval("0.1", "0.3")},
    {"beta": Interval(0, 1)},
    {"residual": Interval("0.5", 1)},
    {"alpha": Interval(0, "0.1"), "beta": Interval("0.5", 1)},
    {"beta": Interval("0.5", 1), "residual": Interval(1, "1.25")},
    {"alpha": Interval("0.1", "0.2"), "residual": Interval(1, "1.25")},
]
PLACES = (Fraction(-1), Fraction(-1, 3), Fraction(1, 2), Fraction(1))


def value(frame, jet, taus):
    """The polynomial at a point, as a ball."""
    total = arb(0)
    for (a, b), coefficient in zip(frame.indices, jet.coefficients, strict=True):
        total += coefficient * taus[0] ** a * taus[1] ** b
    return total


def points(box):
    """Points of the box with their coordinates tau: its corners among them."""
    names = list(box)
    for s in PLACES:
        for t in PLACES if len(names) == 2 else (Fraction(0),):
            taus = (s, t)
            at = {
                name: interval.centre + interval.radius * taus[axis]
                for axis, (name, interval) in enumerate(box.items())
            }
            yield at, (ball(s), ball(t))


def misses(decoder, box, n, layers, order, shrink=1.0, dim=None):
    """How many scores at points of the box lie outside of what the expansion allows, its rests times ``shrink``."""
    expansion = expand(
        decoder,
        box.get("alpha", Fraction(1, 20)),
        n,
        layers,
        beta=box.get("beta"),
        residual=box.get("residual"),
        order=order,
        precision=128,
        dim=dim,
    )
    count = 0
    with arithmetic(128, expansion.frame.length):
        for at, taus in points(box):
            truth = enclose(
                decoder, at.get("alpha", Fraction(1, 20)), n, layers, 192, at.get("beta"), at.get("residual"), dim
            )
            for layer in range(1, layers + 1):
                for i in range(1, n + 1):
                    first, last = decoder.mask.visible(i, n)
                    for j in range(first, last + 1):
                        jet = expansion.score(layer, i, j)
                        error = abs(value(expansion.frame, jet, taus) - truth.score(layer, i, j))
                        count += bool(error > jet.rest * shrink)
    return count


@pytest.mark.parametrize("box", BOXES, ids=lambda box: "-".join(box))
def test_an_expansion_contains_the_scores_of_the_ball_recursion(box):
    assert misses(Decoder(), box, n=6, layers=3, order=3) == 0


@pytest.mark.parametrize("box", BOXES, ids=lambda box: "-".join(box))
def test_without_its_remainder_it_would_not(box):
    assert misses(Decoder(), box, n=6, layers=3, order=3, shrink=1e-6) > 0


@pytest.mark.parametrize(
    ("decoder", "dim"),
    [
        (Decoder(mask=SlidingWindow(3)), None),
        (Decoder(mask=Prefix(4)), None),
        (Decoder(norm="none", beta=Fraction(1, 2)), None),
        (Decoder(norm="layernorm", scale="sqrt(d)"), 16),
        (Decoder(scale=2, mask=Causal()), None),
    ],
    ids=["window", "prefix", "none", "layernorm", "scale"],
)
def test_other_decoders(decoder, dim):
    assert misses(decoder, {"alpha": Interval("0.1", "0.15")}, n=5, layers=3, order=4, dim=dim) == 0


def test_the_remainder_falls_with_the_width_as_the_order_says():
    rests = []
    for radius in (Fraction(1, 20), Fraction(1, 40)):
        centre = Fraction(1, 5)
        expansion = expand(Decoder(), Interval(centre - radius, centre + radius), 8, 3, order=4, precision=128)
        rests.append(float(expansion.step(3, 8, 7).rest))
    assert rests[1] < rests[0] / 2**5  # degree 5 is the first that is left out


def test_order_of_neighbours_is_decided_where_intervals_fail():
    wide = Interval("0.19", "0.21")
    expansion = expand(Decoder(), wide, 12, 3)
    plain = enclose(Decoder(), arb("0.2", "0.01"), 12, 3)
    with working_precision(64):
        by_intervals = sum(bool(plain.score(3, 12, j) < plain.score(3, 12, j + 1)) for j in range(1, 12))
    assert all(bounds(expansion.step(3, 12, j))[0] > 0 for j in range(1, 12))
    assert by_intervals < 11


small = st.integers(-64, 64).map(lambda m: Fraction(m, 256))


@given(
    variables=st.sampled_from([1, 2]),
    data=st.lists(small, min_size=10, max_size=10),
    taus=st.tuples(small, small).map(lambda t: (4 * t[0], 4 * t[1])),
    inside=st.sampled_from([-1, 0, 1]),
    operation=st.sampled_from(["exp", "inverse", "root", "times"]),
)
def test_functions_of_jets_contain_the_functions_of_their_members(variables, data, taus, inside, operation):
    frame = Frame.of(variables, 3)
    rest = Fraction(1, 100)
    with arithmetic(128, frame.length):
        entries = [arb(0)] * frame.length
        for k, place in enumerate(frame.places):
            entries[place] = ball(data[k] / 4 ** sum(frame.indices[k]))
        entries[0] += 1
        jet = Jet(frame, arb_series(entries, frame.length), ball(rest))
        at = (ball(taus[0]), ball(taus[1]))
        member = value(frame, jet, at) + inside * ball(rest)
        if operation == "exp":
            found, truth = series._exponential(frame, jet), member.exp()
        elif operation == "times":
            found, truth = series._times(frame, jet, jet), member * member
        else:
            root = operation == "root"
            found, truth = series._inverse(frame, jet, root), member.rsqrt() if root else 1 / member
        assert not abs(value(frame, found, at) - truth) > found.rest
        assert found.rest.is_finite() or operation in ("inverse", "root")


@given(st.lists(small, min_size=10, max_size=10), st.sampled_from([0, 1]), st.sampled_from([-1, 1]), small, small)
def test_a_half_is_the_same_function(data, axis, side, s, t):
    frame = Frame.of(2, 3)
    with arithmetic(128, frame.length):
        entries = [arb(0)] * frame.length
        for place, number in zip(frame.places, data, strict=True):
            entries[place] = ball(number)
        jet = Jet(frame, arb_series(entries, frame.length), arb(1) / 7)
        half = halve(frame, jet, axis, side)
        sigma = [s, t]
        tau = [s, t]
        tau[axis] = (side + tau[axis]) / 2
        inner = value(frame, half, (ball(sigma[0]), ball(sigma[1])))
        assert inner.overlaps(value(frame, jet, (ball(tau[0]), ball(tau[1]))))
        assert half.rest is jet.rest


def test_a_norm_that_may_vanish_decides_nothing():
    expansion = expand(Decoder(), 0, 6, 3, residual=Interval(0, 4), order=3)
    low, high = bounds(expansion.step(3, 6, 5))
    assert not low > 0
    assert not high < 0


def test_a_first_coefficient_is_the_derivative():
    """Against a difference quotient at 400 bits, whose own error is far below the tolerance."""
    expansion = expand(Decoder(), Interval("0.1", "0.3"), 5, 3, order=3, precision=128)
    with working_precision(400):
        slope = expansion.score(3, 5, 3).coefficients[1] / ball(Fraction(1, 10))
        step = Fraction(1, 10**40)
        ends = [enclose(Decoder(), Fraction(1, 5) + s * step, 5, 3, 400).score(3, 5, 3) for s in (-1, 1)]
        quotient = (ends[1] - ends[0]) / ball(2 * step)
        assert abs(quotient - slope) < 1e-25


def test_global_settings_return():
    before = flint.ctx.prec, flint.ctx.cap
    expand(Decoder(), Interval(0, "0.1"), 3, 2, order=7, precision=99)
    with pytest.raises(ZeroDivisionError), arithmetic(77, 3):
        raise ZeroDivisionError
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
    ],
)
def test_bad_input_is_named(arguments, reason):
    rest = dict(arguments)
    decoder = rest.pop("decoder", Decoder())
    alpha = rest.pop("alpha")
    with pytest.raises(InvalidInput, match=reason):
        expand(decoder, alpha, 3, 2, **rest)


def test_an_interval_has_its_ends_in_order():
    with pytest.raises(InvalidInput, match="low <= high"):
        Interval(1, 0)
    assert math.isclose(Interval("0.1", "0.3").centre, 0.2)


def test_no_such_score():
    expansion = expand(Decoder(), Interval(0, "0.1"), 3, 2)
    for place in ((3, 1, 1), (2, 1, 2), (2, 4, 1), (2, 0, 0)):
        with pytest.raises(InvalidInput, match="visible key"):
            expansion.score(*place)
