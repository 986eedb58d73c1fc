import { assembled, mixtureDraws } from "mhalib/live/engine/data.js";
import { dot, norm, productWithTransposed } from "livegrad/live/engine/matrices.js";
import { defaultRng } from "livegrad/live/engine/numpy_random.js";
import { instance, withTokens } from "mhabook/live/engine/regression.js";
import { times } from "mhabook/live/engine/symmetric.js";

// The data of the laboratory, from the values of its controls.

const flat = (count, draw) => Float64Array.from({ length: count }, (_, k) => draw(k));

// The orthonormal factor Q of A (r, k), row by row, with the signs that make the triangle's diagonal positive.
function orthonormal(A, r, k) {
  const Q = Float64Array.from(A),
    column = (q) => flat(r, (a) => Q[a * k + q]);
  for (let q = 0; q < k; q++) {
    const own = column(q);
    for (let again = 0; again < 2; again++)
      // what rounding left the first time
      for (let p = 0; p < q; p++) {
        const other = column(p),
          along = dot(own, other);
        for (let a = 0; a < r; a++) own[a] -= along * other[a];
      }
    const length = norm(own);
    for (let a = 0; a < r; a++) Q[a * k + q] = own[a] / length;
  }
  return Q;
}

// Each has the draws of the generator of that name in mhalib.data, for `stream` = [seed, 1], or [seed, 2, 1] of fresh
// samples, and `seed` of what both share.
export function drawnMixture({ n, T, d, M, relevant, S, sigma, seed, stream }) {
  const vectors = orthonormal(defaultRng([seed, 0]).normals(d * (M + 2)), d, M + 2);
  const of = (q) => Array.from({ length: d }, (_, a) => S * vectors[a * (M + 2) + q]);
  const patterns = { mu: [...of(0), ...of(1)], nu: Array.from({ length: M }, (_, j) => of(j + 2)).flat() };
  return assembled({ ...mixtureDraws({ n, T, d, M, stream }), ...patterns }, { zeta: relevant / T, sigma });
}

export function drawnPlanted({ n, T, d, strength, flip, seed, stream }) {
  const head = defaultRng([seed, 0]).normals(d * d + T * d),
    turned = defaultRng([...stream, 1]).random(n);
  const teacher = { W: head.slice(0, d * d).map((x) => strength * x), U: head.slice(d * d) };
  const X = Float64Array.from(defaultRng([...stream, 0]).normals(n * T * d));
  const logits = plantedLogits(X, teacher, n, T, d);
  const y = flat(n, (i) => (turned[i] < flip ? -1 : 1) * (logits[i] < 0 ? -1 : 1));
  return { n, T, d, X, y, relevant: null, teacher };
}

// ⟨U, softmax(X_i W X_iᵀ) X_i⟩.
function plantedLogits(X, { W, U }, n, T, d) {
  const XW = times(X, W, n * T, d, d),
    S = new Float64Array(T * T),
    P = new Float64Array(T * T);
  return flat(n, (i) => {
    productWithTransposed(XW, i * T * d, X, i * T * d, T, d, T, S, 0);
    productWithTransposed(U, 0, X, i * T * d, T, d, T, P, 0);
    let logit = 0;
    for (let t = 0; t < T; t++) {
      const row = S.subarray(t * T, (t + 1) * T),
        top = Math.max(...row);
      const weights = row.map((s) => Math.exp(s - top));
      logit += dot(weights, P.subarray(t * T, (t + 1) * T)) / weights.reduce((sum, w) => sum + w, 0);
    }
    return logit;
  });
}

// Images of two digits: `pixels` has 64 characters an image, from "A" for 0 on; `held` of those that do not train.
export function drawnDigits({ images: { pixels, labels }, classes, n, seed, held }) {
  const kept = Array.from(labels, Number).flatMap((label, at) => (classes.includes(label) ? [at] : []));
  const order = defaultRng([seed, 1]).permutation(kept.length),
    out = order.slice(n);
  const chosen = held
    ? defaultRng([1, 2])
        .permutation(out.length)
        .slice(0, held)
        .map((k) => out[k])
    : order.slice(0, n);
  const X = flat(chosen.length * 64, (k) => (pixels.charCodeAt(kept[chosen[k >> 6]] * 64 + (k & 63)) - 65) / 16);
  const y = Float64Array.from(chosen, (k) => (Number(labels[kept[k]]) === classes[1] ? 1 : -1));
  return { n: chosen.length, T: 8, d: 8, X, y, relevant: null };
}

export function drawnLinear({ n, d, kappa, s_max, kappa_M, sigma, seed }) {
  const drawn = defaultRng([seed, 0]),
    rotation = () => [...orthonormal(drawn.normals(d * d), d, d)];
  const rotations = { [d]: { basis: rotation(), left: rotation(), right: rotation() } };
  const [tokens, noise] = [0, 1].map((kind) => defaultRng([seed, 1, kind]).normals(n * d));
  return { ...instance({ tokens, noise, rotations }, { n, d, kappa, s_max, kappa_M, sigma }), p: d };
}

export const drawnSequences = ({ N, n, D, seed }) => ({
  N,
  n,
  D,
  m: 1,
  X: Float64Array.from(defaultRng([seed, 5, 0]).normals(N * n * D)),
  y: Float64Array.from(defaultRng([seed, 5, 1]).normals(N * n)),
});

// The reader's own arrays. Of a regression the targets are filled up with zeros to as many as there are dimensions,
// which changes neither the loss nor what is learned of the others.
export function ownData({ own }) {
  const X = Float64Array.from(own.X),
    y = Float64Array.from(own.y),
    [n, second, third] = own.shape;
  if (own.kind === "heads") return { n, T: second, d: third, X, y, relevant: null };
  if (own.kind === "layer") return { N: n, n: second, D: third, m: own.targets, X, y };
  const d = second,
    p = own.targets,
    padded = flat(n * d, (k) => (k % d < p ? y[Math.floor(k / d) * p + (k % d)] : 0));
  return { ...withTokens({ d, sigma: 0 }, X, padded, n), p };
}
