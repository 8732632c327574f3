"""Formulas, derivations and claims in print; generated Python that runs by itself."""

from __future__ import annotations

import pkgutil
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any
from zlib import crc32

import numpy as np
import pytest
import sympy
from sympy import Abs, And, E, Eq, Function, Implies, Le, Limit, Lt, Rational, Sum, exp, oo, sqrt
from sympy.core.relational import Relational

from maskproof.numerics import mean_field
from maskproof.theory import (
    Claim,
    Decoder,
    Derivation,
    Equicorrelated,
    Gram,
    Score,
    Sphere,
    Step,
    Weight,
    alpha,
    beta,
    d,
    i,
    j,
    k,
    lam,
    n,
)
from maskproof.theory import claims as claim_files
from maskproof.theory.claims import kim2025, own
from maskproof.theory.export import (
    FORMS,
    Item,
    derivation_latex,
    derivation_text,
    expansions,
    fragment,
    latex_document,
    markdown_document,
    python_source,
)
from maskproof.theory.export.abbreviations import CORRECTION, LIMIT, abbreviate
from maskproof.theory.export.arguments import Argument
from maskproof.theory.export.families import families
from maskproof.theory.export.models import models_of
from maskproof.theory.export.steps import Written
from maskproof.theory.finite_width import limiting_score, score_correction
from maskproof.theory.layer_one import h_squared, r
from maskproof.theory.layer_two import order
from maskproof.theory.notation import macros
from maskproof.theory.notation.chains import conditions
from maskproof.theory.notation.latex import MathPrinter, latex, latex_condition
from maskproof.theory.notation.layout import display
from maskproof.theory.notation.plain import plain
from maskproof.theory.notation.prose import escape, latex_prose, markdown_prose
from maskproof.theory.notation.width import measure
from maskproof.theory.quantities import Correction, Quantity
from maskproof.theory.symbols import m
from maskproof.theory.topics import TOPICS

CLAIMS = [*kim2025.claims, *own.claims]
SHIPPED = [
    claim
    for file in pkgutil.iter_modules(claim_files.__path__)
    for claim in import_module(f"maskproof.theory.claims.{file.name}").claims
]

FORMULAS = [
    (exp(beta * (1 - alpha)), r"e^{\beta (1 - \alpha)}", "exp(beta*(1 - alpha))"),
    (Score(2, i, j) ** 2, r"(S^{(2)}_{ij})^{2}", "S2[i,j]^2"),
    (Score(2, i, j + 1), r"S^{(2)}_{i,j + 1}", "S2[i,j + 1]"),
    (i - 1 + r, "r + i - 1", "r + i - 1"),
    (1 + lam, r"1 + \lambda", "1 + lam"),
    (alpha - 1, r"\alpha - 1", "alpha - 1"),
    (1 / (r + i - 1), r"\frac{1}{r + i - 1}", "1/(r + i - 1)"),
    (i / (2 * r), r"\frac{i}{2 r}", "i/(2*r)"),
    (sqrt(1 + 3 * alpha), r"\sqrt{1 + 3 \alpha}", "sqrt(1 + 3*alpha)"),
    (Rational("0.154"), "0.154", "0.154"),
    (Rational("0.104"), "0.104", "0.104"),
    (Rational("0.010391178"), "0.010391178", "0.010391178"),
    (Rational("-1e-7"), "-10^{-7}", "-0.0000001"),
    (Rational(1, 3), r"\frac{1}{3}", "1/3"),
    (exp(-j / 2), "e^{-j/2}", "exp(-j/2)"),
    (
        (1 - alpha) / i * (alpha + 1 / i),
        r"\frac{1 - \alpha}{i} \left(\alpha + \frac{1}{i}\right)",
        "(1 - alpha)*(alpha + 1/i)/i",
    ),
    (Function("h")(i) ** 2, "h(i)^{2}", "h(i)^2"),
    (2 * E * exp(2 * alpha), r"2 e^{1 + 2 \alpha}", "2*exp(1 + 2*alpha)"),
    (Sum(Weight(1, i, k), (k, 1, i)), r"\sum_{k=1}^{i} A^{(1)}_{ik}", "sum[k=1..i](A1[i,k])"),
    (Limit(Score(2, i, j), i, oo), r"\lim_{i \to \infty} S^{(2)}_{ij}", "lim[i->infinity](S2[i,j])"),
    (Lt(Score(2, i, j), 1), "S^{(2)}_{ij} < 1", "S2[i,j] < 1"),
    (Lt(Correction(Score(2, i, j)), 0), r"[d^{-1}]\operatorname{E}[S^{(2)}_{ij}] < 0", "[1/d]E(S2[i,j]) < 0"),
    (2 * Correction(Gram(1, i, i)) ** 2, r"2 ([d^{-1}]\operatorname{E}[G^{(1)}_{ii}])^{2}", "2*[1/d]E(G1[i,i])^2"),
    (
        Le(Abs(Score(2, 2, 1) - Rational("0.154")), Rational("0.0005")),
        r"|S^{(2)}_{2,1} - 0.154| \le 0.0005",
        "Abs(S2[2,1] - 0.154) <= 0.0005",
    ),
    (
        Implies(Lt(alpha, 0), Lt(Score(2, i, j), 0)),
        r"\alpha < 0 \implies S^{(2)}_{ij} < 0",
        "if alpha < 0, then S2[i,j] < 0",
    ),
]


