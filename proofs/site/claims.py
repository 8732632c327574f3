"""The claim table, and a page for each claim."""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sympy import And

from maskproof.proofs.formal.record import coverage
from maskproof.proofs.shown.notes import cell, counts
from maskproof.proofs.site.markdown import (
    LINE,
    Linker,
    badge,
    block,
    claim_models,
    condition_list,
    definitions,
    inline,
    listed,
    model_lines,
)
from maskproof.proofs.verdict import Verdict
from maskproof.theory.arithmetic import mentions_quantity
from maskproof.theory.claim import Claim
from maskproof.theory.export.abbreviations import abbreviate
from maskproof.theory.export.established import Recorded, how, verdict, witness
from maskproof.theory.export.models import NO_MODEL, coefficient_words, model_names, read
from maskproof.theory.inputs import Equicorrelated
from maskproof.theory.notation.chains import conditions
from maskproof.theory.notation.latex import MathPrinter
from maskproof.theory.notation.layout import display
from maskproof.theory.notation.prose import markdown_escape, markdown_prose
from maskproof.theory.papers import paper_of

ENGINES = {
    "symbolic": "Symbolic proof",
    "enclosure": "Enclosure in balls",
    "witness": "Search for a counterexample",
    "monte_carlo": "Monte Carlo",
    "limit": "Limit of time or memory",
}
_UNDECIDED = 200  # characters of what an engine says that could not decide

CELL = 30.0  # em of a formula in the table

_INTRO = (
    "Every claim that maskproof checks, {} of them, with its recorded verdict. A claim's page has its hypotheses, its "
    "evidence and the way to check it again. [What a verdict means](verdicts.md)."
)

Evidence = Mapping[str, Sequence[Mapping[str, Any]]]  # claim id -> what each engine found


@dataclass(frozen=True)
class Library:
    """The shipped claims and all that is known about them.

    Attributes:
        claims: the claims, in the order of the registry.
        recorded: the recorded verdicts.
        meanings: what each verdict means.
        evidence: what the engines found, as ``maskproof verify --json`` writes it; may be empty.
        topics: names of the derivations that ``maskproof derive`` knows.
    """

    claims: Sequence[Claim]
    recorded: Recorded
    meanings: Mapping[str, str]
    evidence: Evidence
    topics: frozenset[str]

    @cached_property
    def linker(self) -> Linker:
        """Links to these claims."""
        return Linker([claim.id for claim in self.claims])

    @cached_property
    def used_by(self) -> dict[str, list[str]]:
        """For each claim the ids of the claims that use it."""
        users: dict[str, list[str]] = {claim.id: [] for claim in self.claims}
        for claim in self.claims:
            for name in claim.uses:
                users[name].append(claim.id)
        return users


# -- the table -----------------------------------------------------------------------------------


def table_page(library: Library) -> str:
    """The page that lists every claim; ``filter.js`` filters and sorts its table."""
    parts = [
        "# Claims",
        _INTRO.format(len(library.claims)),
        counts(list(library.claims), library.recorded),
        _form(library),
        ":::{container} claim-table",
        _table(library),
        ":::",
    ]
    return "\n\n".join(parts) + "\n"


def _form(library: Library) -> str:
    found = Counter(verdict(claim, library.recorded) for claim in library.claims)
    sources = Counter(paper_of(claim) for claim in library.claims)
    verdicts = {str(v): f"{v} ({found[str(v)]})" for v in Verdict if found[str(v)]}
    papers = {paper.prefix: f"{paper.words} ({number})" for paper, number in sources.items()}
    orders = {"id": "by name", "verdict": "by verdict"}
    return "\n".join(
        [
            '<form id="filter" role="search" aria-label="Filter the claims" hidden>',
            _select("verdict", "Verdict", {"": "all", **verdicts}),
            _select("source", "Source", {"": "all", **papers}),
            _select("order", "Order", {"": "as in the papers", **orders}),
            '<label>Text <input type="search" name="text" autocomplete="off" spellcheck="false"></label>',
            '<output name="shown" aria-live="polite"></output>',
            "</form>",
        ]
    )


