import { computation, kept } from "livegrad/live/engine/models.js";
import { zeros } from "mhalib/live/engine/starts.js";
import { liveFigure } from "livegrad/live/figure.js";

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

const END = Math.sqrt(3);

// Means, densities of infinitely many tokens by the weights exp(b x).
const infinitely = {
  gaussian: { mean: (b) => b, density: (b) => (x) => Math.exp(-((x - b) ** 2) / 2) / Math.sqrt(2 * Math.PI) },
  box: {
    mean: (b) => (b === 0 ? 0 : END / Math.tanh(END * b) - 1 / b),
    density: (b) => {
      const total = b === 0 ? 2 * END : (2 * Math.sinh(END * b)) / b;
      return (x) => (Math.abs(x) <= END ? Math.exp(b * x) / total : 0);
    },
  },
};

// Softmax weights of the scores b x.
function weightsOf(x, b) {
  const largest = x.reduce((most, one) => Math.max(most, b * one), -Infinity),
    w = x.map((one) => Math.exp(b * one - largest)),
    total = w.reduce((sum, one) => sum + one, 0);
  return w.map((one) => one / total);
}

const dot = (p, x) => p.reduce((sum, one, j) => sum + one * x[j], 0);

// Heights of the bars between edges of equal distance, each twice.
function histogram(x, weights, edges) {
  const width = edges[1] - edges[0],
    heights = edges.slice(1).map(() => 0);
  x.forEach((one, j) => {
    const bar = Math.floor((one - edges[0]) / width);
    if (bar >= 0 && bar < heights.length) heights[bar] += weights[j] / width;
  });
  return heights.flatMap((height) => [height, height]);
}

const curvesFor = kept();

// No training: one query, and the tokens by its weights.
function cloud(data, { x, n, A, B, tokens: kind }) {
  const { queries, edges, tokens } = data,
    curves = curvesFor(data, [n, A, B, kind]);
  const all = tokens[kind].slice(0, n),
    limit = infinitely[kind];
  const outputAt = (query) => A * dot(weightsOf(all, B * query), all),
    limitAt = (query) => A * limit.mean(B * query);
  const final = {
    ticks: () => all,
    floor: () => all.map(() => -0.05),
    plain: () =>
      histogram(
        all,
        all.map(() => 1 / n),
        edges,
      ),
    weighted: () => histogram(all, weightsOf(all, B * x), edges),
    tilted: () => queries.map(limit.density(B * x)),
    outputs: () => (curves.outputs ??= queries.map(outputAt)),
    limits: () => queries.map(limitAt),
    here: () => [x],
    output: () => outputAt(x),
    here_output: () => [outputAt(x)],
    limit: () => limitAt(x),
    effective: () => 1 / weightsOf(all, B * x).reduce((sum, one) => sum + one * one, 0),
  };
  return computation(() => (outputAt(x) - limitAt(x)) ** 2, final);
}

export default liveFigure({
  datasets: { tilting: chosen, cloud: (data) => data },
  starts: { zeros },
  models: { tilting, cloud },
});
