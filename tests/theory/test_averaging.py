"""Attention that only averages: the theorem for every layer, and what a residual does to its argument."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import pytest
from flint import arb
from sympy import And, Ge, Le, Lt, Rational

from maskproof.numerics.balls import enclose, less, working_precision
from maskproof.proofs.engines.derivations import prove
from maskproof.proofs.kernel.known import Rejected
from maskproof.proofs.search import NoIdea, search
from maskproof.theory import Claim, Decoder, Equicorrelated, alpha, i, j, l
from maskproof.theory.averaging import AVERAGING, increasing
from maskproof.theory.position import Alibi
from maskproof.theory.statements import closer_scores_higher

ALPHAS = [Fraction(0), Fraction(1, 1000), Fraction(1, 5), Fraction(99, 100)]
DEEPEST, N = 9, 7
PAIRS = list(combinations(range(1, N + 1), 2))


DOMAIN = And(Lt(j, i), Le(0, alpha), Lt(alpha, 1))


def _claim(layer=3, domain=DOMAIN, decoder=AVERAGING, inputs=None):
    inputs = Equicorrelated(alpha) if inputs is None else inputs
    return Claim("averaging", closer_scores_higher(layer), domain, decoder, inputs)


def test_the_first_layer_in_fractions():
    """G^(1) from its definition, by exact arithmetic: f(max(i, j)), and no negative minor."""
    for cosine in ALPHAS:
        inputs = [[Fraction(1) if a == b else cosine for b in range(N)] for a in range(N)]
        gram = {
            (a, b): sum(inputs[p][q] for p in range(a) for q in range(b)) / (a * b)
            for a in range(1, N + 1) for b in range(1, N + 1)
        }  # fmt: skip
        assert all(value == cosine + (1 - cosine) / max(at) for at, value in gram.items())
        minors = [gram[a, b] * gram[c, d] - gram[a, d] * gram[c, b] for a, c in PAIRS for b, d in PAIRS]
        assert min(minors) == 0 < max(minors)


def _minors(decoder, cosine):
    """2x2 minors of the scores of layers two to DEEPEST; those above the diagonal by symmetry."""
    found = enclose(decoder, cosine, N, DEEPEST, 256)
    with working_precision(256):
        for layer in range(2, DEEPEST + 1):
            s = {(a, b): found.score(layer, max(a, b), min(a, b)) for a in range(1, N + 1) for b in range(1, N + 1)}
            yield layer, [s[a, b] * s[c, d] - s[a, d] * s[c, b] for a, c in PAIRS for b, d in PAIRS]


@pytest.mark.parametrize("cosine", ALPHAS)
def test_no_minor_is_negative(cosine):
    """From layer three on they are even positive; in layer two some are zero, which balls cannot decide."""
    for layer, minors in _minors(AVERAGING, cosine):
        assert not any(less(minor, 0) for minor in minors)
        assert layer == 2 or all(less(0, minor) for minor in minors)


@pytest.mark.parametrize("cosine", ALPHAS)
@pytest.mark.parametrize(
    "decoder", [Decoder(beta=0, residual=Fraction(1, 10)), Decoder(beta=0), Decoder(beta=1, residual=0)]
)
def test_with_a_residual_or_a_softmax_minors_are_negative(decoder, cosine):
    layer, minors = next(_minors(decoder, cosine))
    assert layer == 2
    assert any(less(minor, 0) for minor in minors)


def test_all_layers_are_proved_at_once():
    prove(_claim(l, And(DOMAIN, Ge(l, 2))), increasing())
    with pytest.raises(Rejected, match="2 <= l"):  # layer one knows no order
        prove(_claim(l), increasing())


@pytest.mark.parametrize("layer", [3, 12, 10**6, l + 1])
def test_the_search_finds_the_theorem_at_any_layer_and_alpha(layer):
    fifth = _claim(layer, Lt(j, i), inputs=Equicorrelated(Rational(1, 5)))
    prove(fifth, search(fifth))


@pytest.mark.parametrize(
    "claim",
    [
        _claim(domain=And(Lt(j, i), Lt(alpha, 1))),
        _claim(domain=And(Le(j, i), Le(0, alpha), Lt(alpha, 1))),
        _claim(decoder=Decoder(beta=0)),
        _claim(decoder=Decoder(beta=1, residual=0)),
        _claim(decoder=Decoder(beta=0, residual=0, norm="none")),
        _claim(domain=Lt(j, i), inputs=Equicorrelated(Rational(-1, 10))),
    ],
)
def test_what_the_theorem_does_not_say(claim):
    with pytest.raises(Rejected):
        prove(claim, increasing())
    with pytest.raises((NoIdea, Rejected)):
        prove(claim, search(claim))


def test_the_order_fails_with_a_residual():
    """The theorem's hypothesis is needed, at beta = 0 too: layer three falls at (16, 14) for residual 1."""
    found = enclose(Decoder(beta=0), 0, 16, 3, 128)
    assert less(found.score(3, 16, 15), found.score(3, 16, 14)) is True
    assert found.score(3, 16, 15) - found.score(3, 16, 14) < arb(0)


@pytest.mark.parametrize("slope", [Fraction(1, 8), Fraction(2)])
def test_the_argument_covers_weights_that_factor(slope):
    """ALiBi at beta = 0, for alpha = 0: no minor is negative, and closer keys score higher."""
    decoder = Decoder(beta=0, residual=0, position=Alibi(slope))
    for layer, minors in _minors(decoder, Fraction(0)):
        assert not any(less(minor, 0) for minor in minors), layer
    found = enclose(decoder, 0, N, DEEPEST, 256)
    places = [(layer, a, b) for layer in range(2, DEEPEST + 1) for b, a in PAIRS]
    assert all(less(found.score(layer, a, b), found.score(layer, a, b + 1)) for layer, a, b in places)
