"""Attention that only averages, beta = 0 without the residual: closer keys score higher in every layer.

Every query then gives all keys that it sees the same weight. A layer replaces y_i by the mean of y_1..y_i, so that
G' = M G M^T with M_ij = 1/(i |x_j|) for j <= i. Two facts carry the order from layer to layer, for 0 <= alpha < 1:

* No 2x2 minor of G is negative (G is totally positive of order two). After layer one G_ij = f(max(i, j)) with f
  decreasing: a Green's matrix in the sense of Gantmacher and Krein. And by Cauchy and Binet a minor of M G M^T is a
  sum of products of minors of M, G and M^T; those of M, a triangle of ones up to factors of rows and columns, are
  not negative.
* The same then holds for the scores, and S_kk = 1. The minor of rows j + 1 < i and columns j < j + 1 says that
  S_ij <= S_i,j+1 S_j+1,j, which is less than S_i,j+1, because no two vectors are parallel.

With a residual M is the triangle plus a multiple of the identity, and its minor of rows i < k and columns j < i is
negative: there the argument ends, and from layer three on so does the theorem.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

from sympy import Expr, Integer, Mul, Sum, Symbol, sqrt
from sympy.logic.boolalg import Boolean

from maskproof.theory.decoder import Decoder
from maskproof.theory.derivation import Derivation, Step
from maskproof.theory.layer_one import INPUTS, layer_one, p, r
from maskproof.theory.paper_forms import PAPER
from maskproof.theory.quantities import Gram, Mix, Score, Weight
from maskproof.theory.relations import Eq, Ge, Gt, Le, Lt
from maskproof.theory.symbols import alpha, beta, i, j, k, l, lam

AVERAGING = Decoder(beta=0, residual=0)
_MODEL = {"decoder": AVERAGING, "inputs": INPUTS}
_ORDERED = (Lt(i, k), Lt(j, p))  # the rows i < k and the columns j < p of a minor
_EARLIER, _VISIBLE = Lt(j, i), Le(j, i)


def _minor(entry: Callable[[Expr, Expr], Expr]) -> Boolean:
    """The minor of rows i, k and columns j, p is not negative."""
    return Ge(entry(i, j) * entry(k, p), entry(i, p) * entry(k, j))


def _gram(layer: Expr) -> Callable[[Expr, Expr], Gram]:
    return lambda a, b: Gram(layer, a, b, **_MODEL)


def _mix(layer: Expr) -> Callable[[Expr, Expr], Mix]:
    return lambda a, b: Mix(layer, a, b, **_MODEL)


def _cite(label: str, lemma: Derivation, step: str, values: Mapping[Symbol, Expr], *given: Boolean) -> Step:
    """A step of a lemma with values put in."""
    (line,) = [line for line in lemma.steps if line.label == step]
    hints = {"lemma": lemma.name, "step": step, "values": values}
    return Step(label, line.statement.xreplace(dict(values)), "cite", given=given, hints=hints)


def _place(label: str, line: Step, a: Expr, b: Expr, *given: Boolean) -> Step:
    """A step about the positions i and j, at the positions a and b."""
    values = {i: a, j: b}
    return Step(label, line.statement.xreplace(values), "cite", (line.label,), given, {"values": values})


@cache
def first_layer() -> Derivation:
    """No 2x2 minor of G^(1) is negative."""
    source, plain = layer_one(), {beta: Integer(0), lam: Integer(0), r: Integer(1)}
    gram, mix = _gram(Integer(1)), _mix(Integer(1))

    def f(position: Expr) -> Expr:
        return alpha + (1 - alpha) / position

    lower = Step("lower", Eq(gram(i, j), f(i)), "cases", ("before", "same"), (_VISIBLE,))
    upper = Step("upper", Eq(gram(i, j), f(j)), "identity", ("mirror", "lower-ji"), (Le(i, j),))

    def interleaved(label: str, *formulas: str, given: tuple[Boolean, ...], left: tuple[Expr, ...] = ()) -> Step:
        """The minor where i, j, k, p come in one order; ``formulas`` for G_ij, G_kp, G_ip and G_kj.

        It is 0, or f(c) (f(a) - f(b)) where ``left`` = a, b, c with a < b.
        """
        places = ("", "-kp", "-ip", "-kj")
        premises = tuple(formula + place for formula, place in zip(formulas, places, strict=True))
        hints = {}
        if left:
            a, b, c = left
            hints["form"] = f(c) * (1 - alpha) * (b - a) / (a * b)
        return Step(label, _minor(gram), "sign", premises, given, hints)

    def joined(label: str, *parts: str, given: tuple[Boolean, ...], why: str = "") -> Step:
        return Step(label, _minor(gram), "cases", parts, given, why=why)

    steps = (
        _cite("M-self", source, "M-self", plain),
        Step("M-positive", Gt(mix(i, i), 0), "sign", ("M-self",)),
        _cite("before", source, "g", plain, _EARLIER),
        _cite("h", source, "h", plain),
        Step("self", Eq(gram(i, i), f(i)), "identity", ("h",)),
        Step("same", Eq(gram(i, j), f(i)), "equals", ("self",), (Eq(j, i),)),
        lower,
        Step("mirror", Eq(gram(i, j), gram(j, i)), "symmetric"),
        _place("lower-ji", lower, j, i, Le(i, j)),
        upper,
        Step("positive-lower", Gt(gram(i, j), 0), "sign", ("lower",), (_VISIBLE,), why="0 <= alpha < 1"),
        Step("positive-upper", Gt(gram(i, j), 0), "sign", ("upper",), (Le(i, j),)),
        Step("positive", Gt(gram(i, j), 0), "cases", ("positive-lower", "positive-upper")),
        _place("lower-kp", lower, k, p, Le(p, k)), _place("upper-kp", upper, k, p, Le(k, p)),
        _place("lower-ip", lower, i, p, Le(p, i)), _place("upper-ip", upper, i, p, Le(i, p)),
        _place("lower-kj", lower, k, j, Le(j, k)), _place("upper-kj", upper, k, j, Le(k, j)),
        interleaved("j-p-i-k", "lower", "lower", "lower", "lower", given=(Lt(j, p), Le(p, i), Lt(i, k))),
        interleaved("j-i-p-k", "lower", "lower", "upper", "lower", given=(Le(j, i), Lt(i, p), Le(p, k)),
                    left=(i, p, k)),
        interleaved("j-i-k-p", "lower", "upper", "upper", "lower", given=(Le(j, i), Lt(i, k), Lt(k, p)),
                    left=(i, k, p)),
        interleaved("i-j-p-k", "upper", "lower", "upper", "lower", given=(Lt(i, j), Lt(j, p), Le(p, k)),
                    left=(j, p, k)),
        interleaved("i-j-k-p", "upper", "upper", "upper", "lower", given=(Lt(i, j), Le(j, k), Lt(k, p)),
                    left=(j, k, p)),
        interleaved("i-k-j-p", "upper", "upper", "upper", "upper", given=(Lt(i, k), Lt(k, j), Lt(j, p))),
        joined("j-i-p", "j-i-p-k", "j-i-k-p", given=(Le(j, i), Lt(i, p), Lt(i, k))),
        joined("i-j-k", "i-j-p-k", "i-j-k-p", given=(Lt(i, j), Le(j, k), Lt(j, p))),
        joined("i-j", "i-j-k", "i-k-j-p", given=(Lt(i, j), Lt(i, k), Lt(j, p))),
        joined("i-p", "j-i-p", "i-j", given=(*_ORDERED, Lt(i, p))),
        joined("minor", "j-p-i-k", "i-p", given=_ORDERED, why="f decreases, and G_ij = f(max(i, j))"),
    )  # fmt: skip
    return Derivation(
        name="averaging-1",
        title="Averaging once",
        hypotheses=PAPER,
        steps=steps,
        lemmas=(source,),
        intro="Without residual and for beta = 0 inner products after layer one depend on the later token alone.",
    )


@cache
def every_layer() -> Derivation:
    """Inner products are positive after every layer, and no 2x2 minor of them is negative: by induction."""
    lemma = first_layer()
    before, after, mix = _gram(l), _gram(l + 1), _mix(l + 1)

    def weight(a: Expr, b: Expr) -> Weight:
        return Weight(l + 1, a, b, **_MODEL)

    def coefficient(a: Expr, b: Expr) -> Expr:
        return 1 / (a * sqrt(before(b, b)))

    at = {"at": l}
    supposed = Step("positive-l", Gt(before(i, j), 0), "suppose", hints=at, why="to be shown for all layers")
    count = Sum(Integer(1), (k, 1, i))
    uniform = Step("A", Eq(weight(i, j), 1 / i), "identity", ("softmax", "count"), (_VISIBLE,),
                   why="for beta = 0 all visible keys get the same weight")  # fmt: skip
    mixed = Step("M", Eq(mix(i, j), coefficient(i, j)), "cases", ("M-before", "M-same"), (_VISIBLE,))
    positive = Step("M-positive", Gt(mix(i, j), 0), "sign", ("M", "norm"), (_VISIBLE,))
    term = mix(i, k) * mix(j, p) * before(k, p)
    double = Sum(term, (k, 1, i), (p, 1, j))
    induction = ("positive-l", "minor-l", "positive-1", "minor-1", "positive-next", "minor-next")
    steps = (
        supposed,
        Step("minor-l", _minor(before), "suppose", given=_ORDERED, hints=at, why="likewise"),
        _place("norm", supposed, j, j),
        _place("norm-i", supposed, i, i),
        _place("norm-p", supposed, p, p),
        Step("softmax", Eq(weight(i, j), 1 / count), "softmax", given=(_VISIBLE,)),
        Step("count", Eq(count, i), "constant_sum"),
        uniform,
        _place("A-ii", uniform, i, i),
        Step("M-before", Eq(mix(i, j), coefficient(i, j)), "mix", ("A", "norm"), (_EARLIER,)),
        Step("M-self", Eq(mix(i, i), coefficient(i, i)), "mix", ("A-ii", "norm-i")),
        Step("M-same", Eq(mix(i, j), coefficient(i, j)), "equals", ("M-self",), (Eq(j, i),)),
        mixed,
        positive,
        Step("M-nonnegative", Ge(mix(i, j), 0), "sign", ("M-positive",), (_VISIBLE,)),
        _place("M-kp", mixed, k, p, Le(p, k)),
        _place("M-ip", mixed, i, p, Le(p, i)),
        _place("M-kj", mixed, k, j, Le(j, k)),
        Step("M-minor", _minor(mix), "sign", ("M", "M-kp", "M-ip", "M-kj", "norm", "norm-p"), (*_ORDERED, Le(p, i)),
             why="both products are the same"),
        Step("G", Eq(after(i, j), double), "gram"),
        _place("M-positive-ik", positive, i, k, Le(k, i)), _place("M-positive-jp", positive, j, p, Le(p, j)),
        _place("before-kp", supposed, k, p),
        Step("term", Gt(term, 0), "sign", ("M-positive-ik", "M-positive-jp", "before-kp"), (Le(k, i), Le(p, j))),
        Step("sum", Gt(double, 0), "positive_sum", ("term",)),
        Step("positive-next", Gt(after(i, j), 0), "sign", ("G", "sum")),
        Step("minor-next", _minor(after), "minors", ("minor-l", "M-nonnegative", "M-minor"), _ORDERED,
             {"at": (i, j, k, p)}),
        _cite("positive-1", lemma, "positive", {}),
        _cite("minor-1", lemma, "minor", {}, *_ORDERED),
        Step("positive", Gt(before(i, j), 0), "induction", induction, (), {**at, "from": Integer(1)}),
        Step("minor", _minor(before), "induction", induction, _ORDERED, {**at, "from": Integer(1)}),
    )  # fmt: skip
    return Derivation(
        name="averaging",
        title="Averaging, layer after layer",
        hypotheses=PAPER,
        steps=steps,
        lemmas=(lemma,),
        intro="Inner products stay positive, and their 2x2 minors do not become negative.",
    )


@cache
def increasing() -> Derivation:
    """Closer keys score higher in every layer from the second on."""
    lemma, gram, following = every_layer(), _gram(l - 1), j + 1
    seen, two, adjacent, deep = Le(following, i), Lt(following, i), Eq(j, i - 1), Ge(l, 2)
    before = {l: l - 1}

    def score(a: Expr, b: Expr) -> Score:
        return Score(l, a, b, **_MODEL)

    def cosine(a: Expr, b: Expr) -> Expr:
        return gram(a, b) / (sqrt(gram(a, a)) * sqrt(gram(b, b)))

    inner = Step("S", Eq(score(i, j), cosine(i, j)), "score", ("norm", "norm-j"), (_VISIBLE,))
    below = Step("below", Lt(score(i, j), 1), "independence", (), (_EARLIER,), why="no two vectors are parallel")
    here, closer, step = score(i, j), score(i, following), score(following, j)
    gap = gram(following, j) * gram(i, following) - gram(following, following) * gram(i, j)
    norms = gram(following, following) * sqrt(gram(i, i)) * sqrt(gram(j, j))
    steps = (
        _cite("norm", lemma, "positive", {**before, j: i}),
        _cite("norm-j", lemma, "positive", {**before, i: j}),
        _cite("norm-next", lemma, "positive", {**before, i: following, j: following}),
        inner,
        _place("S-next", inner, i, following, seen), _place("S-step", inner, following, j),
        below,
        _place("below-step", below, following, j),
        _cite("inner-positive", lemma, "positive", {**before, j: following}),
        Step("S-positive", Gt(closer, 0), "sign", ("S-next", "norm", "norm-next", "inner-positive"), (seen,)),
        _cite("minor", lemma, "minor", {**before, i: following, k: i, p: following}, two),
        Step("chain", Ge(closer * step, here), "sign",
             ("minor", "S", "S-next", "S-step", "norm", "norm-j", "norm-next"), (two,),
             {"form": Mul(gap, 1 / norms, evaluate=False)}, why="the minor, divided by the norms"),
        Step("shorter", Lt(closer * step, closer), "product", ("below-step", "S-positive"), (seen,),
             {"factor": closer}),
        Step("far", Lt(here, closer), "add", ("chain", "shorter"), (two,)),
        Step("one", Eq(score(i, i), 1), "score", ("norm",), why="a vector has cosine 1 with itself"),
        _place("below-last", below, i, i - 1, adjacent),
        Step("last", Lt(score(i, i - 1), score(i, i)), "sign", ("below-last", "one"), (adjacent,)),
        Step("near", Lt(here, closer), "equals", ("last",), (adjacent,)),
        Step("increase", Lt(here, closer), "cases", ("far", "near"), (_EARLIER,)),
    )  # fmt: skip
    return Derivation(
        name="averaging-order",
        title="Closer keys score higher in every layer, by averaging",
        hypotheses=(*PAPER, deep),
        steps=steps,
        lemmas=(lemma,),
        intro="For 0 <= alpha < 1, beta = 0 and no residual S_ij < S_i,j+1 for all j < i, in every layer l >= 2.",
    )
