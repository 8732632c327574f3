r"""Means and covariances of the first layer's Gram matrix to order 1/d, in closed form.

Under Sphere(d, alpha) the input cosines are alpha + e_pq with E e_pq = 0, E e_pq^2 = (1-alpha)^2/d + O(1/d^2),
distinct pairs uncorrelated. Hence, with the sums over pairs p < q that ``theory.pair_classes`` defines,

    E G_ab = G_ab(equicorrelated) + (1-alpha)^2 B_ab / d + O(1/d^2)
    Cov(G_ab, G_cd) = (1-alpha)^2 C_{ab,cd} / d + O(1/d^2)

Summed over its classes, each B and C collapses to a line or two. The functions below return these lines in
terms of letters for each row a,

    D_a = r + a - 1                                       sum of the unnormalised weights
    mu_a = lam + r/D_a                                    weight of token a in x_a' (the entry M_aa)
    omega_a = mu_a^2 + (a-1)/D_a^2                        sum of the squared weights in row a of M
    theta_a = (1-alpha) beta/D_a                          rate at which row a turns, times 1 - alpha
    u_a = mu_a - r theta_a (mu_a - 1/D_a)                 dG_aa/de = 2 u_a/D_a for e a cosine of query a
    w_a = mu_a + theta_a                                  dG_aj/de = w_a m_jp - s theta_a/D_a for e = e_pa
    nu_a = 3 C_{aa,aa}/(8 h_a^4) - B_aa/(2 h_a^2)         E 1/|x_a'| = (1 + (1-alpha)^2 nu_a/d) / h_a
    h_a^2 = alpha s^2 + (1-alpha) omega_a                 the equicorrelated G_aa

and g_a = s (alpha s + (1-alpha)/D_a), the equicorrelated G_aj for every j < a.
That the lines equal the sums is an identity of rational functions.
"""

from __future__ import annotations

import sympy
from sympy import Expr, Symbol

from maskproof.theory.formula import Piece
from maskproof.theory.pair_classes import r, row_letter, row_sum, s
from maskproof.theory.symbols import alpha, beta


def D(a: Expr) -> Symbol:  # noqa: N802 - the letter of the paper's denominator
    """The letter D_a."""
    return row_sum(a)


def mu(a: Expr) -> Symbol:
    """The letter mu_a."""
    return row_letter("mu", a)


def omega(a: Expr) -> Symbol:
    """The letter omega_a."""
    return row_letter("omega", a)


def u(a: Expr) -> Symbol:
    """The letter u_a, real."""
    return Symbol(f"u_{a}", real=True)


def w(a: Expr) -> Symbol:
    """The letter w_a."""
    return row_letter("w", a)


def theta(a: Expr) -> Symbol:
    """The letter theta_a, which is 0 at beta = 0."""
    return Symbol(f"theta_{a}", nonnegative=True)


def nu(a: Expr) -> Symbol:
    """The letter nu_a."""
    return Symbol(f"nu_{a}", real=True)


def g(a: Expr) -> Symbol:
    """The letter g_a."""
    return Symbol(f"g_{a}", real=True)


def h(a: Expr) -> Symbol:
    """The letter h_a."""
    return row_letter("h", a)


def B(a: Expr, b: Expr) -> Symbol:  # noqa: N802 - as in the formulas above
    """The letter B_ab."""
    return Symbol(f"B_{{{a}{b}}}", real=True)


def C(a: Expr, b: Expr, c: Expr, e: Expr) -> Symbol:  # noqa: N802 - as in the formulas above
    """The letter C_{ab,ce}, which is also C_{ce,ab}: the pair of distinct indices is printed first."""
    first, second = sorted(((a, b), (c, e)), key=lambda pair: (pair[0] == pair[1], str(pair)))
    return Symbol(f"C_{{{first[0]}{first[1]},{second[0]}{second[1]}}}", real=True)


def row_sum_piece(a: Expr) -> Piece:
    """D_a, the sum of the unnormalised weights of query a."""
    return D(a), r + a - 1


def own_weight_piece(a: Expr) -> Piece:
    """mu_a, the weight of token a in x_a'."""
    return mu(a), s - 1 + r / D(a)


def squares_piece(a: Expr) -> Piece:
    """omega_a, the sum of the squared weights in x_a'."""
    return omega(a), mu(a) ** 2 + (a - 1) / D(a) ** 2


