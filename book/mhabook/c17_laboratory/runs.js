// --- the laboratory: data, starts and models put together from the values of its controls ---------------------------

const flat = (count, draw) => Float64Array.from({ length: count }, (_, k) => draw(k));

// The orthonormal factor Q of A (r, k), row by row, with the signs that make the triangle's diagonal positive.
function orthonormal(A, r, k) {
  const Q = Float64Array.from(A), column = (q) => flat(r, (a) => Q[a * k + q]);
  for (let q = 0; q < k; q++) {
    const own = column(q);
    for (let again = 0; again < 2; again++) // what rounding left the first time
      for (let p = 0; p < q; p++) {
        const other = column(p), along = dot(own, other);
        for (let a = 0; a < r; a++) own[a] -= along * other[a];
      }
    const length = norm(own);
    for (let a = 0; a < r; a++) Q[a * k + q] = own[a] / length;
  }
  return Q;
}

// Each has the draws of the generator of that name in mhalib.data, for `stream` = [seed, 1], or [seed, 2, 1] of fresh
// samples, and `seed` of what both share.
datasets.drawn_mixture = ({ n, T, d, M, relevant, S, sigma, seed, stream }) => {
  const [sign, order, pattern, normal] = [0, 1, 2, 3].map((kind) => defaultRng([...stream, kind]));
  const vectors = orthonormal(defaultRng([seed, 0]).normals(d * (M + 2)), d, M + 2);
  const of = (q) => Array.from({ length: d }, (_, a) => S * vectors[a * (M + 2) + q]);
  const uniform = order.random(n * T);
  const rank = uniform.map((x, k) => {
    let below = 0;
    for (let j = k - (k % T), end = j + T; j < end; j++) if (uniform[j] < x) below++;
    return below;
  });
  const carried = {
    n, T, d, rank, sign: sign.random(n).map((x) => (x < 0.5 ? -1 : 1)), pattern: pattern.integers(n * T, M),
    normal: normal.normals(n * T * d), mu: [...of(0), ...of(1)], nu: Array.from({ length: M }, (_, j) => of(j + 2)).flat(),
  };
  return datasets.mixture(carried, { n, zeta: relevant / T, sigma });
};

datasets.drawn_planted = ({ n, T, d, strength, flip, seed, stream }) => {
  const head = defaultRng([seed, 0]).normals(d * d + T * d), turned = defaultRng([...stream, 1]).random(n);
  const teacher = { W: head.slice(0, d * d).map((x) => strength * x), U: head.slice(d * d) };
  const X = Float64Array.from(defaultRng([...stream, 0]).normals(n * T * d));
  const logits = plantedLogits(X, teacher, n, T, d);
  const y = flat(n, (i) => (turned[i] < flip ? -1 : 1) * (logits[i] < 0 ? -1 : 1));
  return { n, T, d, X, y, relevant: null, teacher };
};

// ⟨U, softmax(X_i W X_iᵀ) X_i⟩.
function plantedLogits(X, { W, U }, n, T, d) {
  const XW = times(X, W, n * T, d, d), S = new Float64Array(T * T), P = new Float64Array(T * T);
  return flat(n, (i) => {
    productWithTransposed(XW, i * T * d, X, i * T * d, T, d, T, S, 0);
    productWithTransposed(U, 0, X, i * T * d, T, d, T, P, 0);
    let logit = 0;
    for (let t = 0; t < T; t++) {
      const row = S.subarray(t * T, (t + 1) * T), top = Math.max(...row);
      const weights = row.map((s) => Math.exp(s - top));
      logit += dot(weights, P.subarray(t * T, (t + 1) * T)) / weights.reduce((sum, w) => sum + w, 0);
    }
    return logit;
  });
}

