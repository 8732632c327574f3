"""The paper's formulas as it writes them: in e and x = e^alpha, for beta = residual = 1.

Each is derived from the general closed forms of ``layer_one`` and ``layer_two`` by putting in
values and comparing in the field of rational functions of e and e^alpha.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from sympy import And, E, Expr, Symbol, exp, sqrt
from sympy.logic.boolalg import Boolean

from maskproof.theory.decoder import Decoder
from maskproof.theory.derivation import Derivation, Step
from maskproof.theory.inputs import Equicorrelated
from maskproof.theory.layer_one import layer_one, r
from maskproof.theory.layer_two import norms
from maskproof.theory.quantities import Gram, bind
from maskproof.theory.relations import Ge, Lt
from maskproof.theory.symbols import alpha, beta, i, j, lam

x = exp(alpha)
EARLIER = Lt(j, i)
PAPER = (Ge(alpha, 0), Lt(alpha, 1))  # the paper's range of alpha
WITH_RESIDUAL = Decoder()
WITHOUT_RESIDUAL = Decoder(residual=0)


def normaliser(i: Expr) -> Expr:
    """The denominator of row i of the first softmax."""
    return E + (i - 1) * x


def g(i: Expr) -> Expr:
    """The inner product of x_i and x_j, j < i, after layer one (section 3.2)."""
    return 4 * alpha + 2 * (1 - alpha) * x / normaliser(i)


def _squared_norm(i: Expr, own: Expr) -> Expr:
    """||a x_i + b (x_1 + ... + x_{i-1})||^2 with a = own / normaliser and b = x / normaliser."""
    a, b = own / normaliser(i), x / normaliser(i)
    return a**2 + (i - 1) * b**2 + alpha * (2 * (i - 1) * a * b + (i - 1) * (i - 2) * b**2)


def h_squared(i: Expr) -> Expr:
    """The squared norm of x_i after layer one (Eq. 3)."""
    return _squared_norm(i, 2 * E + (i - 1) * x)


def g_prime(i: Expr) -> Expr:
    """g without the residual (Appendix A.2)."""
    return alpha + (1 - alpha) * x / normaliser(i)


def h_prime_squared(i: Expr) -> Expr:
    """h^2 without the residual (Appendix A.2)."""
    return _squared_norm(i, E)


def numerator_coefficients() -> tuple[Expr, Expr, Expr]:
    """Coefficients of i^2, i, 1 in the numerator of h(i+1)^2 - h(i)^2 (Appendix A.1)."""
    c = (alpha - 1) * x
    square = x**3 + 2 * E * x**2
    return c * square, c * (6 * E**2 * x - square), c * (4 * E**3 - 4 * E**2 * x)


def h_difference(i: Expr) -> Expr:
    """h(i+1)^2 - h(i)^2 (Appendix A.1)."""
    top = i * (i - 1) * (x**3 + 2 * E * x**2) + (6 * i - 4) * E**2 * x + 4 * E**3
    return (alpha - 1) * x * top / (normaliser(i + 1) ** 2 * normaliser(i) ** 2)


def h_prime_difference(i: Expr, sign: int) -> Expr:
    """h'(i+1)^2 - h'(i)^2 with ``sign`` +1; Appendix A.2 prints it with -1."""
    top = 2 * E**3 + sign * 2 * E**2 * x * (i - 1) + x**3 * i * (i - 1)
    return (alpha - 1) * x * top / (normaliser(i + 1) ** 2 * normaliser(i) ** 2)


def score(i: Expr, j: Expr) -> Expr:
    """S^(2)_ij for j < i (Eq. 4)."""
    return g(i) / (sqrt(h_squared(i)) * sqrt(h_squared(j)))


def special_case(
    name: str,
    title: str,
    statement: Boolean,
    sources: Mapping[str, tuple[Derivation, str]],
    decoder: Decoder = WITH_RESIDUAL,
    next_of: tuple[str, ...] = (),
) -> Derivation:
    """A derivation of ``statement`` by putting a decoder's numbers into general results.

    ``sources`` names steps of general derivations; each part of ``statement`` must follow from them
    by field arithmetic, if it is not one of them. Those in ``next_of`` are cited for i + 1.
    """
    cited = [
        cite(label, lemma, step, decoder, {i: i + 1} if label in next_of else {})
        for label, (lemma, step) in sources.items()
    ]
    bound = bind(statement, decoder, Equicorrelated(alpha))
    lemmas = tuple({lemma.name: lemma for lemma, _ in sources.values()}.values())
    if cited[-1].statement == bound:
        return Derivation(name, title, PAPER, tuple(cited), lemmas)
    given = tuple({h: None for step in cited for h in step.given})
    equations = bound.args if isinstance(bound, And) else (bound,)  # make_args is a set: no order
    steps = [
        *cited,
        *(Step(f"form-{index}", equation, "identity", tuple(sources), given=given,
               why="compare in the field of rational functions of e and e^alpha")
          for index, equation in enumerate(equations, 1)),
    ]  # fmt: skip
    if len(equations) > 1:
        labels = tuple(f"form-{index}" for index in range(1, len(equations) + 1))
        steps.append(Step("both", bound, "conjunction", labels, given=given))
    return Derivation(name, title, PAPER, tuple(steps), lemmas)


def cite(
    label: str,
    lemma: Derivation,
    step: str,
    decoder: Decoder,
    positions: Mapping[Symbol, Expr] | None = None,
) -> Step:
    """A general result with the numbers of ``decoder`` (and other positions) put in."""
    values = {
        beta: decoder.beta,
        lam: decoder.residual,
        r: exp(decoder.beta * (1 - alpha)),
        **(positions or {}),
    }
    (line,) = [s for s in lemma.steps if s.label == step]
    given = tuple(h.xreplace(values) for h in line.given)
    hints = {"lemma": lemma.name, "step": step, "values": values}
    return Step(label, line.statement.xreplace(values), "cite", given=given, hints=hints)


def norms_decrease(name: str, decoder: Decoder) -> Derivation:
    """Squared norms after layer one decrease, for the numbers of ``decoder``."""
    first, lemma = layer_one(), norms()
    here, following = (Gram(1, a, a, decoder=decoder, inputs=Equicorrelated(alpha)) for a in (i, i + 1))
    steps = (
        cite("h", first, "h", decoder),
        cite("h-next", first, "h", decoder, {i: i + 1}),
        cite("fall", lemma, "h-decreasing", decoder, {j: i}),
        Step("decrease", Lt(following, here), "sign", ("h", "h-next", "fall")),
    )
    return Derivation(name, "Norms decrease", PAPER, steps, (first, lemma))


@cache
def coefficients_negative() -> Derivation:
    """Appendix A.1: the coefficients are negative because 1 <= e^alpha < e."""
    labels = ("square", "linear", "constant")
    forms = (
        (1 - alpha) * x * (x**3 + 2 * E * x**2),
        (1 - alpha) * x**2 * (3 * E**2 + (E - x) * (3 * E + x)),
        (1 - alpha) * x * 4 * E**2 * (E - x),
    )
    steps = (
        Step("x-least", Ge(x, 1), "exponential", why="alpha >= 0"),
        Step("x-most", Lt(x, E), "exponential", why="alpha < 1"),
        *(Step(label, Lt(c, 0), "sign", ("x-least", "x-most"), hints={"form": form})
          for label, c, form in zip(labels, numerator_coefficients(), forms, strict=True)),
        Step("all", And(*(Lt(c, 0) for c in numerator_coefficients())), "conjunction", labels),
    )  # fmt: skip
    return Derivation("h-coefficients", "Signs of the coefficients in Appendix A.1", PAPER, steps)
