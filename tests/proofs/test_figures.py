"""``maskproof figures``: every kind is drawn, files are whole, errors are one line, captions say what was found."""

from __future__ import annotations

import re
import struct
import sys
from pathlib import Path

import numpy as np
import pytest
import typer

from maskproof.numerics.gram import mean_field
from maskproof.numerics.paper_figures import figure_data
from maskproof.proofs.command import figures as figures_command
from maskproof.proofs.shown import drawing, figures
from maskproof.theory.decoder import Decoder
from maskproof.theory.errors import InvalidInput

KINDS = ["v1-4", "v2-1", "v2-5", "row"]
SMALL = {"samples": "20", "seed": "3", "n": "5"}
ROOT = Path(__file__).resolve().parents[2]


def run(*names: str, out: Path, **options: str) -> int:
    return figures_command.figures_command(list(names), out=out, **(SMALL | options))


def texts(figure) -> str:  # type: ignore[no-untyped-def]
    from matplotlib.text import Text

    return "\n".join(text.get_text() for text in figure.findobj(Text))


def small(name: str, samples: int = 20, n: int | None = 6):  # type: ignore[no-untyped-def]
    return figures.DRAWINGS[name].draw(figures.Run(samples, 3, n, lambda text: None))


# Every kind


@pytest.mark.parametrize("name", KINDS)
def test_each_kind_is_written_whole_as_png_and_pdf(name: str, tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    pytest.importorskip("matplotlib")
    from matplotlib.image import imread

    assert run(name, out=tmp_path) == 0
    png, pdf = tmp_path / f"{name}.png", tmp_path / f"{name}.pdf"
    assert sorted(tmp_path.iterdir()) == [pdf, png]  # and no temporary file
    assert capsys.readouterr().out.split() == [str(png), str(pdf)]
    picture = imread(png)
    assert len(np.unique(picture.reshape(-1, picture.shape[-1]), axis=0)) > 20
    assert pdf.read_bytes().startswith(b"%PDF")
    assert pdf.read_bytes().rstrip().endswith(b"%%EOF")


def test_the_same_run_gives_the_same_bytes(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    written = []
    for _ in range(2):
        assert run("front", out=tmp_path) == 0
        drawing.save(drawing.layer_maps(mean_field(Decoder(), 0, 4, 2).scores), tmp_path / "maps.pdf", "--plot")
        written.append({path.name: path.read_bytes() for path in tmp_path.iterdir()})
    assert written[0] == written[1]
    assert set(written[0]) == {"layer-three.png", "maps.pdf"}


def test_every_shape_of_map_can_be_drawn() -> None:
    """The names that ``KINDS`` leaves out differ from it in parameters only; their data are tested in numerics."""
    known = {*KINDS, "v1-2", "v1-6", "v1-7", "v1-9", "v1-10", "v2-2", "v2-3", "v2-4", "front"}
    assert set(figures.DRAWINGS) == known


def test_limit_and_simulation_share_axes_and_colours() -> None:
    pytest.importorskip("matplotlib")
    figure = small("v2-1")
    maps = [axes for axes in figure.findobj(lambda part: hasattr(part, "get_images")) if axes.get_images()]
    assert len(maps) == 16  # two models, limit and simulation, four layers
    for block in (maps[:8], maps[8:]):
        for above, below in zip(block[:4], block[4:], strict=True):
            assert above.get_images()[0].get_clim() == below.get_images()[0].get_clim()
            assert above.get_xlim() == below.get_xlim()
            assert above.get_ylim() == below.get_ylim() == (6.5, 0.5)


def test_hidden_entries_are_blank() -> None:
    pytest.importorskip("matplotlib")
    figure = small("v1-2")
    for axes in figure.findobj(lambda part: hasattr(part, "get_images")):
        for image in axes.get_images():
            if image.get_array().shape == (6, 6):
                assert np.array_equal(image.get_array().mask, np.triu(np.ones((6, 6), bool), 1))


def test_a_flat_limit_is_not_drawn_on_the_scale_of_the_noise() -> None:
    flat = np.where(np.eye(3, dtype=bool), 8.0, 4.0)
    assert drawing.scale_of([flat]) == drawing.Scale(4.0, 8.0)
    sloped = np.array([[8.0, np.nan], [3.0, 8.0]])
    assert drawing.scale_of([sloped, np.array([[8.0, np.nan], [4.0, 8.0]])]) == drawing.Scale(3.0, 4.0, clipped=True)
    assert drawing.scale_of([np.array([[1.0]])]).low == 1.0


# What the captions say


def test_the_caption_gives_the_largest_error_and_difference() -> None:
    pytest.importorskip("matplotlib")
    panels = figure_data("2", 20, 3, 6)
    worst = max(float(np.nanmax(np.abs(panel.mean - panel.limit))) for panel in panels)
    caption = texts(small("v1-2"))
    assert "20 inputs, seed 3" in caption
    assert f"Largest difference from the limit {worst:.2g} = {worst * 64:.2g}/$d$ = " in caption


def test_no_term_of_order_one_over_d_where_there_is_none() -> None:
    pytest.importorskip("matplotlib")
    caption = texts(small("v2-4", samples=4))
    assert re.search(r"from the limit [\d.]+ = [\d.]+ standard errors", caption)


def test_the_caption_says_when_only_noise_is_to_be_seen() -> None:
    pytest.importorskip("matplotlib")
    assert "below the noise of the simulation" in texts(small("v1-10", samples=4))
    assert "below the noise of the simulation" not in texts(small("v1-4", samples=400, n=20))


def test_front_marks_the_peak_inside_the_context() -> None:
    pytest.importorskip("matplotlib")
    words = texts(small("front", n=None))
    row = mean_field(Decoder(), 0, 50, 3).scores[2, -1, :-1]
    best = int(np.argmax(row)) + 1
    assert best == 31  # the score falls from there to key 49: own.peak-inside
    assert f"peak at key {best}:\n$S = {row[best - 1]:.4f}$" in words
    assert f"key 49, next to the\nquery: $S = {row[-1]:.4f}$" in words


def test_the_committed_front_figure_is_small_and_of_the_size_drawn() -> None:
    pytest.importorskip("matplotlib")
    path = ROOT / "docs" / "figures" / "layer-three.png"
    content = path.read_bytes()
    assert len(content) < 200_000
    inches = small("front", n=None).get_size_inches()
    assert struct.unpack(">II", content[16:24]) == tuple(round(200 * side) for side in inches)


# The command


def test_without_a_name_the_figures_are_listed(capsys: pytest.CaptureFixture, tmp_path: Path) -> None:
    assert figures_command.figures_command(None, out=tmp_path) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(figures.DRAWINGS)
    assert not list(tmp_path.iterdir())


def test_register_adds_the_command() -> None:
    app = typer.Typer()
    figures_command.register(app)
    assert [command.name for command in app.registered_commands] == ["figures"]


@pytest.mark.parametrize(
    ("names", "options", "reason"),
    [
        (["v1-3"], {}, "there is such a figure"),
        (["v1-2\nx"], {}, "there is such a figure"),
        (["row"], {"samples": "1"}, "--samples >= 2"),
        (["row"], {"samples": "many"}, "whole number"),
        (["row"], {"seed": "-1"}, "--seed >= 0"),
        (["row"], {"n": "3"}, "--n >= 4"),
        (["row"], {"n": "100000"}, "--n <= 400"),
    ],
)
def test_errors_are_one_line(names: list[str], options: dict[str, str], reason: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=re.escape(reason)) as caught:
        run(*names, out=tmp_path, **options)
    assert "\n" not in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_a_folder_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    with pytest.raises(InvalidInput, match="folder exists"):
        run("row", out=tmp_path / "absent")
    (tmp_path / "v1-2.pdf").mkdir()
    with pytest.raises(InvalidInput, match="names a file"):
        run("v1-2", out=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["v1-2.pdf"]


def test_without_matplotlib_it_says_how_to_install_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(InvalidInput, match=re.escape("pip install 'maskproof[plot]'")):
        run("row", out=tmp_path)
    assert not list(tmp_path.iterdir())


def test_other_file_types_are_refused(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    with pytest.raises(InvalidInput, match=re.escape("ends in .png or .pdf")):
        drawing.save(drawing.new_figure(1, 1), tmp_path / "x.gif", "--out")
