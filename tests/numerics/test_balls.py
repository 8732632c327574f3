"""Ball arithmetic: soundness against an independent recursion, certified numbers, three values."""

from fractions import Fraction

import flint
import mpmath
import pytest
import sympy
from flint import arb

from maskproof.numerics.balls import at_most, ball, decide, enclose, equal, less, negation, working_precision
from maskproof.theory.decoder import Bidirectional, Causal, Decoder, Prefix, Rope, SlidingWindow
from maskproof.theory.errors import InvalidInput
from maskproof.theory.symbols import beta as beta_symbol

DIGITS = 80


def by_mpmath(alpha, n, layers, beta, residual, visible):
    """Scores and Gram matrices of the l2 decoder, entry by entry at 80 digits."""
    gram = [[mpmath.mpf(1) if i == j else alpha for j in range(n)] for i in range(n)]
    history = []
    for _ in range(layers):
        norm = [mpmath.sqrt(gram[i][i]) for i in range(n)]
        score = [[gram[i][j] / (norm[i] * norm[j]) for j in range(n)] for i in range(n)]
        power = [[mpmath.exp(beta * score[i][j]) * visible(i, j) for j in range(n)] for i in range(n)]
        mix = [[power[i][j] / (sum(power[i]) * norm[j]) + residual * (i == j) for j in range(n)] for i in range(n)]
        gram = [
            [sum(mix[i][k] * gram[k][m] * mix[j][m] for k in range(n) for m in range(n)) for j in range(n)]
            for i in range(n)
        ]
        history.append((score, gram))
    return history


def holds(entry, value):
    """Whether the ball meets the 80-digit value, whose own error is far below 1e-70."""
    with working_precision(300):
        exact = arb(mpmath.nstr(value, DIGITS), 1e-70)
        return entry.is_finite() and entry.overlaps(exact) and bool(entry.rad() < 1e-20)


@pytest.mark.parametrize(
    ("mask", "visible"),
    [
        (Causal(), lambda i, j: j <= i),
        (Bidirectional(), lambda i, j: True),
        (SlidingWindow(2), lambda i, j: i - 1 <= j <= i),
        (Prefix(3), lambda i, j: j <= max(i, 2)),
    ],
)
@pytest.mark.parametrize("alpha", [Fraction(0), Fraction(1, 5), Fraction(-1, 10)])
def test_balls_contain_the_true_values(mask, visible, alpha):
    n, layers = 5, 3
    with mpmath.workdps(DIGITS + 20):
        real = mpmath.mpf(alpha.numerator) / alpha.denominator
        truth = by_mpmath(real, n, layers, mpmath.sqrt(2), mpmath.mpf(2) / 3, visible)
    decoder = Decoder(beta=sympy.sqrt(2), residual=Fraction(2, 3), mask=mask)
    # 96 bits: a radius near 1e-27, wide enough to be a test and narrow enough to mean something.
    result = enclose(decoder, alpha, n, layers, precision=96)
    for layer, (score, gram) in enumerate(truth, start=1):
        for i in range(n):
            for j in range(n):
                assert holds(result.gram(layer, i + 1, j + 1), gram[i][j])
                if visible(i, j):
                    assert holds(result.score(layer, i + 1, j + 1), score[i][j])


def test_an_interval_contains_the_results_of_its_members():
    wide = enclose(Decoder(), arb(0.25, 0.01), 5, 3, beta=arb(1, 0.01), residual=arb(1, 0.01))
    for alpha in (Fraction(24, 100), Fraction(1, 4), Fraction(26, 100)):
        for change in (Fraction(-1, 100), Fraction(1, 100)):
            one = enclose(Decoder(), alpha, 5, 3, beta=1 + change, residual=1 - change)
            for layer in (1, 2, 3):
                for i in range(1, 6):
                    for j in range(1, i + 1):
                        assert wide.score(layer, i, j).contains(one.score(layer, i, j))
                        assert wide.mix(layer, i, j).overlaps(one.mix(layer, i, j))


def test_the_two_token_limit():
    score = enclose(Decoder(), 0, n=2, layers=2).score(2, 2, 1)
    with working_precision(128):
        assert abs(score - ball(sympy.Rational("0.153520650506003146"))) < 5e-19


def failing_pairs(result, layer):
    """Adjacent keys at which the score certainly falls; no pair may stay undecided."""
    answers = {
        (i, j): less(result.score(layer, i, j + 1), result.score(layer, i, j))
        for i in range(2, result.n + 1)
        for j in range(1, i)
    }
    assert None not in answers.values()
    return sorted(pair for pair, falls in answers.items() if falls)


