// Made by `make kernel` from book/mhabook/live/formulas.py.
const root = Math.sqrt;
const logaddexp = (a, b) =>
  a === b ? a + Math.LN2 : Math.max(a, b) + Math.log1p(Math.exp(-Math.abs(a - b)));
export function program([N, n, D, m, H, d, c]) {
const X = new Float64Array((N * n * D));
const y = new Float64Array((N * n * m));
const theta = new Float64Array((3 * H * D * d + H * d * m));
const direction = new Float64Array((3 * H * D * d + H * d * m));
const loss = new Float64Array(1);
const slope = new Float64Array((3 * H * D * d + H * d * m));
const along = new Float64Array((3 * H * D * d + H * d * m));
const weights = new Float64Array((N * H * n * n));
const mixed = new Float64Array((N * n * H * D));
const WQ = theta;
const WK = theta;
const WV = theta;
const WO = theta;
const VWQ = direction;
const VWK = direction;
const VWV = direction;
const VWO = direction;
const dWQ = slope;
const dWK = slope;
const dWV = slope;
const dWO = slope;
const HWQ = along;
const HWK = along;
const HWV = along;
const HWO = along;
const number0 = -1.0 / root(d) * c;
const number1 = 2.0 * N;
const number2 = 2.0 / root(d) * c;
const number3 = 1.0 * N;
const number4 = -2.0 / root(d) * c;
const a2 = new Float64Array((N * H * n * d));
const a3 = new Float64Array((N * H * n));
const a4 = new Float64Array((N * H * n * d));
const a6 = new Float64Array((N * H * n * d));
const a7 = new Float64Array((N * H * n * n));
const a8 = new Float64Array((N * H * n));
const a9 = new Float64Array((N * H * n * n));
const a11 = new Float64Array((N * H * n * d));
const a13 = new Float64Array((N * H * n * m));
const a14 = new Float64Array((N * H * n * m));
const a15 = new Float64Array((N * n * m));
const a17 = new Float64Array((N * n * m));
const a18 = new Float64Array(1);
const a20 = new Float64Array((N * H * n * n));
const a21 = new Float64Array((N * H * n * n));
const a22 = new Float64Array((N * H * n * d));
const a23 = new Float64Array((N * H * n));
const a24 = new Float64Array((N * H * n * d));
const a25 = new Float64Array((N * H * D * d));
const a26 = new Float64Array((H * D * d));
const a28 = new Float64Array((N * H * n * d));
const a29 = new Float64Array((N * H * n));
const a30 = new Float64Array((N * H * n * d));
const a31 = new Float64Array((N * H * D * d));
const a32 = new Float64Array((H * D * d));
const a34 = new Float64Array((N * H * n * m));
const a35 = new Float64Array((N * H * n * m));
const a36 = new Float64Array((N * H * n * d));
const a37 = new Float64Array((N * H * D * d));
const a38 = new Float64Array((H * D * d));
const a40 = new Float64Array((N * H * d * m));
const a41 = new Float64Array((H * d * m));
const b2 = new Float64Array((N * H * n * d));
const b3 = new Float64Array((N * H * n));
const b4 = new Float64Array((N * H * n * d));
const b6 = new Float64Array((N * H * n * d));
const b7 = new Float64Array((N * H * n * n));
const b8 = new Float64Array((N * H * n));
const b9 = new Float64Array((N * H * n * n));
const b11 = new Float64Array((N * H * n * d));
const b12 = new Float64Array((N * H * n));
const b14 = new Float64Array((N * H * n * d));
const b15 = new Float64Array((N * H * n));
const b16 = new Float64Array((N * H * n * n));
const b17 = new Float64Array((N * H * n * n));
const b18 = new Float64Array((N * H * n * n));
const b20 = new Float64Array((N * H * n * d));
const b22 = new Float64Array((N * H * n * m));
const b23 = new Float64Array((N * H * n * m));
const b24 = new Float64Array((N * n * m));
const b26 = new Float64Array((N * n * m));
const b27 = new Float64Array((N * H * n * n));
const b28 = new Float64Array((N * H * n * n));
const b29 = new Float64Array((N * H * n * m));
const b31 = new Float64Array((N * H * n * d));
const b32 = new Float64Array((N * H * n * m));
const b34 = new Float64Array((N * H * n * m));
const b35 = new Float64Array((N * H * n * m));
const b36 = new Float64Array((N * H * n * m));
const b37 = new Float64Array((N * n * m));
const b38 = new Float64Array((N * H * n * n));
const b39 = new Float64Array((N * H * n * n));
const b40 = new Float64Array((N * H * n * n));
const b41 = new Float64Array((N * H * n * d));
const b42 = new Float64Array((N * H * n));
const b43 = new Float64Array((N * H * n * n));
const b44 = new Float64Array((N * H * n * d));
const b45 = new Float64Array((N * H * n));
const b46 = new Float64Array((N * H * n * d));
const b47 = new Float64Array((N * H * D * d));
const b48 = new Float64Array((H * D * d));
const b50 = new Float64Array((N * H * n * d));
const b51 = new Float64Array((N * H * n));
const b52 = new Float64Array((N * H * n * d));
const b53 = new Float64Array((N * H * n));
const b54 = new Float64Array((N * H * n * d));
const b55 = new Float64Array((N * H * D * d));
const b56 = new Float64Array((H * D * d));
const b58 = new Float64Array((N * H * n * m));
const b59 = new Float64Array((N * H * n * m));
const b60 = new Float64Array((N * H * n * m));
const b61 = new Float64Array((N * H * n * d));
const b62 = new Float64Array((N * H * n * m));
const b63 = new Float64Array((N * H * n * m));
const b64 = new Float64Array((N * H * n * d));
const b65 = new Float64Array((N * H * n * d));
const b66 = new Float64Array((N * H * D * d));
const b67 = new Float64Array((H * D * d));
const b69 = new Float64Array((N * H * d * m));
const b70 = new Float64Array((N * H * d * m));
const b71 = new Float64Array((H * d * m));
const c2 = new Float64Array((N * H * n * d));
const c3 = new Float64Array((N * H * n));
const c4 = new Float64Array((N * H * n * d));
const c6 = new Float64Array((N * H * n * d));
const c7 = new Float64Array((N * H * n * n));
const c8 = new Float64Array((N * H * n));
const c9 = new Float64Array((N * H * n * n));
const c11 = new Float64Array((N * H * n * d));
const c13 = new Float64Array((N * H * n * m));
const c14 = new Float64Array((N * H * n * m));
const c15 = new Float64Array((N * n * m));
const c17 = new Float64Array((N * n * m));
const c18 = new Float64Array(1);
const c21 = new Float64Array((N * H * n * D));
const run = {
gradient() {
for (let i0 = 0; i0 < N; i0++) for (let i3 = 0; i3 < H; i3++) for (let i1 = 0; i1 < n; i1++) for (let i4 = 0; i4 < d; i4++) { let sum = 0; for (let i2 = 0; i2 < D; i2++) sum += (X[i0 * (n * D) + i1 * D + i2] * WQ[0 + i3 * (D * d) + i2 * d + i4]); a2[i0 * (H * n * d) + i3 * (n * d) + i1 * d + i4] = sum; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) { let sum = 0; for (let i3 = 0; i3 < d; i3++) sum += (a2[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3] * a2[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3]); a3[i0 * (H * n) + i1 * n + i2] = sum; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i3 = 0; i3 < d; i3++) a4[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3] = (2.0 * a2[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3]);
for (let i0 = 0; i0 < N; i0++) for (let i3 = 0; i3 < H; i3++) for (let i1 = 0; i1 < n; i1++) for (let i4 = 0; i4 < d; i4++) { let sum = 0; for (let i2 = 0; i2 < D; i2++) sum += (X[i0 * (n * D) + i1 * D + i2] * WK[H * D * d + i3 * (D * d) + i2 * d + i4]); a6[i0 * (H * n * d) + i3 * (n * d) + i1 * d + i4] = sum; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i4 = 0; i4 < n; i4++) { let sum = 0; for (let i3 = 0; i3 < d; i3++) sum += (a4[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3] * a6[i0 * (H * n * d) + i1 * (n * d) + i4 * d + i3]); a7[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i4] = sum; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) { let sum = 0; for (let i3 = 0; i3 < d; i3++) sum += (a6[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3] * a6[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3]); a8[i0 * (H * n) + i1 * n + i2] = sum; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i3 = 0; i3 < n; i3++) a9[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3] = Math.exp((number0 * Math.max(((a3[i0 * (H * n) + i1 * n + i2] - a7[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3]) + a8[i0 * (H * n) + i1 * n + i3]), 0.0)));
for (let i0 = 0; i0 < N; i0++) for (let i3 = 0; i3 < H; i3++) for (let i1 = 0; i1 < n; i1++) for (let i4 = 0; i4 < d; i4++) { let sum = 0; for (let i2 = 0; i2 < D; i2++) sum += (X[i0 * (n * D) + i1 * D + i2] * WV[2 * H * D * d + i3 * (D * d) + i2 * d + i4]); a11[i0 * (H * n * d) + i3 * (n * d) + i1 * d + i4] = sum; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i4 = 0; i4 < m; i4++) { let sum = 0; for (let i3 = 0; i3 < d; i3++) sum += (a11[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3] * WO[3 * H * D * d + i1 * (d * m) + i3 * m + i4]); a13[i0 * (H * n * m) + i1 * (n * m) + i2 * m + i4] = sum; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i4 = 0; i4 < m; i4++) { let sum = 0; for (let i3 = 0; i3 < n; i3++) sum += (a9[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3] * a13[i0 * (H * n * m) + i1 * (n * m) + i3 * m + i4]); a14[i0 * (H * n * m) + i1 * (n * m) + i2 * m + i4] = sum; }
for (let i0 = 0; i0 < N; i0++) for (let i2 = 0; i2 < n; i2++) for (let i3 = 0; i3 < m; i3++) { let sum = 0; for (let i1 = 0; i1 < H; i1++) sum += a14[i0 * (H * n * m) + i1 * (n * m) + i2 * m + i3]; a15[i0 * (n * m) + i2 * m + i3] = sum; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < n; i1++) for (let i2 = 0; i2 < m; i2++) a17[i0 * (n * m) + i1 * m + i2] = (a15[i0 * (n * m) + i1 * m + i2] - y[i0 * (n * m) + i1 * m + i2]);
{ let sum = 0; for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < n; i1++) for (let i2 = 0; i2 < m; i2++) sum += (a17[i0 * (n * m) + i1 * m + i2] * a17[i0 * (n * m) + i1 * m + i2]); a18[0] = sum; }
loss[0] = (a18[0] / number1);
for (let i0 = 0; i0 < N; i0++) for (let i3 = 0; i3 < H; i3++) for (let i1 = 0; i1 < n; i1++) for (let i4 = 0; i4 < n; i4++) { let sum = 0; for (let i2 = 0; i2 < m; i2++) sum += (a17[i0 * (n * m) + i1 * m + i2] * a13[i0 * (H * n * m) + i3 * (n * m) + i4 * m + i2]); a20[i0 * (H * n * n) + i3 * (n * n) + i1 * n + i4] = sum; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i3 = 0; i3 < n; i3++) a21[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3] = (a9[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3] * (a20[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3] / number3));
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i4 = 0; i4 < d; i4++) { let sum = 0; for (let i3 = 0; i3 < n; i3++) sum += (a21[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3] * a6[i0 * (H * n * d) + i1 * (n * d) + i3 * d + i4]); a22[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i4] = sum; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) { let sum = 0; for (let i3 = 0; i3 < n; i3++) sum += a21[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3]; a23[i0 * (H * n) + i1 * n + i2] = sum; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i3 = 0; i3 < d; i3++) a24[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3] = (number2 * (a22[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3] - (a23[i0 * (H * n) + i1 * n + i2] * a2[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3])));
for (let i0 = 0; i0 < N; i0++) for (let i3 = 0; i3 < H; i3++) for (let i1 = 0; i1 < D; i1++) for (let i4 = 0; i4 < d; i4++) { let sum = 0; for (let i2 = 0; i2 < n; i2++) sum += (X[i0 * (n * D) + i2 * D + i1] * a24[i0 * (H * n * d) + i3 * (n * d) + i2 * d + i4]); a25[i0 * (H * D * d) + i3 * (D * d) + i1 * d + i4] = sum; }
for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < D; i2++) for (let i3 = 0; i3 < d; i3++) { let sum = 0; for (let i0 = 0; i0 < N; i0++) sum += a25[i0 * (H * D * d) + i1 * (D * d) + i2 * d + i3]; a26[i1 * (D * d) + i2 * d + i3] = sum; }
for (let i0 = 0; i0 < H; i0++) for (let i1 = 0; i1 < D; i1++) for (let i2 = 0; i2 < d; i2++) dWQ[0 + i0 * (D * d) + i1 * d + i2] = a26[i0 * (D * d) + i1 * d + i2];
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i4 = 0; i4 < d; i4++) { let sum = 0; for (let i3 = 0; i3 < n; i3++) sum += (a21[i0 * (H * n * n) + i1 * (n * n) + i3 * n + i2] * a2[i0 * (H * n * d) + i1 * (n * d) + i3 * d + i4]); a28[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i4] = sum; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i3 = 0; i3 < n; i3++) { let sum = 0; for (let i2 = 0; i2 < n; i2++) sum += a21[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3]; a29[i0 * (H * n) + i1 * n + i3] = sum; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i3 = 0; i3 < d; i3++) a30[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3] = (number2 * (a28[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3] - (a29[i0 * (H * n) + i1 * n + i2] * a6[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3])));
for (let i0 = 0; i0 < N; i0++) for (let i3 = 0; i3 < H; i3++) for (let i1 = 0; i1 < D; i1++) for (let i4 = 0; i4 < d; i4++) { let sum = 0; for (let i2 = 0; i2 < n; i2++) sum += (X[i0 * (n * D) + i2 * D + i1] * a30[i0 * (H * n * d) + i3 * (n * d) + i2 * d + i4]); a31[i0 * (H * D * d) + i3 * (D * d) + i1 * d + i4] = sum; }
for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < D; i2++) for (let i3 = 0; i3 < d; i3++) { let sum = 0; for (let i0 = 0; i0 < N; i0++) sum += a31[i0 * (H * D * d) + i1 * (D * d) + i2 * d + i3]; a32[i1 * (D * d) + i2 * d + i3] = sum; }
for (let i0 = 0; i0 < H; i0++) for (let i1 = 0; i1 < D; i1++) for (let i2 = 0; i2 < d; i2++) dWK[H * D * d + i0 * (D * d) + i1 * d + i2] = a32[i0 * (D * d) + i1 * d + i2];
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i4 = 0; i4 < m; i4++) { let sum = 0; for (let i3 = 0; i3 < n; i3++) sum += (a9[i0 * (H * n * n) + i1 * (n * n) + i3 * n + i2] * a17[i0 * (n * m) + i3 * m + i4]); a34[i0 * (H * n * m) + i1 * (n * m) + i2 * m + i4] = sum; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i3 = 0; i3 < m; i3++) a35[i0 * (H * n * m) + i1 * (n * m) + i2 * m + i3] = (a34[i0 * (H * n * m) + i1 * (n * m) + i2 * m + i3] / number3);
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i4 = 0; i4 < d; i4++) { let sum = 0; for (let i3 = 0; i3 < m; i3++) sum += (a35[i0 * (H * n * m) + i1 * (n * m) + i2 * m + i3] * WO[3 * H * D * d + i1 * (d * m) + i4 * m + i3]); a36[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i4] = sum; }
for (let i0 = 0; i0 < N; i0++) for (let i3 = 0; i3 < H; i3++) for (let i1 = 0; i1 < D; i1++) for (let i4 = 0; i4 < d; i4++) { let sum = 0; for (let i2 = 0; i2 < n; i2++) sum += (X[i0 * (n * D) + i2 * D + i1] * a36[i0 * (H * n * d) + i3 * (n * d) + i2 * d + i4]); a37[i0 * (H * D * d) + i3 * (D * d) + i1 * d + i4] = sum; }
for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < D; i2++) for (let i3 = 0; i3 < d; i3++) { let sum = 0; for (let i0 = 0; i0 < N; i0++) sum += a37[i0 * (H * D * d) + i1 * (D * d) + i2 * d + i3]; a38[i1 * (D * d) + i2 * d + i3] = sum; }
for (let i0 = 0; i0 < H; i0++) for (let i1 = 0; i1 < D; i1++) for (let i2 = 0; i2 < d; i2++) dWV[2 * H * D * d + i0 * (D * d) + i1 * d + i2] = a38[i0 * (D * d) + i1 * d + i2];
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < d; i2++) for (let i4 = 0; i4 < m; i4++) { let sum = 0; for (let i3 = 0; i3 < n; i3++) sum += (a11[i0 * (H * n * d) + i1 * (n * d) + i3 * d + i2] * a35[i0 * (H * n * m) + i1 * (n * m) + i3 * m + i4]); a40[i0 * (H * d * m) + i1 * (d * m) + i2 * m + i4] = sum; }
for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < d; i2++) for (let i3 = 0; i3 < m; i3++) { let sum = 0; for (let i0 = 0; i0 < N; i0++) sum += a40[i0 * (H * d * m) + i1 * (d * m) + i2 * m + i3]; a41[i1 * (d * m) + i2 * m + i3] = sum; }
for (let i0 = 0; i0 < H; i0++) for (let i1 = 0; i1 < d; i1++) for (let i2 = 0; i2 < m; i2++) dWO[3 * H * D * d + i0 * (d * m) + i1 * m + i2] = a41[i0 * (d * m) + i1 * m + i2];
return loss[0];
},
product() {
for (let i0 = 0; i0 < N; i0++) for (let i3 = 0; i3 < H; i3++) for (let i1 = 0; i1 < n; i1++) for (let i4 = 0; i4 < d; i4++) { let sum = 0; for (let i2 = 0; i2 < D; i2++) sum += (X[i0 * (n * D) + i1 * D + i2] * WQ[0 + i3 * (D * d) + i2 * d + i4]); b2[i0 * (H * n * d) + i3 * (n * d) + i1 * d + i4] = sum; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) { let sum = 0; for (let i3 = 0; i3 < d; i3++) sum += (b2[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3] * b2[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3]); b3[i0 * (H * n) + i1 * n + i2] = sum; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i3 = 0; i3 < d; i3++) b4[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3] = (2.0 * b2[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3]);
for (let i0 = 0; i0 < N; i0++) for (let i3 = 0; i3 < H; i3++) for (let i1 = 0; i1 < n; i1++) for (let i4 = 0; i4 < d; i4++) { let sum = 0; for (let i2 = 0; i2 < D; i2++) sum += (X[i0 * (n * D) + i1 * D + i2] * WK[H * D * d + i3 * (D * d) + i2 * d + i4]); b6[i0 * (H * n * d) + i3 * (n * d) + i1 * d + i4] = sum; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i4 = 0; i4 < n; i4++) { let sum = 0; for (let i3 = 0; i3 < d; i3++) sum += (b4[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3] * b6[i0 * (H * n * d) + i1 * (n * d) + i4 * d + i3]); b7[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i4] = sum; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) { let sum = 0; for (let i3 = 0; i3 < d; i3++) sum += (b6[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3] * b6[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3]); b8[i0 * (H * n) + i1 * n + i2] = sum; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i3 = 0; i3 < n; i3++) b9[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3] = Math.exp((number0 * Math.max(((b3[i0 * (H * n) + i1 * n + i2] - b7[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3]) + b8[i0 * (H * n) + i1 * n + i3]), 0.0)));
for (let i0 = 0; i0 < N; i0++) for (let i3 = 0; i3 < H; i3++) for (let i1 = 0; i1 < n; i1++) for (let i4 = 0; i4 < d; i4++) { let sum = 0; for (let i2 = 0; i2 < D; i2++) sum += (X[i0 * (n * D) + i1 * D + i2] * VWQ[0 + i3 * (D * d) + i2 * d + i4]); b11[i0 * (H * n * d) + i3 * (n * d) + i1 * d + i4] = sum; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) { let sum = 0; for (let i3 = 0; i3 < d; i3++) sum += (b2[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3] * b11[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3]); b12[i0 * (H * n) + i1 * n + i2] = sum; }
for (let i0 = 0; i0 < N; i0++) for (let i3 = 0; i3 < H; i3++) for (let i1 = 0; i1 < n; i1++) for (let i4 = 0; i4 < d; i4++) { let sum = 0; for (let i2 = 0; i2 < D; i2++) sum += (X[i0 * (n * D) + i1 * D + i2] * VWK[H * D * d + i3 * (D * d) + i2 * d + i4]); b14[i0 * (H * n * d) + i3 * (n * d) + i1 * d + i4] = sum; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) { let sum = 0; for (let i3 = 0; i3 < d; i3++) sum += (b6[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3] * b14[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3]); b15[i0 * (H * n) + i1 * n + i2] = sum; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i4 = 0; i4 < n; i4++) { let sum = 0; for (let i3 = 0; i3 < d; i3++) sum += (b11[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3] * b6[i0 * (H * n * d) + i1 * (n * d) + i4 * d + i3]); b16[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i4] = sum; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i4 = 0; i4 < n; i4++) { let sum = 0; for (let i3 = 0; i3 < d; i3++) sum += (b2[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3] * b14[i0 * (H * n * d) + i1 * (n * d) + i4 * d + i3]); b17[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i4] = sum; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i3 = 0; i3 < n; i3++) b18[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3] = (b9[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3] * (number4 * (((b12[i0 * (H * n) + i1 * n + i2] + b15[i0 * (H * n) + i1 * n + i3]) - b16[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3]) - b17[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3])));
for (let i0 = 0; i0 < N; i0++) for (let i3 = 0; i3 < H; i3++) for (let i1 = 0; i1 < n; i1++) for (let i4 = 0; i4 < d; i4++) { let sum = 0; for (let i2 = 0; i2 < D; i2++) sum += (X[i0 * (n * D) + i1 * D + i2] * WV[2 * H * D * d + i3 * (D * d) + i2 * d + i4]); b20[i0 * (H * n * d) + i3 * (n * d) + i1 * d + i4] = sum; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i4 = 0; i4 < m; i4++) { let sum = 0; for (let i3 = 0; i3 < d; i3++) sum += (b20[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3] * WO[3 * H * D * d + i1 * (d * m) + i3 * m + i4]); b22[i0 * (H * n * m) + i1 * (n * m) + i2 * m + i4] = sum; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i4 = 0; i4 < m; i4++) { let sum = 0; for (let i3 = 0; i3 < n; i3++) sum += (b9[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3] * b22[i0 * (H * n * m) + i1 * (n * m) + i3 * m + i4]); b23[i0 * (H * n * m) + i1 * (n * m) + i2 * m + i4] = sum; }
for (let i0 = 0; i0 < N; i0++) for (let i2 = 0; i2 < n; i2++) for (let i3 = 0; i3 < m; i3++) { let sum = 0; for (let i1 = 0; i1 < H; i1++) sum += b23[i0 * (H * n * m) + i1 * (n * m) + i2 * m + i3]; b24[i0 * (n * m) + i2 * m + i3] = sum; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < n; i1++) for (let i2 = 0; i2 < m; i2++) b26[i0 * (n * m) + i1 * m + i2] = (b24[i0 * (n * m) + i1 * m + i2] - y[i0 * (n * m) + i1 * m + i2]);
for (let i0 = 0; i0 < N; i0++) for (let i3 = 0; i3 < H; i3++) for (let i1 = 0; i1 < n; i1++) for (let i4 = 0; i4 < n; i4++) { let sum = 0; for (let i2 = 0; i2 < m; i2++) sum += (b26[i0 * (n * m) + i1 * m + i2] * b22[i0 * (H * n * m) + i3 * (n * m) + i4 * m + i2]); b27[i0 * (H * n * n) + i3 * (n * n) + i1 * n + i4] = sum; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i3 = 0; i3 < n; i3++) b28[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3] = (b27[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3] / number3);
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i4 = 0; i4 < m; i4++) { let sum = 0; for (let i3 = 0; i3 < n; i3++) sum += (b18[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3] * b22[i0 * (H * n * m) + i1 * (n * m) + i3 * m + i4]); b29[i0 * (H * n * m) + i1 * (n * m) + i2 * m + i4] = sum; }
for (let i0 = 0; i0 < N; i0++) for (let i3 = 0; i3 < H; i3++) for (let i1 = 0; i1 < n; i1++) for (let i4 = 0; i4 < d; i4++) { let sum = 0; for (let i2 = 0; i2 < D; i2++) sum += (X[i0 * (n * D) + i1 * D + i2] * VWV[2 * H * D * d + i3 * (D * d) + i2 * d + i4]); b31[i0 * (H * n * d) + i3 * (n * d) + i1 * d + i4] = sum; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i4 = 0; i4 < m; i4++) { let sum = 0; for (let i3 = 0; i3 < d; i3++) sum += (b31[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3] * WO[3 * H * D * d + i1 * (d * m) + i3 * m + i4]); b32[i0 * (H * n * m) + i1 * (n * m) + i2 * m + i4] = sum; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i4 = 0; i4 < m; i4++) { let sum = 0; for (let i3 = 0; i3 < d; i3++) sum += (b20[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3] * VWO[3 * H * D * d + i1 * (d * m) + i3 * m + i4]); b34[i0 * (H * n * m) + i1 * (n * m) + i2 * m + i4] = sum; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i3 = 0; i3 < m; i3++) b35[i0 * (H * n * m) + i1 * (n * m) + i2 * m + i3] = (b32[i0 * (H * n * m) + i1 * (n * m) + i2 * m + i3] + b34[i0 * (H * n * m) + i1 * (n * m) + i2 * m + i3]);
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i4 = 0; i4 < m; i4++) { let sum = 0; for (let i3 = 0; i3 < n; i3++) sum += (b9[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3] * b35[i0 * (H * n * m) + i1 * (n * m) + i3 * m + i4]); b36[i0 * (H * n * m) + i1 * (n * m) + i2 * m + i4] = sum; }
for (let i0 = 0; i0 < N; i0++) for (let i2 = 0; i2 < n; i2++) for (let i3 = 0; i3 < m; i3++) { let sum = 0; for (let i1 = 0; i1 < H; i1++) sum += (b29[i0 * (H * n * m) + i1 * (n * m) + i2 * m + i3] + b36[i0 * (H * n * m) + i1 * (n * m) + i2 * m + i3]); b37[i0 * (n * m) + i2 * m + i3] = sum; }
for (let i0 = 0; i0 < N; i0++) for (let i3 = 0; i3 < H; i3++) for (let i1 = 0; i1 < n; i1++) for (let i4 = 0; i4 < n; i4++) { let sum = 0; for (let i2 = 0; i2 < m; i2++) sum += (b37[i0 * (n * m) + i1 * m + i2] * b22[i0 * (H * n * m) + i3 * (n * m) + i4 * m + i2]); b38[i0 * (H * n * n) + i3 * (n * n) + i1 * n + i4] = sum; }
for (let i0 = 0; i0 < N; i0++) for (let i3 = 0; i3 < H; i3++) for (let i1 = 0; i1 < n; i1++) for (let i4 = 0; i4 < n; i4++) { let sum = 0; for (let i2 = 0; i2 < m; i2++) sum += (b26[i0 * (n * m) + i1 * m + i2] * b35[i0 * (H * n * m) + i3 * (n * m) + i4 * m + i2]); b39[i0 * (H * n * n) + i3 * (n * n) + i1 * n + i4] = sum; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i3 = 0; i3 < n; i3++) b40[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3] = ((b18[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3] * b28[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3]) + (b9[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3] * ((b38[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3] + b39[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3]) / number3)));
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i4 = 0; i4 < d; i4++) { let sum = 0; for (let i3 = 0; i3 < n; i3++) sum += (b40[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3] * b6[i0 * (H * n * d) + i1 * (n * d) + i3 * d + i4]); b41[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i4] = sum; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) { let sum = 0; for (let i3 = 0; i3 < n; i3++) sum += b40[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3]; b42[i0 * (H * n) + i1 * n + i2] = sum; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i3 = 0; i3 < n; i3++) b43[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3] = (b9[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3] * b28[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3]);
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i4 = 0; i4 < d; i4++) { let sum = 0; for (let i3 = 0; i3 < n; i3++) sum += (b43[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3] * b14[i0 * (H * n * d) + i1 * (n * d) + i3 * d + i4]); b44[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i4] = sum; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) { let sum = 0; for (let i3 = 0; i3 < n; i3++) sum += b43[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3]; b45[i0 * (H * n) + i1 * n + i2] = sum; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i3 = 0; i3 < d; i3++) b46[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3] = ((number2 * (b41[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3] - (b42[i0 * (H * n) + i1 * n + i2] * b2[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3]))) + (number2 * (b44[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3] - (b45[i0 * (H * n) + i1 * n + i2] * b11[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3]))));
for (let i0 = 0; i0 < N; i0++) for (let i3 = 0; i3 < H; i3++) for (let i1 = 0; i1 < D; i1++) for (let i4 = 0; i4 < d; i4++) { let sum = 0; for (let i2 = 0; i2 < n; i2++) sum += (X[i0 * (n * D) + i2 * D + i1] * b46[i0 * (H * n * d) + i3 * (n * d) + i2 * d + i4]); b47[i0 * (H * D * d) + i3 * (D * d) + i1 * d + i4] = sum; }
for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < D; i2++) for (let i3 = 0; i3 < d; i3++) { let sum = 0; for (let i0 = 0; i0 < N; i0++) sum += b47[i0 * (H * D * d) + i1 * (D * d) + i2 * d + i3]; b48[i1 * (D * d) + i2 * d + i3] = sum; }
for (let i0 = 0; i0 < H; i0++) for (let i1 = 0; i1 < D; i1++) for (let i2 = 0; i2 < d; i2++) HWQ[0 + i0 * (D * d) + i1 * d + i2] = b48[i0 * (D * d) + i1 * d + i2];
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i4 = 0; i4 < d; i4++) { let sum = 0; for (let i3 = 0; i3 < n; i3++) sum += (b40[i0 * (H * n * n) + i1 * (n * n) + i3 * n + i2] * b2[i0 * (H * n * d) + i1 * (n * d) + i3 * d + i4]); b50[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i4] = sum; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i3 = 0; i3 < n; i3++) { let sum = 0; for (let i2 = 0; i2 < n; i2++) sum += b40[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3]; b51[i0 * (H * n) + i1 * n + i3] = sum; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i4 = 0; i4 < d; i4++) { let sum = 0; for (let i3 = 0; i3 < n; i3++) sum += (b43[i0 * (H * n * n) + i1 * (n * n) + i3 * n + i2] * b11[i0 * (H * n * d) + i1 * (n * d) + i3 * d + i4]); b52[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i4] = sum; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i3 = 0; i3 < n; i3++) { let sum = 0; for (let i2 = 0; i2 < n; i2++) sum += b43[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3]; b53[i0 * (H * n) + i1 * n + i3] = sum; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i3 = 0; i3 < d; i3++) b54[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3] = ((number2 * (b50[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3] - (b51[i0 * (H * n) + i1 * n + i2] * b6[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3]))) + (number2 * (b52[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3] - (b53[i0 * (H * n) + i1 * n + i2] * b14[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3]))));
for (let i0 = 0; i0 < N; i0++) for (let i3 = 0; i3 < H; i3++) for (let i1 = 0; i1 < D; i1++) for (let i4 = 0; i4 < d; i4++) { let sum = 0; for (let i2 = 0; i2 < n; i2++) sum += (X[i0 * (n * D) + i2 * D + i1] * b54[i0 * (H * n * d) + i3 * (n * d) + i2 * d + i4]); b55[i0 * (H * D * d) + i3 * (D * d) + i1 * d + i4] = sum; }
for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < D; i2++) for (let i3 = 0; i3 < d; i3++) { let sum = 0; for (let i0 = 0; i0 < N; i0++) sum += b55[i0 * (H * D * d) + i1 * (D * d) + i2 * d + i3]; b56[i1 * (D * d) + i2 * d + i3] = sum; }
for (let i0 = 0; i0 < H; i0++) for (let i1 = 0; i1 < D; i1++) for (let i2 = 0; i2 < d; i2++) HWK[H * D * d + i0 * (D * d) + i1 * d + i2] = b56[i0 * (D * d) + i1 * d + i2];
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i4 = 0; i4 < m; i4++) { let sum = 0; for (let i3 = 0; i3 < n; i3++) sum += (b18[i0 * (H * n * n) + i1 * (n * n) + i3 * n + i2] * b26[i0 * (n * m) + i3 * m + i4]); b58[i0 * (H * n * m) + i1 * (n * m) + i2 * m + i4] = sum; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i4 = 0; i4 < m; i4++) { let sum = 0; for (let i3 = 0; i3 < n; i3++) sum += (b9[i0 * (H * n * n) + i1 * (n * n) + i3 * n + i2] * b37[i0 * (n * m) + i3 * m + i4]); b59[i0 * (H * n * m) + i1 * (n * m) + i2 * m + i4] = sum; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i3 = 0; i3 < m; i3++) b60[i0 * (H * n * m) + i1 * (n * m) + i2 * m + i3] = ((b58[i0 * (H * n * m) + i1 * (n * m) + i2 * m + i3] + b59[i0 * (H * n * m) + i1 * (n * m) + i2 * m + i3]) / number3);
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i4 = 0; i4 < d; i4++) { let sum = 0; for (let i3 = 0; i3 < m; i3++) sum += (b60[i0 * (H * n * m) + i1 * (n * m) + i2 * m + i3] * WO[3 * H * D * d + i1 * (d * m) + i4 * m + i3]); b61[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i4] = sum; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i4 = 0; i4 < m; i4++) { let sum = 0; for (let i3 = 0; i3 < n; i3++) sum += (b9[i0 * (H * n * n) + i1 * (n * n) + i3 * n + i2] * b26[i0 * (n * m) + i3 * m + i4]); b62[i0 * (H * n * m) + i1 * (n * m) + i2 * m + i4] = sum; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i3 = 0; i3 < m; i3++) b63[i0 * (H * n * m) + i1 * (n * m) + i2 * m + i3] = (b62[i0 * (H * n * m) + i1 * (n * m) + i2 * m + i3] / number3);
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i4 = 0; i4 < d; i4++) { let sum = 0; for (let i3 = 0; i3 < m; i3++) sum += (b63[i0 * (H * n * m) + i1 * (n * m) + i2 * m + i3] * VWO[3 * H * D * d + i1 * (d * m) + i4 * m + i3]); b64[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i4] = sum; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i3 = 0; i3 < d; i3++) b65[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3] = (b61[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3] + b64[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3]);
for (let i0 = 0; i0 < N; i0++) for (let i3 = 0; i3 < H; i3++) for (let i1 = 0; i1 < D; i1++) for (let i4 = 0; i4 < d; i4++) { let sum = 0; for (let i2 = 0; i2 < n; i2++) sum += (X[i0 * (n * D) + i2 * D + i1] * b65[i0 * (H * n * d) + i3 * (n * d) + i2 * d + i4]); b66[i0 * (H * D * d) + i3 * (D * d) + i1 * d + i4] = sum; }
for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < D; i2++) for (let i3 = 0; i3 < d; i3++) { let sum = 0; for (let i0 = 0; i0 < N; i0++) sum += b66[i0 * (H * D * d) + i1 * (D * d) + i2 * d + i3]; b67[i1 * (D * d) + i2 * d + i3] = sum; }
for (let i0 = 0; i0 < H; i0++) for (let i1 = 0; i1 < D; i1++) for (let i2 = 0; i2 < d; i2++) HWV[2 * H * D * d + i0 * (D * d) + i1 * d + i2] = b67[i0 * (D * d) + i1 * d + i2];
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < d; i2++) for (let i4 = 0; i4 < m; i4++) { let sum = 0; for (let i3 = 0; i3 < n; i3++) sum += (b31[i0 * (H * n * d) + i1 * (n * d) + i3 * d + i2] * b63[i0 * (H * n * m) + i1 * (n * m) + i3 * m + i4]); b69[i0 * (H * d * m) + i1 * (d * m) + i2 * m + i4] = sum; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < d; i2++) for (let i4 = 0; i4 < m; i4++) { let sum = 0; for (let i3 = 0; i3 < n; i3++) sum += (b20[i0 * (H * n * d) + i1 * (n * d) + i3 * d + i2] * b60[i0 * (H * n * m) + i1 * (n * m) + i3 * m + i4]); b70[i0 * (H * d * m) + i1 * (d * m) + i2 * m + i4] = sum; }
for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < d; i2++) for (let i3 = 0; i3 < m; i3++) { let sum = 0; for (let i0 = 0; i0 < N; i0++) sum += (b69[i0 * (H * d * m) + i1 * (d * m) + i2 * m + i3] + b70[i0 * (H * d * m) + i1 * (d * m) + i2 * m + i3]); b71[i1 * (d * m) + i2 * m + i3] = sum; }
for (let i0 = 0; i0 < H; i0++) for (let i1 = 0; i1 < d; i1++) for (let i2 = 0; i2 < m; i2++) HWO[3 * H * D * d + i0 * (d * m) + i1 * m + i2] = b71[i0 * (d * m) + i1 * m + i2];
return HWQ[0];
},
forward() {
for (let i0 = 0; i0 < N; i0++) for (let i3 = 0; i3 < H; i3++) for (let i1 = 0; i1 < n; i1++) for (let i4 = 0; i4 < d; i4++) { let sum = 0; for (let i2 = 0; i2 < D; i2++) sum += (X[i0 * (n * D) + i1 * D + i2] * WQ[0 + i3 * (D * d) + i2 * d + i4]); c2[i0 * (H * n * d) + i3 * (n * d) + i1 * d + i4] = sum; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) { let sum = 0; for (let i3 = 0; i3 < d; i3++) sum += (c2[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3] * c2[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3]); c3[i0 * (H * n) + i1 * n + i2] = sum; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i3 = 0; i3 < d; i3++) c4[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3] = (2.0 * c2[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3]);
for (let i0 = 0; i0 < N; i0++) for (let i3 = 0; i3 < H; i3++) for (let i1 = 0; i1 < n; i1++) for (let i4 = 0; i4 < d; i4++) { let sum = 0; for (let i2 = 0; i2 < D; i2++) sum += (X[i0 * (n * D) + i1 * D + i2] * WK[H * D * d + i3 * (D * d) + i2 * d + i4]); c6[i0 * (H * n * d) + i3 * (n * d) + i1 * d + i4] = sum; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i4 = 0; i4 < n; i4++) { let sum = 0; for (let i3 = 0; i3 < d; i3++) sum += (c4[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3] * c6[i0 * (H * n * d) + i1 * (n * d) + i4 * d + i3]); c7[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i4] = sum; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) { let sum = 0; for (let i3 = 0; i3 < d; i3++) sum += (c6[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3] * c6[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3]); c8[i0 * (H * n) + i1 * n + i2] = sum; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i3 = 0; i3 < n; i3++) c9[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3] = Math.exp((number0 * Math.max(((c3[i0 * (H * n) + i1 * n + i2] - c7[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3]) + c8[i0 * (H * n) + i1 * n + i3]), 0.0)));
for (let i0 = 0; i0 < N; i0++) for (let i3 = 0; i3 < H; i3++) for (let i1 = 0; i1 < n; i1++) for (let i4 = 0; i4 < d; i4++) { let sum = 0; for (let i2 = 0; i2 < D; i2++) sum += (X[i0 * (n * D) + i1 * D + i2] * WV[2 * H * D * d + i3 * (D * d) + i2 * d + i4]); c11[i0 * (H * n * d) + i3 * (n * d) + i1 * d + i4] = sum; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i4 = 0; i4 < m; i4++) { let sum = 0; for (let i3 = 0; i3 < d; i3++) sum += (c11[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3] * WO[3 * H * D * d + i1 * (d * m) + i3 * m + i4]); c13[i0 * (H * n * m) + i1 * (n * m) + i2 * m + i4] = sum; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i4 = 0; i4 < m; i4++) { let sum = 0; for (let i3 = 0; i3 < n; i3++) sum += (c9[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3] * c13[i0 * (H * n * m) + i1 * (n * m) + i3 * m + i4]); c14[i0 * (H * n * m) + i1 * (n * m) + i2 * m + i4] = sum; }
for (let i0 = 0; i0 < N; i0++) for (let i2 = 0; i2 < n; i2++) for (let i3 = 0; i3 < m; i3++) { let sum = 0; for (let i1 = 0; i1 < H; i1++) sum += c14[i0 * (H * n * m) + i1 * (n * m) + i2 * m + i3]; c15[i0 * (n * m) + i2 * m + i3] = sum; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < n; i1++) for (let i2 = 0; i2 < m; i2++) c17[i0 * (n * m) + i1 * m + i2] = (c15[i0 * (n * m) + i1 * m + i2] - y[i0 * (n * m) + i1 * m + i2]);
{ let sum = 0; for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < n; i1++) for (let i2 = 0; i2 < m; i2++) sum += (c17[i0 * (n * m) + i1 * m + i2] * c17[i0 * (n * m) + i1 * m + i2]); c18[0] = sum; }
loss[0] = (c18[0] / number1);
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i3 = 0; i3 < n; i3++) weights[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3] = c9[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3];
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i4 = 0; i4 < D; i4++) { let sum = 0; for (let i3 = 0; i3 < n; i3++) sum += (c9[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3] * X[i0 * (n * D) + i3 * D + i4]); c21[i0 * (H * n * D) + i1 * (n * D) + i2 * D + i4] = sum; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < n; i1++) for (let i2 = 0; i2 < H; i2++) for (let i3 = 0; i3 < D; i3++) mixed[i0 * (n * H * D) + i1 * (H * D) + i2 * D + i3] = c21[i0 * (H * n * D) + i2 * (n * D) + i1 * D + i3];
return loss[0];
},
};
return { X, y, theta, direction, loss, slope, along, weights, mixed, loaded() {}, call: (name) => run[name]() };
}
