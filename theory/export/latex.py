"""A LaTeX document of all claims and derivations, and single derivations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sympy import true

from maskproof.theory.arithmetic import mentions_quantity
from maskproof.theory.claim import Claim
from maskproof.theory.decoder import Causal
from maskproof.theory.derivation import Derivation, Step
from maskproof.theory.export.arguments import Argument, closure, rule_name, rule_sentence
from maskproof.theory.export.established import Recorded, checker, counts, how, verdict, witness
from maskproof.theory.export.models import NO_MODEL, Model, coefficient_words, model_words, models_of, read
from maskproof.theory.export.sentences import (
    Group,
    aligned_rows,
    for_all,
    formula,
    groups,
    label,
    listed,
    names_of,
    prose,
    put_in,
    sentence_case,
    shown,
    where,
)
from maskproof.theory.finite_width import score_correction_formula, weight_correction_formula
from maskproof.theory.formula import Formula
from maskproof.theory.notation import macros
from maskproof.theory.notation.latex import MathPrinter
from maskproof.theory.notation.layout import display
from maskproof.theory.notation.prose import escape

LINE = 39.0  # em between the margins, a little less than there is
_TOGETHER = 8  # rows of a formula that stays on one page with all that is said of it
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
\newenvironment{facts}{\par\nopagebreak\vspace{5pt}\noindent\begin{minipage}{\linewidth}\small\raggedright
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
        _preamble(),
        _head(),
        r"\begin{document}",
        r"\maketitle",
        _abstract(claims, arguments, recorded),
    ]
    parts += [_model(), *_masks(claims)]
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
    parts = [_preamble(), title, r"\begin{document}", r"\maketitle"]
    parts += [_derivation(argument) for argument in arguments]
    parts += [_rules(arguments, rules), "\\end{document}\n"]
    return "\n".join(parts)


def _expansion() -> str:
    """The 1/d terms of expected weights and scores, in letters."""
    weight, score = (_formula(formula()) for formula in (weight_correction_formula, score_correction_formula))
    return rf"""\section{{Expansion in $1/\mpwidth$}}

Over random inputs of width $\mpwidth$ with mean cosine $\mpalpha$, for $\mpkey < \mpquery$ and up to terms of order
$1/\mpwidth^2$,
\begin{{gather*}}
  \mpexpected \mpweight{{1}}{{\mpquery}}{{\mpkey}} = \frac{{1}}{{\mprowsum{{\mpquery}}}}
  + \frac{{1}}{{\mpwidth}} \mpcorrection{{1}}{{\mpquery}}{{\mpkey}}, \qquad
  \mpexpected \mpscore{{2}}{{\mpquery}}{{\mpkey}} = \mplimitscore{{2}}{{\mpquery}}{{\mpkey}}
  + \frac{{1}}{{\mpwidth}} \mpcorrection{{2}}{{\mpquery}}{{\mpkey}},
\end{{gather*}}
where $\mplimitscore{{2}}{{\mpquery}}{{\mpkey}} =
\mpinnerat{{\mpquery}}/(\mpnormat{{\mpquery}} \mpnormat{{\mpkey}})$ is the limit and
{weight}
and
{score}
"""


def _formula(formula: Formula) -> str:
    """A formula and the definitions of its letters."""
    rows = [
        " \\\\\n  ".join(aligned_rows(display(equation, MathPrinter(named=True), LINE), LINE))
        for equation in formula.definitions()
    ]
    return "\\begin{align*}\n  " + ", \\\\\n  ".join(rows) + ".\n\\end{align*}"


# -- front matter ------------------------------------------------------------------------------


def _preamble() -> str:
    return PREAMBLE + "\n".join(macros.definitions(macros.MACROS)) + "\n"


def _head() -> str:
    return (
        "\\title{Positional information from a causal mask:\\\\claims, verdicts and derivations}\n"
        "\\author{Generated by \\texttt{maskproof}}\n\\date{}"
    )


def _abstract(claims: Sequence[Claim], arguments: Sequence[Argument], recorded: Recorded) -> str:
    tally = listed([f"{count} {_small(name)}" for name, count in counts(list(claims), recorded)])
    steps = sum(len(argument.derivation.steps) for argument in arguments)
    refuted = [claim for claim in claims if verdict(claim, recorded) == "REFUTED"]
    text = (
        f"This document states {len(claims)} claims about attention scores in a decoder without positional "
        "encoding (Kim et al., \\emph{Behind RoPE: How Does Causal Mask Encode Positional Information?}, "
        f"arXiv 2509.21042, and what follows from it). Of these, {tally}. "
    )
    if refuted:
        text += "Refuted are " + listed([_link(claim) for claim in refuted]) + ". "
    if arguments:
        text += f"The {len(arguments)} derivations consist of {steps} steps, each of which was checked by machine."
    return f"\\begin{{abstract}}\n{text}\n\\end{{abstract}}\n"


def _small(name: str) -> str:
    words = {"PROVED": "proved", "ENCLOSED": "enclosed", "SAMPLED": "sampled", "REFUTED": "refuted"}
    return {**words, "UNKNOWN": "undecided"}.get(name, name)


def _link(claim: Claim) -> str:
    return rf"\hyperref[{label('claim', claim.id)}]{{\claimid{{{escape(claim.id)}}}}}"


def _model() -> str:
    return r"""
