// Made by `make kernel` from book/mhabook/live/formulas.py.
const root = Math.sqrt;
const logaddexp = (a, b) =>
  a === b ? a + Math.LN2 : Math.max(a, b) + Math.log1p(Math.exp(-Math.abs(a - b)));
export function program([p, d]) {
const theta = new Float64Array((p * d + d * d));
const grad = new Float64Array((p * d + d * d));
const U = new Float64Array((p * d));
const P = new Float64Array((p * d));
const V = new Float64Array((d * d));
const W = new Float64Array((d * d));
const R = new Float64Array((d * d));
const inverse = new Float64Array((d * d));
const S = new Float64Array(d);
const lr = new Float64Array(1);
const k = new Float64Array(1);
const u = new Float64Array(1);
const v = new Float64Array(1);
const balance = new Float64Array(1);
const radius = new Float64Array(1);
const A = theta;
const B = theta;
const dA = grad;
const dB = grad;
const a2 = new Float64Array((p * d));
const a6 = new Float64Array((p * d));
const a8 = new Float64Array(1);
const a9 = new Float64Array((d * d));
const a11 = new Float64Array((d * d));
const a12 = new Float64Array((d * d));
const a13 = new Float64Array((d * d));
const a14 = new Float64Array((d * d));
const a15 = new Float64Array((p * d));
const a16 = new Float64Array((p * d));
const a17 = new Float64Array((p * d));
const a20 = new Float64Array((d * d));
const a21 = new Float64Array((d * d));
const a22 = new Float64Array((d * d));
const a23 = new Float64Array((d * d));
const a24 = new Float64Array((d * d));
const a25 = new Float64Array((d * d));
const b2 = new Float64Array((p * d));
const b5 = new Float64Array((d * d));
const b6 = new Float64Array((d * d));
const c2 = new Float64Array(1);
const c4 = new Float64Array((p * d));
const c6 = new Float64Array(1);
const c9 = new Float64Array((p * d));
const c11 = new Float64Array(1);
const c12 = new Float64Array((d * d));
const c14 = new Float64Array((d * d));
const c15 = new Float64Array((d * d));
const c16 = new Float64Array((d * d));
const c17 = new Float64Array((p * d));
const c20 = new Float64Array((d * d));
const c21 = new Float64Array((d * d));
const c22 = new Float64Array((d * d));
const e2 = new Float64Array(1);
const e4 = new Float64Array((p * d));
const e6 = new Float64Array((p * d));
const e9 = new Float64Array((d * d));
const e10 = new Float64Array((d * d));
const e11 = new Float64Array((d * d));
const f2 = new Float64Array(d);
const f3 = new Float64Array((p * d));
const f5 = new Float64Array((p * d));
const f8 = new Float64Array((d * d));
const f9 = new Float64Array((d * d));
const f10 = new Float64Array((d * d));
const run = {
preconditioned() {
for (let i0 = 0; i0 < p; i0++) for (let i2 = 0; i2 < d; i2++) { let sum = 0; for (let i1 = 0; i1 < d; i1++) sum += (A[0 + i0 * d + i1] * R[i1 * d + i2]); a2[i0 * d + i2] = sum; }
for (let i0 = 0; i0 < p; i0++) for (let i2 = 0; i2 < d; i2++) { let sum = 0; for (let i1 = 0; i1 < d; i1++) sum += (dA[0 + i0 * d + i1] * inverse[i1 * d + i2]); a6[i0 * d + i2] = sum; }
a8[0] = (balance[0] / 2.0);
for (let i0 = 0; i0 < d; i0++) for (let i2 = 0; i2 < d; i2++) { let sum = 0; for (let i1 = 0; i1 < p; i1++) sum += (a2[i1 * d + i0] * a2[i1 * d + i2]); a9[i0 * d + i2] = sum; }
for (let i0 = 0; i0 < d; i0++) for (let i2 = 0; i2 < d; i2++) { let sum = 0; for (let i1 = 0; i1 < d; i1++) sum += (R[i0 * d + i1] * B[p * d + i1 * d + i2]); a11[i0 * d + i2] = sum; }
for (let i0 = 0; i0 < d; i0++) for (let i2 = 0; i2 < d; i2++) { let sum = 0; for (let i1 = 0; i1 < d; i1++) sum += (a11[i0 * d + i1] * R[i1 * d + i2]); a12[i0 * d + i2] = sum; }
for (let i0 = 0; i0 < d; i0++) for (let i2 = 0; i2 < d; i2++) { let sum = 0; for (let i1 = 0; i1 < d; i1++) sum += (a12[i1 * d + i0] * a12[i1 * d + i2]); a13[i0 * d + i2] = sum; }
for (let i0 = 0; i0 < d; i0++) for (let i1 = 0; i1 < d; i1++) a14[i0 * d + i1] = (a8[0] * (a9[i0 * d + i1] - a13[i0 * d + i1]));
for (let i0 = 0; i0 < p; i0++) for (let i2 = 0; i2 < d; i2++) { let sum = 0; for (let i1 = 0; i1 < d; i1++) sum += (a2[i0 * d + i1] * a14[i1 * d + i2]); a15[i0 * d + i2] = sum; }
for (let i0 = 0; i0 < p; i0++) for (let i1 = 0; i1 < d; i1++) a16[i0 * d + i1] = (a2[i0 * d + i1] - (lr[0] * (a6[i0 * d + i1] + a15[i0 * d + i1])));
for (let i0 = 0; i0 < p; i0++) for (let i2 = 0; i2 < d; i2++) { let sum = 0; for (let i1 = 0; i1 < d; i1++) sum += (a16[i0 * d + i1] * inverse[i1 * d + i2]); a17[i0 * d + i2] = sum; }
for (let i0 = 0; i0 < p; i0++) for (let i1 = 0; i1 < d; i1++) A[0 + i0 * d + i1] = a17[i0 * d + i1];
for (let i0 = 0; i0 < d; i0++) for (let i2 = 0; i2 < d; i2++) { let sum = 0; for (let i1 = 0; i1 < d; i1++) sum += (inverse[i0 * d + i1] * dB[p * d + i1 * d + i2]); a20[i0 * d + i2] = sum; }
for (let i0 = 0; i0 < d; i0++) for (let i2 = 0; i2 < d; i2++) { let sum = 0; for (let i1 = 0; i1 < d; i1++) sum += (a20[i0 * d + i1] * inverse[i1 * d + i2]); a21[i0 * d + i2] = sum; }
for (let i0 = 0; i0 < d; i0++) for (let i2 = 0; i2 < d; i2++) { let sum = 0; for (let i1 = 0; i1 < d; i1++) sum += (a12[i0 * d + i1] * a14[i1 * d + i2]); a22[i0 * d + i2] = sum; }
for (let i0 = 0; i0 < d; i0++) for (let i1 = 0; i1 < d; i1++) a23[i0 * d + i1] = (a12[i0 * d + i1] - (lr[0] * (a21[i0 * d + i1] - a22[i0 * d + i1])));
for (let i0 = 0; i0 < d; i0++) for (let i2 = 0; i2 < d; i2++) { let sum = 0; for (let i1 = 0; i1 < d; i1++) sum += (inverse[i0 * d + i1] * a23[i1 * d + i2]); a24[i0 * d + i2] = sum; }
for (let i0 = 0; i0 < d; i0++) for (let i2 = 0; i2 < d; i2++) { let sum = 0; for (let i1 = 0; i1 < d; i1++) sum += (a24[i0 * d + i1] * inverse[i1 * d + i2]); a25[i0 * d + i2] = sum; }
for (let i0 = 0; i0 < d; i0++) for (let i1 = 0; i1 < d; i1++) B[p * d + i0 * d + i1] = a25[i0 * d + i1];
return A[0];
},
whiten() {
for (let i0 = 0; i0 < p; i0++) for (let i2 = 0; i2 < d; i2++) { let sum = 0; for (let i1 = 0; i1 < d; i1++) sum += (A[0 + i0 * d + i1] * R[i1 * d + i2]); b2[i0 * d + i2] = sum; }
for (let i0 = 0; i0 < p; i0++) for (let i1 = 0; i1 < d; i1++) U[i0 * d + i1] = b2[i0 * d + i1];
for (let i0 = 0; i0 < d; i0++) for (let i2 = 0; i2 < d; i2++) { let sum = 0; for (let i1 = 0; i1 < d; i1++) sum += (R[i0 * d + i1] * B[p * d + i1 * d + i2]); b5[i0 * d + i2] = sum; }
for (let i0 = 0; i0 < d; i0++) for (let i2 = 0; i2 < d; i2++) { let sum = 0; for (let i1 = 0; i1 < d; i1++) sum += (b5[i0 * d + i1] * R[i1 * d + i2]); b6[i0 * d + i2] = sum; }
for (let i0 = 0; i0 < d; i0++) for (let i1 = 0; i1 < d; i1++) V[i0 * d + i1] = b6[i0 * d + i1];
return U[0];
},
move() {
c2[0] = Math.sqrt((v[0] / u[0]));
for (let i0 = 0; i0 < p; i0++) for (let i1 = 0; i1 < d; i1++) c4[i0 * d + i1] = (c2[0] * U[i0 * d + i1]);
c6[0] = (lr[0] / (u[0] * v[0]));
for (let i0 = 0; i0 < p; i0++) for (let i2 = 0; i2 < d; i2++) { let sum = 0; for (let i1 = 0; i1 < d; i1++) sum += (dA[0 + i0 * d + i1] * inverse[i1 * d + i2]); c9[i0 * d + i2] = sum; }
c11[0] = (balance[0] / 2.0);
for (let i0 = 0; i0 < d; i0++) for (let i2 = 0; i2 < d; i2++) { let sum = 0; for (let i1 = 0; i1 < p; i1++) sum += (c4[i1 * d + i0] * c4[i1 * d + i2]); c12[i0 * d + i2] = sum; }
for (let i0 = 0; i0 < d; i0++) for (let i1 = 0; i1 < d; i1++) c14[i0 * d + i1] = (V[i0 * d + i1] / c2[0]);
for (let i0 = 0; i0 < d; i0++) for (let i2 = 0; i2 < d; i2++) { let sum = 0; for (let i1 = 0; i1 < d; i1++) sum += (c14[i1 * d + i0] * c14[i1 * d + i2]); c15[i0 * d + i2] = sum; }
for (let i0 = 0; i0 < d; i0++) for (let i1 = 0; i1 < d; i1++) c16[i0 * d + i1] = (c11[0] * (c12[i0 * d + i1] - c15[i0 * d + i1]));
for (let i0 = 0; i0 < p; i0++) for (let i2 = 0; i2 < d; i2++) { let sum = 0; for (let i1 = 0; i1 < d; i1++) sum += (c4[i0 * d + i1] * c16[i1 * d + i2]); c17[i0 * d + i2] = sum; }
for (let i0 = 0; i0 < p; i0++) for (let i1 = 0; i1 < d; i1++) U[i0 * d + i1] = (c4[i0 * d + i1] - (c6[0] * ((c9[i0 * d + i1] / c2[0]) + c17[i0 * d + i1])));
for (let i0 = 0; i0 < d; i0++) for (let i2 = 0; i2 < d; i2++) { let sum = 0; for (let i1 = 0; i1 < d; i1++) sum += (inverse[i0 * d + i1] * dB[p * d + i1 * d + i2]); c20[i0 * d + i2] = sum; }
for (let i0 = 0; i0 < d; i0++) for (let i2 = 0; i2 < d; i2++) { let sum = 0; for (let i1 = 0; i1 < d; i1++) sum += (c20[i0 * d + i1] * inverse[i1 * d + i2]); c21[i0 * d + i2] = sum; }
for (let i0 = 0; i0 < d; i0++) for (let i2 = 0; i2 < d; i2++) { let sum = 0; for (let i1 = 0; i1 < d; i1++) sum += (c14[i0 * d + i1] * c16[i1 * d + i2]); c22[i0 * d + i2] = sum; }
for (let i0 = 0; i0 < d; i0++) for (let i1 = 0; i1 < d; i1++) V[i0 * d + i1] = (c14[i0 * d + i1] - (c6[0] * ((c2[0] * c21[i0 * d + i1]) - c22[i0 * d + i1])));
return U[0];
},
renormalize() {
e2[0] = Math.max(1.0, (v[0] / radius[0]));
for (let i0 = 0; i0 < p; i0++) for (let i1 = 0; i1 < d; i1++) e4[i0 * d + i1] = (e2[0] * U[i0 * d + i1]);
for (let i0 = 0; i0 < p; i0++) for (let i2 = 0; i2 < d; i2++) { let sum = 0; for (let i1 = 0; i1 < d; i1++) sum += (e4[i0 * d + i1] * inverse[i1 * d + i2]); e6[i0 * d + i2] = sum; }
for (let i0 = 0; i0 < p; i0++) for (let i1 = 0; i1 < d; i1++) A[0 + i0 * d + i1] = e6[i0 * d + i1];
for (let i0 = 0; i0 < d; i0++) for (let i1 = 0; i1 < d; i1++) e9[i0 * d + i1] = (V[i0 * d + i1] / e2[0]);
for (let i0 = 0; i0 < d; i0++) for (let i2 = 0; i2 < d; i2++) { let sum = 0; for (let i1 = 0; i1 < d; i1++) sum += (inverse[i0 * d + i1] * e9[i1 * d + i2]); e10[i0 * d + i2] = sum; }
for (let i0 = 0; i0 < d; i0++) for (let i2 = 0; i2 < d; i2++) { let sum = 0; for (let i1 = 0; i1 < d; i1++) sum += (e10[i0 * d + i1] * inverse[i1 * d + i2]); e11[i0 * d + i2] = sum; }
for (let i0 = 0; i0 < d; i0++) for (let i1 = 0; i1 < d; i1++) B[p * d + i0 * d + i1] = e11[i0 * d + i1];
return A[0];
},
spectral() {
for (let i0 = 0; i0 < d; i0++) f2[i0] = Math.sqrt(S[i0]);
for (let i0 = 0; i0 < p; i0++) for (let i1 = 0; i1 < d; i1++) f3[i0 * d + i1] = (P[i0 * d + i1] * f2[i1]);
for (let i0 = 0; i0 < p; i0++) for (let i2 = 0; i2 < d; i2++) { let sum = 0; for (let i1 = 0; i1 < d; i1++) sum += (f3[i0 * d + i1] * inverse[i1 * d + i2]); f5[i0 * d + i2] = sum; }
for (let i0 = 0; i0 < p; i0++) for (let i1 = 0; i1 < d; i1++) A[0 + i0 * d + i1] = f5[i0 * d + i1];
for (let i0 = 0; i0 < d; i0++) for (let i1 = 0; i1 < d; i1++) f8[i0 * d + i1] = (W[i0 * d + i1] * f2[i1]);
for (let i0 = 0; i0 < d; i0++) for (let i2 = 0; i2 < d; i2++) { let sum = 0; for (let i1 = 0; i1 < d; i1++) sum += (inverse[i0 * d + i1] * f8[i1 * d + i2]); f9[i0 * d + i2] = sum; }
for (let i0 = 0; i0 < d; i0++) for (let i2 = 0; i2 < d; i2++) { let sum = 0; for (let i1 = 0; i1 < d; i1++) sum += (f9[i0 * d + i1] * inverse[i1 * d + i2]); f10[i0 * d + i2] = sum; }
for (let i0 = 0; i0 < d; i0++) for (let i1 = 0; i1 < d; i1++) B[p * d + i0 * d + i1] = f10[i0 * d + i1];
return A[0];
},
};
return { theta, grad, U, P, V, W, R, inverse, S, lr, k, u, v, balance, radius, loaded() {}, call: (name) => run[name]() };
}
export const numbers = {"lr": 0.5, "balance": 1.0, "radius": 0.5};
