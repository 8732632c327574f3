"""Non-relativity: definitions by hand, certified spreads of the limit maps, bad input."""

import numpy as np
import pytest
from flint import arb

from maskproof.numerics import mean_field
from maskproof.numerics.balls import enclose, less, working_precision
from maskproof.numerics.relativity import certified_spread, diagonal_normalised, diagonals, relativity
from maskproof.theory.decoder import Bidirectional, Causal, Decoder, Rope
from maskproof.theory.errors import InvalidInput

NAN = np.nan
MAP = np.array([[1.0, NAN, NAN], [0.2, 1.0, NAN], [0.1, 0.6, 1.0]])


def test_diagonals_leave_hidden_entries_out():
    assert {distance: entries.tolist() for distance, entries in diagonals(MAP).items()} == {
        0: [1.0, 1.0, 1.0],
        1: [0.2, 0.6],
        2: [0.1],
    }


def test_normalised_by_hand():
    expected = np.array([[0.0, NAN, NAN], [-0.2, 0.0, NAN], [0.0, 0.2, 0.0]])
    assert diagonal_normalised(MAP) == pytest.approx(expected, abs=1e-15, nan_ok=True)


def test_measures_by_hand():
    found = relativity(MAP)
    values = np.array([1, 1, 1, 0.2, 0.6, 0.1])
    assert found.spread == pytest.approx(0.4)
    assert found.distance == 1
    assert found.within_share == pytest.approx(0.08 / ((values - values.mean()) ** 2).sum())


def test_both_sides_count_without_a_mask():
    upper = np.array([[0.0, 5.0, 0.0], [0.0, 0.0, 7.0], [0.0, 0.0, 0.0]])
    assert relativity(upper).distance == -1
    assert relativity(upper).spread == 2


def test_extremes_of_the_share():
    relative = np.subtract.outer(np.arange(5), np.arange(5)) ** 2.0
    assert relativity(relative).within_share == 0
    assert relativity(np.zeros((3, 3))).within_share == 0
    assert relativity(np.array([[1.0, 0.0], [0.0, -1.0]])).within_share == 1


def test_the_share_ignores_offset_and_scale():
    scores = mean_field(Decoder(position=Rope()), 0.2, 20, 3).scores[2]
    assert relativity(3 * scores - 7).within_share == pytest.approx(relativity(scores).within_share, rel=1e-10)
    assert np.nanmax(np.abs(diagonal_normalised(scores + 4) - diagonal_normalised(scores))) < 1e-14


@pytest.mark.parametrize(
    ("mask", "layer", "low", "high"),
    [
        (Causal(), 1, None, "1e-30"),
        (Causal(), 2, "0.1145", "0.1155"),
        (Causal(), 3, "0.1475", "0.1485"),
        (Bidirectional(), 1, None, "1e-30"),
        (Bidirectional(), 2, None, "1e-30"),
        (Bidirectional(), 3, "4.45e-5", "4.55e-5"),
    ],
)
def test_certified_spreads_of_rope(mask, layer, low, high):
    # n = 50, head dimension 64, alpha = 0: 0.115 and 0.148 with the causal mask; 0, 0, 4.5e-5 without.
    enclosure = enclose(Decoder(mask=mask, position=Rope()), 0, 50, layer)
    found = certified_spread(enclosure, layer)
    with working_precision(128):
        assert less(found.spread, arb(high)) is True
        assert low is None or less(arb(low), found.spread) is True
    floating = relativity(mean_field(Decoder(mask=mask, position=Rope()), 0, 50, layer).scores[-1])
    assert floating.spread == pytest.approx(float(found.spread.mid()), abs=1e-14)


def test_where_the_largest_spreads_are():
    enclosure = enclose(Decoder(position=Rope()), 0, 50, 4)
    assert [certified_spread(enclosure, layer).distance for layer in (2, 3, 4)] == [1, 1, 7]


def test_correlated_inputs_show_the_boundary_one_layer_earlier():
    # With alpha > 0 rows of layer one already see different distances.
    enclosure = enclose(Decoder(mask=Bidirectional(), position=Rope()), arb(0.5), 50, 2)
    assert less(certified_spread(enclosure, 1).spread, arb("1e-30")) is True
    assert less(arb("9e-5"), certified_spread(enclosure, 2).spread) is True


@pytest.mark.parametrize(
    ("scores", "reason"),
    [
        (np.zeros(3), "square"),
        (np.zeros((2, 3)), "square"),
        (np.zeros((0, 0)), "square"),
        (np.full((2, 2), NAN), "visible entries"),
        (np.array([[0, np.inf], [0, 0]]), "NaN"),
    ],
)
def test_bad_maps(scores, reason):
    for measure in (relativity, diagonal_normalised, diagonals):
        with pytest.raises(InvalidInput, match=reason):
            measure(scores)


def test_a_layer_that_is_not_there():
    with pytest.raises(InvalidInput, match="layer = 2"):
        certified_spread(enclose(Decoder(), 0, 3, 1), 2)
