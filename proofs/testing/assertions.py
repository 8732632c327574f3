"""Assertions about claims and scores, for tests of one's own."""

from __future__ import annotations

from collections.abc import Sequence

from maskproof.numerics.certify import Order, steps
from maskproof.proofs.explanation.replay import program
from maskproof.proofs.pipeline import verify
from maskproof.proofs.shown.report import reason, witness
from maskproof.proofs.verdict import Result, Verdict
from maskproof.theory.claim import Claim
from maskproof.theory.decoder import Decoder
from maskproof.theory.errors import InvalidInput

ACCEPTED = (Verdict.PROVED, Verdict.ENCLOSED, Verdict.SAMPLED)
"""Verdicts of a claim that nothing speaks against."""

_CAP = 256  # bits after which equal scores are left undecided


def verdict_named(verdict: Verdict | str) -> Verdict:
    """A verdict by its name.

    Raises:
        InvalidInput: there is no such verdict.
    """
    try:
        return Verdict(verdict)
    except ValueError:
        raise InvalidInput(f"verdict {verdict!r}", "'there is such a verdict'", f"use {', '.join(Verdict)}") from None


def assert_verdict(claim: Claim, *expected: Verdict | str, seed: int = 0, effort: float = 1.0) -> Result:
    """Verify a claim and fail unless the verdict is one of those expected.

    Args:
        claim: the claim.
        expected: verdicts, or their names; PROVED, ENCLOSED and SAMPLED without any.
        seed: of the random numbers.
        effort: so many times the usual random samples.

    Returns:
        The result, with its evidence.

    Raises:
        AssertionError: it has another verdict; the message gives the witness and a NumPy program that replays it.
        InvalidInput: the claim is malformed, or a name is none of a verdict.

    >>> from maskproof.theory import Equicorrelated, Score
    >>> assert_verdict(Claim("mine", Score(2, 2, 1) < 1, inputs=Equicorrelated(0)), "ENCLOSED", "PROVED").witness
    """
    wanted = tuple(map(verdict_named, expected)) or ACCEPTED
    result = verify(claim, seed, effort=effort)
    if result.verdict not in wanted:
        raise AssertionError(described(claim, result, wanted, []))
    return result


def described(claim: Claim, result: Result, wanted: Sequence[Verdict], again: Sequence[str]) -> str:
    """How a claim came out, and how to see it once more.

    Args:
        claim: the claim.
        result: its result.
        wanted: the verdicts that would have been right.
        again: commands that repeat the check.
    """
    lines = [f"claim {claim.id} is {result.verdict}, not {' or '.join(wanted)}", f"because: {reason(result)}"]
    if result.witness:
        lines.append(f"witness: {witness(result.witness)}")
    lines += [f"again: {command}" for command in again]
    if result.verdict is Verdict.REFUTED and result.witness is not None:
        source = program(claim, result.witness)
        lines += ["", "with NumPy alone:", "", source] if source else []
    return "\n".join(lines)


def assert_increasing_in_key(
    decoder: Decoder, alpha: object, n: int, layers: Sequence[int] = (2,), dim: int | None = None
) -> None:
    """Fail unless later keys are certified to score strictly higher in these layers, up to the one before the query.

    Every step from a key to the next is decided in ball arithmetic, for equicorrelated inputs.

    Args:
        decoder: the layer, without RoPE.
        alpha: the cosine of the inputs.
        n: number of tokens.
        layers: from 2 up; in layer 1 all scores of different tokens are alpha.
        dim: the width, where the decoder depends on it.

    Raises:
        AssertionError: a step goes the other way, or is not decided; the message names the first.
        InvalidInput: a parameter is out of range.

    >>> assert_increasing_in_key(Decoder(), 0, 20, (2, 3))
    >>> assert_increasing_in_key(Decoder(), 0, 27, (3,))
    Traceback (most recent call last):
    AssertionError: the score falls in layer 3 from S[27,25] to S[27,26]
    """
    found = steps(Order(n, tuple(layers), decoder, alpha, dim), cap=_CAP)
    for pairs, words in ((found.falling, "the score falls"), (found.open, "it is not decided whether the score rises")):
        if pairs:
            layer, query, key = min(pairs)
            raise AssertionError(f"{words} in layer {layer} from S[{query},{key}] to S[{query},{key + 1}]")