// Images of two digits: `pixels` has 64 characters an image, from "A" for 0 on; `held` of those that do not train.
datasets.drawn_digits = ({ images: { pixels, labels }, classes, n, seed, held }) => {
  const kept = Array.from(labels, Number).flatMap((label, at) => (classes.includes(label) ? [at] : []));
  const order = defaultRng([seed, 1]).permutation(kept.length), out = order.slice(n);
  const chosen = held ? defaultRng([1, 2]).permutation(out.length).slice(0, held).map((k) => out[k]) : order.slice(0, n);
  const X = flat(chosen.length * 64, (k) => (pixels.charCodeAt(kept[chosen[k >> 6]] * 64 + (k & 63)) - 65) / 16);
  const y = Float64Array.from(chosen, (k) => (Number(labels[kept[k]]) === classes[1] ? 1 : -1));
  return { n: chosen.length, T: 8, d: 8, X, y, relevant: null };
};

datasets.drawn_linear = ({ n, d, kappa, s_max, kappa_M, sigma, seed }) => {
  const drawn = defaultRng([seed, 0]), rotation = () => [...orthonormal(drawn.normals(d * d), d, d)];
  const rotations = { [d]: { basis: rotation(), left: rotation(), right: rotation() } };
  const [tokens, noise] = [0, 1].map((kind) => defaultRng([seed, 1, kind]).normals(n * d));
  return { ...instance({ tokens, noise, rotations }, { n, d, kappa, s_max, kappa_M, sigma }), p: d };
};

datasets.drawn_sequences = ({ N, n, D, seed }) => ({
  N, n, D, m: 1, X: Float64Array.from(defaultRng([seed, 5, 0]).normals(N * n * D)),
  y: Float64Array.from(defaultRng([seed, 5, 1]).normals(N * n)),
});

// The reader's own arrays. Of a regression the targets are filled up with zeros to as many as there are dimensions,
// which changes neither the loss nor what is learned of the others.
datasets.own = ({ own }) => {
  const X = Float64Array.from(own.X), y = Float64Array.from(own.y), [n, second, third] = own.shape;
  if (own.kind === "heads") return { n, T: second, d: third, X, y, relevant: null };
  if (own.kind === "layer") return { N: n, n: second, D: third, m: own.targets, X, y };
  const d = second, p = own.targets, padded = flat(n * d, (k) => (k % d < p ? y[Math.floor(k / d) * p + (k % d)] : 0));
  return { ...withTokens({ d, sigma: 0 }, X, padded, n), p };
};

starts.drawn_normal = ({ seed }, model, values) => {
  const { heads, T, d } = model;
  return starts.normal({ stream: defaultRng([seed, 3]).normals(heads * (d * d + T * d)) }, model, values);
};

// W = 0, and every head with a decoder of chapter 3: "first", whose signs are a fair coin's, or "gaussian".
starts.drawn_decoders = ({ seed, start }, { heads, T, d, size }, values, data) => {
  const coins = defaultRng([seed, 4]).random(heads), normals = defaultRng([seed, 3]).normals(heads * T * d);
  const theta = new Float64Array(size), head = d * d + T * d;
  coins.forEach((coin, h) => {
    const drawn = { stream: normals.slice(h * T * d, (h + 1) * T * d), sign: coin < 0.5 ? -1 : 1 };
    theta.set(decoder(data, start, drawn), h * head + d * d);
  });
  return theta;
};

// A (p, d) and B (d, d) from one stream; the rows of A beyond p are zero.
starts.drawn_regression = ({ seed, start }, model, { scale }, data) => {
  const { d, p } = data, theta = new Float64Array(2 * d * d);
  if (start === "spectral") return starts.regression({}, model, { start }, data);
  const stream = defaultRng([seed, 3]).normals(p * d + d * d);
  stream.forEach((x, k) => (theta[k < p * d ? k : k + (d - p) * d] = scale * x));
  return theta;
};

starts.drawn_layer = ({ seed }, { size }, values, data) =>
  layerStart({ stream: defaultRng([seed, 4]).normals(size) }, values, data);

