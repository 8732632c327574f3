"""The proof notebooks run and show what is committed, and what runs and compares them notices when they don't."""

from __future__ import annotations

import base64
import copy
import io
import json
import re
import signal
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from maskproof.proofs.command import cli
from maskproof.proofs.command import notebooks as notebooks_command
from maskproof.proofs.shown import notebook_run, reading
from maskproof.proofs.shown.notebook_run import Failed, accept, read, run, run_each, stale
from maskproof.theory import Claim, Equicorrelated, Score
from maskproof.theory.errors import InvalidInput

SHIPPED = sorted(notebook_run.FOLDER.glob("*.ipynb"))
ROOT = Path(__file__).resolve().parents[2]
PICTURE = """
from matplotlib.figure import Figure
from maskproof.proofs.shown.reading import Picture
figure = Figure((2, 2))
figure.add_subplot().plot([0, 1], [{low}, 1])
Picture(figure, "a line")
"""


def notebook(*sources: str, tags: tuple[str, ...] = ()) -> Any:
    """A notebook of one Markdown cell and these code cells, as this project's are: with fixed ids."""
    cells = [new_markdown_cell("# A title\n\nWords."), *map(new_code_cell, sources)]
    for number, cell in enumerate(cells):
        cell.id = f"cell-{number:02}"
        if tags and cell.cell_type == "code":
            cell.metadata.tags = list(tags)
    return new_notebook(cells=cells)


