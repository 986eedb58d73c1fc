// Made by `make kernel` from mhabook/c03_first_step/formulas.py.
const root = Math.sqrt;
const logaddexp = (a, b) =>
  a === b ? a + Math.LN2 : Math.max(a, b) + Math.log1p(Math.exp(-Math.abs(a - b)));
export function program([n, T, d]) {
const X = new Float64Array((n * T * d));
const y = new Float64Array(n);
const W = new Float64Array((d * d));
const U = new Float64Array((T * d));
const sign = new Float64Array(1);
const zeta = new Float64Array(1);
const S = new Float64Array(1);
const patterns = new Float64Array(1);
const square = new Float64Array(1);
const loss = new Float64Array(1);
const only_W = new Float64Array((n * d * d));
const only_U = new Float64Array((n * T * d));
const both = new Float64Array(n * (d * d + T * d));
const closed = new Float64Array(3);
const exact = new Float64Array(3);
const both_W = both;
const both_U = both;
const number0 = 1.0 * n;
const number1 = 1.0 * root(T);
const number2 = 1.0 * T;
const number3 = 0.70710678118655 * root(T);
const a1 = new Float64Array(1);
const a3 = new Float64Array((n * T * d));
const a4 = new Float64Array((n * T * T));
const a5 = new Float64Array((n * T));
const a6 = new Float64Array((n * T * T));
const a7 = new Float64Array((n * T));
const a8 = new Float64Array((n * T * T));
const a10 = new Float64Array((n * T * T));
const a11 = new Float64Array((n * T));
const a12 = new Float64Array(n);
const a13 = new Float64Array(n);
const a14 = new Float64Array(n);
const a15 = new Float64Array((n * T * d));
const a16 = new Float64Array((T * d));
const b2 = new Float64Array((n * d));
const b3 = new Float64Array(d);
const b4 = new Float64Array(1);
const b5 = new Float64Array(1);
const b7 = new Float64Array(1);
const b8 = new Float64Array(1);
const c3 = new Float64Array((n * T * d));
const c4 = new Float64Array((n * T * T));
const c5 = new Float64Array((n * T));
const c6 = new Float64Array((n * T * T));
const c7 = new Float64Array((n * T));
const c8 = new Float64Array((n * T * T));
const c10 = new Float64Array((n * T * T));
const c11 = new Float64Array((n * T));
const c12 = new Float64Array(n);
const c13 = new Float64Array(1);
const c15 = new Float64Array((n * T * T));
const c16 = new Float64Array((n * d * T));
const c17 = new Float64Array((n * d * d));
const c18 = new Float64Array((n * d * d));
const c20 = new Float64Array((n * T * d));
const c21 = new Float64Array((n * T * d));
const e2 = new Float64Array(1);
const e3 = new Float64Array(1);
const e4 = new Float64Array(1);
const e5 = new Float64Array(1);
const e7 = new Float64Array(1);
const e8 = new Float64Array(1);
const e9 = new Float64Array(1);
const e11 = new Float64Array(1);
const e13 = new Float64Array(1);
const e14 = new Float64Array(1);
const e15 = new Float64Array(1);
const run = {
first() {
a1[0] = (2.0 * sign[0]);
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < T; i1++) for (let i3 = 0; i3 < d; i3++) { let sum = 0; for (let i2 = 0; i2 < d; i2++) sum += (X[i0 * (T * d) + i1 * d + i2] * 0.0); a3[i0 * (T * d) + i1 * d + i3] = sum; }
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < T; i1++) for (let i3 = 0; i3 < T; i3++) { let sum = 0; for (let i2 = 0; i2 < d; i2++) sum += (a3[i0 * (T * d) + i1 * d + i2] * X[i0 * (T * d) + i3 * d + i2]); a4[i0 * (T * T) + i1 * T + i3] = sum; }
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < T; i1++) { let sum = -Infinity; for (let i2 = 0; i2 < T; i2++) sum = Math.max(sum, a4[i0 * (T * T) + i1 * T + i2]); a5[i0 * T + i1] = sum; }
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < T; i1++) for (let i2 = 0; i2 < T; i2++) a6[i0 * (T * T) + i1 * T + i2] = Math.exp((a4[i0 * (T * T) + i1 * T + i2] - a5[i0 * T + i1]));
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < T; i1++) { let sum = 0; for (let i2 = 0; i2 < T; i2++) sum += a6[i0 * (T * T) + i1 * T + i2]; a7[i0 * T + i1] = sum; }
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < T; i1++) for (let i2 = 0; i2 < T; i2++) a8[i0 * (T * T) + i1 * T + i2] = (a6[i0 * (T * T) + i1 * T + i2] / a7[i0 * T + i1]);
for (let i2 = 0; i2 < n; i2++) for (let i0 = 0; i0 < T; i0++) for (let i3 = 0; i3 < T; i3++) { let sum = 0; for (let i1 = 0; i1 < d; i1++) sum += (0.0 * X[i2 * (T * d) + i3 * d + i1]); a10[i2 * (T * T) + i0 * T + i3] = sum; }
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < T; i1++) { let sum = 0; for (let i2 = 0; i2 < T; i2++) sum += (a8[i0 * (T * T) + i1 * T + i2] * a10[i0 * (T * T) + i1 * T + i2]); a11[i0 * T + i1] = sum; }
for (let i0 = 0; i0 < n; i0++) { let sum = 0; for (let i1 = 0; i1 < T; i1++) sum += a11[i0 * T + i1]; a12[i0] = sum; }
for (let i0 = 0; i0 < n; i0++) a13[i0] = (-((y[i0] * a12[i0]) / 1.0));
for (let i0 = 0; i0 < n; i0++) a14[i0] = ((y[i0] * (-Math.exp((a13[i0] - logaddexp(0.0, a13[i0]))))) / number0);
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < T; i1++) for (let i2 = 0; i2 < d; i2++) a15[i0 * (T * d) + i1 * d + i2] = (a14[i0] * X[i0 * (T * d) + i1 * d + i2]);
for (let i1 = 0; i1 < T; i1++) for (let i3 = 0; i3 < d; i3++) { let sum = 0; for (let i0 = 0; i0 < n; i0++) for (let i2 = 0; i2 < T; i2++) sum += (a8[i0 * (T * T) + i1 * T + i2] * a15[i0 * (T * d) + i2 * d + i3]); a16[i1 * d + i3] = sum; }
for (let i0 = 0; i0 < T; i0++) for (let i1 = 0; i1 < d; i1++) U[i0 * d + i1] = (0.0 - (a1[0] * a16[i0 * d + i1]));
return U[0];
},
gaussian() {
for (let i0 = 0; i0 < n; i0++) for (let i2 = 0; i2 < d; i2++) { let sum = 0; for (let i1 = 0; i1 < T; i1++) sum += X[i0 * (T * d) + i1 * d + i2]; b2[i0 * d + i2] = sum; }
for (let i1 = 0; i1 < d; i1++) { let sum = 0; for (let i0 = 0; i0 < n; i0++) sum += (y[i0] * (b2[i0 * d + i1] / number2)); b3[i1] = sum; }
{ let sum = 0; for (let i0 = 0; i0 < d; i0++) sum += (b3[i0] * b3[i0]); b4[0] = sum; }
b5[0] = ((number1 * Math.sqrt(b4[0])) / number0);
{ let sum = 0; for (let i0 = 0; i0 < T; i0++) for (let i1 = 0; i1 < d; i1++) sum += (U[i0 * d + i1] * U[i0 * d + i1]); b7[0] = sum; }
b8[0] = Math.sqrt(b7[0]);
for (let i0 = 0; i0 < T; i0++) for (let i1 = 0; i1 < d; i1++) U[i0 * d + i1] = ((b5[0] * U[i0 * d + i1]) / b8[0]);
return U[0];
},
features() {
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < T; i1++) for (let i3 = 0; i3 < d; i3++) { let sum = 0; for (let i2 = 0; i2 < d; i2++) sum += (X[i0 * (T * d) + i1 * d + i2] * W[i2 * d + i3]); c3[i0 * (T * d) + i1 * d + i3] = sum; }
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < T; i1++) for (let i3 = 0; i3 < T; i3++) { let sum = 0; for (let i2 = 0; i2 < d; i2++) sum += (c3[i0 * (T * d) + i1 * d + i2] * X[i0 * (T * d) + i3 * d + i2]); c4[i0 * (T * T) + i1 * T + i3] = sum; }
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < T; i1++) { let sum = -Infinity; for (let i2 = 0; i2 < T; i2++) sum = Math.max(sum, c4[i0 * (T * T) + i1 * T + i2]); c5[i0 * T + i1] = sum; }
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < T; i1++) for (let i2 = 0; i2 < T; i2++) c6[i0 * (T * T) + i1 * T + i2] = Math.exp((c4[i0 * (T * T) + i1 * T + i2] - c5[i0 * T + i1]));
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < T; i1++) { let sum = 0; for (let i2 = 0; i2 < T; i2++) sum += c6[i0 * (T * T) + i1 * T + i2]; c7[i0 * T + i1] = sum; }
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < T; i1++) for (let i2 = 0; i2 < T; i2++) c8[i0 * (T * T) + i1 * T + i2] = (c6[i0 * (T * T) + i1 * T + i2] / c7[i0 * T + i1]);
for (let i2 = 0; i2 < n; i2++) for (let i0 = 0; i0 < T; i0++) for (let i3 = 0; i3 < T; i3++) { let sum = 0; for (let i1 = 0; i1 < d; i1++) sum += (U[i0 * d + i1] * X[i2 * (T * d) + i3 * d + i1]); c10[i2 * (T * T) + i0 * T + i3] = sum; }
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < T; i1++) { let sum = 0; for (let i2 = 0; i2 < T; i2++) sum += (c8[i0 * (T * T) + i1 * T + i2] * c10[i0 * (T * T) + i1 * T + i2]); c11[i0 * T + i1] = sum; }
for (let i0 = 0; i0 < n; i0++) { let sum = 0; for (let i1 = 0; i1 < T; i1++) sum += c11[i0 * T + i1]; c12[i0] = sum; }
{ let sum = 0; for (let i0 = 0; i0 < n; i0++) sum += logaddexp(0.0, (-(y[i0] * (c12[i0] / 1.0)))); c13[0] = sum; }
loss[0] = (c13[0] / number0);
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < T; i1++) for (let i2 = 0; i2 < T; i2++) c15[i0 * (T * T) + i1 * T + i2] = (c8[i0 * (T * T) + i1 * T + i2] * (c10[i0 * (T * T) + i1 * T + i2] - c11[i0 * T + i1]));
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < d; i1++) for (let i3 = 0; i3 < T; i3++) { let sum = 0; for (let i2 = 0; i2 < T; i2++) sum += (X[i0 * (T * d) + i2 * d + i1] * c15[i0 * (T * T) + i2 * T + i3]); c16[i0 * (d * T) + i1 * T + i3] = sum; }
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < d; i1++) for (let i3 = 0; i3 < d; i3++) { let sum = 0; for (let i2 = 0; i2 < T; i2++) sum += (c16[i0 * (d * T) + i1 * T + i2] * X[i0 * (T * d) + i2 * d + i3]); c17[i0 * (d * d) + i1 * d + i3] = sum; }
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < d; i1++) for (let i2 = 0; i2 < d; i2++) c18[i0 * (d * d) + i1 * d + i2] = ((c17[i0 * (d * d) + i1 * d + i2] / 1.0) * y[i0]);
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < d; i1++) for (let i2 = 0; i2 < d; i2++) only_W[i0 * (d * d) + i1 * d + i2] = c18[i0 * (d * d) + i1 * d + i2];
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < T; i1++) for (let i3 = 0; i3 < d; i3++) { let sum = 0; for (let i2 = 0; i2 < T; i2++) sum += (c8[i0 * (T * T) + i1 * T + i2] * X[i0 * (T * d) + i2 * d + i3]); c20[i0 * (T * d) + i1 * d + i3] = sum; }
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < T; i1++) for (let i2 = 0; i2 < d; i2++) c21[i0 * (T * d) + i1 * d + i2] = ((c20[i0 * (T * d) + i1 * d + i2] / 1.0) * y[i0]);
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < T; i1++) for (let i2 = 0; i2 < d; i2++) only_U[i0 * (T * d) + i1 * d + i2] = c21[i0 * (T * d) + i1 * d + i2];
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < d; i1++) for (let i2 = 0; i2 < d; i2++) both_W[0 + i0 * (d * d + T * d) + i1 * d + i2] = c18[i0 * (d * d) + i1 * d + i2];
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < T; i1++) for (let i2 = 0; i2 < d; i2++) both_U[d * d + i0 * (d * d + T * d) + i1 * d + i2] = c21[i0 * (T * d) + i1 * d + i2];
return loss[0];
},
closed() {
e2[0] = ((zeta[0] * S[0]) * number3);
e3[0] = (zeta[0] * zeta[0]);
e4[0] = (1.0 - zeta[0]);
e5[0] = Math.pow(S[0], 4.0);
e7[0] = ((((e3[0] * e4[0]) * number2) * e5[0]) / (2.0 * Math.sqrt((2.0 * (patterns[0] + 2.0)))));
e8[0] = (e2[0] * e2[0]);
e9[0] = Math.sqrt((e8[0] + (e7[0] * e7[0])));
for (let i0 = 0; i0 < 3; i0++) closed[i0] = ((i0 < 1 - 0 ? e2[0] : 0) + (i0 >= 1 && i0 < 1 - -1 ? e7[0] : 0) + (i0 >= 2 ? e9[0] : 0));
e11[0] = (zeta[0] * e4[0]);
e13[0] = ((e4[0] * e4[0]) - square[0]);
e14[0] = ((((number2 * e3[0]) * e5[0]) / 2.0) * Math.sqrt(((((((e11[0] * e11[0]) * (1.0 + (1.0 / patterns[0]))) / 2.0) + (Math.pow(e4[0], 4.0) / (2.0 * patterns[0]))) + ((square[0] * square[0]) / patterns[0])) + ((e13[0] * e13[0]) / Math.max((patterns[0] * (patterns[0] - 1.0)), 1.0)))));
e15[0] = Math.sqrt((e8[0] + (e14[0] * e14[0])));
for (let i0 = 0; i0 < 3; i0++) exact[i0] = ((i0 < 1 - 0 ? e2[0] : 0) + (i0 >= 1 && i0 < 1 - -1 ? e14[0] : 0) + (i0 >= 2 ? e15[0] : 0));
return closed[0];
},
};
return { X, y, W, U, sign, zeta, S, patterns, square, loss, only_W, only_U, both, closed, exact, loaded() {}, call: (name) => run[name]() };
}
