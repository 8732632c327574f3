"""The inference rules: the only code, with ``proofs.algebra`` and ``proofs.language``, to be trusted for PROVED.

A *line* says that a statement follows from hypotheses. Each rule below is a function that looks at
the line to be shown (its statement, hypotheses, premises and hints) and raises ``Rejected`` unless
the line follows. Rules never search for a proof of something else and never simplify; what a hint
proposes is checked. All quantities are real numbers, positions are integers from 1 up, and the free
symbols of a line are universally quantified over their assumptions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import sympy
from sympy import Add, And, Basic, Derivative, Expr, Implies, Limit, Mul, Sum, Symbol, exp, oo, sqrt
from sympy.core.function import Subs
from sympy.core.relational import Eq, Ge, Gt, Le, Lt, Ne, Relational
from sympy.polys.rings import PolyElement

from proofs.algebra import Facts, Generators, denominators, identical, radicands, terms
from proofs.language import foreign
from theory.claim import Claim
from theory.decoder import Causal, Decoder
from theory.derivation import Derivation, Step
from theory.inputs import Equicorrelated
from theory.quantities import Gram, InputGram, Mix, Quantity, Record, Score, Weight
from theory.symbols import d

ORDER = (Lt, Le, Gt, Ge)
BINDERS = (Sum, Limit, Derivative, Subs, sympy.Product, sympy.Integral, sympy.Lambda)


class Rejected(Exception):
    """A step does not follow by the rule it names."""


@dataclass(frozen=True)
class Line:
    """``statement`` follows from ``hypotheses``."""

    statement: Basic
    hypotheses: frozenset[Basic]


@dataclass(frozen=True)
class Goal(Line):
    """A line to be shown, with what the rule may use."""

    premises: tuple[Line, ...]
    hints: Mapping[str, Any]
    lemmas: Mapping[str, Mapping[str, Line]]

    @cached_property
    def usable(self) -> tuple[Basic, ...]:
        """Statements of the premises; the hypotheses of each must follow from those of the goal."""
        for premise in self.premises:
            _require_all(premise.hypotheses, self.hypotheses)
        return tuple(part for premise in self.premises for part in And.make_args(premise.statement))

    @cached_property
    def facts(self) -> Facts:
        """Signs known from hypotheses and premises."""
        return Facts.of(_flat((*self.hypotheses, *self.usable)))

    def rewritten(self, expression: Expr) -> Expr:
        """``expression`` with the left sides of equations among the premises replaced."""
        table = {p.lhs: p.rhs for p in self.usable if isinstance(p, Eq)}
        for _ in range(len(table)):
            changed = _replace(expression, table)
            if changed == expression:
                break
            expression = changed
        return expression

    def equation(self, kind: type | tuple[type, ...]) -> tuple[Any, Expr]:
        """Both sides of the goal, which must be an equation whose left side is a ``kind``."""
        goal = self.statement
        _demand(isinstance(goal, Eq), f"{goal} is not an equation")
        _demand(isinstance(goal.lhs, kind), f"the left side of {goal} is not of the required kind")
        return goal.lhs, goal.rhs

    def require_positive(self, e: Expr, strict: bool = True) -> None:
        """Reject unless ``e`` is known to be > 0 (>= 0 if not ``strict``)."""
        _demand(
            self.facts.is_positive(self.rewritten(e), strict),
            f"{e} {'>' if strict else '>='} 0 is not known",
        )

    def require_identical(self, left: Expr, right: Expr) -> None:
        """Reject unless both sides have a value and are equal by field arithmetic."""
        self.require_values(left, right)
        left, right = self.rewritten(left), self.rewritten(right)
        self.require_defined(left, right)
        _demand(identical(left, right), f"{left} and {right} differ")

    def require_values(self, *expressions: Expr) -> None:
        """Like ``require_defined``, but before rewriting, which may cancel what stands in a denominator."""
        for e in expressions:
            for base in denominators(e):
                known = self.facts.is_nonzero(base) or self.facts.is_nonzero(self.rewritten(base))
                _demand(known, f"nothing known keeps {base} away from zero")
            for base in radicands(e):
                known = self.facts.is_positive(base, False) or self.facts.is_positive(self.rewritten(base), False)
                _demand(known, f"nothing known keeps {base} from being negative")

    def require_defined(self, *expressions: Expr) -> None:
        """Reject if a denominator might vanish or a radicand be negative."""
        culprit = self.facts.undefined(*expressions)
        _demand(culprit is None, f"nothing known keeps {culprit} away from zero or below")


def _demand(condition: object, otherwise: str) -> None:
    if condition is not True:
        raise Rejected(otherwise)


def _flat(relations: Iterable[Basic]) -> list[Basic]:
    return [part for relation in relations for part in And.make_args(relation)]


def follows(relation: Basic, hypotheses: Iterable[Basic]) -> bool:
    """Whether ``relation`` is a hypothesis, or a sign that follows from them by algebra."""
    known = _flat(hypotheses)
    if relation in known or relation is sympy.true:
        return True
    if isinstance(relation, And):
        return all(follows(part, known) for part in relation.args)
    if not isinstance(relation, Relational):
        return False
    facts, e = Facts.of(known), relation.lhs - relation.rhs
    if facts.undefined(relation.lhs, relation.rhs) is not None:
        return False
    match relation:
        case Eq():
            return identical(relation.lhs, relation.rhs) or (
                facts.is_positive(e, False) and facts.is_positive(-e, False)
            )
        case Ne():
            return facts.is_nonzero(e)
        case Lt() | Le():
            return facts.is_positive(-e, isinstance(relation, Lt))
        case Gt() | Ge():
            return facts.is_positive(e, isinstance(relation, Gt))
    return False


def _require_all(needed: Iterable[Basic], hypotheses: frozenset[Basic]) -> None:
    for relation in needed:
        _demand(follows(relation, hypotheses), f"hypothesis {relation} is not available")


def _require_everywhere(goal: Goal, premise: Line, positions: set[Symbol], ranges: Iterable[Basic] = ()) -> None:
    """Reject unless ``premise`` holds at all ``positions`` in ``ranges``, whatever the goal assumes about them."""
    _demand(all(isinstance(p, Symbol) and p.is_integer for p in positions), f"{positions} are not variable positions")
    models = (part for q in premise.statement.atoms(Quantity, InputGram) for part in q.args if isinstance(part, Record))
    _demand(not any(positions & model.free_symbols for model in models), f"a model depends on {positions}")
    fixed = {h for h in goal.hypotheses if not positions & h.free_symbols}
    _require_all(premise.hypotheses, frozenset({*fixed, *ranges}))


def _replace(e: Basic, table: Mapping[Basic, Basic]) -> Any:
    """Replace equals by equals, but not inside sums, limits and derivatives, which bind symbols."""
    if e in table:
        return table[e]
    if not e.args or isinstance(e, (*BINDERS, Quantity, InputGram, Record)):
        return e
    return e.func(*(_replace(part, table) for part in e.args))


def substitute(e: Basic, values: Mapping[Symbol, Expr]) -> Any:
    """Put ``values`` in for free symbols, refusing whatever would be captured by a binder."""
    touched = set(values).union(*(sympy.sympify(v).free_symbols for v in values.values()))
    for binder in e.atoms(*BINDERS):
        bound = binder.atoms(Symbol) - binder.free_symbols
        if isinstance(binder, Derivative):
            bound |= set(binder.variables)
        _demand(not bound & touched, f"substitution would capture {bound & touched}")
    return e.xreplace(dict(values))


# --- the layer: one rule for each line of its definition -----------------------------------------


def _causal(quantity: Quantity) -> Decoder:
    """The decoder of ``quantity``: causal, without position encoding."""
    decoder = quantity.decoder
    _demand(
        decoder is not None
        and isinstance(quantity.inputs, Equicorrelated)  # for a random law quantities are expectations
        and decoder.mask == Causal()
        and decoder.position is None,
        f"no rule defines {quantity} for its decoder",
    )
    assert decoder is not None
    return decoder


def _value_norm(goal: Goal, decoder: Decoder) -> Expr:
    """The norm v of a normalised vector: sqrt(d) with LayerNorm, where x stands for the centred vector, else 1."""
    if decoder.norm != "layernorm":
        return sympy.Integer(1)
    _require_all((Ge(d, 2),), goal.hypotheses)  # centring leaves nothing of one coordinate
    return sqrt(d)


def _scale(decoder: Decoder) -> Expr:
    """What scores are divided by, at the width d."""
    return {"sqrt(d)": sqrt(d), "d": d}[decoder.scale] if isinstance(decoder.scale, str) else decoder.scale


def _equicorrelated(inputs: Any) -> Expr:
    _demand(isinstance(inputs, Equicorrelated), "the inputs are not equicorrelated")
    return inputs.alpha


def _gram_before(quantity: Quantity, i: Expr, j: Expr) -> Expr:
    """<x_i, x_j> of the vectors that enter the layer of ``quantity``."""
    if quantity.layer == 1:
        return InputGram(i, j, quantity.args[4])
    return Gram(quantity.layer - 1, i, j, *quantity.args[3:])


def input_gram(goal: Goal) -> None:
    """K_ii = 1, and K_ij = alpha for i != j."""
    gram, value = goal.equation(InputGram)
    alpha, (i, j) = _equicorrelated(gram.inputs), gram.args[:2]
    if i == j:
        _demand(value == 1, "the diagonal is 1")
    else:
        _demand(follows(Ne(i, j), goal.hypotheses), f"{i} != {j} is not known")
        _demand(value == alpha, "off the diagonal K is alpha")


def score(goal: Goal) -> None:
    """S_ij = <y_i, y_j> / scale with y = v x / ||x||, for x != 0 (or y = x without normalisation).

    v is 1 for l2, and sqrt(d) for LayerNorm, where x is the centred vector.
    """
    quantity, value = goal.equation(Score)
    decoder, (i, j) = _causal(quantity), (quantity.query, quantity.key)
    inner = _gram_before(quantity, i, j)
    if decoder.norm != "none":
        squares = [_gram_before(quantity, a, a) for a in (i, j)]
        for square in squares:
            goal.require_positive(square)
        inner = _value_norm(goal, decoder) ** 2 * inner / (sqrt(squares[0]) * sqrt(squares[1]))
    goal.require_identical(inner / _scale(decoder), value)


def softmax(goal: Goal) -> None:
    """A_ij = exp(beta S_ij) / sum_{k<=i} exp(beta S_ik), for j <= i."""
    weight, value = goal.equation(Weight)
    beta, i, j = _causal(weight).beta, weight.query, weight.key
    _demand(follows(Le(j, i), goal.hypotheses), f"{j} <= {i} is not known")
    sums = value.atoms(Sum)
    _demand(len(sums) == 1, "the right side has no single sum")
    (total,) = sums
    k = _index(total)
    expected = Sum(exp(beta * Score(weight.layer, i, k, *weight.args[3:])), (k, 1, i))
    _demand(total == expected and k not in i.free_symbols, f"the sum should be {expected}")
    _demand(value == exp(beta * Score(*weight.args)) / total, "the right side is not the softmax")


def mix(goal: Goal) -> None:
    """M_ij = v A_ij / ||x_j|| + residual [i = j], for j <= i, v as in ``score``: x_i' = sum_j M_ij x_j.

    With LayerNorm, too: centring acts on coordinates and mixing on tokens, so the centred vectors mix likewise.
    """
    quantity, value = goal.equation(Mix)
    decoder, i, j = _causal(quantity), quantity.query, quantity.key
    weight: Expr = Weight(*quantity.args)
    if decoder.norm != "none":
        square = _gram_before(quantity, j, j)
        goal.require_positive(square)
        weight = _value_norm(goal, decoder) * weight / sqrt(square)
    if i == j:
        weight += decoder.residual
    else:
        _demand(follows(Lt(j, i), goal.hypotheses), f"{j} < {i} is not known")
    goal.require_identical(weight, value)


def gram(goal: Goal) -> None:
    """G_ij = sum_{k<=i} sum_{l<=j} M_ik M_jl <x_k, x_l>."""
    quantity, value = goal.equation(Gram)
    _causal(quantity)
    i, j, model = quantity.query, quantity.key, quantity.args[3:]
    _demand(isinstance(value, Sum) and len(value.limits) == 2, "the right side is not a double sum")
    (p, *_), (q, *_) = value.limits
    _demand(p != q and not {p, q} & (i.free_symbols | j.free_symbols), "indices must be fresh")
    term = Mix(quantity.layer, i, p, *model) * Mix(quantity.layer, j, q, *model)
    expected = Sum(term * _gram_before(quantity, p, q), (p, 1, i), (q, 1, j))
    _demand(value == expected, f"the right side should be {expected}")


# --- sums over positions --------------------------------------------------------------------------


def _index(total: Sum) -> Symbol:
    _demand(len(total.limits) == 1, f"{total} is not a single sum")
    return total.limits[0][0]


def equicorrelated_sum(goal: Goal) -> None:
    """sum_{k<=i} sum_{l<=j} a_k b_l K_kl = alpha (sum a)(sum b) + (1-alpha) sum_{k<=j} a_k b_k, j <= i."""
    double, value = goal.equation(Sum)
    _demand(len(double.limits) == 2, "the left side is not a double sum")
    (p, first_p, i), (q, first_q, j) = double.limits
    _demand(first_p == first_q == 1 and p != q, "sums must start at 1, over two indices")
    _demand(follows(Le(j, i), goal.hypotheses), f"{j} <= {i} is not known")
    grams = double.function.atoms(InputGram)
    _demand(len(grams) == 1, "the summand has no single Gram entry")
    (entry,) = grams
    _demand(entry.args[:2] == (p, q), f"the Gram entry should be at {p}, {q}")
    alpha = _equicorrelated(entry.inputs)
    factors = [f for f in Mul.make_args(double.function) if f != entry]
    a = Mul(*(f for f in factors if q not in f.free_symbols))
    b = Mul(*(f for f in factors if q in f.free_symbols))
    _demand(p not in b.free_symbols and not (a * b).has(InputGram), "the summand does not factor")
    b = substitute(b, {q: p})
    expected = alpha * Sum(a, (p, 1, i)) * Sum(b, (p, 1, j)) + (1 - alpha) * Sum(a * b, (p, 1, j))
    _demand(value == expected, f"the right side should be {expected}")


def split_last(goal: Goal) -> None:
    """sum_{k=a}^{b} f(k) = sum_{k=a}^{b-1} f(k) + f(b), for a <= b."""
    total, value = goal.equation(Sum)
    k, (_, a, b) = _index(total), total.limits[0]
    _demand(follows(Le(a, b), goal.hypotheses), f"{a} <= {b} is not known")
    expected = Sum(total.function, (k, a, b - 1)) + substitute(total.function, {k: b})
    _demand(value == expected, f"the right side should be {expected}")


def constant_sum(goal: Goal) -> None:
    """sum_{k=a}^{b} c = (b - a + 1) c, for a <= b + 1."""
    total, value = goal.equation(Sum)
    k, (_, a, b) = _index(total), total.limits[0]
    _demand(k not in total.function.free_symbols, f"the summand depends on {k}")
    _demand(follows(Le(a, b + 1), goal.hypotheses), f"{a} <= {b + 1} is not known")
    goal.require_identical((b - a + 1) * total.function, value)


def linear_sum(goal: Goal) -> None:
    """sum_k c f(k) = c sum_k f(k), for c free of k."""
    total, value = goal.equation(Sum)
    k = _index(total)
    outside = Mul(*(f for f in Mul.make_args(total.function) if k not in f.free_symbols))
    inside = Mul(*(f for f in Mul.make_args(total.function) if k in f.free_symbols))
    _demand(value == outside * Sum(inside, *total.limits), "the right side is not the sum times the constant")


def termwise(goal: Goal) -> None:
    """sum_{k=a}^{b} f(k) = sum_{k=a}^{b} g(k), from f(k) = g(k) on a <= k <= b for a fresh k."""
    total, value = goal.equation(Sum)
    _demand(isinstance(value, Sum) and value.limits == total.limits, "the ranges differ")
    k, (_, a, b) = _index(total), total.limits[0]
    _demand(all(k not in h.free_symbols for h in goal.hypotheses), f"{k} is not fresh")
    inside = goal.hypotheses | {Ge(k, a), Le(k, b)}
    (premise,) = goal.premises
    _require_all(premise.hypotheses, inside)
    _demand(premise.statement == Eq(total.function, value.function), "the premise is another equation")


def positive_sum(goal: Goal) -> None:
    """sum_k f(k) > 0, from f(k) > 0 on a range that is not empty; likewise over several indices."""
    relation = goal.statement
    _demand(isinstance(relation, Gt) and relation.rhs == 0, "the statement is not of the form ... > 0")
    total = relation.lhs
    _demand(isinstance(total, Sum), "the left side is not a sum")
    ranges = set()
    for k, first, last in total.limits:
        _demand(follows(Le(first, last), goal.hypotheses), f"{first} <= {last} is not known")
        ranges |= {Ge(k, first), Le(k, last)}
    (premise,) = goal.premises
    _require_everywhere(goal, premise, {k for k, _, _ in total.limits}, ranges)
    _demand(premise.statement == Gt(total.function, 0), "the premise is about another term")


# --- logic ----------------------------------------------------------------------------------------


def hypothesis(goal: Goal) -> None:
    """What is assumed, or follows from it by the sign of a polynomial."""
    _demand(follows(goal.statement, goal.hypotheses), f"{goal.statement} is not assumed")


def cite(goal: Goal) -> None:
    """A step of a lemma, or the first premise, with values put in for its free symbols."""
    if "lemma" in goal.hints:
        line, others = goal.lemmas[goal.hints["lemma"]][goal.hints["step"]], goal.premises
    else:
        line, *others = goal.premises
    values = goal.hints.get("values", {})
    for other in others:
        _require_all(other.hypotheses, goal.hypotheses)
    known = (*goal.hypotheses, *(other.statement for other in others))
    _require_admissible(values, known)
    for needed in line.hypotheses:
        instance = substitute(needed, values)
        _demand(follows(instance, known), f"the lemma needs {instance}")
    _demand(substitute(line.statement, values) == goal.statement, "the lemma says something else")


def _require_admissible(values: Mapping[Symbol, Expr], known: Iterable[Basic]) -> None:
    """Reject values that do not have the properties assumed of the symbols they replace."""
    for symbol, value in values.items():
        value = sympy.sympify(value)
        _demand(isinstance(symbol, Symbol), f"{symbol} is not a symbol")
        _demand_in_language(symbol, value)
        _demand(not symbol.is_integer or value.is_integer is True, f"{value} is not an integer")
        _demand(value.is_real is True, f"{value} is not real")
        for holds, relation in ((symbol.is_positive, Gt), (symbol.is_nonnegative, Ge)):
            _demand(not holds or follows(relation(value, 0), known), f"{relation(value, 0)} is not known")


def _demand_in_language(*expressions: Basic) -> None:
    for e in expressions:
        odd = foreign(e)
        _demand(odd is None, f"{odd} is not in the kernel's language")


def implication(goal: Goal) -> None:
    """c => p, from p under the further hypothesis c."""
    _demand(isinstance(goal.statement, Implies), "the statement is not an implication")
    condition, conclusion = goal.statement.args
    (premise,) = goal.premises
    _require_all(premise.hypotheses, goal.hypotheses | {condition})
    _demand(premise.statement == conclusion, "the premise is another statement")


def detach(goal: Goal) -> None:
    """p, from c => p and c."""
    known = {p.args for p in goal.usable if isinstance(p, Implies)}
    _demand(
        any(p == goal.statement and c in (*goal.usable, *goal.hypotheses) for c, p in known),
        "no premise implies the statement",
    )


def conjunction(goal: Goal) -> None:
    """p and q, from p and from q."""
    missing = set(And.make_args(goal.statement)) - set(goal.usable)
    _demand(not missing, f"no premise gives {missing}")


def equals(goal: Goal) -> None:
    """p, from p with equals put for equals, the equation being a hypothesis about positions."""
    (statement,) = goal.usable
    for equation in goal.hypotheses:
        if isinstance(equation, Eq) and isinstance(equation.lhs, Symbol):
            table = {equation.lhs: equation.rhs}
            if substitute(statement, table) == substitute(goal.statement, table):
                return
    raise Rejected("no hypothesis turns the premise into the statement")


def cases(goal: Goal) -> None:
    """p, from p in each of the cases a < b, a = b, a > b that the hypotheses leave open."""
    covered: set[int] = set()
    pivot: Expr = sympy.Integer(0)
    for premise in goal.premises:
        _demand(premise.statement == goal.statement, "a case proves another statement")
        extra = [h for h in premise.hypotheses if not follows(h, goal.hypotheses)]
        _demand(len(extra) <= 1, "a case has more than one condition")
        if not extra:
            return  # this case needs no condition at all
        condition = extra[0]
        _demand(isinstance(condition, Relational), f"{condition} is not a relation")
        difference = condition.lhs - condition.rhs
        pivot = pivot if covered else difference
        same, opposite = identical(difference, pivot), identical(difference, -pivot)
        _demand(same or opposite, "the cases compare different things")
        signs = _SIGNS[type(condition)]
        covered |= signs if same else {-sign for sign in signs}
    culprit = Facts.of(_flat(goal.hypotheses)).undefined(pivot)
    _demand(culprit is None, f"the cases compare numbers that need not be real: {culprit}")
    for sign, excluded_by in ((1, Le(pivot, 0)), (-1, Ge(pivot, 0)), (0, Ne(pivot, 0))):
        _demand(sign in covered or follows(excluded_by, goal.hypotheses), "the cases leave something out")


_SIGNS: dict[type, set[int]] = {
    sympy.StrictLessThan: {-1},
    sympy.LessThan: {-1, 0},
    sympy.Equality: {0},
    sympy.GreaterThan: {0, 1},
    sympy.StrictGreaterThan: {1},
    sympy.Unequality: {-1, 1},
}


# --- algebra and order ----------------------------------------------------------------------------


def identity(goal: Goal) -> None:
    """Equal as rational functions of the generators, after replacing by the premises."""
    left, right = goal.equation(Expr)
    goal.require_identical(left, right)


def sign(goal: Goal) -> None:
    """An inequality whose difference has the right sign; hint ``form``: how to write it to see that."""
    relation = goal.statement
    _demand(isinstance(relation, (Lt, Le, Gt, Ge, Ne)), f"{relation} is not an inequality")
    goal.require_values(relation.lhs, relation.rhs)
    left, right = goal.rewritten(relation.lhs), goal.rewritten(relation.rhs)
    goal.require_defined(left, right)
    e = right - left if isinstance(relation, (Lt, Le)) else left - right
    form = goal.hints.get("form")
    if form is not None:
        form = goal.rewritten(form)
        goal.require_defined(form)
        _demand(identical(e, form), f"{form} is not the difference {e}")
        e = form
    if isinstance(relation, Ne):
        _demand(goal.facts.is_nonzero(e), f"{e} != 0 does not follow")
    else:
        goal.require_positive(e, isinstance(relation, (Lt, Gt)))


def add(goal: Goal) -> None:
    """An inequality that is the sum of the premises, one of them strict if it is."""
    relation = goal.statement
    _demand(isinstance(relation, ORDER), f"{relation} is not an inequality")
    _demand(all(isinstance(p, ORDER) for p in goal.usable), "a premise is not an inequality")
    total = Add(*(p.gts - p.lts for p in goal.usable))
    _demand(identical(relation.gts - relation.lts, total), "the premises add up to something else")
    strict = any(isinstance(p, (Lt, Gt)) for p in goal.usable)
    _demand(strict or isinstance(relation, (Le, Ge)), "no premise is strict")


def exponential(goal: Goal) -> None:
    """exp(u) < exp(v) for u < v, and likewise <=; 1 is exp(0)."""
    relation = goal.statement
    _demand(isinstance(relation, ORDER), f"{relation} is not an inequality")
    lower, upper = relation.lts, relation.gts
    logs = [_log(goal.rewritten(e)) for e in (lower, upper)]
    goal.require_positive(logs[1] - logs[0], isinstance(relation, (Lt, Gt)))


def _log(e: Expr) -> Expr:
    if e == 1:
        return sympy.Integer(0)
    if e is sympy.E:
        return sympy.Integer(1)
    _demand(isinstance(e, exp), f"{e} is not an exponential")
    return e.args[0]


def root(goal: Goal) -> None:
    """sqrt(a) < sqrt(b), from 0 <= a < b."""
    relation = goal.statement
    _demand(isinstance(relation, Lt), f"{relation} is not of the form sqrt(a) < sqrt(b)")
    a, b = relation.lhs**2, relation.rhs**2
    _demand(relation == Lt(sqrt(a), sqrt(b)), f"{relation} is not of the form sqrt(a) < sqrt(b)")
    goal.require_positive(a, strict=False)
    goal.require_positive(goal.rewritten(b) - goal.rewritten(a))


def product(goal: Goal) -> None:
    """c a < c b, from a < b and c > 0; hint ``factor``: c."""
    relation, c = goal.statement, goal.hints["factor"]
    _demand(isinstance(relation, Lt), f"{relation} is not of the form c a < c b")
    goal.require_positive(c)
    _demand(Lt(relation.lhs / c, relation.rhs / c) in goal.usable, "no premise compares the other factors")


def quotient(goal: Goal) -> None:
    """c/a < c/b, from 0 < b < a and c > 0 (and c/b < c/a for c < 0); hint ``numerator``: c."""
    relation, c = goal.statement, goal.hints["numerator"]
    _demand(isinstance(relation, (Lt, Gt)), f"{relation} is not of the form c/a < c/b")
    small, large = c / relation.gts, c / relation.lts  # denominators in rising order, for c > 0
    if not goal.facts.is_positive(c):
        goal.require_positive(-c)
        small, large = large, small
    goal.require_positive(small)
    goal.require_positive(large)
    _demand(Lt(small, large) in goal.usable, f"no premise gives {small} < {large}")


def derivative(goal: Goal) -> None:
    """d f / d x, worked out by the rules of differentiation."""
    left, right = goal.equation(Derivative)
    _demand(len(left.variables) == 1, "only first derivatives")
    f, x = left.expr, left.variables[0]
    _demand_elementary(f, x)
    goal.require_defined(f)
    goal.require_identical(f.diff(x), right)


def _demand_elementary(f: Expr, x: Symbol) -> None:
    """Arithmetic, roots and exponentials of x alone: differentiable wherever denominators and radicands allow."""
    _demand(all(term == x or x not in term.free_symbols for term in terms(f)), f"{f} is not elementary in {x}")


def decreasing(goal: Goal) -> None:
    """f(y) < f(x) for a <= x < y, from f' < 0 on m >= a (mean value theorem); hints ``at``: x, y."""
    (premise,) = goal.premises
    slope = premise.statement
    _demand(isinstance(slope, Lt) and isinstance(slope.lhs, Derivative) and slope.rhs == 0, "no negative derivative")
    f, m = slope.lhs.expr, slope.lhs.variables[0]
    x, y = goal.hints["at"]
    _demand(all(m not in h.free_symbols for h in goal.hypotheses), f"{m} is not fresh")
    _demand(m.is_nonnegative and not m.is_positive and not m.is_integer, f"{m} is not a real variable >= 0")
    _require_all(premise.hypotheses, goal.hypotheses)
    _demand_elementary(f, m)
    goal.require_defined(f)  # on the whole of m >= 0, so f is differentiable there
    goal.require_positive(x, strict=False)
    goal.require_positive(y - x)
    _demand(isinstance(goal.statement, Lt), "the statement is not an inequality")
    for side, at in zip(goal.statement.args, (y, x), strict=True):
        _demand(identical(side, substitute(f, {m: at})), f"{side} is not the function at {at}")


