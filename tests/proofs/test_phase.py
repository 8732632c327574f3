"""Slices and maps: the same result however they are interrupted, and the files that hold them."""

import csv
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
import typer

from maskproof.numerics.certify import Order
from maskproof.numerics.series import Interval
from maskproof.proofs.command import phase_files
from maskproof.proofs.command.certified_steps import certified_steps
from maskproof.proofs.command.phase import register
from maskproof.proofs.command.phase_run import layer_list
from maskproof.proofs.maps import certificate
from maskproof.proofs.maps.phase import advance, crossings, gaps, survey_of
from maskproof.theory.decoder import Decoder
from maskproof.theory.errors import InvalidInput

ORDER = Order(12, (3,), Decoder(residual=2))  # its order fails for small beta
BETA = {"beta": Interval(0, 1)}
MAP = {"alpha": Interval(0, "0.04"), "beta": Interval(0, "0.5")}


@pytest.fixture(scope="module")
def one():
    return advance(survey_of(ORDER, BETA))


@pytest.fixture(scope="module")
def two():
    return advance(survey_of(ORDER, MAP, Fraction(1, 64)))


def run(*words):
    app = typer.Typer()
    app.callback()(lambda: None)
    register(app)
    return app(args=["phase", *words], standalone_mode=False)


def test_a_slice_encloses_its_boundary(one):
    (crossing,) = crossings(one)
    assert (crossing.before, crossing.after) == (False, True)
    assert 0 < crossing.high - crossing.low <= Fraction(1, 10**6)
    assert gaps(one) == []
    assert one.open == ()
    assert one.share(True) + one.share(False) + one.share(None) == 1


def test_a_map_leaves_little_undecided(two):
    assert two.share(None) < Fraction(1, 10)
    assert two.share(True) > Fraction(1, 2)
    assert two.share(False) > Fraction(1, 20)
    with pytest.raises(InvalidInput, match="one parameter varies"):
        crossings(two)


def test_an_undecided_slice_says_so():
    nothing = survey_of(ORDER, BETA)
    assert gaps(nothing) == [(0, 1)]
    assert nothing.share(None) == 1
    assert crossings(nothing) == []


def test_interruptions_and_workers_change_nothing(two):
    start = survey_of(ORDER, MAP, Fraction(1, 64))
    halted = []
    stopped = start
    while stopped.open:  # one box at a time: the time is up as soon as the first is begun
        stopped = step(stopped)
        halted.append(len(stopped.pieces))
    assert len(halted) > 1
    assert stopped == two
    assert advance(start, workers=2) == two


def step(survey):
    """The survey after a single box."""

    class EnoughError(Exception):
        pass

    seen = []

    def report(state):
        seen.append(state)
        raise EnoughError

    with pytest.raises(EnoughError):
        advance(survey, report=report)
    return seen[0]


def test_the_last_state_is_saved_whatever_ends_the_work():
    saved = []

    def report(survey):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        advance(survey_of(ORDER, MAP, Fraction(1, 64)), report=report, save=saved.append)
    assert saved
    assert saved[-1].open
    out_of_time = advance(survey_of(ORDER, MAP), seconds=0)
    assert out_of_time.open == survey_of(ORDER, MAP).open


@pytest.mark.parametrize(
    ("box", "resolution", "reason"),
    [
        ({}, None, "one or two parameters"),
        ({"gamma": Interval(0, 1)}, None, "it can vary"),
        ({"beta": Interval(1, 1)}, None, "low < high"),
        (BETA, Fraction(0), "resolution > 0"),
    ],
)
def test_a_bad_question_is_named(box, resolution, reason):
    with pytest.raises(InvalidInput, match=reason):
        survey_of(ORDER, box, resolution)


def test_files_hold_every_piece(two, tmp_path):
    phase_files.write(two, tmp_path / "map.csv")
    phase_files.write(two, tmp_path / "map.npz")
    with (tmp_path / "map.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == len(two.pieces)
    with np.load(tmp_path / "map.npz") as data:
        assert list(data["parameters"]) == ["alpha", "beta"]
        widths = np.prod(data["high"] - data["low"], axis=1)
        assert np.isclose(widths.sum(), 0.02, rtol=1e-12)
        for row, low, holds, falls in zip(rows, data["low"], data["holds"], data["falls"], strict=True):
            assert float(row["alpha_low"]) == low[0]
            assert row["holds"] == {1: "true", 0: "false", -1: ""}[int(holds)]
            assert (falls[0] == 3) == (holds == 0)
    with pytest.raises(InvalidInput, match="npz"):
        phase_files.check_out(tmp_path / "map.txt")


@pytest.fixture(scope="module")
def chart():
    order = Order(30, (3,), Decoder(residual=2))
    return advance(survey_of(order, {"alpha": Interval(0, "0.05")}, Fraction(1, 10**5), lengths=range(2, 31)))


def test_a_chart_has_a_crossing_for_every_length_that_fails(chart):
    """The first failure at alpha = 0 is at query 19; the longer the sequence, the later the order begins to hold."""
    starts = []
    for length in range(2, 31):
        found = crossings(chart, length)
        assert gaps(chart, length) == []
        if length < 19:
            assert found == []
            assert chart.share(True, length) == 1
            continue
        (crossing,) = found
        assert (crossing.before, crossing.after) == (False, True)
        assert crossing.high - crossing.low <= Fraction(1, 10**5)
        starts.append(crossing)
    assert all(one.high < other.low for one, other in pairwise(starts))
    assert crossings(chart) == [starts[-1]]


def test_a_chart_is_written_and_summed_up(chart, tmp_path):
    phase_files.write(chart, tmp_path / "chart.csv")
    phase_files.write(chart, tmp_path / "chart.npz")
    with (tmp_path / "chart.csv").open() as stream:
        assert [int(row["upto"]) for row in csv.DictReader(stream)] == [piece.upto for piece in chart.pieces]
    with np.load(tmp_path / "chart.npz") as data:
        assert data["upto"].tolist() == [piece.upto for piece in chart.pieces]
    assert "begins to hold" in phase_files.summary(chart)
    assert "n = 20: begins to hold" in phase_files.summary(replace(chart, lengths=(20, 25)))


def test_a_figure_is_drawn(one, two, tmp_path):
    pytest.importorskip("matplotlib")
    from matplotlib.image import imread

    unfinished = replace(two, pieces=two.pieces[:3], open=(two.pieces[3].box,))
    phase_files.plot([two, unfinished], tmp_path / "maps.png")
    phase_files.plot([one], tmp_path / "slice.png")
    picture = imread(tmp_path / "maps.png")
    for colour in (phase_files.TRUE, phase_files.FALSE):
        wanted = np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)]) / 255
        assert (np.abs(picture[..., :3] - wanted).max(axis=-1) < 0.01).mean() > 0.01
    assert (tmp_path / "slice.png").stat().st_size < 300_000


