"""Lanczos' method for a symmetric matrix that is known by its products: the ends of its spectrum, and
quadrature for all of it."""

from collections.abc import Callable

import numpy as np

WIDTH = 20
"""So many vectors it keeps, or two for each eigenvalue that is wanted."""
FRESH = 0.1
"""The share of a random vector in one that is given to start from, so that it is orthogonal to no
eigenvector."""
NEAR = 3
"""So many of the outermost vectors of a matrix a search in the next one starts from: at a crossing the
largest eigenvalue is one that was next to it."""
EPS = float(np.finfo(float).eps)


class Lanczos:
    """Restarted Lanczos with full orthogonalization: of the vectors that it has, a restart keeps the
    best approximations of eigenvectors.

    After every product it is asked whether the residuals Hv − λv of what is wanted are below ``tol``
    of the largest eigenvalue in size. Source: Wu, Simon 2000.

    Parameters
    ----------
    P : the size of the matrix
    product : v ↦ H v
    tol, maxiter : as in ``landscape.spectrum``
    seed : of the vectors that it starts from
    """

    def __init__(
        self,
        P: int,
        product: Callable[[np.ndarray], np.ndarray],
        tol: float = 0.0,
        maxiter: int = 1,
        seed: int = 0,
    ) -> None:
        self.P: int = P
        self.tol: float = tol
        self.maxiter: int = maxiter
        self.products: int = 0
        self._product = product
        self._rng = np.random.default_rng([seed, 8])
        self._norm = 0.0  # the largest eigenvalue in size, so far
        self._near = np.zeros(P)

    def ends(
        self, low: int, high: int, start: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """The ``low`` smallest and the ``high`` largest eigenvalues in rising order, and their
        vectors, columns; none of a multiple one is left out.

        Raises RuntimeError where they do not converge; ValueError where a product is not finite.
        """
        # From one starting vector the method sees a single direction of each eigenspace, so copies
        # of a multiple eigenvalue may be missing, and others further inside have taken their
        # places.
        values, vectors = self._search(low, high, np.empty((self.P, 0)), start)
        while max(low, high) > 1:
            one = min(low, 1), min(high, 1)
            more, ways = self._search(*one, vectors)
            slack = self.tol * self._norm
            below = low > 0 and more[0] < values[low - 1] - slack
            above = high > 0 and more[-1] > values[low] + slack
            if not (below or above):
                break
            values, vectors = outermost(
                np.append(values, more), np.hstack([vectors, ways]), low, high
            )
        return values, vectors

    def largest(self, start: np.ndarray | None = None) -> tuple[float, np.ndarray]:
        """The largest eigenvalue, and a vector from which the same search in a matrix nearby starts.

        Raises as ``ends``.
        """
        values, _ = self._search(0, 1, np.empty((self.P, 0)), start)
        return float(values[0]), self._near

    def _search(self, low, high, known, start=None):
        """Both ends on the complement of orthonormal columns."""
        wanted, free = low + high, self.P - known.shape[1]
        most, kept = min(free, max(2 * wanted + 1, WIDTH)), 0
        V, T = np.empty((most + 1, self.P)), np.zeros((most, most))
        V[0] = self._begin(start, known)
        for _ in range(self.maxiter):
            for j in range(kept, most):
                w, T[: j + 1, j] = self._next(V[: j + 1], known)
                T[j, : j + 1] = T[: j + 1, j]
                length = float(np.linalg.norm(w))
                values, ways = np.linalg.eigh(T[: j + 1, : j + 1])
                self._norm = max(self._norm, float(abs(values).max()))
                # The residual of a Ritz pair; rounding is part of it.
                residuals = length * abs(ways[j]) + EPS * self._norm
                if j + 1 == free:
                    residuals[:] = 0.0  # the whole space
                outer = [*range(low), *range(j + 1 - high, j + 1)]
                if j + 1 >= wanted and (residuals[outer] <= self.tol * self._norm).all():
                    self._near = V[: j + 1].T @ ways[:, -NEAR:].sum(axis=1)
                    return values[outer], V[: j + 1].T @ ways[:, outer]
                # An invariant subspace, which may not be all: another vector goes on.
                V[j + 1] = (
                    w / length
                    if length > EPS * self._norm
                    else self._begin(None, np.hstack([known, V[: j + 1].T]))
                )
            # Of those that are not wanted yet the outer ones: what is still to come is near them.
            more = (most - wanted) // 2
            below = low + (more // (1 + (high > 0)) if low else 0)
            above = high + (more // (1 + (low > 0)) if high else 0)
            outer = [*range(below), *range(most - above, most)]
            kept = len(outer)
            V[:kept] = ways[:, outer].T @ V[:most]
            V[kept], T = V[most], np.zeros((most, most))
            T[range(kept), range(kept)] = values[outer]
        found = int(
            (residuals[[*range(low), *range(most - high, most)]] <= self.tol * self._norm).sum()
        )
        raise RuntimeError(
            f"spectrum: {found} of {wanted} eigenvalues have converged to tol = {self.tol:.1e} of "
            f"the largest after maxiter = {self.maxiter} restarts ({self.products:,} "
            "Hessian-vector products); take a larger tol or maxiter, a smaller count, or model and "
            "data in double precision"
        )

    def _begin(self, start, known):
        """A unit vector, orthogonal to the columns."""
        v = self._rng.standard_normal(self.P)
        if start is not None:
            v = start / np.linalg.norm(start) + FRESH * v / np.linalg.norm(v)
        for _ in range(2):
            v = v - known @ (known.T @ v)
        return v / np.linalg.norm(v)

    def _next(self, V, known):
        """H times the last of the vectors, without what lies along them, and what does."""
        w = self._product(V[-1])
        self.products += 1
        if not np.isfinite(w).all():
            raise ValueError(
                "model: expected a finite Hessian, got NaN or infinity in a product with it"
            )
        along = np.zeros(len(V))
        for _ in range(2):  # once leaves a part of the size of rounding, magnified
            w = w - known @ (known.T @ w)
            part = V @ w
            w, along = w - part @ V, along + part
        return w, along

    def quadrature(self, steps: int) -> tuple[np.ndarray, np.ndarray]:
        """Nodes and weights, which add up to 1, of Gauss' rule for the measure Σ (uᵢᵀv)² δ(λᵢ) of a
        random unit vector v and the eigenvectors uᵢ.

        It is exact for polynomials of degree below twice the number of nodes, of which there are at
        most ``steps``. Source: Golub, Meurant 2010, chapter 4.
        """
        steps = min(steps, self.P)
        V, T = np.empty((steps + 1, self.P)), np.zeros((steps, steps))
        V[0] = self._begin(None, np.empty((self.P, 0)))
        for j in range(steps):
            w, along = self._next(V[: j + 1], np.empty((self.P, 0)))
            # H's own rounding aside, the method knows no more than these two.
            T[j, max(j - 1, 0) : j + 1] = T[max(j - 1, 0) : j + 1, j] = along[-2:]
            length = np.linalg.norm(w)
            if length <= self.P * EPS * abs(T).max():
                steps = j + 1  # v lies in an invariant subspace
                break
            V[j + 1] = w / length
        nodes, ways = np.linalg.eigh(T[:steps, :steps])
        return nodes, ways[0] ** 2


def outermost(
    values: np.ndarray, vectors: np.ndarray, low: int, high: int
) -> tuple[np.ndarray, np.ndarray]:
    """The ``low`` smallest and the ``high`` largest of some eigenvalues, in rising order, with their
    vectors, columns."""
    order = np.argsort(values)
    chosen = np.concatenate([order[:low], order[len(order) - high :]])
    return values[chosen], vectors[:, chosen]
