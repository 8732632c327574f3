"""Letters for expressions that return all the time.

The first layer defines r, s, g(i) and h(i); the paper's own forms are written over the normaliser
D_i = e + (i - 1) e^alpha. A text that uses a letter says what it stands for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

from sympy import (
    Add,
    Basic,
    E,
    Eq,
    Expr,
    Function,
    Integer,
    Mul,
    Pow,
    Rational,
    Symbol,
    collect,
    exp,
    expand,
    false,
    hyper,
    preorder_traversal,
    sqrt,
    true,
)

from maskproof.theory import layer_one, limits, paper_forms
from maskproof.theory.cosine import mean_cosine_shared_gaussian
from maskproof.theory.finite_width import limiting_score, score_correction
from maskproof.theory.symbols import alpha, beta, d, i, j, k, lam, m

# Functions without assumptions: an inequality between them must not decide itself.
G, H = Function("g"), Function("h")
G_PRIME, H_PRIME = Function("g'"), Function("h'")  # without the residual
H_GENERAL = Function("hhat")  # h in the general form, where the paper's form stands beside it
NORMALISER = Function("D")
GAMMA = Function("Gamma")  # SymPy's own would evaluate itself
S = Symbol("s", positive=True)
Q = Symbol("q", real=True)  # the limit of h(i)^2
R = layer_one.r

CORRECTION = Symbol("c^{(2)}_{ij}", real=True)  # printed in full in a section of its own
LIMIT = Symbol(r"\bar{S}^{(2)}_{ij}", real=True)  # the score in the limit of infinite width
W = Symbol("w", positive=True)  # the inverse of a sum that a formula divides by again and again
_WIDE_R = exp(sqrt(d) * (1 - alpha))

Table = dict[Basic, Basic]
_POSITIONS = (i, j, j + 1, i + 1, j - 1, i - 1, k, m, m + 1)


@dataclass(frozen=True)
class Letter:
    """A letter: how it is recognised in an abbreviated expression, what it means, what that uses."""

    sign: Any
    meaning: Basic
    uses: tuple[str, ...] = ()


@dataclass(frozen=True)
class Abbreviated:
    """An expression in letters, and the definitions of those letters, each before those that use it."""

    expression: Any
    definitions: tuple[Basic, ...]


def _rows(g: Any, h: Any, g_form: Callable[[Expr], Expr], h_squared: Callable[[Expr], Expr]) -> Table:
    """For every position: g, and h from its square."""
    table: Table = {}
    for x in _POSITIONS:
        square, inner = h_squared(x), g_form(x)
        table |= {sqrt(square): h(x), 1 / sqrt(square): 1 / h(x), square: h(x) ** 2, -square: -(h(x) ** 2)}
        table |= {inner: g(x), -inner: -g(x)}
    return table


@cache
def _general() -> tuple[Table, Table]:
    q = limits.h_squared_limit
    first: Table = {exp(times * beta * (1 - alpha)): R**times for times in (1, 2, 3)}
    first |= {q: Q, 2 * q: 2 * Q}
    return first, _rows(G, H, layer_one.g, layer_one.h_squared)


@cache
def _corrections() -> Table:
    """The 1/d term of a score, in general and at alpha = 0, beta = residual = 1: it fills half a page."""
    setting = {alpha: Integer(0), beta: Integer(1), lam: Integer(1)}
    c, limit = score_correction(i, j).xreplace(setting), limiting_score(i, j).xreplace(setting)
    factors = (Integer(1), Integer(-1), Rational(1, 1024), Rational(-1, 1024))
    table: Table = {**{factor * c: factor * CORRECTION for factor in factors}, limit: LIMIT, -limit: -LIMIT}
    return {**table, score_correction(i, j): CORRECTION}


@cache
def _sampler_mean() -> Table:
    """The mean cosine of the paper's inputs at d = 64, alpha = 1/2, which SymPy turns into numbers of 36 digits."""
    half, width = Rational(1, 2), Integer(64)
    series = hyper((half, half), (width / 2 + 1,), half**2)
    mean = (GAMMA((width + 1) / 2) / GAMMA(width / 2)) ** 2 * series / width
    return {mean_cosine_shared_gaussian(half, 64): mean}


