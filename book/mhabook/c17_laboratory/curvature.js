// --- products with the Hessian of the regression and of the layer, for their largest curvature ----------------------

// To six digits, or 0 where no eigenvalue is positive: what a picture needs, at a fraction of the products.
function largestEigenvalue(multiply, size) {
  const heard = (v, out) => {
    globalThis.alive?.();
    multiply(v, out);
  };
  return Math.max(spectrumEnds(heard, size, [1], 1e-7)[1], 0);
}

// ∇²L(θ) V of the regression, θ = (A, B): the derivative of its gradient along V, query by query.
function regressionHvp({ n, d, x, y }) {
  const scoresOf = (i, B) => times(times(x.subarray(i * d, (i + 1) * d), B, 1, d, d), columns, 1, d, n);
  const columns = flat(d * n, (k) => x[(k % n) * d + Math.floor(k / n)]);
  const along = (weights) => times(weights, x, 1, n, d);
  const applied = (A, m) => times(A, m, d, d, 1); // A m
  const pulledBack = (A, r) => transposedTimes(A, r, d, d, 1); // Aᵀ r

  return (theta) => (V, out) => {
    const [A, B, A_, B_] = [theta, V].flatMap((both) => [both.subarray(0, d * d), both.subarray(d * d)]);
    out.fill(0);
    for (let i = 0; i < n; i++) {
      const P = scoresOf(i, B), [sum] = exponentials(P);
      for (let j = 0; j < n; j++) P[j] /= sum;
      const m = along(P), S_ = scoresOf(i, B_), middle = dot(P, S_), P_ = P.map((p, j) => p * (S_[j] - middle));
      const m_ = along(P_), Am = applied(A, m), Am_ = applied(A, m_), A_m = applied(A_, m);
      const r = Am.map((z, a) => y[i * d + a] - z), r_ = Am_.map((z, a) => -z - A_m[a]);
      const g = pulledBack(A, r).map((z) => -z / n), other = pulledBack(A, r_);
      const g_ = pulledBack(A_, r).map((z, a) => -(z + other[a]) / n);
      const Q = times(g, columns, 1, d, n), Q_ = times(g_, columns, 1, d, n), mg = dot(m, g), moved = dot(m, g_) + dot(m_, g);
      const C = along(P.map((p, j) => p * Q_[j] + P_[j] * Q[j])).map((z, a) => z - m[a] * moved - m_[a] * mg);
      for (let a = 0, k = 0; a < d; a++)
        for (let c = 0; c < d; c++, k++) {
          out[k] -= (r_[a] * m[c] + r[a] * m_[c]) / n;
          out[d * d + k] += x[i * d + a] * C[c];
        }
    }
  };
}

