"""What this project found: generalisations of the paper's claims, and corrections of the false ones."""

from __future__ import annotations

from sympy import And, Derivative, E, Expr, Integer, Limit, Rational, exp, oo

from maskproof.theory import paper_forms as paper
from maskproof.theory.claim import Claim
from maskproof.theory.decoder import Decoder
from maskproof.theory.derivation import Derivation, Step
from maskproof.theory.inputs import Equicorrelated, SharedGaussian, Sphere
from maskproof.theory.layer_one import g, h_squared, layer_one, r, weight_other, weight_self
from maskproof.theory.layer_two import (
    ADMISSIBLE,
    EARLIER,
    EARLIER_BY_TWO,
    below_diagonal,
    closed_form,
    flat_without_norm,
    h,
    increasing,
    norms,
    norms_decrease,
    order,
    order_by_sign,
)
from maskproof.theory.limits import g_limit, h_squared_limit, rate, saturation, saturation_rate, score_limit
from maskproof.theory.paper_forms import PAPER, special_case
from maskproof.theory.quantities import Gram, Mix, Score, Weight
from maskproof.theory.relations import Eq, Ge, Gt, Le, Lt
from maskproof.theory.statements import closer_scores_higher
from maskproof.theory.symbols import alpha, beta, i, j, lam, m

_GENERAL = Decoder(beta=beta, residual=lam)
_UNNORMALISED = Decoder(beta=beta, residual=lam, norm="none")
_R = exp(beta * (1 - alpha))
_FIFTY = And(Lt(j, i), Le(i, 50))
_ZERO = Equicorrelated(0)


def _in_full(e: Expr) -> Expr:
    """The formula with r = exp(beta (1 - alpha)) put in."""
    return e.xreplace({r: _R})


def _conclusion(name: str, title: str, lemma: Derivation, labels: tuple[str, ...]) -> Derivation:
    """A derivation that ends with the named steps of ``lemma``, joined by 'and'."""
    lines = {step.label: step for step in lemma.steps}
    given = tuple({h: None for label in labels for h in lines[label].given})
    cited = [
        Step(label, lines[label].statement, "cite", given=given, hints={"lemma": lemma.name, "step": label})
        for label in labels
    ]
    if len(labels) > 1:
        statement = And(*(step.statement for step in cited))
        cited.append(Step("all", statement, "conjunction", labels, given=given))
    return Derivation(name, title, lemma.hypotheses, tuple(cited), (lemma,))


_h_prime_difference = Eq(Gram(1, i + 1, i + 1) - Gram(1, i, i), paper.h_prime_difference(i, 1))

_square, _linear, _constant = paper.numerator_coefficients()
_h_numerator = Eq(
    Gram(1, i + 1, i + 1) - Gram(1, i, i),
    (_square * i**2 + _linear * i + _constant) / (paper.normaliser(i + 1) ** 2 * paper.normaliser(i) ** 2),
)

