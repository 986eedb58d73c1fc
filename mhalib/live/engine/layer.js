import { addTransposedProduct, dot, product, productWithTransposed } from "./matrices.js";

// One layer of attention with queries, keys, values and outputs apart, by one of three kernels.

// data = {N, n, D, m, X (N, n, D), y (N, n, m)}; values = {H, d, kernel, c, moves}, where the kernel is "softmax",
// "gaussian" (weights not divided by their sum) or "normalized" (Gaussian weights divided by their sum), and
// `moves` names the weights that have a gradient: "WQ WK WV WO" or fewer. θ holds W^Q, W^K, W^V (H, D, d) and W^O
// (H, d, m), as `AttentionLayer` does. `weights` S (H, N, n, n), `mixed` B_1, …, B_H (each N n, D) and `outputs` (N n, m)
// are those of the last θ.
export class AttentionLayer {
  constructor({ N, n, D, m, X, y }, { H, d, kernel, c = 0.5, moves }) {
    const T = N * n,
      one = D * d,
      all = H * one,
      zeros = (length) => new Float64Array(length);
    Object.assign(this, { N, n, D, m, X, y, H, d, c, T, one, all, size: 3 * all + H * d * m, root: Math.sqrt(d) });
    this.distances = kernel !== "softmax";
    this.normalizes = kernel !== "gaussian";
    this.moving = Object.fromEntries(["WQ", "WK", "WV", "WO"].map((name) => [name, moves.split(" ").includes(name)]));
    [this.Q, this.K, this.dQ, this.dK] = Array.from({ length: 4 }, () => zeros(H * T * d));
    [this.weights, this.mixed, this.outputs, this.R] = [H * T * n, H * T * D, T * m, T * m].map(zeros);
    [this.WVO, this.U, this.G, this.P] = [H * D * m, T * m, D * m, n * n].map(zeros);
    this.attended = false;
  }

  softmaxRow(S, from) {
    const { n } = this;
    let top = -Infinity,
      sum = 0;
    for (let j = from; j < from + n; j++) if (!(S[j] <= top)) top = S[j];
    for (let j = from; j < from + n; j++) sum += S[j] = Math.exp(S[j] - top);
    for (let j = from; j < from + n; j++) S[j] /= sum;
  }

  // −(c/√d) ‖q − k‖² from the products q·k, in the order of mhalib.
  distanceRow(S, from, q, keys) {
    const { n, d, c, root, Q, K } = this;
    const squared = (A, at) => {
      let sum = 0;
      for (let a = at; a < at + d; a++) sum += A[a] * A[a];
      return sum;
    };
    for (let j = 0; j < n; j++) {
      const apart = squared(Q, q) - 2 * S[from + j] + squared(K, keys + j * d);
      S[from + j] = (-c / root) * Math.max(apart, 0);
    }
  }

  // S and B; where neither queries nor keys move, once.
  attend(theta) {
    if (this.attended) return;
    const { N, H, D, d, T, X, Q, K, one, all, moving } = this;
    this.attended = !moving.WQ && !moving.WK;
    for (let h = 0; h < H; h++) {
      product(X, 0, theta, h * one, T, D, d, Q, h * T * d);
      product(X, 0, theta, all + h * one, T, D, d, K, h * T * d);
      for (let i = 0; i < N; i++) this.weigh(i, h);
    }
  }

  // S and B of head h on sample i, from Q and K.
  weigh(i, h) {
    const { n, D, d, T, X, Q, K, root, weights, mixed, distances, normalizes } = this;
    const at = (h * T + i * n) * n,
      tokens = (h * T + i * n) * d;
    productWithTransposed(Q, tokens, K, tokens, n, d, n, weights, at);
    for (let k = 0; k < n; k++) {
      const row = at + k * n;
      if (distances) this.distanceRow(weights, row, tokens + k * d, tokens);
      else for (let j = row; j < row + n; j++) weights[j] /= root;
      if (normalizes) this.softmaxRow(weights, row);
      else for (let j = row; j < row + n; j++) weights[j] = Math.exp(weights[j]);
    }
    product(weights, at, X, i * n * D, n, n, D, mixed, (h * T + i * n) * D);
  }

