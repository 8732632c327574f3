"""Far from the start of the sequence: the limit of the layer-two score, and how fast it is reached.

Paper, section 4.1: for alpha != 0 "the score becomes independent of i". With

    p = alpha s^2,  q = lam^2 + alpha (1 + 2 lam)    (the limits of g and h^2)

the score S^(2)_ij tends to p / (sqrt(q) h(j)) as i grows, at the rate 1/i.
"""

from __future__ import annotations

from functools import cache

from sympy import Expr, Limit, oo, sqrt

from maskproof.theory.derivation import Derivation, Step
from maskproof.theory.layer_one import R_IS, g, h_squared, layer_one, r, s
from maskproof.theory.layer_two import EARLIER, INDEPENDENT, closed_form, gram, h, norms, score
from maskproof.theory.relations import Eq, Ge, Gt, Lt
from maskproof.theory.symbols import alpha, i, j, lam

g_limit = alpha * s**2
h_squared_limit = lam**2 + alpha * (1 + 2 * lam)


def score_limit_from(p: Expr, q: Expr) -> Expr:
    """The limit of S^(2)_ij as i grows, from the limits p of g and q of h^2."""
    return p / (sqrt(q) * h(j))


score_limit = score_limit_from(g_limit, h_squared_limit)

# h^2 = q + b / (r + i - 1) + ..., g = p + a / (r + i - 1)
_a = (1 - alpha) * s
_b = (1 - alpha) * (2 * r * lam + 1)
rate = (_a - g_limit * _b / (2 * h_squared_limit)) / (sqrt(h_squared_limit) * h(j))


def _to_infinity(e: Expr) -> Limit:
    return Limit(e, i, oo)


@cache
def saturation() -> Derivation:
    """The limit of a row's scores, far from the start."""
    return saturation_from(g_limit, h_squared_limit)


def saturation_from(p: Expr, q: Expr) -> Derivation:
    """The limit of a row's scores, if p and q are the limits of g and h^2 (the kernel checks that)."""
    limit = score_limit_from(p, q)
    first, lemma, form = layer_one(), norms(), closed_form()
    inner, square = gram(i, j), gram(i, i)
    quotient = inner / (sqrt(square) * h(j))
    steps = (
        Step("g", Eq(inner, g(i)), "cite", given=(EARLIER,), hints={"lemma": first.name, "step": "g"}),
        Step("h", Eq(square, h_squared(i)), "cite", hints={"lemma": first.name, "step": "h"}),
        Step("g-limit", Eq(_to_infinity(g(i)), p), "rational_limit"),
        Step("h-limit", Eq(_to_infinity(h_squared(i)), q), "rational_limit"),
        Step("G-limit", Eq(_to_infinity(inner), p), "limit_of_equal", ("g", "g-limit")),
        Step("H-limit", Eq(_to_infinity(square), q), "limit_of_equal", ("h", "h-limit")),
        Step("independent-j", Gt(1 + (j - 1) * alpha, 0), "sign", why="alpha >= 0"),
        Step("h-j", Gt(h_squared(j), 0), "cite", ("independent-j",),
             hints={"lemma": lemma.name, "step": "h-positive", "values": {i: j}}),
        Step("independent", INDEPENDENT, "sign", why="alpha >= 0"),
        Step("h-i", Gt(h_squared(i), 0), "cite", ("independent",), hints={"lemma": lemma.name, "step": "h-positive"}),
        Step("quotient-limit", Eq(_to_infinity(quotient), limit), "limit_algebra",
             ("G-limit", "H-limit", "h-j"), why="quotient and root are continuous at q > 0"),
        Step("S-gram", Eq(score(i, j), inner / (h(i) * h(j))), "cite", ("independent",), given=(EARLIER,),
             hints={"lemma": form.name, "step": "S-gram"}),
        Step("S-quotient", Eq(score(i, j), quotient), "identity", ("S-gram", "h", "h-i", "h-j"),
             given=(EARLIER,)),
        Step("saturation", Eq(_to_infinity(score(i, j)), limit), "limit_of_equal",
             ("S-quotient", "quotient-limit")),
    )  # fmt: skip
    return Derivation(
        name="saturation",
        title="Saturation",
        hypotheses=(R_IS, Ge(alpha, 0), Lt(alpha, 1), Gt(q, 0)),
        steps=steps,
        lemmas=(first, lemma, form),
        intro="Far from the start the score depends on the key alone.",
    )


@cache
def saturation_rate() -> Derivation:
    """The distance to the limit, times i."""
    first, lemma, form, base = layer_one(), norms(), closed_form(), saturation()
    p, q = g_limit, h_squared_limit
    inner, square = gram(i, j), gram(i, i)
    spread = i * (g(i) ** 2 * q - p**2 * h_squared(i))
    spread_gram = i * inner**2 * q - i * p**2 * square
    conjugate = inner * sqrt(q) + p * sqrt(square)
    rationalised = spread_gram / (sqrt(square) * sqrt(q) * conjugate * h(j))
    distance = i * (score(i, j) - score_limit)
    cited = {
        label: {"lemma": base.name, "step": label}
        for label in ("g", "h", "G-limit", "H-limit", "h-j", "h-i", "independent", "S-quotient")
    }
    statements = {step.label: step for step in base.steps}
    steps = (
        *(Step(label, statements[label].statement, "cite", given=statements[label].given, hints=hints)
          for label, hints in cited.items()),
        Step("g-positive", Gt(inner, 0), "sign", ("g",), given=(EARLIER,), why="0 < alpha < 1"),
        Step("H-positive", Gt(square, 0), "sign", ("h", "h-i")),
        Step("spread-limit", Eq(_to_infinity(spread), 2 * p * q * _a - p**2 * _b), "rational_limit"),
        Step("spread", Eq(spread_gram, spread), "identity", ("g", "h"), given=(EARLIER,)),
        Step("spread-gram-limit", Eq(_to_infinity(spread_gram), 2 * p * q * _a - p**2 * _b), "limit_of_equal",
             ("spread", "spread-limit")),
        Step("rationalised-limit", Eq(_to_infinity(rationalised), rate), "limit_algebra",
             ("spread-gram-limit", "G-limit", "H-limit", "h-j")),
        Step("distance", Eq(distance, rationalised), "identity",
             ("S-quotient", "H-positive", "g-positive", "h-j"), given=(EARLIER,),
             why="multiply numerator and denominator by the conjugate"),
        Step("rate", Eq(_to_infinity(distance), rate), "limit_of_equal", ("distance", "rationalised-limit")),
    )  # fmt: skip
    return Derivation(
        name="saturation-rate",
        title="How fast the scores saturate",
        hypotheses=(R_IS, Gt(alpha, 0), Lt(alpha, 1)),
        steps=steps,
        lemmas=(first, lemma, form, base),
        intro="The score of key j reaches its limit like 1/i.",
    )
