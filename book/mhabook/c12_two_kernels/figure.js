// --- queries and keys on a line: chapters 12 and 14 ---------------------------------------------------------------

// Softmax, Gaussian, and Gaussian divided by its sum: for a query its weights on the keys, its output, and the slope of
// the output along the query.
function readersOnALine(keys, u, c) {
  const sum = (list) => list.reduce((total, one) => total + one, 0);
  const mean = (weights, list) => sum(list.map((one, j) => weights[j] * one));
  const normalized = (scores) => {
    const top = Math.max(...scores), e = scores.map((s) => Math.exp(s - top)), total = sum(e);
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

// The queries as they are, and the chosen values.
datasets.kernels = ({ queries, sets }, values) => ({ queries, u: sets[values.values] });

// Chapter 12, no training: weights, outputs and forces of all queries and of the chosen one.
models.kernels = function ({ queries, u }, { q: chosen, k1, k2, k3, c, y }) {
  const readers = readersOnALine([k1, k2, k3], u, c);
  const lasts = {
    here: () => [chosen],
    k1_here: () => [k1],
    k2_here: () => [k2],
    k3_here: () => [k3],
    target: () => [y, y],
    sum: () => readers.gauss(chosen).weights.reduce((total, one) => total + one, 0),
  };
  for (const [name, read] of Object.entries(readers)) {
    const reader = (q) => {
      const { weights, output, slope } = read(q);
      return { weight: weights[1], output, force: -(output - y) * slope };
    };
    for (const part of ["weight", "output", "force"]) {
      lasts[`${name}_${part}`] = () => queries.map((q) => reader(q)[part]);
      lasts[`${name}_at_${part}`] = () => [reader(chosen)[part]];
    }
    lasts[`${name}_mid`] = () => reader(chosen).weight;
    lasts[`${name}_here_force`] = () => reader(chosen).force;
  }
  const loss = () => (readers.soft(chosen).output - y) ** 2 / 2;
  return computation(loss, lasts);
};
