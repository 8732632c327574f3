"""The built files: every page is there and says what the registry says, every link leads somewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

import pytest

from maskproof.proofs import registry
from maskproof.proofs.site import reference
from maskproof.theory.export.arguments import closure
from maskproof.theory.topics import TOPICS

pytestmark = pytest.mark.slow  # the site takes a minute to build
ROOT = Path(__file__).resolve().parents[2]
FIELDS = {"verdict", "source", "text", "order"}  # of the filter of the claim table


class Page(HTMLParser):
    """What a page defines and what it points at."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.ids |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif "src" in given:
            self.loads.append(given["src"])
        elif tag == "link" and "href" in given:
            self.loads.append(given["href"])


@cache
def read(path: Path) -> Page:
    return Page(path.read_text(encoding="utf-8"))


def link_complaints(folder: Path) -> list[str]:
    """Links and anchors of the pages in ``folder`` that lead nowhere, and resources of other hosts."""
    return [
        f"{path.relative_to(folder)}: {target}: {complaint}"
        for path in sorted(folder.rglob("*.html"))
        if "_static" not in path.relative_to(folder).parts
        for target, complaint in _complaints(folder, path)
    ]


def _complaints(folder: Path, path: Path) -> Iterator[tuple[str, str]]:
    page = read(path)
    for target in [*page.links, *page.loads]:
        parts = urlsplit(target)
        if parts.scheme or parts.netloc:
            if target in page.loads and parts.scheme != "data":
                yield target, "loaded from another host"
            continue
        file = (path.parent / unquote(parts.path)).resolve() if parts.path else path.resolve()
        if not file.is_relative_to(folder.resolve()) or not file.is_file():
            yield target, "no such file"
        elif parts.fragment and not _resolves(file, unquote(parts.fragment)):
            yield target, "no such anchor"


def _resolves(file: Path, fragment: str) -> bool:
    if file.name == "claims.html" and "=" in fragment:
        return {name for name, _ in parse_qsl(fragment)} <= FIELDS
    return file.suffix == ".html" and fragment in read(file).ids


def test_every_link_and_anchor_resolves(site: Path) -> None:
    assert link_complaints(site) == []


@pytest.mark.parametrize(
    ("html", "complaint"),
    [
        ('<a href="nowhere.html">x</a>', "no such file"),
        ('<a href="../outside.html">x</a>', "no such file"),
        ('<img src="nowhere.png">', "no such file"),
        ('<a href="#nowhere">x</a>', "no such anchor"),
        ('<a href="other.html#nowhere">x</a>', "no such anchor"),
        ('<a href="claims.html#colour=red">x</a>', "no such anchor"),
        ('<script src="https://example.org/x.js"></script>', "another host"),
        ('<link rel="stylesheet" href="//example.org/x.css">', "another host"),
    ],
)
def test_a_link_that_leads_nowhere_is_seen(tmp_path: Path, html: str, complaint: str) -> None:
    right = '<p id="here"><a href="#here">x</a><a href="other.html#there">y</a><a href="https://example.org">z</a></p>'
    folder = tmp_path / "pages"
    folder.mkdir()
    (folder / "other.html").write_text('<p id="there"></p>', encoding="utf-8")
    (folder / "claims.html").write_text("<p></p>", encoding="utf-8")
    (tmp_path / "outside.html").write_text("<p></p>", encoding="utf-8")
    (folder / "index.html").write_text(right, encoding="utf-8")
    assert link_complaints(folder) == []
    (folder / "wrong.html").write_text(html, encoding="utf-8")
    (found,) = link_complaints(folder)
    assert complaint in found


def test_style_sheets_load_nothing_from_elsewhere(site: Path) -> None:
    for path in (site / "_static").rglob("*.css"):
        found = re.findall(r"(?:url\(|@import)\s*['\"]?((?:https?:)?//[^)'\"]+)", path.read_text(encoding="utf-8"))
        assert found == [], path


