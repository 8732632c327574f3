"""Rules of finite sums."""

from __future__ import annotations

from maskproof.proofs.formal.lemma import Lemma, apply_lemma
from maskproof.proofs.formal.step import Step, by_definition, script
from maskproof.proofs.formal.text import (
    argument,
    integer,
    natural,
    real,
)
from maskproof.proofs.kernel.known import Known
from maskproof.proofs.terms import terms as t
from maskproof.proofs.terms.terms import (
    ONE,
    Term,
    at_most,
    minus,
    number,
    plus,
    substitute,
    times,
)


@script
def equicorrelated_sum(step: Step) -> str:
    """By the lemma about double sums, after the summand is written as it has it."""
    left, _ = step.sides
    assert isinstance(left, t.Sum)
    assert isinstance(left.body, t.Sum)
    k, i, l, j = left.body.index, left.body.high, left.index, left.high  # noqa: E741
    factors = left.body.body.factors if isinstance(left.body.body, t.Mul) else (left.body.body,)
    entry = next(f for f in factors if isinstance(f, t.Input))
    rest = [f for f in factors if f is not entry]
    a = times(*(f for f in rest if l not in f.free))
    b = substitute(times(*(f for f in rest if l in f.free)), {l: k})
    both = times(entry.law.alpha, t.Sum(a, k, ONE, i), t.Sum(b, k, ONE, j))
    form = plus(both, times(minus(ONE, entry.law.alpha), t.Sum(times(a, b), k, ONE, j)))
    f, g = (f"(fun {k.name} : nat => {real(e)})" for e in (a, b))
    alpha = argument(entry.law.alpha)
    law = (
        f"etransitivity; [|exact (equicorrelated_double {alpha} {f} {g} {natural(i)} {natural(j)} ltac:(lia))]; "
        "first [reflexivity | (apply sum_ext; intros ? ?; apply sum_ext; intros ? ?; equation)]"
    )
    return by_definition(step, form, law)


@script
def split_last(step: Step) -> str:
    """By the lemma about the last term."""
    left, _ = step.sides
    assert isinstance(left, t.Sum)
    before = t.Sum(left.body, left.index, left.low, plus(left.high, number(-1)))
    form = plus(before, substitute(left.body, {left.index: left.high}))
    f = f"(fun {left.index.name} : nat => {real(left.body)})"
    last = f"pose proof (sum_last {f} {natural(left.high)} ltac:(lia)) as H"
    law = f"let H := fresh in {last}; cbv beta in H; first [exact H | transport H]"
    return by_definition(step, form, law)


@script
def constant_sum(step: Step) -> str:
    """By the lemma about sums of a constant."""
    left, _ = step.sides
    assert isinstance(left, t.Sum)
    count = plus(minus(left.high, left.low), ONE)
    return by_definition(step, times(count, left.body), "rewrite sum_const; equation")


@script
def linear_sum(step: Step) -> str:
    """By the lemma about constant factors."""
    left, _ = step.sides
    assert isinstance(left, t.Sum)
    factors = left.body.factors if isinstance(left.body, t.Mul) else (left.body,)
    outside = times(*(f for f in factors if left.index not in f.free))
    inside = times(*(f for f in factors if left.index in f.free))
    form = times(outside, t.Sum(inside, left.index, left.low, left.high))
    f = f"(fun {left.index.name} : nat => {real(inside)})"
    scaled = f"exact (sum_scal {argument(outside)} {f} {natural(left.high)})"
    law = f"etransitivity; [|etransitivity; [{scaled}|equation]]; first [reflexivity | sums]"
    return by_definition(step, form, law)


@script
def termwise(step: Step) -> str:
    """By extensionality, from the premise under the sum."""
    left, _ = step.sides
    assert isinstance(left, t.Sum)
    (lemma,) = step.premises.values()
    start = _under(step, lemma, left.index, left.high)
    return f"apply sum_ext. {start} first [exact T_{left.index.name} | transport T_{left.index.name}]."


@script
def positive_sum(step: Step) -> str:
    """By the lemma about sums of positive terms, from the premise under the sums."""
    _, term = step.sides
    (lemma,) = step.premises.values()
    spans = []
    while isinstance(term, t.Sum):
        spans.append(term)
        term = term.body
    indices = [s.index for s in spans]
    inner = step.proof.inside(
        Known((*step.goal.ordered, *(h for s in spans for h in (at_most(ONE, s.index), at_most(s.index, s.high)))))
    )
    sentences = []
    for s in spans:
        v = s.index.name
        inner.assume(f"(1 <= {v})%nat", f"S_{v}")
        sentences.append(
            f"apply sum_pos; [lia|]. intros {v} [S_{v} U_{v}]. "
            f"assert (R_{v} : ({integer(s.index)} <= {integer(s.high)})%Z) by lia."
        )
    applied = apply_lemma(inner, lemma, {}, step.scope | set(indices))
    return " ".join(
        (*sentences, "reals.", *inner.lines, f"pose proof ({applied}) as T. first [exact T | transport T].")
    )


def _under(step: Step, lemma: Lemma, index: t.Variable, high: Term) -> str:
    """Sentences that show the premise for ``index`` from 1 to ``high``, after its introduction."""
    inner = step.proof.inside(Known((*step.goal.ordered, at_most(ONE, index), at_most(index, high))))
    inner.assume(f"(1 <= {index.name})%nat", f"S_{index.name}")
    applied = apply_lemma(inner, lemma, {}, step.scope | {index})
    return " ".join(
        (
            f"intros {index.name} [S_{index.name} U_{index.name}].",
            f"assert (R_{index.name} : ({integer(index)} <= {integer(high)})%Z) by lia. reals.",
            *inner.lines,
            f"pose proof ({applied}) as T_{index.name}.",
        )
    )