def cauchy_schwarz(goal: Goal) -> None:
    """S_ij < 1 for j < i in layer two, from linearly independent inputs, M_ii != 0 and M_jj != 0.

    x_i' has a part along x_i and x_j', which is not zero, has none: they are not parallel, so the
    cosine between them is below 1. Equicorrelated x_1..x_i are linearly independent when the
    eigenvalues 1 - alpha and 1 + (i-1) alpha of their Gram matrix are positive.
    """
    relation = goal.statement
    _demand(isinstance(relation, Lt) and relation.rhs == 1, "the statement is not S < 1")
    quantity = relation.lhs
    _demand(isinstance(quantity, Score) and quantity.layer == 2, "not a score of layer two")
    i, j = _independent_inputs(goal, quantity)
    for position in (i, j):
        _demand(goal.facts.is_nonzero(Mix(1, position, position, *quantity.args[3:])), f"M at {position} may vanish")


def _independent_inputs(goal: Goal, cosine: Score) -> tuple[Expr, Expr]:
    """Query i and key j < i of a cosine of combinations of x_1..x_i, which are known to be linearly independent."""
    decoder, i, j = _causal(cosine), cosine.query, cosine.key
    _demand(decoder.norm == "l2" and decoder.scale == 1, "the score is not a cosine")
    alpha = _equicorrelated(cosine.inputs)
    _require_all((Lt(j, i), Lt(alpha, 1), Gt(1 + (i - 1) * alpha, 0)), goal.hypotheses)
    return i, j


