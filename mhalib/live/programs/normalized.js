// Made by `make kernel` from mhalib/live/formulas.py, for where no WebAssembly may run.
const root = Math.sqrt;
const logaddexp = (a, b) =>
  a === b ? a + Math.LN2 : Math.max(a, b) + Math.log1p(Math.exp(-Math.abs(a - b)));
export function program([N, n, D, m, H, d, c]) {
const X = new Float64Array((N * n * D));
const y = new Float64Array((N * n * m));
const theta = new Float64Array((H * (3 * D * d + d * m)));
const direction = new Float64Array((H * (3 * D * d + d * m)));
const loss = new Float64Array(1);
const slope = new Float64Array((H * (3 * D * d + d * m)));
const along = new Float64Array((H * (3 * D * d + d * m)));
const weights = new Float64Array((N * H * n * n));
const mixed = new Float64Array((N * H * n * D));
const WQ = theta;
const WK = theta;
const WV = theta;
const WO = theta;
const VWQ = direction;
const VWK = direction;
const VWV = direction;
const VWO = direction;
const an0 = -1.0 / root(d) * c;
const an1 = 2.0 * N;
const an2 = 1.0 * N;
const an3 = 2.0 / root(d) * c;
const bn0 = -1.0 / root(d) * c;
const bn1 = -2.0 / root(d) * c;
const bn2 = 1.0 * N;
const bn3 = 2.0 / root(d) * c;
const cn0 = -1.0 / root(d) * c;
const cn1 = 2.0 * N;
const a2 = new Float64Array((N * H * n * d));
const a3 = new Float64Array((N * H * n));
const a4 = new Float64Array((N * H * n * d));
const a6 = new Float64Array((N * H * n * d));
const a7 = new Float64Array((N * H * n * n));
const a8 = new Float64Array((N * H * n));
const a9 = new Float64Array((N * H * n * n));
const a10 = new Float64Array((N * H * n));
const a11 = new Float64Array((N * H * n * n));
const a12 = new Float64Array((N * H * n));
const a13 = new Float64Array((N * H * n * n));
const a15 = new Float64Array((N * H * n * d));
const a17 = new Float64Array((N * H * n * m));
const a18 = new Float64Array((N * H * n * m));
const a19 = new Float64Array((N * n * m));
const a21 = new Float64Array((N * n * m));
const a22 = new Float64Array(1);
const a23 = new Float64Array(1);
const a24 = new Float64Array((N * H * n * n));
const a25 = new Float64Array((N * H * n * n));
const a26 = new Float64Array((N * H * n));
const a27 = new Float64Array((N * H * n * n));
const a28 = new Float64Array((N * H * n * d));
const a29 = new Float64Array((N * H * n));
const a30 = new Float64Array((N * H * n * d));
const a31 = new Float64Array((N * H * D * d));
const a32 = new Float64Array((H * D * d));
const a33 = new Float64Array((N * H * n * d));
const a34 = new Float64Array((N * H * n));
const a35 = new Float64Array((N * H * n * d));
const a36 = new Float64Array((N * H * D * d));
const a37 = new Float64Array((H * D * d));
const a38 = new Float64Array((N * H * n * m));
const a39 = new Float64Array((N * H * n * m));
const a40 = new Float64Array((N * H * n * d));
const a41 = new Float64Array((N * H * D * d));
const a42 = new Float64Array((H * D * d));
const a43 = new Float64Array((N * H * d * m));
const a44 = new Float64Array((H * d * m));
const b2 = new Float64Array((N * H * n * d));
const b3 = new Float64Array((N * H * n));
const b4 = new Float64Array((N * H * n * d));
const b6 = new Float64Array((N * H * n * d));
const b7 = new Float64Array((N * H * n * n));
const b8 = new Float64Array((N * H * n));
const b9 = new Float64Array((N * H * n * n));
const b10 = new Float64Array((N * H * n));
const b11 = new Float64Array((N * H * n * n));
const b12 = new Float64Array((N * H * n));
const b13 = new Float64Array((N * H * n * n));
const b15 = new Float64Array((N * H * n * d));
const b16 = new Float64Array((N * H * n));
const b18 = new Float64Array((N * H * n * d));
const b19 = new Float64Array((N * H * n));
const b20 = new Float64Array((N * H * n * n));
const b21 = new Float64Array((N * H * n * n));
const b22 = new Float64Array((N * H * n * n));
const b23 = new Float64Array((N * H * n));
const b24 = new Float64Array((N * H * n * n));
const b26 = new Float64Array((N * H * n * d));
const b28 = new Float64Array((N * H * n * m));
const b29 = new Float64Array((N * H * n * m));
const b30 = new Float64Array((N * n * m));
const b32 = new Float64Array((N * n * m));
const b33 = new Float64Array((N * H * n * n));
const b34 = new Float64Array((N * H * n * n));
const b35 = new Float64Array((N * H * n));
const b36 = new Float64Array((N * H * n * n));
const b37 = new Float64Array((N * H * n * m));
const b39 = new Float64Array((N * H * n * d));
const b40 = new Float64Array((N * H * n * m));
const b42 = new Float64Array((N * H * n * m));
const b43 = new Float64Array((N * H * n * m));
const b44 = new Float64Array((N * H * n * m));
const b45 = new Float64Array((N * n * m));
const b46 = new Float64Array((N * H * n * n));
const b47 = new Float64Array((N * H * n * n));
const b48 = new Float64Array((N * H * n * n));
const b49 = new Float64Array((N * H * n));
const b50 = new Float64Array((N * H * n));
const b51 = new Float64Array((N * H * n * n));
const b52 = new Float64Array((N * H * n * d));
const b53 = new Float64Array((N * H * n));
const b54 = new Float64Array((N * H * n * n));
const b55 = new Float64Array((N * H * n * d));
const b56 = new Float64Array((N * H * n));
const b57 = new Float64Array((N * H * n * d));
const b58 = new Float64Array((N * H * D * d));
const b59 = new Float64Array((H * D * d));
const b60 = new Float64Array((N * H * n * d));
const b61 = new Float64Array((N * H * n));
const b62 = new Float64Array((N * H * n * d));
const b63 = new Float64Array((N * H * n));
const b64 = new Float64Array((N * H * n * d));
const b65 = new Float64Array((N * H * D * d));
const b66 = new Float64Array((H * D * d));
const b67 = new Float64Array((N * H * n * m));
const b68 = new Float64Array((N * H * n * m));
const b69 = new Float64Array((N * H * n * m));
const b70 = new Float64Array((N * H * n * d));
const b71 = new Float64Array((N * H * n * m));
const b72 = new Float64Array((N * H * n * m));
const b73 = new Float64Array((N * H * n * d));
const b74 = new Float64Array((N * H * n * d));
const b75 = new Float64Array((N * H * D * d));
const b76 = new Float64Array((H * D * d));
const b77 = new Float64Array((N * H * d * m));
const b78 = new Float64Array((N * H * d * m));
const b79 = new Float64Array((H * d * m));
const c2 = new Float64Array((N * H * n * d));
const c3 = new Float64Array((N * H * n));
const c4 = new Float64Array((N * H * n * d));
const c6 = new Float64Array((N * H * n * d));
const c7 = new Float64Array((N * H * n * n));
const c8 = new Float64Array((N * H * n));
const c9 = new Float64Array((N * H * n * n));
const c10 = new Float64Array((N * H * n));
const c11 = new Float64Array((N * H * n * n));
const c12 = new Float64Array((N * H * n));
const c13 = new Float64Array((N * H * n * n));
const c15 = new Float64Array((N * H * n * d));
const c17 = new Float64Array((N * H * n * m));
const c18 = new Float64Array((N * H * n * m));
const c19 = new Float64Array((N * n * m));
const c21 = new Float64Array((N * n * m));
const c22 = new Float64Array(1);
const c23 = new Float64Array(1);
const c24 = new Float64Array((N * H * n * D));
const run = {
gradient() {
for (let i0 = 0; i0 < N; i0++) for (let i3 = 0; i3 < H; i3++) for (let i1 = 0; i1 < n; i1++) for (let i4 = 0; i4 < d; i4++) { let s = 0; for (let i2 = 0; i2 < D; i2++) s += (X[i0 * (n * D) + i1 * D + i2] * WQ[0 * H * D * d + i3 * (D * d) + i2 * d + i4]); a2[i0 * (H * n * d) + i3 * (n * d) + i1 * d + i4] = s; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) { let s = 0; for (let i3 = 0; i3 < d; i3++) s += (a2[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3] * a2[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3]); a3[i0 * (H * n) + i1 * n + i2] = s; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i3 = 0; i3 < d; i3++) a4[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3] = (2.0 * a2[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3]);
for (let i0 = 0; i0 < N; i0++) for (let i3 = 0; i3 < H; i3++) for (let i1 = 0; i1 < n; i1++) for (let i4 = 0; i4 < d; i4++) { let s = 0; for (let i2 = 0; i2 < D; i2++) s += (X[i0 * (n * D) + i1 * D + i2] * WK[1 * H * D * d + i3 * (D * d) + i2 * d + i4]); a6[i0 * (H * n * d) + i3 * (n * d) + i1 * d + i4] = s; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i4 = 0; i4 < n; i4++) { let s = 0; for (let i3 = 0; i3 < d; i3++) s += (a4[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3] * a6[i0 * (H * n * d) + i1 * (n * d) + i4 * d + i3]); a7[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i4] = s; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) { let s = 0; for (let i3 = 0; i3 < d; i3++) s += (a6[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3] * a6[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3]); a8[i0 * (H * n) + i1 * n + i2] = s; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i3 = 0; i3 < n; i3++) a9[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3] = (an0 * Math.max(((a3[i0 * (H * n) + i1 * n + i2] - a7[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3]) + a8[i0 * (H * n) + i1 * n + i3]), 0.0));
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) { let s = -Infinity; for (let i3 = 0; i3 < n; i3++) s = Math.max(s, a9[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3]); a10[i0 * (H * n) + i1 * n + i2] = s; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i3 = 0; i3 < n; i3++) a11[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3] = Math.exp((a9[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3] - a10[i0 * (H * n) + i1 * n + i2]));
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) { let s = 0; for (let i3 = 0; i3 < n; i3++) s += a11[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3]; a12[i0 * (H * n) + i1 * n + i2] = s; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i3 = 0; i3 < n; i3++) a13[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3] = (a11[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3] / a12[i0 * (H * n) + i1 * n + i2]);
for (let i0 = 0; i0 < N; i0++) for (let i3 = 0; i3 < H; i3++) for (let i1 = 0; i1 < n; i1++) for (let i4 = 0; i4 < d; i4++) { let s = 0; for (let i2 = 0; i2 < D; i2++) s += (X[i0 * (n * D) + i1 * D + i2] * WV[2 * H * D * d + i3 * (D * d) + i2 * d + i4]); a15[i0 * (H * n * d) + i3 * (n * d) + i1 * d + i4] = s; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i4 = 0; i4 < m; i4++) { let s = 0; for (let i3 = 0; i3 < d; i3++) s += (a15[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3] * WO[3 * H * D * d + i1 * (d * m) + i3 * m + i4]); a17[i0 * (H * n * m) + i1 * (n * m) + i2 * m + i4] = s; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i4 = 0; i4 < m; i4++) { let s = 0; for (let i3 = 0; i3 < n; i3++) s += (a13[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3] * a17[i0 * (H * n * m) + i1 * (n * m) + i3 * m + i4]); a18[i0 * (H * n * m) + i1 * (n * m) + i2 * m + i4] = s; }
for (let i0 = 0; i0 < N; i0++) for (let i2 = 0; i2 < n; i2++) for (let i3 = 0; i3 < m; i3++) { let s = 0; for (let i1 = 0; i1 < H; i1++) s += a18[i0 * (H * n * m) + i1 * (n * m) + i2 * m + i3]; a19[i0 * (n * m) + i2 * m + i3] = s; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < n; i1++) for (let i2 = 0; i2 < m; i2++) a21[i0 * (n * m) + i1 * m + i2] = (a19[i0 * (n * m) + i1 * m + i2] - y[i0 * (n * m) + i1 * m + i2]);
{ let s = 0; for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < n; i1++) for (let i2 = 0; i2 < m; i2++) s += (a21[i0 * (n * m) + i1 * m + i2] * a21[i0 * (n * m) + i1 * m + i2]); a22[0] = s; }
a23[0] = (a22[0] / an1);
for (let i0 = 0; i0 < N; i0++) for (let i3 = 0; i3 < H; i3++) for (let i1 = 0; i1 < n; i1++) for (let i4 = 0; i4 < n; i4++) { let s = 0; for (let i2 = 0; i2 < m; i2++) s += (a21[i0 * (n * m) + i1 * m + i2] * a17[i0 * (H * n * m) + i3 * (n * m) + i4 * m + i2]); a24[i0 * (H * n * n) + i3 * (n * n) + i1 * n + i4] = s; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i3 = 0; i3 < n; i3++) a25[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3] = (a24[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3] / an2);
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) { let s = 0; for (let i3 = 0; i3 < n; i3++) s += (a13[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3] * a25[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3]); a26[i0 * (H * n) + i1 * n + i2] = s; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i3 = 0; i3 < n; i3++) a27[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3] = (a13[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3] * (a25[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3] - a26[i0 * (H * n) + i1 * n + i2]));
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i4 = 0; i4 < d; i4++) { let s = 0; for (let i3 = 0; i3 < n; i3++) s += (a27[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3] * a6[i0 * (H * n * d) + i1 * (n * d) + i3 * d + i4]); a28[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i4] = s; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) { let s = 0; for (let i3 = 0; i3 < n; i3++) s += a27[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3]; a29[i0 * (H * n) + i1 * n + i2] = s; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i3 = 0; i3 < d; i3++) a30[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3] = (an3 * (a28[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3] - (a29[i0 * (H * n) + i1 * n + i2] * a2[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3])));
for (let i0 = 0; i0 < N; i0++) for (let i3 = 0; i3 < H; i3++) for (let i1 = 0; i1 < D; i1++) for (let i4 = 0; i4 < d; i4++) { let s = 0; for (let i2 = 0; i2 < n; i2++) s += (X[i0 * (n * D) + i2 * D + i1] * a30[i0 * (H * n * d) + i3 * (n * d) + i2 * d + i4]); a31[i0 * (H * D * d) + i3 * (D * d) + i1 * d + i4] = s; }
for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < D; i2++) for (let i3 = 0; i3 < d; i3++) { let s = 0; for (let i0 = 0; i0 < N; i0++) s += a31[i0 * (H * D * d) + i1 * (D * d) + i2 * d + i3]; a32[i1 * (D * d) + i2 * d + i3] = s; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i4 = 0; i4 < d; i4++) { let s = 0; for (let i3 = 0; i3 < n; i3++) s += (a27[i0 * (H * n * n) + i1 * (n * n) + i3 * n + i2] * a2[i0 * (H * n * d) + i1 * (n * d) + i3 * d + i4]); a33[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i4] = s; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i3 = 0; i3 < n; i3++) { let s = 0; for (let i2 = 0; i2 < n; i2++) s += a27[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3]; a34[i0 * (H * n) + i1 * n + i3] = s; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i3 = 0; i3 < d; i3++) a35[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3] = (an3 * (a33[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3] - (a34[i0 * (H * n) + i1 * n + i2] * a6[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3])));
for (let i0 = 0; i0 < N; i0++) for (let i3 = 0; i3 < H; i3++) for (let i1 = 0; i1 < D; i1++) for (let i4 = 0; i4 < d; i4++) { let s = 0; for (let i2 = 0; i2 < n; i2++) s += (X[i0 * (n * D) + i2 * D + i1] * a35[i0 * (H * n * d) + i3 * (n * d) + i2 * d + i4]); a36[i0 * (H * D * d) + i3 * (D * d) + i1 * d + i4] = s; }
for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < D; i2++) for (let i3 = 0; i3 < d; i3++) { let s = 0; for (let i0 = 0; i0 < N; i0++) s += a36[i0 * (H * D * d) + i1 * (D * d) + i2 * d + i3]; a37[i1 * (D * d) + i2 * d + i3] = s; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i4 = 0; i4 < m; i4++) { let s = 0; for (let i3 = 0; i3 < n; i3++) s += (a13[i0 * (H * n * n) + i1 * (n * n) + i3 * n + i2] * a21[i0 * (n * m) + i3 * m + i4]); a38[i0 * (H * n * m) + i1 * (n * m) + i2 * m + i4] = s; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i3 = 0; i3 < m; i3++) a39[i0 * (H * n * m) + i1 * (n * m) + i2 * m + i3] = (a38[i0 * (H * n * m) + i1 * (n * m) + i2 * m + i3] / an2);
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i4 = 0; i4 < d; i4++) { let s = 0; for (let i3 = 0; i3 < m; i3++) s += (a39[i0 * (H * n * m) + i1 * (n * m) + i2 * m + i3] * WO[3 * H * D * d + i1 * (d * m) + i4 * m + i3]); a40[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i4] = s; }
for (let i0 = 0; i0 < N; i0++) for (let i3 = 0; i3 < H; i3++) for (let i1 = 0; i1 < D; i1++) for (let i4 = 0; i4 < d; i4++) { let s = 0; for (let i2 = 0; i2 < n; i2++) s += (X[i0 * (n * D) + i2 * D + i1] * a40[i0 * (H * n * d) + i3 * (n * d) + i2 * d + i4]); a41[i0 * (H * D * d) + i3 * (D * d) + i1 * d + i4] = s; }
for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < D; i2++) for (let i3 = 0; i3 < d; i3++) { let s = 0; for (let i0 = 0; i0 < N; i0++) s += a41[i0 * (H * D * d) + i1 * (D * d) + i2 * d + i3]; a42[i1 * (D * d) + i2 * d + i3] = s; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < d; i2++) for (let i4 = 0; i4 < m; i4++) { let s = 0; for (let i3 = 0; i3 < n; i3++) s += (a15[i0 * (H * n * d) + i1 * (n * d) + i3 * d + i2] * a39[i0 * (H * n * m) + i1 * (n * m) + i3 * m + i4]); a43[i0 * (H * d * m) + i1 * (d * m) + i2 * m + i4] = s; }
for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < d; i2++) for (let i3 = 0; i3 < m; i3++) { let s = 0; for (let i0 = 0; i0 < N; i0++) s += a43[i0 * (H * d * m) + i1 * (d * m) + i2 * m + i3]; a44[i1 * (d * m) + i2 * m + i3] = s; }
loss[0] = a23[0];
for (let i0 = 0; i0 < H; i0++) for (let i1 = 0; i1 < D; i1++) for (let i2 = 0; i2 < d; i2++) slope[0 * H * D * d + i0 * (D * d) + i1 * d + i2 * 1] = a32[i0 * (D * d) + i1 * d + i2];
for (let i0 = 0; i0 < H; i0++) for (let i1 = 0; i1 < D; i1++) for (let i2 = 0; i2 < d; i2++) slope[1 * H * D * d + i0 * (D * d) + i1 * d + i2 * 1] = a37[i0 * (D * d) + i1 * d + i2];
for (let i0 = 0; i0 < H; i0++) for (let i1 = 0; i1 < D; i1++) for (let i2 = 0; i2 < d; i2++) slope[2 * H * D * d + i0 * (D * d) + i1 * d + i2 * 1] = a42[i0 * (D * d) + i1 * d + i2];
for (let i0 = 0; i0 < H; i0++) for (let i1 = 0; i1 < d; i1++) for (let i2 = 0; i2 < m; i2++) slope[3 * H * D * d + i0 * (d * m) + i1 * m + i2 * 1] = a44[i0 * (d * m) + i1 * m + i2];
return loss[0];
},
product() {
for (let i0 = 0; i0 < N; i0++) for (let i3 = 0; i3 < H; i3++) for (let i1 = 0; i1 < n; i1++) for (let i4 = 0; i4 < d; i4++) { let s = 0; for (let i2 = 0; i2 < D; i2++) s += (X[i0 * (n * D) + i1 * D + i2] * WQ[0 * H * D * d + i3 * (D * d) + i2 * d + i4]); b2[i0 * (H * n * d) + i3 * (n * d) + i1 * d + i4] = s; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) { let s = 0; for (let i3 = 0; i3 < d; i3++) s += (b2[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3] * b2[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3]); b3[i0 * (H * n) + i1 * n + i2] = s; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i3 = 0; i3 < d; i3++) b4[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3] = (2.0 * b2[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3]);
for (let i0 = 0; i0 < N; i0++) for (let i3 = 0; i3 < H; i3++) for (let i1 = 0; i1 < n; i1++) for (let i4 = 0; i4 < d; i4++) { let s = 0; for (let i2 = 0; i2 < D; i2++) s += (X[i0 * (n * D) + i1 * D + i2] * WK[1 * H * D * d + i3 * (D * d) + i2 * d + i4]); b6[i0 * (H * n * d) + i3 * (n * d) + i1 * d + i4] = s; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i4 = 0; i4 < n; i4++) { let s = 0; for (let i3 = 0; i3 < d; i3++) s += (b4[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3] * b6[i0 * (H * n * d) + i1 * (n * d) + i4 * d + i3]); b7[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i4] = s; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) { let s = 0; for (let i3 = 0; i3 < d; i3++) s += (b6[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3] * b6[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3]); b8[i0 * (H * n) + i1 * n + i2] = s; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i3 = 0; i3 < n; i3++) b9[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3] = (bn0 * Math.max(((b3[i0 * (H * n) + i1 * n + i2] - b7[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3]) + b8[i0 * (H * n) + i1 * n + i3]), 0.0));
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) { let s = -Infinity; for (let i3 = 0; i3 < n; i3++) s = Math.max(s, b9[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3]); b10[i0 * (H * n) + i1 * n + i2] = s; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i3 = 0; i3 < n; i3++) b11[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3] = Math.exp((b9[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3] - b10[i0 * (H * n) + i1 * n + i2]));
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) { let s = 0; for (let i3 = 0; i3 < n; i3++) s += b11[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3]; b12[i0 * (H * n) + i1 * n + i2] = s; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i3 = 0; i3 < n; i3++) b13[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3] = (b11[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3] / b12[i0 * (H * n) + i1 * n + i2]);
for (let i0 = 0; i0 < N; i0++) for (let i3 = 0; i3 < H; i3++) for (let i1 = 0; i1 < n; i1++) for (let i4 = 0; i4 < d; i4++) { let s = 0; for (let i2 = 0; i2 < D; i2++) s += (X[i0 * (n * D) + i1 * D + i2] * VWQ[0 * H * D * d + i3 * (D * d) + i2 * d + i4]); b15[i0 * (H * n * d) + i3 * (n * d) + i1 * d + i4] = s; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) { let s = 0; for (let i3 = 0; i3 < d; i3++) s += (b2[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3] * b15[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3]); b16[i0 * (H * n) + i1 * n + i2] = s; }
for (let i0 = 0; i0 < N; i0++) for (let i3 = 0; i3 < H; i3++) for (let i1 = 0; i1 < n; i1++) for (let i4 = 0; i4 < d; i4++) { let s = 0; for (let i2 = 0; i2 < D; i2++) s += (X[i0 * (n * D) + i1 * D + i2] * VWK[1 * H * D * d + i3 * (D * d) + i2 * d + i4]); b18[i0 * (H * n * d) + i3 * (n * d) + i1 * d + i4] = s; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) { let s = 0; for (let i3 = 0; i3 < d; i3++) s += (b6[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3] * b18[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3]); b19[i0 * (H * n) + i1 * n + i2] = s; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i4 = 0; i4 < n; i4++) { let s = 0; for (let i3 = 0; i3 < d; i3++) s += (b15[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3] * b6[i0 * (H * n * d) + i1 * (n * d) + i4 * d + i3]); b20[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i4] = s; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i4 = 0; i4 < n; i4++) { let s = 0; for (let i3 = 0; i3 < d; i3++) s += (b2[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3] * b18[i0 * (H * n * d) + i1 * (n * d) + i4 * d + i3]); b21[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i4] = s; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i3 = 0; i3 < n; i3++) b22[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3] = (bn1 * (((b16[i0 * (H * n) + i1 * n + i2] + b19[i0 * (H * n) + i1 * n + i3]) - b20[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3]) - b21[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3]));
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) { let s = 0; for (let i3 = 0; i3 < n; i3++) s += (b13[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3] * b22[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3]); b23[i0 * (H * n) + i1 * n + i2] = s; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i3 = 0; i3 < n; i3++) b24[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3] = (b13[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3] * (b22[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3] - b23[i0 * (H * n) + i1 * n + i2]));
for (let i0 = 0; i0 < N; i0++) for (let i3 = 0; i3 < H; i3++) for (let i1 = 0; i1 < n; i1++) for (let i4 = 0; i4 < d; i4++) { let s = 0; for (let i2 = 0; i2 < D; i2++) s += (X[i0 * (n * D) + i1 * D + i2] * WV[2 * H * D * d + i3 * (D * d) + i2 * d + i4]); b26[i0 * (H * n * d) + i3 * (n * d) + i1 * d + i4] = s; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i4 = 0; i4 < m; i4++) { let s = 0; for (let i3 = 0; i3 < d; i3++) s += (b26[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3] * WO[3 * H * D * d + i1 * (d * m) + i3 * m + i4]); b28[i0 * (H * n * m) + i1 * (n * m) + i2 * m + i4] = s; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i4 = 0; i4 < m; i4++) { let s = 0; for (let i3 = 0; i3 < n; i3++) s += (b13[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3] * b28[i0 * (H * n * m) + i1 * (n * m) + i3 * m + i4]); b29[i0 * (H * n * m) + i1 * (n * m) + i2 * m + i4] = s; }
for (let i0 = 0; i0 < N; i0++) for (let i2 = 0; i2 < n; i2++) for (let i3 = 0; i3 < m; i3++) { let s = 0; for (let i1 = 0; i1 < H; i1++) s += b29[i0 * (H * n * m) + i1 * (n * m) + i2 * m + i3]; b30[i0 * (n * m) + i2 * m + i3] = s; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < n; i1++) for (let i2 = 0; i2 < m; i2++) b32[i0 * (n * m) + i1 * m + i2] = (b30[i0 * (n * m) + i1 * m + i2] - y[i0 * (n * m) + i1 * m + i2]);
for (let i0 = 0; i0 < N; i0++) for (let i3 = 0; i3 < H; i3++) for (let i1 = 0; i1 < n; i1++) for (let i4 = 0; i4 < n; i4++) { let s = 0; for (let i2 = 0; i2 < m; i2++) s += (b32[i0 * (n * m) + i1 * m + i2] * b28[i0 * (H * n * m) + i3 * (n * m) + i4 * m + i2]); b33[i0 * (H * n * n) + i3 * (n * n) + i1 * n + i4] = s; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i3 = 0; i3 < n; i3++) b34[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3] = (b33[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3] / bn2);
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) { let s = 0; for (let i3 = 0; i3 < n; i3++) s += (b13[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3] * b34[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3]); b35[i0 * (H * n) + i1 * n + i2] = s; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i3 = 0; i3 < n; i3++) b36[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3] = (b34[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3] - b35[i0 * (H * n) + i1 * n + i2]);
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i4 = 0; i4 < m; i4++) { let s = 0; for (let i3 = 0; i3 < n; i3++) s += (b24[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3] * b28[i0 * (H * n * m) + i1 * (n * m) + i3 * m + i4]); b37[i0 * (H * n * m) + i1 * (n * m) + i2 * m + i4] = s; }
for (let i0 = 0; i0 < N; i0++) for (let i3 = 0; i3 < H; i3++) for (let i1 = 0; i1 < n; i1++) for (let i4 = 0; i4 < d; i4++) { let s = 0; for (let i2 = 0; i2 < D; i2++) s += (X[i0 * (n * D) + i1 * D + i2] * VWV[2 * H * D * d + i3 * (D * d) + i2 * d + i4]); b39[i0 * (H * n * d) + i3 * (n * d) + i1 * d + i4] = s; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i4 = 0; i4 < m; i4++) { let s = 0; for (let i3 = 0; i3 < d; i3++) s += (b39[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3] * WO[3 * H * D * d + i1 * (d * m) + i3 * m + i4]); b40[i0 * (H * n * m) + i1 * (n * m) + i2 * m + i4] = s; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i4 = 0; i4 < m; i4++) { let s = 0; for (let i3 = 0; i3 < d; i3++) s += (b26[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3] * VWO[3 * H * D * d + i1 * (d * m) + i3 * m + i4]); b42[i0 * (H * n * m) + i1 * (n * m) + i2 * m + i4] = s; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i3 = 0; i3 < m; i3++) b43[i0 * (H * n * m) + i1 * (n * m) + i2 * m + i3] = (b40[i0 * (H * n * m) + i1 * (n * m) + i2 * m + i3] + b42[i0 * (H * n * m) + i1 * (n * m) + i2 * m + i3]);
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i4 = 0; i4 < m; i4++) { let s = 0; for (let i3 = 0; i3 < n; i3++) s += (b13[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3] * b43[i0 * (H * n * m) + i1 * (n * m) + i3 * m + i4]); b44[i0 * (H * n * m) + i1 * (n * m) + i2 * m + i4] = s; }
for (let i0 = 0; i0 < N; i0++) for (let i2 = 0; i2 < n; i2++) for (let i3 = 0; i3 < m; i3++) { let s = 0; for (let i1 = 0; i1 < H; i1++) s += (b37[i0 * (H * n * m) + i1 * (n * m) + i2 * m + i3] + b44[i0 * (H * n * m) + i1 * (n * m) + i2 * m + i3]); b45[i0 * (n * m) + i2 * m + i3] = s; }
for (let i0 = 0; i0 < N; i0++) for (let i3 = 0; i3 < H; i3++) for (let i1 = 0; i1 < n; i1++) for (let i4 = 0; i4 < n; i4++) { let s = 0; for (let i2 = 0; i2 < m; i2++) s += (b45[i0 * (n * m) + i1 * m + i2] * b28[i0 * (H * n * m) + i3 * (n * m) + i4 * m + i2]); b46[i0 * (H * n * n) + i3 * (n * n) + i1 * n + i4] = s; }
for (let i0 = 0; i0 < N; i0++) for (let i3 = 0; i3 < H; i3++) for (let i1 = 0; i1 < n; i1++) for (let i4 = 0; i4 < n; i4++) { let s = 0; for (let i2 = 0; i2 < m; i2++) s += (b32[i0 * (n * m) + i1 * m + i2] * b43[i0 * (H * n * m) + i3 * (n * m) + i4 * m + i2]); b47[i0 * (H * n * n) + i3 * (n * n) + i1 * n + i4] = s; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i3 = 0; i3 < n; i3++) b48[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3] = ((b46[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3] + b47[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3]) / bn2);
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) { let s = 0; for (let i3 = 0; i3 < n; i3++) s += (b13[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3] * b48[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3]); b49[i0 * (H * n) + i1 * n + i2] = s; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) { let s = 0; for (let i3 = 0; i3 < n; i3++) s += (b24[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3] * b34[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3]); b50[i0 * (H * n) + i1 * n + i2] = s; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i3 = 0; i3 < n; i3++) b51[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3] = ((b24[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3] * b36[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3]) + (b13[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3] * ((b48[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3] - b49[i0 * (H * n) + i1 * n + i2]) - b50[i0 * (H * n) + i1 * n + i2])));
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i4 = 0; i4 < d; i4++) { let s = 0; for (let i3 = 0; i3 < n; i3++) s += (b51[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3] * b6[i0 * (H * n * d) + i1 * (n * d) + i3 * d + i4]); b52[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i4] = s; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) { let s = 0; for (let i3 = 0; i3 < n; i3++) s += b51[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3]; b53[i0 * (H * n) + i1 * n + i2] = s; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i3 = 0; i3 < n; i3++) b54[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3] = (b13[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3] * b36[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3]);
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i4 = 0; i4 < d; i4++) { let s = 0; for (let i3 = 0; i3 < n; i3++) s += (b54[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3] * b18[i0 * (H * n * d) + i1 * (n * d) + i3 * d + i4]); b55[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i4] = s; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) { let s = 0; for (let i3 = 0; i3 < n; i3++) s += b54[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3]; b56[i0 * (H * n) + i1 * n + i2] = s; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i3 = 0; i3 < d; i3++) b57[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3] = ((bn3 * (b52[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3] - (b53[i0 * (H * n) + i1 * n + i2] * b2[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3]))) + (bn3 * (b55[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3] - (b56[i0 * (H * n) + i1 * n + i2] * b15[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3]))));
for (let i0 = 0; i0 < N; i0++) for (let i3 = 0; i3 < H; i3++) for (let i1 = 0; i1 < D; i1++) for (let i4 = 0; i4 < d; i4++) { let s = 0; for (let i2 = 0; i2 < n; i2++) s += (X[i0 * (n * D) + i2 * D + i1] * b57[i0 * (H * n * d) + i3 * (n * d) + i2 * d + i4]); b58[i0 * (H * D * d) + i3 * (D * d) + i1 * d + i4] = s; }
for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < D; i2++) for (let i3 = 0; i3 < d; i3++) { let s = 0; for (let i0 = 0; i0 < N; i0++) s += b58[i0 * (H * D * d) + i1 * (D * d) + i2 * d + i3]; b59[i1 * (D * d) + i2 * d + i3] = s; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i4 = 0; i4 < d; i4++) { let s = 0; for (let i3 = 0; i3 < n; i3++) s += (b51[i0 * (H * n * n) + i1 * (n * n) + i3 * n + i2] * b2[i0 * (H * n * d) + i1 * (n * d) + i3 * d + i4]); b60[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i4] = s; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i3 = 0; i3 < n; i3++) { let s = 0; for (let i2 = 0; i2 < n; i2++) s += b51[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3]; b61[i0 * (H * n) + i1 * n + i3] = s; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i4 = 0; i4 < d; i4++) { let s = 0; for (let i3 = 0; i3 < n; i3++) s += (b54[i0 * (H * n * n) + i1 * (n * n) + i3 * n + i2] * b15[i0 * (H * n * d) + i1 * (n * d) + i3 * d + i4]); b62[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i4] = s; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i3 = 0; i3 < n; i3++) { let s = 0; for (let i2 = 0; i2 < n; i2++) s += b54[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3]; b63[i0 * (H * n) + i1 * n + i3] = s; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i3 = 0; i3 < d; i3++) b64[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3] = ((bn3 * (b60[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3] - (b61[i0 * (H * n) + i1 * n + i2] * b6[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3]))) + (bn3 * (b62[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3] - (b63[i0 * (H * n) + i1 * n + i2] * b18[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3]))));
for (let i0 = 0; i0 < N; i0++) for (let i3 = 0; i3 < H; i3++) for (let i1 = 0; i1 < D; i1++) for (let i4 = 0; i4 < d; i4++) { let s = 0; for (let i2 = 0; i2 < n; i2++) s += (X[i0 * (n * D) + i2 * D + i1] * b64[i0 * (H * n * d) + i3 * (n * d) + i2 * d + i4]); b65[i0 * (H * D * d) + i3 * (D * d) + i1 * d + i4] = s; }
for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < D; i2++) for (let i3 = 0; i3 < d; i3++) { let s = 0; for (let i0 = 0; i0 < N; i0++) s += b65[i0 * (H * D * d) + i1 * (D * d) + i2 * d + i3]; b66[i1 * (D * d) + i2 * d + i3] = s; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i4 = 0; i4 < m; i4++) { let s = 0; for (let i3 = 0; i3 < n; i3++) s += (b24[i0 * (H * n * n) + i1 * (n * n) + i3 * n + i2] * b32[i0 * (n * m) + i3 * m + i4]); b67[i0 * (H * n * m) + i1 * (n * m) + i2 * m + i4] = s; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i4 = 0; i4 < m; i4++) { let s = 0; for (let i3 = 0; i3 < n; i3++) s += (b13[i0 * (H * n * n) + i1 * (n * n) + i3 * n + i2] * b45[i0 * (n * m) + i3 * m + i4]); b68[i0 * (H * n * m) + i1 * (n * m) + i2 * m + i4] = s; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i3 = 0; i3 < m; i3++) b69[i0 * (H * n * m) + i1 * (n * m) + i2 * m + i3] = ((b67[i0 * (H * n * m) + i1 * (n * m) + i2 * m + i3] + b68[i0 * (H * n * m) + i1 * (n * m) + i2 * m + i3]) / bn2);
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i4 = 0; i4 < d; i4++) { let s = 0; for (let i3 = 0; i3 < m; i3++) s += (b69[i0 * (H * n * m) + i1 * (n * m) + i2 * m + i3] * WO[3 * H * D * d + i1 * (d * m) + i4 * m + i3]); b70[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i4] = s; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i4 = 0; i4 < m; i4++) { let s = 0; for (let i3 = 0; i3 < n; i3++) s += (b13[i0 * (H * n * n) + i1 * (n * n) + i3 * n + i2] * b32[i0 * (n * m) + i3 * m + i4]); b71[i0 * (H * n * m) + i1 * (n * m) + i2 * m + i4] = s; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i3 = 0; i3 < m; i3++) b72[i0 * (H * n * m) + i1 * (n * m) + i2 * m + i3] = (b71[i0 * (H * n * m) + i1 * (n * m) + i2 * m + i3] / bn2);
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i4 = 0; i4 < d; i4++) { let s = 0; for (let i3 = 0; i3 < m; i3++) s += (b72[i0 * (H * n * m) + i1 * (n * m) + i2 * m + i3] * VWO[3 * H * D * d + i1 * (d * m) + i4 * m + i3]); b73[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i4] = s; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i3 = 0; i3 < d; i3++) b74[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3] = (b70[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3] + b73[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3]);
for (let i0 = 0; i0 < N; i0++) for (let i3 = 0; i3 < H; i3++) for (let i1 = 0; i1 < D; i1++) for (let i4 = 0; i4 < d; i4++) { let s = 0; for (let i2 = 0; i2 < n; i2++) s += (X[i0 * (n * D) + i2 * D + i1] * b74[i0 * (H * n * d) + i3 * (n * d) + i2 * d + i4]); b75[i0 * (H * D * d) + i3 * (D * d) + i1 * d + i4] = s; }
for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < D; i2++) for (let i3 = 0; i3 < d; i3++) { let s = 0; for (let i0 = 0; i0 < N; i0++) s += b75[i0 * (H * D * d) + i1 * (D * d) + i2 * d + i3]; b76[i1 * (D * d) + i2 * d + i3] = s; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < d; i2++) for (let i4 = 0; i4 < m; i4++) { let s = 0; for (let i3 = 0; i3 < n; i3++) s += (b39[i0 * (H * n * d) + i1 * (n * d) + i3 * d + i2] * b72[i0 * (H * n * m) + i1 * (n * m) + i3 * m + i4]); b77[i0 * (H * d * m) + i1 * (d * m) + i2 * m + i4] = s; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < d; i2++) for (let i4 = 0; i4 < m; i4++) { let s = 0; for (let i3 = 0; i3 < n; i3++) s += (b26[i0 * (H * n * d) + i1 * (n * d) + i3 * d + i2] * b69[i0 * (H * n * m) + i1 * (n * m) + i3 * m + i4]); b78[i0 * (H * d * m) + i1 * (d * m) + i2 * m + i4] = s; }
for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < d; i2++) for (let i3 = 0; i3 < m; i3++) { let s = 0; for (let i0 = 0; i0 < N; i0++) s += (b77[i0 * (H * d * m) + i1 * (d * m) + i2 * m + i3] + b78[i0 * (H * d * m) + i1 * (d * m) + i2 * m + i3]); b79[i1 * (d * m) + i2 * m + i3] = s; }
for (let i0 = 0; i0 < H; i0++) for (let i1 = 0; i1 < D; i1++) for (let i2 = 0; i2 < d; i2++) along[0 * H * D * d + i0 * (D * d) + i1 * d + i2 * 1] = b59[i0 * (D * d) + i1 * d + i2];
for (let i0 = 0; i0 < H; i0++) for (let i1 = 0; i1 < D; i1++) for (let i2 = 0; i2 < d; i2++) along[1 * H * D * d + i0 * (D * d) + i1 * d + i2 * 1] = b66[i0 * (D * d) + i1 * d + i2];
for (let i0 = 0; i0 < H; i0++) for (let i1 = 0; i1 < D; i1++) for (let i2 = 0; i2 < d; i2++) along[2 * H * D * d + i0 * (D * d) + i1 * d + i2 * 1] = b76[i0 * (D * d) + i1 * d + i2];
for (let i0 = 0; i0 < H; i0++) for (let i1 = 0; i1 < d; i1++) for (let i2 = 0; i2 < m; i2++) along[3 * H * D * d + i0 * (d * m) + i1 * m + i2 * 1] = b79[i0 * (d * m) + i1 * m + i2];
return along[0];
},
forward() {
for (let i0 = 0; i0 < N; i0++) for (let i3 = 0; i3 < H; i3++) for (let i1 = 0; i1 < n; i1++) for (let i4 = 0; i4 < d; i4++) { let s = 0; for (let i2 = 0; i2 < D; i2++) s += (X[i0 * (n * D) + i1 * D + i2] * WQ[0 * H * D * d + i3 * (D * d) + i2 * d + i4]); c2[i0 * (H * n * d) + i3 * (n * d) + i1 * d + i4] = s; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) { let s = 0; for (let i3 = 0; i3 < d; i3++) s += (c2[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3] * c2[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3]); c3[i0 * (H * n) + i1 * n + i2] = s; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i3 = 0; i3 < d; i3++) c4[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3] = (2.0 * c2[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3]);
for (let i0 = 0; i0 < N; i0++) for (let i3 = 0; i3 < H; i3++) for (let i1 = 0; i1 < n; i1++) for (let i4 = 0; i4 < d; i4++) { let s = 0; for (let i2 = 0; i2 < D; i2++) s += (X[i0 * (n * D) + i1 * D + i2] * WK[1 * H * D * d + i3 * (D * d) + i2 * d + i4]); c6[i0 * (H * n * d) + i3 * (n * d) + i1 * d + i4] = s; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i4 = 0; i4 < n; i4++) { let s = 0; for (let i3 = 0; i3 < d; i3++) s += (c4[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3] * c6[i0 * (H * n * d) + i1 * (n * d) + i4 * d + i3]); c7[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i4] = s; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) { let s = 0; for (let i3 = 0; i3 < d; i3++) s += (c6[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3] * c6[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3]); c8[i0 * (H * n) + i1 * n + i2] = s; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i3 = 0; i3 < n; i3++) c9[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3] = (cn0 * Math.max(((c3[i0 * (H * n) + i1 * n + i2] - c7[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3]) + c8[i0 * (H * n) + i1 * n + i3]), 0.0));
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) { let s = -Infinity; for (let i3 = 0; i3 < n; i3++) s = Math.max(s, c9[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3]); c10[i0 * (H * n) + i1 * n + i2] = s; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i3 = 0; i3 < n; i3++) c11[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3] = Math.exp((c9[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3] - c10[i0 * (H * n) + i1 * n + i2]));
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) { let s = 0; for (let i3 = 0; i3 < n; i3++) s += c11[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3]; c12[i0 * (H * n) + i1 * n + i2] = s; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i3 = 0; i3 < n; i3++) c13[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3] = (c11[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3] / c12[i0 * (H * n) + i1 * n + i2]);
for (let i0 = 0; i0 < N; i0++) for (let i3 = 0; i3 < H; i3++) for (let i1 = 0; i1 < n; i1++) for (let i4 = 0; i4 < d; i4++) { let s = 0; for (let i2 = 0; i2 < D; i2++) s += (X[i0 * (n * D) + i1 * D + i2] * WV[2 * H * D * d + i3 * (D * d) + i2 * d + i4]); c15[i0 * (H * n * d) + i3 * (n * d) + i1 * d + i4] = s; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i4 = 0; i4 < m; i4++) { let s = 0; for (let i3 = 0; i3 < d; i3++) s += (c15[i0 * (H * n * d) + i1 * (n * d) + i2 * d + i3] * WO[3 * H * D * d + i1 * (d * m) + i3 * m + i4]); c17[i0 * (H * n * m) + i1 * (n * m) + i2 * m + i4] = s; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i4 = 0; i4 < m; i4++) { let s = 0; for (let i3 = 0; i3 < n; i3++) s += (c13[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3] * c17[i0 * (H * n * m) + i1 * (n * m) + i3 * m + i4]); c18[i0 * (H * n * m) + i1 * (n * m) + i2 * m + i4] = s; }
for (let i0 = 0; i0 < N; i0++) for (let i2 = 0; i2 < n; i2++) for (let i3 = 0; i3 < m; i3++) { let s = 0; for (let i1 = 0; i1 < H; i1++) s += c18[i0 * (H * n * m) + i1 * (n * m) + i2 * m + i3]; c19[i0 * (n * m) + i2 * m + i3] = s; }
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < n; i1++) for (let i2 = 0; i2 < m; i2++) c21[i0 * (n * m) + i1 * m + i2] = (c19[i0 * (n * m) + i1 * m + i2] - y[i0 * (n * m) + i1 * m + i2]);
{ let s = 0; for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < n; i1++) for (let i2 = 0; i2 < m; i2++) s += (c21[i0 * (n * m) + i1 * m + i2] * c21[i0 * (n * m) + i1 * m + i2]); c22[0] = s; }
c23[0] = (c22[0] / cn1);
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i4 = 0; i4 < D; i4++) { let s = 0; for (let i3 = 0; i3 < n; i3++) s += (c13[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3] * X[i0 * (n * D) + i3 * D + i4]); c24[i0 * (H * n * D) + i1 * (n * D) + i2 * D + i4] = s; }
loss[0] = c23[0];
for (let i0 = 0; i0 < N; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < n; i2++) for (let i3 = 0; i3 < n; i3++) weights[0 + i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3 * 1] = c13[i0 * (H * n * n) + i1 * (n * n) + i2 * n + i3];
for (let i0 = 0; i0 < N; i0++) for (let i2 = 0; i2 < n; i2++) for (let i1 = 0; i1 < H; i1++) for (let i3 = 0; i3 < D; i3++) mixed[0 + i0 * (n * H * D) + i2 * (H * D) + i1 * D + i3 * 1] = c24[i0 * (H * n * D) + i1 * (n * D) + i2 * D + i3];
return loss[0];
},
};
return { X, y, theta, direction, loss, slope, along, weights, mixed, loaded() {}, call: (name) => run[name]() };
}
