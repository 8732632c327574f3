"""Certificates: what is written is read again, and an independent program tells right from wrong."""

import ast
import copy
import json
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
import sympy

from maskproof.numerics.certify import Order, steps
from maskproof.numerics.series import Interval
from maskproof.proofs.maps import certificate, recheck
from maskproof.proofs.maps.phase import advance, survey_of
from maskproof.theory.decoder import Blocks, Decoder, SlidingWindow
from maskproof.theory.errors import InvalidInput

ORDER = Order(12, (3,), Decoder(residual=2))
SCRIPT = Path(recheck.__file__)


@pytest.fixture(scope="module")
def one():
    return advance(survey_of(ORDER, {"beta": Interval(0, 1)}, Fraction(1, 20)))


@pytest.fixture(scope="module")
def slice_file(one):
    return certificate.map_certificate(one)


@pytest.fixture(scope="module")
def steps_file():
    order = Order(14, (2, 3), Decoder(beta=Fraction(1, 4), residual=2))
    return certificate.steps_certificate(order, steps(order))


def checked(found, tmp_path, *options):
    path = tmp_path / "certificate.json"
    certificate.write(found, path)
    return recheck.main([str(path), *options])


def test_a_survey_survives_its_file(one, tmp_path):
    path = tmp_path / "slice.json"
    certificate.write(certificate.map_certificate(one), path)
    start = survey_of(ORDER, {"beta": Interval(0, 1)}, Fraction(1, 20))
    assert certificate.resume(path, start) == one


@pytest.mark.parametrize(
    "order", [Order(11, (3,), Decoder(residual=2)), Order(12, (2, 3), Decoder(residual=2)), Order(12, (3,))]
)
def test_another_question_is_refused(order, one, tmp_path):
    path = tmp_path / "slice.json"
    certificate.write(certificate.map_certificate(one), path)
    with pytest.raises(InvalidInput, match="same question"):
        certificate.resume(path, survey_of(order, {"beta": Interval(0, 1)}, Fraction(1, 20)))


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": 3}', "null"])
def test_no_certificate_is_refused(text, one, tmp_path):
    path = tmp_path / "slice.json"
    path.write_text(text)
    with pytest.raises(InvalidInput, match="certificate"):
        certificate.resume(path, one)
    assert recheck.main([str(path)]) == 2


def test_irrational_parameters_have_no_certificate():
    order = Order(5, (3,), Decoder(beta=sympy.sqrt(2)))
    with pytest.raises(InvalidInput, match="rational"):
        certificate.steps_certificate(order, steps(order))


def test_a_slice_is_confirmed(slice_file, tmp_path, capsys):
    assert checked(slice_file, tmp_path) == 0
    assert "CONFIRMED" in capsys.readouterr().out
    assert checked(slice_file, tmp_path, "--pieces", "2", "--precision", "200", "--degree", "9") == 0


def test_steps_are_confirmed(steps_file, tmp_path):
    assert steps_file["falls"]
    assert checked(steps_file, tmp_path) == 0


@pytest.mark.parametrize(
    ("order", "box"),
    [
        (Order(7, (3,), Decoder(mask=SlidingWindow(4))), {"alpha": Interval("0.1", "0.2")}),
        (Order(7, (3,), Decoder(mask=Blocks(3))), {"alpha": Interval("0.1", "0.3")}),
        (
            Order(7, (3,), Decoder(norm="layernorm", scale="sqrt(d)"), Fraction(1, 10), 16),
            {"residual": Interval(1, "1.1")},
        ),
        (Order(7, (3,), Decoder(scale=2)), {"alpha": Interval("0.1", "0.2"), "beta": Interval(1, "1.2")}),
    ],
    ids=["window", "blocks", "layernorm", "two parameters"],
)
def test_other_decoders_are_confirmed(order, box, tmp_path):
    survey = advance(survey_of(order, box, Fraction(1, 16)))
    assert survey.share(None) < 1
    assert checked(certificate.map_certificate(survey), tmp_path, "--pieces", "3") == 0


