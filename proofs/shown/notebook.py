"""Claims and results in a notebook: as HTML and LaTeX, with a progress bar while they are verified."""

from __future__ import annotations

import html
import importlib.util
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from maskproof.proofs.command.console import STATIC
from maskproof.proofs.shown.report import reason, witness

if TYPE_CHECKING:
    from maskproof.proofs.verdict import Result

_STYLE = {"PROVED": "#1a7f37", "ENCLOSED": "#1a7f37", "SAMPLED": "#9a6700", "REFUTED": "#cf222e", "UNKNOWN": "#8250df"}


def results_html(results: Sequence[Result]) -> str:
    """A table: claim, verdict, reason with the witness before it."""
    rows = "".join(
        f"<tr><td><code>{html.escape(result.id)}</code></td>"
        f'<td style="color: {_STYLE[result.verdict]}"><b>{result.verdict}</b></td>'
        f'<td style="text-align: left">{html.escape(_because(result))}</td></tr>'
        for result in results
    )
    return f"<table><thead><tr><th>claim</th><th>verdict</th><th>because</th></tr></thead><tbody>{rows}</tbody></table>"


def results_latex(results: Sequence[Result]) -> str:
    r"""The ids with their verdicts and witnesses, as an array that MathJax sets."""
    rows = [
        rf"\texttt{{{_typed(result.id)}}} & \text{{{result.verdict}}} & \text{{{_typed(witness(result.witness))}}}"
        for result in results
    ]
    body = r" \\ ".join(rows)
    return rf"$$\begin{{array}}{{lll}} {body} \end{{array}}$$"


def _because(result: Result) -> str:
    point = f"at {witness(result.witness)}: " if result.witness else ""
    return point + reason(result)


def _typed(text: str) -> str:
    return "".join(f"\\{sign}" if sign in "#$%&_{}" else sign for sign in text)


def in_notebook() -> bool:
    """Whether this process is the kernel of a notebook whose output may change from run to run."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return type(shell).__name__ == "ZMQInteractiveShell" and not os.environ.get(STATIC)


@contextmanager
def progress(total: int) -> Iterator[Callable[[str, int], None]]:
    """A bar while claims are verified, a line of text where Jupyter's widgets are not installed.

    Gives a function to call with a claim's id and the number of claims done.
    """
    if importlib.util.find_spec("ipywidgets") is None:
        yield lambda name, done: print(f"\r{done + 1} of {total}: {name:60}", end="", file=sys.stderr)
        print(f"\r{'':80}\r", end="", file=sys.stderr)
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, transient=True) as bar:
        task = bar.add_task("verifying", total=total)
        yield lambda name, done: bar.update(task, description=name, completed=done)