def norm_slope_piece(a: Expr) -> Piece:
    """u_a, up to the factor 2/D_a the slope of G_aa in a cosine of query a."""
    return u(a), mu(a) - r * theta(a) * (mu(a) - 1 / D(a))


def pull_piece(a: Expr) -> Piece:
    """w_a, the part of the slope of G_aj that is proportional to the weight of the moved key in x_j'."""
    return w(a), mu(a) + theta(a)


def turn_piece(a: Expr) -> Piece:
    """theta_a, 1 - alpha times the rate at which row a of the attention matrix turns to a key as its cosine grows."""
    return theta(a), (1 - alpha) * beta / D(a)


def inner_product_piece(a: Expr) -> Piece:
    """g_a, the equicorrelated G_aj for j < a."""
    return g(a), s * (alpha * s + (1 - alpha) / D(a))


def norm_piece(a: Expr) -> Piece:
    """h_a, the root of the equicorrelated G_aa."""
    return h(a), sympy.sqrt(alpha * s**2 + (1 - alpha) * omega(a))


def norm_bias_piece(a: Expr) -> Piece:
    """B_aa, the bias of the squared norm."""
    return B(a, a), norm_bias(a)


def norm_variance_piece(a: Expr) -> Piece:
    """C_{aa,aa}, the variance of the squared norm."""
    return C(a, a, a, a), norm_variance(a)


def inverse_norm_piece(a: Expr) -> Piece:
    """nu_a, the relative bias of the inverse norm."""
    return nu(a), 3 * C(a, a, a, a) / (8 * h(a) ** 4) - B(a, a) / (2 * h(a) ** 2)


def norm_bias(a: Expr) -> Expr:
    """B_aa."""
    product = 2 * mu(a) * (1 - 1 / D(a)) - 2 * r / D(a) ** 2  # of the moved cosine with the weights that turn
    softmax = 1 - 1 / D(a) + r * (r - 1) / D(a) ** 2 - r * (1 - 2 / D(a)) * (mu(a) - 1 / D(a))  # of the weights alone
    return (a - 1) * beta / D(a) * (product + theta(a) * softmax)


def inner_product_bias(i: Expr, j: Expr) -> Expr:
    """B_ij for j < i."""
    query = s * r * beta / D(i) ** 2 * (theta(i) / 2 * (D(i) - 2) - 1)
    key = beta * (j - 1) * (j - 2) / (D(i) * D(j) ** 2)
    return query + key


def norm_variance(a: Expr) -> Expr:
    """C_{aa,aa}."""
    return (a - 1) * (4 * u(a) ** 2 / D(a) ** 2 + 2 / D(a) ** 4 * (a - 2))


def norm_covariance(i: Expr, j: Expr) -> Expr:
    """C_{ii,jj} for j < i."""
    return 2 / (D(i) ** 2 * D(j)) * (j - 1) * (2 * u(j) + (j - 2) / D(j))


def row_covariance(i: Expr, overlap: Expr) -> Expr:
    """C_{ij,ik} for j <= k < i.

    Args:
        i: the query.
        overlap: <m_j, m_k>, which is omega_j if k = j and s/D_k if j < k.
    """
    drop = s * theta(i) / D(i)  # the part of the slope that is the same for every key
    seen = w(i) ** 2 * overlap - 2 * s * w(i) * drop + (i - 1) * drop**2  # the pairs (p, i)
    unseen = ((i - 3) * overlap + s**2) / D(i) ** 2  # the pairs of earlier tokens
    return seen + unseen


def query_covariance(i: Expr) -> Expr:
    """C_{ij,ii} for j < i; the same for every j."""
    return 2 * s / D(i) * (u(i) * (mu(i) + r * theta(i) / D(i)) + (i - 2) / D(i) ** 2)


def key_covariance(i: Expr, j: Expr) -> Expr:
    """C_{ij,jj} for j < i."""
    return 2 / (D(i) * D(j)) * (j - 1) * (u(j) * (mu(j) + 1 / D(j)) + (j - 2) / D(j) ** 2)


def later_covariance(i: Expr, k: Expr) -> Expr:
    """C_{ij,kk} for j < k < i; the same for every j."""
    return 2 * s / (D(i) * D(k)) * (u(k) + (k - 2) / D(k))


def earlier_covariance(i: Expr, j: Expr, k: Expr) -> Expr:
    """C_{ik,jj} for j < k < i."""
    return 2 / (D(i) * D(j) * D(k)) * (j - 1) * (2 * u(j) + (j - 2) / D(j))
