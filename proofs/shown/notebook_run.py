"""Running the proof notebooks from clean kernels, and comparing what they show with what is committed."""

from __future__ import annotations

import asyncio
import base64
import copy
import difflib
import io
import os
import re
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np

from maskproof.proofs.command.console import STATIC
from maskproof.proofs.shown.files import write_text
from maskproof.theory.errors import InvalidInput

FOLDER = Path(__file__).parents[1] / "notebooks"
TIMEOUT = 600  # seconds a cell may take before it counts as stuck
BLOCK, SAME_BLOCK = 8, 0.12  # pixels, and the difference of their means, from 0 to 1, that rounding and fonts may make

Notebook = Any  # nbformat.NotebookNode, which carries no types
Moved = Callable[[Path, int], object]


def notebooks(names: Sequence[str] = ()) -> list[Path]:
    """The notebooks meant by ``names``: by file name, number or topic; all of them for no name.

    Raises:
        InvalidInput: a name means none, or there are none.

    >>> [path.stem for path in notebooks(["2"])]
    ['02_layer_two']
    """
    paths = sorted(FOLDER.glob("[0-9][0-9]_*.ipynb"))
    if not paths:
        raise InvalidInput(f"folder {FOLDER.name}", "'it holds the proof notebooks'", "install maskproof again")
    return sorted({_meant(name, paths) for name in names}) if names else paths


def _meant(name: str, paths: Sequence[Path]) -> Path:
    wanted = Path(name).name.removesuffix(".ipynb").lower().replace("-", "_")
    elsewhere = Path(name).name != name and Path(name).resolve() not in paths
    for path in paths:
        number, topic = path.stem.split("_", 1)
        if wanted in (path.stem, topic, number, number.lstrip("0")) and not elsewhere:
            return path
    words = [word for path in paths for word in (path.stem, path.stem.split("_", 1)[1])]
    close = difflib.get_close_matches(wanted, words, n=1)
    hint = f"did you mean {close[0]}? there are" if close else "use"
    raise InvalidInput(f"notebook {name!r}", "'there is such a notebook'",
                       f"{hint} {', '.join(path.stem for path in paths)}")  # fmt: skip


def read(path: Path) -> Notebook:
    """The notebook in a file.

    Raises:
        InvalidInput: the file cannot be read, or is no notebook.
    """
    import nbformat
    from nbformat.reader import NotJSONError, reads

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # what nbformat warns about it will refuse one day
            notebook = reads(path.read_text(encoding="utf-8"))
            if notebook.nbformat != 4:
                raise ValueError(f"format {notebook.nbformat}")
            nbformat.validate(notebook)
        return notebook
    except (OSError, ValueError, KeyError, AttributeError, TypeError, NotJSONError,
            nbformat.ValidationError, Warning) as error:  # fmt: skip
        raise InvalidInput(f"notebook {path.name} ({' '.join(str(error).split())[:100]})",
                           "'it is a Jupyter notebook'", "restore it") from None  # fmt: skip


# Running


class Failed(Exception):
    """A cell of a notebook raised an error; the message names notebook, cell and error."""


def run(path: Path, moved: Moved = lambda *_: None) -> Notebook:
    """Run one notebook; see ``run_each``.

    Raises:
        Failed: a cell raised an error.
        InvalidInput: the file is no notebook.
    """
    ((_, result),) = run_each({path: read(path)}, moved)
    if isinstance(result, Failed):
        raise result
    return result