# --- layers as matrices: G' = M G M^T, with M lower triangular -------------------------------------


def symmetric(goal: Goal) -> None:
    """G_ij = G_ji: they are inner products."""
    quantity, value = goal.equation(Gram)
    _causal(quantity)
    mirrored = Gram(quantity.layer, quantity.key, quantity.query, *quantity.args[3:])
    _demand(value == mirrored, f"the right side should be {mirrored}")


def minors(goal: Goal) -> None:
    """G_ij G_kl >= G_il G_kj for all i < k and j < l, from the same of G in the layer below and of M, and M >= 0.

    By the Cauchy-Binet formula a minor of M G M^T is a sum of products of minors of M, of G and of M^T. As M_il = 0
    for l > i, the minors of M with l > i are M_ij M_kl - 0, a product of entries; those with l <= i are a premise.
    Premises in this order: G, M_ij >= 0 for j <= i, M; hint ``at``: i, j, k, l.
    """
    grams = goal.statement.atoms(Gram)
    _demand(len(grams) == 4, "the statement does not compare products of inner products")
    quantity = next(iter(grams))
    _causal(quantity)
    i, j, k, l = at = goal.hints["at"]  # noqa: E741
    _demand(len(set(at)) == 4, "not four different positions")
    layer, model, ordered = quantity.layer, quantity.args[3:], {Lt(i, k), Lt(j, l)}

    def minor(entry: Callable[[Expr, Expr], Expr]) -> Basic:
        return Ge(entry(i, j) * entry(k, l), entry(i, l) * entry(k, j))

    def mixed(a: Expr, b: Expr) -> Expr:
        return Mix(layer, a, b, *model)

    _demand(goal.statement == minor(lambda a, b: Gram(layer, a, b, *model)), "the statement is not the minor")
    _require_all(ordered, goal.hypotheses)
    needed = (
        (minor(lambda a, b: _gram_before(quantity, a, b)), ordered),
        (Ge(mixed(i, j), 0), {Le(j, i)}),
        (minor(mixed), {*ordered, Le(l, i)}),
    )
    for premise, (statement, ranges) in zip(goal.premises, needed, strict=True):
        _demand(premise.statement == statement, f"the premise should be {statement}")
        _require_everywhere(goal, premise, set(at), ranges)


