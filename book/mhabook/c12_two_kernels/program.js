// Made by `make kernel` from mhabook/c12_two_kernels/formulas.py.
const root = Math.sqrt;
const logaddexp = (a, b) =>
  a === b ? a + Math.LN2 : Math.max(a, b) + Math.log1p(Math.exp(-Math.abs(a - b)));
export function program([q, m, c]) {
const queries = new Float64Array(q);
const keys = new Float64Array(m);
const values = new Float64Array(m);
const y = new Float64Array(1);
const loss = new Float64Array(1);
const losses = new Float64Array(q);
const weights = new Float64Array((q * m));
const outputs = new Float64Array(q);
const grad = new Float64Array(q);
const number0 = -1.0 * c;
const number1 = 2.0 * c;
const a2 = new Float64Array((q * m));
const a3 = new Float64Array(q);
const a4 = new Float64Array((q * m));
const a5 = new Float64Array(q);
const a6 = new Float64Array((q * m));
const a8 = new Float64Array(q);
const a10 = new Float64Array(q);
const a11 = new Float64Array(q);
const a12 = new Float64Array(1);
const a17 = new Float64Array((q * m));
const a18 = new Float64Array(q);
const a19 = new Float64Array(q);
const b1 = new Float64Array(q);
const b2 = new Float64Array(q);
const b4 = new Float64Array(m);
const b5 = new Float64Array((q * m));
const b7 = new Float64Array(q);
const b9 = new Float64Array(q);
const b10 = new Float64Array(q);
const b11 = new Float64Array(1);
const b16 = new Float64Array((q * m));
const b17 = new Float64Array(q);
const b18 = new Float64Array(q);
const c1 = new Float64Array(q);
const c2 = new Float64Array(q);
const c4 = new Float64Array(m);
const c5 = new Float64Array((q * m));
const c6 = new Float64Array(q);
const c7 = new Float64Array((q * m));
const c8 = new Float64Array(q);
const c9 = new Float64Array((q * m));
const c11 = new Float64Array(q);
const c13 = new Float64Array(q);
const c14 = new Float64Array(q);
const c15 = new Float64Array(1);
const c20 = new Float64Array((q * m));
const c21 = new Float64Array(q);
const c22 = new Float64Array((q * m));
const c23 = new Float64Array(q);
const c24 = new Float64Array(q);
const run = {
soft() {
for (let i0 = 0; i0 < q; i0++) for (let i1 = 0; i1 < m; i1++) a2[i0 * m + i1] = ((queries[i0] * keys[i1]) / 1.0);
for (let i0 = 0; i0 < q; i0++) { let sum = -Infinity; for (let i1 = 0; i1 < m; i1++) sum = Math.max(sum, a2[i0 * m + i1]); a3[i0] = sum; }
for (let i0 = 0; i0 < q; i0++) for (let i1 = 0; i1 < m; i1++) a4[i0 * m + i1] = Math.exp((a2[i0 * m + i1] - a3[i0]));
for (let i0 = 0; i0 < q; i0++) { let sum = 0; for (let i1 = 0; i1 < m; i1++) sum += a4[i0 * m + i1]; a5[i0] = sum; }
for (let i0 = 0; i0 < q; i0++) for (let i1 = 0; i1 < m; i1++) a6[i0 * m + i1] = (a4[i0 * m + i1] / a5[i0]);
for (let i0 = 0; i0 < q; i0++) { let sum = 0; for (let i1 = 0; i1 < m; i1++) sum += (a6[i0 * m + i1] * values[i1]); a8[i0] = sum; }
for (let i0 = 0; i0 < q; i0++) a10[i0] = (a8[i0] - y[0]);
for (let i0 = 0; i0 < q; i0++) a11[i0] = ((a10[i0] * a10[i0]) / 2.0);
{ let sum = 0; for (let i0 = 0; i0 < q; i0++) sum += a11[i0]; a12[0] = sum; }
loss[0] = a12[0];
for (let i0 = 0; i0 < q; i0++) losses[i0] = a11[i0];
for (let i0 = 0; i0 < q; i0++) for (let i1 = 0; i1 < m; i1++) weights[i0 * m + i1] = a6[i0 * m + i1];
for (let i0 = 0; i0 < q; i0++) outputs[i0] = a8[i0];
for (let i0 = 0; i0 < q; i0++) for (let i1 = 0; i1 < m; i1++) a17[i0 * m + i1] = (a10[i0] * values[i1]);
for (let i0 = 0; i0 < q; i0++) { let sum = 0; for (let i1 = 0; i1 < m; i1++) sum += (a6[i0 * m + i1] * a17[i0 * m + i1]); a18[i0] = sum; }
for (let i0 = 0; i0 < q; i0++) { let sum = 0; for (let i1 = 0; i1 < m; i1++) sum += ((a6[i0 * m + i1] * (a17[i0 * m + i1] - a18[i0])) * keys[i1]); a19[i0] = sum; }
for (let i0 = 0; i0 < q; i0++) grad[i0] = (a19[i0] / 1.0);
return loss[0];
},
gauss() {
for (let i0 = 0; i0 < q; i0++) b1[i0] = (queries[i0] * queries[i0]);
for (let i0 = 0; i0 < q; i0++) b2[i0] = (2.0 * queries[i0]);
for (let i0 = 0; i0 < m; i0++) b4[i0] = (keys[i0] * keys[i0]);
for (let i0 = 0; i0 < q; i0++) for (let i1 = 0; i1 < m; i1++) b5[i0 * m + i1] = Math.exp((number0 * Math.max(((b1[i0] - (b2[i0] * keys[i1])) + b4[i1]), 0.0)));
for (let i0 = 0; i0 < q; i0++) { let sum = 0; for (let i1 = 0; i1 < m; i1++) sum += (b5[i0 * m + i1] * values[i1]); b7[i0] = sum; }
for (let i0 = 0; i0 < q; i0++) b9[i0] = (b7[i0] - y[0]);
for (let i0 = 0; i0 < q; i0++) b10[i0] = ((b9[i0] * b9[i0]) / 2.0);
{ let sum = 0; for (let i0 = 0; i0 < q; i0++) sum += b10[i0]; b11[0] = sum; }
loss[0] = b11[0];
for (let i0 = 0; i0 < q; i0++) losses[i0] = b10[i0];
for (let i0 = 0; i0 < q; i0++) for (let i1 = 0; i1 < m; i1++) weights[i0 * m + i1] = b5[i0 * m + i1];
for (let i0 = 0; i0 < q; i0++) outputs[i0] = b7[i0];
for (let i0 = 0; i0 < q; i0++) for (let i1 = 0; i1 < m; i1++) b16[i0 * m + i1] = (b5[i0 * m + i1] * (b9[i0] * values[i1]));
for (let i0 = 0; i0 < q; i0++) { let sum = 0; for (let i1 = 0; i1 < m; i1++) sum += (b16[i0 * m + i1] * keys[i1]); b17[i0] = sum; }
for (let i0 = 0; i0 < q; i0++) { let sum = 0; for (let i1 = 0; i1 < m; i1++) sum += b16[i0 * m + i1]; b18[i0] = sum; }
for (let i0 = 0; i0 < q; i0++) grad[i0] = (number1 * (b17[i0] - (b18[i0] * queries[i0])));
return loss[0];
},
between() {
for (let i0 = 0; i0 < q; i0++) c1[i0] = (queries[i0] * queries[i0]);
for (let i0 = 0; i0 < q; i0++) c2[i0] = (2.0 * queries[i0]);
for (let i0 = 0; i0 < m; i0++) c4[i0] = (keys[i0] * keys[i0]);
for (let i0 = 0; i0 < q; i0++) for (let i1 = 0; i1 < m; i1++) c5[i0 * m + i1] = (number0 * Math.max(((c1[i0] - (c2[i0] * keys[i1])) + c4[i1]), 0.0));
for (let i0 = 0; i0 < q; i0++) { let sum = -Infinity; for (let i1 = 0; i1 < m; i1++) sum = Math.max(sum, c5[i0 * m + i1]); c6[i0] = sum; }
for (let i0 = 0; i0 < q; i0++) for (let i1 = 0; i1 < m; i1++) c7[i0 * m + i1] = Math.exp((c5[i0 * m + i1] - c6[i0]));
for (let i0 = 0; i0 < q; i0++) { let sum = 0; for (let i1 = 0; i1 < m; i1++) sum += c7[i0 * m + i1]; c8[i0] = sum; }
for (let i0 = 0; i0 < q; i0++) for (let i1 = 0; i1 < m; i1++) c9[i0 * m + i1] = (c7[i0 * m + i1] / c8[i0]);
for (let i0 = 0; i0 < q; i0++) { let sum = 0; for (let i1 = 0; i1 < m; i1++) sum += (c9[i0 * m + i1] * values[i1]); c11[i0] = sum; }
for (let i0 = 0; i0 < q; i0++) c13[i0] = (c11[i0] - y[0]);
for (let i0 = 0; i0 < q; i0++) c14[i0] = ((c13[i0] * c13[i0]) / 2.0);
{ let sum = 0; for (let i0 = 0; i0 < q; i0++) sum += c14[i0]; c15[0] = sum; }
loss[0] = c15[0];
for (let i0 = 0; i0 < q; i0++) losses[i0] = c14[i0];
for (let i0 = 0; i0 < q; i0++) for (let i1 = 0; i1 < m; i1++) weights[i0 * m + i1] = c9[i0 * m + i1];
for (let i0 = 0; i0 < q; i0++) outputs[i0] = c11[i0];
for (let i0 = 0; i0 < q; i0++) for (let i1 = 0; i1 < m; i1++) c20[i0 * m + i1] = (c13[i0] * values[i1]);
for (let i0 = 0; i0 < q; i0++) { let sum = 0; for (let i1 = 0; i1 < m; i1++) sum += (c9[i0 * m + i1] * c20[i0 * m + i1]); c21[i0] = sum; }
for (let i0 = 0; i0 < q; i0++) for (let i1 = 0; i1 < m; i1++) c22[i0 * m + i1] = (c9[i0 * m + i1] * (c20[i0 * m + i1] - c21[i0]));
for (let i0 = 0; i0 < q; i0++) { let sum = 0; for (let i1 = 0; i1 < m; i1++) sum += (c22[i0 * m + i1] * keys[i1]); c23[i0] = sum; }
for (let i0 = 0; i0 < q; i0++) { let sum = 0; for (let i1 = 0; i1 < m; i1++) sum += c22[i0 * m + i1]; c24[i0] = sum; }
for (let i0 = 0; i0 < q; i0++) grad[i0] = (number1 * (c23[i0] - (c24[i0] * queries[i0])));
return loss[0];
},
};
return { queries, keys, values, y, loss, losses, weights, outputs, grad, loaded() {}, call: (name) => run[name]() };
}
