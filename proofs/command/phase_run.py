"""What ``maskproof phase`` does: a survey as typed, saved as it goes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from maskproof.numerics.certify import Box, Order
from maskproof.numerics.series import Interval
from maskproof.proofs.command import arguments, options, phase_files
from maskproof.proofs.command.console import show
from maskproof.proofs.command.score_files import check_plot
from maskproof.proofs.maps import certificate, phase
from maskproof.proofs.maps.certificate import Survey
from maskproof.proofs.shown.files import check_writable
from maskproof.theory.errors import InvalidInput
from maskproof.theory.values import as_fraction

_MOST_LAYERS = 32


@dataclass(frozen=True)
class Files:
    """Where the survey goes: its certificate, its numbers, a picture."""

    certificate: Path | None
    numbers: Path | None
    picture: Path | None


def run(
    n: str,
    layers: str,
    parameters: Mapping[str, str],
    model: Mapping[str, str],
    dim: str | None,
    resolution: str | None,
    lengths: str | None,
    degree: str | None,
    workers: str,
    seconds: str | None,
    files: Files,
) -> int:
    """Make the survey; everything is as typed. The options are described in ``phase_command``."""
    if files.numbers is not None:
        phase_files.check_out(files.numbers)
        check_writable(files.numbers, "--out")
    if files.picture is not None:
        check_plot(files.picture)
        check_writable(files.picture, "--plot")
    box, values = _parameters(parameters)
    order = Order(
        arguments.whole(n, "--n", least=2),
        layer_list(layers),
        arguments.decoder(values["beta"], values["residual"], model["norm"], model["scale"], model["mask"], None, "64"),
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
    printed = options.is_standard_output(files.certificate)
    kept = None if printed else files.certificate
    if files.certificate is not None:
        certificate.map_certificate(survey)  # refuses what no certificate can hold, before any work
    if kept is not None:
        check_writable(kept, "--json")
        if kept.exists():
            survey = certificate.resume(kept, survey)
    limit = float("inf") if seconds is None else arguments.positive(seconds, "--seconds")
    count = arguments.whole(workers, "--workers", most=os.cpu_count() or 1)
    with _progress() as report:
        survey = phase.advance(survey, count, limit, report, _saver(kept))
    if printed:
        show(certificate.text(certificate.map_certificate(survey)).rstrip())
    else:
        show(phase_files.summary(survey))
        if survey.open:
            show(f"unfinished: {len(survey.open)} boxes are open" + ("; repeat the command" if kept else ""))
    if files.numbers is not None:
        phase_files.write(survey, files.numbers)
    if files.picture is not None:
        phase_files.plot([survey], files.picture)
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


def _parameters(typed: Mapping[str, str]) -> tuple[Box, dict[str, str]]:
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
    return as_fraction(arguments.number(text, option))


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
