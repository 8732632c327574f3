"""Terms and statements in plain text, for messages."""

from __future__ import annotations

from fractions import Fraction

from maskproof.proofs.terms import terms as t

LETTERS = {"score": "S", "weight": "A", "gram": "G", "mix": "M"}
_LOOSE, _SUM, _PRODUCT, _TIGHT = range(4)


def text(node: t.Node, limit: int = 160) -> str:
    """``node`` as one would type it, cut after ``limit`` characters.

    >>> from maskproof.proofs.terms.terms import ONE, Add, Mul, Power, Sort, Variable, less, number
    >>> i = Variable("i", Sort.POSITION)
    >>> text(less(Mul((number(2), Power(Add((i, number(-1))), -1))), ONE))
    '2/(i - 1) < 1'
    """
    written = _text(node, _LOOSE)
    return written if len(written) <= limit else f"{written[: limit - 3]}..."


def _text(node: t.Node, place: int) -> str:  # noqa: C901  one line for each kind of node
    match node:
        case t.Number(value=value):
            bare = str(value)
            return f"({bare})" if place > _LOOSE and (value < 0 or (value.denominator > 1 and place > _SUM)) else bare
        case t.Variable(name=name) | t.Constant(name=name):
            return name
        case t.Add(terms=terms):
            return _bracketed(_signed(terms), place > _SUM)
        case t.Mul(factors=factors):
            return _bracketed(_product(factors), place > _PRODUCT)
        case t.Power(base=base, exponent=exponent):
            if exponent < 0:
                return _text(t.Mul((node,)), place)
            return f"{_text(base, _TIGHT)}**{exponent}"
        case t.Root(radicand=radicand):
            return f"sqrt({_text(radicand, _LOOSE)})"
        case t.Exp(exponent=exponent):
            return f"exp({_text(exponent, _LOOSE)})"
        case t.Sum() | t.Product():
            name, index = type(node).__name__, node.index.name
            return f"{name}({_text(node.body, _LOOSE)}, {index}={_text(node.low, 0)}..{_text(node.high, 0)})"
        case t.Derivative(body=body, variable=variable):
            return f"Derivative({_text(body, _LOOSE)}, {variable.name})"
        case t.Limit(body=body, variable=variable):
            return f"Limit({_text(body, _LOOSE)}, {variable.name} -> oo)"
        case t.Apply(name=name, arguments=arguments):
            return f"{name}({', '.join(_text(a, _LOOSE) for a in arguments)})"
        case t.Cases(cases=cases):
            return f"Cases({'; '.join(f'{_text(c.value, 0)} if {_text(c.condition, 0)}' for c in cases)})"
        case t.Entry(kind=kind, layer=layer, query=query, key=key):
            return f"{LETTERS[kind]}{_text(layer, _TIGHT)}[{_text(query, 0)},{_text(key, 0)}]"
        case t.Correction(entry=entry):
            return f"[1/d]E({_text(entry, _LOOSE)})"
        case t.Input(query=query, key=key):
            return f"K[{_text(query, 0)},{_text(key, 0)}]"
        case t.Relation(kind=kind, left=left, right=right):
            return _bracketed(f"{_text(left, _LOOSE)} {kind} {_text(right, _LOOSE)}", place > _LOOSE)
        case t.And(statements=statements):
            return " and ".join(_text(s, _SUM) for s in statements) or "true"
        case t.Or(statements=statements):
            return _bracketed(" or ".join(_text(s, _SUM) for s in statements) or "false", place > _LOOSE)
        case t.Not(statement=statement):
            return f"not ({_text(statement, _LOOSE)})"
        case t.Implies(premise=premise, conclusion=conclusion):
            return _bracketed(f"{_text(premise, _SUM)} => {_text(conclusion, _SUM)}", place > _LOOSE)
        case t.Integral(term=term):
            return f"{_text(term, _LOOSE)} is an integer"
        case t.Vectors(of=of, layer=layer, count=count):
            law = of.law if isinstance(of, t.Model) else of
            given = f"vectors with cosine {_text(law.alpha, _LOOSE)} exist for {_text(count, _LOOSE)} tokens"
            deeper = isinstance(of, t.Model) and of.norm != "none" and layer != t.ONE
            return f"{given} and none vanishes before layer {_text(layer, _LOOSE)}" if deeper else given
        case t.Independent(law=law, count=count):
            return f"{_text(count, _LOOSE)} independent vectors with cosine {_text(law.alpha, _LOOSE)} exist"
        case t.Converges(limit=limit):
            return f"{_text(limit, _LOOSE)} exists"
    return type(node).__name__.lower()


def _bracketed(written: str, needed: bool) -> str:
    return f"({written})" if needed else written


def _signed(terms: tuple[t.Term, ...]) -> str:
    first, *rest = sorted(terms, key=lambda term: isinstance(term, t.Number))  # numbers last
    written = _text(first, _SUM)
    for term in rest:
        negative = _negated(term)
        written += f" + {_text(term, _SUM)}" if negative is None else f" - {_text(negative, _PRODUCT)}"
    return written


def _negated(term: t.Term) -> t.Term | None:
    """-term, if that is written with fewer signs."""
    if isinstance(term, t.Number) and term.value < 0:
        return t.Number(-term.value)
    if isinstance(term, t.Mul) and isinstance(term.factors[0], t.Number) and term.factors[0].value < 0:
        first, rest = t.Number(-term.factors[0].value), term.factors[1:]
        return t.times(*(rest if first == t.ONE and rest else (first, *rest)))
    return None


def _product(factors: tuple[t.Term, ...]) -> str:
    above, below = [], []
    for factor in factors:
        if isinstance(factor, t.Power) and factor.exponent < 0:
            below.append(factor.base if factor.exponent == -1 else t.Power(factor.base, -factor.exponent))
        elif isinstance(factor, t.Number) and abs(factor.value.numerator) == 1 and factor.value.denominator > 1:
            below.append(t.Number(Fraction(factor.value.denominator)))
            above += [t.number(-1)] if factor.value < 0 else []
        else:
            above.append(factor)
    sign = "-" if above and above[0] == t.number(-1) and len(above) > 1 else ""
    top = "*".join(_text(factor, _PRODUCT) for factor in (above[1:] if sign else above)) or "1"
    if not below:
        return sign + top
    bottom = "*".join(_text(factor, _TIGHT if len(below) == 1 else _PRODUCT) for factor in below)
    return f"{sign}{top}/{bottom}" if len(below) == 1 else f"{sign}{top}/({bottom})"