@pytest.mark.parametrize(("formula", "in_latex", "in_text"), FORMULAS)
def test_formulas_as_a_mathematician_writes_them(formula: sympy.Basic, in_latex: str, in_text: str) -> None:
    assert latex(formula) == in_latex
    assert plain(formula) == in_text


def test_a_sum_of_ones_is_a_number_of_things() -> None:
    ones = sympy.Piecewise((1, Lt(Score(2, i, j), alpha)), (0, True))
    pairs, queries = Sum(ones, (j, 1, i - 1), (i, 2, 50)), Sum(ones, (i, 2, 50))
    assert latex(pairs) == r"\#\{(i, j) : 1 \le j < i \le 50,\ \alpha > S^{(2)}_{ij}\}"
    assert latex(queries) == r"\#\{i : 2 \le i \le 50,\ \alpha > S^{(2)}_{ij}\}"
    assert latex(Sum(2 * ones, (i, 2, 50))).startswith(r"\sum_{i=2}^{50}")


def test_conditions_join_into_chains() -> None:
    domain = And(Lt(j + 1, i), Le(0, alpha), Lt(alpha, 1))
    shown = [latex_condition(part) for part in conditions(domain, (i, j, alpha, beta))]
    assert shown == [r"1 \le j < i - 1", r"0 \le \alpha < 1", r"\beta \ge 0"]


POINT = {i: 7, j: 3, d: 5, n: 9, m: 2, alpha: Rational(2, 7), beta: Rational(3, 5), lam: Rational(4, 9)}


@pytest.mark.parametrize("claim", SHIPPED, ids=lambda claim: claim.id)
def test_letters_do_not_change_a_statement(claim: Claim) -> None:
    """Letters put in and replaced again by their printed definitions give the same numbers."""
    short = abbreviate(claim.statement)
    expression = short.expression.replace(Function("Gamma"), sympy.gamma)
    if expression.has(CORRECTION):  # printed in a section of its own
        paper = {alpha: sympy.Integer(0), beta: sympy.Integer(1), lam: sympy.Integer(1)}
        paper = {} if alpha in claim.free_symbols else paper
        terms = {CORRECTION: score_correction().xreplace(paper), LIMIT: limiting_score().xreplace(paper)}
        expression = expression.xreplace(terms)
    for meaning in reversed(short.definitions):
        expression = expression.replace(*_replacement(meaning))
    assert _numbers(expression) == pytest.approx(_numbers(sympy.sympify(claim.statement)), rel=1e-12, abs=1e-12)


def _replacement(meaning: Any) -> tuple[Callable[[Any], bool], Callable[[Any], Any]]:
    """Arguments of ``replace`` that put in, for a letter, what it stands for."""
    left, right = meaning.lhs, meaning.rhs
    if left.is_Symbol:
        return (lambda e: e == left), (lambda e: right)
    if left.is_Pow:  # h(i)^2 = ...
        left, right = left.base, sqrt(right)
    return (lambda e: e.func == left.func), (lambda e: right.xreplace({i: e.args[0]}))


