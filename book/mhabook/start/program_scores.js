// Made by `make kernel` from mhabook/start/formulas_scores.py.
const root = Math.sqrt;
const logaddexp = (a, b) =>
  a === b ? a + Math.LN2 : Math.max(a, b) + Math.log1p(Math.exp(-Math.abs(a - b)));
export function program([q]) {
const s1 = new Float64Array(1);
const s2 = new Float64Array(1);
const s3 = new Float64Array(1);
const shift = new Float64Array(1);
const tau = new Float64Array(1);
const first = new Float64Array(q);
const loss = new Float64Array(1);
const weights = new Float64Array(3);
const jacobian = new Float64Array((3 * 3));
const mean = new Float64Array(1);
const tilt = new Float64Array(1);
const variance = new Float64Array(1);
const tangent = new Float64Array(2);
const tangent_mean = new Float64Array(2);
const over = new Float64Array(q);
const a2 = new Float64Array(1);
const a3 = new Float64Array(1);
const a5 = new Float64Array(1);
const a8 = new Float64Array(3);
const a9 = new Float64Array(1);
const a10 = new Float64Array(3);
const a11 = new Float64Array(1);
const a12 = new Float64Array(3);
const a15 = Float64Array.of(1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0);
const a16 = Float64Array.of(1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0);
const a17 = new Float64Array(3);
const a19 = Float64Array.of(2.0, 1.0, (-1.0));
const a20 = new Float64Array(1);
const a22 = Float64Array.of(2.0, 1.0, (-1.0));
const a23 = Float64Array.of(2.0, 1.0, (-1.0));
const a24 = new Float64Array(1);
const a25 = new Float64Array(1);
const a27 = Float64Array.of(2.0, 1.0, (-1.0));
const a28 = new Float64Array(3);
const a29 = new Float64Array(1);
const a31 = Float64Array.of((-1.0), 1.0);
const a32 = new Float64Array(1);
const a33 = new Float64Array(2);
const a37 = new Float64Array(q);
const a38 = new Float64Array(q);
const a39 = new Float64Array(q);
const a40 = new Float64Array((q * 3));
const a41 = new Float64Array(q);
const a42 = new Float64Array((q * 3));
const a43 = new Float64Array(q);
const a44 = Float64Array.of(2.0, 1.0, (-1.0));
const a45 = new Float64Array(q);
const run = {
scores() {
a2[0] = (0.0 * s1[0]);
a3[0] = (s2[0] + a2[0]);
a5[0] = (s3[0] + a2[0]);
for (let i0 = 0; i0 < 3; i0++) a8[i0] = ((((i0 < 1 - 0 ? s1[0] : 0) + (i0 >= 1 && i0 < 1 - -1 ? a3[0] : 0) + (i0 >= 2 ? a5[0] : 0)) + shift[0]) / tau[0]);
{ let sum = -Infinity; for (let i0 = 0; i0 < 3; i0++) sum = Math.max(sum, a8[i0]); a9[0] = sum; }
for (let i0 = 0; i0 < 3; i0++) a10[i0] = Math.exp((a8[i0] - a9[0]));
{ let sum = 0; for (let i0 = 0; i0 < 3; i0++) sum += a10[i0]; a11[0] = sum; }
for (let i0 = 0; i0 < 3; i0++) a12[i0] = (a10[i0] / a11[0]);
loss[0] = (-Math.log(a12[0]));
for (let i0 = 0; i0 < 3; i0++) weights[i0] = a12[i0];
for (let i0 = 0; i0 < 3; i0++) { let sum = 0; for (let i1 = 0; i1 < 3; i1++) sum += (a12[i1] * a16[i0 * 3 + i1]); a17[i0] = sum; }
for (let i0 = 0; i0 < 3; i0++) for (let i1 = 0; i1 < 3; i1++) jacobian[i0 * 3 + i1] = (a12[i1] * (a15[i0 * 3 + i1] - a17[i0]));
a20[0] = (a12[0] * a19[0]) + (a12[1] * a19[1]) + (a12[2] * a19[2]);
mean[0] = a20[0];
{ let sum = 0; for (let i0 = 0; i0 < 3; i0++) sum += (a12[i0] * a23[i0]); a24[0] = sum; }
a25[0] = ((a12[0] * (a22[0] - a24[0])) / tau[0]);
tilt[0] = a25[0];
for (let i0 = 0; i0 < 3; i0++) a28[i0] = (a27[i0] - a20[0]);
a29[0] = (a12[0] * (a28[0] * a28[0])) + (a12[1] * (a28[1] * a28[1])) + (a12[2] * (a28[2] * a28[2]));
variance[0] = a29[0];
a32[0] = Math.sqrt((1.0 + (a25[0] * a25[0])));
for (let i0 = 0; i0 < 2; i0++) a33[i0] = (a31[i0] / a32[0]);
for (let i0 = 0; i0 < 2; i0++) tangent[i0] = (s1[0] + a33[i0]);
for (let i0 = 0; i0 < 2; i0++) tangent_mean[i0] = (a20[0] + (a33[i0] * a25[0]));
for (let i0 = 0; i0 < q; i0++) a37[i0] = (0.0 * first[i0]);
for (let i0 = 0; i0 < q; i0++) a38[i0] = (s2[0] + a37[i0]);
for (let i0 = 0; i0 < q; i0++) a39[i0] = (s3[0] + a37[i0]);
for (let i0 = 0; i0 < q; i0++) for (let i1 = 0; i1 < 3; i1++) a40[i0 * 3 + i1] = ((((i1 < 1 - 0 ? first[i0] : 0) + (i1 >= 1 && i1 < 1 - -1 ? a38[i0] : 0) + (i1 >= 2 ? a39[i0] : 0)) + shift[0]) / tau[0]);
for (let i0 = 0; i0 < q; i0++) { let sum = -Infinity; for (let i1 = 0; i1 < 3; i1++) sum = Math.max(sum, a40[i0 * 3 + i1]); a41[i0] = sum; }
for (let i0 = 0; i0 < q; i0++) for (let i1 = 0; i1 < 3; i1++) a42[i0 * 3 + i1] = Math.exp((a40[i0 * 3 + i1] - a41[i0]));
for (let i0 = 0; i0 < q; i0++) { let sum = 0; for (let i1 = 0; i1 < 3; i1++) sum += a42[i0 * 3 + i1]; a43[i0] = sum; }
for (let i0 = 0; i0 < q; i0++) a45[i0] = ((a42[i0 * 3] / a43[i0]) * a44[0]) + ((a42[i0 * 3 + 1] / a43[i0]) * a44[1]) + ((a42[i0 * 3 + 2] / a43[i0]) * a44[2]);
for (let i0 = 0; i0 < q; i0++) over[i0] = a45[i0];
return loss[0];
},
};
return { s1, s2, s3, shift, tau, first, loss, weights, jacobian, mean, tilt, variance, tangent, tangent_mean, over, loaded() {}, call: (name) => run[name]() };
}