def test_first_failures_of_the_claimed_increase_are_certified():
    result = enclose(Decoder(), 0, n=50, layers=5)
    failures = {layer: failing_pairs(result, layer) for layer in range(2, 6)}
    assert {layer: len(pairs) for layer, pairs in failures.items()} == {2: 0, 3: 223, 4: 110, 5: 2}
    assert [failures[layer][0] for layer in (3, 4, 5)] == [(27, 25), (33, 31), (49, 47)]
    with working_precision(128):
        drop = result.score(3, 27, 26) - result.score(3, 27, 25)
        assert abs(drop - ball(sympy.Rational("-1.72901540190207968e-5"))) < 1e-22


@pytest.mark.slow
def test_later_first_failures_are_certified():
    result = enclose(Decoder(), 0, n=200, layers=9)
    firsts = [failing_pairs(result, layer)[0] for layer in range(6, 10)]
    assert firsts == [(74, 72), (109, 107), (150, 148), (197, 195)]


def test_alpha_one_fifth_increases_up_to_layer_four():
    result = enclose(Decoder(), Fraction(1, 5), n=50, layers=4)
    assert all(failing_pairs(result, layer) == [] for layer in (2, 3, 4))


def test_a_score_of_a_vector_with_itself_is_exactly_one():
    result = enclose(Decoder(), arb(0.3, 0.1), n=3, layers=3)
    assert equal(result.score(3, 3, 3), 1) is True


def test_layernorm_scales():
    decoder = Decoder(norm="layernorm", scale="sqrt(d)")
    assert equal(enclose(decoder, 0, 2, 1, dim=16).score(1, 2, 2), 4) is True


def test_extreme_beta_does_not_overflow():
    result = enclose(Decoder(mask=Bidirectional()), 0, 3, 2, beta=10**400)
    assert less(abs(result.weight(2, 1, 2)), ball(Fraction(1, 10**100))) is True


def test_a_hidden_key_has_no_score():
    result = enclose(Decoder(), 0, n=3, layers=1)
    assert result.layers[0].scores[0][1:] == (None, None)
    assert equal(result.weight(1, 1, 2), 0) is True
    with pytest.raises(InvalidInput, match="mask shows"):
        result.score(1, 1, 2)


@pytest.mark.parametrize("where", [(0, 1, 1), (2, 1, 1), (1, 0, 1), (1, 4, 1), (1, 3, 0), (1, 1, 4)])
def test_positions_and_layers_out_of_range(where):
    with pytest.raises(InvalidInput, match="<="):
        enclose(Decoder(), 0, n=3, layers=1).score(*where)


def test_a_vanishing_vector_leaves_everything_undecided():
    result = enclose(Decoder(beta=0, residual=0), Fraction(-1, 3), n=4, layers=2)
    assert less(result.score(2, 4, 1), 2) is None
    assert less(result.score(2, 4, 4), 2) is None
    assert less(result.score(2, 3, 1), 2) is True  # the first three tokens know nothing of it


@pytest.mark.parametrize(
    ("arguments", "options", "reason"),
    [
        ((Decoder(), 1, 3, 1), {}, "alpha < 1"),
        ((Decoder(), arb(2, 0.5), 3, 1), {}, "alpha < 1"),
        ((Decoder(), Fraction(-3, 5), 3, 1), {}, "alpha >= -1/2"),
        ((Decoder(), arb(-1, 0.1), 3, 1), {}, "alpha >= -1/2"),
        ((Decoder(), 0, 0, 1), {}, "n >= 1"),
        ((Decoder(), 0, 3, 0), {}, "layers >= 1"),
        ((Decoder(), 0, 3, 1), {"precision": 1}, "precision >= 2"),
        ((Decoder(), 0, 3, 1), {"beta": -1}, "beta >= 0"),
        ((Decoder(), 0, 3, 1), {"residual": arb(-1)}, "residual >= 0"),
        ((Decoder(beta=beta_symbol), 0, 3, 1), {}, "substitute"),
        ((Decoder(norm="layernorm"), 0, 3, 1), {}, "give dim"),
        ((Decoder(scale="sqrt(d)"), 0, 3, 1), {}, "give dim"),
        ((Decoder(position=Rope()), 0, 3, 1), {"dim": 96}, "dim divides the width"),
        ((Decoder(mask=Prefix(4)), 0, 3, 1), {}, "prefix length"),
    ],
)
def test_bad_input_leaves_the_precision_as_it_was(arguments, options, reason):
    before = flint.ctx.prec
    with pytest.raises(InvalidInput, match=reason):
        enclose(*arguments, **options)
    assert flint.ctx.prec == before


