"""From a statement to lines that end with it: connectives, equations, inequalities."""

from __future__ import annotations

from collections.abc import Iterator

import sympy
from sympy import And, Basic, Eq, Equivalent, Ge, Gt, Implies, Le, Limit, Lt, Sum
from sympy.core.relational import Relational

from maskproof.proofs.search.cases import split
from maskproof.proofs.search.forms import Form, Forms, Open
from maskproof.proofs.search.layer import by_definition
from maskproof.proofs.search.limits import limit_form
from maskproof.proofs.search.lines import Given, Labels, NoIdea
from maskproof.proofs.search.models import depth
from maskproof.proofs.search.roots import radicands
from maskproof.proofs.search.shape import MOST_TERMS, exponentials, signed, terms
from maskproof.proofs.search.sums import worth
from maskproof.proofs.search.theorems import level, positive, theorems
from maskproof.theory.quantities import Gram, Quantity, Weight

DEPTH = 6  # splits at the diagonal, one inside another


class Prover:
    """Adds lines that end with a statement.

    ``thorough`` asks the kernel about each attempt, and so can try several; else the first is taken.
    """

    def __init__(self, forms: Forms, thorough: bool) -> None:
        self.forms, self.lines, self.thorough = forms, forms.lines, thorough

    def show(self, s: Basic, given: Given, depth: int = 0) -> str:
        """The label of a line that says ``s`` under the hypotheses and ``given``.

        Raises:
            NoIdea: there is none.
        """
        if isinstance(s, And):
            hardest_first = sorted(s.args, key=_depth, reverse=True)
            return self.lines.add(s, "conjunction", [self.show(part, given, depth) for part in hardest_first], given)
        if isinstance(s, Equivalent) and len(s.args) == 2:
            a, b = s.args
            both = [self.show(Implies(*pair, evaluate=False), given, depth) for pair in ((a, b), (b, a))]
            return self.lines.add(s, "conjunction", both, given)
        if isinstance(s, Implies):
            condition, conclusion = tuple(s.args)
            label = self.show(conclusion, (*given, *And.make_args(condition)), depth)
            return self.lines.add(s, "implication", (label,), given)
        if not isinstance(s, Relational):
            raise NoIdea(f"no rule is known for {s}")
        try:
            return self._relation(s, given)
        except Open as reason:
            if depth >= DEPTH:
                raise NoIdea(str(reason)) from None
            return split(self.forms, s, given, reason, lambda part, case: self.show(part, case, depth + 1))

    def _relation(self, s: Relational, given: Given) -> str:
        """The first attempt; if ``thorough``, the first that the kernel accepts."""
        attempts = self._equation(s, given) if isinstance(s, Eq) else self._inequality(s, given)
        reason = ""
        for label in attempts:
            if not self.thorough or not (objection := self.lines.objection(label)):
                return label
            reason = reason or objection
        raise NoIdea(reason or f"no way to show {s}")

    # --- what the parts are worth -----------------------------------------------------------------------

    def _parts(self, s: Basic, given: Given) -> Iterator[Form]:
        """The closed forms of all limits, sums and quantities in ``s``."""
        if s.has(sympy.Derivative, sympy.Integral, sympy.Product):
            raise NoIdea("derivatives, integrals and products are not searched")
        limits = sorted(s.atoms(Limit), key=str)
        yield from (limit_form(self.forms, limit, given) for limit in limits)
        outside = s.xreplace({limit: sympy.Dummy() for limit in limits})
        yield from (form for _, form in worth(self.forms, outside, given))

    def _premises(self, s: Basic, given: Given) -> Labels:
        premises = [label for form in self._parts(s, given) for label in form.premises]
        return (*premises, *radicands(self.forms, s, given))

    # --- equations --------------------------------------------------------------------------------------

    def _equation(self, s: Eq, given: Given) -> Iterator[str]:
        ways = (self._mirrored, self._level, self._defined, self._on_twins, self._in_full, self._squared)
        for way in ways:
            yield from way(s, given)

    def _mirrored(self, s: Eq, given: Given) -> Iterator[str]:
        """Inner products are symmetric."""
        left, right = s.args
        if isinstance(left, Gram) and isinstance(right, Gram) and self.forms.mirror(left) == right:
            yield self.lines.add(s, "symmetric", (), given)

    def _level(self, s: Eq, given: Given) -> Iterator[str]:
        left, right = s.args
        label = level(self.forms, left, right, given)
        if label is not None:
            yield label

    def _defined(self, s: Eq, given: Given) -> Iterator[str]:
        """A line of the definition of the layer, or what follows from such lines."""
        left, right = s.args
        rule = {Weight: "softmax", Gram: "gram"}.get(type(left))
        if not self.thorough:
            return
        if rule and right.has(Sum):
            yield self.lines.add(s, rule, (), given)
        yield from by_definition(self.forms, s, given)

    def _on_twins(self, s: Eq, given: Given) -> Iterator[str]:
        """Both sides are the same in terms of the twins, whatever those are worth."""
        quantities = sorted(s.atoms(Quantity), key=str)
        if s.has(Limit, Sum) or len(quantities) < 2:
            return
        forms = {q: form for q in quantities if (form := self.forms.reduced(q, given)) is not None}
        if not forms:
            return
        left, right = (side.xreplace({q: form.value for q, form in forms.items()}) for side in s.args)
        if terms(left - right) <= MOST_TERMS and sympy.expand(left - right) == 0:
            yield self.lines.add(s, "identity", [x for form in forms.values() for x in form.premises], given)

    def _in_full(self, s: Eq, given: Given) -> Iterator[str]:
        premises = (*self._premises(s, given), *self.forms.letters.definitions(self.lines))
        yield self.lines.add(s, "identity", premises, given)

    def _squared(self, s: Eq, given: Given) -> Iterator[str]:
        """Both sides are roots, and their squares are equal."""
        premises = (*self._premises(s, given), *self.forms.letters.definitions(self.lines))
        left, right = s.args
        squares = Eq(sympy.Pow(left, 2, evaluate=False), sympy.Pow(right, 2, evaluate=False), evaluate=False)
        label = self.lines.add(squares, "identity", premises, given)
        bounds = self.forms.letters.bounds(self.lines)
        signs = [
            self.lines.add(Ge(side, 0, evaluate=False), "sign", (*self._premises(Ge(side, 0, evaluate=False), given),
                                                               *bounds), given)
            for side in s.args if not side.is_nonnegative
        ]  # fmt: skip
        yield self.lines.add(s, "square", (label, *signs), given)

    # --- inequalities -----------------------------------------------------------------------------------

    def _inequality(self, s: Relational, given: Given) -> Iterator[str]:
        if not s.has(Limit, Sum):
            pairs = [s.args] if isinstance(s, Lt | Le) else [s.args[::-1]] if isinstance(s, Gt | Ge) else []
            for small, large in pairs or [s.args, s.args[::-1]]:
                for label in (*positive(self.forms, small, large, given), *theorems(self.forms, small, large, given)):
                    strict = isinstance(s, Lt | Gt)
                    yield label if strict else self.lines.add(s, "sign", (label,), given)
        premises = (*self._premises(s, given), *self.forms.letters.bounds(self.lines))
        yield self.lines.add(s, "sign", premises, given)
        yield from self._in_other_forms(s, given, premises)

    def _in_other_forms(self, s: Relational, given: Given, premises: Labels) -> Iterator[str]:
        further = exponentials(self.lines, s, given)
        if further:
            yield self.lines.add(s, "sign", (*premises, *further), given)
        difference = s.lhs - s.rhs if isinstance(s, Gt | Ge) else s.rhs - s.lhs
        form = signed(self.lines, difference, (*given, *map(self.lines.statement, further)))
        if form is not None:
            yield self.lines.add(s, "sign", (*premises, *further), given, {"form": form})


def _depth(s: Basic) -> int:
    """The deepest layer that a statement speaks of: there the search fails soonest."""
    return max(map(depth, s.atoms(Quantity)), default=0)