def _select(name: str, label: str, options: Mapping[str, str]) -> str:
    choices = "".join(f'<option value="{value}">{words}</option>' for value, words in options.items())
    return f'<label>{label} <select name="{name}">{choices}</select></label>'


def _table(library: Library) -> str:
    rows = ["| claim | verdict | statement |", "|---|---|---|"]
    for claim in library.claims:
        found = verdict(claim, library.recorded)
        point = _point(claim, library)
        fails = f" at {point}" if point else ""
        rows.append(
            f"| {library.linker.claim(claim.id)} [{cell(markdown_prose(claim.source))}]{{.source}} "
            f"| {badge(found)}{cell(fails)} "
            f"| [{cell(_in_cell(claim))}]{{.statement}} {cell(library.linker.prose(claim.note))} |"
        )
    return "\n".join(rows)


def _in_cell(claim: Claim) -> str:
    printer = MathPrinter(model_names(claim_models(claim)))
    rows = display(abbreviate(claim.statement).expression, printer, CELL)
    if len(rows) == 1 and len(rows[0].lines) == 1:
        return inline(f"{rows[0].left} {rows[0].lines[0]}".strip())
    lines = [f"{row.left if place == 0 else ''} & {line}" for row in rows for place, line in enumerate(row.lines)]
    return inline(r"\begin{aligned} " + r" \\ ".join(lines) + r" \end{aligned}")


# -- the pages -----------------------------------------------------------------------------------


def claim_page(claim: Claim, library: Library) -> str:
    """All that is known about one claim."""
    paper = paper_of(claim).words
    parts = [
        "---\norphan: true\n---",
        f"# `{claim.id}`",
        f":::{{container}} crumbs\n[Claims](../claims.md) / {paper}\n:::",
        f"{badge(verdict(claim, library.recorded))} {library.linker.prose(claim.source, '../')}",
        "## Statement",
        *_statement(claim),
        library.linker.prose(claim.note, "../"),
    ]
    parts += ["## Verdict", *_verdict(claim, library)]
    parts += _related(claim, library)
    parts += ["## Check it again", _replay(claim, library)]
    parts.append(_neighbours(claim, library))
    return "\n\n".join(part for part in parts if part) + "\n"


def _sentence(text: str) -> str:
    return text if text.endswith(".") else f"{text}."


def _statement(claim: Claim) -> list[str]:
    models = claim_models(claim)
    short = abbreviate(claim.statement)
    hypotheses = condition_list(conditions(And(claim.domain), claim.free_symbols))
    parts = [f"For all {hypotheses}:" if hypotheses else "It holds that"]
    parts.append(block(display(short.expression, MathPrinter(model_names(models)), LINE)))
    if short.definitions:
        parts += ["where", definitions(short.definitions)]
    if not mentions_quantity(claim):
        return [*parts, f"**Model:** {NO_MODEL}."]
    lines = model_lines(claim, models)
    if len(lines) == 1:
        parts.append(f"**Model:** {lines[0]}.")
    else:
        parts.append("**Models:**\n\n" + "\n".join(f"* {line}" for line in lines))
    notation = coefficient_words([claim.statement], markdown_prose)
    if notation:
        parts.append(f"{notation}.")
    exact = all(isinstance(law, Equicorrelated) for law in _laws(claim))
    parts.append(
        "The inputs' inner products are fixed, so every quantity is an exact number: the limit of infinite width."
        if exact
        else "The inputs are random, so every quantity that depends on them is an expectation over them."
    )
    return parts


def _laws(claim: Claim) -> list[Any]:
    carried = [read(model)[1] for model in claim_models(claim)]
    return [law or claim.inputs for law in carried] or [claim.inputs]


def _point(claim: Claim, library: Library) -> str:
    return markdown_prose(witness(claim, library.recorded))


