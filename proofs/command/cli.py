"""The command ``maskproof``.

Exit status: 0 all verdicts as recorded (for a user's file: none REFUTED or UNKNOWN), 1 otherwise,
2 unusable input, told in one line on standard error.

Each command imports what it needs when it runs: --help and the list of claims need not wait for the engines.
"""

from __future__ import annotations

import io
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from maskproof.proofs import registry
from maskproof.proofs.command.console import Watch, sampling_progress, show
from maskproof.proofs.processes import limits
from maskproof.proofs.processes.limits import Limit, Output
from maskproof.proofs.shown.files import check_writable, write_text
from maskproof.proofs.verdict import Verdict
from maskproof.theory.errors import InvalidInput

if TYPE_CHECKING:
    from maskproof.proofs.processes.supervision import Load, Outcome
    from maskproof.proofs.shown.report import Row
    from maskproof.theory.claim import Claim

DEFAULT_SAMPLES = 10_000
_LARGEST = 10**8  # numbers in one array of ``scores``; the recursion holds a few such arrays

app = typer.Typer(
    name="maskproof",
    help="Check claims about the positional information that attention masks put into scores.",
    epilog="Exit status: 0 all verdicts as recorded, 1 otherwise, 2 unusable input.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80},
)


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command line and exit; every error is one line, never a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without Unicode gets "?", not an error
    sys.exit(run(argv))


def run(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit status."""
    if sys.stderr is None or sys.stderr.closed:
        return 2  # there is nowhere to say so
    if sys.stdout is None or sys.stdout.closed:
        return _refuse("standard output violates 'it is open'; send it to a file or to a program")
    try:
        with limits.stoppable():
            status = app(args=None if argv is None else list(argv), prog_name="maskproof", standalone_mode=False)
            sys.stdout.flush()
        return status if isinstance(status, int) else 0
    except BrokenPipeError:  # the reader of the pipe has gone: nothing is left to say
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (KeyboardInterrupt, typer.Abort):
        return 130
    except limits.Stopped as stopped:
        return stopped.status
    except InvalidInput as error:
        return _refuse(str(error))
    except MemoryError:
        return _refuse("the numbers violate 'they fit into memory'; use fewer tokens or layers, or smaller exponents")
    except OSError as error:
        return _refuse(f"the output violates 'it can be written'; {error.strerror or error}")
    except Exception as error:
        if hasattr(error, "format_message"):  # a usage error of the option parser
            return _refuse(_usage(error))
        if os.environ.get("MASKPROOF_DEBUG"):
            raise
        return _refuse(_internal(f"{type(error).__name__}: {error}"))


def _internal(error: str) -> str:
    return f"internal error {error}; set MASKPROOF_DEBUG=1 to see where"


def _refuse(message: str) -> int:
    print(f"maskproof: {' '.join(message.split())}", file=sys.stderr)
    return 2


def _usage(error: Any) -> str:
    """The option parser's message in one line, with where to find help."""
    message = " ".join(str(error.format_message()).split()).rstrip(".")
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "maskproof"
    return f"{message or 'a command is missing'}; see {command} --help"


# -- commands with a file of their own -----------------------------------------------------------


def _register() -> None:
    from maskproof.proofs.command import audit as audit_command
    from maskproof.proofs.command import export as export_command
    from maskproof.proofs.command import figures as figures_command
    from maskproof.proofs.command import formal as formal_command
    from maskproof.proofs.command import notebooks as notebooks_command
    from maskproof.proofs.command import phase as phase_command

    export_command.register(app)
    phase_command.register(app)
    figures_command.register(app)
    formal_command.register(app)
    notebooks_command.register(app)
    audit_command.register(app)


# -- verify ------------------------------------------------------------------------------------


@app.command("verify")
def verify_command(
    targets: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[ID ... | FILE.py ...]",
            help="Claims to check, or Python files with a list `claims`; without any, every shipped claim.",
        ),
    ] = None,
    json_path: Annotated[
        Path | None,
        typer.Option("--json", metavar="FILE", help="Also write results and evidence to FILE; - prints them alone."),
    ] = None,
    timeout: Annotated[
        str, typer.Option("--timeout", metavar="S", help="Seconds that a claim, or loading a file, may take.")
    ] = "60",
    memory: Annotated[
        str, typer.Option("--memory", metavar="MB", help="Memory that it may take, in units of 10^6 bytes.")
    ] = "2000",
    seed: Annotated[str, typer.Option("--seed", metavar="N", help="Seed of every random number.")] = "0",
    accept: Annotated[bool, typer.Option("--accept", help="Record the verdicts found (shipped claims only).")] = False,
) -> int:
    """Check claims and print a verdict for each, with its reason or a counterexample.

    PROVED: an exact argument covers the whole domain. ENCLOSED: ball arithmetic
    certifies every point. SAMPLED: nothing found against it. REFUTED: a certified
    counterexample. UNKNOWN: none of these.
    """
    from maskproof.proofs.command import arguments
    from maskproof.proofs.command.targets import gather, is_file
    from maskproof.proofs.shown.report import as_json, summary, verdict_table

    number = arguments.whole(seed, "--seed", least=0, most=2**63 - 1)
    limit = arguments.limit(timeout, memory)
    printed = json_path is not None and str(json_path) == "-"
    if json_path is not None and not printed:
        check_writable(json_path, "--json")
    known, record = _known(accept)
    if accept and any(map(is_file, targets or [])):
        raise InvalidInput("--accept with a file", "'only shipped claims have recorded verdicts'", "drop one")
    started = time.monotonic()
    load = partial(gather, targets or [], known)
    rows = _check(load, number, record, limit, Output.ASIDE if printed else Output.KEPT)
    if printed:
        show(as_json(rows, number).rstrip())
    else:
        show(verdict_table(rows), "", summary(rows, time.monotonic() - started))
    if json_path is not None and not printed:
        write_text(json_path, as_json(rows, number), "--json")
    errors = [row.error for row in rows if row.error]
    for error in errors:
        _refuse(error)
    results = [row.result for row in rows if row.result is not None]
    if errors:
        return 2
    if accept:
        registry.accept(results)
        if not printed:
            show(f"recorded {len(results)} verdicts")
        return 0
    lines = registry.differences([result for result in results if result.id in known], record)
    if not printed:  # it has both verdicts of each claim
        show(*lines)
    own = [result.verdict for result in results if result.id not in known]
    return int(bool(lines) or any(verdict in (Verdict.REFUTED, Verdict.UNKNOWN) for verdict in own))


