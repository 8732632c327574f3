"""Closer keys score higher: where, and what attention does not depend on. Each property has a broken twin.

A property is a function from a drawn case to whether it holds there. Its twin makes a mistake that one could make:
it drops a hypothesis, or uses a formula that is nearly right. A property that cannot tell its twin apart tests
nothing, so for each twin Hypothesis has to find a failing case within the usual number of examples.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from random import Random

import numpy as np
import pytest
import sympy
from flint import arb
from hypothesis import HealthCheck, Phase, assume, find, given, settings
from hypothesis import strategies as st
from hypothesis.errors import NoSuchExample
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from maskproof.numerics.attention import attend
from maskproof.numerics.balls import ball, enclose, equal, less, working_precision
from maskproof.numerics.certify import Order, judge, steps
from maskproof.numerics.gram import equicorrelated, mean_field
from maskproof.numerics.series import Interval
from maskproof.numerics.vectors import realise
from maskproof.proofs.testing.strategies import (
    Norm,
    alphas,
    betas,
    decoders,
    input_laws,
    masks,
    positions,
    residuals,
    tokens,
)
from maskproof.theory import layer_one
from maskproof.theory.decoder import Bidirectional, Causal, Decoder, Rope
from maskproof.theory.errors import InvalidInput
from maskproof.theory.inputs import Equicorrelated
from maskproof.theory.symbols import alpha, beta, i, lam

BITS = 256
LONGEST = 10
SEEDS = (0, 1)


# The machinery


def holds(cases, prop):
    """Check the property at the usual number of cases."""

    @given(cases)
    def run(case):
        assert prop(case)

    run()


def falsified(cases, prop):
    """Whether the usual number of examples finds a case where the property fails, from each seed."""
    usual = settings(
        max_examples=settings().max_examples,
        database=None,
        phases=[Phase.generate],  # a failing case need not be a small one
        suppress_health_check=[*HealthCheck],  # type: ignore[list-item]
    )
    try:
        for seed in SEEDS:
            find(cases, lambda case: not prop(case), settings=usual, random=Random(seed))
    except NoSuchExample:
        return False
    return True


def test_a_true_property_is_not_falsified():
    assert not falsified(st.integers(0, 10), lambda number: number >= 0)


# Layer two, in balls


@dataclass(frozen=True)
class Case:
    """A decoder, a cosine, and a query with a key."""

    decoder: Decoder
    alpha: Fraction
    i: int
    j: int

    def enclosed(self, layers=2):
        return enclose(self.decoder, self.alpha, self.i, layers, BITS)

    def scores(self):
        """Of the key and of the next one."""
        found = self.enclosed()
        return found.score(2, self.i, self.j), found.score(2, self.i, self.j + 1)

    def gram(self):
        return self.enclosed(1).gram(1, self.i, self.j)


@st.composite
def cases(draw, cosines=None, before=1, norm: Norm = "l2"):
    """Any beta and residual weight under the causal mask; a cosine for LONGEST tokens."""
    causal = st.just(Causal())
    decoder = draw(decoders(LONGEST, (norm,), mask=causal, beta=betas(), residual=residuals()))
    at = draw(positions(LONGEST, before))
    return Case(decoder, draw(alphas(LONGEST) if cosines is None else cosines), *at)


NONNEGATIVE = alphas(LONGEST, low=0)
NEGATIVE = st.fractions(Fraction(-1, LONGEST - 1), Fraction(-1, 1000), max_denominator=1000)


def defined(case):
    """Whether no vector is zero, which is for the hypotheses to see to."""
    return case.scores()[0].is_finite()


def rises(case):  # own.increasing-2
    return less(*case.scores()) is True


def sign_decides(case, sign=lambda case: less(0, case.gram())):  # own.layer-two
    positive = sign(case)
    assume(defined(case) and positive is not None)  # an exact 0 is not decided in balls
    return less(*case.scores()) is positive


def below_one(case):  # own.below-diagonal
    return less(case.scores()[0] if case.j < case.i else case.enclosed().score(2, case.i, case.j), 1) is True


def flat(case):  # own.flat-without-norm
    earlier, later = case.scores()
    # Balls cannot be equal: they have to overlap, and to be narrow.
    return earlier.overlaps(later) and bool((earlier - later).rad() < arb(2) ** (-BITS // 2))


def reversed_(case):  # own.sign-reversal
    assume(defined(case) and less(case.gram(), 0) is True)
    earlier, later = case.scores()
    return less(later, earlier) is True


R, NOT_R = sympy.exp(beta * (1 - alpha)), sympy.exp(beta)


def closed_form(case, factor=R):  # own.score-two
    place = {alpha: case.alpha, beta: case.decoder.beta, lam: case.decoder.residual}
    exact = {symbol: sympy.sympify(value) for symbol, value in place.items()}

    def value(formula, position):
        return ball(formula.xreplace({layer_one.r: factor}).xreplace({**exact, i: sympy.Integer(position)}))

    assume(defined(case))
    score = case.enclosed().score(2, case.i, case.j)
    with working_precision(BITS):
        squares = value(layer_one.h_squared(i), case.i) * value(layer_one.h_squared(i), case.j)
        formula = value(layer_one.g(i), case.i) / squares.sqrt()
    return equal(score, formula) is not False


def never_falls(case):
    earlier, later = case.scores()
    return less(later, earlier) is not True


LAYER_TWO = {
    "increasing": (cases(NONNEGATIVE), rises, cases(NEGATIVE), never_falls),
    "the sign of the inner product decides": (
        cases(before=2),
        sign_decides,
        cases(NEGATIVE, before=2),
        lambda case: sign_decides(case, sign=lambda case: case.alpha > 0),
    ),
    "below the diagonal": (cases(NONNEGATIVE), below_one, cases(NONNEGATIVE, before=0), below_one),
    "flat without norm": (cases(before=2, norm="none"), flat, cases(before=1, norm="none"), flat),
    "flat without norm, but not with it": (cases(before=2, norm="none"), flat, cases(NONNEGATIVE, before=2), flat),
    "reversed": (cases(NEGATIVE, before=2), reversed_, cases(NEGATIVE, before=1), reversed_),
    "closed form": (cases(), closed_form, cases(), lambda case: closed_form(case, factor=NOT_R)),
}


@pytest.mark.parametrize("name", LAYER_TWO)
def test_layer_two(name):
    holds(*LAYER_TWO[name][:2])


@pytest.mark.parametrize("name", LAYER_TWO)
def test_layer_two_twin_fails(name):
    assert falsified(*LAYER_TWO[name][2:])


# The certified region: Taylor expansions over intervals against balls at points


@st.composite
def intervals(draw):
    """An interval of beta on which the order of twelve tokens may hold, fail, or change, and a point of it."""
    low, high = sorted(draw(st.tuples(betas(1), betas(1)).filter(lambda ends: ends[0] < ends[1])))
    return Interval(low, high), low + (high - low) * draw(st.fractions(0, 1, max_denominator=64))


def settled(interval):
    """Parts of the interval with their answers; None where the expansion left it open."""
    found = judge(Order(12, (3,), Decoder(residual=2)), {"beta": interval}, {"beta": Fraction(1, 10**4)})
    boxes = [(piece.box["beta"], piece.answer) for piece in found.pieces]
    return boxes + [(box["beta"], None) for box in found.open]


def as_at_the_centre(interval):
    """The twin: what holds at the centre is taken to hold on the whole interval."""
    return [(interval, steps(Order(12, (3,), Decoder(interval.centre, 2))).answer)]


def agrees_at_points(case, region=settled):
    interval, point = case
    answers = {answer for part, answer in region(interval) if part.low <= point <= part.high}
    assert answers  # the parts cover the interval
    at_point = steps(Order(12, (3,), Decoder(point, 2))).answer
    return answers <= {at_point, None}


def test_the_order_holds_exactly_where_it_is_certified():
    holds(intervals(), agrees_at_points)


def test_the_order_holds_exactly_where_it_is_certified_twin_fails():
    assert falsified(intervals(), lambda case: agrees_at_points(case, as_at_the_centre))


@st.composite
def deep(draw):
    """An order of scores in a layer beyond the theorem, where the residual may break it."""
    n = draw(st.integers(8, 14))
    softness, memory = st.fractions(0, Fraction(1, 2), max_denominator=50), st.fractions(1, 5, max_denominator=50)
    decoder = draw(decoders(n, ("l2",), masks(n, causal=True), softness, memory))
    return Order(n, (draw(st.integers(2, 5)),), decoder, draw(st.one_of(st.just(Fraction(0)), alphas(n, low=0))))


def floats_agree(order, decoder=lambda order: order.decoder):
    """Every step that floats see clearly has the certified direction."""
    found = steps(order, cap=256)
    scores = mean_field(decoder(order), order.alpha, order.n, 5).scores
    seen = {(la, i, j): scores[la - 1, i - 1, j] - scores[la - 1, i - 1, j - 1] for la, i, j in order.pairs()}
    # Scores of at most 1, after at most five layers of at most 14 tokens, each operation exact to 2**-53.
    clear = {pair: step for pair, step in seen.items() if abs(step) > 1e-12}
    return all((pair in found.rising, pair in found.falling) == (step > 0, step < 0) for pair, step in clear.items())


def test_certified_steps_are_those_of_the_floats():
    holds(deep(), floats_agree)


def test_certified_steps_are_those_of_the_floats_twin_fails():
    assert falsified(deep(), lambda order: floats_agree(order, lambda order: replace(order.decoder, norm="none")))


# Every layer: attention that only averages


@dataclass(frozen=True)
class Averaging:
    """Deep layers of attention with uniform weights; two rows and two columns."""

    residual: Fraction
    alpha: Fraction
    layer: int
    rows: tuple[int, int]
    columns: tuple[int, int]

    def enclosed(self):
        return enclose(Decoder(0, self.residual), self.alpha, LONGEST, self.layer, BITS)


WITHOUT_RESIDUAL, STRONG_RESIDUAL = st.just(Fraction(0)), st.fractions(2, 5, max_denominator=50)


@st.composite
def averaging(draw, residual=WITHOUT_RESIDUAL):
    two = st.lists(st.integers(1, LONGEST), min_size=2, max_size=2, unique=True).map(sorted).map(tuple)
    cosine = draw(st.one_of(st.just(Fraction(0)), NONNEGATIVE))
    return Averaging(draw(residual), cosine, draw(st.integers(2, 9)), draw(two), draw(two))


def every_row_rises(case):  # own.averaging-increasing
    found = case.enclosed()
    places = [(query, key) for query in range(2, LONGEST + 1) for key in range(1, query)]
    return all(less(found.score(case.layer, i, j), found.score(case.layer, i, j + 1)) for i, j in places)


def no_minor_is_negative(case):  # theory.averaging
    found, (a, b), (c, d) = case.enclosed(), case.rows, case.columns
    with working_precision(BITS):
        g = {(p, q): found.gram(case.layer, p, q) for p in case.rows for q in case.columns}
        return less(g[a, c] * g[b, d], g[a, d] * g[b, c]) is not True


AVERAGING = {
    "increasing": (averaging(), every_row_rises, averaging(STRONG_RESIDUAL)),
    "minors": (averaging(), no_minor_is_negative, averaging(STRONG_RESIDUAL)),
}


@pytest.mark.parametrize("name", AVERAGING)
def test_averaging(name):
    holds(*AVERAGING[name][:2])


@pytest.mark.parametrize("name", AVERAGING)
def test_averaging_twin_fails(name):  # the hypothesis dropped that there is no residual
    _, prop, twins = AVERAGING[name]
    assert falsified(twins, prop)


# Every layer, in two limits


def effective_residuals(residual, layers):
    """The residual weight relative to the norm: after l layers all norms are N_l, with N_(l+1) = residual N_l + 1."""
    norms = [Fraction(1)]
    for _ in range(layers):
        norms.append(residual * norms[-1] + 1)
    return norms


def sharp_softmax(case, share=lambda inverse: (sum(inverse) ** 2 + sum(x * x for x in inverse)) / 2):
    """For alpha = 0 and large beta each step is this positive multiple of exp(-2 beta), the last one excepted.

    y_i = e_i + c eps sum_(k<i) e_k + O(eps^2) after the layers 1..l, with eps = exp(-beta) and c = sum 1/N_m; the paths
    of two hops to key j number e_2 (i - 1 - j), with e_2 the second elementary symmetric function of the 1/N_m.
    So S_i,j+1 - S_ij = eps^2 (c^2 - e_2) + O(beta eps^3).
    """
    residual, layer, i, j = case
    inverse = [1 / norm for norm in effective_residuals(residual, layer - 1)[1:]]
    temperature = 40
    found = enclose(Decoder(temperature, residual), 0, i, layer, 512)
    with working_precision(512):
        step = (found.score(layer, i, j + 1) - found.score(layer, i, j)) * arb(2 * temperature).exp()
        return bool(abs(step - ball(share(inverse))) < arb(-temperature).exp() * 10**6)


@st.composite
def sharp(draw):
    i, j = draw(positions(7, before=2))
    return draw(residuals()), draw(st.integers(3, 5)), i, j


def test_steps_for_a_sharp_softmax():
    holds(sharp(), sharp_softmax)


def test_steps_for_a_sharp_softmax_twin_fails():  # the paths of two hops forgotten
    assert falsified(sharp(), lambda case: sharp_softmax(case, share=lambda inverse: sum(inverse) ** 2))


def parallel(n, residual, layers):
    """The vectors w_i, as rows: for alpha near 1, 1 - S_ij = (1 - alpha) |w_i - w_j|^2 / 2 + O((1 - alpha)^2).

    All weights tend to 1/i, whatever beta is: w is the input, averaged over the prefix and mixed with the residual.
    """
    w = [[sympy.Integer(row == column) for column in range(n)] for row in range(n)]
    for norm in effective_residuals(residual, layers - 1)[:layers]:
        total, averaged = [sympy.Integer(0)] * n, []
        for position, row in enumerate(w, start=1):
            total = [a + b for a, b in zip(total, row, strict=True)]
            weight = sympy.sympify(residual * norm)
            averaged.append([(weight * a + b / position) / (weight + 1) for a, b in zip(row, total, strict=True)])
        w = averaged
    return w


def closer(case, last=lambda i, n: i):
    """Later keys are closer to the query: strictly, up to the query."""
    n, residual, layers, i = case
    w = parallel(n, residual, layers)
    distances = [sum((a - b) ** 2 for a, b in zip(w[i - 1], row, strict=True)) for row in w[: last(i, n)]]
    return all(earlier > later for earlier, later in pairwise(distances))


def scores_follow_distances(case):
    n, residual, layers, i = case
    tiny = Fraction(1, 10**40)
    found = enclose(Decoder(residual=residual), 1 - tiny, n, layers + 1, 1024)
    w = parallel(n, residual, layers)
    squares = [sum((a - b) ** 2 for a, b in zip(w[i - 1], row, strict=True)) for row in w[:i]]
    with working_precision(1024):
        seen = [(1 - found.score(layers + 1, i, j)) * 2 * 10**40 for j in range(1, i + 1)]
        return all(abs(a - ball(b)) < arb(10) ** -30 for a, b in zip(seen, squares, strict=True))


@st.composite
def nearly_parallel(draw):
    n = draw(st.integers(2, 8))
    return n, draw(st.sampled_from([0, 0, Fraction(1, 2), 1, 3])), draw(st.integers(1, 4)), draw(st.integers(1, n))


@pytest.mark.parametrize("prop", [closer, scores_follow_distances])
def test_nearly_parallel_inputs(prop):
    holds(nearly_parallel(), prop)


def test_nearly_parallel_inputs_twin_fails():  # keys after the query counted in
    assert falsified(nearly_parallel(), lambda case: closer(case, last=lambda i, n: n))


# What attention on vectors does not depend on


@dataclass(frozen=True)
class Run:
    """A decoder on tokens, and what a change may use."""

    decoder: Decoder
    tokens: np.ndarray
    layers: int
    seed: int

    def random(self):
        return np.random.default_rng(self.seed)

    def scores(self, vectors=None):
        return attend(self.decoder, self.tokens if vectors is None else vectors, self.layers).raw_scores


@st.composite
def runs(draw, mask=None, residual=None, norms=("l2",), rope=False, longest=7):
    n = draw(st.integers(2, longest))
    decoder = draw(decoders(n, norms, mask=mask, residual=residual))
    if rope:
        decoder = replace(decoder, position=Rope(100, 4))
    return Run(decoder, draw(tokens(n, 8)), draw(st.integers(1, 3)), draw(st.integers(0, 2**32 - 1)))


def close(one, two):
    """Equal to 1e-9: three layers of at most seven tokens, whose norms a residual of 1/10 keeps above 1e-3."""
    return one.shape == two.shape and np.allclose(one, two, rtol=0, atol=1e-9, equal_nan=True)


def ignores_order(run):
    order = run.random().permutation(len(run.tokens))
    return close(run.scores(run.tokens[order]), run.scores()[:, order][:, :, order])


def ignores_rotation(run):
    rotation, _ = np.linalg.qr(run.random().normal(size=(8, 8)))
    return close(run.scores(run.tokens @ rotation), run.scores())


def ignores_lengths(run):
    lengths = run.random().uniform(0.5, 2, size=(len(run.tokens), 1))
    try:
        return close(run.scores(run.tokens * lengths), run.scores())
    except InvalidInput:  # a vector that vanishes
        assume(False)


def ignores_later_tokens(run):
    first = len(run.tokens) // 2
    changed = np.concatenate([run.tokens[:first], run.random().normal(size=run.tokens[first:].shape)])
    return close(run.scores(changed)[:, :first, :first], run.scores()[:, :first, :first])


BIDIRECTIONAL, CAUSAL = st.just(Bidirectional()), st.just(Causal())
NONE, SOME = st.just(Fraction(0)), st.fractions(Fraction(1, 10), 1, max_denominator=20)
INVARIANCES = {
    "permutations, without a mask": (ignores_order, runs(BIDIRECTIONAL), runs(CAUSAL)),
    "rotations, without RoPE": (ignores_rotation, runs(norms=("l2", "none")), runs(rope=True)),
    "lengths, without a residual": (ignores_lengths, runs(residual=NONE), runs(residual=SOME)),
    "later tokens, under a causal mask": (
        ignores_later_tokens,
        st.integers(2, 7).flatmap(lambda n: runs(masks(n, causal=True))),
        runs(BIDIRECTIONAL),
    ),
}


@pytest.mark.parametrize("name", INVARIANCES)
def test_invariance(name):
    prop, cases_, _ = INVARIANCES[name]
    holds(cases_, prop)


@pytest.mark.parametrize("name", INVARIANCES)
def test_invariance_twin_fails(name):
    prop, _, twins = INVARIANCES[name]
    assert falsified(twins, prop)


@st.composite
def fields(draw):
    n = draw(st.integers(2, 7))
    decoder = draw(decoders(n, ("l2", "none")))
    law = draw(input_laws(n))
    assert isinstance(law, Equicorrelated)
    return decoder, law.alpha, n, draw(st.integers(1, 3))


def routes_agree(case, scale=1.0):
    """Balls, floats and attention on vectors with the same Gram matrix."""
    decoder, cosine, n, layers = case
    gram = equicorrelated(float(cosine), n)
    literal = attend(decoder, scale * realise(gram, n + 1), layers).scores
    floats = mean_field(decoder, cosine, n, layers).scores
    balls = enclose(decoder, cosine, n, layers)
    seen = [(a + 1, b + 1) for a, b in np.argwhere(~np.isnan(floats[-1]))]
    enclosed = all(abs(float(balls.score(layers, *at)) - floats[-1, at[0] - 1, at[1] - 1]) < 1e-9 for at in seen)
    return enclosed and close(literal, floats)


def test_routes_agree():
    holds(fields(), routes_agree)


def test_routes_agree_twin_fails():
    assert falsified(fields(), lambda case: routes_agree(case, scale=1.1))


# One token at a time


class Appending(RuleBasedStateMachine):
    """A causal decoder reads a text: a new token changes nothing that was computed before."""

    mask = masks(7, causal=True)

    @initialize(data=st.data(), first=tokens(1, 6))
    def begin(self, data, first):
        self.decoder = data.draw(decoders(7, mask=self.mask))
        self.text = first
        self.rows = []

    @rule(token=tokens(1, 6))
    def append(self, token):
        if len(self.text) < 7:
            self.text = np.concatenate([self.text, token])

    @invariant()
    def earlier_rows_stay(self):
        run = attend(self.decoder, self.text, 3)
        for n, row in enumerate(self.rows, start=1):
            assert close(run.vectors[:, n - 1], row)
        if len(self.rows) < len(self.text):
            self.rows.append(run.vectors[:, -1])


class AppendingUnmasked(Appending):
    """The twin: earlier tokens see the new one."""

    mask = st.just(Bidirectional())


_STEPS = settings(stateful_step_count=10)  # seven tokens are the most


def test_appending_tokens_changes_no_earlier_row():
    run_state_machine_as_test(Appending, settings=_STEPS)


def test_appending_tokens_changes_no_earlier_row_twin_fails():
    quick = settings(_STEPS, phases=[Phase.generate], database=None)
    with pytest.raises(AssertionError):
        run_state_machine_as_test(AppendingUnmasked, settings=quick)


# What the strategies draw


@given(st.data(), st.integers(1, 12))
def test_everything_drawn_is_admissible(data, n):
    cosine = data.draw(alphas(n))
    assert np.linalg.eigvalsh(equicorrelated(float(cosine), n)).min() > -1e-12
    query, key = data.draw(positions(n))
    assert 1 <= key <= query <= n
    decoder = data.draw(decoders(n))
    assert query in decoder.mask.keys(query, n)
    law = data.draw(input_laws(n, 16))
    assert law.alpha < 1
    assert data.draw(tokens(n, 4)).shape == (n, 4)


@pytest.mark.parametrize(
    "make", [lambda: alphas(5, low=-1), lambda: alphas(5, low=1), lambda: positions(2, before=2), lambda: masks(0)]
)
def test_what_cannot_be_drawn_is_refused(make):
    with pytest.raises(InvalidInput):
        make()
