"""Claims of *LayerNorm Induces Recency Bias in Transformer Decoders*, the rewritten version of the paper.

Kim, Liu, Lin, Ji, Gong, Choi; arXiv 2509.21042 from version 2, Findings of ACL 2026. Scores are divided by sqrt(d),
tokens enter attention without normalisation or with LayerNorm, and the residual weight is 0 or 1.

Its theory gives the residual stream the norm sqrt(d) of the normalised vectors. On unit inputs that is the residual
weight r sqrt(d) in the first layer, the only one that the Gram matrix after layer one and the scores of layer two
depend on; so the claims about these have the decoder ``THEORY``. Its simulation adds inputs of norm (1-alpha)^(-1/2),
which is the residual weight r (1-alpha)^(-1/2): ``simulation``. What the two mean for each other is the subject of
kim2026.residual-scale. Its recency probabilities are recomputed by ``python -m benchmarks.recency``.
"""

from __future__ import annotations

from functools import cache

from sympy import And, Expr, Integer, Rational, exp, sqrt
from sympy.core.relational import Relational

from maskproof.theory.claim import Claim
from maskproof.theory.decoder import Decoder
from maskproof.theory.derivation import Derivation, Step
from maskproof.theory.inputs import Equicorrelated
from maskproof.theory.layer_one import g, h_squared, layer_one, r
from maskproof.theory.layer_two import ADMISSIBLE, EARLIER, EARLIER_BY_TWO, INPUTS, closed_form, norms
from maskproof.theory.layernorm import WIDE, first_layer, recency, reduction
from maskproof.theory.paper_forms import PAPER
from maskproof.theory.papers import KIM2026
from maskproof.theory.quantities import Gram, Score, bind
from maskproof.theory.relations import Eq, Ge, Gt, Le, Lt
from maskproof.theory.symbols import alpha, beta, d, i, j, lam

_PAPER = KIM2026.source + ", "
_HYPOTHESES = (*PAPER, WIDE)
_RANGE = And(*_HYPOTHESES)
_ROOT = sqrt(d)
_HALF = Rational(1, 2)
_TEN = And(EARLIER_BY_TWO, Le(i, 10))  # as many tokens as in its simulation
_LONG = lam * _ROOT  # residual weight lam on inputs of norm sqrt(d)
_NUMBERS = {beta: Integer(1), lam: _LONG}
_TWIN = {beta: _ROOT, lam: lam, r: exp(_ROOT * (1 - alpha))}  # the l2 decoder that the theory amounts to

THEORY = Decoder(norm="layernorm", scale="sqrt(d)", residual=_LONG)
_TWIN_DECODER = Decoder(beta=_ROOT, residual=lam)


def simulation(norm: str, residual: int, correlation: Rational | Integer, width: int | None = None) -> Decoder:
    """The decoder that the paper's simulation amounts to on unit inputs.

    Its inputs (g_i + sqrt(alpha/(1-alpha)) g_0)/sqrt(d) have norm c = (1-alpha)^(-1/2) in the limit. With LayerNorm
    only the first layer's residual sees it (the claims below stay within layer two, or have residual 0 or alpha = 0);
    without normalisation every score is multiplied by c^2, as is the inverse temperature here. A ``width`` makes the
    scale a number.
    """
    scale = "sqrt(d)" if width is None else sqrt(width)
    stretch = 1 / (1 - correlation)
    if norm == "layernorm":
        return Decoder(norm="layernorm", scale=scale, residual=residual * sqrt(stretch))
    return Decoder(norm="none", scale=scale, residual=residual, beta=stretch)


def squared_norm(i: Expr) -> Expr:
    """||y_i||^2/d after one layer, as printed: with A = e^sqrt(d), B = e^(alpha sqrt(d)), D_i = A + (i-1) B."""
    own, other = exp(_ROOT), exp(alpha * _ROOT)
    row = own + (i - 1) * other
    attention = 2 * lam * own / row + (own * (own - other) + other * row) / row**2
    return lam**2 + 2 * lam * alpha + alpha + (1 - alpha) * attention