def written(path: Path, *sources: str) -> Path:
    path.write_text(nbformat.writes(notebook(*sources)) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of two notebooks in the place of the shipped ones; neither holds any output yet."""
    monkeypatch.setattr(notebook_run, "FOLDER", tmp_path)
    written(tmp_path / "01_first_steps.ipynb", "print(1 + 1)")
    written(tmp_path / "02_layer_two.ipynb", "6 * 7")
    return tmp_path


def command(*arguments: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    status = cli.run(["notebooks", *arguments])
    out, err = capsys.readouterr()
    return status, out, err


# The shipped notebooks


@pytest.mark.slow
@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_a_shipped_notebook_runs_and_shows_what_is_committed(path: Path) -> None:
    assert stale(read(path), run(path)) == []


def test_the_shipped_notebooks_are_numbered_without_gaps() -> None:
    assert [path.stem.split("_")[0] for path in SHIPPED] == [f"{number:02}" for number in range(1, 8)]


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_a_shipped_notebook_is_written_for_a_reader(path: Path) -> None:
    cells = read(path).cells
    assert re.match(r"# \S.*\n\n\S", cells[0].source), "a title, and what the reader will know"
    heads = [line for cell in cells if cell.cell_type == "markdown" for line in cell.source.splitlines()
             if line.startswith("#")]  # fmt: skip
    assert heads[-1] == "## What follows"
    assert "## What follows" in cells[-1].source
    for one, other in pairwise(cells):
        assert not one.cell_type == other.cell_type == "code", f"no prose between {one.source!r} and {other.source!r}"


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_a_shipped_notebook_holds_nothing_of_the_machine_that_ran_it(path: Path) -> None:
    committed, text = read(path), path.read_text(encoding="utf-8")
    assert text == nbformat.writes(notebook_run._cleaned(copy.deepcopy(committed))) + "\n"
    for cell in committed.cells:
        assert set(cell.metadata) <= {"tags", "jupyter"}
        for output in cell.get("outputs", []):
            assert output.get("name") != "stderr"
            assert output.output_type != "error"
            data = output.get("data", {}).items()
            shown = "\n".join([*(str(value) for kind, value in data if "image" not in kind), output.get("text", "")])
            absolute = r"(?<![\w)\]}.])/[\w.-]+/"  # a folder of a folder, from the root of any machine
            assert not re.search(rf"object at 0x|/home/|/Users/|site-packages|{absolute}", shown)
            assert not any(str(path) in shown for path in (Path.home(), Path(tempfile.gettempdir()), ROOT))
            assert not re.search(r"\b\d+(\.\d+)? ?(s|ms|seconds|minutes)\b", output.get("text", "")), "times"


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_a_shipped_notebook_names_only_what_exists(path: Path) -> None:
    from maskproof.proofs.shown.figures import DRAWINGS
    from maskproof.theory.topics import TOPICS

    known = {claim.id for claim in reading.registry.shipped()}
    prose = "\n".join(cell.source for cell in read(path).cells if cell.cell_type == "markdown")
    for code in re.findall(r"`([^`\n]+)`", prose):
        words = code.split()
        if words[:2] == ["maskproof", "verify"]:
            assert {word for word in words[2:] if re.match(r"(own|kim\d+)\.", word)} <= known
        elif words[:2] == ["maskproof", "derive"]:
            assert words[2] in TOPICS
        elif words[:2] == ["maskproof", "figures"]:
            assert {word for word in words[2:] if not word.startswith("-")} <= set(DRAWINGS)
        elif re.fullmatch(r"(own|kim\d+)\.[\w-]+", code):
            assert code in known
        elif re.fullmatch(r"(theory|numerics|proofs|benchmarks|docs)/[\w/]+\.(py|json|png|md)", code):
            assert (ROOT / code).is_file()
    for target in re.findall(r"\]\(([\w.-]+\.ipynb)\)", prose):
        assert (path.parent / target).is_file()


# Running


def test_a_failing_cell_is_named_with_its_error(tmp_path: Path) -> None:
    path = written(tmp_path / "03_broken.ipynb", "x = 1", "raise ValueError(f'no\\nsuch {x}')")
    with pytest.raises(Failed, match=r"^03_broken, cell 3: ValueError: no such 1$"):
        run(path)


def test_a_kernel_that_dies_is_a_failure(tmp_path: Path) -> None:
    with pytest.raises(Failed, match=r"03_dead, cell 2: .*[Kk]ernel died"):
        run(written(tmp_path / "03_dead.ipynb", "import os; os._exit(1)"))


def test_a_cell_that_never_ends_is_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notebook_run, "TIMEOUT", 1)
    with pytest.raises(Failed, match=r"03_stuck, cell 2: .*timed out"):
        run(written(tmp_path / "03_stuck.ipynb", "while True: pass"))


def test_kernels_know_nothing_of_each_other_nor_of_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    startup = tmp_path / "ipython" / "profile_default" / "startup"
    startup.mkdir(parents=True)
    (startup / "mine.py").write_text("mine = 'set'")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    kernels = tmp_path / "jupyter" / "kernels" / "python3"
    kernels.mkdir(parents=True)
    (kernels / "kernel.json").write_text('{"argv": ["false"], "display_name": "x", "language": "python"}')
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "jupyter"))
    monkeypatch.setenv("JUPYTER_PREFER_ENV_PATH", "0")
    look = "import os, sys; print(sorted(set(globals()) & {'mine', 'x'}), os.environ['MASKPROOF_STATIC']); x = 1"
    paths = [written(tmp_path / f"0{number}_same.ipynb", look, "sys.executable") for number in (1, 2)]
    for path, fresh in run_each({path: read(path) for path in paths}, at_once=2):
        assert not isinstance(fresh, Failed), path
        assert fresh.cells[1].outputs[0].text == "[] 1\n"
        assert fresh.cells[2].outputs[0].data["text/plain"] == repr(sys.executable)
    assert capfd.readouterr() == ("", "")


def test_what_ran_holds_no_times_and_no_versions(tmp_path: Path) -> None:
    path = tmp_path / "01_noted.ipynb"
    noted = notebook("print(1)", tags=("hide-input",))
    noted.metadata = {
        "kernelspec": {"name": "mine", "display_name": "Mine"},
        "language_info": {"name": "x", "version": "3.0"},
    }
    noted.cells[1].metadata["execution"] = {"iopub.status.busy": "2020-01-01T00:00:00Z"}
    path.write_text(nbformat.writes(noted))
    fresh = run(path)
    assert dict(fresh.cells[1].metadata) == {"tags": ["hide-input"]}
    assert "version" not in json.dumps(fresh.metadata)


def test_progress_counts_cells(tmp_path: Path) -> None:
    path, seen = written(tmp_path / "01_counted.ipynb", "1", "2"), []
    run(path, lambda where, done: seen.append((where, done)))
    assert seen == [(path, 0), (path, 1), (path, 2), (path, 3)]


def test_the_bar_says_where_each_notebook_is(capsys: pytest.CaptureFixture[str]) -> None:
    first, second = Path("01_a.ipynb"), Path("02_b.ipynb")
    with notebooks_command._Progress({first: notebook("1", "2"), second: notebook("3")}) as progress:
        said = []
        progress.watch.show = lambda words, done: said.append((words, done))  # type: ignore[method-assign]
        progress.moved(first, 1)
        progress.moved(second, 1)
        progress.moved(first, 3)
        progress.moved(second, 2)
    assert said == [("01_a 2/3", 1), ("01_a 2/3, 02_b 2/2", 2), ("02_b 2/2", 4), ("finishing", 5)]
    assert capsys.readouterr() == ("", "")


# What is stale


def test_each_kind_of_change_is_found(tmp_path: Path) -> None:
    path = written(tmp_path / "01_shows.ipynb", "print('a'); print('b')", "2 + 2", PICTURE.format(low=0))
    fresh = run(path)
    assert stale(fresh, fresh) == []
    assert stale(read(path), fresh) == [
        "cell 2 shows stdout, committed is nothing",
        "cell 3 shows text/plain, committed is nothing",
        "cell 4 shows image/png and text/plain, committed is nothing",
    ]
    changed = copy.deepcopy(fresh)
    changed.cells[1].outputs[0].text = "a\nc\n"
    changed.cells[2].outputs[0].data["text/plain"] = "5"
    changed.cells[3].outputs[0].data["text/plain"] = "another line"
    assert stale(changed, fresh) == [
        "cell 2 prints 'b', committed is 'c'",
        "cell 3 prints '4', committed is '5'",
        "cell 4 prints 'a line', committed is 'another line'",
    ]
    moved = run(written(tmp_path / "01_moved.ipynb", "print('a\\nb')", "2 + 2", PICTURE.format(low=0.02)))
    assert stale(fresh, moved) == ["cell 4 draws another picture than the committed one"]


def test_a_difference_far_into_a_line_is_shown() -> None:
    was, now = "x" * 500 + "1", "x" * 500 + "2"
    tail = "x" * 40
    assert notebook_run._first_difference(was, now) == f"...'{tail}2', committed is ...'{tail}1'"
    assert notebook_run._first_difference("a\nb", "a") == "nothing more, committed is 'b'"


def test_pieces_of_printed_text_are_one_text() -> None:
    pieces = notebook("f()")
    pieces.cells[1].outputs = [new_output("stream", name="stdout", text=part) for part in ("a\n", "b\n")]
    whole = copy.deepcopy(pieces)
    whole.cells[1].outputs = [new_output("stream", name="stdout", text="a\nb\n")]
    assert stale(pieces, whole) == []
    whole.cells[1].outputs[0].name = "stderr"
    assert stale(pieces, whole) == ["cell 2 shows stderr, committed is stdout"]


def picture(pixels: np.ndarray) -> Any:
    from matplotlib.image import imsave

    buffer = io.BytesIO()
    imsave(buffer, pixels, format="png")
    shown = notebook("draw()")
    data = {"image/png": base64.b64encode(buffer.getvalue()).decode(), "text/plain": "words"}
    shown.cells[1].outputs = [new_output("display_data", data)]
    return shown


def curve(shift: float, noise: float = 0.0) -> np.ndarray:
    """A black line three pixels wide on white, with soft edges."""
    x, y = np.meshgrid(np.arange(400), np.arange(300))
    grey = np.clip(np.abs(y - 150 - shift - 80 * np.sin(x / 60)) - 1, 0, 1)
    grey = np.clip(grey + noise * np.random.default_rng(0).normal(size=grey.shape), 0, 1)
    return np.repeat(grey[..., None], 3, axis=-1)


@pytest.mark.parametrize(("shift", "noise", "same"), [
    (0, 0.02, True), (0.3, 0, True), (3, 0, False), (-4, 0, False), (40, 0, False),
])  # fmt: skip
def test_pictures_differ_when_the_eye_sees_it(shift: float, noise: float, same: bool) -> None:
    assert (stale(picture(curve(0)), picture(curve(shift, noise))) == []) is same


def test_a_picture_of_another_size_or_colour_is_another_picture() -> None:
    one = picture(curve(0))
    assert stale(one, picture(curve(0)[:-8]))
    faded = curve(0)
    faded[..., 0] = np.maximum(faded[..., 0], 0.7)  # the line is red
    assert stale(one, picture(faded))


def test_accepting_writes_what_makes_the_next_run_fresh(folder: Path) -> None:
    path = folder / "01_first_steps.ipynb"
    committed, fresh = read(path), run(path)
    assert accept(path, committed, fresh)
    before = path.stat()
    assert stale(read(path), run(path)) == []
    assert not accept(path, read(path), run(path))
    assert path.stat() == before
    assert not list(folder.glob(".*"))


def test_accepting_keeps_pictures_that_look_the_same(folder: Path) -> None:
    path = folder / "01_first_steps.ipynb"
    committed, fresh = picture(curve(0)), picture(curve(0.2))
    path.write_text(nbformat.writes(committed) + "\n")
    assert not accept(path, read(path), fresh)
    fresh.cells[1].outputs.append(new_output("stream", name="stdout", text="more"))
    assert accept(path, read(path), fresh)


def test_accepting_refuses_a_notebook_that_was_edited_meanwhile(folder: Path) -> None:
    path = folder / "01_first_steps.ipynb"
    committed, fresh = read(path), run(path)
    written(path, "print(3)")
    with pytest.raises(InvalidInput, match="it stays as it is while it runs"):
        accept(path, committed, fresh)
    assert read(path).cells[1].source == "print(3)"


# The command


def test_the_command_says_what_it_found(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written(folder / "03_broken.ipynb", "1 / 0")
    status, out, err = command(capsys=capsys)
    assert (status, err) == (1, "")
    assert out.splitlines() == [
        "STALE   01_first_steps",
        "        cell 2 shows stdout, committed is nothing",
        "        if it is right: maskproof notebooks --accept",
        "STALE   02_layer_two",
        "        cell 2 shows text/plain, committed is nothing",
        "        if it is right: maskproof notebooks --accept",
        "FAILED  03_broken, cell 2: ZeroDivisionError: division by zero",
    ]
    assert command("1", "layer-two", "--accept", capsys=capsys) == (
        0,
        "written 01_first_steps\nwritten 02_layer_two\n",
        "",
    )
    assert command("1", "2", "--accept", capsys=capsys) == (0, "ok      01_first_steps\nok      02_layer_two\n", "")
    assert command("02", capsys=capsys) == (0, "ok      02_layer_two\n", "")
    assert command("--accept", capsys=capsys)[0] == 1, "a failure stays one"


@pytest.mark.parametrize(("arguments", "words"), [
    (["frist_steps"], "'frist_steps' violates 'there is such a notebook'; did you mean first_steps?"),
    (["7"], "'there is such a notebook'; use 01_first_steps, 02_layer_two"),
    (["elsewhere/01_first_steps.ipynb"], "'there is such a notebook'"),
    ([""], "'there is such a notebook'"),
    (["--html", "{file}"], "'it is a folder one may write to'"),
    (["--html", "{file}/inside"], "'it is a folder one may write to'"),
    (["--accept", "1", "--frobnicate"], "--frobnicate"),
])  # fmt: skip
def test_unusable_input_is_one_line(
    folder: Path, arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = folder / "file.txt"
    file.write_text("")
    status, out, err = command(*(part.format(file=file) for part in arguments), capsys=capsys)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert words in err
    assert "Traceback" not in err


CORRUPT = [
    "", "{", "[]", "{}", "\udcff", '{"nbformat": 4, "nbformat_minor": 5}',
    '{"nbformat": 3, "nbformat_minor": 0, "metadata": {}, "worksheets": []}',
    *(
        f'{{"nbformat": 4, "nbformat_minor": 4, "metadata": {{}}, "cells": [{cell}]}}'
        for cell in ('{"cell_type": "raw", "source": ""}', '{"cell_type": "poem", "metadata": {}, "source": ""}')
    ),
]  # fmt: skip


@pytest.mark.parametrize("text", CORRUPT)
def test_a_corrupt_notebook_is_one_line(folder: Path, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "02_layer_two.ipynb").write_bytes(text.encode("utf-8", "surrogateescape"))
    status, out, err = command(capsys=capsys)
    assert (status, out, err.count("\n")) == (2, "", 1), "and nothing has been run"
    assert "notebook 02_layer_two.ipynb" in err
    assert "'it is a Jupyter notebook'; restore it" in err


def test_a_notebook_that_cannot_be_read_is_one_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "02_layer_two.ipynb").unlink()
    (folder / "02_layer_two.ipynb").mkdir()
    status, _, err = command("2", capsys=capsys)
    assert (status, err.count("\n")) == (2, 1)


def test_no_notebooks_at_all_is_no_success(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notebook_run, "FOLDER", tmp_path)
    with pytest.raises(InvalidInput, match="it holds the proof notebooks"):
        notebook_run.notebooks()


@pytest.mark.parametrize("module", ["nbclient", "nbconvert", "ipykernel"])
def test_without_jupyter_it_says_how_to_install_it(
    module: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    status, _, err = command(capsys=capsys)
    assert (status, err.count("\n")) == (2, 1)
    assert "pip install 'maskproof[notebooks]'" in err


def test_without_mathjax_it_says_how_to_install_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib.metadata

    def missing(name: str) -> None:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "files", missing)
    with pytest.raises(InvalidInput, match="sphinx-mathjax-offline is installed"):
        notebook_run.prepare_html(folder / "html")


# HTML


def test_pages_need_no_network(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    linked = notebook(PICTURE.format(low=0))
    linked.cells[0].source = "# Sums < products\n\n$x < y$, then [on](02_layer_two.ipynb) and [more](03_more.ipynb)."
    linked.cells[1].metadata.tags = ["hide-input"]
    (folder / "01_first_steps.ipynb").write_text(nbformat.writes(linked))
    pages = folder / "a" / "b"
    assert command("--accept", "--html", str(pages), capsys=capsys)[0] == 0
    assert (pages / "mathjax" / "tex-mml-chtml.js").stat().st_size > 100_000
    assert list((pages / "mathjax").rglob("*.woff"))
    first = (pages / "01_first_steps.html").read_text(encoding="utf-8")
    for page in (first, (pages / "02_layer_two.html").read_text(encoding="utf-8")):
        loaded = re.findall(
            r"""<(?:script|link|img|iframe|source)\b[^>]*?\b(?:src|href)\s*=\s*["']?([^"'\s>]+)""", page
        )
        assert "mathjax/tex-mml-chtml.js" in loaded
        assert [target for target in loaded if re.match(r"(https?:)?//", target)] == []
        assert not re.search(r"@import|url\(\s*[\"']?(https?:)?//", page)
        assert "//" not in "".join(re.findall(r"<script\b[^>]*>(.*?)</script>", page, re.DOTALL))
    assert "<title>Sums &lt; products</title>" in first
    assert 'href="02_layer_two.html"' in first
    assert 'href="03_more.ipynb"' in first
    assert "<details>" in first
    assert 'alt="a line"' in first


# Interrupts, and several at once


def _kernels(parent: int) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1]) == parent:
                found.append(int(entry.name))
        except OSError:
            continue
    return found


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks for processes in /proc")
def test_an_interrupt_ends_the_kernels(tmp_path: Path) -> None:
    for number in (1, 2):
        written(tmp_path / f"0{number}_slow.ipynb", "import time; time.sleep(600)")
    start = (
        "import pathlib; from maskproof.proofs.command import cli; from maskproof.proofs.shown import notebook_run; "
        f"notebook_run.FOLDER = pathlib.Path({str(tmp_path)!r}); cli.main(['notebooks'])"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", start], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    kernels: list[int] = []
    deadline = time.monotonic() + 120
    while not kernels and time.monotonic() < deadline:
        time.sleep(0.2)
        kernels = _kernels(process.pid)
    time.sleep(1)
    kernels = _kernels(process.pid)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert kernels
    assert (process.returncode, out, err) == (130, "", "maskproof: interrupted\n")
    assert [pid for pid in kernels if Path(f"/proc/{pid}").exists()] == []


def test_a_caller_that_stops_looking_ends_the_kernels(tmp_path: Path) -> None:
    quick, slow = (
        written(tmp_path / name, source)
        for name, source in (("01_quick.ipynb", "1"), ("02_slow.ipynb", "import time; time.sleep(600)"))
    )
    started = time.monotonic()
    results = run_each({path: read(path) for path in (quick, slow)}, at_once=2)
    assert next(results)[0] == quick
    results.close()
    assert time.monotonic() - started < 300


def test_two_runs_at_once_do_not_disturb_each_other(tmp_path: Path) -> None:
    source = (
        "import os, pathlib, time; pathlib.Path('x').write_text(str(os.getpid())); time.sleep(1); "
        "assert pathlib.Path('x').read_text() == str(os.getpid()); print(sorted(os.listdir())[-1])"
    )
    paths = [written(tmp_path / f"0{number}_same.ipynb", source) for number in (1, 2, 3)]
    together = [run_each({path: read(path) for path in paths}, at_once=3) for _ in range(2)]
    for results in zip(*together, strict=True):
        for _, fresh in results:
            assert not isinstance(fresh, Failed)
            assert fresh.cells[1].outputs[0].text == "x\n"


# What a notebook shows


def test_sliders_move_in_a_living_notebook_and_stand_still_in_a_static_one(tmp_path: Path) -> None:
    pytest.importorskip("ipywidgets")
    show = (
        "from maskproof.proofs.shown.reading import explore\n"
        "calls = []\n"
        "draw = lambda **chosen: calls.append(chosen) or f'drawn {sorted(chosen.items())}'\n"
        "explore(draw, at={'alpha': 0.5, 'layer': 2, 'norm': 'l2', 'n': 3},\n"
        "        alpha=(0.0, 0.9, 0.1), layer=(1, 6, 1), norm=['l2', 'none'])"
    )
    move = (
        "import ipywidgets\n"
        "moving = {w.description: w for w in ipywidgets.widgets.widget._instances.values()\n"
        "          if getattr(w, 'description', '')}\n"
        "print([(name, type(w).__name__, w.value) for name, w in sorted(moving.items())])\n"
        "moving['layer'].value = 4\n"
        "moving['norm'].value = 'none'\n"
        "print(calls)"
    )
    living = "import os; del os.environ['MASKPROOF_STATIC']"
    static = run(written(tmp_path / "01_static.ipynb", show, "print(calls)"))
    first = {"alpha": 0.5, "layer": 2, "norm": "l2", "n": 3}
    assert "drawn [('alpha', 0.5)" in static.cells[1].outputs[0].data["text/plain"]
    assert static.cells[2].outputs[0].text == f"[{first}]\n"
    moved = run(written(tmp_path / "02_living.ipynb", living, show, move))
    widgets, calls = moved.cells[3].outputs[0].text.splitlines()
    assert widgets == "[('alpha', 'FloatSlider', 0.5), ('layer', 'IntSlider', 2), ('norm', 'Dropdown', 'l2')]"
    expected = [first, first | {"layer": 4}, first | {"layer": 4, "norm": "none"}]
    found = [{key: call[key] for key in first} for call in eval(calls)]
    assert found == expected
    assert "application/vnd.jupyter.widget-view+json" in moved.cells[2].outputs[0].data


def test_checked_raises_when_the_record_says_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    page = reading.checked("own.fig1", "kim2025.fig1")
    assert "| `own.fig1` | **ENCLOSED** |" in page.text
    assert "| `kim2025.fig1` | **REFUTED** |" in page.text
    recorded = copy.deepcopy(dict(reading.registry.recorded()))
    recorded["own.fig1"] = dict(recorded["own.fig1"]) | {"verdict": "PROVED"}
    monkeypatch.setattr(reading.registry, "recorded", lambda: recorded)
    with pytest.raises(AssertionError, match=r"own\.fig1"):
        reading.checked("own.fig1")
    with pytest.raises(InvalidInput, match="the claim is shipped"):
        reading.checked("own.fig")


def test_a_claim_of_ones_own_has_no_record() -> None:
    mine = Claim("own.fig1", Score(2, 2, 1) < 1, inputs=Equicorrelated(0))  # an id that is taken
    assert "**PROVED**" in reading.checked(mine).text
    assert "own.fig1" in reading.stated(mine).text


def test_an_altered_step_has_to_be_rejected() -> None:
    from sympy import Eq, sqrt

    from maskproof.theory import lam
    from maskproof.theory.symbols import d

    walk = reading.Walk("layernorm-one")
    right = walk["M-self-lower"].statement
    wrong = Eq(right.lhs, right.rhs.subs(lam / sqrt(d), lam))
    assert "differ" in walk.altered("M-self-lower", wrong)
    with pytest.raises(AssertionError, match="M-self-lower was accepted"):
        walk.altered("M-self-lower", right)


def test_a_step_is_checked_before_it_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    from dataclasses import replace

    walk = reading.Walk("layernorm-one")
    assert "checked by the kernel" in walk.step("S-one").text
    assert r"Model $\mathcal{M}_{2}$" in walk.opening().text
    steps = tuple(
        replace(step, statement=walk["A-one"].statement) if step.label == "S-one" else step
        for step in walk.derivation.steps
    )
    broken = reading.Walk(replace(walk.derivation, steps=steps))
    with pytest.raises(reading.Rejected):
        broken.step("A-one")


def test_tables_and_pages_are_markdown() -> None:
    page = reading.table(("a", "$b$"), [(1, "x"), (2.5, "y")])
    assert page._repr_markdown_() == "| a | $b$ |\n| --- | --- |\n| 1 | x |\n| 2.5 | y |" == repr(page)
