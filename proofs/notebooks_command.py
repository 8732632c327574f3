"""``maskproof notebooks``: run the proof notebooks and compare what they print with what is committed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from proofs import drawing
from proofs.report import Watch, show
from theory.errors import InvalidInput


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
    _require_jupyter()
    drawing.require_matplotlib("notebooks")
    from proofs import notebook_run

    paths = notebook_run.notebooks(names or [])
    fresh, failed = {}, 0
    with Watch(len(paths), "running") as watch:
        for done, path in enumerate(paths):
            try:
                made = notebook_run.run(
                    path, lambda cell, of, at=done, name=path.stem: watch.show(f"{name}: cell {cell} of {of}", at)
                )
            except notebook_run.Failed as error:
                failed += 1
                show(f"FAILED  {error}")
                continue
            fresh[path.stem] = made
            failed += _settled(path, made, accept)
    if html is not None:
        notebook_run.write_html(fresh, html)
        show(f"wrote {len(fresh)} pages to {html}")
    return int(failed > 0)


def _settled(path: Path, made: object, accept: bool) -> int:
    """Say how a notebook that ran compares with the file, or write it; 1 if it is stale."""
    from proofs import notebook_run

    lines = notebook_run.stale(notebook_run.read(path), made)
    if accept and lines:
        notebook_run.accept(path, made)
        show(f"written {path.stem}")
    elif lines:
        show(f"STALE   {path.stem}", *(f"        {line}" for line in lines))
        show("        if it is right: maskproof notebooks --accept")
    else:
        show(f"ok      {path.stem}")
    return int(bool(lines) and not accept)


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
