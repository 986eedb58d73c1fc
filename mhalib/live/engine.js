// The models of the live figures: data, start, forward, closed-form gradient, update rules, measures; in doubles.
// The same formulas as mhalib, tested against it: same data, same start, same numbers, same path.
//
// One function with nothing outside it, because its text is also the text of a Web Worker. A figure for another
// model adds its formulas to `datasets`, `starts` and `models`, and a description in Python; nothing else changes.
// `kernel`, or null, is the compiled multi-head model of kernel.js; the JavaScript below is its reference.
function makeEngine(kernel) {
  "use strict";

  // --- small matrices, row by row in flat arrays --------------------------------------------------------------

  // Each entry is summed in a local variable, which is several times faster than in the array.

  // C = A B for A (m, r) from a, B (r, k) from b; C (m, k) from c.
  function product(A, a, B, b, m, r, k, C, c) {
    for (let i = 0; i < m; i++, a += r)
      for (let q = 0; q < k; q++) {
        let sum = 0;
        for (let p = 0, at = b + q; p < r; p++, at += k) sum += A[a + p] * B[at];
        C[c++] = sum;
      }
  }

  // C = A Bᵀ for A (m, r) from a, B (k, r) from b; C (m, k) from c.
  function productWithTransposed(A, a, B, b, m, r, k, C, c) {
    for (let i = 0; i < m; i++, a += r)
      for (let q = 0, at = b; q < k; q++, at += r) {
        let sum = 0;
        for (let p = 0; p < r; p++) sum += A[a + p] * B[at + p];
        C[c++] = sum;
      }
  }

  // C += Aᵀ B for A (r, m) from a and B (r, k) from b; C (m, k) from c.
  function addTransposedProduct(A, a, B, b, r, m, k, C, c) {
    for (let p = 0; p < m; p++)
      for (let q = 0; q < k; q++) {
        let sum = 0;
        for (let i = 0, left = a + p, right = b + q; i < r; i++, left += m, right += k) sum += A[left] * B[right];
        C[c++] += sum;
      }
  }

  const dot = (x, y) => {
    let sum = 0;
    for (let i = 0; i < x.length; i++) sum += x[i] * y[i];
    return sum;
  };
  const norm = (x) => Math.sqrt(dot(x, x));
  const mean = (x) => x.reduce((sum, value) => sum + value, 0) / x.length;

  // --- the logistic loss of a margin --------------------------------------------------------------------------

  const logistic = (z) => Math.max(-z, 0) + Math.log1p(Math.exp(-Math.abs(z)));
  const slope = (z) => -Math.exp(-z - logistic(z));
  const curvature = (z) => slope(z) * slope(-z);

  // --- data: from draws and the values of the controls to {n, T, d, X, y, relevant} ----------------------------

  const datasets = {
    arrays: ({ n, T, d, X, y, relevant }) =>
      ({ n, T, d, X: Float64Array.from(X), y: Float64Array.from(y), relevant: relevant && Uint8Array.from(relevant) }),

    // x_it = μ_{y_i} on the ζT tokens of lowest rank, ν_{j_it} + σ z_it on the others.
    mixture: ({ n, T, d, sign, rank, pattern, normal, mu, nu }, { zeta, sigma }) => {
      const X = new Float64Array(n * T * d);
      const relevant = Uint8Array.from(rank, (r) => (r < Math.round(zeta * T) ? 1 : 0));
      for (let token = 0; token < n * T; token++)
        for (let a = 0; a < d; a++)
          X[token * d + a] = relevant[token]
            ? mu[(sign[Math.floor(token / T)] > 0 ? d : 0) + a]
            : nu[pattern[token] * d + a] + sigma * normal[token * d + a];
      return { n, T, d, X, y: Float64Array.from(sign), relevant };
    },
  };

  // --- starts: the first parameters ----------------------------------------------------------------------------

  const starts = {
    zeros: (start, model) => new Float64Array(model.size),

    // scale · N(0, 1) from one stream: first all of W, then all of U, as MultiHeadAttention.random draws them.
    normal: ({ stream }, { heads, T, d, size }, { scale }) => {
      const theta = new Float64Array(size), head = d * d + T * d;
      for (let h = 0; h < heads; h++) {
        for (let k = 0; k < d * d; k++) theta[h * head + k] = scale * stream[h * d * d + k];
        for (let k = 0; k < T * d; k++) theta[h * head + d * d + k] = scale * stream[heads * d * d + h * T * d + k];
      }
      return theta;
    },
  };

  // --- models: the parameters are one flat array ---------------------------------------------------------------

  // Φ = H^{−1/2} Σ_h ⟨U_h, softmax(X W_h Xᵀ) X⟩; θ holds W_1, U_1, …, W_H, U_H, each row by row.
  // Equal heads stay equal: then one head is computed and counted H times.
  function multihead(data, { H, equalHeads }) {
    const { n, T, d, X, y, relevant } = data;
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
          for (let t = 0; t < T; t++) {
            let sum = 0;
            for (let j = at + t * T; j < at + (t + 1) * T; j++) sum += A[j] * P[j];
            v[row + t] = sum;
            phi += sum;
          }
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

    return { size, heads, T, d, forward, lossAndGrad, hvp, curves, lasts, ...fast() };

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
  }

  // A model of (data, values) is {size, forward(θ) → loss, lossAndGrad(θ, grad) → loss, curves, lasts}, what its start
  // asks for (heads, T, d), and, for the curves of the spectrum, hvp(V, out).
  const models = { multihead };

  // --- update rules: θ changes in place ------------------------------------------------------------------------

  const optimizers = {
    gd: ({ lr }) => (theta, grad) => {
      for (let i = 0; i < theta.length; i++) theta[i] -= lr * grad[i];
    },

    momentum: ({ lr, beta = 0.9 }, size) => {
      const m = new Float64Array(size);
      return (theta, grad) => {
        for (let i = 0; i < size; i++) theta[i] -= lr * (m[i] = beta * m[i] + grad[i]);
      };
    },

    adam: ({ lr, beta1 = 0.9, beta2 = 0.999, eps = 1e-8 }, size) => {
      const m = new Float64Array(size), v = new Float64Array(size);
      return (theta, grad, k) => {
        const c1 = 1 - beta1 ** (k + 1), c2 = 1 - beta2 ** (k + 1);
        for (let i = 0; i < size; i++) {
          m[i] = beta1 * m[i] + (1 - beta1) * grad[i];
          v[i] = beta2 * v[i] + (1 - beta2) * grad[i] * grad[i];
          theta[i] -= lr * (m[i] / c1 / (Math.sqrt(v[i] / c2) + eps));
        }
      };
    },
  };

  // --- the ends of a symmetric matrix's spectrum, from products with it (Lanczos, fully reorthogonalized) --------

  // How many eigenvalues of the tridiagonal matrix (a, b) lie below x: negative pivots of its LDLᵀ.
  function countBelow(a, b, x) {
    let count = 0, pivot = 1;
    for (let i = 0; i < a.length; i++) {
      pivot = a[i] - x - (i ? (b[i - 1] * b[i - 1]) / pivot : 0);
      if (pivot === 0) pivot = 1e-300;
      if (pivot < 0) count++;
    }
    return count;
  }

  // The k-th smallest eigenvalue by bisection, to the last digit.
  function tridiagonalEigenvalue(a, b, k) {
    const reach = Math.max(...a.map((x, i) => Math.abs(x) + Math.abs(b[i] ?? 0) + Math.abs(b[i - 1] ?? 0)));
    let low = -reach, high = reach;
    for (let middle = 0; low < middle || middle < high; ) {
      middle = (low + high) / 2;
      if (middle === low || middle === high) break;
      if (countBelow(a, b, middle) > k) high = middle; else low = middle;
    }
    return (low + high) / 2;
  }

  // [λ_min, λ_max] of the matrix whose products `multiply(v, out)` gives. Stops when both have settled.
  function spectrumEnds(multiply, size) {
    const next = Float64Array.from({ length: size }, (_, i) => Math.sin(1 + i * i)); // any direction, always the same
    const basis = [], a = [], b = [];
    let ends = null, moved = 0;
    for (let k = 0; k < size && (k < 10 || k - moved <= 3); k++) {
      const length = norm(next), q = new Float64Array(size);
      if (k) {
        if (length <= 1e-14 * Math.abs(a[0]) + 1e-300) break; // the directions that the start can reach are used up
        b.push(length);
      }
      for (let i = 0; i < size; i++) q[i] = next[i] / length;
      basis.push(q);
      multiply(q, next);
      a.push(dot(q, next));
      // In exact numbers the last two would do; the second time removes what rounding has left along any.
      for (const old of [...basis.slice(-2), ...basis]) {
        const along = dot(old, next);
        for (let i = 0; i < size; i++) next[i] -= along * old[i];
      }
      // From step to step the ends only move apart: an eigenvalue outside of the last ones is the new end.
      ends ??= [a[0], a[0]];
      const slack = 1e-15 * Math.max(Math.abs(ends[0]), Math.abs(ends[1]));
      for (const end of [0, 1]) {
        const edge = ends[end] + (end ? 1 : -1) * (1e-11 * Math.abs(ends[end]) + slack);
        if (countBelow(a, b, edge) === end * (k + 1)) continue;
        ends[end] = tridiagonalEigenvalue(a, b, end * k);
        moved = k;
      }
    }
    return [tridiagonalEigenvalue(a, b, 0), tridiagonalEigenvalue(a, b, a.length - 1)];
  }

  // --- a run: what mhalib.train does, to be taken in slices -----------------------------------------------------

  // Measures that any model with an `hvp` has, and those of the step size alone.
  const common = {
    sharpness: (now) => ends(now)[1],
    negative_curvature: (now) => -ends(now)[0],
    edge: (now) => 2 / now.lr,
  };

  function ends(now) {
    return (now.ends ??= spectrumEnds(now.model.hvp, now.model.size));
  }

  // spec: {model, data, start, fixed, record, curves, lasts}; values: the controls'. Every recorded step adds one
  // number to each curve. `advance(ms)` works for about so long; a loss that is not finite ends the run as in mhalib.
  function run(spec, values) {
    const all = { ...spec.fixed, ...values };
    const data = datasets[spec.data.kind](spec.data, all);
    const equalHeads = Boolean(all.shortcut) && spec.start.kind === "zeros";
    const model = models[spec.model](data, { ...all, equalHeads });
    const fresh = spec.test && models[spec.model](datasets[spec.test.kind](spec.test, all), { ...all, equalHeads });
    const theta = starts[spec.start.kind](spec.start, model, all);
    const step = optimizers[all.optimizer](all, model.size);
    const [grad, before, unused] = Array.from({ length: 3 }, () => new Float64Array(model.size));
    const recorded = new Set(spec.record), last = Math.max(...spec.record);
    const result = { steps: [], curves: Object.fromEntries(spec.curves.map((name) => [name, []])), lasts: {},
                     done: false, stopped: null };
    let k = 0;

    const measure = (of, name, now) => (of.curves[name] ?? of.lasts[name] ?? common[name])(now);

    function record(at, loss) {
      const now = { theta, grad, loss, lr: all.lr, model };
      result.steps.push(at);
      for (const name of spec.curves)
        result.curves[name].push(name === "test_loss" ? fresh.lossAndGrad(theta, unused) : measure(model, name, now));
    }

    function finish() {
      const now = { theta, loss: model.forward(theta), grad, lr: all.lr, model };
      fresh?.forward(theta);
      for (const name of spec.lasts)
        result.lasts[name] = name.startsWith("test_") ? measure(fresh, name.slice(5), now) : measure(model, name, now);
      result.done = true;
    }

    function stop() {
      result.stopped = k;
      if (k) {
        theta.set(before);
        if (!recorded.has(k - 1)) record(k - 1, model.lossAndGrad(theta, grad));
      }
      finish();
    }

    function advance(milliseconds = Infinity) {
      const until = Date.now() + milliseconds;
      while (!result.done && Date.now() < until) {
        const loss = model.lossAndGrad(theta, grad);
        if (!Number.isFinite(loss)) return stop();
        if (recorded.has(k)) record(k, loss);
        if (k === last) return finish();
        before.set(theta);
        step(theta, grad, k++);
      }
    }

    return { result, advance };
  }

  return { run, spectrumEnds, models, datasets };
}
