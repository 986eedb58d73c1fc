import { norm } from "mhalib/live/engine/matrices.js";

// W = 0 and one decoder: zero, ± 1 qᵀ with q = (1/n) Σ y_i x̄_i, or Gaussian of the same norm.
export function decoder({ n, T, d, X, y }, kind, { stream, sign }) {
  const U = new Float64Array(T * d),
    q = new Float64Array(d);
  if (kind === "zero") return U;
  for (let i = 0; i < n; i++)
    for (let t = 0; t < T; t++) for (let a = 0; a < d; a++) q[a] += (y[i] * X[(i * T + t) * d + a]) / (n * T);
  const length = (Math.sqrt(T) * norm(q)) / norm(stream);
  return U.map((_, k) => (kind === "first" ? sign * q[k % d] : length * stream[k]));
}