def _from_reduction(label: str, lemma: Derivation, step: str, **positions: Expr) -> Step:
    """A result about LayerNorm with the numbers of the theory put in."""
    values = {**_NUMBERS, **{{"i": i, "j": j}[name]: value for name, value in positions.items()}}
    (line,) = [s for s in lemma.steps if s.label == step]
    given = tuple(h.xreplace(values) for h in line.given)
    hints = {"lemma": lemma.name, "step": step, "values": values}
    return Step(label, line.statement.xreplace(values), "cite", given=given, hints=hints,
                why="LayerNorm as an l2 layer")  # fmt: skip


def _from_l2(label: str, lemma: Derivation, step: str, **positions: Expr) -> Step:
    """A result about the l2 layer at the inverse temperature sqrt(d)."""
    values = {**_TWIN, **{{"i": i, "j": j}[name]: value for name, value in positions.items()}}
    (line,) = [s for s in lemma.steps if s.label == step]
    given = tuple(h.xreplace(values) for h in line.given)
    hints = {"lemma": lemma.name, "step": step, "values": values}
    return Step(label, line.statement.xreplace(values), "cite", given=given, hints=hints)


def _gram(a: Expr, b: Expr) -> Gram:
    return Gram(1, a, b, decoder=THEORY, inputs=INPUTS)


@cache
def _norm_form() -> Derivation:
    """The squared norm after one layer."""
    first, one = first_layer(), layer_one()
    steps = (
        _from_reduction("G", first, "G", j=i),
        _from_l2("h", one, "h"),
        Step("norm", Eq(_gram(i, i) / d, squared_norm(i)), "identity", ("G", "h"),
             why="compare in the field of rational functions of e^sqrt(d) and e^(alpha sqrt(d))"),
    )  # fmt: skip
    return Derivation("kim2026-norm", "The norm after one layer with LayerNorm", _HYPOTHESES, steps, (first, one))


@cache
def _norm_falls() -> Derivation:
    """The squared norm decreases in the position, so its inverse root h increases."""
    first, lemma, one = first_layer(), norms(), layer_one()
    following, here = _gram(i + 1, i + 1), _gram(i, i)
    fall = _from_l2("fall", lemma, "h-decreasing", j=i)
    steps = (
        _from_reduction("G", first, "G", j=i),
        Step("G-next", Eq(following, d * Gram(1, i + 1, i + 1, decoder=_TWIN_DECODER, inputs=INPUTS)), "cite", ("G",),
             hints={"values": {i: i + 1}}),
        _from_l2("h", one, "h"),
        _from_l2("h-next", one, "h", i=i + 1),
        fall,
        Step("fall-scaled", Lt(d * fall.statement.lhs, d * fall.statement.rhs), "product", ("fall",),
             hints={"factor": d}),
        Step("decrease", Lt(following, here), "sign", ("G", "G-next", "h", "h-next", "fall-scaled")),
    )  # fmt: skip
    return Derivation("kim2026-norms", "Norms decrease after one layer", _HYPOTHESES, steps, (first, lemma, one))


@cache
def _score_form() -> Derivation:
    """The scores of layer two."""
    lemma, form = reduction(), closed_form()
    model = {"decoder": THEORY, "inputs": INPUTS}
    positive = {"h-i": ("h-positive", {}), "h-j": ("h-positive-j", {})}
    steps = (
        Step("independent", ADMISSIBLE[1], "sign", why="alpha >= 0"),
        _needing(_from_reduction("S", lemma, "S")),
        _needing(_from_l2("S-l2", form, "S")),
        *(_needing(_from_l2(label, norms(), step)) for label, (step, _) in positive.items()),
        Step("score", Eq(Score(2, i, j, **model), _score_value()), "identity", ("S", "S-l2", "h-i", "h-j"),
             given=(EARLIER,)),
    )  # fmt: skip
    return Derivation("kim2026-score", "Scores of layer two with LayerNorm", _HYPOTHESES, steps, (lemma, form, norms()))


def _needing(step: Step) -> Step:
    """The same step, told that the inputs are linearly independent."""
    return Step(step.label, step.statement, step.rule, ("independent",), step.given, step.hints, step.why)


