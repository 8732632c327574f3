"""What a claim understands of models without saying so."""

from __future__ import annotations

import pytest
from sympy import Eq, Gt, Limit, Lt, Rational, Sum, oo

from maskproof.proofs.terms import terms as t
from maskproof.proofs.terms.reading import read_statement, read_term
from maskproof.proofs.terms.text import text
from maskproof.proofs.terms.understood import understood
from maskproof.theory.decoder import Bidirectional, Decoder
from maskproof.theory.inputs import Equicorrelated, Sphere
from maskproof.theory.quantities import Gram, InputGram, Score
from maskproof.theory.symbols import alpha, beta, d, i, j, k, lam

X = Equicorrelated(alpha)


def hypotheses(statement, domain=True, **model):
    inputs = model.pop("inputs", X)
    return {text(h) for h in understood(read_statement(statement, Decoder(**model), inputs), read_statement(domain))}


def independent(count, cosine="alpha"):
    return f"{count} independent vectors with cosine {cosine} exist"


BOTH = {independent("i"), independent("j")}


def test_alpha_admits_independent_inputs_unless_the_domain_speaks_of_it():
    assert hypotheses(Score(2, i, j) < 1) == BOTH
    assert hypotheses(Score(2, i, j) < 1, j < i) == BOTH
    assert hypotheses(Score(2, i, j) < 1, alpha > -1) == set()
    assert hypotheses(Score(2, i, j) < 1, inputs=Equicorrelated(Rational(-1, 2))) == set()  # meant literally
    assert hypotheses(Score(2, i, j) < 1, lam > 1, inputs=Equicorrelated(alpha * lam)) == set()
    assert hypotheses(Score(2, i, j) < 1, inputs=Sphere(d, 0)) == set()
    assert hypotheses(InputGram(i, 3, X) < 1) == {independent("i"), independent("3")}


def test_parameters_are_admissible_unless_the_domain_speaks_of_them():
    assert hypotheses(Score(2, i, j) < 1, beta=alpha) == {*BOTH, "0 <= alpha"}
    assert hypotheses(Score(2, i, j) < 1, alpha < 1, beta=alpha) == set()
    assert hypotheses(Score(2, i, j) < 1, residual=alpha - 1) == {*BOTH, "0 <= alpha - 1"}
    assert hypotheses(Score(2, i, j) < 1, scale=alpha) == {*BOTH, "0 < alpha"}
    assert hypotheses(Score(2, i, j) < 1, norm="layernorm") == {*BOTH, "2 <= d"}
    assert hypotheses(Score(2, i, j) < 1, d >= 3, norm="layernorm") == BOTH
    assert hypotheses(Score(2, i, j) < 1, beta=beta) == BOTH
    assert hypotheses(Gt(Score(2, i, j), 0), mask=Bidirectional()) == {independent("n")}


def test_under_a_sum_the_last_position_counts():
    def total(key, *limits):
        return Gt(Sum(Gram(2, 1, key), *limits), 0)

    assert hypotheses(total(k, (k, 1, i))) == {independent("1"), independent("i")}
    assert hypotheses(total(k + 1, (k, 1, i - 1))) == {independent("1"), independent("i - 1 + 1")}
    assert hypotheses(total(k + j, (k, 1, j), (j, 1, i))) == {independent("1"), independent("i + i")}
    assert hypotheses(total(i - k, (k, 1, i - 1))) == {independent("1")}  # largest at the other end
    assert hypotheses(total(2 * k, (k, 1, i))) == {independent("1")}  # not plain
    assert hypotheses(Eq(Limit(Gram(2, i, j), i, oo), 0)) == {independent("j")}


@pytest.mark.parametrize("own", [{"decoder": Decoder(beta=alpha - k)}, {"inputs": Equicorrelated(alpha - k)}])
def test_nothing_is_understood_of_a_bound_variable(own):
    """Otherwise 0 <= alpha - k would be a hypothesis about whatever else has the name k."""
    quantity = Score(1, 1, 1, **{"decoder": Decoder(), "inputs": Equicorrelated(0), **own})
    for statement in (Gt(Sum(quantity, (k, 1, 0)), 0), Eq(Limit(quantity, k, oo), 0)):
        assert hypotheses(statement) == set()


def test_each_hypothesis_comes_once():
    found = understood(read_statement(Lt(Score(2, i, j), Score(3, i, j)), Decoder(), X), t.TRUE)
    assert len(found) == len(set(found)) == 2


def test_ends_of_sums_are_quantities_too():
    entry = read_term(Gram(2, 1, i, decoder=Decoder(), inputs=X))
    k_ = t.Variable("q", t.Sort.INTEGER)
    for total in (t.Sum(k_, k_, entry, t.ONE), t.Sum(k_, k_, t.ONE, entry)):
        found = {text(h) for h in understood(t.less(t.ZERO, total), t.TRUE)}
        assert found == {independent("1"), independent("i")}
