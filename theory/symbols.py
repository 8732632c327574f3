"""The symbols that claims are written in, each with its assumptions.

Positions and counts are integers from 1 up; the inverse temperature and the residual weight are
non-negative; the correlation alpha is real and gets its range from the domain of each claim.
"""

from sympy import Symbol


class _Lambda(Symbol):
    """A symbol whose name can be typed in Python and which prints as a Greek letter."""

    def _latex(self, printer: object) -> str:
        return r"\lambda"


i = Symbol("i", integer=True, positive=True)  # position of the query
j = Symbol("j", integer=True, positive=True)  # position of the key
k = Symbol("k", integer=True, positive=True)  # a second key
l = Symbol("l", integer=True, positive=True)  # layer  # noqa: E741
n = Symbol("n", integer=True, positive=True)  # number of tokens
d = Symbol("d", integer=True, positive=True)  # width of the vectors
alpha = Symbol("alpha", real=True)  # correlation of distinct input tokens
beta = Symbol("beta", nonnegative=True)  # inverse temperature
lam = _Lambda("lam", nonnegative=True)  # residual weight
m = Symbol("m", nonnegative=True)  # number of earlier tokens, i - 1, read as a real variable

DECLARED = frozenset({i, j, k, l, n, d, alpha, beta, lam, m})
