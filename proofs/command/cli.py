"""The command ``maskproof``: one file a command, and what all have in common.

Exit status: 0 all verdicts as recorded (for a user's file: none REFUTED or UNKNOWN), 1 otherwise,
2 unusable input, told in one line on standard error.

Each command imports what it needs when it runs: --help and the list of claims need not wait for the engines.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from maskproof.proofs.command import (
    audit,
    derive,
    export,
    figures,
    formal,
    listing,
    new,
    notebooks,
    phase,
    scores,
    show,
    verify,
)
from maskproof.proofs.command.complaints import internal, refuse, say
from maskproof.proofs.processes import limits
from maskproof.theory.errors import InvalidInput

app = typer.Typer(
    name="maskproof",
    help="Check claims about the positional information that attention masks put into scores.",
    epilog="Exit status: 0 all verdicts as recorded, 1 otherwise, 2 unusable input.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80},
)
for command in (verify, new, listing, show, derive, scores, export, phase, figures, formal, notebooks, audit):
    command.register(app)


def _print_version(asked: bool) -> None:
    if asked:
        print(f"maskproof {_version()}")
        raise typer.Exit


@app.callback()
def _every_command(
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Print the version and exit.")
    ] = False,
) -> None:
    pass


def _version() -> str:
    from importlib import metadata

    try:
        return metadata.version("maskproof")
    except metadata.PackageNotFoundError:  # a checkout that is not installed
        return "(not installed)"


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command line and exit; every error is one line, never a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without Unicode gets "?", not an error
    status = run(argv)
    if status > 128:  # asked to end: threads that are still at work are not waited for
        os._exit(status)
    sys.exit(status)


def run(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit status."""
    if sys.stderr is None or sys.stderr.closed:
        return 2  # there is nowhere to say so
    if sys.stdout is None or sys.stdout.closed:
        return refuse("standard output violates 'it is open'; send it to a file or to a program")
    try:
        with limits.stoppable():
            status = app(args=None if argv is None else list(argv), prog_name="maskproof", standalone_mode=False)
            sys.stdout.flush()
        return status if isinstance(status, int) else 0
    except BrokenPipeError:  # the reader of the pipe has gone: nothing is left to say
        _drop_output()
        return 1
    except (KeyboardInterrupt, typer.Abort):
        return say("interrupted", 130)
    except limits.Stopped as stopped:
        return say(str(stopped), stopped.status)
    except InvalidInput as error:
        return refuse(str(error))
    except MemoryError:
        return refuse("the numbers violate 'they fit into memory'; use fewer tokens or layers, or smaller exponents")
    except OSError as error:
        _drop_output()
        return refuse(f"the output violates 'it can be written'; {error.strerror or error}")
    except Exception as error:
        if hasattr(error, "format_message"):  # a usage error of the option parser
            return refuse(_usage(error))
        if os.environ.get("MASKPROOF_DEBUG"):
            raise
        return refuse(internal(f"{type(error).__name__}: {error}"))


def _drop_output() -> None:
    """Send what is left of the output nowhere: writing it when the process ends would fail once more."""
    with contextlib.suppress(OSError):  # it is no file
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _usage(error: Any) -> str:
    """The option parser's message in one line, with where to find help."""
    message = " ".join(str(error.format_message()).split()).rstrip(".")
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "maskproof"
    return f"{message or 'a command is missing'}; see {command} --help"


if __name__ == "__main__":
    main()
