import { assembled } from "mhalib/live/engine/data.js";
import { logistic } from "mhalib/live/engine/logistic.js";
import { addTransposedProduct, product } from "mhalib/live/engine/matrices.js";
import { liveFigure } from "mhalib/live/figure.js";
import { decoder } from "./decoder.js";
import { maxMargin } from "./margin.js";

// Realizability: the maximum margin of the logit's gradients at a start.

// The carried numbers are those of S = 1, with the patterns of each M. `at` gives the same samples at another noise;
// with `mirror` the first half of the samples, and each again with the other label.
function realizable(carried, values) {
  const { mirror, S, M, zeta } = values,
    { mu, nu, pattern } = carried.patterns[M],
    { n: all, T, d } = carried;
  const longer = (x) => x.map((entry) => S * entry);
  const own = { ...carried, mu: longer(mu), nu: longer(nu), pattern };

  function at(sigma) {
    const { X, y, relevant } = assembled(own, { zeta, sigma, n: mirror ? all / 2 : all });
    if (!mirror) return { n: all, T, d, X, y, relevant };
    const other = assembled({ ...own, sign: carried.sign.map((s) => -s) }, { zeta, sigma, n: all / 2 });
    const both = (a, b) => Float64Array.from([...a, ...b]);
    return { n: all, T, d, X: both(X, other.X), y: both(y, other.y), relevant };
  }
  return { ...at(values.sigma), at };
}

// y_i ∇Φ(X_i) at W = 0: first √T x̄, of the same length as 1x̄ᵀ, then (Σ_t x_t u_tᵀ) C with the tokens' covariance C.
function signedFeatures({ n, T, d, X, y }, U) {
  const p = d + d * d,
    out = new Float64Array(n * p),
    C = new Float64Array(d * d),
    reads = new Float64Array(d * d);
  for (let i = 0; i < n; i++) {
    const mean = new Float64Array(d),
      x = i * T * d;
    for (let k = 0; k < T * d; k++) mean[k % d] += X[x + k] / T;
    const away = X.slice(x, x + T * d).map((value, k) => value - mean[k % d]);
    C.fill(0);
    reads.fill(0);
    addTransposedProduct(away, 0, away, 0, T, d, d, C, 0);
    addTransposedProduct(X, x, U, 0, T, d, d, reads, 0);
    for (let a = 0; a < d; a++) out[i * p + a] = y[i] * Math.sqrt(T) * mean[a];
    product(reads, 0, C, 0, d, d, d, out, i * p + d);
    for (let a = d; a < p; a++) out[i * p + a] *= y[i] / T;
  }
  return out;
}

// The margin of the features in U, in W, or in both.
function marginOf(data, U, only) {
  const { n, d } = data,
    p = d + d * d,
    features = signedFeatures(data, U);
  if (!only) return maxMargin(features, n, p);
  const [from, to] = only === "U" ? [0, d] : [d, p],
    kept = new Float64Array(n * (to - from));
  for (let i = 0; i < n; i++) kept.set(features.subarray(i * p + from, i * p + to), i * (to - from));
  return maxMargin(kept, n, to - from);
}

// The mean loss at W = 0.
function lossOf({ n, T, d, X, y }, U) {
  let loss = 0;
  for (let i = 0; i < n; i++) {
    let phi = 0;
    for (let k = 0; k < T * d; k++) for (let t = 0; t < T; t++) phi += (U[t * d + (k % d)] * X[i * T * d + k]) / T;
    loss += logistic(y[i] * phi) / n;
  }
  return loss;
}

// The margins [in U, in W, in both] in closed form: of the witness, and of the mixture without noise.
function closedForms(T, { zeta, S, M }) {
  const ofU = zeta * S * Math.sqrt(T / 2),
    rest = 1 - zeta,
    both = (W) => [ofU, W, Math.hypot(ofU, W)];
  const closed = both((zeta * zeta * rest * T * S ** 4) / (2 * Math.sqrt(2 * (M + 2))));
  const N = Math.round(rest * T),
    more = N % M,
    few = Math.floor(N / M);
  const r = ((M - more) * few * few + more * (few + 1) ** 2) / (T * T);
  const uneven = M > 1 ? (rest * rest - r) ** 2 / (M * (M - 1)) : 0;
  const exact = both(
    ((T * zeta * zeta * S ** 4) / 2) *
      Math.sqrt(((zeta * rest) ** 2 * (1 + 1 / M)) / 2 + rest ** 4 / (2 * M) + (r * r) / M + uneven),
  );
  return { closed, exact };
}

// No training: the loss and the margins at the start, and the closed forms beside them.
function realizability(data, values, { start }) {
  const { T, d } = data,
    { closed, exact } = closedForms(T, values),
    forward = (U) => lossOf(data, U);
  let known = null,
    others = null;
  const margins = (now) => (known ??= ["U", "W", null].map((only) => marginOf(data, now.theta, only)));
  const overNoise = (kind) => () => {
    others ??= values.grid.map((noise) => data.at(noise));
    return others.map((other) => marginOf(other, decoder(other, kind, start)));
  };
  const curves = {
    loss: (now) => now.loss,
    margin_U: (now) => margins(now)[0],
    margin_W: (now) => margins(now)[1],
    margin: (now) => margins(now)[2],
  };
  const final = {
    bar_U: (now) => [0, margins(now)[0]],
    bar_W: (now) => [0, margins(now)[1]],
    bar_both: (now) => [0, margins(now)[2]],
    closed: () => closed,
    gamma: () => closed[2],
    exact: () => exact,
    gamma_star: () => exact[2],
    over_zero: overNoise("zero"),
    over_gaussian: overNoise("gaussian"),
    over_first: overNoise("first"),
    here: () => [values.sigma],
    here_margin: (now) => [margins(now)[2]],
  };
  return { size: T * d, heads: 1, T, d, forward, lossAndGrad: (U, grad) => (grad.fill(0), forward(U)), curves, final };
}

export default liveFigure({
  datasets: { realizability: realizable },
  starts: { decoder: (start, model, values, data) => decoder(data, values.initialization, start) },
  models: { realizability },
});
