"""Certificates: what was decided, in a file that an independent program can check.

A certificate states the decoder in numbers (no class of this project is needed to read it), the statement, and what
is certain: for a ``map`` a partition of a box of parameters into pieces, for ``steps`` the pairs of neighbouring
keys whose score falls at exact parameters, while it rises at all others. Numbers are exact fractions, as strings.
``proofs/maps/recheck.py`` checks one from the file alone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import flint
import sympy

from maskproof.numerics.certify import Box, Order, Piece, Steps
from maskproof.numerics.series import Interval
from maskproof.proofs.shown.files import write_text
from maskproof.theory.errors import InvalidInput
from maskproof.theory.values import as_fraction

FORMAT = "maskproof-certificate-1"
STATEMENT = (
    "score[l][i][j] < score[l][i][j+1] for every l in layers and all keys j < i <= n visible to query i, if alpha < 1"
)
GRADED = (
    "upto: the same for all i <= upto, so in every sequence of up to so many tokens; falls: [l, i, j] with "
    "score[l][i][j] > score[l][i][j+1], so not in any sequence of i tokens or more"
)
PRECISION = 53  # bits of the floats that hold the polynomials
_DECODER = (
    "y_i = x_i sqrt(square / <x_i, x_i>) if normalised, else x_i; score[i][j] = <y_i, y_j> / sqrt(scale_squared); "
    "weight = softmax over j in visible[i] of beta score[i][j]; next x_i = residual x_i + sum_j weight[i][j] y_j; "
    "at first <x_i, x_i> = 1, <x_i, x_j> = alpha; layers and positions count from 1"
)


@dataclass(frozen=True)
class Survey:
    """A box of parameters, and how much of it is settled.

    Attributes:
        order: the statement.
        box: what was asked about.
        floor: the width of undecided pieces, by parameter.
        degree: of the polynomials; chosen from box to box if None.
        lengths: for which the question is asked apart from n, if the pieces tell up to which length the order holds.
        pieces: what is settled, without overlap.
        open: boxes still to be looked at.
        degrees: for each open box the degree that seems best for it, or None.
    """

    order: Order
    box: Box
    floor: Mapping[str, Fraction]
    degree: int | None = None
    lengths: tuple[int, ...] = ()
    pieces: tuple[Piece, ...] = ()
    open: tuple[Box, ...] = ()
    degrees: tuple[int | None, ...] = ()

    def share(self, answer: bool | None, length: int | None = None) -> Fraction:
        """The part of the box's area on which this is the answer, for n or another length; open boxes are undecided."""
        boxes = [piece.box for piece in self.pieces if piece.at(length or self.order.n) is answer]
        if answer is None:
            boxes += self.open
        return sum((area(box) for box in boxes), Fraction(0)) / area(self.box)


def area(box: Box) -> Fraction:
    """The product of the widths."""
    result = Fraction(1)
    for interval in box.values():
        result *= interval.high - interval.low
    return result


def _rational(value: object, name: str) -> str:
    number = sympy.sympify(value)
    if not isinstance(number, sympy.Rational):
        raise InvalidInput(f"{name} = {number}", "'a certificate holds rational numbers'", "use a fraction near it")
    return str(as_fraction(number))


def _model(order: Order) -> dict[str, Any]:
    decoder = order.decoder
    if decoder.position is not None:
        raise InvalidInput(
            f"position = {decoder.position}", "'a certificate is of a layer without position encoding'", "write none"
        )
    return {
        "n": order.n,
        "layers": list(order.layers),
        "alpha": _rational(order.alpha, "alpha"),
        "beta": _rational(decoder.beta, "beta"),
        "residual": _rational(decoder.residual, "residual"),
        "normalised": decoder.normalised,
        "square": str(order.dim) if decoder.norm == "layernorm" else "1",
        "scale_squared": _rational(sympy.sympify(decoder.scale_at(order.dim)) ** 2, "scale squared"),
        "visible": [_visible(decoder.mask.keys(i, order.n)) for i in range(1, order.n + 1)],
        "meaning": _DECODER,
    }


