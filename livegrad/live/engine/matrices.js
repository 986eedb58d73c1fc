// --- small matrices, row by row in flat arrays --------------------------------------------------------------

// Each entry is summed in a local variable, which is several times faster than in the array.

// C = A B for A (m, r) from a, B (r, k) from b; C (m, k) from c.
export function product(A, a, B, b, m, r, k, C, c) {
  for (let i = 0; i < m; i++, a += r)
    for (let q = 0; q < k; q++) {
      let sum = 0;
      for (let p = 0, at = b + q; p < r; p++, at += k) sum += A[a + p] * B[at];
      C[c++] = sum;
    }
}

// C = A Bᵀ for A (m, r) from a, B (k, r) from b; C (m, k) from c.
export function productWithTransposed(A, a, B, b, m, r, k, C, c) {
  for (let i = 0; i < m; i++, a += r)
    for (let q = 0, at = b; q < k; q++, at += r) {
      let sum = 0;
      for (let p = 0; p < r; p++) sum += A[a + p] * B[at + p];
      C[c++] = sum;
    }
}

// C += Aᵀ B for A (r, m) from a and B (r, k) from b; C (m, k) from c.
export function addTransposedProduct(A, a, B, b, r, m, k, C, c) {
  for (let p = 0; p < m; p++)
    for (let q = 0; q < k; q++) {
      let sum = 0;
      for (let i = 0, left = a + p, right = b + q; i < r; i++, left += m, right += k) sum += A[left] * B[right];
      C[c++] += sum;
    }
}

export const dot = (x, y) => {
  let sum = 0;
  for (let i = 0; i < x.length; i++) sum += x[i] * y[i];
  return sum;
};
export const norm = (x) => Math.sqrt(dot(x, x));
export const mean = (x) => x.reduce((sum, value) => sum + value, 0) / x.length;
