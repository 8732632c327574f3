"""What the score maps of the paper's figures show: the limit theory and Monte Carlo side by side.

Version 1 averages 100,000 runs of 50 tokens of width 64 (``SharedGaussian``), four layers, positions from 1, colour
scale fixed where stated. Each ``Panel`` is one of its maps: the limit of infinite width (with RoPE's kernel at head
dimension 64) and the expectation at width 64 with its standard error.

``SECOND`` holds maps of the models of version 2 (no norm or layer normalisation, without and with residual, scores
divided by sqrt(d), inputs not normalised) at the same size. Its text is not at hand: the choice of maps is ours.
There "the limit" is the map of the Gram matrix that the inputs have at infinite width, with sqrt(64) put in where the
layer depends on the width. With layer normalisation the logits fluctuate by order 1 at every width, so expectations
do not approach it by a term of order 1/d.

Source: arXiv 2509.21042v1, Figures 2, 4, 6, 7, 9, 10, and the notebooks published with it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import sympy

from maskproof.numerics.arrays import Array
from maskproof.numerics.gram import equicorrelated, mean_field, recursion
from maskproof.numerics.monte_carlo import expected_scores
from maskproof.numerics.relativity import diagonal_normalised
from maskproof.numerics.vector_monte_carlo import expected_on_vectors
from maskproof.theory.decoder import Bidirectional, Causal, Decoder, Rope
from maskproof.theory.errors import InvalidInput
from maskproof.theory.inputs import SharedGaussian

Progress = Callable[[str], Any]

TOKENS, WIDTH, LAYERS = 50, 64, 4


@dataclass(frozen=True)
class Row:
    """One row of maps in a figure: a decoder, a correlation, and how the paper draws it.

    Attributes:
        title: what the row shows, as in the paper's titles.
        decoder: the model.
        alpha: correlation of the inputs' coordinates.
        normalised: whether the mean of each diagonal is taken off.
        limits: ends of the colour scale, or None where the paper leaves it to each map.
        unit: whether the inputs are normalised, as in version 1.
    """

    title: str
    decoder: Decoder
    alpha: float
    normalised: bool = False
    limits: tuple[float, float] | None = (0.0, 1.0)
    unit: bool = True

    @property
    def inputs(self) -> SharedGaussian:
        """The law of the inputs of the simulation."""
        return SharedGaussian(WIDTH, self.alpha, unit=self.unit)

    def limit(self, n: int) -> Array:
        """Scores in the limit, shape (layers, n, n)."""
        if self.unit:
            return mean_field(self.decoder, self.alpha, n, LAYERS, WIDTH).scores
        # (g_i + sqrt(alpha/(1 - alpha)) g_0)/sqrt(d) has squared norm 1/(1 - alpha) in the limit.
        return recursion(self.decoder, equicorrelated(self.alpha, n) / (1 - self.alpha), LAYERS, WIDTH).scores


def _plain(*alphas: float) -> tuple[Row, ...]:
    return tuple(Row(f"alpha = {alpha}", Decoder(), alpha) for alpha in alphas)


def _layernorm() -> tuple[Row, ...]:
    return tuple(
        Row(f"alpha = {alpha}, scaling {scale}", Decoder(norm="layernorm", scale=scale), alpha, limits=(0.0, top))
        for scale, top in (("sqrt(d)", 8.0), ("d", 1.0))
        for alpha in (0.0, 0.2)
    )


def _rope(alpha: float, mask: Causal | Bidirectional) -> tuple[Row, Row]:
    decoder = Decoder(mask=mask, position=Rope(10000, WIDTH))
    title = f"alpha = {alpha}, RoPE, {'causal mask' if isinstance(mask, Causal) else 'no mask'}"
    return Row(title, decoder, alpha), Row(f"{title} (normalized)", decoder, alpha, normalised=True, limits=None)


def _second(norm: Literal["none", "layernorm"], alpha: float) -> tuple[Row, ...]:
    decoders = [Decoder(norm=norm, residual=sympy.Integer(residual), scale="sqrt(d)") for residual in (0, 1)]
    words = "no norm" if norm == "none" else "LayerNorm"
    return tuple(
        Row(f"alpha = {alpha}, {words}, {how} residual", decoder, alpha, limits=None, unit=False)
        for how, decoder in zip(("without", "with"), decoders, strict=True)
    )


FIGURES: dict[str, tuple[Row, ...]] = {
    "2": _plain(0.0, 0.2),
    "4": _rope(0.0, Causal()),
    "6": _plain(0.4, 0.6, 0.8),
    "7": _layernorm(),
    "9": _rope(0.5, Causal()),
    "10": _rope(0.0, Bidirectional()),
}
SECOND: dict[str, tuple[Row, ...]] = {
    "v2-1": _second("none", 0.0),
    "v2-2": _second("none", 0.5),
    "v2-3": _second("layernorm", 0.0),
    "v2-4": _second("layernorm", 0.5),
}


@dataclass(frozen=True)
class Panel:
    """One map, shape (n, n), index [i-1, j-1]; NaN where the mask hides the key.

    Attributes:
        row: the row that it belongs to.
        layer: from 1.
        limit: scores in the limit of infinite width.
        mean: expected scores at width 64.
        standard_error: of ``mean``; on a normalised map, where each entry loses the mean of its diagonal, it is that
            of the entry before, a bound for long diagonals.
    """

    row: Row
    layer: int
    limit: Array = field(repr=False)
    mean: Array = field(repr=False)
    standard_error: Array = field(repr=False)


def figure_data(
    name: str, samples: int = 2000, seed: int = 0, n: int = TOKENS, progress: Progress | None = None
) -> tuple[Panel, ...]:
    """The maps of a figure, row by row and layer by layer.

    Args:
        name: "2", "4", "6", "7", "9" or "10" of version 1, or "v2-1" to "v2-4".
        samples: independent inputs for the expectations.
        seed: of the samples.
        n: number of tokens; the paper has 50.
        progress: called before each row of maps with its title.

    Raises:
        InvalidInput: there is no such figure, or the samples are not a whole number from 2 up.
    """
    figures = FIGURES | SECOND
    if name not in figures:
        raise InvalidInput(f"figure {name!r}", "'the figure is one of score maps'", f"use {', '.join(figures)}")
    panels: list[Panel] = []
    sampled: dict[tuple[Decoder, float], tuple[Array, Array]] = {}
    for row in figures[name]:
        if progress is not None:
            progress(row.title)
        limit = row.limit(n)
        key = row.decoder, row.alpha
        if key not in sampled:
            sampled[key] = _expectation(row, n, samples, seed)
        mean, error = sampled[key]
        for layer in range(1, LAYERS + 1):
            maps = limit[layer - 1], mean[layer - 1]
            shown = [diagonal_normalised(part) for part in maps] if row.normalised else maps
            panels.append(Panel(row, layer, shown[0], shown[1], error[layer - 1]))
    return tuple(panels)


def _expectation(row: Row, n: int, samples: int, seed: int) -> tuple[Array, Array]:
    estimate = expected_scores if row.decoder.position is None else expected_on_vectors
    found = estimate(row.decoder, row.inputs, n, LAYERS, samples, seed)
    return found.mean, found.standard_error
