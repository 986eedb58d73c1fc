import { AttentionLayer } from "mhabook/live/engine/layer.js";
import { mean } from "livegrad/live/engine/matrices.js";
import { optimizers } from "livegrad/live/engine/optimizers.js";
import { liveFigure } from "livegrad/live/figure.js";
import { layerStart, valueConstants } from "./start.js";

// Tokens and targets are the first numbers of their streams; a token has one target.
const firstTokens = ({ tokens, targets }, { N, n, D }) => ({
  N,
  n,
  D,
  m: 1,
  X: Float64Array.from(tokens.slice(0, N * n * D)),
  y: Float64Array.from(targets.slice(0, N * n)),
});

function twice(start, model, values, data) {
  const theta = layerStart(start, values, data);
  return Float64Array.from([...theta, ...theta]);
}

// One of the two layers: its step size lr/L and, where the theorem promises one, the factor (1 − ηα)² of a step.
function partOf(kernel, data, values, first) {
  const layer = new AttentionLayer(data, { ...values, kernel }),
    constants = valueConstants(layer, first, data, values);
  const { alpha, L } = constants,
    { lr, moves } = values,
    begin = layer.forward(first);
  const promised = moves === "WV" && lr <= 1 && alpha > 0;
  return {
    kernel,
    layer,
    ...constants,
    begin,
    loss: begin,
    rate: lr / L,
    factor: promised ? (1 - (lr / L) * alpha) ** 2 : NaN,
  };
}

// A softmax and a Gaussian layer side by side, from one start, on one data set. Both take gradient steps of η = lr/L
// with their own L, or the smaller of the two where not the values alone train. Losses are over the first, and 1e-9
// where they are less: that is rounding in part. The promise (1 − ηα)^{2t} is not there where the theorem has none.
function layers(data, values, { start }) {
  const first = layerStart(start, values, data),
    size = first.length;
  const parts = ["softmax", "gaussian"].map((kernel) => partOf(kernel, data, values, first));
  const slowest = Math.min(...parts.map((part) => part.rate));
  if (values.moves !== "WV") for (const part of parts) part.rate = slowest;
  const rules = parts.map((part) => optimizers.gd({ lr: part.rate }, size));
  const of = (theta, k) => theta.subarray(k * size, (k + 1) * size);
  const together = (compute) => mean(parts.map((part, k) => (part.loss = compute(part.layer, k))));
  return {
    size: 2 * size,
    ...measures(parts, data, values),
    forward: (theta) => together((layer, k) => layer.forward(of(theta, k))),
    lossAndGrad: (theta, grad) => together((layer, k) => layer.lossAndGrad(of(theta, k), of(grad, k))),
    step: (theta, grad, at) => rules.forEach((rule, k) => rule(of(theta, k), of(grad, k), at)),
  };
}

function measures(parts, { N, n, D }, { H }) {
  const curves = { loss: () => mean(parts.map((part) => part.loss)) };
  const final = { unknowns: () => H * D, equations: () => N * n, order: () => parts[0].spectrum.map((_, k) => k + 1) };
  for (const part of parts) {
    curves[part.kernel] = () => Math.max(part.loss / part.begin, 1e-9);
    curves[`${part.kernel}_promised`] = ({ step }) => (part.factor >= 0 ? part.factor ** step : NaN);
    final[`${part.kernel}_spectrum`] = () => part.spectrum;
    final[`${part.kernel}_least`] = () => part.least;
    final[`${part.kernel}_guarantee`] = ({ step }) => (part.factor >= 0 ? part.factor ** step : "none");
  }
  return { curves, final };
}

export default liveFigure({ datasets: { layer: firstTokens }, starts: { layer: twice }, models: { layers } });
