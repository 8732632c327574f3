"""Docstrings as reStructuredText: they are plain text with formulas, in Google's layout.

A star, a bar or a trailing underscore in a formula must not be taken for markup, and an indented
formula after a colon is shown as it is typed.
"""

from __future__ import annotations

import itertools
import re

_LITERAL = re.compile(r"(``.+?``|(?<![\w*])\*[a-z]+\*(?![\w*]))")  # and a stressed word
_MARKUP = re.compile(r"[*|`\\]|(?<=[\w)])_(?!\w)|(?<!\w)_(?=\w)")
_SECTION = re.compile(r"(Args|Attributes|Raises|Returns|Yields|Notes?|Examples?|Source):$")
_SHARED = re.compile(r"    (\w+(?:, \w+)+): ")
_ITEM = re.compile(r"\s*([*-]|\d+\.) ")


def as_restructured_text(lines: list[str]) -> list[str]:
    r"""A docstring with everything but literals, stress and examples escaped, indented lines kept as they are typed.

    >>> as_restructured_text(["The norm |x_i|, with ``a*b``:", "", "    |x| * 2", ""])
    ['The norm \\|x_i\\|, with ``a*b``:', '', '::', '', '    |x| * 2', '']
    """
    made: list[str] = []
    in_section = False
    base = 0  # where ordinary text stands: at the margin, or inside the last list item
    for block in _blocks(lines):
        first = block[0]
        indent = len(first) - len(first.lstrip())
        if not first.strip() or first.lstrip().startswith(">>>"):
            made += block
            continue
        if indent == 0:
            in_section = any(_SECTION.match(line) for line in block)
            item = _ITEM.match(block[-1]) or _ITEM.match(first)
            base = len(item.group()) if item else 0
        if in_section:
            block = _one_name_each(block)
        if in_section or indent in (0, base):
            broken = base == 0 and not in_section and any(line[0].isspace() for line in block)
            made += [f"| {_escaped(line)}" if broken else _escaped(line) for line in block]
        else:  # a formula
            made += [" " * base + "::", "", *block]
    return made


def _one_name_each(block: list[str]) -> list[str]:
    """A section in which an entry for several names ("decoder, inputs: ...") stands once for each."""
    made: list[str] = []
    for place, line in enumerate(block):
        names = _SHARED.match(line)
        if names is None:
            made.append(line)
            continue
        rest = itertools.takewhile(lambda each: each.startswith(" " * 8), block[place + 1 :])
        text = " ".join([line[names.end() :], *(each.strip() for each in rest)])
        *others, last = names[1].split(", ")
        made += [f"    {name}: {text}" for name in others]
        made.append(f"    {last}: {line[names.end() :]}")
    return made


def _blocks(lines: list[str]) -> list[list[str]]:
    """Lines in blocks, each empty line by itself."""
    blocks: list[list[str]] = []
    for line in lines:
        if line.strip() and blocks and blocks[-1][0].strip():
            blocks[-1].append(line)
        else:
            blocks.append([line])
    return blocks


def _escaped(line: str) -> str:
    """A line in which nothing but double backticks and the sign of a list item is markup."""
    item = _ITEM.match(line)
    head = item.group() if item else ""
    parts = _LITERAL.split(line[len(head) :])
    return head + "".join(part if place % 2 else _MARKUP.sub(r"\\\g<0>", part) for place, part in enumerate(parts))
