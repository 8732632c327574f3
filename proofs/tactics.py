"""Search for a derivation of a claim that names none.

Nothing here is trusted: whatever is found is a ``Derivation`` that the kernel checks. The search
knows the closed forms of layers one and two and tries to compare both sides of each relation after
putting them in, or to recognise an instance of a general theorem, at whatever layer that is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

import sympy
from sympy import And, Basic, Eq, Expr, Ge, Gt, Implies, Limit, Lt, Symbol, exp
from sympy.core.relational import Relational

from proofs.derivations import check
from proofs.kernel.known import Known, Rejected
from proofs.terms.reading import Unreadable, read_statement
from theory import averaging
from theory.claim import Claim
from theory.decoder import Causal
from theory.derivation import Derivation, Step
from theory.inputs import Equicorrelated
from theory.layer_one import g, h_squared, layer_one, r
from theory.layer_two import ADMISSIBLE, below_diagonal, closed_form, flat_without_norm, increasing, norms, order
from theory.limits import saturation_from
from theory.quantities import Gram, Mix, Quantity, Score, Weight
from theory.symbols import alpha, beta, i, j, lam

# (kind of quantity, layer) -> steps with its closed form on and below the diagonal
_LAYER_ONE = {
    (Weight, 1): ("A-self", "A-other"),
    (Mix, 1): ("M-self", "M-other"),
    (Gram, 1): ("h", "g"),
    (Score, 1): ("S-self", "S-other"),
}


@lru_cache(maxsize=64)
def _known(hypotheses: tuple[Basic, ...]) -> Known:
    return Known(map(read_statement, hypotheses))


def follows(relation: Basic, hypotheses: Iterable[Basic]) -> bool:
    """Whether ``relation`` follows at once; a hypothesis that the kernel can't read says no."""
    try:
        return _known(tuple(hypotheses)).holds(read_statement(relation))
    except Unreadable:
        return False


def substitute(statement: Basic, values: Mapping[Symbol, Expr]) -> Basic:
    """The statement with values put in; the kernel checks what comes of it."""
    return statement.xreplace(dict(values))


class NoIdea(Exception):
    """The search has nothing to offer."""


def search(claim: Claim) -> Derivation:
    """A derivation of ``claim`` for the kernel to check.

    Raises:
        NoIdea: none was found.
    """
    domain = And.make_args(sympy.sympify(claim.domain))
    statement = claim.bound_statement
    for theorem in _theorems(statement):
        instance = _instance(theorem, statement, domain)
        if instance is not None:
            return instance
    search = _Search(domain, {q: _model(q) for q in sorted(statement.atoms(Quantity), key=str)})
    search.show(statement, ())
    return Derivation("found", "A derivation found by search", search.hypotheses, tuple(search.steps), search.lemmas)


def _theorems(statement: Basic) -> Iterator[tuple[Derivation, str]]:
    """The general theorems that ``statement`` might be an instance of, each with the step that states it."""
    yield increasing(), "increase"
    yield below_diagonal(), "below"
    yield order(), "theorem"
    yield flat_without_norm(), "flat"
    for depth in sorted({score.layer for score in statement.atoms(Score)}):
        if depth > 2:
            yield averaging.increasing(depth), "increase"


def _model(quantity: Quantity) -> dict[Symbol, Expr]:
    """The numbers of the quantity's decoder and inputs, for the symbols of the general results."""
    decoder, inputs = quantity.decoder, quantity.inputs
    if (
        decoder is None
        or not isinstance(inputs, Equicorrelated)
        or decoder.mask != Causal()
        or decoder.position is not None
        or decoder.norm == "layernorm"
        or decoder.scale != 1
    ):
        raise NoIdea(f"no closed form is known for {quantity} with its decoder and inputs")
    strength = decoder.beta * (1 - inputs.alpha)
    return {beta: decoder.beta, lam: decoder.residual, alpha: inputs.alpha, r: exp(strength)}


