import { program } from "../programs/regression.js";
import { hex } from "../programs/regression.wasm";
import { ProgramModel, programOf } from "../programs.js";
import { productWithTransposed } from "./matrices.js";
import { filled } from "./models.js";
import { singularParts } from "./singular.js";
import { coordinates, whiteningOf } from "./structured.js";
import { applied, spectralNorm, times, transposedTimes } from "./symmetric.js";

const programs = programOf(hex, program);

// Linear regression by one softmax layer, f(x_i) = A Σ_j π_ij x_j.

// Σ has geometrically spaced eigenvalues with trace d, M Σ^{1/2} geometrically spaced singular values, in the carried
// rotations of d; x = Σ^{1/2} z and y = M x + σ w from the first n d numbers of the carried streams. p = d.
export const regressionData = (carried, values) => ({
  instances: carried.instances.map((drawn) => instance(drawn, values)),
});

export function instance({ tokens, noise, rotations }, { n, d, kappa, s_max, kappa_M, sigma }) {
  const { basis, left, right } = rotations[d],
    spaced = (ratio) => (_, k) => ratio ** (k / (d - 1));
  const sizes = Array.from({ length: d }, spaced(kappa)),
    scale = d / sizes.reduce((sum, x) => sum + x, 0);
  const of = { values: sizes.map((x) => scale * x), basis: Float64Array.from(basis) };
  const singular = Array.from({ length: d }, spaced(1 / kappa_M)).map((x) => s_max * x);
  const root = applied(of, Math.sqrt),
    inverse = applied(of, (x) => 1 / Math.sqrt(x)),
    Sigma = applied(of, (x) => x);
  const target = new Float64Array(d * d); // M Σ^{1/2}
  productWithTransposed(
    left.map((x, k) => x * singular[k % d]),
    0,
    right,
    0,
    d,
    d,
    d,
    target,
    0,
  );
  const M = times(target, inverse, d, d, d),
    x = times(tokens, root, n, d, d),
    y = new Float64Array(n * d);
  productWithTransposed(x, 0, M, 0, n, d, d, y, 0);
  for (let k = 0; k < n * d; k++) y[k] += sigma * noise[k];
  return withTokens({ d, Sigma, root, M, sigma, singular, population: { R: root, inverse } }, x, y, n);
}

// The same truth with these tokens, and what is computed of them once.
export function withTokens(truth, x, y, n) {
  const { d } = truth,
    moment = transposedTimes(x, x, n, d, d).map((sum) => sum / n);
  return { ...truth, n, x, y, whitening: whiteningOf(moment, d) };
}

export const firstTokens = (data, n) => withTokens(data, data.x.slice(0, n * data.d), data.y.slice(0, n * data.d), n);

// N(0, 1) entries, first A, then B; or the balanced factors of the least-squares fit, with signs such that each column
// of V has a positive sum.
export function regressionStart({ stream }, { size }, values, { n, d, x, y, whitening }) {
  if (values.start === "random") return Float64Array.from(stream.slice(0, size));
  const fit = times(
    transposedTimes(y, x, n, d, d).map((sum) => sum / n),
    whitening.inverse,
    d,
    d,
    d,
  );
  const arrays = filled(coordinates(whitening, d), singularParts(fit, d));
  arrays.call("spectral");
  return arrays.theta;
}

// The loss of n tokens that all attend to all; `weights` (n, n) are those of the last `forward`.
class Regression extends ProgramModel {
  constructor(data) {
    const { n, d, x, y, Sigma = [], M = [], whitening } = data;
    super(programs([n, d, d, n]), { X: x, y, context: x, Sigma, M });
    Object.assign(this, { data, d, whitening, weights: this.program.weights, curves: curvesOf(this, data), final: {} });
  }
}

const curvesOf = (model, { d, root: R = [], sigma }, arrays = coordinates({ R }, d)) => ({
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
  whitening: model.data.population,
  lossAndGrad(theta, grad) {
    const loss = model.run("population", theta);
    grad.set(model.program.limit);
    return loss;
  },
  curves: { excess: (now) => Math.max(now.loss, 1e-9) },
});
