r"""Rotary position embedding in a decoder without parameters.

RoPE turns plane m of the normalised vector y_i by i theta_m, theta_m = b^(-2m/dim). With R_D the rotation by D
steps, the score is S_ij = <R_i y_i, R_j y_j> / scale = <y_i, R_{j-i} y_j> / scale: rotations commute. Everything
here follows from two traces. R_D turns each of dim/2 planes of every block by D theta_m, so on R^d

    tr R_D = 2 sum_m cos(D theta_m) d/dim = d kappa(D),        kappa(D) = (2/dim) sum_m cos(D theta_m),
    1^T R_D 1 = d kappa(D)                                     (1 = (1, ..., 1); each plane gives 2 cos),

whichever coordinates are paired (half-split or interleaved): the pairings differ by a permutation of coordinates,
which changes neither trace, nor the law of isotropic inputs, nor the layer normalisation.

**Layer one, exactly, at every width** (``mean_score``). Let the inputs' law be invariant under rotations of R^d,
as all three random laws are. For i != j the matrix E y_i y_j^T commutes with all rotations, so it is a multiple of
the identity: (E <y_i, y_j>/d) I. Hence

    E S_ij = tr(R_{j-i} E y_j y_i^T) / scale = kappa(i - j) E <y_i, y_j> / scale.

With layer normalisation the law is invariant under the rotations that fix 1, so that E y_i y_j^T is
E <y_i, y_j>/(d-1) times the projection P off 1, and tr(R_D P) = d kappa - 1^T R_D 1 / d = (d-1) kappa(D): the same
formula. There is no correction in 1/d. For ``Sphere`` the score is alpha kappa(i-j), hence 0 for alpha = 0.

**Independent inputs: no change in law.** For ``Sphere(d, 0)`` (or independent Gaussians) the turned tokens R_i y_i
are again independent and uniform, because each R_i is a fixed rotation. So all scores and weights of layer one
together have the same joint law with RoPE as without, not only the same mean. (From layer two on this ends: the
values are not turned.)

**The factorisation in the limit of large width.** Let C^(l) be the accumulated mixing matrix, x_i^(l) = sum_k C_ik
x_k, and T_kl(D) = <x_k, R_D x_l> for the input vectors. Then, with norms s_i^-2 = sum C_ik C_il T_kl(0),

    S_ij = s_i s_j sum_kl C_ik C_jl T_kl(j - i),

so a layer sees its inputs through the numbers T_kl(D), |D| < n, alone. Suppose (H) T_kl(D) = kappa(D) K_kl for all
k, l and |D| < n. Then S_ij = kappa(i-j) Y_ij with the cosine Y_ij = s_i s_j sum C_ik C_jl K_kl, the weights depend on
K alone, and so do the next C and K' = C K C^T: by induction, at every layer,

    S_ij = kappa(i - j) Y_ij,    A = softmax(mask(beta S)),    K' = M K M^T.

Without a mask and for alpha = 0 all other tokens weigh alike in layer one, so that layer two is relative as well;
later layers are so only up to what rows near the ends see (and for alpha > 0 layer two is not). All of this is about
the limit: the 1/d term of layer two is not relative even without a mask (n = 6, d = 64, b = 10000: spread 9.2e-5 on
the first diagonal), since the tokens that i and j share sit at other distances near the ends.

(H) holds in mean under the random laws (``Equicorrelated`` K), and each T_kl(D) is a sum over d/2 planes with
variance of order 1/d (for k != l and independent uniform vectors exactly 1/d, as R_D is a rotation). The layer map
is smooth in T where no norm vanishes; so as d -> oo scores converge to the factorised ones in probability, with noise
of order d^(-1/2) and, by the second order of Taylor's formula, an error of their expectation of order 1/d
(``numerics.rope_series`` computes its coefficient). The limit may be taken with dim fixed and d/dim -> oo, which keeps
kappa; or with one block, dim = d, when kappa itself tends to ``limiting_kernel``. (H) holds exactly for the vectors of
``numerics.vectors.realise_planes``.

**kappa as dim -> oo.** kappa is the Riemann sum with step h = 2/dim, left ends, of f(t) = cos(D b^(-t)) on [0, 1].
Substituting u = D b^(-t), du = -u ln b dt,

    int_0^1 cos(D b^(-t)) dt = (1/ln b) int_{D/b}^{D} cos(u)/u du = (Ci(D) - Ci(D/b)) / ln b,

and the left sum exceeds the integral by h (f(0) - f(1))/2 + O(h^2) = (cos D - cos(D/b))/dim + O(1/dim^2). Its slope in
D is (cos D - cos(D/b))/(D ln b), while that of the excess is about -sin(D)/dim: for finite dim the ripple wins where
D is not small against dim, and kappa rises and falls; "RoPE decays with distance" holds on average only.

Source: arXiv 2104.09864, section 3.2 (RoPE); arXiv 2509.21042, section 5.1 (its distortion by the mask).
"""

from __future__ import annotations

from typing import Any

import sympy
from sympy import Ci, Expr, Integer, Sum, Symbol, cos, log

from maskproof.theory.cosine import mean_cosine_shared_gaussian
from maskproof.theory.errors import InvalidInput
from maskproof.theory.inputs import Inputs, SharedGaussian, Sphere
from maskproof.theory.position import Rope
from maskproof.theory.quantities import Record
from maskproof.theory.values import exact, require

