"""The functions of the language, by name: exact on fractions where their values are fractions, in balls elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, reduce

import flint
from flint import arb, fmpq, fmpz

from maskproof.numerics.balls import mean_cosine, working_precision
from maskproof.proofs.engines import numbers
from maskproof.proofs.engines.numbers import Real, integer
from maskproof.proofs.engines.truth import NotApplicable

SMALL = 2_000  # of arguments of factorials and binomials that are worked out exactly

_BALLS: dict[str, Callable[..., arb]] = {
    "log": arb.log, "sin": arb.sin, "cos": arb.cos, "sinh": arb.sinh, "cosh": arb.cosh, "tanh": arb.tanh,
    "atan": arb.atan, "erf": arb.erf, "ci": arb.ci, "gamma": arb.gamma, "sign": arb.sgn, "floor": arb.floor,
    "ceiling": arb.ceil,
}  # fmt: skip
_AT_ZERO = {"sin": 0, "cos": 1, "sinh": 0, "cosh": 1, "tanh": 0, "atan": 0, "erf": 0}


def known(name: str) -> bool:
    """Whether there is such a function."""
    return name in _BALLS or name in _SPECIAL


def applied(name: str, arguments: Sequence[Real]) -> Real:
    """The value of a function; not finite where it has none.

    >>> applied("binomial", [fmpq(5), fmpq(2)]), applied("abs", [fmpq(-1, 2)])
    (10, 1/2)
    """
    if all(isinstance(argument, fmpq) for argument in arguments):
        exact = rational(name, arguments)  # type: ignore[arg-type]
        if exact is not None:
            return exact
    if name in _SPECIAL:
        return _SPECIAL[name](*arguments)
    return _BALLS[name](*(arb(argument) for argument in arguments))


def rational(name: str, arguments: Sequence[fmpq]) -> fmpq | None:
    """The value of a function of fractions if it is a fraction that is easy to say."""
    x = arguments[0]
    match name:
        case "abs":
            return abs(x)
        case "sign":
            return fmpq(int(x > 0) - int(x < 0))
        case "max":
            return max(arguments)  # type: ignore[type-var]
        case "min":
            return min(arguments)  # type: ignore[type-var]
        case "delta":
            return fmpq(int(x == arguments[1]))
        case "floor" | "ceiling":
            return fmpq(x.floor() if name == "floor" else x.ceil())
        case "log" if x == 1:
            return fmpq(0)
        case "factorial" | "gamma":
            return _factorial(x if name == "factorial" else x - 1)
        case "binomial":
            return _binomial(x, arguments[1])
        case "power":
            exponent = integer(arguments[1])
            found = None if exponent is None else numbers.power(x, exponent)
            if exponent is None and arguments[1].q == 2:
                found = numbers.power(numbers.root(x), int(arguments[1].p))
            return found if isinstance(found, fmpq) else None
    return fmpq(_AT_ZERO[name]) if name in _AT_ZERO and x == 0 else None


def _factorial(x: fmpq) -> fmpq | None:
    return fmpq(fmpz.fac_ui(fmpz(x.p))) if x.q == 1 and 0 <= x <= SMALL else None


def _binomial(n: fmpq, k: fmpq) -> fmpq | None:
    small = n.q == 1 and k.q == 1 and 0 <= k <= n <= SMALL
    return fmpq(fmpz.bin_uiui(int(n.p), int(k.p))) if small else None


def _power(base: Real, exponent: Real) -> Real:
    whole = integer(exponent)
    return numbers.power(base, whole) if whole is not None else arb(base) ** arb(exponent)


def _delta(a: Real, b: Real) -> Real:
    same = numbers.equal(a, b)
    return arb.nan() if same is None else fmpq(int(same))


def _extremum(pick: str) -> Callable[..., arb]:
    def value(*arguments: Real) -> arb:
        candidates = [arb(argument) for argument in arguments]
        if any(candidate.is_nan() for candidate in candidates):
            return arb.nan()
        return reduce(lambda a, b: getattr(a, pick)(b), candidates)

    return value


def _gamma_ratio(n: Real, k: Real) -> arb:
    top, bottom = arb(n), arb(k)
    return (top + 1).gamma() / ((bottom + 1).gamma() * (top - bottom + 1).gamma())


def _kappa(distance: Real, base: Real, dim: Real) -> arb:
    whole, size = integer(distance), integer(dim)
    if size is None:
        raise NotApplicable(f"{dim} is no number of coordinates")
    if whole is not None and isinstance(base, fmpq):
        return kappa(base, size, abs(whole), flint.ctx.prec)
    log_base, half = arb(base).log(), size // 2
    angles = ((-log_base * m / half).exp() for m in range(half))
    return sum(((arb(distance) * angle).cos() for angle in angles), arb(0)) / half


@lru_cache(maxsize=4096)
def kappa(base: fmpq, dim: int, distance: int, precision: int) -> arb:
    """The kernel of a rotary embedding at a distance, at some bits."""
    with working_precision(precision):
        return mean_cosine(arb(base), dim, distance)


_SPECIAL: dict[str, Callable[..., Real]] = {
    "abs": lambda x: abs(arb(x)),
    "max": _extremum("max"),
    "min": _extremum("min"),
    "delta": _delta,
    "power": _power,
    "kappa": _kappa,
    "factorial": lambda x: (arb(x) + 1).gamma(),
    "binomial": _gamma_ratio,
    "hyp2f1": lambda a, b, c, z: arb(z).hypgeom_2f1(arb(a), arb(b), arb(c)),
}
