"""Why the residual breaks the order: scores far from the start, for orthogonal inputs (alpha = 0).

**With the residual**, lam > 0. As i grows with i/j fixed, i S^(l)_ij tends to a polynomial F_l in L = log(i/j) with
coefficients >= 0. From layer three on it is not constant: the older key scores higher, in long enough sequences, for
every beta and every lam > 0.

After l layers x_i = lam^l (e_i + (1/i) sum_(k<i) p_l(log(i/k)) e_k) to leading order in 1/i, for inputs e_k. All scores
off the diagonal are O(1/i), so the attention is uniform, whatever beta is, and gives a token itself only O(1/i). The
average of y_1..y_i holds e_k once directly, and again through each later y_m with m <= i, in all
(1/i) (1 + sum_(k<m<=i) p_l(log(m/k))/m); the sum tends to an integral, so

    p_0 = 0,    p_(l+1)(L) = p_l(L) + (1 + int_0^L p_l) / lam^(l+1),

and <y_i, y_j> gives F_(l+1)(L) = p_l(L) + int_0^oo p_l(L + v) p_l(v) e^(-v) dv. What the normalisation gains for later
keys is of order exp(beta)/j: it wins near the start and loses beyond a number of keys that grows like log(i).

The first failure is next to the diagonal. For alpha = 0 and beta -> oo its query is at t exp(beta), where t depends on
layer and residual alone: with i = t exp(beta) and j = u exp(beta) the weights of the first two layers are
exp(-beta)/(1 + t) and 1/(1 + t) for the query itself, and exp(beta) S^(3)_ij tends to

    c(t, u) + int_0^u c(t, v) c(u, v) dv,
    c(t, u) = (lam + 1 + c_1(t) + log(c_1(u)/c_1(t))/lam) / (1 + lam/c_1(t)),    c_1(t) = 1/(1 + lam + lam t).

The order is lost where the slope of this in u at u = t turns negative: at t = 7.20077 for lam = 1, t = 5.2357 for
lam = 2, t = 16.291 for lam = 1/2.

**Without the residual** y_1, y_2, ... look stationary in log i: S^(l)_ij tends to s_l(log(i/j)), s_2(T) = exp(-T/2).
The weights tend to k_l(T) = exp(-T + beta s_l(T)) for T >= 0, up to a factor, so that s_(l+1) is proportional to the
convolution of s_l(|T|) with the autocorrelation of k_l. That of a decreasing function on T >= 0 is even and decreases
in |T|; so does, by Wintner's theorem, the convolution of two such functions. So closer keys score higher, for every
beta and in every layer, as far as the limit tells them apart. The residual takes this away: what it keeps of the
tokens is not smooth in log i but independent.
"""

from __future__ import annotations

from math import factorial

from sympy import Add, Expr, Integer, Poly, Symbol, expand, integrate

from maskproof.theory.symbols import lam

L = Symbol("L", nonnegative=True)  # log(i/j)
_v = Symbol("v", nonnegative=True)


def content(layers: int) -> Expr:
    """p_l: after so many layers x_i holds x_k of the inputs p_l(log(i/k))/i times as much as it holds x_i.

    >>> content(2)
    L/lam**3 + 1/lam + lam**(-2)
    """
    share: Expr = Integer(0)
    for depth in range(1, layers + 1):
        share = expand(share + (1 + integrate(share, L)) / lam**depth)
    return share


def limit(layer: int) -> Expr:
    """F_l, the limit of i S^(l)_ij for layer 2 or more, as a polynomial in L = log(i/j).

    >>> limit(3).subs(lam, 1)
    4*L + 12
    """
    share = content(layer - 1)
    overlap = Poly(expand(share.subs(L, L + _v) * share.subs(L, _v)), _v)
    return expand(share + Add(*(term * factorial(power) for (power,), term in overlap.terms())))
