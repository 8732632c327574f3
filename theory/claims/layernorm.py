"""Claims about LayerNorm: Appendix B of version 1 of the paper, and what this project found about it.

The appendix runs LayerNorm without parameters at d = 64, n = 50, on unit inputs with alpha = 0 and 0.2, with scores
divided by sqrt(d) or by d. Its figures average over random inputs; here, as throughout, the claims are about the limit
that its theory uses.
"""

from __future__ import annotations

from functools import cache

from sympy import And, Expr, Integer, Rational, Symbol, exp, sqrt

from maskproof.theory.claim import Claim
from maskproof.theory.decoder import Decoder
from maskproof.theory.derivation import Derivation, Step
from maskproof.theory.inputs import Equicorrelated
from maskproof.theory.layer_one import layer_one, r
from maskproof.theory.layer_two import ADMISSIBLE, EARLIER
from maskproof.theory.layernorm import WIDE, Scale, decoder, equivalent, first_layer, recency, reduction
from maskproof.theory.paper_forms import PAPER
from maskproof.theory.papers import KIM2025
from maskproof.theory.quantities import Score, Weight
from maskproof.theory.relations import Eq, Ge, Gt, Le, Lt
from maskproof.theory.symbols import alpha, beta, d, i, j, lam

_SOURCE = KIM2025.source + ", Appendix B"
_ZERO, _FIFTH = Equicorrelated(0), Equicorrelated(Rational(1, 5))
_L2 = Decoder()
_BY_ROOT, _BY_WIDTH = (Decoder(norm="layernorm", scale=scale) for scale in ("sqrt(d)", "d"))
_LONG_INPUTS = Decoder(norm="layernorm", scale="d", residual=sqrt(d))  # for inputs of norm sqrt(d), see its note
_APPENDIX = And(Lt(j, i), Le(i, 50), Eq(d, 64))
_SCALES: tuple[Scale, Scale] = ("sqrt(d)", "d")


def _spread(layer: int, model: Decoder, inputs: Equicorrelated) -> Expr:
    """By how much the scores of the last row rise from the first key to the one next to the query."""
    model_of = {"decoder": model, "inputs": inputs}
    return Score(layer, 50, 49, **model_of) - Score(layer, 50, 1, **model_of)


def _apart(layer: int, i: object, j: object, inputs: Equicorrelated) -> Expr:
    """The distance between the maps of LayerNorm with scale d and of l2 normalisation."""
    return abs(Score(layer, i, j, decoder=_BY_WIDTH, inputs=inputs) - Score(layer, i, j, decoder=_L2, inputs=inputs))


def _sharper() -> Derivation:
    """The first layer's softmax gives a token more weight on itself when scores are divided by less."""
    q = Symbol("q", positive=True)  # exp(1 - alpha): r for the scale d
    values = {beta: Integer(1), lam: Integer(1)}
    own = {scale: Weight(1, i, i, decoder=decoder(scale), inputs=Equicorrelated(alpha)) for scale in _SCALES}
    twin = {scale: Weight(1, i, i, decoder=equivalent(scale), inputs=Equicorrelated(alpha)) for scale in _SCALES}
    form = {"sqrt(d)": r / (r + i - 1), "d": q / (q + i - 1)}
    first = layer_one()

    def same(scale: Scale) -> Step:
        return Step(
            f"A-{scale}", Eq(own[scale], twin[scale]).xreplace(values), "cite",
            hints={"lemma": first_layer(scale).name, "step": "A-self", "values": values},
            why="the weights of the equivalent l2 decoder",
        )  # fmt: skip

    def closed(scale: Scale, ratio: Symbol) -> Step:
        model = equivalent(scale)
        put = {beta: model.beta.xreplace(values), lam: model.residual.xreplace(values), r: ratio}
        return Step(
            f"form-{scale}", Eq(twin[scale].xreplace(values), form[scale]), "cite",
            hints={"lemma": first.name, "step": "A-self", "values": put},
        )  # fmt: skip

    steps = (
        Step("r", Eq(r, exp(sqrt(d) * (1 - alpha))), "hypothesis", why="the definition of r, for the scale sqrt(d)"),
        Step("q", Eq(q, exp(1 - alpha)), "hypothesis", why="the same for the scale d"),
        Step("root", Lt(1, sqrt(d)), "root", why="d >= 2"),
        Step("ratio", Lt(q, r), "exponential", ("r", "q", "root"), why="alpha < 1"),
        same("sqrt(d)"),
        same("d"),
        closed("sqrt(d)", r),
        closed("d", q),
        Step("sharper", Gt(*(own[scale].xreplace(values) for scale in _SCALES)), "sign",
             ("A-sqrt(d)", "A-d", "form-sqrt(d)", "form-d", "ratio"), why="i >= 2"),
    )  # fmt: skip
    return Derivation(
        "layernorm-sharper",
        "The scale sqrt(d) makes the softmax sharper",
        (Eq(r, exp(sqrt(d) * (1 - alpha))), Eq(q, exp(1 - alpha)), Lt(alpha, 1), WIDE, Ge(i, 2)),
        steps,
        (first, *(first_layer(scale) for scale in _SCALES)),
    )


