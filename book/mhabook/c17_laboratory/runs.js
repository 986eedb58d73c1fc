import { constantsOf } from "mhabook/c02_curvature/constants.js";
import { decoder, headOn } from "mhabook/c03_first_step/decoder.js";
import { alignment } from "mhabook/c06_planted/alignment.js";
import { layerStart, valueConstants } from "mhabook/c13_layer/start.js";
import { AttentionLayer } from "mhabook/live/engine/layer.js";
import { norm } from "livegrad/live/engine/matrices.js";
import { measuring } from "livegrad/live/engine/models.js";
import { multihead } from "mhalib/live/engine/multihead.js";
import { defaultRng } from "livegrad/live/engine/numpy_random.js";
import { optimizers } from "livegrad/live/engine/optimizers.js";
import { regression, regressionStart } from "mhabook/live/engine/regression.js";
import { Run } from "livegrad/live/engine/run.js";
import { schedule } from "livegrad/live/engine/schedules.js";
import { normal, zeros } from "mhalib/live/engine/starts.js";
import { spectrumEnds } from "livegrad/live/engine/spectrum.js";
import { structured } from "mhabook/live/engine/structured.js";
import { eigen, spectralNorm } from "mhabook/live/engine/symmetric.js";
import { drawnDigits, drawnLinear, drawnMixture, drawnPlanted, drawnSequences, ownData } from "./data.js";
import { drawnPathfinder } from "./pathfinder.js";

// Starts, models and runs of the laboratory, put together from the values of its controls.

function drawnNormal({ seed }, model, values) {
  const { heads, T, d } = model;
  return normal({ stream: defaultRng([seed, 3]).normals(heads * (d * d + T * d)) }, model, values);
}

// W = 0, and every head with a decoder of chapter 3: "first", whose signs are a fair coin's, or "gaussian".
function drawnDecoders({ seed, start }, { heads, T, d, size }, values, data) {
  const coins = defaultRng([seed, 4]).random(heads),
    normals = defaultRng([seed, 3]).normals(heads * T * d);
  const theta = new Float64Array(size),
    head = d * d + T * d,
    one = headOn(data);
  coins.forEach((coin, h) => {
    const drawn = { stream: normals.slice(h * T * d, (h + 1) * T * d), sign: coin < 0.5 ? -1 : 1 };
    theta.set(decoder(one, start, drawn), h * head + d * d);
  });
  return theta;
}

// A (p, d) and B (d, d) from one stream; the rows of A beyond p are zero.
function drawnRegression({ seed, start }, model, { scale }, data) {
  const { d, p } = data,
    theta = new Float64Array(2 * d * d);
  if (start === "spectral") return regressionStart({}, model, { start }, data);
  const stream = defaultRng([seed, 3]).normals(p * d + d * d);
  stream.forEach((x, k) => (theta[k < p * d ? k : k + (d - p) * d] = scale * x));
  return theta;
}

const drawnLayer = ({ seed }, { size }, values, data) =>
  layerStart({ stream: defaultRng([seed, 4]).normals(size) }, values, data);

// Where gradient steps of the chosen rule and size begin to grow on a quadratic: 2/η, 2(1 + β)/η with momentum.
const EDGES = { gd: 2, momentum: 3.8 };
const edgeOf =
  ({ optimizer }) =>
  ({ lr }) =>
    EDGES[optimizer] && lr > 0 ? EDGES[optimizer] / lr : NaN;

// What the panels show of attention: its weights, and the names and places of the tokens.
const counted = (count) => ({
  tokens: () => Array.from({ length: count }, (_, t) => `${t}`),
  places: () => Array.from({ length: count }, (_, t) => t),
});

// The weights of the first tokens on each other, from a place on, where rows have n.
const rowsOf =
  (weights, at, n, seen = n) =>
  () =>
    Array.from({ length: seen }, (_, t) => Array.from(weights.subarray(at + t * n, at + t * n + seen)));

