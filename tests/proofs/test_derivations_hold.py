"""Every line of every derivation, evaluated in ball arithmetic at points of its hypotheses.

The kernel and the recursion in balls share no code, so a rule that lets something false pass, or a
recursion that goes wrong, shows here as a line that is certainly false somewhere.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest
import sympy
from sympy import And, Eq, Limit, Rational, Symbol, exp

from proofs.engines.evaluate import evaluator
from proofs.engines.truth import Undefined
from proofs.kernel import check
from proofs.registry import shipped
from proofs.terms.reading import read_statement, read_variable
from theory.layer_one import l, r
from theory.quantities import Quantity
from theory.symbols import alpha, beta, d, i, j, k, lam, m
from theory.topics import TOPICS

PARAMETERS = [
    {alpha: Rational(a), beta: Rational(b), lam: Rational(c)}
    for a, b, c in (("0", 1, 1), ("1/5", 0, 1), ("1/2", 2, 0), ("-1/7", "1/3", "3/2"), ("9/10", 3, "1/4"))
]
POSITIONS = [
    {i: a, j: b, k: c, l: e, d: 16 if (a + b) % 3 else 2}
    for a, b, c, e in product((1, 2, 3, 5), (1, 2, 4), (1, 3), (2, 3, 5))
]


def _read(point) -> dict:
    return {read_variable(s): int(v) if s.is_integer else Fraction(str(v)) for s, v in point.items()}


def _decided(line) -> tuple[int, list[dict]]:
    """How many points could be decided or agree, and the points at which the line is false."""
    definitions = {h.lhs: h.rhs for h in line.hypotheses if isinstance(h, Eq) and isinstance(h.lhs, Symbol)}
    hypotheses = [h.xreplace(definitions) for h in line.hypotheses]
    premise = evaluator(read_statement(And(*hypotheses)))
    conclusion = evaluator(read_statement(line.statement.xreplace(definitions)))
    used = line.statement.free_symbols.union(*(h.free_symbols for h in line.hypotheses)) | {d}
    positions = {tuple((s, v) for s, v in position.items() if s in used) for position in POSITIONS}
    seen, false = 0, []
    for reals in PARAMETERS:
        values = _read({**reals, m: Rational(3, 2)})
        at_premise, at = premise.at(values, 6), conclusion.at(values, 6)
        for position in map(dict, sorted(positions, key=str)):
            place = _read(position)
            if at_premise.decide(place, (64,)).truth is not True:
                continue
            decision = at.decide(place, (64, 192))
            if isinstance(decision.truth, Undefined):
                continue
            seen += decision.truth is not None or decision.consistent
            if decision.truth is False:
                false.append({**reals, **position})
    return seen, false


def _derivations():
    found = {d.name: d for d in TOPICS.values()}
    for claim in shipped():
        if claim.proof is not None:
            found.setdefault(claim.proof.name, claim.proof)
    return found


DERIVATIONS = _derivations()


@pytest.mark.parametrize("name", DERIVATIONS)
def test_no_line_is_false_anywhere(name):
    lines = {label: line for label, line in check(DERIVATIONS[name]).items() if not line.statement.has(Limit)}
    vacuous = []
    for label, line in lines.items():
        seen, false = _decided(line)
        assert not false, f"{name}, {label}: {line.statement} fails at {false[0]}"
        # balls can't establish that an inner product is exactly zero
        if not seen and not any(isinstance(h, Eq) and h.lhs.has(Quantity) for h in line.hypotheses):
            vacuous.append(label)
    assert not vacuous, f"no point decided {vacuous}"


def test_a_false_line_would_show():
    lines = check(DERIVATIONS["layer-one"])
    for label, wrong in (("g", lines["g"].statement.rhs + Rational(1, 10**12)), ("h", -lines["h"].statement.rhs)):
        line = lines[label]
        broken = type(line)(Eq(line.statement.lhs, wrong), line.hypotheses)
        assert _decided(broken)[1]


def test_limits_are_approached():
    """Lines about limits can't be decided in balls: the distance must fall like 1/i instead."""
    line = check(DERIVATIONS["saturation"])["saturation"].statement
    quantity, value = line.lhs.args[0], line.rhs
    for reals in PARAMETERS[1:3]:
        close = sympy.Lt(abs(quantity - value) * i, 2).subs(r, exp(reals[beta] * (1 - reals[alpha])))
        near = evaluator(read_statement(close)).at(_read(reals), 80)
        assert all(near.decide(_read({i: n, j: 2})).truth is True for n in (20, 40, 80))