def test_the_script_stands_alone(slice_file, tmp_path):
    path = tmp_path / "certificate.json"
    certificate.write(slice_file, path)
    command = [sys.executable, "-I", str(SCRIPT), str(path), "--pieces", "1"]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (found.returncode, found.stderr) == (0, "")
    imported = {
        name.split(".")[0]
        for node in ast.walk(ast.parse(SCRIPT.read_text()))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([node.module or ""] if isinstance(node, ast.ImportFrom) else [a.name for a in node.names])
    }
    assert imported - set(sys.stdlib_module_names) == {"flint"}


def flip(found):
    """A piece on which the order holds is said to have a falling pair."""
    piece = next(piece for piece in found["pieces"] if piece["holds"] is True)
    piece.update(holds=False, falls=[3, 12, 10])


def hold(found):
    """A piece with a falling pair is said to be in order."""
    piece = next(piece for piece in found["pieces"] if piece["holds"] is False)
    piece.pop("falls")
    piece["holds"] = True


def contradict(found):
    next(piece for piece in found["pieces"] if piece["holds"] is False)["holds"] = True


def claim(found):
    """The undecided piece is said to be in order."""
    next(piece for piece in found["pieces"] if piece["holds"] is None)["holds"] = True


def other_pair(found):
    next(piece for piece in found["pieces"] if piece["holds"] is False)["falls"] = [3, 12, 2]


def other_layer(found):
    next(piece for piece in found["pieces"] if piece["holds"] is False)["falls"] = [2, 12, 10]


def lose(found):
    found["pieces"].pop(0)


def repeat(found):
    found["pieces"].append(found["pieces"][0])


def other_model(found):
    found["model"]["residual"] = "1/4"


@pytest.mark.parametrize(
    "spoil",
    [flip, hold, contradict, claim, other_pair, other_layer, lose, repeat, other_model],
    ids=lambda spoil: spoil.__name__,
)
def test_a_wrong_slice_is_not_confirmed(spoil, slice_file, tmp_path, monkeypatch):
    monkeypatch.setattr(recheck, "MOST_HALVINGS", 1)
    found = copy.deepcopy(slice_file)
    spoil(found)
    assert checked(found, tmp_path) == 1


# Charts: up to which length the order holds


@pytest.fixture(scope="module")
def chart_file():
    order = Order(24, (2, 3), Decoder(residual=2))
    survey = advance(survey_of(order, {"alpha": Interval(0, 1)}, Fraction(1, 200), lengths=(19, 21, 24)))
    return certificate.map_certificate(survey)


def test_a_chart_is_confirmed_up_to_alpha_one(chart_file, tmp_path):
    assert chart_file["box"]["alpha"] == ["0", "1"]
    assert {piece["upto"] for piece in chart_file["pieces"]} >= {18, 24}
    assert checked(chart_file, tmp_path) == 0


def test_a_chart_survives_its_file(chart_file, tmp_path):
    path = tmp_path / "chart.json"
    certificate.write(chart_file, path)
    start = survey_of(
        Order(24, (2, 3), Decoder(residual=2)), {"alpha": Interval(0, 1)}, Fraction(1, 200), lengths=(19, 21, 24)
    )
    assert certificate.map_certificate(certificate.resume(path, start)) == chart_file
    with pytest.raises(InvalidInput, match="same question"):
        certificate.resume(path, replace(start, lengths=(20,)))


def exaggerate(found):
    """The order is said to hold for one token more than it does."""
    next(piece for piece in found["pieces"] if piece["holds"] is False)["upto"] += 1


def overstate(found):
    """The order is said to hold for all lengths where it holds for some."""
    next(piece for piece in found["pieces"] if piece["holds"] is False).update(upto=24, holds=True)


def fall_early(found):
    """A step of the last query that holds is said to fall."""
    piece = next(piece for piece in found["pieces"] if piece["holds"] is False)
    piece["upto"], piece["falls"] = 10, [3, 18, 16]


