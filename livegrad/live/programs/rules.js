// Made by `make kernel` from livegrad/live/rule_formulas.py.
const root = Math.sqrt;
const logaddexp = (a, b) =>
  a === b ? a + Math.LN2 : Math.max(a, b) + Math.log1p(Math.exp(-Math.abs(a - b)));
export function program([P]) {
const theta = new Float64Array(P);
const grad = new Float64Array(P);
const m = new Float64Array(P);
const v = new Float64Array(P);
const lr = new Float64Array(1);
const k = new Float64Array(1);
const beta = new Float64Array(1);
const beta1 = new Float64Array(1);
const beta2 = new Float64Array(1);
const eps = new Float64Array(1);
const weight_decay = new Float64Array(1);
const b5 = new Float64Array(P);
const c4 = new Float64Array(1);
const c6 = new Float64Array(P);
const c8 = new Float64Array(1);
const c9 = new Float64Array(1);
const c12 = new Float64Array(1);
const c13 = new Float64Array(P);
const c14 = new Float64Array(1);
const e3 = new Float64Array(1);
const e6 = new Float64Array(1);
const e8 = new Float64Array(P);
const e10 = new Float64Array(1);
const e11 = new Float64Array(1);
const e14 = new Float64Array(1);
const e15 = new Float64Array(P);
const e16 = new Float64Array(1);
const run = {
gd() {
for (let i0 = 0; i0 < P; i0++) theta[i0] = (theta[i0] - (lr[0] * grad[i0]));
for (let i0 = 0; i0 < P; i0++) m[i0] = m[i0];
return theta[0];
},
momentum() {
for (let i0 = 0; i0 < P; i0++) b5[i0] = ((beta[0] * m[i0]) + grad[i0]);
for (let i0 = 0; i0 < P; i0++) theta[i0] = (theta[i0] - (lr[0] * b5[i0]));
for (let i0 = 0; i0 < P; i0++) m[i0] = b5[i0];
return theta[0];
},
adam() {
c4[0] = (1.0 - beta1[0]);
for (let i0 = 0; i0 < P; i0++) c6[i0] = ((beta1[0] * m[i0]) + (c4[0] * grad[i0]));
c8[0] = (k[0] + 1.0);
c9[0] = (1.0 - Math.pow(beta1[0], c8[0]));
c12[0] = (1.0 - beta2[0]);
for (let i0 = 0; i0 < P; i0++) c13[i0] = ((beta2[0] * v[i0]) + ((c12[0] * grad[i0]) * grad[i0]));
c14[0] = (1.0 - Math.pow(beta2[0], c8[0]));
for (let i0 = 0; i0 < P; i0++) theta[i0] = (theta[i0] - (lr[0] * ((c6[i0] / c9[0]) / (Math.sqrt((c13[i0] / c14[0])) + eps[0]))));
for (let i0 = 0; i0 < P; i0++) m[i0] = c6[i0];
for (let i0 = 0; i0 < P; i0++) v[i0] = c13[i0];
return theta[0];
},
adamw() {
e3[0] = (lr[0] * weight_decay[0]);
e6[0] = (1.0 - beta1[0]);
for (let i0 = 0; i0 < P; i0++) e8[i0] = ((beta1[0] * m[i0]) + (e6[0] * grad[i0]));
e10[0] = (k[0] + 1.0);
e11[0] = (1.0 - Math.pow(beta1[0], e10[0]));
e14[0] = (1.0 - beta2[0]);
for (let i0 = 0; i0 < P; i0++) e15[i0] = ((beta2[0] * v[i0]) + ((e14[0] * grad[i0]) * grad[i0]));
e16[0] = (1.0 - Math.pow(beta2[0], e10[0]));
for (let i0 = 0; i0 < P; i0++) theta[i0] = ((theta[i0] - (e3[0] * theta[i0])) - (lr[0] * ((e8[i0] / e11[0]) / (Math.sqrt((e15[i0] / e16[0])) + eps[0]))));
for (let i0 = 0; i0 < P; i0++) m[i0] = e8[i0];
for (let i0 = 0; i0 < P; i0++) v[i0] = e15[i0];
return theta[0];
},
};
return { theta, grad, m, v, lr, k, beta, beta1, beta2, eps, weight_decay, loaded() {}, call: (name) => run[name]() };
}
export const numbers = {"beta": 0.9, "beta1": 0.9, "beta2": 0.999, "eps": 1e-08, "weight_decay": 0.01};