def _numbers(statement: Any) -> list[float]:
    """Difference of the sides of each relation, every quantity being an arbitrary number of its own."""
    values = []
    for relation in statement.atoms(Relational):
        difference = relation.lhs - relation.rhs
        if not difference.has(Limit, sympy.Derivative, sympy.Piecewise):
            number = {q: Rational(crc32(str(q).encode()) % 997, 7) for q in difference.atoms(Quantity, Correction)}
            values.append(float(difference.xreplace(number).subs(POINT)))
    return sorted(values)


@pytest.mark.parametrize("width", [20.0, 28.0, 40.0])
def test_long_formulas_break_into_lines_that_fit(width: float) -> None:
    x = exp(alpha)
    top = i * (i - 1) * (x**3 + 2 * E * x**2) + (6 * i - 4) * E**2 * x + 4 * E**3
    statement = Eq(Gram(1, i + 1, i + 1) - Gram(1, i, i), (alpha - 1) * x * top / (E + i * x) ** 2)
    (row,) = display(statement, MathPrinter(), width)
    assert all(measure(line) <= width for line in row.lines)
    text = "".join((row.left, *row.lines))
    assert text.count("{") == text.count("}")
    assert text.count(r"\Bigl(") == text.count(r"\Bigr)")
    assert text.count(r"\left(") == text.count(r"\right)")


def test_text_is_escaped() -> None:
    assert escape("100% of a_b & c #1 {x} ~ ^ \\ $") == (
        r"100\% of a\_b \& c \#1 \{x\} \textasciitilde{} \textasciicircum{} \textbackslash{} \$"
    )
    assert escape("\u03b1 \u2264 \u03b2 \u2013 \u201cso\u201d \u03bb") == r"$\alpha$ $\le$ $\beta$ -- ``so'' $\lambda$"


@pytest.mark.parametrize(
    ("typed", "printed"),
    [
        ("for j < i the weight", "for $j < i$ the weight"),
        ("a token and 2 keys", "a token and 2 keys"),
        ("divide by exp(alpha beta)", r"divide by $e^{\alpha \beta}$"),
        ("S^(2)_ij at (27, 25)", "$S^{(2)}_{ij}$ at (27, 25)"),
        ("x_(i-1), e^(2+alpha)", r"$x_{i-1}$, $e^{2+\alpha}$"),
        ("see own.layer-two", r"see \texttt{own.layer-two}"),
        ("arXiv 2509.21042v1, Eq. 4", "arXiv 2509.21042v1, Eq. 4"),
        ("'independent of i' holds", "`independent of $i$' holds"),
        ("layers 2-4, the paper's", "layers 2-4, the paper's"),
        ("S_ij < S_i,j+1", "$S_{ij} < S_{i,j+1}$"),
        ("see tests/test_order.py", r"see \texttt{tests/test\_order.py}"),
        ("in e^sqrt(d) and e^(alpha sqrt(d))", r"in $e^{\sqrt{d}}$ and $e^{\alpha \sqrt{d}}$"),
    ],
)
def test_prose_with_formulas(typed: str, printed: str) -> None:
    assert latex_prose(typed) == printed


def test_markdown_prose_keeps_html_out() -> None:
    assert "<" not in markdown_prose("<b>*x*</b> | a < b").replace("\\<", "")


def test_a_derivation_reads_like_a_proof() -> None:
    text = derivation_text(order(), {"product": "c a < c b, from a < b and c > 0; hint ``factor``: c."})
    lines = text.splitlines()
    assert lines[0] == order().title
    hypotheses = "Hypotheses: r = exp(beta*(1 - alpha)), 1 + alpha*(i - 1) > 0, alpha < 1, beta >= 0, lam >= 0."
    assert hypotheses in " ".join(text.split())
    assert "by the lemma norms, step (3)" in text
    assert text.count("[c a < c b, from a < b and c > 0]") == 1  # told once, and without the hint
    assert max(map(len, lines)) <= 80
    for number in range(1, len(order().steps) + 1):
        assert any(line.strip().startswith(f"({number}) ") for line in lines)


