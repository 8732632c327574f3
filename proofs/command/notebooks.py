"""``maskproof notebooks``: run the proof notebooks and compare what they show with what is committed."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any

import typer

from maskproof.proofs.command.console import Watch, show
from maskproof.theory.errors import InvalidInput

_AT_ONCE = 4  # at most: a kernel takes some hundred megabytes


def register(app: typer.Typer) -> None:
    """Add the command ``notebooks`` to the application."""
    app.command("notebooks")(notebooks_command)


def notebooks_command(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME", help="A notebook by name, topic or number; all of them without any."),
    ] = None,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="DIR", help="Write the notebooks as they ran to DIR as HTML.")
    ] = None,
    accept: Annotated[bool, typer.Option("--accept", help="Write the new outputs into the notebooks.")] = False,
) -> int:
    """Run proof notebooks, each from a clean kernel.

    Fails when a cell raises an error, or prints or draws something else than
    what the notebook holds.
    """
    from maskproof.proofs.shown import drawing

    _require_jupyter()
    drawing.require_matplotlib("notebooks")
    from maskproof.proofs.shown import notebook_run

    committed = {path: notebook_run.read(path) for path in notebook_run.notebooks(names or [])}
    if html is not None:
        notebook_run.prepare_html(html)
    fresh, failed = {}, 0
    with (
        _Progress(committed) as progress,
        closing(notebook_run.run_each(committed, progress.moved, _at_once())) as results,
    ):
        for path, result in results:
            if isinstance(result, notebook_run.Failed):
                failed += 1
                show(f"FAILED  {result}")
                continue
            fresh[path] = result
            failed += _settled(path, committed[path], result, accept)
    if html is not None:
        notebook_run.write_html(fresh, html)
        show(f"wrote {len(fresh)} pages to {html}")
    return int(failed > 0)


def _settled(path: Path, committed: Any, fresh: Any, accept: bool) -> int:
    """Say how a notebook that ran compares with the file, or write it; 1 if it is stale."""
    from maskproof.proofs.shown import notebook_run

    if accept:
        show(f"{'written' if notebook_run.accept(path, committed, fresh) else 'ok':7} {path.stem}")
        return 0
    lines = notebook_run.stale(committed, fresh)
    if lines:
        show(f"STALE   {path.stem}", *(f"        {line}" for line in lines))
        show("        if it is right: maskproof notebooks --accept")
    else:
        show(f"ok      {path.stem}")
    return int(bool(lines))


class _Progress:
    """A bar that counts cells, and says at which cell each running notebook is."""

    def __init__(self, committed: Mapping[Path, Any]) -> None:
        self.cells = {path: len(notebook.cells) for path, notebook in committed.items()}
        self.done = dict.fromkeys(self.cells, 0)
        self.started: set[Path] = set()
        self.watch = Watch(sum(self.cells.values()), "starting kernels")

    def __enter__(self) -> _Progress:
        self.watch.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self.watch.__exit__()

    def moved(self, path: Path, done: int) -> None:
        """So many cells of this notebook are done."""
        self.started.add(path)
        self.done[path] = done
        running = sorted(path for path in self.started if self.done[path] < self.cells[path])
        names = {path: path.stem if len(running) < 3 else path.stem.split("_")[0] for path in running}
        words = ", ".join(f"{names[path]} {self.done[path] + 1}/{self.cells[path]}" for path in running)
        self.watch.show(words or "finishing", sum(self.done.values()))


def _at_once() -> int:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(_AT_ONCE, cores)


def _require_jupyter() -> None:
    try:
        import ipykernel  # noqa: F401
        import nbclient  # noqa: F401
        import nbconvert  # noqa: F401
    except ImportError as error:
        raise InvalidInput(
            "notebooks without Jupyter's libraries",
            "'nbclient, nbconvert and ipykernel are installed'",
            "install them with: pip install 'maskproof[notebooks]'",
        ) from error
