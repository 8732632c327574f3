"""Claims and derivations as LaTeX, Markdown, plain text and Python source."""

from theory.export.latex import derivation_latex, latex_document
from theory.export.markdown import markdown_document
from theory.export.python import python_source
from theory.export.text import derivation_text

__all__ = ["derivation_latex", "derivation_text", "latex_document", "markdown_document", "python_source"]
