"""``maskproof phase``, and what ``maskproof scores --certify`` prints."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Annotated

import typer

from maskproof.numerics.certify import Box, Order, Steps, steps
from maskproof.numerics.series import Interval
from maskproof.proofs import arguments, certificate, phase, phase_files
from maskproof.proofs.certificate import Survey
from maskproof.proofs.files import check_writable
from maskproof.proofs.report import show
from maskproof.proofs.scores import check_plot
from maskproof.theory.decoder import Decoder
from maskproof.theory.errors import InvalidInput

_MOST_LAYERS = 32
_CAP = 256  # bits after which equal scores are left undecided


def register(app: typer.Typer) -> None:
    """Add the command ``phase`` to the application."""
    app.command("phase")(phase_command)


def phase_command(
    n: Annotated[str, typer.Option("--n", metavar="N", help="Number of tokens.")],
    layers: Annotated[str, typer.Option("--layers", metavar="L[,L...]", help="Layers, all of which must increase.")],
    alpha: Annotated[str, typer.Option("--alpha", metavar="A|LOW:HIGH", help="Correlation, in [0, 1].")] = "0",
    beta: Annotated[str, typer.Option("--beta", metavar="B|LOW:HIGH", help="Inverse temperature.")] = "1",
    residual: Annotated[str, typer.Option("--residual", metavar="R|LOW:HIGH", help="Residual weight.")] = "1",
    norm: Annotated[str, typer.Option("--norm", metavar="NORM", help="l2, layernorm or none.")] = "l2",
    scale: Annotated[str, typer.Option("--scale", metavar="S", help="What scores are divided by.")] = "1",
    mask: Annotated[
        str, typer.Option("--mask", metavar="MASK", help="causal, bidirectional, window:W or prefix:L.")
    ] = "causal",
    dim: Annotated[str | None, typer.Option("--dim", metavar="D", help="Width, for layernorm or scale d.")] = None,
    resolution: Annotated[
        str | None,
        typer.Option("--resolution", metavar="W", help="Width left undecided; in a map relative to its sides."),
    ] = None,
    lengths: Annotated[
        str | None,
        typer.Option("--lengths", metavar="M[,M...]|all", help="Also for shorter sequences: which, or all up to N."),
    ] = None,
    degree: Annotated[
        str | None,
        typer.Option("--degree", metavar="D", help="Of the polynomials; chosen from box to box if not given."),
    ] = None,
    workers: Annotated[str, typer.Option("--workers", metavar="N", help="Processes.")] = "1",
    seconds: Annotated[
        str | None, typer.Option("--seconds", metavar="S", help="Begin nothing new after S seconds.")
    ] = None,
    json_path: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Certificate; resumed if it is unfinished.")
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Write FILE.csv or FILE.npz.")] = None,
    plot: Annotated[Path | None, typer.Option("--plot", metavar="FILE", help="Draw into FILE.png.")] = None,
) -> int:
    """Certify where later keys score higher: over one range, or a map of two.

    Give one or two of --alpha, --beta and --residual as LOW:HIGH. Every piece
    of the result is certified as a whole, not sampled. With --json the work is
    saved as it goes and taken up again by the same command; proofs/recheck.py
    checks the file independently.
    """
    if out is not None:
        phase_files.check_out(out)
        check_writable(out, "--out")
    if plot is not None:
        check_plot(plot)
        check_writable(plot, "--plot")
    box, values = _parameters({"alpha": alpha, "beta": beta, "residual": residual})
    order = Order(
        arguments.whole(n, "--n", least=2),
        layer_list(layers),
        arguments.decoder(values["beta"], values["residual"], norm, scale, mask, None, "64"),
        arguments.number(values["alpha"], "--alpha"),
        None if dim is None else arguments.whole(dim, "--dim"),
    )
    survey = phase.survey_of(
        order,
        box,
        None if resolution is None else _fraction(resolution, "--resolution"),
        None if degree is None else arguments.whole(degree, "--degree", most=40),
        () if lengths is None else _lengths(lengths, order.n),
    )
    if json_path is not None:
        check_writable(json_path, "--json")
        certificate.map_certificate(survey)  # refuses what no certificate can hold, before any work
        if json_path.exists():
            survey = certificate.resume(json_path, survey)
    limit = float("inf") if seconds is None else arguments.positive(seconds, "--seconds")
    count = arguments.whole(workers, "--workers", most=os.cpu_count() or 1)
    with _progress() as report:
        survey = phase.advance(survey, count, limit, report, _saver(json_path))
    show(phase_files.summary(survey))
    if survey.open:
        show(f"unfinished: {len(survey.open)} boxes are open" + ("; repeat the command" if json_path else ""))
    if out is not None:
        phase_files.write(survey, out)
    if plot is not None:
        phase_files.plot([survey], plot)
    return 0


def layer_list(text: str) -> tuple[int, ...]:
    """Layers as typed: "3", "2,3,4" or "2-4".

    >>> layer_list("2-4")
    (2, 3, 4)
    """
    first, dash, last = text.partition("-")
    if dash:
        low, high = (arguments.whole(word, "--layers", most=_MOST_LAYERS) for word in (first, last))
        if low > high:
            raise InvalidInput(f"--layers {arguments.shown(text)}", "'first <= last'", "write it as 2-4")
        return tuple(range(low, high + 1))
    return tuple(arguments.whole(word, "--layers", most=_MOST_LAYERS) for word in text.split(","))


def _lengths(text: str, n: int) -> tuple[int, ...]:
    if text == "all":
        return tuple(range(2, n + 1))
    return tuple(arguments.whole(word, "--lengths", least=2, most=n) for word in text.split(","))


def _parameters(typed: dict[str, str]) -> tuple[Box, dict[str, str]]:
    """The ranges, and for every parameter a single value: the lower end of a range."""
    box: dict[str, Interval] = {}
    values = {}
    for name, text in typed.items():
        low, colon, high = text.partition(":")
        values[name] = low
        if colon:
            option = f"--{name}"
            box[name] = Interval(_fraction(low, option), _fraction(high, option))
    return box, values


def _fraction(text: str, option: str) -> Fraction:
    value = arguments.number(text, option)
    return Fraction(int(value.p), int(value.q))


def _saver(path: Path | None) -> Callable[[Survey], None]:
    if path is None:
        return lambda survey: None
    return lambda survey: certificate.write(certificate.map_certificate(survey), path)


@contextmanager
def _progress() -> Iterator[Callable[[Survey], None]]:
    """A line on standard error, on a terminal only: boxes done, boxes open, the area that is settled."""
    from rich.console import Console

    console = Console(stderr=True)
    done = 0
    if not console.is_terminal:
        yield lambda survey: None
        return
    with console.status("expanding the first box") as status:

        def report(survey: Survey) -> None:
            nonlocal done
            done += 1
            settled = 100 * (1 - float(survey.share(None)))
            status.update(f"{done} boxes expanded, {len(survey.open)} open, {settled:.2f} % settled")

        yield report


def certified_steps(
    decoder: Decoder, alpha: object, n: int, layers: int, dim: int | None = None, json_path: Path | None = None
) -> str:
    """For each layer from 2 on, how many pairs of neighbouring keys are proved increasing, decreasing, undecided.

    Args:
        decoder: the layer, without RoPE.
        alpha: the cosine.
        n: number of tokens.
        layers: number of layers, at least 2: in layer 1 all scores of different tokens are alpha.
        dim: the width, where the decoder depends on it.
        json_path: where to write a certificate.

    Raises:
        InvalidInput: a parameter is out of range, or no certificate can hold it.
    """
    if layers < 2:
        raise InvalidInput(f"--layers {layers}", "layers >= 2", "layer 1 scores every other token alike")
    order = Order(n, tuple(range(2, layers + 1)), decoder, alpha, dim)
    found = steps(order, cap=_CAP)
    if json_path is not None:
        certificate.write(certificate.steps_certificate(order, found), json_path)
    return "\n".join(_line(layer, found) for layer in order.layers)


def _line(layer: int, found: Steps) -> str:
    counts = [sum(pair[0] == layer for pair in pairs) for pairs in (found.rising, found.falling, found.open)]
    text = f"layer {layer}: of {sum(counts)} adjacent pairs {counts[0]} proved increasing, {counts[1]} decreasing"
    text += f", {counts[2]} undecided"
    first = min((pair for pair in found.falling if pair[0] == layer), default=None)
    return text if first is None else f"{text}; first decrease at i = {first[1]}, from j = {first[2]} to {first[2] + 1}"
