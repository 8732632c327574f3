"""Check a certificate from its file alone: python recheck.py FILE [--precision BITS] [--degree N] [--pieces K].

Needs python-flint and nothing else of this project: the layer map is written anew below, in balls, in terms of
distances instead of products, and with other bounds for what polynomials leave out. Over a box of parameters p0 + delta
tau, |tau| <= 1, a number is a polynomial in tau with a bound on the rest (``Jet``). Many pieces of a map are settled by
one expansion over the box around them; where it does not, the pieces are divided, and a single piece is halved.

Exit status: 0 the certificate is confirmed, 1 it is not, 2 the file cannot be read.

Vectors are y_i times a norm; for unit vectors <y_i, y_j> = 1 - epsilon D_ij with epsilon = 1 - alpha, so that D is half
their squared distance over epsilon, at first 1 between different tokens. In a row of weights P that sum to one the
averages have inner products 1 - epsilon Q, Q = P D P^T; dividing by their norms u_i = sqrt(1 - epsilon Q_ii) gives
D'_ij = (Q_ij - v_i - v_j + epsilon v_i v_j) / (u_i u_j) with v_i = (1 - u_i)/epsilon = Q_ii/(1 + u_i). Scores rise
where D falls, if alpha < 1.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import flint
from flint import arb, arb_mat, arb_series

ZERO, ONE = arb(0), arb(1)
MOST_HALVINGS = 12
DEGREE = 8  # where the certificate names none
Box = dict[str, tuple[Fraction, Fraction]]
Piece = tuple[Box, int, list[int] | None]
"""A box, the query up to which all steps rise in it, and a step that falls in it."""


def ball(number: Fraction) -> arb:
    """The number as a ball."""
    return arb(number.numerator) / number.denominator


class Grid:
    """How polynomials in up to two variables are packed into one power series.

    tau_1^a tau_2^b is x^(m stride + b) with m = a + b: no two terms up to degree ``top`` meet, and all others lie
    beyond ``length``, so that products, inverses and exponentials of the series are those of the polynomials.
    """

    def __init__(self, variables: int, top: int) -> None:
        self.variables, self.top = variables, top if variables else 0
        self.stride = self.top + 1 if variables == 2 else 1
        self.length = (self.top + 1) * self.stride
        self.terms = [(m, b) for m in range(self.top + 1) for b in range(m + 1 if variables == 2 else 1)]
        self.places = [m * self.stride + b for m, b in self.terms]
        at = {term: k for k, term in enumerate(self.terms)}
        self.products = [
            [(at[m, b], at[k - m, c - b]) for m, b in self.terms if (k - m, c - b) in at] for k, c in self.terms
        ]


class Jet:
    """A polynomial in tau, packed, and a bound on what it leaves out wherever |tau| <= 1."""

    __slots__ = ("grid", "rest", "series", "sizes")

    def __init__(self, grid: Grid, series: arb_series, rest: arb = ZERO) -> None:
        self.grid, self.series, self.rest = grid, series, rest.abs_upper()
        stride = grid.stride
        if stride == 1:
            self.sizes = [series[m].abs_upper() for m in range(grid.top + 1)]
        else:
            self.sizes = [
                sum((series[m * stride + b].abs_upper() for b in range(m + 1)), ZERO) for m in range(grid.top + 1)
            ]

    def bounds(self) -> tuple[arb, arb]:
        """Lower and upper bound."""
        spread = sum(self.sizes[1:], self.rest)
        return self.series[0] - spread, self.series[0] + spread

    def __add__(self, other: Jet) -> Jet:
        return Jet(self.grid, self.series + other.series, self.rest + other.rest)

    def __sub__(self, other: Jet) -> Jet:
        return Jet(self.grid, self.series - other.series, self.rest + other.rest)

    def __mul__(self, other: Jet) -> Jet:
        tail, left_out = other.rest, ZERO
        for size, beyond in zip(self.sizes, reversed(other.sizes), strict=True):
            left_out += size * tail
            tail += beyond
        return Jet(self.grid, self.series * other.series, left_out + self.rest * tail)

    def exp(self) -> Jet:
        """The exponential, whose series is its own majorant."""
        majorant = arb_series([ZERO, *self.sizes[1:]], self.grid.top + 1).exp()
        rest = sum(self.sizes[1:], self.rest).exp() - self._upto(majorant)
        return Jet(self.grid, self.series.exp(), self.series[0].exp() * rest)

    def power(self, half: bool) -> Jet:
        """1 / self, with ``half`` self^(-1/2): the series of (1 - u)^-1 and (1 - u)^(-1/2) are their own majorants."""
        lead = self.series[0].lower()
        gap = 1 - (sum(self.sizes[1:], self.rest) / lead).upper() if lead > 0 else ZERO
        if not gap > 0:
            return Jet(self.grid, arb_series([ONE], self.grid.length), arb("inf"))
        majorant = arb_series([ONE, *(-size / lead for size in self.sizes[1:])], self.grid.top + 1)
        if half:
            return Jet(self.grid, self.series.rsqrt(), lead.rsqrt() * (gap.rsqrt() - self._upto(majorant.rsqrt())))
        return Jet(self.grid, self.series.inv(), (1 / gap - self._upto(majorant.inv())) / lead)

    def _upto(self, majorant: arb_series) -> arb:
        return sum((majorant[k] for k in range(self.grid.top + 1)), ZERO)

    def within(self, box: Box, part: Box) -> Jet:
        """The same function over a part of the box: tau = shift + stretch sigma along each axis."""
        moves = []
        for name, (low, high) in box.items():
            inner_low, inner_high = part[name]
            shift = ball((inner_low + inner_high - low - high) / (high - low))
            moves.append((shift, ball((inner_high - inner_low) / (high - low))))
        grid = self.grid
        if grid.variables == 1:
            shift, stretch = moves[0]
            polynomial = flint.arb_poly([self.series[k] for k in range(grid.length)])
            moved = polynomial(flint.arb_poly([shift, stretch]))
            return Jet(grid, arb_series([moved[k] for k in range(grid.length)], grid.length), self.rest)
        first, second = (arb_series([shift, stretch], grid.length) for shift, stretch in moves)
        total = [ZERO] * grid.length
        powers = [[arb_series([ONE], grid.length)] for _ in moves]
        for known, base in zip(powers, (first, second), strict=True):
            for _ in range(grid.top):
                known.append(known[-1] * base)
        for (m, b), place in zip(grid.terms, grid.places, strict=True):
            coefficient, one, other = self.series[place], powers[0][m - b], powers[1][b]
            for p in range(m - b + 1):
                for q in range(b + 1):
                    total[(p + q) * grid.stride + q] += coefficient * one[p] * other[q]
        return Jet(grid, arb_series(total, grid.length), self.rest)


class Matrix:
    """A square matrix of jets: one matrix for each coefficient, and one of the rests."""

    def __init__(self, grid: Grid, terms: list[arb_mat], rest: arb_mat) -> None:
        self.grid, self.terms, self.rest = grid, terms, rest

    @classmethod
    def of(cls, grid: Grid, rows: list[list[Jet | None]]) -> Matrix:
        """From rows, in which None is zero."""
        n = len(rows)
        entries = [entry for row in rows for entry in row]
        terms = [arb_mat(n, n, [ZERO if e is None else e.series[place] for e in entries]) for place in grid.places]
        return cls(grid, terms, arb_mat(n, n, [ZERO if e is None else e.rest for e in entries]))

    def entry(self, i: int, j: int) -> Jet:
        """The jet at (i, j)."""
        packed = [ZERO] * self.grid.length
        for place, term in zip(self.grid.places, self.terms, strict=True):
            packed[place] = term[i, j]
        return Jet(self.grid, arb_series(packed, self.grid.length), self.rest[i, j])

    def transpose(self) -> Matrix:
        """The transposed matrix."""
        return Matrix(self.grid, [term.transpose() for term in self.terms], self.rest.transpose())

    def sizes(self) -> list[arb_mat]:
        """Absolute coefficients, summed for each total degree."""
        n = self.rest.nrows()
        result = [arb_mat(n, n) for _ in range(self.grid.top + 1)]
        for (m, _), term in zip(self.grid.terms, self.terms, strict=True):
            result[m] = result[m] + arb_mat(n, n, [e.abs_upper() for e in term.entries()])
        return result

    def __mul__(self, other: Matrix) -> Matrix:
        n = self.rest.nrows()
        terms = [sum((self.terms[p] * other.terms[q] for p, q in pairs), arb_mat(n, n)) for pairs in self.grid.products]
        tail, left_out = other.rest, arb_mat(n, n)
        for size, beyond in zip(self.sizes(), reversed(other.sizes()), strict=True):
            left_out = left_out + size * tail
            tail = tail + beyond
        return Matrix(self.grid, terms, left_out + self.rest * tail)


class Map:
    """The layer map of a certificate's model over a box, for the first ``tokens`` tokens."""

    def __init__(self, model: dict[str, Any], box: Box, tokens: int, top: int) -> None:
        self.grid = grid = Grid(len(box), top)
        flint.ctx.cap = grid.length
        self.normalised, self.tokens = model["normalised"], tokens
        self.visible = [range(keys.start - 1, keys.stop - 1, keys.step) for keys in visible(model)][:tokens]
        if any(keys.stop > tokens for keys in self.visible):
            raise ValueError("the mask looks ahead: all tokens are needed")
        values = {name: self.number(ball(Fraction(model[name]))) for name in ("alpha", "beta", "residual")}
        for axis, (name, (low, high)) in enumerate(box.items()):
            packed = [ZERO] * grid.length
            packed[0], packed[grid.stride + axis] = ball((low + high) / 2), ball((high - low) / 2)
            values[name] = Jet(grid, arb_series(packed, grid.length))
        square = arb(int(model["square"]))
        self.one = self.number(ONE)
        self.epsilon, self.residual = self.one - values["alpha"], values["residual"]
        per_scale = self.number(square / ball(Fraction(model["scale_squared"])).sqrt())
        self.sharpness = values["beta"] * per_scale * self.epsilon
        self.start = self.number(1 / square.sqrt()) if self.normalised else self.one

    def number(self, value: arb) -> Jet:
        """A number as a jet."""
        return Jet(self.grid, arb_series([value], self.grid.length))

    def distances(self, layers: int) -> list[list[list[Jet]]]:
        """D for every layer: rows of the lower triangle, and of whatever else the mask shows."""
        n, none = self.tokens, self.number(ZERO)
        distance = [[none if i == j else self.one for j in range(n)] for i in range(n)]
        norms, sharpness, result = [self.start] * n, self.sharpness, []
        for layer in range(layers):
            result.append(distance)
            if layer == layers - 1:
                break
            weights: list[list[Jet | None]] = [[None] * n for _ in range(n)]
            totals = []
            for i, keys in enumerate(self.visible):
                powers = {j: (none - sharpness * distance[i][j]).exp() for j in keys}
                own = self.residual * norms[i]
                totals.append(self.one + own)
                whole = sum((power for j, power in powers.items()), none)
                share = totals[i].power(half=False)
                factor = whole.power(half=False) * share
                for j, power in powers.items():
                    weights[i][j] = share if len(keys) == 1 else power * factor
                seen = weights[i][i]
                weights[i][i] = own * share if seen is None else seen + own * share
            mix = Matrix.of(self.grid, weights)
            product = mix * Matrix.of(self.grid, [list(row) for row in distance]) * mix.transpose()
            if not self.normalised:
                sharpness = sharpness * totals[0] * totals[0]
                distance = [[product.entry(i, j) for j in range(n)] for i in range(n)]
                continue
            squares = [self.one - self.epsilon * product.entry(i, i) for i in range(n)]
            inverses = [square.power(half=True) for square in squares]
            lengths = [square * inverse for square, inverse in zip(squares, inverses, strict=True)]
            gaps = [product.entry(i, i) * (self.one + lengths[i]).power(half=False) for i in range(n)]
            shrunk = [self.epsilon * gap for gap in gaps]
            distance = [[none] * n for _ in range(n)]
            for i in range(n):
                for j in range(i):
                    apart = product.entry(i, j) - gaps[i] - gaps[j] + shrunk[i] * gaps[j]
                    distance[i][j] = distance[j][i] = apart * inverses[i] * inverses[j]
            norms = [total * length for total, length in zip(totals, lengths, strict=True)]
        return result