claims = [
    Claim(
        "own.weights",
        lambda: And(Eq(Weight(1, i, i), _in_full(weight_self(i))), Eq(Weight(1, i, j), _in_full(weight_other(i)))),
        EARLIER, decoder=_GENERAL,
        source="generalises kim2025.softmax",
        note="Every beta >= 0 and every residual weight, and every real alpha: only the Gram matrix enters.",
        proof=lambda: _conclusion("weights", "Weights of the first layer", layer_one(), ("A-self", "A-other")),
    ),
    Claim(
        "own.x1",
        lambda: And(Eq(Mix(1, i, i), lam + _in_full(weight_self(i))), Eq(Mix(1, i, j), _in_full(weight_other(i)))),
        EARLIER, decoder=_GENERAL,
        source="generalises kim2025.x1",
        proof=lambda: _conclusion("coefficients", "The vectors after layer one", layer_one(), ("M-self", "M-other")),
    ),
    Claim(
        "own.gram",
        lambda: And(Eq(Gram(1, i, i), _in_full(h_squared(i))), Eq(Gram(1, i, j), _in_full(g(i)))),
        EARLIER, decoder=_GENERAL,
        source="generalises kim2025.g and kim2025.h",
        note="g(i) does not depend on j because every row of weights sums to one.",
        proof=lambda: _conclusion("gram", "Gram matrix after layer one", layer_one(), ("h", "g")),
    ),
    Claim(
        "own.score-two",
        lambda: Eq(Score(2, i, j), _in_full(g(i) / (h(i) * h(j)))),
        And(EARLIER, *ADMISSIBLE), decoder=_GENERAL,
        source="generalises kim2025.eq4",
        note="The hypothesis 1 + (i-1) alpha > 0 says that i unit vectors with cosine alpha are linearly "
        "independent; without it there are no such vectors, or x_i may vanish.",
        proof=lambda: _conclusion("score-two-closed", "Scores of layer two", closed_form(), ("S",)),
    ),
    Claim(
        "own.h-decreasing",
        lambda: Lt(Gram(1, i + 1, i + 1), Gram(1, i, i)),
        And(Lt(alpha, 1), Gt(1 + i * alpha, 0)), decoder=_GENERAL,
        source="generalises kim2025.h-decreasing",
        note="h > 0, so h decreases exactly when h^2, the squared norm, does. Every beta >= 0 and every residual "
        "weight.",
        proof=norms_decrease,
    ),
    Claim(
        "own.h-slope",
        lambda: Lt(_in_full(Derivative(h_squared(m + 1), m)), 0),
        Lt(alpha, 1),
        source="behind own.h-decreasing",
        note="The formula for h^2 as a function of the number m = i - 1 of earlier tokens, read as a real variable "
        "m >= 0.",
        proof=lambda: Derivation(
            "h-slope", "The slope of h^2", norms().hypotheses[:2],
            (Step("slope", Lt(Derivative(h_squared(m + 1), m), 0), "cite",
                  hints={"lemma": "norms", "step": "slope-sign", "values": {i: Integer(1)}}),),
            (norms(),),
        ),
    ),
    Claim(
        "own.layer-two",
        order_by_sign,
        And(EARLIER_BY_TWO, *ADMISSIBLE), decoder=_GENERAL,
        source="generalises kim2025.increasing-2",
        note="The general theorem: below the diagonal the sign of the inner product alone decides. It can be "
        "negative for alpha < 0.",
        proof=order,
    ),
    Claim(
        "own.below-diagonal",
        lambda: Lt(Score(2, i, j), 1),
        And(EARLIER, *ADMISSIBLE), decoder=_GENERAL,
        source="completes own.layer-two",
        note="By the Cauchy-Schwarz inequality; the score of the query itself is 1.",
        proof=below_diagonal,
    ),
    Claim(
        "own.increasing-2",
        lambda: closer_scores_higher(2),
        And(EARLIER, *PAPER), decoder=_GENERAL,
        source="generalises kim2025.increasing-2",
        note="Every beta >= 0 and every residual weight, up to and including the diagonal.",
        uses=("own.layer-two", "own.below-diagonal"),
        proof=increasing,
    ),
    Claim(
        "own.sign-reversal",
        lambda: Gt(Score(2, i, j), Score(2, i, j + 1)),
        And(EARLIER_BY_TWO, Ge(i, 4), Le(i, 10)), inputs=Equicorrelated(Rational(-1, 10)),
        source="an instance of own.layer-two with g < 0",
        note="For alpha = -1/10, beta = residual = 1, the inner product is negative from query 4 on: scores "
        "decrease towards the query, as far as independent vectors exist (10 tokens).",
    ),
    Claim(
        "own.flat-without-norm",
        lambda: Eq(Score(2, i, j), Score(2, i, j + 1)),
        EARLIER_BY_TWO, decoder=_UNNORMALISED,
        source="complements kim2025.increasing-2",
        note="Without normalisation layer two shows no order: it is the normalisation that creates it.",
        proof=flat_without_norm,
    ),
    Claim(
        "own.saturation",
        lambda: Eq(Limit(Score(2, i, j), i, oo), _in_full(score_limit)),
        And(*PAPER, Gt(h_squared_limit, 0)), decoder=_GENERAL,
        source="generalises kim2025.saturation",
        note="The hypothesis excludes alpha = residual = 0, where h tends to zero.",
        proof=saturation,
    ),
    Claim(
        "own.saturation-rate",
        lambda: Eq(Limit(i * (Score(2, i, j) - _in_full(score_limit)), i, oo), _in_full(rate)),
        And(Gt(alpha, 0), Lt(alpha, 1)), decoder=_GENERAL,
        source="quantifies kim2025.saturation",
        note="The distance to the limit is rate/i to leading order.",
        uses=("own.saturation",),
        proof=saturation_rate,
    ),
    Claim(
        "own.g-limit",
        lambda: And(
            Eq(Limit(Gram(1, i, j), i, oo), g_limit), Eq(Limit(Gram(1, i, i), i, oo), h_squared_limit)
        ),
        And(*PAPER, Gt(h_squared_limit, 0)), decoder=_GENERAL,
        source="theory behind kim2025.saturation",
        proof=lambda: _conclusion("gram-limits", "Limits of the Gram matrix", saturation(), ("G-limit", "H-limit")),
    ),
    Claim(
        "own.h-prime-difference",
        _h_prime_difference, And(*PAPER), decoder=paper.WITHOUT_RESIDUAL,
        source="corrects kim2025.h-prime-difference",
        note="+ 2e^(2+alpha)(i-1) in the numerator, and both norms squared.",
        proof=lambda: special_case("h-prime-difference", "The difference in Appendix A.2, corrected",
                                   _h_prime_difference, {"h": (layer_one(), "h"), "h-next": (layer_one(), "h")},
                                   paper.WITHOUT_RESIDUAL, next_of=("h-next",)),
    ),
    Claim(
        "own.h-prime-decreasing",
        lambda: Lt(Gram(1, i + 1, i + 1), Gram(1, i, i)), And(*PAPER), decoder=paper.WITHOUT_RESIDUAL,
        source="corrects kim2025.h-prime-decreasing",
        note="The paper's conclusion is true; its printed formula does not give it.",
        proof=lambda: paper.norms_decrease("h-prime-decreasing", paper.WITHOUT_RESIDUAL),
    ),
    Claim(
        "own.h-numerator",
        _h_numerator, And(*PAPER),
        source="ties kim2025.h-coefficients to kim2025.h-difference",
        note="The coefficients whose signs Appendix A.1 discusses are those of the difference of squared norms.",
        proof=lambda: special_case("h-numerator", "The numerator in Appendix A.1", _h_numerator,
                                   {"h": (layer_one(), "h"), "h-next": (layer_one(), "h")}, next_of=("h-next",)),
    ),
    Claim(
        "own.fig1",
        lambda: And(*(
            Le(abs(Score(2, query, key) - Rational(value)), Rational("0.0005"))
            for value, query, key in (("0.154", 2, 1), ("0.132", 3, 1), ("0.151", 3, 2))
        )),
        inputs=_ZERO,
        source="corrects kim2025.fig1",
        note="The third number rounds to 0.151.",
    ),
    Claim(
        "own.increasing-3",
        lambda: closer_scores_higher(3), And(EARLIER, Le(i, 26)), inputs=_ZERO,
        source="corrects kim2025.increasing-3",
        note="Layer three increases up to query 26; the first failure is at (27, 25).",
    ),
    Claim(
        "own.increasing-4",
        lambda: closer_scores_higher(4), And(EARLIER, Le(i, 32)), inputs=_ZERO,
        source="corrects kim2025.increasing-4",
        note="Layer four increases up to query 32; the first failure is at (33, 31).",
    ),
    Claim(
        "own.peak-inside",
        lambda: And(Gt(Score(3, 27, 25), Score(3, 27, 26)), Gt(Score(4, 33, 31), Score(4, 33, 32))),
        inputs=_ZERO,
        source="the failures behind kim2025.increasing-3 and kim2025.increasing-4",
        note="The score peaks inside the context and then falls before the diagonal.",
    ),
    Claim(
        "own.increasing-no-residual",
        lambda: closer_scores_higher(2, 3, 4), _FIFTY, decoder=paper.WITHOUT_RESIDUAL, inputs=_ZERO,
        source="complements kim2025.increasing-3",
        note="Without the residual no failure is known.",
    ),
    Claim(
        "own.first-band",
        lambda: And(
            Ge(Score(2, 2, 1) - Score(2, 50, 49), Rational("0.119")),
            Ge(Score(3, 2, 1) - Score(3, 50, 49), Rational("0.129")),
        ),
        inputs=_ZERO,
        source="quantifies kim2025.bands",
        note="Between the first and the last query, n = 50, the first band falls by 0.119 of 0.154 in layer two "
        "and by 0.129 of 0.293 in layer three.",
    ),
    Claim(
        "own.bands-rise",
        lambda: And(*(Lt(Score(layer, i, j), Score(layer, i + 1, j + 1)) for layer in (2, 3, 4))),
        And(EARLIER, Le(i, 49)), inputs=Equicorrelated(Rational(1, 5)),
        source="quantifies kim2025.bands",
        note="For alpha = 0.2 every band rises from one query to the next, n = 50.",
    ),
    Claim(
        "own.mirror-image",
        lambda: Ge(abs(Score(2, 2, 1) - Score(2, 50, 49)), Rational("0.119")),
        inputs=_ZERO,
        source="quantifies kim2025.antidiagonal",
        note="(50, 49) is the mirror image of (2, 1) for n = 50.",
    ),
    Claim(
        "own.cosine-sphere",
        lambda: Eq(Score(1, 2, 1), Rational(1, 5)),
        inputs=Sphere(64, Rational(1, 5)),
        source="kim2025.eq2 at finite width",
        note="Under Sphere the mean cosine is alpha.",
    ),
    Claim(
        "own.cosine-shared-gaussian",
        lambda: Eq(Score(1, 2, 1), Rational(1, 2)),
        inputs=SharedGaussian(64, Rational(1, 2)),
        source="kim2025.eq2 for the inputs that the paper's code samples",
        note="False: the mean cosine of normalised correlated Gaussian vectors is not their correlation.",
    ),
    Claim(
        "own.softmax-sphere",
        lambda: Lt(Weight(1, i, i), E / (E + i - 1)),
        And(Ge(i, 2), Le(i, 10)), inputs=Sphere(64, 0),
        source="kim2025.softmax at finite width",
        note="The expected weight of the query itself is below the softmax of the expected scores: Jensen's gap.",
    ),
]  # fmt: skip
