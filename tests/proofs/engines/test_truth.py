"""Connectives of four truth values, whatever the order of their parts."""

from itertools import permutations, product

import pytest

from maskproof.proofs.engines.truth import Undefined, both, either, negation
from maskproof.proofs.terms.conditions import Condition
from maskproof.proofs.terms.terms import ONE, ZERO, Power, unequal

NOTHING = Undefined(Condition(unequal(ZERO, ZERO), Power(ZERO, -1)))
VALUES = (True, False, None, NOTHING)


def test_two_parts():
    for a, b in product(VALUES, VALUES):
        pair = (a, b)
        conjunction = next((v for v in (False, None, NOTHING) if any(x is v for x in pair)), True)
        disjunction = next((v for v in (True, None, NOTHING) if any(x is v for x in pair)), False)
        assert both(pair) is conjunction
        assert either(pair) is disjunction
        assert negation(both(pair)) is either([negation(x) for x in pair])


def test_the_order_of_parts_does_not_matter():
    for parts in product(VALUES, repeat=3):
        for join in (both, either):
            assert len({id(join(order)) for order in permutations(parts)}) == 1


def test_no_parts():
    assert both(()) is True
    assert either(()) is False


def test_what_has_no_value_is_not_true_by_accident():
    with pytest.raises(TypeError):
        bool(NOTHING)
    assert negation(NOTHING) is NOTHING


def test_the_message_names_point_and_part():
    found = Undefined(Condition(unequal(ONE, ONE), Power(ONE, -1)), (("k", "2"),))
    assert found.at({"i": 3}, "statement") == "the statement has no value at i = 3, k = 2: 1 != 1 fails in 1/1"
