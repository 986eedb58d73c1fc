// Made by `make kernel` from mhabook/c06_planted/formulas.py.
const root = Math.sqrt;
const logaddexp = (a, b) =>
  a === b ? a + Math.LN2 : Math.max(a, b) + Math.log1p(Math.exp(-Math.abs(a - b)));
export function program([H, d, T]) {
const theta = new Float64Array(H * (d * d + T * d));
const plantedW = new Float64Array((d * d));
const plantedU = new Float64Array((T * d));
const cosine = new Float64Array(1);
const W = theta;
const U = theta;
const a2 = new Float64Array((H * d * d));
const a3 = new Float64Array(1);
const a4 = new Float64Array(1);
const a5 = new Float64Array(1);
const a6 = new Float64Array(1);
const b2 = new Float64Array((H * T * d));
const b3 = new Float64Array(1);
const b4 = new Float64Array(1);
const b5 = new Float64Array(1);
const b6 = new Float64Array(1);
const run = {
W() {
for (let i2 = 0; i2 < H; i2++) for (let i0 = 0; i0 < d; i0++) for (let i1 = 0; i1 < d; i1++) a2[i2 * (d * d) + i0 * d + i1] = (plantedW[i0 * d + i1] + 0.0);
{ let sum = 0; for (let i0 = 0; i0 < H; i0++) for (let i1 = 0; i1 < d; i1++) for (let i2 = 0; i2 < d; i2++) sum += (W[0 + i0 * (d * d + T * d) + i1 * d + i2] * a2[i0 * (d * d) + i1 * d + i2]); a3[0] = sum; }
{ let sum = 0; for (let i0 = 0; i0 < H; i0++) for (let i1 = 0; i1 < d; i1++) for (let i2 = 0; i2 < d; i2++) sum += (W[0 + i0 * (d * d + T * d) + i1 * d + i2] * W[0 + i0 * (d * d + T * d) + i1 * d + i2]); a4[0] = sum; }
{ let sum = 0; for (let i0 = 0; i0 < H; i0++) for (let i1 = 0; i1 < d; i1++) for (let i2 = 0; i2 < d; i2++) sum += (a2[i0 * (d * d) + i1 * d + i2] * a2[i0 * (d * d) + i1 * d + i2]); a5[0] = sum; }
a6[0] = (Math.sqrt(a4[0]) * Math.sqrt(a5[0]));
cosine[0] = (a3[0] / ((1.0 - +(+(a6[0] === 0.0) === 0.0)) ? 1.0 : a6[0]));
return cosine[0];
},
U() {
for (let i2 = 0; i2 < H; i2++) for (let i0 = 0; i0 < T; i0++) for (let i1 = 0; i1 < d; i1++) b2[i2 * (T * d) + i0 * d + i1] = (plantedU[i0 * d + i1] + 0.0);
{ let sum = 0; for (let i0 = 0; i0 < H; i0++) for (let i1 = 0; i1 < T; i1++) for (let i2 = 0; i2 < d; i2++) sum += (U[d * d + i0 * (d * d + T * d) + i1 * d + i2] * b2[i0 * (T * d) + i1 * d + i2]); b3[0] = sum; }
{ let sum = 0; for (let i0 = 0; i0 < H; i0++) for (let i1 = 0; i1 < T; i1++) for (let i2 = 0; i2 < d; i2++) sum += (U[d * d + i0 * (d * d + T * d) + i1 * d + i2] * U[d * d + i0 * (d * d + T * d) + i1 * d + i2]); b4[0] = sum; }
{ let sum = 0; for (let i0 = 0; i0 < H; i0++) for (let i1 = 0; i1 < T; i1++) for (let i2 = 0; i2 < d; i2++) sum += (b2[i0 * (T * d) + i1 * d + i2] * b2[i0 * (T * d) + i1 * d + i2]); b5[0] = sum; }
b6[0] = (Math.sqrt(b4[0]) * Math.sqrt(b5[0]));
cosine[0] = (b3[0] / ((1.0 - +(+(b6[0] === 0.0) === 0.0)) ? 1.0 : b6[0]));
return cosine[0];
},
};
return { theta, plantedW, plantedU, cosine, loaded() {}, call: (name) => run[name]() };
}