def _instance(theorem: tuple[Derivation, str], statement: Basic, domain: tuple[Basic, ...]) -> Derivation | None:
    """The theorem with the numbers of the statement's model put in, if that is the statement."""
    lemma, label = theorem
    quantities = statement.atoms(Quantity)
    if not quantities:
        return None
    try:
        values = _model(next(iter(quantities)))
    except NoIdea:
        return None
    (line,) = [step for step in lemma.steps if step.label == label]
    if substitute(line.statement, values) != statement:
        return None
    step = Step("instance", statement, "cite", hints={"lemma": lemma.name, "step": label, "values": values})
    found = Derivation("found", "An instance of a general theorem", domain, (step,), (lemma,))
    try:
        check(found)
    except Rejected:
        return None
    return found


def limits(claim: Claim) -> dict[Limit, Expr]:
    """Values of the limits in a claim that the kernel confirms on the claim's domain.

    They are worked out from the closed forms of layer one, not from any stated limit, so that a wrong
    statement about a limit can be held against the right value.
    """
    found = {}
    domain = And.make_args(sympy.sympify(claim.domain))
    for limit in claim.bound_statement.atoms(Limit):
        try:
            step, lemma = _limit_value(limit)
            check(Derivation("found", "A limit found by search", domain, (step,), (lemma,)))
        except (NoIdea, Rejected):
            continue
        found[limit] = step.statement.rhs
    return found


def _limit_value(limit: Limit) -> tuple[Step, Derivation]:
    """A step that gives the limit, and the lemma that it cites; whether the domain allows it is not checked."""
    quantity, variable, point, _ = limit.args
    match quantity:
        case Score(layer=2):
            label = "saturation"
        case Gram(layer=1):
            label = "H-limit" if quantity.query == quantity.key else "G-limit"
        case _:
            raise NoIdea(f"no limit of {quantity} is known: only those of Score(2, i, j) and Gram(1, i, j) in i")
    if quantity.query != variable or point is not sympy.oo:
        raise NoIdea(f"no limit in {variable} is known")
    lemma = saturation_from(*(_leading_quotient(e, i) for e in (g(i), h_squared(i))))
    (line,) = [step for step in lemma.steps if step.label == label]
    key = {} if quantity.query == quantity.key else {j: quantity.key}
    values = {**_model(quantity), **key}
    statement = substitute(line.statement, values)
    if statement.lhs != limit:
        raise NoIdea(f"the limit known is another one than {limit}")
    return Step("limit", statement, "cite", hints={"lemma": lemma.name, "step": label, "values": values}), lemma


def _leading_quotient(e: Expr, x: Symbol) -> Expr:
    """The limit of a rational function of x at infinity, if it has one."""
    top, bottom = (sympy.Poly(part, x) for part in sympy.fraction(sympy.together(e)))
    return top.coeff_monomial(x ** bottom.degree()) / bottom.LC()


