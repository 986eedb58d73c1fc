import { compiled } from "../kernel.js";
import { curvature, logistic, slope } from "./logistic.js";
import { addTransposedProduct, dot, mean, norm, product, productWithTransposed } from "./matrices.js";

// The multi-head classifier Φ = H^{−1/2} Σ_h ⟨U_h, softmax(X W_h Xᵀ) X⟩; θ holds W_1, U_1, …, W_H, U_H, each row by row.
// Heads that start at zero stay equal: with `shortcut` one head is computed and counted H times. By the compiled kernel
// where there is one.
export function multihead(data, { H, shortcut }, { start }) {
  const heads = shortcut && start.kind === "zeros" ? 1 : H,
    { n, T, d, X, y } = data;
  const kernel = compiled(X, y, { n, T, d, H: heads });
  return kernel ? new Compiled(data, H, heads, kernel) : new MultiHead(data, H, heads);
}

// Rows of scores to rows of weights; a row's largest score is subtracted first, so nothing overflows.
function softmaxRows(S, from, T) {
  for (let row = from; row < from + T * T; row += T) {
    let largest = S[row],
      sum = 0;
    for (let j = 1; j < T; j++) if (!(S[row + j] <= largest)) largest = S[row + j];
    for (let j = 0; j < T; j++) sum += S[row + j] = Math.exp(S[row + j] - largest);
    for (let j = 0; j < T; j++) S[row + j] /= sum;
  }
}

class MultiHead {
  constructor({ n, T, d, X, y, relevant }, H, heads) {
    const head = d * d + T * d,
      size = heads * head,
      square = () => new Float64Array(T * T);
    Object.assign(this, { n, T, d, X, y, relevant, H, heads, head, size, copies: H / heads });
    this.A = new Float64Array(n * heads * T * T); // weights
    this.P = new Float64Array(n * heads * T * T); // readings U Xᵀ
    this.v = new Float64Array(n * heads * T); // v_t = Σ_j A_tj P_tj
    this.z = new Float64Array(n); // margins
    this.wide = new Float64Array(T * d);
    [this.D, this.G] = [square(), square()];
    const token = (k) => X.subarray(k * d, (k + 1) * d);
    const squares = Array.from({ length: n * T }, (_, k) => dot(token(k), token(k)));
    this.radius = Math.sqrt(squares.reduce((a, b) => Math.max(a, b), 0));
    this.curves = curvesOf(this);
    this.final = finalOf(this);
  }

  // out = X_i W X_iᵀ (T, T), for the W that begins at w.
  scores(i, theta, w, out, at) {
    const { T, d, X, wide } = this;
    product(X, i * T * d, theta, w, T, d, d, wide, 0);
    productWithTransposed(wide, 0, X, i * T * d, T, d, T, out, at);
  }

  // out = U X_iᵀ (T, T), for the U of the head that begins at w.
  readings(i, theta, w, out, at) {
    const { T, d, X } = this;
    productWithTransposed(theta, w + d * d, X, i * T * d, T, d, T, out, at);
  }

  // From derivatives with respect to scores (D) and readings (G) to those of W and U: Xᵀ D X and G X, added.
  pull(i, out, w) {
    const { T, d, X, wide, D, G } = this;
    product(D, 0, X, i * T * d, T, T, d, wide, 0);
    addTransposedProduct(X, i * T * d, wide, 0, T, d, d, out, w);
    product(G, 0, X, i * T * d, T, T, d, wide, 0);
    for (let k = 0; k < T * d; k++) out[w + d * d + k] += wide[k];
  }

  // A, P and v of head h on sample i; gives Σ_t v_t.
  vote(i, h, theta) {
    const { T, heads, head, A, P, v } = this,
      at = (i * heads + h) * T * T,
      row = (i * heads + h) * T;
    this.scores(i, theta, h * head, A, at);
    softmaxRows(A, at, T);
    this.readings(i, theta, h * head, P, at);
    let vote = 0;
    for (let t = 0; t < T; t++) {
      let sum = 0;
      for (let j = at + t * T; j < at + (t + 1) * T; j++) sum += A[j] * P[j];
      v[row + t] = sum;
      vote += sum;
    }
    return vote;
  }

