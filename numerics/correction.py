"""The first correction to the limit of infinite width, in ball arithmetic.

Over random inputs of width d the expectation of a quantity Q is

    E Q = Q_0 + c/d + O(1/d^2).

This file encloses c. The inputs' Gram matrix is K + E with fixed K and random E of mean zero, and E = sum_p D_p eta_p
with fixed matrices D_p and uncorrelated eta_p of variance 1/d + O(1/d^2); third moments are O(1/d^2). So

    c = sum_p of the coefficient of t^2 in Q(K + t D_p).

The coefficients of t are carried through the layers for one p after the other; those of t^2 add up over p, so only
their sum is carried. For a product, (a b)_2 = a_0 b_2 + a_2 b_0 + sum_p a_1 b_1; likewise for roots and exponentials.

Laws (``theory.inputs``; the width plays no part):

* Sphere: one D_kl for each pair of tokens, 1 - alpha at (k, l) and (l, k). Cosines of independent uniform unit vectors
  have mean 0 and variance 1/d (in the space orthogonal to a shared direction, 1/(d - 1)), and are uncorrelated.
* SharedGaussian: vectors sqrt(1-alpha) g_i + sqrt(alpha) g_0, up to a common factor, with independent g_0, ..., g_n of
  Gram matrix I + W, where the entries of W are uncorrelated with variance 1/d, on the diagonal 2/d. With ``unit`` the
  vectors are normalised before the first layer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from flint import arb, arb_mat

from maskproof.numerics.balls import Enclosure, Layer, Model, ball, model_in_balls, one_layer, working_precision
from maskproof.theory.decoder import Decoder, Rope
from maskproof.theory.errors import InvalidInput
from maskproof.theory.inputs import Inputs, SharedGaussian, Sphere
from maskproof.theory.values import positive_integer

Rows = list[list[arb]]


def correction_balls(
    decoder: Decoder,
    inputs: Inputs,
    n: int,
    layers: int,
    precision: int = 128,
    *,
    alpha: arb | None = None,
    beta: object | None = None,
    residual: object | None = None,
    scores_only: bool = False,
) -> Enclosure:
    """Enclose the coefficient of 1/d in the expectation of every score, weight, mixing coefficient and inner product.

    Args:
        decoder: the layer; nothing of it may depend on the width, and it has no RoPE.
        inputs: Sphere or SharedGaussian. Its width is not looked at.
        n: the length of the sequence.
        layers: how many layers.
        precision: of the balls, in bits.
        alpha: replaces the law's alpha where given: a ball inside [0, 1).
        beta: replaces the decoder's beta where given; exact or a ball.
        residual: replaces the decoder's residual where given; exact or a ball.
        scores_only: stop at the scores of the last layer; its other balls are then not finite.

    Returns:
        An ``Enclosure`` that holds the coefficients in the places of the quantities.

    Raises:
        InvalidInput: the law is not random, the decoder depends on the width or has RoPE, or a value is symbolic or out
            of range.

    >>> c = correction_balls(Decoder(), Sphere(64, 0), n=2, layers=2)
    >>> print(c.score(2, 2, 1).str(15, radius=False))
    -0.162369895736007
    """
    n, layers = positive_integer(n, "n"), positive_integer(layers, "layers")
    bits = positive_integer(precision, "precision")
    law = _random(inputs)
    _refuse(decoder)
    with working_precision(bits):
        cosine = ball(law.alpha, "alpha") if alpha is None else alpha
        if cosine < 0 or cosine >= 1:
            raise InvalidInput(f"alpha = {cosine}", "0 <= alpha < 1", "a random law has a correlation")
        stack = _Stack(model_in_balls(decoder, n, beta, residual), law, cosine, layers, scores_only)
        for direction in _directions(law, cosine, n):
            stack.add(direction)
        return Enclosure(n, bits, tuple(stack.corrections()))


def _random(inputs: Inputs) -> Sphere | SharedGaussian:
    if not isinstance(inputs, Sphere | SharedGaussian):
        raise InvalidInput(f"inputs {inputs}", "'the inputs are random'", "use Sphere or SharedGaussian")
    return inputs


def _refuse(decoder: Decoder) -> None:
    """Refuse decoders whose expectations have no such expansion, or one that is not known here."""
    if isinstance(decoder.position, Rope):
        raise InvalidInput(
            f"position = {decoder.position}", "'scores depend on the Gram matrix alone'", "use position=None"
        )
    if decoder.norm == "layernorm" or isinstance(decoder.scale, str):
        raise InvalidInput(
            f"norm {decoder.norm!r}, scale {decoder.scale}",
            "'the decoder does not depend on the width d'",
            "use norm l2 or none, and a number for the scale",
        )


# The input laws


def _directions(inputs: Sphere | SharedGaussian, alpha: arb, n: int) -> Iterator[arb_mat]:
    """The matrices D_p, up to what ``_size`` multiplies."""
    apart = 1 - alpha
    for later in range(n):
        for earlier in range(later):
            yield _symmetric(n, {(later, earlier): apart})
    if isinstance(inputs, Sphere):
        return
    together, root = _root(alpha * apart), arb(2).sqrt()
    for own in range(n):
        yield _symmetric(n, {(own, own): root * apart})
        if not alpha.is_zero():
            entries = {(max(own, other), min(own, other)): together for other in range(n)}
            yield _symmetric(n, entries | {(own, own): 2 * together})
    if not alpha.is_zero():
        yield _symmetric(n, {(a, b): root * alpha for a in range(n) for b in range(a + 1)})


def _size(inputs: Sphere | SharedGaussian, alpha: arb) -> arb:
    """The factor on Gram matrix and noise that ``_directions`` leaves out: the mean squared norm of a vector."""
    bare = isinstance(inputs, SharedGaussian) and not inputs.unit
    return 1 / (1 - alpha) if bare else arb(1)


def _root(square: arb) -> arb:
    """The root of a number that is not negative, even where its ball reaches below zero."""
    return square.sqrt() if square >= 0 else arb(0).union(square.upper().sqrt())


def _symmetric(n: int, entries: dict[tuple[int, int], arb]) -> arb_mat:
    matrix = arb_mat(n, n)
    for (a, b), value in entries.items():
        matrix[a, b] = value
        matrix[b, a] = value
    return matrix


# Layers


class _Cosines:
    """Normalised inner products C_ij = K_ij s_i s_j, s_i = K_ii^(-1/2), to second order in the noise of K.

    Args:
        gram: K without noise.
        pairs: for each row the columns that matter.
        normalised: if not, C = K and s = 1.
    """

    def __init__(self, gram: arb_mat, pairs: Sequence[range], normalised: bool) -> None:
        n = gram.nrows()
        self.pairs, self.normalised = pairs, normalised
        self.roots = [gram[i, i].rsqrt() if normalised else arb(1) for i in range(n)]
        self.rates = [-1 / (2 * gram[i, i]) if normalised else arb(0) for i in range(n)]
        self.scales = {(i, j): self.roots[i] * self.roots[j] for i in range(n) for j in pairs[i]}
        self.values = {(i, j): gram[i, j] * scale for (i, j), scale in self.scales.items()}
        self.crossed = {pair: arb(0) for pair in self.scales}  # sums over p of products of first order
        self.squares = [arb(0)] * n

    def first(self, gram: arb_mat, rows: Sequence[int]) -> tuple[list[arb], dict[int, list[arb]]]:
        """First order: s_i relative to its value, and the given rows of C; adds to the sums of second order."""
        rates = [rate * gram[i, i] for i, rate in enumerate(self.rates)]
        moved = [not rate.is_zero() for rate in rates]
        for i, rate in enumerate(rates):
            if moved[i]:
                self.squares[i] += rate * rate
        found = {}
        for i in rows:
            row = []
            for j in self.pairs[i]:
                if self.normalised and i == j:  # C_ii = 1
                    row.append(arb(0))
                    continue
                change = self.scales[i, j] * gram[i, j]
                if moved[i] or moved[j]:
                    both, value = rates[i] + rates[j], self.values[i, j]
                    self.crossed[i, j] += change * both + value * rates[i] * rates[j]
                    change += value * both
                row.append(change)
            found[i] = row
        return rates, found

    def second(self, gram: arb_mat) -> tuple[list[arb], dict[tuple[int, int], arb]]:
        """Second order, from that of K: s_i relative to its value, and C."""
        rates = [
            rate * gram[i, i] + 3 * square / 2
            for i, (rate, square) in enumerate(zip(self.rates, self.squares, strict=True))
        ]
        found = {}
        for (i, j), scale in self.scales.items():
            own = self.normalised and i == j
            bend = scale * gram[i, j] + self.values[i, j] * (rates[i] + rates[j]) + self.crossed[i, j]
            found[i, j] = arb(0) if own else bend
        return rates, found


class _Level:
    """One layer to second order in the noise of the Gram matrix that enters it."""

    def __init__(self, model: Model, gram: arb_mat) -> None:
        n = gram.nrows()
        self.layer, self.n = one_layer(model, gram), n
        self.gram, self.mix = gram, self.layer.mix
        self.scale, self.gain = model.scale, model.beta / model.scale
        self.pairs = [range(keys.start - 1, keys.stop - 1, keys.step) for keys in model.visible]
        self.causal = all(keys[-1] <= i for i, keys in enumerate(model.visible, start=1))
        self.cosines = _Cosines(gram, self.pairs, model.norm != "none")
        self.weights = [[self.layer.weights[i, j] for j in self.pairs[i]] for i in range(n)]
        self.bends = [[arb(0) for _ in row] for row in self.weights]  # sums over p of products of first order
        self.tilts = [[arb(0) for _ in row] for row in self.weights]
        self.products = arb_mat(n, n)

    def first(self, gram: arb_mat, last: bool) -> arb_mat | None:
        """The first order of the Gram matrix after the layer, from that before it (None after the last scores)."""
        n = self.n
        moved = [i for i in range(n) if any(not gram[i, j].is_zero() for j in range(n))]
        # Where the mask hides later keys, a row does not change before the first token that moves.
        start = _first_row(gram, moved) if self.causal else 0
        normal = self.cosines.normalised and any(not gram[i, i].is_zero() for i in moved)
        rows = range(start, n) if normal or not self.causal else [i for i in moved if i >= start]
        rates, changes = self.cosines.first(gram, rows)
        if last:
            return None
        turned = {i: self._mix_row(i, rates, change) for i, change in changes.items()}
        turned = {i: row for i, row in turned.items() if any(not entry.is_zero() for entry in row)}
        return self._congruence(gram, moved, turned, start)

    def _mix_row(self, i: int, rates: list[arb], change: list[arb]) -> list[arb]:
        """First order of row i of M = A diag(s) + residual."""
        weights, roots = self.weights[i], self.cosines.roots
        logits = [self.gain * entry for entry in change]
        mean = sum((weight * entry for weight, entry in zip(weights, logits, strict=True)), arb(0))
        row = [arb(0)] * self.n
        for place, j in enumerate(self.pairs[i]):
            entry = logits[place]
            self.bends[i][place] += entry * (entry / 2 - mean)
            turn = weights[place] * (entry - mean)
            if rates[j].is_zero():
                row[j] = turn * roots[j]
            else:
                self.tilts[i][place] += turn * rates[j]
                row[j] = (turn + weights[place] * rates[j]) * roots[j]
        return row

    def _congruence(self, gram: arb_mat, moved: list[int], turned: dict[int, list[arb]], start: int) -> arb_mat:
        """First order of M K M^T; adds to the sums of second order what the noise of M and K does together."""
        n, across = self.n, self.mix.transpose()
        carried = _rows(gram, moved) * across  # of K M^T, the rows that move
        below = range(start, n)
        block = arb_mat(len(below), len(moved), [self.mix[i, k] for i in below for k in moved]) * carried
        after = arb_mat(n, n)
        for place, i in enumerate(below):
            for j in range(n):
                after[i, j] = block[place, j]
        if turned:
            index = list(turned)
            rows = arb_mat(len(index), n, [entry for row in turned.values() for entry in row])
            before = rows * self.gram
            along = before * across
            for place, i in enumerate(index):
                for j in range(n):
                    after[i, j] += along[place, j]
                    after[j, i] += along[place, j]
            both = arb_mat(len(index), len(moved), [row[k] for row in turned.values() for k in moved]) * carried
            twice = before * rows.transpose()
            for place, i in enumerate(index):
                for j in range(n):
                    self.products[i, j] += both[place, j]
                    self.products[j, i] += both[place, j]
                for other, j in enumerate(index):
                    self.products[i, j] += twice[place, other]
        for i in below:  # what stands above the first row that changes is the mirror image of what stands below
            for j in range(start):
                after[j, i] = after[i, j]
        return after

    def second(self, gram: arb_mat, last: bool) -> Layer:
        """The second order of what the layer makes, from that of the Gram matrix that enters it."""
        n, nothing = self.n, arb_mat(self.n, self.n, [arb("nan")] * self.n**2)
        rates, cosines = self.cosines.second(gram)
        scores = tuple(
            tuple(cosines[i, j] / self.scale if (i, j) in cosines else None for j in range(n)) for i in range(n)
        )
        if last:
            return Layer(scores, nothing, nothing, nothing)
        weights, mix = arb_mat(n, n), arb_mat(n, n)
        for i, pairs in enumerate(self.pairs):
            bends = [self.gain * cosines[i, j] + bend for j, bend in zip(pairs, self.bends[i], strict=True)]
            mean = sum((weight * bend for weight, bend in zip(self.weights[i], bends, strict=True)), arb(0))
            for place, j in enumerate(pairs):
                weight = self.weights[i][place]
                weights[i, j] = weight * (bends[place] - mean)
                mix[i, j] = (weights[i, j] + weight * rates[j] + self.tilts[i][place]) * self.cosines.roots[j]
        across = self.mix.transpose()
        turned = mix * self.gram * across
        return Layer(scores, weights, mix, turned + turned.transpose() + self.mix * gram * across + self.products)


class _Stack:
    """All layers for one law: takes the directions of the noise one by one, then gives the corrections."""

    def __init__(
        self, model: Model, inputs: Sphere | SharedGaussian, alpha: arb, layers: int, scores_only: bool
    ) -> None:
        n = len(model.visible)
        self.size, self.scores_only = _size(inputs, alpha), scores_only
        gram = arb_mat([[self.size if i == j else self.size * alpha for j in range(n)] for i in range(n)])
        unit = isinstance(inputs, SharedGaussian) and inputs.unit
        self.start = _Cosines(gram, [range(i + 1) for i in range(n)], True) if unit else None
        self.levels: list[_Level] = []
        for _ in range(layers):
            self.levels.append(_Level(model, gram))
            gram = self.levels[-1].layer.gram

    def add(self, direction: arb_mat) -> None:
        """Carry one direction of the noise through the layers."""
        gram: arb_mat | None = direction if self.size == 1 else direction * self.size
        if self.start is not None and gram is not None:
            n = gram.nrows()
            _, rows = self.start.first(gram, range(n))
            gram = _symmetric(n, {(i, j): value for i, row in rows.items() for j, value in enumerate(row)})
        for level in self.levels:
            if gram is not None:
                gram = level.first(gram, self.scores_only and level is self.levels[-1])

    def corrections(self) -> Iterator[Layer]:
        """The second order, layer by layer."""
        n = self.levels[0].n
        gram = arb_mat(n, n)
        if self.start is not None:
            gram = _symmetric(n, self.start.second(gram)[1])
        for level in self.levels:
            layer = level.second(gram, self.scores_only and level is self.levels[-1])
            yield layer
            gram = layer.gram


def _first_row(gram: arb_mat, moved: Sequence[int]) -> int:
    """The first row in which an entry on or before the diagonal is not zero."""
    return next((i for i in moved if any(not gram[i, j].is_zero() for j in moved if j <= i)), gram.nrows())


def _rows(matrix: arb_mat, index: Sequence[int]) -> arb_mat:
    n = matrix.ncols()
    return arb_mat(len(index), n, [matrix[i, j] for i in index for j in range(n)])