// Where gradient steps of the chosen rule and size begin to grow on a quadratic: 2/η, 2(1 + β)/η with momentum.
const EDGES = { gd: 2, momentum: 3.8 };
const edgeOf = ({ optimizer }) => ({ lr }) => (EDGES[optimizer] && lr > 0 ? EDGES[optimizer] / lr : NaN);

measured.multihead = {
  ...(measured.multihead ?? {}),
  rate: () => ({ lr }) => lr,
  stability_edge: (inside, data, values) => edgeOf(values),
  weights: ({ n, T, heads, A }, data, { sample, head }) => () => {
    const at = (Math.min(sample, n - 1) * heads + Math.min(head, heads - 1)) * T * T;
    return Array.from({ length: T }, (_, t) => Array.from(A.subarray(at + t * T, at + (t + 1) * T)));
  },
  tokens: ({ n, T, relevant }, data, { sample }) => () => Array.from({ length: T }, (_, t) =>
    `${t}${relevant?.[Math.min(sample, n - 1) * T + t] ? "★" : ""}`),
  places: ({ T }) => () => Array.from({ length: T }, (_, t) => t),
  planted_W: (inside, data, values) => measured.multihead.align_W(inside, data, values, { data }),
  planted_U: (inside, data, values) => measured.multihead.align_U(inside, data, values, { data }),
  sharpness: () => (now) => largestEigenvalue(now.model.hvp, now.model.size),
};

// The regression with a rule that may know the data, and the weights of its first tokens.
models.drawn_regression = function (data, values) {
  const model = models.regression(data), { d, n, x } = data, seen = Math.min(n, 16);
  const rule = (structured[values.optimizer] && values.optimizer !== "gd" ? structured : optimizers)[values.optimizer];
  if (rule === structured[values.optimizer]) requireWhitening(data);
  const step = rule === structured[values.optimizer] ? rule(values, model) : rule(values, model.size);
  const lasts = {
    weights: ({ theta }) => {
      const scores = times(times(x, theta.subarray(d * d), n, d, d).subarray(0, seen * d), transposed(x, n, d), seen, d, n);
      return Array.from({ length: seen }, (_, i) => {
        const row = scores.slice(i * n, (i + 1) * n), [sum] = exponentials(row);
        return Array.from(row.subarray(0, seen), (w) => w / sum);
      });
    },
    tokens: () => Array.from({ length: seen }, (_, t) => `${t}`),
    places: () => Array.from({ length: seen }, (_, t) => t),
  };
  const product = regressionHvp(data);
  const curves = {
    ...model.curves, rate: ({ lr }) => lr, stability_edge: edgeOf(values),
    norm_A: ({ theta }) => spectralNorm(theta.subarray(0, d * d), d, d),
    norm_B: ({ theta }) => spectralNorm(theta.subarray(d * d), d, d),
    sharpness: ({ theta }) => largestEigenvalue(product(theta), model.size),
  };
  return { ...model, step, lasts, curves };
};

const transposed = (A, r, k) => flat(r * k, (at) => A[Math.floor(at / r) + k * (at % r)]);

function requireWhitening({ n, d, x }) {
  const { values } = eigen(transposedTimes(x, x, n, d, d), d);
  if (values[d - 1] > 1e-12 * values[0]) return;
  throw new Error(`with ${n} tokens in ${d} dimensions their second moment has no inverse, so this rule cannot whiten ` +
    "them. Take more tokens, fewer dimensions, or another update rule.");
}

