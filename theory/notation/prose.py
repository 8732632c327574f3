"""Prose with formulas in it, as authors type it into a note: "for j < i the weight A_ij is exp(beta)/Z".

What looks like mathematics is set as such; the rest is escaped. A fragment is mathematics when it
holds an operator, a script or a Greek letter, or is a single letter that is no English word.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from maskproof.theory.notation import macros

_TOKEN = re.compile(
    r"""(?P<space>\s+)
      | (?P<code>``.+?``|`[^`]+`)
      | (?P<file>\b[A-Za-z]{2}\w*(?:[./][A-Za-z]\w*)*_\w\w+(?:[./]\w+)*|\b\w+(?:/\w+)+\.py\b)
      | (?P<claim>\b(?:own|kim20\d\d)\.[a-z][A-Za-z0-9-]*)
      | (?P<quote>(?<![A-Za-z0-9])['](?=[A-Za-z]))
      | (?P<dots>\.\.\.)
      | (?P<greek>(?:alpha|beta|lambda|lam|kappa|theta|pi|epsilon|eps|rho)(?![A-Za-z0-9]|[.-][A-Za-z0-9]))
      | (?P<inner><[a-z]_?\w*,\s*[a-z]_?\w*>)
      | (?P<named>(?:sum|lim)(?=[_{]|\ [a-z](?![A-Za-z]))|(?:exp|sqrt|log|cos)(?=\()|(?:infinity|oo)(?![A-Za-z0-9-]))
      | (?P<word>[A-Za-z]{2}[A-Za-z0-9]*(?:[-.'\u2019][A-Za-z0-9]+)+
                | [A-Za-z](?:[-.'\u2019][A-Za-z]{2}[A-Za-z0-9]*)+ | [A-Za-z]{2,}[0-9]* | l2\b | \d[\d.]*v\d+)
      | (?P<letter>[ijkmnd](?![A-Za-z])|[A-Za-z]'*)(?![A-Za-z])
      | (?P<number>\d+(?:\.\d+)?(?:e[+-]?\d+)?)
      | (?P<script>[_^](?:\{[^{}]*\}|sqrt\([^()]*\)|\((?:[^()]|\([^()]*\))*\)
                  |[a-z],[a-z](?:[+-]\d)?(?!\w)|[A-Za-z0-9]+)'*)
      | (?P<relation><=|>=|!=|->|=>|=|<|>)
      | (?P<bar>\|)
      | (?P<operator>[+\-*/\u00b7])
      | (?P<open>[(\[])
      | (?P<close>[)\]])
      | (?P<other>.)""",
    re.VERBOSE,
)
_ALONE = set("bcdefghijklmnpqrstuvwxyzGKMS")  # letters that are mathematics even by themselves
_MATH = {
    "greek", "named", "letter", "number", "script", "relation", "operator", "open", "close", "space", "bar",
    "dots", "inner",
}  # fmt: skip
_GREEK = {"lam": r"\lambda", "eps": r"\varepsilon"}
_RELATION = {"<=": r"\le", ">=": r"\ge", "!=": r"\ne", "->": r"\to", "=>": r"\implies"}
_ESCAPES = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%",
    "_": r"\_", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\textless{}",
    ">": r"\textgreater{}", "|": r"\textbar{}", "\u2013": "--", "\u2014": "---", "\u2018": "`",
    "\u2019": "'", "\u201c": "``", "\u201d": "''", "\u2026": r"\ldots{}", "\u00a7": r"\S{}",
    "\u00a0": "~",
}  # fmt: skip
_UNICODE = {
    "\u03b1": r"\alpha", "\u03b2": r"\beta", "\u03bb": r"\lambda", "\u03ba": r"\kappa", "\u03b8": r"\theta",
    "\u2264": r"\le", "\u2265": r"\ge", "\u2260": r"\ne", "\u221e": r"\infty", "\u2192": r"\to",
    "\u00d7": r"\times", "\u00b7": r"\cdot", "\u2212": "-", "\u221a": r"\surd", "\u2113": r"\ell",
    "\u00b1": r"\pm", "\u2248": r"\approx", "\u2211": r"\sum", "\u00b2": "^2", "\u00b3": "^3",
}  # fmt: skip

Token = tuple[str, str]
Plain = Callable[[str], str]


def escape(text: str) -> str:
    r"""Text for LaTeX: every special character as itself, Greek letters and signs in mathematics.

    >>> escape("50 % of a_b")
    '50 \\% of a\\_b'
    """
    return "".join(_escaped(character) for character in text)


