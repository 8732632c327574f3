"""The first layer on equicorrelated inputs, in closed form.

Paper, section 3.2, there for beta = residual = 1 and with 0 <= alpha < 1; here for every inverse
temperature beta >= 0, residual weight lam >= 0 and real alpha, with or without l2 normalisation
(the inputs are unit vectors, so the first layer is the same). Two abbreviations carry everything:

    r = exp(beta (1 - alpha)),   s = 1 + lam.
"""

from __future__ import annotations

from functools import cache
from typing import Literal

from sympy import Expr, Sum, Symbol, exp

from maskproof.theory.decoder import Decoder
from maskproof.theory.derivation import Derivation, Step
from maskproof.theory.inputs import Equicorrelated
from maskproof.theory.quantities import Gram, InputGram, Mix, Score, Weight
from maskproof.theory.relations import Eq, Le, Lt
from maskproof.theory.symbols import alpha, beta, i, j, k, lam

Norm = Literal["l2", "none"]

r = Symbol("r", positive=True)  # exp(beta (1 - alpha)): how much a token prefers itself
R_IS = Eq(r, exp(beta * (1 - alpha)))
s = 1 + lam
p = Symbol("p", integer=True, positive=True)  # a second summation index
INPUTS = Equicorrelated(alpha)


def decoder(norm: Norm = "l2") -> Decoder:
    """The causal decoder with symbolic inverse temperature and residual weight."""
    return Decoder(beta=beta, residual=lam, norm=norm)


def weight_other(i: Expr) -> Expr:
    """A^(1)_ij for j < i: the weight that query i gives to each earlier key."""
    return 1 / (r + i - 1)


def weight_self(i: Expr) -> Expr:
    """A^(1)_ii: the weight that query i gives to itself."""
    return r / (r + i - 1)


def g(i: Expr) -> Expr:
    """G^(1)_ij for j < i, which does not depend on j."""
    return s * (alpha * s + (1 - alpha) / (r + i - 1))


def h_squared(i: Expr) -> Expr:
    """G^(1)_ii, the squared norm of x_i after the first layer."""
    return s**2 - (1 - alpha) * (i - 1) * (2 * s * (r + i - 1) - i) / (r + i - 1) ** 2


