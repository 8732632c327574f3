"""What is understood of a claim's variables without being said: a claim is about models that exist.

Where the domain does not mention the parameters of a model, they range over all values at which it has a meaning: alpha
over those with linearly independent inputs, the width over those that normalisation allows. Where the domain does
mention them it is meant literally, and a point without a model is a point at which the statement has no value.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from proofs.terms import terms as t
from proofs.terms.conditions import obvious, of_parameters


def understood(statement: t.Statement, domain: t.Statement) -> tuple[t.Statement, ...]:
    """The hypotheses that come with the models of ``statement``, each once."""
    said = domain.free
    found = (h for h in _hypotheses(statement, {}) if not obvious(h) and _parameters(h) and not _parameters(h) & said)
    return tuple(dict.fromkeys(found))


def _parameters(hypothesis: t.Statement) -> frozenset[t.Variable]:
    return hypothesis.law.free if isinstance(hypothesis, t.Independent) else hypothesis.free


def _hypotheses(node: t.Node, ends: Mapping[t.Variable, t.Term]) -> Iterator[t.Statement]:
    """Of every quantity below; ``ends`` gives the last value of a bound position."""
    if isinstance(node, t.Binder):
        yield from _hypotheses(node.low, ends)
        yield from _hypotheses(node.high, ends)
        yield from _hypotheses(node.body, {**ends, node.index: t.substitute(node.high, ends)})
        return
    if isinstance(node, t.Limit):  # a limit speaks of all positions far out: no single count will do
        yield from (h for h in _hypotheses(node.body, ends) if node.variable not in h.free)
        return
    if isinstance(node, t.Entry | t.Input):
        law = node.model.law if isinstance(node, t.Entry) else node.law
        if isinstance(node, t.Entry):
            yield from of_parameters(node.model)
        tokens = node.model.tokens if isinstance(node, t.Entry) else None
        for count in (node.query, node.key) if tokens is None else (tokens,):
            if law.kind == "equicorrelated" and _rises(count, ends):
                yield t.Independent(law, t.substitute(count, ends))
    for part in node.parts:
        yield from _hypotheses(part, ends)


def _rises(count: t.Term, ends: Mapping[t.Variable, t.Term]) -> bool:
    """Whether a position is largest where the bound variables in it are."""
    match count:
        case t.Add(terms=terms):
            return all(_rises(term, ends) for term in terms)
        case t.Variable() | t.Number():
            return True
    return not count.free & set(ends)