\section{The model}

The input consists of $\mplength$ vectors $\mpx_1, \dots, \mpx_{\mplength} \in \mathbb{R}^{\mpwidth}$. A layer without
parameters maps them to
\begin{gather*}
  y_{\mpquery} = N(\mpx_{\mpquery}), \qquad
  \mpS_{\mpquery\mpkey} = \tfrac{1}{c}\langle y_{\mpquery}, y_{\mpkey}\rangle, \qquad
  \mpA_{\mpquery\mpkey} = \frac{e^{\mpbeta \mpS_{\mpquery\mpkey}}}{\sum_{\mpother} e^{\mpbeta \mpS_{\mpquery\mpother}}},
  \qquad
  \mpx_{\mpquery}' = \mplambda \mpx_{\mpquery} + \sum_{\mpkey} \mpA_{\mpquery\mpkey} y_{\mpkey},
\end{gather*}
where the sums run over the keys that query $\mpquery$ sees: $1, \dots, \mpquery$ under the causal mask. $N$ normalises
to unit length ($\ell_2$) unless something else is said; $\mpbeta \ge 0$ is the inverse temperature, $\mplambda \ge 0$
the weight of the residual stream and $c$ the scale of the scores; the paper has $\mpbeta = \mplambda = c = 1$.
Positions count from 1. $\mpS^{(\mplayer)}$ and $\mpA^{(\mplayer)}$ are the scores and weights of layer $\mplayer$,
$\mpgram{\mplayer}{\mpquery}{\mpkey} = \langle \mpx_{\mpquery}^{(\mplayer)}, \mpx_{\mpkey}^{(\mplayer)}\rangle$ the Gram
matrix after it, $\mpmix{\mplayer}{\mpquery}{\mpkey}$ the coefficient of $\mpx_{\mpkey}^{(\mplayer-1)}$ in
$\mpx_{\mpquery}^{(\mplayer)}$, and $\mpK$ the Gram matrix of the inputs. \emph{Equicorrelated} inputs have
$\mpinput{\mpquery}{\mpquery} = 1$ and $\mpinput{\mpquery}{\mpkey} = \mpalpha$ for $\mpquery \ne \mpkey$: the limit of
random inputs as $\mpwidth \to \infty$. For a random law, quantities are expectations over it.

