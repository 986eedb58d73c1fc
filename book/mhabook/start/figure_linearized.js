// --- before chapter 1: a model and its linearization at the start, trained side by side ----------------------------

// ∇Φ(X_i; θ) in rows, at the θ of the last `forward` of a multi-head model.
function featuresOf({ n, T, d, H, heads, head, size, X, A, P }) {
  const rows = new Float64Array(n * size), D = new Float64Array(T * T), wide = new Float64Array(T * d);
  for (let i = 0; i < n; i++)
    for (let h = 0; h < heads; h++) {
      const at = (i * heads + h) * T * T, to = i * size + h * head;
      for (let t = 0; t < T; t++) {
        const from = at + t * T, read = dot(A.subarray(from, from + T), P.subarray(from, from + T));
        for (let j = 0; j < T; j++) D[t * T + j] = A[from + j] * (P[from + j] - read);
      }
      product(D, 0, X, i * T * d, T, T, d, wide, 0);
      addTransposedProduct(X, i * T * d, wide, 0, T, d, d, rows, to);
      product(A, at, X, i * T * d, T, T, d, rows, to + d * d);
    }
  return rows.map((x) => x / Math.sqrt(H));
}

// θ holds the parameters of the model, then those of the linearization: where it stands, start and displacement.
models.linearized = function (data, values, { start }) {
  const model = models.multihead(data, values, { start }), { size } = model, { n, y } = data;
  const { inside } = model.measures({ inside: (inside) => inside });
  const own = (theta) => theta.subarray(0, size), tangent = (theta) => theta.subarray(size);
  let features = null, begin = null, first = null, ends = null;

  function logitsOf(theta) {
    inside.forward(theta);
    return inside.z.map((margin, i) => y[i] * margin);
  }

  function prepare(theta) {
    begin = theta.slice();
    first = logitsOf(begin);
    features = featuresOf(inside);
  }

  const linearLogits = (theta) => {
    const moved = theta.map((x, k) => x - begin[k]);
    return first.map((phi, i) => phi + dot(features.subarray(i * size, (i + 1) * size), moved));
  };

  function lossAndGrad(theta, grad) {
    if (!begin) prepare(tangent(theta));
    const loss = model.lossAndGrad(own(theta), own(grad)), pull = tangent(grad).fill(0);
    linearLogits(tangent(theta)).forEach((phi, i) => {
      const g = (y[i] * slope(y[i] * phi)) / n;
      for (let k = 0; k < size; k++) pull[k] += g * features[i * size + k];
    });
    return loss;
  }

  const curves = {
    loss: (now) => now.loss,
    linear_loss: ({ theta }) => mean(linearLogits(tangent(theta)).map((phi, i) => logistic(phi * y[i]))),
    distance: ({ theta }) => {
      ends = [linearLogits(tangent(theta)), logitsOf(own(theta))];
      return Math.max(1e-4, Math.sqrt(mean(ends[0].map((phi, i) => (phi - ends[1][i]) ** 2))));
    },
    moved: ({ theta }) => norm(own(theta).map((x, k) => x - begin[k])),
  };
  const lasts = { linear_logits: () => [...ends[0]], logits: () => [...ends[1]] };
  return { size: 2 * size, model, lossAndGrad, curves, lasts, forward: (theta) => model.forward(own(theta)) };
};

starts.linearized = (start, { model }, values) => {
  const theta = starts.normal(start, model, values);
  return Float64Array.from([...theta, ...theta]);
};