def run_each(
    committed: Mapping[Path, Notebook], moved: Moved = lambda *_: None, at_once: int = 1
) -> Generator[tuple[Path, Notebook | Failed], None, None]:
    """Run notebooks, each from a clean kernel in an empty folder.

    The kernels run until the iterator is closed, at the latest; an interrupt closes it.

    Args:
        committed: the notebooks by file; they stay as they are.
        moved: called, from another thread, with the file and the number of its cells that are done.
        at_once: how many may run at the same time.

    Yields:
        File by file, in order, the notebook with its new outputs and nothing in it that depends on the machine or
        the time; or why it failed.
    """
    with _loop() as loop:
        gate = asyncio.Semaphore(at_once)

        async def one(path: Path, notebook: Notebook) -> Notebook:
            async with gate:
                return await _executed(path, notebook, moved)

        results = [asyncio.run_coroutine_threadsafe(one(*item), loop) for item in committed.items()]
        for path, result in zip(committed, results, strict=True):
            try:
                yield path, result.result()
            except Failed as failed:
                yield path, failed


@contextmanager
def _loop() -> Iterator[asyncio.AbstractEventLoop]:
    """An event loop in a thread of its own, so that an interrupt reaches the caller and not nbclient's handlers."""
    loop = asyncio.new_event_loop()
    thread = Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        yield loop
    finally:
        asyncio.run_coroutine_threadsafe(_cancelled(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _cancelled() -> None:
    """Stop what still runs, and wait until its kernels are gone."""
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def _executed(path: Path, notebook: Notebook, moved: Moved) -> Notebook:
    import nbclient
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
    from nbclient.util import ensure_async

    fresh, at = copy.deepcopy(notebook), 0

    def started(cell: Any, cell_index: int) -> None:
        nonlocal at
        at = cell_index + 1
        moved(path, cell_index)

    with tempfile.TemporaryDirectory(prefix="maskproof-") as folder:
        client = nbclient.NotebookClient(
            fresh,
            _kernel(folder),
            timeout=TIMEOUT,
            extra_arguments=["--log-level=ERROR"],
            shutdown_kernel="immediate",
            record_timing=False,
            coalesce_streams=True,
            resources={"metadata": {"path": folder}},
            on_cell_start=started,
        )
        try:
            # What cells print to it is captured; the rest is a kernel's complaint that it is ended while it starts.
            await client.async_execute(env=_environment(folder), cleanup_kc=True, stderr=subprocess.DEVNULL)
        except CellExecutionError as error:
            raise Failed(f"{path.stem}, cell {at}: {error.ename}: {_line(error.evalue)}") from None
        except (CellTimeoutError, DeadKernelError, RuntimeError) as error:
            raise Failed(f"{path.stem}, cell {at}: {_line(str(error))}") from None
        finally:
            kernel = client.km
            if kernel is not None and await ensure_async(kernel.is_alive()):  # interrupted while it started
                await ensure_async(kernel.shutdown_kernel(now=True))
    moved(path, len(fresh.cells))
    return _cleaned(fresh)


def _kernel(folder: str) -> Any:
    """A kernel of this Python, whatever others are installed; its sockets are files, so that nobody takes its ports."""
    from jupyter_client.kernelspec import KernelSpecManager
    from jupyter_client.manager import AsyncKernelManager

    connection = str(Path(folder) / "kernel.json")
    return AsyncKernelManager(
        kernel_spec_manager=KernelSpecManager(kernel_dirs=[]), transport="ipc", connection_file=connection
    )


def _environment(folder: str) -> dict[str, str]:
    """What a kernel inherits: no sliders, this Python's commands before others, no settings of the user's."""
    import matplotlib

    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    style = str(Path(matplotlib.get_data_path()) / "matplotlibrc")
    return {**os.environ, STATIC: "1", "PATH": path, "IPYTHONDIR": folder, "MATPLOTLIBRC": style}


def _line(text: str) -> str:
    return " ".join(text.split())


def _cleaned(notebook: Notebook) -> Notebook:
    """Without what differs between machines: versions of the interpreter, timings."""
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    for cell in notebook.cells:
        cell.metadata = {key: value for key, value in cell.metadata.items() if key in ("tags", "jupyter")}
    return notebook


# What is stale


_PNG = "image/png"


def stale(committed: Notebook, fresh: Notebook) -> list[str]:
    """What differs in the outputs: a line for each. Pictures may differ by what the eye does not see."""
    lines = []
    for number, (old, new) in enumerate(zip(committed.cells, fresh.cells, strict=True), start=1):
        before, now = _shown(old), _shown(new)
        if [kind for kind, _ in before] != [kind for kind, _ in now]:
            lines.append(f"cell {number} shows {_kinds(now)}, committed is {_kinds(before)}")
            continue
        for (kind, was), (_, value) in zip(before, now, strict=True):
            if kind == _PNG:
                if not _same_picture(was, value):
                    lines.append(f"cell {number} draws another picture than the committed one")
            elif was != value:
                lines.append(f"cell {number} prints {_first_difference(was, value)}")
    return lines


def _kinds(outputs: Sequence[tuple[str, str]]) -> str:
    return " and ".join(kind for kind, _ in outputs) or "nothing"


def _shown(cell: Any) -> list[tuple[str, str]]:
    """The outputs of a cell as (kind, content), in order, every representation; printed text in one piece.

    A representation as plain text counts only where there is no other, or a picture that it describes.
    """
    outputs: list[tuple[str, str]] = []
    for output in cell.get("outputs", []):
        if output.output_type == "stream":
            text = output.text
            if outputs and outputs[-1][0] == output.name:
                text = outputs.pop()[1] + text
            outputs.append((output.name, text))
        elif output.output_type == "error":
            outputs.append(("error", f"{output.ename}: {output.evalue}"))
        else:
            kinds = [kind for kind in sorted(output.data) if kind != "text/plain"]
            if "text/plain" in output.data and (not kinds or _PNG in kinds):
                kinds.append("text/plain")
            outputs += [(kind, str(output.data[kind])) for kind in kinds]
    return outputs


def _same_picture(one: str, other: str) -> bool:
    """Whether two PNG files look the same: blocks of pixels are compared, so that a line a hair aside passes."""
    if one.strip() == other.strip():
        return True
    a, b = map(_blocks, (one, other))
    return a.shape == b.shape and float(np.abs(a - b).max()) <= SAME_BLOCK


def _blocks(png: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Means over blocks of pixels, as they look on white; shape (rows, columns, 3)."""
    from matplotlib.image import imread

    pixels = np.asarray(imread(io.BytesIO(base64.b64decode(png)), format="png"), dtype=np.float64)
    if pixels.ndim == 2:
        pixels = np.repeat(pixels[..., None], 3, axis=-1)
    opaque = pixels[..., 3:] if pixels.shape[-1] == 4 else np.ones((*pixels.shape[:2], 1))
    seen = pixels[..., :3] * opaque + 1 - opaque
    height, width = (-(-size // BLOCK) * BLOCK for size in seen.shape[:2])
    padded = np.pad(seen, [(0, height - seen.shape[0]), (0, width - seen.shape[1]), (0, 0)], mode="edge")
    return padded.reshape(height // BLOCK, BLOCK, width // BLOCK, BLOCK, 3).mean(axis=(1, 3))


def _first_difference(before: str, now: str) -> str:
    old, new = before.splitlines(), now.splitlines()
    at = next((k for k, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    now_line, was_line = (lines[at] if at < len(lines) else None for lines in (new, old))
    differs = (k for k, (a, b) in enumerate(zip(now_line or "", was_line or "", strict=False)) if a != b)
    start = max(0, next(differs, 0) - 40)
    shown = [
        "nothing more" if line is None else f"{'...' if start else ''}{line[start : start + 120]!r}"
        for line in (now_line, was_line)
    ]
    return f"{shown[0]}, committed is {shown[1]}"


def accept(path: Path, committed: Notebook, fresh: Notebook) -> bool:
    """Write the new outputs into the file, if anything but invisible details changed; say whether it was written.

    Raises:
        InvalidInput: the file cannot be written, or somebody has changed it since it was read.
    """
    import nbformat

    if read(path) != committed:
        raise InvalidInput(f"notebook {path.name}", "'it stays as it is while it runs'", "run it again")
    kept = copy.deepcopy(fresh)
    for old, new in zip(committed.cells, kept.cells, strict=True):
        for before, now in zip(old.get("outputs", []), new.get("outputs", []), strict=False):
            was, value = (output.get("data", {}).get(_PNG, "") for output in (before, now))
            if was and value and _same_picture(was, value):
                now.data[_PNG] = was
    text = nbformat.writes(kept) + "\n"
    if text == path.read_text(encoding="utf-8"):
        return False
    write_text(path, text, "notebook")
    return True


# HTML

_PAGE = """{% extends 'lab/index.html.j2' %}
{% block html_head_js_mathjax %}
<script>window.MathJax = {tex: {inlineMath: [['$', '$'], ['\\\\(', '\\\\)']], processEscapes: true}};</script>
<script src="mathjax/tex-mml-chtml.js"></script>
{% endblock %}
{% block html_head_js %}{% endblock %}
{% block html_head_js_mermaidjs %}{% endblock %}
{% block input_group %}
{% if 'hide-input' in cell.metadata.tags %}
<details><summary style="margin-left: calc(var(--jp-cell-prompt-width) + 2em)">code</summary>{{ super() }}</details>
{% else %}{{ super() }}{% endif %}
{% endblock input_group %}
{% block data_png scoped %}
{% set width = output | get_metadata('width', 'image/png') %}
<div class="jp-RenderedImage jp-OutputArea-output"><img src="data:image/png;base64,{{ output.data['image/png'] }}"
alt="{{ output.data['text/plain'] | escape_html }}"{% if width %} width="{{ width }}"{% endif %}></div>
{% endblock data_png %}
"""


def prepare_html(folder: Path) -> None:
    """Make the folder for HTML pages, with a copy of MathJax: they need no network.

    Raises:
        InvalidInput: the folder cannot be written, or MathJax is not installed.
    """
    import shutil

    try:
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copytree(_mathjax(), folder / "mathjax", dirs_exist_ok=True)
    except (OSError, shutil.Error) as error:
        reason = (error.strerror if isinstance(error, OSError) else "") or _line(str(error))[:80]
        raise InvalidInput(f"--html {folder}", "'it is a folder one may write to'",
                           f"{reason}: choose another one") from None  # fmt: skip


def write_html(fresh: Mapping[Path, Notebook], folder: Path) -> None:
    """Write notebooks as HTML pages into a folder that ``prepare_html`` has made."""
    from nbconvert import HTMLExporter

    exporter = HTMLExporter(raw_template=_PAGE)
    for path, notebook in fresh.items():
        names = {"metadata": {"name": _title(notebook, path.stem)}}
        body, _ = exporter.from_notebook_node(copy.deepcopy(notebook), resources=names)
        for other in fresh:  # what is beside the notebook as a notebook is beside the page as a page
            body = body.replace(f'href="{other.name}"', f'href="{other.stem}.html"')
        write_text(folder / f"{path.stem}.html", body, "--html")


def _mathjax() -> Path:
    """Where the MathJax that comes with the extra ``notebooks`` lies."""
    from importlib.metadata import PackageNotFoundError, files

    try:
        found = [file for file in files("sphinx-mathjax-offline") or [] if file.name == "tex-mml-chtml.js"]
    except PackageNotFoundError:
        found = []
    if not found:
        raise InvalidInput("--html without MathJax", "'sphinx-mathjax-offline is installed'",
                           "install it with: pip install 'maskproof[notebooks]'")  # fmt: skip
    return Path(str(found[0].locate())).parent


def _title(notebook: Notebook, name: str) -> str:
    head = re.match(r"# (.+)", notebook.cells[0].source) if notebook.cells else None
    return head[1] if head else name
