"""Claims about position encodings and masks: RoPE under the causal mask, and what other masks and encodings do.

The paper's claims (arXiv 2509.21042v1, section 5.1) are rendered in its setting, RoPE with base 10000 and head
dimension 64, 50 tokens, beta = residual = 1, in the limit of large width, in which the score is kappa(i - j) times the
cosine (see ``theory.rope``). Where two numbers are claimed to be equal that balls can't call equal, the statement is
that they agree to 30 digits.
"""

from __future__ import annotations

from sympy import Abs, And, Expr, Implies, Max, Or, Rational, exp
from sympy.core.relational import Relational

from maskproof.theory.claim import Claim
from maskproof.theory.decoder import Alibi, Bidirectional, Decoder, Prefix, Rope, SlidingWindow, T5Bias
from maskproof.theory.inputs import Equicorrelated
from maskproof.theory.papers import KIM2025
from maskproof.theory.quantities import Gram, Score
from maskproof.theory.relations import Eq, Ge, Gt, Le, Lt, Ne
from maskproof.theory.rope import Kappa, limiting_kernel
from maskproof.theory.symbols import i, j, n

_SECTION = KIM2025.source + ", section 5.1"
_ZERO, _FIFTH, _HALF = Equicorrelated(0), Equicorrelated(Rational(1, 5)), Equicorrelated(Rational(1, 2))
_CAUSAL = Decoder(position=Rope())
_ENCODER = Decoder(position=Rope(), mask=Bidirectional())
_PLAIN = Decoder()
_WIDE = Rope(dim=128)
_DIGITS = exp(-70)  # agreement to 30 digits: 4e-31, and short in print

_EARLIER = And(Lt(j, i), Le(i, 50))
_NEXT = And(Lt(j, i), Le(i, 49))  # (i+1, j+1) is still within 50 tokens
_ENCODER_NEXT = And(_NEXT, Eq(n, 50))

_WINDOW, _PREFIX = 8, 8


def _step(layer: int, **model: object) -> Expr:
    """How far the score moves along its diagonal, from (i, j) to (i+1, j+1)."""
    return Score(layer, i + 1, j + 1, **model) - Score(layer, i, j, **model)  # type: ignore[arg-type]


def _same(left: Expr, right: Expr) -> Relational:
    """Both sides agree to 30 digits."""
    return Le(Abs(left - right), _DIGITS)


def _about(left: Expr, value: str) -> Relational:
    """``left`` is ``value`` to the digits shown."""
    digits = len(value.split(".")[1])
    return Le(Abs(left - Rational(value)), Rational(1, 2 * 10**digits))


def _window_score(distance: Expr, alpha: Expr) -> Expr:
    """Layer two at D < w with a full window behind both tokens: linear in the distance (beta = residual = 1).

    Query i sees w keys, so A_ij = a = 1/(r + w - 1) for j < i and r a for j = i, r = exp(1 - alpha). Windows at
    distance D share w - D keys, the key j among them: the inner product is
    4 alpha + (1 - alpha)((w - 1 - D) a^2 + a (1 + r a)), and r a + (w - 1) a = 1.
    """
    r = exp(1 - alpha)
    a = 1 / (r + _WINDOW - 1)
    square = 4 * alpha + (1 - alpha) * ((_WINDOW - 1) * a**2 + (1 + r * a) ** 2)
    return (4 * alpha + (1 - alpha) * a * (2 - distance * a)) / square


