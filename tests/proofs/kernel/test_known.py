"""What follows at once."""

from __future__ import annotations

from maskproof.proofs.kernel.known import Known
from maskproof.proofs.terms import terms as t
from maskproof.proofs.terms.conditions import Condition, Range
from maskproof.proofs.terms.reading import read_term
from maskproof.theory import symbols
from maskproof.theory.decoder import Decoder
from maskproof.theory.inputs import Equicorrelated
from maskproof.theory.quantities import Gram
from maskproof.theory.symbols import alpha, beta

a, b, k = (read_term(s) for s in (alpha, beta, symbols.k))
i = t.Variable("i", t.Sort.POSITION)


def test_statements_are_recognised_up_to_arithmetic():
    rule = t.Implies(t.less(a, t.ONE), t.less(b, t.ONE))
    longer = t.Implies(t.less(t.plus(a, t.minus(i, i)), t.ONE), t.less(b, t.ONE))
    for one, other in ((rule, longer), (longer, rule)):
        assert Known([one]).holds(other)
    split = t.Implies(t.less(t.Root(t.times(t.number(2), b)), t.ONE), t.less(b, t.ONE))
    joined = t.Implies(t.less(t.times(t.Root(t.number(2)), t.Root(b)), t.ONE), t.less(b, t.ONE))
    assert Known([split]).holds(joined)
    assert not Known([rule]).holds(t.Implies(t.less(b, t.ONE), t.less(a, t.ONE)))


def test_connected_statements():
    known = Known([t.And((t.less(a, t.ZERO), t.less(b, t.ONE)))])
    p, q = t.less(a, t.ONE), t.less(t.ONE, b)
    assert known.holds(p)
    assert not known.holds(q)
    assert not known.holds(t.And((p, q)))
    assert known.holds(t.Or((p, q)))
    assert not known.holds(t.Or((q, t.less(t.ONE, a))))
    assert known.holds(t.TRUE)
    assert not known.holds(t.FALSE)
    assert not known.holds(t.Not(q))


def test_what_has_no_value_does_not_hold():
    known = Known([t.less(t.ZERO, b)])
    assert known.holds(t.less(t.ZERO, t.over(t.ONE, b)))
    assert not Known([]).holds(t.at_most(t.ZERO, t.Power(t.over(t.ONE, b), 2)))
    assert not known.holds(t.at_most(t.ZERO, t.Power(t.over(t.ONE, a), 2)))
    lacking = known.lacking(t.less(t.ZERO, t.over(t.ONE, a)))
    assert lacking is not None
    assert lacking.statement == t.unequal(a, t.ZERO)
    assert known.lacking(t.And((t.less(a, b), t.less(t.ZERO, t.over(t.ONE, a))))) is not None
    assert known.lacking(t.Implies(t.less(a, t.ZERO), t.less(t.ZERO, t.over(t.ONE, a)))) is None
    assert known.lacking(t.Implies(t.at_most(a, t.ZERO), t.less(t.ZERO, t.over(t.ONE, a)))) is not None


def test_a_premise_is_known_in_its_branch_only_and_with_what_is_granted():
    known = Known([t.less(t.over(t.ONE, a), t.ONE)])
    assert known.lacking(t.Implies(t.less(b, t.ONE), t.less(t.over(t.ONE, a), b))) is None
    assert known.lacking(t.less(t.over(t.ONE, b), b)) is not None
    known.grant(Condition(t.unequal(b, t.ZERO), t.Power(b, -1)))
    assert known.lacking(t.less(t.over(t.ONE, b), b)) is None
    assert known.lacking(t.Implies(t.less(a, t.ONE), t.less(t.over(t.ONE, b), b))) is None


