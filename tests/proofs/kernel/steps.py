"""Steps of derivations, one at a time, put to the kernel."""
# ruff: noqa: N802  (the quantities keep the letters they have in the paper)

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from sympy import Symbol

from maskproof.proofs.engines.derivations import check
from maskproof.proofs.kernel.known import Rejected
from maskproof.theory.decoder import Decoder
from maskproof.theory.derivation import Derivation, Step
from maskproof.theory.inputs import Equicorrelated, Inputs
from maskproof.theory.quantities import Gram, InputGram, Mix, Score, Weight
from maskproof.theory.symbols import alpha, beta, lam

l = Symbol("l", integer=True, positive=True)  # noqa: E741
X = Equicorrelated(alpha)
D = Decoder(beta=beta, residual=lam)
MODEL: dict[str, Any] = {"decoder": D, "inputs": X}


def S(layer, a, b, **model):
    return Score(layer, a, b, **{**MODEL, **model})


def A(layer, a, b, **model):
    return Weight(layer, a, b, **{**MODEL, **model})


def M(layer, a, b, **model):
    return Mix(layer, a, b, **{**MODEL, **model})


def G(layer, a, b, **model):
    return Gram(layer, a, b, **{**MODEL, **model})


def K(a, b, law: Inputs = X):
    return InputGram(a, b, law)


def derive(*steps: Step, given=(), lemmas=()):
    return check(Derivation("test", "Test", tuple(given), steps, tuple(lemmas)))


def shown(statement, rule, *premises, given=(), hints=None, assume=()):
    """Check one step; ``assume`` are premises, taken as hypotheses."""
    facts = [Step(f"p{n}", p, "hypothesis") for n, p in enumerate((*premises, *assume))]
    labels = tuple(step.label for step in facts)
    derive(*facts, Step("goal", statement, rule, labels, hints=hints or {}), given=(*premises, *assume, *given))


def rejected(statement, rule, *premises, match="", **options):
    """That the last step is rejected, by its own rule or for want of a value."""
    with pytest.raises(Rejected, match=rf"step goal \({rule}\).*{match}"):
        shown(statement, rule, *premises, **options)


def altered(derivation: Derivation, rule: str, *more: Step, **changes):
    """Check the derivation up to the step by ``rule``, with this step changed and ``more`` put in before it."""
    place = [step.rule for step in derivation.steps].index(rule)
    steps = (*derivation.steps[:place], *more, replace(derivation.steps[place], **changes))
    return check(replace(derivation, steps=steps))


def refused(derivation: Derivation, rule: str, *more: Step, **changes):
    """That it is this step, so changed, that is rejected."""
    with pytest.raises(Rejected, match=rf"\({rule}\)"):
        altered(derivation, rule, *more, **changes)
