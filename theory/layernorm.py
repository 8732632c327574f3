r"""LayerNorm is l2 normalisation of the centred vectors, with another temperature and another residual.

With P the projection onto the vectors whose coordinates sum to zero, LN(x) = sqrt(d) P x / ||P x||. Three facts
make a layer with LayerNorm a layer with l2 normalisation:

1. P acts on coordinates and mixing on tokens, so they commute: the vectors z_i = P x_i / sqrt(d) obey

       z_i' = lam z_i + sum_j A_ij z_j / ||z_j||,

   the l2 layer with the same residual weight lam.
2. <LN(x_i), LN(x_j)> = d cos(z_i, z_j), so scores are cosines, of vectors in d - 1 dimensions, times d/scale, and
   the weights are those of the l2 layer at the inverse temperature beta d/scale: beta sqrt(d) for the usual scale
   sqrt(d), beta for the scale d.
3. The l2 layer sees inputs only through their directions, except in the residual. It is fed z_i of norm
   ||P x_i||/sqrt(d), so relative to unit vectors the *first* layer's residual weighs

       lam ||P x_i|| / sqrt(d)

   and every later one lam. Inputs with ||P x_i|| = sqrt(d) make it lam in every layer; unit inputs, as in the
   paper's Appendix B, make it lam/sqrt(d) in the first.

``reduction`` derives this for the first two layers on equicorrelated inputs, from the definition of both layers. In
all that is said of LayerNorm here, inputs are the centred vectors: Equicorrelated(alpha) says that P x_i are unit
vectors with cosine alpha, and the Gram matrix is that of the P x_i.
"""

from __future__ import annotations

from functools import cache
from typing import Literal

from sympy import Eq, Expr, Ge, Integer, Le, Lt, Sum, Symbol, exp, sqrt

from theory.decoder import Decoder
from theory.derivation import Derivation, Step
from theory.layer_one import l, r
from theory.layer_two import (
    ADMISSIBLE,
    EARLIER,
    INPUTS,
    closed_form,
    increasing,
    norms,
)
from theory.quantities import Gram, InputGram, Mix, Quantity, Score, Weight
from theory.symbols import alpha, beta, d, i, j, k, lam

Scale = Literal["sqrt(d)", "d"]
WIDE = Ge(d, 2)  # of a single coordinate centring leaves nothing


def decoder(scale: Scale = "sqrt(d)") -> Decoder:
    """The causal LayerNorm decoder with symbolic inverse temperature and residual weight."""
    return Decoder(beta=beta, residual=lam, norm="layernorm", scale=scale)


def score_gain(scale: Scale = "sqrt(d)") -> Expr:
    """d/scale: the score of two vectors per unit of cosine."""
    return sqrt(d) if scale == "sqrt(d)" else Integer(1)


def equivalent(scale: Scale = "sqrt(d)") -> Decoder:
    """The l2 decoder whose first two layers are those of ``decoder(scale)`` on unit inputs."""
    return Decoder(beta=beta * score_gain(scale), residual=lam / sqrt(d))


def effective_residual(residual: Expr, input_norm: Expr) -> Expr:
    """The residual weight of the first layer relative to unit vectors, for inputs of this (centred) norm.

    >>> effective_residual(Integer(1), Integer(1)).subs(d, 64)
    1/8
    """
    return residual * input_norm / sqrt(d)


def _values(scale: Scale) -> dict[Symbol, Expr]:
    """The numbers of the equivalent decoder, for the symbols of the general results."""
    twin = equivalent(scale)
    return {beta: twin.beta, lam: twin.residual, r: exp(twin.beta * (1 - alpha))}


def _cited(
    label: str, lemma: Derivation, step: str, scale: Scale, premises: tuple[str, ...] = (), why: str = ""
) -> Step:
    """A general result of the l2 layer, for the equivalent decoder."""
    values = _values(scale)
    (line,) = [s for s in lemma.steps if s.label == step]
    given = tuple(h.xreplace(values) for h in line.given)
    hints = {"lemma": lemma.name, "step": step, "values": values}
    return Step(label, line.statement.xreplace(values), "cite", premises, given, hints, why)


