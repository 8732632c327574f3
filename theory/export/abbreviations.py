"""Letters for expressions that return all the time.

The first layer defines r, s, g(i) and h(i); the paper's own forms are written over the normaliser
D_i = e + (i - 1) e^alpha. A text that uses a letter says what it stands for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

from sympy import Basic, Eq, Expr, Function, Integer, Mul, Pow, Rational, Symbol, exp, false, sqrt, true

from theory import layer_one, limits, paper_forms
from theory.finite_width import limiting_score, score_correction
from theory.symbols import alpha, beta, d, i, j, k, lam, m

# Functions without assumptions: an inequality between them must not decide itself.
G, H = Function("g"), Function("h")
G_PRIME, H_PRIME = Function("g'"), Function("h'")  # without the residual
H_PAPER = Function("hhat")  # the paper's form of h, where h in the general form stands beside it
NORMALISER = Function("D")
S = Symbol("s", positive=True)
Q = Symbol("q", real=True)  # the limit of h(i)^2
R = layer_one.r

CORRECTION = Symbol("c^{(2)}_{ij}", real=True)  # printed in full in a section of its own
LIMIT = Symbol(r"\bar{S}^{(2)}_{ij}", real=True)  # the score in the limit of infinite width
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
    first: Table = {exp(beta * (1 - alpha)): R, q: Q, 2 * q: 2 * Q}
    return first, _rows(G, H, layer_one.g, layer_one.h_squared)


@cache
def _corrections() -> Table:
    """The 1/d term of a score at alpha = 0, beta = residual = 1, which fills half a page."""
    setting = {alpha: Integer(0), beta: Integer(1), lam: Integer(1)}
    c, limit = score_correction(i, j).xreplace(setting), limiting_score(i, j).xreplace(setting)
    factors = (Integer(1), Integer(-1), Rational(1, 1024), Rational(-1, 1024))
    return {**{factor * c: factor * CORRECTION for factor in factors}, limit: LIMIT, -limit: -LIMIT}


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
        for letter, square in ((H, general(x)), (H_PAPER, paper_forms.h_squared(x))):
            table |= {sqrt(square): letter(x), 1 / sqrt(square): 1 / letter(x), square: letter(x) ** 2}
    _, over = _paper()
    letters = {
        "h": Letter(H, Eq(H(i) ** 2, general(i))),
        "hhat": Letter(H_PAPER, Eq(H_PAPER(i) ** 2, paper_forms.h_squared(i).xreplace(over)), ("D",)),
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
        "h": Letter(H, Eq(H(i) ** 2, paper_forms.h_squared(i).xreplace(over)), ("D",)),
        "g'": Letter(G_PRIME, Eq(G_PRIME(i), paper_forms.g_prime(i).xreplace(over)), ("D",)),
        "h'": Letter(H_PRIME, Eq(H_PRIME(i) ** 2, paper_forms.h_prime_squared(i).xreplace(over)), ("D",)),
    }
    return general, paper


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
    if rows:
        expression = expression.xreplace(table)
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
    expression = expression.replace(_is_norm, _norm)
    with_s = expression.xreplace({lam: S - 1})
    if len(str(with_s)) < len(str(expression)):
        expression = with_s
    if expression in (true, false):
        return Abbreviated(full, ())
    return Abbreviated(expression, _definitions(expression, letters))


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
    return (
        isinstance(part, Pow)
        and part.exp in (Rational(1, 2), -Rational(1, 2))
        and all(
            isinstance(f, Pow) and f.exp == 2 and f.base.func in (H, H_PRIME, H_PAPER) for f in Mul.make_args(part.base)
        )
    )


def _norm(part: Basic) -> Basic:
    """The root of squares of norms, which are positive."""
    return Mul(*(f.args[0] for f in Mul.make_args(part.args[0]))) ** (2 * part.args[1])