models.drawn_layer = function (data, values) {
  const layer = attentionLayer(data, values), { N, n, D, m } = data, { H, d } = values, T = N * n, one = H * D * d;
  const product = layerHvp(data, values, layer), constants = (now) => (now.constants ??= valueConstants(layer, now.theta, data, values));
  const part = (k) => (theta) => norm(theta.subarray(k * one, k < 3 ? (k + 1) * one : theta.length));
  const curves = {
    loss: ({ loss }) => loss, rate: ({ lr }) => lr, stability_edge: edgeOf(values),
    sharpness: ({ theta }) => {
      layer.forward(theta);
      return largestEigenvalue(product(theta), layer.size);
    },
    least_singular: (now) => constants(now).least,
    value_smoothness: (now) => constants(now).L,
    ...Object.fromEntries(["WQ", "WK", "WV", "WO"].map((name, k) => [`norm_${name}`, ({ theta }) => part(k)(theta)])),
  };
  const lasts = {
    weights: () => {
      const h = Math.min(values.head, H - 1), at = (h * T + Math.min(values.sample, N - 1) * n) * n;
      return Array.from({ length: n }, (_, t) => Array.from(layer.weights.subarray(at + t * n, at + (t + 1) * n)));
    },
    tokens: () => Array.from({ length: n }, (_, t) => `${t}`),
    places: () => Array.from({ length: n }, (_, t) => t),
  };
  return { ...layer, m, step: holding(optimizers[values.optimizer](values, layer.size), values, one, layer.size), curves, lasts };
};

// The same step with the weights that do not move put back: weight decay moves one whose gradient is zero, too.
function holding(step, { moves }, one, size) {
  const moving = moves.split(" "), held = ["WQ", "WK", "WV", "WO"].flatMap((name, k) =>
    (moving.includes(name) ? [] : [[k * one, k < 3 ? (k + 1) * one : size]]));
  return (theta, grad, k) => {
    const kept = held.map(([from, to]) => theta.slice(from, to));
    step(theta, grad, k);
    held.forEach(([from], j) => theta.set(kept[j], from));
  };
}

// What a run of the laboratory is, in the terms of `run`: `carried` has the recorded steps for each number of steps,
// what is drawn of each kind of data, the images of digits and the reader's own arrays.
const MODELS = { heads: "multihead", regression: "drawn_regression", layer: "drawn_layer" };

const STARTS = { zeros: "zeros", first: "drawn_decoders", gaussian: "drawn_decoders" };

const DATA = {
  mixture: (v) => ({ n: v.n, T: v.T, d: v.d, M: v.M, relevant: v.relevant, S: v.S, sigma: v.sigma }),
  planted: (v) => ({ n: v.n, T: v.T, d: v.d, strength: v.strength, flip: v.flip }),
  digits: (v, { images }) => ({ images, classes: v.classes.split(" ").map(Number), n: v.n }),
  pathfinder: (v) => ({ n: v.n, patch: v.patch }),
  linear: (v) => ({ n: v.tokens, d: v.dimension, kappa: v.kappa, s_max: v.s_max, kappa_M: 4, sigma: v.noise }),
  sequences: (v) => ({ N: v.N, n: v.length, D: v.D }),
};

function laboratorySpec(carried, values) {
  const { model, data, seed, steps } = values;
  const kind = data === "own" ? "own" : `drawn_${data}`;
  if (data === "own" && carried.own?.kind !== model)
    throw new Error("your own file is not loaded. Choose it with the button “Open a file”, or choose other data.");
  const part = data === "own" ? { own: carried.own } : DATA[data](values, carried);
  const { curves } = carried.drawn[data === "own" ? `own_${model}` : data];
  const fresh = curves.includes("test_loss");
  const drawn = { kind, ...part, seed, stream: [seed, 1] };
  const starting = { kind: STARTS[values.start] ?? MODELS[model].replace("multihead", "drawn_normal"),
                     seed: values.start_seed, start: values.start };
  return {
    model: MODELS[model], data: drawn, start: starting, record: carried.records[steps],
    test: fresh ? { ...drawn, stream: [seed, 2, 1], held: 80 } : null,
    fixed: { ...values, n: undefined, d: model === "layer" ? values.width : values.d, c: values.c,
             moves: values.moves, tied: values.keys === "queries", lr: schedules[values.schedule](values.lr, steps) },
    curves: values.curvature ? curves : curves.filter((name) => name !== "sharpness"), lasts: ["weights", "tokens", "places"],
  };
}

const laboratory = (carried, values) => run(laboratorySpec(carried, values), {});
