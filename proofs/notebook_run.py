"""Running the proof notebooks from a clean kernel, and comparing what they print with what is committed."""

from __future__ import annotations

import base64
import difflib
import io
import os
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from proofs.files import write_text
from proofs.reading import STATIC
from theory.errors import InvalidInput

FOLDER = Path(__file__).with_name("notebooks")
TIMEOUT = 600  # seconds a cell may take before it counts as stuck
SAME_PICTURE = 0.01  # mean difference, as a part of black to white, that rounding and fonts may make

Notebook = Any  # nbformat.NotebookNode, which carries no types


def notebooks(names: Sequence[str] = ()) -> list[Path]:
    """The notebooks meant by ``names``: by file name, number or topic; all of them for no name.

    Raises:
        InvalidInput: a name means none.

    >>> [path.stem for path in notebooks(["2"])]
    ['02_layer_two']
    """
    paths = sorted(FOLDER.glob("[0-9]*.ipynb"))
    if not names:
        return paths
    chosen = {path for name in names for path in [_meant(name, paths)]}
    return sorted(chosen)


def _meant(name: str, paths: Sequence[Path]) -> Path:
    wanted = Path(name).name.removesuffix(".ipynb").lower().replace("-", "_")
    for path in paths:
        number, topic = path.stem.split("_", 1)
        if wanted in (path.stem, topic, number, number.lstrip("0")):
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
    from nbformat.reader import NotJSONError

    try:
        notebook = nbformat.read(path, as_version=4)
        nbformat.validate(notebook)
        return notebook
    except (OSError, ValueError, KeyError, AttributeError, NotJSONError, nbformat.ValidationError) as error:
        raise InvalidInput(f"notebook {path.name} ({' '.join(str(error).split())[:100]})",
                           "'it is a Jupyter notebook'", "restore it") from None  # fmt: skip


class Failed(Exception):
    """A cell of a notebook raised an error; the message names cell and error."""


def run(path: Path, progress: Callable[[int, int], object] | None = None) -> Notebook:
    """Run a notebook from a clean kernel in an empty folder.

    Args:
        path: the notebook; the file stays as it is.
        progress: called with the number of cells done and of all cells.

    Returns:
        The notebook with its new outputs, and nothing in it that depends on the machine or the time.

    Raises:
        Failed: a cell raised an error.
        InvalidInput: the file is no notebook.
    """
    import nbclient
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

    notebook = read(path)
    cells = len(notebook.cells)
    done = progress or (lambda *_: None)
    with _nobody_there(), tempfile.TemporaryDirectory() as folder:
        client = nbclient.NotebookClient(
            notebook,
            timeout=TIMEOUT,
            kernel_name="python3",
            extra_arguments=["--log-level=ERROR"],  # a kernel on this machine warns that it is on a network
            store_widget_state=False,
            record_timing=False,
            resources={"metadata": {"path": folder}},
            on_cell_executed=lambda cell, cell_index, execute_reply: done(cell_index + 1, cells),
        )
        try:
            client.execute()
        except CellExecutionError as error:
            raise Failed(f"{path.stem}: {error.ename}: {' '.join(error.evalue.split())}") from None
        except (CellTimeoutError, DeadKernelError, RuntimeError) as error:
            raise Failed(f"{path.stem}: {' '.join(str(error).split())}") from None
    return _cleaned(notebook)


@contextmanager
def _nobody_there() -> Iterator[None]:
    """The environment that a kernel inherits: no sliders, and the kernel of this Python before others."""
    settings = {STATIC: "1", "JUPYTER_PREFER_ENV_PATH": "1"}
    before = {name: os.environ.get(name) for name in settings}
    os.environ.update(settings)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


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


