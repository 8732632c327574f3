"""A Coq proof under construction: what is asserted so far, by the text of the proposition, and how signs are shown.

Everything that a kernel rule takes as known is asserted here with a proof that does not search: a sign comes with the
certificate that the kernel found, a polynomial whose coefficients are not negative.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from flint import arb, fmpq

from proofs.formal.text import Unprintable, existences, integer, is_integer, natural, proposition, real
from proofs.kernel.algebra import Field, Undecided, alike, canonical, identical
from proofs.kernel.known import Known, eigenvalues
from proofs.kernel.signs import Facts, Shift
from proofs.terms import terms as t
from proofs.terms.conditions import conditions
from proofs.terms.terms import ONE, ZERO, Relation, Statement, Term, minus, number, plus, substitute, times

# lemmas: a relation of two terms, from the same of terms that are equal to them
BY = {"<": "lt_by", "<=": "le_by", "!=": "ne_by", "=": "eq_by"}


class Unproved(ValueError):
    """The exporter has no proof of what the kernel takes as known."""


class Proof:
    """Sentences of a proof; ``names`` says what each proposition that has been asserted is called."""

    def __init__(self, known: Known) -> None:
        self.known = known
        self.lines: list[str] = []
        self.names: dict[str, str] = {}
        self.equations: dict[Term, tuple[Term, str]] = {}  # left side -> right side, name of the equation
        self.failed: set[tuple[str, Term]] = set()
        self._count = 0

    def add(self, line: str) -> None:
        """One more sentence."""
        self.lines.append(line)

    def fresh(self, letter: str) -> str:
        """A name that nothing has yet."""
        self._count += 1
        return f"{letter}{self._count}"

    def inside(self, known: Known) -> Proof:
        """A proof within this one, about more variables, which sees what is asserted here."""
        inner = Proof(known)
        inner.names, inner._count = dict(self.names), self._count + 1000
        return inner

    def assume(self, prop: str, name: str) -> str:
        """``name`` proves ``prop`` in the context already."""
        self.names[prop] = name
        return name

    def have(self, prop: str, script: str, letter: str = "H") -> str:
        """Assert ``prop`` unless it has been; return its name."""
        name = self.names.get(prop)
        if name is None:
            name = self.names[prop] = self.fresh(letter)
            self.add(f"assert ({name} : {prop}) by ({script}).")
        return name

    def state(self, statement: Statement, script: str, letter: str = "P") -> str:
        """Assert a statement, and its parts, which can be used alone."""
        prop = proposition(statement)
        name = self.have(prop, script, letter)
        for part in t.conjuncts(statement):
            if part is not statement:
                self.have(proposition(part), f"decompose [and] {name}; assumption", letter)
            for further in (*existences(part), bare_relation(part)) if "Derivative" in part.heads else ():
                self.have(further, f"decompose [and] {name}; assumption", letter)
        return name

    def learn(self, statements: Iterable[Statement]) -> None:
        """Equations among what has been asserted, for rewriting."""
        for s in statements:
            for part in t.conjuncts(s):
                if isinstance(part, Relation) and part.kind == "=" and not isinstance(part.left, t.Limit):
                    name = self.names.get(bare_relation(part))
                    if name is not None and part.left not in set(part.right.walk()):
                        self.equations[part.left] = (part.right, name)

    # --- equations -----------------------------------------------------------------------------------

    def equal(self, left: Term, right: Term, *, rewriting: bool = False) -> str:
        """Assert that both sides are equal, by field arithmetic, after rewriting by the equations if ``rewriting``."""
        prop = f"({real(left)} = {real(right)})"
        if prop in self.names:
            return self.names[prop]
        return self.have(prop, self.equation(left, right, rewriting=rewriting), "E")

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
            for part in _open_parts(term):
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
            for part in _open_parts(term):
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
        wanted = [s.left for side in sides for s in _nonzero(side)]
        for term in wanted:
            try:
                self.nonzero(term)
            except (Unproved, Unprintable):
                return False
        return True

    def denominators(self, term: Term) -> list[str]:
        """Assert that the denominators do not vanish, as far as that is known."""
        found = []
        for s in _nonzero(term):
            try:
                found.append(self.nonzero(s.left))
            except (Unproved, Unprintable):
                continue
        return list(dict.fromkeys(found))

    def _letters(self, a: Term, b: Term) -> tuple[list[str], list[str], list[str]]:
        """Steps that write exponentials and roots in few letters, and the squares of the roots."""
        exps = [n for side in (a, b) for n in _open_parts(side) if isinstance(n, t.Exp)]
        roots = [n for side in (a, b) for n in _open_parts(side) if isinstance(n, t.Root)]
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
                for radicand in [n.radicand for n in _open_parts(new) if isinstance(n, t.Root)]:
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
        found: list[str] = []
        for w in roots:
            new = t.replaced(field.term(field.convert(w)), self._representatives(field, roots))
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

    # --- signs --------------------------------------------------------------------------------------

    def sign(self, e: Term, strict: bool = True, facts: Facts | None = None) -> str:
        """Assert 0 < e (or 0 <= e), from the facts that the kernel has, by the certificate that it finds.

        Raises:
            Unproved: the kernel finds none.
        """
        facts = facts or self.known.facts
        prop = f"(0 {'<' if strict else '<='} {real(e)})"
        if prop in self.names:
            return self.names[prop]
        stronger = f"(0 < {real(e)})"
        if not strict and stronger in self.names:
            return self.have(prop, f"apply weaken; exact {self.names[stronger]}")
        if ("<" if strict else "<=", e) in self.failed or not facts.is_positive(e, strict):
            self.failed.add(("<" if strict else "<=", e))
            raise Unproved(f"{real(e)} {'>' if strict else '>='} 0")
        if isinstance(e, t.Exp):
            return self.have(prop, f"{'' if strict else 'left; '}apply exp_pos")
        for way in (self._by_fact, self._by_shift, self._by_parts):
            script = way(e, strict, facts)
            if script is not None:
                return self.have(prop, script)
        raise Unproved(f"{real(e)} {'>' if strict else '>='} 0")

    def _by_fact(self, e: Term, strict: bool, facts: Facts) -> str | None:
        for fact, positive in [(f, True) for f in facts.positive] + [(f, False) for f in facts.nonnegative]:
            if (positive or not strict) and fact.free == e.free and identical(e, fact):
                name = self.fact(fact, positive)
                last = f"apply weaken; exact {name}" if positive and not strict else f"exact {name}"
                if real(fact) == real(e):
                    return last
                return f"apply ({'positive_by' if strict else 'nonnegative_by'} _ _ {self.equal(e, fact)}); {last}"
        return None

    def fact(self, fact: Term, positive: bool) -> str:
        """Assert a fact of the kernel's: the difference of both sides of a known relation, or of independent inputs."""
        prop = f"(0 {'<' if positive else '<='} {real(fact)})"
        if prop in self.names:
            return self.names[prop]
        for s in self.known.statements:
            name = self.names.get(proposition(s)) if isinstance(s, t.Independent) else None
            if name is not None and any(minus(r.right, r.left) == fact for r in eigenvalues(s, self.known.facts)):
                return self.have(prop, f"eigenvalue {name}", "F")
            if not isinstance(s, Relation):
                continue
            name = self.names.get(bare_relation(s)) or self.names.get(proposition(s))
            excess = minus(s.right, s.left)
            if name is not None and excess == fact and s.kind in ("<", "<=") and not is_integer(excess):
                weaker = "apply weaken; " if s.kind == "<" and not positive else ""
                return self.have(prop, f"{weaker}exact ({'sub_lt' if s.kind == '<' else 'sub_le'} _ _ {name})", "F")
        return self.have(prop, "reals; first [lra | push_INR; lra]", "F")

    def _by_shift(self, e: Term, strict: bool, facts: Facts) -> str | None:
        """By the kernel's certificate; each exponential is one letter, if that is enough."""
        exps = dict.fromkeys(n for n in _open_parts(e) if isinstance(n, t.Exp))
        letters = {x: t.Variable(f"exp{n}", t.Sort.POSITIVE) for n, x in enumerate(exps)}
        back: dict[t.Variable, Term] = {v: x for x, v in letters.items()}
        plain = t.replaced(e, letters)
        path = _with_letters(facts, letters).shift(plain, strict) if letters else None
        if path is not None:
            top, bottom = (substitute(part, back) for part in shifted(plain, path))
            path = tuple(
                replace(s, generator=substitute(s.generator, back), bound=substitute(s.bound, back)) for s in path
            )
        else:
            path = facts.shift(e, strict)
            if path is None:
                return None
            top, bottom = shifted(e, path)
        for step in path:
            self._bound(step, facts)
        form = top if bottom == ONE else t.over(top, bottom)
        if real(form) == real(e):
            return "manifest"
        return f"apply ({'positive_by' if strict else 'nonnegative_by'} _ _ {self.equal(e, form)}); manifest"

    def _bound(self, step: Shift, facts: Facts) -> None:
        """Assert that the new letter of a shift is not negative."""
        g = step.generator
        prop = f"(0 {'<' if step.strict else '<='} {real(letter(step))})"
        if prop in self.names:
            return
        match g:
            case t.Exp() if step.bound == ZERO and step.side > 0:
                self.have(prop, "apply exp_pos", "Y")
                return
            case t.Root(radicand=radicand) if step.bound == ZERO and step.side > 0:
                if step.strict:
                    name = self.sign(radicand, True, facts.without_roots)
                    self.have(prop, f"apply sqrt_lt_R0; exact {name}", "Y")
                else:
                    self.have(prop, "apply sqrt_pos", "Y")
                return
        for fact, positive in [(f, True) for f in facts.positive] + [(f, False) for f in facts.nonnegative]:
            if g in set(fact.walk()):
                try:
                    self.fact(fact, positive)
                except Unprintable:
                    continue
        script = "reals; first [assumption | lra | push_INR; lra]"
        if isinstance(g, t.Exp) and not g.free:
            script = "first [lra | interval | interval with (i_prec 60)]"
        self.have(prop, script, "Y")

    def _by_parts(self, e: Term, strict: bool, facts: Facts) -> str | None:
        match e:
            case t.Add(terms=terms):
                for part in terms:
                    self.sign(part, strict and facts.is_positive(part), facts)
                return "manifest"
            case t.Mul(factors=factors):
                for factor in factors:
                    if not _is_division(factor):
                        self.sign(factor, strict, facts)
                    else:
                        self._by_parts(factor, strict, facts)
                return "manifest"
            case t.Power(base=base, exponent=exponent) if exponent % 2 == 0:
                if strict or exponent < 0:
                    name = self.nonzero(base, facts)
                    self.have(
                        f"(0 < {real(t.Power(base, abs(exponent)))})",
                        f"apply even_positive; [reflexivity | exact {name}]",
                    )
                else:
                    self.have(f"(0 <= {real(e)})", "apply even_nonnegative; reflexivity")
                return "manifest"
            case t.Power(base=base, exponent=exponent):
                self.sign(base, strict or exponent < 0, facts)
                return "manifest"
            case t.Sum(body=body, index=index, high=high):
                return self._sum_sign(body, index, high, strict, facts)
        return None

    def _sum_sign(self, body: Term, index: t.Variable, high: Term, strict: bool, facts: Facts) -> str | None:
        own = t.fresh(index, high, *facts.positive, *facts.nonnegative, *facts.nonzero)
        body, index = t.substitute(body, {index: own}), own
        inside = Facts(facts.positive, (*facts.nonnegative, minus(own, ONE), minus(high, own)), facts.nonzero)
        inner = self.inside(self.known)
        low, up = inner.fresh("L"), inner.fresh("U")
        lines = f"intros {index.name} [{low} {up}]; assert (1 <= Z.of_nat {index.name} <= {integer(high)})%Z by lia"
        name = inner.sign(body, strict, inside)
        script = " ".join((f"{lines}; reals.", *inner.lines, f"exact {name}."))
        lemma = "sum_pos" if strict else "sum_nonneg"
        prop = f"(0 {'<' if strict else '<='} {real(t.Sum(body, index, ONE, high))})"
        total = self.names[prop] = self.fresh("H")
        first = "[lia|]" if strict else ""
        self.add(f"assert ({total} : {prop}). {{ apply {lemma}{'; ' + first if first else ''}. {script} }}")
        return f"exact {total}"

    def nonzero(self, e: Term, facts: Facts | None = None) -> str:
        """Assert that ``e`` does not vanish.

        Raises:
            Unproved: the kernel does not find it.
        """
        facts = facts or self.known.facts
        prop = f"({real(e)} <> 0)"
        if prop in self.names:
            return self.names[prop]
        match e:
            case t.Mul(factors=factors):
                for factor in factors:
                    self.nonzero(factor, facts)
                return self.have(prop, "nonzero", "N")
            case t.Power(base=base, exponent=exponent) if exponent:
                self.nonzero(base, facts)
                return self.have(prop, "nonzero", "N")
            case t.Root(radicand=radicand):
                name = self.sign(radicand, True, facts)
                return self.have(prop, f"apply positive_nonzero, sqrt_lt_R0; exact {name}", "N")
        if facts.is_positive(e):
            return self.have(prop, f"apply positive_nonzero; exact {self.sign(e, True, facts)}", "N")
        negative = times(number(-1), e)
        if facts.is_positive(negative):
            return self.have(prop, f"apply negative_unequal; exact {self.sign(negative, True, facts)}", "N")
        for s in self.known.statements:
            if isinstance(s, Relation) and s.kind == "!=" and proposition(s) in self.names:
                excess = minus(s.right, s.left)
                if identical(e, excess) or identical(negative, excess):
                    return self.have(prop, f"intro; apply {self.names[proposition(s)]}; lra", "N")
        raise Unproved(f"{real(e)} <> 0")

    # --- statements ------------------------------------------------------------------------------------

    def prove(self, s: Statement) -> str:
        """Assert what the kernel takes as known.

        Raises:
            Unproved: there is no proof by the ways that the kernel has.
        """
        prop = proposition(s)
        if prop in self.names:
            return self.names[prop]
        for h in self.known.statements:
            name = self.names.get(proposition(h)) if h.free == s.free and type(h) is type(s) else None
            if name is not None and alike(h, s):
                return self.have(prop, self.same(h, s, name))
        match s:
            case t.And(statements=parts):
                names = [self.prove(part) for part in parts]
                return self.have(prop, f"repeat first [{' | '.join(f'exact {n}' for n in names)} | exact I | split]")
            case t.Or(statements=parts):
                for place, part in enumerate(parts):
                    try:
                        name = self.prove(part)
                    except (Unproved, Unprintable):
                        continue
                    side = "right; " * place + ("left; " if place < len(parts) - 1 else "")
                    return self.have(prop, f"{side}exact {name}")
                raise Unproved(prop)
            case Relation():
                return self._relation(s, prop)
            case t.Independent(law=law, count=count):
                return self._independent(law, count, prop)
            case t.Vectors(of=t.Law() as law, count=count):
                return self._independent(law, count, prop)
            case t.Vectors(of=t.Model() as model, count=count):
                return self._directions(model, count, prop)
        raise Unproved(prop)

    def same(self, h: Statement, s: Statement, name: str) -> str:
        """A script that turns ``name``, a proof of h, into one of s, which says the same."""
        if isinstance(h, Relation) and isinstance(s, Relation) and not (is_integer(s.left) and is_integer(s.right)):
            plain = "Limit" not in s.heads and "Derivative" not in s.heads
            if plain and proposition(h) != proposition(s):
                a, b = self.equal(s.left, h.left), self.equal(s.right, h.right)
                return f"exact ({BY[s.kind]} _ _ _ _ {a} {b} {name})"
        return f"transport {name}"

    def _relation(self, s: Relation, prop: str) -> str:
        if is_integer(s.left) and is_integer(s.right):
            if not self.known.holds(s):
                raise Unproved(prop)
            return self.have(prop, "lia")
        if s.kind == "=" and identical(s.left, s.right):
            return self.equal(s.left, s.right)
        if s.kind == "=":
            a, b = self.sign(minus(s.right, s.left), False), self.sign(minus(s.left, s.right), False)
            return self.have(prop, f"pose proof {a}; pose proof {b}; lra")
        for left, right in dict.fromkeys(
            [(s.left, s.right), (self.known.rewritten(s.left), self.known.rewritten(s.right))]
        ):
            try:
                name = self._order(Relation(s.kind, left, right))
            except (Unproved, Unprintable):
                continue
            if (left, right) == (s.left, s.right):
                return name
            a, b = (self.equal(*sides, rewriting=True) for sides in ((s.left, left), (s.right, right)))
            return self.have(prop, f"exact ({BY[s.kind]} _ _ _ _ {a} {b} {name})")
        raise Unproved(prop)

    def _order(self, s: Relation) -> str:
        """Assert an inequality by the sign of the difference."""
        prop = proposition(s)
        if prop in self.names:
            return self.names[prop]
        if s.kind == "!=":
            e = s.left if s.right == ZERO else minus(s.right, s.left)
            name = self.nonzero(e)
            return name if s.right == ZERO else self.have(prop, f"exact (unequal_of _ _ {name})")
        strict = s.kind == "<"
        if s.left == ZERO:
            return self.sign(s.right, strict)
        if s.right == ZERO:
            name = self.sign(times(number(-1), s.left), strict)
            return self.have(
                prop,
                f"apply {'below_zero' if strict else 'at_most_zero'}; first [exact {name} | pose proof {name}; lra]",
            )
        name = self.sign(minus(s.right, s.left), strict)
        return self.have(prop, f"apply {'less_of' if strict else 'at_most_of'}; exact {name}")

    def _independent(self, law: t.Law, count: Term, prop: str) -> str:
        alpha, facts = law.alpha, self.known.facts
        for h in self.known.statements:
            if not (isinstance(h, t.Independent) and proposition(h) in self.names):
                continue
            if real(h.law.alpha) == real(alpha) and self.known.at_most(count, h.count):
                return self.have(prop, f"apply (independent_fewer _ _ _ {self.names[proposition(h)]}); lia")
        below = self.sign(minus(ONE, alpha))
        if facts.is_positive(alpha, False):
            name = self.sign(alpha, False)
            return self.have(prop, f"apply independent_nonneg; [exact {name} | exact {below}]")
        own = plus(ONE, times(minus(count, ONE), alpha))
        if facts.is_positive(own):
            name = self.sign(own)
            return self.have(prop, self._eigenvalue(below, name))
        for fact in facts.positive:
            for m in _counts(fact, alpha):
                if self.known.at_most(count, m):
                    wide = plus(ONE, times(minus(m, ONE), alpha))
                    more = f"inputs_independent {_argument(alpha)} {natural(m)}"
                    all_of = self.have(more, self._eigenvalue(below, self.sign(wide)))
                    return self.have(prop, f"apply (independent_fewer _ _ _ {all_of}); lia")
        raise Unproved(prop)

    @staticmethod
    def _eigenvalue(below: str, name: str) -> str:
        return f"apply independent_eigenvalue; [exact {below} | push_INR; first [exact {name} | lra]]"

    def _directions(self, model: t.Model, count: Term, prop: str) -> str:
        name = self._independent(model.law, count, proposition(t.Independent(model.law, count)))
        residual, wide = "simpl; lra", "first [exact I | unfold wide; simpl; lia]"
        if not is_integer(model.residual):
            residual = f"exact {self.prove(t.at_most(ZERO, model.residual))}"
        return self.have(
            prop,
            f"apply directions_of; [reflexivity | {residual} | {wide} | exact {name}]",
        )


