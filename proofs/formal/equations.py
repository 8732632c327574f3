"""Equations: field arithmetic after rewriting, with exponentials and roots in few letters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from maskproof.proofs.formal.context import Context, Unproved
from maskproof.proofs.formal.text import Unprintable, real
from maskproof.proofs.kernel.algebra import Field, Undecided, canonical
from maskproof.proofs.terms import terms as t
from maskproof.proofs.terms.conditions import conditions
from maskproof.proofs.terms.terms import ONE, ZERO, Relation, Statement, Term


class Equations(Context):
    """A proof that shows equations."""

    def equation(self, left: Term, right: Term, *, rewriting: bool = False) -> str:
        """A script that closes ``left = right``; what it needs is asserted before."""
        if real(left) == real(right):
            return "reflexivity"
        steps: list[str] = []
        a, b = left, right
        nonzero = [n for side in (left, right) for n in self.denominators(side)]
        if rewriting:
            steps += self._merged((left, right, *(side for a, (b, _) in self.equations.items() for side in (a, b))))
            used = self._used(left, right)
            a, b = self.known.rewritten(left), self.known.rewritten(right)
            if used:
                again = "; ".join(f"try rewrite {name}" for name in used)
                rounds = min(4, len(used))
                steps.append(f"do {rounds} ({again})" if rounds > 1 else again)
                steps += [
                    f"do {rounds} (" + "; ".join(f"try rewrite {name} in {n}" for name in used) + ")" for n in nonzero
                ]
            nonzero += [n for side in (a, b) for n in self.denominators(side)]
        else:
            steps += self._merged((left, right))
        exps, roots, squares = self._letters(a, b)
        if exps:
            nonzero += self._cleared((a, b))
        inside = [f"{x} in {n}" for n in dict.fromkeys((*nonzero, *squares)) for x in exps]
        roots += [f"{x} in {n}" for n in dict.fromkeys(nonzero) for x in roots]
        ways = ["equation"]
        if squares:
            listed = " ".join(squares)
            products = ", ".join(f"?{q}" for q in squares)
            ways += [f"(rewrite {products}; equation)", f"(field [{listed}]; side)", f"ring [{listed}]"]
            ways += [f"(abstract_roots; first [ring | (field; side) | (field [{listed}]; side)])"]
        close = f"first [{' | '.join(ways)}]" if len(ways) > 1 else ways[0]
        if exps and _exponentials(a) == _exponentials(b):
            close = f"first [{close} | ({'; '.join((*inside, *exps, close))})]"
            return "; ".join((*steps, *roots, close))
        return "; ".join((*steps, *roots, *inside, *exps, close))

    def _cleared(self, terms: Sequence[Term]) -> list[str]:
        """Assert that denominators do not vanish once they are written without fractions."""
        found = []
        for s in (s for term in terms for s in _nonzero(term) if "Exp" in s.left.heads):
            try:
                field = Field([s.left])
                found.append(self.nonzero(field.polynomial(field.convert(s.left).top)))
            except (Unproved, Unprintable, Undecided):
                continue
        return found

    def _used(self, *terms: Term) -> list[str]:
        """Names of the equations that rewriting uses, in the order of use."""
        names: dict[str, None] = {}
        pool = list(terms)
        seen: set[Term] = set()
        table = {canonical(a): (a, b, name) for a, (b, name) in self.equations.items()}
        while pool:
            term = pool.pop(0)
            for part in open_parts(term):
                key = canonical(part)
                if key in table and key not in seen:
                    seen.add(key)  # type: ignore[arg-type]
                    names[table[key][2]] = None
                    pool.append(table[key][1])
        return list(names)

    def _merged(self, terms: Sequence[Term]) -> list[str]:
        """Rewriting steps that write equal sums and quantities in one way."""
        chosen: dict[Term, Term] = {}
        steps: list[str] = []
        for term in terms:
            for part in open_parts(term):
                if not isinstance(part, (t.Sum, t.Entry, t.Input, t.Derivative)):
                    continue
                key = canonical(part)
                first = chosen.setdefault(key, part)  # type: ignore[arg-type]
                if first != part and real(first) != real(part):
                    steps.append(f"try rewrite {self._same_atom(part, first)}")
        return list(dict.fromkeys(steps))

    def _same_atom(self, a: Term, b: Term) -> str:
        prop = f"({real(a)} = {real(b)})"
        if not isinstance(a, t.Sum):
            return self.have(prop, "repeat f_equal; first [lia | equation]", "A")
        if not (isinstance(b, t.Sum) and a.index == b.index):
            return self.have(prop, "sums", "A")
        inner = self.inside(self.known)
        inner.assume(f"(1 <= {a.index.name})%nat", low := inner.fresh("S"))
        last = inner.equation(a.body, b.body)
        script = "; ".join(
            (f"apply sum_ext; intros {a.index.name} [{low} ?]", *(x.rstrip(".") for x in inner.lines), last)
        )
        return self.have(prop, script, "A")

    def divides(self, statement: Statement) -> bool:
        """Assert that no denominator of a relation vanishes; whether that is known of all."""
        sides = (statement.left, statement.right) if isinstance(statement, Relation) else ()
        return all(self._try_nonzero(s.left) for side in sides for s in _nonzero(side))

    def denominators(self, term: Term) -> list[str]:
        """Assert that the denominators do not vanish, as far as that is known."""
        return list(dict.fromkeys(name for s in _nonzero(term) if (name := self._try_nonzero(s.left))))

    def _try_nonzero(self, e: Term) -> str | None:
        try:
            return self.nonzero(e)
        except (Unproved, Unprintable):
            return None

    def _letters(self, a: Term, b: Term) -> tuple[list[str], list[str], list[str]]:
        """Steps that write exponentials and roots in few letters, and the squares of the roots."""
        exps = [n for side in (a, b) for n in open_parts(side) if isinstance(n, t.Exp)]
        roots = [n for side in (a, b) for n in open_parts(side) if isinstance(n, t.Root)]
        if not exps and not roots:
            return [], [], []
        try:
            field = Field([a, b, *exps, *roots])
            return self._written_exps(field, exps), self._written_roots(field, roots), self._squares(field, roots)
        except Undecided:
            return [], [], []

    def _written_exps(self, field: Field, exps: list[t.Exp]) -> list[str]:
        steps: dict[str, None] = {}
        for e in exps:
            new = field.term(field.convert(e))
            if real(new) == real(e):
                continue
            script = "apply exp_zero; equation" if new == ONE else "exponents"
            steps[f"try rewrite {self.have(f'({real(e)} = {real(new)})', script, 'X')}"] = None
        return list(steps)

    def _representatives(self, field: Field, roots: list[t.Root]) -> dict[Term, Term]:
        """For each root letter of the field the first root in the text that is it."""
        chosen: dict[Term, Term] = {}
        for w in roots:
            new = field.term(field.convert(w))
            if isinstance(new, t.Root):
                chosen.setdefault(new, w)
        return chosen

    def _written_roots(self, field: Field, roots: list[t.Root]) -> list[str]:
        chosen = self._representatives(field, roots)
        steps: dict[str, None] = {}
        for w in roots:
            new = t.replaced(field.term(field.convert(w)), chosen)
            if real(new) == real(w):
                continue
            prop = f"({real(w)} = {real(new)})"
            if prop in self.names:
                name = self.names[prop]
            elif isinstance(new, t.Root):
                name = self.have(prop, f"f_equal; {self.equation(w.radicand, new.radicand)}", "W")
            else:
                for radicand in [n.radicand for n in open_parts(new) if isinstance(n, t.Root)]:
                    self._try_square(radicand)
                squares = [self.names[p] for p in map(_square, _radicands(new)) if p in self.names]
                close = (
                    f"first [ring [{' '.join(squares)}] | field [{' '.join(squares)}]; side]" if squares else "equation"
                )
                name = self.have(
                    prop,
                    f"apply root_of; [first [assumption | pos] | first [assumption | manifest | pos] | {close}]",
                    "W",
                )
            steps[f"try rewrite {name}"] = None
        return list(steps)

    def _squares(self, field: Field, roots: list[t.Root]) -> list[str]:
        chosen, found = self._representatives(field, roots), list[str]()
        for w in roots:
            new = t.replaced(field.term(field.convert(w)), chosen)
            for radicand in _radicands(new):
                name = self._try_square(radicand)
                if name is not None:
                    found.append(name)
        return list(dict.fromkeys(found))

    def _try_square(self, radicand: Term) -> str | None:
        """Assert sqrt(a) sqrt(a) = a, and sqrt(a) > 0 where a > 0."""
        try:
            strict = self.known.facts.is_positive(radicand)
            name = self.sign(radicand, strict)
        except (Unproved, Unprintable):
            return None
        if strict:
            self.have(f"(0 < {real(t.Root(radicand))})", f"apply sqrt_lt_R0; exact {name}")
        return self.have(_square(radicand), f"apply sqrt_sqrt; {'left; ' if strict else ''}exact {name}", "Q")


def open_parts(term: Term) -> Iterable[Term]:
    """The parts of a term outside of binders and quantities, outermost first."""
    yield term
    if isinstance(term, (t.Add, t.Mul, t.Power, t.Root, t.Exp)):
        for part in term.parts:
            yield from open_parts(part)  # type: ignore[arg-type]


def _nonzero(term: Term) -> Iterable[Relation]:
    """The denominators of a term outside of sums, as what must not vanish."""
    for c in conditions(term):
        s = c.statement
        if not c.ranges and isinstance(s, Relation) and s.kind == "!=" and s.right == ZERO:
            yield s


def _exponentials(term: Term) -> set[str]:
    return {real(n) for n in open_parts(term) if isinstance(n, t.Exp)}


def _radicands(term: Term) -> list[Term]:
    return list(dict.fromkeys(n.radicand for n in open_parts(term) if isinstance(n, t.Root)))


def _square(radicand: Term) -> str:
    root = real(t.Root(radicand))
    return f"({root} * {root} = {real(radicand)})"