class _Pair:
    """The same quantity of the LayerNorm decoder (upper) and of its l2 equivalent (lower)."""

    def __init__(self, scale: Scale) -> None:
        self.upper = {"decoder": decoder(scale), "inputs": INPUTS}
        self.lower = {"decoder": equivalent(scale), "inputs": INPUTS}

    def of(self, kind: type[Quantity], layer: int, a: Expr, b: Expr) -> tuple[Expr, Expr]:
        """The quantity in both decoders."""
        return kind(layer, a, b, **self.upper), kind(layer, a, b, **self.lower)

    def sums(self, which: int) -> tuple[Expr, Expr, Expr, Expr]:
        """Rows i and j of M, their product, and the double sum of G_ij; 0 for LayerNorm, 1 for l2."""
        a, b, later = (self.of(Mix, 1, *at)[which] for at in ((i, k), (j, k), (j, l)))
        double = Sum(a * later * InputGram(k, l, INPUTS), (k, 1, i), (l, 1, j))
        return Sum(a, (k, 1, i)), Sum(b, (k, 1, j)), Sum(a * b, (k, 1, j)), double


@cache
def first_layer(scale: Scale = "sqrt(d)") -> Derivation:
    """The first layer with LayerNorm is that of the equivalent l2 decoder, its vectors longer by sqrt(d)."""
    pair, gain, root, twin = _Pair(scale), score_gain(scale), sqrt(d), equivalent(scale)
    seen, before, at, within = Le(j, i), Lt(k, i), Eq(k, i), Le(k, i)
    entry = InputGram(i, j, INPUTS)
    score, score_l2 = pair.of(Score, 1, i, j)
    key_score, key_score_l2 = pair.of(Score, 1, i, k)
    weight, weight_l2 = pair.of(Weight, 1, i, j)
    self_weight, self_weight_l2 = pair.of(Weight, 1, i, i)
    mix, mix_l2 = pair.of(Mix, 1, i, j)
    self_mix, self_mix_l2 = pair.of(Mix, 1, i, i)
    mix_k, mix_k_l2 = pair.of(Mix, 1, i, k)
    mix_jk, mix_jk_l2 = pair.of(Mix, 1, j, k)
    gram, gram_l2 = pair.of(Gram, 1, i, j)
    term, term_l2 = exp(beta * key_score), exp(twin.beta * key_score_l2)
    total, total_l2 = Sum(term, (k, 1, i)), Sum(term_l2, (k, 1, i))
    (row, row_j, products, double), (row_l2, row_j_l2, products_l2, double_l2) = map(pair.sums, (0, 1))
    scaled_row = Sum(root * mix_k_l2, (k, 1, i))
    scaled_products = Sum(d * mix_k_l2 * mix_jk_l2, (k, 1, j))

    steps = (
        Step("K-self", Eq(InputGram(i, i, INPUTS), 1), "input_gram", why="the centred inputs are unit vectors"),
        Step("K-self-j", Eq(InputGram(j, j, INPUTS), 1), "input_gram", why="the centred inputs are unit vectors"),
        Step("S-upper", Eq(score, gain * entry), "score", ("K-self", "K-self-j"), given=(seen,),
             why="LN(x) has norm sqrt(d)"),
        Step("S-lower", Eq(score_l2, entry), "score", ("K-self", "K-self-j"), given=(seen,)),
        Step("S-one", Eq(score, gain * score_l2), "identity", ("S-upper", "S-lower"), given=(seen,),
             why="scores are cosines times d/scale"),
        Step("S-key", Eq(key_score, gain * key_score_l2), "cite", ("S-one",), given=(within,),
             hints={"values": {j: k}}),
        Step("Z-term", Eq(term, term_l2), "identity", ("S-key",), given=(within,)),
        Step("Z", Eq(total, total_l2), "termwise", ("Z-term",), why="the normalisers of row i agree"),
        Step("A-upper", Eq(weight, exp(beta * score) / total), "softmax", given=(seen,)),
        Step("A-lower", Eq(weight_l2, exp(twin.beta * score_l2) / total_l2), "softmax", given=(seen,)),
        Step("A-one", Eq(weight, weight_l2), "identity", ("A-upper", "A-lower", "Z", "S-one"), given=(seen,),
             why="the same weights"),
        Step("A-self", Eq(self_weight, self_weight_l2), "cite", ("A-one",), hints={"values": {j: i}}),
        Step("M-upper", Eq(mix, root * weight), "mix", ("K-self-j",), given=(EARLIER,),
             why="values have norm sqrt(d)"),
        Step("M-lower", Eq(mix_l2, weight_l2), "mix", ("K-self-j",), given=(EARLIER,)),
        Step("M-self-upper", Eq(self_mix, root * self_weight + lam), "mix", ("K-self",)),
        Step("M-self-lower", Eq(self_mix_l2, self_weight_l2 + lam / root), "mix", ("K-self",),
             why="the effective residual"),
        Step("M-earlier", Eq(mix, root * mix_l2), "identity", ("M-upper", "M-lower", "A-one"), given=(EARLIER,)),
        Step("M-self", Eq(self_mix, root * self_mix_l2), "identity", ("M-self-upper", "M-self-lower", "A-self")),
        Step("M-before", Eq(mix_k, root * mix_k_l2), "cite", ("M-earlier",), given=(before,),
             hints={"values": {j: k}}),
        Step("M-at", Eq(mix_k, root * mix_k_l2), "equals", ("M-self",), given=(at,)),
        Step("M-seen", Eq(mix_k, root * mix_k_l2), "cases", ("M-before", "M-at"), given=(within,),
             why="after the layer all vectors are longer by sqrt(d)"),
        Step("M-seen-j", Eq(mix_jk, root * mix_jk_l2), "cite", ("M-seen",), given=(Le(k, j),),
             hints={"values": {i: j}}),
        Step("M-seen-i", Eq(mix_k, root * mix_k_l2), "cite", ("M-seen",), given=(seen, Le(k, j)),
             why="k <= j <= i"),
        Step("row-terms", Eq(row, scaled_row), "termwise", ("M-seen",)),
        Step("row-factor", Eq(scaled_row, root * row_l2), "linear_sum"),
        Step("row", Eq(row, root * row_l2), "identity", ("row-terms", "row-factor")),
        Step("row-j", Eq(row_j, root * row_j_l2), "cite", ("row",), hints={"values": {i: j}}),
        Step("product-term", Eq(mix_k * mix_jk, d * mix_k_l2 * mix_jk_l2), "identity", ("M-seen-i", "M-seen-j"),
             given=(seen, Le(k, j))),
        Step("product-terms", Eq(products, scaled_products), "termwise", ("product-term",), given=(seen,)),
        Step("product-factor", Eq(scaled_products, d * products_l2), "linear_sum"),
        Step("G-upper", Eq(gram, double), "gram"),
        Step("G-lower", Eq(gram_l2, double_l2), "gram"),
        Step("G-sum", Eq(double, alpha * row * row_j + (1 - alpha) * products), "equicorrelated_sum", given=(seen,)),
        Step("G-sum-l2", Eq(double_l2, alpha * row_l2 * row_j_l2 + (1 - alpha) * products_l2),
             "equicorrelated_sum", given=(seen,)),
        Step("G", Eq(gram, d * gram_l2), "identity",
             ("G-upper", "G-lower", "G-sum", "G-sum-l2", "row", "row-j", "product-terms", "product-factor"),
             given=(seen,), why="so inner products are d times those of the l2 layer"),
    )  # fmt: skip
    return Derivation(
        name="layernorm-one" if scale == "sqrt(d)" else "layernorm-one-scale-d",
        title=f"The first layer with LayerNorm, scale {scale}",
        hypotheses=(WIDE,),
        steps=steps,
        intro=(
            "One layer with LayerNorm on centred unit vectors is one l2 layer at the inverse temperature beta d/scale "
            "and with the residual weight lam/sqrt(d); the vectors that leave it are longer by sqrt(d)."
        ),
    )