def _escaped(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    if character in _UNICODE:
        return f"${_UNICODE[character]}$"
    return character if ord(character) < 0x250 else "?"


def latex_prose(text: str, named: bool = False) -> str:
    r"""Prose for LaTeX; with ``named``, formulas are in macros (``theory.notation.macros``).

    >>> latex_prose("for j <= i, exp(alpha beta) drops out")
    'for $j \\le i$, $e^{\\alpha \\beta}$ drops out'
    """
    typed = _prose(text, escape, lambda name: rf"\texttt{{{escape(name)}}}")
    return re.sub(r"(?<!\\)\$[^$]+\$", lambda formula: macros.named(formula.group()), typed) if named else typed


def markdown_prose(text: str) -> str:
    r"""Prose for GitHub-flavoured Markdown: mathematics between dollars, special characters escaped.

    >>> markdown_prose("x_i has weight s = 1 + lam")
    '$x_{i}$ has weight $s = 1 + \\lambda$'
    """
    typed = _prose(text, markdown_escape, lambda name: f"`{name}`")
    return re.sub(r"(?<!\\)\$[^$]+\$", lambda m: m.group().replace("<", r"\lt").replace(">", r"\gt"), typed)


def markdown_escape(text: str) -> str:
    """Text for Markdown, special characters as themselves."""
    return re.sub(r"([\\`*_{}\[\]<>#|$])", r"\\\1", text)


def _prose(text: str, plain: Plain, code: Plain) -> str:
    pieces: list[str] = []
    run: list[Token] = []
    for token in [*_tokens(text), ("end", "")]:
        inside = token[1] == "," and _depth(run) > 0
        if token[0] in _MATH or inside:
            run.append(token)
            continue
        pieces.append(_settle(run, plain))
        run = []
        pieces.append(_word(token, plain, code))
    return re.sub(r"[ \t\n]+", " ", "".join(pieces)).strip()


def _tokens(text: str) -> list[Token]:
    return [(match.lastgroup or "other", match.group()) for match in _TOKEN.finditer(text)]


def _word(token: Token, plain: Plain, code: Plain) -> str:
    if token[0] in ("code", "claim", "file"):
        return code(token[1].strip("`"))
    if token[0] == "quote":
        return plain("\u2018")
    return r"$\ell_2$" if token[1] == "l2" else plain(token[1])


def _depth(run: list[Token]) -> int:
    return sum({"open": 1, "close": -1}.get(kind, 0) for kind, _ in run)


def _settle(run: list[Token], plain: Plain) -> str:
    """A run of tokens that may be mathematics: trim what does not belong to it, then set it."""
    before: list[Token] = []
    after: list[Token] = []
    changed = True
    while run and changed:
        changed = False
        if (run[0][0] in ("space", "close", "operator") and not _is_minus(run)) or _opens_too_much(run):
            before.append(run.pop(0))
            changed = True
        elif (
            (run[-1][0] in ("space", "open", "operator", "relation") and len(run) > 1)
            or run[-1][0] in ("space", "open")
        ) or _depth(run) < 0:
            after.insert(0, run.pop())
            changed = True
    ends = "".join(text for _, text in before), "".join(text for _, text in after)
    body = "".join(text for _, text in run)
    if run and run[0][0] == "open" and run[-1][0] == "close" and not _has_signal(run[1:-1]):
        return plain(ends[0] + body + ends[1])
    if not _has_signal(run):
        return plain(ends[0]) + _letters(run, plain) + plain(ends[1])
    return f"{plain(ends[0])}${_math(run)}${plain(ends[1])}"


def _is_minus(run: list[Token]) -> bool:
    after = [kind for kind, _ in run[1:3] if kind != "space"]
    return run[0][1] == "-" and bool(after) and after[0] in ("number", "letter", "greek")


def _opens_too_much(run: list[Token]) -> bool:
    """Whether the run starts with a bracket that closes nowhere, or only around all of it as prose."""
    return run[0][0] == "open" and _depth(run) > 0


def _has_signal(run: list[Token]) -> bool:
    kinds = [kind for kind, _ in run]
    if kinds == ["relation"]:
        return run[0][1] not in ("<", ">", "=")
    letters = any(kind in ("letter", "greek", "named") for kind in kinds)
    spaced = any(a == b == "space" for a, b in zip(kinds, kinds[2:], strict=False) if a == "space")
    return (
        any(kind in ("greek", "script", "inner") for kind in kinds)
        or ("relation" in kinds and len(run) > 1)
        or ("operator" in kinds and (letters or spaced) and len(run) > 2)
        or ("named" in kinds and "open" in kinds)
        or _is_call(run)
    )


def _is_call(run: list[Token]) -> bool:
    return len(run) > 2 and run[0][0] == "letter" and run[1][0] == "open" and run[-1][0] == "close"


def _letters(run: list[Token], plain: Plain) -> str:
    return "".join(
        f"${_letter(text)}$" if kind == "letter" and text.rstrip("'") in _ALONE else plain(text) for kind, text in run
    )


def _math(run: list[Token]) -> str:
    out: list[str] = []
    place = 0
    while place < len(run):
        kind, text = run[place]
        if kind == "named" and text in ("exp", "sqrt") and place + 1 < len(run) and run[place + 1][0] == "open":
            end = _closing(run, place + 1)
            if end is not None:
                head = "e^" if text == "exp" else r"\sqrt"
                out.append(f"{head}{{{_math(run[place + 2 : end])}}}")
                place = end + 1
                continue
        out.append(_symbol(kind, text))
        place += 1
    return re.sub(r" +", " ", "".join(out)).strip()


def _closing(run: list[Token], start: int) -> int | None:
    depth = 0
    for place in range(start, len(run)):
        depth += {"open": 1, "close": -1}.get(run[place][0], 0)
        if depth == 0:
            return place
    return None


def _symbol(kind: str, text: str) -> str:
    if kind == "greek":
        return _GREEK.get(text, "\\" + text) + " "
    if kind == "named":
        return {"infinity": r"\infty ", "oo": r"\infty "}.get(text, f"\\{text} ")
    if kind == "inner":
        return rf"\langle {_math(_tokens(text[1:-1]))} \rangle "
    if kind == "dots":
        return r"\dots "
    if kind == "relation":
        return f" {_RELATION.get(text, text)} "
    if kind == "script":
        body = text[1:].rstrip("'")
        primes = "'" * (len(text) - 1 - len(body))
        if body[0] == "{" or (body[0] == "(" and not body[1:-1].isalnum()):  # S^(2) keeps its brackets
            body = body[1:-1]
        return f"{text[0]}{{{_math(_tokens(body))}}}{primes}"
    if kind == "letter":
        return _letter(text)
    return " " if text == "*" else r"\cdot " if text == "\u00b7" else text


def _letter(text: str) -> str:
    """A letter as it is printed: the layer l is told from the number 1."""
    return rf"\ell{text[1:]} " if text.rstrip("'") == "l" else text