  // Outputs B_1 W_1^V W_1^O + …, residuals, and the loss ‖R‖²/2N.
  forward(theta) {
    this.attend(theta);
    const { N, H, D, d, m, T, y, one, all, mixed, outputs, R, WVO, U } = this;
    outputs.fill(0);
    for (let h = 0; h < H; h++) {
      product(theta, 2 * all + h * one, theta, 3 * all + h * d * m, D, d, m, WVO, h * D * m);
      product(mixed, h * T * D, WVO, h * D * m, T, D, m, U, 0);
      for (let k = 0; k < T * m; k++) outputs[k] += U[k];
    }
    for (let k = 0; k < T * m; k++) R[k] = outputs[k] - y[k];
    return dot(R, R) / (2 * N);
  }

  // ∇W^V = G W^Oᵀ and ∇W^O = W^Vᵀ G with G = BᵀR/N, of head h.
  pullValues(theta, grad, h) {
    const { N, D, d, m, T, one, all, mixed, R, G, moving } = this;
    const values = 2 * all + h * one,
      out = 3 * all + h * d * m;
    G.fill(0);
    addTransposedProduct(mixed, h * T * D, R, 0, T, D, m, G, 0);
    for (let k = 0; k < D * m; k++) G[k] /= N;
    if (moving.WV) productWithTransposed(G, 0, theta, out, D, m, d, grad, values);
    if (moving.WO) addTransposedProduct(theta, values, G, 0, D, d, m, grad, out);
  }

  // ∂f/∂scores of sample i and head h, from ∂f/∂S = R Uᵀ/N with U = X W^V W^O.
  pullScores(i, h) {
    const { N, n, m, T, weights, R, U, P, normalizes } = this,
      at = (h * T + i * n) * n;
    productWithTransposed(R, i * n * m, U, i * n * m, n, m, n, P, 0);
    for (let k = 0; k < n; k++) {
      let sum = 0;
      for (let j = k * n; j < (k + 1) * n; j++) sum += P[j] *= weights[at + j] / N;
      if (normalizes) for (let j = k * n; j < (k + 1) * n; j++) P[j] -= weights[at + j] * sum;
    }
  }

  // dQ = P K/√d and dK = PᵀQ/√d, and for the Gaussian kernel (2c/√d)(P K − diag(P1) Q) and (2c/√d)(PᵀQ − diag(Pᵀ1) K).
  pullTokens(i, h) {
    const { n, d, c, T, root, Q, K, dQ, dK, P, distances } = this;
    const at = (h * T + i * n) * d,
      scale = (distances ? 2 * c : 1) / root;
    for (let k = 0; k < n; k++)
      for (let j = 0; j < n; j++) {
        const p = scale * P[k * n + j];
        for (let a = 0; a < d; a++) {
          const q = Q[at + k * d + a],
            key = K[at + j * d + a];
          dQ[at + k * d + a] += p * (distances ? key - q : key);
          dK[at + j * d + a] += p * (distances ? q - key : q);
        }
      }
  }

  lossAndGrad(theta, grad) {
    const loss = this.forward(theta),
      { N, H, D, d, m, T, X, one, all, WVO, U, dQ, dK, moving } = this;
    grad.fill(0);
    for (let h = 0; h < H; h++) {
      this.pullValues(theta, grad, h);
      if (this.attended) continue;
      product(X, 0, WVO, h * D * m, T, D, m, U, 0);
      dQ.fill(0);
      dK.fill(0);
      for (let i = 0; i < N; i++) {
        this.pullScores(i, h);
        this.pullTokens(i, h);
      }
      if (moving.WQ) addTransposedProduct(X, 0, dQ, h * T * d, T, D, d, grad, h * one);
      if (moving.WK) addTransposedProduct(X, 0, dK, h * T * d, T, D, d, grad, all + h * one);
    }
    return loss;
  }
}
