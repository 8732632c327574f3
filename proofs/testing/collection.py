"""Claims as tests of pytest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from maskproof.proofs.command import arguments, options
from maskproof.proofs.command.loader import check_claims, check_source
from maskproof.proofs.pipeline import Pipeline, verify
from maskproof.proofs.testing.assertions import ACCEPTED, described, verdict_named
from maskproof.proofs.verdict import Result, Verdict
from maskproof.theory.claim import Claim
from maskproof.theory.errors import InvalidInput


def items(module: Any, claims: list[Any]) -> list[ClaimItem]:
    """A test for each claim of a module.

    Raises:
        pytest.Collector.CollectError: the module's claims or expectations are not what they should be.
    """
    if not isinstance(module, pytest.Module):
        return []
    try:
        check_source(Path(module.path))
        check_claims(claims, module.path.name)
        checks = Checks(claims, module.config)
        expected = _expected(getattr(module.obj, "expected", {}), checks.claims, module.path.name)
    except InvalidInput as error:
        raise module.CollectError(str(error)) from None
    return [
        ClaimItem.from_parent(module, name=claim.id, claim=claim, checks=checks, expected=expected.get(claim.id))
        for claim in claims
    ]


def _expected(given: object, claims: Mapping[str, Claim], where: str) -> dict[str, Verdict]:
    if not isinstance(given, Mapping):
        raise InvalidInput(
            f"{where}: expected of type {type(given).__name__}",
            "'expected gives verdicts by claim id'",
            'write expected = {"id": "REFUTED"}',
        )
    for name in given:
        if name not in claims:
            raise InvalidInput(f"{where}: expected[{name!r}]", "'the claim is in the list'", "correct the id")
    return {name: verdict_named(verdict) for name, verdict in given.items()}


class Checks:
    """The claims of a module, verified one by one with what they use.

    Attributes:
        claims: by id.
        seed, effort, timeout: as the options of pytest say.
    """

    def __init__(self, claims: Sequence[Claim], config: Any) -> None:
        self.claims = {claim.id: claim for claim in claims}
        given = {name: config.getoption(f"--maskproof-{name}") for name in ("seed", "effort", "timeout")}
        self.seed = arguments.whole(given["seed"], "--maskproof-seed", least=0, most=options.LAST_SEED)
        self.effort = arguments.positive(given["effort"], "--maskproof-effort")
        timeout = given["timeout"]
        self.timeout = None if timeout is None else arguments.positive(timeout, "--maskproof-timeout")
        self._pipeline = Pipeline(claims, self.seed, self.effort)

    def result(self, claim: Claim) -> Result:
        """The verdict on a claim."""
        if self.timeout is None:
            return self._pipeline.result(claim)
        needed = [self.claims[name] for name in self._used(claim, {})]
        return verify([*needed, claim], self.seed, timeout=self.timeout, effort=self.effort)[-1]

    def _used(self, claim: Claim, found: dict[str, None]) -> dict[str, None]:
        for name in claim.uses:
            if name in self.claims and name not in found and name != claim.id:
                self._used(self.claims[name], found)
                found[name] = None
        return found


class Unexpected(Exception):
    """A claim came out otherwise than expected; the message says how, and how to replay it."""


class ClaimItem(pytest.Item):
    """A claim as a test."""

    def __init__(self, *, claim: Claim, checks: Checks, expected: Verdict | None, **rest: Any) -> None:
        super().__init__(**rest)
        self.claim, self.checks, self.expected = claim, checks, expected

    def runtest(self) -> None:
        """Verify the claim.

        Raises:
            Unexpected: the verdict is not the expected one.
        """
        result = self.checks.result(self.claim)
        wanted = ACCEPTED if self.expected is None else (self.expected,)
        if result.verdict not in wanted:
            again = [
                f"pytest {self.path.name}::{self.claim.id} --maskproof-seed {self.checks.seed}",
                f"maskproof verify --explain {self.path.name}",
            ]
            raise Unexpected(described(self.claim, result, wanted, again))

    def repr_failure(self, excinfo: Any, style: Any = None) -> Any:
        """What is printed of a failure: no traceback where the claim is at fault."""
        if isinstance(excinfo.value, Unexpected | InvalidInput):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Where the test comes from, and its name."""
        return self.path, None, f"claim {self.claim.id}"