def _verdict(claim: Claim, library: Library) -> list[str]:
    found = verdict(claim, library.recorded)
    meaning = library.meanings.get(found, "")
    words = f": {_sentence(meaning)}" if meaning else "."
    parts = [f"{badge(found)}{words} ([How verdicts come about](../verdicts.md).)"]
    if found == Verdict.REFUTED:
        point = _point(claim, library)
        parts.append(
            f"**Counterexample:** {point}." if point else "It speaks of a single case, and fails there as it stands."
        )
    if claim.proof is not None:
        steps = len(claim.proof.steps)
        words = "step" if steps == 1 else "steps"
        title = markdown_prose(claim.proof.title)
        parts.append(f"**Proof:** [{title}](../derivations/{claim.proof.name}.md), {steps} {words}.")
    if found == Verdict.PROVED:
        parts.append(f"**Checked by:** {coverage(claim.id)}.")
    found_by = library.evidence.get(claim.id, ())
    if found_by:
        parts += ["### What each engine found", _evidence(found_by)]
    elif claim.proof is None:
        parts.append(_sentence(f"It was reached {_lower(markdown_prose(how(claim, library.recorded)))}"))
    return parts


def _lower(text: str) -> str:
    return text if text.startswith("by ") else f"so: {text}"


def _evidence(found: Sequence[Mapping[str, Any]]) -> str:
    items = []
    for each in found:
        words = "; ".join(part for part in (each["scope"].strip(), each["detail"].strip()) if part)
        if each["outcome"] == Verdict.UNKNOWN:
            words = textwrap.shorten(words, _UNDECIDED, placeholder=" ...")
        facts = [f"{each['precision']} bits"] if each.get("precision") else []
        facts += [f"seed {each['seed']}"] if each.get("seed") is not None else []
        tail = f" ({', '.join(facts)})" if facts else ""
        engine = ENGINES.get(each["engine"], each["engine"])
        items.append(f"{engine} {badge(each['outcome'])}\n: {markdown_escape(words)}{tail}")
    return "\n\n".join(items)


def _related(claim: Claim, library: Library) -> list[str]:
    links = library.linker
    parts = []
    if claim.uses:
        parts.append(f"**Uses** {listed([links.claim(name, '../') for name in claim.uses])}.")
    users = library.used_by[claim.id]
    if users:
        parts.append(f"**Used by** {listed([links.claim(name, '../') for name in users])}.")
    mentions = [
        other.id
        for other in library.claims
        if other is not claim and other.id not in users and _mentions(other, claim.id)
    ]
    if mentions:
        parts.append(f"**Mentioned by** {listed([links.claim(name, '../') for name in mentions])}.")
    return ["## Related", *parts] if parts else []


def _mentions(claim: Claim, name: str) -> bool:
    return bool(re.search(rf"(?<![\w.]){re.escape(name)}(?![\w-])", f"{claim.source} {claim.note}"))


def _replay(claim: Claim, library: Library) -> str:
    lines = [
        f"maskproof verify {claim.id}                       # the verdict, with its reason",
        f"maskproof verify {claim.id} --json result.json    # all evidence",
    ]
    if claim.proof is not None and claim.proof.name in library.topics:
        lines.append(f"maskproof derive {claim.proof.name}                # the proof")
    lines.append(f"maskproof export latex --only {claim.id}          # for a paper")
    width = max(len(line.split("#")[0].rstrip()) for line in lines)
    commands = [f"{line.split('#')[0].rstrip():{width}}  # {line.split('# ')[1]}" for line in lines]
    return "```console\n" + "\n".join(commands) + "\n```"


def _neighbours(claim: Claim, library: Library) -> str:
    place = next(place for place, other in enumerate(library.claims) if other is claim)
    links = []
    if place > 0:
        links.append(f"← [`{library.claims[place - 1].id}`]({library.claims[place - 1].id}.md)")
    if place + 1 < len(library.claims):
        links.append(f"[`{library.claims[place + 1].id}`]({library.claims[place + 1].id}.md) →")
    return ":::{container} neighbours\n" + "\n\n".join(links) + "\n:::"
