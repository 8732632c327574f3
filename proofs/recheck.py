"""Check a certificate from its file alone: python recheck.py FILE [--precision BITS] [--degree N] [--pieces K].

Needs python-flint and nothing else of this project: the layer map is written anew below, with other formulas for the
remainders than those that made the certificate. Over a piece of a map the parameters are p0 + delta tau with
|tau| <= 1, and a number is a polynomial in tau with a bound on the rest (``Taylor``); exponentials and powers are
summed as series in the polynomial without its constant term. A piece that one polynomial cannot settle is halved.

Exit status: 0 the certificate is confirmed, 1 it is not, 2 the file cannot be read.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Sequence
from fractions import Fraction
from math import factorial
from pathlib import Path
from typing import Any

import flint
from flint import arb, arb_mat

ZERO, ONE = arb(0), arb(1)
MOST_HALVINGS = 12
Index = tuple[int, int]
Box = dict[str, tuple[Fraction, Fraction]]


def ball(number: Fraction) -> arb:
    """The number as a ball."""
    return arb(number.numerator) / number.denominator


class Taylor:
    """A polynomial in tau_1, tau_2 up to total degree ``top``, as {(a, b): coefficient}, and a bound on the rest."""

    top = 4

    def __init__(self, terms: dict[Index, arb], rest: arb = ZERO) -> None:
        self.terms = terms
        self.rest = rest.abs_upper()

    def size(self) -> arb:
        """A bound on the absolute value."""
        return sum((c.abs_upper() for c in self.terms.values()), self.rest).upper()

    def constant(self) -> arb:
        """The coefficient of degree 0."""
        return self.terms.get((0, 0), ZERO)

    def moving(self) -> Taylor:
        """Everything but the constant term."""
        return Taylor({k: c for k, c in self.terms.items() if k != (0, 0)}, self.rest)

    def __add__(self, other: Taylor) -> Taylor:
        terms = dict(self.terms)
        for k, c in other.terms.items():
            terms[k] = terms.get(k, ZERO) + c
        return Taylor(terms, self.rest + other.rest)

    def __mul__(self, other: Taylor) -> Taylor:
        terms: dict[Index, arb] = {}
        rest = self.rest * other.size() + other.rest * self.size()
        for (a, b), x in self.terms.items():
            for (c, d), y in other.terms.items():
                if a + b + c + d <= Taylor.top:
                    k = (a + c, b + d)
                    terms[k] = terms.get(k, ZERO) + x * y
                else:
                    rest += (x * y).abs_upper()
        return Taylor(terms, rest)

    def scaled(self, factor: arb) -> Taylor:
        """The product with a number."""
        return Taylor({k: c * factor for k, c in self.terms.items()}, self.rest * factor)

    def _series(self, coefficients: Sequence[arb], remainder: arb) -> Taylor:
        """The sum of coefficients[m] self^m by Horner's rule, up to ``remainder``."""
        total = number(coefficients[-1])
        for c in reversed(coefficients[:-1]):
            total = total * self + number(c)
        return Taylor(total.terms, total.rest + remainder)

    def exp(self) -> Taylor:
        """The exponential: the remainder after m terms is at most u^m e^u / m!, u the size."""
        u, m = self.moving(), Taylor.top + 3
        size = u.size()
        series = u._series([ONE / factorial(k) for k in range(m)], size**m * size.exp() / factorial(m))
        return series.scaled(self.constant().exp())

    def power(self, half: bool) -> Taylor:
        """1 / self or, with ``half``, self^(-1/2): binomial coefficients at most 1, so a geometric remainder."""
        first = self.constant()
        u, m = self.moving().scaled(1 / first), Taylor.top + 8
        size = u.size()
        if not (first > 0 and size < 1):
            return number(arb("nan"))
        coefficients, c = [], ONE
        for k in range(m):
            coefficients.append(c)
            c = -c * ((2 * k + 1) / arb(2 * k + 2)) if half else -c
        return u._series(coefficients, size**m / (1 - size)).scaled(first.rsqrt() if half else 1 / first)


def number(value: arb) -> Taylor:
    """A number as a polynomial."""
    return Taylor({(0, 0): value})


Rows = list[list[Taylor]]


