"""A verdict held against the independent evaluation of the claim."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod
from random import Random
from types import ModuleType
from typing import Any

import sympy
from sympy import Symbol

from maskproof.proofs.engines import boxes, points, witness
from maskproof.proofs.pipeline import verify
from maskproof.proofs.verdict import Result, Verdict
from maskproof.theory.claim import Claim
from maskproof.theory.errors import InvalidInput
from tests.differential.evaluator import AGAIN, DIGITS, Outside, Unreadable, domain_at, statement_at, value
from tests.differential.evaluator import scene as scene_at

INVALID = "INVALID"
CERTAIN = (Verdict.PROVED, Verdict.ENCLOSED)
POINTS = 9  # of the domain at which a certain verdict is checked

# The engines' counts, lowered so that a claim takes tens of milliseconds. What they certify or refute then is no less
# right; they give up sooner.
EFFORT: dict[str, int] = {
    "POINTS": 60, "REAL_POINTS": 3, "WORK": 50_000, "SOME_WORK": 20_000, "BOXES": 24, "BOX_EVALUATIONS": 400,
    "SMALL_POINTS": 120, "MOST_POINTS": 60, "SIMPLE_REALS": 8, "EXAMPLES": 6, "MINIMISED": 60,
}  # fmt: skip
_ENGINES: tuple[ModuleType, ...] = (boxes, points, witness)


@contextmanager
def little_effort() -> Iterator[None]:
    """Lower the counts of the engines while it lasts.

    Raises:
        AttributeError: an engine has no such count any more: the table above is out of date.
    """
    homes = {name: [module for module in _ENGINES if hasattr(module, name)] for name in EFFORT}
    missing = [name for name, modules in homes.items() if not modules]
    if missing:
        raise AttributeError(f"no engine has {', '.join(missing)}")
    before = {(module, name): getattr(module, name) for name, modules in homes.items() for module in modules}
    try:
        for module, name in before:
            setattr(module, name, EFFORT[name])
        yield
    finally:
        for (module, name), old in before.items():
            setattr(module, name, old)


@dataclass(frozen=True)
class Ruling:
    """What maskproof says of a claim.

    Attributes:
        verdict: its verdict, or INVALID where it refuses the claim.
        result: with its witness, or None.
        fault: an internal error in words, or "".
        seconds: the time it took.
    """

    verdict: str
    result: Result | None
    fault: str = ""
    seconds: float = 0.0


def ruling(claim: Claim) -> Ruling:
    """Ask for a verdict; an error other than a refusal is a fault."""
    started = time.process_time()
    try:
        found = verify(claim)
    except InvalidInput as refusal:
        fault = "a refusal of more than a line" if "\n" in str(refusal) else ""
        return Ruling(INVALID, None, fault, time.process_time() - started)
    except Exception as error:  # noqa: BLE001
        return Ruling("ERROR", None, f"{type(error).__name__}: {error}", time.process_time() - started)
    return Ruling(str(found.verdict), found, "", time.process_time() - started)


def wrong(claim: Claim, given: Ruling, likely: Mapping[Symbol, tuple[Fraction, ...]], seed: int = 0) -> str | None:
    """Why a ruling is wrong, or None if nothing speaks against it."""
    if given.fault:
        return given.fault
    # What one engine finds and the pipeline then calls UNKNOWN, because another disagrees, is wrong all the same.
    found = {given.verdict, *(str(e.outcome) for e in given.result.evidence)} if given.result is not None else set()
    try:
        for verdict in (v for v in CERTAIN if v in found):
            complaint = _against(claim, verdict, likely, seed)
            if complaint:
                return complaint
        return _for(claim, given) if given.verdict == Verdict.REFUTED else None
    except Unreadable:
        return None


def _against(claim: Claim, verdict: str, likely: Mapping[Symbol, tuple[Fraction, ...]], seed: int) -> str | None:
    """A point at which a certified claim does not hold."""
    met = 0
    for point in _points(claim, likely, seed):
        inside = domain_at(claim, point)
        if inside is None and domain_at(claim, point, AGAIN) is None:
            return f"{verdict}, but the domain has no value at {_words(point)}"
        if not inside:
            continue
        met += 1
        complaint = _fails(claim, point)
        if complaint:
            return f"{verdict}, but {complaint} at {_words(point)}"
        if met >= POINTS:
            break
    return None


def _fails(claim: Claim, point: Mapping[Symbol, Any]) -> str:
    try:
        if statement_at(claim, point) is True:
            return ""
        again = statement_at(claim, point, AGAIN)
    except Outside:
        return ""
    if again is True:
        return ""
    return "the statement has no value" if again is None else "the statement is false"


def _for(claim: Claim, given: Ruling) -> str | None:
    """Why the witness of a refuted claim is none."""
    witness = given.result.witness if given.result is not None else None
    if witness is None:
        return "REFUTED without a witness"
    symbols = {s.name: s for s in claim.free_symbols}
    empty = scene_at(claim, {})
    point: dict[Symbol, Any] = {}
    for name, at in witness.items():
        number = value(sympy.sympify(at), empty)
        if number is None:
            return f"REFUTED at {name} = {at}, which is not a number"
        point[symbols.get(name) or Symbol(name, integer=True, positive=True)] = number
    missing = [name for name in symbols if name not in witness]
    if missing:
        return f"REFUTED with a witness that leaves {', '.join(missing)} open"
    for digits in (DIGITS, AGAIN):
        inside = domain_at(claim, point, digits)
        if inside is True:
            try:
                if statement_at(claim, point, digits) is not True:
                    return None
            except Outside as reason:
                return f"REFUTED, but the claim is not about {reason}, the witness {_words(point)}"
    if inside is not True:
        return f"REFUTED at {_words(point)}, which is not in the domain"
    return f"REFUTED at {_words(point)}, where the statement is true"


def _points(
    claim: Claim, likely: Mapping[Symbol, tuple[Fraction, ...]], seed: int, most: int = 60
) -> Iterator[dict[Symbol, Fraction]]:
    """Likely points in random order, then points among the numbers that the claim mentions and between all of them."""
    random = Random(seed)
    names = sorted(set(likely) | set(claim.free_symbols), key=lambda s: s.name)
    choices = {s: likely.get(s) or _usual(s) for s in names}
    if prod(map(len, choices.values())) <= most:
        every = [dict(zip(names, choice, strict=True)) for choice in product(*choices.values())]
        random.shuffle(every)
        yield from every
    mentioned = _mentioned(claim)
    more = {s: (*choices[s], *(v for v in mentioned if _suits(s, v))) for s in names}
    for _ in range(most // 2):
        yield {s: _between(random, s, more[s]) for s in names}


def _mentioned(claim: Claim) -> list[Fraction]:
    """The numbers in statement and domain, their neighbours and their negatives."""
    formulas = (sympy.sympify(claim.statement), sympy.sympify(claim.domain))
    atoms = {Fraction(int(v.p), int(v.q)) for f in formulas for v in f.atoms(sympy.Rational) if abs(v) <= 50}
    return sorted(
        {v + step for v in atoms for step in (-1, 0, 1) if step == 0 or v.denominator == 1} | {-v for v in atoms}
    )


def _suits(symbol: Symbol, value: Fraction) -> bool:
    if symbol.is_integer:
        return value.denominator == 1 and value >= 1
    return value >= 0 or not symbol.is_nonnegative


def _usual(symbol: Symbol) -> tuple[Fraction, ...]:
    if symbol.is_integer:
        return tuple(map(Fraction, range(1, 10)))
    return tuple(map(Fraction, ("0", "1", "1/2", "2") if symbol.is_nonnegative else ("0", "1/2", "-1/2", "-1", "2")))


def _between(random: Random, symbol: Symbol, values: tuple[Fraction, ...]) -> Fraction:
    if symbol.is_integer or random.random() < 0.5:
        return random.choice(values)
    low, high = min(values), max(values)
    return low + (high - low) * Fraction(random.randint(0, 1000), 1000)


def _words(point: Mapping[Symbol, Any]) -> str:
    return ", ".join(f"{s.name} = {v}" for s, v in point.items()) or "the single case"


def described(claim: Claim) -> str:
    """What the claim says, in full, for a reader who wants to write it down as a test."""
    proof = f"\n  proof: {claim.proof}" if claim.proof is not None else ""
    model = f"\n  decoder: {claim.decoder}\n  inputs: {claim.inputs}"
    return f"  statement: {claim.statement}\n  domain: {claim.domain}{model}{proof}"