  // Fills A, P, v and the margins z; gives the mean loss.
  forward(theta) {
    const { n, H, heads, copies, y, z } = this;
    let loss = 0;
    for (let i = 0; i < n; i++) {
      let phi = 0; // head by head, so that opposite heads cancel to the last bit
      for (let h = 0; h < heads; h++) phi += this.vote(i, h, theta);
      z[i] = (y[i] * copies * phi) / Math.sqrt(H);
      loss += logistic(z[i]);
    }
    return loss / n;
  }

  // g_i = y_i ℓ′(z_i)/(n √H); dS = g A (P − v), dP = g A.
  lossAndGrad(theta, grad) {
    const loss = this.forward(theta),
      { n, T, H, heads, head, y, z, A, P, v, D, G } = this;
    grad.fill(0);
    for (let i = 0; i < n; i++) {
      const g = (y[i] * slope(z[i])) / (n * Math.sqrt(H));
      for (let h = 0; h < heads; h++) {
        const at = (i * heads + h) * T * T,
          row = (i * heads + h) * T;
        for (let t = 0, k = 0; t < T; t++)
          for (let j = 0; j < T; j++, k++) {
            G[k] = g * A[at + k];
            D[k] = G[k] * (P[at + k] - v[row + t]);
          }
        this.pull(i, grad, h * head);
      }
    }
    return loss;
  }

  // ∇²L(θ) V, the derivative of lossAndGrad along V, at the θ of the last `forward`.
  hvp(V, out) {
    const { n, T, H, heads, copies, y, z } = this;
    if (copies > 1) throw new Error("the Hessian of equal heads has more directions than one head shows");
    const [dA, dP, dv] = [T * T, T * T, T].map((length) => new Float64Array(heads * length));
    out.fill(0);
    for (let i = 0; i < n; i++) {
      let phi = 0; // the derivative of Φ along V, times √H
      for (let h = 0; h < heads; h++) phi = this.voteAlong(i, h, V, { dA, dP, dv }, phi);
      const g = (y[i] * slope(z[i])) / (n * Math.sqrt(H)),
        dg = (curvature(z[i]) * copies * phi) / (n * H);
      this.pullAlong(i, g, dg, { dA, dP, dv }, out);
    }
  }

  // The derivatives of A, P and v of head h along V; gives phi + Σ_t dv_t.
  voteAlong(i, h, V, { dA, dP, dv }, phi) {
    const { T, heads, head, A, P } = this,
      TT = T * T,
      at = (i * heads + h) * TT;
    this.scores(i, V, h * head, dA, h * TT);
    this.readings(i, V, h * head, dP, h * TT);
    for (let t = 0; t < T; t++) {
      const row = at + t * T,
        own = (h * T + t) * T;
      let along = 0,
        sum = 0;
      for (let j = 0; j < T; j++) along += A[row + j] * dA[own + j];
      for (let j = 0; j < T; j++) {
        dA[own + j] = A[row + j] * (dA[own + j] - along);
        sum += dA[own + j] * P[row + j] + A[row + j] * dP[own + j];
      }
      dv[h * T + t] = sum;
      phi += sum;
    }
    return phi;
  }

  pullAlong(i, g, dg, { dA, dP, dv }, out) {
    const { T, heads, head, A, P, v, D, G } = this;
    for (let h = 0, own = 0; h < heads; h++) {
      const at = (i * heads + h) * T * T,
        row = (i * heads + h) * T;
      for (let t = 0, k = 0; t < T; t++)
        for (let j = 0; j < T; j++, k++, own++) {
          G[k] = g * dA[own] + dg * A[at + k];
          D[k] = G[k] * (P[at + k] - v[row + t]) + g * A[at + k] * (dP[own] - dv[h * T + t]);
        }
      this.pull(i, out, h * head);
    }
  }

  norms(theta, from, to) {
    const { heads, head } = this;
    return Array.from({ length: heads }, (_, h) => norm(theta.subarray(h * head + from, h * head + to)));
  }

