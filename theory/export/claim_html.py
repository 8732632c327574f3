"""A claim as a notebook shows it: HTML with formulas between dollar signs, or the formula alone."""

from __future__ import annotations

import html
import re

from maskproof.theory.claim import Claim
from maskproof.theory.export.markdown import models_markdown, statement_markdown

_CODE, _BOLD = re.compile(r"`([^`]*)`"), re.compile(r"\*\*([^*]*)\*\*")


def claim_html(claim: Claim) -> str:
    """Id, statement with its hypotheses, model and source; what is known of it is for ``verify`` to say."""
    head = f"<p><b><code>{html.escape(claim.id)}</code></b></p>"
    source = [f"**Source**: {claim.source}"] if claim.source else []
    parts = [*statement_markdown(claim).split("\n\n"), *models_markdown(claim), *source]
    return head + "".join(f"<p>{_tagged(part)}</p>" for part in parts)


def claim_latex(claim: Claim) -> str:
    """The statement, as a displayed formula."""
    blocks = [part for part in statement_markdown(claim).split("\n\n") if part.startswith("$$")]
    return blocks[0]


def _tagged(markdown: str) -> str:
    """Markdown of the few kinds that are written here, outside formulas, as HTML."""
    if markdown.startswith("$$"):
        return html.escape(markdown, quote=False)
    parts = html.escape(markdown, quote=False).split("$")
    for place in range(0, len(parts), 2):  # between formulas
        parts[place] = _BOLD.sub(r"<b>\1</b>", _CODE.sub(r"<code>\1</code>", parts[place]))
    return "$".join(parts)