def fall_nowhere(found):
    """The falling step is not one between keys of the query."""
    next(piece for piece in found["pieces"] if piece["holds"] is False)["falls"] = [3, 24, 24]


def hide(found):
    """A falling step is left out, but the answer kept."""
    next(piece for piece in found["pieces"] if piece["holds"] is False).pop("falls")


@pytest.mark.parametrize(
    "spoil",
    [exaggerate, overstate, fall_early, fall_nowhere, hide, lose, other_model],
    ids=lambda spoil: spoil.__name__,
)
def test_a_wrong_chart_is_not_confirmed(spoil, chart_file, tmp_path, monkeypatch):
    monkeypatch.setattr(recheck, "MOST_HALVINGS", 1)
    found = copy.deepcopy(chart_file)
    spoil(found)
    assert checked(found, tmp_path) == 1


def test_nothing_can_be_said_at_alpha_one(chart_file, tmp_path):
    found = {**chart_file, "box": {"alpha": ["1", "1"]}, "pieces": [], "open": []}
    assert checked(found, tmp_path) != 0


@pytest.mark.parametrize(("variables", "part"), [(1, ("1/4", "3/4")), (2, ("0", "1/8"))])
def test_the_script_moves_polynomials(variables, part):
    """Over a part of the box it is the same function: (p + 2 q)^3 for parameters p, q."""
    box = {"alpha": (Fraction(0), Fraction(1)), "beta": (Fraction(2), Fraction(3))}
    box = {name: box[name] for name in list(box)[:variables]}
    inner = {**box, "alpha": (Fraction(part[0]), Fraction(part[1]))}

    def cube(over):
        grid = recheck.Grid(variables, 3)
        recheck.flint.ctx.cap = grid.length
        packed = [recheck.ZERO] * grid.length
        for axis, (low, high) in enumerate(over.values()):
            packed[0] += recheck.ball((low + high) / 2) * (axis + 1)
            packed[grid.stride + axis] = recheck.ball((high - low) / 2) * (axis + 1)
        linear = recheck.Jet(grid, recheck.arb_series(packed, grid.length))
        return linear * linear * linear

    cap = recheck.flint.ctx.cap
    moved, direct = cube(box).within(box, inner), cube(inner)
    recheck.flint.ctx.cap = cap
    assert all(moved.series[k].overlaps(direct.series[k]) for k in moved.grid.places)
    assert all(moved.series[k].rad() < 1e-12 for k in moved.grid.places)


def test_parts_that_overlap_do_not_cover():
    whole = {"alpha": (Fraction(0), Fraction(2)), "beta": (Fraction(0), Fraction(1))}

    def box(*ends):
        a, b, c, d = map(Fraction, ends)
        return {"alpha": (a, b), "beta": (c, d)}

    assert recheck.covers(whole, [box(0, 1, 0, 1), box(1, 2, 0, 1)])
    assert not recheck.covers(whole, [box(0, 1, 0, 1), box(0, 1, 0, 1)])
    assert not recheck.covers(whole, [box(0, 1, 0, 1), box("1/2", "3/2", 0, 1)])
    assert not recheck.covers(whole, [box(0, 1, 0, 1)])
    assert not recheck.covers(whole, [box(0, 3, 0, 1)])


@pytest.mark.parametrize("change", ["add", "drop", "stray"])
def test_wrong_steps_are_not_confirmed(change, steps_file, tmp_path):
    found = copy.deepcopy(steps_file)
    if change == "add":
        found["falls"].append([3, 5, 2])
    elif change == "drop":
        found["falls"].pop()
    else:
        found["falls"].append([3, 5, 7])
    assert checked(found, tmp_path) == 1


def test_a_certificate_is_plain_json(slice_file, tmp_path):
    path = tmp_path / "certificate.json"
    certificate.write(slice_file, path)
    assert json.loads(path.read_text()) == slice_file
    assert json.loads(path.read_text())["model"]["visible"][:2] == [[1, 1], [1, 2]]
