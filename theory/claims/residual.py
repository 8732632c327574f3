"""What the residual does to the order of scores: without it the order can hold in every layer, with it it fails."""

from __future__ import annotations

from sympy import And
from sympy.core.relational import Relational

from maskproof.theory.averaging import AVERAGING, increasing
from maskproof.theory.claim import Claim
from maskproof.theory.decoder import Decoder
from maskproof.theory.inputs import Equicorrelated
from maskproof.theory.paper_forms import EARLIER, PAPER
from maskproof.theory.quantities import Score
from maskproof.theory.relations import Ge, Gt, Le
from maskproof.theory.statements import closer_scores_higher
from maskproof.theory.symbols import i, l

_ZERO = Equicorrelated(0)
_FIRST_FAILURES = {2: (60, 58), 3: (150, 148)}  # beta -> query and key, layer three


def _fails(beta: int) -> Relational:
    query, key = _FIRST_FAILURES[beta]
    model = {"decoder": Decoder(beta=beta), "inputs": _ZERO}
    return Gt(Score(3, query, key, **model), Score(3, query, key + 1, **model))


claims = [
    Claim(
        "own.averaging-increasing",
        lambda: closer_scores_higher(l), And(EARLIER, *PAPER, Ge(l, 2)), decoder=AVERAGING,
        source="the case beta = 0 of own.no-residual-conjecture",
        note="Attention that only averages, at any length and in every layer from the second on: beta = 0 and no "
        "residual. By induction over the layer (theory.averaging).",
        proof=increasing,
    ),
    *(
        Claim(
            f"own.increasing-3-beta-{beta}",
            lambda: closer_scores_higher(3), And(EARLIER, Le(i, query - 1)), decoder=Decoder(beta=beta), inputs=_ZERO,
            source="the order before the failures of own.sharper-fails",
            note=f"Layer three, beta = {beta}, alpha = 0, residual 1: no failure before query {query}.",
        )
        for beta, (query, _) in _FIRST_FAILURES.items()
    ),
    Claim(
        "own.sharper-fails",
        lambda: And(*map(_fails, _FIRST_FAILURES)),
        source="extends own.peak-inside to larger beta",
        note="Layer three, alpha = 0, residual 1: a sharper softmax does not restore the order, it delays the first "
        "failure, from query 27 for beta = 1 to 60 for beta = 2 and 150 for beta = 3: like 7.2 exp(beta) "
        "(theory.long_sequences).",
    ),
]  # fmt: skip
