import { addTransposedProduct, dot, productWithTransposed } from "mhalib/live/engine/matrices.js";
import { exponentials } from "mhalib/live/engine/regression.js";
import { spectrumEnds } from "mhalib/live/engine/spectrum.js";
import { times, transposedTimes } from "mhalib/live/engine/symmetric.js";
import { flat } from "./data.js";

// Products with the Hessian of the regression and of the layer, for their largest curvature.

// To six digits, or 0 where no eigenvalue is positive: what a picture needs, at a fraction of the products.
export function largestEigenvalue(multiply, size) {
  const heard = (v, out) => {
    globalThis.alive?.();
    multiply(v, out);
  };
  return Math.max(spectrumEnds(heard, size, [1], 1e-7)[1], 0);
}

// ∇²L(θ) V of the regression, θ = (A, B): the derivative of its gradient along V, query by query.
export function regressionHvp(data) {
  const { n, d, x } = data,
    columns = flat(d * n, (k) => x[(k % n) * d + Math.floor(k / n)]);
  return (theta) => (V, out) => {
    const parts = [theta, V].flatMap((both) => [both.subarray(0, d * d), both.subarray(d * d)]);
    out.fill(0);
    for (let i = 0; i < n; i++) addQuery(data, columns, i, parts, out);
  };
}

// What query i adds to the product; a name with _ is the derivative along V.
function addQuery({ n, d, x, y }, columns, i, [A, B, A_, B_], out) {
  const scoresOf = (B) => times(times(x.subarray(i * d, (i + 1) * d), B, 1, d, d), columns, 1, d, n);
  const along = (weights) => times(weights, x, 1, n, d);
  const applied = (A, m) => times(A, m, d, d, 1); // A m
  const pulledBack = (A, r) => transposedTimes(A, r, d, d, 1); // Aᵀ r
  const P = scoresOf(B),
    [sum] = exponentials(P);
  for (let j = 0; j < n; j++) P[j] /= sum;
  const m = along(P),
    S_ = scoresOf(B_),
    middle = dot(P, S_),
    P_ = P.map((p, j) => p * (S_[j] - middle));
  const m_ = along(P_),
    Am = applied(A, m),
    Am_ = applied(A, m_),
    A_m = applied(A_, m);
  const r = Am.map((z, a) => y[i * d + a] - z),
    r_ = Am_.map((z, a) => -z - A_m[a]);
  const g = pulledBack(A, r).map((z) => -z / n),
    other = pulledBack(A, r_);
  const g_ = pulledBack(A_, r).map((z, a) => -(z + other[a]) / n);
  const Q = times(g, columns, 1, d, n),
    Q_ = times(g_, columns, 1, d, n),
    mg = dot(m, g),
    moved = dot(m, g_) + dot(m_, g);
  const C = along(P.map((p, j) => p * Q_[j] + P_[j] * Q[j])).map((z, a) => z - m[a] * moved - m_[a] * mg);
  for (let a = 0, k = 0; a < d; a++)
    for (let c = 0; c < d; c++, k++) {
      out[k] -= (r_[a] * m[c] + r[a] * m_[c]) / n;
      out[d * d + k] += x[i * d + a] * C[c];
    }
}

const plus = (A, B) => A.map((a, k) => a + B[k]);

// A Bᵀ for A (m, r) and B (k, r).
function timesTransposed(A, B, m, r, k) {
  const C = new Float64Array(m * k);
  productWithTransposed(A, 0, B, 0, m, r, k, C, 0);
  return C;
}

// ∇²f(θ) V of the layer, in the weights that move: the derivative of its gradient along V, head by head as mhalib does.
// A name with _ is the derivative along V.
class LayerHessian {
  constructor(layer, theta) {
    const { n, H, D, d, one, distances, root, c, outputs, y } = layer;
    Object.assign(this, { layer, theta, n, D, d, values: 2 * H * one, last: 3 * H * one });
    this.scale = (distances ? 2 * c : 1) / root;
    this.moving = ["WQ", "WK", "WV", "WO"].map((name) => layer.moving[name]);
    this.residuals = outputs.map((f, k) => f - y[k]);
  }

  // Σ_j S_kj A_kj for every query k, or zeros where weights are not divided by their sum.
  sums(S, A) {
    const { n, layer } = this,
      row = (all, k) => all.subarray(k * n, (k + 1) * n);
    return flat(n, (k) => (layer.normalizes ? dot(row(S, k), row(A, k)) : 0));
  }

  vjp(S, A) {
    const { n } = this,
      middle = this.sums(S, A);
    return S.map((s, k) => s * (A[k] - middle[Math.floor(k / n)]));
  }

  vjpAlong(S, A, S_, A_) {
    const { n } = this,
      middle = this.sums(S, A),
      middle_ = plus(this.sums(S_, A), this.sums(S, A_));
    return S.map((s, k) => S_[k] * (A[k] - middle[Math.floor(k / n)]) + s * (A_[k] - middle_[Math.floor(k / n)]));
  }

