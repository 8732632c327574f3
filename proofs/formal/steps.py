"""One script for each rule of the kernel: how Coq shows a step from the lemmas of its premises."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from proofs.formal.proof import BY, Proof, Unproved, bare_relation
from proofs.formal.text import (
    Unprintable,
    binders,
    existences,
    integer,
    is_integer,
    linear,
    natural,
    proposition,
    real,
    sort_hypothesis,
)
from proofs.kernel.algebra import Field, alike, canonical, identical
from proofs.kernel.goals import Goal, Line, Supposition
from proofs.kernel.known import Known, rewrite
from proofs.terms import terms as t
from proofs.terms.derivatives import derivative as differentiated
from proofs.terms.terms import (
    ONE,
    ZERO,
    Relation,
    Statement,
    Term,
    at_most,
    less,
    minus,
    number,
    over,
    plus,
    substitute,
    times,
)


@dataclass(frozen=True)
class Lemma:
    """A line as Coq states it: for all variables, from the hypotheses and what is supposed, the statement."""

    name: str
    variables: tuple[t.Variable, ...]
    hypotheses: tuple[Statement, ...]
    statement: Statement
    supposed: tuple[Supposition, ...] = ()

    @staticmethod
    def of(name: str, line: Line) -> Lemma:
        """The lemma for a line."""
        free = line.statement.free.union(*(h.free for h in line.hypotheses), (s.fixed for s in line.supposed))
        variables = tuple(sorted(free, key=lambda v: (not v.sort.integral, v.name)))
        supposed = tuple(sorted(line.supposed, key=lambda s: Lemma.supposing("", s).says()))
        return Lemma(name, variables, tuple(sorted(line.hypotheses, key=proposition)), line.statement, supposed)

    @staticmethod
    def supposing(name: str, s: Supposition) -> Lemma:
        """What is supposed at the value of one variable, as a lemma about all others."""
        lemma = Lemma.of(name, Line(s.statement, s.hypotheses))
        return replace(lemma, variables=tuple(v for v in lemma.variables if v != s.fixed))

    def says(self, conclusion: str | None = None, between: str = " ") -> str:
        """The proposition, with its own conclusion or another."""
        sorts = [h for v in self.variables if (h := sort_hypothesis(v)) is not None]
        supposed = [f"({Lemma.supposing('', s).says()})" for s in self.supposed]
        parts = [*sorts, *map(proposition, self.hypotheses), *supposed, conclusion or proposition(self.statement)]
        quantified = f"forall {binders(list(self.variables))},{between}" if self.variables else ""
        return quantified + f" ->{between}".join(parts)

    def text(self, name: str | None = None, conclusion: str | None = None) -> str:
        """The sentence that states it, under its own name or another, with its own conclusion or another."""
        return f"Lemma {name or self.name} : {self.says(conclusion, NEW_LINE)}."

    def intro(self, proof: Proof) -> str:
        """The introduction of variables and hypotheses, which ``proof`` then knows by name."""
        names = [v.name for v in self.variables]
        for v in self.variables:
            prop = sort_hypothesis(v)
            if prop is not None:
                names.append(f"S_{v.name}")
                proof.assume(prop, names[-1])
        for place, h in enumerate(self.hypotheses, 1):
            names.append(f"H_{place}")
            proof.assume(proposition(h), names[-1])
        for place, s in enumerate(self.supposed, 1):
            names.append(f"I_{place}")
            proof.assume(Lemma.supposing("", s).says(), names[-1])
        return f"intros {' '.join(names)}." if names else "intros."


_DEFAULT = {t.Sort.REAL: "0", t.Sort.NONNEGATIVE: "0", t.Sort.POSITIVE: "1", t.Sort.INTEGER: "0%Z"}


def apply_lemma(proof: Proof, lemma: Lemma, values: Mapping[t.Variable, Term], scope: frozenset[t.Variable]) -> str:
    """Name of the lemma, put at ``values``, its hypotheses shown; the statement is as Coq instantiates it."""
    arguments = []
    for v in lemma.variables:
        if v in values:
            arguments.append(natural(values[v]) if v.sort.integral else _bracketed(real(values[v])))
        elif v in scope:
            arguments.append(v.name)
        else:
            arguments.append(_DEFAULT.get(v.sort, "1%nat"))
    full = {v: values.get(v, v if v in scope else number(int(_DEFAULT.get(v.sort, "1")[0]))) for v in lemma.variables}
    needed: list[str] = []
    for v in lemma.variables:
        prop = sort_hypothesis(v)
        if prop is None:
            continue
        if prop in proof.names and v not in values:
            needed.append(proof.names[prop])
        elif v.sort.integral:
            needed.append("ltac:(lia)")
        elif v not in values or is_integer(full[v]):
            needed.append("ltac:(lra)")
        else:
            relation = less if v.sort is t.Sort.POSITIVE else at_most
            name = proof.prove(relation(ZERO, full[v]))
            needed.append(name)
    for h in lemma.hypotheses:
        name = proof.prove(substitute(h, full))
        moved = any(v in h.free for v in full if full[v] != v)
        needed.append(f"ltac:(first [exact {name} | transport {name} | lia])" if moved else name)
    for s in lemma.supposed:
        said = Lemma.supposing("", s).says()
        if said not in proof.names:
            raise Unproved(f"{lemma.name} rests on a supposition that is not made here")
        needed.append(proof.names[said])
    return " ".join((lemma.name, *arguments, *needed))


def _bracketed(written: str) -> str:
    return written if written[0] == "(" or " " not in written else f"({written})"


class Step:
    """A step to be shown: its goal, the lemmas that are there, and the proof so far."""

    def __init__(
        self,
        goal: Goal,
        lemma: Lemma,
        premises: Mapping[str, Lemma],
        cited: Lemma | None,
        use_values: Callable[[Proof, frozenset[t.Variable]], None] = lambda *_: None,
    ) -> None:
        self.goal, self.lemma, self.cited, self.use_values = goal, lemma, cited, use_values
        self.scope = frozenset(lemma.variables)
        self.proof = Proof(Known(goal.hypotheses))
        self.proof.add(lemma.intro(self.proof))
        self.premises = premises
        self.proof.learn(goal.hypotheses)

    def use_premises(self) -> None:
        """Assert the premises whose hypotheses follow; their equations serve for rewriting."""
        usable = []
        for lemma, line in zip(self.premises.values(), self.goal.premises, strict=True):
            if all(map(self.goal.assumed.holds, line.hypotheses)):
                self.proof.state(lemma.statement, f"exact ({apply_lemma(self.proof, lemma, {}, self.scope)})")
                usable.append(lemma.statement)
        self.proof.equations.clear()
        self.proof.learn(usable)
        self.proof.known = self.goal.known

    def write(self, rule: str) -> list[str]:
        """The sentences of the proof.

        Raises:
            Unproved, Unprintable: the exporter does not know how.
        """
        self.proof.add("reals.")
        last = SCRIPTS[rule](self)
        if rule not in ("derivative", "cite") and existences(self.goal.statement):
            last = f"repeat (split; [assumption|]); {last}"
        return [*self.proof.lines, last if last.endswith(("}", ".")) else f"{last}."]

    @property
    def sides(self) -> tuple[Term, Term]:
        """Left and right side of the goal."""
        assert isinstance(self.goal.statement, Relation)
        return self.goal.statement.left, self.goal.statement.right


_OR = " \\/ "
NEW_LINE = "\n  "

Script = Callable[[Step], str]
SCRIPTS: dict[str, Script] = {}


def script(write: Script) -> Script:
    """Register a script under the name of its rule."""
    SCRIPTS[write.__name__.rstrip("_")] = write
    return write


def _by_definition(step: Step, definition: Term, law: str) -> str:
    """Goal a = b, where ``law`` shows a = ``definition``."""
    left, right = step.sides
    name = step.proof.have(f"({real(left)} = {real(definition)})", f"{law}", "D")
    proved = step.proof.equation(definition, right, rewriting=True)
    return f"try rewrite {name}; {proved}" if proved != "reflexivity" else f"exact {name}"


def _gram_before(entry: t.Entry, i: Term, j: Term) -> Term:
    if entry.layer == ONE:
        return t.Input(i, j, entry.model.law)
    return t.Entry("gram", canonical(minus(entry.layer, ONE)), i, j, entry.model)


def _stretch(entry: t.Entry, i: Term) -> Term:
    """By what the vector of token i is multiplied before attention."""
    if entry.model.norm == "none":
        return ONE
    value = t.Root(entry.model.width) if entry.model.norm == "layernorm" and entry.model.width is not None else ONE
    return over(value, t.Root(_gram_before(entry, i, i)))


@script
def hypothesis(step: Step) -> str:
    """By what the hypotheses give."""
    return f"exact {step.proof.prove(step.goal.statement)}"


@script
def cite(step: Step) -> str:
    """By the cited lemma, put at its values."""
    hints, proof = step.goal.hints, step.proof
    labels = list(step.premises.values())
    lines = list(step.goal.premises)
    if "lemma" in hints:
        lemma = step.cited
    else:
        lemma, labels, lines = labels[0], labels[1:], lines[1:]
    assert lemma is not None
    for other in labels:
        proof.state(other.statement, f"exact ({apply_lemma(proof, other, {}, step.scope)})")
    proof.known = Known((*step.goal.hypotheses, *(other.statement for other in labels)))
    values = {v: ordered(value) if v.sort.integral else value for v, value in hints.get("values", {}).items()}
    applied = apply_lemma(proof, lemma, values, step.scope)
    shown = substitute(lemma.statement, values)
    if proposition(shown) != proposition(step.goal.statement) and not proof.divides(shown):
        step.use_values(proof, step.scope)
    return conclude(proof, lemma.statement, values, shown, step.goal.statement, applied)


def ordered(place: Term) -> Term:
    """A position written in the order in which ``natural`` prints it, so that INR of it comes out alike."""
    coefficients, constant = linear(place)
    parts = sorted(coefficients.items(), key=lambda item: (item[1] < 0, item[0].name))
    written = [v if c == 1 else times(number(c), v) for v, c in parts]
    return plus(*written, *([number(constant)] if constant or not written else []))


def conclude(
    proof: Proof, line: Statement, values: Mapping[t.Variable, Term], shown: Statement, wanted: Statement, applied: str
) -> str:
    """Close the goal ``wanted`` by the applied lemma, which says ``shown`` once positions are written in one form."""
    name = proof.fresh("C")
    proof.add(f"pose proof ({applied}) as {name}.")
    for raw, written in moved_positions(line, values):
        proof.add(f"try replace {raw} with {written} in {name} by lia.")
    if proposition(shown) == proposition(wanted):
        return f"first [exact {name} | transport {name} | {_split(proof, shown, wanted, name)}]"
    return _split(proof, shown, wanted, name)


def _split(proof: Proof, shown: Statement, wanted: Statement, name: str) -> str:
    """A script for ``wanted`` from ``name``, a proof of ``shown``."""
    if isinstance(wanted, t.And) and isinstance(shown, t.And):
        names = [proof.fresh("C") for _ in shown.statements]
        proof.add(f"destruct {name} as {_pattern(names)}.")
        closers = []
        for part in wanted.statements:
            for other, its in zip(shown.statements, names, strict=True):
                if alike(part, other):
                    closers.append(_split(proof, other, part, its))
                    break
        return "repeat first [" + " | ".join(f"solve [{c}]" for c in closers) + " | split]"
    if isinstance(wanted, t.Implies) and isinstance(shown, t.Implies):
        h = proof.fresh("C")
        return f"intro {h}; transport {name}"
    if isinstance(wanted, Relation) and isinstance(shown, Relation):
        if isinstance(wanted.left, t.Limit) and isinstance(shown.left, t.Limit):
            same = proof.equal(shown.right, wanted.right)
            held = proof.have(proposition(shown), f"first [exact {name} | transport {name}]")
            x, far = wanted.left.variable, proof.fresh("N")
            inner = _inside(proof, wanted.left.body, shown.left.body, x)
            everywhere = f"(fun {x.name} {far} S_{x.name} => ltac:({inner}))"
            return f"exact (limit_by _ _ _ _ 1 {everywhere} {same} {held})"
        if "Derivative" in wanted.heads:
            return f"transport_derivative {name}"
        a, b = proof.equal(wanted.left, shown.left), proof.equal(wanted.right, shown.right)
        bare = f"first [exact {name} | transport {name}]"
        proof.have(bare_relation(shown), bare)
        held = proof.names[bare_relation(shown)]
        if wanted.kind == "=":
            return f"exact (eq_trans {a} (eq_trans {held} (eq_sym {b})))"
        return f"exact ({BY[wanted.kind]} _ _ _ _ {a} {b} {held})"
    return f"transport {name}"


def _pattern(names: list[str]) -> str:
    pattern = names[-1]
    for name in reversed(names[:-1]):
        pattern = f"[{name} {pattern}]"
    return pattern


def _inside(proof: Proof, a: Term, b: Term, x: t.Variable) -> str:
    inner = proof.inside(proof.known)
    inner.assume(f"(1 <= {x.name})%nat", f"S_{x.name}")
    last = inner.equation(a, b)
    return "; ".join(["reals", *(line.rstrip(".") for line in inner.lines), last])


def moved_positions(line: Statement, values: Mapping[t.Variable, Term]) -> list[tuple[str, str]]:
    """How Coq writes positions after the values are put in, and how they are written here, where that differs."""
    places: dict[Term, None] = {}
    for n in line.walk():
        if isinstance(n, t.Entry):
            places |= dict.fromkeys((n.layer, n.query, n.key))
        elif isinstance(n, t.Input):
            places |= dict.fromkeys((n.query, n.key))
        elif isinstance(n, t.Binder):
            places[n.high] = None
    found = {}
    for place in places:
        coefficients, _ = linear(place)
        if len(coefficients) + (1 if isinstance(place, t.Add) else 0) < 2 or not any(v in values for v in coefficients):
            continue
        raw = natural(place).removesuffix("%nat")
        for v in coefficients:
            if v in values:
                put = natural(values[v]).removesuffix("%nat")
                raw = " ".join(
                    part.replace(v.name, put) if part.strip("()") == v.name else part for part in raw.split(" ")
                )
        written = natural(substitute(place, values))
        if f"{raw}%nat" != written:
            found[f"{raw}%nat"] = written
    return list(found.items())


@script
def identity(step: Step) -> str:
    """By rewriting with the premises, and field arithmetic."""
    step.use_premises()
    left, right = step.sides
    if isinstance(left, t.Limit):
        for p in step.goal.usable:
            if isinstance(p, Relation) and p.kind == "=" and canonical(p.left) == canonical(left):
                return _split(step.proof, p, t.equal(left, right), step.proof.names[proposition(p)])
    return step.proof.equation(left, right, rewriting=True)


@script
def input_gram(step: Step) -> str:
    """By the definition of equicorrelated inputs."""
    entry, _ = step.sides
    assert isinstance(entry, t.Input)
    if canonical(entry.query) == canonical(entry.key):
        return _by_definition(step, ONE, "apply input_self")
    return _by_definition(step, entry.law.alpha, "apply input_other; lia")


@script
def score(step: Step) -> str:
    """By the definition of a score."""
    step.use_premises()
    entry, _ = step.sides
    assert isinstance(entry, t.Entry)
    places = (entry.query, entry.key)
    if entry.model.norm != "none":
        for place in places:
            step.proof.prove(less(ZERO, _gram_before(entry, place, place)))
    inner = times(*(_stretch(entry, place) for place in places), _gram_before(entry, *places))
    return _by_definition(step, over(inner, entry.model.scale), "by_definition Score_is")


@script
def softmax(step: Step) -> str:
    """By the definition of the softmax with the causal mask."""
    entry, value = step.sides
    assert isinstance(entry, t.Entry)
    step.proof.prove(at_most(entry.key, entry.query))
    k = next(n for n in value.walk() if isinstance(n, t.Sum)).index

    def power(key: Term) -> Term:
        at = t.Entry("score", entry.layer, entry.query, key, entry.model)
        return t.Exp(times(entry.model.beta, at))

    form = over(power(entry.key), t.Sum(power(k), k, ONE, entry.query))
    return _by_definition(step, form, "apply Weight_is; lia")


@script
def mix(step: Step) -> str:
    """By the definition of the coefficients."""
    step.use_premises()
    entry, _ = step.sides
    assert isinstance(entry, t.Entry)
    i, j, model = entry.query, entry.key, entry.model
    if model.norm != "none":
        step.proof.prove(less(ZERO, _gram_before(entry, j, j)))
    form = times(t.Entry("weight", entry.layer, i, j, model), _stretch(entry, j))
    if canonical(i) == canonical(j):
        return _by_definition(step, plus(form, model.residual), "by_definition Mix_self")
    return _by_definition(step, form, "by_definition Mix_other")


@script
def gram(step: Step) -> str:
    """By the definition of the inner products after a layer."""
    entry, value = step.sides
    assert isinstance(entry, t.Entry)
    assert isinstance(value, t.Sum)
    assert isinstance(value.body, t.Sum)
    k, l = value.body.index, value.index  # noqa: E741
    m, n = (t.Entry("mix", entry.layer, a, b, entry.model) for a, b in ((entry.query, k), (entry.key, l)))
    term = times(m, n, _gram_before(entry, k, l))
    form = t.Sum(t.Sum(term, k, ONE, entry.query), l, ONE, entry.key)
    before = natural(minus(entry.layer, ONE))
    return _by_definition(step, form, f"apply (Gram_is _ _ _ _ _ _ {before}); lia")


@script
def symmetric(step: Step) -> str:
    """By symmetry in every layer."""
    return "apply symmetric_rule"


@script
def norm(step: Step) -> str:
    """By linear independence of the vectors in every layer: none vanishes."""
    _, entry = step.sides
    assert isinstance(entry, t.Entry)
    name = step.proof.prove(t.Vectors(entry.model, plus(entry.layer, ONE), entry.query))
    return f"apply (norm_rule _ _ _ _ _ {name}); lia"


@script
def minors(step: Step) -> str:
    """By the Cauchy-Binet formula, from the premises for all positions."""
    i, j, k, l = step.goal.hints["at"]  # noqa: E741
    below, positive, mixed = step.premises.values()
    names = []
    for lemma, variables, ranges in (
        (below, (i, k, j, l), (less(i, k), less(j, l))),
        (positive, (i, j), (at_most(j, i),)),
        (mixed, (i, k, j, l), (less(i, k), less(j, l), at_most(l, i))),
    ):
        names.append(_everywhere(step, lemma, variables, ranges))
    entry = next(n for n in step.goal.statement.walk() if isinstance(n, t.Entry))
    before = natural(minus(entry.layer, ONE))
    return f"apply (minors_rule _ _ _ _ _ {before} {natural(entry.layer)} ltac:(lia) {' '.join(names)}); lia"


def _everywhere(step: Step, lemma: Lemma, variables: tuple[t.Variable, ...], ranges: tuple[Statement, ...]) -> str:
    """Assert the premise for all ``variables`` in ``ranges``, under other names; return its name."""
    at = set(variables)
    other = {v: t.Variable(f"{v.name}'", v.sort) for v in variables}
    fixed = [h for h in step.goal.hypotheses if not at & h.free]
    within = [substitute(h, other) for h in ranges]
    inner = step.proof.inside(Known((*fixed, *within)))
    names = [v.name for v in other.values()]
    sorts = []
    for v in other.values():
        prop = sort_hypothesis(v)
        if prop is not None:
            sorts.append(prop)
            names.append(inner.assume(prop, inner.fresh("S")))
    names.extend(inner.assume(proposition(h), inner.fresh("R")) for h in within)
    applied = apply_lemma(inner, lemma, other, step.scope | set(other.values()))
    prop = " -> ".join((*sorts, *map(proposition, within), proposition(substitute(lemma.statement, other))))
    name = step.proof.fresh("P")
    body = " ".join((f"intros {' '.join(names)}.", "reals.", *inner.lines, f"exact ({applied})."))
    step.proof.add(f"assert ({name} : forall {binders(list(other.values()))}, {prop}). {{ {body} }}")
    return name


@script
def independence(step: Step) -> str:
    """By independence of the vectors in every layer: the cosine of two of them is below 1."""
    entry, _ = step.sides
    assert isinstance(entry, t.Entry)
    residual = step.proof.prove(at_most(ZERO, entry.model.residual))
    name = step.proof.prove(t.Independent(entry.model.law, entry.query))
    return f"apply independence_rule; [first [exact {residual} | lra] | exact {name} | lia]"


SCRIPTS["cauchy_schwarz"] = independence  # of layer two


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
    alpha = _bracketed(real(entry.law.alpha))
    law = (
        f"etransitivity; [|exact (equicorrelated_double {alpha} {f} {g} {natural(i)} {natural(j)} ltac:(lia))]; "
        "first [reflexivity | (apply sum_ext; intros ? ?; apply sum_ext; intros ? ?; equation)]"
    )
    return _by_definition(step, form, law)


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
    return _by_definition(step, form, law)


@script
def constant_sum(step: Step) -> str:
    """By the lemma about sums of a constant."""
    left, _ = step.sides
    assert isinstance(left, t.Sum)
    count = plus(minus(left.high, left.low), ONE)
    return _by_definition(step, times(count, left.body), "rewrite sum_const; equation")


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
    scaled = f"exact (sum_scal {_bracketed(real(outside))} {f} {natural(left.high)})"
    law = f"etransitivity; [|etransitivity; [{scaled}|equation]]; first [reflexivity | sums]"
    return _by_definition(step, form, law)


def _under(step: Step, lemma: Lemma, index: t.Variable, high: Term) -> str:
    """Sentences that show the premise for ``index`` from 1 to ``high``, after its introduction."""
    inner = step.proof.inside(Known((*step.goal.hypotheses, at_most(ONE, index), at_most(index, high))))
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
        Known((*step.goal.hypotheses, *(h for s in spans for h in (at_most(ONE, s.index), at_most(s.index, s.high)))))
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


@script
def sign(step: Step) -> str:
    """By the kernel's certificate for the difference of both sides, or for the form that the hint gives."""
    step.use_premises()
    left, right = step.sides
    goal, proof = step.goal, step.proof
    statement = goal.statement
    assert isinstance(statement, Relation)
    form = goal.hints.get("form")
    e = minus(right, left)
    if form is not None:
        known = goal.known
        if identical(known.rewritten(e), known.rewritten(form)):
            same, lemma = proof.equal(e, form, rewriting=True), ""
        else:
            same, lemma = proof.equal(minus(left, right), form, rewriting=True), "not_eq_sym, "
        facts = known.facts
        if statement.kind == "!=":
            value = known.rewritten(form) if facts.is_nonzero(known.rewritten(form)) else form
            name = proof.nonzero(value)
            rewritten = "" if value is form else f"try rewrite {proof.equal(form, value, rewriting=True)}; "
            return f"apply {lemma}unequal_of; try rewrite {same}; {rewritten}exact {name}"
        strict = statement.kind == "<"
        value = known.rewritten(form) if facts.is_positive(known.rewritten(form), strict) else form
        name = proof.sign(value, strict)
        rewritten = "" if value is form else f"try rewrite {proof.equal(form, value, rewriting=True)}; "
        return f"apply {'less_of' if strict else 'at_most_of'}; try rewrite {same}; {rewritten}exact {name}"
    if statement.kind == "!=":
        value = goal.known.rewritten(e) if goal.known.facts.is_nonzero(goal.known.rewritten(e)) else e
        name = proof.nonzero(value)
        rewritten = "" if value is e else f"try rewrite {proof.equal(e, value, rewriting=True)}; "
        return f"apply unequal_of; {rewritten}exact {name}"
    strict = statement.kind == "<"
    a, b = goal.known.rewritten(left), goal.known.rewritten(right)
    facts = goal.known.facts
    difference = b if a == ZERO else minus(b, a)
    lemma = "less_of" if strict else "at_most_of"
    if facts.is_positive(difference, strict):
        name = proof.sign(difference, strict)
        if a == ZERO:
            if left == ZERO:
                return (
                    f"try rewrite {proof.equal(right, b, rewriting=True)}; exact {name}"
                    if b is not right
                    else f"exact {name}"
                )
            zero = proof.equal(left, ZERO, rewriting=True)
            return f"try rewrite {zero}; try rewrite {proof.equal(right, b, rewriting=True)}; exact {name}"
        return f"apply {lemma}; try rewrite {proof.equal(e, difference, rewriting=True)}; exact {name}"
    name = proof.sign(e, strict)
    return f"apply {lemma}; exact {name}"


