"""The data of version 1's figures."""

import numpy as np
import pytest

from maskproof.numerics.paper_figures import FIGURES, figure_data
from maskproof.numerics.relativity import relativity
from maskproof.theory.errors import InvalidInput


@pytest.mark.parametrize("name", FIGURES)
def test_limit_and_simulation_lie_side_by_side(name):
    panels = figure_data(name, samples=300, n=8)
    assert len(panels) == 4 * len(FIGURES[name])
    for panel in panels:
        assert panel.limit.shape == panel.mean.shape == (8, 8)
        assert np.array_equal(np.isnan(panel.limit), np.isnan(panel.mean))
        # At width 64 the expectation is within 2/d of the limit for scores of size 1 (LayerNorm: size 8), plus noise.
        scale = (panel.row.limits or (0, 1))[1]
        away = np.nanmax(np.abs(panel.limit - panel.mean))
        assert away <= scale * 2 / 64 + 7 * np.nanmax(panel.standard_error)


def test_normalised_rows_have_diagonals_of_mean_zero():
    for panel in figure_data("10", samples=2, n=6):
        if panel.row.normalised:
            for distance in range(-5, 6):
                assert abs(np.diagonal(panel.limit, -distance).mean()) < 1e-15


def test_the_mask_is_what_figures_4_and_10_differ_by():
    deep = {name: figure_data(name, samples=2)[2].limit for name in ("4", "10")}
    assert relativity(deep["4"]).spread == pytest.approx(0.148, abs=5e-4)
    assert relativity(deep["10"]).spread == pytest.approx(4.5e-5, abs=5e-7)


@pytest.mark.parametrize(
    ("call", "reason"),
    [(lambda: figure_data("3"), "score maps"), (lambda: figure_data("4", samples=1), "samples >= 2")],
)
def test_bad_input(call, reason):
    with pytest.raises(InvalidInput, match=reason):
        call()