  // How scores move along Q′ and K′: those of products, or of −c‖q − k‖².
  scoresAlong(Q, K, Q_, K_) {
    const {
      n,
      d,
      scale,
      layer: { distances },
    } = this;
    return flat(n * n, (at) => {
      const q = Math.floor(at / n) * d,
        k = (at % n) * d;
      let sum = 0;
      for (let a = 0; a < d; a++)
        sum += distances
          ? -(Q[q + a] - K[k + a]) * (Q_[q + a] - K_[k + a])
          : Q_[q + a] * K[k + a] + Q[q + a] * K_[k + a];
      return scale * sum;
    });
  }

  // dQ and dK of scores that have the gradient P.
  pull(Q, K, P) {
    const {
        n,
        d,
        layer: { distances },
      } = this,
      dQ = new Float64Array(n * d),
      dK = new Float64Array(n * d);
    for (let k = 0; k < n; k++)
      for (let j = 0; j < n; j++)
        for (let a = 0; a < d; a++) {
          const q = Q[k * d + a],
            key = K[j * d + a],
            p = this.scale * P[k * n + j];
          dQ[k * d + a] += p * (distances ? key - q : key);
          dK[j * d + a] += p * (distances ? q - key : q);
        }
    return [dQ, dK];
  }

  // Sets to zero the gradient of what does not move.
  freeze(all) {
    const {
      moving,
      layer: { H, one },
    } = this;
    moving.forEach((does, k) => does || all.fill(0, k * H * one, k < 3 ? (k + 1) * H * one : all.length));
    return all;
  }

  product(all, out) {
    const {
        n,
        residuals,
        layer: { N, H, m, T },
      } = this,
      V = this.freeze(all.slice()),
      parts = [];
    const R_ = new Float64Array(T * m),
      rows = (A, i) => A.subarray(i * n * m, (i + 1) * n * m);
    out.fill(0);
    for (let h = 0; h < H; h++)
      for (let i = 0; i < N; i++) {
        const part = this.part(h, i, V),
          { S, S_, U, U_ } = part;
        const moved = plus(times(S_, U, n, n, m), times(S, U_, n, n, m));
        for (let k = 0; k < n * m; k++) R_[i * n * m + k] += moved[k];
        parts.push(part);
      }
    for (const part of parts) this.add(part, rows(residuals, part.i), rows(R_, part.i), out);
    this.freeze(out);
  }

  // Queries, keys, values, weights and what they read of head h on sample i.
  part(h, i, V) {
    const {
      theta,
      n,
      D,
      d,
      values,
      last,
      layer: { X, H, m, T, one, weights },
    } = this;
    const Xi = X.subarray(i * n * D, (i + 1) * n * D),
      of = (all, from) => all.subarray(from + h * one, from + (h + 1) * one);
    const both = (from) => [theta, V].map((all) => times(Xi, of(all, from), n, D, d));
    const [Q, Q_] = both(0),
      [K, K_] = both(H * one),
      [Z, Z_] = both(values);
    const [O, O_] = [theta, V].map((all) => all.subarray(last + h * d * m, last + (h + 1) * d * m));
    const S = weights.slice((h * T + i * n) * n, (h * T + (i + 1) * n) * n),
      S_ = this.vjp(S, this.scoresAlong(Q, K, Q_, K_));
    const U = times(Z, O, n, d, m),
      U_ = plus(times(Z_, O, n, d, m), times(Z, O_, n, d, m));
    return { h, i, Xi, Q, Q_, K, K_, Z, Z_, O, O_, S, S_, U, U_ };
  }

  add({ h, Xi, Q, Q_, K, K_, Z, Z_, O, O_, S, S_, U, U_ }, R, R_, out) {
    const {
        n,
        D,
        d,
        values,
        last,
        layer: { N, H, m, one },
      } = this,
      byN = (A) => A.map((a) => a / N);
    const outer = (A, B) => timesTransposed(A, B, n, m, n),
      through = (B, W) => timesTransposed(B, W, n, m, d);
    const dA = byN(outer(R, U)),
      dA_ = byN(plus(outer(R_, U), outer(R, U_)));
    const [dQ1, dK1] = this.pull(Q, K, this.vjpAlong(S, dA, S_, dA_)),
      [dQ2, dK2] = this.pull(Q_, K_, this.vjp(S, dA));
    const back = byN(transposedTimes(S, R, n, n, m));
    const back_ = byN(plus(transposedTimes(S_, R, n, n, m), transposedTimes(S, R_, n, n, m)));
    addTransposedProduct(Xi, 0, plus(dQ1, dQ2), 0, n, D, d, out, h * one);
    addTransposedProduct(Xi, 0, plus(dK1, dK2), 0, n, D, d, out, (H + h) * one);
    addTransposedProduct(Xi, 0, plus(through(back_, O), through(back, O_)), 0, n, D, d, out, values + h * one);
    addTransposedProduct(Z_, 0, back, 0, n, d, m, out, last + h * d * m);
    addTransposedProduct(Z, 0, back_, 0, n, d, m, out, last + h * d * m);
  }
}

export function layerHvp(layer) {
  return (theta) => {
    const hessian = new LayerHessian(layer, theta);
    return (V, out) => hessian.product(V, out);
  };
}
