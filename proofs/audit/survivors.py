"""Why a change to a shipped claim may go unnoticed: the reason for each claim in whose statement one does."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

_EXCHANGEABLE = (
    "no error: the inputs are exchangeable, so in layer one every pair of tokens has this mean, not only the first"
)
_STRICT = "no error: samples put the deviation below the bound by many standard errors, so that < holds where <= does"

REASONS: Mapping[str, str] = {
    "own.cosine-sphere": _EXCHANGEABLE,
    "own.sampler-bias-formula": _EXCHANGEABLE,
    "own.score-21-exact": _STRICT,
    "own.first-weight-exact": _STRICT,
    "own.softmax-sphere": "no error: Jensen's gap has the same sign at every position; the claim stops at ten",
    "own.no-residual-conjecture": "as open as the claim: that closer keys score higher in every layer, "
    "for which layers three to five stand, is conjectured",
    "own.increasing-2-d1024": "no error: in the limit closer keys score higher in layer two at every residual weight "
    "(own.increasing-2), and the expectation at width 1024 is next to it",
    "own.score-correction": "the bound of 1e-5 leaves room for the remainder at later positions, and for a few parts "
    "of c/d; own.score-correction-formula claims the same coefficient exactly, and there such changes are refuted",
}


def unexplained(claims: Iterable[str]) -> list[str]:
    """Those of these claims for which no reason is recorded, each once."""
    return [name for name in dict.fromkeys(claims) if name not in REASONS]
