"""Literal masked attention on vectors in mpmath: the other side of the differential test.

Written from the definitions in ``theory.decoder`` and ``theory.position`` alone; no line of ``numerics`` or ``proofs``
is used. Vectors with the wanted cosines are made, and the layers run on their coordinates. A number that does not
exist is None: a normalised vector of length zero, and what depends on it.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from mpmath import mp, mpf

Number = Fraction | mpf
Row = list[mpf | None]


@dataclass(frozen=True)
class Layers:
    """What a stack of attention layers computed; ``[layer][i][j]``, all counted from 0. None: no value."""

    scores: list[list[Row]]
    weights: list[list[Row]]
    mix: list[list[Row]]
    gram: list[list[Row]]


@dataclass(frozen=True)
class Setting:
    """A decoder with numbers for its parameters.

    Attributes:
        norm: "l2", "layernorm" or "none".
        beta, residual, scale: numbers.
        width: d, or None where nothing depends on it.
        visible: the keys that each query sees, counted from 1.
        rope: base and dim, or None.
        bias: what is added to beta * S, for (i, j) counted from 1; by distance i - j.
    """

    norm: str
    beta: Number
    residual: Number
    scale: Number
    width: int | None
    visible: tuple[tuple[int, ...], ...]
    rope: tuple[Number, int] | None
    bias: tuple[tuple[int, Number], ...]


def real(value: Number | int) -> mpf:
    """A number at the current precision."""
    return mpf(value.numerator) / value.denominator if isinstance(value, Fraction) else mpf(value)


def snapped(value: mpf, size: mpf | int = 1) -> mpf:
    """Zero, if nothing but rounding is left of terms of this ``size``."""
    return mpf(0) if abs(value) <= size * mpf(10) ** (12 - mp.dps) else value


@lru_cache(maxsize=512)
def layers(setting: Setting, alpha: Number, depth: int, digits: int) -> Layers:
    """Run ``depth`` layers on unit vectors whose pairwise cosines are ``alpha``, at ``digits`` digits."""
    with mp.workdps(digits):
        return _run(setting, real(alpha), depth)


def _run(setting: Setting, alpha: mpf, depth: int) -> Layers:
    n = len(setting.visible)
    x: list[list[mpf] | None] = list(_vectors(alpha, n, setting))
    beta, residual, scale = (real(v) for v in (setting.beta, setting.residual, setting.scale))
    bias = {distance: real(value) for distance, value in setting.bias}
    found = Layers([], [], [], [])
    for _ in range(depth):
        factors = [_factor(setting, v) for v in x]
        y = [
            None if v is None or f is None else [f * c for c in (_centred(v) if setting.norm == "layernorm" else v)]
            for v, f in zip(x, factors, strict=True)
        ]
        turned = [None if v is None else _turned(setting, v, i + 1) for i, v in enumerate(y)]
        scores: list[Row] = [[None] * n for _ in range(n)]
        weights: list[Row] = [[mpf(0)] * n for _ in range(n)]
        mix: list[Row] = [[mpf(0)] * n for _ in range(n)]
        after: list[list[mpf] | None] = []
        for i, keys in enumerate(setting.visible):
            seen = [key - 1 for key in keys]
            for j in seen:
                query, key = turned[i], turned[j]
                if query is not None and key is not None:
                    scores[i][j] = _dot(query, key) / scale
            row = _softmax([scores[i][j] for j in seen], [bias.get(i - j, mpf(0)) for j in seen], beta)
            for j, weight in zip(seen, row, strict=True):
                weights[i][j] = weight
                mix[i][j] = None if weight is None or factors[j] is None else weight * factors[j]
            mix[i][i] = None if mix[i][i] is None else mix[i][i] + residual
            after.append(_moved(x[i], residual, [(weights[i][j], y[j]) for j in seen]))
        x = after
        found.scores.append(scores)
        found.weights.append(weights)
        found.mix.append(mix)
        found.gram.append([[None if a is None or b is None else _dot(a, b) for b in x] for a in x])
    return found


def _dot(a: list[mpf], b: list[mpf]) -> mpf:
    return snapped(mp.fdot(a, b))


def _vectors(alpha: mpf, n: int, setting: Setting) -> list[list[mpf]]:
    """Unit vectors with pairwise cosine ``alpha``: rows of the symmetric root of their Gram matrix.

    The root of (1 - alpha) I + alpha J is a I + b J with a = sqrt(1 - alpha) and a + n b = sqrt(1 + (n - 1) alpha).
    LayerNorm gets vectors whose coordinates sum to zero; RoPE vectors that are constant on each of its blocks, for
    which a turned product is kappa(i - j) times the product, as it is in the limit of large width (``theory.rope``).
    """
    a = mp.sqrt(1 - alpha)
    b = (mp.sqrt(snapped(1 + (n - 1) * alpha)) - a) / n
    rows = [[b + (a if k == i else 0) for k in range(n)] for i in range(n)]
    if setting.norm == "layernorm":
        rows = [_sum_zero(row) for row in rows]
    if setting.rope is not None:
        dim = setting.rope[1]
        rows = [[c / mp.sqrt(dim) for c in row for _ in range(dim)] for row in rows]
    return rows


def _sum_zero(row: list[mpf]) -> list[mpf]:
    """The same coordinates in an orthonormal basis of the vectors that sum to zero, in one dimension more.

    Basis vector m (from 1) has 1 in its first m places and -m in the next, over sqrt(m (m + 1)).
    """
    out = [mpf(0)] * (len(row) + 1)
    for m, c in enumerate(row, start=1):
        share = c / mp.sqrt(m * (m + 1))
        for place in range(m):
            out[place] += share
        out[m] -= m * share
    return out


def _centred(v: list[mpf]) -> list[mpf]:
    mean = mp.fsum(v) / len(v)
    return [c - mean for c in v]


def _factor(setting: Setting, v: list[mpf] | None) -> mpf | None:
    """What normalisation multiplies the (centred) vector by; None for a vector that vanishes."""
    if v is None:
        return None
    if setting.norm == "none":
        return mpf(1)
    w = _centred(v) if setting.norm == "layernorm" else v
    length = mp.sqrt(mp.fdot(w, w))
    if length < mpf(10) ** (15 - mp.dps):
        return None
    return mp.sqrt(setting.width) / length if setting.norm == "layernorm" else 1 / length


def _turned(setting: Setting, v: list[mpf], position: int) -> list[mpf]:
    """RoPE at ``position``: plane m of every block turns by position * base^(-2m/dim)."""
    if setting.rope is None:
        return v
    base, dim = real(setting.rope[0]), setting.rope[1]
    out = list(v)
    for start in range(0, len(v), dim):
        for m in range(dim // 2):
            angle = position * base ** (-mpf(2 * m) / dim)
            c, s = mp.cos(angle), mp.sin(angle)
            p, q = start + 2 * m, start + 2 * m + 1
            out[p], out[q] = c * v[p] - s * v[q], s * v[p] + c * v[q]
    return out


def _softmax(scores: Row, bias: list[mpf], beta: mpf) -> Row:
    if any(s is None for s in scores):
        return [None] * len(scores)
    powers = [mp.exp(beta * s + b) for s, b in zip(scores, bias, strict=True) if s is not None]
    total = mp.fsum(powers)
    return [p / total for p in powers]


def _moved(own: list[mpf] | None, residual: mpf, parts: list[tuple[mpf | None, list[mpf] | None]]) -> list[mpf] | None:
    """residual * x_i + sum_j A_ij y_j."""
    if own is None:
        return None
    out = [residual * c for c in own]
    for weight, y in parts:
        if weight is None or y is None:
            return None
        out = [c + weight * e for c, e in zip(out, y, strict=True)]
    return out