def bare_relation(s: Statement) -> str:
    """A relation without what ``proposition`` adds about derivatives."""
    if isinstance(s, Relation) and "Derivative" in s.heads:
        sign = {"<": "<", "<=": "<=", "=": "=", "!=": "<>"}[s.kind]
        return f"({real(s.left)} {sign} {real(s.right)})"
    return proposition(s)


def letter(step: Shift) -> Term:
    """The new letter of a shift, in terms of the old."""
    if step.bound == ZERO:
        return step.generator if step.side > 0 else times(number(-1), step.generator)
    return minus(step.generator, step.bound) if step.side > 0 else minus(step.bound, step.generator)


def shifted(e: Term, path: Sequence[Shift]) -> tuple[Term, Term]:
    """Numerator and denominator of ``e`` in the new letters: polynomials without negative coefficients."""
    field = Field([e, *(s.generator for s in path), *(s.bound for s in path)])
    value = field.convert(e)
    top, bottom = value.top, value.bottom
    names: dict[int, Term] = {}
    for step in path:
        place = field.meaning.index(step.generator)
        bound = field.convert(step.bound).top
        gens = list(field.ring.gens())
        gens[place] = bound + gens[place] if step.side > 0 else bound - gens[place]
        top, bottom = top.compose(*gens), bottom.compose(*gens)
        names[place] = letter(step)
    if all(c <= 0 for c in bottom.coeffs()):
        top, bottom = -top, -bottom
    strict = {field.meaning.index(s.generator) for s in path if s.strict}

    def written(p) -> Term:
        monomials = []
        for powers, coefficient in p.terms():
            letters = [(place, int(power)) for place, power in enumerate(powers) if power]
            factors = [t.Power(names[n], power) if power > 1 else names[n] for n, power in letters]
            c = t.Number(Fraction(int(coefficient.p), int(coefficient.q)))
            term = t.times(*([c, *factors] if c != ONE or not factors else factors))
            monomials.append((not all(n in strict for n, _ in letters), len(letters), term))
        monomials.sort(key=lambda m: m[:2])
        return plus(*(term for _, _, term in monomials)) if monomials else ZERO

    return written(top), written(bottom)