# -- what is there ---------------------------------------------------------------------------------


def test_a_page_for_every_claim_and_none_besides(site: Path) -> None:
    assert {path.stem for path in (site / "claims").glob("*.html")} == {claim.id for claim in registry.shipped()}


def test_a_page_for_every_derivation(site: Path) -> None:
    proofs = [claim.proof for claim in registry.shipped() if claim.proof is not None]
    for derivation in closure([*TOPICS.values(), *proofs]):
        ids = read(site / "derivations" / f"{derivation.name}.html").ids
        steps = {f"{derivation.name}-step-{number}" for number in range(1, len(derivation.steps) + 1)}
        assert steps <= ids


def test_a_page_for_every_notebook_and_every_module(site: Path) -> None:
    notebooks = {path.stem for path in (ROOT / "proofs" / "notebooks").glob("*.ipynb")}
    assert {path.stem for path in (site / "notebooks").glob("*.html")} == {*notebooks, "index"}
    modules = {name for package in reference.PACKAGES for name in reference.modules(package)}
    assert {path.stem for path in (site / "api").glob("*.html")} == {*modules, "index"}


def test_every_stable_name_leads_to_its_description(site: Path) -> None:
    links = read(site / "api" / "index.html").links
    import maskproof

    for name in maskproof.__all__:
        value = getattr(maskproof, name)
        if hasattr(value, "__qualname__"):
            assert f"{value.__module__}.html#{value.__module__}.{value.__qualname__}" in links


def test_every_command_is_described(site: Path) -> None:
    text = (site / "command.html").read_text(encoding="utf-8")
    for name in ("verify", "list", "derive", "export", "scores", "phase", "figures", "notebooks"):
        assert f"maskproof {name}" in text
        assert name in read(site / "command.html").ids
    assert "--target-se" in text


def article(path: Path) -> str:
    """The text of a page's article, without tags."""
    text = path.read_text(encoding="utf-8")
    inside = text[text.index('<article role="main"') : text.index("</article>")]
    plain = re.sub(r"<[^>]+>", "", inside)
    for entity, sign in (("&lt;", "<"), ("&gt;", ">"), ("&#39;", "'"), ("&quot;", '"'), ("&amp;", "&")):
        plain = plain.replace(entity, sign)
    return " ".join(plain.split())


def test_claim_pages_say_what_is_recorded(site: Path) -> None:
    record = registry.recorded()
    for claim in registry.shipped():
        html = (site / "claims" / f"{claim.id}.html").read_text(encoding="utf-8")
        shown = re.findall(r'<span class="verdict [a-z]+">([A-Z]+)</span>', html)
        assert shown[0] == record[claim.id]["verdict"]
        text = article(site / "claims" / f"{claim.id}.html")
        assert f"maskproof verify {claim.id}" in text
        assert f"maskproof export latex --only {claim.id}" in text
        for name, value in (record[claim.id]["witness"] or {}).items():
            assert re.search(rf"\\?{name} = {re.escape(value)}\b", text), (claim.id, name)
        for other in claim.uses:
            assert f"{other}.html" in read(site / "claims" / f"{claim.id}.html").links
            assert f"{claim.id}.html" in read(site / "claims" / f"{other}.html").links


def straight(text: str) -> str:
    """Text with the quotation marks of a keyboard."""
    return text.replace("\u2019", "'").replace("\u2018", "'")


def test_evidence_is_shown(site: Path, evidence: Mapping[str, list[Mapping[str, str]]]) -> None:
    for name, found in evidence.items():
        text = article(site / "claims" / f"{name}.html")
        assert "What each engine found" in text
        for each in found:
            if each["outcome"] != "UNKNOWN":
                assert straight(" ".join(each["detail"].split())[:60]) in straight(text)
    assert "What each engine found" not in article(site / "claims" / "own.layer-two.html")