def visible(model: dict[str, Any]) -> list[range]:
    """The keys that each query sees, from 1: first, last, and the step between them unless it is 1."""
    return [range(first, last + 1, *step) for first, last, *step in model["visible"]]


def pairs(model: dict[str, Any]) -> list[tuple[int, int, int]]:
    """All (layer, i, j) such that query i sees the keys j and j + 1 <= i."""
    return [
        (layer, i, j)
        for layer in model["layers"]
        for i, keys in enumerate(visible(model), start=1)
        for j in keys
        if j < i and j + 1 in keys
    ]


def rise(distances: list[list[list[Jet]]], layer: int, i: int, j: int) -> Jet:
    """D_ij - D_i,j+1, which has the sign of the step of the scores."""
    row = distances[layer - 1][i - 1]
    return row[j - 1] - row[j]


def hull(boxes: Sequence[Box]) -> Box:
    """The smallest box around boxes."""
    return {name: (min(box[name][0] for box in boxes), max(box[name][1] for box in boxes)) for name in boxes[0]}


def unconfirmed(model: dict[str, Any], pieces: list[Piece], top: int) -> list[Piece]:
    """The pieces that one expansion over the box around them does not confirm."""
    box = hull([piece[0] for piece in pieces])
    looks_ahead = any(keys[-1] > query for query, keys in enumerate(visible(model), start=1))
    falling = [falls for _, _, falls in pieces if falls]
    tokens = max([upto for _, upto, _ in pieces] + [falls[1] for falls in falling])
    deepest = max([falls[0] for falls in falling] + (model["layers"] if any(upto for _, upto, _ in pieces) else []))
    distances = Map(model, box, model["n"] if looks_ahead else tokens, top).distances(deepest)
    highest = max(upto for _, upto, _ in pieces)
    doubtful = []
    for pair in pairs(model):
        if pair[1] <= highest:
            jet = rise(distances, *pair)
            if not jet.bounds()[0] > 0:
                doubtful.append((pair[1], jet))
    left = []
    for piece in pieces:
        part, upto, falls = piece
        sound = all(jet.within(box, part).bounds()[0] > 0 for i, jet in doubtful if i <= upto)
        if sound and falls:
            sound = bool(rise(distances, falls[0], falls[1], falls[2]).within(box, part).bounds()[1] < 0)
        if not sound:
            left.append(piece)
    return left


