"""A proof of what a rule of the kernel takes as known."""

from __future__ import annotations

from maskproof.proofs.formal.context import Unproved
from maskproof.proofs.formal.signs import Signs
from maskproof.proofs.formal.text import Unprintable, argument, is_integer, natural, proposition, real
from maskproof.proofs.kernel.algebra import alike, identical
from maskproof.proofs.kernel.known import counts, eigenvalue
from maskproof.proofs.terms import terms as t
from maskproof.proofs.terms.terms import ONE, ZERO, Relation, Statement, Term, minus, number, times

# lemmas: a relation of two terms, from the same of terms that are equal to them
BY = {"<": "lt_by", "<=": "le_by", "!=": "ne_by", "=": "eq_by"}


class Proof(Signs):
    """A proof that shows whatever the kernel has among what is known."""

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
        own = eigenvalue(alpha, count)
        if facts.is_positive(own):
            name = self.sign(own)
            return self.have(prop, self._eigenvalue(below, name))
        for fact in facts.positive if not isinstance(alpha, t.Number) else ():
            for m in counts(fact, alpha):
                if self.known.at_most(count, m):
                    more = f"inputs_independent {argument(alpha)} {natural(m)}"
                    all_of = self.have(more, self._eigenvalue(below, self.sign(eigenvalue(alpha, m))))
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
