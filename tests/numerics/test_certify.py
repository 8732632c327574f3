"""Whether closer keys score higher: at points against floats, over boxes against points."""

from fractions import Fraction

import numpy as np
import pytest

from maskproof.numerics.certify import Order, Piece, first_failures, judge, steps
from maskproof.numerics.gram import mean_field
from maskproof.numerics.series import Interval
from maskproof.theory.decoder import Bidirectional, Blocks, Decoder, SlidingWindow
from maskproof.theory.errors import InvalidInput

TWELVE = Order(12, (3,), Decoder(residual=2))  # small, and its order depends on beta: it fails below 0.4


def by_floats(order, **changes):
    """The steps S_i,j+1 - S_ij of the float recursion, by (layer, i, j)."""
    decoder = Decoder(
        beta=changes.get("beta", order.decoder.beta),
        residual=changes.get("residual", order.decoder.residual),
        mask=order.decoder.mask,
    )
    scores = mean_field(decoder, changes.get("alpha", order.alpha), order.n, order.layers[-1]).scores
    return {(la, i, j): scores[la - 1, i - 1, j] - scores[la - 1, i - 1, j - 1] for la, i, j in order.pairs()}


def test_counts_and_first_failures_at_fifty_tokens():
    order = Order(50, (2, 3, 4, 5))
    found = steps(order)
    counts = {layer: sum(pair[0] == layer for pair in found.falling) for layer in order.layers}
    assert counts == {2: 0, 3: 223, 4: 110, 5: 2}
    assert found.open == ()
    assert len(found.rising) + len(found.falling) == 4 * 1225
    firsts = first_failures(order)
    assert firsts[2] is None
    places = {layer: (first.i, first.j) for layer, first in firsts.items() if first is not None}
    assert places == {3: (27, 25), 4: (33, 31), 5: (49, 47)}


@pytest.mark.slow
def test_first_failures_of_deeper_layers():
    firsts = first_failures(Order(200, tuple(range(6, 10))))
    places = {layer: (first.i, first.j) for layer, first in firsts.items() if first is not None}
    assert places == {6: (74, 72), 7: (109, 107), 8: (150, 148), 9: (197, 195)}


@pytest.mark.parametrize(
    "order",
    [
        Order(16, (2, 3), Decoder(beta=Fraction(1, 4), residual=2)),
        Order(16, (3,), Decoder(beta=0, residual=3), Fraction(1, 100)),
        Order(10, (3,), Decoder(mask=SlidingWindow(4))),
        Order(10, (3,), Decoder(mask=Blocks(3))),
    ],
    ids=["two layers", "beta 0", "window", "blocks"],
)
def test_steps_agree_with_floats(order):
    found = steps(order)
    differences = by_floats(order)
    assert set(found.rising) | set(found.falling) | set(found.open) == set(differences)
    # Differences below 1e-12 may be rounding of the floats.
    clear = {pair: d for pair, d in differences.items() if abs(d) > 1e-12}
    assert {pair for pair in clear if pair in found.rising} == {pair for pair, d in clear.items() if d > 0}
    assert {pair for pair in clear if pair in found.falling} == {pair for pair, d in clear.items() if d < 0}


def test_equal_scores_stay_open():
    found = steps(Order(4, (2,), Decoder(norm="none"), Fraction(1, 3)), cap=128)
    assert found.answer is None
    assert found.precision == 128
    assert (2, 4, 1) in found.open


def test_a_doubtful_pair_before_the_first_failure_is_refused():
    with pytest.raises(InvalidInput, match="128 bits"):
        first_failures(Order(4, (2,), Decoder(norm="none"), Fraction(1, 3)), cap=128)


def settle(order, box, floor, degree=None, lengths=()):
    """Pieces of the whole box."""
    todo, pieces = [(box, None)], []
    while todo:
        part, advised = todo.pop()
        found = judge(order, part, floor, degree, lengths, advised)
        pieces += found.pieces
        todo += [(rest, found.degree) for rest in found.open]
    return pieces


def area(box):
    return np.prod([float(interval.high - interval.low) for interval in box.values()])


@pytest.fixture(scope="module")
def slice_in_beta():
    return settle(TWELVE, {"beta": Interval(0, 1)}, {"beta": Fraction(1, 10**6)})


