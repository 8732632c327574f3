"""Hypothesis strategies for decoders, input laws, positions and tokens: to test one's own statements.

All parameters are exact fractions, so that balls and floats see the same numbers, and shrink to the paper's or to
zero. Everything drawn is admissible: no strategy rejects what it draws by itself.

    from hypothesis import given
    from maskproof.numerics.balls import enclose, less
    from maskproof.proofs.testing.strategies import alphas, decoders, positions

    @given(decoders(8, norms=("l2",)), alphas(8), positions(8))
    def test_scores_are_at_most_one(decoder, alpha, at):
        i, j = at
        if j in decoder.mask.keys(i, 8):
            assert less(1, enclose(decoder, alpha, 8, 2).score(2, i, j)) is not True
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from fractions import Fraction
from typing import Literal

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy
from numpy.typing import NDArray

from maskproof.theory.decoder import Decoder, Mask
from maskproof.theory.errors import InvalidInput
from maskproof.theory.inputs import Equicorrelated, Inputs, SharedGaussian, Sphere
from maskproof.theory.masks import MASKS
from maskproof.theory.values import positive_integer

DENOMINATOR = 1000
"""Of the cosines; inverse temperatures and residual weights have at most a tenth of it."""

Norm = Literal["l2", "layernorm", "none"]


def alphas(n: int, low: Fraction | int | None = None) -> SearchStrategy[Fraction]:
    """Cosines that ``n`` unit vectors can share pairwise: from -1/(n-1), that included, up to 1, that excluded.

    Args:
        n: the number of tokens.
        low: a larger lower end, such as 0.

    Raises:
        InvalidInput: the lower end is not admissible for n tokens, or not below 1.
    """
    smallest = Fraction(-1, max(1, positive_integer(n, "n") - 1))
    start = smallest if low is None else Fraction(low)
    if not smallest <= start < 1:
        raise InvalidInput(f"low = {start}", f"{smallest} <= low < 1", f"{n} unit vectors have no other common cosine")
    denominator = max(DENOMINATOR, start.denominator)
    return st.fractions(start, Fraction(denominator - 1, denominator), max_denominator=denominator)


def betas(high: int = 10) -> SearchStrategy[Fraction]:
    """Inverse temperatures from 0 up to ``high``, both included."""
    return st.fractions(0, positive_integer(high, "high"), max_denominator=DENOMINATOR // 10)


def residuals(high: int = 5) -> SearchStrategy[Fraction]:
    """Residual weights from 0 up to ``high``, both included."""
    return st.fractions(0, positive_integer(high, "high"), max_denominator=DENOMINATOR // 10)


def positions(n: int, before: int = 0) -> SearchStrategy[tuple[int, int]]:
    """A query i <= n and a key j <= i - ``before``, both counted from 1.

    Raises:
        InvalidInput: there is no such pair, n <= before.
    """
    longest, gap = positive_integer(n, "n"), int(before)
    if gap < 0 or longest <= gap:
        raise InvalidInput(f"before = {before}", f"0 <= before < n = {n}", "leave room for a query and a key")
    queries = st.integers(gap + 1, longest)
    return queries.flatmap(lambda i: st.tuples(st.just(i), st.integers(1, i - gap)))


def masks(n: int, causal: bool = False) -> SearchStrategy[Mask]:
    """Masks that make sense for ``n`` tokens; with ``causal`` only those that hide all later keys."""
    longest = positive_integer(n, "n")
    kinds = [kind for kind in MASKS.values() if not (causal and kind.counted)]
    return st.one_of([st.builds(kind, *[st.integers(1, longest)] * len(fields(kind))) for kind in kinds])


@st.composite
def decoders(
    draw: DrawFn,
    n: int,
    norms: Sequence[Norm] = ("l2", "layernorm", "none"),
    mask: SearchStrategy[Mask] | None = None,
    beta: SearchStrategy[Fraction] | None = None,
    residual: SearchStrategy[Fraction] | None = None,
) -> Decoder:
    """Decoders for ``n`` tokens, without position encoding.

    Args:
        draw: given by Hypothesis.
        n: the number of tokens.
        norms: the normalisations to choose from.
        mask: of masks; all that make sense for n tokens if None.
        beta: of inverse temperatures; ``betas(2)`` if None, so that scores without normalisation stay moderate.
        residual: of residual weights; from 1/10 to 1 if None, so that no vector vanishes.
    """
    return Decoder(
        beta=draw(betas(2) if beta is None else beta),
        residual=draw(st.fractions(Fraction(1, 10), 1, max_denominator=20) if residual is None else residual),
        norm=draw(st.sampled_from(list(norms))),
        mask=draw(masks(n) if mask is None else mask),
    )


@st.composite
def input_laws(draw: DrawFn, n: int, width: int | None = None) -> Inputs:
    """Laws of ``n`` input vectors: the deterministic one, and the random ones at widths up to ``width``.

    The random laws need alpha >= 0; the deterministic one takes what ``alphas`` gives. Without ``width`` it is the
    only one.
    """
    if width is None or draw(st.booleans()):
        return Equicorrelated(draw(alphas(n)))
    law = draw(st.sampled_from((Sphere, SharedGaussian)))
    return law(draw(st.integers(2, max(2, positive_integer(width, "width")))), draw(alphas(n, low=0)))


@st.composite
def tokens(draw: DrawFn, n: int, d: int) -> NDArray[np.float64]:
    """``n`` token vectors as rows, shape (n, d): Gaussian of squared length about 1, from a seed that is drawn."""
    seed = draw(st.integers(0, 2**32 - 1))
    return np.random.default_rng(seed).normal(size=(n, d)) / np.sqrt(d)