@cache
def _paper() -> tuple[Table, Table]:
    forms = _rows(G, H, paper_forms.g, paper_forms.h_squared)
    forms |= _rows(G_PRIME, H_PRIME, paper_forms.g_prime, paper_forms.h_prime_squared)
    return forms, {paper_forms.normaliser(x): NORMALISER(x) for x in _POSITIONS}


@cache
def _side_by_side() -> tuple[Table, dict[str, Letter]]:
    """h at beta = residual = 1, in the general form and in the paper's, which a derivation compares."""

    def general(x: Expr) -> Expr:
        return layer_one.h_squared(x).xreplace({lam: Integer(1)}).xreplace({R: exp(1 - alpha)})

    table: Table = {}
    for x in _POSITIONS:
        for letter, square in ((H_GENERAL, general(x)), (H, paper_forms.h_squared(x))):
            table |= {sqrt(square): letter(x), 1 / sqrt(square): 1 / letter(x), square: letter(x) ** 2}
    letters = {
        "hhat": Letter(H_GENERAL, Eq(H_GENERAL(i) ** 2, general(i))),
        "h": Letter(H, Eq(H(i) ** 2, _paper_square(2 * E + (i - 1) * paper_forms.x)), ("D",)),
    }
    return table, letters


def compares_norms(statements: Iterable[Basic]) -> bool:
    """Whether roots of the paper's h^2 occur, which are too long to be written out."""
    roots = {sqrt(paper_forms.h_squared(x)) for x in (i, j)}
    roots |= {1 / root for root in roots}
    return any(statement.atoms(Pow) & roots for statement in statements)


@cache
def _letters() -> tuple[dict[str, Letter], dict[str, Letter]]:
    """The letters of the general theory, and those of the paper's forms."""
    _, over = _paper()
    general = {
        "s": Letter(S, Eq(S, 1 + lam)),
        "r": Letter(R, Eq(R, exp(beta * (1 - alpha)))),
        "q": Letter(Q, Eq(Q, limits.h_squared_limit)),
        "g": Letter(G, Eq(G(i), layer_one.g(i).xreplace({lam: S - 1})), ("s", "r")),
        "h": Letter(H, Eq(H(i) ** 2, layer_one.h_squared(i).xreplace({lam: S - 1})), ("s", "r")),
    }
    paper = {
        "D": Letter(NORMALISER, Eq(NORMALISER(i), paper_forms.normaliser(i))),
        "g": Letter(G, Eq(G(i), paper_forms.g(i).xreplace(over)), ("D",)),
        "h": Letter(H, Eq(H(i) ** 2, _paper_square(2 * E + (i - 1) * paper_forms.x)), ("D",)),
        "g'": Letter(G_PRIME, Eq(G_PRIME(i), paper_forms.g_prime(i).xreplace(over)), ("D",)),
        "h'": Letter(H_PRIME, Eq(H_PRIME(i) ** 2, _paper_square(E)), ("D",)),
    }
    return general, paper


def _paper_square(own: Expr) -> Expr:
    """The paper's squared norm over its common denominator, ``own`` being the weight of x_i times D(i)."""
    other, earlier = paper_forms.x, i - 1
    cross = alpha * earlier * other * collect(expand(2 * own + (i - 2) * other), other)
    return (own**2 + earlier * other**2 + cross) / NORMALISER(i) ** 2