def independence(goal: Goal) -> None:
    """S_ij < 1 for j < i in any layer, from linearly independent inputs and M_kk > 0 in every layer before.

    x_k' is M_kk x_k plus a combination of x_1..x_(k-1), so a layer keeps vectors linearly independent, and the
    cosine of two such is below 1. Equicorrelated inputs are independent as in ``cauchy_schwarz``. Premises:
    M_kk > 0 of layers 1, 2, ... in this order; hint ``at``: k.
    """
    relation, k = goal.statement, goal.hints["at"]
    _demand(isinstance(relation, Lt) and relation.rhs == 1, "the statement is not S < 1")
    quantity = relation.lhs
    _demand(isinstance(quantity, Score), "not a score")
    _independent_inputs(goal, quantity)
    _demand(len(goal.premises) == quantity.layer - 1, "not one premise for each layer before")
    for layer, premise in enumerate(goal.premises, 1):
        needed = Gt(Mix(layer, k, k, *quantity.args[3:]), 0)
        _demand(premise.statement == needed, f"the premise should be {needed}")
        _require_everywhere(goal, premise, {k})


# --- limits at infinity ---------------------------------------------------------------------------


def _limit(goal: Goal) -> tuple[Expr, Symbol, Expr]:
    left, value = goal.equation(Limit)
    f, x, point, _ = left.args
    _demand(point is oo, "only limits at infinity")
    _demand(all(x not in h.free_symbols for h in goal.hypotheses), f"{x} is not fresh")
    _demand(x not in value.free_symbols, f"the limit depends on {x}")
    _demand(x.is_real is True and x.is_extended_negative is not True, f"{x} does not go to infinity")
    return f, x, value