@script
def add(step: Step) -> str:
    """By adding the premises."""
    step.use_premises()
    left, right = step.sides
    parts = [p for p in step.goal.usable if isinstance(p, Relation)]
    total = plus(*(minus(p.right, p.left) for p in parts))
    same = step.proof.equal(minus(right, left), total)
    names = [step.proof.names[proposition(p)] for p in parts]
    strict = step.goal.statement.kind == "<"  # type: ignore[attr-defined]
    poses = "; ".join(f"pose proof {n}" for n in names)
    return f"apply {'less_of' if strict else 'at_most_of'}; try rewrite {same}; {poses}; lra"


@script
def exponential(step: Step) -> str:
    """By monotonicity of exp, from the sign of the difference of the exponents."""
    step.use_premises()
    proof, known = step.proof, step.goal.known
    left, right = step.sides
    sides = [known.rewritten(side) for side in (left, right)]
    low, high = (ZERO if canonical(side) == ONE else side.exponent for side in sides)  # type: ignore[attr-defined]
    strict = step.goal.statement.kind == "<"  # type: ignore[attr-defined]
    name = proof.prove(less(ZERO, minus(high, low)) if strict else at_most(ZERO, minus(high, low)))
    a, b = (proof.equal(side, t.Exp(e), rewriting=True) for side, e in zip((left, right), (low, high), strict=True))
    return (
        f"apply ({BY['<' if strict else '<=']} _ _ _ _ {a} {b}); apply {'exp_lt' if strict else 'exp_le'}; exact {name}"
    )