def _score_value() -> Expr:
    """sqrt(d) g(i) h(i) h(j) with h the inverse norms: section 2 of the theory at beta = sqrt(d)."""
    value = _ROOT * g(i) / (sqrt(h_squared(i)) * sqrt(h_squared(j)))
    return value.xreplace(_TWIN)


@cache
def _increase() -> Derivation:
    """The theorem: recency in layer two."""
    lemma = recency()
    return Derivation("kim2026-recency", "Recency in layer two with LayerNorm", _HYPOTHESES,
                      (_from_reduction("increase", lemma, "increase"),), (lemma,))  # fmt: skip


@cache
def _effective() -> Derivation:
    """The simulation's second layer is the theory's with the residual weight ((1-alpha) d)^(-1/2)."""
    lemma = reduction()
    values = {beta: Integer(1), lam: 1 / sqrt(1 - _HALF), alpha: _HALF}
    (line,) = [s for s in lemma.steps if s.label == "S"]
    hints = {"lemma": lemma.name, "step": "S", "values": values}
    step = Step("S", line.statement.xreplace(values), "cite", given=(EARLIER,), hints=hints)
    return Derivation("kim2026-effective", "The residual of the simulation", (WIDE,), (step,), (lemma,))


def _steeper(first: tuple[Decoder, Equicorrelated], second: tuple[Decoder, Equicorrelated]) -> Relational:
    """From key j to j + 1 the scores of layer two grow by a larger factor in the first model."""
    one, other = ({"decoder": decoder, "inputs": inputs} for decoder, inputs in (first, second))
    return Gt(Score(2, i, j + 1, **one) * Score(2, i, j, **other), Score(2, i, j + 1, **other) * Score(2, i, j, **one))


def _rises_more(first: tuple[Decoder, Equicorrelated], second: tuple[Decoder, Equicorrelated]) -> Relational:
    """From key 1 to key i - 1 the scores of layer two grow by a larger factor in the first model."""
    one, other = ({"decoder": decoder, "inputs": inputs} for decoder, inputs in (first, second))
    return Gt(Score(2, i, i - 1, **one) * Score(2, i, 1, **other), Score(2, i, i - 1, **other) * Score(2, i, 1, **one))


def _residual_effect() -> Relational:
    """How much faster scores grow without the residual, in terms of norms after one layer."""

    def norm(position: Expr, decoder: Decoder | None = None) -> Gram:
        return Gram(1, position, position, decoder=decoder)

    bare = Decoder(beta=beta, residual=0)
    ratio = exp(beta * (1 - alpha))
    row = lam * (i * (i - 1) + 2 * i * ratio**2 + 2 * ratio**2 * (ratio - 1))
    bracket = row + 2 * ratio**2 * (ratio - 1) - 2 * alpha * i * (i - 1) * (ratio - 1)
    return Eq(
        norm(i, bare) * norm(i + 1) - norm(i + 1, bare) * norm(i),
        lam * (1 - alpha) * bracket / ((ratio + i) ** 2 * (ratio + i - 1) ** 2),
    )


def _residual_effect_proof() -> Derivation:
    one, ratio = layer_one(), exp(beta * (1 - alpha))
    (line,) = [s for s in one.steps if s.label == "h"]
    steps = []
    for label, values in (
        ("bare", {lam: Integer(0)}), ("bare-next", {lam: Integer(0), i: i + 1}), ("full", {}), ("next", {i: i + 1}),
    ):  # fmt: skip
        put = {r: ratio, **values}
        hints = {"lemma": one.name, "step": "h", "values": put}
        steps.append(Step(label, line.statement.xreplace(put), "cite", hints=hints))
    statement = bind(_residual_effect(), Decoder(beta=beta, residual=lam), INPUTS)
    labels = tuple(step.label for step in steps)
    steps.append(Step("effect", statement, "identity", labels, why="collect over the common denominator"))
    return Derivation("residual-effect", "The residual and the growth of scores", PAPER, tuple(steps), (one,))


def _grow(layers: tuple[int, ...], decoder: Decoder, inputs: Equicorrelated) -> tuple[Relational, ...]:
    """Scores before the diagonal increase towards the query."""
    model = {"decoder": decoder, "inputs": inputs}
    return tuple(Lt(Score(layer, i, j, **model), Score(layer, i, j + 1, **model)) for layer in layers)