@cache
def reduction(scale: Scale = "sqrt(d)") -> Derivation:
    """The second layer's scores with LayerNorm are those of the equivalent l2 decoder times d/scale."""
    pair, gain, first, lemma = _Pair(scale), score_gain(scale), first_layer(scale), norms()
    gram, gram_l2 = pair.of(Gram, 1, i, j)
    self_gram, self_gram_l2 = pair.of(Gram, 1, i, i)
    key_gram, key_gram_l2 = pair.of(Gram, 1, j, j)
    score, score_l2 = pair.of(Score, 2, i, j)
    cosine = gram_l2 / (sqrt(self_gram_l2) * sqrt(key_gram_l2))
    positive = ("positive", "positive-j")

    def scaled(label: str, upper: Expr, lower: Expr, **values: Expr) -> Step:
        given = (EARLIER,) if label == "G" else ()
        positions = {{"i": i, "j": j}[name]: value for name, value in values.items()}
        hints = {"lemma": first.name, "step": "G", "values": positions}
        return Step(label, Eq(upper, d * lower), "cite", given=given, hints=hints)

    steps = (
        scaled("G", gram, gram_l2),
        scaled("G-self", self_gram, self_gram_l2, j=i),
        scaled("G-self-j", key_gram, key_gram_l2, i=j),
        _cited("positive", lemma, "G-positive", scale),
        _cited("positive-j", lemma, "G-positive-j", scale),
        Step("S-upper", Eq(score, gain * cosine), "score", ("G", "G-self", "G-self-j", *positive), given=(EARLIER,),
             why="the factor d cancels in a cosine"),
        Step("S-lower", Eq(score_l2, cosine), "score", positive, given=(EARLIER,)),
        Step("S", Eq(score, gain * score_l2), "identity", ("S-upper", "S-lower", *positive), given=(EARLIER,)),
        Step("S-self", Eq(score.xreplace({j: i}), gain), "score", ("G-self", "positive")),
    )  # fmt: skip
    return Derivation(
        name="layernorm" if scale == "sqrt(d)" else "layernorm-scale-d",
        title=f"Scores of the second layer with LayerNorm, scale {scale}",
        hypotheses=(*ADMISSIBLE, WIDE),
        steps=steps,
        lemmas=(first, lemma),
        intro=(
            "Two layers with LayerNorm are two l2 layers on the centred vectors, with the inverse temperature "
            "beta d/scale and, for unit inputs, the residual weight lam/sqrt(d)."
        ),
    )