@script
def root(step: Step) -> str:
    """By monotonicity of the root, from the sign of the difference of the radicands."""
    step.use_premises()
    proof = step.proof
    left, right = step.sides
    a, b = (number(e.value**2) if isinstance(e, t.Number) else e.radicand for e in (left, right))  # type: ignore[attr-defined]
    low, gap = proof.sign(a, False), proof.sign(minus(b, a))
    lines = [
        f"try rewrite {proof.have(f'({real(side)} = {real(t.Root(r))})', 'symmetry; apply root_of; lra')}"
        for side, r in ((left, a), (right, b))
        if not isinstance(side, t.Root)
    ]
    return "; ".join((*lines, f"apply root_lt; [exact {low} | exact {gap}]"))


@script
def square(step: Step) -> str:
    """By comparing squares."""
    step.use_premises()
    left, right = step.sides
    wanted = t.equal(t.Power(left, 2), t.Power(right, 2))
    a, b = step.proof.sign(left, False), step.proof.sign(right, False)
    step.proof.known = Known((*step.goal.known.statements, *step.goal.usable))
    return f"apply square_eq; [exact {a} | exact {b} | exact {step.proof.prove(wanted)}]"


@script
def product(step: Step) -> str:
    """By multiplying the premise."""
    step.use_premises()
    left, right = step.sides
    c = step.goal.hints["factor"]
    wanted = less(over(left, c), over(right, c))
    positive = step.proof.sign(c)
    given = next(p for p in step.goal.usable if alike(wanted, p))
    name = step.proof.names[proposition(given)]
    assert isinstance(given, Relation)
    a, b = step.proof.equal(left, times(c, given.left)), step.proof.equal(right, times(c, given.right))
    return f"apply (lt_by _ _ _ _ {a} {b}); apply Rmult_lt_compat_l; [exact {positive} | exact {name}]"


