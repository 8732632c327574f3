"""True forms near a false claim: each is judged by verify, and those that are to be found are found."""

from __future__ import annotations

import pytest
from sympy import Abs, And, Eq, Lt, Rational, exp

from maskproof.proofs import verify
from maskproof.proofs.explanation.explanation import Nearest, Replay, Settling, explain
from maskproof.proofs.verdict import Result, Verdict
from maskproof.theory import Claim, Equicorrelated, Score, Sphere, Weight, alpha, i, j

ZERO = Equicorrelated(0)
BEFORE = And(j < i, alpha >= 0, alpha < 1)


def near(claim: Claim) -> tuple[Result, list[Nearest]]:
    result = verify(claim)
    parts = list(explain(claim, result))
    found = [part for part in parts if isinstance(part, Nearest)]
    assert all(part.verdict in (Verdict.PROVED, Verdict.ENCLOSED) for part in found)
    return result, found


def test_the_range_in_which_it_holds() -> None:
    result, found = near(Claim("mine", Lt(Score(3, i, j), Score(3, i, j + 1)), j < i, inputs=ZERO))
    assert result.verdict is Verdict.REFUTED
    assert ("1 <= j < i <= 26", Verdict.ENCLOSED) in [(part.domain, part.verdict) for part in found]


def test_the_range_of_a_real_parameter() -> None:
    domain = And(j < i, i <= 28, alpha >= 0, alpha <= Rational(1, 2))
    result, found = near(Claim("mine", Lt(Score(3, i, j), Score(3, i, j + 1)), domain))
    assert result.verdict is Verdict.REFUTED
    assert any("1/48 <= alpha <= 1/2" in part.domain for part in found)


def test_the_other_way_round() -> None:
    _, found = near(Claim("mine", Lt(Score(2, i, j + 1), Score(2, i, j)), j < i, inputs=ZERO))
    assert (found[0].statement, found[0].verdict) == ("S2[i,j + 1] > S2[i,j]", Verdict.PROVED)


@pytest.mark.parametrize(
    ("right", "change"),
    [
        (2 / (exp(1 - alpha) + i - 1), "with the factor 1/2"),
        (1 / (exp(1 - alpha) + i - 1) + Rational(1, 3), "with the term -1/3"),
        (-1 / (exp(1 - alpha) + i - 1), "with the factor -1"),
    ],
)
def test_a_fitted_constant(right: object, change: str) -> None:
    result, found = near(Claim("mine", Eq(Weight(1, i, j), right), BEFORE))
    assert result.verdict is Verdict.REFUTED
    assert (found[0].change, found[0].verdict) == (change, Verdict.PROVED)


def test_a_printed_number_is_rounded() -> None:
    claim = Claim("mine", Abs(Score(2, 2, 1) - Rational("0.155")) <= Rational("0.0005"), inputs=ZERO)
    _, found = near(claim)
    assert [part.statement for part in found] == ["Abs(S2[2,1] - 0.154) <= 0.0005"]


def test_a_bound_is_moved_and_judged() -> None:
    claim = Claim("mine", Score(3, i, j) < Rational(1, 5), And(j < i, i <= 12), inputs=ZERO)
    _, found = near(claim)
    assert ("S3[i,j] < 0.293", Verdict.ENCLOSED) in [(part.statement, part.verdict) for part in found]


def test_what_is_left_of_a_conjunction() -> None:
    _, found = near(Claim("mine", And(Score(2, 2, 1) < 1, Score(2, 3, 1) > 1), inputs=ZERO))
    assert "S2[2,1] < 1" in [part.statement for part in found]


def test_off_the_diagonal() -> None:
    result, found = near(Claim("mine", Lt(Score(2, i, j), Score(2, i, j + 1)), j <= i, inputs=ZERO))
    assert result.verdict is Verdict.UNKNOWN
    assert ("off the diagonal", "1 <= j < i", Verdict.PROVED) in [(p.change, p.domain, p.verdict) for p in found]


def test_a_bounded_domain_settles_what_is_sampled() -> None:
    claim = Claim("mine", Lt(Score(3, i, 1), Score(3, i, 2) + Score(4, i, 1) ** 3), i > 2, inputs=Equicorrelated(0.2))
    result, found = near(claim)
    assert result.verdict is Verdict.SAMPLED
    (settling,) = [part for part in explain(claim, result) if isinstance(part, Settling)]
    assert any("upper bound on i" in words for words in settling.words)
    assert any(words.startswith("a proof") for words in settling.words)
    assert [(part.domain, part.verdict) for part in found] == [("2 < i <= 20", Verdict.ENCLOSED)]


def test_more_samples_settle_an_expectation() -> None:
    claim = Claim("mine", Lt(Score(3, 5, 2), Score(3, 5, 3) + Score(2, 4, 1) ** 2), inputs=Sphere(16, 0))
    result = verify(claim)
    words = [w for part in explain(claim, result) if isinstance(part, Settling) for w in part.words]
    assert any("--effort" in w for w in words)
    assert not any(isinstance(part, Replay) for part in explain(claim, result))


def test_nothing_is_to_be_settled_or_mended_of_what_is_proved() -> None:
    claim = Claim("mine", Eq(Weight(1, i, j), 1 / (exp(1 - alpha) + i - 1)), BEFORE)
    _, *parts = explain(claim, verify(claim))
    assert parts == [Settling(())]
