"""Programs that replay a witness: run in a process that has NumPy only, they print what the engines have."""

from __future__ import annotations

import math
import re
import subprocess
import sys
from typing import Any

import pytest
from sympy import And, Derivative, Eq, Limit, Lt, Piecewise, Product, Rational, Sum, exp, oo

from maskproof.numerics import expected_scores, mean_field
from maskproof.proofs.explanation.replay import program
from maskproof.theory import (
    Bidirectional,
    Claim,
    Decoder,
    Equicorrelated,
    Gram,
    Prefix,
    Rope,
    Score,
    SharedGaussian,
    SlidingWindow,
    Sphere,
    Weight,
    alpha,
    beta,
    d,
    i,
    j,
    k,
    n,
)
from maskproof.theory.decoder import Alibi, T5Bias
from maskproof.theory.quantities import Mix

_NUMBER = r"(-?[\d.]+(?:e[+-]?\d+)?)"


def replayed(claim: Claim, witness: dict[str, Any]) -> list[tuple[float, float, float, float]]:
    """Left, its standard error, right and its standard error, of each relation that the program prints."""
    source = program(claim, witness)
    assert source is not None
    assert "maskproof" not in re.sub(r"#.*", "", source)
    done = subprocess.run(
        [sys.executable, "-I", "-W", "error", "-c", source], capture_output=True, text=True, check=True
    )
    found = re.findall(rf"^(left|right) = {_NUMBER}(?: \+- {_NUMBER})?$", done.stdout, re.MULTILINE)
    values = [(float(value), float(error or 0)) for _, value, error in found]
    return [(*left, *right) for left, right in zip(values[::2], values[1::2], strict=True)]


def test_the_peak_of_layer_three() -> None:
    claim = Claim("mine", Lt(Score(3, i, j), Score(3, i, j + 1)), j < i, inputs=Equicorrelated(0))
    ((left, _, right, _),) = replayed(claim, {"i": 27, "j": 25})
    field = mean_field(Decoder(), 0, 27, 3)
    assert left == pytest.approx(field.scores[2, 26, 24], rel=1e-12)
    assert right == pytest.approx(field.scores[2, 26, 25], rel=1e-12)
    assert left > right


MODELS = {
    "window": Decoder(mask=SlidingWindow(3)),
    "prefix": Decoder(mask=Prefix(4)),
    "bidirectional": Decoder(beta=2, mask=Bidirectional()),
    "rope": Decoder(position=Rope(100, 8)),
    "alibi": Decoder(residual=Rational(1, 3), position=Alibi(Rational(1, 10))),
    "t5": Decoder(position=T5Bias((1, 0, Rational(1, 2), -1), max_distance=8)),
    "no norm": Decoder(norm="none", beta=Rational(1, 2)),
    "layernorm": Decoder(norm="layernorm", scale="sqrt(d)"),
    "layernorm, d": Decoder(norm="layernorm", scale="d"),
    "scale": Decoder(scale=3, residual=0),
}


@pytest.mark.parametrize("decoder", MODELS.values(), ids=MODELS)
@pytest.mark.parametrize("quantity", [Score, Weight, Gram])
def test_every_kind_of_model(decoder: Decoder, quantity: Any) -> None:
    """Against the Gram recursion of numerics, which shares no code with the program."""
    claim = Claim("mine", Eq(quantity(3, i, j), -5), And(Eq(n, 7), Eq(d, 16)), decoder=decoder)
    claim = Claim("mine", claim.statement, claim.domain, decoder, Equicorrelated(alpha))
    ((left, _, right, _),) = replayed(claim, {"i": 7, "j": 6, "alpha": Rational(1, 5), "n": 7, "d": 16})
    field = mean_field(decoder, Rational(1, 5), 7, 3, dim=16)
    name = {Score: "scores", Weight: "weights", Gram: "gram"}[quantity]
    assert left == pytest.approx(getattr(field, name)[2, 6, 5], rel=1e-11)
    assert right == -5


def test_sums_products_and_cases() -> None:
    rows = Sum(Weight(2, i, k), (k, 1, i)) + Product(1 + Mix(1, i, k), (k, 1, 2))
    claim = Claim("mine", Eq(rows, Piecewise((exp(1), i > 100), (alpha, True))), inputs=Equicorrelated(alpha))
    ((left, _, right, _),) = replayed(claim, {"i": 5, "alpha": Rational(1, 2)})
    weight = 1 / (math.exp(0.5) + 4)
    assert left == pytest.approx(1 + (1 + weight) ** 2, rel=1e-12)
    assert right == 0.5


def test_two_models_and_only_the_part_that_fails() -> None:
    cold, warm = (Score(2, i, j, decoder=Decoder(beta=b), inputs=Equicorrelated(0)) for b in (1, beta))
    claim = Claim("mine", And(Lt(cold, 1), Lt(cold, warm)))
    assert len(replayed(claim, {"i": 4, "j": 2, "beta": 3})) == 1
    ((left, _, right, _),) = replayed(claim, {"i": 4, "j": 2, "beta": 3})
    assert left == pytest.approx(mean_field(Decoder(), 0, 4, 2).scores[1, 3, 1], rel=1e-12)
    assert right == pytest.approx(mean_field(Decoder(beta=3), 0, 4, 2).scores[1, 3, 1], rel=1e-12)


@pytest.mark.parametrize(
    ("law", "decoder"),
    [
        (Sphere(8, 0), Decoder()),
        (Sphere(8, Rational(1, 2)), Decoder()),
        (SharedGaussian(8, Rational(1, 2)), Decoder(beta=2)),
        (SharedGaussian(8, Rational(1, 2), unit=False), Decoder()),
        (Sphere(8, 0), Decoder(norm="layernorm", scale="sqrt(d)")),
    ],
)
def test_expectations_agree_with_the_monte_carlo_engine(law: Any, decoder: Decoder) -> None:
    """Independent samples: 5.5 joint standard errors are exceeded by chance with probability 4e-8 in each case."""
    claim = Claim("mine", Lt(Score(2, 3, 2), 0), decoder=decoder, inputs=law)
    ((left, error, right, _),) = replayed(claim, {})
    found = expected_scores(decoder, law, 3, 2, 40_000, seed=3)
    assert right == 0
    assert 0 < error < 0.01
    joint = math.hypot(error, found.standard_error[1, 2, 1])
    assert abs(left - found.mean[1, 2, 1]) < 5.5 * joint


def test_what_numpy_has_no_word_for() -> None:
    limit = Claim("mine", Eq(Limit(i * Weight(1, i, j), i, oo), 2), inputs=Equicorrelated(0))
    turned = Claim("mine", Lt(Score(2, 3, 2), 0), decoder=Decoder(position=Rope(100, 8)), inputs=Sphere(8, 0))
    assert program(limit, {"j": 1}) is None
    assert program(turned, {}) is None


def test_derivatives_of_formulas_are_worked_out() -> None:
    claim = Claim("mine", Eq(Derivative(exp(2 * alpha), alpha), 5))
    ((left, _, right, _),) = replayed(claim, {"alpha": 1})
    assert (left, right) == (pytest.approx(2 * math.exp(2), rel=1e-14), 5)