@script
def quotient(step: Step) -> str:
    """By dividing, from the premise about the denominators."""
    step.use_premises()
    proof = step.proof
    left, right = step.sides
    c = step.goal.hints["numerator"]
    small, large = over(c, right), over(c, left)
    up = step.goal.known.facts.is_positive(c)
    sign_of = proof.sign(c) if up else proof.sign(minus(ZERO, c))
    if not up:
        small, large = large, small
    wanted = less(small, large)
    given = next(p for p in step.goal.usable if alike(wanted, p))
    assert isinstance(given, Relation)
    name = proof.names[proposition(given)]
    low = proof.sign(given.left)
    high = proof.have(f"(0 < {real(given.right)})", f"apply (Rlt_trans _ _ _ {low} {name})")
    proof.nonzero(given.left)
    proof.have(f"({real(given.right)} <> 0)", f"apply positive_nonzero; exact {high}", "N")
    first, second = (given.right, given.left) if up else (given.left, given.right)
    a, b = proof.equal(left, over(c, first)), proof.equal(right, over(c, second))
    law = "quotient_lt" if up else "quotient_gt"
    return f"apply (lt_by _ _ _ _ {a} {b}); exact ({law} _ _ _ {sign_of} {low} {name})"


@script
def derivative(step: Step) -> str:
    """By Coquelicot's rules of differentiation."""
    step.use_premises()
    left, right = step.sides
    assert isinstance(left, t.Derivative)
    value = differentiated(left.body, left.variable)
    for n in value.walk():
        if isinstance(n, t.Power) and n.exponent < 0:
            try:
                step.proof.nonzero(n.base)
            except (Unproved, Unprintable):
                continue
    step.proof.denominators(left.body)
    step.proof.denominators(right)
    x = left.variable.name
    f = f"(fun {x} : R => {real(left.body)})"
    name = step.proof.have(f"(is_derive {f} {x} {_bracketed(real(right))})", "derive", "D")
    return f"split; [exists {_bracketed(real(right))}; exact {name} | apply is_derive_unique; exact {name}]"


