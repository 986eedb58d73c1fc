import { dot, productWithTransposed } from "./matrices.js";
import { putBack, whitened, whiteningOf } from "./structured.js";
import { applied, eigen, spectralNorm, times, transposedTimes } from "./symmetric.js";

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
  return withTokens({ d, Sigma, root, M, sigma, singular, population: { root, inverse } }, x, y, n);
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
export function regressionStart({ stream }, { size }, values, { n, d, x, y, whitening: { inverse } }) {
  if (values.start === "random") return Float64Array.from(stream.slice(0, size));
  const fit = times(
    transposedTimes(y, x, n, d, d).map((sum) => sum / n),
    inverse,
    d,
    d,
    d,
  );
  const { values: squares, basis } = eigen(transposedTimes(fit, fit, d, d, d), d),
    theta = new Float64Array(size);
  const sums = squares.map((_, k) => basis.reduce((sum, b, at) => sum + (at % d === k ? b : 0), 0));
  const W = basis.map((b, k) => b * Math.sign(sums[k % d])),
    P = times(fit, W, d, d, d);
  const U = P.map((b, k) => b * squares[k % d] ** -0.25),
    V = W.map((b, k) => b * squares[k % d] ** 0.25);
  putBack(theta, U, V, inverse, d);
  return theta;
}

// Scores to e^{score − largest}, in place, to 5e-16 and faster than by Math.exp: 2^{−k/64} e^r with |r| ≤ ln(2)/128, and
// 0 below −708. In one loop: a function of one number would put each result on the heap. Gives their sum and that of
// their squares.
const HALVES = Float64Array.from({ length: 1023 }, (_, k) => 2 ** -k);
const PARTS = Float64Array.from({ length: 64 }, (_, k) => 2 ** (-k / 64));

export function exponentials(scores) {
  const n = scores.length;
  let top = scores[0],
    sum = 0,
    squares = 0;
  for (let j = 1; j < n; j++) if (!(scores[j] <= top)) top = scores[j];
  for (let j = 0; j < n; j++) {
    const x = scores[j] - top;
    let e = 0;
    if (!(x < -708)) {
      const k = (0.5 - x * 92.33248261689366) | 0; // 64/ln 2
      // ln(2)/64 in two parts, the first so short that k times it is exact.
      const r = x + k * 0.010830424493178725 + k * 2.030704202170295e-10;
      const series = 1 + r * (1 + r * (1 / 2 + r * (1 / 6 + r * (1 / 24 + r * (1 / 120)))));
      e = HALVES[k >> 6] * PARTS[k & 63] * series;
    }
    scores[j] = e;
    sum += e;
    squares += e * e;
  }
  return [sum, squares];
}

// L(A, B) − L* = ½‖(A Σ Bᵀ − M) Σ^{1/2}‖², of the population.
function populationExcess(theta, { d, Sigma, M }) {
  const away = factorsMinus(theta, d, Sigma, M);
  return dot(times(away, Sigma, d, d, d), away) / 2;
}

// A Σ Bᵀ − M.
function factorsMinus(theta, d, Sigma, M) {
  const away = new Float64Array(d * d);
  productWithTransposed(times(theta.subarray(0, d * d), Sigma, d, d, d), 0, theta, d * d, d, d, d, away, 0);
  return away.map((x, k) => x - M[k]);
}

// The loss of n tokens that all attend to all, half the mean squared error, one query after the other. Tokens stand in
// columns, one for each coordinate, taken three at a time, with zeros to fill up: long loops without a branch.
class Regression {
  constructor(data) {
    const { n, d, x } = data,
      wide = 3 * Math.ceil(d / 3),
      of = (length) => new Float64Array(length);
    const column = (a) => Float64Array.from({ length: n }, (_, j) => (a < d ? x[j * d + a] : 0));
    Object.assign(this, { data, n, d, size: 2 * d * d, wide, whitening: data.whitening });
    this.columns = Array.from({ length: wide }, (_, a) => column(a));
    [this.weights, this.along] = [of(n), of(n)];
    this.ones = this.along.map(() => 1);
    [this.b, this.m, this.r, this.g, this.pulled] = Array.from({ length: 5 }, () => of(wide));
    this.share = 0; // one over the sum of the query's weights
    this.tokens = 0; // effective tokens, mean over the last pass
    this.curves = curvesOf(this);
    this.final = {};
  }

  // out_j = Σ_a factors_a x_ja.
  combine(factors, out) {
    const { n, wide, columns } = this;
    for (let a = 0; a < wide; a += 3) {
      const x0 = columns[a],
        x1 = columns[a + 1],
        x2 = columns[a + 2];
      const f0 = factors[a],
        f1 = factors[a + 1],
        f2 = factors[a + 2];
      if (a) for (let j = 0; j < n; j++) out[j] += f0 * x0[j] + f1 * x1[j] + f2 * x2[j];
      else for (let j = 0; j < n; j++) out[j] = f0 * x0[j] + f1 * x1[j] + f2 * x2[j];
    }
  }