@pytest.fixture(scope="module")
def little_map():
    box = {"alpha": Interval(0, "0.04"), "beta": Interval(0, "0.5")}
    return settle(TWELVE, box, {"alpha": Fraction(1, 800), "beta": Fraction(1, 64)})


def test_pieces_fill_the_box(slice_in_beta, little_map):
    assert np.isclose(sum(area(piece.box) for piece in slice_in_beta), 1, rtol=1e-12)
    assert np.isclose(sum(area(piece.box) for piece in little_map), 0.02, rtol=1e-12)
    for pieces in (slice_in_beta, little_map):
        assert {piece.answer for piece in pieces} == {True, False, None}


def test_a_slice_has_one_narrow_gap_where_the_floats_change_sign(slice_in_beta):
    unsure = [piece.box["beta"] for piece in slice_in_beta if piece.answer is None]
    low, high = min(x.low for x in unsure), max(x.high for x in unsure)
    assert high - low <= Fraction(4, 10**6)
    falls = [any(d < 0 for d in by_floats(TWELVE, beta=beta).values()) for beta in (low, high)]
    assert falls == [True, False]


def test_every_piece_is_right_at_its_corners_and_centre(slice_in_beta, little_map):
    for piece in [*slice_in_beta, *little_map]:
        ends = [(interval.low, interval.centre, interval.high) for interval in piece.box.values()]
        for at in zip(*ends, strict=True):
            differences = by_floats(TWELVE, **dict(zip(piece.box, at, strict=True)))
            if piece.answer is True:
                assert min(differences.values()) > -1e-13  # the rounding of the floats
            if piece.answer is False:
                assert piece.pair is not None
                assert differences[piece.pair] < 1e-13


def test_a_box_across_the_boundary_is_never_called_either_way():
    box = {"beta": Interval("0.1", 1)}
    found = judge(TWELVE, box, {"beta": Fraction(1)}, degree=8)
    assert [piece.answer for piece in found.pieces] in ([], [None])


def test_a_narrow_expansion_decides_what_a_wide_one_leaves_open():
    wide = judge(TWELVE, {"beta": Interval(0, 8)}, {"beta": Fraction(1, 1000)}, degree=2)
    assert wide.open
    narrow = judge(TWELVE, {"beta": Interval("0.6", "0.7")}, {"beta": Fraction(1, 1000)})
    assert narrow.open == ()
    assert narrow.pieces == (Piece({"beta": Interval("0.6", "0.7")}, True),)


# Several lengths at once

THIRTY = Order(30, (3,), Decoder(residual=2))
LENGTHS = {"all": tuple(range(2, 31)), "few": (19, 30)}


@pytest.fixture(scope="module", params=LENGTHS)
def chart(request):
    box = {"alpha": Interval(0, "0.05")}
    return request.param, settle(THIRTY, box, {"alpha": Fraction(1, 10**5)}, lengths=LENGTHS[request.param])


def test_a_chart_says_for_every_length_what_the_floats_say(chart):
    """Between what holds and what falls nothing is claimed; with all lengths asked for, that is nearly nowhere."""
    which, pieces = chart
    for piece in pieces:
        x = piece.box["alpha"]
        for at in (x.low, x.centre, x.high):
            differences = by_floats(THIRTY, alpha=at)
            assert min(d for (_, i, _), d in differences.items() if i <= piece.upto) > -1e-13
            if piece.pair is not None:
                assert piece.pair[1] > piece.upto
                assert differences[piece.pair] < 1e-13
        for length in LENGTHS[which]:
            assert piece.at(length) is not None or x.high - x.low <= Fraction(1, 10**5)
    assert np.isclose(sum(area(piece.box) for piece in pieces), 0.05, rtol=1e-12)
    decided = sum(area(piece.box) for piece in pieces if all(piece.at(n) is not None for n in LENGTHS[which]))
    assert decided > 0.049


def test_a_chart_agrees_with_a_slice_for_each_length(chart):
    _, pieces = chart
    for length in (19, 30):
        single = settle(
            Order(length, (3,), THIRTY.decoder), {"alpha": Interval(0, "0.05")}, {"alpha": Fraction(1, 10**5)}
        )
        for answer in (True, False):
            one = sum(area(piece.box) for piece in pieces if piece.at(length) is answer)
            other = sum(area(piece.box) for piece in single if piece.answer is answer)
            assert abs(one - other) <= 4e-5