@script
def decreasing(step: Step) -> str:
    """By the mean value theorem, from the premise on m >= 0."""
    proof = step.proof
    (lemma,) = step.premises.values()
    slope = lemma.statement
    assert isinstance(slope, Relation)
    assert isinstance(slope.left, t.Derivative)
    f, m = slope.left.body, slope.left.variable
    x, y = step.goal.hints["at"]
    low, gap = proof.sign(x, False), proof.sign(minus(y, x))
    inner = proof.inside(proof.known)
    inner.assume(f"(0 <= {m.name})", f"S_{m.name}")
    applied = apply_lemma(inner, lemma, {}, step.scope | {m})
    f_text = f"(fun {m.name} : R => {real(f)})"
    fall = proof.fresh("D")
    proof.add(
        f"assert ({fall} : forall {m.name} : R, 0 <= {m.name} -> "
        f"ex_derive {f_text} {m.name} /\\ Derive {f_text} {m.name} < 0). "
        f"{{ intros {m.name} S_{m.name}. {' '.join(inner.lines)} exact ({applied}). }}"
    )
    at = _bracketed(real(x)), _bracketed(real(y))
    name = proof.have(
        f"({real(substitute(f, {m: y}))} < {real(substitute(f, {m: x}))})",
        f"exact (decreasing_on {f_text} {fall} {at[0]} {at[1]} {low} ltac:(apply less_of; exact {gap}))",
    )
    left, right = step.sides
    a, b = proof.equal(left, substitute(f, {m: y})), proof.equal(right, substitute(f, {m: x}))
    return f"exact (lt_by _ _ _ _ {a} {b} {name})"


