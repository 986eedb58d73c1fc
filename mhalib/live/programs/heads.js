// Made by `make kernel` from mhalib/live/formulas.py.
const root = Math.sqrt;
const logaddexp = (a, b) =>
  a === b ? a + Math.LN2 : Math.max(a, b) + Math.log1p(Math.exp(-Math.abs(a - b)));
export function program([n, T, d, H]) {
const X = new Float64Array((n * T * d));
const y = new Float64Array(n);
const relevant = new Float64Array((n * T));
const kept_A = new Float64Array((n * T * H * T));
const kept_away = new Float64Array((n * T * H * T));
const kept_g = new Float64Array(n);
const kept_curvature = new Float64Array(n);
const theta = new Float64Array(H * (d * d + T * d));
const direction = new Float64Array(H * (d * d + T * d));
const loss = new Float64Array(1);
const slope = new Float64Array(H * (d * d + T * d));
const along = new Float64Array(H * (d * d + T * d));
const score = new Float64Array(1);
const accuracy = new Float64Array(1);
const logits = new Float64Array(n);
const A = new Float64Array((n * H * T * T));
const norm_W = new Float64Array(1);
const norm_U = new Float64Array(1);
const W = theta;
const U = theta;
const VW = direction;
const VU = direction;
const dW = slope;
const dU = slope;
const HW = along;
const HU = along;
const number0 = 1.0 * root(H);
const number1 = 1.0 * n;
const number2 = 1.0 * n * root(H);
const number3 = 1.0 * n * H;
const number4 = 1.0 * n * T * H;
const number5 = 1.0 * H;
const a3 = new Float64Array((n * H * T * d));
const a4 = new Float64Array((n * H * T * T));
const a5 = new Float64Array((n * H * T));
const a6 = new Float64Array((n * H * T * T));
const a7 = new Float64Array((n * H * T));
const a8 = new Float64Array((n * H * T * T));
const a10 = new Float64Array((n * H * T * T));
const a11 = new Float64Array((n * H * T));
const a12 = new Float64Array(n);
const a13 = new Float64Array(n);
const a14 = new Float64Array(n);
const a15 = new Float64Array(1);
const a17 = new Float64Array(n);
const a18 = new Float64Array((n * T * d));
const a19 = new Float64Array((n * H * T * T));
const a20 = new Float64Array((n * H * T * d));
const a21 = new Float64Array((H * d * d));
const a23 = new Float64Array((H * T * d));
const b2 = new Float64Array((n * H * T * d));
const b3 = new Float64Array((n * H * T * T));
const b4 = new Float64Array((n * H * T));
const b5 = new Float64Array((n * H * T * T));
const b6 = new Float64Array((n * H * T));
const b7 = new Float64Array((n * H * T * T));
const b10 = new Float64Array((n * H * T * T));
const b11 = new Float64Array((n * T * H));
const b14 = new Float64Array(n);
const b15 = new Float64Array(n);
const b16 = new Float64Array(n);
const b18 = new Float64Array(n);
const c4 = new Float64Array((n * T * H * d));
const c5 = new Float64Array((n * T * H * T));
const c6 = new Float64Array((n * T * H));
const c7 = new Float64Array((n * T * H * T));
const c10 = new Float64Array((n * T * H * T));
const c11 = new Float64Array((n * T * H * T));
const c12 = new Float64Array((n * T * H));
const c14 = new Float64Array(n);
const c15 = new Float64Array(n);
const c16 = new Float64Array((n * T * H * T));
const c17 = new Float64Array((n * T * H * d));
const c18 = new Float64Array((d * H * d));
const c20 = new Float64Array((n * T * H * T));
const c21 = new Float64Array((T * H * d));
const e3 = new Float64Array((n * H * T * d));
const e4 = new Float64Array((n * H * T * T));
const e5 = new Float64Array((n * H * T));
const e6 = new Float64Array((n * H * T * T));
const e7 = new Float64Array((n * H * T));
const e8 = new Float64Array((n * H * T * T));
const e10 = new Float64Array((n * H * T * T));
const e11 = new Float64Array((n * H * T));
const e12 = new Float64Array(n);
const e13 = new Float64Array(1);
const e16 = new Float64Array((n * H * T));
const e17 = new Float64Array(1);
const e19 = new Float64Array(n);
const e20 = new Float64Array(1);
const f2 = new Float64Array((n * H * T * d));
const f3 = new Float64Array((n * H * T * T));
const f4 = new Float64Array((n * H * T));
const f5 = new Float64Array((n * H * T * T));
const f6 = new Float64Array((n * H * T));
const g1 = new Float64Array(H);
const g2 = new Float64Array(1);
const g5 = new Float64Array(H);
const g6 = new Float64Array(1);
const run = {
gradient() {
for (let i0 = 0; i0 < n; i0++) for (let i3 = 0; i3 < H; i3++) for (let i1 = 0; i1 < T; i1++) for (let i4 = 0; i4 < d; i4++) { let sum = 0; for (let i2 = 0; i2 < d; i2++) sum += (X[i0 * (T * d) + i1 * d + i2] * W[0 + i3 * (d * d + T * d) + i2 * d + i4]); a3[i0 * (H * T * d) + i3 * (T * d) + i1 * d + i4] = sum; }
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < T; i2++) for (let i4 = 0; i4 < T; i4++) { let sum = 0; for (let i3 = 0; i3 < d; i3++) sum += (a3[i0 * (H * T * d) + i1 * (T * d) + i2 * d + i3] * X[i0 * (T * d) + i4 * d + i3]); a4[i0 * (H * T * T) + i1 * (T * T) + i2 * T + i4] = sum; }
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < T; i2++) { let sum = -Infinity; for (let i3 = 0; i3 < T; i3++) sum = Math.max(sum, a4[i0 * (H * T * T) + i1 * (T * T) + i2 * T + i3]); a5[i0 * (H * T) + i1 * T + i2] = sum; }
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < T; i2++) for (let i3 = 0; i3 < T; i3++) a6[i0 * (H * T * T) + i1 * (T * T) + i2 * T + i3] = Math.exp((a4[i0 * (H * T * T) + i1 * (T * T) + i2 * T + i3] - a5[i0 * (H * T) + i1 * T + i2]));
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < T; i2++) { let sum = 0; for (let i3 = 0; i3 < T; i3++) sum += a6[i0 * (H * T * T) + i1 * (T * T) + i2 * T + i3]; a7[i0 * (H * T) + i1 * T + i2] = sum; }
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < T; i2++) for (let i3 = 0; i3 < T; i3++) a8[i0 * (H * T * T) + i1 * (T * T) + i2 * T + i3] = (a6[i0 * (H * T * T) + i1 * (T * T) + i2 * T + i3] / a7[i0 * (H * T) + i1 * T + i2]);
for (let i3 = 0; i3 < n; i3++) for (let i0 = 0; i0 < H; i0++) for (let i1 = 0; i1 < T; i1++) for (let i4 = 0; i4 < T; i4++) { let sum = 0; for (let i2 = 0; i2 < d; i2++) sum += (U[d * d + i0 * (d * d + T * d) + i1 * d + i2] * X[i3 * (T * d) + i4 * d + i2]); a10[i3 * (H * T * T) + i0 * (T * T) + i1 * T + i4] = sum; }
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < T; i2++) { let sum = 0; for (let i3 = 0; i3 < T; i3++) sum += (a8[i0 * (H * T * T) + i1 * (T * T) + i2 * T + i3] * a10[i0 * (H * T * T) + i1 * (T * T) + i2 * T + i3]); a11[i0 * (H * T) + i1 * T + i2] = sum; }
for (let i0 = 0; i0 < n; i0++) { let sum = 0; for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < T; i2++) sum += a11[i0 * (H * T) + i1 * T + i2]; a12[i0] = sum; }
for (let i0 = 0; i0 < n; i0++) a13[i0] = (-((y[i0] * a12[i0]) / number0));
for (let i0 = 0; i0 < n; i0++) a14[i0] = logaddexp(0.0, a13[i0]);
{ let sum = 0; for (let i0 = 0; i0 < n; i0++) sum += a14[i0]; a15[0] = sum; }
loss[0] = (a15[0] / number1);
for (let i0 = 0; i0 < n; i0++) a17[i0] = ((y[i0] * (-Math.exp((a13[i0] - a14[i0])))) / number2);
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < T; i1++) for (let i2 = 0; i2 < d; i2++) a18[i0 * (T * d) + i1 * d + i2] = (a17[i0] * X[i0 * (T * d) + i1 * d + i2]);
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < T; i2++) for (let i3 = 0; i3 < T; i3++) a19[i0 * (H * T * T) + i1 * (T * T) + i2 * T + i3] = (a8[i0 * (H * T * T) + i1 * (T * T) + i2 * T + i3] * (a10[i0 * (H * T * T) + i1 * (T * T) + i2 * T + i3] - a11[i0 * (H * T) + i1 * T + i2]));
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < T; i2++) for (let i4 = 0; i4 < d; i4++) { let sum = 0; for (let i3 = 0; i3 < T; i3++) sum += (a19[i0 * (H * T * T) + i1 * (T * T) + i2 * T + i3] * X[i0 * (T * d) + i3 * d + i4]); a20[i0 * (H * T * d) + i1 * (T * d) + i2 * d + i4] = sum; }
for (let i3 = 0; i3 < H; i3++) for (let i2 = 0; i2 < d; i2++) for (let i4 = 0; i4 < d; i4++) { let sum = 0; for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < T; i1++) sum += (a18[i0 * (T * d) + i1 * d + i2] * a20[i0 * (H * T * d) + i3 * (T * d) + i1 * d + i4]); a21[i3 * (d * d) + i2 * d + i4] = sum; }
for (let i0 = 0; i0 < H; i0++) for (let i1 = 0; i1 < d; i1++) for (let i2 = 0; i2 < d; i2++) dW[0 + i0 * (d * d + T * d) + i1 * d + i2] = a21[i0 * (d * d) + i1 * d + i2];
for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < T; i2++) for (let i4 = 0; i4 < d; i4++) { let sum = 0; for (let i0 = 0; i0 < n; i0++) for (let i3 = 0; i3 < T; i3++) sum += (a8[i0 * (H * T * T) + i1 * (T * T) + i2 * T + i3] * a18[i0 * (T * d) + i3 * d + i4]); a23[i1 * (T * d) + i2 * d + i4] = sum; }
for (let i0 = 0; i0 < H; i0++) for (let i1 = 0; i1 < T; i1++) for (let i2 = 0; i2 < d; i2++) dU[d * d + i0 * (d * d + T * d) + i1 * d + i2] = a23[i0 * (T * d) + i1 * d + i2];
return loss[0];
},
point() {
for (let i0 = 0; i0 < n; i0++) for (let i3 = 0; i3 < H; i3++) for (let i1 = 0; i1 < T; i1++) for (let i4 = 0; i4 < d; i4++) { let sum = 0; for (let i2 = 0; i2 < d; i2++) sum += (X[i0 * (T * d) + i1 * d + i2] * W[0 + i3 * (d * d + T * d) + i2 * d + i4]); b2[i0 * (H * T * d) + i3 * (T * d) + i1 * d + i4] = sum; }
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < T; i2++) for (let i4 = 0; i4 < T; i4++) { let sum = 0; for (let i3 = 0; i3 < d; i3++) sum += (b2[i0 * (H * T * d) + i1 * (T * d) + i2 * d + i3] * X[i0 * (T * d) + i4 * d + i3]); b3[i0 * (H * T * T) + i1 * (T * T) + i2 * T + i4] = sum; }
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < T; i2++) { let sum = -Infinity; for (let i3 = 0; i3 < T; i3++) sum = Math.max(sum, b3[i0 * (H * T * T) + i1 * (T * T) + i2 * T + i3]); b4[i0 * (H * T) + i1 * T + i2] = sum; }
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < T; i2++) for (let i3 = 0; i3 < T; i3++) b5[i0 * (H * T * T) + i1 * (T * T) + i2 * T + i3] = Math.exp((b3[i0 * (H * T * T) + i1 * (T * T) + i2 * T + i3] - b4[i0 * (H * T) + i1 * T + i2]));
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < T; i2++) { let sum = 0; for (let i3 = 0; i3 < T; i3++) sum += b5[i0 * (H * T * T) + i1 * (T * T) + i2 * T + i3]; b6[i0 * (H * T) + i1 * T + i2] = sum; }
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < T; i2++) for (let i3 = 0; i3 < T; i3++) b7[i0 * (H * T * T) + i1 * (T * T) + i2 * T + i3] = (b5[i0 * (H * T * T) + i1 * (T * T) + i2 * T + i3] / b6[i0 * (H * T) + i1 * T + i2]);
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < T; i1++) for (let i2 = 0; i2 < H; i2++) for (let i3 = 0; i3 < T; i3++) kept_A[i0 * (T * H * T) + i1 * (H * T) + i2 * T + i3] = b7[i0 * (H * T * T) + i2 * (T * T) + i1 * T + i3];
for (let i3 = 0; i3 < n; i3++) for (let i0 = 0; i0 < H; i0++) for (let i1 = 0; i1 < T; i1++) for (let i4 = 0; i4 < T; i4++) { let sum = 0; for (let i2 = 0; i2 < d; i2++) sum += (U[d * d + i0 * (d * d + T * d) + i1 * d + i2] * X[i3 * (T * d) + i4 * d + i2]); b10[i3 * (H * T * T) + i0 * (T * T) + i1 * T + i4] = sum; }
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < T; i1++) for (let i2 = 0; i2 < H; i2++) { let sum = 0; for (let i3 = 0; i3 < T; i3++) sum += ((b7[i0 * (H * T * T) + i2 * (T * T) + i1 * T + i3] * b10[i0 * (H * T * T) + i2 * (T * T) + i1 * T + i3]) * 1.0); b11[i0 * (T * H) + i1 * H + i2] = sum; }
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < T; i1++) for (let i2 = 0; i2 < H; i2++) for (let i3 = 0; i3 < T; i3++) kept_away[i0 * (T * H * T) + i1 * (H * T) + i2 * T + i3] = (b10[i0 * (H * T * T) + i2 * (T * T) + i1 * T + i3] - b11[i0 * (T * H) + i1 * H + i2]);
for (let i0 = 0; i0 < n; i0++) { let sum = 0; for (let i1 = 0; i1 < T; i1++) for (let i2 = 0; i2 < H; i2++) sum += b11[i0 * (T * H) + i1 * H + i2]; b14[i0] = sum; }
for (let i0 = 0; i0 < n; i0++) b15[i0] = (-((y[i0] * b14[i0]) / number0));
for (let i0 = 0; i0 < n; i0++) b16[i0] = (-Math.exp((b15[i0] - logaddexp(0.0, b15[i0]))));
for (let i0 = 0; i0 < n; i0++) kept_g[i0] = ((y[i0] * b16[i0]) / number2);
for (let i0 = 0; i0 < n; i0++) b18[i0] = (-b15[i0]);
for (let i0 = 0; i0 < n; i0++) kept_curvature[i0] = ((b16[i0] * (-Math.exp((b18[i0] - logaddexp(0.0, b18[i0]))))) / number3);
return kept_A[0];
},
product() {
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < T; i1++) for (let i3 = 0; i3 < H; i3++) for (let i4 = 0; i4 < d; i4++) { let sum = 0; for (let i2 = 0; i2 < d; i2++) sum += (X[i0 * (T * d) + i1 * d + i2] * VW[0 + i3 * (d * d + T * d) + i2 * d + i4]); c4[i0 * (T * H * d) + i1 * (H * d) + i3 * d + i4] = sum; }
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < T; i1++) for (let i2 = 0; i2 < H; i2++) for (let i4 = 0; i4 < T; i4++) { let sum = 0; for (let i3 = 0; i3 < d; i3++) sum += (c4[i0 * (T * H * d) + i1 * (H * d) + i2 * d + i3] * X[i0 * (T * d) + i4 * d + i3]); c5[i0 * (T * H * T) + i1 * (H * T) + i2 * T + i4] = sum; }
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < T; i1++) for (let i2 = 0; i2 < H; i2++) { let sum = 0; for (let i3 = 0; i3 < T; i3++) sum += ((kept_A[i0 * (T * H * T) + i1 * (H * T) + i2 * T + i3] * c5[i0 * (T * H * T) + i1 * (H * T) + i2 * T + i3]) * 1.0); c6[i0 * (T * H) + i1 * H + i2] = sum; }
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < T; i1++) for (let i2 = 0; i2 < H; i2++) for (let i3 = 0; i3 < T; i3++) c7[i0 * (T * H * T) + i1 * (H * T) + i2 * T + i3] = (kept_A[i0 * (T * H * T) + i1 * (H * T) + i2 * T + i3] * (c5[i0 * (T * H * T) + i1 * (H * T) + i2 * T + i3] - c6[i0 * (T * H) + i1 * H + i2]));
for (let i3 = 0; i3 < n; i3++) for (let i0 = 0; i0 < T; i0++) for (let i1 = 0; i1 < H; i1++) for (let i4 = 0; i4 < T; i4++) { let sum = 0; for (let i2 = 0; i2 < d; i2++) sum += (VU[d * d + i1 * (d * d + T * d) + i0 * d + i2] * X[i3 * (T * d) + i4 * d + i2]); c10[i3 * (T * H * T) + i0 * (H * T) + i1 * T + i4] = sum; }
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < T; i1++) for (let i2 = 0; i2 < H; i2++) for (let i3 = 0; i3 < T; i3++) c11[i0 * (T * H * T) + i1 * (H * T) + i2 * T + i3] = ((c7[i0 * (T * H * T) + i1 * (H * T) + i2 * T + i3] * kept_away[i0 * (T * H * T) + i1 * (H * T) + i2 * T + i3]) + (kept_A[i0 * (T * H * T) + i1 * (H * T) + i2 * T + i3] * c10[i0 * (T * H * T) + i1 * (H * T) + i2 * T + i3]));
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < T; i1++) for (let i2 = 0; i2 < H; i2++) { let sum = 0; for (let i3 = 0; i3 < T; i3++) sum += (c11[i0 * (T * H * T) + i1 * (H * T) + i2 * T + i3] * 1.0); c12[i0 * (T * H) + i1 * H + i2] = sum; }
for (let i0 = 0; i0 < n; i0++) { let sum = 0; for (let i1 = 0; i1 < T; i1++) for (let i2 = 0; i2 < H; i2++) sum += c12[i0 * (T * H) + i1 * H + i2]; c14[i0] = sum; }
for (let i0 = 0; i0 < n; i0++) c15[i0] = (kept_curvature[i0] * c14[i0]);
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < T; i1++) for (let i2 = 0; i2 < H; i2++) for (let i3 = 0; i3 < T; i3++) c16[i0 * (T * H * T) + i1 * (H * T) + i2 * T + i3] = ((kept_g[i0] * (c11[i0 * (T * H * T) + i1 * (H * T) + i2 * T + i3] - (kept_A[i0 * (T * H * T) + i1 * (H * T) + i2 * T + i3] * c12[i0 * (T * H) + i1 * H + i2]))) + (c15[i0] * (kept_A[i0 * (T * H * T) + i1 * (H * T) + i2 * T + i3] * kept_away[i0 * (T * H * T) + i1 * (H * T) + i2 * T + i3])));
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < T; i1++) for (let i2 = 0; i2 < H; i2++) for (let i4 = 0; i4 < d; i4++) { let sum = 0; for (let i3 = 0; i3 < T; i3++) sum += (c16[i0 * (T * H * T) + i1 * (H * T) + i2 * T + i3] * X[i0 * (T * d) + i3 * d + i4]); c17[i0 * (T * H * d) + i1 * (H * d) + i2 * d + i4] = sum; }
for (let i0 = 0; i0 < d; i0++) for (let i3 = 0; i3 < H; i3++) for (let i4 = 0; i4 < d; i4++) { let sum = 0; for (let i1 = 0; i1 < n; i1++) for (let i2 = 0; i2 < T; i2++) sum += (X[i1 * (T * d) + i2 * d + i0] * c17[i1 * (T * H * d) + i2 * (H * d) + i3 * d + i4]); c18[i0 * (H * d) + i3 * d + i4] = sum; }
for (let i0 = 0; i0 < H; i0++) for (let i1 = 0; i1 < d; i1++) for (let i2 = 0; i2 < d; i2++) HW[0 + i0 * (d * d + T * d) + i1 * d + i2] = c18[i1 * (H * d) + i0 * d + i2];
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < T; i1++) for (let i2 = 0; i2 < H; i2++) for (let i3 = 0; i3 < T; i3++) c20[i0 * (T * H * T) + i1 * (H * T) + i2 * T + i3] = ((kept_g[i0] * c7[i0 * (T * H * T) + i1 * (H * T) + i2 * T + i3]) + (c15[i0] * kept_A[i0 * (T * H * T) + i1 * (H * T) + i2 * T + i3]));
for (let i0 = 0; i0 < T; i0++) for (let i1 = 0; i1 < H; i1++) for (let i4 = 0; i4 < d; i4++) { let sum = 0; for (let i2 = 0; i2 < n; i2++) for (let i3 = 0; i3 < T; i3++) sum += (c20[i2 * (T * H * T) + i0 * (H * T) + i1 * T + i3] * X[i2 * (T * d) + i3 * d + i4]); c21[i0 * (H * d) + i1 * d + i4] = sum; }
for (let i0 = 0; i0 < H; i0++) for (let i1 = 0; i1 < T; i1++) for (let i2 = 0; i2 < d; i2++) HU[d * d + i0 * (d * d + T * d) + i1 * d + i2] = c21[i1 * (H * d) + i0 * d + i2];
return HW[0];
},
forward() {
for (let i0 = 0; i0 < n; i0++) for (let i3 = 0; i3 < H; i3++) for (let i1 = 0; i1 < T; i1++) for (let i4 = 0; i4 < d; i4++) { let sum = 0; for (let i2 = 0; i2 < d; i2++) sum += (X[i0 * (T * d) + i1 * d + i2] * W[0 + i3 * (d * d + T * d) + i2 * d + i4]); e3[i0 * (H * T * d) + i3 * (T * d) + i1 * d + i4] = sum; }
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < T; i2++) for (let i4 = 0; i4 < T; i4++) { let sum = 0; for (let i3 = 0; i3 < d; i3++) sum += (e3[i0 * (H * T * d) + i1 * (T * d) + i2 * d + i3] * X[i0 * (T * d) + i4 * d + i3]); e4[i0 * (H * T * T) + i1 * (T * T) + i2 * T + i4] = sum; }
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < T; i2++) { let sum = -Infinity; for (let i3 = 0; i3 < T; i3++) sum = Math.max(sum, e4[i0 * (H * T * T) + i1 * (T * T) + i2 * T + i3]); e5[i0 * (H * T) + i1 * T + i2] = sum; }
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < T; i2++) for (let i3 = 0; i3 < T; i3++) e6[i0 * (H * T * T) + i1 * (T * T) + i2 * T + i3] = Math.exp((e4[i0 * (H * T * T) + i1 * (T * T) + i2 * T + i3] - e5[i0 * (H * T) + i1 * T + i2]));
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < T; i2++) { let sum = 0; for (let i3 = 0; i3 < T; i3++) sum += e6[i0 * (H * T * T) + i1 * (T * T) + i2 * T + i3]; e7[i0 * (H * T) + i1 * T + i2] = sum; }
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < T; i2++) for (let i3 = 0; i3 < T; i3++) e8[i0 * (H * T * T) + i1 * (T * T) + i2 * T + i3] = (e6[i0 * (H * T * T) + i1 * (T * T) + i2 * T + i3] / e7[i0 * (H * T) + i1 * T + i2]);
for (let i3 = 0; i3 < n; i3++) for (let i0 = 0; i0 < H; i0++) for (let i1 = 0; i1 < T; i1++) for (let i4 = 0; i4 < T; i4++) { let sum = 0; for (let i2 = 0; i2 < d; i2++) sum += (U[d * d + i0 * (d * d + T * d) + i1 * d + i2] * X[i3 * (T * d) + i4 * d + i2]); e10[i3 * (H * T * T) + i0 * (T * T) + i1 * T + i4] = sum; }
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < T; i2++) { let sum = 0; for (let i3 = 0; i3 < T; i3++) sum += (e8[i0 * (H * T * T) + i1 * (T * T) + i2 * T + i3] * e10[i0 * (H * T * T) + i1 * (T * T) + i2 * T + i3]); e11[i0 * (H * T) + i1 * T + i2] = sum; }
for (let i0 = 0; i0 < n; i0++) { let sum = 0; for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < T; i2++) sum += e11[i0 * (H * T) + i1 * T + i2]; e12[i0] = sum; }
{ let sum = 0; for (let i0 = 0; i0 < n; i0++) sum += logaddexp(0.0, (-((y[i0] * e12[i0]) / number0))); e13[0] = sum; }
loss[0] = (e13[0] / number1);
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < T; i2++) { let sum = 0; for (let i3 = 0; i3 < T; i3++) sum += (e8[i0 * (H * T * T) + i1 * (T * T) + i2 * T + i3] * relevant[i0 * T + i3]); e16[i0 * (H * T) + i1 * T + i2] = sum; }
{ let sum = 0; for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < T; i2++) sum += e16[i0 * (H * T) + i1 * T + i2]; e17[0] = sum; }
score[0] = (e17[0] / number4);
for (let i0 = 0; i0 < n; i0++) e19[i0] = (e12[i0] / number0);
{ let sum = 0; for (let i0 = 0; i0 < n; i0++) sum += +((y[i0] * e19[i0]) > 0.0); e20[0] = sum; }
accuracy[0] = (e20[0] / number1);
for (let i0 = 0; i0 < n; i0++) logits[i0] = e19[i0];
return loss[0];
},
attention() {
for (let i0 = 0; i0 < n; i0++) for (let i3 = 0; i3 < H; i3++) for (let i1 = 0; i1 < T; i1++) for (let i4 = 0; i4 < d; i4++) { let sum = 0; for (let i2 = 0; i2 < d; i2++) sum += (X[i0 * (T * d) + i1 * d + i2] * W[0 + i3 * (d * d + T * d) + i2 * d + i4]); f2[i0 * (H * T * d) + i3 * (T * d) + i1 * d + i4] = sum; }
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < T; i2++) for (let i4 = 0; i4 < T; i4++) { let sum = 0; for (let i3 = 0; i3 < d; i3++) sum += (f2[i0 * (H * T * d) + i1 * (T * d) + i2 * d + i3] * X[i0 * (T * d) + i4 * d + i3]); f3[i0 * (H * T * T) + i1 * (T * T) + i2 * T + i4] = sum; }
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < T; i2++) { let sum = -Infinity; for (let i3 = 0; i3 < T; i3++) sum = Math.max(sum, f3[i0 * (H * T * T) + i1 * (T * T) + i2 * T + i3]); f4[i0 * (H * T) + i1 * T + i2] = sum; }
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < T; i2++) for (let i3 = 0; i3 < T; i3++) f5[i0 * (H * T * T) + i1 * (T * T) + i2 * T + i3] = Math.exp((f3[i0 * (H * T * T) + i1 * (T * T) + i2 * T + i3] - f4[i0 * (H * T) + i1 * T + i2]));
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < T; i2++) { let sum = 0; for (let i3 = 0; i3 < T; i3++) sum += f5[i0 * (H * T * T) + i1 * (T * T) + i2 * T + i3]; f6[i0 * (H * T) + i1 * T + i2] = sum; }
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < T; i2++) for (let i3 = 0; i3 < T; i3++) A[i0 * (H * T * T) + i1 * (T * T) + i2 * T + i3] = (f5[i0 * (H * T * T) + i1 * (T * T) + i2 * T + i3] / f6[i0 * (H * T) + i1 * T + i2]);
return A[0];
},
norms() {
for (let i0 = 0; i0 < H; i0++) { let sum = 0; for (let i1 = 0; i1 < d; i1++) for (let i2 = 0; i2 < d; i2++) sum += (W[0 + i0 * (d * d + T * d) + i1 * d + i2] * W[0 + i0 * (d * d + T * d) + i1 * d + i2]); g1[i0] = sum; }
{ let sum = 0; for (let i0 = 0; i0 < H; i0++) sum += Math.sqrt(g1[i0]); g2[0] = sum; }
norm_W[0] = (g2[0] / number5);
for (let i0 = 0; i0 < H; i0++) { let sum = 0; for (let i1 = 0; i1 < T; i1++) for (let i2 = 0; i2 < d; i2++) sum += (U[d * d + i0 * (d * d + T * d) + i1 * d + i2] * U[d * d + i0 * (d * d + T * d) + i1 * d + i2]); g5[i0] = sum; }
{ let sum = 0; for (let i0 = 0; i0 < H; i0++) sum += Math.sqrt(g5[i0]); g6[0] = sum; }
norm_U[0] = ((g6[0] / number5) * number0);
return norm_W[0];
},
};
return { X, y, relevant, kept_A, kept_away, kept_g, kept_curvature, theta, direction, loss, slope, along, score, accuracy, logits, A, norm_W, norm_U, loaded() {}, call: (name) => run[name]() };
}
