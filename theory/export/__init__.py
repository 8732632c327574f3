"""Claims and derivations as LaTeX, Markdown, plain text and Python source."""

from maskproof.theory.export.claim_text import claim_text, domain_text, statement_text
from maskproof.theory.export.fragments import FORMS, Item, expansions, fragment
from maskproof.theory.export.latex import derivation_latex, latex_document
from maskproof.theory.export.markdown import markdown_document
from maskproof.theory.export.python import python_source
from maskproof.theory.export.text import derivation_text

__all__ = [
    "FORMS", "Item", "claim_text", "derivation_latex", "derivation_text", "domain_text", "expansions", "fragment",
    "latex_document", "markdown_document", "python_source", "statement_text",
]  # fmt: skip