@cache
def layer_one(norm: Norm = "l2") -> Derivation:
    """From the definition of the layer to A^(1), x^(1) and G^(1)."""
    model = {"decoder": decoder(norm), "inputs": INPUTS}

    def score(a: Expr, b: Expr) -> Expr:
        return Score(1, a, b, **model)

    def weight(a: Expr, b: Expr) -> Expr:
        return Weight(1, a, b, **model)

    def mix(a: Expr, b: Expr) -> Expr:
        return Mix(1, a, b, **model)

    def gram(a: Expr, b: Expr) -> Expr:
        return Gram(1, a, b, **model)

    def entry(a: Expr, b: Expr) -> Expr:
        return InputGram(a, b, INPUTS)

    earlier, before = Lt(j, i), Le(k, i - 1)
    term = exp(beta * score(i, k))
    total, total_before = Sum(term, (k, 1, i)), Sum(term, (k, 1, i - 1))
    row, row_before = Sum(mix(i, k), (k, 1, i)), Sum(mix(i, k), (k, 1, i - 1))
    squares, squares_before = Sum(mix(i, k) ** 2, (k, 1, i)), Sum(mix(i, k) ** 2, (k, 1, i - 1))
    row_j = Sum(mix(j, k), (k, 1, j))
    products = Sum(mix(i, k) * mix(j, k), (k, 1, j))
    double = Sum(mix(i, k) * mix(j, p) * entry(k, p), (k, 1, i), (p, 1, j))
    double_self = Sum(mix(i, k) * mix(i, p) * entry(k, p), (k, 1, i), (p, 1, i))
    other, own = weight_other(i), weight_self(i)

    steps = (
        Step("r", R_IS, "hypothesis", why="the definition of r"),
        Step("K-self", Eq(entry(i, i), 1), "input_gram", why="the inputs are unit vectors"),
        Step("K-self-j", Eq(entry(j, j), 1), "input_gram", why="the inputs are unit vectors"),
        Step("K-other", Eq(entry(i, j), alpha), "input_gram", given=(earlier,),
             why="distinct inputs have cosine alpha"),
        Step("S-self", Eq(score(i, i), 1), "score", ("K-self",)),
        Step("S-other", Eq(score(i, j), alpha), "score", ("K-other", "K-self", "K-self-j"), given=(earlier,)),
        Step("S-before", Eq(score(i, k), alpha), "cite", ("S-other",), given=(before,),
             hints={"values": {j: k}}, why="the same for the key k"),
        Step("Z-split", Eq(total, total_before + exp(beta * score(i, i))), "split_last"),
        Step("Z-term", Eq(term, exp(alpha * beta)), "identity", ("S-before",), given=(before,)),
        Step("Z-before", Eq(total_before, Sum(exp(alpha * beta), (k, 1, i - 1))), "termwise", ("Z-term",)),
        Step("Z-count", Eq(Sum(exp(alpha * beta), (k, 1, i - 1)), (i - 1) * exp(alpha * beta)), "constant_sum"),
        Step("Z", Eq(total, exp(beta) + (i - 1) * exp(alpha * beta)), "identity",
             ("Z-split", "Z-before", "Z-count", "S-self"), why="the normaliser of row i"),
        Step("softmax", Eq(weight(i, j), exp(beta * score(i, j)) / total), "softmax", given=(earlier,)),
        Step("softmax-self", Eq(weight(i, i), exp(beta * score(i, i)) / total), "softmax"),
        Step("A-other", Eq(weight(i, j), other), "identity", ("softmax", "Z", "S-other", "r"), given=(earlier,),
             why="divide by exp(alpha beta)"),
        Step("A-self", Eq(weight(i, i), own), "identity", ("softmax-self", "Z", "S-self", "r"),
             why="divide by exp(alpha beta)"),
        Step("M-other", Eq(mix(i, j), other), "mix", ("A-other", "K-self-j"), given=(earlier,),
             why="the coefficient of x_j in x_i after the layer"),
        Step("M-self", Eq(mix(i, i), lam + own), "mix", ("A-self", "K-self"),
             why="the coefficient of x_i itself: attention and residual"),
        Step("M-before", Eq(mix(i, k), other), "cite", ("M-other",), given=(before,),
             hints={"values": {j: k}}),
        Step("row-split", Eq(row, row_before + mix(i, i)), "split_last"),
        Step("row-before", Eq(row_before, Sum(other, (k, 1, i - 1))), "termwise", ("M-before",)),
        Step("row-count", Eq(Sum(other, (k, 1, i - 1)), (i - 1) * other), "constant_sum"),
        Step("row", Eq(row, s), "identity", ("row-split", "row-before", "row-count", "M-self"),
             why="each row of weights sums to one: every x_i has total weight s"),
        Step("row-j", Eq(row_j, s), "cite", ("row",), hints={"values": {i: j}}, why="the same for row j"),
        Step("G-def", Eq(gram(i, j), double), "gram", given=(earlier,)),
        Step("G-sum", Eq(double, alpha * row * row_j + (1 - alpha) * products), "equicorrelated_sum",
             given=(earlier,), why="K = alpha + (1 - alpha) [k = p], and j < i"),
        Step("G-before", Eq(mix(i, k), other), "cite", ("M-other",), given=(earlier, Le(k, j)),
             hints={"values": {j: k}}),
        Step("G-term", Eq(mix(i, k) * mix(j, k), other * mix(j, k)), "identity", ("G-before",),
             given=(earlier, Le(k, j))),
        Step("G-products", Eq(products, Sum(other * mix(j, k), (k, 1, j))), "termwise", ("G-term",),
             given=(earlier,)),
        Step("G-factor", Eq(Sum(other * mix(j, k), (k, 1, j)), other * row_j), "linear_sum"),
        Step("g", Eq(gram(i, j), g(i)), "identity",
             ("G-def", "G-sum", "row", "row-j", "G-products", "G-factor"), given=(earlier,),
             why="j drops out, because x_j has the same total weight s for every j"),
        Step("H-def", Eq(gram(i, i), double_self), "gram"),
        Step("H-sum", Eq(double_self, alpha * row**2 + (1 - alpha) * squares), "equicorrelated_sum"),
        Step("H-split", Eq(squares, squares_before + mix(i, i) ** 2), "split_last"),
        Step("H-term", Eq(mix(i, k) ** 2, other**2), "identity", ("M-before",), given=(before,)),
        Step("H-before", Eq(squares_before, Sum(other**2, (k, 1, i - 1))), "termwise", ("H-term",)),
        Step("H-count", Eq(Sum(other**2, (k, 1, i - 1)), (i - 1) * other**2), "constant_sum"),
        Step("h", Eq(gram(i, i), h_squared(i)), "identity",
             ("H-def", "H-sum", "row", "H-split", "H-before", "H-count", "M-self"),
             why="collect over the denominator (r + i - 1)^2"),
    )  # fmt: skip
    title = "The first layer" if norm == "l2" else "The first layer without normalisation"
    return Derivation(
        name="layer-one" if norm == "l2" else "layer-one-unnormalised",
        title=title,
        hypotheses=(R_IS,),
        steps=steps,
        intro="Weights, mixing coefficients and Gram matrix after one layer, from its definition.",
    )
