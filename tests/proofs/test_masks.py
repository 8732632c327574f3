"""Dilated windows and blocks in every engine, against literal attention that has the masks from their definitions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from flint import arb
from mpmath import mp, mpf
from sympy import And, Eq, Ge, Gt, Le, Lt, Ne, Sum, exp
from typer.testing import CliRunner

from maskproof.numerics import expected_scores, mean_field
from maskproof.numerics.balls import enclose, working_precision
from maskproof.numerics.sampling import law_of, sample_vectors
from maskproof.proofs.command.cli import app
from maskproof.proofs.pipeline import verify
from maskproof.proofs.verdict import Result, Verdict
from maskproof.theory import (
    Blocks,
    Claim,
    Correction,
    Decoder,
    Dilated,
    Equicorrelated,
    Gram,
    Score,
    SlidingWindow,
    Sphere,
    Weight,
    alpha,
    beta,
    i,
    j,
    k,
)
from maskproof.theory.decoder import Mask
from tests.differential.attention import Setting, layers

N, DEPTH = 8, 3
ZERO = Equicorrelated(0)


def dilated(width: int, step: int, query: int, key: int) -> bool:
    return any(key == query - m * step for m in range(width))


def blocks(size: int, query: int, key: int) -> bool:
    block = {position: (position + size - 1) // size for position in (query, key)}  # counted from 1
    return key <= query and block[query] - block[key] in (0, 1)


def sees(mask: Mask, query: int, key: int) -> bool:
    return {Dilated: dilated, Blocks: blocks}[type(mask)](*mask.numbers, query, key)  # type: ignore[index]


MASKS: list[Mask] = [Dilated(2, 2), Dilated(3, 2), Dilated(2, 3), Blocks(2), Blocks(3)]
each = pytest.mark.parametrize("mask", MASKS, ids=str)


@each
@pytest.mark.parametrize(
    ("norm", "cosine", "b", "residual", "width"),
    [("l2", "0", "1", "1", None), ("l2", "1/5", "2", "1/2", None), ("none", "-1/10", "1/2", "1", None),
     ("layernorm", "3/10", "1", "0", 16)],
)  # fmt: skip
def test_literal_attention_floats_and_balls_agree(mask, norm, cosine, b, residual, width):
    given = [Fraction(x) for x in (b, residual, cosine)]
    visible = tuple(tuple(key for key in range(1, N + 1) if sees(mask, query, key)) for query in range(1, N + 1))
    literal = layers(Setting(norm, given[0], given[1], Fraction(1), width, visible, None, ()), given[2], DEPTH, 40)
    decoder = Decoder(beta=given[0], residual=given[1], norm=norm, mask=mask)
    floats = mean_field(decoder, given[2], N, DEPTH, width)
    balls = enclose(decoder, given[2], N, DEPTH, dim=width)
    for layer in range(DEPTH):
        for a in range(N):
            for c in range(N):
                at = layer + 1, a + 1, c + 1
                assert close(literal.weights[layer][a][c], floats.weights[layer, a, c], balls.weight(*at))
                assert close(literal.gram[layer][a][c], floats.gram[layer, a, c], balls.gram(*at))
                assert np.isnan(floats.scores[layer, a, c]) == (c + 1 not in visible[a])
                if c + 1 in visible[a]:
                    assert close(literal.scores[layer][a][c], floats.scores[layer, a, c], balls.score(*at))


def close(literal: mpf | None, by_floats: float, ball: arb) -> bool:
    """Whether a float is near, and a ball is small and holds the number to the digits of the literal route."""
    assert literal is not None
    with working_precision(160):
        exact = arb(mp.nstr(literal, 36))
        return bool(abs(float(literal) - by_floats) <= 1e-12 * max(1, abs(by_floats))) and bool(
            ball.rad() < 1e-25 and abs(ball - exact) < arb("1e-24")
        )


def plain_scores(mask: Mask, x: np.ndarray, depth: int) -> np.ndarray:
    """Scores of every layer, token by token, without normalising anything but by length."""
    found = []
    for _ in range(depth):
        y = x / np.linalg.norm(x, axis=-1, keepdims=True)
        scores = np.full((len(x), x.shape[1], x.shape[1]), np.nan)
        after = x.copy()
        for query in range(1, x.shape[1] + 1):
            keys = [key - 1 for key in range(1, x.shape[1] + 1) if sees(mask, query, key)]
            scores[:, query - 1, keys] = np.einsum("bd,bkd->bk", y[:, query - 1], y[:, keys])
            powers = np.exp(scores[:, query - 1, keys])
            powers /= powers.sum(axis=1, keepdims=True)
            after[:, query - 1] += np.einsum("bk,bkd->bd", powers, y[:, keys])
        found.append(scores)
        x = after
    return np.stack(found, axis=1)


@each
def test_monte_carlo_agrees_with_attention_on_vectors(mask):
    n, depth, samples = 6, 3, 20_000
    law = Sphere(8, Fraction(3, 10))
    found = expected_scores(Decoder(mask=mask), law, n, depth, samples, seed=3)
    drawn = sample_vectors(law_of(law, Decoder()), n, samples, np.random.default_rng(4))
    literal = plain_scores(mask, drawn, depth)
    mean, error = literal.mean(axis=0), literal.std(axis=0, ddof=1) / samples**0.5
    seen = ~np.isnan(mean)
    assert (seen == ~np.isnan(found.mean)).all()
    spread = np.hypot(error, found.standard_error)[seen]
    # At most 6^2 * 3 comparisons: 6 standard errors are exceeded by chance in fewer than one of 10^6 runs.
    assert (np.abs(found.mean - mean)[seen] <= 6 * spread + 1e-12).all()
    assert 1e-5 < spread.max() < 0.01


# --- verdicts ------------------------------------------------------------------------------------


def judged(statement, domain, mask, inputs=ZERO, **parameters) -> Result:
    return verify(Claim("mine", statement, domain, decoder=Decoder(mask=mask, **parameters), inputs=inputs))


FAR = And(Eq(i - j, 4), i <= 9)  # a dilated window of three keys at steps of two sees j and j + 2


@pytest.mark.parametrize(
    ("statement", "domain", "mask", "verdict"),
    [
        (Lt(Score(3, i, j), Score(3, i, j + 2)), FAR, Dilated(3, 2), Verdict.ENCLOSED),
        (Gt(Score(3, i, j), Score(3, i, j + 2)), FAR, Dilated(3, 2), Verdict.REFUTED),
        (Eq(Sum(Weight(2, i, k), (k, 1, i)), 1), i <= 6, Dilated(3, 2), Verdict.ENCLOSED),
        (Eq(Weight(2, i, i - 1), 0), And(i > 1, i <= 6), Dilated(3, 2), Verdict.ENCLOSED),
        (Eq(Weight(1, i, j), 1 / (exp(1) + i - 1)), And(j < i, i <= 6), Dilated(3, 2), Verdict.REFUTED),
        (Lt(Score(3, i, j), Score(3, i, j + 1)), And(j < i, i - j <= 2, i <= 9), Blocks(2), Verdict.ENCLOSED),
        (Lt(Score(3, i, j + 1), Score(3, i, j)), And(j < i, i - j <= 2, i <= 9), Blocks(2), Verdict.REFUTED),
        (Eq(Weight(2, i, 1), 0), And(i >= 5, i <= 9), Blocks(2), Verdict.ENCLOSED),
        (Ne(Weight(2, i, 1), 0), And(i >= 4, i <= 9), Blocks(2), Verdict.REFUTED),
        (Eq(Gram(1, 5, 2), Gram(1, 2, 5)), Eq(i, 1), Blocks(2), Verdict.ENCLOSED),
    ],
)
def test_exact_inputs(statement, domain, mask, verdict):
    assert judged(statement, domain, mask).verdict is verdict


@pytest.mark.parametrize(
    ("key", "domain", "mask", "says"),
    [
        (j, And(Eq(i - j, 3), i <= 9), Dilated(3, 2), "(i - j)/2 is an integer"),
        (j, And(Eq(i - j, 6), i <= 9), Dilated(3, 2), "i - 6 < j"),
        (j, And(Eq(i - j, 3), i <= 9), Blocks(2), "floor"),
        (i + 1, i <= 3, Blocks(2), "i + 1 <= i"),
        (i + 2, i <= 3, Dilated(2, 2), "i + 2 <= i"),
    ],
)
def test_hidden_keys_have_no_score(key, domain, mask, says):
    found = judged(Lt(Score(2, i, key), 2), domain, mask)
    assert found.verdict is Verdict.UNKNOWN
    assert any(says in e.detail for e in found.evidence), [e.detail for e in found.evidence]


@pytest.mark.parametrize("mask", [Dilated(3, 2), Blocks(2), SlidingWindow(5)])
def test_no_proof_of_the_causal_mask_is_found_for_another(mask):
    everywhere = And(j < i, alpha >= 0, alpha < 1)
    denominator = exp(beta * (1 - alpha)) + i - 1
    for statement in (Eq(Weight(1, i, j), 1 / denominator), Lt(Weight(1, i, i), 1), Le(Score(2, i, i), 1)):
        found = judged(statement, everywhere, mask, Equicorrelated(alpha), beta=beta)
        assert found.verdict is not Verdict.PROVED


@pytest.mark.parametrize(
    ("statement", "domain", "mask", "verdict"),
    [
        (Lt(Score(2, i, j), Score(2, i, j + 2)), FAR, Dilated(3, 2), Verdict.SAMPLED),
        (Gt(Score(2, i, j), Score(2, i, j + 2)), FAR, Dilated(3, 2), Verdict.REFUTED),
        (Lt(Score(2, i, j), Score(2, i, j + 1)), And(Eq(i - j, 1), i <= 7), Blocks(2), Verdict.SAMPLED),
        (Lt(Correction(Score(2, i, j)), 0), And(Eq(i - j, 4), i <= 7), Dilated(3, 2), Verdict.ENCLOSED),
        (Ge(Correction(Score(2, i, j)), 0), And(Eq(i - j, 2), i <= 7), Blocks(2), Verdict.REFUTED),
        # A window does not depend on n: with random inputs it was called unknown for that once.
        (Lt(Score(2, i, j), Score(2, i, j + 1)), And(j < i, i - j < 4, i <= 7), SlidingWindow(4), Verdict.SAMPLED),
        (Lt(Score(2, i, j), Score(2, i, j + 1)), And(j < i, i - j < 4, i <= 20), SlidingWindow(4), Verdict.SAMPLED),
        (Gt(Score(2, i, j), Score(2, i, j + 1)), And(j < i, i - j < 4, i <= 7), SlidingWindow(4), Verdict.REFUTED),
    ],
)
def test_random_inputs(statement, domain, mask, verdict):
    found = judged(statement, domain, mask, Sphere(64, 0))
    assert found.verdict is verdict, [e.detail for e in found.evidence]


@each
def test_the_command_line_knows_them(mask, tmp_path):
    out = tmp_path / "scores.npz"
    name = ":".join([mask.name, *map(str, mask.numbers)])
    done = CliRunner().invoke(app, ["scores", "--n", "7", "--layers", "2", "--mask", name, "--out", str(out)])
    assert done.exit_code == 0, done.output
    found = np.load(out)["scores"]
    assert found == pytest.approx(mean_field(Decoder(mask=mask), 0, 7, 2).scores, nan_ok=True)
    hidden = [[not sees(mask, query, key) for key in range(1, 8)] for query in range(1, 8)]
    assert (np.isnan(found[1]) == hidden).all()
