// Made by `make kernel` from book/mhabook/live/formulas.py.
const root = Math.sqrt;
const logaddexp = (a, b) =>
  a === b ? a + Math.LN2 : Math.max(a, b) + Math.log1p(Math.exp(-Math.abs(a - b)));
export function program([n, d, p]) {
const tokens = new Float64Array((n * d));
const x = new Float64Array((n * d));
const noise = new Float64Array((n * p));
const y = new Float64Array((n * p));
const left = new Float64Array((p * d));
const basis = new Float64Array((d * d));
const right = new Float64Array((d * d));
const inverse = new Float64Array((d * d));
const eigenvalues = new Float64Array(d);
const singular = new Float64Array(d);
const sigma = new Float64Array(1);
const Sigma = new Float64Array((d * d));
const M = new Float64Array((p * d));
const R = new Float64Array((d * d));
const moment = new Float64Array((d * d));
const fit = new Float64Array((p * d));
const number0 = 1.0 * n;
const a3 = new Float64Array(d);
const a4 = new Float64Array((d * d));
const a5 = new Float64Array((d * d));
const a6 = new Float64Array((n * d));
const a10 = new Float64Array((p * d));
const a12 = new Float64Array((p * d));
const a13 = new Float64Array(d);
const a14 = new Float64Array((d * d));
const a15 = new Float64Array((d * d));
const a16 = new Float64Array((p * d));
const a17 = new Float64Array((n * p));
const a21 = new Float64Array((d * d));
const a22 = new Float64Array((d * d));
const b1 = new Float64Array((d * d));
const c2 = new Float64Array((p * d));
const c3 = new Float64Array((p * d));
const c5 = new Float64Array((p * d));
const run = {
assemble() {
for (let i0 = 0; i0 < d; i0++) a3[i0] = Math.sqrt(eigenvalues[i0]);
for (let i0 = 0; i0 < d; i0++) for (let i1 = 0; i1 < d; i1++) a4[i0 * d + i1] = (basis[i0 * d + i1] * a3[i1]);
for (let i0 = 0; i0 < d; i0++) for (let i2 = 0; i2 < d; i2++) { let sum = 0; for (let i1 = 0; i1 < d; i1++) sum += (a4[i0 * d + i1] * basis[i2 * d + i1]); a5[i0 * d + i2] = sum; }
for (let i0 = 0; i0 < n; i0++) for (let i2 = 0; i2 < d; i2++) { let sum = 0; for (let i1 = 0; i1 < d; i1++) sum += (tokens[i0 * d + i1] * a5[i1 * d + i2]); a6[i0 * d + i2] = sum; }
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < d; i1++) x[i0 * d + i1] = a6[i0 * d + i1];
for (let i0 = 0; i0 < p; i0++) for (let i1 = 0; i1 < d; i1++) a10[i0 * d + i1] = (left[i0 * d + i1] * singular[i1]);
for (let i0 = 0; i0 < p; i0++) for (let i2 = 0; i2 < d; i2++) { let sum = 0; for (let i1 = 0; i1 < d; i1++) sum += (a10[i0 * d + i1] * right[i2 * d + i1]); a12[i0 * d + i2] = sum; }
for (let i0 = 0; i0 < d; i0++) a13[i0] = Math.pow(eigenvalues[i0], (-0.5));
for (let i0 = 0; i0 < d; i0++) for (let i1 = 0; i1 < d; i1++) a14[i0 * d + i1] = (basis[i0 * d + i1] * a13[i1]);
for (let i0 = 0; i0 < d; i0++) for (let i2 = 0; i2 < d; i2++) { let sum = 0; for (let i1 = 0; i1 < d; i1++) sum += (a14[i0 * d + i1] * basis[i2 * d + i1]); a15[i0 * d + i2] = sum; }
for (let i0 = 0; i0 < p; i0++) for (let i2 = 0; i2 < d; i2++) { let sum = 0; for (let i1 = 0; i1 < d; i1++) sum += (a12[i0 * d + i1] * a15[i1 * d + i2]); a16[i0 * d + i2] = sum; }
for (let i0 = 0; i0 < n; i0++) for (let i2 = 0; i2 < p; i2++) { let sum = 0; for (let i1 = 0; i1 < d; i1++) sum += (a6[i0 * d + i1] * a16[i2 * d + i1]); a17[i0 * p + i2] = sum; }
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < p; i1++) y[i0 * p + i1] = (a17[i0 * p + i1] + (sigma[0] * noise[i0 * p + i1]));
for (let i0 = 0; i0 < d; i0++) for (let i1 = 0; i1 < d; i1++) a21[i0 * d + i1] = (basis[i0 * d + i1] * eigenvalues[i1]);
for (let i0 = 0; i0 < d; i0++) for (let i2 = 0; i2 < d; i2++) { let sum = 0; for (let i1 = 0; i1 < d; i1++) sum += (a21[i0 * d + i1] * basis[i2 * d + i1]); a22[i0 * d + i2] = sum; }
for (let i0 = 0; i0 < d; i0++) for (let i1 = 0; i1 < d; i1++) Sigma[i0 * d + i1] = a22[i0 * d + i1];
for (let i0 = 0; i0 < p; i0++) for (let i1 = 0; i1 < d; i1++) M[i0 * d + i1] = a16[i0 * d + i1];
for (let i0 = 0; i0 < d; i0++) for (let i1 = 0; i1 < d; i1++) R[i0 * d + i1] = a5[i0 * d + i1];
return x[0];
},
moment() {
for (let i0 = 0; i0 < d; i0++) for (let i2 = 0; i2 < d; i2++) { let sum = 0; for (let i1 = 0; i1 < n; i1++) sum += (x[i1 * d + i0] * x[i1 * d + i2]); b1[i0 * d + i2] = sum; }
for (let i0 = 0; i0 < d; i0++) for (let i1 = 0; i1 < d; i1++) moment[i0 * d + i1] = (b1[i0 * d + i1] / number0);
return moment[0];
},
fit() {
for (let i0 = 0; i0 < p; i0++) for (let i2 = 0; i2 < d; i2++) { let sum = 0; for (let i1 = 0; i1 < n; i1++) sum += (y[i1 * p + i0] * x[i1 * d + i2]); c2[i0 * d + i2] = sum; }
for (let i0 = 0; i0 < p; i0++) for (let i1 = 0; i1 < d; i1++) c3[i0 * d + i1] = (c2[i0 * d + i1] / number0);
for (let i0 = 0; i0 < p; i0++) for (let i2 = 0; i2 < d; i2++) { let sum = 0; for (let i1 = 0; i1 < d; i1++) sum += (c3[i0 * d + i1] * inverse[i1 * d + i2]); c5[i0 * d + i2] = sum; }
for (let i0 = 0; i0 < p; i0++) for (let i1 = 0; i1 < d; i1++) fit[i0 * d + i1] = c5[i0 * d + i1];
return fit[0];
},
};
return { tokens, x, noise, y, left, basis, right, inverse, eigenvalues, singular, sigma, Sigma, M, R, moment, fit, loaded() {}, call: (name) => run[name]() };
}
export const numbers = {};
