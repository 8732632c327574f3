"""A LaTeX document of all claims and derivations, and single derivations."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from sympy import And, Basic

from theory.claim import Claim
from theory.derivation import Derivation, Step
from theory.export.abbreviations import abbreviate
from theory.export.arguments import Argument, closure, rule_name, rule_sentence
from theory.export.established import Recorded, counts, how, verdict, witness
from theory.export.models import Model, model_words, models_of, read
from theory.finite_width import score_correction_formula, weight_correction_formula
from theory.notation.chains import conditions
from theory.notation.latex import MathPrinter, latex, latex_condition
from theory.notation.layout import Display, display
from theory.notation.prose import escape, latex_prose
from theory.notation.width import measure

LINE = 39.0  # em between the margins, a little less than there is
NUMBERED = 34.5  # the same beside an equation number

PREAMBLE = r"""\documentclass[11pt,a4paper]{article}
\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\usepackage{lmodern}
\usepackage[margin=2.6cm]{geometry}
\usepackage{amsmath,amssymb,amsthm,mathtools}
\usepackage{graphicx}
\usepackage{xcolor}
\usepackage{booktabs,longtable,array}
\usepackage{microtype}
\usepackage[hidelinks]{hyperref}
\allowdisplaybreaks
\setlength{\emergencystretch}{3em}
\newtheoremstyle{claim}{1.6em}{.5em}{\postdisplaypenalty=10000 }%
  {}{\bfseries}{.}{.5em}{\thmname{#1} \thmnumber{#2}\thmnote{ (#3)}}
\theoremstyle{claim}
\newtheorem{claim}{Claim}[section]
\definecolor{holds}{rgb}{0,.38,.15}
\definecolor{fails}{rgb}{.7,.05,.05}
\definecolor{open}{rgb}{.55,.38,0}
\newcommand{\verdict}[2]{\textcolor{#1}{\textsc{#2}}}
\newcommand{\rulename}[1]{\textit{#1}}
\newcommand{\claimid}[1]{\texttt{#1}}
\newcommand{\reason}[1]{{\small #1}}
\AtBeginDocument{%
  \setlength{\abovedisplayskip}{5pt plus 2pt minus 2pt}\setlength{\belowdisplayskip}{5pt plus 2pt minus 2pt}%
  \setlength{\abovedisplayshortskip}{3pt plus 2pt}\setlength{\belowdisplayshortskip}{4pt plus 2pt minus 1pt}}
\newenvironment{facts}{\par\nopagebreak\vspace{1pt}\noindent\begin{minipage}{\linewidth}\small\raggedright
  \setlength{\parindent}{0pt}\setlength{\parskip}{.15em}}{\end{minipage}\par}
"""
_COLOUR = {"PROVED": "holds", "ENCLOSED": "holds", "REFUTED": "fails"}
_SECTIONS = {
    "kim2025": "Claims of the paper, version 1",
    "kim2026": "Claims of the paper, versions 2 to 4",
    "own": "Corrections and generalisations",
}


def latex_document(
    claims: Sequence[Claim],
    derivations: Sequence[Derivation],
    recorded: Recorded,
    rules: Mapping[str, str],
) -> str:
    """A complete article: the model, every claim with its verdict, every derivation, the rules.

    Args:
        claims: the claims, in the order in which they are to appear.
        derivations: derivations to print besides those that the claims name as proofs.
        recorded: verdicts, by claim id.
        rules: what each rule of the kernel says, by name.
    """
    proofs = [claim.proof for claim in claims if claim.proof is not None]
    arguments = [Argument(d, rules) for d in closure([*derivations, *proofs])]
    parts = [
        PREAMBLE,
        _head(claims, recorded),
        r"\begin{document}",
        r"\maketitle",
        _abstract(claims, arguments, recorded),
    ]
    parts.append(_model())
    parts += _claims(claims, recorded, {argument.derivation.name for argument in arguments})
    parts.append(_expansion())
    if arguments:
        parts.append(
            "\\section{Derivations}\n\nEach step follows from the earlier ones that it cites by the rule in italics; "
            "the rules are listed in Section~\\ref{sec:rules}. Every line holds for all values of its free "
            "symbols that its hypotheses allow.\n"
        )
        parts += [_derivation(argument) for argument in arguments]
        parts.append(_rules(arguments, rules))
    parts.append("\\end{document}\n")
    return "\n".join(parts)


def derivation_latex(derivation: Derivation, rules: Mapping[str, str]) -> str:
    """One derivation with its lemmas, as a complete document."""
    arguments = [Argument(d, rules) for d in closure([derivation])]
    title = rf"\title{{{escape(derivation.title)}}}" + "\n\\author{}\n\\date{}"
    parts = [PREAMBLE, title, r"\begin{document}", r"\maketitle"]
    parts += [_derivation(argument) for argument in arguments]
    parts += [_rules(arguments, rules), "\\end{document}\n"]
    return "\n".join(parts)


def _expansion() -> str:
    """The 1/d terms of expected weights and scores, in letters."""
    return (
        "\\section{Expansion in $1/d$}\n\n"
        "Over random inputs of width $d$ with mean cosine $\\alpha$, for $j < i$ and up to terms of order $1/d^2$, "
        "$E A^{(1)}_{ij} = 1/D_i + c^{(1)}_{ij}/d$ and $E S^{(2)}_{ij} = \\bar{S}^{(2)}_{ij} + c^{(2)}_{ij}/d$, where "
        "$\\bar{S}^{(2)}_{ij} = g_i/(h_i h_j)$ is the limit and\n"
        f"{{\\small\n{weight_correction_formula().latex()}\nand\n{score_correction_formula().latex()}\n}}\n"
    )


# -- front matter ------------------------------------------------------------------------------


def _head(claims: Sequence[Claim], recorded: Recorded) -> str:
    return (
        "\\title{Positional information from a causal mask:\\\\claims, verdicts and derivations}\n"
        "\\author{Generated by \\texttt{maskproof}}\n\\date{}"
    )


def _abstract(claims: Sequence[Claim], arguments: Sequence[Argument], recorded: Recorded) -> str:
    tally = _listed([f"{count} {_small(name)}" for name, count in counts(list(claims), recorded)])
    steps = sum(len(argument.derivation.steps) for argument in arguments)
    refuted = [claim for claim in claims if verdict(claim, recorded) == "REFUTED"]
    text = (
        f"This document states {len(claims)} claims about attention scores in a decoder without positional "
        "encoding (Kim et al., \\emph{Behind RoPE: How Does Causal Mask Encode Positional Information?}, "
        f"arXiv 2509.21042, and what follows from it). Of these, {tally}. "
    )
    if refuted:
        text += "Refuted are " + _listed([_link(claim) for claim in refuted]) + ". "
    if arguments:
        text += f"The {len(arguments)} derivations consist of {steps} steps, each of which was checked by machine."
    return f"\\begin{{abstract}}\n{text}\n\\end{{abstract}}\n"


def _small(name: str) -> str:
    words = {"PROVED": "proved", "ENCLOSED": "enclosed", "SAMPLED": "sampled", "REFUTED": "refuted"}
    return {**words, "UNKNOWN": "undecided"}.get(name, name)


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " and " + words[-1] if words else "none"


def _link(claim: Claim) -> str:
    return rf"\hyperref[{_label('claim', claim.id)}]{{\claimid{{{escape(claim.id)}}}}}"


def _label(kind: str, *names: str) -> str:
    return ":".join([kind, *(re.sub(r"[^A-Za-z0-9.-]", "-", name) for name in names)])


def _model() -> str:
    return r"""
\section{The model}

The input consists of $n$ vectors $x_1, \dots, x_n \in \mathbb{R}^d$. A layer without parameters maps them to
\begin{gather*}
  y_i = N(x_i), \qquad S_{ij} = \tfrac{1}{c}\langle y_i, y_j\rangle, \qquad
  A_{ij} = \frac{e^{\beta S_{ij}}}{\sum_k e^{\beta S_{ik}}}, \qquad
  x_i' = \lambda x_i + \sum_j A_{ij} y_j,
\end{gather*}
where the sums run over the keys that query $i$ sees: $1, \dots, i$ under the causal mask. $N$ normalises to
unit length ($\ell_2$) unless something else is said; $\beta \ge 0$ is the inverse temperature, $\lambda \ge 0$
the weight of the residual stream and $c$ the scale of the scores; the paper has $\beta = \lambda = c = 1$.
Positions count from 1. $S^{(l)}$ and $A^{(l)}$ are the scores and weights of layer $l$,
$G^{(l)}_{ij} = \langle x_i^{(l)}, x_j^{(l)}\rangle$ the Gram matrix after it, $M^{(l)}_{ij}$ the coefficient of
$x_j^{(l-1)}$ in $x_i^{(l)}$, and $K$ the Gram matrix of the inputs. \emph{Equicorrelated} inputs have
$K_{ii} = 1$ and $K_{ij} = \alpha$ for $i \ne j$: the limit of random inputs as $d \to \infty$. For a random law,
quantities are expectations over it.

\paragraph{Verdicts.} \verdict{holds}{proved}: an exact argument covers the whole domain.
\verdict{holds}{enclosed}: ball arithmetic certifies every point of the domain. \verdict{open}{sampled}: nothing
against it was found, on part of the domain or at stated error rates. \verdict{fails}{refuted}: a counterexample
is certified. \verdict{open}{unknown}: none of these.
"""


# -- claims ------------------------------------------------------------------------------------


def _claims(claims: Sequence[Claim], recorded: Recorded, derived: set[str]) -> list[str]:
    parts: list[str] = []
    groups: dict[str, list[Claim]] = {}
    for claim in claims:
        groups.setdefault(claim.id.split(".")[0] if "." in claim.id else "claims", []).append(claim)
    for group, members in groups.items():
        parts.append(f"\\section{{{escape(_SECTIONS.get(group, group.capitalize()))}}}\n")
        parts += [_claim(claim, recorded, derived) for claim in members]
    return parts


def _claim(claim: Claim, recorded: Recorded, derived: set[str]) -> str:
    models = models_of([claim.statement])
    names = _names(models) if len(models) > 1 else {}
    short = abbreviate(claim.statement)
    printer = MathPrinter(names)
    for_all = _for_all(claim)
    rows = _aligned(display(short.expression, printer, LINE))
    lines = [
        rf"\begin{{claim}}[\claimid{{{escape(claim.id)}}}]\label{{{_label('claim', claim.id)}}}",
        for_all,
        rows,
    ]
    if short.definitions:
        lines.append(_where("where", short.definitions))
    lines.append(_facts(claim, recorded, models, derived))
    lines.append(r"\end{claim}")
    return "\n".join(lines) + "\n"


def _where(word: str, letters: Sequence[Basic]) -> str:
    """Definitions of letters: in the line if they are short, displayed if they have fractions."""
    texts = [latex(letter) for letter in letters]
    inline = [f"${text}$" for text in texts if r"\frac" not in text]
    tall = [text for text in texts if r"\frac" in text]
    line = f"{word} {_listed(inline)}" if inline else word
    if not tall:
        return f"{line}."
    shown = ", \\\\\n  ".join(text.replace(" = ", " &= ", 1) for text in tall)
    return f"{line}{' and' if inline else ''}\n\\begin{{align*}}\n  {shown}.\n\\end{{align*}}"


def _for_all(claim: Claim) -> str:
    shown = [f"${latex_condition(c)}$" for c in conditions(And(claim.domain), claim.free_symbols)]
    return f"For all {_listed(shown)}," if shown else "It holds that"


def _names(models: Sequence[Model]) -> dict[Model, str]:
    return {model: rf"\mathcal{{M}}_{place}" for place, model in enumerate(models, start=1)}


def _facts(claim: Claim, recorded: Recorded, models: Sequence[Model], derived: set[str]) -> str:
    found = verdict(claim, recorded)
    reached = latex_prose(how(claim, recorded))
    if found == "PROVED" and claim.proof is not None and claim.proof.name in derived:
        reached = rf"by Derivation~\ref{{{_label('der', claim.proof.name)}}}, {latex_prose(claim.proof.title)}"
    lines = [
        rf"\textbf{{Verdict:}} \verdict{{{_COLOUR.get(found, 'open')}}}{{{found.lower()}}}"
        + (f", {reached}" if reached else "")
    ]
    point = witness(claim, recorded)
    if point:
        lines[0] += f"; witness ${_witness_math(point)}$"
    lines[0] += "."
    if len(models) > 1:
        for model, name in _names(models).items():
            decoder, inputs = read(model)
            words = model_words(decoder or claim.decoder, inputs or claim.inputs)
            lines.append(rf"\textbf{{Model}} ${name}$: {latex_prose(words)}.")
    elif models and (claim.decoder, claim.inputs) != read(models[0]) and None not in read(models[0]):
        lines.append(rf"\textbf{{Model:}} {latex_prose(model_words(*read(models[0])))}.")
    else:
        lines.append(rf"\textbf{{Model:}} {latex_prose(model_words(claim.decoder, claim.inputs))}.")
    if claim.source:
        lines.append(rf"\textbf{{Source:}} {latex_prose(claim.source).rstrip('.')}.")
    if claim.uses:
        lines.append(r"\textbf{Uses:} " + ", ".join(rf"\claimid{{{escape(name)}}}" for name in claim.uses) + ".")
    if claim.note:
        lines.append(latex_prose(claim.note))
    return "\\begin{facts}\n" + "\n\n".join(lines) + "\n\\end{facts}"


def _witness_math(point: str) -> str:
    greek = re.sub(r"\b(alpha|beta)\b", r"\\\1", point)
    return re.sub(r"\blam\b", r"\\lambda", greek).replace(", ", ",\\ ")


# -- derivations -------------------------------------------------------------------------------


def _derivation(argument: Argument) -> str:
    derivation = argument.derivation
    lines = [rf"\subsection{{{_heading(derivation.title)}}}\label{{{_label('der', derivation.name)}}}", ""]
    if derivation.intro:
        lines.append(latex_prose(derivation.intro) + "\n")
    names = _names(argument.models) if len(argument.models) > 1 else {}
    if names:
        for model, name in names.items():
            lines.append(rf"\noindent${name}$: {latex_prose(model_words(*read(model)))}." + "\n")
    elif argument.models:
        lines.append(rf"\noindent\emph{{Model:}} {latex_prose(model_words(*read(argument.models[0])))}." + "\n")
    hypotheses = [f"${latex_condition(c)}$" for c in argument.hypotheses]
    if hypotheses:
        lines.append(rf"\noindent\emph{{Hypotheses:}} {_listed(hypotheses)}." + "\n")
    if argument.letters:
        lines.append(r"\noindent " + _where(r"\emph{Notation:}", argument.letters) + "\n")
    lines += _steps(argument, MathPrinter(names))
    return "\n".join(lines)


def _heading(title: str) -> str:
    """A title with formulas in it; bookmarks get the plain text."""
    text = latex_prose(title)
    return rf"\texorpdfstring{{{text}}}{{{escape(title)}}}" if "$" in text else text


def _steps(argument: Argument, printer: MathPrinter) -> list[str]:
    """Steps in ``align`` environments, as many in each as fit when aligned at their relation signs."""
    groups: list[list[tuple[Step, list[Display]]]] = []
    left = right = 0.0
    for step in argument.derivation.steps:
        rows = display(argument.statement(step), printer, NUMBERED)
        wide = max(row.width[0] for row in rows), max(row.width[1] for row in rows)
        if groups and max(left, wide[0]) + max(right, wide[1]) <= NUMBERED:
            left, right = max(left, wide[0]), max(right, wide[1])
            groups[-1].append((step, rows))
        else:
            left, right = wide
            groups.append([(step, rows)])
    return [_group(argument, group) for group in groups]


def _group(argument: Argument, group: Sequence[tuple[Step, list[Display]]]) -> str:
    first = _reason(argument, group[0][0])
    lines: list[str] = []
    for place, (step, rows) in enumerate(group):
        if place:
            lines.append(rf"\shortintertext{{{_reason(argument, step)}}}")
        label = _label("eq", argument.derivation.name, step.label)
        equation = [f"  {line}" for line in _rows(rows, NUMBERED)]
        equation[-1] += rf" \tag{{{_number(argument, step)}}}\label{{{label}}}"
        lines.append(" \\notag\\\\\n".join(equation))
    body = "\n".join(lines)
    return f"\\noindent {first}\n\\begin{{align}}\n{body}\n\\end{{align}}"


def _number(argument: Argument, step: Step) -> str:
    return rf"\ref*{{{_label('der', argument.derivation.name)}}}.{argument.number[step.label]}"


def _rows(rows: Sequence[Display], width: float) -> list[str]:
    lines: list[str] = []
    for row in rows:
        for place, line in enumerate(row.lines):
            left = row.left if place == 0 else ""
            if measure(left) + measure(line) > width:  # no place to break: shrink it
                line = rf"\resizebox{{{width - measure(left) - 1:.1f}em}}{{!}}{{$\displaystyle {line}$}}"
            lines.append(f"{left} & {line}".strip() if left else f"& {line}")
    return lines


def _aligned(rows: Sequence[Display]) -> str:
    """A claim's statement, with a full stop left to the reader."""
    body = "\\\\\n".join("  " + line for line in _rows(rows, LINE))
    return f"\\begin{{align*}}\n{body}\n\\end{{align*}}"


def _reason(argument: Argument, step: Step) -> str:
    words = [rf"\rulename{{{escape(rule_name(step.rule))}}}"]
    references = [rf"\eqref{{{_label('eq', argument.derivation.name, label)}}}" for label in step.premises]
    cited = argument.lemma(step)
    if cited is not None:
        lemma, label = cited
        words = [rf"by \eqref{{{_label('eq', lemma, label)}}}"]
        if references:
            words.append("with " + ", ".join(references))
    elif step.rule == "cite":
        words = [f"by {references[0]}"] + (["with " + ", ".join(references[1:])] if references[1:] else [])
    elif references:
        words.append("from " + ", ".join(references))
    values = argument.values(step)
    if values:
        words.append("with " + _listed([_put_in(symbol, value) for symbol, value in values.items()]))
    text = " ".join(words)
    if step.why:
        why = step.why if _is_formula(step.why) else step.why[0].upper() + step.why[1:]
        text = f"{latex_prose(why)} ({text})"
    else:
        text = text[0].upper() + text[1:] if text.startswith("by") else text
    if step.given:
        shown = [f"${latex_condition(c)}$" for part in step.given for c in conditions(part)]
        text = f"For {_listed(shown)}: {text}"
    return rf"\reason{{{text}:}}"


def _put_in(symbol: Basic, value: Basic) -> str:
    """A substitution: one position for another, or the value of a parameter."""
    if symbol.is_integer:
        return f"${latex(value)}$ for ${latex(symbol)}$"
    return f"${latex(symbol)} = {latex(value)}$"


def _is_formula(text: str) -> bool:
    """Whether a reason opens with a formula, which keeps its small letter."""
    return bool(re.match(r"(?!a )[A-Za-z]'*(?![A-Za-z])|(alpha|beta|lam|exp|sqrt)\b", text))


def _rules(arguments: Iterable[Argument], rules: Mapping[str, str]) -> str:
    used = dict.fromkeys(step.rule for argument in arguments for step in argument.derivation.steps)
    rows = [
        rf"\rulename{{{escape(rule_name(rule))}}} & {latex_prose(rule_sentence(rules, rule))} \\"
        for rule in sorted(used)
        if rule_sentence(rules, rule)
    ]
    if not rows:
        return "\\section{Rules}\\label{sec:rules}\n"
    table = "\n".join(rows)
    return (
        "\\section{Rules}\\label{sec:rules}\n\n"
        "A step may use a rule only where the rule's side conditions hold; the program checks them.\n\n"
        "\\begin{longtable}{@{}>{\\raggedright}p{.2\\linewidth}>{\\raggedright\\arraybackslash}p{.74\\linewidth}@{}}\n"
        f"\\toprule\nrule & what it says \\\\\n\\midrule\n\\endhead\n{table}\n\\bottomrule\n\\end{{longtable}}\n"
    )
