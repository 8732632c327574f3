r"""The notation as LaTeX macros, so that an author can redefine a letter once and change every formula.

A formula is written in these macros; ``expand`` puts in what they stand for, ``definitions`` prints them with
``\providecommand``, which leaves alone what the author has defined already.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

PREFIX = "mp"  # every name begins with it
_CALL = re.compile(rf"\\({PREFIX}[A-Za-z]+)(?![A-Za-z])")


@dataclass(frozen=True)
class Macro:
    """A macro.

    Attributes:
        body: what it stands for, its arguments being #1, #2, ...
        meaning: what that is, in words.
        arguments: how many there are.
        separated: whether the first argument is optional; it separates two indices, and is empty or a comma.
    """

    body: str
    meaning: str
    arguments: int = 0
    separated: bool = False


def _pair(body: str, meaning: str, arguments: int = 3) -> Macro:
    return Macro(body, meaning, arguments + 1, separated=True)


MACROS = {
    "mpalpha": Macro(r"\alpha", "correlation of distinct inputs"),
    "mpbeta": Macro(r"\beta", "inverse temperature"),
    "mplambda": Macro(r"\lambda", "weight of the residual"),
    "mpquery": Macro("i", "position of the query"),
    "mpkey": Macro("j", "position of the key"),
    "mpother": Macro("k", "a further position"),
    "mpanother": Macro("p", "one more position"),
    "mpany": Macro("a", "any position, in definitions that hold for all"),
    "mpearlier": Macro("m", "number of tokens before the query, as a real variable"),
    "mplength": Macro("n", "number of tokens"),
    "mpwidth": Macro("d", "width of the vectors"),
    "mplayer": Macro(r"\ell", "a layer"),
    "mpS": Macro("S", "letter of scores"),
    "mpA": Macro("A", "letter of attention weights"),
    "mpM": Macro("M", "letter of the weights of inputs in outputs"),
    "mpG": Macro("G", "letter of the Gram matrix after a layer"),
    "mpK": Macro("K", "letter of the Gram matrix of the inputs"),
    "mpscore": _pair(r"\mpS^{(#2)}_{#3#1#4}", "score: layer, query, key"),
    "mpweight": _pair(r"\mpA^{(#2)}_{#3#1#4}", "attention weight: layer, query, key"),
    "mpmix": _pair(r"\mpM^{(#2)}_{#3#1#4}", "weight of an input in an output: layer, query, key"),
    "mpgram": _pair(r"\mpG^{(#2)}_{#3#1#4}", "Gram matrix after a layer: layer, row, column"),
    "mpinput": _pair(r"\mpK_{#2#1#3}", "Gram matrix of the inputs: row, column", 2),
    "mpx": Macro("x", "token vectors"),
    "mpmodel": Macro(r"\mathcal{M}_{#1}", "a model, by number", 1),
    "mpanymodel": Macro(r"\mathcal{M}", "any of several models"),
    "mpin": Macro(r"\langle #1 \rangle", "the model that a quantity is meant in", 1),
    "mpratio": Macro("r", "how much a token prefers itself"),
    "mptotal": Macro("s", "total weight of a row"),
    "mpinner": Macro("g", "inner product after the first layer"),
    "mpinnerat": Macro(r"\mpinner(#1)", "the same at a position", 1),
    "mpnorm": Macro("h", "norm after the first layer"),
    "mpnormat": Macro(r"\mpnorm(#1)", "the same at a position", 1),
    "mpbareinner": Macro("g'", "inner product without the residual"),
    "mpbareinnerat": Macro(r"\mpbareinner(#1)", "the same at a position", 1),
    "mpbarenorm": Macro("h'", "norm without the residual"),
    "mpbarenormat": Macro(r"\mpbarenorm(#1)", "the same at a position", 1),
    "mpgeneralnormat": Macro(r"\hat{h}(#1)", "norm in the general form, at a position", 1),
    "mpnormaliser": Macro("D_{#1}", "normaliser of a row in the paper's form, at a position", 1),
    "mpq": Macro("q", "an abbreviation"),
    "mpinverse": Macro("w", "an abbreviation, the inverse of a sum"),
    "mpkernel": Macro(r"\kappa_{#1}(#2)", "kernel of RoPE: dimension, distance", 2),
    "mpexpected": Macro(r"\operatorname{E}", "expectation"),
    "mplimitscore": _pair(r"\bar{S}^{(#2)}_{#3#1#4}", "score in the limit of infinite width: layer, query, key"),
    "mpcorrection": _pair("c^{(#2)}_{#3#1#4}", "coefficient of 1/d: layer, query, key"),
    "mpcoefficient": Macro(r"[\mpwidth^{-1}]\mpexpected[#1]", "coefficient of 1/d in the expectation of a quantity", 1),
    "mprowsum": Macro("D_{#1}", "sum of a row's unnormalised weights", 1),
    "mpownweight": Macro(r"\mu_{#1}", "weight of a token in its own output", 1),
    "mpsquares": Macro(r"\omega_{#1}", "sum of a row's squared weights", 1),
    "mpslope": Macro("u_{#1}", "slope of a squared norm", 1),
    "mppull": Macro("w_{#1}", "pull of a cosine on an inner product", 1),
    "mpturn": Macro(r"\theta_{#1}", "rate at which a row turns", 1),
    "mpnormbias": Macro(r"\nu_{#1}", "relative bias of an inverse norm", 1),
    "mpbias": Macro("B_{#1}", "bias of an entry of the Gram matrix", 1),
    "mpcovariance": Macro("C_{#1,#2}", "covariance of two entries of the Gram matrix", 2),
}  # fmt: skip

SYMBOLS = {
    "alpha": "mpalpha", "beta": "mpbeta", "lam": "mplambda", "i": "mpquery", "j": "mpkey", "k": "mpother",
    "l": "mplayer", "p": "mpanother", "a": "mpany", "m": "mpearlier", "n": "mplength", "d": "mpwidth", "r": "mpratio",
    "s": "mptotal", "q": "mpq", "w": "mpinverse",
}  # fmt: skip
FUNCTIONS = {
    "g": "mpinnerat", "h": "mpnormat", "g'": "mpbareinnerat", "h'": "mpbarenormat", "hhat": "mpgeneralnormat",
    "D": "mpnormaliser",
}  # fmt: skip
QUANTITIES = {"S": "mpscore", "A": "mpweight", "M": "mpmix", "G": "mpgram", "K": "mpinput"}
_LETTERS = {
    **{letter: SYMBOLS[letter] for letter in "ijklnmdqrs"}, **{letter: f"mp{letter}" for letter in "SAMGKx"},
    "g": "mpinner", "h": "mpnorm", "g'": "mpbareinner", "h'": "mpbarenorm",
}  # fmt: skip
_COMMANDS = {r"\alpha": "mpalpha", r"\beta": "mpbeta", r"\lambda": "mplambda"}
_TYPED = re.compile(
    r"(?P<letter>[SAMG])\^\{\((?P<layer>[^{}()]+)\)\}_\{(?P<indices>[^{},]+,[^{}]+|[a-z]{2})\}"
    r"|(?P<function>[gh]'?)\((?P<at>[^()]*)\)|(?P<word>\\[A-Za-z]+|[A-Za-z]'?)"
)
INDEXED = {
    "D": "mprowsum", "mu": "mpownweight", "omega": "mpsquares", "u": "mpslope", "w": "mppull", "theta": "mpturn",
    "nu": "mpnormbias", "g": "mpinnerat", "h": "mpnormat",
}  # fmt: skip


def call(name: str, *arguments: str, separator: str = "") -> str:
    r"""A macro with its arguments.

    >>> print(call("mpscore", "2", "i", "j + 1", separator=","))
    \mpscore[,]{2}{i}{j + 1}
    """
    return rf"\{name}" + (f"[{separator}]" if separator else "") + "".join(f"{{{part}}}" for part in arguments)


def symbol(name: str) -> str | None:
    r"""The macro for the symbol of that name, or None: ``i``, ``mu_i``, ``B_{ij}``, ``C_{ij,ii}``, ``c^{(2)}_{ij}``.

    >>> print(symbol("theta_i"), symbol("C_{ij,ii}"), symbol("x"))
    \mpturn{\mpquery} \mpcovariance{\mpquery\mpkey}{\mpquery\mpquery} None
    """
    if name in SYMBOLS:
        return call(SYMBOLS[name])
    match = re.fullmatch(r"([A-Za-z]+)_([a-z])", name)
    if match and match[1] in INDEXED:
        return call(INDEXED[match[1]], _indices(match[2]))
    match = re.fullmatch(r"(c|\\bar\{S\})\^\{\((\d)\)\}_\{([a-z])([a-z])\}", name)
    if match:
        name = "mpcorrection" if match[1] == "c" else "mplimitscore"
        return call(name, match[2], _indices(match[3]), _indices(match[4]))
    match = re.fullmatch(r"B_\{([a-z]{2})\}", name)
    if match:
        return call("mpbias", _indices(match[1]))
    match = re.fullmatch(r"C_\{([a-z]{2}),([a-z]{2})\}", name)
    return call("mpcovariance", _indices(match[1]), _indices(match[2])) if match else None


def _indices(letters: str) -> str:
    return "".join(call(SYMBOLS[letter]) for letter in letters)


def named(text: str) -> str:
    r"""Mathematics typed in letters, in macros.

    >>> print(named(r"S^{(2)}_{ij} = \alpha h(i)"))
    \mpscore{2}{\mpquery}{\mpkey} = \mpalpha \mpnormat{\mpquery}
    """
    return re.sub(r"(?<=[A-Za-z])\s+(?=[}_^)\]])", "", _TYPED.sub(_named, text))


def _named(match: re.Match[str]) -> str:
    after = match.string[match.end() : match.end() + 1]
    if match["layer"]:
        first, separator, second = match["indices"].partition(",")
        if not separator:
            first, second = match["indices"]
        layer, indices = named(match["layer"]), (named(first), named(second))
        return call(QUANTITIES[match["letter"]], layer, *indices, separator=separator)
    if match["function"]:
        return call(FUNCTIONS[match["function"]], named(match["at"]))
    name = _COMMANDS.get(match["word"]) or _LETTERS.get(match["word"])
    return match["word"] if name is None else call(name) + (" " if after.isalpha() else "")


def expand(text: str) -> str:
    r"""LaTeX without the macros.

    >>> print(expand(r"\mpscore[,]{2}{\mpquery}{\mpkey + 1} < \mpnormat{\mpquery}^{2}"))
    S^{(2)}_{i,j + 1} < h(i)^{2}
    """
    while match := _CALL.search(text):
        macro, place = MACROS[match[1]], match.end()
        given: list[str] = []
        if macro.separated:
            closing = text.find("]", place) if text.startswith("[", place) else -1
            given.append(text[place + 1 : closing] if closing >= 0 else "")
            place = closing + 1 if closing >= 0 else place
        while len(given) < macro.arguments:
            end = _closing(text, place)
            given.append(text[place + 1 : end])
            place = end + 1
        text = text[: match.start()] + _filled(macro.body, given) + text[place:]
    return text


def _filled(body: str, arguments: list[str]) -> str:
    return re.sub(r"#(\d)", lambda number: arguments[int(number[1]) - 1], body)


def _closing(text: str, start: int) -> int:
    """Where the brace that opens at ``start`` closes."""
    depth = 0
    for place in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[place], 0)
        if depth == 0:
            return place
    raise ValueError(f"a macro without its arguments in {text!r}")


def used(text: str) -> list[str]:
    """The macros that ``text`` needs, those in the bodies of others included, in the order of ``MACROS``."""
    found = {match[1] for match in _CALL.finditer(text)} & set(MACROS)
    for name in list(found):
        found |= {match[1] for match in _CALL.finditer(MACROS[name].body)}
    return [name for name in MACROS if name in found]


def definitions(names: Iterable[str]) -> list[str]:
    r"""A line of LaTeX for each macro, with its meaning.

    >>> print(definitions(["mpnormat"])[0])
    \providecommand{\mpnormat}[1]{\mpnorm(#1)}% the same at a position
    """
    lines = []
    for name in names:
        macro = MACROS[name]
        count = f"[{macro.arguments}]" if macro.arguments else ""
        lines.append(
            rf"\providecommand{{\{name}}}{count}{'[]' if macro.separated else ''}{{{macro.body}}}% {macro.meaning}"
        )
    return lines