def test_a_symbolic_beta_may_be_replaced():
    result = enclose(Decoder(beta=beta_symbol), 0, 2, 2, beta=1)
    assert result.score(2, 2, 1).overlaps(enclose(Decoder(), 0, 2, 2).score(2, 2, 1))


# Constants


@pytest.mark.parametrize(
    "value",
    [
        3,
        Fraction(-2, 7),
        sympy.Rational(1, 10**30),
        0.1,
        sympy.E,
        sympy.pi,
        sympy.exp(-1),
        sympy.sqrt(2) / 3 + sympy.log(5),
        sympy.Integer(7) ** sympy.Rational(-2, 3),
        1 / sympy.sqrt(3),
        sympy.tanh(1) * sympy.cos(2) - abs(sympy.sin(4)),
        sympy.exp(sympy.sqrt(2)) ** 3,
    ],
)
def test_constants_are_enclosed(value):
    with working_precision(128):
        entry = ball(value)
    exact = sympy.Rational("0.1") if value == 0.1 else sympy.sympify(value)
    with mpmath.workdps(DIGITS):
        assert holds(entry, sympy.N(exact, DIGITS)._to_mpmath(300))


def test_a_ball_is_returned_as_it_is():
    entry = arb(1, 0.5)
    assert ball(entry) is entry


@pytest.mark.parametrize("value", [beta_symbol, sympy.I, sympy.besselj(0, 1), float("nan"), None, "1"])
def test_what_is_not_a_known_real_constant_is_refused(value):
    with pytest.raises(InvalidInput):
        ball(value)


# Comparison


def test_certain_answers():
    assert less(1, 2) is True
    assert less(2, 1) is False
    assert less(1, 1) is False
    assert at_most(1, 1) is True
    assert at_most(2, 1) is False
    assert equal(arb(1), 1) is True
    assert equal(arb(1), 2) is False
    assert equal(arb(1, 0.01), arb(2, 0.01)) is False
    assert at_most(arb(1, 0.125), arb(1.25, 0.0625)) is None


def test_overlapping_balls_are_undecided():
    tenth = ball(Fraction(1, 10))
    assert less(tenth, tenth) is None
    assert at_most(tenth, tenth) is None
    assert equal(tenth, tenth) is None
    assert less(arb(1, 0.1), arb(1.1, 0.1)) is None


@pytest.mark.parametrize("entry", [arb.nan(), arb.pos_inf(), arb.neg_inf(), arb(0, float("inf")), arb(0, 0.2)])
def test_balls_that_are_not_finite_or_too_wide_decide_nothing(entry):
    for compare in (less, at_most, equal):
        assert compare(entry, 10) is None
        assert compare(-10, entry) is None


def test_the_width_limit_is_relative_for_large_numbers():
    assert less(arb(1000, 100), 2000) is True
    assert less(arb(1000, 200), 2000) is None
    assert less(arb(1000, 200), 2000, widest=0.25) is True


def test_negation():
    assert [negation(answer) for answer in (True, False, None)] == [False, True, None]


def test_precision_rises_until_decided():
    def tiny_is_positive(bits):
        assert flint.ctx.prec == bits
        return less(0, arb(2).sqrt() ** 2 - 2 + arb(2) ** -500)

    decision = decide(tiny_is_positive)
    assert decision.answer is True
    assert decision.precision == 512


def test_an_undecidable_question_ends_at_the_cap():
    asked = []

    def question(bits):
        asked.append(bits)
        return less(arb(2).sqrt() ** 2, 2)

    assert decide(question, start=64, cap=200).answer is None
    assert asked == [64, 128, 200]


def test_precision_is_restored_after_an_exception():
    before = flint.ctx.prec

    def fail(bits):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        decide(fail)
    assert flint.ctx.prec == before
    with pytest.raises(KeyError), working_precision(777):
        raise KeyError
    assert flint.ctx.prec == before


def test_an_impossible_cap():
    with pytest.raises(InvalidInput, match="start <= cap"):
        decide(lambda bits: True, start=128, cap=64)