@script
def implication(step: Step) -> str:
    """From the premise under the condition."""
    s = step.goal.statement
    assert isinstance(s, t.Implies)
    (lemma,) = step.premises.values()
    name = step.proof.fresh("I")
    step.proof.add(f"intro {name}.")
    step.proof.assume(proposition(s.premise), name)
    step.proof.known = Known((*step.goal.hypotheses, s.premise))
    applied = apply_lemma(step.proof, lemma, {}, step.scope)
    return conclude(step.proof, lemma.statement, {}, lemma.statement, s.conclusion, applied)


@script
def detach(step: Step) -> str:
    """By modus ponens."""
    step.use_premises()
    for p in step.goal.usable:
        if isinstance(p, t.Implies) and alike(p.conclusion, step.goal.statement) and step.goal.known.holds(p.premise):
            c = step.proof.prove(p.premise)
            name = step.proof.have(proposition(p.conclusion), f"exact ({step.proof.names[proposition(p)]} {c})")
            return (
                _split(step.proof, p.conclusion, step.goal.statement, name)
                if proposition(p.conclusion) != proposition(step.goal.statement)
                else f"exact {name}"
            )
    raise Unproved("no premise implies the statement")


@script
def conjunction(step: Step) -> str:
    """Part by part."""
    step.use_premises()
    names = []
    for part in t.conjuncts(step.goal.statement):
        given = next(p for p in step.goal.usable if alike(part, p))
        name = step.proof.names[proposition(given)]
        if proposition(given) != proposition(part):
            name = step.proof.have(proposition(part), _split(step.proof, given, part, name))
        names.append(name)
    return f"repeat first [{' | '.join(f'exact {n}' for n in names)} | split]"


def equation(goal: Goal) -> Relation:
    """The hypothesis by which rule ``equals`` puts equals for equals.

    Raises:
        Unproved: none does.
    """
    for h in goal.hypotheses:
        if isinstance(h, Relation) and h.kind == "=" and isinstance(h.left, t.Variable):
            given, shown = (substitute(s, {h.left: h.right}) for s in (goal.premises[0].statement, goal.statement))
            if alike(given, shown):
                return h
    raise Unproved("no hypothesis turns the premise into the statement")


@script
def equals(step: Step) -> str:
    """By putting equals for equals."""
    (lemma,) = step.premises.values()
    proof, h = step.proof, equation(step.goal)
    assert isinstance(h.left, t.Variable)
    proof.state(lemma.statement, f"exact ({apply_lemma(proof, lemma, {}, step.scope)})")
    name = proof.names[proposition(lemma.statement)]
    if h.left.sort.integral:
        proof.have(f"({h.left.name} = {natural(h.right)})", "lia")
    moved = "".join(
        f"; try replace {a} with {b} in * by lia" for a, b in _after(lemma.statement, step.goal.statement, h)
    )
    return f"subst {h.left.name}{moved}; first [exact {name} | transport {name}]"


def _after(a: Statement, b: Statement, h: Relation) -> list[tuple[str, str]]:
    assert isinstance(h.left, t.Variable)
    return list(dict.fromkeys([*moved_positions(a, {h.left: h.right}), *moved_positions(b, {h.left: h.right})]))


@script
def cases(step: Step) -> str:
    """In each case by its premise."""
    return in_cases(step, step.proof, {label: (lemma, "exact ({})") for label, lemma in step.premises.items()})