@cache
def recency(scale: Scale = "sqrt(d)") -> Derivation:
    """With LayerNorm, too, closer keys score higher in the second layer, up to and including the diagonal."""
    pair, gain, lemma, theorem = _Pair(scale), score_gain(scale), reduction(scale), increasing()
    here, here_l2 = pair.of(Score, 2, i, j)
    closer, closer_l2 = pair.of(Score, 2, i, j + 1)
    own, own_l2 = pair.of(Score, 2, i, i)
    last, adjacent = Lt(j + 1, i), Eq(j, i - 1)
    form = closed_form()
    steps = (
        Step("independent", ADMISSIBLE[1], "sign", why="alpha >= 0"),
        Step("here", Eq(here, gain * here_l2), "cite", ("independent",), given=(EARLIER,),
             hints={"lemma": lemma.name, "step": "S"}),
        Step("next-before", Eq(closer, gain * closer_l2), "cite", ("independent",), given=(last,),
             hints={"lemma": lemma.name, "step": "S", "values": {j: j + 1}}),
        Step("self-upper", Eq(own, gain), "cite", ("independent",),
             hints={"lemma": lemma.name, "step": "S-self"}),
        _cited("self-lower", form, "S-self", scale, ("independent",)),
        Step("self", Eq(own, gain * own_l2), "identity", ("self-upper", "self-lower")),
        Step("next-at", Eq(closer, gain * closer_l2), "equals", ("self",), given=(adjacent,)),
        Step("next", Eq(closer, gain * closer_l2), "cases", ("next-before", "next-at"), given=(EARLIER,),
             why="j + 1 < i or j + 1 = i"),
        _cited("increase-l2", theorem, "increase", scale, why="the theorem of layer two"),
        *(
            [Step("increase-scaled", Lt(gain * here_l2, gain * closer_l2), "product", ("increase-l2",),
                  given=(EARLIER,), hints={"factor": gain})] if gain != 1 else []
        ),
        Step("increase", Lt(here, closer), "sign",
             ("here", "next", "increase-scaled" if gain != 1 else "increase-l2"), given=(EARLIER,)),
    )  # fmt: skip
    return Derivation(
        name="layernorm-increasing" if scale == "sqrt(d)" else "layernorm-scale-d-increasing",
        title=f"Closer keys score higher with LayerNorm (scale {scale})",
        hypotheses=(Lt(alpha, 1), Ge(alpha, 0), WIDE),
        steps=steps,
        lemmas=(lemma, theorem, form),
        intro="For 0 <= alpha < 1, every beta, residual weight and width, S_ij < S_i,j+1 for all j < i.",
    )