// To six digits, or 0 where no eigenvalue is positive: what a picture needs, at a fraction of the products.
function largestEigenvalue(multiply, size) {
  const heard = (v, out) => {
    globalThis.alive?.();
    multiply(v, out);
  };
  return Math.max(spectrumEnds(heard, size, [1], 1e-7)[1], 0);
}

const labHeads = measuring(multihead, {
  rate:
    () =>
    ({ lr }) =>
      lr,
  stability_edge: (model, data, values) => edgeOf(values),
  weights: (model, data, { sample, head }) => {
    const { n, T, heads } = model,
      at = (Math.min(sample, n - 1) * heads + Math.min(head, heads - 1)) * T * T;
    return (now) => rowsOf(model.at(now, "attention").A, at, T)();
  },
  tokens:
    ({ n, T, relevant }, data, { sample }) =>
    () =>
      Array.from({ length: T }, (_, t) => `${t}${relevant?.[Math.min(sample, n - 1) * T + t] ? "★" : ""}`),
  places: ({ T }) => counted(T).places,
  smoothness_bound: (model) => constantsOf(model)("smoothness"),
  planted_W: (model, { teacher }) => alignment(model, teacher)("W"),
  planted_U: (model, { teacher }) => alignment(model, teacher)("U"),
  sharpness: (model) => () => largestEigenvalue(model.hessian(), model.size),
});

// The regression with a rule that may know the data, and the weights of its first tokens.
function labRegression(data, values) {
  const model = regression(data),
    { d, n } = data,
    seen = Math.min(n, 16),
    own = structured[values.optimizer];
  const knows = own && values.optimizer !== "gd";
  if (knows) requireWhitening(data);
  model.step = knows ? own(values, model) : optimizers[values.optimizer](values, model.size);
  const rows = rowsOf(model.weights, 0, n, seen);
  const weights = ({ theta }) => {
    model.forward(theta); // a gradient leaves no weights
    return rows();
  };
  model.final = { weights, ...counted(seen) };
  Object.assign(model.curves, {
    rate: ({ lr }) => lr,
    stability_edge: edgeOf(values),
    norm_A: ({ theta }) => spectralNorm(theta.subarray(0, d * d), d, d),
    norm_B: ({ theta }) => spectralNorm(theta.subarray(d * d), d, d),
    sharpness: ({ theta }) => largestEigenvalue((V, out) => model.hvp(theta, V, out), model.size),
  });
  return model;
}

function requireWhitening({ n, d, arrays }) {
  const { values } = eigen(arrays.moment, d);
  if (values[d - 1] > 1e-12 * values[0]) return;
  throw new Error(
    `with ${n} tokens in ${d} dimensions their second moment has no inverse, so this rule cannot whiten ` +
      "them. Take more tokens, fewer dimensions, or another update rule.",
  );
}

function labLayer(data, values) {
  const layer = new AttentionLayer(data, values),
    { N, n, D } = data,
    { H, d } = values,
    one = H * D * d;
  const constants = (now) => (now.constants ??= valueConstants(layer, now.theta, data, values));
  const part =
    (k) =>
    ({ theta }) =>
      norm(theta.subarray(k * one, k < 3 ? (k + 1) * one : theta.length));
  layer.step = holding(optimizers[values.optimizer](values, layer.size), values, one, layer.size);
  layer.curves = {
    loss: ({ loss }) => loss,
    rate: ({ lr }) => lr,
    stability_edge: edgeOf(values),
    sharpness: ({ theta }) => largestEigenvalue((V, out) => layer.hvp(theta, V, out), layer.size),
    least_singular: (now) => constants(now).least,
    value_smoothness: (now) => constants(now).L,
    ...Object.fromEntries(["WQ", "WK", "WV", "WO"].map((name, k) => [`norm_${name}`, part(k)])),
  };
  const at = (Math.min(values.sample, N - 1) * H + Math.min(values.head, H - 1)) * n * n;
  layer.final = { weights: rowsOf(layer.weights, at, n), ...counted(n) };
  return layer;
}