class Matrix:
    """A square matrix of Taylor polynomials: one matrix for each coefficient, and one of the rests."""

    def __init__(self, terms: dict[Index, arb_mat], rest: arb_mat) -> None:
        self.terms, self.rest = terms, rest

    @classmethod
    def of(cls, rows: Rows) -> Matrix:
        """From rows."""
        n = len(rows)
        keys = {k for row in rows for entry in row for k in entry.terms}
        terms = {k: arb_mat(n, n, [e.terms.get(k, ZERO) for row in rows for e in row]) for k in keys}
        return cls(terms, arb_mat(n, n, [e.rest for row in rows for e in row]))

    def entry(self, i: int, j: int) -> Taylor:
        """The polynomial at (i, j)."""
        return Taylor({k: m[i, j] for k, m in self.terms.items()}, self.rest[i, j])

    def transpose(self) -> Matrix:
        """The transposed matrix."""
        return Matrix({k: m.transpose() for k, m in self.terms.items()}, self.rest.transpose())

    def sizes(self) -> dict[int, arb_mat]:
        """Absolute coefficients, summed for each total degree."""
        n = self.rest.nrows()
        result: dict[int, arb_mat] = {}
        for (a, b), m in self.terms.items():
            absolute = arb_mat(n, n, [e.abs_upper() for e in m.entries()])
            result[a + b] = result[a + b] + absolute if a + b in result else absolute
        return result

    def __mul__(self, other: Matrix) -> Matrix:
        n = self.rest.nrows()
        terms: dict[Index, arb_mat] = {}
        for (a, b), x in self.terms.items():
            for (c, d), y in other.terms.items():
                if a + b + c + d <= Taylor.top:
                    k, product = (a + c, b + d), x * y
                    terms[k] = terms[k] + product if k in terms else product
        left, right = self.sizes(), other.sizes()
        rest = self.rest * (sum(right.values(), arb_mat(n, n)) + other.rest)
        for degree, size in left.items():
            beyond = [m for other_degree, m in right.items() if degree + other_degree > Taylor.top]
            rest = rest + size * sum(beyond, other.rest)
        return Matrix(terms, rest)


def parameters(model: dict[str, Any], box: Box) -> dict[str, Taylor]:
    """alpha, beta and residual over the box."""
    result = {name: number(ball(Fraction(model[name]))) for name in ("alpha", "beta", "residual")}
    for axis, (name, (low, high)) in enumerate(box.items()):
        step = (1, 0) if axis == 0 else (0, 1)
        result[name] = Taylor({(0, 0): ball((low + high) / 2), step: ball((high - low) / 2)})
    return result


def all_scores(model: dict[str, Any], box: Box, tokens: int, layers: int) -> list[Rows]:
    """Scores of every layer for the first ``tokens`` tokens; hidden keys have zero."""
    values = parameters(model, box)
    square, scale = arb(int(model["square"])), ball(Fraction(model["scale_squared"])).sqrt()
    visible = [range(first - 1, last) for first, last in model["visible"]]
    if any(keys.stop > tokens for keys in visible[:tokens]):
        raise ValueError("the mask looks ahead: all tokens are needed")
    gram = Matrix.of([[number(ONE) if i == j else values["alpha"] for j in range(tokens)] for i in range(tokens)])
    result = []
    for layer in range(layers):
        if model["normalised"]:
            factors = [gram.entry(i, i).power(half=True).scaled(square.sqrt()) for i in range(tokens)]
        else:
            factors = [number(ONE)] * tokens
        scores = [[number(ZERO)] * tokens for _ in range(tokens)]
        for i in range(tokens):
            for j in visible[i]:
                scores[i][j] = (gram.entry(i, j) * factors[i] * factors[j]).scaled(1 / scale)
            if model["normalised"] and i in visible[i]:
                scores[i][i] = number(square / scale)
        result.append(scores)
        if layer < layers - 1:
            mix = [[number(ZERO)] * tokens for _ in range(tokens)]
            for i in range(tokens):
                powers = {j: (scores[i][j] * values["beta"]).exp() for j in visible[i]}
                total = number(ZERO)
                for power in powers.values():
                    total = total + power
                inverse = total.power(half=False)
                for j, power in powers.items():
                    mix[i][j] = power * (inverse * factors[j])
                mix[i][i] = mix[i][i] + values["residual"]
            matrix = Matrix.of(mix)
            gram = matrix * gram * matrix.transpose()
    return result


def pairs(model: dict[str, Any]) -> list[tuple[int, int, int]]:
    """All (layer, i, j) such that query i sees the keys j and j + 1 <= i."""
    return [
        (layer, i, j)
        for layer in model["layers"]
        for i, (first, last) in enumerate(model["visible"], start=1)
        for j in range(first, min(i, last))
    ]


def rise(scores: list[Rows], layer: int, i: int, j: int) -> tuple[arb, arb]:
    """Lower and upper bound on score[i][j+1] - score[i][j]."""
    row = scores[layer - 1][i - 1]
    step = row[j] + row[j - 1].scaled(arb(-1))
    spread = step.moving().size()
    return step.constant() - spread, step.constant() + spread


def settled(model: dict[str, Any], box: Box, falls: list[int] | None) -> bool:
    """Whether polynomials over the whole box show that all pairs rise or, with ``falls``, that this pair falls."""
    if not falls:
        scores = all_scores(model, box, model["n"], max(model["layers"]))
        return all(rise(scores, *pair)[0] > 0 for pair in pairs(model))
    layer, i, j = falls
    looks_ahead = any(last > query for query, (_, last) in enumerate(model["visible"], start=1))
    scores = all_scores(model, box, model["n"] if looks_ahead else i, layer)
    return bool(rise(scores, layer, i, j)[1] < 0)