def rational_limit(goal: Goal) -> None:
    """Limit of a rational function of x: the quotient of the leading coefficients, or zero."""
    f, x, value = _limit(goal)
    generators = Generators([f, x])
    _demand(
        all(term == x or x not in term.free_symbols for term in generators.meaning),
        f"{f} is not a rational function of {x}",
    )
    fraction = generators.convert(f)
    bottoms = [fraction.denom, *(generators.convert(base).numer for base in denominators(f))]
    for bottom in bottoms:  # so that f has a value for all large x
        leading = _leading(bottom, x, generators)[1]
        _demand(goal.facts.is_nonzero(goal.rewritten(leading)), f"the leading coefficient {leading} may vanish")
    top, bottom = (_leading(p, x, generators) for p in (fraction.numer, fraction.denom))
    _demand(top[0] <= bottom[0], f"{f} does not converge")
    goal.require_identical(top[1] / bottom[1] if top[0] == bottom[0] else sympy.Integer(0), value)


def _leading(p: PolyElement, x: Symbol, generators: Generators) -> tuple[int, Expr]:
    """Degree and leading coefficient of a polynomial in x."""
    index = generators.meaning.index(x)
    degree = max(powers[index] for powers in p.monoms()) if p else 0
    terms = {(*m[:index], 0, *m[index + 1 :]): c for m, c in p.terms() if m[index] == degree}
    meaning = dict(zip(p.ring.symbols, generators.meaning, strict=False))
    return degree, p.ring.from_dict(terms).as_expr().xreplace(meaning)


