"""What the search proves by itself, for every model that the theory covers; and that near misses stay open."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sympy import (
    And,
    Basic,
    Derivative,
    E,
    Eq,
    Equivalent,
    Ge,
    Gt,
    Implies,
    Le,
    Limit,
    Lt,
    Rational,
    Sum,
    exp,
    oo,
    sqrt,
    sympify,
)

from maskproof.proofs.engines.symbolic import examine
from maskproof.proofs.registry import shipped
from maskproof.proofs.search import search
from maskproof.proofs.verdict import Verdict
from maskproof.theory import Bidirectional, Causal, Claim, Decoder, Equicorrelated, Gram, Rope, Score, Sphere, Weight
from maskproof.theory.derivation import Derivation
from maskproof.theory.export.latex import derivation_latex
from maskproof.theory.quantities import Mix, bind
from maskproof.theory.symbols import alpha, beta, d, i, j, k, l, lam

PAPER = (alpha >= 0, alpha < 1)
WIDE = d >= 2
ZERO = Equicorrelated(0)
AVERAGE = Decoder(beta=0)
BARE = Decoder(beta=0, residual=0)
GENERAL = Decoder(beta=beta, residual=lam)

# name -> (decoder, score of a token with itself)
NORMALISED = {
    "l2": (Decoder(), 1),
    "l2, symbols": (GENERAL, 1),
    "l2, numbers": (Decoder(beta=3, residual=Rational(1, 2)), 1),
    "l2, beta = 0": (AVERAGE, 1),
    "l2, beta = residual = 0": (BARE, 1),
    "l2, scale 2": (Decoder(beta=beta, residual=lam, scale=2), Rational(1, 2)),
    "l2, scale 7/2": (Decoder(scale=Rational(7, 2)), Rational(2, 7)),
    "l2, scale sqrt(d)": (Decoder(scale="sqrt(d)"), 1 / sqrt(d)),
    "l2, scale d": (Decoder(beta=beta, residual=lam, scale="d"), 1 / d),
    "LayerNorm, scale 1": (Decoder(beta=beta, residual=lam, norm="layernorm"), d),
    "LayerNorm, scale 3": (Decoder(norm="layernorm", scale=3), d / 3),
    "LayerNorm, scale sqrt(d)": (Decoder(norm="layernorm", scale="sqrt(d)", residual=0), sqrt(d)),
    "LayerNorm, scale d": (Decoder(norm="layernorm", scale="d", beta=Rational(1, 2)), 1),
}
UNNORMALISED = {
    "no norm": Decoder(norm="none", beta=beta, residual=lam),
    "no norm, scale 2": Decoder(norm="none", scale=2),
    "no norm, scale sqrt(d)": Decoder(norm="none", scale="sqrt(d)"),
    "no norm, scale d": Decoder(norm="none", scale="d", beta=beta),
}
DECODERS = {**{name: model for name, (model, _) in NORMALISED.items()}, **UNNORMALISED}

normalised = pytest.mark.parametrize(("decoder", "gain"), NORMALISED.values(), ids=NORMALISED)
unnormalised = pytest.mark.parametrize("decoder", UNNORMALISED.values(), ids=UNNORMALISED)
every_decoder = pytest.mark.parametrize("decoder", DECODERS.values(), ids=DECODERS)


def outcome(
    statement: Basic, *domain: Basic, decoder: Decoder | None = None, inputs: Equicorrelated | Sphere | None = None
) -> Verdict:
    """The verdict of the symbolic engine on a claim without a proof."""
    claim = Claim("test", statement, And(*domain), decoder=decoder or Decoder(), inputs=inputs or Equicorrelated(alpha))
    found = examine(claim, seed=0)
    assert found is not None
    return found.outcome


def is_proved(*claim: Basic, **model: Decoder | Equicorrelated | Sphere) -> bool:
    """Whether the search proves it."""
    verdict = outcome(*claim, **model)  # type: ignore[arg-type]
    assert verdict in (Verdict.PROVED, Verdict.UNKNOWN)
    return verdict is Verdict.PROVED


def width(decoder: Decoder) -> tuple[Basic, ...]:
    """What a decoder asks of the width."""
    return (WIDE,) if decoder.norm == "layernorm" else ()


HERE, CLOSER, OWN = Score(2, i, j), Score(2, i, j + 1), Score(2, i, i)


class TestOrder:
    @normalised
    def test_closer_keys_score_higher(self, decoder: Decoder, gain: object) -> None:
        assert is_proved(Lt(HERE, CLOSER), j < i, *PAPER, *width(decoder), decoder=decoder)

    @normalised
    def test_they_do_not_score_lower(self, decoder: Decoder, gain: object) -> None:
        assert not is_proved(Gt(HERE, CLOSER), j < i, *PAPER, *width(decoder), decoder=decoder)

    @normalised
    def test_at_a_number_for_alpha(self, decoder: Decoder, gain: object) -> None:
        inputs = Equicorrelated(Rational(1, 5))
        assert is_proved(Lt(HERE, CLOSER), j < i, *width(decoder), decoder=decoder, inputs=inputs)

    @normalised
    def test_beyond_the_diagonal_nothing_is_said(self, decoder: Decoder, gain: object) -> None:
        assert not is_proved(Lt(HERE, CLOSER), j <= i, *PAPER, *width(decoder), decoder=decoder)

    @normalised
    def test_no_earlier_key_scores_like_the_own(self, decoder: Decoder, gain: object) -> None:
        assert is_proved(Lt(HERE, OWN), j < i, *PAPER, *width(decoder), decoder=decoder)
        assert not is_proved(Lt(HERE, OWN), j <= i, *PAPER, *width(decoder), decoder=decoder)

    @unnormalised
    def test_flat_without_normalisation(self, decoder: Decoder) -> None:
        assert is_proved(Eq(HERE, CLOSER), j + 1 < i, decoder=decoder)
        assert not is_proved(Eq(HERE, CLOSER), j < i, decoder=decoder)

    @pytest.mark.parametrize("name", ["l2, symbols", "l2, scale 2", "LayerNorm, scale 1", "LayerNorm, scale d"])
    def test_the_sign_of_the_inner_product_decides(self, name: str) -> None:
        decoder, inner = NORMALISED[name][0], Gram(1, i, j)
        domain = (j + 1 < i, alpha < 1, 1 + (i - 1) * alpha > 0, *width(decoder))
        theorem = (Implies(inner > 0, HERE < CLOSER), Implies(inner < 0, HERE > CLOSER))
        level = Implies(Eq(inner, 0), Eq(HERE, CLOSER))
        assert is_proved(And(*theorem, level), *domain, decoder=decoder)
        assert not is_proved(Implies(inner < 0, HERE < CLOSER), *domain, decoder=decoder)

    def test_a_negative_correlation_turns_the_order(self) -> None:
        inputs = Equicorrelated(Rational(-1, 10))
        domain = (j + 1 < i, i >= 4, i <= 10)
        assert is_proved(HERE > CLOSER, *domain, inputs=inputs)
        assert not is_proved(HERE > CLOSER, j + 1 < i, i <= 10, inputs=inputs)  # not at query 3

    @pytest.mark.parametrize("layer", [3, 4])
    def test_averaging_in_deeper_layers(self, layer: int) -> None:
        statement = Lt(Score(layer, i, j), Score(layer, i, j + 1))
        assert is_proved(statement, j < i, *PAPER, decoder=BARE)
        assert not is_proved(statement, j < i, *PAPER, decoder=AVERAGE)


class TestRowSums:
    @every_decoder
    @pytest.mark.parametrize("layer", [1, 2, 3])
    def test_weights(self, decoder: Decoder, layer: int) -> None:
        row = Sum(Weight(layer, i, k), (k, 1, i))
        assert is_proved(Eq(row, 1), *width(decoder), decoder=decoder)

    @pytest.mark.parametrize("layer", [1, 2, 3])
    def test_not_another_value_or_range(self, layer: int) -> None:
        assert not is_proved(Eq(Sum(Weight(layer, i, k), (k, 1, i)), 2))
        assert not is_proved(Eq(Sum(Weight(layer, i, k), (k, 1, i - 1)), 1), i >= 2)

    def test_at_a_fixed_query_and_over_another_index(self) -> None:
        assert is_proved(Eq(Sum(Weight(3, 7, k), (k, 1, 7)), 1), *PAPER)
        assert is_proved(Eq(Sum(Weight(2, i, j), (j, 1, i)), 1), *PAPER)

    @unnormalised
    @pytest.mark.parametrize("layer", [1, 2])
    def test_mix_without_normalisation(self, decoder: Decoder, layer: int) -> None:
        row = Sum(Mix(layer, i, k), (k, 1, i))
        assert is_proved(Eq(row, 1 + decoder.residual), decoder=decoder)
        assert not is_proved(Eq(row, 2 + decoder.residual), decoder=decoder)

    def test_mix_in_layer_one(self) -> None:
        row = Sum(Mix(1, i, k), (k, 1, i))
        assert is_proved(Eq(row, 1 + lam), decoder=GENERAL)
        layernorm = NORMALISED["LayerNorm, scale 1"][0]
        assert is_proved(Eq(row, sqrt(d) + lam), WIDE, decoder=layernorm)
        assert not is_proved(Eq(row, 1 + lam), WIDE, decoder=layernorm)

    def test_other_sums(self) -> None:
        inner = 2 * (2 * alpha + (1 - alpha) / (exp(1 - alpha) + i - 1))
        assert is_proved(Eq(Sum(Gram(1, i, k), (k, 1, i - 1)), (i - 1) * inner))
        assert is_proved(Eq(Sum(Gram(1, i, k), (k, 1, i)), i * alpha + 1 - alpha), decoder=BARE)
        assert is_proved(Eq(Sum(Weight(2, i, k) ** 2, (k, 1, i)), 1 / i), decoder=AVERAGE)
        assert not is_proved(Eq(Sum(Weight(2, i, k) ** 2, (k, 1, i)), 1), decoder=AVERAGE)

    def test_a_harmonic_sum(self) -> None:
        harmonic = Sum(1 / k, (k, 1, i))
        assert is_proved(Eq(Sum(Weight(1, k, k), (k, 1, i)), harmonic), decoder=BARE)
        assert not is_proved(Eq(Sum(Weight(1, k, k), (k, 1, i)), 2 * harmonic), decoder=BARE)


class TestWithoutTemperature:
    @pytest.mark.parametrize("layer", [1, 2, 5])
    @pytest.mark.parametrize("norm", ["l2", "layernorm", "none"])
    def test_all_weights_are_equal(self, layer: int, norm: str) -> None:
        decoder = Decoder(beta=0, norm=norm, scale="sqrt(d)")  # type: ignore[arg-type]
        assert is_proved(Eq(Weight(layer, i, j), 1 / i), j <= i, *width(decoder), decoder=decoder)
        assert not is_proved(Eq(Weight(layer, i, j), 1 / (i + 1)), j <= i, *width(decoder), decoder=decoder)
        warm = replace(decoder, beta=1)
        assert not is_proved(Eq(Weight(layer, i, j), 1 / i), j <= i, *width(decoder), decoder=warm)

    def test_gram(self) -> None:
        assert is_proved(Eq(Gram(1, i, j), 2 * (2 * alpha + (1 - alpha) / i)), j < i, decoder=AVERAGE)
        assert not is_proved(Eq(Gram(1, i, j), 2 * (2 * alpha + (1 - alpha) / i)), j <= i, decoder=AVERAGE)
        assert is_proved(Eq(Gram(1, i, j), alpha + (1 - alpha) / i), j <= i, decoder=BARE)
        assert is_proved(Eq(Gram(1, i, j), alpha + (1 - alpha) / j), i <= j, decoder=BARE)
        assert not is_proved(Eq(Gram(1, i, j), alpha + (1 - alpha) / j), j <= i, decoder=BARE)

    @pytest.mark.parametrize("domain", [j < i, j <= i])
    def test_a_score_that_is_a_root(self, domain: Basic) -> None:
        assert is_proved(Eq(HERE, sqrt(j / i)), domain, decoder=BARE, inputs=ZERO)
        assert is_proved(Eq(HERE**2, j / i), domain, decoder=BARE, inputs=ZERO)
        assert not is_proved(Eq(HERE, sqrt(j / (i + 1))), domain, decoder=BARE, inputs=ZERO)
        assert not is_proved(Eq(HERE, -sqrt(j / i)), domain, decoder=BARE, inputs=ZERO)


class TestDiagonal:
    @normalised
    @pytest.mark.parametrize("layer", [1, 2, 4])
    def test_the_own_score(self, decoder: Decoder, gain: Basic, layer: int) -> None:
        assert is_proved(Eq(Score(layer, i, i), gain), *width(decoder), decoder=decoder)
        assert not is_proved(Eq(Score(layer, i, i), gain + 1), *width(decoder), decoder=decoder)

    def test_the_gram_matrix_is_symmetric(self) -> None:
        for layer in (1, 3):
            assert is_proved(Eq(Gram(layer, i, j), Gram(layer, j, i)))
            assert not is_proved(Eq(Gram(layer, i, j), Gram(layer, i, i)), *PAPER)

    @pytest.mark.parametrize("layer", [1, 2, 3])
    def test_no_score_exceeds_one(self, layer: int) -> None:
        assert is_proved(Le(Score(layer, i, j), 1), j <= i, *PAPER, decoder=GENERAL)
        assert not is_proved(Lt(Score(layer, i, j), 1), j <= i, *PAPER, decoder=GENERAL)
        assert not is_proved(Le(Score(layer, i, j), Rational(1, 2)), j <= i, *PAPER, decoder=GENERAL)

    def test_where_nothing_is_said_of_alpha(self) -> None:
        assert is_proved(Le(HERE, 1), j <= i)
        assert is_proved(Eq(OWN, 1))

    def test_with_layernorm(self) -> None:
        decoder = NORMALISED["LayerNorm, scale sqrt(d)"][0]
        assert is_proved(Le(HERE, sqrt(d)), j <= i, *PAPER, WIDE, decoder=decoder)
        assert not is_proved(Lt(HERE, sqrt(d)), j <= i, *PAPER, WIDE, decoder=decoder)

    def test_weights(self) -> None:
        weight = Weight(1, i, j)
        assert is_proved(And(weight > 0, weight <= 1), j <= i, *PAPER, decoder=GENERAL)
        assert not is_proved(weight < 1, j <= i, *PAPER, decoder=GENERAL)  # at the first query it is 1
        assert is_proved(Weight(3, i, j) > 0, j <= i, *PAPER)
        assert not is_proved(Weight(3, i, j) > 0, *PAPER)


class TestConnectives:
    def test_and(self) -> None:
        own = exp(1 - alpha) / (exp(1 - alpha) + i - 1)
        assert is_proved(And(Eq(Weight(1, i, i), own), Eq(OWN, 1)))
        assert not is_proved(And(Eq(Weight(1, i, i), own), Eq(OWN, 2)))

    def test_implies(self) -> None:
        assert is_proved(Implies(Eq(j, i), Eq(HERE, 1)), j <= i, *PAPER)
        assert is_proved(Implies(j < i, HERE < 1), j <= i, *PAPER)
        assert not is_proved(Implies(j <= i, HERE < 1), j <= i, *PAPER)

    def test_both_ways(self) -> None:
        both = Equivalent(Gt(Weight(1, i, j), 0), Gt(Weight(1, i, i), 0))
        assert is_proved(both, j <= i, *PAPER)

    def test_numbers(self) -> None:
        assert is_proved(Eq(Weight(1, 3, 2), 1 / (E + 2)), inputs=ZERO)
        assert not is_proved(Eq(Weight(1, 3, 2), 1 / (E + 3)), inputs=ZERO)


class TestWhatIsMissing:
    @pytest.mark.parametrize(
        ("decoder", "inputs"),
        [
            (Decoder(mask=Bidirectional()), ZERO),
            (Decoder(position=Rope(10000, 64)), ZERO),
            (Decoder(mask=Causal()), Sphere(64, 0)),
        ],
    )
    def test_a_model_without_closed_forms(self, decoder: Decoder, inputs: Equicorrelated | Sphere) -> None:
        assert not is_proved(Lt(HERE, CLOSER), j < i, decoder=decoder, inputs=inputs)

    def test_the_message_names_the_closed_form(self) -> None:
        found = examine(Claim("test", Score(3, i, j) > 0, And(j < i, *PAPER)), seed=0)
        assert found is not None
        assert found.detail.startswith("no derivation found: no closed form is known for S3[i,j]")

    def test_the_message_names_the_positions(self) -> None:
        found = examine(Claim("test", HERE > 0, And(*PAPER)), seed=0)
        assert found is not None
        assert "whether j <= i is not known" in found.detail


_PROVED = [  # all but a statement about a derivative, which is not searched
    claim for claim in shipped() if claim.proof is not None and not sympify(claim.statement).has(Derivative)
]


@pytest.mark.parametrize("claim", _PROVED, ids=[claim.id for claim in _PROVED])
def test_shipped_theorems_are_found_without_their_proofs(claim: Claim) -> None:
    found = examine(replace(claim, proof=None), seed=0)
    assert found is not None
    assert found.outcome is Verdict.PROVED, found.detail


def test_what_is_found_is_a_derivation() -> None:
    found = search(Claim("test", Lt(HERE, CLOSER), And(j < i, *PAPER)))
    assert isinstance(found, Derivation)
    assert found.conclusion == bind(Lt(HERE, CLOSER), Decoder(), Equicorrelated(alpha))


@pytest.mark.parametrize(
    "claim",
    [
        Claim("rows", Eq(Sum(Weight(2, i, k), (k, 1, i)), 1)),
        Claim("root", Eq(HERE, sqrt(j / i)), j <= i, decoder=BARE, inputs=ZERO),
        Claim("limit", Eq(Limit(sqrt(i) * HERE, i, oo), sqrt(j)), decoder=BARE, inputs=ZERO),
        *(Claim(name, Lt(HERE, CLOSER), And(j < i, WIDE, *PAPER), decoder=NORMALISED[name][0])
          for name in ("l2, scale 2", "LayerNorm, scale 3")),
        replace(next(claim for claim in _PROVED if claim.id == "kim2025.layernorm-sharper"), proof=None),
    ],
    ids=lambda claim: claim.id,
)  # fmt: skip
def test_what_is_found_can_be_printed(claim: Claim) -> None:
    text = derivation_latex(search(claim, thorough=True), {})
    assert "found by search" in text
    assert text.count("$") % 2 == 0


@pytest.mark.parametrize(
    "statement",
    [
        Gt(Score(l, i, j) + 3, Score(2, i, j)),
        Eq(2 * Mix(l, 1, 1), Mix(l, 1, 1) + Mix(3, 1, 1)),
        Ge(Gram(l, 1, 1), Gram(2, 1, 1)),
    ],
)
def test_a_layer_that_is_a_letter_is_no_error(statement):
    found = examine(Claim("test", statement, And(j <= i, l <= 3), inputs=Equicorrelated(0)), seed=0)
    assert found is None or found.outcome is Verdict.UNKNOWN


ROW = Sum(Weight(3, i, k), (k, 1, i - 1))


@pytest.mark.parametrize(
    ("left", "right", "near", "domain"),
    [
        (Weight(4, 1, 1), 1, 2, True),
        (Gram(2, 1, 1), 9, 8, True),
        (Gram(4, 1, 1), 25, 16, True),
        (Weight(2, 2, 1) + Weight(2, 2, 2), 1, 2, True),
        (Weight(4, 3, 1) + Weight(4, 3, 2) + Weight(4, 3, 3), 1, 3, True),
        (Sum(3 * Weight(2, i, k), (k, 1, i)), 3, 1, True),
        (ROW, 1 - Weight(3, i, i), 1 + Weight(3, i, i), i >= 2),
        (Score(2, i, j), Gram(1, i, j) / sqrt(Gram(1, i, i) * Gram(1, j, j)), Gram(1, i, j) / Gram(1, i, i), j <= i),
        (Weight(2, i, j) / Weight(2, i, i), exp(Score(2, i, j) - 1), exp(Score(2, i, j)), j < i),
    ],
)
def test_first_tokens_rows_written_out_and_definitions(left, right, near, domain):
    domain = And(domain, alpha >= 0, alpha < 1)
    found = examine(Claim("true", Eq(left, right), domain), seed=0)
    assert found is not None
    assert found.outcome is Verdict.PROVED, found.detail
    wrong = examine(Claim("false", Eq(left, near), domain), seed=0)
    assert wrong is None or wrong.outcome is not Verdict.PROVED


def test_positions_that_meet_at_the_start_alone() -> None:
    assert is_proved(Eq(Score(2, i**2, 1), 1 / i), decoder=BARE, inputs=ZERO)
    assert not is_proved(Eq(Score(2, i**2, 1), 1 / i**2), decoder=BARE, inputs=ZERO)
    assert not is_proved(Eq(Score(2, i**2, 4), 2 / i), decoder=BARE, inputs=ZERO)  # at i = 1 the key is hidden
