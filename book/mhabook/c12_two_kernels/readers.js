// Queries and keys on a line.

// Softmax, Gaussian, and Gaussian divided by its sum: for a query its weights on the keys, its output, and the slope of
// the output along the query.
export function readersOnALine(keys, u, c) {
  const sum = (list) => list.reduce((total, one) => total + one, 0);
  const mean = (weights, list) => sum(list.map((one, j) => weights[j] * one));
  const normalized = (scores) => {
    const top = Math.max(...scores),
      e = scores.map((s) => Math.exp(s - top)),
      total = sum(e);
    return e.map((one) => one / total);
  };
  const far = (q) => keys.map((k) => -c * (q - k) ** 2);

  // `around` is what the keys are compared with, `scale` the slope of the scores.
  function seen(weights, around, scale) {
    const pulls = keys.map((k, j) => weights[j] * u[j] * (k - around));
    return { weights, output: mean(weights, u), slope: scale * sum(pulls) };
  }

  return {
    soft: (q) => {
      const weights = normalized(keys.map((k) => q * k));
      return seen(weights, mean(weights, keys), 1);
    },
    gauss: (q) => seen(far(q).map(Math.exp), q, 2 * c),
    between: (q) => {
      const weights = normalized(far(q));
      return seen(weights, mean(weights, keys), 2 * c);
    },
  };
}
