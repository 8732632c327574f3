"""Values typed on the command line, read exactly and refused in one line."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Literal, cast

import sympy

from maskproof.proofs.processes.limits import Limit
from maskproof.theory.decoder import NORMS, SCALES, Decoder, Mask, Rope
from maskproof.theory.errors import InvalidInput
from maskproof.theory.masks import MASKS, named, usages
from maskproof.theory.values import positive_integer

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?(/\d+)?", re.ASCII)
_LEAST_MEMORY = 250  # 10^6 bytes; the program itself takes half of that
_SMALLEST, _LARGEST = Fraction(1, 10**300), Fraction(10**300)


def number(text: str, option: str) -> sympy.Rational:
    """A real number, exactly as typed: an integer, a decimal or a fraction.

    >>> number("0.2", "--alpha"), number("1/3", "--alpha")
    (1/5, 1/3)
    """
    word = text.strip()
    if len(word) > 60 or not _NUMBER.fullmatch(word):
        raise InvalidInput(
            f"{option} {shown(text)}", f"'{option} is a finite number'", "write it as 2, 0.5, 1e-3 or 1/3"
        )
    above, _, below = word.partition("/")
    if below and Fraction(below) == 0:
        raise InvalidInput(f"{option} {shown(text)}", "'a denominator is not zero'", "write it as 1/3")
    value = Fraction(above) / Fraction(below or 1)
    if value and not _SMALLEST <= abs(value) <= _LARGEST:
        raise InvalidInput(
            f"{option} {shown(text)}", f"'{option} is 0 or between 1e-300 and 1e300 in size'", "floats reach no further"
        )
    return sympy.Rational(value.numerator, value.denominator)


def whole(text: str, option: str, least: int = 1, most: int = 10**12) -> int:
    """A whole number between ``least`` and ``most``."""
    word = text.strip()
    if len(word) > 20 or not re.fullmatch(r"[+-]?\d+", word, re.ASCII):
        raise InvalidInput(f"{option} {shown(text)}", f"'{option} is a whole number'", "write it in digits")
    value = int(word)
    if value < least:
        raise InvalidInput(f"{option} {value}", f"{option} >= {least}", f"give a whole number from {least} up")
    if value > most:
        raise InvalidInput(f"{option} {value}", f"{option} <= {most}", "give a smaller number")
    return value


def positive(text: str, option: str) -> float:
    """A number above zero."""
    value = number(text, option)
    if value <= 0:
        raise InvalidInput(f"{option} {shown(text)}", f"{option} > 0", "give a positive number")
    return float(value)


def limit(timeout: str, memory: str) -> Limit:
    """What a claim may take, by ``--timeout`` and ``--memory``."""
    return Limit(positive(timeout, "--timeout"), whole(memory, "--memory", least=_LEAST_MEMORY))


def mask(text: str) -> Mask:
    """The mask that ``text`` names."""
    name, *sizes = text.strip().split(":")
    kind = MASKS.get(name)
    if kind is None or len(sizes) != kind.usage().count(":"):
        raise InvalidInput(f"--mask {shown(text)}", "'the mask is known'", f"use {usages()}")
    return named(name, [whole(size, f"--mask {kind.usage()}") for size in sizes])


def decoder(
    beta: str, residual: str, norm: str, scale: str, mask_name: str, rope: str | None, head_dim: str
) -> Decoder:
    """The decoder that the options of ``scores`` describe."""
    if norm not in NORMS:
        raise InvalidInput(f"--norm {shown(norm)}", "'the norm is known'", f"use {', '.join(NORMS)}")
    position = None
    if rope is not None:
        position = Rope(number(rope, "--rope"), positive_integer(whole(head_dim, "--head-dim"), "--head-dim"))
    return Decoder(
        beta=number(beta, "--beta"),
        residual=number(residual, "--residual"),
        norm=cast(Literal["l2", "layernorm", "none"], norm),
        scale=cast(Literal["sqrt(d)", "d"], scale) if scale in SCALES else number(scale, "--scale"),
        mask=mask(mask_name),
        position=position,
    )


def shown(text: str) -> str:
    """``text`` fit for an error line: quoted, one line, not too long."""
    quoted = repr(text)
    return quoted if len(quoted) <= 60 else quoted[:56] + "...'"