// ∇²f(θ) V of the layer, in the weights that move: the derivative of its gradient along V, head by head as mhalib does.
function layerHvp({ N, n, D, m, X, y }, { H, d, kernel, c = 0.5, moves }, { weights, outputs }) {
  const T = N * n, one = D * d, values = 2 * H * one, last = 3 * H * one, root = Math.sqrt(d);
  const distances = kernel !== "softmax", normalizes = kernel !== "gaussian", scale = (distances ? 2 * c : 1) / root;
  const moving = ["WQ", "WK", "WV", "WO"].map((name) => moves.split(" ").includes(name));
  const rows = (A, i, width) => A.subarray(i * n * width, (i + 1) * n * width);
  const plus = (A, B) => A.map((a, k) => a + B[k]);

  // Σ_j S_kj A_kj for every query k.
  const sums = (S, A) => flat(n, (k) => dot(S.subarray(k * n, (k + 1) * n), A.subarray(k * n, (k + 1) * n)));
  const vjp = (S, A) => {
    const middle = normalizes ? sums(S, A) : new Float64Array(n);
    return S.map((s, k) => s * (A[k] - middle[Math.floor(k / n)]));
  };
  const vjpAlong = (S, A, S_, A_) => {
    const middle = normalizes ? sums(S, A) : new Float64Array(n);
    const middle_ = normalizes ? plus(sums(S_, A), sums(S, A_)) : new Float64Array(n);
    return S.map((s, k) => S_[k] * (A[k] - middle[Math.floor(k / n)]) + s * (A_[k] - middle_[Math.floor(k / n)]));
  };

  // How scores move along Q′ and K′: those of products, or of −c‖q − k‖².
  function scoresAlong(Q, K, Q_, K_) {
    return flat(n * n, (at) => {
      const q = Math.floor(at / n) * d, k = (at % n) * d;
      let sum = 0;
      for (let a = 0; a < d; a++)
        sum += distances ? -(Q[q + a] - K[k + a]) * (Q_[q + a] - K_[k + a]) : Q_[q + a] * K[k + a] + Q[q + a] * K_[k + a];
      return scale * sum;
    });
  }

  // dQ and dK of scores that have the gradient P.
  function pull(Q, K, P) {
    const dQ = new Float64Array(n * d), dK = new Float64Array(n * d);
    for (let k = 0; k < n; k++)
      for (let j = 0; j < n; j++)
        for (let a = 0; a < d; a++) {
          const q = Q[k * d + a], key = K[j * d + a], p = scale * P[k * n + j];
          dQ[k * d + a] += p * (distances ? key - q : key);
          dK[j * d + a] += p * (distances ? q - key : q);
        }
    return [dQ, dK];
  }

  return (theta) => {
    const residuals = outputs.map((f, k) => f - y[k]);
    const of = (from, h) => (Theta) => Theta.subarray(from + h * one, from + (h + 1) * one);
    const lastOf = (h) => (Theta) => Theta.subarray(last + h * d * m, last + (h + 1) * d * m);
    return (all, out) => {
      const V = all.slice(); // only what moves
      moving.forEach((does, k) => does || V.fill(0, k * H * one, k < 3 ? (k + 1) * H * one : V.length));
      out.fill(0);
      const parts = [];
      const R_ = new Float64Array(T * m);
      for (let h = 0; h < H; h++)
        for (let i = 0; i < N; i++) {
          const Xi = rows(X, i, D), both = (from) => [theta, V].map((Theta) => times(Xi, of(from, h)(Theta), n, D, d));
          const [Q, Q_] = both(0), [K, K_] = both(H * one), [Z, Z_] = both(values), [O, O_] = [theta, V].map(lastOf(h));
          const S = weights.slice((h * T + i * n) * n, (h * T + (i + 1) * n) * n), S_ = vjp(S, scoresAlong(Q, K, Q_, K_));
          const U = times(Z, O, n, d, m), U_ = plus(times(Z_, O, n, d, m), times(Z, O_, n, d, m));
          const moved = plus(times(S_, U, n, n, m), times(S, U_, n, n, m));
          for (let k = 0; k < n * m; k++) R_[i * n * m + k] += moved[k];
          parts.push({ h, i, Xi, Q, Q_, K, K_, Z, Z_, O, O_, S, S_, U, U_ });
        }
      for (const part of parts) add(part, rows(residuals, part.i, m), rows(R_, part.i, m), out);
      moving.forEach((does, k) => does || out.fill(0, k * H * one, k < 3 ? (k + 1) * H * one : out.length));
    };
  };

  function add({ h, Xi, Q, Q_, K, K_, Z, Z_, O, O_, S, S_, U, U_ }, R, R_, out) {
    const outer = (A, B) => {
      const C = new Float64Array(n * n);
      productWithTransposed(A, 0, B, 0, n, m, n, C, 0);
      return C;
    };
    const byN = (A) => A.map((a) => a / N);
    const dA = byN(outer(R, U)), dA_ = byN(plus(outer(R_, U), outer(R, U_)));
    const [dQ1, dK1] = pull(Q, K, vjpAlong(S, dA, S_, dA_)), [dQ2, dK2] = pull(Q_, K_, vjp(S, dA));
    const back = byN(transposedTimes(S, R, n, n, m));
    const back_ = byN(plus(transposedTimes(S_, R, n, n, m), transposedTimes(S, R_, n, n, m)));
    const through = (B, W) => {
      const C = new Float64Array(n * d);
      productWithTransposed(B, 0, W, 0, n, m, d, C, 0);
      return C;
    };
    addTransposedProduct(Xi, 0, plus(dQ1, dQ2), 0, n, D, d, out, h * one);
    addTransposedProduct(Xi, 0, plus(dK1, dK2), 0, n, D, d, out, (H + h) * one);
    addTransposedProduct(Xi, 0, plus(through(back_, O), through(back, O_)), 0, n, D, d, out, values + h * one);
    addTransposedProduct(Z_, 0, back, 0, n, d, m, out, last + h * d * m);
    addTransposedProduct(Z, 0, back_, 0, n, d, m, out, last + h * d * m);
  }
}
