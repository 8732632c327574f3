"""The site in a real browser, without a network: formulas, the filter, narrow screens.

``visit`` opens a page and returns what is wrong with it. That it can find something is shown on pages
that are wrong on purpose.
"""

from __future__ import annotations

import functools
import html
import http.server
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, sync_playwright

from maskproof.proofs import registry
from maskproof.proofs.verdict import Verdict

pytestmark = pytest.mark.slow
OPTIONS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip
PHONE, SCREEN = 375, 1280
KINDS = (
    "index", "claims", "claims/kim2025.increasing-3", "claims/kim2025.h-prime-difference", "claims/own.layernorm",
    "derivations/index", "derivations/layer-two", "notebooks/index", "paper_notes", "CHANGELOG", "verdicts", "own",
    "command", "api/index", "api/maskproof.numerics.gram", "api/maskproof.theory.claim", "search",
)  # fmt: skip

# What a reader would see of a formula that was not set, or of a page that is wider than the screen.
_LOOK = """async () => {
  if (window.MathJax) await MathJax.startup.promise;
  await document.fonts.ready;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const raw = [];
  while (walker.nextNode()) {
    const inside = walker.currentNode.parentElement;
    if (/\\\\[()[\\]]|\\$\\$|\\\\begin\\{/.test(walker.currentNode.data) && !inside.closest("pre, code, script"))
      raw.push(walker.currentNode.data.trim().slice(0, 80));
  }
  const set = [...document.querySelectorAll(".math")].filter((each) => !each.querySelector("mjx-container"));
  return {
    raw,
    unset: set.map((each) => each.textContent.slice(0, 80)),
    errors: [...document.querySelectorAll("mjx-merror")].map((each) => each.dataset.mjxError ?? each.textContent),
    wider: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    images: [...document.images].filter((each) => !each.naturalWidth).map((each) => each.src),
  };
}"""


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


Serve = Callable[[Path], str]


@pytest.fixture(scope="module")
def serve() -> Iterator[Serve]:
    """Serves a folder on this machine and returns its address."""
    servers: list[http.server.ThreadingHTTPServer] = []

    def start(folder: Path) -> str:
        handler = functools.partial(_Quiet, directory=str(folder))
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_address[1]}/"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    with sync_playwright() as play:
        running = play.chromium.launch(executable_path=chromium, args=list(OPTIONS))
        yield running
        running.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": SCREEN, "height": 900})
    yield context.new_page()
    context.close()


@pytest.fixture(scope="module")
def address(site: Path, serve: Serve) -> str:
    return serve(site)


def visit(page: Page, url: str) -> list[str]:
    """Open a page with every other host out of reach; return what is wrong with it."""
    home = re.match(r"\w+://[^/]*/", url)
    assert home is not None
    complaints: list[str] = []
    page.route(lambda other: not other.startswith((home[0], "data:", "blob:")), lambda route: route.abort())
    page.on("console", lambda message: complaints.append(f"console: {message.text}") if _bad(message.type) else None)
    page.on("pageerror", lambda error: complaints.append(f"error: {error}"))
    page.on("requestfailed", lambda request: complaints.append(f"failed: {request.url}"))
    page.on("response", lambda answer: complaints.append(f"{answer.status}: {answer.url}") if not answer.ok else None)
    page.goto(url, wait_until="load")
    complaints += look(page)
    return complaints


def _bad(kind: str) -> bool:
    return kind in ("error", "warning")


def look(page: Page) -> list[str]:
    """What is wrong with the page as it is shown."""
    seen = page.evaluate(_LOOK)
    complaints = [f"formula not set: {text}" for text in [*seen["raw"], *seen["unset"]]]
    complaints += [f"formula wrong: {text}" for text in seen["errors"]]
    complaints += [f"no image: {source}" for source in seen["images"]]
    if seen["wider"] > 0:
        complaints.append(f"{seen['wider']} pixels too wide")
    return complaints


