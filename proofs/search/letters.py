"""Short names for r = exp(beta (1 - alpha)): signs need no more of it than bounds, and how several compare."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import count

from sympy import Basic, Eq, Expr, Ge, Gt, Integer, Lt, Symbol, exp, sqrt

from maskproof.proofs.search.lines import Given, Labels, Lines, follows
from maskproof.proofs.search.models import Model
from maskproof.theory.equivalence import WIDE
from maskproof.theory.layer_one import r
from maskproof.theory.symbols import d


def _letters() -> Iterator[Symbol]:
    yield r
    yield Symbol("q", positive=True)
    yield from (Symbol(f"q{n}", positive=True) for n in count(2))


_ROOT = Lt(1, sqrt(d))


def _largest_first(values: Iterable[Expr], hypotheses: Given) -> list[Expr]:
    """By how many others each exceeds, as far as is known: the kernel looks at letters in this order."""
    known = (*hypotheses, _ROOT) if follows(WIDE, hypotheses) else hypotheses
    values = list(values)

    def exceeds(a: Expr, b: Expr) -> bool:
        return a != b and follows(Lt(_exponent(b), _exponent(a)), known)

    return sorted(values, key=lambda a: -sum(exceeds(a, b) for b in values)) if len(values) > 1 else values


def _exponent(value: Expr) -> Expr:
    return Integer(1) if value == exp(1) else value.args[0] if value.args else Integer(0)


class Letters:
    """The names of all r of some models.

    Attributes:
        hypotheses: the definitions.
    """

    def __init__(self, models: Iterable[Model], hypotheses: Given) -> None:
        letters = _letters()
        self._bounds: dict[Expr, Basic] = {}
        self.names: dict[Expr, Symbol] = {}
        for value in _largest_first(dict.fromkeys(model.plain[r] for model in models), hypotheses):
            exponent = _exponent(value)
            if not exponent.free_symbols:  # of a number the kernel knows more than a bound
                continue
            if follows(Gt(exponent, 0), hypotheses):
                relation = Gt
            elif follows(Ge(exponent, 0), hypotheses):
                relation = Ge
            else:
                continue
            letter = self.names[value] = next(letters)
            self._bounds[value] = relation(letter, 1)
        self.hypotheses = tuple(Eq(letter, value) for value, letter in self.names.items())

    def of(self, model: Model) -> Expr:
        """What stands for the r of a model."""
        return self.names.get(model.plain[r], model.plain[r])

    def definitions(self, lines: Lines) -> Labels:
        """Lines that say what the letters stand for."""
        return tuple(lines.add(h, "hypothesis") for h in self.hypotheses)

    def bounds(self, lines: Lines) -> Labels:
        """Lines with bounds of the letters, and with their order where it follows."""
        found = []
        for h in self.hypotheses:
            label = lines.add(h, "hypothesis")
            found.append(lines.add(self._bounds[h.rhs], "exponential", (label,)))
        return (*found, *self._order(lines))

    def _order(self, lines: Lines) -> Iterator[str]:
        if len(self.hypotheses) < 2:
            return
        given = (_ROOT,) if lines.follows(WIDE) else ()
        for a in self.hypotheses:
            for b in self.hypotheses:
                if a is not b and lines.follows(Lt(a.rhs.args[0], b.rhs.args[0]), given):
                    premises = [lines.add(h, "hypothesis") for h in (a, b)]
                    if a.rhs.has(sqrt(d)) or b.rhs.has(sqrt(d)):
                        premises.append(lines.add(_ROOT, "root"))
                    yield lines.add(Lt(a.lhs, b.lhs), "exponential", premises)
