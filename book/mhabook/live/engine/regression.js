import { program as linear } from "../programs/linear.js";
import { program } from "../programs/regression.js";
import { hex } from "../programs/regression.wasm";
import { ProgramModel, programOf } from "livegrad/live/programs.js";
import { filled } from "livegrad/live/engine/models.js";
import { singularParts } from "./singular.js";
import { coordinates, whiteningOf } from "./structured.js";
import { spectralNorm } from "./symmetric.js";

const programs = programOf(hex, program);

// Linear regression by one softmax layer, f(x_i) = A Σ_j π_ij x_j.

// Σ has geometrically spaced eigenvalues with trace d, M Σ^{1/2} geometrically spaced singular values, in the carried
// rotations of d; tokens and noise are the first n d numbers of the carried streams. p = d.
export const regressionData = (carried, values) => ({
  instances: carried.instances.map((drawn) => instance(drawn, values)),
});

export function instance({ tokens, noise, rotations }, { n, d, kappa, s_max, kappa_M, sigma }) {
  const spaced = (ratio) => Array.from({ length: d }, (_, k) => ratio ** (k / (d - 1))),
    sizes = spaced(kappa);
  const eigenvalues = sizes.map((x) => (d * x) / sizes.reduce((sum, size) => sum + size)),
    singular = spaced(1 / kappa_M).map((x) => s_max * x);
  const drawn = { tokens: tokens.slice(0, n * d), noise: noise.slice(0, n * d), ...rotations[d] };
  const arrays = filled(linear([n, d, d]), { ...drawn, eigenvalues, singular, sigma: [sigma] });
  arrays.call("assemble");
  const { x, y, Sigma, M, R } = arrays;
  return withTokens({ d, Sigma, M, R, sigma, singular }, x, y, n);
}

// The same truth with these tokens, and what is computed of them once.
export function withTokens(truth, x, y, n) {
  const { d } = truth,
    arrays = filled(linear([n, d, d]), { x, y });
  arrays.call("moment");
  return { ...truth, n, x, y, arrays, whitening: whiteningOf(arrays.moment, d) };
}

export const firstTokens = (data, n) => withTokens(data, data.x.slice(0, n * data.d), data.y.slice(0, n * data.d), n);

// N(0, 1) entries, first A, then B; or the balanced factors of the least-squares fit, with signs such that each column
// of V has a positive sum.
export function regressionStart({ stream }, { size }, values, { d, arrays, whitening }) {
  if (values.start === "random") return Float64Array.from(stream.slice(0, size));
  filled(arrays, { inverse: whitening.inverse }).call("fit");
  const start = filled(coordinates(whitening, d), singularParts(arrays.fit, d));
  start.call("spectral");
  return start.theta;
}

// The loss of n tokens that all attend to all; `weights` (n, n) are those of the last `forward`.
class Regression extends ProgramModel {
  constructor(data) {
    const { n, d, x, y, Sigma = [], M = [], whitening } = data;
    super(programs([n, d, d, n]), { X: x, y, context: x, Sigma, M });
    Object.assign(this, { data, d, whitening, weights: this.program.weights, curves: curvesOf(this, data), final: {} });
  }
}

const curvesOf = (model, { d, R = [], sigma }, arrays = coordinates({ R }, d)) => ({
  loss: (now) => now.loss,
  excess: ({ theta }) => model.run("population", theta),
  v({ theta }) {
    filled(arrays, { theta }).call("whiten");
    return spectralNorm(arrays.V, d, d);
  },
  effective_tokens: () => model.program.effective[0], // of the last gradient
  floor: () => (sigma * sigma * d) / 2,
});

export const regression = (data) => new Regression(data);

// The same in the limit of infinitely many tokens: L − L* of the population. What is less than 1e-9 is rounding in
// part, and drawn as 1e-9.
export const population = (model) => ({
  size: model.size,
  d: model.d,
  whitening: whiteningOf(model.data.Sigma, model.d),
  lossAndGrad(theta, grad) {
    const loss = model.run("population", theta);
    grad.set(model.program.limit);
    return loss;
  },
  curves: { excess: (now) => Math.max(now.loss, 1e-9) },
});
