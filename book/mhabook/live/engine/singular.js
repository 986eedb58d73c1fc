import { norm } from "livegrad/live/engine/matrices.js";
import { times } from "./symmetric.js";

// --- singular values and vectors of a small matrix, by Jacobi's rotations of its rows ------------------------------

// In falling order, of A (r, k) with r ≤ k: rows are turned in pairs until all are orthogonal. Small ones come out to
// rounding of the largest, which the eigenvalues of A Aᵀ would not give.
export function singularValues(A, r, k) {
  if (r > k)
    return singularValues(
      A.map((_, at) => A[(at % r) * k + Math.floor(at / r)]),
      k,
      r,
    );
  return turnedRows(A, r, k).map(norm);
}

// P, S and W of A = P diag(S) Wᵀ for A (d, d), with signs such that each column of W has a positive sum; where S is 0,
// columns are 0.
export function singularParts(A, d) {
  const rows = turnedRows(A, d, d),
    S = rows.map(norm),
    W = new Float64Array(d * d);
  rows.forEach((row, q) => {
    const sign = Math.sign(row.reduce((sum, x) => sum + x));
    row.forEach((x, a) => (W[a * d + q] = S[q] && (sign * x) / S[q]));
  });
  return { P: times(A, W, d, d, d).map((x, k) => S[k % d] && x / S[k % d]), S, W };
}

// The rows, turned in pairs until all are orthogonal, the longest first.
function turnedRows(A, r, k) {
  const rows = Array.from({ length: r }, (_, p) => A.slice(p * k, (p + 1) * k));
  for (let sweep = 0, turned = true; turned && sweep < 40; sweep++) {
    turned = false;
    for (let p = 0; p < r; p++) {
      globalThis.alive?.();
      for (let q = p + 1; q < r; q++) turned = orthogonal(rows[p], rows[q]) || turned;
    }
  }
  return rows.sort((x, y) => norm(y) - norm(x));
}

// Turns two rows so that they are orthogonal; says whether they were not.
function orthogonal(x, y) {
  let xx = 0,
    yy = 0,
    xy = 0;
  for (let i = 0; i < x.length; i++) {
    xx += x[i] * x[i];
    yy += y[i] * y[i];
    xy += x[i] * y[i];
  }
  if (!(Math.abs(xy) > 1e-15 * Math.sqrt(xx * yy))) return false;
  const zeta = (yy - xx) / (2 * xy),
    t = (zeta < 0 ? -1 : 1) / (Math.abs(zeta) + Math.hypot(zeta, 1));
  const c = 1 / Math.hypot(t, 1),
    s = t * c;
  for (let i = 0; i < x.length; i++) {
    const old = x[i];
    x[i] = c * old - s * y[i];
    y[i] = s * old + c * y[i];
  }
  return true;
}
