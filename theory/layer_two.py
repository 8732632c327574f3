"""Scores of the second layer on equicorrelated inputs.

Paper, section 3.2, Eq. 4 and Appendix A, there for beta = residual = 1 and 0 <= alpha < 1. Here for
every beta >= 0 and lam >= 0, and for every alpha < 1 at which the inputs are linearly independent:
i unit vectors with pairwise cosine alpha are so when 1 + (i-1) alpha > 0. The score is

    S^(2)_ij = g(i) / (h(i) h(j))    for j < i,

and h is strictly decreasing, so the sign of g alone decides whether closer keys score higher.
"""

from __future__ import annotations

from functools import cache

from sympy import And, Derivative, Expr, Implies, Symbol, sqrt

from maskproof.theory.derivation import Derivation, Step
from maskproof.theory.layer_one import INPUTS, R_IS, decoder, g, h_squared, layer_one, r, s, weight_self
from maskproof.theory.quantities import Gram, Mix, Score
from maskproof.theory.relations import Eq, Ge, Gt, Lt
from maskproof.theory.symbols import alpha, i, j, lam, m

MODEL = {"decoder": decoder(), "inputs": INPUTS}
INDEPENDENT = Gt(1 + (i - 1) * alpha, 0)  # with alpha < 1: x_1, ..., x_i are linearly independent
ADMISSIBLE = (Lt(alpha, 1), INDEPENDENT)
EARLIER = Lt(j, i)
EARLIER_BY_TWO = Lt(j + 1, i)


def h(i: Expr) -> Expr:
    """The norm of x_i after the first layer."""
    return sqrt(h_squared(i))


def score(a: Expr, b: Expr) -> Score:
    """S^(2)_ab of the general decoder."""
    return Score(2, a, b, **MODEL)


def gram(a: Expr, b: Expr) -> Gram:
    """G^(1)_ab of the general decoder."""
    return Gram(1, a, b, **MODEL)


def h_slope(m: Expr) -> Expr:
    """d h^2 / d m at m = i - 1 earlier tokens, read as a real variable."""
    return -(1 - alpha) * (m * ((2 * s - 2) * r + 1) + r * (2 * s * r - 1)) / (r + m) ** 3


@cache
def norms() -> Derivation:
    """h is positive and strictly decreasing."""
    wider = 1 + (j - 1) * alpha
    excess = lam + (r - 1) / (r + i - 1)  # by how much x_i prefers itself: M_ii - M_ij
    squares = ((1 - alpha) * (i - 1) * excess**2 + (1 + (i - 1) * alpha) * s**2) / i
    slope = Derivative(h_squared(m + 1), m)
    first = layer_one()
    steps = (
        Step("r", R_IS, "hypothesis", why="the definition of r"),
        Step("r-least", Ge(r, 1), "exponential", ("r",), why="beta >= 0 and alpha < 1"),
        Step("h-positive", Gt(h_squared(i), 0), "sign", ("r-least",), hints={"form": squares},
             why="as a sum of squares with the eigenvalues 1 - alpha and 1 + (i-1) alpha of K"),
        Step("wider-plus", Gt(wider, 0), "sign", given=(EARLIER, Ge(alpha, 0)), why="alpha >= 0"),
        Step("wider-i", INDEPENDENT, "hypothesis"),
        Step("wider-than-i", Ge(wider, 1 + (i - 1) * alpha), "sign", given=(EARLIER, Lt(alpha, 0)),
             why="alpha < 0 and j < i"),
        Step("wider-minus", Gt(wider, 0), "add", ("wider-than-i", "wider-i"), given=(EARLIER, Lt(alpha, 0))),
        Step("wider", Gt(wider, 0), "cases", ("wider-plus", "wider-minus"), given=(EARLIER,),
             why="fewer vectors stay independent"),
        Step("h-positive-j", Gt(h_squared(j), 0), "cite", ("h-positive", "wider"), given=(EARLIER,),
             hints={"values": {i: j}}),
        Step("G", Eq(gram(i, i), h_squared(i)), "cite", hints={"lemma": first.name, "step": "h"}),
        Step("G-j", Eq(gram(j, j), h_squared(j)), "cite",
             hints={"lemma": first.name, "step": "h", "values": {i: j}}),
        Step("G-positive", Gt(gram(i, i), 0), "sign", ("G", "h-positive")),
        Step("G-positive-j", Gt(gram(j, j), 0), "sign", ("G-j", "h-positive-j"), given=(EARLIER,)),
        Step("slope", Eq(slope, h_slope(m)), "derivative", ("r-least",),
             why="differentiate h^2 in m, the number of earlier tokens as a real variable"),
        Step("slope-sign", Lt(slope, 0), "sign", ("slope", "r-least"), why="r >= 1, s >= 1 and alpha < 1"),
        Step("h-decreasing", Lt(h_squared(j + 1), h_squared(j)), "decreasing", ("slope-sign",),
             hints={"at": (j - 1, j)}, why="h^2 has a negative derivative on m >= 0"),
    )  # fmt: skip
    return Derivation(
        name="norms",
        title="Norms after the first layer",
        hypotheses=(R_IS, *ADMISSIBLE),
        steps=steps,
        lemmas=(first,),
        intro="h(i), the norm of x_i after the first layer, is positive and strictly decreasing in i.",
    )


