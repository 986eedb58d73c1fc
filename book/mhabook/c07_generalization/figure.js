// --- generalization: a run and the run without one of its samples, side by side -----------------------------------

// The mixture, of which the first `samples` are trained on; a control n would cut the test set too.
datasets.sampled = (carried, values) => datasets.mixture(carried, { ...values, n: values.samples });

// θ of the run on all samples, θ′ of the run without sample `left`, and three sums that gradient descent keeps by
// itself: a parameter s with the derivative −a moves by η a.
models.leave_one_out = function (data, values, { start }) {
  const { n, T, d, X, y } = data, { left, H } = values;
  const part = (keep) => {
    const rows = Array.from({ length: n }, (_, i) => i).filter(keep);
    const take = (array, size) => Float64Array.from(rows.flatMap((i) => [...array.subarray(i * size, (i + 1) * size)]));
    return models.multihead({ n: rows.length, T, d, X: take(X, T * d), y: take(y, 1), relevant: null }, values, { start });
  };
  const whole = models.multihead(data, values, { start }), rest = part((i) => i !== left), one = part((i) => i === left);
  const size = whole.size, copies = H / whole.heads, unused = new Float64Array(size);
  const { gradientConstant } = whole.measures({ inside: (inside) => inside }).inside;
  const first = (theta) => theta.subarray(0, size), second = (theta) => theta.subarray(size, 2 * size);

  function lossAndGrad(theta, grad) {
    const loss = whole.lossAndGrad(first(theta), first(grad));
    const G = gradientConstant(first(theta)), without = second(grad);
    rest.lossAndGrad(second(theta), without);
    for (let k = 0; k < size; k++) without[k] *= (n - 1) / n;
    const own = one.lossAndGrad(first(theta), unused);
    grad[2 * size] = -G * loss;
    grad[2 * size + 1] = (-G * own) / n;
    grad[2 * size + 2] = (-Math.sqrt(copies) * norm(unused)) / n;
    return loss;
  }

  const curves = {
    loss: (now) => now.loss,
    accuracy: (now) => whole.curves.accuracy({ ...now, theta: first(now.theta) }),
    gap_bound: ({ theta }) => (3 / n) * gradientConstant(first(theta)) * theta[2 * size],
    distance: ({ theta }) => {
      const other = second(theta);
      return Math.sqrt(copies) * norm(first(theta).map((x, k) => x - other[k]));
    },
    distance_bound: ({ theta }) => 1.5 * theta[2 * size + 1],
    pushed: ({ theta }) => theta[2 * size + 2],
    own_loss: ({ theta }) => one.forward(first(theta)),
    left_loss: ({ theta }) => one.forward(second(theta)),
  };
  const inside = { first, start, size };
  const measures = (added, ...rest) =>
    Object.fromEntries(Object.entries(added).map(([name, make]) => [name, make(inside, ...rest)]));
  const forward = (theta) => whole.forward(first(theta));
  return { size: 2 * size + 3, heads: whole.heads, T, d, forward, lossAndGrad, curves, lasts: {}, measures };
};

// L_test(θ), and L_test(θ) − L(θ).
function heldOut({ first, start, size }, data, values, spec) {
  const fresh = models.multihead(datasets[spec.test.kind](spec.test, values), values, { start });
  const unused = new Float64Array(size);
  return (now) => (now.heldOut ??= fresh.lossAndGrad(first(now.theta), unused)); // the kernel's forward is in here only
}

measured.leave_one_out = {
  held_out_loss: heldOut,
  gap: (...all) => {
    const loss = heldOut(...all);
    return (now) => loss(now) - now.loss;
  },
};
