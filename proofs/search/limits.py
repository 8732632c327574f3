"""Limits far from the start of the sequence, from the closed forms."""

from __future__ import annotations

from functools import cache

import sympy
from sympy import Basic, Eq, Expr, Ge, Gt, Integer, Limit, Lt, Mul, Pow, Rational, Sum, Symbol, oo, sqrt

from maskproof.proofs.search.forms import Form, Forms
from maskproof.proofs.search.lines import Given, Labels, NoIdea
from maskproof.proofs.search.models import model_of
from maskproof.proofs.search.sums import worth
from maskproof.theory.derivation import Derivation
from maskproof.theory.layer_one import g, h_squared
from maskproof.theory.limits import saturation_from
from maskproof.theory.quantities import Quantity, Score
from maskproof.theory.symbols import i, j


def limit_form(forms: Forms, limit: Limit, given: Given) -> Form:
    """The value of a limit at infinity.

    Raises:
        NoIdea: none is known.
    """
    body, x, point, _ = limit.args
    if point is not oo:
        raise NoIdea(f"no limit at {point} is known")
    if any(x in h.free_symbols for h in given):
        raise NoIdea(f"a hypothesis speaks of {x}, which {limit} binds")
    label = _Limits(forms, x, given).of(body)
    return Form(forms.lines.statement(label).rhs, (label,))