\paragraph{Verdicts.} \verdict{holds}{proved}: an exact argument covers the whole domain.
\verdict{holds}{enclosed}: ball arithmetic certifies every point of the domain. \verdict{open}{sampled}: nothing
against it was found, on part of the domain or at stated error rates. \verdict{fails}{refuted}: a counterexample
is certified. \verdict{open}{unknown}: none of these.
"""


def _masks(claims: Sequence[Claim]) -> list[str]:
    """What the masks of the claims show, but for the causal one, of which the model has spoken."""
    models = (read(model)[0] for claim in claims for model in models_of([claim.bound_statement]))
    masks = {model.mask: None for model in models if model is not None and model.mask != Causal()}
    printer = MathPrinter(named=True)
    shows = [
        f"{mask.words}: {'always' if mask.condition == true else f'where ${printer.doprint(mask.condition)}$'}"
        for mask in masks
    ]
    if not shows:
        return []
    return [rf"\paragraph{{Masks.}} When query $\mpquery$ sees key $\mpkey$, by the mask: {'; '.join(shows)}." + "\n"]


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
    rows, letters = formula(claim, names_of(models), LINE)
    lines = [
        rf"\begin{{claim}}[\claimid{{{escape(claim.id)}}}]\label{{{label('claim', claim.id)}}}",
        *([r"\samepage"] if len(rows) <= _TOGETHER else []),
        for_all(claim) or "It holds that",
        "\\begin{align*}\n  " + " \\\\\n  ".join(rows) + "\n\\end{align*}",
        *([where("where", letters, LINE)] if letters else []),
        _facts(claim, recorded, models, derived),
        r"\end{claim}",
    ]
    return "\n".join(lines) + "\n"


def _facts(claim: Claim, recorded: Recorded, models: Sequence[Model], derived: set[str]) -> str:
    found = verdict(claim, recorded)
    reached = prose(how(claim, recorded))
    if found == "PROVED" and claim.proof is not None and claim.proof.name in derived:
        reached = rf"by Derivation~\ref{{{label('der', claim.proof.name)}}}, {prose(claim.proof.title)}"
    lines = [
        rf"\textbf{{Verdict:}} \verdict{{{_COLOUR.get(found, 'open')}}}{{{found.lower()}}}"
        + (f", {reached}" if reached else "")
    ]
    point = witness(claim, recorded)
    if point:
        lines[0] += f"; witness {prose(point)}"
    checked = checker(claim, recorded)
    lines[0] += f"; checked by {prose(checked)}." if checked else "."
    if len(models) > 1:
        for model, name in names_of(models).items():
            decoder, inputs = read(model)
            words = model_words(decoder or claim.decoder, inputs or claim.inputs)
            lines.append(rf"\textbf{{Model}} ${name}$: {prose(words)}.")
    elif models and (claim.decoder, claim.inputs) != read(models[0]) and None not in read(models[0]):
        lines.append(rf"\textbf{{Model:}} {prose(model_words(*read(models[0])))}.")
    elif not mentions_quantity(claim):
        lines.append(rf"\textbf{{Model:}} {NO_MODEL}.")
    else:
        lines.append(rf"\textbf{{Model:}} {prose(model_words(claim.decoder, claim.inputs))}.")
    notation = coefficient_words([claim.statement], prose, named=True)
    if notation:
        lines.append(rf"\textbf{{Notation:}} {notation}.")
    if claim.source:
        lines.append(rf"\textbf{{Source:}} {prose(claim.source).rstrip('.')}.")
    if claim.uses:
        lines.append(r"\textbf{Uses:} " + ", ".join(rf"\claimid{{{escape(name)}}}" for name in claim.uses) + ".")
    if claim.note:
        lines.append(prose(claim.note))
    return "\\begin{facts}\n" + "\n\n".join(lines) + "\n\\end{facts}"


# -- derivations -------------------------------------------------------------------------------


def _derivation(argument: Argument) -> str:
    derivation = argument.derivation
    lines = [rf"\subsection{{{_heading(derivation.title)}}}\label{{{label('der', derivation.name)}}}", ""]
    if derivation.intro:
        lines.append(prose(derivation.intro) + "\n")
    names = names_of(argument.models)
    if names:
        for model, name in names.items():
            lines.append(rf"\noindent${name}$: {prose(model_words(*read(model)))}." + "\n")
    elif argument.models:
        lines.append(rf"\noindent\emph{{Model:}} {prose(model_words(*read(argument.models[0])))}." + "\n")
    if argument.hypotheses:
        lines.append(rf"\noindent\emph{{Hypotheses:}} {listed(shown(argument.hypotheses))}." + "\n")
    if argument.letters:
        lines.append(r"\noindent " + where(r"\emph{Notation:}", argument.letters, LINE) + "\n")
    found = groups(argument, derivation.steps, MathPrinter(names, named=True), NUMBERED)
    lines += [_group(argument, group) for group in found]
    return "\n".join(lines)


def _heading(title: str) -> str:
    """A title with formulas in it; bookmarks get the plain text."""
    text = prose(title)
    return rf"\texorpdfstring{{{text}}}{{{escape(title)}}}" if "$" in text else text


def _group(argument: Argument, group: Group) -> str:
    first = _reason(argument, group[0][0])
    lines: list[str] = []
    for place, (step, rows) in enumerate(group):
        if place:
            lines.append(rf"\shortintertext{{{_reason(argument, step)}}}")
        equation = [f"  {line}" for line in aligned_rows(rows, NUMBERED)]
        equation[-1] += (
            rf" \tag{{{_number(argument, step)}}}\label{{{label('eq', argument.derivation.name, step.label)}}}"
        )
        lines.append(" \\notag\\\\\n".join(equation))
    body = "\n".join(lines)
    return f"\\noindent {first}\n\\begin{{align}}\n{body}\n\\end{{align}}"


def _number(argument: Argument, step: Step) -> str:
    return rf"\ref*{{{label('der', argument.derivation.name)}}}.{argument.number[step.label]}"


def _reason(argument: Argument, step: Step) -> str:
    words = [rf"\rulename{{{escape(rule_name(step.rule))}}}"]
    references = [rf"\eqref{{{label('eq', argument.derivation.name, premise)}}}" for premise in step.premises]
    cited = argument.lemma(step)
    if cited is not None:
        words = [rf"by \eqref{{{label('eq', *cited)}}}"]
        if references:
            words.append("with " + ", ".join(references))
    elif step.rule == "cite":
        words = [f"by {references[0]}"] + (["with " + ", ".join(references[1:])] if references[1:] else [])
    elif references:
        words.append("from " + ", ".join(references))
    values = argument.values(step)
    if values:
        words.append("with " + listed([put_in(symbol, value) for symbol, value in values.items()]))
    text = " ".join(words)
    if step.why:
        text = f"{prose(sentence_case(step.why))} ({text})"
    else:
        text = text[0].upper() + text[1:] if text.startswith("by") else text
    given = shown(argument.given(step))
    if given:
        text = f"For {listed(given)}: {text}"
    return rf"\reason{{{text}:}}"


def _rules(arguments: Iterable[Argument], rules: Mapping[str, str]) -> str:
    used = dict.fromkeys(step.rule for argument in arguments for step in argument.derivation.steps)
    rows = [
        rf"\rulename{{{escape(rule_name(rule))}}} & {prose(rule_sentence(rules, rule))} \\"
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