_ALPHAS = (Integer(0), _HALF)
_SIMULATED = simulation("layernorm", 1, _HALF)
_AS_THEORY = Decoder(norm="layernorm", scale="sqrt(d)", residual=_ROOT)
_BARE = Decoder(norm="layernorm", scale="sqrt(d)", residual=0)
_SIMULATED_PAIR = ((_BARE, Equicorrelated(_HALF)), (_SIMULATED, Equicorrelated(_HALF)))


def _at_width(width: int) -> tuple[Claim, ...]:
    """What LayerNorm, the residual and alpha do, at one width of the simulation's grid.

    Its other widths are 256 and 1024, where all differences, of order exp(-(1-alpha) sqrt(d)), are tiny.
    """
    suffix = "" if width == 16 else f"-{width}"
    bare, uncorrelated, correlated = _BARE, Equicorrelated(0), Equicorrelated(_HALF)
    first = simulation("layernorm", 1, Integer(0))
    return (
        Claim(
            "kim2026.layernorm-turns" + suffix,
            lambda: And(
                *_grow((2, 3, 4), bare, uncorrelated), *_grow((2, 3, 4), bare, correlated),
                *_grow((2, 3, 4), first, uncorrelated), *_grow((2,), _SIMULATED, correlated),
            ),
            And(_TEN, Eq(d, width)),
            source=_PAPER + "LayerNorm turns the preference to recent tokens",
            note=f"The stacks of kim2026.early with LayerNorm prefer recent tokens from layer two on, d = {width}.",
        ),
        Claim(
            "kim2026.residual-weakens" + suffix,
            lambda: And(_steeper((bare, uncorrelated), (first, uncorrelated)),
                _steeper((bare, correlated), (_SIMULATED, correlated))),
            And(_TEN, Eq(d, width)),
            source=_PAPER + "the residual weakens recency",
            note="Read as: from one key to the next the scores of layer two grow by a larger factor without the "
            f"residual, d = {width}. True at n = 10; not at every length: own.residual-reversal.",
        ),
        Claim(
            "kim2026.alpha-strengthens" + suffix,
            lambda: And(_rises_more((bare, correlated), (bare, uncorrelated)),
                _rises_more((_SIMULATED, correlated), (first, uncorrelated))),
            And(Ge(i, 3), Le(i, 10), Eq(d, width)),
            source=_PAPER + "correlated inputs strengthen recency",
            note="Read as: from the first key to the one next to the query the scores of layer two grow by a larger "
            f"factor for alpha = 1/2 than for alpha = 0, d = {width}. Larger alpha is not always more: "
            "own.alpha-not-monotone.",
        ),
    )  # fmt: skip