def limit_algebra(goal: Goal) -> None:
    """Limit of a continuous expression in functions whose limits are premises."""
    f, x, value = _limit(goal)
    limits = [p for p in goal.usable if isinstance(p, Eq) and isinstance(p.lhs, Limit)]
    parts = {p.lhs.args[0]: (sympy.Dummy(), p.rhs) for p in limits if p.lhs.args[1:3] == (x, oo)}
    # with fresh names for the parts, so that nothing cancels before x is seen to be gone
    outer = _replace(f, {part: name for part, (name, _) in parts.items()})
    _demand(x not in outer.free_symbols, f"the limit of a part of {f} is not among the premises")
    values = dict(parts.values())
    for base in (*denominators(outer), *radicands(outer)):
        base = base.xreplace(values)
        _demand(goal.facts.is_nonzero(base), f"{base} may vanish in the limit")
    goal.require_identical(outer.xreplace(values), value)


def limit_of_equal(goal: Goal) -> None:
    """lim f = c, from f = g for all large x and lim g = c."""
    f, x, value = _limit(goal)
    equality, limit = goal.premises
    _require_all(limit.hypotheses, goal.hypotheses)
    _demand(isinstance(equality.statement, Eq) and equality.statement.lhs == f, "no equation for the function")
    g = equality.statement.rhs
    _demand(limit.statement == Eq(Limit(g, x, oo), value), "the second premise is not the limit of the other form")
    for h in equality.hypotheses:
        eventually = isinstance(h, ORDER) and h.gts == x and x not in h.lts.free_symbols
        _demand(eventually or follows(h, goal.hypotheses), f"{h} need not hold for large {x}")


