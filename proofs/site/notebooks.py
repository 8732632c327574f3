"""The proof notebooks as they are committed: with their outputs, never run here."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from maskproof.proofs.site.markdown import Linker

_INTRO = (
    "The proofs as one reads them, with the code that checks each step. The outputs shown here are those that are "
    "committed; `maskproof notebooks` runs them all and fails if one is out of date."
)


def linked(notebook: str, links: Linker) -> str:
    """A notebook in whose texts, written or printed by a cell, the ids of claims lead to their pages."""
    document = json.loads(notebook)
    for cell in document["cells"]:
        if cell["cell_type"] == "markdown":
            cell["source"] = links.text(_text(cell["source"]), "../")
        for output in cell.get("outputs", ()):
            data = output.get("data", {})
            if "text/markdown" in data:
                data["text/markdown"] = links.text(_text(data["text/markdown"]), "../")
    return json.dumps(document)


def _text(lines: str | list[str]) -> str:
    return lines if isinstance(lines, str) else "".join(lines)


def index_page(paths: Iterable[Path]) -> str:
    """The page that lists the notebooks."""
    names = sorted(path.stem for path in paths)
    return "\n\n".join(
        [
            "# Notebooks",
            _INTRO,
            "\n".join(["```{toctree}", ":maxdepth: 1", "", *names, "```"]),
        ]
    )
