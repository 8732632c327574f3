"""Mutants of the kernel that make no difference to what it accepts, each with the reason.

A label is the line of code and the change. What only makes the kernel refuse more is no danger, and is listed too.
"""
# ruff: noqa: E501  (labels are lines of code)

from __future__ import annotations

_REASONS = {
    "a statement and a term are never alike": (
        "if isinstance(a, t.Statement) and isinstance(b, t.Statement): | Or for And",
        "if isinstance(a, t.Statement) and isinstance(b, t.Statement): | isinstance is true",
    ),
    "a positive factor does not change a sign": (
        "e = right if left == ZERO else times(number(-1), left) if right == ZERO else minus(right, left) | 2 for 1",
        "found = facts.is_positive(e, False) and facts.is_positive(times(number(-1), e), False) | 2 for 1",
    ),
    "the conditions of a model are those of its terms": ("if isinstance(part, Term): | isinstance is true",),
    "a line about all values of a variable is one about each": ("own = statement.free | domain.free | left part only",),
    "a short cut: the long way leads to the same": (
        "if self is other: | never taken",
        "if all(new is old for new, old in zip(content, self.content, strict=True)): | never taken",
        "if not here: | never taken",
        "return type(self) is type(other) and self._hash == other._hash and self.content == other.content  # type: ignore[attr-defined] | without part 2",
        "if self.bottom == other.bottom: | never taken",
        "if order != field.meaning and len(order) > 1:  # the order of generators must not depend on how it was written | Or for And",
        "if order != field.meaning and len(order) > 1:  # the order of generators must not depend on how it was written | Gt to GtE",
        "if order != field.meaning and len(order) > 1:  # the order of generators must not depend on how it was written | 2 for 1",
        "if canonical(a) == canonical(b): | never taken",
        "if canonical(s) in self._table or any(alike(s, h) for h in self.statements if h.free == s.free): | Eq to NotEq",
    ),
    "a law of Gaussian inputs is always read with it, others have none": ("unit: bool = True | False",),
    "what it lets through has no such attribute: a fault, which is no verdict": (
        "below += (part for part in value if isinstance(part, Node)) | isinstance is true",
        'elif isinstance(c.statement, Relation) and c.statement.kind == "!=": | isinstance is true',
    ),
    "a bound on effort, or the order of a search": (
        "MAX_TERMS = 20_000  # of a polynomial that is multiplied out | 20001 for 20000",
        "if max(*self.top.degrees(), *self.bottom.degrees()) > MAX_EXPONENT: | Gt to GtE",
        "if size > MAX_EXPONENT or comb(size + terms - 1, size) > MAX_TERMS: | never raised",
        "if size > MAX_EXPONENT or comb(size + terms - 1, size) > MAX_TERMS: | And for Or",
        "if size > MAX_EXPONENT or comb(size + terms - 1, size) > MAX_TERMS: | Gt to GtE",
        "if size > MAX_EXPONENT or comb(size + terms - 1, size) > MAX_TERMS: | Add for Sub",
        "TRIES = 400  # ways to shift that are looked at | 401 for 400",
        "self.tries -= 1 | 2 for 1",
        "if self.tries < 0: | 1 for 0",
        "if self.tries < 0: | Lt to LtE",
        "if self.tries < 0: | never taken",
        "if sum(comb(powers[place] + size, size) for p in (top, bottom) for powers in p.monoms()) > MAX_TERMS: | Gt to GtE",
        "if sum(comb(powers[place] + size, size) for p in (top, bottom) for powers in p.monoms()) > MAX_TERMS: | never taken",
        "return sum(1 for bound, _, _ in self._bounds(place) if not bound.is_constant()), -place | 2 for 1",
        "return sum(1 for bound, _, _ in self._bounds(place) if not bound.is_constant()), -place | no not",
    ),
    "the power 0 is 1 either way": (
        "return Quotient(top, bottom).in_proportion() if exponent >= 0 else Quotient.of(bottom, top) | GtE to Gt",
        "return Quotient(top, bottom).in_proportion() if exponent >= 0 else Quotient.of(bottom, top) | 1 for 0",
    ),
    "a generator that nothing uses": (
        'self.ring = fmpq_mpoly_ctx.get([f"x{n}" for n in range(max(1, len(self.meaning)))], "lex") | 2 for 1',
    ),
    "every part is multiplied by the same root": (
        "without = self.ring.from_dict({(*powers[:root], 0, *powers[root + 1 :]): coefficient}) | 1 for 0",
    ),
    "asks for more than is needed, or says less than is known": (
        "if isinstance(a, t.Statement) and isinstance(b, t.Statement): | never taken",
        "yield low, 1, True | False",
        "yield high, -1, True | False",
        "open_ = [s for s in open_ if t.less(s.law.alpha, ONE) not in self.statements]  # else all has been said | NotIn to In",
        "open_ = [s for s in open_ if t.less(s.law.alpha, ONE) not in self.statements]  # else all has been said | ZERO for ONE",
        "if facts.is_positive(law.alpha, False) or facts.is_positive(eigenvalue(law.alpha, count)): | True",
        "if said.is_positive(minus(s.count, number(2)), False): | 3 for 2",
        "if said.is_positive(minus(s.count, number(2)), False): | True",
        "m = t.plus(times(minus(fact, ONE), t.Power(alpha, -1)), ONE) | ZERO for ONE",
        'if model.mask.kind == "prefix" and model.mask.size is not None: | Or for And',
        "yield from (at_most(ZERO, k), at_most(k, n)) | ONE for ZERO",
    ),
    "nobody compares or prints facts": (
        "_memo: dict[tuple[Term, bool], bool] = field(default_factory=dict, compare=False, repr=False) | True",
    ),
    "no exponent of this parity, and no coefficient of a polynomial, lies between": (
        "return self.is_nonzero(base) if strict or exponent < 0 else True | 1 for 0",
        "return self.is_nonzero(base) if strict or exponent < 0 else True | Lt to LtE",
        "return self.is_positive(base, strict or exponent < 0) | 1 for 0",
        "return self.is_positive(base, strict or exponent < 0) | Lt to LtE",
        "if all(c <= 0 for c in bottom.coeffs()): | LtE to Lt",
        "if any(c < 0 for c in p.coeffs()): | Lt to LtE",
    ),
    "only the sign of a side counts": (
        "bounds.setdefault(place, []).append((rest / -slope, 1 if slope > 0 else -1, strict)) | 2 for 1",
        "bounds.setdefault(place, []).append((rest / -slope, 1 if slope > 0 else -1, strict)) | Gt to GtE",
        "gens[place] = bound + gens[place] if side > 0 else bound - gens[place] | Gt to GtE",
        "yield 0, 1, strict | 2 for 1",
        "yield 0, 1, True | 2 for 1",
        "yield low, 1, True | 2 for 1",
        "yield high, -1, True | 2 for 1",
        "yield sort.least, 1, sort is Sort.POSITIVE | 2 for 1",
    ),
    "where a quotient has a value, its denominator is not zero; one of mixed signs is refused either way": (
        "if all(c <= 0 for c in bottom.coeffs()): | any for all",
        "return _is_manifest(bottom, strict, True) and _is_manifest(top, strict, self.strict_goal) | False",
    ),
    "the other premises of minors hold the model, and with it the law": (
        "models = [n for n in premise.statement.walk() if isinstance(n, t.Model | t.Law)] | left part only",
    ),
    "nothing is made of premises here": ('@rule(discharges=True, options={"at": t.Variable}) | False',),
    "of a law alone no layer is asked": (
        "yield from (t.Vectors(law, ONE, place) for place in dict.fromkeys((query, key))) | ZERO for ONE",
    ),
    "both formulas are right where both have a value, and no derivative is by an integer": (
        "if t.is_integral(exponent) and x not in exponent.free: | Or for And",
        "if t.is_integral(exponent) and x not in exponent.free: | is_integral is true",
        "if t.is_integral(exponent) and x not in exponent.free: | NotIn to In",
    ),
    "nothing changes a term once it is made": ("return dataclass(frozen=True, eq=False)(kind) | False",),
    "terms are equal if their fields are, either way": ("return dataclass(frozen=True, eq=False)(kind) | True",),
}
EQUIVALENT = {label: reason for reason, labels in _REASONS.items() for label in labels}
