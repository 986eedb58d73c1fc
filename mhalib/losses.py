"""Losses: value and derivatives with respect to the model's output, elementwise."""

from livegrad.arrays import Array, Given, namespace


class Logistic:
    """Logistic loss of a margin z = y Φ: ℓ(z) = log(1 + e^{−z}).

    Its derivatives are bounded by itself: |ℓ′| ≤ min(1, ℓ) and 0 ≤ ℓ″ ≤ min(¼, |ℓ′|) ≤ ℓ, which Part I leans on.
    """

    def __call__(self, z: Given) -> Given:
        """ℓ(z) = log(1 + e^{−z}), finite wherever z is.

        Examples
        --------
        >>> mha.losses.logistic(np.array([0.0, 1000.0, -1000.0])).round(4)
        array([6.931e-01, 0.000e+00, 1.000e+03])
        """
        return namespace(z=z).softplus(-z)

    def slope(self, z: Array, value: Array | None = None) -> Array:
        """ℓ′(z) = −1/(1 + e^{z}) = −exp(−z − ℓ(z)), without overflow; ``value`` spares a second
        ℓ(z)."""
        # −z − ℓ(z) = −log(1 + e^z) ≤ 0, so exp cannot overflow.
        return -namespace(z=z).exp(-z - (self(z) if value is None else value))

    def curvature(self, z: Array) -> Array:
        """ℓ″(z) = −ℓ′(z)(1 + ℓ′(z)), in (0, ¼]; written as a product of two slopes, so nothing
        cancels."""
        # 1 + ℓ′(z) = −ℓ′(−z), without the cancellation where ℓ′(z) is close to −1.
        return self.slope(z) * self.slope(-z)


logistic: Logistic = Logistic()