def test_every_reference_has_its_label() -> None:
    text = latex_document(CLAIMS, list(TOPICS.values()), {}, {})
    labels = set(_arguments(text, r"\label{"))
    assert labels >= set(_arguments(text, r"\eqref{")) | set(_arguments(text, r"\ref{"))
    assert len(labels) == len(_arguments(text, r"\label{"))


def _arguments(text: str, command: str) -> list[str]:
    return [part.split("}")[0] for part in text.split(command)[1:]]


def test_documents_state_the_recorded_verdicts() -> None:
    recorded = {"kim2025.increasing-3": {"verdict": "REFUTED", "witness": {"i": "27", "j": "25"}}}
    in_latex = latex_document(CLAIMS, [], recorded, {})
    in_markdown = markdown_document(CLAIMS, [], recorded, {})
    assert r"\verdict{fails}{refuted}" in in_latex
    assert r"witness $\mpquery = 27$, $\mpkey = 25$" in in_latex
    assert "**Verdict**: REFUTED" in in_markdown
    for claim in CLAIMS:
        assert f"### {claim.id}\n" in in_markdown
        assert rf"\claimid{{{escape(claim.id)}}}" in in_latex


def test_markdown_mathematics_is_closed() -> None:
    text = markdown_document(CLAIMS, list(TOPICS.values()), {}, {})
    assert text.count("$$") % 2 == 0
    assert text.count(r"\begin{aligned}") == text.count(r"\end{aligned}") == text.count("$$") // 2
    inline = [line for line in text.splitlines() if line != "$$"]
    assert all(line.count("$") % 2 == 0 for line in inline)


def test_a_derivation_by_itself_is_a_document() -> None:
    toy = Derivation("toy_1", "A 100% toy", (), (Step("a_b", Eq(Score(2, i, i), 1), "score", why="x_i & y"),))
    text = derivation_latex(toy, {})
    assert text.startswith(r"\documentclass")
    assert text.rstrip().endswith(r"\end{document}")
    assert r"A 100\% toy" in text
    assert r"\label{eq:toy-1:a-b}" in text


# -- macros and fragments ----------------------------------------------------------------------


@pytest.mark.parametrize("claim", SHIPPED, ids=lambda claim: claim.id)
def test_macros_stand_for_the_notation(claim: Claim) -> None:
    full = [claim.statement] if sympy.sympify(claim.statement).count_ops() < 1000 else []
    for part in (*full, abbreviate(claim.statement).expression):
        written = latex(part, named=True)
        assert macros.expand(written) == latex(part)
        assert not re.search(r"\\(alpha|beta|lambda)\b", written)


def test_prose_in_macros_says_the_same() -> None:
    for text in [claim.note for claim in SHIPPED]:
        written = macros.expand(latex_prose(text, named=True))
        assert written.replace(" ", "") == latex_prose(text).replace(" ", "")


def test_each_macro_stands_for_something_of_its_own() -> None:
    for name, macro in macros.MACROS.items():
        assert re.fullmatch("mp[A-Za-z]+", name)
        assert {int(number) for number in re.findall(r"#(\d)", macro.body)} == set(range(1, macro.arguments + 1))
        assert macro.meaning
    assert {*macros.SYMBOLS.values(), *macros.FUNCTIONS.values(), *macros.QUANTITIES.values()} <= set(macros.MACROS)


def members(statement: Any) -> Iterator[Any]:
    """The parts of a statement, put together again from its families."""
    for family in families(statement):
        for layer in family.layers or (None,):
            for model in family.models or (None,):
                values = {
                    q: q.func(layer or q.layer, q.query, q.key, *(model or q.args[3:]))
                    for q in family.statement.atoms(Quantity)
                }
                yield family.statement.xreplace(values)


@pytest.mark.parametrize("claim", SHIPPED, ids=lambda claim: claim.id)
def test_families_are_the_whole_statement(claim: Claim) -> None:
    found = list(members(claim.statement))
    assert len(found) == len(set(found))
    assert set(found) == set(And.make_args(sympy.sympify(claim.statement)))


