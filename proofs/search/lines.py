"""The lines of a derivation that is being looked for, and what follows at once from its hypotheses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

from sympy import Add, Basic, Expr, Mul, Pow, Symbol
from sympy.core.relational import Relational

from maskproof.proofs.engines.derivations import check
from maskproof.proofs.kernel.known import Known, Rejected
from maskproof.proofs.terms.reading import Unreadable, read_statement
from maskproof.theory.derivation import Derivation, Step

Given = tuple[Basic, ...]  # hypotheses of a line alone
Labels = tuple[str, ...]


class NoIdea(Exception):
    """The search has nothing to offer; the message says what is missing."""


@lru_cache(maxsize=256)
def _known(hypotheses: Given) -> Known:
    return Known(map(read_statement, hypotheses))


@lru_cache(maxsize=8192)
def _follows(relation: Basic, hypotheses: Given) -> bool:
    return relation == True or _known(hypotheses).holds(read_statement(relation))  # noqa: E712  SymPy's true


def follows(relation: Basic, hypotheses: Iterable[Basic]) -> bool:
    """Whether ``relation`` follows at once; what the kernel can't read says no."""
    try:
        return _follows(relation, tuple(hypotheses))
    except Unreadable:
        return False


def put(statement: Basic, values: Mapping[Symbol, Expr]) -> Basic:
    """A statement with values put in, its relations not evaluated: x <= x stays a statement."""
    parts = (part.xreplace(dict(values)) if isinstance(part, Expr) else put(part, values) for part in statement.args)
    return statement.func(*parts, evaluate=False)


def _merges_roots(s: Basic, values: Mapping[Symbol, Expr]) -> bool:
    """Whether SymPy may make one root of several: sqrt(6) of sqrt(2) and sqrt(3), which the kernel tells apart."""
    roots = (p.base for p in s.atoms(Pow) if p.exp.is_Rational and not p.exp.is_Integer and p.base.free_symbols)
    return len({n for base in roots if (n := base.xreplace(dict(values))).is_number}) > 1


def _unevaluated(e: Basic, values: Mapping[Symbol, Expr]) -> Basic:
    """A formula with values put in, its arithmetic left undone as well."""
    if e in values:
        return values[e]  # type: ignore[index]
    if not e.args:
        return e
    parts = (_unevaluated(part, values) for part in e.args)
    return e.func(*parts, **({"evaluate": False} if isinstance(e, Add | Mul | Pow | Relational) else {}))


class Lines:
    """The lines found so far, under hypotheses that all share."""

    def __init__(self, hypotheses: Given) -> None:
        self.hypotheses = hypotheses
        self._steps: dict[str, Step] = {}
        self._labels: dict[tuple[object, ...], str] = {}
        self._lemmas: dict[str, Derivation] = {}
        self._derivations: dict[str, Derivation] = {}  # so that the kernel checks each once

    def add(
        self,
        statement: Basic,
        rule: str,
        premises: Iterable[str] = (),
        given: Given = (),
        hints: Mapping[str, object] | None = None,
    ) -> str:
        """A new line, or the one that says the same by the same rule; its label."""
        premises = tuple(dict.fromkeys(premises))
        key = (statement, rule, premises, given, str(hints))
        label = self._labels.get(key)
        if label is None:
            label = self._labels[key] = f"{len(self._steps) + 1}"
            self._steps[label] = Step(label, statement, rule, premises, given, hints or {})
        return label

    def cite(
        self,
        lemma: Derivation,
        step: str,
        values: Mapping[Symbol, Expr],
        given: Given = (),
        premises: Iterable[str] = (),
    ) -> str:
        """A line of a lemma with values put in."""
        self._lemmas[lemma.name] = lemma
        (line,) = [s for s in lemma.steps if s.label == step]
        hints = {"lemma": lemma.name, "step": step, "values": dict(values)}
        said = put(line.statement, values)
        if _merges_roots(line.statement, values):
            said = _unevaluated(line.statement, values)
        return self.add(said, "cite", premises, given, hints)

    def statement(self, label: str) -> Basic:
        """What a line says."""
        return self._steps[label].statement

    def given(self, label: str) -> Given:
        """The hypotheses of a line alone."""
        return self._steps[label].given

    def speaks_of(self, label: str, symbol: Symbol) -> bool:
        """Whether a symbol occurs in a line or in its own hypotheses."""
        step = self._steps[label]
        return any(symbol in s.free_symbols for s in (step.statement, *step.given))

    def follows(self, relation: Basic, given: Given = ()) -> bool:
        """Whether it follows at once from the hypotheses and ``given``."""
        return follows(relation, (*self.hypotheses, *given))

    def derivation(self, last: str) -> Derivation:
        """The lines that ``last`` rests on."""
        if last not in self._derivations:
            self._derivations[last] = self._ending(last)
        return self._derivations[last]

    def _ending(self, last: str) -> Derivation:
        needed: dict[str, None] = {}
        waiting = [last]
        while waiting:
            label = waiting.pop()
            if label not in needed:
                needed[label] = None
                waiting += self._steps[label].premises
        steps = tuple(step for label, step in self._steps.items() if label in needed)
        cited = {step.hints.get("lemma") for step in steps}
        lemmas = tuple(lemma for name, lemma in self._lemmas.items() if name in cited)
        return Derivation("found", "A derivation found by search", self.hypotheses, steps, lemmas)

    def objection(self, label: str) -> str:
        """What the kernel has against a line, in words; nothing if it stands."""
        try:
            check(self.derivation(label))
        except Rejected as reason:
            return str(reason)
        return ""