  // out_a = share · Σ_j weights_j values_j x_ja.
  average(values, out) {
    const { n, wide, columns, weights, share } = this;
    for (let a = 0; a < wide; a += 3) {
      const x0 = columns[a],
        x1 = columns[a + 1],
        x2 = columns[a + 2];
      let s0 = 0,
        s1 = 0,
        s2 = 0;
      for (let j = 0; j < n; j++) {
        const w = weights[j] * values[j];
        s0 += w * x0[j];
        s1 += w * x1[j];
        s2 += w * x2[j];
      }
      out[a] = share * s0;
      out[a + 1] = share * s1;
      out[a + 2] = share * s2;
    }
  }

  // Attention mean m and residual r of query i; gives ‖r‖²/2n.
  query(i, A, B) {
    const {
      n,
      d,
      b,
      m,
      r,
      weights,
      data: { x, y },
    } = this;
    for (let c = 0; c < d; c++) {
      let sum = 0;
      for (let a = 0; a < d; a++) sum += x[i * d + a] * B[a * d + c];
      b[c] = sum;
    }
    this.combine(b, weights);
    const [sum, squares] = exponentials(weights);
    this.share = 1 / sum;
    this.tokens += (sum * sum) / squares / n;
    this.average(this.ones, m);
    for (let a = 0; a < d; a++) {
      r[a] = y[i * d + a];
      for (let c = 0; c < d; c++) r[a] -= A[a * d + c] * m[c];
    }
    return dot(r, r) / (2 * n);
  }

  // ∇_A = −(1/n) Σ r mᵀ and ∇_B = Σ x_i (C_i g)ᵀ with g = −Aᵀ r/n, C_i g = Σ_j π_ij ⟨g, x_j⟩ x_j − m ⟨m, g⟩.
  lossAndGrad(theta, grad) {
    const {
      n,
      d,
      r,
      m,
      g,
      along,
      pulled,
      data: { x },
    } = this;
    const A = theta.subarray(0, d * d),
      B = theta.subarray(d * d);
    let loss = 0;
    this.tokens = 0;
    grad.fill(0);
    for (let i = 0; i < n; i++) {
      loss += this.query(i, A, B);
      g.fill(0);
      for (let a = 0; a < d; a++) for (let c = 0; c < d; c++) g[c] -= (A[a * d + c] * r[a]) / n;
      this.combine(g, along);
      this.average(along, pulled);
      const inner = dot(m, g);
      for (let a = 0, k = 0; a < d; a++)
        for (let c = 0; c < d; c++, k++) {
          grad[k] -= (r[a] * m[c]) / n;
          grad[d * d + k] += x[i * d + a] * (pulled[c] - m[c] * inner);
        }
    }
    return loss;
  }

  forward(theta) {
    const { n, d } = this;
    let loss = 0;
    this.tokens = 0;
    for (let i = 0; i < n; i++) loss += this.query(i, theta.subarray(0, d * d), theta.subarray(d * d));
    return loss;
  }
}

const curvesOf = (model) => {
  const { data, d } = model,
    { root, sigma } = data;
  return {
    loss: (now) => now.loss,
    excess: ({ theta }) => populationExcess(theta, data),
    v: ({ theta }) => spectralNorm(whitened(theta, root, d)[1], d, d),
    effective_tokens: () => model.tokens,
    floor: () => (sigma * sigma * d) / 2,
  };
};

export const regression = (data) => new Regression(data);

// The same in the limit of infinitely many tokens: L − L* of the population, and its gradient in closed form. What is
// less than 1e-9 is rounding in part, and drawn as 1e-9.
export const population = ({ d, Sigma, M, population }) => {
  const forward = (theta) => populationExcess(theta, { d, Sigma, M });
  const lossAndGrad = (theta, grad) => {
    const A = theta.subarray(0, d * d),
      B = theta.subarray(d * d),
      away = factorsMinus(theta, d, Sigma, M);
    const weighted = times(away, Sigma, d, d, d);
    grad.set(times(weighted, times(B, Sigma, d, d, d), d, d, d));
    grad.set(transposedTimes(weighted, times(A, Sigma, d, d, d), d, d, d), d * d);
    return dot(weighted, away) / 2;
  };
  const curves = { excess: (now) => Math.max(now.loss, 1e-9) };
  return { size: 2 * d * d, d, whitening: population, forward, lossAndGrad, curves, final: {} };
};