@cache
def norms_decrease() -> Derivation:
    """The squared norm after layer one is smaller for the next token, as far as independent vectors exist."""
    first, lemma = layer_one(), norms()
    following = i + 1
    steps = (
        Step("one-fewer", INDEPENDENT, "sign", hints={"form": (i - 1) / i * (1 + i * alpha) + 1 / i},
             why="i + 1 independent vectors leave i of them independent"),
        Step("G", Eq(gram(i, i), h_squared(i)), "cite", hints={"lemma": first.name, "step": "h"}),
        Step("G-next", Eq(gram(following, following), h_squared(following)), "cite",
             hints={"lemma": first.name, "step": "h", "values": {i: following}}),
        Step("h-decreasing", Lt(h_squared(following), h_squared(i)), "cite", ("one-fewer",),
             hints={"lemma": lemma.name, "step": "h-decreasing", "values": {j: i}}),
        Step("decrease", Lt(gram(following, following), gram(i, i)), "sign", ("G", "G-next", "h-decreasing")),
    )  # fmt: skip
    return Derivation(
        name="norms-decrease",
        title="Norms decrease",
        hypotheses=(R_IS, Lt(alpha, 1), Gt(1 + i * alpha, 0)),
        steps=steps,
        lemmas=(first, lemma),
        intro="The vectors after the first layer get shorter from each token to the next.",
    )


@cache
def closed_form() -> Derivation:
    """Eq. 4 of the paper for the general decoder."""
    lemma, first = norms(), layer_one()
    steps = (
        *(Step(label, line.statement, "cite", given=line.given, hints={"lemma": lemma.name, "step": label})
          for line in lemma.steps
          for label in [line.label]
          if label in ("h-positive", "h-positive-j", "G", "G-j", "G-positive", "G-positive-j")),
        Step("g", Eq(gram(i, j), g(i)), "cite", given=(EARLIER,), hints={"lemma": first.name, "step": "g"}),
        Step("S-gram", Eq(score(i, j), gram(i, j) / (h(i) * h(j))), "score",
             ("G", "G-j", "h-positive", "h-positive-j"), given=(EARLIER,), why="the cosine of x_i and x_j"),
        Step("S-self", Eq(score(i, i), 1), "score", ("G", "h-positive"), why="a vector has cosine 1 with itself"),
        Step("S", Eq(score(i, j), g(i) / (h(i) * h(j))), "identity",
             ("S-gram", "g", "h-positive", "h-positive-j"), given=(EARLIER,)),
    )  # fmt: skip
    return Derivation(
        name="score-two",
        title="Scores of the second layer",
        hypotheses=(R_IS, *ADMISSIBLE),
        steps=steps,
        lemmas=(lemma, first),
        intro="The score of an earlier key is a quotient in which only h(j) depends on the key.",
    )


def order_by_sign() -> And:
    """Increase, decrease or constancy in j, as the inner product is positive, negative or zero."""
    inner, here, closer = gram(i, j), score(i, j), score(i, j + 1)
    return And(
        Implies(Gt(inner, 0), Lt(here, closer)),
        Implies(Lt(inner, 0), Gt(here, closer)),
        Implies(Eq(inner, 0), Eq(here, closer)),
    )