class _Search:
    """Collects the steps of one derivation."""

    def __init__(self, domain: tuple[Basic, ...], models: dict[Quantity, dict[Symbol, Expr]]) -> None:
        self.hypotheses = domain
        self.steps: list[Step] = []
        self._lemmas: dict[str, Derivation] = {}
        self._models = models
        self._r: tuple[str, ...] = ()  # labels of the definition of r and of its lower bound
        strengths = {model[r] for model in models.values()}
        if len(strengths) == 1 and not strengths <= {sympy.Integer(1)}:
            self._name_r(strengths.pop())

    def _name_r(self, value: Expr) -> None:
        """Work with r = exp(beta (1 - alpha)) as a letter: signs need only its lower bound."""
        definition = Eq(r, value)
        exponent = sympy.Integer(1) if value is sympy.E else value.args[0]
        if follows(Gt(exponent, 0), self.hypotheses):
            bound: Basic = Gt(r, 1)
        elif follows(Ge(exponent, 0), self.hypotheses):
            bound = Ge(r, 1)
        else:
            return
        self.hypotheses = (definition, *self.hypotheses)
        name = self._add(definition, "hypothesis", (), ())
        self._r = (name, self._add(bound, "exponential", (name,), ()))
        for model in self._models.values():
            model[r] = r

    @property
    def lemmas(self) -> tuple[Derivation, ...]:
        """The derivations that the steps cite."""
        return tuple(self._lemmas.values())

    def show(self, statement: Basic, given: tuple[Basic, ...]) -> str:
        """Add steps that end with ``statement`` under ``given``; return the last label."""
        if isinstance(statement, And):
            labels = tuple(self.show(part, given) for part in statement.args)
            return self._add(statement, "conjunction", labels, given)
        if isinstance(statement, Implies):
            condition, conclusion = statement.args
            label = self.show(conclusion, (*given, *And.make_args(condition)))
            return self._add(statement, "implication", (label,), given)
        if not isinstance(statement, Relational):
            raise NoIdea(f"no rule for {statement}")
        if statement.has(sympy.Derivative, sympy.Integral, sympy.Product):
            raise NoIdea("derivatives, integrals and products are not searched")
        limits = sorted(statement.atoms(Limit), key=str)
        outside = statement.xreplace({limit: sympy.Dummy() for limit in limits})
        premises = (
            *(self._limit(limit, given) for limit in limits),
            *(label for q in sorted(outside.atoms(Quantity), key=str) for label in self._closed_form(q, given)),
        )
        if isinstance(statement, Eq):
            return self._add(statement, "identity", (*premises, *self._r[:1]), given)
        return self._add(statement, "sign", (*premises, *self._r[1:]), given)

    def _add(
        self,
        statement: Basic,
        rule: str,
        premises: tuple[str, ...],
        given: tuple[Basic, ...],
        hints: Mapping[str, object] | None = None,
    ) -> str:
        step = Step(f"{len(self.steps) + 1}", statement, rule, premises, given, hints or {})
        self.steps.append(step)
        return step.label

    def _limit(self, limit: Limit, given: tuple[Basic, ...]) -> str:
        """Cite the value of a limit."""
        step, lemma = _limit_value(limit)
        self._lemmas[lemma.name] = lemma
        return self._add(step.statement, step.rule, (), given, step.hints)

    def _closed_form(self, quantity: Quantity, given: tuple[Basic, ...]) -> Iterator[str]:
        """Cite the closed form of ``quantity``, and what makes it well defined."""
        values = dict(self._models[quantity])
        query, key = quantity.query, quantity.key
        if query == key:
            place = 0
        elif follows(Lt(key, query), (*self.hypotheses, *given)):
            place = 1
        else:
            raise NoIdea(f"whether {key} < {query} is not known")
        values |= {i: query, j: key}
        norm = quantity.decoder.norm if quantity.decoder else "l2"
        steps = _LAYER_ONE.get((type(quantity), quantity.layer))
        if steps is not None:
            yield self._cite(layer_one(norm), steps[place], values, given)
            if isinstance(quantity, Gram) and not place and self._is_norm_known(values, given):
                yield self._cite(norms(), "h-positive", values, given)
        elif isinstance(quantity, Score) and quantity.layer == 2 and norm == "l2":
            yield self._cite(closed_form(), ("S-self", "S")[place], values, given)
            yield self._cite(norms(), "h-positive", values, given)
            if place:
                yield self._cite(norms(), "h-positive-j", values, given)
        elif isinstance(quantity, Score) and quantity.layer == 2 and place:
            yield self._cite(flat_without_norm(), "S", values, given)
        else:
            raise NoIdea(f"no closed form is known for {quantity}")

    def _is_norm_known(self, values: Mapping[Symbol, Expr], given: tuple[Basic, ...]) -> bool:
        """Whether the domain gives what makes x_i nonzero after layer one."""
        needed = (substitute(h, values) for h in ADMISSIBLE)
        return all(follows(h, (*self.hypotheses, *given)) for h in needed)

    def _cite(self, lemma: Derivation, label: str, values: Mapping[Symbol, Expr], given: tuple[Basic, ...]) -> str:
        self._lemmas[lemma.name] = lemma
        (line,) = [step for step in lemma.steps if step.label == label]
        hints = {"lemma": lemma.name, "step": label, "values": dict(values)}
        return self._add(substitute(line.statement, values), "cite", (), given, hints)
