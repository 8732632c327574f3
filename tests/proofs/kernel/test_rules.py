"""What every rule is told: its premises and hints; and what is no fault of a proof."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
import sympy
from sympy import Eq, Ge, Gt, Integer, Lt

from maskproof.proofs.kernel.algebra import Undecided
from maskproof.proofs.kernel.checking import RULES
from maskproof.proofs.kernel.goals import _is_of
from maskproof.proofs.kernel.known import Rejected, demand
from maskproof.proofs.terms import terms as t
from maskproof.proofs.terms.derivatives import NotSmooth
from maskproof.proofs.terms.reading import read_term
from maskproof.theory.derivation import Step
from maskproof.theory.symbols import alpha, beta, i, j, lam
from tests.proofs.kernel.steps import derive, shown

HERE = Path(__file__).parent
NEEDED = {
    "decreasing": {"at"},
    "minors": {"at"},
    "suppose": {"at"},
    "induction": {"at", "from"},
    "product": {"factor"},
    "quotient": {"numerator"},
}
OPTIONS = {"cite": {"lemma", "step", "values"}, "sign": {"form"}, "independence": {"at"}}
COUNTS = {
    "termwise": 1,
    "positive_sum": 1,
    "implication": 1,
    "equals": 1,
    "decreasing": 1,
    "minors": 3,
    "limit_of_equal": 2,
    "limit_of_square": 1,
    "suppose": 0,
}
TRUE = Ge(lam, 0, evaluate=False)


def told(rule):
    """Hints of the right types for a rule."""
    one = rule in ("independence", "suppose", "induction")
    kinds = {"at": i if one else (i, j), "factor": alpha, "numerator": alpha, "from": Integer(1)}
    return {name: kinds[name] for name in NEEDED.get(rule, ())}


def step(rule, premises=0, hints=None):
    facts = [Step(f"{n}", TRUE, "hypothesis") for n in range(premises)]
    labels = tuple(fact.label for fact in facts)
    derive(*facts, Step("goal", Eq(alpha, alpha, evaluate=False), rule, labels, hints=hints or {}))


def test_every_rule_has_tests():
    sources = "".join(
        path.read_text(encoding="utf-8") for path in HERE.glob("test_*.py") if path.name != "test_rules.py"
    )
    for rule in RULES:
        assert f'"{rule}"' in sources, rule


def test_every_rule_says_what_it_shows():
    assert all(rule.__doc__ for rule in RULES.values())


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_takes_no_other_hints(rule):
    with pytest.raises(Rejected, match="the rule has no hint 'value'"):
        step(rule, COUNTS.get(rule, 0), {**told(rule), "value": alpha})


@pytest.mark.parametrize(("rule", "name"), [(rule, name) for rule, names in NEEDED.items() for name in sorted(names)])
def test_a_missing_hint_is_named(rule, name):
    with pytest.raises(Rejected, match=f"the rule needs the hint '{name}'"):
        step(rule, COUNTS.get(rule, 0), {other: hint for other, hint in told(rule).items() if other != name})


@pytest.mark.parametrize("rule", COUNTS)
def test_premises_are_counted(rule):
    for number in {COUNTS[rule] - 1, COUNTS[rule] + 1} - {-1}:
        with pytest.raises(Rejected, match=rf"the rule has {COUNTS[rule]} premises, not {number}"):
            step(rule, number, told(rule))


@pytest.mark.parametrize(("rule", "hints"), [
    ("decreasing", {"at": alpha}), ("decreasing", {"at": ("x", "y")}), ("decreasing", {"at": (alpha, "y")}),
    ("minors", {"at": i}),
    ("independence", {"at": Integer(1)}), ("independence", {"at": (i,)}), ("product", {"factor": "alpha"}),
    ("quotient", {"numerator": (alpha,)}), ("sign", {"form": "alpha"}), ("cite", {"lemma": alpha}),
    ("cite", {"values": (alpha, beta)}), ("cite", {"values": alpha}), ("cite", {"values": "alpha"}),
    ("cite", {"step": (alpha,)}), ("product", {"factor": {alpha: beta}}), ("decreasing", {"at": {alpha: beta}}),
])  # fmt: skip
def test_hints_have_a_type(rule, hints):
    with pytest.raises(Rejected, match="is of another kind"):
        step(rule, COUNTS.get(rule, 0), hints)


def test_hints_are_what_is_declared():
    """The two lists above are complete: with just these hints no rule complains of a hint."""
    optional = {"at": i, "form": alpha, "lemma": "l", "step": "s", "values": {}}
    for rule in RULES:
        hints = {name: optional[name] for name in OPTIONS.get(rule, ())}
        try:
            step(rule, COUNTS.get(rule, 0), {**told(rule), **hints})
        except Rejected as reason:
            assert "hint '" not in str(reason), rule  # noqa: PT017


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule not in COUNTS and rule != "cite"])
def test_premises_bring_no_hypotheses_along(rule):
    """Except in rules that say which hypotheses of a premise they discharge."""
    lost = Step("p", Gt(lam, 5), "hypothesis", given=(lam > 5,))
    for statement in (Eq(alpha, alpha, evaluate=False), Lt(lam, 6), Gt(lam, 4)):
        with pytest.raises(Rejected, match=rf"\({rule}\)"):
            derive(lost, Step("goal", statement, rule, ("p",), hints=told(rule)))


@pytest.mark.parametrize("fault", [AttributeError, TypeError, KeyError, ValueError, AssertionError, ZeroDivisionError])
def test_a_fault_in_a_rule_is_no_wrong_proof(monkeypatch, fault):
    def broken(goal):
        raise fault("a fault of the kernel")

    monkeypatch.setitem(RULES, "sign", broken)
    with pytest.raises(fault, match="a fault of the kernel"):
        shown(TRUE, "sign")


@pytest.mark.parametrize("reason", [Rejected("no"), Undecided("no"), t.Capture("no"), NotSmooth("no")])
def test_what_is_rejected_says_where(monkeypatch, reason):
    def rejecting(goal):
        raise reason

    monkeypatch.setitem(RULES, "sign", rejecting)
    with pytest.raises(Rejected, match=r"^test, step goal \(sign\): no$"):
        shown(TRUE, "sign")


@pytest.mark.parametrize("condition", [1, "yes", None, sympy.true, [1]])
def test_only_true_is_true(condition):
    """A condition that a formula or a number stands for has not been decided."""
    with pytest.raises(Rejected, match="reason"):
        demand(condition, "reason")
    demand(True, "reason")


def test_the_kernel_looks_at_the_parts_of_a_hint_itself():
    """Whoever reads a derivation for it, a hint of another kind is no hint."""
    x, y = read_term(alpha), read_term(beta)
    for hint, kind, right in (
        ({x: y}, Mapping, True), ({x: t.ONE}, Mapping, True), ({t.ONE: x}, Mapping, False), ({x: 1}, Mapping, False),
        ({x: y, y: "z"}, Mapping, False), ({x: y}, tuple, False), ((x, y), tuple, True), ((x, 1), tuple, False),
        ((x, y), Mapping, False), (x, t.Variable, True), (t.ONE, t.Variable, False),
    ):  # fmt: skip
        assert _is_of(hint, kind) is right
