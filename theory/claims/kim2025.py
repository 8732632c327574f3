"""Claims of *Behind RoPE: How Does Causal Mask Encode Positional Information?*, version 1.

Kim, Liu, Lin, Ji, Gong, Choi; arXiv 2509.21042v1. Each statement is the paper's, in the paper's
setting (beta = residual = 1, causal mask, l2 normalisation, 0 <= alpha < 1) and in the regime in
which its theory computes: equicorrelated inputs, the limit of infinite width. Corrections and
generalisations are in ``own``.
"""

from __future__ import annotations

from sympy import And, E, Limit, Rational, oo, sqrt
from sympy.core.relational import Relational

from maskproof.theory import paper_forms as paper
from maskproof.theory.claim import Claim
from maskproof.theory.inputs import Equicorrelated
from maskproof.theory.layer_one import layer_one
from maskproof.theory.layer_two import closed_form, increasing, norms
from maskproof.theory.limits import saturation
from maskproof.theory.paper_forms import PAPER, special_case
from maskproof.theory.papers import KIM2025
from maskproof.theory.quantities import Gram, Mix, Score, Weight
from maskproof.theory.relations import Eq, Le, Lt, Ne
from maskproof.theory.statements import closer_scores_higher
from maskproof.theory.symbols import alpha, i, j

_SECTION = KIM2025.source + ", "
_EARLIER = And(Lt(j, i), *PAPER)
_RANGE = And(*PAPER)
_FIFTY = And(Lt(j, i), Le(i, 50))  # the paper's figures have 50 tokens


def _printed(value: str, layer: int, query: int, key: int) -> Relational:
    """A score agrees with a number printed to three decimals."""
    return Le(abs(Score(layer, query, key) - Rational(value)), Rational("0.0005"))


_gram_inputs = And(Eq(Score(1, i, i), 1), Eq(Score(1, i, j), alpha))
_weights = And(Eq(Weight(1, i, i), E / paper.normaliser(i)), Eq(Weight(1, i, j), paper.x / paper.normaliser(i)))
_coefficients = And(Eq(Mix(1, i, i), 1 + E / paper.normaliser(i)), Eq(Mix(1, i, j), paper.x / paper.normaliser(i)))
_g = Eq(Gram(1, i, j), paper.g(i))
_h = Eq(Gram(1, i, i), paper.h_squared(i))
_eq4 = Eq(Score(2, i, j), paper.score(i, j))
_g_prime = Eq(Gram(1, i, j), paper.g_prime(i))
_h_prime = Eq(Gram(1, i, i), paper.h_prime_squared(i))
_h_decreasing = Lt(Gram(1, i + 1, i + 1), Gram(1, i, i))
_h_difference = Eq(Gram(1, i + 1, i + 1) - Gram(1, i, i), paper.h_difference(i))
_saturation = Eq(Limit(Score(2, i, j), i, oo), 4 * alpha / (sqrt(1 + 3 * alpha) * sqrt(paper.h_squared(j))))

