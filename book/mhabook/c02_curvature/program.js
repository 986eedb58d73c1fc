// Made by `make kernel` from mhabook/c02_curvature/formulas.py.
const root = Math.sqrt;
const logaddexp = (a, b) =>
  a === b ? a + Math.LN2 : Math.max(a, b) + Math.log1p(Math.exp(-Math.abs(a - b)));
export function program([H, d, T, n]) {
const theta = new Float64Array(H * (d * d + T * d));
const X = new Float64Array((n * T * d));
const G = new Float64Array(1);
const rho = new Float64Array(1);
const kappa = new Float64Array(1);
const W = theta;
const U = theta;
const number0 = 1.0 * root(T);
const number1 = 1.0 * root(H);
const a1 = new Float64Array((n * T));
const a2 = new Float64Array(1);
const a3 = new Float64Array(1);
const a4 = new Float64Array(1);
const a6 = new Float64Array(1);
const a7 = new Float64Array(1);
const b1 = new Float64Array((n * T));
const b2 = new Float64Array(1);
const b3 = new Float64Array(1);
const b4 = new Float64Array(1);
const b6 = new Float64Array((H * T * d));
const b7 = new Float64Array(1);
const b8 = new Float64Array(1);
const b9 = new Float64Array(1);
const b10 = new Float64Array(H);
const b11 = new Float64Array(1);
const b12 = new Float64Array(1);
const c1 = new Float64Array((n * T));
const c2 = new Float64Array(1);
const c3 = new Float64Array(1);
const c5 = new Float64Array(H);
const c6 = new Float64Array(1);
const c7 = new Float64Array(1);
const run = {
gradient() {
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < T; i1++) { let sum = 0; for (let i2 = 0; i2 < d; i2++) sum += (X[i0 * (T * d) + i1 * d + i2] * X[i0 * (T * d) + i1 * d + i2]); a1[i0 * T + i1] = sum; }
{ let sum = -Infinity; for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < T; i1++) sum = Math.max(sum, a1[i0 * T + i1]); a2[0] = sum; }
a3[0] = Math.sqrt(a2[0]);
{ let sum = 0; for (let i0 = 0; i0 < H; i0++) for (let i1 = 0; i1 < d; i1++) for (let i2 = 0; i2 < d; i2++) sum += (0.0 * 0.0); a4[0] = sum; }
{ let sum = 0; for (let i0 = 0; i0 < H; i0++) for (let i1 = 0; i1 < T; i1++) for (let i2 = 0; i2 < d; i2++) sum += (U[d * d + i0 * (d * d + T * d) + i1 * d + i2] * U[d * d + i0 * (d * d + T * d) + i1 * d + i2]); a6[0] = sum; }
a7[0] = (Math.sqrt(((0.0 + a4[0]) + a6[0])) / number1);
G[0] = ((number0 * a3[0]) * Math.sqrt((1.0 + (Math.pow(a3[0], 4.0) * (a7[0] * a7[0])))));
return G[0];
},
smoothness() {
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < T; i1++) { let sum = 0; for (let i2 = 0; i2 < d; i2++) sum += (X[i0 * (T * d) + i1 * d + i2] * X[i0 * (T * d) + i1 * d + i2]); b1[i0 * T + i1] = sum; }
{ let sum = -Infinity; for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < T; i1++) sum = Math.max(sum, b1[i0 * T + i1]); b2[0] = sum; }
b3[0] = Math.sqrt(b2[0]);
{ let sum = 0; for (let i0 = 0; i0 < H; i0++) for (let i1 = 0; i1 < d; i1++) for (let i2 = 0; i2 < d; i2++) sum += (0.0 * 0.0); b4[0] = sum; }
for (let i0 = 0; i0 < H; i0++) for (let i1 = 0; i1 < T; i1++) for (let i2 = 0; i2 < d; i2++) b6[i0 * (T * d) + i1 * d + i2] = (U[d * d + i0 * (d * d + T * d) + i1 * d + i2] * U[d * d + i0 * (d * d + T * d) + i1 * d + i2]);
{ let sum = 0; for (let i0 = 0; i0 < H; i0++) for (let i1 = 0; i1 < T; i1++) for (let i2 = 0; i2 < d; i2++) sum += b6[i0 * (T * d) + i1 * d + i2]; b7[0] = sum; }
b8[0] = (Math.sqrt(((0.0 + b4[0]) + b7[0])) / number1);
b9[0] = ((number0 * b3[0]) * Math.sqrt((1.0 + (Math.pow(b3[0], 4.0) * (b8[0] * b8[0])))));
for (let i0 = 0; i0 < H; i0++) { let sum = 0; for (let i1 = 0; i1 < T; i1++) for (let i2 = 0; i2 < d; i2++) sum += b6[i0 * (T * d) + i1 * d + i2]; b10[i0] = sum; }
{ let sum = -Infinity; for (let i0 = 0; i0 < H; i0++) sum = Math.max(sum, Math.sqrt(b10[i0])); b11[0] = sum; }
b12[0] = ((b3[0] * b3[0]) * (1.0 * b11[0]));
rho[0] = (((b9[0] * b9[0]) / 4.0) + ((((number0 * Math.pow(b3[0], 3.0)) * (b12[0] + Math.sqrt(((b12[0] * b12[0]) + 4.0)))) / 2.0) / number1));
return rho[0];
},
curvature() {
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < T; i1++) { let sum = 0; for (let i2 = 0; i2 < d; i2++) sum += (X[i0 * (T * d) + i1 * d + i2] * X[i0 * (T * d) + i1 * d + i2]); c1[i0 * T + i1] = sum; }
{ let sum = -Infinity; for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < T; i1++) sum = Math.max(sum, c1[i0 * T + i1]); c2[0] = sum; }
c3[0] = Math.sqrt(c2[0]);
for (let i0 = 0; i0 < H; i0++) { let sum = 0; for (let i1 = 0; i1 < T; i1++) for (let i2 = 0; i2 < d; i2++) sum += (U[d * d + i0 * (d * d + T * d) + i1 * d + i2] * U[d * d + i0 * (d * d + T * d) + i1 * d + i2]); c5[i0] = sum; }
{ let sum = -Infinity; for (let i0 = 0; i0 < H; i0++) sum = Math.max(sum, Math.sqrt(c5[i0])); c6[0] = sum; }
c7[0] = ((c3[0] * c3[0]) * (1.0 * c6[0]));
kappa[0] = ((((number0 * Math.pow(c3[0], 3.0)) * (c7[0] + Math.sqrt(((c7[0] * c7[0]) + 4.0)))) / 2.0) / number1);
return kappa[0];
},
};
return { theta, X, G, rho, kappa, loaded() {}, call: (name) => run[name]() };
}