def body(text: str) -> str:
    """A fragment without comments and definitions."""
    return "\n".join(line for line in text.splitlines() if not line.startswith(("%", r"\providecommand", r"\ifcs")))


def formulas(text: str) -> str:
    """The mathematics in a fragment: its words, labels and references taken out."""
    text = re.sub(r"\\(label|eqref|texttt|operatorname)\{[^{}]*\}", "", body(text))
    shown = [match[2] for match in re.finditer(r"\\begin\{(align\*?)\}(.*?)\\end\{\1\}", text, re.DOTALL)]
    plain = re.compile(r"\\(?:intertext|text)\{((?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*)\}")
    within = [word for part in shown for word in plain.findall(part)]
    outside = re.sub(r"\\begin\{(align\*?)\}.*?\\end\{\1\}", "", text, flags=re.DOTALL)
    inline = re.findall(r"\$[^$]*\$", "\n".join([outside, *within]))
    return "\n".join([*(plain.sub("", part) for part in shown), *inline])


@pytest.mark.parametrize("form", FORMS)
def test_a_fragment_writes_its_notation_in_macros_alone(form: Any) -> None:
    recorded = {claim.id: {"verdict": "PROVED"} for claim in CLAIMS}
    items = [*(Item(c.id, c) for c in CLAIMS), *(Item(name, t) for name, t in expansions().items())]
    text = fragment(items, form, recorded, {})
    mathematics = formulas(text)
    assert mathematics.count(r"\mpalpha") > 100
    assert not re.search(r"\\(alpha|beta|lambda|kappa|mu|nu|omega|theta|ell|mathcal)\b", mathematics)
    letters = set(re.findall("[A-Za-z]", re.sub(r"\\[A-Za-z]+", " ", mathematics)))
    assert letters <= set("edO")  # the number e, the d of d/dm, Landau's O


def check_complete(text: str) -> None:
    """A fragment defines the macros that it uses and no others, guards its environments, has its labels."""
    defined = re.findall(r"\\providecommand\{\\(\w+)\}", text)
    used = set(re.findall(r"\\(mp[A-Za-z]+)", body(text)))
    assert len(defined) == len(set(defined))
    assert used <= set(defined)
    for name in set(defined) - used:  # needed by others
        assert any(rf"\{name}" in macros.MACROS[other].body for other in defined)
    for name in {"theorem", "remark", "proof"} & set(re.findall(r"\\begin\{(\w+)\}", text)):
        assert rf"\ifcsname {name}\endcsname" in text
    labels = re.findall(r"\\label\{([^}]*)\}", text)
    assert len(labels) == len(set(labels))
    assert set(re.findall(r"\\eqref\{([^}]*)\}", text)) <= set(labels)


@pytest.mark.parametrize("form", FORMS)
def test_a_fragment_brings_what_it_needs(form: Any) -> None:
    check_complete(fragment([Item("eq4", kim2025.claims[5]), Item("order", order())], form, {}, {}))


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_every_fragment_brings_what_it_needs(form: Any) -> None:
    recorded = {claim.id: {"verdict": "PROVED"} for claim in SHIPPED}
    subjects = {**{claim.id: claim for claim in SHIPPED}, **TOPICS, **expansions()}
    for name, subject in subjects.items():
        check_complete(fragment([Item(name, subject)], form, recorded, {}))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (r"\providecommand{\mpalpha}{\alpha}", ""),
        (r"\ifcsname theorem\endcsname\else", ""),
        (r"\label{mp:order:zero}", ""),
        (r"\label{mp:eq4}", r"\label{mp:order}"),
        ("", "\\mpunheard "),
    ],
)
def test_an_incomplete_fragment_is_found(old: str, new: str) -> None:
    recorded = {"kim2025.eq4": {"verdict": "PROVED"}}
    text = fragment([Item("eq4", kim2025.claims[5]), Item("order", order())], "proof", recorded, {})
    assert old in text
    spoilt = text.replace(old, new) if old else text + new
    with pytest.raises(AssertionError):
        check_complete(spoilt)


