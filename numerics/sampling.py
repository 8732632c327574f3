"""The random input laws, sampled as vectors and, much faster, as coordinates.

Without RoPE a decoder sees its inputs only through their inner products, so n tokens may be drawn in
any orthonormal basis. ``sample_coordinates`` draws them in the basis that the Gram-Schmidt process
would build from the tokens themselves. There the matrix of coordinates of n Gaussian vectors of R^d is
lower triangular with independent entries: standard normal below the diagonal, chi with d, d - 1, ...
degrees of freedom on it (Bartlett 1933; Anderson, An Introduction to Multivariate Statistical Analysis,
section 7.2). The cost does not depend on d, and the law is exact for every d, also d < n: the matrix
then has d columns.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from maskproof.numerics.arrays import Array
from maskproof.theory.decoder import Decoder
from maskproof.theory.errors import InvalidInput
from maskproof.theory.inputs import Equicorrelated, SharedGaussian, Sphere


@dataclass(frozen=True)
class Coordinates:
    """Tokens in an orthonormal basis of the space that they span.

    Attributes:
        centred: shape (count, n, q): the tokens; with ``along``, their part orthogonal to the all-ones
            vector, which is what layer normalisation keeps.
        along: shape (count, n): the component along (1, ..., 1)/sqrt(d), or None when nobody asked
            for it.
        frame: shape (count, N, q): the independent isotropic vectors, with mean Gram matrix I, from which the
            tokens were made (see ``numerics.noise``), or None.
    """

    centred: Array
    along: Array | None = None
    frame: Array | None = None

    def gram(self) -> Array:
        """Inner products of the tokens, shape (count, n, n)."""
        inner = self.centred @ self.centred.swapaxes(-1, -2)
        if self.along is None:
            return inner
        return inner + self.along[:, :, None] * self.along[:, None, :]


@dataclass(frozen=True)
class Law:
    """A random input law with its parameters as numbers.

    Attributes:
        d: width.
        alpha: mean cosine of ``Sphere``, correlation of the coordinates of ``SharedGaussian``.
        gaussian: whether the law is ``SharedGaussian``.
        unit: whether every token has norm 1.
    """

    d: int
    alpha: float
    gaussian: bool
    unit: bool


def law_of(inputs: object, decoder: Decoder | None = None) -> Law:
    """Read ``inputs`` as a law that can be sampled.

    Raises:
        InvalidInput: the inputs are not random, a parameter is symbolic, or the width is too small.
    """
    if isinstance(inputs, Equicorrelated):
        raise InvalidInput(
            f"inputs = {inputs}",
            "'the inputs are random'",
            "use mean_field for the deterministic Gram matrix",
        )
    if not isinstance(inputs, Sphere | SharedGaussian):
        raise InvalidInput(
            f"inputs = {inputs!r}",
            "'inputs are an input law'",
            "use Sphere(d, alpha) or SharedGaussian(d, alpha)",
        )
    if not inputs.d.is_Integer:
        raise InvalidInput(f"d = {inputs.d}", "'d is a number'", "give the width a whole number to sample at")
    if inputs.alpha.free_symbols:
        raise InvalidInput(f"alpha = {inputs.alpha}", "'alpha is a number'", "give a number in [0, 1)")
    d, alpha = int(inputs.d), float(inputs.alpha)
    if not 0 <= alpha < 1:
        raise InvalidInput(f"alpha = {inputs.alpha}", "0 <= alpha < 1", "give a number in [0, 1)")
    gaussian = isinstance(inputs, SharedGaussian)
    if not gaussian and alpha > 0 and d < 2:
        raise InvalidInput(f"d = {d}", "d >= 2 for alpha > 0", "use a larger width or alpha = 0")
    if decoder is not None and decoder.norm == "layernorm" and d < 2:
        raise InvalidInput(f"d = {d}", "d >= 2 for layernorm", "centring leaves nothing of one coordinate")
    return Law(d, alpha, gaussian, not gaussian or inputs.unit)


def _bartlett(generator: np.random.Generator, count: int, n: int, d: int) -> Array:
    """Coordinates of ``n`` standard Gaussian vectors of R^d, shape (count, n, min(n, d))."""
    q = min(n, d)
    factor = np.zeros((count, n, q))
    rows, columns = np.tril_indices(n, -1, q)
    factor[:, rows, columns] = generator.standard_normal((count, rows.size))
    diagonal = np.arange(q)
    factor[:, diagonal, diagonal] = np.sqrt(generator.chisquare(d - diagonal, (count, q)))
    return factor


def _row_norms(centred: Array, along: Array | None) -> Array:
    squares = np.einsum("bnq,bnq->bn", centred, centred)
    return np.sqrt(squares if along is None else squares + along**2)


def _normalised(centred: Array, along: Array | None) -> tuple[Array, Array | None]:
    norms = _row_norms(centred, along)
    return centred / norms[:, :, None], None if along is None else along / norms


def _gaussian_tokens(
    generator: np.random.Generator, count: int, n: int, d: int, split: bool
) -> tuple[Array, Array | None]:
    """Standard Gaussian vectors of R^d; with ``split`` one coordinate is kept apart."""
    if not split:
        return _bartlett(generator, count, n, d), None
    return _bartlett(generator, count, n, d - 1), generator.standard_normal((count, n))


def _independent(law: Law, generator: np.random.Generator, count: int, n: int, split: bool) -> Coordinates:
    """Independent uniform unit vectors."""
    centred, along = _gaussian_tokens(generator, count, n, law.d, split)
    tokens = _normalised(centred, along)
    frame = tokens[0] if along is None else _normalised(centred, None)[0]
    return Coordinates(*tokens, frame)


def _shared_gaussian(law: Law, generator: np.random.Generator, count: int, n: int, split: bool) -> Coordinates:
    """g_i + c g_0, where g_0 comes first in the basis, so that only one coordinate is shared."""
    shared = law.alpha > 0
    tokens, along = _gaussian_tokens(generator, count, n + shared, law.d, split)
    frame = tokens / np.sqrt(law.d - 1 if split else law.d)
    if shared:
        weight = np.sqrt(law.alpha / (1 - law.alpha))
        first = tokens[:, :1, :1]
        tokens = tokens[:, 1:]
        tokens[:, :, :1] += weight * first
        along = None if along is None else along[:, 1:] + weight * along[:, :1]
    if law.unit:
        return Coordinates(*_normalised(tokens, along), frame)
    root = np.sqrt(law.d)
    return Coordinates(tokens / root, None if along is None else along / root, frame)


def _shared_direction(law: Law, generator: np.random.Generator, count: int, n: int, split: bool) -> Coordinates:
    """sqrt(alpha) u + sqrt(1 - alpha) v_i with v_i uniform on the unit sphere orthogonal to u.

    With ``split``, let c be the component of the direction e = (1, ..., 1)/sqrt(d) along u, and w_i that of
    v_i along the rest of e. Then e = c u + s e' with s = sqrt(1 - c^2), and x_i has the components

        sqrt(alpha) c + sqrt(1 - alpha) s w_i    along e,
        sqrt(alpha) s - sqrt(1 - alpha) c w_i    along the rest of the plane of u and e'.
    """
    own, apart = _normalised(*_gaussian_tokens(generator, count, n, law.d - 1, split))
    shared, single = np.sqrt(law.alpha), np.sqrt(1 - law.alpha)
    if apart is None:
        first = np.full((count, n, 1), shared)
        return Coordinates(np.concatenate([first, single * own], axis=2), None, own)
    gaussian = generator.standard_normal((count, 1))
    rest = generator.chisquare(law.d - 1, (count, 1))
    cosine = gaussian / np.sqrt(gaussian**2 + rest)
    sine = np.sqrt(rest / (gaussian**2 + rest))
    first = shared * sine - single * cosine * apart
    along = shared * cosine + single * sine * apart
    return Coordinates(np.concatenate([first[:, :, None], single * own], axis=2), along)


def sample_coordinates(
    law: Law, n: int, count: int, generator: np.random.Generator, split: bool = False
) -> Coordinates:
    """Draw ``count`` independent inputs of ``n`` tokens, as coordinates in a basis of their span.

    Args:
        law: the input law; see ``law_of``.
        n: number of tokens.
        count: number of independent inputs.
        generator: source of randomness.
        split: keep the component along the all-ones direction apart (layer normalisation needs it).

    Returns:
        Coordinates whose inner products have exactly the law of the inner products of the tokens.
    """
    if law.gaussian:
        return _shared_gaussian(law, generator, count, n, split)
    if law.alpha > 0:
        return _shared_direction(law, generator, count, n, split)
    return _independent(law, generator, count, n, split)


def sample_vectors(law: Law, n: int, count: int, generator: np.random.Generator) -> Array:
    """Draw ``count`` independent inputs of ``n`` tokens as vectors of R^d, by the law's definition.

    This is the slow, literal route; it shares no step with ``sample_coordinates``.

    Returns:
        Shape (count, n, d).
    """
    noise = generator.standard_normal((count, n, law.d))
    if law.gaussian:
        shared = generator.standard_normal((count, 1, law.d))
        tokens = noise + np.sqrt(law.alpha / (1 - law.alpha)) * shared
        return tokens / (np.linalg.norm(tokens, axis=2, keepdims=True) if law.unit else np.sqrt(law.d))
    if law.alpha == 0:
        return noise / np.linalg.norm(noise, axis=2, keepdims=True)
    direction = generator.standard_normal((count, 1, law.d))
    direction /= np.linalg.norm(direction, axis=2, keepdims=True)
    for _ in range(2):  # the second time for vectors that were nearly parallel to the direction
        noise -= (noise @ direction.swapaxes(1, 2)) * direction
        noise /= np.linalg.norm(noise, axis=2, keepdims=True)
    return np.sqrt(law.alpha) * direction + np.sqrt(1 - law.alpha) * noise
