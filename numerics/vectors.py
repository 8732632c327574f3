"""Vectors with a prescribed Gram matrix."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from maskproof.theory.errors import InvalidInput
from maskproof.theory.values import positive_integer

_EPS = float(np.finfo(np.float64).eps)


def realise(gram: NDArray[np.float64], d: int, centred: bool = False) -> NDArray[np.float64]:
    """Return n vectors in R^d, as rows, whose Gram matrix is ``gram`` up to rounding.

    Args:
        gram: positive semidefinite, shape (n, n).
        d: the width, at least the rank of ``gram`` (at least rank + 1 if centred).
        centred: whether the coordinates of every vector sum to zero, so that the centring of
            LayerNorm leaves the vectors as they are.

    Returns:
        Shape (n, d). The vectors are a Cholesky factor (an eigenvector factor where the matrix is
        singular), filled up with zeros.

    Raises:
        InvalidInput: the matrix is not a finite symmetric positive semidefinite one, or d is too small.
    """
    matrix = np.asarray(gram, dtype=np.float64)
    d = positive_integer(d, "d")
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.shape[0] == 0:
        raise InvalidInput(f"gram of shape {matrix.shape}", "'gram is square'", "give an (n, n) array")
    if not np.all(np.isfinite(matrix)) or not np.allclose(matrix, matrix.T, rtol=0, atol=_slack(matrix)):
        raise InvalidInput("gram", "'gram is finite and symmetric'", "give inner products of vectors")
    factor = _factor(matrix)
    room = d - 1 if centred else d
    rank = factor.shape[1]
    if rank > room:
        raise InvalidInput(f"d = {d}", f"d >= {rank + d - room} for a Gram matrix of rank {rank}", "raise d")
    padded = np.zeros((len(matrix), room))
    padded[:, :rank] = factor
    return padded @ _sum_zero_basis(d) if centred else padded


def realise_planes(gram: NDArray[np.float64], dim: int, blocks: int, centred: bool = False) -> NDArray[np.float64]:
    """Return n vectors in R^(blocks * dim) with Gram matrix ``gram`` for which RoPE factorises exactly.

    In every block each vector is a multiple of (1, ..., 1). So all planes that RoPE turns carry the same
    share of an inner product, and no vector has a component along another's quarter turn: the inner product
    of tokens i and j, turned, is kappa(i - j) times the inner product, however the tokens are mixed and
    whichever coordinates are paired.

    Args:
        gram: positive semidefinite, shape (n, n).
        dim: RoPE's dim.
        blocks: how many blocks, at least the rank of ``gram`` (at least rank + 1 if centred).
        centred: whether the coordinates of every vector sum to zero.

    Raises:
        InvalidInput: as for ``realise``.
    """
    dim = positive_integer(dim, "dim")
    return np.repeat(realise(gram, blocks, centred), dim, axis=1) / np.sqrt(dim)


def _slack(matrix: NDArray[np.float64]) -> float:
    """The rounding error of an eigenvalue of ``matrix``: n eps times a bound on its norm."""
    return len(matrix) * _EPS * max(1e-300, float(np.abs(matrix).sum(axis=1).max()))


def _factor(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """F with F F^T = matrix and as few columns as its numerical rank."""
    values, directions = np.linalg.eigh(matrix)
    slack = _slack(matrix)
    if values[0] < -slack:
        raise InvalidInput(
            f"gram with eigenvalue {values[0]:.3g}",
            "'gram is positive semidefinite'",
            "give inner products of vectors",
        )
    if values[0] > slack:
        return np.asarray(np.linalg.cholesky(matrix), dtype=np.float64)
    kept = values > slack
    return np.asarray(directions[:, kept] * np.sqrt(values[kept]), dtype=np.float64)


def _sum_zero_basis(d: int) -> NDArray[np.float64]:
    """Helmert's orthonormal basis of the vectors with coordinate sum zero; shape (d - 1, d)."""
    basis = np.zeros((d - 1, d))
    for row in range(1, d):
        basis[row - 1, :row] = 1.0
        basis[row - 1, row] = -row
        basis[row - 1] /= np.sqrt(row * (row + 1))
    return basis
