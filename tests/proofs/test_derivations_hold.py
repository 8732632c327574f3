"""Every line of every derivation, evaluated at points of its hypotheses.

The kernel and the recursion in balls share no code, so a rule that lets something false pass, or a
recursion that goes wrong, shows here as a line that is certainly false, or without a value, somewhere.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from maskproof.proofs.engines.derivations import check
from maskproof.proofs.engines.evaluate import evaluator
from maskproof.proofs.engines.truth import Undefined
from maskproof.proofs.registry import shipped
from maskproof.proofs.terms import terms as t
from maskproof.proofs.terms.reading import read_variable
from maskproof.theory.layer_one import p, r
from maskproof.theory.symbols import alpha, beta, d, i, j, k, l, lam, m
from maskproof.theory.topics import TOPICS

ALPHA, BETA, LAM, R = (read_variable(symbol) for symbol in (alpha, beta, lam, r))
QUERY, KEY = read_variable(i), read_variable(j)
PARAMETERS = [
    {ALPHA: Fraction(a), BETA: Fraction(b), LAM: Fraction(c), read_variable(m): Fraction(3, 2)}
    for a, b, c in (("0", 1, 1), ("1/5", 0, 1), ("1/2", 2, 0), ("-1/7", "1/3", "3/2"), ("9/10", 3, "1/4"))
]
VARIABLES = tuple(map(read_variable, (i, j, k, p, l, d)))
POSITIONS = [
    dict(zip(VARIABLES, (a, b, c, e, (a + b + c) % 3 + 1, 16 if (a + b) % 3 else 2), strict=True))
    for a, b, c, e in product((1, 2, 3, 5), (1, 2, 4), (1, 3), (2, 3, 5))
]


def decided(line) -> tuple[int, list[dict[str, Any]]]:
    """How many points could be decided or agree, and the points at which the line is false or has no value."""
    definitions = {
        h.left: h.right
        for h in line.hypotheses
        if isinstance(h, t.Relation) and h.kind == "=" and isinstance(h.left, t.Variable)
    }
    sorts = (t.at_most(t.number(v.sort.least), v) for v in definitions if v.sort.least is not None)
    others = (h for h in line.hypotheses if h not in {t.equal(v, term) for v, term in definitions.items()})
    hypotheses = t.And(tuple(t.substitute(h, definitions) for h in (*others, *sorts)))
    premise, conclusion = evaluator(hypotheses), evaluator(t.substitute(line.statement, definitions))
    used = conclusion.statement.free | premise.statement.free
    positions = {tuple((v, x) for v, x in position.items() if v in used) for position in POSITIONS}
    seen, wrong = 0, []
    for reals in PARAMETERS:
        at_premise, at = premise.at(reals, 6), conclusion.at(reals, 6)
        for position in map(dict, sorted(positions, key=str)):
            if at_premise.decide(position, (64,)).truth is not True:
                continue
            decision = at.decide(position, (64, 192))
            seen += decision.truth is not None or decision.consistent
            if decision.truth is False or isinstance(decision.truth, Undefined):
                wrong.append({v.name: x for v, x in {**reals, **position}.items()})
    return seen, wrong


def derivations():
    found = {d.name: d for d in TOPICS.values()}
    for claim in shipped():
        if claim.proof is not None:
            found.setdefault(claim.proof.name, claim.proof)
    return found


DERIVATIONS = derivations()


@pytest.mark.parametrize("name", DERIVATIONS)
def test_no_line_is_false_anywhere(name):
    lines = {label: line for label, line in check(DERIVATIONS[name]).items() if "Limit" not in line.statement.heads}
    vacuous = []
    for label, line in lines.items():
        seen, wrong = decided(line)
        assert not wrong, f"{name}, {label}: {line.statement} fails at {wrong[0]}"
        # balls can't establish that an inner product is exactly zero
        if not seen and not any(isinstance(h, t.Relation) and "Entry" in h.heads for h in line.hypotheses):
            vacuous.append(label)
    assert not vacuous, f"no point decided {vacuous}"


def test_a_false_line_would_show():
    lines = check(DERIVATIONS["layer-one"])
    small = t.Number(Fraction(1, 10**12))
    changes = (("g", lambda right: t.plus(right, small)), ("h", lambda right: t.times(t.number(-1), right)))
    for label, changed in changes:
        line = lines[label]
        assert isinstance(line.statement, t.Relation)
        broken = type(line)(t.equal(line.statement.left, changed(line.statement.right)), line.hypotheses)
        assert decided(broken)[1]


def test_limits_are_approached():
    """Lines about limits can't be decided by numbers: the distance must fall like 1/i instead."""
    line = check(DERIVATIONS["saturation"])["saturation"].statement
    assert isinstance(line, t.Relation)
    assert isinstance(line.left, t.Limit)
    distance = t.Apply("abs", (t.minus(line.left.body, line.right),))
    growth = t.Exp(t.times(BETA, t.minus(t.ONE, ALPHA)))
    close = t.substitute(t.less(t.times(distance, QUERY), t.number(2)), {R: growth})
    for reals in PARAMETERS[1:3]:
        near = evaluator(close).at(reals, 80)
        assert all(near.decide({QUERY: n, KEY: 2}).truth is True for n in (20, 40, 80))