def stale(committed: Notebook, fresh: Notebook) -> list[str]:
    """What differs in the outputs: a line for each cell. Pictures may differ by what the eye does not see."""
    lines = []
    for number, (old, new) in enumerate(zip(committed.cells, fresh.cells, strict=True), start=1):
        if new.cell_type != "code":
            continue
        before, now = _shown(old), _shown(new)
        if [kind for kind, _ in before] != [kind for kind, _ in now]:
            lines.append(f"cell {number} shows {_kinds(now)}, committed is {_kinds(before)}")
            continue
        for (kind, was), (_, value) in zip(before, now, strict=True):
            if kind == "image/png":
                if not _same_picture(was, value):
                    lines.append(f"cell {number} draws another picture than the committed one")
            elif was != value:
                lines.append(f"cell {number} prints {_first_difference(was, value)}")
    return lines


def _kinds(outputs: Sequence[tuple[str, str]]) -> str:
    return " and ".join(kind for kind, _ in outputs) or "nothing"


def _shown(cell: Any) -> list[tuple[str, str]]:
    """The outputs of a cell as (kind, content), in order; printed text in one piece."""
    outputs: list[tuple[str, str]] = []
    for output in cell.get("outputs", []):
        if output.output_type == "stream":
            text = output.text
            if outputs and outputs[-1][0] == output.name:
                text = outputs.pop()[1] + text
            outputs.append((output.name, text))
        else:
            data: Mapping[str, str] = output.get("data", {})
            best = next((kind for kind in ("image/png", "text/markdown", "text/latex", "text/html") if kind in data),
                        "text/plain")  # fmt: skip
            outputs.append((best, data.get(best, "")))
    return outputs


def _same_picture(one: str, other: str) -> bool:
    if one == other:
        return True
    from matplotlib.image import imread

    a, b = (imread(io.BytesIO(base64.b64decode(data)), format="png") for data in (one, other))
    return a.shape == b.shape and float(np.abs(a - b).mean()) <= SAME_PICTURE


def _first_difference(before: str, now: str) -> str:
    old, new = before.splitlines(), now.splitlines()
    at = next((k for k, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    pieces = [repr(lines[at][:120]) if at < len(lines) else "nothing more" for lines in (new, old)]
    return f"{pieces[0]}, committed is {pieces[1]}"


def accept(path: Path, fresh: Notebook) -> None:
    """Write the new outputs into the file."""
    import nbformat

    write_text(path, nbformat.writes(fresh) + "\n", "notebook")


# HTML

_OFFLINE_MATHS = """{% extends 'lab/index.html.j2' %}
{% block html_head_js_mathjax %}
<script>window.MathJax = {tex: {inlineMath: [['$', '$'], ['\\\\(', '\\\\)']], processEscapes: true}};</script>
<script src="mathjax/tex-mml-chtml.js"></script>
{% endblock %}
{% block html_head_js %}{% endblock %}
{% block html_head_js_requirejs %}{% endblock %}
{% block html_head_js_mermaidjs %}{% endblock %}
"""


def write_html(notebooks_by_name: Mapping[str, Notebook], folder: Path) -> None:
    """Write notebooks as HTML pages that need no network: mathematics is set by a copy of MathJax beside them.

    Raises:
        InvalidInput: the folder cannot be written.
    """
    import shutil

    from nbconvert import HTMLExporter

    try:
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copytree(_mathjax(), folder / "mathjax", dirs_exist_ok=True)
    except OSError as error:
        raise InvalidInput(f"--html {folder}", "'it is a folder one may write to'",
                           f"{error.strerror}: choose another one") from None  # fmt: skip
    exporter = HTMLExporter(raw_template=_OFFLINE_MATHS)
    for name, notebook in notebooks_by_name.items():
        body, _ = exporter.from_notebook_node(notebook, resources={"metadata": {"name": _title(notebook, name)}})
        write_text(folder / f"{name}.html", body, "--html")


def _mathjax() -> Path:
    """Where the MathJax that comes with the extra ``notebooks`` lies."""
    from importlib.metadata import files

    entry = next(file for file in files("sphinx-mathjax-offline") or [] if file.name == "tex-mml-chtml.js")
    return Path(str(entry.locate())).parent


def _title(notebook: Notebook, name: str) -> str:
    head = re.match(r"# (.+)", notebook.cells[0].source) if notebook.cells else None
    return head[1] if head else name
