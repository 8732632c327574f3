"""What is refused as a claim, and why."""

from __future__ import annotations

import pytest
from sympy import And, Eq, Lt, Or, Symbol, true

from maskproof.theory import Claim, Decoder, Equicorrelated, Score, Sphere, alpha, beta, i, j, lam
from maskproof.theory.claim import MalformedClaim
from maskproof.theory.derivation import Derivation
from maskproof.theory.domain import find_point
from maskproof.theory.symbols import d, m, n

GOOD = Lt(Score(2, i, j), 1)


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        (Claim("a", Score(2, i, j)), "relation"),
        (Claim("a", None), "relation"),
        (Claim("a", "S < 1"), "relation"),
        (Claim("a", Score(1, i, j) == alpha), "write Eq"),
        (Claim("a", Score(1, i, j) != alpha), "write Eq"),
        (Claim("a", GOOD, domain=1), "relation"),
        (Claim("a", GOOD, domain=And(alpha > 2, alpha < 1)), "has a point"),
        (Claim("a", GOOD, domain=Eq(i, j + i)), "SymPy evaluated it"),
        (Claim("a", Lt(Symbol("z"), 1)), "symbol z"),
        (Claim("a", Lt(Symbol("alpha"), 1)), "not theory.alpha"),
        (Claim("a", GOOD, domain=Symbol("i") > 1), "not theory.i"),
        (Claim("", GOOD), "has a name"),
        (Claim("a\x1b[31m", GOOD), "printable"),
        (Claim("a", true), "SymPy evaluated it"),
        (Claim("a", Eq(beta / beta, 1)), "SymPy evaluated it"),
        (Claim("a", Eq(0.1 * i + 0.2 * i, 0.3 * i)), "SymPy evaluated it"),
        (Claim("a", GOOD, domain=Eq(j < i, True)), "relation"),
        (Claim("a", GOOD, domain=Score(2, i, j) > 0), "quantity in the domain"),
        (Claim("a", GOOD, uses="b"), "tuple of ids"),  # type: ignore[arg-type]
        (Claim("a", GOOD, uses=5), "tuple of ids"),  # type: ignore[arg-type]
        (Claim("a", GOOD, note=5), "text"),  # type: ignore[arg-type]
        (Claim("a", GOOD, proof=5), "Derivation"),  # type: ignore[arg-type]
        (Claim("a", GOOD, proof=Derivation("x", "x", (), ())), "Derivation"),
        (Claim("a", GOOD, decoder=None), "Decoder"),  # type: ignore[arg-type]
        (Claim("a", GOOD, inputs=5), "input law"),  # type: ignore[arg-type]
    ],
)
def test_a_malformed_claim_is_refused_in_one_line(claim, said):
    with pytest.raises(MalformedClaim) as caught:
        claim.check()
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "claim",
    [
        Claim("a", GOOD),
        Claim("a", GOOD, domain=True),
        Claim("a", GOOD, domain=Or(i < 3, j > 100)),
        Claim("a", GOOD, decoder=Decoder(beta=beta, residual=lam), inputs=Sphere(d, 0)),
    ],
)
def test_a_claim_that_says_something_is_accepted(claim):
    claim.check()


def test_a_claim_is_about_the_symbols_of_its_model_too():
    claim = Claim("a", GOOD, decoder=Decoder(beta=beta), inputs=Equicorrelated(alpha))
    assert claim.free_symbols == (alpha, beta, i, j)


@pytest.mark.parametrize(
    "domain",
    [
        j < i,
        Eq(i, 1000),
        And(j < i, i > 40),
        And(alpha > 0, alpha < 1),
        And(Eq(i, j + 1), j > 7),
        And(m > 5, n >= 3),
        Eq(alpha**2, 2),
        And(Eq(alpha**5 - alpha, 1), beta > alpha),
    ],
)
def test_a_point_of_a_domain_lies_in_it(domain):
    point = find_point(domain, tuple(sorted(domain.free_symbols, key=str)))
    assert point is not None
    assert domain.subs(point) == true


def test_an_equation_without_a_real_root_has_no_point():
    assert find_point(Eq(alpha**2 + 1, 0, evaluate=False), (alpha,)) is None
    assert find_point(And(Eq(alpha**2, 2), alpha < -2), (alpha,)) is None
