// --- the multi-head classifier ------------------------------------------------------------------------------

// Φ = H^{−1/2} Σ_h ⟨U_h, softmax(X W_h Xᵀ) X⟩; θ holds W_1, U_1, …, W_H, U_H, each row by row.
// Heads that start at zero stay equal: with `shortcut` one head is computed and counted H times.
models.multihead = function (data, { H, shortcut }, { start }) {
  const { n, T, d, X, y, relevant } = data, equalHeads = Boolean(shortcut) && start.kind === "zeros";
  const heads = equalHeads ? 1 : H, copies = H / heads;
  const TT = T * T, head = d * d + T * d, size = heads * head;
  const A = new Float64Array(n * heads * TT), P = new Float64Array(n * heads * TT); // weights, readings U Xᵀ
  const v = new Float64Array(n * heads * T); // v_t = Σ_j A_tj P_tj
  const z = new Float64Array(n);
  const wide = new Float64Array(T * d), D = new Float64Array(TT), G = new Float64Array(TT);

  // Rows of scores to rows of weights; a row's largest score is subtracted first, so nothing overflows.
  function softmaxRows(S, from) {
    for (let row = from; row < from + TT; row += T) {
      let largest = S[row], sum = 0;
      for (let j = 1; j < T; j++) if (!(S[row + j] <= largest)) largest = S[row + j];
      for (let j = 0; j < T; j++) sum += S[row + j] = Math.exp(S[row + j] - largest);
      for (let j = 0; j < T; j++) S[row + j] /= sum;
    }
  }

  // out = X_i W X_iᵀ (T, T), for the W that begins at w.
  function scores(i, theta, w, out, at) {
    product(X, i * T * d, theta, w, T, d, d, wide, 0);
    productWithTransposed(wide, 0, X, i * T * d, T, d, T, out, at);
  }

  // out = U X_iᵀ (T, T), for the U of the head that begins at w.
  const readings = (i, theta, w, out, at) =>
    productWithTransposed(theta, w + d * d, X, i * T * d, T, d, T, out, at);

  // From derivatives with respect to scores (D) and readings (G) to those of W and U: Xᵀ D X and G X, added.
  function pull(i, out, w) {
    product(D, 0, X, i * T * d, T, T, d, wide, 0);
    addTransposedProduct(X, i * T * d, wide, 0, T, d, d, out, w);
    product(G, 0, X, i * T * d, T, T, d, wide, 0);
    for (let k = 0; k < T * d; k++) out[w + d * d + k] += wide[k];
  }

  // Fills A, P, v and the margins z; gives the mean loss.
  function forward(theta) {
    let loss = 0;
    for (let i = 0; i < n; i++) {
      let phi = 0;
      for (let h = 0; h < heads; h++) {
        const at = (i * heads + h) * TT, row = (i * heads + h) * T;
        scores(i, theta, h * head, A, at);
        softmaxRows(A, at);
        readings(i, theta, h * head, P, at);
        let vote = 0; // head by head, so that opposite heads cancel to the last bit
        for (let t = 0; t < T; t++) {
          let sum = 0;
          for (let j = at + t * T; j < at + (t + 1) * T; j++) sum += A[j] * P[j];
          v[row + t] = sum;
          vote += sum;
        }
        phi += vote;
      }
      z[i] = (y[i] * copies * phi) / Math.sqrt(H);
      loss += logistic(z[i]);
    }
    return loss / n;
  }

  // g_i = y_i ℓ′(z_i)/(n √H); dS = g A (P − v), dP = g A.
  function lossAndGrad(theta, grad) {
    const loss = forward(theta);
    grad.fill(0);
    for (let i = 0; i < n; i++) {
      const g = (y[i] * slope(z[i])) / (n * Math.sqrt(H));
      for (let h = 0; h < heads; h++) {
        const at = (i * heads + h) * TT, row = (i * heads + h) * T;
        for (let t = 0, k = 0; t < T; t++)
          for (let j = 0; j < T; j++, k++) {
            G[k] = g * A[at + k];
            D[k] = G[k] * (P[at + k] - v[row + t]);
          }
        pull(i, grad, h * head);
      }
    }
    return loss;
  }

  // ∇²L(θ) V, the derivative of lossAndGrad along V, at the θ of the last `forward`.
  function hvp(V, out) {
    if (copies > 1) throw new Error("the Hessian of equal heads has more directions than one head shows");
    const dA = new Float64Array(heads * TT), dP = new Float64Array(heads * TT), dv = new Float64Array(heads * T);
    out.fill(0);
    for (let i = 0; i < n; i++) {
      let phi = 0; // the derivative of Φ along V, times √H
      for (let h = 0; h < heads; h++) {
        const at = (i * heads + h) * TT;
        scores(i, V, h * head, dA, h * TT);
        readings(i, V, h * head, dP, h * TT);
        for (let t = 0; t < T; t++) {
          const row = at + t * T, own = (h * T + t) * T;
          let along = 0, sum = 0;
          for (let j = 0; j < T; j++) along += A[row + j] * dA[own + j];
          for (let j = 0; j < T; j++) {
            dA[own + j] = A[row + j] * (dA[own + j] - along);
            sum += dA[own + j] * P[row + j] + A[row + j] * dP[own + j];
          }
          dv[h * T + t] = sum;
          phi += sum;
        }
      }
      const g = (y[i] * slope(z[i])) / (n * Math.sqrt(H)), dg = (curvature(z[i]) * copies * phi) / (n * H);
      for (let h = 0, own = 0; h < heads; h++) {
        const at = (i * heads + h) * TT, row = (i * heads + h) * T;
        for (let t = 0, k = 0; t < T; t++)
          for (let j = 0; j < T; j++, k++, own++) {
            G[k] = g * dA[own] + dg * A[at + k];
            D[k] = G[k] * (P[at + k] - v[row + t]) + g * A[at + k] * (dP[own] - dv[h * T + t]);
          }
        pull(i, out, h * head);
      }
    }
  }

  const norms = (theta, from, to) =>
    Array.from({ length: heads }, (_, h) => norm(theta.subarray(h * head + from, h * head + to)));
  const normsW = (theta) => norms(theta, 0, d * d), normsU = (theta) => norms(theta, d * d, head);
  const radius = Math.sqrt(Array.from({ length: n * T }, (_, token) => dot(X.subarray(token * d, (token + 1) * d),
    X.subarray(token * d, (token + 1) * d))).reduce((a, b) => Math.max(a, b), 0));

  // G = √T R √(1 + R⁴ mean‖U_h‖²) and B = √T R³ (r + √(r² + 4))/2, r = R² max‖U_h‖ (Proposition 1).
  const gradientConstant = (theta) =>
    Math.sqrt(T * radius ** 2 * (1 + radius ** 4 * mean(normsU(theta).map((u) => u * u))));
  const hessianConstant = (theta) => {
    const r = radius ** 2 * Math.max(...normsU(theta));
    return (Math.sqrt(T) * radius ** 3 * (r + Math.sqrt(r * r + 4))) / 2;
  };

  // What can be recorded at a step, after `lossAndGrad(theta)`. `now` holds theta, loss, grad, lr.
  const curves = {
    loss: (now) => now.loss,
    grad_norm: (now) => norm(now.grad) * Math.sqrt(copies),
    accuracy: (now) => {
      forward(now.theta); // the kernel leaves no margins
      return z.reduce((sum, margin) => sum + (margin > 0), 0) / n;
    },
    attention_score: () => {
      let sum = 0;
      for (let i = 0, k = 0; i < n; i++)
        for (let row = 0; row < heads * T; row++)
          for (let j = 0; j < T; j++, k++) if (relevant[i * T + j]) sum += A[k];
      return sum / (n * heads * T);
    },
    norm_W: (now) => mean(normsW(now.theta)),
    norm_U: (now) => mean(normsU(now.theta)) * Math.sqrt(H),
    smoothness_bound: (now) => gradientConstant(now.theta) ** 2 / 4 + hessianConstant(now.theta) / Math.sqrt(H),
    weak_convexity_bound: (now) => (hessianConstant(now.theta) / Math.sqrt(H)) * now.loss,
  };

  // What is measured of the last model alone, after `forward(theta)`; the attention is that of sample 0, averaged over
  // heads.
  const lasts = {
    attention: () => Array.from({ length: T }, (_, t) => Array.from({ length: T }, (_, j) =>
      mean(Array.from({ length: heads }, (_, h) => A[h * TT + t * T + j])))),
    token_names: () => Array.from({ length: T }, (_, t) => (relevant[t] ? `${t}★` : `${t}`)),
  };

  // What another file of this folder measures of this model: `measured.multihead` holds functions of what stands here.
  const inside = { n, T, d, H, heads, copies, head, size, X, y, relevant, A, P, z, radius, norms, normsW, normsU,
                   gradientConstant, hessianConstant, forward };
  const measures = (added, ...rest) =>
    Object.fromEntries(Object.entries(added).map(([name, make]) => [name, make(inside, ...rest)]));

  return { size, heads, T, d, forward, lossAndGrad, hvp, curves, lasts, measures, ...fast() };

  // What the compiled kernel does instead, where there is one. Copies enter as one head whose decoder is √H longer.
  function fast() {
    const compiled = kernel?.(X, y, { n, T, d, H: heads });
    if (!compiled) return null;
    const root = Math.sqrt(copies), isU = (k) => k % head >= d * d;
    const toOne = Float64Array.from({ length: size }, (_, k) => (isU(k) ? root : 1));
    const fromOne = Float64Array.from({ length: size }, (_, k) => (isU(k) ? 1 / root : 1 / copies));

    if (relevant) compiled.relevant.set(relevant);

    function hand(theta) {
      for (let k = 0; k < size; k++) compiled.theta[k] = theta[k] * toOne[k];
    }

    return {
      forward(theta) {
        hand(theta);
        return forward(theta);
      },
      lossAndGrad(theta, grad) {
        hand(theta);
        const loss = compiled.lossAndGrad();
        for (let k = 0; k < size; k++) grad[k] = compiled.grad[k] * fromOne[k];
        return loss;
      },
      hvp(V, out) {
        if (copies > 1) return hvp(V, out); // which refuses
        compiled.direction.set(V);
        compiled.hvp();
        out.set(compiled.product);
      },
      curves: relevant ? { ...curves, attention_score: compiled.attentionScore } : curves,
    };
  }
};