def refused(model: dict[str, Any], pieces: list[Piece], top: int, depth: int = 0) -> list[Piece]:
    """The pieces that cannot be confirmed, however they are divided."""
    if not pieces:
        return []
    left = unconfirmed(model, pieces, top)
    if len(left) > 1:
        return [piece for part in divided(left) for piece in refused(model, part, top)]
    if not left or depth == MOST_HALVINGS:
        return left
    box, upto, falls = left[0]
    name = list(box)[depth % len(box)]
    low, high = box[name]
    middle = (low + high) / 2
    halves: list[Box] = [{**box, name: (low, middle)}, {**box, name: (middle, high)}]
    return left if any(refused(model, [(half, upto, falls)], top, depth + 1) for half in halves) else []


def divided(pieces: list[Piece]) -> list[list[Piece]]:
    """Two groups of pieces, apart along the side on which there are more of them abreast."""
    whole = hull([box for box, _, _ in pieces])

    def abreast(name: str) -> Fraction:
        return (whole[name][1] - whole[name][0]) / min(box[name][1] - box[name][0] for box, _, _ in pieces)

    name = max(whole, key=abreast)
    ordered = sorted(pieces, key=lambda piece: sum(piece[0][name]))
    middle = sum(whole[name])
    cut = sum(sum(box[name]) < middle for box, _, _ in ordered)
    cut = min(max(cut, 1), len(ordered) - 1)
    return [ordered[:cut], ordered[cut:]]


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


