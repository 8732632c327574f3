"""Where closer keys score higher in layers three and deeper, and where they do not: kim2025, section 4.1, settled."""

from __future__ import annotations

from functools import partial

from sympy import And, Piecewise, Rational, Sum

from maskproof.theory.claim import Claim
from maskproof.theory.decoder import Decoder
from maskproof.theory.inputs import Equicorrelated
from maskproof.theory.paper_forms import WITHOUT_RESIDUAL
from maskproof.theory.quantities import Score
from maskproof.theory.relations import Eq, Ge, Gt, Le, Lt
from maskproof.theory.statements import closer_scores_higher
from maskproof.theory.symbols import alpha, beta, i, j, lam

_ZERO = Equicorrelated(0)
_FIRST_FAILURES = {5: (49, 47), 6: (74, 72), 7: (109, 107), 8: (150, 148), 9: (197, 195)}
_FALLS = Gt(Score(3, 50, 48), Score(3, 50, 49))


def _up_to(last: int, *more: object) -> And:
    return And(Lt(j, i), Le(i, last), *more)


def _between(symbol: object, low: str, high: str) -> And:
    return And(Ge(symbol, Rational(low)), Le(symbol, Rational(high)))


def _falling(layer: int, last: int) -> Sum:
    """The number of pairs j < i <= last whose score falls from key j to key j + 1."""
    falls = Lt(Score(layer, i, j + 1), Score(layer, i, j))
    return Sum(Piecewise((1, falls), (0, True)), (j, 1, i - 1), (i, 2, last))


