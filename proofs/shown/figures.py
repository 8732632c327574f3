"""The figures that ``maskproof figures`` draws, by name.

* ``v1-2`` ... ``v1-10``: the score maps of version 1 (arXiv 2509.21042v1), limit and Monte Carlo below each other with
  the same axes and colour scale.
* ``v2-1`` ... ``v2-5``: version 2 (*LayerNorm Induces Recency Bias in Transformer Decoders*, arXiv 2509.21042 from
  version 2). Its figures are not at hand: the models are those that it describes, the split into figures 1-5 is ours.
  1-4 are score maps without norm and with layer normalisation, at alpha = 0 and 1/2, each without and with residual;
  5 is the recency probability against layer and width.
* ``row``: the scores of one query, where layers 3 and 4 have their peak inside the context at alpha = 0.
* ``front``: the picture of the README.

Under each figure it says how sure the simulation is: its largest standard error, and its largest difference from the
limit, in units of the standard error there and of 1/d (not for layer normalisation with scale sqrt(d), where the
difference is not of order 1/d).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby, product
from typing import Any, Literal

import numpy as np
import sympy

from maskproof.numerics.arrays import Array
from maskproof.numerics.gram import mean_field
from maskproof.numerics.monte_carlo import expected_scores
from maskproof.numerics.paper_figures import FIGURES, LAYERS, SECOND, TOKENS, WIDTH, Panel, Progress, Row, figure_data
from maskproof.numerics.recency import recency_probability
from maskproof.numerics.recency_linear import predicted_recency
from maskproof.numerics.relativity import relativity
from maskproof.proofs.shown import drawing
from maskproof.proofs.shown.drawing import Scale
from maskproof.theory.decoder import Decoder
from maskproof.theory.inputs import SharedGaussian


@dataclass(frozen=True)
class Run:
    """How a figure is to be computed.

    Attributes:
        samples: independent inputs of every simulation (ten times as many for recency probabilities).
        seed: of the samples.
        n: number of tokens, or None for the paper's: 50 in score maps, 10 for recency probabilities.
        progress: called with what is being computed.
    """

    samples: int
    seed: int
    n: int | None
    progress: Progress

    @property
    def tokens(self) -> int:
        """Tokens in a score map."""
        return self.n or TOKENS


@dataclass(frozen=True)
class Drawing:
    """A figure that can be drawn.

    Attributes:
        name: as typed on the command line.
        about: one line.
        draw: computes it and returns a figure of matplotlib.
        stem: of its files; the name, if empty.
        suffixes: file types.
    """

    name: str
    about: str
    draw: Callable[[Run], Any]
    stem: str = ""
    suffixes: tuple[str, ...] = (".png", ".pdf")

    @property
    def files(self) -> tuple[str, ...]:
        """The names of its files."""
        return tuple((self.stem or self.name) + suffix for suffix in self.suffixes)


# Score maps: limit above, Monte Carlo below

_ZERO = 1e-12  # a spread below is rounding
_WIDE = 5.6  # inches: at the width of a column letters are still 5 points high
_SHARED, _SINGLE = 2.85, 3.25  # inches of two rows of maps with one colour bar beside them, or one below each layer


def _maps(name: str, title: str) -> Callable[[Run], Any]:
    """A drawing of the score maps of one figure of ``numerics.paper_figures``."""

    def draw(run: Run) -> Any:
        panels = figure_data(name, run.samples, run.seed, run.tokens, run.progress)
        rows = [(row, list(group)) for row, group in groupby(panels, key=lambda panel: panel.row)]
        with drawing.styled():
            heights = [_SHARED if row.normalised or row.limits else _SINGLE for row, _ in rows]
            figure = drawing.new_figure(_WIDE, sum(heights) + 0.85)
            figure.suptitle(title)
            figure.supxlabel(_caption(panels, run), fontsize=8)
            blocks = figure.subfigures(len(rows), 1, squeeze=False, height_ratios=heights)[:, 0]
            for block, (row, group) in zip(blocks, rows, strict=True):
                _block(block, row, group)
        return figure

    return draw


def _block(figure: Any, row: Row, panels: list[Panel]) -> None:
    """Two rows of maps, a column for each layer."""
    figure.suptitle(_mathematics(row.title), fontsize=9)
    grid = figure.subplots(2, len(panels), sharex=True, sharey=True, squeeze=False)
    scales = _scales(row, panels)
    image = None
    for column, (panel, scale) in enumerate(zip(panels, scales, strict=True)):
        for axes, scores in zip(grid[:, column], (panel.limit, panel.mean), strict=True):
            image = drawing.score_map(axes, scores, scale)
            axes.label_outer()
        grid[0, column].set_title(f"layer {panel.layer}")
        grid[1, column].set_xlabel("key $j$")
        if scales[0] is not scales[-1]:  # each layer its own
            drawing.colour_bar(figure, image, list(grid[:, column]), scale, location="bottom", aspect=12)
    grid[0, 0].set_ylabel("limit\nquery $i$")
    grid[1, 0].set_ylabel("Monte Carlo\nquery $i$")
    if scales[0] is scales[-1]:
        drawing.colour_bar(figure, image, grid.ravel().tolist(), scales[0], aspect=30)


def _scales(row: Row, panels: list[Panel]) -> list[Scale]:
    """The colour scale of each layer, the same for its two maps: as printed, where the paper fixes it."""
    if row.normalised:
        return [drawing.symmetric_scale(scores for panel in panels for scores in (panel.limit, panel.mean))] * len(
            panels
        )
    if row.limits is not None:
        return [Scale(*row.limits)] * len(panels)
    return [_both(panel) for panel in panels]


def _both(panel: Panel) -> Scale:
    """A scale for limit and simulation; where the limit is constant off the diagonal, not the one of the noise."""
    flat = drawing.is_flat([panel.limit])
    return drawing.scale_of([panel.limit] if flat else [panel.limit, panel.mean])


def _mathematics(title: str) -> str:
    text = re.sub(r"alpha = ([\d.]+)", lambda found: rf"$\alpha = {float(found[1]):g}$", title)
    text = text.replace("(normalized)", "(normalized: minus the mean of each diagonal)")
    return text.replace("sqrt(d)", r"$\sqrt{d}$").replace("scaling d", "scaling $d$")


def _caption(panels: tuple[Panel, ...], run: Run) -> str:
    """How far simulation and limit are apart, and how sure that is."""
    plain = [panel for panel in panels if not panel.row.normalised]
    error = max(float(np.nanmax(panel.standard_error)) for panel in plain)
    worst = max(plain, key=lambda panel: float(np.nanmax(np.abs(panel.mean - panel.limit))))
    away = np.abs(worst.mean - worst.limit)
    i, j = np.unravel_index(np.nanargmax(away), away.shape)
    gap, own = float(away[i, j]), float(worst.standard_error[i, j])
    size = f"$n = {run.tokens}$, $d = {WIDTH}$, {run.samples:,} inputs, seed {run.seed}."
    sharp = worst.row.decoder.norm == "layernorm" and worst.row.decoder.scale == "sqrt(d)"
    order = "" if sharp else f" = {gap * WIDTH:.2g}/$d$"
    ratio = f"{gap:.2g}{order} = {_times(gap, own)} standard errors"
    lines = [
        f"{size} Largest standard error {_power(error)}.",
        f"Largest difference from the limit {ratio}, in layer {worst.layer} at $({i + 1}, {j + 1})$.",
    ]
    if sharp:
        lines.append(
            r"Scale $\sqrt{d}$: logits fluctuate by order 1 at every width, so the difference is not of order 1/$d$."
        )
    spreads = [relativity(panel.limit).spread for panel in panels if panel.row.normalised]
    if spreads:
        words = ", ".join(_power(spread, 3) if spread > _ZERO else "0" for spread in spreads)
        noise = "\nSuch a spread is below the noise of the simulation." if max(spreads) < error else ""
        lines.append(f"Largest spread within a diagonal, in the limit, layers 1 to {LAYERS}: {words}.{noise}")
    return "\n".join(lines)


def _times(gap: float, error: float) -> str:
    ratio = gap / error
    return f"{ratio:.1f}" if ratio < 100 else f"{ratio:.0f}" if ratio < 1e5 else _power(ratio)


def _power(number: float, digits: int = 2) -> str:
    r"""A number to a few digits, in mathematics if it is small.

    >>> print(_power(0.0153), _power(0.000238))
    0.015 $2.4 \times 10^{-4}$
    """
    if 0.001 <= number < 1000:
        return f"{number:.{digits}g}"
    mantissa, exponent = f"{number:.{digits - 1}e}".split("e")
    return rf"${mantissa} \times 10^{{{int(exponent)}}}$"


# One query


ROW_ALPHAS = (sympy.Integer(0), sympy.Rational(1, 200), sympy.Rational(1, 50), sympy.Rational(1, 10))
ROW_LAYERS = (2, 3, 4)
_LOWEST = 0.8  # of the axis of ``row``
_SURE = 3  # a simulated peak is marked if it exceeds the last score by so many times the sum of their standard errors


def _row(run: Run) -> Any:
    n = run.tokens
    with drawing.styled():
        figure = drawing.new_figure(_WIDE, 4.5)
        figure.suptitle(f"Scores of query $i = {n}$, relative to the key just before it")
        grid = figure.subplots(2, len(ROW_LAYERS), sharex=True, sharey=True)
        largest_error = largest_gap = 0.0
        for index, alpha in enumerate(ROW_ALPHAS):
            run.progress(f"alpha = {float(alpha)}")
            limit = mean_field(Decoder(), alpha, n, LAYERS).scores
            found = expected_scores(Decoder(), SharedGaussian(WIDTH, alpha), n, LAYERS, run.samples, run.seed)
            label = rf"$\alpha = {float(alpha):g}$"
            for column, layer in enumerate(ROW_LAYERS):
                exact, mean = limit[layer - 1, -1, :-1], found.mean[layer - 1, -1, :-1]
                error = found.standard_error[layer - 1, -1, :-1]
                drawing.profile(grid[0, column], exact / exact[-1], index, label)
                best = int(np.argmax(mean))
                sure = mean[best] - mean[-1] > _SURE * (error[best] + error[-1])
                drawing.profile(grid[1, column], mean / mean[-1], index, label, error / mean[-1], bool(sure))
                largest_error = max(largest_error, float(np.max(error)))
                largest_gap = max(largest_gap, float(np.max(np.abs(mean - exact))))
        for axes in grid.ravel():
            axes.axhline(1, color="0.6", linewidth=0.8, zorder=0)
        for column, layer in enumerate(ROW_LAYERS):
            grid[0, column].set_title(f"layer {layer}")
            grid[1, column].set_xlabel("key $j$")
        grid[0, 0].set_ylim(_LOWEST, 1.04)
        for axes, word in zip(grid[:, 0], ("limit", "Monte Carlo"), strict=True):
            axes.set_ylabel(f"{word}\n$S_{{ij}}\\,/\\,S_{{i,i-1}}$")
        for axes in grid[:, 0]:
            axes.legend(loc="lower right", frameon=False, handlelength=2.4)
        figure.supxlabel(
            f"A star marks a peak inside the context: beyond it, nearer keys score lower.\n$n = {n}$, $d = {WIDTH}$, "
            f"{run.samples:,} inputs, seed {run.seed}. Largest standard error of a score {_power(largest_error)},\n"
            f"largest difference from the limit {largest_gap:.2g} = {largest_gap * WIDTH:.2g}/$d$.",
            fontsize=8,
        )
    return figure


def _front(run: Run) -> Any:
    """Layers 2 and 3 in the limit at alpha = 0, and the last row of layer 3."""
    n = run.tokens
    scores = mean_field(Decoder(), 0, n, 3).scores
    with drawing.styled():
        figure = drawing.new_figure(8.4, 2.75)
        grid = figure.subplots(1, 3)
        for axes, layer, word in zip(grid, (2, 3), ("closer keys score higher", "not always"), strict=False):
            scale = drawing.scale_of([scores[layer - 1]])
            image = drawing.score_map(axes, scores[layer - 1], scale)
            axes.set(title=f"layer {layer}: {word}", xlabel="key $j$", ylabel="query $i$")
            drawing.colour_bar(figure, image, axes, scale, shrink=0.85, pad=0.03)
        _mark_peaks(grid[1], scores[2])
        _mark_last_row(grid[2], scores[2, -1, :-1])
    return figure


def _mark_peaks(axes: Any, scores: Array) -> None:
    """A line through the best key of every query whose best key, before itself, is not the last."""
    peaks = [(int(np.argmax(scores[i, :i])) + 1, i + 1) for i in range(2, len(scores))]
    inside = np.array([(j, i) for j, i in peaks if j < i - 1], dtype=np.float64).reshape(-1, 2)
    axes.plot(inside[:, 0], inside[:, 1], color="white", linewidth=1.4, linestyle="--")
    if len(inside):
        axes.annotate(
            "highest-scoring\nkey before itself", (inside[0, 0] + 1, inside[0, 1] - 1), xytext=(0.97, 0.94),
            textcoords="axes fraction", ha="right", va="top", fontsize=8,
            arrowprops={"arrowstyle": "-", "color": "0.3", "linewidth": 0.8},
        )  # fmt: skip


def _mark_last_row(axes: Any, row: Array) -> None:
    """The scores of the last query with its peak and with the key just before the query."""
    n, best = len(row) + 1, int(np.argmax(row))
    drawing.profile(axes, row, 0, peak=False)
    axes.plot(best + 1, row[best], "*", markersize=12, color=drawing.COLOURS[1], zorder=6)
    axes.plot(n - 1, row[-1], "o", markersize=5, color=drawing.COLOURS[0], zorder=6)
    line = {"arrowstyle": "-", "color": "0.4", "linewidth": 0.8, "shrinkB": 6, "relpos": (1, 0.5)}
    for place, word, (x, y) in (
        (best, f"peak at key {best + 1}:\n$S = {row[best]:.4f}$", (0.28, 0.5)),
        (n - 2, f"key {n - 1}, next to the\nquery: $S = {row[-1]:.4f}$", (0.28, 0.2)),
    ):
        axes.annotate(
            word, (place + 1, row[place]), xytext=(x, y), textcoords="axes fraction", fontsize=8, va="center",
            arrowprops=line,
        )  # fmt: skip
    axes.set(title=f"layer 3, query $i = {n}$", xlabel="key $j$", ylabel=f"score $S_{{{n},j}}$", box_aspect=1)
    axes.margins(y=0.08)


# Recency probability


RECENCY_TOKENS, RECENCY_WIDTHS = 10, (16, 64, 256, 1024)
_RECENCY_FACTOR = 10  # ten tokens cost little
_NORMS: tuple[Literal["none", "layernorm"], ...] = ("none", "layernorm")
_MODELS = tuple(product(_NORMS, (0, 1)))


def _recency(run: Run) -> Any:
    """Recency probabilities: a column for each model, a row for each alpha, a curve for each width."""
    n, samples = run.n or RECENCY_TOKENS, _RECENCY_FACTOR * run.samples
    largest_error = largest_gap = 0.0
    with drawing.styled():
        figure = drawing.new_figure(_WIDE, 4.5)
        figure.suptitle("Recency probability: how often the nearer of two keys scores higher")
        grid = figure.subplots(2, len(_MODELS), sharex=True, sharey=True)
        for row, alpha in enumerate((sympy.Integer(0), sympy.Rational(1, 2))):
            for column, (norm, residual) in enumerate(_MODELS):
                decoder = Decoder(norm=norm, residual=sympy.Integer(residual), scale="sqrt(d)")
                estimates, predictions = {}, {}
                for width in RECENCY_WIDTHS:
                    run.progress(f"alpha = {alpha}, norm {norm}, residual {residual}, d = {width}")
                    inputs = SharedGaussian(width, alpha, unit=False)
                    found = recency_probability(decoder, inputs, n, LAYERS, samples, run.seed)
                    label = f"$d = {width}$"
                    estimates[label] = found.probability, found.standard_error
                    predictions[label], _ = predicted_recency(decoder, inputs, n, LAYERS)
                    largest_error = max(largest_error, float(found.standard_error.max()))
                    largest_gap = max(largest_gap, float(np.abs(found.probability - predictions[label]).max()))
                drawing.recency_curves(grid[row, column], estimates, predictions)
                words = "no norm" if norm == "none" else "LayerNorm"
                if row == 0:
                    grid[row, column].set_title(f"{words},\n{'with' if residual else 'no'} residual")
                else:
                    grid[row, column].set_xlabel("layer")
            grid[row, 0].set_ylabel(rf"$\alpha = {float(alpha):g}$" + "\nrecency probability")
        # With layer normalisation at alpha = 0 nothing lies far above 1/2.
        grid[0, -1].legend(loc="upper right", frameon=False, labelspacing=0.2, borderaxespad=0.2)
        figure.supxlabel(
            f"Points: Monte Carlo, {samples:,} inputs a model and width, seed {run.seed}, $n = {n}$;\n"
            f"largest standard error {_power(largest_error)}. Lines: leading order in the noise of the inputs;\n"
            f"largest difference {largest_gap:.2g}. Grey: 1/2, no preference.",
            fontsize=8,
        )
    return figure


# By name


def _of_version_1(number: str) -> str:
    """What a figure of version 1 shows, in one line."""
    rows = FIGURES[number]
    return "; ".join(dict.fromkeys(row.title.removesuffix(" (normalized)") for row in rows))


def _catalogue() -> dict[str, Drawing]:
    first = [
        Drawing(
            f"v1-{number}",
            f"score maps of version 1's Figure {number}: {_of_version_1(number)}",
            _maps(number, f"Expected scores, layers 1 to {LAYERS}: version 1, Figure {number}"),
        )
        for number in FIGURES
    ]
    second = [
        Drawing(
            name,
            f"score maps of version 2's models: {'; '.join(row.title for row in rows)}",
            _maps(name, f"Expected scores, layers 1 to {LAYERS}: models of version 2, scale $\\sqrt{{d}}$"),
        )
        for name, rows in SECOND.items()
    ]
    others = [
        Drawing("v2-5", "recency probability of version 2's models against layer and width", _recency),
        Drawing("row", "scores of one query at layers 2-4: where the peak lies inside the context", _row),
        Drawing("front", "layers 2 and 3 at alpha = 0 in the limit, with a row of layer 3 (layer-three.png)", _front,
                "layer-three", (".png",)),
    ]  # fmt: skip
    return {each.name: each for each in (*first, *second, *others)}


DRAWINGS = _catalogue()
"""Every figure by name."""