def _visible(keys: range) -> list[int]:
    """The first and the last key, and the step between keys where it is not 1."""
    return [keys[0], keys[-1], *([keys.step] if keys.step > 1 else [])]


def _box(box: Box) -> dict[str, list[str]]:
    return {name: [str(interval.low), str(interval.high)] for name, interval in box.items()}


def _read_box(entry: Mapping[str, list[str]]) -> Box:
    return {name: Interval(Fraction(low), Fraction(high)) for name, (low, high) in entry.items()}


def map_certificate(survey: Survey) -> dict[str, Any]:
    """The certificate of a map or a slice; one with open boxes can be completed later.

    Raises:
        InvalidInput: a parameter is irrational, or the decoder has a position encoding.
    """
    pieces = []
    for piece in survey.pieces:
        entry: dict[str, Any] = {"box": _box(piece.box), "holds": piece.answer}
        if piece.upto is not None:
            entry["upto"] = piece.upto
        if piece.pair is not None:
            entry["falls"] = list(piece.pair)
        pieces.append(entry)
    graded = {"lengths": list(survey.lengths), "graded": GRADED} if survey.lengths else {}
    return {
        "format": FORMAT,
        "kind": "map",
        "statement": STATEMENT,
        **graded,
        "model": _model(survey.order),
        "box": _box(survey.box),
        "floor": {name: str(width) for name, width in survey.floor.items()},
        "method": {"degree": survey.degree or "adaptive", **_method(PRECISION)},
        "pieces": pieces,
        "open": [_box(box) for box in survey.open],
        "degrees": list(survey.degrees),
    }


def _method(precision: int) -> dict[str, Any]:
    return {"precision": precision, "python-flint": flint.__version__}


def steps_certificate(order: Order, steps: Steps) -> dict[str, Any]:
    """The certificate of the direction of every step at exact parameters.

    Raises:
        InvalidInput: a parameter is irrational, or the decoder has a position encoding.
    """
    return {
        "format": FORMAT,
        "kind": "steps",
        "statement": STATEMENT,
        "model": _model(order),
        "method": _method(steps.precision),
        "falls": [list(pair) for pair in steps.falling],
        "open": [list(pair) for pair in steps.open],
    }


def text(certificate: Mapping[str, Any]) -> str:
    """A certificate as JSON, an entry a line."""
    lines = []
    for key, value in certificate.items():
        if isinstance(value, list) and value and isinstance(value[0], list | dict):
            rows = ",\n  ".join(json.dumps(entry) for entry in value)
            lines.append(f"{json.dumps(key)}: [\n  {rows}\n ]")
        else:
            lines.append(f"{json.dumps(key)}: {json.dumps(value)}")
    return "{\n " + ",\n ".join(lines) + "\n}\n"


def write(certificate: Mapping[str, Any], path: Path) -> None:
    """Write a certificate, whole or not at all."""
    write_text(path, text(certificate), "--json")


def resume(path: Path, survey: Survey) -> Survey:
    """``survey`` with the pieces and open boxes of the certificate at ``path``.

    Raises:
        InvalidInput: the file cannot be read, or is about another question.
    """
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        stated = map_certificate(survey)
        same = all(found[key] == stated[key] for key in ("format", "kind", "model", "box", "floor"))
        same = same and found.get("lengths", []) == list(survey.lengths)
        same = same and found["method"]["degree"] == stated["method"]["degree"]
        pieces = tuple(_read_piece(entry) for entry in found["pieces"])
        unsettled = tuple(_read_box(entry) for entry in found["open"])
        degrees = tuple(degree for _, degree in zip(unsettled, found["degrees"], strict=True))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InvalidInput(f"--json {path}", "'it is a certificate'", "name a new file") from error
    if not same:
        raise InvalidInput(f"--json {path}", "'it is about the same question'", "name a new file")
    return replace(survey, pieces=pieces, open=unsettled, degrees=degrees)


def _read_piece(entry: Mapping[str, Any]) -> Piece:
    pair = entry.get("falls")
    falls = None if pair is None else (pair[0], pair[1], pair[2])
    return Piece(_read_box(entry["box"]), entry["holds"], falls, entry.get("upto"))
