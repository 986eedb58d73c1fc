import { dot, norm } from "livegrad/live/engine/matrices.js";

// The maximum margin of signed features, exactly.

const rowsOf = (A, n) => Array.from({ length: n }, (_, i) => A.subarray((i * A.length) / n, ((i + 1) * A.length) / n));

// Solves G a = 1 on the active set by Cholesky's factors; null where they break down.
function solve(G, n, set) {
  const k = set.length,
    L = new Float64Array(k * k),
    a = new Float64Array(k);
  for (let i = 0; i < k; i++) {
    for (let j = 0; j <= i; j++) {
      let sum = G[set[i] * n + set[j]];
      for (let m = 0; m < j; m++) sum -= L[i * k + m] * L[j * k + m];
      if (i === j && !(sum > 1e-15)) return null;
      L[i * k + j] = i === j ? Math.sqrt(sum) : sum / L[j * k + j];
    }
    a[i] = 1;
    for (let m = 0; m < i; m++) a[i] -= L[i * k + m] * a[m];
    a[i] /= L[i * k + i];
  }
  for (let i = k - 1; i >= 0; i--) {
    for (let m = i + 1; m < k; m++) a[i] -= L[m * k + i] * a[m];
    a[i] /= L[i * k + i];
  }
  return a;
}

// From weights on an active set to the best ones that are not negative: {trial, active}; null if the last vector of the
// set says nothing new.
function settle(G, n, weights, active) {
  const trial = weights.slice();
  for (;;) {
    const wanted = solve(G, n, active);
    if (!wanted) return null;
    if (wanted.every((a) => a > 0)) {
      trial.fill(0);
      active.forEach((i, k) => (trial[i] = wanted[k]));
      return { trial, active };
    }
    // Go toward `wanted` until the first weight is zero; it leaves.
    const shares = active.map((i, k) => (wanted[k] > 0 ? Infinity : trial[i] / Math.max(trial[i] - wanted[k], 1e-300)));
    const share = Math.min(...shares),
      first = shares.indexOf(share);
    active.forEach((i, k) => (trial[i] = k === first ? 0 : trial[i] + share * (wanted[k] - trial[i])));
    active = active.filter((i) => trial[i] > 0);
  }
}

// Convex weights of the point nearest to the origin in the hull of n vectors with Gram matrix K: non-negative least
// squares of (vectors, 1)ᵀ a = (0, 1)ᵀ by active sets, as in mhalib.
function nearestInHull(K, n) {
  let size = 0;
  for (let i = 0; i < n; i++) size = Math.max(size, K[i * n + i]);
  const G = K.map((x) => x / (size || 1) + 1),
    rows = rowsOf(G, n);
  let weights = new Float64Array(n),
    active = [],
    best = Infinity;

  // What a weighs: Σ_j G_ij a_j, for all i.
  const image = (a) => Float64Array.from(rows, (row) => dot(row, a));

  let weighed = image(weights);
  for (;;) {
    const pull = weighed.map((x) => 1 - x),
      steepest = pull.indexOf(Math.max(...pull));
    if (pull[steepest] <= 1e-14 || active.includes(steepest)) return weights;
    const settled = settle(G, n, weights, [...active, steepest]);
    if (!settled) return weights;
    const { trial } = settled;
    weighed = image(trial);
    const value = dot(trial, weighed) - 2 * trial.reduce((sum, a) => sum + a, 0);
    if (value >= best) return weights;
    [weights, active, best] = [trial, settled.active, value];
  }
}

// The largest γ with y_i ⟨φ_i, θ⟩ ≥ γ for a unit θ, where `signed` holds y_i φ_i, n rows; 0 if there is none. With it
// the nearest point of their hull, along which θ lies.
export function separator(signed, n) {
  const K = new Float64Array(n * n),
    rows = rowsOf(signed, n);
  for (let i = 0; i < n; i++) for (let j = 0; j <= i; j++) K[i * n + j] = K[j * n + i] = dot(rows[i], rows[j]);
  const weights = nearestInHull(K, n),
    normal = new Float64Array(signed.length / n);
  rows.forEach((row, i) => weights[i] && row.forEach((x, a) => (normal[a] += weights[i] * x)));
  const length = norm(normal);
  return { normal, margin: length ? Math.max(0, Math.min(...rows.map((row) => dot(row, normal))) / length) : 0 };
}

export const maxMargin = (signed, n) => separator(signed, n).margin;
