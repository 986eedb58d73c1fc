// --- realizability: the maximum margin of the logit's gradients at a start, exactly -----------------------------

// Convex weights of the point nearest to the origin in the hull of n vectors with Gram matrix K: non-negative least
// squares of (vectors, 1)ᵀ a = (0, 1)ᵀ by active sets, as in mhalib.
function nearestInHull(K, n) {
  let size = 0;
  for (let i = 0; i < n; i++) size = Math.max(size, K[i * n + i]);
  const G = K.map((x) => x / (size || 1) + 1);
  let weights = new Float64Array(n), active = [], best = Infinity;

  // Solves G a = 1 on the active set by Cholesky's factors; null where they break down.
  function solve(set) {
    const k = set.length, L = new Float64Array(k * k), a = new Float64Array(k);
    for (let i = 0; i < k; i++) {
      for (let j = 0; j <= i; j++) {
        let sum = G[set[i] * n + set[j]];
        for (let m = 0; m < j; m++) sum -= L[i * k + m] * L[j * k + m];
        if (i === j && !(sum > 1e-15)) return null;
        L[i * k + j] = i === j ? Math.sqrt(sum) : sum / L[j * k + j];
      }
      a[i] = 1;
      for (let m = 0; m < i; m++) a[i] -= L[i * k + m] * a[m];
      a[i] /= L[i * k + i];
    }
    for (let i = k - 1; i >= 0; i--) {
      for (let m = i + 1; m < k; m++) a[i] -= L[m * k + i] * a[m];
      a[i] /= L[i * k + i];
    }
    return a;
  }

  // What a weighs: Σ_j G_ij a_j, for all i.
  const image = (a) => Float64Array.from({ length: n }, (_, i) => dot(G.subarray(i * n, i * n + n), a));

  for (;;) {
    const pull = image(weights).map((x) => 1 - x), steepest = pull.indexOf(Math.max(...pull));
    if (pull[steepest] <= 1e-14 || active.includes(steepest)) break;
    const trial = weights.slice();
    active = [...active, steepest];
    for (;;) {
      const wanted = solve(active);
      if (!wanted) return weights; // the new vector says nothing new
      if (wanted.every((a) => a > 0)) {
        trial.fill(0);
        active.forEach((i, k) => (trial[i] = wanted[k]));
        break;
      }
      // Go toward `wanted` until the first weight is zero; it leaves.
      const shares = active.map((i, k) => (wanted[k] > 0 ? Infinity : trial[i] / Math.max(trial[i] - wanted[k], 1e-300)));
      const share = Math.min(...shares), first = shares.indexOf(share);
      active.forEach((i, k) => (trial[i] = k === first ? 0 : trial[i] + share * (wanted[k] - trial[i])));
      active = active.filter((i) => trial[i] > 0);
    }
    const value = dot(trial, image(trial)) - 2 * trial.reduce((sum, a) => sum + a, 0);
    if (value >= best) break;
    [weights, best] = [trial, value];
  }
  return weights;
}

// The largest γ with y_i ⟨φ_i, θ⟩ ≥ γ for a unit θ, where `signed` holds y_i φ_i, n rows of p; 0 if there is none.
function maxMargin(signed, n, p) {
  const K = new Float64Array(n * n), row = (i) => signed.subarray(i * p, i * p + p);
  productWithTransposed(signed, 0, signed, 0, n, p, n, K, 0);
  const weights = nearestInHull(K, n), normal = new Float64Array(p);
  for (let i = 0; i < n; i++) if (weights[i]) for (let a = 0; a < p; a++) normal[a] += weights[i] * signed[i * p + a];
  const length = norm(normal);
  if (!length) return 0;
  return Math.max(0, Math.min(...Array.from({ length: n }, (_, i) => dot(row(i), normal))) / length);
}

