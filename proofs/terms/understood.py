"""What is understood of a claim's variables without being said: a claim is about models that exist.

Where the domain does not mention the parameters of a model, they range over all values at which it has a meaning: alpha
over those with linearly independent inputs, the width over those that normalisation allows. Where the domain does
mention them it is meant literally, and a point without a model is a point at which the statement has no value.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from maskproof.proofs.terms import terms as t
from maskproof.proofs.terms.conditions import obvious, of_parameters


def understood(statement: t.Statement, domain: t.Statement) -> tuple[t.Statement, ...]:
    """The hypotheses that come with the models of ``statement``, each once."""
    said = domain.free
    found = (h for h in _hypotheses(statement, {}) if not obvious(h) and _parameters(h) and not _parameters(h) & said)
    return tuple(dict.fromkeys(found))


def _parameters(hypothesis: t.Statement) -> frozenset[t.Variable]:
    return hypothesis.law.free if isinstance(hypothesis, t.Independent) else hypothesis.free


def _hypotheses(node: t.Node, ends: Mapping[t.Variable, t.Term | None]) -> Iterator[t.Statement]:
    """Of every quantity below; ``ends`` gives the last value of a bound position, None where that is not plain."""
    if isinstance(node, t.Binder):
        yield from _hypotheses(node.low, ends)
        yield from _hypotheses(node.high, ends)
        yield from _hypotheses(node.body, {**ends, node.index: _last(node.high, ends)})
        return
    if isinstance(node, t.Limit):  # it speaks of all positions far out: no single count will do
        ends = {**ends, node.variable: None}
    if isinstance(node, t.Entry | t.Input):
        law = node.model.law if isinstance(node, t.Entry) else node.law
        tokens = node.model.tokens if isinstance(node, t.Entry) else None
        if isinstance(node, t.Entry):
            yield from (h for h in of_parameters(node.model) if not h.free & set(ends))
        for count in (node.query, node.key) if tokens is None else (tokens,):
            last = _last(count, ends)
            if last is not None and law.kind == "equicorrelated" and not law.free & set(ends):
                yield t.Independent(law, last)
    for part in node.parts:
        yield from _hypotheses(part, ends)


def _last(count: t.Term, ends: Mapping[t.Variable, t.Term | None]) -> t.Term | None:
    """The largest value of a position, where it is plainly taken at the ends of the bound variables in it."""
    if not count.free & set(ends):
        return count
    match count:
        case t.Variable():
            return ends[count]
        case t.Add(terms=terms):
            last = [_last(term, ends) for term in terms]
            return None if None in last else t.Add(tuple(last))  # type: ignore[arg-type]
    return None