@cache
def order() -> Derivation:
    """The general theorem of layer two."""
    lemma, form, first = norms(), closed_form(), layer_one()
    inner, here, closer = gram(i, j), score(i, j), score(i, j + 1)
    far, near = h(i) * h(j), h(i) * h(j + 1)
    two, positive, negative, zero = EARLIER_BY_TWO, Gt(inner, 0), Lt(inner, 0), Eq(inner, 0)

    def cited(source: Derivation, label: str, step: str, statement: Expr, shift: bool = False) -> Step:
        hints = {"lemma": source.name, "step": step, "values": {j: j + 1} if shift else {}}
        return Step(label, statement, "cite", given=(two,), hints=hints)

    steps = (
        Step("nearer", Lt(j, i), "hypothesis", given=(two,)),
        cited(lemma, "h-i", "h-positive", Gt(h_squared(i), 0)),
        cited(lemma, "h-j", "h-positive-j", Gt(h_squared(j), 0)),
        cited(lemma, "h-next", "h-positive-j", Gt(h_squared(j + 1), 0), shift=True),
        cited(form, "S-here", "S-gram", Eq(here, inner / far)),
        cited(form, "S-closer", "S-gram", Eq(closer, gram(i, j + 1) / near), shift=True),
        cited(first, "g-here", "g", Eq(inner, g(i))),
        cited(first, "g-closer", "g", Eq(gram(i, j + 1), g(i)), shift=True),
        Step("r", R_IS, "hypothesis"),
        Step("r-least", Ge(r, 1), "exponential", ("r",)),
        Step("flat", Eq(gram(i, j + 1), inner), "identity", ("g-here", "g-closer", "r-least"), given=(two,),
             why="both inner products are g(i)"),
        Step("S-next", Eq(closer, inner / near), "identity", ("S-closer", "flat", "h-i", "h-next"), given=(two,)),
        Step("h-square", Lt(h_squared(j + 1), h_squared(j)), "cite",
             hints={"lemma": lemma.name, "step": "h-decreasing"}),
        Step("h-fall", Lt(h(j + 1), h(j)), "root", ("h-square", "h-next", "h-j"), given=(two,),
             why="h is decreasing"),
        Step("fall", Lt(near, far), "product", ("h-fall", "h-i", "h-j", "h-next"), given=(two,),
             hints={"factor": h(i)}),
        *(
            Step(f"quotient-{name}", relation(inner / far, inner / near), "quotient",
                 ("fall", "h-i", "h-j", "h-next"), given=(two, condition), hints={"numerator": inner},
                 why=f"the numerator is {name}")
            for name, condition, relation in (("positive", positive, Lt), ("negative", negative, Gt))
        ),
        Step("up", Lt(here, closer), "sign", ("S-here", "S-next", "quotient-positive", "h-i", "h-j", "h-next"),
             given=(two, positive)),
        Step("down", Gt(here, closer), "sign", ("S-here", "S-next", "quotient-negative", "h-i", "h-j", "h-next"),
             given=(two, negative)),
        Step("zero", zero, "hypothesis", given=(two, zero)),
        Step("level", Eq(here, closer), "identity", ("S-here", "S-next", "zero", "h-i", "h-j", "h-next"),
             given=(two, zero), why="both scores are zero"),
        Step("if-positive", Implies(positive, Lt(here, closer)), "implication", ("up",), given=(two,)),
        Step("if-negative", Implies(negative, Gt(here, closer)), "implication", ("down",), given=(two,)),
        Step("if-zero", Implies(zero, Eq(here, closer)), "implication", ("level",), given=(two,)),
        Step("theorem", order_by_sign(), "conjunction", ("if-positive", "if-negative", "if-zero"),
             given=(two,)),
    )  # fmt: skip
    return Derivation(
        name="layer-two",
        title="The order of scores in the second layer",
        hypotheses=(R_IS, *ADMISSIBLE),
        steps=steps,
        lemmas=(lemma, form, first),
        intro=(
            "Among the keys before the query, scores increase towards the query when the inner "
            "product of x_i and x_j after the first layer is positive, decrease when it is negative, and "
            "are constant when it is zero."
        ),
    )


@cache
def below_diagonal() -> Derivation:
    """No earlier key scores as high as the query's own."""
    first = layer_one()

    def coefficient(a: Symbol) -> Mix:
        return Mix(1, a, a, **MODEL)

    steps = (
        Step("M-i", Eq(coefficient(i), lam + weight_self(i)), "cite", hints={"lemma": first.name, "step": "M-self"}),
        Step("M-j", Eq(coefficient(j), lam + weight_self(j)), "cite",
             hints={"lemma": first.name, "step": "M-self", "values": {i: j}}),
        Step("M-i-positive", Gt(coefficient(i), 0), "sign", ("M-i",)),
        Step("M-j-positive", Gt(coefficient(j), 0), "sign", ("M-j",)),
        Step("below", Lt(score(i, j), 1), "cauchy_schwarz", ("M-i-positive", "M-j-positive"), given=(EARLIER,),
             why="x_i has a part along the i-th input, x_j has none"),
    )  # fmt: skip
    return Derivation(
        name="below-diagonal",
        title="The diagonal of the second layer",
        hypotheses=(R_IS, *ADMISSIBLE),
        steps=steps,
        lemmas=(first,),
        intro="An earlier key scores strictly less than the query itself.",
    )