def in_cases(step: Step, proof: Proof, closing: Mapping[str, tuple[Lemma, str]]) -> str:
    """A script that tells the cases apart and closes each by a lemma that has the hypotheses of its premise."""
    conditions: list[tuple[str, Lemma, Relation]] = []
    for (label, (lemma, close)), line in zip(closing.items(), step.goal.premises, strict=True):
        extra = [h for h in line.hypotheses if not step.goal.assumed.holds(h)]
        if not extra:
            return close.format(apply_lemma(proof, lemma, {}, step.scope))
        assert isinstance(extra[0], Relation)
        conditions.append((label, lemma, extra[0]))
    names = [proof.fresh("K") for _ in conditions]
    props = [proposition(c) for _, _, c in conditions]
    either = f"({_OR.join(props)})" if len(props) > 1 else props[0]
    first = conditions[0][2]
    if is_integer(first.left) and is_integer(first.right):
        covered = proof.have(either, "lia")
    else:
        last = len(props) - 1
        tries = " | ".join("right; " * n + ("left; " if n < last else "") + "lra" for n in range(len(props)))
        sides = " ".join(_bracketed(real(side)) for side in (first.left, first.right))
        covered = proof.have(either, f"destruct (Rtotal_order {sides}) as [?|[?|?]]; first [{tries} | exfalso; lra]")
    pattern = names[-1]
    for name in reversed(names[:-1]):
        pattern = f"[{name}|{pattern}]"
    proof.add(f"destruct {covered} as {pattern}.")
    blocks = []
    for (label, lemma, condition), name in zip(conditions, names, strict=True):
        inner = proof.inside(Known((*step.goal.hypotheses, condition)))
        inner.assume(proposition(condition), name)
        applied = apply_lemma(inner, lemma, {}, step.scope)
        blocks.append("{ " + " ".join(("reals.", *inner.lines, f"{closing[label][1].format(applied)}.")) + " }")
    return " ".join(blocks)


# --- induction ----------------------------------------------------------------------------------------


@script
def suppose(step: Step) -> str:
    """What is supposed."""
    (supposed,) = step.lemma.supposed
    name = step.proof.names[Lemma.supposing("", supposed).says()]
    return f"exact ({apply_lemma(step.proof, Lemma.supposing(name, supposed), {}, step.scope)})"


@script
def induction(step: Step) -> str:
    """By induction over the natural numbers, all statements together."""
    n, base = step.goal.hints["at"], step.goal.hints["from"]
    lemmas, lines = list(step.premises.values()), step.goal.premises
    count = len(lemmas) // 3
    suppositions = [Supposition(line.statement, line.hypotheses, n) for line in lines[:count]]
    said = [f"({Lemma.supposing('', s).says()})" for s in suppositions]
    together = " /\\ ".join(said)
    all_of = step.proof.fresh("I")
    least, later = natural(base), proposition(at_most(base, n))
    supposed = [f"I_{place}" for place in range(1, count + 1)]

    def block(place: int, value: Term, lemma: Lemma) -> str:
        s = suppositions[place]
        inner = Proof(Known((*sorted(s.hypotheses, key=proposition), *(() if value == base else (at_most(base, n),)))))
        about = Lemma.supposing("", s)
        start = about.intro(inner)
        if value != base:
            inner.assume(later, "Later")
            inner.assume(sort_hypothesis(n) or "", "Sort")
            for name, other in zip(supposed, suppositions, strict=True):
                inner.assume(Lemma.supposing("", other).says(), name)
        wanted = substitute(s.statement, {n: value})
        applied = apply_lemma(inner, lemma, {}, frozenset((*about.variables, n)))
        last = conclude(inner, lemma.statement, {}, lemma.statement, wanted, applied)
        moved = "".join(f" try replace {a} with {b} by lia." for a, b in moved_positions(s.statement, {n: value}))
        return (
            f"{{ {start} reals. assert (Wanted : {proposition(wanted)}). {{ {' '.join(inner.lines)} {last}. }}"
            f"{moved} first [exact Wanted | transport Wanted]. }}"
        )

    first = " ".join(block(place, base, lemma) for place, lemma in enumerate(lemmas[count : 2 * count]))
    following = " ".join(block(place, plus(n, ONE), lemma) for place, lemma in enumerate(lemmas[2 * count :]))
    step.proof.lines.insert(  # before anything is introduced: the variables of the suppositions have the same names
        0,
        f"assert ({all_of} : forall {n.name} : nat, {later} -> {together}). "
        f"{{ apply (induction_rule {least} (fun {n.name} : nat => {together})); "
        f"[|intros {n.name} Later {_pattern(supposed)}; assert (Sort : (1 <= {n.name})%nat) by lia]; repeat split. "
        f"{first} {following} }}",
    )
    place = next(place for place, s in enumerate(suppositions) if alike(s.statement, step.goal.statement))
    name = step.proof.fresh("I")
    reached = step.proof.prove(at_most(base, n))
    part = projection(f"({all_of} {n.name} {reached})", place, count)
    step.proof.add(f"pose proof {part} as {name}.")
    lemma = Lemma.supposing(name, suppositions[place])
    applied = apply_lemma(step.proof, lemma, {}, step.scope)
    return conclude(step.proof, lemma.statement, {}, lemma.statement, step.goal.statement, applied)


def projection(name: str, place: int, count: int) -> str:
    """The part of a conjunction of ``count`` parts at ``place``.

    >>> projection("H", 1, 3), projection("H", 2, 3), projection("H", 0, 1)
    ('(proj1 (proj2 H))', '(proj2 (proj2 H))', 'H')
    """
    if count == 1:
        return name
    for _ in range(min(place, count - 2)):
        name = f"(proj2 {name})"
    return f"(proj{1 if place < count - 1 else 2} {name})"


# --- limits -------------------------------------------------------------------------------------------