def stated(model: dict[str, Any], entry: dict[str, Any], graded: bool) -> Piece | None:
    """What a piece says, or None if it contradicts itself or names a step that is none."""
    falls, n = entry.get("falls"), model["n"]
    upto = entry["upto"] if graded else n if entry["holds"] else 0
    if (entry["holds"] is True) is not (upto == n) or (entry["holds"] is False) is not bool(falls):
        return None
    if falls and (tuple(falls) not in set(pairs(model)) or falls[1] <= upto):
        return None
    return read_box(entry["box"]), upto, falls


def check_map(certificate: dict[str, Any], degree: int, most: int | None) -> bool:
    """Check a partition of a box, or ``most`` pieces of it, drawn at random."""
    model, entries, whole = certificate["model"], certificate["pieces"], read_box(certificate["box"])
    boxes = [read_box(entry["box"]) for entry in entries]
    complete = covers(whole, boxes + [read_box(box) for box in certificate["open"]])
    print(f"{len(entries)} pieces {'cover the box without overlap' if complete else 'DO NOT COVER the box'}")
    graded = bool(certificate.get("lengths"))
    if "alpha" in whole and whole["alpha"][0] == 1:
        raise ValueError("alpha < 1")
    decided = [at for at, entry in enumerate(entries) if graded or entry["holds"] is not None]
    chosen = decided if most is None else sorted(random.Random(0).sample(decided, min(most, len(decided))))
    read = {at: stated(model, entries[at], graded) for at in chosen}
    sound = [piece for piece in read.values() if piece is not None]
    wrong = refused(model, sound, degree)
    failed = [at for at, piece in read.items() if piece is None or piece in wrong]
    for at in failed:
        print(f"piece {at} NOT CONFIRMED: {entries[at]}")
    print(f"{len(chosen) - len(failed)} of {len(chosen)} pieces confirmed, {len(decided)} in all")
    return complete and not failed


def check_steps(certificate: dict[str, Any]) -> bool:
    """Check the direction of every step at exact parameters."""
    model = certificate["model"]
    distances = Map(model, {}, model["n"], 0).distances(max(model["layers"]))
    falling = {tuple(pair) for pair in certificate["falls"]}
    unsettled = {tuple(pair) for pair in certificate["open"]}
    every = pairs(model)
    wrong = (falling | unsettled) - set(every)
    for pair in every:
        low, high = rise(distances, *pair).bounds()
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
        before = flint.ctx.cap
        with flint.ctx.workprec(options.precision or 2 * method["precision"]):
            if certificate["kind"] == "steps":
                sound = check_steps(certificate)
            else:
                degree = method["degree"] if isinstance(method["degree"], int) else DEGREE
                sound = check_map(certificate, options.degree or degree, options.pieces)
        flint.ctx.cap = before
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        print(f"recheck: {options.file} is not a certificate: {error!r}", file=sys.stderr)
        return 2
    print("CONFIRMED" if sound else "NOT CONFIRMED")
    return 0 if sound else 1


if __name__ == "__main__":
    sys.exit(main())