@cache
def abbreviate(
    expression: Basic, rows: bool = True, paper_rows: bool = True, side_by_side: bool = False
) -> Abbreviated:
    """Put letters for what they stand for.

    Args:
        expression: any expression or statement.
        rows: whether g and h of the general theory are known, or just being derived.
        paper_rows: the same for the paper's forms of them.
        side_by_side: whether the general form of h and the paper's occur together.
    """
    general, paper = _letters()
    full = expression
    if any(expression == letter.meaning for letter in general.values()):
        return Abbreviated(full, ())
    first, table = _general()
    letters = general
    if expression.has(_WIDE_R):  # LayerNorm with scale sqrt(d): beta is sqrt(d)
        expression = expression.xreplace({_WIDE_R: R})
        letters = {**general, "r": Letter(R, Eq(R, _WIDE_R))}
    expression = expression.xreplace(_corrections()).xreplace(first)
    if expression.has(hyper):
        expression = expression.xreplace(_sampler_mean())
    if rows:
        expression = _inner_products(expression).xreplace(table)
    if not expression.has(G, H):
        forms, normalisers = _paper()
        before = expression
        if side_by_side:
            both, extra = _side_by_side()
            expression = expression.xreplace(both)
            paper = {**{name: paper[name] for name in ("D", "g", "g'", "h'")}, **extra}
        if paper_rows:
            expression = expression.xreplace(forms)
        expression = expression.xreplace(normalisers)
        if expression != before:
            letters = {"s": general["s"], "r": general["r"], "q": general["q"], **paper}
    expression, inverse = _inverses(expression)
    letters = {**letters, **inverse}
    expression = expression.replace(_is_norm, _norm)
    with_s = expression.xreplace({lam: S - 1})
    if len(str(with_s)) < len(str(expression)):
        expression = with_s
    if expression in (true, false):
        return Abbreviated(full, ())
    return Abbreviated(expression, _definitions(expression, letters))


def _inner_products(expression: Any) -> Any:
    """g(x) in products, where SymPy has scattered its factors."""
    for x in _POSITIONS:
        factors = layer_one.g(x).args

        def gathered(product: Any, x: Expr = x, factors: Any = factors) -> Any:
            return Mul(G(x), *(f for f in product.args if f not in factors))

        expression = expression.replace(lambda e, f=factors: e.is_Mul and set(f) <= set(e.args), gathered)
    return expression


def _inverses(expression: Any) -> tuple[Any, dict[str, Letter]]:
    """w for the inverse of a sum that stands in three denominators or more: D(i) if LayerNorm's softmax has it."""
    softmax = exp(sqrt(d)) + (i - 1) * exp(alpha * sqrt(d))
    if expression.has(softmax):
        return expression.xreplace({softmax: NORMALISER(i)}), {"D": Letter(NORMALISER, Eq(NORMALISER(i), softmax))}
    divisors = Counter(
        part.base for part in preorder_traversal(expression)
        if isinstance(part, Pow) and part.exp.is_Integer and part.exp < 0 and isinstance(part.base, Add)
    )  # fmt: skip
    often = [base for base, times in divisors.items() if times >= 3 and not base.has(R, S, lam, NORMALISER)]
    if len(often) != 1:
        return expression, {}
    (base,) = often
    table = {1 / base**power: W**power for power in (1, 2)}
    return expression.xreplace(table), {"w": Letter(W, Eq(W, 1 / base))}


def _definitions(expression: Any, letters: dict[str, Letter]) -> tuple[Basic, ...]:
    wanted: set[str] = set()
    for name, letter in letters.items():
        if _occurs(letter.sign, expression):
            wanted |= {name, *letter.uses}
    order = sorted(letters, key=lambda name: (bool(letters[name].uses), list(letters).index(name)))
    return tuple(letters[name].meaning for name in order if name in wanted)


def _occurs(sign: Any, expression: Any) -> bool:
    return bool(expression.has(sign)) if isinstance(sign, Symbol) else bool(expression.atoms(sign))


def joined(parts: Iterable[tuple[Basic, ...]]) -> tuple[Basic, ...]:
    """Definitions of several expressions together, none twice."""
    return tuple(dict.fromkeys(meaning for part in parts for meaning in part))


def _is_norm(part: Basic) -> bool:
    """Whether ``part`` is a root of a product of squares h(x)^2."""
    if not isinstance(part, Pow) or abs(part.exp) != Rational(1, 2):
        return False
    norms = (H, H_PRIME, H_GENERAL)
    return all(isinstance(f, Pow) and f.exp == 2 and f.base.func in norms for f in Mul.make_args(part.base))


def _norm(part: Basic) -> Basic:
    """The root of squares of norms, which are positive."""
    return Mul(*(f.args[0] for f in Mul.make_args(part.args[0]))) ** (2 * part.args[1])
