// Made by `make kernel` from book/mhabook/live/formulas.py.
const root = Math.sqrt;
const logaddexp = (a, b) =>
  a === b ? a + Math.LN2 : Math.max(a, b) + Math.log1p(Math.exp(-Math.abs(a - b)));
export function program([m, d, p, n]) {
const X = new Float64Array((m * d));
const y = new Float64Array((m * p));
const context = new Float64Array((n * d));
const Sigma = new Float64Array((d * d));
const M = new Float64Array((p * d));
const theta = new Float64Array((p * d + d * d));
const direction = new Float64Array((p * d + d * d));
const loss = new Float64Array(1);
const effective = new Float64Array(1);
const slope = new Float64Array((p * d + d * d));
const along = new Float64Array((p * d + d * d));
const weights = new Float64Array((m * n));
const excess = new Float64Array(1);
const limit = new Float64Array((p * d + d * d));
const A = theta;
const B = theta;
const VA = direction;
const VB = direction;
const dA = slope;
const dB = slope;
const HA = along;
const HB = along;
const EA = limit;
const EB = limit;
const number0 = 2.0 * m;
const number1 = 1.0 * m;
const number2 = -1.0 * m;
const a3 = new Float64Array((m * d));
const a5 = new Float64Array((m * n));
const a6 = new Float64Array(m);
const a7 = new Float64Array((m * n));
const a8 = new Float64Array(m);
const a9 = new Float64Array((m * n));
const a10 = new Float64Array((m * d));
const a12 = new Float64Array((m * p));
const a13 = new Float64Array((m * p));
const a14 = new Float64Array(1);
const a16 = new Float64Array(m);
const a17 = new Float64Array(1);
const a19 = new Float64Array((p * d));
const a21 = new Float64Array((m * d));
const a22 = new Float64Array((m * d));
const a23 = new Float64Array((m * n));
const a24 = new Float64Array((m * n));
const a25 = new Float64Array((m * d));
const a26 = new Float64Array(m);
const a27 = new Float64Array((m * d));
const a28 = new Float64Array((d * d));
const b2 = new Float64Array((m * d));
const b4 = new Float64Array((m * n));
const b5 = new Float64Array(m);
const b6 = new Float64Array((m * n));
const b7 = new Float64Array(m);
const b8 = new Float64Array((m * n));
const b9 = new Float64Array((m * d));
const b10 = new Float64Array((m * d));
const b12 = new Float64Array((m * p));
const b14 = new Float64Array((m * d));
const b15 = new Float64Array((m * n));
const b16 = new Float64Array(m);
const b17 = new Float64Array((m * n));
const b18 = new Float64Array((m * d));
const b20 = new Float64Array((m * p));
const b21 = new Float64Array((m * p));
const b22 = new Float64Array((p * d));
const b24 = new Float64Array((m * p));
const b25 = new Float64Array((m * p));
const b26 = new Float64Array((p * d));
const b28 = new Float64Array((m * d));
const b29 = new Float64Array((m * d));
const b30 = new Float64Array((m * d));
const b31 = new Float64Array((m * n));
const b32 = new Float64Array((m * n));
const b33 = new Float64Array((m * d));
const b34 = new Float64Array(m);
const b35 = new Float64Array((m * d));
const b36 = new Float64Array((m * d));
const b37 = new Float64Array((m * n));
const b38 = new Float64Array((m * n));
const b39 = new Float64Array((m * d));
const b40 = new Float64Array(m);
const b41 = new Float64Array(m);
const b42 = new Float64Array((m * d));
const b43 = new Float64Array((d * d));
const c3 = new Float64Array((m * d));
const c5 = new Float64Array((m * n));
const c6 = new Float64Array(m);
const c7 = new Float64Array((m * n));
const c8 = new Float64Array(m);
const c9 = new Float64Array((m * n));
const c10 = new Float64Array((m * d));
const c12 = new Float64Array((m * p));
const c13 = new Float64Array((m * p));
const c14 = new Float64Array(1);
const e2 = new Float64Array((p * d));
const e4 = new Float64Array((p * d));
const e6 = new Float64Array((p * d));
const e7 = new Float64Array((p * d));
const e8 = new Float64Array(1);
const e10 = new Float64Array((p * d));
const e11 = new Float64Array((p * d));
const e13 = new Float64Array((d * d));
const e14 = new Float64Array((d * d));
const run = {
gradient() {
for (let i0 = 0; i0 < m; i0++) for (let i2 = 0; i2 < d; i2++) { let sum = 0; for (let i1 = 0; i1 < d; i1++) sum += (X[i0 * d + i1] * B[p * d + i1 * d + i2]); a3[i0 * d + i2] = sum; }
for (let i0 = 0; i0 < m; i0++) for (let i2 = 0; i2 < n; i2++) { let sum = 0; for (let i1 = 0; i1 < d; i1++) sum += (a3[i0 * d + i1] * context[i2 * d + i1]); a5[i0 * n + i2] = sum; }
for (let i0 = 0; i0 < m; i0++) { let sum = -Infinity; for (let i1 = 0; i1 < n; i1++) sum = Math.max(sum, a5[i0 * n + i1]); a6[i0] = sum; }
for (let i0 = 0; i0 < m; i0++) for (let i1 = 0; i1 < n; i1++) a7[i0 * n + i1] = Math.exp((a5[i0 * n + i1] - a6[i0]));
for (let i0 = 0; i0 < m; i0++) { let sum = 0; for (let i1 = 0; i1 < n; i1++) sum += a7[i0 * n + i1]; a8[i0] = sum; }
for (let i0 = 0; i0 < m; i0++) for (let i1 = 0; i1 < n; i1++) a9[i0 * n + i1] = (a7[i0 * n + i1] / a8[i0]);
for (let i0 = 0; i0 < m; i0++) for (let i2 = 0; i2 < d; i2++) { let sum = 0; for (let i1 = 0; i1 < n; i1++) sum += (a9[i0 * n + i1] * context[i1 * d + i2]); a10[i0 * d + i2] = sum; }
for (let i0 = 0; i0 < m; i0++) for (let i2 = 0; i2 < p; i2++) { let sum = 0; for (let i1 = 0; i1 < d; i1++) sum += (a10[i0 * d + i1] * A[0 + i2 * d + i1]); a12[i0 * p + i2] = sum; }
for (let i0 = 0; i0 < m; i0++) for (let i1 = 0; i1 < p; i1++) a13[i0 * p + i1] = (y[i0 * p + i1] - a12[i0 * p + i1]);
{ let sum = 0; for (let i0 = 0; i0 < m; i0++) for (let i1 = 0; i1 < p; i1++) sum += (a13[i0 * p + i1] * a13[i0 * p + i1]); a14[0] = sum; }
loss[0] = (0.0 + (a14[0] / number0));
for (let i0 = 0; i0 < m; i0++) { let sum = 0; for (let i1 = 0; i1 < n; i1++) sum += (a9[i0 * n + i1] * a9[i0 * n + i1]); a16[i0] = sum; }
{ let sum = 0; for (let i0 = 0; i0 < m; i0++) sum += (1.0 / a16[i0]); a17[0] = sum; }
effective[0] = (a17[0] / number1);
for (let i0 = 0; i0 < p; i0++) for (let i2 = 0; i2 < d; i2++) { let sum = 0; for (let i1 = 0; i1 < m; i1++) sum += (a13[i1 * p + i0] * a10[i1 * d + i2]); a19[i0 * d + i2] = sum; }
for (let i0 = 0; i0 < p; i0++) for (let i1 = 0; i1 < d; i1++) dA[0 + i0 * d + i1] = (0.0 - (a19[i0 * d + i1] / number1));
for (let i0 = 0; i0 < m; i0++) for (let i2 = 0; i2 < d; i2++) { let sum = 0; for (let i1 = 0; i1 < p; i1++) sum += (a13[i0 * p + i1] * A[0 + i1 * d + i2]); a21[i0 * d + i2] = sum; }
for (let i0 = 0; i0 < m; i0++) for (let i1 = 0; i1 < d; i1++) a22[i0 * d + i1] = (a21[i0 * d + i1] / number2);
for (let i0 = 0; i0 < m; i0++) for (let i2 = 0; i2 < n; i2++) { let sum = 0; for (let i1 = 0; i1 < d; i1++) sum += (a22[i0 * d + i1] * context[i2 * d + i1]); a23[i0 * n + i2] = sum; }
for (let i0 = 0; i0 < m; i0++) for (let i1 = 0; i1 < n; i1++) a24[i0 * n + i1] = (a9[i0 * n + i1] * a23[i0 * n + i1]);
for (let i0 = 0; i0 < m; i0++) for (let i2 = 0; i2 < d; i2++) { let sum = 0; for (let i1 = 0; i1 < n; i1++) sum += (a24[i0 * n + i1] * context[i1 * d + i2]); a25[i0 * d + i2] = sum; }
for (let i0 = 0; i0 < m; i0++) { let sum = 0; for (let i1 = 0; i1 < d; i1++) sum += (a10[i0 * d + i1] * a22[i0 * d + i1]); a26[i0] = sum; }
for (let i0 = 0; i0 < m; i0++) for (let i1 = 0; i1 < d; i1++) a27[i0 * d + i1] = (a25[i0 * d + i1] - (a10[i0 * d + i1] * a26[i0]));
for (let i0 = 0; i0 < d; i0++) for (let i2 = 0; i2 < d; i2++) { let sum = 0; for (let i1 = 0; i1 < m; i1++) sum += (X[i1 * d + i0] * a27[i1 * d + i2]); a28[i0 * d + i2] = sum; }
for (let i0 = 0; i0 < d; i0++) for (let i1 = 0; i1 < d; i1++) dB[p * d + i0 * d + i1] = (0.0 + a28[i0 * d + i1]);
return loss[0];
},
product() {
for (let i0 = 0; i0 < m; i0++) for (let i2 = 0; i2 < d; i2++) { let sum = 0; for (let i1 = 0; i1 < d; i1++) sum += (X[i0 * d + i1] * B[p * d + i1 * d + i2]); b2[i0 * d + i2] = sum; }
for (let i0 = 0; i0 < m; i0++) for (let i2 = 0; i2 < n; i2++) { let sum = 0; for (let i1 = 0; i1 < d; i1++) sum += (b2[i0 * d + i1] * context[i2 * d + i1]); b4[i0 * n + i2] = sum; }
for (let i0 = 0; i0 < m; i0++) { let sum = -Infinity; for (let i1 = 0; i1 < n; i1++) sum = Math.max(sum, b4[i0 * n + i1]); b5[i0] = sum; }
for (let i0 = 0; i0 < m; i0++) for (let i1 = 0; i1 < n; i1++) b6[i0 * n + i1] = Math.exp((b4[i0 * n + i1] - b5[i0]));
for (let i0 = 0; i0 < m; i0++) { let sum = 0; for (let i1 = 0; i1 < n; i1++) sum += b6[i0 * n + i1]; b7[i0] = sum; }
for (let i0 = 0; i0 < m; i0++) for (let i1 = 0; i1 < n; i1++) b8[i0 * n + i1] = (b6[i0 * n + i1] / b7[i0]);
for (let i0 = 0; i0 < m; i0++) for (let i2 = 0; i2 < d; i2++) { let sum = 0; for (let i1 = 0; i1 < n; i1++) sum += (b8[i0 * n + i1] * context[i1 * d + i2]); b9[i0 * d + i2] = sum; }
for (let i0 = 0; i0 < m; i0++) for (let i1 = 0; i1 < d; i1++) b10[i0 * d + i1] = (-b9[i0 * d + i1]);
for (let i0 = 0; i0 < m; i0++) for (let i2 = 0; i2 < p; i2++) { let sum = 0; for (let i1 = 0; i1 < d; i1++) sum += (b10[i0 * d + i1] * VA[0 + i2 * d + i1]); b12[i0 * p + i2] = sum; }
for (let i0 = 0; i0 < m; i0++) for (let i2 = 0; i2 < d; i2++) { let sum = 0; for (let i1 = 0; i1 < d; i1++) sum += (X[i0 * d + i1] * VB[p * d + i1 * d + i2]); b14[i0 * d + i2] = sum; }
for (let i0 = 0; i0 < m; i0++) for (let i2 = 0; i2 < n; i2++) { let sum = 0; for (let i1 = 0; i1 < d; i1++) sum += (b14[i0 * d + i1] * context[i2 * d + i1]); b15[i0 * n + i2] = sum; }
for (let i0 = 0; i0 < m; i0++) { let sum = 0; for (let i1 = 0; i1 < n; i1++) sum += (b8[i0 * n + i1] * b15[i0 * n + i1]); b16[i0] = sum; }
for (let i0 = 0; i0 < m; i0++) for (let i1 = 0; i1 < n; i1++) b17[i0 * n + i1] = (b8[i0 * n + i1] * (b15[i0 * n + i1] - b16[i0]));
for (let i0 = 0; i0 < m; i0++) for (let i2 = 0; i2 < d; i2++) { let sum = 0; for (let i1 = 0; i1 < n; i1++) sum += (b17[i0 * n + i1] * context[i1 * d + i2]); b18[i0 * d + i2] = sum; }
for (let i0 = 0; i0 < m; i0++) for (let i2 = 0; i2 < p; i2++) { let sum = 0; for (let i1 = 0; i1 < d; i1++) sum += (b18[i0 * d + i1] * A[0 + i2 * d + i1]); b20[i0 * p + i2] = sum; }
for (let i0 = 0; i0 < m; i0++) for (let i1 = 0; i1 < p; i1++) b21[i0 * p + i1] = (b12[i0 * p + i1] - b20[i0 * p + i1]);
for (let i0 = 0; i0 < p; i0++) for (let i2 = 0; i2 < d; i2++) { let sum = 0; for (let i1 = 0; i1 < m; i1++) sum += (b21[i1 * p + i0] * b9[i1 * d + i2]); b22[i0 * d + i2] = sum; }
for (let i0 = 0; i0 < m; i0++) for (let i2 = 0; i2 < p; i2++) { let sum = 0; for (let i1 = 0; i1 < d; i1++) sum += (b9[i0 * d + i1] * A[0 + i2 * d + i1]); b24[i0 * p + i2] = sum; }
for (let i0 = 0; i0 < m; i0++) for (let i1 = 0; i1 < p; i1++) b25[i0 * p + i1] = (y[i0 * p + i1] - b24[i0 * p + i1]);
for (let i0 = 0; i0 < p; i0++) for (let i2 = 0; i2 < d; i2++) { let sum = 0; for (let i1 = 0; i1 < m; i1++) sum += (b25[i1 * p + i0] * b18[i1 * d + i2]); b26[i0 * d + i2] = sum; }
for (let i0 = 0; i0 < p; i0++) for (let i1 = 0; i1 < d; i1++) HA[0 + i0 * d + i1] = (0.0 - ((b22[i0 * d + i1] + b26[i0 * d + i1]) / number1));
for (let i0 = 0; i0 < m; i0++) for (let i2 = 0; i2 < d; i2++) { let sum = 0; for (let i1 = 0; i1 < p; i1++) sum += (b25[i0 * p + i1] * VA[0 + i1 * d + i2]); b28[i0 * d + i2] = sum; }
for (let i0 = 0; i0 < m; i0++) for (let i2 = 0; i2 < d; i2++) { let sum = 0; for (let i1 = 0; i1 < p; i1++) sum += (b21[i0 * p + i1] * A[0 + i1 * d + i2]); b29[i0 * d + i2] = sum; }
for (let i0 = 0; i0 < m; i0++) for (let i1 = 0; i1 < d; i1++) b30[i0 * d + i1] = ((b28[i0 * d + i1] + b29[i0 * d + i1]) / number2);
for (let i0 = 0; i0 < m; i0++) for (let i2 = 0; i2 < n; i2++) { let sum = 0; for (let i1 = 0; i1 < d; i1++) sum += (b30[i0 * d + i1] * context[i2 * d + i1]); b31[i0 * n + i2] = sum; }
for (let i0 = 0; i0 < m; i0++) for (let i1 = 0; i1 < n; i1++) b32[i0 * n + i1] = (b8[i0 * n + i1] * b31[i0 * n + i1]);
for (let i0 = 0; i0 < m; i0++) for (let i2 = 0; i2 < d; i2++) { let sum = 0; for (let i1 = 0; i1 < n; i1++) sum += (b32[i0 * n + i1] * context[i1 * d + i2]); b33[i0 * d + i2] = sum; }
for (let i0 = 0; i0 < m; i0++) { let sum = 0; for (let i1 = 0; i1 < d; i1++) sum += (b9[i0 * d + i1] * b30[i0 * d + i1]); b34[i0] = sum; }
for (let i0 = 0; i0 < m; i0++) for (let i2 = 0; i2 < d; i2++) { let sum = 0; for (let i1 = 0; i1 < p; i1++) sum += (b25[i0 * p + i1] * A[0 + i1 * d + i2]); b35[i0 * d + i2] = sum; }
for (let i0 = 0; i0 < m; i0++) for (let i1 = 0; i1 < d; i1++) b36[i0 * d + i1] = (b35[i0 * d + i1] / number2);
for (let i0 = 0; i0 < m; i0++) for (let i2 = 0; i2 < n; i2++) { let sum = 0; for (let i1 = 0; i1 < d; i1++) sum += (b36[i0 * d + i1] * context[i2 * d + i1]); b37[i0 * n + i2] = sum; }
for (let i0 = 0; i0 < m; i0++) for (let i1 = 0; i1 < n; i1++) b38[i0 * n + i1] = (b17[i0 * n + i1] * b37[i0 * n + i1]);
for (let i0 = 0; i0 < m; i0++) for (let i2 = 0; i2 < d; i2++) { let sum = 0; for (let i1 = 0; i1 < n; i1++) sum += (b38[i0 * n + i1] * context[i1 * d + i2]); b39[i0 * d + i2] = sum; }
for (let i0 = 0; i0 < m; i0++) { let sum = 0; for (let i1 = 0; i1 < d; i1++) sum += (b9[i0 * d + i1] * b36[i0 * d + i1]); b40[i0] = sum; }
for (let i0 = 0; i0 < m; i0++) { let sum = 0; for (let i1 = 0; i1 < d; i1++) sum += (b18[i0 * d + i1] * b36[i0 * d + i1]); b41[i0] = sum; }
for (let i0 = 0; i0 < m; i0++) for (let i1 = 0; i1 < d; i1++) b42[i0 * d + i1] = ((((b33[i0 * d + i1] - (b9[i0 * d + i1] * b34[i0])) + b39[i0 * d + i1]) - (b18[i0 * d + i1] * b40[i0])) - (b9[i0 * d + i1] * b41[i0]));
for (let i0 = 0; i0 < d; i0++) for (let i2 = 0; i2 < d; i2++) { let sum = 0; for (let i1 = 0; i1 < m; i1++) sum += (X[i1 * d + i0] * b42[i1 * d + i2]); b43[i0 * d + i2] = sum; }
for (let i0 = 0; i0 < d; i0++) for (let i1 = 0; i1 < d; i1++) HB[p * d + i0 * d + i1] = (0.0 + b43[i0 * d + i1]);
return HA[0];
},
forward() {
for (let i0 = 0; i0 < m; i0++) for (let i2 = 0; i2 < d; i2++) { let sum = 0; for (let i1 = 0; i1 < d; i1++) sum += (X[i0 * d + i1] * B[p * d + i1 * d + i2]); c3[i0 * d + i2] = sum; }
for (let i0 = 0; i0 < m; i0++) for (let i2 = 0; i2 < n; i2++) { let sum = 0; for (let i1 = 0; i1 < d; i1++) sum += (c3[i0 * d + i1] * context[i2 * d + i1]); c5[i0 * n + i2] = sum; }
for (let i0 = 0; i0 < m; i0++) { let sum = -Infinity; for (let i1 = 0; i1 < n; i1++) sum = Math.max(sum, c5[i0 * n + i1]); c6[i0] = sum; }
for (let i0 = 0; i0 < m; i0++) for (let i1 = 0; i1 < n; i1++) c7[i0 * n + i1] = Math.exp((c5[i0 * n + i1] - c6[i0]));
for (let i0 = 0; i0 < m; i0++) { let sum = 0; for (let i1 = 0; i1 < n; i1++) sum += c7[i0 * n + i1]; c8[i0] = sum; }
for (let i0 = 0; i0 < m; i0++) for (let i1 = 0; i1 < n; i1++) c9[i0 * n + i1] = (c7[i0 * n + i1] / c8[i0]);
for (let i0 = 0; i0 < m; i0++) for (let i2 = 0; i2 < d; i2++) { let sum = 0; for (let i1 = 0; i1 < n; i1++) sum += (c9[i0 * n + i1] * context[i1 * d + i2]); c10[i0 * d + i2] = sum; }
for (let i0 = 0; i0 < m; i0++) for (let i2 = 0; i2 < p; i2++) { let sum = 0; for (let i1 = 0; i1 < d; i1++) sum += (c10[i0 * d + i1] * A[0 + i2 * d + i1]); c12[i0 * p + i2] = sum; }
for (let i0 = 0; i0 < m; i0++) for (let i1 = 0; i1 < p; i1++) c13[i0 * p + i1] = (y[i0 * p + i1] - c12[i0 * p + i1]);
{ let sum = 0; for (let i0 = 0; i0 < m; i0++) for (let i1 = 0; i1 < p; i1++) sum += (c13[i0 * p + i1] * c13[i0 * p + i1]); c14[0] = sum; }
loss[0] = (0.0 + (c14[0] / number0));
for (let i0 = 0; i0 < m; i0++) for (let i1 = 0; i1 < n; i1++) weights[i0 * n + i1] = c9[i0 * n + i1];
return loss[0];
},
population() {
for (let i0 = 0; i0 < p; i0++) for (let i2 = 0; i2 < d; i2++) { let sum = 0; for (let i1 = 0; i1 < d; i1++) sum += (A[0 + i0 * d + i1] * Sigma[i1 * d + i2]); e2[i0 * d + i2] = sum; }
for (let i0 = 0; i0 < p; i0++) for (let i2 = 0; i2 < d; i2++) { let sum = 0; for (let i1 = 0; i1 < d; i1++) sum += (e2[i0 * d + i1] * B[p * d + i2 * d + i1]); e4[i0 * d + i2] = sum; }
for (let i0 = 0; i0 < p; i0++) for (let i1 = 0; i1 < d; i1++) e6[i0 * d + i1] = (e4[i0 * d + i1] - M[i0 * d + i1]);
for (let i0 = 0; i0 < p; i0++) for (let i2 = 0; i2 < d; i2++) { let sum = 0; for (let i1 = 0; i1 < d; i1++) sum += (e6[i0 * d + i1] * Sigma[i1 * d + i2]); e7[i0 * d + i2] = sum; }
{ let sum = 0; for (let i0 = 0; i0 < p; i0++) for (let i1 = 0; i1 < d; i1++) sum += (e7[i0 * d + i1] * e6[i0 * d + i1]); e8[0] = sum; }
excess[0] = (e8[0] / 2.0);
for (let i0 = 0; i0 < p; i0++) for (let i2 = 0; i2 < d; i2++) { let sum = 0; for (let i1 = 0; i1 < d; i1++) sum += (e7[i0 * d + i1] * B[p * d + i1 * d + i2]); e10[i0 * d + i2] = sum; }
for (let i0 = 0; i0 < p; i0++) for (let i2 = 0; i2 < d; i2++) { let sum = 0; for (let i1 = 0; i1 < d; i1++) sum += (e10[i0 * d + i1] * Sigma[i1 * d + i2]); e11[i0 * d + i2] = sum; }
for (let i0 = 0; i0 < p; i0++) for (let i1 = 0; i1 < d; i1++) EA[0 + i0 * d + i1] = e11[i0 * d + i1];
for (let i0 = 0; i0 < d; i0++) for (let i2 = 0; i2 < d; i2++) { let sum = 0; for (let i1 = 0; i1 < p; i1++) sum += (e7[i1 * d + i0] * A[0 + i1 * d + i2]); e13[i0 * d + i2] = sum; }
for (let i0 = 0; i0 < d; i0++) for (let i2 = 0; i2 < d; i2++) { let sum = 0; for (let i1 = 0; i1 < d; i1++) sum += (e13[i0 * d + i1] * Sigma[i1 * d + i2]); e14[i0 * d + i2] = sum; }
for (let i0 = 0; i0 < d; i0++) for (let i1 = 0; i1 < d; i1++) EB[p * d + i0 * d + i1] = e14[i0 * d + i1];
return excess[0];
},
};
return { X, y, context, Sigma, M, theta, direction, loss, effective, slope, along, weights, excess, limit, loaded() {}, call: (name) => run[name]() };
}