def test_signs_are_judged_as_written_and_rewritten():
    entry = read_term(Gram(1, symbols.i, symbols.j, decoder=Decoder(), inputs=Equicorrelated(alpha)))
    known = Known([t.less(t.ZERO, b), t.equal(entry, b)], {entry: b})
    assert known.positive(entry)
    assert known.positive(t.plus(entry, b))
    assert not known.positive(t.minus(entry, t.ONE))
    assert known.shows(t.unequal(entry, t.ZERO))
    assert known.shows(t.equal(t.minus(entry, b), t.ZERO))
    assert not Known([t.at_most(t.ZERO, b)], {entry: b}).positive(entry)
    assert Known([t.at_most(t.ZERO, b)], {entry: b}).positive(entry, strict=False)
    assert known.rewritten(t.Exp(t.Root(t.Power(entry, 2)))) == t.Exp(t.Root(t.Power(b, 2)))
    under = t.Sum(entry, t.Variable("k", t.Sort.POSITION), t.ONE, i)
    assert known.rewritten(under) == under


def test_rewriting_ends():
    known = Known([], {a: b, b: a})
    assert known.rewritten(a) in (a, b)


def test_conditions_are_met_throughout_their_ranges():
    pole = t.Power(t.minus(k, t.number(3)), -1)

    def met(known, statement, *ranges):
        return Known(known).meets(Condition(statement, pole, ranges))

    away = t.unequal(t.minus(k, t.number(3)), t.ZERO)
    k_ = t.Variable("k", t.Sort.POSITION)
    four = Range(k_, t.number(4), i)
    two = Range(k_, t.ONE, t.number(2))
    assert met([], away, four)
    assert met([], away, two)
    assert not met([], away, Range(k_, t.ONE, i))
    assert not met([t.less(k, t.number(2))], away, Range(k_, t.ONE, i))  # another k
    assert met([t.less(k, t.number(2))], away)
    assert not met([], away, two, Range(k_, t.ONE, i))  # the inner range counts
    assert met([], away, Range(k_, t.ONE, i), two)
    assert met([t.less(i, t.number(3))], away, Range(k_, t.ONE, i))  # what is known of the end


def test_a_granted_condition_is_about_its_own_ranges():
    k_ = t.Variable("k", t.Sort.POSITION)
    away = t.unequal(t.minus(k, t.number(3)), t.ZERO)
    condition = Condition(away, k_, (Range(k_, t.ONE, i),))
    known = Known([])
    known.grant(condition)
    assert known.meets(condition)
    assert not known.meets(Condition(away, k_))
    assert not known.meets(Condition(away, k_, (Range(k_, t.ONE, t.plus(i, t.ONE)),)))
    assert not known.meets(Condition(away, k_, (Range(k_, t.ONE, i), Range(k_, t.ONE, i))))


def test_integers_and_vectors():
    assert Known([]).holds(t.Integral(i))
    assert not Known([]).holds(t.Integral(a))
    law = t.Law("equicorrelated", a)
    given = t.Independent(law, i)
    assert Known([given]).independent(law, i)
    assert Known([given]).holds(t.Independent(law, i))
    assert not Known([given]).holds(t.Independent(law, t.plus(i, t.ONE)))
    assert Known([given, t.at_most(t.number(5), i)]).holds(t.Independent(law, t.number(5)))
    assert not Known([given]).holds(t.Independent(t.Law("equicorrelated", b), i))
    assert not Known([given]).independent(t.Law("sphere", a, i), i)


def test_what_independent_inputs_say_of_alpha():
    law = t.Law("equicorrelated", a)
    two, many = t.number(2), Known([t.Independent(law, i)])
    pair = Known([t.Independent(law, two)]).facts
    assert pair.is_positive(t.minus(t.ONE, a))
    assert pair.is_positive(t.plus(t.ONE, a))
    assert not pair.is_positive(t.times(t.number(-1), a), False)
    assert not pair.is_positive(a, False)
    above = t.times(t.minus(i, t.ONE), a)
    assert many.facts.is_positive(t.plus(t.ONE, above))
    assert not many.facts.is_positive(above, False)
    assert not many.facts.is_positive(t.minus(t.ONE, a))  # of a single input nothing is said
    assert not Known([t.Independent(t.Law("sphere", a, b), two)]).facts.is_positive(t.minus(t.ONE, a))