@pytest.mark.parametrize("form", ["theorem", "proof"])
@pytest.mark.parametrize("verdict", ["PROVED", "ENCLOSED", "SAMPLED", "REFUTED", "UNKNOWN", None])
def test_only_what_is_certain_is_a_theorem(form: Any, verdict: str | None) -> None:
    claim = Claim("mine.order", Lt(Score(3, i, j), Score(3, i, j + 1)), j < i, inputs=Equicorrelated(0))
    recorded = {} if verdict is None else {"mine.order": {"verdict": verdict, "witness": {"i": "27", "j": "25"}}}
    text = fragment([Item("order", claim)], form, recorded, {})
    certain = verdict in ("PROVED", "ENCLOSED")
    assert (r"\begin{theorem}" in text) is certain
    assert (r"\begin{proof}" in text) is (certain and form == "proof")
    assert (r"\emph{" in text) is not certain
    assert f"% mine.order: {verdict or 'not recorded'}" in text
    assert (r"it fails at $\mpquery = 27$, $\mpkey = 25$" in text) is (verdict == "REFUTED")
    assert (r"\text{(false)}" in text) is (verdict == "REFUTED")


def test_a_proof_refers_to_what_is_printed() -> None:
    """Steps of a lemma by number where its proof is printed too, in words where it is not."""
    alone = fragment([Item("layer-two", TOPICS["layer-two"])], "proof", {}, {})
    together = fragment([Item(name, TOPICS[name]) for name in ("norms", "layer-two")], "proof", {}, {})
    assert "of the derivation ``Norms after the first layer''" in alone
    assert "``Norms after the first layer''" not in together
    check_complete(alone)
    check_complete(together)


@pytest.mark.parametrize("claim", [c for c in SHIPPED if c.proof is not None], ids=lambda claim: claim.id)
def test_a_letter_means_the_same_in_statement_and_proof(claim: Claim) -> None:
    assert claim.proof is not None
    stated = {meaning.args[0]: meaning for meaning in abbreviate(claim.statement).definitions}
    for meaning in Written(Argument(claim.proof, {}), "it", 30.0, {}).letters(claim.proof.steps):
        assert stated.get(meaning.args[0], meaning) == meaning


def test_models_of_a_claim_are_named_as_in_its_proof() -> None:
    (claim,) = [claim for claim in SHIPPED if claim.id == "own.layernorm-scale-d"]
    text = fragment([Item("it", claim)], "proof", {claim.id: {"verdict": "PROVED"}}, {})
    assert len(models_of([claim.statement])) == 2
    statement, proof = text.split(r"\begin{proof}")
    (line,) = re.findall(r".*mpwidth \\mpgram.*", statement)
    assert line.split(r"\label")[0].strip(" \\") in proof


# -- Python ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def forms() -> ModuleType:
    module = ModuleType("forms")
    exec(compile(python_source(CLAIMS), "forms.py", "exec"), module.__dict__)
    return module


@pytest.mark.parametrize(("a", "b", "residual"), [(0, 1, 1), (0.3, 2, 0.5), (-0.05, 1, 0.25), (0.9, 0, 0), (0.5, 9, 2)])
def test_quantities_agree_with_the_recursion(forms: ModuleType, a: float, b: float, residual: float) -> None:
    n = 12
    field = mean_field(Decoder(beta=b, residual=residual), a, n, 2)
    i_, j_ = np.tril_indices(n)
    found = {
        "weight_1": field.weights[0], "gram_1": field.gram[0], "score_2": field.scores[1],
    }  # fmt: skip
    for name, expected in found.items():
        value = getattr(forms, name)(i_ + 1, j_ + 1, a, b, residual)
        np.testing.assert_allclose(value, expected[i_, j_], rtol=0, atol=1e-12)


