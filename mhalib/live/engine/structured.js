import { optimizers, rate } from "./optimizers.js";
import { applied, eigen, spectralNorm, times, transposedTimes } from "./symmetric.js";

// --- structure-aware descent on A (d, d) and B (d, d): whitening, balancing, renormalization -----------------------

// The roots of a second moment.
export function whiteningOf(moment, d) {
  const parts = eigen(moment, d);
  return { root: applied(parts, (x) => Math.sqrt(x)), inverse: applied(parts, (x) => 1 / Math.sqrt(x)) };
}

// (U, V) = (A R, R B R), from θ = (A, B).
export function whitened(theta, R, d) {
  const A = theta.subarray(0, d * d),
    B = theta.subarray(d * d);
  return [times(A, R, d, d, d), times(R, times(B, R, d, d, d), d, d, d)];
}

// θ = (U R, R V R).
export function putBack(theta, U, V, R, d) {
  const both = Float64Array.from([...U, ...V]);
  whitened(both, R, d).forEach((part, k) => theta.set(part, k * d * d));
}

// U − η (∇_U + U D) and V − η (∇_V − V D) with D = (λ/2) (UᵀU − VᵀV).
function balancedStep([U, V], [dU, dV], lr, balance, d) {
  const UU = transposedTimes(U, U, d, d, d),
    VV = transposedTimes(V, V, d, d, d);
  const D = UU.map((x, k) => (balance / 2) * (x - VV[k])),
    UD = times(U, D, d, d, d),
    VD = times(V, D, d, d, d);
  return [U.map((x, k) => x - lr * (dU[k] + UD[k])), V.map((x, k) => x - lr * (dV[k] - VD[k]))];
}

// Each is a function of (the values, the data with their whitening and d), as mhalib's rules are told their data.
export const structured = {
  gd: ({ lr, share }, { d }) => optimizers.gd({ lr: share * lr }, 2 * d * d),

  preconditioned:
    ({ lr: size, balance = 1 }, { d, whitening: { root, inverse } }) =>
    (theta, grad, k) => {
      const [U, V] = balancedStep(whitened(theta, root, d), whitened(grad, inverse, d), rate(size, k), balance, d);
      putBack(theta, U, V, inverse, d);
    },

  structure_aware:
    ({ lr: size, balance = 1, radius = 0.5 }, { d, whitening }) =>
    (theta, grad, k) => {
      const { root, inverse } = whitening,
        lr = rate(size, k),
        [U, V] = whitened(theta, root, d),
        [dU, dV] = whitened(grad, inverse, d);
      const u = spectralNorm(U, d, d),
        v = spectralNorm(V, d, d),
        alpha = Math.sqrt(v / u);
      const even = [U.map((x) => alpha * x), V.map((x) => x / alpha)];
      const slopes = [dU.map((x) => x / alpha), dV.map((x) => alpha * x)];
      const [U2, V2] = balancedStep(even, slopes, lr / (u * v), balance, d);
      const c = Math.max(1, spectralNorm(V2, d, d) / radius);
      putBack(
        theta,
        U2.map((x) => c * x),
        V2.map((x) => x / c),
        inverse,
        d,
      );
    },
};