  normsW(theta) {
    return this.norms(theta, 0, this.d * this.d);
  }

  normsU(theta) {
    return this.norms(theta, this.d * this.d, this.head);
  }

  // G = √T R √(1 + R⁴ mean‖U_h‖²) (Proposition 1).
  gradientConstant(theta) {
    const { T, radius } = this;
    return Math.sqrt(T * radius ** 2 * (1 + radius ** 4 * mean(this.normsU(theta).map((u) => u * u))));
  }

  // B = √T R³ (r + √(r² + 4))/2, r = R² max‖U_h‖ (Proposition 1).
  hessianConstant(theta) {
    const { T, radius } = this,
      r = radius ** 2 * Math.max(...this.normsU(theta));
    return (Math.sqrt(T) * radius ** 3 * (r + Math.sqrt(r * r + 4))) / 2;
  }
}

// What can be recorded at a step, after `lossAndGrad(theta)`.
function curvesOf(model) {
  const { n, T, H, heads, copies, relevant, A, z } = model,
    root = Math.sqrt(H);
  return {
    loss: (now) => now.loss,
    grad_norm: (now) => norm(now.grad) * Math.sqrt(copies),
    accuracy: (now) => {
      model.forward(now.theta); // the kernel leaves no margins
      return z.reduce((sum, margin) => sum + (margin > 0), 0) / n;
    },
    attention_score: () => {
      let sum = 0;
      for (let i = 0, k = 0; i < n; i++)
        for (let row = 0; row < heads * T; row++) for (let j = 0; j < T; j++, k++) if (relevant[i * T + j]) sum += A[k];
      return sum / (n * heads * T);
    },
    norm_W: ({ theta }) => mean(model.normsW(theta)),
    norm_U: ({ theta }) => mean(model.normsU(theta)) * root,
    smoothness_bound: ({ theta }) => model.gradientConstant(theta) ** 2 / 4 + model.hessianConstant(theta) / root,
    weak_convexity_bound: ({ theta, loss }) => (model.hessianConstant(theta) / root) * loss,
  };
}

// What is measured of the last model alone, after `forward(theta)`; the attention is that of sample 0, averaged over
// heads.
function finalOf({ T, heads, relevant, A }) {
  const many = (count, entry) => Array.from({ length: count }, (_, k) => entry(k));
  return {
    attention: () => many(T, (t) => many(T, (j) => mean(many(heads, (h) => A[h * T * T + t * T + j])))),
    token_names: () => many(T, (t) => (relevant[t] ? `${t}★` : `${t}`)),
  };
}

// Copies enter the kernel as one head whose decoder is √H longer.
class Compiled extends MultiHead {
  constructor(data, H, heads, kernel) {
    super(data, H, heads);
    const { d, copies, head, size, relevant } = this,
      root = Math.sqrt(copies),
      isU = (k) => k % head >= d * d;
    this.kernel = kernel;
    this.toOne = Float64Array.from({ length: size }, (_, k) => (isU(k) ? root : 1));
    this.fromOne = Float64Array.from({ length: size }, (_, k) => (isU(k) ? 1 / root : 1 / copies));
    if (!relevant) return;
    kernel.relevant.set(relevant);
    this.curves.attention_score = kernel.attentionScore;
  }

  hand(theta) {
    const { kernel, toOne, size } = this;
    for (let k = 0; k < size; k++) kernel.theta[k] = theta[k] * toOne[k];
  }

  forward(theta) {
    this.hand(theta);
    return super.forward(theta);
  }

  lossAndGrad(theta, grad) {
    this.hand(theta);
    const { kernel, fromOne, size } = this,
      loss = kernel.lossAndGrad();
    for (let k = 0; k < size; k++) grad[k] = kernel.grad[k] * fromOne[k];
    return loss;
  }

  hvp(V, out) {
    if (this.copies > 1) super.hvp(V, out); // which refuses
    this.kernel.direction.set(V);
    this.kernel.hvp();
    out.set(this.kernel.product);
  }
}
