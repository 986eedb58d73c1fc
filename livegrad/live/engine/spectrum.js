import { dot, norm } from "./matrices.js";

// --- the ends of a symmetric matrix's spectrum, from products with it (Lanczos, fully reorthogonalized) --------

// How many eigenvalues of the tridiagonal matrix (a, b) lie below x: negative pivots of its LDLᵀ.
function countBelow(a, b, x) {
  let count = 0,
    pivot = 1;
  for (let i = 0; i < a.length; i++) {
    pivot = a[i] - x - (i ? (b[i - 1] * b[i - 1]) / pivot : 0);
    if (pivot === 0) pivot = 1e-300;
    if (pivot < 0) count++;
  }
  return count;
}

// The k-th smallest eigenvalue by bisection, to the last digit.
function tridiagonalEigenvalue(a, b, k) {
  const reach = Math.max(...a.map((x, i) => Math.abs(x) + Math.abs(b[i] ?? 0) + Math.abs(b[i - 1] ?? 0)));
  let low = -reach,
    high = reach;
  for (let middle = 0; low < middle || middle < high;) {
    middle = (low + high) / 2;
    if (middle === low || middle === high) break;
    if (countBelow(a, b, middle) > k) high = middle;
    else low = middle;
  }
  return (low + high) / 2;
}

// [λ_min, λ_max] of the matrix whose products `multiply(v, out)` gives. Stops when both have settled to
// a relative `precision`, or the only one of them that is `wanted`: 0 for the smallest, 1 for the largest.
export function spectrumEnds(multiply, size, wanted = [0, 1], precision = 1e-11) {
  const next = Float64Array.from({ length: size }, (_, i) => Math.sin(1 + i * i)); // any direction, always the same
  const basis = [],
    a = [],
    b = [];
  let ends = null,
    moved = 0;
  for (let k = 0; k < size && (k < 10 || k - moved <= 3); k++) {
    const length = norm(next),
      q = new Float64Array(size);
    if (k) {
      if (length <= 1e-14 * Math.abs(a[0]) + 1e-300) break; // the directions that the start can reach are used up
      b.push(length);
    }
    for (let i = 0; i < size; i++) q[i] = next[i] / length;
    basis.push(q);
    multiply(q, next);
    a.push(dot(q, next));
    // In exact numbers the last two would do; the second time removes what rounding has left along any.
    for (const old of [...basis.slice(-2), ...basis]) {
      const along = dot(old, next);
      for (let i = 0; i < size; i++) next[i] -= along * old[i];
    }
    // From step to step the ends only move apart: an eigenvalue outside of the last ones is the new end.
    ends ??= [a[0], a[0]];
    const slack = 1e-15 * Math.max(Math.abs(ends[0]), Math.abs(ends[1]));
    for (const end of wanted) {
      const edge = ends[end] + (end ? 1 : -1) * (precision * Math.abs(ends[end]) + slack);
      if (countBelow(a, b, edge) === end * (k + 1)) continue;
      ends[end] = tridiagonalEigenvalue(a, b, end * k);
      moved = k;
    }
  }
  return [tridiagonalEigenvalue(a, b, 0), tridiagonalEigenvalue(a, b, a.length - 1)];
}

// Of the Hessian at a recorded model, once for all curves that read them.
export const endsOf = (now) => (now.ends ??= spectrumEnds(now.model.hessian(), now.model.size));