def _with_letters(facts: Facts, letters: Mapping[t.Exp, t.Variable]) -> Facts:
    """The facts with letters for exponentials, and bounds in few digits for those that are numbers."""
    lists = (facts.positive, facts.nonnegative, facts.nonzero)
    positive, nonnegative, nonzero = (tuple(t.replaced(fact, letters) for fact in told) for told in lists)
    for e, letter in letters.items():
        if isinstance(e.exponent, t.Number):
            low, high = _around(e.exponent.value)
            nonnegative += (minus(letter, t.Number(low)), minus(t.Number(high), letter))
    return Facts(positive, nonnegative, nonzero)


def _around(exponent: Fraction) -> tuple[Fraction, Fraction]:
    """Bounds of exp(exponent) in few digits; Coq checks them."""
    value = arb(fmpq(exponent.numerator, exponent.denominator)).exp()
    scaled = Fraction(float(value.mid())) * 64
    return Fraction(math.floor(scaled), 64), Fraction(math.ceil(scaled), 64)


def _open_parts(term: Term) -> Iterable[Term]:
    """The parts of a term outside of binders and quantities, outermost first."""
    yield term
    if isinstance(term, (t.Add, t.Mul, t.Power, t.Root, t.Exp)):
        for part in term.parts:
            yield from _open_parts(part)  # type: ignore[arg-type]


