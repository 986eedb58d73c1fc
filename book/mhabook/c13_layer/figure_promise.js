import { AttentionLayer } from "mhabook/live/engine/layer.js";
import { dot, norm } from "livegrad/live/engine/matrices.js";
import { liveFigure } from "livegrad/live/figure.js";
import { valueConstants } from "./start.js";

// A relative loss below is rounding in part, and drawn as this.
const SMALLEST = 1e-9;

// The first D of all coordinates of the tokens; a token has one target.
const coordinates = ({ tokens, targets, N, n, all }, { D }) => ({
  N,
  n,
  D,
  m: 1,
  X: Float64Array.from({ length: N * n * D }, (_, k) => tokens[Math.floor(k / D) * all + (k % D)]),
  y: Float64Array.from(targets),
});

// The first D rows of a matrix with d columns, larger by the root of what is left out.
const rows = (W, { all }, { D, d }, scale) => W.slice(0, D * d).map((w) => scale * Math.sqrt(all / D) * w);

const valuesOf = (start, _, values) => Float64Array.from(rows(start.WV, start, values, 1));

const layerOf = (start, values) =>
  Float64Array.from([
    ...rows(start.WQ, start, values, values.scale),
    ...rows(values.tied ? start.WQ : start.WK, start, values, values.scale),
    ...rows(start.WV, start, values, 1),
    ...start.WO,
  ]);

// The part of y that no combination of the columns of B (T, D) reaches, D ≤ T.
function beyond(B, y, T, D) {
  const basis = [],
    rest = y.slice();
  const subtract = (direction, from) => {
    const share = dot(direction, from);
    for (let k = 0; k < T; k++) from[k] -= share * direction[k];
  };
  for (let j = 0; j < D; j++) {
    const column = Float64Array.from({ length: T }, (_, k) => B[k * D + j]);
    for (const direction of [...basis, ...basis]) subtract(direction, column); // twice, which is exact to rounding
    const length = norm(column);
    basis.push(column.map((x) => x / length));
  }
  for (const direction of [...basis, ...basis]) subtract(direction, rest);
  return rest;
}

// With queries, keys and outputs w = W^O held, the output is B V w. θ is V (D, d); the loss is ‖B V w − y‖²/2N.
class Values {
  constructor({ N, n, D, y }, B, w) {
    Object.assign(this, { N, D, y, B, w, T: N * n, size: D * w.length });
  }

  residuals(V) {
    const { B, D, y, w } = this,
      d = w.length;
    const mixed = Float64Array.from({ length: D }, (_, j) => dot(w, V.subarray(j * d, (j + 1) * d)));
    return y.map((target, k) => dot(mixed, B.subarray(k * D, (k + 1) * D)) - target);
  }

  lossOf(R) {
    return dot(R, R) / (2 * this.N);
  }

  forward(V) {
    return this.lossOf(this.residuals(V));
  }

  lossAndGrad(V, grad) {
    const { B, D, N, T, w } = this,
      R = this.residuals(V),
      d = w.length;
    for (let j = 0; j < D; j++) {
      let slope = 0;
      for (let k = 0; k < T; k++) slope += B[k * D + j] * R[k];
      for (let a = 0; a < d; a++) grad[j * d + a] = (slope * w[a]) / N;
    }
    return this.lossOf(R);
  }
}

// In training, beside what is known before the first step: the guarantee (1 − ηα)^{2t}, η = share/L, and the least loss.
function promised(data, values, { start }) {
  const layer = new AttentionLayer(data, { ...values, moves: "WV" });
  const { spectrum, least: last, alpha, L } = valueConstants(layer, layerOf(start, values), data, values);
  const model = new Values(data, layer.mixed.slice(), start.WO),
    first = model.forward(valuesOf(start, null, values)),
    factor = (1 - (values.share * alpha) / L) ** 2;
  const rest = last > 0 ? [] : beyond(model.B, model.y, model.T, model.D),
    least = model.lossOf(rest) / first;
  const left = ({ loss }) => Math.max(loss / first, SMALLEST);
  return Object.assign(model, {
    step: (V, grad) => grad.forEach((slope, k) => (V[k] -= (values.share / L) * slope)),
    curves: {
      left,
      guaranteed: ({ step }) => factor ** step,
      least_loss: () => Math.max(least, SMALLEST),
    },
    final: {
      order: () => spectrum.map((_, k) => k + 1),
      spectrum: () => spectrum,
      end: (now) => (left(now) > SMALLEST ? left(now) : "less than 1e-9"),
      floor: () => least,
    },
  });
}

export default liveFigure({ datasets: { coordinates }, starts: { values: valuesOf }, models: { promised } });