claims = [
    Claim(
        "kim2025.rope-1",
        lambda: Eq(Score(1, i, j), Score(1, i, j, decoder=_PLAIN)),
        _EARLIER, decoder=_CAUSAL, inputs=_ZERO,
        source=_SECTION,
        note="For independent inputs RoPE changes nothing in layer one. In the limit both scores are 0; at finite "
        "width not only the means but the joint law of all scores of layer one is the same (theory.rope).",
    ),
    Claim(
        "kim2025.rope-distortion",
        lambda: And(*(Ne(_step(layer, inputs=law), 0) for layer in (2, 3, 4) for law in (_ZERO, _HALF))),
        _NEXT, decoder=_CAUSAL,
        source=_SECTION + ", Figures 4 and 9",
        note="'The causal mask makes RoPE's pattern non-relative' is read as: from layer two on no two neighbours on "
        "a diagonal have the same score, n = 50, alpha = 0 and 0.5. By how much is in own.rope-spread.",
    ),
    Claim(
        "kim2025.rope-encoder",
        lambda: And(*(
            Le(Abs(Score(layer, i, j) - Score(layer, i - j + 1, 1)), Rational(1, 20000)) for layer in (1, 2, 3, 4)
        )),
        And(_EARLIER, Eq(n, 50)),
        decoder=_ENCODER, inputs=_ZERO,
        source=_SECTION + ", Figure 10",
        note="'Without the mask such patterns do not appear' is read as: no score differs by more than 5e-5 from the "
        "first on its diagonal, n = 50; with the mask differences exceed 0.1 (own.rope-spread). Exact relativity "
        "ends at layer two: own.rope-encoder-exact and own.rope-encoder-boundary. Scores of later keys are those of "
        "earlier ones: without a mask the score is symmetric in query and key.",
    ),
    Claim(
        "own.rope-spread",
        lambda: And(
            _about(Score(2, 2, 1) - Score(2, 50, 49), "0.115"),
            _about(Score(3, 5, 4) - Score(3, 50, 49), "0.148"),
            _about(Score(4, 20, 13) - Score(4, 8, 1), "0.104"),
        ),
        decoder=_CAUSAL, inputs=_ZERO,
        source="quantifies kim2025.rope-distortion",
        note="The largest differences within a diagonal at layers two, three and four for 50 tokens and alpha = 0. "
        "That no diagonal has a larger one is certified in the tests (numerics.relativity.certified_spread).",
    ),
    Claim(
        "own.rope-reversed",
        lambda: And(*(Lt(Score(layer, 2, 1), Score(layer, 50, 49) - Rational("0.14")) for layer in (2, 3, 4))),
        decoder=_CAUSAL, inputs=_HALF,
        source="quantifies kim2025.rope-distortion",
        note="For alpha = 0.5 the distortion has the opposite sign: from the first to the last query the "
        "first band grows by more than 0.14.",
    ),
    Claim(
        "own.rope-encoder-exact",
        lambda: And(*(_same(Score(layer, i + 1, j + 1), Score(layer, i, j)) for layer in (1, 2))),
        _ENCODER_NEXT, decoder=_ENCODER, inputs=_ZERO,
        source="sharpens kim2025.rope-encoder",
        note="Without a mask and for alpha = 0 layers one and two are relative: the first layer's weights treat all "
        "other tokens alike, so all pairs have the same cosine after it. This is the limit; the 1/d term of layer two "
        "is not relative (theory.rope).",
    ),
    Claim(
        "own.rope-encoder-boundary",
        lambda: And(
            Ge(Score(3, 2, 1) - Score(3, 26, 25), Rational("4.5e-5")),
            Le(Score(3, 2, 1) - Score(3, 26, 25), Rational("4.6e-5")),
        ),
        Eq(n, 50), decoder=_ENCODER, inputs=_ZERO,
        source="corrects kim2025.rope-encoder",
        note="Deeper the pattern is only nearly relative: rows near the ends see other distances than those in the "
        "middle.",
    ),
    Claim(
        "own.rope-encoder-correlated",
        lambda: And(
            _same(Score(1, i + 1, j + 1), Score(1, i, j)),
            Ge(Score(2, 26, 25) - Score(2, 2, 1), Rational("9e-5")),
        ),
        _ENCODER_NEXT, decoder=_ENCODER, inputs=_HALF,
        source="corrects kim2025.rope-encoder",
        note="For alpha > 0 the boundary is felt one layer earlier: layer one is relative, layer two is not.",
    ),
    Claim(
        "own.rope-factorises",
        lambda: And(
            _same(Score(1, i, j), Kappa(i - j) * Score(1, i, j, decoder=_PLAIN)),
            _same(Score(2, i, j, inputs=_ZERO), Kappa(i - j) * Score(2, i, j, decoder=_PLAIN, inputs=_ZERO)),
        ),
        And(Lt(j, i), Le(i, 30)), decoder=_CAUSAL, inputs=_FIFTH,
        source="theory behind kim2025.rope-distortion",
        note="The score is RoPE's relative kernel times the mask's cosine. At layer one for every alpha; for alpha = "
        "0 layer one's weights do not know RoPE, so at layer two the cosine is that of the decoder without it.",
    ),
    Claim(
        "own.rope-kernel-rises",
        lambda: And(
            Implies(Le(j, 4), Gt(Kappa(j), Kappa(j + 1))),
            Implies(Or(Eq(j, 5), Eq(j, 11)), Lt(Kappa(j), Kappa(j + 1))),
            Implies(Le(j, 10), Gt(Kappa(j, _WIDE), Kappa(j + 1, _WIDE))),
            Implies(Eq(j, 11), Lt(Kappa(j, _WIDE), Kappa(j + 1, _WIDE))),
        ),
        Le(j, 11),
        source="own; against the belief that RoPE decays with distance",
        note="RoPE's kernel is not monotone: for base 10000 it first rises from distance 5 to 6 at head dimension 64 "
        "(and again from 11 to 12), and from 11 to 12 at head dimension 128.",
    ),
    Claim(
        "own.rope-kernel-limit",
        lambda: Gt(limiting_kernel(j), limiting_kernel(j + 1)),
        Le(j, 1000),
        source="own; complements own.rope-kernel-rises",
        note="The rise is an effect of the finite head dimension: the kernel's limit decreases from each distance to "
        "the next, up to 1000 and base 10000.",
    ),
    Claim(
        "own.rope-kernel-negative",
        lambda: And(Implies(Le(j, 724), Gt(Kappa(j), 0)), Implies(Eq(j, 725), Lt(Kappa(j), 0))),
        Le(j, 725),
        source="own; against the belief that RoPE decays with distance",
        note="At head dimension 64 and base 10000 the kernel is positive up to distance 724 and negative at 725: "
        "there RoPE gives tokens with a positive cosine a negative score (own.rope-factorises).",
    ),
    Claim(
        "own.window-linear",
        lambda: _same(Score(2, i, j), _window_score(i - j, Rational(1, 5))),
        And(Lt(j, i), Le(i - j, _WINDOW - 1), Ge(j, _WINDOW), Le(i, 50)),
        decoder=Decoder(mask=SlidingWindow(_WINDOW)), inputs=_FIFTH,
        source="own; sliding window of width 8",
        note="With a sliding window layer two is exactly relative once both tokens have a full window behind them, "
        "and the score falls linearly with the distance. Derived in the docstring of the formula.",
    ),
    Claim(
        "own.window-increasing",
        lambda: And(*(Lt(Score(layer, i, j), Score(layer, i, j + 1)) for layer in (2, 3, 4))),
        And(Lt(j, i), Le(i - j, _WINDOW - 1), Le(i, 50)),
        decoder=Decoder(mask=SlidingWindow(_WINDOW)), inputs=_ZERO,
        source="own; complements kim2025.increasing-3",
        note="Closer keys score higher at layers two to four with a window of 8 and 50 tokens, where the causal mask "
        "fails from query 27 on.",
    ),
    Claim(
        "own.window-reach",
        lambda: And(*(Eq(Gram(layer, i, j), 0) for layer in (1, 2, 3))),
        And(Ge(i - j, 3 * (_WINDOW - 1) + 1), Le(i, 50)),
        decoder=Decoder(mask=SlidingWindow(_WINDOW)), inputs=_ZERO,
        source="own; sliding window of width 8",
        note="Layer l carries information over l (w - 1) positions: tokens twice as far apart or more share an input "
        "only through that reach, and beyond it independent inputs stay exactly orthogonal.",
    ),
    Claim(
        "own.prefix-two",
        lambda: _same(Score(2, i, j), Score(2, i, Max(j, _PREFIX), decoder=_PLAIN)),
        And(Lt(j, i), Gt(i, _PREFIX), Le(i, n), Eq(n, 50)),
        decoder=Decoder(mask=Prefix(_PREFIX)), inputs=_FIFTH,
        source="own; prefix of 8 tokens",
        note="Behind a prefix layer two is that of the causal mask with every prefix token read as the last of them: "
        "rows below see no order within the prefix.",
    ),
    Claim(
        "own.no-mask-flat",
        lambda: And(
            *(_same(Score(layer, i, j), Score(layer, 2, 1)) for layer in (2, 3, 4)),
            Lt(Score(1, i, j), Score(2, i, j)), Lt(Score(2, i, j), Score(3, i, j)), Lt(Score(3, i, j), Score(4, i, j)),
        ),
        And(Eq(n, 30), Le(i, 30), Le(j, 30), Ne(i, j)),
        decoder=Decoder(mask=Bidirectional()), inputs=_FIFTH,
        source="own; the counterpart of kim2025.increasing-2",
        note="Without mask and position encoding no score depends on positions, at any layer; all rise from layer to "
        "layer.",
    ),
    Claim(
        "own.alibi-relative",
        lambda: And(*(Le(Abs(_step(layer)), exp(-Rational(1, 2) * j) / 40) for layer in (2, 3, 4))),
        _NEXT, decoder=Decoder(position=Alibi(Rational(1, 2))), inputs=_ZERO,
        source="own; ALiBi with slope 1/2",
        note="ALiBi makes the mask's distortion exponentially small: along a diagonal the score settles like "
        "exp(-slope j), where without it (kim2025.bands) it keeps falling like 1/i.",
    ),
    Claim(
        "own.alibi-increasing",
        lambda: And(*(Lt(Score(layer, i, j), Score(layer, i, j + 1)) for layer in (2, 3, 4))),
        _EARLIER, decoder=Decoder(position=Alibi(Rational(1, 64))), inputs=_ZERO,
        source="own; complements kim2025.increasing-3",
        note="A slope of 1/64 restores the order that fails without position encoding at layers three and four, n = "
        "50.",
    ),
    Claim(
        "own.alibi-too-weak",
        lambda: And(*(Lt(Score(layer, i, j), Score(layer, i, j + 1)) for layer in (2, 3, 4))),
        _EARLIER, decoder=Decoder(position=Alibi(Rational(1, 256))), inputs=_ZERO,
        source="own; complements own.alibi-increasing",
        note="False: a slope of 1/256, ALiBi's smallest, does not.",
    ),
    Claim(
        "own.t5-overrules",
        lambda: And(
            Gt(Score(2, i, i - 2), Score(2, i, i - 1)),
            Gt(Score(2, i, i - 6), Score(2, i, i - 5)),
        ),
        And(Ge(i, 8), Le(i, 50)),
        decoder=Decoder(position=T5Bias((0, 1, 2, 3), max_distance=16)), inputs=_ZERO,
        source="own; T5 buckets with a bias that favours distant keys",
        note="A bias can overrule the mask: the score of layer two falls towards the query at the edges of buckets "
        "(distances 0, 1, 2 to 5, 6 and more), though without it it rises (kim2025.increasing-2).",
    ),
    Claim(
        "own.t5-increasing",
        lambda: And(*(Lt(Score(layer, i, j), Score(layer, i, j + 1)) for layer in (2, 3, 4))),
        _EARLIER, decoder=Decoder(position=T5Bias((0, -1, -2, -3), max_distance=16)), inputs=_ZERO,
        source="own; T5 buckets with a bias that favours near keys",
        note="With the opposite bias closer keys score higher at layers two to four, n = 50.",
    ),
]  # fmt: skip