// The carried numbers are those of S = 1, with the patterns of each M. `at` gives the same samples at another noise;
// with `mirror` the first half of the samples, and each again with the other label.
datasets.realizability = (carried, values) => {
  const { mirror, S, M, zeta } = values, { mu, nu, pattern } = carried.patterns[M], { n: all, T, d } = carried;
  const longer = (x) => x.map((entry) => S * entry);
  const own = { ...carried, mu: longer(mu), nu: longer(nu), pattern };

  function at(sigma) {
    const { X, y, relevant } = datasets.mixture(own, { zeta, sigma, n: mirror ? all / 2 : all });
    if (!mirror) return { n: all, T, d, X, y, relevant };
    const other = datasets.mixture({ ...own, sign: carried.sign.map((s) => -s) }, { zeta, sigma, n: all / 2 });
    const both = (a, b) => Float64Array.from([...a, ...b]);
    return { n: all, T, d, X: both(X, other.X), y: both(y, other.y), relevant };
  }
  return { ...at(values.sigma), at };
};

// W = 0 and one decoder: zero, ± 1 qᵀ with q = (1/n) Σ y_i x̄_i, or Gaussian of the same norm.
function decoder({ n, T, d, X, y }, kind, { stream, sign }) {
  const U = new Float64Array(T * d), q = new Float64Array(d);
  if (kind === "zero") return U;
  for (let i = 0; i < n; i++)
    for (let t = 0; t < T; t++) for (let a = 0; a < d; a++) q[a] += (y[i] * X[(i * T + t) * d + a]) / (n * T);
  const length = (Math.sqrt(T) * norm(q)) / norm(stream);
  return U.map((_, k) => (kind === "first" ? sign * q[k % d] : length * stream[k]));
}

starts.decoder = (start, model, values, data) => decoder(data, values.initialization, start);

// y_i ∇Φ(X_i) at W = 0: first √T x̄, of the same length as 1x̄ᵀ, then (Σ_t x_t u_tᵀ) C with the tokens' covariance C.
function signedFeatures({ n, T, d, X, y }, U) {
  const p = d + d * d, out = new Float64Array(n * p), C = new Float64Array(d * d), reads = new Float64Array(d * d);
  for (let i = 0; i < n; i++) {
    const mean = new Float64Array(d), x = i * T * d;
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
  const { n, d } = data, p = d + d * d, features = signedFeatures(data, U);
  if (!only) return maxMargin(features, n, p);
  const [from, to] = only === "U" ? [0, d] : [d, p], kept = new Float64Array(n * (to - from));
  for (let i = 0; i < n; i++) kept.set(features.subarray(i * p + from, i * p + to), i * (to - from));
  return maxMargin(kept, n, to - from);
}

// No training: the loss and the margins at the start, and the closed forms beside them.
models.realizability = function (data, values, { start }) {
  const { n, T, d, X, y } = data, { zeta, S, M, sigma, initialization } = values, size = T * d;

  function forward(U) {
    let loss = 0;
    for (let i = 0; i < n; i++) {
      let phi = 0;
      for (let k = 0; k < T * d; k++) for (let t = 0; t < T; t++) phi += (U[t * d + (k % d)] * X[i * T * d + k]) / T;
      loss += logistic(y[i] * phi) / n;
    }
    return loss;
  }

  const ofU = zeta * S * Math.sqrt(T / 2), rest = 1 - zeta, both = (W) => [ofU, W, Math.hypot(ofU, W)];
  const closed = both((zeta * zeta * rest * T * S ** 4) / (2 * Math.sqrt(2 * (M + 2))));
  const N = Math.round(rest * T), more = N % M, few = Math.floor(N / M);
  const r = ((M - more) * few * few + more * (few + 1) ** 2) / (T * T);
  const uneven = M > 1 ? (rest * rest - r) ** 2 / (M * (M - 1)) : 0;
  const exact = both(((T * zeta * zeta * S ** 4) / 2) *
    Math.sqrt(((zeta * rest) ** 2 * (1 + 1 / M)) / 2 + rest ** 4 / (2 * M) + (r * r) / M + uneven));

  let known = null, others = null;
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
  const lasts = {
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
    here: () => [sigma],
    here_margin: (now) => [margins(now)[2]],
  };
  return { size, heads: 1, T, d, forward, lossAndGrad: (U, grad) => (grad.fill(0), forward(U)), curves, lasts };
};
