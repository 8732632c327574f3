"""Terms and statements as Coq text, over the definitions of ``formal/Attention.v``.

Rules of translation, which a reviewer has to accept:

* positions, layers and the width d are natural numbers (``nat``) with their sort's lower end as a hypothesis; what is
  an integer becomes a real number by ``INR``;
* relations between integers stand in Z, where i - 1 is what it says; a position i - 1 inside a quantity is a natural
  number, and its line's ``_has_value`` lemma says that it is at least 1;
* f' at x is ``Derive``, and a relation with a derivative in it also says ``ex_derive``;
* lim f = c is ``is_lim_seq`` over positions and ``is_lim`` over the reals;
* a double sum is in the order in which it is written, sum_l sum_k with k inside.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from maskproof.proofs.terms import terms as t
from maskproof.proofs.terms.text import text

NORMS = {"l2": "L2", "layernorm": "LayerNorm", "none": "NoNorm"}
KINDS = {"score": "Score", "weight": "Weight", "gram": "Gram", "mix": "Mix"}
_AND, _OR = " /\\ ", " \\/ "
RELATIONS = {"<": "<", "<=": "<=", "=": "=", "!=": "<>"}


class Unprintable(ValueError):
    """A part has no translation."""


# --- natural numbers and integers -------------------------------------------------------------------


def linear(term: t.Term) -> tuple[dict[t.Variable, int], int]:
    """Coefficients and constant of an integer that is linear in integer variables.

    Raises:
        Unprintable: it is not.
    """
    match term:
        case t.Number(value=value) if value.denominator == 1:
            return {}, int(value)
        case t.Variable(sort=sort) if sort.integral:
            return {term: 1}, 0
        case t.Add(terms=terms):
            total: dict[t.Variable, int] = {}
            constant = 0
            for coefficients, number in map(linear, terms):
                constant += number
                for variable, c in coefficients.items():
                    total[variable] = total.get(variable, 0) + c
            return {v: c for v, c in total.items() if c}, constant
        case t.Mul(factors=factors):
            scale, rest = 1, []
            for coefficients, number in map(linear, factors):
                if coefficients:
                    rest.append((coefficients, number))
                else:
                    scale *= number
            if not rest:
                return {}, scale
            if len(rest) == 1:
                ((coefficients, number),) = rest
                return {v: scale * c for v, c in coefficients.items() if scale}, scale * number
    raise Unprintable(f"{text(term, 60)} is no position")


def natural(term: t.Term) -> str:
    """An integer >= 0 as a natural number, in one form for all ways to write it.

    >>> i = t.Variable("i", t.Sort.POSITION)
    >>> natural(t.Add((t.number(-1), i))), natural(t.Add((t.ONE, i, i)))
    ('(i - 1)%nat', '(2 * i + 1)%nat')
    """
    written = _natural(term)
    return written if written.isalnum() else f"({written})%nat"


def _natural(term: t.Term) -> str:
    coefficients, constant = linear(term)
    above, below = [], []
    for variable, c in sorted(coefficients.items(), key=lambda item: item[0].name):
        if variable.sort.least is None:
            raise Unprintable(f"{variable.name} may be negative: it is no position")
        size = variable.name if abs(c) == 1 else f"{abs(c)} * {variable.name}"
        (above if c > 0 else below).append(size)
    if constant:
        (above if constant > 0 else below).append(str(abs(constant)))
    return " - ".join([" + ".join(above) or "0", *below])


def integer(term: t.Term) -> str:
    """An integer in Z."""
    match term:
        case t.Number(value=value) if value.denominator == 1:
            return str(value) if value >= 0 else f"({value})"
        case t.Variable(sort=sort) if sort.integral:
            return term.name if sort is t.Sort.INTEGER else f"Z.of_nat {term.name}"
        case t.Add(terms=terms):
            return f"({' + '.join(map(integer, terms))})"
        case t.Mul(factors=factors):
            return f"({' * '.join(map(integer, factors))})"
        case t.Power(base=base, exponent=exponent) if exponent >= 0:
            return f"({integer(base)} ^ {exponent})"
    raise Unprintable(f"{text(term, 60)} is no integer")


def is_integer(term: t.Term) -> bool:
    """Whether ``integer`` prints it."""
    return t.is_integral(term) and term.heads <= {"Number", "Variable", "Add", "Mul", "Power"}


# --- real numbers --------------------------------------------------------------------------------------


def real(term: t.Term) -> str:  # noqa: C901  one line for each kind of term
    """A term as a real number.

    >>> i, r = t.Variable("i", t.Sort.POSITION), t.Variable("r", t.Sort.POSITIVE)
    >>> real(t.over(t.ONE, t.plus(r, i, t.number(-1))))
    '(1 / (r + (INR i) - 1))'

    Raises:
        Unprintable: a part has no translation.
    """
    match term:
        case t.Number(value=value):
            return _number(value)
        case t.Variable(name=name, sort=sort):
            return f"IZR {name}" if sort is t.Sort.INTEGER else f"INR {name}" if sort.integral else name
        case t.Add(terms=terms):
            return _sum(terms)
        case t.Mul(factors=factors):
            return _product(factors)
        case t.Power(base=base, exponent=exponent):
            return _product((term,)) if exponent < 0 else f"({argument(base)} ^ {exponent})"
        case t.Root(radicand=radicand):
            return f"sqrt {argument(radicand)}"
        case t.Exp(exponent=exponent):
            return f"exp {argument(exponent)}"
        case t.Sum(body=body, index=index, low=low, high=high):
            if low != t.ONE:
                raise Unprintable(f"{text(term, 60)} does not start at 1")
            return f"sum (fun {_bound(index)} : nat => {real(body)}) {natural(high)}"
        case t.Derivative(body=body, variable=variable):
            return f"Derive (fun {variable.name} : R => {real(body)}) {variable.name}"
        case t.Entry(kind=kind, layer=layer, query=query, key=key, model=model):
            place = " ".join(map(natural, (layer, query, key)))
            return f"{KINDS[kind]} {decoder(model)} ({inputs(model.law)}) {place}"
        case t.Input(query=query, key=key, law=law):
            return f"{inputs(law)} {natural(query)} {natural(key)}"
    raise Unprintable(f"{text(term, 60)} has no translation")


def _bound(index: t.Variable) -> str:
    if index.sort.least is None:
        raise Unprintable(f"the index {index.name} may be negative")
    return index.name


def _number(value: Fraction) -> str:
    if value.denominator == 1:
        return str(value) if value >= 0 else f"({value})"
    return f"({value.numerator} / {value.denominator})"


def argument(term: t.Term) -> str:
    """A term as an argument of a function: in brackets unless it is one word."""
    written = real(term)
    return written if written[0] == "(" or " " not in written else f"({written})"


def _sum(terms: tuple[t.Term, ...]) -> str:
    written = argument(terms[0]) if terms else "0"
    for term in terms[1:]:
        sign, size = _signed(term)
        written += f" {sign} {argument(size)}"
    return f"({written})"


def _signed(term: t.Term) -> tuple[str, t.Term]:
    if isinstance(term, t.Number) and term.value < 0:
        return "-", t.Number(-term.value)
    if isinstance(term, t.Mul) and isinstance(term.factors[0], t.Number) and term.factors[0].value < 0:
        size, rest = t.Number(-term.factors[0].value), term.factors[1:]
        return "-", t.times(*(rest if size == t.ONE and rest else (size, *rest)))
    return "+", term


def _product(factors: tuple[t.Term, ...]) -> str:
    above, below = [], []
    for factor in factors:
        if isinstance(factor, t.Power) and factor.exponent < 0:
            below.append(factor.base if factor.exponent == -1 else t.Power(factor.base, -factor.exponent))
        else:
            above.append(factor)
    top = " * ".join(map(argument, above)) or "1"
    if not below:
        return f"({top})" if len(above) > 1 else top
    bottom = " * ".join(map(argument, below))
    return f"({top} / {bottom if len(below) == 1 else f'({bottom})'})"


# --- models ----------------------------------------------------------------------------------------------


def decoder(model: t.Model) -> str:
    """The decoder, and the Gram matrix of its inputs: the arguments of every quantity."""
    if model.position is not None or model.tokens is not None:
        raise Unprintable("position codes and masks that need the number of tokens are not in the library")
    match model.mask:
        case t.CAUSAL:
            mask = "Causal"
        case t.Mask(kind="window", numbers=(size,)):
            mask = f"(SlidingWindow {size})"
        case _:
            raise Unprintable(f"the mask {model.mask.kind} is not in the library")
    norm = NORMS[model.norm]
    if model.norm == "layernorm":
        if model.width is None:
            raise Unprintable("LayerNorm needs a width")
        norm = f"(LayerNorm {natural(model.width)})"
    numbers = " ".join(map(argument, (model.scale, model.beta, model.residual)))
    return f"(Decoder {norm} {numbers} {mask})"


def inputs(law: t.Law) -> str:
    """The Gram matrix of the inputs."""
    if law.kind != "equicorrelated":
        raise Unprintable("expectations over random inputs are not in the library")
    return f"equicorrelated {argument(law.alpha)}"


# --- statements --------------------------------------------------------------------------------------------


def proposition(statement: t.Statement) -> str:
    """A statement as a proposition, in brackets where it needs them.

    >>> i, j = (t.Variable(name, t.Sort.POSITION) for name in "ij")
    >>> proposition(t.less(t.plus(j, t.ONE), i))
    '((Z.of_nat j + 1) < Z.of_nat i)%Z'

    Raises:
        Unprintable: a part has no translation.
    """
    match statement:
        case t.Relation():
            return _relation(statement)
        case t.And(statements=parts):
            return _joined(_AND, parts, "True")
        case t.Or(statements=parts):
            return _joined(_OR, parts, "False")
        case t.Not(statement=part):
            return f"(~ {proposition(part)})"
        case t.Implies(premise=premise, conclusion=conclusion):
            return f"({proposition(premise)} -> {proposition(conclusion)})"
        case t.Independent(law=law, count=count):
            inputs(law)
            return f"inputs_independent {argument(law.alpha)} {natural(count)}"
        case t.Vectors(of=t.Law() as law, count=count):
            inputs(law)
            return f"inputs_independent {argument(law.alpha)} {natural(count)}"
        case t.Vectors(of=t.Model() as model, layer=layer, count=count):
            return f"have_directions {decoder(model)} {argument(model.law.alpha)} {natural(layer)} {natural(count)}"
    raise Unprintable(f"{text(statement, 60)} has no translation")


def _joined(sign: str, parts: tuple[t.Statement, ...], empty: str) -> str:
    written = sign.join(map(proposition, parts))
    return f"({written})" if len(parts) > 1 else written or empty


def _relation(s: t.Relation) -> str:
    if isinstance(s.left, t.Limit) and s.kind == "=":
        body, x = s.left.body, s.left.variable
        if x.sort.integral:
            return f"is_lim_seq (fun {_bound(x)} : nat => {real(body)}) {argument(s.right)}"
        return f"is_lim (fun {x.name} : R => {real(body)}) p_infty {argument(s.right)}"
    sign = RELATIONS[s.kind]
    if is_integer(s.left) and is_integer(s.right):
        return f"({integer(s.left)} {sign} {integer(s.right)})%Z"
    written = f"({real(s.left)} {sign} {real(s.right)})"
    exist = existences(s)
    return f"({_AND.join((*exist, written))})" if exist else written


def existences(s: t.Statement) -> list[str]:
    """That the derivatives in a relation exist."""
    slopes = dict.fromkeys(n for n in s.walk() if isinstance(n, t.Derivative)) if isinstance(s, t.Relation) else ()
    return [f"ex_derive (fun {n.variable.name} : R => {real(n.body)}) {n.variable.name}" for n in slopes]


def sort_hypothesis(variable: t.Variable) -> str | None:
    """What the sort of a variable says of it."""
    return {
        t.Sort.POSITION: f"(1 <= {variable.name})%nat",
        t.Sort.POSITIVE: f"(0 < {variable.name})",
        t.Sort.NONNEGATIVE: f"(0 <= {variable.name})",
    }.get(variable.sort)


def type_of(variable: t.Variable) -> str:
    """The Coq type of a variable."""
    return {t.Sort.INTEGER: "Z"}.get(variable.sort, "nat" if variable.sort.integral else "R")


def binders(variables: Mapping[t.Variable, object] | list[t.Variable]) -> str:
    """``(i j : nat) (alpha : R)``."""
    groups: dict[str, list[str]] = {}
    for variable in variables:
        groups.setdefault(type_of(variable), []).append(variable.name)
    return " ".join(f"({' '.join(names)} : {kind})" for kind, names in groups.items())