// The same step with the weights that do not move put back: weight decay moves one whose gradient is zero, too.
function holding(step, { moves }, one, size) {
  const moving = moves.split(" "),
    held = ["WQ", "WK", "WV", "WO"].flatMap((name, k) =>
      moving.includes(name) ? [] : [[k * one, k < 3 ? (k + 1) * one : size]],
    );
  return (theta, grad, k) => {
    const kept = held.map(([from, to]) => theta.slice(from, to));
    step(theta, grad, k);
    held.forEach(([from], j) => theta.set(kept[j], from));
  };
}

// What a run of the laboratory is, in the terms of `run`: `carried` has the recorded steps for each number of steps,
// what is drawn of each kind of data, the images of digits and the reader's own arrays.
const FORMULAS = {
  datasets: {
    mixture: drawnMixture,
    planted: drawnPlanted,
    digits: drawnDigits,
    pathfinder: drawnPathfinder,
    linear: drawnLinear,
    sequences: drawnSequences,
    own: ownData,
  },
  starts: { zeros, decoders: drawnDecoders, heads: drawnNormal, regression: drawnRegression, layer: drawnLayer },
  models: { heads: labHeads, regression: labRegression, layer: labLayer },
};

const STARTS = { zeros: "zeros", first: "decoders", gaussian: "decoders" };

const DATA = {
  mixture: (v) => ({ n: v.n, T: v.T, d: v.d, M: v.M, relevant: v.relevant, S: v.S, sigma: v.sigma }),
  planted: (v) => ({ n: v.n, T: v.T, d: v.d, strength: v.strength, flip: v.flip }),
  digits: (v, { images }) => ({ images, classes: v.classes.split(" ").map(Number), n: v.n }),
  pathfinder: (v) => ({ n: v.n, patch: v.patch }),
  linear: (v) => ({ n: v.tokens, d: v.dimension, kappa: v.kappa, s_max: v.s_max, kappa_M: 4, sigma: v.noise }),
  sequences: (v) => ({ N: v.N, n: v.length, D: v.D }),
};

// A number, or a function of the step; a warm-up takes a tenth of the steps.
function stepSize({ schedule: name, lr: peak, steps }) {
  const rise = name === "warmup" ? Math.floor(steps / 10) : undefined;
  return name === "constant" ? peak : schedule(name, { peak, steps, rise });
}

function laboratorySpec(carried, values) {
  const { model, data, seed, steps } = values;
  if (data === "own" && carried.own?.kind !== model)
    throw new Error("your own file is not loaded. Choose it with the button “Open a file”, or choose other data.");
  const part = data === "own" ? { own: carried.own } : DATA[data](values, carried);
  const { curves } = carried.drawn[data === "own" ? `own_${model}` : data];
  const fresh = curves.includes("test_loss");
  const drawn = { kind: data, ...part, seed, stream: [seed, 1] };
  const starting = { kind: STARTS[values.start] ?? model, seed: values.start_seed, start: values.start };
  return {
    model,
    data: drawn,
    start: starting,
    record: carried.records[steps],
    test: fresh ? { ...drawn, stream: [seed, 2, 1], held: 80 } : null,
    fixed: {
      ...values,
      n: undefined,
      d: model === "layer" ? values.width : values.d,
      c: values.c,
      moves: values.moves,
      tied: values.keys === "queries",
      lr: stepSize(values),
    },
    curves: values.curvature ? curves : curves.filter((name) => name !== "sharpness"),
    final: ["weights", "tokens", "places"],
    watched: true, // the weights move with the curves
  };
}

// The run of the laboratory at the values of its controls.
export const laboratory = (carried, values) => new Run(FORMULAS, laboratorySpec(carried, values), {});