def _known(accept: bool) -> tuple[dict[str, Claim], dict[str, dict[str, Any]]]:
    """The shipped claims by id, and the record of their verdicts."""
    try:
        record = registry.recorded()
    except InvalidInput:
        if not accept:  # then the record is about to be written anew
            raise
        record = {}
    return {claim.id: claim for claim in registry.shipped()}, record


def _check(load: Load, seed: int, record: Mapping[str, Mapping[str, Any]], limit: Limit, output: Output) -> list[Row]:
    """A row for each claim; one that is malformed, or runs wild, does not keep the others from being checked."""
    from maskproof.proofs.processes.supervision import Supervised, Unsupervised

    def chosen() -> Supervised | Unsupervised:
        if not limits.SUPPORTED or os.environ.get("MASKPROOF_DEBUG"):
            return Unsupervised(load, seed)
        return Supervised(load, seed, limit, output=output)

    rows = []
    with closing(chosen()) as claims:
        outcomes = claims.outcomes()
        with Watch(len(claims.ids)) as watch:
            for done, name in enumerate(claims.ids):
                watch.show(name, done)
                verdict = record.get(name, {}).get("verdict")
                recorded = None if verdict is None else str(verdict)
                rows.append(replace(_row(name, next(outcomes)), recorded=recorded))
    return rows


def _row(name: str, outcome: Outcome) -> Row:
    from maskproof.proofs.processes.supervision import Broken
    from maskproof.proofs.shown.report import Row

    if isinstance(outcome, Broken):
        return Row(name, error=f"claim {name}: {_internal(outcome.message)}")
    if isinstance(outcome, Exception):
        return Row(name, error=str(outcome))
    return Row(name, outcome)


# -- list, derive ------------------------------------------------------------------------------


@app.command("list")
def list_command() -> int:
    """List the shipped claims with their recorded verdicts."""
    from maskproof.proofs.command.listing import claim_table

    show(claim_table(registry.shipped(), registry.recorded(), registry.statements()))
    return 0


@app.command("derive")
def derive_command(
    topic: Annotated[str, typer.Argument(metavar="TOPIC", help="What to derive, such as layer-two.")],
    form: Annotated[str, typer.Option("--format", metavar="text|latex", help="How to print it.")] = "text",
) -> int:
    """Print a derivation: every step with the rule and the earlier steps that give it."""
    from maskproof.proofs.command import arguments
    from maskproof.proofs.command.export import rules
    from maskproof.theory.export import derivation_latex, derivation_text
    from maskproof.theory.topics import TOPICS

    formats: dict[str, Callable[..., str]] = {"text": derivation_text, "latex": derivation_latex}
    if form not in formats:
        raise InvalidInput(f"--format {arguments.shown(form)}", "'the format is known'", "use text or latex")
    if topic not in TOPICS:
        raise InvalidInput(
            f"topic {arguments.shown(topic)}", "'there is such a derivation'", f"use {', '.join(TOPICS)}"
        )
    show(formats[form](TOPICS[topic], rules()))
    return 0


# -- scores ------------------------------------------------------------------------------------