def _recovers() -> Derivation:
    """With the residual that inputs of norm sqrt(d) have, the scale d gives the scores of l2 exactly."""
    values = {beta: Integer(1), lam: sqrt(d)}
    line = next(step for step in reduction("d").steps if step.label == "S")
    hints = {"lemma": reduction("d").name, "step": "S", "values": values}
    step = Step("S", line.statement.xreplace(values), "cite", given=(EARLIER,), hints=hints)
    return Derivation("layernorm-recovers", "Scale d and l2", (*ADMISSIBLE, WIDE), (step,), (reduction("d"),))


@cache
def _two_layers(scale: Scale) -> tuple[And, Derivation]:
    """Weights and Gram matrix after layer one, scores of layer two, in terms of the equivalent l2 decoder."""
    first, lemma = first_layer(scale), reduction(scale)
    parts = (("A-one", first), ("G", first), ("S", lemma))
    cites = [
        Step(label, next(s for s in source.steps if s.label == label).statement, "cite", given=(EARLIER,),
             hints={"lemma": source.name, "step": label})
        for label, source in parts
    ]  # fmt: skip
    statement = And(*(step.statement for step in cites))
    both = Step("both", statement, "conjunction", tuple(step.label for step in cites), given=(EARLIER,))
    title = f"LayerNorm and l2, scale {scale}"
    return statement, Derivation(f"{lemma.name}-both", title, (*ADMISSIBLE, WIDE), (*cites, both), (first, lemma))


def _identity(scale: Scale) -> Claim:
    sharpness, gain = ("beta sqrt(d)", "sqrt(d) times the") if scale == "sqrt(d)" else ("beta", "the same")
    return Claim(
        "own.layernorm" if scale == "sqrt(d)" else "own.layernorm-scale-d",
        lambda: _two_layers(scale)[0],
        And(EARLIER, *ADMISSIBLE, WIDE),
        decoder=decoder(scale),
        source="the identity behind kim2025.layernorm and version 2",
        note=f"On centred unit inputs LayerNorm is l2 normalisation with the inverse temperature {sharpness} and the "
        "effective residual lam/sqrt(d) in the first layer: the same weights, d times the Gram matrix, "
        f"{gain} scores of layer two.",
        proof=lambda: _two_layers(scale)[1],
    )


