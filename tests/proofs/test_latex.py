"""Exported LaTeX under pdflatex: no errors, no loose references, no line in the margin."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from maskproof.proofs import registry
from maskproof.proofs.command.cli import run
from maskproof.proofs.command.export import chosen, rules
from maskproof.theory.export import FORMS, Item, expansions, fragment
from maskproof.theory.notation.macros import MACROS
from maskproof.theory.topics import TOPICS

WIDEST = 1.0  # points by which a line may be too wide
PROSE = 3.0  # the same in a paragraph, where TeX looks for no better break at the tolerance of the article class

ALPHA, RHO, SIGMA = "\u03b1", "\u03c1", "\u03a3"

pytestmark = pytest.mark.skipif(
    shutil.which("pdflatex") is None or shutil.which("pdftotext") is None, reason="pdflatex is not installed"
)

ARTICLE = r"\documentclass{article}\usepackage{amsmath,amsthm}"
EVERYTHING = [*(claim.id for claim in registry.shipped()), *TOPICS, *expansions()]
VARIED = [
    "eq2", "softmax", "g", "h", "eq4", "h-difference", "kim2025.h-prime-difference", "kim2025.increasing-3",
    "kim2025.fig1", "kim2025.saturation", "faster-saturation", "rope-distortion", "own.layer-two",
    "own.saturation-rate", "own.h-numerator", "peak-inside-deeper", "falling-pairs", "own.score-correction",
    "limit-overstates", "window-linear", "prefix-two", "rope-kernel-rises", "layernorm-spread", "sampler-mean",
    "kim2026.norm", "kim2026.early", "own.residual-effect", "own.residual-scale", "layer-one", "norms",
    "layer-two", "increasing-two", "layernorm", "weight-expansion", "score-expansion",
]  # fmt: skip


def compiled(source: Path, runs: int = 3) -> str:
    """The log of the last of some runs, after which references have settled."""
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", source.name]
    for _ in range(runs):
        done = subprocess.run(command, cwd=source.parent, capture_output=True, timeout=300)
        assert done.returncode == 0, done.stdout.decode(errors="replace")[-2000:]
    return source.with_suffix(".log").read_text(encoding="utf-8", errors="replace")


def check(log: str, prose: float = WIDEST) -> None:
    assert "undefined" not in log
    assert "multiply defined" not in log
    assert "Missing character" not in log
    wide = re.findall(r"Overfull \\hbox \(([\d.]+)pt too wide\) (detected|in paragraph)", log)
    limit = {"detected": WIDEST, "in paragraph": prose}
    assert [points for points, where in wide if float(points) > limit[where]] == []


def items(names: Sequence[str]) -> list[Item]:
    return chosen(",".join(names), registry.shipped())


def written(names: Sequence[str], form: str) -> str:
    return fragment(items(names), form, registry.recorded(), rules())  # type: ignore[arg-type]


def pasted(text: str, folder: Path, preamble: str = "", runs: int = 2) -> str:
    """The log of a fresh article with a fragment in it."""
    (folder / "fragment.tex").write_text(text, encoding="utf-8")
    source = folder / "paper.tex"
    source.write_text(
        f"{ARTICLE}\n{preamble}\n\\begin{{document}}\n\\input{{fragment}}\n\\end{{document}}\n", encoding="utf-8"
    )
    return compiled(source, runs)


def read(folder: Path) -> str:
    """What the pages of the paper say."""
    done = subprocess.run(["pdftotext", "paper.pdf", "-"], cwd=folder, capture_output=True, check=True, timeout=60)
    return done.stdout.decode()


def labels(folder: Path) -> set[str]:
    return set(re.findall(r"\\newlabel\{([^}]*)\}", (folder / "paper.aux").read_text(encoding="utf-8")))


# -- documents ---------------------------------------------------------------------------------


def test_all_claims_and_derivations(tmp_path: Path) -> None:
    source = tmp_path / "claims.tex"
    assert run(["export", "latex", "--out", str(source)]) == 0
    assert r"\resizebox" not in source.read_text(encoding="utf-8")  # every long formula found a place to break
    check(compiled(source))


def test_one_derivation(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["derive", "layer-two", "--format", "latex"]) == 0
    source = tmp_path / "derivation.tex"
    source.write_text(capsys.readouterr().out, encoding="utf-8")
    check(compiled(source))


# -- fragments in a fresh article --------------------------------------------------------------


def _compiles(names: Sequence[str], form: str, folder: Path) -> None:
    text = written(names, form)
    assert r"\resizebox" not in text
    check(pasted(text, folder), PROSE)
    assert labels(folder) >= {f"mp:{item.name}" for item in items(names)}


def test_every_formula(tmp_path: Path) -> None:
    _compiles(EVERYTHING, "align", tmp_path)


@pytest.mark.parametrize("form", ["theorem", "proof"])
def test_varied_formulas(form: str, tmp_path: Path) -> None:
    _compiles(VARIED, form, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["theorem", "proof"])
def test_every_formula_as_a_theorem(form: str, tmp_path: Path) -> None:
    _compiles(EVERYTHING, form, tmp_path)


def test_the_command_writes_what_can_be_read(tmp_path: Path) -> None:
    file = tmp_path / "out.tex"
    assert run(["export", "latex", "--only", "g, h,eq4", "--as", "proof", "--out", str(file)]) == 0
    check(pasted(file.read_text(encoding="utf-8"), tmp_path))
    assert labels(tmp_path) >= {"mp:g", "mp:h", "mp:eq4"}
    assert "4" + ALPHA in read(tmp_path)


# -- fragments in documents with notation and environments of their own ------------------------


def test_the_author_chooses_the_notation(tmp_path: Path) -> None:
    names = ["g", "h", "eq4", "own.increasing-2", "kim2025.increasing-3"]
    text = written(names, "proof")
    pasted(text, tmp_path)
    assert ALPHA in read(tmp_path)
    own = (
        r"\newcommand{\mpalpha}{\rho}\newcommand{\mpquery}{t}\newcommand{\mpS}{\Sigma}\newcommand{\mpnormat}[1]{N_{#1}}"
    )
    pasted(text, tmp_path, own)
    pages = read(tmp_path)
    assert ALPHA not in pages
    assert RHO in pages
    assert SIGMA in pages
    assert re.search(r"N\s?t", pages)
    assert not re.search(r"\bh\(", pages)


def test_every_macro_can_be_redefined(tmp_path: Path) -> None:
    """A definition by the author wins, for each macro; and nothing is written without its macro."""
    preamble = "".join(
        rf"\newcommand{{\{name}}}[{macro.arguments}]{'[]' if macro.separated else ''}{{X}}"
        for name, macro in MACROS.items()
    )
    pasted(written(VARIED, "theorem"), tmp_path, preamble)
    assert not set("\u03b1\u03b2\u03bb\u03ba\u03bc\u03c9\u03b8\u03bd") & set(read(tmp_path))


def test_environments_of_the_document_stay(tmp_path: Path) -> None:
    preamble = (
        r"\newtheorem{theorem}{Satz}[section]\newtheorem{remark}[theorem]{Bemerkung}"
        r"\renewenvironment{proof}{\par Beweis. }{\par}"
    )
    check(pasted(written(["g", "kim2025.increasing-3"], "proof"), tmp_path, preamble))
    pages = read(tmp_path)
    assert "Satz" in pages
    assert "Bemerkung" in pages
    assert "Beweis" in pages
    assert "Theorem" not in pages


@pytest.mark.parametrize(
    "preamble",
    [r"\documentclass{amsart}\usepackage{hyperref}", r"\documentclass[12pt]{book}\usepackage{amsmath,amsthm}"],
)
def test_other_classes(preamble: str, tmp_path: Path) -> None:
    (tmp_path / "fragment.tex").write_text(
        written(["g", "own.layer-two", "score-expansion"], "proof"), encoding="utf-8"
    )
    source = tmp_path / "paper.tex"
    body = r"\begin{document}\input{fragment} See \ref{mp:g} and \eqref{mp:own.layer-two:fall}.\end{document}"
    source.write_text(preamble + body, encoding="utf-8")
    assert "undefined" not in compiled(source)


def test_without_amsthm(tmp_path: Path) -> None:
    (tmp_path / "fragment.tex").write_text(written(["g", "layer-two"], "proof"), encoding="utf-8")
    source = tmp_path / "paper.tex"
    source.write_text(
        r"\documentclass[twocolumn]{article}\usepackage{amsmath}\begin{document}\input{fragment}\input{fragment}\end{document}",
        encoding="utf-8",
    )
    assert r"Undefined control sequence" not in compiled(source, 1)


def test_a_false_statement_says_so_on_the_page(tmp_path: Path) -> None:
    for form in FORMS:
        pasted(written(["kim2025.increasing-3"], form), tmp_path)
        pages = " ".join(read(tmp_path).split())
        assert "is false: it fails at i = 27, j = 25" in pages
        assert "(false)" in pages
        assert "Theorem" not in pages


# -- the checks can fail -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (r"\providecommand{\mpalpha}{\alpha}", ""),
        (r"\label{mp:g}", r"\label{mp:h}"),
        (r"\end{align}", r"& \eqref{mp:nowhere} \end{align}"),
        (r"\mpinnerat{\mpquery}", r"\mpinnerat{\mpquery} = 1 + 2 + 3 + 4 + 5 + 6 + 7 + 8 + 9 + 10 + 11 + 12 + 13 + 14"),
        (r"\begin{align}", r"\begin{align*}"),
    ],
    ids=["a macro without definition", "a label twice", "a loose reference", "a long line", "an environment"],
)
def test_planted_errors_are_found(old: str, new: str, tmp_path: Path) -> None:
    text = written(["g", "h"], "align")
    check(pasted(text, tmp_path))
    spoilt = text.replace(old, new, 1)
    assert spoilt != text
    with pytest.raises(AssertionError):
        check(pasted(spoilt, tmp_path))
