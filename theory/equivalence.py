"""Every decoder of the theory amounts to one whose scores are divided by 1 and whose vectors have norm 1.

A normalised vector is v y with ||y|| = 1: v is 1 for l2 normalisation and sqrt(d) with LayerNorm, where x stands for
the centred vector. Without normalisation the unit inputs play that part in the first layer. So scores are products of
unit vectors times the *gain* v^2/scale, weights are those at the inverse temperature beta v^2/scale, and as values
have norm v, the layer is v times the layer with the residual weight lam/v. The *twin* of a decoder has these numbers,
no gain and no v; what is known of it carries over.

Derived here for the first layer and the scores of the second, on equicorrelated unit inputs, from the definitions of
both decoders.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal

from sympy import Expr, Integer, Sum, Symbol, exp, sqrt
from sympy.core.relational import Relational

from maskproof.theory.decoder import Decoder
from maskproof.theory.derivation import Derivation, Step
from maskproof.theory.layer_one import p, r
from maskproof.theory.layer_two import ADMISSIBLE, EARLIER, INPUTS, closed_form, increasing, norms
from maskproof.theory.quantities import Gram, InputGram, Mix, Quantity, Score, Weight
from maskproof.theory.relations import Eq, Ge, Le, Lt
from maskproof.theory.symbols import alpha, beta, d, i, j, k, lam

Norm = Literal["l2", "layernorm", "none"]
Scale = Literal["number", "sqrt(d)", "d"]

c = Symbol("c", positive=True)  # a scale that is a number
WIDE = Ge(d, 2)  # of a single coordinate centring leaves nothing


@dataclass(frozen=True)
class Family:
    """Decoders with one way to normalise and one kind of scale, of symbolic beta and residual weight."""

    norm: Norm
    scale: Scale

    @property
    def decoder(self) -> Decoder:
        """The decoder, with the symbols beta, lam and, for a scale that is a number, c."""
        return Decoder(beta=beta, residual=lam, norm=self.norm, scale=c if self.scale == "number" else self.scale)

    @property
    def length(self) -> Expr:
        """v, the norm of a normalised vector."""
        return sqrt(d) if self.norm == "layernorm" else Integer(1)

    @property
    def gain(self) -> Expr:
        """v^2/scale: the score of two vectors per unit of their product."""
        return self.length**2 / {"number": c, "sqrt(d)": sqrt(d), "d": d}[self.scale]

    @property
    def twin(self) -> Decoder:
        """The decoder without gain whose first two layers these are on unit inputs."""
        return Decoder(beta=beta * self.gain, residual=lam / self.length, norm="none" if self.norm == "none" else "l2")

    @property
    def hypotheses(self) -> tuple[Relational, ...]:
        """What the width must satisfy."""
        return (WIDE,) if self.norm == "layernorm" else ()

    @property
    def name(self) -> str:
        """What the names of derivations begin with."""
        kind = {"l2": "scaled", "layernorm": "layernorm", "none": "unnormalised"}[self.norm]
        usual = "sqrt(d)" if self.norm == "layernorm" else "number"
        return kind if self.scale == usual else f"{kind}-scale-{self.scale.replace('sqrt(d)', 'root')}"

    @property
    def title(self) -> str:
        """How titles call it."""
        norm = {"l2": "l2 normalisation", "layernorm": "LayerNorm", "none": "no normalisation"}[self.norm]
        return f"{norm}, scale {'c' if self.scale == 'number' else self.scale}"

    def values(self) -> dict[Symbol, Expr]:
        """The numbers of the twin, for the symbols of the general results."""
        return {beta: self.twin.beta, lam: self.twin.residual, r: exp(self.twin.beta * (1 - alpha))}

    def both(self, kind: type[Quantity], layer: int, a: Expr, b: Expr) -> tuple[Expr, Expr]:
        """The same quantity of the decoder (upper) and of its twin (lower)."""
        upper, lower = self.decoder, self.twin
        return kind(layer, a, b, decoder=upper, inputs=INPUTS), kind(layer, a, b, decoder=lower, inputs=INPUTS)

    def _sums(self, which: int) -> tuple[Expr, Expr, Expr, Expr]:
        """Rows i and j of M, their product, and the double sum of G_ij; 0 for the decoder, 1 for its twin."""
        a, b, later = (self.both(Mix, 1, *at)[which] for at in ((i, k), (j, k), (j, p)))
        double = Sum(a * later * InputGram(k, p, INPUTS), (k, 1, i), (p, 1, j))
        return Sum(a, (k, 1, i)), Sum(b, (k, 1, j)), Sum(a * b, (k, 1, j)), double


FAMILIES = tuple(Family(norm, scale) for norm in ("l2", "layernorm", "none") for scale in ("number", "sqrt(d)", "d"))


def _cited(
    label: str, lemma: Derivation, step: str, family: Family, premises: tuple[str, ...] = (), why: str = ""
) -> Step:
    """A general result of the layer without gain, for the twin."""
    values = family.values()
    (line,) = [s for s in lemma.steps if s.label == step]
    given = tuple(h.xreplace(values) for h in line.given)
    hints = {"lemma": lemma.name, "step": step, "values": values}
    return Step(label, line.statement.xreplace(values), "cite", premises, given, hints, why)


@cache
def first_layer(family: Family) -> Derivation:
    """The first layer is that of the twin, its vectors longer by v."""
    gain, v, twin = family.gain, family.length, family.twin
    seen, before, at, within = Le(j, i), Lt(k, i), Eq(k, i), Le(k, i)
    centred = "the centred inputs" if family.norm == "layernorm" else "the inputs"
    entry = InputGram(i, j, INPUTS)
    score, score_twin = family.both(Score, 1, i, j)
    key_score, key_score_twin = family.both(Score, 1, i, k)
    weight, weight_twin = family.both(Weight, 1, i, j)
    self_weight, self_weight_twin = family.both(Weight, 1, i, i)
    mix, mix_twin = family.both(Mix, 1, i, j)
    self_mix, self_mix_twin = family.both(Mix, 1, i, i)
    mix_k, mix_k_twin = family.both(Mix, 1, i, k)
    mix_jk, mix_jk_twin = family.both(Mix, 1, j, k)
    gram, gram_twin = family.both(Gram, 1, i, j)
    term, term_twin = exp(beta * key_score), exp(twin.beta * key_score_twin)
    total, total_twin = Sum(term, (k, 1, i)), Sum(term_twin, (k, 1, i))
    (row, row_j, products, double), (row_twin, row_j_twin, products_twin, double_twin) = map(family._sums, (0, 1))
    scaled_row = Sum(v * mix_k_twin, (k, 1, i))
    scaled_products = Sum(v**2 * mix_k_twin * mix_jk_twin, (k, 1, j))
    longer = v != 1  # else there is no factor to take out of sums

    steps = (
        Step("K-self", Eq(InputGram(i, i, INPUTS), 1), "input_gram", why=f"{centred} are unit vectors"),
        Step("K-self-j", Eq(InputGram(j, j, INPUTS), 1), "input_gram", why=f"{centred} are unit vectors"),
        Step("S-upper", Eq(score, gain * entry), "score", ("K-self", "K-self-j"), given=(seen,),
             why="LN(x) has norm sqrt(d)" if longer else ""),
        Step("S-lower", Eq(score_twin, entry), "score", ("K-self", "K-self-j"), given=(seen,)),
        Step("S-one", Eq(score, gain * score_twin), "identity", ("S-upper", "S-lower"), given=(seen,),
             why="scores are cosines times d/scale" if longer else "scores are divided by the scale"),
        Step("S-key", Eq(key_score, gain * key_score_twin), "cite", ("S-one",), given=(within,),
             hints={"values": {j: k}}),
        Step("Z-term", Eq(term, term_twin), "identity", ("S-key",), given=(within,)),
        Step("Z", Eq(total, total_twin), "termwise", ("Z-term",), why="the normalisers of row i agree"),
        Step("A-upper", Eq(weight, exp(beta * score) / total), "softmax", given=(seen,)),
        Step("A-lower", Eq(weight_twin, exp(twin.beta * score_twin) / total_twin), "softmax", given=(seen,)),
        Step("A-one", Eq(weight, weight_twin), "identity", ("A-upper", "A-lower", "Z", "S-one"), given=(seen,),
             why="the same weights"),
        Step("A-self", Eq(self_weight, self_weight_twin), "cite", ("A-one",), hints={"values": {j: i}}),
        Step("M-upper", Eq(mix, v * weight), "mix", ("K-self-j",), given=(EARLIER,),
             why="values have norm sqrt(d)" if longer else ""),
        Step("M-lower", Eq(mix_twin, weight_twin), "mix", ("K-self-j",), given=(EARLIER,)),
        Step("M-self-upper", Eq(self_mix, v * self_weight + lam), "mix", ("K-self",)),
        Step("M-self-lower", Eq(self_mix_twin, self_weight_twin + twin.residual), "mix", ("K-self",),
             why="the effective residual" if longer else ""),
        Step("M-earlier", Eq(mix, v * mix_twin), "identity", ("M-upper", "M-lower", "A-one"), given=(EARLIER,)),
        Step("M-self", Eq(self_mix, v * self_mix_twin), "identity", ("M-self-upper", "M-self-lower", "A-self")),
        Step("M-before", Eq(mix_k, v * mix_k_twin), "cite", ("M-earlier",), given=(before,),
             hints={"values": {j: k}}),
        Step("M-at", Eq(mix_k, v * mix_k_twin), "equals", ("M-self",), given=(at,)),
        Step("M-seen", Eq(mix_k, v * mix_k_twin), "cases", ("M-before", "M-at"), given=(within,),
             why="after the layer all vectors are longer by sqrt(d)" if longer else "the same coefficients"),
        Step("M-seen-j", Eq(mix_jk, v * mix_jk_twin), "cite", ("M-seen",), given=(Le(k, j),),
             hints={"values": {i: j}}),
        Step("M-seen-i", Eq(mix_k, v * mix_k_twin), "cite", ("M-seen",), given=(seen, Le(k, j)),
             why="k <= j <= i"),
        Step("row-terms", Eq(row, scaled_row), "termwise", ("M-seen",)),
        *([Step("row-factor", Eq(scaled_row, v * row_twin), "linear_sum")] if longer else []),
        Step("row", Eq(row, v * row_twin), "identity", ("row-terms", *(["row-factor"] if longer else []))),
        Step("row-j", Eq(row_j, v * row_j_twin), "cite", ("row",), hints={"values": {i: j}}),
        Step("product-term", Eq(mix_k * mix_jk, v**2 * mix_k_twin * mix_jk_twin), "identity",
             ("M-seen-i", "M-seen-j"), given=(seen, Le(k, j))),
        Step("product-terms", Eq(products, scaled_products), "termwise", ("product-term",), given=(seen,)),
        *([Step("product-factor", Eq(scaled_products, v**2 * products_twin), "linear_sum")] if longer else []),
        Step("G-upper", Eq(gram, double), "gram"),
        Step("G-lower", Eq(gram_twin, double_twin), "gram"),
        Step("G-sum", Eq(double, alpha * row * row_j + (1 - alpha) * products), "equicorrelated_sum", given=(seen,)),
        Step("G-sum-l2", Eq(double_twin, alpha * row_twin * row_j_twin + (1 - alpha) * products_twin),
             "equicorrelated_sum", given=(seen,)),
        Step("G", Eq(gram, v**2 * gram_twin), "identity",
             ("G-upper", "G-lower", "G-sum", "G-sum-l2", "row", "row-j", "product-terms",
              *(["product-factor"] if longer else [])),
             given=(seen,),
             why="so inner products are d times those of the l2 layer" if longer else "the same inner products"),
    )  # fmt: skip
    intro = (
        "One layer with LayerNorm on centred unit vectors is one l2 layer at the inverse temperature beta d/scale "
        "and with the residual weight lam/sqrt(d); the vectors that leave it are longer by sqrt(d)."
        if longer
        else "Dividing scores by a scale is dividing the inverse temperature by it."
    )
    title = f"The first layer with {family.title}"
    return Derivation(f"{family.name}-one", title, family.hypotheses, steps, intro=intro)


@cache
def reduction(family: Family) -> Derivation:
    """The second layer's scores are those of the twin times the gain."""
    gain, v, first, lemma = family.gain, family.length, first_layer(family), norms()
    gram, gram_twin = family.both(Gram, 1, i, j)
    self_gram, self_gram_twin = family.both(Gram, 1, i, i)
    key_gram, key_gram_twin = family.both(Gram, 1, j, j)
    score, score_twin = family.both(Score, 2, i, j)
    own, own_twin = family.both(Score, 2, i, i)
    cosine = gram_twin / (sqrt(self_gram_twin) * sqrt(key_gram_twin))

    def scaled(label: str, upper: Expr, lower: Expr, **values: Expr) -> Step:
        given = (EARLIER,) if label == "G" else ()
        positions = {{"i": i, "j": j}[name]: value for name, value in values.items()}
        hints = {"lemma": first.name, "step": "G", "values": positions}
        return Step(label, Eq(upper, v**2 * lower), "cite", given=given, hints=hints)

    product, equal_norms = scaled("G", gram, gram_twin), scaled("G-self", self_gram, self_gram_twin, j=i)
    if family.norm == "none":
        steps = (
            product,
            equal_norms,
            Step("S-upper", Eq(score, gain * gram_twin), "score", ("G",), given=(EARLIER,)),
            Step("S-lower", Eq(score_twin, gram_twin), "score", given=(EARLIER,)),
            Step("S", Eq(score, gain * score_twin), "identity", ("S-upper", "S-lower"), given=(EARLIER,)),
            Step("S-self-upper", Eq(own, gain * self_gram_twin), "score", ("G-self",)),
            Step("S-self-lower", Eq(own_twin, self_gram_twin), "score"),
            Step("S-self", Eq(own, gain * own_twin), "identity", ("S-self-upper", "S-self-lower")),
        )
        intro = "Scores of the second layer are inner products, divided by the scale."
        title = f"Scores of the second layer with {family.title}"
        return Derivation(family.name, title, (), steps, (first,), intro)

    positive = ("positive", "positive-j")
    steps = (
        product,
        equal_norms,
        scaled("G-self-j", key_gram, key_gram_twin, i=j),
        _cited("positive", lemma, "G-positive", family),
        _cited("positive-j", lemma, "G-positive-j", family),
        Step("S-upper", Eq(score, gain * cosine), "score", ("G", "G-self", "G-self-j", *positive), given=(EARLIER,),
             why="the factor d cancels in a cosine" if v != 1 else "the cosine of x_i and x_j, divided by the scale"),
        Step("S-lower", Eq(score_twin, cosine), "score", positive, given=(EARLIER,)),
        Step("S", Eq(score, gain * score_twin), "identity", ("S-upper", "S-lower", *positive), given=(EARLIER,)),
        Step("S-self", Eq(own, gain), "score", ("G-self", "positive")),
    )  # fmt: skip
    intro = (
        "Two layers with LayerNorm are two l2 layers on the centred vectors, with the inverse temperature "
        "beta d/scale and, for unit inputs, the residual weight lam/sqrt(d)."
        if v != 1
        else "Two layers with a scale are two layers at the inverse temperature beta/scale, their scores divided by it."
    )
    return Derivation(
        name=family.name,
        title=f"Scores of the second layer with {family.title}",
        hypotheses=(*ADMISSIBLE, *family.hypotheses),
        steps=steps,
        lemmas=(first, lemma),
        intro=intro,
    )