claims = [
    Claim(
        "kim2025.layernorm",
        lambda: And(*(
            Lt(Score(layer, i, j, decoder=model, inputs=inputs), Score(layer, i, j + 1, decoder=model, inputs=inputs))
            for layer in (2, 3, 4) for model in (_BY_ROOT, _BY_WIDTH) for inputs in (_ZERO, _FIFTH)
        )),
        _APPENDIX,
        source=_SOURCE,
        note="'The same tendency' is read as: scores increase strictly towards the query, layers two to four, both "
        "scales, alpha = 0 and 0.2, n = 50, d = 64. They do even where l2 fails (kim2025.increasing-3), because "
        "unit inputs give LayerNorm a first-layer residual of 1/8 only.",
    ),
    Claim(
        "kim2025.layernorm-sharper",
        lambda: Gt(Weight(1, i, i, decoder=_BY_ROOT), Weight(1, i, i, decoder=_BY_WIDTH)),
        And(Ge(i, 2), WIDE, *PAPER),
        source=_SOURCE,
        note="'The scale sqrt(d) is sharper' is read as: in the first layer each token but the first gives itself "
        "more weight than with the scale d. By how much is in own.layernorm-self-weight.",
        proof=_sharper,
    ),
    Claim(
        "kim2025.layernorm-weaker",
        lambda: And(*(
            Lt(_spread(layer, _BY_ROOT, inputs) / 8, _spread(layer, _BY_WIDTH, inputs))
            for layer in (2, 3, 4) for inputs in (_ZERO, _FIFTH)
        )),
        Eq(d, 64),
        source=_SOURCE,
        note="'A weaker pattern' is read as: in the last row (n = 50) the scores rise by less, relative to the score "
        "of a token with itself (8 for the scale sqrt(d), 1 for d). The sizes are in own.layernorm-spread.",
    ),
    Claim(
        "kim2025.layernorm-recovers",
        lambda: And(*(
            Le(_apart(layer, i, j, inputs), Rational(1, 10)) for layer in (2, 3, 4) for inputs in (_ZERO, _FIFTH)
        )),
        _APPENDIX,
        source=_SOURCE,
        note="'Changing the scale from sqrt(d) to d recovers the l2 behaviour' is read as: no score differs from that "
        "of l2 by more than a tenth of the colour scale. False, because the residuals differ: 1/8 in the first "
        "layer against 1. What is true is own.layernorm-recovers.",
    ),
    _identity("sqrt(d)"),
    _identity("d"),
    Claim(
        "own.layernorm-increasing",
        lambda: Lt(Score(2, i, j), Score(2, i, j + 1)),
        And(EARLIER, *PAPER, WIDE),
        decoder=decoder(),
        source="generalises kim2025.layernorm at layer two, and kim2026.recency",
        note="Every beta, residual weight and width, up to and including the diagonal.",
        proof=recency,
    ),
    Claim(
        "own.layernorm-recovers",
        lambda: Eq(Score(2, i, j, decoder=_LONG_INPUTS), Score(2, i, j, decoder=_L2)),
        And(EARLIER, *ADMISSIBLE, WIDE),
        source="corrects kim2025.layernorm-recovers",
        note="With inputs of (centred) norm sqrt(d) the scale d gives the scores of l2 exactly, at any width. "
        "Such inputs are unit inputs with the residual times sqrt(d) in the first layer, the only one that the scores "
        "of layer two depend on. (The vectors themselves agree at every layer, up to the factor sqrt(d).)",
        proof=_recovers,
    ),
    Claim(
        "own.layernorm-self-weight",
        lambda: And(Ge(Weight(1, 50, 50, decoder=_BY_ROOT), Rational("0.983")),
            Le(Weight(1, 50, 50, decoder=_BY_WIDTH), Rational("0.053"))),
        Eq(d, 64), inputs=_ZERO,
        source="quantifies kim2025.layernorm-sharper",
        note="alpha = 0, d = 64: the 50th token gives itself 98.4% of its weight with the scale sqrt(d), 5.3% with d.",
    ),
    Claim(
        "own.layernorm-spread",
        lambda: And(*(
            Le(abs(_spread(layer, model, _FIFTH) / diagonal - Rational(value)), Rational("0.0005"))
            for layer, model, diagonal, value in (
                (2, _BY_ROOT, 8, "0.012"), (3, _BY_ROOT, 8, "0.019"), (4, _BY_ROOT, 8, "0.026"),
                (2, _BY_WIDTH, 1, "0.484"), (3, _BY_WIDTH, 1, "0.497"), (4, _BY_WIDTH, 1, "0.474"),
            )
        )),
        Eq(d, 64),
        source="quantifies kim2025.layernorm-weaker",
        note="Rise of the scores in the last row relative to the diagonal, alpha = 0.2, layers two to four: twenty "
        "to forty times smaller with the scale sqrt(d).",
    ),
    Claim(
        "own.layernorm-distance",
        lambda: And(*(
            Ge(_apart(layer, query, key, inputs), Rational(value))
            for layer, query, key, inputs, value in (
                (2, 26, 25, _ZERO, "0.427"), (3, 50, 49, _ZERO, "0.796"), (4, 50, 49, _ZERO, "0.625"),
                (2, 50, 49, _FIFTH, "0.437"), (3, 7, 6, _FIFTH, "0.282"), (4, 4, 3, _FIFTH, "0.217"),
            )
        )),
        Eq(d, 64),
        source="quantifies kim2025.layernorm-recovers",
        note="The largest distances between the maps of LayerNorm with scale d and of l2, on the colour scale from "
        "0 to 1 of the appendix.",
    ),
]  # fmt: skip
