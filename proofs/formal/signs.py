"""Signs, each with the certificate that the kernel found: a polynomial whose coefficients are not negative."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from flint import arb, fmpq

from maskproof.proofs.formal.context import Unproved, bare_relation
from maskproof.proofs.formal.equations import Equations, open_parts
from maskproof.proofs.formal.text import Unprintable, integer, is_integer, proposition, real
from maskproof.proofs.kernel.algebra import Field, identical, rational
from maskproof.proofs.kernel.known import eigenvalues
from maskproof.proofs.kernel.signs import Facts, Shift
from maskproof.proofs.terms import terms as t
from maskproof.proofs.terms.terms import ONE, ZERO, Relation, Term, minus, number, plus, substitute, times


class Signs(Equations):
    """A proof that shows signs, without a search."""

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
            if isinstance(s, t.Independent):
                told = (minus(r.right, r.left) for r in eigenvalues(s, self.known.facts))
                if proposition(s) in self.names and fact in told:
                    return self.have(prop, f"eigenvalue {self.names[proposition(s)]}", "F")
                continue
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
        exps = dict.fromkeys(n for n in open_parts(e) if isinstance(n, t.Exp))
        letters: dict[Term, t.Variable] = {x: t.Variable(f"exp{n}", t.Sort.POSITIVE) for n, x in enumerate(exps)}
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
            c = rational(coefficient)
            term = t.times(*([c, *factors] if c != ONE or not factors else factors))
            monomials.append((not all(n in strict for n, _ in letters), len(letters), term))
        monomials.sort(key=lambda m: m[:2])
        return plus(*(term for _, _, term in monomials)) if monomials else ZERO

    return written(top), written(bottom)


def _with_letters(facts: Facts, letters: Mapping[Term, t.Variable]) -> Facts:
    """The facts with letters for exponentials, and bounds in few digits for those that are numbers."""
    lists = (facts.positive, facts.nonnegative, facts.nonzero)
    positive, nonnegative, nonzero = (tuple(t.replaced(fact, letters) for fact in told) for told in lists)
    for e, letter in letters.items():
        if isinstance(e, t.Exp) and isinstance(e.exponent, t.Number):
            low, high = _around(e.exponent.value)
            nonnegative += (minus(letter, t.Number(low)), minus(t.Number(high), letter))
    return Facts(positive, nonnegative, nonzero)


def _around(exponent: Fraction) -> tuple[Fraction, Fraction]:
    """Bounds of exp(exponent) in few digits; Coq checks them."""
    value = arb(fmpq(exponent.numerator, exponent.denominator)).exp()
    scaled = Fraction(float(value.mid())) * 64
    return Fraction(math.floor(scaled), 64), Fraction(math.ceil(scaled), 64)


def _is_division(term: Term) -> bool:
    return isinstance(term, t.Power) and term.exponent < 0