@cache
def recency(family: Family) -> Derivation:
    """Closer keys score higher in the second layer, up to and including the diagonal.

    ``family`` normalises: without normalisation there is no order.
    """
    gain, lemma, theorem, form = family.gain, reduction(family), increasing(), closed_form()
    here, here_twin = family.both(Score, 2, i, j)
    closer, closer_twin = family.both(Score, 2, i, j + 1)
    own, own_twin = family.both(Score, 2, i, i)
    last, adjacent = Lt(j + 1, i), Eq(j, i - 1)
    steps = (
        Step("independent", ADMISSIBLE[1], "sign", why="alpha >= 0"),
        Step("here", Eq(here, gain * here_twin), "cite", ("independent",), given=(EARLIER,),
             hints={"lemma": lemma.name, "step": "S"}),
        Step("next-before", Eq(closer, gain * closer_twin), "cite", ("independent",), given=(last,),
             hints={"lemma": lemma.name, "step": "S", "values": {j: j + 1}}),
        Step("self-upper", Eq(own, gain), "cite", ("independent",),
             hints={"lemma": lemma.name, "step": "S-self"}),
        _cited("self-lower", form, "S-self", family, ("independent",)),
        Step("self", Eq(own, gain * own_twin), "identity", ("self-upper", "self-lower")),
        Step("next-at", Eq(closer, gain * closer_twin), "equals", ("self",), given=(adjacent,)),
        Step("next", Eq(closer, gain * closer_twin), "cases", ("next-before", "next-at"), given=(EARLIER,),
             why="j + 1 < i or j + 1 = i"),
        _cited("increase-l2", theorem, "increase", family, why="the theorem of layer two"),
        *(
            [Step("increase-scaled", Lt(gain * here_twin, gain * closer_twin), "product", ("increase-l2",),
                  given=(EARLIER,), hints={"factor": gain})] if gain != 1 else []
        ),
        Step("increase", Lt(here, closer), "sign",
             ("here", "next", "increase-scaled" if gain != 1 else "increase-l2"), given=(EARLIER,)),
    )  # fmt: skip
    return Derivation(
        name=f"{family.name}-increasing",
        title=f"Closer keys score higher with {family.title}",
        hypotheses=(Lt(alpha, 1), Ge(alpha, 0), *family.hypotheses),
        steps=steps,
        lemmas=(lemma, theorem, form),
        intro="For 0 <= alpha < 1, every beta and residual weight, S_ij < S_i,j+1 for all j < i.",
    )