claims = [
    Claim(
        "own.increasing-interval",
        lambda: closer_scores_higher(2, 3, 4), _up_to(50, _between(alpha, "0.02", "0.99")),
        source="completes kim2025.increasing-alpha",
        note="Not at one alpha but at every one from 0.02 to 0.99, layers two to four, n = 50.",
    ),
    Claim(
        "own.increasing-to-one",
        lambda: closer_scores_higher(2, 3, 4, 5, 6, 7, 8, 9), _up_to(50, Ge(alpha, Rational("0.02")), Lt(alpha, 1)),
        source="extends own.increasing-interval",
        note="With the residual at every alpha from 0.02 up to 1, layers two to nine, n = 50: nothing happens near 1.",
    ),
    *(
        Claim(
            f"own.increasing-{layer}",
            partial(closer_scores_higher, layer), _up_to(query - 1), inputs=_ZERO,
            source="extends own.increasing-3 and own.increasing-4",
            note=f"The first failure in layer {layer} is not before query {query}; own.peak-inside-deeper has it.",
        )
        for layer, (query, _) in _FIRST_FAILURES.items()
    ),
    Claim(
        "own.peak-inside-deeper",
        lambda: And(*(
            And(
                Lt(Score(layer, query, key - 1), Score(layer, query, key)),
                Gt(Score(layer, query, key), Score(layer, query, key + 1)),
            )
            for layer, (query, key) in _FIRST_FAILURES.items()
        )),
        inputs=_ZERO,
        source="extends own.peak-inside",
        note="The first failures of layers five to nine, at queries 49, 74, 109, 150 and 197: as in layers three and "
        "four, the score rises up to the key two before the query and falls to the next.",
    ),
    Claim(
        "own.falling-pairs",
        lambda: And(*(Eq(_falling(layer, 50), count) for layer, count in ((3, 223), (4, 110), (5, 2), (6, 0)))),
        inputs=_ZERO,
        source="quantifies own.increasing-3 to own.increasing-6",
        note="Of the 1225 pairs of neighbouring keys for n = 50, 223 fall in layer three, 110 in layer four, 2 in "
        "layer five, none in layer six.",
    ),
    Claim(
        "own.alpha-falls",
        _FALLS, _between(alpha, "0", "0.010391178"),
        source="the threshold in alpha of own.peak-inside, from below",
        note="Layer three, n = 50: the order fails for alpha up to 0.010391178, always at query 50.",
    ),
    Claim(
        "own.alpha-increasing",
        lambda: closer_scores_higher(3), _up_to(50, _between(alpha, "0.010392122", "0.02")),
        source="the threshold in alpha of own.peak-inside, from above",
        note="Layer three, n = 50: the order holds from 0.010392122 on; own.increasing-interval goes on from 0.02. "
        "With own.alpha-falls this leaves an interval of length 1e-6 for the threshold.",
    ),
    Claim(
        "own.beta-falls",
        _FALLS, _between(beta, "1", "1.805196762"), decoder=Decoder(beta=beta), inputs=_ZERO,
        source="the threshold in beta of own.peak-inside, from below",
        note="Layer three, n = 50, alpha = 0: a sharper softmax than the paper's restores the order at this "
        "length, but none up to 1.805196762; here from the paper's 1 on.",
    ),
    Claim(
        "own.beta-increasing",
        lambda: closer_scores_higher(3), _up_to(50, _between(beta, "1.805197716", "2")),
        decoder=Decoder(beta=beta), inputs=_ZERO,
        source="the threshold in beta of own.peak-inside, from above",
        note="Layer three, n = 50, alpha = 0: the order holds from 1.805197716 on; here up to 2.",
    ),
    Claim(
        "own.residual-increasing",
        lambda: closer_scores_higher(3), _up_to(50, _between(lam, "0.5", "0.617384911")),
        decoder=Decoder(residual=lam), inputs=_ZERO,
        source="the threshold in the residual weight of own.peak-inside, from below",
        note="Layer three, n = 50, alpha = 0: the order holds up to 0.617384911; here from 0.5 on.",
    ),
    Claim(
        "own.residual-falls",
        _FALLS, _between(lam, "0.617385864", "0.7"), decoder=Decoder(residual=lam), inputs=_ZERO,
        source="the threshold in the residual weight of own.peak-inside, from above",
        note="Layer three, n = 50, alpha = 0: the order fails from 0.617385864 on; here up to 0.7.",
    ),
    Claim(
        "own.no-residual-deeper",
        lambda: closer_scores_higher(5, 6, 7, 8, 9), _up_to(100), decoder=WITHOUT_RESIDUAL, inputs=_ZERO,
        source="extends own.increasing-no-residual",
        note="Layers five to nine, n = 100, alpha = 0.",
    ),
    Claim(
        "own.no-residual-interval",
        lambda: closer_scores_higher(2, 3, 4, 5, 6, 7, 8, 9), _up_to(50, Ge(alpha, 0), Lt(alpha, 1)),
        decoder=WITHOUT_RESIDUAL,
        source="a part of own.no-residual-conjecture",
        note="At every alpha from 0 up to 1, layers two to nine, n = 50. As alpha tends to 1 all scores tend to 1, and "
        "the order stays.",
    ),
    Claim(
        "own.no-residual-sharpness",
        lambda: closer_scores_higher(2, 3, 4, 5, 6, 7, 8, 9), _up_to(20, Le(beta, 16)),
        decoder=Decoder(beta=beta, residual=0), inputs=_ZERO,
        source="a part of own.no-residual-conjecture",
        note="At every beta from 0 to 16, layers two to nine, n = 20, alpha = 0.",
    ),
    Claim(
        "own.no-residual-conjecture",
        lambda: closer_scores_higher(3, 4, 5), And(Lt(j, i), Ge(alpha, 0), Lt(alpha, 1)),
        decoder=Decoder(beta=beta, residual=0),
        source="a conjecture of this project",
        note="Without the residual closer keys score higher in every layer, for every alpha >= 0, every beta and every "
        "length; stated for layers three to five. Layer two is own.increasing-2. Proved for beta = 0 "
        "(own.averaging-increasing); known besides in two limits at a fixed length, beta large and alpha near 1 "
        "(tests/properties/test_order.py), and on paper in the limit of long sequences at alpha = 0.",
    ),
]  # fmt: skip
