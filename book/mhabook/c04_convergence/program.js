// Made by `make kernel` from mhabook/c04_convergence/formulas.py.
const root = Math.sqrt;
const logaddexp = (a, b) =>
  a === b ? a + Math.LN2 : Math.max(a, b) + Math.log1p(Math.exp(-Math.abs(a - b)));
export function program([n, T, d, M, D]) {
const X = new Float64Array((n * T * d));
const y = new Float64Array(n);
const minus = new Float64Array(d);
const plus = new Float64Array(d);
const nu = new Float64Array((M * d));
const grid = new Float64Array(D);
const H = new Float64Array(1);
const zeta = new Float64Array(1);
const S = new Float64Array(1);
const patterns = new Float64Array(1);
const steps = new Float64Array(1);
const lr = new Float64Array(1);
const k = new Float64Array(1);
const distance = new Float64Array(1);
const reference_loss = new Float64Array(1);
const start_loss = new Float64Array(1);
const margin = new Float64Array(1);
const limit = new Float64Array(1);
const largest_step = new Float64Array(1);
const heads_needed = new Float64Array(1);
const fewer_heads_needed = new Float64Array(1);
const heads_line = new Float64Array(D);
const fewer_line = new Float64Array(D);
const asked_at = new Float64Array(2);
const asked = new Float64Array(2);
const run_line = new Float64Array(D);
const first = new Float64Array(2 * (d * d + T * d));
const reference = new Float64Array(2 * (d * d + T * d));
const guarantee = new Float64Array(1);
const first_W = first;
const first_U = first;
const reference_W = reference;
const reference_U = reference;
const number0 = 1.4142135623731 * n;
const number1 = 1.0 * T;
const number2 = 0.70710678118655 * root(T);
const number3 = 1.0 * n;
const number4 = 1.0 * root(T);
const a1 = Float64Array.of(2.8284271247461903, (-2.8284271247461903));
const a3 = new Float64Array((n * 2 * T * d));
const a4 = new Float64Array((n * 2 * T * T));
const a5 = new Float64Array((n * 2 * T));
const a6 = new Float64Array((n * 2 * T * T));
const a7 = new Float64Array((n * 2 * T));
const a8 = new Float64Array((n * 2 * T * T));
const a9 = new Float64Array((n * 2 * T * T));
const a10 = new Float64Array((n * 2 * T));
const a11 = new Float64Array(n);
const a12 = new Float64Array(n);
const a13 = new Float64Array(n);
const a14 = new Float64Array((n * T * d));
const a15 = new Float64Array((n * 2 * T * T));
const a16 = new Float64Array((n * 2 * T * d));
const a17 = new Float64Array((2 * d * d));
const a18 = new Float64Array((2 * d * d));
const a19 = new Float64Array((n * 2 * T * d));
const a20 = new Float64Array((n * 2 * T * T));
const a21 = new Float64Array((n * 2 * T));
const a22 = new Float64Array((n * 2 * T * T));
const a23 = new Float64Array((n * 2 * T));
const a24 = new Float64Array((n * 2 * T * T));
const a26 = new Float64Array(1);
const a27 = new Float64Array(1);
const a28 = new Float64Array(1);
const a29 = new Float64Array(2);
const a30 = new Float64Array(2);
const a31 = Float64Array.of(2.8284271247461903, (-2.8284271247461903));
const a32 = new Float64Array((2 * T * d));
const a33 = new Float64Array((2 * T * d));
const a34 = new Float64Array((2 * T * d));
const a35 = new Float64Array((n * 2 * T * T));
const a36 = new Float64Array((n * 2 * T));
const a37 = new Float64Array(n);
const a38 = new Float64Array(n);
const a39 = new Float64Array(1);
const a41 = new Float64Array((n * 2 * T * T));
const a42 = new Float64Array((n * 2 * d * T));
const a43 = new Float64Array((n * 2 * d * d));
const a47 = new Float64Array(1);
const a48 = new Float64Array(1);
const a49 = new Float64Array(1);
const a50 = new Float64Array(1);
const a51 = Float64Array.of(1.0, (-1.0));
const a52 = new Float64Array(2);
const a55 = new Float64Array((2 * d));
const a56 = new Float64Array(d);
const a58 = new Float64Array(d);
const a59 = new Float64Array(d);
const a60 = new Float64Array((d * d));
const a61 = new Float64Array(1);
const a62 = new Float64Array(1);
const a63 = new Float64Array((d * d));
const a64 = new Float64Array((2 * d * d));
const a65 = new Float64Array(2);
const a66 = new Float64Array(1);
const a67 = new Float64Array(d);
const a68 = new Float64Array((T * d));
const a69 = new Float64Array(1);
const a70 = new Float64Array(1);
const a71 = new Float64Array((T * d));
const a72 = new Float64Array((2 * T * d));
const a73 = new Float64Array(2);
const a74 = new Float64Array(1);
const a75 = new Float64Array(1);
const a76 = new Float64Array((2 * d * d));
const a77 = new Float64Array(n);
const a78 = new Float64Array((n * 2 * T * d));
const a79 = new Float64Array((2 * T * d));
const a80 = new Float64Array((2 * T * d));
const a81 = new Float64Array(n);
const a82 = new Float64Array(1);
const a83 = new Float64Array(1);
const a84 = new Float64Array(1);
const a88 = new Float64Array((2 * d * d));
const a89 = new Float64Array((n * 2 * T * d));
const a90 = new Float64Array((n * 2 * T * T));
const a91 = new Float64Array((n * 2 * T));
const a92 = new Float64Array((n * 2 * T * T));
const a93 = new Float64Array((n * 2 * T));
const a94 = new Float64Array((2 * T * d));
const a95 = new Float64Array((2 * T * d));
const a96 = new Float64Array((n * 2 * T * T));
const a97 = new Float64Array((n * 2 * T));
const a98 = new Float64Array(n);
const a99 = new Float64Array(1);
const a100 = new Float64Array(1);
const a102 = new Float64Array(1);
const a103 = new Float64Array(1);
const a105 = new Float64Array((n * T));
const a106 = new Float64Array(1);
const a107 = new Float64Array(1);
const a108 = new Float64Array(2);
const a109 = new Float64Array(2);
const a110 = new Float64Array(1);
const a111 = new Float64Array(1);
const a112 = new Float64Array(1);
const a113 = new Float64Array(1);
const a114 = new Float64Array(1);
const a115 = new Float64Array(1);
const a116 = new Float64Array(1);
const a117 = new Float64Array(1);
const a118 = new Float64Array(1);
const a119 = new Float64Array(1);
const a120 = new Float64Array(1);
const a121 = new Float64Array(1);
const a122 = new Float64Array(1);
const a123 = new Float64Array(1);
const a124 = new Float64Array(1);
const a126 = new Float64Array(1);
const a127 = new Float64Array(1);
const a129 = new Float64Array(1);
const a130 = new Float64Array(1);
const a131 = new Float64Array(1);
const a132 = new Float64Array(1);
const a135 = new Float64Array(D);
const a136 = new Float64Array(D);
const a137 = new Float64Array(D);
const a139 = new Float64Array(D);
const run = {
theorem() {
for (let i0 = 0; i0 < n; i0++) for (let i3 = 0; i3 < 2; i3++) for (let i1 = 0; i1 < T; i1++) for (let i4 = 0; i4 < d; i4++) { let sum = 0; for (let i2 = 0; i2 < d; i2++) sum += (X[i0 * (T * d) + i1 * d + i2] * 0.0); a3[i0 * (2 * T * d) + i3 * (T * d) + i1 * d + i4] = sum; }
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < 2; i1++) for (let i2 = 0; i2 < T; i2++) for (let i4 = 0; i4 < T; i4++) { let sum = 0; for (let i3 = 0; i3 < d; i3++) sum += (a3[i0 * (2 * T * d) + i1 * (T * d) + i2 * d + i3] * X[i0 * (T * d) + i4 * d + i3]); a4[i0 * (2 * T * T) + i1 * (T * T) + i2 * T + i4] = sum; }
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < 2; i1++) for (let i2 = 0; i2 < T; i2++) { let sum = -Infinity; for (let i3 = 0; i3 < T; i3++) sum = Math.max(sum, a4[i0 * (2 * T * T) + i1 * (T * T) + i2 * T + i3]); a5[i0 * (2 * T) + i1 * T + i2] = sum; }
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < 2; i1++) for (let i2 = 0; i2 < T; i2++) for (let i3 = 0; i3 < T; i3++) a6[i0 * (2 * T * T) + i1 * (T * T) + i2 * T + i3] = Math.exp((a4[i0 * (2 * T * T) + i1 * (T * T) + i2 * T + i3] - a5[i0 * (2 * T) + i1 * T + i2]));
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < 2; i1++) for (let i2 = 0; i2 < T; i2++) { let sum = 0; for (let i3 = 0; i3 < T; i3++) sum += a6[i0 * (2 * T * T) + i1 * (T * T) + i2 * T + i3]; a7[i0 * (2 * T) + i1 * T + i2] = sum; }
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < 2; i1++) for (let i2 = 0; i2 < T; i2++) for (let i3 = 0; i3 < T; i3++) a8[i0 * (2 * T * T) + i1 * (T * T) + i2 * T + i3] = (a6[i0 * (2 * T * T) + i1 * (T * T) + i2 * T + i3] / a7[i0 * (2 * T) + i1 * T + i2]);
for (let i3 = 0; i3 < n; i3++) for (let i0 = 0; i0 < 2; i0++) for (let i1 = 0; i1 < T; i1++) for (let i4 = 0; i4 < T; i4++) { let sum = 0; for (let i2 = 0; i2 < d; i2++) sum += (0.0 * X[i3 * (T * d) + i4 * d + i2]); a9[i3 * (2 * T * T) + i0 * (T * T) + i1 * T + i4] = sum; }
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < 2; i1++) for (let i2 = 0; i2 < T; i2++) { let sum = 0; for (let i3 = 0; i3 < T; i3++) sum += (a8[i0 * (2 * T * T) + i1 * (T * T) + i2 * T + i3] * a9[i0 * (2 * T * T) + i1 * (T * T) + i2 * T + i3]); a10[i0 * (2 * T) + i1 * T + i2] = sum; }
for (let i0 = 0; i0 < n; i0++) { let sum = 0; for (let i1 = 0; i1 < 2; i1++) for (let i2 = 0; i2 < T; i2++) sum += a10[i0 * (2 * T) + i1 * T + i2]; a11[i0] = sum; }
for (let i0 = 0; i0 < n; i0++) a12[i0] = (-((y[i0] * a11[i0]) / 1.4142135623730951));
for (let i0 = 0; i0 < n; i0++) a13[i0] = ((y[i0] * (-Math.exp((a12[i0] - logaddexp(0.0, a12[i0]))))) / number0);
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < T; i1++) for (let i2 = 0; i2 < d; i2++) a14[i0 * (T * d) + i1 * d + i2] = (a13[i0] * X[i0 * (T * d) + i1 * d + i2]);
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < 2; i1++) for (let i2 = 0; i2 < T; i2++) for (let i3 = 0; i3 < T; i3++) a15[i0 * (2 * T * T) + i1 * (T * T) + i2 * T + i3] = (a8[i0 * (2 * T * T) + i1 * (T * T) + i2 * T + i3] * (a9[i0 * (2 * T * T) + i1 * (T * T) + i2 * T + i3] - a10[i0 * (2 * T) + i1 * T + i2]));
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < 2; i1++) for (let i2 = 0; i2 < T; i2++) for (let i4 = 0; i4 < d; i4++) { let sum = 0; for (let i3 = 0; i3 < T; i3++) sum += (a15[i0 * (2 * T * T) + i1 * (T * T) + i2 * T + i3] * X[i0 * (T * d) + i3 * d + i4]); a16[i0 * (2 * T * d) + i1 * (T * d) + i2 * d + i4] = sum; }
for (let i3 = 0; i3 < 2; i3++) for (let i2 = 0; i2 < d; i2++) for (let i4 = 0; i4 < d; i4++) { let sum = 0; for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < T; i1++) sum += (a14[i0 * (T * d) + i1 * d + i2] * a16[i0 * (2 * T * d) + i3 * (T * d) + i1 * d + i4]); a17[i3 * (d * d) + i2 * d + i4] = sum; }
for (let i0 = 0; i0 < 2; i0++) for (let i1 = 0; i1 < d; i1++) for (let i2 = 0; i2 < d; i2++) a18[i0 * (d * d) + i1 * d + i2] = (0.0 - (a1[i0] * a17[i0 * (d * d) + i1 * d + i2]));
for (let i0 = 0; i0 < n; i0++) for (let i3 = 0; i3 < 2; i3++) for (let i1 = 0; i1 < T; i1++) for (let i4 = 0; i4 < d; i4++) { let sum = 0; for (let i2 = 0; i2 < d; i2++) sum += (X[i0 * (T * d) + i1 * d + i2] * a18[i3 * (d * d) + i2 * d + i4]); a19[i0 * (2 * T * d) + i3 * (T * d) + i1 * d + i4] = sum; }
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < 2; i1++) for (let i2 = 0; i2 < T; i2++) for (let i4 = 0; i4 < T; i4++) { let sum = 0; for (let i3 = 0; i3 < d; i3++) sum += (a19[i0 * (2 * T * d) + i1 * (T * d) + i2 * d + i3] * X[i0 * (T * d) + i4 * d + i3]); a20[i0 * (2 * T * T) + i1 * (T * T) + i2 * T + i4] = sum; }
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < 2; i1++) for (let i2 = 0; i2 < T; i2++) { let sum = -Infinity; for (let i3 = 0; i3 < T; i3++) sum = Math.max(sum, a20[i0 * (2 * T * T) + i1 * (T * T) + i2 * T + i3]); a21[i0 * (2 * T) + i1 * T + i2] = sum; }
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < 2; i1++) for (let i2 = 0; i2 < T; i2++) for (let i3 = 0; i3 < T; i3++) a22[i0 * (2 * T * T) + i1 * (T * T) + i2 * T + i3] = Math.exp((a20[i0 * (2 * T * T) + i1 * (T * T) + i2 * T + i3] - a21[i0 * (2 * T) + i1 * T + i2]));
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < 2; i1++) for (let i2 = 0; i2 < T; i2++) { let sum = 0; for (let i3 = 0; i3 < T; i3++) sum += a22[i0 * (2 * T * T) + i1 * (T * T) + i2 * T + i3]; a23[i0 * (2 * T) + i1 * T + i2] = sum; }
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < 2; i1++) for (let i2 = 0; i2 < T; i2++) for (let i3 = 0; i3 < T; i3++) a24[i0 * (2 * T * T) + i1 * (T * T) + i2 * T + i3] = (a22[i0 * (2 * T * T) + i1 * (T * T) + i2 * T + i3] / a23[i0 * (2 * T) + i1 * T + i2]);
a26[0] = (H[0] / 2.0);
a27[0] = ((0.0 + a26[0]) + a26[0]);
a28[0] = Math.sqrt((2.0 / a27[0]));
for (let i0 = 0; i0 < 2; i0++) a29[i0] = ((i0 < 1 - 0 ? a26[0] : 0) + (i0 >= 1 ? a26[0] : 0));
for (let i0 = 0; i0 < 2; i0++) a30[i0] = (a28[0] * a29[i0]);
for (let i1 = 0; i1 < 2; i1++) for (let i2 = 0; i2 < T; i2++) for (let i4 = 0; i4 < d; i4++) { let sum = 0; for (let i0 = 0; i0 < n; i0++) for (let i3 = 0; i3 < T; i3++) sum += (a8[i0 * (2 * T * T) + i1 * (T * T) + i2 * T + i3] * a14[i0 * (T * d) + i3 * d + i4]); a32[i1 * (T * d) + i2 * d + i4] = sum; }
for (let i0 = 0; i0 < 2; i0++) for (let i1 = 0; i1 < T; i1++) for (let i2 = 0; i2 < d; i2++) a33[i0 * (T * d) + i1 * d + i2] = (0.0 - (a31[i0] * a32[i0 * (T * d) + i1 * d + i2]));
for (let i0 = 0; i0 < 2; i0++) for (let i1 = 0; i1 < T; i1++) for (let i2 = 0; i2 < d; i2++) a34[i0 * (T * d) + i1 * d + i2] = (a30[i0] * a33[i0 * (T * d) + i1 * d + i2]);
for (let i3 = 0; i3 < n; i3++) for (let i0 = 0; i0 < 2; i0++) for (let i1 = 0; i1 < T; i1++) for (let i4 = 0; i4 < T; i4++) { let sum = 0; for (let i2 = 0; i2 < d; i2++) sum += (a34[i0 * (T * d) + i1 * d + i2] * X[i3 * (T * d) + i4 * d + i2]); a35[i3 * (2 * T * T) + i0 * (T * T) + i1 * T + i4] = sum; }
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < 2; i1++) for (let i2 = 0; i2 < T; i2++) { let sum = 0; for (let i3 = 0; i3 < T; i3++) sum += (a24[i0 * (2 * T * T) + i1 * (T * T) + i2 * T + i3] * a35[i0 * (2 * T * T) + i1 * (T * T) + i2 * T + i3]); a36[i0 * (2 * T) + i1 * T + i2] = sum; }
for (let i0 = 0; i0 < n; i0++) { let sum = 0; for (let i1 = 0; i1 < 2; i1++) for (let i2 = 0; i2 < T; i2++) sum += a36[i0 * (2 * T) + i1 * T + i2]; a37[i0] = sum; }
for (let i0 = 0; i0 < n; i0++) a38[i0] = (a37[i0] / 1.4142135623730951);
{ let sum = -Infinity; for (let i0 = 0; i0 < n; i0++) sum = Math.max(sum, Math.abs(a38[i0])); a39[0] = sum; }
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < 2; i1++) for (let i2 = 0; i2 < T; i2++) for (let i3 = 0; i3 < T; i3++) a41[i0 * (2 * T * T) + i1 * (T * T) + i2 * T + i3] = (a24[i0 * (2 * T * T) + i1 * (T * T) + i2 * T + i3] * (a35[i0 * (2 * T * T) + i1 * (T * T) + i2 * T + i3] - a36[i0 * (2 * T) + i1 * T + i2]));
for (let i0 = 0; i0 < n; i0++) for (let i3 = 0; i3 < 2; i3++) for (let i1 = 0; i1 < d; i1++) for (let i4 = 0; i4 < T; i4++) { let sum = 0; for (let i2 = 0; i2 < T; i2++) sum += (X[i0 * (T * d) + i2 * d + i1] * a41[i0 * (2 * T * T) + i3 * (T * T) + i2 * T + i4]); a42[i0 * (2 * d * T) + i3 * (d * T) + i1 * T + i4] = sum; }
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < 2; i1++) for (let i2 = 0; i2 < d; i2++) for (let i4 = 0; i4 < d; i4++) { let sum = 0; for (let i3 = 0; i3 < T; i3++) sum += (a42[i0 * (2 * d * T) + i1 * (d * T) + i2 * T + i3] * X[i0 * (T * d) + i3 * d + i4]); a43[i0 * (2 * d * d) + i1 * (d * d) + i2 * d + i4] = sum; }
a47[0] = (((((zeta[0] * zeta[0]) * (1.0 - zeta[0])) * number1) * Math.pow(S[0], 4.0)) / (2.0 * Math.sqrt((2.0 * (patterns[0] + 2.0)))));
a48[0] = ((zeta[0] * S[0]) * number2);
a49[0] = ((1.0 / Math.sqrt(((a48[0] * a48[0]) + (a47[0] * a47[0])))) / 1.4142135623730951);
a50[0] = (a47[0] * a49[0]);
for (let i0 = 0; i0 < 2; i0++) a52[i0] = (a50[0] * a51[i0]);
for (let i0 = 0; i0 < 2; i0++) for (let i1 = 0; i1 < d; i1++) a55[i0 * d + i1] = ((i0 < 1 - 0 ? minus[i1] : 0) + (i0 >= 1 ? plus[i1] : 0));
for (let i1 = 0; i1 < d; i1++) { let sum = 0; for (let i0 = 0; i0 < 2; i0++) sum += a55[i0 * d + i1]; a56[i1] = sum; }
for (let i1 = 0; i1 < d; i1++) { let sum = 0; for (let i0 = 0; i0 < M; i0++) sum += nu[i0 * d + i1]; a58[i1] = sum; }
for (let i0 = 0; i0 < d; i0++) a59[i0] = (a56[i0] + a58[i0]);
for (let i0 = 0; i0 < d; i0++) for (let i1 = 0; i1 < d; i1++) a60[i0 * d + i1] = (a59[i0] * a56[i1]);
{ let sum = 0; for (let i0 = 0; i0 < d; i0++) for (let i1 = 0; i1 < d; i1++) sum += (a60[i0 * d + i1] * a60[i0 * d + i1]); a61[0] = sum; }
a62[0] = Math.sqrt(a61[0]);
for (let i0 = 0; i0 < d; i0++) for (let i1 = 0; i1 < d; i1++) a63[i0 * d + i1] = (a60[i0 * d + i1] / a62[0]);
for (let i0 = 0; i0 < 2; i0++) for (let i1 = 0; i1 < d; i1++) for (let i2 = 0; i2 < d; i2++) a64[i0 * (d * d) + i1 * d + i2] = (a52[i0] * a63[i1 * d + i2]);
for (let i0 = 0; i0 < 2; i0++) { let sum = 0; for (let i1 = 0; i1 < d; i1++) for (let i2 = 0; i2 < d; i2++) sum += (a64[i0 * (d * d) + i1 * d + i2] * a64[i0 * (d * d) + i1 * d + i2]); a65[i0] = sum; }
a66[0] = (a48[0] * a49[0]);
for (let i0 = 0; i0 < d; i0++) a67[i0] = (a55[d + i0] - a55[i0]);
for (let i0 = 0; i0 < T; i0++) for (let i1 = 0; i1 < d; i1++) a68[i0 * d + i1] = (1.0 * a67[i1]);
{ let sum = 0; for (let i0 = 0; i0 < T; i0++) for (let i1 = 0; i1 < d; i1++) sum += (a68[i0 * d + i1] * a68[i0 * d + i1]); a69[0] = sum; }
a70[0] = Math.sqrt(a69[0]);
for (let i0 = 0; i0 < T; i0++) for (let i1 = 0; i1 < d; i1++) a71[i0 * d + i1] = (a68[i0 * d + i1] / a70[0]);
for (let i0 = 0; i0 < 2; i0++) for (let i1 = 0; i1 < T; i1++) for (let i2 = 0; i2 < d; i2++) a72[i0 * (T * d) + i1 * d + i2] = (a66[0] * ((i0 < 1 - 0 ? a71[i1 * d + i2] : 0) + (i0 >= 1 ? a71[i1 * d + i2] : 0)));
for (let i0 = 0; i0 < 2; i0++) { let sum = 0; for (let i1 = 0; i1 < T; i1++) for (let i2 = 0; i2 < d; i2++) sum += (a72[i0 * (T * d) + i1 * d + i2] * a72[i0 * (T * d) + i1 * d + i2]); a73[i0] = sum; }
a74[0] = (((0.0 + a65[0]) + a73[0]) * a29[0]) + (((0.0 + a65[1]) + a73[1]) * a29[1]);
a75[0] = (1.0 / Math.sqrt(a74[0]));
for (let i0 = 0; i0 < 2; i0++) for (let i1 = 0; i1 < d; i1++) for (let i2 = 0; i2 < d; i2++) a76[i0 * (d * d) + i1 * d + i2] = (a75[0] * a64[i0 * (d * d) + i1 * d + i2]);
for (let i0 = 0; i0 < n; i0++) { let sum = 0; for (let i1 = 0; i1 < 2; i1++) for (let i2 = 0; i2 < d; i2++) for (let i3 = 0; i3 < d; i3++) sum += ((a43[i0 * (2 * d * d) + i1 * (d * d) + i2 * d + i3] / 1.4142135623730951) * a76[i1 * (d * d) + i2 * d + i3]); a77[i0] = sum; }
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < 2; i1++) for (let i2 = 0; i2 < T; i2++) for (let i4 = 0; i4 < d; i4++) { let sum = 0; for (let i3 = 0; i3 < T; i3++) sum += (a24[i0 * (2 * T * T) + i1 * (T * T) + i2 * T + i3] * X[i0 * (T * d) + i3 * d + i4]); a78[i0 * (2 * T * d) + i1 * (T * d) + i2 * d + i4] = sum; }
for (let i0 = 0; i0 < 2; i0++) for (let i1 = 0; i1 < T; i1++) for (let i2 = 0; i2 < d; i2++) a79[i0 * (T * d) + i1 * d + i2] = (a75[0] * a72[i0 * (T * d) + i1 * d + i2]);
for (let i0 = 0; i0 < 2; i0++) for (let i1 = 0; i1 < T; i1++) for (let i2 = 0; i2 < d; i2++) a80[i0 * (T * d) + i1 * d + i2] = (a30[i0] * a79[i0 * (T * d) + i1 * d + i2]);
for (let i0 = 0; i0 < n; i0++) { let sum = 0; for (let i1 = 0; i1 < 2; i1++) for (let i2 = 0; i2 < T; i2++) for (let i3 = 0; i3 < d; i3++) sum += ((a78[i0 * (2 * T * d) + i1 * (T * d) + i2 * d + i3] / 1.4142135623730951) * a80[i1 * (T * d) + i2 * d + i3]); a81[i0] = sum; }
{ let sum = -Infinity; for (let i0 = 0; i0 < n; i0++) sum = Math.max(sum, (-(y[i0] * (a77[i0] + a81[i0])))); a82[0] = sum; }
a83[0] = (-a82[0]);
a84[0] = (((a39[0] + 0.5) + Math.log(steps[0])) / a83[0]);
distance[0] = a84[0];
margin[0] = a83[0];
limit[0] = (3.0 * a84[0]);
for (let i0 = 0; i0 < 2; i0++) for (let i1 = 0; i1 < d; i1++) for (let i2 = 0; i2 < d; i2++) a88[i0 * (d * d) + i1 * d + i2] = (a18[i0 * (d * d) + i1 * d + i2] + (a84[0] * a76[i0 * (d * d) + i1 * d + i2]));
for (let i0 = 0; i0 < n; i0++) for (let i3 = 0; i3 < 2; i3++) for (let i1 = 0; i1 < T; i1++) for (let i4 = 0; i4 < d; i4++) { let sum = 0; for (let i2 = 0; i2 < d; i2++) sum += (X[i0 * (T * d) + i1 * d + i2] * a88[i3 * (d * d) + i2 * d + i4]); a89[i0 * (2 * T * d) + i3 * (T * d) + i1 * d + i4] = sum; }
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < 2; i1++) for (let i2 = 0; i2 < T; i2++) for (let i4 = 0; i4 < T; i4++) { let sum = 0; for (let i3 = 0; i3 < d; i3++) sum += (a89[i0 * (2 * T * d) + i1 * (T * d) + i2 * d + i3] * X[i0 * (T * d) + i4 * d + i3]); a90[i0 * (2 * T * T) + i1 * (T * T) + i2 * T + i4] = sum; }
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < 2; i1++) for (let i2 = 0; i2 < T; i2++) { let sum = -Infinity; for (let i3 = 0; i3 < T; i3++) sum = Math.max(sum, a90[i0 * (2 * T * T) + i1 * (T * T) + i2 * T + i3]); a91[i0 * (2 * T) + i1 * T + i2] = sum; }
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < 2; i1++) for (let i2 = 0; i2 < T; i2++) for (let i3 = 0; i3 < T; i3++) a92[i0 * (2 * T * T) + i1 * (T * T) + i2 * T + i3] = Math.exp((a90[i0 * (2 * T * T) + i1 * (T * T) + i2 * T + i3] - a91[i0 * (2 * T) + i1 * T + i2]));
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < 2; i1++) for (let i2 = 0; i2 < T; i2++) { let sum = 0; for (let i3 = 0; i3 < T; i3++) sum += a92[i0 * (2 * T * T) + i1 * (T * T) + i2 * T + i3]; a93[i0 * (2 * T) + i1 * T + i2] = sum; }
for (let i0 = 0; i0 < 2; i0++) for (let i1 = 0; i1 < T; i1++) for (let i2 = 0; i2 < d; i2++) a94[i0 * (T * d) + i1 * d + i2] = (a33[i0 * (T * d) + i1 * d + i2] + (a84[0] * a79[i0 * (T * d) + i1 * d + i2]));
for (let i0 = 0; i0 < 2; i0++) for (let i1 = 0; i1 < T; i1++) for (let i2 = 0; i2 < d; i2++) a95[i0 * (T * d) + i1 * d + i2] = (a30[i0] * a94[i0 * (T * d) + i1 * d + i2]);
for (let i3 = 0; i3 < n; i3++) for (let i0 = 0; i0 < 2; i0++) for (let i1 = 0; i1 < T; i1++) for (let i4 = 0; i4 < T; i4++) { let sum = 0; for (let i2 = 0; i2 < d; i2++) sum += (a95[i0 * (T * d) + i1 * d + i2] * X[i3 * (T * d) + i4 * d + i2]); a96[i3 * (2 * T * T) + i0 * (T * T) + i1 * T + i4] = sum; }
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < 2; i1++) for (let i2 = 0; i2 < T; i2++) { let sum = 0; for (let i3 = 0; i3 < T; i3++) sum += ((a92[i0 * (2 * T * T) + i1 * (T * T) + i2 * T + i3] / a93[i0 * (2 * T) + i1 * T + i2]) * a96[i0 * (2 * T * T) + i1 * (T * T) + i2 * T + i3]); a97[i0 * (2 * T) + i1 * T + i2] = sum; }
for (let i0 = 0; i0 < n; i0++) { let sum = 0; for (let i1 = 0; i1 < 2; i1++) for (let i2 = 0; i2 < T; i2++) sum += a97[i0 * (2 * T) + i1 * T + i2]; a98[i0] = sum; }
{ let sum = 0; for (let i0 = 0; i0 < n; i0++) sum += logaddexp(0.0, (-(y[i0] * (a98[i0] / 1.4142135623730951)))); a99[0] = sum; }
a100[0] = (a99[0] / number3);
reference_loss[0] = a100[0];
{ let sum = 0; for (let i0 = 0; i0 < n; i0++) sum += logaddexp(0.0, (-(y[i0] * a38[i0]))); a102[0] = sum; }
a103[0] = (a102[0] / number3);
start_loss[0] = a103[0];
for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < T; i1++) { let sum = 0; for (let i2 = 0; i2 < d; i2++) sum += (X[i0 * (T * d) + i1 * d + i2] * X[i0 * (T * d) + i1 * d + i2]); a105[i0 * T + i1] = sum; }
{ let sum = -Infinity; for (let i0 = 0; i0 < n; i0++) for (let i1 = 0; i1 < T; i1++) sum = Math.max(sum, a105[i0 * T + i1]); a106[0] = sum; }
a107[0] = Math.sqrt(a106[0]);
for (let i0 = 0; i0 < 2; i0++) { let sum = 0; for (let i1 = 0; i1 < d; i1++) for (let i2 = 0; i2 < d; i2++) sum += (0.0 * 0.0); a108[i0] = sum; }
for (let i0 = 0; i0 < 2; i0++) { let sum = 0; for (let i1 = 0; i1 < T; i1++) for (let i2 = 0; i2 < d; i2++) sum += (a33[i0 * (T * d) + i1 * d + i2] * a33[i0 * (T * d) + i1 * d + i2]); a109[i0] = sum; }
a110[0] = (((0.0 + a108[0]) + a109[0]) * a29[0]) + (((0.0 + a108[1]) + a109[1]) * a29[1]);
a111[0] = Math.sqrt(a27[0]);
a112[0] = (5.0 * a84[0]);
a113[0] = ((Math.sqrt(a110[0]) / a111[0]) + (a112[0] / a111[0]));
a114[0] = ((number4 * a107[0]) * Math.sqrt((1.0 + (Math.pow(a107[0], 4.0) * (a113[0] * a113[0])))));
a115[0] = (number4 * Math.pow(a107[0], 3.0));
a116[0] = (a107[0] * a107[0]);
{ let sum = -Infinity; for (let i0 = 0; i0 < 2; i0++) sum = Math.max(sum, Math.sqrt(a109[i0])); a117[0] = sum; }
a118[0] = (a116[0] * (a117[0] + a112[0]));
a119[0] = ((a115[0] * (a118[0] + Math.sqrt(((a118[0] * a118[0]) + 4.0)))) / 2.0);
a120[0] = (1.0 / (((a114[0] * a114[0]) / 4.0) + (a119[0] / a111[0])));
a121[0] = (a84[0] * a84[0]);
a122[0] = (a121[0] / (steps[0] * a100[0]));
a123[0] = (a121[0] / a103[0]);
{ let sum = -Infinity; for (let i0 = 0; i0 < 3; i0++) sum = Math.max(sum, (-((i0 < 1 - 0 ? a120[0] : 0) + (i0 >= 1 && i0 < 1 - -1 ? a122[0] : 0) + (i0 >= 2 ? a123[0] : 0)))); a124[0] = sum; }
largest_step[0] = (-a124[0]);
a126[0] = ((a121[0] * a119[0]) / 0.109375);
a127[0] = (a126[0] * a126[0]);
heads_needed[0] = a127[0];
a129[0] = (a116[0] * (a117[0] + (0.5 / a116[0])));
a130[0] = ((a115[0] * (a129[0] + Math.sqrt(((a129[0] * a129[0]) + 4.0)))) / 2.0);
a131[0] = ((a121[0] * a130[0]) / 0.109375);
a132[0] = (a131[0] * a131[0]);
fewer_heads_needed[0] = a132[0];
for (let i0 = 0; i0 < D; i0++) a135[i0] = (grid[i0] * grid[i0]);
for (let i0 = 0; i0 < D; i0++) a136[i0] = (a116[0] * (a117[0] + (5.0 * grid[i0])));
for (let i0 = 0; i0 < D; i0++) a137[i0] = ((a135[i0] * ((a115[0] * (a136[i0] + Math.sqrt(((a136[i0] * a136[i0]) + 4.0)))) / 2.0)) / 0.109375);
for (let i0 = 0; i0 < D; i0++) heads_line[i0] = (a137[i0] * a137[i0]);
for (let i0 = 0; i0 < D; i0++) a139[i0] = ((a135[i0] * a130[0]) / 0.109375);
for (let i0 = 0; i0 < D; i0++) fewer_line[i0] = (a139[i0] * a139[i0]);
for (let i0 = 0; i0 < 2; i0++) asked_at[i0] = ((i0 < 1 - 0 ? a84[0] : 0) + (i0 >= 1 ? a84[0] : 0));
for (let i0 = 0; i0 < 2; i0++) asked[i0] = ((i0 < 1 - 0 ? a127[0] : 0) + (i0 >= 1 ? a132[0] : 0));
for (let i0 = 0; i0 < D; i0++) run_line[i0] = (a27[0] + (0.0 * grid[i0]));
for (let i0 = 0; i0 < 2; i0++) for (let i1 = 0; i1 < d; i1++) for (let i2 = 0; i2 < d; i2++) first_W[0 + i0 * (d * d + T * d) + i1 * d + i2] = a18[i0 * (d * d) + i1 * d + i2];
for (let i0 = 0; i0 < 2; i0++) for (let i1 = 0; i1 < T; i1++) for (let i2 = 0; i2 < d; i2++) first_U[d * d + i0 * (d * d + T * d) + i1 * d + i2] = a33[i0 * (T * d) + i1 * d + i2];
for (let i0 = 0; i0 < 2; i0++) for (let i1 = 0; i1 < d; i1++) for (let i2 = 0; i2 < d; i2++) reference_W[0 + i0 * (d * d + T * d) + i1 * d + i2] = a88[i0 * (d * d) + i1 * d + i2];
for (let i0 = 0; i0 < 2; i0++) for (let i1 = 0; i1 < T; i1++) for (let i2 = 0; i2 < d; i2++) reference_U[d * d + i0 * (d * d + T * d) + i1 * d + i2] = a94[i0 * (T * d) + i1 * d + i2];
return distance[0];
},
promise() {
guarantee[0] = ((((2.0 * (distance[0] * distance[0])) / ((3.0 * lr[0]) * k[0])) + ((5.0 * reference_loss[0]) / 3.0)) + (start_loss[0] / (3.0 * k[0])));
return guarantee[0];
},
};
return { X, y, minus, plus, nu, grid, H, zeta, S, patterns, steps, lr, k, distance, reference_loss, start_loss, margin, limit, largest_step, heads_needed, fewer_heads_needed, heads_line, fewer_line, asked_at, asked, run_line, first, reference, guarantee, loaded() {}, call: (name) => run[name]() };
}
