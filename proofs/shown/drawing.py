"""How the project draws: score maps, profiles along a row, recency probabilities, phase diagrams.

One style for the command line, the notebooks and the documents: sizes for a column of print, colours that
colour-blind readers and grey print tell apart, no state of matplotlib's shared with the caller. matplotlib is optional,
so it is imported where it is used; ``require_matplotlib`` says in one line how to install it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from maskproof.numerics.arrays import Array
from maskproof.proofs.shown.files import write_whole
from maskproof.theory.errors import InvalidInput

if TYPE_CHECKING:
    from maskproof.proofs.maps.certificate import Survey


SEQUENTIAL, DIVERGING = "viridis", "RdBu_r"
"""For scores and for departures from a mean; both are safe for colour-blind readers."""
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#000000")
"""Okabe and Ito's colours, without the two that are pale on paper."""
MARKERS, DASHES = "osD^vX", ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)))
"""A second sign beside the colour, for grey print."""
HIDDEN = "0.88"
"""The grey behind a map of departures, where white means "no departure" and cannot mean "hidden" as well."""
STYLE: Mapping[str, Any] = {
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.labelsize": 9,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "legend.fontsize": 8,
    "figure.titlesize": 10,
    "axes.linewidth": 0.6,
    "lines.linewidth": 1.3,
    "lines.markersize": 4,
    "pdf.fonttype": 42,  # letters as letters: they can be searched and edited
}
_DPI = {".png": 200, ".pdf": 300}


def require_matplotlib(option: str) -> None:
    """Refuse, before any work is done, to draw without matplotlib.

    Raises:
        InvalidInput: it is not installed; the message says how to.
    """
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise InvalidInput(
            f"{option} without matplotlib",
            "'matplotlib is installed'",
            "install it with: pip install 'maskproof[plot]'",
        ) from error


def styled() -> AbstractContextManager[Any]:
    """The style, in force for a ``with`` block."""
    import matplotlib

    settings: Any = dict(STYLE)
    return matplotlib.rc_context(settings)


