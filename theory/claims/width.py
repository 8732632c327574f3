"""What this project found about random inputs of finite width: expectations, their 1/d term, one input.

The paper computes with the limit of infinite width, simulates at d = 64 and calls both the expectation.
Claims here are about expectations over ``Sphere(d, alpha)`` unless they say otherwise; the engine that
judges them is statistical, with stated error rates. The coefficient of 1/d in an expectation is an exact number, and
balls decide about it; that a closed form of it is negative is a claim of its own, about a formula.
"""

from __future__ import annotations

from functools import partial

from sympy import Abs, And, E, Expr, Integer, Rational
from sympy.core.relational import Relational

from maskproof.theory.claim import Claim
from maskproof.theory.cosine import leading_sampler_bias, mean_cosine_shared_gaussian
from maskproof.theory.decoder import Decoder
from maskproof.theory.derivation import Derivation, Step
from maskproof.theory.finite_width import limiting_score, score_correction, weight_correction
from maskproof.theory.inputs import SharedGaussian, Sphere
from maskproof.theory.papers import KIM2025
from maskproof.theory.quantities import Correction, Score, Weight
from maskproof.theory.relations import Eq, Ge, Gt, Le, Lt
from maskproof.theory.statements import closer_scores_higher
from maskproof.theory.symbols import alpha, beta, d, i, j, lam

_FIFTY = And(Lt(j, i), Le(i, 50))
_PAPER = {alpha: Integer(0), beta: Integer(1), lam: Integer(1)}
_NARROW, _WIDE = Sphere(64, 0), Sphere(1024, 0)
_SOURCE = KIM2025.source + ", section 4.1, as an expectation at d = {d}"


def _at_paper(e: Expr) -> Expr:
    """A formula at alpha = 0, beta = residual = 1."""
    return e.xreplace(_PAPER)


def _is(value: Expr, printed: str, within: str) -> Relational:
    """An expectation agrees with a number known to more digits than are printed."""
    return Le(Abs(value - Rational(printed)), Rational(within))


_GENERAL = {"decoder": Decoder(beta=beta, residual=lam), "inputs": Sphere(d, alpha)}
_SAMPLER = SharedGaussian(d, alpha)


def _remainder() -> Expr:
    """What is left of a score of layer two at d = 1024 without the limit and the 1/d term."""
    return Score(2, i, j) - _at_paper(limiting_score(i, j)) - _at_paper(score_correction(i, j)) / 1024


