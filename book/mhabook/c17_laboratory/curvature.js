import { dot } from "mhalib/live/engine/matrices.js";
import { exponentials } from "mhalib/live/engine/regression.js";
import { spectrumEnds } from "mhalib/live/engine/spectrum.js";
import { times, transposedTimes } from "mhalib/live/engine/symmetric.js";
import { flat } from "./data.js";

// Products with the Hessian of the regression, for its largest curvature, and that of others.

// To six digits, or 0 where no eigenvalue is positive: what a picture needs, at a fraction of the products.
export function largestEigenvalue(multiply, size) {
  const heard = (v, out) => {
    globalThis.alive?.();
    multiply(v, out);
  };
  return Math.max(spectrumEnds(heard, size, [1], 1e-7)[1], 0);
}

// ∇²L(θ) V of the regression, θ = (A, B): the derivative of its gradient along V, query by query.
export function regressionHvp(data) {
  const { n, d, x } = data,
    columns = flat(d * n, (k) => x[(k % n) * d + Math.floor(k / n)]);
  return (theta) => (V, out) => {
    const parts = [theta, V].flatMap((both) => [both.subarray(0, d * d), both.subarray(d * d)]);
    out.fill(0);
    for (let i = 0; i < n; i++) addQuery(data, columns, i, parts, out);
  };
}

// What query i adds to the product; a name with _ is the derivative along V.
function addQuery({ n, d, x, y }, columns, i, [A, B, A_, B_], out) {
  const scoresOf = (B) => times(times(x.subarray(i * d, (i + 1) * d), B, 1, d, d), columns, 1, d, n);
  const along = (weights) => times(weights, x, 1, n, d);
  const applied = (A, m) => times(A, m, d, d, 1); // A m
  const pulledBack = (A, r) => transposedTimes(A, r, d, d, 1); // Aᵀ r
  const P = scoresOf(B),
    [sum] = exponentials(P);
  for (let j = 0; j < n; j++) P[j] /= sum;
  const m = along(P),
    S_ = scoresOf(B_),
    middle = dot(P, S_),
    P_ = P.map((p, j) => p * (S_[j] - middle));
  const m_ = along(P_),
    Am = applied(A, m),
    Am_ = applied(A, m_),
    A_m = applied(A_, m);
  const r = Am.map((z, a) => y[i * d + a] - z),
    r_ = Am_.map((z, a) => -z - A_m[a]);
  const g = pulledBack(A, r).map((z) => -z / n),
    other = pulledBack(A, r_);
  const g_ = pulledBack(A_, r).map((z, a) => -(z + other[a]) / n);
  const Q = times(g, columns, 1, d, n),
    Q_ = times(g_, columns, 1, d, n),
    mg = dot(m, g),
    moved = dot(m, g_) + dot(m_, g);
  const C = along(P.map((p, j) => p * Q_[j] + P_[j] * Q[j])).map((z, a) => z - m[a] * moved - m_[a] * mg);
  for (let a = 0, k = 0; a < d; a++)
    for (let c = 0; c < d; c++, k++) {
      out[k] -= (r_[a] * m[c] + r[a] * m_[c]) / n;
      out[d * d + k] += x[i * d + a] * C[c];
    }
}
