"""Induction over the layer: what is supposed stays tied to its layer, and only the full argument sets it free."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sympy import Eq, Ge, Gt, Integer, Lt, Rational, Symbol

from maskproof.proofs.engines.derivations import check, prove
from maskproof.proofs.kernel.known import Rejected
from maskproof.theory import Claim, Decoder, Derivation, Equicorrelated, Gram, Step, alpha, averaging, i, j, k, l
from maskproof.theory.paper_forms import PAPER

ARGUMENT = averaging.every_layer()
MODEL = {"decoder": averaging.AVERAGING, "inputs": Equicorrelated(alpha)}
AT, FROM = {"at": l}, {"at": l, "from": Integer(1)}


def positive(layer, a=i, b=j):
    return Gt(Gram(layer, a, b, **MODEL), 0)


SUPPOSED = Step("P", positive(l), "suppose", hints=AT)
BASE = Step("P1", positive(1), "cite", hints={"lemma": "averaging-1", "step": "positive", "values": {}})


def derive(*steps, given=PAPER):
    return check(Derivation("test", "", given, steps, (averaging.first_layer(),)))


def altered(label, **changes):
    steps = [replace(s, **changes) if s.label == label else s for s in ARGUMENT.steps]
    check(replace(ARGUMENT, steps=tuple(steps)))


@pytest.mark.parametrize(
    ("base", "statement"),
    [
        (Integer(0), lambda x: Ge(x * (x - 2), 0, evaluate=False)),  # false at 1, which is no base and no successor
        (Rational(1, 2), lambda x: Ge((2 * x - 1) * (2 * x - 3), 0, evaluate=False)),  # false at 1, never reached
    ],
)
def test_the_base_is_a_value_of_the_variable(base, statement):
    steps = (
        Step("at", statement(l), "suppose", hints=AT),
        Step("base", statement(base), "sign"),
        Step("next", statement(l + 1), "sign"),
        Step("all", statement(l), "induction", ("at", "base", "next"), hints={"at": l, "from": base}),
    )
    check(Derivation("test", "", (), steps[:3]))
    with pytest.raises(Rejected, match=r"is not an integer|has no value"):
        check(Derivation("test", "", (), steps))


def simple(statement, variable=l, base=1, given=(), premises=("at", "base", "next")):
    """An argument whose step needs nothing supposed; ``given`` narrows what is supposed, and the step."""
    return (
        Step("P", statement(variable), "suppose", hints={"at": variable}),
        Step("at", statement(variable), "cite", ("P",), given=given),
        Step("base", statement(Integer(base) if isinstance(base, int) else base), "sign"),
        Step("next", statement(variable + 1), "sign", given=(Ge(variable, base), *given)),
        Step("all", statement(variable), "induction", premises, (Ge(variable, base), *given),
             hints={"at": variable, "from": Rational(base)}),
    )  # fmt: skip


def between(low, high):
    """Of a number, that it is not strictly between these."""
    return lambda x: Ge((x - low) * (x - high), 0, evaluate=False)


def test_a_simple_argument_checks():
    steps = simple(lambda x: Ge(x, 1, evaluate=False), premises=("P", "base", "next"))
    assert not check(Derivation("test", "", (), steps))["all"].supposed


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        # false for 1/4 < alpha < 3/4: no chain of steps by one from 0 comes there
        (simple(between(Rational(1, 4), Rational(3, 4)), alpha, 0, (), ("P", "base", "next")), "is not an integer"),
        # false at 1 alone; from 1/2 on, integers are 1, 2, ...
        (
            simple(between(Rational(1, 2), Rational(3, 2)), Symbol("q", integer=True), Rational(1, 2), (),
                   ("P", "base", "next")),
            "1/2 is not an integer",
        ),
        # false at 3 alone: known at 1, and at l + 1 for l >= 3
        (simple(between(Rational(5, 2), Rational(7, 2)), given=(Ge(l, 3),)), "is not supposed"),
        (simple(lambda x: Ge(x, 1, evaluate=False), premises=("P", "base", "next", "P")), "are not the statements"),
    ],
)  # fmt: skip
def test_what_the_steps_do_not_reach_is_not_shown(steps, said):
    with pytest.raises(Rejected, match=said):
        check(Derivation("test", "", (), steps))


@pytest.mark.parametrize(("variable", "given", "said"), [(alpha, (), "integer"), (l, (Ge(l, 3),), "a hypothesis lets")])
def test_what_can_be_supposed(variable, given, said):
    step = Step("P", positive(l), "suppose", given=given, hints={"at": variable})
    with pytest.raises(Rejected, match=said):
        derive(step)


def test_the_argument_checks():
    lines = check(ARGUMENT)
    assert not lines["positive"].supposed
    assert not lines["minor"].supposed
    assert lines["positive-next"].supposed


@pytest.mark.parametrize(
    ("label", "changes"),
    [
        ("positive", {"hints": {"at": l, "from": Integer(2)}}),  # the base is layer one
        ("positive", {"hints": {"at": i, "from": Integer(1)}}),
        ("positive", {"premises": ("positive-l", "minor-l", "positive-1", "minor-1", "minor-next", "positive-next")}),
        ("minor", {"premises": ("minor-l", "minor-1", "minor-next")}),  # it rests on positive entries, too
        ("positive", {"premises": ("positive-l", "minor-l", "positive-l", "minor-l", "positive-next", "minor-next")}),
        ("positive", {"premises": ("positive-l", "minor-l", "positive-1", "minor-1", "positive-l", "minor-l")}),
        ("positive", {"premises": ("positive-1", "minor-1", "positive-1", "minor-1", "positive-1", "minor-1")}),
        ("positive", {"premises": ("positive-l", "minor-l", "positive-1", "minor-1", "positive-next")}),
        ("positive", {"premises": ()}),
        ("positive", {"statement": Gt(Gram(l, i, j, **MODEL), 1)}),
        ("positive", {"statement": positive(l + 1)}),
        ("minor", {"given": ()}),
        ("minor-l", {"given": (*averaging._ORDERED, Lt(i, j))}),  # supposed for fewer positions than it is used at
        ("positive-l", {"hints": {"at": alpha}}),
        ("positive-l", {"given": (Ge(l, 3),)}),
        ("positive-next", {"given": (Lt(j, i),)}),  # shown for fewer positions than supposed
    ],
)
def test_a_gap_in_the_argument_is_seen(label, changes):
    with pytest.raises(Rejected):
        altered(label, **changes)


def test_a_supposition_proves_nothing_by_itself():
    claim = Claim("claim", positive(l), Ge(alpha, 0) & Lt(alpha, 1), averaging.AVERAGING)
    with pytest.raises(Rejected, match="supposition"):
        prove(claim, Derivation("test", "", PAPER, (SUPPOSED,)))
    again = Step("Q", positive(l, k, j), "cite", ("P",), hints={"values": {i: k}})
    assert derive(SUPPOSED, again)["Q"].supposed
    other = Claim("claim", positive(l, k, j), Ge(alpha, 0) & Lt(alpha, 1), averaging.AVERAGING)
    with pytest.raises(Rejected, match="supposition"):
        prove(other, Derivation("test", "", PAPER, (SUPPOSED, again)))


@pytest.mark.parametrize("value", [l + 1, Integer(1), Integer(7), Symbol("q", integer=True, positive=True)])
def test_a_supposition_is_about_one_layer(value):
    with pytest.raises(Rejected, match="rests on a supposition"):
        derive(SUPPOSED, Step("Q", positive(value), "cite", ("P",), hints={"values": {l: value}}))


def test_a_supposition_about_one_layer_passes_through_lemmas():
    lemma = Derivation("lemma", "", PAPER, (SUPPOSED,))
    step = Step("Q", positive(l + 1), "cite", hints={"lemma": "lemma", "step": "P", "values": {l: l + 1}})
    with pytest.raises(Rejected, match="rests on a supposition"):
        check(Derivation("test", "", PAPER, (step,), (lemma,)))
    same = Step("Q", positive(l), "cite", hints={"lemma": "lemma", "step": "P"})
    assert check(Derivation("test", "", PAPER, (same,), (lemma,)))["Q"].supposed


def test_the_step_must_lead_from_each_layer_to_the_next():
    """P(l) gives P(l): that is no step."""
    gap = Step("again", positive(l), "cite", ("P",))
    with pytest.raises(Rejected, match="is not"):
        derive(SUPPOSED, BASE, gap, Step("all", positive(l), "induction", ("P", "P1", "again"), hints=FROM))


def test_another_model_is_not_carried_along():
    own = {"decoder": Decoder(beta=0, residual=1), "inputs": Equicorrelated(alpha)}
    statement = Gt(Gram(l, i, j, **own), 0)
    with pytest.raises(Rejected):
        altered("positive-l", statement=statement)


def test_an_equation_for_the_layer_does_not_free_it():
    step = Step("Q", positive(3), "equals", ("P",), (Eq(l, 3),))
    assert derive(SUPPOSED, step)["Q"].supposed