@script
def rational_limit(step: Step) -> str:
    """By writing the function as g(1/x) with g continuous at 0."""
    left, value = step.sides
    assert isinstance(left, t.Limit)
    f, x, proof = left.body, left.variable, step.proof
    field = Field([f, x])
    fraction = field.convert(f)
    place = field.meaning.index(x)
    degree = fraction.bottom.degrees()[place]
    u = t.Variable("u", t.Sort.REAL)

    def reversed_(p) -> Term:
        """p(x) / x^degree as a polynomial in u = 1/x."""
        parts = []
        for powers, c in p.terms():
            rest = {(*powers[:place], 0, *powers[place + 1 :]): c}
            coefficient = field.polynomial(field.ring.from_dict(rest))
            power = degree - int(powers[place])
            parts.append(times(coefficient, t.Power(u, power)) if power else coefficient)
        return plus(*parts) if parts else ZERO

    top, bottom = reversed_(fraction.top), reversed_(fraction.bottom)
    g = over(top, bottom)
    at_zero = substitute(bottom, {u: ZERO})
    nonzero = proof.nonzero(_lead(field, fraction.bottom, place))
    zero = proof.have(f"({real(at_zero)} <> 0)", f"apply (nonzero_of _ _ {nonzero}); ring", "N")
    g_text = f"(fun u : R => {real(g)})"
    inner = proof.inside(Known((*step.goal.hypotheses, at_most(ONE, x))))
    inner.assume(f"(1 <= {x.name})%nat", f"S_{x.name}")
    inner.known = Known((*step.goal.known.statements, at_most(ONE, x)), step.goal.known.equations)
    n = inner.nonzero(x)
    inner.denominators(f)
    whole = field.polynomial(fraction.bottom)
    not_zero = inner.nonzero(whole)
    put = substitute(bottom, {u: t.Power(x, -1)})
    inner.have(
        f"({real(put)} <> 0)",
        f"apply (nonzero_over _ _ {x.name} {degree} {not_zero} {n}); field; exact {n}",
        "N",
    )
    body = " ".join((f"intros {x.name} _ S_{x.name}. cbv beta. reals.", *inner.lines, "field; side."))
    final = proof.equation(substitute(g, {u: ZERO}), value)
    return f"apply (rational_limit _ {g_text} _ 1). {{ {body} }} {{ auto_derive; {_auto(zero)} }} {{ {final}. }}"


def _auto(zero: str) -> str:
    return f"repeat split; try exact I; first [exact {zero} | apply (nonzero_of _ _ {zero}); ring]."


def _lead(field: Field, p, place: int) -> Term:
    degree = p.degrees()[place]
    terms = {(*m[:place], 0, *m[place + 1 :]): c for m, c in p.terms() if m[place] == degree}
    return field.polynomial(field.ring.from_dict(terms))


@script
def limit_algebra(step: Step) -> str:
    """By the limit of each part."""
    step.use_premises()
    left, value = step.sides
    assert isinstance(left, t.Limit)
    x, proof = left.variable, step.proof
    table: dict[Term, Term] = {}
    values: dict[t.Variable, Term] = {}
    for p in step.goal.usable:
        if isinstance(p, Relation) and p.kind == "=" and isinstance(p.left, t.Limit) and p.left.variable == x:
            name = t.Variable(f"part{len(values)}", t.Sort.REAL)
            table[p.left.body] = table[canonical(p.left.body)] = name  # type: ignore[index]
            values[name] = p.right
    outer = substitute(rewrite(left.body, table), values)
    limit = proof.fresh("L")
    proof.denominators(outer)
    end = proof.equation(outer, value)
    return (
        f"evar ({limit} : R). assert (T : is_lim_seq (fun {x.name} : nat => {real(left.body)}) {limit}). "
        f"{{ unfold {limit}. limit_algebra; side. }} "
        f"replace (Finite {_bracketed(real(value))}) with (Finite {limit}); [exact T|]. "
        f"apply f_equal. unfold {limit}. transitivity {_bracketed(real(outer))}; "
        f"[first [reflexivity | equation] | {end}]."
    )


@script
def limit_of_equal(step: Step) -> str:
    """By the limit of the other form, which agrees far out."""
    left, _ = step.sides
    assert isinstance(left, t.Limit)
    x, proof = left.variable, step.proof
    equality, limit = step.premises.values()
    s = equality.statement
    assert isinstance(s, Relation)
    proof.state(limit.statement, f"exact ({apply_lemma(proof, limit, {}, step.scope)})")
    lows = [
        h.left
        for h in equality.hypotheses
        if isinstance(h, Relation) and h.kind in ("<", "<=") and h.right == x and x not in h.left.free
    ]
    start = " + ".join(["1", *(natural(low) for low in lows)])
    known = (
        *step.goal.hypotheses,
        *(h for h in equality.hypotheses if isinstance(h, Relation) and h.right == x),
        at_most(ONE, x),
    )
    inner = proof.inside(Known(known))
    inner.assume(f"(1 <= {x.name})%nat", f"S_{x.name}")
    lines = [f"intros {x.name} Far S_{x.name}."]
    for n, h in enumerate(h for h in equality.hypotheses if isinstance(h, Relation) and h.right == x):
        lines.append(f"assert (R{n} : {proposition(h)}) by lia.")
        inner.assume(proposition(h), f"R{n}")
    applied = apply_lemma(inner, equality, {}, step.scope | {x})
    body = " ".join((*lines, "reals.", *inner.lines, f"pose proof ({applied}) as T. first [exact T | transport T]."))
    name = proof.names[proposition(limit.statement)]
    other = f"(fun {x.name} : nat => {real(s.right)})"
    return f"apply (lim_eventually _ {other} _ ({start})). {{ {body} }} {{ first [exact {name} | transport {name}]. }}"


@script
def limit_of_square(step: Step) -> str:
    """By continuity of the root at 0."""
    step.use_premises()
    left, value = step.sides
    assert isinstance(left, t.Limit)
    (given,) = step.goal.usable
    wanted = t.equal(t.Limit(t.Power(left.body, 2), left.variable), value)
    return f"apply lim_of_square; {_split(step.proof, given, wanted, step.proof.names[proposition(given)])}"
