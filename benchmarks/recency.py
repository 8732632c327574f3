"""The recency probabilities of version 2 of the paper, recomputed: ``python -m benchmarks.recency [--out FILE]``.

Prints Markdown: the published cells against ours, the whole grid (n = 10; d = 16, 64, 256, 1024; layers 1-4; with
and without normalisation and residual; alpha = 0 and 1/2), each cell next to its prediction to leading order,
and the grid that the residual of the paper's theory gives.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sympy import Integer, Rational

from maskproof.numerics.recency import Recency, recency_probability
from maskproof.numerics.recency_linear import predicted_recency
from maskproof.theory.decoder import Decoder
from maskproof.theory.inputs import SharedGaussian

TOKENS, LAYERS = 10, 4
WIDTHS = (16, 64, 256, 1024)
ALPHAS = (Integer(0), Rational(1, 2))
ROUNDING = 0.00005  # half a unit of the last printed digit


@dataclass(frozen=True)
class Setting:
    """One row of the grid.

    Attributes:
        norm, residual: of the decoder; scores are divided by sqrt(d) throughout.
        alpha, width: of the inputs.
        as_theory: whether the residual stream starts with the normalised inputs, of norm sqrt(d), as the paper's
            theory assumes, and not with the inputs that its simulation samples.
    """

    norm: str
    residual: int
    alpha: Rational
    width: int
    as_theory: bool = False

    @property
    def decoder(self) -> Decoder:
        """The decoder."""
        return Decoder(norm=self.norm, residual=self.residual, scale="sqrt(d)")  # pyright: ignore[reportArgumentType]

    @property
    def inputs(self) -> SharedGaussian:
        """The law of the inputs."""
        return SharedGaussian(self.width, self.alpha, unit=False)

    def label(self) -> str:
        """The first cells of the row."""
        residual = "yes" if self.residual else "no"
        return f"| {self.norm} | {residual} | {self.alpha} | {self.width} |"


PUBLISHED = (
    (Setting("none", 0, ALPHAS[0], 16), 3, "0.0822"),
    (Setting("layernorm", 0, ALPHAS[1], 16), 2, "0.6382"),
    (Setting("layernorm", 1, ALPHAS[1], 16), 2, "0.5931"),
    (Setting("layernorm", 0, ALPHAS[1], 64), 3, "0.6274"),
)  # fmt: skip


@dataclass(frozen=True)
class Row:
    """A setting with what was estimated and what was predicted."""

    setting: Setting
    estimate: Recency
    predicted: NDArray[np.float64]

    def markdown(self) -> str:
        """The row of the table: estimate with the error of its last digit in brackets, then the prediction."""
        cells = (
            f" {uncertain(p, se)}, {prediction:.4f} |"
            for p, se, prediction in zip(
                self.estimate.probability, self.estimate.standard_error, self.predicted, strict=True
            )
        )
        return self.setting.label() + "".join(cells)


def uncertain(value: float, error: float) -> str:
    """A number with the error of its last digit in brackets: 0.63821(4)."""
    digits = max(1, math.ceil(-math.log10(error) - 1e-9))
    if round(error * 10**digits) == 10:  # 0.96e-4 is 1e-4
        digits -= 1
    return f"{value:.{digits}f}({round(error * 10**digits)})"


def settings() -> Iterator[Setting]:
    """The grid of the paper, then that of its theory."""
    for norm in ("none", "layernorm"):
        for residual in (0, 1):
            for alpha in ALPHAS:
                for width in WIDTHS:
                    yield Setting(norm, residual, alpha, width)
    for alpha in ALPHAS:
        for width in WIDTHS:
            yield Setting("layernorm", 1, alpha, width, as_theory=True)


def measure(setting: Setting, samples: int, target_se: float, seed: int) -> Row:
    """Estimate and predict one row."""
    estimate = recency_probability(
        setting.decoder, setting.inputs, TOKENS, LAYERS, samples, seed,
        normalise_inputs=setting.as_theory, target_se=target_se,
    )  # fmt: skip
    predicted, _ = predicted_recency(setting.decoder, setting.inputs, TOKENS, LAYERS, setting.as_theory)
    return Row(setting, estimate, predicted)


def published_table(rows: dict[Setting, Row]) -> Iterator[str]:
    """The published cells next to ours."""
    yield "| norm | residual | alpha | d | layer | published | here | difference | allowed | |"
    yield "|---|---|---|---|---|---|---|---|---|---|"
    for setting, layer, text in PUBLISHED:
        estimate = rows[setting].estimate
        p, se = estimate.probability[layer - 1], estimate.standard_error[layer - 1]
        difference, allowed = float(text) - p, ROUNDING + 4 * se
        verdict = "agrees" if abs(difference) <= allowed else "DIFFERS"
        yield (
            f"{setting.label()} {layer} | {text} | {uncertain(p, se)} | {difference:+.6f} | {allowed:.6f} | {verdict} |"
        )


def grid_table(rows: list[Row]) -> Iterator[str]:
    """Estimates and predictions of all layers."""
    yield "| norm | residual | alpha | d | layer 1 | layer 2 | layer 3 | layer 4 |"
    yield "|---|---|---|---|---|---|---|---|"
    for row in rows:
        yield row.markdown()


def report(rows: dict[Setting, Row], seed: int) -> str:
    """The whole report in Markdown."""
    ours = [row for row in rows.values() if not row.setting.as_theory]
    theory = [row for row in rows.values() if row.setting.as_theory]
    largest = max(float(row.estimate.standard_error.max()) for row in rows.values())
    inputs = sum(row.estimate.samples for row in rows.values())
    heading = (
        f"n = {TOKENS}, scores divided by sqrt(d), beta = 1, seed {seed}; {inputs:,} inputs in all, largest standard "
        f"error {largest:.1e}. In brackets the standard error in units of the last digit, then the prediction to "
        "leading order (the linearised scores under the Wishart law)."
    )
    lines = [
        heading,
        "",
        "Published cells, inputs (g_i + sqrt(alpha/(1-alpha)) g_0)/sqrt(d):",
        "",
        *published_table(rows),
        "",
        "The whole grid, same inputs:",
        "",
        *grid_table(ours),
        "",
        "The residual that the paper's theory assumes: the stream starts with the normalised inputs, of norm sqrt(d):",
        "",
        *grid_table(theory),
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description="Recompute the recency probabilities of version 2 of the paper.")
    parser.add_argument("--samples", type=int, default=10_000_000, help="inputs per row at most")
    parser.add_argument("--target-se", type=float, default=4e-5, help="standard error at which a row stops")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="write the report here, too")
    options = parser.parse_args()
    started = time.monotonic()
    rows: dict[Setting, Row] = {}
    for setting in settings():
        rows[setting] = row = measure(setting, options.samples, options.target_se, options.seed)
        print(f"{row.markdown()} {row.estimate.samples:,} inputs, {time.monotonic() - started:.0f} s", flush=True)
    text = report(rows, options.seed)
    print(f"\n{text}\n{time.monotonic() - started:.0f} s")
    if options.out is not None:
        options.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
