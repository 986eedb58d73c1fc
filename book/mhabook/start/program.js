// Made by `make kernel` from mhabook/start/formulas.py.
const root = Math.sqrt;
const logaddexp = (a, b) =>
  a === b ? a + Math.LN2 : Math.max(a, b) + Math.log1p(Math.exp(-Math.abs(a - b)));
export function program([n, T, d, H, P]) {
const X = new Float64Array((n * T * d));
const y = new Float64Array(n);
const theta = new Float64Array(H * (d * d + T * d));
const first = new Float64Array(n);
const features = new Float64Array(n * P);
const V = new Float64Array(P);
const others = new Float64Array(n);
const loss = new Float64Array(1);
const slope = new Float64Array(P);
const distance = new Float64Array(1);
const outputs = new Float64Array(n);
const W = theta;
const U = theta;
const dW = features;
const dU = features;
const number0 = 1.0 * root(H);
const number1 = 1.0 * n;
const a2 = new Float64Array((n * H * T * d));
const a3 = new Float64Array((n * H * T * T));
const a4 = new Float64Array((n * H * T));
const a5 = new Float64Array((n * H * T * T));
const a6 = new Float64Array((n * H * T));
const a7 = new Float64Array((n * H * T * T));
const a9 = new Float64Array((n * H * T * T));
const a10 = new Float64Array((n * H * T));
const a11 = new Float64Array(n);
const a13 = new Float64Array((n * H * T * T));
const a14 = new Float64Array((n * H * d * T));
const a15 = new Float64Array((n * H * d * d));
const a17 = new Float64Array((n * H * T * d));
const b4 = new Float64Array(n);
const b5 = new Float64Array(n);
const b6 = new Float64Array(n);
const b7 = new Float64Array(1);
const b9 = new Float64Array(n);
const b10 = new Float64Array(P);
const c4 = new Float64Array(n);
const c5 = new Float64Array(n);
const c6 = new Float64Array(n);
const c7 = new Float64Array(1);
const run = {
start() {
for (let i0 = 0; i0 < n; i0++) for (let i3 = 0; i3 < H; i3++) for (let i1 = 0; i1 < T; i1++) for (let i4 = 0; i4 < d; i4++) { let sum = 0; for (let i2 = 0; i2 < d; i2++) sum += (X[i0 * (T * d) + i1 * d + i2] * W[0 + i3 * (d * d + T * d) + i2 * d + i4]); a2[i0 * (H * T * d) + i3 * (T * d) + i1 * d + i4] = sum; }
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < T; i2++) for (let i4 = 0; i4 < T; i4++) { let sum = 0; for (let i3 = 0; i3 < d; i3++) sum += (a2[i0 * (H * T * d) + i1 * (T * d) + i2 * d + i3] * X[i0 * (T * d) + i4 * d + i3]); a3[i0 * (H * T * T) + i1 * (T * T) + i2 * T + i4] = sum; }
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < T; i2++) { let sum = -Infinity; for (let i3 = 0; i3 < T; i3++) sum = Math.max(sum, a3[i0 * (H * T * T) + i1 * (T * T) + i2 * T + i3]); a4[i0 * (H * T) + i1 * T + i2] = sum; }
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < T; i2++) for (let i3 = 0; i3 < T; i3++) a5[i0 * (H * T * T) + i1 * (T * T) + i2 * T + i3] = Math.exp((a3[i0 * (H * T * T) + i1 * (T * T) + i2 * T + i3] - a4[i0 * (H * T) + i1 * T + i2]));
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < T; i2++) { let sum = 0; for (let i3 = 0; i3 < T; i3++) sum += a5[i0 * (H * T * T) + i1 * (T * T) + i2 * T + i3]; a6[i0 * (H * T) + i1 * T + i2] = sum; }
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < T; i2++) for (let i3 = 0; i3 < T; i3++) a7[i0 * (H * T * T) + i1 * (T * T) + i2 * T + i3] = (a5[i0 * (H * T * T) + i1 * (T * T) + i2 * T + i3] / a6[i0 * (H * T) + i1 * T + i2]);
for (let i3 = 0; i3 < n; i3++) for (let i0 = 0; i0 < H; i0++) for (let i1 = 0; i1 < T; i1++) for (let i4 = 0; i4 < T; i4++) { let sum = 0; for (let i2 = 0; i2 < d; i2++) sum += (U[d * d + i0 * (d * d + T * d) + i1 * d + i2] * X[i3 * (T * d) + i4 * d + i2]); a9[i3 * (H * T * T) + i0 * (T * T) + i1 * T + i4] = sum; }
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < T; i2++) { let sum = 0; for (let i3 = 0; i3 < T; i3++) sum += (a7[i0 * (H * T * T) + i1 * (T * T) + i2 * T + i3] * a9[i0 * (H * T * T) + i1 * (T * T) + i2 * T + i3]); a10[i0 * (H * T) + i1 * T + i2] = sum; }
for (let i0 = 0; i0 < n; i0++) { let sum = 0; for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < T; i2++) sum += a10[i0 * (H * T) + i1 * T + i2]; a11[i0] = sum; }
for (let i0 = 0; i0 < n; i0++) first[i0] = (a11[i0] / number0);
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < T; i2++) for (let i3 = 0; i3 < T; i3++) a13[i0 * (H * T * T) + i1 * (T * T) + i2 * T + i3] = (a7[i0 * (H * T * T) + i1 * (T * T) + i2 * T + i3] * (a9[i0 * (H * T * T) + i1 * (T * T) + i2 * T + i3] - a10[i0 * (H * T) + i1 * T + i2]));
for (let i0 = 0; i0 < n; i0++) for (let i3 = 0; i3 < H; i3++) for (let i1 = 0; i1 < d; i1++) for (let i4 = 0; i4 < T; i4++) { let sum = 0; for (let i2 = 0; i2 < T; i2++) sum += (X[i0 * (T * d) + i2 * d + i1] * a13[i0 * (H * T * T) + i3 * (T * T) + i2 * T + i4]); a14[i0 * (H * d * T) + i3 * (d * T) + i1 * T + i4] = sum; }
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < d; i2++) for (let i4 = 0; i4 < d; i4++) { let sum = 0; for (let i3 = 0; i3 < T; i3++) sum += (a14[i0 * (H * d * T) + i1 * (d * T) + i2 * T + i3] * X[i0 * (T * d) + i3 * d + i4]); a15[i0 * (H * d * d) + i1 * (d * d) + i2 * d + i4] = sum; }
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < d; i2++) for (let i3 = 0; i3 < d; i3++) dW[0 + i0 * P + i1 * (d * d + T * d) + i2 * d + i3] = (a15[i0 * (H * d * d) + i1 * (d * d) + i2 * d + i3] / number0);
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < T; i2++) for (let i4 = 0; i4 < d; i4++) { let sum = 0; for (let i3 = 0; i3 < T; i3++) sum += (a7[i0 * (H * T * T) + i1 * (T * T) + i2 * T + i3] * X[i0 * (T * d) + i3 * d + i4]); a17[i0 * (H * T * d) + i1 * (T * d) + i2 * d + i4] = sum; }
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < H; i1++) for (let i2 = 0; i2 < T; i2++) for (let i3 = 0; i3 < d; i3++) dU[d * d + i0 * P + i1 * (d * d + T * d) + i2 * d + i3] = (a17[i0 * (H * T * d) + i1 * (T * d) + i2 * d + i3] / number0);
return first[0];
},
gradient() {
for (let i0 = 0; i0 < n; i0++) { let sum = 0; for (let i1 = 0; i1 < P; i1++) sum += (features[i0 * P + i1] * V[i1]); b4[i0] = sum; }
for (let i0 = 0; i0 < n; i0++) b5[i0] = (-(y[i0] * (first[i0] + b4[i0])));
for (let i0 = 0; i0 < n; i0++) b6[i0] = logaddexp(0.0, b5[i0]);
{ let sum = 0; for (let i0 = 0; i0 < n; i0++) sum += b6[i0]; b7[0] = sum; }
loss[0] = (b7[0] / number1);
for (let i0 = 0; i0 < n; i0++) b9[i0] = ((y[i0] * (-Math.exp((b5[i0] - b6[i0])))) / number1);
for (let i1 = 0; i1 < P; i1++) { let sum = 0; for (let i0 = 0; i0 < n; i0++) sum += (b9[i0] * features[i0 * P + i1]); b10[i1] = sum; }
for (let i0 = 0; i0 < P; i0++) slope[i0] = b10[i0];
return loss[0];
},
compare() {
for (let i0 = 0; i0 < n; i0++) { let sum = 0; for (let i1 = 0; i1 < P; i1++) sum += (features[i0 * P + i1] * V[i1]); c4[i0] = sum; }
for (let i0 = 0; i0 < n; i0++) c5[i0] = (first[i0] + c4[i0]);
for (let i0 = 0; i0 < n; i0++) c6[i0] = (others[i0] - c5[i0]);
{ let sum = 0; for (let i0 = 0; i0 < n; i0++) sum += (c6[i0] * c6[i0]); c7[0] = sum; }
distance[0] = Math.sqrt((c7[0] / number1));
for (let i0 = 0; i0 < n; i0++) outputs[i0] = c5[i0];
return distance[0];
},
};
return { X, y, theta, first, features, V, others, loss, slope, distance, outputs, loaded() {}, call: (name) => run[name]() };
}