def test_the_command_computes_writes_and_resumes(tmp_path, capsys):
    words = ["--n", "12", "--layers", "3", "--residual", "2", "--beta", "0:1", "--resolution", "1e-3"]
    file = tmp_path / "slice.json"
    assert run(*words, "--json", str(file), "--seconds", "1e-9") == 0
    assert "unfinished: 1 boxes are open; repeat" in capsys.readouterr().out
    assert run(*words, "--json", str(file), "--out", str(tmp_path / "slice.csv")) == 0
    text = capsys.readouterr().out
    assert "begins to hold between 0." in text
    assert "unfinished" not in text
    before = file.read_text()
    assert run(*words, "--json", str(file)) == 0
    assert file.read_text() == before
    with pytest.raises(InvalidInput, match="same question"):
        run(*words, "--alpha", "0.1", "--json", str(file))


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--layers", "3"], "one or two parameters"),
        (["--layers", "0", "--beta", "0:1"], "--layers >= 1"),
        (["--layers", "4-2", "--beta", "0:1"], "first <= last"),
        (["--layers", "3", "--beta", "1:0"], "low <= high"),
        (["--layers", "3", "--beta", "0:x"], "finite number"),
        (["--layers", "3", "--alpha", "0:2"], "alpha <= 1"),
        (["--layers", "3", "--beta", "0:1", "--workers", "0"], "--workers"),
        (["--layers", "3", "--beta", "0:1", "--out", "phase.txt"], "npz"),
        (["--layers", "3", "--beta", "0:1", "--plot", "phase.pdf"], "png"),
        (["--layers", "3", "--beta", "0:1", "--mask", "none"], "mask"),
        (["--layers", "3", "--beta", "0:1", "--lengths", "6"], "--lengths"),
        (["--layers", "3", "--beta", "0:1", "--lengths", "some"], "--lengths"),
        (["--layers", "3", "--alpha", "1", "--beta", "0:1"], "alpha < 1"),
    ],
)
def test_bad_options_are_named(words, reason):
    with pytest.raises(InvalidInput, match=reason):
        run("--n", "5", *words)


def test_the_command_for_several_lengths(tmp_path, capsys):
    words = ["--n", "22", "--layers", "3", "--residual", "2", "--alpha", "0:1", "--resolution", "1e-4"]
    file = tmp_path / "chart.json"
    assert run(*words, "--lengths", "19,22", "--json", str(file)) == 0
    text = capsys.readouterr().out
    assert "n = 19: begins to hold between" in text
    assert "n = 22: begins to hold between" in text
    assert run(*words, "--lengths", "all") == 0
    assert "n = 19" not in capsys.readouterr().out
    with pytest.raises(InvalidInput, match="same question"):
        run(*words, "--lengths", "20", "--json", str(file))


def test_layers_as_typed():
    assert layer_list("3") == (3,)
    assert layer_list("2,4") == (2, 4)


def test_certified_scores_of_the_paper():
    certified = certified_steps(Decoder(), 0, 30, 3)
    lines = certified.text.splitlines()
    assert lines[0] == "layer 2: of 435 adjacent pairs 435 proved increasing, 0 decreasing, 0 undecided"
    assert lines[1].startswith("layer 3: of 435 adjacent pairs 428 proved increasing, 7 decreasing, 0 undecided")
    assert lines[1].endswith("first decrease at i = 27, from j = 25 to 26")
    assert len(certified.certificate()["falls"]) == 7
    with pytest.raises(InvalidInput, match="layers >= 2"):
        certified_steps(Decoder(), 0, 5, 1)


def test_summaries_say_what_is_open(one):
    assert "begins to hold between" in phase_files.summary(one)
    assert "undecided from 0 to 1" in phase_files.summary(survey_of(ORDER, BETA))
    assert certificate.area(one.box) == 1
    assert one.degree is None