def test_a_chart_of_several_layers_is_about_all_of_them():
    box, floor = {"alpha": Interval(0, "0.05")}, {"alpha": Fraction(1, 1000)}
    both = settle(Order(26, (2, 3, 4), Decoder(residual=2)), box, floor, lengths=(20, 26))
    alone = [settle(Order(26, (layer,), Decoder(residual=2)), box, floor, lengths=(20, 26)) for layer in (2, 3, 4)]
    for length in (20, 26):
        fails = [
            max((p.box["alpha"].high for p in pieces if p.at(length) is False), default=0) for pieces in (both, *alone)
        ]
        assert fails[0] == max(fails[1:]) > 0


@pytest.mark.parametrize(
    ("order", "lengths", "reason"),
    [
        (THIRTY, (31,), "length <= n"),
        (THIRTY, (1,), "2 <= length"),
        (Order(6, (3,), Decoder(mask=Bidirectional())), (4,), "no later key"),
    ],
)
def test_lengths_that_make_no_sense_are_named(order, lengths, reason):
    with pytest.raises(InvalidInput, match=reason):
        judge(order, {"alpha": Interval(0, 1)}, {"alpha": Fraction(1)}, lengths=lengths)


# Up to alpha = 1, and without the residual


@pytest.mark.parametrize("residual", [0, 1])
def test_the_whole_range_of_alpha_for_twenty_tokens(residual):
    """With the residual the order holds for so few at any alpha; alpha = 1 belongs to the last piece as a limit."""
    order = Order(20, (2, 3, 6), Decoder(residual=residual))
    pieces = settle(order, {"alpha": Interval(0, 1)}, {"alpha": Fraction(1, 1000)})
    assert {piece.answer for piece in pieces} == {True}
    assert max(piece.box["alpha"].high for piece in pieces) == 1


def test_at_alpha_one_there_is_no_order():
    for order, box in (
        (TWELVE, {"alpha": Interval(1, 1), "beta": Interval(0, 1)}),
        (Order(12, (3,), alpha=1), {"beta": Interval(0, 1)}),
    ):
        with pytest.raises(InvalidInput, match="alpha < 1"):
            judge(order, box, dict.fromkeys(box, Fraction(1)))


# The degree


def test_the_degree_is_advised_and_obeyed():
    wide = judge(Order(40, (5,)), {"alpha": Interval(0, 1)}, {"alpha": Fraction(1, 1000)})
    assert wide.open
    part = wide.open[0]
    assert judge(Order(40, (5,)), part, {"alpha": Fraction(1, 1000)}, advised=wide.degree).used == wide.degree
    fixed = judge(Order(40, (5,)), {"alpha": Interval(0, 1)}, {"alpha": Fraction(1, 1000)}, degree=5)
    assert (fixed.degree, fixed.used) == (5, 5)


def test_an_easier_box_is_given_a_lower_degree():
    """Rests are far below the steps here, or far above them: the advice differs, and the parts with it."""
    order, floor = Order(30, (4,), Decoder(residual=2)), {"alpha": Fraction(1, 10**6)}
    easy = judge(order, {"alpha": Interval("0.02", "0.024")}, floor, advised=10)
    hard = judge(order, {"alpha": Interval(0, 1)}, floor, advised=10)
    assert hard.open
    assert not easy.open or easy.degree < hard.degree


def test_what_cannot_vary_is_named():
    with pytest.raises(InvalidInput, match="gamma"):
        judge(TWELVE, {"gamma": Interval(0, 1)}, {"gamma": Fraction(1)})
    with pytest.raises(InvalidInput, match="there is a layer"):
        Order(5, ())
    with pytest.raises(InvalidInput, match="layer"):
        Order(5, (0,))


@pytest.mark.slow
def test_increase_over_a_whole_range_of_alpha():
    order = Order(50, (2, 3, 4))
    pieces = settle(order, {"alpha": Interval("0.02", "0.99")}, {"alpha": Fraction(1, 1000)})
    assert {piece.answer for piece in pieces} == {True}