@pytest.mark.parametrize("a", [0, 0.2, 0.8])
def test_the_papers_forms_agree_with_the_recursion(forms: ModuleType, a: float) -> None:
    n = 12
    with_residual, without = mean_field(Decoder(), a, n, 2), mean_field(Decoder(residual=0), a, n, 2)
    i_, j_ = np.tril_indices(n, -1)
    query, key, row = i_ + 1, j_ + 1, np.arange(1, n + 1)
    pairs = [
        (forms.kim2025_g(query, key, a), with_residual.gram[0][i_, j_]),
        (forms.kim2025_h(row, a), np.diagonal(with_residual.gram[0])),
        (forms.kim2025_eq4(query, key, a), with_residual.scores[1][i_, j_]),
        (forms.kim2025_g_prime(query, key, a), without.gram[0][i_, j_]),
        (forms.kim2025_h_prime(row, a), np.diagonal(without.gram[0])),
    ]
    for found, expected in pairs:
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    "arguments",
    [(0, 1, 0), (1, 2, 0), (2.5, 1, 0), (3, 1, 1), (3, 1, np.nan), (3, 1, np.inf), (3, 1, -0.6),
     (3, 1, 0, -1), (3, 1, 0, 1, -1), (np.nan, 1, 0), (3, 1, -0.4, 1e6)],
)  # fmt: skip
def test_exported_functions_refuse_what_violates_a_hypothesis(forms: ModuleType, arguments: tuple) -> None:
    with pytest.raises(ValueError, match=r"violate|range"):
        forms.score_2(*arguments)


def test_exported_module_needs_numpy_alone(tmp_path: Path) -> None:
    file = tmp_path / "forms.py"
    file.write_text(python_source(CLAIMS))
    code = "import sys, forms; print(forms.score_2(2, 1, 0)); sys.exit('sympy' in sys.modules)"
    done = subprocess.run([sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r}); {code}"],
                          capture_output=True, text=True, timeout=60)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert abs(float(done.stdout) - 0.153520650506003146) < 1e-15


def test_long_sub_expressions_get_letters() -> None:
    general = {r: exp(beta * (1 - alpha))}
    short = abbreviate(Eq(Gram(1, i, i), h_squared(i).xreplace(general)))
    assert plain(short.expression) == "G1[i,i] = h(i)^2"
    assert [plain(meaning).split(" = ")[0] for meaning in short.definitions] == ["s", "r", "h(i)^2"]


def test_models_with_their_own_parameters_are_named() -> None:
    zero = Equicorrelated(0)
    cold, hot = (Score(2, 2, 1, decoder=Decoder(beta=b), inputs=zero) for b in (2, 1))
    text = latex_document([Claim("mine.two_models", Lt(cold, hot))], [], {}, {})
    assert r"\mpin{\mpmodel{1}}" in text
    assert r"$\mpmodel{2}$: " in text
    assert r"mine.two\_models" in text


_CORRECTED = Claim("own.mine", Lt(Correction(Score(2, i, j)), 0), Lt(j, i), inputs=Sphere(d, 0))
_MEANING = "in the expectation of a quantity Q over inputs of width"


def test_the_sign_of_a_correction_is_explained_wherever_it_is_printed() -> None:
    texts = [
        markdown_document([_CORRECTED], [], {}, {}),
        latex_document([_CORRECTED], [], {}, {}),
        fragment([Item("mine", _CORRECTED)], "theorem", {}, {}),
    ]
    for text in texts:
        assert _MEANING in " ".join(text.split())
        assert "expectation over random unit vectors" in " ".join(text.split())
    plain_claim = replace(_CORRECTED, statement=Lt(Score(2, i, j), 1))
    for text in (markdown_document([plain_claim], [], {}, {}), fragment([Item("mine", plain_claim)], "align", {}, {})):
        assert _MEANING not in " ".join(text.split())


def test_a_claim_about_formulas_names_no_model() -> None:
    claim = Claim("own.mine", Lt(score_correction(i, j), 0), Lt(j, i))
    for text in (markdown_document([claim], [], {}, {}), latex_document([claim], [], {}, {})):
        assert "none, the statement is about formulas alone" in text
        assert "l2 normalisation" not in text.replace("$\\ell_2$", "l2")
    text = " ".join(fragment([Item("mine", claim)], "theorem", {}, {}).split())
    assert "is the formula for the coefficient of" in text
    assert "at $\\mpalpha = 0$" not in text
    paper = {alpha: sympy.Integer(0), beta: sympy.Integer(1), lam: sympy.Integer(1)}
    at_paper = replace(claim, statement=claim.statement.xreplace(paper))
    assert "at $\\mpalpha = 0$" in fragment([Item("mine", at_paper)], "theorem", {}, {})