RULES: dict[str, Callable[[Goal], None]] = {
    rule.__name__: rule
    for rule in (
        input_gram, score, softmax, mix, gram,
        equicorrelated_sum, split_last, constant_sum, linear_sum, termwise, positive_sum,
        hypothesis, cite, implication, detach, conjunction, equals, cases,
        identity, sign, add, exponential, root, product, quotient, derivative, decreasing,
        cauchy_schwarz, symmetric, minors, independence,
        rational_limit, limit_algebra, limit_of_equal,
    )
}  # fmt: skip


# rules that look at a part of their statement only: the rest must have a value too
MADE = ("split_last", "constant_sum", "linear_sum", "add", "exponential", "root", "product", "quotient")


# --- derivations ----------------------------------------------------------------------------------

_checked: dict[int, tuple[Derivation, dict[str, Line]]] = {}


def check(derivation: Derivation) -> dict[str, Line]:
    """Check every step; return the lines by label.

    Raises:
        Rejected: a step does not follow; the message names derivation, step and reason.
    """
    known = _checked.get(id(derivation))
    if known is not None and known[0] is derivation:
        return known[1]
    lemmas = {lemma.name: check(lemma) for lemma in derivation.lemmas}
    lines: dict[str, Line] = {}
    for step in derivation.steps:
        try:
            _check_step(step, frozenset(derivation.hypotheses), lines, lemmas)
        except (Rejected, ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            raise Rejected(f"{derivation.name}, step {step.label} ({step.rule}): {error}") from error
    _checked[id(derivation)] = (derivation, lines)
    return lines


def _check_step(
    step: Step, shared: frozenset[Basic], lines: dict[str, Line], lemmas: Mapping[str, Mapping[str, Line]]
) -> None:
    _demand(step.label not in lines, "the label is taken")
    _demand(step.rule in RULES, f"there is no rule {step.rule}")
    hypotheses = shared | frozenset(step.given)
    _demand_in_language(step.statement, *hypotheses)
    premises = tuple(lines[label] for label in step.premises)
    goal = Goal(step.statement, hypotheses, premises, step.hints, lemmas)
    RULES[step.rule](goal)
    if step.rule in MADE and isinstance(step.statement, Relational):
        goal.require_defined(*map(goal.rewritten, step.statement.args))
    lines[step.label] = Line(step.statement, hypotheses)


def prove(claim: Claim, derivation: Derivation) -> None:
    """Check that ``derivation`` ends with the claim's statement on the claim's whole domain.

    A hypothesis Eq(symbol, value) about a symbol foreign to the claim is a definition: its value is
    put in.

    Raises:
        Rejected: it does not.
    """
    _demand(bool(derivation.steps), f"{derivation.name} has no steps")
    lines = check(derivation)
    last = lines[derivation.steps[-1].label]
    domain = [h for h in _flat((sympy.sympify(claim.domain),)) if foreign(h) is None]
    values = {
        h.lhs: h.rhs
        for h in last.hypotheses
        if isinstance(h, Eq) and isinstance(h.lhs, Symbol) and h.lhs not in claim.free_symbols
    }
    _require_admissible(values, domain)
    statement = substitute(last.statement, values)
    _demand(
        statement == claim.bound_statement,
        f"{derivation.name} ends with {statement}, which is not the claim",
    )
    for needed in last.hypotheses:
        instance = substitute(needed, values)
        _demand(follows(instance, domain), f"{derivation.name} needs {instance}, which the domain does not give")