@pytest.mark.parametrize("width", [SCREEN, PHONE])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_page(page: Page, address: str, kind: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    assert visit(page, f"{address}{kind}.html") == []


def visit_each(browser: Browser, urls: Iterable[str], width: int = PHONE) -> dict[str, list[str]]:
    """What is wrong with each of the pages, those left out with which nothing is."""
    found = {}
    for url in urls:
        with browser.new_page(viewport={"width": width, "height": 800}) as fresh:
            found[url] = visit(fresh, url)
    return {url: complaints for url, complaints in found.items() if complaints}


def test_the_notebooks_on_a_phone(site: Path, browser: Browser, address: str) -> None:
    paths = sorted((site / "notebooks").glob("*.html"))
    assert visit_each(browser, (f"{address}notebooks/{path.name}" for path in paths)) == {}


@pytest.mark.parametrize("folder", ["", "claims", "derivations", "notebooks", "api"])
def test_every_page_on_a_phone(site: Path, browser: Browser, address: str, folder: str) -> None:
    paths = sorted((site / folder).glob("*.html"))
    assert paths
    assert visit_each(browser, (address + path.relative_to(site).as_posix() for path in paths)) == {}


WRONG = {
    "<script>console.error('oh')</script>": "console: oh",
    "<script>nothing.there</script>": "error: nothing is not defined",
    '<img src="nowhere.png">': "404",
    '<img src="https://example.org/x.png">': "failed: https://example.org",
    '<div style="width: 2000px">x</div>': "pixels too wide",
    r"<p>\(x^2\)</p>": "formula not set",
    r'<p><span class="math">\(x^2\)</span></p>': "formula not set",
    "<p>$$x^2$$</p>": "formula not set",
    "<mjx-merror>bad</mjx-merror>": "formula wrong: bad",
}


@pytest.mark.parametrize("body", WRONG)
def test_a_wrong_page_is_seen(page: Page, serve: Serve, tmp_path: Path, body: str) -> None:
    start = '<!doctype html><link rel="icon" href="data:,"><meta charset="utf-8">'
    (tmp_path / "right.html").write_text(f"{start}<p>fine <code>\\(x\\)</code></p>", encoding="utf-8")
    (tmp_path / "wrong.html").write_text(start + body, encoding="utf-8")
    folder = serve(tmp_path)
    assert visit(page, f"{folder}right.html") == []
    assert any(WRONG[body] in complaint for complaint in visit(page, f"{folder}wrong.html"))


# -- formulas --------------------------------------------------------------------------------------

_SET = """async (formulas) => {
  await MathJax.startup.promise;
  const complaints = [];
  for (const [where, formula] of formulas) {
    const made = await MathJax.tex2chtmlPromise(formula, {display: true});
    const error = made.querySelector("mjx-merror");
    if (error) complaints.push(`${where}: ${error.dataset.mjxError ?? error.textContent}: ${formula}`);
  }
  return complaints;
}"""
_MATH = re.compile(r'<(?:span|div) class="math notranslate[^>]*>\s*(?:\\\((.*?)\\\)|\\\[(.*?)\\\])\s*<', re.DOTALL)


def formulas(site: Path) -> dict[str, str]:
    """Every formula of the site, with a page where it stands."""
    found: dict[str, str] = {}
    for path in sorted(site.rglob("*.html")):
        for inline, displayed in _MATH.findall(path.read_text(encoding="utf-8")):
            found.setdefault(html.unescape(inline or displayed), path.stem)
    return found


def test_every_formula_of_every_page_can_be_set(site: Path, page: Page, address: str) -> None:
    found = formulas(site)
    assert len(found) > 1000
    page.goto(f"{address}claims/kim2025.eq4.html")
    assert page.evaluate(_SET, [[where, formula] for formula, where in found.items()]) == []


@pytest.mark.parametrize("formula", [r"\frac{1}", r"\nosuchcommand", r"x_1_2", r"\left( x", r"\begin{aligned} x"])
def test_a_formula_that_cannot_be_set_is_seen(page: Page, address: str, formula: str) -> None:
    page.goto(f"{address}claims/kim2025.eq4.html")
    assert len(page.evaluate(_SET, [["here", formula], ["there", "x^2"]])) == 1


def test_formulas_use_fonts_of_the_site(page: Page, address: str) -> None:
    assert visit(page, f"{address}claims/kim2025.eq4.html") == []
    fonts = page.evaluate("[...document.fonts].filter(f => f.status === 'loaded').map(f => f.family)")
    assert any("MJX" in family for family in fonts)


def test_it_reads_from_files_as_well(site: Path, browser: Browser, page: Page) -> None:
    names = ("index", "claims", "claims/kim2025.eq4", "search")
    assert visit_each(browser, (f"{site.as_uri()}/{name}.html" for name in names), SCREEN) == {}
    page.goto(f"{site.as_uri()}/claims/kim2025.eq4.html")
    page.evaluate("MathJax.startup.promise")
    assert page.evaluate("document.fonts.check('16px MJXTEX')")


# -- the filter ------------------------------------------------------------------------------------

ROWS = ".claim-table tbody tr"


def shown(page: Page) -> list[str]:
    """Ids of the claims that the table shows, from top to bottom."""
    look_up = "rows => rows.filter(r => r.getClientRects().length).map(r => r.querySelector('code').textContent)"
    return page.locator(ROWS).evaluate_all(look_up)


def expected(verdict: str = "", source: str = "") -> list[str]:
    """Ids of the claims with this verdict from this source, in the order of the registry."""
    record = registry.recorded()
    return [
        claim.id
        for claim in registry.shipped()
        if verdict in ("", record[claim.id]["verdict"]) and source in ("", claim.id.split(".")[0])
    ]


def field(page: Page, label: str) -> Locator:
    """The field of the filter that a screen reader calls so."""
    return page.get_by_role("searchbox" if label == "Text" else "combobox", name=label, exact=True)


def test_the_filter_by_verdict_and_source(page: Page, address: str) -> None:
    page.goto(f"{address}claims.html")
    assert shown(page) == expected()
    for verdict in Counter(str(entry["verdict"]) for entry in registry.recorded().values()):
        for source in ("", "kim2025", "kim2026", "own"):
            field(page, "Verdict").select_option(verdict)
            field(page, "Source").select_option(source)
            assert shown(page) == expected(verdict, source), (verdict, source)
            count = f"{len(expected(verdict, source))} of {len(expected())} claims"
            assert page.locator("#filter output").inner_text() == count


def test_the_counts_are_those_of_the_registry(page: Page, address: str) -> None:
    page.goto(f"{address}claims.html")
    found = Counter(str(entry["verdict"]) for entry in registry.recorded().values())
    options = field(page, "Verdict").locator("option").all_inner_texts()
    assert options[1:] == [
        f"{name} ({found[name]})" for name in ("PROVED", "ENCLOSED", "SAMPLED", "REFUTED") if found[name]
    ]


def test_the_filter_by_text(page: Page, address: str) -> None:
    page.goto(f"{address}claims.html")
    field(page, "Text").fill("Appendix SIGN")
    texts = {claim.id: f"{claim.id} {claim.source} {claim.note}".lower() for claim in registry.shipped()}
    assert shown(page) == [name for name, text in texts.items() if "appendix" in text and "sign" in text]
    assert 0 < len(shown(page)) < 5
    field(page, "Text").fill("no such claim")
    assert shown(page) == []
    assert page.locator("#filter output").inner_text().startswith("0 of")


def test_a_filtered_view_can_be_linked(page: Page, address: str) -> None:
    page.goto(f"{address}claims.html")
    field(page, "Verdict").select_option("REFUTED")
    field(page, "Text").fill("score falls")
    chosen, link = shown(page), page.url
    assert "verdict=REFUTED" in link
    assert 0 < len(chosen) < len(expected("REFUTED"))
    page.goto("about:blank")
    page.goto(link)
    assert shown(page) == chosen
    page.evaluate("location.hash = '#source=kim2026'")
    page.wait_for_function("document.querySelector('#filter').elements.source.value === 'kim2026'")
    assert shown(page) == expected(source="kim2026")
    page.goto("about:blank")
    page.goto(f"{address}claims.html#verdict=NONSENSE&colour=red")
    assert shown(page) == expected()


def test_the_order(page: Page, address: str) -> None:
    page.goto(f"{address}claims.html")
    field(page, "Order").select_option("id")
    assert shown(page) == sorted(expected())
    field(page, "Order").select_option("verdict")
    assert shown(page) == [name for verdict in Verdict for name in expected(verdict)]
    field(page, "Order").select_option("")
    assert shown(page) == expected()


def test_the_filter_by_keyboard_on_a_phone(page: Page, address: str) -> None:
    page.set_viewport_size({"width": PHONE, "height": 800})
    assert visit(page, f"{address}claims.html") == []
    field(page, "Verdict").focus()
    page.keyboard.press("R")  # chooses the option that begins with it
    assert shown(page) == expected("REFUTED")
    for _ in range(3):
        page.keyboard.press("Tab")
    page.keyboard.type("peak")
    assert page.evaluate("document.activeElement.name") == "text"
    assert shown(page)
    page.keyboard.press("Enter")  # sends no form
    assert page.url.startswith(f"{address}claims.html#")
    assert look(page) == []


def test_without_javascript_the_table_shows_everything(browser: Browser, address: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    plain = context.new_page()
    plain.goto(f"{address}claims.html")
    assert plain.locator(f"{ROWS}:visible").count() == len(expected())
    assert not plain.locator("#filter").is_visible()
    context.close()


# -- colours ---------------------------------------------------------------------------------------

_CONTRAST = """() => {
  const parse = (text) => text.match(/[\\d.]+/g).slice(0, 3).map(Number);
  const light = (text) => {
    const [r, g, b] = parse(text).map((v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = light(getComputedStyle(document.body).backgroundColor);
  return Object.fromEntries([...document.querySelectorAll(".verdict")].map((each) => {
    const [low, high] = [ground, light(getComputedStyle(each).color)].sort((a, b) => a - b);
    return [each.textContent, (high + 0.05) / (low + 0.05)];
  }));
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_verdicts_can_be_read(browser: Browser, address: str, scheme: str) -> None:
    context = browser.new_context(color_scheme="dark" if scheme == "dark" else "light")
    coloured = context.new_page()
    coloured.goto(f"{address}claims.html")
    contrast = coloured.evaluate(_CONTRAST)
    context.close()
    assert set(contrast) == {str(entry["verdict"]) for entry in registry.recorded().values()}
    assert min(contrast.values()) >= 4.5, contrast  # WCAG 2.1, level AA
