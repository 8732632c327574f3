"""``maskproof scores``: what every layer gives every query and key, in the limit or in expectation."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from maskproof.proofs.command import options
from maskproof.proofs.command.complaints import say
from maskproof.proofs.command.console import sampling_progress, show
from maskproof.proofs.shown.files import check_writable
from maskproof.theory.errors import InvalidInput

if TYPE_CHECKING:
    from maskproof.proofs.command.certified_steps import Certified
    from maskproof.theory.decoder import Decoder

DEFAULT_SAMPLES = 10_000
_LARGEST = 10**8  # numbers in one array; the recursion holds a few such arrays


def register(app: typer.Typer) -> None:
    """Add the command ``scores`` to the application."""
    app.command("scores")(scores_command)


def scores_command(
    n: options.Tokens,
    layers: Annotated[str, typer.Option("--layers", metavar="L", help="Number of layers.")],
    alpha: Annotated[str, typer.Option("--alpha", metavar="A", help="Correlation of the inputs.")] = "0",
    beta: Annotated[str, typer.Option("--beta", metavar="B", help="Inverse temperature, >= 0.")] = "1",
    residual: Annotated[str, typer.Option("--residual", metavar="R", help="Residual weight, >= 0.")] = "1",
    norm: options.Norm = "l2",
    scale: options.Scale = "1",
    mask: options.Mask = "causal",
    rope: Annotated[str | None, typer.Option("--rope", metavar="BASE", help="Rotary embedding with this base.")] = None,
    head_dim: Annotated[
        str | None, typer.Option("--head-dim", metavar="D", help="Width of a head, for --rope; 64 by default.")
    ] = None,
    dim: Annotated[
        str | None,
        typer.Option("--dim", metavar="D", help="Expectation over random inputs of this width, not the limit."),
    ] = None,
    samples: Annotated[
        str | None,
        typer.Option("--samples", metavar="N", help=f"Random inputs to average, {DEFAULT_SAMPLES} by default."),
    ] = None,
    seed: Annotated[str | None, typer.Option("--seed", metavar="N", help="Seed of the random inputs.")] = None,
    target_se: Annotated[
        str | None,
        typer.Option(
            "--target-se",
            metavar="E",
            help="Stop when every standard error is at most E, and fail if that is never so.",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Write all numbers to FILE.npz or FILE.csv.")
    ] = None,
    plot: options.Plot = None,
    certify: Annotated[
        bool, typer.Option("--certify", help="Prove for each adjacent pair of keys which scores higher (the limit).")
    ] = False,
    json_path: Annotated[
        Path | None,
        typer.Option(
            "--json", metavar="FILE", help="With --certify: write the certificate to FILE; - prints it alone."
        ),
    ] = None,
) -> int:
    """Compute the scores of every layer, query and key.

    The limit of infinite width by default; with --dim the expectation at that
    width over uniform unit vectors (mean cosine A), with standard errors.
    """
    from maskproof.proofs.command import arguments, score_files

    printed = options.is_standard_output(json_path)
    _check_outputs(out, plot, json_path if certify and not printed else None)
    if json_path is not None and not certify:
        raise InvalidInput("--json without --certify", "'only a certificate is written as JSON'", "use --out")
    if certify and dim is not None:
        raise InvalidInput("--certify with --dim", "'what is certified is the limit'", "drop one of them")
    if head_dim is not None and rope is None:
        raise InvalidInput("--head-dim without --rope", "'only RoPE has heads'", "add --rope 10000, or drop it")
    width_of_head = "64" if head_dim is None else head_dim.strip()
    tokens, depth = arguments.whole(n, "--n"), arguments.whole(layers, "--layers")
    if depth * tokens**2 > _LARGEST:
        raise InvalidInput(
            f"--n {tokens} with --layers {depth}", f"layers n^2 <= {_LARGEST}", "use fewer tokens or layers"
        )
    settings = {"n": str(tokens), "layers": str(depth), "alpha": str(arguments.number(alpha, "--alpha"))}
    settings |= {"beta": beta.strip(), "residual": residual.strip(), "norm": norm, "scale": scale.strip()}
    settings |= {"mask": mask.strip()}
    settings |= {} if rope is None else {"rope": rope.strip(), "head-dim": width_of_head}
    model = arguments.decoder(beta, residual, norm, scale, mask, rope, width_of_head)
    correlation = arguments.number(alpha, "--alpha")
    goal = None if target_se is None else arguments.positive(target_se, "--target-se")
    if dim is None:
        for option, value in (("--samples", samples), ("--seed", seed), ("--target-se", target_se)):
            if value is not None:
                raise InvalidInput(f"{option} without --dim", "'the limit has no samples'", "add --dim D, or drop it")
        table = _limit(model, correlation, tokens, depth, settings)
    else:
        width = arguments.whole(dim, "--dim")
        count = arguments.whole(str(DEFAULT_SAMPLES) if samples is None else samples, "--samples", least=2)
        start = arguments.whole("0" if seed is None else seed, "--seed", least=0, most=options.LAST_SEED)
        table = _expectation(model, (width, correlation), (tokens, depth), (count, start, goal), settings)
    certified = _certified(model, correlation, (tokens, depth), json_path is not None) if certify else None
    if out is not None:
        score_files.write(table, out)
    if plot is not None:
        score_files.plot(table, plot)
    if certified is None:
        show(score_files.plain(table))
    else:
        _show_certified(certified, None if printed else score_files.plain(table), json_path)
    if goal is not None and table.largest_error > goal:
        found = f"the largest standard error is {table.largest_error:.2g}"
        return say(f"{found}, above --target-se {goal:g}; raise --samples", 1)
    return 0


def _certified(model: Decoder, alpha: Any, size: tuple[int, int], written: bool) -> Certified:
    from maskproof.proofs.command.certified_steps import certified_steps

    found = certified_steps(model, alpha, *size)
    if written:
        found.certificate()  # what no certificate can hold is refused before any file is written
    return found


def _show_certified(certified: Certified, table: str | None, path: Path | None) -> None:
    """Write the certificate, and print what it says below the table; without a table the certificate alone."""
    from maskproof.proofs.maps import certificate

    if table is None:
        show(certificate.text(certified.certificate()).rstrip())
        return
    if path is not None:
        certificate.write(certified.certificate(), path)
    show(table, "", certified.text)


def _check_outputs(out: Path | None, plot: Path | None, json_path: Path | None) -> None:
    """Refuse, before any work, files that could not be written."""
    from maskproof.proofs.command import score_files

    if out is not None:
        score_files.check_out(out)
        check_writable(out, "--out")
    if plot is not None:
        score_files.check_plot(plot)
        check_writable(plot, "--plot")
    if json_path is not None:
        check_writable(json_path, "--json")


def _limit(model: Any, alpha: Any, n: int, layers: int, settings: dict[str, str]) -> Any:
    from maskproof.numerics import mean_field
    from maskproof.proofs.command.score_files import Table

    if model.needs_width:
        raise InvalidInput(
            f"--norm {model.norm} with --scale {model.scale} and no width",
            "'a layer that depends on the width is given one'",
            "add --dim D",
        )
    field = mean_field(model, alpha, n, layers)
    return Table({"scores": field.scores, "weights": field.weights, "gram": field.gram}, settings)


def _expectation(
    model: Any, law: tuple[int, Any], size: tuple[int, int], run: tuple[int, int, float | None], settings: Any
) -> Any:
    from maskproof.numerics.monte_carlo import expected_scores
    from maskproof.proofs.command.score_files import Table
    from maskproof.theory.inputs import Sphere

    (width, alpha), (n, layers), (samples, seed, goal) = law, size, run
    bar, moved = sampling_progress(samples)
    with bar:
        found = expected_scores(model, Sphere(width, alpha), n, layers, samples, seed, target_se=goal, progress=moved)
    facts = {**settings, "dim": str(width), "samples": str(found.samples), "seed": str(seed)}
    return Table({"mean": found.mean, "standard_error": found.standard_error}, facts)