def new_figure(width: float, height: float) -> Any:
    """An empty figure of this size in inches, whose parts make room for one another."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def save(figure: Any, path: Path, option: str, dpi: int | None = None) -> None:
    """Write a figure whole or not at all; the ending of ``path``, .png or .pdf, is the file type.

    The same figure gives the same bytes: no date is written.

    Raises:
        InvalidInput: the file type is another one, or the file cannot be written.
    """
    if path.suffix not in _DPI:
        raise InvalidInput(f"{option} {path}", "'the file ends in .png or .pdf'", "rename it, as in figure.png")
    form = path.suffix[1:]
    undated = {"CreationDate": None} if form == "pdf" else {}

    def write(temporary: Path) -> None:
        figure.savefig(temporary, dpi=dpi or _DPI[path.suffix], format=form, metadata=undated)

    with styled():
        write_whole(path, write, option)


# Score maps


@dataclass(frozen=True)
class Scale:
    """What the colours of a map mean.

    Attributes:
        low, high: the ends.
        diverging: whether white in the middle means "none": for departures from a mean.
        clipped: whether some entries lie above ``high``, as the diagonal often does.
    """

    low: float
    high: float
    diverging: bool = False
    clipped: bool = False


def is_flat(maps: Iterable[Array]) -> bool:
    """Whether all entries off the diagonal are equal, up to rounding, in all maps together."""
    seen, off = _entries(maps)
    return bool(np.ptp(off) <= 1e-9 * max(1.0, float(np.abs(seen).max())))


def scale_of(maps: Iterable[Array]) -> Scale:
    """One scale for maps of scores, from the entries off the diagonal: the diagonal would outshine them.

    Maps that are flat off the diagonal are drawn up to the diagonal.
    """
    both = list(maps)
    seen, off = _entries(both)
    low, high, top = float(off.min()), float(off.max()), float(seen.max())
    if is_flat(both):
        return Scale(low, max(top, low + 1e-9))
    return Scale(low, high, clipped=top > high)


def _entries(maps: Iterable[Array]) -> tuple[Array, Array]:
    """All visible entries, and those off the diagonal (all, if there are no others)."""
    stack = np.stack(list(maps))
    outside = stack[:, ~np.eye(stack.shape[-1], dtype=bool)]
    seen, off = stack[np.isfinite(stack)], outside[np.isfinite(outside)]
    return seen, off if off.size else seen


def symmetric_scale(maps: Iterable[Array]) -> Scale:
    """One scale for maps of departures, symmetric about zero."""
    size = max(float(np.nanmax(np.abs(part))) for part in maps)
    size = max(size, 1e-12)
    return Scale(-size, size, diverging=True)


def score_map(axes: Any, scores: Array, scale: Scale) -> Any:
    """Draw a map of shape (n, n): queries i downwards, keys j to the right, both from 1; hidden entries stay blank.

    Returns:
        The image, for a colour bar.
    """
    n = scores.shape[0]
    if scale.diverging:
        axes.set_facecolor(HIDDEN)
    image = axes.imshow(
        np.ma.masked_invalid(scores),
        extent=(0.5, n + 0.5, n + 0.5, 0.5),
        vmin=scale.low,
        vmax=scale.high,
        cmap=DIVERGING if scale.diverging else SEQUENTIAL,
        interpolation="nearest",
    )
    axes.set(xticks=_places(n), yticks=_places(n))
    return image


def _places(n: int) -> list[int]:
    """A few round positions for ticks, first and last among them."""
    if n <= 5:
        return list(range(1, n + 1))
    step = max(1, round(n / 5)) if n <= 25 else 10 * max(1, round(n / 30))
    inner = [place for place in range(step, n, step) if place > 1 and n - place > step / 2]
    return [1, *inner, n]


def colour_bar(figure: Any, image: Any, axes: Any, scale: Scale, **where: Any) -> Any:
    """A colour bar beside one or several axes; an arrow says that the diagonal lies above."""
    from matplotlib.ticker import MaxNLocator

    bar = figure.colorbar(image, ax=axes, extend="max" if scale.clipped else "neither", **where)
    if where.get("location") == "bottom":  # narrow: few numbers with few digits
        bar.locator = MaxNLocator(nbins=3, steps=[1, 2, 3, 4, 5, 6, 8, 10])
    else:
        bar.locator = MaxNLocator(nbins=6, steps=[1, 2, 2.5, 5, 10])
    bar.formatter.set_powerlimits((-3, 4))
    bar.update_ticks()
    bar.outline.set_linewidth(0.5)
    return bar


def layer_maps(layers: Array) -> Any:
    """A figure with a map for each layer, each on its own scale: what ``scores --plot`` draws.

    Args:
        layers: shape (layers, n, n), NaN where the mask hides the key.
    """
    columns = min(len(layers), 4)
    rows = -(-len(layers) // columns)
    with styled():
        figure = new_figure(2.5 * columns, 2.4 * rows)
        for number, matrix in enumerate(layers, start=1):
            axes = figure.add_subplot(rows, columns, number)
            scale = scale_of([matrix])
            image = score_map(axes, matrix, scale)
            axes.set(title=f"layer {number}", xlabel="key $j$", ylabel="query $i$")
            colour_bar(figure, image, axes, scale, shrink=0.75)
    return figure


# Curves


def curve(axes: Any, x: Array, y: Array, index: int, label: str | None = None, error: Array | None = None) -> None:
    """Draw one of several curves; ``index`` picks colour and dashes, or with ``error`` colour and marker."""
    colour = COLOURS[index % len(COLOURS)]
    if error is None:
        axes.plot(x, y, color=colour, linestyle=DASHES[index % len(DASHES)], label=label)
    else:
        axes.errorbar(
            x, y, error, color=colour, linestyle="none", marker=MARKERS[index % len(MARKERS)], label=label,
            markerfacecolor="none", markeredgewidth=0.9, elinewidth=0.9, capsize=1.5,
        )  # fmt: skip


def profile(
    axes: Any, scores: Array, index: int, label: str | None = None, error: Array | None = None, peak: bool = True
) -> None:
    """Draw the scores of one query with the keys 1, 2, ... before it, and mark the largest.

    Args:
        axes: where to draw.
        scores: of the keys before the query, shape (keys,).
        index: which colour and sign.
        label: for the legend.
        error: standard errors: points are drawn, not a line.
        peak: whether to mark the largest, if it is not the last.
    """
    keys = np.arange(1, len(scores) + 1, dtype=np.float64)
    curve(axes, keys, scores, index, label, error)
    best = int(np.argmax(scores))
    if peak and best < len(scores) - 1:
        axes.plot(
            keys[best], scores[best], marker="*", markersize=11, zorder=5,
            color=COLOURS[index % len(COLOURS)], markeredgecolor="white", markeredgewidth=0.6,
        )  # fmt: skip


def recency_curves(axes: Any, estimates: Mapping[str, tuple[Array, Array]], predictions: Mapping[str, Array]) -> None:
    """Draw recency probabilities against the layer, from 1: estimates with errors, predictions as lines.

    Args:
        axes: where to draw.
        estimates: by label, probabilities and standard errors of shape (layers,).
        predictions: by the same labels.
    """
    axes.axhline(0.5, color="0.6", linewidth=0.8, zorder=0)
    for index, (label, (probability, error)) in enumerate(estimates.items()):
        layers = np.arange(1, len(probability) + 1, dtype=np.float64)
        curve(axes, layers, predictions[label], index)
        curve(axes, layers, probability, index, label, error)
    axes.set(xticks=range(1, 1 + max(len(p) for p in predictions.values())), ylim=(-0.04, 1.04))


def efficiency_curves(axes: Any, gains: Mapping[str, Array]) -> None:
    """Draw what control variates gain against their order, from 0: plain variance over variance, by label.

    Args:
        axes: where to draw; the scale of the gain is logarithmic.
        gains: shape (orders,) each, at most as many as there are colours.
    """
    for index, (label, gain) in enumerate(gains.items()):
        axes.plot(
            np.arange(len(gain)), gain, color=COLOURS[index], linestyle=DASHES[index], marker=MARKERS[index],
            markerfacecolor="none",
        )  # fmt: skip
        axes.annotate(
            label, (len(gain) - 1, gain[-1]), xytext=(12, 0), textcoords="offset points", va="center", fontsize=8,
            color=COLOURS[index],
        )  # fmt: skip
    axes.set(yscale="log", xlabel="order of the control variates", xticks=range(max(map(len, gains.values()))))


# Phase diagrams

TRUE, FALSE, UNDECIDED = "#9ecae1", "#d95f02", "#000000"
"""A light blue, an orange and black: told apart in grey and by colour-blind readers."""
_SYMBOLS = {"alpha": r"correlation $\alpha$", "beta": r"inverse temperature $\beta$", "residual": r"residual $\lambda$"}


def phase_diagram(surveys: Sequence[Survey]) -> Any:
    """A figure with a map for each survey, side by side, fit for a column of print; a slice is drawn as a bar."""
    from matplotlib.patches import Patch

    width = 3.4 if len(surveys) == 1 else 2.9 * len(surveys)
    tall = any(len(survey.box) == 2 for survey in surveys)
    undecided = max(float(survey.share(None)) for survey in surveys)
    with styled():
        figure = new_figure(width, 3.1 if tall else 1.5)
        for column, survey in enumerate(surveys, start=1):
            _regions(figure.add_subplot(1, len(surveys), column), survey)
        handles = [
            Patch(facecolor=TRUE, label="certified: closer keys score higher"),
            Patch(facecolor=FALSE, label="certified: not always"),
        ]
        if undecided:
            handles.append(Patch(facecolor=UNDECIDED, label=f"undecided ({100 * undecided:.2g} %)"))
        columns = 1 if len(surveys) == 1 else len(handles)
        figure.legend(handles=handles, loc="outside lower center", frameon=False, ncols=columns, handlelength=1.2)
    return figure


def _regions(axes: Any, survey: Survey) -> None:
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Rectangle

    names = list(survey.box)
    rectangles: dict[str, list[Rectangle]] = {TRUE: [], FALSE: [], UNDECIDED: []}
    boxes = [(piece.box, piece.answer) for piece in survey.pieces] + [(box, None) for box in survey.open]
    for box, answer in boxes:
        colour = UNDECIDED if answer is None else TRUE if answer else FALSE
        x = box[names[0]]
        low, high = (box[names[1]].low, box[names[1]].high) if len(names) == 2 else (Fraction(0), Fraction(1))
        corner = (float(x.low), float(low))
        rectangles[colour].append(Rectangle(corner, float(x.high - x.low), float(high - low)))
    for colour, patches in rectangles.items():
        # An edge of its own colour closes the hairlines between neighbours.
        axes.add_collection(PatchCollection(patches, facecolor=colour, edgecolor=colour, linewidth=0.25))
    whole = survey.box[names[0]]
    axes.set_xlim(float(whole.low), float(whole.high))
    axes.locator_params(axis="x", nbins=5)
    axes.set_xlabel(_SYMBOLS[names[0]])
    if len(names) == 2:
        other = survey.box[names[1]]
        axes.set_ylim(float(other.low), float(other.high))
        axes.set_ylabel(_SYMBOLS[names[1]])
    else:
        axes.set_ylim(0, 1)
        axes.set_yticks([])
    axes.set_title(_phase_title(survey))


def _phase_title(survey: Survey) -> str:
    order = survey.order
    values = {
        "alpha": (r"\alpha", order.alpha),
        "beta": (r"\beta", order.decoder.beta),
        "residual": (r"\lambda", order.decoder.residual),
    }
    fixed = [f"${symbol} = {value}$" for name, (symbol, value) in values.items() if name not in survey.box]
    layers = ", ".join(map(str, order.layers))
    return ", ".join([f"layer {layers}", f"$n = {order.n}$", *fixed])