@cache
def increasing() -> Derivation:
    """Strict increase up to and including the diagonal, for alpha >= 0."""
    order_lemma, below, form, first = order(), below_diagonal(), closed_form(), layer_one()
    inner, here, closer = gram(i, j), score(i, j), score(i, j + 1)
    before, adjacent = Lt(j + 1, i), Eq(j, i - 1)
    steps = (
        Step("independent", INDEPENDENT, "sign", why="alpha >= 0"),
        Step("r", R_IS, "hypothesis"),
        Step("r-least", Ge(r, 1), "exponential", ("r",)),
        Step("g", Eq(inner, g(i)), "cite", given=(EARLIER,), hints={"lemma": first.name, "step": "g"}),
        Step("g-positive", Gt(inner, 0), "sign", ("g", "r-least"), given=(EARLIER,),
             hints={"form": s * (alpha * s + (1 - alpha) / (r + i - 1))}, why="0 <= alpha < 1"),
        Step("theorem", order_by_sign(), "cite", ("independent",), given=(before,),
             hints={"lemma": order_lemma.name, "step": "theorem"}),
        Step("before", Lt(here, closer), "detach", ("theorem", "g-positive"), given=(before,)),
        Step("self", Eq(score(i, i), 1), "cite", ("independent",), hints={"lemma": form.name, "step": "S-self"}),
        Step("less", Lt(score(i, i - 1), 1), "cite", ("independent",), given=(adjacent,),
             hints={"lemma": below.name, "step": "below", "values": {j: i - 1}}),
        Step("last", Lt(score(i, i - 1), score(i, i)), "sign", ("less", "self"), given=(adjacent,)),
        Step("adjacent", Lt(here, closer), "equals", ("last",), given=(adjacent,)),
        Step("increase", Lt(here, closer), "cases", ("before", "adjacent"), given=(EARLIER,),
             why="j + 1 < i or j + 1 = i"),
    )  # fmt: skip
    return Derivation(
        name="increasing-two",
        title="Closer keys score higher in the second layer",
        hypotheses=(R_IS, Lt(alpha, 1), Ge(alpha, 0)),
        steps=steps,
        lemmas=(order_lemma, below, form, first),
        intro="For 0 <= alpha < 1, every beta and every residual weight, S_ij < S_i,j+1 for all j < i.",
    )


@cache
def flat_without_norm() -> Derivation:
    """Without normalisation the scores before the diagonal do not depend on the key."""
    first = layer_one("none")
    model = {"decoder": decoder("none"), "inputs": INPUTS}

    def raw(a: Expr, b: Expr) -> Score:
        return Score(2, a, b, **model)

    def inner(a: Expr, b: Expr) -> Gram:
        return Gram(1, a, b, **model)

    lemma = {"lemma": first.name, "step": "g"}
    steps = (
        Step("g", Eq(inner(i, j), g(i)), "cite", given=(EARLIER,), hints=lemma),
        Step("S-inner", Eq(raw(i, j), inner(i, j)), "score", given=(EARLIER,), why="no normalisation, scale 1"),
        Step("S", Eq(raw(i, j), g(i)), "identity", ("S-inner", "g"), given=(EARLIER,)),
        Step("S-next", Eq(raw(i, j + 1), g(i)), "cite", ("S",), given=(EARLIER_BY_TWO,),
             hints={"values": {j: j + 1}}),
        Step("nearer", EARLIER, "hypothesis", given=(EARLIER_BY_TWO,)),
        Step("flat", Eq(raw(i, j), raw(i, j + 1)), "identity", ("S", "S-next"), given=(EARLIER_BY_TWO,),
             why="g(i) does not depend on the key"),
    )  # fmt: skip
    return Derivation(
        name="flat-without-norm",
        title="No normalisation, no order",
        hypotheses=(R_IS,),
        steps=steps,
        lemmas=(first,),
        intro="It is the normalisation that creates the order: without it, row i of S^(2) is constant.",
    )