claims = [
    *(
        Claim(
            f"own.increasing-{layer}-d{d}",
            partial(closer_scores_higher, layer),
            _FIFTY, inputs=law,
            source=_SOURCE.format(d=d),
            note=f"The expectation over independent uniform unit vectors in R^{d}, n = 50: all 1225 adjacent pairs, "
            "at one error rate for all of them together.",
        )
        for d, law in ((64, _NARROW), (1024, _WIDE))
        for layer in (2, 3, 4)
    ),
    Claim(
        "own.score-21-exact",
        lambda: _is(Score(2, 2, 1), "0.150989367837915639", "1e-6"),
        inputs=_NARROW,
        source="finite width behind kim2025.fig1",
        note="The number is a one-dimensional integral, known to 18 digits by quadrature; the limit that the paper "
        "prints is 0.1535.",
    ),
    Claim(
        "own.scores-3-exact",
        lambda: And(_is(Score(2, 3, 1), "0.12983578", "1e-5"), _is(Score(2, 3, 2), "0.14791466", "1e-5")),
        inputs=_NARROW,
        source="finite width behind kim2025.fig1",
        note="By a three-dimensional integral over the law of the Gram matrix of three vectors.",
    ),
    Claim(
        "own.first-weight-exact",
        lambda: _is(Weight(1, 10, 10), "0.230818990595779", "1e-7"),
        inputs=_NARROW,
        source="kim2025.softmax at finite width",
        note="E A_ii is a one-dimensional integral; the softmax of the expected scores is 0.23197.",
    ),
    Claim(
        "own.sampler-mean",
        lambda: Eq(Score(1, 2, 1), mean_cosine_shared_gaussian(Rational(1, 2), 64)),
        inputs=SharedGaussian(64, Rational(1, 2)),
        source="corrects own.cosine-shared-gaussian",
        note="The mean cosine of the inputs that the paper's code samples, by a hypergeometric function.",
    ),
    Claim(
        "own.sampler-bias",
        lambda: Lt(Correction(Score(1, 2, 1)), 0),
        And(Ge(alpha, Rational(1, 100)), Le(alpha, Rational(99, 100))), inputs=_SAMPLER,
        source="quantifies own.cosine-shared-gaussian",
        note="To leading order in 1/d, the paper's sampler makes the mean cosine of two inputs smaller than alpha. By "
        "how much is in own.sampler-bias-formula.",
    ),
    Claim(
        "own.sampler-bias-formula",
        lambda: Eq(Correction(Score(1, 2, 1)), leading_sampler_bias(alpha)),
        And(Ge(alpha, 0), Lt(alpha, 1)), inputs=_SAMPLER,
        source="quantifies own.cosine-shared-gaussian",
        note="The bias of the paper's sampler is -alpha (1 - alpha^2) / (2 d) to leading order. The formula is derived "
        "by computer algebra from own.sampler-mean; the coefficient comes from the recursion of the layers, at the "
        "points tried.",
    ),
    Claim(
        "own.sampler-bias-sign",
        lambda: Lt(leading_sampler_bias(alpha), 0),
        And(Gt(alpha, 0), Lt(alpha, 1)),
        source="completes own.sampler-bias-formula",
        note="The formula for the leading bias is negative for every alpha between 0 and 1. This is about the formula, "
        "not about the sampler.",
        proof=lambda: Derivation(
            "sampler-bias", "The sign of the formula for the sampler's bias", (Gt(alpha, 0), Lt(alpha, 1)),
            (Step("bias", Lt(leading_sampler_bias(alpha), 0), "sign",
                  hints={"form": alpha * (1 - alpha) * (1 + alpha) / 2}, why="0 < alpha < 1"),),
        ),
    ),
    Claim(
        "own.softmax-gap",
        lambda: Le(
            Abs(Weight(1, i, j) - 1 / (E + i - 1) - _at_paper(weight_correction(i, j)) / 1024), Rational("1e-5")
        ),
        And(Lt(j, i), Le(i, 10)), inputs=_WIDE,
        source="quantifies kim2025.softmax at finite width",
        note="E A_ij = 1/(e + i - 1) + c/d + O(1/d^2) with c in closed form; at d = 1024 the remainder is "
        "below 1e-5; c/d goes up to 1e-4.",
    ),
    Claim(
        "own.score-correction",
        lambda: And(Le(_remainder(), Rational("1e-5")), Ge(_remainder(), -Rational("1e-5"))),
        And(Lt(j, i), Le(i, 8)), inputs=_WIDE,
        source="quantifies kim2025.eq4 at finite width",
        note="E S_ij = limit + c/d + O(1/d^2) with c in closed form (see the section on the expansion in 1/d). At "
        "d = 1024 the remainder is below 1e-5; c/d goes up to 2e-4.",
    ),
    Claim(
        "own.limit-overstates",
        lambda: Lt(Correction(Score(2, i, j)), 0),
        _FIFTY, inputs=Sphere(d, 0),
        source="finite width behind kim2025.eq4",
        note="At alpha = 0, beta = residual = 1 the paper's limit lies above the expectation, to leading order in 1/d, "
        "at every pair of positions up to 50. The closed form of the 1/d term is negative at all pairs of positions "
        "(own.score-correction-sign) and agrees with the recursion of the layers where it was tried "
        "(own.score-correction-formula).",
    ),
    Claim(
        "own.limit-overstates-deeper",
        lambda: And(Lt(Correction(Score(3, i, j)), 0), Lt(Correction(Score(4, i, j)), 0)),
        And(Lt(j, i), Le(i, 20)), inputs=Sphere(d, 0),
        source="extends own.limit-overstates",
        note="The same in layers three and four, up to query 20. No closed form is known there.",
    ),
    Claim(
        "own.width-flattens",
        lambda: And(*(Lt(Correction(Score(layer, i, j + 1)), Correction(Score(layer, i, j))) for layer in (2, 3, 4))),
        And(Lt(j + 1, i), Le(i, 20)), inputs=Sphere(d, 0),
        source="finite width behind kim2025.increasing-2",
        note="To leading order in 1/d, finite width takes more from the score of a closer key: the order is weaker "
        "than in the limit. Layers two to four, alpha = 0, up to query 20.",
    ),
    Claim(
        "own.score-correction-formula",
        lambda: Eq(Correction(Score(2, i, j)), score_correction(i, j)),
        And(Lt(j, i), Le(i, 6), Ge(alpha, 0), Lt(alpha, 1)), **_GENERAL,
        source="quantifies kim2025.eq4 at finite width",
        note="The closed form of the 1/d term of a score (see the section on the expansion in 1/d), derived by "
        "computer algebra, against the recursion of the layers, at the points tried.",
    ),
    Claim(
        "own.weight-correction-formula",
        lambda: And(
            Eq(Correction(Weight(1, i, j)), weight_correction(i, j)),
            Eq(Correction(Weight(1, i, i)), weight_correction(i, i)),
        ),
        And(Lt(j, i), Le(i, 6), Ge(alpha, 0), Lt(alpha, 1)), **_GENERAL,
        source="quantifies kim2025.softmax at finite width",
        note="The same for the weights of the first layer.",
    ),
    Claim(
        "own.score-correction-sign",
        lambda: Lt(_at_paper(score_correction(i, j)), 0),
        Lt(j, i),
        source="completes own.score-correction-formula",
        note="At alpha = 0, beta = residual = 1 the closed form c of the 1/d term (see the section on the expansion in "
        "1/d) is negative at every pair of positions. This is about the formula.",
    ),
]  # fmt: skip