plane = Symbol("m", integer=True, nonnegative=True)  # index of a plane, in sums over planes


class Kappa(Expr):
    r"""kappa(D) by name, so that statements need not spell out its dim/2 terms; ``doit`` does.

    >>> Kappa(Symbol("D"), Rope(base=100, dim=4)).doit()
    cos(D/10)/2 + cos(D)/2
    """

    is_commutative = True
    is_extended_real = True
    is_real = True
    is_finite = True

    def __new__(cls, distance: object, position: Rope | Record | None = None) -> Kappa:
        rope = position if isinstance(position, Record) else Record.of(position or Rope())
        return super().__new__(cls, exact(distance, "distance"), rope)

    @property
    def distance(self) -> Expr:
        """D, usually i - j."""
        return self.args[0]

    @property
    def position(self) -> Rope:
        """The embedding whose angles are averaged over."""
        return Record.read(self.args[1])

    def doit(self, **hints: object) -> Expr:
        """The explicit sum of cosines."""
        return kernel(self.distance, self.position)

    def _eval_evalf(self, prec: int) -> Expr:
        return self.doit()._eval_evalf(prec)

    def _latex(self, printer: Any, exp: str | None = None) -> str:
        power = "" if exp is None else f"^{{{exp}}}"
        return rf"\kappa_{{{self.position.dim}}}{power}\left({printer._print(self.distance)}\right)"

    def _sympystr(self, printer: Any) -> str:
        return f"kappa{self.position.dim}({printer._print(self.distance)})"


def kernel(distance: object, position: Rope | None = None) -> Expr:
    r"""kappa(D), the mean cosine of the angles that RoPE gives to distance D; an explicit sum of dim/2 terms.

    It is even in D, kappa(0) = 1 and |kappa| <= 1.

    >>> kernel(Symbol("D"), Rope(base=100, dim=4))
    cos(D/10)/2 + cos(D)/2
    """
    rope = position or Rope()
    steps = exact(distance, "distance")
    half = rope.dim // 2
    return sympy.Add(*(cos(steps * rope.base ** (-sympy.Rational(m, half))) for m in range(half))) / half


def kernel_sum(distance: object, base: object, dim: object) -> Expr:
    r"""kappa(D) for symbolic base and dim: (2/dim) sum_{m=0}^{dim/2-1} cos(D base^(-2m/dim))."""
    steps, b, size = exact(distance, "distance"), exact(base, "base"), exact(dim, "dim")
    return 2 / size * Sum(cos(steps * b ** (-2 * plane / size)), (plane, 0, size / 2 - 1))


def limiting_kernel(distance: object, base: object = Integer(10000)) -> Expr:
    r"""The limit of kappa(D) as dim -> oo, (Ci(D) - Ci(D/base))/ln(base) for D > 0, and 1 at D = 0.

    >>> limiting_kernel(1).evalf(9)
    0.973962771
    """
    steps, b = exact(distance, "distance"), exact(base, "base")
    require(b > 1, f"base = {base}", "base > 1", "RoPE commonly uses 10000")
    require(steps >= 0, f"distance = {distance}", "distance >= 0", "the kernel is even")
    if steps == 0:
        return Integer(1)
    return (Ci(steps) - Ci(steps / b)) / log(b)


def kernel_excess(distance: object, base: object = Integer(10000)) -> Expr:
    r"""The coefficient of 1/dim in kappa(D) minus its limit: cos(D) - cos(D/base)."""
    steps, b = exact(distance, "distance"), exact(base, "base")
    return cos(steps) - cos(steps / b)


def limiting_slope(distance: object, base: object = Integer(10000)) -> Expr:
    r"""The derivative of ``limiting_kernel`` in D: (cos D - cos(D/base)) / (D ln base)."""
    steps, b = exact(distance, "distance"), exact(base, "base")
    return (cos(steps) - cos(steps / b)) / (steps * log(b))


def mean_inner_product(inputs: Inputs) -> Expr:
    """E <x_i, x_j> for i != j: the mean cosine where the law's vectors are unit vectors."""
    if isinstance(inputs, SharedGaussian):
        if inputs.unit:
            return mean_cosine_shared_gaussian(inputs.alpha, inputs.d)
        return inputs.alpha / (1 - inputs.alpha)
    return inputs.alpha


def mean_score(inputs: Inputs, i: object, j: object, position: Rope | None = None) -> Expr:
    r"""E S^(1)_ij with RoPE for queries i and keys j != i, l2 or no normalisation, scale 1.

    kappa(i - j) E <x_i, x_j>, exactly and at every width that RoPE's dim divides. For ``Equicorrelated``
    it is the limit of large width (a Gram matrix alone does not say how vectors lie in the planes).

    >>> from maskproof.theory.inputs import Equicorrelated
    >>> mean_score(Equicorrelated(0), 5, 2)
    0

    Raises:
        InvalidInput: i = j, where the score is the squared norm; or RoPE's dim does not divide the width.
    """
    query, key = exact(i, "i"), exact(j, "j")
    if query == key:
        raise InvalidInput(f"i = j = {i}", "i != j", "a normalised vector has product 1 with itself")
    rope = position or Rope()
    if isinstance(inputs, Sphere | SharedGaussian) and inputs.d.is_Integer:
        rope.check_width(int(inputs.d))
    return kernel(query - key, rope) * mean_inner_product(inputs)