def confirmed(model: dict[str, Any], box: Box, falls: list[int] | None, degree: int, depth: int = 0) -> bool:
    """Whether it holds over the box: with cheap polynomials, with those of ``degree``, or on both halves."""
    if falls and falls[0] not in model["layers"]:
        return False
    for top in sorted({min(2, degree), degree}):
        Taylor.top = top
        if settled(model, box, falls):
            return True
    if depth == MOST_HALVINGS:
        return False
    name = list(box)[depth % len(box)]
    low, high = box[name]
    middle = (low + high) / 2
    halves = [{**box, name: (low, middle)}, {**box, name: (middle, high)}]
    return all(confirmed(model, half, falls, degree, depth + 1) for half in halves)


def read_box(entry: dict[str, list[str]]) -> Box:
    """A box from its file form."""
    return {name: (Fraction(low), Fraction(high)) for name, (low, high) in entry.items()}


def covers(whole: Box, parts: list[Box]) -> bool:
    """Whether the parts lie in the whole, do not overlap, and have its area."""

    def area(box: Box) -> Fraction:
        result = Fraction(1)
        for low, high in box.values():
            result *= high - low
        return result

    def apart(one: Box, other: Box) -> bool:
        return any(one[name][1] <= other[name][0] or other[name][1] <= one[name][0] for name in whole)

    inside = all(
        list(box) == list(whole) and all(whole[k][0] <= low < high <= whole[k][1] for k, (low, high) in box.items())
        for box in parts
    )
    if not inside or sum(map(area, parts)) != area(whole):
        return False
    first = next(iter(whole))
    active: list[Box] = []
    for box in sorted(parts, key=lambda box: box[first][0]):
        active = [other for other in active if other[first][1] > box[first][0]]
        if not all(apart(box, other) for other in active):
            return False
        active.append(box)
    return True


def check_map(certificate: dict[str, Any], degree: int, most: int | None) -> bool:
    """Check a partition of a box, or ``most`` pieces of it, drawn at random."""
    model, pieces = certificate["model"], certificate["pieces"]
    boxes = [read_box(piece["box"]) for piece in pieces]
    complete = covers(read_box(certificate["box"]), boxes + [read_box(box) for box in certificate["open"]])
    print(f"{len(pieces)} pieces {'cover the box without overlap' if complete else 'DO NOT COVER the box'}")
    decided = [at for at, piece in enumerate(pieces) if piece["holds"] is not None]
    chosen = decided if most is None else sorted(random.Random(0).sample(decided, min(most, len(decided))))
    failed = []
    for at in chosen:
        falls = pieces[at].get("falls")
        sound = bool(falls) is not pieces[at]["holds"] and confirmed(model, boxes[at], falls, degree)
        if not sound:
            failed.append(at)
            print(f"piece {at} NOT CONFIRMED: {pieces[at]}")
    print(f"{len(chosen) - len(failed)} of {len(chosen)} pieces confirmed, {len(decided)} decided in all")
    return complete and not failed


def check_steps(certificate: dict[str, Any]) -> bool:
    """Check the direction of every step at exact parameters."""
    model = certificate["model"]
    Taylor.top = 0
    scores = all_scores(model, {}, model["n"], max(model["layers"]))
    falling = {tuple(pair) for pair in certificate["falls"]}
    unsettled = {tuple(pair) for pair in certificate["open"]}
    every = pairs(model)
    wrong = (falling | unsettled) - set(every)
    for pair in every:
        low, high = rise(scores, *pair)
        if pair not in unsettled and not (high < 0 if pair in falling else low > 0):
            wrong.add(pair)
            print(f"(layer, i, j) = {pair} NOT CONFIRMED: the step is in [{low}, {high}]")
    print(f"{len(every) - len(wrong)} of {len(every)} steps confirmed, {len(falling)} falling")
    return not wrong


def main(argv: Sequence[str] | None = None) -> int:
    """Check one file."""
    parser = argparse.ArgumentParser(description="Check a certificate from its file alone.")
    parser.add_argument("file", type=Path)
    parser.add_argument("--precision", type=int, help="of the balls, in bits; twice the certificate's by default")
    parser.add_argument("--degree", type=int, help="of the polynomials; the certificate's by default")
    parser.add_argument("--pieces", type=int, metavar="K", help="check K pieces of a map only, drawn at random")
    options = parser.parse_args(argv)
    try:
        with options.file.open(encoding="utf-8") as stream:
            certificate = json.load(stream)
        method = certificate["method"]
        if certificate["format"] != "maskproof-certificate-1":
            raise ValueError("unknown format")
        with flint.ctx.workprec(options.precision or 2 * method["precision"]):
            if certificate["kind"] == "steps":
                sound = check_steps(certificate)
            else:
                sound = check_map(certificate, options.degree or method["degree"], options.pieces)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        print(f"recheck: {options.file} is not a certificate: {error!r}", file=sys.stderr)
        return 2
    print("CONFIRMED" if sound else "NOT CONFIRMED")
    return 0 if sound else 1


if __name__ == "__main__":
    sys.exit(main())
