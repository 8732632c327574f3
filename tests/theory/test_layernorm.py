"""LayerNorm as l2 normalisation: on vectors by the literal route, and every line of the derivations in balls."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import sympy
from hypothesis import assume, given
from hypothesis import strategies as st
from sympy import Rational, exp, sqrt

from maskproof.numerics import mean_field
from maskproof.numerics.attention import attend
from maskproof.numerics.gram import equicorrelated
from maskproof.numerics.vectors import realise
from maskproof.theory.claims import kim2026
from maskproof.theory.claims import layernorm as claims_b
from maskproof.theory.decoder import Bidirectional, Causal, Decoder
from maskproof.theory.layer_one import layer_one, r
from maskproof.theory.layernorm import effective_residual, equivalent, score_gain
from maskproof.theory.symbols import alpha, beta, d, i, j, lam

TOLERANCE = 1e-12
WIDTH, TOKENS, LAYERS = 9, 6, 4
SCALES = ("sqrt(d)", "d", 2)
CASES = [
    pytest.param(scale, residual, mask, id=f"{scale}-{residual}-{type(mask).__name__}")
    for scale, residual, mask in product(SCALES, (0, Rational(3, 2)), (Causal(), Bidirectional()))
]


def centred(x: np.ndarray) -> np.ndarray:
    return x - x.mean(axis=-1, keepdims=True)


def tokens(seed: int) -> np.ndarray:
    """Three sequences of vectors that have nothing in common but a shift."""
    return np.random.default_rng(seed).normal(0.7, 1.3, (3, TOKENS, WIDTH))


def pair(scale, residual, mask) -> tuple[Decoder, Decoder, float]:
    """LayerNorm, its l2 equivalent on P x / sqrt(d), and what scores are multiplied by."""
    upper = Decoder(beta=Rational(4, 5), residual=residual, norm="layernorm", scale=scale, mask=mask)
    gain = sympy.Integer(WIDTH) / upper.scale_at(WIDTH)
    lower = Decoder(beta=upper.beta * gain, residual=residual, mask=mask)
    return upper, lower, float(gain)


@pytest.mark.parametrize(("scale", "residual", "mask"), CASES)
def test_a_layernorm_layer_is_an_l2_layer_on_centred_vectors(scale, residual, mask) -> None:
    x = tokens(1)
    upper, lower, gain = pair(scale, residual, mask)
    here = attend(upper, x, LAYERS)
    there = attend(lower, centred(x) / np.sqrt(WIDTH), LAYERS)
    np.testing.assert_allclose(here.raw_scores, gain * there.raw_scores, rtol=0, atol=TOLERANCE * WIDTH)
    np.testing.assert_allclose(here.weights, there.weights, rtol=0, atol=TOLERANCE)
    np.testing.assert_allclose(
        centred(here.vectors), np.sqrt(WIDTH) * there.vectors, rtol=TOLERANCE, atol=TOLERANCE * 30
    )


def test_centred_vectors_live_in_one_dimension_less() -> None:
    x = tokens(2)
    basis = realise(np.eye(WIDTH - 1), WIDTH, centred=True)  # orthonormal, coordinate sums zero
    upper, lower, gain = pair("sqrt(d)", 1, Causal())
    there = attend(lower, x @ basis.T / np.sqrt(WIDTH), LAYERS)
    assert there.vectors.shape[-1] == WIDTH - 1
    np.testing.assert_allclose(attend(upper, x, LAYERS).raw_scores, gain * there.raw_scores, rtol=0, atol=1e-11)


@pytest.mark.parametrize("length", [1.0, 0.3, 3.0])
def test_the_first_residual_is_multiplied_by_the_centred_norm(length: float) -> None:
    """Two layers, on centred inputs of a given norm, against unit vectors and the effective residual."""
    gram = equicorrelated(0.3, TOKENS)
    upper, lower, gain = pair("sqrt(d)", Rational(3, 2), Causal())
    factor = effective_residual(upper.residual, sympy.Float(length)).subs(d, WIDTH)
    twin = Decoder(beta=lower.beta, residual=float(factor))
    here = attend(upper, length * realise(gram, WIDTH, centred=True), 2)
    np.testing.assert_allclose(
        here.raw_scores, gain * attend(twin, realise(gram, WIDTH), 2).raw_scores, atol=TOLERANCE * 9
    )


def test_inputs_of_norm_root_d_give_the_l2_layer_at_every_depth() -> None:
    gram = equicorrelated(0.3, TOKENS)
    upper, lower, gain = pair("d", 1, Causal())
    here = attend(upper, np.sqrt(WIDTH) * realise(gram, WIDTH, centred=True), LAYERS)
    there = attend(lower, realise(gram, WIDTH), LAYERS)
    np.testing.assert_allclose(here.raw_scores, gain * there.raw_scores, rtol=0, atol=TOLERANCE * 9)
    # and other inputs do not: Appendix B's unit vectors are far from it at layer two
    unit = attend(upper, realise(gram, WIDTH, centred=True), 2)
    assert np.abs(unit.raw_scores[1] - there.raw_scores[1]).max() > 0.1


@pytest.mark.parametrize("scale", ["sqrt(d)", "d"])
def test_the_equivalent_decoder_gives_both_layers(scale) -> None:
    values = {beta: Rational(4, 5), lam: Rational(3, 2), d: 7}
    model = equivalent(scale)
    twin = Decoder(beta=model.beta.subs(values), residual=model.residual.subs(values))
    upper = Decoder(beta=values[beta], residual=values[lam], norm="layernorm", scale=scale)
    here, there = mean_field(upper, 0.4, 8, 2, dim=7), mean_field(twin, 0.4, 8, 2)
    gain = float(score_gain(scale).subs(values))
    np.testing.assert_allclose(here.scores, gain * there.scores, rtol=TOLERANCE)
    np.testing.assert_allclose(here.weights, there.weights, rtol=TOLERANCE)
    np.testing.assert_allclose(here.gram[0], 7 * there.gram[0], rtol=TOLERANCE)


@given(
    cosine=st.floats(0, 0.95), temperature=st.floats(0, 2), residual=st.floats(0, 3), width=st.integers(2, 40),
)  # fmt: skip
def test_scores_increase_towards_the_query(cosine: float, temperature: float, residual: float, width: int) -> None:
    decoder = Decoder(beta=temperature, residual=residual, norm="layernorm", scale="sqrt(d)")
    assume(temperature * np.sqrt(width) * (1 - cosine) < 8)  # beyond, increments are smaller than rounding
    scores = mean_field(decoder, cosine, 12, 2, dim=width).scores[1]
    for query in range(1, 12):
        assert (np.diff(scores[query, : query + 1]) > 0).all()


# ------------------------------------------------------------------------------ version 2's formulas


@pytest.mark.parametrize(
    ("residual", "correlation", "width"), [(0, 0, 4), (1, "1/2", 16), (1, "1/5", 9), (2, "1/2", 4)]
)
def test_the_printed_norm_is_that_of_vectors(residual: int, correlation: str, width: int) -> None:
    cosine = Rational(correlation)
    inputs = np.sqrt(width) * realise(equicorrelated(float(cosine), 3), width, centred=True)
    literal = attend(Decoder(norm="layernorm", scale="sqrt(d)", residual=residual), inputs, 2)
    norms = (literal.vectors[0] ** 2).sum(axis=-1) / width
    values = {alpha: cosine, lam: residual, d: width}
    for position in (1, 2, 3):
        printed = float(kim2026.squared_norm(sympy.Integer(position)).subs(values))
        assert abs(printed - norms[position - 1]) < TOLERANCE * printed
    (score,) = [claim.statement.rhs for claim in kim2026.claims if claim.id == "kim2026.score"]
    assert abs(float(score.subs({**values, i: 3, j: 2})) - literal.raw_scores[1, 2, 1]) < TOLERANCE * width


def test_the_general_closed_form_gives_the_printed_norm() -> None:
    """The same formula from section 2 of version 1's theory, by numbers of 50 digits."""
    (line,) = [step.statement for step in layer_one().steps if step.label == "h"]
    values = {alpha: Rational(1, 3), lam: Rational(7, 5), d: 11, i: 4}
    general = line.rhs.subs({r: exp(sqrt(11) * Rational(2, 3)), **values})
    assert abs(sympy.N(general - kim2026.squared_norm(i).subs(values), 50)) < 1e-45


@pytest.mark.parametrize("claim", [*kim2026.claims, *claims_b.claims], ids=lambda claim: claim.id)
def test_claims_are_well_formed(claim) -> None:
    claim.check()
    assert claim.source
    assert claim.note


def test_ids_are_unique() -> None:
    names = [claim.id for claim in (*kim2026.claims, *claims_b.claims)]
    assert len(set(names)) == len(names)