claims = [
    Claim(
        "kim2025.eq2",
        _gram_inputs,
        _EARLIER,
        source=_SECTION + "Eq. 2",
        note="The inner products of the unit inputs are the scores of layer one: 1 and alpha.",
        proof=lambda: special_case("eq2", "The inputs", _gram_inputs,
                                   {"self": (layer_one(), "S-self"), "other": (layer_one(), "S-other")}),
    ),
    Claim(
        "kim2025.softmax",
        _weights,
        _EARLIER,
        source=_SECTION + "section 3.2, after Eq. 2",
        note="The paper takes the softmax of the expected scores. For the expectation of the softmax "
        "at finite width see own.softmax-sphere.",
        proof=lambda: special_case("softmax", "Weights of the first layer", _weights,
                                   {"self": (layer_one(), "A-self"), "other": (layer_one(), "A-other")}),
    ),
    Claim(
        "kim2025.x1",
        _coefficients,
        _EARLIER,
        source=_SECTION + "section 3.2",
        note="x_i^(1) = sum_k M_ik x_k^(0): the coefficients M, the residual included.",
        proof=lambda: special_case("x1", "The vectors after layer one", _coefficients,
                                   {"self": (layer_one(), "M-self"), "other": (layer_one(), "M-other")}),
    ),
    Claim(
        "kim2025.g", _g, _EARLIER,
        source=_SECTION + "section 3.2",
        note="Written over the normaliser e + (i-1) e^alpha.",
        proof=lambda: special_case("g", "The inner product g", _g, {"g": (layer_one(), "g")}),
    ),
    Claim(
        "kim2025.h", _h, _RANGE,
        source=_SECTION + "Eq. 3",
        note="Written as the squared norm of a x_i + b (x_1 + ... + x_(i-1)), a and b the paper's coefficients.",
        proof=lambda: special_case("h", "The squared norm h^2", _h, {"h": (layer_one(), "h")}),
    ),
    Claim(
        "kim2025.eq4", _eq4, _EARLIER,
        source=_SECTION + "Eq. 4",
        uses=("kim2025.g", "kim2025.h"),
        proof=lambda: special_case("eq4", "Scores of layer two", _eq4, {
            "S": (closed_form(), "S"), "h-i": (norms(), "h-positive"), "h-j": (norms(), "h-positive-j"),
        }),
    ),
    Claim(
        "kim2025.h-decreasing", _h_decreasing, _RANGE,
        source=_SECTION + "Appendix A.1",
        note="h > 0, so h decreases exactly when h^2, the squared norm, does.",
        proof=lambda: paper.norms_decrease("h-decreasing", paper.WITH_RESIDUAL),
    ),
    Claim(
        "kim2025.h-difference", _h_difference, _RANGE,
        source=_SECTION + "Appendix A.1",
        proof=lambda: special_case("h-difference", "The difference of squared norms", _h_difference,
                                   {"h": (layer_one(), "h"), "h-next": (layer_one(), "h")}, next_of=("h-next",)),
    ),
    Claim(
        "kim2025.h-coefficients",
        lambda: And(*(Lt(c, 0) for c in paper.numerator_coefficients())),
        _RANGE,
        source=_SECTION + "Appendix A.1",
        note="Each coefficient in the position of the numerator of h(i+1)^2 - h(i)^2 is negative.",
        proof=paper.coefficients_negative,
    ),
    Claim(
        "kim2025.increasing-2", lambda: closer_scores_higher(2), _EARLIER,
        source=_SECTION + "section 3.2",
        note="Up to and including the diagonal, where the score is 1.",
        uses=("kim2025.eq4", "kim2025.h-decreasing"),
        proof=lambda: special_case("increasing-2", "Closer keys score higher in layer two", closer_scores_higher(2),
                                   {"increase": (increasing(), "increase")}),
    ),
    Claim(
        "kim2025.fig1",
        lambda: And(_printed("0.154", 2, 2, 1), _printed("0.132", 2, 3, 1), _printed("0.150", 2, 3, 2)),
        inputs=Equicorrelated(0),
        source=_SECTION + "Figure 1",
        note="Printed to three decimals, so right to within 0.0005; the last number is 0.1508 and rounds to 0.151, "
        "own.fig1.",
    ),
    Claim(
        "kim2025.g-prime", _g_prime, _EARLIER, decoder=paper.WITHOUT_RESIDUAL,
        source=_SECTION + "Appendix A.2",
        proof=lambda: special_case("g-prime", "g without the residual", _g_prime,
                                   {"g": (layer_one(), "g")}, paper.WITHOUT_RESIDUAL),
    ),
    Claim(
        "kim2025.h-prime", _h_prime, _RANGE, decoder=paper.WITHOUT_RESIDUAL,
        source=_SECTION + "Appendix A.2",
        proof=lambda: special_case("h-prime", "h^2 without the residual", _h_prime,
                                   {"h": (layer_one(), "h")}, paper.WITHOUT_RESIDUAL),
    ),
    Claim(
        "kim2025.h-prime-decreasing",
        lambda: Lt(paper.h_prime_difference(i, -1), 0),
        _RANGE, decoder=paper.WITHOUT_RESIDUAL,
        source=_SECTION + "Appendix A.2",
        note="The printed difference, from which the paper concludes that h' decreases, has "
        "- 2e^(2+alpha)(i-1) in its numerator; the sign is wrong. The conclusion is true: "
        "own.h-prime-decreasing.",
    ),
    Claim(
        "kim2025.h-prime-difference",
        lambda: Eq(Gram(1, i + 1, i + 1) - sqrt(Gram(1, i, i)), paper.h_prime_difference(i, -1)),
        _RANGE, decoder=paper.WITHOUT_RESIDUAL,
        source=_SECTION + "Appendix A.2",
        note="As printed, with h'(i) not squared and the wrong sign. Corrected: own.h-prime-difference.",
    ),
    Claim(
        "kim2025.increasing-3", lambda: closer_scores_higher(3), _FIFTY, inputs=Equicorrelated(0),
        source=_SECTION + "section 4.1",
        note="Closer keys score higher in layer three at alpha = 0: the paper reads it from an average of 100,000 "
        "samples at n = 50, d = 64; here in the limit that its theory uses. The score falls from key 25 to key 26 of "
        "query 27: own.peak-inside.",
    ),
    Claim(
        "kim2025.increasing-4", lambda: closer_scores_higher(4), _FIFTY, inputs=Equicorrelated(0),
        source=_SECTION + "section 4.1",
        note="Closer keys score higher in layer four at alpha = 0: as for layer three; the score falls from key 31 to "
        "key 32 of query 33.",
    ),
    Claim(
        "kim2025.increasing-alpha",
        lambda: closer_scores_higher(2, 3, 4), _FIFTY, inputs=Equicorrelated(Rational(1, 5)),
        source=_SECTION + "section 4.1",
        note="alpha = 0.2, layers two to four, n = 50, in the limit.",
    ),
    Claim(
        "kim2025.saturation", _saturation, _RANGE,
        source=_SECTION + "section 4.1",
        note="'The score becomes independent of i' is read as: it has a limit as i grows, here with its "
        "value. The rate is in own.saturation-rate.",
        proof=lambda: special_case("saturation-paper", "Saturation for beta = residual = 1", _saturation,
                                   {"saturation": (saturation(), "saturation"), "h-j": (saturation(), "h-j")}),
    ),
    Claim(
        "kim2025.bands",
        lambda: And(*(Ne(Score(layer, i + 1, j + 1), Score(layer, i, j)) for layer in (2, 3, 4))),
        And(Lt(j, i), Le(i, 49)), inputs=Equicorrelated(0),
        source=_SECTION + "section 4.1",
        note="'The bands are not uniform' (so the pattern is not a relative encoding) is read as: no two "
        "neighbours on a band below the diagonal have the same score, n = 50. By how much the first band "
        "falls is in own.first-band.",
    ),
    Claim(
        "kim2025.antidiagonal",
        lambda: And(*(Ne(Score(layer, 51 - j, 51 - i), Score(layer, i, j)) for layer in (2, 3, 4))),
        And(Lt(j, i), Le(i, 50), Ne(i + j, 51)), inputs=Equicorrelated(0),
        source=_SECTION + "section 4.1",
        note="'No symmetry about the anti-diagonal' (so the pattern is not an absolute encoding) is read as: "
        "no score equals its mirror image, except on the anti-diagonal itself, n = 50. The size is in "
        "own.mirror-image.",
    ),
    Claim(
        "kim2025.faster-saturation",
        lambda: And(*(
            Lt(Score(2, 50, j, inputs=Equicorrelated(low)) * Score(2, 50, 49, inputs=Equicorrelated(high)),
               Score(2, 50, j, inputs=Equicorrelated(high)) * Score(2, 50, 49, inputs=Equicorrelated(low)))
            for low, high in ((0, Rational(1, 5)), (Rational(1, 5), Rational(1, 2)), (Rational(1, 2), Rational(4, 5)))
        )),
        Le(j, 48),
        source=_SECTION + "Appendix B",
        note="'Saturates faster to a constant in j for larger alpha' is read as: the ratio of a score in the "
        "last row (n = 50, layer two) to the score of the key next to the query is closer to one for the "
        "larger of two consecutive values among alpha = 0, 0.2, 0.5, 0.8.",
    ),
]  # fmt: skip