claims = [
    Claim(
        "kim2026.norm",
        lambda: Eq(Gram(1, i, i) / d, squared_norm(i)),
        _RANGE, decoder=THEORY,
        source=_PAPER + "squared norm after one layer with LayerNorm",
        note="Every residual weight r >= 0; the paper has 0 and 1.",
        proof=_norm_form,
    ),
    Claim(
        "kim2026.h-increasing",
        lambda: Lt(Gram(1, i + 1, i + 1), Gram(1, i, i)),
        _RANGE, decoder=THEORY,
        source=_PAPER + "h is increasing",
        note="Its h is the inverse of the norm (version 1's h is the norm), so h increases when norms decrease.",
        proof=_norm_falls,
    ),
    Claim(
        "kim2026.score",
        lambda: Eq(Score(2, i, j), _score_value()),
        And(EARLIER, _RANGE), decoder=THEORY,
        source=_PAPER + "scores of layer two",
        note="sqrt(d) times version 1's closed form at beta = sqrt(d) and residual weight r.",
        proof=_score_form,
    ),
    Claim(
        "kim2026.recency",
        lambda: Lt(Score(2, i, j), Score(2, i, j + 1)),
        And(EARLIER, _RANGE), decoder=THEORY,
        source=_PAPER + "its theorem: LayerNorm induces recency",
        note="Up to and including the diagonal. More generally: own.layernorm-increasing.",
        proof=_increase,
    ),
    Claim(
        "kim2026.early",
        lambda: And(*(
            Gt(Score(layer, i, j, decoder=model, inputs=inputs), Score(layer, i, j + 1, decoder=model, inputs=inputs))
            for layer in (3, 4) for residual in (0, 1) for correlation in _ALPHAS
            for width in (16, 64, 256, 1024)
            for model, inputs in [(simulation("none", residual, correlation, width), Equicorrelated(correlation))]
        )),
        _TEN,
        source=_PAPER + "layers of causal attention alone prefer early tokens",
        note="In the limit, n = 10, its four widths, alpha = 0 and 1/2, with and without residual: strictly from layer "
        "three on. In layer two all keys before the query score the same (own.flat-without-norm).",
    ),
    *(claim for width in (16, 64) for claim in _at_width(width)),
    Claim(
        "kim2026.residual-scale",
        lambda: Eq(Score(2, i, j, decoder=_SIMULATED), Score(2, i, j, decoder=_AS_THEORY)),
        And(EARLIER, Le(i, 10), Eq(d, 16)), inputs=Equicorrelated(_HALF),
        source=_PAPER + "theory and simulation, residual 1",
        note="What the paper takes for granted: that the theory, whose residual stream has norm sqrt(d), describes the "
        "simulation, whose inputs have norm (1-alpha)^(-1/2). They differ: own.residual-scale.",
    ),
    Claim(
        "own.residual-scale",
        lambda: Eq(Score(2, i, j, decoder=_SIMULATED),
           _ROOT * Score(2, i, j, decoder=Decoder(beta=_ROOT, residual=sqrt(2) / _ROOT))),
        And(EARLIER, WIDE), inputs=Equicorrelated(_HALF),
        source="corrects kim2026.residual-scale",
        note="The simulation's second layer is the theory's with the effective residual ((1-alpha) d)^(-1/2), here "
        "alpha = 1/2: 0.35 instead of 1 at d = 16. With inputs of norm sqrt(d), as in the theory, the published "
        "recency probability 0.5931 becomes 0.5555 (benchmarks.recency).",
        proof=_effective,
    ),
    Claim(
        "own.residual-gap",
        lambda: Ge(Score(2, 10, 9, decoder=_SIMULATED) - Score(2, 10, 9, decoder=_AS_THEORY), Rational("0.35")),
        Eq(d, 16), inputs=Equicorrelated(_HALF),
        source="quantifies kim2026.residual-scale",
        note="n = 10, d = 16, alpha = 1/2: the score of the key next to the last query is 3.02 with the simulation's "
        "residual and 2.67 with the theory's, on a scale where a token with itself scores 4.",
    ),
    Claim(
        "own.residual-effect",
        _residual_effect,
        And(*PAPER), decoder=Decoder(beta=beta, residual=lam),
        source="analyses kim2026.residual-weakens",
        note="The left side is positive exactly when scores of layer two grow by a larger factor from key i to i + 1 "
        "without the residual than with residual weight lam; with LayerNorm beta is sqrt(d). It is for alpha = 0, "
        "but turns negative for large i as soon as 2 alpha (r - 1) > lam, with r = exp(beta (1 - alpha)).",
        proof=_residual_effect_proof,
    ),
    Claim(
        "own.residual-reversal",
        lambda: And(_steeper(_SIMULATED_PAIR[0], _SIMULATED_PAIR[1]).xreplace({j: Integer(16)}),
            _steeper(_SIMULATED_PAIR[1], _SIMULATED_PAIR[0]).xreplace({j: Integer(17)})),
        And(Ge(i, 19), Le(i, 50), Eq(d, 16)),
        source="limits kim2026.residual-weakens",
        note="The simulation's setting at d = 16, alpha = 1/2: from key 17 on scores grow faster with the residual.",
    ),
    Claim(
        "own.alpha-not-monotone",
        lambda: _rises_more((_BARE, Equicorrelated(0)), (_BARE, Equicorrelated(Rational(9, 10)))),
        And(Ge(i, 4), Le(i, 10), Eq(d, 16)),
        source="limits kim2026.alpha-strengthens",
        note="At d = 16 strongly correlated inputs, alpha = 9/10, show less recency than uncorrelated ones.",
    ),
]  # fmt: skip