def _nonzero(term: Term) -> Iterable[Relation]:
    """The denominators of a term outside of sums, as what must not vanish."""
    for c in conditions(term):
        s = c.statement
        if not c.ranges and isinstance(s, Relation) and s.kind == "!=" and s.right == ZERO:
            yield s


def _exponentials(term: Term) -> set[str]:
    return {real(n) for n in _open_parts(term) if isinstance(n, t.Exp)}


def _radicands(term: Term) -> list[Term]:
    return list(dict.fromkeys(n.radicand for n in _open_parts(term) if isinstance(n, t.Root)))


def _square(radicand: Term) -> str:
    root = real(t.Root(radicand))
    return f"({root} * {root} = {real(radicand)})"


def _is_division(term: Term) -> bool:
    return isinstance(term, t.Power) and term.exponent < 0


def _argument(term: Term) -> str:
    written = real(term)
    return written if written[0] == "(" or " " not in written else f"({written})"


def _counts(fact: Term, alpha: Term) -> Iterable[Term]:
    """M, if ``fact`` is 1 + (M-1) alpha for a polynomial M."""
    if isinstance(alpha, t.Number):
        return
    m = plus(times(minus(fact, ONE), t.Power(alpha, -1)), ONE)
    try:
        field = Field([m])
        value = field.convert(m)
    except Undecided:
        return
    if value.bottom.is_constant():
        yield field.term(value)
