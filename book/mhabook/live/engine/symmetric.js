import { addTransposedProduct, product, productWithTransposed } from "livegrad/live/engine/matrices.js";

// --- functions of small symmetric matrices, row by row in flat arrays ---------------------------------------------

// C = A B for A (m, r) and B (r, k).
export function times(A, B, m, r, k) {
  const C = new Float64Array(m * k);
  product(A, 0, B, 0, m, r, k, C, 0);
  return C;
}

// Aᵀ B for A (r, m) and B (r, k).
function transposedTimes(A, B, r, m, k) {
  const C = new Float64Array(m * k);
  addTransposedProduct(A, 0, B, 0, r, m, k, C, 0);
  return C;
}

// Eigenvalues in falling order, and the eigenvectors as the columns of `basis`, by Jacobi's rotations.
export function eigen(symmetric, d) {
  const S = symmetric.slice(),
    Q = new Float64Array(d * d);
  for (let a = 0; a < d; a++) Q[a * d + a] = 1;
  for (let sweep = 0; sweep < 30; sweep++) {
    let off = 0;
    for (let p = 0; p < d; p++)
      for (let q = p + 1; q < d; q++) {
        off += Math.abs(S[p * d + q]);
        rotate(S, Q, d, p, q);
      }
    if (!(off > 0)) break;
  }
  const order = Array.from({ length: d }, (_, a) => a).sort((a, b) => S[b * d + b] - S[a * d + a]);
  return { values: order.map((a) => S[a * d + a]), basis: Q.map((_, k) => Q[k - (k % d) + order[k % d]]) };
}

// The rotation of the axes p and q after which S[p, q] = 0: S ← RᵀSR, Q ← QR.
function rotate(S, Q, d, p, q) {
  const off = S[p * d + q];
  if (Math.abs(off) <= 1e-300 + 1e-17 * Math.sqrt(Math.abs(S[p * d + p] * S[q * d + q]))) {
    S[p * d + q] = S[q * d + p] = 0;
    return;
  }
  const theta = (S[q * d + q] - S[p * d + p]) / (2 * off);
  const t = (theta < 0 ? -1 : 1) / (Math.abs(theta) + Math.hypot(theta, 1)),
    c = 1 / Math.hypot(t, 1),
    s = t * c;
  const turn = (A, i, j) => ([A[i], A[j]] = [c * A[i] - s * A[j], s * A[i] + c * A[j]]);
  for (let a = 0; a < d; a++) turn(S, a * d + p, a * d + q);
  for (let a = 0; a < d; a++) turn(S, p * d + a, q * d + a);
  for (let a = 0; a < d; a++) turn(Q, a * d + p, a * d + q);
  S[p * d + q] = S[q * d + p] = 0;
}

// Q diag(f(λ)) Qᵀ.
export function applied({ values, basis }, f) {
  const d = values.length,
    scaled = basis.map((x, k) => x * f(values[k % d])),
    out = new Float64Array(d * d);
  productWithTransposed(scaled, 0, basis, 0, d, d, d, out, 0);
  return out;
}

// The largest singular value of a matrix (r, d).
export const spectralNorm = (A, r, d) => Math.sqrt(eigen(transposedTimes(A, A, r, d, d), d).values[0]);
