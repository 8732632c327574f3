"""Settings of the site; ``python -m maskproof.proofs.site`` gathers the sources and calls Sphinx with them."""

from __future__ import annotations

from importlib.metadata import version as installed_version
from typing import Any

from maskproof.proofs.site.docstrings import as_restructured_text

project = "maskproof"
author = "The maskproof authors"
project_copyright = author
version = release = installed_version("maskproof")

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx-mathjax-offline"]
exclude_patterns = ["README.md"]  # its sections are included where they belong

highlight_language = "none"  # indented blocks are formulas and tables of text
smartquotes_action = "q"  # dashes are options of a command

myst_enable_extensions = ["amsmath", "attrs_inline", "attrs_block", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
nb_execution_mode = "off"  # notebooks carry their outputs
nb_render_markdown_format = "myst"  # what a cell prints may hold tables and formulas
nb_ipywidgets_js: dict[str, Any] = {}  # sliders need a kernel; the pages show what each draws first
nb_mime_priority_overrides = [("html", "application/vnd.jupyter.widget-view+json", None)]

suppress_warnings = ["ref.python"]  # a bare class name in an annotation may fit two classes; then it is no link

autodoc_typehints = "description"
autodoc_typehints_description_target = "documented_params"
autodoc_typehints_format = "short"
autodoc_member_order = "bysource"
napoleon_use_ivar = True  # attributes of a dataclass are told once, by its docstring
napoleon_use_rtype = False

# An undefined command is an error, not red text.
mathjax3_config = {"tex": {"packages": {"[-]": ["noundefined"]}}}

html_theme = "furo"
html_title = "maskproof"
html_favicon = "static/icon.svg"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_js_files = [("filter.js", {"defer": "defer"})]
html_use_index = False
html_domain_indices = False
html_copy_source = False
html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True}


def setup(app: Any) -> None:
    """Escape docstrings before napoleon reads them."""

    def escape(app: Any, what: str, name: str, obj: object, options: object, lines: list[str]) -> None:
        lines[:] = as_restructured_text(lines)

    app.connect("autodoc-process-docstring", escape, priority=100)