class _Limits:
    """Limits in one variable."""

    def __init__(self, forms: Forms, x: Symbol, given: Given) -> None:
        self.forms, self.lines, self.x, self.given = forms, forms.lines, x, given

    def of(self, body: Expr) -> str:
        """A line that gives the limit of ``body``: by theorem, as a rational function, by parts, or by its square."""
        reason = NoIdea(f"no limit of {body} is known")
        for way in (self._saturation, self._rational, self._by_parts, self._by_square):
            try:
                return way(body)
            except NoIdea as objection:
                reason = objection
        raise reason

    # --- lines ------------------------------------------------------------------------------------------

    def _says(self, body: Expr, value: Expr) -> Eq:
        return Eq(Limit(body, self.x, oo), value, evaluate=False)

    def _far(self, body: Expr) -> Given:
        """What holds of the positions in ``body`` for all large x."""
        indices = {k for total in body.atoms(Sum) for k in total.variables}
        places = [e for q in body.atoms(Quantity) for e in (q.query, q.key)]
        places += [end for total in body.atoms(Sum) for _, *ends in total.limits for end in ends]
        ends = {e for e in places if not e.free_symbols & {self.x, *indices}} - {Integer(0)}
        return (*self.given, *(Lt(end, self.x) for end in sorted(ends, key=str)))

    def _fixed(self, labels: Labels) -> Labels:
        """Those lines that do not speak of x."""
        return tuple(label for label in labels if not self.lines.speaks_of(label, self.x))

    def _written(self, body: Expr) -> tuple[Expr, Labels]:
        """``body`` in closed form, and the lines that say so far out."""
        far = self._far(body)
        found = dict(worth(self.forms, body, far))
        value = body.xreplace({part: form.value for part, form in found.items()})
        return value, tuple(label for form in found.values() for label in form.premises)

    def _bounds(self) -> Labels:
        return self.forms.letters.bounds(self.lines)

    def _equal(self, body: Expr, equality: str, limit: str) -> str:
        value = self.lines.statement(limit).rhs
        return self.lines.add(self._says(body, value), "limit_of_equal", (equality, limit), self.given)

    def _identity(self, body: Expr, other: Expr, premises: Labels) -> str:
        statement = Eq(body, other, evaluate=False)
        return self.lines.add(statement, "identity", premises, self._far(body))

    # --- ways -------------------------------------------------------------------------------------------

    def _saturation(self, body: Expr) -> str:
        """The theorem about scores of layer two."""
        if not isinstance(body, Score) or body.layer != 2 or body.query != self.x or self.x in body.key.free_symbols:
            raise NoIdea(f"no limit of {body} is known")
        model = model_of(body)
        if model.norm == "none":
            raise NoIdea("without normalisation a score is an inner product")
        lemma = _saturation()
        values = self.forms.plain(model, {i: self.x, j: body.key})
        if not self.lines.follows(lemma.hypotheses[-1].xreplace(values), self.given):
            raise NoIdea(f"whether the norms stay away from zero is not known: {lemma.hypotheses[-1].xreplace(values)}")
        line = self.lines.cite(lemma, "saturation", {k: v for k, v in values.items() if k != i}, self.given)
        if not model.family:
            return line
        far = self._far(body)
        twin = self.forms.reduced(body, far)
        assert twin is not None
        value = model.gain * self.lines.statement(line).rhs
        scaled = self.lines.add(self._says(twin.value, value), "limit_algebra", (line,), self.given)
        return self._equal(body, twin.premises[0], scaled)

    def _rational(self, body: Expr) -> str:
        value, premises = self._written(body)
        limit = self._of_rational(value, premises)
        if value == body:
            return limit
        return self._equal(body, self._identity(body, value, premises), limit)

    def _of_rational(self, f: Expr, premises: Labels) -> str:
        if any(self.x in part.free_symbols for part in f.atoms(sympy.exp, Sum)) or _roots(f, self.x):
            raise NoIdea(f"{f} is not a rational function of {self.x}")
        return self.lines.add(
            self._says(f, _leading_quotient(f, self.x)), "rational_limit", (*self._fixed(premises), *self._bounds()),
            self.given,
        )  # fmt: skip

    def _by_parts(self, body: Expr) -> str:
        """The limits of the parts, put together."""
        if isinstance(body, Mul):
            constant, rest = body.as_independent(self.x, as_Add=False)
            if constant != 1 and isinstance(rest, Mul):
                return self._times(body, constant, rest)
        parts = [part for part in body.args if self.x in part.free_symbols] if body.is_Add or body.is_Mul else []
        if isinstance(body, Pow) and body.exp.is_Integer:
            parts = [body.base]
        if not parts:
            raise NoIdea(f"no limit of {body} is known")
        labels = [self.of(part) for part in parts]
        value = body.xreplace(dict(zip(parts, (self.lines.statement(label).rhs for label in labels), strict=True)))
        return self.lines.add(self._says(body, value), "limit_algebra", (*labels, *self._bounds()), self.given)

    def _times(self, body: Expr, constant: Expr, rest: Expr) -> str:
        inner = self.of(rest)
        product = Mul(constant, rest, evaluate=False)
        value = constant * self.lines.statement(inner).rhs
        outer = self.lines.add(self._says(product, value), "limit_algebra", (inner,), self.given)
        return self._equal(body, self._identity(body, product, ()), outer)

    def _by_square(self, body: Expr) -> str:
        """A product of roots: its square is rational."""
        value, premises = self._written(body)
        if not _roots(value, self.x):
            raise NoIdea(f"no limit of {body} is known")
        square = _squared(value)
        limit = self._of_rational(square, premises)
        c, lines = self.lines.statement(limit).rhs, self.lines
        power = Pow(body, 2, evaluate=False)
        same = self._identity(power, square, premises)
        if c == 0:
            zero = self._equal(power, same, limit)
            return lines.add(self._says(body, Integer(0)), "limit_of_square", (zero,), self.given)
        fixed = (*self._fixed(premises), *self._bounds())
        positive = [lines.add(Gt(c, 0, evaluate=False), "sign", fixed, self.given)] if c.free_symbols else []
        root = Pow(square, Rational(1, 2), evaluate=False)
        end = sqrt(c) if c.is_Atom else Pow(c, Rational(1, 2), evaluate=False)
        outer = lines.add(self._says(root, end), "limit_algebra", (limit, *positive, *fixed), self.given)
        far = self._far(body)
        sign = lines.add(Ge(body, 0, evaluate=False), "sign", (*premises, *self._bounds()), far)
        radicand = lines.add(Ge(square, 0, evaluate=False), "sign", (*premises, *self._bounds()), far)
        squares = lines.add(
            Eq(power, Pow(root, 2, evaluate=False), evaluate=False), "identity", (*premises, radicand), far
        )
        equal = lines.add(Eq(body, root, evaluate=False), "square", (squares, sign, radicand), far)
        return self._equal(body, equal, outer)


def _roots(e: Expr, x: Symbol) -> list[Basic]:
    """The square roots in ``e`` that depend on x."""
    return [p for p in e.atoms(Pow) if not p.exp.is_Integer and x in p.base.free_symbols and p.base != sympy.E]


def _squared(e: Expr) -> Expr:
    """The square, root by root."""
    return Mul(*(factor**2 for factor in Mul.make_args(e)))


def _leading_quotient(e: Expr, x: Symbol) -> Expr:
    """The limit of a rational function of x at infinity.

    Raises:
        NoIdea: it has none.
    """
    top, bottom = (sympy.Poly(part, x) for part in sympy.fraction(sympy.together(e)))
    if top.degree() > bottom.degree():
        raise NoIdea(f"{e} does not converge")
    return top.coeff_monomial(x ** bottom.degree()) / bottom.LC()


@cache
def _saturation() -> Derivation:
    """The theorem, with limits of norms that are worked out from the closed forms, not taken from a formula."""
    return saturation_from(*(_leading_quotient(e, i) for e in (g(i), h_squared(i))))