@app.command("scores")
def scores_command(
    n: Annotated[str, typer.Option("--n", metavar="N", help="Number of tokens.")],
    layers: Annotated[str, typer.Option("--layers", metavar="L", help="Number of layers.")],
    alpha: Annotated[str, typer.Option("--alpha", metavar="A", help="Correlation of the inputs.")] = "0",
    beta: Annotated[str, typer.Option("--beta", metavar="B", help="Inverse temperature, >= 0.")] = "1",
    residual: Annotated[str, typer.Option("--residual", metavar="R", help="Residual weight, >= 0.")] = "1",
    norm: Annotated[str, typer.Option("--norm", metavar="NORM", help="l2, layernorm or none.")] = "l2",
    scale: Annotated[
        str, typer.Option("--scale", metavar="S", help="What scores are divided by: a number, sqrt(d) or d.")
    ] = "1",
    mask: Annotated[
        str, typer.Option("--mask", metavar="MASK", help="causal, bidirectional, window:W or prefix:L.")
    ] = "causal",
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
    plot: Annotated[Path | None, typer.Option("--plot", metavar="FILE", help="Draw a heat map into FILE.png.")] = None,
    certify: Annotated[
        bool, typer.Option("--certify", help="Prove for each adjacent pair of keys which scores higher (the limit).")
    ] = False,
    json_path: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="With --certify: write the certificate to FILE.")
    ] = None,
) -> int:
    """Compute the scores of every layer, query and key.

    The limit of infinite width by default; with --dim the expectation at that
    width over uniform unit vectors (mean cosine A), with standard errors.
    """
    from maskproof.proofs.command import arguments, scores

    _check_outputs(out, plot, json_path if certify else None)
    if json_path is not None and not certify:
        raise InvalidInput("--json without --certify", "'only a certificate is written as JSON'", "use --out")
    if certify and dim is not None:
        raise InvalidInput("--certify with --dim", "'what is certified is the limit'", "drop one of them")
    if head_dim is not None and rope is None:
        raise InvalidInput("--head-dim without --rope", "'only RoPE has heads'", "add --rope 10000, or drop it")
    width_of_head = head_dim or "64"
    tokens, depth = arguments.whole(n, "--n"), arguments.whole(layers, "--layers")
    if depth * tokens**2 > _LARGEST:
        raise InvalidInput(
            f"--n {tokens} with --layers {depth}", f"layers n^2 <= {_LARGEST}", "use fewer tokens or layers"
        )
    settings = {"n": str(tokens), "layers": str(depth), "alpha": str(arguments.number(alpha, "--alpha"))}
    settings |= {"beta": beta.strip(), "residual": residual.strip(), "norm": norm, "scale": scale, "mask": mask}
    settings |= {} if rope is None else {"rope": rope, "head-dim": width_of_head}
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
        count = arguments.whole(samples or str(DEFAULT_SAMPLES), "--samples", least=2)
        start = arguments.whole(seed or "0", "--seed", least=0, most=2**63 - 1)
        table = _expectation(model, (width, correlation), (tokens, depth), (count, start, goal), settings)
    if out is not None:
        scores.write(table, out)
    if plot is not None:
        scores.plot(table, plot)
    show(scores.plain(table))
    if certify:
        from maskproof.proofs.command.certified_steps import certified_steps

        show("", certified_steps(model, correlation, tokens, depth, json_path=json_path))
    if goal is not None and table.largest_error > goal:
        say = f"the largest standard error is {table.largest_error:.2g}, above --target-se {goal:g}; raise --samples"
        print(f"maskproof: {say}", file=sys.stderr)
        return 1
    return 0


def _check_outputs(out: Path | None, plot: Path | None, json_path: Path | None) -> None:
    """Refuse, before any work, files that could not be written."""
    from maskproof.proofs.command import scores

    if out is not None:
        scores.check_out(out)
        check_writable(out, "--out")
    if plot is not None:
        scores.check_plot(plot)
        check_writable(plot, "--plot")
    if json_path is not None:
        check_writable(json_path, "--json")


def _limit(model: Any, alpha: Any, n: int, layers: int, settings: dict[str, str]) -> Any:
    from maskproof.numerics import mean_field
    from maskproof.proofs.command.scores import Table

    if isinstance(model.scale, str) or model.norm == "layernorm":
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
    from maskproof.proofs.command.scores import Table
    from maskproof.theory.inputs import Sphere

    (width, alpha), (n, layers), (samples, seed, goal) = law, size, run
    bar, moved = sampling_progress(samples)
    with bar:
        found = expected_scores(model, Sphere(width, alpha), n, layers, samples, seed, target_se=goal, progress=moved)
    facts = {**settings, "dim": str(width), "samples": str(found.samples), "seed": str(seed)}
    return Table({"mean": found.mean, "standard_error": found.standard_error}, facts)


_register()

if __name__ == "__main__":
    main()
