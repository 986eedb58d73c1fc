import { computation } from "mhalib/live/engine/models.js";
import { zeros } from "mhalib/live/engine/starts.js";
import { liveFigure } from "mhalib/live/figure.js";

// The chosen tokens, eight samples of the largest size one after the other.
function chosen({ queries, sizes, tokens }, values) {
  const all = Float64Array.from(tokens[values.tokens]),
    largest = sizes[sizes.length - 1];
  const samples = Array.from({ length: all.length / largest }, (_, k) => all.subarray(k * largest, (k + 1) * largest));
  return { queries, sizes, samples };
}

// Sums of w, w g and w² over the first tokens, w = exp(v x g), at every size.
function readings(g, sizes, tilt) {
  const at = [];
  let w1 = 0,
    wg = 0,
    w2 = 0;
  for (let j = 0; j < g.length; j++) {
    const w = Math.exp(tilt * g[j]);
    w1 += w;
    wg += w * g[j];
    w2 += w * w;
    if (j + 1 === sizes[at.length]) at.push({ mean: wg / w1, effective: (w1 * w1) / w2 });
  }
  return at;
}

// What each query reads of the first n tokens of the chosen sample, and the error for every size and all samples.
function readAll({ queries, sizes, samples }, { v, n, sample }) {
  const density = queries.map((x) => Math.exp((-x * x) / 2)),
    total = density.reduce((sum, p) => sum + p, 0);
  const error = sizes.map(() => 0),
    size = sizes.indexOf(n);
  let read = null;
  samples.forEach((g, k) => {
    const all = queries.map((x) => readings(g, sizes, v * x));
    if (k === sample - 1) read = all.map((at) => at[size]);
    all.forEach((at, q) =>
      at.forEach(({ mean }, s) => {
        error[s] += (density[q] * (mean - v * queries[q]) ** 2) / total / samples.length;
      }),
    );
  });
  return { read, error };
}

// No training: softmax attention over n tokens of one dimension, for all queries at once.
function tilting(data, values) {
  const { queries, sizes } = data,
    { v, n } = values,
    size = sizes.indexOf(n),
    two = queries.indexOf(2);
  const omega = Math.min(1, (Math.sqrt(1 + 4 / (v * v)) - 1) / 2);
  let known = null;
  const all = () => (known ??= readAll(data, values));
  const mean = () => all().read.map((query) => query.mean),
    effective = () => all().read.map((query) => query.effective);
  const limit = () => queries.map((x) => v * x);
  const expected = () => queries.map((x) => Math.max(1, n * Math.exp(-((v * x) ** 2))));
  const edge = (side) => () => [side, side].map((sign) => (sign * Math.sqrt(2 * Math.log(n))) / v);
  const final = {
    mean,
    effective,
    limit,
    expected,
    left: edge(-1),
    right: edge(1),
    error: () => all().error,
    guide: () => sizes.map((m) => all().error[0] * (m / sizes[0]) ** -omega),
    here: () => [n],
    here_error: () => [all().error[size]],
    two: () => effective()[two],
    two_mean: () => mean()[two],
    two_expected: () => expected()[two],
    two_limit: () => limit()[two],
    slope: () => -omega,
  };
  return computation(() => all().error[size], final);
}

export default liveFigure({ datasets: { tilting: chosen }, starts: { zeros }, models: { tilting } });
