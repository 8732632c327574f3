"""From the sources to the site: a folder of Markdown, and Sphinx."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from maskproof.proofs import registry
from maskproof.proofs.shown.notes import ROOT
from maskproof.proofs.site import claims, derivations, notebooks, reference
from maskproof.proofs.site.claims import Evidence, Library
from maskproof.proofs.verdict import Verdict
from maskproof.theory.errors import InvalidInput
from maskproof.theory.export.arguments import Argument, closure

DOCS = ROOT / "docs"
NOTEBOOKS = ROOT / "proofs" / "notebooks"
TEXTS = ("README.md", "CHANGELOG.md", "paper_notes.md")


def build(out: Path, evidence: Path | None = None) -> int:
    """Build the site into ``out``; warnings are errors.

    Args:
        out: a folder for the pages; an earlier site there is replaced once the new one is whole.
        evidence: a file written by ``maskproof verify --json``, from which claim pages show what each engine found.

    Returns:
        0 if all went well, 1 if Sphinx complained.

    Raises:
        InvalidInput: Sphinx or a source is missing, the evidence is not that of the recorded verdicts,
            or ``out`` holds something else.
    """
    if not DOCS.is_dir():
        raise InvalidInput("the site", "'it is built in a copy of the repository'", "clone it first")
    _refuse_others(out)
    library = read_library(evidence)
    with tempfile.TemporaryDirectory(prefix="maskproof-site-") as folder:
        source, pages = Path(folder) / "source", Path(folder) / "site"
        write_sources(source, library)
        status = _sphinx(source, pages, Path(folder) / "doctrees")
        if status == 0:
            _put(pages, out)
    return status


def _refuse_others(out: Path) -> None:
    """Refuse to replace anything but an earlier site."""
    if out.is_file() or (out.is_dir() and any(out.iterdir()) and not (out / ".buildinfo").is_file()):
        raise InvalidInput(f"{out}", "'it is a new folder or an earlier site'", "choose another one")


def _put(pages: Path, out: Path) -> None:
    try:
        if out.is_dir():
            shutil.rmtree(out)
        out.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(pages, out)
    except OSError as error:
        reason = error.strerror or str(error)
        raise InvalidInput(f"{out}", "'it can be written'", f"{reason}: choose another folder") from None


def _sphinx(source: Path, out: Path, doctrees: Path) -> int:
    try:
        from sphinx.cmd.build import build_main
    except ImportError:
        raise InvalidInput("the site", "'Sphinx is installed'", "pip install '.[site]'") from None
    options = ["-q", "-W", "--keep-going", "-d", str(doctrees)]
    return build_main([*options, str(source), str(out)])


def read_library(evidence: Path | None = None) -> Library:
    """The shipped claims with their verdicts, and the evidence in ``evidence``."""
    from maskproof.theory.topics import TOPICS

    recorded = registry.recorded()
    found = {} if evidence is None else read_evidence(evidence, recorded)
    meanings = verdict_meanings((ROOT / "README.md").read_text(encoding="utf-8"))
    return Library(registry.shipped(), recorded, meanings, found, frozenset(TOPICS))


def read_evidence(path: Path, recorded: Mapping[str, Mapping[str, object]]) -> Evidence:
    """What each engine found, by claim.

    Raises:
        InvalidInput: the file can't be read, or a verdict in it is not the recorded one.
    """
    remedy = "write it anew with maskproof verify --json"
    try:
        results = json.loads(path.read_text(encoding="utf-8"))["claims"]
        found = {result["id"]: (result["verdict"], result["evidence"]) for result in results}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InvalidInput(f"{path.name} ({error})", "'it holds verdicts and their evidence'", remedy) from None
    for name, entry in recorded.items():
        if name in found and found[name][0] != entry["verdict"]:
            raise InvalidInput(f"{path.name}: {name} {found[name][0]}", f"'recorded is {entry['verdict']}'", remedy)
    return {name: each for name, (_, each) in found.items()}


def verdict_meanings(readme: str) -> dict[str, str]:
    """What each verdict means, from the table in the README.

    Raises:
        InvalidInput: a verdict is not in it.
    """
    rows = dict(re.findall(r"^\| ([A-Z]+) \| (.+) \|$", readme, re.MULTILINE))
    missing = [str(verdict) for verdict in Verdict if str(verdict) not in rows]
    if missing:
        raise InvalidInput(f"README.md without {', '.join(missing)}", "'it says what each verdict means'", "add a row")
    return {str(verdict): rows[str(verdict)] for verdict in Verdict}


# -- the folder ----------------------------------------------------------------------------------


def write_sources(source: Path, library: Library) -> None:
    """Write the folder that Sphinx reads: ``docs/``, the texts, the notebooks and what is generated."""
    shutil.copytree(DOCS, source)
    links = library.linker
    texts = {name: links.text((ROOT / name).read_text(encoding="utf-8")) for name in TEXTS}
    texts["README.md"] = texts["README.md"].replace("](docs/", "](")
    pages = {
        **texts,
        "claims.md": claims.table_page(library),
        "command.md": reference.command_page(section(texts["README.md"], "The command")),
        **{f"claims/{claim.id}.md": claims.claim_page(claim, library) for claim in library.claims},
        **_derivations(library),
        **{f"api/{name}": text for name, text in reference.python_pages().items()},
        **_notebooks(library),
    }
    for name, text in pages.items():
        path = source / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def section(text: str, heading: str) -> str:
    """The body of a second-level section of a Markdown text.

    Raises:
        InvalidInput: there is no such section.
    """
    found = re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    if found is None:
        raise InvalidInput(f"section {heading!r}", "'the text has such a section'", "restore its heading")
    return found[1]


def _derivations(library: Library) -> dict[str, str]:
    from maskproof.proofs.kernel.checking import RULES
    from maskproof.theory.topics import TOPICS

    rules = {name: (rule.__doc__ or "").strip().split("\n\n")[0] for name, rule in RULES.items()}
    proofs = [claim.proof for claim in library.claims if claim.proof is not None]
    found = closure([*TOPICS.values(), *proofs])
    pages = {f"derivations/{d.name}.md": derivations.derivation_page(Argument(d, rules), library) for d in found}
    return {"derivations/index.md": derivations.list_page(found, library, rules), **pages}


def _notebooks(library: Library) -> dict[str, str]:
    paths = sorted(NOTEBOOKS.glob("*.ipynb"))
    pages = {
        f"notebooks/{path.name}": notebooks.linked(path.read_text(encoding="utf-8"), library.linker) for path in paths
    }
    return {"notebooks/index.md": notebooks.index_page(paths), **pages}
